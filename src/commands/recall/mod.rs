//! `aperture recall`: searches archived, shortened and compacted content, and restores it.

mod report;
mod turns;

pub use report::RecallReport;

use super::scope::Scope;
use super::{ChangeOptions, search};
use crate::app::{CommandError, Env, one_of, refusal, tokens};
use crate::commands::change::pipeline::{ChangeSummary, NothingToChange, change, of_note};
use crate::commands::memory::{self, Memories, MemorySearchReport};
use crate::commands::sidecar::polish;
use crate::engine::search::{Occurrences, Passage, PassageKind, Query, RankedPassage, print};
use crate::engine::{Selector, SelectorError, TurnForm, TurnPriority, TurnRequest, is_said, label, tokens, without_data};
use crate::model::{Block, BlockNumber, Level, Role, TurnList, Zone};
use crate::output::{ChangeReport, numbered, plural};
use crate::text::shell::quoted_word;
use crate::workspace::{Draft, NOTE, PlanError, SkipReason, Workspace, shorten};
use report::RecalledBlock;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;

#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = help_text!("recall"))]
pub struct Arguments {
    /// Blocks, by selectors, or the words of a query
    #[arg(required_unless_present = "turns")]
    #[serde(serialize_with = "super::json::union")]
    pub query: Vec<String>,
    /// Maximum number of tokens printed
    #[arg(long, value_name = "TOKENS", value_parser = tokens, default_value = MOST_TOKENS)]
    pub max_tokens: u64,
    /// In every session of the project in this directory [default: the current directory]
    #[arg(long, value_name = "DIRECTORY", num_args = 0..=1, default_missing_value = ".", conflicts_with_all = ["all", "restore"])]
    pub project: Option<PathBuf>,
    /// In every session on this machine
    #[arg(long, conflicts_with = "restore")]
    pub all: bool,
    /// In the memories and in all sessions of this project, archived or not
    #[arg(long, conflicts_with_all = ["project", "all", "restore", "inject"])]
    pub memory: bool,
    /// Turns, such as 3,7..9 or 3.., in the window or not
    #[arg(long, value_name = "LIST", value_parser = |list: &str| list.parse::<TurnList>(), conflicts_with_all = ["project", "all", "memory", "restore"])]
    pub turns: Option<TurnList>,
    /// Form of the turns: header, summary, full or mixed [default: mixed]
    #[arg(id = "as", long, value_name = "FORM", hide_possible_values = true, requires = "turns")]
    #[arg(value_parser = one_of(TurnForm::ALL.map(TurnForm::name), TurnForm::from_name))]
    #[serde(rename = "as")]
    pub form: Option<TurnForm>,
    /// Turns that get the budget first: recent, relevant to the query, or specific (as listed)
    #[arg(long, value_name = "ORDER", hide_possible_values = true, requires = "turns")]
    #[arg(value_parser = one_of(TurnPriority::ALL.map(TurnPriority::name), TurnPriority::from_name))]
    pub priority: Option<TurnPriority>,
    /// The quota of the model in this turn; `None` for the user.
    #[arg(skip)]
    #[serde(skip)]
    pub quota: Option<Quota>,
    /// Restore the blocks in place
    #[arg(long, conflicts_with = "inject")]
    pub restore: bool,
    /// Add the matches as a note at the end of the session
    #[arg(long)]
    pub inject: bool,
    #[command(flatten)]
    #[serde(flatten)]
    pub options: ChangeOptions,
}

/// The state of the quota of recalls in a turn of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quota {
    Left,
    /// The quota is used: turns are returned as headers.
    Used,
}

/// The default for the maximum number of tokens printed.
const MOST_TOKENS: &str = "2k";

/// The maximum number of tokens of turns beyond the quota of the model.
const HEADERS_TOKENS: u64 = 300;

