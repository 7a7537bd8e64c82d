//! Collects the bills of a session file from the rows that have figures.

use crate::model::{BilledTokens, FileUsage, ResponseUsage};
use crate::provider::json::{self, elements, equals, number, skimmed, text_of, time_of};
use crate::provider::usage::{Bills, response_key};
use memchr::memmem::Finder;
use serde_json::value::RawValue;
use std::sync::LazyLock;

/// The kinds of iterations whose tokens are not in the sum of the response: those of an adviser, which another model gives, and of
/// a compaction by the API.
const APART: [&str; 2] = ["advisor_message", "compaction"];
static APART_KINDS: LazyLock<[Finder<'static>; 2]> = LazyLock::new(|| APART.map(Finder::new));

/// The model of rows that the client writes in the place of a response.
pub(super) const SYNTHETIC: &str = "<synthetic>";

skimmed! {
    BilledRow {
        kind = "type",
        subtype = "subtype",
        sidechain = "isSidechain",
        api_error = "isApiErrorMessage",
        message: BilledMessage = "message",
        request = "requestId",
        time = "timestamp",
        cost = "costUSD",
        data: Progress = "data",
    }
}

skimmed! {
    BilledMessage {
        id = "id",
        model = "model",
        usage = "usage",
    }
}

skimmed! {
    /// The keys of the data of a row about the progress of a subagent: it holds a row of the subagent.
    Progress {
        message: ProgressRow = "message",
    }
}

skimmed! {
    /// The keys of a subagent's row that is held by another row.
    ProgressRow {
        message: BilledMessage = "message",
        request = "requestId",
        time = "timestamp",
        cost = "costUSD",
    }
}

skimmed! {
    /// The token figures of a response, or of one of its `iterations`, which have a kind and a model too. Those of iterations are in the
    /// sum, except for those of [`APART`].
    Figures {
        input = "input_tokens",
        output = "output_tokens",
        creation = "cache_creation_input_tokens",
        lifetimes: Lifetimes = "cache_creation",
        read = "cache_read_input_tokens",
        details: OutputDetails = "output_tokens_details",
        iterations = "iterations",
        tools: ServerTools = "server_tool_use",
        speed = "speed",
        kind = "type",
        model = "model",
    }
}

skimmed! {
    /// Written tokens by the life of the cache.
    Lifetimes {
        short = "ephemeral_5m_input_tokens",
        long = "ephemeral_1h_input_tokens",
    }
}

skimmed! {
    OutputDetails {
        thinking = "thinking_tokens",
    }
}

skimmed! {
    /// The calls of tools that the API runs itself.
    ServerTools {
        searches = "web_search_requests",
    }
}

impl<'a> BilledMessage<'a> {
    pub(super) fn figures(&self) -> Option<Figures<'a>> {
        json::skim(self.usage?.as_bytes())
    }
}

#[derive(Default)]
pub(super) struct UsageScan {
    bills: Bills,
}

impl UsageScan {
    /// Takes the next row with figures, those of its message, or the next boundary. Returns true if the message has an identity, so that
    /// a row with equal values adds nothing.
    pub(super) fn row(&mut self, row: &BilledRow<'_>, figures: Option<&Figures<'_>>) -> bool {
        let Some(time) = time_of(row.time) else { return false };
        let kind = text_of(row.kind).unwrap_or_default();
        if kind == "system" && equals(row.subtype, "compact_boundary") {
            self.bills.usage.compactions.push(time);
        } else if let (Some(message), Some(figures)) = (&row.message, figures) {
            return self.add(time, message, figures, row.request, row.cost);
        } else if let Some(held) = row.data.and_then(|data| data.message)
            && let Some((message, figures)) = held.message.and_then(|message| Some((message, message.figures()?)))
        {
            self.add(time_of(held.time).unwrap_or(time), &message, &figures, held.request, held.cost);
        }
        false
    }

    pub(super) fn finish(self) -> FileUsage {
        self.bills.usage
    }

