//! `aperture check`: checks sessions against limits, for scripts, git hooks and CI.

use super::BulkOptions;
use crate::app::{CommandError, Env};
use crate::commands::bulk::{self, BulkSession, Visited};
use crate::engine::{Analysis, CHECKS, CheckLimits, Checked, LocatedSecret, Violation, violations};
use crate::model::{As, json_forms, split_id};
use crate::output::table::{Column, left, right, spaced};
use crate::output::{Form, Paint, Report, Style, clip, plural, printable, short_id, wrap};
use crate::text::shell::quoted_word;
use crate::workspace::{self, FindError, Found, SecretMatch};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::Path;

#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = help_text!("check"))]
pub struct Arguments {
    /// Sessions: paths, ids or id prefixes [default: the newest of this project]
    #[arg(conflicts_with_all = ["all_sessions", "project"])]
    pub sessions: Vec<String>,
    #[command(flatten)]
    #[serde(flatten)]
    pub bulk: BulkOptions,
    /// Maximum size of the window, in tokens
    #[arg(long, value_name = "TOKENS", value_parser = crate::app::tokens)]
    pub max_tokens: Option<u64>,
    /// Maximum fill level of the window, in percent
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub max_percent: Option<f64>,
    /// Maximum size of all stale blocks, in tokens
    #[arg(long, value_name = "TOKENS", value_parser = tokens_or_none)]
    pub max_stale: Option<u64>,
    /// Report credentials in the file
    #[arg(long)]
    pub no_secrets: bool,
    /// Report rows that the client loses, contents that the API refuses, identities that are not unique
    #[arg(long)]
    pub no_damage: bool,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    #[serde(serialize_with = "super::json::choice")]
    pub format: CheckFormat,
}

fn percent(text: &str) -> Result<f64, String> {
    let value = text.strip_suffix('%').unwrap_or(text).parse().ok().filter(|value| (0.0..=1000.0).contains(value));
    value.ok_or_else(|| "write a share of the window as 80".to_owned())
}

fn tokens_or_none(text: &str) -> Result<u64, String> {
    if text == "0" { Ok(0) } else { crate::app::tokens(text) }
}

/// Checks the sessions.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    let named = CheckLimits {
        max_tokens: arguments.max_tokens,
        max_percent: arguments.max_percent,
        max_stale: arguments.max_stale,
        no_secrets: arguments.no_secrets,
        no_damage: arguments.no_damage,
    };
    let limits = if named == CheckLimits::default() { env.check } else { named };
    let asked = CHECKS.iter().filter(|check| (check.limit)(&limits).is_some());
    let mut report = CheckReport {
        rules: asked.map(|check| check.name).collect(),
        sessions: Vec::new(),
        format: arguments.format,
        table: arguments.bulk.is_bulk(),
    };
    let mut exit = Ok(());
    if arguments.bulk.is_bulk() {
        let visited = check_all(env, arguments, &limits)?;
        exit = bulk::outcome(&visited);
        report.sessions = visited.into_iter().flat_map(|visited| checked(env, visited)).collect();
    } else {
        for found in sessions(env, arguments)? {
            let name = env.name_of(&found.path, &found.location.id);
            let subagents = check_subagents(env, &found, &limits)?;
            let of_session = check_session(env, found, &limits)?.into_iter().chain(subagents);
            report.sessions.extend(of_session.map(|checked| match checked.named.is_empty() {
                true => CheckedSession { named: name.clone(), ..checked },
                false => checked,
            }));
        }
    }
    // Sessions can have a file beside them in common.
    let mut seen: BTreeSet<String> = BTreeSet::new();
    report.sessions.retain(|session| !session.is_beside || session.is_copy || seen.insert(session.path.clone()));
    report.name_hints();
    env.print(&report)?;
    exit?;
    if report.findings() > 0 { Err(CommandError::already_reported()) } else { Ok(()) }
}

fn check_all(env: &Env, arguments: &Arguments, limits: &CheckLimits) -> Result<Vec<Visited<Vec<CheckedSession>>>, CommandError> {
    let mut sessions = bulk::listed(env, &arguments.bulk)?;
    sessions.sort_by(|a, b| a.path.cmp(&b.path));
    bulk::visit(env, sessions, &mut |env, _| check_session(env, env.find(None)?, limits))
}

