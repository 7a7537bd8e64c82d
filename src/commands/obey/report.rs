use crate::model::{ProposalNumber, ProposalStatus};
use crate::output::{ChangeReport, Paint, Report, Style, clip, padded, plural, printable};
use schemars::JsonSchema;
use serde::Serialize;
use unicode_width::UnicodeWidthStr;

/// Maximum number of columns of a command in a list.
const COMMAND_COLUMNS: usize = 40;

/// Columns before a command.
const MARGIN: usize = 16;

/// A command of the model and its result.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ObeyedCommand {
    /// Number among the proposals; null for a dry run.
    pub number: Option<ProposalNumber>,
    /// Turn in which it was written.
    pub turn: u32,
    /// Command as written, on one line, with credentials masked.
    pub command: String,
    /// Status.
    pub status: ProposalStatus,
    /// Message to the model about the result.
    pub answer: String,
    /// Change of the session; null if it was not executed or changed nothing.
    pub change: Option<ChangeReport>,
}

/// The results of the commands that the model wrote since the last run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ObeyReport {
    /// Session id.
    pub session: String,
    /// Agent that wrote them, such as `Claude`.
    pub agent: &'static str,
    /// True if this is a dry run.
    pub dry_run: bool,
    /// Commands in the order in which they were written.
    pub commands: Vec<ObeyedCommand>,
}

impl Report for ObeyReport {
    const SCHEMA: &str = "aperture.obey/2";

    fn text(&self, style: &Style) -> String {
        if self.commands.is_empty() {
            return "no commands found\n".to_owned();
        }
        let heading = format!("{} wrote {}", self.agent, plural(self.commands.len(), "command"));
        let mut text = style.paint(Paint::Heading, &heading) + "\n";
        let widest = self.commands.iter().map(|command| clip(&command.command, COMMAND_COLUMNS).width()).max();
        let widest = widest.unwrap_or_default();
        for command in &self.commands {
            let (paint, word) = match command.status {
                ProposalStatus::Done if self.dry_run => (Paint::Good, "would do"),
                ProposalStatus::Begun | ProposalStatus::Done => (Paint::Good, "done"),
                ProposalStatus::Recorded | ProposalStatus::Waiting => (Paint::Warning, "pending"),
                ProposalStatus::Denied => (Paint::Bad, "denied"),
                ProposalStatus::Refused => (Paint::Bad, "refused"),
            };
            let number = command.number.map(|number| number.to_string()).unwrap_or_default();
            let name = padded(&clip(&command.command, COMMAND_COLUMNS), widest);
            let answer = command.answer.lines().next().unwrap_or_default();
            let state = style.paint(paint, &padded(word, 8));
            let room = style.width.saturating_sub(widest + MARGIN + 2);
            let gap = if answer.width() <= room { "  ".to_owned() } else { format!("\n{}", " ".repeat(MARGIN + 2)) };
            let name = if answer.width() <= room { name } else { name.trim_end().to_owned() };
            let answer = clip(answer, room.max(style.width.saturating_sub(MARGIN + 2)));
            text.push_str(&format!("{number:>4}  {state}  {name}{gap}{answer}\n"));
        }
        let mut notes: Vec<&String> =
            self.commands.iter().filter_map(|command| command.change.as_ref()).flat_map(|change| &change.notes).collect();
        notes.dedup();
        for note in notes {
            text.push_str(&format!("{note}\n"));
        }
        if let Some(first) = self.commands.iter().find(|command| command.status == ProposalStatus::Waiting) {
            // In a dry run it has no number yet.
            let approve = first.number.map(|number| format!("; to execute one: aperture approve {number}")).unwrap_or_default();
            text.push_str(&style.paint(Paint::Dim, &format!("to list pending commands: aperture inbox --all{approve}")));
            text.push('\n');
        }
        text
    }
}

/// The message to the model at its next prompt.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TellReport {
    /// Text; empty if there is no message.
    pub text: String,
}

impl Report for TellReport {
    const SCHEMA: &str = "aperture.tell/1";

    fn text(&self, _: &Style) -> String {
        printable(&self.text).into_owned()
    }
}
