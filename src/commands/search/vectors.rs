//! Vectors of turns as one more score of search.

use crate::app::Env;
use crate::engine::sidecar::cosine;
use crate::model::Key;
use crate::search::{Adjust, FoundTurn, Source};

/// The number of the best turns whose vectors say what a query is about: the query itself has no vector, because no search waits for a
/// model.
const BEST: usize = 5;
/// The factor that a similarity of 1 adds to the score of a turn.
const WEIGHT: f32 = 0.6;

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
