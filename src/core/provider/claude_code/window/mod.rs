//! Computes the rows and blocks that the client would send if it resumed the session now.
//!
//! The rules are those of 2.1.330, measured on its requests: the leaf, the walk to the root, the rows kept by a compaction,
//! the other rows of each response, broken tool pairs, the order. Not reproduced: rows retracted by a later row, and agents
//! that share one file (all its sidechain rows count as one side).

mod chain;
mod compaction;
mod cut;
mod drop;
mod leaf;
mod left;
mod order;
mod recover;
#[cfg(test)]
mod tests;
mod tree;
mod view;

use super::messages;
use crate::model::{Hidden, Session, Window};
pub(super) use drop::{Item, is_hollow};
pub(super) use view::{View, is_result, is_use};

/// Returns the window that the client would send if it resumed the session now.
pub(super) fn window(session: &Session) -> Window {
    let view = View::new(session);
    let mut tree = tree::Tree::new(&view);
    let kept = compaction::relink(&mut tree);
    let leaf = leaf::leaf(&tree, kept);
    let nodes = leaf.map(|leaf| chain::chain(&tree, leaf)).unwrap_or_default();
    let chain: Vec<u32> = nodes.iter().map(|node| tree.row(*node)).collect();
    let compacted = chain.iter().any(|row| view.is_boundary(*row));
    let mut window = Window { chain, compacted, ..Window::default() };
    let mut sent = vec![false; session.rows.len()];
    for message in messages::messages(session, &window) {
        for block in message.parts.iter().flat_map(|part| part.blocks()) {
            window.blocks.push(block);
            let row = view.blocks[block as usize - 1].row;
            if !std::mem::replace(&mut sent[row as usize], true) {
                window.rows.push(row);
            }
        }
    }
    window.cuts = cut::cuts(session, &tree, &nodes);
    window.cuts.extend(cut::apart(session, &tree, &nodes, &window.cuts));
    window.cuts.extend(compaction::unkept(&tree, &nodes));
    window.left = left::left(session, &view, &window, leaf);
    window.hidden = hidden(&view, &window);
    window
}

/// Returns the items sent for a chain, row by row: those from the last compaction on, repaired and in order.
pub(super) fn items(view: &View<'_>, chain: &[u32]) -> Vec<Item> {
    let items = drop::repair(view, order::regroup(view, chain.to_vec()));
    let boundary = items.iter().rposition(|item| matches!(item, Item::Row(row) if view.is_boundary(*row)));
    items[boundary.unwrap_or_default()..].to_vec()
}

/// Counts the blocks that are not sent, by reason.
fn hidden(view: &View<'_>, window: &Window) -> Hidden {
    let mut sent = vec![false; view.blocks.len()];
    window.blocks.iter().for_each(|block| sent[*block as usize - 1] = true);
    let mut on_chain = vec![false; view.rows.len()];
    let boundary = window.chain.iter().rposition(|row| view.is_boundary(*row));
    window.chain[boundary.unwrap_or_default()..].iter().for_each(|row| on_chain[*row as usize] = true);
    let cut = || window.cuts.iter().flat_map(|cut| &cut.rows).copied();
    let mut is_cut = vec![false; view.rows.len()];
    cut().for_each(|row| is_cut[row as usize] = true);
    let boundary = boundary.map(|place| window.chain[place]).or_else(|| cut().filter(|row| view.is_boundary(*row)).max());
    let mut hidden = Hidden::default();
    for (block, sent) in view.blocks.iter().zip(sent) {
        if sent {
            continue;
        }
        let count = if view.is_sidechain(block.row) {
            &mut hidden.sidechain
        } else if is_cut[block.row as usize] {
            &mut hidden.cut
        } else if window.is_left(block.row) {
            &mut hidden.branched
        } else if !on_chain[block.row as usize] && boundary.is_some_and(|boundary| block.row < boundary) {
            &mut hidden.compacted
        } else {
            &mut hidden.dropped
        };
        *count += 1;
    }
    hidden
}
