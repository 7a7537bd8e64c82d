//! A digest: one text that replaces all old blocks, to hand over the work.
//!
//! It starts like a briefing: the newest prompt, all other words of the user, the goal, the done, open and next items. The words of
//! the user are verbatim. Then follow the details: the most valuable whole lines of each block, as in a window that is shortened in
//! place.

use super::need::Need;
use super::plan::why;
use super::select::{Selection, Text, select};
use crate::engine::reduce::{KeptPieces, Outline, Piece, Reducible, declaration, extract, numbered, outline, without_number};
use crate::engine::report::summary::{Point, PointKind, Sentence, is_of_client, own_words, sentences};
use crate::engine::{Analysis, amount, choices, is_compacted, items, label, mask, terms_of};
use crate::model::{Block, BlockKind, BlockNumber, Conventions, Level, Outdated, Role, ToolVerb, starts_with_any};
use crate::text::cut::cut;
use rustc_hash::FxHashSet;
use std::borrow::Cow;
use std::fmt::Write;

/// The weight of words in a client's summary relative to words of a tool: the summary was selected from everything before it.
const SUMMARY_WEIGHT: f32 = 2.0;
/// Minimum bytes of a content, without the words of a person, that are worth analysing.
const REST_BYTES: usize = 150;
/// Bytes above which a message of a person is assumed to be mostly pasted, and the parts of its start and end that are kept.
const LONG_WORDS_BYTES: usize = 8_000;
const WORDS_ENDS: Ends = Ends { head: 600, tail: 300 };
/// The same limits for the newest prompt.
const LONG_NEWEST_BYTES: usize = 8_000;
const NEWEST_ENDS: Ends = Ends { head: 5_000, tail: 2_500 };
/// Bytes up to which a prompt needs the preceding agent message to be understood, and the part of that message that is shown.
const NOD_BYTES: usize = 80;
const BEFORE_BYTES: usize = 300;
/// Minimum bytes of a line that an edit replaces: a shorter one can be at other places of the file.
const REPLACED_BYTES: usize = 8;
const SUBJECT_CHARACTERS: usize = 50;

/// Number of bytes kept at the start and at the end of a long text.
#[derive(Clone, Copy)]
struct Ends {
    head: usize,
    tail: usize,
}

impl Ends {
    /// Returns the start of a text, up to the end of a line.
    fn head_of(self, text: &str) -> &str {
        let head = &text[..text.floor_char_boundary(self.head)];
        head.rfind('\n').filter(|at| *at > self.head / 2).map_or(head, |at| &head[..at])
    }

    /// Returns the end of a text, from the start of a line.
    fn tail_of(self, text: &str) -> &str {
        let tail = &text[text.ceil_char_boundary(text.len().saturating_sub(self.tail))..];
        tail.find('\n').filter(|at| *at < self.tail / 2).map_or(tail, |at| &tail[at + 1..])
    }

    /// Returns the start and the end, separated by a line that `gap` creates from the number of omitted bytes.
    fn cut(self, text: &str, gap: &dyn Fn(usize) -> String) -> String {
        let (head, tail) = (self.head_of(text), self.tail_of(text));
        format!("{head}{}{tail}", gap(text.len().saturating_sub(head.len() + tail.len())))
    }
}

/// Returns the words of a person for a digest or a summary of turns: verbatim, except for a very long text, which is mostly pasted.
/// Such a text is reduced to its start, its end and the size of the omitted part.
pub fn bounded_words(words: &str) -> Cow<'_, str> {
    match words.len() > LONG_WORDS_BYTES {
        true => WORDS_ENDS.cut(words, &|bytes| format!("\n[… {bytes} bytes …]\n")).into(),
        false => words.into(),
    }
}

/// A block that a digest replaces.
pub struct DigestSource<'a> {
    pub block: &'a Block,
    /// Its content for people, before the first change by aperture.
    pub content: &'a str,
    /// The part of the content from which lines are taken: of a call the texts that it writes or runs.
    pub own: &'a str,
    /// The texts that an edit replaces.
    pub replaced: &'a str,
    /// The words of a person in that content.
    pub words: &'a [String],
    /// The prompts that the client sent after it and recorded in no block.
    pub queued: &'a [String],
    /// True if the digest must contain the whole block.
    pub whole: bool,
}

