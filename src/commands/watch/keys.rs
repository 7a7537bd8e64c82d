//! Reads keys while the screen of a watched session is shown: `q` ends it, and typed keys are not echoed.

use crate::app::KeyTerminal;
use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::spawn;

/// The keys of a terminal, which does not echo them.
pub(super) struct Keys {
    quit: Arc<AtomicBool>,
    _terminal: KeyTerminal,
}

impl Keys {
    /// Reads the keys of standard input from now on, and calls `wake` after `q`. `None` if standard input is not a terminal, or
    /// belongs to another job.
    pub fn listen(wake: impl Fn() + Send + 'static) -> Option<Keys> {
        let terminal = KeyTerminal::new()?;
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
        Some(Keys { quit, _terminal: terminal })
    }

    /// Returns true if `q` was pressed.
    pub fn is_quit(&self) -> bool {
        self.quit.load(Ordering::SeqCst)
    }
}
