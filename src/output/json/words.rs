//! JSON strings of a fixed set.

use crate::{engine, model, output};

json_words! {
    /// The owner of a memory tree.
    MemoryScope from model::MemoryScope {
        /// A project.
        Project = "project",
        /// The user, in all projects.
        User = "user",
    }

    /// The origin of a change of a memory tree.
    MemoryActor from model::MemoryActor {
        /// A command of the user.
        User = "user",
        /// A command of the model.
        Model = "model",
        /// `aperture memory learn`.
        Learn = "learn",
        /// A hook, `watch` or the proxy.
        Hook = "hook",
    }

    /// The kind of a change of a memory.
    MemoryChangeKind from engine::memory::ChangeKind {
        /// A new memory.
        Added = "added",
        /// A pending memory became active.
        Activated = "activated",
        /// A retired memory is in use again.
        Restored = "restored",
        /// The text changed.
        Rewritten = "rewritten",
        /// It was moved to another file.
        Moved = "moved",
        /// A newer memory replaced it.
        Superseded = "superseded",
        /// It was archived.
        Archived = "archived",
        /// A statement against it was found.
        Contradicted = "contradicted",
        /// Only its sightings or counts changed.
        Confirmed = "confirmed",
        /// It was deleted.
        Removed = "removed",
    }

    /// The basis of a token count, best first.
    Basis from model::Basis {
        /// From the usage that the API reported.
        Measured = "measured",
        /// An estimate scaled to agree with the reported usage around it.
        Calibrated = "calibrated",
        /// An estimate alone, or a figure whose basis is not recorded.
        Estimated = "estimated",
    }

    /// The kind of content of a block.
    BlockKind from model::BlockKind {
        /// Plain text.
        Text = "text",
        /// Thinking of the model; its text may be withheld.
        Thinking = "thinking",
        /// A tool call.
        ToolUse = "tool_use",
        /// A tool result.
        ToolResult = "tool_result",
        /// An image.
        Image = "image",
        /// A document.
        Document = "document",
        /// A text added by the agent program.
        Attachment = "attachment",
        /// A content block of an unknown type.
        Other = "other",
    }

    /// The author of a block.
    Role from model::Role {
        /// The agent program.
        System = "system",
        /// The user.
        User = "user",
        /// The model.
        Assistant = "assistant",
        /// The model, in its thinking.
        Thinking = "thinking",
        /// The model, calling a tool.
        ToolUse = "tool_use",
        /// A tool.
        ToolResult = "tool_result",
    }

    /// The position of a block in the context window.
    Zone from model::Zone {
        /// The beginning: instructions, the first prompt, the summary of a compaction.
        Primacy = "primacy",
        /// Between the beginning and the newest part.
        Middle = "middle",
        /// The newest part.
        Recency = "recency",
        /// Not in the window.
        Cold = "cold",
    }

    /// The outcome of a command for one session of many.
    BulkOutcome from output::BulkOutcome {
        /// The session was changed or, in a dry run, would be.
        Changed = "changed",
        /// A file was written.
        Written = "written",
        /// Skipped: an agent program has the session open, or another process changes it.
        Skipped = "skipped",
        /// The command failed.
        Failed = "failed",
        /// The run was interrupted before this session.
        NotStarted = "not_started",
        /// There was nothing to do.
        Unchanged = "unchanged",
    }

    /// Level of a block.
    Level from model::Level {
        /// The whole block.
        Original = "original",
        /// The essential lines.
        Trimmed = "trimmed",
        /// A short extract.
        Summarized = "summarized",
        /// One line.
        Minimal = "minimal",
        /// A placeholder; the content is in cold storage.
        Archived = "archived",
    }

    /// The state of a block in its lifecycle.
    State from model::State {
        /// One of the newest blocks.
        Fresh = "fresh",
        /// Recent, or of a kind that does not go stale.
        Active = "active",
        /// Older, and used since.
        Referenced = "referenced",
        /// Superseded, or unused for long.
        Stale = "stale",
        /// Shortened.
        Compressed = "compressed",
        /// Replaced by a placeholder.
        Archived = "archived",
        /// Not in the window.
        Evicted = "evicted",
    }

    /// The place where a block is pinned.
    Pin from model::Pin {
        /// At its own place.
        Here = "here",
        /// At the beginning of the window.
        Top = "top",
        /// At the end of the window.
        Bottom = "bottom",
    }

    /// The reason why a block is outdated.
    Outdated from model::Outdated {
        /// A later result has the same content.
        Duplicate = "duplicate",
        /// The file was read again.
        ReadAgain = "read_again",
        /// The same command or search ran again.
        RunAgain = "run_again",
        /// A failed attempt succeeded later.
        Succeeded = "succeeded",
        /// The plan was replaced.
        Replaced = "replaced",
        /// The file was edited afterwards.
        EditedLater = "edited_later",
    }

    /// The kind of an operation.
    OperationKind from model::OperationKind {
        /// A change.
        Change = "change",
        /// An undo of an operation.
        Undo = "undo",
        /// A redo of an undone operation.
        Redo = "redo",
    }

    /// The origin of a command.
    Actor from model::Actor {
        /// The user.
        User = "user",
        /// The model, in its text.
        Model = "model",
        /// A rule of the settings.
        Policy = "policy",
    }

    /// The status of a command of the model.
    ProposalStatus from model::ProposalStatus {
        /// Recorded, and not decided yet.
        Recorded = "recorded",
        /// Being executed.
        Begun = "begun",
        /// Waiting for the user.
        Waiting = "waiting",
        /// Executed.
        Done = "done",
        /// Denied by the user or by a setting.
        Denied = "denied",
        /// Impossible to execute.
        Refused = "refused",
    }

    /// A kind of damage in a session file.
    Fault from model::Fault {
        /// A line that is not JSON.
        NotJson = "not_json",
        /// A line that is JSON, but not an object.
        NotAnObject = "not_an_object",
        /// Two or more objects on one line.
        Glued = "glued",
        /// An incomplete last line.
        HalfWritten = "half_written",
        /// A row with the id of an earlier row.
        DuplicateId = "duplicate_id",
        /// A row whose parent is missing.
        DanglingParent = "dangling_parent",
        /// A tool result without its tool call.
        OrphanResult = "orphan_result",
        /// A tool call without a result.
        UnansweredUse = "unanswered_use",
        /// An inherited session that was not found.
        MissingParentSession = "missing_parent_session",
        /// A bill larger than the window; an estimate is used instead.
        ImpossibleBill = "impossible_bill",
    }

    /// The source of the window size.
    CapacitySource from engine::CapacitySource {
        /// The settings or an option.
        Setting = "setting",
        /// The agent program.
        Client = "client",
        /// The name of the model.
        Model = "model",
        /// The session, which held more than the usual window of its model.
        Observed = "observed",
        /// A compaction by the client itself, long before the usual window of the model was full.
        Compacted = "compacted",
        /// The default for unknown models.
        Assumed = "assumed",
    }

    /// The kind of a suggestion.
    SuggestionKind from engine::SuggestionKind {
        /// Shorten until the window is within its budget.
        Budget = "budget",
        /// Shorten stale blocks.
        Compress = "compress",
        /// Shorten old blocks, stale or not.
        Preset = "preset",
        /// Archive superseded blocks.
        Archive = "archive",
        /// Expand shortened blocks that are in use.
        Expand = "expand",
    }

    /// The kind of a difference.
    DiffKind from engine::diff::DiffKind {
        /// A block that was not there before.
        Added = "added",
        /// A block that is gone.
        Removed = "removed",
        /// A block with another content or another cost.
        Changed = "changed",
    }

    /// A change of a block between two updates.
    Update from engine::Update {
        /// A new block.
        Added = "added",
        /// A block that became shorter.
        Shortened = "shortened",
        /// A shortened block with more of its original content.
        Expanded = "expanded",
        /// A block with another content.
        Rewritten = "rewritten",
        /// A block that left the window.
        Evicted = "evicted",
        /// A block that is in the window again.
        Returned = "returned",
        /// A block that went stale.
        WentStale = "went_stale",
        /// A stale block that is in use again.
        Revived = "revived",
        /// A block with another state for any other reason.
        Aged = "aged",
    }

    /// A text that a model could write better than an extract.
    Fillable from engine::summary::Fillable {
        /// The subject of the turn.
        Topic = "topic",
        /// The key points of the turn.
        Summary = "summary",
        /// The course of the session.
        Narrative = "narrative",
        /// The goal of the user.
        Objective = "objective",
        /// The next steps.
        Next = "next",
    }

    /// The kind of a point in a summary.
    PointKind from engine::summary::PointKind {
        /// A request of the user.
        Asked = "asked",
        /// An answer, a rejection or a correction of the user.
        Replied = "replied",
        /// A decision and its reason.
        Decided = "decided",
        /// Edited files.
        Changed = "changed",
        /// The result of tests.
        Tests = "tests",
        /// Resolved errors.
        Fixed = "fixed",
        /// Commits.
        Committed = "committed",
        /// The last message of the assistant.
        Said = "said",
        /// Open questions and errors.
        Open = "open",
        /// The course of the session, turn by turn.
        Narrative = "narrative",
        /// The first and the latest prompt.
        Objective = "objective",
        /// Results.
        Achieved = "achieved",
        /// Files in use.
        Files = "files",
        /// Functions and types in use.
        Functions = "functions",
        /// Topics.
        Concepts = "concepts",
        /// The current state.
        State = "state",
        /// Remaining work.
        Next = "next",
    }

    /// A git hook.
    GitHook from engine::GitHook {
        /// Before a commit: refuses staged sessions with credentials.
        PreCommit = "pre-commit",
        /// After a commit: records the session that led to it.
        PostCommit = "post-commit",
        /// Before a push: refuses commits whose sessions have credentials.
        PrePush = "pre-push",
    }

    /// The reason why the data of a session may be deleted.
    Forgettable from engine::Forgettable {
        /// The session file is gone.
        FileGone = "file_gone",
        /// Everything was undone.
        AllUndone = "all_undone",
    }

    /// The level of detail of a manifest.
    Tier from output::Tier {
        /// A few lines.
        Summary = "summary",
        /// Zones, topics and the largest stale blocks.
        Detailed = "detailed",
        /// Everything.
        Full = "full",
    }

    /// The kind of a finding of `verify`.
    FindingKind from output::FindingKind {
        /// The log of the session cannot be read.
        Store = "store",
        /// A logged value is missing or damaged.
        ValueLost = "value_lost",
        /// The session file is gone.
        FileGone = "file_gone",
        /// The session file cannot be read.
        FileUnreadable = "file_unreadable",
        /// An operation was interrupted.
        Interrupted = "interrupted",
        /// Another program changed a value.
        Changed = "changed",
        /// A row is no longer in the file.
        RowGone = "row_gone",
        /// A removed row is in the file again.
        RowBack = "row_back",
        /// An undo of everything would be refused.
        UndoRefused = "undo_refused",
        /// An operation has no stored delta, so that no undo across it is exact.
        WithoutDelta = "without_delta",
    }

    /// The result of an undo of everything.
    WayBack from output::WayBackKind {
        /// No change is in force.
        Nothing = "nothing",
        /// The original, byte for byte.
        Exact = "exact",
        /// Every changed value, in a file that has grown since.
        Values = "values",
        /// The undo would be refused.
        Refused = "refused",
        /// Not known.
        Unknown = "unknown",
    }
}
