//! Encrypts a file for another person, in the format of age: <https://age-encryption.org/v1>.

use super::database::StoreError;
use super::seal_file::random;
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use chacha20poly1305::aead::{Aead, KeyInit};
use chacha20poly1305::{ChaCha20Poly1305, Nonce};
use sha2::{Digest, Sha256};
use x25519_dalek::{PublicKey, StaticSecret};
use zeroize::Zeroizing;

const VERSION: &str = "age-encryption.org/v1";
/// The prefix of recipients, and the characters after it, each of 5 bits.
const PREFIX: &str = "age";
const CHARACTERS: &[u8; 32] = b"qpzry9x8gf2tvdw0s3jn54khce6mua7l";
const CHECKSUM: usize = 6;
const PIECE: usize = 64 << 10;

/// A person who can decrypt a file: the text begins with `age1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipient([u8; 32]);

impl Recipient {
    /// Parses a recipient; `None` if it is misspelled, or of another kind.
    pub fn parse(text: &str) -> Option<Recipient> {
        let is_one_case = text == text.to_ascii_lowercase() || text == text.to_ascii_uppercase();
        let text = text.to_ascii_lowercase();
        let values = text.strip_prefix(PREFIX)?.strip_prefix('1')?.bytes();
        let values: Option<Vec<u8>> =
            values.map(|byte| CHARACTERS.iter().position(|known| *known == byte).map(|value| value as u8)).collect();
        let values = values.filter(|_| is_one_case)?;
        let expanded = PREFIX.bytes().map(|byte| byte >> 5).chain([0]).chain(PREFIX.bytes().map(|byte| byte & 31));
        if checksum(expanded.chain(values.iter().copied())) != 1 {
            return None;
        }
        let (mut bytes, mut bits, mut count) = (Vec::new(), 0u32, 0);
        for value in &values[..values.len().checked_sub(CHECKSUM)?] {
            (bits, count) = (bits << 5 | u32::from(*value), count + 5);
            if count >= 8 {
                count -= 8;
                bytes.push((bits >> count) as u8);
                bits &= (1 << count) - 1;
            }
        }
        let key = bytes.try_into().ok()?;
        (bits == 0).then_some(Recipient(key))
    }
}

/// Returns the checksum of bech32 over values of 5 bits; 1 if they are right.
fn checksum(values: impl Iterator<Item = u8>) -> u32 {
    const GENERATOR: [u32; 5] = [0x3b6a_57b2, 0x2650_8e6d, 0x1ea1_19fa, 0x3d42_33dd, 0x2a14_62b3];
    values.fold(1, |sum, value| {
        let top = sum >> 25;
        let sum = (sum & 0x01ff_ffff) << 5 ^ u32::from(value);
        (0..5).filter(|bit| top >> bit & 1 == 1).fold(sum, |sum, bit| sum ^ GENERATOR[bit])
    })
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
        let key = derive(shared.as_bytes(), &salt, format!("{VERSION}/X25519").as_bytes());
        let body = encrypt(&key, [0; 12], &*file_key)?;
        head.push_str(&format!("-> X25519 {}\n{}\n", STANDARD_NO_PAD.encode(share), STANDARD_NO_PAD.encode(body)));
    }
    head.push_str("---");
    let mac = authenticate(&*derive(&*file_key, &[], b"header"), &[head.as_bytes()]);
    let mut file = format!("{head} {}\n", STANDARD_NO_PAD.encode(*mac)).into_bytes();
    let salt = random()?;
    file.extend_from_slice(&salt[..16]);
    let key = derive(&*file_key, &salt[..16], b"payload");
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

/// Derives a key: HKDF with SHA-256, of one block.
fn derive(secret: &[u8], salt: &[u8], purpose: &[u8]) -> Zeroizing<[u8; 32]> {
    authenticate(&*authenticate(salt, &[secret]), &[purpose, &[1]])
}

/// Returns the HMAC with SHA-256 of parts, with a key of at most 64 bytes.
fn authenticate(key: &[u8], parts: &[&[u8]]) -> Zeroizing<[u8; 32]> {
    let mut block = Zeroizing::new([0; 64]);
    block[..key.len()].copy_from_slice(key);
    let padded = |byte: u8| Zeroizing::new(block.map(|key| key ^ byte));
    let mut inner = Sha256::new_with_prefix(*padded(0x36));
    parts.iter().for_each(|part| inner.update(part));
    Zeroizing::new(Sha256::new_with_prefix(*padded(0x5c)).chain_update(inner.finalize()).finalize().into())
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

    #[test]
    fn the_hash_functions_are_those_of_the_standards() {
        let hexadecimal = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        // RFC 4231, case 2.
        let mac = authenticate(b"Jefe", &[b"what do ya want ", b"for nothing?"]);
        assert_eq!(hexadecimal(&*mac), "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
        // RFC 5869, case 3, its first block.
        let key = derive(&[0x0b; 22], &[], &[]);
        assert_eq!(hexadecimal(&*key), "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d");
    }
}
