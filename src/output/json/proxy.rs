//! The proxy: its status and its requests.

use super::{Moment, Number, Time, Tokens, estimated, measured};
use crate::engine::LossCause;
use crate::output;

/// Losses by one cause.
#[derive(Clone)]
struct Losses {
    cause: String,
    requests: u64,
    tokens: u64,
}

fn losses(tokens: &output::ProxyTokens) -> Vec<Losses> {
    let figures = LossCause::ALL.into_iter().zip(tokens.losses).zip(tokens.lost);
    let figures = figures.map(|((cause, requests), tokens)| Losses { cause: cause.name().to_owned(), requests, tokens });
    figures.filter(|losses| losses.requests > 0).collect()
}

json_objects! {
    /// The running proxy.
    ProxyStatus from report: output::ProxyStatusReport {
        /// True if a proxy runs and answers.
        running: bool = report.running,
        /// URL on which it listens; empty if none runs.
        address: String = report.address,
        /// Process; null if none runs.
        process: Option<u32> = (report.process > 0).then_some(report.process),
        /// Time of its start; null if none runs.
        start_time: Option<Time> = (report.started > 0).then_some(Moment(report.started)),
        /// Base URL of the API; null if it follows from each request.
        upstream: Option<String> = report.upstream,
        /// True if it changes no request.
        observe: bool = report.observe,
        /// Client whose proxy it is; null if it serves all clients.
        client: Option<String> = report.client,
        /// Number of requests.
        requests: u64 = report.requests,
        /// Number of requests without a complete response.
        running_requests: u64 = report.running_requests,
        /// Number of requests whose body was changed.
        changed: u64 = report.changed,
        /// Number of responses with a status from 400 on, and of requests without a response.
        errors: u64 = report.errors,
        /// True if it stops when the running requests are complete.
        stopping: bool = report.stopping,
        /// Tokens of the bodies as the clients wrote them, of all requests with a bill.
        client_tokens: Tokens = estimated(report.tokens.client as f64),
        /// Tokens of the bodies as they were sent.
        sent_tokens: Tokens = estimated(report.tokens.sent as f64),
        /// Saving by the changes, in tokens at the full input price; tokens that the cache would have held count at its price.
        saved_full_price_tokens: Tokens = estimated(report.tokens.saved_full_price),
        /// The same, of the requests to models with a known price.
        saved_dollars: Number ["US dollars"] = report.tokens.saved_dollars,
        /// Losses of the prompt cache, by cause.
        cache_losses: Vec<CacheLosses> = losses(&report.tokens),
        /// Ids of the sessions with operations that are in force, but not in effect: the last request did not have their contents.
        unapplied_sessions: Vec<String> = report.unapplied.iter().map(|(session, _)| session).collect::<Vec<_>>(),
        /// Reason why new changes wait, while requests keep the known ones from memory: the store cannot be used.
        store_fault: Option<String> = report.store_fault.as_deref(),
    }

    /// Losses of the prompt cache by one cause.
    CacheLosses from losses: Losses {
        /// Cause: `ours`, `client`, `expired` or `api`.
        cause: String = losses.cause,
        /// Number of requests.
        requests: u64 = losses.requests,
        /// Tokens that were sent again although the previous request had them in the cache.
        tokens: Tokens = estimated(losses.tokens as f64),
    }

    /// The newest requests of the proxy.
    ProxyRequests from report: output::ProxyRequestsReport {
        /// Requests, the oldest first.
        requests: Vec<ProxyRequest> = report.requests,
    }

    /// A request and the work of each stage on it.
    ProxyRequestDetail from report: output::ProxyRequestReport {
        /// Request.
        request: ProxyRequest = report.request,
    }

    /// A request that passed the proxy.
    ProxyRequest from request: output::ProxyRequest {
        /// Number, from 1.
        number: u64 = request.number,
        /// Time of arrival.
        time: Time = Moment(request.time),
        /// Method.
        method: String = request.method,
        /// Path, without the query.
        path: String = request.path,
        /// Session that the client names; empty if it names none.
        session: String = request.session,
        /// Line of requests within the session: empty for the main one, or the id of a subagent.
        line: String = request.line,
        /// Model; empty if the body names none.
        model: String = request.model,
        /// Tokens of the body as the client wrote it; 0 if they were not counted.
        client_tokens: Tokens = estimated(request.client_tokens as f64),
        /// Tokens of the body as it was sent; 0 if they were not counted.
        sent_tokens: Tokens = estimated(request.sent_tokens as f64),
        /// Body as the client wrote it; 0 if it was passed on as a stream.
        client_bytes: u64 ["bytes"] = request.client_bytes,
        /// Body as it was sent.
        sent_bytes: u64 ["bytes"] = request.sent_bytes,
        /// Input tokens read from the cache; null without figures in the response.
        cache_read: Option<Tokens> = request.billed.map(|billed| measured(billed.cache_read)),
        /// Input tokens written to the cache.
        cache_written: Option<Tokens> = request.billed.map(|billed| measured(billed.cache_written())),
        /// Other input tokens.
        input: Option<Tokens> = request.billed.map(|billed| measured(billed.input)),
        /// Output tokens.
        output: Option<Tokens> = request.billed.map(|billed| measured(billed.output)),
        /// Input tokens that were sent again although the previous request of the line had them in the cache; 0 if none.
        cache_lost: Tokens = estimated(request.lost_tokens as f64),
        /// Cause of that loss: `ours`, `client`, `expired` or `api`; null without a loss.
        cache_lost_by: Option<String> = (!request.lost_by.is_empty()).then(|| request.lost_by.clone()),
        /// Saving by the changes, in tokens at the full input price; tokens that the cache would have held count at its price.
        saved_full_price_tokens: Tokens = estimated(request.saved_full_price_tokens),
        /// The same; null if the price of the model is unknown.
        saved_dollars: Option<Number> ["US dollars"] = request.saved_dollars,
        /// Time between the end of the client's request and its sending.
        added_milliseconds: Number ["milliseconds"] = request.added_microseconds as f64 / 1000.0,
        /// HTTP status; null if there is no response.
        status: Option<u32> = (request.status > 0).then_some(u32::from(request.status)),
        /// Outcome: `running`, `done`, `aborted` by the client, `cut` by the API, or `failed` before a response.
        outcome: String = request.outcome,
        /// Work of each stage, in order; stages without effect are left out.
        stages: Vec<RequestStage> = request.stages,
    }

    /// The work of a stage on a request.
    RequestStage from stage: output::RequestStage {
        /// Name of the stage.
        stage: String = stage.stage,
        /// Description.
        note: String = stage.note,
    }
}
