use super::recover::recover;
use super::tree::Tree;
use crate::model::Flags;
use crate::model::limits::BRIDGE_MILLISECONDS;

/// Returns the live chain from its root to `leaf`, including rows that belong to it but are not ancestors of the leaf.
pub(super) fn chain(tree: &Tree<'_>, leaf: u32) -> Vec<u32> {
    let mut seen = vec![false; tree.nodes.len()];
    let mut walk = Vec::new();
    let mut bridges: Option<Bridges> = None;
    let mut next = Some(leaf);
    while let Some(node) = next {
        seen[node as usize] = true;
        walk.push(node);
        if !tree.names_row(node) {
            break;
        }
        next = tree
            .parent(node)
            .filter(|parent| !seen[*parent as usize])
            .or_else(|| bridges.get_or_insert_with(|| Bridges::new(tree)).before(tree, node, &seen));
    }
    walk.reverse();
    let mut chain = recover(tree, walk, &mut seen);
    tail(tree, leaf, &mut seen, &mut chain);
    chain
}

/// Appends the attachments and system rows that descend from the leaf, depth first, siblings by timestamp.
fn tail(tree: &Tree<'_>, leaf: u32, seen: &mut [bool], chain: &mut Vec<u32>) {
    let mut children: rustc_hash::FxHashMap<u32, Vec<u32>> = Default::default();
    for node in tree.live().filter(|node| !tree.view.speaks(tree.row(*node))) {
        if let Some(parent) = tree.parent(node) {
            children.entry(parent).or_default().push(node);
        }
    }
    let mut stack = vec![leaf];
    while let Some(node) = stack.pop() {
        if node != leaf {
            if std::mem::replace(&mut seen[node as usize], true) {
                continue;
            }
            chain.push(node);
        }
        // Removed from the map, so that no row is visited twice.
        let mut below = children.remove(&node).unwrap_or_default();
        below.sort_by_key(|child| tree.facts(*child).timestamp);
        stack.extend(below.into_iter().rev().filter(|child| !seen[*child as usize]));
    }
}

/// Finds a substitute for a missing parent: the newest row of the same side that is not on the chain yet, not newer than the
/// child and at most [`BRIDGE_MILLISECONDS`] older; of rows with equal timestamps the earlier line.
struct Bridges {
    /// Rows sorted by timestamp, and by descending line for equal timestamps: the main conversation, and subagents.
    sides: [Vec<(i64, u32)>; 2],
    /// Union-find over the rows of a side, 1-based: each entry leads to the nearest row at or before it that may be off the chain, or to 0.
    free: [Vec<u32>; 2],
}

impl Bridges {
    fn new(tree: &Tree<'_>) -> Bridges {
        let mut sides: [Vec<(i64, u32)>; 2] = Default::default();
        for node in tree.live().filter(|node| !tree.view.flags(tree.row(*node)).any(Flags::SNAPSHOT)) {
            if let Some(time) = tree.facts(node).timestamp {
                sides[usize::from(tree.view.is_sidechain(tree.row(node)))].push((time, node));
            }
        }
        for side in &mut sides {
            side.sort_unstable_by_key(|(time, node)| (*time, std::cmp::Reverse(*node)));
        }
        let free = [0, 1].map(|side: usize| (0..=sides[side].len() as u32).collect());
        Bridges { sides, free }
    }

    fn before(&mut self, tree: &Tree<'_>, node: u32, seen: &[bool]) -> Option<u32> {
        let time = tree.facts(node).timestamp?;
        let side = usize::from(tree.view.is_sidechain(tree.row(node)));
        let (rows, free) = (&self.sides[side], &mut self.free[side]);
        let mut place = rows.partition_point(|(own, _)| *own <= time);
        let mut passed = Vec::new();
        // `free` skips runs of rows that are on the chain, so that each run is walked once.
        while place > 0 {
            let next = free[place] as usize;
            if next == place {
                if !seen[rows[place - 1].1 as usize] {
                    break;
                }
                free[place] = place as u32 - 1;
            }
            passed.push(place);
            place = free[place] as usize;
        }
        passed.into_iter().for_each(|step| free[step] = place as u32);
        let (found, node) = *rows.get(place.checked_sub(1)?)?;
        (time.saturating_sub(found) <= BRIDGE_MILLISECONDS).then_some(node)
    }
}
