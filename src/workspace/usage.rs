//! Collects the bills of sessions, which are read once and cached.

use super::list::{Listed, each_line};
use crate::fsio::{Disk, Identity};
use crate::model::{Address, FileUsage, Key, Slot};
use crate::store::Cache;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// The figures that the API billed, by the address of the one that aperture wrote in the place of each.
pub type ReplacedBills = BTreeMap<Address, Vec<u8>>;

/// Returns the bills of sessions, in their order: those of a file that was just listed, or else cached ones, or else read now. Files that
/// cannot be read are passed to `skipped`, and have no bills. `listed`
/// must be all sessions, each with the bills that aperture replaced in its file: the cached bills of other files are deleted.
pub fn usage(
    disk: &dyn Disk,
    cache: &Cache,
    listed: &[(&Listed, Option<&ReplacedBills>)],
    skipped: &mut dyn FnMut(&Path, io::Error),
) -> Vec<FileUsage> {
    let mut known = cache.usage();
    let states: Vec<(Identity, Key)> = listed.iter().map(|(listed, replaced)| (listed.identity, key(*replaced))).collect();
    let cached = |((listed, _), state): (&(&Listed, _), &(Identity, Key))| {
        let (known, usage) = known.remove(listed.found.path.to_str()?)?;
        (known == *state).then_some(usage)
    };
    let cached: Vec<Option<FileUsage>> = listed.iter().zip(&states).map(cached).collect();
    let gone: Vec<String> = known.into_keys().collect();
    let read = |buffer: &mut Vec<u8>, ((listed, replaced), cached): (&(&Listed, _), Option<FileUsage>)| match cached {
        Some(usage) => (Ok(usage), false),
        None => match (&listed.bills, replaced) {
            (Some(bills), None) => (Ok(bills.clone()), true),
            _ => (scan(disk, listed, *replaced, buffer), true),
        },
    };
    let read: Vec<(io::Result<FileUsage>, bool)> = listed.par_iter().zip(cached).map_init(Vec::new, read).collect();
    let fresh = listed.iter().zip(&states).zip(&read).filter(|(_, (_, fresh))| *fresh);
    let fresh: Vec<_> = fresh
        .filter_map(|(((listed, _), state), (usage, _))| Some((&*listed.found.path, *state, usage.as_ref().ok()?)))
        .collect();
    if !fresh.is_empty() || !gone.is_empty() {
        cache.remember_usage(&fresh, &gone);
    }
    let usage = |((listed, _), (usage, _)): (&(&Listed, _), (io::Result<FileUsage>, bool))| {
        usage.unwrap_or_else(|error| {
            skipped(&listed.found.path, error);
            FileUsage::default()
        })
    };
    listed.iter().zip(read).map(usage).collect()
}

/// Returns the key of replaced bills.
fn key(replaced: Option<&ReplacedBills>) -> Key {
    let parts = replaced.into_iter().flatten().flat_map(|(written, billed)| [&written[..], billed]);
    Key::from_bytes(&parts.collect::<Vec<_>>().concat())
}

fn scan(disk: &dyn Disk, listed: &Listed, replaced: Option<&ReplacedBills>, buffer: &mut Vec<u8>) -> io::Result<FileUsage> {
    let provider = listed.found.provider;
    let mut scanner = provider.scanner();
    let billed = |line: &[u8]| {
        let place = provider.locate_slot(line, Slot::Usage)?;
        let billed = replaced?.get(blake3::hash(&line[place.clone()]).as_bytes())?;
        Some([&line[..place.start], billed, &line[place.end..]].concat())
    };
    each_line(&mut *disk.open(&listed.found.path, 0)?, buffer, &mut |line| match replaced.and_then(|_| billed(line)) {
        Some(line) => scanner.line(&line),
        None => scanner.line(line),
    })?;
    Ok(scanner.finish().1)
}
