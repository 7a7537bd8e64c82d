//! Rules: the protected blocks, the preset and the budget of the window.

use super::{DEFAULT_PRESET, PRESETS, Preset, preset};
use crate::engine::Analysis;
use crate::engine::cost::binding::{Binding, binding_of};
use crate::engine::selector::PathPattern;
use crate::model::{Block, BlockKind, BlockNumber};
use globset::{GlobBuilder, GlobMatcher};

/// Rules for shortening from the user's settings.
#[derive(Clone, Debug)]
pub struct Rules {
    tools: Vec<GlobMatcher>,
    paths: Vec<PathPattern>,
    patterns: Vec<String>,
    pub preset: Preset,
    /// Maximum tokens of the window; `None` for a share of its size.
    pub budget_tokens: Option<u64>,
    /// Maximum usage of the window, in percent, if no tokens are given.
    pub budget_percent: f64,
    /// The number of last turns that are protected.
    pub keep_turns: u32,
    /// True if old turns are folded where shortening blocks does not meet a budget.
    pub folds_turns: bool,
}

impl Default for Rules {
    fn default() -> Self {
        Rules {
            tools: Vec::new(),
            paths: Vec::new(),
            patterns: Vec::new(),
            preset: *preset(DEFAULT_PRESET).unwrap_or(&PRESETS[0]),
            budget_tokens: None,
            budget_percent: 60.0,
            keep_turns: 0,
            folds_turns: true,
        }
    }
}

impl Rules {
    /// Adds protected tools and paths, given as globs, and protected patterns in content.
    /// Errors: the invalid glob.
    pub fn protecting(mut self, tools: &[String], paths: &[String], patterns: &[String]) -> Result<Rules, String> {
        for tool in tools {
            let glob = GlobBuilder::new(tool).case_insensitive(true).build().map_err(|_| tool.clone())?;
            self.tools.push(glob.compile_matcher());
        }
        for path in paths {
            self.paths.push(PathPattern::new(path).map_err(|_| path.clone())?);
        }
        self.patterns.extend(patterns.iter().filter(|pattern| !pattern.is_empty()).cloned());
        Ok(self)
    }

    pub fn protect(&self, block: &Block, content: &str) -> bool {
        let tool = block.tool.as_deref();
        tool.is_some_and(|tool| self.tools.iter().any(|glob| glob.is_match(&*tool.name)))
            || tool.is_some_and(|tool| self.paths.iter().any(|path| path.matches(&tool.target)))
            || self.patterns.iter().any(|pattern| content.contains(pattern))
    }

    /// Returns the maximum tokens of the window.
    pub fn budget(&self, reading: &Analysis) -> u64 {
        self.budget_tokens.unwrap_or((reading.capacity.tokens as f64 * self.budget_percent / 100.0) as u64)
    }
}

/// Returns the first block of the last turns of a session; [`BlockNumber::MAX`] for no turns.
pub fn first_of_last_turns(reading: &Analysis, turns: u32) -> BlockNumber {
    let blocks = &reading.session.blocks;
    let last = blocks.iter().map(|block| block.position.turn).max().unwrap_or_default();
    let mut protected = blocks.iter().filter(|block| block.position.turn.saturating_add(turns) > last);
    protected.next().map_or(BlockNumber::MAX, |block| block.number)
}

/// Returns the thinking of turns before the last one that each request is billed for and no later thinking is bound to: a change can
/// leave it out.
pub fn old_thinking(reading: &Analysis) -> impl Iterator<Item = &Block> {
    let end = first_of_last_turns(reading, 1);
    let is_old = move |block: &&Block| block.number < end && block.kind == BlockKind::Thinking && block.tokens.value > 0.0;
    let is_free = |block: &&Block| binding_of(&reading.session, &reading.model, block) == Binding::Free;
    reading.in_window().filter(is_old).filter(is_free).filter(|block| block.pin.is_none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Role, Tool, ToolVerb};

    fn block(stale_steps: u32) -> Block {
        let mut block = Block::new(BlockKind::ToolResult, Role::ToolResult);
        block.usefulness.stale_steps = stale_steps;
        block
    }

    #[test]
    fn the_last_turns_begin_with_a_block() {
        let mut reading = Analysis::default();
        for number in 1..=6u32 {
            let mut block = block(0);
            (block.number, block.position.turn) = (number, number.div_ceil(2));
            reading.session.blocks.push(block);
        }
        let first = [0, 1, 2, 3, 9].map(|turns| first_of_last_turns(&reading, turns));
        assert_eq!(first, [BlockNumber::MAX, 5, 3, 1, 1]);
        assert_eq!(first_of_last_turns(&Analysis::default(), 2), BlockNumber::MAX);
    }

    #[test]
    fn tools_paths_and_patterns_are_protected() {
        let rules = |tools: &[&str], paths: &[&str], patterns: &[&str]| {
            let owned = |texts: &[&str]| texts.iter().map(|text| text.to_string()).collect::<Vec<_>>();
            Rules::default().protecting(&owned(tools), &owned(paths), &owned(patterns)).unwrap()
        };
        let mut block = block(50);
        let tool = Tool::new("Read", ToolVerb::Read, "/w/docs/a.md");
        block.tool = Some(Box::new(tool));
        for (rules, protects) in [
            (rules(&["read"], &[], &[]), true),
            (rules(&[], &["docs/**"], &[]), true),
            (rules(&[], &[], &["KEEP"]), true),
            (rules(&["Bash"], &["src/**"], &["DROP", ""]), false),
        ] {
            assert_eq!(rules.protect(&block, "please KEEP this"), protects);
        }
        assert!(Rules::default().protecting(&[], &["a[".to_owned()], &[]).is_err());
    }
}
