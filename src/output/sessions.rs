use super::{Paint, Report, Style, age, amount, bytes, clip};
use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;
use std::path::Path;

/// A session in the list.
#[derive(Clone, Debug, Serialize)]
pub struct SessionRow {
    /// The provider.
    pub provider: &'static str,
    /// The session's id.
    pub id: String,
    /// The file.
    pub path: String,
    /// The project: the directory in which the session began.
    pub project: String,
    /// The title, or the first prompt.
    pub title: String,
    /// The model of the last response.
    pub model: String,
    /// When the file last changed, in milliseconds since 1970, UTC.
    pub modified: i64,
    /// Tokens of the window when the model last answered.
    pub window_tokens: u64,
    /// Whether the window changed since.
    pub estimated: bool,
    /// Tokens that the window can hold.
    pub capacity_tokens: u64,
    /// How full the window is, in percent.
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
    /// Whether a running client has it open.
    pub open: bool,
    /// Whether it is the session of a subagent.
    pub subagent: bool,
}

/// All sessions on this machine.
#[derive(Clone, Debug, Serialize)]
pub struct SessionsReport {
    /// The sessions, in the order asked for.
    pub sessions: Vec<SessionRow>,
    /// How many there are beside those listed, because of a limit.
    pub left_out: usize,
}

impl Report for SessionsReport {
    fn schema(&self) -> &'static str {
        "aperture.sessions/1"
    }

    fn text(&self, style: &Style) -> String {
        if self.sessions.is_empty() {
            return "no session fits\n".to_owned();
        }
        let columns: &[Column] = match style.width {
            110.. => &COLUMNS,
            70.. => &COLUMNS_NARROW,
            _ => &COLUMNS_NARROWEST,
        };
        let fixed: usize = columns.iter().map(|column| column.width + 1).sum();
        let room = style.width.saturating_sub(fixed).max(8);
        let mut table = Table::new();
        table.load_preset(presets::NOTHING);
        table.set_header(columns.iter().map(|column| style.paint(Paint::Dim, column.name)));
        for session in &self.sessions {
            table.add_row(columns.iter().map(|column| column.cell(style, session, room)));
        }
        for (shown, column) in table.column_iter_mut().zip(columns) {
            shown.set_padding((0, 1));
            if column.right {
                shown.set_cell_alignment(CellAlignment::Right);
            }
        }
        let mut text: String = table.lines().map(|line| line.trim_end().to_owned() + "\n").collect();
        if self.left_out > 0 {
            text.push_str(&style.paint(Paint::Dim, &format!("and {} more: --limit 0 lists all\n", self.left_out)));
        }
        text
    }
}

/// A column of the list; the title takes the room that the others leave.
#[derive(Clone, Copy)]
struct Column {
    name: &'static str,
    width: usize,
    right: bool,
}

const fn left(name: &'static str, width: usize) -> Column {
    Column { name, width, right: false }
}

const fn right(name: &'static str, width: usize) -> Column {
    Column { name, width, right: true }
}

const AGE: Column = left("AGE", 7);
const ID: Column = left("ID", 8);
const PROJECT: Column = left("PROJECT", 16);
const WINDOW: Column = right("WINDOW", 6);
const FULL: Column = right("FULL", 5);
const TURNS: Column = right("TURNS", 5);
const SIZE: Column = right("SIZE", 7);
const MODEL: Column = left("MODEL", 14);
const TITLE: Column = left("TITLE", 0);

const COLUMNS: [Column; 9] = [AGE, ID, PROJECT, WINDOW, FULL, TURNS, SIZE, MODEL, TITLE];
const COLUMNS_NARROW: [Column; 8] = [AGE, ID, PROJECT, WINDOW, FULL, TURNS, SIZE, TITLE];
const COLUMNS_NARROWEST: [Column; 4] = [AGE, ID, FULL, TITLE];

impl Column {
    fn cell(&self, style: &Style, session: &SessionRow, room: usize) -> String {
        match self.name {
            "AGE" => {
                let open = if session.open { style.paint(Paint::Good, "●") } else { " ".to_owned() };
                format!("{open}{}", age(style.now, session.modified))
            }
            "ID" => style.paint(Paint::Name, &short_id(&session.id)),
            "PROJECT" => clip(last_part(&session.project), self.width),
            "WINDOW" => format!("{}{}", if session.estimated { "~" } else { "" }, amount(session.window_tokens)),
            "FULL" => {
                let paint = match session.percent {
                    80.0.. => Paint::Bad,
                    60.0.. => Paint::Warning,
                    _ => Paint::Dim,
                };
                style.paint(paint, &format!("{:.0} %", session.percent))
            }
            "TURNS" => session.turns.to_string(),
            "SIZE" => bytes(session.bytes),
            "MODEL" => clip(short_model(&session.model), self.width),
            _ => clip(&session.title, room),
        }
    }
}

/// As much of an id as is read and typed: the first eight characters, behind `agent-` if it has that.
pub fn short_id(id: &str) -> String {
    let (prefix, rest) = id.strip_prefix("agent-").map_or(("", id), |rest| ("agent-", rest));
    let short: String = rest.chars().take(8).collect();
    format!("{prefix}{short}")
}

/// A session as messages name it: by its short id, or by the name of a file that is not named after an id.
pub fn session_name(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    // Codex puts the time between its prefix and the id.
    let stem = stem.strip_prefix("rollout-").and_then(|rest| rest.get(rest.len().checked_sub(36)?..)).unwrap_or(&stem);
    let id = stem.strip_prefix("agent-").unwrap_or(stem);
    let is_id = id.len() >= 8 && id.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
    if is_id { short_id(stem) } else { path.file_name().unwrap_or_default().to_string_lossy().into_owned() }
}

/// A model's name without its maker and its date.
fn short_model(model: &str) -> &str {
    let name = model.trim_start_matches("claude-");
    name.rsplit_once('-')
        .filter(|(_, date)| date.len() == 8 && date.bytes().all(|byte| byte.is_ascii_digit()))
        .map_or(name, |(name, _)| name)
}

fn last_part(path: &str) -> &str {
    path.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_named_by_its_id_or_its_file() {
        for (path, name) in [
            ("/home/dev/66666666-0000-4000-8000-000000000000.jsonl", "66666666"),
            ("/home/dev/subagents/agent-a1b2c3d4e5f6a7b8c.jsonl", "agent-a1b2c3d4"),
            ("/h/rollout-2026-01-02T10-00-00-77777777-0000-7000-8000-000000000001.jsonl", "77777777"),
            ("/h/rollout-notes.jsonl", "rollout-notes.jsonl"),
            ("/home/dev/notes.jsonl", "notes.jsonl"),
            ("/home/dev/agent-notes.jsonl", "agent-notes.jsonl"),
        ] {
            assert_eq!(session_name(Path::new(path)), name);
        }
    }
}
