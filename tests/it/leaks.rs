//! No credential and no terminal sequence leaves the program: every kind is planted in every place, and searched in the output of
//! every command.

use crate::rows::Rows;
use crate::sandbox::{Sandbox, all_or, files_below, sample};
use aperture::engine::secret_examples;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::Stdio;

/// Sequences that a terminal executes: a title, a colour, the 8-bit form of an escape, a clipboard, text that runs the other way.
const HOSTILE: &str = "\u{1b}]0;owned\u{7}\u{1b}[8m\u{9b}2J\u{1b}]52;c;eA==\u{1b}\\\u{202e}\u{2066}\u{200f}\r\u{7f}";

/// Something planted: how a text names it, and the value that must not leave.
struct Plant {
    kind: &'static str,
    named: String,
    value: String,
}

/// One credential of each kind and shape, each with its own value.
fn plants() -> Vec<Plant> {
    let examples = secret_examples();
    assert!(examples.len() > 60);
    examples.into_iter().map(|(kind, named, value)| Plant { kind, named, value }).collect()
}

/// A few credentials of each kind, for tests of many commands: how each one is found is the subject of other tests.
fn few_plants() -> Vec<Plant> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut plants = plants();
    plants.retain(|plant| {
        let count = counts.entry(plant.kind).or_default();
        *count += 1;
        *count <= all_or(3, 1)
    });
    sample(plants, 3).collect()
}

/// A session in which each credential is planted in a turn of its own: named in one place, and alone in all others.
fn planted(plants: &[Plant]) -> String {
    let mut rows = Rows::new("S", "/home/dev/shop");
    for (turn, Plant { named, value, .. }) in plants.iter().enumerate() {
        let (prompt, input, result, said, attached) = match turn % 5 {
            0 => (named, value, value, value, value),
            1 => (value, named, value, value, value),
            2 => (value, value, named, value, value),
            3 => (value, value, value, named, value),
            _ => (value, value, value, value, named),
        };
        rows.user(json!(format!("{prompt} is what the deploy {turn} needs{HOSTILE}")));
        let (call, read) = (format!("toolu_{turn}"), format!("toolu_r{turn}"));
        let usage = json!({"input_tokens": 12, "cache_read_input_tokens": 9000 + turn, "output_tokens": 7});
        rows.model("claude-opus-4-5-20251101", &format!("m{turn}"), json!([
                {"type": "text", "text": format!("I decided to use {said} in deploy {turn}{HOSTILE}.")},
                {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": format!("deploy --now {input}{HOSTILE}"), "description": value}},
                {"type": "tool_use", "id": read, "name": "Read", "input": {"file_path": format!("/home/dev/shop/{value}{HOSTILE}/a.rs")}},
            ]), usage.clone());
        rows.add("user", json!({"message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": call, "is_error": turn % 2 == 0, "content": format!("Error: {result} failed\n{value}\nline {turn} {HOSTILE}\n{}", "ok then\n".repeat(20))},
            {"type": "tool_result", "tool_use_id": read, "content": [{"type": "text", "text": format!("1\tlet key = {value};\n2\tdone")}]},
        ]}, "toolUseResult": {"stdout": value}}));
        rows.add(
            "attachment",
            json!({"attachment": {"type": "note", "text": value}, "renderedRole": "user",
            "rendered": [{"content": format!("<system-reminder>\n{attached} {HOSTILE}\n</system-reminder>")}]}),
        );
        rows.model(
            "claude-opus-4-5-20251101",
            &format!("n{turn}"),
            json!([{"type": "text", "text": format!("{value} works; next is {value}.{HOSTILE}\n@archive({value})\n")}]),
            usage.clone(),
        );
    }
    let value = &plants[0].value;
    let mut text = rows.text();
    text.push_str(&format!("{}\n", json!({"type": "ai-title", "aiTitle": format!("deploy {value}{HOSTILE}"), "sessionId": "S"})));
    text
}

/// Asserts that the output contains no planted value.
#[track_caller]
fn clean(plants: &[Plant], what: &str, text: &str) {
    for Plant { kind, value, .. } in plants {
        let (start, end) = (value.floor_char_boundary(12), value.ceil_char_boundary(value.len().saturating_sub(12)));
        for piece in [&value[..start], &value[end..]] {
            if let Some(at) = text.find(piece) {
                let around =
                    &text[text.floor_char_boundary(at.saturating_sub(200))..text.ceil_char_boundary((at + 100).min(text.len()))];
                panic!("{what} shows '{piece}' of a {kind}: …{around}…");
            }
        }
    }
    // Colours are the only sequences that reports write.
    let plain = ["0", "1", "2", "4", "31", "32", "33", "36"]
        .iter()
        .fold(text.to_owned(), |text, code| text.replace(&format!("\u{1b}[{code}m"), ""));
    let harmful = |c: char| c.is_control() && !matches!(c, '\n' | '\t') || "\u{202e}\u{2066}\u{200f}".contains(c);
    if let Some(at) = plain.find(harmful) {
        panic!(
            "{what} steers the terminal: {:?}",
            &plain[plain.floor_char_boundary(at.saturating_sub(80))..plain.ceil_char_boundary((at + 20).min(plain.len()))]
        );
    }
}

