//! `aperture keep status`: the sessions that clients will delete, and when.

use crate::app::{CommandError, Env, Keeping};
use crate::model::{As, Time};
use crate::output::table::{Column, Table, left, rest, right};
use crate::output::{Paint, Report, Style, bytes, clip, plural, short_id};
use crate::provider::PROVIDERS;
use crate::workspace::{self, CopyState, FindError, Found, days_left};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// Number of sessions that are listed as text.
const LISTED: usize = 10;
/// The days after which a session that will be deleted is reported.
pub const SOON_DAYS: u32 = 7;
/// The groups of sessions by the days that are left, each with its longest.
const GROUPS: [(&str, u32); 4] = [("1 day", 1), ("7 days", SOON_DAYS), ("30 days", 30), ("later", u32::MAX)];

/// A client, and when it deletes sessions.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ClientRetention {
    /// Provider, such as `claude-code`.
    pub provider: &'static str,
    /// Days after the last change of a session after which the client deletes it; null if it deletes none.
    pub retention_days: Option<u32>,
    #[serde(skip)]
    pub agent: &'static str,
}

/// A session, and when its client deletes it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ExpiringSession {
    /// Provider, such as `claude-code`.
    pub provider: &'static str,
    pub session: String,
    pub path: String,
    /// Title, or the first prompt.
    pub title: String,
    /// Time of the last change of the file.
    #[serde(with = "As::<Time>")]
    pub modified_time: i64,
    /// Days until the client deletes it; null if it deletes none.
    pub days_left: Option<u32>,
    /// State of its copy: `missing`, `outdated` or `current`.
    pub copy: CopyState,
    /// Size of the file.
    pub bytes: u64,
}

/// The sessions that clients will delete, and the copies.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct KeepStatusReport {
    /// Setting: `off`, `ask` or `on`.
    pub setting: Keeping,
    /// Clients that have sessions.
    pub clients: Vec<ClientRetention>,
    /// Sessions, those that are deleted first at the beginning.
    pub sessions: Vec<ExpiringSession>,
    /// Number of sessions with a copy, subagents not included.
    pub kept_sessions: usize,
    /// Number of copies of sessions whose file no longer exists, subagents not included.
    pub only_copies: usize,
    /// Size of the copies, with the files beside the sessions.
    pub kept_bytes: u64,
}

/// Returns the sessions that clients will delete.
/// Errors: the directory of the copies is unknown.
pub fn report(env: &Env) -> Result<KeepStatusReport, CommandError> {
    let copies = env.kept()?;
    let mut skip = |path: &Path, error| env.note_skipped(path, &error);
    let listed = workspace::list(env.disk, &env.totals(), &env.places, None, false, &mut skip);
    let mut listed: Vec<_> = match listed {
        Err(FindError::NoSessions(_)) => Vec::new(),
        listed => listed?.into_iter().flatten().filter(|listed| !listed.found.location.subagent).collect(),
    };
    workspace::read_titles(env.disk, &env.totals(), &mut listed.iter_mut().collect::<Vec<_>>());
    let retention: BTreeMap<&str, Option<u32>> =
        PROVIDERS.iter().map(|provider| (provider.name(), copies.retention_days(*provider))).collect();
    let now = env.current_time();
    let row = |listed: workspace::Listed| ExpiringSession {
        provider: listed.found.provider.name(),
        session: listed.found.location.id.clone(),
        path: listed.found.path.display().to_string(),
        modified_time: (listed.identity.modified / 1_000_000) as i64,
        days_left: retention[listed.found.provider.name()].map(|days| days_left(listed.identity.modified, days, now)),
        copy: copies.state(&listed.found, &listed.identity),
        bytes: listed.identity.bytes,
        title: listed.totals.title,
    };
    let mut sessions: Vec<ExpiringSession> = listed.into_iter().map(row).collect();
    sessions.sort_by(|a, b| {
        let key = |session: &ExpiringSession| (session.days_left.unwrap_or(u32::MAX), session.modified_time);
        key(a).cmp(&key(b)).then_with(|| a.path.cmp(&b.path))
    });
    let has_sessions = |provider: &str| sessions.iter().any(|session| session.provider == provider);
    let clients = PROVIDERS.iter().filter(|provider| has_sessions(provider.name()));
    let clients = clients.map(|provider| ClientRetention {
        provider: provider.name(),
        retention_days: retention[provider.name()],
        agent: provider.agent(),
    });
    let clients = clients.collect();
    let is_main = |(found, _): &(Found, _)| !found.location.subagent;
    let (all, orphans) = (copies.all(), copies.orphans());
    let kept: Vec<&Found> = all.iter().filter(|copy| is_main(copy)).map(|(found, _)| found).collect();
    Ok(KeepStatusReport {
        setting: env.keeping,
        clients,
        sessions,
        kept_sessions: kept.len(),
        only_copies: orphans.iter().filter(|copy| is_main(copy)).count(),
        kept_bytes: kept.iter().filter_map(|found| Some(copies.size(found).ok()?.1)).sum(),
    })
}

