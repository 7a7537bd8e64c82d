//! Any bytes are rows: none is lost, none overlaps, and each block belongs to one of them.
#![no_main]

use aperture::provider::{MEDIA, PROVIDERS, REQUESTS};
use aperture::workspace::parse_chunk;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).count();
    for provider in PROVIDERS {
        let segment = parse_chunk(*provider, &|_| Some(1), bytes, 0);
        assert_eq!(segment.rows.len(), lines);
        for row in &segment.rows {
            let end = row.offset as usize + row.length as usize;
            assert!(end == bytes.len() || bytes[end] == b'\n');
        }
        assert!(segment.blocks.iter().all(|block| (block.row as usize) < lines));
        let mut scanner = provider.scanner();
        bytes.split(|byte| *byte == b'\n').for_each(|line| scanner.line(line));
        scanner.totals();
    }
    for format in REQUESTS.iter().chain(MEDIA) {
        format.recognizes(bytes);
        let segment = parse_chunk(*format, &|_| Some(1), bytes, 0);
        let ends = segment.rows.iter().map(|row| (row.offset, row.offset + u64::from(row.length)));
        assert!(ends.is_sorted_by(|before, after| before.1 <= after.0) && segment.blocks.iter().all(|block| (block.row as usize) < segment.rows.len()));
    }
});
