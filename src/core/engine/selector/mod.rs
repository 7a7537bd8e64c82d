//! Selectors: a language to select blocks, common to all commands.

mod parse;

pub use parse::amount;

use crate::engine::Analysis;
use crate::engine::report::files::home;
use crate::model::{Block, BlockKind, BlockNumber, Key, Level, Outdated, Role, State, Zone, paths};
use crate::text::names::last_components;
use globset::{GlobBuilder, GlobMatcher};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// Maximum nesting of parentheses and negations.
const DEEPEST: usize = 64;
/// Minimum similarity of a suggested word, from 0 to 1.
const NEAR: f64 = 0.75;
/// Minimum similarity of the name of a suggested file.
const NEAR_PATH: f64 = 0.85;
/// Maximum number of suggested tools or paths.
const SUGGESTED: usize = 2;
/// Maximum number of listed tools, if none is similar.
const LISTED: usize = 8;
/// The characters that make a tool or a path a pattern.
const WILDCARDS: [char; 4] = ['*', '?', '[', '{'];

/// A parsed selector.
#[derive(Clone, Debug)]
pub struct Selector(Node);

#[derive(Clone, Debug)]
enum Node {
    All,
    Window,
    Numbers(RangeInclusive<BlockNumber>),
    Zone(Zone),
    State(State),
    Aging,
    Pinned,
    Focused,
    Superseded,
    Duplicate,
    Alike,
    Error,
    Changed,
    Level(Level),
    Role(Role),
    Kind(BlockKind),
    Tool(GlobMatcher),
    Path(PathPattern),
    Turns(RangeInclusive<u32>),
    Tasks(RangeInclusive<u32>),
    Larger(f64),
    Topic(String),
    Call(String),
    Not(Box<Node>),
    And(Vec<Node>),
    Or(Vec<Node>),
}

/// The reason why a selector cannot be used. Columns are counted in characters from 1; `nearest` is what was probably meant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SelectorError {
    #[error("{message} at column {column}")]
    Syntax { message: String, column: usize },
    #[error("unknown selector '{name}'")]
    UnknownName { name: String, nearest: Option<String> },
    #[error("'{word}' is neither a number nor a range like 10..20 at column {column}")]
    NotNumbers { word: String, column: usize, nearest: Option<String> },
    #[error("{function}() does not accept '{argument}'")]
    BadArgument { function: &'static str, argument: String, nearest: Option<String> },
    #[error("there is no block {number}: {}", .last.checked_sub(1).map_or("the session has no blocks".to_owned(), |_| format!("the session has blocks 1 to {last}")))]
    NoSuchBlock { number: BlockNumber, last: BlockNumber },
    #[error("no block has the tool-use id '{0}'")]
    NoSuchCall(String),
    #[error("there is no turn {number}: the session has turns 1 to {last}")]
    NoSuchTurn { number: u32, last: u32 },
    #[error("there is no task {number}: the session has tasks 1 to {last}")]
    NoSuchTask { number: u32, last: u32 },
    #[error("no block of the session uses the tool '{name}'")]
    NoSuchTool { name: String, nearest: Vec<String> },
    #[error("no block of the session has the path '{path}'")]
    NoSuchPath { path: String, nearest: Vec<String> },
}

