//! `aperture blocks`: prints the table of blocks.

use crate::app::{CommandError, Env};
use crate::engine::{Analysis, label, lifecycle, stale_reason};
use crate::model::{
    As, Block, BlockKind, BlockNumber, JsonOf, Level, Media, Outdated, Pin, Role, State, Time, TokenCount, Zone, json_forms,
};
use crate::output::table::{Column, Table, left, rest, right};
use crate::output::{Paint, Report, Style, age, clip, plural, tokens, unit};
use crate::provider::without_insertions;
use schemars::JsonSchema;
use serde::Serialize;

#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = help_text!("blocks"))]
pub struct Arguments {
    /// Block selectors; matches are combined
    #[arg(default_value = "window")]
    #[serde(serialize_with = "super::json::union")]
    pub selector: Vec<String>,
    /// Sort key
    #[arg(long, value_name = "KEY", default_value = "number")]
    #[serde(serialize_with = "super::json::choice")]
    pub sort: SortKey,
    /// Reverse the order
    #[arg(long)]
    pub reverse: bool,
    /// Show the blocks under their turns
    #[arg(long, conflicts_with_all = ["sort", "reverse"])]
    pub tree: bool,
}

impl Arguments {
    /// Returns the request that lists the blocks that a selector matches.
    pub fn new(selector: &str) -> Arguments {
        Arguments { selector: vec![selector.to_owned()], sort: SortKey::Number, reverse: false, tree: false }
    }
}

/// Lists the blocks.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    env.print(&report(env, arguments)?)
}

/// Errors: the selector is invalid or names something that does not exist; the session cannot be read.
pub fn report(env: &Env, arguments: &Arguments) -> Result<BlocksReport, CommandError> {
    let selector = env.selector(&arguments.selector)?;
    let workspace = env.open(None)?;
    let reading = &workspace.reading;
    let blocks: Vec<BlockRow> = selector
        .select(reading)?
        .into_iter()
        .filter_map(|number| reading.block(number))
        .map(|block| BlockRow::json_of(&(reading, block)))
        .collect();
    let empty = match &arguments.selector[..] {
        [word] if word == "pinned" => "no pinned blocks",
        [word] if word == "focused" => "no focused blocks",
        _ => "no matching blocks",
    };
    let mut report = BlocksReport {
        empty,
        tokens: blocks.iter().map(|block| block.tokens).sum(),
        blocks,
        tree: arguments.tree,
        prompts: reading.turns.iter().map(|turn| without_insertions(&turn.prompt).to_owned()).collect(),
    };
    report.sort(arguments.sort, arguments.reverse);
    Ok(report)
}

