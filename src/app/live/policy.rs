//! The actions of the rules in the settings, for those that apply them: `watch --apply-policy` and the proxy.

use crate::app::dispatch::unhandled;
use crate::app::{self, CommandError, Env};
use crate::commands::{ChangeOptions, Request, compress};
use crate::engine::SuggestionKind;
use crate::model::Actor;
use crate::output::ChangeReport;
use crate::workspace::Found;

/// The action that the rules want.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Shorten the window to its budget.
    Budget,
    /// Shorten stale blocks.
    Stale,
}

impl Wanted {
    /// Returns the action for the suggestions, which are made only if they are worth their price.
    pub fn by(suggested: &[SuggestionKind]) -> Option<Wanted> {
        let wanted = [(SuggestionKind::Budget, Wanted::Budget), (SuggestionKind::Compress, Wanted::Stale)];
        wanted.into_iter().find(|(kind, _)| suggested.contains(kind)).map(|(_, wanted)| wanted)
    }

    /// Returns the equivalent request.
    pub fn request(self) -> Request {
        let arguments = compress::Arguments::default();
        Request::Compress(match self {
            Wanted::Budget => compress::Arguments { over_budget: true, ..arguments },
            Wanted::Stale => compress::Arguments { stale: true, ..arguments },
        })
    }
}

/// Executes a request like the equivalent command. `source` is the end of the command in the log.
pub(super) fn carry_out(
    env: &Env,
    found: &Found,
    request: &Request,
    live: bool,
    source: &str,
) -> Result<ChangeReport, CommandError> {
    let mut env = env.on(&found.path, &format!("{} {source}", request.line()));
    env.actor = Actor::Policy;
    let request = request.clone().with_options(ChangeOptions { live, ..ChangeOptions::default() });
    app::change(&env, &request).ok_or_else(unhandled)?
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
