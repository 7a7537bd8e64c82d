//! The work on the queue.

use super::client::Client;
use crate::app::{CommandError, Env, ErrorKind, SidecarSettings, wait};
use crate::commands::memory::compared;
use crate::commands::sidecar::{WorkOptions, queue_all, source, subjects_of};
use crate::engine;
use crate::engine::sidecar::{AnswerFault, SidecarSubject, SidecarTask, comparison, comparison_address, is_alike};
use crate::fsio::{Disk, Identity, read_head};
use crate::memory::{Tree, TreePlace};
use crate::model::{Key, MemoryScope};
use crate::search::{Source, turn_texts};
use crate::store::{QueuedTask, SidecarCall, SidecarFailure, SidecarResult, SidecarStore};
use crate::workspace::Workspace;
use anyhow::anyhow;
use rustc_hash::FxHashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The longest sleep between two looks at the queue.
const POLL: Duration = Duration::from_secs(1);
/// The interval between two looks for a session whose contents are not queued, in milliseconds.
const PLAN_MILLISECONDS: i64 = 60_000;
/// The interval between two looks at the power supply, in milliseconds.
const POWER_MILLISECONDS: i64 = 30_000;
/// Added to the time limit of a request for the end of a lease, in milliseconds.
const LEASE_MILLISECONDS: i64 = 10_000;
/// The step of the priority of the process, from 0 to 19.
const NICE: i32 = 10;
const POWER_SUPPLIES: &str = "/sys/class/power_supply";

/// The file whose lock the worker holds.
pub fn lock_file(env: &Env) -> Result<PathBuf, CommandError> {
    Ok(env.store_directory()?.join("locks").join("sidecar"))
}

/// Lowers the priority of this process, if the settings want it.
fn yield_to_others(env: &Env) {
    #[cfg(unix)]
    if env.sidecar.low_priority {
        // Without it, the work is done all the same.
        let _ = rustix::process::nice(NICE);
    }
    #[cfg(not(unix))]
    let _ = (env, NICE);
}

/// The result of a worker's run.
#[derive(Debug, Default)]
pub struct End {
    pub accepted: u64,
    pub refused: u64,
    pub dropped: u64,
    /// The reason why tasks are left.
    pub error: Option<String>,
}

#[derive(Default)]
struct Counts {
    accepted: AtomicU64,
    refused: AtomicU64,
    dropped: AtomicU64,
}

/// The workers of this process, which hold the lock of workers.
pub struct Workers<'a> {
    env: &'a Env,
    settings: SidecarSettings,
    store: SidecarStore,
    _lock: Box<dyn Send>,
}

impl<'a> Workers<'a> {
    /// Takes the lock of workers.
    /// Errors: another worker runs, or the database cannot be opened.
    pub fn new(env: &'a Env, settings: &SidecarSettings) -> Result<Workers<'a>, CommandError> {
        let store = env.sidecar_store()?;
        let file = lock_file(env)?;
        let lock =
            env.disk.lock(&file).map_err(|error| CommandError::of_disk(error, format!("cannot lock {}", file.display())))?;
        let lock = lock.ok_or_else(|| {
            CommandError::new(ErrorKind::Conflict, anyhow!("another worker is running")).hint("for its state: aperture sidecar")
        })?;
        store.expire_leases()?;
        Ok(Workers { env, settings: settings.clone(), store, _lock: lock })
    }

    /// Works until no task is left with `until_empty`, until the process that started this one ends with `beside`, or else for ever.
    pub fn run(&self, options: WorkOptions, until_empty: bool) -> Result<End, CommandError> {
        if options.again {
            self.store.restart(&self.settings.model)?;
        }
        yield_to_others(self.env);
        let parent = self.env.client().process;
        let ends = || options.beside && self.env.client().process != parent;
        let counts = Counts::default();
        let threads = self.settings.at_once.clamp(1, 64);
        let errors: Vec<Result<Option<String>, CommandError>> = std::thread::scope(|scope| {
            let work = |is_first: bool| {
                let (counts, ends, env, settings) = (&counts, &ends, self.env.clone(), &self.settings);
                move || {
                    let mut worker = Worker::new(env, settings, counts)?;
                    worker.work(ends, until_empty, is_first)
                }
            };
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(work(false))).collect();
            let first = work(true)();
            let joined = others.into_iter().map(|thread| thread.join().unwrap_or(Ok(None)));
            std::iter::once(first).chain(joined).collect()
        });
        let error = errors.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().flatten().next();
        Ok(End {
            accepted: counts.accepted.into_inner(),
            refused: counts.refused.into_inner(),
            dropped: counts.dropped.into_inner(),
            error,
        })
    }
}

