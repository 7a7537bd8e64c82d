//! Memories: the screens of all commands, bad input, several processes, and what stays after a kill.

use crate::rows::Rows;
use crate::sandbox::{Sandbox, contents_below, snapshot, wait_for};
use aperture::provider::claude_code::slug;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

/// A session in which the user corrects the agent.
const SESSION: &str = concat!(
    r#"{"type":"user","uuid":"a","parentUuid":null,"sessionId":"S","cwd":"/home/dev/shop","version":"2.1.330","timestamp":"2026-11-20T21:00:00.000Z","message":{"role":"user","content":"no, use pnpm here, not npm"}}"#,
    "\n",
    r#"{"type":"assistant","uuid":"b","parentUuid":"a","sessionId":"S","cwd":"/home/dev/shop","version":"2.1.330","timestamp":"2026-11-20T21:00:05.000Z","message":{"id":"m1","type":"message","role":"assistant","model":"claude-opus-4-5-20251101","content":[{"type":"text","text":"I use pnpm."}],"stop_reason":"end_turn","usage":{"input_tokens":12,"output_tokens":7}}}"#,
    "\n",
);

const ID: &str = "6666abcd-0000-4000-8000-000000000001";

/// A file as learning writes it, with an entry of a person.
const PREFS: &str = "# User preferences

- Use `pnpm`, not `npm`.
  <!-- memory-4 active · correction · 2026-11-02 to 2026-11-20 · 3 sightings in 2 sessions · 6666abcd#1 6666abcd#77 7777abcd#4 · helpful 2 harmful 1 · key 00000000000000aa -->
- Ask before a release.
  <!-- memory-5 pending · preference · 2026-11-20 · 1 sighting in 1 session · 6666abcd#1 · key 00000000000000bb -->
- Don't use `pnpm` for the docs.
  <!-- memory-6 active · correction · 2026-11-20 · 1 sighting in 1 session · 6666abcd#1 · against memory-4 · key 00000000000000cc -->
- Written by a person,
  in two lines.

## Archived

- Use `yarn`.
  <!-- memory-2 superseded · correction · 2026-10-01 · 1 sighting in 1 session · by memory-4 · key 00000000000000dd -->
";

/// A file with a fix that did not help.
pub const REFUTED: &str = "# Gotchas

- `gh pr view` fails (`no default remote`): add `--repo acme/shop`.
  <!-- memory-9 active · resolution · 2026-11-20 · 1 sighting in 1 session · 6666abcd#1 · helpful 0 harmful 1 · key 00000000000000ee -->
";

/// A project with memories in it, and with the session that they were learned from.
pub fn learned() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write(".aperture/memory/factual/user-prefs.md", PREFS);
    sandbox.session(ID, SESSION, 0);
    sandbox
}

fn prefs(sandbox: &Sandbox) -> PathBuf {
    sandbox.project.join(".aperture/memory/factual/user-prefs.md")
}

/// Returns the output of each command, with placeholders for what differs by directory.
fn screens(sandbox: &Sandbox, lines: &[&[&str]]) -> String {
    let mut text = String::new();
    for line in lines {
        text.push_str(&format!("$ aperture memory {}\n{}\n", line.join(" "), sandbox.run(&[&["memory"], *line].concat()).all()));
    }
    without_hash(&text)
}

fn without_hash(text: &str) -> String {
    const NAME: &str = "memory/projects/project-";
    let mut parts = text.split(NAME);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| format!("{text}{NAME}HASH{}", &part[8..]))
}

/// All files below a directory, but not those of the store.
fn files(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let is_store = |path: &PathBuf| ["store.db", "cache"].iter().any(|part| path.to_string_lossy().contains(part));
    contents_below(directory).into_iter().filter(|(path, _)| !is_store(path)).collect()
}

