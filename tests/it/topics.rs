//! `aperture topics`: its screens, and what it does without sessions and with a damaged cache.

use crate::sandbox::Sandbox;
use crate::searching::session;
use expect_test::expect;
use std::fs;

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    let fixed = "I'll fix the flaky login test. The login test waits for the server now.";
    session(
        &sandbox,
        "aaaa1111",
        &["fix the flaky login test", fixed, "add a dark mode toggle", "The dark mode toggle is done."],
    );
    session(&sandbox, "bbbb2222", &["the flaky login test fails again", "I'll fix the flaky login test with a longer wait."]);
    session(&sandbox, "cccc3333", &["给登录页面添加缓存", "完成了。", "yes", "Done."]);
    sandbox
}

#[test]
fn topics_of_several_sessions_are_shown_at_80_and_140_columns() {
    let sandbox = sandbox();
    expect![[r#"
        fix the flaky login test   2 sessions    2 turns    ~56
          aaaa1111    11 d  fix the flaky login test  #1
          bbbb2222    11 d  the flaky login test fails again  #1
        add a dark mode toggle      1 session     1 turn    ~17
          aaaa1111    11 d  fix the flaky login test  #2
        给登录页面添加缓存          1 session    2 turns    ~13
          cccc3333    11 d  给登录页面添加缓存  #1 #2

        read 3 sessions
        to search for one: aperture search 'fix the flaky login test'
        to read a turn: aperture show 'turn(1)' -s aaaa1111
    "#]]
    .assert_eq(&sandbox.columns_text(&["topics"], 80));
    expect![[r#"
        fix the flaky login test   2 sessions    2 turns    ~56  2026-11-10  █···········
          aaaa1111    11 d  fix the flaky login test  #1
          bbbb2222    11 d  the flaky login test fails again  #1

        read 3 sessions
        to search for one: aperture search 'fix the flaky login test'
        to read a turn: aperture show 'turn(1)' -s aaaa1111
    "#]]
    .assert_eq(&sandbox.columns_text(&["topics", "login", "--sort", "sessions"], 140));
}

#[test]
fn the_cache_and_the_order_of_files_change_nothing() {
    let sandbox = sandbox();
    let topics = || sandbox.json(&["topics"], "aperture.topics/1").to_string();
    let first = topics();
    assert_eq!(first, topics(), "from the cache");
    assert_eq!(first, sandbox.json(&["--no-cache", "topics"], "aperture.topics/1").to_string());
}

/// The cache of a sandbox, and the number of sessions whose topics it has.
fn cached(sandbox: &Sandbox) -> (rusqlite::Connection, u32) {
    let cache = rusqlite::Connection::open(sandbox.home.join(".aperture/cache/cache.db")).unwrap();
    let count = cache.query_row("SELECT count(*) FROM topics", [], |row| row.get(0)).unwrap();
    (cache, count)
}

#[test]
fn a_damaged_cache_is_ignored() {
    let sandbox = sandbox();
    let topics = || sandbox.json(&["topics"], "aperture.topics/1").to_string();
    let first = topics();
    let (cache, count) = cached(&sandbox);
    assert_eq!(count, 3);
    cache.execute("UPDATE topics SET topics = x'ff00ff'", []).unwrap();
    drop(cache);
    assert_eq!(first, topics(), "damaged rows");
    fs::write(sandbox.home.join(".aperture/cache/cache.db"), "no database").unwrap();
    assert_eq!(first, topics(), "a damaged file");
}

#[test]
fn the_topics_of_a_deleted_session_leave_the_cache() {
    let sandbox = sandbox();
    let path = session(&sandbox, "dddd4444", &["add a progress bar to the upload", "Added a progress bar."]);
    sandbox.text(&["topics"]);
    assert_eq!(cached(&sandbox).1, 4);
    fs::remove_file(path).unwrap();
    sandbox.text(&["topics", "--project", "."]);
    assert_eq!(cached(&sandbox).1, 4, "not all files are listed");
    sandbox.text(&["topics"]);
    assert_eq!(cached(&sandbox).1, 3);
}

#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_read_is_named_and_the_rest_is_shown() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = sandbox();
    let path = session(&sandbox, "dddd4444", &["add a progress bar to the upload", "Added a progress bar."]);
    sandbox.text(&["topics"]);
    let closed = path.parent().unwrap().with_file_name("closed");
    fs::create_dir(&closed).unwrap();
    fs::rename(&path, closed.join(path.file_name().unwrap())).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o0)).unwrap();
    if fs::read_dir(&closed).is_ok() {
        return crate::sandbox::skipped("this user can read every folder");
    }
    let outcome = sandbox.run(&["topics"]);
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("skipped") && outcome.stderr.contains("closed"), "{}", outcome.stderr);
    assert!(outcome.stdout.contains("flaky login test"), "{}", outcome.stdout);
    assert_eq!(cached(&sandbox).1, 4, "nothing is removed");
}

#[test]
fn a_missing_session_and_a_missing_topic_are_errors() {
    let none = Sandbox::new().run(&["topics"]);
    assert_ne!(none.code, 0, "{}", none.stderr);
    let sandbox = sandbox();
    let outcome = sandbox.run(&["topics", "nosuchword"]);
    assert_eq!(outcome.code, 1);
    assert!(outcome.stderr.contains("no topic with 'nosuchword' in 3 sessions"), "{}", outcome.stderr);
    let path = sandbox.session("dddd4444", "not a session", 0);
    assert_eq!(sandbox.run(&["topics"]).code, 0);
    fs::remove_file(path).unwrap();
}

#[test]
fn sessions_can_be_listed_by_their_topics() {
    let sandbox = sandbox();
    expect![[r#"
        AGE   ID       CLIENT PROJECT WINDOW FULL TURNS  SIZE MODEL TOPICS
         11 d aaaa1111 claude project     ~0  0 %     2  1 kB       fix the flaky login test · add a dark m…
         11 d cccc3333 claude project     ~0  0 %     2  1 kB       给登录页面添加缓存
         11 d bbbb2222 claude project     ~0  0 %     1 570 B       flaky login test fails
    "#]]
    .assert_eq(&sandbox.columns_text(&["sessions", "--topics"], 100));
    let listed = sandbox.json(&["sessions", "--topics"], "aperture.sessions/2");
    let first = listed["sessions"].as_array().unwrap().iter().find(|session| session["id"].as_str().unwrap().starts_with("aaaa"));
    assert_eq!(first.unwrap()["topics"].as_array().unwrap().len(), 2);
    assert!(sandbox.json(&["sessions"], "aperture.sessions/2")["sessions"][0]["topics"].is_null());
}
