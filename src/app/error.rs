use crate::engine::SelectorError;
use crate::output::{ErrorReport, Gate, Report, printable};
use crate::store::StoreError;
use crate::text::shell::quoted_word;
use crate::workspace::{ApplyError, FindError, PlanError, SkipReason};
use std::io;
use std::path::Path;

/// The kind of an error; determines the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// A problem was found or the command failed, and it was already reported.
    AlreadyReported,
    /// The request cannot be fulfilled.
    Refused,
    Usage,
    /// The session changed, is locked or is open; a retry may succeed.
    Conflict,
    /// A bug, or a system failure.
    Internal,
    /// The user interrupted a run over many sessions.
    Interrupted,
}

impl ErrorKind {
    /// Returns the exit code of the program.
    pub fn code(self) -> u8 {
        match self {
            ErrorKind::AlreadyReported | ErrorKind::Refused => 1,
            ErrorKind::Usage => 2,
            ErrorKind::Conflict => 3,
            ErrorKind::Internal => 70,
            ErrorKind::Interrupted => 130,
        }
    }
}

/// An error for the user: what failed, the causes, and hints.
#[derive(Debug)]
pub struct CommandError {
    pub kind: ErrorKind,
    /// The failed action and its causes.
    pub source: anyhow::Error,
    /// The next steps for the user.
    pub hints: Vec<String>,
}

impl CommandError {
    pub fn new(kind: ErrorKind, source: impl Into<anyhow::Error>) -> CommandError {
        CommandError { kind, source: source.into(), hints: Vec::new() }
    }

    /// Creates an error for a request that cannot be fulfilled.
    pub fn refused(source: impl Into<anyhow::Error>) -> CommandError {
        CommandError::new(ErrorKind::Refused, source)
    }

    /// Creates an error for an invalid command line or input.
    pub fn usage(source: impl Into<anyhow::Error>) -> CommandError {
        CommandError::new(ErrorKind::Usage, source)
    }

    /// Creates an error that only sets the exit code, because everything was already reported.
    pub fn already_reported() -> CommandError {
        CommandError::new(ErrorKind::AlreadyReported, anyhow::anyhow!("already reported"))
    }

    pub fn hint(mut self, hint: impl Into<String>) -> CommandError {
        self.hints.push(hint.into());
        self
    }

    pub fn hints(mut self, hint: Option<&str>) -> CommandError {
        self.hints.extend(hint.map(str::to_owned));
        self
    }

    /// Creates an error of the disk, with what failed and what to do about it.
    pub fn of_disk(error: io::Error, what: String) -> CommandError {
        let step = next_step(&error);
        CommandError::refused(anyhow::Error::new(error).context(what)).hints(step)
    }

    /// Returns the error of a report that cannot be written, for a command that has done its work. Other errors are unchanged.
    pub fn unreported(mut self, done: &str, hint: Option<&str>) -> CommandError {
        if self.source.is::<OutputError>() && !self.is_closed_pipe() {
            self.source = self.source.context(format!("{done}, but the report cannot be written"));
            self.hints.splice(0..0, hint.map(str::to_owned));
        }
        self
    }

    /// Returns the message: the failed action, each cause and each hint on a line of its own.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (place, cause) in self.source.chain().enumerate() {
            let word = if place == 0 { "error" } else { "because" };
            text.push_str(&format!("{word}: {}\n", printable(cause.to_string().trim_end())));
        }
        for hint in &self.hints {
            text.push_str(&format!("hint: {}\n", printable(hint)));
        }
        text
    }

    /// Returns the error in the JSON form.
    pub fn report(&self) -> ErrorReport {
        let mut causes = self.source.chain().map(|cause| cause.to_string().trim_end().to_owned());
        ErrorReport {
            message: causes.next().unwrap_or_default(),
            causes: causes.collect(),
            hints: self.hints.clone(),
            exit_code: self.kind.code(),
        }
    }

    /// Returns true if the error is only that the reader of the output closed the pipe.
    pub fn is_closed_pipe(&self) -> bool {
        self.source
            .chain()
            .any(|cause| cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe))
    }
}

