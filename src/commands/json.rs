//! Requests as JSON: `{"archive": {"selector": "3..9", "reason": "auth is done"}}`.
//!
//! The keys are the arguments of the command line. JSON is read as the command line of its values, so defaults, choices and
//! conflicts have one definition; what is not given is left out.

use super::{CommandLine, Request};
use crate::text::shell::quoted_word;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, Command, ValueEnum};
use serde::de::{Deserialize, Deserializer, Error as _};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value};

/// The key of the action of a command that has actions, such as `snapshot`: a name, or a name with its arguments.
pub const ACTION: &str = "action";

/// The reason why JSON is not a command line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JsonError {
    #[error("there is no command '{0}'")]
    UnknownCommand(String),
    #[error("there is no argument '{0}'")]
    UnknownArgument(String),
    #[error("the argument '{0}' is missing")]
    Missing(String),
    #[error("the argument '{0}' needs '{1}'")]
    Needs(String, String),
    #[error("the argument '{0}' must be {1}")]
    Type(String, &'static str),
}

/// A command line that was made of JSON, in the order of its definition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words {
    name: String,
    options: Vec<(String, Option<String>)>,
    positions: Vec<String>,
    action: Option<Box<Words>>,
    /// True if the words after the first position belong to it.
    takes_rest: bool,
}

impl Words {
    /// Returns the command line of a command and its arguments.
    /// Errors: the command or an argument does not exist, is missing, or has a value of the wrong type. The values are checked by
    /// [`Words::request`].
    pub fn read(name: &str, arguments: &Map<String, Value>) -> Result<Words, JsonError> {
        let definition = Request::arguments_of(name).ok_or_else(|| JsonError::UnknownCommand(name.to_owned()))?;
        Words::from_arguments(&definition, arguments)
    }

    fn from_arguments(definition: &Command, arguments: &Map<String, Value>) -> Result<Words, JsonError> {
        let has_actions = definition.has_subcommands();
        let known =
            |key: &str| (has_actions && key == ACTION) || definition.get_arguments().any(|argument| self::key(argument) == key);
        if let Some(unknown) = arguments.keys().find(|key| !known(key)) {
            return Err(JsonError::UnknownArgument(unknown.clone()));
        }
        let takes_rest = definition.get_arguments().any(Arg::is_trailing_var_arg_set);
        let mut words = Words { name: definition.get_name().to_owned(), takes_rest, ..Words::default() };
        let mut absent = None;
        for argument in definition.get_arguments() {
            let key = key(argument);
            let values = values(argument, arguments.get(&key).unwrap_or(&Value::Null))?;
            match argument.get_long() {
                Some(long) => words.options.extend(values.into_iter().map(|value| (long.to_owned(), value))),
                None if values.is_empty() && argument.is_required_set() => return Err(JsonError::Missing(key)),
                None if values.is_empty() => absent = absent.or(Some(key)),
                None => match absent {
                    Some(before) => return Err(JsonError::Needs(key, before)),
                    None => words.positions.extend(values.into_iter().flatten()),
                },
            }
        }
        words.action = match arguments.get(ACTION).filter(|_| has_actions) {
            Some(action) => Some(Box::new(Words::action(definition, action)?)),
            None => None,
        };
        Ok(words)
    }

    fn action(definition: &Command, action: &Value) -> Result<Words, JsonError> {
        let none = Map::new();
        let (name, arguments) = match action {
            Value::String(name) => (name, &none),
            Value::Object(object) => match object.iter().next() {
                Some((name, Value::Object(arguments))) if object.len() == 1 => (name, arguments),
                _ => return Err(JsonError::Type(ACTION.to_owned(), "the name of one action with its arguments")),
            },
            _ => return Err(JsonError::Type(ACTION.to_owned(), "an action")),
        };
        let action = definition.find_subcommand(name).ok_or_else(|| JsonError::UnknownCommand(name.clone()))?;
        Words::from_arguments(action, arguments)
    }

    /// Returns the request.
    /// Errors: the command line is invalid.
    pub fn request(&self) -> Result<Request, clap::Error> {
        let mut words = vec!["aperture".to_owned()];
        self.extend(&mut words);
        let request = CommandLine::try_parse_from(words)?.request;
        request.ok_or_else(|| clap::Error::new(ErrorKind::MissingSubcommand))
    }

