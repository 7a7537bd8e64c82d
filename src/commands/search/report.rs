use crate::engine::search::{MatchTier, PassageKind};
use crate::model::{As, Time};
use crate::output::{Paint, Report, Style, age, clip, plural, printable, short_id};
use schemars::JsonSchema;
use serde::Serialize;
use unicode_width::UnicodeWidthStr;

/// A turn that matches.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TurnFound {
    /// Number of the turn in the session; 0 for what precedes the first prompt.
    pub turn: u32,
    /// File that has the line.
    pub path: String,
    /// Kind of the text.
    pub kind: PassageKind,
    /// Role of the speaker: user, agent or tool.
    pub role: &'static str,
    /// Time of the turn; null if unknown.
    #[serde(with = "As::<Option<Time>>")]
    pub time: Option<i64>,
    /// Form of the match; null for a literal search.
    pub tier: Option<MatchTier>,
    /// Words of the query that the turn does not have, and others do.
    pub missing_words: Vec<String>,
    /// True if the user left the turn, by a rewind.
    pub is_left: bool,
    /// The line before it.
    pub before: String,
    /// The best line.
    pub line: String,
    /// The line after it.
    pub after: String,
    /// Places of the words of the query in the line.
    #[schemars(extend("unit" = "bytes"))]
    pub marks: Vec<(usize, usize)>,
}

/// A session with turns that match.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SessionFound {
    /// Session id.
    pub session: String,
    /// Client, such as `claude-code`.
    pub client: &'static str,
    /// Title, or the first prompt.
    pub title: String,
    /// Directory in which the session began; empty if unknown.
    pub project: String,
    /// Time of the newest row; null if the client deleted the session.
    #[serde(with = "As::<Option<Time>>")]
    pub last_written_time: Option<i64>,
    /// True if the client deleted the session: only its prompts are known.
    pub is_deleted: bool,
    /// Command that continues the session; null if it is deleted.
    pub command: Option<String>,
    /// Shortest name that selects it with `-s`.
    #[serde(skip)]
    pub name: String,
    /// Turns, the best first.
    pub turns: Vec<TurnFound>,
}

/// Sessions that were searched.
#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema)]
pub struct Coverage {
    /// Number of searched sessions.
    pub searched: usize,
    /// Number of all sessions.
    pub of: usize,
}

/// A word that no session has.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ReplacedWord {
    /// The word.
    pub word: String,
    /// Words that were searched in its place; empty if there are none like it.
    pub searched: Vec<String>,
}

/// The result of a search.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct SearchReport {
    /// Query.
    pub query: String,
    /// Words that no session has.
    pub replaced_words: Vec<ReplacedWord>,
    /// Words that the best turn does not have, if no turn has all.
    pub dropped_words: Vec<String>,
    /// Number of turns with any of the words; of a literal search, of rows with the text.
    pub total: usize,
    /// True if there are more turns than were compared.
    pub capped: bool,
    /// Sessions that were searched.
    pub covered: Coverage,
    /// Number of sessions with matches that are not printed.
    pub left_out: usize,
    /// True if the query was searched as it is, because nearly every sentence has its words.
    #[serde(skip)]
    pub is_common: bool,
    /// Hint about the query.
    #[serde(skip)]
    pub hint: Option<String>,
    /// Sessions, the best first.
    pub sessions: Vec<SessionFound>,
}

impl Report for SearchReport {
    const SCHEMA: &str = "aperture.search/1";

    fn text(&self, style: &Style) -> String {
        let mut text = String::new();
        for note in self.notes() {
            text.push_str(&style.paint(Paint::Warning, &note));
            text.push('\n');
        }
        for session in &self.sessions {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(&session.text(style));
        }
        text.push_str(&style.paint(Paint::Dim, &self.footer()));
        text.push('\n');
        if let Some((session, turn)) =
            self.sessions.iter().find_map(|session| Some((session, session.turns.iter().find(|turn| turn.turn > 0)?)))
        {
            let command = format!("to read one: aperture show 'turn({})' -s {}\n", turn.turn, session.name);
            text.push_str(&style.paint(Paint::Dim, &command));
        }
        text
    }
}

