//! The files in work: files that tool inputs name, the most likely to be needed next first.

use crate::engine::Analysis;
use crate::engine::summary::looks_up;
use crate::model::paths::{is_windows_text, relative, same_form};
use crate::model::{Block, BlockKind, BlockNumber, Key, ToolVerb};
use crate::text::command_heads::{head, without_wrappers};
use crate::text::names::{SEPARATORS, file_name};
use crate::text::shell::{SimpleCommand, Word, simple_commands};
use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::Path;

/// Steps after which a use counts half, and the weight of an edit. Of the files of real sessions that the next 20 steps touch again,
/// the first 10 in this order contain 80 %, the first 15 89 %, the first 25 97 %: the length of the list decides more than its order.
const HALF_LIFE_STEPS: f64 = 40.0;
const EDIT_WEIGHT: f64 = 2.0;

/// A file that tool calls name.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FileInWork {
    /// Path, relative to the directory of the session if the file is below it.
    pub path: String,
    /// Block with the newest content: the last edit or the result of the last read; of other files the last result.
    pub block: BlockNumber,
    /// True if the agent edited it.
    pub edited: bool,
    /// Number of tool calls that name it.
    pub uses: u32,
    /// The shortest end of the path that no other file of the session has.
    #[serde(skip)]
    pub name: String,
}

#[derive(Default)]
struct Uses {
    score: f64,
    last: (u32, u32),
    /// The last edit or read, and the last other use.
    content: Option<BlockNumber>,
    mention: BlockNumber,
    edited: bool,
    count: u32,
}

/// Returns the files in work, at most `most`: those used often and recently first.
pub fn files_in_work(reading: &Analysis, most: usize) -> Vec<FileInWork> {
    let session = &reading.session;
    let answered = session.blocks.iter().filter(|block| block.kind == BlockKind::ToolResult);
    let results: FxHashMap<Key, &Block> = answered.filter_map(|block| Some((block.call?, block))).collect();
    let mut uses: FxHashMap<String, Uses> = FxHashMap::default();
    for block in session.blocks.iter().filter(|block| block.kind == BlockKind::ToolUse && block.excerpts.is_some()) {
        let row = &session.rows[block.row as usize];
        let Some(tool) = block.tool.as_deref().filter(|_| !row.sidechain && !reading.is_left(block)) else { continue };
        let directory = session.origins.get(row.origin as usize).map_or("", |origin| &origin.directory);
        let answer = block.call.and_then(|call| results.get(&call)).copied();
        // A file that could not be read or edited may not exist, nor one of those that a search did not find.
        let is_missing = |answer: &Block| looks_up(tool, &tool.target) && answer.preview.contains("No such file");
        if answer.is_some_and(|answer| answer.error && (tool.verb.names_file() || is_missing(answer))) {
            continue;
        }
        let is_done = tool.verb == ToolVerb::Run && answer.is_some_and(|answer| !answer.error);
        let is_done = is_done && ["rm ", "mv "].iter().any(|program| tool.target.contains(program));
        let gone = if is_done { removed_paths(&tool.target, directory) } else { Vec::new() };
        let is_gone = |path: &str| gone.iter().any(|gone| relative(path, gone).len() < path.len() || path == gone);
        if !gone.is_empty() {
            uses.retain(|path, _| !is_gone(path));
        }
        let result = answer.map_or(block.number, |answer| answer.number);
        let age = f64::from(reading.steps.saturating_sub(block.position.step));
        for (place, file) in block.files().map(|file| absolute(directory, file)).enumerate().filter(|(_, file)| !is_gone(file)) {
            let known = uses.entry(file).or_default();
            known.score += (-age / HALF_LIFE_STEPS).exp2() * if tool.verb == ToolVerb::Edit { EDIT_WEIGHT } else { 1.0 };
            known.last = (block.number, u32::MAX - place as u32);
            known.count += 1;
            match tool.verb {
                ToolVerb::Edit => (known.content, known.edited) = (Some(block.number), true),
                ToolVerb::Read => known.content = Some(result),
                _ => known.mention = result,
            }
        }
    }
    let mut ranked: Vec<(String, Uses)> = uses.into_iter().collect();
    ranked.sort_by(|(_, a), (_, b)| b.score.total_cmp(&a.score).then(b.last.cmp(&a.last)));
    let mut namesakes: FxHashMap<&str, Vec<&str>> = FxHashMap::default();
    for (path, _) in &ranked {
        namesakes.entry(file_name(path)).or_default().push(path);
    }
    let directory = reading.directory();
    let file = |(path, uses): &(String, Uses)| FileInWork {
        path: relative(path, directory).to_owned(),
        name: unambiguous(path, namesakes.get(file_name(path)).map_or(&[], Vec::as_slice)).to_owned(),
        block: uses.content.unwrap_or(uses.mention),
        edited: uses.edited,
        uses: uses.count,
    };
    ranked.iter().take(most).map(file).collect()
}

