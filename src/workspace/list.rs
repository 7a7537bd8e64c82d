//! The totals of all sessions, scanned once and remembered.

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

/// Bytes of the buffer through which a file is scanned; a longer row makes it grow.
const BUFFER_BYTES: usize = 1 << 20;

/// A session with its totals.
#[derive(Debug)]
pub struct Listed {
    /// The session.
    pub found: Found,
    /// The state of its file.
    pub identity: Identity,
    /// What the file says.
    pub totals: Totals,
}

impl Listed {
    /// What is remembered of it.
    fn entry(&self) -> (&Path, Identity, &Totals) {
        (&self.found.path, self.identity, &self.totals)
    }
}

/// The sessions of a project, or all, with their totals, in pieces and in no order. What cannot be read is passed to
/// `skipped`.
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
    // The largest first, so that no core is left with a large one at the end.
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
        // Who saw all sessions below some directories knows which are gone there.
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

/// Those files of a directory of which the totals are known, and those of which they are not.
fn remembered(
    files: Vec<(Found, Identity)>,
    known: &KnownTotals,
    project: Option<&Project>,
) -> (Vec<Listed>, Vec<(Found, Identity)>) {
    let (mut listed, mut unknown) = (Vec::with_capacity(files.len()), Vec::new());
    // Where a path says nothing, its totals do.
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

/// A title without credentials. Where a word of it could be one, all of the file is asked whether it names it as one.
fn title(disk: &dyn Disk, path: &Path, text: &str) -> io::Result<String> {
    let cut = text.chars().count() >= TITLE_CHARACTERS;
    let masked = if cut { engine::mask_cut(text) } else { engine::mask(text).into_owned() };
    if !engine::could_be_named(&masked) {
        return Ok(masked);
    }
    Ok(named_in_file(disk, path)?.mask_start(&masked))
}

/// The totals of one file, read once through a buffer.
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
        // What was held has no line feed: only what is new is searched.
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
