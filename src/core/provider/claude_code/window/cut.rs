//! Finds the rows that the client loses although the user did not leave them.

use super::chain::chain;
use super::tree::Tree;
use crate::model::{Flags, HistoryCut, Session};

/// Maximum cuts of one session that are followed: each costs a walk over the rows.
const MOST_CUTS: usize = 64;

/// Returns the cuts of a chain, the newest first. The row that the first row of the chain certainly followed leads to an older part of
/// the conversation, which may be cut again.
pub(super) fn cuts(session: &Session, tree: &Tree<'_>, nodes: &[u32]) -> Vec<HistoryCut> {
    let mut seen = vec![false; tree.nodes.len()];
    nodes.iter().for_each(|node| seen[*node as usize] = true);
    let mut cuts: Vec<HistoryCut> = Vec::new();
    let mut root = nodes.first().copied();
    while let Some(node) = root.filter(|node| is_cut(tree, *node) && cuts.len() < MOST_CUTS) {
        let before = predecessor(session, tree, node, &seen);
        let older = match before {
            Some(before) => chain(tree, before),
            // Without a certain predecessor, all rows before it count as one part.
            None => tree.live().take_while(|other| *other < node).filter(|other| same_side(tree, *other, node)).collect(),
        };
        root = before.and(older.first().copied());
        let lost = older.into_iter().filter(|node| !std::mem::replace(&mut seen[*node as usize], true));
        let rows: Vec<u32> = lost.map(|node| tree.row(node)).collect();
        if !rows.iter().any(|row| tree.view.speaks(*row)) {
            break;
        }
        cuts.push(HistoryCut { row: tree.row(node), before: before.map(|node| tree.row(node)), rows });
    }
    cuts
}

/// Returns true if the first row of a chain does not begin a conversation: it names a parent that is not in the file, or it is an answer
/// or a tool result without a parent, which no rewind of the user leaves.
fn is_cut(tree: &Tree<'_>, node: u32) -> bool {
    let row = tree.row(node);
    tree.has_parent(node) || !tree.view.is_boundary(row) && (tree.view.is_assistant(row) || tree.view.has_result(row))
}

fn same_side(tree: &Tree<'_>, a: u32, b: u32) -> bool {
    tree.view.is_sidechain(tree.row(a)) == tree.view.is_sidechain(tree.row(b))
}

/// Returns the row that a row certainly followed: the one before it in the file that is not sent, if it is of its session and not newer.
fn predecessor(session: &Session, tree: &Tree<'_>, node: u32, seen: &[bool]) -> Option<u32> {
    let earlier = tree.live().rev().skip_while(|other| *other >= node);
    let mut earlier = earlier.filter(|other| {
        !seen[*other as usize]
            && same_side(tree, *other, node)
            && !tree.view.flags(tree.row(*other)).any(Flags::SNAPSHOT)
            && !tree.above(*other).any(|ancestor| ancestor == node)
    });
    let before = earlier.next()?;
    let of_session = |node: u32| session.origins.get(tree.facts(node).origin as usize).map(|origin| &origin.session);
    let time = |node: u32| tree.facts(node).timestamp;
    let is_certain = of_session(before) == of_session(node) && time(before).is_some() && time(before) <= time(node);
    is_certain.then_some(before)
}
