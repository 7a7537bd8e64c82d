//! Digests: what a search found, in lines that a reader understands, within a budget.
//!
//! A digest is one turn of an earlier session: a line with its date, session, block and prompt, then one line for each step of the
//! agent (a call with its result, or a message) with the names in it that are worth knowing. Each name is printed once. Names,
//! steps and turns compete for the budget: each is worth the values of its names, less what its characters cost; the price of a
//! character is the lowest one at which the text is within the budget.

use super::index::DocumentKind;
use super::ranking::Retrieval;
use crate::engine::tokens;
use crate::text::cut::cut;
use crate::text::names::file_name;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BinaryHeap;
use std::fmt::Write;

/// Bytes that a token can have: a longer selection cannot be within a budget.
const TOKEN_BYTES: usize = 16;
/// Longest quoted start of a prompt, of a message and of a call, in characters.
const PROMPT_CHARS: usize = 60;
const MESSAGE_CHARS: usize = 50;
const CALL_CHARS: usize = 40;
/// Prompts below this many characters ("continue", "yes") say nothing alone: the last longer one before them is quoted.
const TELLING_CHARS: usize = 16;
/// Names of a step: a longer list is not readable.
const NAMES_OF_STEP: usize = 12;
/// Value of the start of the most relevant message, in values of the best name, and how fast it falls with the relevance.
const MESSAGE_WORTH: f32 = 0.3;
const MESSAGE_SHARPNESS: f32 = 4.0;
/// Characters of a line for a turn besides the prompt, and of a line for a step besides its label.
const TURN_CHARS: usize = 32;
const STEP_CHARS: usize = 10;
/// Steps of the search for the price of a character, each of which halves the interval (on a logarithmic scale).
const PRICE_STEPS: usize = 9;
/// The price of a character, as a share of the value of the best name: at the lowest one all is printed, at the highest nothing.
const PRICES: (f32, f32) = (1e-4, 0.1);

/// Returns what a search found, as lines of at most `budget_tokens` tokens by [`tokens::count`]; empty if nothing was found or fits.
///
/// Digests are in the order of their value. Only whole lines are printed. All texts are masked: credentials are placeholders.
pub fn digests(retrieval: &Retrieval<'_>, budget_tokens: usize) -> String {
    let steps = steps(retrieval);
    let (mut low, mut high) = PRICES;
    let mut best = String::new();
    for _ in 0..PRICE_STEPS {
        let price = (low * high).sqrt();
        let text = print(retrieval, &steps, &select(retrieval, &steps, price, budget_tokens.saturating_mul(TOKEN_BYTES)));
        if tokens::count(&text) <= budget_tokens {
            (high, best) = (price, text);
        } else {
            low = price;
        }
    }
    best
}

/// A call with its result, or a message.
struct Step {
    /// Its first document, by number in the corpus.
    document: usize,
    turn: usize,
    label: String,
    /// Its names and their values, as shares of the highest value; best first.
    names: Vec<(u32, f32)>,
    /// The value of its label: the start of a message tells something by itself.
    worth: f32,
}

/// A step that is printed, with the names that are printed for it.
struct Chosen {
    step: usize,
    gain: f32,
    names: Vec<u32>,
}

/// Returns the steps that have valuable names, in order.
fn steps(retrieval: &Retrieval<'_>) -> Vec<Step> {
    let corpus = retrieval.corpus;
    let relevant = retrieval.documents.iter().map(|(_, relevance)| *relevance).fold(f32::MIN_POSITIVE, f32::max);
    let highest = retrieval.names.first().map_or(1.0, |(_, value)| value.max(f32::MIN_POSITIVE));
    let mut values = vec![0.0f32; corpus.names.len()];
    retrieval.names.iter().for_each(|(name, value)| values[*name as usize] = value / highest);
    let mut steps: Vec<Step> = Vec::new();
    let mut known: FxHashMap<(usize, u32), usize> = FxHashMap::default();
    for (number, relevance) in &retrieval.documents {
        let kind = corpus.documents[*number].document.kind;
        let worth =
            if kind == DocumentKind::Answer { MESSAGE_WORTH * (relevance / relevant).powf(MESSAGE_SHARPNESS) } else { 0.0 };
        let names: Vec<(u32, f32)> =
            corpus.names_of(*number).map(|name| (name, values[name as usize])).filter(|(_, value)| *value > 0.0).collect();
        if names.is_empty() && worth < MESSAGE_WORTH / 10.0 {
            continue;
        }
        let document = &corpus.documents[*number];
        let step = *known.entry((document.source, document.step)).or_insert_with(|| {
            steps.push(Step {
                document: *number,
                turn: document.turn,
                label: label(retrieval, *number),
                names: Vec::new(),
                worth,
            });
            steps.len() - 1
        });
        steps[step].names.extend(names);
    }
    for step in &mut steps {
        step.names.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        step.names.dedup();
    }
    steps
}

