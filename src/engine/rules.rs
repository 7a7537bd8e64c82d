//! Rules: what is protected, and how short a block may get by how long nobody used it.

use super::{Reading, selector};
use crate::model::{Block, BlockNumber, Level, State, Zone};
use globset::{Glob, GlobBuilder, GlobMatcher};
use serde::Serialize;
use std::collections::BTreeMap;

/// Steps without use from which on a stale block is left at a level, at most; none for never.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LevelsByAge {
    /// The essential lines.
    pub trimmed: Option<u32>,
    /// A short extract.
    pub summarized: Option<u32>,
    /// One line.
    pub minimal: Option<u32>,
    /// What a later block says as well, whatever its age.
    pub superseded: Level,
}

/// A named set of levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Preset {
    /// Its name.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub description: &'static str,
    /// The levels.
    pub levels: LevelsByAge,
}

/// The presets, the mildest first.
pub static PRESETS: &[Preset] = &[
    Preset {
        name: "light",
        description: "what a later block repeats becomes one line, what is long unused is trimmed",
        levels: LevelsByAge { trimmed: Some(30), summarized: None, minimal: None, superseded: Level::Minimal },
    },
    Preset {
        name: "balanced",
        description: "the longer a block is unused, the shorter it gets",
        levels: LevelsByAge { trimmed: Some(0), summarized: Some(30), minimal: Some(90), superseded: Level::Minimal },
    },
    Preset {
        name: "aggressive",
        description: "every stale block becomes one line",
        levels: LevelsByAge { trimmed: None, summarized: None, minimal: Some(0), superseded: Level::Minimal },
    },
];

/// The preset that is used when none is named.
pub const DEFAULT_PRESET: &str = "balanced";

/// The preset with a name.
pub fn preset(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.name == name)
}

/// What the user's settings say about shortening.
#[derive(Clone, Debug)]
pub struct Rules {
    tools: Vec<GlobMatcher>,
    paths: Vec<GlobMatcher>,
    patterns: Vec<String>,
    /// How short a stale block gets.
    pub levels: LevelsByAge,
    /// Tokens that the window should hold at most; none for a share of its size.
    pub budget_tokens: Option<u64>,
    /// Share of the window that should be taken at most, in percent, where no tokens are named.
    pub budget_percent: f64,
}

impl Default for Rules {
    fn default() -> Self {
        Rules {
            tools: Vec::new(),
            paths: Vec::new(),
            patterns: Vec::new(),
            levels: preset(DEFAULT_PRESET).unwrap_or(&PRESETS[0]).levels,
            budget_tokens: None,
            budget_percent: 60.0,
        }
    }
}

impl Rules {
    /// The same rules that also protect tools and paths, by globs, and what contains one of the patterns.
    ///
    /// # Errors
    ///
    /// The glob that is none.
    pub fn protecting(mut self, tools: &[String], paths: &[String], patterns: &[String]) -> Result<Rules, String> {
        for tool in tools {
            let glob = GlobBuilder::new(tool).case_insensitive(true).build().map_err(|_| tool.clone())?;
            self.tools.push(glob.compile_matcher());
        }
        for path in paths {
            self.paths.push(Glob::new(path).map_err(|_| path.clone())?.compile_matcher());
        }
        self.patterns.extend(patterns.iter().filter(|pattern| !pattern.is_empty()).cloned());
        Ok(self)
    }

    /// Whether a rule protects a block with this content.
    pub fn protect(&self, block: &Block, content: &str) -> bool {
        let tool = block.tool.as_deref();
        tool.is_some_and(|tool| self.tools.iter().any(|glob| glob.is_match(&*tool.name)))
            || tool.is_some_and(|tool| self.paths.iter().any(|glob| selector::matches_path(glob, &tool.target)))
            || self.patterns.iter().any(|pattern| content.contains(pattern))
    }

