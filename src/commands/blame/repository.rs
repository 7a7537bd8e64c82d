//! A file in git: its repository, its text in a commit, and the commits that introduced its lines.

use crate::app::{CommandError, Env, refusal};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A repository.
pub struct Repository<'a> {
    env: &'a Env,
    pub root: PathBuf,
}

/// A commit that introduced lines of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Introduction {
    pub commit: String,
    /// The end of the second of the commit, in milliseconds since 1970, UTC.
    pub until: i64,
    /// The path of the file in it.
    pub name: String,
}

/// A commit that changed a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileCommit {
    pub commit: String,
    /// The end of the second in which its author wrote it, in milliseconds since 1970, UTC: a rebase keeps it.
    pub time: i64,
}

/// A line of a file in a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownLine {
    pub text: String,
    /// `None` if it is not committed.
    pub introduced: Option<Introduction>,
}

impl<'a> Repository<'a> {
    /// Returns the repository of a directory; `None` if there is none, or no git.
    pub fn of(env: &'a Env, directory: &Path) -> Option<Repository<'a>> {
        let directory = directory.to_str()?;
        let root = env.git(&["-C", directory, "rev-parse", "--show-toplevel"]).ok()?;
        let root = String::from_utf8_lossy(&root).trim_end_matches(['\n', '\r']).to_owned();
        (!root.is_empty()).then(|| Repository { env, root: PathBuf::from(root) })
    }

    pub fn trees(&self) -> Vec<PathBuf> {
        let listed = self.git(&["worktree", "list", "--porcelain"]).unwrap_or_default();
        let lines = String::from_utf8_lossy(&listed).into_owned();
        lines.lines().filter_map(|line| line.strip_prefix("worktree ")).map(PathBuf::from).collect()
    }

    /// Returns the hash of a commit.
    /// Errors: there is no such commit.
    pub fn commit(&self, revision: &str) -> Result<String, CommandError> {
        let name = format!("{revision}^{{commit}}");
        let found = self.git(&["rev-parse", "--verify", "--quiet", "--end-of-options", &name]);
        let found = found.map_err(|_| {
            refusal!("there is no commit '{revision}' in {}", self.root.display()).hint("to list the commits: git log --oneline")
        })?;
        Ok(String::from_utf8_lossy(&found).trim().to_owned())
    }

    /// Returns the bytes of a file in a commit; `None` if the commit does not have it.
    pub fn content(&self, commit: &str, name: &str) -> Option<Vec<u8>> {
        self.git(&["cat-file", "blob", &format!("{commit}:{name}")]).ok()
    }

    /// Returns the lines of a file, in a commit or in the working tree; `None` if git does not track it.
    pub fn lines(&self, commit: Option<&str>, name: &str) -> Option<Vec<KnownLine>> {
        let mut arguments = vec!["-c", "blame.ignoreRevsFile=", "blame", "--porcelain", "--no-textconv"];
        arguments.extend(commit);
        arguments.extend(["--", name]);
        Some(parse(&String::from_utf8_lossy(&self.git(&arguments).ok()?)))
    }

    /// Returns the commits that changed a file, in the history of a commit, newest first.
    pub fn changes(&self, commit: &str, name: &str) -> Vec<FileCommit> {
        let listed = self.git(&["log", "--topo-order", "--format=%H %at", commit, "--", name]).unwrap_or_default();
        let listed = String::from_utf8_lossy(&listed);
        let parsed = listed.lines().filter_map(|line| {
            let (commit, seconds) = line.split_once(' ')?;
            Some(FileCommit { commit: commit.to_owned(), time: end_of_second(seconds)? })
        });
        parsed.collect()
    }

    /// Returns the earlier names of a file in the history of a commit, each with the end of the second in which it was renamed.
    pub fn earlier_names(&self, commit: &str, name: &str) -> Vec<(String, i64)> {
        let form = ["-c", "core.quotePath=false", "log", "--follow", "--diff-filter=R", "--name-status", "--format=%at"];
        let listed = self.git(&[&form[..], &[commit, "--", name]].concat()).unwrap_or_default();
        let (mut names, mut until) = (Vec::new(), None);
        for line in String::from_utf8_lossy(&listed).lines() {
            match line.split('\t').collect::<Vec<_>>()[..] {
                [_, earlier, _] => names.extend(until.map(|until| (earlier.to_owned(), until))),
                _ => until = end_of_second(line).or(until),
            }
        }
        names
    }

    /// Returns the names of the files that the last commit changed, and the lines that it added to them.
    pub fn last_commit(&self) -> (Vec<String>, BTreeSet<String>) {
        let read = |form: &[&str]| {
            let output = self.git(&[&["diff-tree", "--root", "-r", "--no-commit-id", "--no-ext-diff"], form, &["HEAD"]].concat());
            String::from_utf8_lossy(&output.unwrap_or_default()).into_owned()
        };
        let names = read(&["--name-only", "-z"]).split('\0').filter(|name| !name.is_empty()).map(str::to_owned).collect();
        let patch = read(&["-p", "--unified=0", "--no-color"]);
        let added = patch.lines().filter(|line| !line.starts_with("+++ ")).filter_map(|line| line.strip_prefix('+'));
        (names, added.map(|line| line.trim().to_owned()).collect())
    }

    pub fn note(&self, commit: &str) -> String {
        let found = self.git(&["notes", "--ref=aperture", "show", commit]).unwrap_or_default();
        String::from_utf8_lossy(&found).into_owned()
    }

    /// Adds a text to the note of a commit.
    /// Errors: git fails.
    pub fn add_note(&self, commit: &str, text: &str) -> Result<(), CommandError> {
        self.git(&["notes", "--ref=aperture", "append", "-m", text, commit]).map(|_| ())
    }

    fn git(&self, arguments: &[&str]) -> Result<Vec<u8>, CommandError> {
        let root = self.root.to_string_lossy();
        self.env.git(&[&["-C", &*root, "-c", "core.fsmonitor=false", "--literal-pathspecs"], arguments].concat())
    }
}

/// Returns the end of a second since 1970, in milliseconds.
fn end_of_second(seconds: &str) -> Option<i64> {
    Some(seconds.parse::<i64>().ok()?.saturating_mul(1000).saturating_add(999))
}

/// Parses the porcelain format of git blame: the facts of a commit follow its first line only.
fn parse(text: &str) -> Vec<KnownLine> {
    let mut known: std::collections::HashMap<&str, (i64, &str)> = std::collections::HashMap::new();
    let (mut lines, mut commit) = (Vec::new(), "");
    let mut is_head = true;
    // A line of the file can contain a carriage return: only line feeds end lines.
    for line in text.split('\n') {
        if let Some(text) = line.strip_prefix('\t') {
            let (until, name) = known.get(commit).copied().unwrap_or_default();
            let is_committed = commit.bytes().any(|byte| byte != b'0');
            let introduction = || Introduction { commit: commit.to_owned(), until, name: name.to_owned() };
            let text = text.strip_suffix('\r').unwrap_or(text).to_owned();
            lines.push(KnownLine { text, introduced: is_committed.then(introduction) });
            is_head = true;
        } else if std::mem::take(&mut is_head) {
            commit = line.split(' ').next().unwrap_or_default();
            known.entry(commit).or_default();
        } else if let Some(time) = line.strip_prefix("committer-time ").and_then(end_of_second) {
            known.entry(commit).or_default().0 = time;
        } else if let Some(name) = line.strip_prefix("filename ") {
            known.entry(commit).or_default().1 = name;
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_facts_of_a_commit_hold_for_all_its_lines() {
        let (first, none) = ("a".repeat(40), "0".repeat(40));
        let text = format!(
            "{first} 1 1 2\nauthor A\ncommitter-time 5\nfilename old.rs\n\tone\r\n{first} 2 2\n\ttwo\n{none} 3 3 1\nfilename a.rs\n\tthree\n"
        );
        let introduced = Some(Introduction { commit: first, until: 5_999, name: "old.rs".to_owned() });
        let line =
            |text: &str, introduced: &Option<Introduction>| KnownLine { text: text.to_owned(), introduced: introduced.clone() };
        assert_eq!(parse(&text), [line("one", &introduced), line("two", &introduced), line("three", &None)]);
    }
}
