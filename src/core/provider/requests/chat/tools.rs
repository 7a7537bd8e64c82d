//! Tool calls of agents that have no format of their own: the verb and the target of a call, by the usual names of tools and of their
//! inputs.

use crate::model::{Tool, ToolVerb};
use crate::provider::codex::tool as codex;
use crate::provider::command::{one_line, printed_file, scope, unmarked};
use crate::provider::tool_input::{Call, Input};
use crate::provider::{files, json};
use crate::text::lists::word_lists;
use std::borrow::Cow;

/// The usual names of tools, in lower case and without separators.
const VERBS: &[(ToolVerb, &[&str])] = &[
    (ToolVerb::Read, &["read", "readfile", "readmanyfiles", "view", "viewfile", "openfile", "cat", "getfile"]),
    (
        ToolVerb::Edit,
        &[
            "edit", "editfile", "multiedit", "write", "writefile", "writetofile", "createfile", "replace", "replaceinfile",
            "strreplace", "searchreplace", "insert", "patch", "applydiff",
        ],
    ),
    (ToolVerb::Run, &["bash", "runshellcommand", "runcommand", "executecommand", "runterminalcmd", "terminal", "execute", "run"]),
    (
        ToolVerb::Search,
        &[
            "grep", "grepsearch", "glob", "list", "ls", "listdir", "listdirectory", "listfiles", "find", "findfiles", "search",
            "searchfiles", "searchfilecontent", "codebasesearch", "filesearch", "websearch",
        ],
    ),
    (ToolVerb::Plan, &["todowrite", "todoread", "todo", "updateplan", "plan"]),
];
word_lists! { "tools.txt": CODEX, FILES, COMMANDS, DIRECTORIES, TARGETS, PARTS, pub(super) WRITTEN }

pub(in crate::provider) fn of_object(name: &str, input: &str) -> Call {
    if CODEX.contains(&name) {
        return codex::of_object(name, input);
    }
    let input = Input::new(serde_json::from_str(input).ok(), json::shown);
    let any = |names: &[&str]| input.any(names).map(unmarked);
    let directory = any(&DIRECTORIES).unwrap_or_default();
    let mut verb = verb(name);
    let names = match verb {
        ToolVerb::Read | ToolVerb::Edit => &FILES,
        ToolVerb::Run => &COMMANDS,
        _ => &TARGETS,
    };
    let target = any(names).or_else(|| any(&TARGETS)).or_else(|| input.first().map(unmarked)).unwrap_or_default();
    let (mut shown, mut means, mut is_whole) = (Cow::Borrowed(target), scope(&[input.whole]), false);
    let mut lines = String::new();
    match verb {
        ToolVerb::Read => {
            let parts: Vec<&str> = PARTS.iter().map(|name| input.get(name).unwrap_or_default()).collect();
            (means, is_whole) = (scope(&parts), parts.iter().all(|part| part.is_empty()));
        }
        ToolVerb::Run => {
            means = scope(&[target.trim(), directory]);
            if let Some(printed) = printed_file(target, directory) {
                (verb, is_whole) = (ToolVerb::Read, printed.whole);
                means = scope(&[&printed.selection]);
                lines = printed.lines;
                shown = Cow::Owned(files::join(directory, &printed.path));
            }
        }
        ToolVerb::Plan | ToolVerb::Edit => means = 0,
        ToolVerb::Search | ToolVerb::Other => {}
    }
    let files = match verb {
        ToolVerb::Plan => Vec::new(),
        _ if any(&COMMANDS).is_some() => files::of_command(any(&COMMANDS).unwrap_or_default(), directory),
        ToolVerb::Read | ToolVerb::Edit if !target.is_empty() => vec![target.to_owned()],
        _ => input.files(),
    };
    let (scope, whole, lines, parameters) = (means, is_whole, lines.into(), input.parameters());
    let tool = Tool { scope, whole, lines, parameters, ..Tool::new(name, verb, &one_line(&shown)) };
    Call {
        tool,
        files: files.iter().map(String::as_str).collect(),
        readable: Some(input.lines(|_| true)),
        refers: input.lines(|name| verb != ToolVerb::Edit || !WRITTEN.contains(&name)),
    }
}

fn verb(name: &str) -> ToolVerb {
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    VERBS.iter().find(|(_, names)| names.contains(&&*plain)).map_or(ToolVerb::Other, |(verb, _)| *verb)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, input: &str, verb: ToolVerb, target: &str) -> Call {
        let call = of_object(name, input);
        assert_eq!((call.tool.verb, &*call.tool.target), (verb, target), "{name} {input}");
        call
    }

    #[test]
    fn usual_tools_have_a_verb_and_a_target() {
        let whole = check("read", r#"{"filePath":"/w/a.rs"}"#, ToolVerb::Read, "/w/a.rs");
        let part = check("read_file", r#"{"absolute_path":"/w/a.rs","offset":3}"#, ToolVerb::Read, "/w/a.rs");
        assert!(whole.tool.whole && !part.tool.whole && whole.tool.scope != part.tool.scope);
        let edit = check("edit", r#"{"filePath":"/a","oldString":"old","newString":"fresh"}"#, ToolVerb::Edit, "/a");
        assert_eq!(edit.refers, "filePath: /a\noldString: old\n");
        check("run_shell_command", r#"{"command":"make test","is_background":false}"#, ToolVerb::Run, "make test");
        check("bash", r#"{"command":"cat a.txt","workdir":"/w"}"#, ToolVerb::Read, "/w/a.txt");
        check("Grep", r#"{"pattern":"total","path":"src"}"#, ToolVerb::Search, "total");
        check("todowrite", r#"{"todos":[]}"#, ToolVerb::Plan, "[]");
        check("shell", r#"{"command":["bash","-lc","make"]}"#, ToolVerb::Run, "make");
        check("get_weather", r#"{"city":"Paris"}"#, ToolVerb::Other, "Paris");
        check("x", "no object", ToolVerb::Other, "");
    }
}
