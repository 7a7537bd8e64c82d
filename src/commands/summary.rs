//! `aperture summary`: summarizes a session and its turns.

use crate::app::{CommandError, Env, refusal};
use crate::commands::blocks::BlockRow;
use crate::commands::show::{ShowReport, ShownBlock};
use crate::commands::sidecar::polish;
use crate::commands::status;
use crate::engine::pack::{Source, Sources, contents_of};
use crate::engine::sidecar::written_by;
use crate::engine::summary::{Contents, Point, PointKind, SessionSummary, TurnSummary, needed, summarize};
use crate::engine::{mask, shown};
use crate::model::{As, Block, BlockKind, BlockNumber, Housekeeping, JsonOf, Role, Time, TurnList};
use crate::output::{Paint, Report, Style, age, clip, days, padded, plural, printable, times_of_day, wrap};
use crate::text::cut::one_line;
use crate::text::shell::quoted_word;
use crate::workspace::{PlanError, Workspace};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = help_text!("summary"))]
pub struct Arguments {
    /// Session: a path, an id or an id prefix
    #[arg(id = "named", value_name = "SESSION")]
    pub session: Option<String>,
    /// Only these turns, such as 3,7..9 or 3..
    #[arg(long, value_name = "TURNS")]
    pub turns: Option<TurnList>,
    /// Only this turn
    #[arg(long, value_name = "N", value_parser = crate::app::number::<u32>, conflicts_with = "turns")]
    pub turn: Option<u32>,
    /// Also all texts and tool calls of the turn
    #[arg(long, requires = "turn")]
    pub full: bool,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    #[serde(serialize_with = "super::json::choice")]
    pub format: SummaryFormat,
}

/// Prints the summary.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    env.print(&report(env, arguments)?)
}

/// Errors: there is no such turn; the session cannot be read.
pub fn report(env: &Env, arguments: &Arguments) -> Result<SummaryReport, CommandError> {
    let mut workspace = env.open(arguments.session.as_deref())?;
    let story = polish(env, &mut workspace)?;
    let mut report = build_report(env, &workspace, arguments)?;
    if let (Some((story, model)), Some(current)) = (story, &mut report.current) {
        current.tell(story, model);
    }
    Ok(report)
}

/// Returns the summary of a session, without its turns.
pub fn current(env: &Env, workspace: &Workspace<'_>) -> Result<SummaryReport, CommandError> {
    Ok(SummaryReport { turns: Vec::new(), ..build_report(env, workspace, &Arguments::default())? })
}

fn build_report(env: &Env, workspace: &Workspace<'_>, arguments: &Arguments) -> Result<SummaryReport, CommandError> {
    let reading = &workspace.reading;
    let range = arguments.turns.clone().or_else(|| arguments.turn.map(|turn| TurnList::from_iter([turn])));
    let (mut turns, current) = summarize(reading, &contents(env, workspace)?, &times_of_day(&env.style));
    let turn_count = turns.len();
    let asked = turns.iter().flat_map(|turn| &turn.summary.points).find(|point| point.kind == PointKind::Asked);
    let first = asked.map(|point| point.text());
    if let Some(range) = &range {
        turns.retain(|turn| range.contains(turn.number));
        if turns.is_empty() {
            return Err(refusal!("the session does not have this turn; it has {}", plural(turn_count, "turn"))
                .hint("to list the latest turns: aperture summary"));
        }
    }
    let identified = |turn: TurnSummary| IdentifiedTurn {
        conversation_id: reading.session.id.clone(),
        turn_id: turn.number,
        housekeeping: reading.turn(turn.number).and_then(|turn| turn.housekeeping.as_deref().cloned()),
        turn,
    };
    let full = arguments.turn.filter(|_| arguments.full).map(|turn| full(workspace, turn)).transpose()?;
    // Text that a client wrote before the first prompt is not a title.
    let title = Some(status::title(reading)).filter(|title| !title.starts_with('<')).or(first).unwrap_or_default();
    Ok(SummaryReport {
        session: reading.session.id.clone(),
        title,
        counted: "o200k",
        turn_count,
        steps: reading.steps,
        last_written_time: reading.session.last_written(),
        current: range.is_none().then_some(current),
        turns: turns.into_iter().map(identified).collect(),
        full,
        format: arguments.format,
        name: quoted_word(&env.name_of(&workspace.path, &workspace.location.id)),
    })
}

fn full(workspace: &Workspace<'_>, turn: u32) -> Result<ShowReport, CommandError> {
    let reading = &workspace.reading;
    let numbers: Vec<BlockNumber> = reading.turn(turn).map(|turn| turn.blocks.clone()).unwrap_or_default();
    let contents = workspace.masked_contents(&numbers)?;
    let blocks = numbers.iter().zip(contents).filter_map(|(number, content)| {
        let block = BlockRow::json_of(&(reading, reading.block(*number)?));
        Some(ShownBlock { block, content: content.sent, readable: content.readable })
    });
    Ok(ShowReport { blocks: blocks.collect(), raw: false })
}

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
    pub conversation_id: String,
    /// Number of the turn, which it keeps when turns before it are removed or restored.
    pub turn_id: u32,
    /// The words of the model about the turn; null if there are none.
    pub housekeeping: Option<Housekeeping>,
    #[serde(flatten)]
    pub turn: TurnSummary,
}

