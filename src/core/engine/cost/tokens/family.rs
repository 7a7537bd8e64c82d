//! Token cost of a text in a model family.

use crate::engine::{counts, o200k};
use crate::model::{Block, BlockKind, Counts, Document, Image, ToolVerb};

/// The cost of a text in one family of models, per count, and the overhead of the API. The coefficients were fitted to bills
/// (`mod.rs` says to which).
#[derive(Debug, PartialEq)]
pub(super) struct Family {
    o200k: f64,
    character: f64,
    camel: f64,
    capital: f64,
    punctuation_run: f64,
    digit_run: f64,
    newline: f64,
    /// Around a response whose output tokens are known, and around one whose are estimated.
    pub(super) response: [f64; 2],
    tool_result: f64,
    /// For a result without content, in whose place the API sends a text.
    empty_result: f64,
    /// Around the texts of the user in one step.
    pub(super) user_text: f64,
    attachment: f64,
    plan_reminder: f64,
    /// Around a reminder that is not in the file, the plan apart.
    pub(super) hidden_reminder: f64,
    /// Around the notice of a background task.
    pub(super) notification: f64,
    /// Around a tool use, and for each member of its input.
    tool_use: (f64, f64),
    /// Factor of a plan that is one list: it is sent as JSON, with the names of the members of each entry.
    plan_list: f64,
    /// Thinking by the length of its signature: factor and offset.
    thinking: (f64, f64),
}

impl Default for &'static Family {
    fn default() -> Self {
        &OLD
    }
}

/// Models up to 4.6.
pub(super) static OLD: Family = Family {
    o200k: 0.56,
    character: 0.07,
    camel: 0.71,
    capital: 0.11,
    punctuation_run: 0.715,
    digit_run: 0.58,
    newline: 0.61,
    response: [-22.0, -17.0],
    tool_result: 39.0,
    empty_result: 14.0,
    user_text: 25.0,
    attachment: 12.0,
    plan_reminder: 4.0,
    hidden_reminder: 105.0,
    notification: 100.0,
    tool_use: (26.0, 12.4),
    plan_list: 1.13,
    // A token is 3.85 characters.
    thinking: (0.195, -33.0),
};

/// Models from 4.7 on.
pub(super) static NEW: Family = Family {
    o200k: 0.85,
    character: 0.103,
    camel: 0.93,
    capital: 0.50,
    punctuation_run: 0.71,
    digit_run: 0.0,
    newline: 0.25,
    response: [-32.0; 2],
    tool_result: 42.0,
    empty_result: 0.0,
    user_text: 34.0,
    attachment: 20.0,
    plan_reminder: -15.0,
    hidden_reminder: 143.0,
    notification: 145.0,
    tool_use: (31.0, 16.0),
    plan_list: 1.0,
    thinking: (0.274, -69.0),
};

/// OpenAI's models since GPT-4o: the count is exact, and little is added around it.
pub(super) static O200K: Family = Family {
    o200k: 1.0,
    character: 0.0,
    camel: 0.0,
    capital: 0.0,
    punctuation_run: 0.0,
    digit_run: 0.0,
    newline: 0.0,
    response: [2.0; 2],
    tool_result: 9.0,
    empty_result: 0.0,
    user_text: 4.0,
    attachment: 4.0,
    plan_reminder: 0.0,
    hidden_reminder: 0.0,
    notification: 0.0,
    tool_use: (10.0, 0.0),
    plan_list: 1.0,
    // Sealed thinking is 900 characters around 6.5 for each token.
    thinking: (0.154, -138.0),
};

/// Names of the models up to 4.6; every other Claude model counts as new.
const OLD_MODELS: &[&str] = &[
    "claude-3", "claude-opus-4-0", "claude-opus-4-1", "claude-opus-4-2", "claude-opus-4-5", "claude-opus-4-6",
    "claude-sonnet-4-0", "claude-sonnet-4-2", "claude-sonnet-4-5", "claude-sonnet-4-6", "claude-haiku-4-5",
];

/// Models that no longer see the thinking of a turn when the next prompt comes, by the beginning of their names up to a hyphen. The
/// bills of 158 turns show it; models that are not known keep it, as the newest of both makers do.
const FORGETFUL_MODELS: &[&str] = &[
    "claude-3", "claude-opus-4-0", "claude-opus-4-20250514", "claude-opus-4-1", "claude-sonnet-4-0", "claude-sonnet-4-20250514",
    "claude-sonnet-4-5", "claude-haiku-4-5", "gpt-5", "gpt-5.1", "gpt-5.2", "gpt-5.3", "gpt-5.4", "gpt-5.5", "codex-mini", "o1",
    "o3", "o4",
];

