//! Draws the screen.

use super::keys::{self, Action};
use super::picture::BlockRow;
use super::screen::{Detail, Effect, MapForm, Mode, Plan, Row, Screen, shown};
use super::treemap::treemap;
use crate::engine::amount;
use crate::model::{Level, Pin, State, Zone};
use crate::output::{Gate, Style as TextStyle, clip, clip_start, padded, plural, times_of_day};
use crate::text::differences::{differences, lines};
use crate::text::names::file_name;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Paragraph};
use similar::ChangeTag;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The smallest screen, in columns and rows.
const SMALLEST: (u16, u16) = (60, 20);
/// Columns from which the detail is beside the map.
const WIDE: u16 = 110;
/// Rows of the detail below the map.
const DETAIL_ROWS: u16 = 9;
/// Columns of the gauge of the window, at least.
const LEAST_GAUGE: usize = 8;
/// Columns of the bar of a row.
const BAR: usize = 6;
/// Lines of a content that are compared or drawn.
const CONTENT_LINES: usize = 5_000;

/// The look of the screen: colours, clock, and the gate for texts of the session.
pub(super) struct Look {
    pub gate: Gate,
    pub style: TextStyle,
}

impl Look {
    fn clean(&self, text: &str) -> String {
        self.gate.text(text, false).into_string().replace('\n', " ")
    }

    /// Returns a colour, or none if the user wants none.
    fn color(&self, color: Color) -> Style {
        if self.style.color { Style::new().fg(color) } else { Style::new() }
    }

