//! `aperture memory export`: writes the active entries as a section of an instruction file.

use super::report::MemoryExportReport;
use super::run::{Memories, word};
use crate::app::{CommandError, ErrorKind, files};
use crate::engine::memory::{section, with_section};
use crate::model::{Memory, MemoryScope, MemoryState};
use crate::provider::PROVIDERS;
use anyhow::{Context, anyhow};
use std::path::Path;

/// Writes the section, or prints it.
pub fn run(memories: &Memories<'_>, format: &str, output: Option<&Path>, is_dry_run: bool) -> Result<(), CommandError> {
    let env = memories.env;
    let tree = memories.read(MemoryScope::Project)?;
    let active: Vec<&Memory> = tree.memories().filter(|memory| memory.state == MemoryState::Active).collect();
    let section = section(&active);
    let mut report = MemoryExportReport { file: None, memories: active.len(), changed: false, dry_run: is_dry_run, section };
    let Some(output) = output else {
        if let Some(name) = instructions_file(format) {
            let option = &memories.option;
            env.note(&format!("to write it: aperture memory{option} export --format {format} --output {name}"));
        }
        return env.print(&report);
    };
    let path = env.directory.join(output);
    let failed = |what: &'static str| move |error: anyhow::Error| CommandError::refused(error).hint(what);
    let before = files::text(env.disk, &path)
        .with_context(|| format!("cannot read {}", path.display()))
        .map_err(failed("name a text file that you may read"))?;
    let after = with_section(before.as_deref().unwrap_or_default(), &report.section)
        .with_context(|| format!("cannot replace the section in {}", path.display()))
        .map_err(failed("delete these comment lines in the file, then export again"))?;
    report.file = Some(path.display().to_string());
    report.changed = before.as_deref() != Some(&after);
    if report.changed && !is_dry_run {
        files::replace(env.disk, &path, before.as_deref().map(str::as_bytes), after.as_bytes(), files::Mode::Plain).map_err(
            |error| {
                let kind =
                    if error.kind() == std::io::ErrorKind::ResourceBusy { ErrorKind::Conflict } else { ErrorKind::Refused };
                let error = anyhow::Error::new(error).context(anyhow!("cannot write {}", path.display()));
                let parent = path.parent().unwrap_or(Path::new("."));
                CommandError::new(kind, error).hint(format!("check that you may write there: ls -ld {}", word(parent)))
            },
        )?;
    }
    env.print(&report)
}

/// Returns the name of the file that a format is for: `agents-md` names the file with the letters `agents` and the ending `md`.
fn instructions_file(format: &str) -> Option<&'static str> {
    let files = PROVIDERS.iter().filter_map(|provider| provider.instructions_file());
    files.into_iter().find(|file| file.to_lowercase().replace('.', "-") == format)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::memory::FORMATS;

    #[test]
    fn each_format_is_a_file_of_a_client() {
        assert!(FORMATS.iter().all(|format| instructions_file(format).is_some()));
    }
}
