//! The summary of one turn.

use super::cleaning::unshortened;
use super::current::wish;
use super::facts::{Facts, Outcome, answered, facts, is_of_client, outcomes_of};
use super::fit::{HeaderParts, PHRASE_STARTS, fit, header, tells};
use super::sentences::{Sentence, decides, prompt_sentences, salience, sentences};
use super::{
    Contents, Fillable, HEADER_TOKENS, Headline, Part, Point, PointKind, TURN_TOKENS, TurnSummary, is_prompt, is_reply, own_words,
};
use crate::engine::memory::names_subject;
use crate::engine::report::files::home;
use crate::engine::{Analysis, label, o200k};
use crate::model::{BlockKind, BlockNumber, Conventions, Role, Turn, paths, starts_with_any, strings};
use crate::text::clauses::{is_assent, is_prose};
use crate::text::cut::{cut, one_line, without_links};
use crate::text::lists::word_lists;
use crate::text::names::{SEPARATORS, file_name, is_file_name, last_components, telling_name};
use crate::text::stop_words::is_stop_word;
use rustc_hash::FxHashSet;

/// Maximum number of sentences of a prompt, of decisions, and of the final reply.
const ASKED: usize = 2;
const DECIDED: usize = 2;
const SAID: usize = 3;
/// Maximum number of user replies in a summary of a turn or of a session, the latest first.
pub(super) const REPLIED: usize = 3;
const OPEN: usize = 3;
/// Maximum number of characters of the prompt in a header.
const TOPIC_CHARACTERS: usize = 60;
/// Maximum number of characters of a prompt without a sentence.
const PROMPT_CHARACTERS: usize = 120;
/// Maximum number of characters of a call that the user rejected.
const CALL_CHARACTERS: usize = 80;
/// Words from which on a sentence that introduces others says what a prompt is about.
const LONG_INTRODUCTION: usize = 10;
/// The maximum length of a path that a header shows in full, and of one outside of the project that a list does, in bytes.
const LONGEST_PATH: usize = 24;
const LONGEST_PLACE: usize = 72;

/// Facts of a turn, before they are cut to the token limit.
pub(super) struct TurnFacts<'a> {
    pub turn: &'a Turn,
    pub live: bool,
    pub facts: Facts,
    pub asked: Vec<Part>,
    /// Replies of the user in addition to the prompt, the latest last.
    pub replied: Vec<Part>,
    pub words: Vec<(Sentence, BlockNumber)>,
    /// Index of the first sentence of the last message.
    pub last: usize,
    pub answered: bool,
    pub outcomes: Vec<Outcome>,
    pub conventions: &'static Conventions,
}

pub(super) fn turn_facts<'a>(reading: &Analysis, contents: &Contents, turn: &'a Turn, live: bool) -> TurnFacts<'a> {
    let conventions = reading.session.conventions;
    let mut words = Vec::new();
    let mut last = 0;
    for block in turn.blocks.iter().filter_map(|number| reading.block(*number)) {
        if block.kind == BlockKind::Text && block.role == Role::Assistant && !is_of_client(reading, block) {
            last = words.len();
            let content = contents.get(&block.number).map_or("", String::as_str);
            let content = unshortened(block, content, conventions);
            words.extend(sentences(&content, conventions).into_iter().map(|sentence| (sentence, block.number)));
        }
    }
    let facts = facts(reading, contents, turn);
    let answered = answered(reading, turn);
    let asks = answered && questions(&words[last..]).next().is_some();
    let outcomes = outcomes_of(&facts, asks, answered);
    let asked = prompt_parts(reading, contents, turn);
    let replied = replied(reading, contents, turn, asked.first().and_then(|part| part.block));
    TurnFacts { turn, live, facts, asked, replied, words, last, answered, outcomes, conventions }
}

