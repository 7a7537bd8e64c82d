//! Parses selectors.

use super::{DEEPEST, FUNCTIONS, NAMES, NEAR, Node, PathPattern, SelectorError};
use crate::model::{BlockKind, Level, Role, State, Zone};
use crate::text::names::is_file_name;
use globset::GlobBuilder;
use std::ops::RangeInclusive;

pub(super) fn parse(text: &str) -> Result<Node, SelectorError> {
    let mut parser = Parser { text, at: 0, depth: 0 };
    let node = parser.either()?;
    parser.space();
    match parser.peek() {
        None => Ok(node),
        Some(found) => Err(parser.error(format!("unexpected '{found}'"))),
    }
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
            Some(quote @ ('"' | '\'')) => Ok(Node::Topic(self.string(quote)?)),
            Some('#') => {
                self.at += 1;
                let word = self.word();
                self.numbers(word)
            }
            Some(first) if first.is_ascii_digit() || self.begins_range() => {
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

    /// Returns true if a range without its first number follows, not a path such as `../x`.
    fn begins_range(&self) -> bool {
        self.text[self.at..].strip_prefix("..").is_some_and(|last| last.starts_with(|c: char| c == '#' || c.is_ascii_digit()))
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

    /// Reads a text in quotes, which can be single ones.
    fn string(&mut self, quote: char) -> Result<String, SelectorError> {
        let start = self.at + 1;
        match self.text[start..].find(quote) {
            Some(length) => {
                self.at = start + length + 1;
                Ok(self.text[start..start + length].to_owned())
            }
            None => Err(self.error(format!("the closing '{quote}' is missing"))),
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
            "alike" => Node::Alike,
            "error" => Node::Error,
            "stale" => Node::State(State::Stale),
            "aging" => Node::Aging,
            "fresh" => Node::State(State::Fresh),
            "active" => Node::State(State::Active),
            "referenced" => Node::State(State::Referenced),
            "compressed" => Node::State(State::Compressed),
            "archived" => Node::State(State::Archived),
            "changed" => Node::Changed,
            _ => match Zone::ALL.into_iter().find(|zone| zone.name() == word || zone.label() == word) {
                Some(zone) => Node::Zone(zone),
                None if is_call(word) => Node::Call(word.to_owned()),
                None => return Err(SelectorError::UnknownName { name: word.to_owned(), nearest: nearest_name(word) }),
            },
        })
    }

    fn function(&mut self, name: &str) -> Result<Node, SelectorError> {
        self.space();
        let quote = self.peek().filter(|first| matches!(first, '"' | '\''));
        let quoted = quote.is_some();
        let argument = if let Some(quote) = quote {
            self.string(quote)?
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

fn call(name: &str, argument: &str) -> Result<Node, SelectorError> {
    let argument = argument.trim();
    let bad = |function: &'static str, known: &[&str]| SelectorError::BadArgument {
        function,
        argument: argument.to_owned(),
        nearest: nearest(argument, known.iter().copied()).map(str::to_owned),
    };
    match name {
        "tool" => GlobBuilder::new(argument)
            .case_insensitive(true)
            .build()
            .map(|glob| Node::Tool(glob.compile_matcher()))
            .map_err(|_| bad("tool", &[])),
        "topic" => Ok(Node::Topic(argument.to_owned())),
        "path" => PathPattern::new(argument).map(Node::Path).map_err(|_| bad("path", &[])),
        "kind" => BlockKind::from_name(argument).map(Node::Kind).ok_or_else(|| bad("kind", &BlockKind::ALL.map(BlockKind::name))),
        "level" => Level::from_name(argument).map(Node::Level).ok_or_else(|| bad("level", &Level::ALL.map(Level::name))),
        "role" => Role::from_name(argument).map(Node::Role).ok_or_else(|| bad("role", &Role::ALL.map(Role::name))),
        "task" => range(argument).map(Node::Tasks).ok_or_else(|| bad("task", &[])),
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
    if word.contains('*') || is_file_name(word) {
        return Some(format!("path({word})"));
    }
    nearest(word, NAMES.iter().chain(FUNCTIONS).map(|(name, _)| *name)).map(str::to_owned)
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
pub(super) fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |name: &str| name.split('(').next().unwrap_or(name).to_lowercase();
    known
        .map(|name| (strsim::jaro_winkler(&word.to_lowercase(), &plain(name)), name))
        .filter(|(likeness, _)| *likeness > NEAR)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}
