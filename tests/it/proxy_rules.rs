//! Rules and accounts beside the requests that pass the proxy: what is condensed by itself, what that costs and saves, and what
//! outlives the proxy.

use crate::network::{Api, Proxy, SECRET, STREAM, answer_events, send};
use crate::rows::append;
use crate::sandbox::{Sandbox, all_or, wait_for};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::sync::Mutex;
use std::time::Duration;

/// Tokens that a response reads from the cache and writes to it.
type Bill = (u64, u64);

/// A client behind the proxy, and an API that sends these bills one after the other, the last one again and again.
struct Client {
    sandbox: Sandbox,
    api: Api,
    proxy: Proxy,
    session: String,
    call: Value,
    result: String,
}

impl Client {
    fn new(settings: &str, bills: &[Bill]) -> Client {
        Client::of(settings, api(bills))
    }

    fn of(settings: &str, api: Api) -> Client {
        Client::with(Sandbox::of("tools-and-spill"), settings, api, read_call(), "16")
    }

    /// A client whose request has a stale result.
    fn stale(settings: &str) -> Client {
        let call = json!({"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "cat part_1.log"}});
        Client::with(crate::instructions::sandbox(), settings, api(USUAL), call, "18")
    }

    /// A client whose request has a call with the result that is this block of the session.
    fn with(sandbox: Sandbox, settings: &str, api: Api, call: Value, block: &str) -> Client {
        Client::with_proxy(sandbox, settings, api, call, block, start)
    }

    fn with_proxy(
        sandbox: Sandbox,
        settings: &str,
        api: Api,
        call: Value,
        block: &str,
        start: impl Fn(&Sandbox, &Api) -> Proxy,
    ) -> Client {
        sandbox.write("aperture.toml", settings);
        let proxy = start(&sandbox, &api);
        let session = sandbox.first_session().file_stem().unwrap().to_string_lossy().into_owned();
        let result = sandbox.json(&["show", block], "aperture.show/2")["blocks"][0]["content"].as_str().unwrap().to_owned();
        Client { sandbox, api, proxy, session, call, result }
    }

    /// Sends a request whose conversation is that of the session and these prompts; returns the body that the API received.
    fn send(&self, prompts: &[&str]) -> String {
        let call = &self.call;
        let result = json!({"type": "tool_result", "tool_use_id": "toolu_1", "content": self.result});
        let mut messages = vec![
            json!({"role": "user", "content": "read it"}),
            json!({"role": "assistant", "content": [call]}),
            json!({"role": "user", "content": [result]}),
        ];
        for prompt in prompts {
            messages.push(json!({"role": "assistant", "content": [{"type": "text", "text": "fine"}]}));
            messages.push(json!({"role": "user", "content": prompt}));
        }
        let body = json!({"model": "claude-opus-5-5", "messages": messages, "tools": [{"name": "Read"}], "stream": true});
        let headers = format!("x-claude-code-session-id: {}\r\nx-api-key: key\r\n", self.session);
        let (head, _) = self.proxy.post("/v1/messages?beta=true", &headers, body.to_string().as_bytes());
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        String::from_utf8(self.api.last_body()).unwrap()
    }

    /// The commands in the log, the newest first, each with its actor.
    fn log(&self) -> Vec<String> {
        let log = self.sandbox.json(&["log"], "aperture.log/2");
        let operations = log["operations"].as_array().unwrap().iter();
        operations.map(|row| format!("{}: {}", row["actor"].as_str().unwrap(), row["command"].as_str().unwrap())).collect()
    }

    /// Sends requests until one has a note of a stage with this text, and returns the note.
    fn until_noted(&self, stage: &str, part: &str) -> String {
        wait_for(part, || {
            self.send(&["again"]);
            let request = requests(&self.sandbox, &[]).pop().unwrap();
            let stages = request["stages"].as_array().unwrap().iter();
            let mut notes =
                stages.filter(|known| known["stage"] == stage).map(|known| known["note"].as_str().unwrap().to_owned());
            notes.find(|note| note.contains(part))
        })
    }

    /// Returns the request with a number after its bill was explained.
    fn accounted(&self, number: usize) -> Value {
        wait_for("the account of a request", || {
            let status = self.sandbox.json(&["proxy", "status"], "aperture.proxy-status/1");
            let requests = requests(&self.sandbox, &[]);
            let sent: u64 = requests.iter().map(|request| request["sent_tokens"]["value"].as_u64().unwrap()).sum();
            (status["sent_tokens"]["value"].as_u64() == Some(sent)).then(|| requests[number - 1].clone())
        })
    }
}

/// The call whose result is block 16 of the fixture.
fn read_call() -> Value {
    json!({"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {"file_path": "shop/big.py"}})
}

fn api(bills: &[Bill]) -> Api {
    let bills = Mutex::new(bills.to_vec());
    Api::new(move |_, stream| {
        let mut bills = bills.lock().unwrap();
        let (read, written) = if bills.len() > 1 { bills.remove(0) } else { bills[0] };
        let usage = json!({"input_tokens": 10, "cache_creation_input_tokens": written, "cache_read_input_tokens": read, "output_tokens": 1});
        let start = json!({"type": "message_start", "message": {"usage": usage}});
        answer_events(stream, &format!("event: message_start\ndata: {start}\n\n"));
    })
}

fn start(sandbox: &Sandbox, api: &Api) -> Proxy {
    Proxy::start(sandbox, &["--upstream", &format!("http://127.0.0.1:{}", api.port)])
}

fn requests(sandbox: &Sandbox, options: &[&str]) -> Vec<Value> {
    let arguments = [&["proxy", "requests"], options].concat();
    sandbox.json(&arguments, "aperture.proxy-requests/1")["requests"].as_array().unwrap().clone()
}

const USUAL: &[Bill] = &[(300, 20)];

#[test]
fn rules_change_nothing_unless_they_are_switched_on() {
    let client = Client::new("[budget]\ntokens = 20000\n[pipeline]\nmanifest = false\npay_back_turns = 1000\n", USUAL);
    let first = client.send(&["go on"]);
    client.accounted(1);
    // The work after a second answer follows that after the first one.
    client.send(&["go on"]);
    client.accounted(2);
    assert_eq!(client.send(&["go on"]), first);
    assert_eq!(client.log(), [] as [&str; 0]);
}

#[test]
fn stale_blocks_are_condensed_if_that_pays_back_and_an_undo_is_respected() {
    let client = Client::stale("[pipeline]\nmanifest = false\ncondense = true\npay_back_turns = 1000\n");
    let before = fs::read(client.sandbox.first_session()).unwrap();
    let original = client.send(&["again"]);
    let note = client.until_noted("condensation", "operation 1: compress --stale, because it pays back within");
    assert!(note.ends_with("turns"), "{note}");
    assert_eq!(client.log(), ["policy: compress --stale (aperture proxy)"]);
    assert!(client.send(&["again"]).len() + 1_000 < original.len());
    // It rests, although the model answers again and again.
    client.until_noted("condensation", "nothing is worth shortening");
    client.sandbox.text(&["undo"]);
    assert_eq!(fs::read(client.sandbox.first_session()).unwrap(), before);
    assert_eq!(client.send(&["again"]), original);
    client.until_noted("condensation", "operation 1 was undone: waits for other turns");
    assert_eq!(client.send(&["again"]), original);
    assert_eq!(client.log(), ["user: undo", "policy: compress --stale (aperture proxy)"]);
}

#[test]
fn a_budget_is_kept_in_one_go() {
    let client = Client::new("[budget]\ntokens = 25000\n[pipeline]\nmanifest = false\nbudget = true\n", USUAL);
    client.send(&["again"]);
    client.until_noted("budget", "operation 1: compress --budget 20000, because the window is over its budget");
    client.until_noted("budget", "within its budget");
    assert_eq!(client.log(), ["policy: compress --budget 20000 (aperture proxy)"]);
}

#[cfg(unix)]
#[test]
fn a_client_can_be_started_with_a_budget_of_its_own() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::of("tools-and-spill");
    let script = sandbox.write("bin/claude", "#!/bin/sh\necho \"$ANTHROPIC_BASE_URL\"\nread line\n");
    fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).unwrap();
    let client = Client::with_proxy(sandbox, "[pipeline]\nmanifest = false\n", api(USUAL), read_call(), "16", |sandbox, api| {
        let mut command = sandbox.command(&["run", "--budget", "25k", "--", script.to_str().unwrap()]);
        command
            .env("PATH", std::env::var("PATH").unwrap())
            .env("ANTHROPIC_BASE_URL", api.url())
            .env("APERTURE_PROXY_SECRET", SECRET);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let port = line.split(':').nth(2).and_then(|rest| rest.split('/').next()?.parse().ok());
        Proxy { child, port: port.unwrap_or_else(|| panic!("{line}")) }
    });
    client.send(&["go on"]);
    client.until_noted("budget", "operation 1: compress --budget 20000, because the window is over its budget");
}

#[test]
fn a_budget_below_what_must_stay_is_approached_as_far_as_it_goes() {
    let client = Client::new("[budget]\ntokens = 2000\n[pipeline]\nmanifest = false\nbudget = true\n", USUAL);
    client.send(&["again"]);
    client.until_noted("budget", "operation 1: compress --budget");
    let log = client.log();
    assert!(log.len() == 1 && !log[0].starts_with("policy: compress --budget 1600"), "{log:?}");
}

/// Returns the bill of a request of this length.
fn usage(sent: usize) -> Value {
    let written = if sent > 20_000 { 40_000 } else { 12_000 };
    json!({"input_tokens": 10, "cache_creation_input_tokens": written, "output_tokens": 1})
}

/// Returns an API whose bill follows the sent bytes, and each of whose answers calls a tool: no step is the last one of its turn.
fn steps() -> Api {
    Api::new(|seen, stream| {
        let start = json!({"type": "message_start", "message": {"usage": usage(seen.body.len())}});
        let call = json!({"type": "tool_use", "id": "toolu_9", "name": "Read", "input": {}});
        let block = json!({"type": "content_block_start", "index": 0, "content_block": call});
        answer_events(stream, &format!("event: message_start\ndata: {start}\n\nevent: content_block_start\ndata: {block}\n\n"));
    })
}

#[test]
fn a_budget_is_kept_within_a_turn_of_fast_steps_and_its_rule_waits_for_the_bill_of_its_change() {
    let client = Client::of("[budget]\ntokens = 25000\n[pipeline]\nmanifest = false\nbudget = true\n", steps());
    let original = client.send(&["again"]).len();
    assert!(original > 20_000, "{original}");
    let sent = wait_for("a smaller request", || Some(client.send(&["again"]).len()).filter(|sent| *sent < original / 2));
    let after = client.api.seen().len();
    assert!(after < 2_000, "{after} steps of {original} bytes before one of {sent}");
    for _ in 0..200 {
        client.send(&["again"]);
    }
    client.accounted(after + 200);
    assert_eq!(client.log(), ["policy: compress --budget 20000 (aperture proxy)"]);
}

#[test]
fn a_budget_is_kept_while_the_client_writes_a_row_with_each_fast_step() {
    let client = Client::of("[budget]\ntokens = 25000\n[pipeline]\nmanifest = false\nbudget = true\n", steps());
    let file = client.sandbox.first_session();
    let before = fs::read_to_string(&file).unwrap();
    let last = before.lines().rfind(|row| row.contains(r#""type":"assistant""#)).unwrap();
    let last: Value = serde_json::from_str(last).unwrap();
    let id = |number: usize| json!(format!("99999999-0000-4000-8000-{number:012}"));
    let (mut appended, mut count) = (String::new(), 0);
    // The file is never at rest; the steps become slower for a machine that is busy with others.
    let mut step = || {
        std::thread::sleep(Duration::from_millis(count as u64 / 50));
        let sent = client.send(&["again"]).len();
        let mut row = last.clone();
        row["parentUuid"] = if count == 0 { last["uuid"].clone() } else { id(count) };
        count += 1;
        row["uuid"] = id(count);
        row["message"]["id"] = json!(format!("msg_{count}"));
        row["message"]["usage"] = usage(sent);
        row["message"]["content"] = json!([{"type": "text", "text": format!("step {count}")}]);
        let row = format!("{row}\n");
        append(&file, &row);
        appended += &row;
        sent
    };
    let original = step();
    assert!(original > 20_000, "{original}");
    wait_for("a smaller request", || Some(step()).filter(|sent| *sent < original / 2));
    let steps = client.api.seen().len();
    assert!(steps < 2_000, "{steps} steps before a smaller one");
    for _ in 0..all_or(200, 40) {
        step();
    }
    // A slow machine needs more steps than are listed; the proxy explains all bills before it stops.
    client.sandbox.text(&["proxy", "stop"]);
    let log = client.log();
    assert!(log.len() == 1 && log[0].starts_with("policy: compress --budget "), "{log:?}");
    assert!(fs::read_to_string(&file).unwrap().contains(r#""type":"thinking_stripped""#), "the model binds its thinking");
    client.sandbox.text(&["verify"]);
    client.sandbox.text(&["undo"]);
    assert!(fs::read_to_string(&file).unwrap() == before + &appended, "the bytes of the client");
}

#[test]
fn a_change_waits_until_the_cache_has_expired() {
    let settings = "[pipeline]\nmanifest = false\ncondense = true\npay_back_turns = 0\ncache_seconds = 3\n";
    let client = Client::stale(settings);
    let original = client.send(&["again"]);
    client.until_noted("condensation", "waits until the prompt cache expires: −");
    assert_eq!(client.log(), [] as [&str; 0]);
    // No request follows: the next one finds it done.
    wait_for("the change", || (!client.log().is_empty()).then_some(()));
    assert_eq!(client.log(), ["policy: compress --stale (aperture proxy)"]);
    assert!(client.send(&["again"]).len() + 1_000 < original.len());
    // The log has the change a moment before the proxy learns its reason.
    client.until_noted("condensation", "operation 1: compress --stale, because the prompt cache has expired");
}

#[test]
fn each_loss_of_the_cache_has_its_cause() {
    let bills = [(0, 50_000), (50_000, 1_000), (10_000, 9_000), (19_000, 100), (4_000, 15_000), (0, 19_000)];
    let client = Client::new("[pipeline]\nmanifest = false\n", &bills);
    client.send(&["a"]);
    client.accounted(1);
    client.send(&["a", "b"]);
    client.accounted(2);
    client.sandbox.text(&["archive", "16"]);
    client.send(&["a", "b"]);
    let ours = client.accounted(3);
    client.send(&["a", "b", "c"]);
    client.accounted(4);
    client.send(&["another"]);
    let theirs = client.accounted(5);
    client.send(&["another", "a"]);
    let api = client.accounted(6);
    let cause = |request: &Value| (request["cache_lost_by"].clone(), request["cache_lost"]["value"].as_u64());
    assert_eq!(cause(&client.accounted(2)), (Value::Null, Some(0)));
    assert_eq!(cause(&ours), (json!("ours"), Some(9_010)));
    assert_eq!(cause(&client.accounted(4)), (Value::Null, Some(0)));
    assert_eq!(cause(&theirs), (json!("client"), Some(15_010)));
    assert_eq!(cause(&api), (json!("api"), Some(19_000)));
    let explained = client.sandbox.text(&["proxy", "explain", "3"]);
    assert!(explained.contains("cache lost    ~9k by aperture\nsaved         "), "{explained}");
    let status = client.sandbox.text(&["proxy", "status"]);
    let lost = "cache lost ~9k by aperture in 1 request, ~15k by the client in 1 request, ~19k by the API in 1 request\n";
    assert!(status.contains("from the clients, ~") && status.contains(lost), "{status}");
    // Tokens that the cache would have held are not saved at the full price.
    let request = client.accounted(4);
    let figure = |name: &str| request[name]["value"].as_f64().unwrap();
    let removed = figure("client_tokens") - figure("sent_tokens");
    let share = figure("saved_full_price_tokens") / removed;
    assert!(removed > 0.0 && (0.04..0.06).contains(&share), "{share}: {request}");
}

#[test]
fn requests_outlive_the_proxy() {
    let client = Client::new("[pipeline]\nmanifest = false\n", USUAL);
    for prompt in ["a", "b", "c"] {
        client.send(&[prompt]);
    }
    let running = client.accounted(3);
    client.sandbox.text(&["proxy", "stop"]);
    let logged = requests(&client.sandbox, &[]);
    let numbers = |requests: &[Value]| requests.iter().map(|request| request["number"].as_u64().unwrap()).collect::<Vec<_>>();
    assert_eq!((numbers(&logged), &logged[2]), (vec![1, 2, 3], &running));
    assert_eq!(numbers(&requests(&client.sandbox, &["-n", "2"])), [2, 3]);
    assert_eq!(numbers(&requests(&client.sandbox, &["-s", &client.session[..6]])), [1, 2, 3]);
    assert_eq!(requests(&client.sandbox, &["-s", "other"]), [] as [Value; 0]);
    let explained = client.sandbox.text(&["proxy", "explain", "2"]);
    assert!(explained.starts_with("request 2: POST /v1/messages\n"), "{explained}");
    let log = fs::read(client.sandbox.home.join(".aperture/requests.db")).unwrap();
    let holds = |text: &[u8]| log.windows(text.len()).any(|window| window == text);
    assert!(!holds(b"read it") && !holds(b"x-api-key") && holds(b"claude-opus-5-5"), "bodies and keys are not logged");
    let proxy = start(&client.sandbox, &client.api);
    let client = Client { proxy, ..client };
    client.send(&["d"]);
    assert_eq!(*numbers(&requests(&client.sandbox, &[])).iter().max().unwrap(), 4, "numbers go on");
}

#[cfg(unix)]
#[test]
fn a_proxy_without_a_data_directory_passes_everything() {
    let sandbox = Sandbox::of("tools-and-spill");
    // No directory can be made where there is a file.
    fs::write(sandbox.home.join(".aperture"), "").unwrap();
    let api = api(USUAL);
    let mut proxy = start(&sandbox, &api);
    let body = br#"{"model":"claude-opus-5-5","messages":[{"role":"user","content":"ask"}],"tools":[{"name":"Read"}]}"#;
    for _ in 0..3 {
        let (head, _) = proxy.post("/v1/messages", "x-claude-code-session-id: s\r\n", body);
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        assert_eq!(api.last_body(), body);
    }
    let errors = proxy.errors();
    let count = |part: &str| errors.matches(part).count();
    assert_eq!(count("requests pass, but other commands do not find this proxy"), 1, "{errors}");
    assert_eq!(count("cannot create the store"), 1, "{errors}");
}

#[test]
fn commands_of_the_model_and_refusals_are_shown() {
    let text = json!({"type": "content_block_delta", "delta": {"type": "text_delta", "text": "@archive(16)\n@pin(19)\n"}});
    let events = format!("event: content_block_delta\ndata: {text}\n\n");
    let api = Api::new(move |_, stream| answer_events(stream, &events));
    let sandbox = Sandbox::of("tools-and-spill");
    sandbox.write("aperture.toml", "[pipeline]\nmanifest = false\n");
    sandbox.settings("[model]\narchive = \"auto\"\n");
    let proxy = start(&sandbox, &api);
    let client = Client { session: crate::obeying::ID.to_owned(), call: read_call(), result: String::new(), sandbox, api, proxy };
    client.send(&["tidy up"]);
    let sandbox = &client.sandbox;
    let status = wait_for("the commands of the model", || {
        Some(sandbox.text(&["status"])).filter(|status| status.contains("Claude archived 1 block and pinned 1 in the last turn"))
    });
    assert!(!status.contains("requests are sent as the client writes them"), "{status}");
    let payload = json!({"transcript_path": sandbox.first_session()}).to_string();
    let line = sandbox.given(&["statusline"], &payload).stdout;
    assert!(line.contains("Claude archived 1 block and pinned 1"), "{line}");
    let store = rusqlite::Connection::open(sandbox.home.join(".aperture/store.db")).unwrap();
    let observed = "INSERT OR REPLACE INTO wire_lines (session, line, point, dropped, observed)
        VALUES (?1, '', 1, x'', 'the API refused it')";
    store.execute(observed, [&client.session]).unwrap();
    let refused = "requests are sent as the client writes them: the API refused it";
    let status = sandbox.text(&["status"]);
    assert!(status.contains(refused), "{status}");
    let line = sandbox.given(&["statusline"], &payload).stdout;
    assert!(line.contains("sent unchanged"), "{line}");
    crate::watch::Watching::new(sandbox, &["--lines"]).until(refused);
    // Each refusal is reported to the person once, by the first event.
    let hook = |event: &str| sandbox.given(&["hook", event], &payload).stdout;
    let message = "aperture: requests of this session are sent as the client writes them: the API refused it";
    assert_eq!(hook("Stop"), format!("{}\n", json!({"systemMessage": message})));
    assert!(!hook("UserPromptSubmit").contains("systemMessage"));
}

#[test]
fn a_refused_change_ends_the_changes_of_a_session_and_the_user_is_told_why() {
    let odd = json!({"type": "error", "error": {"type": "invalid_request_error", "message": "messages.2: odd sk-ant-api03-abcdefghijklmnopqrst"}});
    let api = Api::new(move |request, stream| {
        match String::from_utf8_lossy(&request.body).contains("archived from") {
            true => send(stream, "400 Bad Request\r\ncontent-type: application/json", odd.to_string().as_bytes()),
            false => answer_events(stream, STREAM),
        };
    });
    let sandbox = Sandbox::of("tools-and-spill");
    sandbox.write("aperture.toml", "[pipeline]\nmanifest = false\ntool = false\n");
    let proxy = start(&sandbox, &api);
    let result = sandbox.json(&["show", "16"], "aperture.show/2")["blocks"][0]["content"].as_str().unwrap().to_owned();
    let session = sandbox.first_session().file_stem().unwrap().to_string_lossy().into_owned();
    let client = Client { sandbox, api, proxy, session, call: read_call(), result };
    let original = client.send(&["go on"]);
    let sandbox = &client.sandbox;
    sandbox.text(&["archive", "16"]);
    // The client sees the error as it is.
    let headers = format!("x-claude-code-session-id: {}\r\nx-api-key: key\r\n", client.session);
    let (head, body) = client.proxy.post("/v1/messages?beta=true", &headers, original.as_bytes());
    assert!(head.starts_with("HTTP/1.1 400") && String::from_utf8(body).unwrap().contains("messages.2: odd"), "{head}");
    let reason = "requests are sent as the client writes them: the API refused a changed request (status 400): messages.2: odd";
    // The text is wrapped.
    let read = || sandbox.text(&["status"]).split_whitespace().collect::<Vec<_>>().join(" ");
    let status = wait_for("the refusal", || Some(read()).filter(|status| status.contains("sent as the client writes them")));
    assert!(status.contains(reason), "{status}");
    assert!(!status.contains("abcdefghijkl"), "{status}");
    assert_eq!(client.send(&["go on"]), original);
    let payload = json!({"transcript_path": sandbox.first_session()}).to_string();
    let hook = || sandbox.given(&["hook", "UserPromptSubmit"], &payload).stdout;
    assert!(hook().contains("systemMessage"));
    assert!(!hook().contains("systemMessage"), "once");
}
