use crate::model::{As, BlockNumber, Time};
use crate::output::table::{Column, Table, left, rest, right};
use crate::output::{Paint, Report, Style, age, clip, plural, printable, short_id, time, wrap};
use schemars::JsonSchema;
use serde::Serialize;

/// Bytes of a prompt or an answer that the text shows.
const SHOWN_BYTES: usize = 1_200;

/// An edit of a session that wrote lines of the file.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BlameEdit {
    pub session: String,
    /// Agent, such as `Claude`.
    pub agent: &'static str,
    /// Turn; null if the session can no longer be read.
    pub turn: Option<u32>,
    /// Block of the call.
    pub block: BlockNumber,
    pub tool: String,
    #[serde(with = "As::<Time>")]
    pub time: i64,
    /// Prompt before the edit; empty if there is none.
    pub prompt: String,
    /// Options of the agent that the prompt names by their numbers; empty if it names none.
    pub chosen: String,
    /// Sentence of the agent before the edit; empty if there is none, or if it is about another file.
    pub reason: String,
    /// Command that shows the call.
    pub show: String,
    /// Command that continues the session.
    pub resume: String,
}

/// Consecutive lines of one edit and one commit, or lines that are unknown.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BlameRun {
    /// Number of the first line, from 1.
    pub first: usize,
    /// Number of the last line.
    pub last: usize,
    /// Edit that wrote them: an index into the edits; null if it is unknown.
    pub edit: Option<usize>,
    /// Commit that introduced them; null if they are not committed.
    pub commit: Option<String>,
    /// The texts of the lines.
    pub lines: Vec<String>,
}

/// A git note.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BlameNote {
    pub commit: String,
    /// Text that is added to its note; empty if the note has it.
    pub text: String,
}

/// The sessions that wrote the lines of a file.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct BlameReport {
    /// Path of the file, in its repository if it is in one.
    pub path: String,
    /// Commit; null for the working tree.
    pub revision: Option<String>,
    /// Number of lines that were asked for.
    pub lines: usize,
    /// Number of these lines whose edit is known.
    pub attributed: usize,
    /// Number of sessions that were searched.
    pub searched: usize,
    /// Edits, by time.
    pub edits: Vec<BlameEdit>,
    /// Runs of lines.
    pub runs: Vec<BlameRun>,
    /// Git notes; empty without --note.
    pub notes: Vec<BlameNote>,
    /// True if no note was written.
    pub dry_run: bool,
    /// True if single lines were asked for, so that the text shows the prompts.
    #[serde(skip)]
    pub is_detailed: bool,
}

const COLUMNS: [Column; 6] =
    [right("lines"), left("session"), right("age").optional(2, 24), left("turn"), left("commit").optional(1, 24), rest("text")];

impl Report for BlameReport {
    const SCHEMA: &str = "aperture.blame/1";

    fn text(&self, style: &Style) -> String {
        let place = self.revision.as_deref().map_or(String::new(), |commit| format!(" in {}", short(commit)));
        let heading = format!("{}{place}: {} of {} attributed", self.path, self.attributed, plural(self.lines as u64, "line"));
        let mut text = style.paint(Paint::Heading, &clip(&heading, style.width)) + "\n";
        if self.is_detailed {
            self.runs.iter().for_each(|run| text += &self.details(style, run));
        } else {
            let rows = self.without_blank_runs().iter().map(|run| self.row(style, run)).collect();
            text += &Table::new(style, &COLUMNS, rows).text();
        }
        let searched = format!("searched {}\n", plural(self.searched as u64, "session"));
        text += &style.paint(Paint::Dim, &searched);
        for note in self.notes.iter().filter(|note| !note.text.is_empty()) {
            let verb = if self.dry_run { "would add" } else { "added" };
            text += &format!("{verb} to the note of {}:\n", short(&note.commit));
            note.text.lines().for_each(|line| text += &format!("  {}\n", clip(line, style.width.saturating_sub(2))));
        }
        text
    }
}

impl BlameReport {
    /// Returns the runs, with each of only blank lines in the one before it: it tells nothing of its own.
    fn without_blank_runs(&self) -> Vec<BlameRun> {
        let is_blank = |run: &BlameRun| run.lines.iter().all(|line| line.trim().is_empty());
        let mut runs: Vec<BlameRun> = Vec::new();
        for run in &self.runs {
            match runs.last_mut() {
                Some(before) if is_blank(run) || before.edit == run.edit && before.commit == run.commit => {
                    before.last = run.last;
                    before.lines.extend_from_slice(&run.lines);
                }
                Some(before) if is_blank(before) => {
                    let lines = [&before.lines[..], &run.lines].concat();
                    *before = BlameRun { first: before.first, lines, ..run.clone() };
                }
                _ => runs.push(run.clone()),
            }
        }
        runs
    }