/// Returns the paths that a command removes or moves away.
fn removed_paths(command: &str, directory: &str) -> Vec<String> {
    let mut paths = Vec::new();
    let is_kept = |simple: &&SimpleCommand| simple.is_piped || simple.words.iter().any(|word| word.text == "--cached");
    for simple in simple_commands(command).iter().filter(|simple| !is_kept(simple)) {
        let Some(head) = head(simple).filter(|head| matches!(&**head, "rm" | "git rm" | "mv" | "git mv")) else { continue };
        let words = without_wrappers(&simple.words).iter().skip(head.split(' ').count());
        let mut named: Vec<&Word> = words.filter(|word| !word.text.starts_with('-')).collect();
        named.truncate(named.len() - usize::from(head.ends_with("mv") && !named.is_empty()));
        paths.extend(named.into_iter().map(|word| absolute(directory, &word.text)));
    }
    paths
}

/// Returns the shortest end of a path, in whole components, that no other path of a list has.
fn unambiguous<'a>(path: &'a str, others: &[&str]) -> &'a str {
    let ends = path.rmatch_indices(SEPARATORS).map(|(at, _)| at);
    let is_unique = |end: &usize| !others.iter().any(|other| *other != path && other.ends_with(&path[*end..]));
    ends.into_iter().find(is_unique).map_or(path, |at| &path[at + 1..])
}

/// Returns the home directory that contains a directory, if it has the usual form.
pub(in crate::engine) fn home(directory: &str) -> Option<&str> {
    let rest = directory.strip_prefix("/home/").or_else(|| directory.strip_prefix("/Users/"))?;
    let name = rest.split('/').next().filter(|name| !name.is_empty())?;
    Some(&directory[..directory.len() - rest.len() + name.len()])
}

/// Resolves a path against a directory, without `.` and `..`. One that begins with the last components of the directory is from above
/// it: the directory of a call can be that after its `cd`.
fn absolute(directory: &str, path: &str) -> String {
    if let Some((home, rest)) = home(directory).zip(path.strip_prefix("~/")) {
        return absolute("", &format!("{home}/{rest}"));
    }
    if path.starts_with('~') {
        return path.to_owned();
    }
    if is_windows_text(path) {
        return same_form(Path::new(path)).to_string_lossy().into_owned();
    }
    if is_windows_text(directory) && !path.starts_with('/') {
        return absolute("", &format!("{directory}\\{path}"));
    }
    let rooted = path.starts_with('/') || directory.starts_with('/');
    let mut starts = path.match_indices('/').skip(1).map(|(end, _)| &path[..end]);
    let start = starts.find_map(|start| directory.strip_suffix(start).filter(|above| above.ends_with('/')));
    let directory = start.unwrap_or(directory);
    let whole = if path.starts_with('/') { path.to_owned() } else { format!("{directory}/{path}") };
    let mut parts: Vec<&str> = Vec::new();
    for part in whole.split('/').filter(|part| !matches!(*part, "" | ".")) {
        if part == ".." && parts.last().is_some_and(|last| *last != "..") {
            parts.pop();
        } else {
            parts.push(part);
        }
    }
    let joined = parts.join("/");
    if rooted { format!("/{joined}") } else { joined }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_resolved() {
        for (directory, path, expected) in [
            ("/w/shop", "src/a.rs", "/w/shop/src/a.rs"),
            ("/w/shop", "../b.rs", "/w/b.rs"),
            ("/w/shop", "/x/./c.rs", "/x/c.rs"),
            ("/w/shop", "~/d.rs", "~/d.rs"),
            ("/home/me/shop", "~/d.rs", "/home/me/d.rs"),
            ("", "e.rs", "e.rs"),
            (r"c:\w\shop", r"src\a.rs", r"C:\w\shop\src\a.rs"),
            ("/w", "c:/w/b.rs", r"C:\w\b.rs"),
            ("/w/a/b", "a/b/f.rs", "/w/a/b/f.rs"),
            ("/w/a/b", "b/f.rs", "/w/a/b/b/f.rs"),
            ("/w/xa/b", "a/b/f.rs", "/w/xa/b/a/b/f.rs"),
        ] {
            assert_eq!(absolute(directory, path), expected, "{path}");
        }
    }

    #[test]
    fn a_command_takes_files_away() {
        for (command, expected) in [
            ("cd src && rm -f a.rs b.rs; git rm -r old; git rm --cached c.rs", &["/w/a.rs", "/w/b.rs", "/w/old"] as &[&str]),
            ("git mv a.rs b.rs && mv /x/c.rs /x/d.rs e", &["/w/a.rs", "/x/c.rs", "/x/d.rs"]),
            ("mv; echo rm a.rs | xargs cat", &[]),
        ] {
            assert_eq!(removed_paths(command, "/w"), expected, "{command}");
        }
    }

    #[test]
    fn a_name_is_the_shortest_end_that_no_other_path_has() {
        let paths = ["/w/a/x/types.go", "/w/b/x/types.go", "/w/c/types.go", "/w/main.go", "types.go"];
        let names: Vec<&str> = paths.iter().map(|path| unambiguous(path, &paths)).collect();
        assert_eq!(names, ["a/x/types.go", "b/x/types.go", "c/types.go", "main.go", "types.go"]);
        let paths = [r"C:\w\a\types.go", r"C:\w\b\types.go"];
        assert_eq!(unambiguous(paths[0], &paths), r"a\types.go");
    }
}
