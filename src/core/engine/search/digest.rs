//! Digests: what earlier turns say about a text, in whole lines with their places, within a budget.

use super::Echoes;
use super::excerpt::{Passage, PassageKind};
use super::lines::{NamedPassage, PassageLine};
use super::passages::{Occurrences, take_best};
use super::query::Query;
use super::terms::{passage, whole_words};
use crate::engine::content::terms::without_line_number;
use crate::engine::report::label::short_target;
use crate::engine::{mask, tokens};
use crate::model::{Key, TraceContent, TraceEvent};
use crate::text::cut::{cut, one_line};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::fmt::Write;

/// Longest quoted start of a prompt, and longest name of a call, in characters.
const PROMPT_CHARS: usize = 80;
const CALL_CHARS: usize = 60;
/// Longest title of what someone said, in characters.
const TITLE_CHARS: usize = 120;
/// Part of a passage that is searched, in bytes from its start: what follows in longer ones is mostly data.
const PASSAGE_BYTES: usize = 16_000;
/// Passages at the top that are compared by their names.
const COMPARED: usize = 100;
/// Worth of a passage without new names, as a share of the value of all names.
const WITHOUT_NAMES: f32 = 0.02;
/// The score that a passage inherits from its turn, from its session and from the age of that, in shares of the best passage.
const TURN_PRIOR: f32 = 0.5;
const SESSION_PRIOR: f32 = 0.3;
const RECENT_PRIOR: f32 = 0.1;

/// A turn of an earlier session.
#[derive(Clone, Copy, Debug)]
pub struct EarlierTurn<'a> {
    pub session: &'a str,
    pub events: &'a [TraceEvent],
    /// Comparable among the turns of one query.
    pub score: f32,
}

/// A place in a turn.
#[derive(Clone, Debug)]
pub struct EarlierPlace<'a> {
    pub turn: usize,
    pub event: &'a TraceEvent,
    /// The call, or the first words.
    pub title: String,
}

/// The passages of turns, the oldest first.
pub struct EarlierPassages<'a> {
    turns: &'a [EarlierTurn<'a>],
    passages: Vec<Passage<'static>>,
    places: Vec<(usize, &'a TraceEvent)>,
    priors: Vec<f32>,
}

