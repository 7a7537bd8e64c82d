use super::tree::Tree;
use crate::model::{Flags, Key};
use rustc_hash::FxHashSet;

/// Returns the row that a resume starts from, given the last row that a compaction kept.
pub(super) fn leaf(tree: &Tree<'_>, kept: Option<u32>) -> Option<u32> {
    let view = tree.view;
    let leaves = leaves(tree, kept);
    let main = |node: &u32| !view.is_sidechain(tree.row(*node));
    let leaf = latest(tree, leaves.iter().copied().filter(main).filter(|node| view.speaks(tree.row(*node))));
    if leaf.is_some() || !leaves.is_empty() || tree.cleared {
        return leaf;
    }
    let snapshot = |node: &u32| view.flags(tree.row(*node)).any(Flags::SNAPSHOT);
    latest(tree, tree.live().filter(main).filter(|node| !snapshot(node))).or_else(|| latest(tree, tree.live().filter(main)))
}

/// Returns the newest row: the first of equal timestamps, the last if no row has a timestamp.
fn latest(tree: &Tree<'_>, nodes: impl Iterator<Item = u32>) -> Option<u32> {
    let mut best = None;
    let mut time = None;
    for node in nodes {
        let own = tree.facts(node).timestamp;
        if own > time || time.is_none() {
            (best, time) = (Some(node), own);
        }
    }
    best
}

/// Returns the candidates for the leaf, in order.
fn leaves(tree: &Tree<'_>, kept: Option<u32>) -> Vec<u32> {
    if tree.cleared {
        return Vec::new();
    }
    let checkpoint = tree.checkpoint.filter(|node| tree.is_there(*node));
    let last = tree.last.filter(|node| tree.is_there(*node));
    let explicit = tree.explicit && checkpoint.is_some_and(|node| !tree.view.is_sidechain(tree.row(node)));
    let mut speakers = Speakers { tree, known: vec![None; tree.nodes.len()] };
    if kept.is_none() || explicit {
        let mut leaf = checkpoint;
        if let (Some(noted), Some(last)) = (checkpoint, last)
            && !tree.explicit
            && last != noted
            && continues(tree, last, noted, true, true)
        {
            leaf = Some(last);
        }
        if kept.is_none() && !tree.snapshot && leaf.is_none() {
            leaf = if tree.noted { last } else { newest_after(tree, last) };
        }
        if let Some(speaker) = leaf.and_then(|leaf| speakers.speaker(leaf)) {
            return vec![speaker];
        }
    }
    let ends = ends(tree, &mut speakers);
    if ends.len() > 1 {
        let noted = checkpoint.filter(|noted| {
            ends.contains(noted)
                && (tree.explicit || last.is_none_or(|last| !continues(tree, last, *noted, false, !tree.explicit)))
        });
        let chosen = noted.or(if tree.snapshot { None } else { last });
        if let Some(speaker) = chosen.and_then(|node| speakers.speaker(node)) {
            return vec![speaker];
        }
    }
    ends
}

/// Returns the messages that end a branch: no other message follows them.
fn ends(tree: &Tree<'_>, speakers: &mut Speakers<'_>) -> Vec<u32> {
    let mut parent = vec![false; tree.nodes.len()];
    let mut parent_of_message = vec![false; tree.nodes.len()];
    for node in tree.live() {
        if let Some(above) = tree.parent(node) {
            parent[above as usize] = true;
            parent_of_message[above as usize] |= tree.view.speaks(tree.row(node));
        }
    }
    let mut ends: Vec<u32> = tree
        .live()
        .filter(|node| !parent[*node as usize])
        .filter_map(|node| speakers.speaker(node))
        .filter(|speaker| !parent_of_message[*speaker as usize])
        .collect();
    ends.sort_unstable();
    ends.dedup();
    ends
}

/// Returns the newest row among `last` and its descendants, for a session without a recorded leaf.
fn newest_after(tree: &Tree<'_>, last: Option<u32>) -> Option<u32> {
    let last = last?;
    if tree.newest.is_none_or(|newest| newest == last) {
        return Some(last);
    }
    let mut below: Vec<Option<bool>> = vec![None; tree.nodes.len()];
    below[last as usize] = Some(true);
    let (mut best, mut time) = (last, None);
    for node in tree.live().filter(|node| *node != last && !tree.view.is_sidechain(tree.row(*node))) {
        let own = tree.facts(node).timestamp;
        if own.is_none() || own < time {
            continue;
        }
        let mut path = Vec::new();
        let mut next = Some(node);
        while let Some(node) = next.filter(|node| below[*node as usize].is_none()) {
            below[node as usize] = Some(false);
            path.push(node);
            next = tree.parent(node);
        }
        let reached = next.is_some_and(|node| below[node as usize] == Some(true));
        path.into_iter().for_each(|node| below[node as usize] = Some(reached));
        if reached || below[node as usize] == Some(true) {
            (best, time) = (node, own);
        }
    }
    Some(best)
}

