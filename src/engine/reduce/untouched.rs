//! What no reducer may change.

use super::{Reducer, Reducible};
use crate::model::{BlockKind, Level};

/// Thinking is signed; the input of a tool must stay a JSON object, which is what [`super::tool_input`] is for.
pub(super) struct Untouched;

impl Reducer for Untouched {
    fn name(&self) -> &'static str {
        "untouched"
    }

    fn fits(&self, input: &Reducible<'_>) -> bool {
        matches!(input.kind, BlockKind::Thinking | BlockKind::ToolUse)
    }

    fn reduce(&self, _: &Reducible<'_>, _: Level) -> Option<String> {
        None
    }
}
