//! `aperture job`: does a job of the running proxy, for the proxy alone: in a process of its own, whose memory is free at the end, and
//! whose faults do not touch requests.

use super::live::automatic::{self, Automatic, Moment};
use super::live::proxied;
use super::memory::live::LiveMemories;
use crate::app::{CommandError, Env, ErrorKind};
use crate::wire::PreparedText;
use anyhow::{Context, anyhow};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::path::PathBuf;

#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, clap::Args)]
pub struct Arguments {
    /// The budget of `aperture run --budget`.
    #[arg(long)]
    budget: Option<u64>,
}

const COMMAND: &str = "job";

/// A job on a session, which the proxy names by its id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Job {
    /// Apply the rules of the settings at this moment, unless it is `None`, and make the texts for the next prompt, unless the model is
    /// in a turn. The result is [`Looked`].
    Look(String, Option<Moment>),
    /// Execute the commands in a message of the model, given the id of the response and the message.
    Obey(String, String, String),
    /// Execute the commands in a call of the model, given the id of the call and its input. The result is the text of the answer.
    Answer(String, String, String),
    /// State the results of the model's commands that it has not received. The result is an optional text.
    Untold(String),
    /// Compose the memories for a new session in a directory. The result is an optional text.
    Memories(String, PathBuf),
}

/// The result of a look at a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Looked {
    /// The outcome of the rules; `None` if none is switched on, or the content of the session is not known.
    pub automatic: Option<Automatic>,
    /// The texts for the next prompt; `None` within a turn.
    pub texts: Option<Vec<PreparedText>>,
}

impl Job {
    /// Has the job done by another process, and returns its result.
    /// Errors: the process cannot be started, or the job fails.
    pub fn run<T: DeserializeOwned>(&self, env: &Env) -> Result<T, CommandError> {
        let internal = |error| CommandError::new(ErrorKind::Internal, error);
        let budget = env.budget().map(|tokens| format!("--budget={tokens}"));
        let command: Vec<&str> = std::iter::once(COMMAND).chain(budget.as_deref()).collect();
        let output = env.run_again(&command, &serde_json::to_vec(self).map_err(|error| internal(error.into()))?)?;
        let done: Result<T, String> =
            serde_json::from_slice(&output).context("cannot read the result of a job").map_err(internal)?;
        done.map_err(|error| internal(anyhow!(error)))
    }

    fn execute(&self, env: &Env) -> Result<Value, CommandError> {
        let result = match self {
            Job::Look(session, moment) => json!(look(env, session, *moment)?),
            Job::Obey(session, id, message) => json!(proxied::obey_message(env, session, id, message)?),
            // The model reads the error, with its hint.
            Job::Answer(session, id, input) => {
                json!(proxied::answer(env, session, id, input).unwrap_or_else(|error| error.text()))
            }
            Job::Untold(session) => json!(proxied::untold(env, session)?),
            Job::Memories(session, directory) => json!(LiveMemories::new(env, session, directory)?.at_start()?),
        };
        Ok(result)
    }
}

fn look(env: &Env, session: &str, moment: Option<Moment>) -> Result<Looked, CommandError> {
    let in_turn = moment.is_some_and(|moment| moment.in_turn);
    let Some(found) = proxied::find(env, session) else {
        return Ok(Looked { automatic: None, texts: (!in_turn).then(Vec::new) });
    };
    let automatic = moment.map(|moment| automatic::apply(env, &found, moment)).unwrap_or(Ok(None)).unwrap_or_else(|error| {
        // The texts do not depend on the rules.
        env.note(&format!("{:#}", error.source));
        None
    });
    Ok(Looked { automatic, texts: (!in_turn).then(|| proxied::texts_of(env, session, found)).transpose()? })
}

/// Reads a job from standard input, does it, and prints its result or its error as JSON.
/// Errors: standard input has no job, or standard output cannot be written to.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    let budgeted = arguments.budget.map(|tokens| env.with_budget(tokens)).transpose()?;
    let env = budgeted.as_ref().unwrap_or(env);
    let job: Job = serde_json::from_str(&env.text("-")?)
        .context("standard input is not a job of the proxy")
        .map_err(|error| CommandError::usage(error).hint("this command is for aperture proxy alone"))?;
    let done: Result<Value, String> = job.execute(env).map_err(|error| format!("{:#}", error.source));
    env.write(&env.gate.json(&json!(done).to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{TextKind, stages::STAGES};

    #[test]
    fn jobs_and_results_pass_between_processes() {
        let moment = Moment { idle_milliseconds: 7, in_turn: true, coming_tokens: 5 };
        for job in [
            Job::Look("s".to_owned(), Some(moment)),
            Job::Look("s".to_owned(), None),
            Job::Obey("s".to_owned(), "1".to_owned(), "@pin(3)\n\u{1b}".to_owned()),
            Job::Answer("s".to_owned(), "1".to_owned(), "@recall(\"ä\")".to_owned()),
            Job::Untold("s".to_owned()),
            Job::Memories("s".to_owned(), PathBuf::from("/a b")),
        ] {
            assert_eq!(serde_json::from_str::<Job>(&json!(job).to_string()).unwrap(), job);
        }
        let notes = STAGES.iter().map(|stage| (stage.name.to_owned(), stage.name.to_owned())).collect();
        let automatic = Automatic { notes, budget_tokens: Some(9), lifetime_milliseconds: i64::MAX, has_changed: true };
        let text = PreparedText { is_top: true, answers: vec![7], ..PreparedText::new(TextKind::Pinned, "\n".to_owned()) };
        let looked = Looked { automatic: Some(automatic), texts: Some(vec![text]) };
        assert_eq!(serde_json::from_str::<Looked>(&json!(looked).to_string()).unwrap(), looked);
    }
}
