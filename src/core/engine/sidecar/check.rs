//! Compares an answer of a model with its source: every fact of the answer is there, under the same words and negations.

use crate::model::words;
use crate::text::lists::{word_lists, word_sets};
use crate::text::names::{is_file_name, is_hash, is_identifier};
use crate::text::words::stem;
use rustc_hash::{FxHashMap, FxHashSet};

word_lists! { "check.txt":
    NEGATIONS_BEFORE, NEGATIONS_AROUND, CJK_NEGATIONS, ENGLISH, GERMAN, FRENCH, SPANISH, PORTUGUESE, ITALIAN, DUTCH
}
word_sets! { "check.txt": LIGHT }

/// The marks around words.
const OPENING: &str = "([{\"'`“‘«„*#<~-•";
const CLOSING: &str = ")]}\"'`”’»“*>.,;:!?…。，";
/// The minimum share of the words of an answer that its source has, in percent.
const LEAST_PERCENT: usize = 70;
/// The number of words on each side with which a word is compared.
const REACH: usize = 5;
/// The factor by which another value may match the words around a value better: at more, the answer has the wrong one.
const RIVAL: f32 = 1.3;
/// The distance up to which a word belongs to a number, in words.
const BESIDE: usize = 2;
/// The number of words before a negation that it can belong to, in languages in which it follows its verb.
const AROUND: usize = 4;
/// The minimum share of the commonest words in a text, in percent, and their number from which on its language is known.
const LANGUAGE_WORDS: usize = 3;

words! {
    /// The reason why an answer of a model is refused.
    #[derive(Hash, PartialOrd, Ord)]
    pub enum AnswerFault {
        /// It is not of the form that was asked for.
        Form = "form",
        /// It is empty, or only repeats the question.
        Empty = "empty",
        /// It was cut, or is longer than its limit.
        Length = "length",
        /// It has a number that its source does not have there.
        Number = "number",
        /// It has a path that its source does not have there.
        Path = "path",
        /// It has an identifier or a name that its source does not have.
        Name = "name",
        /// It quotes words that its source does not have.
        Quote = "quote",
        /// It adds or drops a negation.
        Negation = "negation",
        /// It is in another language or script.
        Language = "language",
        /// Too many of its words are not in its source.
        Words = "words",
        /// It says too little, or nothing of the prompt that it is about.
        Poor = "poor",
        /// It lacks a line or a fact that must be kept.
        Lost = "lost",
        /// The two texts are too different to be compared: no model was asked.
        Unlike = "unlike",
    }
}

/// A text in which answers are looked up.
pub struct SourceText<'a> {
    text: &'a str,
    lower: String,
    units: Vec<Unit>,
    places: FxHashMap<String, Vec<usize>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UnitKind {
    Word,
    /// An identifier, a name, an abbreviation.
    Name,
    Number,
    Path,
}

/// A word that carries meaning.
#[derive(Debug)]
struct Unit {
    /// The stem of a word, a fact as it is, in lowercase.
    key: String,
    /// The word as it is written.
    text: String,
    kind: UnitKind,
    /// The number of negations directly before it.
    negations: u8,
    /// The negation that has it on one of its sides, in languages in which it may follow its verb.
    around: Option<u32>,
    sentence: u32,
    clause: u32,
}

impl Unit {
    fn is_negated(&self) -> bool {
        self.negations > 0 || self.around.is_some()
    }
}

/// Returns for each text the number of words, names and paths that it shares with an answer, and with at most half of the texts.
pub(super) fn shared_words(answer: &str, texts: &[&str]) -> Vec<usize> {
    let keys = |text: &str| -> FxHashSet<String> { units(text).0.into_iter().map(|unit| unit.key).collect() };
    let said = keys(answer);
    let of_texts: Vec<FxHashSet<String>> = texts.iter().map(|text| keys(text)).collect();
    let is_rare = |key: &&String| of_texts.iter().filter(|keys| keys.contains(*key)).count() * 2 <= texts.len().max(2);
    of_texts.iter().map(|keys| keys.intersection(&said).filter(is_rare).count()).collect()
}

