//! The sessions on which rules may act: when their prompt cache expires, and from which size of the window on.

use crate::commands::live::proxied::Automatic;
use rustc_hash::FxHashMap;
use std::time::Duration;

/// Maximum number of sessions; then the one whose last request is the oldest is forgotten.
const SESSIONS: usize = 256;
/// The longest time between two looks at the clock: it can be set, and a computer can sleep.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// The time in milliseconds from a request until a change after its answer acts, before it was measured.
const USUAL_LEAD: i64 = 1000;
/// The largest share of a budget by which its rule acts early, in percent: less than it removes.
const EARLIEST_PERCENT: u64 = 10;

/// The sessions with rules.
#[derive(Default)]
pub struct Schedule(FxHashMap<String, Scheduled>);

struct Scheduled {
    last: i64,
    /// The budget of the window in tokens; `None` if the rule is off.
    budget: Option<u64>,
    lifetime: i64,
    /// The newest request when the rules acted last: only a bill of a later one has their change.
    acted: u64,
    /// True until the rules have acted on the expired cache.
    is_armed: bool,
    growth: Growth,
}

#[derive(Clone, Copy)]
struct Growth {
    /// Time of the last billed request, in milliseconds since 1970, UTC, and its window in tokens.
    bill: Option<(i64, u64)>,
    /// Recent growth in tokens for each millisecond.
    rate: f64,
    /// The time in milliseconds from a request until a change after its answer acts.
    lead: i64,
}

impl Schedule {
    /// Records what the rules of a session depend on, after they were applied.
    pub fn set(&mut self, session: &str, automatic: &Automatic, last: i64) {
        if self.0.len() >= SESSIONS
            && !self.0.contains_key(session)
            && let Some(oldest) = self.0.iter().min_by_key(|(_, known)| known.last).map(|(session, _)| session.clone())
        {
            self.0.remove(&oldest);
        }
        let (budget, lifetime) = (automatic.budget_tokens, automatic.lifetime_milliseconds);
        let new = (0, Growth { bill: None, rate: 0.0, lead: USUAL_LEAD });
        let (acted, growth) = self.0.get(session).map_or(new, |known| (known.acted, known.growth));
        self.0.insert(session.to_owned(), Scheduled { last, budget, lifetime, acted, is_armed: true, growth });
    }

    /// Records the bill of a request: its time in milliseconds since 1970, UTC, and its window in tokens.
    pub fn billed(&mut self, session: &str, time: i64, window_tokens: u64) {
        let Some(growth) = self.0.get_mut(session).map(|known| &mut known.growth).filter(|_| window_tokens > 0) else { return };
        growth.rate = match growth.bill {
            Some((before, tokens)) if window_tokens > tokens => {
                (growth.rate + (window_tokens - tokens) as f64 / (time - before).max(1) as f64) / 2.0
            }
            _ => 0.0,
        };
        growth.bill = Some((time, window_tokens));
    }

    /// Records the time from a request until the rules have acted after its answer, in milliseconds.
    pub fn took(&mut self, session: &str, lead: i64) {
        if let Some(known) = self.0.get_mut(session) {
            known.growth.lead = lead;
        }
    }

    /// Returns the tokens by which a window grows until a change acts: its rule does not wait until the budget is exceeded.
    pub fn coming_tokens(&self, session: &str) -> u64 {
        let Some(Scheduled { budget: Some(budget), growth, .. }) = self.0.get(session) else { return 0 };
        ((growth.rate * growth.lead as f64) as u64).min(budget / 100 * EARLIEST_PERCENT)
    }

    /// Records that the rules changed a session, with the number of the newest request at that time.
    pub fn acted(&mut self, session: &str, newest: u64) {
        if let Some(known) = self.0.get_mut(session) {
            known.acted = newest;
        }
    }

    /// Returns true if the bill of a request can have the last change of the rules.
    pub fn has_change(&self, session: &str, request: u64) -> bool {
        self.0.get(session).is_none_or(|known| request > known.acted)
    }

    pub fn touch(&mut self, session: &str, now: i64) {
        if let Some(known) = self.0.get_mut(session) {
            (known.last, known.is_armed) = (now, true);
        }
    }

    /// Returns true if a window of this size can be over the budget of the session before a change acts. A session whose budget is not
    /// known may be over it.
    pub fn is_over_budget(&self, session: &str, window_tokens: u64) -> bool {
        let window_tokens = window_tokens.saturating_add(self.coming_tokens(session));
        self.0.get(session).is_none_or(|known| known.budget.is_some_and(|budget| window_tokens > budget))
    }

