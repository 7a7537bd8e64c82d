//! Formats the cost of an edit.

use super::{age, amount, unit};
use crate::engine::EditPrice;
use jiff::Timestamp;

/// Returns at most three lines of at most 80 columns with the cost of an edit and when it pays back. Estimates have a `~`.
pub fn lines(price: &EditPrice) -> Vec<String> {
    let (before, after) = (whole(price.window_before_tokens), whole(price.window_after_tokens));
    let (again, new) = (whole(price.rewritten_tokens), whole(price.added_tokens));
    let saved = whole(price.saved_tokens.abs());
    if saved == 0 && again == 0 {
        return vec![format!("the window stays at {}; no extra cache write", unit(&amount(before), "token"))];
    }
    let windows = format!("({} → {})", amount(before), amount(after));
    let change = match (saved, price.saved_tokens < 0.0) {
        (0, _) => format!("token count unchanged {windows}"),
        (_, false) => format!("−{} {windows}", unit(&amount(saved), "token")),
        (_, true) => format!("+{} {windows}", unit(&amount(saved), "token")),
    };
    if price.cache_is_cold {
        let cold = cold(price);
        let Some(once) = price.added_dollars.filter(|_| new > 0) else {
            return vec![change, format!("{cold}: no extra cache write; {}", effect(price))];
        };
        let new = written(new);
        return vec![change, format!("{cold}: {new} with the rest: {}, once", dollars(once)), effect(price)];
    }
    let change = match whole(price.unchanged_prefix_tokens) {
        0 => format!("{change}; none stay cached"),
        1 => format!("{change}; the first one stays cached"),
        prefix => format!("{change}; the first {} stay cached", amount(prefix)),
    };
    let paid = match (new, again) {
        (0, 0) => return vec![change, format!("nothing is written again: {}", effect(price))],
        (0, _) => format!("{} to the cache again", written(again)),
        (_, 0) => format!("{} to the cache", written(new)),
        (1, _) => format!("1 new is written to the cache and {} again", amount(again)),
        _ => format!("{} new are written to the cache and {} again", amount(new), amount(again)),
    };
    let once = price.rewritten_dollars.zip(price.added_dollars).map(|(again, new)| again + new);
    let paid = once.map_or_else(|| format!("{paid}, once"), |once| format!("{paid}: {}, once", dollars(once)));
    let effect = effect(price);
    let outcome = match price.pays_back_turns {
        _ if new > 0 => effect,
        None => "it does not pay back".to_owned(),
        Some(turns) => format!("{effect}: pays back {}", after_turns(turns)),
    };
    vec![change, paid, outcome]
}

/// Formats the number of written tokens: `1 is written`, `5k are written`.
fn written(tokens: u64) -> String {
    format!("{} {} written", amount(tokens), if tokens == 1 { "is" } else { "are" })
}

fn cold(price: &EditPrice) -> String {
    let idle = price.idle_milliseconds.map(|idle| age(Timestamp::UNIX_EPOCH, idle.saturating_neg()));
    idle.map_or_else(|| "the cache is cold".to_owned(), |idle| format!("the cache is cold (idle {idle})"))
}

/// Formats the savings or the cost per turn, in dollars if the price is known, else in tokens.
fn effect(price: &EditPrice) -> String {
    let tokens = amount(whole(price.saved_tokens.abs()));
    match price.saved_dollars_per_turn {
        Some(saved) if saved < 0.0 => format!("each turn costs {} more", dollars(-saved)),
        Some(saved) => format!("each turn saves {}", dollars(saved)),
        None if price.saved_tokens < 0.0 => format!("requests read {tokens} more"),
        None => format!("requests read {tokens} less"),
    }
}

fn after_turns(turns: f64) -> String {
    match whole(turns) {
        _ if turns < 1.0 => "within a turn".to_owned(),
        turns => format!("after ~{}", unit(&amount(turns), "turn")),
    }
}

/// Formats dollars to the cent, and amounts below ten cents to two digits: `~$0.0016`, `~$0.016`, `~$0.61`, `~$12.50`.
fn dollars(value: f64) -> String {
    let text = match value {
        _ if value == 0.0 => return "$0".to_owned(),
        _ if value < 0.00095 => return "<$0.001".to_owned(),
        _ if value < 0.0095 => format!("{value:.4}"),
        _ if value < 0.0995 => format!("{value:.3}"),
        _ => return format!("~${value:.2}"),
    };
    format!("~${}", text.trim_end_matches('0'))
}