impl SelectorError {
    pub fn hint(&self) -> String {
        match self {
            SelectorError::UnknownName { nearest: Some(value), .. }
            | SelectorError::NotNumbers { nearest: Some(value), .. }
            | SelectorError::BadArgument { nearest: Some(value), .. } => format!("did you mean '{value}'?"),
            SelectorError::NoSuchTool { nearest, .. } if nearest.len() > 1 => {
                format!("the session uses {}", nearest.iter().take(LISTED).cloned().collect::<Vec<_>>().join(", "))
            }
            SelectorError::NoSuchTool { nearest, .. } | SelectorError::NoSuchPath { nearest, .. } if !nearest.is_empty() => {
                format!("did you mean {}?", nearest.iter().map(|value| format!("'{value}'")).collect::<Vec<_>>().join(" or "))
            }
            SelectorError::NoSuchTool { .. } | SelectorError::NoSuchPath { .. } => {
                "to list tools and files: aperture blocks all".to_owned()
            }
            SelectorError::NoSuchTurn { .. } => "to list the turns: aperture blocks --tree".to_owned(),
            SelectorError::NoSuchTask { .. } => {
                "to see where tasks begin: aperture summary; without a sidecar there is one".to_owned()
            }
            SelectorError::NoSuchCall(id) => format!("to find it as text: aperture search {id}"),
            SelectorError::NoSuchBlock { .. } => "to list them: aperture blocks".to_owned(),
            SelectorError::BadArgument { function: "turn", .. } => "a turn is a number or a range: turn(3..5)".to_owned(),
            SelectorError::BadArgument { function: "task", .. } => "a task is a number or a range: task(1..2)".to_owned(),
            SelectorError::BadArgument { function: "larger", .. } => "write a number of tokens as 800 or 2k".to_owned(),
            _ => "for the selector language: aperture help selectors".to_owned(),
        }
    }

    /// Returns true if the selector is valid, but names something that the session does not have.
    pub fn is_absent(&self) -> bool {
        use SelectorError::{NoSuchBlock, NoSuchCall, NoSuchPath, NoSuchTask, NoSuchTool, NoSuchTurn};
        let is_numbered = matches!(self, NoSuchBlock { .. } | NoSuchTurn { .. } | NoSuchTask { .. });
        is_numbered || matches!(self, NoSuchCall(_) | NoSuchTool { .. } | NoSuchPath { .. })
    }

    /// Returns the error with a suggestion from the session: an unknown name may be that of a tool or a file.
    #[must_use]
    pub fn in_session(self, reading: &Analysis) -> SelectorError {
        match self {
            SelectorError::UnknownName { name, nearest } => {
                let tools = tools(reading);
                let tool = tools.iter().find(|tool| tool.eq_ignore_ascii_case(&name)).copied();
                let nearest = match tool.or_else(|| parse::nearest(&name, tools.iter().copied()).filter(|_| nearest.is_none())) {
                    Some(tool) => Some(format!("tool({tool})")),
                    None => nearest,
                };
                SelectorError::UnknownName { name, nearest }
            }
            error => error,
        }
    }
}

/// Returns the names of the tools of a session.
pub fn tools(reading: &Analysis) -> BTreeSet<&str> {
    reading.session.blocks.iter().filter_map(|block| block.tool.as_ref()).map(|tool| &*tool.name).collect()
}

/// Returns the selectors of the paths in a session that are most similar to a path: a directory, or files with a similar name.
fn similar_paths(reading: &Analysis, path: &str) -> Vec<String> {
    let inside = paths::slashed(path);
    let inside = inside.trim_end_matches('/');
    let targets: BTreeSet<&str> =
        reading.session.blocks.iter().filter_map(|block| block.tool.as_ref()).map(|tool| &*tool.target).collect();
    let directory = PathPattern::new(&format!("{inside}/**"));
    if directory.is_ok_and(|directory| targets.iter().any(|target| directory.matches(target))) {
        return vec![format!("path({inside}/**)")];
    }
    let depth = inside.matches('/').count();
    let end = |path: &str, depth: usize| last_components(path, depth + 1).to_owned();
    let wanted = end(inside, 0).to_lowercase();
    let plain = |target: &&str| !target.contains(char::is_whitespace) && !target.contains(['(', ')', '"']);
    let mut near: Vec<(f64, String)> = targets
        .into_iter()
        .filter(plain)
        .map(|target| (strsim::jaro_winkler(&wanted, &end(target, 0).to_lowercase()), end(target, depth)))
        .filter(|(likeness, _)| *likeness > NEAR_PATH)
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    near.dedup();
    near.into_iter().take(SUGGESTED).map(|(_, path)| format!("path({path})")).collect()
}

