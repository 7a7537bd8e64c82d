//! Rows with any links have a window of blocks of the session, each once, and messages of exactly these blocks.
#![no_main]

use aperture::engine::{ReadSettings, read};
use aperture::model::Session;
use aperture::provider::{PROVIDERS, conventions};
use aperture::workspace::parse_chunk;
use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;

/// Lines as clients write them, with holes for names; a line feed ends each.
const ROWS: [&str; 2] = [include_str!("../../tests/it/rows.jsonl"), include_str!("../../tests/it/rows-codex.jsonl")];

/// One line: which, and who it is, follows and speaks of.
#[derive(Arbitrary, Debug)]
struct Line {
    row: u8,
    id: u8,
    parent: u8,
    message: u8,
}

fuzz_target!(|lines: Vec<Line>| {
    for (provider, rows) in PROVIDERS.iter().zip(ROWS) {
        let rows: Vec<&str> = rows.lines().collect();
        let mut text = String::new();
        for line in &lines {
            let [id, parent, message] = [line.id % 16, line.parent % 16, line.message % 8].map(|number| format!("n{number}"));
            let row = rows[line.row as usize % rows.len()];
            text.push_str(&row.replace("ID", &id).replace("PARENT", &parent).replace("MESSAGE", &message));
            text.push('\n');
        }
        let segment = parse_chunk(*provider, &|_| Some(1), text.as_bytes(), 0);
        let mut session = Session::join(provider.name(), conventions(), "s".into(), vec![segment]);
        provider.link(&mut session);
        let window = provider.window(&session);
        let messages = provider.messages(&session, &window);
        let sent: Vec<_> = messages.iter().flat_map(|message| &message.parts).flat_map(|part| part.blocks()).collect();
        assert_eq!(window.blocks, sent);
        let mut seen = sent;
        seen.sort_unstable();
        assert!(seen.windows(2).all(|pair| pair[0] < pair[1]), "a block stands in the window twice");
        assert!(seen.last().is_none_or(|last| *last as usize <= session.blocks.len()));
        read(session, |_| window, &ReadSettings::default(), &Default::default());
    }
});
