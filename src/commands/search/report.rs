use crate::engine::search::{HiddenValues, MatchTier, PassageKind, QueryField};
use crate::model::{As, Time};
use crate::output::{Paint, Report, Style, age, clip, line, plural, printable, short_id};
use schemars::JsonSchema;
use serde::Serialize;
use unicode_width::UnicodeWidthStr;

/// Words that no session has of which each is printed.
const REPLACED_WORDS: usize = 3;

/// A turn that matches.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TurnFound {
    /// Number of the turn in the session; 0 for what precedes the first prompt.
    pub turn: u32,
    /// File that has the line.
    pub path: String,
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
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct SessionFound {
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
    /// Place of the source of its best turn.
    #[serde(skip)]
    pub source: usize,
    /// The values that its files name as credentials; `None` if they are not known.
    #[serde(skip)]
    pub hidden: Option<HiddenValues>,
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
    /// The word of the query.
    pub word: String,
    /// Words that were searched in its place; empty if there are none like it.
    pub searched: Vec<String>,
}

/// The result of a search.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct SearchReport {
    /// The words that were searched, as given.
    pub query: String,
    /// Words that no session has.
    pub replaced_words: Vec<ReplacedWord>,
    /// Words that the best turn does not have, if no turn has all.
    pub dropped_words: Vec<String>,
    /// Names before a colon that are not fields of a query: they were searched as words.
    pub unknown_fields: Vec<String>,
    /// Number of words that were not searched, because the query has too many.
    pub ignored: usize,
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
            line(&mut text, &style.paint(Paint::Warning, &note));
        }
        for session in &self.sessions {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(&session.text(style));
        }
        line(&mut text, &style.paint(Paint::Dim, &self.footer()));
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
    pub fn note(&self, style: &Style) -> String {
        let plain = Style { color: false, ..style.clone() };
        let sessions: Vec<String> = self.sessions.iter().map(|session| session.text(&plain)).collect();
        format!("Recalled from earlier sessions, as it was then:\n\n{}", sessions.join("\n").trim_end())
    }

    /// Returns the note about names that are not fields; `None` without such names.
    pub fn note_of_fields(&self) -> Option<String> {
        let names: Vec<String> = self.unknown_fields.iter().map(|name| format!("'{name}'")).collect();
        let unknown = if names.len() == 1 { "unknown field" } else { "unknown fields" };
        let fields: Vec<&str> = QueryField::ALL.iter().map(|field| field.name()).collect();
        let note = format!("{unknown} {}, searched as words; the fields are {}", names.join(", "), fields.join(", "));
        (!names.is_empty()).then_some(note)
    }

    /// Returns what was searched in place of the query.
    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.is_common {
            notes.push("nearly every sentence has these words; searched for this very text".to_owned());
        }
        notes.extend(self.note_of_fields());
        for replaced in self.replaced_words.iter().take(REPLACED_WORDS) {
            notes.push(match replaced.searched.as_slice() {
                [] => format!("no session has '{}'", replaced.word),
                like => format!("no session has '{}'; searched for: {}", replaced.word, like.join(", ")),
            });
        }
        if self.replaced_words.len() > REPLACED_WORDS {
            let more = plural((self.replaced_words.len() - REPLACED_WORDS) as u64, "more word");
            notes.push(format!("{more} that no session has"));
        }
        if self.ignored > 0 {
            notes.push(format!("{} after the first ones not searched", plural(self.ignored as u64, "word")));
        }
        if !self.dropped_words.is_empty() {
            notes.push(format!("no turn has all words; the best ones lack: {}", self.dropped_words.join(", ")));
        }
        notes
    }

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
            head.push_str(&format!("  not in it: {}", self.missing_words.join(", ")));
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
        let start = self.start(room);
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

    /// Returns the place from which the line is printed in `room` columns: with as many words of the query as possible, in the middle.
    fn start(&self, room: usize) -> usize {
        let width = |from: usize, to: usize| self.line[from..to].width();
        // The marks of what is cut off, at both ends.
        let room = room.saturating_sub(3);
        let run = |first: usize| {
            let from = self.marks[first].0;
            let run = self.marks[first..].iter().take_while(|(_, to)| width(from, *to) <= room);
            (run.clone().count(), (from, run.last().map_or(from, |(_, to)| *to)))
        };
        let best = (0..self.marks.len()).map(run).rev().max_by_key(|(count, _)| *count);
        let (_, (from, to)) = best.unwrap_or_default();
        if self.line.width() <= room || width(0, to) <= room {
            return 0;
        }
        let before = room.saturating_sub(width(from, to)) / 2;
        let places = self.line[..from].char_indices().rev().map(|(place, _)| place);
        let start = places.take_while(|place| width(*place, from) <= before).last().unwrap_or(from);
        self.line[start..from].find(' ').map_or(start, |space| start + space + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::search::{Passage, cut_line};
    use proptest::prelude::*;

    fn shown(line: &str, marks: Vec<(usize, usize)>, room: usize) -> String {
        let passage = Passage::untitled(PassageKind::Answer, line);
        let excerpt = cut_line(&passage, line, 0..1);
        assert_eq!(excerpt.line, line);
        let found = TurnFound {
            turn: 1,
            path: String::new(),
            kind: excerpt.kind,
            role: "agent",
            time: None,
            tier: None,
            missing_words: Vec::new(),
            is_left: false,
            before: String::new(),
            line: excerpt.line,
            after: String::new(),
            marks,
        };
        let style = Style { color: false, width: room, now: jiff::Timestamp::UNIX_EPOCH, zone: || jiff::tz::TimeZone::UTC };
        found.marked(&style, room)
    }

    proptest! {
        #[test]
        fn a_word_of_the_query_is_never_cut_off(before in "[a-zé界]{1,9}( [a-zé界]{1,9}){0,20}", after in "( [a-zé界]{1,9}){0,20}") {
            let line = format!("{before} needle{after}");
            prop_assume!(line.len() < 400);
            let from = before.len() + 1;
            let shown = shown(&line, vec![(from, from + 6)], 40);
            prop_assert!(shown.contains("needle") && shown.width() <= 40, "{shown}");
        }
    }

    #[test]
    fn the_part_with_most_words_is_shown() {
        let line = format!("needle {}needle and thread {}", "hay ".repeat(30), "straw ".repeat(9));
        let place = |word: &str| line.rfind(word).map(|at| (at, at + word.len())).unwrap();
        let shown = shown(line.trim_end(), vec![(0, 6), place("needle"), place("thread")], 40);
        assert_eq!(shown, "… hay hay needle and thread straw straw…");
    }
}
