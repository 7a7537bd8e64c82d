//! `aperture config`: prints and changes the settings files.

use crate::app::{CommandError, Env, ErrorKind, PROJECT_FILE, Settings, files, refusal, settings_file, tokens};
use crate::output::{Paint, Report, Style, padded, printable};
use crate::wire::SettingValue;
use crate::wire::stages::STAGES;
use anyhow::{Context, anyhow};
use schemars::JsonSchema;
use serde::Serialize;
use std::path::{Path, PathBuf};
use toml_edit::{DocumentMut, Item, Key, TableLike, Value};

#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture config                              what is set, and where; the stages of the proxy
  aperture config get preset
  aperture config set budget.tokens 120000
  aperture config set pipeline.manifest false --in-project
  aperture config unset budget.tokens
  aperture config add protect.paths 'docs/**'
  aperture config remove protect.paths 'docs/**'
  aperture config edit
  cat $(aperture config path)

The settings of a project, in its aperture.toml, come before those of the user, in config.toml. A
value is TOML (true, 5, [\"a\", \"b\"]) or else a text. A setting that does not exist is refused, and the rest
of the file stays as it is. aperture help settings explains all of them.")]
pub struct Arguments {
    /// The action; `list` if there is none.
    #[command(subcommand)]
    pub action: Option<Action>,
}

/// The actions.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Subcommand)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// List what is set, and the stages of the proxy
    List,
    /// Print a value
    Get {
        /// The setting, such as budget.tokens
        key: String,
    },
    /// Set a value
    Set {
        /// The setting, such as budget.tokens
        key: String,
        /// The value
        value: String,
        /// In the settings of the project
        #[arg(long)]
        in_project: bool,
    },
    /// Remove a setting
    Unset {
        /// The setting, such as budget.tokens
        key: String,
        /// In the settings of the project
        #[arg(long)]
        in_project: bool,
    },
    /// Add a value to a list
    Add {
        /// The list, such as protect.paths
        key: String,
        /// The value
        value: String,
        /// In the settings of the project
        #[arg(long)]
        in_project: bool,
    },
    /// Remove a value from a list
    Remove {
        /// The list, such as protect.paths
        key: String,
        /// The value
        value: String,
        /// In the settings of the project
        #[arg(long)]
        in_project: bool,
    },
    /// Print the path of the settings file
    Path {
        /// That of the project
        #[arg(long)]
        in_project: bool,
    },
    /// Open the settings in the editor
    Edit {
        /// The settings of the project
        #[arg(long)]
        in_project: bool,
    },
}

impl Arguments {
    /// Returns true if nothing is written.
    pub fn only_reads(&self) -> bool {
        matches!(self.action, None | Some(Action::List | Action::Get { .. } | Action::Path { .. }))
    }
}

/// A settings file.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ConfigFile {
    /// True if it is that of the project.
    pub in_project: bool,
    pub path: String,
    /// True if it exists.
    pub exists: bool,
}

/// A setting in a file.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ConfigValue {
    /// Name, with the names of its tables before it.
    pub key: String,
    /// Value, as TOML.
    pub value: String,
    /// True if it is in the settings of the project.
    pub in_project: bool,
}

/// A switch of a stage of the proxy.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ConfigSwitch {
    /// Setting.
    pub key: String,
    /// A sentence that says what the setting decides.
    pub meaning: String,
    /// True if it is switched on.
    pub on: bool,
}

/// The settings.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ConfigReport {
    /// Files, that of the user first.
    pub files: Vec<ConfigFile>,
    /// Settings in them; of one in both, the first counts.
    pub values: Vec<ConfigValue>,
    /// Switches of the stages of the proxy, in the order of their work.
    pub switches: Vec<ConfigSwitch>,
    /// The part of it that is printed as text.
    #[serde(skip)]
    view: View,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum View {
    #[default]
    Whole,
    /// The settings, after one was changed.
    Files,
    Value,
    /// The path of the one file that is left.
    Path,
}

impl Report for ConfigReport {
    const SCHEMA: &str = "aperture.config/1";

    fn text(&self, style: &Style) -> String {
        match self.view {
            View::Value => return self.values.iter().take(1).map(|value| format!("{}\n", printable(&value.value))).collect(),
            View::Path => return self.files.iter().map(|file| format!("{}\n", printable(&file.path))).collect(),
            View::Whole | View::Files => {}
        }
        let mut text = String::new();
        for file in &self.files {
            let owner = if file.in_project { "project" } else { "user" };
            let missing = if file.exists { "" } else { " (not there yet)" };
            text += &format!("{owner:<8}{}{missing}\n", printable(&file.path));
            for value in self.values.iter().filter(|value| value.in_project == file.in_project) {
                text += &printable(&format!("  {} = {}\n", value.key, value.value));
            }
        }
        if self.view == View::Files {
            return text;
        }
        text += &style.paint(Paint::Heading, "\nstages of the proxy, which reads the settings when it starts\n");
        let width = self.switches.iter().map(|switch| switch.key.len()).max().unwrap_or_default();
        for switch in &self.switches {
            let state = if switch.on { "on " } else { "off" };
            text += &format!("  {state} {}  {}\n", padded(&switch.key, width), switch.meaning);
        }
        text
    }
}