    fn row(&self, style: &Style, run: &BlameRun) -> Vec<String> {
        let lines = if run.first == run.last { run.first.to_string() } else { format!("{}-{}", run.first, run.last) };
        let first = run.lines.iter().find(|line| !line.trim().is_empty()).map_or("", |line| line.trim());
        let first = printable(first).replace(['\n', '\t'], " ");
        let commit = run.commit.as_deref().map(short).unwrap_or_default();
        let Some(edit) = run.edit.and_then(|at| self.edits.get(at)) else {
            let dim = |text: &str| style.paint(Paint::Dim, text);
            return vec![dim(&lines), dim("unknown"), dim(""), dim(""), dim(commit), dim(&first)];
        };
        vec![
            lines,
            style.paint(Paint::Name, &short_id(&edit.session)),
            age(style.now, edit.time),
            edit.turn.map_or(String::new(), |turn| format!("#{turn}")),
            style.paint(Paint::Dim, commit),
            first,
        ]
    }

    fn details(&self, style: &Style, run: &BlameRun) -> String {
        let mut text = String::from("\n");
        for (number, line) in (run.first..).zip(&run.lines) {
            text += &style.paint(Paint::Dim, &clip(&format!("{number:>5}  {line}"), style.width));
            text.push('\n');
        }
        let commit = run.commit.as_deref().map_or("not committed".to_owned(), |commit| format!("commit {}", short(commit)));
        let mut add = |name: &str, value: &str| {
            for line in wrap(&format!("{name:<9}{value}"), 9, style.width) {
                text += &format!("{line}\n");
            }
        };
        let Some(edit) = run.edit.and_then(|at| self.edits.get(at)) else {
            add("unknown", &format!("no edit of a session is known to have written this text ({commit})"));
            return text;
        };
        let turn = edit.turn.map_or(String::new(), |turn| format!(", turn {turn}"));
        add("session", &format!("{} ({}){turn}, {} ago", short_id(&edit.session), edit.agent, age(style.now, edit.time)));
        add("edit", &format!("{}, block {}, {}; {commit}", edit.tool, edit.block, time(style, edit.time)));
        for (name, value) in [("prompt", &edit.prompt), ("chosen", &edit.chosen), ("reason", &edit.reason)]
            .into_iter()
            .filter(|(_, value)| !value.is_empty())
        {
            add(name, &cut(value));
        }
        text += &format!("show     {}\ncontinue {}\n", printable(&edit.show), printable(&edit.resume));
        text
    }
}

/// Returns the start of the hash of a commit.
fn short(commit: &str) -> &str {
    commit.get(..8).unwrap_or(commit)
}

/// Returns the start of a text, cut between words.
fn cut(text: &str) -> String {
    let text = printable(text);
    if text.len() <= SHOWN_BYTES {
        return text.into_owned();
    }
    let start = &text[..text.floor_char_boundary(SHOWN_BYTES)];
    let end = start.rfind(char::is_whitespace).unwrap_or(start.len());
    format!("{} …", start[..end].trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_lines_belong_to_the_lines_before_them() {
        let run = |first: usize, edit, lines: &[&str]| BlameRun {
            first,
            last: first + lines.len() - 1,
            edit,
            commit: edit.map(|edit: usize| edit.to_string()),
            lines: lines.iter().map(|line| (*line).to_owned()).collect(),
        };
        let shown = |runs: Vec<BlameRun>| -> Vec<(usize, usize, Option<usize>)> {
            let report = BlameReport { runs, ..BlameReport::default() };
            report.without_blank_runs().iter().map(|run| (run.first, run.last, run.edit)).collect()
        };
        let runs = vec![
            run(1, Some(0), &[""]),
            run(2, Some(1), &["fn cart() {", "}"]),
            run(4, None, &["", " "]),
            run(6, Some(1), &["fn clerk() {}"]),
            run(7, Some(2), &["", "fn list() {}"]),
        ];
        assert_eq!(shown(runs), [(1, 6, Some(1)), (7, 8, Some(2))]);
        assert_eq!(shown(vec![run(1, None, &["", ""])]), [(1, 2, None)]);
    }
}
