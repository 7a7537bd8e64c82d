//! Splits text into sentences and rates their salience.

use super::cleaning::{Line, lines, without_tags};
use crate::engine::mask;
use crate::engine::memory::is_left_to_do;
use crate::model::Conventions;
use crate::text::cut::{one_line, without_links};
use crate::text::sentence::fenced_input;

/// Number of bytes that are analysed at the start and at the end of a text.
const LOOK_BYTES: usize = 16 << 10;
/// Maximum length of a sentence, in bytes. Longer text is not treated as a sentence.
const LONGEST_BYTES: usize = 1200;

/// Marks at the end of a sentence.
pub(super) const ENDS: [char; 8] = ['.', '!', '?', '…', ':', '。', '！', '？'];

/// A sentence on one line, without emphasis markers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sentence {
    pub text: String,
    pub item: bool,
    /// True if it only introduces the following text.
    pub leads: bool,
    /// True if it is an item of a list of what the agent could do, or of what is left.
    pub offered: bool,
}

impl Sentence {
    pub fn asks(&self) -> bool {
        self.text.ends_with(['?', '？'])
    }

    /// Returns true if the agent offers something by it.
    pub(super) fn offers(&self) -> bool {
        has_any(&self.text, OFFERS)
    }
}

/// Returns the sentences of a text, in order. Headings, code, tables and client insertions are omitted.
pub fn sentences(text: &str, conventions: &Conventions) -> Vec<Sentence> {
    let text = without_tags(ends(text), conventions);
    let mut found = Vec::new();
    let (mut paragraph, mut is_item, mut is_offer) = (String::new(), false, false);
    let flush = |paragraph: &mut String, item: bool, is_offer: &mut bool, found: &mut Vec<Sentence>| {
        let text = std::mem::take(paragraph);
        let read = |part| sentence(&text[part], item).map(|read| Sentence { offered: item && *is_offer, ..read });
        found.extend(crate::text::sentence::sentences(&text).filter_map(read));
        if !item && !text.is_empty() {
            *is_offer = found.last().is_some_and(|last| (last.leads || last.asks()) && offers(&last.text));
        }
    };
    for line in lines(&text, conventions) {
        let continues = matches!((line, is_item), (Line::Indented(_), _) | (Line::Plain(_), false));
        if !continues {
            flush(&mut paragraph, is_item, &mut is_offer, &mut found);
            is_item = matches!(line, Line::Item(_));
        }
        if let Line::Heading(heading) = line {
            is_offer = offers(heading);
        }
        if let Line::Plain(line) | Line::Indented(line) | Line::Item(line) = line {
            // A terminal wraps `git-sync` behind its hyphen.
            let is_within_word = paragraph.ends_with('-') && !paragraph.ends_with(" -");
            if !paragraph.is_empty() && !is_within_word {
                paragraph.push(' ');
            }
            paragraph.push_str(line);
        }
    }
    flush(&mut paragraph, is_item, &mut is_offer, &mut found);
    // Words without a mark at their end are the heading of the list behind them.
    for place in 1..found.len() {
        let is_heading = found[place].item && !found[place - 1].item && !found[place - 1].text.ends_with(ENDS);
        found[place - 1].leads |= is_heading;
    }
    found
}

/// Returns the sentences of a prompt. The heading after a first sentence that only introduces it is one of them:
/// `Implement the following plan:` and `Cache the totals`.
pub(super) fn prompt_sentences(text: &str, conventions: &Conventions) -> Vec<Sentence> {
    let input =
        conventions.input_headings.iter().find_map(|heading| fenced_input(text, heading)).filter(|input| !input.is_empty());
    let text = input.unwrap_or(text);
    let mut found = sentences(text, conventions);
    if found.is_empty() {
        // The name of a ticket is all that a template may need.
        found.extend(input.and_then(|input| sentence(input.lines().next()?, false)));
    }
    if found.first().is_some_and(|first| first.leads) {
        let text = without_tags(ends(text), conventions);
        let is_before = |line: &Line<'_>| matches!(line, Line::Plain(_) | Line::Indented(_) | Line::Break);
        let next = lines(&text, conventions).into_iter().find(|line| !is_before(line));
        if let Some(Line::Heading(heading)) = next {
            found.splice(1..1, sentence(heading.strip_prefix("Plan: ").unwrap_or(heading), false));
        }
    }
    found
}

