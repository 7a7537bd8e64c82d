//! Asks the index, and reads what it finds.

use super::source::{Source, SourceKind};
use super::update::{Indexed, hidden_values};
use crate::engine::Known;
use crate::engine::search::{
    Candidate, Echoes, HiddenValues, Match, Matcher, Passage, PassageKind, Query, candidates, nearest, passage, rate,
    read_postings,
};
use crate::fsio::Disk;
use crate::model::limits::DAY_MILLISECONDS;
use crate::model::{Key, TraceContent, TraceEvent};
use crate::store::{IndexedTurn, SearchIndex};
use crate::workspace::{masked, named_in_file};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

/// Turns that are read to order them; the others keep their place behind these.
const READ_TURNS: usize = 40;
/// Turns that are read when many of them may lack what is asked for: a phrase, a role, a tool.
const MOST_READ_TURNS: usize = 600;
const TURNS_OF_SESSION: usize = 3;
/// Turns about a text that are read, and bytes of them.
const MOST_RELATED: usize = 24;
const RELATED_BYTES: u64 = 4 << 20;

/// Factor of a turn of the days that the query names in words.
const NAMED_DAYS: f32 = 1.3;

/// The properties of the turns that are wanted.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    pub blocks: Option<FxHashSet<u32>>,
    /// The earliest and the latest time, in milliseconds since 1970, UTC.
    pub since: Option<i64>,
    pub until: Option<i64>,
    pub roles: Vec<String>,
    pub kinds: Vec<PassageKind>,
    pub tools: Vec<String>,
    pub paths: Vec<String>,
}

impl Filter {
    pub(super) fn is_in_time(&self, time: i64) -> bool {
        self.since.is_none_or(|since| time >= since) && self.until.is_none_or(|until| time <= until)
    }

    pub(super) fn is_open(&self) -> bool {
        !self.is_narrow() && self.since.is_none() && self.until.is_none()
    }

    /// Returns true if it looks at contents.
    fn is_narrow(&self) -> bool {
        let is_wide = self.roles.is_empty() && self.kinds.is_empty() && self.tools.is_empty() && self.paths.is_empty();
        !is_wide || self.blocks.is_some()
    }

    fn wants(&self, passage: &Passage<'_>, call: &str) -> bool {
        let tool = call.split(' ').next().unwrap_or_default();
        (self.roles.is_empty() || self.roles.iter().any(|role| role == passage.kind.role()))
            && (self.kinds.is_empty() || self.kinds.contains(&passage.kind))
            && (self.tools.is_empty() || self.tools.iter().any(|name| name.eq_ignore_ascii_case(tool)))
            && (self.paths.is_empty()
                || self
                    .paths
                    .iter()
                    .any(|path| call.contains(path.as_str()) || passage.kind.field() < 2 && passage.text.contains(path.as_str())))
    }
}

/// A turn that matches.
#[derive(Clone, Debug)]
pub struct FoundTurn {
    pub source: usize,
    pub turn: IndexedTurn,
    /// The session that the row names, of a list of prompts.
    pub session: String,
    pub score: f32,
    pub found: Match,
}

/// The result of a search.
#[derive(Debug, Default)]
pub struct Hits {
    pub turns: Vec<FoundTurn>,
    /// The number of turns with any of the words.
    pub total: usize,
    /// True if turns with the words were not read.
    pub is_capped: bool,
    /// Words that nothing has, each with those that were searched in its place; none if it was left out.
    pub replaced: Vec<(String, Vec<String>)>,
    pub query: Query,
    /// The values that the shown sources name as credentials; `None` if they are not known.
    pub hidden: FxHashMap<usize, Option<HiddenValues>>,
}

/// Changes the scores of turns, which are in the order of their scores by words.
pub type Adjust<'a> = dyn Fn(&mut [FoundTurn]) + 'a;

