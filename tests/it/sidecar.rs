//! A local model in the background, played by the tests: it answers well, late, wrongly, partly or never.
#![allow(clippy::disallowed_types, reason = "the server of the model")]

use crate::network::{Api, Seen, send};
use crate::rows::Rows;
use crate::sandbox::{Sandbox, all_or, wait_for};
use aperture::store::{Seal, SidecarStore};
use serde_json::{Value, json};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const MODEL: &str = "tiny";

type Answer = fn(&Seen, &mut TcpStream);

/// Returns the rows of a session whose turns have a text of the agent that is long enough for a summary, and a large result.
pub fn rows(id: &str, turns: usize) -> String {
    let mut rows = Rows::new(id, "/home/dev/shop").from("2026-11-21T00:00:00Z");
    for turn in 0..turns {
        let at = turn * 4;
        rows.user(json!(format!("Please correct the rounding in src/tax_{turn}.rs of {id}")));
        let call = format!("toolu_{id}_{turn}");
        let say = |rows: &mut Rows, content: Value| {
            let usage = json!({"input_tokens": 9, "output_tokens": 7});
            rows.model("claude-opus-4-5-20251101", &format!("m{at}{}", content["type"]), json!([content]), usage);
        };
        say(&mut rows, json!({"type": "tool_use", "id": call, "name": "Bash", "input": {"command": "cargo test"}}));
        let lines: String = (0..60).map(|line| format!("test tax_{turn}::case_{line} of the rounding rules ... ok\n")).collect();
        let result = format!("running {} tests\n{lines}error: case_{turn}7 failed with 0.{turn}\n", 60 + turn);
        rows.user(json!([{"type": "tool_result", "tool_use_id": call, "content": result}]));
        let said = format!(
            "The function round_{turn} in src/tax_{turn}.rs truncated the amounts, so that invoices were wrong by one cent. I changed it to \
             round half up. It does not touch the stored amounts, because these are integers in cents. All {} tests of the module pass now. \
             The report in docs/report_{turn}.md lists the invoices of March that were wrong. Nothing else depends on the function, and the \
             public interface has not changed. The next step is a migration of the old invoices, which I have not started. Before, \
             case_{turn}7 had failed with 0.{turn}.",
            60 + turn
        );
        say(&mut rows, json!({"type": "text", "text": said}));
    }
    rows.text()
}

/// Returns a sandbox with a session of some turns, whose server is at an address.
pub fn sandbox(turns: usize, url: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.session("5e551045-0000-4000-8000-000000000001", rows("5e551045-0000-4000-8000-000000000001", turns), 0);
    configure(&sandbox, url, "");
    sandbox
}

pub fn configure(sandbox: &Sandbox, url: &str, more: &str) {
    let directory = sandbox.home.join(".aperture");
    std::fs::create_dir_all(&directory).unwrap();
    let settings = format!("[sidecar]\nurl = \"{url}\"\nmodel = \"{MODEL}\"\nlow_priority = false\non_battery = true\n{more}");
    std::fs::write(directory.join("config.toml"), settings).unwrap();
}

fn store(sandbox: &Sandbox) -> SidecarStore {
    SidecarStore::open(&sandbox.home.join(".aperture"), &Seal::default()).unwrap()
}

/// Returns the text of a request, and the names of the fields that it asks for.
fn asked(seen: &Seen) -> (String, Vec<String>) {
    let body: Value = serde_json::from_slice(&seen.body).unwrap_or_default();
    let text = body["messages"][1]["content"].as_str().unwrap_or_default().trim_start_matches("Text:\n\n").to_owned();
    let required = body["response_format"]["json_schema"]["schema"]["required"].as_array().cloned().unwrap_or_default();
    (text, required.iter().map(|name| name.as_str().unwrap().to_owned()).collect())
}

/// Returns a true answer to a request: words of the prompt, and a sentence of the text.
fn good(seen: &Seen) -> Value {
    let (text, fields) = asked(seen);
    true_answer(&text, &fields)
}

