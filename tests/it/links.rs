//! Links that a repository can hold: in the place of a file that aperture is about to write, they lead to no other file.
#![cfg(unix)]

use crate::sandbox::Sandbox;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// Plants a link in the place of the temporary file of a path, to a file of the user: an existing one or one that is yet to be made.
fn plant(path: &Path, elsewhere: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let name = path.file_name().unwrap().to_str().unwrap();
    let temporary = path.with_file_name(format!(".{name}.aperture"));
    symlink(elsewhere, temporary).unwrap();
}

/// Runs a command with a link in the place of the temporary file of what it writes.
fn check(is_there: bool, command: &[&str], written: fn(&Sandbox) -> PathBuf) {
    let sandbox = Sandbox::of("older-model");
    let elsewhere = sandbox.home.join("elsewhere");
    if is_there {
        fs::write(&elsewhere, "precious").unwrap();
    }
    let path = written(&sandbox);
    plant(&path, &elsewhere);
    let outcome = sandbox.run(command);
    let said = format!("{command:?}: {}", outcome.all());
    assert_eq!(fs::read_to_string(&elsewhere).ok().as_deref(), is_there.then_some("precious"), "{said}");
    assert_eq!(outcome.code, 0, "{said}");
    assert!(fs::symlink_metadata(&path).is_ok_and(|written| written.is_file()), "{said}");
}

/// Returns the file of the session that commands without a selection change.
fn session(sandbox: &Sandbox) -> PathBuf {
    let status: serde_json::Value = serde_json::from_str(&sandbox.run(&["status", "--json"]).stdout).unwrap();
    sandbox.session_file(status["session"].as_str().unwrap())
}

#[test]
fn a_link_in_the_place_of_a_temporary_file_leads_to_no_other() {
    type Written = fn(&Sandbox) -> PathBuf;
    let output: Written = |sandbox| {
        let output = session(sandbox).with_extension("").join("tool-results/x.txt");
        fs::create_dir_all(output.parent().unwrap()).unwrap();
        fs::write(&output, "password=hunter2hunter2X9\n").unwrap();
        output
    };
    let commands: [(&[&str], Written); 6] = [
        (&["archive", "all"], session),
        (&["redact", "--whole-file"], output),
        (&["config", "set", "preset", "light", "--in-project"], |sandbox| sandbox.project.join("aperture.toml")),
        (&["export", "--format", "html", "-o", "s.html"], |sandbox| sandbox.project.join("s.html")),
        (&["install", "claude-code", "--scope", "project"], |sandbox| sandbox.project.join(".claude/settings.json")),
        (&["report", "--html", "out.html"], |sandbox| sandbox.project.join("out.html")),
    ];
    for (command, written) in commands {
        check(true, command, written);
        check(false, command, written);
    }
}
