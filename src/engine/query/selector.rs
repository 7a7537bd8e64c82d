//! Selectors: a language to select blocks, common to all commands.

use crate::engine::Analysis;
use crate::model::{Block, BlockKind, BlockNumber, Key, Level, Outdated, Role, State, Zone};
use globset::{Glob, GlobBuilder, GlobMatcher};
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
    Error,
    Changed,
    Level(Level),
    Role(Role),
    Kind(BlockKind),
    Tool(GlobMatcher),
    Path(GlobMatcher),
    Turns(RangeInclusive<u32>),
    Larger(f64),
    Topic(String),
    Call(String),
    Not(Box<Node>),
    And(Vec<Node>),
    Or(Vec<Node>),
}

/// The reason why a selector cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SelectorError {
    /// A syntax error.
    #[error("{message} at column {column}")]
    Syntax {
        /// Error message.
        message: String,
        /// Position, in characters from 1.
        column: usize,
    },
    /// An unknown name.
    #[error("unknown selector '{name}'")]
    UnknownName {
        /// The name.
        name: String,
        /// A selector that is close to it.
        nearest: Option<String>,
    },
    /// A word that begins like a number.
    #[error("'{word}' is neither a number nor a range like 10..20 at column {column}")]
    NotNumbers {
        /// The word.
        word: String,
        /// Position, in characters from 1.
        column: usize,
        /// The range that was probably meant.
        nearest: Option<String>,
    },
    /// An invalid argument.
    #[error("{function}() does not accept '{argument}'")]
    BadArgument {
        /// The function.
        function: &'static str,
        /// The argument.
        argument: String,
        /// A known value that is close to it.
        nearest: Option<String>,
    },
    /// A number without a block.
    #[error("there is no block {number}: {}", .last.checked_sub(1).map_or("the session has no blocks".to_owned(), |_| format!("the session has blocks 1 to {last}")))]
    NoSuchBlock {
        /// The number.
        number: BlockNumber,
        /// The highest number.
        last: BlockNumber,
    },
    /// A tool-use id without a block.
    #[error("no block has the tool-use id '{0}'")]
    NoSuchCall(String),
    /// A turn after the last one.
    #[error("there is no turn {number}: the session has turns 1 to {last}")]
    NoSuchTurn {
        /// The number.
        number: u32,
        /// The number of the last turn.
        last: u32,
    },
    /// The name of a tool that the session does not use.
    #[error("no block of the session uses the tool '{name}'")]
    NoSuchTool {
        /// The name.
        name: String,
        /// The selectors of similar tools of the session, or of all if none is similar.
        nearest: Vec<String>,
    },
    /// The path of a file at which no tool of the session is pointed.
    #[error("no block of the session has the path '{path}'")]
    NoSuchPath {
        /// The path.
        path: String,
        /// The selectors of similar paths of the session.
        nearest: Vec<String>,
    },
}

