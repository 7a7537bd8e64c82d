//! The schemas of the JSON of all reports, which `docs/json.md` is generated from.
//!
//! A key is a field of a report: a schema whose fields are renamed or change their type gets the next number.

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
    ($($module:ident: $($report:ident)*;)*) => {
        vec![$($(contract::<super::$module::$report>(super::$module::$report::SCHEMA)),*),*]
    };
}

/// Returns the schemas of all reports and of the events of `aperture watch`, sorted by name.
pub fn contracts() -> Vec<Contract> {
    let mut contracts = reports! {
        blame: BlameReport; blocks: BlocksReport; config: ConfigReport; check: CheckReport; convert: ConvertReport; doctor: DoctorReport; explain: ExplainReport; export: ExportReport;
        fork: ForkReport; gc: GcReport; git_hook: GitHooksReport; hook: HookReport; import: ImportReport; inbox: InboxReport;
        install: InstallReport; keep: KeepForgetReport KeepListReport KeepReport KeepRestoreReport KeepStatusReport;
        log: LogReport; manifest: ManifestReport;
        memory: MemoryChangeReport MemoryComposeReport MemoryDiffReport MemoryExportReport MemoryLearnReport MemoryListReport
        MemoryLogReport MemoryReviewReport MemorySearchReport MemoryStatsReport MemoryTreesReport MemoryWhyReport;
        model: InstructionsReport; obey: ObeyReport TellReport; pack: PackReport; preset: PresetReport;
        proxy: ProxyRequestReport ProxyRequestsReport ProxyStatusReport; recall: RecallReport; report: HtmlReport; search: SearchReport;
        sessions: SessionsReport; show: ShowReport; sidecar: SidecarEvalReport SidecarQueueReport SidecarReport;
        snapshot: SnapshotReport; stage: StageReport; status: StatusReport;
        statusline: StatusLineReport; store: StoreReport StoreStatusReport; summary: SummaryReport; timeline: TimelineReport; topics: TopicsReport; transcript: TranscriptReport;
        usage: UsageReport; util: AccuracyReport PlaceholdersReport; verify: VerifyReport;
    };
    contracts.extend([
        contract::<BulkReport>(BulkReport::SCHEMA),
        contract::<ChangeReport>(ChangeReport::SCHEMA),
        contract::<DiffReport>(DiffReport::SCHEMA),
        contract::<ErrorReport>(ErrorReport::SCHEMA),
        contract::<WatchEvent<'_>>(WatchEvent::SCHEMA),
    ]);
    contracts.sort_by_key(|contract| contract.name);
    contracts
}

fn contract<T: JsonSchema>(name: &'static str) -> Contract {
    let generator = SchemaSettings::default().for_serialize().into_generator();
    Contract { name, schema: generator.into_root_schema_for::<T>() }
}
