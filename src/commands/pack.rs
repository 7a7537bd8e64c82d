//! `aperture pack`: prints what a session holds, in a budget of tokens.

use crate::app::{CommandError, Env, one_of};
use crate::commands::search;
use crate::commands::sidecar::polish;
use crate::commands::summary::{contents, originals};
use crate::engine::pack::{Branches, LeftOut, OtherSession, Section, Unit, Wanted, in_section, left_out, needed, pack};
use crate::engine::summary::Told;
use crate::engine::{TurnForm, TurnRequestError};
use crate::model::{As, BlockNumber, Estimated, TurnList};
use crate::output::{Paint, Report, Style, count, days, padded, plural, short_id, times_of_day};
use crate::text::cut::{cut, one_line};
use crate::workspace::{self, FindError, Found, Listed, Project};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use std::path::Path;

#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = help_text!("pack"))]
pub struct Arguments {
    /// Session: a path, an id or an id prefix
    #[arg(id = "named", value_name = "SESSION")]
    pub session: Option<String>,
    /// Maximum number of tokens
    #[arg(long, value_name = "TOKENS", value_parser = crate::app::tokens)]
    pub budget: u64,
    /// Words whose lines come first, as in search
    #[arg(long, value_name = "TEXT")]
    pub query: Option<String>,
    /// Turns that come first: 3,7..9
    #[arg(long, value_name = "TURNS")]
    pub turns: Option<TurnList>,
    /// Form of these turns [default: mixed: summaries, then full texts]
    #[arg(id = "as", long = "as", value_name = "FORM", requires = "turns")]
    #[arg(value_parser = one_of(TurnForm::ALL.map(TurnForm::name), TurnForm::from_name))]
    #[serde(rename = "as")]
    pub form: Option<TurnForm>,
    /// Include the other sessions of the project: their titles, and summaries of the newest
    #[arg(long)]
    pub across: bool,
    /// Order of lines of equal value
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    #[serde(serialize_with = "super::json::choice")]
    pub format: PackFormat,
    /// Print the parts with their lines and tokens instead of the text
    #[arg(long)]
    pub explain: bool,
}

/// Other sessions of a project, those with a summary, and characters of a title.
const SESSIONS: usize = 200;
const SUMMARIZED: usize = 5;
const TITLE_CHARACTERS: usize = 80;

/// Prints the pack.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    env.print(&report(env, arguments)?)
}

/// Errors: the budget is too small, the query has no words, or the session cannot be read.
pub fn report(env: &Env, arguments: &Arguments) -> Result<PackReport, CommandError> {
    let query = arguments.query.as_deref().map(search::parse).transpose()?;
    let found = env.find(arguments.session.as_deref())?;
    let clock = times_of_day(&env.style);
    let sessions = if arguments.across { others(env, &found, &days(&env.style))? } else { Vec::new() };
    let mut workspace = env.read(found)?;
    polish(env, &mut workspace)?;
    let reading = &workspace.reading;
    let turns = arguments.turns.clone().unwrap_or_default();
    let existing: Vec<u32> = reading.turns.iter().map(|turn| turn.number).collect();
    let missing = turns.without(&existing);
    if !missing.is_empty() {
        return Err(TurnRequestError::Missing { turns: missing, existing: existing.into_iter().collect() }.into());
    }
    let wanted = Wanted { query, turns, form: arguments.form.unwrap_or_default(), sessions, seed: arguments.seed };
    let sources = originals(env, &workspace, &needed(reading, &wanted))?;
    let packed = pack(reading, &sources, &wanted, arguments.budget, &clock).map_err(CommandError::refused)?;
    let of_section = |section: Section| {
        let units = in_section(&packed.units, section);
        let left: Vec<Unit> = packed.left_out.iter().filter(|unit| unit.section == section).cloned().collect();
        PackedSection {
            section,
            tokens: units.iter().fold(0.0, |sum, (unit, _)| sum + unit.tokens),
            units: units.into_iter().map(|(unit, _)| PackedUnit::new(unit)).collect(),
            left_out: left_out(&left).pop(),
        }
    };
    let sections = Section::ALL.map(of_section).into_iter();
    Ok(PackReport {
        session: reading.session.id.clone(),
        model: reading.model.clone(),
        query: arguments.query.clone(),
        budget: arguments.budget,
        tokens: packed.tokens as f64,
        sections: sections.filter(|section| !section.units.is_empty() || section.left_out.is_some()).collect(),
        text: packed.text,
        branches: packed.branches,
        format: arguments.format,
        explains: arguments.explain,
    })
}