#[test]
fn a_new_tree() {
    let sandbox = Sandbox::new();
    let lines: &[&[&str]] = &[
        &[],
        &["list"],
        &["log"],
        &["review"],
        &["add", "Use `pnpm`, not `npm`.", "--kind", "preference", "--dry-run"],
        &["add", "Use `pnpm`, not `npm`.", "--kind", "preference"],
        &["add", "use pnpm not npm"],
        &["add", "`mise run lint` needs the network", "--file", "gotchas"],
        &["add", "Run `mise run fmt`, then tag and push.", "--file", "release-workflow"],
        &["add", "Answer in English.", "--user", "--kind", "preference"],
        &[],
        &["list"],
        &["list", "--kind", "preference"],
        &["list", "--file", "gotchas"],
        &["show", "1", "user-1", "release-workflow"],
        &["search", "what about pnpm"],
        &["search", "nothing"],
        &["edit", "1", "Use `pnpm` 9, not `npm`."],
        &["edit", "memory-2", "--file", "shortcuts"],
        &["forget", "memory-2", "user-1", "--dry-run"],
        &["forget", "2", "user-1"],
        &["log"],
        &["diff", "5"],
        &["undo", "--dry-run"],
        &["undo"],
        &["undo", "--user"],
        &["undo", "1"],
        &["log", "-n", "3"],
        &["stats"],
        &["export"],
        &["init"],
        &["init", "--in-project", "--dry-run"],
        &["init", "--in-project"],
        &["init", "--in-project"],
        &[],
        &["forget", "--everything"],
        &["list"],
    ];
    snapshot("memory-new", &screens(&sandbox, lines));
}

#[test]
fn undoing_the_beginning_of_a_tree_in_the_project_leaves_the_memories_before_it() {
    let sandbox = Sandbox::new();
    sandbox.text(&["memory", "add", "Use `pnpm`, not `npm`."]);
    let before = sandbox.text(&["memory", "list"]);
    sandbox.text(&["memory", "init", "--in-project"]);
    sandbox.text(&["memory", "undo"]);
    assert_eq!(sandbox.text(&["memory", "list"]), before);
}

#[test]
fn a_number_alone_does_not_name_a_memory_for_all_projects() {
    let sandbox = Sandbox::new();
    sandbox.text(&["memory", "add", "Answer in English.", "--user"]);
    for command in [&["forget", "1"][..], &["edit", "1", "Answer in German."]] {
        let outcome = sandbox.run(&[&["memory"], command].concat());
        assert_eq!(outcome.code, 1, "{}", outcome.all());
        assert!(outcome.stderr.contains("to name the one for all projects: user-1"), "{}", outcome.stderr);
    }
    assert!(sandbox.text(&["memory", "list"]).contains("Answer in English."));
}

#[test]
fn a_learned_tree() {
    let sandbox = learned();
    let lines: &[&[&str]] = &[
        &[],
        &["list", "--retired"],
        &["list", "--state", "pending"],
        &["show", "user-prefs"],
        &["why", "4"],
        &["why", "#2"],
        &["review"],
        &["review", "--accept", "6", "--dry-run"],
        &["review", "--accept", "6", "--accept", "5"],
        &["review", "--reject", "memory-6"],
        &["review", "--merge", "5", "6"],
        &["review"],
        &["show", "5"],
        &["stats"],
        &["list", "--json-lines"],
    ];
    let text = screens(&sandbox, lines);
    snapshot("memory-learned", &text);
    assert!(fs::read_to_string(prefs(&sandbox)).unwrap().contains("- Written by a person,\n  in two lines.\n"));
}

#[test]
fn a_fix_that_did_not_help_waits_for_a_decision() {
    let sandbox = learned();
    sandbox.write(".aperture/memory/operational/gotchas.md", REFUTED);
    snapshot("memory-refuted", &screens(&sandbox, &[&["review"], &["review", "--accept", "9"], &["show", "9"]]));
}

