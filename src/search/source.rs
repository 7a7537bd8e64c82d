//! The files that are searched.

use crate::engine::search::prompt_content;
use crate::engine::sidecar::excerpt;
use crate::fsio::{Disk, Identity};
use crate::model::{Key, PromptSource, TraceContent, TraceEvent, TraceResult};
use crate::provider::{PROVIDERS, Places, ProviderAdapter};
use crate::workspace::{Found, LoggedContents, TracePosition, read_trace};
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::io::{self, BufRead, BufReader, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Part of an output beside a session that is searched, in bytes from its start.
const OUTPUT_BYTES: u64 = 4 << 20;

const READ_BYTES: usize = 1 << 16;

/// The maximum size of a text that a vector is made of, in characters: models for vectors read a few hundred tokens.
const MOST_CHARACTERS: usize = 1_200;
/// The part of it that the prompt may take, in characters.
const PROMPT_CHARACTERS: usize = 600;

/// A file that is searched.
pub struct Source {
    pub kind: SourceKind,
    pub identity: Identity,
    stamp: i64,
    pub logged: Arc<LoggedContents>,
}

/// The content of a file.
pub enum SourceKind {
    Session(Found),
    /// The output of a tool that the client keeps beside a session, and the place of that among the sources.
    Output(PathBuf, usize),
    /// The prompts of all sessions of a client, the deleted ones too.
    Prompts(&'static dyn ProviderAdapter, PathBuf),
}

impl Source {
    pub fn new(found: Found, identity: Identity) -> Source {
        Source::of(SourceKind::Session(found), identity)
    }

    fn of(kind: SourceKind, identity: Identity) -> Source {
        Source { kind, identity, stamp: 0, logged: Arc::default() }
    }

    /// Gives the session its log, and a number that changes with it.
    pub fn set_log(&mut self, stamp: i64, logged: LoggedContents) {
        (self.stamp, self.logged) = (stamp, Arc::new(logged));
    }

    /// Returns a number that changes with the changes of the session by aperture; 0 without any, and if its log turned out to be
    /// unreadable.
    pub fn stamp(&self) -> i64 {
        if self.logged.error().is_some() { 0 } else { self.stamp }
    }

    /// Returns the outputs of tools among files. Those of a subagent are those of its session.
    pub fn outputs(sessions: &[Source], files: Vec<(PathBuf, Identity)>) -> Vec<Source> {
        let beside = |path: &Path| path.ancestors().nth(2).and_then(Path::file_name).map(OsStr::to_owned);
        let names: FxHashSet<OsString> = files.iter().filter_map(|(path, _)| beside(path)).collect();
        let directory = |(place, source): (usize, &Source)| {
            let found = source.session().filter(|found| names.contains(OsStr::new(&found.location.id)))?;
            Some((found.provider.outputs_directory(&found.path)?, place))
        };
        let owners: FxHashMap<PathBuf, usize> = sessions.iter().enumerate().filter_map(directory).collect();
        let owned = files.into_iter().filter_map(|(path, identity)| {
            let owner = *owners.get(path.parent()?)?;
            Some(Source::of(SourceKind::Output(path, owner), identity))
        });
        owned.collect()
    }

    /// Returns the session; `None` if the source is another file.
    pub fn session(&self) -> Option<&Found> {
        if let SourceKind::Session(found) = &self.kind { Some(found) } else { None }
    }

    pub fn path(&self) -> &Path {
        match &self.kind {
            SourceKind::Session(found) => &found.path,
            SourceKind::Output(path, _) | SourceKind::Prompts(_, path) => path,
        }
    }

    /// Reads the events from a position on, each with the offset of its row. Contents that aperture changed are passed as they were.
    pub fn read(&self, disk: &dyn Disk, position: &mut TracePosition, take: &mut dyn FnMut(u64, TraceEvent)) -> io::Result<()> {
        match &self.kind {
            SourceKind::Session(found) => {
                position.reads_subagents = found.location.subagent;
                read_trace(disk, found, &self.logged, position, take)
            }
            SourceKind::Output(path, _) => {
                // Written once: what follows is another output.
                for event in self.events(disk, position.end..u64::MAX, 0, &|_| true)? {
                    take(position.end, event);
                }
                position.end = disk.identify(path)?.bytes;
                Ok(())
            }
            SourceKind::Prompts(provider, path) => {
                let mut file = BufReader::new(disk.open(path, position.end)?);
                let mut line = Vec::new();
                while file.read_until(b'\n', &mut line)? > 0 && line.last() == Some(&b'\n') {
                    if let Some(prompt) = provider.typed_prompt(&line) {
                        let content = TraceContent::Prompt { text: prompt.text, source: PromptSource::Typed };
                        let (row, turn) = (prompt.session, position.next_turn());
                        take(position.end, TraceEvent { block: 0, row, time: prompt.time, turn, content });
                    }
                    position.end += line.len() as u64;
                    line.clear();
                }
                Ok(())
            }
        }
    }

    /// Returns the events of a part of the file, whose first block has a number: those of the first row, and of the rows whose bytes
    /// `is_wanted` returns true for.
    pub fn events(
        &self,
        disk: &dyn Disk,
        Range { start, end }: Range<u64>,
        block: u32,
        is_wanted: &dyn Fn(&[u8]) -> bool,
    ) -> io::Result<Vec<TraceEvent>> {
        let mut events = Vec::new();
        if let SourceKind::Output(path, _) = &self.kind {
            let mut bytes = Vec::new();
            disk.open(path, start)?.take(OUTPUT_BYTES).read_to_end(&mut bytes)?;
            if !bytes.is_empty() && !bytes.contains(&0) {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                let content = TraceContent::Result(TraceResult { call: Key(0), error: false, declined: false, text });
                let time = (self.identity.modified / 1_000_000) as i64;
                events.push(self.logged.masked(TraceEvent { block: 0, row: String::new(), time, turn: 0, content }));
            }
            return Ok(events);
        }
        let length = end.saturating_sub(start);
        let mut file = BufReader::with_capacity(READ_BYTES, disk.open(self.path(), start)?.take(length));
        let mut position = TracePosition::before_block(block);
        position.reads_subagents = matches!(&self.kind, SourceKind::Session(found) if found.location.subagent);
        let mut line = Vec::new();
        while file.read_until(b'\n', &mut line)? > 0 {
            match &self.kind {
                SourceKind::Session(found) => {
                    let line = self.line(line.strip_suffix(b"\n").unwrap_or(&line));
                    // A later row tells if a prompt that waits is sent.
                    if events.is_empty() || position.has_waiting_prompts() || is_wanted(&line) {
                        position.line(found.provider, &line, self.logged.turns(), &mut |event| {
                            events.push(self.logged.masked(event));
                        });
                    }
                }
                SourceKind::Output(..) => {}
                SourceKind::Prompts(provider, _) => {
                    if let Some(prompt) = provider.typed_prompt(&line) {
                        let content = TraceContent::Prompt { text: prompt.text, source: PromptSource::Typed };
                        events.push(TraceEvent { block, row: prompt.session, time: prompt.time, turn: 0, content });
                    }
                }
            }
            line.clear();
        }
        Ok(events)
    }

    /// Names the rows of events of a part of the file that starts at an offset by their lines in the whole file, if the client does not
    /// name its rows.
    pub fn name_rows(&self, disk: &dyn Disk, start: u64, events: &mut [TraceEvent]) -> io::Result<()> {
        let line_of = |event: &TraceEvent| event.row.strip_prefix('L')?.parse::<usize>().ok();
        if events.iter().all(|event| line_of(event).is_none()) {
            return Ok(());
        }
        let mut before = BufReader::with_capacity(READ_BYTES, disk.open(self.path(), 0)?.take(start));
        let mut lines = 0;
        while let part @ [_, ..] = before.fill_buf()? {
            lines += memchr::memchr_iter(b'\n', part).count();
            let length = part.len();
            before.consume(length);
        }
        events
            .iter_mut()
            .for_each(|event| event.row = line_of(event).map_or_else(|| event.row.clone(), |line| format!("L{}", lines + line)));
        Ok(())
    }

    /// Returns a line of the file with its contents as they were before aperture changed them.
    pub(super) fn line<'l>(&self, line: &'l [u8]) -> Cow<'l, [u8]> {
        self.session().map_or(Cow::Borrowed(line), |found| self.logged.line(found.provider, line))
    }

    /// Returns true if a row only holds a call of a tool or its result, as far as its bytes tell without being parsed.
    pub fn is_call(&self, row: &[u8]) -> bool {
        matches!(&self.kind, SourceKind::Session(found) if found.provider.is_call(row))
    }
}

