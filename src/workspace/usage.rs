//! Collects the bills of sessions, which are read once and cached.

use super::list::{Listed, each_line};
use crate::engine::tokens;
use crate::fsio::Disk;
use crate::model::FileUsage;
use crate::planning::ReplacedValues;
use crate::store::{BilledState, BillsCache, SessionKey, Store};
use rayon::prelude::*;
use std::io;
use std::path::Path;

/// Returns the bills of sessions, in their order: those of a file that was just listed, or else cached ones, or else read now. Files that
/// cannot be read are passed to `skipped`, and have no bills. `listed` must be all sessions, each with its key in the store if operations
/// of the log changed it, and `states` their states: the cached bills of other files are deleted.
pub fn usage(
    disk: &dyn Disk,
    cache: &BillsCache,
    listed: &[(&Listed, Option<SessionKey>)],
    states: &[BilledState],
    store: Option<&Store>,
    skipped: &mut dyn FnMut(&Path, io::Error),
) -> Vec<FileUsage> {
    let known = cache.read(disk);
    let cached: Vec<Option<FileUsage>> =
        listed.par_iter().zip(states).map(|((listed, _), state)| known.of_file(&listed.found.path, state)).collect();
    // One thread reads the store, and only for a changed file that is not in the cache.
    let changed = |((listed, logged), cached): (&(&Listed, Option<SessionKey>), &Option<FileUsage>)| match (store, logged) {
        (Some(store), Some(session)) if cached.is_none() => Some(bills_before_changes(disk, listed, store, *session)),
        _ => None,
    };
    let changed: Vec<Option<io::Result<FileUsage>>> = listed.iter().zip(&cached).map(changed).collect();
    type Known = (Option<FileUsage>, Option<io::Result<FileUsage>>);
    let read = |buffer: &mut Vec<u8>, ((listed, _), (cached, changed)): (&(&Listed, _), Known)| match (cached, changed) {
        (Some(usage), _) => (Ok(usage), false),
        (None, Some(usage)) => (usage, true),
        (None, None) => match &listed.bills {
            Some(bills) => (Ok(bills.clone()), true),
            None => (scan(disk, listed, buffer), true),
        },
    };
    let known_files: Vec<Known> = cached.into_iter().zip(changed).collect();
    let read: Vec<(io::Result<FileUsage>, bool)> = listed.par_iter().zip(known_files).map_init(Vec::new, read).collect();
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

fn scan(disk: &dyn Disk, listed: &Listed, buffer: &mut Vec<u8>) -> io::Result<FileUsage> {
    let mut scanner = listed.found.provider.scanner();
    each_line(&mut *disk.open(&listed.found.path, 0)?, buffer, false, &mut |line| scanner.line(line))?;
    Ok(scanner.finish(tokens::unrecorded_output).1)
}

/// Returns the bills of a session as they were before operations of the log changed its file. What the store no longer has is left out.
fn bills_before_changes(disk: &dyn Disk, listed: &Listed, store: &Store, session: SessionKey) -> io::Result<FileUsage> {
    let provider = listed.found.provider;
    let mut scanner = provider.scanner();
    let replaced = ReplacedValues::new(store.edited_values(session).map_err(io::Error::other)?.iter());
    for lines in store.removed_rows(session).map_err(io::Error::other)? {
        let lines = store.original(&lines).unwrap_or_default();
        lines.split(|byte| *byte == b'\n').for_each(|line| scanner.line(line));
    }
    each_line(&mut *disk.open(&listed.found.path, 0)?, &mut Vec::new(), false, &mut |line| match replaced
        .billed(provider, line, store)
    {
        Some(line) => scanner.line(&line),
        None => scanner.line(line),
    })?;
    Ok(scanner.finish(tokens::unrecorded_output).1)
}
