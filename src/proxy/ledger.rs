//! The bill of each request in comparison with the one before it on its line: which part of the prompt cache was lost, and why.

use crate::engine::{CacheFacts, CacheLoss, LossCause, Prices, RemovedTokens, Saving, cache_loss, saving};
use crate::model::BilledTokens;
use crate::model::limits::HOUR_MILLISECONDS;
use crate::provider::{EditedBytes, KnownHashes, PromptElements};
use crate::wire::{LoggedElements, RequestApi, RequestFacts};
use hyper::body::Bytes;
use rustc_hash::FxHashMap;

/// Maximum number of lines of requests; then the one that ended first is forgotten.
const LINES: usize = 256;
/// Lifetime of short cache entries, in milliseconds; long ones have an hour.
const FIVE_MINUTES: i64 = 300_000;

/// The previous request of each line, and the prompts of the running requests.
#[derive(Default)]
pub struct Ledger {
    running: FxHashMap<u64, Prompt>,
    lines: FxHashMap<(String, String), Previous>,
}

/// The prompt of a request: as the client wrote it, and as it was sent if that differs.
pub struct Prompt {
    client: PromptElements,
    sent: Option<PromptElements>,
}

impl Prompt {
    pub fn parse(api: RequestApi, received: Bytes, changed: Option<EditedBytes>, known: &mut KnownHashes) -> Option<Prompt> {
        let client = PromptElements::parse(api, &received, known)?;
        let changed = changed.map(|changed| changed.bytes(&received));
        // Of a large body, only one form is in memory for long.
        drop(received);
        let sent = match changed {
            Some(changed) => Some(PromptElements::parse(api, &changed, known)?),
            None => None,
        };
        Some(Prompt { client, sent })
    }

    fn sent(&self) -> &PromptElements {
        self.sent.as_ref().unwrap_or(&self.client)
    }
}

struct Previous {
    prompt: Prompt,
    /// Tokens that it read from the cache and wrote to it.
    cached: u64,
    logged: LoggedElements,
    model: String,
    ended: i64,
    lifetime: i64,
}

/// A request whose response has ended.
pub struct Ended<'a> {
    pub number: u64,
    pub facts: &'a RequestFacts,
    pub billed: BilledTokens,
    /// Estimated tokens of the body as the client wrote it.
    pub client_tokens: u64,
    /// The time, in milliseconds since 1970, UTC.
    pub now: i64,
}

/// The bill of a request, explained.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Account {
    pub loss: Option<CacheLoss>,
    pub saving: Saving,
}

impl Ledger {
    pub fn sent(&mut self, number: u64, prompt: Prompt) {
        self.running.insert(number, prompt);
    }

    /// Forgets a request that ended without a bill.
    pub fn failed(&mut self, number: u64) {
        self.running.remove(&number);
    }

    /// Explains the bill of a request, which is then the previous one of its line.
    pub fn ended(&mut self, ended: &Ended<'_>, prices: &Prices) -> Account {
        let Ended { number, facts, billed, .. } = *ended;
        let line = (facts.session.clone(), facts.line.clone());
        let prompt = self.running.remove(&number);
        // A request that continues an answer of the model is not compared.
        let previous = if prompt.is_some() { self.lines.remove(&line) } else { None };
        let lifetime = match (billed.cache_write_1h, &previous) {
            (1.., _) => HOUR_MILLISECONDS,
            (0, Some(previous)) if billed.cache_written() == 0 => previous.lifetime,
            _ => FIVE_MINUTES,
        };
        let loss = previous.as_ref().zip(prompt.as_ref()).and_then(|(previous, prompt)| loss(ended, previous, prompt));
        let is_warm = previous.as_ref().is_some_and(|previous| ended.now - previous.ended <= previous.lifetime);
        let is_ours = loss.is_none_or(|loss| loss.cause == LossCause::Ours);
        let tokens = RemovedTokens {
            removed: ended.client_tokens as f64 - billed.sent() as f64,
            was_cached: is_warm && is_ours,
            lost: loss.filter(|loss| loss.cause == LossCause::Ours).map_or(0.0, |loss| loss.tokens as f64),
            sent: billed.sent() as f64,
            model: &facts.model,
            lifetime_milliseconds: lifetime,
        };
        let saving = saving(&tokens, prices);
        if let Some(prompt) = prompt {
            let cached = billed.cache_read + billed.cache_written();
            let (logged, model) = (facts.logged.clone(), facts.model.clone());
            self.remember(line, Previous { prompt, cached, logged, model, ended: ended.now, lifetime });
        }
        Account { loss, saving }
    }

    fn remember(&mut self, line: (String, String), previous: Previous) {
        if self.lines.len() >= LINES
            && let Some(oldest) = self.lines.iter().min_by_key(|(_, previous)| previous.ended).map(|(line, _)| line.clone())
        {
            self.lines.remove(&oldest);
        }
        self.lines.insert(line, previous);
    }
}