/// The summary of a session and its turns.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SummaryReport {
    pub session: String,
    /// Title, or the first prompt.
    pub title: String,
    /// Vocabulary in which the limits of summaries are counted.
    pub counted: &'static str,
    /// Number of turns in the session.
    #[schemars(extend("unit" = "turns"))]
    pub turn_count: usize,
    /// Number of responses of the model.
    pub steps: u32,
    /// Time of the last row.
    #[serde(with = "As::<Option<Time>>")]
    pub last_written_time: Option<i64>,
    /// Summary of the session; null if turns were requested.
    pub current: Option<SessionSummary>,
    pub turns: Vec<IdentifiedTurn>,
    /// Content of the turn that was requested in full.
    pub full: Option<ShowReport>,
    #[serde(skip)]
    pub format: SummaryFormat,
    /// Name of the session in commands.
    #[serde(skip)]
    pub name: String,
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
                let command = format!("aperture summary --turns 1..{hidden} -s {}", self.name);
                line(Some(Paint::Dim), &clip(&format!("{earlier}: {command}"), style.width));
            }
        } else {
            let mut day = String::new();
            for IdentifiedTurn { turn, housekeeping, .. } in &self.turns {
                line(None, "");
                self.heading(style, turn, &mut day).iter().for_each(|words| line(None, words));
                points(style, &turn.summary.points, 2).iter().for_each(|words| line(None, words));
                if let Some(words) = housekeeping {
                    let name = if words.claimed { "claimed" } else { "model" };
                    let by = written_by(&words.written_by);
                    let by = Some(by.as_str()).filter(|_| !words.written_by.is_empty());
                    let text = by.into_iter().chain(words.texts()).find(|text| !text.is_empty()).unwrap_or_default();
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
        if let Some(task) = turn.begins_task {
            lines.push(style.paint(Paint::Dim, &clip(&format!("— task {task}, as the local model says"), style.width)));
        }
        let last = self.turns.last().map_or(0, |turn| turn.turn_id);
        let digits = last.max(self.turn_count as u32).max(1).to_string().len();
        let number = format!("{:>digits$}", turn.number);
        let room = style.width.saturating_sub(digits + 2);
        let left = if turn.live { "" } else { " (left)" };
        let header = if self.current.is_some() {
            let outcome = turn.outcomes.iter().map(|outcome| outcome.words()).next().unwrap_or_default();
            let time = turn.time.map(times_of_day(style)).unwrap_or_default();
            format!("{time:<5}  {outcome:<OUTCOME$}  {}{left}", turn.subject)
        } else {
            format!("{}{left}", turn.header.text)
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

/// Returns the contents that a summary is made from: the originals, so that a summary of a shortened session equals that of before.
pub fn contents(env: &Env, workspace: &Workspace<'_>) -> Result<Contents, CommandError> {
    let reading = &workspace.reading;
    Ok(contents_of(reading, &originals(env, workspace, &needed(reading))?))
}

/// Returns the originals of blocks, without credentials, and as a terminal shows them. A block whose original is unknown has its current
/// content.
pub fn originals(env: &Env, workspace: &Workspace<'_>, numbers: &[BlockNumber]) -> Result<Sources, CommandError> {
    let reading = &workspace.reading;
    let clean = |text: &str| printable(&reading.known.mask(text)).into_owned();
    let source = |block: &Block, content: &str, readable: &str| Source {
        target: clean(block.target()),
        // Where a sequence ends a credential, its characters are found only before the sequence is left out.
        text: if block.role == Role::ToolUse { clean(content) } else { clean(&shown(&mask(&reading.known.mask(readable)))) },
        words: match block.kind {
            BlockKind::Text if !block.words.is_empty() => vec![clean(&block.said_in(content))],
            _ => block.words_in(content).map(clean).collect(),
        },
    };
    let current = |numbers: &[BlockNumber]| -> Result<Vec<(BlockNumber, Source)>, CommandError> {
        let contents = numbers.par_iter().zip(workspace.contents(numbers)?);
        Ok(contents
            .filter_map(|(number, content)| Some((*number, source(reading.block(*number)?, &content.sent, &content.readable))))
            .collect())
    };
    if workspace.history.operations.is_empty() {
        return Ok(current(numbers)?.into_iter().collect());
    }
    let store = env.existing_store()?;
    let draft = workspace.draft(store.as_ref(), env.style.now.as_millisecond())?;
    let mut sources = Sources::default();
    for number in numbers {
        match draft.original(*number) {
            Ok(original) => drop(sources.insert(*number, source(&original.block, &original.content, &original.readable))),
            Err(PlanError::NoOriginal(_)) => sources.extend(current(&[*number])?),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(sources)
}
