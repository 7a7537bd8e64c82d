//! `aperture mcp`: the protocol, the tools and the resources, as an MCP client sees them.

use crate::hooks;
use crate::sandbox::{Sandbox, wait_for};
use expect_test::{expect, expect_file};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A server and a client of it that writes its own lines.
pub struct Server<'a> {
    sandbox: &'a Sandbox,
    process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    requests: u64,
}

impl<'a> Server<'a> {
    /// Starts the program in the project and initializes the connection.
    pub fn new(sandbox: &'a Sandbox, environment: &[(&str, &str)]) -> Server<'a> {
        let mut command = sandbox.command(&["mcp"]);
        command.envs(environment.iter().copied());
        Server::start(sandbox, command).greeted()
    }

    /// Starts the program.
    fn start(sandbox: &'a Sandbox, mut command: Command) -> Server<'a> {
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let input = process.stdin.take();
        let output = BufReader::new(process.stdout.take().unwrap());
        Server { sandbox, process, input, output, requests: 0 }
    }

    /// Says hello.
    fn greeted(mut self) -> Server<'a> {
        let client = json!({"name": "test", "version": "1"});
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
        let answer = self.request("initialize", hello);
        assert_eq!(answer["result"]["serverInfo"]["name"], "aperture", "{answer}");
        self.line(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        self
    }

    /// Writes a line.
    fn line(&mut self, text: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(format!("{text}\n").as_bytes()).unwrap();
        input.flush().unwrap();
    }

    /// The next message; nothing but messages is ever written.
    fn next(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    /// Sends a request and returns its response.
    fn request(&mut self, method: &str, parameters: Value) -> Value {
        self.requests += 1;
        let id = self.requests;
        self.line(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters}).to_string());
        loop {
            let message = self.next();
            if message["id"] == id {
                return message;
            }
        }
    }

    /// The result of a call.
    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let answer = self.request("tools/call", json!({"name": tool, "arguments": arguments}));
        assert!(answer["error"].is_null(), "{tool} {arguments}: {answer}");
        answer["result"].clone()
    }

    /// The text of a call that goes well.
    pub fn text(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, &arguments);
        assert_ne!(result["isError"], true, "{tool} {arguments}: {result}");
        content(&result)
    }

    /// The text of a call that does not.
    pub fn error(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, &arguments);
        assert_eq!(result["isError"], true, "{tool} {arguments}: {result}");
        self.tidy(&content(&result))
    }

    fn tidy(&self, text: &str) -> String {
        let text = text.replace(&*self.sandbox.home.to_string_lossy(), "HOME");
        text.replace(&*self.sandbox.project.to_string_lossy(), "PROJECT")
    }

    /// Closes the connection and returns the exit code.
    pub fn end(mut self) -> i32 {
        drop(self.input.take());
        wait_for("the server ends", || self.process.try_wait().unwrap()).code().unwrap_or(-1)
    }
}

impl Drop for Server<'_> {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn content(result: &Value) -> String {
    let blocks = result["content"].as_array().unwrap();
    blocks.iter().map(|block| block["text"].as_str().unwrap()).collect()
}

#[test]
fn a_client_receives_the_tools_and_resources() {
    let sandbox = Sandbox::of("tools-and-spill");
    let mut server = Server::new(&sandbox, &[]);
    let tools = server.request("tools/list", json!({}));
    let tools = tools["result"]["tools"].as_array().unwrap();
    let mut text = String::new();
    for tool in tools {
        let hints = &tool["annotations"];
        let kind = match (&hints["readOnlyHint"], &hints["destructiveHint"]) {
            (Value::Bool(true), Value::Bool(false)) => "reads",
            (Value::Bool(false), Value::Bool(true)) => "removes",
            (Value::Bool(false), Value::Bool(false)) => "adds",
            other => panic!("{other:?}"),
        };
        let again = if hints["idempotentHint"] == true { ", idempotent" } else { "" };
        text.push_str(&format!(
            "{} ({kind}{again})\n{}\n",
            tool["name"].as_str().unwrap(),
            tool["description"].as_str().unwrap()
        ));
        text.push_str(&format!("{}\n\n", tool["inputSchema"]));
        assert_eq!(tool["inputSchema"]["type"], "object");
    }
    expect_file!["snapshots/mcp-tools.txt"].assert_eq(&text);
    let templates = server.request("resources/templates/list", json!({}));
    let templates = templates["result"]["resourceTemplates"].as_array().unwrap();
    let templates: Vec<&str> = templates.iter().map(|template| template["uriTemplate"].as_str().unwrap()).collect();
    assert_eq!(templates, ["aperture://session/{id}/manifest", "aperture://block/{number}"]);
    assert_eq!(server.end(), 0);
}

