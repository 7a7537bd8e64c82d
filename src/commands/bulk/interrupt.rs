//! The interrupt from the keyboard, for a run that must stop between two sessions.

use signal_hook::consts::SIGINT;
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The exit code of a program that the user interrupts, by convention of shells: 128 and the number of the signal.
const EXIT_CODE: i32 = 128 + SIGINT;

/// Catches the first interrupt from the keyboard, and returns a value that is true after it; the second one ends the program at once. If
/// none can be caught, an interrupt ends the program as usual, which is safe at any time.
pub(super) fn catch() -> Arc<AtomicBool> {
    let caught = Arc::new(AtomicBool::new(false));
    // In this order: the first handler ends the program if the second one has run before.
    let _ = flag::register_conditional_shutdown(SIGINT, EXIT_CODE, caught.clone());
    let _ = flag::register(SIGINT, caught.clone());
    caught
}