/// Returns the findings of a session and of the files beside it, or the reason why it cannot be checked; nothing if the run was
/// interrupted before it.
fn checked(env: &Env, visited: Visited<Vec<CheckedSession>>) -> Vec<CheckedSession> {
    let BulkSession { id, path, title, .. } = visited.session;
    match visited.outcome {
        None => Vec::new(),
        Some(Ok(checked)) => checked.into_iter().map(|checked| CheckedSession { title: title.clone(), ..checked }).collect(),
        Some(Err(error)) => {
            let error = Some(bulk::reason(&error));
            vec![CheckedSession { session: id, title, path: relative(env, &path), error, ..CheckedSession::default() }]
        }
    }
}

fn relative(env: &Env, path: &Path) -> String {
    path.strip_prefix(&env.directory).unwrap_or(path).display().to_string()
}

fn sessions(env: &Env, arguments: &Arguments) -> Result<Vec<Found>, CommandError> {
    if arguments.sessions.is_empty() {
        return Ok(vec![env.find(None)?]);
    }
    let mut sessions = Vec::new();
    for name in &arguments.sessions {
        match workspace::find(env.disk, &env.places, &env.directory, Some(name)) {
            Ok(found) => sessions.push(found),
            // A list of files from a script may contain files that are not sessions.
            Err(error @ FindError::NotASession { .. }) => env.note(&format!("skipped: {error}")),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(sessions)
}

/// Checks one session, and the files beside it: one entry for each file that has credentials. It is fully analyzed only if a limit
/// needs that.
fn check_session(env: &Env, found: Found, limits: &CheckLimits) -> Result<Vec<CheckedSession>, CommandError> {
    let of_files = found.clone();
    let session = found.location.id.clone();
    let path = relative(env, &found.path);
    let needs_reading = limits.needs_reading();
    let workspace = env.read_as_wanted(found, &|_| needs_reading)?;
    let secrets = match limits.no_secrets {
        true => workspace.locate_secrets(&workspace.secret_matches()?)?,
        false => Vec::new(),
    };
    let damage = match limits.no_damage {
        true => workspace.located(workspace.reading.findings())?,
        false => Vec::new(),
    };
    let reading = needs_reading.then_some(&workspace.reading);
    let mut findings = violations(&Checked { reading, secrets: &secrets, damage: &damage }, limits);
    let only_reads = workspace.provider.read_only().map(|_| workspace.provider.agent());
    let plan = env.window_option().map(|option| format!(" {option}")).unwrap_or_default();
    for hint in findings.iter_mut().map(|finding| &mut finding.hint).filter(|hint| !hint.is_empty()) {
        *hint = if only_reads.is_some() { String::new() } else { format!("{hint}{plan}") };
    }
    let own = CheckedSession { session, path, findings, only_reads, ..CheckedSession::default() };
    let beside = if limits.no_secrets { check_files_beside(env, &of_files, &workspace.reading)? } else { Vec::new() };
    Ok(std::iter::once(own).chain(beside).collect())
}

/// Returns the credentials in the sessions of the subagents of a session: one entry for each file that has some.
fn check_subagents(env: &Env, found: &Found, limits: &CheckLimits) -> Result<Vec<CheckedSession>, CommandError> {
    let secrets_only = CheckLimits { no_secrets: limits.no_secrets, ..CheckLimits::default() };
    let mut checked = Vec::new();
    for subagent in workspace::subagents(env.disk, found)?.into_iter().filter(|_| limits.no_secrets) {
        let named = env.name_of(&subagent.path, &subagent.location.id);
        let found = check_session(env, subagent, &secrets_only)?.into_iter();
        checked.extend(found.map(|checked| CheckedSession { named: named.clone(), ..checked }));
    }
    checked.retain(|checked| !checked.findings.is_empty());
    Ok(checked)
}

fn check_files_beside(env: &Env, found: &Found, reading: &Analysis) -> Result<Vec<CheckedSession>, CommandError> {
    let beside = workspace::all_companions(env.disk, &env.places, found, &reading.session)?;
    let secrets_only = CheckLimits { no_secrets: true, ..CheckLimits::default() };
    let mut checked = Vec::new();
    let files = beside.files.iter().map(|path| (path, false)).chain(beside.copies.iter().map(|path| (path, true)));
    for (path, is_copy) in files {
        let find = |text: &[u8]| workspace::find_beside_session(&reading.known, text);
        let matches = workspace::scan_companion(env.disk, found, path, &find)?;
        let secrets = without_blocks(&matches);
        let mut findings = violations(&Checked { reading: None, secrets: &secrets, damage: &[] }, &secrets_only);
        findings.iter_mut().filter(|_| is_copy).for_each(|finding| finding.hint.clear());
        if !findings.is_empty() {
            let (session, path) = (found.location.id.clone(), relative(env, path));
            checked.push(CheckedSession { session, path, findings, is_beside: true, is_copy, ..CheckedSession::default() });
        }
    }
    Ok(checked)
}

/// Returns secret matches with their lines only, without block numbers.
pub fn without_blocks(matches: &[SecretMatch]) -> Vec<LocatedSecret> {
    matches.iter().map(|found| LocatedSecret { kind: found.kind, line: Some(found.line), block: None }).collect()
}

const TITLE_COLUMNS: usize = 32;

/// Columns before the text of a finding.
const MARGIN: usize = 14;

/// Output formats of the findings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum CheckFormat {
    /// For people.
    #[default]
    Text,
    /// As JSON.
    Json,
    /// As JUnit XML.
    Junit,
    /// As annotations of GitHub Actions.
    Github,
}

/// The findings in a session.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct CheckedSession {
    pub session: String,
    /// Session file, relative to the directory if it is below it.
    pub path: String,
    /// Violations of rules.
    pub findings: Vec<Violation>,
    /// Title, or the first prompt; empty without `--all` and `--project`.
    pub title: String,
    /// Reason why the session cannot be checked.
    pub error: Option<String>,
    /// The name that selects it in the hints; empty in a run over many sessions, which selects it by its id.
    #[serde(skip)]
    pub named: String,
    /// The client, if aperture does not change its sessions.
    #[serde(skip)]
    pub only_reads: Option<&'static str>,
    /// True for a file beside the session.
    #[serde(skip)]
    pub is_beside: bool,
    /// True for a file that the client keeps for itself, which is not changed.
    #[serde(skip)]
    pub is_copy: bool,
}