fn whole(value: f64) -> u64 {
    value.max(0.0).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{EditFacts, Prices};
    use unicode_width::UnicodeWidthStr;

    fn facts(before: f64, after: f64, prefix: f64) -> EditFacts<'static> {
        EditFacts {
            window_before: before,
            window_after: after,
            unchanged_prefix: prefix,
            model: "claude-opus-4-7",
            idle_milliseconds: Some(60_000),
            cache_lifetime_milliseconds: 300_000,
            steps_per_turn: 1.0,
        }
    }

    fn check(facts: EditFacts<'_>, expected: &[&str]) {
        let lines = lines(&crate::engine::price(&facts, &Prices::default()));
        assert_eq!(lines, expected, "{facts:?}");
        assert!(lines.iter().all(|line| line.width() <= 80), "{lines:?}");
    }

    fn cold(facts: EditFacts<'_>) -> EditFacts<'_> {
        EditFacts { idle_milliseconds: Some(3 * 3_600_000), ..facts }
    }

    fn unknown(facts: EditFacts<'_>) -> EditFacts<'_> {
        EditFacts { model: "qwen3:8b", ..facts }
    }

    #[test]
    fn a_window_that_shrinks() {
        let edit = facts(142_300.0, 111_100.0, 12_000.0);
        let change = "−31k tokens (142k → 111k); the first 12k stay cached";
        let again = "99k are written to the cache again: ~$0.57, once";
        check(edit, &[change, again, "each turn saves ~$0.016: pays back after ~37 turns"]);
        check(EditFacts { steps_per_turn: 40.0, ..edit }, &[change, again, "each turn saves ~$0.62: pays back within a turn"]);
        check(
            unknown(edit),
            &[change, "99k are written to the cache again, once", "requests read 31k less: pays back after ~37 turns"],
        );
        check(
            facts(142_300.0, 111_100.0, 111_100.0),
            &["−31k tokens (142k → 111k); the first 111k stay cached", "nothing is written again: each turn saves ~$0.016"],
        );
    }

    #[test]
    fn a_single_token() {
        check(
            facts(1_000.0, 1_001.0, 1_000.0),
            &[
                "+1 token (1k → 1k); the first 1k stay cached",
                "1 is written to the cache: <$0.001, once",
                "each turn costs <$0.001 more",
            ],
        );
        check(
            facts(1_001.0, 1_000.0, 999.0),
            &[
                "−1 token (1k → 1k); the first 999 stay cached",
                "1 is written to the cache again: <$0.001, once",
                "each turn saves <$0.001: pays back after ~12 turns",
            ],
        );
        check(facts(1.0, 1.0, 1.0), &["the window stays at 1 token; no extra cache write"]);
        let edit = cold(facts(1_000.0, 1_001.0, 1_000.0));
        assert!(lines(&crate::engine::price(&edit, &Prices::default()))[1].contains("1 is written with the rest"));
    }

    #[test]
    fn a_cold_cache() {
        let edit = cold(facts(142_300.0, 111_100.0, 12_000.0));
        let change = "−31k tokens (142k → 111k)";
        check(edit, &[change, "the cache is cold (idle 3 h): no extra cache write; each turn saves ~$0.016"]);
        check(unknown(edit), &[change, "the cache is cold (idle 3 h): no extra cache write; requests read 31k less"]);
        check(
            cold(facts(100_000.0, 105_000.0, 100_000.0)),
            &[
                "+5k tokens (100k → 105k)",
                "the cache is cold (idle 3 h): 5k are written with the rest: ~$0.031, once",
                "each turn costs ~$0.0025 more",
            ],
        );
    }

    #[test]
    fn a_window_that_grows() {
        let change = "+5k tokens (100k → 105k); the first 100k stay cached";
        let edit = facts(100_000.0, 105_000.0, 100_000.0);
        check(edit, &[change, "5k are written to the cache: ~$0.031, once", "each turn costs ~$0.0025 more"]);
        check(unknown(edit), &[change, "5k are written to the cache, once", "requests read 5k more"]);
        check(
            facts(100_000.0, 105_000.0, 60_000.0),
            &[
                "+5k tokens (100k → 105k); the first 60k stay cached",
                "5k new are written to the cache and 40k again: ~$0.26, once",
                "each turn costs ~$0.0025 more",
            ],
        );
    }

    #[test]
    fn nothing_saved() {
        check(
            facts(100_000.0, 100_000.0, 20_000.0),
            &[
                "token count unchanged (100k → 100k); the first 20k stay cached",
                "80k are written to the cache again: ~$0.46, once",
                "it does not pay back",
            ],
        );
        check(
            unknown(facts(100_000.0, 100_000.0, 0.0)),
            &[
                "token count unchanged (100k → 100k); none stay cached",
                "100k are written to the cache again, once",
                "it does not pay back",
            ],
        );
        check(facts(100_000.0, 100_000.0, 100_000.0), &["the window stays at 100k tokens; no extra cache write"]);
    }

    #[test]
    fn lines_fit_eighty_columns() {
        let idle = Some(59 * 60_000);
        let sizes = [0.0_f64, 800.0, 2_000.0, 104_000.0, 998_000.0, 1_250_000.0];
        for (before, after) in sizes.iter().flat_map(|before| sizes.map(|after| (*before, after))) {
            for prefix in [0.0, before.min(after) / 2.0, before] {
                for model in ["claude-opus-4-1", "claude-haiku-5-5", "qwen3:8b"] {
                    for idle_milliseconds in [None, idle] {
                        let facts = EditFacts { model, idle_milliseconds, ..facts(before, after, prefix) };
                        let lines = lines(&crate::engine::price(&facts, &Prices::default()));
                        assert!(lines.len() <= 3 && lines.iter().all(|line| line.width() <= 80), "{lines:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn dollars_have_two_digits() {
        for (value, text) in [
            (0.0, "$0"),
            (0.000_01, "<$0.001"),
            (0.0016, "~$0.0016"),
            (0.0156, "~$0.016"),
            (0.05, "~$0.05"),
            (0.0996, "~$0.10"),
            (0.613, "~$0.61"),
            (12.5, "~$12.50"),
        ] {
            assert_eq!(dollars(value), text);
        }
    }
}
