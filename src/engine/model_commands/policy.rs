use crate::model::Verb;
use serde::Deserialize;
use std::collections::BTreeMap;

/// What becomes of a command of the model, from the most that is allowed to the least.
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

/// What the model may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelPolicy {
    /// By command; what is not in it is carried out at once.
    permissions: BTreeMap<Verb, Permission>,
    /// Commands of one turn that are carried out at once; what is more waits.
    pub commands_per_turn: u32,
}

/// What takes something away from the window waits for the user.
impl Default for ModelPolicy {
    fn default() -> Self {
        let waiting = [Verb::Archive, Verb::Compress, Verb::Update].map(|verb| (verb, Permission::Approve));
        ModelPolicy { permissions: waiting.into(), commands_per_turn: 10 }
    }
}

impl ModelPolicy {
    /// What becomes of a command.
    pub fn permission(&self, verb: Verb) -> Permission {
        self.permissions.get(&verb).copied().unwrap_or(Permission::Auto)
    }

    /// What both of two policies allow.
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
