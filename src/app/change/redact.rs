//! `aperture redact`: replaces credentials in a session with placeholders.

use crate::app::change::pipeline::{ChangeSummary, change};
use crate::app::{CommandError, Env, ErrorKind};
use crate::commands::redact::Arguments;
use crate::engine;
use crate::model::{BlockNumber, LoggedEdit, Slot};
use crate::output::{ChangeReport, plural};
use crate::workspace::Redacted;
use anyhow::anyhow;
use std::cell::RefCell;
use std::collections::BTreeSet;

/// Redacts the selected blocks.
pub fn run(env: &Env, arguments: &Arguments) -> Result<ChangeReport, CommandError> {
    redact(env, arguments).map(|(report, _)| report)
}

/// Redacts the selected blocks. Also returns the number of stored originals that were rewritten.
///
/// # Errors
///
/// As for the plan, the session and the store.
pub fn redact(env: &Env, arguments: &Arguments) -> Result<(ChangeReport, usize), CommandError> {
    if arguments.bulk.all_sessions && arguments.selector.is_empty() && !arguments.all {
        let error = anyhow!("redact --all runs on every session on this machine, and needs the texts to redact");
        return Err(CommandError::new(ErrorKind::Usage, error).hint(
            "all texts of this session: aperture redact --whole-file; of every session: aperture redact --whole-file --all",
        ));
    }
    let selector = (!arguments.selector.is_empty()).then(|| env.selector(&arguments.selector)).transpose()?;
    let asks = arguments.forget && !arguments.yes;
    let (all, options) = (arguments.is_everywhere(), arguments.applied());
    let mut rewrites = 0;
    let found = env.find(None)?;
    let chosen: RefCell<BTreeSet<BlockNumber>> = RefCell::default();
    let mut report = change(env, options, &|draft, opened| {
        let reading = &opened.workspace.reading;
        let blocks: BTreeSet<BlockNumber> = match &selector {
            Some(selector) => selector.select(reading)?.into_iter().collect(),
            None => reading.session.blocks.iter().map(|block| block.number).collect(),
        };
        let mut summary = summary(&draft.redact(&blocks, all)?);
        if draft.is_empty() && summary.notes.is_empty() {
            let place = match all {
                true => plural(reading.session.rows.len() as u64, "row"),
                false => plural(blocks.len() as u64, "block"),
            };
            summary.notes.push(format!("no known credential in {place} (kinds: docs/credentials.md)"));
        }
        *chosen.borrow_mut() = blocks;
        Ok(summary)
    })?;
    // Thinking blocks are signed: their values must be restored exactly or not at all.
    let meant = |edit: &LoggedEdit| {
        let of_chosen = edit.change.as_ref().is_some_and(|change| chosen.borrow().contains(&change.number));
        edit.slot != Slot::Message && (all || of_chosen)
    };
    let masked = |value: &[u8]| engine::masked(value, &engine::find_secrets(value));
    let path = env.disk.resolve(&found.path)?;
    let stored = env.existing_store()?.map(|store| Ok::<_, CommandError>((store.find(&path)?, store))).transpose()?;
    if let Some((Some(session), store)) = stored {
        if arguments.forget && !options.dry_run {
            let _lock = env.lock(&path)?;
            let (rewritten, kept) = store.rewrite(session.key, &meant, &masked)?;
            rewrites = rewritten;
            // The operation is in the log, but cannot be undone.
            report.operation = None;
            report
                .notes
                .push(format!("{} rewritten: the credentials can never be restored", plural(rewritten, "stored original")));
            if kept > 0 {
                report
                    .notes
                    .push(format!("{} unchanged: the log of another session needs them too", plural(kept, "stored original")));
            }
        } else {
            let history = store.history(session.key)?;
            let edits = history.operations.iter().flat_map(|operation| &operation.edits).filter(|edit| meant(edit));
            let values: BTreeSet<_> = edits.flat_map(|edit| [edit.before, edit.after]).flatten().collect();
            let mut holding = 0;
            for address in values {
                holding += usize::from(masked(&store.original(&address)?).is_some());
            }
            if holding > 0 {
                let what = plural(holding, "stored original");
                report.notes.push(format!("credentials in {what}; to remove these permanently: --forget --yes"));
            }
        }
    }
    if asks {
        report.notes.push(
            "the originals are unchanged: this is a dry run of --forget, which cannot be undone; to apply: --yes".to_owned(),
        );
    }
    Ok((report, rewrites))
}

/// Returns the description of the change, with the number and kinds of the credentials.
fn summary(redacted: &Redacted) -> ChangeSummary {
    let mut summary = ChangeSummary::change("redacted");
    let count: usize = redacted.kinds.values().sum();
    summary.what = Some(plural(count, "credential"));
    for (why, number) in &redacted.kept {
        summary.keep(*why, *number);
    }
    if count > 0 {
        let kinds: Vec<String> = redacted.kinds.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
        summary.notes.push(kinds.join(", "));
    }
    if redacted.outside_blocks > 0 {
        summary.notes.push(format!(
            "{} outside blocks changed, which the model does not receive",
            plural(redacted.outside_blocks, "text")
        ));
    }
    if !redacted.kept_rows.is_empty() {
        let rows: Vec<String> = redacted.kept_rows.iter().take(5).map(|row| (row + 1).to_string()).collect();
        let more = if redacted.kept_rows.len() > 5 { ", …" } else { "" };
        let what = plural(redacted.kept_rows.len(), "row");
        summary.notes.push(format!("skipped: {what} ({}{more}): broken, or without an identity", rows.join(", ")));
    }
    if redacted.elsewhere > 0 {
        summary.notes.push(format!(
            "{} elsewhere in the file; to replace these too: --whole-file",
            plural(redacted.elsewhere, "credential")
        ));
    }
    summary
}
