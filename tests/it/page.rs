//! The page of `aperture serve`, whom it answers, and the file of `aperture report`.
#![allow(clippy::disallowed_types, reason = "the client of the page")]

use crate::browser::{Browser, ENTER};
use crate::network::{Proxy, dechunked, split};
use crate::obeying::say;
use crate::rows::Rows;
use crate::sandbox::{PATIENCE, Sandbox, wait_for};
use crate::{fresh, wire};
use aperture::commands::{Request, RequestEffect, definition};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

/// A server of the page, which ends with this value.
struct Page {
    /// The server; `None` if that is another process.
    child: Option<Child>,
    address: String,
    host: String,
    token: String,
}

impl Page {
    fn start(sandbox: &Sandbox, arguments: &[&str]) -> Page {
        let mut command = sandbox.command(&[&["serve"], arguments].concat());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("page: ").unwrap_or_else(|| panic!("{line}")).to_owned();
        let host = address.split('/').nth(2).unwrap().to_owned();
        let token = address.split('#').nth(1).and_then(|rest| rest.split('/').next()).unwrap().to_owned();
        Page { child: Some(child), address, host, token }
    }

    /// Sends a request as it is and returns the status, the head and the body of the answer.
    fn send(&self, line: &str, headers: &[(&str, &str)], body: &str) -> (u16, String, Vec<u8>) {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut request = format!("{line} HTTP/1.1\r\nconnection: close\r\ncontent-length: {}\r\n", body.len());
        headers.iter().for_each(|(name, value)| request += &format!("{name}: {value}\r\n"));
        stream.write_all((request + "\r\n" + body).as_bytes()).unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let (head, body) = split(answer);
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let body = if head.contains("transfer-encoding: chunked") { dechunked(&body).0 } else { body };
        (status, head, body)
    }

    /// The headers of a request of the page itself.
    fn own<'a>(&'a self, origin: &'a str) -> Vec<(&'static str, &'a str)> {
        let kind = ("content-type", "application/json");
        vec![("host", &self.host), ("origin", origin), kind, ("x-aperture-token", &self.token)]
    }

    /// Asks as the page does.
    fn ask(&self, session: &str, request: &Value) -> (u16, Value) {
        let origin = format!("http://{}", self.host);
        let body = json!({ "session": session, "request": request }).to_string();
        let (status, _, body) = self.send("POST /aperture/request", &self.own(&origin), &body);
        (status, serde_json::from_slice(&body).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&body))))
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Returns a path as it is, of one with placeholders.
fn path(sandbox: &Sandbox, text: &Value) -> PathBuf {
    let text = text.as_str().unwrap().replace("HOME", &sandbox.home.to_string_lossy());
    text.replace("PROJECT", &sandbox.project.to_string_lossy()).replace("SLUG", &sandbox.slug()).into()
}

/// Returns the id and the file of the newest session.
fn newest(sandbox: &Sandbox) -> (String, PathBuf) {
    let status = sandbox.json(&["status"], "aperture.status/2");
    (status["session"].as_str().unwrap().to_owned(), path(sandbox, &status["path"]))
}

#[test]
fn a_request_is_a_command_and_its_answer_is_the_report() {
    let sandbox = Sandbox::of("tools-and-spill");
    let (session, _) = newest(&sandbox);
    let page = Page::start(&sandbox, &[&session]);
    let (status, report) = page.ask(&session, &json!({ "blocks": { "selector": "tool(Read)" } }));
    assert_eq!(status, 200);
    let numbers = |report: &Value| -> Vec<Value> {
        report["blocks"].as_array().unwrap().iter().map(|block| block["number"].clone()).collect()
    };
    let printed = sandbox.json(&["blocks", "tool(Read)", "-s", &session], "aperture.blocks/2");
    assert!(!numbers(&report).is_empty() && numbers(&report) == numbers(&printed));
    let (status, report) = page.ask(&session, &json!({ "explain": { "selector": "99999" } }));
    assert_eq!((status, &report["schema"]), (422, &json!("aperture.error/1")));
    for other in [
        json!({ "export": { "output": "x" } }),
        json!({ "run": { "command": ["true"] } }),
        json!({ "preset": { "action": { "use": { "name": "light" } } } }),
    ] {
        let (status, report) = page.ask(&session, &other);
        assert_eq!(status, 422, "{report}");
    }
    let (status, _) = page.ask(&session, &json!({ "archive": { "selector": "all", "all_sessions": true } }));
    assert_eq!(status, 422);
    // Nothing waits for an editor, which would have no terminal.
    let (_, added) = page.ask(&session, &json!({ "memory": { "action": { "add": { "text": "Use tabs." } } } }));
    let edit = json!({ "memory": { "action": { "edit": { "id": "1" } } } });
    let (status, report) = page.ask(&session, &edit);
    assert!(status == 422 && report["message"] == "no editor is set", "{added} {report}");
    let (status, _) = page.ask(&session, &json!({ "no-such": {} }));
    assert_eq!(status, 400);
}

