use crate::model::Verb;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Permission of a model command, from the most to the least allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Permission {
    /// The command is executed immediately.
    Auto,
    /// The command needs the approval of the user.
    Approve,
    /// The command is rejected.
    Deny,
}

/// Permissions of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelPolicy {
    /// Permissions by command; other commands are executed immediately.
    permissions: BTreeMap<Verb, Permission>,
    /// Maximum number of commands per turn that are executed immediately; further commands need approval.
    pub commands_per_turn: u32,
}

/// By default, commands that remove content from the window need the approval of the user.
impl Default for ModelPolicy {
    fn default() -> Self {
        let waiting = [Verb::Archive, Verb::Compress, Verb::Update].map(|verb| (verb, Permission::Approve));
        ModelPolicy { permissions: waiting.into(), commands_per_turn: 10 }
    }
}

impl ModelPolicy {
    /// Returns the permission of a command.
    pub fn permission(&self, verb: Verb) -> Permission {
        self.permissions.get(&verb).copied().unwrap_or(Permission::Auto)
    }

    /// Returns the stricter permission of two policies for each command.
    pub fn and(self, other: &ModelPolicy) -> ModelPolicy {
        let commands_per_turn = self.commands_per_turn.min(other.commands_per_turn);
        let stricter = Verb::ALL.map(|verb| (verb, self.permission(verb).max(other.permission(verb))));
        ModelPolicy { commands_per_turn, ..self.with(stricter) }
    }

    /// Returns the policy with other permissions for some commands.
    pub fn with(mut self, permissions: impl IntoIterator<Item = (Verb, Permission)>) -> ModelPolicy {
        self.permissions.extend(permissions);
        self
    }
}