    fn add(
        &mut self,
        time: i64,
        message: &BilledMessage<'_>,
        figures: &Figures<'_>,
        request: Option<&str>,
        cost: Option<&str>,
    ) -> bool {
        let model = text_of(message.model).unwrap_or_default();
        if model == SYNTHETIC {
            return false;
        }
        let id = text_of(message.id).filter(|id| !id.is_empty());
        // Some endpoints and subagents give no request id: the message id alone is the identity then.
        let request = text_of(request).unwrap_or_default();
        let place = self.bills.usage.model(&model);
        let response = ResponseUsage {
            key: id.as_ref().map(|id| response_key(&[id, &request])),
            dollars: cost.and_then(|cost| cost.parse().ok()).filter(|cost: &f64| cost.is_finite() && *cost >= 0.0),
            ..bill(figures, time, place)
        };
        // A stated cost is that of the whole request.
        let apart = if response.dollars.is_none() { apart(figures) } else { Vec::new() };
        self.bills.add(response);
        for (place, figures) in apart.into_iter().enumerate() {
            let model = text_of(figures.model).unwrap_or(model.clone());
            let key = id.as_ref().map(|id| response_key(&[id, &request, &place.to_string()]));
            let model = self.bills.usage.model(&model);
            self.bills.add(ResponseUsage { key, ..bill(&figures, time, model) });
        }
        id.is_some()
    }
}

/// Returns the figures of the iterations whose tokens are not in the sum, in their order.
fn apart<'a>(figures: &Figures<'a>) -> Vec<Figures<'a>> {
    let holds = |list: &&str| APART_KINDS.iter().any(|kind| kind.find(list.as_bytes()).is_some());
    let Some(list) = figures.iterations.filter(holds) else { return Vec::new() };
    let read = |entry: &'a RawValue| {
        let iteration: Figures<'a> = json::skim(entry.get().as_bytes())?;
        Some(iteration).filter(|iteration| text_of(iteration.kind).is_some_and(|kind| APART.contains(&&*kind)))
    };
    elements(list).into_iter().filter_map(read).collect()
}

/// Returns the bill of figures, without its identity and a stated cost.
fn bill(figures: &Figures<'_>, time: i64, model: u32) -> ResponseUsage {
    ResponseUsage {
        key: None,
        time,
        model,
        tokens: billed(figures),
        dollars: None,
        searches: number(figures.tools.and_then(|tools| tools.searches)).unwrap_or_default(),
        fast: equals(figures.speed, "fast"),
        exceeds_window: false,
    }
}

/// Returns the tokens of a bill; cache writes without a lifetime are those for five minutes.
fn billed(figures: &Figures<'_>) -> BilledTokens {
    let count = |value: Option<&str>| number(value).unwrap_or_default();
    let lifetimes = figures.lifetimes.unwrap_or_default();
    let written = figures.creation.map_or_else(|| count(lifetimes.short) + count(lifetimes.long), |all| count(Some(all)));
    let long = count(lifetimes.long).min(written);
    BilledTokens {
        input: count(figures.input),
        output: count(figures.output),
        cache_write_5m: written - long,
        cache_write_1h: long,
        cache_read: count(figures.read),
    }
}

#[cfg(test)]
mod tests {
    use super::super::scan::Scan;
    use super::*;
    use crate::provider::Scanner;

    /// Collects the bills of rows given as JSON with `'` for `"`.
    fn scan(rows: &[String]) -> FileUsage {
        let mut scan = Box::new(Scan::default());
        rows.iter().for_each(|row| scan.line(row.replace('\'', "\"").as_bytes()));
        scan.finish().1
    }

