//! Vectors of turns as one more score of search.

use crate::app::{Env, SidecarTexts};
use crate::engine::sidecar::cosine;
use crate::model::Key;
use crate::search::{FoundTurn, Source, TurnScore};

/// The number of the best turns whose vectors say what a query is about: the query itself has no vector, because no search waits for a
/// model.
const BEST: usize = 5;
/// The factor that a similarity of 1 adds to the score of a turn.
const WEIGHT: f32 = 0.6;

/// The similarity of each turn to the best other turns.
pub struct VectorScore<'a> {
    texts: SidecarTexts,
    sources: &'a [Source],
}

impl<'a> VectorScore<'a> {
    /// Returns the score; `None` if no model for vectors is configured or, without `is_measured`, they do not improve search here.
    pub fn new(env: &Env, sources: &'a [Source], is_measured: bool) -> Option<VectorScore<'a>> {
        env.sidecar.embedding_model.as_ref()?;
        let texts = env.sidecar_texts(&env.directory)?;
        (is_measured || texts.improves_search()).then_some(VectorScore { texts, sources })
    }
}

impl TurnScore for VectorScore<'_> {
    fn weight(&self) -> f32 {
        WEIGHT
    }

    fn scores(&self, turns: &[FoundTurn]) -> Vec<Option<f32>> {
        let vector = |turn: &FoundTurn| {
            let path = self.sources[turn.source].path();
            self.texts.vector(Key(u128::from(turn.turn.content)), path).filter(|_| turn.turn.content != 0)
        };
        let vectors: Vec<Option<Vec<f32>>> = turns.iter().map(vector).collect();
        let best = |skipped: usize| turns.iter().zip(&vectors).enumerate().filter(move |(at, _)| *at != skipped).take(BEST);
        let score = |at: usize, own: &Vec<f32>| {
            let mut about = vec![0.0; own.len()];
            for (_, (turn, vector)) in best(at) {
                let vector = vector.iter().flatten();
                about.iter_mut().zip(vector).for_each(|(sum, number)| *sum += turn.score * number);
            }
            cosine(own, &about).max(0.0)
        };
        vectors.iter().enumerate().map(|(at, own)| own.as_ref().map(|own| score(at, own))).collect()
    }
}
