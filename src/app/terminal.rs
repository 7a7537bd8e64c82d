//! The terminal while keys are read: it neither echoes them nor waits for the end of a line.

use rustix::process::getpgrp;
use rustix::stdio::stdin;
use rustix::termios::{LocalModes, OptionalActions, Termios, isatty, tcgetattr, tcgetpgrp, tcsetattr};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP};
use signal_hook::iterator::{Handle, Signals};
use signal_hook::low_level::emulate_default_handler;
use std::fs::File;
use std::os::fd::AsFd;
use std::thread::spawn;

/// The signals that end a program, and that it can catch to leave nothing behind.
pub const ENDING: [i32; 4] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM];

/// Returns true if this process belongs to the job in the foreground of its terminal, whose keys send signals to the whole job.
#[expect(clippy::disallowed_methods, reason = "asks for the terminal of this process")]
pub fn is_in_foreground() -> bool {
    File::open("/dev/tty").is_ok_and(is_of_this_job)
}

fn is_of_this_job(terminal: impl AsFd) -> bool {
    tcgetpgrp(terminal).is_ok_and(|job| job == getpgrp())
}

/// A terminal whose keys are read one by one. Dropping it restores the terminal; so does every signal that ends or stops the program.
pub struct KeyTerminal {
    before: Termios,
    signals: Handle,
}

impl KeyTerminal {
    /// Takes the terminal of standard input. `None` if standard input is not a terminal, or belongs to another job.
    pub fn new() -> Option<KeyTerminal> {
        let terminal = stdin();
        if !isatty(terminal) || !is_of_this_job(terminal) {
            return None;
        }
        let before = tcgetattr(terminal).ok()?;
        let mut silent = before.clone();
        silent.local_modes.remove(LocalModes::ECHO | LocalModes::ICANON);
        let mut signals = Signals::new(ENDING.into_iter().chain([SIGTSTP])).ok()?;
        let handle = signals.handle();
        tcsetattr(terminal, OptionalActions::Now, &silent).ok()?;
        let restored = before.clone();
        spawn(move || {
            for signal in signals.forever() {
                let _ = tcsetattr(stdin(), OptionalActions::Now, &restored);
                // Only after SIGTSTP the program continues.
                let _ = emulate_default_handler(signal);
                let _ = tcsetattr(stdin(), OptionalActions::Now, &silent);
            }
        });
        Some(KeyTerminal { before, signals: handle })
    }

    /// Gives the terminal to another program while `run` runs, such as an editor.
    pub fn lend<T>(&self, run: impl FnOnce() -> T) -> T {
        let silent = tcgetattr(stdin());
        let _ = tcsetattr(stdin(), OptionalActions::Now, &self.before);
        let result = run();
        if let Ok(silent) = silent {
            let _ = tcsetattr(stdin(), OptionalActions::Now, &silent);
        }
        result
    }
}

impl Drop for KeyTerminal {
    fn drop(&mut self) {
        self.signals.close();
        let _ = tcsetattr(stdin(), OptionalActions::Now, &self.before);
    }
}