    fn extend(&self, words: &mut Vec<String>) {
        words.push(self.name.clone());
        let option = |(name, value): &(String, Option<String>)| match value {
            Some(value) => format!("--{name}={value}"),
            None => format!("--{name}"),
        };
        words.extend(self.options.iter().map(option));
        match &self.action {
            Some(action) => action.extend(words),
            None if self.positions.is_empty() => {}
            None => {
                words.push("--".to_owned());
                words.extend(self.positions.iter().cloned());
            }
        }
    }

    /// Returns the command line as a user would type it, without the name of the program.
    pub fn line(&self) -> String {
        let option = |(name, value): &(String, Option<String>)| match value {
            Some(value) if value.starts_with('-') => format!("--{name}={}", quoted_word(value)),
            Some(value) => format!("--{name} {}", quoted_word(value)),
            None => format!("--{name}"),
        };
        let options = self.options.iter().map(option);
        let positions = self.positions.iter().map(|word| quoted_word(word));
        let mut words = vec![self.name.clone()];
        if self.takes_rest || self.positions.iter().any(|word| word.starts_with('-')) {
            words.extend(options.chain(["--".to_owned()]).chain(positions));
        } else {
            words.extend(positions.chain(options));
        }
        words.extend(self.action.as_ref().map(|action| action.line()));
        words.join(" ")
    }
}

/// Returns the key of an argument: its id; of the positional SESSION, whose id must differ from that of `--session`, `session`.
fn key(argument: &Arg) -> String {
    match argument.get_id().as_str() {
        "named" => "session".to_owned(),
        id => id.to_owned(),
    }
}

/// Returns true if an argument takes no value.
pub fn is_flag(argument: &Arg) -> bool {
    matches!(argument.get_action(), ArgAction::SetTrue)
}

/// Returns true if an argument can be given without a value.
pub fn is_switch(argument: &Arg) -> bool {
    is_flag(argument) || argument.get_num_args().is_some_and(|values| values.min_values() == 0)
}

/// Returns true if an argument takes several values.
pub fn is_list(argument: &Arg) -> bool {
    matches!(argument.get_action(), ArgAction::Append)
}

/// Returns the values of an argument; none if it is not given. A flag that is set has one empty value.
fn values(argument: &Arg, value: &Value) -> Result<Vec<Option<String>>, JsonError> {
    let wrong = |what| Err(JsonError::Type(key(argument), what));
    match value {
        Value::Null => Ok(Vec::new()),
        Value::Bool(set) if is_switch(argument) => Ok(if *set { vec![None] } else { Vec::new() }),
        _ if is_flag(argument) => wrong("true or false"),
        Value::String(text) => Ok(vec![Some(text.clone())]),
        Value::Number(number) => Ok(vec![Some(number.to_string())]),
        Value::Array(several) if is_list(argument) => {
            let values = several.iter().map(|value| values(argument, value)).collect::<Result<Vec<_>, _>>()?;
            Ok(values.into_iter().flatten().collect())
        }
        _ => wrong("a text or a number"),
    }
}

impl Request {
    /// Returns the command line as a user would type it, without the name of the program; only the name of the command if an
    /// argument cannot be written.
    pub fn line(&self) -> String {
        let words = self.to_json().ok().and_then(|(name, arguments)| Words::read(name, &arguments).ok());
        words.map_or_else(|| self.name().to_owned(), |words| words.line())
    }
}

/// Returns the arguments that are given: without null, false, empty lists and defaults.
pub(super) fn given(arguments: Value, definition: &Command) -> Map<String, Value> {
    let Value::Object(arguments) = arguments else { return Map::new() };
    let default = |key: &str, value: &Value| {
        let argument = definition.get_arguments().find(|argument| self::key(argument) == key);
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        argument.is_some_and(|argument| matches!(argument.get_default_values(), [default] if *default == *text))
    };
    let mut given = Map::new();
    for (key, value) in arguments {
        let is_empty = match &value {
            Value::Null | Value::Bool(false) => true,
            Value::Array(values) => values.is_empty(),
            value => default(&key, value),
        };
        let value = match value {
            Value::Object(actions) => {
                let inner = |(name, value): (String, Value)| {
                    let action = definition.find_subcommand(&name).cloned().unwrap_or_default();
                    (name, Value::Object(self::given(value, &action)))
                };
                Value::Object(actions.into_iter().map(inner).collect())
            }
            value => value,
        };
        if !is_empty {
            given.insert(key, value);
        }
    }
    given
}

