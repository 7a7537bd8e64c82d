//! The requests of a session: what filled the window in each, and what it cost.

use crate::engine::cost::model_prices::Prices;
use crate::engine::cost::tokens::{output_of, requests_of};
use crate::model::{
    As, Basis, BilledTokens, Block, BlockKind, BlockNumber, Measured, Role, Session, Time, TokenCount, Vocabulary,
};
use schemars::JsonSchema;
use serde::Serialize;

/// The tokens of a request by what they are. They are counted from the blocks as they are in the file now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct TimelineKinds {
    /// Prompts and answers of a person.
    pub user: TokenCount,
    /// Texts of the model.
    pub answers: TokenCount,
    /// Thinking of the model.
    pub thinking: TokenCount,
    /// Calls of tools.
    pub calls: TokenCount,
    /// Results of tools.
    pub results: TokenCount,
    /// Texts of the client: reminders, files, summaries of compactions.
    pub client: TokenCount,
    /// The rest of the bill: system prompt and tools, and content that is not in the file, or no longer whole.
    pub other: TokenCount,
}

impl TimelineKinds {
    fn add(&mut self, block: &Block) {
        let sum = match (block.kind, block.role) {
            (BlockKind::Thinking, _) => &mut self.thinking,
            (BlockKind::ToolUse, _) => &mut self.calls,
            (BlockKind::ToolResult, _) | (_, Role::ToolResult) => &mut self.results,
            (BlockKind::Attachment, _) | (_, Role::System) => &mut self.client,
            (_, Role::User) if !block.words.is_empty() => &mut self.user,
            (_, Role::User) => &mut self.client,
            _ => &mut self.answers,
        };
        *sum = *sum + block.tokens;
    }

    fn of_blocks(&self) -> TokenCount {
        [self.user, self.answers, self.thinking, self.calls, self.results, self.client].into_iter().sum()
    }
}

/// A request of a session, as it was billed.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TimelineRequest {
    pub turn: u32,
    /// Time of the response.
    #[serde(with = "As::<Time>")]
    pub time: i64,
    pub model: String,
    /// Tokens of the window that was sent; null if the file has no bill of the request.
    #[serde(with = "As::<Option<Measured>>")]
    pub sent_tokens: Option<u64>,
    /// Tokens of it that were read from the cache.
    #[serde(with = "As::<Measured>")]
    pub cache_read_tokens: u64,
    /// Tokens of it that were written to the cache.
    #[serde(with = "As::<Measured>")]
    pub cache_write_tokens: u64,
    /// Tokens of the response; an estimate if the file records only the start of it.
    pub output_tokens: TokenCount,
    /// Cost by the list price, without web searches; an estimate if the output is one; null if no price is known for the model, or for
    /// the fast mode in which it answered.
    pub dollars: Option<f64>,
    /// True if the figures are impossible: more than any window of the model holds. They are as recorded.
    pub impossible: bool,
    /// True if it is the first one after a compaction.
    pub after_compaction: bool,
    /// The tokens by what they are.
    pub kinds: TimelineKinds,
    /// The request whose window and response it continues, by its place in the list from 0; null at the beginning of a
    /// conversation, after a compaction, and if that one is beyond the limit of the list.
    pub follows: Option<usize>,
    /// The blocks that it sent for the first time.
    pub new_blocks: Vec<BlockNumber>,
    pub response_blocks: Vec<BlockNumber>,
}