/// Finds the nearest message at or above a node; each result is cached.
struct Speakers<'a> {
    tree: &'a Tree<'a>,
    known: Vec<Option<Option<u32>>>,
}

impl Speakers<'_> {
    fn speaker(&mut self, node: u32) -> Option<u32> {
        let mut path = Vec::new();
        let mut next = Some(node);
        let mut found = None;
        while let Some(node) = next {
            if let Some(known) = self.known[node as usize] {
                found = known;
                break;
            }
            // A cycle of rows without messages ends here.
            self.known[node as usize] = Some(None);
            path.push(node);
            if self.tree.view.speaks(self.tree.row(node)) {
                found = Some(node);
                break;
            }
            next = self.tree.parent(node);
        }
        path.into_iter().for_each(|node| self.known[node as usize] = Some(found));
        found
    }
}

/// Returns true if `last` continues the conversation of the recorded leaf: it descends from it (if `direct`), or belongs to the
/// same batch of tool calls (if `batch`).
fn continues(tree: &Tree<'_>, last: u32, noted: u32, direct: bool, batch: bool) -> bool {
    let view = tree.view;
    let Batch { caller, answered, single } = if batch { batch_of(tree, noted) } else { Batch::default() };
    let calls: Vec<Key> = caller.map(|caller| view.uses(tree.row(caller)).collect()).unwrap_or_default();
    let response = caller.filter(|_| !calls.is_empty()).and_then(|caller| view.response(tree.row(caller)));
    let caller = caller.filter(|_| !calls.is_empty());
    let siblings: FxHashSet<u32> =
        caller.zip(response).map(|(caller, response)| companions(tree, caller, response).collect()).unwrap_or_default();
    let shared = answered.iter().any(|call| calls.contains(call));
    let other = |node: u32| {
        let mut results = view.results(tree.row(node));
        shared && results.any(|call| calls.contains(&call) && if single { calls.len() > 1 } else { !answered.contains(&call) })
    };
    let mut below: Option<u32> = None;
    let mut near = false;
    for node in std::iter::once(last).chain(tree.above(last)) {
        if direct && node == noted {
            return true;
        }
        let row = tree.row(node);
        if let (Some(caller), Some(response)) = (caller, response) {
            if near && node == caller {
                return true;
            }
            if node != caller && view.response(row) == Some(response) && view.has_use(row) {
                if siblings.contains(&node) {
                    return true;
                }
                near = true;
            } else if !view.accompanies(row, Some(response)) {
                near = false;
            }
        }
        if caller == Some(node) && below.is_some_and(other) {
            return true;
        }
        below = Some(node);
    }
    false
}

/// The calls that the recorded leaf answers.
#[derive(Default)]
struct Batch {
    caller: Option<u32>,
    answered: Vec<Key>,
    /// True if an attachment names the one call.
    single: bool,
}

/// Returns the batch that a recorded leaf belongs to, over the passive rows behind it.
fn batch_of(tree: &Tree<'_>, noted: u32) -> Batch {
    let view = tree.view;
    let mut branch = std::iter::once(noted).chain(tree.above(noted)).peekable();
    let mut passive = None;
    while let Some(node) = branch.next_if(|node| view.is_passive(tree.row(*node))) {
        passive = Some(node);
    }
    let cursor = branch.next();
    match (cursor, passive) {
        (Some(node), _) if view.has_result(tree.row(node)) => {
            Batch { caller: tree.parent(node), answered: view.results(tree.row(node)).collect(), single: false }
        }
        (cursor, Some(passive)) => {
            let tool = tree.facts(passive).answers.filter(|_| view.is_attachment(tree.row(passive)));
            let response = cursor.and_then(|node| Some((node, view.response(tree.row(node))?)));
            let (Some(tool), Some((node, response))) = (tool, response) else { return Batch::default() };
            let mut pieces = std::iter::once(node).chain(companions(tree, node, response));
            let caller = pieces.find(|piece| view.uses(tree.row(*piece)).any(|call| call == tool));
            Batch { caller, answered: caller.map(|_| tool).into_iter().collect(), single: caller.is_some() }
        }
        (caller, None) => Batch { caller, ..Batch::default() },
    }
}

/// Returns the nearest ancestors of a piece of a response that can be among its pieces, nearest first.
fn companions(tree: &Tree<'_>, node: u32, response: Key) -> impl Iterator<Item = u32> {
    tree.above(node).take_while(move |node| tree.view.accompanies(tree.row(*node), Some(response)))
}
