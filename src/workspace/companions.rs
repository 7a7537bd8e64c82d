//! The files beside a session that belong to it: outputs that the client stores apart, and the sessions of its subagents.

use super::find::by_first_row;
use super::project::named_session;
use super::secret_scan::SecretMatch;
use super::{ApplyError, Found};
use crate::engine::{self, Known, Secret, masked};
use crate::fsio::{Disk, Entry, read_whole, temporary_path, write_whole};
use crate::model::{CompanionEdit, Session};
use crate::provider::Places;
use crate::store::{LoggedCompanion, Store};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Bytes of a file that are examined to tell a text from other data.
const HEAD_BYTES: usize = 8 << 10;

/// The files beside a session.
#[derive(Default)]
pub struct Companions {
    /// Files that are not sessions, sorted.
    pub files: Vec<PathBuf>,
    /// The sessions of subagents, sorted by path.
    pub subagents: Vec<Found>,
    /// Files of the client with copies of what the session worked on, and its lists of prompts. They are only read.
    pub copies: Vec<PathBuf>,
}

/// Returns the files beside a session; links and special files are left out.
pub fn companions(disk: &dyn Disk, found: &Found) -> io::Result<Companions> {
    let mut companions = Companions::default();
    let mut directories: Vec<PathBuf> = found.provider.companions_directory(&found.path).into_iter().collect();
    while let Some(directory) = directories.pop() {
        for Entry { path, directory, identity } in entries(disk, &directory)? {
            match found.provider.locate(&path) {
                _ if directory => directories.push(path),
                _ if identity.is_none() => {}
                Some(location) => companions.subagents.push(Found { provider: found.provider, path, location }),
                None => companions.files.push(path),
            }
        }
    }
    companions.files.sort();
    companions.subagents.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(companions)
}

/// Returns the files beside a session with the outputs that its rows name in the directory of another session, as a fork does, and the
/// copies that the client keeps.
pub fn all_companions(disk: &dyn Disk, places: &Places, found: &Found, session: &Session) -> io::Result<Companions> {
    let mut all = companions(disk, found)?;
    // Only the names count: rows can name any path, and a session can have been moved.
    let output = |named: &str| {
        let named = Path::new(named);
        let owner = format!("{}.jsonl", named.parent()?.parent()?.file_name()?.to_str()?);
        Some(found.provider.outputs_directory(&found.path.with_file_name(owner))?.join(named.file_name()?))
    };
    let named = session.blocks.iter().filter_map(|block| output(block.spilled_to.as_deref()?));
    let named: BTreeSet<PathBuf> = named.filter(|_| !found.location.subagent).collect();
    for directory in named.iter().filter_map(|path| path.parent()).collect::<BTreeSet<_>>() {
        let files = entries(disk, directory)?.into_iter().filter(|entry| entry.identity.is_some()).map(|entry| entry.path);
        all.files.extend(files.filter(|path| named.contains(path)));
    }
    all.files.sort();
    all.files.dedup();
    for directory in found.provider.copies_directories(&found.path) {
        all.copies
            .extend(entries(disk, &directory)?.into_iter().filter(|entry| entry.identity.is_some()).map(|entry| entry.path));
    }
    all.copies.sort();
    all.copies.extend(found.provider.prompts_files(places).into_iter().filter(|path| disk.identify(path).is_ok()));
    Ok(all)
}

/// Returns the sessions of the subagents of a session: those in its directory, those in its own folder, as older clients put them, whose
/// rows name the session, and those anywhere that say so in their first row, with the subagents of these.
pub fn subagents(disk: &dyn Disk, found: &Found) -> io::Result<Vec<Found>> {
    let mut subagents = companions(disk, found)?.subagents;
    if !found.provider.roots_beside(&found.path).is_empty() {
        let mut started = by_first_row(disk, found.provider, &found.path, &|row| found.provider.started_by(row));
        let mut above = vec![found.location.id.clone()];
        while let Some(id) = above.pop() {
            for (subagent, _) in started.extract_if(.., |(_, by)| *by == id) {
                above.push(subagent.location.id.clone());
                subagents.push(subagent);
            }
        }
        subagents.sort_by(|a, b| a.path.cmp(&b.path));
    }
    let folder = found.path.parent().filter(|_| !found.location.subagent);
    let files = folder.map_or(Ok(Vec::new()), |folder| entries(disk, folder))?;
    let subagent = |entry: Entry| {
        let location = found.provider.locate(&entry.path).filter(|location| location.subagent)?;
        let subagent = Found { provider: found.provider, path: entry.path, location };
        (named_session(disk, &subagent)? == found.location.id).then_some(subagent)
    };
    let files = files.into_iter().filter(|entry| !entry.directory && entry.identity.is_some());
    subagents.extend(files.filter_map(subagent));
    Ok(subagents)
}

