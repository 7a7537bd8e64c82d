#![expect(clippy::disallowed_methods, reason = "the one place that asks the environment, the clock and the terminal")]

use super::error::OutputError;
use super::files::make_private;
use super::seal::KeyHolder;
use super::settings::{InForce, Keeping, MemorySettings, SidecarSettings};
use super::{
    ColorChoice, CommandError, ErrorKind, Globals, Hooks, PROJECT_FILE, may_read, misuse, next_step_at, programs, session_name,
};
use crate::engine::{CheckLimits, Known, ModelPolicy, Prices, ReadSettings, Rules};
use crate::fsio::{Disk, LOCK_STEP, LOCK_STEPS, RealDisk};
use crate::model::{Actor, Event, Fault, History, Session};
use crate::output::{Clean, Gate, Report, Style};
use crate::provider::{PROVIDERS, Places, Variables};
use crate::store::{Cache, PATIENCE, STORE_FILE, SealedDisk, Store, StoreError};
use crate::wire::stages::budget::BUDGET;
use crate::workspace::{self, Found, PartsDisk, Project, RequestDisk, RequestSessions, Workspace, kept_folder, named_directory};
use anyhow::{Context, anyhow};
use std::borrow::Cow;
use std::env::{self, var_os};
use std::ffi::OsString;
use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

const COLUMNS_WITHOUT_TERMINAL: usize = 140;
/// The maximum size of text read from standard input, in bytes.
const LONGEST_INPUT: u64 = 16 << 20;
/// The size of a session, in bytes, above which reading it shows a progress indicator on the terminal.
const LARGE_SESSION_BYTES: u64 = 8 << 20;

type Listener = Arc<dyn Fn(&str) + Send + Sync>;

/// The environment of a command: locations, output, settings and the global options.
#[derive(Clone)]
pub struct Env {
    pub disk: &'static dyn Disk,
    pub places: Places,
    pub directory: PathBuf,
    pub style: Style,
    pub settings: ReadSettings,
    pub rules: Rules,
    /// The limits that `check` uses if none are given.
    pub check: CheckLimits,
    /// Texts that the user gave to be treated as credentials.
    pub chosen_texts: Known,
    pub preset: String,
    pub prices: Prices,
    /// The time without writes after which rules may act on a session, in seconds.
    pub idle_seconds: u64,
    pub(super) globals: Globals,
    pub keys: Arc<KeyHolder>,
    /// The path of the session to use instead of `-s`.
    pub(super) at: Option<String>,
    pub(super) chosen: Arc<Mutex<Option<Chosen>>>,
    pub(super) requests: Option<Arc<dyn RequestSessions>>,
    /// The session of a run over many sessions, which is used instead of `-s`. The run shows its own progress.
    pub(super) visited: Option<Found>,
    pub hooks: Hooks,
    /// True if the first prompt after the prompt cache expired is held once.
    pub holds_cold_prompts: bool,
    pub memory: MemorySettings,
    pub keeping: Keeping,
    pub sidecar: SidecarSettings,
    /// The settings for the stages of the proxy.
    pub pipeline: crate::wire::PipelineSettings,
    /// True if output for a client may have colours, although standard output is not a terminal.
    pub client_colors: bool,
    /// True if reports are written as JSON.
    pub json: bool,
    /// The command as it was given, credentials included.
    pub command: String,
    started: Instant,
    /// The id of the session of the client in which this runs.
    pub(super) surrounding: Option<String>,
    pub actor: Actor,
    /// True if the user approved the command of the model that is executed.
    pub is_approved: bool,
    pub model: ModelPolicy,
    /// Receives the notes in the place of standard error.
    listener: Option<Listener>,
    paged: bool,
    pub(super) cached: bool,
    pub(super) cache: OnceLock<Arc<Cache>>,
    /// The error of a lock beside the store, if its file system has none; set when the store is first used.
    lacks_locks: OnceLock<Option<String>>,
    /// True if the command only reads: it does without a locked store.
    only_reads: bool,
    is_locked_noted: Arc<AtomicBool>,
    /// The gate that masks credentials in all output.
    pub gate: Gate,
}

/// The session that was found last.
#[derive(Clone)]
pub(super) struct Chosen {
    pub(super) found: Found,
    pub(super) named: Option<String>,
}