/// Returns the sentences of the prompt; without prose, its first line. A command is returned as typed.
fn prompt_parts(reading: &Analysis, contents: &Contents, turn: &Turn) -> Vec<Part> {
    let conventions = reading.session.conventions;
    let blocks = turn.opening.iter().chain(&turn.blocks).filter_map(|number| reading.block(*number));
    let mut preview = None;
    for block in blocks.filter(|block| is_prompt(reading, block)) {
        let content = contents.get(&block.number).map_or("", String::as_str);
        if starts_with_any(content, &conventions.typed_commands) && block.preview.starts_with('/') {
            let said = block.said_in(content);
            // A command of the client without arguments has no words of the user.
            let typed = if said.is_empty() { block.preview.to_string() } else { said };
            let mut texts: Vec<String> =
                prompt_sentences(&typed, conventions).into_iter().map(|sentence| sentence.text).collect();
            if !texts.first().is_some_and(|first| first.starts_with('/')) {
                texts = vec![cut(&typed, PROMPT_CHARACTERS)];
            }
            return texts.iter().map(|text| Part::new(text, block.number)).collect();
        }
        let content = &*unshortened(block, content, conventions);
        let found = prompt_sentences(content, conventions);
        if found.iter().any(|sentence| is_prose(&sentence.text)) {
            return found.into_iter().map(|sentence| Part::new(&sentence.text, block.number)).collect();
        }
        // Without a sentence, and of what a program printed, the first line is used.
        let shown = super::cleaning::without_tags(content, conventions);
        let line = shown.lines().map(str::trim).find(|line| line.contains(char::is_alphanumeric)).unwrap_or_default();
        if preview.is_none() && !line.is_empty() && (!line.starts_with(['<', '[']) || !found.is_empty()) {
            preview = Some(Part::new(&cut(&without_links(line), PROMPT_CHARACTERS), block.number));
        }
    }
    preview.into_iter().collect()
}

/// Returns the replies of the user in a turn in addition to its prompt, each in full.
fn replied(reading: &Analysis, contents: &Contents, turn: &Turn, prompt: Option<BlockNumber>) -> Vec<Part> {
    let blocks = turn.blocks.iter().filter_map(|number| reading.block(*number));
    let said = blocks.filter(|block| Some(block.number) != prompt && !block.words.is_empty());
    let said = said.filter(|block| is_reply(block) || is_prompt(reading, block));
    let texts = said.filter_map(|block| {
        let content = contents.get(&block.number).map(|content| unshortened(block, content, reading.session.conventions))?;
        let own = own_words(block, &content, reading.session.conventions);
        let own = own.map_or_else(|| format!("rejected {}", cut(&one_line(&label(block)), CALL_CHARACTERS)), str::to_owned);
        // A client can record answers as JSON.
        let answers = serde_json::from_str(&own).map(strings).unwrap_or_default();
        let texts = if answers.is_empty() { vec![own] } else { answers };
        Some(texts.into_iter().map(|text| Part::new(&text, block.number)))
    });
    let mut parts: Vec<Part> = texts.flatten().filter(|part| !part.text.is_empty() && !part.text.starts_with('<')).collect();
    // A client can record words twice: the last ones stay, and none that the prompt has.
    let asked = prompt.and_then(|prompt| Some(Part::new(contents.get(&prompt)?, prompt).text));
    let mut seen: FxHashSet<String> = asked.into_iter().collect();
    parts.reverse();
    parts.retain(|part| seen.insert(part.text.clone()));
    parts.reverse();
    parts
}

/// Returns the questions in the last paragraphs of a message, whatever lists are between them.
pub(super) fn questions(words: &[(Sentence, BlockNumber)]) -> impl Iterator<Item = &(Sentence, BlockNumber)> {
    let from = words.iter().rev().filter(|(sentence, _)| !sentence.item).nth(3).or(words.first());
    let place = from.and_then(|from| words.iter().position(|word| std::ptr::eq(word, from))).unwrap_or_default();
    words[place..].iter().filter(|(sentence, _)| sentence.asks())
}

/// Returns a question of a message; one whose words have no meaning of their own, such as `Want me to?`, with the sentence before it.
fn whole_question(message: &[(Sentence, BlockNumber)], question: &(Sentence, BlockNumber)) -> Part {
    let part = Part::said(question);
    let is_bare =
        part.text.split(|c: char| !c.is_alphanumeric()).all(|word| is_stop_word(&word.to_lowercase()) || word.len() < 2);
    let place = message.iter().position(|said| std::ptr::eq(said, question)).filter(|_| is_bare);
    // An item of a list before it is not what it is about.
    let before = place.and_then(|place| message.get(place.checked_sub(1)?)).filter(|before| before.0.item == question.0.item);
    before.map_or(part.clone(), |before| Part { text: format!("{} {}", Part::said(before).text, part.text), ..part })
}

