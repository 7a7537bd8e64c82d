//! Originals in the store that may be deleted.

use crate::model::History;
use schemars::JsonSchema;
use serde::Serialize;

/// The reason why the data of a session may be deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Forgettable {
    /// The session file is gone.
    FileGone,
    /// Everything was undone.
    AllUndone,
}

impl Forgettable {
    pub fn reason(self) -> &'static str {
        match self {
            Forgettable::FileGone => "its file no longer exists",
            Forgettable::AllUndone => "everything was undone",
        }
    }
}

/// Returns the reason why the data of a session can be deleted; `None` if it cannot. A session with changes in force qualifies only
/// if its file is gone, and no session before its last operation is older than the retention. Times are in milliseconds since 1970,
/// UTC, the retention in milliseconds.
///
/// `interrupted` is true if it is not known yet whether an operation was completed.
pub fn forgettable(history: &History, gone: bool, interrupted: bool, now: i64, retention: i64) -> Option<Forgettable> {
    let last = history.operations.iter().map(|operation| operation.time).max();
    if last.is_some_and(|last| now.saturating_sub(last) < retention) {
        return None;
    }
    if gone {
        return Some(Forgettable::FileGone);
    }
    (!interrupted && history.undoable().is_none()).then_some(Forgettable::AllUndone)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Operation, OperationKind};

    fn history(undone: bool) -> History {
        let operation = |id, kind, inverts| Operation { time: 1000, inverts, ..Operation::example(id, kind) };
        let mut operations = vec![operation(1, OperationKind::Change, None)];
        if undone {
            operations.push(operation(2, OperationKind::Undo, Some(1)));
        }
        History { operations, ..History::default() }
    }

    #[test]
    fn originals_in_force_are_kept_while_their_file_exists() {
        use Forgettable::{AllUndone, FileGone};
        let check = |undone, gone, interrupted, now, expected| {
            assert_eq!(forgettable(&history(undone), gone, interrupted, now, 100), expected);
        };
        check(false, false, false, 1_000_000, None);
        check(true, false, false, 1_000_000, Some(AllUndone));
        check(true, false, true, 1_000_000, None);
        check(true, false, false, 1099, None);
        check(true, false, false, 1100, Some(AllUndone));
        check(false, true, false, 1100, Some(FileGone));
        check(false, true, false, 1099, None);
        assert_eq!(forgettable(&History::default(), false, false, 0, 100), Some(AllUndone));
    }
}
