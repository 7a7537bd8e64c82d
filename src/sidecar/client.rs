//! Requests to an OpenAI-compatible server: texts and vectors.

use super::KEY_VARIABLE;
use crate::app::{CommandError, Env, ErrorKind, SidecarSettings, parsed};
use crate::engine::sidecar::{ResponseEnd, TaskRow};
use crate::output::Gate;
use crate::proxy::{Bases, Upstream, base_url, is_loopback_name, whole_body};
use crate::store::SidecarFailure as Failure;
use anyhow::{Context, anyhow};
use http_body_util::{BodyExt, Limited};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE};
use hyper::{Method, Request, Uri};
use serde_json::{Value, json};
use std::cell::Cell;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// The maximum size of a response, in bytes.
const LARGEST: usize = 4 << 20;
/// Characters of an error of the server that are shown.
const ERROR_CHARACTERS: usize = 120;

/// Returns true if a URL names this machine.
pub fn is_loopback(url: &str) -> bool {
    url.parse::<Uri>().is_ok_and(|uri| uri.host().is_some_and(is_loopback_name))
}

impl Failure {
    fn new(error: String, is_of_task: bool, is_of_server: bool) -> Failure {
        Failure { error, words: String::new(), is_of_task, is_of_server }
    }

    /// Returns a failure that another attempt of the same task would have as well.
    pub fn of_task(error: String) -> Failure {
        Failure::new(error, true, false)
    }

    fn of_server(error: String) -> Failure {
        Failure::new(error, false, true)
    }

    fn of_both(error: String) -> Failure {
        Failure::new(error, true, true)
    }

    fn of_status(status: u16) -> Failure {
        let error = format!("HTTP {status}");
        match status {
            // It is loading the model, or has too many requests.
            429 | 503 => Failure::of_server(error),
            500.. => Failure::of_both(error),
            _ => Failure::of_task(error),
        }
    }
}

/// An answer of the server.
#[derive(Clone, Debug, Default)]
pub struct Answered {
    pub text: String,
    pub end: ResponseEnd,
    pub sent_tokens: u32,
    pub answer_tokens: u32,
}

/// The client of one thread.
pub struct Client {
    runtime: Runtime,
    upstream: Upstream,
    base: String,
    key: Option<String>,
    gate: Gate,
    settings: SidecarSettings,
    /// False after the server refused a schema.
    has_schemas: Cell<bool>,
}

impl Client {
    /// Creates a client, which connects with its first request.
    /// Errors: the URL is invalid, or the environment names a proxy that is not supported.
    pub fn new(env: &Env, settings: &SidecarSettings) -> Result<Client, Failure> {
        let url = settings.url.as_deref().unwrap_or_default();
        let text = |name: &str| env.variable(name).and_then(|value| value.into_string().ok()).filter(|value| !value.is_empty());
        let made = || -> Result<(Runtime, Upstream, String), CommandError> {
            let runtime = Builder::new_current_thread().enable_all().build().context("cannot start the client");
            let runtime = runtime.map_err(|error| CommandError::new(ErrorKind::Internal, error))?;
            let base = base_url(url)?;
            Ok((runtime, Upstream::new(&Bases::all(Some(base.clone())), &text)?, base))
        };
        let (runtime, upstream, base) = made().map_err(|error| Failure::of_server(format!("{:#}", error.source)))?;
        let base = base.strip_suffix("/v1").map(str::to_owned).unwrap_or(base);
        Ok(Client {
            runtime,
            upstream,
            base,
            key: text(KEY_VARIABLE),
            gate: env.gate.clone(),
            settings: settings.clone(),
            has_schemas: Cell::new(true),
        })
    }

    /// Asks the server for its models, to see if it is up.
    pub fn ping(&self, patience: Duration) -> Result<(), Failure> {
        self.send(Method::GET, "/v1/models", None, patience).map(drop)
    }

