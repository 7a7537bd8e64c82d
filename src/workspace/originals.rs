//! Implements the storage traits of planning for the store and the cache, and gives readers the contents that the log replaced.

use super::masked;
use crate::engine::{self, Known};
use crate::model::{Address, History, Key, TraceEvent};
use crate::planning::{KeptTurns, OriginalError, Originals, PlanCache, ReplacedValues};
use crate::provider::ProviderAdapter;
use crate::store::{Cache, SessionKey, Store, StoreError};
use std::borrow::Cow;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, OnceLock, PoisonError};

/// A store that several threads read.
pub struct SharedStore(Mutex<Store>);

impl SharedStore {
    pub fn new(store: Store) -> Arc<SharedStore> {
        Arc::new(SharedStore(Mutex::new(store)))
    }

    fn locked(&self) -> MutexGuard<'_, Store> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The contents of a session before operations of its log changed them, and values that are credentials in it. The log is read when it is
/// asked for first: most sessions that are searched are found in the index alone.
#[derive(Default)]
pub struct LoggedContents {
    log: Option<(Arc<SharedStore>, SessionKey)>,
    read: OnceLock<Result<Replaced, StoreError>>,
}

/// The contents that a log replaced, and the credentials that it knows.
struct Replaced {
    values: ReplacedValues,
    named: Known,
    turns: KeptTurns,
}

static NO_TURNS: LazyLock<KeptTurns> = LazyLock::new(KeptTurns::default);

impl LoggedContents {
    /// Returns those of a session with a log; contents that the store no longer has are left out.
    pub fn of(store: Arc<SharedStore>, session: SessionKey) -> LoggedContents {
        LoggedContents { log: Some((store, session)), read: OnceLock::new() }
    }

    /// Returns those of a session without a log.
    pub fn without(named: Known) -> LoggedContents {
        let replaced = Replaced { values: ReplacedValues::default(), named, turns: KeptTurns::default() };
        LoggedContents { log: None, read: OnceLock::from(Ok(replaced)) }
    }

    fn replaced(&self) -> Option<&Replaced> {
        let read = |(store, session): &(Arc<SharedStore>, SessionKey)| {
            let history = store.locked().history(*session)?;
            let (named, turns) = (logged_credentials(&history), KeptTurns::new(&history));
            Ok(Replaced { values: ReplacedValues::new(history.edits()), named, turns })
        };
        let read = match &self.log {
            Some(log) => Some(self.read.get_or_init(|| read(log))),
            None => self.read.get(),
        };
        read?.as_ref().ok()
    }

    /// Returns the reason why the log cannot be read, as far as it was asked for.
    pub fn error(&self) -> Option<&StoreError> {
        self.read.get()?.as_ref().err()
    }

    /// Returns true if the session has a log that cannot be read.
    pub fn is_unreadable(&self) -> bool {
        self.log.is_some() && self.replaced().is_none()
    }

    /// Returns the values that the log knows as credentials in the session.
    pub fn named(&self) -> Known {
        self.replaced().map_or_else(Known::default, |replaced| replaced.named.clone())
    }

    /// Returns the numbers that the turns had before operations moved them.
    pub fn turns(&self) -> &KeptTurns {
        self.replaced().map_or(&NO_TURNS, |replaced| &replaced.turns)
    }

    /// Returns a line of the file with its contents as they were.
    pub fn line<'l>(&self, provider: &dyn ProviderAdapter, line: &'l [u8]) -> Cow<'l, [u8]> {
        let replaced = self.log.as_ref().zip(self.replaced());
        let restored = replaced.and_then(|((store, _), replaced)| replaced.values.restored(provider, line, &**store));
        restored.map_or(Cow::Borrowed(line), Cow::Owned)
    }

    /// Returns an event without the values that are credentials.
    pub fn masked(&self, event: TraceEvent) -> TraceEvent {
        let named = self.named();
        if named.is_empty() { event } else { masked(&named, event) }
    }
}

/// Returns the values that contents named as credentials before operations changed them, and those that a person removed.
pub(super) fn logged_credentials(history: &History) -> Known {
    let replaced = history.redacted.iter().flat_map(|(before, after)| engine::replaced_texts(before, after));
    let replaced: Vec<String> = replaced.collect();
    let named = Known::new(history.naming.iter().flat_map(|text| engine::named_in(text)));
    named.with(&engine::chosen(replaced.iter().map(String::as_str)))
}

impl Originals for Store {
    fn original(&self, address: &Address) -> Result<Vec<u8>, OriginalError> {
        Ok(self.original(address)?)
    }

    fn original_length(&self, address: &Address) -> Result<u64, OriginalError> {
        Ok(self.original_length(address)?)
    }
}

impl Originals for SharedStore {
    fn original(&self, address: &Address) -> Result<Vec<u8>, OriginalError> {
        Ok(self.locked().original(address)?)
    }
}

impl PlanCache for Cache {
    fn plan(&self, key: Key) -> Option<Vec<u8>> {
        self.plan(key)
    }

    fn remember_plan(&self, key: Key, packed: &[u8]) {
        self.remember_plan(key, packed);
    }

    fn count(&self, hash: Key) -> Option<u32> {
        self.count(hash)
    }
}

impl From<StoreError> for OriginalError {
    fn from(error: StoreError) -> OriginalError {
        OriginalError(Box::new(error))
    }
}

/// Returns the error of the store; any other error means that the originals are damaged.
impl From<OriginalError> for StoreError {
    fn from(error: OriginalError) -> StoreError {
        error.0.downcast::<StoreError>().map_or_else(|other| StoreError::Damaged(other.to_string()), |error| *error)
    }
}
