use super::{Paint, Report, Style, amount, clip, clip_start, count, plural, printable, tokens, unit};
use crate::engine::diff::{BlockDifference, DiffKind, LineFate, Piece, Shown, changes, shown};
use crate::model::{Basis, TokenCount};
use schemars::JsonSchema;
use serde::Serialize;
use unicode_width::UnicodeWidthStr;

/// Columns of the longest bar of `stat`.
const BAR_COLUMNS: usize = 20;

/// The differences between two states of a session.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DiffReport {
    /// Earlier state: `the original`, `operation 3` or the name of a snapshot.
    pub from: String,
    /// Later state.
    pub to: String,
    /// Blocks that differ, in file order.
    pub blocks: Vec<BlockDifference>,
    /// Tokens of the window in the earlier state.
    pub tokens_before: TokenCount,
    /// Tokens of the window in the later state.
    pub tokens_after: TokenCount,
    /// True if only one line per block is written.
    #[serde(skip)]
    pub stat: bool,
    /// True if all changed lines are written, without a limit.
    #[serde(skip)]
    pub full: bool,
}

impl Report for DiffReport {
    const SCHEMA: &str = "aperture.diff/2";

    fn text(&self, style: &Style) -> String {
        if self.blocks.is_empty() {
            return "no difference\n".to_owned();
        }
        let mut text = if self.stat { stat(style, &self.blocks) } else { self.lines(style) };
        text.push_str(&style.line(Paint::Dim, &clip(&self.sum(), style.width)));
        text
    }
}

impl DiffReport {
    fn lines(&self, style: &Style) -> String {
        let mut text = String::new();
        for (paint, sign, name) in [(Paint::Removed, "---", &self.from), (Paint::Added, "+++", &self.to)] {
            text.push_str(&style.line(paint, &clip(&format!("{sign} {name}"), style.width)));
        }
        for block in &self.blocks {
            let runs = changes(&block.before, &block.after);
            text.push('\n');
            text.push_str(&header(style, block));
            // If the texts are equal, the header is sufficient.
            if block.before != block.after {
                for line in shown(&runs, self.full) {
                    text.push_str(&painted(style, block, &line));
                    text.push('\n');
                }
            }
        }
        text.push('\n');
        text
    }

    fn sum(&self) -> String {
        let of = |kind| self.blocks.iter().filter(|block| block.kind == kind).count();
        let mut parts = Vec::new();
        for (number, what) in
            [(of(DiffKind::Changed), "changed"), (of(DiffKind::Added), "added"), (of(DiffKind::Removed), "removed")]
        {
            match number {
                0 => {}
                _ if !parts.is_empty() => parts.push(format!("{number} {what}")),
                _ => parts.push(format!("{} {what}", plural(number, "block"))),
            }
        }
        let (before, after) = (tokens(self.tokens_before), tokens(self.tokens_after));
        let difference = self.tokens_after.value - self.tokens_before.value;
        let estimate = if self.tokens_before.basis.max(self.tokens_after.basis) == Basis::Estimated { "~" } else { "" };
        let change = match difference.abs().round() as u64 {
            0 => String::new(),
            size if difference < 0.0 => format!(" ({estimate}−{})", amount(size)),
            size => format!(" ({estimate}+{})", amount(size)),
        };
        let window = if before == after { before } else { format!("{before} → {after}") };
        parts.push(format!("{}{change}", unit(&window, "token")));
        parts.join(", ")
    }
}

/// Returns the line above the lines of a block: `#412 Read src/auth.rs   original → minimal   3.2k → 24 tokens`.
fn header(style: &Style, block: &BlockDifference) -> String {
    let (before, after) = (tokens(block.tokens_before), tokens(block.tokens_after));
    let levels = format!("{} → {}   ", block.level_before.name(), block.level_after.name());
    let facts = match block.kind {
        DiffKind::Added => format!("added   {}", unit(&after, "token")),
        DiffKind::Removed => format!("removed   {}", unit(&before, "token")),
        DiffKind::Changed => {
            let levels = if block.level_before == block.level_after { "" } else { levels.as_str() };
            let change = if before == after { after } else { format!("{before} → {after}") };
            format!("{levels}{}", unit(&change, "token"))
        }
    };
    let number = format!("#{}", block.number);
    let label = clip(&block.label, style.width.saturating_sub(number.width() + facts.width() + 4).max(8));
    let (number, label) = (style.paint(Paint::Name, &number), style.paint(Paint::Heading, &label));
    format!("{number} {label}   {}\n", style.paint(Paint::Dim, &facts))
}

