//! Executes requests: one place knows which function executes which.

use super::bulk;
use super::change::{archive, compact, compress, create, expand, focus, pin, preset, redact, repair, shrink, update};
use super::history::{diff, fork, log, redo, restore, snapshot, undo};
use super::live::{hook, install, proxied, stage, statusline, watch};
use super::look::{bare, blocks, explain, manifest, recall, sessions, show, status, summary, transcript, usage};
use super::maintenance::{check, complete, export, gc, git_hook, import, util, verify};
use super::memory;
use super::model::{inbox, obey};
use super::{Answer, CommandError, Env, ErrorKind};
use crate::commands::Request;
use crate::output::ChangeReport;
use anyhow::anyhow;

/// Executes a request and prints its report; without one, that of `status` or, outside of a project, of `sessions`.
///
/// # Errors
///
/// As for the request.
pub fn run(env: &Env, request: Option<Request>) -> Result<(), CommandError> {
    let done = match request {
        Some(request) => execute(env, &request),
        None => bare::run(env),
    };
    done.map_err(|error| env.name_session_in(error))
}

fn execute(env: &Env, request: &Request) -> Result<(), CommandError> {
    if let Some(arguments) = marks(request) {
        return blocks::run(env, &arguments);
    }
    match request {
        Request::Compress(_) | Request::Archive(_) | Request::Redact(_) | Request::Repair(_) | Request::Undo(_)
            if request.bulk().is_some() =>
        {
            bulk::run(env, request)
        }
        Request::Manifest(arguments) => manifest::run(env, arguments),
        Request::Sessions(arguments) => sessions::run(env, arguments),
        Request::Usage(arguments) => usage::run(env, arguments),
        Request::Status(arguments) => status::run(env, arguments),
        Request::Summary(arguments) => summary::run(env, arguments),
        Request::Blocks(arguments) => blocks::run(env, arguments),
        Request::Show(arguments) => show::run(env, arguments),
        Request::Explain(arguments) => explain::run(env, arguments),
        Request::Transcript(arguments) => transcript::run(env, arguments),
        Request::Recall(arguments) if !arguments.changes() => recall::run(env, arguments),
        Request::Diff(arguments) => diff::run(env, arguments),
        Request::Inbox(arguments) => inbox::run(env, arguments),
        Request::Approve(arguments) => inbox::run_approve(env, arguments),
        Request::Deny(arguments) => inbox::run_deny(env, arguments),
        Request::Log(arguments) => log::run(env, arguments),
        Request::Obey(arguments) => obey::run(env, arguments),
        Request::Memory(arguments) => memory::run(env, arguments),
        Request::Snapshot(arguments) => snapshot::run(env, arguments),
        Request::Fork(arguments) => fork::run(env, arguments),
        Request::Preset(arguments) => preset::run(env, arguments),
        Request::Watch(arguments) => watch::run(env, arguments),
        Request::Stage(arguments) => stage::run(env, arguments),
        Request::Check(arguments) => check::run(env, arguments),
        Request::Verify(arguments) => verify::run(env, arguments),
        Request::Gc(arguments) => gc::run(env, arguments),
        Request::Export(arguments) => export::run(env, arguments),
        Request::Import(arguments) => import::run(env, arguments),
        Request::Install(arguments) => install::run(env, arguments),
        Request::Uninstall(arguments) => install::run_uninstall(env, arguments),
        Request::GitHook(arguments) => git_hook::run(env, arguments),
        Request::Hook(arguments) => hook::run(env, arguments),
        Request::Statusline(arguments) => statusline::run(env, arguments),
        // The program handles these itself: they need no session, or run a server.
        Request::Help(_) | Request::Completions(_) | Request::Mcp(_) | Request::Run(_) | Request::Proxy(_) => Err(unhandled()),
        Request::Complete(arguments) => complete::run(env, arguments),
        Request::Job(_) => proxied::run_job(env),
        Request::Util(arguments) => util::run(env, arguments),
        // Listed by name, so that the compiler reports a new request that is not handled.
        Request::Compress(_)
        | Request::Expand(_)
        | Request::Archive(_)
        | Request::Recall(_)
        | Request::Pin(_)
        | Request::Unpin(_)
        | Request::Focus(_)
        | Request::Unfocus(_)
        | Request::Update(_)
        | Request::Create(_)
        | Request::Compact(_)
        | Request::Uncompact(_)
        | Request::Restore(_)
        | Request::Shrink(_)
        | Request::Redact(_)
        | Request::Repair(_)
        | Request::Undo(_)
        | Request::Redo(_) => env.print(&change(env, request).ok_or_else(unhandled)??),
    }
}