    fn dim(&self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    fn zone(&self, zone: Zone) -> Style {
        match zone {
            Zone::Primacy => self.color(Color::Magenta),
            Zone::Middle => self.color(Color::Blue),
            Zone::Recency => self.color(Color::Green),
            Zone::Cold => self.dim(),
        }
    }
}

/// Draws the screen at a time in milliseconds since 1970.
pub(super) fn draw(frame: &mut Frame<'_>, screen: &mut Screen, look: &Look, now: i64) {
    let area = frame.area();
    if area.width < SMALLEST.0 || area.height < SMALLEST.1 {
        let text = format!("this screen needs {} columns and {} rows", SMALLEST.0, SMALLEST.1);
        return frame.render_widget(Paragraph::new(clip(&text, area.width.into())), area);
    }
    let inbox = u16::from(!screen.picture.proposals.is_empty());
    let [head, body, wish, foot] =
        Layout::vertical([Constraint::Length(3), Constraint::Min(8), Constraint::Length(inbox), Constraint::Length(2)])
            .areas(area);
    draw_head(frame, head, screen, look, now);
    let (map, detail) = if area.width >= WIDE {
        let [map, detail] = Layout::horizontal([Constraint::Percentage(50), Constraint::Fill(1)]).areas(body);
        (map, detail)
    } else {
        let [map, detail] = Layout::vertical([Constraint::Min(4), Constraint::Length(DETAIL_ROWS)]).areas(body);
        (map, detail)
    };
    draw_map(frame, map, screen, look);
    draw_detail(frame, detail, screen, look);
    if let Some((_, command)) = screen.picture.proposals.first() {
        let keys = format!("   {} accept · {} deny", keys::key_of(Action::Accept), keys::key_of(Action::Deny));
        let more = screen.picture.proposals.len() - 1;
        let more = if more > 0 { format!(" (+{more})") } else { String::new() };
        let room = usize::from(wish.width).saturating_sub(keys.width() + more.len());
        let wish_text = clip(&format!("the model wants to {}", look.clean(command)), room);
        let line = Line::from(vec![Span::styled(wish_text, look.color(Color::Yellow)), Span::raw(more), Span::raw(keys)]);
        frame.render_widget(Paragraph::new(line), wish);
    }
    draw_foot(frame, foot, screen, look);
    draw_over(frame, body, screen, look);
}

/// The session, how full the window is and what the next prompt costs, and what can be reclaimed.
fn draw_head(frame: &mut Frame<'_>, area: Rect, screen: &Screen, look: &Look, now: i64) {
    let picture = &screen.picture;
    let width = usize::from(area.width);
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let facts = format!("{} · {}{}", picture.name, picture.model, if picture.is_open { " · open in a client" } else { "" });
    let title = clip(&picture.title.replace('\n', " "), width.saturating_sub(facts.width() + 2));
    let first = Line::from(vec![Span::styled(title, bold), Span::raw("  "), Span::styled(facts, look.dim())]);

    let percent = picture.tokens / picture.capacity.max(1) as f64 * 100.0;
    let sign = if picture.is_estimated { "~" } else { "" };
    let full = format!(" {sign}{}/{} {percent:.0} %", amount(picture.tokens.round() as u64), amount(picture.capacity));
    let left = picture.cache_ends.map(|ends| ends - now);
    let price = picture.next_prompt.map(|(warm, cold)| if left.is_some_and(|left| left > 0) { warm } else { cold });
    let until = match picture.free {
        0 => "it compacts next".to_owned(),
        free => format!("{} until it compacts", amount(free)),
    };
    let clock = left.map(|left| match left {
        ..=0 => "cache expired".to_owned(),
        _ => format!("cache {} min", (left + 59_999) / 60_000),
    });
    // The first facts stay on a narrow screen.
    let mut facts = String::new();
    for fact in [Some(until), price.map(|price| format!("next prompt ~${price:.2}")), clock].into_iter().flatten() {
        let more = format!("{}{fact}", if facts.is_empty() { "  " } else { " · " });
        if full.width() + facts.width() + more.width() + LEAST_GAUGE + 2 <= width {
            facts.push_str(&more);
        }
    }
    let room = width.saturating_sub(full.width() + facts.width() + 2).clamp(LEAST_GAUGE, 40);
    let share = |tokens: f64| (tokens / picture.capacity.max(1) as f64 * room as f64).round() as usize;
    let held = share(picture.tokens).min(room);
    let reserve = share(picture.reserve as f64).min(room - held);
    let color = match percent {
        ..60.0 => Color::Green,
        ..80.0 => Color::Yellow,
        _ => Color::Red,
    };
    let second = Line::from(vec![
        Span::raw("▕"),
        Span::styled("█".repeat(held), look.color(color)),
        Span::raw(" ".repeat(room - held - reserve)),
        Span::styled("░".repeat(reserve), look.dim()),
        Span::raw("▏"),
        Span::styled(full, bold),
        Span::raw(facts),
    ]);

    let parts: Vec<String> =
        picture.reclaimable.iter().map(|(sort, tokens)| format!("{sort} {}", amount(tokens.round() as u64))).collect();
    let third = match picture.stale_tokens {
        0.0 => "nothing is stale".to_owned(),
        stale => format!("stale {}: {}   = stale marks them", amount(stale.round() as u64), parts.join(", ")),
    };
    frame.render_widget(Paragraph::new(vec![first, second, Line::raw(clip(&third, width))]), area);
}

fn draw_map(frame: &mut Frame<'_>, area: Rect, screen: &mut Screen, look: &Look) {
    let frame_of_map = Block::bordered().title(format!(" {} · Tab ", screen.form.title()));
    let inner = frame_of_map.inner(area);
    frame.render_widget(frame_of_map, area);
    screen.height = usize::from(inner.height);
    if screen.form == MapForm::Areas {
        return draw_areas(frame, inner, screen, look);
    }
    // The cursor stays in the middle, except at both ends.
    let most = screen.rows.len().saturating_sub(screen.height);
    let first = screen.at.saturating_sub(screen.height / 2).min(most);
    let width = usize::from(inner.width);
    let in_window = |row: &&Row| !matches!(row, Row::Subagent(_));
    let largest = screen.rows.iter().filter(in_window).map(|row| row_tokens(screen, row)).fold(1.0, f64::max);
    let shown: Vec<(usize, &Row)> = screen.rows.iter().enumerate().skip(first).take(screen.height).collect();
    let parts: Vec<RowText> = shown.iter().map(|(_, row)| row_text(screen, row, look)).collect();
    let note = parts.iter().map(|part| part.note.width()).max().unwrap_or_default().min(width / 4);
    let mut lines = Vec::new();
    let line_of = |place: usize| Rect { y: inner.y + place as u16, height: 1, ..inner };
    let places = shown.iter().enumerate().map(|(place, (at, _))| (line_of(place), *at)).collect();
    for ((at, row), part) in shown.into_iter().zip(parts) {
        let mut line = map_line(screen, row, part, (largest, note, width), look);
        if at == screen.at {
            line = line.style(Style::new().add_modifier(Modifier::REVERSED));
        }
        lines.push(line);
    }
    if lines.is_empty() {
        lines.push(Line::raw("the window has no blocks yet"));
    }
    screen.places = places;
    frame.render_widget(Paragraph::new(lines), inner);
}

/// Draws files and tools as areas: the name and the tokens of each, and ░ in its stale part.
fn draw_areas(frame: &mut Frame<'_>, area: Rect, screen: &mut Screen, look: &Look) {
    let sizes: Vec<f64> = screen.rows.iter().map(|row| row_tokens(screen, row)).collect();
    let tiles = treemap(&sizes, area);
    for (at, (row, tile)) in screen.rows.iter().zip(&tiles).enumerate().filter(|(_, (_, tile))| !tile.is_empty()) {
        let Row::File { path, tokens: all, stale_tokens, .. } = row else { continue };
        // The last column and a line at the bottom separate it from its neighbours.
        let (width, height) = (usize::from(tile.width).saturating_sub(1).max(1), usize::from(tile.height));
        let mark = match screen.marked_of(row) {
            (0, _) => "",
            (marked, of) if marked == of => "●",
            _ => "○",
        };
        let name = clip(&format!("{mark}{} {}", look.clean(file_name(path)), tokens(*all)), width);
        let filled = (stale_tokens / all.max(1.0) * (width * height.saturating_sub(1)) as f64).round() as usize;
        let mut lines = vec![Line::raw(padded(&name, width))];
        for line in 1..height {
            let stale = filled.saturating_sub((line - 1) * width).min(width);
            lines.push(Line::raw("░".repeat(stale) + &" ".repeat(width - stale)));
        }
        let last = lines.pop().unwrap_or_default();
        lines.push(last.style(Style::new().add_modifier(Modifier::UNDERLINED)));
        let style = match (at == screen.at, at % 3) {
            (true, _) => Style::new().add_modifier(Modifier::REVERSED),
            (_, 0) => look.color(Color::Blue),
            (_, 1) => look.color(Color::Green),
            _ => look.color(Color::Magenta),
        };
        let inner = Rect { width: width as u16, ..*tile };
        frame.render_widget(Paragraph::new(lines).style(style), inner);
    }
    screen.places = tiles.into_iter().enumerate().map(|(at, tile)| (tile, at)).collect();
}

fn row_tokens(screen: &Screen, row: &Row) -> f64 {
    match row {
        Row::Turn(at) => screen.picture.turns[*at].tokens,
        Row::Block(at) => screen.picture.blocks[*at].tokens,
        Row::File { tokens, .. } => *tokens,
        Row::Subagent(at) => screen.picture.subagents[*at].tokens,
    }
}

struct RowText {
    front: String,
    name: String,
    note: String,
    style: Style,
}

fn row_text(screen: &Screen, row: &Row, look: &Look) -> RowText {
    let stale = |tokens: f64| match tokens.round() as u64 {
        0 => String::new(),
        tokens => format!("{} stale", amount(tokens)),
    };
    match row {
        Row::Turn(at) => {
            let turn = &screen.picture.turns[*at];
            let time = turn.time.map(times_of_day(&look.style)).unwrap_or_default();
            RowText {
                front: format!("{:>4} {time:<5} ", turn.number),
                name: look.clean(&turn.prompt),
                note: stale(turn.stale_tokens),
                style: Style::new().add_modifier(Modifier::BOLD),
            }
        }
        Row::File { path, stale_tokens, blocks, .. } => {
            let stale = stale(*stale_tokens);
            let note =
                [plural(*blocks, "block"), stale].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
            RowText { front: String::new(), name: look.clean(path), note, style: Style::new() }
        }
        Row::Subagent(at) => {
            let subagent = &screen.picture.subagents[*at];
            let name = format!("{}, {}", look.clean(&subagent.title), plural(subagent.steps as usize, "step"));
            RowText { front: "   ↳ ".to_owned(), name, note: "own window".to_owned(), style: look.dim() }
        }
        Row::Block(at) => {
            let block = &screen.picture.blocks[*at];
            let indent = if screen.form == MapForm::Size { "" } else { "  " };
            RowText {
                front: format!("{indent}{} {:>5} ", letter(block), format!("#{}", block.number)),
                name: look.clean(&block.label),
                note: block_note(block),
                style: look.zone(block.zone),
            }
        }
    }
}

/// Returns the line of a row, for the most tokens of a row, the columns of the notes and those of the line.
fn map_line(screen: &Screen, row: &Row, text: RowText, size: (f64, usize, usize), look: &Look) -> Line<'static> {
    let (largest, note, width) = size;
    let tokens = row_tokens(screen, row);
    let filled = match row {
        Row::Subagent(_) => 0,
        _ => ((tokens / largest * BAR as f64).round() as usize).min(BAR),
    };
    let bar = format!("{}{}", "█".repeat(filled), " ".repeat(BAR - filled));
    let size = format!("{:>6} ", amount(tokens.round() as u64));
    let room = width.saturating_sub(2 + text.front.width() + 1 + BAR + size.width() + note + usize::from(note > 0));
    let name = if matches!(row, Row::File { .. }) { clip_start(&text.name, room) } else { clip(&text.name, room) };
    Line::from(vec![
        Span::raw(match screen.marked_of(row) {
            (0, _) => "  ",
            (marked, all) if marked == all => "● ",
            _ => "○ ",
        }),
        Span::styled(text.front, look.dim()),
        Span::styled(format!("{} ", padded(&name, room)), text.style),
        Span::styled(bar, text.style),
        Span::raw(size),
        Span::styled(padded(&clip(&text.note, note), note), look.dim()),
    ])
}

