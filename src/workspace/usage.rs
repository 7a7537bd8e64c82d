//! Collects the bills of sessions, which are read once and cached.

use super::list::{Listed, each_line};
use crate::fsio::Disk;
use crate::model::FileUsage;
use crate::store::Cache;
use rayon::prelude::*;
use std::io;
use std::path::Path;

/// Returns the bills of sessions, in their order. Files that cannot be read are passed to `skipped`, and have no bills. `listed`
/// must be all sessions: the cached bills of other files are deleted.
pub fn usage(disk: &dyn Disk, cache: &Cache, listed: &[Listed], skipped: &mut dyn FnMut(&Path, io::Error)) -> Vec<FileUsage> {
    let mut known = cache.usage();
    let cached = |listed: &Listed| {
        let (identity, usage) = known.remove(listed.found.path.to_str()?)?;
        (identity == listed.identity).then_some(usage)
    };
    let cached: Vec<Option<FileUsage>> = listed.iter().map(cached).collect();
    let gone: Vec<String> = known.into_keys().collect();
    let read = |buffer: &mut Vec<u8>, (listed, cached): (&Listed, Option<FileUsage>)| match cached {
        Some(usage) => (Ok(usage), false),
        None => (scan(disk, listed, buffer), true),
    };
    let read: Vec<(io::Result<FileUsage>, bool)> = listed.par_iter().zip(cached).map_init(Vec::new, read).collect();
    let fresh = listed.iter().zip(&read).filter(|(_, (_, fresh))| *fresh);
    let fresh: Vec<_> =
        fresh.filter_map(|(listed, (usage, _))| Some((&*listed.found.path, listed.identity, usage.as_ref().ok()?))).collect();
    if !fresh.is_empty() || !gone.is_empty() {
        cache.remember_usage(&fresh, &gone);
    }
    let usage = |(listed, (usage, _)): (&Listed, (io::Result<FileUsage>, bool))| {
        usage.unwrap_or_else(|error| {
            skipped(&listed.found.path, error);
            FileUsage::default()
        })
    };
    listed.iter().zip(read).map(usage).collect()
}

fn scan(disk: &dyn Disk, listed: &Listed, buffer: &mut Vec<u8>) -> io::Result<FileUsage> {
    let mut scanner = listed.found.provider.usage_scanner();
    each_line(&mut *disk.open(&listed.found.path, 0)?, buffer, &mut |line| scanner.line(line))?;
    Ok(scanner.finish())
}
