use super::tree::{Parent, Tree};
use crate::model::{Event, HistoryCut};
use rustc_hash::FxHashSet;

/// Removes the rows that the last compaction dropped, and links the rows that it kept after its summary.
///
/// Returns the last kept row, if there is one.
pub(super) fn relink(tree: &mut Tree<'_>) -> Option<u32> {
    let boundaries: Vec<u32> = tree.live().filter(|node| tree.view.is_boundary(tree.row(*node))).collect();
    let last = *boundaries.last()?;
    let keeping = boundaries.into_iter().rfind(|node| keeps(tree, *node))?;
    let rows = if keeping == last { preserved(tree, keeping)? } else { Preserved::default() };
    let kept: FxHashSet<u32> = rows.nodes.iter().copied().collect();
    if let (Some(first), Some(tail)) = (rows.nodes.first(), rows.nodes.last()) {
        let mut parent = rows.anchor;
        for node in &rows.nodes {
            tree.nodes[*node as usize].parent = parent;
            parent = Parent::Node(*node);
        }
        for node in 0..tree.nodes.len() as u32 {
            if node != *first && matches!(rows.anchor, Parent::Node(_)) && tree.nodes[node as usize].parent == rows.anchor {
                tree.nodes[node as usize].parent = Parent::Node(*tail);
            }
        }
    }
    let mut gone = false;
    for node in 0..last {
        if !kept.contains(&node) {
            tree.nodes[node as usize].removed = true;
            gone = true;
        }
    }
    let tail = *rows.nodes.last()?;
    if gone {
        for node in 0..tree.nodes.len() as u32 {
            if let Parent::Node(parent) = tree.nodes[node as usize].parent
                && !tree.is_there(parent)
                && tree.is_there(node)
                && tree.view.speaks(tree.row(node))
            {
                tree.nodes[node as usize].parent = Parent::Node(tail);
            }
        }
    }
    Some(tail)
}

/// Returns the rows that the compaction of a chain keeps, if one of them is missing: the client then sends none of them.
pub(super) fn unkept(tree: &Tree<'_>, nodes: &[u32]) -> Option<HistoryCut> {
    let last = tree.live().rfind(|node| tree.view.is_boundary(tree.row(*node)))?;
    let Some(Event::Compaction { preserved, .. }) = tree.facts(last).event.as_deref() else { return None };
    let rows: Vec<u32> = preserved.iter().filter_map(|key| tree.find(*key)).map(|node| tree.row(node)).collect();
    let is_lost = nodes.contains(&last) && rows.len() < preserved.len() && !rows.is_empty();
    is_lost.then(|| HistoryCut { row: tree.row(last), before: None, rows })
}

#[derive(Default)]
struct Preserved {
    nodes: Vec<u32>,
    anchor: Parent,
}

/// Returns true if a boundary lists rows that it keeps.
fn keeps(tree: &Tree<'_>, node: u32) -> bool {
    let event = tree.facts(node).event.as_deref();
    matches!(event, Some(Event::Compaction { preserved, segment, .. }) if !preserved.is_empty() || segment.is_some())
}

/// Returns the rows that a boundary keeps; `None` if one of them is not in the file.
fn preserved(tree: &Tree<'_>, node: u32) -> Option<Preserved> {
    let Some(Event::Compaction { preserved, anchor, segment, .. }) = tree.facts(node).event.as_deref() else { return None };
    let anchor = anchor.map_or(Parent::None, |anchor| tree.find(anchor).map_or(Parent::Missing, Parent::Node));
    if !preserved.is_empty() {
        let nodes = preserved.iter().map(|key| tree.find(*key)).collect::<Option<Vec<u32>>>()?;
        return Some(Preserved { nodes, anchor });
    }
    let (head, tail) = segment.as_ref()?;
    let head = tree.find(*head)?;
    let tail = tree.find(*tail)?;
    let branch: Vec<u32> = std::iter::once(tail).chain(tree.above(tail)).collect();
    let place = branch.iter().position(|node| *node == head)?;
    let nodes = branch[..=place].iter().rev().copied().collect();
    Some(Preserved { nodes, anchor })
}
