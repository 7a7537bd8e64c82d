//! Derives from the order of the rows their parents, the responses that they form, and the usage and model of each response.

use super::cut;
use crate::model::{BilledTokens, Block, Event, Flags, Key, Origin, Row, RowKind, Session, Vocabulary};
use crate::provider::words::OtherCalls;
use rustc_hash::{FxHashMap, FxHashSet};

/// Fills in the fields that no row records itself. Idempotent.
pub(in crate::provider) fn link(session: &mut Session) {
    session.vocabulary = Vocabulary::O200k;
    chain(session);
    let mut others = OtherCalls::default();
    session.blocks.iter_mut().for_each(|block| others.check(block));
    let mut response = Response::default();
    (0..session.rows.len()).for_each(|index| response.add(session, index));
    cut_outputs(session, response.model.as_deref());
}

/// Makes each row follow the one before it, gives it the origin that earlier rows recorded, and makes the files of tools absolute.
pub(in crate::provider) fn chain(session: &mut Session) {
    let mut identities = Identities::default();
    let mut origins = Origins::new(&session.origins);
    let mut above: Option<Key> = None;
    let mut next = 0;
    let copied_until = session.rows.first().and_then(Row::copied_until);
    for index in 0..session.rows.len() {
        let row = &mut session.rows[index];
        if let Some(id) = row.id.map(|id| identities.unique(id)) {
            (row.id, row.parent) = (Some(id), above);
            above = Some(id);
        }
        row.origin = origins.place(row.origin, &mut session.origins);
        let last = next + row.blocks as usize;
        let is_of_agent = row.is_after(copied_until);
        for block in &mut session.blocks[next..last] {
            if is_of_agent {
                block.words = Default::default();
            }
            locate_target(block, &origins.current.directory);
        }
        next = last;
    }
    if session.origins.is_empty() {
        session.origins.push(origins.current);
    }
}

/// The ids of the rows so far.
#[derive(Default)]
struct Identities {
    seen: FxHashSet<Key>,
    /// The id of the last copy of a row.
    copies: FxHashMap<Key, Key>,
}

impl Identities {
    /// Returns an id that no row before has. Rows copied by a fork can be identical to the byte.
    fn unique(&mut self, first: Key) -> Key {
        // The search continues from the id of the previous copy.
        let mut id = self.copies.get(&first).copied().unwrap_or(first);
        while !self.seen.insert(id) {
            id = Key::from_bytes(&id.0.to_le_bytes());
        }
        if id != first {
            self.copies.insert(first, id);
        }
        id
    }
}

/// The origins of the rows so far: each row records only what changed.
struct Origins {
    places: FxHashMap<Origin, u32>,
    current: Origin,
    current_place: u32,
}

impl Origins {
    fn new(recorded: &[Origin]) -> Origins {
        let mut places = FxHashMap::default();
        for (place, origin) in (0..).zip(recorded) {
            places.entry(origin.clone()).or_insert(place);
        }
        Origins { places, current: Origin::default(), current_place: 0 }
    }

    /// Returns the place in `all` of the whole origin of a row, by the place of what the row recorded.
    fn place(&mut self, recorded: u32, all: &mut Vec<Origin>) -> u32 {
        if merge(&mut self.current, all.get(recorded as usize)) {
            self.current_place = *self.places.entry(self.current.clone()).or_insert_with(|| {
                all.push(self.current.clone());
                all.len() as u32 - 1
            });
        }
        self.current_place
    }
}

/// Makes the target of a tool that names a file absolute: the client runs its tools in the session's directory, also patches.
fn locate_target(block: &mut Block, directory: &str) {
    let Some(tool) = block.tool.as_mut().filter(|tool| tool.verb.names_file() && !directory.is_empty()) else { return };
    if !tool.target.is_empty() && !tool.target.starts_with(['/', '~']) && tool.target.get(1..3) != Some(":\\") {
        tool.target = format!("{}/{}", directory.trim_end_matches('/'), tool.target).into();
    }
}

/// Truncates the outputs: on resume the client truncates all of them under the same limit, that of the model it resumes with.
fn cut_outputs(session: &mut Session, model: Option<&str>) {
    let limit = cut::limit(model);
    let numbered = session.rows.iter().find(|row| row.kind == RowKind::State).is_some_and(|row| row.flags.any(Flags::NUMBERED));
    for block in session.blocks.iter_mut().filter(|block| !block.cuts.is_empty()) {
        let found = block.cuts.iter().position(|cut| cut.stated || cut.limit == limit);
        block.cut = found.map(|place| place as u32);
        // Clients truncate outputs before the first bill: those that number rows under the limit of the model, older ones under one
        // for all models.
        let billed = if numbered { block.sent_cut() } else { block.cuts.iter().find(|cut| cut.limit == cut::OF_OLD_CLIENTS) };
        if let Some(cut) = billed.copied() {
            (block.bytes, block.counts) = (cut.bytes, cut.counts);
        }
    }
}

