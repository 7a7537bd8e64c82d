//! `aperture redact`: replaces credentials in a session with placeholders.

mod elsewhere;

use super::{BulkOptions, ChangeOptions};
use crate::app::{CommandError, Env, misuse};
use crate::commands::change::pipeline::{ChangeSummary, NothingToChange, change};
use crate::engine;
use crate::engine::Known;
use crate::model::{Actor, BlockNumber, CompanionEdit, LoggedEdit, Slot};
use crate::output::{ChangeReport, plural};
use crate::store::{SessionKey, Store};
use crate::workspace::{self, Redacted};
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = help_text!("redact"))]
pub struct Arguments {
    /// Block selectors; matches are combined
    #[arg(required_unless_present_any = ["all", "all_sessions", "every", "project", "text"])]
    #[serde(serialize_with = "super::json::union")]
    pub selector: Vec<String>,
    /// All texts in the file, including those outside blocks
    #[arg(long = "whole-file", conflicts_with = "selector")]
    pub all: bool,
    /// Texts of your own instead of credentials, one on each line: @- reads standard input, @FILE a file
    #[arg(long, value_name = "@-")]
    pub text: Option<String>,
    /// The earlier name of `--all`; with it, `--all` is the earlier name of `--whole-file`
    #[arg(long = "all-sessions", hide = true)]
    #[serde(skip)]
    pub every: bool,
    /// Also remove them from the stored originals and the caches: no undo restores them
    #[arg(long)]
    pub forget: bool,
    /// Apply --forget, which is a dry run otherwise
    #[arg(long, requires = "forget")]
    pub yes: bool,
    #[command(flatten)]
    #[serde(flatten)]
    pub options: ChangeOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub bulk: BulkOptions,
}

impl Arguments {
    /// Returns true if all texts in the file are redacted, not only blocks.
    pub fn is_everywhere(&self) -> bool {
        self.all || self.selector.is_empty()
    }

    /// Returns true if `--all` is the only choice, as the earlier name of `--whole-file`: then it means one session.
    pub fn is_earlier_all(&self) -> bool {
        self.bulk.all_sessions && self.selector.is_empty() && self.text.is_none() && !self.all && !self.every
    }

    pub fn many(&self) -> Option<&BulkOptions> {
        (self.every || self.bulk.is_bulk() && !self.is_earlier_all()).then_some(&self.bulk)
    }

    /// Returns the options of the change: without --yes, --forget is a dry run.
    pub fn applied(&self) -> ChangeOptions {
        ChangeOptions { dry_run: self.options.dry_run || (self.forget && !self.yes), ..self.options }
    }
}

/// The command that removes the credentials of every row from the store.
const WHOLE_FILE_FORGET: &str = "aperture redact --whole-file --forget --yes";
/// Minimum length of a text that a person chose, in characters.
const SHORTEST_TEXT: usize = 4;

/// Redacts the selected blocks.
pub fn run(env: &Env, arguments: &Arguments) -> Result<ChangeReport, CommandError> {
    let env = &with_chosen_texts(env, arguments)?;
    let Redaction { mut report, left, .. } = redact(env, arguments)?;
    report.notes.extend(left);
    if arguments.is_earlier_all() {
        let note = "only this session is meant; in every session: aperture redact --whole-file --all";
        report.notes.push(note.to_owned());
    }
    if arguments.is_everywhere() {
        for note in redact_subagents(env, arguments)? {
            // The same memories can hold texts of each.
            if !report.notes.contains(&note) {
                report.notes.push(note);
            }
        }
    }
    Ok(report)
}

/// Redacts the sessions of the subagents, each as an operation of its own, and returns a note on each that has credentials.
fn redact_subagents(env: &Env, arguments: &Arguments) -> Result<Vec<String>, CommandError> {
    let mut notes = Vec::new();
    for subagent in workspace::subagents(env.disk, &env.find(None)?)? {
        let id = subagent.location.id.clone();
        match redact(&env.visiting(&subagent), arguments) {
            Ok(Redaction { report, rewritten, left }) if report.edits > 0 || rewritten > 0 => {
                let what = report.what.unwrap_or_default();
                let undo = report.operation.map(|_| format!("; to revert: aperture undo -s {id}")).unwrap_or_default();
                let done = if report.dry_run { "to redact" } else { "redacted" };
                notes.push(format!("subagent {id}: {what} {done}{undo}"));
                notes.extend(left);
            }
            Ok(_) => {}
            Err(error) if error.source.chain().any(|cause| cause.is::<NothingToChange>()) => {}
            Err(error) => notes.push(format!("subagent {id} not redacted: {:#}", error.source)),
        }
    }
    Ok(notes)
}

