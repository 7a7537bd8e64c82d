//! Zones and relevance: positions of blocks in the window.

use crate::model::{Role, Session, Window, Zone};

/// Share of the window's tokens that counts as recent.
const RECENCY_SHARE: f64 = 0.15;
/// Number of the newest model responses that are always recent, whatever their size.
const RECENT_STEPS: u32 = 2;
/// Relative loss of accuracy for content in the middle. Liu et al., "Lost in the Middle" (2023), figure 5: accuracy falls from
/// about 75 % at the ends to about 55 % between them.
const MIDDLE_LOSS: f64 = 0.27;

/// Sets the zone and the relevance of every block. `step` is the last one of the session.
///
/// Primacy contains all blocks before the first response in the window, recency the newest responses with [`RECENCY_SHARE`] of the
/// tokens, cold storage the blocks outside the window.
pub fn place(session: &mut Session, window: &Window, step: u32) {
    let blocks = &session.blocks;
    let block = |place: usize| &blocks[window.blocks[place] as usize - 1];
    let total: f64 = (0..window.blocks.len()).map(|place| block(place).tokens.value).sum();
    let answered = (0..window.blocks.len())
        .find(|place| matches!(block(*place).role, Role::Assistant | Role::Thinking | Role::ToolUse))
        .unwrap_or(window.blocks.len());
    let mut recent = window.blocks.len();
    let mut sum = 0.0;
    while recent > answered {
        let candidate = block(recent - 1);
        sum += candidate.tokens.value;
        let newest = candidate.position.step + RECENT_STEPS > step;
        if !newest && sum > total * RECENCY_SHARE {
            break;
        }
        recent -= 1;
    }
    // A response is recent as a whole or not at all.
    while recent < window.blocks.len() && recent > answered && block(recent).position.step == block(recent - 1).position.step {
        recent += 1;
    }
    let mut before = 0.0;
    for (place, number) in window.blocks.iter().enumerate() {
        let block = &mut session.blocks[*number as usize - 1];
        let middle = if total > 0.0 { (before + block.tokens.value / 2.0) / total } else { 0.0 };
        before += block.tokens.value;
        block.position.relevance = (1.0 - MIDDLE_LOSS * (std::f64::consts::PI * middle).sin()) as f32;
        block.position.zone = match place {
            _ if place < answered => Zone::Primacy,
            _ if place < recent => Zone::Middle,
            _ => Zone::Recency,
        };
    }
}