fn loss(ended: &Ended<'_>, previous: &Previous, prompt: &Prompt) -> Option<CacheLoss> {
    // Each model has a cache of its own.
    let is_other_model = (ended.facts.model != previous.model).then_some(0);
    let client_difference = is_other_model.or_else(|| prompt.client.difference(&previous.prompt.client));
    let is_logged = |place| ended.facts.logged.changed(&previous.logged, place);
    cache_loss(&CacheFacts {
        expected_tokens: previous.cached,
        read_tokens: ended.billed.cache_read,
        paid_tokens: ended.billed.input + ended.billed.cache_written(),
        idle_milliseconds: ended.now - previous.ended,
        lifetime_milliseconds: previous.lifetime,
        client_difference,
        sent_difference: is_other_model.or_else(|| prompt.sent().difference(previous.prompt.sent())),
        is_logged: is_other_model.is_none() && client_difference.is_some_and(is_logged),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prompt(received: Bytes, changed: Option<EditedBytes>) -> Prompt {
        Prompt::parse(RequestApi::Messages, received, changed, &mut KnownHashes::default()).unwrap()
    }

    /// Sends a request of the session with these messages, and returns its account.
    fn send(ledger: &mut Ledger, number: u64, client: &[&str], sent: &[&str], billed: (u64, u64), now: i64) -> Account {
        let body = |messages: &[&str]| {
            let messages: Vec<String> = messages.iter().map(|text| format!(r#"{{"role":"user","content":"{text}"}}"#)).collect();
            format!(r#"{{"model":"claude-opus-4-7","messages":[{}]}}"#, messages.join(","))
        };
        let (received, sent) = (body(client), body(sent));
        let changed =
            (received != sent).then(|| EditedBytes::new(received.len()).with(vec![(0..received.len(), sent.into_bytes())]));
        let is_changed = changed.is_some();
        ledger.sent(number, prompt(received.into(), changed));
        let facts = RequestFacts { session: "s".to_owned(), model: "claude-opus-4-7".to_owned(), ..RequestFacts::default() };
        let billed = BilledTokens { cache_read: billed.0, cache_write_5m: billed.1, ..BilledTokens::default() };
        let client_tokens = billed.sent() + if is_changed { 10_000 } else { 0 };
        ledger.ended(&Ended { number, facts: &facts, billed, client_tokens, now }, &Prices::default())
    }

    fn cause(account: Account) -> Option<(u64, LossCause)> {
        account.loss.map(|loss| (loss.tokens, loss.cause))
    }

    #[test]
    fn a_loss_has_its_cause() {
        let mut ledger = Ledger::default();
        let mut number = 0;
        let mut check = |client: &[&str], sent: &[&str], billed, now, expected| {
            number += 1;
            assert_eq!(cause(send(&mut ledger, number, client, sent, billed, now)), expected, "{client:?} {sent:?}");
        };
        check(&["a", "b"], &["a", "b"], (0, 50_000), 1, None);
        check(&["a", "b", "c"], &["a", "b", "c"], (50_000, 1_000), 2, None);
        // Our change, then the same again.
        check(&["a", "b", "c", "d"], &["a", "-", "c", "d"], (10_000, 31_000), 3, Some((31_000, LossCause::Ours)));
        check(&["a", "b", "c", "d", "e"], &["a", "-", "c", "d", "e"], (41_000, 100), 4, None);
        check(&["a", "-", "x"], &["a", "-", "x"], (20_000, 21_200), 5, Some((21_100, LossCause::Client)));
        check(&["a", "-", "x", "y"], &["a", "-", "x", "y"], (0, 20_200), 6, Some((20_200, LossCause::Api)));
        check(&["a"], &["-"], (0, 9_000), 600_000, Some((9_000, LossCause::Expired)));
    }

    #[test]
    fn cached_tokens_are_saved_at_the_cache_price() {
        let mut ledger = Ledger::default();
        let first = send(&mut ledger, 1, &["a", "b"], &["a", "-"], (0, 40_000), 1);
        assert!((first.saving.full_price_tokens - 12_500.0).abs() < 1e-6, "{first:?}");
        let second = send(&mut ledger, 2, &["a", "b", "c"], &["a", "-", "c"], (40_000, 1_000), 2);
        assert!((second.saving.full_price_tokens - 1_000.0).abs() < 1e-6, "{second:?}");
        let plain = send(&mut ledger, 3, &["a"], &["a"], (0, 40_000), 3);
        assert_eq!(plain.saving.full_price_tokens, 0.0);
    }

    #[test]
    fn the_memory_is_bounded() {
        let mut ledger = Ledger::default();
        for number in 0..10_000 {
            let facts = RequestFacts { session: number.to_string(), ..RequestFacts::default() };
            let body = br#"{"model":"m","messages":[{"role":"user","content":"a"}]}"#;
            ledger.sent(number, prompt(Bytes::from_static(body), None));
            if number % 3 == 0 {
                ledger.failed(number);
                continue;
            }
            let ended = Ended { number, facts: &facts, billed: BilledTokens::default(), client_tokens: 0, now: number as i64 };
            ledger.ended(&ended, &Prices::default());
        }
        assert_eq!((ledger.running.len(), ledger.lines.len()), (0, LINES));
        assert!(ledger.lines.contains_key(&("9998".to_owned(), String::new())));
    }
}
