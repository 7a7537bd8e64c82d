//! Paths in little space: one file a line, the newest first; a directory that contains all of them is named once, and less important
//! files are listed by name only.

use crate::engine::FileInWork;
use std::cmp::Reverse;

/// Minimum number of files that share a named directory.
const SHARING: usize = 4;
/// The same for files outside the directory of the session, whose paths are long.
const SHARING_ELSEWHERE: usize = 2;

/// Files in the order in which they are printed.
#[derive(Debug, Default, PartialEq)]
pub struct FileList {
    /// The directory to which the paths of the session's files are relative; empty if it is that of the session.
    pub directory: String,
    /// The detailed files, the one with the newest content first: `* src/b.rs  #7`; those elsewhere last, below their directory.
    pub lines: Vec<String>,
    /// The same files in short: `b.rs #7*`.
    pub short: Vec<String>,
    pub names: Vec<String>,
}

/// Lists files; the first `detailed` ones have their blocks, the others only their names.
pub fn file_list(files: &[FileInWork], detailed: usize) -> FileList {
    let (first, others) = files.split_at(files.len().min(detailed));
    let mut first: Vec<&FileInWork> = first.iter().collect();
    first.sort_by_key(|file| Reverse(file.block));
    let mark = |file: &FileInWork| if file.edited { "*" } else { "" };
    let line = |file: &FileInWork, shared: &str| format!("{:1} {}  #{}", mark(file), short_path(&file.path, shared), file.block);
    let (elsewhere, here): (Vec<&FileInWork>, Vec<&FileInWork>) = first.iter().partition(|file| file.path.starts_with('/'));
    let shared = shared_directory(&here, SHARING);
    let mut lines: Vec<String> = here.iter().map(|file| line(file, &shared)).collect();
    let directory = shared_directory(&elsewhere, SHARING_ELSEWHERE);
    let indent = if directory.is_empty() { "" } else { "  " };
    if !directory.is_empty() {
        lines.push(format!("in {}:", below_home(&directory)));
    }
    lines.extend(elsewhere.iter().map(|file| indent.to_owned() + &line(file, &directory)));
    FileList {
        lines,
        short: first.iter().map(|file| format!("{} #{}{}", file.name, file.block, mark(file))).collect(),
        names: others.iter().map(|file| file.name.clone()).collect(),
        directory: shared,
    }
}

/// Returns a path relative to the shared directory or, outside that of the session, to the home directory.
fn short_path(path: &str, shared: &str) -> String {
    let below = path.strip_prefix(shared).and_then(|below| below.strip_prefix('/')).filter(|_| !shared.is_empty());
    below.map_or_else(|| below_home(path), str::to_owned)
}

/// Replaces the home directory at the start of a path.
fn below_home(directory: &str) -> String {
    let mut parts = directory.splitn(4, '/');
    match (parts.next(), parts.next(), parts.next()) {
        (Some(""), Some("home" | "Users"), Some(_)) => match parts.next() {
            Some(rest) => format!("~/{rest}"),
            None => "~".to_owned(),
        },
        _ => directory.to_owned(),
    }
}

/// Returns the deepest directory that contains all files, if there are at least `least` of them; empty if there is none below
/// that of the session.
fn shared_directory(files: &[&FileInWork], least: usize) -> String {
    let Some((first, others)) = files.split_first().filter(|_| files.len() >= least) else { return String::new() };
    let contains = |at: &usize| others.iter().all(|file| file.path.get(..*at + 1) == Some(&first.path[..*at + 1]));
    let end = first.path.rmatch_indices('/').map(|(at, _)| at).find(contains);
    end.map_or_else(String::new, |end| first.path[..end].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(paths: &[&str]) -> Vec<FileInWork> {
        let file = |(place, path): (usize, &&str)| FileInWork {
            path: (*path).to_owned(),
            name: path.rsplit('/').next().unwrap_or(path).to_owned(),
            block: place as u32 + 1,
            edited: place == 0,
            uses: 1,
        };
        paths.iter().enumerate().map(file).collect()
    }

    fn check(paths: &[&str], directory: &str, expected: &[&str]) {
        let list = file_list(&files(paths), usize::MAX);
        assert_eq!((&*list.directory, &list.lines.iter().map(String::as_str).collect::<Vec<_>>()[..]), (directory, expected));
    }

    #[test]
    fn each_file_has_a_line_and_the_newest_is_the_first() {
        check(&["src/a.rs", "README.md", "src/b.rs"], "", &["  src/b.rs  #3", "  README.md  #2", "* src/a.rs  #1"]);
    }

    #[test]
    fn a_directory_of_all_files_is_named_once() {
        let paths = ["x/y/a.rs", "x/y/b.rs", "x/y/z/c.rs", "x/y/z/d.rs"];
        check(&paths, "x/y", &["  z/d.rs  #4", "  z/c.rs  #3", "  b.rs  #2", "* a.rs  #1"]);
        let paths = ["x/y/a.rs", "x/y/b.rs", "x/yz/c.rs", "x/y/z/d.rs", "/home/me/other/f.rs"];
        let lines = ["  y/z/d.rs  #4", "  yz/c.rs  #3", "  y/b.rs  #2", "* y/a.rs  #1", "  ~/other/f.rs  #5"];
        check(&paths, "x", &lines);
    }

    #[test]
    fn a_path_elsewhere_is_whole_below_the_home_directory() {
        let path = "/home/me/.cargo/registry/src/x-1.0/src/lib.rs";
        check(&[path], "", &["* ~/.cargo/registry/src/x-1.0/src/lib.rs  #1"]);
        check(&["a/b/c/d/e/f/g.rs"], "", &["* a/b/c/d/e/f/g.rs  #1"]);
        let paths = ["/home/me/x/src/lib.rs", "src/a.rs", "/home/me/x/src/b/c.rs"];
        check(&paths, "", &["  src/a.rs  #2", "in ~/x/src:", "    b/c.rs  #3", "  * lib.rs  #1"]);
    }

    #[test]
    fn no_files_are_no_lines() {
        check(&[], "", &[]);
    }

    #[test]
    fn other_files_are_listed_by_their_names() {
        let mut files = files(&["src/a.rs", "src/b.rs", "x/c.rs"]);
        files[2].name = "x/y/z/u/c.rs".to_owned();
        let list = file_list(&files, 1);
        assert_eq!((list.short, list.names), (vec!["a.rs #1*".to_owned()], vec!["b.rs".to_owned(), "x/y/z/u/c.rs".to_owned()]));
    }
}