impl SelectorError {
    /// Suggestion.
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
            SelectorError::NoSuchBlock { .. } => "to list them: aperture blocks".to_owned(),
            SelectorError::BadArgument { function: "turn", .. } => "a turn is a number or a range: turn(3..5)".to_owned(),
            SelectorError::BadArgument { function: "larger", .. } => "write a number of tokens as 800 or 2k".to_owned(),
            _ => "for the selector language: aperture help selectors".to_owned(),
        }
    }

    /// Returns true if the selector is valid, but names something that the session does not have.
    pub fn is_absent(&self) -> bool {
        use SelectorError::{NoSuchBlock, NoSuchCall, NoSuchPath, NoSuchTool, NoSuchTurn};
        matches!(self, NoSuchBlock { .. } | NoSuchCall(_) | NoSuchTurn { .. } | NoSuchTool { .. } | NoSuchPath { .. })
    }

    /// Returns the error with a suggestion from the session: an unknown name may be that of a tool or a file.
    #[must_use]
    pub fn in_session(self, reading: &Analysis) -> SelectorError {
        match self {
            SelectorError::UnknownName { name, nearest } => {
                let tools = tools(reading);
                let tool = tools.iter().find(|tool| tool.eq_ignore_ascii_case(&name)).copied();
                let nearest = match tool.or_else(|| self::nearest(&name, tools.iter().copied()).filter(|_| nearest.is_none())) {
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
    let inside = path.trim_end_matches('/');
    let targets: BTreeSet<&str> =
        reading.session.blocks.iter().filter_map(|block| block.tool.as_ref()).map(|tool| &*tool.target).collect();
    let directory = Glob::new(&format!("{inside}/**")).map(|glob| glob.compile_matcher());
    if directory.is_ok_and(|glob| targets.iter().any(|target| matches_path(&glob, target))) {
        return vec![format!("path({inside}/**)")];
    }
    let depth = inside.matches('/').count();
    let end = |path: &str, depth: usize| {
        path.rmatch_indices('/').nth(depth).map_or_else(|| path.to_owned(), |(at, _)| path[at + 1..].to_owned())
    };
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
    ("primacy", "the beginning of the window: instructions, first prompt, summary of a compaction"),
    ("middle", "between the ends of the window"),
    ("recency", "the newest part of the window"),
    ("cold", "blocks in the file but not in the window"),
    ("stale", "superseded, or unused for a long time"),
    ("aging", "calls, results and images before the newest part of the window, at the original level and not stale yet"),
    ("fresh", "of the last responses"),
    ("active", "recent, or too early to judge"),
    ("referenced", "older, and used since"),
    ("pinned", "pinned by the user"),
    ("focused", "marked by the user as relevant now"),
    ("superseded", "superseded by a later block"),
    ("duplicate", "a later result has the same content"),
    ("error", "tool results that report an error"),
    ("compressed", "shortened: trimmed, summarized or minimal"),
    ("archived", "in cold storage; replaced by one line"),
    ("changed", "changed by another program since aperture shortened it"),
];

/// Functions and the blocks they select, for help and suggestions.
pub const FUNCTIONS: &[(&str, &str)] = &[
    ("tool(Read)", "uses and results of a tool; * matches any letters: tool(mcp__*)"),
    ("path(\"src/**\")", "tools pointed at a file that the glob matches"),
    ("kind(image)", "text, thinking, tool_use, tool_result, image, document, attachment, other"),
    ("role(user)", "system, user, assistant, thinking, tool_use, tool_result"),
    ("turn(3..5)", "blocks of the turns"),
    ("larger(2k)", "blocks of more tokens"),
    ("level(minimal)", "original, trimmed, summarized, minimal, archived"),
    ("topic(auth)", "blocks about a topic; the same as \"auth\""),
];

impl Selector {
    /// Parses a selector.
    ///
    /// # Errors
    ///
    /// A syntax error, an unknown name or an invalid argument.
    pub fn parse(text: &str) -> Result<Selector, SelectorError> {
        let mut parser = Parser { text, at: 0, depth: 0 };
        let node = parser.either()?;
        parser.space();
        match parser.peek() {
            None => Ok(Selector(node)),
            Some(found) => Err(parser.error(format!("unexpected '{found}'"))),
        }
    }

    /// Parses several selectors, and returns their union. A comma after one is ignored: `17, 19` is two words of a command line.
    ///
    /// # Errors
    ///
    /// As [`Selector::parse`]; there is no selector.
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
    ///
    /// # Errors
    ///
    /// A number or a tool-use id that does not exist in the session.
    pub fn select(&self, reading: &Analysis) -> Result<Vec<BlockNumber>, SelectorError> {
        self.0.check(reading)?;
        Ok(reading.session.blocks.iter().filter(|block| self.0.matches(block, reading)).map(|block| block.number).collect())
    }
}

impl Node {
    fn check(&self, reading: &Analysis) -> Result<(), SelectorError> {
        let last = reading.session.blocks.len() as BlockNumber;
        match self {
            Node::Numbers(range) if *range.start() == 0 || *range.start() > last => {
                Err(SelectorError::NoSuchBlock { number: *range.start(), last })
            }
            Node::Numbers(range) if range.start() == range.end() && *range.end() > last => {
                Err(SelectorError::NoSuchBlock { number: *range.end(), last })
            }
            Node::Call(id) if !reading.session.blocks.iter().any(|block| self.matches(block, reading)) => {
                Err(SelectorError::NoSuchCall(id.clone()))
            }
            Node::Turns(range) => {
                let last = reading.session.blocks.iter().map(|block| block.position.turn).max().unwrap_or_default();
                if *range.start() > last { Err(SelectorError::NoSuchTurn { number: *range.start(), last }) } else { Ok(()) }
            }
            Node::Tool(pattern) if self.is_absent(pattern, reading) => {
                let (name, known) = (pattern.glob().glob(), tools(reading));
                let near = nearest(name, known.iter().copied());
                let nearest = near.map_or_else(|| known.into_iter().collect(), |near| vec![near]);
                let nearest = nearest.into_iter().map(|tool| format!("tool({tool})")).collect();
                Err(SelectorError::NoSuchTool { name: name.to_owned(), nearest })
            }
            Node::Path(pattern) if self.is_absent(pattern, reading) => {
                let path = pattern.glob().glob();
                Err(SelectorError::NoSuchPath { path: path.to_owned(), nearest: similar_paths(reading, path) })
            }
            Node::Not(inner) => inner.check(reading),
            Node::And(nodes) | Node::Or(nodes) => nodes.iter().try_for_each(|node| node.check(reading)),
            _ => Ok(()),
        }
    }

    /// Returns true if a name without wildcards matches no block: it is probably misspelled. A pattern may match nothing.
    fn is_absent(&self, pattern: &GlobMatcher, reading: &Analysis) -> bool {
        !pattern.glob().glob().contains(WILDCARDS) && !reading.session.blocks.iter().any(|block| self.matches(block, reading))
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
            Node::Error => block.error,
            Node::Changed => block.changed_elsewhere,
            Node::Level(level) => block.level == *level,
            Node::Role(role) => block.role == *role,
            Node::Kind(kind) => block.kind == *kind || (*kind == BlockKind::Image && !block.images.is_empty()),
            Node::Tool(pattern) => block.tool.as_ref().is_some_and(|tool| pattern.is_match(&*tool.name)),
            Node::Path(glob) => block.tool.as_ref().is_some_and(|tool| matches_path(glob, &tool.target)),
            Node::Turns(range) => range.contains(&block.position.turn),
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
            topic.is_some_and(|topic| topic.label.contains(word))
                || block.keywords.iter().any(|keyword| keyword.contains(word))
                || block.target().to_lowercase().contains(word)
                || block.preview.to_lowercase().contains(word)
        })
}

/// Matches the whole path, and every suffix of an absolute path, so that `src/**` matches `/home/me/shop/src/a.rs`.
pub fn matches_path(glob: &GlobMatcher, path: &str) -> bool {
    let path = path.replace('\\', "/");
    glob.is_match(&path) || path.match_indices('/').any(|(at, _)| glob.is_match(&path[at + 1..]))
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn space(&mut self) {
        self.at = self.text.len() - self.text[self.at..].trim_start().len();
    }

    fn take(&mut self, wanted: char) -> bool {
        self.space();
        let found = self.peek() == Some(wanted);
        if found {
            self.at += wanted.len_utf8();
        }
        found
    }

    fn error(&self, message: String) -> SelectorError {
        SelectorError::Syntax { message, column: self.text[..self.at].chars().count() + 1 }
    }

    fn either(&mut self) -> Result<Node, SelectorError> {
        let mut nodes = vec![self.both()?];
        while self.take('|') || self.take(',') {
            nodes.push(self.both()?);
        }
        Ok(if nodes.len() == 1 { nodes.remove(0) } else { Node::Or(nodes) })
    }

    fn both(&mut self) -> Result<Node, SelectorError> {
        let mut nodes = vec![self.not()?];
        loop {
            if self.take('&') {
                nodes.push(self.not()?);
            } else if self.take('~') {
                nodes.push(Node::Not(Box::new(self.not()?)));
            } else {
                return Ok(if nodes.len() == 1 { nodes.remove(0) } else { Node::And(nodes) });
            }
        }
    }

    fn not(&mut self) -> Result<Node, SelectorError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.error("too deeply nested".to_owned()));
        }
        let node = if self.take('~') { Node::Not(Box::new(self.not()?)) } else { self.parse_term()? };
        self.depth -= 1;
        Ok(node)
    }

    fn parse_term(&mut self) -> Result<Node, SelectorError> {
        self.space();
        match self.peek() {
            None => Err(self.error("a selector is missing".to_owned())),
            Some('(') => {
                self.take('(');
                let inner = self.either()?;
                if self.take(')') { Ok(inner) } else { Err(self.error("a ')' is missing".to_owned())) }
            }
            Some('"') => Ok(Node::Topic(self.string()?)),
            Some('#') => {
                self.at += 1;
                let word = self.word();
                self.numbers(word)
            }
            Some(first) if first.is_ascii_digit() => {
                let word = self.word();
                self.numbers(word)
            }
            Some(first) if first.is_alphabetic() || first == '_' => {
                let start = self.at;
                let word = self.word();
                match self.peek() {
                    Some('/') => Err(self.path(start)),
                    _ if self.take('(') => self.function(word),
                    _ => self.name(word),
                }
            }
            Some('/' | '.' | '*') => Err(self.path(self.at)),
            Some(found) => Err(self.error(format!("unexpected '{found}'"))),
        }
    }

    /// Reads letters, digits and the other characters of ids and ranges.
    fn word(&mut self) -> &'a str {
        let rest = &self.text[self.at..];
        let end = rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '*' | '#'))).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    /// Reads the rest of a path, and returns the error that suggests `path(…)`.
    fn path(&mut self, start: usize) -> SelectorError {
        let rest = &self.text[start..];
        let end = rest.find(|c: char| c.is_whitespace() || "|&~,()\"".contains(c)).unwrap_or(rest.len());
        let name = rest[..end].to_owned();
        SelectorError::UnknownName { nearest: Some(format!("path({name})")), name }
    }

    fn string(&mut self) -> Result<String, SelectorError> {
        let start = self.at + 1;
        match self.text[start..].find('"') {
            Some(length) => {
                self.at = start + length + 1;
                Ok(self.text[start..start + length].to_owned())
            }
            None => Err(self.error("the closing '\"' is missing".to_owned())),
        }
    }

    fn numbers(&self, word: &str) -> Result<Node, SelectorError> {
        range(word).map(Node::Numbers).ok_or_else(|| SelectorError::NotNumbers {
            word: word.to_owned(),
            column: self.text[..self.at].chars().count() + 1,
            nearest: nearest_range(word),
        })
    }

    fn name(&self, word: &str) -> Result<Node, SelectorError> {
        if let Some(number) = word.strip_prefix("block-") {
            return self.numbers(number);
        }
        Ok(match word {
            "all" => Node::All,
            "window" => Node::Window,
            "pinned" => Node::Pinned,
            "focused" => Node::Focused,
            "superseded" => Node::Superseded,
            "duplicate" => Node::Duplicate,
            "error" => Node::Error,
            "stale" => Node::State(State::Stale),
            "aging" => Node::Aging,
            "fresh" => Node::State(State::Fresh),
            "active" => Node::State(State::Active),
            "referenced" => Node::State(State::Referenced),
            "compressed" => Node::State(State::Compressed),
            "archived" => Node::State(State::Archived),
            "changed" => Node::Changed,
            _ => match Zone::ALL.into_iter().find(|zone| zone.name() == word) {
                Some(zone) => Node::Zone(zone),
                None if is_call(word) => Node::Call(word.to_owned()),
                None => return Err(SelectorError::UnknownName { name: word.to_owned(), nearest: nearest_name(word) }),
            },
        })
    }

    fn function(&mut self, name: &str) -> Result<Node, SelectorError> {
        self.space();
        let quoted = self.peek() == Some('"');
        let argument = if quoted {
            self.string()?
        } else {
            let rest = &self.text[self.at..];
            let end = rest.find(')').unwrap_or(rest.len());
            self.at += end;
            rest[..end].trim().to_owned()
        };
        if !self.take(')') {
            return Err(self.error("a ')' is missing".to_owned()));
        }
        let mut nodes = split(name, &argument, quoted).map(|argument| call(name, argument)).collect::<Result<Vec<_>, _>>()?;
        Ok(if nodes.len() == 1 { nodes.remove(0) } else { Node::Or(nodes) })
    }
}