impl<'a> SourceText<'a> {
    /// Splits a text into its words and facts.
    pub fn new(text: &'a str) -> SourceText<'a> {
        let (units, _) = units(text);
        let mut places: FxHashMap<String, Vec<usize>> = FxHashMap::default();
        for (place, unit) in units.iter().enumerate() {
            places.entry(unit.key.clone()).or_default().push(place);
        }
        SourceText { text, lower: text.to_lowercase(), units, places }
    }

    /// Checks a text of an answer.
    /// Errors: the first fault.
    pub fn check(&self, answer: &str) -> Result<(), AnswerFault> {
        if answer.chars().filter(|c| c.is_alphanumeric()).count() < 2 {
            return Err(AnswerFault::Empty);
        }
        same_language(answer, self.text)?;
        let (found, lone_negations) = units(answer);
        for (place, unit) in found.iter().enumerate() {
            self.check_fact(&found, place, unit)?;
        }
        if !quotes(answer).all(|quote| contains_spaced(&self.lower, &quote.to_lowercase())) {
            return Err(AnswerFault::Quote);
        }
        let words: Vec<&Unit> = found.iter().filter(|unit| unit.kind == UnitKind::Word && unit.key.chars().count() > 2).collect();
        let known = words.iter().filter(|unit| self.has_word(unit)).count();
        if known * 100 < words.len() * LEAST_PERCENT {
            return Err(AnswerFault::Words);
        }
        self.check_negations(&found)?;
        let is_known = |negation: &String| self.lower.contains(negation.as_str());
        if lone_negations.iter().all(is_known) { Ok(()) } else { Err(AnswerFault::Negation) }
    }

    /// Returns true if this text has each path, number and name of the lines of a shortened content.
    pub fn has_facts_of(&self, shortened: &str) -> bool {
        // Markers tell how much is left out.
        let mut lines = shortened.lines().filter(|line| !line.starts_with("[…") && !line.starts_with("[@"));
        lines.all(|line| units(line).0.iter().all(|unit| unit.kind == UnitKind::Word || self.places.contains_key(&unit.key)))
    }

    /// Returns true if a text of an answer has this many words, names and paths, one of them no path, and one of the subject if
    /// that has any.
    pub fn says_enough(answer: &str, least_words: usize, subject: &str) -> bool {
        let is_said = |unit: &&Unit| unit.kind != UnitKind::Number && unit.key.chars().count() > 2;
        let (found, subject) = (units(answer).0, units(subject).0);
        let mut of_subject = subject.iter().filter(is_said).peekable();
        let is_shared = |unit: &Unit| found.iter().any(|other| other.key.ends_with(&unit.key));
        found.iter().filter(is_said).count() >= least_words
            && found.iter().any(|unit| is_said(&unit) && unit.kind != UnitKind::Path)
            && (of_subject.peek().is_none() || of_subject.any(is_shared))
    }

    fn has_word(&self, unit: &Unit) -> bool {
        // Compounds and other endings: half of the languages have no stemmer here.
        let begins = |key: &String| {
            let shared = key.chars().zip(unit.key.chars()).take_while(|(one, other)| one == other).count();
            shared >= 4 && shared * 4 >= unit.key.chars().count() * 3
        };
        self.places.contains_key(&unit.key)
            || !unit.key.is_ascii() && self.lower.contains(&unit.key)
            || self.places.keys().any(begins)
    }

    fn check_fact(&self, answer: &[Unit], place: usize, unit: &Unit) -> Result<(), AnswerFault> {
        let fault = match unit.kind {
            UnitKind::Word => return Ok(()),
            UnitKind::Name => AnswerFault::Name,
            UnitKind::Number => AnswerFault::Number,
            UnitKind::Path => AnswerFault::Path,
        };
        let is_there = contains_bounded(self.text, &unit.text)
            // At the beginning of a sentence and in capitals, a word can be written otherwise.
            || unit.kind == UnitKind::Name && !is_identifier(&unit.text) && contains_bounded(&self.lower, &unit.text.to_lowercase());
        if !is_there {
            return Err(fault);
        }
        if unit.kind == UnitKind::Name {
            return Ok(());
        }
        let is_same =
            |other: &Unit| other.key == unit.key || unit.kind == UnitKind::Path && contains_bounded(&other.key, &unit.key);
        let score = |at: usize| similarity(answer, place, &self.units, at);
        let best = |wanted: &dyn Fn(&Unit) -> bool| {
            let places = self.units.iter().enumerate().filter(|(_, other)| other.kind == unit.kind && wanted(other));
            places.map(|(at, _)| score(at)).fold(0.0, f32::max)
        };
        let own = best(&is_same);
        let is_unit = self.units.iter().any(is_same);
        let rival = best(&|other| !is_same(other));
        // A value that is right occurs among the words that the answer has around it.
        if is_unit && (rival > own * RIVAL || unit.kind == UnitKind::Number && self.is_of_another_word(answer, place)) {
            return Err(fault);
        }
        Ok(())
    }

    /// Returns true if a word beside a number has another number beside it wherever it is in the source.
    fn is_of_another_word(&self, answer: &[Unit], place: usize) -> bool {
        let number = &answer[place];
        let beside = answer.iter().enumerate().filter(|(at, unit)| {
            let is_beside = unit.kind == UnitKind::Word && unit.clause == number.clause && at.abs_diff(place) <= BESIDE;
            is_beside && nearest_numbers(answer, *at).is_some_and(|nearest| nearest.contains(&number.key.as_str()))
        });
        beside.filter_map(|(_, word)| self.places.get(&word.key)).any(|places| {
            let mut numbers = places.iter().filter_map(|at| nearest_numbers(&self.units, *at)).peekable();
            numbers.peek().is_some() && !numbers.any(|nearest| nearest.iter().any(|key| *key == number.key))
        })
    }

    fn check_negations(&self, answer: &[Unit]) -> Result<(), AnswerFault> {
        // For each negation with words on both sides: true if one of them has it in the source as well.
        let mut groups: FxHashMap<u32, bool> = FxHashMap::default();
        for (place, unit) in answer.iter().enumerate() {
            let places = self.places.get(&unit.key).map(Vec::as_slice).unwrap_or_default();
            let scored: Vec<(f32, &Unit)> =
                places.iter().map(|at| (similarity(answer, place, &self.units, *at), &self.units[*at])).collect();
            let best = scored.iter().map(|(score, _)| *score).fold(0.0, f32::max);
            let mut closest = scored.iter().filter(|(score, _)| *score >= best).map(|(_, unit)| *unit);
            if let Some(group) = unit.around {
                *groups.entry(group).or_default() |= closest.any(Unit::is_negated);
            } else if unit.negations > 0 {
                // A word of its own has no negation to keep.
                if !closest.any(|other| other.negations == unit.negations || other.around.is_some()) {
                    return Err(AnswerFault::Negation);
                }
            } else if !places.is_empty() && !closest.any(|other| !other.is_negated()) {
                return Err(AnswerFault::Negation);
            }
        }
        if groups.values().all(|is_known| *is_known) { Ok(()) } else { Err(AnswerFault::Negation) }
    }
}

/// Returns the numbers that are nearest to a word in its sentence; `None` if there is none.
fn nearest_numbers(units: &[Unit], at: usize) -> Option<Vec<&str>> {
    let near = units.iter().enumerate().skip(at.saturating_sub(REACH)).take(2 * REACH + 1);
    let numbers: Vec<(usize, &Unit)> = near
        .filter(|(_, unit)| unit.kind == UnitKind::Number && unit.sentence == units[at].sentence)
        .map(|(place, unit)| (place.abs_diff(at), unit))
        .collect();
    let is_in_clause = |(_, unit): &(usize, &Unit)| unit.clause == units[at].clause;
    let numbers = if numbers.iter().any(is_in_clause) { numbers.into_iter().filter(is_in_clause).collect() } else { numbers };
    let least = numbers.iter().map(|(distance, _)| *distance).min()?;
    Some(numbers.into_iter().filter(|(distance, _)| *distance == least).map(|(_, unit)| unit.key.as_str()).collect())
}

/// Returns the similarity of the words around two places: words on the same side count by their distance on both sides. Values of the
/// same kind are skipped, as the elements of a list.
fn similarity(answer: &[Unit], place: usize, source: &[Unit], at: usize) -> f32 {
    let side = |units: &'_ [Unit], from: usize, is_before: bool| -> Vec<(String, f32)> {
        let skipped = units[from].kind;
        let sentence = units[from].sentence;
        let is_counted = |unit: &&Unit| unit.sentence == sentence && (skipped == UnitKind::Word || unit.kind != skipped);
        let keys: Vec<&Unit> = if is_before {
            units[..from].iter().rev().take(2 * REACH).filter(is_counted).take(REACH).collect()
        } else {
            units[from + 1..].iter().take(2 * REACH).filter(is_counted).take(REACH).collect()
        };
        keys.into_iter().zip(1u8..).map(|(unit, distance)| (unit.key.clone(), f32::from(distance))).collect()
    };
    let mut sum = 0.0;
    for is_before in [true, false] {
        let there = side(source, at, is_before);
        for (key, distance) in side(answer, place, is_before) {
            let closest = there.iter().find(|(other, _)| *other == key).map(|(_, other)| 1.0 / (distance * other));
            sum += closest.unwrap_or_default();
        }
    }
    sum
}

