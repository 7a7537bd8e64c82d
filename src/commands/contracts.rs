//! The schemas of the JSON of all reports, which `docs/json.md` is generated from.
//!
//! A key is a field of a report: a schema whose fields are renamed or change their type gets the next number.

use super::blame::BlameReport;
use super::blocks::BlocksReport;
use super::check::CheckReport;
use super::explain::ExplainReport;
use super::export::ExportReport;
use super::fork::ForkReport;
use super::gc::GcReport;
use super::git_hook::GitHooksReport;
use super::hook::HookReport;
use super::import::ImportReport;
use super::inbox::InboxReport;
use super::install::InstallReport;
use super::keep::{KeepForgetReport, KeepListReport, KeepReport, KeepRestoreReport, KeepStatusReport};
use super::log::LogReport;
use super::manifest::ManifestReport;
use super::memory::{
    MemoryChangeReport, MemoryComposeReport, MemoryDiffReport, MemoryExportReport, MemoryLearnReport, MemoryListReport,
    MemoryLogReport, MemoryReviewReport, MemorySearchReport, MemoryStatsReport, MemoryTreesReport, MemoryWhyReport,
};
use super::model::InstructionsReport;
use super::obey::{ObeyReport, TellReport};
use super::pack::PackReport;
use super::preset::PresetReport;
use super::proxy::{ProxyRequestReport, ProxyRequestsReport, ProxyStatusReport};
use super::recall::RecallReport;
use super::search::SearchReport;
use super::sessions::SessionsReport;
use super::show::ShowReport;
use super::snapshot::SnapshotReport;
use super::stage::StageReport;
use super::status::StatusReport;
use super::statusline::StatusLineReport;
use super::summary::SummaryReport;
use super::topics::TopicsReport;
use super::transcript::TranscriptReport;
use super::usage::UsageReport;
use super::util::{AccuracyReport, PlaceholdersReport};
use super::verify::VerifyReport;
use super::watch::WatchEvent;
use crate::output::Report;
use crate::output::{BulkReport, ChangeReport, DiffReport, ErrorReport};
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

macro_rules! reports {
    ($($report:ident)*) => {
        vec![$(contract::<$report>($report::SCHEMA)),*]
    };
}

/// Returns the schemas of all reports and of the events of `aperture watch`, sorted by name.
pub fn contracts() -> Vec<Contract> {
    let mut contracts = reports! {
        AccuracyReport BlameReport InstructionsReport BlocksReport BulkReport ChangeReport CheckReport DiffReport ExplainReport
        ErrorReport ExportReport ForkReport GcReport GitHooksReport HookReport ImportReport InboxReport InstallReport
        KeepForgetReport KeepListReport KeepReport KeepRestoreReport KeepStatusReport
        LogReport ManifestReport MemoryChangeReport MemoryComposeReport MemoryDiffReport MemoryExportReport
        MemoryLearnReport MemoryListReport MemoryLogReport MemoryReviewReport MemorySearchReport MemoryStatsReport
        MemoryTreesReport MemoryWhyReport ObeyReport PackReport PlaceholdersReport PresetReport ProxyRequestReport
        ProxyRequestsReport ProxyStatusReport RecallReport SearchReport SessionsReport ShowReport SnapshotReport StageReport
        StatusLineReport StatusReport SummaryReport TellReport TopicsReport TranscriptReport UsageReport
        VerifyReport
    };
    contracts.push(contract::<WatchEvent<'_>>(WatchEvent::SCHEMA));
    contracts.sort_by_key(|contract| contract.name);
    contracts
}

fn contract<T: JsonSchema>(name: &'static str) -> Contract {
    let generator = SchemaSettings::default().for_serialize().into_generator();
    Contract { name, schema: generator.into_root_schema_for::<T>() }
}