/// The files that are searched.
pub struct Searched<'a> {
    pub disk: &'a dyn Disk,
    pub sources: &'a [Source],
    /// The index, which must be up to date, and the sources of its files.
    pub index: &'a SearchIndex,
    pub indexed: &'a Indexed,
    /// Returns the session that a source belongs to.
    pub session_of: &'a dyn Fn(usize) -> String,
    pub is_wanted: &'a dyn Fn(usize) -> bool,
    pub adjust: Option<&'a Adjust<'a>>,
    /// The current time, in milliseconds since 1970, UTC.
    pub now: i64,
}

/// A turn that is read, its source, and its score.
type Chosen = (usize, IndexedTurn, Candidate);

/// Returns the turns that match a query.
pub fn find(searched: &Searched<'_>, mut query: Query, filter: &Filter) -> rusqlite::Result<Hits> {
    let Searched { disk, sources, index, now, .. } = *searched;
    let mut replaced = Vec::new();
    let mut bytes: Vec<Vec<(u32, Vec<u8>)>> = Vec::with_capacity(query.terms.len());
    for term in &mut query.terms {
        let mut postings = index.postings(&term.keys)?;
        if postings.is_empty() && term.is_needed {
            let known = index.words_like(&term.keys[0])?;
            let like = nearest(&term.keys[0], known.iter().map(|(word, length)| (word.as_str(), *length)));
            replaced.push((term.text.clone(), like.clone()));
            if !like.is_empty() {
                postings = index.postings(&like)?;
                term.keys = like;
                term.is_replaced = true;
            }
        }
        bytes.push(postings);
    }
    let (candidates, weights) = candidates_of(searched, &query, &bytes)?;
    let total = candidates.len();
    let (chosen, is_capped) = choose(searched, candidates, &query, filter)?;
    let matcher = query.matcher();
    let reader = TurnReading { disk, matcher: &matcher, query: &query, weights: &weights, filter };
    let read = |(source, turn, candidate): &Chosen| {
        let (session, found) = reader.read(&sources[*source], turn, candidate)?;
        let days = (now - turn.time) / DAY_MILLISECONDS;
        let is_named = query.days_ago.is_some_and(|(first, last)| (first..=last).contains(&days));
        let factor = if is_named { found.factor * NAMED_DAYS } else { found.factor };
        Some(FoundTurn { source: *source, turn: *turn, session, score: candidate.score * factor, found })
    };
    let mut turns: Vec<FoundTurn> = chosen.par_iter().with_max_len(1).filter_map(read).collect();
    sort(&mut turns);
    if let Some(adjust) = searched.adjust {
        adjust(&mut turns);
        sort(&mut turns);
    }
    drop(matcher);
    Ok(Hits { turns, total, is_capped, replaced, query, hidden: FxHashMap::default() })
}

fn sort(turns: &mut [FoundTurn]) {
    turns.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.turn.time.cmp(&a.turn.time)));
}

/// Returns the turns that match a query, best first, and the weights of its terms. `bytes` are the postings of its terms.
fn candidates_of(
    searched: &Searched<'_>,
    query: &Query,
    bytes: &[Vec<(u32, Vec<u8>)>],
) -> rusqlite::Result<(Vec<Candidate>, Vec<f32>)> {
    let postings: Vec<_> =
        bytes.iter().map(|list| list.iter().map(|(first, bytes)| (*first, read_postings(bytes))).collect::<Vec<_>>()).collect();
    let turns = wanted_turns(searched)?;
    let continued = searched.index.continued()?;
    let turn_of = |turn: u32| continued.get(&turn).copied().unwrap_or(turn);
    let is_wanted = |turn: u32| turns.as_ref().is_none_or(|(turns, are_wanted)| turns.contains(&turn) == *are_wanted);
    Ok(candidates(query, &postings, searched.index.turn_count()?, &turn_of, &is_wanted))
}

/// Returns the turns of the wanted sources with true, or those of the others with false if they are fewer; `None` if all are wanted.
fn wanted_turns(searched: &Searched<'_>) -> rusqlite::Result<Option<(FxHashSet<u32>, bool)>> {
    let Searched { index, indexed, .. } = *searched;
    let of = |are_wanted: bool| -> Vec<i64> {
        indexed.iter().filter(|(_, source)| (searched.is_wanted)(**source) == are_wanted).map(|(file, _)| *file).collect()
    };
    let others = of(false);
    let is_all = indexed.len() == index.file_count()? as usize;
    match is_all && others.len() < indexed.len() / 2 {
        true if others.is_empty() => Ok(None),
        true => Ok(Some((index.turns_of(&others)?, false))),
        false => Ok(Some((index.turns_of(&of(true))?, true))),
    }
}