/// Formats a line of a difference with its sign, in at most the width of the terminal.
fn painted(style: &Style, block: &BlockDifference, line: &Shown<'_>) -> String {
    match line {
        Shown::Line { fate, pieces } => {
            let (sign, plain, emphasized) = match fate {
                LineFate::Kept => ("  ", None, None),
                LineFate::Removed => ("- ", Some(Paint::Removed), Some(Paint::RemovedWord)),
                LineFate::Added => ("+ ", Some(Paint::Added), Some(Paint::AddedWord)),
            };
            let paint =
                |paint: Option<Paint>, text: &str| paint.map_or_else(|| text.to_owned(), |paint| style.paint(paint, text));
            let mut pieces = visible(pieces, style.width.saturating_sub(2));
            match pieces.first_mut().filter(|(_, is_emphasized)| !is_emphasized) {
                Some((first, _)) => first.insert_str(0, sign),
                None => pieces.insert(0, (sign.to_owned(), false)),
            }
            let text: String =
                pieces.iter().map(|(text, is_emphasized)| paint(if *is_emphasized { emphasized } else { plain }, text)).collect();
            if style.color { text } else { text.trim_end().to_owned() }
        }
        Shown::Folded { fate, lines, bytes } => {
            let what = |cost: TokenCount, all: usize| {
                let share = *bytes as f64 / all.max(1) as f64;
                let cost = if *bytes == all { cost } else { TokenCount::estimated(cost.value * share) };
                let price = if cost.round() > 0 { format!(" ({})", unit(&tokens(cost), "token")) } else { String::new() };
                format!("… {}{price}", unit(&count(*lines as u64), "line"))
            };
            let (paint, text) = match fate {
                LineFate::Kept => (Paint::Dim, format!("  … {}", unit(&count(*lines as u64), "line"))),
                LineFate::Removed => (Paint::Removed, format!("- {}", what(block.tokens_before, block.before.len()))),
                LineFate::Added => (Paint::Added, format!("+ {}", what(block.tokens_after, block.after.len()))),
            };
            style.paint(paint, &clip(&text, style.width))
        }
        Shown::Rest { removed, added } => {
            let parts = [(*removed, "removed"), (*added, "added")];
            let parts =
                parts.iter().filter(|(lines, _)| *lines > 0).map(|(lines, what)| format!("{} {what}", count(*lines as u64)));
            style.paint(Paint::Dim, &clip(&format!("… more lines: {}", parts.collect::<Vec<_>>().join(", ")), style.width))
        }
    }
}

