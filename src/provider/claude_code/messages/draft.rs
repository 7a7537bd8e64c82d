use super::super::window::{View, is_hollow, is_result, is_use};
use super::role;
use crate::model::{Block, BlockKind, BlockNumber, Flags, Key};
use crate::provider::{Addition, Change, Message, Part, Source};

/// Who speaks in a message.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Speaker {
    System,
    User,
    Assistant,
}

/// A message that is being put together.
pub(super) struct Draft {
    pub speaker: Speaker,
    pub response: Option<Key>,
    pub pieces: Vec<Piece>,
    /// Whether rows or attachments were joined to the first.
    pub joined: bool,
    last_other: Option<usize>,
}

/// What a content block is, as far as the order and the repairs are concerned.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    Text,
    Thinking,
    Use,
    Result,
    Other,
}

/// How much a text says.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fill {
    /// It has no characters.
    Empty,
    /// It is blank.
    Blank,
    /// It says that there is nothing.
    Hollow,
    /// Anything else, and whatever is no text.
    Full,
}

/// A content block that is being put together.
#[derive(Clone)]
pub(super) struct Piece {
    pub part: Part,
    pub sort: Sort,
    pub call: Option<Key>,
    pub fill: Fill,
    pub signed: bool,
    /// Whether texts can be folded into it.
    folds: bool,
    /// Whether it stands for the prompt that is to come.
    prompt: bool,
}

impl Piece {
    pub fn of(block: &Block, flags: Flags) -> Piece {
        let sort = match block.kind {
            BlockKind::Text | BlockKind::Attachment => Sort::Text,
            BlockKind::Thinking => Sort::Thinking,
            BlockKind::ToolUse if is_use(block) => Sort::Use,
            BlockKind::ToolResult if is_result(block) => Sort::Result,
            _ => Sort::Other,
        };
        let fill = match sort {
            Sort::Text if block.bytes == 0 => Fill::Empty,
            Sort::Text if block.preview.is_empty() => Fill::Blank,
            Sort::Text if is_hollow(block) => Fill::Hollow,
            _ => Fill::Full,
        };
        Piece {
            part: Part::new(Source::Block(block.number)),
            sort,
            call: block.call,
            fill,
            signed: block.signature_bytes > 0,
            folds: sort == Sort::Result && !flags.any(Flags::REFERENCES),
            prompt: false,
        }
    }

    /// A text that the client makes up.
    pub fn made(text: &'static str) -> Piece {
        let part = Part::new(Source::Text(text));
        Piece { part, sort: Sort::Text, call: None, fill: Fill::Full, signed: false, folds: false, prompt: false }
    }

    /// A failed result that the client makes up.
    pub fn made_result(of: BlockNumber, call: Option<Key>, text: &'static str) -> Piece {
        let part = Part::new(Source::Result { of, text });
        Piece { part, sort: Sort::Result, call, folds: true, ..Piece::made(text) }
    }

    /// What stands for the prompt that is to come; it is taken out at the end.
    pub fn prompt() -> Piece {
        Piece { prompt: true, ..Piece::made("") }
    }

    pub fn block(&self) -> Option<BlockNumber> {
        match self.part.source {
            Source::Block(block) => Some(block),
            Source::Text(_) | Source::Result { .. } => None,
        }
    }

    /// The piece as an addition to another one.
    pub fn addition(&self, separator: &'static str, change: Change) -> Option<Addition> {
        self.block().map(|block| Addition { block, separator, change })
    }

    pub fn is_blank(&self) -> bool {
        self.fill <= Fill::Blank
    }

    /// Whether it is a text of the session that begins with `text`.
    pub fn preview_starts(&self, view: &View<'_>, text: &str) -> bool {
        let block = self.block().and_then(|block| view.blocks.get(block as usize - 1));
        self.sort == Sort::Text && block.is_some_and(|block| block.preview.starts_with(text))
    }
}

impl Draft {
    pub fn new(speaker: Speaker, pieces: Vec<Piece>) -> Draft {
        let last_other = pieces.iter().rposition(|piece| piece.sort != Sort::Result);
        Draft { speaker, response: None, pieces, joined: false, last_other }
    }

    pub fn has_result(&self) -> bool {
        self.pieces.iter().any(|piece| piece.sort == Sort::Result)
    }