fn true_answer(text: &str, fields: &[String]) -> Value {
    if let Some((older, _)) = text.split_once("\n\nThe new note: ") {
        if older.contains("before a deploy") || older.contains("of the rounding rules") {
            return json!({"lost": ""});
        }
        let lost = older.trim_start_matches("The old note: ").split_inclusive(". ").last().unwrap();
        return json!({"lost": lost});
    }
    if let Some((_, asks)) = text.split_once("\n\nThe second prompt: ") {
        let task = if asks.contains("tax_2") { "new" } else { "same" };
        return json!({"task": task});
    }
    if text.starts_with("The answer: ") {
        return json!({"texts": text.matches("— Result ").count().to_string()});
    }
    let body = text.split("Agent: ").nth(1).unwrap_or(text);
    let sentence: String =
        body.lines().next().unwrap_or_default().split_inclusive(". ").next().unwrap_or_default().trim().to_owned();
    let prompt = text.strip_prefix("User: ").unwrap_or(text);
    let words: Vec<&str> = prompt.lines().next().unwrap_or_default().split_whitespace().skip(1).take(5).collect();
    // The text of a block has what the rules keep of it.
    let is_block = sentence.starts_with("running 60 tests");
    let sentence = if is_block { body.lines().take(2).collect::<Vec<_>>().join(" ") } else { sentence };
    let of = |field: &String| if field == "header" || field == "label" { words.join(" ") } else { sentence.clone() };
    fields.iter().map(|field| (field.clone(), json!(of(field)))).collect::<serde_json::Map<_, _>>().into()
}