/// Returns what a step did: `Read main.rs`, `Bash cargo test`, or the quoted start of a message.
fn label(retrieval: &Retrieval<'_>, number: usize) -> String {
    let document = &retrieval.corpus.documents[number];
    let head = &document.document.head;
    match document.document.kind {
        // The line of the turn quotes it.
        DocumentKind::Prompt => "prompt".to_owned(),
        DocumentKind::Answer => format!("answer \"{}\"", cut(head, MESSAGE_CHARS)),
        // It starts with a sentence of the client.
        DocumentKind::Summary => "summary".to_owned(),
        DocumentKind::Call => call_label(head),
        DocumentKind::Result => {
            let documents = retrieval.corpus.sources[document.source].documents.documents();
            let call = documents.get(document.step as usize).filter(|call| call.kind == DocumentKind::Call);
            call.map_or_else(|| "result".to_owned(), |call| call_label(&call.head))
        }
    }
}

/// Returns the tool and its target; a path without its folders, structured data not at all.
fn call_label(head: &str) -> String {
    let (tool, target) = head.split_once(' ').unwrap_or((head, ""));
    let is_path = target.contains('/') && !target.contains(' ');
    let is_data = target.starts_with(['{', '[']);
    let target = match () {
        () if is_data => "",
        () if is_path => file_name(target),
        () => target,
    };
    cut(format!("{tool} {target}").trim_end(), CALL_CHARS)
}

/// Selects the steps that are worth more than their characters at a price; the most valuable first, as the names allow that are
/// not printed yet. Ends when the text is longer than `room`, in bytes.
fn select(retrieval: &Retrieval<'_>, steps: &[Step], price: f32, room: usize) -> Vec<Chosen> {
    let names = &retrieval.corpus.names;
    let mut printed: FxHashSet<u32> = FxHashSet::default();
    let mut turns: FxHashSet<usize> = FxHashSet::default();
    let gain_of = |name: &(u32, f32)| name.1 - price * (names[name.0 as usize].len() + 1) as f32;
    let label_cost = |step: &Step| price * (step.label.chars().count() + STEP_CHARS) as f32;
    let gain = |step: &Step, printed: &FxHashSet<u32>, is_open: bool| {
        let new = step.names.iter().filter(|(name, _)| !printed.contains(name));
        let gains: f32 = new.map(gain_of).filter(|gain| *gain > 0.0).take(NAMES_OF_STEP).sum();
        let turn_cost = if is_open { 0.0 } else { price * (TURN_CHARS + PROMPT_CHARS) as f32 };
        gains + step.worth - label_cost(step) - turn_cost
    };
    // Gains only fall while names are printed, except for the line of the turn: the heap has gains without it.
    let start = |(number, step)| (gain(step, &printed, true), number);
    let mut heap: BinaryHeap<(u32, usize)> =
        steps.iter().enumerate().map(|(number, step)| start((number, step))).filter(|(gain, _)| *gain > 0.0).map(entry).collect();
    let mut chosen = Vec::new();
    let mut used = 0;
    while let Some((old, number)) = heap.pop() {
        let step = &steps[number];
        let gain = gain(step, &printed, turns.contains(&step.turn));
        if gain <= 0.0 {
            continue;
        }
        if gain < f32::from_bits(old) && heap.peek().is_some_and(|(next, _)| f32::from_bits(*next) > gain) {
            heap.push(entry((gain, number)));
            continue;
        }
        let new = step.names.iter().filter(|name| !printed.contains(&name.0) && gain_of(name) > 0.0);
        let new: Vec<u32> = new.map(|(name, _)| *name).take(NAMES_OF_STEP).collect();
        used += step.label.len() + new.iter().map(|name| names[*name as usize].len() + 1).sum::<usize>();
        printed.extend(&new);
        turns.insert(step.turn);
        chosen.push(Chosen { step: number, gain, names: new });
        if used > room {
            break;
        }
    }
    chosen
}

/// Positive numbers are in the order of their bits.
fn entry((gain, number): (f32, usize)) -> (u32, usize) {
    (gain.max(0.0).to_bits(), number)
}

/// Prints the chosen steps by turn: the most valuable turn first, its steps in order.
fn print(retrieval: &Retrieval<'_>, steps: &[Step], chosen: &[Chosen]) -> String {
    let mut turns: FxHashMap<usize, (f32, Vec<&Chosen>)> = FxHashMap::default();
    for chosen in chosen {
        let (gain, all) = turns.entry(steps[chosen.step].turn).or_default();
        *gain += chosen.gain;
        all.push(chosen);
    }
    let mut turns: Vec<(usize, (f32, Vec<&Chosen>))> = turns.into_iter().collect();
    turns.sort_unstable_by(|a, b| b.1.0.total_cmp(&a.1.0).then(a.0.cmp(&b.0)));
    let mut text = String::new();
    for (turn, (_, mut chosen)) in turns {
        turn_line(retrieval, turn, &mut text);
        chosen.sort_unstable_by_key(|chosen| chosen.step);
        chosen.iter().for_each(|chosen| step_line(retrieval, &steps[chosen.step], &chosen.names, &mut text));
    }
    text
}

