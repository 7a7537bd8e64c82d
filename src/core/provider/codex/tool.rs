//! Tool calls: determines the verb and the target of a tool call from its input.

use crate::model::{Tool, ToolVerb, patch_in_text};
use crate::provider::command::{one_line, printed_file, scope, unmarked};
use crate::provider::tool_input::{Call, Input};
use crate::provider::{files, json};
use crate::text::shell::joined_lines;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Input members that can name the target of a tool, in order of preference.
const TARGET_KEYS: &[&str] = &[
    "cmd", "command", "path", "pattern", "query", "q", "url", "chars", "session_id", "target", "targets", "explanation", "title",
    "message", "prompt", "input", "name",
];
const SHELLS: &[&str] = &["bash", "zsh", "sh", "/bin/bash", "/bin/zsh", "/bin/sh", "powershell", "pwsh"];
/// Functions that a script calls to run a command, and to get the next output of a running command.
const EXEC: &str = "tools.exec_command";
const GO_ON: &str = "tools.write_stdin";
pub(super) const PATCH: &str = "*** Begin Patch";

pub(in crate::provider) fn of_object(name: &str, input: &str) -> Call {
    let input = Input::new(serde_json::from_str(input).ok(), words);
    let target = input.any(TARGET_KEYS).or_else(|| input.first()).unwrap_or_default();
    let directory = input.get("workdir").or_else(|| input.get("working_directory")).unwrap_or_default();
    let mut tool = match name {
        "exec_command" | "shell" | "shell_command" | "local_shell" | "container.exec" => {
            command(name, unmarked(target), directory)
        }
        "apply_patch" => patch(name, target),
        "view_image" | "read_file" => Tool { whole: name == "view_image", ..tool(name, ToolVerb::Read, target, input.whole) },
        "update_plan" => tool(name, ToolVerb::Plan, target, ""),
        "web_search" | "tool_search" | "grep_files" | "list_dir" => tool(name, ToolVerb::Search, target, input.whole),
        _ => tool(name, ToolVerb::Other, target, input.whole),
    };
    tool.parameters = input.parameters();
    let readable = input.lines(|_| true);
    let refers = if tool.verb == ToolVerb::Edit { without_added(&readable) } else { readable.clone() };
    let files = match tool.verb {
        ToolVerb::Edit => patched(target).map(|file| files::join(directory, file)).collect(),
        ToolVerb::Plan => Vec::new(),
        ToolVerb::Run | ToolVerb::Read if input.get("cmd").or_else(|| input.get("command")).is_some() => {
            files::of_command(unmarked(target), directory)
        }
        _ => input.files(),
    };
    Call { tool, files: files.iter().map(String::as_str).collect(), refers, readable: Some(readable) }
}

/// Parses a call whose input is a text: a patch, or a script that calls other tools.
pub(in crate::provider) fn of_text(name: &str, input: &str) -> Call {
    let text = unmarked(input);
    let mut files = commands(text);
    let sent = patch_in_text(text, &[PATCH]);
    let tool = if let Some(sent) = &sent {
        files = patched(sent).map(str::to_owned).collect();
        patch(name, sent)
    } else {
        match only_command(text) {
            Some((cmd, directory)) => command(name, &cmd, &directory),
            // A script that only polls a running program gets its next output: it does not repeat an earlier call.
            None if name == "exec" && (text.contains(EXEC) || !text.contains(GO_ON)) => tool(name, ToolVerb::Run, text, text),
            None => tool(name, ToolVerb::Other, text, text),
        }
    };
    let refers = sent.map_or_else(|| input.to_owned(), |sent| without_added(&sent));
    Call { tool, files: files.iter().map(String::as_str).collect(), readable: None, refers }
}

fn tool(name: &str, verb: ToolVerb, target: &str, means: &str) -> Tool {
    let scope = if means.is_empty() { 0 } else { scope(&[means]) };
    Tool { scope, whole: false, ..Tool::new(name, verb, &one_line(target)) }
}

