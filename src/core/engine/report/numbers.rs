//! Formats numbers for people.

/// Formats a number: `600`, `3.2k`, `142k`, `1.2M`. Selectors can parse the result.
pub fn amount(value: u64) -> String {
    match value {
        0..1_000 => value.to_string(),
        1_000..9_950 => trimmed(value as f64 / 1e3, "k"),
        9_950..999_500 => format!("{:.0}k", value as f64 / 1e3),
        _ => trimmed(value as f64 / 1e6, "M"),
    }
}

fn trimmed(value: f64, unit: &str) -> String {
    let text = format!("{value:.1}");
    format!("{}{unit}", text.strip_suffix(".0").unwrap_or(&text))
}

/// Formats a number with thousands separators: `141,803`.
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a size in bytes: `812 B`, `3.7 MB`.
pub fn bytes(value: u64) -> String {
    match value {
        0..1_000 => format!("{value} B"),
        1_000..1_000_000 => format!("{} kB", value / 1_000),
        _ => format!("{:.1} MB", value as f64 / 1e6),
    }
}

/// Formats a count with its noun: `1 block`, `5 blocks`.
pub fn plural(count: impl std::fmt::Display, name: &str) -> String {
    unit(&count.to_string(), name)
}

/// Formats a figure with its unit: `1 token`, `~1 token`, `31k tokens`. If there are several figures, the last determines the
/// number.
pub fn unit(figure: &str, name: &str) -> String {
    let one = figure.rsplit(' ').next().is_some_and(|last| last.trim_start_matches(['~', '−', '+']) == "1");
    let changed = name.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'o', 'u']));
    match changed {
        _ if one => format!("{figure} {name}"),
        Some(stem) => format!("{figure} {stem}ies"),
        None if name.ends_with("ch") => format!("{figure} {name}es"),
        None => format!("{figure} {name}s"),
    }
}

/// Returns the note about responses whose bills are impossible.
pub fn impossible_bills(count: usize) -> String {
    format!("counted as recorded, but more than any window of the model holds: {}", plural(count, "response"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_short() {
        for (value, text) in [
            (0, "0"),
            (999, "999"),
            (1_000, "1k"),
            (3_240, "3.2k"),
            (9_960, "10k"),
            (142_300, "142k"),
            (999_600, "1M"),
            (1_250_000, "1.2M"),
        ] {
            assert_eq!(amount(value), text);
            let read = crate::engine::selector::amount(text).unwrap_or_default();
            assert!((read - value as f64).abs() <= value as f64 * 0.05, "{text}");
        }
    }

    #[test]
    fn one_is_singular() {
        for (figure, text) in [
            ("1", "1 token"),
            ("~1", "~1 token"),
            ("5 → 1", "5 → 1 token"),
            ("1 → 0", "1 → 0 tokens"),
            ("0", "0 tokens"),
            ("31k", "31k tokens"),
            ("1k", "1k tokens"),
        ] {
            assert_eq!(unit(figure, "token"), text);
        }
        for (name, several) in
            [("block", "2 blocks"), ("day", "2 days"), ("more entry", "2 more entries"), ("search", "2 searches")]
        {
            assert_eq!((plural(1, name), plural(2, name)), (format!("1 {name}"), several.to_owned()));
        }
    }

    #[test]
    fn thousands_are_apart() {
        for (value, text) in [(0, "0"), (999, "999"), (3_400, "3,400"), (1_234_567, "1,234,567")] {
            assert_eq!(count(value), text);
        }
    }
}
