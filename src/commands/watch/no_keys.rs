//! Platforms without keys: Ctrl-C ends the watch.

pub(super) struct Keys;

impl Keys {
    /// Returns `None`: no keys are read.
    pub fn listen(_wake: impl Fn() + Send + 'static) -> Option<Keys> {
        None
    }

    /// Returns true if `q` was pressed.
    pub fn is_quit(&self) -> bool {
        false
    }
}
