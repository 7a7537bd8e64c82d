//! The summary of the whole session: the facts a newcomer needs to continue.

use super::fit::fit;
use super::plan::{Item, Status, plan};
use super::sentences::{Sentence, salience};
use super::turn::{PASSING, REPLIED, TurnFacts, assents, edited_files, points_back, short_path};
use super::{Contents, Fillable, Part, Point, PointKind, SESSION_TOKENS, SessionSummary, is_prompt};
use crate::engine::memory::names_subject;
use crate::engine::reduce::declaration;
use crate::engine::{Analysis, label, plural};
use crate::model::{Block, BlockKind, BlockNumber, Conventions, Flags, InputNames, Role, ToolVerb, Turn};
use crate::text::clauses::{gives_role, is_order, phrases};
use crate::text::cut::cut;
use crate::text::stop_words::is_function_word;
use crate::text::words::stem;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

const NARRATED: usize = 5;
/// Factor of the importance of a turn for each turn after it.
const RECENCY: f64 = 0.9;
/// Minimum number of words that are not function words in a sentence of the narrative.
const NARRATIVE_WORDS: usize = 4;
const LISTED: usize = 8;
const LISTED_COMMITS: usize = 3;
/// Maximum number of words in the list of concepts.
const CONCEPTS: usize = 5;
/// Words whose phrases can be concepts, and the number of concepts below which single words are some.
const CONCEPT_WORDS: usize = 15;
const FEW_CONCEPTS: usize = 3;
/// Minimum number of texts with a phrase that is a concept.
const PHRASE_TEXTS: u32 = 3;
/// Maximum number of entries in a list of a briefing.
const BRIEFED: usize = 6;
/// Maximum number of achievements in a briefing.
const DONE: usize = 4;
/// Maximum number of characters of an entry in a briefing.
const BRIEF_CHARACTERS: usize = 140;
/// Words below which a goal is shown with a sentence beside it.
const SHORT_GOAL: usize = 6;
/// Number of the latest edits that are searched for declarations.
const LATEST_EDITS: usize = 40;
/// Turns with a prompt after which a plan that they did not touch is over.
const PLAN_TURNS: usize = 3;
/// Errors that are older than this number of steps are not listed as next steps.
const RECENT_STEPS: u32 = 6;

