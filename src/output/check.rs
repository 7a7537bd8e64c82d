use super::sessions::short_id;
use super::{Form, Paint, Report, Style, plural, printable};
use crate::engine::Violation;

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

/// The findings of one session.
#[derive(Clone, Debug)]
pub struct CheckedSession {
    /// The session's id.
    pub session: String,
    /// The file, relative to the directory if it is inside it.
    pub path: String,
    /// The violated rules.
    pub findings: Vec<Violation>,
}

/// The findings of all sessions.
#[derive(Clone, Debug)]
pub struct CheckReport {
    /// The requested rules.
    pub rules: Vec<&'static str>,
    /// The sessions.
    pub sessions: Vec<CheckedSession>,
    /// The output format.
    pub format: CheckFormat,
}

impl CheckReport {
    /// Returns the number of findings.
    pub fn findings(&self) -> usize {
        self.sessions.iter().map(|session| session.findings.len()).sum()
    }

    fn people(&self, style: &Style) -> String {
        let mut text = String::new();
        for session in self.sessions.iter().filter(|session| !session.findings.is_empty()) {
            let name = style.paint(Paint::Name, &printable(&session.path));
            text.push_str(&format!("{name}\n"));
            for finding in &session.findings {
                let rule = style.paint(Paint::Bad, &format!("{:<11}", finding.rule));
                text.push_str(&format!("  {rule} {}\n", place(finding)));
            }
            for hint in hints(session) {
                text.push_str(&style.paint(Paint::Dim, &format!("  {hint}\n")));
            }
        }
        let sessions = plural(self.sessions.len(), "session");
        let found = match self.findings() {
            0 => style.paint(Paint::Good, "nothing found"),
            findings => style.paint(Paint::Bad, &plural(findings, "finding")),
        };
        text.push_str(&format!("{sessions} checked ({}): {found}\n", self.rules.join(", ")));
        text
    }

    fn junit(&self) -> String {
        let cases = self.sessions.len() * self.rules.len();
        let failed = |session: &CheckedSession, rule: &str| session.findings.iter().any(|finding| finding.rule == rule);
        let failures = self.sessions.iter().flat_map(|session| self.rules.iter().map(move |rule| failed(session, rule)));
        let failures = failures.filter(|failed| *failed).count();
        let mut text = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"aperture check\" tests=\"{cases}\" failures=\"{failures}\">\n"
        );
        for session in &self.sessions {
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
    match (finding.line, finding.block) {
        (Some(line), Some(block)) => format!("line {line}, block {block}: {}", finding.message),
        (Some(line), None) => format!("line {line}: {}", finding.message),
        _ => finding.message.clone(),
    }
}

/// Returns the commands that fix the findings, without duplicates. If there are many, returns the one command that fixes all.
fn hints(session: &CheckedSession) -> Vec<String> {
    const MOST: usize = 3;
    let mut hints: Vec<&str> = Vec::new();
    for hint in session.findings.iter().map(|finding| finding.hint.as_str()).filter(|hint| !hint.is_empty()) {
        if !hints.contains(&hint) {
            hints.push(hint);
        }
    }
    let redact = |hint: &&str| hint.starts_with("aperture redact");
    if hints.iter().filter(|hint| redact(hint)).count() > MOST || hints.contains(&"aperture redact --all") {
        hints.retain(|hint| !redact(hint));
        hints.push("aperture redact --all");
    }
    hints.into_iter().map(|hint| format!("{hint} -s {}", short_id(&session.session))).collect()
}

/// Escapes a text for XML.
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
