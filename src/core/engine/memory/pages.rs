//! Pages and searches of the web: the sentence of each that the agent used afterwards, with its address or the words of the search.

use super::failures::command_heads::without_wrappers;
use super::statements::is_whole;
use super::words::{content_words, holds_secret};
use crate::engine::report::summary::sentences;
use crate::model::{BlockNumber, Conventions, Key, PromptSource, ToolVerb, TraceCall, TraceContent, TraceEvent, TraceResult};
use crate::text::lists::word_lists;
use crate::text::shell::simple_commands;
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

word_lists! { "pages.txt": ABOUT_PAGES, LINKS, FETCHERS }

/// Characters of a sentence that is kept, and its least number of words.
const CHARACTERS: std::ops::RangeInclusive<usize> = 30..=240;
const WORDS: usize = 6;
/// Characters of an address.
const ADDRESS: usize = 160;
/// Bytes of the input of a call that reads a page.
const ASKED: usize = 4000;
/// Sentences of a page that are compared, pages of a turn and of a session.
const SENTENCES: usize = 60;
const PAGES: usize = 30;
const FOUND: usize = 100;
/// Words of a sentence that the agent must repeat in one text, beside a name that the page brought.
const REPEATED: usize = 3;
/// The same without such a name, if two thirds of the sentence are repeated.
const FRESH: usize = 3;
/// Starts the place of a sentence that a search found: its pages are not told apart.
const SEARCH: &str = "web search: ";
/// Part of the result of a search.
const LINK: &str = "\"url\":\"http";

/// A sentence of a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page {
    /// The address; the words of a search behind `web search: `.
    pub address: String,
    pub text: String,
    pub block: BlockNumber,
    pub row: String,
    /// The time of the result, in milliseconds since 1970, UTC; 0 if unknown.
    pub time: i64,
}

/// Collects what the pages of a session taught, from its events.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Pages {
    pub found: Vec<Page>,
    calls: BTreeMap<Key, Request>,
    /// The pages of the current turn.
    read: Vec<Reading>,
}

/// A call that reads a page, or that may be a search.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Request {
    address: String,
    /// Its input: the agent knew these words before.
    asked: String,
}

/// A page of the current turn, with its sentence that the agent used most so far.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Reading {
    /// Each with its words that the call did not have.
    sentences: Vec<(Vec<String>, Page)>,
    best: Option<(usize, Page)>,
}

impl Pages {
    pub fn push(&mut self, event: &TraceEvent, conventions: &Conventions) {
        match &event.content {
            TraceContent::Prompt { source: PromptSource::Typed, .. } => self.end_turn(),
            TraceContent::Call(call) => {
                self.used_in(&call.input);
                if let Some(address) = address_of(call).filter(|_| call.input.len() <= ASKED) {
                    self.calls.insert(call.id, Request { address, asked: call.input.to_lowercase() });
                }
            }
            TraceContent::Result(result) => {
                if let Some(request) = self.calls.remove(&result.call).filter(|_| !result.error && !result.declined) {
                    self.came(event, &request, result, conventions);
                }
            }
            TraceContent::Answer(text) => self.used_in(text),
            _ => {}
        }
    }

    /// Returns the sentences that were used so far, with those of the current turn.
    pub fn used(&self) -> impl Iterator<Item = &Page> {
        self.found.iter().chain(self.read.iter().filter_map(|reading| Some(&reading.best.as_ref()?.1)))
    }

    fn end_turn(&mut self) {
        let used = std::mem::take(&mut self.read).into_iter().filter_map(|reading| Some(reading.best?.1));
        self.found.extend(used);
        self.found.truncate(FOUND);
        self.calls.clear();
    }

