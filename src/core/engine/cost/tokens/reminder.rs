//! Reminders of the plan that clients before 2.1.90 send without recording them.
//!
//! If the agent has not changed its plan for a while, such a client adds a reminder with the entries of the plan to the next call. The
//! rule was derived from 423 reminders that later clients record: ten rows of the agent since the last reminder and ten since the last
//! change of the plan; in 2.0 three and six, or seven if there was none. It holds for 550 of 630 calls in the bills of 40 sessions, whose
//! sizes are those of the text and of the entries. A session whose bills do not show them is not charged for them.

use crate::model::{Block, BlockKind, PlanChange};

/// Rows of the agent after which a reminder is due: since the start, since a change of the plan, and since the last reminder.
const USUAL_ROWS: [u32; 3] = [10, 10, 10];
/// The same in the oldest clients.
const EARLY_ROWS: [u32; 3] = [7, 6, 3];
/// Tokens of a plan around its entries, of an entry around its text, and of a character of this text.
const PLAN: f64 = 20.0;
const ENTRY: f64 = 7.0;
const CHARACTER: f64 = 0.2;
/// The largest surplus of a bill without the reminder, relative to its size, and the smallest size, relative to the bill's growth, that
/// a bill can show.
const ABSENT: f64 = 0.15;
const VISIBLE: f64 = 0.05;
/// Weight of the reminders before the last one in the decision whether the bills show them.
const MEMORY: f64 = 0.8;

/// The hidden reminders of one session.
#[derive(Debug)]
pub(super) struct Reminder {
    enabled: bool,
    rows: [u32; 3],
    /// Rows that are left until a reminder is due: for the plan, and for the reminder before.
    left: [u32; 2],
    plan: PlanChange,
    hits: f64,
    misses: f64,
}

impl Reminder {
    /// Returns the initial state, for a client of 2.0 if `early`. A session that records its client's attachments has no hidden reminders.
    pub(super) fn new(recorded: bool, early: bool) -> Reminder {
        let rows = if early { EARLY_ROWS } else { USUAL_ROWS };
        Reminder { enabled: !recorded, rows, left: [rows[0], rows[2]], plan: PlanChange::default(), hits: 0.0, misses: 0.0 }
    }

    /// The conversation restarts after a compaction; the client keeps the plan.
    pub(super) fn restart(&mut self) {
        self.left = [self.rows[0], self.rows[2]];
    }

    /// Updates the state for a block of a response, and for the change of the plan by it.
    pub(super) fn responded(&mut self, block: &Block, change: Option<PlanChange>) {
        if block.kind == BlockKind::Thinking {
            return;
        }
        self.wrote();
        if let Some(change) = change {
            self.left[0] = self.rows[1];
            self.plan = self.plan.changed(change);
        }
    }

    /// Updates the state for a row of the agent, or one that the client wrote in its place.
    pub(super) fn wrote(&mut self) {
        self.left = self.left.map(|left| left.saturating_sub(1));
    }

    /// Returns the tokens of the reminder in the next call, if one is due: `around` and the plan. The count of rows begins again.
    pub(super) fn take(&mut self, around: f64) -> Option<f64> {
        (self.enabled && self.left == [0, 0]).then(|| {
            self.left[1] = self.rows[2];
            let plan = self.plan;
            let entries = PLAN + ENTRY * f64::from(plan.entries) + CHARACTER * f64::from(plan.characters);
            around + if plan.entries > 0 { entries } else { 0.0 }
        })
    }

    pub(super) fn is_shown(&self) -> bool {
        self.hits >= self.misses
    }

