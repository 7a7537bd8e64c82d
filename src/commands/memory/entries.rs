//! `aperture memory add`, `edit`, `pin` and `forget`: change entries.

use super::AddArguments;
use super::report::{MemoryChangeReport, memory_changes_in_words};
use super::run::{Memories, SCOPES, changed, check_text, file_named};
use crate::app::{CommandError, misuse, refusal};
use crate::engine::memory::words::normalized;
use crate::engine::memory::{PINNED_TOKENS, pinned_tokens};
use crate::memory::{MemoryError, Tree};
use crate::model::{Memory, MemoryActor, MemoryKind, MemoryScope, MemoryState};

/// Adds an entry with a text.
/// Errors: the text is empty or holds a credential, the file has no such name, or as for a change.
pub fn added(memories: &Memories<'_>, arguments: &AddArguments, text: &str) -> Result<MemoryChangeReport, CommandError> {
    check_text(text)?;
    let file = arguments.file.as_deref().map(file_named).transpose()?;
    let kind = arguments.kind.or_else(|| file.as_ref().map(|file| file.default_kind())).unwrap_or(MemoryKind::Fact);
    let file = file.unwrap_or_else(|| kind.default_file());
    let scope = if arguments.user { MemoryScope::User } else { MemoryScope::Project };
    let now = memories.env.style.now.as_millisecond();
    let is_by_model = memories.actor() == MemoryActor::Model;
    let is_accepted = memories.env.is_approved || memories.env.memory.trust_model;
    let (mut name, mut is_pending) = (String::new(), false);
    let updated = memories.change(scope, arguments.dry_run, &mut |tree| {
        let state = if is_accepted { MemoryState::Active } else { MemoryState::Pending };
        let added = if is_by_model {
            tree.propose(text, kind, file.clone(), state, now)?
        } else {
            tree.add(text, kind, file.clone(), now)?
        };
        (name, is_pending) = (added.name(), added.state == MemoryState::Pending);
        Ok(())
    })?;
    let done = match (updated.changes.is_empty(), is_pending) {
        (true, _) => format!("{name} already says this"),
        (false, true) => format!("{name} saved, pending until the user accepts it or says it"),
        (false, false) => format!("{name} saved"),
    };
    Ok(changed(done, updated, arguments.dry_run))
}

/// Replaces the text of an entry, or moves it to another file; without both, opens the editor.
/// Errors: there is no such entry, the text cannot be kept, or as for a change.
pub fn edited(
    memories: &Memories<'_>,
    id: &str,
    text: Option<&str>,
    file: Option<&str>,
    is_dry_run: bool,
) -> Result<MemoryChangeReport, CommandError> {
    let known = memories.find(id)?;
    let file = file.map(file_named).transpose()?;
    let text = match text {
        Some(text) => memories.env.text(text)?,
        None if file.is_some() => known.text.clone(),
        None if is_dry_run => {
            return Err(misuse!("a dry run needs the new text"));
        }
        None => memories.env.edit(&known.text)?,
    };
    let text = normalized(&text);
    check_text(&text)?;
    let updated = memories.change(known.scope, is_dry_run, &mut |tree| {
        let now = tree.known(known.id)?;
        if now.text != known.text {
            return Err(MemoryError::Changed(tree.place.directory.join(now.file.path())).into());
        }
        // A text of the model is not one of a person, and is confirmed by the user alone.
        let by_person = memories.actor() != MemoryActor::Model;
        let is_changed = now.text != text;
        let is_edited = now.is_edited || is_changed && by_person;
        let is_by_model = now.is_by_model || is_changed && !by_person;
        let is_accepted = by_person || memories.env.is_approved;
        let state = if now.state == MemoryState::Pending && is_accepted { MemoryState::Active } else { now.state };
        let file = file.clone().unwrap_or_else(|| now.file.clone());
        tree.set(Memory { text: text.clone(), file, is_edited, is_by_model, state, ..now })?;
        Ok(())
    })?;
    let done = if updated.changes.is_empty() { "is unchanged" } else { "saved" };
    Ok(changed(format!("{} {done}", known.name()), updated, is_dry_run))
}

/// Keeps an entry in every composed text, or no longer (`off`).
/// Errors: there is no such entry, the pinned ones would be too long, or as for a change.
pub fn pinned(memories: &Memories<'_>, id: &str, off: bool, is_dry_run: bool) -> Result<MemoryChangeReport, CommandError> {
    let known = memories.find(id)?;
    let trees = memories.read_all()?;
    let updated = memories.change(known.scope, is_dry_run, &mut |tree| {
        let memory = tree.known(known.id)?;
        // A pinned entry is a decision of the user: it is in use, and its text is kept.
        let pinned = if off {
            Memory { is_pinned: false, ..memory }
        } else {
            Memory { is_pinned: true, is_edited: true, state: MemoryState::Active, contradicts: None, ..memory }
        };
        let is_other = |other: &&Memory| (other.scope, other.id) != (pinned.scope, pinned.id);
        let others = trees.iter().flat_map(Tree::memories).filter(is_other);
        let tokens = pinned_tokens(others.chain([&pinned]));
        if !off && tokens > PINNED_TOKENS {
            return Err(refusal!("the pinned entries would have {tokens} tokens; they have at most {PINNED_TOKENS}")
                .hint("shorten its text with `aperture memory edit`, or unpin another one with `aperture memory pin ID --off`"));
        }
        tree.set(pinned)?;
        Ok(())
    })?;
    let done = format!("{} {}", known.name(), if off { "unpinned" } else { "pinned" });
    Ok(changed(done, updated, is_dry_run))
}

/// Deletes entries for good, or all of a tree: that of the user if `all` is `Some(true)`.
/// Errors: there is no such entry, or as for a change.
pub fn forgotten(
    memories: &Memories<'_>,
    ids: &[String],
    all: Option<bool>,
    is_dry_run: bool,
) -> Result<MemoryChangeReport, CommandError> {
    let now = memories.env.style.now.as_millisecond();
    let found: Vec<Memory> = ids.iter().map(|id| memories.find(id)).collect::<Result<_, _>>()?;
    let mut report = MemoryChangeReport { dry_run: is_dry_run, ..MemoryChangeReport::default() };
    for scope in SCOPES {
        let is_all = all.is_some_and(|user| user == (scope == MemoryScope::User));
        let mut wanted: Vec<u32> = found.iter().filter(|memory| memory.scope == scope).map(|memory| memory.id).collect();
        wanted.sort_unstable();
        wanted.dedup();
        if wanted.is_empty() && !is_all {
            continue;
        }
        let updated = memories.change(scope, is_dry_run, &mut |tree| {
            if is_all {
                wanted = tree.memories().filter(|memory| !memory.is_by_hand()).map(|memory| memory.id).collect();
            }
            wanted.iter().try_for_each(|id| tree.forget(*id, now).map(drop).map_err(CommandError::from))
        })?;
        let of_tree = changed(String::new(), updated, is_dry_run);
        report.operation = of_tree.operation.or(report.operation);
        report.changes.extend(of_tree.changes);
        report.hints.extend(of_tree.hints);
        report.problems.extend(of_tree.problems);
    }
    report.done = memory_changes_in_words(&report.changes);
    if !report.changes.is_empty() {
        report.done.push_str("; not learned again");
    }
    Ok(report)
}
