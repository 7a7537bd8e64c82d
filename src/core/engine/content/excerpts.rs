//! Excerpts of the words of a person: clauses that can name a topic, and sentences that state a rule. Of a result, the subjects of commits.

use super::rules::rule;
use crate::engine::memory::own_sentences;
use crate::engine::reduce::{commit, marker};
use crate::engine::summary::{plain_sentences, said};
use crate::engine::{mask, mask_cut};
use crate::model::{Block, BlockKind, Conventions, Excerpts, Keywords, Role};
use crate::text::clauses::{clauses, content_words, is_prose, is_step};
use crate::text::cut::one_line;
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
    let said = said(block, &start, conventions);
    let own = said.iter().flat_map(|said| own_sentences(said)).map(one_line);
    let rules: Vec<String> = own.filter(|sentence| rule(sentence).is_some()).take(RULES).collect();
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
        check_rules_of(Block::new(BlockKind::Text, Role::User), text, expected);
    }

    fn check_rules_of(mut block: Block, text: &str, expected: &[&str]) {
        let conventions =
            Conventions { answer_marks: vec!["\"=\""], reason_starts: vec!["the user said:\n"], ..Conventions::default() };
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
        let answered = "\"Should we never do this or always?\"=\"Use the second table\"";
        check_rules_of(Block::new(BlockKind::ToolResult, Role::ToolResult), answered, &["Use the second table"]);
    }

    #[test]
    fn a_reason_states_rules_and_the_words_of_others_do_not() {
        let rejected = Block { error: true, ..Block::new(BlockKind::ToolResult, Role::ToolResult) };
        let mut block = rejected.clone();
        let content = "The call was rejected: the user said:\nNo, use pnpm, never npm in this project.";
        block.words = vec![(23, content.len() as u32)].into();
        let conventions = Conventions { reason_starts: vec!["the user said:\n"], ..Conventions::default() };
        add(&mut block, &conventions, content);
        assert_eq!(block.rules().collect::<Vec<_>>(), ["No, use pnpm, never npm in this project."]);
        check_rules_of(rejected, "Never say why.", &[]);
        check_rules("Implement the following plan:\n\n# Use the new cache\n\n- Always use planlib for the tests.", &[]);
        check_rules("2026-11-28T10:00:00Z ERROR you must never use logtool\nfix it", &[]);
        check_rules("> Always use tabs.\n\nI do not like that. Never use tabs here.", &["Never use tabs here."]);
        // The prompts of another agent lose their words when their session is read.
        block.words = Box::default();
        assert_eq!(block.rules().collect::<Vec<_>>(), [""; 0]);
    }
}
