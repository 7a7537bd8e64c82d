//! `aperture topics`: the subjects of all sessions.

use super::scope::Scope;
use crate::app::{CommandError, Env};
use crate::commands::usage::check_client;
use crate::engine::{SessionTopic, TopicCluster, TopicTurn, topic_clusters};
use crate::model::limits::DAY_MILLISECONDS;
use crate::model::{As, Basis, Time, TokenCount};
use crate::output::{Paint, Report, Style, age, clip, days, padded, plural, short_id, tokens};
use crate::text::shell::quoted_word;
use crate::text::words::stem;
use crate::workspace::{self, FindError, Listed};
use anyhow::anyhow;
use jiff::{Timestamp, ToSpan};
use rustc_hash::FxHashSet;
use schemars::JsonSchema;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::Path;
use unicode_width::UnicodeWidthStr;

const TOPICS: usize = 10;

#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = help_text!("topics"))]
pub struct Arguments {
    /// Only topics with these words
    pub words: Vec<String>,
    #[command(flatten)]
    #[serde(flatten)]
    pub scope: Scope,
    /// Sort by: tokens, sessions or time, the largest or newest first
    #[arg(long, value_name = "KEY", default_value = "tokens")]
    #[serde(serialize_with = "super::json::choice")]
    pub sort: Sort,
    /// Topics to print; 0 prints all
    #[arg(long, value_name = "N", default_value_t = TOPICS, value_parser = crate::app::number::<usize>)]
    pub limit: usize,
}

/// The sort keys of topics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Sort {
    /// The most tokens first.
    Tokens,
    /// The most sessions first.
    Sessions,
    /// The newest first.
    Time,
}

/// Prints the topics of the selected sessions.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    check_client(arguments.scope.client.as_deref())?;
    let mut listed = sessions(env, arguments)?;
    let topics = topics(env, &listed.iter().collect::<Vec<_>>());
    let sessions: Vec<(&str, &[SessionTopic])> =
        listed.iter().zip(&topics).map(|(listed, topics)| (&*listed.found.location.id, &topics[..])).collect();
    let filter = Filter::new(env, arguments);
    let mut found: Vec<TopicFound> = topic_clusters(&sessions)
        .iter()
        .filter(|cluster| filter.has_words(cluster, &topics))
        .filter_map(|cluster| found(env, cluster, &listed, &topics, &filter))
        .collect();
    match arguments.sort {
        Sort::Tokens => found.sort_by_key(|topic| Reverse(topic.tokens)),
        Sort::Sessions => found.sort_by_key(|topic| (Reverse(topic.sessions.len()), Reverse(topic.tokens))),
        Sort::Time => found.sort_by_key(|topic| Reverse(topic.last_time)),
    }
    let limit = if arguments.limit == 0 { found.len() } else { arguments.limit };
    let left_out = found.len().saturating_sub(limit);
    found.truncate(limit);
    let mut report = TopicsReport { topics: found, left_out, searched: listed.len() };
    titles(env, &mut listed, &mut report);
    if report.topics.is_empty() && !env.json {
        let words = if arguments.words.is_empty() { String::new() } else { format!(" with '{}'", arguments.words.join(" ")) };
        let error = anyhow!("no topic{words} in {}", plural(report.searched as u64, "session"));
        let error = CommandError::refused(error);
        return Err(if words.is_empty() {
            error.hint("to list the sessions: aperture sessions")
        } else {
            error.hint("to search the texts: aperture search WORDS")
        });
    }
    env.print(&report)?;
    if report.topics.is_empty() { Err(CommandError::already_reported()) } else { Ok(()) }
}