/// The error that standard output cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the output")]
pub struct OutputError(#[source] pub io::Error);

impl From<OutputError> for CommandError {
    fn from(error: OutputError) -> CommandError {
        let is_full = next_step(&error.0) == Some(FULL);
        CommandError::refused(error).hints(is_full.then_some("write the output to another disk, or free some space on that one"))
    }
}

/// Creates a [`CommandError::refused`] with a message, whose arguments are those of `format!`.
macro_rules! refusal {
    ($($message:tt)*) => {
        $crate::app::CommandError::refused(anyhow::anyhow!($($message)*))
    };
}
pub(crate) use refusal;

/// Creates a [`CommandError::usage`] with a message, whose arguments are those of `format!`.
macro_rules! misuse {
    ($($message:tt)*) => {
        $crate::app::CommandError::usage(anyhow::anyhow!($($message)*))
    };
}
pub(crate) use misuse;

impl From<FindError> for CommandError {
    fn from(error: FindError) -> CommandError {
        let hint: &str = match &error {
            FindError::NoSessions(_) => {
                "run one of the clients once (aperture help clients), or name a file: aperture status FILE.jsonl"
            }
            FindError::NoneHere(_) => "to list all sessions: aperture sessions; to select one: -s",
            FindError::Missing(_) | FindError::Unknown(_) => "to list all sessions: aperture sessions",
            FindError::Ambiguous { candidates, .. } => {
                let names: Vec<&str> = candidates.iter().take(5).map(|id| prefix_of(id, candidates)).collect();
                let more = candidates.len().saturating_sub(5);
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                &format!("one of {}{more}; to use the newest: -s {}", names.join(", "), names.first().unwrap_or(&"ID"))
            }
            FindError::NotASession { .. } => "to list the supported sessions: aperture sessions",
            FindError::Unreadable { source, .. } if source.kind() == io::ErrorKind::InvalidInput => {
                "save its content to a file, and use that file"
            }
            FindError::Unreadable { path, .. } => &may_read(path),
        };
        let hint = hint.to_owned();
        CommandError::refused(error).hint(hint)
    }
}

/// Returns the shortest part, from eight characters on, that an id begins with and no other one.
fn prefix_of<'a>(id: &'a str, all: &[String]) -> &'a str {
    let is_unique = |length: &usize| {
        let begins = |other: &&String| id.get(..*length).is_some_and(|prefix| other.starts_with(prefix));
        all.iter().filter(begins).count() == 1
    };
    (8..id.len()).find(is_unique).map_or(id, |length| &id[..length])
}

/// Returns the hint for a file that cannot be read.
pub fn may_read(path: &Path) -> String {
    format!("check that you may read it: ls -l {}", quoted_word(&path.to_string_lossy()))
}

/// Returns the step of [`next_step`] for an error about a path.
pub fn next_step_at(error: &io::Error, path: &Path) -> Option<String> {
    Some(next_step(error)?.replace("ls -la", &format!("ls -la {}", quoted_word(&path.to_string_lossy()))))
}

impl From<SelectorError> for CommandError {
    fn from(error: SelectorError) -> CommandError {
        let (kind, hint) = (if error.is_absent() { ErrorKind::Refused } else { ErrorKind::Usage }, error.hint());
        CommandError::new(kind, error).hint(hint)
    }
}

impl From<StoreError> for CommandError {
    fn from(error: StoreError) -> CommandError {
        let kind = match &error {
            StoreError::Replaced | StoreError::InUse => ErrorKind::Conflict,
            StoreError::Database(_) if error.is_busy() => ErrorKind::Conflict,
            _ => ErrorKind::Refused,
        };
        let hint = match &error {
            StoreError::Newer { .. } | StoreError::UnknownProvider { .. } => Some("update aperture"),
            StoreError::Damaged(_) => Some("for details: aperture verify"),
            StoreError::Replaced => Some("try again"),
            StoreError::InUse => Some("end aperture proxy, run, serve, tui, watch and mcp; then try again"),
            StoreError::OtherKey => Some(OTHER_KEY),
            StoreError::Unsealed => Some("to seal it: aperture store encrypt"),
            StoreError::WrongKey(_) | StoreError::NoRandomNumbers | StoreError::InvalidRecipient => None,
            StoreError::Unreadable { cause, .. } => next_step(cause).or(Some(OTHER_STORE)),
            StoreError::Database(_) if error.is_busy() => Some("another aperture process uses it: try again"),
            StoreError::Database(_) if error.lacks_locks() => Some(NO_LOCKS),
            StoreError::Database(_) if error.is_of_full_disk() => Some(FULL),
            StoreError::Database(_) if error.is_denied() => Some(OTHER_STORE),
            StoreError::Database(_) => None,
        };
        CommandError::new(kind, error).hints(hint)
    }
}