/// Names without arguments and the blocks they select, for help and suggestions.
pub const NAMES: &[(&str, &str)] = &[
    ("all", "every block of the file"),
    ("window", "blocks in the window: the model would see them"),
    ("beginning", "of the window: instructions, first prompt, summary of a compaction; also: primacy"),
    ("middle", "between the ends of the window"),
    ("newest", "the newest part of the window; also: recency"),
    ("outside", "blocks in the file but not in the window; also: cold"),
    ("stale", "superseded, or unused for a long time"),
    ("aging", "calls, results and images before the newest part of the window, at the original level and not stale yet"),
    ("fresh", "of the last responses"),
    ("active", "recent, or too early to judge"),
    ("referenced", "older, and used since"),
    ("pinned", "pinned by the user"),
    ("focused", "marked by the user as relevant now"),
    ("superseded", "superseded by a later block"),
    ("duplicate", "a later result has the same content"),
    ("alike", "a later result says the same in other words, as a local model says (aperture sidecar)"),
    ("error", "tool results that report an error"),
    ("compressed", "shortened: trimmed, summarized or minimal"),
    ("archived", "taken out of the window; replaced by one line"),
    ("changed", "changed by another program since aperture shortened it"),
];

/// Functions and the blocks they select, for help and suggestions.
pub const FUNCTIONS: &[(&str, &str)] = &[
    ("tool(Read)", "uses and results of a tool; * matches any letters: tool(mcp__*)"),
    ("path(\"src/**\")", "tools pointed at a file that the glob matches"),
    ("kind(image)", "text, thinking, tool_use, tool_result, image, document, attachment, other"),
    ("role(user)", "system, user, assistant, thinking, tool_use, tool_result"),
    ("turn(3..5)", "blocks of the turns"),
    ("task(1)", "blocks of a task: another one begins where a local model says so (aperture sidecar)"),
    ("larger(2k)", "blocks of more tokens"),
    ("level(minimal)", "original, trimmed, summarized, minimal, archived"),
    ("topic(auth)", "blocks about a topic; the same as \"auth\""),
];

impl Selector {
    /// Parses a selector.
    /// Errors: a syntax error, an unknown name or an invalid argument.
    pub fn parse(text: &str) -> Result<Selector, SelectorError> {
        parse::parse(text).map(Selector)
    }

    /// Parses several selectors, and returns their union. A comma after one is ignored: `17, 19` is two words of a command line.
    /// Errors: as [`Selector::parse`]; there is no selector.
    pub fn parse_all<T: AsRef<str>>(texts: &[T]) -> Result<Selector, SelectorError> {
        let texts = texts.iter().map(|text| text.as_ref().trim().trim_matches(','));
        let mut nodes = texts.map(|text| Selector::parse(text).map(|selector| selector.0)).collect::<Result<Vec<_>, _>>()?;
        Ok(Selector(match nodes.len() {
            0 => return Selector::parse(""),
            1 => nodes.remove(0),
            _ => Node::Or(nodes),
        }))
    }

    /// Returns the numbers of the selected blocks, in file order.
    /// Errors: a number or a tool-use id that does not exist in the session.
    pub fn select(&self, reading: &Analysis) -> Result<Vec<BlockNumber>, SelectorError> {
        self.0.check(reading)?;
        Ok(reading.session.blocks.iter().filter(|block| self.0.matches(block, reading)).map(|block| block.number).collect())
    }

    /// Returns the selected blocks, and those whose marker has a number that it names: a marker keeps the number that its block had before
    /// an operation removed rows.
    /// Errors: as [`Selector::select`].
    pub fn select_marked(&self, reading: &Analysis) -> Result<Vec<BlockNumber>, SelectorError> {
        let marked =
            |block: &&Block| block.marker.is_some_and(|marker| marker.number != block.number && self.0.has(marker.number));
        let marked: Vec<&Block> = reading.session.blocks.iter().filter(marked).collect();
        let is_marked = |number| marked.iter().any(|block| block.marker.is_some_and(|marker| marker.number == number));
        let mut numbers = match self.select(reading) {
            Err(SelectorError::NoSuchBlock { number, .. }) if is_marked(number) => Vec::new(),
            selected => selected?,
        };
        numbers.extend(marked.iter().map(|block| block.number));
        numbers.sort_unstable();
        numbers.dedup();
        Ok(numbers)
    }

