//! Selectors: a language to select blocks, common to all commands.

use crate::engine::Analysis;
use crate::model::{Block, BlockKind, BlockNumber, Key, Level, Outdated, Role, State, Zone};
use globset::{Glob, GlobBuilder, GlobMatcher};
use std::ops::RangeInclusive;

/// Maximum nesting of parentheses and negations.
const DEEPEST: usize = 64;

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
        /// Known names that are close to it.
        nearest: Option<&'static str>,
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
}

impl SelectorError {
    /// Suggestion.
    pub fn hint(&self) -> String {
        match self {
            SelectorError::UnknownName { nearest: Some(name), .. } => format!("did you mean '{name}'?"),
            SelectorError::BadArgument { nearest: Some(value), .. } => format!("did you mean '{value}'?"),
            SelectorError::NoSuchBlock { .. } => "to list them: aperture blocks".to_owned(),
            SelectorError::BadArgument { function: "turn", .. } => "a turn is a number or a range: turn(3..5)".to_owned(),
            SelectorError::BadArgument { function: "larger", .. } => "write a number of tokens as 800 or 2k".to_owned(),
            _ => "for the selector language: aperture help selectors".to_owned(),
        }
    }
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
            Node::Not(inner) => inner.check(reading),
            Node::And(nodes) | Node::Or(nodes) => nodes.iter().try_for_each(|node| node.check(reading)),
            _ => Ok(()),
        }
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
        while self.take('|') {
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
                let word = self.word();
                if self.take('(') { self.function(word) } else { self.name(word) }
            }
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
        range(word).map(Node::Numbers).ok_or_else(|| self.error(format!("'{word}' is neither a number nor a range like 10..20")))
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
        let argument = if self.peek() == Some('"') {
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
        let bad = |function: &'static str, known: &[&str]| SelectorError::BadArgument {
            function,
            argument: argument.clone(),
            nearest: nearest(&argument, known.iter().copied()).map(str::to_owned),
        };
        const ROLES: [Role; 6] = [Role::System, Role::User, Role::Assistant, Role::Thinking, Role::ToolUse, Role::ToolResult];
        match name {
            "tool" => GlobBuilder::new(&argument)
                .case_insensitive(true)
                .build()
                .map(|glob| Node::Tool(glob.compile_matcher()))
                .map_err(|_| bad("tool", &[])),
            "topic" => Ok(Node::Topic(argument)),
            "path" => Glob::new(&argument).map(|glob| Node::Path(glob.compile_matcher())).map_err(|_| bad("path", &[])),
            "kind" => BlockKind::ALL
                .into_iter()
                .find(|kind| kind.name() == argument)
                .map(Node::Kind)
                .ok_or_else(|| bad("kind", &BlockKind::ALL.map(BlockKind::name))),
            "level" => Level::from_name(&argument).map(Node::Level).ok_or_else(|| bad("level", &Level::ALL.map(Level::name))),
            "role" => ROLES
                .into_iter()
                .find(|role| role.name() == argument)
                .map(Node::Role)
                .ok_or_else(|| bad("role", &ROLES.map(Role::name))),
            "turn" => range(&argument).map(Node::Turns).ok_or_else(|| bad("turn", &[])),
            "larger" => amount(&argument).map(Node::Larger).ok_or_else(|| bad("larger", &[])),
            _ => Err(SelectorError::UnknownName { name: format!("{name}()"), nearest: nearest_name(name) }),
        }
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

fn nearest_name(word: &str) -> Option<&'static str> {
    if BlockKind::ALL.iter().any(|kind| kind.name() == word) {
        return Some("kind(…)");
    }
    nearest(word, NAMES.iter().chain(FUNCTIONS).map(|(name, _)| *name))
}

/// Returns the most similar known word, if there is one.
fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |name: &str| name.split('(').next().unwrap_or(name).to_owned();
    known
        .map(|name| (strsim::jaro_winkler(&word.to_lowercase(), &plain(name)), name))
        .filter(|(likeness, _)| *likeness > 0.75)
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
        fails("5..2", "'5..2' is neither a number nor a range like 10..20 at column 5");
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
