//! Messages of the model that a client reports in a hook, often before it writes their rows.
//!
//! Such a message is recorded with its commands. When its row is in the file, the commands are identified by their place there, so
//! that each is executed once, regardless of the order of report and row.

use super::proposing::{ModelRequest, ModelText, Written, trimmed};
use crate::app::{CommandError, Env, wait};
use crate::engine::model_commands::{find, read};
use crate::model::{
    BlockKind, BlockNumber, CommandPlace, Key, MessageId, Proposal, ProposalNumber, ProposalStatus, ReportedMessage, Row,
    RowKind, Session,
};
use crate::store::{SessionKey, Store, StoreError};
use crate::workspace::Found;
use std::path::Path;
use std::time::Duration;

/// The total time to wait for a row, and the interval between two checks.
const PATIENCE: Duration = Duration::from_millis(300);
const STEP: Duration = Duration::from_millis(20);
const MOST_COMMANDS: usize = 100;

/// Waits until the file has the row of a message or, without a message, an answer to its last prompt.
///
/// A client that writes its rows with a delay usually writes this one while it waits for the hook. Some clients never do.
pub fn wait_for_row(env: &Env, path: &Path, message: Option<&str>) {
    let (start, mut known) = (env.elapsed(), None);
    loop {
        let now = env.disk.identify(path).ok();
        if now.as_ref().is_some_and(|file| file.bytes > 0) && now != known && has_row(env, message).unwrap_or(false) {
            return;
        }
        if env.elapsed().saturating_sub(start) + STEP > PATIENCE {
            return;
        }
        known = now;
        wait(STEP);
    }
}

fn has_row(env: &Env, message: Option<&str>) -> Result<bool, CommandError> {
    let workspace = env.read_as_wanted(env.find(None)?, &|_| false)?;
    let session = &workspace.reading.session;
    let Some(message) = message else {
        return Ok(session.rows.iter().rfind(|row| is_spoken(row)).is_some_and(|row| row.kind == RowKind::Assistant));
    };
    let texts = super::proposing::texts(&workspace, workspace.reading.last_turn())?;
    Ok(is_last(session, &texts, (message, 0), &|_| Ok(false))?)
}

