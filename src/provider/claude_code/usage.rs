//! Collects the bills of a session file: only rows with figures are parsed.

use crate::model::{BilledTokens, FileUsage, ResponseUsage};
use crate::provider::UsageScanner;
use crate::provider::json::{fields, member, number, text_of};
use crate::provider::usage::{Bills, response_key};
use memchr::memmem::Finder;
use serde_json::value::RawValue;
use std::sync::LazyLock;

static USAGE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\"usage\":"));
static BOUNDARY: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\"compact_boundary\""));

/// The model of rows that the client writes in the place of a response.
const SYNTHETIC: &str = "<synthetic>";

fields! {
    /// The keys of a row with a bill.
    BilledRow {
        kind = "type",
        subtype = "subtype",
        message: BilledMessage = "message",
        request = "requestId",
        time = "timestamp",
        cost = "costUSD",
        data: Progress = "data",
    }
}

fields! {
    /// The keys of a message with a bill.
    BilledMessage {
        id = "id",
        model = "model",
        usage: Figures = "usage",
    }
}

fields! {
    /// The keys of the data of a row about the progress of a subagent: it holds a row of the subagent.
    Progress {
        message: ProgressRow = "message",
    }
}

fields! {
    /// The keys of a subagent's row that is held by another row.
    ProgressRow {
        message: BilledMessage = "message",
        request = "requestId",
        time = "timestamp",
        cost = "costUSD",
    }
}

fields! {
    /// The token figures of a response. Those of its parts (`iterations`) are in the sum.
    Figures {
        input = "input_tokens",
        output = "output_tokens",
        creation = "cache_creation_input_tokens",
        lifetimes = "cache_creation",
        read = "cache_read_input_tokens",
    }
}

/// Collects the bills of a file.
#[derive(Default)]
pub(super) struct UsageScan {
    bills: Bills,
}

impl UsageScanner for UsageScan {
    fn line(&mut self, bytes: &[u8]) {
        if USAGE.find(bytes).is_none() && BOUNDARY.find(bytes).is_none() {
            return;
        }
        // A row whose message is not an object has no bill.
        let Ok(row) = serde_json::from_slice::<BilledRow<'_>>(bytes) else { return };
        let Some(time) = time(row.time) else { return };
        let kind = text_of(row.kind).unwrap_or_default();
        if kind == "system" && text_of(row.subtype).is_some_and(|subtype| subtype == "compact_boundary") {
            self.bills.usage.compactions.push(time);
        } else if let Some(message) = row.message.filter(|message| message.usage.is_some()) {
            self.add(time, &message, row.request, row.cost);
        } else if let Some(held) = row.data.and_then(|data| data.message) {
            let time = self::time(held.time).unwrap_or(time);
            held.message.iter().for_each(|message| self.add(time, message, held.request, held.cost));
        }
    }

    fn finish(self: Box<Self>) -> FileUsage {
        self.bills.usage
    }
}

impl UsageScan {
    fn add(&mut self, time: i64, message: &BilledMessage<'_>, request: Option<&RawValue>, cost: Option<&RawValue>) {
        let model = text_of(message.model).unwrap_or_default();
        let Some(figures) = message.usage.filter(|_| model != SYNTHETIC) else { return };
        let id = text_of(message.id).filter(|id| !id.is_empty());
        // Some endpoints and subagents give no request id: the message id alone is the identity then.
        let request = text_of(request).unwrap_or_default();
        let response = ResponseUsage {
            key: id.map(|id| response_key(&[&id, &request])),
            time,
            model: self.bills.usage.model(&model),
            tokens: billed(&figures),
            dollars: cost.and_then(|cost| cost.get().parse().ok()).filter(|cost: &f64| cost.is_finite() && *cost >= 0.0),
        };
        self.bills.add(response);
    }
}

/// Returns the tokens of a bill; cache writes without a lifetime are those for five minutes.
fn billed(figures: &Figures<'_>) -> BilledTokens {
    let count = |value| number(value).unwrap_or_default();
    let lifetime = |name| figures.lifetimes.and_then(|lifetimes| number(member(lifetimes, name))).unwrap_or_default();
    let written = figures
        .creation
        .map_or_else(|| lifetime("ephemeral_5m_input_tokens") + lifetime("ephemeral_1h_input_tokens"), |all| count(Some(all)));
    let long = lifetime("ephemeral_1h_input_tokens").min(written);
    BilledTokens {
        input: count(figures.input),
        output: count(figures.output),
        cache_write_5m: written - long,
        cache_write_1h: long,
        cache_read: count(figures.read),
    }
}

fn time(value: Option<&RawValue>) -> Option<i64> {
    Some(text_of(value)?.parse::<jiff::Timestamp>().ok()?.as_millisecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Collects the bills of rows given as JSON with `'` for `"`.
    fn scan(rows: &[String]) -> FileUsage {
        let mut scan = Box::new(UsageScan::default());
        rows.iter().for_each(|row| scan.line(row.replace('\'', "\"").as_bytes()));
        scan.finish()
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
        assert_eq!((found.responses[0].tokens, found.model_of(&found.responses[0])), (tokens, "claude-opus-4-8"));
    }

    #[test]
    fn without_a_request_id_the_message_id_is_the_identity() {
        assert_eq!(outputs(&scan(&[row("m1", "", 1), row("m1", "", 9), row("m2", "", 2)])), [9, 2]);
        let requests = [row("m1", "'requestId': 'r1',", 1), row("m1", "'requestId': 'r2',", 2)];
        assert_eq!(outputs(&scan(&requests)), [1, 2], "two requests");
        assert_eq!(outputs(&scan(&[row("", "", 1), row("", "", 1)])), [1, 1], "no identity at all");
    }

    #[test]
    fn the_keys_are_equal_in_all_files() {
        let key = |rows: &[String]| scan(rows).responses[0].key;
        let sidechain = row("m1", "'requestId': 'r1', 'isSidechain': true,", 4);
        assert_eq!(key(&[row("m1", "'requestId': 'r1',", 1)]), key(&[row("m0", "", 1), sidechain.clone()][1..]));
        assert_ne!(key(&[sidechain]), key(&[row("m1", "", 1)]));
    }

    #[test]
    fn subagents_count_in_their_rows_and_in_progress_rows_of_their_parent_once() {
        let sidechain = row("m1", "'requestId': 'r1', 'isSidechain': true,", 4);
        let held = format!("{{'type': 'progress', 'timestamp': '2026-11-21T10:00:01Z', 'data': {{'message': {sidechain}}}}}");
        assert_eq!(outputs(&scan(&[sidechain, held.clone()])), [4]);
        assert_eq!(outputs(&scan(&[held])), [4]);
    }

    #[test]
    fn texts_of_the_client_have_no_bill_and_a_stated_cost_is_kept() {
        let synthetic = row("m1", "", 1).replace("claude-opus-4-8", SYNTHETIC);
        let found =
            scan(&[synthetic, row("m2", "'costUSD': 0.5,", 1), "{'usage': ".to_owned(), row("m3", "'costUSD': null,", 1)]);
        assert_eq!(found.responses.iter().map(|response| response.dollars).collect::<Vec<_>>(), [Some(0.5), None]);
    }

    #[test]
    fn compactions_have_their_time() {
        let boundary = "{'type': 'system', 'subtype': 'compact_boundary', 'timestamp': '1970-01-01T00:00:02Z'}";
        assert_eq!(scan(&[boundary.to_owned()]).compactions, [2000]);
    }
}
