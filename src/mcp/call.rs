//! Parses the arguments of a tool call into a request and the options of its answer.

use super::tools::{Argument, DEFAULT_TOKENS, Effect, Kind, MOST_TOKENS, Source, Tool};
use crate::app::CommandError;
use crate::commands::json::{ACTION, Words, first_line};
use crate::commands::{Other, Read, Request};
use anyhow::{Context, anyhow};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The maximum size of an argument, in bytes.
const LONGEST: usize = 1 << 20;

/// A valid tool call.
#[derive(Debug)]
pub struct Call {
    pub request: Request,
    /// The equivalent command line, for the log.
    pub line: String,
    pub session: Option<String>,
    pub max_tokens: usize,
    /// The first line of the answer, starting at 1.
    pub from_line: usize,
    pub dry_run: bool,
    pub json: bool,
}

impl Call {
    /// Returns true if it needs no session.
    pub fn is_about_memories(&self) -> bool {
        match &self.request {
            Request::Other(Other::Memory(_)) => true,
            Request::Read(Read::Recall(arguments)) => arguments.memory,
            _ => false,
        }
    }
}

/// Parses the arguments of a call.
/// Errors: an argument is unknown, missing, or invalid.
pub fn read(tool: &Tool, arguments: &Map<String, Value>) -> Result<Call, CommandError> {
    let wrong = |error: anyhow::Error| {
        let error = error.context(format!("cannot call {}", tool.name));
        CommandError::usage(error).hint(format!("its arguments are {}", names(tool)))
    };
    let known = tool.arguments();
    if let Some(unknown) = arguments.keys().find(|name| known.iter().all(|argument| argument.parameter.name != **name)) {
        return Err(wrong(anyhow!("unknown argument '{unknown}'")));
    }
    let mut given: BTreeMap<&str, String> = BTreeMap::new();
    let mut of_command = Map::new();
    for argument in &known {
        let name = argument.parameter.name;
        if let (Kind::Texts, Some(Value::Array(several))) = (&argument.kind, arguments.get(name)) {
            of_command.insert(name.to_owned(), texts(argument, several).map_err(wrong)?);
            continue;
        }
        let Some(text) = value(argument, arguments.get(name)).map_err(wrong)? else { continue };
        of_command.extend(match argument.parameter.source {
            Source::Command if argument.kind == Kind::Flag => Some((name.to_owned(), Value::Bool(text == "true"))),
            Source::Command => Some((name.to_owned(), Value::String(text.clone()))),
            Source::Flags([none, ..]) if *none == text => None,
            Source::Flags(_) => Some((text.clone(), Value::Bool(true))),
            Source::Text | Source::Number | Source::Flag => None,
        });
        given.insert(name, text);
    }
    // These select their output for the budget; the others are only truncated to it.
    let tokens = given.get("max_tokens").map(String::as_str);
    let budget = match tool.name {
        "recall" => tokens.map(str::to_owned),
        "search" => Some(tokens.map_or_else(|| DEFAULT_TOKENS.to_string(), str::to_owned)),
        _ => None,
    };
    of_command.extend(budget.map(|tokens| ("max_tokens".to_owned(), tokens.into())));
    let words = |arguments: &Map<String, Value>| {
        let words = match tool.action {
            None => Words::read(tool.name, arguments),
            Some((command, action)) => {
                let action = Map::from_iter([(action.to_owned(), Value::Object(arguments.clone()))]);
                Words::read(command, &Map::from_iter([(ACTION.to_owned(), Value::Object(action))]))
            }
        };
        words.map_err(|error| wrong(error.into()))
    };
    let line = words(&of_command)?.line();
    // The session of the calling model is always live; the server refuses a change of one that another client has open.
    if tool.effect != Effect::Reads && tool.action.is_none() {
        of_command.insert("live".to_owned(), true.into());
    }
    let request = words(&of_command)?.request().map_err(|error| wrong(anyhow!(first_line(&error))))?;
    let number = |name: &str| given.get(name).and_then(|text| text.parse::<usize>().ok());
    Ok(Call {
        request,
        line,
        session: given.get("session").cloned(),
        max_tokens: number("max_tokens").unwrap_or(DEFAULT_TOKENS).min(MOST_TOKENS),
        from_line: number("from_line").unwrap_or(1),
        dry_run: given.get("dry_run").is_some_and(|text| text == "true"),
        json: given.get("json").is_some_and(|text| text == "true"),
    })
}

