//! Any text is a selector or an error with a message.
#![no_main]

use aperture::engine::{Analysis, Selector};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match Selector::parse(text) {
        Ok(selector) => assert!(selector.select(&Analysis::default()).unwrap_or_default().is_empty()),
        Err(error) => assert!(!error.to_string().is_empty() && !error.hint().is_empty()),
    }
});
