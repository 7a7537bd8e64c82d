//! Tokens and cost of sessions.

use crate::sandbox::Sandbox;
use expect_test::expect;
use serde_json::{Value, json};

/// A row of a response.
fn response(id: &str, model: &str, time: &str, output: u64) -> String {
    let usage = json!({"input_tokens": 3, "output_tokens": output, "cache_read_input_tokens": 150_000,
        "cache_creation_input_tokens": 2000, "cache_creation": {"ephemeral_5m_input_tokens": 2000, "ephemeral_1h_input_tokens": 0}});
    let row = json!({"type": "assistant", "uuid": format!("{id}{output}"), "parentUuid": "p", "timestamp": time, "requestId": id,
        "sessionId": "S", "cwd": "/home/dev/shop",
        "message": {"id": id, "role": "assistant", "model": model, "usage": usage, "content": [{"type": "text", "text": "done"}]}});
    format!("{row}\n")
}

fn prompt(text: &str) -> String {
    let row = json!({"type": "user", "uuid": "p", "parentUuid": null, "timestamp": "2026-11-19T10:00:00Z", "sessionId": "S",
        "cwd": "/home/dev/shop", "message": {"role": "user", "content": text}});
    format!("{row}\n")
}

/// Two sessions, of which the second one begins with a copy of the first one.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    let first = [
        prompt("count the carts"),
        response("m1", "claude-opus-4-8", "2026-11-19T10:00:10Z", 2),
        response("m1", "claude-opus-4-8", "2026-11-19T10:00:20Z", 4000),
        response("m2", "claude-opus-4-8", "2026-11-20T10:00:00Z", 500),
    ]
    .concat();
    let resumed = response("m3", "some-model", "2026-11-21T10:00:00Z", 700);
    sandbox.session("aaaa1111", &*first, 0);
    sandbox.session("bbbb2222", format!("{first}{resumed}"), 10);
    sandbox
}

