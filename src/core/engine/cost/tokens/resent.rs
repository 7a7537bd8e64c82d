//! Texts that clients before 2.1.90 send again after a compaction without recording them.
//!
//! Such a client gives the model the files again that it used last, each unless it is too large, and the skills that it loaded. The
//! rule was derived from 27 compactions: with it, 19 estimates of the window after them are within 10 % of the bill, without it 9.

use super::family::Family;
use crate::model::{BlockKind, Event, Flags, Key, RowKind, Session};
use rustc_hash::{FxHashMap, FxHashSet};

/// The number of files that are sent again.
const FILES: usize = 5;
/// Tokens above which a file is not sent again, and above which a skill is cut.
const LIMIT: f64 = 5000.0;
/// Bytes of a file, with its line numbers, in a token.
const BYTES_PER_TOKEN: f64 = 3.3;

/// Returns the tokens that a client that records no attachments sends again after the last compaction before `end`, an index of a
/// row.
pub(super) fn resent(session: &Session, end: usize, family: &Family) -> f64 {
    let Some(boundary) = session.rows[..end].iter().rposition(|row| row.kind == RowKind::Boundary) else { return 0.0 };
    // The files that the client has read or written, by path: the row of the last use, and the tokens.
    let mut files: FxHashMap<&str, (usize, f64)> = FxHashMap::default();
    let mut skills: FxHashSet<Key> = FxHashSet::default();
    let mut loaded = 0.0;
    let mut next = 0;
    for (place, row) in session.rows[..=boundary].iter().enumerate() {
        let blocks = &session.blocks[next..next + row.blocks as usize];
        next += row.blocks as usize;
        if row.sidechain {
            continue;
        }
        if row.kind == RowKind::Boundary {
            let sent = sent(&files);
            files.retain(|path, _| sent.iter().any(|(sent, _)| sent == path));
            continue;
        }
        match row.event.as_deref() {
            Some(Event::CompactSummary) => continue,
            Some(Event::File { bytes }) => {
                let path = blocks.iter().find_map(|block| block.tool.as_ref()).map(|tool| &*tool.target);
                files.extend(path.map(|path| (path, (place, *bytes as f64 / BYTES_PER_TOKEN))));
            }
            _ => {}
        }
        if row.flags.any(Flags::META) {
            let texts = blocks.iter().filter(|block| block.ground && block.kind == BlockKind::Text);
            loaded += texts.filter(|block| skills.insert(block.hash)).map(|block| family.block(block).min(LIMIT)).sum::<f64>();
        }
    }
    loaded + sent(&files).iter().map(|(_, tokens)| tokens).sum::<f64>()
}

/// Returns those of the files used last that are small enough to be sent again.
fn sent<'a>(files: &FxHashMap<&'a str, (usize, f64)>) -> Vec<(&'a str, f64)> {
    let mut last: Vec<(usize, &str, f64)> = files.iter().map(|(path, (place, tokens))| (*place, *path, *tokens)).collect();
    last.sort_unstable_by(|one, other| other.0.cmp(&one.0).then(one.1.cmp(other.1)));
    last.into_iter().take(FILES).filter(|(.., tokens)| *tokens <= LIMIT).map(|(_, path, tokens)| (path, tokens)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::family::OLD;
    use super::*;
    use crate::model::{Block, Role, Row, Tool, ToolVerb};

    /// Returns the tokens that are sent again after a compaction of a session that used the given files, by their bytes.
    fn tokens(uses: &[(&str, u64)]) -> f64 {
        let mut session = Session::default();
        for (path, bytes) in uses {
            let event = Some(Box::new(Event::File { bytes: *bytes }));
            let tool = Some(Box::new(Tool::new("Read", ToolVerb::Read, path)));
            let block = Block { tool, ..Block::new(BlockKind::ToolResult, Role::ToolResult) };
            session.add(Row { event, ..Row::new(RowKind::User) }, [block]);
        }
        session.rows.push(Row::new(RowKind::Boundary));
        let end = session.rows.len();
        resent(&session, end, &OLD)
    }

    #[test]
    fn the_files_used_last_are_sent_again() {
        let near = |uses: &[(&str, u64)], expected: f64| assert!((tokens(uses) - expected).abs() < 1.0, "{}", tokens(uses));
        near(&[("/a", 3300), ("/b", 6600)], 3000.0);
        // The last size counts, and each file once.
        near(&[("/a", 3300), ("/a", 6600)], 2000.0);
        // A large file takes a place, and is not sent.
        near(&[("/a", 3300), ("/b", 330_000)], 1000.0);
        near(&[("/a", 3300), ("/b", 330), ("/c", 330), ("/d", 330), ("/e", 330), ("/f", 330)], 500.0);
        near(&[], 0.0);
    }
}
