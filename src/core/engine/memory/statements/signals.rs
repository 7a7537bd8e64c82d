//! The signals of a statement and their weights.

use super::grammar;
use super::sentence::{Mood, Sentence};

/// A named sign that a clause does or does not state something to remember.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signal {
    /// It is the reason given with a rejected tool call.
    Rejection,
    /// It answers a question of the agent with none of the options.
    OwnAnswer,
    /// The user declined or interrupted a call just before.
    Interruption,
    /// It is in the first prompt of a session: a task, not an answer to the agent.
    FirstPrompt,
    /// Most of the prompt is pasted.
    Pasted,
    Statement,
    Question,
    /// It asks with a negation: `can't we`, `isn't it`.
    NegativeQuestion,
    /// It asks for the reason of an act of the user or the agent: `why do we`, `why not`.
    CriticalQuestion,
    /// It asks whether something is due: `should we`.
    ObligationQuestion,
    Contrast,
    Negation,
    /// It is an order with a negation at its start.
    Prohibition,
    Obligation,
    /// It is an order whose first word obliges or states a taste: `make sure`, `prefer`.
    Instruction,
    /// It states a belief or an intention.
    Stance,
    Taste,
    /// It replaces one thing by another.
    Alternative,
    Generality,
    Rule,
    /// It rejects a call of the agent with an instruction: the next call of that kind needs it, too.
    Directive,
    /// It prohibits something beyond the task at hand, in any language.
    General,
    /// It prohibits something for the task at hand.
    Passing,
    /// It gives the value that something has now, or its place.
    Value,
    /// It gives a purpose, an origin or a convention.
    Convention,
    Condition,
    Hedge,
    /// It tells what the user did.
    Narrative,
    /// It asks the agent to do something now.
    Request,
    Approval,
    Failure,
    /// It reports that the work before it failed: neither a request nor a wish nor a condition.
    Report,
    /// It ends with a request for confirmation.
    Tag,
    /// It is bound to the task at hand, or adds to what was said before: `for now`, `as well`.
    Moment,
    /// It has at most three words.
    Short,
    /// It states something in five words or more.
    Substance,
}

/// The weight of each signal, set by hand in quarters of a point: for a statement at all, and for one that outlives the task. A sign that a
/// reader would take alone is worth a point, a veto three.
static WEIGHTS: &[(Signal, i32, i32)] = &[
    (Signal::Rejection, 5, 0),
    (Signal::OwnAnswer, 3, 0),
    (Signal::Interruption, 1, 0),
    (Signal::FirstPrompt, -12, 0),
    (Signal::Pasted, -6, -2),
    (Signal::Statement, 4, 2),
    (Signal::Question, -2, -3),
    (Signal::NegativeQuestion, 7, 0),
    (Signal::CriticalQuestion, 7, 3),
    (Signal::ObligationQuestion, 2, 2),
    (Signal::Contrast, 4, -3),
    (Signal::Negation, 2, 1),
    (Signal::Prohibition, 4, 2),
    (Signal::Obligation, 4, 4),
    (Signal::Instruction, 2, 2),
    (Signal::Stance, 3, 0),
    (Signal::Taste, 3, 0),
    (Signal::Alternative, 3, 1),
    (Signal::Generality, 2, 3),
    (Signal::Rule, 12, 12),
    (Signal::Directive, 0, 5),
    (Signal::General, 9, 1),
    (Signal::Passing, -12, -12),
    (Signal::Value, 5, 6),
    (Signal::Convention, 4, 5),
    (Signal::Condition, 1, 2),
    (Signal::Hedge, 0, -2),
    (Signal::Narrative, -2, -2),
    (Signal::Request, -5, -4),
    (Signal::Approval, -4, -2),
    (Signal::Failure, -10, -6),
    (Signal::Tag, -6, -4),
    (Signal::Moment, -1, -3),
    (Signal::Short, -3, -2),
    (Signal::Substance, 1, 1),
];

/// Minimum sum of the weights of a statement.
pub(super) const STATEMENT_THRESHOLD: i32 = 5;
/// Minimum sum of the weights of a lasting statement.
pub(super) const LASTING_THRESHOLD: i32 = 5;
/// Minimum sum of the weights of a lasting statement that needs no second sighting: two lasting signs.
pub(super) const STRONG_THRESHOLD: i32 = 8;
/// Maximum number of words of a short sentence.
const SHORT_WORDS: usize = 3;
/// Minimum number of words of a statement of substance.
const SUBSTANCE_WORDS: usize = 5;

/// The sums of the weights of some signals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Score {
    pub statement: i32,
    pub lasting: i32,
}