/// Prints or changes the settings.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    let change_noted = |in_project, done: &str, edit: &dyn Fn(&mut DocumentMut) -> anyhow::Result<()>| {
        let path = change(env, in_project, edit)?;
        env.note(&format!("{done} {}", path.display()));
        env.print(&ConfigReport { view: View::Files, ..report(env)? })
    };
    match arguments.action.as_ref().unwrap_or(&Action::List) {
        Action::List => env.print(&report(env)?),
        Action::Get { key } => {
            let mut report = report(env)?;
            report.values.retain(|value| value.key == *key);
            if report.values.is_empty() {
                return Err(
                    refusal!("{key} is not set, so its default counts").hint("to list what can be set: aperture help settings")
                );
            }
            report.view = View::Value;
            env.print(&report)
        }
        Action::Path { in_project } => {
            let mut report = report(env)?;
            report.files.retain(|file| file.in_project == *in_project);
            report.view = View::Path;
            env.print(&report)
        }
        Action::Set { key, value, in_project } => {
            let parsed =
                value.parse().ok().or_else(|| Some(Value::from(tokens(value).ok().filter(|_| key.ends_with("tokens"))? as i64)));
            let parsed: Value = parsed.unwrap_or_else(|| value.into());
            if *in_project && key.starts_with("model.") {
                env.note("the settings of a project cannot trust the model more than those of the user do");
            }
            change_noted(*in_project, &format!("wrote {key} to"), &|document| put(document, key, parsed.clone()))
        }
        Action::Unset { key, in_project } => {
            change_noted(*in_project, &format!("removed {key} from"), &|document| take(document, key))
        }
        Action::Add { key, value, in_project } => {
            change_noted(*in_project, &format!("wrote {key} to"), &|document| add(document, key, value))
        }
        Action::Remove { key, value, in_project } => {
            let done = format!("removed {value} from {key} in");
            change_noted(*in_project, &done, &|document| remove(document, key, value))
        }
        Action::Edit { in_project } => {
            let path = path(env, *in_project)?;
            let before = files::text(env.disk, &path)?;
            let after = env.edit(before.as_deref().unwrap_or_default())?;
            let parsed = after.parse().with_context(|| "it is not TOML, and was not saved");
            let document: DocumentMut = parsed.map_err(CommandError::usage)?;
            change(env, *in_project, &|old| {
                *old = document.clone();
                Ok(())
            })?;
            env.print(&report(env)?)
        }
    }
}

/// Returns the path of the settings of the user, or of the project: the `aperture.toml` of the directory or of its nearest ancestor
/// that has one.
fn path(env: &Env, in_project: bool) -> Result<PathBuf, CommandError> {
    if in_project {
        let mut paths = env.directory.ancestors().map(|directory| directory.join(PROJECT_FILE));
        return Ok(paths.find(|path| env.disk.identify(path).is_ok()).unwrap_or_else(|| env.directory.join(PROJECT_FILE)));
    }
    let missing = || CommandError::new(ErrorKind::Internal, anyhow!("there is no directory for settings"));
    settings_file().ok_or_else(|| missing().hint("set APERTURE_HOME"))
}

fn report(env: &Env) -> Result<ConfigReport, CommandError> {
    let [user, project] = [path(env, false)?, path(env, true)?];
    let pipeline = Settings::read(env.disk, Some(&user), Some(&project))?.pipeline();
    let mut report = ConfigReport { files: Vec::new(), values: Vec::new(), switches: Vec::new(), view: View::Whole };
    for (path, in_project) in [(user, false), (project, true)] {
        let text = files::text(env.disk, &path)?;
        let document: DocumentMut = text.as_deref().unwrap_or_default().parse().unwrap_or_default();
        let mut values = Vec::new();
        list(document.as_table(), "", &mut values);
        let values = values.into_iter().map(|(key, value)| ConfigValue { key, value, in_project });
        report.values.splice(0..0, values);
        report.files.push(ConfigFile { in_project, path: path.display().to_string(), exists: text.is_some() });
    }
    let switches = STAGES.iter().flat_map(|stage| stage.settings);
    for setting in switches.filter(|setting| matches!(setting.default, SettingValue::Switch(_))) {
        let (key, on) = (format!("pipeline.{}", setting.key), pipeline.is_on(setting));
        report.switches.push(ConfigSwitch { key, meaning: setting.meaning.to_owned(), on });
    }
    Ok(report)
}

/// Lists the values of a table, with the names of their tables before theirs.
fn list(table: &dyn TableLike, before: &str, values: &mut Vec<(String, String)>) {
    for (key, item) in table.iter() {
        let key = format!("{before}{}", Key::new(key).display_repr());
        match item.as_table_like() {
            Some(table) => list(table, &format!("{key}."), values),
            None => values.push((key, item.to_string().trim().to_owned())),
        }
    }
}

