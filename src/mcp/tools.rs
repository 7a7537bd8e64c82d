//! The table of tools: the descriptions for the model, and the mapping of arguments to a command line.

use crate::commands::Request;
use crate::commands::json::{is_flag, is_list};
use clap::Command;
use serde_json::{Map, Value, json};
use std::any::TypeId;

/// The effect of a call on the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    Reads,
    /// Adds, restores or marks content: nothing is removed from the window.
    Adds,
    /// Removes or replaces content in the window.
    Removes,
}

/// The type of an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A text; a number is converted to its digits.
    Text,
    Texts,
    Number,
    Flag,
    OneOf(Vec<String>),
}

/// The origin of the type of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The argument of the command with the same name: its definition has the type, the choices, and whether it is required.
    Command,
    /// Flags of the command that exclude each other: the value is the name of one, or the first word, which sets none.
    Flags(&'static [&'static str]),
    /// A text that is not part of the command.
    Text,
    /// A number that is not part of the command.
    Number,
    /// True or false, not part of the command.
    Flag,
}

/// An argument of a tool: what a model needs to know about it beyond the definition of the command.
#[derive(Debug)]
pub struct Parameter {
    pub name: &'static str,
    pub about: &'static str,
    pub source: Source,
    pub example: &'static str,
}

/// An argument of a tool with its type.
#[derive(Debug)]
pub struct Argument {
    pub parameter: &'static Parameter,
    pub kind: Kind,
    pub is_required: bool,
}

/// A tool: a command for a model.
#[derive(Debug)]
pub struct Tool {
    /// The name, which is that of the command unless `action` has it.
    pub name: &'static str,
    pub action: Option<(&'static str, &'static str)>,
    /// Its description, for a model that does not know aperture.
    pub about: &'static str,
    pub effect: Effect,
    /// True if repeated calls have the same effect as one.
    pub idempotent: bool,
    pub parameters: &'static [Parameter],
}

/// The maximum size of an answer, in tokens, if the call does not set it.
pub const DEFAULT_TOKENS: usize = 2000;
/// The maximum that a call may set.
pub const MOST_TOKENS: usize = 20_000;

const SELECTOR: Parameter = Parameter {
    name: "selector",
    about: "Blocks: 12, 3..9, stale, archived, tool(Read), path(\"src/**\"), turn(3), larger(2k), \"a topic\"; joined by \
            & | , ~ ( )",
    source: Source::Command,
    example: r#""stale & larger(2k)""#,
};

const fn argument(name: &'static str, example: &'static str, about: &'static str) -> Parameter {
    Parameter { name, about, source: Source::Command, example }
}

const DRY_RUN: Parameter = argument("dry_run", "true", "Dry run: report the changes and savings only");

