use super::table::{left, right, spaced};
use super::{Paint, Report, Style, amount, bytes, clip, plural, printable};
use crate::model::{As, Estimated, split_id};
use crate::text::names::file_name;
use crate::text::shell::quoted_word;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// Columns of a table other than the title, with the room between them.
const OTHERS: usize = 52;
/// Lengths of id prefixes, the longest first: the parts of a UUID.
const ID_LENGTHS: [usize; 4] = [23, 18, 13, 8];
/// Minimum and maximum columns of a title.
const TITLE: (usize, usize) = (12, 60);

/// The outcome of a command for one session of many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BulkOutcome {
    /// The session was changed or, in a dry run, would be.
    Changed,
    /// A file was written.
    Written,
    /// Skipped: an agent program has the session open, or another process changes it.
    Skipped,
    /// The command failed.
    Failed,
    /// The run was interrupted before this session.
    #[default]
    NotStarted,
    /// There was nothing to do.
    Unchanged,
}

/// A session in the report of a command that ran on many.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[schemars(rename = "BulkSession")]
pub struct BulkRow {
    /// Session id; the name of the file if it cannot be read.
    pub session: String,
    /// Provider, such as `claude-code`; empty if the file cannot be read.
    pub provider: String,
    pub path: String,
    /// Title, or the first prompt; may be empty.
    pub title: String,
    pub outcome: BulkOutcome,
    /// Changed objects, such as `12 blocks`; null if nothing was changed.
    pub what: Option<String>,
    /// Tokens of the window before; null if nothing was changed.
    #[serde(with = "As::<Option<Estimated>>")]
    pub tokens_before: Option<f64>,
    /// Tokens of the window after; null if nothing was changed.
    #[serde(with = "As::<Option<Estimated>>")]
    pub tokens_after: Option<f64>,
    /// Operation in the log; null if nothing was written, or if it cannot be undone.
    pub operation: Option<u32>,
    /// Command that undoes the operation.
    pub undo: Option<String>,
    /// File that was written, or that has the same content already.
    pub file: Option<String>,
    /// Size of this file.
    #[schemars(extend("unit" = "bytes"))]
    pub bytes: Option<u64>,
    /// Reason why the session was skipped, failed or was not changed.
    pub reason: Option<String>,
}

impl BulkRow {
    /// Returns the tokens that the model no longer receives. Negative if it receives more.
    pub fn saved(&self) -> f64 {
        self.tokens_before.unwrap_or_default() - self.tokens_after.unwrap_or_default()
    }
}

/// The sums over all sessions of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct BulkTotals {
    pub sessions: usize,
    /// Number of sessions that were changed or, in a dry run, would be.
    pub changed: usize,
    /// Number of files that were written.
    pub written: usize,
    /// Number of skipped sessions.
    pub skipped: usize,
    /// Number of sessions for which the command failed.
    pub failed: usize,
    /// Number of sessions that were not started.
    pub not_started: usize,
    /// Number of sessions with nothing to do.
    pub unchanged: usize,
    /// Tokens of the windows of the changed sessions before.
    #[serde(with = "As::<Estimated>")]
    pub tokens_before: f64,
    /// Tokens of these windows after.
    #[serde(with = "As::<Estimated>")]
    pub tokens_after: f64,
    /// Size of the files that were written.
    #[schemars(extend("unit" = "bytes"))]
    pub bytes: u64,
}

/// A command that ran on many sessions (`--all`, `--project`), or its dry run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BulkReport {
    /// Command, such as `compress`.
    pub command: &'static str,
    /// True if this is a dry run.
    pub dry_run: bool,
    /// True if the run was interrupted, so that some sessions were not started.
    pub interrupted: bool,
    /// Sums over all sessions.
    pub totals: BulkTotals,
    /// Sessions: the changed ones first, the largest saving first.
    pub sessions: Vec<BulkRow>,
}

