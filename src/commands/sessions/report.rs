use crate::model::{As, Time, TokenCount};
use crate::output::table::{Column, Table, left, rest, right};
use crate::output::{Paint, Report, Style, age, bytes, clip, short_id, tokens};
use crate::text::names::file_name;
use schemars::JsonSchema;
use serde::Serialize;

/// A session in the list.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Session")]
pub struct SessionRow {
    /// Provider, such as `claude-code`.
    pub provider: &'static str,
    /// Session id.
    pub id: String,
    pub path: String,
    /// Project: the directory in which the session began.
    pub project: String,
    /// Title, or the first prompt.
    pub title: String,
    /// Labels of its topics, the one with the most tokens first; null without `--topics`.
    pub topics: Option<Vec<String>>,
    /// Model of the last response.
    pub model: String,
    /// Time of the newest row, or of the last change of the file if no row has a time.
    #[serde(with = "As::<Time>")]
    pub last_written_time: i64,
    /// Time of the last change of the file.
    #[serde(with = "As::<Time>")]
    pub modified_time: i64,
    /// Tokens of the last request and its response; an estimate if something came after them or the file has only the start of an output.
    pub tokens: TokenCount,
    /// Size of the window.
    pub capacity_tokens: u64,
    /// Share of the window that is in use.
    pub percent: f64,
    /// Size of the file.
    pub bytes: u64,
    /// Number of prompts.
    pub turns: u32,
    /// Number of responses of the model.
    pub steps: u32,
    pub compactions: u32,
    /// Output tokens of all responses; an estimate if the file records only the start of some.
    pub output_tokens: TokenCount,
    /// True if a running agent program has the session open.
    pub open: bool,
    /// True if it is the session of a subagent.
    pub subagent: bool,
    /// True if the file is the kept copy of a session that no longer has a file of its own.
    pub kept: bool,
    /// Days until the agent program deletes the file; null if it does not.
    pub days_left: Option<u32>,
}

/// The sessions on this machine.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SessionsReport {
    /// Sessions, in the requested order.
    pub sessions: Vec<SessionRow>,
    /// Number of sessions beyond the limit of the list.
    pub left_out: usize,
    /// True if the list is shown because no session belongs to the current directory.
    #[serde(skip)]
    pub outside_project: bool,
}

impl Report for SessionsReport {
    const SCHEMA: &str = "aperture.sessions/2";

    fn text(&self, style: &Style) -> String {
        if self.sessions.is_empty() {
            return "no matching sessions\n".to_owned();
        }
        let rows = self.sessions.iter().map(|session| cells(style, session)).collect();
        let mut columns = COLUMNS;
        if self.sessions.iter().any(|session| session.topics.is_some()) {
            columns[COLUMNS.len() - 1] = rest("TOPICS");
        }
        let mut text = Table::new(style, &columns, rows).text();
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

/// Widths that the title keeps when columns are added: first the most useful ones, then those for wide terminals.
const TITLE: usize = 26;
const TITLE_WIDE: usize = 40;

const COLUMNS: [Column; 10] = [
    left("AGE"),
    left("ID"),
    left("CLIENT").optional(2, TITLE),
    left("PROJECT").optional(0, TITLE),
    right("WINDOW").optional(3, TITLE_WIDE),
    right("FULL"),
    right("TURNS").optional(1, TITLE),
    right("SIZE").optional(5, TITLE_WIDE),
    left("MODEL").optional(4, TITLE_WIDE),
    rest("TITLE"),
];

/// Maximum widths of a client, a project and a model.
const CLIENT: usize = 6;
const PROJECT: usize = 16;
const MODEL: usize = 14;

fn cells(style: &Style, session: &SessionRow) -> Vec<String> {
    let mark = if session.open { style.paint(Paint::Good, "●") } else { " ".to_owned() };
    let full = match session.percent {
        80.0.. => Paint::Bad,
        60.0.. => Paint::Warning,
        _ => Paint::Dim,
    };
    vec![
        mark + &age(style.now, session.last_written_time),
        style.paint(Paint::Name, &short_id(&session.id)),
        clip(session.provider.split('-').next().unwrap_or_default(), CLIENT),
        clip(file_name(&session.project), PROJECT),
        tokens(session.tokens),
        style.paint(full, &format!("{:.0} %", session.percent)),
        session.turns.to_string(),
        bytes(session.bytes),
        clip(short_model(&session.model), MODEL),
        title(style, session),
    ]
}

/// Days before its deletion from which on a session is marked.
const SOON: u32 = 7;

/// Returns the cell of the title, after a mark if the file of the session is gone or will soon be.
fn title(style: &Style, session: &SessionRow) -> String {
    let topics = session.topics.as_ref().filter(|topics| !topics.is_empty()).map(|topics| topics.join(" · "));
    let title = clip(topics.as_ref().unwrap_or(&session.title), style.width);
    let mark = match session.days_left {
        _ if session.kept => "kept".to_owned(),
        Some(days) if days <= SOON => format!("{days} d left"),
        _ => return title,
    };
    // A title that is cut loses its colours.
    format!("[{mark}] {title}")
}

/// Returns the name of a model without vendor and date.
fn short_model(model: &str) -> &str {
    let name = model.trim_start_matches("claude-");
    name.rsplit_once('-')
        .filter(|(_, date)| date.len() == 8 && date.bytes().all(|byte| byte.is_ascii_digit()))
        .map_or(name, |(name, _)| name)
}
