use crate::model::Verb;
use serde::Deserialize;

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
    permissions: [Permission; Verb::ALL.len()],
    /// Commands of one turn that are carried out at once; what is more waits.
    pub commands_per_turn: u32,
}

/// What takes something away from the window waits for the user.
impl Default for ModelPolicy {
    fn default() -> Self {
        let permission = |verb| match verb {
            Verb::Archive | Verb::Compress | Verb::Update => Permission::Approve,
            _ => Permission::Auto,
        };
        ModelPolicy { permissions: Verb::ALL.map(permission), commands_per_turn: 10 }
    }
}

impl ModelPolicy {
    /// What becomes of a command.
    pub fn of(&self, verb: Verb) -> Permission {
        let place = Verb::ALL.iter().position(|known| *known == verb);
        place.map_or(Permission::Approve, |place| self.permissions[place])
    }

    /// What both of two policies allow.
    pub fn and(self, other: &ModelPolicy) -> ModelPolicy {
        let commands_per_turn = self.commands_per_turn.min(other.commands_per_turn);
        let both = Verb::ALL.into_iter().fold(self, |both, verb| {
            let stricter = both.of(verb).max(other.of(verb));
            both.with(verb, stricter)
        });
        ModelPolicy { commands_per_turn, ..both }
    }

    /// The same with another word on a command.
    pub fn with(mut self, verb: Verb, permission: Permission) -> ModelPolicy {
        for (known, slot) in Verb::ALL.iter().zip(&mut self.permissions) {
            if *known == verb {
                *slot = permission;
            }
        }
        self
    }
}
