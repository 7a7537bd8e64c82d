use super::{ChangeReport, Paint, Report, Style, clip, padded, plural};
use crate::model::{ProposalNumber, ProposalStatus};
use unicode_width::UnicodeWidthStr;

/// Columns that a command has at most in a list.
const COMMAND_COLUMNS: usize = 40;

/// Columns before a command.
const MARGIN: usize = 16;

/// A command of the model, and what became of it.
#[derive(Clone, Debug)]
pub struct ObeyedCommand {
    /// Its number among the proposals; none for a look ahead.
    pub number: Option<ProposalNumber>,
    /// The turn in which it was written.
    pub turn: u32,
    /// As it was written, on one line, without credentials.
    pub command: String,
    /// What became of it.
    pub status: ProposalStatus,
    /// What the model is told about that.
    pub answer: String,
    /// What it did to the session, or would do; none where it was not carried out, or changed nothing.
    pub change: Option<ChangeReport>,
}

/// What became of the commands that the model wrote since it was last looked.
#[derive(Clone, Debug)]
pub struct ObeyReport {
    /// The session's id.
    pub session: String,
    /// Who wrote them, such as `Claude`.
    pub agent: &'static str,
    /// Whether it is a look ahead.
    pub dry_run: bool,
    /// The commands in the order in which they were written.
    pub commands: Vec<ObeyedCommand>,
}

impl Report for ObeyReport {
    const SCHEMA: &str = "aperture.obey/2";

    fn text(&self, style: &Style) -> String {
        if self.commands.is_empty() {
            return "nothing was asked for\n".to_owned();
        }
        let heading = format!("{} asked for {}", self.agent, plural(self.commands.len(), "thing"));
        let mut text = style.paint(Paint::Heading, &heading) + "\n";
        let widest = self.commands.iter().map(|command| clip(&command.command, COMMAND_COLUMNS).width()).max();
        let widest = widest.unwrap_or_default();
        for command in &self.commands {
            let (paint, word) = match command.status {
                ProposalStatus::Done if self.dry_run => (Paint::Good, "would do"),
                ProposalStatus::Begun | ProposalStatus::Done => (Paint::Good, "done"),
                ProposalStatus::Recorded | ProposalStatus::Waiting => (Paint::Warning, "waits"),
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
        if self.commands.iter().any(|command| command.status == ProposalStatus::Waiting) {
            text.push_str(&style.paint(Paint::Dim, "aperture inbox shows what waits; aperture approve NUMBER carries it out"));
            text.push('\n');
        }
        text
    }
}
