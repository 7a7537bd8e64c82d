use super::forms::{PassedRequest, RunningProxy};
use crate::commands::status::{degraded, unapplied};
use crate::model::{As, BilledTokens, OperationId};
use crate::output::table::{Column, left, right, spaced};
use crate::output::{Paint, Report, Style, age, ago, amount, bytes, clip, padded, plural, printable, short_id, time};
use crate::wire::RequestStage;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;

/// Columns from which all figures of a request are listed.
const WIDE: usize = 100;

/// The lines of each piece of the difference of two bodies that are printed.
const SHOWN_LINES: usize = 8;

/// A request that passed the proxy.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ProxyRequest {
    /// The number, from 1.
    pub number: u64,
    /// Time of arrival, in milliseconds since 1970, UTC.
    pub time: i64,
    pub method: String,
    pub path: String,
    /// The session that the client names; empty if it names none.
    pub session: String,
    /// The line of requests within the session: empty for the main one, or the id of a subagent.
    pub line: String,
    pub model: String,
    /// Estimated tokens of the body as the client wrote it; 0 if they were not counted.
    pub client_tokens: u64,
    /// Estimated tokens of the body as it was sent; 0 if they were not counted.
    pub sent_tokens: u64,
    /// Bytes of the body as the client wrote it; 0 if it was passed on as a stream.
    pub client_bytes: u64,
    pub sent_bytes: u64,
    /// The figures of the response; `None` if it has none.
    pub billed: Option<BilledTokens>,
    /// The time between the end of the client's request and its sending, in microseconds.
    pub added_microseconds: u64,
    /// The HTTP status; 0 if there is no response yet.
    pub status: u16,
    /// The outcome: `running`, `done`, `aborted` by the client, `cut` by the API, or `failed` before a response.
    pub outcome: String,
    /// Tokens of the cache that were sent again although the previous request of the line had read or written them; 0 if none.
    #[serde(default)]
    pub lost_tokens: u64,
    /// The cause of that loss: `ours`, `client`, `expired` or `api`; empty if nothing was lost.
    #[serde(default)]
    pub lost_by: String,
    /// The saving by the changes of the request, in tokens at the full input price; negative if they cost more.
    #[serde(default)]
    pub saved_full_price_tokens: f64,
    /// The same in dollars; `None` if the price of the model is unknown.
    #[serde(default)]
    pub saved_dollars: Option<f64>,
    pub stages: Vec<RequestStage>,
    /// The directory with its bodies; `None` if they are not recorded.
    #[serde(default)]
    pub record: Option<PathBuf>,
    /// The process of `run` that started the client, if the proxy serves other clients too.
    #[serde(skip)]
    pub run: Option<u32>,
}

/// The state of a proxy.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ProxyStatus {
    pub running: bool,
    /// The URL on which it listens; empty if none runs.
    pub address: String,
    /// Its process; 0 if none runs.
    pub process: u32,
    /// The time of its start, in milliseconds since 1970, UTC; 0 if none runs.
    pub started: i64,
    /// The base URL of the API; `None` if it follows from each request.
    pub upstream: Option<String>,
    /// True if it changes no request.
    pub observe: bool,
    /// The client whose proxy it is; `None` if it serves all clients.
    pub client: Option<String>,
    pub requests: u64,
    /// Number of requests without a complete response.
    pub running_requests: u64,
    /// Number of requests whose body was changed.
    pub changed: u64,
    /// Number of responses with a status from 400 on, and of requests without a response.
    pub errors: u64,
    pub stopping: bool,
    /// The tokens of all requests with a bill.
    #[serde(default)]
    pub tokens: ProxyTokens,
    /// The sessions with operations whose contents the last request did not have, each with these operations.
    #[serde(default)]
    pub unapplied: Vec<(String, Vec<OperationId>)>,
    /// The reason why new changes wait while requests keep the known ones: the store cannot be used.
    #[serde(default)]
    pub store_fault: Option<String>,
}

/// The tokens of the requests that passed a proxy.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProxyTokens {
    /// Estimated tokens of the bodies as the clients wrote them.
    pub client: u64,
    pub sent: u64,
    /// The saving by the changes, in tokens at the full input price: tokens that the cache would have held count at its price.
    pub saved_full_price: f64,
    /// The same in dollars, of the requests to models with a known price.
    pub saved_dollars: f64,
    /// Number of requests that lost a part of the cache, by cause: ours, the client's, expired, the API's.
    pub losses: [u64; 4],
    /// Tokens that were sent again, by cause.
    pub lost: [u64; 4],
}

impl ProxyStatus {
    /// Returns the state if no proxy runs.
    pub fn absent() -> ProxyStatus {
        ProxyStatus::default()
    }

    /// Returns one line on the requests since an earlier state.
    pub fn since(&self, earlier: &ProxyStatus) -> String {
        let requests = plural(self.requests.saturating_sub(earlier.requests) as usize, "request");
        let (now, then) = (&self.tokens, &earlier.tokens);
        let saving = now.saved_full_price - then.saved_full_price;
        let (label, saved) = saved(saving, Some(now.saved_dollars - then.saved_dollars));
        format!("{requests} passed the proxy: ~{} tokens sent, {label} {saved}", amount(now.sent.saturating_sub(then.sent)))
    }
}

