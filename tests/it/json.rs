//! The JSON contract: `docs/json.md` is generated from the JSON types, and the output of the commands has its keys.

#[cfg(feature = "proxy")]
use crate::network;
use crate::rows::Rows;
use crate::sandbox::{Sandbox, all_or, skipped};
use crate::watch::Watching;
use crate::{fresh, obeying};
use aperture::commands::{Contract, contracts};
use serde_json::{Deserializer, Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Command;

const HEAD: &str = "# JSON

Generated from the reports that `src/commands/contracts.rs` lists. With `--json` a command prints one object, whose key `schema` names its form:
`aperture.` and a name, then the number of the version. The number goes up when a field is removed, renamed or gets another
type. `aperture watch --json` prints one object on each line.

- A number of tokens with its basis is an object [`Tokens`](#tokens). A limit, such as the size of a window, is an integer
  whose name ends in `_tokens`.
- A moment is an object [`Time`](#time), in the field `time` or in one whose name ends in `_time`.
- A whole number is written as an integer. `number` is a number that may have a fraction.
- `or null`: there is no value. Fields are never left out.
- Numbers of blocks, turns and operations begin at 1.
";

/// The definition that a reference leads to, and its name.
fn resolve<'a>(root: &'a Value, schema: &'a Value) -> (Option<&'a str>, &'a Value) {
    match schema["$ref"].as_str() {
        Some("#") => (None, root),
        Some(reference) => {
            let name = reference.rsplit('/').next().unwrap();
            (Some(name), &root["$defs"][name])
        }
        None => (None, schema),
    }
}

/// The schemas of which one applies, without that of null.
fn variants(schema: &Value) -> impl Iterator<Item = &Value> {
    let lists = ["anyOf", "oneOf"].into_iter().filter_map(|key| schema[key].as_array());
    lists.flatten().filter(|variant| variant["type"] != "null")
}

fn is_nullable(schema: &Value) -> bool {
    let null = json!("null");
    let types = schema["type"].as_array().is_some_and(|types| types.contains(&null));
    types || schema["anyOf"].as_array().is_some_and(|variants| variants.iter().any(|variant| variant["type"] == null))
}

/// The type of a field as the document names it.
fn type_name(schema: &Value) -> String {
    let plain = match &schema["type"] {
        Value::Array(types) => types.iter().filter_map(Value::as_str).find(|name| *name != "null").unwrap_or("any"),
        Value::String(name) => name,
        _ => "any",
    };
    let name = if let Some(reference) = schema["$ref"].as_str() {
        let name = reference.rsplit('/').next().unwrap();
        format!("[{name}](#{})", name.to_lowercase())
    } else if let Some(variant) = variants(schema).next() {
        type_name(variant)
    } else if plain == "array" {
        format!("list of {}", type_name(&schema["items"]))
    } else if plain == "object" && schema["additionalProperties"].is_object() {
        format!("object of {} by name", type_name(&schema["additionalProperties"]))
    } else {
        plain.to_owned()
    };
    if is_nullable(schema) { format!("{name} or null") } else { name }
}

/// The meanings of fields that have the same one in every type.
const SAME_EVERYWHERE: &[(&str, &str)] = &[
    ("conversation_id", "Session id."),
    ("level", "Level of reduction."),
    ("number", "Block number."),
    ("operation", "Operation in the log."),
    ("path", "File."),
    ("role", "Author."),
    ("session", "Session id."),
    ("state", "State in the lifecycle."),
    ("tokens", "Cost."),
    ("why", "Reason."),
];

/// The meaning of a field: its documentation; empty if its name or its type says it.
fn field_meaning(name: &str, field: &Value) -> String {
    let documented = meaning(field);
    let same = SAME_EVERYWHERE.iter().find(|(known, _)| *known == name && documented.is_empty() && !field["const"].is_string());
    same.map_or(documented, |(_, meaning)| (*meaning).to_owned())
}

fn meaning(schema: &Value) -> String {
    schema["description"].as_str().unwrap_or_default().replace('\n', " ").replace('|', "\\|")
}

/// The unit of a number, of which its name is a word.
fn unit_of<'n>(name: &'n str, field: &Value) -> &'n str {
    const UNITS: [&str; 10] =
        ["bytes", "tokens", "days", "turns", "steps", "milliseconds", "microseconds", "seconds", "percent", "columns"];
    if !["integer", "number"].iter().any(|number| type_name(field).starts_with(number)) {
        return "";
    }
    let unit = |word| match word {
        "dollars" => Some("US dollars"),
        "millionths" => Some("parts per million"),
        _ => UNITS.contains(&word).then_some(word),
    };
    name.split('_').rev().find_map(unit).unwrap_or_default()
}