fn others(env: &Env, found: &Found, day: &dyn Fn(i64) -> String) -> Result<Vec<OtherSession>, CommandError> {
    let project = Project::of_session(env.disk, found);
    let mut skip = |path: &Path, error| env.note_skipped(path, &error);
    let listed = workspace::list(env.disk, &env.totals(), &env.places, Some(&project), false, &mut skip);
    let listed: Vec<Listed> = match listed {
        Err(FindError::NoSessions(_)) => Vec::new(),
        listed => listed?.into_iter().flatten().collect(),
    };
    let is_other = |listed: &Listed| !listed.found.location.subagent && listed.found.path != found.path;
    let mut listed: Vec<Listed> = listed.into_iter().filter(is_other).collect();
    listed.sort_by(|a, b| b.last_written().cmp(&a.last_written()).then_with(|| a.found.path.cmp(&b.found.path)));
    listed.truncate(SESSIONS);
    workspace::read_titles(env.disk, &env.totals(), &mut listed.iter_mut().collect::<Vec<_>>());
    let mut others = Vec::new();
    for (at, listed) in listed.into_iter().enumerate() {
        let (totals, id) = (&listed.totals, short_id(&listed.found.location.id));
        let title = one_line(&totals.title);
        let turns = plural(u64::from(totals.turns), "turn");
        let header = format!("{id} {} {} · {turns}", day(listed.last_written()), cut(&title, TITLE_CHARACTERS));
        let summary = match () {
            () if at >= SUMMARIZED => String::new(),
            () => match env.read(listed.found) {
                Ok(workspace) => Told::new(&workspace.reading, &contents(env, &workspace)?).session().summary.text,
                Err(_) => String::new(),
            },
        };
        others.push(OtherSession { header, summary });
    }
    Ok(others)
}

/// The output formats of a pack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum PackFormat {
    /// The text for a model.
    #[default]
    Text,
    /// JSON, as with --json.
    Json,
    /// A JSON array of messages for an API: system prompt, context, user input.
    Messages,
}

/// A unit of a pack: a line, or a line under its title.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PackedUnit {
    /// Source block; null for a turn.
    pub block: Option<BlockNumber>,
    /// Line or number before the first unit of a block; null if there is none.
    pub title: Option<String>,
    pub text: String,
}

impl PackedUnit {
    pub(super) fn new(unit: &Unit) -> PackedUnit {
        let title = unit.title.trim().trim_end_matches(':');
        let title = (!title.is_empty()).then(|| title.to_owned());
        PackedUnit { block: unit.block, title, text: unit.text.clone() }
    }
}

/// A part of a pack.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PackedSection {
    pub section: Section,
    /// Cost of the units.
    #[serde(with = "As::<Estimated>")]
    pub tokens: f64,
    /// Units, in the order of the text.
    pub units: Vec<PackedUnit>,
    /// Units that are left out; null if all are in.
    pub left_out: Option<LeftOut>,
}

/// The content of a session within a budget.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PackReport {
    pub session: String,
    /// Model whose tokens are counted.
    pub model: String,
    /// Query; null if there is none.
    pub query: Option<String>,
    /// Maximum number of tokens.
    #[schemars(extend("unit" = "tokens"))]
    pub budget: u64,
    #[serde(with = "As::<Estimated>")]
    pub tokens: f64,
    /// Sections, in the order of the text.
    pub sections: Vec<PackedSection>,
    /// Text for a model.
    pub text: String,
    /// The same text by its purpose.
    pub branches: Branches,
    #[serde(skip)]
    pub format: PackFormat,
    #[serde(skip)]
    pub explains: bool,
}

/// Columns of the names of sections.
const NAMES: usize = 10;

impl Report for PackReport {
    const SCHEMA: &str = "aperture.pack/1";

    fn text(&self, style: &Style) -> String {
        match self.format {
            PackFormat::Json => self.json(),
            PackFormat::Messages => self.messages(),
            PackFormat::Text if self.explains => self.explanation(style),
            PackFormat::Text => self.text.clone(),
        }
    }
}

impl PackReport {
    /// Returns the branches as messages; empty ones are left out.
    fn messages(&self) -> String {
        let Branches { system_prompt, context_prompt, user_input } = &self.branches;
        let messages = [("system", system_prompt), ("user", context_prompt), ("user", user_input)];
        let messages = messages.map(|(role, content)| (role, content.trim()));
        let filled = messages.iter().filter(|(_, content)| !content.is_empty());
        let list: Vec<Value> = filled.map(|(role, content)| json!({"role": role, "content": content})).collect();
        format!("{:#}\n", Value::from(list))
    }

    fn explanation(&self, style: &Style) -> String {
        let mut text = style.paint(Paint::Heading, &format!("~{} of {} tokens\n", self.tokens as u64, count(self.budget)));
        for section in &self.sections {
            let left = section.left_out.map(|left| format!(", {} left out", left.lines)).unwrap_or_default();
            let lines = plural(section.units.len() as u64, "unit");
            let name = padded(section.section.name(), NAMES);
            text.push_str(&format!("{name}  ~{:>5.0} tokens  {lines}{left}\n", section.tokens));
        }
        text
    }
}
