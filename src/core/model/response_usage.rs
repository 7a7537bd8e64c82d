use crate::text::lists::index_in;
use serde::{Deserialize, Serialize};

/// The largest windows that families of models have in any offer, by the start of their names.
const LARGEST: [(&str, u64); 3] = [("claude-", 1_000_000), ("gpt-", 1_050_000), ("gemini-", 2_097_152)];
/// The most tokens of a request that are in no file: its system prompt and its tools.
const MOST_OUTSIDE: u64 = 1_000_000;

/// Returns the most tokens that a request can send: the window that its client states; without one, the largest that the family of its
/// model has. A request to a model of no known family has at most a token for each of the `bytes` of the file before its answer, and what
/// is in no file.
pub fn most_tokens_sent(stated: Option<u64>, model: &str, bytes: u64) -> u64 {
    let largest = || LARGEST.iter().find(|(family, _)| model.starts_with(family)).map(|(_, tokens)| *tokens);
    stated.filter(|tokens| *tokens > 0).or_else(largest).unwrap_or(MOST_OUTSIDE + bytes)
}

/// Tokens that were billed, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BilledTokens {
    /// Input tokens that were neither read from nor written to the cache.
    pub input: u64,
    pub output: u64,
    /// Input tokens that were written to the cache for five minutes.
    pub cache_write_5m: u64,
    /// Input tokens that were written to the cache for an hour.
    pub cache_write_1h: u64,
    pub cache_read: u64,
}

impl BilledTokens {
    pub fn sent(&self) -> u64 {
        self.input.saturating_add(self.cache_written()).saturating_add(self.cache_read)
    }

    pub fn cache_written(&self) -> u64 {
        self.cache_write_5m.saturating_add(self.cache_write_1h)
    }

    pub fn total(&self) -> u64 {
        self.sent().saturating_add(self.output)
    }

    /// Returns true if no request can have these tokens: more are sent, or answered, than `most`. A model whose window counts the
    /// input can answer beside it, so their sum tells nothing.
    pub fn is_impossible(&self, most: u64) -> bool {
        self.sent() > most || self.output > most
    }

    pub fn add(&mut self, other: &BilledTokens) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cache_write_5m = self.cache_write_5m.saturating_add(other.cache_write_5m);
        self.cache_write_1h = self.cache_write_1h.saturating_add(other.cache_write_1h);
        self.cache_read = self.cache_read.saturating_add(other.cache_read);
    }
}

/// The sizes of the content of a response.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Bytes of its texts.
    pub text: u64,
    /// Bytes of its thinking, as far as it is shown, and of the signatures.
    pub thinking: u64,
    pub signature: u64,
    /// Number of its calls of tools, and bytes of their inputs.
    pub calls: u64,
    pub input: u64,
}

/// Returns the output tokens of a response by its content and its model, if the recorded ones are far below; else `None`.
pub type OutputRule = fn(&Written, &str, u64) -> Option<u64>;

/// The least share of the output tokens by its content that a response records. Clients write rows while a response is streamed, and
/// some never write its final figure. Of 3,674 responses with a final row in 75 sessions, all but 2 record 0.6 or more; of 4,397
/// others, 3,304 record less than 0.4 and 1,088 record 0.6 or more.
pub const LEAST_RECORDED: f64 = 0.5;

/// The bill of one response of a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ResponseUsage {
    /// The identity of the response, equal in all files that contain it, or in all files of one origin ([`FileUsage::lineage`]);
    /// `None` if its rows name none.
    pub key: Option<u64>,
    /// The time when it was first written, in milliseconds since 1970, UTC.
    pub time: i64,
    /// The model: an index into [`FileUsage::models`].
    pub model: u32,
    pub tokens: BilledTokens,
    /// The output tokens by its content, if its rows record far less; else 0.
    pub written_tokens: u64,
    /// The cost in dollars, if the row states it.
    pub dollars: Option<f64>,
    /// True if it is impossible ([`BilledTokens::is_impossible`]): it counts as recorded.
    pub is_impossible: bool,
    /// Web searches that the API billed beside the tokens.
    pub searches: u64,
    /// True if it was billed at the prices of the fast mode.
    pub fast: bool,
}

impl ResponseUsage {
    /// Returns its tokens, and true if the output among them is an estimate.
    pub fn settled(&self) -> (BilledTokens, bool) {
        let is_estimated = (self.tokens.output as f64) < self.written_tokens as f64 * LEAST_RECORDED;
        let output = if is_estimated { self.written_tokens } else { self.tokens.output };
        (BilledTokens { output, ..self.tokens }, is_estimated)
    }

    /// Takes over the figures of another bill of the same response: output and searches grow to their final values, and the other
    /// figures are replaced as a whole if `replaces` is true.
    pub fn join(&mut self, other: &ResponseUsage, replaces: bool) {
        let output = self.tokens.output.max(other.tokens.output);
        if replaces {
            self.tokens = other.tokens;
        }
        self.tokens.output = output;
        self.written_tokens = self.written_tokens.max(other.written_tokens);
        self.dollars = other.dollars.filter(|_| replaces).or(self.dollars).or(other.dollars);
        self.searches = self.searches.max(other.searches);
        self.fast |= other.fast;
        self.is_impossible |= other.is_impossible;
    }
}

/// The session of a file and the oldest one that it descends from, as keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lineage {
    pub session: u64,
    /// The session that it was forked from; the session itself if it is not a fork.
    pub parent: u64,
    /// The oldest session that the file names as its origin; the session itself if it is not a fork.
    pub origin: u64,
}

/// The bills in one session file, each response once.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FileUsage {
    pub models: Vec<String>,
    /// The responses, in the order of their first rows.
    pub responses: Vec<ResponseUsage>,
    /// The times of the compactions by the client, in milliseconds since 1970, UTC.
    pub compactions: Vec<i64>,
    /// The lineage of its session, if the identities of responses hold only within one origin.
    pub lineage: Option<Lineage>,
    /// True if its rows name the session that they were copied from.
    pub is_fork: bool,
}

impl FileUsage {
    /// Returns the index of a model, which is added if it is new.
    pub fn model(&mut self, name: &str) -> u32 {
        index_in(&mut self.models, name)
    }
}
