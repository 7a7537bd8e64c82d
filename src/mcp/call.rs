//! Parses the arguments of a tool call into a request and the options of its answer.

use super::tools::{DEFAULT_TOKENS, Effect, Kind, MOST_TOKENS, Parameter, Place, Tool};
use crate::app::{CommandError, ErrorKind};
use crate::commands::{CommandLine, Request};
use crate::model::quoted;
use anyhow::{Context, anyhow};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The maximum size of an argument, in bytes.
const LONGEST: usize = 1 << 20;

/// A valid tool call.
#[derive(Debug)]
pub struct Call {
    /// The request.
    pub request: Request,
    /// The equivalent command line, for the log.
    pub line: String,
    /// The session named in the call.
    pub session: Option<String>,
    /// The maximum size of the answer, in tokens.
    pub max_tokens: usize,
    /// The first line of the answer, starting at 1.
    pub from_line: usize,
    /// True for a dry run.
    pub dry_run: bool,
    /// True if the answer is JSON.
    pub json: bool,
}

/// Parses the arguments of a call.
///
/// # Errors
///
/// An argument is unknown, missing, or invalid.
pub fn read(tool: &Tool, arguments: &Map<String, Value>) -> Result<Call, CommandError> {
    let wrong = |error: anyhow::Error| {
        let error = error.context(format!("cannot call {}", tool.name));
        CommandError::new(ErrorKind::Usage, error).hint(format!("its arguments are {}", names(tool)))
    };
    if let Some(unknown) = arguments.keys().find(|name| tool.parameters().all(|parameter| parameter.name != **name)) {
        return Err(wrong(anyhow!("unknown argument '{unknown}'")));
    }
    let mut given: BTreeMap<&str, String> = BTreeMap::new();
    for parameter in tool.parameters() {
        let value = value(parameter, arguments).map_err(wrong)?;
        given.extend(value.map(|value| (parameter.name, value)));
    }
    let mut options: Vec<(&str, Option<&str>)> = Vec::new();
    let mut positions: Vec<&str> = Vec::new();
    let mut skipped = None;
    for parameter in tool.parameters() {
        match (parameter.place, given.get(parameter.name).map(String::as_str)) {
            (Place::Outside, _) => {}
            (Place::Position, None) if parameter.required => {
                return Err(wrong(anyhow!("the argument '{}' is missing", parameter.name)));
            }
            (Place::Position, None) => skipped = Some(parameter.name),
            (Place::Position, Some(text)) => match skipped {
                Some(before) => return Err(wrong(anyhow!("the argument '{}' needs '{before}'", parameter.name))),
                None => positions.push(text),
            },
            (_, None) => {}
            (Place::Switch, Some(text)) => {
                let none = matches!(parameter.kind, Kind::OneOf([first, ..]) if *first == text);
                options.extend((!none).then_some((text, None)));
            }
            (Place::Option(name), Some(text)) if parameter.kind == Kind::Flag => {
                options.extend((text == "true").then_some((name, None)));
            }
            (Place::Option(name), Some(text)) => options.push((name, Some(text))),
        }
    }
    // `recall` selects its output for the budget; the others are only truncated to it.
    let budget = given.get("max_tokens").filter(|_| tool.name == "recall");
    options.extend(budget.map(|tokens| ("max-tokens", Some(tokens.as_str()))));
    let line = typed(tool, &positions, &options);
    // The session of the calling model is always live.
    options.extend((tool.effect != Effect::Reads).then_some(("live", None)));
    let options = options.iter().map(|(name, value)| value.map_or(format!("--{name}"), |value| format!("--{name}={value}")));
    let words = ["aperture", tool.name].map(str::to_owned).into_iter().chain(options).chain(["--".to_owned()]);
    let words = words.chain(positions.into_iter().map(str::to_owned));
    let command =
        CommandLine::try_parse_from(words).map(|line| line.request).map_err(|error| wrong(anyhow!(first_line(&error))))?;
    let number = |name: &str| given.get(name).and_then(|text| text.parse::<usize>().ok());
    Ok(Call {
        request: command.ok_or_else(|| wrong(anyhow!("unknown command")))?,
        line,
        session: given.get("session").cloned(),
        max_tokens: number("max_tokens").unwrap_or(DEFAULT_TOKENS).min(MOST_TOKENS),
        from_line: number("from_line").unwrap_or(1),
        dry_run: given.get("dry_run").is_some_and(|text| text == "true"),
        json: given.get("json").is_some_and(|text| text == "true"),
    })
}

/// Formats a command line as a user would type it.
fn typed(tool: &Tool, positions: &[&str], options: &[(&str, Option<&str>)]) -> String {
    let mut line = tool.name.to_owned();
    let words = positions.iter().map(|word| quoted(word));
    let options =
        options.iter().map(|(name, value)| value.map_or(format!("--{name}"), |value| format!("--{name} {}", quoted(value))));
    for word in words.chain(options) {
        line.push(' ');
        line.push_str(&word);
    }
    line
}

