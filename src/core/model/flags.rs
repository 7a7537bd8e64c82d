use serde::{Deserialize, Serialize};

/// Flags of a row that affect what the client sends: a set of the constants below.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Flags(pub u32);

impl Flags {
    /// A progress row of a running tool: rows with this parent are attached to its own parent.
    pub const PROGRESS: Flags = Flags(1);
    /// A message without usable content: the client skips it when reading, and its children are attached to its parent.
    pub const UNUSABLE: Flags = Flags(1 << 1);
    /// An attachment, including those that are not sent.
    pub const ATTACHMENT: Flags = Flags(1 << 2);
    /// A failed call in place of a response: part of the tree, never sent.
    pub const API_ERROR: Flags = Flags(1 << 3);
    /// The output of a local command in a system row, which is sent in the name of the user.
    pub const COMMAND: Flags = Flags(1 << 4);
    /// A snapshot of files in a system row, which is never a leaf.
    pub const SNAPSHOT: Flags = Flags(1 << 5);
    /// Written by the client in the user's name.
    pub const META: Flags = Flags(1 << 6);
    /// Delivered beside the results of tools, so that it opens no turn.
    pub const COMPANION: Flags = Flags(1 << 7);
    /// Shown, never sent.
    pub const VIRTUAL: Flags = Flags(1 << 8);
    /// Truncated at client shutdown; does not start a turn.
    pub const SHUTDOWN: Flags = Flags(1 << 9);
    /// The caveat that the client inserts before the output of local commands.
    pub const CAVEAT: Flags = Flags(1 << 10);
    pub const COMMAND_NAME: Flags = Flags(1 << 11);
    pub const COMMAND_OUTPUT: Flags = Flags(1 << 12);
    pub const TYPED_COMMAND: Flags = Flags(1 << 13);
    /// The note that the user interrupted the agent.
    pub const INTERRUPTION: Flags = Flags(1 << 14);
    /// An attachment that was written without its text; the client generates the text again.
    pub const TEMPLATE: Flags = Flags(1 << 15);
    /// A tool result that loads tools or brings search results: nothing is folded into it.
    pub const REFERENCES: Flags = Flags(1 << 16);
    /// A tool result that loads tools: the client adds a text about it after the result.
    pub const LOADS_TOOLS: Flags = Flags(1 << 17);
    /// The notification of a background task, which is sent as a notification of the system.
    pub const NOTIFICATION: Flags = Flags(1 << 18);

    /// An answer that the client generated without a model.
    pub const SYNTHETIC: Flags = Flags(1 << 19);
    /// An attachment that is sent in the name of the user, not of the system.
    pub const USER_TURN: Flags = Flags(1 << 20);
    /// The head of a session with numbered rows, whose byte offsets the client stores elsewhere.
    pub const NUMBERED: Flags = Flags(1 << 21);

    /// The notification of a background task, in any form: the client searches for it on resume, and reports the task as
    /// unfinished if it is missing.
    pub const TASK_NOTICE: Flags = Flags(1 << 22);
    /// Written by aperture, or in the form of its rows: its time is that of a change, not of the session.
    pub const OWN: Flags = Flags(1 << 23);

    /// The head of a session that another agent started.
    pub const SUBAGENT: Flags = Flags(1 << 24);
    /// The client begins a turn; it can take further prompts during the turn.
    pub const TURN_START: Flags = Flags(1 << 23);

    /// Returns true if one of `flags` is set.
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

/// Returns the union of two sets.
impl std::ops::BitOr for Flags {
    type Output = Flags;
    fn bitor(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

impl std::fmt::Debug for Flags {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Flags({:b})", self.0)
    }
}
