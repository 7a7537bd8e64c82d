use serde::{Deserialize, Serialize};

/// Flags of a row, most of which affect what the client sends: a set of the constants below.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Flags(pub u32);

/// Declares the flags, each a bit of its own.
macro_rules! flags {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        #[expect(clippy::upper_case_acronyms, non_camel_case_types, reason = "only the places of the flags count")]
        enum Bit { $($name,)* }

        impl Flags {
            $($(#[$doc])* pub const $name: Flags = Flags(1 << Bit::$name as u32);)*
        }
    };
}

flags! {
    /// A progress row of a running tool: rows with this parent are attached to its own parent.
    PROGRESS,
    /// A message without usable content: the client skips it when reading, and its children are attached to its parent.
    UNUSABLE,
    /// An attachment, including those that are not sent.
    ATTACHMENT,
    /// A failed call in place of a response: part of the tree, never sent.
    API_ERROR,
    /// The output of a local command in a system row, which is sent in the name of the user.
    COMMAND,
    /// A snapshot of files in a system row, which is never a leaf.
    SNAPSHOT,
    /// Written by the client in the user's name.
    META,
    /// Delivered beside the results of tools, so that it opens no turn.
    COMPANION,
    /// Shown, never sent.
    VIRTUAL,
    /// Truncated at client shutdown; does not start a turn.
    SHUTDOWN,
    /// The caveat that the client inserts before the output of local commands.
    CAVEAT,
    COMMAND_NAME,
    COMMAND_OUTPUT,
    TYPED_COMMAND,
    /// The note that the user interrupted the agent.
    INTERRUPTION,
    /// An attachment that was written without its text; the client generates the text again.
    TEMPLATE,
    /// A tool result that loads tools or brings search results: nothing is folded into it.
    REFERENCES,
    /// A tool result that loads tools: the client adds a text about it after the result.
    LOADS_TOOLS,
    /// The notification of a background task, which is sent as a notification of the system.
    NOTIFICATION,
    /// An answer that the client generated without a model.
    SYNTHETIC,
    /// An attachment that is sent in the name of the user, not of the system.
    USER_TURN,
    /// The head of a session with numbered rows, whose byte offsets the client stores elsewhere.
    NUMBERED,
    /// The notification of a background task, in any form: the client searches for it on resume, and reports the task as
    /// unfinished if it is missing.
    TASK_NOTICE,
    /// Written by aperture, or in the form of its rows: its time is that of a change, not of the session.
    OWN,
    /// The head of a session that another agent started.
    SUBAGENT,
    /// The client begins a turn; it can take further prompts during the turn.
    TURN_START,
    /// Its response was billed at the prices of the fast mode.
    FAST,
    /// The input of its bill is an estimate that a change of aperture wrote beside it.
    ESTIMATED_BILL,
}

impl Flags {
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
