//! A session in memory, and the plans for it.

use crate::engine::{self, Analysis, Preset, ReadSettings, Rules};
use crate::model::{BlockNumber, History, Key, Plan};
use crate::planning::*;
use crate::provider::{FileKind, ProviderAdapter, by_name, sniff};
use std::path::PathBuf;

/// A session held in memory: the bytes of a file or of a request body.
pub struct Medium {
    pub provider: &'static dyn ProviderAdapter,
    pub bytes: Vec<u8>,
    pub reading: Analysis,
    pub history: History,
}

/// A cache that keeps nothing.
pub struct NoCache;

impl PlanCache for NoCache {
    fn plan(&self, _key: Key) -> Option<Vec<u8>> {
        None
    }

    fn remember_plan(&self, _key: Key, _packed: &[u8]) {}

    fn count(&self, _hash: Key) -> Option<u32> {
        None
    }
}

impl Medium {
    pub fn new(provider: &'static dyn ProviderAdapter, bytes: Vec<u8>) -> Medium {
        let session = parse_session(provider, "s".to_owned(), &bytes);
        let reading = engine::read(session, |session| provider.window(session), &ReadSettings::default(), &Default::default());
        Medium { provider, bytes, reading, history: History::default() }
    }

    pub fn draft(&self) -> Draft<'_> {
        let source = PlanSource { provider: self.provider, reading: &self.reading, history: &self.history };
        Draft::new(source, Box::new(MemoryRows(&self.bytes)), None, 1).unwrap()
    }

    pub fn after(&self, plan: &Plan) -> Medium {
        let session = &self.reading.session;
        let addresses = Addresses::new(session);
        let rows = MemoryRows(&self.bytes);
        let splice = splice(self.provider, session, &addresses, &rows, plan.base_bytes, &plan.edits, &[]).unwrap();
        let mut after = Vec::new();
        let mut write = |bytes: &[u8]| {
            after.extend_from_slice(bytes);
            Ok(())
        };
        splice.run(&mut &self.bytes[..], &mut |_| (), &mut write).unwrap();
        Medium::new(self.provider, after)
    }
}

/// All blocks of a window.
const ALL: Scope = Scope { end: BlockNumber::MAX, only: None, level: None };

/// Plans the shrinking of all blocks for an aim, like the command does.
pub fn shrink_all(draft: &mut Draft<'_>, aim: Aim) -> Result<(), PlanError> {
    shrink(draft, aim, &ALL, &Rules::default(), &NoCache).map(drop)
}

/// Plans `compress --preset` like the command does.
pub fn compress(draft: &mut Draft<'_>, preset: &Preset) -> Result<(), PlanError> {
    match preset.folds {
        true => fold_into_digest(draft, preset, &ALL, &Rules::default()).map(drop),
        false => shrink_all(draft, Aim::Preset(*preset)),
    }
}

/// Returns the session files of the fixtures.
pub fn fixtures() -> Vec<(PathBuf, Medium)> {
    let mut files = Vec::new();
    for path in super::fixtures() {
        let bytes = std::fs::read(&path).unwrap();
        let FileKind::Session(provider) = sniff(&bytes) else { continue };
        files.push((path, Medium::new(by_name(provider).unwrap(), bytes)));
    }
    files
}
