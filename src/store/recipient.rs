//! Encrypts a file for another person, in the format of age: <https://age-encryption.org/v1>.

use super::database::StoreError;
use super::seal_file::random;
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use bech32::primitives::decode::CheckedHrpstring;
use bech32::{Bech32, Hrp};
use chacha20poly1305::aead::{Aead, KeyInit};
use chacha20poly1305::{ChaCha20Poly1305, Nonce};
use hkdf::Hkdf;
use hmac::{Hmac, Mac};
use sha2::Sha256;
use x25519_dalek::{PublicKey, StaticSecret};
use zeroize::Zeroizing;

const VERSION: &str = "age-encryption.org/v1";
const PIECE: usize = 64 << 10;

/// A person who can decrypt a file: the text begins with `age1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipient([u8; 32]);

impl Recipient {
    /// Parses a recipient; `None` if it is misspelled, or of another kind.
    pub fn parse(text: &str) -> Option<Recipient> {
        let decoded = CheckedHrpstring::new::<Bech32>(text).ok()?;
        let key: [u8; 32] = decoded.byte_iter().collect::<Vec<u8>>().try_into().ok()?;
        let written = bech32::encode::<Bech32>(Hrp::parse("age").ok()?, &key).ok()?;
        written.eq_ignore_ascii_case(text).then_some(Recipient(key))
    }
}

/// Returns a content encrypted for recipients, each of whom can decrypt it.
/// Errors: the platform gives no random numbers, or a recipient is not a valid key.
pub fn encrypt_for(recipients: &[Recipient], content: &[u8]) -> Result<Vec<u8>, StoreError> {
    let file_key = Zeroizing::new(<[u8; 16]>::try_from(&random()?[..16]).unwrap_or_default());
    let mut head = format!("{VERSION}\n");
    for recipient in recipients {
        let secret = StaticSecret::from(*random()?);
        let share = PublicKey::from(&secret);
        let shared = secret.diffie_hellman(&PublicKey::from(recipient.0));
        if !shared.was_contributory() {
            return Err(StoreError::InvalidRecipient);
        }
        let salt = [share.to_bytes(), recipient.0].concat();
        let key = derive(shared.as_bytes(), &salt, format!("{VERSION}/X25519").as_bytes())?;
        let body = encrypt(&key, [0; 12], &*file_key)?;
        head.push_str(&format!("-> X25519 {}\n{}\n", STANDARD_NO_PAD.encode(share), STANDARD_NO_PAD.encode(body)));
    }
    head.push_str("---");
    let mac = Hmac::<Sha256>::new_from_slice(&*derive(&*file_key, &[], b"header")?).map_err(|_| StoreError::InvalidRecipient)?;
    let mac = mac.chain_update(&head).finalize().into_bytes();
    let mut file = format!("{head} {}\n", STANDARD_NO_PAD.encode(mac)).into_bytes();
    let salt = random()?;
    file.extend_from_slice(&salt[..16]);
    let key = derive(&*file_key, &salt[..16], b"payload")?;
    let mut pieces = content.chunks(PIECE).peekable();
    for number in 0u64.. {
        let piece = pieces.next().unwrap_or_default();
        let is_last = pieces.peek().is_none();
        let mut nonce = [0; 12];
        nonce[3..11].copy_from_slice(&number.to_be_bytes());
        nonce[11] = u8::from(is_last);
        file.extend(encrypt(&key, nonce, piece)?);
        if is_last {
            break;
        }
    }
    Ok(file)
}

fn encrypt(key: &[u8; 32], nonce: [u8; 12], content: &[u8]) -> Result<Vec<u8>, StoreError> {
    let cipher = ChaCha20Poly1305::new(key.into());
    cipher.encrypt(&Nonce::from(nonce), content).map_err(|_| StoreError::InvalidRecipient)
}

fn derive(secret: &[u8], salt: &[u8], purpose: &[u8]) -> Result<Zeroizing<[u8; 32]>, StoreError> {
    let mut key = Zeroizing::new([0; 32]);
    let derived = Hkdf::<Sha256>::new(Some(salt), secret).expand(purpose, &mut *key);
    derived.map_err(|_| StoreError::InvalidRecipient).map(|()| key)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A recipient that the program age made.
    const RECIPIENT: &str = "age1r7nk8p9yv78r0np8nglj4evyzsqt9wfzkv5ek4cq85y7jp9t2paq8qdyr2";

    #[test]
    fn a_misspelled_recipient_is_refused() {
        assert!(Recipient::parse(RECIPIENT).is_some());
        assert_eq!(Recipient::parse(&RECIPIENT.to_uppercase()), Recipient::parse(RECIPIENT));
        for place in 0..RECIPIENT.len() {
            let mut wrong = RECIPIENT.to_owned();
            wrong.replace_range(place..=place, if &wrong[place..=place] == "q" { "p" } else { "q" });
            assert_eq!(Recipient::parse(&wrong), None, "{wrong}");
            assert_eq!(Recipient::parse(&RECIPIENT[..place]), None);
        }
        assert_eq!(Recipient::parse("ssh-ed25519 AAAA"), None);
    }
}
