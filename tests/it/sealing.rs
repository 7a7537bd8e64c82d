//! Tests of `aperture store`: what is stored is sealed, stays usable, and is lost by no interruption.

use crate::reliability::undo_all;
use crate::rows::Rows;
use crate::sandbox::{Sandbox, all_or, contents_below, skipped};
use aperture::model::Key;
use serde_json::json;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

const ID: &str = "77777777-7777-4777-8777-777777777777";
/// The words that are planted in the session, and in what is stored about it.
const PLANTED: [&str; 10] = [
    "zorplanqua", "vexilmarto", "quobranthi", "drimfalsex", "wubkortane", "plinxadero", "jovarnique", "smotharvel", "krendolipo",
    "fyxabrumel",
];

/// A home with one session that has the planted words in its title, its prompts, its answers, its results and its paths.
fn planted() -> (Sandbox, PathBuf) {
    let sandbox = Sandbox::new();
    let [title, prompt, answer, result, path, ..] = PLANTED;
    let title = json!({"type": "custom-title", "customTitle": title, "sessionId": ID});
    let mut rows = Rows::new(ID, &sandbox.project).from("2026-11-21T20:00:00Z");
    for turn in 0..6 {
        rows.user(json!(format!("{prompt} of turn {turn}")));
        let call = format!("toolu_{turn}");
        let usage = json!({"input_tokens": 12, "cache_read_input_tokens": 9000, "output_tokens": 7});
        rows.model(
            "claude-opus-4-5-20251101",
            &format!("m{turn}"),
            json!([
                {"type": "text", "text": format!("the {answer} of turn {turn} is decided")},
                {"type": "tool_use", "id": call, "name": "Read", "input": {"file_path": format!("/srv/{path}/{turn}.rs")}},
            ]),
            usage,
        );
        rows.user(json!([
            {"type": "tool_result", "tool_use_id": call, "content": format!("{result} {turn}\n").repeat(80)},
        ]));
    }
    let file = sandbox.session(ID, format!("{title}\n{}", rows.text()), 1_795_000_000);
    (sandbox, file)
}

fn key_file(sandbox: &Sandbox) -> PathBuf {
    sandbox.home.with_file_name("key")
}

fn data(sandbox: &Sandbox) -> PathBuf {
    sandbox.home.join(".aperture")
}

/// Changes the session and what is stored about it in many ways.
fn work(sandbox: &Sandbox, round: usize) {
    let [.., stage, snapshot, note, pattern, command] = PLANTED;
    let name = format!("{snapshot}{round}");
    for arguments in [
        &["compress", "all"][..],
        &["pin", "2"],
        &["create", note],
        &["snapshot", "save", &name],
        &["stage", &format!("{stage} {round}")],
        &["undo"],
        &["memory", "add", &format!("{pattern} before {round}"), "--user"],
        &["memory", "learn"],
        &["keep", "--all"],
    ] {
        let outcome = sandbox.run(arguments);
        assert_eq!(outcome.code, 0, "{arguments:?}: {}{}", outcome.stdout, outcome.stderr);
    }
    // Not all of these find something.
    for arguments in [
        &["search", PLANTED[1]][..],
        &["search", command],
        &["memory", "search", PLANTED[2]],
        &["recall", PLANTED[3]],
        &["topics"],
        &["usage"],
    ] {
        assert!(sandbox.run(arguments).code <= 1, "{arguments:?}");
    }
    for arguments in [&["log"][..], &["status"], &["sessions"], &["manifest"], &["keep", "list"], &["verify"]] {
        sandbox.text(arguments);
    }
}

/// Returns every file of the data directory with its bytes, but the memory trees, which stay clear.
fn files(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let is_clear = |path: &Path| path.iter().any(|part| part == "memory");
    contents_below(directory).into_iter().filter(|(path, _)| !is_clear(path)).collect()
}