json_forms! {
    /// The sessions of a check, and the sums over them.
    CheckedSessions of sessions: Vec<CheckedSession> {
        /// Findings in all sessions.
        findings: usize = findings(sessions),
        /// Number of sessions that cannot be checked.
        failed: usize = failed(sessions),
        sessions: Vec<CheckedSession> = sessions.clone(),
    }
}

/// The result of checks.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct CheckReport {
    /// Rules that were checked.
    pub rules: Vec<&'static str>,
    #[serde(flatten, with = "As::<CheckedSessions>")]
    pub sessions: Vec<CheckedSession>,
    #[serde(skip)]
    pub format: CheckFormat,
    /// True if text has a table of the sessions with findings, because many were checked.
    #[serde(skip)]
    pub table: bool,
}

impl CheckedSession {
    fn count(&self, rule: &str) -> usize {
        self.findings.iter().filter(|finding| finding.rule == rule).count()
    }
}

fn findings(sessions: &[CheckedSession]) -> usize {
    sessions.iter().map(|session| session.findings.len()).sum()
}

fn failed(sessions: &[CheckedSession]) -> usize {
    sessions.iter().filter(|session| session.error.is_some()).count()
}

impl CheckReport {
    pub fn findings(&self) -> usize {
        findings(&self.sessions)
    }

    /// Returns the number of sessions that cannot be checked.
    pub fn failed(&self) -> usize {
        failed(&self.sessions)
    }

    /// Adds the session to the hints, by its id if nothing else names it.
    fn name_hints(&mut self) {
        let names: Vec<String> = self.sessions.iter().map(|session| self.name_of(session)).collect();
        for (session, name) in self.sessions.iter_mut().zip(names) {
            let hints = session.findings.iter_mut().map(|finding| &mut finding.hint).filter(|hint| !hint.is_empty());
            hints.for_each(|hint| hint.push_str(&format!(" -s {name}")));
        }
    }

    fn name_of(&self, session: &CheckedSession) -> String {
        let is_shared = |other: &CheckedSession| other.path != session.path && is_named(&other.session, &session.session);
        match &*session.named {
            "" if self.sessions.iter().any(is_shared) => session.session.clone(),
            "" => short_id(&session.session),
            named => quoted_word(named),
        }
    }