    fn came(&mut self, event: &TraceEvent, request: &Request, result: &TraceResult, conventions: &Conventions) {
        let is_page = !request.address.starts_with(SEARCH) || result.text.contains(LINK);
        if self.read.len() >= PAGES || !is_page {
            return;
        }
        let of_page = |text: String| {
            let fresh = content_words(&text).into_iter().filter(|word| !request.asked.contains(&**word)).collect();
            let (address, row) = (request.address.clone(), event.row.clone());
            (fresh, Page { address, text, block: event.block, row, time: event.time })
        };
        let told =
            sentences(&result.text, conventions).into_iter().filter(|sentence| !sentence.leads).map(|sentence| sentence.text);
        let facts = told.map(|text| quoted(&text).map_or_else(|| text.clone(), str::to_owned)).filter(|text| is_fact(text));
        let sentences: Vec<(Vec<String>, Page)> = facts.map(of_page).take(SENTENCES).collect();
        if !sentences.is_empty() {
            self.read.push(Reading { sentences, best: None });
        }
    }

    /// Notes what the agent used in a text of its own: a name or a number that the page brought with words around it, or most words of
    /// the sentence.
    fn used_in(&mut self, text: &str) {
        if self.read.is_empty() {
            return;
        }
        let known: FxHashSet<String> = content_words(text).into_iter().collect();
        for reading in &mut self.read {
            for (fresh, page) in &reading.sentences {
                let used: BTreeSet<&String> = fresh.iter().filter(|word| known.contains(*word)).collect();
                let names = used.iter().filter(|word| is_name(word)).count();
                let worth = used.len() + names;
                let is_repeated = || {
                    let all = content_words(&page.text);
                    used.len() >= FRESH && all.iter().filter(|word| known.contains(*word)).count() * 3 >= all.len() * 2
                };
                if (names > 0 && used.len() > REPEATED || is_repeated())
                    && reading.best.as_ref().is_none_or(|(best, _)| worth > *best)
                {
                    reading.best = Some((worth, page.clone()));
                }
            }
        }
    }
}

/// Returns the address that a call reads, or the words that it may search; `None` for other calls.
fn address_of(call: &TraceCall) -> Option<String> {
    let Some(command) = &call.command else {
        let is_address = call.target.starts_with("https://") || call.target.starts_with("http://");
        let may_search = || call.verb == ToolVerb::Other && call.files.is_empty() && call.target.len() <= ADDRESS;
        return if is_address { plain_address(&call.target) } else { may_search().then(|| format!("{SEARCH}{}", call.target)) };
    };
    let simple = if command.contains("https://") { simple_commands(command) } else { Vec::new() };
    let fetches = simple.iter().map(|simple| without_wrappers(&simple.words));
    let fetches = fetches.filter(|words| words.first().is_some_and(|program| FETCHERS.contains(&&*program.text)));
    let mut addresses = fetches.flatten().filter(|word| word.text.starts_with("https://")).map(|word| &*word.text);
    addresses.next().filter(|_| addresses.next().is_none()).and_then(plain_address)
}

/// Returns an address that another session can open: without its fragment, and without what holds a credential.
fn plain_address(address: &str) -> Option<String> {
    let address = address.split('#').next().unwrap_or_default().trim();
    let host = address.split_once("://")?.1.split(['/', ':']).next().unwrap_or_default();
    let is_public = host.contains('.') && host.contains(char::is_alphabetic) && !host.ends_with(".local");
    let is_plain = !address.contains(['$', '@', '`', ' ']) && address.len() <= ADDRESS && !holds_secret(address);
    (is_public && is_plain).then(|| address.to_owned())
}

/// Returns the sentence that a sentence quotes at its end, the words of the page itself: `It states: "By default, … ."`.
fn quoted(text: &str) -> Option<&str> {
    let (_, quote) = text.rsplit_once(": \"")?;
    let quote = quote.trim_end_matches('.').strip_suffix('"')?;
    (quote.len() >= *CHARACTERS.start() && !quote.contains('"')).then_some(quote)
}

