//! Requests of the model: commands in its text become requests, and the policy finds their verb and blocks here.

use super::memory::{self, Action, AddArguments, ReviewArguments};
use super::{BulkOptions, ChangeOptions, Request, archive, compress, create, expand, focus, pin, recall, update};
use crate::engine::Selector;
use crate::engine::memory::markdown::parse_name;
use crate::engine::model_commands::{ModelCommand, Named};
use crate::model::{Level, Pin, Verb};

impl From<&ModelCommand> for Request {
    /// Returns the request that a command in the model's text asks for.
    fn from(command: &ModelCommand) -> Request {
        let names = command.blocks.iter().map(|(Named::Selector(name) | Named::Words(name))| name.as_str());
        if let Some(request) = about_memories(command.verb, names, &command.text) {
            return request;
        }
        let (selector, options) = (vec![command.selector()], ChangeOptions::default());
        match command.verb {
            Verb::Expand => {
                let level = command.level.filter(|level| *level != Level::Original);
                Request::Expand(expand::Arguments { selector, level, options })
            }
            Verb::Recall => Request::Recall(recall::Arguments::new(query(command))),
            Verb::Compress => {
                Request::Compress(compress::Arguments { selector, level: command.level, ..compress::Arguments::default() })
            }
            Verb::Archive => Request::Archive(archive::Arguments {
                selector,
                reason: command.reason.clone(),
                options,
                bulk: BulkOptions::default(),
            }),
            Verb::Pin => {
                let (top, bottom) = (command.pin == Pin::Top, command.pin == Pin::Bottom);
                Request::Pin(pin::Arguments { selector, top, bottom, options })
            }
            Verb::Unpin => Request::Unpin(pin::UnpinArguments { selector, options }),
            // Blocks that the user selected stay selected.
            Verb::Focus => Request::Focus(focus::Arguments { selector, add: true, options }),
            Verb::Unfocus => Request::Unfocus(focus::UnfocusArguments { selector, options }),
            Verb::Update => {
                Request::Update(update::Arguments { selector: command.selector(), text: command.text.clone(), options })
            }
            Verb::Create => Request::Create(create::Arguments { text: command.text.clone(), options }),
        }
    }
}

/// The first word of a note that becomes a memory.
const LEARNED: &str = "learned:";

