//! Executes requests: one place knows which function executes which.

use super::live::proxied;
use super::{
    Change, Other, Read, archive, blame, blocks, bulk, check, compact, complete, compress, create, diff, expand, explain, export,
    focus, fork, gc, git_hook, hook, housekeeping, import, inbox, install, keep, log, manifest, memory, obey, pack, pin, preset,
    recall, redact, redo, repair, restore, search, sessions, show, shrink, snapshot, stage, status, statusline, summary, topics,
    transcript, undo, update, usage, util, verify, watch,
};
use crate::app::{Answer, CommandError, Env, ErrorKind};
use crate::output::ChangeReport;
use anyhow::anyhow;

/// Executes a request that reads one session, and prints its report.
pub fn run_read(env: &Env, request: &Read) -> Result<(), CommandError> {
    let done = match request {
        Read::Manifest(arguments) => manifest::run(env, arguments),
        Read::Summary(arguments) => summary::run(env, arguments),
        Read::Pack(arguments) => pack::run(env, arguments),
        Read::Blocks(arguments) => blocks::run(env, arguments),
        Read::Show(arguments) => show::run(env, arguments),
        Read::Explain(arguments) => explain::run(env, arguments),
        Read::Recall(arguments) => recall::run(env, arguments),
        Read::Diff(arguments) => diff::run(env, arguments),
        Read::Log(arguments) => log::run(env, arguments),
    };
    done.map_err(|error| env.name_session_in(error))
}

/// Executes a request that reads one session.
pub fn read(env: &Env, request: &Read) -> Result<Answer, CommandError> {
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
        None => change(env, request).and_then(|report| env.print(&report)),
    };
    done.map_err(|error| env.name_session_in(error))
}

/// Executes a request that changes one session. Many sessions are changed only by [`run_change`]: a model or a rule never gets
/// further than its own session.
/// Errors: the request is for many sessions; otherwise as for the request.
pub fn change(env: &Env, request: &Change) -> Result<ChangeReport, CommandError> {
    if request.bulk().is_some() {
        let error = anyhow!("many sessions are changed only from the command line");
        return Err(CommandError::new(ErrorKind::Refused, error));
    }
    change_one(env, request)
}

/// As [`change`], for the one session of the environment, also if the request is for many.
pub fn change_one(env: &Env, request: &Change) -> Result<ChangeReport, CommandError> {
    match request {
        Change::Compress(arguments) => compress::run(env, arguments),
        Change::Expand(arguments) => expand::run(env, arguments),
        Change::Archive(arguments) => archive::run(env, arguments),
        Change::Recall(arguments) => recall::bring_back(env, arguments),
        Change::Pin(arguments) => pin::run(env, arguments),
        Change::Unpin(arguments) => pin::run_unpin(env, arguments),
        Change::Focus(arguments) => focus::run(env, arguments),
        Change::Unfocus(arguments) => focus::run_unfocus(env, arguments),
        Change::Update(arguments) => update::run(env, arguments),
        Change::Create(arguments) => create::run(env, arguments),
        Change::Housekeeping(arguments) => housekeeping::run(env, arguments),
        Change::Compact(arguments) => compact::run(env, arguments),
        Change::Uncompact(arguments) => compact::run_uncompact(env, arguments),
        Change::Restore(arguments) => restore::run(env, arguments),
        Change::Shrink(arguments) => shrink::run(env, arguments),
        Change::Redact(arguments) => redact::run(env, arguments),
        Change::Repair(arguments) => repair::run(env, arguments),
        Change::Undo(arguments) => undo::run(env, arguments),
        Change::Redo(arguments) => redo::run(env, arguments),
    }
}

/// Executes a request that needs only the environment, and prints its report.
pub fn run_other(env: &Env, request: &Other) -> Result<(), CommandError> {
    let done = match request {
        Other::Sessions(arguments) => sessions::run(env, arguments),
        Other::Search(arguments) => search::run(env, arguments),
        Other::Topics(arguments) => topics::run(env, arguments),
        Other::Blame(arguments) => blame::run(env, arguments),
        Other::Usage(arguments) => usage::run(env, arguments),
        Other::Status(arguments) => status::run(env, arguments),
        Other::Transcript(arguments) => transcript::run(env, arguments),
        Other::Inbox(arguments) => inbox::run(env, arguments),
        Other::Approve(arguments) => inbox::run_approve(env, arguments),
        Other::Deny(arguments) => inbox::run_deny(env, arguments),
        Other::Obey(arguments) => obey::run(env, arguments),
        Other::Memory(arguments) => memory::run(env, arguments),
        Other::Snapshot(arguments) => snapshot::run(env, arguments),
        Other::Fork(arguments) => fork::run(env, arguments),
        Other::Preset(arguments) => preset::run(env, arguments),
        Other::Watch(arguments) => watch::run(env, arguments),
        Other::Stage(arguments) => stage::run(env, arguments),
        Other::Check(arguments) => check::run(env, arguments),
        Other::Verify(arguments) => verify::run(env, arguments),
        Other::Keep(arguments) => keep::run(env, arguments),
        Other::Gc(arguments) => gc::run(env, arguments),
        Other::Export(arguments) => export::run(env, arguments),
        Other::Import(arguments) => import::run(env, arguments),
        Other::Install(arguments) => install::run(env, arguments),
        Other::Uninstall(arguments) => install::run_uninstall(env, arguments),
        Other::GitHook(arguments) => git_hook::run(env, arguments),
        Other::Hook(arguments) => hook::run(env, arguments),
        Other::Statusline(arguments) => statusline::run(env, arguments),
        Other::Complete(arguments) => complete::run(env, arguments),
        Other::Job(_) => proxied::run_job(env),
        Other::Util(arguments) => util::run(env, arguments),
    };
    done.map_err(|error| env.name_session_in(error))
}