/// A report in both of its forms.
#[derive(Clone, Debug)]
pub struct Answer {
    pub text: Clean,
    pub json: Clean,
}

/// The client that started this process as its server.
#[derive(Clone, Debug, Default)]
pub struct Client {
    /// Its process; `None` if the platform does not report parent processes.
    pub process: Option<u32>,
    /// The directory of its project, or the value of `-C`.
    pub project: Option<PathBuf>,
    /// The id of the session that was open when it started this process.
    pub session: Option<String>,
}

impl Env {
    /// Reads the environment, the settings files and the terminal. All output passes the gate.
    /// Errors: a settings file is invalid, or there is no home directory.
    pub fn new(globals: &Globals, command: String, gate: Gate) -> Result<Env, CommandError> {
        let keys = KeyHolder::new(data_directory());
        let (kept, own) = (kept_folder(&data_directory().unwrap_or_default()), keys.clone());
        // It lives until the process ends.
        let disk = Box::leak(Box::new(PartsDisk(SealedDisk::new(RealDisk, kept, move || own.seal().ok()))));
        Env::with(globals, command, gate, keys, disk)
    }

    fn with(
        globals: &Globals,
        command: String,
        gate: Gate,
        keys: Arc<KeyHolder>,
        disk: &'static dyn Disk,
    ) -> Result<Env, CommandError> {
        let home = env::home_dir().filter(|home| home.is_absolute());
        let home =
            home.ok_or_else(|| CommandError::new(ErrorKind::Internal, anyhow!("there is no home directory")).hint("set HOME"))?;
        if let Some(own) = own_home().filter(|own| own.is_relative()) {
            return Err(misuse!("APERTURE_HOME is not an absolute path: {}", own.display()).hint("name the whole path"));
        }
        let current = env::current_dir()
            .context("cannot determine the current directory")
            .map_err(|error| CommandError::new(ErrorKind::Internal, error))?;
        let directory =
            globals.directory.as_ref().map_or(current.clone(), |directory| named_directory(disk, &current, directory));
        let places = Places::new(home, |name| var_os(name));
        // A directory that was deleted or moved still has its sessions.
        let is_known = || !directory.exists() && Project::at(disk, &directory).has_sessions(disk, &places);
        if globals.directory.is_some() && !directory.is_dir() && !is_known() {
            return Err(misuse!("{} is not a directory", directory.display()));
        }
        let settings = settings(disk, &directory)?.settings;
        let (mut rules, mut pipeline) = (settings.rules()?, settings.pipeline());
        if let Some(tokens) = globals.budget {
            rules.budget_tokens = Some(tokens);
            pipeline = pipeline.with(&BUDGET, true);
        }
        let terminal = io::stdout().is_terminal();
        let plain =
            var_os("NO_COLOR").is_some_and(|value| !value.is_empty()) || var_os("TERM").is_some_and(|term| term == "dumb");
        let style = Style {
            color: match globals.color {
                ColorChoice::Always => true,
                ColorChoice::Never => false,
                ColorChoice::Auto => terminal && !plain,
            },
            width: columns(),
            now: now(),
            zone: jiff::tz::TimeZone::system,
        };
        Ok(Env {
            disk,
            places,
            directory,
            style,
            rules,
            check: settings.check(),
            chosen_texts: Known::default(),
            preset: settings.preset().to_owned(),
            prices: settings.prices(),
            idle_seconds: settings.idle_seconds(),
            holds_cold_prompts: settings.resume.ask,
            pipeline,
            client_colors: globals.color != ColorChoice::Never && !plain,
            settings: settings.for_reading(globals.window),
            globals: globals.clone(),
            keys,
            at: None,
            chosen: Arc::default(),
            requests: None,
            visited: None,
            listener: None,
            json: globals.json,
            command,
            started: Instant::now(),
            surrounding: client_variable(|variables| variables.session).and_then(|id| id.into_string().ok()),
            actor: Actor::User,
            is_approved: false,
            model: settings.model(),
            hooks: settings.hooks,
            memory: settings.memory,
            keeping: settings.sessions.keep,
            sidecar: settings.sidecar,
            paged: terminal && !globals.no_pager && !globals.json,
            cached: !globals.no_cache,
            cache: OnceLock::new(),
            lacks_locks: OnceLock::new(),
            only_reads: false,
            is_locked_noted: Arc::default(),
            gate,
        })
    }

