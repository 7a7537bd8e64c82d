//! The messages of the protocol: requests of JSON-RPC, and the two ways of a client to describe itself, once or in each request.

use serde_json::{Map, Value, json};

/// The versions of the protocol, oldest first, without 2025-03-26: only it has several requests in one message.
const VERSIONS: [&str; 4] = ["2024-11-05", "2025-06-18", "2025-11-25", SELF_CONTAINED];
/// The newest version of the clients that describe themselves once, by `initialize`.
const NEWEST_OF_INITIALIZE: &str = VERSIONS[VERSIONS.len() - 2];
/// The first version in which each request describes its client.
const SELF_CONTAINED: &str = "2026-07-28";
const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";
const SERVER_KEY: &str = "io.modelcontextprotocol/serverInfo";

/// The code of the error that a line is not JSON.
pub const UNPARSABLE: i32 = -32700;
/// The code of the error that a message is not a request.
pub const INVALID: i32 = -32600;
/// The code of the error that there is no such method.
pub const UNKNOWN_METHOD: i32 = -32601;
/// The code of the error that parameters are missing or invalid.
pub const INVALID_PARAMETERS: i32 = -32602;
/// The code of the error that the server cannot answer.
pub const INTERNAL: i32 = -32603;
/// The code of the error that there is no such resource, before [`SELF_CONTAINED`].
pub const UNKNOWN_RESOURCE: i32 = -32002;
const UNKNOWN_VERSION: i32 = -32022;

/// An error of the protocol. The errors of tools are results, which the model reads.
#[derive(Debug)]
pub struct Refusal {
    code: i32,
    message: String,
    data: Option<Value>,
}

impl Refusal {
    pub fn new(code: i32, message: impl Into<String>) -> Refusal {
        Refusal { code, message: message.into(), data: None }
    }

    /// Returns the response to the request with an id; null if the id is not known.
    pub fn response(self, id: Value) -> Value {
        let mut error = json!({"code": self.code, "message": self.message});
        if let Some(data) = self.data {
            error["data"] = data;
        }
        json!({"jsonrpc": "2.0", "id": id, "error": error})
    }
}

/// A request of the client.
#[derive(Debug)]
pub struct Request {
    pub id: Value,
    pub method: String,
    pub parameters: Map<String, Value>,
}

impl Request {
    /// Reads a message; `None` if it is a notification or a response.
    /// Errors: it is not a message. The error is the response to it.
    pub fn read(message: Value) -> Result<Option<Request>, Value> {
        let Value::Object(mut message) = message else {
            return Err(Refusal::new(INVALID, "the message is not an object").response(Value::Null));
        };
        let (method, id) = (message.remove("method"), message.remove("id"));
        let is_id = |id: &Value| id.is_string() || id.is_i64() || id.is_u64();
        let is_response = message.contains_key("result") || message.contains_key("error");
        let invalid = |why: &str| Err(Refusal::new(INVALID, why).response(id.clone().filter(is_id).unwrap_or_default()));
        if message.get("jsonrpc").is_none_or(|version| version != "2.0") {
            return invalid("the message has no \"jsonrpc\": \"2.0\"");
        }
        match (method, id.clone().filter(is_id)) {
            (Some(Value::String(method)), Some(id)) => match message.remove("params").unwrap_or_default() {
                Value::Null => Ok(Some(Request { id, method, parameters: Map::new() })),
                Value::Object(parameters) => Ok(Some(Request { id, method, parameters })),
                _ => Err(Refusal::new(INVALID_PARAMETERS, "params is not an object").response(id)),
            },
            (Some(Value::String(_)), None) if id.is_none() => Ok(None),
            (None, Some(_)) if is_response => Ok(None),
            _ => invalid("the message is not a request, a notification or a response"),
        }
    }

    /// Returns a text among the parameters.
    /// Errors: it is missing, or not a text.
    pub fn text(&self, name: &str) -> Result<&str, Refusal> {
        let text = self.parameters.get(name).and_then(Value::as_str);
        text.ok_or_else(|| Refusal::new(INVALID_PARAMETERS, format!("{} needs '{name}', a text", self.method)))
    }