    fn usage(output: u64) -> String {
        format!(
            "'usage': {{'input_tokens': 3, 'output_tokens': {output}, 'cache_read_input_tokens': 40, 'cache_creation_input_tokens': 20,
            'cache_creation': {{'ephemeral_5m_input_tokens': 12, 'ephemeral_1h_input_tokens': 8}}}}"
        )
        .replace('\n', "")
    }

    fn row(id: &str, more: &str, output: u64) -> String {
        let usage = usage(output);
        format!(
            "{{'type': 'assistant', 'timestamp': '2026-11-21T10:00:00Z', {more} 'message': {{'id': '{id}', 'role': 'assistant',
            'model': 'claude-opus-4-8', {usage}}}}}"
        )
        .replace('\n', "")
    }

    fn outputs(usage: &FileUsage) -> Vec<u64> {
        usage.responses.iter().map(|response| response.tokens.output).collect()
    }

    #[test]
    fn rows_of_a_response_count_once_with_the_final_output() {
        let request = "'requestId': 'r1',";
        let found = scan(&[row("m1", request, 1), row("m1", request, 90), row("m1", request, 7), row("m2", request, 5)]);
        assert_eq!(outputs(&found), [90, 5]);
        let tokens = BilledTokens { input: 3, output: 90, cache_write_5m: 12, cache_write_1h: 8, cache_read: 40 };
        assert_eq!((found.responses[0].tokens, &*found.models[found.responses[0].model as usize]), (tokens, "claude-opus-4-8"));
    }

    #[test]
    fn a_row_that_repeats_a_response_follows_the_rows_before_it() {
        let totals = |rows: &[String]| {
            let mut scan = Box::new(Scan::default());
            rows.iter().for_each(|row| scan.line(row.replace('\'', "\"").replace("\": ", "\":").as_bytes()));
            let (totals, usage) = scan.finish();
            (totals.moved_on, totals.steps, usage.responses.len())
        };
        let response = row("m1", "'requestId': 'r1',", 9);
        let timeless = response.replace("2026-11-21T10:00:00Z", "");
        let result =
            "{'type': 'user', 'message': {'role': 'user', 'content': [{'type': 'tool_result', 'tool_use_id': 't'}]}}".to_owned();
        let rows = [timeless, response.clone(), result, response, row("", "", 9), row("", "", 9)];
        let expected = [(false, 1, 0), (false, 1, 1), (true, 1, 1), (false, 1, 1), (false, 2, 2), (false, 2, 3)];
        assert_eq!([1, 2, 3, 4, 5, 6].map(|count| totals(&rows[..count])), expected);
    }

    #[test]
    fn the_last_row_behind_a_gateway_has_the_output_and_the_input_figures_that_count() {
        let row = |input: u64, read: u64, output: u64| {
            format!(
                "{{'type': 'assistant', 'timestamp': '2026-11-21T10:00:00Z', 'message': {{'id': 'm1', 'model': 'claude-opus-4-8',
                'usage': {{'input_tokens': {input}, 'cache_read_input_tokens': {read}, 'output_tokens': {output}}}}}}}"
            )
            .replace('\n', "")
        };
        let tokens = |rows: &[String]| {
            let found = scan(rows);
            let [one] = found.responses[..] else { panic!("{} responses", found.responses.len()) };
            (one.tokens.input, one.tokens.cache_read, one.tokens.output)
        };
        assert_eq!(tokens(&[row(25_000, 0, 1), row(25_000, 0, 1), row(0, 0, 700)]), (25_000, 0, 700), "no input in the last row");
        assert_eq!(tokens(&[row(25_000, 0, 1), row(900, 24_000, 90)]), (900, 24_000, 90), "an estimate in the first row");
        assert_eq!(tokens(&[row(25_000, 0, 900), row(3, 0, 7)]), (3, 0, 900), "output never shrinks");
    }

    #[test]
    fn an_adviser_is_billed_apart_at_its_own_model() {
        let part = |kind: &str, more: &str, input: u64, output: u64| {
            format!("{{'type': '{kind}', {more} 'input_tokens': {input}, 'output_tokens': {output}}}")
        };
        let (adviser, own) = (part("advisor_message", "'model': 'claude-opus-5',", 800, 60), part("message", "", 3, 9));
        let compaction = part("compaction", "", 5000, 400);
        let with = |iterations: &[&str]| {
            let row = row("m1", "'requestId': 'r1',", 9);
            row.replace("'input_tokens'", &format!("'iterations': [{}], 'input_tokens'", iterations.join(", ")))
        };
        let rows =
            [with(&[&own]), with(&[&own, &adviser]), with(&[&own, &adviser, &compaction]), with(&[&own, &adviser, &compaction])];
        let found = scan(&rows);
        let bills = |place: usize| {
            let response = &found.responses[place];
            (&*found.models[response.model as usize], response.tokens.sent(), response.tokens.output)
        };
        assert_eq!(found.responses.len(), 3);
        assert_eq!(bills(0), ("claude-opus-4-8", 63, 9));
        assert_eq!(bills(1), ("claude-opus-5", 800, 60));
        assert_eq!(bills(2), ("claude-opus-4-8", 5000, 400), "a compaction by the API has the model of the response");
        let stated = with(&[&adviser]).replace("'requestId'", "'costUSD': 0.5, 'requestId'");
        assert_eq!(scan(&[stated]).responses.len(), 1, "a stated cost is that of the whole request");
    }

    #[test]
    fn searches_and_the_fast_mode_are_part_of_the_bill() {
        let with = |more: &str| row("m1", "", 9).replace("'input_tokens'", &format!("{more} 'input_tokens'"));
        let found = scan(&[
            with("'server_tool_use': {'web_search_requests': 1}, 'speed': 'standard',"),
            with("'server_tool_use': {'web_search_requests': 3, 'web_fetch_requests': 2}, 'speed': 'fast',"),
        ]);
        assert_eq!(found.responses.iter().map(|one| (one.searches, one.fast)).collect::<Vec<_>>(), [(3, true)]);
        let found = scan(&[with("'server_tool_use': null, 'speed': null,")]);
        assert_eq!((found.responses[0].searches, found.responses[0].fast), (0, false));
    }

    #[test]
    fn the_message_and_the_request_are_the_identity_in_all_files() {
        assert_eq!(outputs(&scan(&[row("m1", "", 1), row("m1", "", 9), row("m2", "", 2)])), [9, 2]);
        let requests = [row("m1", "'requestId': 'r1',", 1), row("m1", "'requestId': 'r2',", 2)];
        assert_eq!(outputs(&scan(&requests)), [1, 2], "two requests");
        assert_eq!(outputs(&scan(&[row("", "", 1), row("", "", 1)])), [1, 1], "no identity at all");
        let key = |rows: &[String]| scan(rows).responses[0].key;
        let sidechain = row("m1", "'requestId': 'r1', 'isSidechain': true,", 4);
        assert_eq!(key(&[row("m1", "'requestId': 'r1',", 1)]), key(&[row("m0", "", 1), sidechain.clone()][1..]));
        assert_ne!(key(&[sidechain]), key(&[row("m1", "", 1)]));
        let sidechain = row("m1", "'requestId': 'r1', 'isSidechain': true,", 4);
        let held = format!("{{'type': 'progress', 'timestamp': '2026-11-21T10:00:01Z', 'data': {{'message': {sidechain}}}}}");
        assert_eq!(outputs(&scan(&[sidechain, held.clone()])), [4]);
        assert_eq!(outputs(&scan(&[held])), [4]);
    }

    #[test]
    fn boundaries_and_texts_of_the_client_have_no_bill_and_a_stated_cost_is_kept() {
        let synthetic = row("m1", "", 1).replace("claude-opus-4-8", SYNTHETIC);
        let found =
            scan(&[synthetic, row("m2", "'costUSD': 0.5,", 1), "{'usage': ".to_owned(), row("m3", "'costUSD': null,", 1)]);
        assert_eq!(found.responses.iter().map(|response| response.dollars).collect::<Vec<_>>(), [Some(0.5), None]);
        let boundary = "{'type': 'system', 'subtype': 'compact_boundary', 'timestamp': '1970-01-01T00:00:02Z'}";
        assert_eq!(scan(&[boundary.to_owned()]).compactions, [2000]);
    }
}
