//! How likely the agent is to come back to a name or a line soon.
//!
//! "Soon" is within its next 20 responses. Two logistic formulas, fitted to what agents really came back to in 100 sessions
//! of Claude Code and Codex, each session cut at three places (names: 176,553 cases of which 3,228 were needed; lines:
//! 530,070 and 1,119). Tested on sessions that they were not fitted to, they put a needed name before one that is not in
//! 86 % of all pairs, and a needed line in 78 %; age alone does so in 73 %. What tells most of a name is whether the agent
//! itself used it before, and in how many of its responses; of a line, its age and whether the agent changed the file.

use crate::engine::Reading;
use crate::model::{Block, Role, ToolVerb};
use rustc_hash::{FxHashMap, FxHashSet};

/// How a name stands in a window.
#[derive(Clone, Copy, Default)]
struct Use {
    /// Blocks that hold it.
    blocks: u32,
    /// The last step in which it stands.
    step: u32,
    /// Responses of the agent that hold it.
    agent_steps: u32,
    /// The last of them.
    agent_step: u32,
}

/// What is known of the names and files of a window.
#[derive(Default)]
pub struct Need {
    uses: FxHashMap<u32, Use>,
    /// The files that the agent changed, by their names.
    changed: FxHashSet<Box<str>>,
    step: u32,
}

impl Need {
    /// Looks at each block of a window.
    pub fn new(reading: &Reading) -> Need {
        let mut need = Need { step: reading.steps, ..Need::default() };
        for block in reading.in_window() {
            need.add(block, &block.terms);
            if let Some(tool) = block.tool.as_deref()
                && tool.verb == ToolVerb::Edit
            {
                need.changed.insert(file_name(&tool.target).into());
            }
        }
        need
    }

    fn add(&mut self, block: &Block, terms: &[u32]) {
        let agent = matches!(block.role, Role::Assistant | Role::ToolUse);
        let step = block.position.step;
        for term in terms {
            let known = self.uses.entry(*term).or_default();
            known.blocks += 1;
            known.step = known.step.max(step);
            if agent && (known.agent_steps == 0 || known.agent_step != step) {
                known.agent_steps += 1;
                known.agent_step = step;
            }
        }
    }

    /// Counts the names of a block's original in the place of those that were left of it.
    pub fn replace(&mut self, block: &Block, original: &[u32]) {
        let left: FxHashSet<u32> = block.terms.iter().copied().collect();
        let gone: Vec<u32> = original.iter().copied().filter(|term| !left.contains(term)).collect();
        self.add(block, &gone);
    }

    /// The chance that the agent uses a name soon.
    pub fn of_name(&self, term: u32) -> f32 {
        let Some(known) = self.uses.get(&term) else { return chance(ONCE) };
        let age = self.step.saturating_sub(known.step);
        let used = if known.agent_steps > 0 { 1.1 + 0.7 * (known.agent_steps as f32).ln_1p() } else { 0.0 };
        let once = if known.blocks <= 1 { -0.95 } else { 0.0 };
        chance(-3.3 - 0.45 * (age as f32).ln_1p() + used + once)
    }

    /// The chance that the agent quotes a line of a block soon, as an edit does.
    pub fn of_line(&self, block: &Block) -> f32 {
        let age = self.step.saturating_sub(block.position.step);
        let input = if block.role == Role::ToolUse { 0.8 } else { 0.0 };
        let names_file = block.tool.as_deref().filter(|tool| tool.verb.names_file());
        let changed = names_file.is_some_and(|tool| self.changed.contains(file_name(&tool.target)));
        chance(-5.5 - 0.7 * (age as f32).ln_1p() + input + if changed { 1.3 } else { 0.0 })
    }
}

/// The logit of a name of which nothing is known.
const ONCE: f32 = -6.0;

fn chance(logit: f32) -> f32 {
    1.0 / (1.0 + (-logit).exp())
}

fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}
