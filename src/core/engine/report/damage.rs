//! Finds damage of a session: rows that the client loses, contents that the API refuses, identities that are not unique.

use crate::engine::cost::capacity::{self, capacity};
use crate::engine::{Analysis, ReadSettings, amount, plural};
use crate::model::{
    Block, BlockKind, BlockNumber, Event, Fault, Key, MediaFault, Refusal, Row, RowKind, Session, Vocabulary, Window,
    WindowEvidence,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// Maximum base64 characters of an image. Source: the API's refusal "image exceeds 5 MB maximum"; Claude Code 2.1.330 stops before such
/// a request with "Image base64 size exceeds API limit (5MB)".
const IMAGE_BYTES: u64 = 5 << 20;
/// Maximum width and height of an image in pixels. Source: platform.claude.com/docs/en/build-with-claude/vision, "General limits".
const PIXELS: u32 = 8000;
/// The same for each image of a request with more than [`FEW_IMAGES`]. Source: as for [`PIXELS`].
const PIXELS_OF_MANY: u32 = 2000;
/// Maximum images of a request in which each may have [`PIXELS`]. Source: as for [`PIXELS`].
const FEW_IMAGES: usize = 20;
/// Maximum images, and maximum pages of documents, of a request: for models with a window of 200,000 tokens, and for others. Source: as for
/// [`PIXELS`], and platform.claude.com/docs/en/build-with-claude/pdf-support.
const MEDIA: [u32; 2] = [100, 600];
/// Maximum bytes of a request. Source: platform.claude.com/docs/en/api/overview, "Request size limits".
const REQUEST_BYTES: u64 = 32 << 20;

/// One damage of a session.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    pub kind: FindingKind,
    pub row: u32,
    pub block: Option<BlockNumber>,
}

/// The kind of a damage.
#[derive(Clone, Debug, PartialEq)]
pub enum FindingKind {
    /// The client does not send the rows before the row, although the user did not leave them.
    Cut {
        before: Option<u32>,
        /// The number of blocks that are not sent.
        blocks: u32,
        tokens: f64,
        /// The role of the row in the next request.
        place: CutPlace,
    },
    /// The client cannot read the row, and as many rows after it as follow.
    Unreadable {
        fault: Fault,
        rows: u32,
    },
    /// The line holds whole rows that the client does not read.
    UnreadRows {
        fault: Fault,
        /// True if the client reads nothing of the line.
        is_skipped: bool,
    },
    /// The session that it inherits rows from is missing.
    MissingParent,
    /// The session that it inherits rows from ends before them.
    ShortParent,
    /// The last row has no number, and those before it have.
    MissingOrdinal,
    RepeatedRows {
        /// The earlier row of the first one.
        first: u32,
        rows: u32,
        /// Their resemblance to the earlier rows.
        copies: Resemblance,
    },
    /// A response with the id of an earlier one.
    RepeatedResponse {
        /// The first row of the earlier one.
        first: u32,
    },
    /// A tool use with the id of an earlier one, which the client leaves out with its result.
    RepeatedCall {
        first: BlockNumber,
    },
    Refused(Refusal),
    /// A tool use that is sent without its result, or the reverse.
    HalfPair,
    /// Images or documents of a block that the API refuses.
    Media {
        is_document: bool,
        /// The numbers of the images or documents in the block, from 0, each with the reason.
        items: Vec<(usize, MediaRefusal)>,
    },
    /// All documents of the window together, or the window as a whole, exceed a limit.
    TooMuch(MediaRefusal),
}

/// The place of a cut in the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CutPlace {
    /// The next request begins with the row, a message of the user side.
    Newest,
    /// The next request begins with the row, an answer of the model.
    NewestAnswer,
    /// A newer cut is before the row in the next request.
    Older,
    /// An older row is before the row in the next request.
    Within,
    /// The next request has neither the row nor those after it.
    Beyond,
    /// The row is a compaction, and the next request has none of the rows that it keeps.
    Kept,
}