/// Returns a short text unchanged, and the start of a long one: text pasted after it is usually not the request.
fn ends(text: &str) -> &str {
    &text[..text.floor_char_boundary(LOOK_BYTES)]
}

fn sentence(text: &str, item: bool) -> Option<Sentence> {
    let plain = one_line(&without_links(&text.replace("**", "")));
    // A symbol such as ✅ or 🔧 adds nothing to the words.
    let plain = plain.trim_start_matches(|c: char| !c.is_ascii() && !c.is_alphanumeric()).trim();
    if plain.len() > LONGEST_BYTES || !plain.contains(char::is_alphabetic) {
        return None;
    }
    let leads = plain.ends_with([':', '：']);
    Some(Sentence { text: mask(plain).into_owned(), item, leads, offered: false })
}

/// Words to the user by which the agent offers something.
const OFFERS: &[&str] = &[
    "want me to", "would you", "could you", "do you want", "if you'd like", "if you like", "if you want", "if you prefer",
    "should i", "shall i",
];

/// Words of headings above what could be done.
const CHOICES: &[&str] = &["i could", "i can do", "you could", "options", "proposed"];

/// Returns true if a heading is above what the agent could do, or what is left.
fn offers(heading: &str) -> bool {
    is_left_to_do(heading) || has_any(heading, OFFERS) || has_any(heading, CHOICES)
}

fn has_any(text: &str, phrases: &[&str]) -> bool {
    let lower = text.to_lowercase().replace('\u{2019}', "'");
    phrases.iter().any(|phrase| lower.contains(phrase))
}

/// Prefixes of sentences that only announce the next action, or acknowledge.
const CHATTER: &[&str] = &[
    "let me", "now let", "now i", "now to", "let's", "next,", "first,", "i need to", "i'm", "i can see", "i see", "looking",
    "good", "great", "perfect", "excellent", "sure", "ok", "okay", "alright", "you're", "you are", "here's", "here is",
    "here are", "hello", "hi!", "thanks", "done!", "done.", "yes.", "no.", "wait", "hmm", "actually", "understood", "got it",
    "absolutely", "certainly", "of course", "nice", "awesome", "fixed!", "sounds good", "exactly",
];

/// Prefixes of sentences that announce an action: chatter, unless the sentence gives a reason.
const ACTION_STARTS: &[&str] = &["i'll", "i will", "i'm going to", "we'll"];

/// Words after "now" that begin an announcement.
const NEXT_WORDS: &[&str] = &[
    "the", "for", "we", "add", "update", "run", "fix", "create", "write", "check", "verify", "read", "remove", "replace",
    "commit",
];

/// Words of a choice or its reason.
const CHOSEN: &[&str] = &[
    "instead of", "rather than", "because", "root cause", "decided", "decision", "chose", "so that", "the reason", "trade-off",
    "we should", "recommend",
];

/// Words that indicate a finding.
const FINDINGS: &[&str] = &[
    "the problem", "the issue", "turned out", "turns out", "the bug", "caused by", "which means", "the fix", "needs to", "must ",
    "should not", "breaking", "fails because", "the cause",
];

/// Returns the salience of an assistant sentence: 0 for chatter.
pub(super) fn salience(sentence: &Sentence) -> u32 {
    let lower = sentence.text.to_lowercase().replace('’', "'");
    let words = sentence.text.split_whitespace().count();
    let findings = CHOSEN.iter().chain(FINDINGS).filter(|part| lower.contains(**part)).count() as u32;
    let chatter = announces(&lower, findings > 0);
    // Text that starts with a lowercase letter is the remainder of a sentence.
    let torn = sentence.text.starts_with(|c: char| c.is_ascii_lowercase());
    let wide = !sentence.text.is_ascii() && words < 4 && sentence.text.chars().count() >= 10;
    if sentence.leads || sentence.offered || chatter || torn || words < 4 && !wide {
        return 0;
    }
    1 + 2 * findings.min(2) + u32::from(sentence.text.contains('`')) + u32::from((6..=35).contains(&words))
}

