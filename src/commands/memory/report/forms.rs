//! The JSON forms of memories and of their changes.

use super::MemoryDiffReport;
use crate::engine::memory::{Change, ChangeKind};
use crate::model::{FileChange, JsonOf, Memory, MemoryScope, Sighting, Time, json_forms};

json_forms! {
    /// A memory.
    MemoryLine of memory: Memory {
        /// Name, such as `memory-12`; null for an entry that a person wrote without metadata.
        id: Option<String> = (!memory.is_by_hand()).then(|| memory.name()),
        /// Owner of its tree.
        scope: MemoryScope = memory.scope,
        /// Category: `operational`, `factual`, `procedural` or `introspection`.
        category: &'static str = memory.file.category().name(),
        /// Path of its file in the tree.
        file: String = memory.file.path(),
        /// Kind, such as `correction`.
        kind: &'static str = memory.kind.name(),
        /// State: `pending`, `active`, `superseded` or `archived`.
        state: &'static str = memory.state.name(),
        /// Text, in Markdown.
        text: String = memory.text.clone(),
        /// Signature of its topic, in hexadecimal.
        key: String = format!("{:016x}", memory.key),
        /// Day of the first sighting; null if it is not known.
        first_seen: Option<Time> = (!memory.is_by_hand()).then(|| Time::json_of(&memory.first_seen)),
        /// Day of the last sighting; null if it is not known.
        last_seen: Option<Time> = (!memory.is_by_hand()).then(|| Time::json_of(&memory.last_seen)),
        /// Number of sightings.
        sightings: u32 = memory.sightings,
        /// Number of sessions with a sighting.
        sessions: u32 = memory.sessions,
        /// Newest sightings, oldest first.
        evidence: Vec<MemorySighting> = JsonOf::json_of(&memory.evidence),
        /// Number of times that it was of use.
        helpful: u32 = memory.helpful,
        /// Number of times that it was contradicted after it was read, or did not help as the user reported.
        harmful: u32 = memory.harmful,
        /// Memory that replaced it.
        superseded_by: Option<String> = memory.superseded_by.map(|id| memory.scope.name_of(id)),
        /// Memory that it contradicts, until the user decides.
        contradicts: Option<String> = memory.contradicts.map(|id| memory.scope.name_of(id)),
        /// True if a person wrote the text.
        edited: bool = memory.is_edited,
        /// True if the model proposed it.
        by_model: bool = memory.is_by_model,
        /// True if the user keeps it in every composed text.
        pinned: bool = memory.is_pinned,
    }

    /// A place in a session that a memory was learned from.
    MemorySighting of sighting: Sighting {
        /// Session id, or a prefix of it.
        session: String = sighting.session.clone(),
        /// Block number.
        block: u32 = sighting.block,
        /// Identity of the row; null if it is not known.
        row: Option<String> = (!sighting.row.is_empty()).then(|| sighting.row.clone()),
    }

    /// A change of a memory.
    MemoryChange of change: Change {
        /// Kind of the change.
        kind: ChangeKind = change.kind,
        /// Memory after the change; before it if it was deleted.
        memory: MemoryLine = MemoryLine::json_of(&change.memory),
        /// Text before the change; null for a new memory.
        text_before: Option<String> = change.before.as_ref().map(|before| before.text.clone()),
    }

    /// A changed memory file.
    MemoryFileChange of file: FileChange {
        /// Path in the tree.
        path: String = file.path.clone(),
        /// Text before; null if the file did not exist.
        before: Option<String> = file.before.is_some().then(|| MemoryDiffReport::text_of(&file.before)),
        /// Text after; null if the file was deleted.
        after: Option<String> = file.after.is_some().then(|| MemoryDiffReport::text_of(&file.after)),
    }
}

/// A number of entries.
#[derive(serde::Serialize, schemars::JsonSchema)]
pub struct MemoryCount {
    /// State or kind.
    name: String,
    /// Number.
    count: usize,
}

impl<K: ToString> JsonOf<(K, usize)> for MemoryCount {
    fn json_of((name, count): &(K, usize)) -> MemoryCount {
        MemoryCount { name: name.to_string(), count: *count }
    }
}