fn answer(stream: &mut TcpStream, content: &str) {
    let body = json!({"choices": [{"message": {"role": "assistant", "content": content}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 40}});
    send(stream, "200 OK\r\ncontent-type: application/json", body.to_string().as_bytes());
}

pub fn well(seen: &Seen, stream: &mut TcpStream) {
    if seen.target().ends_with("/embeddings") {
        // The words of a text, in a few classes.
        let body: Value = serde_json::from_slice(&seen.body).unwrap();
        let mut vector = [0.0f32; 32];
        for word in body["input"].as_str().unwrap().split(|c: char| !c.is_alphanumeric()) {
            vector[word.bytes().map(usize::from).sum::<usize>() % 32] += 1.0;
        }
        let body = json!({"data": [{"embedding": vector}], "usage": {"prompt_tokens": 9}});
        return send(stream, "200 OK\r\ncontent-type: application/json", body.to_string().as_bytes());
    }
    answer(stream, &good(seen).to_string());
}

/// Returns a server that answers well.
pub fn server() -> Api {
    Api::new(well)
}

#[test]
fn an_answer_is_read_wherever_the_text_by_rules_would_be() {
    let api = server();
    let sandbox = sandbox(4, &api.url());
    let (before, pack, manifest) =
        (sandbox.text(&["summary"]), sandbox.text(&["pack", "--budget", "2000"]), sandbox.text(&["manifest"]));
    let first = sandbox.json(&["sidecar", "queue"], "aperture.sidecar-queue/1");
    assert!(!first["tasks"].as_array().unwrap().is_empty(), "commands queue what they lack before any worker ran");
    let queued = sandbox.json(&["sidecar", "queue", "--add"], "aperture.sidecar-queue/1");
    assert_eq!(sandbox.text(&["summary"]), before, "the rules' text stays until there is an answer");
    let drained = sandbox.json(&["sidecar", "drain"], "aperture.sidecar/1");
    assert_eq!(
        (&drained["waiting"], &drained["refused"], &drained["stopped_tasks"]),
        (&json!(0), &json!(0), &json!([])),
        "{drained}"
    );
    let all = queued["tasks"].as_array().unwrap().len() as u64;
    assert!(queued["added"].as_u64().unwrap() <= all, "{queued}");
    assert_eq!(drained["accepted"].as_u64(), Some(all));

    let after = sandbox.json(&["summary", "--turns", "1..2"], "aperture.summary/2");
    let words = &after["turns"][0]["housekeeping"];
    assert_eq!(
        (&words["written_by"], &words["response_header"]),
        (&json!(MODEL), &json!("correct the rounding in src/tax_0.rs"))
    );
    let said = "The function round_0 in src/tax_0.rs truncated the amounts, so that invoices were wrong by one cent.";
    let summary = after["turns"][0]["summary"]["text"].as_str().unwrap();
    assert!(
        summary.contains(&format!("said: {said}")) && summary.contains("Please correct the rounding in src/tax_0.rs"),
        "{summary}"
    );
    assert!(sandbox.text(&["summary", "--turn", "1"]).contains("model     text by model tiny, checked"));
    let turns = sandbox.text(&["recall", "--turns", "1", "--as", "summary"]);
    assert!(turns.contains("correct the rounding in src/tax_0.rs · "), "{turns}");
    assert_ne!(sandbox.text(&["pack", "--budget", "2000"]), pack);
    let current = &sandbox.json(&["summary"], "aperture.summary/2")["current"];
    assert_eq!(current["written_by"], MODEL, "{current}");
    assert_ne!(sandbox.text(&["manifest"]), manifest, "a topic has the label of the model");
    let begun = sandbox.json(&["summary"], "aperture.summary/2")["turns"]
        .as_array()
        .unwrap()
        .iter()
        .map(|turn| !turn["begins_task"].is_null())
        .collect::<Vec<_>>();
    assert_eq!(begun, [false, false, true, false]);
    assert_eq!(sandbox.text(&["summary"]).matches("— task 2, as the local model says").count(), 1);
    let of_task = |task: &str| sandbox.json(&["blocks", task], "aperture.blocks/2")["blocks"].as_array().unwrap().len();
    assert_eq!([of_task("task(1)"), of_task("task(2)"), of_task("task(1..2)")], [8, 8, 16]);
    let absent = sandbox.run(&["blocks", "task(3)"]);
    assert!(absent.stderr.contains("there is no task 3: the session has tasks 1 to 2"), "{}", absent.all());
    let explained = sandbox.text(&["explain", "7"]);
    assert!(explained.contains("the answer #8 builds on it, as a local model says"), "{explained}");
    // The same cache gives the same bytes.
    for arguments in [&["summary"][..], &["pack", "--budget", "2000"], &["manifest"]] {
        assert_eq!(sandbox.text(arguments), sandbox.text(arguments));
    }
}

#[test]
fn a_result_that_a_later_one_repeats_in_other_words_is_named() {
    let api = server();
    let sandbox = Sandbox::new();
    let id = "5e551045-0000-4000-8000-000000000002";
    // The fourth result has all of the third and one line more; the others are unlike.
    let lines: String = (0..60).map(|line| format!("test tax_2::case_{line} of the rounding rules ... ok\\n")).collect();
    let rows: String = rows(id, 4)
        .lines()
        .map(|row| {
            let row = match row.find("running 63 tests") {
                Some(start) => {
                    let end = start + row[start..].find("failed with 0.3").unwrap() + "failed with 0.3".len();
                    format!(
                        "{}running 62 tests\\n{lines}warning: one is slow\\nerror: case_27 failed with 0.2{}",
                        &row[..start],
                        &row[end..]
                    )
                }
                None => row.to_owned(),
            };
            let number = row.find("cargo test\"").map(|_| row.len()).unwrap_or_default();
            row.replacen(
                "cargo test\"",
                &format!("cargo test --jobs {number}{}\"", &row[row.find("uuid").unwrap() + 7..][..8]),
                1,
            ) + "\n"
        })
        .collect();
    sandbox.session(id, rows, 0);
    configure(&sandbox, &api.url(), "");
    sandbox.text(&["sidecar", "queue", "--add"]);
    assert_eq!(
        sandbox.text(&["blocks", "alike"]).lines().count(),
        sandbox.text(&["blocks", "1 & 2"]).lines().count(),
        "none yet"
    );
    let drained = sandbox.json(&["sidecar", "drain"], "aperture.sidecar/1");
    let sum = |names: [&str; 2]| names.iter().map(|name| drained[name].as_u64().unwrap()).sum::<u64>();
    assert_eq!(drained["calls"], sum(["accepted", "refused"]), "about texts that are unlike, no model is asked: {drained}");
    let alike = sandbox.json(&["blocks", "alike"], "aperture.blocks/2");
    let numbers: Vec<u64> = alike["blocks"].as_array().unwrap().iter().map(|block| block["number"].as_u64().unwrap()).collect();
    assert_eq!(numbers, [11]);
    let explained = sandbox.text(&["explain", "11"]);
    assert!(explained.contains("#15 says the same in other words, as a local model says"), "{explained}");
    assert!(!sandbox.json(&["sidecar", "queue", "--add"], "aperture.sidecar-queue/1").to_string().contains("duplicate"));
}

#[test]
fn a_change_that_uses_a_text_of_a_model_says_so() {
    let api = server();
    let sandbox = sandbox(4, &api.url());
    sandbox.text(&["sidecar", "queue", "--add"]);
    sandbox.text(&["sidecar", "drain"]);
    let block = sandbox.json(&["explain", "3"], "aperture.explain/2");
    let summarized =
        block["levels"].as_array().unwrap().iter().find(|level| level["level"] == "summarized" && level["preset"].is_null());
    let summarized = summarized.unwrap();
    assert_eq!(summarized["written_by"], MODEL, "{block}");
    let content = summarized["content"].as_str().unwrap();
    assert!(content.contains("running 60 tests") && content.contains("error: case_07 failed with 0.0"), "{content}");
    assert!(sandbox.text(&["explain", "3"]).contains("text by model tiny, checked"));
    sandbox.text(&["compress", "3", "--level", "summarized"]);
    assert!(
        sandbox.text(&["show", "3"]).contains("running 60 tests test tax_0::case_0 of the rounding rules ... ok\nerror: case_07"),
        "{}",
        sandbox.text(&["show", "3"])
    );
    assert!(sandbox.text(&["log", "--json"]).contains("text by model tiny, checked"));
    assert!(sandbox.text(&["log"]).contains("(text by model tiny, checked)"), "{}", sandbox.text(&["log"]));
    assert!(sandbox.text(&["explain", "3"]).contains("text by model tiny, checked"));
    let summary = sandbox.json(&["summary", "--turn", "1"], "aperture.summary/2");
    assert_eq!(summary["turns"][0]["housekeeping"]["written_by"], MODEL, "a shortened session has the same answers");
    sandbox.text(&["undo"]);
    assert!(sandbox.text(&["show", "3"]).contains("case_59 of the rounding rules"));
}

#[test]
fn a_wrong_answer_is_refused_and_counted_and_the_model_is_stopped() {
    // One digit, one path or one negation of each answer is wrong.
    let count = AtomicUsize::new(0);
    let api = Api::new(move |seen, stream| {
        let text = good(seen).to_string();
        let wrong = match count.fetch_add(1, Ordering::SeqCst) % 3 {
            0 => text.replace("src/tax_", "src/tex_").replace("running ", "running 9"),
            1 => text.replace("were wrong", "were not wrong").replace("running 6", "running 7"),
            _ => text.replace("round_", "rounds_").replace("running 6", "running no 6"),
        };
        answer(stream, if wrong == text { "{\"label\": \"rewrote the database layer\"}" } else { &wrong });
    });
    let sandbox = sandbox(30, &api.url());
    let before = [sandbox.text(&["summary"]), sandbox.text(&["pack", "--budget", "2000"])];
    sandbox.text(&["sidecar", "queue", "--add"]);
    let outcome = sandbox.run(&["sidecar", "drain"]);
    assert_eq!(outcome.code, 1, "{}", outcome.all());
    assert!(outcome.stderr.contains("the model tiny is stopped for the task "), "{}", outcome.all());
    assert_eq!([sandbox.text(&["summary"]), sandbox.text(&["pack", "--budget", "2000"])], before);
    let status = sandbox.json(&["sidecar"], "aperture.sidecar/1");
    assert_eq!((&status["accepted"], &status["is_up"]), (&json!(0), &json!(true)));
    assert_eq!(status["stopped_tasks"], json!(["block", "boundary", "echo", "turn"]), "each after its own 20 answers");
    assert!(sandbox.text(&["sidecar"]).contains("to start again: aperture sidecar run --again"));
    assert_eq!(sandbox.json(&["sidecar", "clear", "--answers"], "aperture.sidecar/1")["refused"], 0);
}

#[test]
fn a_server_that_does_not_answer_costs_nothing_but_its_own_time() {
    let answers: [(&str, Answer); 4] = [
        ("no answer within 1 s", |_, _| std::thread::sleep(Duration::from_secs(30))),
        ("HTTP 500", |_, stream| send(stream, "500 Internal Server Error", b"{\"error\": {\"message\": \"out of memory\"}}")),
        ("a response that is not JSON", |_, stream| send(stream, "200 OK", b"{\"choices\": [{\"mess")),
        ("HTTP 503", |_, stream| {
            send(stream, "503 Service Unavailable", b"{\"error\": {\"message\": \"Loading model\"}}");
        }),
    ];
    for (error, server) in answers {
        let api = Api::new(server);
        let sandbox = sandbox(3, &api.url());
        configure(&sandbox, &api.url(), "seconds = 1\n");
        let before = sandbox.text(&["summary"]);
        sandbox.text(&["sidecar", "queue", "--add"]);
        let outcome = sandbox.run(&["sidecar", "drain"]);
        assert!(outcome.code == 1 && outcome.stderr.contains("the server failed several times"), "{error}: {}", outcome.all());
        let queue = sandbox.json(&["sidecar", "queue"], "aperture.sidecar-queue/1").to_string();
        assert!(queue.contains(error), "{error}: {queue}");
        assert_eq!(sandbox.text(&["summary"]), before);
    }
    // A server can repeat the key that it was sent: its words are shown once, masked, and not stored.
    let api = Api::new(|seen, stream| {
        let key = seen.header("authorization").unwrap_or_default();
        let body = json!({"error": {"message": format!("Incorrect key: {key} of count the orders")}}).to_string();
        send(stream, "503 Service Unavailable", body.as_bytes());
    });
    let sandbox = sandbox(3, &api.url());
    sandbox.text(&["sidecar", "queue", "--add"]);
    let mut command = sandbox.command(&["sidecar", "drain"]);
    let output = command.env("APERTURE_SIDECAR_KEY", "my-own-key-of-no-known-shape").output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("HTTP 503 Incorrect key: Bearer [key] of count") && !text.contains("my-own-key"), "{text}");
    assert_eq!(text.matches("Incorrect key").count(), 1, "{text}");
    let queue = sandbox.json(&["sidecar", "queue"], "aperture.sidecar-queue/1").to_string();
    assert!(queue.contains("HTTP 503") && !queue.contains("Incorrect"), "{queue}");
    let sandbox = self::sandbox(3, "http://127.0.0.1:9");
    sandbox.text(&["sidecar", "queue", "--add"]);
    assert_eq!(sandbox.run(&["sidecar", "drain"]).code, 1);
    assert_eq!(sandbox.json(&["sidecar"], "aperture.sidecar/1")["is_up"], false);
}