/// True if signals are clear enough for one sighting: a rule for the future, or something lasting with a rejected call, a word that says
/// that it is general, or several signs; not a question, an idea or a report. An obligation alone can be that of one task.
pub(super) fn is_clear(signals: &[Signal]) -> bool {
    let has = |wanted: &[Signal]| wanted.iter().any(|signal| signals.contains(signal));
    let lasting = score(signals).lasting;
    let is_general = has(&[Signal::Rejection, Signal::Generality, Signal::Convention, Signal::Value]);
    let is_enough = lasting >= STRONG_THRESHOLD || lasting >= LASTING_THRESHOLD && is_general;
    has(&[Signal::Rule]) || is_enough && !has(&[Signal::Question, Signal::Hedge, Signal::Failure, Signal::Request])
}

pub(super) fn score(signals: &[Signal]) -> Score {
    let weights = || WEIGHTS.iter().filter(|(signal, ..)| signals.contains(signal));
    Score { statement: weights().map(|weight| weight.1).sum(), lasting: weights().map(|weight| weight.2).sum() }
}

/// Returns the signals within a clause of a rule for the future (`is_rule`) or of another sentence.
pub(super) fn signals_of(clause: &Sentence<'_>, is_rule: bool) -> Vec<Signal> {
    let states = clause.mood == Mood::Statement;
    let asks = clause.mood == Mood::Question;
    let negates = clause.has(&grammar::NEGATIONS);
    let obliges = clause.has(&grammar::OBLIGATIONS);
    let criticizes = clause.criticizes();
    // `why does it not show`: the reason of a fault, not of a decision.
    let asks_fault = asks && negates && !criticizes && clause.has(&grammar::REASONS);
    let tells = states
        && clause.starts_with(&grammar::NARRATORS)
        && !clause.has(&grammar::STANCES)
        && !clause.has(&grammar::TASTES)
        && !obliges;
    let instructs =
        clause.mood == Mood::Order && (clause.starts_with(&grammar::OBLIGATIONS) || clause.starts_with(&grammar::TASTES));
    let words = clause.count();
    let fails = clause.has(&grammar::FAILURES);
    let asks_else = [&grammar::REQUESTS, &grammar::CONDITIONS, &grammar::HEDGES, &grammar::APPROVALS]
        .into_iter()
        .any(|list| clause.has(list));
    // `lint still fails` and `still not there` report; `fix the error` does not.
    let is_fragment = words <= SHORT_WORDS && clause.ends_bare_with(&grammar::FAILURES);
    let reports = asks_fault || fails && (states || !asks && is_fragment) && !obliges && !asks_else;
    holding(&[
        (Signal::Statement, states),
        (Signal::Question, asks),
        (Signal::NegativeQuestion, asks && clause.negates_early() && !clause.has(&grammar::TAGS)),
        (Signal::CriticalQuestion, criticizes),
        (Signal::ObligationQuestion, asks && obliges),
        (Signal::Contrast, clause.has_contrast),
        (Signal::Negation, !asks && negates),
        (Signal::Prohibition, clause.mood == Mood::Order && clause.prohibits()),
        (Signal::Obligation, !asks && obliges),
        (Signal::Instruction, instructs),
        (Signal::Stance, clause.has(&grammar::STANCES)),
        (Signal::Taste, clause.has(&grammar::TASTES)),
        (Signal::Alternative, clause.has(&grammar::ALTERNATIVES)),
        (Signal::Generality, clause.generalizes()),
        (Signal::Rule, is_rule),
        (Signal::Value, states && (clause.gives_value() || clause.gives_place())),
        (Signal::Convention, !asks && clause.has(&grammar::CONVENTIONS)),
        (Signal::Condition, !asks && clause.is_conditional()),
        (Signal::Hedge, clause.has(&grammar::HEDGES)),
        (Signal::Narrative, tells),
        (Signal::Request, clause.has(&grammar::REQUESTS)),
        (Signal::Approval, clause.has(&grammar::APPROVALS)),
        (Signal::Failure, asks_fault || fails),
        (Signal::Report, reports),
        (Signal::Tag, asks && clause.has(&grammar::TAGS)),
        (Signal::Moment, clause.has(&grammar::MOMENTS)),
        (Signal::Short, words <= SHORT_WORDS && !clause.has_contrast),
        (Signal::Substance, states && words >= SUBSTANCE_WORDS),
    ])
}

pub(super) fn holding(signals: &[(Signal, bool)]) -> Vec<Signal> {
    signals.iter().filter(|(_, holds)| *holds).map(|(signal, _)| *signal).collect()
}