/// The response to one request, as far as the file shows, and its bill.
///
/// A client writes the rows of a response and then its bill. Clients of 2025 write the bill when the response ends, and its rows
/// together with the outputs of its tools afterwards; and every client writes a bill again when it learns the limits of the
/// account. Which order holds follows from each turn: its first new bill comes before or after its first rows of the model.
#[derive(Default)]
struct Response {
    key: Option<Key>,
    last: Option<usize>,
    open: bool,
    /// The model that the last state row named.
    model: Option<Box<str>>,
    bill: Option<BilledTokens>,
    billed: Option<Key>,
    /// True once the turn has rows of the model, and once it has a new bill.
    answered: bool,
    counted: bool,
    bill_first: bool,
    /// The bill of the rows that follow, and its row.
    ahead: Option<(BilledTokens, usize)>,
    /// True if the next row of the model begins another response.
    begins: bool,
}

impl Response {
    /// Takes the next row: it belongs to the response, ends it, or bills it.
    fn add(&mut self, session: &mut Session, index: usize) {
        let row = &mut session.rows[index];
        match row.kind {
            RowKind::Assistant => self.speak(session, index),
            RowKind::User | RowKind::Attachment => {
                self.open = false;
                if row.prompt {
                    (self.answered, self.counted, self.begins, self.ahead) = (false, false, true, None);
                }
            }
            RowKind::Boundary => {
                (self.key, self.last, self.open) = (None, None, false);
                (self.answered, self.counted, self.bill_first, self.ahead) = (false, false, false, None);
            }
            RowKind::State if row.model.is_some() => self.model.clone_from(&row.model),
            RowKind::Record => {
                if let Some(Event::Capacity(tokens)) = row.event.as_deref() {
                    session.capacity = Some(*tokens);
                }
                if let Some(usage) = row.usage.filter(|usage| usage.sent() > 0) {
                    self.bill(session, index, usage);
                }
            }
            _ => {}
        }
    }

    /// Takes a row of the model. The outputs of the tools do not end a response whose bill came first.
    fn speak(&mut self, session: &mut Session, index: usize) {
        let begins = if self.bill_first { std::mem::take(&mut self.begins) } else { !self.open };
        if begins {
            self.key = session.rows[index].id;
            if let Some((_, bill)) = self.ahead {
                self.billed = self.key;
                let bills = session.rows[bill..index].iter_mut().filter(|row| row.kind == RowKind::Record && row.usage.is_some());
                bills.for_each(|row| row.message = self.key);
            }
        }
        (self.open, self.last, self.answered) = (true, Some(index), true);
        let row = &mut session.rows[index];
        row.message = self.key;
        row.model.clone_from(&self.model);
        (row.usage, row.finished) = (self.ahead.map(|(usage, _)| usage), self.ahead.is_some());
    }

    /// Takes a bill. The same figures again are the same bill, whatever was written in between.
    fn bill(&mut self, session: &mut Session, index: usize, usage: BilledTokens) {
        let repeated = self.bill.replace(usage) == Some(usage);
        if !repeated && !std::mem::replace(&mut self.counted, true) {
            (self.bill_first, self.ahead) = (!self.answered, None);
        }
        match self.last {
            _ if repeated && (self.bill_first || self.billed != self.key) => session.rows[index].message = self.billed,
            _ if self.bill_first => (self.ahead, self.begins) = (Some((usage, index)), true),
            Some(last) => {
                self.billed = self.key;
                session.rows[index].message = self.key;
                (session.rows[last].usage, session.rows[last].finished) = (Some(usage), true);
            }
            None => {}
        }
    }
}

/// Merges the recorded origin of a row into `origin`; the session id is that of the first row that has one. True if `origin` changed.
fn merge(origin: &mut Origin, said: Option<&Origin>) -> bool {
    let Some(said) = said else { return false };
    let before = origin.clone();
    if origin.session.is_empty() {
        origin.session.clone_from(&said.session);
    }
    let values =
        [(&mut origin.directory, &said.directory), (&mut origin.version, &said.version), (&mut origin.branch, &said.branch)];
    for (known, said) in values {
        if !said.is_empty() {
            known.clone_from(said);
        }
    }
    *origin != before
}

#[cfg(test)]
mod tests {
    use super::link;
    use crate::model::{RowKind, Session};
    use crate::provider::codex::parse::parse;