#[test]
fn mistakes_have_an_answer() {
    let sandbox = learned();
    let key = format!("ghp_{}", "q7Rz2mWk9TxB4lNvC8dF".repeat(2));
    let token = format!("the token is {key}");
    let lines: &[&[&str]] = &[
        &["show", "99"],
        &["show", "gotcha"],
        &["show", "gotchas"],
        &["why", "user-9"],
        &["why", "x"],
        &["edit", "0", "x"],
        &["forget"],
        &["forget", "4", "99"],
        &["list", "--state", "activ"],
        &["list", "--kind", "wish"],
        &["add", " "],
        &["add", "the password is hunter2x7yz"],
        &["edit", "4", "password: hunter2x7yz"],
        &["undo"],
        &["undo", "7"],
        &["diff"],
        &["review", "--merge", "4", "4"],
        &["review", "--accept", "4", "--reject", "5"],
        &["export", "--output", "missing/file.md", "--format", "x"],
        &["edit", "4", "--dry-run"],
        &["edit", "4"],
        &["--project", "nowhere"],
        &["serach", "x"],
    ];
    snapshot("memory-mistakes", &screens(&sandbox, lines));
    let refused = sandbox.run(&["memory", "add", &token]);
    assert_eq!(refused.code, 1);
    let all = format!("{:?}", files(&sandbox.home)) + &format!("{:?}", files(&sandbox.project)) + &refused.all();
    assert!(!all.contains(&key) && !all.contains("hunter2x7yz"));
    assert_eq!(fs::read_to_string(prefs(&sandbox)).unwrap(), PREFS, "nothing was written");
}

#[test]
fn bad_files_are_read_leniently_and_not_written() {
    let sandbox = learned();
    let conflict = format!("{PREFS}<<<<<<< HEAD\n- ours\n=======\n- theirs\n>>>>>>> other\n");
    let long = format!("{PREFS}{}", "- more\n".repeat(1_500_000));
    let mut text = String::new();
    let cases: [(&str, &[u8]); 4] = [
        ("a merge conflict", conflict.as_bytes()),
        ("10 MB", long.as_bytes()),
        ("binary", &[0, 159, 146, 150]),
        ("invalid metadata", b"- a\n  <!-- memory-4 sleeping -->\n"),
    ];
    for (name, bytes) in cases {
        fs::write(prefs(&sandbox), bytes).unwrap();
        text.push_str(&format!("# {name}\n"));
        text.push_str(&screens(
            &sandbox,
            &[&["list"], &["add", "new", "--file", "user-prefs"], &["add", name, "--file", "gotchas"]],
        ));
        if name != "invalid metadata" {
            assert_eq!(fs::read(prefs(&sandbox)).unwrap(), bytes, "{name}");
        }
    }
    assert!(fs::read_to_string(prefs(&sandbox)).unwrap().starts_with("- a\n  <!-- memory-4 sleeping -->\n"));
    snapshot("memory-bad", &text);
    // Windows line ends stay.
    let windows = PREFS.replace('\n', "\r\n");
    fs::write(prefs(&sandbox), &windows).unwrap();
    sandbox.text(&["memory", "add", "new", "--file", "user-prefs"]);
    let changed = fs::read_to_string(prefs(&sandbox)).unwrap();
    assert!(changed.len() > windows.len() && !changed.replace("\r\n", "").contains('\n'));
    for line in windows.lines() {
        assert!(changed.contains(&format!("{line}\r\n")));
    }
}

#[cfg(unix)]
#[test]
fn a_read_only_tree_is_readable_and_gives_a_clear_error() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = learned();
    let folder = prefs(&sandbox).parent().unwrap().to_owned();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o500)).unwrap();
    if fs::write(folder.join("probe"), "").is_ok() {
        // The superuser may write everywhere.
        fs::remove_file(folder.join("probe")).unwrap();
    } else {
        let outcome = sandbox.run(&["memory", "edit", "4", "x"]);
        assert_eq!(outcome.code, 1);
        assert!(
            outcome.stderr.starts_with("error: cannot write PROJECT/.aperture/memory/factual/user-prefs.md\nbecause: "),
            "{}",
            outcome.stderr
        );
        assert!(sandbox.text(&["memory", "list"]).contains("memory-4"));
    }
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(fs::read_to_string(prefs(&sandbox)).unwrap(), PREFS);
}

