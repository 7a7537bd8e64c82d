//! The stages that a request passes, in order, and their settings.

use crate::model::words;
use serde::{Deserialize, Serialize};

words! {
    /// A stage of the pipeline.
    #[derive(Deserialize)]
    pub enum Stage {
        /// Reads the body and names its session.
        Ingest = "ingest",
        /// Parses the body to elements and contents.
        Parse = "parse",
        /// Finds the places where texts can be added.
        Zones = "zones",
        /// Takes the texts that wait for the next prompt.
        Injection = "injection",
        /// Replaces contents by those of the operation log.
        Condensation = "condensation",
        /// Compares the window with its budget.
        Budget = "budget",
        /// Adds each text at its zone.
        Reorder = "reorder",
        /// Sends the body.
        Emit = "emit",
    }
}

/// The work of a stage on a request, and its reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StageNote {
    pub stage: Stage,
    /// One line for people.
    pub note: String,
}

/// The switches of the stages, and the settings within a stage: `[pipeline]` in the settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PipelineSettings {
    /// Bodies are read; otherwise they pass as streams.
    pub ingest: bool,
    /// Bodies are parsed; otherwise nothing in them is changed.
    pub parse: bool,
    /// Texts pinned to the top are added at the beginning of the window; otherwise all texts follow the newest prompt.
    pub zones: bool,
    /// Texts are added after new prompts. Those that were added before stay.
    pub injection: bool,
    /// The manifest is one of these texts.
    pub manifest: bool,
    /// The blocks that the user selects, and the pinned blocks that a compaction dropped, are such texts.
    pub selection: bool,
    /// The memories that a new session should know are such a text, unless the client has it from a hook.
    pub memory: bool,
    /// The headers of the messages and parts since the last prompt, and the pruned blocks, are such a text.
    pub headers: bool,
    /// The tool of aperture is offered to the model.
    pub tool: bool,
    /// Contents are sent as the operation log has them.
    pub edits: bool,
    /// Stale blocks are shortened by themselves.
    pub condense: bool,
    /// A window over its budget is shortened by itself.
    pub budget: bool,
    /// The longest time until the savings of such a change must exceed its cost, in turns; also the shortest time between two.
    pub pay_back_turns: u32,
    /// Lifetime of the entries of the prompt cache, in seconds; `None` if it follows from the bills of the client.
    pub cache_seconds: Option<u64>,
    /// Texts are added in a fixed order; otherwise in the order in which they arrive.
    pub reorder: bool,
    /// Changed bodies are sent; otherwise each body is sent as the client wrote it.
    pub emit: bool,
}

impl Default for PipelineSettings {
    fn default() -> PipelineSettings {
        PipelineSettings {
            ingest: true,
            parse: true,
            zones: true,
            injection: true,
            manifest: true,
            selection: true,
            memory: true,
            headers: false,
            tool: true,
            edits: true,
            condense: false,
            budget: false,
            pay_back_turns: 5,
            cache_seconds: None,
            reorder: true,
            emit: true,
        }
    }
}

impl PipelineSettings {
    /// Returns true if a stage is switched on.
    pub fn is_on(&self, stage: Stage) -> bool {
        match stage {
            Stage::Ingest => self.ingest,
            Stage::Parse => self.parse,
            Stage::Zones => self.zones,
            Stage::Injection => self.injection,
            Stage::Condensation => self.edits,
            Stage::Budget => self.budget,
            Stage::Reorder => self.reorder,
            Stage::Emit => self.emit,
        }
    }

    /// Returns a note for each stage of a request, in order: a stage without one had nothing to do or is switched off.
    pub fn complete(&self, notes: Vec<StageNote>) -> Vec<StageNote> {
        let mut complete = Vec::with_capacity(Stage::ALL.len());
        for stage in Stage::ALL {
            let own = notes.iter().filter(|note| note.stage == stage).cloned();
            let count = complete.len();
            complete.extend(own);
            if complete.len() == count && stage != Stage::Emit {
                let note = if self.is_on(stage) { "nothing to do" } else { "switched off in the settings" };
                complete.push(StageNote { stage, note: note.to_owned() });
            }
        }
        complete
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_stage_has_a_note_in_order() {
        let settings = PipelineSettings::default();
        let note = |stage, note: &str| StageNote { stage, note: note.to_owned() };
        let complete =
            settings.complete(vec![note(Stage::Condensation, "a"), note(Stage::Parse, "b"), note(Stage::Condensation, "c")]);
        let found: Vec<String> = complete.iter().map(|note| format!("{}: {}", note.stage.name(), note.note)).collect();
        assert_eq!(
            found,
            [
                "ingest: nothing to do",
                "parse: b",
                "zones: nothing to do",
                "injection: nothing to do",
                "condensation: a",
                "condensation: c",
                "budget: switched off in the settings",
                "reorder: nothing to do"
            ]
        );
    }
}
