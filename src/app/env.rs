#![expect(clippy::disallowed_methods, reason = "the one place that asks the environment, the clock and the terminal")]

use super::files::make_private;
use super::globals::{ColorChoice, Globals};
use super::settings::{Hooks, PROJECT_FILE, Settings};
use super::{CommandError, ErrorKind, pager};
use crate::engine::{CheckLimits, ModelPolicy, Prices, ReadSettings, Rules};
use crate::fsio::{Disk, RealDisk};
use crate::model::{Actor, Event, Fault, History, Session};
use crate::output::{Clean, Gate, Report, Style, session_name};
use crate::provider::Places;
use crate::store::{CACHE_FILE, Cache, STORE_FILE, Store, StoreError, TOTALS_FILE, TotalsCache};
use crate::workspace::{self, Found, Workspace};
use anyhow::{Context, anyhow};
use std::env::{self, var_os};
use std::fs;
use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Columns when no terminal says how many.
const COLUMNS_WITHOUT_TERMINAL: usize = 140;
/// How long a command waits for another one that changes the same session.
const LOCK_STEP: Duration = Duration::from_millis(20);
const LOCK_STEPS: u32 = 150;
/// Longest text that is read from standard input, in bytes.
const LONGEST_INPUT: u64 = 16 << 20;
/// Bytes of a session above which reading it is worth a sign of life on the terminal.
const LARGE_SESSION_BYTES: u64 = 8 << 20;

/// What a command is given: where things are, how to write, what the user asked of every command.
#[derive(Clone)]
pub struct Env {
    /// The file system.
    pub disk: &'static dyn Disk,
    /// Where the user's things are.
    pub places: Places,
    /// The directory to work from.
    pub directory: PathBuf,
    /// How text is written.
    pub style: Style,
    /// What the settings say about reading.
    pub settings: ReadSettings,
    /// What the settings say about shortening.
    pub rules: Rules,
    /// What `check` checks when nothing is named.
    pub check: CheckLimits,
    /// The name of the preset in use.
    pub preset: String,
    /// What the settings say about prices.
    pub prices: Prices,
    /// How long a session is quiet until rules may act on it, in seconds.
    pub idle_seconds: u64,
    /// What the user asked of every command.
    globals: Globals,
    /// The path of the session that it is all about, whatever `-s` says.
    at: Option<String>,
    /// What the settings say about hooks.
    pub hooks: Hooks,
    /// Whether what a client shows may have colours, which is no terminal to this program.
    pub client_colors: bool,
    /// Whether reports are written as JSON.
    pub json: bool,
    /// The command as it was given, credentials included.
    pub command: String,
    started: Instant,
    /// The session of the client in which this runs, by its id.
    surrounding: Option<String>,
    /// Who gave it, for the log.
    pub actor: Actor,
    /// What the model may do.
    pub model: ModelPolicy,
    paged: bool,
    cached: bool,
    /// The gate that every text passes on its way out.
    pub gate: Gate,
}

/// A report in both of its forms.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The text for people.
    pub text: Clean,
    /// The JSON form.
    pub json: Clean,
}

/// A client that started this process, as a server of its own.
#[derive(Clone, Debug, Default)]
pub struct Client {
    /// Its process; none where a process cannot be asked for its parent.
    pub process: Option<u32>,
    /// The directory of its project, or what `-C` says.
    pub project: Option<PathBuf>,
    /// The id of the session that it had open when it started this process.
    pub session: Option<String>,
}

