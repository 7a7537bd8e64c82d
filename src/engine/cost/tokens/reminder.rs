//! Reminders that clients before 2.1.90 send without recording them.
//!
//! If the agent has not used its plan for a while, such a client attaches the plan to the next call. The rule was derived from 423
//! reminders that later clients do record: ten rows of the agent since the last reminder and ten since the last use of a planning
//! tool (three and three in 2.0). If they are not in the file they are estimated, and the estimate is compared with the bill: a
//! session whose bills do not show them is not charged for them.

use crate::model::{Block, BlockKind, ToolVerb};

/// Rows of the agent after which a reminder is due.
const USUAL_ROWS: u32 = 10;
/// The same in the oldest clients.
const EARLY_ROWS: u32 = 3;
/// Weight of the last reminder in what the session's own reminders cost beyond the estimate, and the largest surplus that counts.
const LEARNING: f64 = 0.3;
const SURPLUS: f64 = 60.0;
/// Share of a planning call's text that the reminder repeats: each entry once, not also in its active form.
const REPEATED_SHARE: f64 = 0.55;

/// The hidden reminders of one session.
#[derive(Debug)]
pub(super) struct Reminder {
    enabled: bool,
    interval: u32,
    since_reminder: u32,
    since_plan: u32,
    suspended: bool,
    plan: f64,
    /// Tokens by which the reminders of this session exceed the estimate.
    excess: f64,
    hits: f64,
    misses: f64,
    intervals: Vec<u32>,
}

impl Reminder {
    /// Returns the initial state. A session that records its client's attachments has no hidden reminders.
    pub(super) fn new(recorded: bool) -> Reminder {
        Reminder {
            enabled: !recorded,
            interval: USUAL_ROWS,
            since_reminder: 0,
            since_plan: 0,
            suspended: false,
            plan: 0.0,
            excess: 0.0,
            hits: 0.0,
            misses: 0.0,
            intervals: Vec::new(),
        }
    }

    /// The conversation restarts, after a compaction or on another branch.
    pub(super) fn restart(&mut self) {
        (self.since_reminder, self.since_plan, self.suspended) = (0, 0, false);
    }

    /// Updates the state for a response; `cost` returns the tokens of one of its blocks.
    pub(super) fn responded<'a>(&mut self, response: impl Iterator<Item = &'a Block>, cost: impl Fn(&Block) -> f64) {
        for block in response.filter(|block| block.kind != BlockKind::Thinking) {
            self.since_reminder += 1;
            self.since_plan += 1;
            if block.tool.as_ref().is_some_and(|tool| tool.verb == ToolVerb::Plan) {
                self.since_plan = 0;
                self.plan = cost(block) * REPEATED_SHARE;
            }
        }
    }

    fn is_due(&self) -> bool {
        let waited = if self.suspended { 2 * self.interval } else { self.interval };
        self.enabled && self.since_reminder >= waited && self.since_plan >= self.interval
    }

    fn size(&self, around: f64) -> f64 {
        around + self.plan + self.excess
    }

    /// Returns the tokens expected in the next bill that are not in the file.
    pub(super) fn expected(&self, around: f64) -> f64 {
        if self.is_due() && self.hits >= self.misses { self.size(around) } else { 0.0 }
    }

    /// Compares the estimate without a reminder with the bill; returns the billed tokens of a reminder.
    pub(super) fn billed(&mut self, guess: f64, growth: f64, around: f64) -> f64 {
        if !self.enabled {
            return 0.0;
        }
        let size = self.size(around);
        let surplus = growth - guess;
        let due = self.is_due();
        let seen = if due {
            (surplus - size).abs() < surplus.abs()
        } else {
            (0.65 * size..1.5 * size).contains(&surplus) && surplus > 0.06 * growth
        };
        if due {
            (self.hits, self.misses) = (0.9 * self.hits, 0.9 * self.misses);
            if seen {
                self.hits += 1.0;
            } else {
                self.misses += 1.0;
                self.suspended = true;
                self.since_reminder = self.since_reminder.min(self.interval);
            }
        }
        if !seen {
            return 0.0;
        }
        self.excess += (surplus - size).clamp(-SURPLUS, SURPLUS) * (1.0 / (self.intervals.len() as f64 + 2.0)).max(LEARNING);
        self.intervals.push(self.since_reminder);
        if let [.., a, b, c] = self.intervals[..] {
            let middle = a.max(b).min(a.min(b).max(c));
            self.interval = if middle <= EARLY_ROWS + 1 { EARLY_ROWS } else { USUAL_ROWS };
        }
        self.since_reminder = 0;
        self.suspended = false;
        size
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Role;

    fn after(rows: usize, recorded: bool) -> Reminder {
        let mut reminder = Reminder::new(recorded);
        let block = Block::new(BlockKind::Text, Role::Assistant);
        reminder.responded(std::iter::repeat_n(&block, rows), |_| 0.0);
        reminder
    }

    #[test]
    fn a_reminder_is_due_after_ten_rows() {
        assert_eq!(after(9, false).expected(90.0), 0.0);
        assert_eq!(after(10, false).expected(90.0), 90.0);
    }

    #[test]
    fn a_client_that_records_them_hides_none() {
        assert_eq!(after(50, true).expected(90.0), 0.0);
    }

    #[test]
    fn a_bill_without_it_suspends_it() {
        let mut reminder = after(10, false);
        assert_eq!(reminder.billed(500.0, 505.0, 90.0), 0.0);
        assert_eq!(reminder.expected(90.0), 0.0);
    }

    #[test]
    fn a_bill_with_it_restarts_the_count() {
        let mut reminder = after(10, false);
        assert_eq!(reminder.billed(500.0, 595.0, 90.0), 90.0);
        assert!(!reminder.is_due());
    }

    #[test]
    fn the_size_of_a_reminder_is_learned() {
        let mut reminder = after(10, false);
        for _ in 0..12 {
            reminder.billed(500.0, 630.0, 90.0);
            let block = Block::new(BlockKind::Text, Role::Assistant);
            reminder.responded(std::iter::repeat_n(&block, 10), |_| 0.0);
        }
        assert!((reminder.expected(90.0) - 130.0).abs() < 2.0, "{}", reminder.expected(90.0));
    }
}
