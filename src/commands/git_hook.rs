//! `aperture git-hook`: the command that git hooks run.

use crate::app::{CommandError, Env, one_of, refusal};
use crate::commands::check::{CheckReport, CheckedSession, without_blocks};
use crate::commands::{blame, summary};
use crate::engine::summary::{PointKind, summarize};
use crate::engine::{CheckLimits, Checked, GitHook, Violation, violations};
use crate::fsio::{is_packed, unpacked, unpacked_path};
use crate::model::limits::SNIFF_BYTES;
use crate::output::{Paint, Report, Style};
use crate::provider::{FileKind, sniff};
use crate::workspace;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;

#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture git-hook pre-commit       the call that aperture install git-hook writes")]
pub struct Arguments {
    /// The hook
    #[arg(value_parser = one_of(GitHook::ALL.map(GitHook::name), GitHook::from_name))]
    pub hook: GitHook,
    /// Arguments of the hook, from git
    pub rest: Vec<String>,
}

/// A git hook.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct InstalledHook {
    pub hook: GitHook,
    /// Script.
    pub path: String,
    /// True if it is installed.
    pub installed: bool,
    /// True if it was, or would be, changed.
    pub changed: bool,
}

/// The installation of git hooks, their removal, or its dry run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct GitHooksReport {
    pub hooks: Vec<InstalledHook>,
    /// True if nothing was written.
    pub dry_run: bool,
    /// True if the installation was only checked.
    pub check: bool,
}

impl Report for GitHooksReport {
    const SCHEMA: &str = "aperture.install-git-hook/1";

    fn text(&self, style: &Style) -> String {
        let mut text = String::new();
        for hook in &self.hooks {
            let pending = hook.changed && (self.dry_run || self.check);
            let word = match (pending, hook.installed, hook.changed) {
                (true, false, _) if self.dry_run => "would be installed",
                (true, true, _) if self.dry_run => "would be removed",
                (_, true, _) => "installed",
                (_, false, true) if !self.check => "removed",
                (_, false, _) => "not installed",
            };
            text.push_str(&format!("{:<11} {word}: {}\n", hook.hook.name(), hook.path));
        }
        if self.dry_run && self.hooks.iter().any(|hook| hook.changed) {
            text.push_str(&style.paint(Paint::Dim, "nothing was written: this is a dry run\n"));
        }
        text
    }
}

/// Runs the hook.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    match arguments.hook {
        GitHook::PreCommit => refuse(env, "git commit", &staged(env)?),
        GitHook::PostCommit => note(env),
        GitHook::PrePush => refuse(env, "git push", &pushed(env, arguments.rest.first())?),
    }
}

/// The kinds of summary points that a commit note contains.
const NOTED: [PointKind; 3] = [PointKind::Objective, PointKind::Narrative, PointKind::State];

/// Returns the staged files, each with the object name of its content.
fn staged(env: &Env) -> Result<BTreeSet<(String, String)>, CommandError> {
    Ok(changed_files(&env.git(&["diff", "--cached", "--raw", "--no-abbrev", "--no-renames", "-z"])?))
}

/// Returns the files in commits that the remote does not have, under all of their names. git passes one reference per line on standard
/// input.
fn pushed(env: &Env, remote: Option<&String>) -> Result<BTreeSet<(String, String)>, CommandError> {
    let remotes = format!("--remotes={}", remote.map_or("*", String::as_str));
    let mut files = BTreeSet::new();
    for line in env.text("-")?.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, local, _, known] = words[..] else { continue };
        if is_none(local) {
            continue;
        }
        // A merge has the files that differ from all of its parents. The remote's current commit may be missing from this repository.
        let format = ["log", "--format=", "--raw", "--root", "-c", "--no-abbrev", "--no-renames", "-z", "--ignore-missing"];
        files.extend(changed_files(&env.git(&[&format[..], &[local, "--not", known, &remotes]].concat())?));
    }
    Ok(files)
}

