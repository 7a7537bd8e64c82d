//! Pages and searches of the web: what the agent said that a page told, with its address or the words of the search.

use super::statements::is_whole;
use super::words::{content_words, holds_secret};
use crate::engine::report::summary::sentences;
use crate::model::{Conventions, EventPlace, Key, PromptSource, ToolVerb, TraceCall, TraceContent, TraceEvent, TraceResult};
use crate::text::command_heads::without_wrappers;
use crate::text::lists::word_lists;
use crate::text::shell::simple_commands;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

word_lists! { "pages.txt": ABOUT_PAGES, CONTINUATIONS, FETCHERS }

/// Characters of a sentence that is kept, and its least number of words.
const CHARACTERS: std::ops::RangeInclusive<usize> = 30..=240;
const WORDS: usize = 6;
/// Characters of an address.
const ADDRESS: usize = 160;
/// Bytes of the input of a call that reads a page.
const ASKED: usize = 4000;
/// Words of a page that are compared, pages before an answer, and sentences of a session.
const PAGE_WORDS: usize = 4000;
const PAGES: usize = 30;
const FOUND: usize = 100;
/// Starts the place of a sentence that a search found: its pages are not told apart.
const SEARCH: &str = "web search: ";
/// Part of the result of a search.
const LINK: &str = "\"url\":\"http";

/// A sentence of the agent about a page that it had read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page {
    /// The address; the words of a search behind `web search: `.
    pub address: String,
    pub text: String,
    /// That of the result.
    pub place: EventPlace,
}

/// Collects what the pages of a session taught, from its events.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Pages {
    pub found: Vec<Page>,
    calls: BTreeMap<Key, Request>,
    /// The pages since the last answer.
    read: Vec<Reading>,
}

/// A call that reads a page, or that may be a search.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Request {
    address: String,
    /// Its input: the agent knew these words before.
    asked: String,
}

/// A page that was read, still without a sentence.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Reading {
    page: Page,
    words: BTreeSet<String>,
    /// Names and figures that the call did not have.
    fresh: BTreeSet<String>,
}

impl Pages {
    pub fn push(&mut self, event: &TraceEvent, conventions: &Conventions) {
        match &event.content {
            TraceContent::Prompt { source: PromptSource::Typed, .. } => {
                self.read.clear();
                self.calls.clear();
            }
            TraceContent::Call(call) => {
                if let Some(address) = address_of(call).filter(|_| call.input.len() <= ASKED) {
                    self.calls.insert(call.id, Request { address, asked: call.input.to_lowercase() });
                }
            }
            TraceContent::Result(result) => {
                if let Some(request) = self.calls.remove(&result.call).filter(|_| !result.error && !result.declined) {
                    self.came(event, request, result);
                }
            }
            TraceContent::Answer(text) => self.told(text, conventions),
            _ => {}
        }
    }

    fn came(&mut self, event: &TraceEvent, request: Request, result: &TraceResult) {
        let is_page = !request.address.starts_with(SEARCH) || result.text.contains(LINK);
        if self.read.len() < PAGES && is_page {
            let words: BTreeSet<String> = content_words(&result.text).into_iter().take(PAGE_WORDS).collect();
            let fresh = words.iter().filter(|word| is_name(word) && !request.asked.contains(&***word)).cloned().collect();
            let page = Page { address: request.address, text: String::new(), place: event.place() };
            self.read.push(Reading { page, words, fresh });
        }
    }