#[test]
fn a_change_is_planned_carried_out_and_undone_to_the_byte() {
    let sandbox = Sandbox::of("tools-and-spill");
    let (session, path) = newest(&sandbox);
    let before = fs::read(&path).unwrap();
    let page = Page::start(&sandbox, &[&session]);
    let (_, plan) = page.ask(&session, &json!({ "archive": { "selector": "tool(Read)", "dry_run": true } }));
    assert_eq!((&plan["dry_run"], &plan["operation"]), (&json!(true), &Value::Null));
    assert_eq!(fs::read(&path).unwrap(), before);
    let (_, done) = page.ask(&session, &json!({ "archive": { "selector": "tool(Read)" } }));
    assert_eq!(done["operation"], json!(1), "{done}");
    assert_ne!(fs::read(&path).unwrap(), before);
    page.ask(&session, &json!({ "undo": {} }));
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn nobody_else_is_answered() {
    let sandbox = Sandbox::of("tools-and-spill");
    let (session, path) = newest(&sandbox);
    let before = fs::read(&path).unwrap();
    let page = Page::start(&sandbox, &[&session]);
    let origin = format!("http://{}", page.host);
    let port = page.host.rsplit(':').next().unwrap();
    let good = page.own(&origin);
    let body = json!({ "session": session, "request": { "archive": { "selector": "tool(Read)" } } }).to_string();
    let rebound =
        [format!("127.evil.com:{port}"), format!("localhost.evil.com:{port}"), "evil.example".to_owned(), String::new()];
    let mut attacks: Vec<Vec<(&str, &str)>> = Vec::new();
    let changed = |name: &str, value: Option<&'static str>| -> Vec<(&str, &str)> {
        let others = good.iter().copied().filter(|(other, _)| *other != name);
        others.chain(value.map(|value| (good.iter().find(|(other, _)| *other == name).unwrap().0, value))).collect()
    };
    for host in &rebound {
        let mut headers = changed("host", None);
        headers.push(("host", host));
        attacks.push(headers);
    }
    for (name, values) in [
        ("origin", &[None, Some("https://evil.example"), Some("null")][..]),
        ("content-type", &[None, Some("text/plain"), Some("multipart/form-data")]),
        ("x-aperture-token", &[None, Some("0")]),
    ] {
        attacks.extend(values.iter().map(|value| changed(name, *value)));
    }
    for headers in &attacks {
        let (status, _, answer) = page.send("POST /aperture/request", headers, &body);
        assert_eq!(status, 403, "{headers:?}");
        assert!(!String::from_utf8_lossy(&answer).contains(&page.token));
    }
    for line in ["GET /aperture/events?session=x", "GET /aperture/request", "GET /aperture/token"] {
        let (status, ..) = page.send(line, &[("host", &page.host)], "");
        assert_eq!(status, 403, "{line}");
    }
    let upgrade = [("host", &*page.host), ("x-aperture-token", &page.token), ("upgrade", "websocket")];
    assert_eq!(page.send("GET /aperture/events?session=x", &upgrade, "").0, 403);
    assert_eq!(page.send("DELETE /aperture/request", &good, "").0, 405);
    assert_eq!(fs::read(&path).unwrap(), before);
    let (status, head, text) = page.send("GET /", &[("host", &page.host)], "");
    assert!(status == 200 && head.contains("default-src 'none'") && head.contains("no-store"), "{head}");
    assert!(!String::from_utf8_lossy(&text).contains(&page.token));
    assert_eq!(page.send("GET /../../etc/passwd", &[("host", &page.host)], "").0, 404);
}