/// Changes a settings file, whose other lines stay as they are. Returns its path.
///
/// Errors: the file is not TOML, the setting or the value does not exist, or the file cannot be written. It is then unchanged.
pub fn change(
    env: &Env,
    in_project: bool,
    edit: &dyn Fn(&mut DocumentMut) -> anyhow::Result<()>,
) -> Result<PathBuf, CommandError> {
    let path = path(env, in_project)?;
    let changed = |path: &Path| -> anyhow::Result<()> {
        let before = files::text(env.disk, path)?;
        let mut document: DocumentMut = before.as_deref().unwrap_or_default().parse()?;
        edit(&mut document)?;
        let (before, after) = (before.as_deref().map(str::as_bytes), document.to_string());
        Settings::check_text(&after)?;
        Ok(files::replace(env.disk, path, before, after.as_bytes(), files::Mode::Plain)?)
    };
    let written = changed(&path).with_context(|| format!("cannot change the settings in {}", path.display()));
    written.map_err(|error| CommandError::usage(error).hint("to list the settings: aperture help settings"))?;
    Ok(path)
}

/// Sets a value.
pub fn put(document: &mut DocumentMut, key: &str, value: Value) -> anyhow::Result<()> {
    let keys = Key::parse(key)?;
    let Some((last, tables)) = keys.split_last() else { return Err(anyhow!("the name of the setting is empty")) };
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for key in tables {
        let item = table.entry_format(key).or_insert_with(toml_edit::table);
        table = item.as_table_like_mut().ok_or_else(|| anyhow!("{key} is a value, not a table"))?;
    }
    table.insert(last.get(), Item::Value(value));
    Ok(())
}

fn take(document: &mut DocumentMut, key: &str) -> anyhow::Result<()> {
    let (table, last) = place(document, key)?;
    table.remove(&last).map(drop).ok_or_else(|| anyhow!("{key} is not set"))
}

/// Adds a value to a list, which need not exist.
fn add(document: &mut DocumentMut, key: &str, value: &str) -> anyhow::Result<()> {
    match place(document, key).ok().and_then(|(table, last)| table.get_mut(&last)) {
        None => put(document, key, Value::Array([value].into_iter().collect())),
        Some(item) => {
            let list = item.as_array_mut().ok_or_else(|| anyhow!("{key} is not a list"))?;
            if !list.iter().any(|other| other.as_str() == Some(value)) {
                list.push(value);
            }
            Ok(())
        }
    }
}

fn remove(document: &mut DocumentMut, key: &str, value: &str) -> anyhow::Result<()> {
    let (table, last) = place(document, key)?;
    let list = table.get_mut(&last).and_then(Item::as_array_mut).ok_or_else(|| anyhow!("{key} is not a list"))?;
    let before = list.len();
    list.retain(|other| other.as_str() != Some(value));
    if list.len() == before { Err(anyhow!("{key} does not have {value}")) } else { Ok(()) }
}

/// Returns the table of a setting, which must exist, and the name of the setting in it.
fn place<'d>(document: &'d mut DocumentMut, key: &str) -> anyhow::Result<(&'d mut dyn TableLike, String)> {
    let keys = Key::parse(key)?;
    let Some((last, tables)) = keys.split_last() else { return Err(anyhow!("the name of the setting is empty")) };
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for key in tables {
        let item = table.get_mut(key.get()).and_then(Item::as_table_like_mut);
        table = item.ok_or_else(|| anyhow!("{key} is not set"))?;
    }
    Ok((table, last.get().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(text: &str, key: &str, value: &str) -> String {
        let mut document: DocumentMut = text.parse().unwrap();
        put(&mut document, key, value.parse().unwrap_or_else(|_| value.into())).unwrap();
        document.to_string()
    }

    #[test]
    fn the_rest_of_the_file_stays() {
        let text = "# mine\npreset = \"light\" # mild\n\n[pipeline]\nmanifest = true\n";
        let changed = after(text, "pipeline.manifest", "false");
        assert_eq!(changed, text.replace("true", "false"));
        assert_eq!(after(&changed, "budget.tokens", "5"), changed + "\n[budget]\ntokens = 5\n");
        assert_eq!(after("", "preset", "light"), "preset = \"light\"\n");
        assert_eq!(after("", "prices.\"gpt-5\"", "1.5"), "[prices]\ngpt-5 = 1.5\n");
        let mut document: DocumentMut = text.parse().unwrap();
        assert!(put(&mut document, "preset.x", 1.into()).is_err() && take(&mut document, "stale.turns").is_err());
        take(&mut document, "pipeline.manifest").unwrap();
        assert_eq!(document.to_string(), "# mine\npreset = \"light\" # mild\n\n[pipeline]\n");
        for path in ["a.md", "b.md", "a.md"] {
            add(&mut document, "protect.paths", path).unwrap();
        }
        assert!(document.to_string().ends_with("\n[protect]\npaths = [\"a.md\", \"b.md\"]\n"), "{document}");
        assert!(add(&mut document, "preset", "x").is_err() && remove(&mut document, "protect.paths", "c").is_err());
        remove(&mut document, "protect.paths", "a.md").unwrap();
        assert!(
            document.to_string().ends_with("paths = [ \"b.md\"]\n") || document.to_string().contains("[\"b.md\"]"),
            "{document}"
        );
    }
}
