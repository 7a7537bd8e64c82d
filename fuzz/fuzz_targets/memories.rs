//! Any bytes are a memory file or refused; a file is printed as it was read, and another entry changes no line of it.
#![no_main]

use aperture::engine::memory::Document;
use aperture::model::{MemoryFile, MemoryScope};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(document) = Document::parse(bytes, MemoryFile::UserPrefs, MemoryScope::Project) else { return };
    assert_eq!(document.print().as_bytes(), bytes);
    for memory in document.memories().filter(|memory| memory.id != 0) {
        let mut changed = document.clone();
        changed.set(memory);
        let mut added = document.clone();
        added.set(&aperture::model::Memory { id: u32::MAX, ..memory.clone() });
        let again = Document::parse(added.print().as_bytes(), MemoryFile::UserPrefs, MemoryScope::Project);
        assert!(added.print().len() > bytes.len() && again.is_ok());
    }
});
