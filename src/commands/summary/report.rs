use crate::commands::show::ShowReport;
use crate::engine::summary::{Point, SessionSummary, TurnSummary};
use crate::model::{As, Housekeeping, Time};
use crate::output::{Paint, Report, Style, age, clip, days, padded, plural, printable, times_of_day, wrap};
use crate::text::cut::one_line;
use schemars::JsonSchema;
use serde::Serialize;

/// The output formats of a summary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum SummaryFormat {
    /// For a terminal.
    #[default]
    Text,
    /// Markdown, to keep or to hand on.
    Markdown,
    /// JSON, as with --json.
    Json,
}

/// The summary of a turn with its identity.
#[derive(Debug, Serialize, JsonSchema)]
pub struct IdentifiedTurn {
    /// Session id.
    pub conversation_id: String,
    /// Number of the turn, which it keeps when turns before it are removed or restored.
    pub turn_id: u32,
    /// The words of the model about the turn; null if there are none.
    pub housekeeping: Option<Housekeeping>,
    /// The summary.
    #[serde(flatten)]
    pub turn: TurnSummary,
}

/// The summary of a session and its turns.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SummaryReport {
    /// Session id.
    pub session: String,
    /// Title, or the first prompt.
    pub title: String,
    /// Vocabulary in which the limits of summaries are counted.
    pub counted: &'static str,
    /// Number of turns in the session.
    #[schemars(extend("unit" = "turns"))]
    pub turn_count: usize,
    /// Number of responses of the model.
    #[schemars(extend("unit" = "steps"))]
    pub steps: u32,
    /// Time of the last row.
    #[serde(with = "As::<Option<Time>>")]
    pub last_written_time: Option<i64>,
    /// Summary of the session; null if turns were requested.
    pub current: Option<SessionSummary>,
    /// Summaries of turns.
    pub turns: Vec<IdentifiedTurn>,
    /// Content of the turn that was requested in full.
    pub full: Option<ShowReport>,
    #[serde(skip)]
    pub format: SummaryFormat,
}

/// Number of turn headers on the first screen.
const SHOWN_TURNS: usize = 8;
const LABEL: usize = 10;
/// Columns of the outcome of a turn.
const OUTCOME: usize = 15;
/// Maximum line width of running text, in columns: longer lines are hard to read.
const WIDEST: usize = 110;

impl Report for SummaryReport {
    const SCHEMA: &str = "aperture.summary/2";

    fn text(&self, style: &Style) -> String {
        match self.format {
            SummaryFormat::Text => self.screen(style),
            SummaryFormat::Markdown => self.markdown(style),
            SummaryFormat::Json => self.json(),
        }
    }
}

impl SummaryReport {
    fn facts(&self, style: &Style) -> String {
        let id: String = self.session.chars().take(8).collect();
        let steps = plural(self.steps as usize, "step");
        let age = self.last_written_time.map(|moment| match age(style.now, moment).as_str() {
            "now" => " · now".to_owned(),
            age => format!(" · {age} ago"),
        });
        format!("{} · {}, {steps}{}", printable(&id), plural(self.turn_count, "turn"), age.unwrap_or_default())
    }

    fn screen(&self, style: &Style) -> String {
        let mut text = String::new();
        let mut line = |paint: Option<Paint>, words: &str| {
            text.push_str(&paint.map_or_else(|| words.to_owned(), |paint| style.paint(paint, words)));
            text.push('\n');
        };
        line(Some(Paint::Heading), &clip(&self.title, style.width));
        line(Some(Paint::Dim), &clip(&self.facts(style), style.width));
        if let Some(current) = &self.current {
            line(None, "");
            points(style, &current.summary.points, 0).iter().for_each(|words| line(None, words));
            let hidden = self.turns.len().saturating_sub(SHOWN_TURNS);
            line(None, "");
            let mut day = String::new();
            for IdentifiedTurn { turn, .. } in self.turns.iter().skip(hidden) {
                self.heading(style, turn, &mut day).iter().for_each(|words| line(None, words));
            }
            if hidden > 0 {
                let earlier = plural(hidden, "earlier turn");
                line(Some(Paint::Dim), &clip(&format!("{earlier}: aperture summary --turns 1..{hidden}"), style.width));
            }
        } else {
            let mut day = String::new();
            for IdentifiedTurn { turn, housekeeping, .. } in &self.turns {
                line(None, "");
                self.heading(style, turn, &mut day).iter().for_each(|words| line(None, words));
                points(style, &turn.summary.points, 2).iter().for_each(|words| line(None, words));
                if let Some(words) = housekeeping {
                    let name = if words.claimed { "claimed" } else { "model" };
                    let text = words.texts().find(|text| !text.is_empty()).unwrap_or_default();
                    line(None, &clip(&format!("  {}{text}", padded(name, LABEL)), style.width));
                }
            }
        }
        if let Some(full) = &self.full {
            line(None, "");
            text.push_str(&full.text(style));
        }
        text
    }