/// The resemblance of rows with one identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resemblance {
    Exact,
    /// The parts that are sent are equal.
    Sent,
    Neither,
}

/// The reason for which the API refuses an image or a document, or all of them together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MediaRefusal {
    /// Bytes of base64 data, and the limit.
    Bytes(u64, u64),
    /// Width and height in pixels, and the limit for both.
    Pixels(u32, u32, u32),
    Pages(u32, u32),
    Images(u32, u32),
    Data(MediaFault),
}

impl MediaRefusal {
    /// Returns what the image or the document has, for people.
    pub fn text(self) -> String {
        let mega = |bytes: u64| {
            let tenths = (bytes * 10).div_ceil(1 << 20);
            if tenths.is_multiple_of(10) { format!("{} MB", tenths / 10) } else { format!("{}.{} MB", tenths / 10, tenths % 10) }
        };
        match self {
            MediaRefusal::Bytes(size, limit) => format!("{} of base64; the API accepts {}", mega(size), mega(limit)),
            MediaRefusal::Pixels(width, height, limit) => format!("{width}×{height} pixels; the API accepts {limit}×{limit}"),
            MediaRefusal::Pages(pages, limit) => format!("{pages} pages; the API accepts {limit}"),
            MediaRefusal::Images(images, limit) => format!("{images} images; the API accepts {limit}"),
            MediaRefusal::Data(fault) => match fault {
                MediaFault::Empty => "no data".to_owned(),
                MediaFault::NotBase64 => "data that is not base64".to_owned(),
                MediaFault::TypeRefused => "a media type that the API does not accept".to_owned(),
                MediaFault::Unreadable => "data that is not of its media type".to_owned(),
                MediaFault::OtherFormat(format) => format!("data of another media type: {}", format.media_type()),
            },
        }
    }
}

impl Finding {
    /// Removes the estimated size of what is cut off.
    pub fn forget_tokens(&mut self) {
        if let FindingKind::Cut { tokens, .. } = &mut self.kind {
            *tokens = 0.0;
        }
    }

    /// Returns the damage, without its place.
    pub fn message(&self) -> String {
        match &self.kind {
            FindingKind::Cut { blocks, tokens, place, .. } => {
                let fault = match place {
                    CutPlace::Kept => "a row that the compaction keeps is missing",
                    _ => "the link to the rows before is broken",
                };
                let tokens = Some(amount(tokens.round() as u64)).filter(|_| *tokens >= 0.5);
                let size = tokens.map(|tokens| format!(" (~{tokens} tokens)")).unwrap_or_default();
                format!("{fault}: {}{size} cut off", plural(*blocks as usize, "block"))
            }
            FindingKind::Unreadable { fault, rows } => {
                let what = match fault {
                    Fault::NotAnObject => "JSON, but not an object",
                    Fault::HalfWritten => "the last line is half written",
                    _ => "not JSON",
                };
                match rows {
                    1 => what.to_owned(),
                    2 => format!("this line and the next: {what}"),
                    rows => format!("this line and the next {}: {what}", rows - 1),
                }
            }
            FindingKind::UnreadRows { fault: Fault::Buried, .. } => "whole rows beside bytes that are not a row".to_owned(),
            FindingKind::UnreadRows { .. } => "several rows on one line".to_owned(),
            FindingKind::MissingParent => "the session that it was forked from was not found".to_owned(),
            FindingKind::ShortParent => "the session that it was forked from ends before the fork".to_owned(),
            FindingKind::MissingOrdinal => "the last row has no ordinal".to_owned(),
            FindingKind::RepeatedRows { first, rows: 1, .. } => format!("a row with the identity of row {}", first + 1),
            FindingKind::RepeatedRows { first, rows, .. } => {
                format!("{rows} rows with the identities of rows from {} on", first + 1)
            }
            FindingKind::RepeatedResponse { first } => format!("a response with the id of that in row {}", first + 1),
            FindingKind::RepeatedCall { first } => format!("a tool use with the id of that in block {first}"),
            FindingKind::Refused(refusal) => refusal.reason().to_owned(),
            FindingKind::HalfPair => "a tool use without its result, or the reverse".to_owned(),
            FindingKind::Media { is_document, items } => {
                let what = if *is_document { "document" } else { "image" };
                let first = items.first().map(|(_, refusal)| refusal.text()).unwrap_or_default();
                match items.len() {
                    0 | 1 => format!("{} {what} with {first}", if *is_document { "a" } else { "an" }),
                    many => format!("{many} {what}s that the API refuses, the first with {first}"),
                }
            }
            FindingKind::TooMuch(refusal @ MediaRefusal::Images(..)) => format!("the window has {}", refusal.text()),
            FindingKind::TooMuch(refusal @ MediaRefusal::Pages(..)) => {
                format!("the documents of the window have {}", refusal.text())
            }
            FindingKind::TooMuch(refusal) => format!("the images and documents of the window have {}", refusal.text()),
        }
    }

