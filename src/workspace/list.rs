//! The totals of all sessions, scanned once and remembered.

use super::find::{FindError, Found, find_all};
use super::project::Project;
use crate::engine;
use crate::fsio::{Disk, Identity};
use crate::model::limits::TITLE_CHARACTERS;
use crate::provider::{PROVIDERS, Places, ProviderAdapter, Totals};
use crate::store::{Cache, directory_and_name};
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

/// The sessions of a project, or all, with their totals, in no order. What cannot be read is passed to `skipped`.
///
/// # Errors
///
/// There is no session at all.
pub fn list(
    disk: &dyn Disk,
    cache: &Cache,
    places: &Places,
    project: Option<&Project>,
    skipped: &mut dyn FnMut(&Path, io::Error),
) -> Result<Vec<Listed>, FindError> {
    let mut problems = Vec::new();
    let (files, mut known) =
        rayon::join(|| find_all(disk, places, &mut |path, error| problems.push((path.to_owned(), error))), || cache.totals());
    for (path, error) in problems {
        skipped(&path, error);
    }
    if files.is_empty() {
        return Err(FindError::NoSessions(PROVIDERS.iter().flat_map(|provider| provider.roots(places)).collect()));
    }
    let mut listed = Vec::with_capacity(files.len());
    let mut unknown = Vec::new();
    // Where a path says nothing, its totals do.
    let near = |found: &Found| project.is_none_or(|project| found.location.project.is_empty() || project.holds(found, || None));
    for (found, identity) in files.into_iter().filter(|(found, _)| near(found)) {
        let seen = directory_and_name(&found.path).and_then(|(directory, name)| known.get_mut(directory)?.remove(name));
        match seen.filter(|(seen, _)| *seen == identity) {
            Some((_, totals)) => listed.push(Listed { found, identity, totals }),
            None => unknown.push((found, identity)),
        }
    }
    // The largest first, so that no core is left with a large one at the end.
    unknown.sort_by_key(|(_, identity)| std::cmp::Reverse(identity.bytes));
    let scanned: Vec<(Found, Identity, io::Result<Totals>)> = unknown
        .into_par_iter()
        .map_init(Vec::new, |buffer, (found, identity)| {
            let totals =
                scan(disk, found.provider, &found.path, buffer).map(|totals| Totals { title: title(&totals.title), ..totals });
            (found, identity, totals)
        })
        .collect();
    let fresh: Vec<(&Path, Identity, &Totals)> = scanned
        .iter()
        .filter_map(|(found, identity, totals)| Some((found.path.as_path(), *identity, totals.as_ref().ok()?)))
        .collect();
    if !fresh.is_empty() {
        cache.remember_totals(&fresh);
    }
    for (found, identity, totals) in scanned {
        match totals {
            Ok(totals) => listed.push(Listed { found, identity, totals }),
            Err(error) => skipped(&found.path, error),
        }
    }
    let stated = |listed: &Listed| Some(PathBuf::from(&listed.totals.directory));
    listed.retain(|listed| project.is_none_or(|project| project.holds(&listed.found, || stated(listed))));
    Ok(listed)
}

/// A title without credentials.
fn title(text: &str) -> String {
    let cut = text.chars().count() >= TITLE_CHARACTERS;
    if cut { engine::mask_cut(text) } else { engine::mask(text).into_owned() }
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