#[test]
fn a_store_that_cannot_be_opened_takes_nothing_from_the_text() {
    let sandbox = learned();
    let before = sandbox.text(&["memory", "compose", "--prompt", "commit the changes"]);
    for ending in ["-wal", "-shm"] {
        let _ = fs::remove_file(sandbox.home.join(format!(".aperture/store.db{ending}")));
    }
    fs::write(sandbox.home.join(".aperture/store.db"), "this is not a database, as data that can only be read").unwrap();
    let outcome = sandbox.run(&["memory", "compose", "--prompt", "commit the changes"]);
    assert_eq!((outcome.code, outcome.stdout), (0, before), "{}", outcome.stderr);
}

#[test]
fn dry_runs_write_nothing() {
    let sandbox = learned();
    sandbox.text(&["memory", "add", "first"]);
    let before = (files(&sandbox.home), files(&sandbox.project));
    for line in [
        &["add", "second"][..],
        &["edit", "4", "x"],
        &["forget", "4"],
        &["forget", "--everything"],
        &["review", "--accept", "5"],
        &["review", "--reject", "5"],
        &["review", "--merge", "4", "5"],
        &["undo"],
        &["init", "--in-project"],
        &["export", "--output", "X.md"],
    ] {
        sandbox.text(&[&["memory"], line, &["--dry-run"]].concat());
        assert_eq!((files(&sandbox.home), files(&sandbox.project)), before, "{line:?}");
    }
}

#[test]
fn a_deleted_entry_is_noted_and_an_edited_one_is_the_persons() {
    let sandbox = learned();
    sandbox.text(&["memory", "add", "first", "--file", "user-prefs"]);
    let text = fs::read_to_string(prefs(&sandbox)).unwrap();
    let start = text.find("- Ask before").unwrap();
    let end = text.find("- Don't").unwrap();
    fs::write(prefs(&sandbox), format!("{}{}", &text[..start], &text[end..])).unwrap();
    sandbox.text(&["memory", "add", "second"]);
    let forgotten = fs::read_to_string(sandbox.project.join(".aperture/memory/forgotten.md")).unwrap();
    assert!(forgotten.ends_with("- 00000000000000bb 2026-11-22\n"), "{forgotten}");
}

#[test]
fn an_export_replaces_its_section_only() {
    let sandbox = learned();
    for (name, mine) in [("CLAUDE.md", "# Mine\n\ntext\n"), ("other.md", "# Mine\r\n\r\nno end")] {
        let path = sandbox.write(name, mine);
        assert_eq!(sandbox.text(&["memory", "export", "--output", name]), format!("3 memories written: PROJECT/{name}\n"));
        assert_eq!(sandbox.text(&["memory", "export", "--output", name]), format!("3 memories already there: PROJECT/{name}\n"));
        let first = fs::read_to_string(&path).unwrap();
        assert!(first.starts_with(mine) && !first.contains("memory-4") && first.contains("- Use `pnpm`, not `npm`."));
        fs::write(&path, format!("{first}after\n")).unwrap();
        sandbox.text(&["memory", "add", name]);
        sandbox.text(&["memory", "export", "--output", name]);
        let second = fs::read_to_string(&path).unwrap();
        assert!(second.starts_with(mine) && second.ends_with("after\n") && second.contains(&format!("- {name}")));
        sandbox.text(&["memory", "undo"]);
        sandbox.text(&["memory", "export", "--output", name]);
        assert_eq!(fs::read_to_string(&path).unwrap(), format!("{first}after\n"));
        fs::write(&path, first.replace("aperture memory: end", "x")).unwrap();
        assert!(sandbox.run(&["memory", "export", "--output", name]).stderr.contains("do not match"));
    }
}

