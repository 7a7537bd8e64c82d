//! The messages of a window as the API would receive them.
//!
//! Not reproduced: reminders that the client adds on resume, references to tools that it no longer has, new names of old
//! tools, members that it removes from some inputs, the list form of a tool result that a text was folded into, and the
//! replacement text for a blank prompt. The model is that of the last response.

mod draft;
mod finish;
mod pairing;

use super::prose::NOTIFICATION_LEAD;
use super::window::{Item, View, is_result, items};
use crate::model::{Flags, Key, Role, Session, Window};
use crate::provider::{Addition, Change, Lead, Message, Part, Source};
use draft::{Draft, Piece, Sort, Speaker};
use rustc_hash::FxHashMap;

const NO_RESPONSE: &str = "No response requested.";
/// Replaces the client's own words, which have 180 characters.
const INTERRUPTED: &str = "[note on an interrupted call, added by the client, not recorded; ~36 tokens]";
const TOOL_LOADED: &str = "Tool loaded.";

/// Name prefixes of models without system turns in the middle of a conversation; the same models get task list reminders.
const OLDER_MODELS: &[&str] = &[
    "claude-3-", "claude-opus-4-0", "claude-opus-4-1", "claude-opus-4-2", "claude-opus-4-5", "claude-opus-4-6",
    "claude-opus-4-7", "claude-sonnet-4-0", "claude-sonnet-4-2", "claude-sonnet-4-5", "claude-sonnet-4-6", "claude-haiku-4-5",
];

pub(super) fn messages(session: &Session, window: &Window) -> Vec<Message> {
    let view = View::new(session);
    let items = items(&view, &window.chain);
    let model = Model::from_view(&view);
    let plan = finish::thinking_plan(&view, &items);
    let mut writer =
        Writer { view: &view, model, drafts: Vec::new(), pending: Vec::new(), open: FxHashMap::default(), scanned: 0 };
    for item in float(&view, &items) {
        writer.write(item);
    }
    writer.flush();
    let drafts = finish::finish(writer.drafts, &plan);
    drafts.into_iter().filter_map(Draft::into_message).collect()
}

/// Moves attachments up to directly after the nearest assistant or tool result row. `None` represents the next prompt.
fn float(view: &View<'_>, items: &[Item]) -> Vec<Option<Item>> {
    let mut floated = Vec::with_capacity(items.len() + 1);
    floated.push(None);
    let mut pending = Vec::new();
    for item in items.iter().copied().rev() {
        let stop = match item {
            Item::Row(row) if view.is_attachment(row) => {
                pending.push(Some(item));
                continue;
            }
            Item::Row(row) => view.is_assistant(row) || view.is_user(row) && view.blocks(row).next().is_some_and(is_result),
            Item::NoResponse | Item::Interrupted(_) => true,
        };
        if stop {
            floated.append(&mut pending);
        }
        floated.push(Some(item));
    }
    floated.append(&mut pending);
    floated.reverse();
    floated
}

/// Properties of the next request's model that affect the messages.
struct Model<'a> {
    name: &'a str,
    system_turns: bool,
    task_reminders: bool,
    /// True if the texts of system turns keep their reminder tags.
    keeps_tags: bool,
    /// True if a text reports that a tool was loaded.
    tool_loaded: bool,
}

impl<'a> Model<'a> {
    fn from_view(view: &View<'a>) -> Model<'a> {
        let named = |side: bool| {
            let mut rows = view.rows.iter().rev().filter(move |row| side || !row.sidechain);
            rows.find_map(|row| row.model.as_deref().filter(|model| model.starts_with("claude-")))
        };
        let name = named(false).or_else(|| named(true)).unwrap_or_default();
        let is = |beginnings: &[&str]| beginnings.iter().any(|beginning| name.starts_with(beginning));
        let five = name.strip_prefix("claude-sonnet-5");
        Model {
            name: plain_name(name),
            system_turns: !is(OLDER_MODELS),
            task_reminders: is(OLDER_MODELS),
            keeps_tags: five.is_some_and(|rest| rest.is_empty() || rest.starts_with('[') || rest.starts_with("-2")),
            tool_loaded: !is(&["claude-fable-5-2", "claude-mythos-5-2"]),
        }
    }

    /// Returns true if signed thinking of a row was written by another model, so that this one cannot use it.
    fn is_foreign(&self, view: &View<'_>, row: u32) -> bool {
        let own = view.row(row).model.as_deref().map(plain_name);
        !self.name.is_empty() && own != Some(self.name) && !view.flags(row).any(Flags::SYNTHETIC)
    }
}

/// Strips the window size and the date from a model name.
fn plain_name(model: &str) -> &str {
    let name = model.split('[').next().unwrap_or_default();
    match name.rsplit_once('-') {
        Some((name, date)) if date.len() == 8 && date.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => name,
    }
}

struct Writer<'a> {
    view: &'a View<'a>,
    model: Model<'a>,
    drafts: Vec<Draft>,
    /// System texts to send after the user's message.
    pending: Vec<Addition>,
    /// For each response, the message that its further rows join.
    open: FxHashMap<Option<Key>, usize>,
    scanned: usize,
}

