//! Changes of a session: the effect and the cost of an edit, and the differences of two states.

use super::words::{DiffKind, Level, OperationKind, SuggestionKind};
use super::{Number, Tokens, estimated};
use crate::{engine, model, output};

json_objects! {
    /// A change of a session, or its dry run.
    Change from report: output::ChangeReport {
        /// Session id.
        session: String = report.session,
        /// Operation in the log; null if nothing was written, or if it cannot be undone.
        operation: Option<u32> = report.operation,
        /// Kind of the operation.
        kind: OperationKind = report.kind,
        /// True if this is a dry run.
        dry_run: bool = report.dry_run,
        /// Action in one word, such as `archived`.
        verb: String = report.verb,
        /// Object of the action, if it is not blocks.
        what: Option<String> = report.what,
        /// Changed blocks.
        changes: Vec<BlockChange> = report.changes,
        /// Changed blocks by kind and reason, those with the largest effect first.
        groups: Vec<ChangeGroup> = report.groups,
        /// Blocks that were pinned or focused.
        marks: Vec<u32> = report.marks,
        /// Blocks that were unpinned or unfocused.
        unmarked: Vec<u32> = report.unmarked,
        /// Number of replaced values in the file, added and removed rows included.
        edits: u64 = report.edits,
        /// Number of added rows.
        rows_added: u64 = report.rows_added,
        /// Number of removed rows.
        rows_removed: u64 = report.rows_removed,
        /// Blocks that were not changed, by reason.
        skipped: Vec<SkippedBlocks> = report.skipped,
        /// Tokens of the window before.
        tokens_before: Tokens = estimated(report.tokens_before),
        /// Tokens of the window after.
        tokens_after: Tokens = estimated(report.tokens_after),
        /// Number of thinking blocks that are no longer sent, because content before them changed.
        thinking_dropped: u32 = report.thinking_dropped,
        /// Tokens of these blocks.
        thinking_dropped_tokens: Tokens = estimated(report.thinking_dropped_tokens),
        /// Number of thinking blocks that are sent again, because the content before them is restored.
        thinking_restored: u32 = report.thinking_restored,
        /// Tokens of these blocks.
        thinking_restored_tokens: Tokens = estimated(report.thinking_restored_tokens),
        /// Cost and savings; null if the window does not change.
        price: Option<EditPrice> = report.price,
        /// True if the usage of a response is rewritten in the file, where the agent program reads how full the window is.
        bills_changed: bool = report.bills_changed,
        /// True if nothing was changed because it would save under 1 % of the window; `--force` changes it.
        withheld: bool = report.is_withheld,
        /// Notes.
        notes: Vec<String> = report.notes,
        /// Differences in the content for the model, for a dry run.
        differences: Vec<BlockDifference> = report.differences,
    }

    /// A changed block.
    BlockChange from change: model::BlockChange {
        /// Block number.
        number: u32 = change.number,
        /// Short description.
        label: String = change.label,
        /// Level before.
        level_before: Level = change.level_before,
        /// Level after.
        level_after: Level = change.level_after,
        /// Cost before.
        tokens_before: Tokens = estimated(change.tokens_before),
        /// Cost after.
        tokens_after: Tokens = estimated(change.tokens_after),
        /// Reason given by the user; may be empty.
        reason: String = change.reason,
        /// True if credentials were removed from the block.
        redacted: bool = change.redacted,
        /// True if the content before names credentials, which stay masked in the whole session.
        named_credentials: bool = change.named_credentials,
    }

    /// Changed blocks of one kind and reason.
    ChangeGroup from group: engine::ChangeGroup {
        /// Tool and its part, such as `Read result`, or kind of the block.
        kind: String = group.kind,
        /// Reason that makes the blocks candidates: such as `read again` or `unused`, or else their state.
        reason: String = group.reason,
        /// Number of blocks.
        blocks: u64 = group.blocks,
        /// Cost before.
        tokens_before: Tokens = estimated(group.tokens_before),
        /// Cost after.
        tokens_after: Tokens = estimated(group.tokens_after),
    }

    /// Blocks that a change skipped for one reason.
    SkippedBlocks from skipped: (&'static str, Vec<model::BlockNumber>) {
        /// Reason.
        reason: String = skipped.0,
        /// Block numbers.
        blocks: Vec<u32> = skipped.1,
    }

    /// The cost of an edit and its savings; dollars are estimates, and null if the price of the model is unknown.
    EditPrice from price: engine::EditPrice {
        /// Tokens of the window before the edit.
        window_before_tokens: Tokens = estimated(price.window_before_tokens),
        /// Tokens of the window after the edit.
        window_after_tokens: Tokens = estimated(price.window_after_tokens),
        /// Tokens by which the window shrinks; negative if it grows.
        saved_tokens: Tokens = estimated(price.saved_tokens),
        /// Tokens before the first change, which stay cached.
        unchanged_prefix_tokens: Tokens = estimated(price.unchanged_prefix_tokens),
        /// Tokens after the first change that are written to the cache again; 0 if the cache is cold.
        rewritten_tokens: Tokens = estimated(price.rewritten_tokens),
        /// Tokens by which the window grows.
        added_tokens: Tokens = estimated(price.added_tokens),
        /// One-time cost of the second cache write, beyond that of a read.
        rewritten_dollars: Option<Number> ["US dollars"] = price.rewritten_dollars,
        /// One-time cost of the cache write of the added tokens.
        added_dollars: Option<Number> ["US dollars"] = price.added_dollars,
        /// Savings of each later turn; negative if it costs more.
        saved_dollars_per_turn: Option<Number> ["US dollars"] = price.saved_dollars_per_turn,
        /// Turns until the savings exceed the cost: 0 if there is no extra cost, null if nothing is saved.
        pays_back_turns: Option<Number> ["turns"] = price.pays_back_turns,
        /// True if the cache entries have expired.
        cache_is_cold: bool = price.cache_is_cold,
        /// Time since the last response.
        idle_milliseconds: Option<i64> ["milliseconds"] = price.idle_milliseconds,
        /// Date of the built-in prices, such as `2026-10-24`; null if the prices are the user's or unknown.
        prices_dated: Option<String> = price.prices_dated,
    }

    /// A suggested command.
    Suggestion from suggestion: engine::Suggestion {
        /// Kind.
        kind: SuggestionKind = suggestion.kind,
        /// Command line.
        command: String = suggestion.command,
        /// Reason.
        why: String = suggestion.why,
        /// Tokens by which the window would shrink; negative if it would grow.
        saved_tokens: Tokens = estimated(suggestion.saved_tokens),
        /// Turns until the savings exceed the cost.
        pays_back_turns: Option<Number> ["turns"] = suggestion.pays_back_turns,
        /// Cost and savings.
        price: Option<EditPrice> = suggestion.price,
        /// True if the command was planned, so that the figures are those of `--dry-run`.
        planned: bool = !suggestion.estimated,
    }

    /// The differences between two states of a session.
    Diff from report: output::DiffReport {
        /// Earlier state: `the original`, `operation 3` or the name of a snapshot.
        from: String = report.from,
        /// Later state.
        to: String = report.to,
        /// Blocks that differ, in file order.
        blocks: Vec<BlockDifference> = report.blocks,
        /// Tokens of the window in the earlier state.
        tokens_before: Tokens = report.tokens_before,
        /// Tokens of the window in the later state.
        tokens_after: Tokens = report.tokens_after,
    }

    /// A block that differs between two states.
    BlockDifference from block: engine::diff::BlockDifference {
        /// Block number, from 1 in file order.
        number: u32 = block.number,
        /// Short description.
        label: String = block.label,
        /// Kind of the difference.
        kind: DiffKind = block.kind,
        /// Level before.
        level_before: Level = block.level_before,
        /// Level after.
        level_after: Level = block.level_after,
        /// Cost before.
        tokens_before: Tokens = block.tokens_before,
        /// Cost after.
        tokens_after: Tokens = block.tokens_after,
        /// Content before.
        before: String = block.before,
        /// Content after.
        after: String = block.after,
    }
}