/// Returns the message of a command line error, without the usage.
fn first_line(error: &clap::Error) -> String {
    let text = error.to_string();
    let first = text.split("\n\n").next().unwrap_or_default();
    first.trim_start_matches("error: ").split('\n').map(str::trim).collect::<Vec<_>>().join(" ")
}

fn names(tool: &Tool) -> String {
    tool.parameters().map(|parameter| parameter.name).collect::<Vec<_>>().join(", ")
}

/// Returns the value of an argument as text; `None` if it is not given. Numbers may be given as text, and text that is a number as
/// a number, because models do that.
fn value(parameter: &Parameter, arguments: &Map<String, Value>) -> anyhow::Result<Option<String>> {
    let name = parameter.name;
    let text = match arguments.get(name) {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Bool(flag)) if parameter.kind == Kind::Flag => flag.to_string(),
        Some(Value::Number(number)) if parameter.kind != Kind::Flag => number.to_string(),
        Some(other) => {
            let found = match other {
                Value::Array(_) => "a list",
                Value::Object(_) => "an object",
                Value::Number(_) => "a number",
                _ => "true or false",
            };
            return Err(anyhow!("it is {found}")).with_context(|| expected(parameter));
        }
    };
    let fits = match parameter.kind {
        Kind::Text => true,
        Kind::Number => text.parse::<usize>().is_ok_and(|number| number > 0),
        Kind::Flag => matches!(text.as_str(), "true" | "false"),
        Kind::OneOf(values) => values.contains(&text.as_str()),
    };
    if !fits {
        let shown: String = text.chars().take(80).collect();
        return Err(anyhow!("it is '{shown}'")).with_context(|| expected(parameter));
    }
    // The command would read standard input for `-`, but the protocol uses it.
    if parameter.kind == Kind::Text && text == "-" {
        return Err(anyhow!("the argument '{name}' is only a dash"));
    }
    if text.len() > LONGEST {
        return Err(anyhow!("the argument '{name}' has {} bytes, and the maximum is {LONGEST}", text.len()));
    }
    Ok(Some(text))
}

fn expected(parameter: &Parameter) -> String {
    let what = match parameter.kind {
        Kind::Text => "a text".to_owned(),
        Kind::Number => "a whole number from 1 on".to_owned(),
        Kind::Flag => "true or false".to_owned(),
        Kind::OneOf(values) => format!("one of {}", values.join(", ")),
    };
    format!("the argument '{}' must be {what}", parameter.name)
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
        let call = read(Tool::named(tool).unwrap(), &object(arguments));
        let found = call.map_or_else(|error| format!("{:#}", error.source), |call| call.line);
        assert_eq!(found, expected, "{tool}");
    }

    #[test]
    fn every_example_is_a_command() {
        for tool in TOOLS {
            let example = |parameter: &Parameter| (parameter.name.to_owned(), parameter.example());
            let needed: Map<String, Value> = tool.parameters().filter(|parameter| parameter.required).map(example).collect();
            for parameter in tool.parameters() {
                let mut arguments = needed.clone();
                // A positional argument requires those before it.
                for before in tool.parameters().take_while(|before| before.name != parameter.name) {
                    if parameter.place == Place::Position && before.place == Place::Position {
                        arguments.insert(before.name.to_owned(), before.example());
                    }
                }
                arguments.insert(parameter.name.to_owned(), parameter.example());
                // `compress` needs a selection.
                if tool.name == "compress" {
                    arguments.insert("stale".to_owned(), json!(true));
                }
                let call = read(tool, &arguments);
                assert!(call.is_ok(), "{} {arguments:?}: {:#}", tool.name, call.unwrap_err().source);
            }
        }
    }

    #[test]
    fn every_value_of_a_choice_is_known_to_the_command() {
        for tool in TOOLS {
            for parameter in tool.parameters() {
                let Kind::OneOf(values) = parameter.kind else { continue };
                for value in values {
                    let mut arguments = Map::from_iter([(parameter.name.to_owned(), json!(value))]);
                    arguments.insert(if tool.name == "recall" { "query" } else { "selector" }.to_owned(), json!("12"));
                    arguments.retain(|name, _| tool.parameters().any(|parameter| parameter.name == name));
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
        check("recall", json!({"query": "--all"}), "recall --all");
        check("recall", json!({"query": "a b", "scope": "all", "max_tokens": "500"}), "recall 'a b' --all --max-tokens 500");
        check("recall", json!({"query": "12", "scope": "session"}), "recall 12");
        check("compress", json!({"stale": true, "dry_run": false}), "compress --stale");
        check("pin", json!({"selector": "12", "at": "here", "session": "x"}), "pin 12");
        check("blocks", json!({"sort": null}), "blocks");
    }

    #[test]
    fn invalid_calls_are_reported() {
        check("show", json!({}), "cannot call show: the argument 'selector' is missing");
        check("show", json!({"id": 3}), "cannot call show: unknown argument 'id'");
        check("show", json!({"selector": ["3"]}), "cannot call show: the argument 'selector' must be a text: it is a list");
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
            "cannot call compress: the following required arguments were not provided: <SELECTOR|--stale|--over-budget|--budget <N>>",
        );
    }
}