impl Writer<'_> {
    fn write(&mut self, item: Option<Item>) {
        match item {
            None => self.say(vec![Piece::prompt()]),
            Some(Item::Interrupted(of)) => {
                let call = self.view.blocks[of as usize - 1].call;
                self.say(vec![Piece::made_result(of, call, INTERRUPTED)]);
            }
            Some(Item::NoResponse) => self.answer(Some(Key::from_text(NO_RESPONSE)), vec![Piece::made(NO_RESPONSE)]),
            Some(Item::Row(row)) if self.view.is_unsent(row) => {}
            Some(Item::Row(row)) if self.view.is_attachment(row) => self.attach(row),
            Some(Item::Row(row)) if self.view.is_assistant(row) => {
                let foreign = self.model.is_foreign(self.view, row);
                let mut pieces = self.pieces(row);
                pieces.retain(|piece| !(foreign && piece.sort == Sort::Thinking && piece.signed));
                self.answer(self.view.response(row), pieces);
            }
            Some(Item::Row(row)) => {
                let pieces = self.spoken(row);
                if !pieces.is_empty() {
                    self.say(pieces);
                }
            }
        }
    }

    fn pieces(&self, row: u32) -> Vec<Piece> {
        let mut pieces = Vec::with_capacity(self.view.all_blocks(row).len());
        pieces.extend(self.view.blocks(row).map(|block| Piece::from_block(block, self.view.flags(row))));
        pieces
    }

    fn spoken(&self, row: u32) -> Vec<Piece> {
        let flags = self.view.flags(row);
        let mut pieces = self.pieces(row);
        if flags.any(Flags::NOTIFICATION)
            && let Some(first) = pieces.iter().position(|piece| piece.sort == Sort::Text)
        {
            let mut notice = pieces.remove(first);
            notice.part.reminder = Some(NOTIFICATION_LEAD);
            let rest = pieces.extract_if(.., |piece| piece.sort == Sort::Text);
            let join = |piece: Piece| piece.addition("\n", Change::None);
            notice.part.added = rest.filter_map(join).collect();
            pieces.insert(0, notice);
        }
        if flags.any(Flags::LOADS_TOOLS) {
            let says = |piece: &Piece| piece.preview_starts(self.view, TOOL_LOADED);
            if self.model.system_turns && !self.model.tool_loaded {
                pieces.retain(|piece| !says(piece));
            } else if !pieces.iter().any(says) {
                pieces.push(Piece::made(TOOL_LOADED));
            }
        }
        pieces
    }

    fn say(&mut self, pieces: Vec<Piece>) {
        match self.drafts.last_mut().filter(|draft| draft.speaker == Speaker::User) {
            Some(draft) => draft.join(pieces),
            None => self.drafts.push(Draft::new(Speaker::User, pieces)),
        }
    }

    fn answer(&mut self, response: Option<Key>, pieces: Vec<Piece>) {
        for (place, draft) in self.drafts.iter().enumerate().skip(self.scanned) {
            match draft.speaker {
                Speaker::Assistant => {
                    self.open.insert(draft.response, place);
                }
                Speaker::User if !draft.has_result() => self.open = FxHashMap::default(),
                Speaker::User | Speaker::System => {}
            }
        }
        self.scanned = self.drafts.len();
        match self.open.get(&response) {
            Some(place) => {
                let draft = &mut self.drafts[*place];
                draft.joined = true;
                draft.pieces.extend(pieces);
            }
            None => {
                self.flush();
                let mut draft = Draft::new(Speaker::Assistant, pieces);
                draft.response = response;
                self.drafts.push(draft);
            }
        }
    }

    fn attach(&mut self, row: u32) {
        let flags = self.view.flags(row);
        let blocks = self.view.all_blocks(row);
        let reminder = flags.any(Flags::TEMPLATE) && blocks.first().is_some_and(|block| &*block.label == "task_reminder");
        if reminder && !self.model.task_reminders {
            return;
        }
        let pieces = self.pieces(row);
        if self.model.system_turns && !flags.any(Flags::USER_TURN) && pieces.iter().all(|piece| piece.sort == Sort::Text) {
            if pieces.iter().all(Piece::is_blank) {
                return;
            }
            let change = if self.model.keeps_tags { Change::None } else { Change::Unwrapped };
            for (place, piece) in pieces.iter().enumerate() {
                let separator = if place == 0 { "\n\n" } else { "\n" };
                self.pending.extend(piece.addition(separator, change));
            }
            return;
        }
        match self.drafts.last_mut().filter(|draft| draft.speaker == Speaker::User) {
            Some(draft) => pieces.into_iter().for_each(|piece| draft.attach(piece)),
            None => self.drafts.extend(pieces.into_iter().map(|piece| Draft::new(Speaker::User, vec![piece]))),
        }
    }

    /// Emits the pending system texts as a separate turn.
    fn flush(&mut self) {
        let mut pending = std::mem::take(&mut self.pending);
        let Some(first) = pending.first().copied() else { return };
        let last = self.drafts.last_mut();
        let (speaker, reminder) = match last {
            Some(draft) if draft.speaker == Speaker::System => {
                if let Some(piece) = draft.pieces.first_mut() {
                    piece.part.added.append(&mut pending);
                }
                return;
            }
            Some(draft) if draft.speaker == Speaker::User => (Speaker::System, None),
            _ => (Speaker::User, Some(Lead::none())),
        };
        let block = &self.view.blocks[first.block as usize - 1];
        let mut piece = Piece::from_block(block, Flags::default());
        pending.remove(0);
        piece.part = Part {
            unwrapped: first.change == Change::Unwrapped,
            added: pending,
            reminder,
            ..Part::new(Source::Block(first.block))
        };
        self.drafts.push(Draft::new(speaker, vec![piece]));
    }
}

/// Returns the API's name for the role of a message.
fn role(speaker: Speaker) -> &'static str {
    match speaker {
        Speaker::System => Role::System.name(),
        Speaker::User => Role::User.name(),
        Speaker::Assistant => Role::Assistant.name(),
    }
}
