//! The walls between the layers: which folder of `src` and of `src/core` may name which.

use crate::sandbox::{files_ending, repository};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Each layer and the layers that it may name. The table in ARCHITECTURE.md is checked against this one.
const LAYERS: &[(&str, &[&str])] = &[
    ("text", &[]),
    ("model", &["text"]),
    ("engine", &["text", "model"]),
    ("provider", &["text", "model"]),
    ("planning", &["text", "model", "engine", "provider"]),
    ("fsio", &[]),
    ("store", &["text", "model", "engine", "provider", "fsio"]),
    ("workspace", &["text", "model", "engine", "provider", "planning", "store", "fsio"]),
    ("wire", &["text", "model", "engine", "provider", "planning", "store"]),
    ("search", &["text", "model", "engine", "provider", "store", "fsio", "workspace"]),
    ("memory", &["text", "model", "engine", "provider", "planning", "store", "fsio", "workspace"]),
    ("output", &["text", "model", "engine"]),
    ("app", &["text", "model", "engine", "provider", "store", "fsio", "workspace", "wire", "output"]),
    (
        "commands",
        &["text", "model", "engine", "provider", "store", "fsio", "workspace", "wire", "search", "memory", "output", "app"],
    ),
    ("mcp", &["text", "model", "engine", "workspace", "output", "app", "commands"]),
    ("proxy", &["text", "model", "engine", "provider", "workspace", "wire", "output", "app", "commands"]),
    (
        "sidecar",
        &["text", "model", "engine", "store", "fsio", "workspace", "search", "memory", "output", "app", "commands", "proxy"],
    ),
    ("cli", &["text", "model", "output", "app", "commands", "mcp", "proxy", "sidecar"]),
];

/// The layers of the crate in `src/core`, which have no input and output.
const CORE: [&str; 5] = ["text", "model", "engine", "provider", "planning"];

/// Crates for input and output, which the core does without.
const SHELL: [&str; 10] =
    ["clap", "directories", "hyper", "notify", "ratatui", "rusqlite", "rustix", "signal-hook", "terminal_size", "tokio"];

/// The text without comments; strings stay, which is strict on the safe side.
fn code(text: &str) -> String {
    text.lines().map(|line| line.split_once("//").map_or(line, |(code, _)| code)).collect::<Vec<_>>().join("\n")
}

/// Returns the names after each `prefix` of a path: one name, or the names at the top level of a `{…}` group.
fn named(code: &str, prefix: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (at, _) in code.match_indices(prefix) {
        if code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':') {
            continue;
        }
        let rest = &code[at + prefix.len()..];
        match rest.strip_prefix('{') {
            None => names.push(identifier(rest)),
            Some(group) => {
                let mut depth = 0;
                let mut expected = true;
                for (place, character) in group.char_indices() {
                    match character {
                        '{' => depth += 1,
                        '}' if depth == 0 => break,
                        '}' => depth -= 1,
                        ',' if depth == 0 => expected = true,
                        c if expected && !c.is_whitespace() => {
                            names.push(identifier(&group[place..]));
                            expected = false;
                        }
                        _ => {}
                    }
                }
            }
        }
    }
    names
}

