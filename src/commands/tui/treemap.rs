//! The layout of a treemap: rectangles with areas by size, as nearly square as they can be.
//!
//! The rule is that of squarified treemaps (Bruls, Huizing, van Wijk, 2000): a row takes items as long as that makes its
//! rectangles more square.

use ratatui::layout::Rect;

/// The height of a cell of a terminal by its width.
const CELL: f64 = 2.0;

/// Returns a rectangle of cells for each size, in their order; sizes fall. Those of small sizes can be empty, and none overlap.
pub(super) fn treemap(sizes: &[f64], area: Rect) -> Vec<Rect> {
    let (mut x, mut y) = (f64::from(area.x), f64::from(area.y) * CELL);
    let (mut width, mut height) = (f64::from(area.width), f64::from(area.height) * CELL);
    let mut left: f64 = sizes.iter().sum();
    let mut tiles = Vec::with_capacity(sizes.len());
    let mut rest = sizes;
    while !rest.is_empty() && left > 0.0 {
        let (short, unit) = (width.min(height), width * height / left);
        let worst = |items: &[f64]| {
            let side = items.iter().sum::<f64>() * unit / short;
            let ratio = |size: &f64| {
                let length = size * unit / side;
                (length / side).max(side / length)
            };
            items.iter().map(ratio).fold(0.0, f64::max)
        };
        let mut count = 1;
        while count < rest.len() && worst(&rest[..=count]) <= worst(&rest[..count]) {
            count += 1;
        }
        let row = &rest[..count];
        let taken: f64 = row.iter().sum();
        let side = if short > 0.0 { taken * unit / short } else { 0.0 };
        let mut at = 0.0;
        for size in row {
            let length = if side > 0.0 { size * unit / side } else { 0.0 };
            tiles.push(if width >= height { cells(x, y + at, side, length) } else { cells(x + at, y, length, side) });
            at += length;
        }
        if width >= height {
            (x, width) = (x + side, width - side);
        } else {
            (y, height) = (y + side, height - side);
        }
        (left, rest) = (left - taken, &rest[count..]);
    }
    tiles.resize(sizes.len(), Rect::default());
    tiles
}

/// Returns the cells of a rectangle: both edges are rounded, so that neighbours meet.
fn cells(x: f64, y: f64, width: f64, height: f64) -> Rect {
    let edge = |from: f64, to: f64| (from.round() as u16, to.round() as u16);
    let ((left, right), (top, bottom)) = (edge(x, x + width), edge(y / CELL, (y + height) / CELL));
    Rect::new(left, top, right.saturating_sub(left), bottom.saturating_sub(top))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn tiles_are_within_the_area_and_none_overlap(
            mut sizes in prop::collection::vec(1.0_f64..10_000.0, 0..60), x in 0_u16..9, y in 0_u16..9, width in 1_u16..200, height in 1_u16..60,
        ) {
            sizes.sort_by(|a, b| b.total_cmp(a));
            let area = Rect::new(x, y, width, height);
            let tiles = treemap(&sizes, area);
            prop_assert_eq!(tiles.len(), sizes.len());
            let mut cells = std::collections::HashSet::new();
            for tile in tiles.iter().filter(|tile| !tile.is_empty()) {
                prop_assert_eq!(tile.intersection(area), *tile);
                prop_assert!(tile.positions().all(|cell| cells.insert(cell)), "{:?}", tiles);
            }
            // Rounded edges move areas, and lose none: the tiles cover the area.
            prop_assert!(sizes.is_empty() || cells.len() == usize::from(width) * usize::from(height));
        }
    }

    #[test]
    fn areas_are_as_the_sizes() {
        let tiles = treemap(&[600.0, 300.0, 100.0], Rect::new(0, 0, 100, 20));
        assert_eq!(tiles.iter().map(|tile| tile.area()).collect::<Vec<_>>(), [1200, 600, 200]);
    }
}