/// Classifies a command: a read if it only prints a file, an edit if it applies a patch, else a run.
fn command(name: &str, command: &str, directory: &str) -> Tool {
    if command.contains(PATCH) {
        return patch(name, command);
    }
    let Some(printed) = printed_file(command, directory) else {
        return Tool { scope: scope(&[command.trim(), directory]), ..tool(name, ToolVerb::Run, &joined_lines(command), "") };
    };
    let path = files::join(directory, &printed.path);
    let scope = scope(&[&printed.selection]);
    Tool { scope, whole: printed.whole, lines: printed.lines.into(), ..tool(name, ToolVerb::Read, &path, "") }
}

/// Returns the edit of a patch; its target is the first changed file.
fn patch(name: &str, text: &str) -> Tool {
    tool(name, ToolVerb::Edit, patched(text).next().unwrap_or_default(), "")
}

fn patched(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| line.strip_prefix("*** ")?.split_once(" File: ")).map(|(_, file)| file.trim())
}

fn commands(script: &str) -> Vec<String> {
    let mut files = Vec::new();
    for call in script.split("tools.exec_command(").skip(1) {
        let directory = argument(call, "workdir").unwrap_or_default();
        files.extend(argument(call, "cmd").into_iter().flat_map(|cmd| files::of_command(&cmd, &directory)));
    }
    files
}

/// Returns the commands that a script runs, one after the other; `None` if it runs none.
pub(in crate::provider) fn scripted(script: &str) -> Option<String> {
    let commands: Vec<String> = script.split(EXEC).skip(1).filter_map(|call| argument(call, "cmd")).collect();
    (!commands.is_empty()).then(|| commands.join("\n"))
}

fn argument(call: &str, name: &str) -> Option<String> {
    let rest = call.split_once(&format!("{name}:")).or_else(|| call.split_once(&format!("\"{name}\":")))?.1;
    let rest = rest.trim_start();
    match rest.chars().next()? {
        mark @ ('\'' | '`') => Some(unescaped(&rest[1..], mark)),
        _ => serde_json::Deserializer::from_str(rest).into_iter::<String>().next()?.ok(),
    }
}

/// Returns a literal of a script up to its closing mark, without escapes.
fn unescaped(text: &str, mark: char) -> String {
    let mut found = String::new();
    let mut characters = text.chars();
    while let Some(character) = characters.next().filter(|character| *character != mark) {
        found.extend(match character {
            '\\' => match characters.next() {
                Some('n') => Some('\n'),
                Some('t') => Some('\t'),
                other => other,
            },
            _ => Some(character),
        });
    }
    found
}

/// Removes the added lines of a patch; the other lines refer to earlier content.
fn without_added(text: &str) -> String {
    text.lines().filter(|line| !line.starts_with('+')).flat_map(|line| [line, "\n"]).collect()
}

/// Returns the command that a script runs and its directory; `None` if the script calls anything else.
fn only_command(script: &str) -> Option<(String, String)> {
    let (before, call) = script.split_once("tools.exec_command(")?;
    if before.contains("tools.") || call.contains("tools.") {
        return None;
    }
    Some((argument(call, "cmd")?, argument(call, "workdir").unwrap_or_default()))
}

