//! Computes the totals of a file and collects its bills: rows that affect the totals are parsed completely, all others only by their type.

use super::parse;
use super::usage::{Head, HeadPayload, UsageScan};
use crate::model::{BilledTokens, Event, FileUsage, OutputRule, RowKind, most_tokens_sent};
use crate::provider::json::{self, equals, number, text_of};
use crate::provider::turns::TurnScan;
use crate::provider::usage::NewestRow;
use crate::provider::{Scanner, Totals};
use std::sync::Arc;

#[derive(Default)]
pub(super) struct Scan {
    totals: Totals,
    model: Option<Arc<str>>,
    /// True if the last row of the conversation was written by the model.
    answering: bool,
    /// True if a response followed the last compaction, so that a bill refers to it.
    answered: bool,
    turns: TurnScan,
    newest: NewestRow,
    usage: UsageScan,
    /// The size of the rows so far.
    bytes: u64,
}

impl Scanner for Scan {
    fn line(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        let head = json::skim::<Head<'_>>(bytes);
        if head.is_none_or(|head| head.own.is_none()) {
            self.newest.line(bytes);
        }
        let Some(head) = head else { return };
        let kind = text_of(head.kind).unwrap_or_default();
        let payload = head.payload.unwrap_or_default();
        let stated = payload.info.and_then(|info| number(info.window)).max(self.totals.window.stated_tokens);
        let most = most_tokens_sent(stated, self.model.as_deref().unwrap_or_default(), self.bytes);
        self.usage.row(&head, &kind, most);
        let item = text_of(payload.kind).unwrap_or_default();
        match (&*kind, &*item) {
            ("response_item", "message") if equals(payload.role, "assistant") => self.answer(),
            ("response_item", "message") => self.whole(bytes),
            ("response_item", kind) if kind == "reasoning" || kind.ends_with("_call") => self.answer(),
            ("response_item", kind) if !kind.is_empty() && kind != "ghost_snapshot" => {
                (self.answering, self.totals.moved_on) = (false, true);
            }
            ("event_msg", "token_count") => self.billed(&payload, most),
            ("event_msg", "task_started") => {
                self.totals.window.stated_tokens = number(payload.capacity).or(self.totals.window.stated_tokens);
            }
            ("session_meta" | "turn_context", _) => self.state(&kind, &payload),
            ("event_msg", "thread_name_updated" | "thread_rolled_back") | ("compacted", _) => self.whole(bytes),
            _ => {}
        }
    }

    fn finish(self: Box<Self>, _rule: OutputRule) -> (Totals, FileUsage) {
        (Totals { last_written: self.newest.milliseconds(), ..self.totals }.with_turns(&self.turns), self.usage.finish())
    }
}

impl Scan {
    /// Counts a row of the model; it is a new step if it follows a row of another kind.
    fn answer(&mut self) {
        let totals = &mut self.totals;
        if !self.answering {
            totals.steps += 1;
            self.turns.answer();
        }
        totals.model = self.model.clone().unwrap_or_default();
        (self.answering, self.answered, totals.moved_on) = (true, true, true);
    }

    fn billed(&mut self, payload: &HeadPayload<'_>, most: u64) {
        let Some(info) = payload.info else { return };
        let last = info.last.unwrap_or_default();
        let [sent, output] = [last.input, last.output].map(|figure| number(figure).unwrap_or_default());
        let window = number(info.window);
        let is_possible = !BilledTokens { input: sent, output, ..BilledTokens::default() }.is_impossible(most);
        if sent > 0 && self.answered && is_possible {
            self.totals.window_tokens = sent + output;
            self.totals.window.peak_tokens = self.totals.window.peak_tokens.max(sent);
            self.totals.moved_on = false;
        }
        if let Some(output) = number(info.total.and_then(|total| total.output)) {
            self.totals.output_tokens = output;
        }
        self.totals.window.stated_tokens = window.or(self.totals.window.stated_tokens);
    }

    /// Takes the row of a session or of a turn, which names the directory, and that of a turn the model.
    fn state(&mut self, kind: &str, payload: &HeadPayload<'_>) {
        let totals = &mut self.totals;
        if let Some(directory) = text_of(payload.directory).filter(|_| totals.directory.is_empty()) {
            totals.directory = directory.into();
        }
        if let Some(model) = text_of(payload.model).filter(|model| kind == "turn_context" && !model.is_empty()) {
            totals.model = model.into();
            self.model = Some(totals.model.clone());
        }
    }

    fn whole(&mut self, bytes: &[u8]) {
        let parsed = parse::parse(bytes);
        let totals = &mut self.totals;
        match (parsed.row.kind, parsed.row.event.as_deref()) {
            (RowKind::Boundary, _) => {
                totals.compactions += 1;
                (self.answering, self.answered, totals.moved_on) = (false, false, true);
            }
            (_, Some(Event::Title { text, .. })) => totals.title.clone_from(text),
            (_, Some(Event::RolledBack(turns))) => self.turns.rewound(*turns),
            (RowKind::User | RowKind::Attachment, _) => {
                (self.answering, totals.moved_on) = (false, true);
                self.turns.row(&parsed);
            }
            _ => {}
        }
    }
}
