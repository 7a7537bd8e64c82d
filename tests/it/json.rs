//! The JSON contract: `docs/json.md` is generated from the JSON types, and the output of the commands has its keys.

use crate::fresh;
use crate::sandbox::Sandbox;
use aperture::output::json::{Contract, contracts};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

const HEAD: &str = "# JSON

Generated from the types in `src/output/json/`. With `--json` a command prints one object, whose key `schema` names its form:
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

fn meaning(schema: &Value) -> String {
    schema["description"].as_str().unwrap_or_default().replace('\n', " ").replace('|', "\\|")
}

/// The table of the fields of an object, or of the words of a string.
fn table(schema: &Value) -> String {
    let mut text = String::new();
    if let Some(fields) = schema["properties"].as_object() {
        text.push_str("\n| field | type | unit | meaning |\n| --- | --- | --- | --- |\n");
        for (name, field) in fields {
            let unit = field["unit"].as_str().unwrap_or_default();
            let value = field["const"].as_str().map(|value| format!("`{value}`")).unwrap_or_else(|| type_name(field));
            text.push_str(&format!("| `{name}` | {value} | {unit} | {} |\n", meaning(field)));
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

#[test]
fn every_field_and_every_word_has_a_meaning_and_a_name_has_one_type() {
    let mut types: BTreeMap<String, Value> = BTreeMap::new();
    for contract in contracts() {
        let root = contract.schema.as_value();
        assert!(!meaning(root).is_empty(), "{}", contract.name);
        for (name, schema) in root["$defs"].as_object().unwrap_or(&Map::new()) {
            assert!(!meaning(schema).is_empty(), "{name}");
            assert_eq!(types.entry(name.clone()).or_insert_with(|| schema.clone()), schema, "two types are named {name}");
        }
        for schema in types.values().chain([root]) {
            for object in variants(schema).chain([schema]) {
                for (name, field) in object["properties"].as_object().unwrap_or(&Map::new()) {
                    assert!(!meaning(field).is_empty() || field["const"].is_string(), "{} {name}", contract.name);
                }
            }
        }
    }
}

/// Adds the key paths that a schema documents.
fn documented(root: &Value, schema: &Value, path: &str, within: &mut Vec<String>, paths: &mut BTreeSet<String>) {
    let (name, schema) = resolve(root, schema);
    if let Some(name) = name {
        // A type that holds itself has no more keys than it has once.
        if within.iter().any(|outer| outer == name) {
            return;
        }
        within.push(name.to_owned());
    }
    for (key, field) in schema["properties"].as_object().unwrap_or(&Map::new()) {
        let path = format!("{path}.{key}");
        paths.insert(path.clone());
        documented(root, field, &path, within, paths);
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

/// Adds the key paths of a value. Keys that are names and not fields become `*`; the input of foreign tools is skipped.
fn seen(value: &Value, path: &str, known: &BTreeSet<String>, paths: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                let named = known.iter().any(|known| known.starts_with(&format!("{path}.*.")));
                let path = if named { format!("{path}.*") } else { format!("{path}.{key}") };
                if !named {
                    paths.insert(path.clone());
                }
                seen(value, &path, known, paths);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| seen(value, &format!("{path}[]"), known, paths)),
        Value::Number(number) => assert!(!number.to_string().ends_with(".0"), "{path} is {number}"),
        _ => {}
    }
}

/// The command lines of the contract, in an order in which each has something to print.
const LINES: &[&str] = &[
    "sessions",
    "status",
    "manifest",
    "blocks all",
    "show all",
    "transcript",
    "explain 4",
    "summary",
    "summary --turn 1 --full",
    "check --max-tokens 1",
    "preset list",
    "util accuracy",
    "util placeholders",
    "compress --stale --preset aggressive --dry-run",
    "compress 4|16 --level minimal",
    "archive 19",
    "pin 16",
    "focus 19",
    "status",
    "manifest",
    "explain 4",
    "recall the",
    "diff",
    "snapshot save point",
    "snapshot list",
    "undo",
    "redo",
    "log",
    "verify",
    "gc",
    "export -o kept.aperture",
    "import kept.aperture",
    "obey --dry-run",
    "obey",
    "obey --tell",
    "inbox",
    "install claude-code --dry-run",
];

/// Schemas that no fixture alone can print: `watch` prints events while a file changes (`tests/it/watch.rs`), `hook` and
/// `statusline` read a payload from standard input, and git hooks need a repository.
const APART: &[&str] = &["aperture.hook/1", "aperture.install-git-hook/1", "aperture.statusline/2", "aperture.watch/2"];

/// The key paths that every command prints over some fixtures, by schema.
fn printed(known: &BTreeMap<&str, BTreeSet<String>>) -> BTreeMap<String, BTreeSet<String>> {
    let mut printed: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for fixture in ["tools-and-spill", "older-model", "interactive-compact", "codex-tools"] {
        let sandbox = Sandbox::of(fixture);
        for line in LINES {
            let words: Vec<&str> = line.split(' ').chain(["--json"]).collect();
            // A fixture without such a block refuses the command, and prints no JSON.
            let Ok(Value::Object(mut fields)) = serde_json::from_str(&sandbox.run(&words).stdout) else { continue };
            let schema = fields.remove("schema").unwrap().as_str().unwrap().to_owned();
            let keys = known.get(&*schema).unwrap_or_else(|| panic!("{schema} of {line} is not documented"));
            seen(&Value::Object(fields), "", keys, printed.entry(schema).or_default());
        }
    }
    printed
}

#[test]
fn what_is_printed_is_documented_and_what_is_documented_is_printed() {
    let contracts = contracts();
    let known: BTreeMap<&str, BTreeSet<String>> = contracts
        .iter()
        .map(|contract| {
            let (root, mut paths) = (contract.schema.as_value(), BTreeSet::new());
            documented(root, root, "", &mut Vec::new(), &mut paths);
            (contract.name, paths)
        })
        .collect();
    let printed = printed(&known);
    let mut text = String::new();
    for (schema, paths) in &known {
        let none = BTreeSet::new();
        let seen = printed.get(*schema).unwrap_or(&none);
        let unknown: Vec<&String> = seen.difference(paths).collect();
        assert!(unknown.is_empty(), "{schema} has fields that are not documented: {unknown:?}");
        assert!(!seen.is_empty() || APART.contains(schema), "no command of this test prints {schema}");
        text.push_str(&format!("{schema}\n"));
        for path in paths {
            text.push_str(&format!("  {path}{}\n", if seen.contains(path) { "" } else { "  (not in the fixtures)" }));
        }
    }
    let snapshot = crate::sandbox::repository().join("tests/it/snapshots/json-keys.txt");
    expect_test::expect_file![snapshot].assert_eq(&text);
}
