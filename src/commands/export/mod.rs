//! `aperture export`: writes the originals and the log of a session, or its course for other programs, to one file.

mod forms;
mod trace;

use super::{BulkOptions, report, status};
use crate::app::{CommandError, Env, files, misuse, refusal};
use crate::commands::bulk::{self, BulkSession, Visited};
use crate::commands::stored::stored;
use crate::fsio::read_head;
use crate::output::{BulkOutcome, BulkReport, BulkRow, Paint, Report, Style, bytes, plural, short_id};
use crate::store::{Export, Recipient, Store, StoredSession, encrypt_for};
use crate::workspace;
use anyhow::Context;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = help_text!("export"))]
pub struct Arguments {
    /// Session: a path, an id or an id prefix
    #[arg(id = "named", value_name = "SESSION", conflicts_with_all = ["all_sessions", "project"])]
    pub session: Option<String>,
    /// File to write; with --all or --project, the directory of the files
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Form of the file
    #[arg(long, value_name = "FORMAT", default_value = "aperture")]
    #[serde(serialize_with = "crate::commands::json::choice")]
    pub format: ExportFormat,
    /// Encrypt it for a person, with age: a recipient such as age1…
    #[arg(long, value_name = "RECIPIENT")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub to: Vec<String>,
    /// Replace the file if it exists
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    #[serde(flatten)]
    pub bulk: BulkOptions,
}

/// The forms of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ExportFormat {
    /// Originals and log, for import.
    Aperture,
    /// Conversation to read, calls of tools folded.
    Markdown,
    /// Page in one file, as of report.
    Html,
    /// Trajectory (ATIF).
    Atif,
    /// OpenTelemetry trace, without any text.
    OtlpJson,
}

impl ExportFormat {
    fn name(self) -> String {
        clap::ValueEnum::to_possible_value(&self).map(|value| value.get_name().to_owned()).unwrap_or_default()
    }
}

/// Returns the bytes of an export file, encrypted if it is for somebody.
fn packed(file: Vec<u8>, to: &[String]) -> Result<Vec<u8>, CommandError> {
    let recipient = |text: &String| {
        let unknown = || misuse!("'{text}' is not a recipient of age");
        Recipient::parse(text).ok_or_else(|| unknown().hint("write the line age1… that age-keygen prints"))
    };
    let recipients = to.iter().map(recipient).collect::<Result<Vec<_>, _>>()?;
    Ok(if recipients.is_empty() { file } else { encrypt_for(&recipients, &file)? })
}

/// The result of an export.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct ExportReport {
    /// Format: `aperture`, `markdown`, `html`, `atif` or `otlp-json`.
    pub format: String,
    pub session: String,
    pub file: String,
    /// Size of the file.
    #[schemars(extend("unit" = "bytes"))]
    pub bytes: u64,
    /// Number of operations; 0 in other formats than `aperture`, as the next two.
    pub operations: usize,
    /// Original contents in the file.
    pub values: usize,
    pub snapshots: usize,
    /// True if the file is encrypted with age.
    pub is_encrypted: bool,
}

impl Report for ExportReport {
    const SCHEMA: &str = "aperture.export/1";

    fn text(&self, style: &Style) -> String {
        if self.format != "aperture" {
            let (session, file) = (short_id(&self.session), crate::output::printable(&self.file));
            let note = if self.is_encrypted { "encrypted; to read it: age -d -i KEY FILE" } else { "credentials are masked" };
            let size = bytes(self.bytes);
            return format!("exported {session} as {} to {file} ({size})\n{}\n", self.format, style.paint(Paint::Dim, note));
        }
        let (operations, values) = (plural(self.operations, "operation"), plural(self.values, "value"));
        let note = match self.is_encrypted {
            true => "it is encrypted; to read it: age -d -i KEY FILE > NEW, then aperture import NEW",
            false => "it contains the archived originals, secrets included; to read it: aperture import FILE",
        };
        format!(
            "exported {operations} and {values} of {} to {} ({})\n{}\n",
            self.session,
            crate::output::printable(&self.file),
            bytes(self.bytes),
            style.paint(Paint::Dim, note)
        )
    }
}

/// Writes the export file, or one for each session.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    if arguments.format != ExportFormat::Aperture {
        return run_form(env, arguments);
    }
    if arguments.bulk.is_bulk() {
        return run_bulk(env, arguments);
    }
    let nothing = || {
        refusal!("export writes what undo needs, and aperture has not changed this session: there is nothing to write")
            .hint("to share the conversation: aperture export --format html --output session.html")
            .hint("to print it: aperture transcript")
            .hint("to list the changed sessions: aperture verify --all")
    };
    let Some(store) = env.existing_store()? else {
        env.find(arguments.session.as_deref())?;
        return Err(nothing());
    };
    let stored = stored(env, &store, arguments.session.as_deref())?.ok_or_else(nothing)?;
    settle(env, &store, &stored)?;
    let path = new_file(env, arguments)?;
    let export = export(&store, &stored)?.ok_or_else(nothing)?;
    let report = ExportReport {
        operations: export.history.operations.len(),
        values: export.values.len(),
        snapshots: export.history.snapshots.len(),
        ..ExportReport::default()
    };
    finish(env, arguments, &path, export.pack()?, ExportReport { session: export.session, ..report })
}

fn new_file(env: &Env, arguments: &Arguments) -> Result<PathBuf, CommandError> {
    let path = env.directory.join(&arguments.output);
    if !arguments.force && env.disk.identify(&path).is_ok() {
        return Err(refusal!("{} exists", path.display()).hint("to replace it: --force"));
    }
    Ok(path)
}

