//! Executes requests: one place knows which function executes which.

use super::{
    Change, Other, Read, Request, RequestEffect, blocks, bulk, diff, explain, log, manifest, pack, recall, search, show, summary,
};
use crate::app::{Answer, CommandError, Env, refusal};
use crate::output::ChangeReport;
use std::borrow::Cow;

/// Executes a request that reads one session, and prints its report.
pub fn run_read(env: &Env, request: &Read) -> Result<(), CommandError> {
    request.execute(&reading(env, request.name())).map_err(|error| env.name_session_in(error))
}

/// Returns the environment of a request that only reads: it does without a locked store, unless its answer is about the store.
fn reading<'e>(env: &'e Env, name: &str) -> Cow<'e, Env> {
    if matches!(name, "log" | "diff" | "verify" | "inbox") { Cow::Borrowed(env) } else { env.reading() }
}

/// Executes a request that reads one session.
pub fn read(env: &Env, request: &Read) -> Result<Answer, CommandError> {
    let env = &reading(env, request.name());
    Ok(match request {
        Read::Manifest(arguments) => match &arguments.since {
            Some(point) => env.answer(&manifest::since(env, None, point)?),
            None => env.answer(&manifest::report(env, arguments)?),
        },
        Read::Summary(arguments) => env.answer(&summary::report(env, arguments)?),
        Read::Pack(arguments) => env.answer(&pack::report(env, arguments)?),
        Read::Blocks(arguments) => env.answer(&blocks::report(env, arguments)?),
        Read::Show(arguments) => env.answer(&show::report(env, arguments)?),
        Read::Explain(arguments) => env.answer(&explain::report(env, arguments)?),
        Read::Recall(arguments) if arguments.memory => env.answer(&recall::memory_report(env, arguments)?),
        Read::Recall(arguments) => match arguments.search() {
            Some(arguments) => env.answer(&search::report(env, &arguments)?),
            None => env.answer(&recall::report(env, arguments)?),
        },
        Read::Diff(arguments) => env.answer(&diff::report(env, arguments)?),
        Read::Log(arguments) => env.answer(&log::report(env, arguments)?),
    })
}

/// Executes a request that changes one session or many, and prints its report.
pub fn run_change(env: &Env, request: &Change) -> Result<(), CommandError> {
    let done = match request.bulk() {
        Some(sessions) => bulk::run(env, request, sessions),
        None => change(env, request).and_then(|report| {
            let executed = || "the command was executed".to_owned();
            let done = report.operation.map_or_else(executed, |number| format!("operation {number} was made"));
            let hint = Some("to see it: aperture log");
            env.print(&report).map_err(|error| if report.dry_run { error } else { error.unreported(&done, hint) })
        }),
    };
    done.map_err(|error| env.name_session_in(error))
}

/// Executes a request that changes one session. Many sessions are changed only by [`run_change`]: a model or a rule never gets
/// further than its own session.
/// Errors: the request is for many sessions; otherwise as for the request.
pub fn change(env: &Env, request: &Change) -> Result<ChangeReport, CommandError> {
    if request.bulk().is_some() {
        return Err(refusal!("many sessions are changed only from the command line"));
    }
    request.execute(env)
}

/// Executes a request that needs only the environment, and prints its report.
pub fn run_other(env: &Env, request: &Other) -> Result<(), CommandError> {
    let only_reads = Request::effect_of(request.name()) == RequestEffect::Read
        || matches!(request, Other::Hook(_) | Other::Statusline(_) | Other::Watch(_));
    let env = if only_reads { reading(env, request.name()) } else { Cow::Borrowed(env) };
    let done = |error: CommandError| if only_reads { error } else { error.unreported("the command was executed", None) };
    request.execute(&env).map_err(|error| env.name_session_in(done(error)))
}