/// A session as it is read, and its subjects.
type Opened = (Workspace<'static>, FxHashMap<(SidecarTask, Key), SidecarSubject>);

/// A value read from the last file, valid while that is the same.
type OfFile<T> = Option<((PathBuf, Identity), T)>;

struct Worker<'a> {
    env: Env,
    settings: &'a SidecarSettings,
    store: SidecarStore,
    client: Client,
    counts: &'a Counts,
    /// Prints the words of the server.
    shown: Env,
    said: Vec<String>,
    /// The time at which the process started, in milliseconds since 1970, UTC.
    started: i64,
    opened: OfFile<Opened>,
    /// The texts of the turns of a session, by their content.
    turns: OfFile<FxHashMap<u64, String>>,
}

impl<'a> Worker<'a> {
    fn new(env: Env, settings: &'a SidecarSettings, counts: &'a Counts) -> Result<Worker<'a>, CommandError> {
        let store = env.sidecar_store()?;
        let client = Client::new(&env, settings).map_err(|error| CommandError::usage(anyhow::Error::from(error)))?;
        let started = env.current_time() - milliseconds(env.elapsed());
        let (shown, env) = (env.clone(), env.beside(|_| {}));
        let (said, opened, turns) = (Vec::new(), None, None);
        Ok(Worker { env, settings, store, client, counts, shown, said, started, opened, turns })
    }

    /// Returns the time, in milliseconds since 1970, UTC. It advances although the clock of tests is fixed.
    fn now(&self) -> i64 {
        self.started + milliseconds(self.env.elapsed())
    }

    /// Works, and returns the reason for which tasks are left.
    fn work(&mut self, ends: &dyn Fn() -> bool, until_empty: bool, plans: bool) -> Result<Option<String>, CommandError> {
        let (mut planned, mut looked, mut has_power) = (i64::MIN, i64::MIN, true);
        let mut seen = None;
        while !ends() {
            let now = self.now();
            if now.saturating_sub(looked) >= POWER_MILLISECONDS {
                (looked, has_power) = (now, self.settings.on_battery || !is_on_battery(self.env.disk, Path::new(POWER_SUPPLIES)));
            }
            if !has_power {
                if until_empty {
                    return Ok(Some("this machine runs on battery: sidecar.on_battery allows the work".to_owned()));
                }
                wait(POLL);
                continue;
            }
            let (usable, problem) = self.usable(now)?;
            let until = now + i64::from(self.settings.seconds) * 1000 + LEASE_MILLISECONDS;
            if let Some(task) = self.store.lease(now, until, &|task| usable.contains(&task))? {
                self.attempt(&task)?;
                continue;
            }
            if plans && !until_empty && now.saturating_sub(planned) >= PLAN_MILLISECONDS {
                planned = now;
                self.plan(&mut seen);
                continue;
            }
            let due = self.store.next_due(&|task| usable.contains(&task))?;
            if until_empty && due.is_none() {
                let is_empty = self.store.next_due(&|_| true)?.is_none();
                return Ok(problem.filter(|_| !is_empty));
            }
            let left = due.map_or(POLL, |due| Duration::from_millis((due - now).clamp(20, 1_000) as u64));
            wait(left.min(POLL));
        }
        Ok(None)
    }

    /// Returns the tasks whose model may be asked, and the reason if one may not.
    fn usable(&self, now: i64) -> Result<(Vec<SidecarTask>, Option<String>), CommandError> {
        let (mut usable, mut problem) = (Vec::new(), None);
        for task in SidecarTask::ALL {
            let model = self.settings.model_of(task);
            let state = self.store.model(model)?;
            match () {
                () if model.is_empty() => {}
                () if state.stopped.contains(&task) => {
                    problem =
                        Some(format!("the model {model} is stopped for the task {task}: too many of its answers were refused"));
                }
                () if state.asked_again > now => problem = Some("the server failed several times".to_owned()),
                () => usable.push(task),
            }
        }
        Ok((usable, problem))
    }

    /// Queues the contents of the newest session of the project, once its client rests.
    fn plan(&self, seen: &mut Option<(PathBuf, Identity)>) {
        let Ok(found) = self.env.find(None) else { return };
        let Ok(identity) = self.env.disk.identify(&found.path) else { return };
        let here = Some((found.path.clone(), identity));
        if *seen == here {
            return;
        }
        let Ok(workspace) = self.env.read(found) else { return };
        let written = workspace.reading.session.last_written().unwrap_or_default();
        let idle = i64::try_from(self.env.idle_seconds).unwrap_or(i64::MAX).saturating_mul(1000);
        if self.now().saturating_sub(written) >= idle && queue_all(&self.env, &workspace).is_ok() {
            *seen = here;
        }
    }

    fn attempt(&mut self, task: &QueuedTask) -> Result<(), CommandError> {
        let model = self.settings.model_of(task.task).to_owned();
        let text = match self.text(task) {
            Ok(Some(text)) => text,
            Ok(None) => {
                self.counts.dropped.fetch_add(1, Ordering::Relaxed);
                return Ok(self.store.drop_task(task)?);
            }
            Err(error) => {
                let failure = SidecarFailure::of_task(format!("{:#}", error.source));
                return Ok(self.store.fail(task, &model, &failure, self.now())?);
            }
        };
        if task.task == SidecarTask::Duplicate && !is_alike(&text) {
            let unlike = SidecarResult::Refused(AnswerFault::Unlike.name().to_owned());
            self.store.complete(task, &model, &unlike, self.now())?;
            return Ok(());
        }
        let started = self.now();
        let (answered, mut call) = self.ask(task, &text);
        let now = self.now();
        (call.time, call.milliseconds) = (started, u32::try_from(now - started).unwrap_or(u32::MAX));
        match answered {
            Ok(result) => {
                if self.store.complete(task, &model, &result, now)? {
                    let is_refused = matches!(result, SidecarResult::Refused(_));
                    let count = if is_refused { &self.counts.refused } else { &self.counts.accepted };
                    count.fetch_add(1, Ordering::Relaxed);
                }
            }
            Err(failure) => {
                if !failure.words.is_empty() && !self.said.contains(&failure.words) {
                    self.shown.note(&format!("the server of the sidecar: {failure}"));
                    self.said.push(failure.words.clone());
                }
                call.error = Some(failure.error.clone());
                self.store.fail(task, &model, &failure, now)?;
            }
        }
        Ok(self.store.record_call(&model, &call)?)
    }

    /// Asks the server about a text, and checks the answer.
    fn ask(&self, task: &QueuedTask, text: &str) -> (Result<SidecarResult, SidecarFailure>, SidecarCall) {
        let mut call = SidecarCall::default();
        if task.task == SidecarTask::Embedding {
            let vector = self.client.embed(text).map(|(vector, tokens)| {
                call.sent_tokens = tokens;
                SidecarResult::Value(vector.iter().flat_map(|number| number.to_le_bytes()).collect())
            });
            return (vector, call);
        }
        let row = task.task.row();
        let result = self.client.ask(row, text).map(|answered| {
            (call.sent_tokens, call.answer_tokens) = (answered.sent_tokens, answered.answer_tokens);
            let judged = row.judge(text, &answered.text, answered.end, self.settings.tokens);
            let texts = judged.map(|texts| serde_json::to_vec(&texts).unwrap_or_default());
            texts.map_or_else(|fault| SidecarResult::Refused(fault.name().to_owned()), SidecarResult::Value)
        });
        (result, call)
    }

    /// Returns the text of a task; `None` if its content no longer exists.
    fn text(&mut self, task: &QueuedTask) -> Result<Option<String>, CommandError> {
        if task.task == SidecarTask::Memory {
            return self.memory_text(task);
        }
        let identity = match self.env.disk.identify(&task.session) {
            Ok(identity) => identity,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(CommandError::refused(anyhow::Error::from(error))),
        };
        if task.task == SidecarTask::Embedding {
            return self.turn_text(task, identity);
        }
        let file = (task.session.clone(), identity);
        if !self.opened.as_ref().is_some_and(|(known, _)| *known == file) {
            self.opened = None;
            let env = self.env.on(&task.session, "sidecar");
            let workspace = env.open(None)?;
            let subjects = subjects_of(&env, &workspace)?;
            let subjects = subjects.into_iter().map(|subject| ((subject.task, subject.address), subject)).collect();
            self.opened = Some((file, (workspace, subjects)));
        }
        let Some((_, (workspace, subjects))) = &self.opened else { return Ok(None) };
        let Some(subject) = subjects.get(&(task.task, task.address)) else { return Ok(None) };
        let text = source(&self.env, workspace, subject, self.settings.characters)?;
        Ok(Some(text).filter(|text| !text.trim().is_empty()))
    }

    /// Returns the comparison of a memory with its successor or a similar one; `None` if one of them changed.
    fn memory_text(&self, task: &QueuedTask) -> Result<Option<String>, CommandError> {
        let place = TreePlace { directory: task.session.clone(), scope: MemoryScope::Project, is_private: true };
        let tree = Tree::read(self.env.disk, &place)?;
        let pairs = compared(&tree).into_iter();
        let mut pairs = pairs.filter(|(older, newer)| comparison_address(&older.text, &newer.text) == task.address);
        Ok(pairs.next().map(|(older, newer)| engine::mask(&comparison(&older.text, &newer.text)).into_owned()))
    }

    /// Returns the text of a turn that a vector is made of; `None` if the turn no longer exists.
    fn turn_text(&mut self, task: &QueuedTask, identity: Identity) -> Result<Option<String>, CommandError> {
        let file = (task.session.clone(), identity);
        if !self.turns.as_ref().is_some_and(|(known, _)| *known == file) {
            let found = self.env.on(&task.session, "sidecar").find(None)?;
            self.turns = Some((file, turn_texts(self.env.disk, &Source::new(found, identity))?));
        }
        let text = u64::try_from(task.address.0).ok().and_then(|content| self.turns.as_ref()?.1.get(&content));
        Ok(text.map(|text| engine::mask(text).into_owned()))
    }
}

