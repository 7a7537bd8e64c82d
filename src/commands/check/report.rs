use crate::engine::Violation;
use crate::model::{As, json_forms, split_id};
use crate::output::bulk::table;
use crate::output::{Form, Paint, Report, Style, clip, plural, printable, short_id, wrap};
use crate::text::shell::quoted_word;
use schemars::JsonSchema;
use serde::Serialize;

/// Maximum columns of a title in the table of sessions.
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
    /// Session id.
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
    /// True for a file beside the session.
    #[serde(skip)]
    pub is_beside: bool,
}

json_forms! {
    /// The sessions of a check, and the sums over them.
    CheckedSessions of sessions: Vec<CheckedSession> {
        /// Number of findings in all sessions.
        findings: usize = findings(sessions),
        /// Number of sessions that cannot be checked.
        failed: usize = failed(sessions),
        /// Sessions.
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

    fn people(&self, style: &Style) -> String {
        let mut text = String::new();
        for session in self.sessions.iter().filter(|session| !session.findings.is_empty() || session.error.is_some()) {
            let name = style.paint(Paint::Name, &printable(&session.path));
            text.push_str(&format!("{name}\n"));
            if let Some(error) = &session.error {
                text.push_str(&format!("  {} {}\n", style.paint(Paint::Bad, "failed     "), printable(error)));
            }
            for finding in &session.findings {
                let lines = wrap(&format!("  {:<11} {}", finding.rule, printable(&place(finding))), MARGIN, style.width);
                for (at, line) in lines.iter().enumerate() {
                    match line.split_at_checked(MARGIN).filter(|_| at == 0) {
                        Some((rule, rest)) => text.push_str(&format!("{}{rest}\n", style.paint(Paint::Bad, rule))),
                        None => text.push_str(&format!("{line}\n")),
                    }
                }
            }
            let id = short_id(&session.session);
            let is_shared =
                self.sessions.iter().any(|other| other.path != session.path && is_named(&other.session, &session.session));
            let name = match &*session.named {
                "" if is_shared => session.session.clone(),
                "" => id,
                named => quoted_word(named),
            };
            for hint in hints(session, &name) {
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
        let rules: Vec<&str> =
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
        let headings = ["SESSION", "TITLE"].into_iter().chain(rules.iter().copied());
        table(style, headings, rows, &|column| column > 1) + "\n"
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

/// Formats a finding with its location.
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
fn hints(session: &CheckedSession, name: &str) -> Vec<String> {
    const MOST: usize = 3;
    let mut hints: Vec<&str> = Vec::new();
    for hint in session.findings.iter().map(|finding| finding.hint.as_str()).filter(|hint| !hint.is_empty()) {
        if !hints.contains(&hint) {
            hints.push(hint);
        }
    }
    let redact = |hint: &&str| hint.starts_with("aperture redact");
    if hints.iter().filter(|hint| redact(hint)).count() > MOST || hints.contains(&"aperture redact --whole-file") {
        hints.retain(|hint| !redact(hint));
        hints.push("aperture redact --whole-file");
    }
    hints.into_iter().map(|hint| format!("{hint} -s {name}")).collect()
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