impl Arguments {
    /// Returns the arguments of a search for blocks or words in this session.
    pub fn new(query: String) -> Arguments {
        let max_tokens = tokens(MOST_TOKENS).unwrap_or_default();
        Arguments { query: vec![query], max_tokens, ..Arguments::default() }
    }

    pub fn of_turns(request: &TurnRequest) -> Arguments {
        Arguments {
            query: Some(request.query.clone()).filter(|query| !query.is_empty()).into_iter().collect(),
            turns: Some(request.turns.clone()),
            form: Some(request.form),
            priority: request.priority,
            ..Arguments::new(String::new())
        }
    }

    /// Returns the arguments within the quota of the model in a turn, of which `tokens` are left; `None` if it is used.
    pub fn within_quota(self, tokens: Option<usize>) -> Arguments {
        let quota = Some(if tokens.is_some() { Quota::Left } else { Quota::Used });
        let max_tokens = self.max_tokens.min(tokens.map_or(HEADERS_TOKENS, |tokens| tokens as u64));
        Arguments { quota, max_tokens, ..self }
    }

    /// Returns the query as a selector; `None` if it is none, but words. A quoted topic is a query.
    pub fn selector(&self) -> Option<Selector> {
        let is_quoted = self.query.first().is_some_and(|query| query.trim_start().starts_with('"'));
        if is_quoted { None } else { Selector::parse_all(&self.query).ok() }
    }

    pub fn words(&self) -> String {
        self.query.join(" ")
    }

    /// Returns the search in sessions in bulk; `None` if only the one session of every command is searched.
    pub fn search(&self) -> Option<search::Arguments> {
        let (project, max_tokens) = (self.project.clone(), Some(self.max_tokens));
        let scope = Scope { project, ..Scope::default() };
        let arguments = || search::Arguments { scope, max_tokens, current: true, ..search::Arguments::new(self.query.clone()) };
        (self.all || self.project.is_some()).then(arguments)
    }

    pub fn changes(&self) -> bool {
        self.restore || self.inject
    }
}

/// The maximum number of blocks that a query restores.
const BEST: usize = 3;

/// The maximum number of matching blocks in the window that are listed.
const LISTED: usize = 8;

/// A block of the session that is no longer in the window in full, with its text.
struct RemovedBlock<'a> {
    block: &'a Block,
    title: String,
    text: String,
}

/// The number of places in sessions that a search of memories returns.
const PLACES: usize = 10;

/// Searches and prints the matches.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    if arguments.memory {
        return env.print(&memory_report(env, arguments)?);
    }
    if let Some(arguments) = arguments.search() {
        return search::run(env, &arguments);
    }
    let report = search_only(env, arguments)?;
    if !report.is_empty() {
        return env.print(&report);
    }
    // JSON output already contains the empty result; both set the exit code.
    if !env.json {
        return Err(not_removed(env, arguments)?);
    }
    env.print(&report)?;
    Err(CommandError::already_reported())
}

/// Returns what the memories and the sessions of the project hold about a query.
/// Errors: the query has no words, or a tree cannot be read.
pub fn memory_report(env: &Env, arguments: &Arguments) -> Result<MemorySearchReport, CommandError> {
    memory::search::report(&Memories::new(env, None)?, &arguments.words(), false, PLACES)
}

/// Returns the matches without changing the session; an error if there are none.
/// Errors: there are no matches; the session or the store cannot be read.
pub fn report(env: &Env, arguments: &Arguments) -> Result<RecallReport, CommandError> {
    let report = search_only(env, arguments)?;
    if report.is_empty() { Err(no_match(arguments)) } else { Ok(report) }
}

/// Returns the matches without changing the session.
pub fn search_only(env: &Env, arguments: &Arguments) -> Result<RecallReport, CommandError> {
    let mut workspace = env.read(env.find(None)?)?;
    if arguments.turns.is_some() {
        polish(env, &mut workspace)?;
    }
    let store = env.existing_store()?;
    let draft = workspace.draft(store.as_ref(), env.style.now.as_millisecond())?;
    removed(env, arguments, &draft, &workspace)
}

