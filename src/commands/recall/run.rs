use super::Arguments;
use super::report::{RecallReport, RecalledBlock};
use crate::app::{CommandError, Env, ErrorKind};
use crate::commands::change::pipeline::{ChangeSummary, NothingToChange, change, of_note};
use crate::commands::memory::{self, Memories, MemorySearchReport};
use crate::engine::recall::{AllWords, Document, answer, rank};
use crate::engine::{SelectorError, label, mask, without_data};
use crate::model::{Block, BlockNumber, History, Level, Zone};
use crate::output::{ChangeReport, numbered, plural};
use crate::store::{Store, StoredSession};
use crate::text::shell::quoted_word;
use crate::workspace::{self, Draft, NOTE, PlanError, Project, SkipReason, Workspace, shorten};
use anyhow::anyhow;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// The maximum number of blocks that a query restores.
const BEST: usize = 3;

/// The maximum number of matching blocks in the window that are listed.
const LISTED: usize = 8;

/// A block that can be recalled.
pub struct Recalled {
    pub session: String,
    /// The file of its session, which may not exist.
    pub path: PathBuf,
    pub number: BlockNumber,
    pub level: Level,
    pub title: String,
    pub text: String,
    pub time: Option<i64>,
    /// Its turn; `None` if only the store knows the block.
    pub turn: Option<u32>,
    /// True if the content is no longer in the window in full.
    pub is_removed: bool,
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
        return Err(if arguments.is_everywhere() {
            no_match(arguments, report.searched_sessions)
        } else {
            not_removed(env, arguments)?
        });
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
    if report.blocks.is_empty() { Err(no_match(arguments, report.searched_sessions)) } else { Ok(report) }
}

/// Returns the matches without changing the session.
///
/// # Errors
///
/// The session or the store cannot be read.
pub fn search_only(env: &Env, arguments: &Arguments) -> Result<RecallReport, CommandError> {
    let workspace = match env.find(None) {
        // All sessions can be searched from a directory without one.
        Err(_) if arguments.is_everywhere() && env.session().is_none() => return everywhere(env, arguments, Vec::new(), None),
        found => env.read(found?)?,
    };
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
                return Err(no_match(arguments, report.searched_sessions));
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
            return Err(no_match(arguments, report.searched_sessions));
        }
        draft.note(NOTE, &report.note());
        let what = format!("a note with {}", plural(report.blocks.len(), "block"));
        Ok(ChangeSummary { what: Some(what), notes: of_note(env), ..ChangeSummary::change("added") })
    })
}

fn no_match(arguments: &Arguments, searched: Option<usize>) -> CommandError {
    let query = arguments.words();
    if let Some(searched) = searched {
        let error = NothingToChange(format!("no match for '{query}' in {}", plural(searched as u64, "session")));
        let error = CommandError::new(ErrorKind::Refused, error);
        let is_one = query.split_whitespace().nth(1).is_none();
        return if is_one { error } else { error.hint("a block must have all words: search for fewer of them") };
    }
    let hint = "to list the candidates: aperture blocks 'archived | compressed | cold'";
    let error = NothingToChange(format!("no archived, shortened or compacted content matches '{query}'"));
    let error = CommandError::new(ErrorKind::Refused, error).hint(hint);
    match arguments.selector() {
        Some(_) => error.hint("for blocks in the window: aperture show"),
        None => error.hint(format!("to search every session: aperture recall {} --all", quoted_word(&query))),
    }
}

/// Returns the number of matches to restore: all if the query is a selector, otherwise the best ones.
fn best(arguments: &Arguments) -> usize {
    if arguments.selector().is_some() { usize::MAX } else { BEST }
}

fn search(env: &Env, arguments: &Arguments, draft: &Draft<'_>, workspace: &Workspace<'_>) -> Result<RecallReport, CommandError> {
    let mut documents = search_session(draft, workspace)?;
    if let Some(chosen) = chosen(arguments, workspace)? {
        documents.retain(|document| chosen.contains(&document.number));
        let session = workspace.location.id.clone();
        let blocks = documents.iter().map(|document| recalled(env, document, None, document.text.clone())).collect();
        return Ok(RecallReport { query: arguments.words(), blocks, session, searched_sessions: None, unread_sessions: 0 });
    }
    if arguments.is_everywhere() {
        return everywhere(env, arguments, documents, Some(workspace));
    }
    let query = arguments.words();
    let query = query.trim().trim_matches('"');
    let blocks = best_blocks(env, arguments, query, &documents, |_| true);
    Ok(RecallReport {
        query: query.to_owned(),
        blocks,
        session: workspace.location.id.clone(),
        searched_sessions: None,
        unread_sessions: 0,
    })
}

