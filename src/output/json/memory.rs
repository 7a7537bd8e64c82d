//! Memories: trees, lists, evidence, changes, the log.

use super::words::{MemoryActor, MemoryChangeKind, MemoryScope};
use super::{Moment, Time};
use crate::{engine, model, output};

json_objects! {
    /// The memory trees of a project and of the user.
    MemoryTrees from report: output::MemoryTreesReport {
        /// Trees.
        trees: Vec<MemoryTree> = report.trees,
    }

    /// A memory tree.
    MemoryTree from tree: output::MemoryTreeView {
        /// Owner.
        scope: MemoryScope = tree.scope,
        /// Directory.
        directory: String = tree.directory,
        /// True if it is in the project.
        in_project: bool = tree.is_in_project,
        /// Files.
        files: Vec<MemoryFileCounts> = tree.files,
        /// Files that are not read or not written.
        problems: Vec<MemoryProblem> = tree.problems,
    }

    /// A memory file and the number of its entries.
    MemoryFileCounts from file: output::MemoryFileRow {
        /// Path in the tree.
        path: String = file.path,
        /// Number of active entries.
        active: u64 = file.active,
        /// Number of pending entries.
        pending: u64 = file.pending,
        /// Number of superseded and archived entries.
        retired: u64 = file.retired,
        /// Number of entries that a person wrote without metadata.
        by_hand: u64 = file.by_hand,
    }

    /// A problem of a memory file.
    MemoryProblem from problem: output::MemoryProblem {
        /// File.
        path: String = problem.path,
        /// Reason.
        reason: String = problem.reason,
    }

    /// A list of memories.
    Memories from report: output::MemoryListReport {
        /// Words that were searched for.
        query: Option<String> = report.query,
        /// Entries.
        memories: Vec<MemoryLine> = report.memories,
        /// Files that are not read or not written.
        problems: Vec<MemoryProblem> = report.problems,
    }

    /// A memory.
    MemoryLine from memory: model::Memory {
        /// Name, such as `memory-12`; null for an entry that a person wrote without metadata.
        id: Option<String> = (!memory.is_by_hand()).then(|| memory.name()),
        /// Owner of its tree.
        scope: MemoryScope = memory.scope,
        /// Category: `operational`, `factual`, `procedural` or `introspection`.
        category: String = memory.file.category().name(),
        /// Path of its file in the tree.
        file: String = memory.file.path(),
        /// Kind, such as `correction`.
        kind: String = memory.kind.name(),
        /// State: `pending`, `active`, `superseded` or `archived`.
        state: String = memory.state.name(),
        /// Text, in Markdown.
        text: String = memory.text,
        /// Signature of its topic, in hexadecimal.
        key: String = format!("{:016x}", memory.key),
        /// Day of the first sighting; null if it is not known.
        first_seen: Option<Time> = (!memory.is_by_hand()).then_some(Moment(memory.first_seen)),
        /// Day of the last sighting; null if it is not known.
        last_seen: Option<Time> = (!memory.is_by_hand()).then_some(Moment(memory.last_seen)),
        /// Number of sightings.
        sightings: u32 = memory.sightings,
        /// Number of sessions with a sighting.
        sessions: u32 = memory.sessions,
        /// Newest sightings, oldest first.
        evidence: Vec<MemorySighting> = memory.evidence,
        /// Number of times that it was of use.
        helpful: u32 = memory.helpful,
        /// Number of times that it was contradicted after it was read, or did not help as the user reported.
        harmful: u32 = memory.harmful,
        /// Memory that replaced it.
        superseded_by: Option<String> = memory.superseded_by.map(|id| memory.scope.name_of(id)),
        /// Memory that it contradicts, until the user decides.
        contradicts: Option<String> = memory.contradicts.map(|id| memory.scope.name_of(id)),
        /// True if a person wrote the text.
        edited: bool = memory.is_edited,
        /// True if the model proposed it.
        by_model: bool = memory.is_by_model,
    }

    /// A place in a session that a memory was learned from.
    MemorySighting from sighting: model::Sighting {
        /// Session id, or a prefix of it.
        session: String = sighting.session,
        /// Block number.
        block: u32 = sighting.block,
        /// Identity of the row; null if it is not known.
        row: Option<String> = (!sighting.row.is_empty()).then(|| sighting.row.clone()),
    }

    /// The evidence of a memory.
    MemoryWhy from report: output::MemoryWhyReport {
        /// Memory.
        memory: MemoryLine = report.memory,
        /// Evidence, oldest first.
        evidence: Vec<MemoryQuote> = report.evidence,
    }

    /// A quote of a session.
    MemoryQuote from evidence: output::MemoryEvidence {
        /// Session id; a prefix of it if the session was not found.
        session: String = evidence.session,
        /// Block number.
        block: u32 = evidence.block,
        /// Time of the block.
        time: Option<Time> = evidence.time.map(Moment),
        /// Short description of the block.
        label: Option<String> = evidence.label,
        /// Quote.
        quote: Option<String> = evidence.quote,
        /// Reason why there is no quote.
        missing: Option<String> = evidence.missing,
    }

    /// A change of a memory tree.
    MemoryChangeResult from report: output::MemoryChangeReport {
        /// Description of the action.
        done: String = report.done,
        /// Operation; null if nothing was written.
        operation: Option<u32> = report.operation,
        /// True if this is a dry run.
        dry_run: bool = report.is_dry_run,
        /// Changes of entries.
        changes: Vec<MemoryChange> = report.changes,
        /// Next steps of the user.
        hints: Vec<String> = report.hints,
        /// Files that are not read or not written.
        problems: Vec<MemoryProblem> = report.problems,
    }

    /// A change of a memory.
    MemoryChange from change: engine::memory::Change {
        /// Kind of the change.
        kind: MemoryChangeKind = change.kind,
        /// Memory after the change; before it if it was deleted.
        memory: MemoryLine = change.memory,
        /// Text before the change; null for a new memory.
        text_before: Option<String> = change.before.as_ref().map(|before| before.text.clone()),
    }

    /// Memories that wait for a decision.
    MemoryReview from report: output::MemoryReviewReport {
        /// Pending memories.
        pending: Vec<MemoryLine> = report.pending,
        /// Memories that did not help, as the user reported.
        refuted: Vec<MemoryLine> = report.refuted,
        /// Contradictions.
        contradictions: Vec<MemoryContradiction> = report.contradictions,
    }

    /// Two memories that state the opposite.
    MemoryContradiction from pair: output::MemoryContradiction {
        /// Newer memory.
        newer: MemoryLine = pair.newer,
        /// Older memory.
        older: MemoryLine = pair.older,
    }

    /// Figures of the memory trees.
    MemoryStats from report: output::MemoryStatsReport {
        /// Number of entries by state.
        states: Vec<MemoryCount> = counts(report.states.iter().map(|(state, count)| (state.name(), *count))),
        /// Number of active and pending entries by kind.
        kinds: Vec<MemoryCount> = counts(report.kinds.iter().map(|(kind, count)| (kind.name(), *count))),
        /// Number of entries without metadata.
        by_hand: u64 = report.by_hand,
        /// Number of entries whose text a person wrote.
        edited: u64 = report.edited,
        /// Number of sightings of active entries.
        sightings: u64 = report.sightings,
        /// Number of active entries with sightings in two or more sessions.
        repeated: u64 = report.repeated,
        /// Number of active entries with evidence.
        with_evidence: u64 = report.with_evidence,
        /// Number of times that entries were of use.
        helpful: u64 = report.helpful,
        /// Number of times that entries were contradicted after they were read, or did not help.
        harmful: u64 = report.harmful,
        /// Tokens of active entries, an estimate.
        tokens: u64 ["tokens"] = report.tokens,
        /// Number of deleted entries that are not learned again.
        forgotten: u64 = report.forgotten,
        /// Number of operations.
        operations: u64 = report.operations,
    }

    /// Lessons of the sessions of several projects.
    MemoryLearned from report: output::MemoryLearnReport {
        /// True for a dry run.
        dry_run: bool = report.is_dry_run,
        /// Projects.
        projects: Vec<MemoryLearnedProject> = report.projects,
    }

    /// Lessons of the sessions of a project.
    MemoryLearnedProject from project: output::LearnedProject {
        /// Root directory.
        project: String = project.project,
        /// Number of sessions.
        sessions: u64 = project.sessions,
        /// Description of the changes.
        changes: String = project.changes,
        /// Operation; null if nothing was written.
        operation: Option<u32> = project.operation,
    }

    /// The text for a session.
    MemoryCompose from report: output::MemoryComposeReport {
        /// Text; empty if no memory applies.
        text: String = report.text,
        /// Intent of the prompt: `operational`, `factual`, `procedural`, `introspective` or `general`.
        intent: String = report.intent.name(),
        /// Names of the memories in it.
        memories: Vec<String> = report.memories,
        /// Maximum size, in tokens of four characters.
        budget_tokens: u64 ["tokens"] = report.budget_tokens,
    }

    /// Results of a search in memories and sessions.
    MemorySearch from report: output::MemorySearchReport {
        /// Words that were searched for.
        query: String = report.query,
        /// Memories, best first.
        memories: Vec<MemoryLine> = report.memories,
        /// Places in sessions, best first.
        hits: Vec<MemoryHitLine> = report.hits,
    }

    /// A place in a session.
    MemoryHitLine from hit: output::MemoryHit {
        /// Name of the file of the session, without its ending.
        session: String = hit.file,
        /// Id of the session.
        session_id: String = hit.session,
        /// Block number.
        block: u32 = hit.block,
        /// Identity of the row; `L` and the number of the line if rows have none.
        row: String = hit.row,
        /// Time; null if it is not known.
        time: Option<Time> = (hit.time > 0).then_some(Moment(hit.time)),
        /// Title: the tool and its target, or the first words.
        title: String = hit.title,
    }

    /// A number of entries.
    MemoryCount from pair: Counted {
        /// State or kind.
        name: String = pair.0,
        /// Number.
        count: u64 = pair.1,
    }

    /// The section of an instruction file with the memories.
    MemoryExport from report: output::MemoryExportReport {
        /// File; null if the section was only printed.
        file: Option<String> = report.file,
        /// Number of memories.
        memories: u64 = report.memories,
        /// True if the file changed or, in a dry run, would.
        changed: bool = report.is_changed,
        /// True if this is a dry run.
        dry_run: bool = report.is_dry_run,
        /// Section.
        section: String = report.section,
    }

    /// The operations on memory trees.
    MemoryLog from report: output::MemoryLogReport {
        /// Operations, newest first.
        operations: Vec<MemoryOperation> = report.operations,
    }

    /// An operation on a memory tree.
    MemoryOperation from row: output::MemoryLogRow {
        /// Number, in one sequence for all trees.
        id: u32 = row.id,
        /// Time of the operation.
        time: Time = Moment(row.time),
        /// Command.
        command: String = row.command,
        /// Origin of the command.
        actor: MemoryActor = row.actor,
        /// Owner of the tree.
        scope: MemoryScope = row.scope,
        /// Changes of entries.
        changes: Vec<MemoryChange> = row.changes,
        /// Changed files.
        files: Vec<String> = row.files,
        /// Operation that this one undid.
        inverts: Option<u32> = row.inverts,
        /// Operation that undid this one.
        undone_by: Option<u32> = row.undone_by,
    }

    /// The changes of files by an operation.
    MemoryDiff from report: output::MemoryDiffReport {
        /// Operation.
        operation: u32 = report.operation,
        /// Command.
        command: String = report.command,
        /// Files.
        files: Vec<MemoryFileChange> = report.files,
    }

    /// A changed memory file.
    MemoryFileChange from file: model::FileChange {
        /// Path in the tree.
        path: String = file.path,
        /// Text before; null if the file did not exist.
        before: Option<String> = file.before.is_some().then(|| output::MemoryDiffReport::text_of(&file.before)),
        /// Text after; null if the file was deleted.
        after: Option<String> = file.after.is_some().then(|| output::MemoryDiffReport::text_of(&file.after)),
    }
}

/// A name and a number.
pub struct Counted(&'static str, usize);

fn counts(pairs: impl Iterator<Item = (&'static str, usize)>) -> Vec<Counted> {
    pairs.map(|(name, count)| Counted(name, count)).collect()
}
