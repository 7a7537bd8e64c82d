//! Reads keys while the screen of a watched session is shown: `q` ends it, and typed keys are not echoed.

use rustix::process::getpgrp;
use rustix::stdio::stdin;
use rustix::termios::{LocalModes, OptionalActions, Termios, isatty, tcgetattr, tcgetpgrp, tcsetattr};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGTSTP};
use signal_hook::iterator::{Handle, Signals};
use signal_hook::low_level::emulate_default_handler;
use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::spawn;

/// The keys of a terminal, which does not echo them. Dropping it restores the terminal; so does every signal that ends or stops
/// the program.
pub(super) struct Keys {
    before: Termios,
    quit: Arc<AtomicBool>,
    signals: Handle,
}

impl Keys {
    /// Reads the keys of standard input from now on, and calls `wake` after `q`. `None` if standard input is not a terminal, or
    /// belongs to another job.
    pub fn listen(wake: impl Fn() + Send + 'static) -> Option<Keys> {
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
        let quit = Arc::new(AtomicBool::new(false));
        let pressed = Arc::clone(&quit);
        spawn(move || {
            let mut key = [0];
            while !matches!(std::io::stdin().read(&mut key), Ok(0) | Err(_)) {
                if key == *b"q" {
                    pressed.store(true, Ordering::SeqCst);
                    wake();
                    return;
                }
            }
        });
        Some(Keys { before, quit, signals: handle })
    }

    /// Returns true if `q` was pressed.
    pub fn is_quit(&self) -> bool {
        self.quit.load(Ordering::SeqCst)
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        self.signals.close();
        let _ = tcsetattr(stdin(), OptionalActions::Now, &self.before);
    }
}