    /// Updates the time and the width of the terminal, for a command that runs for long.
    pub fn refresh(&mut self) {
        (self.style.now, self.style.width) = (now(), columns());
    }

    pub fn current_time(&self) -> i64 {
        now().as_millisecond()
    }

    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Returns the height of the terminal in lines; `None` if the output is not for an interactive terminal.
    pub fn screen_height(&self) -> Option<usize> {
        let plain = self.json || !io::stdout().is_terminal() || var_os("TERM").is_some_and(|term| term == "dumb");
        let (_, height) = if plain { None } else { terminal_size::terminal_size() }?;
        Some(usize::from(height.0))
    }

    /// Returns a copy for another session, given by its path, and another command, as the log shows it.
    pub fn on(&self, session: &Path, command: &str) -> Env {
        let at = Some(session.to_string_lossy().into_owned());
        Env { at, chosen: Arc::default(), command: command.to_owned(), ..self.clone() }
    }

    /// Returns a copy in which `-s` names this session, or none.
    pub fn naming(&self, session: Option<String>) -> Env {
        Env { globals: Globals { session, ..self.globals.clone() }, ..self.clone() }
    }

    /// Returns the environment of a command that only reads: it does without a locked store.
    pub fn reading(&self) -> Cow<'_, Env> {
        if self.only_reads || !self.keys.is_locked() {
            return Cow::Borrowed(self);
        }
        Cow::Owned(Env { only_reads: true, ..self.clone() })
    }

    /// Returns a copy for one session of a run over many, which shows no progress and no notes of its own.
    pub fn visiting(&self, found: &Found) -> Env {
        // The cache is opened once, not once for each session.
        self.cache();
        Env { visited: Some(found.clone()), ..self.clone() }
    }

    /// Returns a copy for work beside a program that uses the terminal: a function receives the notes, and no progress is shown.
    pub fn beside(&self, listener: impl Fn(&str) + Send + Sync + 'static) -> Env {
        Env { listener: Some(Arc::new(listener)), ..self.clone() }
    }

    /// Returns the progress bar of a run over many sessions, which is shown on a terminal only.
    pub fn progress(&self, sessions: usize) -> indicatif::ProgressBar {
        if sessions < 2 || self.listener.is_some() || !io::stderr().is_terminal() {
            return indicatif::ProgressBar::hidden();
        }
        let bar = indicatif::ProgressBar::new(sessions as u64);
        let style = indicatif::ProgressStyle::with_template("{bar:20} {pos}/{len} sessions  {msg}  {eta} left");
        let bar = style.map(|style| bar.clone().with_style(style)).unwrap_or(bar);
        bar.enable_steady_tick(Duration::from_millis(150));
        bar
    }

    /// Returns the progress bar of work on a number of bytes, which is shown on a terminal only.
    pub fn byte_progress(&self, total: u64) -> indicatif::ProgressBar {
        if self.listener.is_some() || !io::stderr().is_terminal() {
            return indicatif::ProgressBar::hidden();
        }
        let bar = indicatif::ProgressBar::new(total);
        let style = indicatif::ProgressStyle::with_template("{bar:20} {bytes}/{total_bytes}  {eta} left");
        style.map(|style| bar.clone().with_style(style)).unwrap_or(bar)
    }

    /// Returns a copy that also has the sessions in the memory of a proxy. Their disk lives until the process ends.
    pub fn with_requests(&self, requests: Arc<dyn RequestSessions>) -> Env {
        let disk = Box::leak(Box::new(RequestDisk { disk: self.disk, sessions: requests.clone() }));
        Env { disk, requests: Some(requests), chosen: Arc::default(), ..self.clone() }
    }

    /// Returns a copy that keeps windows behind the proxy below a number of tokens, whatever the settings say.
    /// Errors: same as [`Env::new`].
    pub fn with_budget(&self, tokens: u64) -> Result<Env, CommandError> {
        let globals = Globals { budget: Some(tokens), ..self.globals.clone() };
        let budgeted = Env::with(&globals, self.command.clone(), self.gate.clone(), self.keys.clone(), self.disk)?;
        Ok(Env { requests: self.requests.clone(), ..budgeted })
    }

    pub fn budget(&self) -> Option<u64> {
        self.globals.budget
    }

    /// Returns a copy with the current settings, for another directory, with plain text output.
    pub fn renewed(&self, directory: &Path) -> Result<Env, CommandError> {
        let directory = Some(directory.to_owned());
        let globals = Globals { directory, json: false, color: ColorChoice::Never, no_pager: true, ..self.globals.clone() };
        let renewed = Env::with(&globals, self.command.clone(), self.gate.clone(), self.keys.clone(), self.disk)?;
        Ok(Env { requests: self.requests.clone(), ..renewed })
    }

    /// Returns the reason why a running proxy cannot use the store.
    pub fn store_fault(&self) -> Option<String> {
        self.requests.as_ref().and_then(|requests| requests.store_fault())
    }

    pub fn is_directory(&self, path: &Path) -> bool {
        path.is_dir()
    }

    /// Returns the client that started this process, by its own description.
    pub fn client(&self) -> Client {
        let given = |name: fn(Variables) -> Option<&'static str>| client_variable(name).filter(|value| !value.is_empty());
        #[cfg(unix)]
        let process = Some(std::os::unix::process::parent_id());
        #[cfg(not(unix))]
        let process = None;
        let here = self.globals.directory.as_ref().map(|_| self.directory.clone());
        Client {
            process,
            project: here.or_else(|| given(|variables| variables.project).map(PathBuf::from)),
            session: given(|variables| variables.session).and_then(|id| id.into_string().ok()),
        }
    }

    pub fn variable(&self, name: &str) -> Option<OsString> {
        var_os(name)
    }

    pub fn process(&self) -> u32 {
        std::process::id()
    }

    /// Returns the path of this program's file.
    /// Errors: the platform does not report it.
    pub fn program(&self) -> Result<PathBuf, CommandError> {
        let program = env::current_exe().context("cannot determine the path of aperture");
        program.map_err(|error| CommandError::new(ErrorKind::Internal, error))
    }

    /// Returns the option that sets the size of the window, if it is set: a command with it makes the same plan.
    pub fn window_option(&self) -> Option<String> {
        self.globals.window.map(|tokens| format!("--window={tokens}"))
    }

    /// Returns the global options for another process of this program, except for the directory.
    pub(super) fn options(&self) -> Vec<String> {
        self.window_option().into_iter().chain((!self.cached).then(|| "--no-cache".to_owned())).collect()
    }

    /// Returns the directory of the store, which may not exist yet.
    /// Errors: there is no home directory.
    pub fn store_directory(&self) -> Result<PathBuf, CommandError> {
        let missing = || CommandError::new(ErrorKind::Internal, anyhow!("there is no directory for the store"));
        data_directory().ok_or_else(|| missing().hint("set APERTURE_HOME"))
    }

    /// Opens the store of the user, and creates it if necessary.
    /// Errors: the store cannot be created or opened, is locked, or was written by a newer aperture.
    pub fn store(&self) -> Result<Store, CommandError> {
        self.new_store(PATIENCE)
    }

    fn new_store(&self, patience: Duration) -> Result<Store, CommandError> {
        let (directory, seal) = (self.store_directory()?, self.keys.seal()?);
        make_private(&directory, STORE_FILE).map_err(|error| {
            CommandError::of_disk(error, format!("cannot create the store in {}", directory.display()))
                .hint("or set APERTURE_HOME to a writable directory")
        })?;
        self.expect_locks(&directory)?;
        Store::open_within(&directory, patience, &seal).map_err(|error| self.store_error(error, &directory))
    }

    /// Opens the store of the user; `None` if it does not exist, or it is locked and the command only reads.
    /// Errors: the store cannot be opened, is locked, or was written by a newer aperture.
    pub fn existing_store(&self) -> Result<Option<Store>, CommandError> {
        self.store_within(PATIENCE, false)
    }

    /// Opens the store for work that waits at most this long for other processes: the existing store, or, if `creates` is true, also
    /// a new one.
    pub fn store_within(&self, patience: Duration, creates: bool) -> Result<Option<Store>, CommandError> {
        if creates {
            return self.new_store(patience).map(Some);
        }
        let directory = self.store_directory()?;
        let seal = match self.keys.seal() {
            Err(locked) if self.only_reads => {
                self.note_locked(&locked);
                return Ok(None);
            }
            seal => seal?,
        };
        self.expect_locks(&directory)?;
        Store::open_existing_within(&directory, patience, &seal).map_err(|error| self.store_error(error, &directory))
    }

    /// Notes once that the store is locked, and what a command that reads does not have therefore.
    fn note_locked(&self, locked: &CommandError) {
        if !self.is_locked_noted.swap(true, Ordering::Relaxed) {
            let hints = locked.hints.join("; ");
            self.note(&format!("{:#}: pins, the log and originals are not available; {hints}", locked.source));
        }
    }

    /// Refuses a store on a file system that has no locks: SQLite would take each failed lock for one that another process holds, and wait.
    fn expect_locks(&self, directory: &Path) -> Result<(), CommandError> {
        let is_missing = || self.disk.identify(&directory.join(STORE_FILE)).is_err();
        if self.lacks_locks.get().is_none() && is_missing() {
            return Ok(());
        }
        let lacking = self.lacks_locks.get_or_init(|| {
            let error = self.disk.lock(&directory.join("locks").join("store")).err()?;
            (error.kind() == io::ErrorKind::Unsupported).then(|| error.to_string())
        });
        let Some(lacking) = lacking else { return Ok(()) };
        let error = io::Error::new(io::ErrorKind::Unsupported, lacking.clone());
        Err(CommandError::of_disk(error, format!("cannot open the store in {}", directory.display())))
    }

    fn store_error(&self, error: StoreError, directory: &Path) -> CommandError {
        let what = format!("cannot open the store in {}", directory.display());
        let damaged = matches!(error, StoreError::Damaged(_));
        let mut error = CommandError::from(error);
        error.source = error.source.context(what);
        if damaged {
            error.hints = vec!["the sessions are not affected; restore the file from a backup, or move it away".to_owned()];
        }
        error
    }

    /// Makes the gate mask the credentials that a session names, for a command that prints stored data of the session without
    /// reading the session itself. A session that cannot be read is ignored.
    pub fn learn(&self, found: &Found) {
        let _ = self.read_with_history(found.clone(), History::default(), &|_| false);
    }

    pub fn history_of(&self, found: &Found) -> Result<History, CommandError> {
        let Some(store) = self.existing_store()? else { return Ok(History::default()) };
        Ok(workspace::history(&store, &self.disk.resolve(&found.path)?)?.1)
    }

    /// Returns a text argument; `-` reads standard input.
    /// Errors: standard input cannot be read, or is not text.
    pub fn text(&self, given: &str) -> Result<String, CommandError> {
        if given != "-" {
            return Ok(given.to_owned());
        }
        let mut text = String::new();
        let read = io::stdin().lock().take(LONGEST_INPUT).read_to_string(&mut text);
        read.context("cannot read standard input").map_err(CommandError::refused)?;
        Ok(text)
    }

    /// Returns the text of a file that an argument names; `-` reads standard input. Bytes that are not UTF-8 are replaced.
    pub fn text_of(&self, file: &Path) -> Result<String, CommandError> {
        if file == Path::new("-") {
            return self.text("-");
        }
        let path = self.directory.join(file);
        let bytes = crate::fsio::read_head(self.disk, &path, LONGEST_INPUT as usize)
            .with_context(|| format!("cannot read {}", path.display()))
            .map_err(CommandError::refused)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Returns the history of a session; empty, with a note, if the store cannot be read.
    fn history(&self, found: &Found) -> History {
        let known = self.existing_store().and_then(|store| {
            let Some(store) = store else { return Ok(History::default()) };
            let path = self.disk.resolve(&found.path).unwrap_or_else(|_| found.path.clone());
            workspace::history(&store, &path).map(|(_, history)| history).map_err(CommandError::from)
        });
        self.or_note(known, "pins and the log are not available").unwrap_or_default()
    }

    /// Takes aperture's own lock on a session; waits briefly for another command to finish.
    /// Errors: another command holds the lock, or it cannot be created.
    pub fn lock(&self, path: &Path) -> Result<Box<dyn Send>, CommandError> {
        let name = self.keys.seal()?.hashed(path.as_os_str().as_encoded_bytes()).to_hex();
        let what = format!("the session {}", session_name(path));
        self.lock_file(&name.as_str()[..32], LOCK_STEPS, &what, &format!("changing {what}"))
    }

    /// Takes one of aperture's own locks after at most `steps` attempts. The errors name what it locks, and what the other process does.
    pub fn lock_file(&self, name: &str, steps: u32, what: &str, work: &str) -> Result<Box<dyn Send>, CommandError> {
        let file = self.store_directory()?.join("locks").join(name);
        for _ in 0..steps {
            match self.disk.lock(&file).map_err(|error| CommandError::of_disk(error, format!("cannot lock {what}")))? {
                Some(lock) => return Ok(lock),
                None => wait(LOCK_STEP),
            }
        }
        let error = anyhow!("another aperture process is {work}");
        Err(CommandError::new(ErrorKind::Conflict, error).hint("try again when it is done"))
    }

    pub fn open(&self, named: Option<&str>) -> Result<Workspace<'static>, CommandError> {
        self.read(self.find(named)?)
    }

    pub fn read(&self, found: Found) -> Result<Workspace<'static>, CommandError> {
        self.read_as_wanted(found, &|_| true)
    }

    /// Reads a session; the predicate decides after parsing if it is fully analyzed, or only as far as [`crate::engine::outline`].
    /// A hook needs that, because the client waits for it.
    pub fn read_as_wanted(&self, found: Found, whole: &dyn Fn(&Session) -> bool) -> Result<Workspace<'static>, CommandError> {
        let large = self.visited.is_none()
            && self.listener.is_none()
            && io::stderr().is_terminal()
            && self.disk.identify(&found.path).is_ok_and(|file| file.bytes > LARGE_SESSION_BYTES);
        let progress = large.then(|| {
            let spinner = indicatif::ProgressBar::new_spinner().with_message(format!("reading {}", session_name(&found.path)));
            spinner.enable_steady_tick(Duration::from_millis(150));
            spinner
        });
        let history = self.history(&found);
        let workspace = self.read_with_history(found, history, whole);
        if let Some(spinner) = progress {
            spinner.finish_and_clear();
        }
        if let (Ok(workspace), None) = (&workspace, &self.visited) {
            self.say_missing(&workspace.reading.session);
        }
        workspace
    }

    /// Prints a note if the rows that a fork inherits are missing, because their session was not found.
    fn say_missing(&self, session: &Session) {
        let from = session.rows.iter().find_map(|row| match row.event.as_deref() {
            Some(Event::ForkedFrom { session, inherits: Some(_) }) => Some(session),
            _ => None,
        });
        if let Some(parent) = from.filter(|_| session.damage.contains_key(&Fault::MissingParentSession)) {
            self.note(&format!("this session is a fork of {parent}, which was not found: its inherited rows are missing"));
        }
    }

    /// Reads a session with the given history; prints no notes.
    pub fn read_with(&self, found: Found, history: History) -> Result<Workspace<'static>, CommandError> {
        self.read_with_history(found, history, &|_| true)
    }

    fn read_with_history(
        &self,
        found: Found,
        history: History,
        whole: &dyn Fn(&Session) -> bool,
    ) -> Result<Workspace<'static>, CommandError> {
        let path = found.path.clone();
        let opened = Workspace::open(self.disk, self.cache(), history, found, &self.settings, whole);
        let know = |mut workspace: Workspace<'static>| {
            workspace.know(&self.chosen_texts);
            self.use_answers(&mut workspace);
            workspace
        };
        opened.map(know).inspect(|workspace| self.gate.learn(&workspace.reading.known)).map_err(|error| {
            if error.kind() == io::ErrorKind::ResourceBusy {
                return CommandError::from(error);
            }
            let step = next_step_at(&error, &path).unwrap_or_else(|| may_read(&path));
            let error = anyhow::Error::new(error).context(format!("cannot read {}", path.display()));
            CommandError::refused(error).hint(step)
        })
    }

    /// Writes a report as JSON or as text. Long text on a terminal goes through a pager.
    pub fn print(&self, report: &impl Report) -> Result<(), CommandError> {
        let clean = if self.json { self.gate.json(&report.json()) } else { self.gate.report(report, &self.style) };
        let text = clean.as_str();
        let rows = terminal_size::terminal_size().map_or(usize::MAX, |(_, height)| usize::from(height.0));
        if self.paged && text.lines().count() >= rows && programs::page(&clean, var_os("PAGER")) {
            return Ok(());
        }
        self.write(&clean)
    }

    /// Writes masked text to standard output and flushes it.
    pub fn write(&self, text: &Clean) -> Result<(), CommandError> {
        let mut stdout = io::stdout().lock();
        Ok(stdout.write_all(text.as_str().as_bytes()).and_then(|()| stdout.flush()).map_err(OutputError)?)
    }

    /// Returns a report in both forms, masked, for another layer to pass on.
    pub fn answer(&self, report: &impl Report) -> Answer {
        let text = self.gate.text(&report.text(&self.style), self.style.color);
        Answer { text, json: self.gate.json(&report.json()) }
    }

    /// Notes that a file or a directory is left out, because it cannot be read.
    pub fn note_skipped(&self, path: &Path, error: &io::Error) {
        self.note(&format!("skipped {}: {error}", path.display()));
    }

    /// Returns what was done; if it failed, notes what that means, and the error.
    pub fn or_note<T>(&self, done: Result<T, CommandError>, what: &str) -> Option<T> {
        done.inspect_err(|error| self.note(&format!("{what}: {:#}", error.source))).ok()
    }

    /// Writes a note to standard error, or to the listener.
    pub fn note(&self, text: &str) {
        if let Some(listener) = &self.listener {
            return listener(text);
        }
        let _ = writeln!(io::stderr().lock(), "note: {}", self.gate.text(text, false).as_str());
    }
}

