use super::accuracy::{AccuracyReport, SessionAccuracy};
use super::placeholders::PlaceholdersReport;
use super::{Arguments, Tool};
use crate::app::{CommandError, Env, refusal};
use crate::commands::model::InstructionsReport;
use crate::engine::{self, tokens};
use crate::model::{BlockNumber, History, Level, OperationKind};
use crate::workspace::{self, PlanError, Workspace, shorten};
use std::collections::BTreeMap;

/// Runs a tool.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    match &arguments.tool {
        Tool::Instructions => env.print(&InstructionsReport::new(&env.model)),
        Tool::Accuracy { files } => {
            let mut report = AccuracyReport::default();
            each(env, files, &mut |name, workspace| {
                let cuts = tokens::cuts(&workspace.reading.session, &|session| workspace.provider.window(session));
                report.add(SessionAccuracy::new(name, &workspace.reading, cuts));
                Ok(())
            })?;
            report.finish();
            env.print(&report)
        }
        Tool::Placeholders { files } => {
            let mut report = PlaceholdersReport::default();
            each(env, files, &mut |_, workspace| {
                report.sessions += 1;
                let mut draft = workspace.draft(None, env.style.now.as_millisecond())?;
                let wanted: BTreeMap<BlockNumber, Level> =
                    workspace.reading.window.blocks.iter().map(|number| (*number, Level::Archived)).collect();
                draft.numbered.extend(wanted.keys().copied());
                shorten(&mut draft, &wanted, "", None)?;
                let cache = env.cache();
                let drafted = draft.finish(OperationKind::Change, "", None, &|hash| cache.count(hash), true)?;
                for difference in drafted.differences.iter().filter(|difference| difference.level_after == Level::Archived) {
                    let block = workspace.reading.block(difference.number);
                    if let (Some(block), Some(line)) = (block, placeholder(&difference.after)) {
                        report.add(block.kind.name(), engine::o200k(line));
                    }
                }
                Ok(())
            })?;
            report.finish();
            env.print(&report)
        }
    }
}

/// Returns the placeholder of an archived block, at any position in its content.
fn placeholder(content: &str) -> Option<&str> {
    let mut lines = content.match_indices("[@").map(|(start, _)| &content[start..]);
    lines.find_map(|line| line.find(']').map(|end| &line[..=end]).filter(|line| line.contains(" | archived from ")))
}

/// Opens sessions one after the other: the given files, or all on this machine. Sessions that cannot be read are reported and
/// skipped.
fn each(
    env: &Env,
    files: &[String],
    look: &mut dyn FnMut(String, &Workspace<'_>) -> Result<(), PlanError>,
) -> Result<(), CommandError> {
    let found = if files.is_empty() {
        let all = workspace::find_all(env.disk, &env.places, &mut |path, error| env.note_skipped(path, &error));
        all.into_iter().map(|(found, _)| found).collect()
    } else {
        let mut found = Vec::new();
        for file in files {
            match workspace::find(env.disk, &env.places, &env.directory, Some(file)) {
                Ok(session) => found.push(session),
                Err(error) => env.note(&error.to_string()),
            }
        }
        found
    };
    if found.is_empty() {
        return Err(refusal!("no session among the files"));
    }
    let cache = env.cache();
    for found in found {
        let name = found.path.display().to_string();
        let looked = match Workspace::open(env.disk, cache, History::default(), found, &env.settings, &|_| true) {
            Ok(workspace) => look(name.clone(), &workspace).map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        if let Err(error) = looked {
            env.note(&format!("skipped {name}: {error}"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::placeholder;

    #[test]
    fn the_line_is_found_in_the_input_of_a_tool() {
        let content = r#"{"path":"a","content":"[@7 | archived from 3k | 9 lines]\n[… x]"}"#;
        assert_eq!(placeholder(content), Some("[@7 | archived from 3k | 9 lines]"));
        assert_eq!(placeholder("text"), None);
    }
}
