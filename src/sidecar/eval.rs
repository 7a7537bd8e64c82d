//! Measures on the user's own sessions if vectors improve search: known items are titles, and the session that each is the title of.

use super::worker::Workers;
use crate::app::{CommandError, Env, SidecarSettings, misuse, refusal};
use crate::commands::search::{known_items, rank_of};
use crate::commands::sidecar::{SidecarEvalReport, WorkOptions};

const MOST_SEARCHES: usize = 100;
/// The number of searches from which on the result counts, and the least gain of the mean reciprocal rank.
const LEAST_SEARCHES: usize = 8;
const LEAST_GAIN: f64 = 0.005;

/// Searches for sessions by their titles with and without vectors, and records if vectors improve search.
/// Errors: no model for vectors is configured, another worker runs, or the sessions cannot be searched.
pub fn eval(env: &Env, settings: &SidecarSettings) -> Result<SidecarEvalReport, CommandError> {
    let Some(model) = &settings.embedding_model else {
        return Err(
            misuse!("no model for vectors is configured").hint("to use one: aperture config set sidecar.embedding_model NAME")
        );
    };
    let workers = Workers::new(env, settings)?;
    let items = known_items(env, MOST_SEARCHES)?;
    // The first searches queue the turns that have no vector yet.
    for (query, session) in &items {
        rank_of(env, query, session, true)?;
    }
    let end = workers.run(WorkOptions::default(), true)?;
    if let Some(error) = end.error {
        return Err(refusal!(error).hint("for its state: aperture sidecar"));
    }
    let mut report = SidecarEvalReport { searches: items.len() as u64, ..SidecarEvalReport::default() };
    let share = 1.0 / items.len().max(1) as f64;
    for (query, session) in &items {
        let before = rank_of(env, query, session, false)?;
        let after = rank_of(env, query, session, true)?;
        report.first_before += u64::from(before == Some(1));
        report.first_after += u64::from(after == Some(1));
        report.mean_reciprocal_rank_before += share * before.map_or(0.0, |rank| 1.0 / rank as f64);
        report.mean_reciprocal_rank_after += share * after.map_or(0.0, |rank| 1.0 / rank as f64);
    }
    let gain = report.mean_reciprocal_rank_after - report.mean_reciprocal_rank_before;
    report.improves_search = items.len() >= LEAST_SEARCHES && gain >= LEAST_GAIN;
    env.sidecar_store()?.record_improvement(model, report.improves_search)?;
    Ok(report)
}
