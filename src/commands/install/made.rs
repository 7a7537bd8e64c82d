//! The list of files and directories that `install` created, stored next to the store: `uninstall` removes only these.

use crate::app::{CommandError, Env, files};
use crate::commands::install::report::FileChange;
use crate::provider::EditError;
use crate::text::cut::one_line;
use anyhow::Context;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const FILE: &str = "installed.json";
/// The name of directories that belong to aperture alone.
const OWN: &str = "aperture";

/// The files and directories that `install` created, as far as they are recorded.
pub struct Made {
    file: PathBuf,
    /// `None` if an earlier version installed, which kept no list.
    paths: Option<BTreeSet<PathBuf>>,
}

impl Made {
    pub fn read(env: &Env) -> Result<Made, CommandError> {
        let file = env.store_directory()?.join(FILE);
        let text = files::text(env.disk, &file)
            .with_context(|| format!("cannot read {}", file.display()))
            .map_err(CommandError::refused)?;
        // A damaged list is treated as missing.
        let paths = text.and_then(|text| serde_json::from_str::<BTreeSet<PathBuf>>(&text).ok());
        Ok(Made { file, paths })
    }

    /// Records the files that are about to be created, the list itself, and the directories created for them. Existing files and
    /// directories are not recorded.
    pub fn add<'a>(&mut self, files: impl Iterator<Item = &'a Path>) {
        let paths = self.paths.get_or_insert_default();
        for path in files.map(Path::to_owned).chain([self.file.clone()]) {
            paths.extend(path.ancestors().take_while(|path| !files::is_there(path)).map(Path::to_owned));
        }
    }

    /// Returns true if a file was created by `install`. Without a list, every file counts as created; a link never does.
    pub fn has_file(&self, path: &Path) -> bool {
        !files::is_link(path) && self.paths.as_ref().is_none_or(|paths| paths.contains(path))
    }

    /// Returns true if a directory was created by `install`. Without a list, a directory counts if it or one of its ancestors is
    /// named `aperture`.
    pub fn has_directory(&self, path: &Path) -> bool {
        match &self.paths {
            Some(paths) => paths.contains(path),
            None => path.iter().any(|name| name == OWN),
        }
    }

    /// Writes the list. With `gone`, paths that no longer exist are dropped first, and a list that contains only itself is deleted.
    pub fn write(&mut self, env: &Env, gone: bool) -> Result<(), CommandError> {
        let Some(paths) = &mut self.paths else { return Ok(()) };
        if gone {
            paths.retain(|path| files::is_there(path));
        }
        let written = || {
            if gone && paths.iter().all(|path| self.file.starts_with(path)) {
                let is_there = files::is_there(&self.file);
                let ours = |directory: &Path| paths.contains(directory);
                return if is_there { files::remove(env.disk, &self.file, &ours) } else { Ok(()) };
            }
            let directory = self.file.parent().unwrap_or(Path::new("."));
            files::make_private(directory, FILE)?;
            files::write_private(env.disk, &self.file, format!("{}\n", serde_json::to_string(paths)?).as_bytes())
        };
        written()
            .with_context(|| format!("cannot write {}", self.file.display()))
            .map_err(|error| CommandError::refused(error).hint("nothing was written"))
    }
}

/// Returns the text of a file; `None` if it does not exist.
pub fn read(env: &Env, path: &Path) -> Result<Option<String>, CommandError> {
    files::text(env.disk, path)
        .with_context(|| format!("cannot read {}", path.display()))
        .map_err(|error| CommandError::refused(error).hint("nothing was written"))
}

/// Returns the error of a file that cannot be changed. One with comments the user changes by hand: `entry` is what to add to it, `None`
/// for a removal.
pub fn refused(error: EditError, path: &Path, entry: Option<&str>) -> CommandError {
    let hint = match (&error, entry) {
        (EditError::Commented, Some(entry)) => format!("nothing was written; to add by hand: {}", one_line(entry)),
        (EditError::NoTable(key), Some(_)) => {
            format!("nothing was written; give each entry a header of its own, such as [{key}.NAME], then try again")
        }
        (EditError::Commented, None) => "nothing was written; remove the entries of aperture by hand".to_owned(),
        _ => "nothing was written; fix the file first".to_owned(),
    };
    let error = anyhow::Error::new(error).context(format!("cannot change {}", path.display()));
    CommandError::refused(error).hint(hint)
}

/// Writes the changed files. All files were read and edited before, so errors in them occur before the first write.
pub fn write(env: &Env, changes: &[FileChange], stop: &Path, made: &Made) -> Result<(), CommandError> {
    let ours = |directory: &Path| directory != stop && directory.starts_with(stop) && made.has_directory(directory);
    for change in changes.iter().filter(|change| change.before != change.after) {
        let done = match (&change.before, &change.after) {
            (before, Some(after)) => {
                let before = before.as_deref().map(str::as_bytes);
                files::replace(env.disk, &change.path, before, after.as_bytes(), files::Mode::Plain)
            }
            (Some(before), None) => files::delete(env.disk, &change.path, before.as_bytes(), &ours),
            (None, None) => Ok(()),
        };
        done.with_context(|| format!("cannot write {}", change.path.display())).map_err(|error| {
            CommandError::refused(error).hint("files written before it stay; run the command again, or uninstall")
        })?;
    }
    Ok(())
}
