use super::view::View;
use crate::model::{Event, Flags, Key, Row, RowKind};
use rustc_hash::{FxHashMap, FxHashSet};

/// The rows of a session as a tree, ordered by the first occurrence of their identities.
pub(super) struct Tree<'a> {
    pub view: &'a View<'a>,
    pub nodes: Vec<Node>,
    index: FxHashMap<Key, u32>,
    /// The leaf that the client recorded last.
    pub checkpoint: Option<u32>,
    /// True if the user chose it.
    pub explicit: bool,
    /// True if any leaf was recorded.
    pub noted: bool,
    /// True if the user rewound to before the first row.
    pub cleared: bool,
    /// The last row of the main conversation.
    pub last: Option<u32>,
    /// The row of the main conversation with the newest timestamp.
    pub newest: Option<u32>,
    /// True if a file snapshot follows `last`.
    pub snapshot: bool,
}

/// A row of the tree. Of rows with the same identity the last one counts, at the position of the first.
#[derive(Clone, Copy)]
pub(super) struct Node {
    pub row: u32,
    pub parent: Parent,
    pub removed: bool,
}

#[derive(Clone, Copy, Default, PartialEq)]
pub(super) enum Parent {
    /// No parent: the row begins a conversation.
    #[default]
    None,
    /// A row that is not in the file.
    Missing,
    /// A value that is not an identity: the client begins with the row, although it did not write that.
    Unusable,
    Node(u32),
}

impl<'a> Tree<'a> {
    pub fn new(view: &'a View<'a>) -> Tree<'a> {
        let mut tree = Tree {
            view,
            nodes: Vec::with_capacity(view.rows.len()),
            index: FxHashMap::with_capacity_and_hasher(view.rows.len(), Default::default()),
            checkpoint: None,
            explicit: false,
            noted: false,
            cleared: false,
            last: None,
            newest: None,
            snapshot: false,
        };
        let mut builder = Builder::default();
        for row in 0..view.rows.len() as u32 {
            builder.add(&mut tree, row);
        }
        tree.checkpoint = builder.checkpoint.and_then(|key| tree.find(key));
        let unusable = Some(Key::from_text(""));
        for node in 0..tree.nodes.len() {
            let Some(key) = builder.parents[node] else { continue };
            let parent = builder.beyond_dropped(&tree.index, key);
            tree.nodes[node].parent = match parent {
                None => Parent::None,
                key if key == unusable => Parent::Unusable,
                Some(key) => tree.find(key).map_or(Parent::Missing, Parent::Node),
            };
        }
        tree
    }

    pub fn find(&self, key: Key) -> Option<u32> {
        self.index.get(&key).copied()
    }

    pub fn row(&self, node: u32) -> u32 {
        self.nodes[node as usize].row
    }

    pub fn facts(&self, node: u32) -> &'a Row {
        self.view.row(self.row(node))
    }

    /// Returns the parent of a node; `None` if it is missing or removed.
    pub fn parent(&self, node: u32) -> Option<u32> {
        match self.nodes[node as usize].parent {
            Parent::Node(parent) if self.is_there(parent) => Some(parent),
            _ => None,
        }
    }

    /// Returns the ancestors of a node, nearest first, each once: parents can form a cycle.
    pub fn above(&self, node: u32) -> impl Iterator<Item = u32> {
        let mut seen = FxHashSet::from_iter([node]);
        std::iter::successors(self.parent(node), |node| self.parent(*node)).take_while(move |node| seen.insert(*node))
    }

    /// Returns true if a node names a parent, even a missing or unusable one.
    pub fn has_parent(&self, node: u32) -> bool {
        self.nodes[node as usize].parent != Parent::None
    }

    pub fn names_row(&self, node: u32) -> bool {
        matches!(self.nodes[node as usize].parent, Parent::Missing | Parent::Node(_))
    }

    pub fn is_there(&self, node: u32) -> bool {
        !self.nodes[node as usize].removed
    }

    /// Returns the nodes that were not removed, in order.
    pub fn live(&self) -> impl DoubleEndedIterator<Item = u32> + Clone {
        (0..self.nodes.len() as u32).filter(|node| self.is_there(*node))
    }

    /// Collects the children of each node, in order.
    pub fn children(&self) -> Children {
        let mut ends = vec![0u32; self.nodes.len() + 1];
        for parent in self.live().filter_map(|node| self.parent(node)) {
            ends[parent as usize + 1] += 1;
        }
        for node in 1..ends.len() {
            ends[node] += ends[node - 1];
        }
        let mut nodes = vec![0; ends.last().map_or(0, |end| *end as usize)];
        for node in self.live() {
            if let Some(parent) = self.parent(node) {
                let place = &mut ends[parent as usize];
                nodes[*place as usize] = node;
                *place += 1;
            }
        }
        Children { ends, nodes }
    }
}

