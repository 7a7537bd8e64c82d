//! Handles the `PostToolUse` event, before the model sees the result of a tool.

use super::Payload;
use super::report::HookReport;
use crate::app::{CommandError, Env, files};
use crate::engine::tokens::estimate;
use crate::engine::{self, Context, Need, Reducible};
use crate::model::{Basis, Block, BlockKind, Level, NO_MEDIA, Role, TokenCount, Tool, ToolVerb};
use crate::output::tokens;
use crate::provider;
use crate::provider::claude_code::shortenable_texts;
use rustc_hash::FxHashSet;
use std::io;
use std::path::Path;

/// Returns the tool result with each long text trimmed, if the settings enable that and the store is not sealed. The whole text, with
/// credentials masked, is first written to a file that the model can read.
pub(super) fn answer(env: &Env, payload: &Payload) -> Result<Option<HookReport>, CommandError> {
    // The model could not read a sealed file.
    let is_enabled = env.hooks.reduce_results && env.keys.seal().is_ok_and(|seal| !seal.is_sealed());
    let (Some(name), Some(id), true) = (&payload.tool_name, &payload.tool_use_id, is_enabled) else {
        return Ok(None);
    };
    let mut output = payload.tool_response.clone();
    let mut block = Block::new(BlockKind::ToolResult, Role::ToolResult);
    block.tool = Some(Box::new(Tool::new(name.as_str(), ToolVerb::Other, "")));
    let mut shortened = false;
    for (place, text) in shortenable_texts(name, &mut output).into_iter().enumerate() {
        let whole = estimate(text);
        if whole <= env.hooks.reduce_over_tokens as f64 || env.rules.protect(&block, text) {
            continue;
        }
        let need = if payload.has_session(env) { Need::new(&env.open(None)?.reading) } else { Need::default() };
        let (of_name, nothing) = (|term| need.of_name(term), FxHashSet::default());
        let context = Context { name: &of_name, line: need.of_line(&block), shown: &nothing };
        let (kind, conventions) = (block.kind, provider::conventions());
        let input = Reducible { kind, tool: None, error: false, media: &NO_MEDIA, held: &[], conventions, content: text };
        let cost = tokens(TokenCount { value: whole, basis: Basis::Estimated });
        let path = env.result_path(payload.session_id.as_deref().unwrap_or_default(), id, place)?;
        let marker = format!("[trimmed from {cost} by aperture; full text: {}]", path.display());
        let Some(short) = engine::reduce(&input, Level::Trimmed, &|_| marker.clone(), &context) else { continue };
        keep(env, &path, &env.gate.masked(text))?;
        *text = short;
        shortened = true;
    }
    Ok(shortened.then(|| HookReport { output: Some(output), ..HookReport::default() }))
}

/// Writes a text to a file, readable only by the user.
fn keep(env: &Env, path: &Path, text: &str) -> io::Result<()> {
    files::make_private(path.parent().unwrap_or(Path::new(".")), &path.file_name().unwrap_or_default().to_string_lossy())?;
    files::write_private(env.disk, path, text.as_bytes())
}