#[test]
fn the_proxy_serves_the_same_page_to_who_has_its_token() {
    let sandbox = Sandbox::of("tools-and-spill");
    let (session, _) = newest(&sandbox);
    let proxy = Proxy::start(&sandbox, &[]);
    let text = sandbox.run(&["proxy", "status"]).stdout;
    let address = text.lines().find_map(|line| line.strip_prefix("page: ")).unwrap_or_else(|| panic!("{text}")).to_owned();
    let host = format!("127.0.0.1:{}", proxy.port);
    let token = address.split('#').nth(1).unwrap().trim_end_matches('/').to_owned();
    let page = Page { child: None, address, host, token };
    let (status, report) = page.ask(&session, &json!({ "status": {} }));
    assert_eq!((status, &report["session"]), (200, &json!(session)));
    let (status, _, text) = page.send("GET /page.js", &[("host", &page.host)], "");
    assert!(status == 200 && !text.is_empty());
    assert_eq!(page.send("GET /aperture/events?session=x", &[("host", &page.host)], "").0, 403);
    assert_eq!(page.send("GET /", &[("host", "evil.example")], "").0, 403);
}

#[test]
fn another_address_or_session_is_an_error_with_a_hint() {
    let sandbox = Sandbox::of("tools-and-spill");
    let outcome = sandbox.run(&["serve", "--listen", "0.0.0.0:0"]);
    assert!(outcome.code == 2 && outcome.stderr.contains("ssh -L"), "{}", outcome.stderr);
    assert_eq!(sandbox.run(&["serve", "nobody"]).code, 1);
}

#[cfg(unix)]
#[test]
fn the_file_with_the_token_is_private_and_goes_with_the_page() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::of("tools-and-spill");
    let leads = || {
        let files = fs::read_dir(sandbox.home.join(".aperture")).unwrap().map(|entry| entry.unwrap().path());
        files.filter(|path| path.extension().is_some_and(|end| end == "html")).collect::<Vec<_>>()
    };
    for signal in ["-TERM", "-QUIT"] {
        let mut page = Page::start(&sandbox, &[]);
        let path = wait_for("the file", || leads().pop());
        assert!(fs::read_to_string(&path).unwrap().contains(&page.token));
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let child = page.child.as_mut().unwrap();
        Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
        assert!(child.wait().unwrap().success(), "{signal}");
        assert_eq!(leads(), Vec::<PathBuf>::new(), "{signal}");
    }
}

/// A command that can write a file of its own does not do it for a page.
#[test]
fn a_request_writes_no_file_that_it_names() {
    let sandbox = Sandbox::of("tools-and-spill");
    let (session, _) = newest(&sandbox);
    let page = Page::start(&sandbox, &[&session]);
    for request in [json!({"report": {"html": "new.md"}}), json!({"memory": {"action": {"export": {"output": "new.md"}}}})] {
        let (status, report) = page.ask(&session, &request);
        assert!(status == 422 && report["message"].as_str().unwrap().contains("does not run on a page"), "{report}");
        assert!(!sandbox.project.join("new.md").exists() && !sandbox.home.join("new.md").exists());
    }
    assert_eq!(page.ask(&session, &json!({"memory": {"action": {"export": {}}}})).0, 200);
}

/// What a request names is never an option of the command that answers it.
#[test]
fn a_value_of_a_request_is_a_value() {
    let sandbox = Sandbox::of("tools-and-spill");
    let (session, _) = newest(&sandbox);
    let page = Page::start(&sandbox, &[&session]);
    let headers = [("host", &*page.host), ("x-aperture-token", &*page.token)];
    for name in ["--help", "--apply-policy", "no-such-session"] {
        let (status, _, body) = page.send(&format!("GET /aperture/events?session={name}"), &headers, "");
        let report: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!((status, &report["schema"]), (404, &json!("aperture.error/1")), "{name}");
        assert!(report["message"].as_str().unwrap().contains(name), "{report}");
        let (status, report) = page.ask(name, &json!({ "status": {} }));
        assert!(status == 422 && report["message"].as_str().unwrap().contains(name), "{report}");
    }
    let (status, report) = page.ask(&session, &json!({ "explain": { "selector": "1\0" } }));
    assert!(status == 400 && report["message"].as_str().unwrap().contains("null character"), "{report}");
    assert_eq!(page.ask("a\0b", &json!({ "status": {} })).0, 400);
}