/// Returns the value of a variable that a client sets; the first client that sets it counts.
fn client_variable(name: fn(Variables) -> Option<&'static str>) -> Option<OsString> {
    PROVIDERS.iter().filter_map(|provider| name(provider.variables())).find_map(var_os)
}

/// Returns the current time, or the one that tests set.
fn now() -> jiff::Timestamp {
    var_os("APERTURE_NOW").and_then(|now| now.to_str()?.parse().ok()).unwrap_or_else(jiff::Timestamp::now)
}

/// Returns the width of text in columns: that set by the user, otherwise that of the terminal.
fn columns() -> usize {
    let set = var_os("COLUMNS").and_then(|columns| columns.to_str()?.parse().ok());
    let terminal = || io::stdout().is_terminal().then(terminal_size::terminal_size).flatten();
    set.or_else(|| terminal().map(|(width, _)| usize::from(width.0))).unwrap_or(COLUMNS_WITHOUT_TERMINAL).max(20)
}

/// Sleeps for a time.
pub fn wait(time: Duration) {
    std::thread::sleep(time);
}

/// Returns the directory that the user chose for all of aperture's files.
fn own_home() -> Option<PathBuf> {
    var_os("APERTURE_HOME").filter(|path| !path.is_empty()).map(PathBuf::from)
}

