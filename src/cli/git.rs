#![expect(clippy::disallowed_methods, reason = "runs git")]

use super::{CommandError, Env, ErrorKind};
use anyhow::anyhow;
use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

impl Env {
    /// What git writes when it is run with some arguments in the directory to work from.
    ///
    /// # Errors
    ///
    /// There is no git, or it fails.
    pub fn git<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Result<Vec<u8>, CommandError> {
        let output = Command::new("git").args(arguments).current_dir(&self.directory).stdin(Stdio::null()).output();
        let output = output.map_err(|error| {
            CommandError::new(ErrorKind::Refused, anyhow::Error::new(error).context("cannot run git")).hint("install git")
        })?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let error = anyhow!("{}", said.trim()).context("git could not do what was asked");
        Err(CommandError::new(ErrorKind::Refused, error).hint("run it in a repository: -C DIRECTORY"))
    }

    /// Writes a script that can be run, in one step; one that is there keeps its mode, and may be run as well.
    ///
    /// # Errors
    ///
    /// The disk fails.
    pub fn write_script(&self, path: &Path, bytes: &[u8]) -> std::io::Result<()> {
        use std::fs;
        let directory = path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(directory)?;
        let temporary = directory.join(format!(".{}.aperture", path.file_name().unwrap_or_default().to_string_lossy()));
        fs::write(&temporary, bytes)?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let known = fs::metadata(path).map(|known| known.permissions().mode());
            fs::set_permissions(&temporary, PermissionsExt::from_mode(known.unwrap_or(0o755) | 0o111))?;
        }
        fs::rename(&temporary, path)
    }
}
