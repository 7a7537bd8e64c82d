//! The terminal while keys are read: it neither echoes them nor waits for the end of a line.

use rustix::process::getpgrp;
use rustix::stdio::stdin;
use rustix::termios::{LocalModes, OptionalActions, Termios, isatty, tcgetattr, tcgetpgrp, tcsetattr};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGTSTP};
use signal_hook::iterator::{Handle, Signals};
use signal_hook::low_level::emulate_default_handler;
use std::thread::spawn;

/// A terminal whose keys are read one by one. Dropping it restores the terminal; so does every signal that ends or stops the program.
pub struct KeyTerminal {
    before: Termios,
    signals: Handle,
}

impl KeyTerminal {
    /// Takes the terminal of standard input. `None` if standard input is not a terminal, or belongs to another job.
    pub fn new() -> Option<KeyTerminal> {
        let terminal = stdin();
        if !isatty(terminal) || tcgetpgrp(terminal).ok()? != getpgrp() {
            return None;
        }
        let before = tcgetattr(terminal).ok()?;
        let mut silent = before.clone();
        silent.local_modes.remove(LocalModes::ECHO | LocalModes::ICANON);
        let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM, SIGTSTP]).ok()?;
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
