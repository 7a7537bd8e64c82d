use super::Arguments;
use super::report::{PackReport, PackedSection, PackedUnit};
use crate::app::{CommandError, Env, ErrorKind};
use crate::commands::search;
use crate::commands::summary::{contents, originals};
use crate::engine::TurnRequestError;
use crate::engine::pack::{OtherSession, Section, Unit, Wanted, in_section, left_out, needed, pack};
use crate::engine::summary::Told;
use crate::output::{days, plural, short_id, times_of_day};
use crate::text::cut::{cut, one_line};
use crate::workspace::{self, FindError, Found, Listed, Project};
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
/// Errors: the budget is too small, the query has no words, or the session cannot be read.
pub fn report(env: &Env, arguments: &Arguments) -> Result<PackReport, CommandError> {
    let query = arguments.query.as_deref().map(search::parse).transpose()?;
    let found = env.find(arguments.session.as_deref())?;
    let clock = times_of_day(&env.style);
    let sessions = if arguments.across { others(env, &found, &days(&env.style))? } else { Vec::new() };
    let workspace = env.read(found)?;
    let reading = &workspace.reading;
    let turns = arguments.turns.clone().unwrap_or_default();
    let existing: Vec<u32> = reading.turns.iter().map(|turn| turn.number).collect();
    let missing = turns.without(&existing);
    if !missing.is_empty() {
        return Err(TurnRequestError::Missing { turns: missing, existing: existing.into_iter().collect() }.into());
    }
    let wanted = Wanted { query, turns, form: arguments.form.unwrap_or_default(), sessions, seed: arguments.seed };
    let sources = originals(env, &workspace, &needed(reading, &wanted))?;
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
                Ok(workspace) => Told::new(&workspace.reading, &contents(env, &workspace)?).session().summary.text,
                Err(_) => String::new(),
            },
        };
        others.push(OtherSession { header, summary });
    }
    Ok(others)
}