/// Returns the candidates that are read, each with its source: of each session the best, each content once.
fn choose(
    searched: &Searched<'_>,
    candidates: Vec<Candidate>,
    query: &Query,
    filter: &Filter,
) -> rusqlite::Result<(Vec<Chosen>, bool)> {
    let most =
        if query.phrases.is_empty() && query.without.is_empty() && !filter.is_narrow() { READ_TURNS } else { MOST_READ_TURNS };
    let (mut chosen, mut sessions, mut contents) = (Vec::new(), FxHashMap::<String, usize>::default(), FxHashSet::default());
    let mut is_capped = false;
    for candidate in candidates {
        if chosen.len() >= most {
            is_capped = true;
            break;
        }
        let Some((turn, source)) = indexed_turn(searched, candidate.turn)? else { continue };
        let is_in_time = filter.is_in_time(turn.time);
        let of_session = sessions.entry((searched.session_of)(source)).or_default();
        let is_enough = most == READ_TURNS && *of_session >= TURNS_OF_SESSION;
        is_capped |= is_enough;
        // The copies of a turn in resumed and forked sessions count once.
        if is_in_time && !is_enough && (turn.content == 0 || contents.insert(turn.content)) {
            *of_session += 1;
            chosen.push((source, turn, candidate));
        }
    }
    Ok((chosen, is_capped))
}

/// Returns a turn of the index and its source; `None` if its file is not among the sources.
fn indexed_turn(searched: &Searched<'_>, turn: u32) -> rusqlite::Result<Option<(IndexedTurn, usize)>> {
    Ok(searched.index.turn(turn)?.and_then(|turn| Some((turn, *searched.indexed.get(&turn.file)?))))
}

/// The query with which turns are compared.
struct TurnReading<'a> {
    disk: &'a dyn Disk,
    matcher: &'a Matcher<'a>,
    query: &'a Query,
    weights: &'a [f32],
    filter: &'a Filter,
}

impl TurnReading<'_> {
    /// Reads a turn from its file: first only what was said, if that has all words that the turn has. Returns the session that its row
    /// names, in a list of prompts.
    fn read(&self, source: &Source, turn: &IndexedTurn, candidate: &Candidate) -> Option<(String, Match)> {
        let reads_all = self.filter.is_narrow() || !self.query.without.is_empty();
        if !reads_all && candidate.has == candidate.is_said {
            let is_wanted = |line: &[u8]| !source.is_call(line) && self.matcher.could_match(line);
            let found = self.rate(source, turn, &is_wanted);
            if found.as_ref().is_some_and(|(_, found)| found.has & candidate.has == candidate.has) {
                return found;
            }
        }
        self.rate(source, turn, &|line| reads_all || self.matcher.could_match(line))
    }

    fn rate(&self, source: &Source, turn: &IndexedTurn, is_wanted: &dyn Fn(&[u8]) -> bool) -> Option<(String, Match)> {
        let events = source.events(self.disk, turn.start..turn.end.unwrap_or(u64::MAX), turn.block, is_wanted).ok()?;
        let session = match source.kind {
            SourceKind::Prompts(..) => events.first()?.row.clone(),
            SourceKind::Session(_) | SourceKind::Output(..) => String::new(),
        };
        let passages = passages(&events, self.filter);
        Some((session, rate(self.query, self.matcher, self.weights, &passages, turn.is_left)?))
    }
}

fn passages<'a>(events: &'a [TraceEvent], filter: &'a Filter) -> Vec<Passage<'a>> {
    let (mut echoes, mut selection) = (Echoes::default(), Selection::new(filter));
    let events = events.iter().filter(|event| !echoes.is_one(&event.content));
    events.filter_map(|event| selection.passage(event)).collect()
}