/// Returns where a word, its hash or that of a content occurs in a data directory, as text or in hexadecimal, in a file or its name.
fn found(directory: &Path, contents: &[Vec<u8>]) -> Vec<String> {
    let mut needles: Vec<(String, Vec<u8>)> = Vec::new();
    let words = PLANTED.iter().map(|word| word.as_bytes().to_vec());
    for content in words.clone().chain(contents.iter().cloned()) {
        let name = String::from_utf8_lossy(&content[..content.len().min(20)]).into_owned();
        let key = Key::from_bytes(&content).0;
        for hash in [blake3::hash(&content).as_bytes().to_vec(), key.to_le_bytes().to_vec(), key.to_be_bytes().to_vec()] {
            let hexadecimal: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
            needles.push((format!("hexadecimal hash of {name}"), hexadecimal.as_bytes()[..32].to_vec()));
            needles.push((format!("hash of {name}"), hash[..16].to_vec()));
        }
    }
    for word in words {
        let hexadecimal: String = word.iter().map(|byte| format!("{byte:02x}")).collect();
        needles.push((format!("hexadecimal {}", String::from_utf8_lossy(&word)), hexadecimal.into_bytes()));
        needles.push((String::from_utf8_lossy(&word).into_owned(), word));
    }
    let mut found = Vec::new();
    for (path, mut bytes) in files(directory) {
        bytes.extend(path.to_string_lossy().as_bytes());
        for (name, needle) in &needles {
            if memchr::memmem::find(&bytes, needle).is_some() {
                found.push(format!("{}: {name}", path.display()));
            }
        }
        // A compressed value would hide a word.
        for start in memchr::memmem::find_iter(&bytes, &[0x28, 0xb5, 0x2f, 0xfd]) {
            let mut content = Vec::new();
            let decoded = zstd::Decoder::new(&bytes[start..]).and_then(|mut frame| std::io::copy(&mut frame, &mut content));
            if decoded.is_ok() || !content.is_empty() {
                found.push(format!("{}: a compressed value at {start}", path.display()));
            }
        }
    }
    found
}

#[test]
fn planted_words_are_in_no_file_of_a_sealed_store() {
    let (sandbox, file) = planted();
    let original = fs::read(&file).unwrap();
    work(&sandbox, 0);
    // What is searched for below is found before.
    let contents: Vec<Vec<u8>> = ["zorplanqua", file.to_str().unwrap(), ID, sandbox.project.to_str().unwrap()]
        .iter()
        .map(|text| text.as_bytes().to_vec())
        .chain(std::iter::once(format!("{} 1\n", PLANTED[3]).repeat(80).into_bytes()))
        .chain(original.split(|byte| *byte == b'\n').filter(|row| !row.is_empty()).map(<[u8]>::to_vec))
        .collect();
    assert!(found(&data(&sandbox), &contents).len() > 20);
    sandbox.seal();
    assert_eq!(found(&data(&sandbox), &contents), Vec::<String>::new());
    work(&sandbox, 1);
    assert_eq!(found(&data(&sandbox), &contents), Vec::<String>::new());
    sandbox.text(&["snapshot", "list"]);
    assert!(sandbox.text(&["keep", "list"]).contains(&ID[..8]));
    assert!(sandbox.text(&["search", PLANTED[1]]).contains(PLANTED[1]));
    undo_all(&sandbox, &file);
    assert!(fs::read(&file).unwrap() == original);
    sandbox.text(&["keep", "--all"]);
    fs::remove_file(&file).unwrap();
    assert!(sandbox.text(&["keep", "list"]).contains(&ID[..8]));
    sandbox.text(&["keep", "restore", ID]);
    assert!(fs::read(&file).unwrap() == original);
    sandbox.run(&["gc", "--older-than", "0d", "--gone", "--yes"]);
    assert_eq!(found(&data(&sandbox), &contents), Vec::<String>::new());
}

