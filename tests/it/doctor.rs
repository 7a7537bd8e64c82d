//! Tests of `aperture doctor`.

use crate::sandbox::Sandbox;
use expect_test::{Expect, expect};
use serde_json::Value;
use std::fs;

/// Checks the output, without the path of the program.
fn check(sandbox: &Sandbox, expected: Expect) {
    let program = env!("CARGO_BIN_EXE_aperture");
    let text = sandbox.run(&["doctor"]).all();
    let lines = text.lines().filter(|line| !line.starts_with("note     program"));
    let text: String =
        lines.filter(|line| !line.contains("settings of a project and git hooks")).map(|line| format!("{line}\n")).collect();
    expected.assert_eq(&text.replace(program, "PROGRAM").replace(env!("CARGO_PKG_VERSION"), "VERSION"));
}

/// Returns the findings of an area, as their levels and texts.
fn findings(sandbox: &Sandbox, area: &str, variables: &[(&str, &str)]) -> Vec<(String, String, Value)> {
    let output = sandbox.command(&["doctor", "--json"]).envs(variables.iter().copied()).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let problems = report["findings"].as_array().unwrap().iter().filter(|finding| finding["level"] == "problem").count();
    assert_eq!(output.status.code(), Some(i32::from(problems > 0)), "{report}");
    let of_area = report["findings"].as_array().unwrap().iter().filter(|finding| finding["area"] == area);
    let texts = |finding: &Value, name: &str| finding[name].as_str().unwrap().to_owned();
    of_area.map(|finding| (texts(finding, "level"), texts(finding, "text"), finding["command"].clone())).collect()
}

#[test]
fn an_empty_home_has_notes_and_no_problem() {
    let sandbox = Sandbox::new().columns(100);
    check(
        &sandbox,
        expect![[r#"
            good     program   aperture VERSION in PROGRAM
                               for it
            good     settings  the defaults: there is no settings file
            good     store     nothing is stored yet; it will be in ~/.aperture
            good     cache     nothing is cached yet; it will be in ~/.aperture/cache
            note     sessions  no sessions below ~
            good     requests  clients send requests directly to their API; to start one behind a proxy:
                               aperture run -- claude

            no problems, 2 notes
            exit code 0
        "#]],
    );
    assert!(!sandbox.home.join(".aperture/store.db").exists(), "it makes no store");
}

#[test]
fn the_command_of_a_finding_mends_it() {
    let sandbox = Sandbox::of("tools-and-spill").columns(100);
    fs::write(sandbox.home.join(".claude/settings.json"), r#"{"cleanupPeriodDays":5}"#).unwrap();
    let (level, text, command) = findings(&sandbox, "clients", &[])[0].clone();
    assert_eq!((&*level, &*text, command.as_str()), ("note", "claude-code: not installed", Some("aperture install claude-code")));
    sandbox.text(&["install", "claude-code"]);
    assert_eq!(findings(&sandbox, "clients", &[])[0].0, "good");
    // A part is gone, as after an update of aperture that added one.
    fs::remove_dir_all(sandbox.home.join(".claude/skills/aperture/commands")).unwrap();
    let (level, _, command) = findings(&sandbox, "clients", &[])[0].clone();
    assert_eq!((&*level, command.as_str()), ("problem", Some("aperture install claude-code")));
    sandbox.text(&["install", "claude-code"]);
    assert_eq!(findings(&sandbox, "clients", &[])[0].0, "good");
    let lost = findings(&sandbox, "sessions", &[]).into_iter().find(|(_, text, _)| text.contains("deleted within"));
    assert_eq!(lost.map(|(_, _, command)| command), Some(Value::from("aperture config set sessions.keep on")));
    sandbox.run(&["config", "set", "sessions.keep", "on"]);
    sandbox.text(&["keep", "--all"]);
    assert!(findings(&sandbox, "sessions", &[]).iter().all(|(level, ..)| level == "good"));
}

#[cfg(unix)]
#[test]
fn a_store_that_others_read_or_that_is_damaged_is_a_problem() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::of("tools-and-spill");
    sandbox.text(&["archive", "5"]);
    assert!(findings(&sandbox, "store", &[]).iter().all(|(level, ..)| level == "good"));
    let directory = sandbox.home.join(".aperture");
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o755)).unwrap();
    let (level, text, command) = findings(&sandbox, "store", &[])[0].clone();
    assert_eq!((&*level, &*text), ("problem", "other users of this machine can read ~/.aperture"));
    assert!(command.as_str().is_some_and(|command| command.starts_with("chmod 700 ")));
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o700)).unwrap();
    fs::write(directory.join("store.db"), "not a database, but a text that is long enough to be read as one").unwrap();
    let (level, text, _) = findings(&sandbox, "store", &[])[0].clone();
    assert!(level == "problem" && text.contains("cannot open the store"), "{text}");
}

