use super::{Paint, Report, Style, age, clip, plural, tokens, unit};
use crate::engine::{Analysis, label, lifecycle, stale_reason};
use crate::model::{Block, BlockKind, BlockNumber, Image, Level, Outdated, Pin, Role, State, TokenCount, Zone};
use comfy_table::{CellAlignment, Table, presets};

/// A reason why a block no longer says how things are.
#[derive(Clone, Copy, Debug)]
pub struct OutdatedReason {
    /// The reason.
    pub reason: Outdated,
    /// The block that says it now.
    pub by: BlockNumber,
}

/// A block with everything that is known of it but its content.
#[derive(Clone, Debug)]
pub struct BlockRow {
    /// Its number, in file order from 1.
    pub number: BlockNumber,
    /// Who speaks.
    pub role: Role,
    /// What it is made of.
    pub kind: BlockKind,
    /// The tool.
    pub tool: Option<String>,
    /// The path, command or question that the tool was given, or the kind of an attachment.
    pub target: String,
    /// What it is, in a few words.
    pub label: String,
    /// What it costs while it is in the window.
    pub tokens: TokenCount,
    /// Bytes of its content.
    pub bytes: u64,
    /// When it was written, in milliseconds since 1970, UTC.
    pub timestamp: Option<i64>,
    /// The turn that it belongs to.
    pub turn: u32,
    /// The response of the model that it belongs to or comes before.
    pub step: u32,
    /// Turns since it was written.
    pub age_turns: u32,
    /// Where it stands.
    pub zone: Zone,
    /// How well models use what stands there, from 0 to 1.
    pub relevance: f32,
    /// How much of it is left.
    pub level: Level,
    /// How hot it is, from 0 to 1.
    pub heat: f32,
    /// Later blocks of the agent that come back to it.
    pub references: u32,
    /// The turn of the last of them.
    pub last_referenced_turn: Option<u32>,
    /// Turns since it was written or last referenced.
    pub stale_turns: u32,
    /// Responses of the model since then.
    pub stale_steps: u32,
    /// Where in its life it is.
    pub state: State,
    /// Why it is stale.
    pub stale_reason: Option<String>,
    /// Why it no longer says how things are.
    pub outdated: Option<Outdated>,
    /// The block that says it now.
    pub outdated_by: Option<BlockNumber>,
    /// Every reason why it no longer says how things are, the most telling first.
    pub outdated_reasons: Vec<OutdatedReason>,
    /// Turns without a reference until it goes stale, about: 0 when it is, none when it never does.
    pub turns_left: Option<u32>,
    /// The rule of the lifecycle that made its state.
    pub state_rule: &'static str,
    /// Where it is pinned.
    pub pin: Option<Pin>,
    /// Whether the user selected it.
    pub focused: bool,
    /// Whether it is a tool result that reports an error.
    pub error: bool,
    /// Images in it.
    pub images: Vec<Image>,
    /// The file that holds the whole of it, where this is a preview.
    pub spilled_to: Option<String>,
    /// Its topic.
    pub topic: String,
    /// Its most telling words.
    pub keywords: Vec<String>,
    /// Its first words.
    pub preview: String,
    /// The row that holds it, from 0 in file order.
    pub row: u32,
    /// Its place in that row.
    pub index: u32,
}

impl BlockRow {
    /// The block as it stands in a reading.
    pub fn new(reading: &Analysis, block: &Block) -> BlockRow {
        BlockRow {
            number: block.number,
            role: block.role,
            kind: block.kind,
            tool: block.tool.as_ref().map(|tool| tool.name.to_string()),
            target: block.target().to_owned(),
            label: label(block),
            tokens: block.tokens,
            bytes: block.bytes,
            timestamp: block.timestamp,
            turn: block.position.turn,
            step: block.position.step,
            age_turns: (reading.turns.len() as u32).saturating_sub(block.position.turn),
            zone: block.position.zone,
            relevance: block.position.relevance,
            level: block.level,
            heat: block.usefulness.heat,
            references: block.usefulness.references,
            last_referenced_turn: block.usefulness.last_turn,
            stale_turns: block.usefulness.stale_turns,
            stale_steps: block.usefulness.stale_steps,
            state: block.state,
            stale_reason: stale_reason(block),
            outdated: block.usefulness.outdated.map(|(reason, _)| reason),
            outdated_by: block.usefulness.outdated.map(|(_, by)| by),
            outdated_reasons: block
                .usefulness
                .reasons
                .iter()
                .map(|(reason, by)| OutdatedReason { reason: *reason, by: *by })
                .collect(),
            turns_left: block.usefulness.turns_left,
            state_rule: lifecycle(reading, block).last().map_or("arrived", |rule| rule.name),
            pin: block.pin,
            focused: block.focused,
            error: block.error,
            images: block.images.clone(),
            spilled_to: block.spilled_to.as_ref().map(|path| path.to_string()),
            topic: reading.topic(block).to_owned(),
            keywords: block.keywords.iter().map(str::to_owned).collect(),
            preview: block.preview.to_string(),
            row: block.row,
            index: block.index,
        }
    }
}

