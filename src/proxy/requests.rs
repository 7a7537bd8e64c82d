//! The list of the newest requests, kept in memory.

use crate::commands::proxy::{ProxyRequest, ProxyTokens};
use crate::engine::LossCause;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// The maximum number of listed requests.
pub const LISTED: usize = 1000;

/// The newest requests and the totals of all.
#[derive(Default)]
pub struct Requests(Mutex<List>);

#[derive(Default)]
struct List {
    newest: VecDeque<ProxyRequest>,
    totals: Totals,
    tokens: ProxyTokens,
    runs: FxHashMap<u32, Run>,
    /// The number of the last request of earlier proxies.
    base: u64,
}

/// The requests of one client of `run`.
#[derive(Clone, Debug, Default)]
pub struct Run {
    pub requests: u64,
    /// Those whose bill was read, or will have none.
    pub accounted: u64,
    pub tokens: ProxyTokens,
}

/// Counts over all requests.
#[derive(Clone, Copy, Debug, Default)]
pub struct Totals {
    pub requests: u64,
    /// Those that were answered completely, or ended.
    pub ended: u64,
    pub changed: u64,
    /// Those with a status from 400 on, or without a response.
    pub errors: u64,
}

impl Requests {
    /// Creates the list of a proxy whose requests are numbered after those of earlier proxies.
    pub fn after(base: u64) -> Requests {
        Requests(Mutex::new(List { base, ..List::default() }))
    }

    fn list(&self) -> std::sync::MutexGuard<'_, List> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn add(&self, request: ProxyRequest) -> u64 {
        let mut list = self.list();
        list.totals.requests += 1;
        if let Some(run) = request.run {
            list.runs.entry(run).or_default().requests += 1;
        }
        let number = list.base + list.totals.requests;
        if list.newest.len() == LISTED {
            list.newest.pop_front();
        }
        list.newest.push_back(ProxyRequest { number, outcome: "running".to_owned(), ..request });
        number
    }

    pub fn last(&self) -> u64 {
        let list = self.list();
        list.base + list.totals.requests
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

    pub fn count_changed(&self) {
        self.list().totals.changed += 1;
    }

    pub fn end(&self, number: u64, failed: bool, change: impl FnOnce(&mut ProxyRequest)) {
        self.update(number, change);
        let totals = &mut self.list().totals;
        totals.ended += 1;
        totals.errors += u64::from(failed);
    }

    pub fn account(&self, request: &ProxyRequest) {
        let list = &mut *self.list();
        let mut run = request.run.and_then(|run| list.runs.get_mut(&run));
        if let Some(run) = &mut run {
            run.accounted += 1;
        }
        if request.billed.is_some() {
            run.map(|run| &mut run.tokens).into_iter().chain([&mut list.tokens]).for_each(|tokens| add(tokens, request));
        }
    }

    /// Returns the requests of a client of `run`, by the process of it.
    pub fn run(&self, process: u32) -> Run {
        self.list().runs.get(&process).cloned().unwrap_or_default()
    }

    pub fn tokens(&self) -> ProxyTokens {
        self.list().tokens.clone()
    }

    /// Returns a request, if it is still listed.
    pub fn request(&self, number: u64) -> Option<ProxyRequest> {
        let mut found = None;
        self.update(number, |request| found = Some(request.clone()));
        found
    }

    pub fn totals(&self) -> Totals {
        self.list().totals
    }

    /// Returns the newest requests, the oldest first.
    pub fn newest(&self) -> Vec<ProxyRequest> {
        self.list().newest.iter().cloned().collect()
    }
}

fn add(tokens: &mut ProxyTokens, request: &ProxyRequest) {
    tokens.client += request.client_tokens;
    tokens.sent += request.sent_tokens;
    tokens.saved_full_price += request.saved_full_price_tokens;
    tokens.saved_dollars += request.saved_dollars.unwrap_or_default();
    if let Some(cause) = LossCause::ALL.iter().position(|cause| cause.name() == request.lost_by) {
        tokens.losses[cause] += 1;
        tokens.lost[cause] += request.lost_tokens;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::BilledTokens;

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
        assert_eq!((requests.request(3).is_none(), requests.request(7).map(|request| request.number)), (true, Some(7)));
    }

    #[test]
    fn tokens_are_added_up_by_cause() {
        let requests = Requests::default();
        let request = ProxyRequest {
            client_tokens: 50,
            sent_tokens: 40,
            lost_tokens: 7,
            lost_by: "client".to_owned(),
            saved_full_price_tokens: 1.0,
            saved_dollars: Some(0.5),
            billed: Some(BilledTokens::default()),
            run: Some(5),
            ..ProxyRequest::default()
        };
        let other = ProxyRequest { run: None, ..request.clone() };
        for request in [&request, &other, &ProxyRequest::default(), &ProxyRequest { run: Some(5), ..ProxyRequest::default() }] {
            requests.add(request.clone());
            requests.account(request);
        }
        let run = requests.run(5);
        assert_eq!((run.requests, run.accounted, run.tokens.sent, requests.run(6).requests), (2, 2, 40, 0));
        let tokens = requests.tokens();
        assert_eq!((tokens.client, tokens.sent, tokens.saved_full_price, tokens.saved_dollars), (100, 80, 2.0, 1.0));
        assert_eq!((tokens.losses, tokens.lost), ([0, 2, 0, 0], [0, 14, 0, 0]));
    }
}
