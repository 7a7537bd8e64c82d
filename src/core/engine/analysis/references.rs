//! References: the blocks that the agent's later messages refer to, and the resulting heat.
//!
//! A block is *referenced* by a later text or tool input of the agent that uses terms which the block introduced. A term that
//! occurs in `n` earlier blocks has weight `1/n` for each of them (a form of inverse document frequency, Spärck Jones 1972); a term
//! in more than [`COMMON_TERM_BLOCKS`] has no weight. The agent's block refers to an earlier one if the sum of the weights of their
//! shared terms reaches [`REFERENCE_WEIGHT`].

use crate::model::limits::COMMON_TERM_BLOCKS;
use crate::model::{BlockNumber, Position, Session, Usefulness};
use rustc_hash::FxHashMap;

/// Minimum weight of the shared terms of a reference: one term of three blocks, or several that are more common.
const REFERENCE_WEIGHT: f32 = 0.33;
/// Steps after which a reference counts half.
const HALF_LIFE_STEPS: f32 = 20.0;

/// Computes the use of each block, in file order: references, heat and staleness. `turn` and `step` are the last ones of the
/// session.
pub fn trace(session: &Session, turn: u32, step: u32) -> Vec<Usefulness> {
    let mut used_by = vec![Usefulness::default(); session.blocks.len()];
    // Only terms that some block of the agent uses can be references, so all others are ignored.
    let used = session.blocks.iter().flat_map(|block| &block.terms[..block.uses as usize]).copied();
    let mut holders = Holders { chains: used.map(|term| (term, (0, 0))).collect(), links: Vec::new() };
    let sieve = Sieve::new(holders.chains.keys().copied());
    let mut heat = vec![0.0f32; session.blocks.len()];
    // The total weight of the terms shared with each earlier block, and these terms.
    let mut weights = vec![0.0f32; session.blocks.len()];
    let mut shared: Vec<u32> = Vec::new();
    for index in 0..session.blocks.len() {
        let (position, uses) = (session.blocks[index].position, session.blocks[index].uses as usize);
        for term in &session.blocks[index].terms[..uses] {
            let blocks = holders.blocks_with(*term);
            let count = blocks.len();
            if count <= COMMON_TERM_BLOCKS {
                for holder in blocks {
                    let weight = &mut weights[holder as usize];
                    if *weight == 0.0 {
                        shared.push(holder);
                    }
                    *weight += 1.0 / count as f32;
                }
            }
        }
        for holder in shared.drain(..) {
            let weight = std::mem::take(&mut weights[holder as usize]);
            if weight < REFERENCE_WEIGHT {
                continue;
            }
            let usefulness = &mut used_by[holder as usize];
            usefulness.references += 1;
            usefulness.last_turn = Some(position.turn);
            usefulness.last_step = Some(position.step);
            heat[holder as usize] += weight.min(1.0) * decay(step, position.step);
        }
        for term in session.blocks[index].terms.iter().filter(|term| sieve.may_hold(**term)) {
            holders.add(*term, index as u32);
        }
    }
    for ((block, usefulness), warmth) in session.blocks.iter().zip(&mut used_by).zip(heat) {
        usefulness.heat = 1.0 - (-(warmth + decay(step, block.position.step))).exp();
        usefulness.stale_turns = turn.saturating_sub(usefulness.last_turn.unwrap_or_default().max(block.position.turn));
        usefulness.stale_steps = step.saturating_sub(usefulness.last_step.unwrap_or_default().max(block.position.step));
    }
    used_by
}

/// Adds a use that no shared term shows, by a block at a position. `turn` and `step` are the last ones of the session.
pub fn add_use(usefulness: &mut Usefulness, by: Position, (turn, step): (u32, u32)) {
    usefulness.references += 1;
    if usefulness.last_step.is_none_or(|last| last < by.step) {
        (usefulness.last_turn, usefulness.last_step) = (Some(by.turn), Some(by.step));
        usefulness.stale_turns = usefulness.stale_turns.min(turn.saturating_sub(by.turn));
        usefulness.stale_steps = usefulness.stale_steps.min(step.saturating_sub(by.step));
    }
    usefulness.heat = 1.0 - (1.0 - usefulness.heat) * (-decay(step, by.step)).exp();
}

