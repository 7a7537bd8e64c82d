//! Corrects estimates by the session's own bills.

use super::family::{Family, NEW, O200K, OLD};
use crate::model::Vocabulary;

/// The deviation of a session from the average: the family of its tokenizer, and a correction factor for the estimates.
pub(super) struct Correction {
    /// The families that the model can be of.
    pub(super) families: [&'static Family; 2],
    named_new: bool,
    /// Recent errors of the guesses of both families.
    errors: [f64; 2],
    log_ratio: f64,
    learned: u32,
}

impl Correction {
    pub(super) fn new(model: &str, vocabulary: Vocabulary) -> Correction {
        let families = match vocabulary {
            Vocabulary::Claude => [&OLD, &NEW],
            Vocabulary::O200k | Vocabulary::Cl100k => [&O200K, &O200K],
        };
        Correction {
            families,
            named_new: std::ptr::eq(Family::for_model(model), &NEW),
            errors: [0.0; 2],
            log_ratio: 0.0,
            learned: 0,
        }
    }

    /// Returns true for the new family: determined by the name of the model, unless its bills clearly contradict it.
    fn is_new(&self) -> bool {
        const CLEARLY: f64 = 0.25;
        let [old, new] = self.errors;
        if self.named_new { old + CLEARLY >= new } else { new + CLEARLY < old }
    }

    pub(super) fn family(&self) -> &'static Family {
        self.families[usize::from(self.is_new())]
    }

    pub(super) fn ratio(&self) -> f64 {
        self.log_ratio.clamp(-0.12, 0.12).exp()
    }

    pub(super) fn predict(&self, guesses: [f64; 2]) -> f64 {
        guesses[usize::from(self.is_new())] * self.ratio()
    }

    /// Adjusts the correction to a bill. A bill that is far off is not caused by the tokenizer and is ignored.
    pub(super) fn learn(&mut self, guesses: [f64; 2], growth: f64) {
        for (error, guess) in self.errors.iter_mut().zip(guesses) {
            *error = 0.93 * *error + ((guess - growth).abs() / growth.max(50.0)).min(0.3);
        }
        let guess = guesses[usize::from(self.is_new())];
        if guess <= 0.0 || growth <= 0.0 {
            return;
        }
        let surprise = (growth / guess).ln();
        if surprise.abs() < 0.12 {
            self.log_ratio += (surprise - self.log_ratio) * (1.0 / f64::from(self.learned + 5)).max(0.03);
            self.learned += 1;
        }
    }
}
