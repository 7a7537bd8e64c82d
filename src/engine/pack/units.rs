//! The units of a session in their order of value.

use super::content::{LiveBlocks, Sources, written};
use super::{LANES, Lane, Unit};
use crate::engine::reduce::without_number;
use crate::engine::search::Query;
use crate::engine::summary::{Contents, PointKind, TurnSummary, error_line, is_reply, summarize};
use crate::engine::{Analysis, files_in_work, label, mask};
use crate::model::paths::is_absolute;
use crate::model::{Block, BlockKind, BlockNumber, ToolVerb};
use crate::text::cut::{cut, one_line};
use rustc_hash::FxHashSet;

/// Newest prompts whose words come before everything else.
const PROMPTS: usize = 30;
/// Bytes above which a prompt is assumed to be mostly pasted, and its first lines that count as words of the user.
const LONG_PROMPT_BYTES: usize = 2_000;
const LONG_PROMPT_LINES: usize = 10;
/// Entries of lists.
const FILES: usize = 150;
const COMMANDS: usize = 200;
/// Characters of a command and of an error line.
const COMMAND_CHARACTERS: usize = 200;
const ERROR_CHARACTERS: usize = 160;
/// Characters of the title of a call or result.
const TITLE_CHARACTERS: usize = 80;
/// Lines of a call or result, and their lengths in bytes: shorter ones hold no statement, longer ones are data.
const RECORD_LINES: usize = 30;
const RECORD_LINE_BYTES: std::ops::RangeInclusive<usize> = 12..=300;
/// Lines about a query.
const QUERY_LINES: usize = 300;

/// Returns the directory of the session.
pub(super) fn directory(reading: &Analysis) -> &str {
    reading.session.latest_origin().map_or("", |origin| origin.directory.as_str())
}

/// Returns all units, without their tokens, the most valuable first.
pub(super) fn units(reading: &Analysis, sources: &Sources, query: Option<&Query>, clock: &dyn Fn(i64) -> String) -> Vec<Unit> {
    let live = LiveBlocks::new(reading);
    let contents: Contents = sources
        .iter()
        .filter_map(|(number, source)| {
            let text = if is_reply(reading.block(*number)?) { source.words.join("\n") } else { source.text.clone() };
            Some((*number, text))
        })
        .collect();
    let (mut turns, _) = summarize(reading, &contents, clock);
    turns.retain(|turn| turn.live);
    let mut units = Units::default();
    units.words(&live, sources);
    units.open(&turns);
    if let Some(query) = query {
        units.about(reading, &live, sources, query);
    }
    units.files(reading);
    units.calls(reading, &live, sources);
    units.agent(&live, sources);
    units.content(reading, &live, sources);
    units.points(Lane::Decisions, &turns, PointKind::Decided);
    units.turns(&turns);
    units.in_order()
}

/// Collects the units of each lane.
#[derive(Default)]
struct Units {
    lanes: [Vec<Unit>; LANES.len()],
    /// Texts so far: each line is taken once, where it is newest.
    seen: FxHashSet<String>,
}

impl Units {
    /// Returns the units in the order of value.
    fn in_order(self) -> Vec<Unit> {
        let mut keyed: Vec<(f64, Unit)> = Vec::new();
        for (row, units) in LANES.iter().zip(self.lanes) {
            let mut place = row.start;
            for unit in units {
                // Tokens are approximated by bytes, so that the order does not depend on the model.
                place += (unit.text.len() + 1) as f64 / 4.0 / row.share;
                keyed.push((place, unit));
            }
        }
        keyed.sort_by(|(one, _), (other, _)| one.total_cmp(other));
        keyed.into_iter().map(|(_, unit)| unit).collect()
    }

    fn push(&mut self, lane: Lane, block: Option<BlockNumber>, place: (u32, u32), text: String) {
        if let Some(at) = LANES.iter().position(|row| row.lane == lane) {
            self.lanes[at].push(Unit { section: LANES[at].section, block, text, tokens: 0.0, place });
        }
    }

    /// Adds an entry of a list.
    fn entry(&mut self, lane: Lane, block: Option<BlockNumber>, text: &str) {
        // Entries follow the lines of blocks.
        let place = u32::MAX / 2 + self.lanes.iter().map(Vec::len).sum::<usize>() as u32;
        let number = block.map(|block| format!(" #{block}")).unwrap_or_default();
        let text = one_line(text);
        if !text.is_empty() && self.seen.insert(text.clone()) {
            self.push(lane, block, (place, 0), format!("- {text}{number}"));
        }
    }