    /// Returns the blocks that it names by number or tool-use id, not by a property.
    pub fn named(&self, reading: &Analysis) -> Vec<BlockNumber> {
        reading.session.blocks.iter().filter(|block| self.0.names(block, reading)).map(|block| block.number).collect()
    }
}

impl Node {
    fn check(&self, reading: &Analysis) -> Result<(), SelectorError> {
        let last = reading.session.blocks.len() as BlockNumber;
        match self {
            Node::Numbers(range) if *range.start() == 0 || *range.start() > last => {
                Err(SelectorError::NoSuchBlock { number: *range.start(), last })
            }
            Node::Call(id) if !reading.session.blocks.iter().any(|block| self.matches(block, reading)) => {
                Err(SelectorError::NoSuchCall(id.clone()))
            }
            Node::Turns(range) => {
                let last = reading.session.blocks.iter().map(|block| block.position.turn).max().unwrap_or_default();
                let is_absent = *range.start() == 0 || *range.start() > last;
                if is_absent { Err(SelectorError::NoSuchTurn { number: *range.start(), last }) } else { Ok(()) }
            }
            Node::Tasks(range) => {
                let last = reading.task_of(u32::MAX);
                let is_absent = *range.start() == 0 || *range.start() > last;
                if is_absent { Err(SelectorError::NoSuchTask { number: *range.start(), last }) } else { Ok(()) }
            }
            Node::Tool(pattern) if self.is_absent(pattern.glob().glob(), reading) => {
                let (name, known) = (pattern.glob().glob(), tools(reading));
                let near = parse::nearest(name, known.iter().copied());
                let nearest = near.map_or_else(|| known.into_iter().collect(), |near| vec![near]);
                let nearest = nearest.into_iter().map(|tool| format!("tool({tool})")).collect();
                Err(SelectorError::NoSuchTool { name: name.to_owned(), nearest })
            }
            Node::Path(PathPattern { pattern: path, .. }) if self.is_absent(path, reading) => {
                Err(SelectorError::NoSuchPath { path: path.to_owned(), nearest: similar_paths(reading, path) })
            }
            Node::Not(inner) => inner.check(reading),
            Node::And(nodes) | Node::Or(nodes) => nodes.iter().try_for_each(|node| node.check(reading)),
            _ => Ok(()),
        }
    }

    /// Returns true if it names a single number.
    fn has(&self, number: BlockNumber) -> bool {
        match self {
            Node::Numbers(range) => range.start() == range.end() && *range.start() == number,
            Node::Or(nodes) => nodes.iter().any(|node| node.has(number)),
            _ => false,
        }
    }

    fn names(&self, block: &Block, reading: &Analysis) -> bool {
        match self {
            Node::Numbers(_) | Node::Call(_) => self.matches(block, reading),
            Node::And(nodes) | Node::Or(nodes) => nodes.iter().any(|node| node.names(block, reading)),
            _ => false,
        }
    }

    /// Returns true if a name without wildcards matches no block: it is probably misspelled. A pattern may match nothing.
    fn is_absent(&self, pattern: &str, reading: &Analysis) -> bool {
        !pattern.contains(WILDCARDS) && !reading.session.blocks.iter().any(|block| self.matches(block, reading))
    }

