//! The keys of the store: found once, from a passphrase, a key file or the keyring of the system.
#![expect(clippy::disallowed_methods, reason = "asks the terminal, and starts the program of the keyring")]

use super::{CommandError, files, refusal};
use crate::fsio::{Disk, Identity, RealDisk};
use crate::store::{KeyBytes, KeyMethod, SEAL_FILE, Seal, SealFile, holds_sealed};
use crate::workspace::kept_folder;
use anyhow::{Context, anyhow};
use std::env::var_os;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use zeroize::Zeroizing;

/// The passphrase, for a process without a terminal.
pub const PASSPHRASE: &str = "APERTURE_PASSPHRASE";
/// The key file, in the place of the one that is recorded.
pub const KEY_FILE: &str = "APERTURE_KEY_FILE";
/// The name of aperture in the keyring.
const SERVICE: &str = "aperture";

const KEY_IS_MISSING: &str =
    "restore that file from a backup; without it the store cannot be read, and to start a new one, move that directory away";

/// A passphrase, or the content of a key file or of an entry of the keyring.
pub type Secret = Zeroizing<Vec<u8>>;

/// The keys of the store in a directory. They are found again when their file changes, and a passphrase is asked for once.
#[derive(Default)]
pub struct KeyHolder {
    directory: Option<PathBuf>,
    /// True if nothing was sealed without keys when it was last looked for: the store is clear until its keys appear.
    is_clear: AtomicBool,
    known: Mutex<Option<(Identity, Held)>>,
}

/// The keys, or the reason why there are none.
#[derive(Clone)]
enum Held {
    Open(SealFile, KeyBytes, Seal),
    /// The reason, and the hint what to do.
    Locked(String, String),
}

impl KeyHolder {
    pub fn new(directory: Option<PathBuf>) -> Arc<KeyHolder> {
        Arc::new(KeyHolder { directory, ..KeyHolder::default() })
    }

    /// Returns the keys; a clear seal if the store has none.
    /// Errors: the store is locked.
    pub fn seal(&self) -> Result<Seal, CommandError> {
        Ok(self.open()?.map(|(_, _, seal)| seal).unwrap_or_default())
    }

    /// Returns the file of the keys with the data key and the keys; `None` if the store has none.
    /// Errors: the store is locked.
    pub fn open(&self) -> Result<Option<(SealFile, KeyBytes, Seal)>, CommandError> {
        let Some(directory) = &self.directory else { return Ok(None) };
        let path = directory.join(SEAL_FILE);
        let identity = match RealDisk.identify(&path) {
            Ok(identity) => identity,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let is_clear = || !holds_sealed(&RealDisk, directory, &kept_folder(directory));
                if self.is_clear.load(Ordering::Relaxed) || is_clear() {
                    self.is_clear.store(true, Ordering::Relaxed);
                    return Ok(None);
                }
                return Err(locked(format!("{} is missing", path.display()), KEY_IS_MISSING.to_owned()));
            }
            // The store itself reports a directory that is a file.
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => return Ok(None),
            Err(error) => return Err(CommandError::of_disk(error, format!("cannot read {}", path.display()))),
        };
        self.is_clear.store(false, Ordering::Relaxed);
        let mut known = self.known.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let held = match &*known {
            Some((read, held)) if *read == identity => held.clone(),
            _ => {
                let held = unlock(directory).unwrap_or_else(|error| {
                    let hint = error.hints.first().cloned().unwrap_or_default();
                    Held::Locked(format!("{:#}", error.source), hint)
                });
                known.insert((identity, held)).1.clone()
            }
        };
        match held {
            Held::Open(file, key, seal) => Ok(Some((file, key, seal))),
            Held::Locked(reason, hint) => Err(locked(reason, hint)),
        }
    }

    /// Returns true if the store has keys that cannot be found.
    pub fn is_locked(&self) -> bool {
        self.seal().is_err()
    }
}

fn locked(reason: String, hint: String) -> CommandError {
    CommandError::refused(anyhow!(reason).context("the store is locked")).hint(hint)
}

/// Reads the file of the keys in a directory; `None` if it has none.
pub fn read(directory: &Path) -> Result<Option<SealFile>, CommandError> {
    let path = directory.join(SEAL_FILE);
    let text =
        files::text(&RealDisk, &path).map_err(|error| CommandError::of_disk(error, format!("cannot read {}", path.display())))?;
    Ok(text.map(|text| SealFile::parse(&text)).transpose()?)
}

/// Writes the file of the keys, atomically and readable by its owner only.
pub fn write(disk: &dyn Disk, directory: &Path, file: &SealFile) -> Result<(), CommandError> {
    let path = directory.join(SEAL_FILE);
    let text = file.to_text()?;
    files::write_private(disk, &path, text.as_bytes())
        .map_err(|error| CommandError::of_disk(error, format!("cannot write {}", path.display())))
}

fn unlock(directory: &Path) -> Result<Held, CommandError> {
    let file = read(directory)?.ok_or_else(|| refused("its key was removed", "try again"))?;
    let secret = match file.method {
        KeyMethod::KeyFile => {
            let named = var_os(KEY_FILE).filter(|path| !path.is_empty()).map(PathBuf::from);
            let path = named.or_else(|| file.path.clone()).unwrap_or_default();
            read_key_file(&path)?
        }
        KeyMethod::Passphrase => match passphrase_of_environment() {
            Some(passphrase) => passphrase,
            None if can_ask() => ask("Passphrase of the aperture store: ")?,
            None => {
                let hint = format!(
                    "set {PASSPHRASE}, or run it in a terminal; hooks and services need a key file: aperture store rekey --key-file FILE"
                );
                return Err(refused("its passphrase is not known", &hint));
            }
        },
        KeyMethod::Keyring => look_up(&file.salt)?,
    };
    let key = file.data_key(&secret).map_err(|error| CommandError::from(error).hint(wrong_key_hint(file.method)))?;
    let seal = file.seal(&key)?;
    Ok(Held::Open(file, key, seal))
}