/// Selects the texts of the events of a file by a filter.
pub(super) struct Selection<'a> {
    filter: &'a Filter,
    /// The titles of the calls so far, if they are asked for.
    calls: FxHashMap<Key, String>,
}

impl Selection<'_> {
    pub(super) fn new(filter: &Filter) -> Selection<'_> {
        Selection { filter, calls: FxHashMap::default() }
    }

    pub(super) fn passage<'e>(&mut self, event: &'e TraceEvent) -> Option<Passage<'e>> {
        let passage = passage(event)?;
        if !self.filter.is_narrow() {
            return Some(passage);
        }
        let call = match &event.content {
            TraceContent::Call(call) => {
                self.calls.insert(call.id, passage.title.to_string());
                passage.title.to_string()
            }
            TraceContent::Result(result) => self.calls.get(&result.call).cloned().unwrap_or_default(),
            _ => String::new(),
        };
        let is_chosen = self.filter.blocks.as_ref().is_none_or(|blocks| blocks.contains(&event.block));
        Some(passage).filter(|passage| is_chosen && self.filter.wants(passage, &call))
    }
}

/// A turn that is about a text.
#[derive(Debug)]
pub struct RelatedTurn {
    pub session: String,
    /// Comparable among the turns of one text.
    pub score: f32,
    pub events: Vec<TraceEvent>,
}

/// Returns the turns that are about a text, the oldest first. Turns that cannot be read are left out.
pub fn related(searched: &Searched<'_>, query: &Query) -> rusqlite::Result<Vec<RelatedTurn>> {
    let Searched { index, indexed, .. } = *searched;
    let bytes: Vec<Vec<(u32, Vec<u8>)>> =
        query.terms.iter().map(|term| index.postings(&term.keys)).collect::<rusqlite::Result<_>>()?;
    let (candidates, _) = candidates_of(searched, query, &bytes)?;
    let (mut chosen, mut contents, mut left) = (Vec::new(), FxHashSet::default(), RELATED_BYTES);
    for candidate in candidates {
        if chosen.len() >= MOST_RELATED || left == 0 {
            break;
        }
        let Some((turn, source)) = indexed_turn(searched, candidate.turn)? else { continue };
        // The copies of a turn in resumed and forked sessions count once.
        if turn.is_left || turn.content != 0 && !contents.insert(turn.content) {
            continue;
        }
        let end = turn.end.unwrap_or(searched.sources[source].identity.bytes);
        left = left.saturating_sub(end.saturating_sub(turn.start));
        chosen.push((source, turn, candidate.score));
    }
    let read = |(source, turn, score): (usize, IndexedTurn, f32)| {
        let place = turn.start..turn.end.unwrap_or(u64::MAX);
        let mut events = searched.sources[source].events(searched.disk, place, turn.block, &|_| true).ok()?;
        searched.sources[source].name_rows(searched.disk, turn.start, &mut events).ok()?;
        Some((source, score, events))
    };
    chosen.sort_by_key(|(source, turn, _)| (turn.time, *source, turn.start));
    let read: Vec<(usize, f32, Vec<TraceEvent>)> = chosen.into_par_iter().filter_map(read).collect();
    let places: FxHashSet<usize> = read.iter().map(|(source, ..)| *source).collect();
    let names = |file: i64| hidden_values(index, file).is_none_or(|values| !values.is_empty());
    let naming = indexed.iter().filter(|(file, source)| places.contains(source) && names(**file));
    let named =
        |(_, source): (&i64, &usize)| Some((*source, named_in_file(searched.disk, searched.sources[*source].path()).ok()));
    let named: FxHashMap<usize, Option<Known>> = naming.filter_map(named).collect();
    let related = |(source, score, events): (usize, f32, Vec<TraceEvent>)| {
        let events = match named.get(&source) {
            None => events,
            // Without the file, nothing is known to be harmless.
            Some(known) => events.into_iter().map(|event| Some(masked(known.as_ref()?, event))).collect::<Option<_>>()?,
        };
        Some(RelatedTurn { session: (searched.session_of)(source), score, events })
    };
    Ok(read.into_iter().filter_map(related).collect())
}
