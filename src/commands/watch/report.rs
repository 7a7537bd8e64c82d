use crate::commands::blocks::short_role;
use crate::commands::status::gauge;
use crate::engine::{
    ActivityEvent, BlockUpdate, ExecutedCommand, OpenedSession, OtherSession, ProposedCommand, SelectionChange, Suggestion,
    Update,
};
use crate::model::{Actor, As, BlockNumber, Role, Time, TokenCount};
use crate::output::pending::{PendingChanges, difference};
use crate::output::{
    Paint, Style, advice, ago, amount, clip, clock_time, json, numbered, padded, percent, plural, printable, short_id, tokens,
};
use schemars::JsonSchema;
use serde::Serialize;

/// Columns of the labels at the left of the screen and of the lines.
const MARGIN: usize = 10;
/// Columns of a block on one line, in addition to its name and its note.
const COLUMNS: usize = 24;
/// Minimum and maximum number of columns for the name of a block.
const NAME: (usize, usize) = (12, 60);
/// Maximum number of blocks that one event lists individually.
const LISTED: usize = 12;

/// An event of a session that is watched.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct WatchEvent<'a> {
    /// Time at which the event was seen.
    #[serde(with = "As::<Time>")]
    pub time: i64,
    /// Id of the watched session; empty if there is none yet.
    pub session: &'a str,
    #[serde(flatten)]
    pub happening: &'a ActivityEvent,
}

impl WatchEvent<'_> {
    /// The name of the JSON form.
    pub const SCHEMA: &'static str = "aperture.watch/2";

    /// Returns one JSON object on one line, with a line feed at its end.
    pub fn json(&self) -> String {
        json::line(Self::SCHEMA, self)
    }

    /// Returns lines for people, each with the time and a label. Empty if the event is only reported as JSON.
    pub fn text(&self, style: &Style) -> String {
        let time = clock_time(style, self.time);
        let room = style.width.saturating_sub(time.len() + 1 + MARGIN);
        let line = |(word, paint, text): (&str, Paint, String)| {
            format!("{} {}{}\n", style.paint(Paint::Dim, &time), style.paint(paint, &padded(word, MARGIN)), clip(&text, room))
        };
        event_lines(self.happening, room).into_iter().map(line).collect()
    }
}