#[test]
fn a_locked_store_is_read_around_and_never_changed() {
    let (sandbox, file) = planted();
    work(&sandbox, 0);
    sandbox.seal();
    let before = (files(&data(&sandbox)), fs::read(&file).unwrap());
    fs::rename(key_file(&sandbox), sandbox.home.with_file_name("elsewhere")).unwrap();
    for arguments in [&["status"][..], &["blocks"], &["sessions"], &["manifest"], &["usage"]] {
        let outcome = sandbox.run(arguments);
        assert_eq!(outcome.code, 0, "{arguments:?}: {}", outcome.stderr);
        assert_eq!(
            outcome.stderr.matches("the store is locked").count(),
            usize::from(arguments != ["sessions"]),
            "{arguments:?}: {}",
            outcome.stderr
        );
    }
    for arguments in [
        &["archive", "2"][..],
        &["undo"],
        &["compress", "all"],
        &["gc", "--yes"],
        &["stage", "text"],
        &["snapshot", "save", "x"],
        &["export", "-o", "new.aperture"],
        &["store", "decrypt"],
        &["store", "rekey", "--key-file", "other"],
        &["log"],
        &["log", "--json"],
        &["verify"],
        &["inbox"],
        &["diff"],
        &["snapshot"],
        &["memory", "log"],
        &["keep"],
        &["keep", "list"],
        &["keep", "restore", ID],
    ] {
        let outcome = sandbox.run(arguments);
        assert_eq!(outcome.code, 1, "{arguments:?}: {}{}", outcome.stdout, outcome.stderr);
        let is_told = outcome.stderr.contains("the store is locked") && outcome.stderr.contains("hint");
        assert!(is_told && outcome.stdout.is_empty(), "{arguments:?}: {}{}", outcome.stdout, outcome.stderr);
    }
    let status = sandbox.text(&["store", "status"]);
    assert!(status.contains("locked ") && status.contains("operations"), "{status}");
    let hook = sandbox.run(&["hook", "UserPromptSubmit"]);
    assert_eq!(hook.code, 0);
    let mut after = files(&data(&sandbox));
    after.retain(|path, _| before.0.contains_key(path));
    assert!(after == before.0 && fs::read(&file).unwrap() == before.1);
    // Another key does not open it either.
    fs::write(key_file(&sandbox), "another key").unwrap();
    private(&key_file(&sandbox));
    assert!(sandbox.run(&["undo"]).stderr.contains("does not open the store"));
    fs::rename(sandbox.home.with_file_name("elsewhere"), key_file(&sandbox)).unwrap();
    sandbox.text(&["log"]);
}

#[test]
fn a_sealed_store_without_its_file_of_keys_is_locked() {
    let (sandbox, file) = planted();
    work(&sandbox, 0);
    sandbox.seal();
    let (keys, elsewhere) = (data(&sandbox).join("seal.toml"), sandbox.home.with_file_name("seal.toml"));
    for is_kept_only in [false, true] {
        if is_kept_only {
            fs::remove_file(data(&sandbox).join("store.db")).unwrap();
        }
        fs::rename(&keys, &elsewhere).unwrap();
        let key = key_file(&sandbox);
        for arguments in [
            &["keep", ID][..],
            &["keep", "list"],
            &["archive", "2"],
            &["log"],
            &["store", "encrypt", "--key-file", key.to_str().unwrap()],
            &["store", "decrypt"],
        ] {
            let outcome = sandbox.run(arguments);
            assert_eq!((outcome.code, &*outcome.stdout), (1, ""), "{arguments:?}: {}", outcome.stderr);
            assert!(
                outcome.stderr.contains("seal.toml is missing") && outcome.stderr.contains("from a backup"),
                "{}",
                outcome.stderr
            );
        }
        assert!(sandbox.run(&["status"]).stderr.contains("seal.toml is missing"));
        assert!(sandbox.text(&["store", "status"]).contains("seal       sealed\n"));
        assert_eq!(found(&data(&sandbox), &[]), Vec::<String>::new(), "nothing is written clear");
        fs::write(&keys, "damaged").unwrap();
        for arguments in [&["verify"][..], &["inbox"], &["diff"], &["keep", "list"]] {
            let outcome = sandbox.run(arguments);
            assert_eq!((outcome.code, &*outcome.stdout), (1, ""), "{arguments:?}: {}", outcome.stderr);
            assert!(outcome.stderr.contains("seal.toml is unreadable"), "{}", outcome.stderr);
        }
        fs::rename(&elsewhere, &keys).unwrap();
        assert!(sandbox.text(&["keep", "list"]).contains(&ID[..8]));
    }
    assert!(file.exists());
}

