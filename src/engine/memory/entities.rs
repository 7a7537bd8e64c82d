//! Entities of a project: the repositories and people that calls and prompts name.

use super::induce::topic_key;
use crate::engine::find_secrets;
use crate::model::{Candidate, MemoryFile, MemoryKind, Sighting, TraceContent, TraceEvent};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Maximum number of mentions that are kept of one session, and bytes of a call that are searched.
const MENTIONS: usize = 400;
const SEARCHED_BYTES: usize = 8 << 10;
/// Maximum length of a name, in bytes.
const NAME_BYTES: usize = 120;
/// Sessions that must name a repository or a person.
const LEAST_SESSIONS: usize = 2;
/// Newest sightings of an entity, and maximum number of entities of one kind.
const SIGHTINGS: usize = 4;
const ENTITIES: usize = 20;
/// Hosts of code, whose first two path parts are a repository.
const CODE_HOSTS: &[&str] = &["bitbucket.org", "codeberg.org", "github.com", "gitlab.com"];
/// Options whose value is a repository, and options whose value is a person.
const REPOSITORY_OPTIONS: &[&str] = &["--repo", "-R"];
const PERSON_OPTIONS: &[&str] = &["--add-reviewer", "--assignee", "--reviewer"];

/// Collects the entities of a session from its events.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Entities {
    mentions: Vec<Mention>,
}

/// An entity that an event names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Mention {
    kind: EntityKind,
    name: Box<str>,
    block: u32,
    row: Box<str>,
    time: i64,
}

/// The kind of an entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum EntityKind {
    Repository,
    Person,
}

impl Entities {
    /// Adds the entities that a call or a prompt names.
    pub fn push(&mut self, event: &TraceEvent) {
        let text = match &event.content {
            TraceContent::Call(call) => call.command.as_deref().unwrap_or(&call.target),
            TraceContent::Prompt { text, .. } => text,
            _ => return,
        };
        if !text.contains(['/', '@']) && !text.contains("-R ") {
            return;
        }
        let is_prompt = matches!(event.content, TraceContent::Prompt { .. });
        named(&text[..text.floor_char_boundary(SEARCHED_BYTES)], is_prompt, &mut |kind, name| self.add(event, kind, name));
    }

    fn add(&mut self, event: &TraceEvent, kind: EntityKind, name: &str) {
        let is_known = self.mentions.iter().any(|mention| mention.kind == kind && *mention.name == *name);
        if is_known || self.mentions.len() >= MENTIONS || name.len() > NAME_BYTES || !find_secrets(name.as_bytes()).is_empty() {
            return;
        }
        let (block, time) = (event.block, event.time);
        self.mentions.push(Mention { kind, name: name.into(), block, row: event.row.as_str().into(), time });
    }
}

/// Passes the entities in a text to `found`.
fn named(text: &str, is_prompt: bool, found: &mut dyn FnMut(EntityKind, &str)) {
    let is_separator = |c: char| c.is_whitespace() || "\"'`<>()[]{},;|".contains(c);
    let mut option = "";
    for word in text.split(is_separator).filter(|word| !word.is_empty()) {
        if let Some((scheme, rest)) = word.split_once("://") {
            if matches!(scheme, "http" | "https" | "ssh" | "git") {
                address(rest, found);
            }
        } else if let Some(path) = word.strip_prefix("git@").and_then(|rest| rest.split_once(':')) {
            repository(path.1, found);
        } else if REPOSITORY_OPTIONS.contains(&option) {
            repository(word, found);
        } else if PERSON_OPTIONS.contains(&option) || is_prompt && word.starts_with('@') {
            let login = word.trim_start_matches('@').trim_end_matches(['.', ':', '?', '!']);
            let is_login = login.len() > 2 && login.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
            if is_login {
                found(EntityKind::Person, login);
            }
        }
        option = word;
    }
}

/// Passes the repository of an address without its scheme. Credentials in it, queries and fragments are left out.
fn address(rest: &str, found: &mut dyn FnMut(EntityKind, &str)) {
    let rest = rest.split(['?', '#']).next().unwrap_or(rest).trim_end_matches(['.', ':', '/', '\\']);
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let host = authority.rsplit('@').next().unwrap_or(authority).split(':').next().unwrap_or_default();
    let is_host = host.contains('.') && host.chars().all(|c| c.is_ascii_alphanumeric() || c == '.' || c == '-');
    if is_host && CODE_HOSTS.contains(&host) && !path.contains(['$', '*']) {
        repository(path, found);
    }
}