impl Serialize for Request {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (name, arguments) = self.to_json().map_err(serde::ser::Error::custom)?;
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry(name, &arguments)?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for Request {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Request, D::Error> {
        let object = Map::<String, Value>::deserialize(deserializer)?;
        let (Some((name, Value::Object(arguments))), 1) = (object.iter().next(), object.len()) else {
            return Err(D::Error::custom("a request is one command with its arguments: {\"status\": {}}"));
        };
        let words = Words::read(name, arguments).map_err(D::Error::custom)?;
        words.request().map_err(|error| D::Error::custom(first_line(&error)))
    }
}

/// Returns the message about a required argument that is missing, and a hint; `None` for another error.
pub fn missing_argument(error: &clap::Error) -> Option<(String, String)> {
    if error.kind() != ErrorKind::MissingRequiredArgument {
        return None;
    }
    let Some(ContextValue::Strings(missing)) = error.get(ContextKind::InvalidArg) else { return None };
    let usage = error.get(ContextKind::Usage)?.to_string();
    let words = usage.split_whitespace().skip_while(|word| *word == "Usage:").skip(1);
    let command = words.take_while(|word| !word.starts_with(['<', '[', '-'])).collect::<Vec<_>>().join(" ");
    let text = match missing.first().map_or("", String::as_str) {
        first if first.contains("--stale") => {
            "say what to compress: --stale, --preset balanced, --budget 100k, or blocks ('tool(Read)')".to_owned()
        }
        first if first.starts_with("<SELECTOR>") || first.starts_with("<BLOCK>") => {
            format!("say which blocks to {command}: a number (12) or a selector ('tool(Read)')")
        }
        _ => format!("{command} needs {}", missing.join(" and ")),
    };
    Some((text, format!("examples: aperture help {command}")))
}

/// Returns the message of a command line error on one line, without the usage.
pub fn first_line(error: &clap::Error) -> String {
    if let Some((text, _)) = missing_argument(error) {
        return text;
    }
    let text = error.to_string();
    let first = text.split("\n\n").next().unwrap_or_default();
    first.trim_start_matches("error: ").split('\n').map(str::trim).collect::<Vec<_>>().join(" ")
}

/// Serializes selectors: one as a text, several as a list.
pub(super) fn union<S: Serializer>(selectors: &[String], serializer: S) -> Result<S::Ok, S::Error> {
    match selectors {
        [only] => only.serialize(serializer),
        several => several.serialize(serializer),
    }
}

/// Serializes a choice by its name in the command line.
pub(super) fn choice<T: ValueEnum, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    let name = value.to_possible_value().map(|value| value.get_name().to_owned());
    name.unwrap_or_default().serialize(serializer)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(json: &str) -> Request {
        serde_json::from_str(json).unwrap_or_else(|error| panic!("{json}: {error}"))
    }

    #[test]
    fn several_selectors_are_a_list_and_one_is_a_text() {
        for (json, line) in [
            (r#"{"archive":{"selector":"3..9"}}"#, "archive 3..9"),
            (r#"{"archive":{"selector":["3..9","stale & error"]}}"#, "archive 3..9 'stale & error'"),
            (r#"{"blocks":{"selector":"cold"}}"#, "blocks cold"),
            (r#"{"recall":{"query":["retry","policy"],"max_tokens":500}}"#, "recall retry policy --max-tokens 500"),
            (r#"{"redact":{"all":true}}"#, "redact --whole-file"),
        ] {
            let request = request(json);
            assert_eq!(serde_json::to_string(&request).unwrap(), json);
            assert_eq!(request.line(), line);
        }
        assert_eq!(request(r#"{"archive":{"selector":["3..9"]}}"#), request(r#"{"archive":{"selector":"3..9"}}"#));
        assert_eq!(request(r#"{"blocks":{"selector":["window"]}}"#), request(r#"{"blocks":{}}"#));
    }
}
