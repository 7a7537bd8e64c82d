//! Other programs that a command starts: aperture again, git, the editor, the pager, a shell and the browser.
#![expect(clippy::disallowed_methods, reason = "starts other programs")]

use super::{CommandError, Env, ErrorKind, files, misuse, refusal};
use crate::output::Clean;
use anyhow::{Context, anyhow};
use std::ffi::{OsStr, OsString};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

const NOTE: &str = "note: ";

impl Env {
    /// Runs a command of this program in another process, with the same global options and this input, and returns its output. Its
    /// notes are those of this process.
    /// Errors: the program cannot be started, or fails.
    pub fn run_again(&self, arguments: &[&str], input: &[u8]) -> Result<Vec<u8>, CommandError> {
        let output = self.output_again(arguments, input)?;
        let messages = String::from_utf8_lossy(&output.stderr).into_owned();
        messages.lines().filter_map(|line| line.strip_prefix(NOTE)).for_each(|note| self.note(note));
        if output.status.success() {
            return Ok(output.stdout);
        }
        let messages: Vec<&str> = messages.lines().filter(|line| !line.starts_with(NOTE)).collect();
        Err(CommandError::new(ErrorKind::Internal, anyhow!("{} ({})", messages.join(" "), output.status)))
    }

    /// Runs a command of this program as [`Env::run_again`] does, and returns all that it wrote, also if it fails.
    /// Errors: the program cannot be started.
    pub fn output_again(&self, arguments: &[&str], input: &[u8]) -> Result<Output, CommandError> {
        let mut command = self.command_again(arguments)?;
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().and_then(|child| finish(child, input)).map_err(unstarted)
    }

    /// Starts a command of this program whose lines are read as it writes them.
    /// Errors: the program cannot be started.
    pub fn follow_again(&self, arguments: &[&str]) -> Result<Followed, CommandError> {
        let mut command = self.command_again(arguments)?;
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        command.spawn().map(Followed).map_err(unstarted)
    }

    fn command_again(&self, arguments: &[&str]) -> Result<Command, CommandError> {
        let mut command = Command::new(self.program()?);
        command.arg("-C").arg(&self.directory).args(self.options()).args(arguments);
        // It has no terminal, so that an editor would wait for ever.
        command.env_remove("VISUAL").env_remove("EDITOR");
        // An interrupt from the keyboard ends the command of the user, which then waits for this one; and the client ends the
        // processes of its hooks with itself.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        Ok(command)
    }

    /// Starts a command of this program in the background, with the same global options; its output is discarded.
    /// Errors: the program cannot be started.
    pub fn start_again(&self, arguments: &[&str]) -> Result<(), CommandError> {
        let mut command = self.command_again(arguments)?;
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().map(drop).map_err(unstarted)
    }

    /// Runs a command line of a shell in the terminal of this process, such as the one that resumes a session.
    /// Errors: it cannot be started, or fails.
    pub fn run_shell(&self, line: &str) -> Result<(), CommandError> {
        let (shell, option) = if cfg!(windows) { ("powershell", "-Command") } else { ("sh", "-c") };
        let status = Command::new(shell).arg(option).arg(line).status();
        match status {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(refusal!("{line}: {status}")),
            Err(error) => Err(CommandError::refused(anyhow::Error::new(error).context(line.to_owned()))),
        }
    }

    /// Opens a file in the browser of the user: the one that is set, a window without controls where a program has one, or that of
    /// the platform. Returns false if none can be started.
    pub fn open_in_browser(&self, file: &Path) -> bool {
        const WINDOWS: [&str; 4] = ["chromium", "google-chrome", "chromium-browser", "microsoft-edge"];
        const PLATFORM: [&str; 2] = if cfg!(windows) { ["explorer", "rundll32"] } else { ["xdg-open", "open"] };
        let start = |program: &OsStr, argument: OsString| {
            let mut command = Command::new(program);
            command.arg(argument).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            #[cfg(unix)]
            std::os::unix::process::CommandExt::process_group(&mut command, 0);
            command.spawn().is_ok()
        };
        let window = || {
            let mut argument = OsString::from("--app=file://");
            argument.push(file);
            argument
        };
        match self.variable("BROWSER").filter(|program| !program.is_empty()) {
            Some(program) => start(&program, file.as_os_str().to_owned()),
            None => {
                WINDOWS.iter().any(|program| start(OsStr::new(program), window()))
                    || PLATFORM.iter().any(|program| start(OsStr::new(program), file.as_os_str().to_owned()))
            }
        }
    }

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

    /// Opens a text in the user's editor, and returns it as it was saved.
    /// Errors: no editor is set, it fails, or the text cannot be written or read.
    pub fn edit(&self, text: &str) -> Result<String, CommandError> {
        let set = |name| self.variable(name).and_then(|value| value.into_string().ok()).filter(|value| !value.trim().is_empty());
        let Some(editor) = set("VISUAL").or_else(|| set("EDITOR")) else {
            return Err(misuse!("no editor is set").hint("set EDITOR, or give the text as an argument"));
        };
        let directory = self.store_directory()?.join("edit");
        let path = directory.join(format!("memory-{}.md", self.process()));
        let refused = |error: anyhow::Error| CommandError::refused(error);
        let prepared = self.disk.make(&path, true).and_then(|()| files::write_private(self.disk, &path, text.as_bytes()));
        prepared.with_context(|| format!("cannot write {}", path.display())).map_err(refused)?;
        let mut words = editor.split_whitespace();
        let status = Command::new(words.next().unwrap_or_default()).args(words).arg(&path).status();
        let saved = files::text(self.disk, &path);
        let _ = self.disk.remove(&path);
        let status = status.with_context(|| format!("cannot start the editor '{editor}'")).map_err(refused)?;
        if !status.success() {
            return Err(refused(anyhow!("the editor '{editor}' failed; nothing was changed")));
        }
        let saved = saved.with_context(|| format!("cannot read {}", path.display())).map_err(refused)?;
        Ok(saved.unwrap_or_default())
    }
}

/// A command whose lines are read as it writes them; it ends with this value.
pub struct Followed(Child);

impl Followed {
    pub fn lines(&mut self) -> impl Iterator<Item = String> + Send + use<> {
        self.0.stdout.take().into_iter().flat_map(|output| BufReader::new(output).lines().map_while(Result::ok))
    }
}

impl Drop for Followed {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn unstarted(error: std::io::Error) -> CommandError {
    let error = anyhow::Error::new(error).context("cannot run aperture again");
    CommandError::new(ErrorKind::Internal, error).hint("start this command again")
}

fn finish(mut child: Child, input: &[u8]) -> std::io::Result<Output> {
    if let Some(mut stdin) = child.stdin.take() {
        // A process that ends early says why.
        let _ = stdin.write_all(input);
    }
    child.wait_with_output()
}

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