/// The causes of a cache loss, as people read them, in the order of [`ProxyTokens::losses`].
const CAUSES: [(&str, &str); 4] =
    [("ours", "by aperture"), ("client", "by the client"), ("expired", "expired"), ("api", "by the API")];

impl ProxyTokens {
    /// Returns the lines about tokens; none before the first request with a bill.
    fn text(&self) -> String {
        if self.sent == 0 {
            return String::new();
        }
        let mut text = format!("tokens     ~{} from the clients, ~{} sent\n", amount(self.client), amount(self.sent));
        if self.saved_full_price.abs() >= 0.5 {
            let (label, saved) = saved(self.saved_full_price, Some(self.saved_dollars));
            text.push_str(&format!("{label}      {saved}\n"));
        }
        let lost = CAUSES.iter().zip(self.losses).zip(self.lost).filter(|((_, losses), _)| *losses > 0);
        let lost =
            lost.map(|(((_, by), losses), tokens)| format!("~{} {by} in {}", amount(tokens), plural(losses as usize, "request")));
        let lost: Vec<String> = lost.collect();
        if !lost.is_empty() {
            text.push_str(&format!("cache lost {}\n", lost.join(", ")));
        }
        text
    }
}

/// Returns a saving in tokens and dollars, with its label. Tokens that the cache would have held count at its price.
fn saved(full_price_tokens: f64, dollars: Option<f64>) -> (&'static str, String) {
    let is_loss = full_price_tokens < 0.0;
    let tokens = amount(full_price_tokens.abs().round() as u64);
    let dollars = dollars.map(|dollars| if is_loss { -dollars } else { dollars }).filter(|dollars| dollars.abs() >= 0.0005);
    let dollars = dollars.map(|dollars| format!(" ({}~${:.3})", if dollars < 0.0 { "−" } else { "" }, dollars.abs()));
    let label = if is_loss { "extra" } else { "saved" };
    (label, format!("~{tokens} tokens at the full price{}", dollars.unwrap_or_default()))
}

/// The running proxy.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ProxyStatusReport {
    #[serde(flatten, with = "As::<RunningProxy>")]
    pub status: ProxyStatus,
}

impl Report for ProxyStatusReport {
    const SCHEMA: &str = "aperture.proxy-status/1";

    fn text(&self, style: &Style) -> String {
        let proxy = &self.status;
        if !proxy.running {
            return "no proxy is running; to start one: aperture proxy, or aperture run -- claude\n".to_owned();
        }
        let state = if proxy.stopping { "stopping" } else { "listening" };
        let address = style.paint(Paint::Name, &proxy.address);
        let started = ago(style.now, proxy.started, "just now");
        let mut text = format!("{state} on {address}, started {started} (process {})\n", proxy.process);
        let upstream = proxy.upstream.as_deref().unwrap_or("by the path and the headers of each request");
        text.push_str(&format!("upstream   {}\n", printable(upstream)));
        text.push_str(&format!("clients    {}\n", proxy.client.as_deref().map_or("all".into(), printable)));
        let mode =
            if proxy.observe { "observe: no request is changed" } else { "requests are sent as their session was changed" };
        text.push_str(&format!("mode       {mode}\n"));
        let requests = plural(proxy.requests as usize, "request");
        text.push_str(&format!(
            "requests   {requests}: {} running, {} changed, {} failed\n",
            proxy.running_requests, proxy.changed, proxy.errors
        ));
        text.push_str(&proxy.tokens.text());
        if let Some(fault) = &proxy.store_fault {
            text.push_str(&(degraded(fault).replacen(' ', "  ", 1) + "\n"));
        }
        for (session, operations) in &proxy.unapplied {
            text.push_str(&format!("unapplied  {}\n", unapplied(operations, &printable(session))));
        }
        text
    }
}

/// The newest requests of the proxy.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ProxyRequestsReport {
    /// Requests, the oldest first.
    #[serde(with = "As::<Vec<PassedRequest>>")]
    pub requests: Vec<ProxyRequest>,
}

impl Report for ProxyRequestsReport {
    const SCHEMA: &str = "aperture.proxy-requests/1";