/// Writes the file of one session, and prints the report with what is known of the file.
fn finish(env: &Env, arguments: &Arguments, path: &Path, file: Vec<u8>, report: ExportReport) -> Result<(), CommandError> {
    let file = packed(file, &arguments.to)?;
    write(env, path, &file)?;
    env.print(&ExportReport {
        format: arguments.format.name(),
        file: path.display().to_string(),
        bytes: file.len() as u64,
        is_encrypted: !arguments.to.is_empty(),
        ..report
    })
}

/// Writes the course of one session for another program.
fn run_form(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    if arguments.bulk.is_bulk() {
        return Err(
            misuse!("--format {} writes one session", arguments.format.name()).hint("name it by its id: aperture sessions")
        );
    }
    let path = new_file(env, arguments)?;
    let workspace = env.open(arguments.session.as_deref())?;
    let exported = || -> Result<forms::Exported<'_>, CommandError> {
        let steps = trace::steps(env, &workspace)?;
        let (reading, client) = (&workspace.reading, workspace.provider.name());
        Ok(forms::Exported { reading, client, title: status::title(reading), steps })
    };
    let json = |value: serde_json::Value| format!("{}\n", env.gate.json(&value.to_string()).into_string().trim_end());
    let text = match arguments.format {
        ExportFormat::Html => report::page_of_session(env, &workspace.path)?,
        ExportFormat::Markdown | ExportFormat::Aperture => env.gate.text(&exported()?.markdown(), false).into_string(),
        ExportFormat::Atif => json(exported()?.atif()),
        ExportFormat::OtlpJson => json(exported()?.otlp()),
    };
    let report = ExportReport { session: workspace.location.id.clone(), ..ExportReport::default() };
    finish(env, arguments, &path, text.into_bytes(), report)
}

/// Writes one file for each session with operations, in a directory.
fn run_bulk(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    let Some(store) = env.existing_store()? else {
        bulk::listed(env, &arguments.bulk)?;
        return env.print(&BulkReport::new("export", false, Vec::new()));
    };
    let sessions = bulk::stored(env, &store, &arguments.bulk)?;
    let directory = env.directory.join(&arguments.output);
    if env.disk.identify(&directory).is_ok() && env.disk.list(&directory).is_err() {
        return Err(
            misuse!("{} is not a directory", directory.display()).hint("with --all or --project, --output is a directory")
        );
    }
    let mut ids: BTreeMap<String, usize> = BTreeMap::new();
    sessions.iter().for_each(|(_, stored)| *ids.entry(file_name(&stored.session)).or_default() += 1);
    let visited = bulk::visit_with(env, sessions, &mut |env, session, stored| {
        let name = file_name(&stored.session);
        // Two files can have the same id, such as a session and its copy.
        let path = blake3::hash(stored.path.as_os_str().as_encoded_bytes()).to_hex();
        let name = if ids[&name] == 1 { name } else { format!("{name}-{}", &path[..8]) };
        export_to(env, &store, (session, &stored), &directory.join(format!("{name}.aperture")), arguments)
    })?;
    let exit = bulk::outcome(&visited);
    env.print(&BulkReport::new("export", false, visited.into_iter().map(Visited::into_row).collect()))?;
    exit
}

/// Exports a session to a file, unless the file has this content already, and returns its row.
fn export_to(
    env: &Env,
    store: &Store,
    (session, stored): (&BulkSession, &StoredSession),
    path: &Path,
    arguments: &Arguments,
) -> Result<BulkRow, CommandError> {
    settle(env, store, stored)?;
    let Some(export) = export(store, stored)? else {
        return Ok(bulk::unchanged(session, Some("no operations on this session".to_owned())));
    };
    let file = packed(export.pack()?, &arguments.to)?;
    let is_there = env.disk.identify(path).is_ok();
    let is_same = is_there && read_head(env.disk, path, file.len() + 1).is_ok_and(|known| known == file);
    if is_there && !is_same && !arguments.force {
        return Err(refusal!("{} has another content; --force replaces it", path.display()));
    }
    let row = if is_same {
        bulk::unchanged(session, Some("the file has this content already".to_owned()))
    } else {
        let made = files::make_directory(path.parent().unwrap_or(path));
        let made = made.with_context(|| format!("cannot create the directory of {}", path.display()));
        made.map_err(CommandError::refused)?;
        write(env, path, &file)?;
        BulkRow { outcome: BulkOutcome::Written, ..bulk::row(session) }
    };
    Ok(BulkRow { bytes: Some(file.len() as u64), file: Some(path.display().to_string()), ..row })
}

/// Returns the name of the export file of a session, without its ending. An id can come from another machine, so only plain
/// characters of it are used.
fn file_name(id: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '_' };
    id.chars().map(plain).collect()
}

/// Settles an interrupted command, so that the export has its outcome.
fn settle(env: &Env, store: &Store, stored: &StoredSession) -> Result<(), CommandError> {
    if !store.prepared(stored.key)?.is_empty() && env.disk.identify(&stored.path).is_ok() {
        let _lock = env.lock(&stored.path)?;
        workspace::settle(env.disk, store, &stored.path)?;
    }
    Ok(())
}

/// Returns the record of a session; `None` if it has no operations: a snapshot of nothing but the original holds nothing.
fn export(store: &Store, stored: &StoredSession) -> Result<Option<Export>, CommandError> {
    let export = store.export(stored)?;
    Ok((!export.history.operations.is_empty()).then_some(export))
}

fn write(env: &Env, path: &Path, file: &[u8]) -> Result<(), CommandError> {
    let written = files::write_private(env.disk, path, file).with_context(|| format!("cannot write {}", path.display()));
    written.map_err(CommandError::refused)
}
