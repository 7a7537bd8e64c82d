use super::parse;
use super::usage::{BilledRow, Figures, SYNTHETIC, UsageScan, is_estimate, window_bill};
use crate::model::{Event, FileUsage, Flags, Key, OutputRule, RowKind, most_tokens_sent};
use crate::provider::json::{self, is_true, text_of};
use crate::provider::turns::TurnScan;
use crate::provider::usage::NewestRow;
use crate::provider::{ParsedRow, Scanner, Totals};
use memchr::memmem::Finder;
use std::sync::{Arc, LazyLock};

/// Length of the head of a row, in bytes, that contains the message's role, in all versions seen.
const HEAD_BYTES: usize = 2048;

static USAGE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\"usage\":"));
static ROLE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\"role\":"));
static BOUNDARY: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\"compact_boundary\""));
static QUEUED: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\"queued_command\""));
static TITLE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"-title\""));
static FILES: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\"file-history-"));
static OWN: LazyLock<[Finder<'static>; 2]> = LazyLock::new(|| [&b"\"aperture_"[..], b"\"thinking_stripped\""].map(Finder::new));
static RESULT: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\"tool_use_id\":"));
static PARENT: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\"parentUuid\":"));
static DIRECTORY: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\"cwd\":"));

/// Length of the start of a row, in bytes, that contains the type of a record of files.
const KIND_BYTES: usize = 64;

/// The start of a message with a tool result that reports an error, from its role on, without spaces.
const ERROR_START: &[u8] = b"user\",\"content\":[{\"type\":\"tool_result\"";

/// Length of the text after a message's role, in bytes, in which a first block that is a tool result can be recognized.
const RESULT_BYTES: usize = 160;

/// Returns the bytes from a message's role on; `None` if there is none. Another program may have written the row, with spaces.
fn role(bytes: &[u8]) -> Option<&[u8]> {
    let after = |place: usize| bytes[place + ROLE.needle().len()..].trim_ascii_start();
    ROLE.find_iter(bytes).find_map(|place| after(place).strip_prefix(b"\""))
}

/// Returns true if a message begins with a tool result; in one that reports an error, the client writes the type first.
fn is_result(start: &[u8]) -> bool {
    let bare = || start.iter().filter(|byte| !byte.is_ascii_whitespace());
    RESULT.find(start).is_some() || bare().take(ERROR_START.len()).eq(ERROR_START)
}

/// Returns true if aperture wrote a row, which has this head, or could have.
fn is_own(head: &[u8], bytes: &[u8]) -> bool {
    OWN.iter().any(|own| own.find(head).is_some()) && parse::parse(bytes).row.flags.any(Flags::OWN)
}

/// Computes the totals of a file and collects its bills; parses only lines that can affect them.
#[derive(Default)]
pub(super) struct Scan {
    main: Side,
    /// The rows of subagents; all rows in a subagent's own file.
    sidechain: Side,
    /// The values of the last response that its next row can repeat.
    last: String,
    newest: NewestRow,
    usage: UsageScan,
}

#[derive(Default)]
struct Side {
    totals: Totals,
    message: Option<Key>,
    message_output: u64,
    /// True if the figures of the last response do not tell the size of the window.
    edited: bool,
    named: bool,
    /// The model before the last compaction that the client did by itself.
    compacted_by: Arc<str>,
    turns: TurnScan,
    /// The parent of the first prompt: another prompt there follows a rewind before it.
    root: Option<Option<Key>>,
}

impl Scanner for Scan {
    fn line(&mut self, bytes: &[u8]) {
        self.usage.bytes += bytes.len() as u64;
        let head = &bytes[..bytes.len().min(HEAD_BYTES)];
        let in_head = role(head).map(|rest| head.len() - rest.len());
        let role = in_head.map(|place| &bytes[place..]);
        let answers = role.is_some_and(|rest| rest.starts_with(b"assistant\""));
        // Tool results are not parsed: they hold most of the bytes, and have no bill.
        let is_result = role.is_some_and(|rest| rest.starts_with(b"user\"") && is_result(&rest[..rest.len().min(RESULT_BYTES)]));
        let has_figures = answers || !is_result && USAGE.find(bytes).is_some();
        let billed = if has_figures || role.is_none() && BOUNDARY.find(bytes).is_some() {
            // A row whose message is not an object has no bill.
            json::skim_first::<BilledRow<'_>>(bytes).map(|(row, _)| row)
        } else {
            None
        };
        match billed.and_then(|row| row.time).filter(|_| answers) {
            Some(time) => self.newest.time(time.trim_matches('"').as_bytes()),
            // A record of files has the time of the files.
            None if FILES.find(&head[..head.len().min(KIND_BYTES)]).is_some() || is_own(head, bytes) => {}
            None => self.newest.line(bytes),
        }
        if self.main.totals.directory.is_empty() && DIRECTORY.find(bytes).is_some() {
            self.main.totals.directory = parse::parse(bytes).origin[1].as_deref().unwrap_or_default().into();
        }
        if answers && billed.is_some_and(|row| self.repeats(&row)) {
            return;
        }
        let figures = billed.and_then(|row| row.message?.figures());
        let is_billed = billed.is_some_and(|row| self.usage.row(&row, figures.as_ref()));
        let response = billed.filter(BilledRow::is_response).zip(figures);
        match role {
            Some(_) if answers => {
                self.last = response.filter(|_| is_billed).map(|(row, _)| values(&row)).unwrap_or_default();
                return self.response(response);
            }
            Some(_) if is_result => {
                self.main.totals.moved_on = true;
                self.sidechain.totals.moved_on = true;
                return;
            }
            Some(_) => return self.other(bytes),
            None => {}
        }
        let small = BOUNDARY.find(head).is_some() || QUEUED.find(head).is_some() || TITLE.find(head).is_some();
        if small {
            return self.other(bytes);
        }
        // A row rewritten by another program, with its keys in another order.
        if let Some(role) = bytes.get(HEAD_BYTES..).and_then(self::role) {
            if has_figures {
                self.response(response);
            } else if role.starts_with(b"user\"") {
                self.other(bytes);
            }
        }
    }

