//! The terminal while keys are read, on platforms without signals.

use ratatui::crossterm::terminal::{disable_raw_mode, enable_raw_mode};

/// A terminal whose keys are read one by one. Dropping it restores the terminal.
pub struct KeyTerminal(());

impl KeyTerminal {
    /// Takes the terminal; `None` if there is none.
    pub fn new() -> Option<KeyTerminal> {
        enable_raw_mode().ok().map(KeyTerminal)
    }

    /// Gives the terminal to another program while `run` runs, such as an editor.
    pub fn lend<T>(&self, run: impl FnOnce() -> T) -> T {
        let _ = disable_raw_mode();
        let result = run();
        let _ = enable_raw_mode();
        result
    }
}

impl Drop for KeyTerminal {
    fn drop(&mut self) {
        let _ = disable_raw_mode();
    }
}
