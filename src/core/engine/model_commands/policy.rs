use crate::engine::tokens;
use crate::model::Verb;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Permission of a model command, from the most to the least allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Permission {
    /// The command is executed immediately.
    #[serde(alias = "on")]
    Auto,
    /// The command needs the approval of the user.
    #[serde(alias = "ask")]
    Approve,
    #[serde(alias = "off")]
    Deny,
}

/// The tokens below which a quota is used: a summary has up to 120, with its header.
const LEAST_RECALL_TOKENS: usize = 150;

/// Permissions of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelPolicy {
    /// Permissions by command; other commands are executed immediately.
    permissions: BTreeMap<Verb, Permission>,
    /// Maximum number of commands per turn that are executed immediately; further commands need approval.
    pub commands_per_turn: u32,
    /// Maximum number of recalls per turn; further requests for turns return headers.
    pub recalls_per_turn: u32,
    /// Maximum number of tokens that recalls return per turn; further requests for turns return headers.
    pub recalled_tokens_per_turn: u32,
}

/// The executed commands of a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    pub commands: usize,
    pub recalls: usize,
    pub recalled_tokens: usize,
}

impl Spent {
    /// Adds an executed command, with the answer of a recall.
    pub fn add(&mut self, recalled: Option<&String>) {
        self.commands += 1;
        self.recalls += usize::from(recalled.is_some());
        self.recalled_tokens += recalled.map_or(0, |answer| tokens::count(answer));
    }
}

/// By default, commands that remove content from the window need the approval of the user, and housekeeping is off.
impl Default for ModelPolicy {
    fn default() -> Self {
        let waiting = [Verb::Archive, Verb::Compress, Verb::Update].map(|verb| (verb, Permission::Approve));
        ModelPolicy {
            permissions: waiting.into_iter().chain([(Verb::Housekeeping, Permission::Deny)]).collect(),
            commands_per_turn: 10,
            recalls_per_turn: 5,
            recalled_tokens_per_turn: 8_000,
        }
    }
}

impl ModelPolicy {
    pub fn permission(&self, verb: Verb) -> Permission {
        self.permissions.get(&verb).copied().unwrap_or(Permission::Auto)
    }

    /// Returns the stricter permission of two policies for each command.
    pub fn and(self, other: &ModelPolicy) -> ModelPolicy {
        let limits = ModelPolicy {
            permissions: BTreeMap::new(),
            commands_per_turn: self.commands_per_turn.min(other.commands_per_turn),
            recalls_per_turn: self.recalls_per_turn.min(other.recalls_per_turn),
            recalled_tokens_per_turn: self.recalled_tokens_per_turn.min(other.recalled_tokens_per_turn),
        };
        let stricter = Verb::ALL.map(|verb| (verb, self.permission(verb).max(other.permission(verb))));
        limits.with(stricter)
    }

    /// Returns true if it allows nothing that another policy does not allow.
    pub fn is_within(&self, other: &ModelPolicy) -> bool {
        self.clone().and(other) == self.clone().and(self)
    }

    /// Returns the tokens that the next recall of a turn may return; `None` if its quota is used.
    pub fn recall_tokens(&self, spent: Spent) -> Option<usize> {
        let left = (self.recalled_tokens_per_turn as usize).saturating_sub(spent.recalled_tokens);
        Some(left).filter(|left| *left >= LEAST_RECALL_TOKENS && spent.recalls < self.recalls_per_turn as usize)
    }

    /// Returns the policy with other permissions for some commands.
    pub fn with(mut self, permissions: impl IntoIterator<Item = (Verb, Permission)>) -> ModelPolicy {
        self.permissions.extend(permissions);
        self
    }
}
