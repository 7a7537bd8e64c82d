//! The units of a session in their order of value.

use super::content::{LiveBlocks, Sources, contents_of, is_content};
use super::offers::offers;
use super::statements::Statement;
use super::worth::{LINE_BYTES, Piece, need, pieces, plain};
use super::{ALWAYS, LANES, Lane, OtherSession, Unit, Wanted};
use crate::engine::analysis::{Step, Successes};
use crate::engine::memory::{lost_failure, missing_program};
use crate::engine::reduce::is_progress;
use crate::engine::report::label::split_directory;
use crate::engine::search::Query;
use crate::engine::summary::{
    Part, PointKind, SessionSummary, Told, error_line, functions_in_work, is_chatter, looks_up, own_words,
};
use crate::engine::{Analysis, TurnForm, files_in_work, label, mask, plural};
use crate::model::paths::{is_absolute, is_windows_text, relative};
use crate::model::{Block, BlockKind, BlockNumber, Conventions, Tool, ToolVerb, Turn, Zone, starts_with_any};
use crate::text::cut::{cut, one_line};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hash::BuildHasher;
use std::ops::Range;

/// Newest prompts whose words come before everything else.
const PROMPTS: usize = 30;
/// The same, of prompts before the last compaction.
const COLD_PROMPTS: usize = 10;
/// Bytes above which a prompt is assumed to be mostly pasted, and its first and last lines that count as words of the user.
const LONG_PROMPT_BYTES: usize = 2_000;
const LONG_PROMPT_LINES: usize = 10;
const LAST_LINES: usize = 2;
/// Newest statements of the user that can replace older ones.
const STATEMENTS: usize = 300;
/// First lines of the newest prompt, which come before everything else.
const TASK_LINES: usize = 3;
/// Bytes of a line of a prompt or of the agent above which its sentences are lines.
const LONG_LINE_BYTES: usize = 600;
const FILES: usize = 150;
const COMMANDS: usize = 200;
/// The newest texts of the agent that come before its others.
const NEWEST_TEXTS: usize = 2;
/// Characters of a command, of a call that failed, and of an error line.
const COMMAND_CHARACTERS: usize = 160;
const FAILED_CHARACTERS: usize = 100;
const ERROR_CHARACTERS: usize = 130;
/// Calls that are named with an error.
const FAILED_CALLS: usize = 3;
/// Bytes that a command costs in addition to its own.
const COMMAND_BYTES: usize = 10;
/// Characters of the title of a call or result.
const TITLE_CHARACTERS: usize = 50;
/// Pieces of a call or result.
const RECORD_PIECES: usize = 400;
/// Headers of turns, those that every pack has, the newest turns whose texts are in other sections, and those before whose key points are
/// listed.
const HEADERS: usize = 200;
const NEWEST_HEADERS: usize = 3;
const WHOLE_TURNS: usize = 5;
const SUMMARIZED_TURNS: usize = 5;
/// Lines of the header and the summary of a turn, at most.
const SUMMARY_LINES: u32 = 100;
const QUERY_LINES: usize = 300;

/// Returns all units, without their tokens, the most valuable first, and how many of them every pack has.
pub(super) fn units(reading: &Analysis, sources: &Sources, wanted: &Wanted, clock: &dyn Fn(i64) -> String) -> (Vec<Unit>, usize) {
    let live = LiveBlocks::new(reading, sources);
    let contents = contents_of(reading, sources);
    let told = Told::new(reading, &contents);
    let mut units = Units::default();
    units.turns(&told, clock);
    units.requested(&live, wanted, &told, clock);
    units.words(&live);
    units.summary(&told.session());
    units.parts(Lane::Open, told.turns().len().checked_sub(1).map(|newest| told.open(newest)));
    if let Some(query) = &wanted.query {
        units.about(&live, query);
    }
    units.files(reading);
    units.parts(Lane::Functions, Some(functions_in_work(reading, &contents)));
    units.commands(&live);
    units.failures(&live);
    units.agent(&live);
    units.content(&live);
    units.parts(Lane::Decisions, (0..told.turns().len()).rev().map(|at| told.decided(at)));
    units.sessions(&wanted.sessions);
    let least = LANES.iter().zip(&units.lanes).filter(|(row, _)| row.start == ALWAYS).map(|(_, units)| units.len()).sum();
    (units.in_order(wanted.seed), least)
}

