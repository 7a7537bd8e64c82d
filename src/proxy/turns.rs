//! The turns of large bodies: while they are read, changed, and made into the lines of their sessions, others wait.

use super::body::LARGEST;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// The size in bytes from which a body has a turn.
pub const LARGE: usize = 1 << 20;
/// The maximum size of the bodies that have a turn at the same time, in kB; a larger one is alone.
const TOGETHER: u32 = 4 << 10;
/// The maximum time to wait for a turn: the work on a body takes less, but a slow network can take longer.
const PATIENCE: Duration = Duration::from_millis(300);

/// Gives turns in the order in which they were asked for.
#[derive(Clone)]
pub struct Turns {
    free: Arc<Semaphore>,
    patience: Duration,
}

/// The turn of a large body, which ends when it is dropped.
pub struct Turn {
    _permit: OwnedSemaphorePermit,
}

impl Turns {
    /// Waits for the turn of a body of this length in bytes. `None` if the body needs none, or if others take too long.
    pub async fn wait(&self, length: usize) -> Option<Turn> {
        // A larger one passes as a stream.
        if !(LARGE..=LARGEST).contains(&length) {
            return None;
        }
        let size = u32::try_from(length >> 10).map_or(TOGETHER, |size| size.min(TOGETHER));
        let permit = timeout(self.patience, self.free.clone().acquire_many_owned(size)).await.ok()?;
        Some(Turn { _permit: permit.ok()? })
    }
}

impl Default for Turns {
    fn default() -> Turns {
        Turns { free: Arc::new(Semaphore::new(TOGETHER as usize)), patience: PATIENCE }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_body_waits_briefly_while_others_have_their_turns() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let turns = Turns { patience: Duration::MAX, ..Turns::default() };
            let impatient = Turns { patience: Duration::from_millis(1), ..turns.clone() };
            let [small, half, whole, stream] = [LARGE - 1, 2 << 20, LARGEST, LARGEST + 1];
            let first = (turns.wait(half).await, turns.wait(half).await);
            assert!(first.0.is_some() && first.1.is_some());
            assert!(turns.wait(small).await.is_none() && turns.wait(stream).await.is_none(), "they need none");
            assert!(timeout(Duration::from_millis(20), turns.wait(whole)).await.is_err(), "it waits");
            assert!(impatient.wait(half).await.is_none());
            drop(first.0);
            assert!(impatient.wait(half).await.is_some() && impatient.wait(whole).await.is_none());
            drop(first.1);
            assert!(turns.wait(whole).await.is_some());
        });
    }
}