fn letter(block: &BlockRow) -> char {
    match (block.pin, block.is_focused, block.level, block.state) {
        (Some(_), ..) => 'P',
        (_, true, ..) => 'F',
        (_, _, Level::Archived, _) => 'a',
        (_, _, Level::Original, State::Stale) => 'S',
        (_, _, Level::Original, _) => '·',
        _ => 'c',
    }
}

fn block_note(block: &BlockRow) -> String {
    if let Some(pin) = block.pin {
        return match pin {
            Pin::Here => "pinned".to_owned(),
            Pin::Top | Pin::Bottom => format!("pinned {}", pin.name()),
        };
    }
    match (block.level, &block.stale_reason) {
        (Level::Original, Some(reason)) => reason.clone(),
        (Level::Original, None) if block.references > 0 => format!("used {} ×", block.references),
        (Level::Original, None) => String::new(),
        (level, _) => level.name().to_owned(),
    }
}

fn draw_detail(frame: &mut Frame<'_>, area: Rect, screen: &mut Screen, look: &Look) {
    let block = screen.block_at(screen.at).cloned();
    let title = match &block {
        Some(block) => format!(" #{} {} ", block.number, look.clean(&block.label)),
        None if screen.form == MapForm::Areas => " Tab lists the blocks of files ".to_owned(),
        None => " Enter opens a turn or a file ".to_owned(),
    };
    let frame_of_detail = Block::bordered().title(clip(&title, usize::from(area.width).saturating_sub(4)));
    let inner = frame_of_detail.inner(area);
    frame.render_widget(frame_of_detail, area);
    let width = usize::from(inner.width);
    let Some(detail) = &screen.detail else {
        let text = match (screen.rows.get(screen.at), block) {
            (Some(Row::Turn(at)), _) => {
                let turn = &screen.picture.turns[*at];
                let stale = tokens(turn.stale_tokens);
                format!(
                    "{}\n\n{}, {} tokens, {stale} of them stale",
                    look.clean(&turn.prompt),
                    plural(turn.blocks, "block"),
                    tokens(turn.tokens)
                )
            }
            (Some(Row::File { path, .. }), _) => look.clean(path),
            (Some(Row::Subagent(at)), _) => {
                format!("{}\n\nEnter shows its window", look.clean(&screen.picture.subagents[*at].title))
            }
            (_, Some(_)) => "…".to_owned(),
            _ => String::new(),
        };
        return frame.render_widget(Paragraph::new(text).wrap(ratatui::widgets::Wrap { trim: true }), inner);
    };
    let mut lines = vec![Line::styled(clip(&detail.facts, width), look.dim())];
    lines.extend(detail.reasons.iter().take(2).map(|reason| Line::styled(clip(reason, width), look.dim())));
    lines.push(levels_line(screen, detail, width, look));
    let content = content_lines(screen, detail, width, look);
    let room = usize::from(inner.height).saturating_sub(lines.len());
    let scroll = screen.scroll.min(content.len().saturating_sub(room));
    lines.extend(content.into_iter().skip(scroll).take(room));
    frame.render_widget(Paragraph::new(lines), inner);
    screen.scroll = scroll;
}