/// Restores the matching blocks in place, or adds them as a note, and returns the report.
/// Errors: there are no matches; the session cannot be changed.
pub fn bring_back(env: &Env, arguments: &Arguments) -> Result<ChangeReport, CommandError> {
    if arguments.restore {
        return change(env, arguments.options, &|draft, opened| {
            let report = removed(env, arguments, draft, &opened.workspace)?;
            let wanted: BTreeMap<BlockNumber, Level> =
                report.blocks.iter().take(best(arguments)).map(|block| (block.number, Level::Original)).collect();
            if wanted.is_empty() {
                return Err(no_match(arguments));
            }
            let mut summary = ChangeSummary { skipped: shorten(draft, &wanted, "", None)?, ..ChangeSummary::change("restored") };
            if summary.skipped.contains_key(&SkipReason::NotInWindow) {
                summary
                    .notes
                    .push("a block outside the window cannot be restored in place; to add it as a note: --inject".to_owned());
            }
            Ok(summary)
        });
    }
    change(env, arguments.options, &|draft, opened| {
        let (note, what) = note(env, arguments, draft, &opened.workspace)?;
        draft.note(NOTE, &note);
        let what = format!("a note with {what}");
        Ok(ChangeSummary { what: Some(what), notes: of_note(env), ..ChangeSummary::change("added") })
    })
}

fn no_match(arguments: &Arguments) -> CommandError {
    let query = arguments.words();
    let hint = "to list the candidates: aperture blocks 'archived | compressed | cold'";
    let error = NothingToChange(format!("no archived, shortened or compacted content matches '{query}'"));
    let error = CommandError::refused(error).hint(hint);
    match arguments.selector() {
        Some(_) => error.hint(format!("for blocks in the window: aperture show {}", quoted_word(&query))),
        None if Query::parse(&query).is_ok() => {
            error.hint(format!("to search every session: aperture search {}", quoted_word(&query)))
        }
        None => error,
    }
}

/// Returns the number of matches to restore: all if the query is a selector, otherwise the best ones.
fn best(arguments: &Arguments) -> usize {
    if arguments.selector().is_some() { usize::MAX } else { BEST }
}

fn removed(env: &Env, arguments: &Arguments, draft: &Draft<'_>, workspace: &Workspace<'_>) -> Result<RecallReport, CommandError> {
    if let Some(request) = arguments.turn_request() {
        return turns::turns(env, arguments, &request, draft, workspace);
    }
    let mut documents = search_session(draft, workspace)?;
    let query = arguments.words();
    if let Some(chosen) = chosen(arguments, workspace)? {
        documents.retain(|document| chosen.contains(&document.block.number));
        let blocks = documents.iter().map(|document| recalled(workspace, document, document.text.clone())).collect();
        return Ok(RecallReport { query, blocks, ..RecallReport::default() });
    }
    let query = query.trim().trim_matches('"');
    let (blocks, missing_words) = best_blocks(env, arguments, query, &documents, workspace)?;
    Ok(RecallReport { query: query.to_owned(), blocks, missing_words, ..RecallReport::default() })
}

/// The factor that the newest block is worth more than the oldest: an agent looks for what it worked on last. The worth of what it wrote in
/// calls, in shares of the query. Both were chosen on half of the real projects and are better on the others.
const RECENT: f32 = 0.3;
const CALL_WORTH: f32 = 0.05;
/// The worth of a part of the newest block beside one of the oldest, in shares of the query.
const RECENT_WORTH: f32 = 0.03;