    /// The level at which a stale block is left, by how long nobody used it.
    pub fn level(&self, block: &Block) -> Level {
        if block.usefulness.outdated.is_some_and(|(reason, _)| reason.supersedes()) {
            return self.levels.superseded;
        }
        let reached = |age: Option<u32>| age.is_some_and(|age| block.usefulness.stale_steps >= age);
        match () {
            () if reached(self.levels.minimal) => Level::Minimal,
            () if reached(self.levels.summarized) => Level::Summarized,
            () if reached(self.levels.trimmed) => Level::Trimmed,
            () => Level::Original,
        }
    }

    /// Tokens that the window of a reading should hold at most.
    pub fn budget(&self, reading: &Reading) -> u64 {
        self.budget_tokens.unwrap_or((reading.capacity.tokens as f64 * self.budget_percent / 100.0) as u64)
    }
}

/// The levels of the stale blocks of a window.
pub fn stale_levels(reading: &Reading, rules: &Rules) -> BTreeMap<BlockNumber, Level> {
    let stale = reading.in_window().filter(|block| block.state == State::Stale);
    stale.map(|block| (block.number, rules.level(block))).filter(|(_, level)| *level != Level::Original).collect()
}

/// Rounds in which blocks are shortened until a window fits: stale ones first, then what is old, a level further each time.
/// Each round holds the blocks that may be shortened in it, those that are missed least first, with the level.
pub fn rounds(reading: &Reading) -> Vec<Vec<(BlockNumber, Level)>> {
    let by_use = |stale: bool| {
        let mut blocks: Vec<&Block> = reading
            .in_window()
            .filter(|block| super::states::is_perishable(block) && block.position.zone == Zone::Middle)
            .filter(|block| if stale { block.state == State::Stale } else { block.state != State::Stale })
            .collect();
        let missed = |block: &&Block| {
            let superseded = block.usefulness.outdated.is_some_and(|(reason, _)| reason.supersedes());
            (!superseded, std::cmp::Reverse(block.usefulness.stale_steps), block.number)
        };
        blocks.sort_by_key(missed);
        blocks.into_iter().map(|block| block.number).collect::<Vec<_>>()
    };
    let (stale, others) = (by_use(true), by_use(false));
    let round = |blocks: &[BlockNumber], level| blocks.iter().map(|number| (*number, level)).collect();
    vec![
        round(&stale, Level::Summarized),
        round(&stale, Level::Minimal),
        round(&others, Level::Trimmed),
        round(&others, Level::Summarized),
        round(&others, Level::Minimal),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{BlockKind, Outdated, Role, Tool, ToolVerb};

    fn block(stale_steps: u32) -> Block {
        let mut block = Block::new(BlockKind::ToolResult, Role::ToolResult);
        block.usefulness.stale_steps = stale_steps;
        block
    }

    #[test]
    fn presets_get_shorter_with_age() {
        for preset in PRESETS {
            let rules = Rules { levels: preset.levels, ..Rules::default() };
            let levels: Vec<Level> = [0, 10, 30, 90, 500].map(|steps| rules.level(&block(steps))).to_vec();
            assert!(levels.is_sorted(), "{}: {levels:?}", preset.name);
        }
        assert!(preset(DEFAULT_PRESET).is_some());
    }

    #[test]
    fn what_is_said_again_is_cut_at_once() {
        let mut block = block(0);
        block.usefulness.outdated = Some((Outdated::ReadAgain, 9));
        assert_eq!(Rules::default().level(&block), Level::Minimal);
    }

    #[test]
    fn tools_paths_and_patterns_are_protected() {
        let rules = |tools: &[&str], paths: &[&str], patterns: &[&str]| {
            let owned = |texts: &[&str]| texts.iter().map(|text| text.to_string()).collect::<Vec<_>>();
            Rules::default().protecting(&owned(tools), &owned(paths), &owned(patterns)).unwrap()
        };
        let mut block = block(50);
        let tool = Tool {
            name: "Read".into(),
            verb: ToolVerb::Read,
            target: "/w/docs/a.md".into(),
            scope: 0,
            whole: true,
            parameters: 1,
        };
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
