use crate::model::{As, Time};
use crate::output::table::{Column, Table, left, rest, right};
use crate::output::{Paint, Report, Style, age, bytes, clip, percent, plural, printable, short_id};
use crate::provider::by_name;
use crate::text::shell::quoted_word;
use crate::workspace::{CopyState, Found, RestoredState};
use schemars::JsonSchema;
use serde::Serialize;

/// A session that was copied.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct KeptSession {
    /// Provider, such as `claude-code`.
    pub provider: &'static str,
    pub session: String,
    pub path: String,
    /// Number of files that were copied; in a dry run, 1 if the session changed.
    pub copied: usize,
    /// Number of files that did not change since they were copied.
    pub unchanged: usize,
    /// Size of these files.
    pub bytes: u64,
    /// Size of their copies; 0 in a dry run.
    pub kept_bytes: u64,
    /// Files that were not copied, each with the cause.
    pub failures: Vec<String>,
}

impl KeptSession {
    /// Returns a session of which nothing was copied.
    pub fn new(found: &Found) -> KeptSession {
        KeptSession {
            provider: found.provider.name(),
            session: found.location.id.clone(),
            path: found.path.display().to_string(),
            ..KeptSession::default()
        }
    }
}

/// The sessions that were copied.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct KeepReport {
    /// True if nothing was written.
    pub dry_run: bool,
    /// Sessions, those that changed least recently first.
    pub sessions: Vec<KeptSession>,
}

impl Report for KeepReport {
    const SCHEMA: &str = "aperture.keep/1";

    fn text(&self, style: &Style) -> String {
        let changed = self.sessions.iter().filter(|session| session.copied > 0);
        let (count, copied) = (changed.clone().count(), changed.clone().map(|session| session.copied).sum::<usize>());
        let size: u64 = self.sessions.iter().map(|session| session.bytes).sum();
        let kept: u64 = self.sessions.iter().map(|session| session.kept_bytes).sum();
        let mut text = String::new();
        let all = plural(self.sessions.len(), "session");
        if self.dry_run {
            let size: u64 = changed.map(|session| session.bytes).sum();
            text.push_str(&format!("would copy {count} of {all} ({}); nothing was written: this is a dry run\n", bytes(size)));
        } else {
            let share = if size > 0 { format!(", {} of their size", percent(kept as f64 / size as f64)) } else { String::new() };
            let what = plural(copied, "file");
            let changed = plural(count, "changed session");
            let is_kept = |session: &&KeptSession| session.failures.is_empty() && session.copied + session.unchanged > 0;
            let all = plural(self.sessions.iter().filter(is_kept).count(), "session");
            text.push_str(&format!("copied {what} of {changed}; kept: {all} in {}{share}\n", bytes(kept)));
        }
        for failure in self.sessions.iter().flat_map(|session| &session.failures) {
            text.push_str(&style.line(Paint::Bad, &format!("not copied: {}", printable(failure))));
        }
        text
    }
}

/// The copy of a session.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct KeptRow {
    /// Provider, such as `claude-code`.
    pub provider: &'static str,
    pub session: String,
    /// File of the copy.
    pub path: String,
    /// Time of the newest row, or of the last change of the file if no row has a time.
    #[serde(with = "As::<Time>")]
    pub last_written_time: i64,
    /// Title, or the first prompt.
    pub title: String,
    /// State: `current`, `outdated` if the session changed since, or `only` if its file no longer exists.
    pub state: CopyState,
    /// Number of copied files, older copies included.
    pub files: usize,
    /// Number of older copies of the session, with contents that it no longer has.
    pub older: usize,
    /// Size of the copies.
    pub kept_bytes: u64,
}

/// The copies of sessions.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct KeepListReport {
    /// Copies, newest session first.
    pub copies: Vec<KeptRow>,
}

const COLUMNS: [Column; 6] = [left("AGE"), left("ID"), left("CLIENT"), left("STATE"), right("KEPT"), rest("TITLE")];

impl Report for KeepListReport {
    const SCHEMA: &str = "aperture.keep-list/1";

