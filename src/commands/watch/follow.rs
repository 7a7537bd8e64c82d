//! The loop: look, tell, wait until something changes.

use super::policy::Policy;
use super::{Arguments, around, screen};
use crate::app::{CommandError, Env, ErrorKind};
use crate::commands::{manifest, status};
use crate::engine::{ActivityEvent, Forecast, OtherSession, Seen, SuggestionKind, Update, opened};
use crate::fsio::{Identity, Watcher, read_head};
use crate::model::History;
use crate::output::{WatchEvent, WatchScreen, WentStale};
use crate::store::STORE_FILE;
use crate::workspace::{self, FindError, Found, Workspace};
use std::io;
use std::path::Path;
use std::time::Duration;

/// How often is looked whether something changed of which nobody told: after a sleep of the machine, on a network drive.
const TICK: Duration = Duration::from_secs(1);
/// How often a session is looked for at most, while files change.
const SEARCH_SOON: Duration = Duration::from_secs(1);
/// And how often even when none does.
const SEARCH_ANYWAY: Duration = Duration::from_secs(15);
/// How often is asked whether a client has the session open.
const ASK_WHO_HAS_IT: Duration = Duration::from_secs(5);
/// How long a session is quiet until a newer one takes its place: of two that are at work, neither is to flicker.
const QUIET: Duration = Duration::from_secs(10);
/// Blocks that went stale that the screen remembers.
const REMEMBERED: usize = 10;
/// Bytes of a file among which the first line feed is looked for.
const FIRST_ROW_BYTES: usize = 64 << 10;

/// A watch that goes on.
pub(super) struct Watch<'a> {
    pub env: Env,
    pub arguments: &'a Arguments,
    pub shown: Option<Shown>,
    watcher: Watcher,
    policy: Policy,
    /// The other sessions of the project as they were told last.
    pub others: Vec<OtherSession>,
    screen: WatchScreen,
    /// What stands on the terminal, and its size.
    drawn: Option<(String, usize, usize)>,
    /// Since the start of the command: when a session was looked for, who has it was asked, something happened.
    searched: Option<Duration>,
    asked: Option<Duration>,
    happened: Duration,
    /// Whether files changed since a session was looked for.
    stirred: bool,
    noted: Vec<String>,
}

/// The session that is watched.
pub(super) struct Shown {
    pub found: Found,
    /// How the commands that are suggested name it; none where they find it without a name.
    name: Option<String>,
    /// What was there when it was last read.
    traces: Option<Traces>,
    seen: Option<Seen>,
    unavailable: Option<String>,
    /// When aperture last changed it, in milliseconds since 1970.
    pub changed: Option<i64>,
    pub suggested: Vec<SuggestionKind>,
}

/// What tells whether something happened: the file, and the log with what is not merged into it yet.
#[derive(PartialEq)]
struct Traces {
    file: Identity,
    store: Option<Identity>,
    journal_bytes: u64,
}

impl Traces {
    fn of(env: &Env, path: &Path) -> io::Result<Traces> {
        let store = env.store_directory().unwrap_or_default().join(STORE_FILE);
        let journal = store.with_file_name(format!("{STORE_FILE}-wal"));
        Ok(Traces {
            file: env.disk.identify(path)?,
            // To read it touches more than its content.
            store: env.disk.identify(&store).ok().map(|store| Identity { changed: 0, ..store }),
            journal_bytes: env.disk.identify(&journal).map_or(0, |journal| journal.bytes),
        })
    }
}

impl Shown {
    /// When the client last wrote, in nanoseconds since 1970: aperture leaves that time as it is. None while it cannot be read.
    pub fn written(&self) -> Option<i128> {
        let traces = self.traces.as_ref().filter(|_| self.unavailable.is_none());
        traces.map(|traces| traces.file.modified)
    }

    /// How long the client wrote nothing; none while the session cannot be read.
    pub fn quiet(&self, env: &Env) -> Option<Duration> {
        let since = env.style.now.as_nanosecond() - self.written()?;
        Some(Duration::from_nanos(u64::try_from(since).unwrap_or_default()))
    }
}