/// Returns the selected sessions, the kept copies of deleted ones too.
fn sessions(env: &Env, arguments: &Arguments) -> Result<Vec<Listed>, CommandError> {
    let mut is_whole = arguments.scope.project.is_none() && env.session().is_none();
    let mut skip = |path: &Path, error: std::io::Error| {
        is_whole = false;
        env.note_skipped(path, &error);
    };
    let project = arguments.scope.project(env);
    let listed = workspace::list(env.disk, &env.totals(), &env.places, project.as_ref(), false, &mut skip);
    let orphans = env.kept()?.orphans();
    let kept = workspace::list_found(env.disk, &env.totals(), orphans, project.as_ref(), false, &mut skip);
    let listed = match listed {
        Err(FindError::NoSessions(_)) if !kept.is_empty() => Vec::new(),
        listed => listed?,
    };
    let named = env.session().map(|name| env.find_by(name)).transpose()?.map(|found| found.path);
    let is_wanted = |listed: &Listed| {
        !listed.found.location.subagent
            && arguments.scope.has_client(listed.found.provider.name())
            && named.as_ref().is_none_or(|named| *named == listed.found.path)
    };
    let listed: Vec<Listed> = listed.into_iter().flatten().chain(kept).collect();
    if is_whole {
        env.cache().retain_topics(&listed.iter().map(|listed| &*listed.found.path).collect());
    }
    let mut listed: Vec<Listed> = listed.into_iter().filter(is_wanted).collect();
    listed.sort_by(|a, b| a.found.path.cmp(&b.found.path));
    Ok(listed)
}

/// Returns the topics of each session; each is read once.
pub fn topics(env: &Env, listed: &[&Listed]) -> Vec<Vec<SessionTopic>> {
    let bar = env.progress(listed.len());
    let mut skip = |path: &Path, error| env.note_skipped(path, &error);
    let history = |found: &workspace::Found| env.history_of(found).unwrap_or_default();
    let topics = workspace::topics(env.disk, env.cache(), &env.settings, listed, &history, &|| bar.inc(1), &mut skip);
    bar.finish_and_clear();
    topics
}

/// The turns and words that are wanted.
struct Filter {
    since: Option<i64>,
    until: Option<i64>,
    words: Vec<String>,
}

impl Filter {
    fn new(env: &Env, arguments: &Arguments) -> Filter {
        let (since, until) = arguments.scope.times(env);
        let words = arguments.words.iter().flat_map(|word| word.split_whitespace());
        Filter { since, until, words: words.map(|word| stem(&word.to_lowercase()).to_owned()).collect() }
    }

    fn has_words(&self, cluster: &TopicCluster, topics: &[Vec<SessionTopic>]) -> bool {
        let has = |word: &String| {
            cluster.members.iter().any(|(session, place)| {
                let topic = &topics[*session][*place];
                topic.words.contains(word) || topic.label.to_lowercase().contains(word.as_str())
            })
        };
        self.words.iter().all(has)
    }

    fn has_turn(&self, turn: &TopicTurn) -> bool {
        let is_since = |since: i64| turn.time.is_some_and(|time| time >= since);
        let is_until = |until: i64| turn.time.is_some_and(|time| time <= until);
        self.since.is_none_or(is_since) && self.until.is_none_or(is_until)
    }
}