#[test]
fn a_late_answer_and_one_without_a_schema_count() {
    let api = Api::new(|seen, stream| {
        std::thread::sleep(Duration::from_millis(50));
        if find_text(seen, "response_format") {
            return send(stream, "400 Bad Request", b"{\"error\": {\"message\": \"unknown field response_format\"}}");
        }
        let (text, _) = asked(seen);
        let fields = ["header", "summary", "label", "story"].map(str::to_owned);
        answer(stream, &format!("Here it is: {}", true_answer(&text, &fields)));
    });
    let sandbox = sandbox(3, &api.url());
    sandbox.text(&["sidecar", "queue", "--add"]);
    let done = sandbox.json(&["sidecar", "drain"], "aperture.sidecar/1");
    assert_eq!((&done["waiting"], &done["refused"]), (&json!(0), &json!(0)), "{done}");
    assert!(done["p50_milliseconds"].as_u64().unwrap() >= 50, "{done}");
}

fn find_text(seen: &Seen, text: &str) -> bool {
    String::from_utf8_lossy(&seen.body).contains(text)
}

#[test]
fn credentials_are_masked_and_other_machines_need_a_permission() {
    let api = server();
    let sandbox = Sandbox::new();
    let secret = ["ghp", "_", "x7Kd93LmQpZ4vTnRy82WsBc6HfJg1eAo5uXi"].concat();
    let content =
        rows("5e551045-0000-4000-8000-000000000002", 3).replace("I changed it", &format!("The token is {secret}. I changed it"));
    sandbox.session("5e551045-0000-4000-8000-000000000002", content, 0);
    configure(&sandbox, &api.url(), "");
    sandbox.text(&["sidecar", "queue", "--add"]);
    sandbox.text(&["sidecar", "drain"]);
    assert!(!api.seen().is_empty() && !api.seen().iter().any(|seen| find_text(seen, &secret)));
    assert!(api.seen().iter().any(|seen| find_text(seen, "[secret:")));
    for file in ["sidecar.db", "sidecar.db-wal"] {
        let bytes = std::fs::read(sandbox.home.join(".aperture").join(file)).unwrap_or_default();
        assert!(crate::network::find(&bytes, secret.as_bytes()).is_none(), "{file}");
    }
    configure(&sandbox, "http://192.0.2.1:80", "");
    let refused = sandbox.run(&["sidecar", "drain"]);
    assert!(refused.code == 2 && refused.stderr.contains("http://192.0.2.1:80 is not on this machine"), "{}", refused.all());
    assert!(refused.stderr.contains("--allow-remote"));
    // A project cannot name a server.
    std::fs::remove_file(sandbox.home.join(".aperture/config.toml")).unwrap();
    sandbox.write("aperture.toml", format!("[sidecar]\nurl = \"{}\"\nallow_remote = true\n", api.url()));
    assert!(sandbox.run(&["sidecar", "drain"]).stderr.contains("no server for a sidecar is configured"));
    assert!(sandbox.text(&["sidecar"]).contains("the sidecar is off"));
}

