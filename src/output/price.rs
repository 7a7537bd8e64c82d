//! Formats the cost of an edit.

use super::{age, amount, unit};
use crate::engine::{EditPrice, PAYS_BACK_TURNS};
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
        if new == 0 {
            return vec![change, format!("{cold}: {}", balance(price))];
        }
        return vec![change, format!("{cold}: {} with the rest", written_tokens(new)), balance(price)];
    }
    let change = match whole(price.unchanged_prefix_tokens) {
        0 => format!("{change}; none stay cached"),
        1 => format!("{change}; the first one stays cached"),
        prefix => format!("{change}; the first {} stay cached", amount(prefix)),
    };
    let paid = match (new, again) {
        (0, 0) => return vec![change, balance(price)],
        (0, _) => format!("{} to the cache again, once", written_tokens(again)),
        (_, 0) => format!("{} to the cache, once", written_tokens(new)),
        (1, _) => format!("1 new is written to the cache and {} again, once", amount(again)),
        _ => format!("{} new are written to the cache and {} again, once", amount(new), amount(again)),
    };
    vec![change, paid, balance(price)]
}

/// Returns what an edit costs and saves: `saves ~$0.27 a turn, costs nothing now`.
pub(super) fn balance(price: &EditPrice) -> String {
    let once = price.rewritten_dollars.zip(price.added_dollars).map(|(again, new)| again + new);
    let tokens = amount(whole(price.saved_tokens.abs()));
    let again = whole(price.rewritten_tokens + price.added_tokens);
    let costs = match once {
        _ if again == 0 => "costs nothing now".to_owned(),
        Some(once) => format!("costs {} now", dollars(once)),
        None => format!("{} again", written_tokens(again)),
    };
    let saves = match price.saved_dollars_per_turn {
        Some(saved) if saved < 0.0 => return format!("{costs}, and {} more a turn", dollars(-saved)),
        Some(saved) => format!("saves {} a turn", dollars(saved)),
        None if price.saved_tokens < 0.0 => return format!("{costs}, and requests read {tokens} more"),
        None => format!("requests read {tokens} less"),
    };
    match price.pays_back_turns {
        Some(turns) if turns <= PAYS_BACK_TURNS => format!("{saves}, {costs}"),
        _ => format!("not worth it: {}, {saves}", costs.trim_end_matches(" now")),
    }
}

/// Formats the number of written tokens: `1 is written`, `5k are written`.
fn written_tokens(tokens: u64) -> String {
    format!("{} {} written", amount(tokens), if tokens == 1 { "is" } else { "are" })
}

fn cold(price: &EditPrice) -> String {
    let idle = price.idle_milliseconds.map(|idle| age(Timestamp::UNIX_EPOCH, idle.saturating_neg()));
    idle.map_or_else(|| "the cache has expired".to_owned(), |idle| format!("the cache has expired (idle {idle})"))
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
        let again = "99k are written to the cache again, once";
        check(edit, &[change, again, "not worth it: costs ~$0.57, saves ~$0.016 a turn"]);
        check(EditFacts { steps_per_turn: 40.0, ..edit }, &[change, again, "saves ~$0.62 a turn, costs ~$0.57 now"]);
        check(unknown(edit), &[change, again, "not worth it: 99k are written again, requests read 31k less"]);
        check(
            facts(142_300.0, 111_100.0, 111_100.0),
            &["−31k tokens (142k → 111k); the first 111k stay cached", "saves ~$0.016 a turn, costs nothing now"],
        );
    }

    #[test]
    fn a_single_token() {
        check(
            facts(1_000.0, 1_001.0, 1_000.0),
            &[
                "+1 token (1k → 1k); the first 1k stay cached",
                "1 is written to the cache, once",
                "costs <$0.001 now, and <$0.001 more a turn",
            ],
        );
        check(
            facts(1_001.0, 1_000.0, 999.0),
            &[
                "−1 token (1k → 1k); the first 999 stay cached",
                "1 is written to the cache again, once",
                "not worth it: costs <$0.001, saves <$0.001 a turn",
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
        check(edit, &[change, "the cache has expired (idle 3 h): saves ~$0.016 a turn, costs nothing now"]);
        check(unknown(edit), &[change, "the cache has expired (idle 3 h): requests read 31k less, costs nothing now"]);
        check(
            cold(facts(100_000.0, 105_000.0, 100_000.0)),
            &[
                "+5k tokens (100k → 105k)",
                "the cache has expired (idle 3 h): 5k are written with the rest",
                "costs ~$0.031 now, and ~$0.0025 more a turn",
            ],
        );
    }

    #[test]
    fn a_window_that_grows() {
        let change = "+5k tokens (100k → 105k); the first 100k stay cached";
        let edit = facts(100_000.0, 105_000.0, 100_000.0);
        let written = "5k are written to the cache, once";
        check(edit, &[change, written, "costs ~$0.031 now, and ~$0.0025 more a turn"]);
        check(unknown(edit), &[change, written, "5k are written again, and requests read 5k more"]);
        check(
            facts(100_000.0, 105_000.0, 60_000.0),
            &[
                "+5k tokens (100k → 105k); the first 60k stay cached",
                "5k new are written to the cache and 40k again, once",
                "costs ~$0.26 now, and ~$0.0025 more a turn",
            ],
        );
    }

    #[test]
    fn nothing_saved() {
        check(
            facts(100_000.0, 100_000.0, 20_000.0),
            &[
                "token count unchanged (100k → 100k); the first 20k stay cached",
                "80k are written to the cache again, once",
                "not worth it: costs ~$0.46, saves $0 a turn",
            ],
        );
        check(
            unknown(facts(100_000.0, 100_000.0, 0.0)),
            &[
                "token count unchanged (100k → 100k); none stay cached",
                "100k are written to the cache again, once",
                "not worth it: 100k are written again, requests read 0 less",
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