/// Returns the data directory, which may not exist yet; `None` if there is none for it.
fn data_directory() -> Option<PathBuf> {
    own_home().or_else(|| directories::ProjectDirs::from("", "", "aperture").map(|project| project.data_dir().to_owned()))
}

/// Returns the directory of the user's caches, which may not exist yet; `None` if there is none for it.
pub(super) fn user_cache_directory() -> Option<PathBuf> {
    match own_home() {
        Some(home) => Some(home.join("cache")),
        None => directories::ProjectDirs::from("", "", "aperture").map(|project| project.cache_dir().to_owned()),
    }
}

/// Returns the settings file of the user, which may not exist; `None` if there is no directory for it.
pub fn settings_file() -> Option<PathBuf> {
    let user =
        own_home().or_else(|| directories::ProjectDirs::from("", "", "aperture").map(|project| project.config_dir().to_owned()));
    user.map(|directory| directory.join("config.toml"))
}

/// Returns the settings file of the project: that of the directory or of its nearest ancestor that has one.
pub fn project_file(disk: &dyn Disk, directory: &Path) -> Option<PathBuf> {
    directory.ancestors().map(|directory| directory.join(PROJECT_FILE)).find(|path| disk.identify(path).is_ok())
}

/// Reads the settings files of the user and of the project.
/// Errors: a file cannot be read, or has unknown names or values.
pub fn settings(disk: &dyn Disk, directory: &Path) -> Result<InForce, CommandError> {
    InForce::read(disk, settings_file().as_deref(), project_file(disk, directory).as_deref())
}