/// Returns true if the API drops the thinking of a turn when the next prompt comes.
pub(super) fn forgets(model: &str) -> bool {
    let named = |name: &&str| model.strip_prefix(*name).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'));
    FORGETFUL_MODELS.iter().any(named)
}

/// Tokens by which the requests to a model grow when its thinking is switched on, as shown by 22 switches of Opus 4.5: a skill or a
/// command of the client switches it off for a turn.
pub(super) fn thinking_switch(model: &str) -> f64 {
    if model.starts_with("claude-opus-4-5") { 163.0 } else { 0.0 }
}

/// Characters of thinking for each byte of its signature after the first ones.
const CHARACTERS: f64 = 0.75;
const SIGNATURE: f64 = 232.0;
/// The share of them that a text shows, from which on it is the thinking itself, and below which it says nothing about the rest.
const WHOLE: f64 = 0.9;
const LEAST_SHOWN: f64 = 0.2;
const AROUND_THINKING: f64 = 14.0;
/// The least bytes of a sealed summary. A shorter one is a mark in its place: the session was shared without it.
const SEALED_SUMMARY: f64 = 600.0;
/// Tokens of a summary that was taken out: the usual size in the bills of four sessions.
const USUAL_SUMMARY: f64 = 2100.0;
/// Tokens of a character of thinking for those of its summary: names and code are left out of summaries.
const DENSITY: f64 = 1.1;

/// Tokens of an image: one for 750 pixels after scaling the long side to 1568, at most 1600 (Anthropic, "Vision").
fn image_tokens(image: Image) -> f64 {
    let (width, height) = (f64::from(image.width), f64::from(image.height));
    if width * height == 0.0 {
        return 1600.0;
    }
    let scale = (1568.0 / width.max(height)).min(1.0);
    (width * height * scale * scale / 750.0).min(1600.0)
}

/// Tokens of a page of a document: its text and its image (Anthropic, "PDF support": 1,500 to 3,000 by its density). A session with
/// two documents of 40 pages was billed 1,501 for each.
const PAGE_TOKENS: f64 = 1500.0;
/// Bytes of a document whose pages cannot be counted that count as one.
const PAGE_BYTES: f64 = 50_000.0;
/// Bytes of compressed and of plain sound in a token: a tenth of a second at 128 kbit/s, and of 24,000 samples of two bytes each
/// second (OpenAI, "Audio").
const SOUND_BYTES: (f64, f64) = (1600.0, 4800.0);

/// Tokens of a document by its pages, of a sound by its length.
fn document_tokens(document: &Document) -> f64 {
    let bytes = document.bytes as f64;
    match &*document.media_type {
        "audio/wav" => bytes / SOUND_BYTES.1,
        sound if sound.starts_with("audio/") => bytes / SOUND_BYTES.0,
        _ if document.pages > 0 => f64::from(document.pages) * PAGE_TOKENS,
        _ => (bytes / PAGE_BYTES).ceil().max(1.0) * PAGE_TOKENS,
    }
}

impl Family {
    pub(super) fn for_model(model: &str) -> &'static Family {
        if OLD_MODELS.iter().any(|old| model.starts_with(old)) || !model.starts_with("claude") { &OLD } else { &NEW }
    }

    /// Returns true for the models up to 4.6, and for those of other makers.
    pub(super) fn is_old(&self) -> bool {
        std::ptr::eq(self, &OLD)
    }

    /// Returns true if the tokens of a text are exact, so that what remains of an output is its thinking.
    pub(super) fn is_exact(&self) -> bool {
        std::ptr::eq(self, &O200K)
    }

    fn text(&self, counts: &Counts) -> f64 {
        self.o200k * f64::from(counts.o200k)
            + self.character * f64::from(counts.characters)
            + self.camel * f64::from(counts.camels)
            + self.capital * f64::from(counts.capitals)
            + self.punctuation_run * f64::from(counts.punctuation_runs)
            + self.digit_run * f64::from(counts.digit_runs)
            + self.newline * f64::from(counts.newlines)
    }

    /// Returns the tokens of thinking by its signature and, if Claude shows it, also by its text or the density of its summary.
    fn thought(&self, block: &Block, content: f64) -> f64 {
        let signature = f64::from(block.signature_bytes);
        if block.kind == BlockKind::Other && signature < SEALED_SUMMARY {
            return USUAL_SUMMARY;
        }
        let sealed = (self.thinking.0 * signature + self.thinking.1).max(content.min(8.0));
        let shown = f64::from(block.counts.characters) / (CHARACTERS * (signature - SIGNATURE));
        let written = match () {
            () if self.is_exact() || block.kind == BlockKind::Other || shown < LEAST_SHOWN => return sealed,
            () if shown < WHOLE => content * DENSITY / shown,
            () => content + AROUND_THINKING,
        };
        (sealed + written) / 2.0
    }

    /// Returns the tokens of a block, without the constant added per step.
    pub(super) fn block(&self, block: &Block) -> f64 {
        let images: f64 = block.media.images.iter().copied().map(image_tokens).sum();
        let documents: f64 = block.media.documents.iter().map(document_tokens).sum();
        let content = self.text(&block.counts) + (images + documents);
        match block.kind {
            BlockKind::Thinking | BlockKind::Other if block.signature_bytes > 0 => self.thought(block, content),
            BlockKind::ToolUse => {
                let parameters = block.tool.as_ref().map_or(0, |tool| tool.parameters);
                let is_list = parameters == 1 && block.has_verb(ToolVerb::Plan);
                let factor = if is_list { self.plan_list } else { 1.0 };
                content * factor + self.tool_use.0 + self.tool_use.1 * f64::from(parameters)
            }
            BlockKind::ToolResult => content + self.tool_result + if content == 0.0 { self.empty_result } else { 0.0 },
            BlockKind::Attachment => {
                content
                    + match &*block.label {
                        "task_reminder" | "todo_reminder" => self.plan_reminder,
                        _ => self.attachment,
                    }
            }
            _ => content,
        }
    }
}