    /// Returns the effect on the next request.
    pub fn effect(&self) -> String {
        let effect = match &self.kind {
            FindingKind::Cut { place: CutPlace::Newest, .. } => "the next request begins here",
            FindingKind::Cut { place: CutPlace::NewestAnswer, .. } => {
                "the next request begins here, with an answer, which the API refuses"
            }
            FindingKind::Cut { place: CutPlace::Older, .. } => "still lost once the newer cut is mended",
            FindingKind::Cut { place: CutPlace::Within, .. } => "the next request continues here from an older row",
            FindingKind::Cut { place: CutPlace::Beyond, .. } => "the next request ends before this row",
            FindingKind::Cut { place: CutPlace::Kept, .. } => "the next request has none of the rows that it keeps",
            FindingKind::Unreadable { rows: 1, .. } => "the client skips the line; its content is lost",
            FindingKind::Unreadable { .. } => "the client skips the lines; their content is lost",
            FindingKind::UnreadRows { is_skipped: true, .. } => "the client skips the line",
            FindingKind::UnreadRows { .. } => "the client reads only the first of them",
            FindingKind::MissingParent => "the history before the fork is not known",
            FindingKind::ShortParent | FindingKind::MissingOrdinal => "the client cannot resume the session",
            FindingKind::RepeatedRows { copies: Resemblance::Neither, .. } => {
                "the client sends the later row in place of the earlier one"
            }
            FindingKind::RepeatedRows { .. } => "no effect: the client sends it once",
            FindingKind::RepeatedResponse { .. } => "the client treats both as one response",
            FindingKind::TooMuch(MediaRefusal::Images(images, limit)) => {
                return format!("the client leaves out the {} oldest images; before 2.1.330 the API refuses", images - limit);
            }
            FindingKind::RepeatedCall { .. } => "the client leaves out this tool use and its result",
            FindingKind::Media { .. } | FindingKind::Refused(_) | FindingKind::HalfPair | FindingKind::TooMuch(_) => {
                "every request is refused"
            }
        };
        effect.to_owned()
    }

    /// Returns true if `repair` can mend it.
    pub fn is_repairable(&self) -> bool {
        match &self.kind {
            FindingKind::Cut { before, .. } => before.is_some(),
            FindingKind::RepeatedRows { copies, .. } => *copies == Resemblance::Exact,
            FindingKind::UnreadRows { .. }
            | FindingKind::RepeatedCall { .. }
            | FindingKind::Refused(_)
            | FindingKind::Media { .. } => true,
            FindingKind::Unreadable { .. }
            | FindingKind::MissingParent
            | FindingKind::ShortParent
            | FindingKind::MissingOrdinal
            | FindingKind::RepeatedResponse { .. }
            | FindingKind::HalfPair
            | FindingKind::TooMuch(_) => false,
        }
    }
}

