use super::report::{ClearPlace, StoreReport, StoreStatusReport, StoredRows};
use super::{Action, Arguments, Key};
use crate::app::seal::{self, Secret};
use crate::app::{CommandError, Env, ErrorKind, files, refusal, settings_file};
use crate::fsio::{Disk, RealDisk};
use crate::store::{
    DATABASES, KeyBytes, KeyMethod, PATIENCE, SEAL_FILE, SIDECAR_FILE, STORE_FILE, Seal, SealFile, SealState, convert_database,
    convert_folder, counts, delete, expect_unused, hexadecimal, random,
};
use crate::workspace::{kept_folder, older_path};
use anyhow::anyhow;
use std::path::{Path, PathBuf};
use std::time::Duration;
use zeroize::Zeroizing;

/// Longest wait for those that have the store open before anything is changed: a command ends soon, a proxy does not.
const UNUSED: Duration = Duration::from_secs(2);
/// The new passphrase for `rekey`, for a process without a terminal.
const NEW_PASSPHRASE: &str = "APERTURE_NEW_PASSPHRASE";

/// Executes the action.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    let directory = env.store_directory()?;
    match &arguments.action {
        None | Some(Action::Status) => env.print(&status(env, &directory)?),
        Some(Action::Encrypt { dry_run: true, .. }) => env.print(&planned(&directory, true)?),
        Some(Action::Decrypt { dry_run: true }) => env.print(&planned(&directory, false)?),
        Some(Action::Rekey { dry_run: true, data, .. }) => {
            opened(env)?;
            let report = planned(&directory, true)?;
            env.print(&if *data { report } else { StoreReport { rows: 0, files: 0, ..report } })
        }
        Some(Action::Encrypt { key, .. }) => with_lock(env, &directory, || encrypt(env, &directory, key)),
        Some(Action::Decrypt { .. }) => with_lock(env, &directory, || decrypt(env, &directory)),
        Some(Action::Rekey { key, data, .. }) => with_lock(env, &directory, || rekey(env, &directory, key, *data)),
    }
}

/// Keeps other conversions from running meanwhile, and prints the report of one.
fn with_lock(
    env: &Env,
    directory: &Path,
    convert: impl FnOnce() -> Result<StoreReport, CommandError>,
) -> Result<(), CommandError> {
    let lock = RealDisk.lock(&directory.join("locks").join("seal"));
    let Some(_lock) = lock.map_err(|error| CommandError::of_disk(error, "cannot lock the store".to_owned()))? else {
        let error = anyhow!("another process seals or opens the store");
        return Err(CommandError::new(ErrorKind::Conflict, error).hint("try again when it is done"));
    };
    env.print(&convert()?)
}

fn encrypt(env: &Env, directory: &Path, key: &Key) -> Result<StoreReport, CommandError> {
    let (file, data_key) = match env.keys.open()? {
        // An opening that was interrupted is reverted: the key is the same. In a sealed store there can be clear files as well.
        Some((file, data_key, _)) => (file.with_state(SealState::Sealing), data_key),
        None => {
            let data_key = random()?;
            (wrap(env, key, &data_key, seal::PASSPHRASE)?, data_key)
        }
    };
    finish(env, directory, &file, &data_key)
}

fn decrypt(env: &Env, directory: &Path) -> Result<StoreReport, CommandError> {
    let Some((file, data_key, _)) = env.keys.open()? else {
        return Ok(StoreReport { dry_run: false, is_sealed: false, method: None, rows: 0, files: 0, bytes: 0 });
    };
    if file.state == SealState::Sealing {
        finish(env, directory, &file, &data_key)?;
    }
    finish(env, directory, &file.with_state(SealState::Opening), &data_key)
}

