//! The watch loop: look, report, wait for a change.

use super::keys::Keys;
use super::learning::Learner;
use super::policy::Policy;
use super::report::{WatchEvent, WatchScreen, WentStale};
use super::{Arguments, around, screen};
use crate::app::{CommandError, Env, ErrorKind};
use crate::commands::live::proxied;
use crate::commands::{inbox, manifest, status};
use crate::engine::{ActivityEvent, Analysis, Forecast, OtherSession, ProposedCommand, Seen, SuggestionKind, Update, opened};
use crate::fsio::{Identity, Watcher, read_head};
use crate::model::{BlockKind, History, Role};
use crate::output::plural;
use crate::store::STORE_FILE;
use crate::workspace::{FindError, Found, Workspace};
use std::io;
use std::path::Path;
use std::time::Duration;

/// The interval of checks for changes without a notification: after the machine sleeps, or on a network drive.
const TICK: Duration = Duration::from_secs(1);
/// The minimum interval between searches for a session while files change.
const SEARCH_SOON: Duration = Duration::from_secs(1);
/// The interval between searches if no file changes.
const SEARCH_ANYWAY: Duration = Duration::from_secs(15);
/// The interval between checks if a client has the session open.
const ASK_WHO_HAS_IT: Duration = Duration::from_secs(5);
/// The time without writes after which a newer session replaces this one, so that the screen does not alternate between two active
/// sessions.
const QUIET: Duration = Duration::from_secs(10);
const UNNOTIFIED: &str = "file notifications are not available: aperture checks every second";
/// The number of newly stale blocks that the screen keeps.
const REMEMBERED: usize = 10;
/// The number of bytes in which the first line feed of a file is expected.
const FIRST_ROW_BYTES: usize = 64 << 10;

pub(super) struct Watch<'a> {
    pub env: Env,
    pub arguments: &'a Arguments,
    pub shown: Option<Shown>,
    watcher: Watcher,
    policy: Policy,
    learner: Learner,
    /// The other sessions of the project, as last reported.
    pub others: Vec<OtherSession>,
    screen: WatchScreen,
    /// The text on the terminal, and the size of the terminal.
    drawn: Option<(String, usize, usize)>,
    /// Times since the start of the command: of the last search for a session, the last check for a client, the last event.
    searched: Option<Duration>,
    asked: Option<Duration>,
    happened: Duration,
    /// True if files changed since the last search for a session.
    stirred: bool,
    noted: Vec<String>,
}

pub(super) struct Shown {
    pub found: Found,
    /// The name of the session in suggested commands; `None` if they find it without a name.
    name: String,
    /// The state of the files at the last read.
    traces: Option<Traces>,
    seen: Option<Seen>,
    unavailable: Option<String>,
    /// The time when aperture last changed it, in milliseconds since 1970.
    pub changed: Option<i64>,
    pub suggested: Vec<SuggestionKind>,
    /// The changes by the model in the last turn, and its commands that wait for an answer, as last reported.
    activity: Option<String>,
    proposed: Vec<ProposedCommand>,
}

/// The state of the files that shows if something happened: the session file, and the log with its journal.
#[derive(PartialEq)]
struct Traces {
    file: Identity,
    store: Option<Identity>,
    journal: Option<Identity>,
}

impl Traces {
    fn read(env: &Env, path: &Path) -> io::Result<Traces> {
        let store = env.store_directory().unwrap_or_default().join(STORE_FILE);
        let journal = store.with_file_name(format!("{STORE_FILE}-wal"));
        // Reading the store changes more than its content: ignore the change time.
        let identify = |path: &Path| env.disk.identify(path).ok().map(|file| Identity { changed: 0, ..file });
        Ok(Traces {
            file: env.disk.identify(path)?,
            store: identify(&store),
            // SQLite writes a journal again from its start, so the same length can be another operation.
            journal: identify(&journal).filter(|journal| journal.bytes > 0),
        })
    }
}

impl Shown {
    /// Returns the time of the client's last write, in nanoseconds since 1970: aperture preserves it. `None` if the session cannot
    /// be read.
    pub fn written(&self) -> Option<i128> {
        let traces = self.traces.as_ref().filter(|_| self.unavailable.is_none());
        traces.map(|traces| traces.file.modified)
    }

