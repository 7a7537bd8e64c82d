use crate::engine::{UsageGroup, UsageRow, UsageTable};
use crate::model::texts;
use crate::output::table::fit;
use crate::output::{Paint, Report, Style, amount, clip, clip_start, impossible_bills, plural, short_id, tokens, unit};
use schemars::JsonSchema;
use serde::Serialize;
use unicode_width::UnicodeWidthStr;

/// Minimum columns of the names.
const NARROWEST: usize = 10;
/// Columns that a name keeps when figures are added.
const NAME: usize = 16;

/// Tokens and cost by group, each response of a model once.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct UsageReport {
    /// Property of the groups.
    pub by: UsageGroup,
    #[serde(flatten)]
    pub table: UsageTable,
}

impl Report for UsageReport {
    const SCHEMA: &str = "aperture.usage/1";

    fn text(&self, style: &Style) -> String {
        let table = &self.table;
        if table.rows.is_empty() {
            return "no matching usage\n".to_owned();
        }
        let columns = columns(table.total.saved_tokens > 0.0);
        let widest = |column: &Column| {
            let cells = table.rows.iter().chain([&table.total]).map(|sum| column.text(sum).width());
            cells.max().unwrap_or_default().max(column.name().width())
        };
        let widths: Vec<usize> = columns.iter().map(widest).collect();
        let sum = |wanted: bool| columns.iter().zip(&widths).filter(move |(column, _)| column.is_optional() == wanted);
        let room = style.width.saturating_sub(sum(false).map(|(_, width)| width + 2).sum());
        let longest = table.rows.iter().map(|sum| self.name(sum).width()).max().unwrap_or_default();
        let keeps = longest.clamp(NARROWEST, NAME);
        let (added, room) = fit(room, sum(true).map(|(_, width)| (width + 2, keeps)));
        let is_shown = |place: &usize| !columns[*place].is_optional() || *place < added;
        let shown: Vec<usize> = (0..columns.len()).filter(is_shown).collect();
        let widths: Vec<usize> = shown.iter().map(|place| widths[*place]).collect();
        let figures = |sum: &UsageRow| shown.iter().map(|place| columns[*place].text(sum)).collect::<Vec<_>>();
        let heading: Vec<String> = shown.iter().map(|place| columns[*place].name().to_owned()).collect();
        let total = figures(&table.total);
        let rows: Vec<Vec<String>> = table.rows.iter().map(figures).collect();
        let room = room.max(NARROWEST);
        let names = self.clipped(room);
        let first = names.iter().map(|name| name.width()).max().unwrap_or_default().max(NARROWEST);
        let line = |name: &str, row: &[String]| {
            let mut line = crate::output::padded(name, first);
            row.iter().zip(&widths).for_each(|(cell, width)| line.push_str(&format!("  {cell:>width$}")));
            line
        };
        let mut lines = vec![style.paint(Paint::Dim, &line(&self.by.name().to_uppercase(), &heading))];
        lines.extend(names.iter().zip(&rows).map(|(name, row)| line(name, row)));
        lines.push(style.paint(Paint::Heading, &line("Total", &total)));
        lines.extend(self.notes(style));
        lines.push(String::new());
        lines.join("\n")
    }
}

impl UsageReport {
    fn name(&self, sum: &UsageRow) -> String {
        match self.by {
            UsageGroup::Session => format!("{} {}", short_id(&sum.name), sum.title),
            _ if sum.name.is_empty() => "(unknown)".to_owned(),
            _ => sum.name.clone(),
        }
    }

    /// Returns the names in at most `room` columns: of paths the ends, and of those with equal ends the directories that differ.
    fn clipped(&self, room: usize) -> Vec<String> {
        let names: Vec<String> = self.table.rows.iter().map(|sum| self.name(sum)).collect();
        if self.by != UsageGroup::Project {
            return names.iter().map(|name| clip(name, room)).collect();
        }
        let ends: Vec<String> = names.iter().map(|name| clip_start(name, room)).collect();
        let cut = |(place, name): (usize, &String)| {
            let alike = |other: &usize| *other != place && ends[*other] == ends[place];
            match (0..names.len()).filter(alike).map(|other| equal_end(name, &names[other])).min() {
                Some(start) if start > 0 => clip(&format!("…{}", &name[start..]), room),
                _ => ends[place].clone(),
            }
        };
        names.iter().enumerate().map(cut).collect()
    }

