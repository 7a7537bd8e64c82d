//! Tables whose columns depend on the width of the terminal.

use super::{Paint, Style, clip};
use std::borrow::Cow;
use unicode_width::UnicodeWidthStr;

/// A column of a table.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    pub name: &'static str,
    /// True if the cells are aligned to the right.
    pub is_right: bool,
    /// The condition under which the column is shown.
    pub need: Need,
}

/// The condition under which a column is shown.
#[derive(Clone, Copy, Debug)]
pub enum Need {
    Always,
    /// Always, with the width that the other columns leave.
    Rest,
    /// If the columns of lower order are shown, and the column that takes the rest keeps this width.
    Optional {
        /// The order in which columns are added.
        order: u8,
        /// The width, which does not fall from order to order.
        keeps: usize,
    },
}

/// Returns a column that is always shown, aligned to the left.
pub const fn left(name: &'static str) -> Column {
    Column { name, is_right: false, need: Need::Always }
}

/// Returns a column that is always shown, aligned to the right.
pub const fn right(name: &'static str) -> Column {
    Column { name, is_right: true, need: Need::Always }
}

/// Returns the column that takes the rest of the width.
pub const fn rest(name: &'static str) -> Column {
    Column { name, is_right: false, need: Need::Rest }
}

impl Column {
    /// Returns the column, shown if the columns of lower order are and the column that takes the rest keeps a width.
    pub const fn optional(self, order: u8, keeps: usize) -> Column {
        Column { need: Need::Optional { order, keeps }, ..self }
    }
}

/// A table of painted cells, laid out for a width. The layout is done here because comfy-table takes as long as the rest of a long list.
pub struct Table<'a> {
    style: &'a Style,
    columns: &'a [Column],
    /// The cells, each with its width.
    rows: Vec<Vec<(String, usize)>>,
    /// The shown columns and their widths.
    shown: Vec<(usize, usize)>,
}

impl<'a> Table<'a> {
    /// Lays out rows, which have a cell for each column. As the terminal gets wider, no column gets narrower: the one that takes the
    /// rest waits at the width that it keeps when the next column is shown.
    pub fn new(style: &'a Style, columns: &'a [Column], rows: Vec<Vec<String>>) -> Table<'a> {
        let mut rows: Vec<Vec<_>> = rows.into_iter().map(|row| row.into_iter().map(measured).collect()).collect();
        let widest = |place: usize| rows.iter().map(|row| row[place].1).max().unwrap_or(0).max(columns[place].name.len());
        let widths: Vec<usize> = (0..columns.len()).map(widest).collect();
        let is_needed = |place: &usize| matches!(columns[*place].need, Need::Always);
        let taken: usize = (0..columns.len()).filter(is_needed).map(|place| widths[place] + 1).sum();
        let mut optional: Vec<(u8, usize, usize)> = (0..columns.len())
            .filter_map(|place| match columns[place].need {
                Need::Optional { order, keeps } => Some((order, keeps, place)),
                Need::Always | Need::Rest => None,
            })
            .collect();
        optional.sort_unstable();
        let (added, room) =
            fit(style.width.saturating_sub(taken), optional.iter().map(|(_, keeps, place)| (widths[*place] + 1, *keeps)));
        let is_added = |place: usize| optional[..added].iter().any(|(.., other)| *other == place);
        let mut shown = Vec::with_capacity(columns.len());
        for (place, column) in columns.iter().enumerate() {
            match column.need {
                Need::Always => shown.push((place, widths[place])),
                Need::Optional { .. } if is_added(place) => shown.push((place, widths[place])),
                Need::Optional { .. } => {}
                Need::Rest => {
                    let room = room.max(NARROWEST);
                    shown.push((place, widths[place].min(room)));
                    rows.iter_mut().map(|row| &mut row[place]).filter(|(_, width)| *width > room).for_each(|cell| {
                        *cell = measured(clip(&uncolored(&cell.0), room));
                    });
                }
            }
        }
        Table { style, columns, rows, shown }
    }

    pub fn heading(&self) -> String {
        let cells = self.columns.iter().map(|column| measured(self.style.paint(Paint::Dim, column.name)));
        self.line(&cells.collect::<Vec<_>>())
    }

    pub fn row(&self, number: usize) -> String {
        self.rows.get(number).map(|cells| self.line(cells)).unwrap_or_default()
    }

    /// Returns the lines of the headings and of all rows.
    pub fn text(&self) -> String {
        self.rows.iter().fold(self.heading(), |text, cells| text + &self.line(cells))
    }

    fn line(&self, cells: &[(String, usize)]) -> String {
        let mut line = String::new();
        for (place, width) in &self.shown {
            let (text, own) = &cells[*place];
            let room = " ".repeat(width.saturating_sub(*own));
            let (before, behind) = if self.columns[*place].is_right { (&*room, "") } else { ("", &*room) };
            line.extend([before, text, behind, " "]);
        }
        line.truncate(line.trim_end().len());
        line + "\n"
    }
}