/// The tokens that are left at each level, with the shown one marked.
fn levels_line(screen: &Screen, detail: &Detail, width: usize, look: &Look) -> Line<'static> {
    if detail.levels.is_empty() {
        return Line::styled("it cannot be changed", look.dim());
    }
    let mut spans = Vec::new();
    let mut used = 0;
    for at in 0..=detail.levels.len() {
        let text = match at.checked_sub(1).map(|level| &detail.levels[level]) {
            None => "l: as it is".to_owned(),
            Some(level) => format!("{} {}", level.preset.unwrap_or(level.level.name()), amount(level.tokens.round() as u64)),
        };
        used += text.width() + 3;
        if used > width {
            break;
        }
        let style =
            if at == screen.level { Style::new().add_modifier(Modifier::BOLD | Modifier::UNDERLINED) } else { look.dim() };
        spans.push(Span::styled(text, style));
        spans.push(Span::styled(if at < detail.levels.len() { " │ " } else { "" }, look.dim()));
    }
    Line::from(spans)
}

/// The content at the shown level, or what that level changes.
fn content_lines(screen: &Screen, detail: &Detail, width: usize, look: &Look) -> Vec<Line<'static>> {
    let level = screen.level.checked_sub(1).and_then(|level| detail.levels.get(level));
    let kept = level.map(|level| level.content.as_deref().unwrap_or(&detail.content));
    let wrapped = |text: &str| -> Vec<String> { text.lines().take(CONTENT_LINES).flat_map(|line| pieces(line, width)).collect() };
    match kept {
        Some(kept) if screen.is_difference => {
            let (old, new) = (lines(&detail.content), lines(kept));
            let changes = differences(&old, &new).into_iter().flat_map(|operation| operation.iter_changes(&old, &new));
            let lines = changes.take(CONTENT_LINES).map(|change| {
                let (sign, style) = match change.tag() {
                    ChangeTag::Delete => ("- ", look.color(Color::Red)),
                    ChangeTag::Insert => ("+ ", look.color(Color::Green)),
                    ChangeTag::Equal => ("  ", Style::new()),
                };
                Line::styled(clip(&format!("{sign}{}", change.value().trim_end()), width), style)
            });
            lines.collect()
        }
        kept => wrapped(kept.unwrap_or(&detail.content)).into_iter().map(Line::raw).collect(),
    }
}

