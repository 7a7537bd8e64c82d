//! The offers of the agent that short prompts answer.

use super::content::LiveBlocks;
use crate::engine::summary::{is_of_client, offer};
use crate::engine::{choices, items};
use crate::model::{Block, BlockKind, BlockNumber, Role};
use crate::text::clauses::is_assent;
use crate::text::cut::{cut, one_line};
use rustc_hash::FxHashMap;

const OFFER_CHARACTERS: usize = 300;

/// Returns for each prompt that only agrees, or names a choice, the text of the agent before it with what it offered.
pub(super) fn offers(live: &LiveBlocks<'_>) -> FxHashMap<BlockNumber, (BlockNumber, String)> {
    let choices = choices(live.reading);
    let mut before: Option<&Block> = None;
    let mut found = FxHashMap::default();
    for block in live.blocks.iter().filter(|block| block.kind == BlockKind::Text) {
        if block.role == Role::Assistant {
            before = Some(*block).filter(|block| !is_of_client(live.reading, block));
            continue;
        }
        let Some(source) = live.source(block).filter(|source| !source.words.is_empty()) else { continue };
        let Some((said, told)) = before.take().and_then(|said| Some((said, &live.source(said)?.text))) else { continue };
        let choice = choices.iter().find(|choice| choice.answer == block.number && choice.offer == said.number);
        let chosen = choice.map(|choice| items(told, &choice.numbers).join("; "));
        let offered = || offer(told, live.reading.session.conventions).filter(|_| is_assent(&source.words.join(" ")));
        if let Some(text) = chosen.filter(|items| !items.is_empty()).or_else(offered) {
            found.insert(block.number, (said.number, cut(&one_line(&text), OFFER_CHARACTERS)));
        }
    }
    found
}
