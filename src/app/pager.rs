#![expect(clippy::disallowed_methods, reason = "starts the pager")]

use crate::output::Clean;
use std::ffi::OsString;
use std::io::Write;
use std::process::{Command, Stdio};

/// Shows a text in the user's pager, or `less`; returns true on success.
///
/// If the user quits the pager early, the pipe is closed: that is not an error.
pub(super) fn page(text: &Clean, pager: Option<OsString>) -> bool {
    let command = pager.and_then(|pager| pager.into_string().ok()).unwrap_or_else(|| "less".to_owned());
    let mut words = command.split_whitespace();
    let Some(program) = words.next().filter(|program| *program != "cat") else { return false };
    // The options that git uses: quit if the text fits on one screen, keep colours, do not clear the screen.
    let child = Command::new(program).args(words).env("LESS", "FRX").stdin(Stdio::piped()).spawn();
    let Ok(mut child) = child else { return false };
    if let Some(mut stdin) = child.stdin.take() {
        let _ = stdin.write_all(text.as_str().as_bytes());
    }
    child.wait().is_ok()
}
