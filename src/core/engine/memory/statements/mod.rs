//! Statements of the user that are worth remembering: corrections, preferences and facts.
//!
//! A prompt is cut down to the user's own words (`voice`), these into clauses (`sentence`). Each clause has signals: its source, its
//! mood and a few closed word classes (`grammar`); a table of weights (`signals`) decides.

mod brief;
mod grammar;
mod sentence;
mod shape;
mod signals;
mod voice;

pub use brief::{Brief, brief};
pub(super) use grammar::is_function_word;
pub use voice::own_sentences;

use crate::engine::content::rules::{Rule, is_passing_prohibition, is_prohibition, rule};
use crate::engine::find_secrets;
use crate::model::{EventPlace, MemoryKind, PromptSource, ToolVerb, TraceCall, TraceContent, TraceEvent};
use crate::text::cut::{cut, one_line};
use sentence::{Sentence, clauses, is_foreign};
use serde::{Deserialize, Serialize};
use signals::{LASTING_THRESHOLD, STATEMENT_THRESHOLD, Score, Signal, is_clear, score, signals_of};
use voice::{QuotedLines, voice};

/// Maximum length of the text of a statement, in characters.
const LONGEST_TEXT: usize = 300;
/// Maximum length of a text of several sentences that is one statement, in bytes.
const WHOLE_TEXT: usize = 140;
/// Maximum length of the context of a statement, in characters: a longer one is omitted, not cut.
const LONGEST_CONTEXT: usize = 80;
/// Maximum number of bytes of the options of a question that are kept until it is answered.
const LONGEST_OPTIONS: usize = 4 << 10;
/// Words for credentials: a sentence that gives the value of one is never kept, whatever the value looks like.
const CREDENTIALS: [&str; 21] = [
    "api key", "api-key", "apikey", "clave", "contraseña", "credential", "credentials", "kennwort", "mot de passe", "passphrase",
    "passwort", "password", "pin", "secret", "senha", "token", "パスワード", "密码", "密碼", "비밀번호", "口令",
];
/// Words between a credential and its value.
const VALUE_MARKS: [&str; 11] = ["=", ":", "is ", "ist ", "es ", "est ", "é ", "是", "は", "는", "lautet "];

/// A correction, preference or fact in the user's words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Statement {
    pub place: EventPlace,
    pub kind: MemoryKind,
    /// The sentences that state it, as the user wrote them; at most 300 bytes.
    pub text: String,
    /// The last act of the agent before a correction; at most 120 bytes.
    pub context: Option<String>,
    /// True if one sighting is enough: a rule for the future, or a lasting correction with clear signs.
    pub is_strong: bool,
    /// True if it should outlive the task: a rule, a preference, or a fact of the project or its environment.
    pub is_lasting: bool,
}

/// Finds the statements of a session. Serializable, so that a session that grew is continued.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Statements {
    /// The statements so far, in order.
    pub found: Vec<Statement>,
    has_prompt: bool,
    /// True if the last prompt reports that the work before it failed.
    pub is_report: bool,
    is_interrupted: bool,
    last_act: Option<String>,
    /// The input of the last call that may be a question: options that the user chose from are the model's words.
    options: String,
    quoted: QuotedLines,
}

impl Statements {
    /// Reads the next event of the session.
    pub fn push(&mut self, event: &TraceEvent) {
        match &event.content {
            TraceContent::Prompt { text, source } => self.read_prompt(event, text, *source),
            TraceContent::Answer(text) => {
                self.is_interrupted = false;
                self.quoted.add_said(text);
            }
            TraceContent::Inserted(text) => self.quoted.add(text),
            TraceContent::Call(call) => self.read_call(call),
            TraceContent::Result(result) => {
                self.is_interrupted = result.declined;
                // The result of a declined call holds the user's reason, which follows as a prompt.
                if !result.declined {
                    self.quoted.add(&result.text);
                }
            }
            TraceContent::Summary(_) => {}
        }
    }