#[test]
fn tasks_about_contents_that_are_gone_are_dropped() {
    let api = server();
    let sandbox = sandbox(3, &api.url());
    sandbox.text(&["sidecar", "queue", "--add"]);
    let other = "5e551045-0000-4000-8000-000000000003";
    let path: PathBuf = sandbox.session(other, rows(other, 2), 10);
    sandbox.text(&["sidecar", "queue", "--add", "-s", other]);
    std::fs::remove_file(path).unwrap();
    let id = "5e551045-0000-4000-8000-000000000001";
    sandbox.session(id, rows(id, 3).replace("round half up", "round half to even"), 0);
    let done = sandbox.json(&["sidecar", "drain"], "aperture.sidecar/1");
    let text = done["done"].as_str().unwrap();
    assert!(text.contains("dropped") && done["waiting"] == 0, "{done}");
    assert!(done["accepted"].as_u64().unwrap() < 10, "blocks, topics and prompts are as they were: {done}");
}

/// Returns the median time of runs of a command, in microseconds.
fn median(sandbox: &Sandbox, arguments: &[&str], runs: usize) -> u128 {
    let mut times: Vec<u128> = (0..runs)
        .map(|_| {
            let started = Instant::now();
            assert!(sandbox.command(arguments).output().unwrap().status.success());
            started.elapsed().as_micros()
        })
        .collect();
    times.sort_unstable();
    times[runs / 2]
}

