//! The server: handles the requests of the protocol.

use super::call::{self, Call};
use super::protocol::{
    Form, Greeting, INTERNAL, INVALID_PARAMETERS, Refusal, Request as ClientRequest, UNKNOWN_METHOD, UNKNOWN_RESOURCE, discovery,
};
use super::tools::{Effect, TOOLS, Tool};
use super::wire::Connection;
use super::{answer, resources, session};
use crate::app::{Answer, Client, CommandError, Env, refusal};
use crate::commands::model::{CallOutcome, ask, refuse_open};
use crate::commands::{self, Change, Other, Read, Request, recall};
use crate::engine::{Spent, mask, tokens};
use crate::model::Actor;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

const COLUMNS: usize = 100;
/// The maximum size of a resource, in tokens: larger than that of an answer, because the user attached it.
const RESOURCE_TOKENS: usize = 10_000;

/// The introduction to aperture that the server sends to the model.
const INSTRUCTIONS: &str = "aperture inspects and edits your own context window: the session of this conversation, block by \
block. Call manifest for an overview. Blocks are named by selectors: 12, 3..9, tool(Read), stale & larger(2k), \"auth \
flow\". recall returns archived and compacted content at once. archive and compress make room after the user \
approves it; undo reverts it. remember keeps a lesson for later sessions, and recall with scope memory finds it. They change the session's file: the client sends the smaller window after the user types /resume. A hint such as `aperture blocks \
all` names the tool blocks with the selector all.";

/// A server for one client.
pub struct Server {
    env: Env,
    client: Client,
    greeting: Greeting,
    /// The first root of the client, after it was requested.
    root: Option<Option<PathBuf>>,
    /// The recalls of turns in the current turn of each session, with that turn.
    recalls: BTreeMap<PathBuf, (u32, Spent)>,
}

impl Server {
    /// Creates a server for the client that started this process.
    pub fn new(env: Env) -> Server {
        let client = env.client();
        Server { env, client, greeting: Greeting::default(), root: None, recalls: BTreeMap::new() }
    }

    /// Answers the requests of a client, one after the other, until it disconnects.
    pub fn serve(&mut self, connection: &mut Connection) -> io::Result<()> {
        while let Some(message) = connection.next() {
            match message.and_then(ClientRequest::read) {
                Ok(Some(request)) => {
                    let response = self.respond(request, connection);
                    connection.send(&response)?;
                }
                Ok(None) => {}
                Err(response) => connection.send(&response)?,
            }
        }
        Ok(())
    }

    fn respond(&mut self, request: ClientRequest, connection: &mut Connection) -> Value {
        let form = match self.greeting.form(&request) {
            Ok(form) => form,
            Err(refusal) => return refusal.response(request.id),
        };
        let answer = AssertUnwindSafe(|| self.answer(&request, form, connection));
        let outcome = catch_unwind(answer).unwrap_or_else(|_| Err(Refusal::new(INTERNAL, "internal error")));
        form.response(request.id, outcome)
    }

    fn answer(&mut self, request: &ClientRequest, form: Form, connection: &mut Connection) -> Result<Value, Refusal> {
        let unusable = |error: CommandError| Refusal::new(INTERNAL, answer::error_text(&error));
        match request.method.as_str() {
            "initialize" => self.greeting.read(request, INSTRUCTIONS),
            "server/discover" => Ok(discovery(INSTRUCTIONS)),
            "ping" if !form.is_self_contained => Ok(json!({})),
            // Clients ask for prompts, whatever a server says that it has.
            "prompts/list" => Ok(json!({"prompts": []})),
            "tools/list" => Ok(json!({"tools": TOOLS.iter().map(described).collect::<Vec<_>>()})),
            "tools/call" => {
                let (tool, arguments) = called(request)?;
                let result = self.env(form, connection).and_then(|env| self.call(&env, tool, &arguments));
                // A tool error goes to the model, which can correct its call.
                Ok(result.unwrap_or_else(|error| json!({"content": texts(answer::error_text(&error)), "isError": true})))
            }
            "resources/list" => {
                let env = self.env(form, connection).map_err(unusable)?;
                Ok(json!({"resources": resources::list(&env, &self.client)}))
            }
            "resources/templates/list" => Ok(json!({"resourceTemplates": resources::templates()})),
            "resources/read" => {
                let address = request.text("uri")?;
                let env = self.env(form, connection).map_err(unusable)?;
                let text = self.resource(&env, address)?;
                Ok(json!({"contents": [{"uri": address, "mimeType": "text/plain", "text": text}]}))
            }
            other => Err(Refusal::new(UNKNOWN_METHOD, format!("unknown method '{other}'"))),
        }
    }

