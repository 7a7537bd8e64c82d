//! Requests of the model: commands in its text and tool calls become actions, and the policy finds their verb and blocks here.

use crate::commands::memory::{self, Action, AddArguments, ReviewArguments};
use crate::commands::request::{Change, Other, Read, Request};
use crate::commands::{BulkOptions, ChangeOptions, archive, compress, create, expand, focus, housekeeping, pin, recall, update};
use crate::engine::Selector;
use crate::engine::memory::markdown::parse_name;
use crate::engine::model_commands::{ModelCommand, Named};
use crate::model::{Level, Pin, Verb};

/// An action that the model can request: it has a verb, by which the policy decides about it.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelAction {
    /// Searches the removed content, and restores it if that is cheaper.
    Recall(recall::Arguments),
    Change(Change),
    Memory(memory::Arguments),
}

impl From<&ModelCommand> for ModelAction {
    /// Returns the action that a command in the model's text requests.
    fn from(command: &ModelCommand) -> ModelAction {
        let names = command.blocks.iter().map(|(Named::Selector(name) | Named::Words(name))| name.as_str());
        if let Some(memory) = about_memories(command.verb, names, &command.text, false) {
            return ModelAction::Memory(memory);
        }
        let (selector, options) = (vec![command.selector()], ChangeOptions::default());
        ModelAction::Change(match command.verb {
            Verb::Recall => {
                let blocks = || recall::Arguments::new(query(command));
                return ModelAction::Recall(command.turns.as_ref().map_or_else(blocks, recall::Arguments::of_turns));
            }
            Verb::Expand => {
                let level = command.level.filter(|level| *level != Level::Original);
                Change::Expand(expand::Arguments { selector, level, options })
            }
            Verb::Compress => {
                Change::Compress(compress::Arguments { selector, level: command.level, ..compress::Arguments::default() })
            }
            Verb::Archive => Change::Archive(archive::Arguments {
                selector,
                reason: command.reason.clone(),
                options,
                bulk: BulkOptions::default(),
            }),
            Verb::Pin => {
                let (top, bottom) = (command.pin == Pin::Top, command.pin == Pin::Bottom);
                Change::Pin(pin::Arguments { selector, top, bottom, always: false, in_project: false, options })
            }
            Verb::Unpin => Change::Unpin(pin::UnpinArguments { selector, always: false, in_project: false, options }),
            // Blocks that the user selected stay selected.
            Verb::Focus => Change::Focus(focus::Arguments { selector, add: true, options }),
            Verb::Unfocus => Change::Unfocus(focus::UnfocusArguments { selector, options }),
            Verb::Update => {
                Change::Update(update::Arguments { selector: command.selector(), text: command.text.clone(), options })
            }
            Verb::Create => Change::Create(create::Arguments { text: command.text.clone(), options }),
            Verb::Housekeeping => {
                let words = command.housekeeping.as_deref().cloned().unwrap_or_default();
                Change::Housekeeping(housekeeping::Arguments::new(&words))
            }
        })
    }
}

/// The first word of a note that becomes a memory.
const LEARNED: &str = "learned:";

/// Returns the change of memories that a command of the model requests: a note that begins with `learned:`, or an update or an archive
/// of entries by their names, such as `memory-12`; `None` if it is about the session.
fn about_memories<'a>(verb: Verb, names: impl Iterator<Item = &'a str>, text: &str, dry_run: bool) -> Option<memory::Arguments> {
    let names: Vec<String> =
        names.flat_map(|name| name.split([',', '|'])).map(|name| name.trim().trim_matches('"').to_owned()).collect();
    let is_memory = !names.is_empty() && names.iter().all(|name| parse_name(name).is_some());
    let action = match (verb, names.as_slice()) {
        (Verb::Create, _) => {
            let start = text.trim_start();
            let learned = start.get(..LEARNED.len()).filter(|word| word.eq_ignore_ascii_case(LEARNED))?;
            let text = start[learned.len()..].trim().to_owned();
            Action::Add(AddArguments { text, dry_run, ..AddArguments::default() })
        }
        (Verb::Update, [id]) if is_memory => Action::Edit { id: id.clone(), text: Some(text.to_owned()), file: None, dry_run },
        (Verb::Archive, _) if is_memory => {
            Action::Review(ReviewArguments { reject: names, dry_run, ..ReviewArguments::default() })
        }
        _ => return None,
    };
    Some(memory::Arguments { project: None, action: Some(action) })
}

/// Returns the query of a recall. Words that are also a selector are quoted, so that they are searched for.
fn query(command: &ModelCommand) -> String {
    let words = command.blocks.iter().find_map(|named| match named {
        Named::Words(words) => Some(words),
        Named::Selector(_) => None,
    });
    match words {
        Some(words) if Selector::parse(words).is_ok() => format!("\"{words}\""),
        Some(words) => words.clone(),
        None => command.selector(),
    }
}