#[test]
fn no_command_waits_for_a_server() {
    let hanging = Api::new(|_, _| std::thread::sleep(Duration::from_secs(60)));
    let working = server();
    let runs = all_or(41, 3);
    let mut figures = Vec::new();
    for (name, url) in [("off", ""), ("on", &*working.url()), ("hanging", &*hanging.url()), ("dead", "http://127.0.0.1:9")] {
        let sandbox = sandbox(12, url);
        if name != "off" {
            sandbox.text(&["sidecar", "queue", "--add"]);
        }
        if name == "on" {
            sandbox.text(&["sidecar", "drain"]);
        }
        let mut worker = (name == "hanging")
            .then(|| sandbox.command(&["sidecar", "run"]).stdout(std::process::Stdio::null()).spawn().unwrap());
        median(&sandbox, &["manifest"], 2);
        figures.push((name, median(&sandbox, &["manifest"], runs), median(&sandbox, &["summary"], runs)));
        if let Some(worker) = &mut worker {
            worker.kill().unwrap();
            worker.wait().unwrap();
        }
    }
    eprintln!("medians of manifest and summary in microseconds: {figures:?}");
    let (_, off, _) = figures[0];
    for (name, manifest, _) in &figures {
        // A request waits for a second at least; noise of a machine under load is less.
        assert!(*manifest < off + 500_000, "{name}: {figures:?}");
    }
}