    /// Returns a session whose cache has expired since its last request, once, with the milliseconds since then.
    pub fn take_expired(&mut self, now: i64) -> Option<(String, i64)> {
        let is_expired = |known: &Scheduled| known.is_armed && now - known.last > known.lifetime;
        let (session, known) = self.0.iter_mut().find(|(_, known)| is_expired(known))?;
        known.is_armed = false;
        Some((session.clone(), now - known.last))
    }

    pub fn pause(&self, now: i64) -> Duration {
        let due = self.0.values().filter(|known| known.is_armed).map(|known| known.last.saturating_add(known.lifetime));
        let left = due.min().map(|due| Duration::from_millis(due.saturating_sub(now).saturating_add(1).max(1).unsigned_abs()));
        left.map_or(LONGEST_PAUSE, |left| left.min(LONGEST_PAUSE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(budget_tokens: Option<u64>) -> Automatic {
        Automatic { budget_tokens, lifetime_milliseconds: 300_000, ..Automatic::default() }
    }

    #[test]
    fn a_session_is_due_once_after_each_request() {
        let mut schedule = Schedule::default();
        assert_eq!((schedule.take_expired(i64::MAX), schedule.pause(0)), (None, LONGEST_PAUSE));
        schedule.touch("unknown", 5);
        schedule.set("s", &rules(None), 1_000);
        assert_eq!(schedule.take_expired(301_000), None);
        assert_eq!(schedule.pause(300_500), Duration::from_millis(501));
        assert_eq!(schedule.pause(1_000), LONGEST_PAUSE);
        assert_eq!(schedule.take_expired(301_001), Some(("s".to_owned(), 300_001)));
        assert_eq!((schedule.take_expired(900_000), schedule.pause(900_000)), (None, LONGEST_PAUSE));
        schedule.touch("s", 900_000);
        assert_eq!(schedule.take_expired(1_200_000), None);
        assert!(schedule.take_expired(1_200_001).is_some());
    }

    #[test]
    fn only_a_window_over_the_budget_is_looked_at_within_a_turn() {
        let mut schedule = Schedule::default();
        assert!(schedule.is_over_budget("s", 1));
        schedule.set("s", &rules(Some(100)), 0);
        assert_eq!([100, 101].map(|tokens| schedule.is_over_budget("s", tokens)), [false, true]);
        schedule.set("s", &rules(None), 0);
        assert!(!schedule.is_over_budget("s", 101));
    }

    #[test]
    fn a_budget_is_looked_at_before_fast_steps_exceed_it() {
        let mut schedule = Schedule::default();
        schedule.set("s", &rules(Some(60_000)), 0);
        let coming = |schedule: &mut Schedule, bills: &[(i64, u64)]| {
            bills.iter().for_each(|(time, window)| schedule.billed("s", *time, *window));
            schedule.coming_tokens("s")
        };
        assert_eq!(coming(&mut schedule, &[(0, 50_000)]), 0);
        // 600 tokens in each tenth of a second, for the usual second.
        let fast: Vec<(i64, u64)> = (1..=8).map(|step| (step * 100, 50_000 + step as u64 * 600)).collect();
        let tokens = coming(&mut schedule, &fast);
        assert!((5_900..=6_000).contains(&tokens), "{tokens}");
        assert_eq!([54_000, 54_900].map(|tokens| schedule.is_over_budget("s", tokens)), [false, true]);
        schedule.took("s", 500);
        assert_eq!(schedule.coming_tokens("s"), tokens / 2);
        schedule.set("s", &rules(Some(60_000)), 5);
        assert_eq!(schedule.coming_tokens("s"), tokens / 2, "it is known after the rules were looked at");
        // A cut window and slow steps; no more than a tenth of the budget.
        assert_eq!(coming(&mut schedule, &[(900, 48_000)]), 0);
        assert!(coming(&mut schedule, &[(60_900, 50_000)]) < 20);
        assert_eq!(coming(&mut schedule, &[(60_901, 59_000)]), 6_000);
        assert_eq!((schedule.coming_tokens("other"), schedule.is_over_budget("s", 53_000)), (0, false));
    }

    #[test]
    fn only_a_bill_of_a_later_request_has_the_last_change() {
        let mut schedule = Schedule::default();
        assert!(schedule.has_change("s", 1));
        schedule.set("s", &rules(Some(100)), 0);
        schedule.acted("s", 7);
        schedule.set("s", &rules(Some(100)), 5);
        assert_eq!([6, 7, 8].map(|request| schedule.has_change("s", request)), [false, false, true]);
        assert!(schedule.has_change("other", 1));
    }

    #[test]
    fn the_memory_is_bounded() {
        let mut schedule = Schedule::default();
        for number in 0..10_000 {
            schedule.set(&number.to_string(), &rules(None), number);
        }
        assert_eq!((schedule.0.len(), schedule.0.contains_key("9999")), (SESSIONS, true));
    }
}