fn names(tool: &Tool) -> String {
    tool.arguments().iter().map(|argument| argument.parameter.name).collect::<Vec<_>>().join(", ")
}

/// Returns the value of an argument as text; `None` if it is not given. Numbers may be given as text, and text that is a number as
/// a number, because models do that.
fn value(argument: &Argument, given: Option<&Value>) -> anyhow::Result<Option<String>> {
    let name = argument.parameter.name;
    let text = match given {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Bool(flag)) if argument.kind == Kind::Flag => flag.to_string(),
        Some(Value::Number(number)) if argument.kind != Kind::Flag => number.to_string(),
        Some(other) => {
            let found = match other {
                Value::Array(_) => "a list",
                Value::Object(_) => "an object",
                Value::Number(_) => "a number",
                _ => "true or false",
            };
            return Err(anyhow!("it is {found}")).with_context(|| expected(argument));
        }
    };
    let fits = match &argument.kind {
        Kind::Text | Kind::Texts => true,
        Kind::Number => text.parse::<usize>().is_ok_and(|number| number > 0),
        Kind::Flag => matches!(text.as_str(), "true" | "false"),
        Kind::OneOf(values) => values.contains(&text),
    };
    if !fits {
        let shown: String = text.chars().take(80).collect();
        return Err(anyhow!("it is '{shown}'")).with_context(|| expected(argument));
    }
    // The command would read standard input for `-`, but the protocol uses it.
    if matches!(argument.kind, Kind::Text | Kind::Texts) && text == "-" {
        return Err(anyhow!("the argument '{name}' is only a dash"));
    }
    if text.len() > LONGEST {
        return Err(anyhow!("the argument '{name}' has {} bytes, and the maximum is {LONGEST}", text.len()));
    }
    Ok(Some(text))
}

fn texts(argument: &Argument, several: &[Value]) -> anyhow::Result<Value> {
    let texts = several.iter().map(|text| value(argument, Some(text))).collect::<anyhow::Result<Vec<_>>>()?;
    Ok(Value::Array(texts.into_iter().flatten().map(Value::String).collect()))
}

fn expected(argument: &Argument) -> String {
    let what = match &argument.kind {
        Kind::Text => "a text".to_owned(),
        Kind::Texts => "a text or a list of texts".to_owned(),
        Kind::Number => "a whole number from 1 on".to_owned(),
        Kind::Flag => "true or false".to_owned(),
        Kind::OneOf(values) => format!("one of {}", values.join(", ")),
    };
    format!("the argument '{}' must be {what}", argument.parameter.name)
}

#[cfg(test)]
mod tests {
    use super::super::tools::{TOOLS, Tool};
    use super::*;
    use serde_json::json;

    fn object(value: Value) -> Map<String, Value> {
        match value {
            Value::Object(object) => object,
            _ => panic!("no object"),
        }
    }

    fn check(tool: &str, arguments: Value, expected: &str) {
        let call = read(Tool::by_name(tool).unwrap(), &object(arguments));
        let found = call.map_or_else(|error| format!("{:#}", error.source), |call| call.line);
        assert_eq!(found, expected, "{tool}");
    }

    #[test]
    fn every_example_is_a_command() {
        for tool in TOOLS {
            let example = |argument: &Argument| (argument.parameter.name.to_owned(), argument.parameter.example());
            let known = tool.arguments();
            let needed: Map<String, Value> = known.iter().filter(|argument| argument.is_required).map(example).collect();
            for argument in &known {
                let mut arguments = needed.clone();
                arguments.extend([example(argument)]);
                // Arguments that another argument, or the tool, requires.
                for (of, needed, value) in [
                    ("to", "from", json!(1)),
                    ("at", "selector", json!("12")),
                    ("recall", "query", json!("12")),
                    ("as", "turns", json!("3")),
                    ("priority", "turns", json!("3")),
                    ("compress", "stale", json!(true)),
                ] {
                    if of == argument.parameter.name || of == tool.name {
                        arguments.insert(needed.to_owned(), value);
                    }
                }
                let call = read(tool, &arguments);
                assert!(call.is_ok(), "{} {arguments:?}: {:#}", tool.name, call.unwrap_err().source);
            }
        }
    }

