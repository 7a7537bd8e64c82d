//! Numbers as people read them.

/// A number, short: `600`, `3.2k`, `142k`, `1.2M`; a selector reads it back.
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

/// A number with its thousands apart: `141,803`.
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
    fn thousands_are_apart() {
        for (value, text) in [(0, "0"), (999, "999"), (3_400, "3,400"), (1_234_567, "1,234,567")] {
            assert_eq!(count(value), text);
        }
    }
}