/// Returns an upper bound of the tokens of a short text in a model: its o200k tokens, times the largest factor that was measured in the
/// family of the model. Models that are not known count as the newest family.
pub fn most_tokens(text: &str, model: &str) -> f64 {
    let factor = match () {
        () if is_openai(model) => 1.0,
        () if OLD_MODELS.iter().any(|old| model.starts_with(old)) => 1.36,
        () => 1.74,
    };
    f64::from(o200k(text)) * factor
}

/// Returns the tokens of a text in a model: exact for the models of OpenAI, by the form of the family for others.
pub fn of_model(text: &str, model: &str) -> f64 {
    let family = if is_openai(model) { &O200K } else { Family::for_model(model) };
    family.text(&counts(text))
}

fn is_openai(model: &str) -> bool {
    ["gpt-", "o1", "o3", "o4"].iter().any(|start| model.starts_with(start))
}

/// Factor by which an [`estimate`] is raised, so that lists of names and numbers stay below it.
const CAUTION: f64 = 1.5;

/// Estimates the tokens of a text in the newest family, rounded up, without a vocabulary; for budgets.
///
/// The form was fitted on the steps of real sessions: 1.74 for each piece of a word (a hump of a camelCase name, a run of
/// capitals), 0.11 for each letter after its fourth, 0.70 for a digit, 0.69 for punctuation, 2.10 for a line feed. Letters outside
/// ASCII count 1.5 each. Names, numbers and paths need more tokens than the running text of that fit: hence the last factor.
pub fn estimate(text: &str) -> f64 {
    let mut cost = 0.0;
    let mut length = 0u32;
    let mut before = ' ';
    for character in text.chars() {
        let starts_piece = character.is_ascii_alphabetic()
            && !(before.is_ascii_alphabetic() && (before.is_ascii_uppercase() || !character.is_ascii_uppercase()));
        if character.is_ascii_alphabetic() {
            length = if starts_piece { 1 } else { length + 1 };
            // Capitals are rare in the vocabulary: each pair of them is a token of its own.
            let capital = !starts_piece && character.is_ascii_uppercase();
            cost += if starts_piece { 1.74 } else { 0.0 } + if length > 4 { 0.11 } else { 0.0 } + if capital { 0.4 } else { 0.0 };
        } else {
            cost += match character {
                ' ' => 0.0,
                '\n' => 2.10,
                '0'..='9' => 0.70,
                _ if character.is_ascii() => 0.69,
                _ => 1.5,
            };
        }
        before = character;
    }
    cost * CAUTION
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Role, Tool};

    #[test]
    fn an_estimate_is_at_least_the_count_of_the_vocabulary() {
        for text in [
            "[CONTEXT MANIFEST — 47 blocks, 29k/1M tokens, 3% capacity]",
            "Read src/new.py (120)",
            "plain words of prose, nothing else",
        ] {
            let counted = f64::from(o200k(text)) * 1.74;
            assert!(estimate(text) >= counted * 0.95, "{text}: {} of {counted}", estimate(text));
        }
    }

    #[test]
    fn an_image_costs_by_its_pixels() {
        for (width, height, tokens) in [(512, 512, 349.5), (0, 0, 1600.0), (8000, 8000, 1600.0), (3136, 100, 104.5)] {
            assert!((image_tokens(Image { width, height, bytes: 0, fault: None }) - tokens).abs() < 1.0, "{width}×{height}");
        }
    }

    #[test]
    fn a_document_costs_by_its_pages_and_a_sound_by_its_length() {
        for (media_type, pages, bytes, tokens) in [
            ("application/pdf", 40, 300_000, 60_000.0),
            ("application/pdf", 0, 120_000, 4500.0),
            ("", 0, 0, 1500.0),
            ("audio/mp3", 0, 160_000, 100.0),
            ("audio/wav", 0, 480_000, 100.0),
        ] {
            let document = Document { name: "".into(), media_type: media_type.into(), pages, bytes, fault: None };
            assert_eq!(document_tokens(&document), tokens, "{document:?}");
        }
    }

    #[test]
    fn a_plan_that_is_one_list_costs_the_names_of_its_members() {
        let cost = |parameters| {
            let mut block = Block::new(BlockKind::ToolUse, Role::Assistant);
            block.tool = Some(Box::new(Tool { parameters, ..Tool::new("Plan", ToolVerb::Plan, "") }));
            block.counts.o200k = 100;
            [&OLD, &O200K].map(|family| family.block(&block) - family.tool_use.0 - family.tool_use.1 * f64::from(parameters))
        };
        assert!((cost(1)[0] - 56.0 * 1.13).abs() < 0.1 && (cost(2)[0] - 56.0).abs() < 0.1, "{:?}", [cost(1), cost(2)]);
        assert_eq!((cost(1)[1], cost(2)[1]), (100.0, 100.0));
    }

    #[test]
    fn a_result_without_content_costs_the_text_in_its_place() {
        let mut block = Block::new(BlockKind::ToolResult, Role::ToolResult);
        assert_eq!([&OLD, &NEW, &O200K].map(|family| family.block(&block)), [39.0 + 14.0, 42.0, 9.0]);
        block.counts.o200k = 100;
        assert_eq!(OLD.block(&block), 39.0 + 56.0);
    }

    #[test]
    fn thinking_counts_by_its_text_and_its_signature() {
        // A signature of 1,000 characters of thinking: 272 tokens.
        let cost = |family: &Family, o200k, characters| {
            let mut block = Block::new(BlockKind::Thinking, Role::Thinking);
            (block.counts.o200k, block.counts.characters, block.signature_bytes) = (o200k, characters, 1565);
            family.block(&block).round()
        };
        let text = |o200k, characters| 0.56 * f64::from(o200k) + 0.07 * f64::from(characters);
        assert_eq!(cost(&OLD, 0, 0), 272.0);
        assert_eq!(cost(&OLD, 300, 1000), ((272.0 + text(300, 1000) + 14.0) / 2.0_f64).round());
        // Half of it is shown: a summary, whose density is that of the rest.
        assert_eq!(cost(&OLD, 150, 500), ((272.0 + text(150, 500) * 2.2) / 2.0_f64).round());
        assert_eq!(cost(&OLD, 30, 100), 272.0);
        assert_eq!(cost(&O200K, 300, 1000), 103.0);
    }

    #[test]
    fn a_sealed_summary_counts_by_its_length_or_if_it_was_taken_out_as_usual() {
        let cost = |bytes| {
            let mut block = Block::new(BlockKind::Other, Role::System);
            block.signature_bytes = bytes;
            O200K.block(&block).round()
        };
        assert_eq!([cost(10_000), cost(600), cost(8)], [1402.0, 0.0, 2100.0]);
    }

    #[test]
    fn families_go_by_the_name_of_the_model() {
        for (model, new) in
            [("claude-opus-4-5-20251101", false), ("claude-opus-4-7", true), ("claude-sonnet-5", true), ("qwen3:8b", false)]
        {
            assert_eq!(std::ptr::eq(Family::for_model(model), &NEW), new, "{model}");
        }
    }

    #[test]
    fn old_thinking_is_dropped_by_some_models() {
        for model in
            ["claude-sonnet-4-5-20250929", "claude-haiku-4-5", "claude-sonnet-4-20250514", "gpt-5-codex", "gpt-5", "gpt-5.4"]
        {
            assert!(forgets(model), "{model}");
        }
        for model in ["claude-opus-4-5-20251101", "claude-sonnet-4-6", "claude-sonnet-5", "claude-opus-5", "gpt-5.6-sol", "gpt-6"]
        {
            assert!(!forgets(model), "{model}");
        }
    }
}