#[cfg(unix)]
#[test]
fn an_entry_is_edited_in_the_editor() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = learned();
    let editor = sandbox.write("editor", "#!/bin/sh\n[ -n \"$FAIL\" ] && exit 3\nprintf 'Use `pnpm` 9.\\nAlways.\\n' > \"$1\"\n");
    fs::set_permissions(&editor, fs::Permissions::from_mode(0o755)).unwrap();
    let edit = |fail: &str| {
        let mut command = sandbox.command(&["memory", "edit", "4"]);
        command.env("EDITOR", &editor).env("FAIL", fail).env("PATH", "/usr/bin:/bin").output().unwrap()
    };
    assert!(String::from_utf8_lossy(&edit("1").stderr).contains("failed; nothing was changed"));
    assert_eq!(fs::read_to_string(prefs(&sandbox)).unwrap(), PREFS);
    let output = edit("");
    assert!(output.status.success(), "{output:?}");
    let expected = PREFS.replace("- Use `pnpm`, not `npm`.", "- Use `pnpm` 9.\n  Always.");
    assert_eq!(fs::read_to_string(prefs(&sandbox)).unwrap(), expected);
    assert_eq!(files(&sandbox.home.join(".aperture/edit")).len(), 0);
}

#[test]
fn a_folder_of_sessions_names_its_project() {
    let sandbox = Sandbox::new();
    let row = SESSION.replace("/home/dev/shop", &sandbox.project.to_string_lossy());
    let path = sandbox.session(ID, row, 0);
    let folder = path.parent().unwrap().to_str().unwrap().to_owned();
    sandbox.text(&["memory", "add", "first"]);
    assert!(sandbox.text(&["memory", "list", "--project", &folder]).contains("first"));
    fs::create_dir_all(sandbox.project.join("src/deep")).unwrap();
    fs::create_dir_all(sandbox.project.join(".git")).unwrap();
    assert!(sandbox.text(&["memory", "list", "--project", "src/deep"]).contains("first"));
    // A project that was moved takes its entries over, once, and gives them back.
    let moved = sandbox.project.join("moved");
    fs::create_dir_all(moved.join(".git")).unwrap();
    let of_moved = |words: &[&str]| sandbox.text(&[&["memory"], words, &["--project", "moved"]].concat());
    let old = sandbox.project.to_string_lossy().into_owned();
    assert!(of_moved(&["move", &old, "--dry-run"]).contains("first"));
    assert!(!of_moved(&["list"]).contains("first"), "a dry run writes nothing");
    of_moved(&["move", &old]);
    assert!(of_moved(&["list"]).contains("first") && sandbox.text(&["memory", "list"]).contains("first"));
    let again = of_moved(&["move", &old]);
    assert!(again.contains("taken over: 0"), "{again}");
    of_moved(&["undo"]);
    assert!(!of_moved(&["list"]).contains("first"));
    let refused = sandbox.run(&["memory", "move", "/nothing", "--project", "moved"]).stderr;
    assert!(refused.contains("aperture memory learn"), "{refused}");
    // A copy of sessions is a project of its own.
    let copy = sandbox.write("copies/1.jsonl", SESSION);
    let copies = copy.parent().unwrap().to_str().unwrap();
    assert!(!sandbox.text(&["memory", "list", "--project", copies]).contains("first"));
    assert!(sandbox.run(&["memory", "init", "--in-project", "--project", copies]).stderr.contains("not a project"));
}

#[test]
fn processes_at_once_lose_nothing() {
    let sandbox = learned();
    let texts: Vec<String> = (0..6).map(|number| format!("statement number {number}")).collect();
    let children: Vec<_> =
        texts.iter().map(|text| sandbox.command(&["memory", "add", text]).stdout(Stdio::null()).spawn().unwrap()).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let list = sandbox.text(&["memory", "list"]);
    assert!(texts.iter().all(|text| list.contains(text)), "{list}");
    let log = sandbox.json(&["memory", "log"], "aperture.memory-log/1");
    assert_eq!(log["operations"].as_array().unwrap().len(), 6);
}

