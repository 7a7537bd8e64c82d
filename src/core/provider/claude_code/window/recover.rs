use super::tree::{Children, Tree};
use crate::model::Key;
use rustc_hash::{FxHashMap, FxHashSet};

/// Rows by the message id or the row that they belong to.
type Groups<K> = FxHashMap<K, Vec<u32>>;

/// Extends the walk from root to leaf by the other rows of its responses and the tool results that are not on it.
///
/// Parallel tool calls create branches: each result is a child of its own tool use, and the walk contains only one of them.
pub(super) fn recover(tree: &Tree<'_>, walk: Vec<u32>, seen: &mut [bool]) -> Vec<u32> {
    let view = tree.view;
    let pieces: Vec<u32> = walk.iter().copied().filter(|node| view.is_assistant(tree.row(*node))).collect();
    if pieces.is_empty() {
        return walk;
    }
    let mut responses: Groups<Key> = Groups::default();
    for node in tree.live() {
        if let Some(response) = view.response(tree.row(node)) {
            responses.entry(response).or_default().push(node);
        }
    }
    let (answers, owners) = answers(tree, &responses);
    let mut recovery = Recovery {
        tree,
        responses,
        answers,
        owners,
        on_walk: walk.iter().flat_map(|node| view.results(tree.row(*node))).collect(),
        position: walk.iter().enumerate().map(|(place, node)| (*node, place)).collect(),
        moved: FxHashMap::default(),
        children: None,
        scanned: 0,
        seen,
    };
    let mut done = FxHashSet::default();
    let mut stretches = Vec::new();
    for piece in pieces {
        if let Some(response) = tree.facts(piece).message
            && done.insert(response)
        {
            stretches.extend(recovery.stretch(&walk, piece, response));
        }
    }
    let stretches = merge(&recovery, stretches);
    let mut chain = Vec::with_capacity(tree.nodes.len());
    let mut at = 0;
    for stretch in stretches {
        chain.extend_from_slice(&walk[at..=stretch.start]);
        let mut found = stretch.found.into_iter().peekable();
        for node in &walk[stretch.start + 1..stretch.end] {
            while let Some(earlier) = found.next_if(|found| recovery.order(*found).0 < u64::from(*node) * 2) {
                chain.push(earlier);
            }
            chain.push(*node);
            chain.extend(stretch.behind.get(node).into_iter().flatten());
        }
        chain.extend(found);
        at = stretch.end;
    }
    chain.extend_from_slice(&walk[at..]);
    chain
}

/// Returns the tool results that belong to each row, and the row of each tool use; `None` if two responses contain it.
fn answers(tree: &Tree<'_>, responses: &Groups<Key>) -> (Groups<u32>, FxHashMap<Key, Option<u32>>) {
    let view = tree.view;
    let mut answers: Groups<u32> = Groups::default();
    let mut known = FxHashSet::default();
    let mut add = |owner: u32, result: u32| {
        if known.insert((owner, result)) {
            answers.entry(owner).or_default().push(result);
        }
    };
    let mut elsewhere = Vec::new();
    for node in tree.live().filter(|node| view.has_result(tree.row(*node))) {
        let parent = tree.parent(node);
        if let Some(parent) = parent {
            add(parent, node);
        }
        let calls: FxHashSet<Key> = parent.map(|parent| view.uses(tree.row(parent)).collect()).unwrap_or_default();
        let mut results = view.results(tree.row(node)).peekable();
        if results.peek().is_none() || !results.all(|call| calls.contains(&call)) {
            elsewhere.push(node);
        }
    }
    let mut owners: FxHashMap<Key, Option<u32>> = FxHashMap::default();
    if !elsewhere.is_empty() {
        let mut all: Vec<u32> = responses.values().flatten().copied().collect();
        all.sort_unstable();
        for node in all {
            for call in view.uses(tree.row(node)) {
                owners
                    .entry(call)
                    .and_modify(|owner| {
                        let same = owner.is_some_and(|owner| tree.facts(owner).message == tree.facts(node).message);
                        *owner = same.then_some(node);
                    })
                    .or_insert(Some(node));
            }
        }
    }
    let same_side = |a: u32, b: u32| view.is_sidechain(tree.row(a)) == view.is_sidechain(tree.row(b));
    for node in elsewhere {
        let source = tree.facts(node).answers.and_then(|key| tree.find(key)).filter(|source| tree.is_there(*source));
        let named = view.results(tree.row(node)).filter_map(|call| owners.get(&call).copied().flatten());
        for owner in source.into_iter().chain(named) {
            if Some(owner) != tree.parent(node) && same_side(owner, node) {
                add(owner, node);
            }
        }
    }
    (answers, owners)
}

/// A stretch of the walk that contains the pieces of one response, and the rows to insert into it.
struct Stretch {
    start: usize,
    end: usize,
    found: Vec<u32>,
    /// Rows to insert after single rows of the walk.
    behind: Groups<u32>,
}

struct Recovery<'a> {
    tree: &'a Tree<'a>,
    responses: Groups<Key>,
    answers: Groups<u32>,
    owners: FxHashMap<Key, Option<u32>>,
    on_walk: FxHashSet<Key>,
    position: FxHashMap<u32, usize>,
    /// Sort keys of rows that are ordered as if at another position of the file: twice that position, plus one.
    moved: FxHashMap<u32, u64>,
    children: Option<Children>,
    /// Position in the walk up to which rows were searched for passive descendants.
    scanned: usize,
    seen: &'a mut [bool],
}