    #[test]
    fn every_value_of_a_choice_is_known_to_the_command() {
        for tool in TOOLS {
            for argument in tool.arguments() {
                let Kind::OneOf(values) = &argument.kind else { continue };
                for value in values {
                    let mut arguments = Map::from_iter([(argument.parameter.name.to_owned(), json!(value))]);
                    let names = ["query", "selector", "text", "turns", "words"];
                    let is_scope = argument.parameter.name == "scope";
                    let names = names.into_iter().filter(|name| !(is_scope && *name == "turns"));
                    arguments.extend(names.map(|name| (name.to_owned(), json!("12"))));
                    arguments.retain(|name, _| tool.arguments().iter().any(|argument| argument.parameter.name == name));
                    let call = read(tool, &arguments);
                    assert!(call.is_ok(), "{} {value}: {:#}", tool.name, call.unwrap_err().source);
                }
            }
        }
    }

    #[test]
    fn arguments_are_words() {
        check("archive", json!({"selector": "3..9", "reason": "it's done"}), r"archive 3..9 --reason 'it'\''s done'");
        check("expand", json!({"selector": 412}), "expand 412");
        check("recall", json!({"query": "--all"}), "recall -- --all");
        check("recall", json!({"query": "a b", "scope": "all", "max_tokens": "500"}), "recall 'a b' --max-tokens 500 --all");
        check("recall", json!({"query": "12", "scope": "session"}), "recall 12");
        check("recall", json!({"turns": "3,7..9", "as": "summary"}), "recall --turns 3,7..9 --as summary");
        check("recall", json!({"turns": 3, "priority": "specific"}), "recall --turns 3 --priority specific");
        check("recall", json!({"query": "a b", "scope": "memory"}), "recall 'a b' --memory");
        check("remember", json!({"text": "a b", "kind": "fact"}), "memory add 'a b' --kind fact");
        check("remember", json!({}), "cannot call remember: the argument 'text' is missing");
        check("compress", json!({"stale": true, "dry_run": false}), "compress --stale");
        check("pin", json!({"selector": "12", "at": "here", "session": "x"}), "pin 12");
        check("blocks", json!({"sort": null}), "blocks");
        check("show", json!({"selector": "17, 19"}), "show '17, 19'");
        check("show", json!({"selector": [17, "20..22"]}), "show 17 20..22");
    }

    #[test]
    fn invalid_calls_are_reported() {
        check("show", json!({}), "cannot call show: the argument 'selector' is missing");
        check("show", json!({"id": 3}), "cannot call show: unknown argument 'id'");
        check(
            "show",
            json!({"selector": [["3"]]}),
            "cannot call show: the argument 'selector' must be a text or a list of texts: it is a list",
        );
        check("update", json!({"selector": ["3"]}), "cannot call update: the argument 'selector' must be a text: it is a list");
        check("show", json!({"selector": []}), "cannot call show: the argument 'selector' is missing");
        check(
            "show",
            json!({"selector": "3", "max_tokens": -5}),
            "cannot call show: the argument 'max_tokens' must be a whole number from 1 on: it is '-5'",
        );
        check("create", json!({"text": "-"}), "cannot call create: the argument 'text' is only a dash");
        check(
            "create",
            json!({"text": "x".repeat(LONGEST + 1)}),
            "cannot call create: the argument 'text' has 1048577 bytes, and the maximum is 1048576",
        );
        check("diff", json!({"to": "2"}), "cannot call diff: the argument 'to' needs 'from'");
        check(
            "pin",
            json!({"selector": "3", "at": "left"}),
            "cannot call pin: the argument 'at' must be one of here, top, bottom: it is 'left'",
        );
        check(
            "compress",
            json!({}),
            "cannot call compress: say what to compress: --stale, --preset balanced, --budget 100k, or blocks ('tool(Read)')",
        );
    }
}