/// The table of the fields of an object, or of the words of a string.
fn table(schema: &Value) -> String {
    let mut text = String::new();
    if let Some(fields) = schema["properties"].as_object() {
        text.push_str("\n| field | type | unit | meaning |\n| --- | --- | --- | --- |\n");
        for (name, field) in fields {
            let unit = field["unit"].as_str().unwrap_or_else(|| unit_of(name, field));
            let value = field["const"].as_str().map(|value| format!("`{value}`")).unwrap_or_else(|| type_name(field));
            text.push_str(&format!("| `{name}` | {value} | {unit} | {} |\n", field_meaning(name, field)));
        }
    }
    let words: Vec<&Value> = variants(schema).filter(|variant| variant["const"].is_string()).collect();
    if !words.is_empty() {
        text.push_str("\n| value | meaning |\n| --- | --- |\n");
        text.extend(words.iter().map(|word| format!("| `{}` | {} |\n", word["const"].as_str().unwrap(), meaning(word))));
    }
    for variant in variants(schema).filter(|variant| variant["properties"].is_object() || variant["$ref"].is_string()) {
        text.push_str(&format!("\n{}\n{}", meaning(variant), table(variant)));
        if variant["$ref"].is_string() {
            text.push_str(&format!("\nAnd the fields of {}.\n", type_name(variant)));
        }
    }
    text
}

/// The whole document.
fn document(contracts: &[Contract]) -> String {
    let mut text = HEAD.to_owned();
    let mut types: BTreeMap<String, Value> = BTreeMap::new();
    text.push_str("\n## Schemas\n");
    for contract in contracts {
        let schema = contract.schema.as_value();
        text.push_str(&format!("\n### {}\n\n{}\n{}", contract.name, meaning(schema), table(schema)));
        types.extend(schema["$defs"].as_object().cloned().unwrap_or_default());
    }
    text.push_str("\n## Types\n");
    for (name, schema) in &types {
        text.push_str(&format!("\n### {name}\n\n{}\n{}", meaning(schema), table(schema)));
    }
    text
}

#[test]
fn the_document_is_fresh() {
    fresh::check("docs", false, vec![("json.md".to_owned(), document(&contracts()).into_bytes())]);
}

/// Fields whose name says what they hold, beside numbers and lists with such a name and fields of a documented type.
const PLAIN: &[&str] = &[
    "block", "command", "commit", "description", "directory", "failed", "file", "height", "model", "name", "passed", "project",
    "reason", "text", "tool", "topic", "turn", "width",
];

/// Adds the fields without a sentence that need one: `type.field`.
fn unexplained(type_name: &str, schema: &Value, found: &mut BTreeSet<String>) {
    for (name, field) in schema["properties"].as_object().unwrap_or(&Map::new()) {
        let text = field.to_string();
        let is_plain = text.contains("$ref") || PLAIN.contains(&name.as_str()) || name.contains('_') || name.ends_with('s');
        if field_meaning(name, field).is_empty() && !field["const"].is_string() && !is_plain {
            found.insert(format!("{type_name}.{name}"));
        }
    }
    variants(schema).for_each(|variant| unexplained(type_name, variant, found));
}

#[test]
fn a_field_whose_name_does_not_say_it_has_a_meaning() {
    let mut found = BTreeSet::new();
    for contract in contracts() {
        let root = contract.schema.as_value();
        unexplained(contract.name, root, &mut found);
        for (name, schema) in root["$defs"].as_object().unwrap_or(&Map::new()) {
            unexplained(name, schema, &mut found);
        }
    }
    assert!(found.is_empty(), "these fields need a sentence: {found:?}");
}