    /// Keeps for each page the sentence of the answer after it that has the most of its words: with a name or a figure that the page
    /// brought, and half of its words from the page.
    fn told(&mut self, answer: &str, conventions: &Conventions) {
        let pages = std::mem::take(&mut self.read);
        let mut best: BTreeMap<usize, (usize, String)> = BTreeMap::new();
        let plain = if pages.is_empty() { String::new() } else { answer.replace("**", "") };
        for sentence in sentences(&plain, conventions).into_iter().filter(|sentence| !sentence.leads && is_fact(&sentence.text)) {
            let words: BTreeSet<String> = content_words(&sentence.text).into_iter().collect();
            let common = |reading: &Reading| words.intersection(&reading.words).count();
            let tells =
                |(_, reading): &(usize, &Reading)| !words.is_disjoint(&reading.fresh) && common(reading) * 2 >= words.len();
            let Some((at, reading)) = pages.iter().enumerate().filter(tells).max_by_key(|(_, reading)| common(reading)) else {
                continue;
            };
            if best.get(&at).is_none_or(|(most, _)| common(reading) > *most) {
                best.insert(at, (common(reading), sentence.text));
            }
        }
        let left = FOUND.saturating_sub(self.found.len());
        self.found.extend(best.into_iter().take(left).map(|(at, (_, text))| Page { text, ..pages[at].page.clone() }));
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

/// Returns true for a sentence that states something by itself, and not about the page or its reader.
fn is_fact(text: &str) -> bool {
    let lower = text.to_lowercase().replace('’', "'");
    let is_border = |c: char| !c.is_alphanumeric() && c != '\'';
    let about_page = lower.split(is_border).any(|word| ABOUT_PAGES.contains(&word));
    let first = lower.split_whitespace().next().unwrap_or_default().trim_end_matches([',', ':']);
    let starts = text.starts_with(|c: char| c.is_uppercase() || c == '`') && !CONTINUATIONS.contains(&first);
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
        let call = TraceCall { id, verb, target, command, input, ..TraceCall::default() };
        let result = TraceResult { call: id, text: result.to_owned(), ..TraceResult::default() };
        let mut pages = Pages::default();
        let contents = [TraceContent::Call(call), TraceContent::Result(result), TraceContent::Answer(said.to_owned())];
        contents.into_iter().for_each(|content| pages.push(&event(content), Default::default()));
        pages.found.iter().map(|page| format!("{} ({})", page.text, page.address)).collect()
    }

    const PAGE: &str = "# Push policy\n\nBy default a push may update 5 branches or tags at once.\n\n\
        You can change the limit to `max_ref_updates` in the settings of a repository.";
    const SAID: &str = "The limit of a repository is `max_ref_updates` in its settings.";

    #[test]
    fn an_answer_tells_what_the_page_before_it_brought() {
        let address = "https://docs.example.com/push#limit";
        let check = |said: &str, expected: &[&str]| assert_eq!(learned(address, None, PAGE, said), expected, "{said}");
        check(
            "Good. **By default** a push updates at most 5 branches or tags. I send them in groups.",
            &["By default a push updates at most 5 branches or tags. (https://docs.example.com/push)"],
        );
        check(SAID, &["The limit of a repository is `max_ref_updates` in its settings. (https://docs.example.com/push)"]);
        // Without a name of the page, about the agent or its task, or with little of the page.
        check("A push may update several branches or tags at once.", &[]);
        check("I raised the limit `max_ref_updates` in the repository settings.", &[]);
        check("The parser of the shop reads `max_ref_updates` from another file of the project.", &[]);
    }

    #[test]
    fn commands_that_print_a_page_are_read_and_others_are_not() {
        let check =
            |command: &str, expected: usize| assert_eq!(learned("", Some(command), PAGE, SAID).len(), expected, "{command}");
        check("curl -s https://docs.example.com/push | head", 1);
        check("curl -s https://a.example.com/x https://b.example.com/y", 0);
        check("curl -s https://localhost/push", 0);
        check("curl -s https://u:p@docs.example.com/push", 0);
        check("cat push.md", 0);
    }

    #[test]
    fn a_search_is_named_by_its_words() {
        let result = format!("Links: [{{\"title\":\"Push policy\",\"url\":\"https://docs.example.com/push\"}}]\n\n{PAGE}");
        assert_eq!(learned("push policy", None, &result, SAID), [format!("{SAID} (web search: push policy)")]);
        assert_eq!(learned("push policy", None, PAGE, SAID), [""; 0], "it is the result of another tool");
    }
}