    /// Adds lines of a block that no unit has so far, the first after the number of the block and its title.
    fn lines<'a>(&mut self, lane: &dyn Fn(usize) -> Lane, block: &Block, title: &str, lines: impl Iterator<Item = &'a str>) {
        let mut begun = false;
        for (at, line) in lines.enumerate() {
            let line = line.trim_end();
            if line.trim().is_empty() || !self.seen.insert(line.trim().to_owned()) {
                continue;
            }
            let line = match (begun, title) {
                (true, _) => line.to_owned(),
                (false, "") => format!("#{} {}", block.number, line.trim_start()),
                (false, title) => format!("#{} {title}:\n{line}", block.number),
            };
            begun = true;
            self.push(lane(at), Some(block.number), (block.number, at as u32), line);
        }
    }

    /// Adds the words of the user, the newest prompt first.
    fn words(&mut self, live: &LiveBlocks<'_>, sources: &Sources) {
        let prompts = live.blocks.iter().rev().filter_map(|block| Some((*block, sources.get(&block.number)?)));
        let mut newest = Lane::Task;
        for (at, (block, source)) in prompts.filter(|(_, source)| !source.words.is_empty()).enumerate() {
            let lines = source.words.iter().flat_map(|words| words.lines());
            let is_long = source.words.iter().map(String::len).sum::<usize>() > LONG_PROMPT_BYTES;
            let lane = |line: usize| match () {
                () if is_long && line >= LONG_PROMPT_LINES => Lane::PastedWords,
                () if at < PROMPTS => newest,
                () => Lane::OlderWords,
            };
            self.lines(&lane, block, "", lines);
            if block.kind == BlockKind::Text {
                newest = Lane::Words;
            }
        }
    }

    /// Adds the open questions and errors of the newest turn.
    fn open(&mut self, turns: &[TurnSummary]) {
        let newest = turns.len().saturating_sub(1);
        self.points(Lane::Open, &turns[newest..], PointKind::Open);
    }

    /// Adds a kind of points of turns, the newest turn first.
    fn points(&mut self, lane: Lane, turns: &[TurnSummary], kind: PointKind) {
        let points = turns.iter().rev().flat_map(|turn| &turn.summary.points).filter(|point| point.kind == kind);
        for part in points.flat_map(|point| &point.parts) {
            self.entry(lane, part.block, &part.text);
        }
    }

    /// Adds the lines with most words of a query, the newest first among equals.
    fn about(&mut self, reading: &Analysis, live: &LiveBlocks<'_>, sources: &Sources, query: &Query) {
        let matcher = query.matcher();
        let mut found: Vec<(u32, &Block, u32, String)> = Vec::new();
        for block in live.blocks.iter().rev() {
            let Some(text) = text_of(reading, block, sources) else { continue };
            for (at, line) in text.lines().enumerate().filter(|(_, line)| RECORD_LINE_BYTES.contains(&line.trim().len())) {
                let mut terms = 0u64;
                matcher.find(line, |term, _, _| terms |= 1 << term);
                if terms != 0 {
                    found.push((terms.count_ones(), block, at as u32, line.to_owned()));
                }
            }
        }
        found.sort_by_key(|(terms, ..)| std::cmp::Reverse(*terms));
        for (_, block, at, line) in found.into_iter().take(QUERY_LINES) {
            let line = without_number(&line).trim();
            if self.seen.insert(line.to_owned()) {
                self.push(Lane::Query, Some(block.number), (block.number, at), format!("#{} {line}", block.number));
            }
        }
    }

    fn files(&mut self, reading: &Analysis) {
        let directory = directory(reading);
        for file in files_in_work(reading, FILES) {
            let edited = if file.edited { " (edited)" } else { "" };
            // Calls name files by their whole paths.
            let is_whole = is_absolute(&file.path) || directory.is_empty() || file.path.starts_with('~');
            let path = if is_whole { file.path } else { format!("{directory}/{}", file.path) };
            self.entry(Lane::Files, Some(file.block), &format!("{path}{edited}"));
        }
    }

    /// Adds the commands that worked, and the calls that failed.
    fn calls(&mut self, reading: &Analysis, live: &LiveBlocks<'_>, sources: &Sources) {
        let mut commands = 0;
        for (block, target) in live.last_results(sources) {
            let target = mask(&cut(&target, COMMAND_CHARACTERS)).into_owned();
            let is_command = block.tool.as_deref().is_some_and(|tool| tool.verb == ToolVerb::Run);
            if !block.error {
                commands += usize::from(is_command);
                if is_command && commands <= COMMANDS {
                    self.entry(Lane::Commands, Some(block.number), &format!("`{target}`"));
                }
            } else if let Some(source) = sources.get(&block.number) {
                let first = source.text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
                let error = error_line(&source.text, reading.session.conventions).filter(|error| error != first);
                let error = [Some(first.to_owned()), error].into_iter().flatten();
                let error: Vec<String> = error.map(|line| cut(&line, ERROR_CHARACTERS)).collect();
                self.entry(Lane::Failed, Some(block.number), &format!("`{target}`: {}", error.join(" · ")));
            }
        }
    }

    /// Adds the texts of the agent, the newest first.
    fn agent(&mut self, live: &LiveBlocks<'_>, sources: &Sources) {
        for block in live.texts() {
            if let Some(source) = sources.get(&block.number) {
                self.lines(&|_| Lane::Agent, block, "", source.text.lines());
            }
        }
    }

    /// Adds lines of the newest edits and results.
    fn content(&mut self, reading: &Analysis, live: &LiveBlocks<'_>, sources: &Sources) {
        for block in live.records() {
            // A command of one line is in the list of commands.
            let is_listed = |text: &str| block.kind == BlockKind::ToolUse && text.lines().count() < 2;
            let Some(text) = text_of(reading, block, sources).filter(|text| !is_listed(text)) else { continue };
            let lines = text.lines().map(without_number);
            let lines = lines.filter(|line| RECORD_LINE_BYTES.contains(&line.trim().len()) && !self.seen.contains(line.trim()));
            let lines: Vec<&str> = lines.take(RECORD_LINES).collect();
            let title = cut(&mask(&label(block)), TITLE_CHARACTERS);
            self.lines(&|_| Lane::Content, block, &title, lines.into_iter());
        }
    }

    /// Adds the headers of turns, the newest first.
    fn turns(&mut self, turns: &[TurnSummary]) {
        for turn in turns.iter().rev().filter(|turn| !turn.header.text.is_empty()) {
            self.entry(Lane::Turns, None, &format!("turn {}: {}", turn.number, turn.header.text));
        }
    }
}

/// Returns the text of a block for people: of a call the texts that it writes.
fn text_of(reading: &Analysis, block: &Block, sources: &Sources) -> Option<String> {
    let source = sources.get(&block.number)?;
    let names = &reading.session.conventions.inputs;
    Some(if block.kind == BlockKind::ToolUse { written(&source.text, names) } else { source.text.clone() })
}