#[test]
fn every_type_has_a_meaning_and_a_name_has_one_type() {
    let mut types: BTreeMap<String, Value> = BTreeMap::new();
    for contract in contracts() {
        let root = contract.schema.as_value();
        assert!(!meaning(root).is_empty(), "{}", contract.name);
        for (name, schema) in root["$defs"].as_object().unwrap_or(&Map::new()) {
            assert!(!meaning(schema).is_empty(), "{name}");
            assert_eq!(types.entry(name.clone()).or_insert_with(|| schema.clone()), schema, "two types are named {name}");
        }
    }
}

/// Adds the key paths that a schema documents. The key of a variant is documented once for each of its values.
fn documented(root: &Value, schema: &Value, path: &str, within: &mut Vec<String>, paths: &mut BTreeSet<String>) {
    // A variant has the fields of the type that it refers to, and its own.
    if schema["$ref"].is_string() && schema["properties"].is_object() {
        documented(root, &json!({"properties": schema["properties"]}), path, within, paths);
    }
    let (name, schema) = resolve(root, schema);
    if let Some(name) = name {
        // A type that holds itself has no more keys than it has once.
        if within.iter().any(|outer| outer == name) {
            return;
        }
        within.push(name.to_owned());
    }
    for (key, field) in schema["properties"].as_object().unwrap_or(&Map::new()) {
        let path = match field["const"].as_str() {
            Some(value) => format!("{path}.{key}={value}"),
            None => format!("{path}.{key}"),
        };
        documented(root, field, &path, within, paths);
        paths.insert(path);
    }
    if schema["items"].is_object() {
        documented(root, &schema["items"], &format!("{path}[]"), within, paths);
    }
    if schema["additionalProperties"].is_object() {
        documented(root, &schema["additionalProperties"], &format!("{path}.*"), within, paths);
    }
    for variant in variants(schema).chain(schema["allOf"].as_array().into_iter().flatten()) {
        documented(root, variant, path, within, paths);
    }
    if name.is_some() {
        within.pop();
    }
}

/// Adds the key paths of a value, as [`documented`] writes them. Keys that are names and not fields become `*`.
fn printed(value: &Value, path: &str, known: &BTreeSet<String>, paths: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            let by_name = known.iter().any(|known| known.starts_with(&format!("{path}.*.")));
            for (key, value) in fields {
                let field = format!("{path}.{}", if by_name { "*" } else { key });
                let variant = value.as_str().map(|value| format!("{field}={value}")).filter(|variant| known.contains(variant));
                if !by_name {
                    paths.insert(variant.unwrap_or_else(|| field.clone()));
                }
                // Below a field of any type the keys are those of another program.
                if !OPEN.iter().any(|(_, open)| *open == field) {
                    printed(value, &field, known, paths);
                }
            }
        }
        Value::Array(values) => values.iter().for_each(|value| printed(value, &format!("{path}[]"), known, paths)),
        Value::Number(number) => assert!(!number.to_string().ends_with(".0"), "{path} is {number}"),
        _ => {}
    }
}

/// Fields whose content has the form of another program, by schema.
const OPEN: &[(&str, &str)] = &[("aperture.hook/1", ".output")];

/// The documented key paths by schema, and those that commands printed.
struct Coverage {
    documented: BTreeMap<&'static str, BTreeSet<String>>,
    printed: BTreeMap<String, BTreeSet<String>>,
}

impl Coverage {
    fn new() -> Coverage {
        let paths = |contract: Contract| {
            let (root, mut paths) = (contract.schema.as_value(), BTreeSet::new());
            documented(root, root, "", &mut Vec::new(), &mut paths);
            (contract.name, paths)
        };
        Coverage { documented: contracts().into_iter().map(paths).collect(), printed: BTreeMap::new() }
    }