impl BulkReport {
    pub fn new(command: &'static str, dry_run: bool, mut sessions: Vec<BulkRow>) -> BulkReport {
        sessions.sort_by(|a, b| a.outcome.cmp(&b.outcome).then(b.saved().total_cmp(&a.saved())));
        let mut totals = BulkTotals { sessions: sessions.len(), ..BulkTotals::default() };
        for row in &sessions {
            *match row.outcome {
                BulkOutcome::Changed => &mut totals.changed,
                BulkOutcome::Written => &mut totals.written,
                BulkOutcome::Skipped => &mut totals.skipped,
                BulkOutcome::Failed => &mut totals.failed,
                BulkOutcome::NotStarted => &mut totals.not_started,
                BulkOutcome::Unchanged => &mut totals.unchanged,
            } += 1;
            totals.tokens_before += row.tokens_before.unwrap_or_default();
            totals.tokens_after += row.tokens_after.unwrap_or_default();
            if row.outcome == BulkOutcome::Written {
                totals.bytes += row.bytes.unwrap_or_default();
            }
        }
        BulkReport { command, dry_run, interrupted: totals.not_started > 0, totals, sessions }
    }

    fn heading(&self, totals: &BulkTotals) -> String {
        let would = if self.dry_run { "would be " } else { "" };
        let verb = match self.command {
            "compress" => "compressed",
            "archive" => "archived",
            "redact" => "redacted",
            "undo" => "undone",
            _ => "exported",
        };
        match totals.changed + totals.written {
            0 if totals.sessions == 0 && self.command == "export" => "no session has operations: nothing to export".to_owned(),
            0 if totals.sessions == 0 => "no sessions".to_owned(),
            0 => format!("nothing {would}{verb} in {}", plural(totals.sessions, "session")),
            done => format!("{done} of {} {would}{verb}{}", plural(totals.sessions, "session"), self.target()),
        }
    }

    /// Returns the directory of the written files, for the heading; empty if none was written.
    fn target(&self) -> String {
        let file = self.sessions.iter().filter(|row| row.outcome == BulkOutcome::Written).find_map(|row| row.file.as_deref());
        let directory = file.and_then(|file| Path::new(file).parent());
        directory.map(|directory| format!(" to {}", printable(&directory.to_string_lossy()))).unwrap_or_default()
    }

    /// Returns the names by which commands find the sessions: id prefixes, which are longer if several ids have the same one.
    fn names(&self) -> Vec<String> {
        let prefixes = |length: usize| {
            self.sessions.iter().map(move |row| {
                let (word, rest) = split_id(&row.session);
                format!("{word}{}", rest.chars().take(length).collect::<String>())
            })
        };
        let mut names: Vec<String> = self.sessions.iter().map(|row| row.session.clone()).collect();
        for length in ID_LENGTHS {
            let mut counts: BTreeMap<String, usize> = BTreeMap::new();
            prefixes(length).for_each(|prefix| *counts.entry(prefix).or_default() += 1);
            for (name, prefix) in names.iter_mut().zip(prefixes(length)).filter(|(_, prefix)| counts[prefix] == 1) {
                *name = prefix;
            }
        }
        names
    }