/// Returns the command lines for a command: those with the most output, or, for a new command, its name with the required
/// arguments.
fn lines(command: &clap::Command) -> Vec<Vec<String>> {
    let name = command.get_name();
    let given: &[&str] = match name {
        "manifest" => &["", "--tier full", "--tier detailed", "--since original"],
        "blocks" => &["all", "all --tree", "all --sort tokens"],
        "show" => &["all"],
        "summary" => &["", "--turns 1..", "--turn 1 --full", "--turn 3 --full", "--format markdown"],
        "explain" => &["1", "3", "4", "5", "6", "9", "12", "13", "20", "21"],
        "transcript" => &["", "--client-texts", "--headers --client-texts"],
        "recall" => &["deploy", "failed", "decided", "1..40"],
        "sessions" => &["", "--empty"],
        "usage" => &["", "--by session", "--by model", "--by project"],
        "compress" => &[
            "--stale -n",
            "all --level trimmed -n",
            "all --level summarized -n",
            "all --level minimal -n",
            "all --level minimal -n --stat",
            "all --level minimal -n --full",
            "--preset handoff -n",
            "5..60 --level summarized",
            "--budget 9000 -n",
        ],
        "archive" => &["5 -n", "5 -n --full", "5"],
        "expand" => &["5 -n", "5"],
        "pin" | "unpin" | "focus" | "unfocus" => &["2"],
        "update" => &["12 other -n", "12 other"],
        "create" => &["note -n", "note"],
        "housekeeping" => &["{\"response_header\":\"note\"}"],
        "redact" => &["1 -n", "--whole-file -n"],
        "compact" => &["2..3 -n", "2..20 -n", "2..3"],
        "blame" => &["a.rs", "a.rs:1"],
        "diff" => &["", "--from original", "--from original --full", "--stat"],
        "snapshot" => &["list", "save here", "diff here"],
        "stage" => &["text", "", "--clear"],
        "restore" => &["original -n"],
        "approve" => &["--pending"],
        "deny" => &["--pending"],
        "verify" | "check" | "log" | "undo" | "redo" => &["", "--no-secrets"],
        "obey" => &["", "--tell"],
        "export" => &[
            "-o out.aperture --force",
            "--format markdown -o out.md --force",
            "--format html -o out.html --force",
            "--format atif -o out.atif --force",
            "--format otlp-json -o out.json --force",
        ],
        "convert" => &["--to codex -n", "--to claude-code"],
        "config" => &["list", "get preset"],
        "report" => &["--html out.html --force", "--project --html usage.html --force"],
        "import" => &["out.aperture -n", "out.aperture"],
        "install" => &["claude-code --dry-run", "cursor --dry-run", "codex", "claude-code", "git-hook --dry-run"],
        "uninstall" => &["claude-code --dry-run", "codex", "claude-code"],
        "completions" => &["bash"],
        "help" => &["", "settings"],
        // Commands that read standard input or do not end are tested below.
        "mcp" | "hook" | "statusline" | "watch" | "tui" | "git-hook" | "job" | "proxy" | "run" | "serve" => &[],
        "sidecar" => &["", "queue", "clear --answers"],
        _ => {
            let needed = command.get_positionals().filter(|argument| argument.is_required_set()).map(|_| "1".to_owned());
            return vec![needed.collect()];
        }
    };
    given.iter().map(|line| line.split_whitespace().map(str::to_owned).collect()).collect()
}

fn home(plants: &[Plant]) -> (Sandbox, PathBuf) {
    let sandbox = Sandbox::new();
    sandbox.write("aperture.toml", "[hooks]\nreduce_results = true\nreduce_over_tokens = 100\n");
    let path = sandbox.session("abc1", planted(plants), 0);
    (sandbox, path)
}