    fn people(&self, style: &Style) -> String {
        let mut text = String::new();
        for session in self.sessions.iter().filter(|session| !session.findings.is_empty() || session.error.is_some()) {
            let name = style.paint(Paint::Name, &printable(&session.path));
            text.push_str(&format!("{name}\n"));
            if let Some(error) = &session.error {
                text.push_str(&format!("  {} {}\n", style.paint(Paint::Bad, "failed     "), printable(error)));
            }
            for finding in &session.findings {
                let lines = wrap(&format!("  {:<11} {}", kind(finding), printable(&place(finding))), MARGIN, style.width);
                for (at, line) in lines.iter().enumerate() {
                    match line.split_at_checked(MARGIN).filter(|_| at == 0) {
                        Some((rule, rest)) => text.push_str(&format!("{}{rest}\n", style.paint(Paint::Bad, rule))),
                        None => text.push_str(&format!("{line}\n")),
                    }
                }
            }
            if let Some(agent) = session.only_reads.filter(|_| !session.findings.is_empty()) {
                let way =
                    format!("  sessions of {agent} are only read: make room or delete the session with the client itself\n");
                text.push_str(&style.paint(Paint::Dim, &way));
            }
            if session.is_copy {
                let way = "  the client keeps this file for itself: aperture does not change it; edit or delete it yourself\n";
                text.push_str(&style.paint(Paint::Dim, way));
            }
            for hint in hints(session) {
                text.push_str(&style.paint(Paint::Dim, &format!("  {hint}\n")));
            }
        }
        text.push_str(&self.overview(style));
        let checked = self.sessions.iter().filter(|session| session.error.is_none() && !session.is_beside);
        let sessions = plural(checked.count(), "session");
        let found = match self.findings() {
            0 => style.paint(Paint::Good, "nothing found"),
            findings => style.paint(Paint::Bad, &plural(findings, "finding")),
        };
        text.push_str(&format!("{sessions} checked ({}): {found}\n", self.rules.join(", ")));
        text
    }

    /// Returns the table of the sessions with findings, the most findings first; empty unless there are several.
    fn overview(&self, style: &Style) -> String {
        let mut sessions: Vec<&CheckedSession> = self.sessions.iter().filter(|session| !session.findings.is_empty()).collect();
        if !self.table || sessions.len() < 2 {
            return String::new();
        }
        sessions.sort_by_key(|session| std::cmp::Reverse(session.findings.len()));
        let rules: Vec<&'static str> =
            self.rules.iter().copied().filter(|rule| sessions.iter().any(|session| session.count(rule) > 0)).collect();
        let count = |count: usize| if count == 0 { String::new() } else { count.to_string() };
        let mut rows: Vec<Vec<String>> = Vec::new();
        for session in &sessions {
            let title = clip(&session.title, TITLE_COLUMNS);
            let counts = rules.iter().map(|rule| count(session.count(rule)));
            rows.push([style.paint(Paint::Name, &short_id(&session.session)), title].into_iter().chain(counts).collect());
        }
        let sums = rules.iter().map(|rule| count(sessions.iter().map(|session| session.count(rule)).sum()));
        rows.push(["total".to_owned(), plural(sessions.len(), "session")].into_iter().chain(sums).collect());
        let counted = rules.iter().map(|rule| right(rule.trim_start_matches("no-")));
        let columns: Vec<Column> = [left("SESSION"), left("TITLE")].into_iter().chain(counted).collect();
        spaced(style, &columns, rows) + "\n"
    }

