//! Checks of a session for scripts, git hooks and CI. Each rule is an entry of [`CHECKS`].

use crate::engine::{Analysis, Finding, amount, count};
use crate::model::BlockNumber;
use schemars::JsonSchema;
use serde::Serialize;

/// A credential and its place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocatedSecret {
    /// Kind, such as `github-token`.
    pub kind: &'static str,
    /// The line of the file, from 1; `None` if the client has the session in a database.
    pub line: Option<u64>,
    /// Block that holds it; `None` if it is outside the blocks, or if no analysis was made.
    pub block: Option<BlockNumber>,
}

/// Limits to check; an unset limit is not checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CheckLimits {
    pub max_tokens: Option<u64>,
    pub max_percent: Option<f64>,
    /// Maximum tokens of stale blocks in the window.
    pub max_stale: Option<u64>,
    pub no_secrets: bool,
    pub no_damage: bool,
}

impl CheckLimits {
    /// Returns true if a rule needs an analysis and not only the bytes of the file.
    pub fn needs_reading(&self) -> bool {
        CHECKS.iter().any(|check| check.name != NO_SECRETS && (check.limit)(self).is_some())
    }
}

/// Input of a check; without an analysis, only rules that need none report violations.
#[derive(Clone, Copy, Debug, Default)]
pub struct Checked<'a> {
    pub reading: Option<&'a Analysis>,
    /// The credentials in the file, in file order.
    pub secrets: &'a [LocatedSecret],
    /// The damage of the session, each with the line of the file, from 1; `None` if the file does not have the row.
    pub damage: &'a [(Finding, Option<u64>)],
}

/// A violation of a rule.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Violation {
    /// Rule, named after its option.
    pub rule: &'static str,
    /// Description.
    pub message: String,
    /// Effect on the next request; empty if the rule does not concern requests.
    pub effect: String,
    /// Measured value, in the unit of the rule.
    pub measured: f64,
    /// Limit, in the unit of the rule.
    pub limit: f64,
    /// Line of the file, from 1.
    pub line: Option<u64>,
    pub block: Option<BlockNumber>,
    /// Command that helps; empty if there is none.
    pub hint: String,
}