/// Returns the environment for the texts that the user chose, which are read once: from standard input or a file, so that they are
/// neither in the list of processes nor in the log.
/// Errors: a text is on the command line or too short, or the input cannot be read.
pub fn with_chosen_texts(env: &Env, arguments: &Arguments) -> Result<Env, CommandError> {
    let Some(given) = &arguments.text else { return Ok(env.clone()) };
    let usage = |message: &'static str| misuse!(message);
    if env.actor != Actor::User {
        return Err(usage("only the user can redact texts with --text"));
    }
    let Some(source) = given.strip_prefix('@') else {
        let error = usage("--text takes no text from the command line, where other programs can read it");
        return Err(error.hint("to type it: aperture redact --text @-"));
    };
    let text = env.text_of(Path::new(source))?;
    let texts: Vec<&str> = text.lines().map(|line| line.trim_end_matches('\r')).filter(|line| !line.trim().is_empty()).collect();
    if texts.is_empty() {
        return Err(usage("there is no text to redact in the input").hint("one text on each line: aperture redact --text @-"));
    }
    if texts.iter().any(|text| text.chars().count() < SHORTEST_TEXT) {
        return Err(usage("a line of the input has fewer than 4 characters, which ordinary text contains as well"));
    }
    let mut env = env.clone();
    env.chosen_texts = engine::chosen(texts);
    Ok(env)
}

/// The redaction of a session.
pub struct Redaction {
    pub report: ChangeReport,
    /// The number of stored originals and whole results that were rewritten.
    pub rewritten: usize,
    /// The places that hold the texts after `--forget`, each with the command that deletes it.
    pub left: Vec<String>,
}

/// Errors: as for the plan, the session and the store.
pub fn redact(env: &Env, arguments: &Arguments) -> Result<Redaction, CommandError> {
    let selector = (!arguments.selector.is_empty()).then(|| env.selector(&arguments.selector)).transpose()?;
    let asks = arguments.forget && !arguments.yes;
    let (all, options) = (arguments.is_everywhere(), arguments.applied());
    let found = env.find(None)?;
    let held: RefCell<Vec<String>> = RefCell::default();
    let chosen: RefCell<BTreeSet<BlockNumber>> = RefCell::default();
    let known: RefCell<Known> = RefCell::default();
    let mut report = change(env, options, &|draft, opened| {
        let reading = &opened.workspace.reading;
        let blocks: BTreeSet<BlockNumber> = match &selector {
            Some(selector) => selector.select(reading)?.into_iter().collect(),
            None => reading.session.blocks.iter().map(|block| block.number).collect(),
        };
        let find = |text: &[u8]| match &arguments.text {
            Some(_) => env.chosen_texts.find_values(text),
            None => reading.known.find_whole(text),
        };
        let find_beside = |text: &[u8]| match &arguments.text {
            Some(_) => env.chosen_texts.find_values(text),
            None => workspace::find_beside_session(&reading.known, text),
        };
        let mut redacted = draft.redact(&blocks, all, &find)?;
        *chosen.borrow_mut() = blocks;
        *known.borrow_mut() = reading.known.clone();
        let beside = workspace::all_companions(env.disk, &env.places, &found, &reading.session)?;
        let (edits, kinds) = workspace::redact_companions(env.disk, &beside.files, &find_beside)?;
        for path in beside.copies.iter().filter(|_| all) {
            let count = workspace::scan_companion(env.disk, &found, path, &find_beside)?.len();
            let credentials = plural(count, "credential");
            let note = format!(
                "not changed: {} has {credentials}; the client keeps it for itself: edit or delete it yourself",
                path.display()
            );
            held.borrow_mut().extend((count > 0).then_some(note));
        }
        if draft.is_empty() && redacted.kinds.is_empty() && edits.is_empty() && arguments.text.is_none() {
            let mut summary = summary(&redacted);
            if summary.notes.is_empty() {
                let place = match all {
                    true => plural(reading.session.rows.len() as u64, "row"),
                    false => plural(chosen.borrow().len() as u64, "block"),
                };
                summary.notes.push(format!("no known credential in {place} (kinds: docs/credentials.md)"));
            }
            return Ok(summary);
        }
        if !all {
            let mut summary = summary(&redacted);
            summary.notes.extend(beside_note(&edits, &kinds));
            return Ok(summary);
        }
        kinds.iter().for_each(|(kind, count)| *redacted.kinds.entry(kind).or_default() += count);
        let mut summary = summary(&redacted);
        summary.notes.extend(edits.iter().map(|edit| format!("changed beside the session: {}", edit.path.display())));
        summary.companions = edits;
        Ok(summary)
    })?;
    report.notes.extend(held.into_inner());
    // Thinking blocks are signed: their values must be restored exactly or not at all.
    let meant = |edit: &LoggedEdit| {
        let of_chosen = edit.change.as_ref().is_some_and(|change| chosen.borrow().contains(&change.number));
        edit.slot != Slot::Message && (all || of_chosen)
    };
    let known = known.into_inner();
    let masked = |value: &[u8]| match &arguments.text {
        Some(_) => engine::masked(value, &env.chosen_texts.find_values(value)),
        None => engine::masked(value, &known.find_whole(value)),
    };
    // A label can be cut within a value.
    let reworded = |text: &str| {
        let known = if arguments.text.is_some() { &env.chosen_texts } else { &known };
        Some(known.mask(text)).filter(|masked| *masked != text).map(Cow::into_owned)
    };
    let path = env.disk.resolve(&found.path)?;
    let stored = env.existing_store()?.map(|store| Ok::<_, CommandError>((store.find(&path)?, store))).transpose()?;
    let (mut rewritten, mut left) = (0, Vec::new());
    match stored {
        _ if arguments.forget && !options.dry_run => {
            let _lock = env.lock(&path)?;
            let originals;
            (originals, rewritten, left) = elsewhere::forget(env, &found, stored, all, &meant, &masked, &reworded)?;
            // The operation is in the log, but cannot be undone.
            report.operation = None;
            report.notes.push(originals);
        }
        Some((Some(session), store)) => report.notes.extend(stored_credentials(&store, session.key, all, &meant, &masked)?),
        _ => {}
    }
    if asks {
        report.notes.push(
            "the originals are unchanged: this is a dry run of --forget, which cannot be undone; to apply: --yes".to_owned(),
        );
    }
    Ok(Redaction { report, rewritten, left })
}