/// Returns true if a sentence in lowercase only announces an action or acknowledges.
fn announces(lower: &str, finds: bool) -> bool {
    let intends = ACTION_STARTS.iter().any(|start| begins(lower, start));
    // `Now adding the test`, `Now the second file`, `Now update it`.
    let next = lower.strip_prefix("now ").and_then(|rest| rest.split(' ').next());
    let is_next = next.is_some_and(|word| NEXT_WORDS.contains(&word) || word.ends_with("ing"));
    if intends || is_next { !finds } else { CHATTER.iter().any(|start| begins(lower, start)) }
}

/// Returns true if a line of the agent only announces its next action or acknowledges, without a finding.
pub fn is_chatter(line: &str) -> bool {
    let lower = line.trim().to_lowercase().replace('\u{2019}', "'");
    let finds = CHOSEN.iter().chain(FINDINGS).any(|part| lower.contains(part)) || lower.contains(['|', '#']);
    let is_announced = |sentence: &str| announces(sentence, finds) || sentence.split_whitespace().count() < 2;
    let mut sentences = crate::text::sentence::sentences(&lower).map(|part| lower[part].trim());
    !finds && lower.starts_with(char::is_alphabetic) && sentences.all(is_announced)
}

/// Returns true if a text starts with the given whole words.
fn begins(text: &str, start: &str) -> bool {
    text.strip_prefix(start).is_some_and(|rest| start.ends_with(['!', '.']) || !rest.starts_with(char::is_alphanumeric))
}

/// Verbs of looking, without `e` or `ing`: a sentence that announces one states nothing yet, whatever reason it gives.
const LOOKING: &[&str] = &["check", "look", "verify", "inspect", "pull", "trac", "confirm", "investigat", "search", "read"];

/// Words that introduce a reason.
const REASONS: &[&str] = &["instead of", "rather than", "because", "so that"];

