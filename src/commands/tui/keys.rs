//! The keys of the map, in one table: what a key does, its help, and when it is disabled.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// The effect of a key in the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Down,
    Up,
    PageDown,
    PageUp,
    First,
    Last,
    Open,
    Form,
    Mark,
    MarkRange,
    MarkSame,
    Unmark,
    Compress,
    Budget,
    Archive,
    Expand,
    Pin,
    Focus,
    Snapshot,
    Undo,
    Redo,
    Level,
    Difference,
    ScrollDown,
    ScrollUp,
    Search,
    SearchAll,
    NextMatch,
    PreviousMatch,
    Select,
    Sessions,
    Resume,
    Mouse,
    Command,
    Accept,
    Deny,
    Help,
    Quit,
}

/// A row of the table of keys.
pub(super) struct Binding {
    /// Names of keys, the shown one first.
    pub keys: &'static [&'static str],
    pub action: Action,
    pub about: &'static str,
}

const fn binding(keys: &'static [&'static str], action: Action, about: &'static str) -> Binding {
    Binding { keys, action, about }
}

pub(super) static BINDINGS: &[Binding] = &[
    binding(&["j", "Down"], Action::Down, "next row"),
    binding(&["k", "Up"], Action::Up, "previous row"),
    binding(&["Ctrl-d", "PageDown"], Action::PageDown, "half a page down"),
    binding(&["Ctrl-u", "PageUp"], Action::PageUp, "half a page up"),
    binding(&["gg", "Home"], Action::First, "first row"),
    binding(&["G", "End"], Action::Last, "last row"),
    binding(&["Enter", "Right", "Left"], Action::Open, "open or close a turn or a file"),
    binding(&["Tab"], Action::Form, "the map by turns, stale and large blocks first, by file, or as areas"),
    binding(&["Space"], Action::Mark, "mark or unmark a row, and go to the next"),
    binding(&["v"], Action::MarkRange, "mark from here to where v is pressed again"),
    binding(&["*"], Action::MarkSame, "mark all of the same file, or of the same tool"),
    binding(&["Esc"], Action::Unmark, "take all marks away"),
    binding(&["c"], Action::Compress, "compress what is marked, or this row"),
    binding(&["b"], Action::Budget, "compress the window to a number of tokens"),
    binding(&["a"], Action::Archive, "archive it: a line of it stays"),
    binding(&["e"], Action::Expand, "expand it to the original"),
    binding(&["p"], Action::Pin, "pin it, or unpin it"),
    binding(&["f"], Action::Focus, "focus it, or end the focus"),
    binding(&["s"], Action::Snapshot, "name this state, to restore it later"),
    binding(&["u"], Action::Undo, "undo the last change, at once"),
    binding(&["U"], Action::Redo, "redo it, at once"),
    binding(&["l"], Action::Level, "the block at the next level"),
    binding(&["d"], Action::Difference, "that level as a difference"),
    binding(&["J"], Action::ScrollDown, "the block further down"),
    binding(&["K"], Action::ScrollUp, "the block further up"),
    binding(&["/"], Action::Search, "search this session"),
    binding(&["g/"], Action::SearchAll, "search all sessions"),
    binding(&["n"], Action::NextMatch, "next match"),
    binding(&["N"], Action::PreviousMatch, "previous match"),
    binding(&["="], Action::Select, "mark by a selector: stale & tool(Read); Tab completes it"),
    binding(&["o"], Action::Sessions, "another session"),
    binding(&["r"], Action::Resume, "leave, and resume the session in its client"),
    binding(&["m"], Action::Mouse, "the mouse on or off: a click goes to a row, a second one opens it"),
    binding(&[":"], Action::Command, "any aperture command"),
    binding(&["y"], Action::Accept, "accept the first wish of the model"),
    binding(&["x"], Action::Deny, "deny it"),
    binding(&["?"], Action::Help, "these keys"),
    binding(&["q", "Ctrl-c"], Action::Quit, "leave"),
];

/// The first key of those that are two.
const PREFIX: &str = "g";

/// Returns the action of a key; `Err` with the prefix if it is the first of two keys.
pub(super) fn action(prefix: &str, key: &str) -> Result<Option<Action>, String> {
    let name = format!("{prefix}{key}");
    let found = BINDINGS.iter().find(|binding| binding.keys.contains(&&*name)).map(|binding| binding.action);
    if found.is_none() && prefix.is_empty() && key == PREFIX { Err(name) } else { Ok(found) }
}

pub(super) fn key_of(action: Action) -> &'static str {
    BINDINGS.iter().find(|binding| binding.action == action).map_or("", |binding| binding.keys[0])
}

pub(super) fn name(key: &KeyEvent) -> String {
    let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
    match key.code {
        KeyCode::Char(' ') => "Space".to_owned(),
        KeyCode::Char(c) if is_control => format!("Ctrl-{c}"),
        KeyCode::Char(c) => c.to_string(),
        KeyCode::Enter => "Enter".to_owned(),
        KeyCode::Tab => "Tab".to_owned(),
        KeyCode::Esc => "Esc".to_owned(),
        KeyCode::Backspace => "Backspace".to_owned(),
        KeyCode::Delete => "Delete".to_owned(),
        KeyCode::Up => "Up".to_owned(),
        KeyCode::Down => "Down".to_owned(),
        KeyCode::Left => "Left".to_owned(),
        KeyCode::Right => "Right".to_owned(),
        KeyCode::Home => "Home".to_owned(),
        KeyCode::End => "End".to_owned(),
        KeyCode::PageUp => "PageUp".to_owned(),
        KeyCode::PageDown => "PageDown".to_owned(),
        _ => String::new(),
    }
}