json_forms! {
    /// A block with everything that is known about it except its content.
    #[schemars(rename = "Block")]
    BlockRow of (reading, block): (&Analysis, &Block) {
        /// Block number, from 1 in file order.
        number: BlockNumber = block.number,
        role: Role = block.role,
        kind: BlockKind = block.kind,
        tool: Option<String> = block.tool.as_ref().map(|tool| tool.name.to_string()),
        /// Path, command or question given to the tool, or the kind of an attachment.
        target: String = block.target().to_owned(),
        /// Short description.
        label: String = label(block),
        /// Cost of the block while it is in the window.
        tokens: TokenCount = block.tokens,
        /// Size of the content.
        bytes: u64 = block.bytes,
        /// Time at which the block was written.
        #[serde(with = "As::<Option<Time>>")]
        time: Option<i64> = block.timestamp,
        /// Turn of the block; 0 before the first prompt.
        turn: u32 = block.position.turn,
        /// Response of the model that the block belongs to or precedes.
        step: u32 = block.position.step,
        age_turns: u32 = reading.last_turn().saturating_sub(block.position.turn),
        /// Position in the window.
        zone: Zone = block.position.zone,
        /// Estimate of how well models use content at this position, from 0 to 1.
        relevance: f32 = block.position.relevance,
        level: Level = block.level,
        /// Heat, from 0 to 1: how much the block is in use.
        heat: f32 = block.usefulness.heat,
        /// Number of later blocks of the agent that refer to the block.
        references: u32 = block.usefulness.references,
        last_referenced_turn: Option<u32> = block.usefulness.last_turn,
        /// Turns since the block was written or last referenced.
        stale_turns: u32 = block.usefulness.stale_turns,
        /// Responses of the model since the block was written or last referenced.
        stale_steps: u32 = block.usefulness.stale_steps,
        state: State = block.state,
        /// Reason why the block is stale.
        stale_reason: Option<String> = stale_reason(block),
        /// Strongest reason why the block is outdated.
        outdated: Option<Outdated> = block.usefulness.outdated.map(|(reason, _)| reason),
        /// Block that has the current content instead.
        outdated_by: Option<BlockNumber> = block.usefulness.outdated.map(|(_, by)| by),
        /// All reasons why the block is outdated, the strongest first.
        outdated_reasons: Vec<OutdatedReason> = JsonOf::json_of(&block.usefulness.reasons),
        /// Estimated turns without a reference until the block goes stale: 0 if it is stale, null if it never will be.
        turns_left: Option<u32> = block.usefulness.turns_left,
        /// Rule of the lifecycle that led to the state.
        state_rule: &'static str = lifecycle(reading, block).last().map_or("arrived", |rule| rule.name),
        /// Place where the block is pinned.
        pin: Option<Pin> = block.pin,
        /// True if the user focused the block.
        focused: bool = block.focused,
        /// True if a person wrote all or a part of it.
        by_person: bool = !block.words.is_empty(),
        /// True if the block is a tool result that reports an error.
        error: bool = block.error,
        #[serde(flatten, with = "As::<BlockMedia>")]
        media: Media = block.media.clone(),
        /// File with the whole content, if the block is a preview.
        spilled_to: Option<String> = block.spilled_to.as_ref().map(|path| path.to_string()),
        topic: String = reading.topic(block).to_owned(),
        keywords: Vec<String> = block.keywords.iter().map(str::to_owned).collect(),
        /// Beginning of the content.
        preview: String = block.preview.to_string(),
        /// Row of the session file, from 0.
        row: u32 = block.row,
        /// Index of the block in its row, from 0.
        index: u32 = block.index,
    }

    /// A reason why a block is outdated.
    OutdatedReason of outdated: (Outdated, BlockNumber) {
        reason: Outdated = outdated.0,
        /// Block that has the current content.
        by: BlockNumber = outdated.1,
    }

    /// The contents of a block that are not text.
    BlockMedia of media: Media {
        images: Vec<Image> = JsonOf::json_of(&media.images),
        /// Documents in the block, and other data that is not text.
        documents: Vec<Document> = JsonOf::json_of(&media.documents),
    }

    /// The size of an image; 0 by 0 if its header does not have it.
    Image of image: crate::model::Image {
        width: u32 ["pixels"] = image.width,
        height: u32 ["pixels"] = image.height,
        /// Size of its base64 data; 0 if it is not in the session.
        bytes: u64 = image.bytes,
    }

    /// A document, or other data that is not text.
    Document of document: crate::model::Document {
        /// Title or file name; empty if it is not known.
        name: String = document.name.to_string(),
        /// Media type; empty if it is not known.
        media_type: String = document.media_type.to_string(),
        /// Pages; 0 if they cannot be counted.
        pages: u32 ["pages"] = document.pages,
        /// Size of the file; 0 if it is not in the session.
        bytes: u64 = document.bytes,
    }
}

/// Sort keys of the block table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum SortKey {
    /// File order.
    Number,
    /// The most expensive first.
    Tokens,
    /// The oldest first.
    Age,
    /// The hottest first.
    Heat,
    /// The most referenced first.
    References,
    /// The longest unused first.
    Stale,
}

/// A list of blocks.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BlocksReport {
    /// Blocks, in the requested order.
    pub blocks: Vec<BlockRow>,
    /// Total cost of the blocks.
    pub tokens: TokenCount,
    /// True if the blocks are grouped by turn.
    #[serde(skip)]
    pub tree: bool,
    /// The text that opened each turn, from turn 1: a prompt, a command or a notice of the client.
    pub prompts: Vec<String>,
    /// The text if there are no blocks.
    #[serde(skip)]
    pub empty: &'static str,
}