impl ModelAction {
    /// Returns the action of a request and its verb; `None` if the model has no such command. `compress` is one only with a selector
    /// and a level: other options select blocks that the model did not name.
    pub fn from_request(request: &Request) -> Option<(Verb, ModelAction)> {
        let action = match request.clone() {
            Request::Read(Read::Recall(arguments)) | Request::Change(Change::Recall(arguments)) => ModelAction::Recall(arguments),
            Request::Change(change) => ModelAction::Change(change),
            Request::Other(Other::Memory(arguments)) => ModelAction::Memory(arguments),
            _ => return None,
        };
        let verb = action.verb()?;
        let memory = match &action {
            ModelAction::Change(Change::Create(create::Arguments { text, options })) => {
                about_memories(verb, [].into_iter(), text, options.dry_run)
            }
            ModelAction::Change(Change::Update(update::Arguments { selector, text, options })) => {
                about_memories(verb, [selector.as_str()].into_iter(), text, options.dry_run)
            }
            ModelAction::Change(Change::Archive(archive::Arguments { selector, options, .. })) => {
                about_memories(verb, selector.iter().map(String::as_str), "", options.dry_run)
            }
            _ => None,
        };
        Some((verb, memory.map_or(action, ModelAction::Memory)))
    }

    fn verb(&self) -> Option<Verb> {
        Some(match self {
            ModelAction::Recall(_) => Verb::Recall,
            ModelAction::Change(change) => match change {
                Change::Expand(_) => Verb::Expand,
                Change::Compress(arguments) if arguments.is_by_name() => Verb::Compress,
                Change::Archive(_) => Verb::Archive,
                Change::Pin(_) => Verb::Pin,
                Change::Unpin(_) => Verb::Unpin,
                Change::Focus(_) => Verb::Focus,
                Change::Unfocus(_) => Verb::Unfocus,
                Change::Update(_) => Verb::Update,
                Change::Create(_) => Verb::Create,
                Change::Housekeeping(_) => Verb::Housekeeping,
                _ => return None,
            },
            ModelAction::Memory(arguments) => match arguments.action.as_ref()? {
                Action::Add(_) => Verb::Create,
                Action::Edit { text: Some(_), .. } => Verb::Update,
                Action::Review(review) if !review.reject.is_empty() => Verb::Archive,
                _ => return None,
            },
        })
    }

    /// Returns the selectors of the blocks; none if the action names no blocks, as a search.
    pub fn blocks(&self) -> &[String] {
        match self {
            ModelAction::Recall(arguments) if arguments.selector().is_some() => &arguments.query,
            ModelAction::Change(Change::Update(update::Arguments { selector, .. })) => std::slice::from_ref(selector),
            ModelAction::Change(
                Change::Compress(compress::Arguments { selector, .. })
                | Change::Expand(expand::Arguments { selector, .. })
                | Change::Archive(archive::Arguments { selector, .. })
                | Change::Pin(pin::Arguments { selector, .. })
                | Change::Unpin(pin::UnpinArguments { selector, .. })
                | Change::Focus(focus::Arguments { selector, .. })
                | Change::Unfocus(focus::UnfocusArguments { selector, .. }),
            ) => selector,
            _ => &[],
        }
    }

    pub fn with_blocks(mut self, blocks: String) -> ModelAction {
        match &mut self {
            ModelAction::Change(Change::Update(update::Arguments { selector, .. })) => *selector = blocks,
            ModelAction::Recall(recall::Arguments { query: selector, turns: None, .. })
            | ModelAction::Change(
                Change::Compress(compress::Arguments { selector, .. })
                | Change::Expand(expand::Arguments { selector, .. })
                | Change::Archive(archive::Arguments { selector, .. })
                | Change::Pin(pin::Arguments { selector, .. })
                | Change::Unpin(pin::UnpinArguments { selector, .. })
                | Change::Focus(focus::Arguments { selector, .. })
                | Change::Unfocus(focus::UnfocusArguments { selector, .. }),
            ) => *selector = vec![blocks],
            _ => {}
        }
        self
    }

    /// Returns the action about a turn, if it is about one and names none.
    pub fn in_turn(mut self, turn: u32) -> ModelAction {
        if let ModelAction::Change(Change::Housekeeping(arguments)) = &mut self {
            arguments.turn.get_or_insert(turn);
        }
        self
    }

    pub fn with_options(mut self, wanted: ChangeOptions) -> ModelAction {
        match &mut self {
            ModelAction::Recall(arguments) => arguments.options = wanted,
            ModelAction::Change(change) => *change.options_mut() = wanted,
            ModelAction::Memory(memory::Arguments {
                action:
                    Some(
                        Action::Add(AddArguments { dry_run, .. })
                        | Action::Edit { dry_run, .. }
                        | Action::Review(ReviewArguments { dry_run, .. }),
                    ),
                ..
            }) => *dry_run = wanted.dry_run,
            ModelAction::Memory(_) => {}
        }
        self
    }
}

