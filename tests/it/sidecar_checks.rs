//! The checks of answers of a local model, on summaries made by rules and by hand: true ones are accepted, and ones with a planted
//! fault are refused. `APERTURE_TEXTS` names a directory with other sessions.

use crate::sandbox::files_ending;
use aperture::engine::sidecar::{AnswerFault, SourceText};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Summaries written by hand, each after its source.
const WRITTEN: &[(&str, &str)] = &[
    (
        "Please make the parser keep comments.\nI looked at src/parse.rs. The tokenizer drops every comment before the parser sees it, so \
         `parse_body` can't keep them. I changed the tokenizer to emit a Comment token and adapted parse_body. All 42 tests pass now.",
        "The tokenizer in src/parse.rs dropped every comment; it now emits a Comment token. 42 tests pass.",
    ),
    (
        "Why is the build slow?\nThe build takes 93 seconds, and 61 of these are spent in the linker. Incremental builds are not affected. \
         I did not change the linker settings, because lld is not installed on the CI machines.",
        "The linker takes 61 of 93 seconds of the build. Linker settings were not changed: lld is not installed on CI machines.",
    ),
    (
        "Der Test läuft nicht auf Windows.\nIch habe den Pfad in config.rs korrigiert. Der Test läuft jetzt auf Linux, auf Windows läuft er \
         nicht, weil der Pfad keine Laufwerksbuchstaben kennt. Es gibt keine weiteren Fehler.",
        "Der Pfad in config.rs ist korrigiert. Auf Windows läuft der Test nicht, es gibt keine weiteren Fehler.",
    ),
    (
        "Add a flag --dry-run to the deploy script.\nAdded `--dry-run` to scripts/deploy.sh. With the flag, the script prints the commands \
         without running them. The default is unchanged. I haven't tested it against production.",
        "Added --dry-run to scripts/deploy.sh: it prints commands without running them. Not tested against production.",
    ),
    (
        "The login fails after the update to 2.4.1.\nThe cause is the session cookie: since 2.4.0 it has SameSite=Strict, so the redirect \
         from the identity provider loses it. Setting SameSite=Lax in server/session.ts fixes the login. The e2e tests pass (18 of 18).",
        "Since 2.4.0 the session cookie has SameSite=Strict and the redirect loses it; SameSite=Lax in server/session.ts fixes the login.",
    ),
    (
        "Can we remove the lock?\nNo. The lock in store.rs is needed, because two processes write to the same file. Without it, 3 of 200 runs \
         lost an update in my test. We could replace it with an atomic rename, which never blocks.",
        "The lock in store.rs is needed: without it, 3 of 200 runs lost an update. An atomic rename never blocks.",
    ),
    (
        "Refactor the importer.\nI split importer.py into reader.py and writer.py. The public API has not changed. Two helper functions were \
         unused and are gone: `_guess_encoding` and `_old_header`. mypy reports no errors.",
        "importer.py is split into reader.py and writer.py; the public API has not changed, and mypy reports no errors.",
    ),
    (
        "Corrige l'erreur dans le calcul de la TVA.\nLe taux était lu comme un entier dans tax.py. J'ai changé la lecture pour un nombre décimal. \
         Les 12 tests passent, mais le module de facturation n'est pas couvert par des tests.",
        "Le taux était lu comme un entier dans tax.py. Le module de facturation n'est pas couvert par des tests.",
    ),
    (
        "What does the worker do when the queue is empty?\nWhen the queue is empty, the worker sleeps for 250 ms and polls again. It does not \
         hold the lock while it sleeps. After 20 empty polls it closes the connection to Redis.",
        "With an empty queue the worker sleeps 250 ms and polls again, without holding the lock. After 20 empty polls it closes the connection.",
    ),
    (
        "Upgrade tokio.\nUpgraded tokio from 1.35 to 1.38 in Cargo.toml. One call of `block_in_place` in src/net/pool.rs is no longer allowed in \
         the current-thread runtime, so I moved the work to spawn_blocking. cargo test: 311 passed, 0 failed, 4 ignored.",
        "tokio upgraded from 1.35 to 1.38. block_in_place in src/net/pool.rs was replaced: the work moved to spawn_blocking. 311 passed, 4 ignored.",
    ),
];

/// A source of pseudo-random numbers, so that each run has the same cases.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit.max(1)
    }
}

/// Adds the strings of prose in a JSON value.
fn collect(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) if (400..6_000).contains(&text.len()) && sentences(text).len() >= 4 => found.push(text.clone()),
        Value::Array(values) => values.iter().for_each(|value| collect(value, found)),
        Value::Object(members) => members.values().for_each(|value| collect(value, found)),
        _ => {}
    }
}