/// Searches all sessions, or those of the project, and what was removed from them. `documents` is what was removed from the session
/// of the request, which may have none.
fn everywhere(
    env: &Env,
    arguments: &Arguments,
    mut documents: Vec<Recalled>,
    workspace: Option<&Workspace<'_>>,
) -> Result<RecallReport, CommandError> {
    let project = match (&arguments.project, workspace) {
        (None, _) => None,
        (Some(directory), Some(workspace)) if directory.as_os_str() == "." => {
            let (provider, location) = (workspace.provider, workspace.location.clone());
            Some(Project::of_session(env.disk, &workspace::Found { provider, path: workspace.path.clone(), location }))
        }
        (Some(directory), _) => Some(Project::at(env.disk, &workspace::named_directory(env.disk, &env.directory, directory))),
    };
    documents.extend(others(env, project.as_ref(), workspace)?);
    let query = arguments.words();
    let query = query.trim().trim_matches('"');
    let words = AllWords::new(query);
    let matches = super::everywhere::search(env, project.as_ref(), &words);
    let known: BTreeSet<(String, BlockNumber)> =
        documents.iter().map(|document| (document.session.clone(), document.number)).collect();
    documents.extend(matches.blocks.into_iter().filter(|block| !known.contains(&(block.session.clone(), block.number))));
    let blocks = best_blocks(env, arguments, query, &documents, |document| words.are_in(document.text.as_bytes()));
    let session = workspace.map(|workspace| workspace.location.id.clone()).unwrap_or_default();
    Ok(RecallReport {
        query: query.to_owned(),
        blocks,
        session,
        searched_sessions: Some(matches.searched),
        unread_sessions: matches.unread,
    })
}

/// Returns the parts of documents that match a query, the best first.
fn best_blocks(
    env: &Env,
    arguments: &Arguments,
    query: &str,
    documents: &[Recalled],
    is_wanted: impl Fn(&Recalled) -> bool,
) -> Vec<RecalledBlock> {
    let texts: Vec<_> = documents.iter().map(|document| without_data(&document.text)).collect();
    let texts: Vec<Document<'_>> =
        texts.iter().zip(documents).map(|(text, document)| Document { text, title: &document.title }).collect();
    let mut hits = rank(query, &texts);
    hits.retain(|hit| is_wanted(&documents[hit.document]));
    let parts = answer(query, &texts, &hits, arguments.max_tokens as usize).into_iter();
    parts
        .filter_map(|(place, pieces)| {
            let hit = hits.get(place)?;
            Some(recalled(env, &documents[hit.document], Some(hit.score), pieces))
        })
        .collect()
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
        return Ok(no_match(arguments, None));
    }
    let in_window = |block: &&Block| block.position.zone != Zone::Cold;
    let numbers: Vec<BlockNumber> = workspace.reading.session.blocks.iter().filter(in_window).map(|block| block.number).collect();
    let contents = workspace.masked_contents(&numbers)?;
    let texts: Vec<Document<'_>> = contents.iter().map(|content| Document { text: &content.readable, title: "" }).collect();
    let words = arguments.words();
    // A text with only some of the words is not an answer.
    let all = AllWords::new(&words);
    let hits = rank(words.trim().trim_matches('"'), &texts);
    let hits = hits.iter().filter(|hit| all.are_in(texts[hit.document].text.as_bytes()));
    let hits: Vec<BlockNumber> = hits.map(|hit| numbers[hit.document]).collect();
    if hits.is_empty() {
        return Ok(no_match(arguments, None));
    }
    let blocks = if hits.len() == 1 {
        "1 block in the window matches".to_owned()
    } else {
        format!("{} blocks in the window match", hits.len())
    };
    let error = anyhow!("'{words}' is not in removed content; {blocks}: {}", numbered(&hits, LISTED));
    let best: Vec<String> = hits.iter().take(BEST).map(ToString::to_string).collect();
    Ok(CommandError::new(ErrorKind::Refused, error)
        .hint(format!("to read the best: aperture show {}", best.join(" ")))
        .hint(format!("to search every session: aperture recall {} --all", quoted_word(&words))))
}