/// Formats a short table with all its columns in full, for cells of several words: two spaces are between them.
pub fn spaced(style: &Style, columns: &[Column], rows: Vec<Vec<String>>) -> String {
    let mut table = comfy_table::Table::new();
    table.load_preset(comfy_table::presets::NOTHING);
    table.set_header(columns.iter().map(|column| style.paint(Paint::Dim, column.name)));
    table.add_rows(rows);
    for (laid_out, column) in table.column_iter_mut().zip(columns) {
        laid_out.set_padding((0, 2));
        if column.is_right {
            laid_out.set_cell_alignment(comfy_table::CellAlignment::Right);
        }
    }
    table.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

/// Returns a painted text with its width.
fn measured(text: String) -> (String, usize) {
    let width = uncolored(&text).width();
    (text, width)
}

/// Returns a text without its colours: the sequences of [`Style::paint`].
fn uncolored(text: &str) -> Cow<'_, str> {
    let Some((first, rest)) = text.split_once('\u{1b}') else { return Cow::Borrowed(text) };
    let plain = rest.split('\u{1b}').filter_map(|part| Some(part.split_once('m')?.1));
    Cow::Owned([first].into_iter().chain(plain).collect())
}

/// Minimum width of the column that takes the rest.
const NARROWEST: usize = 8;

/// Returns how many of the optional columns are shown, each with its width and the width that the rest keeps, and the width of the
/// rest.
pub fn fit(room: usize, optional: impl Iterator<Item = (usize, usize)>) -> (usize, usize) {
    let mut left = room;
    let mut shown = 0;
    for (width, keeps) in optional {
        if left < width + keeps {
            return (shown, left.min(keeps));
        }
        left -= width;
        shown += 1;
    }
    (shown, left)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_cell_that_is_cut_loses_its_colours() {
        let style = Style { color: true, width: 16, now: jiff::Timestamp::UNIX_EPOCH, zone: || jiff::tz::TimeZone::UTC };
        let row = vec![style.paint(Paint::Name, "a"), style.paint(Paint::Dim, "one two three four")];
        let table = Table::new(&style, &[const { left("ID") }, const { rest("TITLE") }], vec![row]);
        assert_eq!(table.row(0), "\u{1b}[36ma\u{1b}[0m  one two thre…\n");
    }

    proptest! {
        #[test]
        fn no_column_gets_narrower_as_the_terminal_gets_wider(columns in prop::collection::vec((1_usize..20, 0_usize..9), 0..8)) {
            let mut keeps = 12;
            let columns: Vec<(usize, usize)> = columns.into_iter().map(|(width, more)| {
                keeps += more;
                (width, keeps)
            }).collect();
            let fits: Vec<(usize, usize)> = (0..220).map(|room| fit(room, columns.iter().copied())).collect();
            for (room, pair) in fits.windows(2).enumerate() {
                let [(shown, rest), (shown_next, rest_next)] = pair else { panic!() };
                prop_assert!(shown <= shown_next && rest <= rest_next, "{room}: {pair:?}");
            }
            let (shown, rest) = fits[219];
            let taken: usize = columns[..shown].iter().map(|(width, _)| width).sum();
            prop_assert!(shown < columns.len() || rest + taken == 219);
        }
    }
}