/// Returns the entries of a directory; of one that does not exist, none.
fn entries(disk: &dyn Disk, directory: &Path) -> io::Result<Vec<Entry>> {
    match disk.list(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        entries => entries.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", directory.display()))),
    }
}

/// Returns the content of a text file; `None` if it is not a text.
fn text(disk: &dyn Disk, path: &Path) -> io::Result<Option<Vec<u8>>> {
    let bytes = read_whole(disk, path)?;
    Ok((!bytes[..bytes.len().min(HEAD_BYTES)].contains(&0)).then_some(bytes))
}

/// Finds the credentials in a file beside a session; of a list of prompts, in those of the session.
pub fn scan_companion(
    disk: &dyn Disk,
    found: &Found,
    path: &Path,
    find: &dyn Fn(&[u8]) -> Vec<Secret>,
) -> io::Result<Vec<SecretMatch>> {
    let Some(text) = text(disk, path)? else { return Ok(Vec::new()) };
    let (mut line, mut offset) = (1, 0);
    let in_part = |part: Range<usize>| {
        let shifted = |range: Range<usize>| part.start + range.start..part.start + range.end;
        find(&text[part.clone()]).into_iter().map(|secret| Secret { range: shifted(secret.range), ..secret }).collect::<Vec<_>>()
    };
    let located = own_parts(found, &text).into_iter().flat_map(in_part).map(|secret| {
        let before = &text[offset..secret.range.start];
        line += memchr::memchr_iter(b'\n', before).count() as u64;
        let start = memchr::memrchr(b'\n', before).map_or(offset, |feed| offset + feed + 1);
        offset = secret.range.start;
        SecretMatch { kind: secret.kind, line, offset: start as u64, range: secret.range }
    });
    Ok(located.collect())
}

/// Returns the lines of a list of prompts that are of the session; of any other file, all of it.
fn own_parts(found: &Found, text: &[u8]) -> Vec<Range<usize>> {
    let prompt = |line: &[u8]| found.provider.typed_prompt(line.trim_ascii());
    if prompt(text.split(|byte| *byte == b'\n').next().unwrap_or_default()).is_none() {
        return std::iter::once(0..text.len()).collect();
    }
    let id = memchr::memmem::Finder::new(&found.location.id);
    let is_own = |line: &[u8]| id.find(line).is_some() && prompt(line).is_some_and(|prompt| prompt.session == found.location.id);
    let mut end = 0;
    let lines = text.split_inclusive(|byte| *byte == b'\n').map(|line| {
        end += line.len();
        end - line.len()..end
    });
    lines.filter(|line| is_own(&text[line.clone()])).collect()
}

/// Returns the credentials in the text of a file beside a session: by their form, and the values that the session or the text names.
pub fn find_beside_session(known: &Known, text: &[u8]) -> Vec<Secret> {
    known.with(&Known::new(engine::named_in(&String::from_utf8_lossy(text)))).find_whole(text)
}

/// Returns the edits that mask the credentials in files beside a session, and the number of credentials of each kind. `find` returns
/// the credentials in a text.
pub fn redact_companions(
    disk: &dyn Disk,
    files: &[PathBuf],
    find: &dyn Fn(&[u8]) -> Vec<Secret>,
) -> io::Result<(Vec<CompanionEdit>, BTreeMap<&'static str, usize>)> {
    let (mut edits, mut kinds) = (Vec::new(), BTreeMap::new());
    for path in files {
        let Some(before) = text(disk, path)? else { continue };
        let found = find(&before);
        if let Some(after) = masked(&before, &found) {
            found.iter().for_each(|secret| *kinds.entry(secret.kind).or_default() += 1);
            edits.push(CompanionEdit { path: path.clone(), before, after });
        }
    }
    Ok((edits, kinds))
}

