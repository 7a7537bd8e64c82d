//! Turns that were requested by their numbers.

use super::passage;
use super::report::{RecallReport, RecalledTurn};
use super::{Arguments, Quota};
use crate::app::{CommandError, Env};
use crate::commands::summary;
use crate::engine::search::{Occurrences, Passage, PassageKind, Query};
use crate::engine::summary::{TurnSummary, summarize};
use crate::engine::{TurnForm, TurnPriority, TurnRequest, TurnRequestError, label, requested, tokens, within, without_data};
use crate::model::{Block, BlockKind};
use crate::output::times_of_day;
use crate::workspace::{Draft, PlanError, Workspace};

/// Bytes per token in an answer to a command in the model's text, at most: such an answer has a limit in bytes.
const ANSWER_BYTES_PER_TOKEN: usize = 4;
/// Bytes of a turn per token of the budget above which its full text is not read: it is too long in any language.
const BYTES_PER_TOKEN: u64 = 16;

impl From<TurnRequestError> for CommandError {
    fn from(error: TurnRequestError) -> CommandError {
        let hint = match &error {
            TurnRequestError::Missing { .. } => "to list the latest turns: aperture summary".to_owned(),
            TurnRequestError::Budget { least, .. } => format!("to print it: --max-tokens {}", least.next_multiple_of(100)),
        };
        CommandError::refused(error).hint(hint)
    }
}

/// Returns the requested turns of a session, from the originals of its blocks.
/// Errors: none of the turns exists, the budget is too small, or the session cannot be read.
pub(super) fn turns(
    env: &Env,
    arguments: &Arguments,
    request: &TurnRequest,
    draft: &Draft<'_>,
    workspace: &Workspace<'_>,
) -> Result<RecallReport, CommandError> {
    let clock = times_of_day(&env.style);
    let (turns, _) = summarize(&workspace.reading, &summary::contents(env, workspace)?, &clock);
    let scores = scores(&turns, request, draft, workspace)?;
    let places = requested(&turns, request, &|place| scores.get(place).copied().unwrap_or_default())?;
    let cost = |text: &str| match arguments.quota {
        None => tokens::count(text),
        Some(_) => tokens::count(text).max(text.len().div_ceil(ANSWER_BYTES_PER_TOKEN)),
    };
    let mut full = |turn: &TurnSummary, most_tokens: usize| -> Result<Option<String>, CommandError> {
        let bytes: u64 = blocks_of(turn, workspace).map(|block| block.bytes).sum();
        if bytes > most_tokens as u64 * BYTES_PER_TOKEN { Ok(None) } else { full_text(turn, draft, workspace).map(Some) }
    };
    let mut shown = within::<CommandError>(&turns, &places, request, arguments.max_tokens as usize, &cost, &mut full)?;
    if arguments.quota == Some(Quota::Used) {
        shown.notes.push("the quota of recalls in this turn is used: only headers until the next prompt".to_owned());
    }
    let recalled = shown.turns.into_iter().map(|turn| RecalledTurn {
        conversation_id: workspace.location.id.clone(),
        turn_id: turn.number,
        form: turn.form,
        tokens: turn.tokens as f64,
        text: turn.text,
    });
    let (query, turns) = (request.query.clone(), recalled.collect());
    Ok(RecallReport { query, turns, notes: shown.notes, ..RecallReport::default() })
}

fn blocks_of<'a>(turn: &TurnSummary, workspace: &'a Workspace<'_>) -> impl Iterator<Item = &'a Block> {
    let reading = &workspace.reading;
    reading.turn(turn.number).into_iter().flat_map(|turn| &turn.blocks).filter_map(|number| reading.block(*number))
}

/// Returns the rate of each turn by the query; empty if the order does not depend on it.
fn scores(
    turns: &[TurnSummary],
    request: &TurnRequest,
    draft: &Draft<'_>,
    workspace: &Workspace<'_>,
) -> Result<Vec<f32>, CommandError> {
    if request.priority() != TurnPriority::Relevant {
        return Ok(Vec::new());
    }
    let text = |turn: &TurnSummary| match request.turns.contains(turn.number) {
        true => full_text(turn, draft, workspace),
        false => Ok(String::new()),
    };
    let texts = turns.iter().map(text).collect::<Result<Vec<_>, _>>()?;
    let passages: Vec<Passage<'_>> = turns
        .iter()
        .zip(&texts)
        .map(|(turn, text)| passage(&turn.header.text, PassageKind::Answer, text.as_str().into()))
        .collect();
    let query = Query::of_text(&request.query);
    let mut scores = vec![0.0; turns.len()];
    for found in Occurrences::new(&query, &passages).ranked(&[]) {
        scores[found.passage] = found.score;
    }
    Ok(scores)
}

/// Returns the originals of the blocks of a turn without its thinking, masked, each under its number and label. A block whose original
/// is unknown has its current content.
fn full_text(turn: &TurnSummary, draft: &Draft<'_>, workspace: &Workspace<'_>) -> Result<String, CommandError> {
    let known = &workspace.reading.known;
    let mut text = String::new();
    for block in blocks_of(turn, workspace).filter(|block| block.kind != BlockKind::Thinking) {
        let content = match draft.original(block.number) {
            Ok(original) => known.mask(&original.readable).into_owned(),
            Err(PlanError::NoOriginal(_)) => {
                workspace.masked_contents(&[block.number])?.into_iter().map(|content| content.readable).collect()
            }
            Err(error) => return Err(error.into()),
        };
        let content = without_data(&content);
        if !content.trim().is_empty() {
            let name = match block.kind {
                BlockKind::Text => block.role.name().to_owned(),
                _ => format!("{} {}", block.role, label(block)),
            };
            text.push_str(&format!("[#{} {name}]\n{}\n", block.number, content.trim_end()));
        }
    }
    Ok(text)
}

impl Arguments {
    /// Returns the request for turns; `None` if blocks or words are requested.
    pub fn turn_request(&self) -> Option<TurnRequest> {
        let turns = self.turns.clone()?;
        let form = if self.quota == Some(Quota::Used) { TurnForm::Header } else { self.form.unwrap_or_default() };
        Some(TurnRequest { turns, form, priority: self.priority, query: self.words() })
    }
}
