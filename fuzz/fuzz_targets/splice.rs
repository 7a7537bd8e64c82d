//! Replacing the value of a block leaves the rest of any row unchanged, and can be repeated.
#![no_main]

use aperture::model::BlockKind;
use aperture::provider::PROVIDERS;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, &str, &[u8])| {
    let (index, text, line) = input;
    let text = format!("x{text}");
    if line.contains(&b'\n') {
        return;
    }
    for provider in PROVIDERS {
        let index = u32::from(index % 8);
        let before = provider.parse(line);
        let (Some(block), Some(slot)) = (before.blocks.get(index as usize), provider.slot(line, index)) else { continue };
        let range = provider.locate_slot(line, slot).expect("a slot is somewhere");
        let input = block.block.kind == BlockKind::ToolUse;
        let content = if input { "{\"a\":1}".to_owned() } else { text.clone() };
        let value = provider.encode(slot, block.block.kind, &content).expect("a text is a value");
        let changed = [&line[..range.start], &value, &line[range.end..]].concat();
        let after = provider.parse(&changed);
        assert_eq!((after.row.id, after.row.parent, after.row.kind), (before.row.id, before.row.parent, before.row.kind));
        assert_eq!(after.blocks.len(), before.blocks.len());
        for (place, (new, old)) in after.blocks.iter().zip(&before.blocks).enumerate() {
            assert_eq!(new.content, if place == index as usize { content.as_str() } else { &old.content });
        }
        let again = provider.locate_slot(&changed, slot).expect("the slot is still there");
        assert_eq!([&changed[..again.start], &line[range], &changed[again.end..]].concat(), line);
    }
});
