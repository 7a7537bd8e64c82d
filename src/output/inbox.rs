use super::{ChangeReport, Paint, Report, Style, age, amount, clip, padded};
use crate::model::ProposalNumber;

/// Maximum number of listed blocks per proposal.
const NAMED: usize = 3;
/// Columns before the text of a proposal.
const MARGIN: usize = 14;

/// A pending model command.
#[derive(Clone, Debug)]
pub struct InboxRow {
    pub number: ProposalNumber,
    /// The session's id.
    pub session: String,
    /// The turn in which it was written.
    pub turn: u32,
    /// Time of detection, in milliseconds since 1970, UTC.
    pub time: i64,
    /// The command text, on one line, without credentials.
    pub command: String,
    /// The reason why it needs approval.
    pub why: String,
    /// The effect of executing it now, on one line.
    pub effect: String,
    /// The full effect. `None` if the command can no longer be executed.
    pub change: Option<ChangeReport>,
}

/// Model commands awaiting the approval of the user.
#[derive(Clone, Debug)]
pub struct InboxReport {
    /// The pending commands, the oldest first.
    pub proposals: Vec<InboxRow>,
    /// True if a running client has the session of one of them open.
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
