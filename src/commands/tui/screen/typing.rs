//! Typed texts, and lists in which something is chosen.

use super::{Entry, MapForm, Mode, PAGE_ROWS, Purpose, Row, Screen, Task};
use crate::commands::RequestEffect;
use crate::commands::tui::keys;
use crate::commands::tui::worker::kind;
use fuzzy_matcher::FuzzyMatcher;
use fuzzy_matcher::skim::SkimMatcherV2;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use std::mem::take;

/// A line that is typed: the text before the cursor, and the text after it.
#[derive(Clone, Debug, Default)]
pub struct Field {
    pub before: String,
    pub after: String,
}

impl Field {
    /// Returns a line with a text, and the cursor at its end.
    pub fn new(text: &str) -> Field {
        Field { before: text.to_owned(), after: String::new() }
    }

    pub fn text(&self) -> String {
        format!("{}{}", self.before, self.after)
    }

    /// Edits the line with a key, as a shell does.
    fn edit(&mut self, key: &KeyEvent) {
        match (&*keys::name(key), key.code) {
            ("Left" | "Ctrl-b", _) => self.after = self.before.pop().into_iter().collect::<String>() + &self.after,
            ("Right" | "Ctrl-f", _) => self.before.extend(first(&mut self.after)),
            ("Home" | "Ctrl-a", _) => self.after.insert_str(0, &take(&mut self.before)),
            ("End" | "Ctrl-e", _) => self.before.push_str(&take(&mut self.after)),
            ("Backspace" | "Ctrl-h", _) => drop(self.before.pop()),
            ("Delete" | "Ctrl-d", _) => drop(first(&mut self.after)),
            ("Ctrl-u", _) => self.before.clear(),
            ("Ctrl-k", _) => self.after.clear(),
            ("Ctrl-w", _) => self.before.truncate(self.before.trim_end().rfind(' ').map_or(0, |space| space + 1)),
            (_, KeyCode::Char(letter)) if (key.modifiers - KeyModifiers::SHIFT).is_empty() => self.before.push(letter),
            _ => {}
        }
    }
}

impl Screen {
    pub(super) fn ask(&mut self, purpose: Purpose, text: &str) {
        self.mode = Mode::Input { purpose, field: Field::new(text) };
    }

    pub(super) fn type_in(&mut self, key: &KeyEvent, purpose: Purpose, mut field: Field) {
        match &*keys::name(key) {
            "Esc" => return,
            "Enter" => return self.typed(purpose, field.text().trim()),
            "Backspace" if field.text().is_empty() => return,
            "Tab" => {
                let words = match purpose {
                    Purpose::Select => Some(vec!["blocks".to_owned(), field.text()]),
                    Purpose::Command => Some(field.text().split(' ').map(str::to_owned).collect()),
                    _ => None,
                };
                self.tasks.extend(words.map(Task::Complete));
            }
            _ => field.edit(key),
        }
        self.mode = Mode::Input { purpose, field };
    }

    /// Continues the last typed word as far as all candidates agree, and names them if there are several.
    pub(super) fn completed(&mut self, words: &[String], candidates: &[String]) {
        let Mode::Input { purpose, field } = &mut self.mode else { return };
        let Some(last) = words.last().filter(|last| field.text().ends_with(*last)) else { return };
        let Some(first) = candidates.first() else { return self.say("there is nothing to complete".to_owned()) };
        let agrees = |end: &usize| candidates.iter().all(|other| other.get(..*end) == first.get(..*end));
        let end = (last.len()..=first.len()).rev().find(|end| first.is_char_boundary(*end) && agrees(end));
        let space = if *purpose == Purpose::Command && candidates.len() == 1 { " " } else { "" };
        *field = Field::new(&(field.text() + end.map_or("", |end| &first[last.len()..end]) + space));
        if candidates.len() > 1 {
            self.say(candidates.join("  "));
        }
    }

    pub(super) fn typed(&mut self, purpose: Purpose, text: &str) {
        if text.is_empty() {
            return;
        }
        match purpose {
            Purpose::Search => self.tasks.push(Task::Search { query: text.to_owned(), in_all: false }),
            Purpose::SearchAll => self.tasks.push(Task::Search { query: text.to_owned(), in_all: true }),
            Purpose::Select => self.tasks.push(Task::Select(text.to_owned())),
            Purpose::Budget => {
                let mut line = self.line(&["compress", "--budget", text]);
                line.extend(self.picture.is_open.then(|| "--live".to_owned()));
                self.confirm(line);
            }
            Purpose::Snapshot => self.execute(self.line(&["snapshot", "save", text])),
            Purpose::Command => self.command_line(text),
        }
    }