    /// Returns the time since the client's last write; `None` if the session cannot be read.
    pub fn quiet(&self, env: &Env) -> Option<Duration> {
        let since = env.style.now.as_nanosecond() - self.written()?;
        Some(Duration::from_nanos(u64::try_from(since).unwrap_or_default()))
    }
}

impl<'a> Watch<'a> {
    pub fn new(env: Env, arguments: &'a Arguments) -> Watch<'a> {
        Watch {
            env,
            arguments,
            shown: None,
            watcher: Watcher::default(),
            policy: Policy::default(),
            learner: Learner::default(),
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

    /// Runs until it is interrupted or an end condition is met.
    pub fn run(&mut self) -> Result<(), CommandError> {
        let keys = self.height().and_then(|_| Keys::listen(self.watcher.waker()));
        let parent = self.env.client().process;
        loop {
            // The page's server can be killed, and its pipe says so only with the next event.
            if self.arguments.beside && self.env.client().process != parent {
                return Ok(());
            }
            self.env.refresh();
            // The watched session first, because the user waits for it, then the search for others.
            self.refresh()?;
            self.draw()?;
            if self.search()? {
                continue;
            }
            self.apply_policy()?;
            self.learn()?;
            let Some(left) = self.remaining() else { return Ok(()) };
            self.stirred |= self.watcher.wait(left.min(TICK));
            if keys.as_ref().is_some_and(Keys::is_quit) {
                return Ok(());
            }
        }
    }

    /// Returns the remaining time; `None` if the watch is over.
    fn remaining(&self) -> Option<Duration> {
        let now = self.env.elapsed();
        let ends = [self.arguments.duration, self.arguments.until_idle.map(|idle| self.happened + idle)];
        let left = ends.into_iter().flatten().map(|end| end.saturating_sub(now)).min().unwrap_or(TICK);
        (!left.is_zero()).then_some(left)
    }

    fn session_name(&self) -> Option<&str> {
        self.arguments.session.as_deref().or(self.env.session())
    }

    /// Searches for the selected session and the others of the project. Returns true if another session is shown now.
    fn search(&mut self) -> Result<bool, CommandError> {
        self.watch_directories()?;
        let settled = self.shown.is_some() && self.session_name().is_some();
        let pause = if self.stirred { SEARCH_SOON } else { SEARCH_ANYWAY };
        let now = self.env.elapsed();
        let due = self.searched.is_none_or(|searched| now.saturating_sub(searched) >= pause);
        if !due || settled && self.arguments.project.is_none() {
            return Ok(false);
        }
        (self.searched, self.stirred) = (Some(now), false);
        if !settled {
            match self.env.find(self.session_name()) {
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
        if self.arguments.project.is_some() {
            self.scan_project()?;
        }
        Ok(false)
    }

    /// Returns true if a found session replaces the one that is shown.
    fn gives_way_to(&self, found: &Found) -> bool {
        let Some(shown) = &self.shown else { return true };
        found.path != shown.found.path && shown.quiet(&self.env).is_none_or(|quiet| quiet >= QUIET)
    }

    /// Returns true if a session that was not found may still appear: there is none yet, or its first row is not complete. One that is
    /// named by its id is expected to exist.
    fn is_awaited(&self, error: &CommandError) -> bool {
        match error.source.downcast_ref() {
            Some(FindError::NotASession { path, .. }) => {
                read_head(self.env.disk, path, FIRST_ROW_BYTES).is_ok_and(|head| !head.contains(&b'\n'))
            }
            Some(FindError::Ambiguous { .. } | FindError::Unreadable { .. }) | None => false,
            Some(FindError::Unknown(_) | FindError::NoSessions(_)) if self.session_name().is_some() => self.arguments.beside,
            Some(_) => true,
        }
    }

    fn show(&mut self, found: Found) {
        let name = self.env.name_of(&found.path, &found.location.id);
        self.shown = Some(Shown {
            found,
            name,
            traces: None,
            seen: None,
            unavailable: None,
            changed: None,
            suggested: Vec::new(),
            activity: None,
            proposed: Vec::new(),
        });
        (self.screen, self.others) = (WatchScreen::default(), Vec::new());
        // The list of other sessions belongs to the previous session: search again.
        self.searched = self.searched.filter(|_| self.arguments.project.is_none());
    }

    fn watch_directories(&mut self) -> Result<(), CommandError> {
        let follows = self.session_name().is_none() || self.shown.is_none();
        let session = self.shown.as_ref().map(|shown| &*shown.found.path);
        let name = self.arguments.session.as_deref().or(self.env.session());
        let directories = || around::directories(&self.env, session, name, follows);
        let mut wanted = directories();
        loop {
            let all = self.watcher.watch(self.env.disk, &wanted);
            // A directory that was made before its parent was watched gives no event.
            let made = directories();
            if wanted == made {
                return if all { Ok(()) } else { self.note(UNNOTIFIED.to_owned()) };
            }
            wanted = made;
        }
    }

    /// Reads the session if it changed, and reports the events.
    fn refresh(&mut self) -> Result<(), CommandError> {
        let Some(shown) = &mut self.shown else { return Ok(()) };
        let traces = match Traces::read(&self.env, &shown.found.path) {
            Ok(traces) => traces,
            Err(error) => return self.lose(&error),
        };
        if shown.unavailable.is_none() && shown.traces.as_ref() == Some(&traces) {
            return Ok(());
        }
        let found = shown.found.clone();
        let history = match self.env.history_of(&found) {
            Ok(history) => history,
            // The file is gone: reported below.
            Err(error) if error.source.is::<io::Error>() => History::default(),
            Err(error) => {
                self.note(format!("pins and the log are not available: {:#}", error.source))?;
                History::default()
            }
        };
        match self.env.read_with(found, history) {
            Ok(workspace) => self.tell_reading(&workspace, traces),
            // The file is being written: the next round reads it.
            Err(error) if error.kind == ErrorKind::Conflict => Ok(()),
            Err(error) => match error.source.downcast_ref::<io::Error>().map(|error| io::Error::from(error.kind())) {
                Some(cause) => self.lose(&cause),
                None => Err(error),
            },
        }
    }

    /// Reports that the session cannot be read, once for each reason.
    fn lose(&mut self, error: &io::Error) -> Result<(), CommandError> {
        let Some(shown) = &mut self.shown else { return Ok(()) };
        let name = shown.found.path.file_name().unwrap_or_default().to_string_lossy();
        let reason = match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => format!("{name} does not exist"),
            _ => format!("{name} cannot be read: {error}"),
        };
        if shown.unavailable.as_ref() == Some(&reason) {
            return Ok(());
        }
        shown.unavailable = Some(reason.clone());
        self.screen.notices = vec![format!("waiting: {reason}")];
        self.tell(&ActivityEvent::SessionUnavailable { reason })
    }

    /// Reports the differences between a new analysis and the previous one.
    fn tell_reading(&mut self, workspace: &Workspace<'_>, traces: Traces) -> Result<(), CommandError> {
        let Some(shown) = &mut self.shown else { return Ok(()) };
        let (reading, history) = (&workspace.reading, &workspace.history);
        let title = status::title(reading);
        let suggestions = manifest::advise(&self.env, workspace, &shown.name, Forecast::Estimated, Forecast::Estimated);
        let activity = proxied::model_activity(workspace).filter(|_| has_answered(reading));
        let was_seen = shown.seen.is_some();
        let back = shown.unavailable.take().is_some();
        let mut happenings = match &shown.seen {
            Some(seen) => seen.until(reading, history, &suggestions, &title),
            None => Vec::new(),
        };
        if back || shown.seen.is_none() {
            happenings.insert(0, ActivityEvent::SessionOpened(opened(reading, &title)));
        }
        if let Some(summary) = activity.as_ref().filter(|_| was_seen && activity != shown.activity) {
            happenings.push(ActivityEvent::ContextChangedByModel { summary: summary.clone() });
        }
        shown.activity = activity;
        // A store that cannot be read is said elsewhere.
        let proposed = inbox::waiting_for(&self.env, &shown.found).unwrap_or_default().into_iter();
        let proposed: Vec<_> = proposed.map(|(number, command)| ProposedCommand { number, command }).collect();
        if proposed != shown.proposed {
            happenings.push(ActivityEvent::CommandsProposed { proposals: proposed.clone() });
        }
        shown.proposed = proposed;
        shown.traces = Some(traces);
        shown.seen = Some(Seen::from_analysis(reading, history, &suggestions));
        shown.changed = history.operations.iter().rev().find(|operation| !operation.edits.is_empty()).map(|last| last.time);
        shown.suggested = suggestions.iter().map(|suggestion| suggestion.kind).collect();
        let (went_stale, open) = (std::mem::take(&mut self.screen.went_stale), self.screen.open);
        self.screen = WatchScreen { went_stale, open, ..screen::build(&self.env, workspace, suggestions, title) };
        happenings.iter().try_for_each(|happening| self.tell(happening))?;
        let is_refused = proxied::refusal(&self.env, &workspace.location.id).is_some();
        for (place, notice) in self.screen.notices.clone().into_iter().enumerate() {
            if place == 0 && is_refused && was_seen && !self.noted.contains(&notice) {
                self.ring(&notice)?;
            }
            self.note(notice)?;
        }
        Ok(())
    }

    /// Shows a text as a notification of the desktop, if standard output is a terminal.
    fn ring(&self, text: &str) -> Result<(), CommandError> {
        match self.env.screen_height() {
            Some(_) => self.env.write(&self.env.gate.text(text, false).as_notification()),
            None => Ok(()),
        }
    }

    /// Reports one event: as a line, or on the screen.
    pub fn tell(&mut self, happening: &ActivityEvent) -> Result<(), CommandError> {
        self.happened = self.env.elapsed();
        let now = self.env.style.now.as_millisecond();
        if let ActivityEvent::BlocksUpdated { blocks, .. } = happening {
            for block in blocks.iter().filter(|block| block.update == Update::WentStale) {
                self.screen.went_stale.insert(0, WentStale { time: now, block: block.clone() });
            }
            self.screen.went_stale.truncate(REMEMBERED);
        }
        match happening {
            ActivityEvent::PolicyRefused { reason } => self.screen.notices = vec![format!("policy: {reason}")],
            ActivityEvent::MemoriesLearned { count } => {
                self.screen.notices = vec![format!("learned {}: aperture memory list", plural(*count, "memory"))];
            }
            _ => {}
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

    /// Prints a note that is not an event, once.
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

    /// Learns from the session after it ended or went idle, and copies it.
    fn learn(&mut self) -> Result<(), CommandError> {
        let Some(done) = self.shown.as_ref().and_then(|shown| self.learner.act(&self.env, shown)) else { return Ok(()) };
        if let Err(error) = done.kept {
            self.note(format!("the session is not kept: {:#}", error.source))?;
        }
        match done.learned {
            Ok(count) if count > 0 => self.tell(&ActivityEvent::MemoriesLearned { count }),
            Err(error) if error.kind != ErrorKind::Conflict => self.note(format!("nothing was learned: {:#}", error.source)),
            _ => Ok(()),
        }
    }

    /// Returns the number of lines of the screen; `None` if events are written as lines.
    fn height(&self) -> Option<usize> {
        self.env.screen_height().filter(|_| !self.arguments.lines)
    }

    /// Redraws the screen in place if it changed.
    fn draw(&mut self) -> Result<(), CommandError> {
        let Some(height) = self.height() else { return Ok(()) };
        let now = self.env.elapsed();
        if let Some(shown) = &self.shown
            && self.asked.is_none_or(|asked| now.saturating_sub(asked) >= ASK_WHO_HAS_IT)
        {
            self.screen.open = self.env.open_sessions().contains(&shown.found.location.id);
            self.asked = Some(now);
        }
        self.screen.others.clone_from(&self.others);
        // The cursor is below the screen, at the position of the next shell prompt: nothing has to be restored at the end.
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

/// Returns true if the last content of a session is a text of the model: an answer that calls nothing.
fn has_answered(reading: &Analysis) -> bool {
    let last = reading.session.blocks.iter().rev().find(|block| block.role != Role::System);
    last.is_some_and(|block| block.role == Role::Assistant && block.kind == BlockKind::Text)
}
