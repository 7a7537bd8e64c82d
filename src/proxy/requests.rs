//! The list of the newest requests, kept in memory.

use crate::output::ProxyRequest;
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// The maximum number of listed requests.
const LISTED: usize = 1000;

/// The newest requests and the totals of all.
#[derive(Default)]
pub struct Requests(Mutex<List>);

#[derive(Default)]
struct List {
    newest: VecDeque<ProxyRequest>,
    totals: Totals,
}

/// Counts over all requests.
#[derive(Clone, Copy, Debug, Default)]
pub struct Totals {
    /// All requests.
    pub requests: u64,
    /// Those that were answered completely, or ended.
    pub ended: u64,
    /// Those whose body was changed.
    pub changed: u64,
    /// Those with a status from 400 on, or without a response.
    pub errors: u64,
}

impl Requests {
    fn list(&self) -> std::sync::MutexGuard<'_, List> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a request and returns its number.
    pub fn add(&self, request: ProxyRequest) -> u64 {
        let mut list = self.list();
        list.totals.requests += 1;
        let number = list.totals.requests;
        if list.newest.len() == LISTED {
            list.newest.pop_front();
        }
        list.newest.push_back(ProxyRequest { number, outcome: "running".to_owned(), ..request });
        number
    }

    /// Changes a request, if it is still listed.
    pub fn update(&self, number: u64, change: impl FnOnce(&mut ProxyRequest)) {
        let mut list = self.list();
        let first = list.newest.front().map_or(0, |request| request.number);
        let place = number.checked_sub(first).and_then(|place| usize::try_from(place).ok());
        if let Some(request) = place.and_then(|place| list.newest.get_mut(place)) {
            change(request);
        }
    }

    /// Counts a request whose body was changed.
    pub fn count_changed(&self) {
        self.list().totals.changed += 1;
    }

    /// Records the end of a request.
    pub fn end(&self, number: u64, failed: bool, change: impl FnOnce(&mut ProxyRequest)) {
        self.update(number, change);
        let totals = &mut self.list().totals;
        totals.ended += 1;
        totals.errors += u64::from(failed);
    }

    /// Returns the totals.
    pub fn totals(&self) -> Totals {
        self.list().totals
    }

    /// Returns the newest requests, the oldest first.
    pub fn newest(&self) -> Vec<ProxyRequest> {
        self.list().newest.iter().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_newest_requests_are_kept() {
        let requests = Requests::default();
        for number in 1..=(LISTED as u64 + 5) {
            assert_eq!(requests.add(ProxyRequest::default()), number);
        }
        requests.end(3, true, |_| panic!("it is no longer listed"));
        requests.end(7, false, |request| request.status = 200);
        let newest = requests.newest();
        assert_eq!((newest.len(), newest[0].number, newest[1].status), (LISTED, 6, 200));
        assert_eq!((requests.totals().ended, requests.totals().errors), (2, 1));
    }
}