/// Returns the last question of a message.
pub fn offer(text: &str, conventions: &Conventions) -> Option<String> {
    let message: Vec<(Sentence, BlockNumber)> = sentences(text, conventions).into_iter().map(|sentence| (sentence, 0)).collect();
    questions(&message).last().map(|question| whole_question(&message, question).text)
}

impl TurnFacts<'_> {
    /// Returns the significant sentences of the last message, or its first sentence if none is significant. A sentence about `it` is
    /// told only behind the one that says what it is.
    pub fn reply_sentences(&self) -> Vec<&(Sentence, BlockNumber)> {
        let message = &self.words[self.last..];
        let mut found: Vec<usize> = Vec::new();
        for is_item in [false, true] {
            for (place, (sentence, _)) in message.iter().enumerate().filter(|(_, (sentence, _))| sentence.item == is_item) {
                if salience(sentence) == 0 || sentence.asks() {
                    continue;
                }
                let before = place.checked_sub(1).filter(|before| !found.contains(before) && !names_subject(&sentence.text));
                let tells = |(before, _): &(Sentence, BlockNumber)| before.item == is_item && !before.leads && !before.asks();
                if before.is_none_or(|before| tells(&message[before])) && found.len() + usize::from(before.is_some()) < SAID {
                    found.extend(before.into_iter().chain([place]));
                }
            }
        }
        let first = || message.iter().position(|(sentence, _)| !sentence.leads && !sentence.offered);
        if found.is_empty() { first().into_iter().collect() } else { found }.into_iter().map(|place| &message[place]).collect()
    }

    /// Returns the prompt; without one, what the agent said or changed.
    fn subject(&self, directory: &str) -> String {
        let of_agent = || {
            let said = self.reply_sentences().first().copied().map(Part::said);
            said.or_else(|| self.changed(directory).into_iter().next()).map(|part| format!("agent: {}", part.text))
        };
        let asked: Vec<&str> = self.asked.iter().take(ASKED).map(|part| part.text.as_str()).collect();
        if asked.is_empty() { of_agent().unwrap_or_default() } else { asked.join(" ") }
    }

    /// Returns true if the agent ended the turn with a message that asks nothing.
    pub fn answers(&self) -> bool {
        self.answered && !self.facts.interrupted && questions(&self.words[self.last..]).next().is_none()
    }

    /// Returns the questions without an answer.
    pub fn open(&self) -> Vec<Part> {
        let message = if self.answered { &self.words[self.last..] } else { &[] };
        questions(message)
            .map(|asked| whole_question(message, asked))
            .chain(self.facts.errors.iter().rev().take(2).cloned())
            .take(OPEN)
            .collect()
    }

    pub fn decided(&self, said: &[&(Sentence, BlockNumber)]) -> Vec<Part> {
        let mut found: Vec<&(Sentence, BlockNumber)> =
            self.words.iter().filter(|word| decides(&word.0) && names_subject(&word.0.text) && !said.contains(word)).collect();
        found.sort_by_key(|(sentence, _)| std::cmp::Reverse(salience(sentence)));
        found.into_iter().take(DECIDED).map(Part::said).collect()
    }

    /// Returns the edited files, the most frequently edited first.
    pub fn changed(&self, directory: &str) -> Vec<Part> {
        let mut edited: Vec<_> = self.facts.edited.iter().collect();
        edited.sort_by_key(|(_, count, _)| std::cmp::Reverse(*count));
        edited_files(edited.into_iter().map(|(path, count, block)| (&**path, *count, *block)), directory)
    }
}

/// Returns the names of edited files with their numbers of edits.
pub(super) fn edited_files<'a>(files: impl Iterator<Item = (&'a str, u32, BlockNumber)>, directory: &str) -> Vec<Part> {
    let named = |(path, count, block)| {
        let path = short_path(path, directory);
        Part::new(&if count > 1 { format!("{path} ({count} edits)") } else { path }, block)
    };
    files.map(named).collect()
}

