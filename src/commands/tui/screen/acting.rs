//! The keys of the map, and the question before a change.

use super::{Effect, Entry, Field, MapForm, Mode, PAGE_ROWS, Plan, Purpose, Row, Screen, Task};
use crate::commands::tui::keys::{self, Action};
use crate::commands::tui::picture::BlockRow;
use crate::engine::model_commands::ranges;
use crate::model::{BlockNumber, Level, ProposalNumber};

impl Screen {
    pub(super) fn press_in_map(&mut self, name: &str) {
        let prefix = std::mem::take(&mut self.prefix);
        let action = match keys::action(&prefix, name) {
            Ok(Some(action)) => action,
            Ok(None) => return,
            Err(prefix) => {
                self.prefix = prefix;
                return;
            }
        };
        match self.why_disabled(action) {
            Some(why) => self.say(format!("{}: {why}", keys::key_of(action))),
            None => self.act(action),
        }
    }

    /// Returns the reason why an action is not possible now.
    pub fn why_disabled(&self, action: Action) -> Option<&'static str> {
        let needs_rows = "the window has no blocks";
        match action {
            Action::Accept | Action::Deny if self.picture.proposals.is_empty() => Some("no command of the model is pending"),
            Action::NextMatch | Action::PreviousMatch if self.matches.is_empty() => Some("nothing was searched: /"),
            Action::Level | Action::Difference if self.detail.is_none() => Some("go to a block: Enter opens a turn"),
            Action::Expand if !self.targets().iter().any(|number| self.is_short(*number)) => Some("it is not shortened"),
            Action::Compress | Action::Archive | Action::Pin | Action::Focus | Action::Mark if self.rows.is_empty() => {
                Some(needs_rows)
            }
            Action::Compress | Action::Archive | Action::Pin | Action::Focus if self.targets().is_empty() => {
                Some("a subagent has a window of its own: Enter opens it")
            }
            _ => None,
        }
    }

    pub(super) fn is_short(&self, number: BlockNumber) -> bool {
        self.picture.block(number).is_some_and(|block| block.level != Level::Original)
    }

    /// Returns the blocks that an action is about: those that are marked, or those of the row under the cursor.
    pub(super) fn targets(&self) -> Vec<BlockNumber> {
        if self.marked.is_empty() {
            return self.rows.get(self.at).map(|row| self.blocks_of(row)).unwrap_or_default();
        }
        self.marked.iter().copied().collect()
    }

    pub(super) fn act(&mut self, action: Action) {
        let page = (if self.height == 0 { PAGE_ROWS * 2 } else { self.height } / 2).max(1);
        let is_all =
            |test: &dyn Fn(&BlockRow) -> bool| self.targets().iter().filter_map(|number| self.picture.block(*number)).all(test);
        match action {
            Action::Down => self.go(self.at + 1),
            Action::Up => self.go(self.at.saturating_sub(1)),
            Action::PageDown => self.go(self.at + page),
            Action::PageUp => self.go(self.at.saturating_sub(page)),
            Action::First => self.go(0),
            Action::Last => self.go(usize::MAX),
            Action::Open => self.open(),
            Action::Form => {
                self.form = match self.form {
                    MapForm::Turns => MapForm::Size,
                    MapForm::Size => MapForm::Files,
                    MapForm::Files => MapForm::Areas,
                    MapForm::Areas => MapForm::Turns,
                };
                self.arrange();
                self.go(if self.form == MapForm::Turns { usize::MAX } else { 0 });
            }
            Action::Mark => self.mark(self.at, self.at, true),
            Action::MarkRange => match self.range_start.take() {
                None => {
                    self.range_start = Some(self.at);
                    self.say("v again marks up to there".to_owned());
                }
                Some(start) => self.mark(start.min(self.at), start.max(self.at), false),
            },
            Action::MarkSame => self.mark_same(),
            Action::Unmark => {
                self.range_start = None;
                self.unmark();
            }
            Action::Compress => self.plan("compress"),
            // Half of the window is offered.
            Action::Budget => self.ask(Purpose::Budget, &crate::engine::amount(self.picture.capacity / 2)),
            Action::Archive => self.plan("archive"),
            Action::Expand => self.plan("expand"),
            Action::Pin if is_all(&|block| block.pin.is_some()) => self.plan("unpin"),
            Action::Pin => self.plan("pin"),
            Action::Focus if is_all(&|block| block.is_focused) => self.plan("unfocus"),
            Action::Focus => self.plan("focus"),
            Action::Snapshot => self.ask(Purpose::Snapshot, ""),
            Action::Undo => self.execute(self.line(&["undo"])),
            Action::Redo => self.execute(self.line(&["redo"])),
            Action::Level => {
                let levels = self.detail.as_ref().map_or(0, |detail| detail.levels.len());
                self.level = (self.level + 1) % (levels + 1);
                self.scroll = 0;
            }
            Action::Difference => {
                self.is_difference = !self.is_difference;
                self.level = self.level.max(1);
            }
            Action::ScrollDown => self.scroll += page / 2 + 1,
            Action::ScrollUp => self.scroll = self.scroll.saturating_sub(page / 2 + 1),
            Action::Search => self.ask(Purpose::Search, ""),
            Action::SearchAll => self.ask(Purpose::SearchAll, ""),
            Action::NextMatch => self.go_to_match(true),
            Action::PreviousMatch => self.go_to_match(false),
            Action::Select => self.ask(Purpose::Select, ""),
            Action::Sessions => self.tasks.push(Task::Sessions),
            Action::Resume => self.tasks.push(Task::Leave(Some(self.picture.resume.clone()))),
            Action::Mouse => {
                self.has_mouse = !self.has_mouse;
                self.say(format!("the mouse is {}", if self.has_mouse { "on: m gives it back to the terminal" } else { "off" }));
                self.tasks.push(Task::Mouse(self.has_mouse));
            }
            Action::Command => self.ask(Purpose::Command, ""),
            Action::Accept => self.decide("approve"),
            Action::Deny => self.decide("deny"),
            Action::Help => {
                let width = keys::BINDINGS.iter().map(|binding| binding.keys.join(" ").len()).max().unwrap_or_default();
                let line = |binding: &keys::Binding| {
                    let why = self.why_disabled(binding.action).map(|why| format!("  (now not: {why})")).unwrap_or_default();
                    Entry { text: format!("{:width$}  {}{why}", binding.keys.join(" "), binding.about), ..Entry::default() }
                };
                let entries = keys::BINDINGS.iter().map(line).collect();
                self.mode = Mode::List { title: "keys".to_owned(), entries, field: Field::default(), at: 0 };
            }
            Action::Quit => self.tasks.push(Task::Leave(None)),
        }
    }

    pub(super) fn open(&mut self) {
        match self.rows.get(self.at).cloned() {
            Some(Row::Turn(at)) => {
                let turn = self.picture.turns[at].number;
                if !self.open_turns.remove(&turn) {
                    self.open_turns.insert(turn);
                }
            }
            Some(Row::File { path, .. }) if self.open_files.remove(&path) => {}
            Some(Row::File { path, .. }) => drop(self.open_files.insert(path)),
            Some(Row::Subagent(at)) => {
                return self.tasks.push(Task::Read(Some(self.picture.subagents[at].path.clone())));
            }
            // A block closes what it is in.
            Some(Row::Block(_)) => {
                let parent = (0..self.at).rev().find(|at| !matches!(self.rows[*at], Row::Block(_)));
                let Some(parent) = parent else { return };
                self.at = parent;
                return self.open();
            }
            None => {}
        }
        self.arrange();
        self.explain();
    }

    /// Marks rows; with `toggles`, unmarks them if all are marked, and continues at the next row.
    pub(super) fn mark(&mut self, first: usize, last: usize, toggles: bool) {
        let rows: Vec<Row> = self.rows.iter().take(last + 1).skip(first).cloned().collect();
        let numbers: Vec<BlockNumber> = rows.iter().flat_map(|row| self.blocks_of(row)).collect();
        self.selected = None;
        let removes = toggles && numbers.iter().all(|number| self.marked.contains(number));
        for number in numbers {
            if removes {
                self.marked.remove(&number);
            } else {
                self.marked.insert(number);
            }
        }
        if toggles {
            self.go(self.at + 1);
        }
        self.estimated();
    }

    pub(super) fn mark_same(&mut self) {
        let Some(block) = self.block_at(self.at).cloned() else { return self.mark(self.at, self.at, false) };
        let is_same = |other: &BlockRow| match block.file.is_empty() {
            true => other.sort == block.sort && other.kind == block.kind,
            false => other.file == block.file,
        };
        let same: Vec<BlockNumber> =
            self.picture.blocks.iter().filter(|other| is_same(other)).map(|other| other.number).collect();
        self.marked.extend(same);
        self.selected = None;
        self.estimated();
    }

    /// Requests the effect of compressing what is marked.
    pub(super) fn estimated(&mut self) {
        self.estimate = None;
        if self.marked.is_empty() {
            return;
        }
        let words = self.line_about("compress");
        self.estimate = Some(Plan { words: words.clone(), effect: None });
        self.tasks.push(Task::Plan(words));
    }

    /// Returns a command line about the session.
    pub(super) fn line(&self, words: &[&str]) -> Vec<String> {
        let session = ["-s", &self.picture.name];
        words.iter().chain(&session).map(|word| (*word).to_owned()).collect()
    }

    /// Returns a command line about the blocks of an action.
    pub(super) fn line_about(&self, command: &str) -> Vec<String> {
        let blocks = self.selected.clone().unwrap_or_else(|| ranges(&self.targets()));
        let words: Vec<&str> = [command, &blocks].into_iter().filter(|word| !word.is_empty()).collect();
        let mut line = self.line(&words);
        if self.picture.is_open {
            line.push("--live".to_owned());
        }
        line
    }

    pub(super) fn plan(&mut self, command: &str) {
        self.confirm(self.line_about(command));
    }

    /// Shows the effect of a command line, and asks.
    pub(super) fn confirm(&mut self, words: Vec<String>) {
        self.command = text(&words);
        let known = self.estimate.clone().filter(|plan| plan.words == words).and_then(|plan| plan.effect);
        self.mode = Mode::Confirm(Plan { words: words.clone(), effect: None });
        match known {
            Some(effect) => self.planned(words, effect),
            None => self.tasks.push(Task::Plan(words)),
        }
    }

    pub(super) fn execute(&mut self, words: Vec<String>) {
        self.command = text(&words);
        self.tasks.push(Task::Execute(words));
    }

    pub(super) fn decide(&mut self, command: &str) {
        let Some((number, _)) = self.picture.proposals.first() else { return };
        let number: ProposalNumber = *number;
        let mut line = self.line(&[command, &number.to_string()]);
        if self.picture.is_open && command == "approve" {
            line.push("--live".to_owned());
        }
        self.execute(line);
    }

    pub(super) fn planned(&mut self, words: Vec<String>, effect: Result<Effect, String>) {
        match &mut self.mode {
            Mode::Confirm(plan) if plan.words == words => {
                let why_not = match effect {
                    Ok(effect) if !effect.is_nothing => return plan.effect = Some(Ok(effect)),
                    Ok(effect) => effect.notes.into_iter().next().unwrap_or_else(|| "nothing to do".to_owned()),
                    Err(error) => error,
                };
                self.mode = Mode::Map;
                self.say(why_not);
            }
            _ => {
                if let Some(plan) = self.estimate.as_mut().filter(|plan| plan.words == words) {
                    plan.effect = Some(effect);
                }
            }
        }
    }

    pub(super) fn press_in_confirmation(&mut self, name: &str, plan: Plan) {
        match name {
            "y" if matches!(plan.effect, Some(Ok(_))) => {
                self.unmark();
                self.execute(plan.words);
            }
            "n" | "Esc" | "q" => {}
            // Also `y`, while the effect is not known yet.
            _ => self.mode = Mode::Confirm(plan),
        }
    }

    pub(super) fn executed(&mut self, words: &[String], effect: &Effect) {
        let undo = match words.first().map(String::as_str) {
            Some("undo") => "U redoes it",
            Some("approve") => "u undoes it",
            _ if effect.is_logged => "u undoes it",
            _ => "",
        };
        let (before, after) = effect.tokens;
        let saved = (before - after).round();
        let mut parts = vec![match words.first().map(String::as_str) {
            Some("undo") => "undone".to_owned(),
            Some("redo") => "redone".to_owned(),
            _ => effect.what.clone(),
        }];
        if saved != 0.0 {
            let sign = if saved > 0.0 { '−' } else { '+' };
            parts.push(format!("{sign}{}", crate::engine::amount(saved.abs() as u64)));
        }
        if self.picture.is_open && saved != 0.0 {
            parts.push("the client reads it after /resume".to_owned());
        }
        parts.push(undo.to_owned());
        parts.retain(|part| !part.is_empty());
        self.say(parts.join(" · "));
    }
}

/// Returns a command line as it is typed.
pub(super) fn text(words: &[String]) -> String {
    let quoted = words.iter().map(|word| crate::text::shell::quoted_word(word));
    std::iter::once("aperture".to_owned()).chain(quoted).collect::<Vec<_>>().join(" ")
}
