//! Settings: the user's `config.toml`, then the project's `aperture.toml`, then the command line.

use super::{CommandError, ErrorKind};
use crate::engine::{ReadSettings, StalePolicy};
use crate::fsio::{Disk, read_head};
use anyhow::Context;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// The name of a project's settings file; it counts from the directory it is in downwards.
pub const PROJECT_FILE: &str = "aperture.toml";
/// Longest settings file that is read, in bytes.
const LONGEST: usize = 1 << 20;

/// What a settings file may say.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Tokens that windows hold, by the beginning of the model's name.
    #[serde(default)]
    windows: BTreeMap<String, u64>,
    /// When blocks are stale.
    #[serde(default)]
    stale: StaleSettings,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct StaleSettings {
    turns: Option<u32>,
    steps: Option<u32>,
}

impl Settings {
    /// Reads a settings file; one that is not there says nothing.
    pub fn read(disk: &dyn Disk, path: &Path) -> Result<Settings, CommandError> {
        let bytes = match read_head(disk, path, LONGEST) {
            Ok(bytes) => bytes,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(Settings::default());
            }
            Err(error) => {
                let error = anyhow::Error::new(error).context(format!("cannot read the settings in {}", path.display()));
                return Err(CommandError::new(ErrorKind::Refused, error));
            }
        };
        toml::from_slice(&bytes)
            .with_context(|| format!("cannot use the settings in {}", path.display()))
            .map_err(|error| CommandError::new(ErrorKind::Usage, error).hint("aperture help settings lists what can be set"))
    }

    /// These settings, and where they say nothing, those.
    pub fn or(self, other: Settings) -> Settings {
        let mut windows = other.windows;
        windows.extend(self.windows);
        let stale =
            StaleSettings { turns: self.stale.turns.or(other.stale.turns), steps: self.stale.steps.or(other.stale.steps) };
        Settings { windows, stale }
    }

    /// What they mean for reading a session.
    pub fn for_reading(&self, window_tokens: Option<u64>) -> ReadSettings {
        let default = StalePolicy::default();
        ReadSettings {
            window_tokens,
            model_windows: self.windows.iter().map(|(model, tokens)| (model.clone(), *tokens)).collect(),
            stale: StalePolicy {
                turns: self.stale.turns.unwrap_or(default.turns),
                steps: self.stale.steps.unwrap_or(default.steps),
            },
            ..ReadSettings::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearer_file_wins() {
        let near: Settings = toml::from_str("windows.claude-opus = 2\n[stale]\nturns = 1").unwrap();
        let far: Settings = toml::from_str("windows.claude-opus = 9\nwindows.claude = 5\n[stale]\nturns = 7\nsteps = 8").unwrap();
        let read = near.or(far).for_reading(None);
        assert_eq!(read.model_windows, [("claude".to_owned(), 5), ("claude-opus".to_owned(), 2)]);
        assert_eq!(read.stale, StalePolicy { turns: 1, steps: 8 });
    }

    #[test]
    fn an_unknown_name_is_an_error() {
        assert!(toml::from_str::<Settings>("windwos = 1").is_err());
    }
}
