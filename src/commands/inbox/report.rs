use crate::model::{As, ProposalNumber, Time};
use crate::output::{ChangeReport, Paint, Report, Style, age, amount, clip, padded};
use schemars::JsonSchema;
use serde::Serialize;

/// Maximum number of listed blocks per proposal.
const NAMED: usize = 3;
/// Columns before the text of a proposal.
const MARGIN: usize = 14;

/// A command of the model that waits for the user.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Proposal")]
pub struct InboxRow {
    /// Number, for `approve` and `deny`.
    pub number: ProposalNumber,
    /// Session id.
    pub session: String,
    /// Turn in which it was written.
    pub turn: u32,
    /// Time at which it was found.
    #[serde(with = "As::<Time>")]
    pub time: i64,
    /// Command as written, on one line, with credentials masked.
    pub command: String,
    /// Reason for waiting.
    pub why: String,
    /// Effect that it would have now, on one line.
    pub effect: String,
    /// The effect in full; null if it is no longer possible.
    pub change: Option<ChangeReport>,
}

/// The commands of the model that wait for the user.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct InboxReport {
    /// Waiting commands, the oldest first.
    pub proposals: Vec<InboxRow>,
    /// True if a running client has the session of one of them open.
    #[serde(skip)]
    pub live: bool,
}

impl Report for InboxReport {
    const SCHEMA: &str = "aperture.inbox/2";

    fn text(&self, style: &Style) -> String {
        if self.proposals.is_empty() {
            return "no pending commands\n".to_owned();
        }
        let room = style.width.saturating_sub(MARGIN).max(MARGIN);
        let margin = " ".repeat(MARGIN);
        let mut text = String::new();
        for row in &self.proposals {
            let number = style.paint(Paint::Name, &format!("{:>4}", row.number));
            let when = padded(&age(style.now, row.time), 6);
            text.push_str(&format!("{number}  {when}  {}\n", clip(&row.command, room)));
            text.push_str(&format!("{margin}{}\n", clip(&row.effect, room)));
            let changes = row.change.iter().flat_map(|change| &change.changes);
            for change in changes.clone().take(NAMED) {
                let tokens = |value: f64| amount(value.round() as u64);
                let (before, after) = (tokens(change.tokens_before), tokens(change.tokens_after));
                let name = clip(&change.label, room.saturating_sub(28).max(MARGIN));
                text.push_str(&format!("{margin}  #{} {name}  {before} → {after}\n", change.number));
            }
            let more = changes.count().saturating_sub(NAMED);
            if more > 0 {
                text.push_str(&format!("{margin}  … and {more} more\n"));
            }
            text.push_str(&style.paint(Paint::Dim, &format!("{margin}pending: {}", clip(&row.why, room.saturating_sub(9)))));
            text.push('\n');
        }
        let live = if self.live { " --live" } else { "" };
        let first = self.proposals.first().map(|row| row.number).unwrap_or_default();
        let hint = format!("to execute one: aperture approve {first}{live}; to reject one: aperture deny {first}");
        text.push_str(&style.paint(Paint::Dim, &hint));
        text.push('\n');
        text
    }
}