/// The children of all nodes, grouped by parent.
pub(super) struct Children {
    /// End of the children of each node in `nodes`; those of the next node begin there.
    ends: Vec<u32>,
    nodes: Vec<u32>,
}

impl Children {
    pub fn children_of(&self, node: u32) -> &[u32] {
        let start = (node as usize).checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.nodes[start as usize..self.ends[node as usize] as usize]
    }
}

/// State while the rows are read in file order.
#[derive(Default)]
struct Builder {
    parents: Vec<Option<Key>>,
    /// Parents of progress rows, which are inherited by the children of these rows.
    progress: FxHashMap<Key, Option<Key>>,
    /// Parents of rows that the client drops.
    dropped: FxHashMap<Key, Option<Key>>,
    checkpoint: Option<Key>,
    newest: Option<i64>,
}

impl Builder {
    fn add(&mut self, tree: &mut Tree<'_>, row: u32) {
        let facts = tree.view.row(row);
        if let Some(Event::Leaf { leaf, explicit }) = facts.event.as_deref() {
            return self.note(tree, *leaf, *explicit);
        }
        if !matches!(facts.kind, RowKind::User | RowKind::Assistant | RowKind::Attachment | RowKind::Link | RowKind::Boundary) {
            return;
        }
        let Some(id) = facts.id else { return };
        let parent = facts.parent.and_then(|parent| self.progress.get(&parent).copied().unwrap_or(Some(parent)));
        if facts.flags.any(Flags::PROGRESS) {
            self.progress.insert(id, parent);
            return;
        }
        if facts.flags.any(Flags::UNUSABLE) {
            if !tree.index.contains_key(&id) {
                self.dropped.insert(id, parent);
            }
            return;
        }
        let next = tree.nodes.len() as u32;
        let node = *tree.index.entry(id).or_insert(next);
        if node == next {
            tree.nodes.push(Node { row, parent: Parent::None, removed: false });
            self.parents.push(parent);
        } else {
            tree.nodes[node as usize].row = row;
            self.parents[node as usize] = parent;
        }
        if facts.flags.any(Flags::SNAPSHOT) {
            tree.snapshot = true;
        } else if !tree.view.is_sidechain(row) {
            tree.last = Some(node);
            tree.snapshot = false;
            tree.cleared = false;
            if facts.timestamp > self.newest {
                (tree.newest, self.newest) = (Some(node), facts.timestamp);
            }
        }
        if facts.kind == RowKind::Boundary {
            self.checkpoint = None;
            tree.explicit = false;
        }
    }

    fn note(&mut self, tree: &mut Tree<'_>, leaf: Option<Key>, explicit: bool) {
        tree.noted = true;
        if leaf.is_some() {
            tree.explicit = explicit || tree.explicit && leaf == self.checkpoint;
            self.checkpoint = leaf;
            tree.cleared = false;
        } else if explicit {
            tree.cleared = true;
            self.checkpoint = None;
            tree.explicit = false;
        }
    }

    /// Returns the nearest ancestor of `key`, itself included, that the client did not drop; `None` if there is none.
    fn beyond_dropped(&mut self, index: &FxHashMap<Key, u32>, key: Key) -> Option<Key> {
        let mut passed = Vec::new();
        let mut end = Some(key);
        while let Some(key) = end
            && !index.contains_key(&key)
            && passed.len() <= self.dropped.len()
            && let Some(parent) = self.dropped.get(&key)
        {
            passed.push(key);
            end = *parent;
        }
        // Each dropped row is walked once.
        for key in passed {
            self.dropped.insert(key, end);
        }
        end
    }
}