/// Returns the pieces of a line, escaped and in at most `width` columns. A longer line is cut to the text around the changed words.
fn visible(pieces: &[Piece<'_>], width: usize) -> Vec<(String, bool)> {
    let mut texts: Vec<(String, bool)> = pieces.iter().map(|piece| (harmless(piece), piece.emphasized)).collect();
    let columns = |texts: &[(String, bool)], emphasized: bool| -> usize {
        texts.iter().filter(|(_, is_emphasized)| *is_emphasized == emphasized).map(|(text, _)| text.width()).sum()
    };
    let changed = columns(&texts, true);
    if changed + columns(&texts, false) > width && changed > 0 {
        let plain = texts.iter().filter(|(_, emphasized)| !emphasized).count().max(1);
        let room = (width.saturating_sub(changed) / plain).max(12);
        let last = texts.len() - 1;
        for (place, (text, _)) in texts.iter_mut().enumerate().filter(|(_, (_, emphasized))| !emphasized) {
            if text.width() <= room {
                continue;
            }
            *text = match place {
                0 => clip_start(text, room),
                _ if place == last => clip(text, room),
                _ => clip(text, room / 2) + clip_start(text, room - room / 2).trim_start_matches('…'),
            };
        }
    }
    let mut left = width;
    let mut fitted = Vec::new();
    let end = texts.len();
    for (place, (text, emphasized)) in texts.into_iter().enumerate() {
        // Reserves a column for the `…` of an omitted rest.
        let room = if place + 1 < end { left.saturating_sub(1) } else { left };
        let whole = text.width() <= room;
        let text = if whole { text } else { clip(&text, left) };
        left = left.saturating_sub(text.width());
        fitted.push((text, emphasized));
        if !whole {
            break;
        }
    }
    fitted
}

/// Escapes a piece for a terminal. Differing tabs and line ends are made visible.
fn harmless(piece: &Piece<'_>) -> String {
    if piece.emphasized {
        return printable(piece.text).replace('\t', "→   ").replace('\n', "␊");
    }
    let text = piece.text.strip_suffix('\n').map_or(piece.text, |line| line.strip_suffix('\r').unwrap_or(line));
    printable(text).replace('\t', "    ")
}

fn stat(style: &Style, blocks: &[BlockDifference]) -> String {
    let figures: Vec<(String, String)> =
        blocks.iter().map(|block| (tokens(block.tokens_before), tokens(block.tokens_after))).collect();
    let change = |block: &BlockDifference| block.tokens_after.value - block.tokens_before.value;
    let largest = blocks.iter().map(|block| change(block).abs()).fold(1.0, f64::max);
    let widest = |widths: &mut dyn Iterator<Item = usize>| widths.max().unwrap_or(0);
    let before_width = widest(&mut figures.iter().map(|(before, _)| before.width()));
    let after_width = widest(&mut figures.iter().map(|(_, after)| after.width()));
    let number_width = widest(&mut blocks.iter().map(|block| block.number.to_string().len() + 1));
    let fixed = number_width + before_width + after_width + "  |  →  ".width();
    let room = style.width.saturating_sub(fixed);
    let bar_width = (room / 3).clamp(1, BAR_COLUMNS);
    let label_width =
        room.saturating_sub(bar_width).max(8).min(widest(&mut blocks.iter().map(|block| clip(&block.label, 1000).width())));
    let mut text = String::new();
    for (block, (before, after)) in blocks.iter().zip(&figures) {
        let label = clip(&block.label, label_width);
        let label = format!("{label}{}", " ".repeat(label_width.saturating_sub(label.width())));
        let number = style.paint(Paint::Name, &format!("{:<number_width$}", format!("#{}", block.number)));
        let bar = style.bar(change(block).abs() / largest, bar_width);
        let bar = style.paint(if change(block) < 0.0 { Paint::Removed } else { Paint::Added }, bar.trim_end());
        let line = format!("{number} {label} | {before:>before_width$} → {after:<after_width$} {bar}");
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Level;
    use expect_test::{expect, expect_file};
    use proptest::prelude::*;

    fn block(number: u32, label: &str, kind: DiffKind, level: Level, tokens: (u64, u64), texts: (&str, &str)) -> BlockDifference {
        BlockDifference {
            number,
            label: label.to_owned(),
            kind,
            level_before: Level::Original,
            level_after: level,
            tokens_before: TokenCount::measured(tokens.0),
            tokens_after: TokenCount::measured(tokens.1),
            before: texts.0.to_owned(),
            after: texts.1.to_owned(),
        }
    }

    fn sample() -> DiffReport {
        let file: String = (0..118).map(|number| format!("{number:>6}\tlet value_{number} = read({number});\n")).collect();
        let edited = file.replace("value_40 ", "amount_40 ").replace("read(41)", "read(forty_one)");
        let many: String = file
            .lines()
            .enumerate()
            .map(|(place, line)| if place % 10 == 4 { line.replace("read", "write") } else { line.to_owned() } + "\n")
            .collect();
        let prose = "The session is opened by its path. ".repeat(6);
        let prose = (
            format!("{prose}The token is kept for 30 days. {prose}\n"),
            format!("{prose}The token is kept for 90 days. {prose}\n"),
        );
        let blocks = vec![
            block(
                412,
                "Read src/auth.rs",
                DiffKind::Changed,
                Level::Minimal,
                (3_200, 24),
                (&file, "118 lines of src/auth.rs: values 0 to 117, each read once"),
            ),
            block(413, "Read src/other.rs", DiffKind::Changed, Level::Original, (3_200, 3_210), (&file, &edited)),
            block(
                420,
                "\"The session is opened by its path\"",
                DiffKind::Changed,
                Level::Original,
                (140, 140),
                (&prose.0, &prose.1),
            ),
            block(
                431,
                "Bash cargo test \u{1b}[31m",
                DiffKind::Changed,
                Level::Trimmed,
                (410, 180),
                ("a\u{1b}[31mb\r\nkept here\n\tindented\n", "kept here\n    indented\n"),
            ),
            block(502, "Read src/many.rs", DiffKind::Changed, Level::Original, (3_200, 3_190), (&file, &many)),
            block(510, "Grep 日本語", DiffKind::Removed, Level::Archived, (1_800, 0), (&file, "")),
            block(
                600,
                "\"What was done\"",
                DiffKind::Added,
                Level::Original,
                (0, 31),
                ("", "The values were read.\nNothing was written.\n"),
            ),
        ];
        DiffReport {
            from: "the original".to_owned(),
            to: "operation 3".to_owned(),
            blocks,
            tokens_before: TokenCount::measured(142_000),
            tokens_after: TokenCount::estimated(111_000.0),
            stat: false,
            full: false,
        }
    }

    fn style(width: usize, color: bool) -> Style {
        Style { color, width, now: jiff::Timestamp::UNIX_EPOCH, zone: || jiff::tz::TimeZone::UTC }
    }

    fn painted(report: &DiffReport, width: usize, color: bool) -> String {
        let text = report.text(&style(width, color));
        if !color {
            assert!(text.lines().all(|line| line.width() <= width), "a line is too wide:\n{text}");
        }
        text.replace('\u{1b}', "^")
    }

    #[test]
    fn differences_are_painted() {
        expect_file!["diff/detail.txt"].assert_eq(&painted(&sample(), 80, true));
    }

    #[test]
    fn only_long_lines_are_wider_on_a_wide_terminal() {
        let [narrow, wide] = [80, 140].map(|width| {
            let [plain, painted] = [false, true].map(|color| sample().text(&style(width, color)));
            assert!(plain.lines().all(|line| line.width() <= width), "a line is too wide:\n{plain}");
            let mut parts = painted.split("\u{1b}[");
            let first = parts.next().unwrap().to_owned();
            assert_eq!(parts.fold(first, |text, part| text + part.split_once('m').unwrap().1), plain);
            plain
        });
        let wider = wide.lines().zip(narrow.lines()).filter(|(wide, narrow)| wide != narrow);
        expect![[r#"
            - …its path. The session is opened by its path. The token is kept for 30 days. The session is opened by its path. The session is opened by …
            + …its path. The session is opened by its path. The token is kept for 90 days. The session is opened by its path. The session is opened by …
        "#]]
        .assert_eq(&wider.map(|(wide, _)| format!("{wide}\n")).collect::<String>());
        assert_eq!(wide.lines().count(), narrow.lines().count());
    }

    #[test]
    fn a_line_a_block_is_enough_for_stat() {
        let report = DiffReport { stat: true, ..sample() };
        expect_file!["diff/blocks.txt"].assert_eq(&painted(&report, 80, false));
        expect_file!["diff/a.txt"].assert_eq(&painted(&report, 140, true));
    }

    #[test]
    fn all_lines_are_written_if_asked_for() {
        let text = DiffReport { full: true, ..sample() }.text(&style(80, false));
        assert_eq!(text.lines().filter(|line| line.starts_with("- ")).count(), 118 + 2 + 1 + 2 + 12 + 118);
    }

    #[test]
    fn nothing_differs() {
        let report = DiffReport { blocks: Vec::new(), ..sample() };
        expect!["no difference\n"].assert_eq(&painted(&report, 80, true));
    }

    proptest! {
        #[test]
        fn any_texts_are_written(
            before in "([a-c日\u{1b}\t\r ]{0,40}\n?){0,20}",
            after in "([a-c日\u{1b}\t\r ]{0,40}\n?){0,20}",
            label in any::<String>(),
            width in 60usize..100,
            stat in any::<bool>(),
            full in any::<bool>(),
        ) {
            let mut report = sample();
            report.blocks = vec![block(1, &label, DiffKind::Changed, Level::Trimmed, (10, 3), (&before, &after))];
            let text = DiffReport { stat, full, ..report }.text(&style(width, false));
            prop_assert!(!text.contains(|character: char| character.is_control() && character != '\n'));
            prop_assert!(text.lines().all(|line| line.width() <= width), "{}", text);
        }
    }
}
