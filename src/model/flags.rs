use serde::{Deserialize, Serialize};

/// Flags of a row that affect what the client sends: a set of the constants below.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Flags(pub u32);

impl Flags {
    /// A step of a tool that runs: rows that name it as their parent follow its own parent.
    pub const PROGRESS: Flags = Flags(1);
    /// A message without usable content: the client drops it as it reads, and its children follow its parent.
    pub const UNUSABLE: Flags = Flags(1 << 1);
    /// An attachment, also one of which nothing is sent.
    pub const ATTACHMENT: Flags = Flags(1 << 2);
    /// A failed call in place of a response: part of the tree, never sent.
    pub const API_ERROR: Flags = Flags(1 << 3);
    /// The output of a local command in a system row, which is sent as the user's.
    pub const COMMAND: Flags = Flags(1 << 4);
    /// A snapshot of files in a system row, which is never a leaf.
    pub const SNAPSHOT: Flags = Flags(1 << 5);
    /// Written by the client in the user's name.
    pub const META: Flags = Flags(1 << 6);
    /// Delivered beside the results of tools, so that it opens no turn.
    pub const COMPANION: Flags = Flags(1 << 7);
    /// Shown, never sent.
    pub const VIRTUAL: Flags = Flags(1 << 8);
    /// Cut off when the client was shut down, so that it opens no turn.
    pub const SHUTDOWN: Flags = Flags(1 << 9);
    /// The caveat that the client puts before what local commands print.
    pub const CAVEAT: Flags = Flags(1 << 10);
    /// The record of a local command.
    pub const COMMAND_NAME: Flags = Flags(1 << 11);
    /// Output of a local command.
    pub const COMMAND_OUTPUT: Flags = Flags(1 << 12);
    /// A local command as it was typed.
    pub const TYPED_COMMAND: Flags = Flags(1 << 13);
    /// Says that the user interrupted.
    pub const INTERRUPTION: Flags = Flags(1 << 14);
    /// An attachment that was written without its text, which the client makes anew.
    pub const TEMPLATE: Flags = Flags(1 << 15);
    /// A tool result that loads tools or brings search results: nothing is folded into it.
    pub const REFERENCES: Flags = Flags(1 << 16);
    /// A tool result that loads tools: the client says so in a text after it.
    pub const LOADS_TOOLS: Flags = Flags(1 << 17);
    /// The notice of a background task, which is sent as a notice of the system.
    pub const NOTIFICATION: Flags = Flags(1 << 18);

    /// An answer that the client made up, without a model.
    pub const SYNTHETIC: Flags = Flags(1 << 19);
    /// An attachment that is sent as the user's, not as the system's.
    pub const USER_TURN: Flags = Flags(1 << 20);
    /// The head of a session whose rows are numbered, and whose byte offsets the client keeps elsewhere.
    pub const NUMBERED: Flags = Flags(1 << 21);

    /// The notice of a background task, however it was sent: the client looks for it when it resumes, and reports the task as
    /// unfinished where it is gone.
    pub const TASK_NOTICE: Flags = Flags(1 << 22);

    /// True if one of `flags` is set.
    pub fn any(self, flags: Flags) -> bool {
        self.0 & flags.0 != 0
    }

    /// Sets `flags` if `condition` holds.
    pub fn set(&mut self, flags: Flags, condition: bool) {
        if condition {
            self.0 |= flags.0;
        }
    }
}

/// Joins two sets.
impl std::ops::BitOr for Flags {
    type Output = Flags;
    fn bitor(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

/// Writes the bits.
impl std::fmt::Debug for Flags {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Flags({:b})", self.0)
    }
}