    fn read_call(&mut self, call: &TraceCall) {
        self.last_act = context_of(call);
        self.options.clear();
        if call.verb == ToolVerb::Other {
            self.options.push_str(&call.input[..call.input.floor_char_boundary(LONGEST_OPTIONS)]);
            // A plan or a question is said, too.
            self.quoted.add_said(&self.options.replace("\\n", "\n"));
        }
    }

    fn read_prompt(&mut self, event: &TraceEvent, text: &str, source: PromptSource) {
        let is_first = !self.has_prompt;
        let text = if source == PromptSource::Typed { behind_command(text) } else { text };
        let is_option = source == PromptSource::Choice && self.options.contains(text.trim());
        let sentences = if is_option { Vec::new() } else { self.sentences(text, source, is_first) };
        let found = self.statements(event, &sentences);
        self.found.extend(found);
        self.is_report = source == PromptSource::Typed && !is_first && sentences.iter().any(|sentence| sentence.reports_failure);
        if source == PromptSource::Typed {
            self.has_prompt = true;
            self.last_act = None;
            self.options.clear();
        }
        self.is_interrupted = false;
    }

    fn sentences<'p>(&self, prompt: &'p str, source: PromptSource, is_first: bool) -> Vec<Scored<'p>> {
        // The words with a rejected call are a correction in any language, and rules are recognized in several. They have the context of
        // the call; others must say what they are about.
        let is_rejection = source == PromptSource::Rejection;
        let is_foreign = !is_rejection && is_foreign(prompt);
        let voice = voice(prompt, &|line| self.quoted.has(line));
        let shared = signals::holding(&[
            (Signal::Rejection, is_rejection),
            (Signal::OwnAnswer, source == PromptSource::Choice),
            (Signal::Interruption, source == PromptSource::Typed && self.is_interrupted),
            (Signal::FirstPrompt, is_first),
            (Signal::Pasted, voice.pasted_bytes * 2 > prompt.len()),
        ]);
        let mut before = None;
        let own = voice.sentences.into_iter().filter(|sentence| !holds_credential(sentence));
        let scored =
            own.map(|sentence| Scored::new(sentence, before.replace(sentence).filter(|_| !is_rejection), prompt, &shared));
        let is_told = |scored: &Scored<'_>| is_rejection || scored.reports_failure || scored.is_whole;
        let is_read = |scored: &Scored<'_>| {
            !is_foreign || [Signal::Rule, Signal::General].iter().any(|signal| scored.signals.contains(signal))
        };
        scored.filter(|scored| is_read(scored) && is_told(scored)).collect()
    }

    fn statements(&self, event: &TraceEvent, sentences: &[Scored<'_>]) -> Vec<Statement> {
        let best = sentences.iter().max_by_key(|sentence| sentence.score);
        let Some(best) = best.filter(|best| best.score.statement >= STATEMENT_THRESHOLD) else { return Vec::new() };
        let kept = choose_sentences(sentences, best);
        // Short sentences belong together; of a longer text each sentence is a statement of its own.
        if join_texts(&kept).len() <= WHOLE_TEXT {
            return vec![self.statement(event, &kept)];
        }
        kept.iter().map(|sentence| self.statement(event, &[sentence])).collect()
    }

    /// Returns the statement that some sentences of a prompt make.
    fn statement(&self, event: &TraceEvent, kept: &[&Scored<'_>]) -> Statement {
        let best = kept.iter().max_by_key(|sentence| sentence.score);
        let kind = best.map_or(MemoryKind::Fact, |best| kind_of(&best.signals));
        Statement {
            place: event.place(),
            kind,
            text: join_texts(kept),
            context: self.last_act.clone().filter(|_| kind == MemoryKind::Correction),
            is_strong: kept.iter().any(|sentence| is_clear(&sentence.signals)),
            is_lasting: kept.iter().any(|sentence| sentence.is_lasting()),
        }
    }
}

/// Returns true if a sentence says by itself what it is about.
pub fn is_whole(sentence: &str) -> bool {
    Sentence::new(sentence).is_whole()
}

/// Returns true if the subject of a sentence is not a pronoun for another text.
pub fn names_subject(sentence: &str) -> bool {
    Sentence::new(sentence).names_subject()
}

/// Returns true if a statement can be understood without its conversation: it is whole, and points at nothing outside of itself.
pub fn is_understood(text: &str) -> bool {
    let sentences: Vec<Sentence<'_>> = voice::sentences(text).into_iter().map(Sentence::new).collect();
    !is_torn(text) && sentences.first().is_some_and(Sentence::is_whole) && !sentences.iter().any(Sentence::points)
}

/// Returns true for a text with a pause in it, or with an open bracket or quotation: it thinks aloud, or a part is missing.
pub fn is_torn(text: &str) -> bool {
    let count = |mark: char| text.matches(mark).count();
    // `../a` is a path.
    let pauses = text.match_indices("..").any(|(at, _)| !text[at + 2..].starts_with('/'));
    pauses || text.contains('…') || count('(') > count(')') || count('`') % 2 == 1 || count('"') % 2 == 1
}

/// A sentence with the signals of its best clause.
struct Scored<'a> {
    text: &'a str,
    signals: Vec<Signal>,
    score: Score,
    reports_failure: bool,
    /// True if it says by itself what it is about.
    is_whole: bool,
}