impl Env {
    /// Asks the environment, the settings files and the terminal. What is written passes the gate.
    ///
    /// # Errors
    ///
    /// A settings file that cannot be used, or no home directory.
    pub fn new(globals: &Globals, command: String, gate: Gate) -> Result<Env, CommandError> {
        let disk = &RealDisk;
        let home = env::home_dir().filter(|home| !home.as_os_str().is_empty());
        let home =
            home.ok_or_else(|| CommandError::new(ErrorKind::Internal, anyhow!("there is no home directory")).hint("set HOME"))?;
        let current = env::current_dir()
            .context("cannot tell the current directory")
            .map_err(|error| CommandError::new(ErrorKind::Internal, error))?;
        let directory = globals.directory.as_ref().map_or(current.clone(), |directory| current.join(directory));
        if globals.directory.is_some() && !directory.is_dir() {
            let error = anyhow!("{} is no directory", directory.display());
            return Err(CommandError::new(ErrorKind::Usage, error));
        }
        let settings = settings(disk, &directory)?;
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
            places: Places {
                home,
                claude_config: var_os("CLAUDE_CONFIG_DIR").filter(|path| !path.is_empty()).map(PathBuf::from),
                codex_home: var_os("CODEX_HOME").filter(|path| !path.is_empty()).map(PathBuf::from),
            },
            directory,
            style,
            rules: settings.rules()?,
            check: settings.check(),
            preset: settings.preset().to_owned(),
            prices: settings.prices(),
            idle_seconds: settings.idle_seconds(),
            hooks: settings.hooks(),
            client_colors: globals.color != ColorChoice::Never && !plain,
            settings: settings.for_reading(globals.window),
            globals: globals.clone(),
            at: None,
            json: globals.json,
            command,
            started: Instant::now(),
            surrounding: var_os("CLAUDE_CODE_SESSION_ID").and_then(|id| id.into_string().ok()),
            actor: Actor::User,
            model: settings.model(),
            paged: terminal && !globals.no_pager && !globals.json,
            cached: !globals.no_cache,
            gate,
        })
    }

    /// Looks at the clock and at the terminal again, for a command that goes on for long.
    pub fn refresh(&mut self) {
        (self.style.now, self.style.width) = (now(), columns());
    }

    /// How long the command has been running.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Lines of the terminal that a person looks at; none where what is written goes elsewhere.
    pub fn screen_height(&self) -> Option<usize> {
        let plain = self.json || !io::stdout().is_terminal() || var_os("TERM").is_some_and(|term| term == "dumb");
        let (_, height) = if plain { None } else { terminal_size::terminal_size() }?;
        Some(usize::from(height.0))
    }

    /// The same for another session, named by its path, and another command, as the log is to show it.
    pub fn on(&self, session: &Path, command: &str) -> Env {
        Env { at: Some(session.to_string_lossy().into_owned()), command: command.to_owned(), ..self.clone() }
    }

    /// The same at this moment and in a directory: the settings are read again, and text is for nobody's terminal.
    ///
    /// # Errors
    ///
    /// As [`Env::new`].
    pub fn renewed(&self, directory: &Path) -> Result<Env, CommandError> {
        let directory = Some(directory.to_owned());
        let globals = Globals { directory, json: false, color: ColorChoice::Never, no_pager: true, ..self.globals.clone() };
        Env::new(&globals, self.command.clone(), self.gate.clone())
    }

    /// What the client that started this process says of itself.
    pub fn client(&self) -> Client {
        let given = |name| var_os(name).filter(|value| !value.is_empty());
        #[cfg(unix)]
        let process = Some(std::os::unix::process::parent_id());
        #[cfg(not(unix))]
        let process = None;
        let here = self.globals.directory.as_ref().map(|_| self.directory.clone());
        Client {
            process,
            project: here.or_else(|| given("CLAUDE_PROJECT_DIR").map(PathBuf::from)),
            session: given("CLAUDE_CODE_SESSION_ID").and_then(|id| id.into_string().ok()),
        }
    }

    /// The file of this program.
    ///
    /// # Errors
    ///
    /// The platform does not tell.
    pub fn program(&self) -> Result<PathBuf, CommandError> {
        let program = env::current_exe().context("cannot tell where aperture is");
        program.map_err(|error| CommandError::new(ErrorKind::Internal, error))
    }

    /// The cache of the user, or one that keeps nothing.
    pub fn cache(&self) -> Cache {
        self.cache_directory(CACHE_FILE).map_or_else(Cache::none, |directory| open_cache(&directory))
    }

    /// Where the totals of sessions are remembered, if anywhere.
    pub fn totals(&self) -> TotalsCache {
        self.cache_directory(TOTALS_FILE).map_or_else(TotalsCache::none, |directory| TotalsCache::at(&directory))
    }

    /// The directory of the cache, with a file in it that only the user can read; none if nothing is to be kept, or can be.
    fn cache_directory(&self, file: &str) -> Option<PathBuf> {
        let directory = var_os("APERTURE_HOME").filter(|path| !path.is_empty()).map(|home| PathBuf::from(home).join("cache"));
        let directory = directory
            .or_else(|| directories::ProjectDirs::from("", "", "aperture").map(|project| project.cache_dir().to_owned()));
        directory.filter(|directory| self.cached && make_private(directory, file).is_ok())
    }

    /// The directory of the store, which may not be there yet.
    ///
    /// # Errors
    ///
    /// There is no home directory.
    pub fn store_directory(&self) -> Result<PathBuf, CommandError> {
        let home = var_os("APERTURE_HOME").filter(|path| !path.is_empty()).map(PathBuf::from);
        let directory =
            home.or_else(|| directories::ProjectDirs::from("", "", "aperture").map(|project| project.data_dir().to_owned()));
        let missing = || CommandError::new(ErrorKind::Internal, anyhow!("there is no directory for the store"));
        directory.ok_or_else(|| missing().hint("set APERTURE_HOME"))
    }

    /// The store of the user, which is made if there is none.
    ///
    /// # Errors
    ///
    /// It cannot be made or opened, or is of a newer aperture.
    pub fn store(&self) -> Result<Store, CommandError> {
        let directory = self.store_directory()?;
        make_private(&directory, STORE_FILE)
            .with_context(|| format!("cannot make the store in {}", directory.display()))
            .map_err(|error| {
                CommandError::new(ErrorKind::Refused, error).hint("set APERTURE_HOME to a directory that can be written")
            })?;
        Store::open(&directory).map_err(|error| store_error(error, &directory))
    }

    /// The store of the user, if there is one.
    ///
    /// # Errors
    ///
    /// It cannot be opened, or is of a newer aperture.
    pub fn existing_store(&self) -> Result<Option<Store>, CommandError> {
        let directory = self.store_directory()?;
        Store::open_existing(&directory).map_err(|error| store_error(error, &directory))
    }

    /// Makes the gate mask what a session names as credentials, for a command that prints what the store has of it without
    /// reading the session. One that cannot be read names nothing.
    pub fn learn(&self, found: &Found) {
        let _ = self.read_with_history(found.clone(), History::default(), &|_| false);
    }

    /// What the store knows of a session.
    ///
    /// # Errors
    ///
    /// The store cannot be read.
    pub fn history_of(&self, found: &Found) -> Result<History, CommandError> {
        let Some(store) = self.existing_store()? else { return Ok(History::default()) };
        Ok(workspace::history(&store, &self.disk.resolve(&found.path)?)?.1)
    }

    /// A text as it was given; `-` stands for standard input.
    ///
    /// # Errors
    ///
    /// Standard input cannot be read, or is no text.
    pub fn text(&self, given: &str) -> Result<String, CommandError> {
        if given != "-" {
            return Ok(given.to_owned());
        }
        let mut text = String::new();
        let read = io::stdin().lock().take(LONGEST_INPUT).read_to_string(&mut text);
        read.context("cannot read standard input").map_err(|error| CommandError::new(ErrorKind::Refused, error))?;
        Ok(text)
    }

    /// What the store knows of a session. Reading goes on without it.
    fn history(&self, found: &Found) -> History {
        let known = self.existing_store().and_then(|store| {
            let Some(store) = store else { return Ok(History::default()) };
            let path = self.disk.resolve(&found.path).unwrap_or_else(|_| found.path.clone());
            workspace::history(&store, &path).map(|(_, history)| history).map_err(CommandError::from)
        });
        known.unwrap_or_else(|error| {
            self.note(&format!("pins and the log are not shown: {:#}", error.source));
            History::default()
        })
    }

    /// Takes aperture's own lock on a session, waiting a little for another command to end.
    ///
    /// # Errors
    ///
    /// Another command has it, or it cannot be made.
    pub fn lock(&self, path: &Path) -> Result<Box<dyn Send>, CommandError> {
        let name = blake3::hash(path.as_os_str().as_encoded_bytes()).to_hex();
        let file = self.store_directory()?.join("locks").join(&name.as_str()[..32]);
        for _ in 0..LOCK_STEPS {
            let taken = self.disk.lock(&file).with_context(|| format!("cannot lock the session {}", session_name(path)));
            match taken.map_err(|error| CommandError::new(ErrorKind::Refused, error))? {
                Some(lock) => return Ok(lock),
                None => wait(LOCK_STEP),
            }
        }
        let error = anyhow!("another aperture is changing the session {}", session_name(path));
        Err(CommandError::new(ErrorKind::Conflict, error).hint("try again when it is done"))
    }

    /// The session that `-s` names.
    pub fn session(&self) -> Option<&str> {
        self.globals.session.as_deref()
    }

    /// The session that the user means: the one named in the command, by `-s`, the one of the client in which this runs, or the
    /// newest here.
    ///
    /// # Errors
    ///
    /// None, several, or a file that is no session.
    pub fn find(&self, named: Option<&str>) -> Result<Found, CommandError> {
        if let (Some(positional), Some(option)) = (named, &self.globals.session)
            && positional != option
            && self.at.is_none()
        {
            let error = anyhow!("two sessions are named: '{positional}' and, by --session, '{option}'");
            return Err(CommandError::new(ErrorKind::Usage, error));
        }
        let named = named.or(self.at.as_deref()).or(self.session());
        if let (None, Some(id)) = (named, &self.surrounding) {
            return self.find_open(id);
        }
        Ok(workspace::find(self.disk, &self.places, &self.directory, named)?)
    }

    /// The newest session of the project.
    ///
    /// # Errors
    ///
    /// There is none.
    pub fn newest(&self) -> Result<Found, CommandError> {
        Ok(workspace::find(self.disk, &self.places, &self.directory, None)?)
    }

    /// The session with this id or path, whichever the user means.
    ///
    /// # Errors
    ///
    /// As [`Env::find`].
    pub fn find_by(&self, name: &str) -> Result<Found, CommandError> {
        Ok(workspace::find(self.disk, &self.places, &self.directory, Some(name))?)
    }

    /// The session that a client says it has open. It means that one, also where its file is not there yet: another one would be
    /// the wrong one.
    ///
    /// # Errors
    ///
    /// There is none with this id.
    pub fn find_open(&self, id: &str) -> Result<Found, CommandError> {
        self.find_by(id).map_err(|error| error.hint("a new session is written with its first answer: then try again"))
    }

    /// Opens the session that the user means.
    ///
    /// # Errors
    ///
    /// As [`Env::find`], or the file cannot be read.
    pub fn open(&self, named: Option<&str>) -> Result<Workspace<'static>, CommandError> {
        self.read(self.find(named)?)
    }

    /// Reads a session that was found.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub fn read(&self, found: Found) -> Result<Workspace<'static>, CommandError> {
        self.read_as_wanted(found, &|_| true)
    }

    /// The same, where what was read decides whether all is decided about it, or only what [`crate::engine::outline`] does: for a
    /// hook, which everybody waits for.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub fn read_as_wanted(&self, found: Found, whole: &dyn Fn(&Session) -> bool) -> Result<Workspace<'static>, CommandError> {
        let large =
            io::stderr().is_terminal() && self.disk.identify(&found.path).is_ok_and(|file| file.bytes > LARGE_SESSION_BYTES);
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
        if let Ok(workspace) = &workspace {
            self.say_missing(&workspace.reading.session);
        }
        workspace
    }

    /// Says that rows which a fork inherits are not shown, because the session that holds them is not found.
    fn say_missing(&self, session: &Session) {
        let from = session.rows.iter().find_map(|row| match row.event.as_deref() {
            Some(Event::ForkedFrom { session, inherits: Some(_) }) => Some(session),
            _ => None,
        });
        if let Some(parent) = from.filter(|_| session.damage.contains_key(&Fault::MissingParentSession)) {
            self.note(&format!("this session is a fork of {parent}, which is not found: the rows that it inherits are missing"));
        }
    }

    /// Reads a session that was found and of which this was done; nothing is said beside the data.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
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
        let opened = Workspace::open_as_wanted(self.disk, &self.cache(), history, found, &self.settings, whole);
        opened.inspect(|workspace| self.gate.learn(&workspace.reading.known)).map_err(|error| {
            if error.kind() == io::ErrorKind::ResourceBusy {
                return CommandError::from(error);
            }
            let error = anyhow::Error::new(error).context(format!("cannot read {}", path.display()));
            CommandError::new(ErrorKind::Refused, error).hint("check that you may read it: ls -l")
        })
    }

    /// Writes a report: as JSON, or as text, through a pager when it is long and a person reads it.
    ///
    /// # Errors
    ///
    /// Standard output cannot be written to.
    pub fn print(&self, report: &impl Report) -> Result<(), CommandError> {
        let clean = if self.json { self.gate.json(&report.json()) } else { self.gate.report(report, &self.style) };
        let text = clean.as_str();
        let rows = terminal_size::terminal_size().map_or(usize::MAX, |(_, height)| usize::from(height.0));
        if self.paged && text.lines().count() >= rows && pager::page(&clean, var_os("PAGER")) {
            return Ok(());
        }
        self.write(&clean)
    }

    /// Writes text that passed the gate to standard output, at once.
    ///
    /// # Errors
    ///
    /// Standard output cannot be written to.
    pub fn write(&self, text: &Clean) -> Result<(), CommandError> {
        let mut stdout = io::stdout().lock();
        stdout.write_all(text.as_str().as_bytes())?;
        Ok(stdout.flush()?)
    }

    /// A report in both of its forms, for another layer to pass on: nothing in it is as it is in the session.
    pub fn answer(&self, report: &impl Report) -> Answer {
        let text = self.gate.text(&report.text(&self.style), self.style.color);
        Answer { text, json: self.gate.json(&report.json()) }
    }

    /// Says something to the person at the terminal, beside the data.
    pub fn note(&self, text: &str) {
        let _ = writeln!(io::stderr().lock(), "note: {}", self.gate.text(text, false).as_str());
    }
}

