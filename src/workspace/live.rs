//! Finds the sessions that running clients have open.

use crate::fsio::{Disk, read_head};
use crate::provider::{OpenSession, PROVIDERS, Places};
use std::collections::BTreeSet;

const LONGEST_ENTRY: usize = 64 << 10;

/// Returns the ids of the sessions that running clients have registered as open. Entries of processes that no longer exist are
/// ignored.
pub fn open_sessions(disk: &dyn Disk, places: &Places) -> BTreeSet<String> {
    registered(disk, places).into_iter().filter(|open| is_alive(open.process)).map(|open| open.session).collect()
}

/// Returns the processes of the running clients that have registered a session as open.
pub fn clients_of(disk: &dyn Disk, places: &Places, session: &str) -> Vec<u32> {
    let open = registered(disk, places).into_iter().filter(|open| open.session == session && is_alive(open.process));
    open.map(|open| open.process).collect()
}

/// Returns the id of the session that a client process has registered as open.
pub fn session_of(disk: &dyn Disk, places: &Places, process: u32) -> Option<String> {
    registered(disk, places).into_iter().find(|open| open.process == process).map(|open| open.session)
}

fn registered(disk: &dyn Disk, places: &Places) -> Vec<OpenSession> {
    let mut open = Vec::new();
    for provider in PROVIDERS {
        for registry in provider.registries(places) {
            for entry in disk.list(&registry).unwrap_or_default() {
                let content = read_head(disk, &entry.path, LONGEST_ENTRY).unwrap_or_default();
                open.extend(provider.registered(&content));
            }
        }
    }
    open
}

/// Returns true if a process is running, even if it belongs to another user.
#[cfg(unix)]
pub fn is_alive(process: u32) -> bool {
    use rustix::process::{Pid, test_kill_process};
    let pid = i32::try_from(process).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| !matches!(test_kill_process(pid), Err(rustix::io::Errno::SRCH)))
}

/// Returns true: on other platforms, a registered session counts as open.
#[cfg(not(unix))]
pub fn is_alive(_: u32) -> bool {
    true
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "asks for this process")]
    fn this_process_is_alive_and_no_process_has_the_last_id() {
        assert!(is_alive(std::process::id()));
        assert!(!is_alive(u32::MAX));
        assert!(!is_alive(i32::MAX as u32));
    }
}