/// Collects the units of each lane.
#[derive(Default)]
struct Units {
    lanes: [Vec<Unit>; LANES.len()],
    /// Texts so far: each line is taken once, where it is newest.
    seen: FxHashSet<String>,
    /// Titles of entries, each with its place among units.
    titles: FxHashMap<String, u32>,
    /// Statements of the user so far.
    stated: Vec<Statement>,
}

impl Units {
    /// Returns the units in the order of value. The seed decides between units of equal value; 0 keeps the order of the lanes.
    fn in_order(self, seed: u64) -> Vec<Unit> {
        let mut keyed: Vec<(f64, Unit)> = Vec::new();
        for (row, units) in LANES.iter().zip(self.lanes) {
            let mut place = row.start;
            for unit in units {
                // Tokens are approximated by bytes, so that the order does not depend on the model.
                place += (unit.text.len() + 1) as f64 / 4.0 / row.share;
                keyed.push((place, unit));
            }
        }
        let tie = |unit: &Unit| if seed == 0 { 0 } else { FxBuildHasher.hash_one((seed, &unit.text)) };
        keyed.sort_by(|(one, unit), (other, second)| one.total_cmp(other).then_with(|| tie(unit).cmp(&tie(second))));
        keyed.into_iter().map(|(_, unit)| unit).collect()
    }

    fn push(&mut self, lane: Lane, block: Option<BlockNumber>, title: &str, place: (u32, u32), text: String) {
        if let Some(at) = LANES.iter().position(|row| row.lane == lane) {
            self.lanes[at].push(Unit { section: LANES[at].section, block, text, title: title.into(), tokens: 0.0, place });
        }
    }

    /// Adds an entry of a list, once, after the lines of blocks. Entries with the same title follow each other.
    fn entry(&mut self, lane: Lane, block: Option<BlockNumber>, title: &str, text: &str) {
        let count = self.lanes.iter().map(Vec::len).sum::<usize>() as u32;
        let first = if title.is_empty() { 0 } else { *self.titles.entry(title.to_owned()).or_insert(count + 1) };
        let place = (u32::MAX / 2 + first, count);
        let number = block.map(|block| format!(" #{block}")).unwrap_or_default();
        let text = one_line(text);
        if !text.is_empty() && self.seen.insert(format!("{title}{text}")) {
            self.push(lane, block, title, place, format!("- {text}{number}"));
        }
    }

