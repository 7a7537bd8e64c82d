//! Finds, reads and (only here) changes sessions.

mod apply;
mod companions;
mod file;
mod file_edits;
mod find;
mod fork;
mod kept;
mod list;
mod live;
mod load;
mod originals;
mod parts;
mod project;
mod requests;
mod secret_scan;
#[cfg(test)]
mod tests;
mod topics;
mod trace;
mod usage;
mod verify;
mod writer;

pub use crate::planning::{
    Aim, BoundBlocks, Content, Conversion, DigestFold, Draft, Drafted, DriftKind, DriftedValue, EarlierRows, Fork, Inexact,
    LogCheck, LoggedSession, ModelTexts, NOTE, Original, PlanError, Redacted, Repaired, Scope, SkipReason, SkippedBlocks,
    Thinking, Undone, archive, are_renumbered_since, fold_into_digest, parse_changed, parse_chunk, shorten, shrink,
};
pub use apply::{Applied, ApplyError, apply, history, settle, was_done};
pub use companions::{
    Companions, all_companions, companions, find_beside_session, redact_companions, reverted, scan_companion, subagents,
};
pub use file_edits::file_edits;
pub use find::{FindError, Found, FoundFiles, find, find_all, find_files, find_in_folder, looks_like, roots};
pub use fork::{fork_id, write_fork};
pub use kept::{CopyOutcome, CopyState, KeepError, KeptCopies, Restoration, RestoredState, days_left, kept_folder, older_path};
pub use list::{Listed, each_line, list, list_found, read_titles};
pub use live::{clients_of, is_alive, open_sessions, session_of};
pub use load::load;
pub use originals::{LoggedContents, SharedStore};
pub use parts::PartsDisk;
use parts::is_put_together;
pub use project::{Project, absolute, named_directory, stated};
pub use requests::{RequestDisk, RequestSession, RequestSessions, SessionBytes, find_in_requests};
pub use secret_scan::{SecretMatch, named_in_file, scan_bytes};
pub use topics::topics;
pub use trace::{TracePosition, left_rows, masked, read_trace};
pub use usage::usage;
pub use verify::{FileState, Verified, Verifier, WayBack, found};
pub use writer::{Writer, take_writer};

use crate::engine::{self, Analysis, Capacity, CapacitySource, Finding, Known, ReadSettings};
use crate::fsio::Disk;
use crate::model::{BlockNumber, Event, History, Key, Session, Slot, Window, request_id};
use crate::planning::{self, Originals, PlanSource, ReplacedValues, SpliceError};
use crate::provider::{ClientPart, Location, ProviderAdapter, WindowSize};
use crate::store::{Cache, Store};
use file::{SessionFiles, SessionRows};
use std::borrow::Cow;
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::Arc;

/// A session that is open for reading.
pub struct Workspace<'a> {
    disk: &'a dyn Disk,
    cache: Arc<Cache>,
    files: SessionFiles<'a>,
    /// The provider whose format the file has.
    pub provider: &'static dyn ProviderAdapter,
    pub path: PathBuf,
    pub location: Location,
    pub reading: Analysis,
    /// The operations of aperture on the session.
    pub history: History,
}

/// Frees the analysis in the background: for a large session this takes longer than showing it, and the program's exit need not
/// wait for it.
impl Drop for Workspace<'_> {
    fn drop(&mut self) {
        let reading = std::mem::take(&mut self.reading);
        rayon::spawn(move || drop(reading));
    }
}