/// Returns true if a message is among the texts after the last row of the user. A row for which `is_located` is true belongs to
/// another message with the same text, unless it was appended after the first `known_bytes` of the file, which had no row of this
/// message: then another hook recorded the same message.
fn is_last(
    session: &Session,
    texts: &[ModelText],
    (message, known_bytes): (&str, u64),
    is_located: &dyn Fn(Key) -> Result<bool, StoreError>,
) -> Result<bool, StoreError> {
    let after = last_of_user(session);
    for text in texts.iter().filter(|text| Some(text.row) > after && text.is(message)) {
        let is_inherited = session.inherited_from(text.row as u32).is_some();
        let is_new = !is_inherited && session.rows[text.row].offset >= known_bytes;
        if is_new || !is_located(text.key)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the index of the last row of the user: a prompt, or tool results.
fn last_of_user(session: &Session) -> Option<usize> {
    session.rows.iter().rposition(|row| is_spoken(row) && row.kind == RowKind::User && row.id.is_some())
}

fn is_spoken(row: &Row) -> bool {
    matches!(row.kind, RowKind::User | RowKind::Assistant) && !row.sidechain
}

/// Records a message that is not in the file yet, with its commands. `known_bytes` is the length of the file when the client
/// reported the message. Returns its number; `None` if it is in the file or already recorded.
pub fn record(
    env: &Env,
    store: &Store,
    key: SessionKey,
    session: &Session,
    turns: u32,
    texts: &[ModelText],
    (message, known_bytes): (&str, u64),
) -> Result<Option<MessageId>, CommandError> {
    if is_last(session, texts, (message, known_bytes), &|row| store.is_located(row))? {
        return Ok(None);
    }
    let after = last_of_user(session);
    // If the last row is the answer to an earlier prompt, the file may also lack the prompt of this message.
    let answered = after.is_none_or(|after| {
        let blocks = session.blocks.iter().filter(|block| block.row as usize > after);
        blocks.clone().any(|block| block.kind == BlockKind::Text && is_spoken(&session.rows[block.row as usize]))
    });
    let after = after.and_then(|after| session.rows[after].id);
    let text = trimmed(message);
    let content = *blake3::hash(text.as_bytes()).as_bytes();
    let reported = ReportedMessage { after, prompts: u32::from(answered), content };
    let commands: Vec<(u32, &str)> = find(text)
        .into_iter()
        .take(MOST_COMMANDS)
        .map(|found_command| (found_command.place.start as u32, &text[found_command.place]))
        .collect();
    let turn = turns + u32::from(answered);
    Ok(store.record_message(key, &reported, turn, &commands, env.style.now.as_millisecond())?)
}

/// Records a message of a session that has no file yet.
pub fn record_without_file(env: &Env, path: &Path, message: &str) -> Result<(), CommandError> {
    let Some((found, path)) = announced(env, path) else { return Ok(()) };
    let store = env.store()?;
    let _lock = env.lock(&path.join("obey"))?;
    let session = store.register(found.provider.name(), &found.location.id, &path, &found.location.project)?;
    record(env, &store, session, &Session::default(), 0, &[], (message, 0)).map(drop)
}

/// Returns the session that a client will write to a path, and the path as the store records it. `None` if it cannot be a session
/// file.
pub fn announced(env: &Env, path: &Path) -> Option<(Found, std::path::PathBuf)> {
    if let Ok(path) = env.disk.resolve(path) {
        return Found::announced(&path).map(|found| (found, path));
    }
    // Resolve the existing part of the path: the parent directory of the file may not exist yet.
    let there = path.ancestors().skip(1).find_map(|parent| Some((env.disk.resolve(parent).ok()?, parent)));
    let path = there.and_then(|(real, parent)| Some(real.join(path.strip_prefix(parent).ok()?)))?;
    Found::announced(&path).map(|found| (found, path))
}

/// A reported message whose row is in the file.
pub struct Located {
    pub message: MessageId,
    pub row: Key,
    pub places: Vec<(ProposalNumber, CommandPlace)>,
}

/// Finds the rows of reported messages: the first row after the content that the file had at that time, in the same turn, with the
/// same text or at least the same commands.
pub fn locate(store: &Store, key: SessionKey, session: &Session, texts: &[ModelText]) -> Result<Vec<Located>, CommandError> {
    let mut candidates = Vec::new();
    for text in texts {
        let commands = text.commands();
        if !commands.is_empty() && !store.is_located(text.key)? && !store.is_proposed(commands[0].place)? {
            candidates.push((text, commands));
        }
    }
    let mut located: Vec<Located> = Vec::new();
    if candidates.is_empty() {
        return Ok(located);
    }
    for (id, message) in store.unlocated_messages(key)? {
        let after = match message.after {
            None => None,
            Some(after) => match session.rows.iter().position(|row| row.id == Some(after)) {
                Some(after) => Some(after),
                None => continue,
            },
        };
        let asked = store.commands_of(id)?;
        let fits = |(text, commands): &&(&ModelText, Vec<Written>)| {
            let between = after.map_or(0, |after| after + 1)..text.row;
            Some(text.row) > after
                && session.rows[between].iter().filter(|row| row.prompt && !row.sidechain).count() <= message.prompts as usize
                && commands.iter().map(|written| &written.text).eq(asked.iter().map(|(_, command)| command))
        };
        let same = |(text, _): &&(&ModelText, Vec<Written>)| {
            let whole = text.parts.iter().map(|(_, _, text)| text.as_str()).collect::<Vec<_>>().join("\n");
            *blake3::hash(trimmed(&whole).as_bytes()).as_bytes() == message.content
        };
        let free = || candidates.iter().filter(|(text, _)| located.iter().all(|other| other.row != text.key)).filter(fits);
        let Some((text, commands)) = free().find(same).or_else(|| free().next()) else { continue };
        let places = asked.iter().zip(commands).map(|((number, _), written)| (*number, written.place)).collect();
        located.push(Located { message: id, row: text.key, places });
    }
    Ok(located)
}

/// Returns the undecided commands of reported messages, as originally written.
pub fn undecided(store: &Store, key: SessionKey, texts: &[ModelText]) -> Result<Vec<(Proposal, Written)>, CommandError> {
    let proposals = store.proposals(key)?.into_iter().filter(|proposal| proposal.status == ProposalStatus::Recorded);
    let written = proposals.filter_map(|proposal| {
        let text = proposal.command.clone();
        let found = find(&text).into_iter().next().map(|found_command| found_command.command);
        let request = found.or_else(|| read(&text).map(Ok))?.map(ModelRequest::from);
        let parts = texts.iter().filter(|text| text.key == proposal.place.row).flat_map(|text| &text.parts);
        let block = parts.clone().find(|(_, index, _)| *index == proposal.place.block).map(|(number, ..)| *number);
        // Until the message is in the file, all blocks of the file are older than the command.
        let block = block.unwrap_or(BlockNumber::MAX);
        let written = Written { place: proposal.place, turn: proposal.turn, block, text, request };
        Some((proposal, written))
    });
    Ok(written.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_that_arrives_while_hooks_run_belongs_to_the_message_that_all_of_them_report() {
        let row = |kind, id: &str, offset| Row { offset, length: 99, id: Some(Key::from_bytes(id.as_bytes())), ..Row::new(kind) };
        let rows = vec![row(RowKind::User, "prompt", 0), row(RowKind::Assistant, "answer", 100)];
        let (session, message) = (Session { rows, bytes: 200, ..Session::default() }, "@create(\"one\")");
        let key = session.rows[1].id.unwrap();
        let text = ModelText { row: 1, key, turn: 1, parts: vec![(2, 0, message.to_owned())] };
        let is_last = |known_bytes, located| {
            is_last(&session, std::slice::from_ref(&text), (message, known_bytes), &|_| Ok(located)).unwrap()
        };
        assert!(is_last(100, true), "the hook started before the row was written");
        assert!(!is_last(200, true), "the next message has the same text");
        assert!(is_last(200, false), "no hook recorded the message");
    }
}