impl SearchReport {
    /// Returns the text of a note for the model.
    pub fn note(&self, style: &Style) -> String {
        let plain = Style { color: false, ..style.clone() };
        let sessions: Vec<String> = self.sessions.iter().map(|session| session.text(&plain)).collect();
        format!("Recalled from earlier sessions, as it was then:\n\n{}", sessions.join("\n").trim_end())
    }

    /// Returns what was searched in place of the query.
    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.is_common {
            notes.push("nearly every sentence has these words; searched for this very text".to_owned());
        }
        for replaced in &self.replaced_words {
            notes.push(match replaced.searched.as_slice() {
                [] => format!("no session has '{}'", replaced.word),
                like => format!("no session has '{}'; searched for: {}", replaced.word, like.join(", ")),
            });
        }
        if !self.dropped_words.is_empty() {
            notes.push(format!("no turn has all words; the best ones lack: {}", self.dropped_words.join(", ")));
        }
        notes
    }

    /// Returns what was searched, and what is not printed.
    fn footer(&self) -> String {
        let Coverage { searched, of } = self.covered;
        let sessions =
            if searched == of { plural(of as u64, "session") } else { format!("{searched} of {}", plural(of as u64, "session")) };
        let mut footer = format!("{}searched {sessions}", if self.sessions.is_empty() { "" } else { "\n" });
        if self.left_out > 0 {
            footer.push_str(&format!(
                "; {} more: --limit {}",
                plural(self.left_out as u64, "session"),
                (self.sessions.len() + self.left_out).max(20)
            ));
        }
        footer
    }
}

impl SessionFound {
    fn text(&self, style: &Style) -> String {
        let age = self.last_written_time.map_or_else(|| "deleted".to_owned(), |time| age(style.now, time));
        let project = self.project.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next().unwrap_or_default();
        let facts = [short_id(&self.session).as_str(), age.as_str(), project]
            .into_iter()
            .filter(|fact| !fact.is_empty())
            .collect::<Vec<_>>()
            .join("  ");
        let room = style.width.saturating_sub(facts.width() + 2);
        let mut text =
            format!("{}  {}\n", style.paint(Paint::Name, &facts), style.paint(Paint::Heading, &clip(&self.title, room)));
        for turn in &self.turns {
            text.push_str(&turn.text(style));
        }
        if let Some(command) = &self.command {
            text.push_str(&style.paint(Paint::Dim, &format!("  {command}\n")));
        }
        text
    }
}

impl TurnFound {
    fn text(&self, style: &Style) -> String {
        let mut head = format!("  #{} {}", self.turn, self.role);
        if self.is_left {
            head.push_str("  rewound");
        }
        if !self.missing_words.is_empty() {
            head.push_str(&format!("  without {}", self.missing_words.join(", ")));
        }
        let mut text = style.paint(Paint::Dim, &clip(&head, style.width)) + "\n";
        let room = style.width.saturating_sub(4);
        for (line, is_best) in [(&self.before, false), (&self.line, true), (&self.after, false)] {
            if line.is_empty() {
                continue;
            }
            let shown = if is_best { self.marked(style, room) } else { style.paint(Paint::Dim, &clip(&printable(line), room)) };
            text.push_str(&format!("    {shown}\n"));
        }
        text
    }

    /// Returns the line in at most `room` columns, with the words of the query marked.
    fn marked(&self, style: &Style, room: usize) -> String {
        // The first word of the query is in sight.
        let first = self.marks.first().map_or(0, |(from, _)| *from);
        let is_far = self.line[..first].width() > room / 2 && self.line.width() > room;
        let start = if is_far { self.line[..first].rmatch_indices(' ').nth(3).map_or(first, |(space, _)| space + 1) } else { 0 };
        let lead = if start > 0 { "… " } else { "" };
        let shown = clip(&printable(&self.line[start..]), room.saturating_sub(lead.width()));
        let mut text = String::from(lead);
        let mut at = 0;
        for (from, to) in self.marks.iter().filter_map(|(from, to)| Some((from.checked_sub(start)?, to.checked_sub(start)?))) {
            // A word that is printed in another form is not marked.
            if from < at || shown.get(from..to) != self.line.get(start + from..start + to) {
                continue;
            }
            text.push_str(&shown[at..from]);
            text.push_str(&style.paint(Paint::AddedWord, &shown[from..to]));
            at = to;
        }
        text.push_str(&shown[at..]);
        text
    }
}