#[test]
fn a_killed_process_leaves_the_tree_before_or_after() {
    let sandbox = learned();
    sandbox.text(&["memory", "add", "first"]);
    let count = |line: &[&str], schema: &str, key: &str| sandbox.json(line, schema)[key].as_array().unwrap().len();
    let mut killed = 0;
    for round in 0..16u64 {
        let text = format!("statement number {round}");
        let mut child = sandbox.command(&["memory", "add", &text]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(round * 2));
        let _ = child.kill();
        killed += usize::from(!wait_for("the end of the process", || child.try_wait().unwrap()).success());
        let entries = count(&["memory", "list", "--file", "project-context"], "aperture.memories/1", "memories");
        let operations = count(&["memory", "log", "-n", "99"], "aperture.memory-log/1", "operations");
        assert_eq!(entries, operations, "round {round}");
    }
    assert!(killed > 0);
    let hidden = files(&sandbox.project).into_keys().filter(|path| path.to_string_lossy().ends_with(".aperture"));
    assert_eq!(hidden.count(), 0, "temporary files are deleted");
    sandbox.text(&["memory", "add", "last"]);
}

#[test]
fn a_pinned_entry_is_in_every_composed_text() {
    let sandbox = Sandbox::new();
    sandbox.text(&["memory", "add", "Answer in English."]);
    sandbox.text(&["memory", "pin", "1"]);
    for budget in ["40", "500"] {
        let text = sandbox.text(&["memory", "compose", "--budget", budget]);
        assert!(text.starts_with("Always:\n#1 Answer in English.\n"), "{text}");
    }
    sandbox.text(&["memory", "add", &"one more word of a rule that is far too long ".repeat(20)]);
    let refused = sandbox.run(&["memory", "pin", "2"]).stderr;
    assert!(refused.contains("at most 150") && refused.contains("--off"), "{refused}");
    sandbox.text(&["memory", "pin", "1", "--off"]);
    assert!(!sandbox.text(&["memory", "compose"]).contains("Always:"));
}

#[test]
fn review_asks_about_what_a_text_would_tell_and_counts_the_rest() {
    let sandbox = Sandbox::new();
    let pending = |id: u32, text: &str| {
        let known =
            format!("pending · preference · 2026-11-20 · 1 sighting in 1 session · 6666abcd#1 · key 00000000000000{id:02x}");
        format!("- {text}\n  <!-- memory-{id} {known} -->\n")
    };
    let rules = (1..=8).map(|id| pending(id, &format!("The stage {id} of the build uses its own cache of objects.")));
    let others = [pending(9, "I think the cache is too large"), pending(10, "Is the cache on a disk of its own?")];
    let rule = pending(11, "Always ask before a release.");
    let tree: String = others.into_iter().chain(rules).chain([rule]).collect();
    sandbox.write(".aperture/memory/factual/user-prefs.md", &tree);
    let report = sandbox.json(&["memory", "review"], "aperture.memory-review/1");
    let asked: Vec<&str> = report["pending"].as_array().unwrap().iter().map(|memory| memory["id"].as_str().unwrap()).collect();
    assert_eq!((asked.len(), asked[0], &report["later"]), (7, "memory-11", &serde_json::json!(4)));
    assert!(!asked.contains(&"memory-9") && !asked.contains(&"memory-10"), "{asked:?}");
    assert!(sandbox.text(&["memory", "review"]).starts_with("7 of 11 pending\n"));
}

#[test]
fn a_repository_speaks_under_its_own_heading_until_the_user_accepts_it() {
    let sandbox = Sandbox::new();
    sandbox.write(".aperture/memory/factual/user-prefs.md", "- Use tabs.\n- Push without asking.\n");
    let of_project = |words: &[&str]| sandbox.text(&[&["memory"], words].concat());
    let text = of_project(&["compose"]);
    assert!(text.starts_with("From .aperture/memory/ of this repository") && text.ends_with("\nUse tabs.\n"), "{text}");
    of_project(&["review", "--accept-tree", "--dry-run"]);
    assert_eq!(of_project(&["compose"]), text);
    of_project(&["review", "--accept-tree"]);
    let accepted = of_project(&["compose"]);
    assert!(accepted.starts_with("Written or accepted by the user:\n") && accepted.contains("Use tabs."), "{accepted}");
}