impl<'a> Watch<'a> {
    /// A watch that begins.
    pub fn new(env: Env, arguments: &'a Arguments) -> Watch<'a> {
        Watch {
            env,
            arguments,
            shown: None,
            watcher: Watcher::new(),
            policy: Policy::default(),
            others: Vec::new(),
            screen: WatchScreen::default(),
            drawn: None,
            searched: None,
            asked: None,
            happened: Duration::ZERO,
            stirred: false,
            noted: Vec::new(),
        }
    }

    /// Watches until it is told to end.
    pub fn run(&mut self) -> Result<(), CommandError> {
        loop {
            self.env.refresh();
            // First what is shown, which somebody waits for, then what else there may be.
            self.look()?;
            self.draw()?;
            if self.search()? {
                continue;
            }
            self.apply_policy()?;
            let Some(left) = self.left() else { return Ok(()) };
            self.stirred |= self.watcher.wait(left.min(TICK));
        }
    }

    /// How long it still goes on; none when it is over.
    fn left(&self) -> Option<Duration> {
        let now = self.env.elapsed();
        let ends = [self.arguments.duration, self.arguments.until_idle.map(|idle| self.happened + idle)];
        let left = ends.into_iter().flatten().map(|end| end.saturating_sub(now)).min().unwrap_or(TICK);
        (!left.is_zero()).then_some(left)
    }

    /// The session that the user named, if one was.
    fn named(&self) -> Option<&str> {
        self.arguments.session.as_deref().or(self.env.session())
    }

    /// Looks for the session that is meant, and for the others of the project. Returns whether another one is shown now.
    fn search(&mut self) -> Result<bool, CommandError> {
        self.watch_directories()?;
        let settled = self.shown.is_some() && self.named().is_some();
        let pause = if self.stirred { SEARCH_SOON } else { SEARCH_ANYWAY };
        let now = self.env.elapsed();
        let due = self.searched.is_none_or(|searched| now.saturating_sub(searched) >= pause);
        if !due || settled && !self.arguments.project {
            return Ok(false);
        }
        (self.searched, self.stirred) = (Some(now), false);
        if !settled {
            match self.env.find(self.named()) {
                Ok(found) if self.gives_way_to(&found) => {
                    self.show(found);
                    return Ok(true);
                }
                Ok(_) => {}
                Err(_) if self.shown.is_some() => {}
                Err(error) if self.is_awaited(&error) => self.note(format!("waiting for a session: {:#}", error.source))?,
                Err(error) => return Err(error),
            }
        }
        if self.arguments.project {
            self.look_around()?;
        }
        Ok(false)
    }

    /// Whether a session that was found takes the place of the one that is shown.
    fn gives_way_to(&self, found: &Found) -> bool {
        let Some(shown) = &self.shown else { return true };
        found.path != shown.found.path && shown.quiet(&self.env).is_none_or(|quiet| quiet >= QUIET)
    }

    /// Whether a session that was not found may come to be: there is none yet, or its first row is not written.
    fn is_awaited(&self, error: &CommandError) -> bool {
        match error.source.downcast_ref() {
            Some(FindError::NotASession { path, .. }) => {
                read_head(self.env.disk, path, FIRST_ROW_BYTES).is_ok_and(|head| !head.contains(&b'\n'))
            }
            Some(FindError::Ambiguous { .. } | FindError::Unreadable { .. }) | None => false,
            Some(_) => true,
        }
    }

    fn show(&mut self, found: Found) {
        let name = self.named().map(|named| manifest::handy(&self.env, &found.location.id, &found.path, named));
        self.shown =
            Some(Shown { found, name, traces: None, seen: None, unavailable: None, changed: None, suggested: Vec::new() });
        (self.screen, self.others) = (WatchScreen::default(), Vec::new());
        // The others are another session's others now.
        self.searched = self.searched.filter(|_| !self.arguments.project);
    }

    /// Watches where something can happen that matters.
    fn watch_directories(&mut self) -> Result<(), CommandError> {
        let follows = self.named().is_none() || self.shown.is_none();
        let directories = around::directories(&self.env, self.shown.as_ref().map(|shown| &*shown.found.path), follows);
        if !self.watcher.watch(self.env.disk, &directories) {
            self.note("the system does not tell what changes: aperture looks every second".to_owned())?;
        }
        Ok(())
    }

    /// Reads the session if something happened to it, and tells what.
    fn look(&mut self) -> Result<(), CommandError> {
        let Some(shown) = &mut self.shown else { return Ok(()) };
        let traces = match Traces::of(&self.env, &shown.found.path) {
            Ok(traces) => traces,
            Err(error) => return self.lose(&error),
        };
        if shown.unavailable.is_none() && shown.traces.as_ref() == Some(&traces) {
            return Ok(());
        }
        let found = shown.found.clone();
        let history = match self.env.history_of(&found) {
            Ok(history) => history,
            // The file is gone: that is told below.
            Err(error) if error.source.is::<io::Error>() => History::default(),
            Err(error) => {
                self.note(format!("pins and the log are not shown: {:#}", error.source))?;
                History::default()
            }
        };
        match self.env.read_with(found, history) {
            Ok(workspace) => self.tell_reading(&workspace, traces),
            // It is being written: there will be another look.
            Err(error) if error.kind == ErrorKind::Conflict => Ok(()),
            Err(error) => match error.source.downcast_ref::<io::Error>().map(|error| io::Error::from(error.kind())) {
                Some(cause) => self.lose(&cause),
                None => Err(error),
            },
        }
    }

    /// Says that the session cannot be read, once for each reason.
    fn lose(&mut self, error: &io::Error) -> Result<(), CommandError> {
        let Some(shown) = &mut self.shown else { return Ok(()) };
        let name = shown.found.path.file_name().unwrap_or_default().to_string_lossy();
        let reason = match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => format!("{name} is not there"),
            _ => format!("{name} cannot be read: {error}"),
        };
        if shown.unavailable.as_ref() == Some(&reason) {
            return Ok(());
        }
        shown.unavailable = Some(reason.clone());
        self.screen.notices = vec![format!("waiting: {reason}")];
        self.tell(&ActivityEvent::SessionUnavailable { reason })
    }

