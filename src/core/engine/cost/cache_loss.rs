//! The effect of the changes of a request on its bill: prompt cache that was lost, and tokens that were not sent.

use super::edit_cost::MILLION;
use super::model_prices::{ModelPrice, Prices, RATIOS};
use crate::model::words;

/// The smallest loss, in tokens: the shortest prefix that APIs cache.
const SMALLEST_LOSS: u64 = 1024;
/// The share of the expected cache below which a difference is not a loss: clients end their prefix at changing places.
const TOLERANCE: f64 = 0.02;

words! {
    /// The cause of a cache loss.
    pub enum LossCause {
        /// The changes by aperture.
        Ours = "ours",
        /// The client changed the prefix itself.
        Client = "client",
        /// The cache entries had expired.
        Expired = "expired",
        /// Neither: the API had the same prefix and read less of it.
        Api = "api",
    }
}

/// A request in comparison with the previous one of its line.
#[derive(Clone, Copy, Debug)]
pub struct CacheFacts {
    /// Tokens that the previous request read from the cache and wrote to it.
    pub expected_tokens: u64,
    pub read_tokens: u64,
    /// Tokens of this request that were not read from it.
    pub paid_tokens: u64,
    /// Milliseconds since the previous request.
    pub idle_milliseconds: i64,
    pub lifetime_milliseconds: i64,
    /// The first element of the prompt that differs from the previous request as the client wrote both; `None` if its prompt begins with
    /// the previous one.
    pub client_difference: Option<usize>,
    /// The same for both as they were sent.
    pub sent_difference: Option<usize>,
    /// True if an operation of the log changed this element. A client that read its file again sends the change itself.
    pub is_logged: bool,
}

/// Tokens that had to be sent again although the cache had them, and the cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheLoss {
    pub tokens: u64,
    pub cause: LossCause,
}

/// Returns the cache loss of a request; `None` if it read what was to be expected. The loss of expired entries has no
/// other cause, even if the prompt was changed meanwhile.
pub fn cache_loss(facts: &CacheFacts) -> Option<CacheLoss> {
    // Content that is no longer sent is not read either, and costs nothing.
    let tokens = facts.expected_tokens.saturating_sub(facts.read_tokens).min(facts.paid_tokens);
    if tokens < SMALLEST_LOSS || (tokens as f64) < facts.expected_tokens as f64 * TOLERANCE {
        return None;
    }
    let cause = match (facts.sent_difference, facts.client_difference) {
        _ if facts.idle_milliseconds > facts.lifetime_milliseconds => LossCause::Expired,
        // Inserted elements come before later differences, so the earlier one of both is the cause.
        (Some(sent), Some(client)) if sent < client => LossCause::Ours,
        (Some(_), None) => LossCause::Ours,
        (Some(_), Some(_)) if facts.is_logged => LossCause::Ours,
        (_, Some(_)) => LossCause::Client,
        (None, None) => LossCause::Api,
    };
    Some(CacheLoss { tokens, cause })
}

/// The tokens by which aperture changed a request.
#[derive(Clone, Copy, Debug)]
pub struct RemovedTokens<'a> {
    /// Tokens that were not sent; negative if more were sent.
    pub removed: f64,
    /// True if the API would have read them from its cache.
    pub was_cached: bool,
    /// Tokens that were written to the cache again because of the change.
    pub lost: f64,
    pub sent: f64,
    pub model: &'a str,
    pub lifetime_milliseconds: i64,
}

/// The saving on a bill by the changes of a request; negative if they cost more.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Saving {
    /// The number of tokens at the full input price that cost as much.
    pub full_price_tokens: f64,
    /// Dollars; `None` if the price of the model is unknown.
    pub dollars: Option<f64>,
}