/// Passes the repository that a path names: its first two parts.
fn repository(path: &str, found: &mut dyn FnMut(EntityKind, &str)) {
    let mut parts = path.split('/');
    let (Some(owner), Some(name)) = (parts.next(), parts.next()) else { return };
    let name = name.strip_suffix(".git").unwrap_or(name).trim_end_matches(['.', ':']);
    let is_plain = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    if is_plain(owner) && is_plain(name) {
        found(EntityKind::Repository, &format!("{owner}/{name}"));
    }
}

/// Returns the entities that several sessions name, the most named first. `sessions` are ids with their entities.
pub fn candidates<'a>(sessions: impl IntoIterator<Item = (&'a str, &'a Entities)>) -> Vec<Candidate> {
    let mut all: BTreeMap<(EntityKind, &str), Vec<Sighting>> = BTreeMap::new();
    for (session, entities) in sessions {
        for mention in &entities.mentions {
            let sightings = all.entry((mention.kind, &mention.name)).or_default();
            // A row that a fork repeats counts once.
            if !sightings.iter().any(|known| *known.row == *mention.row && known.time == mention.time) {
                let (block, row, time) = (mention.block, mention.row.to_string(), mention.time);
                sightings.push(Sighting { session: session.to_owned(), block, row, time });
            }
        }
    }
    let mut all: Vec<_> = all.into_iter().filter(|(_, sightings)| sightings.len() >= LEAST_SESSIONS).collect();
    all.sort_by_key(|((kind, _), sightings)| (*kind, std::cmp::Reverse(sightings.len())));
    let mut counts: BTreeMap<EntityKind, usize> = BTreeMap::new();
    all.retain(|((kind, _), _)| {
        let count = counts.entry(*kind).or_default();
        *count += 1;
        *count <= ENTITIES
    });
    all.into_iter().map(|((kind, name), sightings)| candidate(kind, name, sightings)).collect()
}

fn candidate(kind: EntityKind, name: &str, mut sightings: Vec<Sighting>) -> Candidate {
    let (topic, text, memory, file) = match kind {
        EntityKind::Repository => ("repository", format!("Repository `{name}`"), MemoryKind::Entity, MemoryFile::Entities),
        EntityKind::Person => ("person", format!("Person `@{name}`"), MemoryKind::Entity, MemoryFile::Entities),
    };
    sightings.sort_by_key(|sighting| sighting.time);
    sightings.drain(..sightings.len().saturating_sub(SIGHTINGS));
    Candidate { key: topic_key(topic, name), file, kind: memory, text, is_strong: false, sightings }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let mut names = Vec::new();
        named(text, true, &mut |kind, name| names.push(format!("{kind:?} {name}")));
        assert_eq!(names, expected, "{text}");
    }

    #[test]
    fn lists_are_sorted() {
        assert!(CODE_HOSTS.is_sorted());
    }

    #[test]
    fn entities_are_named_in_calls_and_prompts() {
        check("git clone https://github.com/acme/shop.git", &["Repository acme/shop"]);
        check("git clone git@github.com:acme/shop.git", &["Repository acme/shop"]);
        check("gh pr view --repo acme/shop 12", &["Repository acme/shop"]);
        check("see https://docs.acme.dev/api/cart?page=2.", &[]);
        check("curl https://ada:pass@api.acme.dev:8443/", &[]);
        check("curl http://localhost:8080/x http://127.0.0.1/y https://example.com/z", &[]);
        check("ask @ada-l, and read @src/main.rs", &["Person ada-l"]);
        check("http:// https://$HOST/x ://", &[]);
    }

    #[test]
    fn one_session_is_not_enough() {
        let mut entities = Entities::default();
        let event = |time| TraceEvent {
            block: 1,
            row: format!("row {time}"),
            time,
            turn: 0,
            step: None,
            content: TraceContent::Prompt {
                text: "in https://github.com/acme/shop".into(),
                source: crate::model::PromptSource::Typed,
            },
        };
        entities.push(&event(1));
        let mut later = Entities::default();
        later.push(&event(2));
        assert_eq!(candidates([("one", &entities)]), []);
        assert_eq!(candidates([("one", &entities), ("fork", &entities)]), [], "a copied row");
        let found = candidates([("one", &entities), ("two", &later)]);
        assert_eq!(found.len(), 1);
        assert_eq!((&*found[0].text, found[0].sightings.len()), ("Repository `acme/shop`", 2));
    }
}
