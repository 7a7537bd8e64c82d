//! Paths in little space: files of a directory are grouped, a directory that most of them share is named once, and less important
//! files are listed by name only.

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
    /// The same files, each alone: `* src/b.rs  #7`.
    pub lines: Vec<String>,
    pub names: Vec<String>,
}

/// Groups files by directory; a group has the rank of its first file. The first `detailed` files have their blocks; the others are
/// listed by their names.
pub fn file_groups(files: &[FileInWork], detailed: usize) -> FileGroups {
    let first = &files[..files.len().min(detailed)];
    let shared = shared_directory(first);
    let directories: Vec<String> = files.iter().map(|file| below(split(&file.path).0, &shared, &file.path)).collect();
    let mut counts: FxHashMap<&str, usize> = FxHashMap::default();
    for directory in &directories[..first.len()] {
        *counts.entry(directory).or_default() += 1;
    }
    // A file that is alone in its directory is listed with those of a directory above.
    let group_of = |directory: &str| match counts.get(directory) {
        Some(count) if *count > 1 => Some(directory.len()),
        own => ancestors(directory).find(|end| counts.contains_key(&directory[..*end])).or(own.map(|_| directory.len())),
    };
    let mut groups = Groups::default();
    let mut names = Groups::default();
    let mut lines = Vec::new();
    for (place, (file, directory)) in files.iter().zip(&directories).enumerate() {
        let end = group_of(directory);
        let path = format!("{directory}/{}", split(&file.path).1);
        let below = path.get(end.unwrap_or_default()..).unwrap_or_default().trim_start_matches('/');
        let above = &directory[..end.unwrap_or_default()];
        if place < first.len() {
            let mark = if file.edited { "*" } else { "" };
            groups.add(above, format!("{below} #{}{mark}", file.block));
            lines.push(format!("{mark:1} {}  #{}", path.trim_start_matches('/'), file.block));
        } else {
            let (directory, name) = file.name.split_once('/').unwrap_or(("", &file.name));
            names.add(directory, name.to_owned());
        }
    }
    FileGroups { directory: shared, groups: groups.joined(), lines, names: names.joined() }
}

/// Returns the ends of the directories above a directory, the deepest first.
fn ancestors(directory: &str) -> impl Iterator<Item = usize> {
    directory.rmatch_indices('/').map(|(at, _)| at).filter(|at| !matches!(&directory[..*at], "" | "." | "~"))
}

/// Entries by directory, in the order of their first entries.
#[derive(Default)]
struct Groups {
    order: Vec<(String, Vec<String>)>,
    places: FxHashMap<String, usize>,
}

impl Groups {
    fn add(&mut self, directory: &str, entry: String) {
        let place = *self.places.entry(directory.to_owned()).or_insert_with(|| {
            self.order.push((directory.to_owned(), Vec::new()));
            self.order.len() - 1
        });
        self.order[place].1.push(entry);
    }

    fn joined(self) -> Vec<String> {
        let group = |(directory, entries): (String, Vec<String>)| match (directory.trim_end_matches('/'), &entries[..]) {
            ("", entries) => entries.join(", "),
            (directory, [entry]) => format!("{directory}/{entry}"),
            (directory, entries) => format!("{directory}/{{{}}}", entries.join(", ")),
        };
        self.order.into_iter().map(group).collect()
    }
}

/// Splits a path into its directory and its name.
fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// Returns the directory of a path, relative to the shared directory.
fn below(directory: &str, shared: &str, path: &str) -> String {
    let below = directory.strip_prefix(shared).filter(|_| !shared.is_empty());
    match below.filter(|below| below.is_empty() || below.starts_with('/')) {
        Some(below) => below.trim_start_matches('/').to_owned(),
        // Relative to the session, where another directory is named.
        None if !shared.is_empty() && !path.starts_with(['/', '~']) => format!("./{directory}"),
        None => home_relative(directory),
    }
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
            name: (*path).to_owned(),
            block: place as u32 + 1,
            edited: place == 0,
            uses: 1,
        };
        let files: Vec<FileInWork> = paths.iter().enumerate().map(file).collect();
        let groups = file_groups(&files, usize::MAX);
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

    #[test]
    fn other_files_are_listed_by_their_names() {
        let file = |path: &str, name: &str| FileInWork {
            path: path.to_owned(),
            name: name.to_owned(),
            block: 3,
            edited: false,
            uses: 1,
        };
        let files = [
            file("src/a.rs", "a.rs"),
            file("src/b.rs", "src/b.rs"),
            file("x/y/c.rs", "c.rs"),
            file("x/z/d.rs", "z/d.rs"),
            file("w/z/e/f.rs", "z/e/f.rs"),
            file("src/g/h.rs", "g/h.rs"),
        ];
        let groups = file_groups(&files, 1);
        assert_eq!(
            (&groups.groups[..], &groups.lines[..]),
            (&["src/a.rs #3".to_owned()][..], &["  src/a.rs  #3".to_owned()][..])
        );
        assert_eq!(groups.names, ["src/b.rs", "c.rs", "z/{d.rs, e/f.rs}", "g/h.rs"]);
    }

    #[test]
    fn a_file_alone_in_its_directory_is_listed_with_those_above() {
        check(&["a/b/c.rs", "a/d/e.rs", "a/f.rs"], "", &["a/{b/c.rs #1*, d/e.rs #2, f.rs #3}"]);
        check(&["a/b/c.rs", "a/b/e.rs", "a/f.rs"], "", &["a/b/{c.rs #1*, e.rs #2}", "a/f.rs #3"]);
    }
}