    fn text(&self, style: &Style) -> String {
        if self.requests.is_empty() {
            return "no requests yet\n".to_owned();
        }
        let names =
            ["#", "age", "session", "line", "model", "client", "sent", "read", "written", "lost", "output", "added", "status"];
        // On a narrow terminal the rows must not wrap.
        let is_shown = |place: &usize| style.width >= WIDE || !["line", "written", "lost"].contains(&names[*place]);
        let shown: Vec<usize> = (0..names.len()).filter(is_shown).collect();
        let row = |request: &ProxyRequest| {
            let billed = |figure: fn(&BilledTokens) -> u64| request.billed.as_ref().map_or("–".into(), |it| amount(figure(it)));
            let counted = |tokens: u64| if tokens == 0 { "–".to_owned() } else { format!("~{}", amount(tokens)) };
            let what = if request.model.is_empty() { &request.path } else { &request.model };
            let cells = [
                style.paint(Paint::Name, &request.number.to_string()),
                age(style.now, request.time),
                if request.session.is_empty() { "–".to_owned() } else { printable(&short_id(&request.session)).into_owned() },
                if request.line.is_empty() { "main".to_owned() } else { clip(&request.line, 8) },
                clip(what, if style.width >= WIDE { 22 } else { 16 }),
                counted(request.client_tokens),
                counted(request.sent_tokens),
                billed(|it| it.cache_read),
                billed(BilledTokens::cache_written),
                if request.lost_tokens == 0 {
                    "–".to_owned()
                } else {
                    format!("~{} {}", amount(request.lost_tokens), request.lost_by)
                },
                billed(|it| it.output),
                added(request),
                state(request, style),
            ];
            shown.iter().map(|place| cells[*place].clone()).collect()
        };
        let column = |place: &usize| if matches!(place, 0 | 5..=11) { right(names[*place]) } else { left(names[*place]) };
        let columns: Vec<Column> = shown.iter().map(column).collect();
        let mut text = spaced(style, &columns, self.requests.iter().map(row).collect());
        let newest = self.requests.last().map(|request| request.number).unwrap_or_default();
        text.push_str(&style.line(Paint::Dim, &format!("to explain one: aperture proxy explain {newest}")));
        text
    }
}

fn added(request: &ProxyRequest) -> String {
    format!("{:.1} ms", Duration::from_micros(request.added_microseconds).as_secs_f64() * 1000.0)
}

/// Returns the status of a request with its outcome, unless it is complete.
fn state(request: &ProxyRequest, style: &Style) -> String {
    let text = match (request.status, &*request.outcome) {
        (0, outcome) => outcome.to_owned(),
        (status, "done") => status.to_string(),
        (status, outcome) => format!("{status} {outcome}"),
    };
    let paint = match request.status {
        200..400 if request.outcome != "cut" => return text,
        _ if request.outcome == "running" => return text,
        _ => Paint::Bad,
    };
    style.paint(paint, &text)
}

/// A request and the work of each stage on it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ProxyRequestReport {
    #[serde(with = "As::<PassedRequest>")]
    pub request: ProxyRequest,
    /// Difference between the body of the client and the one that was sent; null if they are not recorded.
    pub difference: Option<String>,
}

impl Report for ProxyRequestReport {
    const SCHEMA: &str = "aperture.proxy-request/1";

    fn text(&self, style: &Style) -> String {
        let request = &self.request;
        let heading = format!("request {}: {} {}", request.number, printable(&request.method), printable(&request.path));
        let mut text = style.paint(Paint::Heading, &heading) + "\n";
        let mut field = |name: &str, value: &str| {
            if !value.is_empty() {
                text.push_str(&format!("{}{value}\n", padded(name, 14)));
            }
        };
        field("time", &time(style, request.time));
        field("session", &printable(&request.session));
        field("line", &printable(&request.line));
        field("model", &printable(&request.model));
        if request.client_tokens > 0 {
            field(
                "tokens",
                &format!("~{} from the client, ~{} sent", amount(request.client_tokens), amount(request.sent_tokens)),
            );
        }
        if request.client_bytes > 0 {
            field("body", &format!("{} from the client, {} sent", bytes(request.client_bytes), bytes(request.sent_bytes)));
        }
        if let Some(billed) = &request.billed {
            field(
                "billed",
                &format!(
                    "{} read from the cache, {} written to it, {} other input, {} output",
                    amount(billed.cache_read),
                    amount(billed.cache_written()),
                    amount(billed.input),
                    amount(billed.output)
                ),
            );
        }
        if request.lost_tokens > 0 {
            let by = CAUSES.iter().find(|(name, _)| *name == request.lost_by).map_or("", |(_, by)| by);
            field("cache lost", &format!("~{} {by}", amount(request.lost_tokens)));
        }
        if request.saved_full_price_tokens.abs() >= 0.5 {
            let (label, saved) = saved(request.saved_full_price_tokens, request.saved_dollars);
            field(label, &saved);
        }
        field("added", &added(request));
        field("status", &state(request, style));
        for stage in &request.stages {
            text.push_str(&format!("{}{}\n", padded(&clip(&stage.stage, 13), 14), printable(&stage.note)));
        }
        if let (Some(difference), Some(directory)) = (&self.difference, &request.record) {
            let lines: Vec<&str> = difference.lines().collect();
            // A result that was taken out is as long as it was.
            for run in lines.chunk_by(|line, next| line.get(..1) == next.get(..1)) {
                run.iter().take(SHOWN_LINES).for_each(|line| text.push_str(&format!("{}\n", printable(line))));
                let rest = run.len().saturating_sub(SHOWN_LINES);
                if rest > 0 {
                    text.push_str(&format!("  … {} more\n", plural(rest, "line")));
                }
            }
            text.push_str(&format!("bodies in {}\n", printable(&directory.display().to_string())));
        }
        text
    }
}
