//! Seals values: encrypted and authenticated with keys that follow from one random data key.
//!
//! The nonce of a value is a keyed hash of it, so equal values have equal forms: a sealed column is compared and unique as a clear one is.
//! The nonce of a value with a context is random: its row is found by the context, and hashing it would take as long as encrypting it.
//! In SQL, `seal(x)` and `open(x)` convert a value of a column, and `mask(x)` replaces one that is only compared. In a clear database, all
//! three return their argument.

use super::database::StoreError;
use chacha20poly1305::aead::{AeadInOut, KeyInit};
use chacha20poly1305::{Tag, XChaCha20Poly1305, XNonce};
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::{Type, Value};
use rusqlite::{Connection, ffi};
use std::fmt;
use std::sync::Arc;
use zeroize::Zeroizing;

const NONCE: usize = 24;
/// Bytes after the encrypted ones: authentication tag, nonce, kind of the value.
pub(super) const TAIL: usize = 16 + NONCE + 1;
/// Longest value that is sealed by hashes alone, in bytes, unless it has a context. Source: measured, a cipher takes four times as long.
const SHORT: usize = 256;
/// The bit of the kind of such a value.
const SHORT_FORM: u8 = 0x80;

/// Kinds of sealed values.
const TEXT: u8 = 1;
const BYTES: u8 = 2;
const INTEGER: u8 = 3;
const NAME: u8 = 4;

/// The bytes of a key.
pub type KeyBytes = Zeroizing<[u8; 32]>;

/// The keys of one data key, each for one purpose.
struct Keys {
    /// Names the data key in the header of a database; never 0.
    id: i32,
    cipher: XChaCha20Poly1305,
    nonces: KeyBytes,
    masks: KeyBytes,
    stream: KeyBytes,
}

impl Keys {
    fn new(data_key: &KeyBytes) -> Keys {
        let derive = |purpose: &str| Zeroizing::new(blake3::derive_key(purpose, &**data_key));
        let id = derive("aperture 2026 store: id of the data key");
        Keys {
            id: i32::from_le_bytes([id[0], id[1], id[2], id[3] | 0x40]),
            cipher: XChaCha20Poly1305::new((&*derive("aperture 2026 store: values")).into()),
            nonces: derive("aperture 2026 store: nonces"),
            masks: derive("aperture 2026 store: masks"),
            stream: derive("aperture 2026 store: short values"),
        }
    }

    fn seal(&self, kind: u8, mut value: Vec<u8>, context: &[u8]) -> Vec<u8> {
        if context.is_empty() && value.len() <= SHORT {
            return self.seal_short(kind, value);
        }
        let mut nonce = [0; NONCE];
        if context.is_empty() || getrandom::fill(&mut nonce).is_err() {
            nonce = self.hash(kind, &value, context);
        }
        value.reserve_exact(TAIL);
        // A value would have to be longer than 256 GB.
        let data = [&[kind], context].concat();
        let tag = self.cipher.encrypt_inout_detached(&XNonce::from(nonce), &data, value.as_mut_slice().into());
        value.extend_from_slice(&tag.unwrap_or_default());
        value.extend_from_slice(&nonce);
        value.push(kind);
        value
    }

    fn open(&self, mut sealed: Vec<u8>, context: &[u8]) -> Option<(u8, Vec<u8>)> {
        if context.is_empty() && sealed.last()? & SHORT_FORM != 0 {
            return self.open_short(sealed);
        }
        let length = sealed.len().checked_sub(TAIL)?;
        let (value, tail) = sealed.split_at_mut(length);
        let (tag, rest) = tail.split_first_chunk::<16>()?;
        let (nonce, kind) = rest.split_first_chunk::<NONCE>()?;
        let data = [kind, context].concat();
        let kind = *kind.first()?;
        self.cipher.decrypt_inout_detached(&XNonce::from(*nonce), &data, value.into(), &Tag::from(*tag)).ok()?;
        sealed.truncate(length);
        Some((kind, sealed))
    }

    /// Seals a short value in a quarter of the time: its keyed hash authenticates it, and gives the stream that encrypts it.
    fn seal_short(&self, kind: u8, mut value: Vec<u8>) -> Vec<u8> {
        let hash = self.hash(kind, &value, &[]);
        self.apply_stream(&hash, &mut value);
        value.extend_from_slice(&hash);
        value.push(kind | SHORT_FORM);
        value
    }

