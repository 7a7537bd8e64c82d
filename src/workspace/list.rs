//! Lists sessions with their totals, which are computed once and cached.

use super::find::{FindError, Found, find_files, roots};
use super::project::{Project, main_session, stated};
use super::secret_scan::named_in;
use crate::engine;
use crate::fsio::{Disk, Identity, OpenFile};
use crate::model::FileUsage;
use crate::model::limits::{HELD_FILE_BYTES, TITLE_CHARACTERS};
use crate::provider::{Places, ProviderAdapter, Totals};
use crate::store::{KnownTotals, TotalsCache, directory_and_name};
use rayon::prelude::*;
use std::collections::{HashMap, HashSet};
use std::io::{self, BufReader, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The number of bytes that are read at a time, and the initial size of the scan buffer, which grows for longer rows: it stays in the
/// cache of a core.
const READ_BYTES: usize = 1 << 18;

/// A session with its totals.
#[derive(Debug)]
pub struct Listed {
    pub found: Found,
    pub identity: Identity,
    pub totals: Totals,
    pub bills: Option<FileUsage>,
}

impl Listed {
    /// Returns the age of the session as a time: that of its newest row, or else of the last change of its file, in milliseconds
    /// since 1970, UTC.
    pub fn last_written(&self) -> i64 {
        self.totals.last_written.unwrap_or((self.identity.modified / 1_000_000) as i64)
    }

    /// Returns the directory in which the session was started; `None` if its file names none.
    pub fn directory(&self) -> Option<&Path> {
        Some(Path::new(&*self.totals.directory)).filter(|directory| !directory.as_os_str().is_empty())
    }

    fn entry(&self) -> (&Path, Identity, &Totals) {
        (&self.found.path, self.identity, &self.totals)
    }
}

/// Lists the sessions of a project, or all sessions, with their totals, grouped arbitrarily and in no particular order. Files and
/// directories that cannot be read are passed to `skipped`. With `titles`, no session is [`Totals::untitled`].
/// Errors: there is no session at all.
pub fn list(
    disk: &dyn Disk,
    cache: &TotalsCache,
    places: &Places,
    project: Option<&Project>,
    titles: bool,
    skipped: &mut dyn FnMut(&Path, io::Error),
) -> Result<Vec<Vec<Listed>>, FindError> {
    let mut problems = Vec::new();
    let find = || {
        find_files(disk, &|provider| provider.roots(places), &mut |path, error| problems.push((path.to_owned(), error))).sessions
    };
    let (directories, known) = rayon::join(find, || cache.read(disk));
    let all = project.is_none() && problems.is_empty();
    for (path, error) in problems {
        skipped(&path, error);
    }
    if directories.iter().all(Vec::is_empty) {
        return Err(FindError::NoSessions(roots(places)));
    }
    let seen = if all { roots(places) } else { Vec::new() };
    Ok(list_files(disk, cache, directories, &known, project, titles, &seen, skipped))
}

/// Lists sessions that were found, like [`list`].
pub fn list_found(
    disk: &dyn Disk,
    cache: &TotalsCache,
    found: Vec<(Found, Identity)>,
    project: Option<&Project>,
    titles: bool,
    skipped: &mut dyn FnMut(&Path, io::Error),
) -> Vec<Listed> {
    if found.is_empty() {
        return Vec::new();
    }
    let mut directories: HashMap<PathBuf, Vec<(Found, Identity)>> = HashMap::new();
    for file in found {
        directories.entry(file.0.path.parent().unwrap_or(Path::new("")).to_owned()).or_default().push(file);
    }
    let directories = directories.into_values().collect();
    list_files(disk, cache, directories, &cache.read(disk), project, titles, &[], skipped).into_iter().flatten().collect()
}

/// Lists the sessions in some directories. All directories below those `seen` are among them.
#[expect(clippy::too_many_arguments, reason = "the two listings differ in most of them")]
fn list_files(
    disk: &dyn Disk,
    cache: &TotalsCache,
    directories: Vec<Vec<(Found, Identity)>>,
    known: &KnownTotals,
    project: Option<&Project>,
    titles: bool,
    seen: &[PathBuf],
    skipped: &mut dyn FnMut(&Path, io::Error),
) -> Vec<Vec<Listed>> {
    let (mut listed, unknown): (Vec<_>, Vec<_>) =
        directories.into_par_iter().map(|files| remembered(files, known, titles)).unzip();
    // The project of a file without known totals is read from its first rows, so that no other file is scanned as a whole.
    let is_near =
        |(found, _): &(Found, Identity)| project.is_none_or(|project| project.holds(disk, found, stated(disk, found).as_deref()));
    let mut unknown: Vec<(Found, Identity)> =
        unknown.into_par_iter().flatten().filter(|file: &(Found, Identity)| is_near(file)).collect();
    // Largest first, so that no core is left with a large file at the end.
    unknown.sort_by_key(|(_, identity)| std::cmp::Reverse(identity.bytes));
    let scanned = unknown.into_par_iter().map_init(Vec::new, |buffer, (found, identity)| {
        let totals = totals(disk, found.provider, &found.path, titles, buffer);
        (found, identity, totals)
    });
    let mut fresh = Vec::new();
    for (found, identity, totals) in scanned.collect::<Vec<_>>() {
        match totals {
            Ok((totals, bills)) => fresh.push(Listed { found, identity, totals, bills: Some(bills) }),
            Err(error) => skipped(&found.path, error),
        }
    }
    if !fresh.is_empty() {
        // A complete listing of some directories shows which files no longer exist there.
        let others = if seen.is_empty() { &[][..] } else { &listed[..] };
        let files: Vec<_> = others.iter().flatten().chain(&fresh).map(Listed::entry).collect();
        cache.remember(disk, &files, |directory| !seen.iter().any(|root| directory.starts_with(root)));
    }
    listed.push(fresh);
    follow_main_sessions(disk, &mut listed);
    if let Some(project) = project {
        listed.par_iter_mut().for_each(|listed| listed.retain(|listed| project.holds(disk, &listed.found, listed.directory())));
    }
    listed
}

/// Reads the titles of the sessions that are untitled. A file that cannot be read any more stays untitled.
pub fn read_titles(disk: &dyn Disk, cache: &TotalsCache, sessions: &mut [&mut Listed]) {
    let untitled: Vec<&mut &mut Listed> = sessions.iter_mut().filter(|listed| listed.totals.untitled).collect();
    let read = |buffer: &mut Vec<u8>, listed: &mut &mut Listed| {
        let directory = listed.totals.directory.clone();
        let (read, _) = totals(disk, listed.found.provider, &listed.found.path, true, buffer).ok()?;
        listed.totals = Totals { directory, ..read.clone() };
        Some((listed.found.path.clone(), listed.identity, read))
    };
    let read: Vec<(PathBuf, Identity, Totals)> =
        untitled.into_par_iter().map_init(Vec::new, |buffer, listed| read(buffer, listed)).flatten().collect();
    if !read.is_empty() {
        let files: Vec<_> = read.iter().map(|(path, identity, totals)| (&**path, *identity, totals)).collect();
        cache.remember(disk, &files, |_| true);
    }
}

/// Gives each session of a subagent the directory of the session that started it.
fn follow_main_sessions(disk: &dyn Disk, listed: &mut [Vec<Listed>]) {
    let started: Vec<PathBuf> = listed.iter().flatten().filter_map(|listed| main_session(&listed.found)).collect();
    if started.is_empty() {
        return;
    }
    let started: HashSet<PathBuf> = started.into_iter().collect();
    let main: HashMap<PathBuf, Arc<str>> = listed
        .iter()
        .flatten()
        .filter(|listed| started.contains(&listed.found.path))
        .map(|listed| (listed.found.path.clone(), listed.totals.directory.clone()))
        .collect();
    listed.par_iter_mut().flatten().for_each(|listed| {
        let Some(path) = main_session(&listed.found) else { return };
        let directory = main.get(&path).cloned().or_else(|| Some(stated(disk, &listed.found)?.to_string_lossy().into()));
        if let Some(directory) = directory.filter(|directory| !directory.is_empty()) {
            listed.totals.directory = directory;
        }
    });
}

/// Splits the files of a directory into those with cached totals and the others.
fn remembered(files: Vec<(Found, Identity)>, known: &KnownTotals, titles: bool) -> (Vec<Listed>, Vec<(Found, Identity)>) {
    let (mut listed, mut unknown) = (Vec::with_capacity(files.len()), Vec::new());
    let mut totals = None;
    for (found, identity) in files {
        let same = directory_and_name(&found.path)
            .and_then(|(directory, name)| totals.get_or_insert_with(|| known.of_directory(directory)).take(name, &identity));
        match same.filter(|totals| !(titles && totals.untitled)) {
            Some(totals) => listed.push(Listed { found, identity, totals, bills: None }),
            None => unknown.push((found, identity)),
        }
    }
    (listed, unknown)
}

/// Computes the totals of one file, with credentials masked in the title, and collects its bills. The file is opened once. Without
/// `titles`, a title that could contain a credential is not read.
fn totals(
    disk: &dyn Disk,
    provider: &dyn ProviderAdapter,
    path: &Path,
    titles: bool,
    buffer: &mut Vec<u8>,
) -> io::Result<(Totals, FileUsage)> {
    let mut file = disk.open(path, 0)?;
    let (totals, bills, whole) = scan(provider, &mut *file, buffer, titles)?;
    let cut = totals.title.chars().count() >= TITLE_CHARACTERS;
    let masked = if cut { engine::mask_cut(&totals.title) } else { engine::mask(&totals.title).into_owned() };
    if !engine::could_be_named(&masked) {
        return Ok((Totals { title: masked, ..totals }, bills));
    }
    if !titles {
        return Ok((Totals { title: String::new(), untitled: true, ..totals }, bills));
    }
    // A word of the title could be a credential: search all rows for values that they name as credentials.
    let named = match whole {
        Some(bytes) => named_in(&mut &*bytes)?,
        None => {
            file.seek(SeekFrom::Start(0))?;
            named_in(&mut BufReader::with_capacity(READ_BYTES, file))?
        }
    };
    Ok((Totals { title: named.mask_start(&masked), ..totals }, bills))
}

/// Computes the totals of one file and collects its bills, in one pass. With `hold`, also returns its bytes, if it has at most
/// [`HELD_FILE_BYTES`].
pub fn scan<'a>(
    provider: &dyn ProviderAdapter,
    file: &mut dyn OpenFile,
    buffer: &'a mut Vec<u8>,
    hold: bool,
) -> io::Result<(Totals, FileUsage, Option<&'a [u8]>)> {
    let mut scanner = provider.scanner();
    let whole = each_line(file, buffer, hold, &mut |line| scanner.line(line))?;
    let (totals, bills) = scanner.finish(engine::tokens::unrecorded_output);
    Ok((totals, bills, whole))
}

