//! Cost of an edit of the window, and its break-even point.
//!
//! The API caches prefixes of requests: tokens up to the first difference are read at a fraction of the input price, all tokens
//! after it are written again at more than the input price (Anthropic, "Prompt caching",
//! platform.claude.com/docs/en/build-with-claude/prompt-caching, and "How Claude Code uses prompt caching",
//! code.claude.com/docs/en/prompt-caching: "a change anywhere in the prefix recomputes everything after it"). The ratios are those
//! of "Pricing": a read 0.1 of the input price, a write 1.25 for five minutes and 2 for an hour; some models differ.
//!
//! Let the window be *b* tokens before the edit and *a* after it, *p* of them before the first change, *r* and *w* the prices
//! of a read and a write. While the cache is warm, the next request costs
//!
//! - without the edit *b·r*,
//! - with the edit *p·r + (a − p)·w*, which is *b·r* − (*b* − *a*)·*r* + (*a* − *p*)·(*w* − *r*).
//!
//! So each request from the next one on saves (*b* − *a*)·*r*, and (*a* − *p*)·(*w* − *r*) is paid once. They are equal after
//! (*a* − *p*)·(*w* − *r*) / ((*b* − *a*)·*r*) requests, in which only ratios of prices matter: that is the pay-back.
//!
//! Once the cache is cold, the whole window is written with or without the edit: there is no extra cache write, and the edit saves
//! from the next request on (that one even at *w*; this is not counted). Appended content leaves everything before it in the cache
//! and costs its own tokens: once at *w*, then at *r* on each request.
//!
//! Limits. The prefix stays cached only as far as the API finds an entry that ends in it: it searches at most 20 blocks back from
//! each mark that the client sets. After a change far from the end, only an early entry may be left, such as the one after the
//! system prompt. A caller that knows the position of the client's marks passes a smaller prefix. Prefixes below some 512 to 4096
//! tokens are not cached.

use super::model_prices::{Prices, RATIOS};
use crate::model::{As, Estimated};
use schemars::JsonSchema;
use serde::Serialize;

/// The shorter of the two lifetimes of cache entries; a longer one is paid as an hour.
pub const FIVE_MINUTES: i64 = 5 * 60 * 1000;
/// Turns within which the savings of an edit must exceed its cost, so that it is worth it.
pub const PAYS_BACK_TURNS: f64 = 10.0;
/// The number of tokens that prices refer to.
pub(super) const MILLION: f64 = 1e6;

/// Input of the cost of an edit.
#[derive(Clone, Copy, Debug)]
pub struct EditFacts<'a> {
    pub window_before: f64,
    pub window_after: f64,
    /// Tokens before the first change: they stay cached.
    pub unchanged_prefix: f64,
    /// The model that gets the next request.
    pub model: &'a str,
    /// Milliseconds since the last response; without it the cache counts as warm, which is the dearer case.
    pub idle_milliseconds: Option<i64>,
    /// Lifetime of the client's cache entries, in milliseconds.
    pub cache_lifetime_milliseconds: i64,
    /// Requests of the model in a turn of this session; at least one is assumed.
    pub steps_per_turn: f64,
}

/// Responses of the model in a turn of a session, on average.
pub fn steps_per_turn(reading: &crate::engine::Analysis) -> f64 {
    f64::from(reading.steps) / reading.turns.len().max(1) as f64
}

/// Milliseconds since the model last answered in a session, at the moment `now`, in milliseconds since 1970, UTC.
pub fn idle_milliseconds(reading: &crate::engine::Analysis, now: i64) -> Option<i64> {
    let answered = reading.session.rows.iter().rev().find(|row| row.usage.is_some_and(|usage| usage.sent() > 0))?;
    answered.timestamp.map(|then| now.saturating_sub(then).max(0))
}

/// Returns the dollars of the next request of a window, while the cache is warm and after it expired; `None` without a price.
pub fn next_request_dollars(window: f64, model: &str, cache_lifetime_milliseconds: i64, prices: &Prices) -> Option<(f64, f64)> {
    let price = prices.for_model(model)?.at(window);
    let write = price.cache_write(cache_lifetime_milliseconds);
    Some((window * price.cache_read / MILLION, window * write / MILLION))
}