    /// Returns a session of one-word rows: `prompt`, `think`, `call`, `output`, `say`, `compacted`, or the input of a bill.
    fn session(words: &str) -> Session {
        let row = |(second, word): (usize, &str)| {
            let message =
                |role: &str| format!(r#""type":"message","role":"{role}","content":[{{"type":"input_text","text":"{second}"}}]"#);
            let (kind, payload) = match word {
                "prompt" => ("response_item", message("user")),
                "say" => ("response_item", message("assistant")),
                "think" => ("response_item", r#""type":"reasoning","summary":[]"#.to_owned()),
                "call" => {
                    ("response_item", format!(r#""type":"function_call","name":"f","arguments":"{{}}","call_id":"{second}""#))
                }
                "output" => {
                    ("response_item", format!(r#""type":"function_call_output","call_id":"{}","output":"x""#, second - 1))
                }
                "compacted" => ("compacted", r#""message":"summary""#.to_owned()),
                input => {
                    let usage = format!(r#"{{"input_tokens":{input},"output_tokens":5}}"#);
                    ("event_msg", format!(r#""type":"token_count","info":{{"last_token_usage":{usage}}}"#))
                }
            };
            format!(r#"{{"timestamp":"2025-10-02T10:00:{second:02}Z","type":"{kind}","payload":{{{payload}}}}}"#)
        };
        let mut session = Session::default();
        for line in words.split(' ').enumerate().map(row) {
            let parsed = parse(line.as_bytes());
            session.rows.push(parsed.row);
            session.blocks.extend(parsed.blocks.into_iter().map(|parsed| parsed.block));
        }
        link(&mut session);
        session
    }

    /// Returns the responses: the number of their rows, and the input that was billed.
    fn responses(words: &str) -> Vec<(usize, u64)> {
        let session = session(words);
        let mut responses: Vec<(usize, u64)> = Vec::new();
        let mut last = None;
        for row in session.rows.iter().filter(|row| row.kind == RowKind::Assistant) {
            if row.message != last {
                responses.push((0, 0));
            }
            last = row.message;
            if let Some(response) = responses.last_mut() {
                response.0 += 1;
                response.1 = row.usage.map_or(response.1, |usage| usage.sent());
            }
        }
        responses
    }

    #[test]
    fn the_prompts_of_another_agent_are_not_the_users_words() {
        let row = |second: u8, kind: &str, payload: &str| {
            format!(r#"{{"timestamp":"2025-10-02T10:00:{second:02}Z","type":"{kind}","payload":{payload}}}"#)
        };
        let prompt =
            |text: &str| format!(r#"{{"type":"message","role":"user","content":[{{"type":"input_text","text":"{text}"}}]}}"#);
        for (source, expected) in [(r#"{"subagent":"review"}"#, [true, false]), (r#""cli""#, [true, true])] {
            let head = row(0, "session_meta", &format!(r#"{{"id":"s","source":{source}}}"#));
            let rows = [head, row(0, "response_item", &prompt("copied")), row(2, "response_item", &prompt("review it"))];
            let mut session = Session::default();
            for parsed in rows.iter().map(|line| parse(line.as_bytes())) {
                session.rows.push(parsed.row);
                session.blocks.extend(parsed.blocks.into_iter().map(|parsed| parsed.block));
            }
            link(&mut session);
            let typed: Vec<bool> = session.blocks.iter().map(|block| !block.words.is_empty()).collect();
            assert_eq!(typed, expected, "{source}");
        }
    }

    #[test]
    fn a_bill_belongs_to_the_response_before_or_after_it() {
        assert_eq!(responses("prompt think call 100 output say 200 prompt say 300"), [(2, 100), (1, 200), (1, 300)]);
        assert_eq!(responses("prompt think call output 100 say 200"), [(2, 100), (1, 200)]);
        assert_eq!(responses("prompt call 100 output 100 100 think 100 say 200 200"), [(1, 100), (2, 200)]);
        // The second response was interrupted.
        assert_eq!(responses("prompt call 100 output think 100"), [(1, 100), (1, 0)]);
        let turns = "prompt 100 think call output call output 100 200 say prompt 200 300 call output 300 400 say 400";
        assert_eq!(responses(turns), [(3, 100), (1, 200), (1, 300), (1, 400)]);
        assert_eq!(
            responses("prompt 100 call output 100 200 say prompt 200 call 300 output say 400"),
            [(1, 100), (1, 200), (1, 300), (1, 400)]
        );
        // The bill of a compaction is that of no response.
        assert_eq!(responses("prompt call 100 output 150 compacted call 50 output say 60"), [(1, 150), (1, 50), (1, 60)]);
    }

    #[test]
    fn every_copy_of_a_bill_belongs_to_its_response() {
        for words in ["prompt call 100 output 100 think 100", "prompt 100 100 call output 100 100"] {
            let session = session(words);
            let call = session.rows.iter().find(|row| row.kind == RowKind::Assistant).and_then(|row| row.message);
            let bills = session.rows.iter().filter(|row| row.kind == RowKind::Record);
            assert!(call.is_some() && bills.clone().count() > 2 && bills.clone().all(|row| row.message == call), "{words}");
        }
    }
}
