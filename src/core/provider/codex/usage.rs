//! Collects the bills of a rollout. Its figures are cumulative, and repeated without a new response.

use crate::model::{BilledTokens, FileUsage, Lineage, ResponseUsage};
use crate::provider::json::{equals, number, skimmed, text_of, time_of};
use crate::provider::usage::{Bills, response_key};

skimmed! {
    /// The keys of a row that determine its type, and those of its bill.
    Head {
        kind = "type",
        time = "timestamp",
        payload: HeadPayload = "payload",
        own = "aperture",
    }
}

skimmed! {
    HeadPayload {
        kind = "type",
        role = "role",
        id = "id",
        source = "forked_from_id",
        model = "model",
        directory = "cwd",
        capacity = "model_context_window",
        info: TokenInfo = "info",
    }
}

skimmed! {
    /// The figures of a row that counts tokens.
    TokenInfo {
        total: TokenFigures = "total_token_usage",
        last: TokenFigures = "last_token_usage",
        window = "model_context_window",
    }
}

skimmed! {
    /// The figures of a request, or of all requests so far; the input has the cached part too.
    TokenFigures {
        input = "input_tokens",
        cached = "cached_input_tokens",
        output = "output_tokens",
    }
}

/// Token figures: input with the cached part, the cached part, output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Figures {
    input: u64,
    cached: u64,
    output: u64,
}

#[derive(Default)]
pub(super) struct UsageScan {
    bills: Bills,
    model: String,
    total: Option<Figures>,
}

impl UsageScan {
    /// Takes the next row, which has this type. A request has at most `most` tokens.
    pub(super) fn row(&mut self, row: &Head<'_>, kind: &str, most: u64) {
        let Some(payload) = row.payload else { return };
        let time = || time_of(row.time);
        match kind {
            // A fork can begin with a copy of the rows of its parent. Its own row is the first one, that of the first session, if the
            // file has it, the last; each fork names the session that it was forked from.
            "session_meta" if self.bills.usage.responses.is_empty() => {
                let key = |value| text_of(value).filter(|id| !id.is_empty()).map(|id| response_key(&[&id]));
                if let Some(id) = key(payload.id) {
                    let source = key(payload.source).unwrap_or(id);
                    let own = Lineage { session: id, parent: source, origin: source };
                    self.bills.usage.lineage.get_or_insert(own).origin = source;
                }
            }
            "turn_context" => {
                if let Some(model) = text_of(payload.model).filter(|model| !model.is_empty()) {
                    self.model = model.into_owned();
                }
            }
            "compacted" => self.bills.usage.compactions.extend(time()),
            "event_msg" if equals(payload.kind, "token_count") => {
                if let (Some(time), Some(info)) = (time(), payload.info) {
                    self.count(time, &info, most);
                }
            }
            _ => {}
        }
    }

    pub(super) fn finish(self) -> FileUsage {
        self.bills.usage
    }

    /// Counts a response: the figures of the last request, or the growth of the total if they are missing.
    fn count(&mut self, time: i64, info: &TokenInfo<'_>, most: u64) {
        let total = figures(info.total);
        if total.is_some() && total == self.total {
            return;
        }
        let before = self.total.unwrap_or_default();
        let growth = |total: Figures| Figures {
            input: total.input.saturating_sub(before.input),
            cached: total.cached.saturating_sub(before.cached),
            output: total.output.saturating_sub(before.output),
        };
        let figures = figures(info.last).or_else(|| total.map(growth)).unwrap_or_default();
        self.total = total.or(self.total);
        if figures == Figures::default() {
            return;
        }
        let cached = figures.cached.min(figures.input);
        let key = total.map(|total| response_key(&[&format!("{} {} {}", total.input, total.cached, total.output)]));
        let model = self.bills.usage.model(&self.model);
        let tokens =
            BilledTokens { input: figures.input - cached, cache_read: cached, output: figures.output, ..BilledTokens::default() };
        let is_impossible = tokens.is_impossible(most);
        self.bills.add(ResponseUsage { key, time, model, tokens, is_impossible, ..ResponseUsage::default() });
    }
}