impl DigestSource<'_> {
    /// Returns true if the whole block belongs to the details. Contents that are only the words of a person precede the details.
    fn is_whole(&self) -> bool {
        self.whole && (self.words.is_empty() || self.rest_bytes() >= REST_BYTES)
    }

    /// Returns the number of bytes written by a person.
    fn words_bytes(&self) -> usize {
        self.words.iter().map(String::len).sum()
    }

    /// Returns the number of bytes not written by a person.
    fn rest_bytes(&self) -> usize {
        self.content.len().saturating_sub(self.words_bytes())
    }

    /// Returns the two ends that the digest keeps of a long prompt; `None` if it keeps the whole prompt.
    fn ends(&self, newest: bool) -> Option<Ends> {
        let (most, ends) = if newest { (LONG_NEWEST_BYTES, NEWEST_ENDS) } else { (LONG_WORDS_BYTES, WORDS_ENDS) };
        (self.block.kind != BlockKind::ToolResult && self.words_bytes() > most).then_some(ends)
    }
}

/// A digest of old blocks, without its choice of details.
pub struct Digest<'a> {
    old: Vec<DigestSource<'a>>,
    pieces: Vec<Vec<Piece<'a>>>,
    /// The lines from which the details are chosen.
    pub selection: Selection,
    briefing: String,
}

impl<'a> Digest<'a> {
    /// Prepares the digest of old blocks, given in their order: after the points of a briefing and the headers of turns come the
    /// details. Content that the rest of the window shows is not repeated. `prompt_after` is the prompt that follows the digest in its
    /// message.
    pub fn new(
        reading: &Analysis,
        old: Vec<DigestSource<'a>>,
        prompt_after: Option<BlockNumber>,
        points: &[Point],
        headers: &[String],
    ) -> Digest<'a> {
        let mut need = Need::new(reading);
        for old in old.iter().filter(|old| old.block.level != Level::Original) {
            need.replace(old.block, &terms_of(old.content));
        }
        let numbers: FxHashSet<BlockNumber> = old.iter().map(|old| old.block.number).collect();
        let stays = |block: &&Block| !matches!(block.role, Role::System | Role::Thinking) && !numbers.contains(&block.number);
        let mut shown: FxHashSet<u32> = reading.in_window().filter(stays).flat_map(|block| block.terms.iter().copied()).collect();
        let briefing = briefing(reading, &old, prompt_after, points, headers);
        shown.extend(terms_of(&briefing));
        let newest = newest_prompt(reading).map(|block| block.number);
        let cut = |old: &DigestSource<'_>| old.ends(Some(old.block.number) == newest).is_some();
        let told = |old: &DigestSource<'_>| old.is_whole() || !old.words.is_empty() && old.rest_bytes() < REST_BYTES && !cut(old);
        let conventions = reading.session.conventions;
        let mut pieces: Vec<Vec<Piece<'a>>> =
            old.iter().map(|old| if told(old) { Vec::new() } else { pieces(old, conventions) }).collect();
        ignore_replaced(&old, &mut pieces, conventions);
        let weight = |old: &DigestSource<'_>| if is_compacted(reading, old.block) { SUMMARY_WEIGHT } else { 1.0 };
        let texts = pieces.iter().zip(&old);
        let texts: Vec<Text<'_>> = texts
            .map(|(pieces, old)| Text { pieces, line: need.of_line(old.block), weight: weight(old), is_extract: true })
            .collect();
        let selection = select(&texts, &|term| need.of_name(term), &shown);
        drop(texts);
        Digest { old, pieces, selection, briefing }
    }

    /// Returns the text with the most valuable lines as details, at most `lines`.
    pub fn text(&self, lines: usize) -> String {
        let kept = self.selection.first(lines);
        let details = self.old.iter().zip(&self.pieces).zip(&kept).map(|((old, pieces), kept)| Detail { old, pieces, kept });
        let details: Vec<Detail<'_>> = details.collect();
        let tokens: f64 = self.old.iter().map(|old| old.block.tokens.value).sum();
        let mut text = format!(
            "[digest of {} blocks, {} tokens. @recall(NUMBER) restores a block, @recall(\"words\") the matching parts.]",
            self.old.len(),
            amount(tokens.round() as u64)
        );
        text.push_str(&self.briefing);
        write_lines(&mut text, &details);
        text
    }
}