/// Returns a member in readable form; of a shell's argument list, the script.
fn words(value: &RawValue) -> Cow<'_, str> {
    if let Some(text) = json::text(value) {
        return text;
    }
    let Ok(list) = serde_json::from_str::<Vec<String>>(value.get()) else { return Cow::Borrowed(value.get()) };
    match &list[..] {
        [shell, option, script] if SHELLS.contains(&shell.as_str()) && option.starts_with('-') => Cow::Owned(script.clone()),
        _ => Cow::Owned(list.join(" ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_runs_commands() {
        for (script, expected) in [
            (r#"const r = await tools.exec_command({cmd:"make \"a b\" x", t: 1})"#, Some("make \"a b\" x")),
            (r#"tools.exec_command({cmd: 'ls \'a\''}); tools.exec_command({"cmd":`pwd`})"#, Some("ls 'a'\npwd")),
            ("make all", None),
        ] {
            assert_eq!(scripted(script).as_deref(), expected, "{script}");
        }
    }

    fn check(tool: &Tool, verb: ToolVerb, target: &str) {
        assert_eq!((tool.verb, &*tool.target), (verb, target), "{tool:?}");
    }

    #[test]
    fn commands_of_every_tool_are_read() {
        let object = |name, input: serde_json::Value| of_object(name, &input.to_string()).tool;
        let json = |text: &str| serde_json::from_str(text).unwrap();
        check(&object("exec_command", json(r#"{"cmd":"make test","workdir":"/w"}"#)), ToolVerb::Run, "make test");
        let read = object("exec_command", json(r#"{"cmd":"sed -n '1,20p' ./src/a.rs","workdir":"/w"}"#));
        check(&read, ToolVerb::Read, "/w/src/a.rs");
        assert!(!read.whole);
        let whole = object("shell", json(r#"{"command":["bash","-lc","cat src/a.rs"],"workdir":"/w/"}"#));
        check(&whole, ToolVerb::Read, "/w/src/a.rs");
        assert!(whole.whole);
        check(&object("shell_command", json(r#"{"command":"cd /x && nl -ba b"}"#)), ToolVerb::Read, "/x/b");
        check(&object("shell", json(r#"{"command":["git","status"]}"#)), ToolVerb::Run, "git status");
        check(&object("update_plan", json(r#"{"plan":[],"explanation":"why"}"#)), ToolVerb::Plan, "why");
        let heredoc = "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: b.rs\n+x\n*** End Patch\nEOF";
        let edit = of_object("shell", &serde_json::json!({"command": ["bash", "-lc", heredoc]}).to_string());
        check(&edit.tool, ToolVerb::Edit, "b.rs");
        check(&of_object("x", "no object").tool, ToolVerb::Other, "");
    }

    #[test]
    fn a_patch_refers_to_what_it_does_not_add() {
        let call = of_text("apply_patch", "*** Begin Patch\n*** Update File: src/a.rs\n@@\n-old\n+new\n*** End Patch\n");
        check(&call.tool, ToolVerb::Edit, "src/a.rs");
        assert_eq!(call.refers, "*** Begin Patch\n*** Update File: src/a.rs\n@@\n-old\n*** End Patch\n");
        let script =
            r#"const p = "*** Begin Patch\n*** Update File: src/a.rs\n+x\n*** End Patch"; text(await tools.apply_patch(p));"#;
        let call = of_text("exec", script);
        check(&call.tool, ToolVerb::Edit, "src/a.rs");
        assert_eq!(call.refers, "*** Begin Patch\n*** Update File: src/a.rs\n*** End Patch\n");
    }

    #[test]
    fn a_script_that_runs_one_command_is_that_command() {
        let script = r#"const r = await tools.exec_command({cmd:"cat a\u002ers","workdir":"/w"}); text(r.output)"#;
        check(&of_text("exec", script).tool, ToolVerb::Read, "/w/a.rs");
        let two = format!("{script}\nawait tools.write_stdin({{}})");
        assert_eq!(of_text("exec", &two).tool.verb, ToolVerb::Run);
        let poll = r#"const r = await tools.write_stdin({session_id:7,chars:""}); text(r.output)"#;
        assert_eq!(of_text("exec", poll).tool.verb, ToolVerb::Other);
        assert_eq!(of_text("other", "text").tool.verb, ToolVerb::Other);
    }

    #[test]
    fn reads_of_the_same_lines_mean_the_same() {
        let scope = |cmd: &str| command("shell", cmd, "/w").scope;
        assert_eq!(scope("sed -n '1,9p' a.rs"), scope("cd /w && sed -n '1,9p' ./a.rs"));
        assert_ne!(scope("sed -n '1,9p' a.rs"), scope("sed -n '1,8p' a.rs"));
    }
}