    /// Returns the environment of a call: current settings and time, in the directory of the client's project.
    fn env(&mut self, form: Form, connection: &mut Connection) -> Result<Env, CommandError> {
        let directory = match &self.client.project {
            Some(project) => Some(project),
            None => self.root.get_or_insert_with(|| form.has_roots.then(|| session::root(connection)).flatten()).as_ref(),
        };
        let directory = directory.filter(|path| self.env.disk.identify(path).is_ok()).unwrap_or(&self.env.directory);
        let mut env = self.env.renewed(directory)?;
        env.style.width = COLUMNS;
        Ok(env)
    }

    fn call(&mut self, env: &Env, tool: &Tool, arguments: &Map<String, Value>) -> Result<Value, CommandError> {
        let call = call::read(tool, arguments)?;
        let (json, from_line, max_tokens) = (call.json, call.from_line, call.max_tokens);
        let body = self.carry_out(env, call)?;
        if json && !body.json.is_empty() {
            let value: Value = serde_json::from_str(&body.json).unwrap_or_default();
            let size = tokens::count(&value.to_string());
            if size > max_tokens {
                return Err(refusal!("the JSON has {size} tokens; the limit is {}", max_tokens)
                    .hint("select fewer blocks, set a larger max_tokens, or omit json: text can be read in parts"));
            }
            let text = env.gate.json(&value.to_string()).into_string();
            // The text is the same JSON value, unchanged.
            return Ok(json!({"content": texts(text), "structuredContent": value, "isError": false}));
        }
        let rest = |line| format!("the same call with from_line {line}, or a larger max_tokens");
        let text = answer::page(&body.text, from_line, max_tokens, &rest);
        Ok(json!({"content": texts(body.before + &text), "isError": false}))
    }

    fn carry_out(&mut self, env: &Env, call: Call) -> Result<Body, CommandError> {
        // The log stores the command and is printed later, so credentials are masked.
        let line = format!("mcp: {}", mask(&call.line));
        if let Request::Other(Other::Search(arguments)) = &call.request {
            let mut env = env.naming(call.session);
            // The form that is answered is what must be within the budget.
            env.json = call.json;
            return Ok(Body::new(String::new(), env.answer(&commands::search::found(&env, arguments)?)));
        }
        let mut env = match session::find(env, &self.client, call.session.as_deref()) {
            Ok(found) => {
                if call.session.is_some() && !session::is_own(env, &self.client, &found) {
                    refuse_open(&env.on(&found.path, ""), &found, &call.request)?;
                }
                env.for_model_on(&found, "")?
            }
            // Memories exist without a session.
            Err(_) if call.session.is_none() && call.is_about_memories() => env.clone(),
            Err(error) => return Err(error),
        };
        env.command = line;
        env.actor = Actor::Model;
        if let Request::Read(Read::Recall(arguments)) = &call.request
            && arguments.turns.is_some()
        {
            return self.recall_turns(&env, arguments);
        }
        if let Request::Read(request) = &call.request {
            return Ok(Body::new(String::new(), commands::read(&env, request)?));
        }
        let only_said = |text: String| Ok(Body { before: String::new(), text, json: String::new() });
        let change = match ask(&env, &call.request, call.dry_run)? {
            CallOutcome::Done(change) => change,
            CallOutcome::Remembered(report) => return Ok(Body::new(String::new(), env.answer(&*report))),
            CallOutcome::Told => {
                return only_said(
                    "the note is sent with the next prompt, by the hooks of aperture install claude-code\n".to_owned(),
                );
            }
            CallOutcome::Waits(number, why) => {
                return only_said(format!("pending: {why}\nthe user approves it with: aperture approve {number}\n"));
            }
        };
        let answer = env.answer(&*change);
        // A model that expands blocks wants to read them, but its own window does not change before the next resume.
        if let (Request::Change(Change::Expand(arguments)), false) = (&call.request, change.dry_run) {
            let content = commands::show::content(&env, &arguments.selector)?;
            let before = answer.text.into_string() + "\n";
            return Ok(Body::new(before, Answer { text: env.answer(&content).text, json: answer.json }));
        }
        Ok(Body::new(String::new(), answer))
    }

