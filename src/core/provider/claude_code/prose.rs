//! Sizes of the client's own words in the texts that it adds to a conversation; the words themselves are not stored.
//!
//! A row of an older client records only the data of such a text, and the client generates the words around the data again on
//! resume. Only the size of these words is stored here, so that a window counts their tokens; in the content, one line of
//! aperture replaces them.
//!
//! Each size was measured once over the words of Claude Code 2.1.330, without the names and numbers inserted into them: o200k
//! tokens, characters, and the other counts that an estimate needs.

use crate::model::Counts;
use crate::provider::message::wrap_with;
use crate::provider::{Lead, Unrecorded};

/// Maximum size, in tokens, of words that are counted without a replacement line.
const SILENT_TOKENS: u32 = 14;

const fn words([o200k, characters, camels, capitals, punctuation_runs, digit_runs, newlines]: [u32; 7]) -> Counts {
    Counts { o200k, characters, camels, capitals, punctuation_runs, digit_runs, newlines }
}

pub(super) const TASK_REMINDER: Counts = words([82, 421, 2, 9, 12, 0, 1]);
pub(super) const TASKS: Counts = words([7, 30, 0, 1, 1, 0, 2]);
pub(super) const FILE_CHANGED: Counts = words([51, 233, 0, 2, 7, 0, 0]);
pub(super) const FILE_CHANGE_SEEN: Counts = words([11, 57, 0, 1, 2, 0, 0]);
pub(super) const FILE_CHANGE_UNSEEN: Counts = words([16, 74, 0, 2, 2, 0, 0]);
pub(super) const FILE_BEFORE_COMPACTION: Counts = words([31, 143, 0, 3, 4, 0, 0]);
pub(super) const OPENED_FILE: Counts = words([22, 89, 0, 5, 2, 0, 0]);
pub(super) const SELECTED_LINES: Counts = words([19, 82, 0, 2, 2, 0, 2]);
pub(super) const INVOKED_SKILLS: Counts = words([142, 694, 0, 34, 22, 0, 4]);
pub(super) const SKILLS: Counts = words([12, 64, 0, 2, 1, 0, 1]);
pub(super) const DATE_CHANGE: Counts = words([25, 109, 0, 3, 5, 0, 0]);
pub(super) const ULTRACODE_ON: Counts = words([65, 308, 0, 6, 10, 0, 0]);
pub(super) const ULTRACODE_STILL_ON: Counts = words([26, 109, 0, 3, 2, 0, 0]);
pub(super) const ULTRACODE_OFF: Counts = words([18, 74, 0, 2, 3, 0, 0]);
pub(super) const ULTRATHINK: Counts = words([26, 128, 0, 2, 4, 0, 0]);
pub(super) const WORKFLOW: Counts = words([29, 138, 0, 2, 4, 0, 0]);
pub(super) const PLAN_FILE: Counts = words([32, 150, 0, 3, 4, 0, 4]);
pub(super) const PLAN_LEFT: Counts = words([25, 100, 0, 5, 5, 0, 2]);
pub(super) const PLAN_LEFT_FILE: Counts = words([14, 58, 0, 1, 1, 0, 0]);
pub(super) const PLAN_MODE: Counts = words([970, 4766, 20, 165, 154, 20, 56]);
pub(super) const PLAN_EXISTS: Counts = words([20, 95, 0, 3, 2, 0, 0]);
pub(super) const NO_PLAN: Counts = words([18, 78, 0, 3, 2, 0, 0]);
pub(super) const PLAN_STILL_ON: Counts = words([56, 275, 6, 14, 11, 1, 0]);
pub(super) const AUTO_MODE: Counts = words([208, 948, 2, 11, 43, 0, 4]);
pub(super) const AUTO_MODE_FINISH: Counts = words([365, 1648, 0, 25, 58, 0, 4]);
pub(super) const AUTO_MODE_CONSENT: Counts = words([299, 1379, 0, 8, 47, 2, 10]);
pub(super) const AUTO_MODE_STEER: Counts = words([6, 26, 0, 1, 1, 0, 0]);
pub(super) const BYPASS: Counts = words([7, 40, 0, 1, 1, 0, 0]);
pub(super) const BASH_FIRST: Counts = words([75, 331, 0, 7, 13, 0, 2]);
pub(super) const BASH_RELAXED: Counts = words([104, 453, 1, 16, 19, 0, 2]);
pub(super) const CALL: Counts = words([10, 43, 0, 1, 1, 0, 0]);
pub(super) const RESULT: Counts = words([6, 22, 0, 0, 1, 0, 0]);
pub(super) const EMPTY_FILE: Counts = words([20, 87, 0, 1, 7, 0, 0]);
pub(super) const CUT_FILE: Counts = words([40, 159, 0, 5, 4, 1, 0]);
pub(super) const NOTIFICATION: Counts = words([93, 494, 0, 46, 13, 0, 5]);
pub(super) const OTHER_SOURCE: Counts = words([12, 48, 0, 36, 4, 0, 1]);
pub(super) const QUEUED: Counts = words([54, 282, 0, 5, 6, 0, 3]);
pub(super) const AGENTS: Counts = words([8, 41, 0, 2, 1, 0, 0]);
pub(super) const AGENTS_NEW: Counts = words([11, 53, 0, 2, 1, 0, 0]);
pub(super) const AGENTS_GONE: Counts = words([6, 30, 0, 1, 0, 0, 0]);
pub(super) const AGENTS_AT_ONCE: Counts = words([25, 135, 0, 1, 2, 0, 2]);
pub(super) const AMBIENT: Counts = words([26, 118, 0, 1, 1, 0, 2]);
pub(super) const SERVERS: Counts = words([21, 122, 0, 9, 2, 0, 3]);
pub(super) const SERVERS_GONE: Counts = words([12, 73, 0, 5, 1, 0, 0]);
pub(super) const PENDING_SERVERS: Counts = words([83, 424, 2, 10, 10, 0, 3]);
pub(super) const TOOLS: Counts = words([50, 248, 4, 13, 7, 0, 0]);
pub(super) const SERVER_TOOLS_BACK: Counts = words([26, 125, 1, 6, 3, 1, 0]);
pub(super) const TOOLS_BACK: Counts = words([23, 110, 1, 3, 3, 1, 0]);
pub(super) const MANY_TOOLS_GONE: Counts = words([24, 107, 1, 6, 3, 1, 0]);
pub(super) const SERVER_TOOLS_GONE: Counts = words([24, 123, 1, 7, 2, 0, 0]);
pub(super) const TOOLS_GONE: Counts = words([22, 107, 1, 4, 1, 0, 0]);
pub(super) const DIAGNOSTICS: Counts = words([8, 51, 0, 1, 1, 0, 1]);

