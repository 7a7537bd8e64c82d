//! Asks the index of search about sources, and compares the vectors of turns.

use crate::app::{CommandError, Env, ErrorKind};
use crate::engine::sidecar::cosine;
use crate::model::Key;
use crate::search::{Adjust, FoundTurn, Indexed, Source, SourceKind, update};
use crate::store::{SearchIndex, is_damaged};
use crate::workspace::{LoggedContents, SharedStore, session_of};
use anyhow::anyhow;
use rustc_hash::FxHashSet;
use std::path::Path;

/// The number of the best turns whose vectors say what a query is about: it has none itself, because no search waits for a model.
const BEST: usize = 5;
/// The factor that a similarity of 1 adds to the score of a turn.
const WEIGHT: f32 = 0.6;

/// Brings the index up to date with sources and returns what `question` finds in it. With `all`, the sources are all files there are.
/// A damaged index is deleted; one that cannot be stored is held in memory.
pub fn ask<T>(
    env: &Env,
    sources: &[Source],
    all: bool,
    progress: &dyn Fn(u64, u64),
    question: &dyn Fn(&SearchIndex, &Indexed) -> rusqlite::Result<T>,
) -> Result<T, CommandError> {
    let mut skip = |path: &Path, error: std::io::Error| env.note(&format!("skipped {}: {error}", path.display()));
    let mut answer = |mut index: SearchIndex, all: bool| {
        let indexed = update(env.disk, &mut index, sources, all, progress, &mut skip)?;
        question(&index, &indexed)
    };
    let mut stored = || env.search_index().and_then(|index| answer(index, all));
    let found = match stored() {
        Err(error) if is_damaged(&error) => {
            env.delete_search_index();
            stored()
        }
        found => found,
    };
    // Another process writes the index, or it cannot be stored: the answer is the same.
    let found = found.or_else(|_| answer(SearchIndex::in_memory()?, false));
    note_unreadable(env, sources);
    found.map_err(|error| CommandError::new(ErrorKind::Internal, anyhow!(error).context("cannot keep an index in memory")))
}

/// Notes the sessions whose logs were asked for and cannot be read.
pub fn note_unreadable(env: &Env, sources: &[Source]) {
    for source in sources.iter().filter(|source| source.session().is_some()) {
        if let Some(error) = source.logged.error() {
            env.note(&format!("only the current content of {} is searched: {error}", source.path().display()));
        }
    }
}

/// Returns the id of the session in which the agent that asks works; `None` if no agent asks.
pub fn asking_session(env: &Env) -> Option<String> {
    let client = env.client();
    client.process.and_then(|process| session_of(env.disk, &env.places, process)).or(client.session)
}

/// Gives sources the contents that aperture changed, as they were, and the values that their logs know as credentials.
pub fn restore_originals(env: &Env, sources: &mut [Source]) -> Result<(), CommandError> {
    let Some(store) = env.existing_store()? else { return Ok(()) };
    let logged = store.logged_files()?;
    let store = SharedStore::new(store);
    // A path is resolved only if its file is one of these, under any name.
    let inodes: FxHashSet<_> = logged.keys().filter_map(|path| Some(env.disk.identify(path).ok()?.inode)).collect();
    for source in sources.iter_mut().filter(|source| inodes.contains(&source.identity.inode)) {
        let path = env.disk.resolve(source.path()).ok();
        if let Some((session, operations)) = path.as_ref().and_then(|path| logged.get(path)) {
            source.set_log(operations.folded().cast_signed(), LoggedContents::of(store.clone(), *session));
        }
    }
    for place in 0..sources.len() {
        if let SourceKind::Output(_, owner) = sources[place].kind {
            sources[place].logged = sources[owner].logged.clone();
        }
    }
    Ok(())
}

/// Returns what raises the score of each turn by its similarity to the best other turns; `None` if no model for vectors is configured or,
/// without `is_measured`, they do not improve search here.
pub fn similarity<'a>(env: &Env, sources: &'a [Source], is_measured: bool) -> Option<Box<Adjust<'a>>> {
    env.sidecar.embedding_model.as_ref()?;
    let texts = env.sidecar_texts(&env.directory)?;
    if !is_measured && !texts.improves_search() {
        return None;
    }
    Some(Box::new(move |turns| {
        let vector = |turn: &FoundTurn| {
            let path = sources[turn.source].path();
            texts.vector(Key(u128::from(turn.turn.content)), path).filter(|_| turn.turn.content != 0)
        };
        let vectors: Vec<Option<Vec<f32>>> = turns.iter().map(vector).collect();
        let best = |skipped: usize| turns.iter().zip(&vectors).enumerate().filter(move |(at, _)| *at != skipped).take(BEST);
        let similarity = |at: usize, own: &Vec<f32>| {
            let mut about = vec![0.0; own.len()];
            for (_, (turn, vector)) in best(at) {
                let vector = vector.iter().flatten();
                about.iter_mut().zip(vector).for_each(|(sum, number)| *sum += turn.score * number);
            }
            cosine(own, &about).max(0.0)
        };
        let of_turn = |(at, own): (usize, &Option<Vec<f32>>)| own.as_ref().map(|own| similarity(at, own));
        let found: Vec<Option<f32>> = vectors.iter().enumerate().map(of_turn).collect();
        // A turn without a vector has the mean of the others.
        let known: Vec<f32> = found.iter().flatten().copied().collect();
        let mean = known.iter().sum::<f32>() / known.len().max(1) as f32;
        for (turn, similarity) in turns.iter_mut().zip(found) {
            turn.score *= 1.0 + WEIGHT * similarity.unwrap_or(mean);
        }
    }))
}
