//! The server: handles the requests of the protocol.

use super::call::{self, Call};
use super::tools::{Effect, TOOLS, Tool};
use super::{answer, resources, session};
use crate::app::{Answer, Client, CommandError, Env, ErrorKind};
use crate::commands::model::{CallOutcome, ask};
use crate::commands::{self, Change, Other, Read, Request, recall};
use crate::engine::{Spent, mask, tokens};
use crate::model::Actor;
use anyhow::anyhow;
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, Implementation,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, ResourceContents, ServerCapabilities, ServerConfig, ToolAnnotations,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock, PoisonError};

/// The width of answers in columns.
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
    /// The first root of the client, after it was requested.
    root: OnceLock<Option<PathBuf>>,
    /// The recalls of turns in the current turn of each session, with that turn.
    recalls: Mutex<BTreeMap<PathBuf, (u32, Spent)>>,
}

impl Server {
    /// Creates a server for the client that started this process.
    pub fn new(env: Env) -> Server {
        let client = env.client();
        Server { env, client, root: OnceLock::new(), recalls: Mutex::default() }
    }

    /// Returns the environment of a call: current settings and time, in the directory of the client's project.
    async fn env(&self, context: &RequestContext<RoleServer>) -> Result<Env, CommandError> {
        let directory = match (&self.client.project, self.root.get()) {
            (Some(project), _) => Some(project),
            (None, Some(root)) => root.as_ref(),
            (None, None) => {
                let root = session::root(context).await;
                self.root.get_or_init(|| root).as_ref()
            }
        };
        let directory = directory.filter(|path| self.env.disk.identify(path).is_ok()).unwrap_or(&self.env.directory);
        let mut env = self.env.renewed(directory)?;
        env.style.width = COLUMNS;
        Ok(env)
    }

    /// Executes a call and returns its answer.
    fn call(&self, env: &Env, tool: &Tool, arguments: &Map<String, Value>) -> Result<CallToolResult, CommandError> {
        let call = call::read(tool, arguments)?;
        let (json, from_line, max_tokens) = (call.json, call.from_line, call.max_tokens);
        let body = self.carry_out(env, call)?;
        if json && !body.json.is_empty() {
            let value: Value = serde_json::from_str(&body.json).unwrap_or_default();
            let size = tokens::count(&value.to_string());
            if size > max_tokens {
                let error = anyhow!("the JSON has {size} tokens; the limit is {}", max_tokens);
                return Err(CommandError::new(ErrorKind::Refused, error)
                    .hint("select fewer blocks, set a larger max_tokens, or omit json: text can be read in parts"));
            }
            let text = env.gate.json(&value.to_string()).into_string();
            let mut result = CallToolResult::structured(value);
            // The text is the same JSON value, unchanged.
            result.content = vec![ContentBlock::text(text)];
            return Ok(result);
        }
        let rest = |line| format!("the same call with from_line {line}, or a larger max_tokens");
        let text = answer::page(&body.text, from_line, max_tokens, &rest);
        Ok(CallToolResult::success(vec![ContentBlock::text(body.before + &text)]))
    }

    fn carry_out(&self, env: &Env, call: Call) -> Result<Body, CommandError> {
        // The log stores the command and is printed later, so credentials are masked.
        let line = format!("mcp: {}", mask(&call.line));
        if let Request::Other(Other::Search(arguments)) = &call.request {
            let mut env = env.naming(call.session);
            // The form that is answered is what must be within the budget.
            env.json = call.json;
            return Ok(Body::new(String::new(), env.answer(&commands::search::found(&env, arguments)?)));
        }
        let mut env = match session::find(env, &self.client, call.session.as_deref()) {
            Ok(found) => env.on(&found.path, ""),
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
    fn recall_turns(&self, env: &Env, arguments: &recall::Arguments) -> Result<Body, CommandError> {
        let found = env.find(None)?;
        let path = found.path.clone();
        let turn = env.read_as_wanted(found, &|_| false)?.reading.last_turn();
        let mut recalls = self.recalls.lock().unwrap_or_else(PoisonError::into_inner);
        let (of_turn, spent) = recalls.entry(path).or_default();
        if std::mem::replace(of_turn, turn) != turn {
            *spent = Spent::default();
        }
        let report = recall::report(env, &arguments.clone().within_quota(env.model.recall_tokens(*spent)))?;
        spent.add(Some(&report.note()));
        Ok(Body::new(String::new(), env.answer(&report)))
    }

    fn resource(&self, env: &Env, address: &str) -> Result<String, ErrorData> {
        let missing = |text: String| ErrorData::resource_not_found(text, None);
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
    /// The text, which may be long.
    text: String,
    json: String,
}

impl Body {
    fn new(before: String, answer: Answer) -> Body {
        Body { before, text: answer.text.into_string(), json: answer.json.into_string() }
    }
}

/// Returns the error for invalid settings.
fn unusable(error: CommandError) -> ErrorData {
    ErrorData::internal_error(answer::error_text(&error), None)
}

fn described(tool: &Tool) -> rmcp::model::Tool {
    let removes = tool.effect == Effect::Removes;
    let annotations = ToolAnnotations::new()
        .read_only(tool.effect == Effect::Reads)
        .destructive(removes)
        .idempotent(tool.idempotent)
        .open_world(false);
    rmcp::model::Tool::new(tool.name, tool.about, tool.schema()).with_annotations(annotations)
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().build();
        let implementation = Implementation::new(env!("CARGO_CRATE_NAME"), env!("CARGO_PKG_VERSION"));
        ServerConfig::new(capabilities).with_server_info(implementation).with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(TOOLS.iter().map(described).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = Tool::by_name(&request.name) else {
            let names: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
            let text = format!("unknown tool '{}'; known: {}", request.name, names.join(", "));
            return Err(ErrorData::invalid_params(text, None));
        };
        let arguments = request.arguments.unwrap_or_default();
        let result = self.env(&context).await.and_then(|env| self.call(&env, tool, &arguments));
        // A tool error goes to the model, which can correct its call.
        let result = result.unwrap_or_else(|error| CallToolResult::error(vec![ContentBlock::text(answer::error_text(&error))]));
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let env = self.env(&context).await.map_err(unusable)?;
        Ok(ListResourcesResult::with_all_items(resources::list(&env, &self.client)))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let env = self.env(&context).await.map_err(unusable)?;
        let text = self.resource(&env, &request.uri)?;
        Ok(ReadResourceResult::new(vec![ResourceContents::text(text, request.uri)]).into())
    }
}