/// By what blocks are sorted.
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

/// The table of blocks.
#[derive(Clone, Debug)]
pub struct BlocksReport {
    /// The blocks, in the order asked for.
    pub blocks: Vec<BlockRow>,
    /// What they cost together.
    pub tokens: TokenCount,
    /// Whether they are shown under their turns.
    pub tree: bool,
    /// The prompts of the turns, by number from 1.
    pub prompts: Vec<String>,
}

impl BlocksReport {
    /// Sorts the blocks; equal ones stay in file order.
    pub fn sort(&mut self, key: SortKey, reverse: bool) {
        match key {
            SortKey::Number => self.blocks.sort_by_key(|block| block.number),
            SortKey::Tokens => self.blocks.sort_by(|a, b| b.tokens.value.total_cmp(&a.tokens.value)),
            SortKey::Age => self.blocks.sort_by_key(|block| (block.timestamp.unwrap_or(i64::MAX), block.number)),
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
            return "no block fits\n".to_owned();
        }
        let mut text = String::new();
        if self.tree {
            let mut rest = &self.blocks[..];
            while let Some(first) = rest.first() {
                let turn = first.turn;
                let length = rest.iter().take_while(|block| block.turn == turn).count();
                let (blocks, later) = rest.split_at(length);
                let cost: TokenCount = blocks.iter().map(|block| block.tokens).sum();
                let prompt = (turn as usize).checked_sub(1).and_then(|place| self.prompts.get(place)).map_or("", String::as_str);
                let title = if turn == 0 { "before the first prompt".to_owned() } else { format!("turn {turn}  \"{prompt}\"") };
                let heading =
                    format!("{}  {}, {}", clip(&title, style.width.saturating_sub(26)), plural(length, "block"), tokens(cost));
                text.push_str(&style.paint(Paint::Heading, &heading));
                text.push('\n');
                text.push_str(&table(style, blocks, false));
                rest = later;
            }
        } else {
            text.push_str(&table(style, &self.blocks, true));
        }
        let total = format!("{}, {}\n", plural(self.blocks.len(), "block"), unit(&tokens(self.tokens), "token"));
        text.push_str(&style.paint(Paint::Dim, &total));
        text
    }
}

/// Columns beside the label, by how wide the terminal is.
fn table(style: &Style, blocks: &[BlockRow], heading: bool) -> String {
    let wide = style.width >= 110;
    let narrow = style.width < 70;
    let mut names = vec!["#", "ROLE", "WHAT", "TOKENS"];
    if !narrow {
        names.extend(["TURN", "ZONE", "STATE", "HEAT", "REFS"]);
    }
    if wide {
        names.extend(["LEFT", "AGE", "LEVEL", "TOPIC"]);
    }
    let fixed = if narrow {
        21
    } else if wide {
        99
    } else {
        54
    };
    let room = style.width.saturating_sub(fixed).max(10);
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    if heading {
        table.set_header(names.iter().map(|name| style.paint(Paint::Dim, name)));
    }
    for block in blocks {
        let state = match block.state {
            State::Stale => style.paint(Paint::Warning, block.state.name()),
            State::Evicted | State::Archived => style.paint(Paint::Dim, block.state.name()),
            _ => block.state.name().to_owned(),
        };
        let mark = if block.error { "!" } else { "" };
        let mut cells = vec![
            style.paint(Paint::Name, &block.number.to_string()),
            short_role(block.role).to_owned(),
            clip(&format!("{mark}{}", block.label), room),
            tokens(block.tokens),
        ];
        if !narrow {
            cells.extend([
                block.turn.to_string(),
                block.zone.name().to_owned(),
                state,
                style.paint(Paint::Dim, &format!("{:.2}", block.heat)),
                block.references.to_string(),
            ]);
        }
        if wide {
            cells.push(block.turns_left.map(|turns| turns.to_string()).unwrap_or_default());
            cells.push(block.timestamp.map(|time| age(style.now, time)).unwrap_or_default());
            cells.push(block.level.name().to_owned());
            cells.push(clip(&block.topic, 20));
        }
        table.add_row(cells);
    }
    for (place, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 1));
        if matches!(place, 0 | 3 | 4 | 7 | 8 | 9) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

/// Who speaks, in a word that fits into a column.
pub(super) fn short_role(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assist",
        Role::Thinking => "think",
        Role::ToolUse => "use",
        Role::ToolResult => "result",
    }
}
