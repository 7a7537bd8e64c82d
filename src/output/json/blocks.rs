//! Blocks, and the reports that list them.

use super::words::{BlockKind, Level, Outdated, Pin, Role, State, Zone};
use super::{Moment, Number, Time, Tokens, estimated};
use crate::{engine, model, output};
use serde::Serialize;

json_objects! {
    /// A block with everything that is known about it except its content.
    Block from block: output::BlockRow {
        /// Block number, from 1 in file order.
        number: u32 = block.number,
        /// Author.
        role: Role = block.role,
        /// Kind of content.
        kind: BlockKind = block.kind,
        /// Name of the tool.
        tool: Option<String> = block.tool,
        /// Path, command or question given to the tool, or the kind of an attachment.
        target: String = block.target,
        /// Short description.
        label: String = block.label,
        /// Cost of the block while it is in the window.
        tokens: Tokens = block.tokens,
        /// Size of the content.
        bytes: u64 ["bytes"] = block.bytes,
        /// Time at which the block was written.
        time: Option<Time> = block.timestamp.map(Moment),
        /// Turn of the block; 0 before the first prompt.
        turn: u32 = block.turn,
        /// Response of the model that the block belongs to or precedes.
        step: u32 = block.step,
        /// Age of the block.
        age_turns: u32 ["turns"] = block.age_turns,
        /// Position in the window.
        zone: Zone = block.zone,
        /// Estimate of how well models use content at this position, from 0 to 1.
        relevance: Number = block.relevance,
        /// Level of reduction.
        level: Level = block.level,
        /// Heat, from 0 to 1: how much the block is in use.
        heat: Number = block.heat,
        /// Number of later blocks of the agent that refer to the block.
        references: u32 = block.references,
        /// Turn of the last reference.
        last_referenced_turn: Option<u32> = block.last_referenced_turn,
        /// Turns since the block was written or last referenced.
        stale_turns: u32 ["turns"] = block.stale_turns,
        /// Responses of the model since the block was written or last referenced.
        stale_steps: u32 ["steps"] = block.stale_steps,
        /// State in the lifecycle.
        state: State = block.state,
        /// Reason why the block is stale.
        stale_reason: Option<String> = block.stale_reason,
        /// Strongest reason why the block is outdated.
        outdated: Option<Outdated> = block.outdated,
        /// Block that has the current content instead.
        outdated_by: Option<u32> = block.outdated_by,
        /// All reasons why the block is outdated, the strongest first.
        outdated_reasons: Vec<OutdatedReason> = block.outdated_reasons,
        /// Estimated turns without a reference until the block goes stale: 0 if it is stale, null if it never will be.
        turns_left: Option<u32> ["turns"] = block.turns_left,
        /// Rule of the lifecycle that led to the state.
        state_rule: String = block.state_rule,
        /// Place where the block is pinned.
        pin: Option<Pin> = block.pin,
        /// True if the user focused the block.
        focused: bool = block.focused,
        /// True if the block is a tool result that reports an error.
        error: bool = block.error,
        /// Images in the block.
        images: Vec<Image> = block.media.images,
        /// Documents in the block, and other data that is not text.
        documents: Vec<Document> = block.media.documents,
        /// File with the whole content, if the block is a preview.
        spilled_to: Option<String> = block.spilled_to,
        /// Topic.
        topic: String = block.topic,
        /// Keywords.
        keywords: Vec<String> = block.keywords,
        /// Beginning of the content.
        preview: String = block.preview,
        /// Row of the session file, from 0.
        row: u32 = block.row,
        /// Index of the block in its row, from 0.
        index: u32 = block.index,
    }

    /// A reason why a block is outdated.
    OutdatedReason from outdated: output::OutdatedReason {
        /// Reason.
        reason: Outdated = outdated.reason,
        /// Block that has the current content.
        by: u32 = outdated.by,
    }

    /// The size of an image; 0 by 0 if its header does not have it.
    Image from image: model::Image {
        /// Width.
        width: u32 ["pixels"] = image.width,
        /// Height.
        height: u32 ["pixels"] = image.height,
        /// Size of its base64 data; 0 if it is not in the session.
        bytes: u64 ["bytes"] = image.bytes,
    }

    /// A document, or other data that is not text.
    Document from document: model::Document {
        /// Title or file name; empty if it is not known.
        name: String = &*document.name,
        /// Media type; empty if it is not known.
        media_type: String = &*document.media_type,
        /// Pages; 0 if they cannot be counted.
        pages: u32 ["pages"] = document.pages,
        /// Size of the file; 0 if it is not in the session.
        bytes: u64 ["bytes"] = document.bytes,
    }

    /// A list of blocks.
    Blocks from report: output::BlocksReport {
        /// Blocks, in the requested order.
        blocks: Vec<Block> = report.blocks,
        /// Total cost of the blocks.
        tokens: Tokens = report.tokens,
    }

    /// The content of blocks.
    Show from report: output::ShowReport {
        /// Blocks in file order.
        blocks: Vec<ShownBlock> = report.blocks,
    }

    /// The conversation in the window.
    Transcript from report: output::TranscriptReport {
        /// Messages in the order in which they are sent.
        messages: Vec<Message> = report.messages,
    }

    /// A message of the conversation.
    Message from message: output::MessageText {
        /// Position in the request, from 1.
        id: u32 = message.id,
        /// Role in the request: `user`, `assistant` or `system`.
        role: String = message.role,
        /// Author: the model, the user or the agent program.
        from: String = message.from,
        /// Time at which the message was written.
        time: Option<Time> = message.timestamp.map(Moment),
        /// Cost.
        tokens: Tokens = message.tokens,
        /// Parts.
        parts: Vec<MessagePart> = message.parts,
    }

    /// A part of a message.
    MessagePart from part: output::PartText {
        /// Block number; null for content that the agent program generates on resume.
        block: Option<u32> = part.block,
        /// Type of the part, such as `text`, `tool_use Read` or `tool_result`.
        kind: String = part.kind,
        /// Author.
        role: Role = part.role,
        /// Cost.
        tokens: Tokens = part.tokens,
        /// Estimated turns without a reference until the block goes stale; null if it never will be.
        turns_left: Option<u32> ["turns"] = part.turns_left,
        /// Place where the block is pinned.
        pin: Option<Pin> = part.pin,
        /// Level of reduction.
        level: Level = part.level,
        /// Content as it is sent.
        content: String = part.content,
    }

    /// The explanation of a block: its state, references, levels and history.
    Explain from report: output::ExplainReport {
        /// The block.
        block: Block = report.block,
        /// Reasons for its state, and the references to it.
        explanation: Explanation = report.explanation,
        /// Content that each level would keep; empty if the block cannot be changed.
        levels: Vec<LevelPreview> = report.levels,
        /// Decisions about the block.
        decisions: Vec<Decision> = report.decisions,
        /// Operations that changed the block, the oldest first.
        history: Vec<HistoryEntry> = report.history,
    }

    /// The reasons for the state of a block.
    Explanation from explanation: engine::Explanation {
        /// State in the lifecycle.
        state: State = explanation.state,
        /// Rule of the lifecycle that led to the state; `arrived` if none applied yet.
        rule: String = explanation.rule,
        /// Condition of the rule.
        when: String = explanation.when,
        /// Rules that led to the state, in order.
        path: Vec<String> = explanation.path,
        /// Facts that meet the condition.
        because: Vec<String> = explanation.because,
        /// Heat of the block and its causes.
        heat: String = explanation.heat,
        /// Later blocks of the agent that refer to the block, the surest first.
        references: Vec<Reference> = explanation.referred,
        /// Estimated turns without a reference until the block goes stale: 0 if it is stale, null if it never will be.
        turns_left: Option<u32> ["turns"] = explanation.turns_left,
    }

    /// A reference to a block.
    Reference from referred: engine::Referred {
        /// Number of the block that refers.
        number: u32 = referred.number,
        /// Short description of that block.
        label: String = referred.label,
        /// Response of the model that it belongs to.
        step: u32 = referred.step,
        /// Responses of the model since.
        steps_ago: u32 ["steps"] = referred.steps_ago,
        /// Weight of the reference: 0.33 is the threshold, 1 and more is certain.
        weight: Number = referred.weight,
        /// Names and lines that both blocks contain, the rarest first.
        names: Vec<String> = referred.names,
    }

    /// The part of a block that a level keeps.
    LevelPreview from kept: engine::LevelKept {
        /// Level.
        level: Level = kept.level,
        /// Preset that chooses this level; null for the level itself.
        preset: Option<String> = kept.preset,
        /// Cost of the content that is kept.
        tokens: Tokens = estimated(kept.tokens),
        /// Content that is kept; null if all of it is.
        content: Option<String> = kept.content,
        /// Reason why all of it is kept.
        why: Option<String> = kept.why,
    }

    /// A decision about a block.
    Decision from decision: output::Decision {
        /// Kind: `pin`, `focus`, `protection` or `change`.
        what: String = decision.what,
        /// True if the decision keeps the block unchanged.
        keeps: bool = decision.keeps,
        /// Reason.
        why: String = decision.why,
    }

    /// An operation that changed a block.
    HistoryEntry from entry: output::HistoryEntry {
        /// Operation in the log.
        operation: u32 = entry.operation,
        /// Time of the operation.
        time: Time = Moment(entry.time),
        /// Command.
        command: String = entry.command,
        /// Effect on the block.
        what: String = entry.what,
        /// Operation that undid it.
        undone_by: Option<u32> = entry.undone_by,
    }

    /// Recalled content.
    Recall from report: output::RecallReport {
        /// Query.
        query: String = report.query,
        /// Blocks: in file order if they were named, else the best match first.
        blocks: Vec<RecalledBlock> = report.blocks,
        /// Number of sessions that were searched; null if it was only the current one.
        searched_sessions: Option<u64> = report.searched.map(|sessions| sessions as u64),
        /// Number of sessions with the words that were not read, because there were enough blocks.
        unread_sessions: u64 = report.unread,
    }

    /// A recalled block.
    RecalledBlock from block: output::RecalledBlock {
        /// Id of the session that the block belongs to.
        session: String = block.session,
        /// Block number.
        number: u32 = block.number,
        /// Short description.
        label: String = block.label,
        /// Level of reduction in the session.
        level: Level = block.level,
        /// Time of the block; if the session has no file, of the operation that removed it.
        time: Option<Time> = block.time.map(Moment),
        /// Turn; null if the session has no file.
        turn: Option<u32> = block.turn,
        /// Command that prints all of it; null if the block was named, or the session has no file.
        command: Option<String> = block.command,
        /// Score of the match; null if the block was named.
        score: Option<Number> = block.score,
        /// Content: all of it if the block was named, else the parts that match.
        content: String = block.content,
    }
}

/// A block and its content.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct ShownBlock {
    /// The block.
    #[serde(flatten)]
    block: Block,
    /// Content as the model sees it.
    content: String,
}

impl super::ToJson for output::ShownBlock {
    type Json = ShownBlock;

    fn to_json(&self) -> ShownBlock {
        ShownBlock { block: self.block.to_json(), content: self.content.clone() }
    }
}