/// Returns a path relative to a directory; one outside of it from its root or the home directory, a long one without its middle.
pub(super) fn short_path(path: &str, directory: &str) -> String {
    let below = paths::relative(path, directory);
    if below.len() < path.len() || !paths::is_absolute(path) {
        return below.to_owned();
    }
    let at_home = home(directory).and_then(|home| path.strip_prefix(home)).filter(|rest| rest.starts_with('/'));
    let path = at_home.map_or_else(|| path.to_owned(), |rest| format!("~{rest}"));
    let (root, end) =
        (path.match_indices(SEPARATORS).map(|(at, _)| at).find(|at| *at > 0).unwrap_or_default(), last_components(&path, 3));
    if path.len() <= LONGEST_PLACE || root + end.len() + 1 >= path.len() { path } else { format!("{}/…/{end}", &path[..root]) }
}

/// Returns the key points of a turn, within their token limit.
pub(super) fn summary(reading: &Analysis, told: &TurnFacts<'_>, header: Headline) -> TurnSummary {
    let (turn, facts) = (told.turn, &told.facts);
    let said = told.reply_sentences();
    let newest = |facts: &[Part]| -> Vec<Part> { facts.iter().rev().take(OPEN).cloned().collect() };
    let tests = facts.tests.map(|(passed, failed, block)| Part::new(&Outcome::Tests { passed, failed }.words(), block));
    // A text of a local model replaces what the agent said; facts and the words of the user stay.
    let words = turn.housekeeping.as_deref().filter(|words| !words.written_by.is_empty() && !words.context_summary.is_empty());
    let written = words.map(|words| vec![Part::counted(words.context_summary.clone())]);
    let points = [
        (PointKind::Asked, told.asked.iter().take(ASKED).cloned().collect()),
        (PointKind::Replied, told.replied.iter().rev().take(REPLIED).cloned().collect()),
        (PointKind::Decided, told.decided(&said)),
        (PointKind::Changed, told.changed(reading.directory())),
        (PointKind::Tests, tests.into_iter().collect()),
        (PointKind::Fixed, newest(&facts.fixed)),
        (PointKind::Committed, newest(&facts.commits)),
        (PointKind::Said, written.unwrap_or_else(|| said.iter().copied().map(Part::said).collect())),
        (PointKind::Open, told.open()),
    ];
    let summary = fit(points.map(|(kind, parts)| Point::new(kind, parts)).into(), TURN_TOKENS);
    let words = told.words.iter().filter(|(sentence, _)| salience(sentence) > 0).count() + told.asked.len();
    let shown = summary.points.iter().filter(|point| matches!(point.kind, PointKind::Asked | PointKind::Said));
    let whole = shown.map(|point| point.parts.iter().filter(|part| !part.text.ends_with('…')).count()).sum::<usize>() >= words;
    TurnSummary {
        number: turn.number,
        time: turn.timestamp,
        live: told.live,
        begins_task: turn.begins_task.then(|| reading.task_of(turn.number)),
        blocks: turn.blocks.first().copied().zip(turn.blocks.last().copied()),
        header,
        subject: told.subject(reading.directory()),
        summary,
        outcomes: told.outcomes.clone(),
        needs: if whole { Vec::new() } else { vec![Fillable::Topic, Fillable::Summary] },
    }
}

word_lists! { "turn.txt": CLAUSES, COURTESIES, POINTERS, pub(super) PASSING }

/// Returns a sentence from its first word that says what it is about.
fn without_courtesies(text: &str) -> &str {
    let mut rest = text;
    loop {
        let lower = rest.to_lowercase().replace('\u{2019}', "'");
        let length = |start: &&&str| {
            let is_word = lower[start.len()..].chars().next().is_none_or(|c| !c.is_alphanumeric() && c != '-' && c != '/');
            lower.starts_with(**start) && is_word
        };
        // A lowercase letter can be longer than its capital.
        let length = COURTESIES.iter().filter(|start| lower.starts_with(**start)).find(length).map(|start| start.chars().count());
        let Some(length) = length else { return rest };
        let end = rest.char_indices().nth(length).map_or(rest.len(), |(at, _)| at);
        let left = rest[end..].trim_start_matches([' ', ',', '.', ':', '!', '-', ';']);
        if left.split_whitespace().count() < 2 {
            return rest;
        }
        rest = left;
    }
}

