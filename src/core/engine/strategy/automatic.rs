//! When a rule of the settings acts on a session whose requests pass a proxy.
//!
//! A change makes the API read everything after it again, unless its cache entries have expired. So a rule waits until they have, or
//! until the change pays back soon; only a window over its budget does not wait. It acts in one go, and then rests.

use crate::engine::{EditPrice, amount};
use crate::model::{Actor, History, OperationId, OperationKind};

/// Minimum share of the window that a rule removes.
const WORTH_ACTING: f64 = 0.03;
/// The same for a budget while the last change is recent: each change loses the cache.
const WORTH_ACTING_AGAIN: f64 = 0.1;

/// The rules that act by themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AutomaticRule {
    Condense,
    /// A window over its budget is shortened.
    Budget,
}

/// The last operation of a rule on a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastAutomatic {
    pub operation: OperationId,
    pub undone: bool,
    /// Time of the operation, or of its undo, in milliseconds since 1970, UTC.
    pub time: i64,
}

impl LastAutomatic {
    pub fn find(history: &History, ending: &str) -> Option<LastAutomatic> {
        let ours = |operation: &&crate::model::Operation| {
            operation.kind == OperationKind::Change && operation.actor == Actor::Policy && operation.command.ends_with(ending)
        };
        let last = history.operations.iter().rev().find(ours)?;
        let undo = history.undone_by(last.id);
        let time = undo.and_then(|undo| history.operation(undo)).map_or(last.time, |undo| undo.time);
        Some(LastAutomatic { operation: last.id, undone: undo.is_some(), time })
    }
}

/// The facts on which a rule decides.
#[derive(Clone, Copy, Debug)]
pub struct AutomaticFacts {
    pub rule: AutomaticRule,
    /// True if the window exceeds its budget; else requests that are on their way let it do so.
    pub is_exceeded: bool,
    /// Cost and savings of its change, for a request that follows now; `None` if it would change nothing.
    pub price: Option<EditPrice>,
    /// The last operation of a rule.
    pub last: Option<LastAutomatic>,
    pub turns_since: usize,
    /// The longest time until the savings must exceed the cost, in turns.
    pub pay_back_turns: f64,
}

/// The decision of a rule, with its reason in a few words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Act(String),
    Wait(String),
}