/// A line of an event: its label, the colour of the label, and the text.
type EventLine = (&'static str, Paint, String);

fn event_lines(happening: &ActivityEvent, room: usize) -> Vec<EventLine> {
    match happening {
        ActivityEvent::SessionOpened(opened) => vec![("watching", Paint::Heading, about(opened))],
        ActivityEvent::SessionReplaced(opened) => vec![("replaced", Paint::Warning, about(opened))],
        ActivityEvent::SessionUnavailable { reason } => vec![("waiting", Paint::Warning, reason.clone())],
        ActivityEvent::SessionUpdated(other) => vec![("session", Paint::Dim, other_session(other, room))],
        ActivityEvent::TurnStarted { turn, prompt } => vec![("turn", Paint::Heading, format!("{turn}: \"{prompt}\""))],
        ActivityEvent::BlocksUpdated { blocks, removed } => updates(blocks, *removed, room),
        ActivityEvent::TokenCountChanged(change) => {
            let (held, capacity) = (tokens(change.tokens), amount(change.capacity_tokens));
            let figures = format!("{held} of {capacity} tokens, {:.0} %", change.percent);
            vec![("window", Paint::Name, format!("{figures} ({})", difference(change.tokens.value - change.tokens_before.value)))]
        }
        ActivityEvent::SelectionChanged(change) => selection(change),
        ActivityEvent::CommandExecuted(executed) => vec![("command", Paint::Good, command(executed))],
        ActivityEvent::SuggestionsChanged { suggestions } => {
            let line = |suggestion| ("next", Paint::Dim, suggested(suggestion, room));
            suggestions.iter().take(1).map(line).collect()
        }
        ActivityEvent::CommandsProposed { proposals } => {
            let line = |proposal: &ProposedCommand| {
                ("asks", Paint::Warning, format!("{} (aperture approve {})", proposal.command, proposal.number))
            };
            proposals.iter().map(line).collect()
        }
        ActivityEvent::ContextChangedByModel { summary } => vec![("model", Paint::Good, summary.clone())],
        ActivityEvent::MemoriesLearned { count } => {
            vec![("memory", Paint::Good, format!("learned {}", plural(*count, "memory")))]
        }
        ActivityEvent::PolicyRefused { reason } => vec![("policy", Paint::Warning, reason.clone())],
    }
}

fn about(opened: &OpenedSession) -> String {
    let figures = format!("{} of {} tokens, {:.0} %", tokens(opened.tokens), amount(opened.capacity_tokens), opened.percent);
    format!("{figures} · {} · {}", plural(opened.turns, "turn"), opened.title)
}

/// Returns the updates that are relevant for people: new blocks and changed blocks, grouped by kind of change.
fn updates(blocks: &[BlockUpdate], removed: usize, room: usize) -> Vec<EventLine> {
    let words = [
        (Update::Added, "came in", Paint::Added),
        (Update::Shortened, "shortened", Paint::Good),
        (Update::Expanded, "expanded", Paint::Good),
        (Update::Rewritten, "rewritten", Paint::Warning),
        (Update::WentStale, "stale", Paint::Warning),
        (Update::Revived, "in use", Paint::Good),
        (Update::Evicted, "left", Paint::Removed),
        (Update::Returned, "back", Paint::Added),
    ];
    let mut said: Vec<EventLine> = Vec::new();
    for (update, word, paint) in words {
        let meant: Vec<&BlockUpdate> = blocks.iter().filter(|block| block.update == update).collect();
        // Blocks leave and enter the window by the hundreds, so only their number is shown.
        let listed = if matches!(update, Update::Evicted | Update::Returned) { 0 } else { LISTED };
        let skipped = meant.len().saturating_sub(listed);
        if skipped > 0 && listed == 0 {
            said.push((word, paint, plural(skipped, "block")));
            continue;
        }
        if skipped > 0 {
            let sum: TokenCount = meant.iter().take(skipped).map(|block| block.tokens).sum();
            said.push((word, paint, format!("{}, {} tokens, and", plural(skipped, "block"), tokens(sum))));
        }
        // The newest blocks are the most relevant.
        said.extend(meant.into_iter().skip(skipped).map(|block| {
            let note = block.reason.as_deref().filter(|_| update == Update::WentStale).unwrap_or_default();
            (word, paint, row(block.number, block.role, &block.label, block.tokens, note, room))
        }));
    }
    if removed > 0 {
        said.push(("removed", Paint::Removed, format!("{} at the end of the file", plural(removed, "block"))));
    }
    said
}

fn selection(change: &SelectionChange) -> Vec<EventLine> {
    let changes: [(&'static str, &[BlockNumber]); 4] = [
        ("pinned", &change.pinned),
        ("unpinned", &change.unpinned),
        ("focused", &change.focused),
        ("unfocused", &change.unfocused),
    ];
    let changes = changes.into_iter().filter(|(_, blocks)| !blocks.is_empty());
    changes.map(|(word, blocks)| (word, Paint::Name, numbered(blocks, LISTED))).collect()
}

fn command(executed: &ExecutedCommand) -> String {
    let by = if executed.actor == Actor::User { String::new() } else { format!(" by {}", executed.actor.name()) };
    let tokens = executed.tokens_after - executed.tokens_before;
    let tokens = if tokens.abs() < 0.5 { String::new() } else { format!("  {}", difference(tokens)) };
    format!("{}{by}  operation {}{tokens}", executed.command, executed.operation)
}

fn suggested(suggestion: &Suggestion, room: usize) -> String {
    let command = printable(&suggestion.command);
    let effect = advice::short_effect(suggestion, room.saturating_sub(command.chars().count() + 3));
    if effect.is_empty() { command.into_owned() } else { format!("{command}   {effect}") }
}

fn other_session(other: &OtherSession, room: usize) -> String {
    let figures = format!("{}  {:>5} {:>5}", short_id(&other.id), amount(other.tokens), percent(other.percent / 100.0));
    format!("{figures}  {}", clip(&other.title, room.saturating_sub(figures.chars().count() + 2)))
}

/// Formats a block on one line: number, speaker, name, tokens and note.
fn row(number: BlockNumber, role: Role, label: &str, cost: TokenCount, note: &str, room: usize) -> String {
    let free = room.saturating_sub(COLUMNS);
    let name = if note.is_empty() { free } else { free * 2 / 3 }.clamp(NAME.0, NAME.1);
    let label = padded(&clip(label, name), name);
    let text = format!("{:>6} {:<6} {label} {:>6}  {note}", format!("#{number}"), short_role(role), tokens(cost));
    text.trim_end().to_owned()
}

/// A new block.
#[derive(Clone, Debug)]
pub struct Arrived {
    /// Time of its row, in milliseconds since 1970, UTC.
    pub time: Option<i64>,
    pub number: BlockNumber,
    pub role: Role,
    pub label: String,
    pub tokens: TokenCount,
}

/// A block that became stale during the watch.
#[derive(Clone, Debug)]
pub struct WentStale {
    /// Time of detection, in milliseconds since 1970, UTC.
    pub time: i64,
    pub block: BlockUpdate,
}

/// A block that the agent uses again.
#[derive(Clone, Debug)]
pub struct Hot {
    pub block: Arrived,
    /// Number of later agent blocks that refer to it.
    pub references: u32,
}

/// The screen of a watched session, redrawn after each event.
#[derive(Clone, Debug, Default)]
pub struct WatchScreen {
    pub session: String,
    /// The title, or the first prompt.
    pub title: String,
    /// The model of the last response.
    pub model: String,
    pub turns: usize,
    pub steps: u32,
    /// Modification time of the file, in milliseconds since 1970, UTC.
    pub last_written: Option<i64>,
    /// True if a running client has the session open.
    pub open: bool,
    /// Tokens of the window. `None` until the session is read for the first time.
    pub tokens: Option<TokenCount>,
    pub capacity: u64,
    /// Tokens of the window that are free until the client compacts the session.
    pub free: u64,
    /// Usage of the window, in percent.
    pub percent: f64,
    /// Number and tokens of the stale blocks in the window. `None` if there are none.
    pub stale: Option<(usize, TokenCount)>,
    pub pinned: usize,
    pub focused: Vec<BlockNumber>,
    /// The last blocks, the newest first.
    pub arrived: Vec<Arrived>,
    /// Blocks that became stale since the start of the watch, the newest first.
    pub went_stale: Vec<WentStale>,
    pub hot: Vec<Hot>,
    /// Commands executed by aperture, the newest first.
    pub commands: Vec<ExecutedCommand>,
    pub suggestions: Vec<Suggestion>,
    /// Other sessions of the project, the newest first.
    pub others: Vec<OtherSession>,
    /// Changes that the client has not loaded.
    pub pending: Option<PendingChanges>,
    /// The changes by the model in the last turn, as a sentence.
    pub activity: Option<String>,
    pub notices: Vec<String>,
}

/// A section of the screen: its name, its lines, and its maximum number of lines.
type Section = (&'static str, Vec<String>, usize);

impl WatchScreen {
    /// Returns the screen, in at most `height` lines that are not wider than the terminal.
    pub fn text(&self, style: &Style, height: usize) -> String {
        // Text in the last column makes some terminals start a new line.
        let width = style.width.saturating_sub(1);
        let mut lines: Vec<String> = Vec::new();
        if let Some(held) = self.tokens {
            lines.push(style.paint(Paint::Heading, &clip(&self.title, width)));
            lines.push(style.paint(Paint::Dim, &clip(&self.subtitle(style), width)));
            lines.push(String::new());
            let gauge = gauge(style, width.saturating_sub(MARGIN), held, self.capacity, self.percent);
            lines.push(format!("{}{gauge}", padded("window", MARGIN)));
            lines.push(style.paint(Paint::Dim, &clip(&format!("{}{}", " ".repeat(MARGIN), self.figures(held)), width)));
            lines.push(String::new());
        }
        let sections = self.sections(style, width.saturating_sub(MARGIN));
        let room = height.saturating_sub(lines.len() + self.notices.len());
        for ((name, rows, _), most) in sections.iter().zip(shares(&sections, room)) {
            for (place, row) in rows.iter().take(most).enumerate() {
                let name = if place == 0 { name } else { "" };
                lines.push(format!("{}{row}", style.paint(Paint::Heading, &padded(name, MARGIN))));
            }
        }
        lines.extend(self.notices.iter().map(|notice| style.paint(Paint::Warning, &clip(notice, width))));
        lines.truncate(height);
        lines.join("\n") + "\n"
    }

    fn subtitle(&self, style: &Style) -> String {
        let mut facts = vec![short_id(&self.session)];
        if !self.model.is_empty() {
            facts.push(self.model.clone());
        }
        facts.push(format!("{}, {}", plural(self.turns, "turn"), plural(self.steps as usize, "step")));
        facts.extend(self.last_written.map(|moment| format!("written {}", ago(style.now, moment, "just now"))));
        if self.open {
            facts.push("open in a client".to_owned());
        }
        facts.join(" · ")
    }

    fn figures(&self, held: TokenCount) -> String {
        let mut facts = vec![format!("{} free", amount(self.free))];
        facts.extend(self.pending.as_ref().filter(|_| self.open).map(PendingChanges::mark));
        facts.push(match self.stale {
            None => "nothing stale".to_owned(),
            Some((blocks, cost)) => {
                let share = percent(cost.value / held.value.max(1.0));
                format!("{} stale, {} ({share})", plural(blocks, "block"), tokens(cost))
            }
        });
        if self.pinned > 0 {
            facts.push(format!("{} pinned", self.pinned));
        }
        if !self.focused.is_empty() {
            facts.push(format!("focused {}", numbered(&self.focused, 3)));
        }
        facts.join(" · ")
    }

    fn sections(&self, style: &Style, width: usize) -> Vec<Section> {
        let timed = |time: Option<i64>, text: &dyn Fn(usize) -> String| {
            let clock = time.map_or_else(|| " ".repeat(8), |time| clock_time(style, time));
            let text = clip(&text(width.saturating_sub(clock.len())), width.saturating_sub(clock.len()));
            format!("{}{text}", style.paint(Paint::Dim, &clock))
        };
        let block = |block: &Arrived, note: &str, time: Option<i64>| {
            timed(time, &|room| row(block.number, block.role, &block.label, block.tokens, note, room))
        };
        let arrived = self.arrived.iter().map(|arrived| block(arrived, "", arrived.time)).collect();
        let stale = self.went_stale.iter().map(|stale| {
            let reason = stale.block.reason.as_deref().unwrap_or_default();
            timed(Some(stale.time), &|room| {
                row(stale.block.number, stale.block.role, &stale.block.label, stale.block.tokens, reason, room)
            })
        });
        let hot = self.hot.iter().map(|hot| block(&hot.block, &format!("used {}×", hot.references), hot.block.time));
        let commands =
            self.commands.iter().map(|executed| timed(Some(executed.executed_time), &|_| format!("  {}", command(executed))));
        let next =
            self.suggestions.iter().map(|suggestion| style.paint(Paint::Name, &clip(&suggested(suggestion, width), width)));
        let others = self.others.iter().map(|other| clip(&other_session(other, width), width));
        let sections = [
            ("came in", arrived, usize::MAX),
            ("stale", stale.collect(), 3),
            ("most used", hot.collect(), 3),
            ("model", self.activity.iter().map(|activity| clip(activity, width)).collect(), 1),
            ("commands", commands.collect(), 2),
            ("next", next.take(1).collect(), 1),
            ("sessions", others.collect(), 5),
        ];
        sections.into_iter().filter(|(_, rows, _): &Section| !rows.is_empty()).collect()
    }
}

/// Distributes the lines of the screen over the sections: one line each in turn, until there is no space left.
fn shares(sections: &[Section], room: usize) -> Vec<usize> {
    let mut shares = vec![0; sections.len()];
    let mut left = room;
    loop {
        let before = left;
        for (share, (_, rows, most)) in shares.iter_mut().zip(sections) {
            if left > 0 && *share < rows.len().min(*most) {
                *share += 1;
                left -= 1;
            }
        }
        if left == before {
            return shares;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{BlockKind, Level, OperationKind, State, Zone};
    use expect_test::expect_file;
    use unicode_width::UnicodeWidthStr;

    /// The 22nd of November 2026, at midnight.
    const NOW: i64 = 1_795_305_600_000;

    fn style(width: usize) -> Style {
        let now = jiff::Timestamp::from_millisecond(NOW).unwrap();
        Style { color: false, width, now, zone: || jiff::tz::TimeZone::UTC }
    }

    fn update(number: BlockNumber, update: Update) -> BlockUpdate {
        BlockUpdate {
            number,
            update,
            role: Role::ToolResult,
            kind: BlockKind::ToolResult,
            label: "Read a.rs".to_owned(),
            tokens: TokenCount::measured(10),
            zone: Zone::Recency,
            state: State::Fresh,
            state_before: None,
            level: Level::Original,
            reason: None,
        }
    }

    fn screen() -> WatchScreen {
        let arrived = |number: BlockNumber| Arrived {
            time: Some(NOW - i64::from(number) * 1_000),
            number,
            role: Role::ToolResult,
            label: format!("Read src/日本語/a_rather_long_name_{number}.rs"),
            tokens: TokenCount::measured(1_234),
        };
        let label = "Read src/tax.rs".to_owned();
        let (tokens, reason) = (TokenCount::measured(9_800), Some("read again in #12".to_owned()));
        let update = BlockUpdate { label, tokens, reason, ..update(7, Update::WentStale) };
        let executed = ExecutedCommand {
            operation: 4,
            kind: OperationKind::Change,
            command: "compress --stale (watch --apply-policy)".to_owned(),
            actor: Actor::User,
            executed_time: NOW - 60_000,
            blocks: 12,
            tokens_before: 140_000.0,
            tokens_after: 109_000.0,
        };
        let other = OtherSession {
            id: "7777bbbb-1".to_owned(),
            title: "another one".to_owned(),
            tokens: 45_000,
            percent: 22.5,
            modified_time: NOW,
        };
        WatchScreen {
            session: "6666aaaa-1".to_owned(),
            title: "fix the tax\u{1b}[31m rounding".to_owned(),
            model: "claude-opus-4-6".to_owned(),
            turns: 12,
            steps: 87,
            last_written: Some(NOW - 180_000),
            open: true,
            tokens: Some(TokenCount::measured(142_000)),
            capacity: 200_000,
            free: 25_000,
            percent: 71.0,
            stale: Some((12, TokenCount::measured(31_000))),
            pinned: 2,
            focused: vec![3, 4],
            arrived: (1..40).rev().map(arrived).collect(),
            went_stale: vec![WentStale { time: NOW, block: update }],
            hot: vec![Hot { block: arrived(5), references: 4 }],
            commands: vec![executed],
            suggestions: Vec::new(),
            others: vec![other],
            pending: Some(PendingChanges { session: "6666aaaa-1".to_owned(), operations: vec![4], saved_tokens: 9_100.0 }),
            activity: Some("Claude archived 3 blocks and expanded 1".to_owned()),
            notices: vec!["file notifications are not available: aperture checks every second".to_owned()],
        }
    }

    #[test]
    fn a_screen_tells_all_at_a_glance() {
        expect_file!["report/screen.txt"].assert_eq(&screen().text(&style(80), 20));
    }

    #[test]
    fn a_screen_fits_the_terminal() {
        for width in [20, 30, 40, 79, 80, 100, 140, 300] {
            for height in [1, 5, 10, 23, 60] {
                let text = screen().text(&style(width), height);
                assert!(text.lines().count() <= height, "{width}×{height}:\n{text}");
                for line in text.lines() {
                    assert!(line.width() < width && !line.contains('\u{1b}'), "{width}×{height}: {line}");
                }
            }
        }
        assert_eq!(WatchScreen::default().text(&style(80), 23), "\n");
    }

    #[test]
    fn similar_updates_are_reported_together() {
        let blocks: Vec<BlockUpdate> = (1..=14)
            .map(|number| update(number, Update::Added))
            .chain((15..=400).map(|number| update(number, Update::Evicted)))
            .chain((401..=500).map(|number| update(number, Update::Aged)))
            .collect();
        let happening = ActivityEvent::BlocksUpdated { blocks, removed: 0 };
        let text = WatchEvent { time: NOW, session: "s", happening: &happening }.text(&style(60));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 14, "{text}");
        assert_eq!(lines[0], "00:00:00 came in   2 blocks, 20 tokens, and");
        assert_eq!(lines[13], "00:00:00 left      386 blocks");
    }
}