#[test]
fn every_tool_answers() {
    let sandbox = Sandbox::of("tools-and-spill");
    permit(&sandbox);
    let mut server = Server::new(&sandbox, &[]);
    let mut screen = String::new();
    for (tool, arguments) in [
        ("manifest", json!({"tier": "summary"})),
        ("blocks", json!({"selector": "tool(Read)", "sort": "tokens"})),
        ("show", json!({"selector": 19, "max_tokens": 150})),
        ("summary", json!({"turns": "1", "max_tokens": 200})),
        ("explain", json!({"selector": "19"})),
        ("pin", json!({"selector": "13", "at": "top"})),
        ("focus", json!({"selector": "14"})),
        ("unfocus", json!({})),
        ("unpin", json!({"selector": "pinned"})),
        ("archive", json!({"selector": "19|24", "reason": "listing is done"})),
        ("recall", json!({"query": "19", "max_tokens": 150})),
        ("search", json!({"query": "big.py", "max_tokens": 150})),
        ("expand", json!({"selector": "19", "dry_run": true})),
        ("expand", json!({"selector": "19", "max_tokens": 150})),
        ("compress", json!({"selector": "16", "level": "minimal"})),
        ("create", json!({"text": "the tests need a database"})),
        ("housekeeping", json!({"words": "{\"response_header\": \"big job done\"}"})),
        ("update", json!({"selector": "16", "text": "as it stands now"})),
        ("diff", json!({"from": "5", "stat": true})),
        ("undo", json!({})),
        ("log", json!({})),
    ] {
        screen.push_str(&format!("> {tool} {arguments}\n{}\n", server.text(tool, arguments.clone())));
    }
    expect_file!["snapshots/mcp-answers.txt"].assert_eq(&server.tidy(&screen));
    assert_eq!(server.end(), 0);
    // The program can also undo all of it.
    while sandbox.run(&["undo"]).code == 0 {}
    assert_eq!(sandbox.text(&["diff", "--stat"]), "no difference\n");
}

/// The user's settings let the model do everything by itself.
fn permit(sandbox: &Sandbox) {
    let directory = sandbox.home.join(".aperture");
    fs::create_dir_all(&directory).unwrap();
    fs::write(
        directory.join("config.toml"),
        "[model]\narchive = 'auto'\ncompress = 'auto'\nupdate = 'auto'\nhousekeeping = 'on'\n",
    )
    .unwrap();
}

#[test]
fn removing_commands_wait_for_the_user() {
    let sandbox = Sandbox::of("tools-and-spill");
    let mut server = Server::new(&sandbox, &[]);
    let before = sandbox.text(&["transcript", "--json"]);
    for arguments in [json!({"selector": "19|24", "reason": "the \"listing\" is done"}), json!({"selector": "99999"})] {
        let result = server.call("archive", &arguments);
        let waits = content(&result).contains("aperture approve 1");
        assert_eq!(waits, arguments["selector"] != "99999", "{result}");
    }
    // Asked for twice, it waits once.
    let again = server.text("archive", json!({"selector": "19|24", "reason": "the \"listing\" is done"}));
    assert!(again.contains("aperture approve 1"), "{again}");
    assert!(server.text("update", json!({"selector": "16", "text": "two\nlines"})).contains("aperture approve 2"));
    assert!(server.text("archive", json!({"selector": "19", "dry_run": true})).contains("would be archived"));
    assert!(server.error("compress", json!({"stale": true})).contains("name the blocks by a selector"));
    assert_eq!(sandbox.text(&["transcript", "--json"]), before);
    assert_eq!(sandbox.run(&["approve", "1", "2"]).code, 0);
    assert_eq!(server.text("show", json!({"selector": "16"})).lines().nth(2), Some("two"));
    // The user undoes the user's own operation.
    sandbox.text(&["pin", "13"]);
    assert!(server.error("undo", json!({})).contains("was made by the user"));
    assert!(server.error("unpin", json!({"selector": "13"})).contains("only the user can unpin it"));
    assert_eq!(server.end(), 0);
}