    /// Adds the JSON documents that a command printed; text that is not JSON is skipped.
    fn add(&mut self, text: &str) {
        for document in Deserializer::from_str(text).into_iter::<Value>().map_while(Result::ok) {
            let Value::Object(mut fields) = document else { continue };
            let Some(Value::String(schema)) = fields.remove("schema") else { continue };
            let known = self.documented.get(&*schema).unwrap_or_else(|| panic!("{schema} is not documented"));
            printed(&Value::Object(fields), "", known, self.printed.entry(schema).or_default());
        }
    }

    /// Runs command lines with `--json`. A session without such a block refuses the command.
    fn run(&mut self, sandbox: &Sandbox, lines: &[&str]) {
        for line in lines {
            let words: Vec<&str> = line.split(' ').chain(["--json"]).collect();
            let outcome = sandbox.run(&words);
            self.add(&outcome.stdout);
            if outcome.stdout.is_empty() {
                self.add(&outcome.stderr);
            }
        }
    }

    /// Returns a line for each difference between the documented and the printed keys.
    fn differences(&self) -> Vec<String> {
        let none = BTreeSet::new();
        let mut differences = Vec::new();
        for (schema, documented) in &self.documented {
            let printed = self.printed.get(*schema).unwrap_or(&none);
            differences.extend(documented.difference(printed).map(|path| format!("{schema} {path} is never printed")));
            differences.extend(printed.difference(documented).map(|path| format!("{schema} {path} is not documented")));
        }
        differences
    }
}

/// Command lines in an order in which each has something to print.
const LINES: &[&str] = &[
    "sessions",
    "sessions --topics",
    "usage",
    "status",
    "manifest",
    "blocks all",
    "show all",
    "transcript",
    "explain 4",
    "summary",
    "summary --turn 1 --full",
    "pack --budget 100k",
    "pack --budget 500 --query echo",
    "check --max-tokens 1",
    "preset list",
    "util accuracy",
    "util placeholders",
    "compress --preset aggressive --dry-run",
    "compress --stale --all --dry-run",
    "compress 4|16 --level minimal",
    "archive 19",
    "pin 16",
    "focus 19",
    "status",
    "manifest",
    "explain 4",
    "explain 23",
    "explain 31",
    "recall the",
    "recall --turns 1..",
    "show 99999",
    "recall echo --all",
    "search echo",
    "topics",
    "doctor",
    "convert --to codex",
    "export --format atif -o out.atif",
    "config set budget.tokens 120000",
    "config unset budget.tokens",
    "timeline",
    "report --html r.html",
    "search echo nosuchword",
    "search --literal echo",
    "diff",
    "snapshot save point",
    "snapshot list",
    "fork --dry-run",
    "stage remember",
    "sidecar",
    "undo",
    "redo",
    "log",
    "verify",
    "export -o kept.aperture",
    "export --all -o kept",
    "check --project --max-tokens 1",
    "import kept.aperture",
    "install claude-code --dry-run",
    "install codex --dry-run",
    "undo 1",
    "gc --older-than 0d",
    "keep --all",
    "keep --all --dry-run",
    "keep status",
    "keep list",
    "memory add first --file gotchas",
    "memory edit 1 second",
    "memory list",
    "memory search second",
    "memory log",
    "memory diff",
    "memory stats",
    "memory export",
    "memory why 1",
    "memory undo",
    "store",
    "store encrypt --key-file ../key --dry-run",
    "store encrypt --key-file ../key",
    "store status",
    "store decrypt",
];

/// Reads and changes the sessions of fixtures.
fn fixtures(coverage: &mut Coverage) {
    for fixture in ["tools-and-spill", "older-model", "interactive-compact", "codex-tools", "codex-compaction"] {
        coverage.run(&Sandbox::of(fixture), LINES);
    }
}

/// Executes commands of the model, some of them with approval; then turns pass until a block goes stale with the next one.
fn model_commands(coverage: &mut Coverage) {
    let sandbox = obeying::sandbox();
    sandbox.write("aperture.toml", "[model]\ncompress = 'approve'\n");
    obeying::say(&sandbox, "@archive(16..19, reason: read) @compress(24..26, minimal) @pin(20)");
    coverage.run(&sandbox, &["obey --dry-run", "obey", "inbox", "log", "approve 1 --dry-run", "obey --tell"]);
    for _ in 0..8 {
        obeying::say(&sandbox, "done");
        coverage.run(&sandbox, &["manifest"]);
    }
    let words = json!({"response_header": "done", "context_summary": "read", "key_decisions": ["keep"], "code_changes": ["a.rs"],
        "user": {"query_header": "job", "understood_intent": "do", "context_used": ["all"]}});
    coverage.run(&sandbox, &[&format!("housekeeping {words}"), "summary --turns 1.."]);
}

