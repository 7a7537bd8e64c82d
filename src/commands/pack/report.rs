use crate::engine::pack::{Branches, LeftOut, Section, Unit};
use crate::model::{As, BlockNumber, Estimated};
use crate::output::{Paint, Report, Style, count, padded, plural};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

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
    /// Text.
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
    /// Section.
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
    /// Session id.
    pub session: String,
    /// Model whose tokens are counted.
    pub model: String,
    /// Query; null if there is none.
    pub query: Option<String>,
    /// Maximum number of tokens.
    #[schemars(extend("unit" = "tokens"))]
    pub budget: u64,
    /// Cost of the text.
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