const LEVEL: Parameter = argument("level", r#""summarized""#, "Level: the essential lines, a few of them, or one line");

/// The arguments of every tool.
pub const COMMON: &[Parameter] = &[
    Parameter { source: Source::Text, ..argument("session", r#""6666aaaa""#, "Another session: its id or path") },
    Parameter {
        source: Source::Number,
        ..argument("max_tokens", "4000", "Maximum size of the answer, up to 20000 (default 2000)")
    },
    Parameter { source: Source::Number, ..argument("from_line", "120", "First line, to continue a truncated answer") },
    Parameter { source: Source::Flag, ..argument("json", "false", "JSON in place of text") },
];

/// Returns a tool for a command of the same name, of which repeated calls have the same effect as one.
const fn tool(effect: Effect, name: &'static str, about: &'static str, parameters: &'static [Parameter]) -> Tool {
    Tool { name, action: None, about, effect, idempotent: true, parameters }
}

const fn reads(name: &'static str, about: &'static str, parameters: &'static [Parameter]) -> Tool {
    tool(Effect::Reads, name, about, parameters)
}

const fn adds(name: &'static str, about: &'static str, parameters: &'static [Parameter]) -> Tool {
    tool(Effect::Adds, name, about, parameters)
}

const fn removes(name: &'static str, about: &'static str, parameters: &'static [Parameter]) -> Tool {
    tool(Effect::Removes, name, about, parameters)
}

/// All tools.
pub const TOOLS: &[Tool] = &[
    reads(
        "manifest",
        "Summarize your context window in a few hundred tokens: its fill level, its parts with their costs, \
         stale, pinned and archived blocks, and suggestions. Start here.",
        &[
            argument("tier", r#""summary""#, "Level of detail (default detailed)"),
            argument("since", r#""turn:12""#, "Only the differences since a turn, an operation or a snapshot; without tier"),
        ],
    ),
    reads(
        "blocks",
        "List blocks of your context window with number, kind, tool, tokens and state. A block is one tool result, tool \
         use, text or image; its number never changes.",
        &[
            Parameter { about: "Blocks (default: window)", ..SELECTOR },
            argument("sort", r#""tokens""#, "Sort key (default number)"),
        ],
    ),
    reads("show", "Show the current content of blocks.", &[SELECTOR]),
    reads(
        "recall",
        "Read content outside your context window: archived, shortened and compacted blocks. Takes block numbers (then \
         you get the full original text at once), a question (then the matching passages), or turns (then their headers, \
         summaries or full texts, in the window or not). Changes nothing.",
        &[
            argument("query", r#""how are tokens refreshed""#, "A question or keywords, or block numbers"),
            Parameter {
                source: Source::Flags(&["session", "project", "all", "memory"]),
                ..argument(
                    "scope",
                    r#""project""#,
                    "Where to search: this session (default), archived content of the project or of all sessions, or memory: what was \
                     learned here, and all sessions of the project",
                )
            },
            argument("turns", r#""3,7..9""#, "Turns, in place of a query; with a query, those about it get the tokens first"),
            argument("as", r#""summary""#, "Form of the turns (default mixed: summaries, and full texts while the tokens last)"),
            argument("priority", r#""recent""#, "Turns that get the tokens first: the newest, by the query, or as listed"),
        ],
    ),
    reads(
        "search",
        "Find earlier work by its words: turns of all sessions on this machine, of every project and client, also archived, \
         compacted and deleted ones. The best sessions first, each with its turns and their best lines. Words, \"a phrase\", \
         -without. With session, only that one; yours is left out.",
        &[
            argument("query", r#""flaky login test""#, "Words; identifiers are found whole and by their parts"),
            argument("project", r#""/work/shop""#, "Only sessions of the project in this directory"),
            argument("since", r#""4w""#, "Only turns from this day on: 2026-11-01, yesterday, 7d, 2w"),
            argument("role", r#""user""#, "Only what one of them said"),
            argument("path", r#""schema.sql""#, "Only calls on files whose path contains this, and texts that name it"),
            argument("limit", "5", "Sessions (default 10)"),
        ],
    ),
    adds(
        "expand",
        "Restore shortened or archived blocks in the session, and return their content at once.",
        &[Parameter { example: "412", ..SELECTOR }, DRY_RUN],
    ),
    removes(
        "compress",
        "Make room: shorten blocks. Say which by selector, or stale (stale blocks only), or preset (older ones too), or budget (until \
         the window fits). Originals are kept: expand restores them. One call for many blocks is cheaper than many calls. Unless the \
         settings say otherwise, the user approves it first: what a selector names waits for that, stale, preset and budget \
         are refused.",
        &[
            SELECTOR,
            argument("stale", "true", "Old content that is very unlikely to be needed again"),
            argument("budget", r#""120k""#, "Maximum size of the window after it: tokens, or a share of its size such as 50%"),
            LEVEL,
            argument("preset", r#""balanced""#, "Strength of compression"),
            DRY_RUN,
        ],
    ),
    removes(
        "archive",
        "Make room: move blocks that are no longer needed out of the window. One line replaces each; recall returns it \
         at once. It needs the user's approval, unless the settings allow it.",
        &[
            Parameter { example: r#""3..9""#, ..SELECTOR },
            argument("reason", r#""auth is done""#, "Reason, in a few words: it is part of the remaining line"),
            DRY_RUN,
        ],
    ),
    adds(
        "pin",
        "Protect blocks that must stay verbatim: they are not shortened and survive compaction.",
        &[
            Parameter { example: "12", ..SELECTOR },
            Parameter {
                source: Source::Flags(&["here", "top", "bottom"]),
                ..argument("at", r#""top""#, "Position at which it is restored after a compaction (default here)")
            },
        ],
    ),
    adds("unpin", "No longer protect blocks that you pinned.", &[Parameter { example: r#""pinned""#, ..SELECTOR }]),
    adds(
        "focus",
        "Mark the blocks that are relevant now: they are listed first and not shortened for some turns. Existing marks \
         stay.",
        &[Parameter { example: r#""\"auth flow\"""#, ..SELECTOR }],
    ),
    adds("unfocus", "Clear your focus marks.", &[Parameter { about: "Blocks (default: all that you marked)", ..SELECTOR }]),
    removes(
        "update",
        "Replace the text of one block, such as a plan that has changed. The original is kept. It needs \
         the user's approval, unless the settings allow it.",
        &[
            Parameter { about: "One block: its number", example: "12", ..SELECTOR },
            argument("text", r#""the current plan""#, "The new text; for a tool use its input, a JSON object"),
            DRY_RUN,
        ],
    ),
    Tool {
        idempotent: false,
        ..adds(
            "create",
            "Add a note to the session: a decision, a finding, a state to remember. It is sent with the next prompt.",
            &[argument("text", r#""the tests need a database: start it with make db""#, "The note"), DRY_RUN],
        )
    },
    adds(
        "housekeeping",
        "Record your words about a turn: a header that replaces that of summaries, decisions and changes. What the turn does not \
         show is marked as claimed. Off unless the settings allow it.",
        &[
            argument(
                "words",
                r#""{\"response_header\": \"parser keeps comments\"}""#,
                "A JSON object with response_header (12 tokens), context_summary, key_decisions, code_changes, user",
            ),
            argument("turn", "7", "The turn (default: the last one)"),
            DRY_RUN,
        ],
    ),
    Tool {
        action: Some(("memory", "add")),
        ..adds(
            "remember",
            "Keep a lesson for later sessions of this project: a correction, a fix, a fact about the project. In your words, one to three \
             lines, no credentials. It is pending until the user accepts it. recall with scope memory finds it.",
            &[
                argument("text", r#""make lint needs the network""#, "The lesson"),
                argument("kind", r#""environment""#, "Kind (default: by file, else fact)"),
                argument("file", r#""gotchas""#, "File, such as gotchas or release-workflow (default: by kind)"),
                DRY_RUN,
            ],
        )
    },
    reads(
        "diff",
        "Show what aperture changed in the session, as lines removed and added.",
        &[
            argument("from", "1", "Start: an operation number from log, a snapshot, or original (default)"),
            argument("to", "2", "End: an operation or a snapshot (default now); needs from"),
            argument("stat", "true", "One line per block"),
        ],
    ),
    reads("log", "List the operations on the session and who made them, with their numbers for undo and diff.", &[]),
    Tool {
        idempotent: false,
        ..removes(
            "undo",
            "Undo an operation: the last one, or one by its number in the log.",
            &[argument("operation", "3", "Its number (default: the last one)"), DRY_RUN],
        )
    },
    reads(
        "summary",
        "Summarize the session: goal, story, state, next steps. Or single turns, each in a few lines.",
        &[argument("turns", r#""3..5""#, "Only these turns, such as 3..5, 3.. or 4")],
    ),
    reads(
        "pack",
        "Print what a session holds in a number of tokens: words of the user, files, commands, failures, code, texts.",
        &[
            argument("budget", "4000", "Maximum number of tokens"),
            argument("query", r#""retry limit""#, "Words whose lines come first"),
        ],
    ),
    reads(
        "explain",
        "Explain one block: why it is stale or in use, references to it, its content at each level.",
        &[Parameter { about: "One block: its number", example: "12", ..SELECTOR }],
    ),
];

impl Tool {
    pub fn by_name(name: &str) -> Option<&'static Tool> {
        TOOLS.iter().find(|tool| tool.name == name)
    }

    pub fn definition(&self) -> Option<Command> {
        match self.action {
            None => Request::arguments_of(self.name),
            Some((command, action)) => Request::arguments_of(command)?.find_subcommand(action).cloned(),
        }
    }

    /// Returns all its arguments with their types, the common ones last.
    pub fn arguments(&self) -> Vec<Argument> {
        let command = self.definition().unwrap_or_default();
        self.parameters.iter().chain(COMMON).map(|parameter| parameter.typed(&command)).collect()
    }

    /// Returns the JSON Schema of its arguments.
    pub fn schema(&self) -> Map<String, Value> {
        let arguments = self.arguments();
        let name = |argument: &Argument| argument.parameter.name;
        let properties: Map<String, Value> =
            arguments.iter().map(|argument| (name(argument).to_owned(), argument.schema())).collect();
        let required: Vec<&str> = arguments.iter().filter(|argument| argument.is_required).map(name).collect();
        let mut schema = Map::new();
        schema.insert("type".to_owned(), json!("object"));
        schema.insert("properties".to_owned(), Value::Object(properties));
        if !required.is_empty() {
            schema.insert("required".to_owned(), json!(required));
        }
        schema.insert("additionalProperties".to_owned(), json!(false));
        schema
    }
}

impl Parameter {
    pub fn example(&self) -> Value {
        serde_json::from_str(self.example).unwrap_or_default()
    }

    fn typed(&'static self, command: &Command) -> Argument {
        let argument = |kind, is_required| Argument { parameter: self, kind, is_required };
        match self.source {
            Source::Command => {
                let defined = command.get_arguments().find(|argument| argument.get_id() == self.name);
                defined.map_or_else(|| argument(Kind::Text, false), |defined| argument(kind(defined), defined.is_required_set()))
            }
            Source::Flags(words) => argument(Kind::OneOf(words.iter().map(|word| (*word).to_owned()).collect()), false),
            Source::Text => argument(Kind::Text, false),
            Source::Number => argument(Kind::Number, false),
            Source::Flag => argument(Kind::Flag, false),
        }
    }
}

fn kind(argument: &clap::Arg) -> Kind {
    if is_flag(argument) {
        return Kind::Flag;
    }
    let choices: Vec<String> = argument.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
    if !choices.is_empty() {
        return Kind::OneOf(choices);
    }
    if is_list(argument) {
        return Kind::Texts;
    }
    let numbers = [TypeId::of::<u32>(), TypeId::of::<u64>(), TypeId::of::<usize>()];
    if numbers.into_iter().any(|number| argument.get_value_parser().type_id() == number) { Kind::Number } else { Kind::Text }
}

impl Argument {
    fn schema(&self) -> Value {
        let mut schema = match &self.kind {
            Kind::Text | Kind::Texts => json!({ "type": "string" }),
            Kind::Number => json!({ "type": "integer", "minimum": 1 }),
            Kind::Flag => json!({ "type": "boolean" }),
            Kind::OneOf(values) => json!({ "type": "string", "enum": values }),
        };
        schema["description"] = json!(self.parameter.about);
        if matches!(self.kind, Kind::Text | Kind::Texts) {
            let example = self.parameter.example();
            schema["examples"] = json!([example.as_str().map_or_else(|| example.to_string(), str::to_owned)]);
        }
        schema
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::json::is_switch;

    #[test]
    fn every_argument_is_one_of_the_command() {
        for tool in TOOLS {
            let command = tool.definition().unwrap();
            let defined = |name: &str| command.get_arguments().find(|argument| argument.get_id() == name);
            for parameter in tool.parameters {
                match parameter.source {
                    Source::Command => assert!(defined(parameter.name).is_some(), "{} {}", tool.name, parameter.name),
                    Source::Flags(words) => {
                        assert!(defined(words[0]).is_none(), "{} {}", tool.name, words[0]);
                        assert!(words[1..].iter().all(|word| defined(word).is_some_and(is_switch)), "{} {words:?}", tool.name);
                    }
                    source => panic!("{}: {source:?} is not an argument of a command", tool.name),
                }
            }
        }
    }
}
