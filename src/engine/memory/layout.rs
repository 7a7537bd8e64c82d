//! Lists of files, grouped by folder: the form in which people and models read them.

use crate::engine::tokens;
use crate::text::names::is_generic;

/// Maximum number of parts of the path of a folder that are printed: the last ones tell folders apart.
const FOLDER_PARTS: usize = 2;
/// Weight of the length of a name against its worth: 0 none, 1 the same.
const LENGTH_WEIGHT: f64 = 0.8;
/// Tokens after the name of a folder with one file, and after that of a folder with several: `/: ` and a line feed.
const FOLDER_END: usize = 1;
const FOLDER_LINE_END: usize = 2;

/// A folder and the names of its files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder {
    /// The last parts of its path; empty for files without a folder.
    pub name: String,
    /// The names of its files, the most worth first.
    pub files: Vec<String>,
}

/// Returns the files that are worth most per token, grouped by folder; printed, they have about `max_tokens`. `files` are paths with
/// their worth. Each folder, and each file in it, is at the place of its best.
pub fn folders<'a>(files: impl IntoIterator<Item = (&'a str, f64)>, max_tokens: usize) -> Vec<Folder> {
    let mut files_left: Vec<(String, String, f64)> = Vec::new();
    for (path, worth) in files {
        let (folder, name) = split(path);
        if !files_left.iter().any(|(known, other, _)| *other == name && (!is_generic(&name) || *known == folder)) {
            files_left.push((folder, name, worth));
        }
    }
    let counted = |(folder, name, worth): (String, String, f64)| {
        let costs = (tokens::count(&folder) + FOLDER_END, tokens::count(&format!(" {name}")));
        (folder, name, worth, costs)
    };
    let mut rest: Vec<_> = files_left.into_iter().map(counted).collect();
    let mut found: Vec<Folder> = Vec::new();
    // The line feed of the files that are alone.
    let mut left = max_tokens.saturating_sub(1);
    loop {
        let cost = |folder: &str, (of_folder, of_name): (usize, usize)| {
            let before = match found.iter().find(|known| known.name == folder) {
                _ if folder.is_empty() => 0,
                None => of_folder,
                Some(known) if known.files.len() == 1 => FOLDER_LINE_END - FOLDER_END,
                Some(_) => 0,
            };
            before + of_name
        };
        let fitting = rest.iter().enumerate().map(|(at, (folder, _, worth, costs))| (at, cost(folder, *costs), *worth));
        let fitting = fitting.filter(|(_, cost, _)| *cost <= left);
        let value = |cost: usize, worth: f64| worth / (cost as f64).powf(LENGTH_WEIGHT);
        let best = fitting.max_by(|(at, cost, worth), (other_at, other_cost, other)| {
            value(*cost, *worth).total_cmp(&value(*other_cost, *other)).then(other_at.cmp(at))
        });
        let Some((at, cost, _)) = best else { return found };
        left -= cost;
        let (folder, name, ..) = rest.remove(at);
        match found.iter_mut().find(|known| known.name == folder) {
            Some(known) => known.files.push(name),
            None => found.push(Folder { name: folder, files: vec![name] }),
        }
    }
}

/// Returns the printed folder and the printed name of a path. A name that many folders have keeps its own folder.
fn split(path: &str) -> (String, String) {
    let path = path.replace('\\', "/");
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty() && *part != "." && *part != "..").collect();
    let Some((name, folder)) = parts.split_last() else { return (String::new(), path) };
    let shown = folder[folder.len().saturating_sub(FOLDER_PARTS)..].join("/");
    match folder.last() {
        Some(own) if is_generic(name) => (String::new(), format!("{own}/{name}")),
        _ => (shown, (*name).to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(files: &[&str], max_tokens: usize, expected: &[&str]) {
        let files = files.iter().enumerate().map(|(at, path)| (*path, 0.5f64.powi(at as i32)));
        let found: Vec<String> =
            folders(files, max_tokens).iter().map(|folder| format!("{}: {}", folder.name, folder.files.join(" "))).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn files_are_grouped_by_folder() {
        check(&["a/src/x.rs", "y.rs", "a/src/z.rs"], 100, &[": y.rs", "a/src: x.rs z.rs"]);
        check(&["a/b/c/d.rs", "./e.rs", "../f.rs"], 100, &[": e.rs f.rs", "b/c: d.rs"]);
        check(&["a/x.rs", "b/x.rs"], 100, &["a: x.rs"]);
        check(&["src/a/mod.rs", "src/b/mod.rs"], 100, &[": a/mod.rs b/mod.rs"]);
    }

    #[test]
    fn only_as_many_as_there_is_room_for() {
        check(&["a/x.rs", "a/y.rs", "b/z.rs"], 11, &["a: x.rs y.rs"]);
        check(&["a/x.rs"], 4, &[]);
    }
}