/// Returns the words of a text that carry meaning, and the negations in scripts without spaces.
fn units(text: &str) -> (Vec<Unit>, Vec<String>) {
    let (mut units, mut lone): (Vec<Unit>, Vec<String>) = (Vec::new(), Vec::new());
    let (mut sentence, mut group, mut clauses) = (0, 0, 0);
    for line in text.lines() {
        sentence += 1;
        let mut clause = Clause { start: units.len(), ..Clause::default() };
        let mut is_first = true;
        for written in line.split_whitespace() {
            let word = written.trim_start_matches(|c| OPENING.contains(c)).trim_end_matches(|c| CLOSING.contains(c));
            let ends = written.ends_with(['.', '!', '?', ';', ':', ',', '…', '。', '！', '？', '，', '–', '—']);
            let lower = word.to_lowercase().replace('\u{2019}', "'");
            let is_code = written.starts_with('`');
            if !is_code && (lower.ends_with("n't") || NEGATIONS_BEFORE.contains(&&*lower)) {
                clause.pending += 1;
            } else if !is_code && NEGATIONS_AROUND.contains(&&*lower) {
                group += 1;
                clause.after = Some(group);
                let start = clause.start.max(units.len().saturating_sub(AROUND));
                units[start..].iter_mut().for_each(|unit| unit.around = Some(group));
            } else {
                for (part, kind) in parts(word, is_first) {
                    let lower = part.to_lowercase();
                    let key = if kind == UnitKind::Word { stem(&lower).to_owned() } else { lower.clone() };
                    if kind == UnitKind::Word && LIGHT.contains(&*lower) {
                        continue;
                    }
                    if !part.is_ascii() {
                        lone.extend(CJK_NEGATIONS.iter().filter_map(|sign| negated(part, sign)));
                    }
                    let (negations, around) = (std::mem::take(&mut clause.pending), clause.after.take());
                    units.push(Unit { key, text: part.to_owned(), kind, negations, around, sentence, clause: clauses });
                }
            }
            is_first = false;
            if ends {
                clause.end(&mut units);
                clauses += 1;
                if !written.ends_with([',', ':', '–', '—']) {
                    sentence += 1;
                    is_first = true;
                }
            }
        }
        clause.end(&mut units);
        clauses += 1;
    }
    (units, lone)
}

