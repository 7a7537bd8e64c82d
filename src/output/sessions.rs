use super::{Paint, Report, Style, age, amount, bytes, clip};
use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;

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
        let wide = style.width >= 110;
        let mut table = Table::new();
        table.load_preset(presets::NOTHING);
        let mut heading = vec!["AGE", "ID", "PROJECT", "WINDOW", "FULL", "TURNS", "SIZE"];
        if wide {
            heading.push("MODEL");
        }
        heading.push("TITLE");
        table.set_header(heading.iter().map(|name| style.paint(Paint::Dim, name)));
        let fixed = if wide { 78 } else { 62 };
        let room = style.width.saturating_sub(fixed).max(8);
        for session in &self.sessions {
            let open = if session.open { style.paint(Paint::Good, "●") } else { " ".to_owned() };
            let full = format!("{:.0} %", session.percent);
            let paint = if session.percent >= 80.0 {
                Paint::Bad
            } else if session.percent >= 60.0 {
                Paint::Warning
            } else {
                Paint::Dim
            };
            let mark = if session.estimated { "~" } else { "" };
            let mut cells = vec![
                format!("{open}{}", age(style.now, session.modified)),
                style.paint(Paint::Name, &short_id(&session.id)),
                clip(last_part(&session.project), 16),
                format!("{mark}{}", amount(session.window_tokens)),
                style.paint(paint, &full),
                session.turns.to_string(),
                bytes(session.bytes),
            ];
            if wide {
                cells.push(clip(short_model(&session.model), 14));
            }
            cells.push(clip(&session.title, room));
            table.add_row(cells);
        }
        for (place, column) in table.column_iter_mut().enumerate() {
            column.set_padding((0, 1));
            if (3..7).contains(&place) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        let mut text: String = table.lines().map(|line| line.trim_end().to_owned() + "\n").collect();
        if self.left_out > 0 {
            text.push_str(&style.paint(Paint::Dim, &format!("and {} more: --limit 0 lists all\n", self.left_out)));
        }
        text
    }
}

/// As much of an id as is read and typed: the first eight characters, behind `agent-` if it has that.
pub fn short_id(id: &str) -> String {
    let (prefix, rest) = id.strip_prefix("agent-").map_or(("", id), |rest| ("agent-", rest));
    let short: String = rest.chars().take(8).collect();
    format!("{prefix}{short}")
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