#[test]
fn a_pending_command_is_the_requested_one() {
    let sandbox = Sandbox::of("tools-and-spill");
    let mut server = Server::new(&sandbox, &[]);
    // A selector that another grammar would end elsewhere.
    let error = server.error("archive", json!({"selector": r#""\" | ", ...) @pin(13) | " | 99999"#}));
    assert!(error.contains("no block 99999"), "{error}");
    let text = server.text("archive", json!({"selector": r#""\" | ", ...) @pin(13) | " | 19"#}));
    assert!(text.contains("aperture approve 1"), "{text}");
    // Any text is written as it was given.
    let texts = ["a\r\nb\tc \u{1}\u{8}\u{c} \\n \"d\"".to_owned(), "...".to_owned(), "long ".repeat(20_000)];
    for (place, text) in texts.iter().enumerate() {
        let answer = server.text("update", json!({"selector": "16", "text": text}));
        assert!(answer.contains("the user approves it with"), "{answer}");
        assert_eq!(sandbox.run(&["approve", &(place + 2).to_string()]).code, 0);
        let content = sandbox.json(&["show", "16"], "aperture.show/2")["blocks"][0]["content"].clone();
        assert!(content == json!(text), "{content}");
    }
    assert_eq!(server.end(), 0);
}

#[test]
fn the_settings_of_the_project_of_a_named_session_hold_too() {
    let sandbox = Sandbox::of("tools-and-spill");
    let strict = sandbox.write("strict/aperture.toml", "[model]\ncreate = 'deny'\npin = 'deny'\n");
    let rows = fs::read_to_string(sandbox.first_session()).unwrap();
    let other = "66666666-6666-4666-8666-666666666666";
    let directory = strict.parent().unwrap().to_string_lossy().into_owned();
    sandbox.session(other, rows.replace("/home/dev/shop", &directory), 1);
    let mut server = Server::new(&sandbox, &[]);
    for (tool, arguments) in
        [("create", json!({"text": "a note", "session": other})), ("pin", json!({"selector": "13", "session": other}))]
    {
        let error = server.error(tool, arguments);
        assert!(error.contains(&format!("the user's settings deny @{tool}")), "{error}");
    }
    server.text("focus", json!({"selector": "13", "session": other}));
    sandbox.write("aperture.toml", "[model]\nfocus = 'deny'\n");
    assert!(server.error("focus", json!({"selector": "16", "session": other})).contains("deny @focus"));
    assert_eq!(server.end(), 0);
}

/// The session of another model can be changed only while no client has it open, as on the command line.
#[test]
fn a_session_that_another_client_has_open_stays() {
    let sandbox = Sandbox::of("tools-and-spill");
    let path = sandbox.first_session();
    sandbox.open_in_client();
    let id = path.file_stem().unwrap().to_string_lossy().into_owned();
    let own = "66666666-6666-4666-8666-666666666666";
    let text = fs::read_to_string(&path).unwrap();
    sandbox.session(own, text.replace(&id, own), 1);
    sandbox.settings("[model]\narchive = 'auto'\n");
    let mut server = Server::start(&sandbox, sandbox.command(&["-s", own, "mcp"])).greeted();
    for (tool, arguments) in [
        ("archive", json!({"selector": "19", "session": id})),
        ("compress", json!({"selector": "19", "level": "minimal", "session": id})),
        ("create", json!({"text": "a note", "session": id})),
    ] {
        let error = server.error(tool, arguments);
        assert!(error.contains("open and does not read it again"), "{tool}: {error}");
    }
    assert!(fs::read_to_string(&path).unwrap() == text);
    assert_eq!(sandbox.json(&["log", "-s", &id], "aperture.log/2")["operations"], json!([]));
    // What changes no file, and the own session by its name.
    assert!(server.text("pin", json!({"selector": "13", "session": id})).contains("1 block pinned"));
    assert!(server.text("archive", json!({"selector": "19", "session": own})).contains("archived"));
    server.text("archive", json!({"selector": "17", "dry_run": true, "session": id}));
    assert_eq!(server.end(), 0);
}

#[test]
fn a_note_in_an_open_session_comes_with_the_next_prompt() {
    let sandbox = Sandbox::of("tools-and-spill");
    let path = sandbox.first_session();
    sandbox.open_in_client();
    let before = fs::read(&path).unwrap();
    let mut server = Server::new(&sandbox, &[]);
    let text = server.text("create", json!({"text": "the tests need make db"}));
    assert!(text.contains("is sent with the next prompt"), "{text}");
    // The client continues from its last known row: a row added by aperture would be left on another branch.
    assert!(fs::read(&path).unwrap() == before);
    assert!(server.error("create", json!({"text": "the tests need make db"})).contains("is done"));
    assert!(server.error("create", json!({"text": " "})).contains("the note is empty"));
    let told = sandbox.text(&["obey", "--tell"]);
    assert_eq!(told, "aperture: create 'the tests need make db': the tests need make db\n");
    assert_eq!(sandbox.text(&["obey", "--tell"]), "");
    assert!(sandbox.text(&["log"]).contains("Claude created 1 note"));
    assert_eq!(server.end(), 0);
}

#[test]
fn a_model_does_not_release_blocks_of_the_user() {
    let sandbox = Sandbox::of("tools-and-spill");
    sandbox.text(&["pin", "16"]);
    sandbox.text(&["focus", "19"]);
    let mut server = Server::new(&sandbox, &[]);
    server.text("pin", json!({"selector": "16", "at": "top"}));
    assert!(server.error("unpin", json!({"selector": "16"})).contains("only the user can unpin it"));
    server.text("focus", json!({"selector": "24"}));
    server.text("focus", json!({"selector": "19|24"}));
    let selected = |server: &mut Server<'_>| {
        let blocks = server.call("blocks", &json!({"selector": "focused", "json": true}))["structuredContent"]["blocks"].clone();
        blocks.as_array().unwrap().iter().map(|block| block["number"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(selected(&mut server), [19, 24]);
    server.text("unfocus", json!({}));
    assert_eq!(selected(&mut server), [19]);
    assert!(server.error("unfocus", json!({})).contains("only the user can clear it"));
    assert_eq!(server.end(), 0);
}

#[test]
fn highlights_of_the_model_are_not_said_to_be_of_the_user() {
    let sandbox = Sandbox::of("tools-and-spill");
    let payload = json!({"prompt": "go on", "transcript_path": sandbox.first_session()});
    let prompt = || hooks::told(&sandbox, "UserPromptSubmit", &payload);
    prompt();
    let mut server = Server::new(&sandbox, &[]);
    server.text("focus", json!({"selector": "16"}));
    let focused = prompt();
    server.text("unfocus", json!({}));
    let cleared = prompt();
    for told in [focused, cleared] {
        assert!(!told.to_lowercase().contains("highlighted"), "{told}");
    }
    assert_eq!(server.end(), 0);
    sandbox.text(&["focus", "16"]);
    assert!(prompt().contains("User has highlighted the following blocks as relevant: #16 "));
}

/// The policy for each verb applies in the same way to text commands and to tools.
#[test]
fn both_ways_are_decided_alike() {
    let calls = [
        ("expand", "@expand(19)", json!({"selector": "19"})),
        ("compress", "@compress(16, minimal)", json!({"selector": "16", "level": "minimal"})),
        ("archive", "@archive(24)", json!({"selector": "24"})),
        ("pin", "@pin(14)", json!({"selector": "14"})),
        ("unpin", "@unpin(13)", json!({"selector": "13"})),
        ("focus", "@focus(14)", json!({"selector": "14"})),
        ("unfocus", "@unfocus(20)", json!({"selector": "20"})),
        ("update", "@update(16, \"x\")", json!({"selector": "16", "text": "x"})),
        ("create", "@create(\"x\")", json!({"text": "x"})),
    ];
    for (permission, expected) in [("auto", "done"), ("approve", "waiting"), ("deny", "denied")] {
        let sandbox = Sandbox::of("tools-and-spill");
        let mut server = Server::new(&sandbox, &[]);
        permit(&sandbox);
        server.text("archive", json!({"selector": "19"}));
        server.text("pin", json!({"selector": "13"}));
        server.text("focus", json!({"selector": "20"}));
        let settings: String = calls.iter().map(|(tool, ..)| format!("{tool} = '{permission}'\n")).collect();
        sandbox.settings(&format!("[model]\n{settings}"));
        let all: Vec<&str> = calls.iter().map(|(_, said, _)| *said).collect();
        crate::obeying::say(&sandbox, &all.join(" "));
        let looked = sandbox.json(&["obey", "--dry-run"], "aperture.obey/2");
        for (place, (tool, _, arguments)) in calls.iter().enumerate() {
            let result = server.call(tool, arguments);
            let text = content(&result);
            let became = match result["isError"] == true {
                true if text.contains("the user's settings deny") => "denied",
                true => "refused",
                false if text.contains("the user approves it with") => "waiting",
                false => "done",
            };
            assert_eq!(
                (became, &looked["commands"][place]["status"]),
                (expected, &json!(expected)),
                "{permission} {tool}: {text}"
            );
        }
    }
}

/// JavaScript writes half an emoji as an escape that is no text.
#[test]
fn a_request_with_half_an_emoji_is_answered() {
    let sandbox = Sandbox::of("tools-and-spill");
    let mut server = Server::new(&sandbox, &[]);
    server.line(
        r#"{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{"name":"show","arguments":{"selector":"19"},"x":"\ud83d"}}"#,
    );
    let answer = server.next();
    assert!(answer["id"] == 77 && !content(&answer["result"]).is_empty(), "{answer}");
    assert_eq!(server.end(), 0);
}

#[test]
fn an_answer_fits_its_budget_and_is_read_on() {
    let sandbox = Sandbox::of("tools-and-spill");
    let mut server = Server::new(&sandbox, &[]);
    let whole = server.text("show", json!({"selector": "all", "max_tokens": 20000}));
    let (mut read, mut line, mut parts) = (String::new(), 1, 0);
    loop {
        let part = server.text("show", json!({"selector": "all", "max_tokens": 300, "from_line": line}));
        parts += 1;
        let (shown, rest) = part.rsplit_once("… truncated at line ").unwrap_or((&part, ""));
        read.push_str(shown);
        let Some((_, next)) = rest.rsplit_once("from_line ") else { break };
        line = next.split(',').next().unwrap().parse().unwrap();
    }
    assert!(parts > 3);
    let plain = |text: &str| text.split("… truncated at line ").next().unwrap().replace('\n', "");
    assert!(plain(&read).starts_with(&plain(&whole)));
    assert_eq!(server.end(), 0);
}

#[test]
fn json_comes_in_place_of_text_when_it_fits() {
    let sandbox = Sandbox::of("tools-and-spill");
    let mut server = Server::new(&sandbox, &[]);
    let result = server.call("blocks", &json!({"selector": "19", "json": true}));
    assert_eq!(result["structuredContent"]["schema"], "aperture.blocks/2");
    assert_eq!(result["structuredContent"]["blocks"][0]["number"], 19);
    assert!(server.call("blocks", &json!({"selector": "19"}))["structuredContent"].is_null());
    let error = server.error("blocks", json!({"json": true, "max_tokens": 100}));
    assert!(error.contains("the limit is 100"), "{error}");
    assert_eq!(server.end(), 0);
}

#[test]
fn the_session_is_the_one_that_the_client_has_open() {
    let sandbox = Sandbox::of("tools-and-spill");
    let path = sandbox.first_session();
    let (own, other) = (path.file_stem().unwrap().to_string_lossy().into_owned(), "99999999-9999-4999-8999-999999999999");
    sandbox.session(other, fs::read(&path).unwrap(), 60);
    let asked = |server: &mut Server<'_>, arguments: Value| {
        let result = server.call("pin", &arguments);
        (content(&result), result["isError"] == true)
    };
    let operations = |id: &str| sandbox.json(&["log", id], "aperture.log/2")["operations"].as_array().unwrap().len();
    // Without any other information, the newest session is used.
    let mut server = Server::new(&sandbox, &[]);
    asked(&mut server, json!({"selector": "13"}));
    assert_eq!((operations(&own), operations(other)), (0, 1));
    // The one that a call names.
    asked(&mut server, json!({"selector": "13", "session": own}));
    assert_eq!((operations(&own), operations(other)), (1, 1));
    assert_eq!(server.end(), 0);
    // The one that the client had open when it started the server.
    let environment = [("CLAUDE_CODE_SESSION_ID", own.as_str())];
    let mut server = Server::new(&sandbox, &environment);
    asked(&mut server, json!({"selector": "14"}));
    assert_eq!((operations(&own), operations(other)), (2, 1));
    // The one that it has open now: this process is the client.
    let registry = sandbox.home.join(".claude/sessions");
    fs::create_dir_all(&registry).unwrap();
    let entry = |id: &str| json!({"pid": std::process::id(), "sessionId": id, "cwd": "/", "version": "2"}).to_string();
    fs::write(registry.join("1.json"), entry(other)).unwrap();
    let (text, _) = asked(&mut server, json!({"selector": "14"}));
    if cfg!(unix) {
        assert_eq!((operations(&own), operations(other)), (2, 2));
        assert!(text.contains("1 block pinned") && !text.contains("/resume"), "a client need not read a mark: {text}");
        // One that is not written yet is not another one.
        fs::write(registry.join("1.json"), entry("77777777-7777-4777-8777-777777777777")).unwrap();
        let (text, failed) = asked(&mut server, json!({"selector": "15"}));
        assert!(failed && text.contains("a new session is written"), "{text}");
        assert_eq!((operations(&own), operations(other)), (2, 2));
    }
    assert_eq!(server.end(), 0);
    // The project that the client reports, independent of the server's working directory.
    let project = sandbox.project.to_string_lossy().into_owned();
    fs::remove_dir_all(&registry).unwrap();
    let mut command = sandbox.command(&["mcp"]);
    command.current_dir(&sandbox.home).env("CLAUDE_PROJECT_DIR", &project);
    let mut server = Server::start(&sandbox, command).greeted();
    let (text, failed) = asked(&mut server, json!({"selector": "16"}));
    assert!(!failed, "{text}");
    assert_eq!(operations(other), if cfg!(unix) { 3 } else { 2 }, "{text}");
    assert_eq!(server.end(), 0);
}

#[test]
fn a_client_is_asked_for_its_roots() {
    let sandbox = Sandbox::of("tools-and-spill");
    let mut command = sandbox.command(&["mcp"]);
    command.current_dir(&sandbox.home);
    let mut server = Server::start(&sandbox, command);
    let hello =
        json!({"protocolVersion": "2025-11-25", "capabilities": {"roots": {}}, "clientInfo": {"name": "t", "version": "1"}});
    server.request("initialize", hello);
    server.line(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    server.line(r#"{"jsonrpc":"2.0","id":70,"method":"tools/call","params":{"name":"manifest"}}"#);
    let asked = server.next();
    assert_eq!(asked["method"], "roots/list");
    let root = format!("file://{}", sandbox.project.to_string_lossy());
    server.line(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"roots": [{"uri": root}]}}).to_string());
    let answer = server.next();
    assert_eq!(answer["id"], 70);
    assert!(content(&answer["result"]).starts_with("[CONTEXT MANIFEST"), "{answer}");
    // It is asked once.
    server.text("log", json!({}));
    assert_eq!(server.end(), 0);
}

/// A rollout of another project beside those of this one.
pub fn foreign_rollout(sandbox: &Sandbox) -> PathBuf {
    let own = sandbox.rollouts().remove(0);
    let text = fs::read_to_string(&own).unwrap().replace(&*sandbox.project.to_string_lossy(), "/elsewhere");
    let name = own.file_name().unwrap().to_string_lossy().replace("88888888", "77777777");
    fs::write(own.with_file_name(&name), text).unwrap();
    own.with_file_name(name)
}

#[test]
fn resources_are_those_of_the_project() {
    let sandbox = Sandbox::of("codex-fork");
    foreign_rollout(&sandbox);
    let environment = [("CLAUDE_CODE_SESSION_ID", "88888888-0000-7000-8000-000000000001")];
    let mut server = Server::new(&sandbox, &environment);
    let listed = server.request("resources/list", json!({}))["result"]["resources"].to_string();
    assert!(listed.contains("session/88888888-") && !listed.contains("session/77777777-"), "{listed}");
    assert_eq!(server.end(), 0);
}

#[test]
fn resources_are_listed_and_read() {
    let sandbox = Sandbox::of("tools-and-spill");
    let mut server = Server::new(&sandbox, &[]);
    let listed = server.request("resources/list", json!({}));
    let addresses: Vec<String> = listed["result"]["resources"]
        .as_array()
        .unwrap()
        .iter()
        .map(|resource| resource["uri"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(addresses[0], "aperture://manifest");
    assert!(addresses.len() > 1, "{addresses:?}");
    for address in &addresses {
        let answer = server.request("resources/read", json!({"uri": address}));
        let text = answer["result"]["contents"][0]["text"].as_str().unwrap();
        assert!(text.starts_with("[CONTEXT MANIFEST"), "{address}: {text}");
    }
    let answer = server.request("resources/read", json!({"uri": "aperture://block/19"}));
    assert!(answer["result"]["contents"][0]["text"].as_str().unwrap().starts_with("#19 "), "{answer}");
    for wrong in ["aperture://block/x", "aperture://block/99999", "aperture://session/zz/manifest", "file:///etc/passwd", ""] {
        let answer = server.request("resources/read", json!({"uri": wrong}));
        assert_eq!(answer["error"]["code"], -32002, "{wrong}: {answer}");
    }
    assert_eq!(server.end(), 0);
}

#[test]
fn credentials_do_not_leave() {
    let sandbox = Sandbox::of("tools-and-spill");
    let mut server = Server::new(&sandbox, &[]);
    let key = format!("sk-ant-{}", "q7Rz2mWk9TxB4lNvC8dF".repeat(2));
    server.text("create", json!({"text": format!("the key is {key}")}));
    let recent = server.call("blocks", &json!({"selector": "recency", "json": true, "max_tokens": 20000}));
    let number = recent["structuredContent"]["blocks"].as_array().unwrap().last().unwrap()["number"].clone();
    for (tool, arguments) in [
        ("show", json!({"selector": number})),
        ("show", json!({"selector": number, "json": true})),
        ("show", json!({"selector": key})),
        ("log", json!({})),
        ("manifest", json!({"tier": "full"})),
    ] {
        let result = server.call(tool, &arguments).to_string();
        assert!(!result.contains(&key), "{tool} {arguments}: {result}");
    }
    assert!(server.text("show", json!({"selector": number})).contains("the key is [secret:anthropic-key]"));
    // Neither do the stored calls, in any case.
    server.text("archive", json!({"selector": "19", "reason": format!("the key is {key}")}));
    server.error("undo", json!({"operation": 99, "session": key}));
    for arguments in [&["log"][..], &["log", "--json"], &["inbox"], &["inbox", "--json"], &["approve", "1"], &["obey", "--tell"]]
    {
        let said = sandbox.run(arguments).all();
        assert!(!said.contains(&key), "{arguments:?}: {said}");
    }
    assert_eq!(server.end(), 0);
}

#[test]
fn invalid_messages_are_answered() {
    let sandbox = Sandbox::of("tools-and-spill");
    let before = sandbox.text(&["blocks", "all", "--json"]);
    let mut server = Server::new(&sandbox, &[]);
    expect![[r#"
        error: cannot call archive
        because: the argument 'selector' is missing
        hint: its arguments are selector, reason, dry_run, session, max_tokens, from_line, json
    "#]]
    .assert_eq(&server.error("archive", json!({})));
    expect![[r#"
        error: no block 99999; nearest: 47 ("All done. The answer is 42."), 46 ((withheld))
    "#]]
    .assert_eq(&server.error("archive", json!({"selector": "99999"})));
    for (tool, arguments) in [
        ("archive", json!({"selector": {"a": 1}})),
        ("archive", json!({"selector": "12", "surprise": 1})),
        ("archive", json!({"selector": "&&"})),
        ("archive", json!({"selector": ""})),
        ("archive", json!({"selector": "--help"})),
        ("archive", json!({"selector": "12", "session": "no-such-session"})),
        ("archive", json!({"selector": "12", "session": "/etc/passwd"})),
        ("create", json!({"text": "-"})),
        ("create", json!({"text": " "})),
        ("create", json!({"text": "x".repeat(2 << 20)})),
        ("compress", json!({"level": "minimal"})),
        ("compress", json!({"budget": "much"})),
        ("show", json!({"selector": "12", "max_tokens": 0})),
        ("show", json!({"selector": "12", "from_line": 1.5})),
        ("undo", json!({"operation": 7})),
        ("recall", json!({"query": "xyzzy plugh"})),
    ] {
        let error = server.error(tool, arguments.clone());
        assert!(error.starts_with("error: "), "{tool}: {error}");
    }
    for (method, parameters, code) in [
        ("tools/call", json!({"name": "rm", "arguments": {}}), -32602),
        ("tools/call", json!({"name": "show", "arguments": [1]}), -32602),
        ("tools/call", json!({}), -32602),
        ("tools/call", json!([]), -32602),
        ("resources/read", json!({"uri": 7}), -32602),
        ("initialize", json!({}), -32602),
        ("server/discover", json!({}), -32602),
        ("nonsense", json!({}), -32601),
    ] {
        assert_eq!(server.request(method, parameters)["error"]["code"], code, "{method}");
    }
    for line in [r#"{"jsonrpc":"2.0","id":"a","method":7}"#, r#"{"id":"a","method":"ping"}"#, r#"{"jsonrpc":"2.0","id":"a"}"#] {
        server.line(line);
        let answer = server.next();
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(-32600), &json!("a")), "{answer}");
    }
    for line in ["garbage", "{", "{}", "[]", "null", "\u{0}", "{\"jsonrpc\":\"2.0\"}", &"x".repeat(17 << 20)] {
        server.line(line);
    }
    assert_eq!(server.request("ping", json!({}))["result"], json!({}));
    assert_eq!(server.end(), 0);
    assert_eq!(sandbox.text(&["blocks", "all", "--json"]), before);
}

#[test]
fn a_client_can_describe_itself_in_each_request() {
    let sandbox = Sandbox::of("tools-and-spill");
    let mut server = Server::start(&sandbox, sandbox.command(&["mcp"]));
    let of_version = |version: &str| {
        let prefix = "io.modelcontextprotocol";
        json!({format!("{prefix}/protocolVersion"): version, format!("{prefix}/clientCapabilities"): {"roots": {}}})
    };
    let metadata = of_version("2026-07-28");
    let discovered = server.request("server/discover", json!({"_meta": metadata}))["result"].clone();
    let newest = discovered["supportedVersions"].as_array().unwrap().last().unwrap();
    assert_eq!((newest, &discovered["resultType"]), (&json!("2026-07-28"), &json!("complete")));
    assert_eq!(discovered["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "aperture");
    let listed = server.request("tools/list", json!({"_meta": metadata}))["result"].clone();
    assert_eq!((&listed["ttlMs"], &listed["cacheScope"]), (&json!(0), &json!("private")), "{listed}");
    // Such a client is not asked for its roots.
    let called = server.request("tools/call", json!({"name": "log", "_meta": metadata}))["result"].clone();
    assert_eq!((&called["isError"], &called["resultType"]), (&json!(false), &json!("complete")), "{called}");
    assert!(called.get("ttlMs").is_none(), "{called}");
    for (method, parameters, code) in [
        ("tools/list", json!({}), -32602),
        ("tools/list", json!({"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}), -32602),
        ("tools/list", json!({"_meta": of_version("2031-01-01")}), -32022),
        ("resources/read", json!({"uri": "aperture://block/x", "_meta": metadata}), -32602),
        ("ping", json!({"_meta": metadata}), -32601),
    ] {
        assert_eq!(server.request(method, parameters)["error"]["code"], code, "{method}");
    }
    assert_eq!(server.end(), 0);
}

#[test]
fn both_speak_a_version_that_both_know() {
    let sandbox = Sandbox::of("tools-and-spill");
    let newest = "2025-11-25";
    for (requested, agreed) in
        [("2024-11-05", "2024-11-05"), ("2025-03-26", newest), (newest, newest), ("2026-07-28", newest), ("1999-01-01", newest)]
    {
        let mut server = Server::start(&sandbox, sandbox.command(&["mcp"]));
        // A client may ask if the server is there before it says anything else.
        assert_eq!(server.request("ping", json!({}))["result"], json!({}));
        let hello = json!({"protocolVersion": requested, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        assert_eq!(server.request("initialize", hello)["result"]["protocolVersion"], agreed);
        assert_eq!(server.end(), 0);
    }
}

#[test]
fn it_ends_when_the_client_is_gone() {
    let sandbox = Sandbox::of("tools-and-spill");
    // Before a word, in the middle of a line, and before the answer is read.
    assert_eq!(Server::start(&sandbox, sandbox.command(&["mcp"])).end(), 0);
    let mut server = Server::new(&sandbox, &[]);
    server.input.as_mut().unwrap().write_all(b"{\"jsonrpc\":").unwrap();
    assert_eq!(server.end(), 0);
    let mut server = Server::new(&sandbox, &[]);
    server.line(r#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"pin","arguments":{"selector":"13"}}}"#);
    assert_eq!(server.end(), 0);
    // A request is executed completely or not at all.
    let log = sandbox.json(&["log"], "aperture.log/2");
    assert!(log["operations"].as_array().unwrap().len() <= 1);
    assert_eq!(sandbox.run(&["verify"]).code, 0);
}

#[test]
fn a_home_without_sessions_says_so() {
    let sandbox = Sandbox::new();
    let mut server = Server::new(&sandbox, &[]);
    let error = server.error("manifest", json!({}));
    assert!(error.contains("hint: run one of the clients"), "{error}");
    assert_eq!(server.request("resources/list", json!({}))["result"]["resources"].as_array().unwrap().len(), 1);
    assert_eq!(server.end(), 0);
}

#[test]
fn a_search_needs_no_session_of_the_model() {
    let sandbox = Sandbox::of("tools-and-spill");
    let mut server = Server::new(&sandbox, &[]);
    let found = server.text("search", json!({"query": "please read big.py"}));
    assert!(found.contains("#1 user") && found.contains("claude --resume"), "{found}");
    let found = server.call("search", &json!({"query": "big.py", "json": true, "limit": 1}));
    assert_eq!(found["structuredContent"]["schema"], "aperture.search/1");
    assert!(server.error("search", json!({"query": "xyzzy"})).contains("no match for 'xyzzy'"));
    assert!(server.error("search", json!({"query": "big.py", "session": "nosuch"})).contains("nosuch"));
    assert_eq!(server.end(), 0);
}

#[test]
fn a_model_remembers_and_searches_memories() {
    // No session is needed.
    let sandbox = Sandbox::new();
    let mut server = Server::new(&sandbox, &[]);
    let text = server.text("remember", json!({"text": "`make lint` needs the network", "file": "gotchas", "dry_run": true}));
    assert!(text.starts_with("dry run: memory-1 saved, pending"), "{text}");
    let text = server.text("remember", json!({"text": "`make lint` needs the network", "file": "gotchas"}));
    assert!(text.starts_with("memory-1 saved, pending until the user accepts it"), "{text}");
    let again = server.call("remember", &json!({"text": "`make lint` needs the network", "kind": "fact", "json": true}));
    assert_eq!(again["structuredContent"]["done"], "memory-1 already says this", "{again}");
    let key = format!("sk-ant-{}", "q7Rz2mWk9TxB4lNvC8dF".repeat(2));
    let refused = server.error("remember", json!({"text": format!("the key is {key}")}));
    assert!(refused.contains("contains a credential") && !refused.contains(&key), "{refused}");
    assert!(server.error("remember", json!({"text": "a", "file": "gotcha"})).contains("did you mean 'gotchas'?"));
    let found = server.text("recall", json!({"query": "why does lint need the network", "scope": "memory"}));
    assert!(found.contains("memory-1") && found.contains("make lint"), "{found}");
    assert!(server.error("recall", json!({"query": "lint"})).contains("no session"));
    let known = sandbox.json(&["memory", "list"], "aperture.memories/1")["memories"].clone();
    assert_eq!((&known[0]["state"], &known[0]["by_model"]), (&json!("pending"), &json!(true)));
    let log = sandbox.json(&["memory", "log"], "aperture.memory-log/1");
    assert_eq!(log["operations"][0]["actor"], "model");
    sandbox.write("aperture.toml", "[model]\ncreate = \"deny\"\n");
    assert!(server.error("remember", json!({"text": "another"})).contains("the user's settings deny @create"));
    assert_eq!(server.end(), 0);
}

#[test]
fn tools_that_name_memories_wait_for_approval() {
    let sandbox = Sandbox::new();
    crate::memory_live::said(&sandbox, "6666abcd-0000-4000-8000-000000000001", 20, &["add the checkout page"]);
    for text in ["Use npm.", "Answer in French."] {
        sandbox.text(&["memory", "add", text]);
    }
    let mut server = Server::new(&sandbox, &[]);
    let dry = server.text("update", json!({"selector": "memory-1", "text": "Use pnpm.", "dry_run": true}));
    assert!(dry.starts_with("dry run: memory-1 saved"), "{dry}");
    let update = server.text("update", json!({"selector": "memory-1", "text": "Use pnpm."}));
    assert!(update.starts_with("pending: @update of a memory needs approval"), "{update}");
    server.text("archive", json!({"selector": "memory-2", "reason": "no longer"}));
    assert!(server.error("archive", json!({"selector": "memory-7"})).contains("there is no memory 'memory-7'"));
    let note = server.text("create", json!({"text": "learned: the tests need a database"}));
    assert!(note.starts_with("memory-3 saved, pending"), "{note}");
    assert_eq!(server.end(), 0);
    let states = || {
        let list = sandbox.json(&["memory", "list", "--retired"], "aperture.memories/1")["memories"].as_array().unwrap().clone();
        list.iter().map(|memory| format!("{} {}", memory["state"], memory["text"]).replace('"', "")).collect::<Vec<_>>()
    };
    assert!(states().contains(&"active Use npm.".to_owned()));
    sandbox.text(&["approve", "--pending"]);
    let expected = ["active Use pnpm.", "pending the tests need a database", "archived Answer in French."];
    assert!(expected.iter().all(|state| states().contains(&(*state).to_owned())), "{:?}", states());
}
