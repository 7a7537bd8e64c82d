//! `aperture util placeholders`.

use crate::model::{As, Estimated};
use crate::output::{Report, Style, count, plural};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// The cost of the placeholders of archived blocks, over sessions.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct PlaceholdersReport {
    pub sessions: usize,
    /// Placeholders of all blocks.
    pub all: Placeholders,
    /// Placeholders by kind of block.
    pub kinds: BTreeMap<&'static str, Placeholders>,
}

/// The cost of placeholders, counted in the vocabulary o200k.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Placeholders {
    /// Placeholder lines of shortened blocks.
    pub lines: usize,
    /// Median of a line.
    #[serde(with = "As::<Estimated>")]
    pub median: u32,
    /// 90th percentile.
    #[serde(with = "As::<Estimated>")]
    pub p90: u32,
    /// Maximum.
    #[serde(with = "As::<Estimated>")]
    pub longest: u32,
    #[serde(skip)]
    tokens: Vec<u32>,
}

impl Placeholders {
    fn finish(&mut self) {
        self.tokens.sort_unstable();
        let at = |percent: usize| self.tokens.get((self.tokens.len() * percent / 100).min(self.tokens.len().max(1) - 1));
        (self.median, self.p90) = (at(50).copied().unwrap_or(0), at(90).copied().unwrap_or(0));
        self.longest = self.tokens.last().copied().unwrap_or(0);
        self.lines = self.tokens.len();
    }

    fn text(&self, name: &str) -> String {
        let lines = count(self.lines as u64);
        format!(
            "{name:<14} {lines:>7}   median {:>3}   90th percentile {:>3}   longest {:>3}\n",
            self.median, self.p90, self.longest
        )
    }
}

impl PlaceholdersReport {
    pub fn add(&mut self, kind: &'static str, tokens: u32) {
        self.all.tokens.push(tokens);
        self.kinds.entry(kind).or_default().tokens.push(tokens);
    }

    pub fn finish(&mut self) {
        self.all.finish();
        self.kinds.values_mut().for_each(Placeholders::finish);
    }
}

impl Report for PlaceholdersReport {
    const SCHEMA: &str = "aperture.placeholders/2";

    fn text(&self, _: &Style) -> String {
        let kinds: String = self.kinds.iter().map(|(kind, placeholders)| placeholders.text(kind)).collect();
        format!(
            "{}: lines of archived blocks, in tokens of o200k\n{kinds}{}",
            plural(self.sessions, "session"),
            self.all.text("all")
        )
    }
}
