use super::parse;
use super::usage::{BilledRow, UsageScan};
use super::write::last_iteration;
use crate::model::{Event, FileUsage, Flags, Key, RowKind};
use crate::provider::json::{self, is_true, number, text_of};
use crate::provider::usage::NewestRow;
use crate::provider::{ParsedRow, Scanner, Totals, title_of};
use memchr::memmem::Finder;
use std::sync::LazyLock;

/// Length of the head of a row, in bytes, that contains the message's role, in all versions seen.
const HEAD_BYTES: usize = 2048;

static USAGE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\"usage\":"));
static ROLE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\"role\":\""));
static USER: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\"role\":\"user\""));
static BOUNDARY: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\"compact_boundary\""));
static QUEUED: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\"queued_command\""));
static TITLE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"-title\""));
static FILES: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\"file-history-"));
static RESULT: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\"tool_use_id\":"));
static DIRECTORY: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\"cwd\":"));

/// Length of the start of a row, in bytes, that contains the type of a record of files.
const KIND_BYTES: usize = 64;

/// Length of the text after a message's role, in bytes, in which a first block that is a tool result can be recognized.
const RESULT_BYTES: usize = 160;

/// Returns true if a message begins with a tool result; in one that reports an error, the client writes the type first.
fn is_result(start: &[u8]) -> bool {
    RESULT.find(start).is_some() || start.starts_with(b"user\",\"content\":[{\"type\":\"tool_result\"")
}

/// Computes the totals of a file and collects its bills; parses only lines that can affect them.
#[derive(Default)]
pub(super) struct Scan {
    main: Side,
    /// The rows of subagents; all rows in a subagent's own file.
    sidechain: Side,
    newest: NewestRow,
    usage: UsageScan,
}

/// The totals of one side of a file.
#[derive(Default)]
struct Side {
    totals: Totals,
    message: Option<Key>,
    message_output: u64,
    named: bool,
    /// The text of a command that the model has not answered yet.
    command: Option<String>,
    /// The first text of the client before any prompt.
    first: Option<String>,
}

impl Scanner for Scan {
    fn line(&mut self, bytes: &[u8]) {
        let head = &bytes[..bytes.len().min(HEAD_BYTES)];
        // A record of files has the time of the files.
        if FILES.find(&head[..head.len().min(KIND_BYTES)]).is_none() {
            self.newest.line(bytes);
        }
        if self.main.totals.directory.is_empty() && DIRECTORY.find(bytes).is_some() {
            self.main.totals.directory = parse::parse(bytes).origin[1].as_deref().unwrap_or_default().into();
        }
        let role = ROLE.find(head).map(|place| &bytes[place + ROLE.needle().len()..]);
        let answers = role.is_some_and(|rest| rest.starts_with(b"assistant\""));
        let has_figures = answers || USAGE.find(bytes).is_some();
        let billed = if has_figures || BOUNDARY.find(bytes).is_some() {
            // A row whose message is not an object has no bill.
            json::skim::<BilledRow<'_>>(bytes).or_else(|| json::first(bytes))
        } else {
            None
        };
        billed.iter().for_each(|row| self.usage.row(row));
        let response = billed.filter(|row| !is_true(row.api_error) && text_of(row.kind).as_deref() == Some("assistant"));
        match role {
            Some(_) if answers => return self.response(response),
            // Tool results are not parsed: they hold most of the bytes, and affect no total.
            Some(rest) if rest.starts_with(b"user\"") && is_result(&rest[..rest.len().min(RESULT_BYTES)]) => {
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
        if bytes.len() > HEAD_BYTES && ROLE.find(&bytes[HEAD_BYTES..]).is_some() {
            if has_figures {
                self.response(response);
            } else if USER.find(bytes).is_some() {
                self.other(bytes);
            }
        }
    }

    fn finish(self: Box<Self>) -> (Totals, FileUsage) {
        let Scan { main: Side { totals: main, .. }, sidechain: Side { totals: side, .. }, newest, usage } = *self;
        let own = main.steps + main.turns > 0 || side.steps + side.turns == 0;
        let directory = main.directory.clone();
        let chosen = if own { main } else { side };
        (Totals { directory, last_written: newest.milliseconds(), ..chosen }, usage.finish())
    }
}

impl Scan {
    fn side(&mut self, sidechain: bool) -> &mut Side {
        if sidechain { &mut self.sidechain } else { &mut self.main }
    }

    fn response(&mut self, row: Option<BilledRow<'_>>) {
        let Some(row) = row else { return };
        self.side(is_true(row.sidechain)).response(&row);
    }

    fn other(&mut self, bytes: &[u8]) {
        let parsed = parse::parse(bytes);
        self.side(parsed.row.sidechain).other(&parsed);
    }
}

impl Side {
    fn response(&mut self, row: &BilledRow<'_>) {
        let Some((message, usage)) = row.message.and_then(|message| Some((message, message.usage?))) else { return };
        let model = text_of(message.model).unwrap_or_default();
        if model == "<synthetic>" {
            return;
        }
        let count = |value| number(value).unwrap_or_default();
        let last = last_iteration(&usage);
        let window = last.as_ref().map_or(&usage, |(_, last)| last);
        let sent = count(window.input) + count(window.read) + count(window.creation);
        let output = count(usage.output);
        let id = text_of(message.id).map(|id| Key::from_text(&id));
        let totals = &mut self.totals;
        if id.is_none() || id != self.message {
            totals.steps += 1;
            let opened = self.command.take().or_else(|| self.first.take().filter(|_| totals.turns == 0));
            if let Some(words) = opened {
                totals.turns += 1;
                if totals.title.is_empty() {
                    totals.title = words;
                }
            }
            self.message_output = 0;
            self.message = id;
        }
        // Each row of a response repeats its figures; the output grows to its final value.
        totals.output_tokens += output.saturating_sub(self.message_output);
        self.message_output = self.message_output.max(output);
        totals.window_tokens = sent + self.message_output;
        totals.peak_tokens = totals.peak_tokens.max(sent);
        // If the figures differ, an edit by aperture added an estimate beside the bill.
        totals.moved_on = last.is_some() && sent != count(usage.input) + count(usage.read) + count(usage.creation);
        if *totals.model != *model {
            totals.model = model.into();
        }
    }

    fn other(&mut self, parsed: &ParsedRow<'_>) {
        let totals = &mut self.totals;
        match (parsed.row.kind, parsed.row.event.as_deref()) {
            (RowKind::Boundary, _) => totals.compactions += 1,
            (_, Some(Event::Title { text, chosen })) if *chosen || !self.named => {
                self.named = *chosen;
                totals.title = text.clone();
                return;
            }
            _ => {}
        }
        let words = || title_of(&parsed.blocks);
        let flags = parsed.row.flags;
        if parsed.row.prompt {
            self.command = None;
            totals.turns += 1;
            if totals.title.is_empty() {
                totals.title = words().unwrap_or_default();
            }
        } else if flags.any(Flags::COMMAND_NAME | Flags::TYPED_COMMAND) {
            self.command = words();
            self.first = self.first.take().or_else(|| self.command.clone());
        } else if flags.any(Flags::COMMAND_OUTPUT) {
            self.command = None;
        } else if parsed.row.kind == RowKind::User {
            self.first = self.first.take().or_else(words);
        }
        totals.moved_on |= !parsed.blocks.is_empty() || parsed.row.kind == RowKind::Boundary;
    }
}
