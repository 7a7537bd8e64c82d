//! Collects the bills of sessions, which are read once and cached.

use super::list::{Listed, each_line};
use crate::engine::tokens;
use crate::fsio::Disk;
use crate::model::{Address, FileUsage, Key, Slot};
use crate::store::{BilledState, BillsCache, ReplacedBills};
use rayon::prelude::*;
use std::io;
use std::path::Path;

/// Returns the states of session files, each with the bills that aperture replaced in it.
pub fn billed_states(listed: &[(&Listed, Option<&ReplacedBills>)]) -> Vec<BilledState> {
    listed.iter().map(|(listed, replaced)| (listed.identity, key(*replaced))).collect()
}

/// Returns the bills of sessions, in their order: those of a file that was just listed, or else cached ones, or else read now. Files that
/// cannot be read are passed to `skipped`, and have no bills. `listed` must be all sessions, each with the bills that aperture replaced in
/// its file, and `states` their states: the cached bills of other files are deleted. `original` returns a value of the log.
pub fn usage(
    disk: &dyn Disk,
    cache: &BillsCache,
    listed: &[(&Listed, Option<&ReplacedBills>)],
    states: &[BilledState],
    original: &dyn Fn(&Address) -> Option<Vec<u8>>,
    skipped: &mut dyn FnMut(&Path, io::Error),
) -> Vec<FileUsage> {
    let known = cache.read(disk);
    let cached: Vec<Option<FileUsage>> =
        listed.par_iter().zip(states).map(|((listed, _), state)| known.of_file(&listed.found.path, state)).collect();
    // Rows that aperture removed are read only for a file that is not in the cache.
    let removed = |((_, replaced), cached): (&(_, Option<&ReplacedBills>), &Option<FileUsage>)| -> Vec<Vec<u8>> {
        let rows = replaced.filter(|_| cached.is_none()).map_or(&[][..], |replaced| &replaced.rows);
        rows.iter().filter_map(original).collect()
    };
    let removed: Vec<Vec<Vec<u8>>> = listed.iter().zip(&cached).map(removed).collect();
    let cached: Vec<(Option<FileUsage>, &[Vec<u8>])> = cached.into_iter().zip(removed.iter().map(Vec::as_slice)).collect();
    let read = |buffer: &mut Vec<u8>, ((listed, replaced), (cached, removed)): (&(&Listed, _), (_, &[Vec<u8>]))| match cached {
        Some(usage) => (Ok(usage), false),
        None => match (&listed.bills, replaced) {
            (Some(bills), None) => (Ok(bills.clone()), true),
            _ => (scan(disk, listed, *replaced, removed, buffer), true),
        },
    };
    let read: Vec<(io::Result<FileUsage>, bool)> = listed.par_iter().zip(cached).map_init(Vec::new, read).collect();
    let files = listed.iter().zip(states).zip(&read).filter_map(|(((listed, _), state), (usage, fresh))| {
        let usage = usage.as_ref().ok()?;
        Some((&*listed.found.path, *state, fresh.then_some(usage)))
    });
    let files: Vec<_> = files.collect();
    if files.len() != known.count() || files.iter().any(|(.., fresh)| fresh.is_some()) {
        cache.remember(disk, &known, &files);
    }
    let usage = |((listed, _), (usage, _)): (&(&Listed, _), (io::Result<FileUsage>, bool))| {
        usage.unwrap_or_else(|error| {
            skipped(&listed.found.path, error);
            FileUsage::default()
        })
    };
    listed.iter().zip(read).map(usage).collect()
}

fn key(replaced: Option<&ReplacedBills>) -> Key {
    let figures =
        replaced.into_iter().flat_map(|replaced| &replaced.figures).flat_map(|(written, billed)| [&written[..], billed]);
    let rows = replaced.into_iter().flat_map(|replaced| &replaced.rows).map(|row| &row[..]);
    Key::from_bytes(&figures.chain(rows).collect::<Vec<_>>().concat())
}

fn scan(
    disk: &dyn Disk,
    listed: &Listed,
    replaced: Option<&ReplacedBills>,
    removed: &[Vec<u8>],
    buffer: &mut Vec<u8>,
) -> io::Result<FileUsage> {
    let provider = listed.found.provider;
    let mut scanner = provider.scanner();
    let billed = |line: &[u8]| {
        let place = provider.locate_slot(line, Slot::Usage)?;
        let billed = replaced?.figures.get(blake3::hash(&line[place.clone()]).as_bytes())?;
        Some([&line[..place.start], billed, &line[place.end..]].concat())
    };
    for lines in removed {
        lines.split(|byte| *byte == b'\n').for_each(|line| scanner.line(line));
    }
    each_line(&mut *disk.open(&listed.found.path, 0)?, buffer, false, &mut |line| match replaced.and_then(|_| billed(line)) {
        Some(line) => scanner.line(&line),
        None => scanner.line(line),
    })?;
    Ok(scanner.finish(tokens::unrecorded_output).1)
}