#[test]
fn nothing_that_is_planted_leaves_by_any_command() {
    let plants = few_plants();
    let (sandbox, path) = home(&plants);
    // The planted credentials are present, and raw output shows them: the test can fail.
    let raw = sandbox.command(&["show", "all", "--raw"]).output().unwrap();
    let raw = String::from_utf8(raw.stdout).unwrap();
    assert!(plants.iter().all(|plant| raw.contains(&plant.value)) && raw.contains(HOSTILE));
    let raw = sandbox.command(&["transcript", "--raw", "--client-texts"]).output().unwrap();
    assert!(String::from_utf8(raw.stdout).unwrap().contains(&plants[1].value));
    let commands: Vec<clap::Command> = aperture::commands::definition().get_subcommands().cloned().collect();
    assert!(commands.len() > 40);
    for (place, command) in commands.iter().enumerate() {
        for line in sample(lines(command), 4) {
            let modes = [&["--color", "always"][..], &["--json"]];
            for mode in sample(modes.into_iter().skip(all_or(0, place % 2)), 2) {
                let mut words = vec![command.get_name()];
                words.extend(line.iter().map(String::as_str));
                words.extend(mode);
                // Changes are made only once.
                if mode == ["--json"]
                    && !line.is_empty()
                    && ["archive", "update", "create", "compact", "compress"].contains(&words[0])
                    && !line.contains(&"-n".to_owned())
                {
                    continue;
                }
                let outcome = sandbox.run(&words);
                assert_ne!(outcome.code, 70, "{words:?}: {}", outcome.stderr);
                clean(&plants, &format!("{words:?}"), &outcome.stdout);
                clean(&plants, &format!("stderr of {words:?}"), &outcome.stderr);
                if mode == ["--json"] && outcome.code == 0 && outcome.stdout.starts_with('{') {
                    serde_json::from_str::<Value>(&outcome.stdout).unwrap_or_else(|error| panic!("{words:?}: {error}"));
                }
            }
        }
    }
    // User input is quoted in errors, and stored in the log.
    let typed: String = plants.iter().map(|plant| format!("{} ", plant.named)).collect();
    for words in [&["show", &typed][..], &["--nonsense", &typed], &["snapshot", "save", &typed], &["create", &typed], &[&typed]] {
        let outcome = sandbox.run(words);
        clean(&plants, &format!("{:?} with credentials", words[0]), &(outcome.stdout + &outcome.stderr));
    }
    clean(&plants, "log", &sandbox.run(&["log"]).all());
    // An export is as private as the session, and its help says so.
    assert!(sandbox.text(&["help", "export"]).contains("secrets included"));
    drop(path);
}

/// The text that named a value is moved to the store; only the value remains in the file.
#[test]
fn values_named_by_a_shortened_block_stay_masked() {
    let plants: Vec<Plant> = sample(plants(), 4).collect();
    let (sandbox, path) = home(&plants);
    let file = || fs::read_to_string(&path).unwrap();
    let named = || plants.iter().filter(|plant| plant.named != plant.value);
    let left = |text: &str| named().filter(|plant| text.contains(&plant.named)).count();
    let before = left(&file());
    // Not whole turns, which would be folded: their rows stay in the file.
    sandbox.text(&["archive", "kind(tool_use), kind(tool_result), kind(thinking), role(assistant)"]);
    assert!(left(&file()) + all_or(20, 1) <= before, "{} of {before} are still named", left(&file()));
    let lines = [
        "show all", "transcript --client-texts", "blocks", "manifest --tier full", "summary", "recall deploy", "diff --full",
        "log",
    ];
    for line in sample(lines, 2) {
        for mode in [&[][..], &["--json"]] {
            let words: Vec<&str> = line.split(' ').chain(mode.iter().copied()).collect();
            clean(&plants, &format!("{words:?} behind an archive"), &sandbox.run(&words).all());
        }
    }
}