/// Returns the edits that revert logged changes, and the files that changed since, which stay unchanged.
pub fn reverted(
    disk: &dyn Disk,
    store: &Store,
    logged: impl Iterator<Item = LoggedCompanion>,
) -> Result<(Vec<CompanionEdit>, Vec<PathBuf>), ApplyError> {
    let mut states: BTreeMap<PathBuf, LoggedCompanion> = BTreeMap::new();
    for change in logged {
        let state = states.entry(change.path.clone()).or_insert_with(|| change.clone());
        state.after = change.after;
    }
    let (mut edits, mut changed) = (Vec::new(), Vec::new());
    for (path, LoggedCompanion { before, after, .. }) in states {
        let now = match read_whole(disk, &path) {
            Ok(now) => now,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                changed.push(path);
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        match *blake3::hash(&now).as_bytes() {
            hash if hash == before => {}
            hash if hash == after => edits.push(CompanionEdit { path, before: now, after: store.original(&before)? }),
            _ => changed.push(path),
        }
    }
    Ok((edits, changed))
}

/// Writes edits of files beside a session, each by an atomic rename. If one fails, those before it are reverted.
/// Errors: a file changed since it was read, or the disk failed.
pub(super) fn write(disk: &dyn Disk, edits: &[CompanionEdit]) -> Result<(), ApplyError> {
    for (place, edit) in edits.iter().enumerate() {
        if let Err(error) = replace(disk, &edit.path, &edit.before, &edit.after) {
            revert(disk, &edits[..place])?;
            return Err(error);
        }
    }
    Ok(())
}

/// Reverts edits of files beside a session.
pub(super) fn revert(disk: &dyn Disk, edits: &[CompanionEdit]) -> Result<(), ApplyError> {
    edits.iter().try_for_each(|edit| replace(disk, &edit.path, &edit.after, &edit.before))
}

/// Completes the logged changes of files beside a session, or reverts them. A file that is missing or has another content stays
/// unchanged.
pub(super) fn settle(disk: &dyn Disk, store: &Store, logged: &[LoggedCompanion], is_done: bool) -> Result<(), ApplyError> {
    for change in logged {
        let (from, to) = if is_done { (change.before, change.after) } else { (change.after, change.before) };
        let _ = disk.discard(&temporary_path(&change.path));
        match read_whole(disk, &change.path) {
            Ok(now) if *blake3::hash(&now).as_bytes() == from => replace(disk, &change.path, &now, &store.original(&to)?)?,
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

fn replace(disk: &dyn Disk, path: &Path, before: &[u8], after: &[u8]) -> Result<(), ApplyError> {
    let modified = disk.identify(path)?.modified;
    if read_whole(disk, path)? != before {
        return Err(ApplyError::Changed);
    }
    write_whole(disk, path, ApplyError::Io, |temporary| {
        let mut file = disk.create(temporary, path)?;
        file.write_all(after)?;
        file.set_modified(modified)?;
        file.sync()?;
        Ok(file)
    })
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests write files")]
mod tests {
    use super::*;
    use crate::fsio::RealDisk;
    use crate::fsio::failing::FailingDisk;

    #[test]
    fn a_directory_that_cannot_be_read_is_not_an_empty_one() {
        let home = tempfile::tempdir().unwrap();
        let session = home.path().join("s.jsonl");
        let beside = home.path().join("s").join("subagents");
        std::fs::write(&session, "{\"type\":\"mode\",\"sessionId\":\"s\"}\n").unwrap();
        let found = Found::announced(&session).unwrap();
        assert!(companions(&RealDisk, &found).unwrap().files.is_empty(), "a directory that does not exist is empty");
        std::fs::create_dir_all(&beside).unwrap();
        std::fs::write(beside.join("notes.txt"), "x").unwrap();
        let agent = beside.join("agent-a0000000000000001.jsonl");
        std::fs::write(&agent, "").unwrap();
        let found_beside = companions(&RealDisk, &found).unwrap();
        assert_eq!(found_beside.files, [beside.join("notes.txt")]);
        assert_eq!(found_beside.subagents.iter().map(|found| &found.path).collect::<Vec<_>>(), [&agent]);
        for call in 0..2 {
            let error = companions(&FailingDisk::new(call, false), &found).err().map(|error| error.to_string());
            assert!(error.is_some_and(|error| error.contains("injected fault")), "call {call}");
        }
        let older = home.path().join("agent-abcdef12.jsonl");
        std::fs::write(&older, "{\"type\":\"mode\",\"sessionId\":\"s\"}\n").unwrap();
        std::fs::write(home.path().join("agent-abcdef13.jsonl"), "{\"type\":\"mode\",\"sessionId\":\"other\"}\n").unwrap();
        assert_eq!(subagents(&RealDisk, &found).unwrap().last().unwrap().path, older);
        assert_eq!(subagents(&RealDisk, &found).unwrap().len(), 2);
    }
}