fn recalled(env: &Env, document: &Recalled, score: Option<f32>, pieces: String) -> RecalledBlock {
    let found = match (score, &document.turn) {
        (None, _) => None,
        _ => env.disk.identify(&document.path).ok().and_then(|_| env.find_by(&document.path.to_string_lossy()).ok()),
    };
    let verb = if document.is_removed { "recall" } else { "show" };
    let name = |found: &workspace::Found| quoted_word(&env.name_of(&found.path, &found.location.id));
    let command = found.as_ref().map(|found| format!("aperture {verb} {} -s {}", document.number, name(found)));
    let place = match (document.turn, found) {
        (None, Some(found)) => super::everywhere::place(env, found, document.number),
        _ => None,
    };
    RecalledBlock {
        session: document.session.clone(),
        number: document.number,
        label: document.title.clone(),
        level: document.level,
        time: place.map_or(document.time, |(time, _)| time.or(document.time)),
        turn: document.turn.or(place.map(|(_, turn)| turn)),
        command,
        score,
        content: pieces,
    }
}

/// Returns the content of this session that is no longer in the window in full: shortened, archived, or hidden by the client.
fn search_session(draft: &Draft<'_>, workspace: &Workspace<'_>) -> Result<Vec<Recalled>, CommandError> {
    let gone = |block: &&Block| block.level != Level::Original || (block.position.zone == Zone::Cold && block.bytes > 0);
    let mut found = Vec::new();
    for block in workspace.reading.session.blocks.iter().filter(gone) {
        let text = match draft.original(block.number) {
            // Mask before excerpts are cut.
            Ok(original) => workspace.reading.known.mask(&original.readable).into_owned(),
            Err(PlanError::NoOriginal(_)) => continue,
            Err(error) => return Err(error.into()),
        };
        found.push(Recalled {
            session: workspace.location.id.clone(),
            path: workspace.path.clone(),
            number: block.number,
            level: block.level,
            title: label(block),
            text,
            time: block.timestamp,
            turn: Some(block.position.turn),
            is_removed: true,
        });
    }
    Ok(found)
}

/// Returns the originals of other sessions, or of those of a project, from the store alone.
fn others(env: &Env, project: Option<&Project>, own: Option<&Workspace<'_>>) -> Result<Vec<Recalled>, CommandError> {
    let Some(store) = env.existing_store()? else { return Ok(Vec::new()) };
    let own = own.map(|own| env.disk.resolve(&own.path)).transpose()?;
    let mut found = Vec::new();
    for session in store.sessions()? {
        let other = workspace::found(&session)?;
        let belongs = |project: &Project| project.holds(env.disk, &other, workspace::stated(env.disk, &other).as_deref());
        if project.is_none_or(belongs) && own.as_ref() != Some(&session.path) {
            found.extend(originals(&store, &session)?);
        }
    }
    Ok(found)
}

/// Returns the contents of a session that aperture replaced or removed, by block.
///
/// # Errors
///
/// The store cannot be read.
pub fn original_texts(store: &Store, session: &StoredSession) -> Result<FxHashMap<u32, String>, CommandError> {
    let texts = originals(store, session)?.into_iter();
    Ok(texts.map(|recalled| (recalled.number, recalled.text)).collect())
}

fn originals(store: &Store, session: &StoredSession) -> Result<Vec<Recalled>, CommandError> {
    let history: History = store.history(session.key)?;
    let provider = session.provider()?;
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for operation in &history.operations {
        for edit in &operation.edits {
            let (Some(change), Some(before), Some(index)) = (&edit.change, &edit.before, edit.slot.index()) else { continue };
            if !seen.insert((edit.row, index)) {
                continue;
            }
            found.push(Recalled {
                session: session.session.clone(),
                path: session.path.clone(),
                number: change.number,
                level: change.level_after,
                title: change.label.clone(),
                text: mask(&provider.decode(&store.original(before)?)).into_owned(),
                time: Some(operation.time),
                turn: None,
                is_removed: true,
            });
        }
    }
    Ok(found)
}