/// The time, or the one that tests set.
fn now() -> jiff::Timestamp {
    var_os("APERTURE_NOW").and_then(|now| now.to_str()?.parse().ok()).unwrap_or_else(jiff::Timestamp::now)
}

/// Columns of text: those that the user sets, else those of the terminal.
fn columns() -> usize {
    let set = var_os("COLUMNS").and_then(|columns| columns.to_str()?.parse().ok());
    let terminal = || io::stdout().is_terminal().then(terminal_size::terminal_size).flatten();
    set.or_else(|| terminal().map(|(width, _)| usize::from(width.0))).unwrap_or(COLUMNS_WITHOUT_TERMINAL).max(20)
}

/// Waits.
pub fn wait(time: Duration) {
    std::thread::sleep(time);
}

fn store_error(error: StoreError, directory: &Path) -> CommandError {
    let damaged = matches!(error, StoreError::Damaged(_));
    let mut error = CommandError::from(error);
    error.source = error.source.context(format!("cannot open the store in {}", directory.display()));
    if damaged {
        error.hint("the sessions themselves are unharmed; restore the file from a backup, or move it away")
    } else {
        error
    }
}

/// Opens the cache in a directory; one that is broken is thrown away, as it can be at any time.
fn open_cache(directory: &Path) -> Cache {
    let cache = Cache::open(directory);
    if !cache.is_broken() {
        return cache;
    }
    for ending in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(directory.join(format!("{CACHE_FILE}{ending}")));
    }
    if make_private(directory, CACHE_FILE).is_ok() { Cache::open(directory) } else { Cache::none() }
}

/// The user's settings under the project's.
fn settings(disk: &dyn Disk, directory: &Path) -> Result<Settings, CommandError> {
    let user = match var_os("APERTURE_HOME").filter(|path| !path.is_empty()) {
        Some(home) => Some(PathBuf::from(home)),
        None => directories::ProjectDirs::from("", "", "aperture").map(|project| project.config_dir().to_owned()),
    };
    let user = user.map_or(Ok(Settings::default()), |directory| Settings::read(disk, &directory.join("config.toml")))?;
    let project = directory.ancestors().map(|directory| directory.join(PROJECT_FILE)).find(|path| disk.identify(path).is_ok());
    match project {
        Some(path) => Ok(Settings::read(disk, &path)?.or(user)),
        None => Ok(user),
    }
}