#[test]
fn an_event_follows_a_change_of_the_file() {
    let sandbox = Sandbox::of("tools-and-spill");
    let (session, _) = newest(&sandbox);
    let page = Page::start(&sandbox, &[&session]);
    let mut stream = TcpStream::connect(&page.host).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let line = format!(
        "GET /aperture/events?session={session} HTTP/1.1\r\nhost: {}\r\nx-aperture-token: {}\r\n\r\n",
        page.host, page.token
    );
    stream.write_all(line.as_bytes()).unwrap();
    let mut lines = BufReader::new(stream).lines().map(Result::unwrap);
    let mut event = |name: &str| {
        let named = format!("\"event\":\"{name}\"");
        lines.by_ref().find(|line| line.starts_with("data: ") && line.contains(&named)).unwrap()
    };
    event("session_opened");
    page.ask(&session, &json!({ "pin": { "selector": "1" } }));
    event("command_executed");
}

#[test]
fn the_page_shows_the_window_in_a_browser() {
    let sandbox = Sandbox::of("tools-and-spill");
    let (session, _) = newest(&sandbox);
    let page = Page::start(&sandbox, &[&session]);
    let Some(browser) = Browser::start() else { return };
    // The file that `--open` gives to the browser leads there.
    let mut files = fs::read_dir(sandbox.home.join(".aperture")).unwrap().map(|entry| entry.unwrap().path());
    let lead = files.find(|path| path.extension().is_some_and(|end| end == "html")).unwrap();
    for address in [page.address.clone(), format!("file://{}", lead.display())] {
        browser.open("about:blank");
        browser.open(&address);
        browser.wait("document.querySelector('#main canvas')");
        for shown in ["until compaction", "What can be reclaimed"] {
            browser.wait_text(shown);
        }
        let text = browser.run("return location.href + document.body.outerHTML").to_string();
        assert!(!text.contains("toast\"") && !text.contains(&page.token), "{text}");
    }
}

#[test]
fn the_page_changes_a_session_after_yes_only_and_undoes_it_to_the_byte() {
    let Some(browser) = Browser::start() else { return };
    let sandbox = Sandbox::of("tools-and-spill");
    let (session, file) = newest(&sandbox);
    let before = fs::read(&file).unwrap();
    let page = Page::start(&sandbox, &[&session]);
    browser.open(&page.address);
    browser.click("document.getElementById('tab-list')");
    let row = "tr:has(input[aria-label='mark #16'])";
    browser.click(&format!("document.querySelector(\"{row} input\")"));
    browser.wait_text("1 block marked");
    // The first key gives the window to the browser; keys are ignored for a moment then.
    browser.keys("x");
    thread::sleep(Duration::from_millis(400));
    let ask = || {
        browser.keys("a");
        browser.wait("document.getElementById('question').open");
        browser.wait_text("Archive 1 block?");
    };
    ask();
    browser.keys(ENTER);
    browser.wait("!document.getElementById('question').open");
    assert_eq!(fs::read(&file).unwrap(), before);
    ask();
    browser.keys("y");
    browser.wait_text("operation 1");
    assert_ne!(fs::read(&file).unwrap(), before);
    browser.keys("u");
    browser.wait_text("operation 2");
    assert_eq!(fs::read(&file).unwrap(), before);
    wait_for("the pin", || {
        browser.drag(&format!("{row} td.number"), ".zones .zone");
        thread::sleep(Duration::from_secs(1));
        Some(())
            .filter(|()| browser.run(&format!("return document.querySelector(\"{row}\").innerText.includes('pinned')")) == true)
    });
    say(&sandbox, "@archive(19)");
    let obeyed = sandbox.text(&["obey"]);
    assert!(obeyed.contains("approval"), "{obeyed}");
    browser.wait_text("The model asks");
    browser.click("document.querySelector('.wish button.main')");
    browser.wait("!document.querySelector('.wish')");
    // A wish is decided before its change is written.
    wait_for("the archived block", || (!fs::read(&file).unwrap().starts_with(&before)).then_some(()));
}

