use crate::model::is_subagent_id;
use crate::provider::{Location, OpenSession, Places, TypedPrompt};
use serde::Deserialize;
use std::path::{Path, PathBuf, is_separator};

/// Longest project directory name before the client cuts it and appends a hash, in UTF-16 units.
const SLUG_UNITS: usize = 200;

pub(super) fn prompts_file(places: &Places) -> PathBuf {
    places.claude_directory().join("history.jsonl")
}

/// Parses a line of the list of typed prompts: `{display, pastedContents, timestamp, project, sessionId}`, the time in milliseconds.
pub(super) fn typed_prompt(line: &[u8]) -> Option<TypedPrompt> {
    #[derive(Deserialize)]
    struct Line {
        display: String,
        timestamp: i64,
        #[serde(default)]
        project: String,
        #[serde(rename = "sessionId", default)]
        session: String,
    }
    let Line { display, timestamp, project, session } = serde_json::from_slice(line).ok()?;
    Some(TypedPrompt { session, directory: project, time: timestamp, text: display })
}

/// Returns the directory name that Claude Code gives to a project: each UTF-16 unit of its real path that is not an ASCII
/// letter or digit becomes a dash; a name of more than 200 units is truncated and followed by a base-36 hash of the path.
pub fn slug(path: &str) -> String {
    let name: String = path
        .encode_utf16()
        .map(|unit| match u8::try_from(unit) {
            Ok(byte) if byte.is_ascii_alphanumeric() => byte as char,
            _ => '-',
        })
        .collect();
    if name.len() <= SLUG_UNITS {
        return name;
    }
    // Java's string hash, as the client computes it.
    let hash = path.encode_utf16().fold(0i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)));
    format!("{}-{}", &name[..SLUG_UNITS], base36(hash.unsigned_abs()))
}

fn base36(mut value: u32) -> String {
    let mut digits = Vec::new();
    loop {
        digits.push(char::from_digit(value % 36, 36).unwrap_or('0'));
        value /= 36;
        if value == 0 {
            return digits.into_iter().rev().collect();
        }
    }
}

/// Parses a path below `projects/`: `<slug>/<id>.jsonl`, `<slug>/agent-<id>.jsonl` (up to 2.1.1),
/// `<slug>/<session>/subagents/**/agent-<id>.jsonl` (from 2.1.2); each also with `.zst`.
pub(super) fn locate(path: &Path) -> Option<Location> {
    // Parsed as bytes and from the end, for speed: a listing parses thousands of paths, and most need only the last names.
    let mut names = path.as_os_str().as_encoded_bytes().rsplit(|byte| is_separator(char::from(*byte)));
    let name = names.next()?;
    // Kept copies of aperture are compressed.
    let id = std::str::from_utf8(name.strip_suffix(b".zst").unwrap_or(name).strip_suffix(b".jsonl")?).ok()?.to_owned();
    if id.is_empty() || id == "journal" || id == "resume-head" {
        return None;
    }
    let mut names = names.filter(|name| !name.is_empty()).map_while(|name| std::str::from_utf8(name).ok());
    let directory = names.next()?;
    // Only names below `projects` count: a directory above it can have any name.
    let mut above = std::iter::once(directory).chain(names).take_while(|name| *name != "projects");
    let (project, parent) = match above.find(|name| *name == "subagents") {
        Some(_) => {
            let parent = above.next()?;
            (above.next()?, Some(parent.to_owned()))
        }
        None => (directory, None),
    };
    let subagent = parent.is_some() || is_subagent_id(&id);
    Some(Location { id, project: project.to_owned(), parent, subagent })
}

/// Returns the directories with the files before edits and the lists of tasks of a session, each named by its id.
pub(super) fn copies_directories(path: &Path) -> Vec<PathBuf> {
    let projects = path.ancestors().nth(2).filter(|above| above.file_name().is_some_and(|name| name == "projects"));
    let home = projects.and_then(Path::parent).zip(locate(path).filter(|location| !location.subagent));
    let of =
        |(home, location): (&Path, Location)| ["file-history", "tasks"].map(|name| home.join(name).join(&location.id)).into();
    home.map(of).unwrap_or_default()
}

/// Parses the content of `sessions/<pid>.json`.
pub(super) fn registered(content: &[u8]) -> Option<OpenSession> {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Entry {
        pid: u32,
        session_id: String,
    }
    let entry: Entry = serde_json::from_slice(content).ok()?;
    Some(OpenSession { process: entry.pid, session: entry.session_id })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_has_a_directory_of_its_own() {
        assert_eq!(slug("/home/dev/my_shop v1.2"), "-home-dev-my-shop-v1-2");
        assert_eq!(slug("/é/😀"), "-----");
        let name = slug(&format!("/{}", "a".repeat(300)));
        assert_eq!(&name[..201], format!("-{}-", "a".repeat(199)));
        assert!(name.len() > 202);
    }

    #[test]
    fn paths_of_every_layout_are_located() {
        let check = |path: &str, id: &str, project: &str, parent: Option<&str>, subagent: bool| {
            let location = locate(Path::new(path)).unwrap();
            assert_eq!(location.id, id);
            assert_eq!(location.project, project);
            assert_eq!(location.parent.as_deref(), parent);
            assert_eq!(location.subagent, subagent);
        };
        check("/h/.claude/projects/-p/1.jsonl", "1", "-p", None, false);
        check("/k/projects/-p/1.jsonl.zst", "1", "-p", None, false);
        check("/h/.claude/projects/-p/agent-0a.jsonl", "agent-0a", "-p", None, true);
        check("/h/.claude/projects/-p/1/subagents/agent-0a.jsonl", "agent-0a", "-p", Some("1"), true);
        check("/h/.claude/projects/-p/1/subagents/workflows/wf_1/agent-0a.jsonl", "agent-0a", "-p", Some("1"), true);
        check("/h/a/subagents/.claude/projects/-p/1.jsonl", "1", "-p", None, false);
        assert_eq!(locate(Path::new("/h/.claude/projects/-p/1/tool-results/b.txt")), None);
        assert_eq!(locate(Path::new("/h/.claude/projects/-p/.jsonl")), None);
        assert_eq!(locate(Path::new("/h/.claude/projects/-p/1/subagents/workflows/wf_1/journal.jsonl")), None);
    }

    #[test]
    fn the_registry_names_process_and_session() {
        let open = registered(br#"{"pid":12,"sessionId":"s","status":"idle"}"#).unwrap();
        assert_eq!((open.process, open.session.as_str()), (12, "s"));
        assert_eq!(registered(b"{"), None);
    }
}
