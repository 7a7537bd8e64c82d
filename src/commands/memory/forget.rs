//! `aperture memory forget`: deletes entries for good.

use super::report::{MemoryChangeReport, memory_changes_in_words};
use super::run::{Memories, changed};
use crate::app::CommandError;
use crate::model::{Memory, MemoryScope};

/// Deletes entries, or all of a tree: that of the user if `all` is `Some(true)`.
pub fn run(memories: &Memories<'_>, ids: &[String], all: Option<bool>, is_dry_run: bool) -> Result<(), CommandError> {
    let now = memories.env.style.now.as_millisecond();
    let mut reports = Vec::new();
    let found: Vec<Memory> = ids.iter().map(|id| memories.find(id)).collect::<Result<_, _>>()?;
    for scope in [MemoryScope::Project, MemoryScope::User] {
        let is_all = all.is_some_and(|user| user == (scope == MemoryScope::User));
        let mut wanted: Vec<u32> = found.iter().filter(|memory| memory.scope == scope).map(|memory| memory.id).collect();
        wanted.sort_unstable();
        wanted.dedup();
        if wanted.is_empty() && !is_all {
            continue;
        }
        let updated = memories.change(scope, is_dry_run, &mut |tree| {
            let ids = if is_all {
                tree.memories().filter(|memory| !memory.is_by_hand()).map(|memory| memory.id).collect()
            } else {
                wanted.clone()
            };
            for id in ids {
                tree.forget(id, now)?;
            }
            Ok(())
        })?;
        reports.push(changed(String::new(), updated, is_dry_run));
    }
    let joined = reports.into_iter().reduce(|first, second| MemoryChangeReport {
        done: String::new(),
        operation: second.operation.or(first.operation),
        dry_run: is_dry_run,
        changes: first.changes.into_iter().chain(second.changes).collect(),
        hints: first.hints.into_iter().chain(second.hints).collect(),
        problems: first.problems.into_iter().chain(second.problems).collect(),
    });
    let Some(mut report) = joined else { return Ok(()) };
    report.done = memory_changes_in_words(&report.changes);
    if !report.changes.is_empty() {
        report.done.push_str("; not learned again");
    }
    memories.env.print(&report)
}
