use super::{Paint, Report, Style};
use crate::engine::GitHook;

/// A Git hook.
#[derive(Clone, Debug)]
pub struct InstalledHook {
    pub hook: GitHook,
    /// Its script.
    pub path: String,
    /// True if the hook is installed now.
    pub installed: bool,
    /// True if the command changed this.
    pub changed: bool,
}

/// The result of installing or removing Git hooks.
#[derive(Clone, Debug)]
pub struct GitHooksReport {
    pub hooks: Vec<InstalledHook>,
    pub dry_run: bool,
    /// True if the command only checked the state.
    pub check: bool,
}

impl Report for GitHooksReport {
    const SCHEMA: &str = "aperture.install-git-hook/1";

    fn text(&self, style: &Style) -> String {
        let mut text = String::new();
        for hook in &self.hooks {
            let pending = hook.changed && (self.dry_run || self.check);
            let word = match (pending, hook.installed, hook.changed) {
                (true, false, _) if self.dry_run => "would be installed",
                (true, true, _) if self.dry_run => "would be removed",
                (_, true, _) => "installed",
                (_, false, true) if !self.check => "removed",
                (_, false, _) => "not installed",
            };
            text.push_str(&format!("{:<11} {word}: {}\n", hook.hook.name(), hook.path));
        }
        if self.dry_run && self.hooks.iter().any(|hook| hook.changed) {
            text.push_str(&style.paint(Paint::Dim, "nothing was written: this is a dry run\n"));
        }
        text
    }
}