impl Analysis {
    pub fn findings(&self) -> Vec<Finding> {
        findings(&self.session, &self.window, &self.model)
    }
}

/// Returns the damage of a session, in file order. `model` is the model of its last response.
pub fn findings(session: &Session, window: &Window, model: &str) -> Vec<Finding> {
    let mut found = Vec::new();
    lines(session, &mut found);
    cuts(session, window, &mut found);
    repeated_rows(session, &mut found);
    repeated_responses(session, window, &mut found);
    calls(session, window, model, &mut found);
    // Other APIs have other limits.
    if is_claude(model) {
        contents(session, window, &mut found);
        media(session, window, model, &mut found);
    }
    found.sort_by_key(|finding| (finding.row, finding.block));
    found
}

fn is_claude(model: &str) -> bool {
    model.is_empty() || model.starts_with("claude")
}

/// Finds rows that the client cannot read.
fn lines(session: &Session, found: &mut Vec<Finding>) {
    for (row, facts) in (0u32..).zip(&session.rows) {
        let Some(Event::Fault(fault)) = facts.event.as_deref() else { continue };
        let kind = match fault {
            Fault::Glued | Fault::Buried => FindingKind::UnreadRows { fault: *fault, is_skipped: facts.kind == RowKind::Broken },
            fault => {
                if let Some(Finding { kind: FindingKind::Unreadable { fault: last, rows }, row: first, .. }) = found.last_mut()
                    && (*last, *first + *rows) == (*fault, row)
                {
                    *rows += 1;
                    continue;
                }
                FindingKind::Unreadable { fault: *fault, rows: 1 }
            }
        };
        found.push(Finding { kind, row, block: None });
    }
    let last = (session.rows.len() as u32).saturating_sub(1);
    for (fault, kind, row) in [
        (Fault::MissingParentSession, FindingKind::MissingParent, 0),
        (Fault::ShortParentSession, FindingKind::ShortParent, 0),
        (Fault::MissingOrdinal, FindingKind::MissingOrdinal, last),
    ] {
        found.extend(session.damage.contains_key(&fault).then_some(Finding { kind, row, block: None }));
    }
}

fn cuts(session: &Session, window: &Window, found: &mut Vec<Finding>) {
    for cut in &window.cuts {
        let blocks = || cut.rows.iter().flat_map(|row| session.blocks_of(*row));
        let place = match session.rows[cut.row as usize].kind {
            RowKind::Boundary if session.rows[cut.row as usize].parent.is_none() => CutPlace::Kept,
            _ if cut.rows.contains(&cut.row) => CutPlace::Beyond,
            RowKind::Assistant if window.chain.first() == Some(&cut.row) => CutPlace::NewestAnswer,
            _ if window.chain.first() == Some(&cut.row) => CutPlace::Newest,
            _ if window.chain.contains(&cut.row) => CutPlace::Within,
            _ => CutPlace::Older,
        };
        let (blocks, tokens) = (blocks().count() as u32, blocks().map(|block| block.tokens.value).sum());
        let kind = FindingKind::Cut { before: cut.before, blocks, tokens, place };
        found.push(Finding { kind, row: cut.row, block: None });
    }
}

/// Finds rows with the identity of an earlier row; rows that follow each other, as their earlier rows do, are one finding.
fn repeated_rows(session: &Session, found: &mut Vec<Finding>) {
    let mut firsts: FxHashMap<Key, u32> = FxHashMap::default();
    let mut last: Option<(u32, u32)> = None;
    for (row, facts) in (0u32..).zip(&session.rows) {
        let Some(id) = facts.id.filter(|_| session.inherited_from(row).is_none()) else { continue };
        let first = *firsts.entry(id).or_insert(row);
        if first == row {
            continue;
        }
        let like = resemblance(session, first, row);
        let follows = last == Some((first.wrapping_sub(1), row - 1));
        last = Some((first, row));
        match found.last_mut().map(|finding| &mut finding.kind) {
            Some(FindingKind::RepeatedRows { rows, copies, .. }) if follows && *copies == like => *rows += 1,
            _ => {
                let kind = FindingKind::RepeatedRows { first, rows: 1, copies: like };
                found.push(Finding { kind, row, block: None });
            }
        }
    }
}