    /// Tells what a new reading says that the one before did not.
    fn tell_reading(&mut self, workspace: &Workspace<'_>, traces: Traces) -> Result<(), CommandError> {
        let Some(shown) = &mut self.shown else { return Ok(()) };
        let (reading, history) = (&workspace.reading, &workspace.history);
        let title = status::title(reading);
        let suggestions = manifest::advise(&self.env, workspace, shown.name.as_deref(), Forecast::Estimated);
        let back = shown.unavailable.take().is_some();
        let mut happenings = match &shown.seen {
            Some(seen) => seen.until(reading, history, &suggestions, &title),
            None => Vec::new(),
        };
        if back || shown.seen.is_none() {
            happenings.insert(0, ActivityEvent::SessionOpened(opened(reading, &title)));
        }
        shown.traces = Some(traces);
        shown.seen = Some(Seen::from_analysis(reading, history, &suggestions));
        shown.changed = history.operations.iter().rev().find(|operation| !operation.edits.is_empty()).map(|last| last.time);
        shown.suggested = suggestions.iter().map(|suggestion| suggestion.kind).collect();
        let (went_stale, open) = (std::mem::take(&mut self.screen.went_stale), self.screen.open);
        self.screen = WatchScreen { went_stale, open, ..screen::of(workspace, suggestions, title) };
        happenings.iter().try_for_each(|happening| self.tell(happening))
    }

    /// Tells one thing: as a line, or on the screen.
    pub fn tell(&mut self, happening: &ActivityEvent) -> Result<(), CommandError> {
        self.happened = self.env.elapsed();
        let now = self.env.style.now.as_millisecond();
        if let ActivityEvent::BlocksUpdated { blocks, .. } = happening {
            for block in blocks.iter().filter(|block| block.update == Update::WentStale) {
                self.screen.went_stale.insert(0, WentStale { time: now, block: block.clone() });
            }
            self.screen.went_stale.truncate(REMEMBERED);
        }
        if let ActivityEvent::PolicyRefused { reason } = happening {
            self.screen.notices = vec![format!("policy: {reason}")];
        }
        if self.height().is_some() {
            return Ok(());
        }
        let session = self.shown.as_ref().map_or("", |shown| &shown.found.location.id);
        let event = WatchEvent { time: now, session, happening };
        let gate = &self.env.gate;
        let line =
            if self.env.json { gate.json(&event.json()) } else { gate.text(&event.text(&self.env.style), self.env.style.color) };
        self.env.write(&line)
    }

    /// Says something beside what happens, once.
    pub fn note(&mut self, text: String) -> Result<(), CommandError> {
        if self.noted.contains(&text) {
            return Ok(());
        }
        if self.height().is_none() {
            self.env.note(&text);
        }
        self.screen.notices = vec![text.clone()];
        self.noted.push(text);
        self.draw()
    }

    fn apply_policy(&mut self) -> Result<(), CommandError> {
        let Some(shown) = self.shown.as_ref().filter(|_| self.arguments.apply_policy) else { return Ok(()) };
        match self.policy.act(&self.env, shown, self.arguments.live) {
            Some(happening) => self.tell(&happening),
            None => Ok(()),
        }
    }

    /// Lines of the screen; none where lines are written.
    fn height(&self) -> Option<usize> {
        self.env.screen_height().filter(|_| !self.arguments.lines)
    }

    /// Draws the screen in place, if it is another one than before.
    fn draw(&mut self) -> Result<(), CommandError> {
        let Some(height) = self.height() else { return Ok(()) };
        let now = self.env.elapsed();
        if let Some(shown) = &self.shown
            && self.asked.is_none_or(|asked| now.saturating_sub(asked) >= ASK_WHO_HAS_IT)
        {
            self.screen.open = workspace::open_sessions(self.env.disk, &self.env.places).contains(&shown.found.location.id);
            self.asked = Some(now);
        }
        self.screen.others.clone_from(&self.others);
        // The cursor stands below it, where the next prompt comes when this ends: nothing has to be restored.
        let frame = (self.screen.text(&self.env.style, height.saturating_sub(1)), height, self.env.style.width);
        if self.drawn.as_ref() == Some(&frame) {
            return Ok(());
        }
        let empty = if self.drawn.is_none() { height } else { 0 };
        self.env.write(&self.env.gate.text(&frame.0, self.env.style.color).on_screen(empty))?;
        self.drawn = Some(frame);
        Ok(())
    }
}