    fn junit(&self) -> String {
        let cases = (self.sessions.len() - self.failed()) * self.rules.len() + self.failed();
        let failed = |session: &CheckedSession, rule: &str| session.findings.iter().any(|finding| finding.rule == rule);
        let failures = self.sessions.iter().flat_map(|session| self.rules.iter().map(move |rule| failed(session, rule)));
        let failures = failures.filter(|failed| *failed).count();
        let errors = if self.failed() > 0 { format!(" errors=\"{}\"", self.failed()) } else { String::new() };
        let mut text = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"aperture check\" tests=\"{cases}\" failures=\"{failures}\"{errors}>\n"
        );
        for session in &self.sessions {
            if let Some(error) = &session.error {
                let (path, error) = (xml(&session.path), xml(error));
                text.push_str(&format!(
                    "    <testcase classname=\"{path}\" name=\"readable\">\n      <error message=\"{error}\"/>\n    </testcase>\n"
                ));
                continue;
            }
            for rule in &self.rules {
                let found: Vec<&Violation> = session.findings.iter().filter(|finding| finding.rule == *rule).collect();
                text.push_str(&format!("    <testcase classname=\"{}\" name=\"{rule}\"", xml(&session.path)));
                if found.is_empty() {
                    text.push_str("/>\n");
                    continue;
                }
                let lines: Vec<String> = found.iter().map(|finding| place(finding)).collect();
                let message = plural(found.len(), "finding");
                let lines = xml(&lines.join("\n"));
                text.push_str(&format!(">\n      <failure message=\"{message}\">{lines}</failure>\n    </testcase>\n"));
            }
        }
        text.push_str("  </testsuite>\n</testsuites>\n");
        text
    }

    fn github(&self) -> String {
        let mut text = String::new();
        for session in &self.sessions {
            if let Some(error) = &session.error {
                let file = data(&session.path).replace(':', "%3A").replace(',', "%2C");
                text.push_str(&format!("::error file={file},title=aperture check::{}\n", data(error)));
            }
            for finding in &session.findings {
                let line = finding.line.map(|line| format!(",line={line}")).unwrap_or_default();
                let file = data(&session.path).replace(':', "%3A").replace(',', "%2C");
                let message = data(&place(finding));
                text.push_str(&format!("::error file={file}{line},title=aperture {}::{message}\n", finding.rule));
            }
        }
        text
    }
}

/// Returns the name of what was found: `damage`, not the rule `no-damage`, which reads as if there were none.
fn kind(finding: &Violation) -> &'static str {
    finding.rule.strip_prefix("no-").unwrap_or(finding.rule)
}

fn place(finding: &Violation) -> String {
    let effect = if finding.effect.is_empty() { String::new() } else { format!("; {}", finding.effect) };
    let text = format!("{}{effect}", finding.message);
    match (finding.line, finding.block) {
        (Some(line), Some(block)) => format!("line {line}, block {block}: {text}"),
        (Some(line), None) => format!("line {line}: {text}"),
        _ => text,
    }
}

/// Returns true if the first characters of an id, without a word in front of it, select a session with another id too.
fn is_named(other: &str, id: &str) -> bool {
    let start = |id: &str| split_id(id).1.chars().take(8).collect::<String>();
    start(other) == start(id)
}

/// Returns the commands that fix the findings, without duplicates. If there are many, returns the one command that fixes all.
fn hints(session: &CheckedSession) -> Vec<String> {
    const MOST: usize = 3;
    let mut hints: Vec<String> = Vec::new();
    for hint in session.findings.iter().map(|finding| &finding.hint).filter(|hint| !hint.is_empty()) {
        if !hints.contains(hint) {
            hints.push(hint.clone());
        }
    }
    let is_redact = |hint: &&String| hint.starts_with("aperture redact ");
    let whole = hints.iter().find(|hint| hint.starts_with("aperture redact --whole-file")).cloned();
    let first = hints.iter().find(is_redact).filter(|_| hints.iter().filter(is_redact).count() > MOST);
    let session = first.and_then(|hint| hint.split_once(" -s ")).map(|(_, session)| session);
    let whole = whole.or_else(|| session.map(|session| format!("aperture redact --whole-file -s {session}")));
    if let Some(whole) = whole {
        hints.retain(|hint| !is_redact(&hint));
        hints.push(whole);
    }
    hints
}

fn xml(text: &str) -> String {
    printable(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Escapes a text for a GitHub Actions command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

impl Report for CheckReport {
    const SCHEMA: &str = "aperture.check/1";

    fn form(&self) -> Form {
        if self.format == CheckFormat::Json { Form::Json } else { Form::Text }
    }

    fn text(&self, style: &Style) -> String {
        match self.format {
            CheckFormat::Text => self.people(style),
            CheckFormat::Json => self.json(),
            CheckFormat::Junit => self.junit(),
            CheckFormat::Github => self.github(),
        }
    }
}
