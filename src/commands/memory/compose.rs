//! `aperture memory compose`: prints what a session should know.

use super::ComposeArguments;
use super::learning::{Learning, known_texts};
use super::report::MemoryComposeReport;
use super::run::Memories;
use crate::app::CommandError;
use crate::engine::memory::{ComposeInput, Composition, Intent, compose as composed, intent};
use crate::model::{Memory, MemoryScope};

/// Prints the composed text.
pub fn run(memories: &Memories<'_>, arguments: &ComposeArguments) -> Result<(), CommandError> {
    let prompt = match (&arguments.prompt, &arguments.prompt_file) {
        (Some(prompt), _) => prompt.clone(),
        (None, Some(file)) => memories.env.text_of(file)?,
        (None, None) => String::new(),
    };
    let (composition, intent) = compose(memories, &prompt, arguments.budget)?;
    let Composition { text, memories: shown } = composition;
    let shown = shown.into_iter().filter(|(_, id)| *id < Memory::BY_HAND).map(|(scope, id)| scope.name_of(id)).collect();
    memories.env.print(&MemoryComposeReport { text, intent, memories: shown, budget_tokens: arguments.budget })
}

/// Composes what a session of the project should know, from the trees and from sessions that were not learned yet. Writes no tree.
pub fn compose(memories: &Memories<'_>, prompt: &str, budget_tokens: usize) -> Result<(Composition, Intent), CommandError> {
    let learning = Learning::of_project(memories);
    let current = current(memories, &learning)?;
    let (intent, known) = (intent(prompt), known_texts(memories));
    let digests = |known: &str, max_tokens: usize| learning.digests(memories, prompt, known, max_tokens);
    let is_accepted = memories.is_accepted();
    let open = learning.open_thoughts();
    let (memories, digests) = (&*current, &digests);
    let input = ComposeInput { memories, is_accepted, prompt, intent, digests, open, known: &known, budget_tokens };
    Ok((composed(&input), intent))
}

/// Returns the memories of the project and of the user, as they will be when the sessions are learned.
pub fn current(memories: &Memories<'_>, learning: &Learning) -> Result<Vec<Memory>, CommandError> {
    let mut tree = memories.read(MemoryScope::Project)?;
    // Data that can only be read has no less to tell.
    let feedback = learning.feedback(memories, &tree).unwrap_or_default();
    tree.merge(&learning.candidates, &feedback, memories.env.style.now.as_millisecond())?;
    let user = memories.read(MemoryScope::User)?;
    for problem in tree.problems.iter().chain(&user.problems).filter(|problem| problem.is_blocking) {
        memories.env.note(&format!("{} is not read: {}", problem.path.display(), problem.reason));
    }
    let mut current: Vec<Memory> = tree.memories().cloned().collect();
    current.extend(user.memories().cloned());
    Ok(current)
}
