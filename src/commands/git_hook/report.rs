use crate::engine::GitHook;
use crate::output::{Paint, Report, Style};
use schemars::JsonSchema;
use serde::Serialize;

/// A git hook.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct InstalledHook {
    /// Hook.
    pub hook: GitHook,
    /// Script.
    pub path: String,
    /// True if it is installed.
    pub installed: bool,
    /// True if it was, or would be, changed.
    pub changed: bool,
}

/// The installation of git hooks, their removal, or its dry run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct GitHooksReport {
    /// Git hooks.
    pub hooks: Vec<InstalledHook>,
    /// True if nothing was written.
    pub dry_run: bool,
    /// True if the installation was only checked.
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