/// The negations of a clause whose words are still to come.
#[derive(Default)]
struct Clause {
    start: usize,
    pending: u8,
    after: Option<u32>,
}

impl Clause {
    /// Ends the clause: a negation at its end belongs to the word before.
    fn end(&mut self, units: &mut [Unit]) {
        if self.pending > 0
            && let Some(last) = units[self.start..].last_mut()
        {
            last.negations += self.pending;
        }
        *self = Clause { start: units.len(), ..Clause::default() };
    }
}

/// Returns a negation of a script without spaces with the characters around it.
fn negated(part: &str, sign: &str) -> Option<String> {
    let at = part.find(sign)?;
    let before = part[..at].chars().next_back();
    let after = part[at + sign.len()..].chars().next();
    Some(before.into_iter().chain(sign.chars()).chain(after).collect::<String>().to_lowercase())
}

/// Returns a written word as one fact, or as the words that hyphens join.
fn parts(word: &str, is_first: bool) -> Vec<(&str, UnitKind)> {
    let has_digit = word.contains(|c: char| c.is_ascii_digit());
    let has_letter = word.contains(char::is_alphabetic);
    let kind = match () {
        () if !has_digit && !has_letter => return Vec::new(),
        () if word.contains(['/', '\\']) && has_letter || is_file_name(word) => UnitKind::Path,
        () if is_hash(word) => UnitKind::Number,
        () if has_digit && !is_identifier(word) && !word.starts_with(char::is_alphabetic) => UnitKind::Number,
        () if word.contains(['_', '(', '=', '<', '[', '{', '$', '@'])
            || word.contains("::")
            || is_identifier(word)
            || has_digit =>
        {
            UnitKind::Name
        }
        () if word.trim_end_matches('.').contains('.') => UnitKind::Name,
        () => {
            let plain = word.split(['-', '\'', '’', '"']).filter(|part| part.contains(char::is_alphabetic));
            let kind = |part: &str| {
                let upper = part.chars().filter(|c| c.is_uppercase()).count();
                let is_name = upper >= 2 || upper == 1 && !is_first && part.is_ascii() && part.starts_with(char::is_uppercase);
                if is_name { UnitKind::Name } else { UnitKind::Word }
            };
            return plain.map(|part| (part, kind(part))).collect();
        }
    };
    vec![(word, kind)]
}