impl From<PlanError> for CommandError {
    fn from(error: PlanError) -> CommandError {
        let kind = match error {
            PlanError::Originals(error) => return CommandError::from(StoreError::from(error)),
            PlanError::Io(error) => return CommandError::from(error),
            PlanError::ChangedElsewhere(_) | PlanError::Gone | PlanError::Moved => ErrorKind::Conflict,
            PlanError::Unsafe(_) => ErrorKind::Internal,
            _ => ErrorKind::Refused,
        };
        let hint: &str = match &error {
            PlanError::NoSuchBlock(_) => "to list them: aperture blocks",
            PlanError::NoOriginal(_) => "to import the originals of another machine: aperture import FILE",
            PlanError::ChangedLater { by, .. } | PlanError::RemovedLater { by, .. } => {
                &format!("undo that one first: aperture undo {by}")
            }
            PlanError::Forgotten(_) => "to list operations that can be undone: aperture log",
            PlanError::NoTurns | PlanError::LastTurn | PlanError::NotSent(_) => {
                "to list the turns of the window: aperture blocks --tree"
            }
            PlanError::Held(number, SkipReason::Pinned) => &format!("to unpin it: aperture unpin {number}"),
            PlanError::Held(number, _) => &format!("to clear the mark: aperture unfocus {number}"),
            PlanError::Budget { smallest, .. } => &format!("smallest possible: aperture compress --budget {smallest}"),
            PlanError::NoRoom { .. } => "use a shorter text, or add a note at the end: aperture create",
            PlanError::Bound { .. } => "without --keep-thinking the change drops these blocks",
            PlanError::NotCompacted => "to list the operations that can be undone: aperture log",
            PlanError::CutAway => "if aperture shrink removed it, undo that first: aperture log, aperture undo",
            PlanError::ChangedElsewhere(_) | PlanError::Gone => "to list the differences: aperture verify",
            PlanError::Moved => "try again",
            PlanError::Tangled(_) => "nothing was written; to see the messages of the client: aperture transcript",
            PlanError::Unsafe(_) => "please report it; the session is unchanged",
            _ => "to list the blocks: aperture blocks",
        };
        let hint = hint.to_owned();
        CommandError::new(kind, error).hint(hint)
    }
}

impl From<ApplyError> for CommandError {
    fn from(error: ApplyError) -> CommandError {
        match error {
            ApplyError::Store(error) => CommandError::from(error),
            ApplyError::Io(error) => {
                let step = next_step(&error);
                CommandError::refused(error).hints(step).hint("the session is unchanged")
            }
            error => {
                let (kind, hint) = match &error {
                    ApplyError::Packed => (
                        ErrorKind::Refused,
                        "continue it once in the client, which unpacks it; or change a copy: zstd -d FILE -o COPY.jsonl",
                    ),
                    ApplyError::HeldOpen(_) => (ErrorKind::Conflict, "nothing was written; try again when that program is done"),
                    ApplyError::HalfWritten => (
                        ErrorKind::Conflict,
                        "nothing was written; try again when the row is written, or in 10 seconds if the client has ended",
                    ),
                    ApplyError::Unsure(_) => (ErrorKind::Internal, "to check the result: aperture verify"),
                    _ => (ErrorKind::Conflict, "nothing was written; try again"),
                };
                CommandError::new(kind, error).hint(hint)
            }
        }
    }
}

impl From<io::Error> for CommandError {
    fn from(error: io::Error) -> CommandError {
        if error.kind() == io::ErrorKind::ResourceBusy {
            return CommandError::new(ErrorKind::Conflict, error).hint("try again");
        }
        let step = next_step(&error);
        let kind = if step.is_some() { ErrorKind::Refused } else { ErrorKind::Internal };
        CommandError::new(kind, error).hints(step)
    }
}

const OTHER_KEY: &str = "its key is in seal.toml of the data directory: restore that file from a backup";
const FULL: &str = "free some space on that disk, or raise your quota; then try again";
const OTHER_STORE: &str = "give yourself the right to read and write it, or set APERTURE_HOME to a directory that you may write";
const NO_LOCKS: &str = "set APERTURE_HOME to a directory on a local disk";

/// Returns what to do about an error of the disk; `None` if its kind does not tell.
pub fn next_step(error: &io::Error) -> Option<&'static str> {
    Some(match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => FULL,
        io::ErrorKind::ReadOnlyFilesystem => "that disk is mounted read-only: copy the file to another one, and use the copy",
        io::ErrorKind::PermissionDenied => "to see who may read and write there: ls -la",
        io::ErrorKind::TooManyLinks => "to make it a file of its own: cp -p FILE FILE.own && mv FILE.own FILE",
        io::ErrorKind::Unsupported => NO_LOCKS,
        io::ErrorKind::IsADirectory
        | io::ErrorKind::NotADirectory
        | io::ErrorKind::AlreadyExists
        | io::ErrorKind::InvalidInput => "to see what is there: ls -la; move it away, or name another place",
        _ => return None,
    })
}

/// Writes an error to standard error: the failed action, each cause, each hint; or the same as JSON.
pub fn print_error(gate: &Gate, error: &CommandError, json: bool) {
    use std::io::Write;
    let clean = if json { gate.json(&error.report().json()) } else { gate.text(&error.text(), false) };
    let _ = io::stderr().lock().write_all(clean.as_str().as_bytes());
}

/// Writes an error to standard error on one line.
pub fn print_line(gate: &Gate, text: &str) {
    use std::io::Write;
    let text = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ");
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let _ = writeln!(io::stderr().lock(), "aperture: {}", gate.text(text, false).as_str());
}