/// Returns the sentences of the prose in a text.
fn sentences(text: &str) -> Vec<String> {
    let lines = text.lines().map(|line| line.trim_start_matches(['-', '*', '#', ' ', '>']).replace("**", ""));
    let mut found = Vec::new();
    for line in lines {
        let mut rest = line.as_str();
        while !rest.is_empty() {
            let ends = rest.match_indices([' ']).map(|(at, _)| at).find(|at| {
                let starts = rest[at + 1..].starts_with(char::is_uppercase);
                starts && rest[..*at].ends_with(['.', '!', '?'])
            });
            let (sentence, after) = rest.split_at(ends.unwrap_or(rest.len()));
            rest = after.trim_start();
            let words = sentence.split_whitespace().count();
            let letters = sentence.chars().filter(|c| c.is_alphabetic() || c.is_whitespace()).count();
            let is_prose = (6..40).contains(&words) && letters * 100 > sentence.chars().count() * 82;
            let is_whole =
                sentence.starts_with(char::is_uppercase) && sentence.ends_with('.') && sentence.matches('`').count() % 2 == 0;
            if is_prose && is_whole && !sentence.contains(['|', '{', '\\', '\t', ';']) {
                found.push(sentence.to_owned());
            }
        }
    }
    found
}

fn texts() -> Vec<String> {
    let directory = std::env::var_os("APERTURE_TEXTS").map(PathBuf::from);
    let directory = directory.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures"));
    let mut found = Vec::new();
    for path in files_ending(&directory, "jsonl") {
        let lines = std::fs::read_to_string(path).unwrap_or_default();
        lines.lines().filter_map(|line| serde_json::from_str(line).ok()).for_each(|value: Value| collect(&value, &mut found));
    }
    // The documents of this repository are prose about code as well.
    for document in [
        "README.md", "SECURITY.md", "docs/guide/live.md", "docs/guide/look.md", "docs/guide/make-room.md", "docs/concepts.md",
        "CONTRIBUTING.md",
    ] {
        let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(document)).unwrap_or_default();
        text.split("\n#").for_each(|section| collect(&Value::String(section.to_owned()), &mut found));
    }
    let mut seen = std::collections::BTreeSet::new();
    found.retain(|text| seen.insert(text.clone()));
    found
}

/// Returns a true summary: sentences of the text, cut, in another order, or joined.
fn rephrased(text: &str, numbers: &mut Numbers) -> String {
    let sentences = sentences(text);
    let mut pick = || sentences[numbers.below(sentences.len())].clone();
    let (first, second) = (pick(), pick());
    let without_stop = |sentence: &str| sentence.trim_end_matches('.').to_owned();
    match numbers.below(6) {
        0 => first,
        1 => format!("{}; {second}", without_stop(&first)),
        2 => format!("{second} {first}"),
        3 => match first.rsplit_once(", ") {
            Some((start, _)) if start.split_whitespace().count() >= 5 => format!("{start}."),
            _ => first,
        },
        4 => match first.split_once(", ") {
            Some((_, rest)) if rest.split_whitespace().count() >= 5 => rest.to_owned(),
            _ => first,
        },
        _ => {
            let fewer = [" also ", " now ", " just ", " already ", " still "];
            fewer
                .iter()
                .fold(first.replace("don't", "do not").replace("doesn't", "does not"), |text, word| text.replace(word, " "))
        }
    }
}

/// Returns a summary with one fault of a kind; `None` if it has nothing to change.
fn planted(kind: &str, summary: &str, text: &str, numbers: &mut Numbers) -> Option<String> {
    let changed = match kind {
        "digit" => {
            let places: Vec<usize> = summary.match_indices(|c: char| c.is_ascii_digit()).map(|(at, _)| at).collect();
            let at = *places.get(numbers.below(places.len()))?;
            let digit = summary.as_bytes()[at] - b'0';
            let other = (digit + 1 + numbers.below(8) as u8) % 10;
            format!("{}{other}{}", &summary[..at], &summary[at + 1..])
        }
        "path" => {
            let is_path = |word: &&str| {
                let word = word.trim_matches(['`', ',', '.', ';', ':', '(', ')', '"']);
                let is_file = word.rsplit_once('.').is_some_and(|(stem, end)| {
                    stem.len() > 1 && (1..5).contains(&end.len()) && end.chars().all(|c| c.is_ascii_lowercase())
                });
                word.contains('/') && word.len() > 3 && !word.contains("://") || is_file
            };
            let trim = |word: &str| word.trim_matches(['`', ',', '.', ';', ':', '(', ')', '"']).to_owned();
            let own: Vec<String> = summary.split_whitespace().filter(is_path).map(trim).collect();
            let path = own.get(numbers.below(own.len()))?;
            let others: Vec<String> =
                text.split_whitespace().filter(is_path).map(trim).filter(|other| !summary.contains(other.as_str())).collect();
            // Half of the wrong paths are other paths of the text.
            let other = match numbers.below(2) {
                0 if !others.is_empty() => others[numbers.below(others.len())].clone(),
                _ => {
                    let at = path.char_indices().rev().filter(|(_, c)| c.is_ascii_alphabetic()).map(|(at, _)| at).nth(3)?;
                    format!("{}x{}", &path[..at], &path[at + 1..])
                }
            };
            summary.replacen(path.as_str(), &other, 1)
        }
        _ => {
            let removed = [" not ", " never ", "n't ", " no ", " nicht ", " without "];
            if let Some(word) = removed.iter().find(|word| summary.contains(**word)) {
                let with = if *word == " without " { " with " } else { " " };
                summary.replacen(word, with, 1)
            } else {
                let verbs =
                    [" is ", " are ", " was ", " were ", " can ", " will ", " has ", " should ", " does ", " ist ", " wird "];
                let verb = verbs.iter().find(|verb| summary.contains(**verb))?;
                let not = if [" ist ", " wird "].contains(verb) { "nicht" } else { "not" };
                summary.replacen(verb, &format!("{verb}{not} "), 1)
            }
        }
    };
    (changed != summary).then_some(changed)
}

