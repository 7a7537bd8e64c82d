//! Resolves the blocks that a model command refers to.

use super::Named;
use crate::engine::{self, Analysis, Selector, SelectorError};
use crate::model::{BlockNumber, TurnList, Zone};
use crate::text::cut::cut;
use std::collections::BTreeSet;

/// Minimum similarity of each word to a word of a topic, from 0 to 1.
const ALIKE: f64 = 0.86;
/// Minimum similarity of a suggested topic.
const NEAR: f64 = 0.7;
/// Characters of the label of a suggested block.
const LABEL_CHARACTERS: usize = 40;
/// Maximum number of suggested blocks or topics.
const SUGGESTED: usize = 2;

/// The reason why a command refers to no blocks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unresolved {
    #[error("no block {number}{}", suggestion(nearest))]
    NoBlock { number: BlockNumber, nearest: Vec<String> },
    #[error("no block is about '{words}'{}", suggestion(nearest))]
    NoTopic { words: String, nearest: Vec<String> },
    #[error("{error}; {}", error.hint())]
    Selector {
        #[from]
        error: SelectorError,
    },
    #[error("no matching blocks")]
    Nothing,
}

fn suggestion(nearest: &[String]) -> String {
    if nearest.is_empty() { String::new() } else { format!("; nearest: {}", nearest.join(", ")) }
}

/// Returns the blocks that the names refer to, in file order, without those from `before` on: the model refers to blocks that it
/// received, not to its current message.
/// Errors: no block of the session matches.
pub fn resolve(names: &[Named], reading: &Analysis, before: BlockNumber) -> Result<Vec<BlockNumber>, Unresolved> {
    let mut blocks: BTreeSet<BlockNumber> = BTreeSet::new();
    for named in names {
        match named {
            Named::Selector(text) => blocks.extend(selected(text, reading, before)?),
            Named::Words(words) => blocks.extend(about(words, reading)?),
        }
    }
    let blocks: Vec<BlockNumber> = blocks.into_iter().filter(|number| *number < before).collect();
    if blocks.is_empty() && !names.is_empty() { Err(Unresolved::Nothing) } else { Ok(blocks) }
}

fn selected(text: &str, reading: &Analysis, before: BlockNumber) -> Result<Vec<BlockNumber>, Unresolved> {
    let found = match Selector::parse(text)?.select(reading) {
        Err(SelectorError::NoSuchBlock { number, .. }) => {
            // Numbers have no gaps, so a missing block is beyond the last one.
            let seen: BTreeSet<BlockNumber> = reading.window.blocks.iter().copied().filter(|near| *near < before).collect();
            let near = seen.iter().rev().take(SUGGESTED).filter_map(|near| reading.block(*near));
            let nearest =
                near.map(|block| format!("{} ({})", block.number, cut(&engine::label(block), LABEL_CHARACTERS))).collect();
            return Err(Unresolved::NoBlock { number, nearest });
        }
        found => found?,
    };
    // A topic in quotation marks is first searched verbatim.
    let topic = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).filter(|words| !words.contains('"'));
    match topic {
        Some(words) if found.is_empty() => about(words, reading),
        _ => Ok(found),
    }
}

/// Returns the blocks of the topic, or of the turn, with the most similar words.
fn about(words: &str, reading: &Analysis) -> Result<Vec<BlockNumber>, Unresolved> {
    let query: Vec<String> = split(words).collect();
    let of_topic = |place: usize| {
        let blocks = reading.session.blocks.iter().filter(move |block| block.topic == Some(place as u32));
        blocks.map(|block| block.number).collect::<Vec<_>>()
    };
    let topics = reading.topics.iter().enumerate().map(|(place, topic)| {
        let words: Vec<String> = split(&topic.label).chain(topic.keywords.iter().flat_map(|word| split(word))).collect();
        (alike(&query, &words), format!("\"{}\"", topic.label), of_topic(place))
    });
    let turns = reading.turns.iter().map(|turn| {
        let words: Vec<String> = split(&turn.prompt).collect();
        (alike(&query, &words), format!("turn({})", turn.number), turn.blocks.clone())
    });
    let mut near: Vec<(f64, String, Vec<BlockNumber>)> = topics.chain(turns).collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    let in_window = |number: &BlockNumber| reading.block(*number).is_some_and(|block| block.position.zone != Zone::Cold);
    match near.first() {
        Some((likeness, _, blocks)) if *likeness >= ALIKE => Ok(blocks.iter().copied().filter(in_window).collect()),
        _ => {
            let mut nearest = match Selector::parse(words).map_err(|error| error.in_session(reading)) {
                // Several words cannot be a misspelled selector name.
                Err(SelectorError::UnknownName { nearest, .. }) if query.len() == 1 => nearest.into_iter().collect(),
                _ => Vec::new(),
            };
            nearest.extend(near.into_iter().filter(|near| near.0 >= NEAR).map(|(_, name, _)| name));
            nearest.truncate(SUGGESTED);
            Err(Unresolved::NoTopic { words: words.to_owned(), nearest })
        }
    }
}

fn split(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase)
}

/// Returns the lowest similarity of the query words to their closest word, from 0 to 1.
fn alike(query: &[String], words: &[String]) -> f64 {
    let best = |wanted: &String| words.iter().map(|word| strsim::jaro_winkler(wanted, word)).fold(0.0, f64::max);
    query.iter().map(best).reduce(f64::min).unwrap_or_default()
}

/// Formats blocks as a selector of their numbers: `3..9|12`.
pub fn ranges(blocks: &[BlockNumber]) -> String {
    blocks.iter().copied().collect::<TurnList>().to_string().replace(',', "|")
}