/// Returns the resemblance of two rows.
pub fn resemblance(session: &Session, first: u32, second: u32) -> Resemblance {
    let (a, b) = (&session.rows[first as usize], &session.rows[second as usize]);
    let hashes = |row| session.blocks_of(row).iter().map(|block| block.hash);
    let sent = |row: &Row| (row.kind, row.parent, row.message, row.sidechain, row.flags);
    if sent(a) != sent(b) || !hashes(first).eq(hashes(second)) {
        return Resemblance::Neither;
    }
    if (Row { offset: b.offset, ..a.clone() }) == *b { Resemblance::Exact } else { Resemblance::Sent }
}

/// Finds responses of the live chain that have the same id, although a prompt is between them.
fn repeated_responses(session: &Session, window: &Window, found: &mut Vec<Finding>) {
    let mut known: FxHashMap<Key, (u32, u32)> = FxHashMap::default();
    let mut prompts = 0;
    for row in since_boundary(session, window) {
        let facts = &session.rows[*row as usize];
        prompts += u32::from(facts.prompt && facts.kind == RowKind::User);
        let Some(message) = facts.message.filter(|_| facts.kind == RowKind::Assistant) else { continue };
        let (first, turn) = *known.entry(message).or_insert((*row, prompts));
        if turn != prompts {
            known.insert(message, (first, prompts));
            found.push(Finding { kind: FindingKind::RepeatedResponse { first }, row: *row, block: None });
        }
    }
}

/// Returns the rows of the live chain since the last compaction.
fn since_boundary<'a>(session: &Session, window: &'a Window) -> &'a [u32] {
    let boundary = window.chain.iter().rposition(|row| session.rows[*row as usize].kind == RowKind::Boundary);
    &window.chain[boundary.unwrap_or_default()..]
}

/// Finds tool uses and results that the client leaves out or that the API refuses.
fn calls(session: &Session, window: &Window, model: &str, found: &mut Vec<Finding>) {
    let is_call = |block: &&Block| matches!(block.kind, BlockKind::ToolUse | BlockKind::ToolResult) && block.label.is_empty();
    let chain = since_boundary(session, window).iter().flat_map(|row| session.blocks_of(*row)).filter(is_call);
    let mut uses: FxHashMap<Key, BlockNumber> = FxHashMap::default();
    let is_unpaired = |block: &Block| matches!(block.refusal, Some(Refusal::EmptyId | Refusal::OddId | Refusal::Role));
    for block in chain {
        let finding = |kind| Finding { kind, row: block.row, block: Some(block.number) };
        // Other APIs accept other characters.
        let refusal =
            block.refusal.filter(|refusal| *refusal == Refusal::EmptyId || *refusal == Refusal::OddId && is_claude(model));
        if let Some(refusal) = refusal {
            found.push(finding(FindingKind::Refused(refusal)));
        } else if let Some(call) = block.call.filter(|_| block.kind == BlockKind::ToolUse) {
            let first = *uses.entry(call).or_insert(block.number);
            let row = |number: BlockNumber| session.blocks[number as usize - 1].row;
            if first != block.number && session.rows[row(first) as usize].id != session.rows[block.row as usize].id {
                found.push(finding(FindingKind::RepeatedCall { first }));
            }
        }
    }
    // Codex adds a result to a call without one, and sends no result without its call.
    if session.vocabulary != Vocabulary::Claude {
        return;
    }
    let sent = || window.blocks_in(session).filter(is_call);
    let of = |kind: BlockKind| sent().filter(move |block| block.kind == kind).filter_map(|block| block.call);
    let (uses, results): (FxHashSet<Key>, FxHashSet<Key>) =
        (of(BlockKind::ToolUse).collect(), of(BlockKind::ToolResult).collect());
    // The last calls may wait for their results.
    let last = sent().rfind(|block| block.kind == BlockKind::ToolUse).map(|block| session.rows[block.row as usize].message);
    for block in sent().filter(|block| !is_unpaired(block)) {
        let Some(call) = block.call else { continue };
        let is_half = match block.kind {
            BlockKind::ToolUse => !results.contains(&call) && Some(session.rows[block.row as usize].message) != last,
            _ => !uses.contains(&call),
        };
        if is_half {
            found.push(Finding { kind: FindingKind::HalfPair, row: block.row, block: Some(block.number) });
        }
    }
}