/// Returns the parts of documents that match a query, the best first, and the words that none has.
fn best_blocks(
    env: &Env,
    arguments: &Arguments,
    words: &str,
    documents: &[RemovedBlock<'_>],
    workspace: &Workspace<'_>,
) -> Result<(Vec<RecalledBlock>, Vec<String>), CommandError> {
    let query = Query::of_text(words);
    let passages: Vec<Passage<'_>> =
        documents.iter().map(|document| passage(&document.title, kind(document.block), without_data(&document.text))).collect();
    let found = Occurrences::new(&query, &passages);
    let mut ranked = found.ranked(&[]);
    ranked.iter_mut().for_each(|block| block.score *= 1.0 + RECENT * block.passage as f32 / passages.len() as f32);
    ranked.sort_by(|one, other| other.score.total_cmp(&one.score));
    let worth = |(place, passage): (usize, &Passage<'_>)| {
        let of_call = if passage.kind == PassageKind::Call { CALL_WORTH } else { 0.0 };
        of_call + RECENT_WORTH * place as f32 / passages.len() as f32
    };
    let stretches = found.stretches(&passages.iter().enumerate().map(worth).collect::<Vec<f32>>(), &[]);
    let name = quoted_word(&env.name_of(&workspace.path, &workspace.location.id));
    let blocks = |count: usize| -> Vec<RecalledBlock> {
        let mut texts: HashMap<usize, String> = print(&passages, &stretches[..count]).into_iter().collect();
        let block = |found: &RankedPassage| {
            let block = recalled(workspace, &documents[found.passage], texts.remove(&found.passage)?);
            let command = format!("aperture recall {} -s {name}", block.number);
            Some(RecalledBlock { command: Some(command), score: Some(found.score), ..block })
        };
        ranked.iter().filter_map(block).collect()
    };
    let text = |count: usize| {
        blocks(count).iter().map(|block| format!("#{} {}\n{}\n", block.number, block.label, block.content)).collect()
    };
    let count = tokens::most_within(arguments.max_tokens as usize, stretches.len(), text);
    if count == 0 && !stretches.is_empty() {
        let matching = plural(ranked.len() as u64, "block");
        let enough = tokens::count(&text(1)).next_multiple_of(100);
        return Err(refusal!("{matching} with words of '{words}', but no part fits {} tokens", arguments.max_tokens)
            .hint(format!("to print the best part: --max-tokens {enough}")));
    }
    Ok((blocks(count), found.missing().into_iter().map(str::to_owned).collect()))
}

/// Returns the blocks that the query names; `None` if it is words, such as an identifier that only looks like a tool-use id.
fn chosen(arguments: &Arguments, workspace: &Workspace<'_>) -> Result<Option<BTreeSet<BlockNumber>>, CommandError> {
    let Some(selector) = arguments.selector() else { return Ok(None) };
    match selector.select_marked(&workspace.reading) {
        Ok(numbers) => Ok(Some(numbers.into_iter().collect())),
        Err(SelectorError::NoSuchCall(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Returns the error for a query of words without a match, with the blocks in the window that match.
fn not_removed(env: &Env, arguments: &Arguments) -> Result<CommandError, CommandError> {
    let workspace = env.open(None)?;
    if let Some(chosen) = chosen(arguments, &workspace)? {
        let blocks = workspace.reading.session.blocks.iter();
        let whole = blocks.filter(|block| block.position.zone != Zone::Cold && block.level == Level::Original);
        let whole: BTreeSet<BlockNumber> = whole.map(|block| block.number).collect();
        return Ok(match chosen.is_empty() || !chosen.is_subset(&whole) {
            true => no_match(arguments),
            false => in_window(arguments, &chosen),
        });
    }
    let in_window = |block: &&Block| block.position.zone != Zone::Cold;
    let numbers: Vec<BlockNumber> = workspace.reading.session.blocks.iter().filter(in_window).map(|block| block.number).collect();
    let contents = workspace.masked_contents(&numbers)?;
    let passages: Vec<Passage<'_>> =
        contents.iter().map(|content| passage("", PassageKind::Result, content.readable.as_str().into())).collect();
    let words = arguments.words();
    let query = Query::of_text(&words);
    let found = Occurrences::new(&query, &passages);
    // A text with only some of the words is not an answer.
    let hits = found.ranked(&[]).into_iter().map(|hit| hit.passage).filter(|passage| found.has_all(*passage));
    let hits: Vec<BlockNumber> = hits.map(|passage| numbers[passage]).collect();
    if hits.is_empty() {
        return Ok(no_match(arguments));
    }
    let blocks = if hits.len() == 1 {
        "1 block in the window matches".to_owned()
    } else {
        format!("{} blocks in the window match", hits.len())
    };
    let best: Vec<String> = hits.iter().take(BEST).map(ToString::to_string).collect();
    Ok(refusal!("'{words}' is not in removed content; {blocks}: {}", numbered(&hits, LISTED))
        .hint(format!("to read the best: aperture show {}", best.join(" ")))
        .hint(format!("to search every session: aperture search {}", quoted_word(&words))))
}

/// Returns the error for blocks that are all in the window as they were.
fn in_window(arguments: &Arguments, chosen: &BTreeSet<BlockNumber>) -> CommandError {
    let chosen: Vec<BlockNumber> = chosen.iter().copied().collect();
    let are = if chosen.len() == 1 { "is in the window as it was" } else { "are in the window as they were" };
    let error = NothingToChange(format!("{} {are}: nothing to recall", numbered(&chosen, LISTED)));
    let words = quoted_word(&arguments.words());
    CommandError::refused(error).hint(format!("to read what the model has: aperture show {words}"))
}

/// Returns the text of a note with the matches, and their number.
fn note(
    env: &Env,
    arguments: &Arguments,
    draft: &Draft<'_>,
    workspace: &Workspace<'_>,
) -> Result<(String, String), CommandError> {
    if let Some(arguments) = arguments.search() {
        let report = search::report(env, &arguments)?;
        let found = plural(report.sessions.len() as u64, "session");
        return if report.sessions.is_empty() { Err(search::no_match(&report)) } else { Ok((report.note(&env.style), found)) };
    }
    let report = removed(env, arguments, draft, workspace)?;
    let name = if report.turns.is_empty() { "block" } else { "turn" };
    let found = plural(report.count() as u64, name);
    if report.is_empty() { Err(no_match(arguments)) } else { Ok((report.note(), found)) }
}

pub(super) fn passage<'a>(title: &'a str, kind: PassageKind, text: Cow<'a, str>) -> Passage<'a> {
    Passage { kind, title: title.into(), text }
}

fn kind(block: &Block) -> PassageKind {
    match block.role {
        Role::User if is_said(block) => PassageKind::Prompt,
        Role::Assistant | Role::Thinking => PassageKind::Answer,
        Role::User | Role::System | Role::ToolUse | Role::ToolResult => PassageKind::Result,
    }
}

fn recalled(workspace: &Workspace<'_>, RemovedBlock { block, title, .. }: &RemovedBlock<'_>, content: String) -> RecalledBlock {
    RecalledBlock {
        session: workspace.location.id.clone(),
        number: block.number,
        label: title.clone(),
        level: block.level,
        time: block.timestamp,
        turn: Some(block.position.turn),
        command: None,
        score: None,
        content,
    }
}

/// Returns the content of this session that is no longer in the window in full: shortened, archived, or hidden by the client.
fn search_session<'a>(draft: &Draft<'_>, workspace: &'a Workspace<'_>) -> Result<Vec<RemovedBlock<'a>>, CommandError> {
    let gone = |block: &&Block| block.level != Level::Original || (block.position.zone == Zone::Cold && block.bytes > 0);
    let mut found = Vec::new();
    for block in workspace.reading.session.blocks.iter().filter(gone) {
        match draft.original(block.number) {
            // Mask before excerpts are cut.
            Ok(original) => {
                let text = workspace.reading.known.mask(&original.readable).into_owned();
                found.push(RemovedBlock { block, title: label(block), text });
            }
            Err(PlanError::NoOriginal(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(found)
}