/// Returns true if a text has another one that is not a part of a longer word, number or name.
fn contains_bounded(text: &str, part: &str) -> bool {
    let is_inner = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(part).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + part.len()..]);
        let mut left = before.chars().rev();
        let mut right = after.chars();
        let (last, next) = (left.next(), right.next());
        let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
        let joins = |mark: Option<char>, beyond: Option<char>| matches!(mark, Some('.' | ',')) && is_digit(beyond);
        let starts = part.starts_with(|c: char| c.is_ascii_digit()) && joins(last, left.next());
        let ends = part.ends_with(|c: char| c.is_ascii_digit()) && joins(next, right.next());
        let is_cut_name = part.contains(['/', '.']) && next.is_some_and(|c| c == '-');
        !last.is_some_and(is_inner) && !next.is_some_and(is_inner) && !starts && !ends && !is_cut_name
    })
}

/// Returns true if a text has another one, whatever blanks separate its words.
fn contains_spaced(text: &str, part: &str) -> bool {
    let joined = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    joined(text).contains(&joined(part))
}

/// Returns the quoted parts of a text, without their marks.
fn quotes(text: &str) -> impl Iterator<Item = &str> {
    const MARKS: [(char, char); 5] = [('"', '"'), ('`', '`'), ('“', '”'), ('«', '»'), ('„', '“')];
    MARKS.into_iter().flat_map(move |(open, close)| {
        let mut rest = text;
        std::iter::from_fn(move || {
            let start = rest.find(open)? + open.len_utf8();
            let length = rest[start..].find(close)?;
            let quote = &rest[start..start + length];
            rest = &rest[start + length + close.len_utf8()..];
            Some(quote)
        })
    })
}

/// Checks that a text has no script that its source does not have, and is in a language of the source.
fn same_language(answer: &str, source: &str) -> Result<(), AnswerFault> {
    let scripts = |text: &str| text.chars().filter(|c| c.is_alphabetic()).map(script).collect::<FxHashSet<u8>>();
    if !scripts(answer).is_subset(&scripts(source)) {
        return Err(AnswerFault::Language);
    }
    let counts = |text: &str| -> Vec<usize> {
        let words: Vec<String> = text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase).collect();
        let lists = [&*ENGLISH, &*GERMAN, &*FRENCH, &*SPANISH, &*PORTUGUESE, &*ITALIAN, &*DUTCH];
        lists.iter().map(|list| words.iter().filter(|word| list.contains(&word.as_str())).count()).collect()
    };
    let (of_answer, of_source) = (counts(answer), counts(source));
    let most = |counts: &[usize]| counts.iter().copied().max().unwrap_or_default();
    let (best, known) = (most(&of_answer), most(&of_source));
    if best < LANGUAGE_WORDS || known < LANGUAGE_WORDS {
        return Ok(());
    }
    // A source can be in several languages: prose of a person and of the agent.
    let is_shared = of_answer.iter().zip(&of_source).any(|(answer, source)| *answer == best && *source * 4 >= known);
    if is_shared { Ok(()) } else { Err(AnswerFault::Language) }
}

fn script(letter: char) -> u8 {
    match letter {
        '\0'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' => 0,
        '\u{370}'..='\u{3ff}' => 1,
        '\u{400}'..='\u{52f}' => 2,
        '\u{590}'..='\u{6ff}' => 3,
        '\u{900}'..='\u{dff}' => 4,
        '\u{1100}'..='\u{11ff}' | '\u{ac00}'..='\u{d7af}' => 5,
        '\u{2e80}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' => 6,
        _ => 7,
    }
}
