//! The frequencies of a word in the turns of sessions, in few bytes.

/// Steps of a frequency in which it doubles, and the step of the frequency 1.
const STEPS: f32 = 12.0;
const ONE: f32 = 128.0;

/// The frequency of a word in a turn: in its prompt, its answers, and its calls with results, each divided by the length of the field and
/// rounded to a twelfth of a power of two; 0 if it has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Posting(pub [u8; 3]);

impl Posting {
    pub fn new(frequencies: [f32; 3]) -> Posting {
        let rounded = |frequency: f32| (frequency.log2() * STEPS + ONE).round().clamp(1.0, 255.0) as u8;
        Posting(frequencies.map(|frequency| if frequency > 0.0 { rounded(frequency) } else { 0 }))
    }

    pub fn frequencies(self) -> [f32; 3] {
        self.0.map(|step| if step == 0 { 0.0 } else { ((f32::from(step) - ONE) / STEPS).exp2() })
    }

    /// Returns the sum of the frequencies of two parts of a turn.
    pub fn plus(self, other: Posting) -> Posting {
        let (one, other) = (self.frequencies(), other.frequencies());
        Posting::new(std::array::from_fn(|field| one[field] + other[field]))
    }
}

/// Appends the postings of a word, by turn in ascending order: differences of turns in LEB128, with a bit for each field that has the
/// word, and a byte for each of these.
pub fn write_postings(postings: impl IntoIterator<Item = (u32, Posting)>, to: &mut Vec<u8>) {
    let mut before = 0;
    for (turn, posting) in postings {
        let fields = (0..3).filter(|field| posting.0[*field] > 0).map(|field| 1u64 << field).sum::<u64>();
        let number = u64::from(turn - before) << 3 | fields;
        before = turn;
        to.extend(postcard::to_slice(&number, &mut [0; 10]).into_iter().flatten().map(|byte| *byte));
        to.extend(posting.0.iter().filter(|step| **step > 0));
    }
}

/// Returns the postings of a word. Damaged ones end them.
pub fn read_postings(bytes: &[u8]) -> Postings<'_> {
    Postings { bytes, turn: 0 }
}

/// The postings of a word in a segment, by turn.
#[derive(Clone, Debug)]
pub struct Postings<'a> {
    bytes: &'a [u8],
    turn: u32,
}

impl Iterator for Postings<'_> {
    type Item = (u32, Posting);

    fn next(&mut self) -> Option<(u32, Posting)> {
        let (number, rest): (u64, &[u8]) = postcard::take_from_bytes(self.bytes).ok()?;
        self.bytes = rest;
        self.turn = self.turn.checked_add(u32::try_from(number >> 3).ok()?)?;
        let mut posting = Posting::default();
        for (field, step) in posting.0.iter_mut().enumerate() {
            if number & 1 << field != 0 {
                let (byte, rest) = self.bytes.split_first()?;
                (*step, self.bytes) = (*byte, rest);
            }
        }
        Some((self.turn, posting))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};

    proptest! {
        #[test]
        fn postings_are_read_as_they_were_written(mut all in proptest::collection::vec((any::<u32>(), any::<[u8; 3]>()), 0..40)) {
            all.sort_unstable();
            all.dedup_by_key(|(turn, _)| *turn);
            let all: Vec<(u32, Posting)> = all.into_iter().map(|(turn, steps)| (turn, Posting(steps))).collect();
            let mut bytes = Vec::new();
            write_postings(all.iter().copied(), &mut bytes);
            prop_assert_eq!(read_postings(&bytes).collect::<Vec<_>>(), all);
        }

        #[test]
        fn any_bytes_are_postings(bytes in any::<Vec<u8>>()) {
            prop_assert!(read_postings(&bytes).count() <= bytes.len());
        }

        #[test]
        fn frequencies_keep_their_size(frequency in 0.01f32..100.0) {
            let [read, none, _] = Posting::new([frequency, 0.0, 0.0]).frequencies();
            prop_assert!((read / frequency - 1.0).abs() < 0.03 && none == 0.0);
        }
    }
}