/// Splits an argument at its commas, except those of a quoted argument, of a path or a topic, and within braces.
fn split<'a>(name: &str, argument: &'a str, quoted: bool) -> impl Iterator<Item = &'a str> {
    let whole = quoted || matches!(name, "path" | "topic" | "larger");
    let mut depth = 0;
    argument.split(move |c| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        c == ',' && depth == 0 && !whole
    })
}

/// Returns the node of a function with one argument.
fn call(name: &str, argument: &str) -> Result<Node, SelectorError> {
    let argument = argument.trim();
    let bad = |function: &'static str, known: &[&str]| SelectorError::BadArgument {
        function,
        argument: argument.to_owned(),
        nearest: nearest(argument, known.iter().copied()).map(str::to_owned),
    };
    const ROLES: [Role; 6] = [Role::System, Role::User, Role::Assistant, Role::Thinking, Role::ToolUse, Role::ToolResult];
    match name {
        "tool" => GlobBuilder::new(argument)
            .case_insensitive(true)
            .build()
            .map(|glob| Node::Tool(glob.compile_matcher()))
            .map_err(|_| bad("tool", &[])),
        "topic" => Ok(Node::Topic(argument.to_owned())),
        "path" => Glob::new(argument).map(|glob| Node::Path(glob.compile_matcher())).map_err(|_| bad("path", &[])),
        "kind" => BlockKind::ALL
            .into_iter()
            .find(|kind| kind.name() == argument)
            .map(Node::Kind)
            .ok_or_else(|| bad("kind", &BlockKind::ALL.map(BlockKind::name))),
        "level" => Level::from_name(argument).map(Node::Level).ok_or_else(|| bad("level", &Level::ALL.map(Level::name))),
        "role" => ROLES
            .into_iter()
            .find(|role| role.name() == argument)
            .map(Node::Role)
            .ok_or_else(|| bad("role", &ROLES.map(Role::name))),
        "turn" => range(argument).map(Node::Turns).ok_or_else(|| bad("turn", &[])),
        "larger" => amount(argument).map(Node::Larger).ok_or_else(|| bad("larger", &[])),
        _ => Err(SelectorError::UnknownName { name: format!("{name}()"), nearest: nearest_name(name) }),
    }
}