#[test]
fn late_answers_change_neither_another_session_nor_another_operation() {
    let Some(browser) = Browser::start() else { return };
    let sandbox = Sandbox::of("tools-and-spill");
    let (session, _) = newest(&sandbox);
    let mut rows = Rows::default();
    rows.prompt("Another task altogether.");
    rows.answer("done");
    sandbox.session("abc1", rows.text(), 600);
    let page = Page::start(&sandbox, &[&session]);
    browser.open(&page.address);
    browser.click("document.getElementById('tab-list')");
    for (button, done) in [("Pin", "operation 1"), ("Select", "operation 2")] {
        browser.click("document.querySelector(\"input[aria-label='mark #16']:not(:checked)\")");
        browser.wait_text("1 block marked");
        browser.click(&format!("[...document.querySelectorAll('#foot button')].find((button) => button.textContent === '{button}' || button.textContent.startsWith('{button} '))"));
        browser.wait_text(done);
    }
    browser.click("[...document.querySelectorAll('.toast')].find((toast) => toast.innerText.includes('operation 1')).querySelector('button')");
    browser.wait_text("operation 3");
    let log = sandbox.json(&["log", "-s", &session], "aperture.log/2");
    let undone: Vec<&Value> =
        log["operations"].as_array().unwrap().iter().filter(|operation| operation["undone_by"] == 3).collect();
    assert_eq!(undone.len(), 1, "{log}");
    assert_eq!(undone[0]["id"], 1, "{log}");
    // The answers about the first session come after the other one was opened.
    browser.run(&format!(
        "const fetched = window.fetch; window.fetch = async (...given) => {{ const answer = await fetched(...given); \
         if (String(given[1]?.body).includes('{session}')) await new Promise((done) => setTimeout(done, 1500)); return answer; }}"
    ));
    browser.click("document.getElementById('tab-sessions')");
    browser.wait_text("Another task");
    sandbox.text(&["pin", "19", "-s", &session]);
    thread::sleep(Duration::from_millis(500));
    browser.click("[...document.querySelectorAll('#main tr')].find((row) => row.innerText.includes('Another task')).querySelector('button, a')");
    browser.wait("document.querySelector('h1').innerText.includes('Another task')");
    thread::sleep(Duration::from_secs(3));
    let title = browser.run("return document.querySelector('h1').innerText");
    assert_eq!(title, "Another task altogether.", "of the session in the address");
}

#[test]
fn blocks_that_are_selected_on_the_page_are_named_in_the_next_request() {
    let Some(browser) = Browser::start() else { return };
    let client = wire::Client::with("[pipeline]\nmanifest = false\n");
    client.send(&client.body(&["first"]));
    client.settle();
    let status = client.sandbox.run(&["proxy", "status"]).stdout;
    let address = status.lines().find_map(|line| line.strip_prefix("page: ")).unwrap();
    browser.open(&format!("{address}{}", client.session));
    browser.click("document.getElementById('tab-list')");
    browser.click("document.querySelector(\"input[aria-label='mark #16']\")");
    browser.wait_text("1 block marked");
    browser.click("[...document.querySelectorAll('#foot button')].find((button) => button.textContent.startsWith('Select'))");
    browser.wait("document.querySelector('#main').innerText.includes('selected')");
    let sent = wait_for("the selection", || {
        let sent = client.send(&client.body(&["first", "second"]));
        sent.contains("highlighted").then_some(sent)
    });
    assert!(sent.contains("User has highlighted the following blocks as relevant: #16 ("), "{sent}");
}