    fn open_short(&self, mut sealed: Vec<u8>) -> Option<(u8, Vec<u8>)> {
        let length = sealed.len().checked_sub(NONCE + 1)?;
        let (value, tail) = sealed.split_at_mut(length);
        let (hash, kind) = tail.split_first_chunk::<NONCE>()?;
        self.apply_stream(hash, value);
        let kind = *kind.first()? & !SHORT_FORM;
        let is_same = self.hash(kind, value, &[]) == *hash;
        sealed.truncate(length);
        is_same.then_some((kind, sealed))
    }

    fn hash(&self, kind: u8, value: &[u8], context: &[u8]) -> [u8; NONCE] {
        let mut hasher = blake3::Hasher::new_keyed(&self.nonces);
        hasher.update(&(context.len() as u64).to_le_bytes()).update(context).update(&[kind]).update(value);
        let mut hash = [0; NONCE];
        hasher.finalize_xof().fill(&mut hash);
        hash
    }

    /// Encrypts or decrypts a value by the stream that follows from its hash.
    fn apply_stream(&self, hash: &[u8; NONCE], value: &mut [u8]) {
        let mut stream = blake3::Hasher::new_keyed(&self.stream).update(hash).finalize_xof();
        let mut keys = [0; 64];
        for piece in value.chunks_mut(keys.len()) {
            stream.fill(&mut keys);
            piece.iter_mut().zip(keys).for_each(|(byte, key)| *byte ^= key);
        }
    }
}

/// The keys of a store, or none for a clear one.
#[derive(Clone, Default)]
pub struct Seal {
    /// The keys that values are sealed with; `None` if they are clear.
    keys: Option<Arc<Keys>>,
    /// The keys of what is not converted to `keys` yet.
    previous: Option<Arc<Keys>>,
    /// True if a conversion is not finished: what is clear, or sealed with the previous keys, is valid.
    is_converting: bool,
}

impl fmt::Debug for Seal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Seal({})", self.id())
    }
}

impl Seal {
    pub fn new(data_key: Option<&KeyBytes>, previous: Option<&KeyBytes>, is_converting: bool) -> Seal {
        let keys = |key: &KeyBytes| Arc::new(Keys::new(key));
        Seal { keys: data_key.map(keys), previous: previous.map(keys), is_converting }
    }

    pub fn is_sealed(&self) -> bool {
        self.keys.is_some()
    }

    /// Returns the number that names the key in the header of a database; 0 for a clear one.
    pub(super) fn id(&self) -> i32 {
        self.keys.as_ref().map_or(0, |keys| keys.id)
    }

    /// Returns the keys of a database by the number in its header.
    /// Errors: it is sealed with another key, or it is clear and must not be.
    pub(super) fn of_database(&self, id: i32) -> Result<Seal, StoreError> {
        let keys = [&self.keys, &self.previous].into_iter().flatten().find(|keys| keys.id == id);
        match (id, keys) {
            (0, _) if self.keys.is_some() && !self.is_converting => Err(StoreError::Unsealed),
            (0, _) => Ok(Seal::default()),
            (_, Some(keys)) => Ok(Seal { keys: Some(keys.clone()), ..Seal::default() }),
            (_, None) => Err(StoreError::OtherKey),
        }
    }

    /// Returns the sealed form of a value, which can be opened only in the same context; the value itself in a clear store.
    pub(super) fn seal(&self, value: Vec<u8>, context: &[u8]) -> Vec<u8> {
        match &self.keys {
            Some(keys) => keys.seal(BYTES, value, context),
            None => value,
        }
    }

    /// Returns a value by its sealed form; `None` if it was sealed with another key or in another context, or is damaged.
    pub(super) fn open(&self, value: Vec<u8>, context: &[u8]) -> Option<Vec<u8>> {
        let Some(keys) = &self.keys else { return Some(value) };
        keys.open(value, context).map(|(_, value)| value)
    }