/// Returns the lists of the prompts of all sessions.
pub fn prompt_files(disk: &dyn Disk, places: &Places) -> Vec<Source> {
    let files =
        PROVIDERS.iter().flat_map(|provider| provider.prompts_files(places).into_iter().map(move |path| (*provider, path)));
    files
        .filter_map(|(provider, path)| Some(Source::of(SourceKind::Prompts(provider, path.clone()), disk.identify(&path).ok()?)))
        .collect()
}

/// Returns the texts of the turns of a session that begin with a prompt, by the content of the turn in the index: the prompt and the
/// answers.
/// Errors: the session cannot be read.
pub fn turn_texts(disk: &dyn Disk, source: &Source) -> io::Result<FxHashMap<u64, String>> {
    let mut turns: FxHashMap<u32, (u64, String, String)> = FxHashMap::default();
    source.read(disk, &mut TracePosition::default(), &mut |_, event: TraceEvent| match &event.content {
        TraceContent::Prompt { text, .. } => {
            turns.entry(event.turn).or_insert_with(|| (prompt_content(&event), text.clone(), String::new()));
        }
        TraceContent::Answer(text) => {
            if let Some((_, _, answers)) =
                turns.get_mut(&event.turn).filter(|(_, _, answers)| answers.len() < 4 * MOST_CHARACTERS)
            {
                answers.push_str(text);
                answers.push('\n');
            }
        }
        _ => {}
    })?;
    let text = |(content, prompt, answers): (u64, String, String)| {
        let prompt = excerpt(prompt.trim(), PROMPT_CHARACTERS);
        let left = MOST_CHARACTERS.saturating_sub(prompt.chars().count());
        (content, format!("{prompt}\n{}", excerpt(answers.trim(), left)))
    };
    Ok(turns.into_values().map(text).collect())
}
