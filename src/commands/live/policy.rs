//! The actions of the rules in the settings, for those that apply them: `watch --apply-policy` and the proxy.

use crate::app::{CommandError, Env};
use crate::commands::compress::{self, Arguments};
use crate::commands::{Change, ChangeOptions, Request};
use crate::engine::SuggestionKind;
use crate::model::Actor;
use crate::output::ChangeReport;
use crate::workspace::Found;

/// The action that the rules want.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Shorten the window to its budget.
    Budget,
    Stale,
}

impl Wanted {
    /// Returns the action for the suggestions, which are made only if they are worth their price.
    pub fn by(suggested: &[SuggestionKind]) -> Option<Wanted> {
        let wanted = [(SuggestionKind::Budget, Wanted::Budget), (SuggestionKind::Compress, Wanted::Stale)];
        wanted.into_iter().find(|(kind, _)| suggested.contains(kind)).map(|(_, wanted)| wanted)
    }

    /// Returns the arguments of the equivalent `compress`.
    pub fn arguments(self) -> Arguments {
        match self {
            Wanted::Budget => Arguments { over_budget: true, ..Arguments::default() },
            Wanted::Stale => Arguments { stale: true, ..Arguments::default() },
        }
    }
}

/// Returns the command line of a `compress`, without the name of the program.
pub fn command_line(arguments: &Arguments) -> String {
    Request::from(Change::Compress(arguments.clone())).line()
}

/// Executes a `compress` like the equivalent command. `source` is the end of the command in the log.
pub fn carry_out(
    env: &Env,
    found: &Found,
    arguments: &Arguments,
    live: bool,
    source: &str,
) -> Result<ChangeReport, CommandError> {
    let mut env = env.on(&found.path, &format!("{} {source}", command_line(arguments)));
    env.actor = Actor::Policy;
    let options = ChangeOptions { live, ..ChangeOptions::default() };
    compress::run(&env, &Arguments { options, ..arguments.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_budget_comes_first() {
        use SuggestionKind::{Archive, Budget, Compress, Expand, Preset};
        for (suggested, wanted) in [
            (&[][..], None),
            (&[Preset, Archive, Expand], None),
            (&[Compress, Archive], Some(Wanted::Stale)),
            (&[Compress, Budget], Some(Wanted::Budget)),
        ] {
            assert_eq!(Wanted::by(suggested), wanted, "{suggested:?}");
        }
    }
}
