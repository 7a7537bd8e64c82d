//! Lists sessions with their totals, which are computed once and cached.

use super::find::{FindError, Found, find_by_directory, roots};
use super::project::Project;
use super::sightings::named_in_file;
use crate::engine;
use crate::fsio::{Disk, Identity};
use crate::model::limits::TITLE_CHARACTERS;
use crate::provider::{Places, ProviderAdapter, Totals};
use crate::store::{KnownTotals, TotalsCache, directory_and_name};
use rayon::prelude::*;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The initial size of the scan buffer, in bytes; it grows for longer rows.
const BUFFER_BYTES: usize = 1 << 20;

/// A session with its totals.
#[derive(Debug)]
pub struct Listed {
    /// The session.
    pub found: Found,
    /// The state of its file.
    pub identity: Identity,
    /// The totals of the session.
    pub totals: Totals,
}

impl Listed {
    /// Returns the cache entry of the session.
    fn entry(&self) -> (&Path, Identity, &Totals) {
        (&self.found.path, self.identity, &self.totals)
    }
}

/// Lists the sessions of a project, or all sessions, with their totals, grouped arbitrarily and in no particular order. Files and
/// directories that cannot be read are passed to `skipped`.
///
/// # Errors
///
/// There is no session at all.
pub fn list(
    disk: &dyn Disk,
    cache: &TotalsCache,
    places: &Places,
    project: Option<&Project>,
    skipped: &mut dyn FnMut(&Path, io::Error),
) -> Result<Vec<Vec<Listed>>, FindError> {
    let mut problems = Vec::new();
    let find = || find_by_directory(disk, places, &mut |path, error| problems.push((path.to_owned(), error)));
    let (directories, known) = rayon::join(find, || cache.read(disk));
    let all = project.is_none() && problems.is_empty();
    for (path, error) in problems {
        skipped(&path, error);
    }
    if directories.iter().all(Vec::is_empty) {
        return Err(FindError::NoSessions(roots(places)));
    }
    let (mut listed, unknown): (Vec<_>, Vec<_>) =
        directories.into_par_iter().map(|files| remembered(files, &known, project)).unzip();
    let mut unknown: Vec<(Found, Identity)> = unknown.into_iter().flatten().collect();
    // Largest first, so that no core is left with a large file at the end.
    unknown.sort_by_key(|(_, identity)| std::cmp::Reverse(identity.bytes));
    let scanned: Vec<(Found, Identity, io::Result<Totals>)> = unknown
        .into_par_iter()
        .map_init(Vec::new, |buffer, (found, identity)| {
            let totals = scan(disk, found.provider, &found.path, buffer)
                .and_then(|totals| Ok(Totals { title: title(disk, &found.path, &totals.title)?, ..totals }));
            (found, identity, totals)
        })
        .collect();
    let mut fresh = Vec::new();
    for (found, identity, totals) in scanned {
        match totals {
            Ok(totals) => fresh.push(Listed { found, identity, totals }),
            Err(error) => skipped(&found.path, error),
        }
    }
    if !fresh.is_empty() {
        // A complete listing of some directories shows which files no longer exist there.
        let (others, seen) = if all { (&listed[..], roots(places)) } else { (&[][..], Vec::new()) };
        let files: Vec<_> = others.iter().flatten().chain(&fresh).map(Listed::entry).collect();
        cache.remember(disk, &files, |directory| !seen.iter().any(|root| directory.starts_with(root)));
    }
    listed.push(fresh);
    if let Some(project) = project {
        let stated = |listed: &Listed| Some(PathBuf::from(&*listed.totals.directory));
        listed.iter_mut().for_each(|listed| listed.retain(|listed| project.holds(&listed.found, || stated(listed))));
    }
    Ok(listed)
}

/// Splits the files of a directory into those with cached totals and the others.
fn remembered(
    files: Vec<(Found, Identity)>,
    known: &KnownTotals,
    project: Option<&Project>,
) -> (Vec<Listed>, Vec<(Found, Identity)>) {
    let (mut listed, mut unknown) = (Vec::with_capacity(files.len()), Vec::new());
    // If the path does not name a project, the totals do.
    let near = |found: &Found| project.is_none_or(|project| found.location.project.is_empty() || project.holds(found, || None));
    let mut totals = None;
    for (found, identity) in files.into_iter().filter(|(found, _)| near(found)) {
        let same = directory_and_name(&found.path)
            .and_then(|(directory, name)| totals.get_or_insert_with(|| known.of_directory(directory)).take(name, &identity));
        match same {
            Some(totals) => listed.push(Listed { found, identity, totals }),
            None => unknown.push((found, identity)),
        }
    }
    (listed, unknown)
}

/// Returns a title with credentials masked. If a word of it could be a credential, searches the whole file for values that it names
/// as credentials.
fn title(disk: &dyn Disk, path: &Path, text: &str) -> io::Result<String> {
    let cut = text.chars().count() >= TITLE_CHARACTERS;
    let masked = if cut { engine::mask_cut(text) } else { engine::mask(text).into_owned() };
    if !engine::could_be_named(&masked) {
        return Ok(masked);
    }
    Ok(named_in_file(disk, path)?.mask_start(&masked))
}

/// Computes the totals of one file, read once through a buffer.
pub fn scan(disk: &dyn Disk, provider: &dyn ProviderAdapter, path: &Path, buffer: &mut Vec<u8>) -> io::Result<Totals> {
    let mut file = disk.open(path, 0)?;
    let mut scanner = provider.scanner();
    buffer.resize(buffer.len().max(BUFFER_BYTES), 0);
    let mut held = 0;
    loop {
        if held == buffer.len() {
            buffer.resize(buffer.len() * 2, 0);
        }
        let read = file.read(&mut buffer[held..])?;
        let end = held + read;
        let mut start = 0;
        // The bytes held from the last read have no line feed: search only the new ones.
        let mut from = held;
        while let Some(length) = memchr::memchr(b'\n', &buffer[from..end]) {
            scanner.line(&buffer[start..from + length]);
            start = from + length + 1;
            from = start;
        }
        if read == 0 {
            scanner.line(&buffer[start..end]);
            return Ok(scanner.totals());
        }
        buffer.copy_within(start..end, 0);
        held = end - start;
    }
}