/// Returns true if a sentence states a reason or a decision.
pub(super) fn decides(sentence: &Sentence) -> bool {
    salience(sentence) >= 3 && !sentence.asks() && {
        let lower = sentence.text.to_lowercase().replace('’', "'");
        let actions = ["i'm ", "i'll ", "i am ", "i will "].iter().filter_map(|start| Some(lower.split_once(start)?.1));
        let looks = actions.into_iter().any(|action| {
            let action = action.strip_prefix("going to ").unwrap_or(action);
            let verb = action.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
            let verb = verb.strip_suffix("ing").or(verb.strip_suffix('e')).unwrap_or(verb);
            LOOKING.contains(&verb) || begins(action, "see whether") || begins(action, "see if")
        });
        // An announcement decides only if it gives a reason; a condition does not; that there is a cause does not name it.
        let is_bare = announces(&lower, false) && !REASONS.iter().any(|part| lower.contains(part));
        let is_other = lower.starts_with("now ") || lower.starts_with("if ") || lower.contains(" is clear");
        let fixes = ["the fix:", "the fix is", "the fix was", "the fix should"];
        !looks && !is_bare && !is_other && CHOSEN.iter().chain(&fixes).any(|part| lower.contains(part))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let found: Vec<String> = sentences(text, Default::default()).into_iter().map(|sentence| sentence.text).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn sentences_end_at_their_marks() {
        check("It is fixed. Now e.g. this one\ngoes on. Why?", &["It is fixed.", "Now e.g. this one goes on.", "Why?"]);
        check("See [a.rs](src/a.rs:3) for v1.2 of it", &["See a.rs for v1.2 of it"]);
        check("修好了。还有吗？", &["修好了。", "还有吗？"]);
        // An indented line continues the item before it.
        check(
            "Look:\n\n• 1. The till printed nothing, so the process of git-\n     sync ended with status 1. It is a change.\n  2. And more\nDone here.",
            &[
                "Look:",
                "The till printed nothing, so the process of git-sync ended with status 1.",
                "It is a change.",
                "And more",
                "Done here.",
            ],
        );
        // Marks of emphasis and pictures go.
        check(
            "✅ **All** tests pass\n- one thing\n- password=hunter2hunter2 is it",
            &["All tests pass", "one thing", "password=[secret:password] is it"],
        );
        check("", &[]);
    }

    #[test]
    fn the_heading_of_a_list_says_nothing_alone() {
        let leads = |text: &str| sentences(text, Default::default())[0].leads;
        assert!(leads("Not changed (and why)\n\n- The till rounds the tax once.") && leads("Open points\n1. The tax"));
        assert!(!leads("The till is done.\n- The tax") && !leads("The till is done\n\nThe tax"));
    }

    #[test]
    fn items_below_an_offer_are_offered() {
        let offered = |heading: &str| {
            let text = format!("The tax is off.\n\n{heading}\n- The `till` could round it because of the tax.\n- Round each.");
            let found = sentences(&text, Default::default());
            let items: Vec<_> = found.iter().filter(|sentence| sentence.item).collect();
            assert!(items.iter().all(|item| !item.offered || salience(item) == 0 && !decides(item)), "{heading}");
            items.iter().all(|item| item.offered)
        };
        for heading in [
            "If you’d like, I can:",
            "Want me to write up:",
            "How would you like to proceed?",
            "**Options:**",
            "## Next steps",
            "Remaining work:",
        ] {
            assert!(offered(heading), "{heading}");
        }
        for heading in ["What I changed:", "## Why does it work?", "I would leave it.", "Would you believe it? It is fixed:"] {
            assert!(!offered(heading), "{heading}");
        }
        let text = "Options:\n- Round each.\n\n## What I did\n- Round once.";
        assert_eq!(sentences(text, Default::default()).iter().map(|said| said.offered).collect::<Vec<_>>(), [false, true, false]);
    }

    #[test]
    fn the_heading_after_an_introduction_is_a_sentence() {
        let conventions = Conventions { input_headings: vec!["## Input"], ..Conventions::default() };
        let check = |text: &str, expected: &[&str]| {
            let found = prompt_sentences(text, &conventions);
            assert_eq!(found.iter().map(|sentence| &*sentence.text).collect::<Vec<_>>(), expected, "{text}");
        };
        check(
            "Do this plan:\n\n# Plan: Cache the totals\n\nThey are slow.",
            &["Do this plan:", "Cache the totals", "They are slow."],
        );
        check("Do all of this:\n- one thing\n\n# A heading\n", &["Do all of this:", "one thing"]);
        check("It is slow.\n\n# A heading\n", &["It is slow."]);
        let template = |input: &str| format!("## Input\n\n```text\n{input}\n```\n\nYou must consider it.\n\n## Outline\n");
        check(&template("Start on FND-1."), &["Start on FND-1."]);
        check(&template("A1"), &["A1"]);
        check(&template(""), &["You must consider it."]);
    }

    #[test]
    fn a_line_that_only_announces_is_chatter() {
        for line in
            ["Let me look at it.", "Now adding the test.", "Perfect! Now the second file.", "Now update it.", "I'll run it."]
        {
            assert!(is_chatter(line), "{line}");
        }
        for line in
            ["The tax is rounded twice.", "Now all tests pass.", "| Good | bad |", "I'll keep it because of the cache.", ""]
        {
            assert!(!is_chatter(line), "{line}");
        }
    }

    #[test]
    fn chatter_tells_nothing_and_findings_most() {
        let score = |text: &str| sentences(text, Default::default()).first().map_or(0, salience);
        assert_eq!([score("Let me look at the file."), score("Good."), score("Here is what I found:")], [0, 0, 0]);
        assert!(score("The root cause is that `net` is rounded twice.") > score("The file has three functions in it."));
        for (text, expected) in [
            ("I chose cents rather than floats for the sum.", true),
            ("I'll keep the lock because two writers share it.", true),
            ("The fix is to round the sum of `net` at the end.", true),
            ("The problem is that the `till` must read a second file.", false),
            ("The issue says that `net` needs to be rounded once.", false),
            ("I’ll check the current paths rather than rely on memory.", false),
            ("One more detail I'm verifying: the call must be in `target/`.", false),
            ("I'll trace the call rather than guess where the rate comes from.", false),
            ("I'll see if the cache helps, because the totals are slow.", false),
            ("I am ready to keep the lock because two writers share it.", true),
            ("The problem is clear from the `log` of it.", false),
            ("I’ll update the branch, run the checks, and push the fix back to it.", false),
            ("Now update the page to record the decision rather than the choice.", false),
            ("If the pages imply it, that is the bug in `a_b` rather than a choice.", false),
        ] {
            assert_eq!(decides(&sentences(text, Default::default())[0]), expected, "{text}");
        }
    }
}