    /// Returns the table of all sessions except the unchanged ones and those not started.
    fn table(&self, style: &Style, names: &[String], totals: &BulkTotals) -> String {
        let is_export = self.command == "export";
        let columns = if is_export {
            vec![left("SESSION"), left("TITLE"), right("SIZE"), left("FILE")]
        } else {
            vec![left("SESSION"), left("TITLE"), right("BEFORE"), right("AFTER"), right("SAVED"), left("CHANGE")]
        };
        let room = style.width.saturating_sub(OTHERS).clamp(TITLE.0, TITLE.1);
        let tokens = |value: Option<f64>| value.map_or_else(String::new, |value| amount(value.round().max(0.0) as u64));
        let mut rows: Vec<Vec<String>> = Vec::new();
        for (row, name) in self.sessions.iter().zip(names) {
            let last = match row.outcome {
                BulkOutcome::Changed => row.what.clone().unwrap_or_default(),
                BulkOutcome::Written => printable(file_name(row.file.as_deref().unwrap_or_default())).into_owned(),
                BulkOutcome::Skipped => style.paint(Paint::Warning, "skipped"),
                BulkOutcome::Failed => style.paint(Paint::Bad, "failed"),
                BulkOutcome::NotStarted | BulkOutcome::Unchanged => continue,
            };
            let mut cells = vec![style.paint(Paint::Name, name), clip(&row.title, room)];
            if is_export {
                cells.push(row.bytes.filter(|_| row.outcome == BulkOutcome::Written).map(bytes).unwrap_or_default());
            } else {
                let saved = row.tokens_before.map(|_| saved(row.saved())).unwrap_or_default();
                cells.extend([tokens(row.tokens_before), tokens(row.tokens_after), saved]);
            }
            cells.push(last);
            rows.push(cells);
        }
        if rows.is_empty() {
            return String::new();
        }
        if totals.changed > 1 {
            let sum = |value: f64| tokens(Some(value));
            let all = saved(totals.tokens_before - totals.tokens_after);
            let cells = ["total".to_owned(), String::new(), sum(totals.tokens_before), sum(totals.tokens_after), all];
            rows.push(cells.into_iter().chain([plural(totals.changed, "session")]).collect());
        } else if totals.written > 1 {
            rows.push(vec!["total".to_owned(), String::new(), bytes(totals.bytes), plural(totals.written, "file")]);
        }
        spaced(style, &columns, rows)
    }

    fn undo(&self, names: &[String]) -> Option<String> {
        let done = || self.sessions.iter().zip(names).filter(|(row, _)| row.operation.is_some());
        let ids: Vec<String> = done().map(|(_, name)| quoted_word(name)).collect();
        match &*ids {
            [] => None,
            _ if self.command == "undo" => None,
            [id] => Some(format!("to undo: aperture undo -s {id}\n")),
            [first, ..] => Some(format!(
                "one operation for each session; to undo one: aperture undo -s {first}; all of them: aperture undo --all\n"
            )),
        }
    }
}

/// Formats tokens saved: `−4.2k`, or `+120` if the window grows.
fn saved(tokens: f64) -> String {
    let rounded = tokens.round();
    match amount(rounded.abs() as u64) {
        figure if rounded == 0.0 => figure,
        figure => format!("{}{figure}", if rounded > 0.0 { '−' } else { '+' }),
    }
}

impl Report for BulkReport {
    const SCHEMA: &str = "aperture.bulk/1";

    fn text(&self, style: &Style) -> String {
        let (totals, names) = (&self.totals, self.names());
        let mut text = format!("{}\n", style.paint(Paint::Heading, &self.heading(totals)));
        text.push_str(&self.table(style, &names, totals));
        for (row, name) in self.sessions.iter().zip(&names) {
            let word = match row.outcome {
                BulkOutcome::Skipped => style.paint(Paint::Warning, "skipped"),
                BulkOutcome::Failed => style.paint(Paint::Bad, "failed"),
                _ => continue,
            };
            let reason = printable(row.reason.as_deref().unwrap_or_default());
            text.push_str(&format!("{} {word}: {reason}\n", style.paint(Paint::Name, name)));
        }
        if totals.unchanged > 0 {
            text.push_str(&format!("{}: nothing to do\n", plural(totals.unchanged, "session")));
        }
        if totals.not_started > 0 {
            text.push_str(&format!("{}: not started\n", plural(totals.not_started, "session")));
        }
        if let Some(undo) = self.undo(&names) {
            text.push_str(&style.paint(Paint::Dim, &undo));
        } else if self.dry_run && totals.changed > 0 {
            text.push_str(&style.paint(Paint::Dim, "nothing was written: this is a dry run\n"));
        }
        text
    }
}