/// Decides about memories, and quotes the session of one.
fn memories(coverage: &mut Coverage) {
    let sandbox = crate::memory::learned();
    fs::write(sandbox.project.join(".aperture/memory/forgotten.md"), [0xff]).unwrap();
    sandbox.write(".aperture/memory/operational/gotchas.md", crate::memory::REFUTED);
    coverage.run(
        &sandbox,
        &["memory", "memory list --retired", "memory why 4", "memory review", "memory review --accept 5", "memory log"],
    );
    let more = ["memory compose --budget 300", "memory search pnpm", "memory learn --all --dry-run", "util instructions"];
    coverage.run(&sandbox, &more);
}

/// Verifies and deletes data of a session that another program changed.
fn keeping(coverage: &mut Coverage) {
    let sandbox = obeying::sandbox();
    coverage.run(&sandbox, &["archive 8..10"]);
    let file = sandbox.first_session();
    let changed = fs::read_to_string(&file).unwrap().replacen("archived", "ARCHIVED", 1);
    fs::write(&file, changed).unwrap();
    coverage.run(&sandbox, &["verify"]);
    fs::remove_file(&file).unwrap();
    coverage.run(&sandbox, &["gc --older-than 0d --gone"]);
}

/// Restores a kept session, and deletes its copies.
fn kept(coverage: &mut Coverage) {
    let sandbox = obeying::sandbox();
    coverage.run(&sandbox, &["keep --all"]);
    let file = sandbox.first_session();
    let id = file.file_stem().unwrap().to_string_lossy().into_owned();
    fs::remove_file(&file).unwrap();
    coverage.run(&sandbox, &["sessions", "keep list", &format!("keep restore {id}"), &format!("keep forget {id}")]);
}

/// Attributes the lines of a committed file.
fn blamed(coverage: &mut Coverage) {
    let lines: [&[&str]; 3] = [&["src/cart.rs"], &["src/cart.rs:1"], &["src/cart.rs", "--note", "--dry-run"]];
    crate::blame::reports(&lines).iter().for_each(|report| coverage.add(report));
}

/// Summarizes turns with each outcome.
fn outcomes(coverage: &mut Coverage) {
    let mut rows = Rows::default();
    rows.prompt("From now on, run the tests.");
    rows.call("Bash", json!({"command": "cargo test"}), "test result: FAILED. 3 passed; 1 failed; 0 ignored");
    rows.prompt("commit it");
    rows.call("Bash", json!({"command": "git commit -m totals"}), "[main 1a2b3c4] totals");
    rows.prompt("build it");
    rows.failed_call("Bash", json!({"command": "cargo build"}), "error: expected a semicolon");
    rows.call("Bash", json!({"command": "cargo build"}), "finished the build");
    rows.prompt("look it up");
    rows.failed_call("Bash", json!({"command": "cat missing.txt"}), "cat: missing.txt: no such file or directory");
    rows.prompt("change it");
    let edit = json!({"file_path": "/home/dev/shop/a.rs", "old_string": "a", "new_string": "b"});
    rows.call("Edit", edit, "The file /home/dev/shop/a.rs has been updated.");
    rows.prompt("which one?");
    rows.answer("There are two of them. Do you want the first one?");
    rows.prompt("the first");
    rows.answer("The first one is in use.");
    rows.prompt("[Request interrupted by user]");
    rows.prompt("and now?");
    let sandbox = Sandbox::new();
    sandbox.session("abc1", rows.text(), 0);
    coverage.run(&sandbox, &["summary", "summary --turn 1", "summary --turns", "manifest"]);
    let sandbox = Sandbox::new();
    crate::keeping::session_with_documents(&sandbox);
    coverage.run(&sandbox, &["blocks", "explain 4", "show 4", "summary --turn 1 --full", "summary --turn 2 --full"]);
}

