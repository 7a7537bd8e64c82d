//! `aperture memory search`: searches the entries, and the sessions of the project.

use super::learning::{Learning, searchable};
use super::report::{MemoryHitLine, MemorySearchReport};
use super::run::Memories;
use super::{SearchArguments, list};
use crate::app::{CommandError, misuse};
use crate::engine::memory::words::{content_words, plain_words};
use crate::engine::search::{EarlierPassages, EarlierPlace, Query};
use crate::model::Memory;

/// Prints the entries and the places in sessions that match.
pub fn run(memories: &Memories<'_>, arguments: &SearchArguments) -> Result<(), CommandError> {
    let query = match &arguments.prompt_file {
        Some(file) => memories.env.text_of(file)?,
        None => arguments.text.join(" "),
    };
    let mut report = report(memories, &query, arguments.all, arguments.limit)?;
    report.is_lines = arguments.json_lines;
    memories.env.print(&report)
}

/// Errors: the query has no words, or a tree cannot be read.
pub fn report(
    memories: &Memories<'_>,
    query: &str,
    with_retired: bool,
    limit: usize,
) -> Result<MemorySearchReport, CommandError> {
    let wanted = content_words(query);
    if wanted.is_empty() {
        return Err(misuse!("the query has no words"));
    }
    let mut known = list::all(memories)?.memories;
    known.retain(|memory| with_retired || !memory.state.is_retired());
    let learning = Learning::of_project(memories);
    let query_of_text = Query::of_text(query);
    let earlier = learning.earlier(memories, &query_of_text)?;
    let turns = searchable(&earlier);
    let hits =
        EarlierPassages::new(&turns).ranked(&query_of_text).into_iter().take(limit).map(|EarlierPlace { turn, event, title }| {
            let id = &earlier[turn].session;
            MemoryHitLine {
                session: learning.file_name(id),
                session_id: id.clone(),
                block: event.block,
                row: event.row.clone(),
                time: (event.time > 0).then_some(event.time),
                title,
            }
        });
    Ok(MemorySearchReport { query: query.to_owned(), hits: hits.collect(), memories: ranked(known, &wanted), is_lines: false })
}

/// Returns the entries with at least half of the words, those with most of them first.
fn ranked(memories: Vec<Memory>, wanted: &[String]) -> Vec<Memory> {
    let score = |memory: &Memory| {
        let content = format!("{} {} {}", memory.text, memory.file.name(), memory.kind.name()).to_lowercase();
        let words: Vec<String> = plain_words(&content).collect();
        let worth = |word: &String| 2 * usize::from(words.contains(word)) + usize::from(content.contains(&**word));
        let found = wanted.iter().filter(|word| content.contains(&***word)).count();
        (found, wanted.iter().map(worth).sum::<usize>())
    };
    let mut scored: Vec<((usize, usize), Memory)> = memories.into_iter().map(|memory| (score(&memory), memory)).collect();
    // Half of the words are enough, so that a question in plain words finds something.
    scored.retain(|((found, _), _)| found * 2 >= wanted.len() && *found > 0);
    scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    scored.into_iter().map(|(_, memory)| memory).collect()
}