fn figures(usage: Option<TokenFigures<'_>>) -> Option<Figures> {
    let TokenFigures { input, cached, output } = usage?;
    let [cached, output] = [cached, output].map(|figure| number(figure).unwrap_or_default());
    number(input).map(|input| Figures { input, cached, output })
}

#[cfg(test)]
mod tests {
    use super::super::scan::Scan;
    use super::*;
    use crate::provider::Scanner;

    /// Collects the bills of rows given as kind and payload, in JSON with `'` for `"`.
    fn scan(rows: &[(&str, &str)]) -> FileUsage {
        let mut scan = Box::new(Scan::default());
        for (second, (kind, payload)) in rows.iter().enumerate() {
            let row = format!("{{'timestamp': '2026-11-21T10:00:{second:02}Z', 'type': '{kind}', 'payload': {payload}}}");
            scan.line(row.replace('\'', "\"").as_bytes());
        }
        scan.finish(|_, _, _| None).1
    }

    fn count(total: [u64; 3], last: Option<[u64; 3]>) -> String {
        let usage = |[input, cached, output]: [u64; 3]| {
            format!("{{'input_tokens': {input}, 'cached_input_tokens': {cached}, 'output_tokens': {output}}}")
        };
        let last = last.map(|last| format!(", 'last_token_usage': {}", usage(last))).unwrap_or_default();
        format!("{{'type': 'token_count', 'info': {{'total_token_usage': {}{last}}}}}", usage(total))
    }

    fn tokens(usage: &FileUsage) -> Vec<[u64; 3]> {
        usage.responses.iter().map(|one| [one.tokens.input, one.tokens.cache_read, one.tokens.output]).collect()
    }

    const CONTEXT: (&str, &str) = ("turn_context", "{'model': 'gpt-5.5'}");

    #[test]
    fn repeated_figures_count_once() {
        let first = count([100, 40, 9], Some([100, 40, 9]));
        let second = count([250, 120, 19], Some([150, 80, 10]));
        let found =
            scan(&[CONTEXT, ("event_msg", &first), ("event_msg", &first), ("event_msg", &second), ("event_msg", &second)]);
        assert_eq!(tokens(&found), [[60, 40, 9], [70, 80, 10]]);
        assert_eq!(found.models[found.responses[1].model as usize], "gpt-5.5");
        let rows = [("event_msg", &*count([100, 40, 9], None)), ("event_msg", &*count([250, 120, 19], None))];
        assert_eq!(tokens(&scan(&rows)), [[60, 40, 9], [70, 80, 10]]);
        let empty = ("event_msg", "{'type': 'token_count', 'info': null}");
        assert_eq!(tokens(&scan(&[empty])), [[0; 3]; 0]);
        assert_eq!(scan(&[("compacted", "{'message': ''}")]).compactions.len(), 1);
    }

    #[test]
    fn a_fork_names_its_origin_with_and_without_the_row_of_its_parent() {
        let lineage = |rows: &[(&str, &str)]| scan(rows).lineage.map(|lineage| (lineage.session, lineage.origin));
        let key = |id: &str| response_key(&[id]);
        let (parent, own) = (("session_meta", "{'id': 'p'}"), ("session_meta", "{'id': 'f', 'forked_from_id': 'p'}"));
        let count = count([100, 40, 9], Some([100, 40, 9]));
        let response = ("event_msg", &*count);
        assert_eq!(lineage(&[parent, response]), Some((key("p"), key("p"))));
        assert_eq!(lineage(&[own, parent, response]), Some((key("f"), key("p"))));
        assert_eq!(lineage(&[own, response]), Some((key("f"), key("p"))));
        assert_eq!(lineage(&[own, response, ("session_meta", "{'id': 'z'}")]), Some((key("f"), key("p"))), "after a response");
        let grandchild = ("session_meta", "{'id': 'g', 'forked_from_id': 'f'}");
        assert_eq!(lineage(&[grandchild, own, response]), Some((key("g"), key("p"))));
        assert_eq!(lineage(&[response]), None);
        let keys = |rows: &[(&str, &str)]| scan(rows).responses.iter().map(|one| one.key).collect::<Vec<_>>();
        assert_eq!(keys(&[parent, response]), keys(&[own, response]));
    }
}
