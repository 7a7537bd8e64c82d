use crate::model::{As, Basis, Time, TokenCount};
use crate::output::{Paint, Report, Style, age, clip, padded, plural, tokens};
use crate::text::shell::quoted_word;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use unicode_width::UnicodeWidthStr;

/// Sessions of a topic that are printed.
const SESSIONS: usize = 3;
/// Width of the line over time, in weeks or parts of the time.
const COLUMNS: usize = 12;
/// Columns of the terminal from which on a topic has a line over time.
const WIDE: usize = 100;
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// A week of a topic.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TopicWeek {
    /// Its Monday, such as `2026-11-02`.
    pub monday: String,
    /// Number of turns.
    #[schemars(extend("unit" = "turns"))]
    pub turns: u32,
    /// Tokens of the turns.
    pub tokens: u64,
}

/// A session of a topic.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TopicSession {
    /// Session id.
    pub session: String,
    /// Shortest name that selects it with `-s`.
    #[serde(skip)]
    pub name: String,
    /// Client, such as `claude-code`.
    pub client: &'static str,
    /// Title, or the first prompt.
    pub title: String,
    /// Directory in which the session began; empty if unknown.
    pub project: String,
    /// Time of the newest row.
    #[serde(with = "As::<Time>")]
    pub last_written_time: i64,
    /// Numbers of the turns of the topic.
    pub turns: Vec<u32>,
}

/// A topic of one or several sessions.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TopicFound {
    /// Label: a phrase of the user or of the agent.
    pub label: String,
    /// Number of turns, each copy in another session once.
    pub turn_count: usize,
    /// Tokens of the contents of these turns.
    pub tokens: u64,
    /// Time of the first turn; null if unknown.
    #[serde(with = "As::<Option<Time>>")]
    pub first_time: Option<i64>,
    /// Time of the last turn; null if unknown.
    #[serde(with = "As::<Option<Time>>")]
    pub last_time: Option<i64>,
    /// Weeks with turns, in order.
    pub weeks: Vec<TopicWeek>,
    /// Sessions, the newest first.
    pub sessions: Vec<TopicSession>,
}

/// The topics of sessions.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TopicsReport {
    /// Topics, in the requested order.
    pub topics: Vec<TopicFound>,
    /// Number of topics that are not printed.
    pub left_out: usize,
    /// Number of sessions that were read.
    pub searched: usize,
}

impl Report for TopicsReport {
    const SCHEMA: &str = "aperture.topics/1";

    fn text(&self, style: &Style) -> String {
        let times = || self.topics.iter().flat_map(|topic| [topic.first_time, topic.last_time]).flatten();
        let range = times().min().zip(times().max());
        let labels = self.topics.iter().map(|topic| topic.label.width()).max().unwrap_or_default();
        let figures: Vec<String> = self.topics.iter().map(|topic| topic.figures(style)).collect();
        let widest = figures.iter().map(|figures| figures.width()).max().unwrap_or_default();
        let mut text = String::new();
        for (topic, figures) in self.topics.iter().zip(&figures) {
            let line = range.filter(|_| style.width >= WIDE).map(|range| format!("  {}", topic.line(range))).unwrap_or_default();
            let room = style.width.saturating_sub(widest + line.width() + 2).min(labels);
            let label = style.paint(Paint::Heading, &padded(&clip(&topic.label, room), room));
            text.push_str(format!("{label}  {}{line}", padded(figures, widest)).trim_end());
            text.push('\n');
            for session in topic.sessions.iter().take(SESSIONS) {
                text.push_str(&session.text(style));
            }
            if topic.sessions.len() > SESSIONS {
                let more = plural((topic.sessions.len() - SESSIONS) as u64, "session");
                text.push_str(&style.paint(Paint::Dim, &format!("  and {more} more\n")));
            }
        }
        let mut footer = format!("\nread {}", plural(self.searched as u64, "session"));
        if self.left_out > 0 {
            footer.push_str(&format!("; {} more: --limit 0", plural(self.left_out as u64, "topic")));
        }
        footer.push('\n');
        if let Some((topic, session)) = self.topics.iter().find_map(|topic| Some((topic, topic.sessions.first()?))) {
            footer.push_str(&format!("to search for one: aperture search {}\n", quoted_word(&topic.label)));
            if let Some(turn) = session.turns.first() {
                footer.push_str(&format!("to read a turn: aperture show 'turn({turn})' -s {}\n", session.name));
            }
        }
        text.push_str(&style.paint(Paint::Dim, &footer));
        text
    }
}

impl TopicFound {
    /// Returns the numbers of sessions, turns and tokens, and the days.
    fn figures(&self, style: &Style) -> String {
        let zone = (style.zone)();
        let day = |time: i64| {
            Timestamp::from_millisecond(time)
                .map_or_else(|_| String::new(), |time| time.to_zoned(zone.clone()).date().to_string())
        };
        let days = match (self.first_time.map(day), self.last_time.map(day)) {
            (Some(first), Some(last)) if first == last => format!("  {first}"),
            (Some(first), Some(last)) => format!("  {first} – {}", shortened(&first, &last)),
            _ => String::new(),
        };
        let (sessions, turns) = (plural(self.sessions.len() as u64, "session"), plural(self.turn_count as u64, "turn"));
        format!(
            "{sessions:>11}  {turns:>9}  {:>5}{days}",
            tokens(TokenCount { value: self.tokens as f64, basis: Basis::Estimated })
        )
    }

    /// Returns a line of bars: the tokens in each part of a time.
    fn line(&self, (first, last): (i64, i64)) -> String {
        let mut parts = [0; COLUMNS];
        let length = ((last - first) / COLUMNS as i64).max(7 * 86_400_000);
        for week in &self.weeks {
            let Ok(monday) = week.monday.parse::<jiff::civil::Date>() else { continue };
            let Ok(start) = monday.to_zoned(jiff::tz::TimeZone::UTC) else { continue };
            let part = (start.timestamp().as_millisecond() - first).max(0) / length;
            parts[(part as usize).min(COLUMNS - 1)] += week.tokens.max(1);
        }
        let most = parts.iter().copied().max().unwrap_or_default().max(1);
        let bar = |tokens: u64| if tokens == 0 { '·' } else { BARS[((tokens * 8 / most) as usize).clamp(1, 8) - 1] };
        parts.into_iter().map(bar).collect()
    }
}

/// Returns a day without the year that it shares with an earlier one.
fn shortened<'a>(first: &str, last: &'a str) -> &'a str {
    if first.get(..5) == last.get(..5) { last.get(5..).unwrap_or(last) } else { last }
}

impl TopicSession {
    fn text(&self, style: &Style) -> String {
        let facts = format!("  {}  {:>6}  ", padded(&self.name, 8), age(style.now, self.last_written_time));
        let turns: Vec<String> = self.turns.iter().take(3).map(|turn| format!("#{turn}")).collect();
        let more = if self.turns.len() > 3 { " …" } else { "" };
        let turns = format!("  {}{more}", turns.join(" "));
        let room = style.width.saturating_sub(facts.width() + turns.width());
        format!("{}{}{}\n", style.paint(Paint::Name, &facts), clip(&self.title, room), style.paint(Paint::Dim, &turns))
    }
}
