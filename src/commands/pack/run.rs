use super::Arguments;
use super::report::{PackReport, PackedSection, PackedUnit};
use crate::app::{CommandError, Env, ErrorKind};
use crate::commands::search;
use crate::engine::pack::{OtherSession, Section, Source, Sources, Unit, Wanted, in_section, left_out, needed, pack};
use crate::engine::{SelectorError, summary};
use crate::model::{Block, BlockNumber, Role};
use crate::output::{plural, printable, short_id};
use crate::text::cut::{cut, one_line};
use crate::workspace::{self, FindError, Found, Listed, PlanError, Project, Workspace};
use rayon::prelude::*;
use std::path::Path;

/// Other sessions of a project, those with a summary, and characters of a title.
const SESSIONS: usize = 200;
const SUMMARIZED: usize = 5;
const TITLE_CHARACTERS: usize = 80;

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
    let found = env.find(arguments.session.as_deref())?;
    let zone = (env.style.zone)();
    let format = |moment: i64, format: &str| {
        let time = jiff::Timestamp::from_millisecond(moment).map(|time| time.to_zoned(zone.clone()));
        time.map(|time| time.strftime(format).to_string()).unwrap_or_default()
    };
    let clock = |moment: i64| format(moment, "%H:%M");
    let sessions = if arguments.across { others(env, &found, &|moment| format(moment, "%Y-%m-%d"))? } else { Vec::new() };
    let workspace = env.read(found)?;
    let reading = &workspace.reading;
    let turns = arguments.turns.iter().flat_map(|range| range.0..=range.1).collect();
    let wanted = Wanted { query, turns, form: arguments.form, sessions, seed: arguments.seed };
    let last = reading.turns.len() as u32;
    if let Some(turn) = wanted.turns.iter().find(|turn| **turn > last) {
        return Err(CommandError::new(ErrorKind::Refused, SelectorError::NoSuchTurn { number: *turn, last }));
    }
    let sources = sources(env, &workspace, &needed(reading, &wanted))?;
    let packed = pack(reading, &sources, &wanted, arguments.budget, &clock)
        .map_err(|error| CommandError::new(ErrorKind::Refused, error))?;
    let of_section = |section: Section| {
        let units = in_section(&packed.units, section);
        let left: Vec<Unit> = packed.left_out.iter().filter(|unit| unit.section == section).cloned().collect();
        PackedSection {
            section,
            tokens: units.iter().fold(0.0, |sum, (unit, _)| sum + unit.tokens),
            units: units.into_iter().map(|(unit, _)| PackedUnit::new(unit)).collect(),
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
        branches: packed.branches,
        format: arguments.format,
        explains: arguments.explain,
    })
}

/// Returns the other sessions of the project of a session, the newest first.
fn others(env: &Env, found: &Found, day: &dyn Fn(i64) -> String) -> Result<Vec<OtherSession>, CommandError> {
    let project = Project::of_session(env.disk, found);
    let mut skip = |path: &Path, error: std::io::Error| env.note(&format!("skipped {}: {error}", path.display()));
    let listed = workspace::list(env.disk, &env.totals(), &env.places, Some(&project), false, &mut skip);
    let listed: Vec<Listed> = match listed {
        Err(FindError::NoSessions(_)) => Vec::new(),
        listed => listed?.into_iter().flatten().collect(),
    };
    let is_other = |listed: &Listed| !listed.found.location.subagent && listed.found.path != found.path;
    let mut listed: Vec<Listed> = listed.into_iter().filter(is_other).collect();
    listed.sort_by(|a, b| b.last_written().cmp(&a.last_written()).then_with(|| a.found.path.cmp(&b.found.path)));
    listed.truncate(SESSIONS);
    workspace::read_titles(env.disk, &env.totals(), &mut listed.iter_mut().collect::<Vec<_>>());
    let mut others = Vec::new();
    for (at, listed) in listed.into_iter().enumerate() {
        let (totals, id) = (&listed.totals, short_id(&listed.found.location.id));
        let title = one_line(&totals.title);
        let turns = plural(u64::from(totals.turns), "turn");
        let header = format!("{id} {} {} · {turns}", day(listed.last_written()), cut(&title, TITLE_CHARACTERS));
        let summary = match () {
            () if at >= SUMMARIZED => String::new(),
            () => match env.read(listed.found) {
                Ok(workspace) => {
                    let numbers = summary::needed(&workspace.reading);
                    let sources = sources(env, &workspace, &numbers)?;
                    let contents = sources.into_iter().map(|(number, source)| (number, source.text)).collect();
                    summary::summarize(&workspace.reading, &contents, &|_| String::new()).1.summary.text
                }
                Err(_) => String::new(),
            },
        };
        others.push(OtherSession { header, summary });
    }
    Ok(others)
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
