//! Any text of a model can be searched for commands, and each command found parses again from its own text.
#![no_main]

use aperture::engine::model_commands::find;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    for said in find(text) {
        let again = find(&text[said.place]);
        assert!(said.command.is_err() || again.first().map(|again| &again.command) == Some(&said.command));
    }
});