    fn finish(self: Box<Self>, rule: OutputRule) -> (Totals, FileUsage) {
        let Scan { main, sidechain, newest, usage, .. } = *self;
        let (usage, outputs) = usage.finish(rule);
        let with_output = |side: Side, (output_tokens, output_estimated): (u64, bool)| {
            let mut window = side.totals.window;
            window.compacted_tokens *= u64::from(side.compacted_by == side.totals.model);
            Totals { output_tokens, output_estimated, window, ..side.totals }.with_turns(&side.turns)
        };
        let [main, side] = [with_output(main, outputs[0]), with_output(sidechain, outputs[1])];
        let own = main.steps + main.turns > 0 || side.steps + side.turns == 0;
        let directory = main.directory.clone();
        let chosen = if own { main } else { side };
        (Totals { directory, last_written: newest.milliseconds(), ..chosen }, usage)
    }
}

impl Scan {
    fn side(&mut self, sidechain: bool) -> &mut Side {
        if sidechain { &mut self.sidechain } else { &mut self.main }
    }

    /// Returns true if a row repeats the values of the last response, as each but the first of its rows does, mostly.
    fn repeats(&mut self, row: &BilledRow<'_>) -> bool {
        let repeats = !self.last.is_empty() && values(row) == self.last;
        if repeats {
            let side = self.side(is_true(row.sidechain));
            side.totals.moved_on = side.edited;
            self.usage.repeated(row);
        }
        repeats
    }

    fn response(&mut self, response: Option<(BilledRow<'_>, Figures<'_>)>) {
        let Some((row, figures)) = response else { return };
        let bytes = self.usage.bytes;
        self.side(is_true(row.sidechain)).response(&row, &figures, bytes);
    }

    fn other(&mut self, bytes: &[u8]) {
        let parsed = parse::parse(bytes);
        // Rows without links do not tell where a prompt was typed.
        self.side(parsed.row.sidechain).other(&parsed, PARENT.find(bytes).is_some());
    }
}

/// Returns the values of a row that a bill and the totals depend on.
fn values(row: &BilledRow<'_>) -> String {
    let BilledRow { kind, sidechain, api_error, request, cost, message, .. } = *row;
    let message = message.unwrap_or_default();
    let values = [kind, sidechain, api_error, request, cost, message.id, message.model, message.usage];
    values.map(Option::unwrap_or_default).join("\n")
}

impl Side {
    fn response(&mut self, row: &BilledRow<'_>, usage: &Figures<'_>, bytes: u64) {
        let message = row.message.unwrap_or_default();
        let model = text_of(message.model).unwrap_or_default();
        if model == SYNTHETIC {
            return;
        }
        let bill = window_bill(usage);
        let sent = bill.sent();
        let id = text_of(message.id).map(|id| Key::from_text(&id));
        let totals = &mut self.totals;
        if id.is_none() || id != self.message {
            totals.steps += 1;
            self.turns.answer();
            self.message_output = 0;
            self.message = id;
        }
        if bill.is_impossible(most_tokens_sent(None, &model, bytes)) {
            self.edited = true;
        } else {
            // Each row of a response repeats its figures; the output grows to its final value.
            self.message_output = self.message_output.max(bill.output);
            totals.window_tokens = sent + self.message_output;
            totals.window.peak_tokens = totals.window.peak_tokens.max(sent);
            totals.window.later_tokens = totals.window.later_tokens.max(sent);
            self.edited = is_estimate(usage);
        }
        totals.moved_on = self.edited;
        if *totals.model != *model {
            totals.model = model.into();
        }
    }

    fn other(&mut self, parsed: &ParsedRow<'_>, is_linked: bool) {
        let totals = &mut self.totals;
        match (parsed.row.kind, parsed.row.event.as_deref()) {
            (RowKind::Boundary, event) => {
                totals.compactions += 1;
                if let Some(Event::Compaction { automatic_at: Some(tokens), .. }) = event {
                    (totals.window.compacted_tokens, totals.window.later_tokens) = (*tokens, 0);
                    self.compacted_by = totals.model.clone();
                }
            }
            (_, Some(Event::Title { text, chosen })) if *chosen || !self.named => {
                self.named = *chosen;
                totals.title = text.clone();
                return;
            }
            _ => {}
        }
        if parsed.row.prompt && is_linked {
            match self.root {
                Some(root) if root == parsed.row.parent => self.turns.rewound(u32::MAX),
                Some(_) => {}
                None => self.root = Some(parsed.row.parent),
            }
        }
        self.turns.row(parsed);
        totals.moved_on |= !parsed.blocks.is_empty() || parsed.row.kind == RowKind::Boundary;
    }
}
