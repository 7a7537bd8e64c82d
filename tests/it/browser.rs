//! A browser that tests drive over WebDriver.
#![allow(clippy::disallowed_types, reason = "the client of the driver")]

use crate::network::message;
use crate::sandbox::{PATIENCE, skipped, wait_for};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::thread;

/// The key Enter, as WebDriver names it.
pub const ENTER: &str = "\u{e007}";
/// The key under which WebDriver names an element.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// A browser without a screen, which ends with this value.
pub struct Browser {
    driver: Child,
    port: u16,
    session: String,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// Starts a browser. `None`, which is said, without one that can be driven.
    pub fn start() -> Option<Browser> {
        let start = |name: &&str| Command::new(name).arg("--port=0").stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok();
        let Some(mut driver) = ["chromedriver", "chromium-driver"].iter().find_map(start) else {
            skipped("the page in a browser: no chromedriver");
            return None;
        };
        let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines().map_while(Result::ok);
        let port = lines.find_map(|line| line.split("successfully on port ").nth(1)?.trim_end_matches('.').parse().ok());
        // What it prints later has a reader, so that it never waits.
        thread::spawn(move || lines.for_each(drop));
        let profile = tempfile::tempdir().unwrap();
        let mut browser = Browser { driver, port: port.unwrap_or_default(), session: String::new(), _profile: profile };
        let folder = format!("--user-data-dir={}", browser._profile.path().display());
        let arguments =
            ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1280,900", &folder];
        let wanted = json!({ "browserName": "chrome", "goog:chromeOptions": { "args": arguments } });
        let started = browser.call("POST", "", json!({ "capabilities": { "alwaysMatch": wanted } }));
        let Some(session) = started.as_ref().and_then(|started| started["sessionId"].as_str()) else {
            skipped(&format!("the page in a browser: it does not start: {started:?}"));
            return None;
        };
        browser.session = format!("/{session}");
        Some(browser)
    }

    pub fn open(&self, address: &str) {
        self.done("POST", "/url", json!({ "url": address }));
    }

    /// Runs a script, and returns what it returns.
    pub fn run(&self, script: &str) -> Value {
        self.done("POST", "/execute/sync", json!({ "script": script, "args": [] }))
    }

    /// Waits until an expression has a value other than `false`, `null` and the empty text.
    pub fn wait(&self, expression: &str) -> Value {
        wait_for(expression, || {
            let value = self.run(&format!("try {{ return {expression} || null }} catch {{ return null }}"));
            Some(value).filter(|value| !value.is_null())
        })
    }

    /// Waits until the page has a text.
    pub fn wait_text(&self, text: &str) {
        self.wait(&format!("document.body.innerText.includes({})", json!(text)));
    }

    /// Clicks on the element that an expression returns, as soon as there is one.
    pub fn click(&self, expression: &str) {
        self.wait(&format!("((element) => element && !element.disabled && (element.click(), true))({expression})"));
    }

    /// Presses and releases keys.
    pub fn keys(&self, keys: &str) {
        let keys =
            keys.chars().flat_map(|key| ["keyDown", "keyUp"].map(|kind| json!({ "type": kind, "value": key.to_string() })));
        let actions = json!([{ "type": "key", "id": "keys", "actions": keys.collect::<Vec<_>>() }]);
        self.done("POST", "/actions", json!({ "actions": actions }));
    }

    /// Drags an element to another with the mouse; both by their selectors. It is tried again if the page replaces them.
    pub fn drag(&self, from: &str, to: &str) {
        wait_for("the drag", || self.try_drag(from, to).filter(|value| value.get("error").is_none()));
    }

    fn try_drag(&self, from: &str, to: &str) -> Option<Value> {
        let find = |selector: &str| {
            let found = self.call("POST", "/element", json!({ "using": "css selector", "value": selector }))?;
            Some(json!({ ELEMENT: found[ELEMENT] }))
        };
        let (from, to) = (find(from)?, find(to)?);
        let over = |origin: &Value, x: u32| json!({ "type": "pointerMove", "duration": 100, "origin": origin, "x": x, "y": x });
        let press = |kind: &str| json!({ "type": kind, "button": 0 });
        // The drag begins with the second move over the element.
        let actions = [over(&from, 0), press("pointerDown"), over(&from, 5), over(&to, 0), over(&to, 3), press("pointerUp")];
        self.call("POST", "/actions", json!({ "actions": [{ "type": "pointer", "id": "mouse", "actions": actions }] }))
    }

    fn done(&self, method: &str, path: &str, body: Value) -> Value {
        let value = self.call(method, path, body).unwrap_or_else(|| panic!("{path}: the driver does not answer"));
        assert!(value.get("stacktrace").is_none(), "{path}: {}: {}", value["error"], value["message"]);
        value
    }

    /// Sends a command of the session to the driver.
    fn call(&self, method: &str, path: &str, body: Value) -> Option<Value> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).ok()?;
        stream.set_read_timeout(Some(PATIENCE)).ok()?;
        let body = body.to_string();
        let host = format!("127.0.0.1:{}", self.port);
        let head = format!("{method} /session{}{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n", self.session);
        write!(stream, "{head}content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}", body.len()).ok()?;
        let (_, body) = message(&mut stream, &mut Vec::new())?;
        Some(serde_json::from_slice::<Value>(&body).ok()?["value"].take())
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The browser ends with the session, and not with its driver.
        let _ = self.call("DELETE", "", json!({}));
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
