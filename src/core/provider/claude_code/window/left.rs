use super::View;
use crate::model::{Key, RowKind, Window};
use rustc_hash::FxHashMap;

/// Returns the rows of the turns that the user left by a rewind: a prompt whose parent is continued by other rows, and all rows
/// after it on its branch.
///
/// A row whose parent is not in the file was not left as far as the file shows.
pub(super) fn left(view: &View<'_>, window: &Window) -> Vec<u32> {
    let rows = view.rows;
    let mut places: FxHashMap<Key, u32> = FxHashMap::default();
    for (place, row) in (0..).zip(rows) {
        if let Some(id) = row.id {
            places.entry(id).or_insert(place);
        }
    }
    let parent = |row: u32| rows[row as usize].parent.and_then(|parent| places.get(&parent)).copied();
    let mut live = vec![false; rows.len()];
    for row in window.chain.iter().chain(&window.rows).chain(window.cuts.iter().flat_map(|cut| &cut.rows)) {
        live[*row as usize] = true;
    }
    // Rows that a compaction cut off were live before it.
    let speaks = |row: &u32| {
        let row_of = &rows[*row as usize];
        !view.is_sidechain(*row) && matches!(row_of.kind, RowKind::User | RowKind::Assistant)
    };
    let mut next = window.chain.first().copied();
    let mut walked = vec![false; rows.len()];
    while let Some(row) = next.filter(|row| !std::mem::replace(&mut walked[*row as usize], true)) {
        live[row as usize] = true;
        let before = || view.is_boundary(row).then(|| (0..row).rev().find(speaks)).flatten();
        next = parent(row).or_else(before);
    }
    let root = window.chain.first().is_some_and(|row| rows[*row as usize].parent.is_none() && !view.is_boundary(*row));
    let mut is_left = vec![false; rows.len()];
    for (place, row) in (0u32..).zip(rows) {
        if live[place as usize] || view.is_sidechain(place) || row.id.is_none() {
            continue;
        }
        let opens = row.prompt && row.kind == RowKind::User;
        is_left[place as usize] = match parent(place) {
            Some(parent) => is_left[parent as usize] || opens && live[parent as usize],
            None => opens && root && row.parent.is_none(),
        };
    }
    (0..rows.len() as u32).filter(|row| is_left[*row as usize]).collect()
}