/// The kept lines of a block, without the words of a person.
struct Detail<'a> {
    old: &'a DigestSource<'a>,
    pieces: &'a [Piece<'a>],
    kept: &'a KeptPieces,
}

impl Detail<'_> {
    fn text(&self) -> Cow<'_, str> {
        match () {
            () if self.old.is_whole() => self.old.content.trim().into(),
            () if self.kept.is_none() => "".into(),
            () if self.outdated(Outdated::EditedLater).is_some() => {
                extract(self.pieces, self.kept).lines().map(without_number).collect::<Vec<_>>().join("\n").into()
            }
            () => extract(self.pieces, self.kept).into(),
        }
    }

    /// Returns the subject of the block, and why its lines are outdated.
    fn subject(&self) -> String {
        let mut subject = subject(self.old.block);
        if let Some(reason) = self.outdated(Outdated::Succeeded).filter(|_| !subject.is_empty()) {
            let _ = write!(subject, ", {reason}");
        }
        if let Some(reason) = self.outdated(Outdated::EditedLater).filter(|_| !subject.is_empty()) {
            let lines = self.old.block.tool.as_deref().map_or("", |tool| &*tool.lines);
            let whole = subject.strip_suffix(lines).and_then(|subject| subject.strip_suffix(':')).unwrap_or(&subject);
            subject = format!("{whole}, {reason}");
        }
        subject
    }

    /// Returns the words for one of the reasons why the block is outdated. After an edit, the numbers of its lines are no longer right.
    fn outdated(&self, reason: Outdated) -> Option<String> {
        let mut reasons = self.old.block.usefulness.reasons.iter().copied();
        reasons.find(|(found, _)| *found == reason).map(|found| why(found).reason)
    }
}

