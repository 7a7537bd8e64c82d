use super::As;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Counts of one pass over a content; the basis of every token estimate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Tokens of OpenAI's public o200k vocabulary, exact.
    pub o200k: u32,
    /// Unicode code points.
    pub characters: u32,
    /// ASCII capitals after a small letter.
    pub camels: u32,
    pub capitals: u32,
    pub punctuation_runs: u32,
    pub digit_runs: u32,
    pub newlines: u32,
}

impl std::ops::Add for Counts {
    type Output = Counts;

    fn add(self, other: Counts) -> Counts {
        Counts {
            o200k: self.o200k.saturating_add(other.o200k),
            characters: self.characters.saturating_add(other.characters),
            camels: self.camels.saturating_add(other.camels),
            capitals: self.capitals.saturating_add(other.capitals),
            punctuation_runs: self.punctuation_runs.saturating_add(other.punctuation_runs),
            digit_runs: self.digit_runs.saturating_add(other.digit_runs),
            newlines: self.newlines.saturating_add(other.newlines),
        }
    }
}

/// The basis of a token count, best first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// From the usage that the API reported.
    #[default]
    Measured,
    /// An estimate scaled to agree with the reported usage around it.
    Calibrated,
    /// An estimate alone, or a figure whose basis is not recorded.
    Estimated,
}

/// A number of tokens and its basis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Tokens")]
pub struct TokenCount {
    /// The count, rounded; negative only for a difference.
    // Fractions are kept so that sums do not drift.
    #[serde(with = "As::<i64>")]
    #[schemars(extend("unit" = "tokens"))]
    pub value: f64,
    pub basis: Basis,
}

impl TokenCount {
    /// Returns a figure of the API.
    pub fn measured(value: u64) -> TokenCount {
        TokenCount { value: value as f64, basis: Basis::Measured }
    }

    /// Returns an estimate without a measurement.
    pub fn estimated(value: f64) -> TokenCount {
        TokenCount { value, basis: Basis::Estimated }
    }

    /// Returns the figure of bills, or an estimate if a part of it is one.
    pub fn billed(value: u64, is_estimated: bool) -> TokenCount {
        let basis = if is_estimated { Basis::Estimated } else { Basis::Measured };
        TokenCount { value: value as f64, basis }
    }

    /// Zero, which is exact.
    pub const ZERO: TokenCount = TokenCount { value: 0.0, basis: Basis::Measured };

    /// Returns the value rounded to whole tokens, never negative.
    pub fn round(self) -> u64 {
        self.value.max(0.0).round() as u64
    }
}

/// Adds values; the basis of the sum is the worst of both.
impl std::ops::Add for TokenCount {
    type Output = TokenCount;
    fn add(self, other: TokenCount) -> TokenCount {
        let basis = if other.value == 0.0 {
            self.basis
        } else if self.value == 0.0 {
            other.basis
        } else {
            self.basis.max(other.basis)
        };
        TokenCount { value: self.value + other.value, basis }
    }
}

impl std::iter::Sum for TokenCount {
    fn sum<I: Iterator<Item = TokenCount>>(counts: I) -> TokenCount {
        counts.fold(TokenCount::ZERO, |sum, count| sum + count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_is_as_good_as_its_worst_part() {
        let sum = TokenCount::measured(10) + TokenCount::estimated(2.4);
        assert_eq!((sum.round(), sum.basis), (12, Basis::Estimated));
        assert_eq!((TokenCount::measured(7) + TokenCount::estimated(0.0)).basis, Basis::Measured);
        assert_eq!((TokenCount::ZERO + TokenCount::estimated(3.0)).basis, Basis::Estimated);
    }
}
