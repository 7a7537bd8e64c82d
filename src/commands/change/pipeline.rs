//! Steps shared by all commands that change a session: lock, settle, plan, compute the price, apply.

use super::deferred;
use crate::app::{CommandError, Env, ErrorKind, refusal, session_name, wait};
use crate::commands::ChangeOptions;
use crate::commands::live::pending::LiveChanges;
use crate::engine::{self, EditFacts, EditPrice};
use crate::fsio::is_packed;
use crate::model::{
    Block, BlockChange, BlockKind, BlockNumber, CompanionEdit, Mark, OperationId, OperationKind, Plan, Session, Slot, State,
    UnneededData,
};
use crate::output::{ChangeDetail, ChangeReport, MarkedBlock};
use crate::store::{SessionKey, Store};
use crate::workspace::{self, ApplyError, Draft, Drafted, Found, ModelTexts, PlanError, SkipReason, Workspace, Writer};
use anyhow::anyhow;
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::rc::Rc;

/// Minimum share of the window that a change by a rule saves: it rewrites the prompt cache.
const LEAST_SAVED: f64 = 0.01;
/// Attempts to plan a change, because the session may change between planning and writing.
const ATTEMPTS: usize = 10;

/// The error that a session has nothing that the request may change. In a run over many sessions it is not an error.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct NothingToChange(pub String);

/// The description of a plan, without its edits.
#[derive(Clone, Debug, Default)]
pub struct ChangeSummary {
    pub kind: OperationKind,
    pub inverts: Option<OperationId>,
    /// The verb for the report, such as `compressed`.
    pub verb: &'static str,
    /// The object of the verb, if it is not blocks.
    pub what: Option<String>,
    pub skipped: BTreeMap<SkipReason, Vec<BlockNumber>>,
    pub notes: Vec<String>,
    /// True if the report counts stale blocks separately.
    pub by_state: bool,
    /// The data that leaves the file although the window stays the same.
    pub removed: UnneededData,
    /// True if the change is made only if it saves [`LEAST_SAVED`] of the window.
    pub must_pay: bool,
    /// The changes of files beside the session.
    pub companions: Vec<CompanionEdit>,
}

impl ChangeSummary {
    pub fn change(verb: &'static str) -> ChangeSummary {
        ChangeSummary { verb, ..ChangeSummary::default() }
    }

    pub fn skip(&mut self, why: SkipReason, number: BlockNumber) {
        self.skipped.entry(why).or_default().push(number);
    }
}

/// A session that is about to be changed: locked and settled.
pub struct OpenedSession {
    pub workspace: Workspace<'static>,
    /// The store; `None` in a dry run if it does not exist.
    pub store: Option<Store>,
    /// The lock of the client itself; `None` in a dry run.
    writer: Option<Writer<'static>>,
    _lock: Option<Box<dyn Send>>,
}

/// Opens a session to change it. A dry run takes no lock and settles nothing.
pub fn open(env: &Env, options: ChangeOptions, found: &Found) -> Result<OpenedSession, CommandError> {
    open_as_wanted(env, options, found, &|_| true)
}

/// Refuses a session that is only read. A dry run can plan the change of a log of requests, to show what a request would become.
/// Errors: its format is only read.
pub fn expect_changeable(env: &Env, found: &Found, dry_run: bool) -> Result<(), CommandError> {
    let is_plan = dry_run && found.provider.roots(&env.places).is_empty();
    match found.provider.read_only().filter(|_| !is_plan) {
        None => Ok(()),
        Some(reason) => {
            let error = anyhow!(reason).context(format!("cannot change the session {}", session_name(&found.path)));
            Err(CommandError::refused(error))
        }
    }
}

fn packed(env: &Env, found: &Found) -> CommandError {
    if !env.kept().is_ok_and(|copies| found.path.starts_with(copies.directory())) {
        return ApplyError::Packed.into();
    }
    refusal!("the client has deleted the session, and its kept copy is only read")
        .hint(format!("restore it first: aperture keep restore {}", found.location.id))
}

