//! Reads the topics of sessions: each is analyzed once, and its topics are cached.

use super::{Found, Listed, Workspace};
use crate::engine::{self, ReadSettings, SessionTopic};
use crate::fsio::{Disk, Identity};
use crate::model::History;
use crate::store::Cache;
use rayon::prelude::*;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Returns the topics of each session; none for those that cannot be read, which are passed to `skipped`. `history` returns the
/// operations on a session. `done` is called after each session that is read.
pub fn topics(
    disk: &dyn Disk,
    cache: &Arc<Cache>,
    settings: &ReadSettings,
    sessions: &[&Listed],
    history: &dyn Fn(&Found) -> History,
    done: &(dyn Fn() + Sync),
    skipped: &mut dyn FnMut(&Path, io::Error),
) -> Vec<Vec<SessionTopic>> {
    let known = |listed: &&Listed| postcard::from_bytes(&cache.topics(&listed.found.path, &listed.identity)?).ok();
    let known: Vec<Option<Vec<SessionTopic>>> = sessions.iter().map(known).collect();
    let unknown: Vec<(usize, &Listed, History)> = sessions
        .iter()
        .enumerate()
        .filter(|(place, _)| known[*place].is_none())
        .map(|(place, listed)| (place, *listed, history(&listed.found)))
        .collect();
    let read = |(place, listed, history): (usize, &Listed, History)| {
        let read = Workspace::open(disk, cache, history, listed.found.clone(), settings, &|_| true);
        let read = read.map(|workspace| engine::session_topics(&workspace.reading));
        done();
        (place, read)
    };
    let read: Vec<(usize, io::Result<Vec<SessionTopic>>)> = unknown.into_par_iter().with_max_len(1).map(read).collect();
    let mut topics: Vec<Vec<SessionTopic>> = known.into_iter().map(Option::unwrap_or_default).collect();
    let mut fresh: Vec<(&Path, Identity, Vec<u8>)> = Vec::new();
    for (place, read) in read {
        let listed = sessions[place];
        match read {
            Ok(read) => {
                let packed = postcard::to_stdvec(&read).unwrap_or_default();
                fresh.push((&listed.found.path, listed.identity, packed));
                topics[place] = read;
            }
            Err(error) => skipped(&listed.found.path, error),
        }
    }
    cache.remember_topics(&fresh);
    topics
}