/// Finds blocks of the window that the API refuses for another reason than an id.
fn contents(session: &Session, window: &Window, found: &mut Vec<Finding>) {
    for block in window.blocks_in(session) {
        let refusal = block.refusal.filter(|refusal| !matches!(refusal, Refusal::EmptyId | Refusal::OddId));
        let finding = |refusal| Finding { kind: FindingKind::Refused(refusal), row: block.row, block: Some(block.number) };
        found.extend(refusal.map(finding));
    }
}

/// Finds images and documents of the window that the API refuses: by their data, or over its limits.
fn media(session: &Session, window: &Window, model: &str, found: &mut Vec<Finding>) {
    let sent = || window.blocks_in(session).filter(|block| !block.media.is_empty());
    let images = sent().map(|block| block.media.images.len()).sum::<usize>();
    let many = images > FEW_IMAGES;
    let pixels = if many { PIXELS_OF_MANY } else { PIXELS };
    let evidence = WindowEvidence { stated_tokens: session.capacity, ..WindowEvidence::default() };
    let is_large = capacity(model, &evidence, &ReadSettings::default()).tokens > capacity::USUAL;
    let limit = MEDIA[usize::from(is_large)];
    let (mut pages, mut size) = (0, 0);
    for block in sent() {
        let mut add = |is_document, items: Vec<(usize, MediaRefusal)>| {
            if !items.is_empty() {
                let kind = FindingKind::Media { is_document, items };
                found.push(Finding { kind, row: block.row, block: Some(block.number) });
            }
        };
        let images = block.media.images.iter().enumerate().filter_map(|(index, image)| {
            if let Some(fault) = image.fault {
                return Some((index, MediaRefusal::Data(fault)));
            }
            if image.bytes > IMAGE_BYTES {
                return Some((index, MediaRefusal::Bytes(image.bytes, IMAGE_BYTES)));
            }
            size += image.bytes;
            let is_over = image.width.max(image.height) > pixels;
            is_over.then_some((index, MediaRefusal::Pixels(image.width, image.height, pixels)))
        });
        add(false, images.collect());
        let documents = block.media.documents.iter().enumerate().filter_map(|(index, document)| {
            if let Some(fault) = document.fault {
                return Some((index, MediaRefusal::Data(fault)));
            }
            let base64 = document.bytes.div_ceil(3) * 4;
            if document.pages > limit {
                return Some((index, MediaRefusal::Pages(document.pages, limit)));
            }
            if base64 > REQUEST_BYTES {
                return Some((index, MediaRefusal::Bytes(base64, REQUEST_BYTES)));
            }
            (pages, size) = (pages + document.pages, size + base64);
            None
        });
        add(true, documents.collect());
    }
    let last = window.rows.last().copied().unwrap_or_default();
    let images = images as u32;
    let too_much = [
        (images > limit, MediaRefusal::Images(images, limit)),
        (pages > limit, MediaRefusal::Pages(pages, limit)),
        (size > REQUEST_BYTES, MediaRefusal::Bytes(size, REQUEST_BYTES)),
    ];
    for (_, refusal) in too_much.into_iter().filter(|(is_over, _)| *is_over) {
        found.push(Finding { kind: FindingKind::TooMuch(refusal), row: last, block: None });
    }
}
