//! Laws on projects: each has its own sessions, whatever folder the client keeps them in.

use super::*;
use crate::fsio::RealDisk;
use crate::provider::{Client, PROVIDERS, Places, claude_code};
use crate::store::{Seal, TotalsCache};
use crate::testing::fixtures;
use std::fs;
use std::path::Path;

/// A home of Claude Code, and directories of projects.
struct Machine {
    _root: tempfile::TempDir,
    root: PathBuf,
}

impl Machine {
    fn new() -> Machine {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().canonicalize().unwrap();
        Machine { _root: root, root: path }
    }

    fn places(&self) -> Places {
        Places { home: self.root.join("home"), ..Places::default() }
    }

    fn directory(&self, name: &str) -> PathBuf {
        let directory = self.root.join(name);
        fs::create_dir_all(&directory).unwrap();
        directory
    }

    /// Writes a file below the sessions of a directory.
    fn write(&self, directory: &str, name: &str, content: &str) {
        let root = self.root.join("home/.claude/projects");
        let path = claude_code::ClaudeCode.project_directory(&root, Path::new(directory)).unwrap().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn session(&self, directory: &str, id: &str) {
        self.write(directory, &format!("{id}.jsonl"), &prompt(id, Some(directory)));
    }

    /// Returns the ids of the sessions of a project, for a list without and with a cache.
    fn of(&self, directory: impl AsRef<Path>) -> Vec<String> {
        let directory = named_directory(&RealDisk, &self.root, directory.as_ref());
        let project = Project::at(&RealDisk, &directory);
        let ids = |cache: &TotalsCache| -> Vec<String> {
            let listed = list(&RealDisk, cache, &self.places(), Some(&project), true, &mut |_, _| {}).unwrap();
            let mut ids: Vec<String> = listed.into_iter().flatten().map(|listed| listed.found.location.id).collect();
            ids.sort();
            ids
        };
        fs::write(self.root.join(crate::store::TOTALS_FILE), "").unwrap();
        let cache = || TotalsCache::at(&self.root, &Seal::default());
        list(&RealDisk, &cache(), &self.places(), None, true, &mut |_, _| {}).unwrap();
        assert_eq!(ids(&cache()), ids(&TotalsCache::default()), "{}", directory.display());
        ids(&cache())
    }

    /// Returns the id of the session that a command takes in a directory.
    fn default(&self, directory: impl AsRef<Path>) -> Option<String> {
        let directory = named_directory(&RealDisk, &self.root, directory.as_ref());
        find(&RealDisk, &self.places(), &directory, None).ok().map(|found| found.location.id)
    }
}

fn prompt(id: &str, directory: Option<&str>) -> String {
    let mut row = serde_json::json!({
        "type": "user", "uuid": format!("{id}-1"), "sessionId": id, "message": {"role": "user", "content": "Hello."},
    });
    if let Some(directory) = directory {
        row["cwd"] = directory.into();
    }
    format!("{row}\n")
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn projects_that_a_client_keeps_in_one_folder_are_told_apart() {
    let machine = Machine::new();
    let names = [
        "my_app", "my-app", "my.app", "新聞", "暫存", "gone_app", "gone-app", "gone-App", "my_app/.worktrees/a",
        "my_app/.worktrees_a",
    ];
    for (number, name) in names.iter().enumerate() {
        let directory = machine.root.join(name);
        if !name.starts_with("gone") {
            fs::create_dir_all(&directory).unwrap();
        }
        machine.session(text(&directory), &format!("s{number}"));
    }
    for (number, name) in names.iter().enumerate() {
        let id = format!("s{number}");
        for form in [(*name).to_owned(), format!("{name}/"), format!("./{name}")] {
            assert_eq!(machine.of(&form), std::slice::from_ref(&id), "{form}");
            assert_eq!(machine.default(&form).as_ref(), Some(&id), "{form}");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_link_to_a_project_is_the_project() {
    let machine = Machine::new();
    let shop = machine.directory("shop");
    std::os::unix::fs::symlink(&shop, machine.root.join("link")).unwrap();
    machine.session(text(&shop), "real");
    machine.session(text(&machine.root.join("link")), "linked");
    for name in ["shop", "link"] {
        assert_eq!(machine.of(name), ["linked", "real"], "{name}");
    }
}

#[test]
fn a_drive_has_no_case_and_separators_may_differ() {
    let machine = Machine::new();
    for (id, directory) in
        [("a", r"C:\w\shop"), ("b", r"c:\w\shop"), ("c", "C:/w/shop"), ("d", r"C:\w\shop2"), ("e", r"D:\w\shop")]
    {
        machine.session(directory, id);
    }
    for name in [r"C:\w\shop", r"c:\w\shop", "c:/w/shop/", r"C:\w\shop\"] {
        assert_eq!(machine.of(name), ["a", "b", "c"], "{name}");
        assert!(machine.default(name).is_some_and(|id| ["a", "b", "c"].contains(&&*id)), "{name}");
    }
    assert_eq!(machine.of(r"d:\w\shop"), ["e"]);
}

#[test]
fn a_subagent_belongs_where_its_session_does() {
    let machine = Machine::new();
    let (shop, tree) = (machine.directory("shop"), machine.directory("shop-tree"));
    machine.session(text(&shop), "main");
    machine.write(text(&shop), "main/subagents/agent-0a.jsonl", &prompt("agent-0a", Some(text(&tree))));
    assert_eq!(machine.of(&shop), ["agent-0a", "main"]);
    assert_eq!(machine.of(&tree), [""; 0]);
}

#[test]
fn a_directory_is_found_behind_long_rows_and_many_rows() {
    let machine = Machine::new();
    let shop = machine.directory("shop");
    let row = |length: usize| format!("{{\"type\":\"summary\",\"summary\":\"{}\",\"leafUuid\":\"x\"}}\n", "a".repeat(length));
    let long = row(200 << 10) + &row(10).repeat(40) + &prompt("long", Some(text(&shop)));
    machine.write("/other", "long.jsonl", &long);
    assert_eq!(machine.of(&shop), ["long"]);
    assert_eq!(machine.default(&shop).as_deref(), Some("long"));
}

#[test]
fn a_folder_counts_for_sessions_without_a_directory_and_for_those_put_there() {
    let machine = Machine::new();
    let (old, new, other) = (machine.root.join("old"), machine.directory("new"), machine.directory("other"));
    machine.write(text(&new), "unknown.jsonl", &prompt("unknown", None));
    machine.write(text(&new), "moved.jsonl", &prompt("moved", Some(text(&old))));
    machine.session(text(&other), "other");
    assert_eq!(machine.of(&new), ["moved", "unknown"]);
    assert_eq!(machine.of(&old), ["moved"]);
    assert_eq!(machine.of(&other), ["other"]);
}

#[test]
fn a_session_that_was_put_into_a_folder_of_several_projects_belongs_where_it_is_continued() {
    let machine = Machine::new();
    let (old, news, drafts) = (machine.root.join("old"), machine.directory("新聞"), machine.directory("暫存"));
    let rows = [&old, &news].map(|directory| prompt("moved", Some(text(directory))));
    machine.write(text(&news), "moved.jsonl", &rows.concat());
    machine.session(text(&drafts), "own");
    assert_eq!((machine.of(&news), machine.of(&drafts)), (vec!["moved".to_owned()], vec!["own".to_owned()]));
    assert_eq!(machine.default(&drafts).as_deref(), Some("own"));
    let moved = find(&RealDisk, &machine.places(), &machine.root, Some("moved")).unwrap();
    let own = find(&RealDisk, &machine.places(), &machine.root, Some("own")).unwrap();
    assert!(!Project::of_session(&RealDisk, &moved).holds(&RealDisk, &own, Some(&drafts)));
    assert!(Project::of_session(&RealDisk, &moved).holds(&RealDisk, &moved, Some(&old)));
}

#[test]
fn a_directory_that_does_not_exist_has_no_session_of_a_directory_above_it() {
    let machine = Machine::new();
    let shop = machine.directory("shop");
    machine.directory("shop/src");
    machine.session(text(&shop), "main");
    assert_eq!(machine.default("shop/src").as_deref(), Some("main"));
    assert_eq!(machine.default("shop/scr"), None);
}

#[test]
fn a_list_and_a_search_read_the_same_directory() {
    let machine = Machine::new();
    for (number, fixture) in fixtures().into_iter().enumerate() {
        let name = fixture.file_name().unwrap().to_str().unwrap().to_owned();
        let provider = PROVIDERS.iter().rev().find(|provider| provider.locate(&fixture).is_some()).unwrap();
        let root = provider.roots(&machine.places()).remove(0);
        let path = root.join(number.to_string()).join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::copy(&fixture, path).unwrap();
    }
    let listed = list(&RealDisk, &TotalsCache::default(), &machine.places(), None, true, &mut |_, _| {}).unwrap();
    let listed: Vec<Listed> = listed.into_iter().flatten().collect();
    assert!(listed.iter().filter(|listed| listed.directory().is_some()).count() > 2);
    for listed in &listed {
        assert_eq!(listed.directory(), stated(&RealDisk, &listed.found).as_deref(), "{}", listed.found.path.display());
    }
}