    fn matches(&self, block: &Block, reading: &Analysis) -> bool {
        let outdated = block.usefulness.outdated.map(|(reason, _)| reason);
        match self {
            Node::All => true,
            Node::Window => block.position.zone != Zone::Cold,
            Node::Numbers(range) => range.contains(&block.number),
            Node::Zone(zone) => block.position.zone == *zone,
            Node::State(state) => block.state == *state,
            Node::Aging => reading.is_aging(block),
            Node::Pinned => block.pin.is_some(),
            Node::Focused => block.focused,
            Node::Superseded => outdated.is_some_and(Outdated::supersedes),
            Node::Duplicate => outdated == Some(Outdated::Duplicate),
            Node::Alike => block.usefulness.alike.is_some(),
            Node::Error => block.error,
            Node::Changed => block.changed_elsewhere,
            Node::Level(level) => block.level == *level,
            Node::Role(role) => block.role == *role,
            Node::Kind(kind) => {
                block.kind == *kind
                    || *kind == BlockKind::Image && !block.media.images.is_empty()
                    || *kind == BlockKind::Document && !block.media.documents.is_empty()
            }
            Node::Tool(pattern) => block.tool.as_ref().is_some_and(|tool| pattern.is_match(&*tool.name)),
            Node::Path(glob) => block.tool.as_ref().is_some_and(|tool| glob.matches(&tool.target)),
            Node::Turns(range) => range.contains(&block.position.turn),
            Node::Tasks(range) => range.contains(&reading.task_of(block.position.turn)),
            Node::Larger(tokens) => block.tokens.value > *tokens,
            Node::Topic(query) => is_about(block, query, reading),
            Node::Call(id) => block.call == Some(Key::from_text(id)),
            Node::Not(inner) => !inner.matches(block, reading),
            Node::And(nodes) => nodes.iter().all(|node| node.matches(block, reading)),
            Node::Or(nodes) => nodes.iter().any(|node| node.matches(block, reading)),
        }
    }
}

/// Returns true if every word of the query is in the block's topic, keywords, target or first words.
fn is_about(block: &Block, query: &str, reading: &Analysis) -> bool {
    let query = query.to_lowercase();
    let mut words = query.split_whitespace().peekable();
    let topic = block.topic.and_then(|topic| reading.topics.get(topic as usize));
    words.peek().is_some()
        && words.all(|word| {
            topic.is_some_and(|topic| [&topic.label, &topic.written].iter().any(|name| name.to_lowercase().contains(word)))
                || block.keywords.iter().any(|keyword| keyword.contains(word))
                || block.target().to_lowercase().contains(word)
                || block.preview.to_lowercase().contains(word)
        })
}

/// A pattern of paths, which is also the path itself, as it is shown: with both separators, and with characters of patterns in it.
#[derive(Clone, Debug)]
pub struct PathPattern {
    pattern: String,
    glob: GlobMatcher,
    path: String,
}

impl PathPattern {
    /// Parses a pattern. A backslash separates components, unless a character of patterns follows, which it then makes
    /// a plain one; after a drive it always separates, and before `*` and `?` where no slash does.
    /// Errors: it is not a pattern.
    pub fn new(pattern: &str) -> Result<PathPattern, globset::Error> {
        let mut glob = String::with_capacity(pattern.len());
        let is_windows = paths::is_windows_text(pattern);
        let mut rest = pattern.chars().peekable();
        while let Some(c) = rest.next() {
            let is_escape = !is_windows
                && rest.peek().is_some_and(|next| "[]{}!,\\".contains(*next) || "*?".contains(*next) && pattern.contains('/'));
            let is_separator = c == '\\' && !is_escape;
            glob.push(if is_separator { '/' } else { c });
        }
        let path = paths::slashed(pattern);
        // On Windows too, a backslash that is left makes the next character a plain one.
        let parse = |glob: &str| GlobBuilder::new(glob).backslash_escape(true).build();
        let glob = match parse(&paths::slashed_drive(&glob)) {
            Ok(glob) => glob,
            Err(_) if paths::is_absolute(pattern) => parse(&globset::escape(&path))?,
            Err(error) => return Err(error),
        };
        Ok(PathPattern { pattern: pattern.to_owned(), glob: glob.compile_matcher(), path })
    }

    /// Matches the whole path, and every suffix of an absolute path, so that `src/**` matches `/home/me/shop/src/a.rs`; `~` is any home.
    pub fn matches(&self, path: &str) -> bool {
        let path = paths::slashed(path);
        let is_match = |part: &str| part == self.path || self.glob.is_match(part);
        if self.pattern.starts_with("~/") {
            return home(&path).is_some_and(|home| is_match(&format!("~{}", &path[home.len()..]))) || is_match(&path);
        }
        is_match(&path) || path.match_indices('/').any(|(at, _)| is_match(&path[at + 1..]))
    }
}

#[cfg(test)]
mod tests;
