//! Any text is a placeholder or not, and a parsed placeholder is written again unchanged.
#![no_main]

use aperture::engine::marker::{Line, find_in_input, line, parse};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    find_in_input(text);
    if let Some((marker, rest)) = parse(text) {
        assert!(text.ends_with(rest) && marker.number > 0 && marker.tokens >= 0.0);
        let written = line(marker.level, &Line { number: marker.number, tokens: marker.tokens, ..Line::default() });
        let (again, _) = parse(&written).expect("what is written is read");
        assert_eq!((again.number, again.level), (marker.number, marker.level));
    }
    let written = line(aperture::model::Level::Archived, &Line { number: 7, tokens: 9.0, label: text, reason: text, hint: text });
    assert_eq!(parse(&written).map(|(marker, rest)| (marker.number, rest)), Some((7, "")));
});
