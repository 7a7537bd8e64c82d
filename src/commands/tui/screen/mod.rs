//! The state of the screen, and what each event does to it.

mod acting;
mod typing;

pub(super) use typing::{Field, shown};

use super::keys;
use super::picture::{BlockRow, Picture};
use crate::engine::{LevelPreview, plural};
use crate::model::{BlockNumber, OperationKind, texts};
use ratatui::crossterm::event::{KeyEvent, MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::{Position, Rect};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// The time after the focus returned in which keys are ignored: they were meant for another window.
const FOCUS_MILLISECONDS: u64 = 300;
const TOAST_MILLISECONDS: u64 = 8_000;
/// Rows of half a page, if the height of the map is not known.
const PAGE_ROWS: usize = 10;

texts! {
    /// The order and grouping of the map.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub(super) enum MapForm, title {
        #[default]
        Turns = "turns",
        Size = "blocks, stale and large ones first",
        Files = "files",
        Areas = "files and tools as areas, ░ stale",
    }
}

/// A row of the map: an index into the turns or blocks of the picture, or a file.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Row {
    Turn(usize),
    Block(usize),
    File {
        path: String,
        tokens: f64,
        stale_tokens: f64,
        blocks: usize,
    },
    /// A subagent that ended in the turn above it, with a window of its own.
    Subagent(usize),
}

#[derive(Clone, Debug, Default)]
pub(super) struct Detail {
    pub number: BlockNumber,
    /// Facts on a line, and reasons for its state.
    pub facts: String,
    pub reasons: Vec<String>,
    pub content: String,
    pub levels: Vec<LevelPreview>,
}

/// A change that is shown before it is carried out.
#[derive(Clone, Debug, Default)]
pub(super) struct Plan {
    pub words: Vec<String>,
    /// The result of its dry run; `None` until it is known.
    pub effect: Option<Result<Effect, String>>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Effect {
    /// The change in words, such as `12 blocks compressed`.
    pub what: String,
    pub blocks: usize,
    /// Tokens of the window before and after.
    pub tokens: (f64, f64),
    /// Dollars that each later turn saves, and that are paid once.
    pub saved_per_turn: Option<f64>,
    pub paid_now: Option<f64>,
    pub notes: Vec<String>,
    pub is_nothing: bool,
    /// True if it wrote an operation, which an undo reverts.
    pub is_logged: bool,
}

/// An entry of a list that is shown over the map.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Entry {
    pub text: String,
    pub note: String,
    /// The session file, if it is another one, and the turn.
    pub path: Option<PathBuf>,
    pub turn: u32,
}

texts! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) enum Purpose, prompt {
        Search = "search this session: ",
        SearchAll = "search all sessions: ",
        Select = "mark by a selector (stale & tool(Read)): ",
        Snapshot = "name of the snapshot: ",
        Budget = "compress the window to: ",
        Command = ":",
    }
}