impl<'a> Scored<'a> {
    /// Returns true if it should outlive its task. A prohibition can; words of other languages with a rejected call are not weighed.
    fn is_lasting(&self) -> bool {
        let has = |signal| self.signals.contains(&signal);
        self.score.lasting >= LASTING_THRESHOLD || has(Signal::General) || has(Signal::Rejection) && is_foreign(self.text)
    }

    /// Returns a sentence with its signals. One whose subject is a word for something in the sentence before is quoted with that one.
    fn new(text: &'a str, before: Option<&'a str>, prompt: &'a str, shared: &[Signal]) -> Scored<'a> {
        let mut reports_failure = false;
        let stated = rule(text);
        let is_rule = stated == Some(Rule::Lasting);
        let is_directive = stated == Some(Rule::Task) && shared.contains(&Signal::Rejection);
        let is_general = !is_rule && is_prohibition(text);
        let is_passing = !is_rule && is_passing_prohibition(text);
        let sentence = Sentence::new(text);
        let before = before.filter(|_| !sentence.names_subject());
        let named = before.and_then(|before| with_subject(before, text, prompt));
        let clauses = clauses(text).into_iter().map(|clause| {
            let mut signals = signals_of(&Sentence::new(clause.trim()), is_rule);
            reports_failure |= signals.contains(&Signal::Report);
            // A task can be given with rules that outlive it.
            signals.extend(is_general.then_some(Signal::General));
            signals.extend(is_passing.then_some(Signal::Passing));
            signals.extend(is_directive.then_some(Signal::Directive));
            signals.extend(shared.iter().filter(|signal| !is_rule || **signal != Signal::FirstPrompt));
            (score(&signals), signals)
        });
        let (score, signals) = clauses.max_by_key(|(score, _)| *score).unwrap_or_default();
        Scored { text: named.unwrap_or(text), signals, score, reports_failure, is_whole: named.is_some() || sentence.is_whole() }
    }
}

/// Returns two sentences of a prompt as one text, if nothing else is between them and the first names its subject; at most `WHOLE_TEXT`
/// bytes.
fn with_subject<'a>(before: &'a str, text: &'a str, prompt: &'a str) -> Option<&'a str> {
    let offset = |part: &str| (part.as_ptr() as usize).checked_sub(prompt.as_ptr() as usize);
    let (start, end) = (offset(before)?, offset(text)? + text.len());
    let both = prompt.get(start..end).filter(|both| both.len() <= WHOLE_TEXT)?;
    let between = both.get(before.len()..both.len() - text.len())?;
    (between.trim().is_empty() && is_whole(before)).then_some(both)
}