fn rekey(env: &Env, directory: &Path, key: &Key, is_of_data: bool) -> Result<StoreReport, CommandError> {
    let (file, data_key) = opened(env)?;
    let replaced = file.clone();
    let report = if is_of_data {
        if file.state != SealState::Sealed {
            // A third key would be needed.
            finish(env, directory, &file.with_state(SealState::Sealing), &data_key)?;
        }
        let new_key = random()?;
        let new = wrap(env, key, &new_key, NEW_PASSPHRASE)?.following(&new_key, &data_key);
        finish(env, directory, &new, &new_key)?
    } else {
        let new = file.rewrapped(wrap(env, key, &data_key, NEW_PASSPHRASE)?);
        seal::write(&RealDisk, directory, &new)?;
        StoreReport { dry_run: false, is_sealed: true, method: Some(new.method), rows: 0, files: 0, bytes: 0 }
    };
    if replaced.method == KeyMethod::Keyring {
        seal::forget_in_keyring(&replaced.salt);
    }
    Ok(report)
}

fn opened(env: &Env) -> Result<(SealFile, KeyBytes), CommandError> {
    let unsealed = || refusal!("the store is not sealed").hint("to seal it: aperture store encrypt");
    env.keys.open()?.map(|(file, key, _)| (file, key)).ok_or_else(unsealed)
}

/// Writes the file of the keys, converts what is not converted yet, and writes the state that is reached.
fn finish(env: &Env, directory: &Path, file: &SealFile, data_key: &KeyBytes) -> Result<StoreReport, CommandError> {
    let seal = file.seal(data_key)?;
    if file.state != SealState::Sealed {
        expect_unused(directory, UNUSED)?;
        seal::write(&RealDisk, directory, file)?;
    }
    let report = convert(env, directory, &seal)?;
    env.delete_caches();
    // Its queue and its answers are made again.
    delete(directory, SIDECAR_FILE);
    clear_locks(directory);
    match file.state {
        SealState::Opening => {
            RealDisk.remove(&directory.join(SEAL_FILE))?;
            RealDisk.sync_directory(directory)?;
            if file.method == KeyMethod::Keyring {
                seal::forget_in_keyring(&file.salt);
            }
        }
        SealState::Sealing => seal::write(&RealDisk, directory, &file.with_state(SealState::Sealed))?,
        SealState::Sealed => {}
    }
    Ok(StoreReport { method: seal.is_sealed().then_some(file.method), ..report })
}

fn convert(env: &Env, directory: &Path, seal: &Seal) -> Result<StoreReport, CommandError> {
    let size = |file: &str| RealDisk.identify(&directory.join(file)).map_or(0, |file| file.bytes);
    let bar = env.byte_progress(size(STORE_FILE));
    let mut report = StoreReport { dry_run: false, is_sealed: seal.is_sealed(), method: None, rows: 0, files: 0, bytes: 0 };
    for file in DATABASES {
        let rows = convert_database(&RealDisk, directory, file, seal, PATIENCE, &|bytes| bar.set_position(bytes));
        let rows = rows.map_err(|error| {
            let mut error = CommandError::from(error);
            error.source = error.source.context(format!("cannot convert {}", directory.join(file).display()));
            error
        })?;
        report.rows += rows;
        report.bytes += if rows > 0 { size(file) } else { 0 };
    }
    bar.finish_and_clear();
    let folder = kept_folder(directory);
    let kept = convert_folder(&RealDisk, &folder, seal, &older_path);
    let (files, bytes) = kept.map_err(|error| CommandError::of_disk(error, format!("cannot convert {}", folder.display())))?;
    (report.files, report.bytes) = (files, report.bytes + bytes);
    Ok(report)
}

/// Deletes the files of locks on sessions, whose names tell the paths. Those that are in use are made again.
fn clear_locks(directory: &Path) {
    for entry in RealDisk.list(&directory.join("locks")).unwrap_or_default() {
        let name = entry.path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if name.len() == 32 && name.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            let _ = RealDisk.remove(&entry.path);
        }
    }
}

