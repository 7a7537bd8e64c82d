//! The stages that a request passes. Each is a value, declared in a file of its own.

pub mod budget;
pub mod condensation;
pub mod emit;
pub mod ingest;
pub mod injection;
pub mod parse;
mod reorder;
pub mod tool;
pub mod zones;

use super::session::{Sessions, WireError};
use super::settings::{PipelineSettings, Setting, SettingValue};
use super::{RequestApi, RequestFacts};
use crate::provider::{ByteEdit, EditedBytes, RequestBody, RequestDocument};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use zones::Place;

/// The stages in the order of execution.
pub static STAGES: &[&Stage] = &[
    &ingest::STAGE,
    &tool::STAGE,
    &parse::STAGE,
    &budget::STAGE,
    &condensation::STAGE,
    &zones::STAGE,
    &injection::STAGE,
    &reorder::STAGE,
    &emit::STAGE,
];

/// A stage of the pipeline.
pub struct Stage {
    pub name: &'static str,
    /// The settings of the stage; the first one switches it.
    pub settings: &'static [Setting],
    /// Does its work on a request, and notes what it did.
    run: fn(&mut Passing<'_>, &mut RequestFacts) -> Result<(), WireError>,
    /// Returns its note on a request on which it did not run, or without another note; `None` if there is nothing to say.
    otherwise: fn(&PipelineSettings, &RequestFacts) -> Option<String>,
}

/// The work of a stage on a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RequestStage {
    /// Name of the stage of the pipeline.
    pub stage: String,
    /// Description.
    pub note: String,
}

impl RequestStage {
    pub fn of(stage: &Stage, note: impl Into<String>) -> RequestStage {
        RequestStage { stage: stage.name.to_owned(), note: note.into() }
    }
}

/// A request that can be changed, on its way through the stages.
pub(super) struct Passing<'p> {
    pub settings: &'p PipelineSettings,
    pub sessions: &'p mut Sessions,
    pub api: RequestApi,
    pub received: &'p RequestDocument<'p>,
    /// Milliseconds since 1970, UTC.
    pub now: i64,
    /// The body after the edits so far; `None` as it was received.
    pub changed: Option<EditedBytes>,
    /// Further edits of it, which are made together.
    pub edits: Vec<ByteEdit>,
    /// An edit of the received body on which no stage depends: it is made with others, so that the body is not parsed for it alone.
    pub offer: Option<ByteEdit>,
    pub offers_tool: bool,
    /// The body for the stages that work on its contents.
    pub body: Option<RequestBody<'p>>,
    /// The places in it that texts can follow, in order.
    pub places: Vec<Place>,
}

impl<'p> Passing<'p> {
    /// Makes the edits, and parses the body, which is copied if it differs from the received one; `None` if it is not valid.
    fn parse(&mut self) -> Option<RequestBody<'p>> {
        self.edit();
        match &self.changed {
            Some(changed) => RequestBody::parse_owned(self.api, changed.bytes(self.received.bytes), &mut self.sessions.known),
            None => RequestBody::parse(self.api, self.received, &mut self.sessions.known),
        }
    }

    fn edit(&mut self) {
        if !self.edits.is_empty() {
            let edits = std::mem::take(&mut self.edits).into_iter().chain(self.offer.take()).collect();
            let body = self.changed.take().unwrap_or_else(|| EditedBytes::new(self.received.bytes.len()));
            self.changed = Some(body.with(edits));
        }
    }

    /// Runs the stages. Returns the body to send, and if it offers the tool. `beside` is the work that was done beside earlier requests.
    pub fn run(mut self, beside: &[RequestStage], facts: &mut RequestFacts) -> Result<(Option<EditedBytes>, bool), WireError> {
        run(self.settings, beside, facts, |stage, facts| (stage.run)(&mut self, facts))?;
        Ok((self.changed, self.offers_tool))
    }
}

/// Runs the stages in order on the facts of a request; each has its notes before those of the next one.
pub(super) fn run<E>(
    settings: &PipelineSettings,
    beside: &[RequestStage],
    facts: &mut RequestFacts,
    mut work: impl FnMut(&Stage, &mut RequestFacts) -> Result<(), E>,
) -> Result<(), E> {
    facts.stages.clear();
    for stage in STAGES {
        let count = facts.stages.len();
        facts.stages.extend(beside.iter().filter(|note| note.stage == stage.name).cloned());
        work(stage, facts)?;
        if facts.stages.len() == count {
            let is_off = stage.settings.first().is_some_and(|switch| !settings.is_on(switch));
            let idle = || if is_off { "switched off in the settings" } else { "nothing to do" }.to_owned();
            // After a failure only what was done is noted.
            let note = (stage.otherwise)(settings, facts).or_else(|| facts.problem.is_none().then(idle));
            note.into_iter().for_each(|note| facts.note(stage, note));
        }
    }
    Ok(())
}