/// Answers an event of a client and the question for its status line, and shortens a result.
fn client(coverage: &mut Coverage) {
    let sandbox = obeying::sandbox();
    sandbox.write("aperture.toml", "[hooks]\nreduce_results = true\n");
    let path = sandbox.first_session();
    let resumed = json!({"source": "resume", "transcript_path": path}).to_string();
    coverage.add(&sandbox.given(&["hook", "SessionStart", "--json"], &resumed).stdout);
    let long: String = (0..3000).map(|line| format!("{line}: nothing of note in item_{line}\n")).collect();
    let bash = json!({"tool_name": "Bash", "tool_use_id": "t1", "tool_response": {"stdout": long, "stderr": ""}});
    coverage.add(&sandbox.given(&["hook", "PostToolUse", "--json"], &bash.to_string()).stdout);
    let status = json!({"transcript_path": path}).to_string();
    coverage.add(&sandbox.given(&["statusline", "--json"], &status).stdout);
    sandbox.open_in_client();
    sandbox.text(&["compress", "16", "--live"]);
    coverage.add(&sandbox.given(&["statusline", "--json"], &status).stdout);
    coverage.add(&sandbox.run(&["status", "--json"]).stdout);
}

/// Passes a request through the proxy.
#[cfg(feature = "proxy")]
fn proxied(coverage: &mut Coverage) {
    let sandbox = Sandbox::new();
    let api = network::Api::new(network::stream);
    let running = network::Proxy::start(&sandbox, &["--upstream", &format!("http://127.0.0.1:{}", api.port)]);
    running.post("/v1/messages", "", b"{}");
    let bills = std::sync::Mutex::new(vec![50_000, 50_000]);
    let api = network::Api::new(move |_, stream| {
        let written = bills.lock().unwrap().pop().unwrap();
        let usage = json!({"input_tokens": 9, "cache_creation_input_tokens": written, "output_tokens": 1});
        let start = json!({"type": "message_start", "message": {"usage": usage}});
        network::answer_events(stream, &format!("event: message_start\ndata: {start}\n\n"));
    });
    drop(running);
    let running = network::Proxy::start(&sandbox, &["--upstream", &format!("http://127.0.0.1:{}", api.port)]);
    let body = br#"{"model":"claude-opus-5-5","messages":[{"role":"user","content":"ask"}],"tools":[{"name":"Read"}]}"#;
    for _ in 0..2 {
        running.post("/v1/messages", "", body);
    }
    crate::sandbox::wait_for("the loss", || sandbox.text(&["proxy", "status"]).contains("cache lost").then_some(()));
    coverage.run(&sandbox, &["proxy status", "proxy requests", "proxy explain 1"]);
}

/// Works on the queue of a local model, and prints what its answers improve.
#[cfg(feature = "proxy")]
fn sidecar(coverage: &mut Coverage) {
    let api = crate::sidecar::server();
    let sandbox = crate::sidecar::sandbox(3, &api.url());
    crate::sidecar::configure(&sandbox, &api.url(), "embedding_model = \"vectors\"\n");
    sandbox.write(".aperture/memory/factual/user-prefs.md", crate::sidecar::REPLACED);
    coverage.run(&sandbox, &["memory review --accept-tree", "sidecar queue --add", "memory review", "sidecar drain"]);
    coverage.run(&sandbox, &["sidecar eval", "memory review", "summary", "summary --turn 1", "explain 3"]);
    coverage.run(&sandbox, &["compress 3 --level summarized", "log"]);
    let api =
        network::Api::new(|_, stream| network::send(stream, "200 OK", b"{\"choices\":[{\"message\":{\"content\":\"no\"}}]}"));
    crate::sidecar::configure(&sandbox, &api.url(), "");
    coverage.run(&sandbox, &["sidecar clear --answers", "sidecar queue --add", "sidecar drain", "sidecar"]);
    let api = network::Api::new(|_, stream| network::send(stream, "500 Internal Server Error", b"{}"));
    crate::sidecar::configure(&sandbox, &api.url(), "");
    coverage.run(&sandbox, &["sidecar clear --answers", "sidecar queue --add", "sidecar drain", "sidecar queue", "sidecar"]);
}