/// Returns what a turn can be called by, by its request, the best first: the words that fit into a header of a command, or of the sentence
/// with the request, of the rest of it after a clause, of the next sentences. The flag is true if there are more words.
fn topics(asked: &[Part], conventions: &Conventions) -> Vec<(Vec<String>, bool)> {
    let says = |part: &&Part| {
        let words = without_courtesies(&part.text).split_whitespace();
        let words = words.filter(|word| !is_pointer(word)).count();
        words > 1 && (!part.text.ends_with(':') || words >= LONG_INTRODUCTION)
    };
    let Some(first) = wish(asked, conventions).into_iter().chain(asked.iter().take(4)).find(says).or(asked.first()) else {
        return Vec::new();
    };
    if first.text.starts_with('/') {
        return vec![first_words(&first.text)];
    }
    let whole = without_courtesies(&first.text);
    let ends = |at: &usize| whole[..*at].ends_with([',', ';', ':', '—']);
    let links = |at: &usize| whole[at + 1..].split(' ').next().is_some_and(|word| PHRASE_STARTS.contains(&&*word.to_lowercase()));
    let starts = whole.match_indices(' ').map(|(at, _)| at).filter(|at| ends(at) || links(at));
    let rests = starts.map(|at| whole[at + 1..].trim_start_matches(|c: char| !c.is_alphanumeric() && !c.is_whitespace()));
    let place = asked.iter().position(|part| part.text == first.text).unwrap_or_default();
    let others = asked.iter().skip(place + 1).take(ASKED).map(|part| without_courtesies(&part.text));
    let next = rests.map(without_courtesies).chain(others).filter(|next| tells(next.split_whitespace()));
    // The clause behind one that begins with `While` says what is wanted.
    let is_clause = whole.split(' ').next().is_some_and(|word| CLAUSES.contains(&&*word.to_lowercase()));
    let main =
        whole.split_once(", ").map(|(_, main)| without_courtesies(main)).filter(|main| is_clause && tells(main.split(' ')));
    main.into_iter().chain([whole]).chain(next).map(first_words).collect()
}

/// Returns the first words of a sentence, in their order, as far as they fit into a header. The flag is true if it has more.
fn first_words(first: &str) -> (Vec<String>, bool) {
    let mut left = TOPIC_CHARACTERS;
    let mut fits = |word: &str| {
        let length = word.chars().count() + 1;
        left = left.saturating_sub(length);
        left > 0
    };
    let words: Vec<String> = first.split_whitespace().map(short_word).take_while(|word| fits(word)).map(str::to_owned).collect();
    let is_cut = words.len() < first.split_whitespace().count();
    (words, is_cut)
}

/// Returns a word of a topic; of a path or an address that would fill a header, the last part that tells something.
fn short_word(word: &str) -> &str {
    let path = word.trim_matches(|c: char| !c.is_alphanumeric());
    let name = telling_name(path);
    // `authentication/authorization` are two words.
    if path.len() <= LONGEST_PATH || !path.contains("://") && !is_file_name(file_name(path)) {
        return word;
    }
    if name.contains(char::is_alphabetic) { name } else { last_components(path, 2) }
}

fn is_pointer(word: &str) -> bool {
    POINTERS.contains(&&*word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase())
}

/// Returns true if the first clause of a request points to something that was said before.
pub(super) fn points_back(request: &str) -> bool {
    request.split(", ").next().is_some_and(|clause| clause.split_whitespace().any(is_pointer))
}

/// Returns true if a prompt only agrees or declines: it is about what it answers.
pub(super) fn assents(asked: &[Part]) -> bool {
    !asked.is_empty() && asked.len() < 4 && asked.iter().all(|part| is_assent(&part.text))
}