fn identifier(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

/// The layers that a file names: by the name of its crate or of the core, or by climbing with `super::` out of its own folder.
fn layers_named(relative: &Path, text: &str) -> Vec<String> {
    let code = code(text);
    let mut names = named(&code, "crate::");
    names.extend(named(&code, "aperture_core::"));
    // The module `a::b` is two levels below the crate; its tests are three.
    let level = relative.components().count() - usize::from(relative.ends_with("mod.rs"));
    for climb in [level, level + 1] {
        let above = named(&code, &"super::".repeat(climb));
        names.extend(above.into_iter().filter(|name| LAYERS.iter().any(|(layer, _)| layer == name)));
    }
    names
}

#[test]
fn every_layer_names_only_those_below_it() {
    let src = repository().join("src");
    let table: BTreeMap<&str, &[&str]> = LAYERS.iter().copied().collect();
    let mut faults = BTreeSet::new();
    for file in &files_ending(&src, "rs") {
        let place = file.strip_prefix(&src).unwrap();
        let relative = place.strip_prefix("core").unwrap_or(place);
        let mut components = relative.iter();
        let (Some(layer), Some(_)) = (components.next(), components.next()) else {
            assert!(
                ["build.rs", "lib.rs", "main.rs", "testing.rs"].contains(&relative.to_str().unwrap()),
                "src/{} belongs to no layer: put it into a folder",
                place.display()
            );
            continue;
        };
        let layer = layer.to_str().unwrap();
        if layer == "testing" {
            continue;
        }
        let Some(allowed) = table.get(layer) else {
            faults.insert(format!("src/{layer} is no layer that tests/it/walls.rs and ARCHITECTURE.md know"));
            continue;
        };
        for name in layers_named(relative, &fs::read_to_string(file).unwrap()) {
            // Only tests name the helpers of tests.
            if name != layer && name != "testing" && !allowed.contains(&&*name) {
                faults.insert(format!("src/{}: {layer} names crate::{name}", place.display()));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.into_iter().collect::<Vec<_>>().join("\n"));
}

#[test]
fn no_layer_names_one_above_it() {
    for (place, (layer, allowed)) in LAYERS.iter().enumerate() {
        let above = LAYERS[place..].iter().filter(|(other, _)| allowed.contains(other));
        assert_eq!(above.map(|(other, _)| *other).collect::<Vec<_>>(), [""; 0], "{layer} names a layer that can name it");
    }
}

#[test]
fn every_layer_exists() {
    let folders = |directory: &str, others: &[&str]| -> BTreeSet<String> {
        let entries = fs::read_dir(repository().join(directory)).unwrap().map(|entry| entry.unwrap());
        let folders = entries.filter(|entry| entry.path().is_dir()).map(|entry| entry.file_name().into_string().unwrap());
        folders.filter(|name| !others.contains(&&**name)).collect()
    };
    let (core, shell): (BTreeSet<String>, _) =
        LAYERS.iter().map(|(layer, _)| (*layer).to_owned()).partition(|layer| CORE.contains(&&**layer));
    assert_eq!(folders("src/core", &["testing"]), core);
    assert_eq!(folders("src", &["core", "proptest-regressions"]), shell);
}

#[test]
fn the_core_has_no_crate_for_input_and_output() {
    let manifest = fs::read_to_string(repository().join("src/core/Cargo.toml")).unwrap().replace('\r', "");
    let dependencies = manifest.split("\n[dependencies]\n").nth(1).unwrap().split("\n[").next().unwrap();
    let names: Vec<&str> = dependencies.lines().filter_map(|line| line.split(['.', ' ']).next()).collect();
    assert!(names.contains(&"serde"), "{names:?}");
    assert!(!names.iter().any(|name| SHELL.contains(name)), "{names:?}");
}

#[test]
fn the_architecture_document_has_the_same_table() {
    let text = fs::read_to_string(repository().join("ARCHITECTURE.md")).unwrap();
    for (layer, allowed) in LAYERS {
        let row = format!("| `{layer}` | {} |", if allowed.is_empty() { "–".to_owned() } else { allowed.join(", ") });
        assert!(text.contains(&row), "ARCHITECTURE.md has no row that begins with\n{row}");
    }
}

#[test]
fn paths_are_found_in_code() {
    let check = |code: &str, expected: &[&str]| assert_eq!(named(code, "crate::"), expected, "{code}");
    check("use crate::model::Block;", &["model"]);
    check("use crate::{model::{Block, Row}, engine};", &["model", "engine"]);
    check("a(crate::cli::run(crate::fsio::X))", &["cli", "fsio"]);
    check("$crate::x mycrate::y", &["x"]);
    assert_eq!(code("a // crate::b\nc"), "a \nc");
}
