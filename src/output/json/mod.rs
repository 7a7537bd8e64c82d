//! The JSON of reports: types that exist only for `--json`, and the conversions into them.
//!
//! A key of the JSON is a field here, so that a field of a report, of the model or of the engine can be renamed without
//! changing the contract. `docs/json.md` is generated from these types; a schema whose fields change gets the next number.

#[macro_use]
mod convert;
mod blocks;
mod bulk;
mod changes;
mod commands;
mod manifest;
mod memory;
mod proxy;
mod sessions;
mod setup;
mod store;
mod summary;
mod usage;
mod util;
mod watch;
mod words;

pub use convert::{Number, Time, ToJson, Tokens};
pub use memory::{MemoryHitLine, MemoryLine};

use super::Report;
use convert::{Moment, estimated, measured};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};

/// A documented schema: its name, such as `aperture.blocks/2`, and the JSON Schema of its objects without the key `schema`.
#[derive(Clone, Debug)]
pub struct Contract {
    /// The value of the key `schema`.
    pub name: &'static str,
    /// The JSON Schema of the other keys.
    pub schema: Schema,
}

/// Returns the schemas of all reports and of the events of `aperture watch`, sorted by name.
pub fn contracts() -> Vec<Contract> {
    let mut contracts = vec![
        report::<super::AccuracyReport>(),
        report::<super::InstructionsReport>(),
        report::<super::BlocksReport>(),
        report::<super::BulkReport>(),
        report::<super::ChangeReport>(),
        report::<super::CheckReport>(),
        report::<super::DiffReport>(),
        report::<super::ExplainReport>(),
        report::<super::ErrorReport>(),
        report::<super::ExportReport>(),
        report::<super::ForkReport>(),
        report::<super::GcReport>(),
        report::<super::GitHooksReport>(),
        report::<super::HookReport>(),
        report::<super::ImportReport>(),
        report::<super::InboxReport>(),
        report::<super::InstallReport>(),
        report::<super::LogReport>(),
        report::<super::ManifestReport>(),
        report::<super::MemoryChangeReport>(),
        report::<super::MemoryComposeReport>(),
        report::<super::MemoryDiffReport>(),
        report::<super::MemoryExportReport>(),
        report::<super::MemoryLearnReport>(),
        report::<super::MemoryListReport>(),
        report::<super::MemoryLogReport>(),
        report::<super::MemoryReviewReport>(),
        report::<super::MemorySearchReport>(),
        report::<super::MemoryStatsReport>(),
        report::<super::MemoryTreesReport>(),
        report::<super::MemoryWhyReport>(),
        report::<super::ObeyReport>(),
        report::<super::PlaceholdersReport>(),
        report::<super::PresetReport>(),
        report::<super::ProxyRequestReport>(),
        report::<super::ProxyRequestsReport>(),
        report::<super::ProxyStatusReport>(),
        report::<super::RecallReport>(),
        report::<super::SessionsReport>(),
        report::<super::ShowReport>(),
        report::<super::SnapshotReport>(),
        report::<super::StageReport>(),
        report::<super::StatusLineReport>(),
        report::<super::StatusReport>(),
        report::<super::SummaryReport>(),
        report::<super::TellReport>(),
        report::<super::TranscriptReport>(),
        report::<super::UsageReport>(),
        report::<super::VerifyReport>(),
        contract::<watch::Event>(super::WatchEvent::SCHEMA),
    ];
    contracts.sort_by_key(|contract| contract.name);
    contracts
}

fn report<R: Report>() -> Contract {
    contract::<R::Json>(R::SCHEMA)
}

fn contract<T: JsonSchema>(name: &'static str) -> Contract {
    let generator = SchemaSettings::default().for_serialize().into_generator();
    Contract { name, schema: generator.into_root_schema_for::<T>() }
}
