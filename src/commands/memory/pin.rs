//! `aperture memory pin`: keeps an entry in every composed text.

use super::run::{Memories, changed};
use crate::app::{CommandError, ErrorKind};
use crate::engine::memory::{PINNED_TOKENS, pinned_tokens};
use crate::memory::MemoryError;
use crate::model::{Memory, MemoryState};
use anyhow::anyhow;

/// Pins an entry, or unpins it (`off`).
pub fn run(memories: &Memories<'_>, id: &str, off: bool, is_dry_run: bool) -> Result<(), CommandError> {
    let known = memories.find(id)?;
    let others: Vec<Memory> = memories.read_all()?.iter().flat_map(|tree| tree.memories().cloned().collect::<Vec<_>>()).collect();
    let updated = memories.change(known.scope, is_dry_run, &mut |tree| {
        let memory = tree.find(known.id).cloned().ok_or_else(|| MemoryError::Unknown(known.name()))?;
        // A pinned entry is a decision of the user: it is in use, and its text is kept.
        let pinned = if off {
            Memory { is_pinned: false, ..memory }
        } else {
            Memory { is_pinned: true, is_edited: true, state: MemoryState::Active, contradicts: None, ..memory }
        };
        let is_other = |other: &&Memory| (other.scope, other.id) != (pinned.scope, pinned.id);
        let tokens = pinned_tokens(others.iter().filter(is_other).chain([&pinned]));
        if !off && tokens > PINNED_TOKENS {
            let error = anyhow!("the pinned entries would have {tokens} tokens; they have at most {PINNED_TOKENS}");
            return Err(CommandError::new(ErrorKind::Refused, error)
                .hint("shorten its text with `aperture memory edit`, or unpin another one with `aperture memory pin ID --off`"));
        }
        tree.set(pinned)?;
        Ok(())
    })?;
    let done = format!("{} {}", known.name(), if off { "unpinned" } else { "pinned" });
    memories.env.print(&changed(done, updated, is_dry_run))
}