/// Calls a function with each line of a file, the unfinished last one included. With `hold`, returns the bytes of the file, if it has at
/// most [`HELD_FILE_BYTES`].
pub fn each_line<'a>(
    file: &mut dyn OpenFile,
    buffer: &'a mut Vec<u8>,
    hold: bool,
    take: &mut dyn FnMut(&[u8]),
) -> io::Result<Option<&'a [u8]>> {
    let length = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(0))?;
    let held = if hold && length <= HELD_FILE_BYTES as u64 { length as usize } else { 0 };
    // One more byte, so that the end of the file is detected without moving the bytes.
    buffer.resize(buffer.len().max(held + 1).max(READ_BYTES), 0);
    let mut is_whole = true;
    // The unfinished row, and the end of the bytes read.
    let (mut start, mut end) = (0, 0);
    loop {
        if end == buffer.len() && start > 0 {
            buffer.copy_within(start..end, 0);
            (start, end, is_whole) = (0, end - start, false);
        } else if end == buffer.len() {
            buffer.resize(buffer.len() * 2, 0);
        }
        // In pieces, so that the bytes are still in the processor's cache when they are scanned.
        let limit = buffer.len().min(end + READ_BYTES);
        let read = file.read(&mut buffer[end..limit])?;
        // The unfinished row has no line feed: search only the new bytes.
        let mut from = end;
        end += read;
        while let Some(length) = memchr::memchr(b'\n', &buffer[from..end]) {
            take(&buffer[start..from + length]);
            start = from + length + 1;
            from = start;
        }
        if read == 0 {
            take(&buffer[start..end]);
            return Ok((hold && is_whole).then_some(&buffer[..end]));
        }
    }
}