fn turn_line(retrieval: &Retrieval<'_>, turn: usize, text: &mut String) {
    let corpus = retrieval.corpus;
    let first = &corpus.documents[corpus.turns[turn].prompt];
    let date = jiff::Timestamp::from_millisecond(first.document.time).unwrap_or_default().strftime("%Y-%m-%d");
    let label = corpus.sources[first.source].label;
    let prompt = cut(prompt(retrieval, turn), PROMPT_CHARS);
    let _ = writeln!(text, "{date} {label} #{} \"{prompt}\"", first.document.block);
}

/// Returns the start of the prompt of a turn; of the last one before it that says something, if it does not.
fn prompt<'a>(retrieval: &Retrieval<'a>, turn: usize) -> &'a str {
    let corpus = retrieval.corpus;
    let source = corpus.turns[turn].source;
    let heads = corpus.turns[..=turn].iter().rev().take_while(|turn| turn.source == source);
    let mut heads = heads.map(|turn| &*corpus.documents[turn.prompt].document.head);
    let own = heads.clone().next().unwrap_or_default();
    heads.find(|head| head.chars().count() >= TELLING_CHARS).unwrap_or(own)
}

fn step_line(retrieval: &Retrieval<'_>, step: &Step, names: &[u32], text: &mut String) {
    let corpus = retrieval.corpus;
    let _ = write!(text, "  #{} {}", corpus.documents[step.document].document.block, step.label);
    let names = names.iter().map(|name| corpus.names[*name as usize]).filter(|name| !step.label.contains(name));
    for (place, name) in names.enumerate() {
        text.push_str(if place == 0 { ": " } else { " " });
        text.push_str(name);
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::super::index::Documents;
    use super::super::index::tests::{call, index, prompt, result};
    use super::super::ranking::{Corpus, Query, Source};
    use super::*;
    use crate::model::TraceContent;

    /// The first of January 2026.
    const NEW_YEAR: i64 = 1_767_225_600_000;

    fn digest(query: &str, contents: Vec<TraceContent>, tokens: usize) -> String {
        let documents: Documents = index(NEW_YEAR, contents);
        let sources = [Source { session: "a1b2c3d4-long", label: "a1b2c3d4", documents: &documents }];
        let corpus = Corpus::new(&sources);
        digests(&Retrieval::new(&Query { text: query, ..Query::default() }, &corpus), tokens)
    }

    fn session() -> Vec<TraceContent> {
        vec![
            prompt("make the cache smaller"),
            call(1, "Read", "/home/ann/src/cache.rs"),
            result(1, "fn evictOldest(cacheKey)"),
            prompt("continue"),
            call(2, "Read", "/home/ann/src/disk.rs"),
            result(2, "fn diskSize(cacheKey) of the cache"),
        ]
    }

    #[test]
    fn a_turn_has_a_line_and_each_step_another() {
        let text = digest("why is the cache full", session(), 500);
        assert!(
            text.contains("2026-01-01 a1b2c3d4 #1 \"make the cache smaller\"\n  #2 Read cache.rs: cacheKey evictOldest\n"),
            "{text}"
        );
        // A prompt that says nothing is replaced with the one before it.
        assert!(text.contains("2026-01-01 a1b2c3d4 #4 \"make the cache smaller\"\n  #5 Read disk.rs"), "{text}");
        assert_eq!(text.matches("cacheKey").count(), 1, "{text}");
    }

    #[test]
    fn only_whole_lines_within_the_budget_are_printed() {
        let whole = digest("why is the cache full", session(), 500);
        for budget in [0, 1, 20, 30, 40, 60] {
            let text = digest("why is the cache full", session(), budget);
            assert!(tokens::count(&text) <= budget);
            assert!(text.is_empty() || text.ends_with('\n'));
            assert!(text.len() <= whole.len());
        }
        assert_eq!(digest("cache", Vec::new(), 500), "");
    }

    #[test]
    fn sessions_without_code_have_digests_too() {
        let said = vec![prompt("plan the party of the team"), TraceContent::Answer("The party is in the garden.".to_owned())];
        let text = digest("where is the party", said, 500);
        assert!(text.contains("answer \"The party is in the garden.\""), "{text}");
    }

    #[test]
    fn calls_are_named_by_tool_and_target() {
        let check = |head: &str, expected: &str| assert_eq!(call_label(head), expected, "{head}");
        check("Read /home/ann/src/cache.rs", "Read cache.rs");
        check("Read …/src/cache.rs", "Read cache.rs");
        check("Bash cargo test -- cache", "Bash cargo test -- cache");
        check("Ask [{\"question\":1}]", "Ask");
        check("Wait", "Wait");
        check("Grep a pattern that is longer than the label", "Grep a pattern that is longer than the…");
    }
}
