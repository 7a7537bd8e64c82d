//! The course of a session, as all exports for other programs tell it: prompts, requests, and the calls of their responses.

use crate::app::{CommandError, Env};
use crate::commands::timeline;
use crate::engine::TimelineRequest;
use crate::model::{Block, BlockKind, BlockNumber};
use crate::provider::conventions;
use crate::workspace::{Content, Workspace};
use rustc_hash::{FxHashMap, FxHashSet};

pub(super) struct Call {
    /// Block of the call, which names it in an export.
    pub block: BlockNumber,
    pub name: String,
    /// The target, such as a file or a command.
    pub target: String,
    /// The input as the model wrote it: JSON, or a text.
    pub input: String,
    pub result: Option<String>,
    pub is_error: bool,
    /// True if it was not carried out: the user declined it, or another failed call cancelled it.
    pub is_declined: bool,
    /// The times of the call and of its result, in milliseconds since 1970, UTC.
    pub start: i64,
    pub end: i64,
}

/// A request, with the texts of its response.
pub(super) struct Answer {
    pub request: TimelineRequest,
    /// The time at which the last content was added to it.
    pub start: i64,
    pub thinking: String,
    pub text: String,
    pub calls: Vec<Call>,
}

pub(super) enum Step {
    Prompt { turn: u32, time: Option<i64>, text: String },
    Answer(Box<Answer>),
}

/// Returns the steps of a session in order, also those that a compaction took out of the window. Texts that a client adds are left out.
pub(super) fn steps(env: &Env, workspace: &Workspace<'_>) -> Result<Vec<Step>, CommandError> {
    let reading = &workspace.reading;
    let requests = timeline::requests(env, workspace);
    let mut numbers: Vec<BlockNumber> =
        requests.iter().flat_map(|request| request.new_blocks.iter().chain(&request.response_blocks)).copied().collect();
    numbers.sort_unstable();
    numbers.dedup();
    // A prompt that has no answer yet is in no request, and so are those within a response, if a client gives all the same id.
    let is_apart = |number: &BlockNumber| numbers.binary_search(number).is_err();
    let apart: Vec<BlockNumber> = reading.in_window().map(|block| block.number).filter(is_apart).collect();
    numbers.extend(&apart);
    let contents: FxHashMap<BlockNumber, Content> = numbers.iter().copied().zip(workspace.contents(&numbers)?).collect();
    // A client can write a conversation again, in rows of other identities and of the same times.
    let copies = copies(numbers.iter().filter_map(|number| reading.block(*number)));
    let block =
        |number: &BlockNumber| Some((reading.block(*number).filter(|_| !copies.contains(number))?, contents.get(number)?));
    let is_result = |block: &&Block| block.kind == BlockKind::ToolResult;
    let results: FxHashMap<_, &Block> = numbers
        .iter()
        .filter_map(|number| reading.block(*number))
        .filter(is_result)
        .filter_map(|block| Some((block.call?, block)))
        .collect();
    let mut steps = Vec::new();
    for request in requests {
        let mut start = request.time;
        for (block, content) in request.new_blocks.iter().filter_map(block) {
            start = block.timestamp.unwrap_or(start).min(request.time);
            steps.extend(prompt(block, content));
        }
        let mut answer = Answer { start, thinking: String::new(), text: String::new(), calls: Vec::new(), request };
        let said: Vec<(&Block, &Content)> = answer.request.response_blocks.iter().filter_map(block).collect();
        for (block, content) in said {
            match block.kind {
                BlockKind::Text => add(&mut answer.text, &content.readable),
                BlockKind::Thinking => add(&mut answer.thinking, &content.readable),
                BlockKind::ToolUse => answer.calls.push(call(block, content, &results, &contents)),
                _ => {}
            }
        }
        steps.push(Step::Answer(Box::new(answer)));
    }
    steps.extend(apart.iter().filter_map(block).filter_map(|(block, content)| prompt(block, content)));
    Ok(steps)
}

/// Returns the blocks that repeat an earlier one: its time, its call and its content.
fn copies<'a>(blocks: impl Iterator<Item = &'a Block>) -> FxHashSet<BlockNumber> {
    let mut known = FxHashSet::default();
    let mut is_copy = |block: &&Block| block.timestamp.is_some() && !known.insert((block.timestamp, block.call, block.hash));
    blocks.filter(|block| block.bytes > 0).filter(|block| is_copy(block)).map(|block| block.number).collect()
}

fn prompt(block: &Block, content: &Content) -> Option<Step> {
    let text = content.words(block)?.into_owned();
    Some(Step::Prompt { turn: block.position.turn, time: block.timestamp, text })
}

fn add(text: &mut String, more: &str) {
    if !text.is_empty() && !more.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str(more.trim_end());
}

fn call(
    block: &Block,
    content: &Content,
    results: &FxHashMap<crate::model::Key, &Block>,
    contents: &FxHashMap<BlockNumber, Content>,
) -> Call {
    let result = block.call.and_then(|call| results.get(&call));
    let start = block.timestamp.unwrap_or_default();
    let text = result.and_then(|result| contents.get(&result.number)).map(|content| content.readable.trim_end().to_owned());
    let is_error = result.is_some_and(|result| result.error);
    let is_declined = is_error && text.as_ref().is_some_and(|text| conventions().declines(text));
    Call {
        block: block.number,
        name: block.tool.as_ref().map_or_else(|| "tool".to_owned(), |tool| tool.name.to_string()),
        target: block.tool.as_ref().map_or_else(String::new, |tool| tool.target.to_string()),
        input: content.sent.clone(),
        result: text,
        is_error: is_error && !is_declined,
        is_declined,
        start,
        end: result.and_then(|result| result.timestamp).unwrap_or(start).max(start),
    }
}