impl<'a> EarlierPassages<'a> {
    /// Takes the passages of turns, which are in the order of their times, without credentials and without searches of sessions.
    pub fn new(turns: &'a [EarlierTurn<'a>]) -> EarlierPassages<'a> {
        let highest = turns.iter().map(|turn| turn.score).fold(f32::MIN_POSITIVE, f32::max);
        let of_turns: Vec<f32> = turns.iter().map(|turn| turn.score / highest).collect();
        let mut of_sessions: FxHashMap<&str, (f32, usize)> = FxHashMap::default();
        for (at, turn) in turns.iter().enumerate() {
            let (sum, last) = of_sessions.entry(turn.session).or_default();
            *sum += of_turns[at];
            *last = at;
        }
        let best = of_sessions.values().map(|(sum, _)| *sum).fold(f32::MIN_POSITIVE, f32::max);
        let mut found = EarlierPassages { turns, passages: Vec::new(), places: Vec::new(), priors: Vec::new() };
        for (at, turn) in turns.iter().enumerate() {
            let mut echoes = Echoes::default();
            let (sum, last) = of_sessions[turn.session];
            let prior =
                TURN_PRIOR * of_turns[at] + SESSION_PRIOR * sum / best + RECENT_PRIOR * (last + 1) as f32 / turns.len() as f32;
            found.places.extend(turn.events.iter().filter(|event| !echoes.is_one(&event.content)).map(|event| (at, event)));
            found.priors.resize(found.places.len(), prior);
        }
        let masked = |(_, event): &(usize, &TraceEvent)| {
            // A text that the client inserted answers nothing.
            let nothing = || Passage::untitled(PassageKind::Result, "");
            let Passage { kind, title, text } = passage(event).unwrap_or_else(nothing);
            let text = mask(whole_words(&text, PASSAGE_BYTES)).into_owned();
            Passage { kind, title: title.into_owned().into(), text: text.into() }
        };
        found.passages = found.places.par_iter().map(masked).collect();
        found
    }

    /// Returns the places that answer a query, best first: each adds names to those before it.
    pub fn ranked<'b>(&'b self, query: &Query) -> Vec<EarlierPlace<'a>> {
        let occurrences = Occurrences::new(query, &self.passages);
        let ranked = occurrences.ranked(&self.priors);
        let (mut pool, mut values) = occurrences.named(&ranked, COMPARED);
        let total = values.values().sum::<f32>().max(f32::MIN_POSITIVE);
        let mut order = Vec::new();
        while let Some(NamedPassage { passage, names, .. }) = take_best(&mut pool, |NamedPassage { score, names, .. }| {
            let new: f32 = names.iter().map(|name| values.get(name).copied().unwrap_or_default()).sum();
            score.powi(2) * (new / total + WITHOUT_NAMES)
        }) {
            names.iter().for_each(|name| _ = values.remove(name));
            order.push(passage);
        }
        order.extend(ranked.iter().skip(COMPARED).map(|found| found.passage));
        let place = |passage: usize| {
            let (turn, event) = self.places[passage];
            let Passage { kind, text, .. } = &self.passages[passage];
            let title = if kind.field() == 2 { self.label(passage) } else { cut(&one_line(text), TITLE_CHARS) };
            EarlierPlace { turn, event, title }
        };
        order.into_iter().map(place).collect()
    }

    /// Returns what the turns say about a query that `known` texts do not, as whole lines with their places, in at most this many tokens
    /// by [`tokens::count`]; empty if nothing fits.
    pub fn digest(&self, query: &Query, known: &[&str], budget_tokens: usize) -> String {
        let lines = Occurrences::new(query, &self.passages).lines(&self.priors, known, budget_tokens);
        self.print(&lines[..tokens::most_within(budget_tokens, lines.len(), |count| self.print(&lines[..count]))])
    }

    fn print(&self, lines: &[PassageLine]) -> String {
        let mut order: Vec<usize> = Vec::new();
        for (passage, _) in lines {
            if !order.contains(&self.places[*passage].0) {
                order.push(self.places[*passage].0);
            }
        }
        let mut sorted: Vec<&PassageLine> = lines.iter().collect();
        sorted.sort_unstable_by_key(|(passage, place)| (*passage, place.start));
        let mut text = String::new();
        for turn in order {
            self.turn_line(turn, &mut text);
            let of_turn = || sorted.iter().filter(|(passage, _)| self.places[*passage].0 == turn);
            let mut last = None;
            for (passage, place) in of_turn() {
                if last.replace(passage) != Some(passage) {
                    let _ = writeln!(text, "#{} {}", self.places[*passage].1.block, self.label(*passage));
                }
                let _ = writeln!(text, "{}", without_line_number(&self.passages[*passage].text[place.clone()]).trim());
            }
        }
        text
    }

    fn turn_line(&self, turn: usize, text: &mut String) {
        let EarlierTurn { session, events, .. } = self.turns[turn];
        let date = jiff::Timestamp::from_millisecond(events.first().map_or(0, |event| event.time)).unwrap_or_default();
        let prompt = events.iter().find_map(|event| match &event.content {
            TraceContent::Prompt { text, .. } => Some(cut(&one_line(&mask(text)), PROMPT_CHARS)),
            _ => None,
        });
        let _ = writeln!(text, "{} {session} \"{}\"", date.strftime("%Y-%m-%d"), prompt.unwrap_or_default());
    }

    /// Returns who says a passage, or the call that it belongs to.
    fn label(&self, passage: usize) -> String {
        let (turn, event) = self.places[passage];
        let of_call = |id: Key| {
            self.turns[turn].events.iter().find_map(|event| match &event.content {
                TraceContent::Call(call) if call.id == id => Some(format!("{} {}", call.tool, short_target(&call.target, false))),
                _ => None,
            })
        };
        let label = match (&event.content, self.passages[passage].kind) {
            (TraceContent::Call(call), _) => of_call(call.id),
            (TraceContent::Result(result), _) => of_call(result.call).map(|call| format!("{call} →")),
            (_, PassageKind::Prompt) => Some("the user".to_owned()),
            (_, PassageKind::Summary) => Some("the summary".to_owned()),
            _ => Some("the agent".to_owned()),
        };
        cut(&one_line(&mask(&label.unwrap_or_else(|| "a result".to_owned()))), CALL_CHARS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{PromptSource, ToolVerb, TraceCall, TraceResult};

    /// The first of January 2026.
    const NEW_YEAR: i64 = 1_767_225_600_000;

    fn events(contents: Vec<TraceContent>) -> Vec<TraceEvent> {
        let event = |(block, content)| TraceEvent { block, row: format!("L{block}"), time: NEW_YEAR, turn: 1, content };
        (1..).zip(contents).map(event).collect()
    }

    fn prompt(text: &str) -> TraceContent {
        TraceContent::Prompt { text: text.to_owned(), source: PromptSource::Typed }
    }

    fn answer(text: &str) -> TraceContent {
        TraceContent::Answer(text.to_owned())
    }

    fn read(path: &str, text: &str) -> [TraceContent; 2] {
        let (tool, target, input) = ("Read".to_owned(), path.to_owned(), format!("{{\"path\":\"{path}\"}}"));
        let call = TraceCall { tool, verb: ToolVerb::Read, target, input, ..TraceCall::default() };
        let result = TraceResult { text: text.to_owned(), ..TraceResult::default() };
        [TraceContent::Call(call), TraceContent::Result(result)]
    }

    fn digest(query: &str, sessions: &[(&'static str, Vec<TraceContent>)], tokens: usize) -> String {
        let events: Vec<Vec<TraceEvent>> = sessions.iter().map(|(_, contents)| events(contents.clone())).collect();
        let turn = |(place, (session, _)): (usize, &(&'static str, Vec<TraceContent>))| EarlierTurn {
            session,
            events: &events[place],
            score: 1.0,
        };
        let turns: Vec<EarlierTurn<'_>> = sessions.iter().enumerate().map(turn).collect();
        EarlierPassages::new(&turns).digest(&Query::of_text(query), &[], tokens)
    }

    fn cache() -> Vec<TraceContent> {
        let [call, result] = read("/home/ann/src/cache.rs", "use std::fs;\n\nfn evict_oldest(cache: &Cache) {\n}\n");
        vec![prompt("make the cache smaller"), call, result, answer("The cache is halved now.\nNothing else changed.")]
    }

    #[test]
    fn a_digest_has_whole_lines_with_their_places() {
        let text = digest("why is the cache full", &[("a1b2c3d4", cache())], 500);
        assert!(text.starts_with("2026-01-01 a1b2c3d4 \"make the cache smaller\"\n"), "{text}");
        assert!(text.contains("Read src/cache.rs →\nuse std::fs;\nfn evict_oldest(cache: &Cache) {\n"), "{text}");
        assert!(text.contains("#4 the agent\nThe cache is halved now.\n"), "{text}");
    }

    #[test]
    fn a_digest_is_within_its_budget_and_grows_with_it() {
        let sessions = [("a1b2c3d4", cache())];
        let mut before = String::new();
        for budget in [0, 20, 40, 60, 100, 500] {
            let text = digest("why is the cache full", &sessions, budget);
            assert!(tokens::count(&text) <= budget);
            assert!(before.lines().all(|line| line.starts_with("[…") || text.contains(line)), "{text}");
            before = text;
        }
        assert_eq!(digest("unheard", &sessions, 500), "");
        assert_eq!(digest("cache", &[], 500), "");
    }

    #[test]
    fn a_digest_has_no_credentials() {
        let (_, secret, _) = crate::engine::secret_examples().into_iter().next().unwrap();
        let text =
            digest("cache", &[("a1b2c3d4", vec![prompt("the cache"), answer(&format!("the cache key is {secret}"))])], 500);
        assert!(text.contains("the cache key is") && !text.contains(&secret), "{text}");
    }

    #[test]
    fn of_places_each_adds_names_to_those_before_it() {
        let contents = vec![
            answer("cache: cacheSize cacheAge cacheKey"),
            answer("cache cacheSize cacheAge cacheKey again"),
            answer("cache with evictOldest"),
        ];
        let events = events(contents);
        let turns = [EarlierTurn { session: "a", events: &events, score: 1.0 }];
        let passages = EarlierPassages::new(&turns);
        let found: Vec<u32> = passages.ranked(&Query::of_text("cache")).into_iter().map(|place| place.event.block).collect();
        assert_eq!(found.iter().position(|block| *block == 3), Some(1), "{found:?}");
    }
}