    /// Returns true if the surplus of the growth of a bill over its estimate shows the reminder of this size. One that is clearly absent is
    /// due in the next call: the client counts from a later row, as after some compactions. In 2.0 the next one follows soon.
    pub(super) fn billed(&mut self, size: f64, growth: f64, surplus: f64) -> bool {
        let seen = (surplus - size).abs() < surplus.abs();
        if surplus < ABSENT * size && size > VISIBLE * growth && self.rows == USUAL_ROWS {
            self.left[1] = 0;
        }
        (self.hits, self.misses) = (MEMORY * self.hits, MEMORY * self.misses);
        *if seen { &mut self.hits } else { &mut self.misses } += 1.0;
        seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Role;

    fn after(rows: usize, recorded: bool, early: bool) -> Reminder {
        let mut reminder = Reminder::new(recorded, early);
        respond(&mut reminder, rows);
        reminder
    }

    fn respond(reminder: &mut Reminder, rows: usize) {
        let (text, thinking) = (BlockKind::Text, BlockKind::Thinking);
        for kind in std::iter::repeat_n([text, thinking], rows).flatten() {
            reminder.responded(&Block::new(kind, Role::Assistant), None);
        }
    }

    fn plan(reminder: &mut Reminder, change: PlanChange) {
        reminder.responded(&Block::new(BlockKind::ToolUse, Role::ToolUse), Some(change));
    }

    #[test]
    fn a_reminder_is_due_after_ten_rows_that_are_not_thinking() {
        assert_eq!(after(9, false, false).take(90.0), None);
        assert_eq!(after(10, false, false).take(90.0), Some(90.0));
        // A client that records them hides none.
        assert_eq!(after(50, true, false).take(90.0), None);
    }

    #[test]
    fn in_2_0_a_reminder_is_due_after_seven_rows_and_then_after_three() {
        assert_eq!(after(6, false, true).take(90.0), None);
        let mut reminder = after(7, false, true);
        assert_eq!(reminder.take(90.0), Some(90.0));
        respond(&mut reminder, 2);
        assert_eq!(reminder.take(90.0), None);
        respond(&mut reminder, 1);
        assert_eq!(reminder.take(90.0), Some(90.0));
        // After a change of the plan six are enough.
        plan(&mut reminder, PlanChange::default());
        respond(&mut reminder, 5);
        assert_eq!(reminder.take(90.0), None);
        respond(&mut reminder, 1);
        assert_eq!(reminder.take(90.0), Some(90.0));
    }

    #[test]
    fn a_reminder_has_the_entries_of_the_plan_until_all_are_done() {
        let size = |changes: &[PlanChange]| {
            let mut reminder = Reminder::new(false, false);
            changes.iter().for_each(|change| plan(&mut reminder, *change));
            respond(&mut reminder, 10);
            reminder.take(90.0)
        };
        let change = |replaces, entries, characters, done| PlanChange { replaces, entries, characters, done };
        let (list, entry) = (change(true, 3, 100, 1), change(false, 1, 50, 0));
        assert_eq!(size(&[list]), Some(90.0 + 20.0 + 21.0 + 20.0));
        assert_eq!(size(&[list, list]), size(&[list]));
        assert_eq!(size(&[entry, entry]), Some(90.0 + 20.0 + 14.0 + 20.0));
        let done = change(false, 0, 0, 1);
        assert_eq!(size(&[entry, entry, done]), size(&[entry, entry]));
        assert_eq!(size(&[entry, entry, done, done]), Some(90.0));
        assert_eq!(size(&[change(true, 3, 100, 3)]), Some(90.0));
    }

    #[test]
    fn a_change_of_the_plan_postpones_the_reminder() {
        let mut reminder = after(9, false, false);
        plan(&mut reminder, PlanChange::default());
        respond(&mut reminder, 9);
        assert_eq!(reminder.take(90.0), None);
    }

    #[test]
    fn bills_decide_whether_reminders_are_shown() {
        let mut reminder = Reminder::new(false, false);
        assert!(reminder.billed(90.0, 500.0, 95.0) && reminder.is_shown());
        assert!(!reminder.billed(90.0, 500.0, 5.0) && !reminder.is_shown());
        assert!(reminder.billed(90.0, 500.0, 80.0) && reminder.is_shown());
    }

    #[test]
    fn a_reminder_that_is_clearly_absent_is_due_in_the_next_call() {
        // In the last case a bill is too large to show it.
        for (growth, surplus, due) in [(500.0, 95.0, None), (500.0, 5.0, Some(90.0)), (500.0, 40.0, None), (5000.0, 5.0, None)] {
            let mut reminder = after(10, false, false);
            reminder.take(90.0);
            reminder.billed(90.0, growth, surplus);
            assert_eq!(reminder.take(90.0), due, "{growth} {surplus}");
        }
        let mut early = after(7, false, true);
        early.take(90.0);
        early.billed(90.0, 500.0, 5.0);
        assert_eq!(early.take(90.0), None);
    }
}
