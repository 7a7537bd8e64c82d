//! The settings of the stages: `[pipeline]` in the settings.

use super::stages::STAGES;
use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;

/// A setting of a stage, which is declared where it is used.
pub struct Setting {
    pub key: &'static str,
    pub default: SettingValue,
    /// One sentence for `aperture help settings`.
    pub meaning: &'static str,
}

impl Setting {
    pub const fn switch(key: &'static str, is_on: bool, meaning: &'static str) -> Setting {
        Setting { key, default: SettingValue::Switch(is_on), meaning }
    }
}

/// The value of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingValue {
    Switch(bool),
    Number(u64),
    /// The value follows from something else; the number is an example.
    Unset(u64),
}

impl fmt::Display for SettingValue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SettingValue::Switch(is_on) => write!(formatter, "{is_on}"),
            SettingValue::Number(number) | SettingValue::Unset(number) => write!(formatter, "{number}"),
        }
    }
}

/// The settings that differ from their defaults, by key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PipelineSettings(BTreeMap<&'static str, SettingValue>);

impl PipelineSettings {
    pub fn is_on(&self, setting: &Setting) -> bool {
        self.value(setting) == SettingValue::Switch(true)
    }

    /// Returns a number; `None` if it is not set.
    pub fn number(&self, setting: &Setting) -> Option<u64> {
        if let SettingValue::Number(number) = self.value(setting) { Some(number) } else { None }
    }

    fn value(&self, setting: &Setting) -> SettingValue {
        self.0.get(setting.key).copied().unwrap_or(setting.default)
    }

    pub fn with(mut self, switch: &Setting, is_on: bool) -> PipelineSettings {
        self.0.insert(switch.key, SettingValue::Switch(is_on));
        self
    }
}

impl<'de> Deserialize<'de> for PipelineSettings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<PipelineSettings, D::Error> {
        deserializer.deserialize_map(SettingsVisitor)
    }
}

struct SettingsVisitor;

impl<'de> Visitor<'de> for SettingsVisitor {
    type Value = PipelineSettings;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("settings of the pipeline")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<PipelineSettings, A::Error> {
        let mut settings = PipelineSettings::default();
        while let Some(Known(setting)) = map.next_key()? {
            let value = match setting.default {
                SettingValue::Switch(_) => SettingValue::Switch(map.next_value()?),
                SettingValue::Number(_) | SettingValue::Unset(_) => SettingValue::Number(map.next_value()?),
            };
            settings.0.insert(setting.key, value);
        }
        Ok(settings)
    }
}

struct Known(&'static Setting);

impl<'de> Deserialize<'de> for Known {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Known, D::Error> {
        static KEYS: LazyLock<Vec<&str>> = LazyLock::new(|| settings().map(|setting| setting.key).collect());
        let key = String::deserialize(deserializer)?;
        settings().find(|setting| setting.key == key).map(Known).ok_or_else(|| D::Error::unknown_field(&key, &KEYS))
    }
}

fn settings() -> impl Iterator<Item = &'static Setting> {
    STAGES.iter().flat_map(|stage| stage.settings)
}
