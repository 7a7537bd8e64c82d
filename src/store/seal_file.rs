//! The file with the key of a store: the data key, wrapped by a passphrase, a key file or the keyring of the system.

use super::database::StoreError;
use super::seal::{KeyBytes, Seal};
use super::values::hexadecimal;
use crate::model::words;
use argon2::{Algorithm, Argon2, Params, Version};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use zeroize::Zeroizing;

/// File name in the data directory.
pub const SEAL_FILE: &str = "seal.toml";

const FORMAT: u32 = 1;
/// Memory in KiB and passes of argon2id for new passphrases. Source: measured, 0.2 s of one core.
const MEMORY: u32 = 64 << 10;
const PASSES: u32 = 3;

words! {
    /// The kind of the secret that wraps the data key.
    #[derive(Deserialize)]
    pub enum KeyMethod {
        Passphrase = "passphrase",
        /// A file that only the user can read.
        KeyFile = "key-file",
        /// The keyring of the system.
        Keyring = "keyring",
    }
}

words! {
    /// The state of a store with a key.
    #[derive(Deserialize)]
    pub enum SealState {
        /// All is sealed.
        Sealed = "sealed",
        /// Clear values, and those with the previous key, are being sealed.
        Sealing = "sealing",
        /// Sealed values are being opened.
        Opening = "opening",
    }
}

/// The file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SealFile {
    format: u32,
    pub state: SealState,
    pub method: KeyMethod,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
    /// Names this wrapping; for a passphrase, its salt.
    pub salt: String,
    memory: u32,
    passes: u32,
    /// The data key, sealed with the key that the secret gives.
    wrapped: String,
    /// The previous data key, sealed with the data key.
    #[serde(skip_serializing_if = "Option::is_none")]
    previous: Option<String>,
}

impl SealFile {
    /// Wraps a data key. `secret` gives the secret for the name of the wrapping.
    /// Errors: the platform gives no random numbers, or there is no secret.
    pub fn wrap<E: From<StoreError>>(
        method: KeyMethod,
        path: Option<PathBuf>,
        data_key: &KeyBytes,
        secret: impl FnOnce(&str) -> Result<Zeroizing<Vec<u8>>, E>,
    ) -> Result<SealFile, E> {
        let salt = hexadecimal(&random()?[..16]);
        let (memory, passes) = (MEMORY, PASSES);
        let mut file = SealFile {
            format: FORMAT,
            state: SealState::Sealing,
            method,
            path,
            salt,
            memory,
            passes,
            wrapped: String::new(),
            previous: None,
        };
        let secret = secret(&file.salt)?;
        file.wrapped = hexadecimal(&Seal::new(Some(&file.wrapping_key(&secret)?), None, false).seal(data_key.to_vec(), WRAPPED));
        Ok(file)
    }

    /// Returns the file with the same state and the same previous key, for another wrapping of the same data key.
    pub fn rewrapped(&self, new: SealFile) -> SealFile {
        SealFile { state: self.state, previous: self.previous.clone(), ..new }
    }

    /// Returns the file with a previous data key, which the data key opens.
    pub fn following(self, data_key: &KeyBytes, previous: &KeyBytes) -> SealFile {
        let previous = Seal::new(Some(data_key), None, false).seal(previous.to_vec(), PREVIOUS);
        SealFile { previous: Some(hexadecimal(&previous)), ..self }
    }

    /// Returns the file in another state. The previous key ends with a conversion.
    pub fn with_state(&self, state: SealState) -> SealFile {
        let previous = self.previous.clone().filter(|_| state == SealState::Sealing);
        SealFile { state, previous, ..self.clone() }
    }

    /// Parses the file.
    /// Errors: it is damaged, or a newer version wrote it.
    pub fn parse(content: &str) -> Result<SealFile, StoreError> {
        let damaged = |error: toml::de::Error| StoreError::Damaged(format!("{SEAL_FILE} is unreadable: {}", error.message()));
        let file: SealFile = toml::from_str(content).map_err(damaged)?;
        match file.format {
            FORMAT => Ok(file),
            found => Err(StoreError::Newer { found: found as usize, known: FORMAT as usize }),
        }
    }

