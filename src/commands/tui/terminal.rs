//! The terminal: it is taken and given back, and its keys and the changes of files become events.

use super::picture::Picture;
use super::screen::{Event, Screen, Task};
use super::view::{self, Look};
use super::worker::Worker;
#[cfg(unix)]
use crate::app::ENDING;
use crate::app::{CommandError, Env};
use crate::fsio::{RecursiveMode, Watcher};
use crate::workspace::Found;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::event::{
    self, DisableFocusChange, DisableMouseCapture, EnableFocusChange, EnableMouseCapture, Event as Input, KeyEventKind,
};
use ratatui::crossterm::execute;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::spawn;
use std::time::Duration;

/// The longest wait without an event, after which the clock of the cache is drawn again.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// Shows the screen of a session until it is left.
/// Errors: the session cannot be read; the terminal fails.
pub(super) fn show(env: &Env, found: Found) -> Result<(), CommandError> {
    let (worker, picture) = Worker::new(env, found)?;
    let (events, arrived) = channel();
    let (tasks, wanted) = channel();
    let of_worker = events.clone();
    spawn(move || worker.run(&wanted, &of_worker));
    #[cfg(unix)]
    restore_after_signals();
    // After a panic, the hook of ratatui gives the terminal back.
    let mut terminal = ratatui::try_init().map_err(CommandError::from)?;
    let _ = execute!(io::stdout(), EnableFocusChange);
    read_keys(events.clone());
    let look = Look { gate: env.gate.clone(), style: env.style.clone() };
    let left = run(env, &mut terminal, Screen::new(picture), &look, &tasks, &arrived, &events);
    give_back();
    match left? {
        Some(line) => {
            env.write(&env.gate.text(&format!("{line}\n"), false))?;
            env.run_shell(&line)
        }
        None => Ok(()),
    }
}

fn run(
    env: &Env,
    terminal: &mut ratatui::DefaultTerminal,
    mut screen: Screen,
    look: &Look,
    tasks: &Sender<Task>,
    arrived: &Receiver<Event>,
    events: &Sender<Event>,
) -> Result<Option<String>, CommandError> {
    let started = env.elapsed();
    let now = || env.elapsed().saturating_sub(started).as_millis() as u64;
    let mut watched = watch(env, &screen.picture, events.clone());
    loop {
        terminal.draw(|frame| view::draw(frame, &mut screen, look, env.current_time()))?;
        let wait = screen.wakes_at().map_or(LONGEST_WAIT, |until| Duration::from_millis(until.saturating_sub(now()) + 1));
        let first = match arrived.recv_timeout(wait) {
            Ok(event) => event,
            Err(RecvTimeoutError::Timeout) => Event::Tick,
            Err(RecvTimeoutError::Disconnected) => return Ok(None),
        };
        // Events that have arrived meanwhile are drawn once.
        for event in std::iter::once(first).chain(arrived.try_iter()) {
            for task in screen.update(event, now()) {
                match task {
                    Task::Leave(line) => return Ok(line),
                    Task::Mouse(true) => drop(execute!(io::stdout(), EnableMouseCapture)),
                    Task::Mouse(false) => drop(execute!(io::stdout(), DisableMouseCapture)),
                    task => drop(tasks.send(task)),
                }
            }
        }
        if watched != screen.picture.path {
            watched = watch(env, &screen.picture, events.clone());
        }
    }
}

fn give_back() {
    let _ = execute!(io::stdout(), DisableFocusChange, DisableMouseCapture, Show);
    ratatui::restore();
}

/// Gives the terminal back before a signal ends the program.
#[cfg(unix)]
fn restore_after_signals() {
    let Ok(mut signals) = signal_hook::iterator::Signals::new(ENDING) else { return };
    spawn(move || {
        for signal in signals.forever() {
            // Nothing is drawn meanwhile, which would hide the cursor again.
            let _output = io::stdout().lock();
            give_back();
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    });
}

fn read_keys(events: Sender<Event>) {
    spawn(move || {
        while let Ok(input) = event::read() {
            let event = match input {
                Input::Key(key) if key.kind != KeyEventKind::Release => Event::Key(key),
                Input::Mouse(mouse) => Event::Mouse(mouse),
                Input::FocusGained => Event::Focus(true),
                Input::FocusLost => Event::Focus(false),
                Input::Resize(..) => Event::Resized,
                _ => continue,
            };
            if events.send(event).is_err() {
                return;
            }
        }
    });
}

/// Sends an event whenever a file beside the session, or the store, changes. Returns the path of the session.
fn watch(env: &Env, picture: &Picture, events: Sender<Event>) -> std::path::PathBuf {
    let path = picture.path.clone();
    let store = env.store_directory().unwrap_or_default();
    let disk = env.disk;
    let identities = move |path: &Path, store: &Path| {
        let files =
            [path.to_owned(), store.join(crate::store::STORE_FILE), store.join(format!("{}-wal", crate::store::STORE_FILE))];
        // Reading the store can make an empty journal.
        files.map(|file| disk.identify(&file).ok().filter(|it| it.bytes > 0).map(|it| (it.bytes, it.modified, it.inode)))
    };
    let session = path.clone();
    spawn(move || {
        let mut watcher = Watcher::default();
        let directories = [session.parent(), Some(&*store)].into_iter().flatten();
        let directories: BTreeMap<_, _> =
            directories.map(|directory| (directory.to_owned(), RecursiveMode::NonRecursive)).collect();
        let mut before = identities(&session, &store);
        loop {
            watcher.watch(disk, &directories);
            watcher.wait(LONGEST_WAIT);
            let after = identities(&session, &store);
            if after != before {
                before = after;
                if events.send(Event::Touched).is_err() {
                    return;
                }
            }
        }
    });
    path
}