/// Returns true for a sentence that states something by itself, and not about the page or the one who read it.
fn is_fact(text: &str) -> bool {
    let lower = text.to_lowercase().replace('’', "'");
    let is_border = |c: char| !c.is_alphanumeric() && c != '\'';
    let about_page = lower.split(is_border).any(|word| ABOUT_PAGES.contains(&word));
    let first = lower.split_whitespace().next().unwrap_or_default().trim_end_matches([',', ':']);
    let starts = text.starts_with(|c: char| c.is_uppercase() || c == '`') && !LINKS.contains(&first);
    let is_prose = !text.contains(['|', '{', '}', ';', '*', '…']) && !text.contains("://");
    let size = CHARACTERS.contains(&text.chars().count()) && text.split_whitespace().count() >= WORDS;
    size && starts
        && is_prose
        && text.trim_end_matches('"').ends_with('.')
        && !about_page
        && is_whole(text)
        && !holds_secret(text)
}

/// Returns true for a word that is a name in code, a number or a version.
fn is_name(word: &str) -> bool {
    let inside = word.get(1..word.len().saturating_sub(1)).unwrap_or_default();
    word.contains(|c: char| c.is_ascii_digit()) || inside.contains(['_', '.', '/', '-', '='])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(content: TraceContent) -> TraceEvent {
        TraceEvent { block: 1, row: "r".to_owned(), time: 5, turn: 1, content }
    }

    /// Returns what a session learns from one call, its result, and what the agent said then.
    fn learned(target: &str, command: Option<&str>, result: &str, said: &str) -> Vec<String> {
        let (id, input) = (Key(7), format!("{target} {}", command.unwrap_or_default()));
        let (target, command) = (target.to_owned(), command.map(str::to_owned));
        let verb = if command.is_some() { ToolVerb::Run } else { ToolVerb::Other };
        let call = TraceCall { id, tool: "t".to_owned(), verb, target, command, files: Vec::new(), input };
        let result = TraceResult { call: id, error: false, declined: false, text: result.to_owned() };
        let mut pages = Pages::default();
        let contents = [TraceContent::Call(call), TraceContent::Result(result), TraceContent::Answer(said.to_owned())];
        contents.into_iter().for_each(|content| pages.push(&event(content), Default::default()));
        pages.used().map(|page| format!("{} ({})", page.text, page.address)).collect()
    }

    const PAGE: &str = "# Push policy\n\nThe page covers pushes.\n\nIt states: \"By default a push may update 5 branches or tags at once.\"\n\n\
        You can change the limit to `max_ref_updates` in the settings of a repository.\n\nThis is new.";

    #[test]
    fn a_page_teaches_the_sentence_that_the_agent_used() {
        let address = "https://docs.example.com/push#limit";
        let check = |said: &str, expected: &[&str]| assert_eq!(learned(address, None, PAGE, said), expected, "{said}");
        check(
            "A push may update 5 branches or tags, so I send them in groups.",
            &["By default a push may update 5 branches or tags at once. (https://docs.example.com/push)"],
        );
        check(
            "I raised the limit `max_ref_updates` in the repository settings.",
            &["You can change the limit to `max_ref_updates` in the settings of a repository. (https://docs.example.com/push)"],
        );
        check("I could not find it.", &[]);
        check("The page covers pushes.", &[]);
    }

    #[test]
    fn commands_that_print_a_page_are_read_and_others_are_not() {
        let said = "I raised the limit `max_ref_updates` in the repository settings.";
        let check =
            |command: &str, expected: usize| assert_eq!(learned("", Some(command), PAGE, said).len(), expected, "{command}");
        check("curl -s https://docs.example.com/push | head", 1);
        check("curl -s https://a.example.com/x https://b.example.com/y", 0);
        check("curl -s https://localhost/push", 0);
        check("curl -s https://u:p@docs.example.com/push", 0);
        check("cat push.md", 0);
    }

    #[test]
    fn a_search_is_named_by_its_words() {
        let fact = "You can change the limit of branches with `max_ref_updates` in the settings.";
        let said = "I set `max_ref_updates` to change the limit of branches in the settings.";
        let result = format!("Links: [{{\"title\":\"Push policy\",\"url\":\"https://docs.example.com/push\"}}]\n\n{fact}");
        assert_eq!(learned("push policy", None, &result, said), [format!("{fact} (web search: push policy)")]);
        assert_eq!(learned("push policy", None, fact, said), [""; 0], "it is the result of another tool");
    }
}