/// The part of the screen that receives keys.
#[derive(Clone, Debug, Default)]
pub(super) enum Mode {
    #[default]
    Map,
    Confirm(Plan),
    Input {
        purpose: Purpose,
        field: Field,
    },
    /// Entries of which those with the typed letters are shown.
    List {
        title: String,
        entries: Vec<Entry>,
        field: Field,
        at: usize,
    },
    Text {
        title: String,
        lines: Vec<String>,
        at: usize,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Task {
    /// Read the session again; of another file if there is one.
    Read(Option<PathBuf>),
    Explain(BlockNumber),
    /// Run a command line as a dry run.
    Plan(Vec<String>),
    /// Carry a command line out.
    Execute(Vec<String>),
    /// Print the result of a command line that changes no session.
    Print(Vec<String>),
    Search {
        query: String,
        in_all: bool,
    },
    Select(String),
    Sessions,
    /// Complete the last of these words of a command line.
    Complete(Vec<String>),
    /// Take the mouse from the terminal, or give it back.
    Mouse(bool),
    /// Leave, and run this command line.
    Leave(Option<String>),
}

#[derive(Clone, Debug)]
pub(super) enum Event {
    Key(KeyEvent),
    Mouse(MouseEvent),
    /// The terminal got the focus, or lost it.
    Focus(bool),
    Resized,
    Tick,
    /// A file of the session changed.
    Touched,
    Picture(Box<Picture>),
    Explained(Box<Detail>),
    Planned(Vec<String>, Result<Effect, String>),
    Executed(Vec<String>, Result<Effect, String>),
    Printed(String, String),
    /// Turns, or sessions with their turns, that match.
    Found {
        query: String,
        in_all: bool,
        entries: Vec<Entry>,
    },
    Selected(String, Result<Vec<BlockNumber>, String>),
    Sessions(Vec<Entry>),
    Completed(Vec<String>, Vec<String>),
    Failed(String),
}

#[derive(Clone, Debug, Default)]
pub(super) struct Screen {
    pub picture: Picture,
    pub form: MapForm,
    pub rows: Vec<Row>,
    pub at: usize,
    /// Rows of the map that the terminal shows, and where each is; set when it is drawn.
    pub height: usize,
    pub places: Vec<(Rect, usize)>,
    /// True if the next picture has a change of this screen.
    is_own: bool,
    /// True if clicks are for the screen, and not for the terminal.
    has_mouse: bool,
    pub marked: BTreeSet<BlockNumber>,
    /// The selector of the marks, if they are just its blocks.
    selected: Option<String>,
    /// Effect of compressing what is marked, once it is known.
    pub estimate: Option<Plan>,
    pub detail: Option<Detail>,
    /// The level in the detail: 0 is the content as it is.
    pub level: usize,
    pub is_difference: bool,
    pub scroll: usize,
    pub mode: Mode,
    pub toast: Option<(String, u64)>,
    /// The command line of the last action.
    pub command: String,
    /// Turns that match the last search.
    pub matches: Vec<u32>,
    open_turns: BTreeSet<u32>,
    open_files: BTreeSet<String>,
    range_start: Option<usize>,
    prefix: String,
    ignored_until: u64,
    now: u64,
    /// Work for the worker that the current event requests.
    tasks: Vec<Task>,
}

impl Screen {
    /// Returns the screen of a session, with the cursor on the newest turn.
    pub fn new(picture: Picture) -> Screen {
        let mut screen = Screen { picture, ..Screen::default() };
        screen.arrange();
        screen.at = screen.rows.iter().rposition(|row| matches!(row, Row::Turn(_))).unwrap_or_default();
        screen
    }

    /// Returns the time at which the screen changes by itself, in milliseconds of its clock.
    pub fn wakes_at(&self) -> Option<u64> {
        self.toast.as_ref().map(|(_, until)| *until)
    }

    /// Changes the state by an event at a time in milliseconds, and returns work for the worker.
    pub fn update(&mut self, event: Event, now: u64) -> Vec<Task> {
        self.now = now;
        if self.toast.as_ref().is_some_and(|(_, until)| *until <= now) {
            self.toast = None;
        }
        match event {
            Event::Key(key) if now < self.ignored_until && keys::name(&key) != "Ctrl-c" => {}
            Event::Key(key) => self.press(&key),
            Event::Mouse(mouse) => self.click(mouse),
            Event::Focus(is_here) => self.ignored_until = if is_here { now + FOCUS_MILLISECONDS } else { 0 },
            Event::Resized | Event::Tick => {}
            Event::Touched => self.tasks.push(Task::Read(None)),
            Event::Picture(picture) => self.show(*picture),
            Event::Explained(detail) => {
                let is_shown = self.block_at(self.at).is_some_and(|block| block.number == detail.number);
                if is_shown {
                    self.level = self.level.min(detail.levels.len());
                    self.detail = Some(*detail);
                }
            }
            Event::Planned(words, effect) => self.planned(words, effect),
            Event::Executed(words, effect) => {
                self.is_own = true;
                match effect {
                    Ok(effect) => self.executed(&words, &effect),
                    Err(error) => self.say(error),
                }
                self.tasks.push(Task::Read(None));
            }
            Event::Printed(title, text) => {
                let lines = text.lines().map(str::to_owned).collect();
                self.mode = Mode::Text { title, lines, at: 0 };
            }
            Event::Found { query, in_all, entries } => self.found(&query, in_all, entries),
            Event::Selected(text, Ok(numbers)) => {
                self.say(format!("{} match {text}", plural(numbers.len(), "block")));
                let was_empty = self.marked.is_empty();
                self.marked.extend(numbers.into_iter().filter(|number| self.picture.block(*number).is_some()));
                self.selected = Some(text).filter(|_| was_empty);
                self.estimated();
            }
            Event::Selected(_, Err(error)) | Event::Failed(error) => self.say(error),
            Event::Completed(words, candidates) => self.completed(&words, &candidates),
            Event::Sessions(entries) => {
                self.mode = Mode::List { title: "sessions".to_owned(), entries, field: Field::default(), at: 0 };
            }
        }
        std::mem::take(&mut self.tasks)
    }

    /// Shows a new state of the session; the cursor, the marks and what is open stay.
    fn show(&mut self, picture: Picture) {
        let is_other = picture.path != self.picture.path;
        let before = self.rows.get(self.at).cloned();
        let key = before.as_ref().map(|row| self.key(row));
        let was_last = self.at + 1 >= self.rows.len();
        let added = picture.tokens - self.picture.tokens;
        let is_newer = picture.blocks.last().map(|block| block.number) > self.picture.blocks.last().map(|block| block.number);
        let newest = |picture: &Picture| picture.newest_operation.as_ref().map(|(id, ..)| *id);
        let is_told = std::mem::take(&mut self.is_own) || newest(&picture) <= newest(&self.picture);
        self.picture = picture;
        if is_other {
            *self = Screen { height: self.height, now: self.now, ..Screen::new(std::mem::take(&mut self.picture)) };
            return self.explain();
        }
        self.marked.retain(|number| self.picture.block(*number).is_some());
        self.arrange();
        let place = self.rows.iter().position(|row| Some(self.key(row)) == key);
        self.at = if was_last { usize::MAX } else { place.unwrap_or(self.at) }.min(self.rows.len().saturating_sub(1));
        if let Some((_, kind, what)) = self.picture.newest_operation.clone().filter(|_| !is_told) {
            let (action, does) =
                if kind == OperationKind::Undo { (keys::Action::Redo, "redoes") } else { (keys::Action::Undo, "undoes") };
            self.say(format!("{what} · {} {does} it", keys::key_of(action)));
        } else if is_newer && self.toast.is_none() {
            let sign = if added < 0.0 { '−' } else { '+' };
            self.say(format!("new blocks: {sign}{}", crate::engine::amount(added.abs().round() as u64)));
        }
        self.detail = None;
        self.explain();
    }

    fn key(&self, row: &Row) -> (u32, BlockNumber, String) {
        match row {
            Row::Turn(at) => (self.picture.turns[*at].number, 0, String::new()),
            Row::Block(at) => (0, self.picture.blocks[*at].number, String::new()),
            Row::File { path, .. } => (0, 0, path.clone()),
            Row::Subagent(at) => (0, 0, self.picture.subagents[*at].path.to_string_lossy().into_owned()),
        }
    }

    fn arrange(&mut self) {
        let picture = &self.picture;
        self.rows = match self.form {
            MapForm::Turns => {
                let blocks = |turn: u32| {
                    let is_open = self.open_turns.contains(&turn);
                    let first = picture.blocks.partition_point(|block| block.turn < turn);
                    let of_turn = (first..picture.blocks.len()).take_while(move |at| picture.blocks[*at].turn == turn);
                    of_turn.filter(move |_| is_open).map(Row::Block)
                };
                let turns = picture.turns.iter().enumerate();
                let subagents = |turn: u32| {
                    let ended = move |at: &usize| picture.subagents[*at].turn == turn;
                    (0..picture.subagents.len()).filter(ended).map(Row::Subagent)
                };
                let below = |turn: u32| blocks(turn).chain(subagents(turn));
                turns.flat_map(|(at, turn)| std::iter::once(Row::Turn(at)).chain(below(turn.number))).collect()
            }
            MapForm::Size => {
                let mut places: Vec<usize> = (0..picture.blocks.len()).collect();
                let rank = |at: &usize| (picture.blocks[*at].is_stale(), picture.blocks[*at].tokens);
                places.sort_by(|a, b| rank(b).partial_cmp(&rank(a)).unwrap_or(std::cmp::Ordering::Equal));
                places.into_iter().map(Row::Block).collect()
            }
            MapForm::Files | MapForm::Areas => {
                let is_areas = self.form == MapForm::Areas;
                let mut files: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
                let wanted = |block: &BlockRow| is_areas || !block.file.is_empty();
                for (at, block) in picture.blocks.iter().enumerate().filter(|(_, block)| wanted(block)) {
                    files.entry(block.subject()).or_default().push(at);
                }
                let sum = |places: &[usize], of: &dyn Fn(&BlockRow) -> bool| -> f64 {
                    places.iter().map(|at| &picture.blocks[*at]).filter(|block| of(block)).map(|block| block.tokens).sum()
                };
                let mut files: Vec<(f64, &str, Vec<usize>)> =
                    files.into_iter().map(|(path, places)| (sum(&places, &|_| true), path, places)).collect();
                files.sort_by(|a, b| b.0.total_cmp(&a.0));
                let rows = files.into_iter().flat_map(|(tokens, path, places)| {
                    let stale_tokens = sum(&places, &BlockRow::is_stale);
                    let file = Row::File { path: path.to_owned(), tokens, stale_tokens, blocks: places.len() };
                    let is_open = !is_areas && self.open_files.contains(path);
                    std::iter::once(file).chain(places.into_iter().filter(move |_| is_open).map(Row::Block))
                });
                rows.collect()
            }
        };
        self.at = self.at.min(self.rows.len().saturating_sub(1));
    }

    pub fn block_at(&self, at: usize) -> Option<&BlockRow> {
        match self.rows.get(at)? {
            Row::Block(at) => self.picture.blocks.get(*at),
            _ => None,
        }
    }

    fn blocks_of(&self, row: &Row) -> Vec<BlockNumber> {
        let of = |is_in: &dyn Fn(&BlockRow) -> bool| {
            self.picture.blocks.iter().filter(|block| is_in(block)).map(|block| block.number).collect()
        };
        match row {
            Row::Block(at) => vec![self.picture.blocks[*at].number],
            Row::Turn(at) => of(&|block| block.turn == self.picture.turns[*at].number),
            Row::File { path, .. } => of(&|block| block.subject() == path),
            Row::Subagent(_) => Vec::new(),
        }
    }

    /// Returns how many blocks of a row are marked, and how many it has.
    pub fn marked_of(&self, row: &Row) -> (usize, usize) {
        let blocks = self.blocks_of(row);
        (blocks.iter().filter(|number| self.marked.contains(number)).count(), blocks.len())
    }

    fn unmark(&mut self) {
        self.marked.clear();
        (self.selected, self.estimate) = (None, None);
    }

    pub fn marked_tokens(&self) -> f64 {
        self.marked.iter().filter_map(|number| self.picture.block(*number)).map(|block| block.tokens).sum()
    }

    fn say(&mut self, text: String) {
        self.toast = Some((text, self.now + TOAST_MILLISECONDS));
    }

    /// Requests the detail of the row under the cursor.
    fn explain(&mut self) {
        let number = self.block_at(self.at).map(|block| block.number);
        if self.detail.as_ref().map(|detail| detail.number) == number {
            return;
        }
        (self.detail, self.level, self.scroll) = (None, 0, 0);
        self.tasks.extend(number.map(Task::Explain));
    }

    fn go(&mut self, at: usize) {
        self.at = at.min(self.rows.len().saturating_sub(1));
        self.explain();
    }

    /// Goes to the row of a click, and opens it if it is there already; the wheel moves by rows.
    fn click(&mut self, mouse: MouseEvent) {
        if !matches!(self.mode, Mode::Map) {
            return;
        }
        match mouse.kind {
            MouseEventKind::ScrollDown => self.go(self.at + 3),
            MouseEventKind::ScrollUp => self.go(self.at.saturating_sub(3)),
            MouseEventKind::Down(MouseButton::Left) => {
                let position = Position::new(mouse.column, mouse.row);
                match self.places.iter().find(|(place, _)| place.contains(position)) {
                    Some((_, at)) if *at == self.at => self.act(keys::Action::Open),
                    Some((_, at)) => self.go(*at),
                    None => {}
                }
            }
            _ => {}
        }
    }

    fn press(&mut self, key: &KeyEvent) {
        let name = keys::name(key);
        if name == "Ctrl-c" {
            return self.tasks.push(Task::Leave(None));
        }
        match std::mem::take(&mut self.mode) {
            Mode::Map => self.press_in_map(&name),
            Mode::Confirm(plan) => self.press_in_confirmation(&name, plan),
            Mode::Input { purpose, field } => self.type_in(key, purpose, field),
            Mode::List { title, entries, field, at } => self.press_in_list(key, title, entries, field, at),
            Mode::Text { title, lines, at } => {
                let page = self.height.max(PAGE_ROWS) / 2;
                let most = lines.len().saturating_sub(1);
                let at = match &*name {
                    "j" | "Down" | "Enter" => at + 1,
                    "k" | "Up" => at.saturating_sub(1),
                    "Space" | "PageDown" | "Ctrl-d" => at + page,
                    "PageUp" | "Ctrl-u" => at.saturating_sub(page),
                    "G" | "End" => most,
                    "Home" => 0,
                    "q" | "Esc" | "?" => return,
                    _ => at,
                };
                self.mode = Mode::Text { title, lines, at: at.min(most) };
            }
        }
    }
}

impl BlockRow {
    pub fn is_stale(&self) -> bool {
        self.state == crate::model::State::Stale
    }

    /// Returns the file that it is about, or else its tool or kind.
    pub fn subject(&self) -> &str {
        if self.file.is_empty() { &self.sort } else { &self.file }
    }
}