impl Recovery<'_> {
    /// Returns the sort key of a row: twice its position in the file, unless it was moved.
    fn order(&self, node: u32) -> (u64, u32) {
        (self.moved.get(&node).copied().unwrap_or(u64::from(node) * 2), node)
    }

    fn is_unseen(&self, node: u32) -> bool {
        !self.seen[node as usize]
    }

    fn stretch(&mut self, walk: &[u32], piece: u32, response: Key) -> Option<Stretch> {
        let view = self.tree.view;
        let group = self.responses.remove(&response).unwrap_or_else(|| vec![piece]);
        let mut found: Vec<u32> = group.iter().copied().filter(|node| self.is_unseen(*node)).collect();
        self.results(&group, &mut found);
        found.iter().for_each(|node| self.seen[*node as usize] = true);

        let start = self.position.get(&piece).copied()?;
        let last = group.iter().filter_map(|node| self.position.get(node)).copied().max().unwrap_or(start);
        let mut end = last.max(start) + 1;
        while end < walk.len() && view.accompanies(self.tree.row(walk[end]), Some(response)) {
            end += 1;
        }
        let mut behind = Groups::default();
        if group.iter().any(|node| view.has_use(self.tree.row(*node))) {
            let answers = group.iter().filter_map(|node| self.answers.get(node)).flatten().copied();
            let known: FxHashSet<u32> = group.iter().copied().collect();
            let mut others = FxHashSet::default();
            let answers: Vec<u32> =
                answers.filter(|node| !self.is_unseen(*node) && !known.contains(node) && others.insert(*node)).collect();
            for node in group.iter().chain(&answers) {
                self.below(*node, &mut found);
            }
            for node in &walk[self.scanned.clamp(start + 1, end)..end] {
                if view.is_passive(self.tree.row(*node)) {
                    let mut below = Vec::new();
                    self.below(*node, &mut below);
                    if !below.is_empty() {
                        behind.insert(*node, below);
                    }
                }
            }
            self.scanned = self.scanned.max(end);
        }
        (!found.is_empty() || !behind.is_empty()).then_some(Stretch { start, end, found, behind })
    }

    /// Adds the tool results of a response: the children of its rows, and of the results elsewhere those that are missing.
    fn results(&mut self, group: &[u32], found: &mut Vec<u32>) {
        if !group.iter().any(|node| self.answers.contains_key(node)) {
            return;
        }
        let own: FxHashSet<u32> = group.iter().copied().collect();
        let mut known = FxHashSet::default();
        let (mut near, mut far) = (Vec::new(), Vec::new());
        for result in group.iter().filter_map(|node| self.answers.get(node)).flatten() {
            if self.is_unseen(*result) && known.insert(*result) {
                let below = self.tree.parent(*result).is_some_and(|parent| own.contains(&parent));
                if below { near.push(*result) } else { far.push(*result) }
            }
        }
        let view = self.tree.view;
        let mut have: FxHashSet<Key> = near.iter().flat_map(|node| view.results(self.tree.row(*node))).collect();
        far.sort_unstable_by_key(|node| self.order(*node));
        let last = u64::from(group.iter().copied().max().unwrap_or_default()) * 2 + 1;
        for node in far {
            let needed = |call: &Key| {
                let owner = self.owners.get(call).copied().flatten();
                !have.contains(call) && !self.on_walk.contains(call) && owner.is_some_and(|owner| own.contains(&owner))
            };
            if view.results(self.tree.row(node)).any(|call| needed(&call)) {
                have.extend(view.results(self.tree.row(node)));
                self.moved.insert(node, last.max(u64::from(node) * 2));
                near.push(node);
            }
        }
        found.append(&mut near);
    }

    /// Adds the runs of passive rows that descend from a row.
    fn below(&mut self, node: u32, found: &mut Vec<u32>) {
        let tree = self.tree;
        let children = self.children.get_or_insert_with(|| tree.children());
        let place = self.moved.get(&node).copied();
        for child in children.children_of(node) {
            for row in run(tree, children, node, *child, self.seen) {
                self.seen[row as usize] = true;
                found.push(row);
                if let Some(place) = place {
                    self.moved.insert(row, place.max(u64::from(row) * 2));
                }
            }
        }
    }
}

/// Returns the run of passive rows from `child` on; empty if it branches or contains any other row.
fn run(tree: &Tree<'_>, children: &Children, above: u32, child: u32, seen: &[bool]) -> Vec<u32> {
    let view = tree.view;
    let side = view.is_sidechain(tree.row(above));
    let mut rows = Vec::new();
    let mut next = Some(child);
    while let Some(node) = next {
        let fits = view.is_sidechain(tree.row(node)) == side && view.is_passive(tree.row(node));
        // More rows than the tree has means a cycle.
        if seen[node as usize] || !fits || rows.len() > tree.nodes.len() {
            return Vec::new();
        }
        rows.push(node);
        let mut unseen = children.children_of(node).iter().filter(|child| !seen[**child as usize]);
        next = unseen.next().copied();
        if unseen.next().is_some() {
            return Vec::new();
        }
    }
    rows
}

/// Sorts the stretches by position in the walk, and joins those that overlap.
fn merge(recovery: &Recovery<'_>, mut stretches: Vec<Stretch>) -> Vec<Stretch> {
    stretches.sort_by_key(|stretch| stretch.start);
    let mut merged: Vec<Stretch> = Vec::new();
    for stretch in stretches {
        match merged.last_mut().filter(|last| stretch.start < last.end) {
            Some(last) => {
                last.end = last.end.max(stretch.end);
                last.found.extend(stretch.found);
                for (node, rows) in stretch.behind {
                    last.behind.entry(node).or_default().extend(rows);
                }
            }
            None => merged.push(stretch),
        }
    }
    for stretch in &mut merged {
        stretch.found.sort_by_key(|node| recovery.order(*node));
    }
    merged
}
