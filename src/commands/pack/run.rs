use super::Arguments;
use super::report::{PackReport, PackedSection, PackedUnit};
use crate::app::{CommandError, Env, ErrorKind};
use crate::commands::search;
use crate::engine::pack::{Section, Source, Sources, Unit, left_out, needed, pack};
use crate::model::{Block, BlockNumber, Role};
use crate::output::printable;
use crate::workspace::{PlanError, Workspace};
use rayon::prelude::*;

/// Prints the pack.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    env.print(&report(env, arguments)?)
}

/// Returns the pack.
///
/// # Errors
///
/// The budget is too small, the query has no words, or the session cannot be read.
pub fn report(env: &Env, arguments: &Arguments) -> Result<PackReport, CommandError> {
    let query = arguments.query.as_deref().map(search::parse).transpose()?;
    let workspace = env.open(arguments.session.as_deref())?;
    let reading = &workspace.reading;
    let sources = sources(env, &workspace, &needed(reading, query.is_some()))?;
    let zone = (env.style.zone)();
    let clock = |moment: i64| {
        let time = jiff::Timestamp::from_millisecond(moment).map(|time| time.to_zoned(zone.clone()));
        time.map(|time| time.strftime("%H:%M").to_string()).unwrap_or_default()
    };
    let packed = pack(reading, &sources, query.as_ref(), arguments.budget, &clock)
        .map_err(|error| CommandError::new(ErrorKind::Refused, error))?;
    let of_section = |section: Section| {
        let is_in = |unit: &&Unit| unit.section == section;
        let mut units: Vec<&Unit> = packed.units.iter().filter(is_in).collect();
        units.sort_by_key(|unit| unit.place());
        let left: Vec<Unit> = packed.left_out.iter().filter(is_in).cloned().collect();
        PackedSection {
            section,
            tokens: units.iter().fold(0.0, |sum, unit| sum + unit.tokens),
            units: units.iter().map(|unit| PackedUnit { block: unit.block, text: unit.text.clone() }).collect(),
            left_out: left_out(&left).pop(),
        }
    };
    let sections = Section::ALL.map(of_section).into_iter();
    Ok(PackReport {
        session: reading.session.id.clone(),
        model: reading.model.clone(),
        query: arguments.query.clone(),
        budget: arguments.budget,
        tokens: packed.tokens as f64,
        sections: sections.filter(|section| !section.units.is_empty() || section.left_out.is_some()).collect(),
        text: packed.text,
        format: arguments.format,
        explains: arguments.explain,
    })
}

/// Returns the originals of blocks, without credentials and control characters. A block whose original is unknown has its current
/// content.
fn sources(env: &Env, workspace: &Workspace<'_>, numbers: &[BlockNumber]) -> Result<Sources, CommandError> {
    let reading = &workspace.reading;
    let clean = |text: &str| printable(&reading.known.mask(text)).into_owned();
    let source = |block: &Block, content: &str, readable: &str| Source {
        target: clean(block.target()),
        text: clean(if block.role == Role::ToolUse { content } else { readable }),
        words: block.words_in(content).map(clean).collect(),
    };
    let current = |numbers: &[BlockNumber]| -> Result<Vec<(BlockNumber, Source)>, CommandError> {
        let contents = numbers.par_iter().zip(workspace.contents(numbers)?);
        Ok(contents
            .filter_map(|(number, content)| Some((*number, source(reading.block(*number)?, &content.sent, &content.readable))))
            .collect())
    };
    if workspace.history.operations.is_empty() {
        return Ok(current(numbers)?.into_iter().collect());
    }
    let store = env.existing_store()?;
    let draft = workspace.draft(store.as_ref(), env.style.now.as_millisecond())?;
    let mut sources = Sources::default();
    for number in numbers {
        match draft.original(*number) {
            Ok(original) => drop(sources.insert(*number, source(&original.block, &original.content, &original.readable))),
            Err(PlanError::NoOriginal(_)) => sources.extend(current(&[*number])?),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(sources)
}