/// As [`open`], but a predicate on the session decides how much is analyzed, as in [`Env::read_as_wanted`].
pub fn open_as_wanted(
    env: &Env,
    options: ChangeOptions,
    found: &Found,
    whole: &dyn Fn(&Session) -> bool,
) -> Result<OpenedSession, CommandError> {
    expect_changeable(env, found, options.dry_run)?;
    if is_packed(&found.path) {
        return Err(packed(env, found));
    }
    if options.dry_run {
        let store = env.existing_store()?;
        return Ok(OpenedSession { workspace: env.read_as_wanted(found.clone(), whole)?, store, _lock: None, writer: None });
    }
    let path = real_path(env, found)?;
    let store = env.store()?;
    let lock = env.lock(&path)?;
    let writer = workspace::take_writer(env.disk, found.provider, &path, &wait);
    let writer = writer.map_err(|error| {
        let lacks_locks = error.kind() == io::ErrorKind::Unsupported;
        let what = format!("cannot take the client's lock of the session {}", session_name(&path));
        let error = CommandError::of_disk(error, what);
        let hints =
            vec!["a client could write at the same moment: copy the session to a local disk, and use the copy".to_owned()];
        if lacks_locks { CommandError { hints, ..error } } else { error }
    })?;
    workspace::settle(env.disk, &store, &path)?;
    if !matches!(writer, Writer::Elsewhere) {
        deferred::write(env, &store, found)?;
    }
    Ok(OpenedSession {
        workspace: env.read_as_wanted(found.clone(), whole)?,
        store: Some(store),
        _lock: Some(lock),
        writer: Some(writer),
    })
}