    fn metadata(&self, key: &str) -> Option<&Value> {
        self.parameters.get("_meta")?.get(key)
    }
}

/// A client, as it described itself by `initialize`; empty before.
#[derive(Debug, Default)]
pub struct Greeting {
    version: Option<&'static str>,
    has_roots: bool,
}

impl Greeting {
    /// Reads the parameters of `initialize`, and returns its result.
    /// Errors: they contain no version.
    pub fn read(&mut self, request: &Request, instructions: &str) -> Result<Value, Refusal> {
        let requested = request.text("protocolVersion")?;
        let version = VERSIONS.into_iter().find(|known| *known == requested && *known != SELF_CONTAINED);
        let version = version.unwrap_or(NEWEST_OF_INITIALIZE);
        let roots = request.parameters.get("capabilities").and_then(|capabilities| capabilities.get("roots"));
        *self = Greeting { version: Some(version), has_roots: roots.is_some_and(|roots| !roots.is_null()) };
        let server = server();
        Ok(
            json!({"protocolVersion": version, "capabilities": capabilities(), "serverInfo": server, "instructions": instructions}),
        )
    }

    /// Returns the form in which a request is answered.
    /// Errors: its version is unknown, or it describes its client too little.
    pub fn form(&self, request: &Request) -> Result<Form, Refusal> {
        let requested = request.metadata(VERSION_KEY).and_then(Value::as_str);
        if let Some(unknown) = requested.filter(|requested| !VERSIONS.contains(requested)) {
            let refusal = Refusal::new(UNKNOWN_VERSION, format!("unknown version '{unknown}' of the protocol"));
            return Err(Refusal { data: Some(json!({"requested": unknown, "supported": VERSIONS})), ..refusal });
        }
        let is_self_contained = requested == Some(SELF_CONTAINED);
        let is_first = self.version.is_none() && !matches!(request.method.as_str(), "initialize" | "ping");
        if is_first || is_self_contained || request.method == "server/discover" {
            let mut missing = vec![VERSION_KEY, CAPABILITIES_KEY];
            missing.retain(|key| request.metadata(key).is_none());
            if !missing.is_empty() {
                let message = format!("the _meta of the request needs {}", missing.join(", "));
                return Err(Refusal::new(INVALID_PARAMETERS, message));
            }
        }
        Ok(Form { is_self_contained, has_roots: self.has_roots && !is_self_contained })
    }
}

/// The form in which a request is answered.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    pub is_self_contained: bool,
    /// True if the client can be asked for its roots.
    pub has_roots: bool,
}

impl Form {
    pub fn response(self, id: Value, outcome: Result<Value, Refusal>) -> Value {
        let result = match outcome {
            Err(refusal) if self.is_self_contained && refusal.code == UNKNOWN_RESOURCE => {
                return Refusal { code: INVALID_PARAMETERS, ..refusal }.response(id);
            }
            Err(refusal) => return refusal.response(id),
            Ok(result) if self.is_self_contained => complete(result),
            Ok(result) => result,
        };
        json!({"jsonrpc": "2.0", "id": id, "result": result})
    }
}

/// Adds the members that results have since [`SELF_CONTAINED`]: each is complete, and what is not the result of a tool changes with
/// the session, so the client does not keep it.
fn complete(mut result: Value) -> Value {
    result["resultType"] = json!("complete");
    if result.get("isError").is_none() {
        result["ttlMs"] = json!(0);
        result["cacheScope"] = json!("private");
    }
    result
}

/// Returns the result of `server/discover`.
pub fn discovery(instructions: &str) -> Value {
    let server = json!({ SERVER_KEY: server() });
    let result =
        json!({"supportedVersions": VERSIONS, "capabilities": capabilities(), "instructions": instructions, "_meta": server});
    complete(result)
}

fn capabilities() -> Value {
    json!({"resources": {}, "tools": {}})
}

fn server() -> Value {
    json!({"name": env!("CARGO_CRATE_NAME"), "version": env!("CARGO_PKG_VERSION")})
}