/// Installs the hook of a repository.
fn repository(coverage: &mut Coverage) {
    let sandbox = Sandbox::new();
    let path = std::env::var_os("PATH").unwrap();
    let git = Command::new("git").args(["init", "-q"]).current_dir(&sandbox.project).env("GIT_CONFIG_NOSYSTEM", "1").status();
    assert!(git.unwrap().success());
    let output = sandbox.command(&["install", "git-hook", "--dry-run", "--json"]).env("PATH", path).output().unwrap();
    coverage.add(&String::from_utf8(output.stdout).unwrap());
}

/// Watches sessions while a client, the user and a rule of the settings change them.
fn watched(coverage: &mut Coverage) {
    let sandbox = obeying::sandbox();
    let mut watching = Watching::new(&sandbox, &["--project", "--json", "--window", "40k"]);
    watching.until("session_opened");
    sandbox.text(&["compress", "--preset", "balanced"]);
    watching.until("suggestions_changed");
    sandbox.text(&["undo"]);
    watching.until("suggestions_changed");
    sandbox.text(&["pin", "16"]);
    watching.until("selection_changed");
    sandbox.session("abc1", PROMPT, 60);
    watching.until("session_updated");
    sandbox.session("abc1", format!("{PROMPT}{}", PROMPT.replace("\"a\"", "\"b\"").replace("null", "\"a\"")), 120);
    watching.until("turn_started");
    coverage.add(&watching.text());
    drop(watching);
    let sandbox = obeying::sandbox();
    let mut watching = Watching::new(&sandbox, &["--json"]);
    watching.until("session_opened");
    obeying::say(&sandbox, "@pin(20)");
    sandbox.text(&["obey"]);
    watching.until("context_changed_by_model");
    obeying::say(&sandbox, "@archive(19)");
    sandbox.text(&["obey"]);
    watching.until("commands_proposed");
    coverage.add(&watching.text());
    drop(watching);
    let (sandbox, mut watching) = crate::memory_live::learning(&["--json"]);
    watching.until("memories_learned");
    coverage.add(&watching.text());
    drop((watching, sandbox));
    coverage.run(&crate::instructions::sandbox(), &["status --window 140k", "manifest --window 140k"]);
    // No store can be made where there is a file.
    let sandbox = obeying::sandbox();
    fs::write(sandbox.home.join(".aperture"), "").unwrap();
    let file = sandbox.first_session();
    let mut watching = Watching::new(&sandbox, &["--apply-policy", "--json", "--window", "40k"]);
    watching.until("policy_refused");
    fs::write(&file, PROMPT).unwrap();
    watching.until("session_replaced");
    fs::remove_file(&file).unwrap();
    watching.until("session_unavailable");
    // Beside the events it says that the store cannot be read.
    let text = watching.text();
    let events: Vec<&str> = text.lines().filter(|line| line.starts_with('{')).collect();
    coverage.add(&events.join("\n"));
}

/// A session of one prompt.
const PROMPT: &str = concat!(
    r#"{"type":"user","uuid":"a","parentUuid":null,"sessionId":"S","timestamp":"2026-11-21T21:00:00.000Z","#,
    r#""message":{"role":"user","content":"hello"}}"#,
    "\n"
);

#[test]
fn every_documented_key_is_printed_and_every_printed_key_is_documented() {
    if !all_or(true, false) {
        return skipped("it runs every command, as .ci/run does (APERTURE_ALL_CASES)");
    }
    let mut coverage = Coverage::new();
    #[cfg(feature = "proxy")]
    proxied(&mut coverage);
    #[cfg(feature = "proxy")]
    sidecar(&mut coverage);
    for scenario in [fixtures, model_commands, memories, keeping, kept, blamed, outcomes, client, repository, watched] {
        scenario(&mut coverage);
    }
    let differences = coverage.differences();
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}