    /// Adds lines of a block that no unit has so far, after the number of the block.
    fn lines<'a>(&mut self, lane: &dyn Fn(usize) -> Lane, block: &Block, lines: impl Iterator<Item = &'a str>) {
        let title = format!("#{} ", block.number);
        let mut is_first = true;
        for (at, line) in lines.enumerate() {
            let line = line.trim_end();
            if line.trim().is_empty() || !self.seen.insert(line.trim().to_owned()) {
                continue;
            }
            let line = if std::mem::take(&mut is_first) { line.trim_start() } else { line };
            for line in if line.len() > LONG_LINE_BYTES { pieces_of(line) } else { vec![line] } {
                self.push(lane(at), Some(block.number), &title, (block.number, at as u32), line.to_owned());
            }
        }
    }

    /// Adds the words of the user, the newest prompt first. The message of a hook in the user's name is a failure.
    fn words(&mut self, live: &LiveBlocks<'_>) {
        let conventions = live.reading.session.conventions;
        let prompts = live.blocks.iter().rev().filter_map(|block| Some((*block, &live.source(block)?.words)));
        let offers = offers(live);
        let mut answered: Vec<(Lane, BlockNumber, &String)> = Vec::new();
        let mut newest = Lane::Task;
        let mut at = 0;
        for (block, words) in prompts.filter(|(_, words)| !words.is_empty()) {
            let own: Vec<&str> = words.iter().filter_map(|words| own_words(block, words, conventions)).collect();
            if own.iter().any(|words| starts_with_any(words, &conventions.hook_messages)) {
                self.lines(&|_| Lane::Failed, block, own.iter().flat_map(|words| words.lines()));
                continue;
            }
            if own.is_empty() || own.iter().all(|words| conventions.is_client_command(words)) {
                continue;
            }
            let mut lines: Vec<&str> = own.iter().flat_map(|words| words.lines()).collect();
            let mut rules: FxHashSet<usize> = FxHashSet::default();
            for (at, line) in lines.iter_mut().enumerate().rev() {
                let Some(statement) = Statement::of(line, block.rules().any(|rule| line.contains(rule))) else { continue };
                if self.stated.iter().any(|newer| newer.replaces(&statement)) {
                    *line = "";
                    continue;
                }
                rules.insert(at);
                if self.stated.len() < STATEMENTS {
                    self.stated.push(statement);
                }
            }
            let pasted = pasted_lines(&lines);
            // The last compaction told the model what was said before it.
            let is_cold = block.position.zone == Zone::Cold && !live.repeated.contains(&block.hash);
            let lane = |line: usize| match () {
                () if pasted.contains(&line) => Lane::PastedWords,
                () if newest == Lane::Task && line < TASK_LINES => Lane::Task,
                () if rules.contains(&line) => Lane::Rules,
                () if at >= if is_cold { COLD_PROMPTS } else { PROMPTS } => Lane::OlderWords,
                () if newest == Lane::Task => Lane::RestOfTask,
                () => newest,
            };
            self.lines(&lane, block, lines.into_iter());
            if let Some((said, offer)) = offers.get(&block.number) {
                answered.push((if newest == Lane::Task { Lane::Open } else { Lane::OlderWords }, *said, offer));
            }
            at += 1;
            if block.kind == BlockKind::Text {
                newest = Lane::Words;
            }
        }
        // The words of the user precede what they answer.
        for (lane, said, offer) in answered {
            self.push(lane, Some(said), &format!("#{said} agent: "), (said, 0), mask(offer).into_owned());
        }
    }

    fn parts(&mut self, lane: Lane, lists: impl IntoIterator<Item = Vec<Part>>) {
        for part in lists.into_iter().flatten() {
            self.entry(lane, part.block, "", &part.text);
        }
    }

    /// Adds the lines with most words of a query, the newest first among equals.
    fn about(&mut self, live: &LiveBlocks<'_>, query: &Query) {
        let matcher = query.matcher();
        let mut found: Vec<(u32, &Block, u32, String)> = Vec::new();
        for block in live.blocks.iter().rev() {
            let Some(text) = text_of(live, block) else { continue };
            for (at, line) in text.lines().enumerate().filter(|(_, line)| LINE_BYTES.contains(&line.trim().len())) {
                let mut terms = 0u64;
                matcher.find(line, |term, _, _| terms |= 1 << term);
                if terms != 0 {
                    found.push((terms.count_ones(), block, at as u32, line.to_owned()));
                }
            }
        }
        found.sort_by_key(|(terms, ..)| Reverse(*terms));
        for (_, block, at, line) in found.into_iter().take(QUERY_LINES) {
            let line = plain(&line).trim();
            if self.seen.insert(line.to_owned()) {
                self.push(Lane::Query, Some(block.number), "", (block.number, at), format!("#{} {line}", block.number));
            }
        }
    }

    fn files(&mut self, reading: &Analysis) {
        let directory = reading.directory();
        for file in files_in_work(reading, FILES) {
            let edited = if file.edited { " (edited)" } else { "" };
            // Calls name files by their whole paths.
            let is_whole = is_absolute(&file.path) || directory.is_empty() || file.path.starts_with('~');
            let separator = if is_windows_text(directory) { '\\' } else { '/' };
            let path = if is_whole { file.path } else { format!("{directory}{separator}{}", file.path) };
            self.entry(Lane::Files, Some(file.block), "", &format!("{path}{edited}"));
        }
    }

    /// Adds the commands that worked, by the directory to which they change: new, short and often run ones first.
    fn commands(&mut self, live: &LiveBlocks<'_>) {
        let calls = live.blocks.iter().filter(|block| block.kind == BlockKind::ToolUse && block.has_verb(ToolVerb::Run));
        let (mut runs, mut forms): (FxHashMap<&str, usize>, FxHashMap<&str, usize>) = Default::default();
        for target in calls.map(|block| live.target(block)) {
            *runs.entry(target).or_default() += 1;
            *forms.entry(stem(target)).or_default() += 1;
        }
        let has_worked = |block: &Block, target: &str| block.has_verb(ToolVerb::Run) && !has_failed(live, block, target);
        let results = live.last_results().into_iter().filter(|(block, target)| has_worked(block, target));
        let mut named: FxHashSet<String> = FxHashSet::default();
        let mut ranked: Vec<(f64, &Block, String)> = Vec::new();
        for (age, (block, target)) in results.take(COMMANDS).enumerate() {
            let count = |counts: &FxHashMap<&str, usize>, key: &str| counts.get(key).copied().unwrap_or(1) as f64;
            let (runs, of_form) = (count(&runs, &target), count(&forms, stem(&target)));
            // Of commands that differ only in how their output is cut, the newest is the one to run again.
            let uses = if named.insert(stem(&target).to_owned()) { (runs + of_form) / 2.0 } else { runs / 2.0 };
            let bytes = COMMAND_BYTES + split_directory(&target).1.len().min(COMMAND_CHARACTERS);
            ranked.push(((age + 2) as f64 / uses * bytes as f64, block, target));
        }
        ranked.sort_by(|(one, ..), (other, ..)| one.total_cmp(other));
        for (_, block, target) in ranked {
            let (change, command) = split_directory(&target);
            let shown = |text: &str| format!("`{}`", mask(&cut(&one_line(text), COMMAND_CHARACTERS)));
            let title = if change.is_empty() { String::new() } else { format!("{}, then:\n", shown(change)) };
            self.entry(Lane::Commands, Some(block.number), &title, &shown(command));
        }
    }

    /// Adds the calls that failed and did not succeed later, those with the same error together, the newest first; those of which only
    /// the output tells it after them, and those that a later call made good in other words last, marked.
    fn failures(&mut self, live: &LiveBlocks<'_>) {
        let conventions = live.reading.session.conventions;
        let results = live.last_results();
        let mut forms: FxHashSet<&str> = FxHashSet::default();
        let newest = results.iter().filter(|(block, target)| block.has_verb(ToolVerb::Run) && forms.insert(stem(target)));
        let newest: FxHashMap<String, bool> =
            newest.map(|(block, target)| (stem(target).to_owned(), has_failed(live, block, target))).collect();
        let (mut failed, others): (Vec<_>, Vec<_>) =
            results.into_iter().partition(|(block, target)| has_failed(live, block, target));
        // Of commands that differ only in how their output is cut, the newest tells if they still fail.
        failed.retain(|(block, target)| block.error || newest.get(stem(target)).is_none_or(|fails| *fails));
        failed.sort_by_key(|(block, _)| !block.error);
        let mut successes = Successes::default();
        others.iter().for_each(|(block, target)| successes.add(block, target));
        let commands = others.iter().filter(|(block, _)| block.has_verb(ToolVerb::Run));
        let done = commands.flat_map(|(block, target)| Step::of(target).into_iter().flatten().map(|step| (block.number, step)));
        let done: Vec<(BlockNumber, Step)> = done.collect();
        let is_made_good = |block: &Block, target: &str| {
            let steps: Option<Vec<Step>> = Step::of(target).into_iter().collect();
            let is_done = |step: &Step| done.iter().any(|(number, other)| *number > block.number && step.is_repeated_by(other));
            block.has_verb(ToolVerb::Run) && steps.is_some_and(|steps| !steps.is_empty() && steps.iter().all(is_done))
        };
        let mut errors: Vec<(String, &Block, Vec<String>, bool)> = Vec::new();
        for (block, target) in failed.into_iter().filter(|(block, target)| successes.after(block, target).is_none()) {
            let Some((source, tool)) = live.source(block).zip(block.tool.as_deref()) else { continue };
            let lost = own_failure(live, block, &target).map(|line| cut(line, ERROR_CHARACTERS));
            let Some(error) = lost.or_else(|| failure(&source.text, tool, &target, conventions)) else { continue };
            // Another program does not make good that one is missing, nor what the user declined.
            let is_lasting = missing_program(&error).is_some() || conventions.declines(&source.text);
            let is_made_good = !is_lasting && is_made_good(block, &target);
            let call = match tool.verb {
                verb if verb == ToolVerb::Run || verb.names_file() => {
                    relative(split_directory(&target).1, live.reading.directory()).to_owned()
                }
                _ => label(block),
            };
            let later = if is_made_good { " (a later call worked)" } else { "" };
            let call = format!("`{}`{later}", mask(&cut(&one_line(&call), FAILED_CHARACTERS)));
            let cause = missing_program(&error).unwrap_or(&error);
            match errors.iter_mut().find(|(known, ..)| missing_program(known).unwrap_or(known) == cause) {
                Some((_, _, calls, _)) => calls.push(call),
                None => errors.push((error, block, vec![call], is_made_good)),
            }
        }
        errors.sort_by_key(|(.., is_made_good)| *is_made_good);
        for (error, block, mut calls, _) in errors {
            let more = calls.len().saturating_sub(FAILED_CALLS);
            let more = if more > 0 { format!(" and {}", plural(more, "other call")) } else { String::new() };
            calls.truncate(FAILED_CALLS);
            let lane = if block.error { Lane::Failed } else { Lane::FailedUnmarked };
            self.entry(lane, Some(block.number), "", &format!("{}{more}: {error}", calls.join(", ")));
        }
    }

    /// Adds the texts of the agent, the newest first, without lines that only announce an action.
    fn agent(&mut self, live: &LiveBlocks<'_>) {
        let mut newest = 0;
        for block in live.texts() {
            let Some(source) = live.source(block) else { continue };
            let lane = if newest < NEWEST_TEXTS { Lane::Newest } else { Lane::Agent };
            let before = self.seen.len();
            self.lines(&|_| lane, block, source.text.lines().filter(|line| !is_chatter(line)));
            newest += usize::from(self.seen.len() > before);
        }
    }

    /// Adds pieces of edits and results: those worth most for their size beside what is shown.
    fn content(&mut self, live: &LiveBlocks<'_>) {
        let need = need(live);
        let records = live.records().filter_map(|block| Some((block, record_text(live, block)?)));
        let texts: Vec<(&Block, String)> = records.collect();
        let olds: Vec<String> = texts.iter().map(|(block, _)| replaced_text(live, block)).collect();
        let told = |block: &Block, line: &&str| is_code(block) || !is_progress(line);
        let lines: Vec<Vec<&str>> =
            texts.iter().map(|(block, text)| text.lines().map(plain).filter(|line| told(block, line)).collect()).collect();
        let mut candidates: Vec<(usize, Piece)> = Vec::new();
        let mut replaced: FxHashSet<&str> = FxHashSet::default();
        for (at, (block, _)) in texts.iter().enumerate() {
            // Newer edits replaced most of these lines.
            let is_current = |piece: &Piece| {
                let lines = &lines[at][piece.lines.clone()];
                lines.iter().filter(|line| replaced.contains(line.trim())).count() * 2 < lines.len()
            };
            let pieces = pieces(&lines[at], is_code(block)).into_iter().filter(is_current);
            candidates.extend(pieces.take(RECORD_PIECES).map(|piece| (at, piece)));
            let new: FxHashSet<&str> = lines[at].iter().map(|line| line.trim()).collect();
            replaced.extend(olds[at].lines().map(str::trim).filter(|line| line.len() >= LINE_BYTES.start && !new.contains(line)));
        }
        let mut shown: FxHashSet<u32> = FxHashSet::default();
        // Worths are not negative, so that their bits have their order.
        let worth = |at: usize, shown: &FxHashSet<u32>| {
            let (text, piece) = &candidates[at];
            piece.worth(&need, texts[*text].0, shown).to_bits()
        };
        let mut queue: BinaryHeap<(u32, Reverse<usize>)> =
            (0..candidates.len()).map(|at| (worth(at, &shown), Reverse(at))).collect();
        while let Some((before, Reverse(at))) = queue.pop() {
            // Worths only decrease while more is shown.
            let now = worth(at, &shown);
            if f32::from_bits(now) <= 0.0 {
                continue;
            }
            if now < before && queue.peek().is_some_and(|(next, _)| *next > now) {
                queue.push((now, Reverse(at)));
                continue;
            }
            let (text, piece) = &candidates[at];
            piece.show(&mut shown);
            let (block, lines) = (texts[*text].0, &lines[*text][piece.lines.clone()]);
            let is_seen = |line: &&str| line.trim().len() < LINE_BYTES.start || self.seen.contains(line.trim());
            if lines.iter().all(is_seen) {
                continue;
            }
            self.seen.extend(lines.iter().map(|line| line.trim().to_owned()));
            let place = (block.number, piece.lines.start as u32);
            let title = format!("#{} {}:\n", block.number, cut(&mask(&label(block)), TITLE_CHARACTERS));
            self.push(Lane::Content, Some(block.number), &title, place, lines.join("\n"));
        }
    }

    /// Adds the headers of turns and the key points of some, the newest first.
    fn turns(&mut self, told: &Told<'_>, clock: &dyn Fn(i64) -> String) {
        let headers = told.turns().enumerate().rev().map(|(at, turn)| (at, turn, told.header(at, clock)));
        let headers = headers.filter(|(_, _, header)| !header.text.is_empty());
        for (rank, (at, turn, head)) in headers.take(HEADERS).enumerate() {
            let lane = if rank < NEWEST_HEADERS { Lane::Headers } else { Lane::Turns };
            self.entry(lane, None, "", &format!("turn {}: {}", turn.number, head.text));
            if !(WHOLE_TURNS..WHOLE_TURNS + SUMMARIZED_TURNS).contains(&rank) {
                continue;
            }
            // Other sections have the words of the user.
            let summary = told.turn(at, clock).summary;
            let points = summary.points.iter().filter(|point| !matches!(point.kind, PointKind::Asked | PointKind::Replied));
            let points: Vec<String> = points.map(|point| format!("{}: {}", point.kind.label(), point.text())).collect();
            if !points.is_empty() {
                self.entry(Lane::Points, None, "", &format!("turn {}: {}", turn.number, points.join("; ")));
            }
        }
        let older = told.turns().len().saturating_sub(HEADERS);
        if older > 0 {
            self.entry(Lane::Turns, None, "", &format!("{} before", plural(older, "turn")));
        }
    }

    /// Adds the requested turns: the headers of all, then their key points or texts.
    fn requested(&mut self, live: &LiveBlocks<'_>, wanted: &Wanted, told: &Told<'_>, clock: &dyn Fn(i64) -> String) {
        let turns: Vec<(usize, &Turn)> =
            told.turns().enumerate().filter(|(_, turn)| wanted.turns.contains(turn.number)).collect();
        let first = |turn: &Turn| turn.blocks.first().copied().unwrap_or_default();
        for (at, turn) in &turns {
            let header = format!("turn {}: {}", turn.number, told.header(*at, clock).text);
            self.push(Lane::Requested, None, "", (first(turn), 0), header);
        }
        if matches!(wanted.form, TurnForm::Summary | TurnForm::Mixed) {
            for (at, turn) in &turns {
                for (line, text) in told.turn(*at, clock).summary.text.lines().enumerate() {
                    self.push(Lane::Requested, None, "", (first(turn), line as u32 + 1), text.to_owned());
                }
            }
        }
        let is_wanted = |block: &&&Block| wanted.turns.contains(block.position.turn) && is_content(block);
        for block in live.blocks.iter().filter(|_| wanted.form.has_full_texts()).filter(is_wanted) {
            let text = text_of(live, block).unwrap_or_default();
            let title = match block.kind {
                BlockKind::Text => format!("#{} {}: ", block.number, block.role.name()),
                _ => format!("#{} {}:\n", block.number, cut(&mask(&label(block)), TITLE_CHARACTERS)),
            };
            for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
                // The lines of the first block follow those of the summary.
                let place = (block.number, at as u32 + SUMMARY_LINES);
                self.seen.insert(line.trim().to_owned());
                self.push(Lane::Requested, Some(block.number), &title, place, line.trim_end().to_owned());
            }
        }
    }

    /// Adds what the summary of the session says beyond the other sections: the first goal, and the last one if it is not the task;
    /// state and next steps; then results and the course of the session.
    fn summary(&mut self, session: &SessionSummary) {
        let of = |kind: PointKind| session.summary.points.iter().filter(move |point| point.kind == kind);
        for parts in of(PointKind::Objective).map(|point| &point.parts) {
            let last = parts.iter().position(|part| part.text.starts_with("now: ")).unwrap_or_default();
            let text = |parts: &[Part]| parts.iter().map(|part| &*part.text).collect::<Vec<_>>().join(" ");
            if last > 0 {
                let first = text(&parts[..last]);
                self.entry(Lane::Current, None, "", &format!("first goal: {}", first.strip_prefix("first: ").unwrap_or(&first)));
            }
            let tasks = LANES.iter().zip(&self.lanes).filter(|(row, _)| row.lane == Lane::Task).flat_map(|(_, units)| units);
            // The prompt of another agent is not among the words of the user.
            if !tasks.into_iter().any(|unit| unit.block == parts[last].block) {
                let goal = text(&parts[last..]);
                self.entry(Lane::Current, None, "", &format!("goal: {}", goal.strip_prefix("now: ").unwrap_or(&goal)));
            }
        }
        for (kind, lane) in [
            (PointKind::State, Lane::Current),
            (PointKind::Next, Lane::Current),
            (PointKind::Achieved, Lane::Summary),
            (PointKind::Narrative, Lane::Summary),
        ] {
            of(kind).for_each(|point| self.entry(lane, None, "", &format!("{}: {}", kind.label(), point.text())));
        }
    }

    /// Adds other sessions: the headers of all, and the summaries of the newest.
    fn sessions(&mut self, sessions: &[OtherSession]) {
        for (at, session) in sessions.iter().enumerate() {
            self.push(Lane::Sessions, None, "", (at as u32, 0), format!("- {}", session.header));
            for (line, text) in session.summary.lines().enumerate() {
                self.push(Lane::SessionPoints, None, "", (at as u32, line as u32 + 1), format!("  {text}"));
            }
        }
    }
}