#[test]
fn a_clear_copy_in_a_sealed_store_is_listed_sealed_and_forgotten() {
    let (sandbox, file) = planted();
    let (kept, elsewhere) = (data(&sandbox).join("kept"), sandbox.home.with_file_name("kept"));
    let original = fs::read(&file).unwrap();
    let clear = || {
        let status = std::process::Command::new("cp").arg("-rT").args([&elsewhere, &kept]).status().unwrap();
        assert!(status.success());
    };
    sandbox.text(&["keep", "--all"]);
    fs::rename(&kept, &elsewhere).unwrap();
    sandbox.seal();
    clear();
    let files = || sandbox.json(&["keep", "list"], "aperture.keep-list/1")["copies"][0]["files"].clone();
    assert_eq!(files(), 1);
    sandbox.text(&["keep", "forget", ID, "--yes"]);
    assert!(sandbox.text(&["keep", "list"]).contains("nothing is kept"));
    // Another content is sealed already.
    let longer = [&original[..], b"{\"type\":\"summary\",\"summary\":\"x\",\"leafUuid\":\"y\"}\n"].concat();
    fs::write(&file, &longer).unwrap();
    sandbox.text(&["keep", "--all"]);
    clear();
    assert!(!found(&data(&sandbox), &[]).is_empty() && files() == 1);
    sandbox.text(&["store", "encrypt"]);
    assert_eq!((found(&data(&sandbox), &[]), files()), (Vec::<String>::new(), json!(2)));
    for (older, content) in [(&[][..], &longer), (&["--older", "1"], &original)] {
        let to = sandbox.project.join("restored.jsonl");
        sandbox.text(&[&["keep", "restore", ID, "--force", "--to", to.to_str().unwrap()], older].concat());
        assert!(fs::read(to).unwrap() == *content);
    }
}

fn private(path: &Path) {
    #[cfg(unix)]
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
}

#[test]
fn passphrases_and_keys_are_replaced() {
    let (sandbox, file) = planted();
    let original = fs::read(&file).unwrap();
    sandbox.text(&["compress", "all"]);
    let run = |arguments: &[&str], variables: &[(&str, &str)]| {
        let output = sandbox.command(arguments).envs(variables.iter().copied()).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (old, new) = (("APERTURE_PASSPHRASE", "an old one"), ("APERTURE_PASSPHRASE", "a new one"));
    assert_eq!(run(&["store", "encrypt"], &[]).0, Some(2), "there is nobody to ask");
    assert_eq!(run(&["store", "encrypt"], &[old]).0, Some(0));
    assert!(run(&["undo"], &[new]).1.contains("passphrase does not open"));
    // A key is derived from a passphrase in seconds where the program is not optimized.
    let is_whole = all_or(true, false);
    if is_whole {
        assert_eq!((run(&["store", "encrypt"], &[old]).0, run(&["log"], &[old])), (Some(0), (Some(0), String::new())));
        assert_eq!(run(&["store", "rekey"], &[old, ("APERTURE_NEW_PASSPHRASE", "a new one")]).0, Some(0));
        assert_eq!((run(&["log"], &[old]).1.is_empty(), run(&["log"], &[new]).1.is_empty()), (false, true));
    } else {
        skipped("another passphrase; to run all: APERTURE_ALL_CASES=1");
    }
    let (key, now) = (key_file(&sandbox), if is_whole { new } else { old });
    assert_eq!(run(&["store", "rekey", "--data", "--key-file", key.to_str().unwrap()], &[now]).0, Some(0));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        for path in [&key, &data(&sandbox).join("seal.toml"), &data(&sandbox).join("store.db")] {
            assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
        }
        fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(sandbox.run(&["undo"]).stderr.contains("chmod 600"));
        private(&key);
    }
    sandbox.text(&["undo"]);
    assert!(fs::read(&file).unwrap() == original);
    sandbox.text(&["store", "decrypt"]);
    assert!(!data(&sandbox).join("seal.toml").exists());
    fs::remove_file(key).unwrap();
    sandbox.text(&["redo"]);
    sandbox.text(&["verify"]);
}