/// Returns the words of the user, the newest prompt first, and the points of a briefing.
fn briefing(
    reading: &Analysis,
    old: &[DigestSource<'_>],
    prompt_after: Option<BlockNumber>,
    points: &[Point],
    headers: &[String],
) -> String {
    let mut text = String::new();
    let newest = newest_prompt(reading);
    let place = newest.and_then(|newest| old.iter().position(|old| old.block.number == newest.number));
    match (newest, place.map(|place| &old[place])) {
        (Some(newest), Some(prompt)) => {
            if let Some(older) = prompt_after {
                let _ = write!(text, "\nThe prompt after this digest (#{older}) is older than it.");
            }
            let _ = write!(text, "\nThe newest prompt (#{}):\n{}", newest.number, prompt_words(prompt, true));
            let before = place.and_then(|place| old[..place].iter().rfind(|old| is_spoken(reading, old.block)));
            let end =
                before.filter(|_| prompt.words_bytes() <= NOD_BYTES).map(|before| (before, end_of(before.content, reading)));
            if let Some((before, end)) = end.filter(|(_, end)| !end.is_empty()) {
                let _ = write!(text, "\nBefore it, the agent said (#{}): {end}", before.block.number);
            }
        }
        (Some(newest), None) => {
            let first = old.first().map_or(0, |old| old.block.number);
            let follows = newest.number >= first || prompt_after == Some(newest.number);
            let place = if follows { "follows this digest" } else { "is before this digest" };
            let _ = write!(text, "\nThe newest prompt (#{}) {place}.", newest.number);
        }
        (None, _) => {}
    }
    let choices = choices(reading);
    let chosen = |answer: BlockNumber| -> String {
        let choice = choices.iter().find(|choice| choice.answer == answer);
        let offer = choice.and_then(|choice| Some((choice, old.iter().find(|old| old.block.number == choice.offer)?)));
        let found = offer.map(|(choice, offer)| items(offer.content, &choice.numbers).join("\n"));
        found
            .filter(|items| !items.is_empty())
            .map(|items| format!("\nThat is, of what the agent offered:\n{items}"))
            .unwrap_or_default()
    };
    if place.is_some() {
        text.push_str(&newest.map(|newest| chosen(newest.number)).unwrap_or_default());
    }
    let mut said = String::new();
    for (at, other) in old.iter().enumerate() {
        // Repeated words are kept only at their last occurrence.
        let is_repeated = || old[at + 1..].iter().any(|later| later.words == other.words);
        if !other.words.is_empty() && Some(at) != place && !is_repeated() {
            let tool = other.block.tool.as_deref().filter(|_| other.block.kind == BlockKind::ToolResult);
            let (number, call) = (other.block.number, subject(other.block));
            let conventions = reading.session.conventions;
            let is_own = |words: &String| own_words(other.block, words, conventions).is_some();
            let _ = match tool {
                // The sentence of the client about a rejection is not the user's.
                Some(_) if !other.words.iter().any(is_own) => write!(said, "\n#{number}: rejected {call}"),
                Some(_) => write!(said, "\n#{number} ({call}): {}{}", prompt_words(other, false), chosen(number)),
                None => write!(said, "\n#{number}: {}{}", prompt_words(other, false), chosen(number)),
            };
        }
        for words in other.queued {
            let _ = write!(said, "\nafter #{}: {}", other.block.number, bounded_words(words.trim()));
        }
    }
    if !said.is_empty() {
        let _ = write!(text, "\nWhat the user said before:{said}");
    }
    let is_above = |number: BlockNumber| {
        let is_told = |old: &DigestSource<'_>| old.block.number == number && !old.words.is_empty();
        newest.is_some_and(|newest| newest.number == number) || old.iter().any(is_told)
    };
    for point in points {
        let label = point.kind.label();
        let block = point.parts.first().and_then(|part| part.block).filter(|_| point.kind == PointKind::Objective);
        // A prompt whose words are above is only referenced.
        let told = match block.filter(|number| is_above(*number)) {
            Some(number) => format!("#{number}"),
            None => point.text(),
        };
        let _ = write!(text, "\n{}{}: {told}", label[..1].to_uppercase(), &label[1..]);
    }
    if !headers.is_empty() {
        let _ = write!(text, "\nTurns:\n{}", headers.join("\n"));
    }
    text
}

/// Returns true if a block holds a prompt, and not a reply in a tool result.
pub fn is_prompt(block: &Block) -> bool {
    !block.words.is_empty() && block.kind != BlockKind::ToolResult
}

/// Returns true if a block is a text of the agent, and not a notice of the client in its place.
fn is_spoken(reading: &Analysis, block: &Block) -> bool {
    block.kind == BlockKind::Text && block.role == Role::Assistant && !is_of_client(reading, block)
}

fn newest_prompt(reading: &Analysis) -> Option<&Block> {
    reading.in_window().filter(|block| is_prompt(block)).last()
}

/// Returns the words of a person, each part verbatim. The omitted bytes of a very long prompt are counted.
fn prompt_words(old: &DigestSource<'_>, newest: bool) -> String {
    let gap = |bytes: usize| format!("\n[… {bytes} bytes of this prompt: @recall({})]\n", old.block.number);
    match (old.words, old.ends(newest)) {
        _ if old.block.kind == BlockKind::ToolResult => old.words.join("\n"),
        ([words], Some(ends)) => ends.cut(words, &gap),
        ([first, .., last], Some(ends)) => {
            let (head, tail) = (ends.head_of(first), ends.tail_of(last));
            let all = old.words_bytes() + old.rest_bytes();
            format!("{head}{}{tail}", gap(all.saturating_sub(head.len() + tail.len())))
        }
        // Once for all: quotes of a summary are short and many.
        ([_, _, ..], None) if old.rest_bytes() >= REST_BYTES => old.words.join("\n") + gap(old.rest_bytes()).trim_end(),
        (words, _) => words.join("\n"),
    }
}

/// Returns the last sentences of a text, up to a limit; the items of a list each on a line.
fn end_of(text: &str, reading: &Analysis) -> String {
    let sentences = sentences(text, reading.session.conventions);
    let mut left = BEFORE_BYTES;
    let fits = |sentence: &&Sentence| {
        let fits = left == BEFORE_BYTES || sentence.text.len() < left;
        left = left.saturating_sub(sentence.text.len());
        fits
    };
    let mut last: Vec<&Sentence> = sentences.iter().rev().take_while(fits).collect();
    last.reverse();
    let mut end = String::new();
    let mut was_item = false;
    for sentence in last {
        end.push_str(match (was_item, sentence.item) {
            (_, true) => "\n- ",
            (true, false) => "\n",
            (false, false) if end.is_empty() => "",
            (false, false) => " ",
        });
        end.push_str(&sentence.text);
        was_item = sentence.item;
    }
    end
}

/// Writes the kept lines of each block under its number and its subject.
fn write_lines(text: &mut String, details: &[Detail<'_>]) {
    let mut about = String::new();
    let mut begun = false;
    for detail in details {
        let lines = detail.text();
        if lines.is_empty() {
            continue;
        }
        if !std::mem::replace(&mut begun, true) {
            text.push_str("\nDetails, by block:");
        }
        let of = detail.subject();
        let _ = write!(text, "\n#{}", detail.old.block.number);
        if of != about && !of.is_empty() {
            let _ = write!(text, " {of}");
        }
        about = of;
        let _ = write!(text, "\n{lines}");
    }
}

/// Returns the pieces of a content, as in a window that is shortened in place. A plan, the confirmation of an edit and a declined call
/// have none: the briefing says what they say.
fn pieces<'a>(old: &DigestSource<'a>, conventions: &'a Conventions) -> Vec<Piece<'a>> {
    let block = old.block;
    let verb = block.tool.as_deref().map(|tool| tool.verb);
    let is_confirmed = block.kind == BlockKind::ToolResult && verb == Some(ToolVerb::Edit) && !block.error;
    let is_declined = block.error && starts_with_any(old.own.trim_start(), &conventions.declined);
    if verb == Some(ToolVerb::Plan) || is_confirmed || is_declined || old.own.trim().is_empty() {
        return Vec::new();
    }
    let is_patch = is_patch(old, conventions);
    let mut input = Reducible {
        kind: block.kind,
        tool: block.tool.as_deref(),
        error: block.error,
        media: &block.media,
        conventions,
        content: old.own,
        held: &[],
    };
    // The text that an edit writes is read like the file.
    if verb == Some(ToolVerb::Edit) && !is_patch {
        input.kind = BlockKind::ToolResult;
    }
    let mut pieces = outline(&input).map(Outline::into_pieces).unwrap_or_default();
    // The place of a line is known by its number, or by the signature of its function.
    for place in 0..pieces.len() {
        let is_placed = |under: usize| declaration(without_number(&pieces[under].text)).is_some();
        if numbered(&pieces[place].text).is_some() && pieces[place].under.is_some_and(is_placed) {
            pieces[place].under = None;
        }
    }
    // Lines that a patch removes are not in the file.
    if is_patch {
        let is_removed = |piece: &Piece<'_>| piece.text.starts_with('-');
        for piece in pieces.iter_mut().filter(|piece| is_removed(piece)) {
            (piece.nameless, piece.salience) = (true, 0.0);
        }
    }
    pieces
}

/// Takes their value from lines that a later edit replaces.
fn ignore_replaced<'a>(old: &[DigestSource<'a>], pieces: &mut [Vec<Piece<'_>>], conventions: &Conventions) {
    let mut replaced: FxHashSet<&str> = FxHashSet::default();
    for (old, pieces) in old.iter().zip(pieces).rev() {
        let is_replaced = |piece: &Piece<'_>| replaced.contains(without_number(&piece.text).trim_start_matches('+').trim());
        for piece in pieces.iter_mut().filter(|piece| is_replaced(piece)) {
            (piece.nameless, piece.salience) = (true, 0.0);
        }
        let is_patch = is_patch(old, conventions);
        // The lines of a patch have a sign.
        let side = |text: &'a str, sign: char| -> Vec<&'a str> {
            let lines = text.lines().filter_map(|line| if is_patch { line.strip_prefix(sign) } else { Some(line) });
            lines.map(str::trim).collect()
        };
        let written: FxHashSet<&str> = side(old.own, '+').into_iter().collect();
        let lines = side(if is_patch { old.own } else { old.replaced }, '-').into_iter();
        replaced.extend(lines.filter(|line| line.len() >= REPLACED_BYTES && !written.contains(line)));
    }
}

/// Returns true if a call sends a patch.
fn is_patch(old: &DigestSource<'_>, conventions: &Conventions) -> bool {
    conventions.inputs.patch_starts.iter().any(|start| old.own.contains(start))
}

/// Returns the subject of a block: the tool and its target, the file that was read, or the speaker.
fn subject(block: &Block) -> String {
    match (block.role, block.tool.as_deref()) {
        (Role::User, _) if block.ground => "instructions".to_owned(),
        (Role::User, _) => "user".to_owned(),
        (Role::ToolUse, Some(tool)) if !tool.verb.names_file() => tool.name.to_string(),
        (_, Some(tool)) if tool.target.starts_with(['{', '[']) => tool.name.to_string(),
        (_, Some(tool)) => {
            let label = label(block);
            // The lines of a file say that it was read, and where the errors of a command go says nothing about it.
            let name = if tool.verb == ToolVerb::Read { &*tool.name } else { "" };
            let short = label.strip_prefix(name).unwrap_or(&label).trim_start();
            let short = if short.is_empty() { &label } else { short };
            cut(mask(short).trim_end_matches(" 2>&1"), SUBJECT_CHARACTERS)
        }
        (Role::System, _) => label(block),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{InputNames, Tool};

    /// Checks the pieces of the content of a call or result, and which of them count.
    fn check((kind, verb): (BlockKind, ToolVerb), content: &str, expected: &[(&str, bool)]) {
        let mut block = Block::new(kind, if kind == BlockKind::ToolUse { Role::ToolUse } else { Role::ToolResult });
        block.tool = Some(Box::new(Tool::new("T", verb, "/w/a.rs")));
        let inputs = InputNames { patch_starts: vec!["*** Begin Patch"], ..InputNames::default() };
        let conventions = Conventions { inputs, ..Conventions::default() };
        let old = DigestSource { block: &block, content, own: content, words: &[], queued: &[], whole: false, replaced: "" };
        let found = pieces(&old, &conventions);
        assert_eq!(found.iter().map(|piece| (&*piece.text, !piece.nameless)).collect::<Vec<_>>(), expected, "{content}");
    }

    #[test]
    fn a_plan_and_the_confirmation_of_an_edit_have_no_lines() {
        check((BlockKind::ToolUse, ToolVerb::Plan), "write it", &[]);
        check((BlockKind::ToolResult, ToolVerb::Edit), "The file /w/a.rs has been updated.", &[]);
        check((BlockKind::ToolUse, ToolVerb::Edit), "let a = 2;\n  c();", &[("let a = 2;", true), ("  c();", true)]);
    }

    #[test]
    fn lines_of_a_file_that_was_edited_later_have_no_numbers() {
        let tool = |name: &str, verb| Some(Box::new(Tool::new(name, verb, "/w/src/a.rs")));
        let mut read = Block::new(BlockKind::ToolResult, Role::ToolResult);
        (read.number, read.tool) = (3, tool("Read", ToolVerb::Read));
        read.tool.as_mut().unwrap().lines = "1-2".into();
        read.usefulness.reasons = vec![(Outdated::ReadAgain, 12), (Outdated::EditedLater, 9)];
        let edit = Block { tool: tool("Edit", ToolVerb::Edit), ..Block::new(BlockKind::ToolUse, Role::ToolUse) };
        let source =
            |block, own, replaced| DigestSource { block, content: own, own, replaced, words: &[], queued: &[], whole: false };
        let old = [source(&read, "1→fn first() {}\n2→fn second() {}", ""), source(&edit, "fn other() {}", "fn second() {}")];
        let conventions = Conventions::default();
        let mut found: Vec<Vec<Piece<'_>>> = old.iter().map(|old| pieces(old, &conventions)).collect();
        ignore_replaced(&old, &mut found, &conventions);
        assert_eq!(found[0].iter().map(|piece| piece.nameless).collect::<Vec<_>>(), [false, true]);
        let kept = KeptPieces { pieces: vec![true, false], ..KeptPieces::default() };
        let mut text = String::new();
        write_lines(&mut text, &[Detail { old: &old[0], pieces: &found[0], kept: &kept }]);
        assert_eq!(text, "\nDetails, by block:\n#3 src/a.rs, edited in #9\nfn first() {}");
    }

    #[test]
    fn lines_that_a_patch_removes_do_not_count() {
        let patch = "*** Begin Patch\n*** Update File: a.rs\n fn a() {\n-    one();\n+    two();";
        let expected = [
            ("*** Begin Patch", true),
            ("*** Update File: a.rs", true),
            (" fn a() {", true),
            ("-    one();", false),
            ("+    two();", true),
        ];
        check((BlockKind::ToolUse, ToolVerb::Edit), patch, &expected);
    }
}
