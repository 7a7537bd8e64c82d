#![expect(clippy::disallowed_methods, reason = "runs this program")]

use super::{CommandError, Env, ErrorKind};
use anyhow::anyhow;
use std::io::Write;
use std::process::{Child, Command, Output, Stdio};

/// The beginning of a note on standard error.
const NOTE: &str = "note: ";

impl Env {
    /// Runs a command of this program in another process, with the same global options and this input, and returns its output. Its
    /// notes are those of this process.
    /// Errors: the program cannot be started, or fails.
    pub fn run_again(&self, arguments: &[&str], input: &[u8]) -> Result<Vec<u8>, CommandError> {
        let mut command = Command::new(self.program()?);
        command.arg("-C").arg(&self.directory).args(self.options()).args(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // An interrupt from the keyboard ends the command of the user, which then waits for this one.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let output = command.spawn().and_then(|child| finish(child, input)).map_err(|error| {
            let error = anyhow::Error::new(error).context("cannot run aperture again");
            CommandError::new(ErrorKind::Internal, error).hint("start this command again")
        })?;
        let messages = String::from_utf8_lossy(&output.stderr).into_owned();
        messages.lines().filter_map(|line| line.strip_prefix(NOTE)).for_each(|note| self.note(note));
        if output.status.success() {
            return Ok(output.stdout);
        }
        let messages: Vec<&str> = messages.lines().filter(|line| !line.starts_with(NOTE)).collect();
        Err(CommandError::new(ErrorKind::Internal, anyhow!("{} ({})", messages.join(" "), output.status)))
    }

    /// Starts a command of this program in the background, with the same global options; its output is discarded.
    /// Errors: the program cannot be started.
    pub fn start_again(&self, arguments: &[&str]) -> Result<(), CommandError> {
        let mut command = Command::new(self.program()?);
        command.arg("-C").arg(&self.directory).args(self.options()).args(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        // The client ends the processes of its hooks with itself.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let started = command.spawn().map(drop);
        started.map_err(|error| {
            CommandError::new(ErrorKind::Internal, anyhow::Error::new(error).context("cannot run aperture again"))
        })
    }
}

fn finish(mut child: Child, input: &[u8]) -> std::io::Result<Output> {
    if let Some(mut stdin) = child.stdin.take() {
        // A process that ends early says why.
        let _ = stdin.write_all(input);
    }
    child.wait_with_output()
}
