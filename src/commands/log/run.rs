use super::Arguments;
use super::report::{LogReport, LogRow, TurnActions};
use crate::app::{CommandError, Env};

/// Lists the operations.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    env.print(&report(env, arguments)?)
}

/// Returns the operations, newest first, and the model's actions in each turn.
pub fn report(env: &Env, arguments: &Arguments) -> Result<LogReport, CommandError> {
    let found = env.find(arguments.session.as_deref())?;
    let history = env.history_of(&found)?;
    env.learn(&found);
    let (mut proposals, mut deferred) = (Vec::new(), Vec::new());
    if let Some(store) = env.existing_store()?
        && let Some(session) = store.find(&env.disk.resolve(&found.path)?)?
    {
        (proposals, deferred) = (store.proposals(session.key)?, store.deferred(session.key)?);
    }
    let row = |operation: &crate::model::Operation| LogRow::new(operation, &history);
    let mut operations: Vec<LogRow> = history.operations.iter().chain(&deferred).map(row).collect();
    operations.sort_by_key(|row| std::cmp::Reverse(row.id));
    let turns = TurnActions::collect(found.provider.agent(), &proposals, &history);
    Ok(LogReport { operations, snapshots: history.snapshots.clone(), turns })
}