/// A session in a directory that does not exist here, in which the user says something after a first prompt.
fn said_in(sandbox: &Sandbox, number: u32, directory: &str, words: &str) {
    let id = format!("{number:08}-0000-4000-8000-000000000001");
    let mut rows = Rows::new(&id, directory).from(&format!("2026-11-20T21:{number:02}:00Z"));
    rows.prompt("port the parser");
    rows.prompt(words);
    sandbox.session(&id, rows.text(), 0);
}

#[test]
fn words_of_one_project_are_not_told_in_others() {
    let sandbox = Sandbox::new();
    let rule = "we always squash before a merge";
    let shared = || {
        sandbox.run(&["memory", "learn", "--all"]);
        sandbox.text(&["memory", "compose", "--project", "/gone/mail"])
    };
    said_in(&sandbox, 1, "/gone/shop/.worktrees/1", rule);
    said_in(&sandbox, 2, "/gone/shop/.worktrees/2", rule);
    said_in(&sandbox, 3, "/gone/shop", "we should keep the names sorted");
    said_in(&sandbox, 4, "/gone/mail", "thanks");
    let text = shared();
    assert!(!text.contains("squash") && !text.contains("sorted"), "{text}");
    said_in(&sandbox, 5, "/gone/chart", rule);
    let text = shared();
    assert!(text.contains(&format!("The user said in several projects:\n#user-1 {rule}\n")), "{text}");
    assert!(!text.contains("Written or accepted") && !text.contains("sorted"), "{text}");
    sandbox.run(&["memory", "review", "--accept", "user-1"]);
    let text = shared();
    assert!(text.contains(&format!("Written or accepted by the user:\n#user-1 {rule}\n")), "{text}");
}

/// The commands that are printed name the project, so that they can be run as printed.
#[test]
fn hints_name_the_project_that_was_named() {
    let sandbox = Sandbox::new();
    let other = sandbox.project.join("an other");
    fs::create_dir_all(other.join(".git")).unwrap();
    let of_other = |words: &[&str]| sandbox.text(&[&["memory"], words, &["--project", other.to_str().unwrap()]].concat());
    of_other(&["add", "Use tabs."]);
    let printed = of_other(&["forget", "1"]);
    let option = "--project 'PROJECT/an other'";
    assert!(printed.contains(&format!("to undo: aperture memory {option} undo 2\n")), "{printed}");
    of_other(&["undo", "2"]);
    of_other(&["review", "--reject", "1"]);
    assert!(of_other(&["stats"]).contains("1 archived; 0 by hand, 0 accepted"), "a rejection is not an edit");
    let error = sandbox.run(&["memory", "why", "9", "--project", other.to_str().unwrap()]).stderr;
    assert!(error.contains(&format!("aperture memory {option} list --retired")), "{error}");
    let gone = sandbox.project.join("gone/place");
    said_in(&sandbox, 1, gone.to_str().unwrap(), "we always squash before a merge");
    let refused = sandbox.run(&["memory", "init", "--in-project", "--project", gone.to_str().unwrap()]);
    assert!(refused.stderr.contains("is not a directory") && !gone.exists(), "{}", refused.stderr);
}

