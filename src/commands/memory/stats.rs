//! `aperture memory stats`: counts entries, sightings and tokens.

use super::report::MemoryStatsReport;
use super::run::Memories;
use crate::app::CommandError;
use crate::engine::o200k;
use crate::model::{Memory, MemoryKind, MemoryScope, MemoryState};

/// Prints the figures.
pub fn run(memories: &Memories<'_>) -> Result<(), CommandError> {
    let trees = memories.read_all()?;
    let all: Vec<&Memory> = trees.iter().flat_map(|tree| tree.memories()).collect();
    let active: Vec<&&Memory> = all.iter().filter(|memory| memory.state == MemoryState::Active).collect();
    let by_state = |state| all.iter().filter(|memory| memory.state == state).count();
    let by_kind = |kind| all.iter().filter(|memory| memory.kind == kind && !memory.state.is_retired()).count();
    let mut operations = 0;
    if let Some(store) = memories.env.existing_store()? {
        for scope in [MemoryScope::Project, MemoryScope::User] {
            operations += store.memory_operation_count(&memories.place(scope).key(memories.env.disk))?;
        }
    }
    memories.env.print(&MemoryStatsReport {
        states: MemoryState::ALL.map(|state| (state, by_state(state))).to_vec(),
        kinds: MemoryKind::ALL.map(|kind| (kind, by_kind(kind))).into_iter().filter(|(_, count)| *count > 0).collect(),
        by_hand: all.iter().filter(|memory| memory.is_by_hand()).count(),
        edited: all.iter().filter(|memory| memory.is_edited && !memory.is_by_hand()).count(),
        sightings: active.iter().map(|memory| u64::from(memory.sightings)).sum(),
        repeated: active.iter().filter(|memory| memory.sessions > 1).count(),
        with_evidence: active.iter().filter(|memory| !memory.evidence.is_empty()).count(),
        helpful: all.iter().map(|memory| u64::from(memory.helpful)).sum(),
        harmful: all.iter().map(|memory| u64::from(memory.harmful)).sum(),
        tokens: active.iter().map(|memory| o200k(&memory.text) as u64).sum(),
        forgotten: trees.iter().map(|tree| tree.forgotten().len()).sum(),
        operations,
    })
}