impl From<ModelAction> for Request {
    fn from(action: ModelAction) -> Request {
        match action {
            ModelAction::Recall(arguments) => Request::Read(Read::Recall(arguments)),
            ModelAction::Change(change) => Request::Change(change),
            ModelAction::Memory(arguments) => Request::Other(Other::Memory(arguments)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::CommandLine;
    use crate::engine::model_commands::read;

    /// Each command in the model's text with each of its arguments, and the command line that means the same.
    const EQUAL: &[(&str, &[&str])] = &[
        ("@expand(3..9, 12)", &["expand", "3..9|12"]),
        ("@expand(3, original)", &["expand", "3"]),
        ("@expand(3, trimmed)", &["expand", "3", "--level", "trimmed"]),
        ("@recall(3..9, 12)", &["recall", "3..9|12"]),
        ("@recall(\"how are tokens refreshed\")", &["recall", "how are tokens refreshed"]),
        ("@recall(\"stale\")", &["recall", "\"stale\""]),
        ("@recall(turns 3,7..9, summary)", &["recall", "--turns", "3,7..9", "--as", "summary"]),
        ("@recall(turn 3)", &["recall", "--turns", "3", "--as", "mixed"]),
        (
            "@recall(turns 3.., full, specific, \"retry policy\")",
            &["recall", "--turns", "3..", "--as", "full", "--priority", "specific", "retry policy"],
        ),
        ("@compress(stale)", &["compress", "stale"]),
        ("@compress(3, minimal)", &["compress", "3", "--level", "minimal"]),
        ("@archive(3..9, reason: auth is done)", &["archive", "3..9", "--reason", "auth is done"]),
        ("@pin(12)", &["pin", "12"]),
        ("@pin(12, top)", &["pin", "12", "--top"]),
        ("@pin(12, bottom)", &["pin", "12", "--bottom"]),
        ("@unpin(pinned)", &["unpin", "pinned"]),
        ("@focus(12..14)", &["focus", "12..14", "--add"]),
        ("@unfocus(12)", &["unfocus", "12"]),
        ("@update(12, \"the plan\")", &["update", "12", "the plan"]),
        ("@create(\"make db starts it\")", &["create", "make db starts it"]),
        (
            "```aperture\n{\"housekeeping\": {\"response_header\": \"db starts\"}}\n```",
            &["housekeeping", "{\"response_header\":\"db starts\"}"],
        ),
    ];

    #[test]
    fn commands_in_text_are_command_lines() {
        for (text, words) in EQUAL {
            let action = ModelAction::from(&read(text).unwrap_or_else(|| panic!("{text}")));
            let line = CommandLine::try_parse_from(["aperture"].iter().chain(*words)).unwrap();
            let (verb, of_line) = ModelAction::from_request(&line.request.unwrap()).unwrap();
            assert_eq!((verb.name(), &of_line), (words[0], &action), "{text}");
            assert_eq!(ModelAction::from_request(&action.clone().into()), Some((verb, action)), "{text}");
        }
        for verb in Verb::ALL {
            assert!(EQUAL.iter().any(|(_, words)| words[0] == verb.name()), "no case of @{}", verb.name());
        }
    }

    #[test]
    fn commands_about_memories_are_command_lines() {
        let equal: &[(&str, &str, &[&str])] = &[
            ("@create(\"Learned: the linter needs the network\")", "create", &["add", "the linter needs the network"]),
            ("@update(memory-12, \"Use pnpm 9.\")", "update", &["edit", "memory-12", "Use pnpm 9."]),
            ("@archive(memory-12)", "archive", &["review", "--reject", "memory-12"]),
            (
                "@archive(memory-12, user-3, reason: it moved)",
                "archive",
                &["review", "--reject", "memory-12", "--reject", "user-3"],
            ),
        ];
        for (text, verb, words) in equal {
            let action = ModelAction::from(&read(text).unwrap_or_else(|| panic!("{text}")));
            let line = CommandLine::try_parse_from(["aperture", "memory"].iter().chain(*words)).unwrap();
            let (verb_of_line, of_line) = ModelAction::from_request(&line.request.unwrap()).unwrap();
            assert_eq!((verb_of_line.name(), &of_line), (*verb, &action), "{text}");
            assert!(action.blocks().is_empty());
        }
        for (text, is_memory) in [("learned: a", true), ("a: learned", false), ("", false), ("learned", false), ("é", false)] {
            let options = ChangeOptions::default();
            let request = Request::Change(Change::Create(create::Arguments { text: text.to_owned(), options }));
            let (_, action) = ModelAction::from_request(&request).unwrap();
            assert_eq!(matches!(action, ModelAction::Memory(_)), is_memory, "{text}");
        }
        for text in ["@archive(memory-12, 3..9)", "@update(memory-0, \"x\")", "@archive(memory)"] {
            assert!(!matches!(ModelAction::from(&read(text).unwrap()), ModelAction::Memory(_)), "{text}");
        }
    }

    #[test]
    fn blocks_are_replaced() {
        for (text, words) in EQUAL {
            let action = ModelAction::from(&read(text).unwrap());
            let [blocks] = action.blocks() else { continue };
            assert_eq!(blocks, words[1], "{text}");
            assert_eq!(action.with_blocks("7".to_owned()).blocks(), ["7"], "{text}");
        }
    }
}