/// The cost of an edit and its savings; dollars are estimates, and null if the price of the model is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct EditPrice {
    #[serde(with = "As::<Estimated>")]
    pub window_before_tokens: f64,
    #[serde(with = "As::<Estimated>")]
    pub window_after_tokens: f64,
    /// Tokens by which the window shrinks; negative if it grows.
    #[serde(with = "As::<Estimated>")]
    pub saved_tokens: f64,
    /// Tokens before the first change, which stay cached.
    #[serde(with = "As::<Estimated>")]
    pub unchanged_prefix_tokens: f64,
    /// Tokens after the first change that are written to the cache again; 0 if the cache is cold.
    #[serde(with = "As::<Estimated>")]
    pub rewritten_tokens: f64,
    /// Tokens by which the window grows.
    #[serde(with = "As::<Estimated>")]
    pub added_tokens: f64,
    /// One-time cost of the second cache write, beyond that of a read.
    pub rewritten_dollars: Option<f64>,
    /// One-time cost of the cache write of the added tokens.
    pub added_dollars: Option<f64>,
    /// Savings of each later turn; negative if it costs more.
    pub saved_dollars_per_turn: Option<f64>,
    /// Turns until the savings exceed the cost: 0 if there is no extra cost, null if nothing is saved.
    pub pays_back_turns: Option<f64>,
    /// True if the cache entries have expired.
    pub cache_is_cold: bool,
    /// Time since the last response.
    pub idle_milliseconds: Option<i64>,
    /// Date of the built-in prices, such as `2026-10-24`; null if the prices are the user's or unknown.
    pub prices_dated: Option<&'static str>,
}

