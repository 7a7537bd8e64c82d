//! The context manifest.

use super::changes::{EditPrice, Suggestion};
use super::words::{CapacitySource, Level, Pin, State, Tier, Zone};
use super::{Number, Tokens, estimated};
use crate::{engine, model, output};

json_objects! {
    /// The context manifest: the content of the window in a few hundred tokens.
    Manifest from report: output::ManifestReport {
        /// Level of detail.
        tier: Tier = report.tier,
        /// Limit for the text of the manifest, if the user gave one.
        max_tokens: Option<u64> ["tokens"] = report.max_tokens,
        /// Session id.
        session: String = report.manifest.session,
        /// Model of the last response.
        model: String = report.manifest.model,
        /// Number of blocks in the window.
        blocks: u32 = report.manifest.blocks,
        /// Tokens of the window.
        tokens: Tokens = report.manifest.tokens,
        /// Size of the window.
        capacity_tokens: u64 ["tokens"] = report.manifest.capacity.tokens,
        /// Source of the window size.
        capacity_source: CapacitySource = report.manifest.capacity.source,
        /// Share of the window that is in use.
        percent: Number ["percent"] = report.manifest.percent,
        /// Tokens that are sent and not in the file, such as the system prompt.
        outside_tokens: Tokens = report.manifest.outside,
        /// True if these include lost messages: the row before the first one of the window is missing.
        lost: bool = report.manifest.lost,
        /// Zones in window order, cold storage last.
        zones: Vec<ZoneSummary> = report.manifest.zones,
        /// Topics of the window, the most recent first.
        topics: Vec<String> = report.manifest.topics,
        /// Blocks of the file that are not in the window.
        hidden: Hidden = report.manifest.hidden,
        /// Topics that are only in cold storage, the most recent first.
        cold_topics: Vec<String> = report.manifest.cold_topics,
        /// Topics of the blocks that are compacted away or archived, by part of the conversation.
        forgotten: Vec<Forgotten> = report.manifest.forgotten,
        /// Shortened blocks of the window.
        shortened: ShortenedBlocks = report.manifest.shortened,
        /// Files in work, the most likely to be needed next first.
        files: Vec<FileInWork> = report.manifest.files,
        /// Rules that the user stated: those that say that they hold for ever first, then the newest.
        rules: Vec<UserRule> = report.manifest.rules,
        /// Beginning of the last prompt.
        current_task: Option<String> = report.manifest.current_task,
        /// Focused blocks.
        focused: Vec<BlockSummary> = report.manifest.focused,
        /// Blocks at the beginning of the window, the largest first.
        primacy: Vec<BlockSummary> = report.manifest.primacy,
        /// Blocks in the middle of the window, the largest first.
        middle: Vec<BlockSummary> = report.manifest.middle,
        /// Recent blocks, the largest first.
        recent: Vec<BlockSummary> = report.manifest.recent,
        /// Stale blocks, the largest first.
        stale: Vec<BlockSummary> = report.manifest.stale,
        /// Number of stale blocks.
        stale_blocks: u32 = report.manifest.stale_blocks,
        /// Tokens of the stale blocks.
        stale_tokens: Tokens = report.manifest.stale_tokens,
        /// Runs of archived blocks.
        archived: Vec<ArchivedRun> = report.manifest.archived,
        /// Pinned blocks that are not in the window.
        pinned_outside: Vec<u32> = report.manifest.pinned_outside,
        /// Blocks that another program changed after aperture shortened them.
        changed_elsewhere: Vec<u32> = report.manifest.changed_elsewhere,
        /// Free part of the window.
        remaining_tokens: u64 ["tokens"] = report.manifest.remaining,
        /// Number of shortened blocks that could be expanded in half of the free part, the smallest first.
        expandable: u32 = report.manifest.expandable,
        /// Estimated cost and savings of `aperture compress --stale`, if it is suggested.
        stale_price: Option<EditPrice> = report.manifest.stale_price,
        /// Blocks of the window by state.
        states: Vec<StateCount> = report.manifest.states,
        /// Blocks that go stale with the next turn unless they are used, the largest first.
        expiring: Vec<BlockSummary> = report.manifest.expiring,
        /// Number of these blocks.
        expiring_blocks: u32 = report.manifest.expiring_blocks,
        /// Tokens of these blocks.
        expiring_tokens: Tokens = report.manifest.expiring_tokens,
        /// Suggested commands.
        suggestions: Vec<Suggestion> = report.manifest.suggestions,
    }

    /// A zone of the window.
    ZoneSummary from zone: engine::ZoneSummary {
        /// Zone.
        zone: Zone = zone.zone,
        /// Number of blocks.
        blocks: u32 = zone.blocks,
        /// Cost; for cold storage, the cost that the blocks would have in the window.
        tokens: Tokens = zone.tokens,
        /// Number of user messages.
        user_messages: u32 = zone.user_messages,
        /// Number of responses of the model.
        responses: u32 = zone.responses,
        /// Number of tool results.
        tool_results: u32 = zone.tool_results,
        /// Shortened blocks by level.
        compressed: Vec<LevelCount> = zone.compressed,
    }

    /// Topics of one third of the conversation whose blocks are compacted away or archived.
    Forgotten from part: engine::Forgotten {
        /// Third of the conversation: 0 for the first, 2 for the last.
        third: u32 = part.third,
        /// Topics, the one with the most tokens first.
        topics: Vec<String> = part.topics,
        /// Number of blocks.
        blocks: u32 = part.blocks,
    }

    /// Shortened blocks of the window, without archived ones.
    ShortenedBlocks from sum: engine::ShortenedBlocks {
        /// Number of blocks.
        blocks: u32 = sum.blocks,
        /// Cost before they were shortened.
        tokens: Tokens = estimated(sum.tokens),
        /// Saved tokens.
        saved: Tokens = estimated(sum.saved),
    }

    /// A file that tool calls name.
    FileInWork from file: engine::FileInWork {
        /// Path, relative to the directory of the session if the file is below it.
        path: String = file.path,
        /// Block with the newest content: the last edit or the result of the last read; of other files the last result.
        block: u32 = file.block,
        /// True if the agent edited it.
        edited: bool = file.edited,
        /// Number of tool calls that name it.
        uses: u32 = file.uses,
    }

    /// A rule that the user stated.
    UserRule from rule: engine::Rule {
        /// Block with the rule.
        block: u32 = rule.block,
        /// Sentence, verbatim.
        text: String = rule.text,
    }

    /// A number of blocks at a level.
    LevelCount from pair: (model::Level, u32) {
        /// Level.
        level: Level = pair.0,
        /// Number of blocks.
        blocks: u32 = pair.1,
    }

    /// A number of blocks in a state.
    StateCount from pair: (model::State, u32) {
        /// State.
        state: State = pair.0,
        /// Number of blocks.
        blocks: u32 = pair.1,
    }

    /// A block in a list.
    BlockSummary from entry: engine::Entry {
        /// Block number.
        number: u32 = entry.number,
        /// Short description.
        label: String = entry.label,
        /// Cost.
        tokens: Tokens = entry.tokens,
        /// Position in the window.
        zone: Zone = entry.zone,
        /// Place where the block is pinned.
        pin: Option<Pin> = entry.pin,
        /// Reason why the block is stale.
        reason: Option<String> = entry.reason,
    }

    /// Archived blocks that follow each other in the file.
    ArchivedRun from run: engine::ArchivedRun {
        /// First block.
        first: u32 = run.first,
        /// Last block.
        last: u32 = run.last,
        /// Number of archived blocks.
        blocks: u32 = run.blocks,
        /// Cost before they were archived.
        tokens: Tokens = estimated(run.tokens),
        /// Reasons, each once.
        reasons: Vec<String> = run.reasons,
        /// Number of thinking blocks between them, whose signatures are kept.
        thinking: u32 = run.thinking,
    }

    /// Blocks that are not in the window, by cause.
    Hidden from hidden: model::Hidden {
        /// Before the last compaction.
        compacted: u32 = hidden.compacted,
        /// On abandoned branches.
        branched: u32 = hidden.branched,
        /// Cut off: before a row whose parent is not in the file.
        cut: u32 = hidden.cut,
        /// Of subagents.
        sidechain: u32 = hidden.sidechain,
        /// Dropped by the agent program.
        dropped: u32 = hidden.dropped,
    }
}