    /// Returns the requested turns within the quota of the model.
    fn recall_turns(&mut self, env: &Env, arguments: &recall::Arguments) -> Result<Body, CommandError> {
        let found = env.find(None)?;
        let path = found.path.clone();
        let turn = env.read_as_wanted(found, &|_| false)?.reading.last_turn();
        let (of_turn, spent) = self.recalls.entry(path).or_default();
        if std::mem::replace(of_turn, turn) != turn {
            *spent = Spent::default();
        }
        let report = recall::report(env, &arguments.clone().within_quota(env.model.recall_tokens(*spent)))?;
        spent.add(Some(&report.note()));
        Ok(Body::new(String::new(), env.answer(&report)))
    }

    fn resource(&mut self, env: &Env, address: &str) -> Result<String, Refusal> {
        let missing = |text: String| Refusal::new(UNKNOWN_RESOURCE, text);
        let unknown = || missing(format!("unknown resource {address}; known: aperture://manifest, aperture://block/12"));
        let (tool, arguments) = resources::call(address).ok_or_else(unknown)?;
        let body = call::read(tool, &arguments).and_then(|call| self.carry_out(env, call));
        let body = body.map_err(|error| missing(answer::error_text(&error)))?;
        let rest = |line| format!("the tool {} with from_line {line}", tool.name);
        Ok(answer::page(&body.text, 1, RESOURCE_TOKENS, &rest))
    }
}

struct Body {
    /// A header repeated before each part of the text.
    before: String,
    text: String,
    json: String,
}

impl Body {
    fn new(before: String, answer: Answer) -> Body {
        Body { before, text: answer.text.into_string(), json: answer.json.into_string() }
    }
}

fn texts(text: String) -> Value {
    json!([{"type": "text", "text": text}])
}

fn described(tool: &Tool) -> Value {
    let annotations = json!({
        "readOnlyHint": tool.effect == Effect::Reads,
        "destructiveHint": tool.effect == Effect::Removes,
        "idempotentHint": tool.idempotent,
        "openWorldHint": false,
    });
    json!({"name": tool.name, "description": tool.about, "inputSchema": tool.schema(), "annotations": annotations})
}

/// Returns the tool that a request calls, and the arguments.
/// Errors: the tool is unknown, or the arguments are not an object.
fn called(request: &ClientRequest) -> Result<(&'static Tool, Map<String, Value>), Refusal> {
    let invalid = |text: String| Refusal::new(INVALID_PARAMETERS, text);
    let name = request.text("name")?;
    let Some(tool) = Tool::by_name(name) else {
        let names: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
        return Err(invalid(format!("unknown tool '{name}'; known: {}", names.join(", "))));
    };
    match request.parameters.get("arguments") {
        None | Some(Value::Null) => Ok((tool, Map::new())),
        Some(Value::Object(arguments)) => Ok((tool, arguments.clone())),
        Some(_) => Err(invalid(format!("the arguments of {name} are not an object"))),
    }
}