/// Weighs an edit of the window, by the formula above.
pub fn price(facts: &EditFacts<'_>, prices: &Prices) -> EditPrice {
    let before = facts.window_before.max(0.0);
    let after = facts.window_after.max(0.0);
    let both = before.min(after);
    let prefix = facts.unchanged_prefix.max(0.0).min(both);
    let cold = facts.idle_milliseconds.is_some_and(|idle| idle > facts.cache_lifetime_milliseconds);

    let known = prices.for_model(facts.model);
    let model = known.unwrap_or(&RATIOS);
    // A window that crosses the length from which prompts cost more changes the price of all that stays.
    let (price_before, price_after) = (model.at(before), model.at(after));
    let read = price_after.cache_read;
    let write = price_after.cache_write(facts.cache_lifetime_milliseconds);

    let saved = before - after;
    let rewritten = if cold { 0.0 } else { both - prefix };
    let added = (-saved).max(0.0);
    let once = rewritten * (write - read).max(0.0) / MILLION;
    let per_turn = facts.steps_per_turn.max(1.0) * (before * price_before.cache_read - after * read) / MILLION;
    let pays_back_turns = if saved <= 0.0 {
        None
    } else if once == 0.0 {
        Some(0.0)
    } else {
        Some(once / per_turn).filter(|_| per_turn > 0.0)
    };
    EditPrice {
        window_before_tokens: before,
        window_after_tokens: after,
        saved_tokens: saved,
        unchanged_prefix_tokens: prefix,
        rewritten_tokens: rewritten,
        added_tokens: added,
        rewritten_dollars: known.map(|_| once),
        added_dollars: known.map(|_| added * write / MILLION),
        saved_dollars_per_turn: known.map(|_| per_turn),
        pays_back_turns,
        cache_is_cold: cold,
        idle_milliseconds: facts.idle_milliseconds,
        prices_dated: prices.dated(facts.model),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::limits::HOUR_MILLISECONDS;

    /// An edit of a warm window of Opus 4.7 with five-minute entries, one request a turn.
    fn edit(before: f64, after: f64, prefix: f64) -> EditFacts<'static> {
        EditFacts {
            window_before: before,
            window_after: after,
            unchanged_prefix: prefix,
            model: "claude-opus-4-7",
            idle_milliseconds: Some(60_000),
            cache_lifetime_milliseconds: FIVE_MINUTES,
            steps_per_turn: 1.0,
        }
    }

    /// Dollars once, dollars saved a turn, turns to pay back.
    fn check(facts: EditFacts<'_>, once: Option<f64>, per_turn: Option<f64>, turns: Option<f64>) -> EditPrice {
        let price = price(&facts, &Prices::default());
        let paid = price.rewritten_dollars.zip(price.added_dollars).map(|(again, new)| again + new);
        for (what, is, expected) in
            [("once", paid, once), ("a turn", price.saved_dollars_per_turn, per_turn), ("turns", price.pays_back_turns, turns)]
        {
            let equal = match (is, expected) {
                (Some(is), Some(expected)) => (is - expected).abs() < 1e-9,
                (is, expected) => is == expected,
            };
            assert!(equal, "{what}: {is:?}, not {expected:?}: {facts:?}");
        }
        price
    }

    #[test]
    fn the_rewritten_rest_is_paid_once_and_savings_count_on_each_request() {
        // 100k × (6.25 − 0.5) once, 40k × 0.5 a request.
        let facts = edit(150_000.0, 110_000.0, 10_000.0);
        let price = check(facts, Some(0.575), Some(0.02), Some(28.75));
        assert_eq!((price.saved_tokens, price.rewritten_tokens, price.added_tokens), (40_000.0, 100_000.0, 0.0));
        assert_eq!(price.prices_dated, Some("2026-10-24"));
        check(EditFacts { steps_per_turn: 5.0, ..facts }, Some(0.575), Some(0.1), Some(5.75));
        check(EditFacts { steps_per_turn: 0.0, ..facts }, Some(0.575), Some(0.02), Some(28.75));
        check(EditFacts { cache_lifetime_milliseconds: HOUR_MILLISECONDS, ..facts }, Some(0.95), Some(0.02), Some(47.5));
        check(EditFacts { idle_milliseconds: None, ..facts }, Some(0.575), Some(0.02), Some(28.75));
    }

    #[test]
    fn the_parts_add_up_to_the_two_requests() {
        for (before, after, prefix) in
            [(150.0, 110.0, 10.0), (100.0, 130.0, 100.0), (100.0, 130.0, 40.0), (120.0, 90.0, 30.0), (90.0, 120.0, 30.0)]
        {
            for model in ["claude-opus-4-7", "claude-haiku-5-5"] {
                let (before, after, prefix) = (before * 1e3, after * 1e3, prefix * 1e3);
                let price = price(&EditFacts { model, ..edit(before, after, prefix) }, &Prices::default());
                let model = Prices::default().for_model(model).copied().unwrap();
                let (old, new) = (model.at(before), model.at(after));
                let extra = prefix * new.cache_read + (after - prefix) * new.cache_write_5m - before * old.cache_read;
                // Added content is read from the second request on: it is not part of the saving of the first one.
                let parts = price.rewritten_dollars.unwrap() + price.added_dollars.unwrap()
                    - price.saved_dollars_per_turn.unwrap()
                    - price.added_tokens * new.cache_read / MILLION;
                assert!((extra / MILLION - parts).abs() < 1e-9, "{before} {after} {prefix}: {extra} {parts}");
            }
        }
    }

    #[test]
    fn a_cold_cache_makes_an_edit_free() {
        let facts = EditFacts { idle_milliseconds: Some(3 * HOUR_MILLISECONDS), ..edit(150_000.0, 110_000.0, 10_000.0) };
        let price = check(facts, Some(0.0), Some(0.02), Some(0.0));
        assert!(price.cache_is_cold);
        assert_eq!(price.rewritten_tokens, 0.0);
        for (idle, cold) in [(FIVE_MINUTES, false), (FIVE_MINUTES + 1, true), (-1, false)] {
            let facts = EditFacts { idle_milliseconds: Some(idle), ..facts };
            assert_eq!(crate::engine::price(&facts, &Prices::default()).cache_is_cold, cold, "{idle}");
        }
    }

    #[test]
    fn a_change_without_savings_never_pays_back() {
        check(edit(100_000.0, 100_000.0, 20_000.0), Some(0.46), Some(0.0), None);
        check(edit(100_000.0, 100_000.0, 100_000.0), Some(0.0), Some(0.0), None);
        check(edit(0.0, 0.0, 0.0), Some(0.0), Some(0.0), None);
    }

    #[test]
    fn content_cut_off_the_end_pays_back_at_once() {
        check(edit(100_000.0, 60_000.0, 60_000.0), Some(0.0), Some(0.02), Some(0.0));
    }

    #[test]
    fn appended_content_costs_its_own_tokens() {
        let price = check(edit(100_000.0, 110_000.0, 100_000.0), Some(0.0625), Some(-0.005), None);
        assert_eq!((price.saved_tokens, price.rewritten_tokens, price.added_tokens), (-10_000.0, 0.0, 10_000.0));
        // In the middle, the old tokens after the change are written again as well: 60k × 5.75.
        check(edit(100_000.0, 110_000.0, 40_000.0), Some(0.0625 + 0.345), Some(-0.005), None);
    }

    #[test]
    fn the_pay_back_needs_no_dollars() {
        // 100k × 1.15 against 40k × 0.1.
        let facts = EditFacts { model: "qwen3:8b", ..edit(150_000.0, 110_000.0, 10_000.0) };
        let price = check(facts, None, None, Some(28.75));
        assert_eq!(price.prices_dated, None);
        check(EditFacts { idle_milliseconds: Some(HOUR_MILLISECONDS), ..facts }, None, None, Some(0.0));
    }

    #[test]
    fn a_window_that_becomes_short_pays_less_for_all_of_it() {
        // 60k × (0.125 − 0.01) once; 120k × 0.05 − 90k × 0.01 a request.
        let facts = EditFacts { model: "claude-haiku-5-5", ..edit(120_000.0, 90_000.0, 30_000.0) };
        check(facts, Some(0.0069), Some(0.0051), Some(0.0069 / 0.0051));
    }

    #[test]
    fn figures_that_cannot_be_are_bounded() {
        let facts = edit(f64::NAN, -5.0, 1e9);
        check(EditFacts { steps_per_turn: f64::NAN, ..facts }, Some(0.0), Some(0.0), None);
        assert_eq!(price(&edit(100.0, 80.0, 1e9), &Prices::default()).unchanged_prefix_tokens, 80.0);
    }
}