#[test]
fn true_summaries_are_accepted_and_planted_faults_are_refused() {
    let (texts, mut numbers) = (texts(), Numbers(7));
    let mut sources: Vec<(String, String)> =
        WRITTEN.iter().map(|(text, summary)| ((*text).to_owned(), (*summary).to_owned())).collect();
    let is_fit = |text: &&String| sentences(text).len() >= 4;
    for text in texts.iter().filter(is_fit).cycle().take(texts.len() * 20) {
        sources.push((text.clone(), rephrased(text, &mut numbers)));
    }
    let verbose = std::env::var_os("APERTURE_TEXTS").is_some();
    let (mut accepted, mut faults) = (0, BTreeMap::<&str, usize>::new());
    for (source, summary) in &sources {
        match SourceText::new(source).check(summary) {
            Ok(()) => accepted += 1,
            Err(fault) => {
                *faults.entry(fault.name()).or_default() += 1;
                if verbose {
                    eprintln!("TRUE {}: {summary}", fault.name());
                }
            }
        }
    }
    let refused_true = sources.len() - accepted;
    let mut planted_faults: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (source, summary) in &sources {
        for kind in ["digit", "path", "negation"] {
            // A true summary that is refused says nothing about the fault in it.
            let Some(wrong) =
                planted(kind, summary, source, &mut numbers).filter(|_| SourceText::new(source).check(summary).is_ok())
            else {
                continue;
            };
            let (all, found) = planted_faults.entry(kind).or_default();
            *all += 1;
            match SourceText::new(source).check(&wrong) {
                Err(_) => *found += 1,
                Ok(()) if verbose => eprintln!("PLANTED {kind}: {wrong}\n   true: {summary}"),
                Ok(()) => {}
            }
        }
    }
    let (all, found) = planted_faults.values().fold((0, 0), |(all, found), (more, also)| (all + more, found + also));
    eprintln!(
        "true: {} of {} refused {faults:?}; planted: {found} of {all} refused {planted_faults:?}",
        refused_true,
        sources.len()
    );
    assert!(refused_true * 100 <= sources.len() * 10, "{refused_true} of {} true summaries refused: {faults:?}", sources.len());
    assert!(found * 100 >= all * 98, "{found} of {all} planted faults refused: {planted_faults:?}");
}

#[test]
fn a_fault_has_its_name() {
    let source = "The parser in src/parse.rs keeps comments. It does not keep blank lines. 42 tests passed, 3 failed.";
    let check = |answer: &str| SourceText::new(source).check(answer);
    for (answer, expected) in [
        ("The parser in src/parse.rs keeps comments.", Ok(())),
        ("The parser keeps comments; 42 tests passed.", Ok(())),
        ("The parser in parse.rs does not keep blank lines.", Ok(())),
        ("The parser in src/lexer.rs keeps comments.", Err(AnswerFault::Path)),
        ("43 tests passed.", Err(AnswerFault::Number)),
        ("42 tests failed.", Err(AnswerFault::Number)),
        ("The parser does not keep comments.", Err(AnswerFault::Negation)),
        ("The parser keeps blank lines.", Err(AnswerFault::Negation)),
        ("The parser keeps \"all comments\".", Err(AnswerFault::Quote)),
        ("The parser calls keep_comments.", Err(AnswerFault::Name)),
        ("Der Parser behält die Kommentare und ist nicht für die Zeilen.", Err(AnswerFault::Language)),
        ("Комментарии", Err(AnswerFault::Language)),
        ("", Err(AnswerFault::Empty)),
        ("Rewrote the database layer completely.", Err(AnswerFault::Words)),
    ] {
        assert_eq!(check(answer), expected, "{answer}");
    }
}