    /// Returns the sealed form of a value of a column; `None` for a real number, which a store does not hold.
    pub(super) fn seal_value(&self, value: Value, context: &[u8]) -> Option<Value> {
        let Some(keys) = &self.keys else { return Some(value) };
        Some(match value {
            Value::Text(text) => Value::Blob(keys.seal(TEXT, text.into_bytes(), context)),
            Value::Blob(bytes) => Value::Blob(keys.seal(BYTES, bytes, context)),
            Value::Integer(number) => Value::Blob(keys.seal(INTEGER, number.to_le_bytes().to_vec(), context)),
            Value::Null => Value::Null,
            Value::Real(_) => return None,
        })
    }

    /// Returns the value of a column by its sealed form; `None` as `open` does.
    pub(super) fn open_value(&self, value: Value, context: &[u8]) -> Option<Value> {
        let Some(keys) = &self.keys else { return Some(value) };
        let sealed = match value {
            Value::Blob(sealed) => sealed,
            Value::Null => return Some(Value::Null),
            _ => return None,
        };
        match keys.open(sealed, context)? {
            (TEXT, text) => String::from_utf8(text).map(Value::Text).ok(),
            (INTEGER, bytes) => bytes.try_into().map(|bytes| Value::Integer(i64::from_le_bytes(bytes))).ok(),
            (_, bytes) => Some(Value::Blob(bytes)),
        }
    }

    /// Returns the content of a file; one that is not converted yet can be clear, or sealed with the previous keys.
    pub fn open_file(&self, content: Vec<u8>) -> Option<Vec<u8>> {
        let opened = |keys: &Arc<Keys>| keys.open(content.clone(), b"file").map(|(_, value)| value);
        let opened = [&self.keys, &self.previous].into_iter().flatten().find_map(opened);
        let is_clear = self.keys.is_none() || self.is_converting;
        opened.or_else(|| is_clear.then_some(content))
    }

    /// Returns the content of a file in the form in which it is stored.
    pub fn seal_file(&self, content: Vec<u8>) -> Vec<u8> {
        self.seal(content, b"file")
    }

    /// Returns the form of a text that is only compared: a keyed hash in a sealed store, a plain one in a clear one.
    pub fn hashed(&self, text: &[u8]) -> blake3::Hash {
        self.keys.as_ref().map_or_else(|| blake3::hash(text), |keys| blake3::keyed_hash(&keys.masks, text))
    }

    /// Returns the sealed form of a file name; `None` in a clear store.
    pub(super) fn seal_name(&self, name: &[u8]) -> Option<Vec<u8>> {
        self.keys.as_ref().map(|keys| keys.seal_short(NAME, name.to_vec()))
    }

    /// Returns true if bytes have the form of a sealed file name.
    pub(super) fn is_name(sealed: &[u8]) -> bool {
        sealed.len() > NONCE + 1 && sealed.last() == Some(&(NAME | SHORT_FORM))
    }

    /// Returns the file name with this sealed form; `None` if it is not one.
    pub(super) fn open_name(&self, sealed: Vec<u8>) -> Option<Vec<u8>> {
        let (kind, name) = self.keys.as_ref()?.open_short(sealed)?;
        (kind == NAME).then_some(name)
    }

    /// Returns the keys with which files can be stored, those of new files first. In a sealed store there can be clear files: of a
    /// conversion that is not finished, or written while its keys were missing.
    pub(super) fn forms(&self) -> Vec<Seal> {
        let previous = self.previous.as_ref().map(|_| self.before());
        let clear = self.keys.as_ref().map(|_| Seal::default());
        std::iter::once(self.clone()).chain(previous).chain(clear).collect()
    }

    /// Returns the same with the previous keys in the place of the present ones.
    pub fn before(&self) -> Seal {
        Seal { keys: self.previous.clone(), ..Seal::default() }
    }

