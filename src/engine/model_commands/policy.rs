use crate::model::Verb;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Permission of a model command, from the most to the least allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Permission {
    /// It is carried out at once.
    Auto,
    /// It waits until the user approves it.
    Approve,
    /// It is not carried out.
    Deny,
}

/// Permissions of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelPolicy {
    /// By command; what is not in it is carried out at once.
    permissions: BTreeMap<Verb, Permission>,
    /// Commands of one turn that are carried out at once; what is more waits.
    pub commands_per_turn: u32,
}

/// Commands that remove content from the window wait for the user.
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

    /// The same with another word on some commands.
    pub fn with(mut self, permissions: impl IntoIterator<Item = (Verb, Permission)>) -> ModelPolicy {
        self.permissions.extend(permissions);
        self
    }
}