/// The client's lead before the notice of a background task.
pub(super) const NOTIFICATION_LEAD: Lead = Lead {
    start: "[SYSTEM NOTIFICATION",
    line: "[note on a background task, added by the client, not recorded; ~93 tokens]\n",
    counts: NOTIFICATION,
};

/// A text of the client: its own words, known only by size, and the recorded data.
pub(super) struct Composed {
    name: &'static str,
    words: Counts,
    data: String,
}

impl Composed {
    pub fn new(name: &'static str, words: Counts, data: impl Into<String>) -> Composed {
        Composed { name, words, data: data.into() }
    }

    /// Returns a text that is recorded completely.
    pub fn recorded(data: impl Into<String>) -> Composed {
        Composed::new("", Counts::default(), data)
    }

    pub fn and(mut self, words: Counts, data: &str) -> Composed {
        self.words = self.words + words;
        self.data.push_str(data);
        self
    }

    pub fn into_reminder(self) -> (String, Option<Unrecorded>) {
        if self.words == Counts::default() {
            return (wrap_with("", &self.data).0, None);
        }
        let mut line = String::new();
        if self.words.o200k > SILENT_TOKENS {
            line = format!("[{}, added by the client, not recorded; ~{} tokens]", self.name, self.words.o200k);
            line.push_str(if self.data.is_empty() { "" } else { "\n" });
        }
        let (content, line) = wrap_with(&line, &self.data);
        (content, Some(Unrecorded { line, counts: self.words }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_takes_the_place_of_the_words() {
        let (content, unrecorded) = Composed::new("plan mode reminder", PLAN_MODE, "").and(NO_PLAN, "/p.md").into_reminder();
        let line = "[plan mode reminder, added by the client, not recorded; ~988 tokens]\n";
        assert_eq!(content, format!("<system-reminder>\n{line}/p.md\n</system-reminder>"));
        let unrecorded = unrecorded.unwrap();
        assert_eq!(&content[unrecorded.line], line);
        assert_eq!(unrecorded.counts.characters, 4766 + 78);
    }

    #[test]
    fn few_words_are_counted_in_silence() {
        let (content, unrecorded) = Composed::new("skills", SKILLS, "- a").into_reminder();
        assert_eq!(content, "<system-reminder>\n- a\n</system-reminder>");
        assert!(unrecorded.is_some_and(|unrecorded| unrecorded.line.is_empty() && unrecorded.counts == SKILLS));
        assert_eq!(Composed::recorded("a").into_reminder(), ("<system-reminder>\na\n</system-reminder>".into(), None));
    }

    #[test]
    fn the_line_of_a_notice_has_its_size() {
        assert!(NOTIFICATION_LEAD.line.contains(&format!("~{} tokens", NOTIFICATION.o200k)));
    }
}