    /// Returns the content of the file.
    /// Errors: the path of the key file is not UTF-8.
    pub fn to_text(&self) -> Result<String, StoreError> {
        let content = toml::to_string(self).map_err(|error| StoreError::Damaged(format!("{SEAL_FILE}: {error}")))?;
        Ok(format!("# The key of aperture's store. Without this file the store cannot be read.\n{content}"))
    }

    pub fn data_key(&self, secret: &[u8]) -> Result<KeyBytes, StoreError> {
        let key = Seal::new(Some(&self.wrapping_key(secret)?), None, false);
        opened(&key, &self.wrapped, WRAPPED).ok_or(StoreError::WrongKey(self.method))
    }

    pub fn seal(&self, data_key: &KeyBytes) -> Result<Seal, StoreError> {
        let previous = self.previous.as_ref().map(|previous| {
            let damaged = || StoreError::Damaged(format!("{SEAL_FILE} has an unreadable previous key"));
            opened(&Seal::new(Some(data_key), None, false), previous, PREVIOUS).ok_or_else(damaged)
        });
        let previous = previous.transpose()?;
        Ok(match self.state {
            SealState::Sealed => Seal::new(Some(data_key), None, false),
            SealState::Sealing => Seal::new(Some(data_key), previous.as_ref(), true),
            SealState::Opening => Seal::new(None, Some(data_key), true),
        })
    }

    fn wrapping_key(&self, secret: &[u8]) -> Result<KeyBytes, StoreError> {
        if self.method != KeyMethod::Passphrase {
            return Ok(Zeroizing::new(blake3::derive_key("aperture 2026 store: secret of a key file or keyring", secret)));
        }
        let invalid = |error: argon2::Error| StoreError::Damaged(format!("{SEAL_FILE}: {error}"));
        let parameters = Params::new(self.memory, self.passes, 1, None).map_err(invalid)?;
        let mut key = Zeroizing::new([0; 32]);
        let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, parameters);
        argon2.hash_password_into(secret, self.salt.as_bytes(), &mut *key).map_err(invalid)?;
        Ok(key)
    }
}

const WRAPPED: &[u8] = b"data key";
const PREVIOUS: &[u8] = b"previous data key";

/// Returns random bytes for a key.
pub fn random() -> Result<KeyBytes, StoreError> {
    let mut bytes = Zeroizing::new([0; 32]);
    getrandom::fill(&mut *bytes).map_err(|_| StoreError::NoRandomNumbers)?;
    Ok(bytes)
}

fn opened(seal: &Seal, text: &str, context: &[u8]) -> Option<KeyBytes> {
    let digits = text.as_bytes().chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok());
    let opened = Zeroizing::new(seal.open(digits.collect::<Option<Vec<u8>>>()?, context)?);
    opened.as_slice().try_into().ok().map(Zeroizing::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrapped_key_is_opened_by_its_secret_only() {
        let (key, next) = (random().unwrap(), random().unwrap());
        for method in [KeyMethod::KeyFile, KeyMethod::Passphrase] {
            let secret = |_: &str| Ok::<_, StoreError>(Zeroizing::new(b"secret".to_vec()));
            let mut file = SealFile::wrap(method, None, &next, secret).unwrap().following(&next, &key);
            file = SealFile::parse(&file.to_text().unwrap()).unwrap();
            assert!(matches!(file.data_key(b"other"), Err(StoreError::WrongKey(_))));
            assert_eq!(*file.data_key(b"secret").unwrap(), *next);
            let (now, before) = (Seal::new(Some(&next), None, false), Seal::new(Some(&key), None, false));
            let seal = file.seal(&next).unwrap();
            assert_eq!((seal.id(), seal.before().id()), (now.id(), before.id()));
            let opening = file.with_state(SealState::Opening).seal(&next).unwrap();
            assert_eq!((opening.id(), opening.before().id()), (0, now.id()));
        }
    }
}