/// A rule.
pub struct Check {
    /// The name: the option that enables the rule.
    pub name: &'static str,
    /// Returns the limit; `None` if it is not checked.
    pub limit: fn(&CheckLimits) -> Option<f64>,
    /// Returns the violations, without the name of the rule and the limit.
    look: fn(&Checked<'_>, f64) -> Vec<Violation>,
}

/// Share of a window below which most budgets are refused: what the client sends and the words of people are more.
const SMALL_SHARE: f64 = 0.3;

const NO_SECRETS: &str = "no-secrets";

/// All rules, in the order of reported findings.
pub static CHECKS: &[Check] = &[
    Check {
        name: "max-tokens",
        limit: |limits| limits.max_tokens.map(|tokens| tokens as f64),
        look: |subject, limit| {
            let Some(reading) = subject.reading else { return Vec::new() };
            let tokens = reading.price.total;
            let budget = amount(limit as u64);
            over(
                tokens.value,
                limit,
                || format!("the window holds {} tokens; {budget} are allowed", count(tokens.round())),
                || compress(&budget, limit / tokens.value),
            )
        },
    },
    Check {
        name: "max-percent",
        limit: |limits| limits.max_percent,
        look: |subject, limit| {
            let Some(reading) = subject.reading else { return Vec::new() };
            let percent = reading.percent();
            over(
                percent,
                limit,
                || format!("the window is {percent:.0} % full; {limit:.0} % are allowed"),
                || compress(&format!("{limit:.0}%"), limit / percent),
            )
        },
    },
    Check {
        name: "max-stale",
        limit: |limits| limits.max_stale.map(|tokens| tokens as f64),
        look: |subject, limit| {
            let Some(reading) = subject.reading else { return Vec::new() };
            let (blocks, tokens) = reading.stale_total();
            let (held, most) = (amount(tokens.round()), amount(limit as u64));
            over(
                tokens.value,
                limit,
                || format!("{blocks} stale blocks hold {held} tokens; {most} are allowed"),
                || "aperture compress --stale".to_owned(),
            )
        },
    },
    Check {
        name: NO_SECRETS,
        limit: |limits| limits.no_secrets.then_some(0.0),
        look: |subject, _| {
            let found = |sighting: &LocatedSecret| Violation {
                message: format!("a credential: {}", sighting.kind),
                measured: 1.0,
                line: sighting.line,
                block: sighting.block,
                hint: match sighting.block {
                    Some(block) => format!("aperture redact {block}"),
                    None => "aperture redact --whole-file".to_owned(),
                },
                ..Violation::default()
            };
            subject.secrets.iter().map(found).collect()
        },
    },
    Check {
        name: "no-damage",
        limit: |limits| limits.no_damage.then_some(0.0),
        look: |subject, _| {
            let found = |(finding, line): &(Finding, Option<u64>)| Violation {
                message: finding.message(),
                effect: finding.effect(),
                measured: 1.0,
                line: *line,
                block: finding.block,
                hint: if finding.is_repairable() { "aperture repair".to_owned() } else { String::new() },
                ..Violation::default()
            };
            subject.damage.iter().map(found).collect()
        },
    },
];

/// Returns the command that brings a window within a budget: to a small share of its size, the preset that keeps least.
fn compress(budget: &str, share: f64) -> String {
    let is_small = share < SMALL_SHARE;
    if is_small { "aperture compress --preset handoff".to_owned() } else { format!("aperture compress --budget {budget}") }
}

fn over(measured: f64, limit: f64, message: impl Fn() -> String, hint: impl Fn() -> String) -> Vec<Violation> {
    if measured <= limit {
        return Vec::new();
    }
    vec![Violation { message: message(), measured, hint: hint(), ..Violation::default() }]
}

/// Returns the violations of a session, rule by rule.
pub fn violations(subject: &Checked<'_>, limits: &CheckLimits) -> Vec<Violation> {
    let asked = CHECKS.iter().filter_map(|check| Some((check, (check.limit)(limits)?)));
    let found = |(check, limit): (&'static Check, f64)| {
        let found = (check.look)(subject, limit).into_iter();
        found.map(move |violation| Violation { rule: check.name, limit, ..violation })
    };
    asked.flat_map(found).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::FindingKind;
    use crate::model::{Basis, Block, BlockKind, Fault, Role, State, TokenCount};

    /// Creates a session that violates all rules.
    fn bad() -> Analysis {
        let mut reading = Analysis::default();
        let tokens = |value| TokenCount { value, basis: Basis::Measured };
        reading.price.total = tokens(900.0);
        reading.capacity.tokens = 1000;
        let new = Block::new(BlockKind::ToolResult, Role::ToolResult);
        let block = Block { number: 1, state: State::Stale, tokens: tokens(300.0), ..new };
        reading.session.blocks.push(block);
        reading.window.blocks.push(1);
        reading
    }

    fn limits(tokens: u64, percent: f64, stale: u64) -> CheckLimits {
        let (max_tokens, max_percent, max_stale) = (Some(tokens), Some(percent), Some(stale));
        CheckLimits { max_tokens, max_percent, max_stale, no_secrets: true, no_damage: true }
    }

    #[test]
    fn every_rule_finds_what_it_is_for_and_only_when_asked() {
        let (reading, secrets) = (bad(), [LocatedSecret { kind: "aws-key", line: Some(3), block: None }]);
        let damage =
            [(Finding { kind: FindingKind::Unreadable { fault: Fault::NotJson, rows: 1 }, row: 1, block: None }, Some(2))];
        let subject = Checked { reading: Some(&reading), secrets: &secrets, damage: &damage };
        let rules = |limits| violations(&subject, &limits).iter().map(|found| found.rule).collect::<Vec<_>>();
        assert_eq!(rules(CheckLimits::default()), [""; 0]);
        assert_eq!(rules(limits(899, 89.0, 299)), CHECKS.iter().map(|check| check.name).collect::<Vec<_>>());
        // A value equal to its limit is not a violation.
        assert_eq!(rules(limits(900, 90.0, 300)), ["no-secrets", "no-damage"]);
        let good = Analysis::default();
        let subject = Checked { reading: Some(&good), secrets: &[], damage: &[] };
        assert!(violations(&subject, &limits(0, 0.0, 0)).is_empty());
    }

    #[test]
    fn a_budget_that_would_be_refused_is_not_hinted() {
        let reading = bad();
        let hint = |percent: f64| {
            let limits = CheckLimits { max_percent: Some(percent), ..CheckLimits::default() };
            let subject = Checked { reading: Some(&reading), ..Checked::default() };
            violations(&subject, &limits).pop().map(|found| found.hint).unwrap_or_default()
        };
        assert_eq!((&*hint(50.0), &*hint(5.0)), ("aperture compress --budget 50%", "aperture compress --preset handoff"));
    }

    #[test]
    fn only_credentials_are_found_without_a_reading() {
        let secrets = [LocatedSecret { kind: "aws-key", line: Some(3), block: Some(7) }];
        let found = violations(&Checked { reading: None, secrets: &secrets, damage: &[] }, &limits(0, 0.0, 0));
        let found: Vec<_> = found.iter().map(|found| (found.rule, found.line, found.block, &*found.hint)).collect();
        assert_eq!(found, [("no-secrets", Some(3), Some(7), "aperture redact 7")]);
        assert!(!CheckLimits { no_secrets: true, ..CheckLimits::default() }.needs_reading());
        assert!(limits(1, 1.0, 1).needs_reading());
    }
}