/// Returns the saving: tokens that the cache would have held count at the price of reading it, others at that of writing it.
pub fn saving(tokens: &RemovedTokens<'_>, prices: &Prices) -> Saving {
    let known = prices.for_model(tokens.model);
    let price: ModelPrice = known.unwrap_or(&RATIOS).at(tokens.sent);
    let write = price.cache_write(tokens.lifetime_milliseconds);
    let each = if tokens.was_cached { price.cache_read } else { write };
    let saved = tokens.removed * each - tokens.lost * (write - price.cache_read).max(0.0);
    Saving {
        full_price_tokens: if price.input > 0.0 { saved / price.input } else { 0.0 },
        dollars: known.map(|_| saved / MILLION),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::cost::edit_cost::FIVE_MINUTES;

    /// A warm request that read 10k of the expected 50k tokens.
    const LOST: CacheFacts = CacheFacts {
        expected_tokens: 50_000,
        read_tokens: 10_000,
        paid_tokens: 45_000,
        idle_milliseconds: 1_000,
        lifetime_milliseconds: FIVE_MINUTES,
        client_difference: None,
        sent_difference: None,
        is_logged: false,
    };

    #[test]
    fn the_earlier_difference_is_the_cause() {
        use LossCause::{Api, Client, Expired, Ours};
        for (sent_difference, client_difference, cause) in [
            (None, None, Api),
            (Some(3), None, Ours),
            (Some(3), Some(7), Ours),
            (Some(7), Some(7), Client),
            (Some(8), Some(7), Client),
            (None, Some(7), Client),
        ] {
            let facts = CacheFacts { client_difference, sent_difference, ..LOST };
            assert_eq!(cache_loss(&facts), Some(CacheLoss { tokens: 40_000, cause }), "{facts:?}");
            let facts = CacheFacts { idle_milliseconds: FIVE_MINUTES + 1, ..facts };
            assert_eq!(cache_loss(&facts).map(|loss| loss.cause), Some(Expired));
        }
    }

    #[test]
    fn a_change_of_the_log_is_ours_also_if_the_client_sends_it() {
        for (sent_difference, client_difference, cause) in
            [(Some(3), Some(3), LossCause::Ours), (None, Some(3), LossCause::Client), (None, None, LossCause::Api)]
        {
            let facts = CacheFacts { client_difference, sent_difference, is_logged: true, ..LOST };
            assert_eq!(cache_loss(&facts), Some(CacheLoss { tokens: 40_000, cause }), "{facts:?}");
        }
    }

    #[test]
    fn a_small_difference_is_not_a_loss() {
        let facts = CacheFacts { sent_difference: Some(1), ..LOST };
        for (expected_tokens, read_tokens, is_loss) in
            [(50_000, 49_000, false), (50_000, 48_976, true), (500_000, 491_000, false), (0, 9, false), (900, 0, false)]
        {
            let facts = CacheFacts { expected_tokens, read_tokens, ..facts };
            assert_eq!(cache_loss(&facts).is_some(), is_loss, "{expected_tokens} {read_tokens}");
        }
    }

    #[test]
    fn content_that_is_no_longer_sent_is_not_lost() {
        let facts = CacheFacts { sent_difference: Some(1), read_tokens: 30_000, paid_tokens: 300, ..LOST };
        assert_eq!(cache_loss(&facts), None);
        let facts = CacheFacts { paid_tokens: 5_000, ..facts };
        assert_eq!(cache_loss(&facts), Some(CacheLoss { tokens: 5_000, cause: LossCause::Ours }));
    }

    #[test]
    fn cached_tokens_are_not_saved_at_the_full_price() {
        let tokens = RemovedTokens {
            removed: 10_000.0,
            was_cached: true,
            lost: 0.0,
            sent: 50_000.0,
            model: "claude-opus-4-7",
            lifetime_milliseconds: FIVE_MINUTES,
        };
        let check = |tokens: RemovedTokens<'_>, full: f64, dollars: Option<f64>| {
            let saving = saving(&tokens, &Prices::default());
            assert!((saving.full_price_tokens - full).abs() < 1e-6, "{saving:?}");
            assert_eq!(saving.dollars.map(|dollars| (dollars * 1e6).round()), dollars.map(|dollars| dollars * 1e6));
        };
        check(tokens, 1_000.0, Some(0.005));
        check(RemovedTokens { was_cached: false, ..tokens }, 12_500.0, Some(0.0625));
        check(RemovedTokens { was_cached: false, lifetime_milliseconds: 3_600_000, ..tokens }, 20_000.0, Some(0.1));
        check(RemovedTokens { model: "qwen3:8b", ..tokens }, 1_000.0, None);
        // The rest of the prompt is written again: 40k × 1.15.
        check(RemovedTokens { lost: 40_000.0, ..tokens }, -45_000.0, Some(-0.225));
        check(RemovedTokens { removed: -300.0, ..tokens }, -30.0, Some(-0.00015));
    }
}