/// Wraps a data key with the secret that the arguments name. A passphrase is taken from a variable, or asked for twice.
fn wrap(env: &Env, key: &Key, data_key: &KeyBytes, variable: &str) -> Result<SealFile, CommandError> {
    if let Some(path) = &key.key_file {
        let path = env.directory.join(path);
        let secret = key_file(&path)?;
        let path = RealDisk.resolve(&path)?;
        return SealFile::wrap(KeyMethod::KeyFile, Some(path), data_key, |_| Ok(secret));
    }
    if key.keyring {
        return SealFile::wrap(KeyMethod::Keyring, None, data_key, |name| {
            let secret = Zeroizing::new(hexadecimal(&*random()?).into_bytes());
            seal::keep_in_keyring(name, &secret)?;
            Ok(secret)
        });
    }
    SealFile::wrap(KeyMethod::Passphrase, None, data_key, |_| {
        let given = env.variable(variable).filter(|passphrase| !passphrase.is_empty());
        if let Some(passphrase) = given {
            return Ok(Zeroizing::new(passphrase.into_encoded_bytes()));
        }
        if !seal::can_ask() {
            let error = anyhow!("there is no terminal to enter a passphrase");
            return Err(CommandError::usage(error).hint(format!("set {variable}, or give --key-file FILE or --keyring")));
        }
        let passphrase = seal::ask("New passphrase: ")?;
        if seal::ask("The same again: ")? != passphrase {
            return Err(refusal!("the passphrases differ").hint("nothing was changed; try again"));
        }
        Ok(passphrase)
    })
}

/// Returns the content of a key file, which is created if it does not exist.
fn key_file(path: &Path) -> Result<Secret, CommandError> {
    if !files::is_there(path) {
        let (directory, name) = (path.parent().unwrap_or(Path::new(".")), path.file_name().unwrap_or_default());
        let secret = Zeroizing::new(format!("{}\n", hexadecimal(&*random()?)));
        let written = files::make_private(directory, &name.to_string_lossy())
            .and_then(|()| files::write_private(&RealDisk, path, secret.as_bytes()));
        written.map_err(|error| CommandError::of_disk(error, format!("cannot create the key file {}", path.display())))?;
    }
    seal::read_key_file(path)
}

fn planned(directory: &Path, is_sealed: bool) -> Result<StoreReport, CommandError> {
    let counts = counts(&RealDisk, directory)?;
    let file = seal::read(directory)?;
    let is_done = match &file {
        Some(file) => file.state == SealState::Sealed && is_sealed,
        None => !is_sealed,
    };
    let rows = if is_done { 0 } else { counts.rows.iter().map(|(_, rows)| rows).sum() };
    let files = if is_done { 0 } else { kept_files(&kept_folder(directory)) };
    let method = file.map(|file| file.method).filter(|_| is_sealed);
    Ok(StoreReport { dry_run: true, is_sealed, method, rows, files, bytes: counts.bytes })
}

fn status(env: &Env, directory: &Path) -> Result<StoreStatusReport, CommandError> {
    let (counts, file) = (counts(&RealDisk, directory)?, seal::read(directory)?);
    let locked = env.keys.seal().err();
    let is_there = |path: &PathBuf| files::is_there(path);
    let mut clear = vec![("session files of the clients", env.places.home.clone())];
    clear.extend(
        [
            ("memory trees, which people edit", directory.join("memory")),
            ("whole results for the model, of hooks", directory.join("results")),
            ("list of installed files", directory.join("installed.json")),
        ]
        .into_iter()
        .chain(settings_file().map(|path| ("settings", path)))
        .filter(|(_, path)| is_there(path)),
    );
    Ok(StoreStatusReport {
        directory: directory.display().to_string(),
        state: file.as_ref().map(|file| file.state),
        method: file.as_ref().map(|file| file.method),
        key_file: file.and_then(|file| file.path).map(|path| path.display().to_string()),
        locked: locked.map(|error| format!("{:#}; {}", error.source, error.hints.join("; "))),
        stored: counts.rows.into_iter().map(|(table, rows)| StoredRows { table, rows }).collect(),
        kept_files: kept_files(&kept_folder(directory)),
        bytes: counts.bytes,
        clear: clear.into_iter().map(|(what, path)| ClearPlace { what, path: path.display().to_string() }).collect(),
    })
}

fn kept_files(folder: &Path) -> u64 {
    let entries = RealDisk.list(folder).unwrap_or_default();
    entries.iter().map(|entry| if entry.directory { kept_files(&entry.path) } else { 1 }).sum()
}
