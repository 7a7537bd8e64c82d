//! Excerpts of the words of a person: clauses that can name a topic, and sentences that state a rule. Of a result, the subjects of commits.

use super::rules::rule;
use crate::engine::reduce::{commit, marker};
use crate::engine::summary::plain_sentences;
use crate::engine::{mask, mask_cut};
use crate::model::{Block, BlockKind, Conventions, Excerpts, Keywords, Role};
use crate::text::clauses::{clauses, content_words, is_prose, is_step};
use crate::text::sentence::heading;
use crate::text::stop_words::is_function_word;

/// Bytes above which a message is assumed to be mostly pasted, and the bytes of its start that are examined.
const LONG_BYTES: usize = 8_000;
const START_BYTES: usize = 1_200;
/// Bytes of the start of an answer that are examined.
const ANSWER_BYTES: usize = 320;
/// Maximum number of clauses of an answer, and those and the rules of another block.
const ANSWER_CLAUSES: usize = 4;
const CLAUSES: usize = 12;
const COMMITS: usize = 4;
const RULES: usize = 4;
const HEADING_WORDS: usize = 8;

/// Adds the excerpts of the words that a person wrote to those of a block; of an answer, clauses of its start; of a result, the subjects
/// of the commits that git reports in it.
pub fn add(block: &mut Block, conventions: &Conventions, content: &str) {
    if block.kind == BlockKind::ToolResult && block.words.is_empty() {
        let subjects = content.lines().filter(|line| line.starts_with('[')).filter_map(commit).map(|(_, subject)| subject);
        let own = subjects.filter(|subject| !subject.starts_with("Merge "));
        let subjects = own.filter_map(|subject| title(&format!("# {}", mask(subject))));
        let named: Vec<String> = subjects.take(COMMITS).collect();
        if !named.is_empty() {
            let excerpts = block.excerpts.take().map(|excerpts| *excerpts).unwrap_or_default();
            block.excerpts = Excerpts { clauses: named.iter().map(String::as_str).collect(), ..excerpts }.some();
        }
        return;
    }
    if block.kind == BlockKind::Text && block.role == Role::Assistant {
        let own = marker::without_marks(content, conventions);
        let start = mask_cut(&own[..own.floor_char_boundary(ANSWER_BYTES)]);
        let mut found: Vec<String> = Vec::new();
        let mut sentences = plain_sentences(&start, conventions);
        sentences.retain(|sentence| !is_step(sentence));
        add_clauses(&sentences, true, ANSWER_CLAUSES, &mut found);
        block.excerpts = Excerpts { clauses: found.iter().map(String::as_str).collect(), ..Excerpts::default() }.some();
        return;
    }
    let words: Vec<&str> = block.words_in(content).collect();
    if words.is_empty() {
        return;
    }
    let words = words.join("\n");
    let words = marker::without_marks(&words, conventions);
    let start = if words.len() > LONG_BYTES { &words[..words.floor_char_boundary(START_BYTES)] } else { &words };
    let start = mask(start);
    let sentences = plain_sentences(&start, conventions);
    let mut named: Vec<String> = start.lines().find_map(title).into_iter().collect();
    add_clauses(&sentences, false, CLAUSES, &mut named);
    // A document, such as a plan or a specification, instructs for one task.
    let is_document = start.lines().filter_map(heading).count() > 1;
    let answered = |sentence: &'_ String| {
        let mark = conventions.answer_marks.iter().find_map(|mark| sentence.rfind(mark).map(|at| at + mark.len()));
        sentence.get(mark.unwrap_or_default()..).unwrap_or_default().trim_matches('"').to_owned()
    };
    let is_rule = |sentence: &String| !is_document && rule(sentence).is_some();
    let rules: Vec<String> = sentences.iter().map(answered).filter(is_rule).take(RULES).collect();
    let rules: Keywords = rules.iter().map(String::as_str).collect();
    let mut excerpts = block.excerpts.take().map(|excerpts| *excerpts).unwrap_or_default();
    excerpts = Excerpts { clauses: named.iter().map(String::as_str).collect(), rules, ..excerpts };
    block.excerpts = excerpts.some();
}