    fn text(&self, style: &Style) -> String {
        if self.copies.is_empty() {
            return "nothing is kept; to copy every session: aperture keep --all\n".to_owned();
        }
        let row = |copy: &KeptRow| {
            let paint = if copy.state == CopyState::Only { Paint::Warning } else { Paint::Dim };
            let older = if copy.older > 0 { format!(" +{}", copy.older) } else { String::new() };
            vec![
                age(style.now, copy.last_written_time),
                style.paint(Paint::Name, &short_id(&copy.session)),
                copy.provider.split('-').next().unwrap_or_default().to_owned(),
                style.paint(paint, &format!("{}{older}", copy.state)),
                bytes(copy.kept_bytes),
                clip(&copy.title, style.width),
            ]
        };
        let mut text = Table::new(style, &COLUMNS, self.copies.iter().map(row).collect()).text();
        if let Some(copy) = self.copies.iter().find(|copy| copy.state == CopyState::Only) {
            let is_only_read = by_name(copy.provider).is_some_and(|provider| provider.read_only().is_some());
            let (verb, to) = if is_only_read { ("write it to a file", " --to FILE") } else { ("restore it", "") };
            let id = short_id(&copy.session);
            let hint = format!("only: the client has deleted it; to {verb}: aperture keep restore {id}{to}\n");
            text.push_str(&style.paint(Paint::Dim, &hint));
        }
        text
    }
}

/// A file that was restored.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RestoredRow {
    pub path: String,
    /// State: `written`, `replaced`, `same`, or `newer` if it is a memory that has another content today.
    pub state: RestoredState,
}

/// The restoration of a session.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct KeepRestoreReport {
    pub session: String,
    /// True if nothing was written.
    pub dry_run: bool,
    pub files: Vec<RestoredRow>,
    /// Directory in which the session was started; null if it does not exist.
    pub directory: Option<String>,
    /// Command with which the client resumes the session; null with `--to`.
    pub resume: Option<String>,
}

impl Report for KeepRestoreReport {
    const SCHEMA: &str = "aperture.keep-restore/1";

    fn text(&self, style: &Style) -> String {
        let with = |state| self.files.iter().filter(|file| file.state == state).count();
        let (written, replaced) = (with(RestoredState::Written), with(RestoredState::Replaced));
        let mut facts = vec![plural(written, "file")];
        facts.extend((replaced > 0).then(|| format!("{replaced} replaced")));
        facts.extend((with(RestoredState::Same) > 0).then(|| format!("{} unchanged", with(RestoredState::Same))));
        facts.extend((with(RestoredState::Newer) > 0).then(|| format!("{} newer skipped", with(RestoredState::Newer))));
        let verb = if self.dry_run { "would restore" } else { "restored" };
        let mut text = format!("{verb} {}: {}\n", self.session, facts.join(", "));
        for file in self.files.iter().filter(|file| self.dry_run || file.state != RestoredState::Same) {
            let line = format!("{:<9} {}", file.state.name(), printable(&file.path));
            text.push_str(&style.line(Paint::Dim, &line));
        }
        if let Some(resume) = self.resume.as_ref().filter(|_| !self.dry_run) {
            let change = self.directory.as_ref().map(|directory| format!("cd {} && ", quoted_word(directory)));
            text.push_str(&format!("to continue it: {}{resume}\n", change.unwrap_or_default()));
        }
        text
    }
}

/// The deletion of copies, or its dry run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct KeepForgetReport {
    pub session: String,
    /// True if the copies were deleted; false for a dry run.
    pub done: bool,
    pub files: usize,
    /// Size of the files.
    pub bytes: u64,
    /// True if the file of the session no longer exists.
    pub is_only: bool,
}

impl Report for KeepForgetReport {
    const SCHEMA: &str = "aperture.keep-forget/1";

    fn text(&self, _style: &Style) -> String {
        let what = format!("{} of {} ({})", plural(self.files, "file"), self.session, bytes(self.bytes));
        let rest =
            if self.is_only { "the client has deleted the session: these are its only files" } else { "the session stays" };
        match self.done {
            true => format!("deleted {what}\n"),
            false => format!("would delete {what}\n{rest}\nnothing was deleted: this is a dry run; to delete: --yes\n"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_of_which_a_file_failed_is_not_kept() {
        let whole = KeptSession { copied: 1, ..KeptSession::default() };
        let part = KeptSession { copied: 2, failures: vec!["s.jsonl: the disk is full".to_owned()], ..KeptSession::default() };
        let report = KeepReport { sessions: vec![whole, part], ..KeepReport::default() };
        let style = Style { color: false, width: 80, now: jiff::Timestamp::UNIX_EPOCH, zone: || jiff::tz::TimeZone::UTC };
        let text = report.text(&style);
        assert!(text.starts_with("copied 3 files of 2 changed sessions; kept: 1 session in "), "{text}");
        assert!(text.ends_with("not copied: s.jsonl: the disk is full\n"), "{text}");
    }
}