/// Returns the arguments of a command of the client, `/name arguments`; any other text as it is.
fn behind_command(text: &str) -> &str {
    let is_name = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ':'));
    let arguments = text.strip_prefix('/').and_then(|typed| typed.split_once(char::is_whitespace));
    arguments.filter(|(name, _)| is_name(name)).map_or(text, |(_, arguments)| arguments.trim_start())
}

/// Returns the best sentence and the others above the threshold, best first, within the maximum length; in order.
fn choose_sentences<'s, 'a>(sentences: &'s [Scored<'a>], best: &'s Scored<'a>) -> Vec<&'s Scored<'a>> {
    let mut order: Vec<usize> =
        (0..sentences.len()).filter(|index| sentences[*index].score.statement >= STATEMENT_THRESHOLD).collect();
    order.sort_by_key(|index| std::cmp::Reverse((std::ptr::eq(&raw const sentences[*index], best), sentences[*index].score)));
    let mut left = LONGEST_TEXT;
    let mut kept: Vec<usize> = Vec::new();
    for index in order {
        let length = sentences[index].text.len() + 1;
        if kept.is_empty() || length <= left {
            left = left.saturating_sub(length);
            kept.push(index);
        }
    }
    kept.sort_unstable();
    kept.into_iter().map(|index| &sentences[index]).collect()
}

/// Returns the texts of sentences with single spaces, cut to `LONGEST_TEXT`.
fn join_texts(sentences: &[&Scored<'_>]) -> String {
    let texts: Vec<&str> = sentences.iter().map(|sentence| sentence.text).collect();
    cut(&one_line(&texts.join(" ")), LONGEST_TEXT)
}

fn kind_of(signals: &[Signal]) -> MemoryKind {
    const CORRECTIONS: [Signal; 9] = [
        Signal::Rejection,
        Signal::OwnAnswer,
        Signal::Interruption,
        Signal::Contrast,
        Signal::NegativeQuestion,
        Signal::CriticalQuestion,
        Signal::Alternative,
        Signal::Prohibition,
        Signal::General,
    ];
    const PREFERENCES: [Signal; 4] = [Signal::Rule, Signal::Taste, Signal::Obligation, Signal::Generality];
    let has = |wanted: &[Signal]| wanted.iter().any(|signal| signals.contains(signal));
    if has(&CORRECTIONS) && !has(&[Signal::Rule]) {
        MemoryKind::Correction
    } else if has(&PREFERENCES) {
        MemoryKind::Preference
    } else {
        MemoryKind::Fact
    }
}

/// Returns the tool and target of a call as a context; `None` if they are not short and whole, or hold a credential.
fn context_of(call: &TraceCall) -> Option<String> {
    let target = call.target.trim();
    // A target that is data, such as the questions of a tool that asks, is not a clause that a reader understands.
    let target = if target.starts_with(['{', '[']) { "" } else { target };
    // A command tells its program itself.
    let text = if call.verb == ToolVerb::Run { target.to_owned() } else { format!("{} {target}", call.tool).trim().to_owned() };
    let is_whole = text.chars().count() <= LONGEST_CONTEXT && !text.contains(['\n', '…', '`']);
    (is_whole && !holds_credential(&text)).then_some(text)
}

fn holds_credential(text: &str) -> bool {
    if !find_secrets(text.as_bytes()).is_empty() {
        return true;
    }
    let lower = text.to_lowercase();
    CREDENTIALS.iter().any(|word| {
        lower.match_indices(word).any(|(at, _)| {
            let is_whole = !lower[..at].ends_with(char::is_alphanumeric) || !word.is_ascii();
            let after = lower[at + word.len()..].trim_start();
            is_whole && VALUE_MARKS.iter().any(|mark| after.starts_with(mark))
        })
    })
}

#[cfg(test)]
mod tests;