/// Returns the headline of a turn, within its token limit: that of the model if the turn supports it. `before` is the turn that it may
/// answer.
pub(super) fn header_of(told: &TurnFacts<'_>, before: Option<&TurnFacts<'_>>, clock: &dyn Fn(i64) -> String) -> Headline {
    let written = told.turn.housekeeping.as_deref().filter(|words| !words.claimed && !words.response_header.is_empty());
    let written = written.and_then(|words| written_header(&words.response_header, told, clock));
    written.unwrap_or_else(|| found_header(told, before, clock))
}

/// Returns a headline of the model with the time before and the first outcome behind, as far as the token limit allows; `None` if it
/// is too long by itself. A failure stays, and the headline is cut.
fn written_header(written: &str, told: &TurnFacts<'_>, clock: &dyn Fn(i64) -> String) -> Option<Headline> {
    let when = told.turn.timestamp.map(clock).unwrap_or_default();
    let topic: Vec<String> = written.split_whitespace().map(str::to_owned).collect();
    let outcomes: Vec<String> = told.outcomes.iter().take(1).map(|outcome| outcome.words()).collect();
    let none: &[String] = &[];
    let forms = [(&*when, &*outcomes), ("", &*outcomes), (&*when, none), ("", none)].map(|(when, outcomes)| HeaderParts {
        when: when.to_owned(),
        topic: topic.clone(),
        outcomes: outcomes.to_vec(),
        ..HeaderParts::default()
    });
    let is_failure = told.outcomes.first().is_some_and(|outcome| outcome.is_failure());
    let mut whole = forms.clone().into_iter().filter(|parts| o200k(&parts.text()) <= HEADER_TOKENS).peekable();
    whole.peek()?;
    let [cut, ..] = forms;
    let kept = whole.find(|parts| !is_failure || !parts.outcomes.is_empty()).unwrap_or(cut);
    Some(header(kept, HEADER_TOKENS).0)
}