/// Returns the notes on credentials in the stored originals: of the selected blocks, and of rows in no block.
fn stored_credentials(
    store: &Store,
    key: SessionKey,
    all: bool,
    meant: &dyn Fn(&LoggedEdit) -> bool,
    masked: &dyn Fn(&[u8]) -> Option<Vec<u8>>,
) -> Result<Vec<String>, CommandError> {
    let (mut own, mut others) = (if all { store.companions(key)?.len() } else { 0 }, 0);
    let mut counted = BTreeSet::new();
    for edit in store.history(key)?.operations.iter().flat_map(|operation| &operation.edits) {
        for address in [edit.before, edit.after].into_iter().flatten().filter(|address| counted.insert(*address)) {
            let holds = usize::from(masked(&store.original(&address)?).is_some());
            *if meant(edit) { &mut own } else { &mut others } += holds;
        }
    }
    let mut notes = Vec::new();
    if own > 0 {
        let what = plural(own, "stored original");
        notes.push(format!("credentials in {what}; to remove these permanently: --forget --yes"));
    }
    // Rows that `shrink` removed are in no block.
    if others > 0 && !all {
        let what = plural(others, "other stored original");
        notes.push(format!("credentials in {what}; to remove these permanently: {WHOLE_FILE_FORGET}"));
    }
    Ok(notes)
}

/// Returns the note on credentials in files beside the session, which a selection of blocks leaves there.
fn beside_note(edits: &[CompanionEdit], kinds: &BTreeMap<&str, usize>) -> Option<String> {
    let count: usize = kinds.values().sum();
    let (credentials, files) = (plural(count, "credential"), plural(edits.len(), "file"));
    (count > 0)
        .then(|| format!("{credentials} in {files} beside the session; to replace these too: aperture redact --whole-file"))
}

fn summary(redacted: &Redacted) -> ChangeSummary {
    let mut summary = ChangeSummary::change("redacted");
    let count: usize = redacted.kinds.values().sum();
    summary.what = Some(plural(count, "credential"));
    for (why, number) in &redacted.skipped {
        summary.skip(*why, *number);
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
    if !redacted.skipped_rows.is_empty() {
        let rows: Vec<String> = redacted.skipped_rows.iter().take(5).map(|row| (row + 1).to_string()).collect();
        let more = if redacted.skipped_rows.len() > 5 { ", …" } else { "" };
        let what = plural(redacted.skipped_rows.len(), "row");
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