/// Parses `12`, `10..20`, `10..` and `..20`, with or without `#` or `block-` before a number.
fn range(text: &str) -> Option<RangeInclusive<u32>> {
    let number = |text: &str| text.trim().trim_start_matches("block-").trim_start_matches('#').parse().ok();
    match text.split_once("..") {
        None => number(text).map(|only| only..=only),
        Some((first, last)) => {
            let first = if first.is_empty() { 1 } else { number(first)? };
            let last = if last.is_empty() { u32::MAX } else { number(last.trim_start_matches('='))? };
            (first <= last).then_some(first..=last)
        }
    }
}

/// Parses a number of tokens: `800`, `2k`, `1.5M`.
pub fn amount(text: &str) -> Option<f64> {
    let text = text.trim();
    let (number, factor) = match text.strip_suffix(['k', 'K']) {
        Some(number) => (number, 1e3),
        None => text.strip_suffix(['m', 'M']).map_or((text, 1.0), |number| (number, 1e6)),
    };
    number.parse::<f64>().ok().filter(|value| value.is_finite() && *value >= 0.0).map(|value| value * factor)
}

/// Returns true if a word is a tool-use id: a prefix, an underscore, and random letters and digits, so that almost all contain a
/// digit.
fn is_call(word: &str) -> bool {
    let chance = word.bytes().any(|byte| byte.is_ascii_digit());
    word.contains('_') && (chance || ["call_", "toolu_"].iter().any(|prefix| word.starts_with(prefix)))
}