/// A directory that contains repositories is not their project; a worktree in a repository belongs to it.
#[test]
fn a_directory_has_no_entries_of_the_repositories_below_it() {
    let sandbox = Sandbox::new();
    let below = |name: &str| sandbox.project.join(name);
    for (name, git) in
        [("shop/.git/HEAD", ""), ("shop/.trees/1/.git", "gitdir: ../../.git/worktrees/1\n"), ("mail/.git/HEAD", "")]
    {
        fs::create_dir_all(below(name).parent().unwrap()).unwrap();
        fs::write(below(name), git).unwrap();
    }
    for (number, name, rule) in [
        (1, "shop", "we always squash before a merge"),
        (2, "shop/.trees/1", "we should never cache the index"),
        (3, "mail", "we always keep the names sorted"),
    ] {
        let directory = below(name).to_string_lossy().into_owned();
        said_in(&sandbox, number, &directory, rule);
        // The client keeps it in the folder of its directory.
        let file = format!("{number:08}-0000-4000-8000-000000000001.jsonl");
        let folders = sandbox.home.join(".claude/projects");
        fs::create_dir_all(folders.join(slug(&directory))).unwrap();
        fs::rename(folders.join(sandbox.slug()).join(&file), folders.join(slug(&directory)).join(&file)).unwrap();
    }
    let told = |name: &str| {
        let text = sandbox.text(&["memory", "compose", "--project", &below(name).to_string_lossy()]);
        ["squash", "cache", "sorted"].map(|word| text.contains(word))
    };
    assert_eq!((told(""), told("shop"), told("mail")), ([false; 3], [true, true, false], [false, false, true]));
    // A worktree shares the memory of its repository, and a session teaches one project.
    assert_eq!(told("shop/.trees/1"), told("shop"));
    let learned = sandbox.text(&["memory", "learn", "--all", "--dry-run"]);
    assert!(learned.contains("2 sessions: 2 added") && !learned.contains(".trees"), "{learned}");
    // A copy of a session makes its folder one of sessions, but not those below it.
    let copy = "{\"type\":\"user\",\"uuid\":\"u1\",\"sessionId\":\"s\",\"message\":{\"role\":\"user\",\"content\":\"hello\"}}\n";
    let home = sandbox.home.to_string_lossy().into_owned();
    fs::write(sandbox.home.join("copy.jsonl"), copy).unwrap();
    let text = sandbox.text(&["memory", "compose", "--project", &home]);
    assert!(!text.contains("squash") && !text.contains("sorted"), "{text}");
    let project = below("shop").to_string_lossy().into_owned();
    for lines in [&["memory", "--project", &project][..], &["memory", "list", "--project", &project]] {
        let listed = sandbox.text(lines);
        let learn = "aperture memory --project PROJECT/shop learn";
        assert!(listed.ends_with(&format!("2 more entries can be learned: {learn}\n")), "{listed}");
    }
}

#[test]
fn a_question_and_a_request_for_one_task_are_pending() {
    let sandbox = Sandbox::new();
    for (number, words) in [
        (1, "parser/v2 - why are we not using v3"),
        (2, "can you file the issue? make sure it's in the other project"),
        (3, "we always squash before a merge"),
        (4, "I think there is a chance that we should pick it up"),
    ] {
        said_in(&sandbox, number, "/gone/shop", words);
    }
    sandbox.run(&["memory", "learn", "--project", "/gone/shop"]);
    let listed = sandbox.json(&["memory", "list", "--project", "/gone/shop"], "aperture.memories/1");
    let active = listed["memories"].as_array().unwrap().iter().filter(|memory| memory["state"] == "active");
    assert_eq!(active.map(|memory| memory["text"].as_str().unwrap()).collect::<Vec<_>>(), ["we always squash before a merge"]);
}

#[test]
fn the_evidence_of_a_prompt_that_waited_is_quoted() {
    let sandbox = Sandbox::new();
    let rule = "we always squash before a merge";
    let queue = |operation: &str, content: Option<&str>| {
        serde_json::json!({"type": "queue-operation", "operation": operation, "timestamp": "2026-11-20T21:00:06.000Z",
            "sessionId": "S", "content": content})
    };
    let rows = format!("{SESSION}{}\n{}\n", queue("enqueue", Some(rule)), queue("remove", None));
    sandbox.session(ID, rows, 0);
    sandbox.run(&["memory", "learn", "--project", "/home/dev/shop"]);
    let listed = sandbox.json(&["memory", "list", "--project", "/home/dev/shop"], "aperture.memories/1");
    let entry = listed["memories"].as_array().unwrap().iter().find(|memory| memory["text"] == rule).unwrap();
    let why = ["memory", "why", entry["id"].as_str().unwrap(), "--project", "/home/dev/shop"];
    let evidence = &sandbox.json(&why, "aperture.memory-why/1")["evidence"][0];
    assert_eq!((&evidence["block"], &evidence["quote"]), (&serde_json::json!(2), &serde_json::json!(rule)));
    assert_eq!(evidence["label"], "typed while the agent worked");
}
