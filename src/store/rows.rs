//! Converts operations, edits and marks to rows of the database and back.

use super::database::{SessionKey, StoredSession};
use super::values::StoredPath;
use crate::model::{
    Actor, BlockChange, Delta, JsonText, Key, LoggedEdit, LoggedHunk, Mark, MarkAddress, MarkKind, Operation, OperationId,
    OperationKind, OperationState, RowAddress, Slot,
};
use rusqlite::{Connection, Row, params};

/// Inserts an operation with its edits and marks; its values are stored before.
pub(super) fn insert(connection: &Connection, key: SessionKey, operation: &Operation) -> rusqlite::Result<()> {
    connection.execute(
        "INSERT INTO operations (session, number, kind, state, time, command, actor, inverts, tokens_before, tokens_after,
         last_row, after_bytes, after_hash, base_bytes, base_hash, point)
         VALUES (?1, ?2, ?3, ?4, ?5, seal(?6), ?7, ?8, ?9, ?10, seal(?11), ?12, seal(?13), ?14, seal(?15), ?16)",
        params![
            key.0,
            operation.id,
            operation.kind.name(),
            operation.state.name(),
            operation.time,
            operation.command,
            operation.actor.name(),
            operation.inverts,
            operation.tokens_before,
            operation.tokens_after,
            operation.last_row.map(|key| key.0.to_le_bytes()),
            operation.after_bytes.map(|bytes| bytes as i64),
            operation.after_hash,
            operation.delta.as_ref().map(|delta| delta.base_bytes as i64),
            operation.delta.as_ref().map(|delta| delta.base_hash),
            operation.point,
        ],
    )?;
    for (hunk, place) in operation.delta.iter().flat_map(|delta| &delta.hunks).zip(0i64..) {
        connection
            .prepare_cached("INSERT INTO hunks VALUES (?1, ?2, ?3, ?4, seal(?5), seal(?6))")?
            .execute(params![key.0, operation.id, place, hunk.offset as i64, hunk.before, hunk.after,])?;
    }
    for (edit, place) in operation.edits.iter().zip(0i64..) {
        let change = edit.change.as_ref().and_then(|change| serde_json::to_string(change).ok());
        connection
            .prepare_cached("INSERT INTO edits VALUES (?1, ?2, ?3, seal(?4), ?5, ?6, seal(?7), seal(?8), seal(?9))")?
            .execute(params![
                key.0,
                operation.id,
                place,
                edit.row.id.0.to_le_bytes(),
                edit.row.occurrence,
                edit.slot.to_text(),
                edit.before,
                edit.after,
                change,
            ])?;
    }
    for (mark, place) in operation.marks.iter().zip(0i64..) {
        connection
            .prepare_cached("INSERT INTO marks VALUES (?1, ?2, ?3, seal(?4), ?5, ?6, seal(?7), ?8, seal(?9), seal(?10), ?11)")?
            .execute(params![
                key.0,
                operation.id,
                place,
                mark.address.row.id.0.to_le_bytes(),
                mark.address.row.occurrence,
                mark.address.index,
                mark.address.content.0.to_le_bytes(),
                mark.kind.name(),
                mark.before,
                mark.after,
                mark.number,
            ])?;
    }
    Ok(())
}

/// The columns of a session, for [`stored`].
pub(super) const SESSION: &str = "SELECT id, provider, open(session), open(path), open(project) FROM sessions";

pub(super) fn stored(row: &Row<'_>) -> rusqlite::Result<StoredSession> {
    Ok(StoredSession {
        key: SessionKey(row.get(0)?),
        provider: row.get(1)?,
        session: row.get(2)?,
        path: row.get::<_, StoredPath>(3)?.0,
        project: row.get(4)?,
    })
}

pub(super) fn key(row: &Row<'_>, column: usize) -> rusqlite::Result<Key> {
    Ok(Key(u128::from_le_bytes(row.get(column)?)))
}

/// Parses a word of the store; an unknown one means that the store is damaged.
pub(super) fn word<T>(row: &Row<'_>, column: usize, from_name: fn(&str) -> Option<T>) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    let unknown = || rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, text.clone().into());
    from_name(&text).ok_or_else(unknown)
}

pub(super) fn operation(row: &Row<'_>) -> rusqlite::Result<Operation> {
    Ok(Operation {
        id: row.get(0)?,
        kind: word(row, 1, OperationKind::from_name)?,
        state: word(row, 2, OperationState::from_name)?,
        time: row.get(3)?,
        command: row.get(4)?,
        actor: word(row, 5, Actor::from_name)?,
        inverts: row.get(6)?,
        edits: Vec::new(),
        marks: Vec::new(),
        tokens_before: row.get(7)?,
        tokens_after: row.get(8)?,
        last_row: row.get::<_, Option<[u8; 16]>>(9)?.map(|bytes| Key(u128::from_le_bytes(bytes))),
        after_bytes: row.get::<_, Option<i64>>(10)?.map(|bytes| bytes as u64),
        after_hash: row.get(11)?,
        delta: match (row.get::<_, Option<i64>>(12)?, row.get(13)?) {
            (Some(bytes), Some(base_hash)) => Some(Delta { base_bytes: bytes as u64, base_hash, hunks: Vec::new() }),
            _ => None,
        },
        point: row.get(14)?,
    })
}

pub(super) fn hunk(row: &Row<'_>) -> rusqlite::Result<(OperationId, LoggedHunk)> {
    let hunk = LoggedHunk { offset: row.get::<_, i64>(1)? as u64, before: row.get(2)?, after: row.get(3)? };
    Ok((row.get(0)?, hunk))
}

pub(super) fn edit(row: &Row<'_>) -> rusqlite::Result<(OperationId, LoggedEdit)> {
    let change: Option<String> = row.get(6)?;
    let edit = LoggedEdit {
        row: RowAddress { id: key(row, 1)?, occurrence: row.get(2)? },
        slot: word(row, 3, Slot::parse)?,
        before: row.get(4)?,
        after: row.get(5)?,
        change: change.and_then(|change| serde_json::from_str::<BlockChange>(&change).ok()),
    };
    Ok((row.get(0)?, edit))
}

pub(super) fn mark(row: &Row<'_>) -> rusqlite::Result<(OperationId, Mark)> {
    let address =
        MarkAddress { row: RowAddress { id: key(row, 1)?, occurrence: row.get(2)? }, index: row.get(3)?, content: key(row, 4)? };
    let mark =
        Mark { address, kind: word(row, 5, MarkKind::from_name)?, before: row.get(6)?, after: row.get(7)?, number: row.get(8)? };
    Ok((row.get(0)?, mark))
}