/// Returns the line that tells the failure of a command whose exit code does not.
fn own_failure<'a>(live: &LiveBlocks<'a>, block: &Block, target: &str) -> Option<&'a str> {
    let source = live.source(block).filter(|_| block.has_verb(ToolVerb::Run) && !block.error)?;
    lost_failure(target, &source.text)
}

fn has_failed(live: &LiveBlocks<'_>, block: &Block, target: &str) -> bool {
    block.error || own_failure(live, block, target).is_some()
}

/// Returns the lines of a prompt that are assumed to be pasted: of a long one all but the first and last.
fn pasted_lines(lines: &[&str]) -> Range<usize> {
    let bytes: usize = lines.iter().map(|line| line.len()).sum();
    let is_long = bytes > LONG_PROMPT_BYTES && lines.len() > LONG_PROMPT_LINES;
    if is_long { LONG_PROMPT_LINES..lines.len() - LAST_LINES } else { 0..0 }
}

/// Returns the sentences of a long line; of one without spaces, such as data, the first.
fn pieces_of(line: &str) -> Vec<&str> {
    let pieces = crate::text::sentence::sentences(line).map(|part| line[part].trim());
    let is_text = |piece: &&str| piece.len() <= LONG_LINE_BYTES || piece.split(' ').all(|word| word.len() < LONG_LINE_BYTES);
    pieces.filter(is_text).collect()
}