    /// Adds the functions `seal`, `open` and `mask` to a connection.
    pub(super) fn register(&self, connection: &Connection) -> rusqlite::Result<()> {
        let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_DIRECTONLY;
        if !self.is_sealed() {
            for (name, arguments) in [("seal", 1), ("seal", 2), ("open", 1), ("open", 2), ("mask", 1)] {
                connection.create_scalar_function(name, arguments, flags, |call| Ok(call.get_arg(0)))?;
            }
            return Ok(());
        }
        // Values that a query sorts are not written to a file either.
        connection.pragma_update(None, "temp_store", "MEMORY")?;
        for (arguments, flags) in [(1, flags), (2, flags.difference(FunctionFlags::SQLITE_DETERMINISTIC))] {
            let own = self.clone();
            connection.create_scalar_function("seal", arguments, flags, move |call| own.sealed(call))?;
            let own = self.clone();
            connection.create_scalar_function("open", arguments, flags, move |call| own.opened(call))?;
        }
        let own = self.clone();
        let mask = move |call: &Context<'_>| {
            let value = call.get_raw(0).as_bytes_or_null()?.unwrap_or_default();
            Ok(own.hashed(value).as_bytes()[..16].to_vec())
        };
        connection.create_scalar_function("mask", 1, flags, mask)
    }

    fn sealed(&self, call: &Context<'_>) -> rusqlite::Result<Value> {
        let other = rusqlite::Error::InvalidFunctionParameterType(0, Type::Real);
        self.seal_value(call.get(0)?, context(call)?).ok_or(other)
    }

    fn opened(&self, call: &Context<'_>) -> rusqlite::Result<Value> {
        let damaged = || rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_CORRUPT), None);
        self.open_value(call.get(0)?, context(call)?).ok_or_else(damaged)
    }
}

/// Returns the second argument, to which a value is bound: that with which its row is found.
fn context<'a>(call: &'a Context<'_>) -> rusqlite::Result<&'a [u8]> {
    let given = (call.len() > 1).then(|| call.get_raw(1).as_bytes()).transpose();
    Ok(given?.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(byte: u8) -> KeyBytes {
        Zeroizing::new([byte; 32])
    }

    #[test]
    fn sealed_values_open_with_the_same_key_and_context_only() {
        let (seal, other) = (Seal::new(Some(&keys(1)), None, false), Seal::new(Some(&keys(2)), None, false));
        for (value, context) in [(&b"a word"[..], &b"here"[..]), (b"a word", b""), (&[7; 300], b""), (b"", b"")] {
            let sealed = seal.seal(value.to_vec(), context);
            let is_equal = sealed == seal.seal(value.to_vec(), context);
            assert_eq!(is_equal, context.is_empty(), "equal values stay equal, unless they are found by their context");
            assert_eq!(seal.open(sealed.clone(), context).as_deref(), Some(value));
            assert_eq!((seal.open(sealed.clone(), b"there"), other.open(sealed.clone(), context)), (None, None));
            for place in 0..sealed.len() {
                for bit in [1, SHORT_FORM] {
                    let mut wrong = sealed.clone();
                    wrong[place] ^= bit;
                    assert_eq!(seal.open(wrong, context), None, "changed at {place}");
                }
                assert_eq!(seal.open(sealed[..place].to_vec(), context), None, "cut at {place}");
            }
        }
    }

    #[test]
    fn names_of_files_are_sealed() {
        let seal = Seal::new(Some(&keys(1)), None, false);
        let sealed = seal.seal_name(b"s.jsonl").unwrap();
        assert_eq!(seal.open_name(sealed.clone()).as_deref(), Some(&b"s.jsonl"[..]));
        for place in 0..sealed.len() {
            let mut wrong = sealed.clone();
            wrong[place] ^= 1;
            assert_eq!((seal.open_name(wrong), seal.open_name(sealed[..place].to_vec())), (None, None), "{place}");
        }
    }

    #[test]
    fn functions_of_a_clear_database_return_their_argument() {
        for seal in [Seal::default(), Seal::new(Some(&keys(1)), None, false)] {
            let connection = Connection::open_in_memory().unwrap();
            seal.register(&connection).unwrap();
            let value = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, Value>(0)).unwrap();
            assert_eq!(value("SELECT open(seal('é'))"), Value::Text("é".to_owned()));
            assert_eq!(value("SELECT open(seal(x'00ff', 'a'), 'a')"), Value::Blob(vec![0, 255]));
            assert_eq!((value("SELECT open(seal(NULL))"), value("SELECT open(seal(7))")), (Value::Null, Value::Integer(7)));
            assert_eq!(value("SELECT seal('a') = 'a'"), Value::Integer(i64::from(!seal.is_sealed())));
            assert_eq!(value("SELECT mask('a') = 'a'"), Value::Integer(i64::from(!seal.is_sealed())));
        }
    }
}
