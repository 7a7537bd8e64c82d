use super::{Paint, Report, Style, age, bytes, clip, tokens};
use crate::model::{TokenCount, split_id};
use unicode_width::UnicodeWidthStr;

/// A session in the list.
#[derive(Clone, Debug)]
pub struct SessionRow {
    /// The provider.
    pub provider: &'static str,
    /// The session's id.
    pub id: String,
    /// The file.
    pub path: String,
    /// The project: the directory in which the session was started.
    pub project: String,
    /// The title, or the first prompt.
    pub title: String,
    /// The model of the last response.
    pub model: String,
    /// Time of the newest row, in milliseconds since 1970, UTC.
    pub last_written: i64,
    /// Modification time of the file, in milliseconds since 1970, UTC.
    pub modified: i64,
    /// Tokens of the window: as billed, or an estimate if the session was changed since.
    pub tokens: TokenCount,
    /// Capacity of the window in tokens.
    pub capacity_tokens: u64,
    /// Usage of the window, in percent.
    pub percent: f64,
    /// Bytes of the file.
    pub bytes: u64,
    /// Prompts.
    pub turns: u32,
    /// Responses of the model.
    pub steps: u32,
    /// Compactions.
    pub compactions: u32,
    /// Output tokens of all responses.
    pub output_tokens: u64,
    /// True if a running client has the session open.
    pub open: bool,
    /// True for the session of a subagent.
    pub subagent: bool,
}

/// All sessions on this machine.
#[derive(Clone, Debug)]
pub struct SessionsReport {
    /// The sessions, in the requested order.
    pub sessions: Vec<SessionRow>,
    /// Number of sessions omitted because of a limit.
    pub left_out: usize,
    /// True if the list is shown because no session belongs to the current directory.
    pub outside_project: bool,
}

impl Report for SessionsReport {
    const SCHEMA: &str = "aperture.sessions/2";

    fn text(&self, style: &Style) -> String {
        if self.sessions.is_empty() {
            return "no matching sessions\n".to_owned();
        }
        let columns: &[Column] = match style.width {
            110.. => &COLUMNS,
            70.. => &COLUMNS_NARROW,
            _ => &COLUMNS_NARROWEST,
        };
        let fixed: usize = columns.iter().map(|column| column.width + 1).sum();
        let room = style.width.saturating_sub(fixed).max(8);
        let cells = |session| columns.iter().map(move |column| column.cell(style, session, room)).collect();
        let rows: Vec<Vec<Cell>> = self.sessions.iter().map(cells).collect();
        let widest = |place: usize| rows.iter().map(|row| row[place].width).max().unwrap_or(0).max(columns[place].name.len());
        let widths: Vec<usize> = (0..columns.len()).map(widest).collect();
        let heading = columns.iter().map(|column| Cell::new(style, Paint::Dim, column.name)).collect();
        let mut text = String::new();
        // The layout is done here because comfy-table takes as long as the rest of a list with a warm cache.
        for row in std::iter::once(&heading).chain(&rows) {
            let start = text.len();
            for ((cell, column), width) in row.iter().zip(columns).zip(&widths) {
                let room = " ".repeat(width - cell.width);
                let (before, behind) = if column.right { (&*room, "") } else { ("", &*room) };
                text.extend([before, &cell.text, behind, " "]);
            }
            text.truncate(start + text[start..].trim_end().len());
            text.push('\n');
        }
        if self.left_out > 0 {
            let all = if self.outside_project { "aperture sessions" } else { "--limit 0" };
            text.push_str(&style.paint(Paint::Dim, &format!("and {} more; to list all: {all}\n", self.left_out)));
        }
        if self.outside_project {
            text.push_str("no session belongs to this directory; to see one of these: aperture status ID\n");
        }
        text
    }
}

/// A column of the list. The title takes the remaining width.
#[derive(Clone, Copy)]
struct Column {
    name: &'static str,
    width: usize,
    right: bool,
}

const fn left_aligned(name: &'static str, width: usize) -> Column {
    Column { name, width, right: false }
}

const fn right(name: &'static str, width: usize) -> Column {
    Column { name, width, right: true }
}

const AGE: Column = left_aligned("AGE", 7);
const ID: Column = left_aligned("ID", 8);
const CLIENT: Column = left_aligned("CLIENT", 6);
const PROJECT: Column = left_aligned("PROJECT", 16);
const WINDOW: Column = right("WINDOW", 6);
const FULL: Column = right("FULL", 5);
const TURNS: Column = right("TURNS", 5);
const SIZE: Column = right("SIZE", 7);
const MODEL: Column = left_aligned("MODEL", 14);
const TITLE: Column = left_aligned("TITLE", 0);

const COLUMNS: [Column; 10] = [AGE, ID, CLIENT, PROJECT, WINDOW, FULL, TURNS, SIZE, MODEL, TITLE];
const COLUMNS_NARROW: [Column; 7] = [AGE, ID, CLIENT, PROJECT, FULL, TURNS, TITLE];
const COLUMNS_NARROWEST: [Column; 4] = [AGE, ID, FULL, TITLE];

/// A cell: its painted text and its width.
struct Cell {
    text: String,
    width: usize,
}

impl Cell {
    fn new(style: &Style, paint: Paint, text: &str) -> Cell {
        Cell { width: text.width(), text: style.paint(paint, text) }
    }

    fn plain(text: String) -> Cell {
        Cell { width: text.width(), text }
    }
}

impl Column {
    fn cell(&self, style: &Style, session: &SessionRow, room: usize) -> Cell {
        match self.name {
            "AGE" => {
                let mut cell = if session.open { Cell::new(style, Paint::Good, "●") } else { Cell::plain(" ".to_owned()) };
                let age = age(style.now, session.last_written);
                cell.width += age.width();
                cell.text.push_str(&age);
                cell
            }
            "ID" => Cell::new(style, Paint::Name, &short_id(&session.id)),
            "CLIENT" => Cell::plain(clip(session.provider.split('-').next().unwrap_or_default(), self.width)),
            "PROJECT" => Cell::plain(clip(last_part(&session.project), self.width)),
            "WINDOW" => Cell::plain(tokens(session.tokens)),
            "FULL" => {
                let paint = match session.percent {
                    80.0.. => Paint::Bad,
                    60.0.. => Paint::Warning,
                    _ => Paint::Dim,
                };
                Cell::new(style, paint, &format!("{:.0} %", session.percent))
            }
            "TURNS" => Cell::plain(session.turns.to_string()),
            "SIZE" => Cell::plain(bytes(session.bytes)),
            "MODEL" => Cell::plain(clip(short_model(&session.model), self.width)),
            _ => Cell::plain(clip(&session.title, room)),
        }
    }
}

/// Returns the first eight characters of an id, after the word in front of it if there is one.
pub fn short_id(id: &str) -> String {
    let (word, rest) = split_id(id);
    let short: String = rest.chars().take(8).collect();
    format!("{word}{short}")
}

/// Returns the name of a model without vendor and date.
fn short_model(model: &str) -> &str {
    let name = model.trim_start_matches("claude-");
    name.rsplit_once('-')
        .filter(|(_, date)| date.len() == 8 && date.bytes().all(|byte| byte.is_ascii_digit()))
        .map_or(name, |(name, _)| name)
}

fn last_part(path: &str) -> &str {
    path.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next().unwrap_or(path)
}
