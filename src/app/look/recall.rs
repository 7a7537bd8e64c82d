//! `aperture recall`: searches archived, shortened and compacted content, and restores it.

use crate::app::change::pipeline::{ChangeSummary, change, of_note};
use crate::app::memory::{self, Memories};
use crate::app::{CommandError, Env, ErrorKind};
use crate::commands::recall::Arguments;
use crate::engine::recall::{Document, answer, rank};
use crate::engine::{SelectorError, label, mask, without_data};
use crate::model::{Block, BlockNumber, History, Level, Zone};
use crate::output::{ChangeReport, MemorySearchReport, RecallReport, RecalledBlock, numbered, plural};
use crate::store::{Store, StoredSession};
use crate::workspace::{self, Draft, NOTE, PlanError, Project, SkipReason, Workspace, shorten};
use anyhow::anyhow;
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of blocks that a query restores.
const BEST: usize = 3;

/// The maximum number of matching blocks in the window that are listed.
const LISTED: usize = 8;

/// A block that can be recalled.
struct Found {
    session: String,
    number: BlockNumber,
    level: Level,
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
    let report = search_only(env, arguments)?;
    if !report.blocks.is_empty() {
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
///
/// # Errors
///
/// The query has no words, or a tree cannot be read.
pub fn memory_report(env: &Env, arguments: &Arguments) -> Result<MemorySearchReport, CommandError> {
    memory::search::report(&Memories::new(env, None)?, &arguments.words(), false, PLACES)
}

/// Returns the matches without changing the session; an error if there are none.
///
/// # Errors
///
/// There are no matches; the session or the store cannot be read.
pub fn report(env: &Env, arguments: &Arguments) -> Result<RecallReport, CommandError> {
    let report = search_only(env, arguments)?;
    if report.blocks.is_empty() { Err(no_match(arguments)) } else { Ok(report) }
}

/// Returns the matches without changing the session.
///
/// # Errors
///
/// The session or the store cannot be read.
pub fn search_only(env: &Env, arguments: &Arguments) -> Result<RecallReport, CommandError> {
    let workspace = env.open(None)?;
    let store = env.existing_store()?;
    let draft = workspace.draft(store.as_ref(), env.style.now.as_millisecond())?;
    search(env, arguments, &draft, &workspace)
}

/// Restores the matching blocks in place, or adds them as a note, and returns the report.
///
/// # Errors
///
/// There are no matches; the session cannot be changed.
pub fn bring_back(env: &Env, arguments: &Arguments) -> Result<ChangeReport, CommandError> {
    if arguments.restore {
        return change(env, arguments.options, &|draft, opened| {
            let report = search(env, arguments, draft, &opened.workspace)?;
            let wanted: BTreeMap<BlockNumber, Level> =
                report.blocks.iter().take(best(arguments)).map(|block| (block.number, Level::Original)).collect();
            if wanted.is_empty() {
                return Err(no_match(arguments));
            }
            let mut summary = ChangeSummary { kept: shorten(draft, &wanted, "", None)?, ..ChangeSummary::change("restored") };
            if summary.kept.contains_key(&SkipReason::NotInWindow) {
                summary
                    .notes
                    .push("a block outside the window cannot be restored in place; to add it as a note: --inject".to_owned());
            }
            Ok(summary)
        });
    }
    change(env, arguments.options, &|draft, opened| {
        let report = search(env, arguments, draft, &opened.workspace)?;
        if report.blocks.is_empty() {
            return Err(no_match(arguments));
        }
        draft.note(NOTE, &report.note());
        let what = format!("a note with {}", plural(report.blocks.len(), "block"));
        Ok(ChangeSummary { what: Some(what), notes: of_note(env), ..ChangeSummary::change("added") })
    })
}

fn no_match(arguments: &Arguments) -> CommandError {
    let query = arguments.words();
    let hint = "to list the candidates: aperture blocks 'archived | compressed | cold'";
    let error = CommandError::new(ErrorKind::Refused, anyhow!("no archived, shortened or compacted content matches '{query}'"))
        .hint(hint);
    match arguments.selector() {
        Some(_) => error.hint("for blocks in the window: aperture show"),
        None => error,
    }
}

/// Returns the number of matches to restore: all if the query is a selector, otherwise the best ones.
fn best(arguments: &Arguments) -> usize {
    if arguments.selector().is_some() { usize::MAX } else { BEST }
}

fn search(env: &Env, arguments: &Arguments, draft: &Draft<'_>, workspace: &Workspace<'_>) -> Result<RecallReport, CommandError> {
    let budget = arguments.max_tokens as usize;
    let session = workspace.location.id.clone();
    let mut documents = search_session(draft, workspace)?;
    if let Some(chosen) = chosen(arguments, workspace)? {
        documents.retain(|document| chosen.contains(&document.number));
        let blocks = documents.into_iter().map(|document| recalled(&document, None, document.text.clone())).collect();
        return Ok(RecallReport { query: arguments.words(), blocks, session });
    }
    if arguments.all || arguments.project {
        documents.extend(others(env, arguments, workspace)?);
    }
    let words = arguments.words();
    let query = words.trim().trim_matches('"');
    let texts: Vec<_> = documents.iter().map(|document| without_data(&document.text)).collect();
    let texts: Vec<Document<'_>> =
        texts.iter().zip(&documents).map(|(text, document)| Document { text, title: &document.title }).collect();
    let hits = rank(query, &texts);
    let blocks = answer(query, &texts, &hits, budget).into_iter().filter_map(|(place, pieces)| {
        let hit = hits.get(place)?;
        Some(recalled(&documents[hit.document], Some(hit.score), pieces))
    });
    Ok(RecallReport { query: query.to_owned(), blocks: blocks.collect(), session })
}

/// Returns the blocks that the query names; `None` if it is words, such as an identifier that only looks like a tool-use id.
fn chosen(arguments: &Arguments, workspace: &Workspace<'_>) -> Result<Option<BTreeSet<BlockNumber>>, CommandError> {
    let Some(selector) = arguments.selector() else { return Ok(None) };
    match selector.select(&workspace.reading) {
        Ok(numbers) => Ok(Some(numbers.into_iter().collect())),
        Err(SelectorError::NoSuchCall(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Returns the error for a query of words without a match, with the blocks in the window that match.
fn not_removed(env: &Env, arguments: &Arguments) -> Result<CommandError, CommandError> {
    let workspace = env.open(None)?;
    if chosen(arguments, &workspace)?.is_some() {
        return Ok(no_match(arguments));
    }
    let in_window = |block: &&Block| block.position.zone != Zone::Cold;
    let numbers: Vec<BlockNumber> = workspace.reading.session.blocks.iter().filter(in_window).map(|block| block.number).collect();
    let contents = workspace.masked_contents(&numbers)?;
    let texts: Vec<Document<'_>> = contents.iter().map(|content| Document { text: &content.readable, title: "" }).collect();
    let words = arguments.words();
    // A text with only some of the words is not an answer.
    let wanted: Vec<String> =
        words.split(|letter: char| letter != '_' && !letter.is_alphanumeric()).map(str::to_lowercase).collect();
    let has_all = |text: &str| {
        let text = text.to_lowercase();
        wanted.iter().all(|word| text.contains(&**word))
    };
    let hits = rank(words.trim().trim_matches('"'), &texts);
    let hits = hits.iter().filter(|hit| has_all(texts[hit.document].text));
    let hits: Vec<BlockNumber> = hits.map(|hit| numbers[hit.document]).collect();
    if hits.is_empty() {
        return Ok(no_match(arguments));
    }
    let blocks = if hits.len() == 1 {
        "1 block in the window matches".to_owned()
    } else {
        format!("{} blocks in the window match", hits.len())
    };
    let error = anyhow!("'{words}' is not in removed content; {blocks}: {}", numbered(&hits, LISTED));
    let best: Vec<String> = hits.iter().take(BEST).map(ToString::to_string).collect();
    Ok(CommandError::new(ErrorKind::Refused, error).hint(format!("to read the best: aperture show {}", best.join(" "))))
}

fn recalled(found: &Found, score: Option<f32>, pieces: String) -> RecalledBlock {
    RecalledBlock {
        session: found.session.clone(),
        number: found.number,
        label: found.title.clone(),
        level: found.level,
        score,
        content: pieces,
    }
}

/// Returns the content of this session that is no longer in the window in full: shortened, archived, or hidden by the client.
fn search_session(draft: &Draft<'_>, workspace: &Workspace<'_>) -> Result<Vec<Found>, CommandError> {
    let gone = |block: &&Block| block.level != Level::Original || (block.position.zone == Zone::Cold && block.bytes > 0);
    let mut found = Vec::new();
    for block in workspace.reading.session.blocks.iter().filter(gone) {
        let text = match draft.original(block.number) {
            // Mask before excerpts are cut.
            Ok(original) => workspace.reading.known.mask(&original.readable).into_owned(),
            Err(PlanError::NoOriginal(_)) => continue,
            Err(error) => return Err(error.into()),
        };
        let (number, level) = (block.number, block.level);
        found.push(Found { session: workspace.location.id.clone(), number, level, title: label(block), text });
    }
    Ok(found)
}

/// Returns the originals of other sessions, from the store alone.
fn others(env: &Env, arguments: &Arguments, workspace: &Workspace<'_>) -> Result<Vec<Found>, CommandError> {
    let Some(store) = env.existing_store()? else { return Ok(Vec::new()) };
    let own = env.disk.resolve(&workspace.path)?;
    let mut found = Vec::new();
    let (provider, location) = (workspace.provider, workspace.location.clone());
    let project = Project::of_session(env.disk, &workspace::Found { provider, path: workspace.path.clone(), location });
    for session in store.sessions()? {
        let other = workspace::found(&session)?;
        let belongs = arguments.all || project.holds(env.disk, &other, workspace::stated(env.disk, &other).as_deref());
        if belongs && session.path != own {
            found.extend(originals(&store, &session)?);
        }
    }
    Ok(found)
}

fn originals(store: &Store, session: &StoredSession) -> Result<Vec<Found>, CommandError> {
    let history: History = store.history(session.key)?;
    let provider = session.provider()?;
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for edit in history.operations.iter().flat_map(|operation| &operation.edits) {
        let (Some(change), Some(before), Some(index)) = (&edit.change, &edit.before, edit.slot.index()) else { continue };
        if !seen.insert((edit.row, index)) {
            continue;
        }
        found.push(Found {
            session: session.session.clone(),
            number: change.number,
            level: change.level_after,
            title: change.label.clone(),
            text: mask(&provider.decode(&store.original(before)?)).into_owned(),
        });
    }
    Ok(found)
}