#[test]
fn a_report_is_one_private_file_without_credentials_that_a_browser_shows() {
    let key = ["AKIA", "Q7RZ2MWK9TXB4LNV"].concat();
    let mut rows = Rows::default();
    rows.prompt("Look at the environment.");
    rows.call("Bash", json!({"command": "env"}), &format!("AWS_ACCESS_KEY_ID={key}\n<b>bold</b>"));
    let sandbox = Sandbox::new();
    sandbox.session("abc1", rows.text(), 0);
    let written = sandbox.json(&["report", "--html", "r.html"], "aperture.report/1");
    let path = path(&sandbox, &written["file"]);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains("default-src 'none'") && !text.contains("href=") && !text.contains("src="));
    let raw = fs::read_to_string(newest(&sandbox).1).unwrap();
    assert!(raw.contains(&key) && !text.contains(&key), "a credential is in the report");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
    assert_eq!(sandbox.run(&["report", "--html", "r.html"]).code, 1);
    assert_eq!(sandbox.run(&["report", "--html", "r.html", "--force"]).code, 0);
    sandbox.json(&["report", "--since", "3650d", "--html", "u.html"], "aperture.report/1");
    let Some(browser) = Browser::start() else { return };
    for (name, shown) in [("r.html", "What can be reclaimed"), ("u.html", "By model")] {
        browser.open(&format!("file://{}", path.with_file_name(name).display()));
        browser.wait_text(shown);
        assert_eq!(browser.run("return document.querySelectorAll('.toast').length"), 0);
    }
}

const HEAD: &str = "# Control interface

Generated from the definitions of the commands. The page of `aperture serve` uses this interface, and programs can too.

`aperture serve` prints an address, `http://127.0.0.1:PORT/#TOKEN/ID`. The token is in the header
`x-aperture-token` of each request. A request for another host, of another origin, without the token, or, unless it is `GET`, without an
origin or of another content type than `application/json` has the status 403 and no effect. There are no other origins: no CORS.

A proxy that serves all clients has the same interface and page; `aperture proxy status` prints its address.

## `POST /aperture/request`

The body is `{\"request\": {COMMAND: {…}}, \"session\": ID}`: one command with the values of its options and arguments,
and the session that it is about, if it is about one. The answer is the report that the command prints with `--json`
([JSON](json.md)). The status is 422 with an `aperture.error/1` if the command fails, 400 if there is no such command. Changes take
`\"dry_run\": true`. Commands that need a terminal, change many sessions, write files of their own or
serve do not run here; neither do `preset use`, `proxy stop`, `blame --note` and `memory export` with *output*.

## `GET /aperture/events?session=ID`

A stream of server-sent events: after `data: ` one object `aperture.watch/2`, as `aperture watch --json` prints it. It ends with the
connection.

## Commands

A key in *italics* has a default; a list can be one value.
";

/// The commands that run over the interface, with the keys of their arguments.
fn control_document() -> String {
    let mut text = HEAD.to_owned();
    let definition = definition();
    for (effect, title) in [(RequestEffect::Read, "Queries"), (RequestEffect::Change, "Changes")] {
        text += &format!("\n### {title}\n\n| command | what it does | keys |\n| --- | --- | --- |\n");
        for command in definition.get_subcommands().filter(|command| Request::effect_of(command.get_name()) == effect) {
            let keys = |command: &clap::Command| {
                let own = command.get_arguments().filter(|argument| {
                    let id = argument.get_id().as_str();
                    !argument.is_global_set()
                        && !argument.is_hide_set()
                        && id != "help"
                        && id != "named"
                        && id != "all_sessions"
                        && id != "project"
                });
                let key = |argument: &clap::Arg| {
                    let key = argument.get_id().as_str().to_owned();
                    if argument.is_required_set() { format!("`{key}`") } else { format!("*{key}*") }
                };
                own.map(key).collect::<Vec<_>>().join(", ")
            };
            let actions = command.get_subcommands().filter(|action| action.get_name() != "help" && !action.is_hide_set());
            let actions: Vec<String> = actions.map(|action| format!("`{}` ({})", action.get_name(), keys(action))).collect();
            let keys =
                if actions.is_empty() { keys(command) } else { format!("`action`: {}", actions.join("; ").replace(" ()", "")) };
            text += &format!("| `{}` | {} | {keys} |\n", command.get_name(), command.get_about().unwrap_or_default());
        }
    }
    text
}

#[test]
fn the_document_of_the_interface_is_fresh() {
    fresh::check("docs", false, vec![("control.md".to_owned(), control_document().into_bytes())]);
}