    /// Returns the lines after the table: unknown prices, and the basis of the savings.
    fn notes(&self, style: &Style) -> Vec<String> {
        let UsageTable { total, copies, unpriced_models: unpriced, impossible_responses: impossible, .. } = &self.table;
        let mut notes = Vec::new();
        if total.unpriced_tokens.value > 0.0 {
            let models = unpriced.iter().map(|model| if model.is_empty() { "(unknown)" } else { model.as_str() });
            notes.push(format!("no price, so not in the cost: {}", models.collect::<Vec<_>>().join(", ")));
            let example = unpriced
                .iter()
                .find(|model| !model.is_empty())
                .map_or_else(|| "NAME".into(), |name| toml_edit::Key::new(name.as_str()).display_repr().into_owned());
            let figure = tokens(total.unpriced_tokens);
            notes.push(format!(
                "  ({figure} tokens; a price, in the settings: [prices] {example} = 1.25; aperture help settings)"
            ));
        }
        if copies.copied_responses > 0 {
            let (copied, tokens) = (plural(copies.copied_responses, "copy"), amount(copies.copied_tokens));
            notes.push(format!("not counted again: {copied} of responses in other sessions ({tokens} tokens)"));
        }
        if *impossible > 0 {
            notes.push(impossible_bills(*impossible as usize));
        }
        if total.tokens.estimated > 0 {
            let responses = plural(total.tokens.estimated as usize, "response");
            notes.push(format!("~ is estimated from the content; the file has only a first figure: {responses}"));
        }
        if total.web_searches > 0 {
            let searches = unit(&amount(total.web_searches), "web search");
            notes.push(format!("in the cost, where a price is known: {searches}"));
        }
        if total.saved_tokens > 0.0 {
            notes.push("saved: estimated tokens that requests did not contain because of aperture".to_owned());
        }
        notes.iter().map(|note| style.paint(Paint::Dim, &clip(note, style.width))).collect()
    }
}

/// Returns the place in a path from which on its end differs from that of another one, by one directory; 0 if it is only a part of it.
fn equal_end(path: &str, other: &str) -> usize {
    let is_separator = |c: char| matches!(c, '/' | '\\');
    let equal = path.rsplit(is_separator).zip(other.rsplit(is_separator)).take_while(|(one, other)| one == other).count();
    path.rmatch_indices(is_separator).nth(equal).map_or(0, |(place, _)| place)
}

texts! {
    #[derive(Clone, Copy)]
    enum Column, name {
        Input = "INPUT",
        Output = "OUTPUT",
        Written = "CACHE WRITE",
        Read = "CACHE READ",
        Total = "TOTAL",
        Cost = "COST",
        Saved = "SAVED",
    }
}

/// Returns the columns; the optional ones come first.
fn columns(savings: bool) -> Vec<Column> {
    use Column::*;
    let mut columns = vec![Input, Output, Written, Read, Total, Cost];
    columns.extend(savings.then_some(Saved));
    columns
}

impl Column {
    /// Returns true if the column is only shown if there is room for it.
    fn is_optional(self) -> bool {
        matches!(self, Column::Input | Column::Output | Column::Written | Column::Read)
    }

    fn text(self, sum: &UsageRow) -> String {
        let billed = &sum.tokens.billed;
        let mark = if sum.tokens.estimated > 0 { "~" } else { "" };
        let is_unpriced = sum.unpriced_tokens.value > 0.0;
        match self {
            Column::Input => amount(billed.input),
            Column::Output => format!("{mark}{}", amount(billed.output)),
            Column::Written => amount(billed.cache_written()),
            Column::Read => amount(billed.cache_read),
            Column::Total => format!("{mark}{}", amount(billed.total())),
            Column::Cost if is_unpriced && sum.dollars == 0.0 => "?".to_owned(),
            Column::Cost if is_unpriced => format!("≥{mark}${:.2}", sum.dollars),
            Column::Cost => format!("{mark}${:.2}", sum.dollars),
            Column::Saved if sum.saved_tokens < 0.5 => "-".to_owned(),
            Column::Saved => format!("~{}", amount(sum.saved_tokens.round() as u64)),
        }
    }
}