/// Returns a line in pieces of at most `width` columns, which end at blanks where there are any.
fn pieces(line: &str, width: usize) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut rest = line.replace('\t', "    ");
    while rest.width() > width.max(2) {
        let mut used = 0;
        let fits = |c: &char| {
            used += c.width().unwrap_or(0);
            used <= width
        };
        let end: usize = rest.chars().take_while(fits).map(char::len_utf8).sum();
        let end = end.max(rest.chars().next().map_or(1, char::len_utf8));
        let blank = rest[..end].rfind(' ').map(|at| at + 1).filter(|at| *at > end / 2);
        let left = rest.split_off(blank.unwrap_or(end));
        pieces.push(std::mem::replace(&mut rest, left));
    }
    pieces.push(rest);
    pieces
}

/// The worth of the marks, a question, or the typed text; and below it a toast or the last command line.
fn draw_foot(frame: &mut Frame<'_>, area: Rect, screen: &Screen, look: &Look) {
    let width = usize::from(area.width);
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let first = match &screen.mode {
        Mode::Confirm(plan) => match &plan.effect {
            Some(Ok(effect)) => Line::styled(clip(&effect_text(effect), width), bold.patch(look.color(Color::Yellow))),
            _ => Line::raw("planning …"),
        },
        Mode::Input { purpose, field } => {
            let prompt = purpose.prompt();
            let before = clip_start(&format!("{}▏", field.before), width.saturating_sub(prompt.width()));
            Line::from(vec![Span::styled(prompt, look.dim()), Span::raw(before), Span::raw(&field.after)])
        }
        _ if !screen.marked.is_empty() => {
            let marked = format!("{} marked · ", plural(screen.marked.len(), "block"));
            let text = match &screen.estimate {
                Some(Plan { effect: Some(Ok(effect)), .. }) => {
                    let held = screen.marked_tokens();
                    let left = held - (effect.tokens.0 - effect.tokens.1);
                    format!("{marked}c: {} → {}{}", tokens(held), tokens(left.max(0.0)), money(effect))
                }
                Some(Plan { effect: Some(Err(error)), .. }) => format!("{marked}{}", look.clean(error)),
                _ => format!("{marked}{}", tokens(screen.marked_tokens())),
            };
            Line::styled(clip(&text, width), bold)
        }
        _ => Line::styled(clip("? keys · q leave · Space mark · c compress · a archive · u undo · / search", width), look.dim()),
    };
    let second = match &screen.toast {
        _ if matches!(screen.mode, Mode::Confirm(_)) => {
            Line::styled(clip(&format!("y carries it out · Esc leaves it · {}", look.clean(&screen.command)), width), bold)
        }
        Some((text, _)) => Line::styled(clip(&look.clean(text), width), look.color(Color::Cyan)),
        None => Line::styled(clip(&look.clean(&screen.command), width), look.dim()),
    };
    frame.render_widget(Paragraph::new(vec![first, second]), area);
}