/// Returns the first and the telling line of an error; of a rejection, the first sentences of the client. `None` if the call was
/// cancelled, or looked for something and found nothing.
fn failure(text: &str, tool: &Tool, target: &str, conventions: &Conventions) -> Option<String> {
    if conventions.cancelled.iter().any(|mark| text.contains(mark)) {
        return None;
    }
    let text = conventions.error_tags.iter().fold(text.to_owned(), |text, tag| text.replace(tag, ""));
    let is_own = |line: &&str| !line.is_empty() && !starts_with_any(line, &conventions.envelope_lines);
    let first = text.lines().map(str::trim).find(is_own).unwrap_or_default();
    if starts_with_any(first, &conventions.declined) {
        return Some(first.split(" (").next().unwrap_or_default().to_owned());
    }
    let Some(error) = error_line(&text, tool, target, conventions) else {
        let is_search = tool.verb == ToolVerb::Run && looks_up(tool, target);
        return (!is_search).then(|| cut(first, ERROR_CHARACTERS));
    };
    let (first, error) = (cut(first, ERROR_CHARACTERS), cut(&error, ERROR_CHARACTERS));
    Some(if first == error { first } else { format!("{first} · {error}") })
}

/// Returns a command without the part that cuts its output.
fn stem(target: &str) -> &str {
    let end = ["2>&1", "|"].iter().filter_map(|mark| target.rfind(mark)).min();
    target[..end.unwrap_or(target.len())].trim()
}