/// Returns the number of sessions beside a session, itself included, that the client deletes within [`SOON_DAYS`] days and that have no
/// current copy; 0 if the user decided that nothing is kept.
pub fn expiring_in(env: &Env, found: &Found) -> usize {
    let (Ok(copies), true) = (env.kept(), env.keeping != Keeping::Off) else { return 0 };
    let Some(days) = copies.retention_days(found.provider) else { return 0 };
    let (directory, now) = (found.path.parent().unwrap_or(&found.path), env.current_time());
    let expires = |entry: crate::fsio::Entry| {
        let (identity, location) = (entry.identity?, found.provider.locate(&entry.path)?);
        let session = Found { provider: found.provider, path: entry.path, location };
        let is_soon = !session.location.subagent && days_left(identity.modified, days, now) <= SOON_DAYS;
        (is_soon && copies.state(&session, &identity) != CopyState::Current).then_some(())
    };
    // The client does not delete a session elsewhere.
    if copies.copy_path(found.provider, &found.path).is_none() {
        return 0;
    }
    env.disk.list(directory).unwrap_or_default().into_iter().filter_map(expires).count()
}

const COLUMNS: [Column; 4] = [left("DELETED IN"), right("SESSIONS"), right("NOT KEPT"), rest("SIZE")];

impl Report for KeepStatusReport {
    const SCHEMA: &str = "aperture.keep-status/1";

    fn text(&self, style: &Style) -> String {
        let mut text = String::new();
        for client in &self.clients {
            text.push_str(&match client.retention_days {
                Some(days) => {
                    format!("{} deletes sessions {} after their last change\n", client.agent, plural(days as usize, "day"))
                }
                None => format!("{} deletes no sessions\n", client.agent),
            });
        }
        let mut rows = Vec::new();
        let mut from = 0;
        let is_kept = |session: &&ExpiringSession| session.copy == CopyState::Current;
        for (name, until) in GROUPS {
            let within = |session: &&ExpiringSession| session.days_left.is_some_and(|days| (from..=until).contains(&days));
            rows.push(group(name, self.sessions.iter().filter(within).collect(), &is_kept));
            from = until.saturating_add(1);
        }
        rows.push(group("never", self.sessions.iter().filter(|session| session.days_left.is_none()).collect(), &is_kept));
        let rows: Vec<Vec<String>> = rows.into_iter().flatten().collect();
        if !rows.is_empty() {
            text.push_str(&Table::new(style, &COLUMNS, rows).text());
        }
        let lost = |session: &&ExpiringSession| session.days_left.is_some_and(|days| days <= SOON_DAYS) && !is_kept(session);
        for session in self.sessions.iter().filter(lost).take(LISTED) {
            let id = style.paint(Paint::Name, &short_id(&session.session));
            let days = format!("{:>2} d", session.days_left.unwrap_or_default());
            let line = clip(
                &format!("{:<8} {:>8}  {}", session.copy.name(), bytes(session.bytes), session.title),
                style.width.saturating_sub(15),
            );
            text.push_str(&format!("{}  {id} {line}\n", style.paint(Paint::Warning, &days)));
        }
        let more = self.sessions.iter().filter(lost).count().saturating_sub(LISTED);
        if more > 0 {
            text.push_str(&style.paint(Paint::Dim, &format!("and {more} more\n")));
        }
        let only = match self.only_copies {
            0 => String::new(),
            only => format!("; the client has deleted {only} of them"),
        };
        text.push_str(&format!("kept: {} in {}{only}\n", plural(self.kept_sessions, "session"), bytes(self.kept_bytes)));
        let setting = self.setting.name();
        text.push_str(&match self.setting {
            Keeping::On => "keep is on: hooks and watch copy sessions\n".to_owned(),
            _ => format!("keep is {setting}: nothing is copied by itself; to change it: aperture help settings\n"),
        });
        if self.sessions.iter().any(|session| !is_kept(&session)) {
            text.push_str("to copy every session now: aperture keep --all\n");
        }
        text
    }
}

fn group(name: &str, sessions: Vec<&ExpiringSession>, is_kept: &dyn Fn(&&ExpiringSession) -> bool) -> Option<Vec<String>> {
    let lost = sessions.iter().filter(|session| !is_kept(session)).count();
    let size: u64 = sessions.iter().map(|session| session.bytes).sum();
    (!sessions.is_empty()).then(|| vec![name.to_owned(), sessions.len().to_string(), lost.to_string(), bytes(size)])
}
