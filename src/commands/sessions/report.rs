use super::run::{capacity, percent};
use crate::app::Env;
use crate::model::{As, Time, TokenCount, json_forms};
use crate::output::table::{Column, Table, left, rest, right};
use crate::output::{Paint, Report, Style, age, bytes, clip, short_id, tokens};
use crate::text::names::file_name;
use crate::workspace::Listed;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;

json_forms! {
    /// A session in the list.
    #[schemars(rename = "Session")]
    SessionRow of (env, listed, open): (&Env, &Listed, &BTreeSet<String>) {
        /// Provider, such as `claude-code`.
        provider: &'static str = listed.found.provider.name(),
        /// Session id.
        id: String = listed.found.location.id.clone(),
        path: String = listed.found.path.display().to_string(),
        /// Project: the directory in which the session began.
        project: String = project(listed).to_owned(),
        /// Title, or the first prompt.
        title: String = listed.totals.title.clone(),
        /// Labels of its topics, the one with the most tokens first; null without `--topics`.
        topics: Option<Vec<String>> = None,
        /// Model of the last response.
        model: String = listed.totals.model.to_string(),
        /// Time of the newest row, or of the last change of the file if no row has a time.
        #[serde(with = "As::<Time>")]
        last_written_time: i64 = listed.last_written(),
        /// Time of the last change of the file.
        #[serde(with = "As::<Time>")]
        modified_time: i64 = (listed.identity.modified / 1_000_000) as i64,
        /// Tokens of the last request and its response; an estimate if something came after them or the file has only the start of an
        /// output.
        tokens: TokenCount = TokenCount::billed(listed.totals.window_tokens, listed.totals.moved_on || listed.totals.output_estimated),
        /// Size of the window.
        capacity_tokens: u64 = capacity(env, listed),
        /// Share of the window that is in use.
        percent: f64 = percent(env, listed),
        /// Size of the file.
        bytes: u64 = listed.identity.bytes,
        /// Number of prompts.
        turns: u32 = listed.totals.turns,
        /// Number of responses of the model.
        steps: u32 = listed.totals.steps,
        compactions: u32 = listed.totals.compactions,
        /// Output tokens of all responses; an estimate if the file records only the start of some.
        output_tokens: TokenCount = TokenCount::billed(listed.totals.output_tokens, listed.totals.output_estimated),
        /// True if a running agent program has the session open.
        open: bool = open.contains(&listed.found.location.id),
        /// True if it is the session of a subagent.
        subagent: bool = listed.found.location.subagent,
        /// True if the file is the kept copy of a session that no longer has a file of its own.
        kept: bool = false,
        /// Days until the agent program deletes the file; null if it does not.
        days_left: Option<u32> = None,
    }
}

fn project(listed: &Listed) -> &str {
    if listed.totals.directory.is_empty() { &listed.found.location.project } else { &listed.totals.directory }
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
