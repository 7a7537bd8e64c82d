#![expect(clippy::disallowed_methods, reason = "the one place that asks the environment, the clock and the terminal")]

use super::args::{ColorChoice, Globals};
use super::settings::{PROJECT_FILE, Settings};
use super::{CommandError, ErrorKind, pager};
use crate::engine::ReadSettings;
use crate::fsio::{Disk, RealDisk};
use crate::output::{Report, Style};
use crate::provider::Places;
use crate::store::{CACHE_FILE, Cache};
use crate::workspace::{self, Found, Workspace};
use anyhow::{Context, anyhow};
use std::env::{self, var_os};
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Columns when no terminal says how many.
const COLUMNS_WITHOUT_TERMINAL: usize = 140;
/// Bytes of a session above which reading it is worth a sign of life on the terminal.
const LARGE_SESSION_BYTES: u64 = 8 << 20;

/// What a command is given: where things are, how to write, what the user asked of every command.
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
    /// The session that `-s` names.
    session: Option<String>,
    /// Whether reports are written as JSON.
    pub json: bool,
    paged: bool,
    cached: bool,
}

impl Env {
    /// Asks the environment, the settings files and the terminal.
    ///
    /// # Errors
    ///
    /// A settings file that cannot be used, or no home directory.
    pub fn new(globals: &Globals) -> Result<Env, CommandError> {
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
        let columns = var_os("COLUMNS").and_then(|columns| columns.to_str()?.parse().ok());
        let width = columns
            .or_else(|| terminal.then(terminal_size::terminal_size).flatten().map(|(width, _)| usize::from(width.0)))
            .unwrap_or(COLUMNS_WITHOUT_TERMINAL);
        let plain =
            var_os("NO_COLOR").is_some_and(|value| !value.is_empty()) || var_os("TERM").is_some_and(|term| term == "dumb");
        let now = var_os("APERTURE_NOW").and_then(|now| now.to_str()?.parse().ok()).unwrap_or_else(jiff::Timestamp::now);
        let style = Style {
            color: match globals.color {
                ColorChoice::Always => true,
                ColorChoice::Never => false,
                ColorChoice::Auto => terminal && !plain,
            },
            width: width.max(20),
            now,
            zone: jiff::tz::TimeZone::system,
        };
        Ok(Env {
            disk,
            places: Places {
                home,
                claude_config: var_os("CLAUDE_CONFIG_DIR").filter(|path| !path.is_empty()).map(PathBuf::from),
            },
            directory,
            style,
            settings: settings.for_reading(globals.window),
            session: globals.session.clone(),
            json: globals.json,
            paged: terminal && !globals.no_pager && !globals.json,
            cached: !globals.no_cache,
        })
    }

    /// The cache of the user, or one that keeps nothing.
    pub fn cache(&self) -> Cache {
        let directory = var_os("APERTURE_HOME").filter(|path| !path.is_empty()).map(|home| PathBuf::from(home).join("cache"));
        let directory = directory
            .or_else(|| directories::ProjectDirs::from("", "", "aperture").map(|project| project.cache_dir().to_owned()));
        match directory {
            Some(directory) if self.cached && make_private(&directory).is_ok() => open_cache(&directory),
            _ => Cache::none(),
        }
    }

    /// The session that the user means: the one named in the command, by `-s`, or the newest here.
    ///
    /// # Errors
    ///
    /// None, several, or a file that is no session.
    pub fn find(&self, named: Option<&str>) -> Result<Found, CommandError> {
        if let (Some(positional), Some(option)) = (named, &self.session)
            && positional != option
        {
            let error = anyhow!("two sessions are named: '{positional}' and, by --session, '{option}'");
            return Err(CommandError::new(ErrorKind::Usage, error));
        }
        Ok(workspace::find(self.disk, &self.places, &self.directory, named.or(self.session.as_deref()))?)
    }

    /// Opens the session that the user means.
    ///
    /// # Errors
    ///
    /// As [`Env::find`], or the file cannot be read.
    pub fn open(&self, named: Option<&str>) -> Result<Workspace<'static>, CommandError> {
        let found = self.find(named)?;
        let large =
            io::stderr().is_terminal() && self.disk.identify(&found.path).is_ok_and(|file| file.bytes > LARGE_SESSION_BYTES);
        let progress = large.then(|| {
            let spinner = indicatif::ProgressBar::new_spinner().with_message(format!("reading {}", found.path.display()));
            spinner.enable_steady_tick(Duration::from_millis(150));
            spinner
        });
        let path = found.path.clone();
        let workspace = Workspace::open(self.disk, &self.cache(), found, &self.settings);
        if let Some(spinner) = progress {
            spinner.finish_and_clear();
        }
        workspace.map_err(|error| {
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
        let text = if self.json { report.json() } else { report.text(&self.style) };
        let rows = terminal_size::terminal_size().map_or(usize::MAX, |(_, height)| usize::from(height.0));
        if self.paged && text.lines().count() >= rows && pager::page(&text, var_os("PAGER")) {
            return Ok(());
        }
        let mut stdout = io::stdout().lock();
        stdout.write_all(text.as_bytes())?;
        Ok(stdout.flush()?)
    }

    /// Says something to the person at the terminal, beside the data.
    pub fn note(&self, text: &str) {
        let _ = writeln!(io::stderr().lock(), "note: {}", crate::output::printable(text));
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
    if make_private(directory).is_ok() { Cache::open(directory) } else { Cache::none() }
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

/// Makes the directory of the cache, and the cache, so that only their owner can read them.
fn make_private(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)?;
    let mut options = fs::OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path.join(CACHE_FILE)).map(drop)
}