fn found_header(told: &TurnFacts<'_>, before: Option<&TurnFacts<'_>>, clock: &dyn Fn(i64) -> String) -> Headline {
    let mut found = topics(&told.asked, told.conventions);
    // Without a prompt, such as after the notice of a background task, the answer says what the turn is about.
    let answered = before.filter(|_| assents(&told.asked)).or(Some(told).filter(|_| found.is_empty()));
    if let Some(about) = answered {
        let message = &about.words[about.last..];
        // An item of a list is one of the answers that a question offers.
        let question = questions(message).filter(|(sentence, _)| !sentence.item && !std::ptr::eq(about, told)).last();
        let asked = question.map(|question| whole_question(message, question));
        let said = asked.or_else(|| about.reply_sentences().first().copied().map(Part::said));
        found = said.map(|said| topics(&[said], told.conventions)).filter(|said| !said.is_empty()).unwrap_or(found);
    }
    let names = told.facts.edited.iter().rev().take(2).map(|(path, _, _)| file_name(path));
    let parts = HeaderParts {
        when: told.turn.timestamp.map(clock).unwrap_or_default(),
        names: names.filter(|name| !name.is_empty()).map(|name| Part::counted(name).text).collect(),
        outcomes: told.outcomes.iter().take(2).map(|outcome| outcome.words()).collect(),
        ..HeaderParts::default()
    };
    let headers = found.into_iter().map(|(topic, is_cut)| header(HeaderParts { topic, is_cut, ..parts.clone() }, HEADER_TOKENS));
    let headers: Vec<(Headline, bool)> = headers.collect();
    let telling = headers.iter().find(|(_, tells)| *tells).or(headers.first()).map(|(headline, _)| headline.clone());
    telling.unwrap_or_else(|| header(parts, HEADER_TOKENS).0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_that_only_agrees_has_no_topic() {
        for (text, expected) in [
            ("Yes. Do that", true),
            ("yep, let's do it", true),
            ("ok", true),
            ("C)", true),
            ("yes, but rename it", false),
            ("Commit it", false),
            ("", false),
        ] {
            let asked: Vec<Part> = text.split_terminator(". ").map(Part::counted).collect();
            assert_eq!(assents(&asked), expected, "{text}");
        }
    }

    #[test]
    fn a_topic_names_its_object() {
        for (asked, expected) in [
            (&["Is @openspec/changes/pin-of-the-base/research.md already done?"][..], "Is research.md already done?"),
            (&["summarize https://github.com/owner/name/discussions/577"], "summarize discussions/577"),
            (&["Run `.tools/scripts/bash/check-prerequisites.sh --json` first"], "Run check-prerequisites.sh --json` first"),
            (&["Read src/parser.rs"], "Read src/parser.rs"),
            (&["Compare authentication/authorization"], "Compare authentication/authorization"),
            (&["I want to implement this.", "Lock files of a workspace are read"], "Lock files of a workspace are read"),
            (&["It is good to know that they rest.", "Let's add the missing shelves."], "add the missing shelves."),
            (&["fix it"], "fix it"),
            (&["Do all of this:", "Cache the totals"], "Cache the totals"),
            (
                &["I built the program again and started it in the playground and see this:", "Powered by the shop"],
                "I built the program again and started it in the playground",
            ),
        ] {
            let asked: Vec<Part> = asked.iter().map(Part::counted).collect();
            assert_eq!(topics(&asked, Default::default())[0].0.join(" "), expected);
        }
    }

    #[test]
    fn answers_are_the_texts_of_a_record() {
        let answers = serde_json::json!({"answers": {"shape": {"answers": ["round", "or oval"]}, "size": {"answers": [3]}}});
        assert_eq!(strings(answers), ["round", "or oval"]);
    }

    #[test]
    fn a_header_that_says_nothing_takes_the_next_words() {
        let prompt = |asked: &[&str]| asked.iter().map(Part::counted).collect::<Vec<_>>();
        let all = |asked: &[&str]| {
            topics(&prompt(asked), Default::default()).into_iter().map(|(words, _)| words.join(" ")).collect::<Vec<_>>()
        };
        assert_eq!(
            all(&["For the tests, can we use one store?", "It is slow to write."]),
            ["For the tests, can we use one store?", "use one store?", "It is slow to write."]
        );
        assert_eq!(all(&["While you are here, please round the tax of `till.rs` once."])[0], "round the tax of `till.rs` once.");
        assert_eq!(all(&["The tax is rounded twice, right?"]), ["The tax is rounded twice, right?"]);
        assert_eq!(all(&["/shop:apply round-the-tax"]), ["/shop:apply round-the-tax"]);
    }

    #[test]
    fn a_question_before_a_list_is_asked() {
        let said = |text: &str, item| (Sentence { text: text.to_owned(), item, leads: false, offered: false }, 0);
        let options = ["Round each.", "Round once.", "Round up?", "Leave it.", "None."].map(|text| said(text, true));
        let message = [vec![said("Which rounding?", false)], options.to_vec()].concat();
        assert_eq!(
            questions(&message).map(|(sentence, _)| &*sentence.text).collect::<Vec<_>>(),
            ["Which rounding?", "Round up?"]
        );
        let later = ["It is fixed.", "All is well.", "The till is done.", "So is the tax."].map(|text| said(text, false));
        assert_eq!(questions(&[message, later.to_vec()].concat()).count(), 0);
        assert_eq!(questions(&[]).count(), 0);
    }

    #[test]
    fn a_path_outside_of_the_project_keeps_its_root() {
        let long = "/home/me/.cache/agent/one/very/long/place/of/a/session/scratch/pad/one/two/three.md";
        for (path, expected) in [
            ("/home/me/shop/src/a.rs", "src/a.rs"),
            ("/boot/loader/a.conf", "/boot/loader/a.conf"),
            ("/home/me/.agent/plans/a.md", "~/.agent/plans/a.md"),
            ("/home/men/a.md", "/home/men/a.md"),
            (long, "~/…/one/two/three.md"),
            ("src/a.rs", "src/a.rs"),
        ] {
            assert_eq!(short_path(path, "/home/me/shop"), expected);
        }
    }

    #[test]
    fn a_topic_begins_with_what_is_wanted() {
        for (text, expected) in [
            ("Can you please fix the tax?", "fix the tax?"),
            ("ok, let's add a param", "add a param"),
            ("Now", "Now"),
            ("yes please", "yes please"),
            ("yeah let's round the tax", "round the tax"),
            ("Nowhere is it set.", "Nowhere is it set."),
        ] {
            assert_eq!(without_courtesies(text), expected);
        }
    }
}