/// Returns the request about memories that a command of the model asks for: a note that begins with `learned:`, or an update or an archive
/// of entries by their names, such as `memory-12`; `None` if it is about the session.
fn about_memories<'a>(verb: Verb, names: impl Iterator<Item = &'a str>, text: &str) -> Option<Request> {
    let names: Vec<String> =
        names.flat_map(|name| name.split([',', '|'])).map(|name| name.trim().trim_matches('"').to_owned()).collect();
    let is_memory = !names.is_empty() && names.iter().all(|name| parse_name(name).is_some());
    let action = match (verb, names.as_slice()) {
        (Verb::Create, _) => {
            let start = text.trim_start();
            let learned = start.get(..LEARNED.len()).filter(|word| word.eq_ignore_ascii_case(LEARNED))?;
            let text = start[learned.len()..].trim().to_owned();
            Action::Add(AddArguments { text, ..AddArguments::default() })
        }
        (Verb::Update, [id]) if is_memory => {
            Action::Edit { id: id.clone(), text: Some(text.to_owned()), file: None, dry_run: false }
        }
        (Verb::Archive, _) if is_memory => Action::Review(ReviewArguments { reject: names, ..ReviewArguments::default() }),
        _ => return None,
    };
    Some(Request::Memory(memory::Arguments { project: None, action: Some(action) }))
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

impl Request {
    /// Returns the request about memories for a request that names them as blocks, or for a note that begins with `learned:`; any
    /// other request is returned as it is.
    pub fn or_about_memories(self) -> Request {
        let (verb, text) = match &self {
            Request::Create(arguments) => (Verb::Create, arguments.text.as_str()),
            Request::Update(arguments) => (Verb::Update, arguments.text.as_str()),
            Request::Archive(_) => (Verb::Archive, ""),
            _ => return self,
        };
        let dry_run = match &self {
            Request::Create(create::Arguments { options, .. })
            | Request::Update(update::Arguments { options, .. })
            | Request::Archive(archive::Arguments { options, .. }) => options.dry_run,
            _ => false,
        };
        let request = about_memories(verb, self.blocks().iter().map(String::as_str), text);
        request.map_or(self, |request| request.with_options(ChangeOptions { dry_run, ..ChangeOptions::default() }))
    }

    /// Returns the verb by which the policy decides about the request; `None` if the model has no such command. `compress` has it
    /// only with a selector and a level: other options select blocks that the model did not name.
    pub fn verb(&self) -> Option<Verb> {
        Some(match self {
            Request::Expand(_) => Verb::Expand,
            Request::Recall(_) => Verb::Recall,
            Request::Compress(arguments) if arguments.is_by_name() => Verb::Compress,
            Request::Archive(_) => Verb::Archive,
            Request::Pin(_) => Verb::Pin,
            Request::Unpin(_) => Verb::Unpin,
            Request::Focus(_) => Verb::Focus,
            Request::Unfocus(_) => Verb::Unfocus,
            Request::Update(_) => Verb::Update,
            Request::Create(_) => Verb::Create,
            Request::Memory(arguments) => match arguments.action.as_ref()? {
                Action::Add(_) => Verb::Create,
                Action::Edit { text: Some(_), .. } => Verb::Update,
                Action::Review(review) if !review.reject.is_empty() => Verb::Archive,
                _ => return None,
            },
            _ => return None,
        })
    }

    /// Returns the selectors of the blocks; none if the request names no blocks, as a search.
    pub fn blocks(&self) -> &[String] {
        match self {
            Request::Recall(arguments) if arguments.selector().is_some() => &arguments.query,
            Request::Compress(compress::Arguments { selector, .. })
            | Request::Expand(expand::Arguments { selector, .. })
            | Request::Archive(archive::Arguments { selector, .. })
            | Request::Pin(pin::Arguments { selector, .. })
            | Request::Unpin(pin::UnpinArguments { selector, .. })
            | Request::Focus(focus::Arguments { selector, .. })
            | Request::Unfocus(focus::UnfocusArguments { selector, .. }) => selector,
            Request::Update(update::Arguments { selector, .. }) => std::slice::from_ref(selector),
            _ => &[],
        }
    }

    /// Returns the request with other blocks, if it names blocks.
    pub fn with_blocks(mut self, blocks: String) -> Request {
        match &mut self {
            Request::Recall(recall::Arguments { query: selector, .. })
            | Request::Compress(compress::Arguments { selector, .. })
            | Request::Expand(expand::Arguments { selector, .. })
            | Request::Archive(archive::Arguments { selector, .. })
            | Request::Pin(pin::Arguments { selector, .. })
            | Request::Unpin(pin::UnpinArguments { selector, .. })
            | Request::Focus(focus::Arguments { selector, .. })
            | Request::Unfocus(focus::UnfocusArguments { selector, .. }) => *selector = vec![blocks],
            Request::Update(update::Arguments { selector, .. }) => *selector = blocks,
            _ => {}
        }
        self
    }

    /// Returns the request with other options of a change, if it has a verb.
    pub fn with_options(mut self, wanted: ChangeOptions) -> Request {
        match &mut self {
            Request::Recall(recall::Arguments { options, .. })
            | Request::Compress(compress::Arguments { options, .. })
            | Request::Expand(expand::Arguments { options, .. })
            | Request::Archive(archive::Arguments { options, .. })
            | Request::Pin(pin::Arguments { options, .. })
            | Request::Unpin(pin::UnpinArguments { options, .. })
            | Request::Focus(focus::Arguments { options, .. })
            | Request::Unfocus(focus::UnfocusArguments { options, .. })
            | Request::Update(update::Arguments { options, .. })
            | Request::Create(create::Arguments { options, .. }) => *options = wanted,
            Request::Memory(memory::Arguments {
                action:
                    Some(
                        Action::Add(AddArguments { dry_run, .. })
                        | Action::Edit { dry_run, .. }
                        | Action::Review(ReviewArguments { dry_run, .. }),
                    ),
                ..
            }) => *dry_run = wanted.dry_run,
            _ => {}
        }
        self
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
    ];

    #[test]
    fn commands_in_text_are_command_lines() {
        for (text, words) in EQUAL {
            let request = Request::from(&read(text).unwrap_or_else(|| panic!("{text}")));
            let line = CommandLine::try_parse_from(["aperture"].iter().chain(*words)).unwrap();
            assert_eq!(Some(&request), line.request.as_ref(), "{text}");
            assert_eq!(request.verb().map(Verb::name), Some(words[0]));
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
            let request = Request::from(&read(text).unwrap_or_else(|| panic!("{text}")));
            let line = CommandLine::try_parse_from(["aperture", "memory"].iter().chain(*words)).unwrap();
            assert_eq!(Some(&request), line.request.as_ref(), "{text}");
            assert_eq!(request.verb().map(Verb::name), Some(*verb));
            assert!(request.blocks().is_empty());
        }
        for (text, is_memory) in [("learned: a", true), ("a: learned", false), ("", false), ("learned", false), ("é", false)] {
            let options = ChangeOptions::default();
            let request = Request::Create(create::Arguments { text: text.to_owned(), options }).or_about_memories();
            assert_eq!(matches!(request, Request::Memory(_)), is_memory, "{text}");
        }
        for text in ["@archive(memory-12, 3..9)", "@update(memory-0, \"x\")", "@archive(memory)"] {
            assert!(!matches!(Request::from(&read(text).unwrap()), Request::Memory(_)), "{text}");
        }
    }

    #[test]
    fn blocks_are_replaced() {
        for (text, words) in EQUAL {
            let request = Request::from(&read(text).unwrap());
            let [blocks] = request.blocks() else { continue };
            assert_eq!(blocks, words[1], "{text}");
            assert_eq!(request.with_blocks("7".to_owned()).blocks(), ["7"], "{text}");
        }
    }
}