fn nearest_name(word: &str) -> Option<String> {
    if BlockKind::ALL.iter().any(|kind| kind.name() == word) {
        return Some(format!("kind({word})"));
    }
    if word.contains("__") && word.contains('*') {
        return Some(format!("tool({word})"));
    }
    if word.contains('*') || is_file(word) {
        return Some(format!("path({word})"));
    }
    nearest(word, NAMES.iter().chain(FUNCTIONS).map(|(name, _)| *name)).map(str::to_owned)
}

/// Returns true if a word is the name of a file: it ends in a dot and a few letters or digits.
fn is_file(word: &str) -> bool {
    let end = word.rsplit_once('.').filter(|(name, _)| !name.is_empty() && !name.ends_with('.'));
    end.is_some_and(|(_, end)| (1..=5).contains(&end.len()) && end.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

/// Returns the numbers or the range in a word: `17` of `17x`, `10..20` of `10-20` and of `20..10`.
fn nearest_range(word: &str) -> Option<String> {
    let numbers: Vec<u32> = word.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok()).collect();
    match numbers[..] {
        [only] => Some(only.to_string()),
        [first, last] => Some(format!("{}..{}", first.min(last), first.max(last))),
        _ => None,
    }
}

/// Returns the most similar known word, if there is one.
fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |name: &str| name.split('(').next().unwrap_or(name).to_lowercase();
    known
        .map(|name| (strsim::jaro_winkler(&word.to_lowercase(), &plain(name)), name))
        .filter(|(likeness, _)| *likeness > NEAR)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Tool, ToolVerb};

    fn reading() -> Analysis {
        let mut reading = Analysis::default();
        for number in 1..=6 {
            let mut block = Block::new(BlockKind::Text, Role::User);
            block.number = number;
            block.position.turn = number.div_ceil(2);
            block.position.zone = Zone::Middle;
            block.tokens = crate::model::TokenCount::estimated(f64::from(number) * 1000.0);
            reading.session.blocks.push(block);
        }
        let blocks = &mut reading.session.blocks;
        blocks[1].tool = Some(Box::new(Tool {
            name: "Read".into(),
            verb: ToolVerb::Read,
            target: "/home/me/src/auth/flow.rs".into(),
            scope: 0,
            whole: true,
            parameters: 1,
        }));
        blocks[1].call = Some(Key::from_text("toolu_01abc"));
        (blocks[2].kind, blocks[2].role, blocks[2].error) = (BlockKind::ToolResult, Role::ToolResult, true);
        blocks[3].state = State::Stale;
        blocks[4].position.zone = Zone::Cold;
        blocks[5].usefulness.outdated = Some((Outdated::Duplicate, 9));
        reading
    }

    fn check(selector: &str, expected: &[u32]) {
        assert_eq!(Selector::parse(selector).unwrap().select(&reading()).unwrap(), expected, "{selector}");
    }

    fn fails(selector: &str, message: &str) {
        let error = Selector::parse(selector).and_then(|parsed| parsed.select(&reading())).unwrap_err();
        let text = format!("{error}; {}", error.hint());
        let text = text.trim_end_matches("; to list them: aperture blocks");
        assert_eq!(text.trim_end_matches("; for the selector language: aperture help selectors"), message, "{selector}");
    }

    #[test]
    fn numbers_are_written_in_three_ways() {
        for selector in ["2", "#2", "block-2"] {
            check(selector, &[2]);
        }
    }

    #[test]
    fn ranges_have_two_ends_or_one() {
        check("2..4", &[2, 3, 4]);
        check("#2..#4", &[2, 3, 4]);
        check("5..", &[5, 6]);
        check("2..99", &[2, 3, 4, 5, 6]);
    }

    #[test]
    fn names_select_by_zone_and_state() {
        check("cold", &[5]);
        check("stale", &[4]);
        check("error", &[3]);
        check("duplicate", &[6]);
        check("superseded", &[6]);
        check("window", &[1, 2, 3, 4, 6]);
        check("pinned", &[]);
    }

    #[test]
    fn functions_take_an_argument() {
        check("tool(read)", &[2]);
        check("tool(R*d)", &[2]);
        check("path(\"src/**\")", &[2]);
        check("path(*.rs)", &[2]);
        check("kind(tool_result)", &[3]);
        check("role(tool_result)", &[3]);
        check("turn(2..3)", &[3, 4, 5, 6]);
        check("larger(4.5k)", &[5, 6]);
    }

    #[test]
    fn a_quoted_topic_looks_at_words_and_targets() {
        check("\"auth flow\"", &[2]);
        check("topic(auth)", &[2]);
        check("\"\"", &[]);
    }

    #[test]
    fn a_tool_use_id_names_its_blocks() {
        check("toolu_01abc", &[2]);
        fails("toolu_01xyz", "no block has the tool-use id 'toolu_01xyz'");
        fails("call_uJcaVsyvxMhuwPCU", "no block has the tool-use id 'call_uJcaVsyvxMhuwPCU'");
    }

    #[test]
    fn operators_combine() {
        check("1 | 2 & cold", &[1]);
        check("(1 | 5) & cold", &[5]);
        check("~cold & 4..6", &[4, 6]);
        check("4..6 ~ cold", &[4, 6]);
        check("~~1", &[1]);
    }

    #[test]
    fn errors_say_where_and_what_instead() {
        fails("99", "there is no block 99: the session has blocks 1 to 6");
        fails("0", "there is no block 0: the session has blocks 1 to 6");
        fails("stael", "unknown selector 'stael'; did you mean 'stale'?");
        fails("kind(imag)", "kind() does not accept 'imag'; did you mean 'image'?");
        fails("(1", "a ')' is missing at column 3");
        fails("1 2", "unexpected '2' at column 3");
        fails("", "a selector is missing at column 1");
        fails("\"x", "the closing '\"' is missing at column 1");
        fails("5..2", "'5..2' is neither a number nor a range like 10..20 at column 5; did you mean '2..5'?");
    }

    #[test]
    fn commas_join() {
        check("2,4", &[2, 4]);
        check("1, 3..4 , error & cold", &[1, 3, 4]);
        check("tool(Read,R*d)", &[2]);
        check("turn(1, 3)", &[1, 2, 5, 6]);
        check("kind(tool_result, text) & 2..3", &[2, 3]);
        check("path(\"src/{auth,shop}/*.rs\") | path(src/{auth,shop}/*.rs)", &[2]);
        fails("1,,2", "unexpected ',' at column 3");
        let all = |texts: &[&str]| Selector::parse_all(texts).and_then(|parsed| parsed.select(&reading()));
        assert_eq!(all(&["2,", "4", "5..6"]), Ok(vec![2, 4, 5, 6]));
        assert_eq!(all(&["stale", "~1..5"]), Ok(vec![4, 6]));
        assert!(all(&["(1", "2)"]).is_err() && all(&[]).is_err() && all(&["1", ","]).is_err());
    }

    #[test]
    fn misspelled_names_are_suggested() {
        let meant = |selector: &str, expected: &str| {
            let error = Selector::parse(selector).and_then(|parsed| parsed.select(&reading())).unwrap_err();
            let error = error.in_session(&reading());
            assert_eq!(format!("{error}; {}", error.hint()), expected, "{selector}");
        };
        meant("Read", "unknown selector 'Read'; did you mean 'tool(Read)'?");
        meant("Raed", "unknown selector 'Raed'; did you mean 'tool(Read)'?");
        meant("stael", "unknown selector 'stael'; did you mean 'stale'?");
        meant("src/a.rs", "unknown selector 'src/a.rs'; did you mean 'path(src/a.rs)'?");
        meant("stale & ./a.rs", "unknown selector './a.rs'; did you mean 'path(./a.rs)'?");
        meant("Cargo.toml", "unknown selector 'Cargo.toml'; did you mean 'path(Cargo.toml)'?");
        meant("*.rs", "unknown selector '*.rs'; did you mean 'path(*.rs)'?");
        meant("mcp__*", "unknown selector 'mcp__*'; did you mean 'tool(mcp__*)'?");
        meant("image", "unknown selector 'image'; did you mean 'kind(image)'?");
        meant("#2x", "'2x' is neither a number nor a range like 10..20 at column 4; did you mean '2'?");
        meant("2-4", "'2-4' is neither a number nor a range like 10..20 at column 4; did you mean '2..4'?");
        meant("tool(Raed)", "no block of the session uses the tool 'Raed'; did you mean 'tool(Read)'?");
        meant("~tool(Zip)", "no block of the session uses the tool 'Zip'; did you mean 'tool(Read)'?");
        meant(
            "path(\"src/auth/flwo.rs\")",
            "no block of the session has the path 'src/auth/flwo.rs'; did you mean 'path(src/auth/flow.rs)'?",
        );
        meant("path(src/auth)", "no block of the session has the path 'src/auth'; did you mean 'path(src/auth/**)'?");
        meant("path(nosuch)", "no block of the session has the path 'nosuch'; to list tools and files: aperture blocks all");
        meant("turn(99)", "there is no turn 99: the session has turns 1 to 3; to list the turns: aperture blocks --tree");
    }

    #[test]
    fn patterns_may_match_nothing() {
        check("tool(mcp__*)", &[]);
        check("path(docs/**)", &[]);
        check("turn(2..99)", &[3, 4, 5, 6]);
    }

    #[test]
    fn nesting_is_bounded() {
        assert!(Selector::parse(&"(".repeat(10_000)).is_err());
        assert!(Selector::parse(&"~".repeat(10_000)).is_err());
        check(&format!("1{}", "|1".repeat(100_000)), &[1]);
        check(&format!("1{}", "&1".repeat(100_000)), &[1]);
    }

    #[test]
    fn every_documented_name_is_known() {
        for (name, _) in NAMES.iter().chain(FUNCTIONS) {
            assert!(Selector::parse(name).is_ok(), "{name}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_parses_or_fails(text in "\\PC{0,40}") {
            let _ = Selector::parse(&text);
        }
    }
}
