//! Typical mistakes, and what the user reads after each of them.

use crate::changing::bytes;
use crate::sandbox::{Sandbox, snapshot};

/// Command lines with one mistake each.
const MISTAKES: [&str; 39] = [
    "compres --stale",
    "show",
    "show 9999",
    "show Read",
    "show 'tool(Raed)'",
    "show src/small.py",
    "show 'path(\"src/smal.py\")'",
    "show 'turn(99)'",
    "show '#17x'",
    "pin 'primacy &'",
    "compress",
    "compress 16 --level tiny",
    "compress --preset strong",
    "compress --budget 150%",
    "compress --budget ten",
    "compress --stale --keep-turns few",
    "complete-this",
    "history",
    "clean",
    "memory revert 1",
    "compress --over-budget --budget 1",
    "archive 16 --reason",
    "update 16",
    "undo",
    "undo 7",
    "redo",
    "restore nowhere",
    "snapshot save 3",
    "diff 1 9",
    "fork --at 'turn(99)'",
    "approve 3",
    "status -s nosuch",
    "status nosuch.jsonl",
    "manifest --tier huge",
    "check --project nowhere",
    "usage --by year",
    "sessions --since yesterday",
    "help compres",
    "import nosuch.aperture",
];

#[test]
fn each_mistake_is_answered_with_the_next_step() {
    let sandbox = Sandbox::of("tools-and-spill");
    let before = bytes(&sandbox);
    let mut text = String::new();
    for line in MISTAKES {
        let outcome = sandbox.enter(line);
        assert!(matches!(outcome.code, 1..=3) && outcome.stdout.is_empty(), "{line}: {}", outcome.all());
        let next = ["hint: ", "tip: ", "Usage: ", "possible values", "try '--help'"];
        assert!(next.iter().any(|next| outcome.stderr.contains(next)), "{line}: {}", outcome.stderr);
        text.push_str(&format!("$ aperture {line}\n{}\n", outcome.all()));
    }
    assert!(bytes(&sandbox) == before);
    snapshot("mistakes", &text);
}

/// A relative directory would be another one in each working directory.
#[test]
fn a_relative_home_is_refused() {
    let sandbox = Sandbox::of("tools-and-spill");
    let before = bytes(&sandbox);
    for (variables, code, expected) in [
        (&[("APERTURE_HOME", "rel")][..], 2, "APERTURE_HOME is not an absolute path: rel"),
        (&[("HOME", "rel"), ("USERPROFILE", "rel"), ("APERTURE_HOME", "")], 70, "there is no home directory"),
    ] {
        for arguments in [&["sessions"][..], &["status"], &["config", "list"]] {
            let output = sandbox.command(arguments).envs(variables.iter().copied()).output().unwrap();
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.code() == Some(code) && text.contains(expected), "{arguments:?}: {text}");
        }
    }
    assert!(bytes(&sandbox) == before && !sandbox.project.join("rel").exists());
}
