use super::chain::chain;
use super::tree::{Parent, Tree};
use super::{View, cut};
use crate::model::{Event, Session, Window};

/// Returns the rows on the branches that the user left, in order, given the leaf of the window.
///
/// The conversation up to the leaf, as if no compaction had cut it, does not have these rows, although they are linked to it or begin a
/// conversation. A row that no message follows makes no branch. A row whose parent is not in the file was not left as far as the file
/// shows.
pub(super) fn left(session: &Session, view: &View<'_>, window: &Window, leaf: Option<u32>) -> Vec<u32> {
    let mut tree = Tree::new(view);
    join(session, &mut tree);
    let nodes = leaf.map(|leaf| chain(&tree, leaf)).unwrap_or_default();
    let mut live = vec![false; view.rows.len()];
    let cuts = cut::cuts(session, &tree, &nodes);
    let rows = cuts.iter().chain(&window.cuts).flat_map(|cut| &cut.rows).chain(&window.chain).copied();
    rows.chain(nodes.iter().map(|node| tree.row(*node))).for_each(|row| live[row as usize] = true);
    let begins = |node: &u32| !tree.has_parent(*node) && !view.is_boundary(tree.row(*node));
    let root = nodes.first().map_or(tree.cleared, begins);
    // Each node is walked once; `None`: it is not known yet.
    let mut known: Vec<Option<bool>> =
        (0..tree.nodes.len() as u32).map(|node| live[tree.row(node) as usize].then_some(false)).collect();
    let mut walk = |node: u32, opens: bool| {
        let mut path = Vec::new();
        let mut next = Some(node);
        let mut is_left = false;
        while let Some(node) = next {
            if let Some(left) = known[node as usize] {
                is_left = left || opens && live[tree.row(node) as usize];
                break;
            }
            known[node as usize] = Some(false);
            path.push(node);
            is_left = opens && root && !cut::is_cut(&tree, node);
            next = tree.parent(node);
        }
        path.into_iter().for_each(|node| known[node as usize] = Some(is_left));
    };
    let main = |node: &u32| !view.is_sidechain(tree.row(*node));
    let (messages, others): (Vec<u32>, Vec<u32>) = tree.live().filter(main).partition(|node| view.speaks(tree.row(*node)));
    messages.into_iter().for_each(|node| walk(node, true));
    others.into_iter().for_each(|node| walk(node, false));
    let left = known.iter().zip(&tree.nodes).filter(|(left, _)| **left == Some(true)).map(|(_, node)| node.row);
    let mut left: Vec<u32> = left.collect();
    left.sort_unstable();
    left
}

/// The command of the user that asks for a compaction.
const COMPACT: &str = "/compact";

/// Links each boundary to the row that its compaction followed: the one that it names, or the command beside it that asked for the
/// compaction, or else the last message before it.
fn join(session: &Session, tree: &mut Tree<'_>) {
    let mut last = None;
    for node in 0..tree.nodes.len() as u32 {
        let row = tree.row(node);
        if let Some(Event::Compaction { follows, .. }) = tree.facts(node).event.as_deref() {
            let named = follows.and_then(|key| tree.find(key)).filter(|before| *before != node);
            let asks = |last: &u32| {
                let mut blocks = session.blocks_of(tree.row(*last)).iter();
                tree.parent(*last) == named && blocks.any(|block| block.preview.starts_with(COMPACT))
            };
            let before = last.filter(asks).or(named).or(last);
            tree.nodes[node as usize].parent = before.map_or(Parent::None, Parent::Node);
        } else if tree.view.speaks(row) && !tree.view.is_sidechain(row) {
            last = Some(node);
        }
    }
}