    /// Carries out a command line that was typed: one that changes something is confirmed before.
    pub(super) fn command_line(&mut self, text: &str) {
        let words = match shlex::split(text) {
            Some(words) if !words.is_empty() => words,
            _ => return self.say("a quote is not closed".to_owned()),
        };
        let words: Vec<String> = words.into_iter().skip_while(|word| word == "aperture").collect();
        let names_session = words.iter().any(|word| word == "-s" || word == "--session");
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let line = if names_session { words.iter().map(|word| (*word).to_owned()).collect() } else { self.line(&words) };
        match kind(&line) {
            Ok(RequestEffect::Change) => self.confirm(line),
            Ok(RequestEffect::Read) => {
                self.command = super::acting::text(&line);
                self.tasks.push(Task::Print(line));
            }
            Ok(RequestEffect::Other) => {
                self.say(format!("{} does not run inside of the screen: leave with q", words.first().unwrap_or(&"it")));
            }
            Err(error) => self.say(error),
        }
    }

    pub(super) fn found(&mut self, query: &str, in_all: bool, entries: Vec<Entry>) {
        if entries.is_empty() {
            return self.say(format!("no match for {query}"));
        }
        if !in_all {
            self.matches = entries.iter().map(|entry| entry.turn).filter(|turn| *turn > 0).collect();
        }
        self.mode = Mode::List { title: format!("matches of {query}"), entries, field: Field::default(), at: 0 };
    }

    pub(super) fn go_to_match(&mut self, is_forward: bool) {
        let mut turns = self.matches.clone();
        turns.sort_unstable();
        turns.dedup();
        let here = self.turn_at(self.at);
        let next = match is_forward {
            true => turns.iter().find(|turn| **turn > here).or(turns.first()),
            false => turns.iter().rfind(|turn| **turn < here).or(turns.last()),
        };
        if let Some(turn) = next.copied() {
            self.go_to_turn(turn);
        }
    }

    pub(super) fn turn_at(&self, at: usize) -> u32 {
        match self.rows.get(at) {
            Some(Row::Turn(at)) => self.picture.turns[*at].number,
            Some(Row::Block(at)) => self.picture.blocks[*at].turn,
            Some(Row::Subagent(at)) => self.picture.subagents[*at].turn,
            _ => 0,
        }
    }

    pub(super) fn go_to_turn(&mut self, turn: u32) {
        self.form = MapForm::Turns;
        self.open_turns.insert(turn);
        self.arrange();
        let is_turn = |row: &Row| matches!(row, Row::Turn(at) if self.picture.turns[*at].number == turn);
        match self.rows.iter().position(is_turn) {
            Some(at) => self.go(at),
            None => self.say(format!("turn {turn} is not in the window: aperture show 'turn({turn})'")),
        }
    }

    pub(super) fn press_in_list(&mut self, key: &KeyEvent, title: String, entries: Vec<Entry>, mut field: Field, at: usize) {
        let last = shown(&entries, &field.text()).len().saturating_sub(1);
        let at = match &*keys::name(key) {
            "Esc" => return,
            "Enter" => return self.choose(&entries, &field.text(), at.min(last)),
            "Down" | "Ctrl-n" => (at + 1).min(last),
            "Up" | "Ctrl-p" => at.min(last).saturating_sub(1),
            "PageDown" => (at + PAGE_ROWS).min(last),
            "PageUp" => at.min(last).saturating_sub(PAGE_ROWS),
            _ => {
                field.edit(key);
                0
            }
        };
        self.mode = Mode::List { title, entries, field, at };
    }

    pub(super) fn choose(&mut self, entries: &[Entry], typed: &str, at: usize) {
        let Some(entry) = shown(entries, typed).get(at).map(|place| entries[*place].clone()) else { return };
        match entry.path {
            Some(path) if path != self.picture.path => {
                self.say("reading …".to_owned());
                self.tasks.push(Task::Read(Some(path)));
            }
            _ if entry.turn > 0 => self.go_to_turn(entry.turn),
            _ => {}
        }
    }
}

fn first(text: &mut String) -> Option<char> {
    (!text.is_empty()).then(|| text.remove(0))
}

/// Returns the places of the entries that have the letters of each typed word in their order; those that match best first.
pub fn shown(entries: &[Entry], typed: &str) -> Vec<usize> {
    let matcher = SkimMatcherV2::default();
    let score = |entry: &Entry| {
        let text = format!("{} {}", entry.text, entry.note);
        typed.split_whitespace().map(|word| matcher.fuzzy_match(&text, word)).sum::<Option<i64>>()
    };
    let mut found: Vec<(usize, i64)> = (0..entries.len()).filter_map(|at| Some((at, score(&entries[at])?))).collect();
    found.sort_by_key(|(_, score)| std::cmp::Reverse(*score));
    found.into_iter().map(|(at, _)| at).collect()
}