#[test]
fn a_killed_worker_loses_no_task_and_applies_none_twice() {
    let answered = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&answered);
    let api = Api::new(move |seen, stream| {
        count.fetch_add(1, Ordering::SeqCst);
        well(seen, stream);
    });
    let (sessions, turns, pause) = all_or((20, 250, 1_000), (3, 20, 300));
    let sandbox = Sandbox::new();
    configure(&sandbox, &api.url(), "");
    let mut added = 0;
    for session in 0..sessions {
        let id = format!("5e551045-0000-4000-8000-{session:012}");
        sandbox.session(&id, rows(&id, turns), session);
        added += sandbox.json(&["sidecar", "queue", "--add", "-s", &id], "aperture.sidecar-queue/1")["added"].as_u64().unwrap();
    }
    let mut kills = 0;
    wait_for_long("the queue is empty", || {
        let mut worker = sandbox
            .command(&["sidecar", "drain"])
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(pause));
        let is_done = worker.try_wait().unwrap().is_some();
        if !is_done {
            worker.kill().unwrap();
            worker.wait().unwrap();
            kills += 1;
        }
        is_done && store(&sandbox).counts(MODEL).unwrap().waiting == 0
    });
    let store = store(&sandbox);
    let (counts, model) = (store.counts(MODEL).unwrap(), store.model(MODEL).unwrap());
    eprintln!("{added} tasks, {kills} kills, {} requests: {counts:?} {model:?}", answered.load(Ordering::SeqCst));
    assert_eq!((counts.waiting, counts.leased, counts.aside), (0, 0, 0));
    // Each answer is counted in the transaction that stores it.
    assert_eq!((counts.results + counts.refused, model.answers), (added, added));
    assert!(kills > 0);
}

/// Repeats a step until it returns true.
fn wait_for_long(what: &str, mut step: impl FnMut() -> bool) {
    let started = Instant::now();
    while !step() {
        assert!(started.elapsed() < Duration::from_secs(1_200), "timeout: {what}");
    }
}

#[test]
fn a_worker_runs_beside_the_proxy_and_ends_with_it() {
    let api = server();
    let sandbox = sandbox(3, &api.url());
    sandbox.text(&["sidecar", "queue", "--add"]);
    let upstream = Api::new(crate::network::stream);
    let mut proxy = crate::network::Proxy::of(&sandbox, &upstream);
    wait_for("the queue is empty", || (store(&sandbox).counts(MODEL).unwrap().waiting == 0).then_some(()));
    let is_working = || sandbox.json(&["sidecar"], "aperture.sidecar/1")["is_working"] == true;
    assert!(is_working());
    let second = sandbox.run(&["sidecar", "drain"]);
    assert!(second.stderr.contains("another worker is running"), "{}", second.all());
    proxy.kill();
    wait_for("the worker ends", || (!is_working()).then_some(()));
}

/// A memory file with an entry that a newer one replaced.
pub const REPLACED: &str = "# User preferences

- Run the tests with cargo nextest.
  <!-- memory-4 active · correction · 2026-11-02 to 2026-11-20 · 3 sightings in 2 sessions · 6666abcd#1 6666abcd#77 7777abcd#4 · key 00000000000000aa -->
