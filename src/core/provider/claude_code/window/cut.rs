//! Finds the rows that the client loses although the user did not leave them.

use super::chain::chain;
use super::tree::{Parent, Tree};
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
    cuts.extend(gaps(session, tree, nodes, &mut seen));
    cuts
}

/// Returns the cuts within a chain: of rows whose parent is missing, and in whose place the client takes an older row than the one before
/// it in the file.
fn gaps(session: &Session, tree: &Tree<'_>, nodes: &[u32], seen: &mut [bool]) -> Vec<HistoryCut> {
    let mut cuts = Vec::new();
    for node in nodes.iter().skip(1).copied().filter(|node| tree.nodes[*node as usize].parent == Parent::Missing) {
        let earlier = earlier(tree, node).take_while(|other| !seen[*other as usize]);
        let mut lost: Vec<u32> = earlier.take_while(|other| !tree.view.is_boundary(tree.row(*other))).collect();
        lost.reverse();
        lost.iter().for_each(|other| seen[*other as usize] = true);
        if lost.iter().any(|other| tree.view.speaks(tree.row(*other))) {
            let before = lost.last().copied().filter(|before| is_certain(session, tree, *before, node));
            let rows = lost.into_iter().map(|node| tree.row(node)).collect();
            cuts.push(HistoryCut { row: tree.row(node), before: before.map(|node| tree.row(node)), rows });
        }
    }
    cuts
}

/// Returns the cuts beside a chain, given its others: rows whose parent is missing, with all rows after them. A client does not know that
/// they follow the row that it resumes at. After a rewind it is not certain that the user did not leave them.
pub(super) fn apart(session: &Session, tree: &Tree<'_>, nodes: &[u32], known: &[HistoryCut]) -> Vec<HistoryCut> {
    let Some(last) = tree.last.filter(|_| !tree.explicit && !nodes.is_empty()) else { return Vec::new() };
    let mut seen = vec![false; tree.view.rows.len()];
    let known = known.iter().flat_map(|cut| &cut.rows).copied();
    known.chain(nodes.iter().map(|node| tree.row(*node))).for_each(|row| seen[row as usize] = true);
    let boundary = nodes.iter().rfind(|node| tree.view.is_boundary(tree.row(**node))).copied();
    let begins = |node: &u32| {
        tree.nodes[*node as usize].parent == Parent::Missing
            && boundary.is_none_or(|boundary| *node > boundary)
            && !seen[tree.row(*node) as usize]
            && !tree.view.is_sidechain(tree.row(*node))
    };
    let roots: Vec<u32> = tree.live().filter(begins).take(MOST_CUTS).collect();
    if roots.is_empty() {
        return Vec::new();
    }
    let children = tree.children();
    let cut = |root: u32| {
        let (mut below, mut at) = (vec![root], 0);
        while let Some(node) = below.get(at) {
            below.extend(children.children_of(*node));
            at += 1;
        }
        let speaks = below.iter().any(|node| tree.view.speaks(tree.row(*node)));
        // The client resumes at the end of the file once that is linked.
        let before =
            earlier(tree, root).next().filter(|before| below.contains(&last) && is_certain(session, tree, *before, root));
        let mut rows: Vec<u32> = below.into_iter().map(|node| tree.row(node)).collect();
        rows.sort_unstable();
        speaks.then(|| HistoryCut { row: tree.row(root), before: before.map(|node| tree.row(node)), rows })
    };
    roots.into_iter().filter_map(cut).collect()
}

/// Returns true if the first row of a chain does not begin a conversation: it names a parent that is not in the file, or it is an answer
/// or a tool result without a parent, which no rewind of the user leaves.
pub(super) fn is_cut(tree: &Tree<'_>, node: u32) -> bool {
    let row = tree.row(node);
    tree.has_parent(node) || !tree.view.is_boundary(row) && (tree.view.is_assistant(row) || tree.view.has_result(row))
}

fn same_side(tree: &Tree<'_>, a: u32, b: u32) -> bool {
    tree.view.is_sidechain(tree.row(a)) == tree.view.is_sidechain(tree.row(b))
}

/// Returns the rows of the side of a row before it in the file, the nearest first.
fn earlier<'a>(tree: &'a Tree<'_>, node: u32) -> impl Iterator<Item = u32> + 'a {
    let earlier = tree.live().rev().skip_while(move |other| *other >= node);
    earlier.filter(move |other| same_side(tree, *other, node) && !tree.view.flags(tree.row(*other)).any(Flags::SNAPSHOT))
}

/// Returns the row that a row certainly followed: the one before it in the file that is not sent.
fn predecessor(session: &Session, tree: &Tree<'_>, node: u32, seen: &[bool]) -> Option<u32> {
    let mut earlier =
        earlier(tree, node).filter(|other| !seen[*other as usize] && !tree.above(*other).any(|ancestor| ancestor == node));
    earlier.next().filter(|before| is_certain(session, tree, *before, node))
}

/// Returns true if a row certainly followed the one before it: both are of one session, and it is not older.
fn is_certain(session: &Session, tree: &Tree<'_>, before: u32, node: u32) -> bool {
    let of_session = |node: u32| session.origins.get(tree.facts(node).origin as usize).map(|origin| &origin.session);
    let time = |node: u32| tree.facts(node).timestamp;
    of_session(before) == of_session(node) && time(before).is_some() && time(before) <= time(node)
}
