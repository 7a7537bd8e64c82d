//! `aperture install git-hook` and `uninstall git-hook`: the integration with git hooks.

use super::Checked;
use crate::app::{CommandError, Env, files, may_read};
use crate::commands::git_hook::{GitHooksReport, InstalledHook};
use crate::engine::{GitHook, HookError, with_hook, without_hook};
use crate::text::shell::quoted_word;
use anyhow::{Context, anyhow};
use std::path::{Path, PathBuf};

/// The options that installation and removal have in common: the arguments of `uninstall git-hook`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
pub struct Options {
    /// Before a commit: refuse staged sessions with credentials
    #[arg(long)]
    pub pre_commit: bool,
    /// After a commit: add a git note about the session of this project
    #[arg(long)]
    pub post_commit: bool,
    /// Before a push: refuse commits that contain sessions with credentials
    #[arg(long)]
    pub pre_push: bool,
    /// Dry run: show the result; write nothing
    #[arg(short = 'n', long)]
    pub dry_run: bool,
}

/// Adds aperture to the selected hooks.
pub fn run(env: &Env, arguments: &Checked<Options>) -> Result<(), CommandError> {
    change(env, &arguments.options, true, arguments.check)
}

/// Removes aperture from the selected hooks.
pub fn run_uninstall(env: &Env, options: &Options) -> Result<(), CommandError> {
    change(env, options, false, false)
}

fn change(env: &Env, options: &Options, install: bool, check: bool) -> Result<(), CommandError> {
    let directory = hooks_directory(env)?;
    let mut report = GitHooksReport { hooks: Vec::new(), dry_run: options.dry_run, check };
    let mut writes = Vec::new();
    for hook in meant(options, install) {
        let path = directory.join(hook.name());
        // Replacing a symbolic link would break it: write to its target.
        let path = env.disk.resolve(&path).unwrap_or(path);
        let before = files::whole(env.disk, &path).with_context(|| format!("cannot read the hook {}", path.display()));
        let before = before.map_err(|error| CommandError::refused(error).hint(may_read(&path)))?;
        let after = after(&path, before.as_deref(), hook, install)?;
        let done = before == after;
        report.hooks.push(InstalledHook { hook, path: path.display().to_string(), installed: install == done, changed: !done });
        if !done {
            writes.push((path, before, after));
        }
    }
    let missing = !writes.is_empty();
    if !options.dry_run && !check {
        for (path, before, after) in writes {
            let written = match (&before, after) {
                (None, Some(script)) => files::replace(env.disk, &path, None, &script, files::Mode::Script),
                (Some(before), Some(script)) => files::replace(env.disk, &path, Some(before), &script, files::Mode::Plain),
                (Some(before), None) => files::delete(env.disk, &path, before, &|_| false),
                (None, None) => Ok(()),
            };
            written.with_context(|| format!("cannot write the hook {}", path.display())).map_err(|error| {
                CommandError::refused(error)
                    .hint(format!("check that you may write it: ls -l {}", quoted_word(&path.to_string_lossy())))
            })?;
        }
        report.hooks.iter_mut().for_each(|hook| hook.installed = install);
    }
    env.print(&report)?;
    if check && missing { Err(CommandError::already_reported()) } else { Ok(()) }
}

/// Returns a hook with or without aperture; `None` if it is then no file.
/// Errors: it cannot have aperture; it is switched off, because git runs only what is executable.
fn after(path: &Path, before: Option<&[u8]>, hook: GitHook, install: bool) -> Result<Option<Vec<u8>>, CommandError> {
    let quoted = quoted_word(&path.to_string_lossy());
    let refused =
        |error: anyhow::Error| CommandError::refused(error.context(format!("cannot change the hook {}", path.display())));
    if install && before.is_some() && !files::is_executable(path) {
        let error = refused(anyhow!("git ignores it: it is not executable"));
        return Err(error.hint(format!("to switch it on: chmod +x {quoted}; if it is not needed: rm {quoted}")));
    }
    let after = if install { with_hook(before, hook).map(Some) } else { before.map_or(Ok(None), without_hook) };
    after.map_err(|error| {
        let hint = match error {
            HookError::Empty => format!("remove it first: rm {quoted}"),
            _ => format!("add this line by hand: aperture git-hook {}", hook.name()),
        };
        refused(error.into()).hint(hint)
    })
}

/// Returns the selected hooks; by default the first one for `install`, and all for `uninstall`.
fn meant(options: &Options, install: bool) -> Vec<GitHook> {
    let named = [options.pre_commit, options.post_commit, options.pre_push];
    let named: Vec<GitHook> = GitHook::ALL.into_iter().zip(named).filter(|(_, named)| *named).map(|(hook, _)| hook).collect();
    match (named.is_empty(), install) {
        (false, _) => named,
        (true, true) => vec![GitHook::PreCommit],
        (true, false) => GitHook::ALL.to_vec(),
    }
}

/// Returns the directory of this repository's hooks; respects `core.hooksPath` and worktrees.
fn hooks_directory(env: &Env) -> Result<PathBuf, CommandError> {
    let hooks = env.git(&["rev-parse", "--git-path", "hooks"])?;
    let hooks = String::from_utf8(hooks).map_err(CommandError::refused)?;
    Ok(env.directory.join(hooks.trim_end_matches('\n')))
}
