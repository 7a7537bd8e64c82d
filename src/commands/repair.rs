//! `aperture repair`: repairs damage of a session that changes or blocks the next request.

use super::change::pipeline::{ChangeSummary, change};
use super::{BulkOptions, ChangeOptions};
use crate::app::{CommandError, Env, refusal};
use crate::output::{ChangeReport, plural};
use crate::provider::Framing;
use crate::workspace::Repaired;

#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = help_text!("repair"))]
pub struct Arguments {
    /// Session: a path, an id or an id prefix
    #[arg(id = "named", value_name = "SESSION", conflicts_with_all = ["all_sessions", "project"])]
    pub session: Option<String>,
    #[command(flatten)]
    #[serde(flatten)]
    pub options: ChangeOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub bulk: BulkOptions,
}

/// Repairs the session.
pub fn run(env: &Env, arguments: &Arguments) -> Result<ChangeReport, CommandError> {
    let found = env.find(arguments.session.as_deref())?;
    if found.provider.framing() != Framing::Lines {
        return Err(refusal!("the session {} is a request to an API, which has no rows to repair", found.location.id));
    }
    let env = &env.visiting(&found);
    change(env, arguments.options, &|draft, opened| {
        let cache = env.cache();
        let mut repaired = draft.repair(&|hash| cache.count(hash))?;
        // The size of the window says what comes back, by the bill: an estimate beside it would be another figure.
        repaired.iter_mut().for_each(|repaired| repaired.finding.forget_tokens());
        let findings = repaired.iter().map(|repaired| repaired.finding.clone()).collect();
        let located = opened.workspace.located(findings)?;
        let done = repaired.iter().filter(|repaired| repaired.action.is_some()).count();
        let mut summary = ChangeSummary { what: Some(plural(done, "fault")), ..ChangeSummary::change("repaired") };
        for (Repaired { finding, action, refusal }, (_, line)) in repaired.iter().zip(located) {
            let place = match (line, finding.block) {
                (Some(line), Some(block)) => format!("line {line}, block {block}: "),
                (Some(line), None) => format!("line {line}: "),
                _ => String::new(),
            };
            let outcome = match (action, refusal) {
                (Some(action), _) => action.clone(),
                (None, Some(refusal)) => format!("not repaired: {refusal}"),
                (None, None) => format!("not repaired: {}", finding.effect()),
            };
            summary.notes.push(format!("  {place}{}\n    {outcome}", finding.message()));
        }
        Ok(summary)
    })
}
