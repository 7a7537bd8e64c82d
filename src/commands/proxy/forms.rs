//! The JSON forms of the state of a proxy and of its requests, which are also stored and sent between processes in their own form.

use super::report::{ProxyRequest, ProxyStatus, ProxyTokens};
use crate::engine::LossCause;
use crate::model::{Estimated, JsonOf, Measured, Time, json_forms};
use crate::wire::RequestStage;

/// Returns the losses by cause, without the causes that have none.
fn losses(tokens: &ProxyTokens) -> Vec<CacheLosses> {
    let figures = LossCause::ALL.into_iter().zip(tokens.losses).zip(tokens.lost);
    let figures = figures.filter(|((_, requests), _)| *requests > 0);
    figures.map(|((cause, requests), tokens)| CacheLosses::json_of(&(cause, requests, tokens))).collect()
}

json_forms! {
    /// The running proxy.
    RunningProxy of proxy: ProxyStatus {
        /// True if a proxy runs and answers.
        running: bool = proxy.running,
        /// URL on which it listens; empty if none runs.
        address: String = proxy.address.clone(),
        /// Process; null if none runs.
        process: Option<u32> = (proxy.process > 0).then_some(proxy.process),
        /// Time of its start; null if none runs.
        start_time: Option<Time> = (proxy.started > 0).then(|| Time::json_of(&proxy.started)),
        /// Base URL of the API; null if it follows from each request.
        upstream: Option<String> = proxy.upstream.clone(),
        /// True if it changes no request.
        observe: bool = proxy.observe,
        /// Client whose proxy it is; null if it serves all clients.
        client: Option<String> = proxy.client.clone(),
        requests: u64 = proxy.requests,
        /// Number of requests without a complete response.
        running_requests: u64 = proxy.running_requests,
        /// Number of requests whose body was changed.
        changed: u64 = proxy.changed,
        /// Number of responses with a status from 400 on, and of requests without a response.
        errors: u64 = proxy.errors,
        /// True if it stops when the running requests are complete.
        stopping: bool = proxy.stopping,
        /// Tokens of the bodies as the clients wrote them, of all requests with a bill.
        client_tokens: Estimated = Estimated::json_of(&(proxy.tokens.client as f64)),
        /// Tokens of the bodies as they were sent.
        sent_tokens: Estimated = Estimated::json_of(&(proxy.tokens.sent as f64)),
        /// Saving by the changes, in tokens at the full input price; tokens that the cache would have held count at its price.
        saved_full_price_tokens: Estimated = Estimated::json_of(&proxy.tokens.saved_full_price),
        /// The same, of the requests to models with a known price.
        saved_dollars: f64 = proxy.tokens.saved_dollars,
        /// Losses of the prompt cache, by cause.
        cache_losses: Vec<CacheLosses> = losses(&proxy.tokens),
        /// Ids of the sessions with operations that are in force, but not in effect: the last request did not have their contents.
        unapplied_sessions: Vec<String> = proxy.unapplied.iter().map(|(session, _)| session.clone()).collect(),
        /// Reason why new changes wait, while requests keep the known ones from memory: the store cannot be used.
        store_fault: Option<String> = proxy.store_fault.clone(),
    }

    /// Losses of the prompt cache by one cause.
    CacheLosses of losses: (LossCause, u64, u64) {
        /// Cause: `ours`, `client`, `expired` or `api`.
        cause: &'static str = losses.0.name(),
        requests: u64 = losses.1,
        /// Tokens that were sent again although the previous request had them in the cache.
        tokens: Estimated = Estimated::json_of(&(losses.2 as f64)),
    }

    /// A request that passed the proxy.
    #[schemars(rename = "ProxyRequest")]
    PassedRequest of request: ProxyRequest {
        /// Number, from 1.
        number: u64 = request.number,
        /// Time of arrival.
        time: Time = Time::json_of(&request.time),
        /// HTTP method.
        method: String = request.method.clone(),
        /// Path, without the query.
        path: String = request.path.clone(),
        /// Session that the client names; empty if it names none.
        session: String = request.session.clone(),
        /// Line of requests within the session: empty for the main one, or the id of a subagent.
        line: String = request.line.clone(),
        /// Model; empty if the body names none.
        model: String = request.model.clone(),
        /// Tokens of the body as the client wrote it; 0 if they were not counted.
        client_tokens: Estimated = Estimated::json_of(&(request.client_tokens as f64)),
        /// Tokens of the body as it was sent; 0 if they were not counted.
        sent_tokens: Estimated = Estimated::json_of(&(request.sent_tokens as f64)),
        /// Body as the client wrote it; 0 if it was passed on as a stream.
        client_bytes: u64 = request.client_bytes,
        /// Body as it was sent.
        sent_bytes: u64 = request.sent_bytes,
        /// Input tokens read from the cache; null without figures in the response.
        cache_read: Option<Measured> = request.billed.map(|billed| Measured::json_of(&billed.cache_read)),
        /// Input tokens written to the cache.
        cache_written: Option<Measured> = request.billed.map(|billed| Measured::json_of(&billed.cache_written())),
        /// Other input tokens.
        input: Option<Measured> = request.billed.map(|billed| Measured::json_of(&billed.input)),
        /// Output tokens.
        output: Option<Measured> = request.billed.map(|billed| Measured::json_of(&billed.output)),
        /// Input tokens that were sent again although the previous request of the line had them in the cache; 0 if none.
        cache_lost: Estimated = Estimated::json_of(&(request.lost_tokens as f64)),
        /// Cause of that loss: `ours`, `client`, `expired` or `api`; null without a loss.
        cache_lost_by: Option<String> = (!request.lost_by.is_empty()).then(|| request.lost_by.clone()),
        /// Saving by the changes, in tokens at the full input price; tokens that the cache would have held count at its price.
        saved_full_price_tokens: Estimated = Estimated::json_of(&request.saved_full_price_tokens),
        /// The same; null if the price of the model is unknown.
        saved_dollars: Option<f64> = request.saved_dollars,
        /// Time between the end of the client's request and its sending.
        added_milliseconds: f64 = request.added_microseconds as f64 / 1000.0,
        /// HTTP status; null if there is no response.
        status: Option<u32> = (request.status > 0).then_some(u32::from(request.status)),
        /// Outcome: `running`, `done`, `aborted` by the client, `cut` by the API, or `failed` before a response.
        outcome: String = request.outcome.clone(),
        /// Work of each stage, in order.
        stages: Vec<RequestStage> = request.stages.clone(),
        /// Directory with its bodies; null if they are not recorded.
        record: Option<String> = request.record.as_ref().map(|directory| directory.display().to_string()),
    }
}