impl BlocksReport {
    /// Sorts the blocks by a key. Blocks with equal keys remain in file order.
    pub fn sort(&mut self, key: SortKey, reverse: bool) {
        match key {
            SortKey::Number => self.blocks.sort_by_key(|block| block.number),
            SortKey::Tokens => self.blocks.sort_by(|a, b| b.tokens.value.total_cmp(&a.tokens.value)),
            SortKey::Age => self.blocks.sort_by_key(|block| (block.time.unwrap_or(i64::MAX), block.number)),
            SortKey::Heat => self.blocks.sort_by(|a, b| b.heat.total_cmp(&a.heat)),
            SortKey::References => self.blocks.sort_by_key(|block| std::cmp::Reverse(block.references)),
            SortKey::Stale => self.blocks.sort_by_key(|block| std::cmp::Reverse((block.stale_turns, block.stale_steps))),
        }
        if reverse {
            self.blocks.reverse();
        }
    }
}

impl Report for BlocksReport {
    const SCHEMA: &str = "aperture.blocks/2";

    fn text(&self, style: &Style) -> String {
        if self.blocks.is_empty() {
            return format!("{}\n", self.empty);
        }
        let table = Table::new(style, &COLUMNS, self.blocks.iter().map(|block| cells(style, block)).collect());
        let mut text = String::new();
        if self.tree {
            let mut rest = &self.blocks[..];
            let mut rows = 0;
            while let Some(first) = rest.first() {
                let turn = first.turn;
                let length = rest.iter().take_while(|block| block.turn == turn).count();
                let (blocks, later) = rest.split_at(length);
                let cost: TokenCount = blocks.iter().map(|block| block.tokens).sum();
                let prompt = (turn as usize).checked_sub(1).and_then(|place| self.prompts.get(place)).map_or("", String::as_str);
                let title = if turn == 0 { "before the first prompt".to_owned() } else { format!("turn {turn}  \"{prompt}\"") };
                let heading =
                    format!("{}  {}, {}", clip(&title, style.width.saturating_sub(26)), plural(length, "block"), tokens(cost));
                text.push_str(&style.line(Paint::Heading, &heading));
                text.extend((rows..rows + length).map(|row| table.row(row)));
                rows += length;
                rest = later;
            }
        } else {
            text.push_str(&table.text());
        }
        let total = format!("{}, {}\n", plural(self.blocks.len(), "block"), unit(&tokens(self.tokens), "token"));
        text.push_str(&style.paint(Paint::Dim, &total));
        text
    }
}

/// Widths that the description keeps when columns are added: first the most useful ones, then those for wide terminals.
const WHAT: usize = 26;
const WHAT_WIDE: usize = 40;

const COLUMNS: [Column; 12] = [
    right("#"),
    left("ROLE"),
    rest("WHAT"),
    right("TOKENS"),
    right("TURN").optional(1, WHAT),
    left("POSITION").optional(3, WHAT),
    left("STATE").optional(0, WHAT),
    right("USED").optional(2, WHAT),
    right("LEFT").optional(7, WHAT_WIDE),
    left("AGE").optional(5, WHAT_WIDE),
    left("LEVEL").optional(6, WHAT_WIDE),
    left("TOPIC").optional(8, WHAT_WIDE),
];

/// Maximum width of a topic.
const TOPIC: usize = 20;

/// Returns the name of a state for people.
pub fn state_name(state: State) -> &'static str {
    if state == State::Evicted { "not sent" } else { state.name() }
}

fn cells(style: &Style, block: &BlockRow) -> Vec<String> {
    let name = state_name(block.state);
    let state = match block.state {
        State::Stale => style.paint(Paint::Warning, name),
        State::Evicted | State::Archived => style.paint(Paint::Dim, name),
        _ => name.to_owned(),
    };
    let mark = if block.error { "!" } else { "" };
    vec![
        style.paint(Paint::Name, &block.number.to_string()),
        short_role(block.role).to_owned(),
        clip(&format!("{mark}{}", block.label), style.width),
        tokens(block.tokens),
        block.turn.to_string(),
        block.zone.label().to_owned(),
        state,
        block.references.to_string(),
        block.turns_left.map(|turns| turns.to_string()).unwrap_or_default(),
        block.time.map(|time| age(style.now, time)).unwrap_or_default(),
        block.level.name().to_owned(),
        clip(&block.topic, TOPIC),
    ]
}

/// Returns a short word for a role, for a narrow column.
pub fn short_role(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assist",
        Role::Thinking => "think",
        Role::ToolUse => "use",
        Role::ToolResult => "result",
    }
}
