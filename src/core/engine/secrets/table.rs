//! The table of made-up credentials and harmless look-alikes: each credential must be masked for every seed, no look-alike may be.

use super::mask;
use crate::testing::entries;
use base64::Engine as _;
use std::collections::BTreeMap;

/// Credentials: each a text with `{}` for the value, and the form of the value: `a` letters and digits, `l` lowercase letters and digits,
/// `h` hexadecimal digits, `c` capitals and digits, `u` letters, digits, `-` and `_`, `b` base64, `n` digits, each with a length;
/// `guid`; `=TEXT` for a value that a person chose. Several forms are joined by spaces.
const CREDENTIALS: &str = include_str!("credentials.jsonl");
const HARMLESS: &str = include_str!("look_alikes.jsonl");

fn value(form: &str, seed: u64) -> String {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as usize
    };
    let digits = "0123456789";
    let lower = "abcdefghijklmnopqrstuvwxyz";
    let upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    let mut value = String::new();
    if form.starts_with('=') && form.matches(' ').count() > 8 {
        return form[1..].to_owned();
    }
    for part in form.split(' ') {
        let (letter, length) = part.split_at(1);
        let mut random = |alphabet: String, length: usize| -> String {
            let letters: Vec<char> = alphabet.chars().collect();
            (0..length).map(|_| letters[next() % letters.len()]).collect()
        };
        value += &match (letter, length.parse::<usize>()) {
            _ if part == "guid" => [8, 4, 4, 4, 12].map(|length| random(format!("{digits}abcdef"), length)).join("-"),
            _ if part == "basic" => {
                let password = random(format!("{digits}{lower}"), 12);
                base64::engine::general_purpose::STANDARD.encode(format!("deploy:{password}"))
            }
            ("=", _) => length.to_owned(),
            ("a", Ok(length)) => random(format!("{digits}{lower}{upper}"), length),
            ("l", Ok(length)) => random(format!("{digits}{lower}"), length),
            ("h", Ok(length)) => random(format!("{digits}abcdef"), length),
            ("c", Ok(length)) => random(format!("{digits}{upper}"), length),
            ("u", Ok(length)) => {
                // The last byte is a letter, because a sentence can end in `-`.
                random(format!("{digits}{lower}{upper}-_"), length - 1) + &random(lower.to_owned(), 1)
            }
            ("b", Ok(length)) => random(format!("{digits}{lower}{upper}+/"), length - 1) + &random(lower.to_owned(), 1),
            ("n", Ok(length)) => random("123456789".to_owned(), length),
            _ => panic!("unknown form {part}"),
        };
    }
    value
}

/// Returns true if no part of a value that could be used is left: neither its start nor its end.
fn is_masked(text: &str, value: &str) -> bool {
    let masked = mask(text);
    let part = value.len().min(12);
    // The fixed beginning of a value can stay.
    !masked.contains(value) && !masked.contains(&value[value.len() - part..])
}

#[test]
fn credentials_of_the_table_are_masked_and_look_alikes_stay() {
    let mut missed: BTreeMap<usize, (usize, String)> = BTreeMap::new();
    const SEEDS: u64 = 20;
    let credentials: Vec<(String, String)> = entries(CREDENTIALS);
    let harmless: Vec<String> = entries(HARMLESS);
    for (number, (text, form)) in credentials.iter().enumerate() {
        for seed in 1..=SEEDS {
            let value = value(form, seed * 1000 + number as u64);
            let text = match text.as_str() {
                "{}" => ["key: {}", "use {} now", "\"{}\"", "X={}", "a\\n{}\\nb"][number % 5],
                text => text,
            };
            let text = text.replace("{}", &value);
            if !is_masked(&text, &value) {
                let (count, example) = missed.entry(number).or_default();
                *count += 1;
                *example = text;
            }
        }
    }
    let false_alarms: Vec<&String> = harmless.iter().filter(|text| mask(text) != ***text).collect();
    let alarms = false_alarms.iter().map(|text| format!("{text:?} -> {:?}\n", mask(text))).collect::<String>();
    let (tries, misses) = (credentials.len() * SEEDS as usize, missed.values().map(|(count, _)| count).sum::<usize>());
    let list: String = missed.values().map(|(count, example)| format!("{count} times {example:?}\n")).collect();
    assert!(credentials.len() >= 270 && harmless.len() >= 83, "{} and {}", credentials.len(), harmless.len());
    assert!(misses * 100 <= tries, "{misses} of {tries} are missed:\n{list}\n{alarms}");
    assert!(false_alarms.is_empty(), "{alarms}");
}
