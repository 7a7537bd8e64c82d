//! `aperture timeline`: the requests of a session, what filled each, and what it cost.

use crate::app::{CommandError, Env};
use crate::engine::TimelineRequest;
use crate::model::Basis;
use crate::output::table::{Table, rest, right};
use crate::output::{Paint, Report, Style, amount, days, impossible_bills, plural, times_of_day, tokens};
use crate::workspace::Workspace;
use schemars::JsonSchema;
use serde::Serialize;

const REQUESTS: usize = 30;
const BAR: usize = 24;

#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = help_text!("timeline"))]
pub struct Arguments {
    /// Session: a path, an id or an id prefix
    #[arg(id = "named", value_name = "SESSION")]
    pub session: Option<String>,
    /// Requests to print, the newest; 0 prints all
    #[arg(long, value_name = "N", default_value_t = REQUESTS, value_parser = crate::app::number::<usize>)]
    pub limit: usize,
}

/// The requests of a session.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TimelineReport {
    pub session: String,
    /// Size of the window.
    pub capacity_tokens: u64,
    /// Requests, the oldest first.
    pub requests: Vec<TimelineRequest>,
    /// Number of earlier requests, beyond the limit of the list.
    pub left_out: usize,
    /// These requests, for the sums.
    #[serde(skip)]
    pub earlier: Vec<TimelineRequest>,
}

/// Prints the requests.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    let workspace = env.open(arguments.session.as_deref())?;
    let reading = &workspace.reading;
    let mut earlier = requests(env, &workspace);
    let left_out = if arguments.limit == 0 { 0 } else { earlier.len().saturating_sub(arguments.limit) };
    let mut requests = earlier.split_off(left_out);
    for request in &mut requests {
        request.follows = request.follows.and_then(|place| place.checked_sub(left_out));
    }
    let (session, capacity_tokens) = (reading.session.id.clone(), reading.capacity.tokens);
    env.print(&TimelineReport { session, capacity_tokens, requests, left_out, earlier })
}

/// Returns the requests of a session as they were billed, whatever changed its file since.
pub fn requests(env: &Env, workspace: &Workspace<'_>) -> Vec<TimelineRequest> {
    let session = workspace.billed_session(&|| env.existing_store().ok().flatten());
    let impossible: Vec<u32> = workspace.reading.impossible_bills.iter().map(|(row, _)| *row).collect();
    crate::engine::timeline(&session, &impossible, &env.prices)
}

/// Returns the mark of the cost of a request: that of an estimate, if its output is one.
fn mark(request: &TimelineRequest) -> &'static str {
    if request.output_tokens.basis == Basis::Estimated { "~" } else { "" }
}

impl Report for TimelineReport {
    const SCHEMA: &str = "aperture.timeline/1";

    fn text(&self, style: &Style) -> String {
        let is_billed = |request: &&TimelineRequest| request.sent_tokens.is_some();
        let all = || self.earlier.iter().chain(&self.requests);
        let billed: Vec<&TimelineRequest> = all().filter(is_billed).collect();
        if billed.is_empty() {
            return "no billed requests\n".to_owned();
        }
        let columns = [
            right("TURN"),
            right("TIME"),
            right("SENT"),
            right("CACHED").optional(1, BAR),
            right("OUT").optional(2, BAR),
            right("COST"),
            rest("WINDOW"),
        ];
        let (day, clock) = (days(style), times_of_day(style));
        let (mut turn, mut date) = (0, String::new());
        let rows = self.requests.iter().filter(is_billed).map(|request| {
            let sent = request.sent_tokens.unwrap_or_default();
            let is_new = std::mem::replace(&mut turn, request.turn) != request.turn;
            let today = day(request.time);
            let time = if today == date { clock(request.time) } else { format!("{today} {}", clock(request.time)) };
            date = today;
            let cached = request.cache_read_tokens as f64 / sent as f64 * 100.0;
            let share = sent as f64 / self.capacity_tokens.max(1) as f64;
            let bar = style.bar(share, BAR).trim_end().to_owned();
            let border = if request.after_compaction { "|" } else { " " };
            vec![
                if is_new { request.turn.to_string() } else { String::new() },
                time,
                amount(sent),
                format!("{cached:.0} %"),
                tokens(request.output_tokens),
                request.dollars.map_or_else(|| "?".to_owned(), |dollars| format!("{}${dollars:.2}", mark(request))),
                format!("{border}{bar}"),
            ]
        });
        let mut text = Table::new(style, &columns, rows.collect()).text();
        let total = billed.iter().filter_map(|request| request.dollars).reduce(|total, dollars| total + dollars);
        let marks = billed.iter().map(|request| mark(request)).max().unwrap_or_default();
        let total = total.map_or_else(|| "cost unknown".to_owned(), |total| format!("{marks}${total:.2}"));
        let most = billed.iter().filter_map(|request| request.sent_tokens).max().unwrap_or_default();
        let compactions = billed.iter().filter(|request| request.after_compaction).count();
        let mut last = format!("{}, at most {} tokens, {total}", plural(billed.len(), "request"), amount(most));
        if compactions > 0 {
            last += &format!(", {}", plural(compactions, "compaction"));
        }
        let unbilled = all().count() - billed.len();
        if unbilled > 0 {
            last += &format!(", {unbilled} without a bill");
        }
        if self.left_out > 0 {
            last += &format!("; {} earlier: --limit 0", self.left_out);
        }
        text.push_str(&style.line(Paint::Dim, &last));
        let impossible = billed.iter().filter(|request| request.impossible).count();
        if impossible > 0 {
            text.push_str(&style.line(Paint::Dim, &impossible_bills(impossible)));
        }
        text
    }
}