fn milliseconds(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

/// Returns true if a battery discharges and no mains is online. A machine without a known power supply has mains.
fn is_on_battery(disk: &dyn Disk, supplies: &Path) -> bool {
    let read = |path: &Path, name: &str| {
        let bytes = read_head(disk, &path.join(name), 64).unwrap_or_default();
        String::from_utf8_lossy(&bytes).trim().to_owned()
    };
    let supplies: Vec<PathBuf> = disk.list(supplies).unwrap_or_default().into_iter().map(|entry| entry.path).collect();
    let has_mains =
        supplies.iter().any(|path| matches!(read(path, "type").as_str(), "Mains" | "USB") && read(path, "online") == "1");
    let discharges = supplies.iter().any(|path| read(path, "type") == "Battery" && read(path, "status") == "Discharging");
    discharges && !has_mains
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fsio::RealDisk;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "makes power supplies")]
    fn only_a_battery_that_discharges_without_mains_stops_the_work() {
        let directory = tempfile::tempdir().unwrap();
        let set = |supply: &str, values: &[(&str, &str)]| {
            let path = directory.path().join(supply);
            std::fs::create_dir_all(&path).unwrap();
            values.iter().for_each(|(name, value)| std::fs::write(path.join(name), format!("{value}\n")).unwrap());
        };
        let is_on_battery = || is_on_battery(&RealDisk, directory.path());
        assert!(!is_on_battery());
        set("BAT0", &[("type", "Battery"), ("status", "Discharging")]);
        assert!(is_on_battery());
        set("AC", &[("type", "Mains"), ("online", "1")]);
        assert!(!is_on_battery());
        set("AC", &[("online", "0")]);
        assert!(is_on_battery());
        set("BAT0", &[("status", "Full")]);
        assert!(!is_on_battery());
    }
}