/// A program with the interface of the keyring's, which keeps its secrets in a file.
#[cfg(unix)]
#[test]
fn the_keyring_of_the_system_opens_the_store() {
    let (sandbox, _) = planted();
    sandbox.text(&["compress", "all"]);
    let missing = sandbox.run(&["store", "encrypt", "--keyring"]);
    assert!(missing.code == 1 && missing.stderr.contains("keyring of the system cannot be used"), "{}", missing.stderr);
    assert!(!data(&sandbox).join("seal.toml").exists(), "nothing is sealed without a key");
    let tools = sandbox.home.with_file_name("tools");
    fs::create_dir(&tools).unwrap();
    let script = "#!/bin/sh\ncase $1 in\nstore) cat > \"$HOME/secret-$7\" ;;\nlookup) cat \"$HOME/secret-$5\" ;;\nclear) rm \"$HOME/secret-$5\" ;;\nesac\n";
    for name in ["secret-tool", "security"] {
        fs::write(tools.join(name), script).unwrap();
        fs::set_permissions(tools.join(name), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    if cfg!(target_os = "macos") {
        return;
    }
    let run = |arguments: &[&str]| {
        let output = sandbox.command(arguments).env("PATH", format!("{}:/usr/bin:/bin", tools.display())).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    };
    run(&["store", "encrypt", "--keyring"]);
    run(&["log"]);
    assert!(sandbox.run(&["undo"]).stderr.contains("the store is locked"));
    run(&["undo"]);
    run(&["store", "decrypt"]);
    sandbox.text(&["log"]);
    let secrets =
        fs::read_dir(&sandbox.home).unwrap().filter(|file| file.as_ref().unwrap().path().to_string_lossy().contains("secret-"));
    assert_eq!(secrets.count(), 0);
}

#[cfg(unix)]
#[test]
fn a_conversion_that_is_killed_at_any_moment_is_continued() {
    let (sandbox, file) = planted();
    let original = fs::read(&file).unwrap();
    work(&sandbox, 0);
    let (key, kills) = (key_file(&sandbox), all_or(300, 12));
    let key = key.to_str().unwrap();
    sandbox.seal();
    let kept = || sandbox.json(&["keep", "list"], "aperture.keep-list/1")["copies"][0]["files"].clone();
    let files_kept = kept();
    let mut length = 20_000;
    let (mut random, mut killed) = (11u64, 0);
    for round in 0..kills {
        let arguments: &[&str] = match round % 3 {
            0 => &["store", "decrypt"],
            1 => &["store", "encrypt", "--key-file", key],
            _ => &["store", "rekey", "--data", "--key-file", key],
        };
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let started = Instant::now();
        let mut child = sandbox.command(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_micros((random >> 33) % length));
        child.kill().unwrap();
        let in_time = child.wait().unwrap().code().is_none();
        killed += usize::from(in_time);
        length = if in_time { length + length / 20 } else { (started.elapsed().as_micros() as u64).max(2_000) };
        // All is usable at once.
        let log = sandbox.run(&["log"]);
        assert!(log.code == 0 && log.stdout.contains("compress"), "round {round}: {}{}", log.stdout, log.stderr);
        assert_eq!(kept(), files_kept, "round {round}");
    }
    eprintln!("{killed} of {kills} were killed in time");
    sandbox.text(&["store", "encrypt", "--key-file", key]);
    let state = sandbox.json(&["store", "status"], "aperture.store-status/1");
    assert_eq!(state["state"], "sealed");
    assert_eq!(found(&data(&sandbox), &[]), Vec::<String>::new());
    assert!(sandbox.text(&["keep", "list"]).contains(&ID[..8]));
    undo_all(&sandbox, &file);
    assert!(fs::read(&file).unwrap() == original);
}