/// Adds the clauses of the sentences that are prose, each once.
fn add_clauses(sentences: &[String], is_answer: bool, most: usize, found: &mut Vec<String>) {
    for sentence in sentences.iter().filter(|sentence| is_prose(sentence)) {
        clauses(sentence, is_answer, |clause| {
            if found.len() < most && !found.iter().any(|known| known == clause) {
                found.push(clause.to_owned());
            }
        });
    }
}

/// Returns the words of a heading in Markdown, without a prefix such as `Plan:`.
fn title(line: &str) -> Option<String> {
    let text = heading(line.trim())?.rsplit(": ").next()?.trim();
    let text = text.trim_start_matches(|c: char| !c.is_alphabetic()).split(" (").next()?;
    let mut words: Vec<&str> = text.split_whitespace().take(HEADING_WORDS).collect();
    while words.pop_if(|word| is_function_word(&word.to_lowercase())).is_some() {}
    let title = words.join(" ").trim_matches(|c: char| !c.is_alphanumeric()).to_owned();
    (words.len() > 1 && content_words(&title).next().is_some()).then_some(title)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::content::rules::tests::sentences;

    #[test]
    fn the_subjects_of_commits_name_a_topic() {
        let mut block = Block::new(BlockKind::ToolResult, Role::ToolResult);
        add(
            &mut block,
            &Conventions::default(),
            "3 passed\n[main 1a2b3c4] fix(login): retry the flaky token refresh (#12)\n[a] b\n[main 2a2b3c4] Merge branch 'x'\n",
        );
        assert_eq!(block.clauses().collect::<Vec<_>>(), ["retry the flaky token refresh"]);
    }

    #[test]
    fn neither_a_marker_nor_printed_lines_name_a_topic() {
        let clauses = |role, text: &str| {
            let mut block = Block { words: vec![(0, text.len() as u32)].into(), ..Block::new(BlockKind::Text, role) };
            add(&mut block, &Conventions::default(), text);
            block.clauses().map(str::to_owned).collect::<Vec<_>>()
        };
        let shortened = "[@7 | trimmed from 1.8k]\nThe flaky login test waits.";
        assert_eq!(clauses(Role::Assistant, shortened), clauses(Role::Assistant, "The flaky login test waits."));
        assert_eq!(clauses(Role::User, shortened), clauses(Role::User, "The flaky login test waits."));
        assert_eq!(clauses(Role::User, "from: Packing boxes: 100% (40120/40120), done."), [""; 0]);
        assert_eq!(clauses(Role::User, "Packing boxes: 12% (4812/40120)"), [""; 0]);
    }

    #[test]
    fn a_heading_is_a_label() {
        assert_eq!(title("# Plan: Split the session store").as_deref(), Some("Split the session store"));
        assert_eq!(
            title("# Wire the batch flags into every sync and into fetch").as_deref(),
            Some("Wire the batch flags into every sync")
        );
        assert_eq!(title("#12"), None);
    }

    fn check_rules(text: &str, expected: &[&str]) {
        let conventions = Conventions { answer_marks: vec!["\"=\""], ..Conventions::default() };
        let mut block = Block::new(BlockKind::Text, Role::User);
        block.words = vec![(0, text.len() as u32)].into();
        add(&mut block, &conventions, text);
        assert_eq!(block.rules().collect::<Vec<_>>(), expected, "{text}");
    }

    #[test]
    fn every_rule_of_the_user_is_an_excerpt() {
        for (sentence, rule) in sentences() {
            let expected = [sentence.trim_matches('"')];
            check_rules(&sentence, &expected[..usize::from(rule.is_some())]);
        }
    }

    #[test]
    fn a_document_and_a_question_state_no_rules() {
        check_rules("Use tabs.", &["Use tabs."]);
        let plan = "# Plan: split the store\n\nUse one table.\n\n## Tests\n\nNever use the network. From now on, use tabs.";
        check_rules(plan, &[]);
        check_rules("\"Should we never do this or always?\"=\"Use the second table\"", &["Use the second table"]);
    }
}