/// Returns the request that lists marked blocks, for a request to mark blocks that names none.
fn marks(request: &Request) -> Option<crate::commands::blocks::Arguments> {
    match request {
        Request::Pin(arguments) => arguments.list(),
        Request::Focus(arguments) => arguments.list(),
        _ => None,
    }
}

/// Executes a request that only reads one session; `None` for any other request.
pub fn read(env: &Env, request: &Request) -> Option<Result<Answer, CommandError>> {
    if let Some(arguments) = marks(request) {
        return Some(blocks::report(env, &arguments).map(|report| env.answer(&report)));
    }
    Some(match request {
        Request::Manifest(arguments) => match &arguments.since {
            Some(point) => manifest::since(env, None, point).map(|report| env.answer(&report)),
            None => manifest::report(env, arguments).map(|report| env.answer(&report)),
        },
        Request::Summary(arguments) => summary::report(env, arguments).map(|report| env.answer(&report)),
        Request::Blocks(arguments) => blocks::report(env, arguments).map(|report| env.answer(&report)),
        Request::Show(arguments) => show::report(env, arguments).map(|report| env.answer(&report)),
        Request::Explain(arguments) => explain::report(env, arguments).map(|report| env.answer(&report)),
        Request::Recall(arguments) if arguments.memory => recall::memory_report(env, arguments).map(|report| env.answer(&report)),
        Request::Recall(arguments) if !arguments.changes() => recall::report(env, arguments).map(|report| env.answer(&report)),
        Request::Diff(arguments) => diff::report(env, arguments).map(|report| env.answer(&report)),
        Request::Log(arguments) => log::report(env, arguments).map(|report| env.answer(&report)),
        _ => return None,
    })
}

/// Executes a request that changes a session; `None` for any other request. Many sessions are changed only by [`run`]: a model or
/// a rule never gets further than its own session.
pub fn change(env: &Env, request: &Request) -> Option<Result<ChangeReport, CommandError>> {
    if request.bulk().is_some() {
        let error = anyhow!("many sessions are changed only from the command line");
        return Some(Err(CommandError::new(ErrorKind::Refused, error)));
    }
    change_one(env, request)
}

/// As [`change`], for the one session of the environment, also if the request is for many.
pub(super) fn change_one(env: &Env, request: &Request) -> Option<Result<ChangeReport, CommandError>> {
    Some(match request {
        Request::Compress(arguments) => compress::run(env, arguments),
        Request::Expand(arguments) => expand::run(env, arguments),
        Request::Archive(arguments) => archive::run(env, arguments),
        Request::Recall(arguments) if arguments.changes() => recall::bring_back(env, arguments),
        Request::Pin(arguments) => pin::run(env, arguments),
        Request::Unpin(arguments) => pin::run_unpin(env, arguments),
        Request::Focus(arguments) => focus::run(env, arguments),
        Request::Unfocus(arguments) => focus::run_unfocus(env, arguments),
        Request::Update(arguments) => update::run(env, arguments),
        Request::Create(arguments) => create::run(env, arguments),
        Request::Compact(arguments) => compact::run(env, arguments),
        Request::Uncompact(arguments) => compact::run_uncompact(env, arguments),
        Request::Restore(arguments) => restore::run(env, arguments),
        Request::Shrink(arguments) => shrink::run(env, arguments),
        Request::Redact(arguments) => redact::run(env, arguments),
        Request::Repair(arguments) => repair::run(env, arguments),
        Request::Undo(arguments) => undo::run(env, arguments),
        Request::Redo(arguments) => redo::run(env, arguments),
        _ => return None,
    })
}

/// Returns the error for a request that the called function does not execute: a bug.
pub fn unhandled() -> CommandError {
    CommandError::new(ErrorKind::Internal, anyhow!("internal error: command has no handler"))
}