#[test]
fn by_day() {
    let sandbox = sandbox();
    expect![[r#"
        DAY         INPUT  OUTPUT  CACHE WRITE  CACHE READ  TOTAL    COST
        2026-11-19      3      4k           2k        150k   156k   $0.19
        2026-11-20      3     500           2k        150k   153k   $0.10
        2026-11-21      3     700           2k        150k   153k       ?
        Total           9    5.2k           6k        450k   461k  ≥$0.29
        no price, so not in the cost: some-model
          (153k tokens; a price, in the settings: [prices] some-model = 1.25; aperture …
        not counted again: 2 copies of responses in other sessions (309k tokens)
    "#]]
    .assert_eq(&sandbox.text(&["usage"]));
}

#[test]
fn by_session_on_a_narrow_terminal() {
    let sandbox = sandbox();
    expect![[r#"
        SESSION           INPUT  OUTPUT  TOTAL    COST
        aaaa1111 count …      6    4.5k   309k   $0.29
        bbbb2222 count …      3     700   153k       ?
        Total                 9    5.2k   461k  ≥$0.29
        no price, so not in the cost: some-model
          (153k tokens; a price, in the settings: [prices…
        not counted again: 2 copies of responses in other…
    "#]]
    .assert_eq(&sandbox.columns_text(&["usage", "--by", "session"], 50));
}

#[test]
fn the_output_of_a_response_whose_file_has_only_its_start_is_estimated_everywhere() {
    let sandbox = Sandbox::new();
    let long = "the carts are counted by the clerk ".repeat(40);
    let of_text = |id: &str, output: u64| response(id, "claude-opus-4-5", "2026-11-19T10:00:10Z", output).replace("done", &long);
    sandbox.session(
        "aaaa1111",
        [prompt("count the carts"), of_text("m1", 3), of_text("m2", 430).replace("150000", "160000")].concat(),
        0,
    );
    sandbox.session("bbbb2222", [prompt("count the rest"), of_text("m3", 430)].concat(), 10);
    expect![[r#"
        SESSION                   INPUT  OUTPUT  CACHE WRITE  CACHE READ  TOTAL    COST
        aaaa1111 count the carts      6    ~864           4k        310k  ~315k  ~$0.20
        bbbb2222 count the rest       3     430           2k        150k   152k   $0.10
        Total                         9   ~1.3k           6k        460k  ~467k  ~$0.30
        ~ is estimated from the content; the file has only a first figure: 1 response
    "#]]
    .assert_eq(&sandbox.text(&["usage", "--by", "session"]));
    let usage = sandbox.json(&["usage", "--by", "session"], "aperture.usage/1");
    let listed = sandbox.json(&["sessions"], "aperture.sessions/2");
    for (place, (id, basis, estimated)) in [("aaaa1111", "estimated", 1), ("bbbb2222", "measured", 0)].into_iter().enumerate() {
        let row = &usage["rows"][place];
        assert_eq!((&row["output_tokens"]["basis"], &row["estimated_responses"]), (&json!(basis), &json!(estimated)));
        let session = listed["sessions"].as_array().unwrap().iter().find(|session| session["id"] == id).unwrap();
        assert_eq!(session["output_tokens"], row["output_tokens"], "{id}");
        let timeline = sandbox.json(&["timeline", id], "aperture.timeline/1");
        let requests = timeline["requests"].as_array().unwrap();
        let output: u64 = requests.iter().map(|request| request["output_tokens"]["value"].as_u64().unwrap()).sum();
        assert_eq!(json!(output), row["output_tokens"]["value"], "{id}");
    }
    assert!(sandbox.text(&["timeline", "aaaa1111"]).contains("~434 ~$0.10"));
}

#[test]
fn projects_with_equal_ends_are_told_apart() {
    let sandbox = Sandbox::new();
    let rows = |id: &str, directory: &str| {
        let text = [prompt("count the carts"), response(id, "claude-opus-4-8", "2026-11-19T10:00:10Z", 90)].concat();
        sandbox.session(id, text.replace("/home/dev/shop", directory), 0);
    };
    rows("aaaa1111", "/home/dev/trees/the-basket-service/civil/the-basket-service");
    rows("bbbb2222", "/home/dev/trees/the-basket-service/quiet/the-basket-service");
    rows("cccc3333", "/home/dev/shop");
    let text = sandbox.text(&["usage", "--by", "project"]);
    let names: Vec<&str> = text.lines().skip(1).take(3).map(|line| line.split("  ").next().unwrap()).collect();
    assert_eq!(names, ["/home/dev/shop", "…/civil/the-basket-service", "…/quiet/the-basket-service"], "{text}");
}

#[test]
fn filters() {
    let sandbox = sandbox();
    let responses = |arguments: &[&str]| {
        let document: Value = sandbox.json(&[&["usage"], arguments].concat(), "aperture.usage/1");
        document["total"]["responses"].as_u64().unwrap()
    };
    assert_eq!(responses(&[]), 3);
    assert_eq!(responses(&["--since", "2026-11-20"]), 2);
    assert_eq!(responses(&["--until", "20261120"]), 2);
    assert_eq!(responses(&["--model", "opus"]), 2);
    assert_eq!(responses(&["--project", "."]), 3);
    assert_eq!(responses(&["--project", ".."]), 0);
    assert_eq!(responses(&["--client", "codex"]), 0);
    assert_eq!(responses(&["-s", "aaaa"]), 2);
    assert_eq!(responses(&["-s", "bbbb"]), 1, "the copies belong to the first session");
}

#[test]
fn a_changed_file_is_read_again_and_a_deleted_one_is_forgotten() {
    let sandbox = sandbox();
    let total = || sandbox.json(&["usage"], "aperture.usage/1")["total"]["output_tokens"]["value"].as_u64().unwrap();
    assert_eq!((total(), total()), (5200, 5200));
    let path = sandbox.session("cccc3333", response("m9", "claude-opus-4-8", "2026-11-21T11:00:00Z", 11), 20);
    assert_eq!((total(), total()), (5211, 5211));
    std::fs::remove_file(path).unwrap();
    assert_eq!(total(), 5200);
}

#[test]
fn cached_sums_follow_the_time_zone_and_the_prices() {
    let sandbox = sandbox();
    let read = |zone: &str, arguments: &[&str]| {
        let output = sandbox.command(&[&["usage"], arguments].concat()).env("TZ", zone).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let check = |zone: &str| {
        let uncached = read(zone, &["--no-cache"]);
        assert_eq!((&read(zone, &[]), &read(zone, &[])), (&uncached, &uncached), "{zone}");
        uncached
    };
    assert_ne!(check("UTC"), check("Pacific/Kiritimati"));
    let unpriced = check("UTC");
    sandbox.settings("[prices]\nsome-model = 1.25\n");
    assert_ne!(check("UTC"), unpriced);
    for group in ["session", "model"] {
        assert_eq!(read("UTC", &["--by", group]), read("UTC", &["--by", group, "--no-cache"]), "other groups, of the same sums");
    }
}

#[test]
fn a_kept_copy_of_a_deleted_session_counts_once() {
    let sandbox = sandbox();
    let total = || sandbox.json(&["usage"], "aperture.usage/1")["total"]["output_tokens"]["value"].as_u64().unwrap();
    assert_eq!(sandbox.run(&["keep", "--all"]).code, 0);
    assert_eq!(total(), 5200);
    let path = sandbox.session("bbbb2222", "", 10);
    std::fs::remove_file(&path).unwrap();
    assert_eq!(total(), 5200);
    std::fs::remove_dir_all(path.parent().unwrap()).unwrap();
    assert_eq!(total(), 5200, "all sessions are deleted");
}

#[test]
fn an_unknown_client_is_an_error() {
    let outcome = sandbox().run(&["usage", "--client", "claude"]);
    assert_eq!(outcome.code, 2);
    expect![[r#"
        error: unknown client 'claude'
        hint: the clients are claude-code, codex, opencode, gemini
    "#]]
    .assert_eq(&outcome.stderr);
}

#[test]
fn removed_tokens_are_savings_of_later_requests() {
    let sandbox = Sandbox::of("tools-and-spill");
    let saved = || {
        let total = sandbox.json(&["usage"], "aperture.usage/1")["total"]["saved_tokens"].clone();
        assert_eq!(total["basis"], "estimated");
        total["value"].as_i64().unwrap()
    };
    let change = sandbox.json(&["archive", "16"], "aperture.change/2");
    let removed = change["tokens_before"]["value"].as_i64().unwrap() - change["tokens_after"]["value"].as_i64().unwrap();
    assert_eq!(saved(), 0, "no request since");
    let id = sandbox.json(&["status"], "aperture.status/2")["session"].as_str().unwrap().to_owned();
    let path = sandbox.session_file(&id);
    let mut text = std::fs::read_to_string(path).unwrap();
    text.push_str(&response("m9", "claude-opus-4-8", "2026-11-22T10:00:00Z", 5));
    sandbox.session(&id, text, 30);
    assert!((saved() - removed).abs() <= 1 && removed > 9000, "{} {removed}", saved());
}

#[test]
fn a_change_of_the_figures_in_a_file_leaves_the_bills_as_they_were() {
    for session in ["tools-and-spill", "codex-tools"] {
        let sandbox = Sandbox::of(session);
        let bills = || {
            let mut total = sandbox.json(&["usage"], "aperture.usage/1")["total"].clone();
            total["saved_tokens"] = json!(null);
            let id = sandbox.json(&["status"], "aperture.status/2")["session"].as_str().unwrap().to_owned();
            let requests = sandbox.json(&["timeline", &id], "aperture.timeline/1")["requests"].clone();
            let figures = |request: &Value| ["sent_tokens", "cache_read_tokens", "dollars"].map(|name| request[name].clone());
            (total, requests.as_array().unwrap().iter().map(figures).collect::<Vec<_>>())
        };
        let before = bills();
        let change = sandbox.json(&["compress", "--level", "minimal", "kind(tool_result)"], "aperture.change/2");
        assert_ne!(change["tokens_before"], change["tokens_after"], "{session}");
        assert_eq!(bills(), before, "{session}");
        sandbox.text(&["archive", "kind(tool_result)"]);
        assert_eq!(bills(), before, "{session}, a second change");
        sandbox.text(&["undo"]);
        assert_eq!(bills(), before, "{session}, undone");
    }
}

#[test]
fn a_change_of_the_contents_in_a_file_leaves_the_bills_as_they_were() {
    let sandbox = Sandbox::new();
    let long = (0..300).map(|line| format!("cart {line} is counted by clerk {}", line * 7)).collect::<Vec<_>>().join("\n");
    let rows = (0..12).map(|turn| {
        let content = json!([{"type": "text", "text": format!("{turn}: {long}")}]).to_string();
        let answer = response(&format!("m{turn}"), "claude-opus-4-5", &format!("2026-11-19T10:00:{:02}Z", 10 + turn * 2), 3);
        let answer = answer
            .replace(r#"[{"text":"done","type":"text"}]"#, &content)
            .replace(r#"[{"type":"text","text":"done"}]"#, &content);
        let before = if turn == 0 { "null".to_owned() } else { format!("\"m{}3\"", turn - 1) };
        let asked = prompt(&format!("count the carts {turn}")).replace("null", &before).replace("\"p\"", &format!("\"p{turn}\""));
        [asked, answer.replace("\"p\"", &format!("\"p{turn}\"")).replace("150000", &format!("{}", 20_000 + 4000 * turn))].concat()
    });
    let rows: String = rows.collect();
    let path = sandbox.session("aaaa1111", rows, 0);
    let billed = || {
        let mut total = sandbox.json(&["usage"], "aperture.usage/1")["total"].clone();
        total["saved_tokens"] = json!(null);
        let requests = sandbox.json(&["timeline", "aaaa1111"], "aperture.timeline/1")["requests"].clone();
        let figures = ["sent_tokens", "cache_read_tokens", "output_tokens", "dollars"];
        let requests = requests.as_array().unwrap().iter().map(|request| figures.map(|figure| request[figure].clone()));
        (total, requests.collect::<Vec<_>>())
    };
    let before = (billed(), std::fs::read(&path).unwrap());
    assert_eq!(before.0.0["estimated_responses"], 12, "{}", before.0.0);
    for change in
        [&["compress", "--level", "minimal", "kind(text) & role(assistant)"][..], &["archive", "kind(text) & role(assistant)"]]
    {
        sandbox.json(change, "aperture.change/2");
        assert_ne!(std::fs::read(&path).unwrap(), before.1, "{change:?}");
        assert_eq!(billed(), before.0, "{change:?}");
        let text = sandbox.text(&["usage", "--no-cache"]);
        assert_eq!(text, sandbox.text(&["usage"]));
    }
    sandbox.text(&["undo"]);
    assert_eq!(billed(), before.0, "undone");
}

#[test]
fn days_count_back_from_today_and_weeks_are_groups() {
    let sandbox = sandbox();
    let responses = |since: &str| {
        let document: Value = sandbox.json(&["usage", "--by", "week", "--since", since], "aperture.usage/1");
        document["total"]["responses"].as_u64().unwrap()
    };
    let outcome = sandbox.run(&["usage", "--since", "last week"]);
    assert_eq!(outcome.code, 2);
    assert!(outcome.stderr.contains("write a day as 2026-11-30, today, yesterday, 7d or 2w"), "{}", outcome.stderr);
    assert_eq!((responses("today"), responses("yesterday"), responses("2d"), responses("1w")), (0, 1, 2, 3));
    let names: Vec<Value> = sandbox.json(&["usage", "--by", "week"], "aperture.usage/1")["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["name"].clone())
        .collect();
    assert_eq!(names, ["2026-W47"]);
}

#[test]
fn the_requests_of_a_session_cost_what_its_usage_says() {
    // A row of Codex with two bills is one request; usage counts both: codex-tools is not here.
    for fixture in ["older-model", "interactive-compact", "codex-compaction"] {
        let sandbox = Sandbox::of(fixture);
        let usage = sandbox.json(&["usage", "--by", "session"], "aperture.usage/1");
        let [session] = &usage["rows"].as_array().unwrap()[..] else { panic!("{fixture}: {usage}") };
        let timeline = sandbox.json(&["timeline", session["name"].as_str().unwrap()], "aperture.timeline/1");
        let requests = timeline["requests"].as_array().unwrap();
        let dollars: f64 = requests.iter().map(|request| request["dollars"].as_f64().unwrap_or_default()).sum();
        assert!(
            (dollars - session["dollars"].as_f64().unwrap()).abs() < 1e-6 && dollars > 0.0,
            "{fixture}: {dollars}, {session}"
        );
    }
}

#[test]
fn a_timeline_has_the_requests_of_usage_and_states_what_is_left_out() {
    let sandbox = Sandbox::new();
    let time = |second: u32| format!("2026-11-19T10:00:{second}Z");
    let huge = response("m2", "claude-opus-5", &time(20), 3).replace("150000", "4000000");
    let answers = [response("m1", "claude-opus-5", &time(10), 9), huge, response("m3", "claude-opus-5", &time(30), 9)];
    sandbox.session("aaaa1111", [prompt("count the carts"), answers.concat()].concat(), 0);
    let text = sandbox.text(&["timeline"]);
    let note = "counted as recorded, but more than any window of the model holds: 1 response";
    assert!(text.contains("3 requests, at most 4M tokens, $2.") && text.contains(note), "{text}");
    assert!(sandbox.text(&["usage"]).contains(note));
    let document = sandbox.json(&["timeline", "--limit", "2"], "aperture.timeline/1");
    let requests = document["requests"].as_array().unwrap();
    assert_eq!((requests.len(), &document["left_out"], &requests[0]["impossible"]), (2, &json!(1), &json!(true)), "{document}");
    let text = sandbox.text(&["timeline", "--limit", "2"]);
    assert!(text.contains("3 requests") && text.contains("; 1 earlier: --limit 0"), "{text}");
    let sessions = sandbox.text(&["sessions"]);
    assert!(!sessions.contains("400 %"), "{sessions}");
}

#[test]
fn the_hint_about_a_price_is_valid_in_the_settings() {
    for (model, key) in [("glm-4.6", "\"glm-4.6\""), ("qwen3:8b", "\"qwen3:8b\""), ("some-model", "some-model")] {
        let sandbox = Sandbox::new();
        let rows = [prompt("count"), response("m1", model, "2026-11-19T10:00:10Z", 9)].concat();
        sandbox.session("aaaa1111", rows, 0);
        let text = sandbox.columns_text(&["usage"], 200);
        assert!(text.contains(&format!("[prices] {key} = 1.25")), "{text}");
    }
}