#[test]
fn nothing_that_is_planted_leaves_by_hooks_and_watching() {
    let plants = all_or(plants as fn() -> _, few_plants)();
    let (sandbox, path) = home(&plants);
    sandbox.run(&["pin", "1..30"]);
    sandbox.run(&["archive", "35"]);
    let payload = |event: &str| {
        let results: String = plants.iter().map(|plant| format!("{} and\n{}\n{HOSTILE}\n", plant.named, plant.value)).collect();
        json!({
            "session_id": "abc1", "transcript_path": path, "cwd": sandbox.project, "hook_event_name": event, "source": "compact",
            "prompt": plants[0].named, "tool_name": "Bash", "tool_use_id": "toolu_9", "tool_response": {"stdout": results, "stderr": ""},
            "model": {"display_name": HOSTILE}, "workspace": {"project_dir": sandbox.project},
        })
        .to_string()
    };
    let mut answered = 0;
    for event in ["SessionStart", "UserPromptSubmit", "PreCompact", "PostToolUse", "Stop", "SessionEnd"] {
        let outcome = sandbox.given(&["hook", event], &payload(event));
        answered += usize::from(!outcome.stdout.is_empty());
        clean(&plants, event, &(outcome.stdout + &outcome.stderr));
    }
    assert!(answered >= 3, "{answered}");
    let status = sandbox.given(&["statusline"], &payload("statusline"));
    clean(&plants, "statusline", &(status.stdout + &status.stderr));
    let sets = "[pipeline]\nheaders = true\ncondense = true\nbudget = true\n";
    sandbox.write("aperture.toml", sets);
    let moment = json!({"idle_milliseconds": 9_999_999, "in_turn": false});
    let recalled = plants.iter().map(|plant| format!("@recall(\"{}\")\n", plant.named)).collect::<String>();
    for job in [json!({"Look": ["abc1", moment]}), json!({"Answer": ["abc1", "1", recalled]}), json!({"Obey": [plants[0].named]})]
    {
        let done = sandbox.given(&["job"], &job.to_string());
        assert_eq!(done.code, if job.get("Obey").is_some() { 2 } else { 0 }, "{}", done.stderr);
        assert!(done.code != 0 || done.stdout.starts_with("{\"Ok\":"), "{}", done.stdout);
        clean(&plants, "job", &(done.stdout + &done.stderr));
    }
    let results = files_below(&sandbox.home.join(".aperture/results"));
    assert!(!results.is_empty());
    for file in results {
        let text = fs::read_to_string(file).unwrap();
        for plant in &plants {
            assert!(!text.contains(&plant.value), "a kept result holds a {}", plant.kind);
        }
    }
    for mode in ["--lines", "--json"] {
        let mut child = sandbox.command(&["watch", mode]).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut told = lines.next().unwrap().unwrap() + "\n";
        let row = json!({"type": "user", "uuid": "fff", "parentUuid": null, "sessionId": "S", "version": "2.1.330",
            "message": {"role": "user", "content": format!("{} and {HOSTILE}", plants[2].value)}});
        let mut file = fs::File::options().append(true).open(&path).unwrap();
        writeln!(file, "{row}").unwrap();
        told.push_str(&lines.next().unwrap().unwrap());
        child.kill().unwrap();
        child.wait().unwrap();
        clean(&plants, "watch", &told);
    }
}

#[test]
fn nothing_that_is_planted_leaves_by_tools_for_a_model() {
    let plants = few_plants();
    let (sandbox, _) = home(&plants);
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}});
    let start = format!(
        "{}\n{}\n{}\n",
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})
    );
    let listed = sandbox.given(&["mcp"], &start);
    let list: Value = serde_json::from_str(listed.stdout.lines().find(|line| line.contains("\"tools\":[")).unwrap()).unwrap();
    let tools = list["result"]["tools"].as_array().unwrap();
    assert!(tools.len() > 10);
    let mut calls = start;
    for (number, tool) in tools.iter().enumerate() {
        let schema = &tool["inputSchema"];
        let has = |name: &str| !schema["properties"][name].is_null();
        let mut arguments = json!({"max_tokens": 50_000});
        for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            arguments[name] = json!(if name == "selector" { "all" } else { "deploy" });
        }
        if tool["name"] == "explain" {
            arguments["selector"] = json!("4");
        }
        for (place, json) in [false, true].into_iter().enumerate() {
            if has("json") {
                arguments["json"] = json!(json);
            }
            calls.push_str(&format!("{}\n", json!({"jsonrpc": "2.0", "id": 10 + number * 2 + place, "method": "tools/call", "params": {"name": tool["name"], "arguments": arguments}})));
        }
    }
    for (number, address) in
        ["aperture://manifest", "aperture://block/1", "aperture://block/4", &plants[0].named].iter().enumerate()
    {
        calls.push_str(&format!(
            "{}\n",
            json!({"jsonrpc": "2.0", "id": 900 + number, "method": "resources/read", "params": {"uri": address}})
        ));
    }
    calls.push_str(&format!(
        "{}\n",
        json!({"jsonrpc": "2.0", "id": 990, "method": "tools/call", "params": {"name": plants[0].named, "arguments": {}}})
    ));
    let answers = sandbox.given(&["mcp"], &calls);
    assert!(answers.stdout.lines().count() > tools.len(), "{}", answers.stderr);
    for line in answers.stdout.lines() {
        let answer: Value = serde_json::from_str(line).unwrap();
        clean(&plants, &format!("answer {}", answer["id"]), line);
        let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_default();
        clean(&plants, &format!("text of answer {}", answer["id"]), text);
    }
}