/// Returns true if a record holds code, whose lines belong together.
fn is_code(block: &Block) -> bool {
    block.kind == BlockKind::ToolUse || block.has_verb(ToolVerb::Read)
}

/// Returns the text of a call or result from which pieces are taken; `None` if a list has it.
fn record_text(live: &LiveBlocks<'_>, block: &Block) -> Option<String> {
    let is_edit = block.has_verb(ToolVerb::Edit);
    // The result of an edit confirms it, and repeats its text. A call that failed is in the list of failures.
    if block.kind == BlockKind::ToolResult && (is_edit || block.error) {
        return None;
    }
    let text = text_of(live, block)?;
    // A command of one line is in the list of commands.
    if block.kind == BlockKind::ToolUse && text.lines().count() < 2 {
        return None;
    }
    Some(live.reading.session.conventions.own_result(&text).into_owned())
}

fn replaced_text(live: &LiveBlocks<'_>, block: &Block) -> String {
    let is_edit = block.kind == BlockKind::ToolUse && block.has_verb(ToolVerb::Edit);
    let source = live.source(block).filter(|_| is_edit);
    let names = &live.reading.session.conventions.inputs;
    source.map(|source| names.replaced_texts(&source.text)).unwrap_or_default()
}

/// Returns the text of a block for people: of a call the texts that it writes.
fn text_of(live: &LiveBlocks<'_>, block: &Block) -> Option<String> {
    let source = live.source(block)?;
    let names = &live.reading.session.conventions.inputs;
    Some(if block.kind == BlockKind::ToolUse { names.written_texts(&source.text) } else { source.text.clone() })
}