impl AutomaticFacts {
    pub fn verdict(&self) -> Verdict {
        let wait = |reason: String| Verdict::Wait(reason);
        let Some(price) = self.price.filter(|price| price.saved_tokens >= WORTH_ACTING * price.window_before_tokens) else {
            return wait(match self.rule {
                AutomaticRule::Condense => "nothing is worth shortening".to_owned(),
                AutomaticRule::Budget => "the window is within its budget, or nothing more can be shortened".to_owned(),
            });
        };
        let is_resting = (self.turns_since as f64) < self.pay_back_turns;
        if let Some(last) = self.last.filter(|last| last.undone && is_resting) {
            return wait(format!("operation {} was undone: waits for other turns", last.operation));
        }
        if self.rule == AutomaticRule::Budget {
            let is_little = price.saved_tokens < WORTH_ACTING_AGAIN * price.window_before_tokens;
            if let Some(last) = self.last.filter(|_| is_resting && is_little) {
                return wait(format!("operation {} is recent, and little more can be shortened", last.operation));
            }
            let state = if self.is_exceeded { "is over its budget" } else { "is about to exceed its budget" };
            return Verdict::Act(format!("the window {state}"));
        }
        if price.cache_is_cold {
            return Verdict::Act("the prompt cache has expired".to_owned());
        }
        if let Some(last) = self.last.filter(|_| is_resting) {
            return wait(format!(
                "operation {} is recent: waits for other turns, or until the prompt cache expires",
                last.operation
            ));
        }
        match price.pays_back_turns {
            Some(turns) if turns <= self.pay_back_turns => Verdict::Act(format!("it pays back within {turns:.1} turns")),
            turns => {
                let saved = amount(price.saved_tokens.round() as u64);
                let after =
                    turns.map_or("would never pay back now".to_owned(), |turns| format!("would pay back after {turns:.0} turns"));
                wait(format!("waits until the prompt cache expires: −{saved} {after}"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Operation;

    fn price(saved: f64, cold: bool, turns: Option<f64>) -> EditPrice {
        EditPrice {
            window_before_tokens: 100_000.0,
            window_after_tokens: 100_000.0 - saved,
            saved_tokens: saved,
            unchanged_prefix_tokens: 10_000.0,
            rewritten_tokens: 50_000.0,
            pays_back_turns: turns,
            cache_is_cold: cold,
            ..EditPrice::default()
        }
    }

    fn facts(rule: AutomaticRule, price: EditPrice) -> AutomaticFacts {
        AutomaticFacts { rule, is_exceeded: true, price: Some(price), last: None, turns_since: 0, pay_back_turns: 5.0 }
    }

    #[track_caller]
    fn check(facts: AutomaticFacts, acts: bool, reason: &str) {
        let verdict = facts.verdict();
        let (Verdict::Act(given) | Verdict::Wait(given)) = &verdict;
        assert_eq!((matches!(verdict, Verdict::Act(_)), given.contains(reason)), (acts, true), "{verdict:?}: {facts:?}");
    }

    #[test]
    fn stale_blocks_wait_for_a_cold_cache_or_a_pay_back() {
        use AutomaticRule::Condense;
        check(facts(Condense, price(30_000.0, false, Some(12.0))), false, "−30k would pay back after 12 turns");
        check(facts(Condense, price(30_000.0, false, None)), false, "would never pay back now");
        check(facts(Condense, price(30_000.0, false, Some(4.0))), true, "pays back within 4.0 turns");
        check(facts(Condense, price(30_000.0, true, Some(0.0))), true, "expired");
        check(facts(Condense, price(2_000.0, true, Some(0.0))), false, "nothing is worth");
        check(AutomaticFacts { price: None, ..facts(Condense, price(0.0, true, None)) }, false, "nothing is worth");
    }

    #[test]
    fn a_budget_waits_for_nothing_but_a_person() {
        let over = facts(AutomaticRule::Budget, price(30_000.0, false, None));
        check(over, true, "over its budget");
        check(AutomaticFacts { is_exceeded: false, ..over }, true, "about to exceed its budget");
        let last = LastAutomatic { operation: 3, undone: false, time: 0 };
        check(AutomaticFacts { last: Some(last), ..over }, true, "over its budget");
        let little = facts(AutomaticRule::Budget, price(9_000.0, false, None));
        check(AutomaticFacts { last: Some(last), ..little }, false, "operation 3 is recent, and little more");
        check(AutomaticFacts { last: Some(last), turns_since: 5, ..little }, true, "over its budget");
        let undone = Some(LastAutomatic { undone: true, ..last });
        check(AutomaticFacts { last: undone, ..over }, false, "operation 3 was undone");
        check(AutomaticFacts { last: undone, turns_since: 5, ..over }, true, "over its budget");
        check(AutomaticFacts { price: None, ..over }, false, "within its budget");
    }

    #[test]
    fn a_rule_rests_after_it_acted() {
        let soon = facts(AutomaticRule::Condense, price(30_000.0, false, Some(1.0)));
        let last = Some(LastAutomatic { operation: 3, undone: false, time: 0 });
        check(AutomaticFacts { last, turns_since: 4, ..soon }, false, "operation 3 is recent");
        check(AutomaticFacts { last, turns_since: 5, ..soon }, true, "pays back");
        let cold = AutomaticFacts { price: Some(price(30_000.0, true, Some(0.0))), ..soon };
        check(AutomaticFacts { last, turns_since: 1, ..cold }, true, "expired");
        let undone = last.map(|last| LastAutomatic { undone: true, ..last });
        check(AutomaticFacts { last: undone, turns_since: 1, ..cold }, false, "was undone");
    }

    #[test]
    fn the_last_operation_of_a_rule_is_found_with_its_undo() {
        let operation = |id, kind, actor, command: &str| Operation {
            actor,
            command: command.to_owned(),
            time: i64::from(id) * 10,
            ..Operation::example(id, kind)
        };
        let (change, undo) = (OperationKind::Change, OperationKind::Undo);
        let mut history = History {
            operations: vec![
                operation(1, change, Actor::Policy, "compress --stale (aperture proxy)"),
                operation(2, change, Actor::Policy, "compress --stale (watch --apply-policy)"),
                operation(3, change, Actor::User, "archive 3"),
            ],
            ..History::default()
        };
        let find = |history: &History| LastAutomatic::find(history, "(aperture proxy)");
        assert_eq!(find(&history), Some(LastAutomatic { operation: 1, undone: false, time: 10 }));
        history.operations.push(Operation { inverts: Some(1), ..operation(4, undo, Actor::User, "undo 1") });
        assert_eq!(find(&history), Some(LastAutomatic { operation: 1, undone: true, time: 40 }));
        assert_eq!(find(&History::default()), None);
    }
}