/// Plans a change of the selected session, applies it unless it is a dry run, and returns the report.
/// Errors: as for the plan, the session and the store.
pub fn change(
    env: &Env,
    options: ChangeOptions,
    plan: &dyn Fn(&mut Draft<'_>, &OpenedSession) -> Result<ChangeSummary, CommandError>,
) -> Result<ChangeReport, CommandError> {
    let found = &env.find(None)?;
    expect_changeable(env, found, options.dry_run)?;
    let mut left = ATTEMPTS;
    loop {
        left -= 1;
        let outcome = once(env, options, found, plan);
        match outcome {
            Ok(report) => return Ok(report),
            Err(error) if error.source.chain().any(|cause| cause.is::<NothingToChange>()) => return Err(error),
            Err(error) if left > 0 && is_passing(&error) => wait(std::time::Duration::from_millis(5)),
            Err(error) => {
                let what = if options.dry_run { "plan the change of" } else { "change" };
                return Err(CommandError {
                    source: error.source.context(format!("cannot {what} the session {}", session_name(&found.path))),
                    ..error
                });
            }
        }
    }
}

/// Returns true if the change failed only because the session was written to meanwhile.
fn is_passing(error: &CommandError) -> bool {
    error.source.chain().any(|cause| {
        matches!(cause.downcast_ref(), Some(ApplyError::Changed | ApplyError::MovedOn))
            || matches!(cause.downcast_ref(), Some(PlanError::Moved))
    })
}

fn once(
    env: &Env,
    options: ChangeOptions,
    found: &Found,
    plan: &dyn Fn(&mut Draft<'_>, &OpenedSession) -> Result<ChangeSummary, CommandError>,
) -> Result<ChangeReport, CommandError> {
    let live = !options.dry_run && is_live(env, found);
    // A change of the store alone does not concern the client. Nothing is opened for writing before this is known.
    if live && !options.live && once(env, ChangeOptions { dry_run: true, ..options }, found, plan)?.edits > 0 {
        return Err(open_in_client(found));
    }
    let opened = open(env, options, found)?;
    let workspace = &opened.workspace;
    let now = env.style.now.as_millisecond();
    let mut draft = workspace.draft(opened.store.as_ref(), now)?;
    draft.keeps_thinking = options.keep_thinking;
    draft.texts =
        env.sidecar_texts(&found.path).map(|texts| Rc::new(move |original| texts.summarized(original)) as Rc<ModelTexts>);
    let mut summary = plan(&mut draft, &opened)?;
    if let Some(numbers) = summary.skipped.get(&SkipReason::Inherited).filter(|numbers| !numbers.is_empty()) {
        let (what, hint) = inherited(env, workspace, numbers);
        if draft.is_empty() {
            return Err(CommandError::refused(NothingToChange(what)).hint(hint));
        }
        summary.notes.push(format!("{what}: {hint}"));
    }
    let cache = env.cache();
    // The log stores the command and is printed later, so credentials are masked.
    let command = engine::mask(&env.command);
    let drafted = draft.finish(summary.kind, &command, summary.inverts, &|hash| cache.count(hash), options.dry_run)?;
    let mut report = report(env, workspace, &summary, &drafted, options);
    if summary.must_pay && report.edits > 0 && report.saved() < LEAST_SAVED * report.tokens_before {
        return Ok(report.withheld());
    }
    report.is_first = match &opened.store {
        Some(store) => !store.has_operations()?,
        None => true,
    };
    let keeps_blocks = keeps_blocks(workspace, &drafted);
    // The text of the changed session takes as much memory as the session: drop it.
    let companions = std::mem::take(&mut summary.companions);
    let plan = Plan { actor: env.actor, companions, ..drafted.into_plan() };
    if let (Some(store), false, false) = (&opened.store, options.dry_run, plan.is_empty()) {
        let has_copy = live || !clients(env, found).is_empty() && !is_on_wire(env, found, store, &plan, keeps_blocks)?;
        if has_copy && !live && !options.live && report.edits > 0 {
            return Err(open_in_client(found));
        }
        // A change of the store alone does not concern the client.
        if !plan.edits.is_empty() && matches!(opened.writer, Some(Writer::Elsewhere)) {
            let key = register(env, found, workspace, store)?;
            if !plan.companions.is_empty() {
                report.notes.push("the files beside the session are unchanged: repeat the command when it is closed".to_owned());
            }
            report.operation = Some(deferred::defer(env, found, workspace, store, key, &plan)?);
            report.notes.push(format!("written to the file when {} closes the session", workspace.provider.agent()));
            return Ok(report);
        }
        let key = register(env, found, workspace, store)?;
        let applied = workspace::apply(workspace, store, key, &plan, None, now, &wait)?;
        report.operation = applied.operation;
        report.notes.extend(applied.note().map(str::to_owned));
        if let (true, Some(operation)) = (report.edits > 0, report.operation) {
            let process = clients(env, found).first().copied().filter(|_| has_copy || plan.window.is_some());
            if let Some(process) = process {
                store.record_live(key, operation, process)?;
            }
            if has_copy {
                report.notes.push(format!("{}: a client has the session open", takes_effect(&workspace.location.id)));
            }
        }
    }
    Ok(report)
}

fn register(env: &Env, found: &Found, workspace: &Workspace<'_>, store: &Store) -> Result<SessionKey, CommandError> {
    let path = real_path(env, found)?;
    Ok(store.register(workspace.provider.name(), &workspace.location.id, &path, &workspace.location.project)?)
}

/// Returns the message about inherited blocks that are skipped, and the command that changes them in their own session.
pub fn inherited(env: &Env, workspace: &Workspace<'_>, numbers: &[BlockNumber]) -> (String, String) {
    let session = &workspace.reading.session;
    let row = numbers.first().and_then(|number| workspace.reading.block(*number)).map(|block| block.row);
    let parent = row.and_then(|row| session.inherited_from(row)).map_or("", |part| part.session.as_str());
    let what = match numbers {
        [number] => format!("block {number} is inherited from the session {parent}"),
        _ => format!("{} blocks are inherited from the session {parent}", numbers.len()),
    };
    let words: Vec<&str> = env.command.split(' ').collect();
    let mut given: Vec<&str> = Vec::new();
    let mut left = words.iter().copied().skip_while(|word| *word == "aperture");
    while let Some(word) = left.next() {
        match word {
            "-s" | "--session" => drop(left.next()),
            _ if word.starts_with("--session=") => {}
            _ => given.push(word),
        }
    }
    (what, format!("to change them there, for every fork: aperture {} -s {parent}", given.join(" ")))
}

/// The sizes in tokens on which the cost of a plan depends: the window before and after it, and the part before the first change.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub struct EditSizes {
    before: f64,
    after: f64,
    unchanged_prefix: f64,
}

/// Returns the sizes of a plan; `None` if the window does not change.
pub fn edit_sizes(drafted: &Drafted) -> Option<EditSizes> {
    let Drafted { plan, unchanged_prefix, .. } = drafted;
    let (before, after, unchanged_prefix) = (plan.tokens_before, plan.tokens_after, *unchanged_prefix);
    plan.slots().any(|(slot, ..)| slot.is_sent()).then_some(EditSizes { before, after, unchanged_prefix })
}

/// Returns the cost and the savings of a plan with these sizes.
pub fn edit_price(env: &Env, workspace: &Workspace<'_>, sizes: &EditSizes) -> EditPrice {
    let reading = &workspace.reading;
    let facts = EditFacts {
        window_before: sizes.before,
        window_after: sizes.after,
        unchanged_prefix: sizes.unchanged_prefix,
        model: &reading.model,
        idle_milliseconds: engine::idle_milliseconds(reading, env.style.now.as_millisecond()),
        cache_lifetime_milliseconds: workspace.cache_milliseconds(),
        steps_per_turn: engine::steps_per_turn(reading),
    };
    engine::price(&facts, &env.prices)
}

fn report(
    env: &Env,
    workspace: &Workspace<'_>,
    summary: &ChangeSummary,
    drafted: &Drafted,
    options: ChangeOptions,
) -> ChangeReport {
    let plan = &drafted.plan;
    let marked = |test: &dyn Fn(&Mark) -> bool| plan.marks.iter().filter(|mark| test(mark)).map(|mark| mark.number).collect();
    let mut changes: Vec<BlockChange> = plan.changes().cloned().collect();
    changes.sort_by_key(|change| change.number);
    let mut notes = summary.notes.clone();
    let inverted = plan.inverts.filter(|_| plan.has_no_effect() && summary.companions.is_empty());
    if let Some(inverted) = inverted {
        notes.push(match workspace.history.removed_by(inverted) {
            Some(by) => format!("only the log changes: operation {by} removed what it changed"),
            None => "only the log changes: nothing of it is in the file".to_owned(),
        });
    }
    if summary.by_state && !changes.is_empty() {
        let stale =
            |change: &&BlockChange| workspace.reading.block(change.number).is_some_and(|block| block.state == State::Stale);
        let saved = |change: &BlockChange| change.tokens_before - change.tokens_after;
        let of_stale: f64 = changes.iter().filter(stale).map(saved).sum();
        let of_others = changes.iter().map(saved).sum::<f64>() - of_stale;
        let tokens = |saved: f64| engine::amount(saved.max(0.0).round() as u64);
        notes.insert(
            0,
            match (changes.iter().any(|change| stale(&change)), changes.iter().all(|change| stale(&change))) {
                (_, true) => "all of it came from stale blocks".to_owned(),
                (false, _) => format!("nothing was stale; {} came from older blocks in use", tokens(of_others)),
                _ => format!("{} came from stale blocks, {} from older blocks in use", tokens(of_stale), tokens(of_others)),
            },
        );
    }
    ChangeReport {
        session: workspace.location.id.clone(),
        named: env.name_of(&workspace.path, &workspace.location.id),
        kind: summary.kind,
        dry_run: options.dry_run,
        verb: summary.verb,
        what: summary.what.clone(),
        groups: engine::change_groups(&workspace.reading, &changes),
        detail: match options {
            ChangeOptions { full: true, .. } => ChangeDetail::Full,
            ChangeOptions { stat: true, .. } => ChangeDetail::Stat,
            _ => ChangeDetail::Table,
        },
        changes,
        is_of_log: inverted.is_some(),
        marked: marked_blocks(workspace, plan),
        marks: marked(&|mark| mark.after.is_some()),
        unmarked: marked(&|mark| mark.after.is_none()),
        edits: plan.slots().count(),
        companions: summary.companions.len(),
        rows_added: plan.slots().filter(|(_, before, _)| !before).count(),
        rows_removed: plan.slots().filter(|(.., after)| !after).count(),
        skipped: summary.skipped.iter().map(|(why, blocks)| (why.reason(), blocks.clone())).collect(),
        tokens_before: plan.tokens_before,
        tokens_after: plan.tokens_after,
        thinking_dropped: drafted.thinking_dropped.blocks,
        thinking_dropped_tokens: drafted.thinking_dropped.tokens,
        thinking_folded: drafted.thinking_dropped.folded,
        binds_thinking: engine::binding(&workspace.reading.model) != engine::Binding::Free,
        thinking_restored: drafted.thinking_restored.blocks,
        thinking_restored_tokens: drafted.thinking_restored.tokens,
        price: edit_sizes(drafted).map(|sizes| edit_price(env, workspace, &sizes)),
        bills_changed: summary.kind == OperationKind::Change && !keeps_bills(workspace, plan),
        differences: drafted.differences.clone(),
        file_bytes: workspace.reading.session.bytes,
        removed: summary.removed,
        notes,
        ..ChangeReport::default()
    }
}

fn marked_blocks(workspace: &Workspace<'_>, plan: &Plan) -> Vec<MarkedBlock> {
    let sets = plan.marks.iter().any(|mark| mark.after.is_some());
    let told = plan.marks.iter().filter(|mark| mark.after.is_some() == sets);
    let blocks = told.filter_map(|mark| workspace.reading.block(mark.number));
    let marked = |block: &Block| MarkedBlock { number: block.number, label: engine::label(block), tokens: block.tokens };
    blocks.map(marked).collect()
}

/// Returns true if a plan leaves the usage figures in the file unchanged.
fn keeps_bills(workspace: &Workspace<'_>, plan: &Plan) -> bool {
    let figures = plan.edits.iter().filter(|edit| edit.slot == Slot::Usage);
    let mut figures = figures.filter_map(|edit| Some((edit.before.as_deref()?, edit.after.as_deref()?)));
    figures.all(|(before, after)| workspace.provider.same_bills(before, after))
}

fn real_path(env: &Env, found: &Found) -> Result<PathBuf, CommandError> {
    Ok(env.disk.resolve(&found.path)?)
}

/// Returns true if a running client has the session open and sends its own copy of it: its requests do not pass the proxy.
pub fn is_live(env: &Env, found: &Found) -> bool {
    !clients(env, found).is_empty() && !is_proxied(env, found)
}

/// Returns true if the requests of a session pass a running proxy, so that changes of contents hold from the next request on.
pub fn is_proxied(env: &Env, found: &Found) -> bool {
    let session = found.location.parent.as_deref().unwrap_or(&found.location.id);
    let process = env.existing_store().ok().flatten().and_then(|store| store.proxy_of(session).ok().flatten());
    process.is_some_and(workspace::is_alive)
}

/// Returns true if a proxy can make the changes of a plan in the requests of a client that has the session open. It has no contents
/// but those of the request: contents that left the window enter it again only if the client has not read the session since.
fn is_on_wire(env: &Env, found: &Found, store: &Store, plan: &Plan, keeps_blocks: bool) -> Result<bool, CommandError> {
    let restored = match (&plan.reversal, &plan.window) {
        (Some(reversal), _) => reversal.point..,
        (None, Some(window)) if window.restores() => 0..,
        (None, _) => return Ok(keeps_blocks || plan.window.is_some()),
    };
    let Some(session) = store.find(&real_path(env, found)?)? else { return Ok(keeps_blocks) };
    let (live, mut changes) = (LiveChanges::read(env, found, None)?, 0);
    for operation in store.content_operations(&session)?.iter().filter(|operation| operation.id > restored.start) {
        if operation.window.is_some() {
            changes += 1;
            if !live.is_unread(operation.id) {
                return Ok(false);
            }
        }
    }
    Ok(keeps_blocks || changes > 0)
}

/// Returns true if a plan adds and removes no block of the window, apart from thinking.
fn keeps_blocks(workspace: &Workspace<'_>, drafted: &Drafted) -> bool {
    let counts = |session: &Session, blocks: &[BlockNumber]| {
        let kinds = blocks.iter().filter_map(|number| session.blocks.get(*number as usize - 1)).map(|block| block.kind);
        kinds.filter(|kind| *kind != BlockKind::Thinking).count()
    };
    let reading = &workspace.reading;
    counts(&reading.session, &reading.window.blocks) == counts(&drafted.revision.session, &drafted.window.blocks)
}

/// Returns the processes of the running clients that have the session, or for a subagent's session that of its parent, open.
pub fn clients(env: &Env, found: &Found) -> Vec<u32> {
    let of = |session: &str| workspace::clients_of(env.disk, &env.places, session);
    let own = of(&found.location.id);
    if own.is_empty() { found.location.parent.as_deref().map(of).unwrap_or_default() } else { own }
}

/// Returns the note on a change that a running client has not loaded.
pub fn takes_effect(session: &str) -> String {
    format!("takes effect after /resume {session}")
}

/// Returns the warning about a note at the end of a session that a client has open.
pub fn of_note(env: &Env) -> Vec<String> {
    let live = env.find(None).is_ok_and(|found| is_live(env, &found));
    live.then(|| "the client continues with its own copy: a prompt before the next /resume drops the note".to_owned())
        .into_iter()
        .collect()
}

/// Returns the error for a session that a client has open.
pub fn open_in_client(found: &Found) -> CommandError {
    let id = &found.location.id;
    let error = anyhow!("a client has the session {id} open and does not read it again automatically");
    let hint = format!("close the client, or use --live and then type /resume {id} in it");
    CommandError::new(ErrorKind::Conflict, error).hint(hint)
}
