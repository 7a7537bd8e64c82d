#![expect(clippy::disallowed_methods, reason = "runs git")]

use super::{CommandError, Env};
use anyhow::anyhow;
use std::ffi::OsStr;
use std::process::{Command, Stdio};

impl Env {
    /// Runs git in the working directory and returns its output.
    /// Errors: git is not installed, or fails.
    pub fn git<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Result<Vec<u8>, CommandError> {
        let output = Command::new("git").args(arguments).current_dir(&self.directory).stdin(Stdio::null()).output();
        let output = output
            .map_err(|error| CommandError::refused(anyhow::Error::new(error).context("cannot run git")).hint("install git"))?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        let message = String::from_utf8_lossy(&output.stderr);
        let error = anyhow!("{}", message.trim()).context("git failed");
        Err(CommandError::refused(error).hint("run it in a repository: -C DIRECTORY"))
    }
}