    /// The piece that is last once the results are put first.
    fn last(&mut self) -> Option<&mut Piece> {
        let end = self.pieces.len().checked_sub(1)?;
        let place = if self.joined { self.last_other.unwrap_or(end) } else { end };
        self.pieces.get_mut(place)
    }

    /// Adds what the user side says next; a line feed parts two texts.
    pub fn join(&mut self, pieces: Vec<Piece>) {
        let text = pieces.first().is_some_and(|piece| piece.sort == Sort::Text);
        if let Some(last) = self.last().filter(|last| text && last.sort == Sort::Text) {
            last.part.line_feed = true;
        }
        pieces.into_iter().for_each(|piece| self.push(piece));
    }

    fn push(&mut self, piece: Piece) {
        if piece.sort != Sort::Result {
            self.last_other = Some(self.pieces.len());
        }
        self.joined = true;
        self.pieces.push(piece);
    }

    /// Adds an attachment: a text is folded into a tool result that stands last.
    pub fn attach(&mut self, piece: Piece) {
        let last = self.last().filter(|last| last.folds && piece.sort == Sort::Text);
        match (last, piece.addition("\n\n", Change::Trimmed)) {
            (Some(last), Some(addition)) => last.part.added.push(addition),
            _ => return self.push(piece),
        }
        self.joined = true;
    }

    /// Puts the pieces into the order in which they are sent.
    pub fn settle(&mut self) {
        match self.speaker {
            Speaker::User if self.joined => {
                let (results, others) = self.pieces.drain(..).partition::<Vec<_>, _>(|piece| piece.sort == Sort::Result);
                self.pieces.extend(results.into_iter().chain(others));
            }
            Speaker::Assistant => {
                if self.joined && self.pieces.iter().any(|piece| piece.sort != Sort::Thinking) {
                    self.drop_blank();
                }
                self.put_uses_last();
            }
            Speaker::User | Speaker::System => {}
        }
    }

    /// Whether the piece at `place` stands between two pieces of thinking.
    pub fn parts_thinking(&self, place: usize, skip: impl Fn(&Piece) -> bool) -> bool {
        let thinks = |piece: Option<&Piece>| piece.is_some_and(|piece| piece.sort == Sort::Thinking);
        thinks(place.checked_sub(1).map(|before| &self.pieces[before]))
            && thinks(self.pieces[place + 1..].iter().find(|piece| !skip(piece)))
    }

    fn drop_blank(&mut self) {
        let blank = |piece: &Piece| piece.sort == Sort::Text && piece.fill == Fill::Blank;
        let keep: Vec<bool> =
            (0..self.pieces.len()).map(|place| !blank(&self.pieces[place]) || self.parts_thinking(place, |_| false)).collect();
        let mut keep = keep.into_iter();
        self.pieces.retain(|_| keep.next().unwrap_or(true));
    }

    /// Tool uses go behind everything else, unless that would join two pieces of thinking.
    fn put_uses_last(&mut self) {
        let (mut used, mut mixed, mut thought, mut after_use) = (false, false, false, false);
        for piece in &self.pieces {
            if piece.sort == Sort::Use {
                (used, after_use) = (true, true);
                continue;
            }
            let thinks = piece.sort == Sort::Thinking;
            if thinks && thought && after_use {
                return;
            }
            mixed |= used;
            (thought, after_use) = (thinks, false);
        }
        if mixed {
            let (uses, others) = self.pieces.drain(..).partition::<Vec<_>, _>(|piece| piece.sort == Sort::Use);
            self.pieces.extend(others.into_iter().chain(uses));
        }
    }

    /// The message, without the stand-in for the prompt; `None` when nothing is left.
    pub fn into_message(self) -> Option<Message> {
        let mut pieces: Vec<Piece> = self.pieces.into_iter().filter(|piece| !piece.prompt).collect();
        if self.speaker == Speaker::User && pieces.iter().any(|piece| !(piece.sort == Sort::Text && piece.is_blank())) {
            pieces.retain(|piece| !(piece.sort == Sort::Text && piece.is_blank()));
        }
        let parts: Vec<Part> = pieces.into_iter().map(|piece| piece.part).collect();
        (!parts.is_empty()).then(|| Message { role: role(self.speaker), parts })
    }
}