impl<'a> Workspace<'a> {
    /// Opens and reads a session with its history in the store. Runs the full analysis only if `whole` returns true for the session, and
    /// [`engine::outline`] otherwise.
    pub fn open(
        disk: &'a dyn Disk,
        cache: &Arc<Cache>,
        history: History,
        found: Found,
        settings: &ReadSettings,
        whole: &dyn Fn(&Session) -> bool,
    ) -> io::Result<Workspace<'a>> {
        let Found { provider, path, location } = found;
        // Contents of requests are not written to a disk.
        let cache = if request_id(&path).is_some() { &Arc::new(Cache::default()) } else { cache };
        // Contents that were shortened may have named credentials too.
        let hidden = originals::logged_credentials(&history);
        let loader = load::Loader { disk, cache, provider, hidden };
        let (mut session, files) = loader.load(&path, location.id.clone())?;
        let known = secret_scan::named_secrets(provider, &files, &session)?.with(&loader.hidden);
        known.hide_in(&mut session);
        let window = |session: &Session| {
            let window = provider.window(session);
            Window { outdated_bill: planning::outdated_bill(session, &window.rows, &history), ..window }
        };
        let logged = planning::logged_costs(&session, &history);
        let mut reading = match whole(&session) {
            true => engine::read(session, window, settings, &logged),
            false => engine::outline(session, window, settings, &logged),
        };
        reading.known = known;
        let Capacity { tokens, source, .. } = reading.capacity;
        reading.capacity.reserve =
            provider.reserve(&reading.model, WindowSize { tokens, reported: source == CapacitySource::Client });
        planning::keep_turn_numbers(&mut reading, &history);
        planning::apply_marks(&mut reading, &history, settings.focus_turns);
        if planning::is_bill_changed(&reading, &history) {
            reading.price.without_bill();
        }
        Ok(Workspace { disk, cache: Arc::clone(cache), files, provider, path, location, reading, history })
    }

    /// Returns the key of what is planned for the session in this state, with these further inputs; `None` for a session that is not a
    /// file.
    pub fn plan_key(&self, inputs: &impl serde::Serialize) -> Option<Key> {
        let blocks = self.reading.in_window().map(|block| {
            let marks = (block.pin.is_some(), block.focused, block.state as u8, block.level);
            (block.number, block.hash.0, block.tokens.value.to_bits(), block.usefulness.turns_left, marks)
        });
        let window: Vec<_> = blocks.collect();
        let (path, identity) = (self.path.to_str()?, self.files.identity);
        let all = (env!("CARGO_PKG_VERSION"), path, identity, self.history.last(), window, inputs);
        let packed = postcard::to_stdvec(&all).ok().filter(|_| request_id(&self.path).is_none())?;
        Some(Key::from_bytes(&packed))
    }

    /// Returns the lifetime of the client's cache entries in milliseconds, according to the bill of the last response that wrote
    /// any.
    pub fn cache_milliseconds(&self) -> i64 {
        let session = &self.reading.session;
        let wrote = session.rows.iter().rev().find(|row| row.usage.is_some_and(|usage| usage.cache_written() > 0));
        let place = wrote.and_then(|row| session.rows.iter().position(|other| std::ptr::eq(row, other)));
        let line = place.and_then(|row| self.line(row as u32).ok());
        let usage = line.as_deref().and_then(|line| Some(line.get(self.provider.locate_slot(line, Slot::Usage)?)?.to_vec()));
        self.provider.cache_milliseconds(&usage.unwrap_or_default())
    }

    /// Returns the session with the bills of its responses, and the sizes of their contents, as they were before operations of the log
    /// changed them, impossible ones as recorded. `store` opens the one with the log.
    pub fn billed_session(&self, store: &dyn Fn() -> Option<Store>) -> Cow<'_, Session> {
        let session = &self.reading.session;
        let replaced = ReplacedValues::new(self.history.edits());
        let line = |row| self.line(row).ok();
        let store = if self.history.operations.is_empty() { None } else { store() };
        let billed = store.and_then(|store| planning::billed_session(self.provider, session, &replaced, &line, &store));
        let mut billed = billed.map_or(Cow::Borrowed(session), Cow::Owned);
        for (row, usage) in &self.reading.impossible_bills {
            billed.to_mut().rows[*row as usize].usage = Some(*usage);
        }
        billed
    }

    /// Returns the texts that the client sends outside the conversation, as far as the file records them: those of the last row
    /// with tools, or of the last row with any if none has tools.
    pub fn outside_texts(&self) -> io::Result<Vec<(ClientPart, String)>> {
        let session = &self.reading.session;
        let records = |row: &u32| {
            let row = &session.rows[*row as usize];
            matches!(row.event.as_deref(), Some(Event::PromptSnapshot)) && !row.sidechain
        };
        let mut last = Vec::new();
        for row in (0..session.rows.len() as u32).rev().filter(records) {
            let texts = self.provider.outside_texts(&self.line(row)?);
            if texts.iter().any(|(part, _)| *part != ClientPart::Prompt) {
                return Ok(texts);
            }
            if last.is_empty() {
                last = texts;
            }
        }
        Ok(last)
    }

    /// Returns a row, from the file that contains it.
    fn line(&self, row: u32) -> io::Result<Vec<u8>> {
        self.files.line(&self.reading.session, row)
    }

    /// Returns findings with the lines of their rows, from 1; `None` for a row in the file of another session, and if the client wrote
    /// other rows than those.
    pub fn located(&self, findings: Vec<Finding>) -> io::Result<Vec<(Finding, Option<u64>)>> {
        let session = &self.reading.session;
        if is_put_together(&self.path) {
            return Ok(findings.into_iter().map(|finding| (finding, None)).collect());
        }
        let (mut line, mut offset) = (1, 0);
        let mut located = Vec::with_capacity(findings.len());
        for finding in findings {
            let row = session.rows.get(finding.row as usize).filter(|_| session.inherited_from(finding.row).is_none());
            // The findings are in file order, so that each byte is read once.
            if let Some(row) = row.filter(|row| row.offset > offset) {
                line += self.files.own.line_feeds(offset..row.offset)?;
                offset = row.offset;
            }
            let line = row.map(|_| line);
            located.push((finding, line));
        }
        Ok(located)
    }

    /// Returns the size of what the client wrote of the session: bytes, and rows.
    pub fn written_size(&self) -> io::Result<(u64, usize)> {
        let session = &self.reading.session;
        if !is_put_together(&self.path) {
            return Ok((session.bytes, session.rows.len()));
        }
        let mut content = Vec::new();
        self.disk.open_written(&self.path)?.read_to_end(&mut content)?;
        Ok((content.len() as u64, content.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count()))
    }

    /// Returns the bytes of the file that the session was read from.
    pub fn bytes(&self) -> io::Result<Vec<u8>> {
        self.files.own.range(0..self.reading.session.bytes)
    }

    /// Returns the contents of blocks like [`Workspace::contents`], with credentials masked.
    pub fn masked_contents(&self, numbers: &[BlockNumber]) -> io::Result<Vec<Content>> {
        let mask = |text: &str| self.reading.known.mask(text).into_owned();
        let masked = |content: Content| Content {
            sent: mask(&content.sent),
            readable: mask(&content.readable),
            cut: content.cut.as_deref().map(mask),
        };
        Ok(self.contents(numbers)?.into_iter().map(masked).collect())
    }

    /// Returns the contents of blocks; reads each row again, once.
    /// Errors: a row can no longer be read, or changed since it was read.
    pub fn contents(&self, numbers: &[BlockNumber]) -> io::Result<Vec<Content>> {
        let line = |row| Ok(self.line(row)?.into());
        planning::contents(self.provider, &self.reading, numbers, &line).map_err(|error| match error {
            SpliceError::Mismatch => load::changed_while_read(),
            SpliceError::Io(error) => error,
        })
    }

    /// Treats the values of a set as credentials of this session.
    pub fn know(&mut self, known: &Known) {
        known.hide_in(&mut self.reading.session);
        self.reading.known = self.reading.known.with(known);
    }

    /// Starts a plan for this session. `now` is in milliseconds since 1970, UTC.
    /// Errors: the file cannot be read, or changed since the session was read.
    pub fn draft(&'a self, store: Option<&'a Store>, now: i64) -> Result<Draft<'a>, PlanError> {
        let source = PlanSource { provider: self.provider, reading: &self.reading, history: &self.history };
        let originals = store.map(|store| store as &dyn Originals);
        Draft::new(source, Box::new(SessionRows::new(self)), originals, now)
    }
}
