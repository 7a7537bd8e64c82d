use crate::engine::mask;
use crate::model::As;
use crate::output::{Paint, Report, Style, printable};
use crate::text::differences::unified;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// A change of a file.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FileChange {
    #[serde(with = "As::<String>")]
    pub path: PathBuf,
    /// Action: `create`, `change`, `delete` or `keep`.
    pub action: &'static str,
    /// Entries of other programs that were kept in place of aperture's own.
    pub taken: Vec<&'static str>,
    /// Unified diff, with credentials masked.
    pub difference: String,
    /// The parts of it that belong to aperture: `5 hooks, status line`.
    #[serde(skip)]
    pub parts: String,
    /// The content before the change. `None` if the file does not exist.
    #[serde(skip)]
    pub before: Option<String>,
    /// The content after the change. `None` if the file does not exist.
    #[serde(skip)]
    pub after: Option<String>,
}

impl FileChange {
    /// Returns true if the content is another than before.
    pub fn is_change(&self) -> bool {
        self.before != self.after
    }

    /// Returns the change between two contents of a file.
    pub fn new(
        path: &Path,
        parts: String,
        before: Option<String>,
        after: Option<String>,
        taken: Vec<&'static str>,
    ) -> FileChange {
        let action = match (&before, &after) {
            (None, Some(_)) => "create",
            (Some(_), None) => "delete",
            (before, after) if before != after => "change",
            _ => "keep",
        };
        let (old, new) = (before.as_deref().unwrap_or_default(), after.as_deref().unwrap_or_default());
        let difference = unified(old, new, 2);
        FileChange { path: path.to_owned(), action, parts, taken, difference: mask(&difference).into_owned(), before, after }
    }
}

/// The parts of aperture that a client has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstallState {
    Missing,
    /// Some parts, or those that start another program.
    Partial,
    Complete,
}

impl InstallState {
    /// Returns the state by the files that an installation and a removal would leave.
    pub fn of(additions: &[FileChange], removals: &[FileChange]) -> InstallState {
        match (additions.iter().any(FileChange::is_change), removals.iter().any(FileChange::is_change)) {
            (false, _) => InstallState::Complete,
            (true, true) => InstallState::Partial,
            (true, false) => InstallState::Missing,
        }
    }
}

/// The installation into another program, its removal, or its dry run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct InstallReport {
    /// Action: `install` or `uninstall`.
    pub verb: &'static str,
    /// Other program.
    pub into: &'static str,
    /// Scope: `user`, `project` or `local`.
    pub scope: &'static str,
    /// True if nothing was written.
    pub dry_run: bool,
    /// True if the installation was only checked.
    pub check: bool,
    pub files: Vec<FileChange>,
    /// A sentence about the client, after an installation.
    #[serde(skip)]
    pub note: Option<String>,
    /// The home directory, displayed as `~`.
    #[serde(skip)]
    pub home: String,
}

impl Report for InstallReport {
    const SCHEMA: &str = "aperture.install/1";

    fn text(&self, style: &Style) -> String {
        let mut text = String::new();
        let mut line = |paint: Option<Paint>, words: &str| {
            let words = printable(words);
            text.push_str(&paint.map_or_else(|| words.to_string(), |paint| style.paint(paint, &words)));
            text.push('\n');
        };
        let name = |file: &FileChange| {
            let path = file.path.display().to_string();
            path.strip_prefix(&self.home).filter(|rest| rest.starts_with('/')).map_or(path.clone(), |rest| format!("~{rest}"))
        };
        let done = |action: &str| match action {
            "create" => "created",
            "delete" => "deleted",
            _ => "changed",
        };
        for file in self.files.iter().filter(|file| file.action != "keep" && !self.check) {
            if !self.dry_run {
                line(None, &format!("{} {}: {}", done(file.action), name(file), file.parts));
                continue;
            }
            line(Some(Paint::Heading), &format!("{} {}", file.action, name(file)));
            for changed in file.difference.lines() {
                let paint = match changed.as_bytes().first() {
                    Some(b'+') => Some(Paint::Added),
                    Some(b'-') => Some(Paint::Removed),
                    _ => Some(Paint::Dim),
                };
                line(paint, changed);
            }
            line(None, "");
        }
        if self.check {
            for file in &self.files {
                let (paint, state) = match file.action {
                    "create" => (Paint::Bad, "missing"),
                    "keep" => (Paint::Good, "there"),
                    _ => (Paint::Warning, "different"),
                };
                line(Some(paint), &format!("{state:<10}{}", name(file)));
            }
        }
        for file in self.files.iter().filter(|file| !file.taken.is_empty()) {
            let what = file.taken.join(", ");
            line(Some(Paint::Warning), &format!("skipped: {what} in {} was not written by aperture", name(file)));
        }
        line(None, &self.conclusion());
        if let Some(note) = self.note.as_ref().filter(|_| self.is_change() && !self.check && !self.dry_run) {
            line(None, note);
        }
        text
    }
}

impl InstallReport {
    /// Returns true if a file is another than before.
    pub fn is_change(&self) -> bool {
        self.files.iter().any(FileChange::is_change)
    }

    fn conclusion(&self) -> String {
        let changed = self.files.iter().filter(|file| file.action != "keep").count();
        let scope = if self.scope == "user" { String::new() } else { format!(" --scope {}", self.scope) };
        let command = format!("aperture {} {}{scope}", self.verb, self.into);
        match (self.verb, changed) {
            ("install", 0) => "already installed".to_owned(),
            (_, 0) => "nothing to remove".to_owned(),
            _ if self.check => format!("some parts are missing; to add them: {command}"),
            _ if self.dry_run => format!("nothing was written: this is a dry run; to apply: {command}"),
            ("install", _) => {
                format!("active in new sessions; to remove: aperture uninstall {}{scope}", self.into)
            }
            _ => "removed everything that aperture added".to_owned(),
        }
    }
}