    /// Formats the line of a turn, after a line with the date if a new day starts.
    fn heading(&self, style: &Style, turn: &TurnSummary, day: &mut String) -> Vec<String> {
        let mut lines = Vec::new();
        let date = turn.time.map(days(style)).unwrap_or_default();
        if !date.is_empty() && date != *day {
            lines.push(style.paint(Paint::Dim, &clip(&date, style.width)));
            *day = date;
        }
        let last = self.turns.last().map_or(0, |turn| turn.turn_id);
        let digits = last.max(self.turn_count as u32).max(1).to_string().len();
        let number = format!("{:>digits$}", turn.number);
        let room = style.width.saturating_sub(digits + 2);
        let left = if turn.live { "" } else { " (left)" };
        let asked = turn.summary.points.first().filter(|point| self.current.is_some() && point.kind.label() == "asked");
        let header = match asked {
            Some(asked) => {
                let outcome = turn.outcomes.iter().map(|outcome| outcome.words()).next().unwrap_or_default();
                let time = turn.time.map(times_of_day(style)).unwrap_or_default();
                format!("{time:<5}  {outcome:<OUTCOME$}  {}{left}", asked.text())
            }
            None => format!("{}{left}", turn.header.text),
        };
        let header = clip(&header, room);
        let header = if turn.live { header } else { style.paint(Paint::Dim, &header) };
        lines.push(format!("{}  {header}", style.paint(Paint::Name, &number)));
        lines
    }

    fn markdown(&self, style: &Style) -> String {
        let mut text = format!("# {}\n\n{}\n", escaped(&self.title), self.facts(style));
        let list = |points: &[Point]| -> String {
            points.iter().map(|point| format!("- **{}**: {}\n", point.kind.label(), escaped(&point.text()))).collect()
        };
        if let Some(current) = &self.current {
            text.push_str(&format!("\n{}\n## Turns\n", list(&current.summary.points)));
        }
        for IdentifiedTurn { turn, .. } in &self.turns {
            let date = turn.time.map(days(style)).map(|date| format!("{date} ")).unwrap_or_default();
            let left = if turn.live { "" } else { " (left)" };
            text.push_str(&format!("\n### {}. {date}{}{left}\n\n", turn.number, escaped(&turn.header.text)));
            text.push_str(&list(&turn.summary.points));
        }
        if let Some(full) = &self.full {
            let full = full.text(&Style { color: false, ..style.clone() });
            // The fence is longer than any sequence of backticks in the text.
            let longest = full.split(|c| c != '`').map(str::len).max().unwrap_or_default();
            let fence = "`".repeat(longest.max(2) + 1);
            text.push_str(&format!("\n{fence}text\n{}\n{fence}\n", full.trim_end()));
        }
        text
    }
}

/// Escapes text for Markdown. Code in backticks is not changed.
fn escaped(text: &str) -> String {
    printable(text).replace('<', "&lt;").replace(['\n', '\t'], " ")
}

/// Formats points: labels in a column, with the texts beside them.
fn points(style: &Style, points: &[Point], indent: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let width = style.width.min(WIDEST).saturating_sub(indent + LABEL).max(16);
    for point in points {
        let listed = matches!(point.kind.label(), "goal" | "story" | "next" | "open" | "done" | "fixed" | "committed");
        let texts: Vec<String> =
            if listed { point.parts.iter().map(|part| part.text.clone()).collect() } else { vec![point.text()] };
        let mut label = point.kind.label();
        for text in texts.iter().map(|text| one_line(text)).filter(|text| !text.is_empty()) {
            for line in wrap(&text, 0, width) {
                let front = format!("{}{}", " ".repeat(indent), padded(std::mem::take(&mut label), LABEL));
                lines.push(format!("{}{line}", style.paint(Paint::Dim, &front)));
            }
        }
    }
    lines
}