    /// Asks the model of texts about a text.
    pub fn ask(&self, row: &TaskRow, source: &str) -> Result<Answered, Failure> {
        let mut body = json!({
            "model": self.settings.model,
            "messages": row.messages(source),
            "max_tokens": self.settings.tokens,
            "temperature": 0,
            "stream": false,
        });
        if self.has_schemas.get() {
            let schema = json!({"name": row.task.name(), "strict": true, "schema": row.schema()});
            body["response_format"] = json!({"type": "json_schema", "json_schema": schema});
        }
        let answer = match self.post("/v1/chat/completions", &body) {
            // Not every server knows schemas: the JSON is then found in the text.
            Err(failure) if failure.error.starts_with("HTTP 400") && self.has_schemas.replace(false) => {
                return self.ask(row, source);
            }
            answer => answer?,
        };
        let choice = &answer["choices"][0];
        let text =
            choice["message"]["content"].as_str().ok_or_else(|| Failure::of_task("a response without a text".to_owned()))?;
        let tokens = |name: &str| answer["usage"][name].as_u64().map(|tokens| u32::try_from(tokens).unwrap_or(u32::MAX));
        let is_cut = choice["finish_reason"] == "length";
        let answer_tokens = tokens("completion_tokens");
        Ok(Answered {
            text: text.to_owned(),
            end: ResponseEnd { is_cut, tokens: answer_tokens },
            sent_tokens: tokens("prompt_tokens").unwrap_or_default(),
            answer_tokens: answer_tokens.unwrap_or_default(),
        })
    }

    /// Returns the vector of a text, and the tokens of the text.
    pub fn embed(&self, text: &str) -> Result<(Vec<f32>, u32), Failure> {
        let model = self.settings.embedding_model.as_deref().unwrap_or_default();
        let answer = self.post("/v1/embeddings", &json!({"model": model, "input": text, "encoding_format": "float"}))?;
        let numbers = answer["data"][0]["embedding"].as_array().into_iter().flatten().filter_map(Value::as_f64);
        let vector: Vec<f32> = numbers.map(|number| number as f32).collect();
        if vector.is_empty() || vector.iter().any(|number| !number.is_finite()) {
            return Err(Failure::of_task("a response without a vector".to_owned()));
        }
        Ok((vector, u32::try_from(answer["usage"]["prompt_tokens"].as_u64().unwrap_or_default()).unwrap_or(u32::MAX)))
    }

    fn post(&self, path: &str, body: &Value) -> Result<Value, Failure> {
        self.send(Method::POST, path, Some(body), Duration::from_secs(u64::from(self.settings.seconds.max(1))))
    }

    fn send(&self, method: Method, path: &str, body: Option<&Value>, patience: Duration) -> Result<Value, Failure> {
        let bytes = body.map(Value::to_string).unwrap_or_default().into_bytes();
        let mut request =
            Request::builder().method(method).uri(format!("{}{path}", self.base)).header(CONTENT_TYPE, "application/json");
        if let Some(key) = &self.key {
            request = request.header(AUTHORIZATION, format!("Bearer {key}"));
        }
        let request = request.body(whole_body(bytes)).map_err(|error| Failure::of_server(error.to_string()))?;
        let exchange = async {
            let response = self.upstream.send(request).await?;
            let status = response.status().as_u16();
            let body = Limited::new(response.into_body(), LARGEST).collect().await.map_err(|error| anyhow!(error))?;
            anyhow::Ok((status, body.to_bytes()))
        };
        let answered = self.runtime.block_on(async { tokio::time::timeout(patience, exchange).await });
        let (status, body) = match answered {
            Err(_) => return Err(Failure::of_both(format!("no answer within {} s", patience.as_secs()))),
            Ok(Err(error)) => return Err(Failure::of_server(format!("{:#}", error))),
            Ok(Ok(answer)) => answer,
        };
        let answer = parsed(&String::from_utf8_lossy(&body));
        match status {
            200..300 => answer.map_err(|_| Failure::of_both("a response that is not JSON".to_owned())),
            _ => Err(Failure { words: self.words(&answer.unwrap_or_default()), ..Failure::of_status(status) }),
        }
    }

    /// Returns the words of an error of the server, without the key that it was sent and other credentials.
    fn words(&self, body: &Value) -> String {
        let message = body["error"]["message"].as_str().or(body["error"].as_str()).unwrap_or_default();
        let message = self.key.iter().fold(message.to_owned(), |message, key| message.replace(key, "[key]"));
        self.gate.masked(&message).chars().take(ERROR_CHARACTERS).collect()
    }
}