fn tokens(value: f64) -> String {
    amount(value.round().max(0.0) as u64)
}

fn effect_text(effect: &Effect) -> String {
    let (before, after) = effect.tokens;
    let window = if before == after { String::new() } else { format!(" · window {} → {}", tokens(before), tokens(after)) };
    let notes = effect.notes.first().map(|note| format!(" · {note}")).unwrap_or_default();
    format!("{}{window}{}{notes}", effect.what, money(effect))
}

/// Returns what an effect saves and costs: ` · saves $0.11 a turn · costs $0.18 now`.
fn money(effect: &Effect) -> String {
    let dollars = |value: f64| if value.abs() < 0.1 { format!("${:.3}", value.abs()) } else { format!("${:.2}", value.abs()) };
    let mut text = String::new();
    if let Some(saved) = effect.saved_per_turn.filter(|saved| saved.abs() >= 0.0005) {
        text.push_str(&format!(" · {} {} a turn", if saved > 0.0 { "saves" } else { "costs" }, dollars(saved)));
    }
    match effect.paid_now {
        Some(paid) if paid >= 0.0005 => text.push_str(&format!(" · costs {} now", dollars(paid))),
        Some(_) => text.push_str(" · costs nothing now"),
        None => {}
    }
    text
}

/// A list or a text over the map.
fn draw_over(frame: &mut Frame<'_>, area: Rect, screen: &Screen, look: &Look) {
    let (title, lines, at) = match &screen.mode {
        Mode::List { title, entries, field, at } => {
            let places = shown(entries, &field.text());
            let typed = format!("{}▏{}", field.before, field.after);
            let title = format!(" {title} · {} · Enter chooses, Esc leaves · {typed}", places.len());
            let note = places.iter().map(|place| entries[*place].note.width()).max().unwrap_or_default().min(48);
            let room = usize::from(area.width).saturating_sub(note + 5);
            let line = |place: &usize| {
                let entry = &entries[*place];
                let text = padded(&clip(&entry.text.replace('\n', " "), room), room);
                Line::from(vec![Span::raw(text), Span::raw(" "), Span::styled(clip(&entry.note, note), look.dim())])
            };
            (title, places.iter().map(line).collect::<Vec<_>>(), Some(*at))
        }
        Mode::Text { title, lines, at } => {
            let width = usize::from(area.width).saturating_sub(2);
            let rest = lines.iter().skip(*at).flat_map(|line| pieces(line, width)).take(area.height.into());
            (format!(" {title} · Esc leaves "), rest.map(Line::raw).collect(), None)
        }
        _ => return,
    };
    let border = Block::bordered().title(clip(&title, usize::from(area.width).saturating_sub(2)));
    let inner = border.inner(area);
    frame.render_widget(Clear, area);
    frame.render_widget(border, area);
    let height = usize::from(inner.height);
    let first = at.map_or(0, |at| at.saturating_sub(height / 2).min(lines.len().saturating_sub(height)));
    let lines = lines.into_iter().enumerate().skip(first).take(height).map(|(place, line)| match at {
        Some(at) if at == place => line.style(Style::new().add_modifier(Modifier::REVERSED)),
        _ => line,
    });
    frame.render_widget(Paragraph::new(lines.collect::<Vec<_>>()), inner);
}