/// Returns the files that git lists in its raw form as changed to another content: `:100644 100644 BEFORE AFTER M`, and the path. A merge
/// has a colon, a mode and an object more for each further parent. Links and submodules are left out.
fn changed_files(listed: &[u8]) -> BTreeSet<(String, String)> {
    let listed = String::from_utf8_lossy(listed);
    let mut words = listed.split('\0');
    let mut files = BTreeSet::new();
    while let Some(entry) = words.next() {
        let (entry, parents) = (entry.trim(), entry.trim().bytes().take_while(|byte| *byte == b':').count());
        if parents == 0 {
            continue;
        }
        let (fields, path) = (entry[parents..].split(' ').collect::<Vec<_>>(), words.next().unwrap_or_default());
        if let (Some(mode), Some(object)) = (fields.get(parents), fields.get(2 * parents + 1))
            && mode.starts_with("100")
            && !is_none(object)
        {
            files.insert((path.to_owned(), (*object).to_owned()));
        }
    }
    files
}

fn is_none(object: &str) -> bool {
    object.bytes().all(|byte| byte == b'0')
}

/// Returns the content of a file if its name is one that sessions have.
fn session_content(env: &Env, path: &str, object: &str) -> Result<Option<Vec<u8>>, CommandError> {
    let (path, read) = (Path::new(path), || env.git(&["cat-file", "blob", object]));
    if !unpacked_path(path).extension().is_some_and(|extension| extension == "jsonl" || extension == "json") {
        return Ok(None);
    }
    if !is_packed(path) {
        return read().map(Some);
    }
    let mut content = Vec::new();
    // A file that cannot be unpacked is not a session.
    let unpacked = unpacked(read()?).and_then(|mut file| file.read_to_end(&mut content));
    Ok(unpacked.is_ok().then_some(content))
}

/// Fails if one of the files is a session with credentials.
fn refuse(env: &Env, what: &str, files: &BTreeSet<(String, String)>) -> Result<(), CommandError> {
    let limits = CheckLimits { no_secrets: true, ..CheckLimits::default() };
    let mut report = CheckReport { rules: vec!["no-secrets"], ..CheckReport::default() };
    for (path, object) in files {
        let Some(content) = session_content(env, path, object)? else { continue };
        if !matches!(sniff(&content[..content.len().min(SNIFF_BYTES)]), FileKind::Session(_)) {
            continue;
        }
        let secrets = without_blocks(&workspace::scan_bytes(&content)?);
        let findings = violations(&Checked { reading: None, secrets: &secrets, ..Checked::default() }, &limits);
        let findings: Vec<_> = findings.into_iter().map(|finding| Violation { hint: String::new(), ..finding }).collect();
        if !findings.is_empty() {
            report.sessions.push(CheckedSession {
                session: path.clone(),
                path: path.clone(),
                findings,
                ..CheckedSession::default()
            });
        }
    }
    if report.findings() == 0 {
        return Ok(());
    }
    env.print(&report)?;
    Err(refusal!("{what} is refused: it contains sessions with credentials")
        .hint("to remove them: aperture redact --whole-file -s FILE; then stage the file again")
        .hint(format!("to skip this check once: {what} --no-verify")))
}

/// First words of the paragraph of a note that this hook writes.
const SESSION: &str = "Session: ";

/// Adds a git note about the newest session of the project to the last commit, before the other paragraphs of its note; does nothing if
/// there is no session, or if it wrote nothing of the commit.
fn note(env: &Env) -> Result<(), CommandError> {
    let Some(found) = env.find(None).ok().filter(|found| blame::wrote_last_commit(env, found)) else { return Ok(()) };
    let workspace = env.read(found)?;
    let (_, short) = summarize(&workspace.reading, &summary::contents(env, &workspace)?, &|_| String::new());
    let mut text = format!("{SESSION}{}\n", workspace.location.id);
    for point in short.summary.points.iter().filter(|point| NOTED.contains(&point.kind)) {
        text.push_str(&format!("{}: {}\n", point.kind.label(), point.text()));
    }
    let known = env.git(&["notes", "--ref=aperture", "show", "HEAD"]).unwrap_or_default();
    let known = String::from_utf8_lossy(&known);
    let is_own = |paragraph: &&str| {
        let id = paragraph.lines().next().and_then(|line| line.strip_prefix(SESSION));
        id.is_some_and(|id| !id.contains(' '))
    };
    for other in known.split("\n\n").filter(|paragraph| !paragraph.trim().is_empty() && !is_own(paragraph)) {
        text.push_str(&format!("\n{}\n", other.trim_end()));
    }
    let text = env.gate.text(&text, false);
    env.git(&["notes", "--ref=aperture", "add", "--force", "-m", text.as_str(), "HEAD"])?;
    Ok(())
}