/// Returns a cluster as it is shown; `None` if none of its turns is wanted.
fn found(
    env: &Env,
    cluster: &TopicCluster,
    listed: &[Listed],
    topics: &[Vec<SessionTopic>],
    filter: &Filter,
) -> Option<TopicFound> {
    let mut seen = FxHashSet::default();
    let mut sessions: BTreeMap<usize, Vec<TopicTurn>> = BTreeMap::new();
    for (session, place) in &cluster.members {
        // The copies of a turn in resumed and forked sessions count once.
        let turns = topics[*session][*place].turns.iter().filter(|turn| filter.has_turn(turn));
        let turns: Vec<TopicTurn> =
            turns.filter(|turn| seen.insert((turn.content, turn.time.map_or(*session, |_| 0)))).copied().collect();
        if !turns.is_empty() {
            sessions.entry(*session).or_default().extend(turns);
        }
    }
    let turns: Vec<TopicTurn> = sessions.values().flatten().copied().collect();
    let times = || turns.iter().filter_map(|turn| turn.time);
    let zone = (env.style.zone)();
    let mut weeks: BTreeMap<String, TopicWeek> = BTreeMap::new();
    for turn in &turns {
        let Some(time) = turn.time.and_then(|time| Timestamp::from_millisecond(time).ok()) else { continue };
        let date = time.to_zoned(zone.clone()).date();
        let monday = date.saturating_sub(i64::from(date.weekday().to_monday_zero_offset()).days());
        let week =
            weeks.entry(monday.to_string()).or_insert_with(|| TopicWeek { monday: monday.to_string(), turns: 0, tokens: 0 });
        week.turns += 1;
        week.tokens += turn.tokens;
    }
    let session = |(place, mut turns): (usize, Vec<TopicTurn>)| {
        let Listed { found, totals, .. } = &listed[place];
        let id = &found.location.id;
        let short = short_id(id);
        let is_unique = listed.iter().filter(|listed| listed.found.location.id.starts_with(&short)).nth(1).is_none();
        turns.sort_by_key(|turn| turn.number);
        turns.dedup_by_key(|turn| turn.number);
        TopicSession {
            session: id.clone(),
            name: if is_unique { short } else { id.clone() },
            client: found.provider.name(),
            title: totals.title.clone(),
            project: listed[place].directory().map(|directory| directory.display().to_string()).unwrap_or_default(),
            last_written_time: listed[place].last_written(),
            turns: turns.into_iter().map(|turn| turn.number).collect(),
        }
    };
    let (first_time, last_time) = (times().min(), times().max());
    let tokens = turns.iter().map(|turn| turn.tokens).sum();
    let mut sessions: Vec<TopicSession> = sessions.into_iter().map(session).collect();
    sessions.sort_by(|a, b| b.last_written_time.cmp(&a.last_written_time).then_with(|| a.session.cmp(&b.session)));
    let turn_count = sessions.iter().map(|session| session.turns.len()).sum();
    let label = cluster.label.clone();
    let weeks = weeks.into_values().collect();
    (turn_count > 0).then_some(TopicFound { label, turn_count, tokens, first_time, last_time, weeks, sessions })
}

/// Reads the titles of the printed sessions that have none yet.
fn titles(env: &Env, listed: &mut [Listed], report: &mut TopicsReport) {
    let printed: FxHashSet<String> =
        report.topics.iter().flat_map(|topic| &topic.sessions).map(|session| session.session.clone()).collect();
    let mut printed: Vec<&mut Listed> = listed.iter_mut().filter(|listed| printed.contains(&listed.found.location.id)).collect();
    workspace::read_titles(env.disk, &env.totals(), &mut printed);
    for session in report.topics.iter_mut().flat_map(|topic| &mut topic.sessions) {
        if let Some(listed) = printed.iter().find(|listed| listed.found.location.id == session.session) {
            session.title = listed.totals.title.clone();
        }
    }
}

const SESSIONS: usize = 3;
/// Width of the line over time, in weeks or parts of the time.
const COLUMNS: usize = 12;
/// Columns of the terminal from which on a topic has its days and a line over time: in a narrow one, its label needs the room.
const WIDE: usize = 100;
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// A week of a topic.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TopicWeek {
    /// Its Monday, such as `2026-11-02`.
    pub monday: String,
    pub turns: u32,
    /// Tokens of the turns.
    pub tokens: u64,
}

/// A session of a topic.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TopicSession {
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
    fn figures(&self, style: &Style) -> String {
        let day = days(style);
        let days = match (self.first_time.map(&day), self.last_time.map(&day)) {
            _ if style.width < WIDE => String::new(),
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
        let length = ((last - first) / COLUMNS as i64).max(7 * DAY_MILLISECONDS);
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