- Deploy the shop from the release branch, and tell the support team before.
  <!-- memory-5 active · correction · 2026-11-03 · 1 sighting in 1 session · 6666abcd#2 · key 00000000000000ab -->
- Tell the support team before a deploy.
  <!-- memory-6 active · correction · 2026-11-04 · 1 sighting in 1 session · 7777abcd#5 · key 00000000000000ac -->

## Archived

- Run the tests with cargo test. The database must run on port 5433.
  <!-- memory-2 superseded · correction · 2026-10-01 · 1 sighting in 1 session · 6666abcd#1 · by memory-4 · key 00000000000000dd -->
";

#[test]
fn a_fact_that_a_new_memory_lost_is_a_question() {
    let api = server();
    let sandbox = sandbox(1, &api.url());
    sandbox.write(".aperture/memory/factual/user-prefs.md", REPLACED);
    sandbox.text(&["memory", "review", "--accept-tree"]);
    assert_eq!(sandbox.text(&["sidecar", "queue"]), "the queue is empty\n");
    sandbox.text(&["sidecar", "queue", "--add"]);
    sandbox.text(&["memory", "review"]);
    sandbox.text(&["sidecar", "drain"]);
    let review = sandbox.text(&["memory", "review"]);
    let question =
        "memory-4 replaced memory-2, which also said: The database must run on port 5433. (text by model tiny, checked)";
    assert!(review.contains(question) && review.contains("to add it: aperture memory edit memory-4"), "{review}");
    assert_eq!(sandbox.run(&["memory", "list"]).stdout.matches("5433").count(), 0, "nothing was changed");
}

#[test]
fn a_memory_that_says_what_another_one_says_is_a_question() {
    // The model finds nothing that the shorter note alone has.
    let api = Api::new(|_, stream| answer(stream, &json!({"lost": ""}).to_string()));
    let sandbox = sandbox(1, &api.url());
    sandbox.text(&[
        "memory",
        "add",
        "--kind",
        "preference",
        "Run the tests with cargo nextest before every push to the main branch",
    ]);
    sandbox.text(&["memory", "add", "--kind", "preference", "Before a push, nextest runs the tests"]);
    sandbox.text(&["memory", "add", "--kind", "preference", "Before a push, run the tests of crates/wire"]);
    sandbox.text(&["memory", "review"]);
    sandbox.text(&["sidecar", "drain"]);
    let review = sandbox.text(&["memory", "review"]);
    assert!(review.contains("to merge them: aperture memory review --merge"), "{review}");
    assert_eq!(review.matches("to merge them").count(), 1, "an entry with a fact of its own is no duplicate: {review}");
    for note in ["cargo nextest", "nextest runs", "crates/wire"] {
        assert!(sandbox.text(&["memory", "list"]).contains(note), "nothing was changed");
    }
}

#[test]
fn vectors_are_used_only_if_they_improve_search() {
    let api = server();
    let sandbox = sandbox(2, &api.url());
    let more = "embedding_model = \"vectors\"\n";
    configure(&sandbox, &api.url(), more);
    for session in 2..12 {
        let id = format!("5e551045-0000-4000-8000-{session:012}");
        sandbox.session(&id, rows(&id, 2), session);
    }
    let search = || sandbox.json(&["search", "rounding invoices"], "aperture.search/1");
    let before = search();
    let eval = sandbox.json(&["sidecar", "eval"], "aperture.sidecar-eval/1");
    assert!(eval["searches"].as_u64().unwrap() >= 10, "{eval}");
    assert!(api.seen().iter().any(|seen| seen.target() == "/v1/embeddings"));
    let status = sandbox.json(&["sidecar"], "aperture.sidecar/1");
    assert_eq!(status["improves_search"], eval["improves_search"]);
    if eval["improves_search"] == false {
        assert_eq!(search(), before);
    }
    store(&sandbox).record_improvement("vectors", true).unwrap();
    let after = search();
    assert_eq!(after["sessions"].as_array().unwrap().len(), before["sessions"].as_array().unwrap().len());
    assert_eq!(search(), after, "the same cache gives the same bytes");
}