#[cfg(unix)]
#[test]
fn a_store_that_cannot_be_written_is_a_problem() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::of("tools-and-spill");
    sandbox.text(&["archive", "5"]);
    let store = sandbox.home.join(".aperture/store.db");
    fs::set_permissions(&store, fs::Permissions::from_mode(0o400)).unwrap();
    // Permissions are nothing to the administrator.
    if fs::OpenOptions::new().append(true).open(&store).is_ok() {
        return;
    }
    let (level, text, _) = findings(&sandbox, "store", &[])[0].clone();
    assert_eq!((&*level, &*text), ("problem", "~/.aperture can be read and not written: sessions cannot be changed"));
}

#[test]
fn requests_to_a_proxy_that_does_not_run_are_found_and_its_secret_is_not_printed() {
    let sandbox = Sandbox::new();
    let of = |url: &str| {
        let found = findings(&sandbox, "requests", &[("ANTHROPIC_BASE_URL", url), ("OPENAI_API_BASE", url)]);
        assert_eq!(found.len(), 1, "one for each host: {found:?}");
        found[0].clone()
    };
    let (level, text, command) = of("http://127.0.0.1:5400/s3cr3ts3cr3t");
    assert_eq!((&*level, command.as_str()), ("note", Some("aperture proxy")));
    assert_eq!(text, "claude, opencode, aider: requests go to 127.0.0.1:5400, where no proxy of aperture listens");
    assert_eq!(of("https://user:pass@gateway.example:8443/v1").1, "claude, opencode, aider: requests go to gateway.example:8443");
}

#[test]
fn a_setting_that_has_no_effect_in_a_project_is_found_by_each_command() {
    let sandbox = Sandbox::new().columns(130);
    let file = sandbox.project.join("aperture.toml");
    for (key, value) in [("sessions.keep", "on"), ("sidecar", "{ url = 'http://127.0.0.1:9' }"), ("model.archive", "auto")] {
        let outcome = sandbox.run(&["config", "set", key, value, "--in-project"]);
        assert!(outcome.code == 2 && outcome.stderr.contains("has no effect in the settings of a project"), "{}", outcome.stderr);
        let command = outcome.stderr.lines().find_map(|line| line.split_once("for the user: aperture ")).unwrap().1;
        assert!(command.starts_with(&format!("config set {key} ")), "{command}");
    }
    assert!(!file.exists());
    fs::write(&file, "preset = 'light'\n[sessions]\nkeep = 'on'\n[model]\narchive = 'auto'\npin = 'deny'\n").unwrap();
    assert_eq!(sandbox.run(&["config", "set", "preset", "balanced"]).code, 0);
    assert_eq!(sandbox.run(&["config", "set", "sessions.keep", "off"]).code, 0);
    let list = sandbox.text(&["config"]);
    let list: Vec<&str> = list.lines().filter(|line| line.starts_with("  ") && line.contains(" = ")).collect();
    expect![[r#"
        [
            "  preset = \"balanced\"  (no effect: the project sets another value)",
            "  sessions.keep = \"off\"",
            "  preset = 'light'",
            "  sessions.keep = 'on'  (no effect: only the file of the user decides it)",
            "  model.archive = 'auto'  (no effect: a project cannot trust the model more than the user does)",
            "  model.pin = 'deny'",
        ]
    "#]]
    .assert_debug_eq(&list);
    expect![[r#"
        "off"
        note: sessions.keep has no effect in the settings of the project: only the file of the user decides it
        exit code 0
    "#]]
    .assert_eq(&sandbox.run(&["config", "get", "sessions.keep"]).all());
    assert_eq!(sandbox.text(&["config", "get", "preset"]), "\"light\"\n");
    let notes = findings(&sandbox, "settings", &[]).split_off(1);
    assert!(notes.iter().all(|(level, text, _)| level == "note" && text.contains("no effect in")), "{notes:?}");
    let commands: Vec<&str> = notes.iter().filter_map(|(.., command)| command.as_str()).collect();
    let unset = ["model.archive", "sessions.keep"].map(|key| format!("aperture config unset {key} --in-project"));
    assert_eq!(commands, unset);
    for command in commands {
        assert_eq!(sandbox.run(&command.split(' ').skip(1).collect::<Vec<_>>()).code, 0, "{command}");
    }
    assert_eq!(findings(&sandbox, "settings", &[]).len(), 1);
    assert_eq!(sandbox.text(&["config", "get", "model"]), "{ pin = \"deny\" }\n");
    assert_eq!(sandbox.run(&["config", "set", "model.archive", "deny", "--in-project"]).code, 0, "a project can be stricter");
}