fn wrong_key_hint(method: KeyMethod) -> String {
    match method {
        KeyMethod::Passphrase => "try again with the right passphrase".to_owned(),
        KeyMethod::KeyFile => format!("name the right file in {KEY_FILE}"),
        KeyMethod::Keyring => "restore the entry 'aperture' of the keyring".to_owned(),
    }
}

fn refused(what: &str, hint: &str) -> CommandError {
    refusal!("{what}").hint(hint)
}

/// Returns the passphrase in the environment, if there is one.
pub fn passphrase_of_environment() -> Option<Secret> {
    let given = var_os(PASSPHRASE).filter(|passphrase| !passphrase.is_empty())?;
    Some(Zeroizing::new(given.into_encoded_bytes()))
}

/// Returns true if a person can be asked: completions, hooks and pipes must not wait for an answer.
pub fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal() && io::stderr().is_terminal()
}

/// Asks for a passphrase on the terminal, without echo.
/// Errors: it is empty, or the terminal cannot be read.
pub fn ask(prompt: &str) -> Result<Secret, CommandError> {
    // It restores the terminal if a signal ends the program.
    #[cfg(unix)]
    let _terminal = super::KeyTerminal::new();
    let passphrase = Zeroizing::new(rpassword::prompt_password(prompt)?);
    if passphrase.is_empty() {
        return Err(refused("no passphrase was entered", "try again"));
    }
    Ok(Zeroizing::new(passphrase.as_bytes().to_vec()))
}

/// Returns the content of a key file, which only its owner may read.
/// Errors: it cannot be read, is empty, or others may read it.
pub fn read_key_file(path: &Path) -> Result<Secret, CommandError> {
    let what = || format!("cannot read the key file {}", path.display());
    let content = files::whole(&RealDisk, path).map_err(|error| CommandError::of_disk(error, what()))?;
    let content = content.filter(|content| !content.is_empty());
    let content = content.ok_or_else(|| {
        refused(&format!("the key file {} is missing or empty", path.display()), &format!("restore it, or name it in {KEY_FILE}"))
    })?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(path)?.permissions().mode();
        if mode & 0o077 != 0 {
            let error = format!("others may read the key file {}", path.display());
            return Err(refused(&error, &format!("chmod 600 {}", path.display())));
        }
    }
    Ok(Zeroizing::new(content))
}

/// Returns the secret in the keyring of the system with a name.
/// Errors: there is no keyring, or it does not have the secret.
fn look_up(name: &str) -> Result<Secret, CommandError> {
    let output = match cfg!(target_os = "macos") {
        true => keyring("security", &["find-generic-password", "-s", SERVICE, "-a", name, "-w"], None)?,
        false => keyring("secret-tool", &["lookup", "service", SERVICE, "key", name], None)?,
    };
    let secret = output.strip_suffix(b"\n").unwrap_or(&output);
    if secret.is_empty() {
        return Err(refused(
            "the keyring of the system does not have its key",
            "unlock the keyring of your session, or restore its entry 'aperture'",
        ));
    }
    Ok(Zeroizing::new(secret.to_vec()))
}

/// Stores a secret in the keyring of the system under a name, and reads it again.
/// Errors: there is no keyring.
pub fn keep_in_keyring(name: &str, secret: &Secret) -> Result<(), CommandError> {
    let text = String::from_utf8_lossy(secret);
    match cfg!(target_os = "macos") {
        // In its input: arguments are visible to other users.
        true => {
            let line = Zeroizing::new(format!("add-generic-password -U -s {SERVICE} -a {name} -w {text}\n"));
            keyring("security", &["-i"], Some(line.as_bytes()))?
        }
        false => {
            let arguments = ["store", "--label", "Key of the aperture store", "service", SERVICE, "key", name];
            keyring("secret-tool", &arguments, Some(secret))?
        }
    };
    if look_up(name)? != *secret {
        return Err(refused("the keyring of the system did not keep the key", "use a key file or a passphrase"));
    }
    Ok(())
}

/// Deletes a secret from the keyring of the system, as far as possible.
pub fn forget_in_keyring(name: &str) {
    let _ = match cfg!(target_os = "macos") {
        true => keyring("security", &["delete-generic-password", "-s", SERVICE, "-a", name], None),
        false => keyring("secret-tool", &["clear", "service", SERVICE, "key", name], None),
    };
}

fn keyring(program: &str, arguments: &[&str], input: Option<&[u8]>) -> Result<Secret, CommandError> {
    let failed = |error: anyhow::Error| {
        CommandError::refused(error.context("the keyring of the system cannot be used"))
            .hint("without a keyring: --key-file FILE or --passphrase")
    };
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() })
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .with_context(|| format!("cannot start {program}"))
        .map_err(failed)?;
    if let (Some(mut pipe), Some(input)) = (child.stdin.take(), input) {
        let _ = pipe.write_all(input);
    }
    let output = child.wait_with_output().map_err(|error| failed(error.into()))?;
    match output.status.success() {
        true => Ok(Zeroizing::new(output.stdout)),
        false => Err(failed(anyhow!("{program} failed"))),
    }
}
