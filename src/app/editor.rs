#![expect(clippy::disallowed_methods, reason = "starts the editor")]

use super::{CommandError, Env, files, misuse};
use anyhow::{Context, anyhow};
use std::process::Command;

impl Env {
    /// Opens a text in the user's editor, and returns it as it was saved.
    /// Errors: no editor is set, it fails, or the text cannot be written or read.
    pub fn edit(&self, text: &str) -> Result<String, CommandError> {
        let set = |name| self.variable(name).and_then(|value| value.into_string().ok()).filter(|value| !value.trim().is_empty());
        let Some(editor) = set("VISUAL").or_else(|| set("EDITOR")) else {
            return Err(misuse!("no editor is set").hint("set EDITOR, or give the text as an argument"));
        };
        let directory = self.store_directory()?.join("edit");
        let path = directory.join(format!("memory-{}.md", self.process()));
        let refused = |error: anyhow::Error| CommandError::refused(error);
        let prepared = self.disk.make(&path, true).and_then(|()| files::write_private(self.disk, &path, text.as_bytes()));
        prepared.with_context(|| format!("cannot write {}", path.display())).map_err(refused)?;
        let mut words = editor.split_whitespace();
        let status = Command::new(words.next().unwrap_or_default()).args(words).arg(&path).status();
        let saved = files::text(self.disk, &path);
        let _ = self.disk.remove(&path);
        let status = status.with_context(|| format!("cannot start the editor '{editor}'")).map_err(refused)?;
        if !status.success() {
            return Err(refused(anyhow!("the editor '{editor}' failed; nothing was changed")));
        }
        let saved = saved.with_context(|| format!("cannot read {}", path.display())).map_err(refused)?;
        Ok(saved.unwrap_or_default())
    }
}
