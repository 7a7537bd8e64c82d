//! Paths in little space: files of a directory are grouped, and a directory that most of them share is named once.

use crate::engine::FileInWork;
use rustc_hash::FxHashMap;

/// Share of the files that a named directory must contain, and their minimum number.
const SHARED: f64 = 0.6;
const SHARING: usize = 4;
/// Components above which the middle of a directory outside that of the session is omitted.
const OUTSIDE_PARTS: usize = 5;

/// Paths in groups.
#[derive(Debug, Default, PartialEq)]
pub struct FileGroups {
    /// The directory to which paths are relative; empty if it is that of the session.
    pub directory: String,
    /// Groups of files, in their order: `src/{a.rs #3, b.rs #7*}`.
    pub groups: Vec<String>,
}

/// Groups files by directory; a group has the rank of its first file.
pub fn file_groups(files: &[FileInWork]) -> FileGroups {
    let shared = shared_directory(files);
    let mut order: Vec<(String, Vec<String>)> = Vec::new();
    let mut places: FxHashMap<String, usize> = FxHashMap::default();
    for file in files {
        let (directory, name) = file.path.rsplit_once('/').unwrap_or(("", &file.path));
        let below = directory.strip_prefix(&*shared).filter(|_| !shared.is_empty());
        let directory = match below.filter(|below| below.is_empty() || below.starts_with('/')) {
            Some(below) => below.trim_start_matches('/').to_owned(),
            // Relative to the session, where another directory is named.
            None if !shared.is_empty() && !file.path.starts_with(['/', '~']) => format!("./{directory}"),
            None => home_relative(directory),
        };
        let mark = if file.edited { "*" } else { "" };
        let entry = format!("{name} #{}{mark}", file.block);
        let place = *places.entry(directory.clone()).or_insert_with(|| {
            order.push((directory, Vec::new()));
            order.len() - 1
        });
        order[place].1.push(entry);
    }
    let group = |(directory, entries): (String, Vec<String>)| match (directory.trim_end_matches('/'), &entries[..]) {
        ("", entries) => entries.join(", "),
        (directory, [entry]) => format!("{directory}/{entry}"),
        (directory, entries) => format!("{directory}/{{{}}}", entries.join(", ")),
    };
    FileGroups { directory: shared, groups: order.into_iter().map(group).collect() }
}

/// Shortens a directory outside that of the session: the home directory at its start, and the middle of a long one.
fn home_relative(directory: &str) -> String {
    let short = below_home(directory);
    let parts: Vec<&str> = short.split('/').collect();
    match parts[..] {
        [root @ ("~" | ""), _, .., before, last] if parts.len() > OUTSIDE_PARTS => format!("{root}/…/{before}/{last}"),
        _ => short,
    }
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

/// Returns the deepest directory that contains most of the files; empty if there is none below that of the session.
fn shared_directory(files: &[FileInWork]) -> String {
    let mut counts: FxHashMap<&str, usize> = FxHashMap::default();
    for file in files {
        for (at, _) in file.path.match_indices('/').filter(|(at, _)| *at > 0) {
            *counts.entry(&file.path[..at]).or_default() += 1;
        }
    }
    let enough = |count: usize| count >= SHARING && count as f64 >= files.len() as f64 * SHARED;
    let best = counts.into_iter().filter(|(_, count)| enough(*count)).map(|(directory, _)| directory);
    best.max_by_key(|directory| (directory.len(), *directory)).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(paths: &[&str], directory: &str, expected: &[&str]) {
        let file = |(place, path): (usize, &&str)| FileInWork {
            path: (*path).to_owned(),
            block: place as u32 + 1,
            edited: place == 0,
            uses: 1,
        };
        let files: Vec<FileInWork> = paths.iter().enumerate().map(file).collect();
        let groups = file_groups(&files);
        assert_eq!(
            (&*groups.directory, &groups.groups[..]),
            (directory, &*expected.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>())
        );
    }

    #[test]
    fn files_of_a_directory_are_one_group() {
        check(&["src/a.rs", "README.md", "src/b.rs"], "", &["src/{a.rs #1*, b.rs #3}", "README.md #2"]);
    }

    #[test]
    fn a_shared_directory_is_named_once() {
        let paths = ["x/y/a.rs", "x/y/b.rs", "x/y/z/c.rs", "x/y/z/d.rs", "x/e.rs", "/home/me/other/f.rs"];
        check(&paths, "x/y", &["a.rs #1*, b.rs #2", "z/{c.rs #3, d.rs #4}", "./x/e.rs #5", "~/other/f.rs #6"]);
    }

    #[test]
    fn a_long_directory_elsewhere_loses_its_middle() {
        check(&["/home/me/.cargo/registry/src/x-1.0/src/lib.rs"], "", &["~/…/x-1.0/src/lib.rs #1*"]);
        check(&["a/b/c/d/e/f/g.rs"], "", &["a/b/c/d/e/f/g.rs #1*"]);
    }

    #[test]
    fn no_files_are_no_groups() {
        check(&[], "", &[]);
    }
}