/// Returns the requests of a session, the oldest first. `impossible` are the
/// rows of bills that are impossible. What the client kept from before a
/// compaction counts as `other`.
pub fn timeline(session: &Session, impossible: &[u32], prices: &Prices) -> Vec<TimelineRequest> {
    let mut calls = requests_of(session);
    calls.pop();
    let mut sums: Vec<TimelineKinds> = Vec::with_capacity(calls.len());
    let mut requests = Vec::with_capacity(calls.len());
    let mut compacted = false;
    for call in calls {
        let mut kinds = call.follows.map(|before| sums[before]).unwrap_or_default();
        call.before.iter().for_each(|place| kinds.add(&session.blocks[*place]));
        let (usage, sent) = (call.usage, call.usage.sent());
        let answered = call.response.iter().map(|place| &session.blocks[*place]);
        // Other clients write a bill when the response is complete.
        let output_tokens = match session.vocabulary {
            Vocabulary::Claude if sent > 0 => output_of(answered, &call.model, usage.output),
            _ => TokenCount::measured(usage.output),
        };
        let billed = BilledTokens { output: output_tokens.round(), ..usage };
        let dollars = prices.for_model(&call.model).and_then(|price| price.bill(&billed, call.fast));
        compacted |= call.compacted;
        // The mark is at a request with a bill.
        let after_compaction = compacted && sent > 0;
        compacted &= !after_compaction;
        let rest = (sent as f64 - kinds.of_blocks().value).max(0.0);
        let rows = call.response.iter().map(|place| session.blocks[*place].row);
        let numbers = |places: &[usize]| places.iter().map(|place| session.blocks[*place].number).collect();
        requests.push(TimelineRequest {
            turn: call.turn,
            impossible: rows.clone().any(|row| impossible.binary_search(&row).is_ok()),
            time: rows.filter_map(|row| session.rows[row as usize].timestamp).max().unwrap_or_default(),
            sent_tokens: (sent > 0).then_some(sent),
            cache_read_tokens: usage.cache_read,
            cache_write_tokens: usage.cache_written(),
            output_tokens,
            dollars,
            after_compaction,
            kinds: TimelineKinds { other: TokenCount { value: rest, basis: Basis::Estimated }, ..kinds },
            follows: call.follows,
            new_blocks: numbers(&call.before),
            response_blocks: numbers(&call.response),
            model: call.model,
        });
        call.response.iter().for_each(|place| kinds.add(&session.blocks[*place]));
        sums.push(kinds);
    }
    requests
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Flags, Key, Row, RowKind};

    /// Returns the tokens of texts and of the rest in each request, of rows given as kind, parent and billed tokens.
    fn sent(rows: &[(RowKind, u128, u64)]) -> Vec<(f64, f64, Option<usize>)> {
        let mut session = Session::default();
        for (place, (kind, parent, billed)) in rows.iter().enumerate() {
            let mut row = Row::new(*kind);
            (row.id, row.parent) = (Some(Key(place as u128 + 1)), (*parent > 0).then_some(Key(*parent)));
            row.usage = (*billed > 0).then_some(BilledTokens { input: *billed, ..BilledTokens::default() });
            row.message = (*billed > 0).then_some(Key(100 + place as u128));
            let role = if *kind == RowKind::User { Role::User } else { Role::Assistant };
            let block = Block { tokens: TokenCount::estimated(10.0), ..Block::new(BlockKind::Text, role) };
            session.add(row, (*kind != RowKind::Boundary).then_some(block));
        }
        let texts = |kinds: &TimelineKinds| kinds.of_blocks().value;
        let of = |request: &TimelineRequest| (texts(&request.kinds), request.kinds.other.value, request.follows);
        timeline(&session, &[], &Prices::default()).iter().map(of).collect()
    }

    #[test]
    fn cache_writes_cost_by_their_lifetimes_and_the_fast_mode_its_own_price() {
        let prices = Prices::default();
        let mixed = BilledTokens { cache_write_5m: 750_000, cache_write_1h: 250_000, ..BilledTokens::default() };
        let dollars = |model: &str, flags: Flags| {
            let row = Row { model: Some(model.into()), usage: Some(mixed), flags, ..Row::new(RowKind::Assistant) };
            let session = Session { rows: vec![row], ..Session::default() };
            timeline(&session, &[], &prices)[0].dollars
        };
        let price = prices.for_model("claude-opus-4-6").unwrap().at(1e6);
        let expected = price.cache_write_5m * 0.75 + price.cache_write_1h * 0.25;
        assert_eq!(dollars("claude-opus-4-6", Flags::default()), Some(expected));
        assert_eq!(dollars("claude-opus-4-6", Flags::FAST), Some(expected * price.fast.unwrap()));
        assert_eq!(dollars("claude-sonnet-5", Flags::FAST), None);
    }

    #[test]
    fn a_request_holds_what_its_branch_sent_and_answered() {
        use RowKind::{Assistant, Boundary, User};
        let first = [(User, 0, 0), (Assistant, 1, 100), (User, 2, 0), (Assistant, 3, 130)];
        assert_eq!(sent(&first), [(10.0, 90.0, None), (30.0, 100.0, Some(0))]);
        let rewound = [&first[..], &[(User, 2, 0), (Assistant, 5, 131)]].concat();
        assert_eq!(sent(&rewound)[2], (30.0, 101.0, Some(0)));
        let compacted = [&first[..], &[(Boundary, 0, 0), (User, 5, 0), (Assistant, 6, 50)]].concat();
        assert_eq!(sent(&compacted)[2], (10.0, 40.0, None));
    }
}