/// Blocks by term. The blocks of one term are a chain from the last one back, all chains in one piece.
#[derive(Default)]
struct Holders {
    /// For each term how many blocks hold it, and the last link of its chain.
    chains: FxHashMap<u32, (u32, u32)>,
    /// A block and the link before.
    links: Vec<(u32, u32)>,
}

impl Holders {
    fn add(&mut self, term: u32, block: u32) {
        let Some((count, last)) = self.chains.get_mut(&term) else { return };
        // One more than common is enough to know that it is.
        if *count as usize <= COMMON_TERM_BLOCKS {
            self.links.push((block, *last));
            (*count, *last) = (*count + 1, self.links.len() as u32 - 1);
        }
    }

    fn blocks_with(&self, term: u32) -> impl ExactSizeIterator<Item = u32> {
        let (count, mut link) = self.chains.get(&term).copied().unwrap_or_default();
        (0..count).map(move |_| {
            let (block, before) = self.links[link as usize];
            link = before;
            block
        })
    }
}

/// A bit set over terms, small enough for the CPU cache: most terms are not in the hash table that it guards.
struct Sieve(Vec<u64>);

impl Sieve {
    const BITS: u32 = 1 << 21;

    fn new(terms: impl Iterator<Item = u32>) -> Sieve {
        let mut bits = vec![0; Self::BITS as usize / 64];
        for term in terms.map(|term| term % Self::BITS) {
            bits[term as usize / 64] |= 1 << (term % 64);
        }
        Sieve(bits)
    }

    fn may_hold(&self, term: u32) -> bool {
        let term = term % Self::BITS;
        self.0[term as usize / 64] >> (term % 64) & 1 == 1
    }
}

/// Steps without a reference after which a block of this heat is below that one.
pub fn steps_until_below(heat: f32, limit: f32) -> u32 {
    // Limited to the largest value below 1, so that no block stays hot for ever.
    let warmth = |heat: f32| -(1.0 - heat.clamp(0.0, 1.0 - 1e-6)).ln();
    let (now, limit) = (warmth(heat), warmth(limit));
    if now < limit { 0 } else { (HALF_LIFE_STEPS * (now / limit).log2()).floor() as u32 + 1 }
}

/// A later block of the agent that came back to a block.
#[derive(Clone, Debug, PartialEq)]
pub struct Referrer {
    pub number: BlockNumber,
    /// Certainty of the reference, from 0.33: the sum of the weights of the shared terms.
    pub weight: f32,
    pub terms: Vec<u32>,
}

/// The blocks that count as references of one block by [`trace`], in file order.
pub fn referrers(session: &Session, number: BlockNumber) -> Vec<Referrer> {
    let Some(place) = (number as usize).checked_sub(1) else { return Vec::new() };
    let Some(block) = session.blocks.get(place) else { return Vec::new() };
    let mut holders: FxHashMap<u32, usize> = block.terms.iter().map(|term| (*term, 0)).collect();
    let mut found = Vec::new();
    for (index, other) in session.blocks.iter().enumerate() {
        if index > place {
            let used = other.terms[..other.uses as usize].iter();
            let used = used.filter_map(|term| Some((*term, *holders.get(term)?)));
            let mut shared: Vec<(u32, usize)> = used.filter(|(_, count)| *count <= COMMON_TERM_BLOCKS).collect();
            let weight: f32 = shared.iter().map(|(_, count)| 1.0 / *count as f32).sum();
            if weight >= REFERENCE_WEIGHT {
                shared.sort_by_key(|(_, count)| *count);
                let terms = shared.into_iter().map(|(term, _)| term).collect();
                found.push(Referrer { number: other.number, weight, terms });
            }
        }
        for term in &other.terms {
            if let Some(count) = holders.get_mut(term) {
                *count += 1;
            }
        }
    }
    found
}

fn decay(now: u32, then: u32) -> f32 {
    (-(now.saturating_sub(then) as f32) / HALF_LIFE_STEPS).exp2()
}