/// Returns the key points of a session, within the token limit.
pub(super) fn summary(reading: &Analysis, contents: &Contents, told: &[TurnFacts<'_>]) -> SessionSummary {
    let live: Vec<&TurnFacts<'_>> = told.iter().filter(|told| told.live).collect();
    let items = items(reading, contents, &live);
    let points = [
        (PointKind::Objective, objective(&live)),
        (PointKind::Replied, live.iter().rev().flat_map(|told| told.replied.iter().rev()).take(REPLIED).cloned().collect()),
        (PointKind::Narrative, narrative(&live)),
        (PointKind::Achieved, achieved(&live, &items)),
        (PointKind::Files, files(reading, &live)),
        (PointKind::Functions, functions(reading, contents, live.iter().map(|told| told.turn))),
        (PointKind::Concepts, concepts(reading, contents, &live)),
        (PointKind::State, state(reading, contents, &live, &items)),
        (PointKind::Next, next(reading, &live, &items)),
    ];
    let summary = fit(points.map(|(kind, parts)| Point::new(kind, parts)).into(), SESSION_TOKENS);
    let needs = if live.is_empty() { Vec::new() } else { vec![Fillable::Narrative, Fillable::Objective, Fillable::Next] };
    SessionSummary { summary, needs, written_by: None }
}

/// Returns the key points of a session for an agent that continues it: a few entries each, in short form.
pub(super) fn briefing(reading: &Analysis, contents: &Contents, told: &[TurnFacts<'_>]) -> Vec<Point> {
    let live: Vec<&TurnFacts<'_>> = told.iter().collect();
    let items = items(reading, contents, &live);
    let with = |status: Status| items.iter().filter(move |item| item.status == status).map(Item::part);
    let mut next: Vec<Part> = with(Status::Current).chain(with(Status::Open)).take(BRIEFED).collect();
    let open = live.last().map(|told| told.open()).unwrap_or_default();
    // The last questions of the agent await an answer of the user.
    next.extend(open.iter().filter(|part| part.text.ends_with(['?', '？'])).cloned());
    let errors = live.last().map(|told| told.facts.errors.iter().rev().take(2).cloned().collect()).unwrap_or_default();
    let goal = live.iter().find_map(|told| goal(&told.asked, told.conventions));
    let points = [
        (PointKind::Objective, goal.unwrap_or_default()),
        (PointKind::Narrative, narrative(&live).pop().into_iter().collect()),
        (PointKind::Achieved, achieved(&live, &items).into_iter().take(DONE).collect()),
        (PointKind::Changed, edited_lately(reading, &live)),
        (PointKind::State, state(reading, contents, &live, &items)),
        (PointKind::Open, errors),
        (PointKind::Next, next),
    ];
    let points = points.map(|(kind, parts)| {
        let short = |part: Part| Part { text: cut(&part.text, BRIEF_CHARACTERS), ..part };
        Point::new(kind, parts.into_iter().map(short).collect())
    });
    points.into_iter().filter(|point| !point.parts.is_empty()).collect()
}

/// Returns the items of the plan; of one that later turns left behind, or whose last item the newest one ended, only those that are done.
fn items(reading: &Analysis, contents: &Contents, live: &[&TurnFacts<'_>]) -> Vec<Item> {
    let blocks = |told: &&TurnFacts<'_>| told.turn.blocks.iter().filter_map(|number| reading.block(*number)).collect::<Vec<_>>();
    let mut items = plan(live.iter().flat_map(blocks), contents, &reading.session.conventions.plans);
    let is_plan = |block: &&Block| block.has_verb(ToolVerb::Plan);
    let later = live.iter().rev().take_while(|told| !blocks(told).iter().any(is_plan));
    // An agent that ends its work with an answer can leave the mark of the last item as it is.
    let is_ended = live.last().is_some_and(|told| told.answers()) && items.iter().all(|item| item.status != Status::Open);
    if is_ended || later.filter(|told| !told.asked.is_empty()).count() >= PLAN_TURNS {
        items.retain(|item| item.status == Status::Done);
    }
    items
}

/// Returns the most recently edited files, each with its number of edits.
fn edited_lately(reading: &Analysis, live: &[&TurnFacts<'_>]) -> Vec<Part> {
    let mut files: Vec<(&str, u32, BlockNumber)> = Vec::new();
    for (path, count, last) in live.iter().rev().flat_map(|told| told.facts.edited.iter().rev()) {
        match files.iter_mut().find(|(known, _, _)| *known == path) {
            Some((_, sum, _)) => *sum += count,
            None => files.push((path, *count, *last)),
        }
    }
    edited_files(files.into_iter(), reading.directory())
}

/// Returns the requests of the first and the latest prompt, each with a label.
fn objective(live: &[&TurnFacts<'_>]) -> Vec<Part> {
    let mut prompts = live.iter().enumerate().filter_map(|(at, told)| {
        // Only the newest prompt is known by what it agrees to.
        let offer =
            at.checked_sub(1).and_then(|before| live[before].open().into_iter().rfind(|part| part.text.ends_with(['?', '？'])));
        let accepted = || {
            Some(vec![told.asked.first()?.clone(), Part { text: format!("(to: {})", offer.as_ref()?.text), ..offer.clone()? }])
        };
        goal(&told.asked, told.conventions).or_else(|| accepted().filter(|_| at + 1 == live.len() && assents(&told.asked)))
    });
    let labelled = |label: &str, mut parts: Vec<Part>| {
        parts[..1].iter_mut().for_each(|part| part.text.insert_str(0, label));
        parts
    };
    // If no prompt contains a request, the first sentence is used.
    let first = prompts.next().or_else(|| live.iter().find_map(|told| told.asked.first().map(|first| vec![first.clone()])));
    let Some(first) = first else { return Vec::new() };
    match prompts.next_back().filter(|last| last[0].text != first[0].text) {
        Some(last) => [labelled("first: ", first), labelled("now: ", last)].concat(),
        None => first,
    }
}

/// Returns the sentence of a prompt with the request; `None` for a command of the client and an acknowledgement. Role descriptions
/// are skipped.
pub(super) fn wish<'a>(asked: &'a [Part], conventions: &Conventions) -> Option<&'a Part> {
    const WISHES: &[&str] = &[
        "can ", "could ", "please", "let's", "lets ", "i want ", "i'd like ", "i would like ", "i need ", "we need ", "fix ",
        "add ", "make ", "update ", "review ", "write ", "create ", "implement ", "remove ", "change ", "check ", "help ",
        "build ", "refactor ",
    ];
    let first = asked.first()?;
    let words: usize = asked.iter().map(|part| part.text.split_whitespace().count()).sum();
    let is_short = words < 3 && first.text.is_ascii() && !first.text.starts_with('/');
    if is_short && !is_order(&first.text) || assents(asked) || conventions.is_client_command(&first.text) {
        return None;
    }
    let long = |part: &&Part| part.text.split_whitespace().count() >= 4 && !gives_role(&part.text);
    let wishes = |part: &&Part| {
        let lower = part.text.to_lowercase().replace('’', "'");
        long(part)
            && (WISHES.iter().any(|start| lower.starts_with(start)) || part.text.ends_with('?') || lower.contains("please"))
    };
    if first.text.starts_with('/') {
        return Some(first);
    }
    let near = &asked[..asked.len().min(4)];
    near.iter().find(wishes).or_else(|| asked.iter().find(long)).or(Some(first))
}

/// Returns the request of a prompt. One that is short or points to something is shown with the sentence that says what it is about:
/// a short one before it or, for the first, the one after it. It has a part.
fn goal(asked: &[Part], conventions: &Conventions) -> Option<Vec<Part>> {
    let wish = wish(asked, conventions)?;
    let place = asked.iter().position(|part| part.text == wish.text)?;
    let leads = wish.text.ends_with(':');
    let is_open = leads || wish.text.split_whitespace().count() < SHORT_GOAL || points_back(&wish.text);
    let fits = |before: &&Part| before.text.chars().count() <= BRIEF_CHARACTERS && !gives_role(&before.text);
    let before = place.checked_sub(1).map(|before| &asked[before]).filter(|_| is_open && !leads).filter(fits);
    let after = asked.get(place + 1).filter(|_| is_open && (leads || place == 0));
    Some([before, Some(wish), after].into_iter().flatten().cloned().collect())
}

/// Returns a sentence that ends the newest turn with one, and those of the most important turns before it, in order. What newer turns say
/// can refute an older one; of older turns, it returns no state that can have passed.
fn narrative(live: &[&TurnFacts<'_>]) -> Vec<Part> {
    let weight = |told: &TurnFacts<'_>| {
        let facts = &told.facts;
        facts.commits.len() * 4 + facts.edited.len().min(5) * 2 + facts.fixed.len().min(2) + told.turn.steps.min(20) as usize / 4
    };
    let newest = live.iter().rfind(|told| told.turn.steps > 0);
    let said = |told: &TurnFacts<'_>| {
        // Of sentences with equal salience, the first is the most important.
        let said = told.reply_sentences();
        let tells = |sentence: &Sentence| {
            !sentence.item && !sentence.offers() && says_something(&sentence.text) && names_subject(&sentence.text)
        };
        let whole: Vec<_> = said.into_iter().filter(|(sentence, _)| tells(sentence)).take(2).collect();
        let best = whole.into_iter().rev().max_by_key(|(sentence, _)| salience(sentence))?;
        let is_newest = newest.is_some_and(|newest| std::ptr::eq(*newest, told));
        let has_passed = !is_newest && (best.0.asks() || tells_passing_state(&best.0.text));
        (salience(&best.0) > 1 && !has_passed).then(|| Part::said(best))
    };
    let aged = |place: usize, told: &TurnFacts<'_>| (weight(told) + 1) as f64 * RECENCY.powi((live.len() - place) as i32);
    let mut ranked: Vec<(f64, usize, Part)> =
        live.iter().enumerate().filter_map(|(place, told)| Some((aged(place, told), place, said(told)?))).collect();
    if let Some(newest) = ranked.last_mut() {
        newest.0 = f64::INFINITY;
    }
    ranked.sort_by(|(one, ..), (other, ..)| other.total_cmp(one));
    let mut told_already: FxHashSet<String> = FxHashSet::default();
    ranked.retain(|(_, _, part)| told_already.insert(part.text.clone()));
    ranked.truncate(NARRATED);
    ranked.sort_by_key(|(_, place, _)| *place);
    let last = || live.last()?.reply_sentences().first().copied().map(Part::said);
    if ranked.is_empty() { last().into_iter().collect() } else { ranked.into_iter().map(|(_, _, part)| part).collect() }
}

/// Returns true if a sentence can be understood without those around it: it names a file or code, or has some words. "The fix is
/// complete" says too little.
fn says_something(sentence: &str) -> bool {
    let is_content = |word: &&str| word.contains(char::is_alphanumeric) && !is_function_word(&word.to_lowercase());
    !sentence.is_ascii()
        || sentence.contains(['`', '/'])
        || sentence.split_whitespace().filter(is_content).count() >= NARRATIVE_WORDS
}

/// Returns true if a sentence tells a state that later work ends: what remains, fails or is being done.
fn tells_passing_state(sentence: &str) -> bool {
    let lower = format!(" {} ", sentence.to_lowercase().replace(|c: char| !c.is_alphanumeric() && c != '\'', " "));
    PASSING.iter().any(|words| lower.contains(&format!(" {words} ")))
}

/// Returns commits, completed plan items, test results, fixed errors and the number of edits.
fn achieved(live: &[&TurnFacts<'_>], items: &[Item]) -> Vec<Part> {
    let mut commits: Vec<Part> = Vec::new();
    for told in live {
        commits.truncate(commits.len() - usize::from(told.facts.amends && !commits.is_empty()));
        commits.extend(told.facts.commits.iter().cloned());
    }
    let mut subjects = distinct(commits.into_iter().rev(), usize::MAX);
    let more = subjects.len().saturating_sub(LISTED_COMMITS);
    subjects.truncate(LISTED_COMMITS);
    let done = items.iter().rev().filter(|item| item.status == Status::Done).map(Item::part);
    let mut files: Vec<&str> = live.iter().flat_map(|told| &told.facts.edited).map(|(path, _, _)| path.as_str()).collect();
    files.sort_unstable();
    files.dedup();
    let fixed = live.iter().map(|told| told.facts.fixed.len()).sum();
    let count =
        |number: usize, name: &str, what: &str| (number > 0).then(|| Part::counted(format!("{} {what}", plural(number, name))));
    let counts = [count(more, "commit", "before"), count(files.len(), "file", "edited"), count(fixed, "error", "fixed")];
    subjects.into_iter().chain(done.take(3)).chain(counts.into_iter().flatten()).collect()
}

/// Returns the most recently edited files, then the most recently read ones.
fn files(reading: &Analysis, live: &[&TurnFacts<'_>]) -> Vec<Part> {
    let directory = reading.directory();
    let blocks = || live.iter().rev().flat_map(|told| told.turn.blocks.iter().rev()).filter_map(|number| reading.block(*number));
    let with = |verb: ToolVerb| blocks().filter(move |block| is_call(block, verb) && !block.error);
    let used = with(ToolVerb::Edit).chain(with(ToolVerb::Read));
    distinct(used.map(|block| Part::new(&short_path(block.target(), directory), block.number)), LISTED)
}

/// Returns the first parts with different texts, at most `most`.
fn distinct(parts: impl Iterator<Item = Part>, most: usize) -> Vec<Part> {
    let mut seen: FxHashSet<String> = FxHashSet::default();
    parts.filter(|part| !part.text.is_empty() && seen.insert(part.text.clone())).take(most).collect()
}

fn is_call(block: &Block, verb: ToolVerb) -> bool {
    block.kind == BlockKind::ToolResult && block.has_verb(verb)
}

/// Returns the functions and types declared in the latest edits of turns.
pub(super) fn functions<'a>(
    reading: &Analysis,
    contents: &Contents,
    turns: impl DoubleEndedIterator<Item = &'a Turn>,
) -> Vec<Part> {
    let blocks = turns.rev().flat_map(|turn| turn.blocks.iter().rev()).filter_map(|number| reading.block(*number));
    let edits = blocks.filter(|block| block.kind == BlockKind::ToolUse && contents.contains_key(&block.number));
    let edits = edits.filter(|block| block.has_verb(ToolVerb::Edit));
    let named = edits.take(LATEST_EDITS).flat_map(|block| {
        // In a prose file, a line that looks like a declaration is not one.
        let prose = [".md", ".txt", ".rst", ".json", ".yml", ".yaml", ".html"].iter().any(|end| block.target().ends_with(end));
        let input = contents.get(&block.number).filter(|_| !prose);
        let names = input.map(|input| declared(input, &reading.session.conventions.inputs)).unwrap_or_default();
        names.into_iter().map(|name| Part::new(&name, block.number))
    });
    distinct(named, LISTED)
}

/// Returns the names declared in the new text of an edit.
fn declared(input: &str, names: &InputNames) -> Vec<String> {
    let text = names.written_texts(input);
    let is_patch = names.patch_starts.iter().any(|start| text.contains(start));
    let lines = text.lines().filter_map(|line| if is_patch { line.strip_prefix('+') } else { Some(line) });
    let named = lines.filter_map(declaration).filter(|name| !name.starts_with("impl ") && !name.starts_with("type "));
    named
        .filter_map(|name| name.split_once(' ').map(|(_, name)| name.to_owned()))
        .filter(|name| name.len() > 2)
        .take(LISTED)
        .collect()
}

/// Returns what the user and the assistant speak of in most turns: phrases that several texts have, or else words.
fn concepts(reading: &Analysis, contents: &Contents, live: &[&TurnFacts<'_>]) -> Vec<Part> {
    let mut turns: BTreeMap<&str, f32> = BTreeMap::new();
    // The texts that have a phrase, by its words in lower case.
    let mut phrases_in: FxHashMap<String, (u32, &str)> = FxHashMap::default();
    for told in live {
        let mut seen: BTreeMap<&str, f32> = BTreeMap::new();
        let blocks = told.turn.blocks.iter().filter_map(|number| reading.block(*number));
        let speaks = |block: &&Block| match block.role {
            Role::User => is_prompt(reading, block) && !block.preview.starts_with('/'),
            role => role == Role::Assistant && block.kind == BlockKind::Text,
        };
        for block in blocks.filter(speaks) {
            let user = if block.role == Role::User { 2.0 } else { 1.0 };
            for (rank, word) in block.keywords.iter().enumerate().filter(|(_, word)| word.chars().any(char::is_alphabetic)) {
                *seen.entry(word).or_default() += user / (1.0 + rank as f32 / 3.0);
            }
            let mut known: FxHashSet<String> = FxHashSet::default();
            for line in contents.get(&block.number).map(String::as_str).unwrap_or_default().lines() {
                phrases(line, |phrase| {
                    let lower = phrase.to_lowercase();
                    if known.insert(lower.clone()) {
                        phrases_in.entry(lower).or_insert((0, phrase)).0 += 1;
                    }
                });
            }
        }
        for (word, weight) in seen {
            *turns.entry(word).or_default() += weight.min(4.0);
        }
    }
    let mut ranked: Vec<(&str, f32)> = turns.into_iter().collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(b.0)));
    // `sees ACTIVE`: a verb of the third person and its object.
    let is_verb = |phrase: &str| phrase.split(' ').next().is_some_and(|word| word.ends_with('s') && !word.ends_with("ss"));
    phrases_in.retain(|phrase, (texts, _)| *texts >= PHRASE_TEXTS && !is_verb(phrase));
    let has = |text: &str, word: &str| text.to_lowercase().split(' ').any(|other| stem(other) == stem(&word.to_lowercase()));
    let phrase_with = |word: &str| {
        let with_word = phrases_in.iter().filter(|(phrase, _)| has(phrase, word));
        // Of phrases in as many texts, the shorter one is less a sentence.
        with_word
            .max_by_key(|(phrase, (texts, _))| (*texts, std::cmp::Reverse((phrase.len(), *phrase))))
            .map(|(_, (_, first))| *first)
    };
    let mut found: Vec<&str> = Vec::new();
    let mut add = |concept, most| {
        let is_told = |word| found.iter().any(|known| has(known, word));
        if found.len() < most && !str::split(concept, ' ').any(is_told) {
            found.push(concept);
        }
    };
    ranked.iter().take(CONCEPT_WORDS).filter_map(|(word, _)| phrase_with(word)).for_each(|phrase| add(phrase, CONCEPTS));
    ranked.iter().for_each(|(word, _)| add(word, FEW_CONCEPTS));
    found.into_iter().map(Part::counted).collect()
}

/// Returns the outcome of the last turn, the notice of the client with which it stopped, the calls at its end whose results are not
/// known, and the progress of the plan.
fn state(reading: &Analysis, contents: &Contents, live: &[&TurnFacts<'_>], items: &[Item]) -> Vec<Part> {
    let Some(last) = live.last() else { return Vec::new() };
    let mut parts: Vec<Part> = last.outcomes.iter().map(|outcome| Part::counted(outcome.words())).collect();
    parts[..1].iter_mut().for_each(|part| part.text.insert_str(0, "last turn: "));
    let newest = || last.turn.blocks.iter().rev().filter_map(|number| reading.block(*number));
    let is_notice = |block: &Block| reading.session.rows[block.row as usize].flags.any(Flags::API_ERROR);
    let notice = newest().next().filter(|block| is_notice(block)).and_then(|block| Some((block, contents.get(&block.number)?)));
    parts
        .extend(notice.map(|(block, text)| Part::new(&format!("stopped: {}", cut(text.trim(), BRIEF_CHARACTERS)), block.number)));
    let running = newest().take_while(|block| block.kind == BlockKind::ToolUse);
    let called = |block: &Block| Part::new(&format!("without a result: {}", cut(&label(block), BRIEF_CHARACTERS)), block.number);
    parts.extend(running.map(called));
    // The last test result is valid until the tests run again.
    let tests = live.iter().rev().skip(1).find_map(|told| told.facts.tests);
    if let Some((passed, failed, block)) = tests.filter(|_| last.facts.tests.is_none()) {
        let words = super::Outcome::Tests { passed, failed }.words();
        parts.push(Part { text: format!("tests before: {words}"), block: Some(block) });
    }
    let done = items.iter().filter(|item| item.status == Status::Done).count();
    if done < items.len() {
        parts.push(Part::counted(format!("plan: {done} of {} done", items.len())));
    }
    parts
}

/// Returns the open plan items, the last questions and the last errors.
fn next(reading: &Analysis, live: &[&TurnFacts<'_>], items: &[Item]) -> Vec<Part> {
    let with = |status: Status| items.iter().filter(move |item| item.status == status).map(Item::part);
    let plan = with(Status::Current).chain(with(Status::Open)).take(4);
    let recent = |block: BlockNumber| {
        reading.block(block).is_some_and(|block| reading.steps.saturating_sub(block.position.step) <= RECENT_STEPS)
    };
    let open = live.last().map(|told| told.open()).unwrap_or_default();
    plan.chain(open.into_iter().filter(|part| part.block.is_some_and(recent))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_that_gives_a_role_is_not_the_wish() {
        let rate = "The price of the till has one more decimal.";
        for (first, expected) in [
            ("You are an expert for tills and prices.", rate),
            ("You are allowed to change the till and its tests.", "You are allowed to change the till and its tests."),
            ("You are already in the folder of the till.", "You are already in the folder of the till."),
        ] {
            let asked = [first, rate].map(|text| Part { text: text.to_owned(), block: None });
            assert_eq!(wish(&asked, Default::default()).map(|part| &*part.text), Some(expected));
        }
    }

    #[test]
    fn a_sentence_of_the_narrative_can_be_understood_alone() {
        for (sentence, expected) in [
            ("The fix is complete.", false),
            ("All of it is done now.", false),
            ("The report is in `docs/research.md`.", true),
            ("The till rounds each amount once, at the end.", true),
            ("修正が完了しました。", true),
        ] {
            assert_eq!(says_something(sentence), expected, "{sentence}");
        }
    }
}
