//! `aperture config`: prints and changes the settings files.

use crate::app::{
    self, CommandError, Env, ErrorKind, InForce, PROJECT_FILE, Settings, files, is_within, project_file, refusal, settings_file,
    tokens, wait,
};
use crate::output::{Paint, Report, Style, padded, printable};
use crate::text::shell::quoted_word;
use crate::wire::SettingValue;
use crate::wire::stages::STAGES;
use anyhow::{Context, anyhow};
use schemars::JsonSchema;
use serde::Serialize;
use std::io;
use std::path::PathBuf;
use std::time::Duration;
use toml_edit::{Array, Document, DocumentMut, Item, Key, RawString, TableLike, Value};

/// The number of further attempts to change a file that another program changes at the same moment, and the interval between them.
const ATTEMPTS: u32 = 200;
const ATTEMPT: Duration = Duration::from_millis(10);

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
value is TOML (true, 5, [\"a\", \"b\"]) or else a text. A setting that does not exist is refused, and one
that has no effect in the file; the rest of the file stays as it is. aperture help settings explains
all of them.")]
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
    /// Reason why it has no effect; null if it has.
    pub without_effect: Option<&'static str>,
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
    /// Settings in them, those of the project first.
    pub values: Vec<ConfigValue>,
    /// Value in force that `get` asked for; null for other actions.
    pub value: Option<serde_json::Value>,
    /// Switches of the stages of the proxy, in the order of their work.
    pub switches: Vec<ConfigSwitch>,
    /// The part of it that is printed as text.
    #[serde(skip)]
    view: View,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum View {
    #[default]
    Whole,
    /// The settings, after one was changed.
    Files,
    /// A value in force, as TOML.
    Value(String),
    /// The path of the one file that is left.
    Path,
}

impl Report for ConfigReport {
    const SCHEMA: &str = "aperture.config/1";

    fn text(&self, style: &Style) -> String {
        match &self.view {
            View::Value(value) => return format!("{}\n", printable(value)),
            View::Path => return self.files.iter().map(|file| format!("{}\n", printable(&file.path))).collect(),
            View::Whole | View::Files => {}
        }
        let mut text = String::new();
        for file in &self.files {
            let owner = if file.in_project { "project" } else { "user" };
            let missing = if file.exists { "" } else { " (not there yet)" };
            text += &format!("{owner:<8}{}{missing}\n", printable(&file.path));
            for value in self.values.iter().filter(|value| value.in_project == file.in_project) {
                let reason = value.without_effect.map(|reason| format!("  (no effect: {reason})")).unwrap_or_default();
                text += &printable(&format!("  {} = {}{reason}\n", value.key, value.value));
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
    let change_noted = |in_project, done: &str, edit: &dyn Fn(&str) -> anyhow::Result<String>| {
        let path = change_text(env, in_project, edit)?;
        env.note(&format!("{done} {}", path.display()));
        env.print(&ConfigReport { view: View::Files, ..report(env)?.0 })
    };
    match arguments.action.as_ref().unwrap_or(&Action::List) {
        Action::List => env.print(&report(env)?.0),
        Action::Get { key } => get(env, key),
        Action::Path { in_project } => {
            let (mut report, _) = report(env)?;
            report.files.retain(|file| file.in_project == *in_project);
            report.view = View::Path;
            env.print(&report)
        }
        Action::Set { key, value, in_project } => {
            let parsed =
                value.parse().ok().or_else(|| Some(Value::from(tokens(value).ok().filter(|_| key.ends_with("tokens"))? as i64)));
            let parsed: Value = parsed.unwrap_or_else(|| value.into());
            if *in_project {
                check_effect(env, key, &parsed).map_err(|error| {
                    let value = quoted_word(value);
                    error.hint(format!("to set it for the user: aperture config set {key} {value}"))
                })?;
            }
            let put = |text: &str| edited(text, &|document| put(document, key, parsed.clone()));
            change_noted(*in_project, &format!("wrote {key} to"), &put)
        }
        Action::Unset { key, in_project } => {
            change_noted(*in_project, &format!("removed {key} from"), &|text| without(text, key))
        }
        Action::Add { key, value, in_project } => {
            let add = |text: &str| edited(text, &|document| add(document, key, value));
            change_noted(*in_project, &format!("wrote {key} to"), &add)
        }
        Action::Remove { key, value, in_project } => {
            let done = format!("removed {value} from {key} in");
            change_noted(*in_project, &done, &|text| edited(text, &|document| remove(document, key, value)))
        }
        Action::Edit { in_project } => {
            let path = path(env, *in_project)?;
            let before = files::text(env.disk, &path)?;
            let after = env.edit(before.as_deref().unwrap_or_default())?;
            let parsed = Document::parse(&*after).context("it is not TOML, and was not saved");
            parsed.map_err(CommandError::usage)?;
            change_text(env, *in_project, &|_| Ok(after.clone()))?;
            env.print(&report(env)?.0)
        }
    }
}

/// Prints the value in force of a setting, or of all in a table.
fn get(env: &Env, key: &str) -> Result<(), CommandError> {
    let (mut report, values) = report(env)?;
    let names = Key::parse(key).unwrap_or_default();
    let name = names.iter().map(|name| Key::new(name.get()).display_repr().into_owned()).collect::<Vec<_>>().join(".");
    report.values.retain(|value| is_within(&value.key, &name));
    for value in report.values.iter().filter(|value| value.in_project) {
        if let Some(reason) = value.without_effect {
            env.note(&format!("{} has no effect in the settings of the project: {reason}", value.key));
        }
    }
    let mut names = names.iter();
    let first = names.next().and_then(|name| values.get(name.get()));
    let value = names.fold(first, |table, name| table?.get(name.get()));
    let value = value.filter(|value| value.as_table().is_none_or(|table| !table.is_empty()));
    let unset = || refusal!("{key} is not set, so its default counts").hint("to list what can be set: aperture help settings");
    let value = value.ok_or_else(unset)?;
    (report.view, report.value) = (View::Value(value.to_string()), serde_json::to_value(value).ok());
    env.print(&report)
}

/// Errors: a value would have no effect in the settings of the project.
fn check_effect(env: &Env, key: &str, value: &Value) -> Result<(), CommandError> {
    let mut document = DocumentMut::new();
    let written = put(&mut document, key, value.clone()).ok().and_then(|()| document.to_string().parse().ok());
    // A value that cannot be written is refused with its place in the file.
    let in_force = written.and_then(|project| InForce::of_project(project, env.disk, settings_file().as_deref()).ok());
    match in_force.and_then(|in_force| in_force.without_effect.into_iter().find(|value| value.in_project)) {
        Some(without) => {
            let fact = format!("{} has no effect in the settings of a project", without.key);
            Err(CommandError::usage(anyhow!(without.reason).context(fact)))
        }
        None => Ok(()),
    }
}

/// Returns the path of the settings of the user, or of the project: the `aperture.toml` of the directory or of its nearest ancestor
/// that has one.
fn path(env: &Env, in_project: bool) -> Result<PathBuf, CommandError> {
    if in_project {
        return Ok(project_file(env.disk, &env.directory).unwrap_or_else(|| env.directory.join(PROJECT_FILE)));
    }
    let missing = || CommandError::new(ErrorKind::Internal, anyhow!("there is no directory for settings"));
    settings_file().ok_or_else(|| missing().hint("set APERTURE_HOME"))
}

/// Returns the settings in the files, and those in force.
fn report(env: &Env) -> Result<(ConfigReport, toml::Table), CommandError> {
    let [user, project] = [path(env, false)?, path(env, true)?];
    let in_force = app::settings(env.disk, &env.directory)?;
    let pipeline = in_force.settings.pipeline();
    let mut report = ConfigReport { files: Vec::new(), values: Vec::new(), value: None, switches: Vec::new(), view: View::Whole };
    for (path, in_project) in [(user, false), (project, true)] {
        let text = files::text(env.disk, &path)?;
        let document: DocumentMut = text.as_deref().unwrap_or_default().parse().unwrap_or_default();
        let mut values = Vec::new();
        list(document.as_table(), "", &mut values);
        let values = values.into_iter().map(|(key, value)| {
            let mut without = in_force.without_effect.iter().filter(|value| value.in_project == in_project);
            let without_effect = without.find(|value| value.covers(&key)).map(|value| value.reason);
            ConfigValue { key, value, in_project, without_effect }
        });
        report.values.splice(0..0, values);
        report.files.push(ConfigFile { in_project, path: path.display().to_string(), exists: text.is_some() });
    }
    let switches = STAGES.iter().flat_map(|stage| stage.settings);
    for setting in switches.filter(|setting| matches!(setting.default, SettingValue::Switch(_))) {
        let (key, on) = (format!("pipeline.{}", setting.key), pipeline.is_on(setting));
        report.switches.push(ConfigSwitch { key, meaning: setting.meaning.to_owned(), on });
    }
    Ok((report, in_force.values))
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
    change_text(env, in_project, &|text| edited(text, edit))
}

/// Replaces the text of a settings file, as [`change`].
fn change_text(env: &Env, in_project: bool, edit: &dyn Fn(&str) -> anyhow::Result<String>) -> Result<PathBuf, CommandError> {
    let path = path(env, in_project)?;
    let what = || format!("cannot change the settings in {}", path.display());
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::ResourceBusy => {
            CommandError::new(ErrorKind::Conflict, anyhow::Error::new(error).context(what())).hint("try again")
        }
        _ => CommandError::of_disk(error, what()),
    };
    let mut left = ATTEMPTS;
    loop {
        let before = files::text(env.disk, &path).map_err(failed)?;
        let after = edit(before.as_deref().unwrap_or_default());
        let checked = after.and_then(|after| Settings::check_text(&after).map(|()| after)).with_context(what);
        let after = checked.map_err(|error| CommandError::usage(error).hint("to list the settings: aperture help settings"))?;
        let before = before.as_deref().map(str::as_bytes);
        match files::replace(env.disk, &path, before, after.as_bytes(), files::Mode::Plain) {
            // Another process may also remove the temporary file of a new one.
            Err(error) if left > 0 && matches!(error.kind(), io::ErrorKind::ResourceBusy | io::ErrorKind::NotFound) => {
                left -= 1;
                wait(ATTEMPT);
            }
            written => return written.map_err(failed).map(|()| path.clone()),
        }
    }
}

/// Returns a text after an edit of its document.
fn edited(text: &str, edit: &dyn Fn(&mut DocumentMut) -> anyhow::Result<()>) -> anyhow::Result<String> {
    let mut document: DocumentMut = text.parse()?;
    edit(&mut document)?;
    Ok(with_lines_of(text, &document.to_string()))
}

/// Returns a text with the line ends of an earlier one, whose lines before and after the change are as they were.
fn with_lines_of(before: &str, after: &str) -> String {
    let end = if before.contains("\r\n") { "\r\n" } else { "\n" };
    let plain = |line: &str| line.trim_start_matches('\u{feff}').trim_end_matches(['\r', '\n']).to_owned();
    let (old, new): (Vec<_>, Vec<_>) = (before.split_inclusive('\n').collect(), after.split_inclusive('\n').collect());
    let same = |(old, new): &(&&str, &&str)| plain(old) == plain(new);
    let head = old.iter().zip(&new).take_while(same).count();
    let tail = old[head..].iter().rev().zip(new[head..].iter().rev()).take_while(same).count();
    let mut text = old[..head].concat();
    for line in &new[head..new.len() - tail] {
        if !text.is_empty() && !text.ends_with('\n') {
            text += end;
        }
        text += &(plain(line) + end);
    }
    text + &old[old.len() - tail..].concat()
}

/// Sets a value.
pub fn put(document: &mut DocumentMut, key: &str, value: Value) -> anyhow::Result<()> {
    let (table, last) = place(document, key, true)?;
    match table.get_mut(&last).and_then(Item::as_value_mut) {
        Some(old) => {
            // Its comment stays.
            let decor = std::mem::take(old.decor_mut());
            *old = value;
            *old.decor_mut() = decor;
        }
        None => drop(table.insert(&last, Item::Value(value))),
    }
    Ok(())
}

/// Returns a text without the lines of a setting, and without the header of its table if nothing else is in it. Comments above stay.
fn without(text: &str, key: &str) -> anyhow::Result<String> {
    let unset = || anyhow!("{key} is not set");
    let document = Document::parse(text)?;
    let keys = Key::parse(key)?;
    let (last, tables) = keys.split_last().ok_or_else(unset)?;
    let mut parent = document.as_item();
    for name in tables {
        parent = parent.as_table_like().and_then(|table| table.get(name.get())).ok_or_else(unset)?;
    }
    let found = parent.as_table_like().and_then(|table| table.get_key_value(last.get()));
    let (name, item) = found.ok_or_else(unset)?;
    let place = name.span().zip(item.as_value().and_then(Value::span)).filter(|_| parent.is_table());
    let Some((start, end)) = place.map(|(name, value)| (name.start, value.end)) else {
        return edited(text, &|document| {
            let (table, last) = self::place(document, key, false)?;
            table.remove(&last).map(drop).ok_or_else(unset)
        });
    };
    let start = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let rest = text[end..].find('\n').map_or("", |at| &text[end + at + 1..]);
    let header = text[..start].trim_end();
    let at = header.rfind('\n').map_or(0, |at| at + 1);
    let above = &text[..at];
    let is_last = rest.trim_start().is_empty() || rest.trim_start().starts_with('[');
    let is_header = header.ends_with(']') && parent.span().is_some_and(|table| table.start == at);
    let has_comment = above.lines().last().is_some_and(|line| line.trim_start().starts_with('#'));
    if !is_last || !is_header || has_comment {
        return Ok(format!("{}{rest}", &text[..start]));
    }
    let above =
        ["\r\n\r\n", "\n\n"].iter().find(|blank| above.ends_with(**blank)).map_or(above, |blank| &above[..at - blank.len() / 2]);
    Ok(format!("{above}{}", if above.is_empty() { rest.trim_start_matches(['\r', '\n']) } else { rest }))
}

/// Adds a value to a list, which need not exist.
fn add(document: &mut DocumentMut, key: &str, value: &str) -> anyhow::Result<()> {
    match place(document, key, false).ok().and_then(|(table, last)| table.get_mut(&last)) {
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
    let (table, last) = place(document, key, false)?;
    let item = table.get_mut(&last).ok_or_else(|| anyhow!("{key} is not set"))?;
    let list = item.as_array_mut().ok_or_else(|| anyhow!("{key} is not a list"))?;
    let find = |list: &Array| list.iter().position(|other| other.as_str() == Some(value));
    let mut place = Some(find(list).ok_or_else(|| anyhow!("{key} does not have {value}"))?);
    while let Some(at) = place {
        remove_at(list, at);
        place = find(list);
    }
    Ok(())
}

/// Removes a value of a list and the comment behind it; the comment behind the value before it stays.
fn remove_at(list: &mut Array, at: usize) {
    let text = |raw: Option<&RawString>| raw.and_then(RawString::as_str).unwrap_or_default().to_owned();
    let removed = list.remove(at);
    // The comment behind the comma of a value precedes the next one, or the end.
    let before = text(removed.decor().prefix());
    let behind = match list.get(at) {
        Some(next) => text(next.decor().prefix()),
        None => text(removed.decor().suffix()) + &text(Some(list.trailing())),
    };
    let comment = before.split('\n').next().unwrap_or_default();
    let rest = behind.find('\n').map_or("", |feed| &behind[feed..]);
    match list.get_mut(at) {
        Some(next) => next.decor_mut().set_prefix(format!("{comment}{rest}")),
        None => list.set_trailing(if rest.is_empty() { String::new() } else { format!("{comment}{rest}") }),
    }
}

/// Returns the table of a setting, which must exist or is created, and the name of the setting in it.
fn place<'d>(document: &'d mut DocumentMut, key: &str, creates: bool) -> anyhow::Result<(&'d mut dyn TableLike, String)> {
    let keys = Key::parse(key)?;
    let Some((last, tables)) = keys.split_last() else { return Err(anyhow!("the name of the setting is empty")) };
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for name in tables {
        let item =
            if creates { Some(table.entry_format(name).or_insert_with(toml_edit::table)) } else { table.get_mut(name.get()) };
        table = item.and_then(Item::as_table_like_mut).ok_or_else(|| match creates {
            true => anyhow!("{name} is a value, not a table"),
            false => anyhow!("{key} is not set"),
        })?;
    }
    Ok((table, last.get().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(text: &str, key: &str, value: &str) -> String {
        edited(text, &|document| put(document, key, value.parse().unwrap_or_else(|_| value.into()))).unwrap()
    }

    #[test]
    fn the_rest_of_the_file_stays() {
        let text = "# mine\npreset = \"light\" # mild\n\n[pipeline]\nmanifest = true # shown\n";
        let changed = after(text, "pipeline.manifest", "false");
        assert_eq!(changed, text.replace("true", "false"));
        assert_eq!(after(&changed, "budget.tokens", "5"), changed.clone() + "\n[budget]\ntokens = 5\n");
        assert_eq!(after("", "preset", "light"), "preset = \"light\"\n");
        assert_eq!(after("", "prices.\"gpt-5\"", "1.5"), "[prices]\ngpt-5 = 1.5\n");
        let crlf = text.replace('\n', "\r\n");
        assert_eq!(after(&crlf, "budget.tokens", "5"), crlf.clone() + "\r\n[budget]\r\ntokens = 5\r\n");
        assert_eq!(after(&crlf, "preset", "balanced"), crlf.replace("light", "balanced"));
        assert_eq!(after("a = 1", "b", "2"), "a = 1\nb = 2\n");
        let mut document: DocumentMut = text.parse().unwrap();
        assert!(put(&mut document, "preset.x", 1.into()).is_err());
    }

    #[test]
    fn a_setting_is_removed_with_its_lines_only() {
        let text = "# mine\npreset = \"light\" # mild\n\n[pipeline]\n# why\nmanifest = true\n\n[hooks] # all\nx = 1\n";
        let check = |key: &str, gone: &str| {
            for (text, gone) in [(text.to_owned(), gone.to_owned()), (text.replace('\n', "\r\n"), gone.replace('\n', "\r\n"))] {
                assert_eq!(without(&text, key).unwrap(), text.replace(&gone, ""), "{key}");
            }
        };
        check("preset", "preset = \"light\" # mild\n");
        check("pipeline.manifest", "manifest = true\n");
        check("hooks.x", "x = 1\n");
        for (text, key, left) in [
            ("a = 1\n\n[hooks]\nx = [\n  1, # one\n]\n\n[b]\nc = 1\n", "hooks.x", "a = 1\n\n[b]\nc = 1\n"),
            ("[hooks]\nx = 1\n\n[b]\n", "hooks.x", "[b]\n"),
            ("# all\n[hooks]\nx = 1\n", "hooks.x", "# all\n[hooks]\n"),
            ("hooks.x = 1\nhooks.y = 2", "hooks.y", "hooks.x = 1\n"),
            ("m = [\n[1]]\nx = 1\n", "x", "m = [\n[1]]\n"),
            ("hooks = { x = 1, y = 2 } # both\n", "hooks.x", "hooks = { y = 2 } # both\n"),
            ("[hooks]\nx = 1\n", "hooks", ""),
        ] {
            assert_eq!(without(text, key).unwrap(), left, "{key} in {text}");
        }
        for text in ["", "preset = \"light\"\n", "[b]\r\nc = 1\r\n"] {
            assert_eq!(without(&after(text, "budget.tokens", "5"), "budget.tokens").unwrap(), text);
        }
        assert_eq!(without("a = 1\n", "stale.turns").unwrap_err().to_string(), "stale.turns is not set");
    }

    #[test]
    fn a_value_of_a_list_goes_with_its_own_comment() {
        for (text, left) in [
            ("[\n  \"a\", # x\n  \"b\", # y\n]", "[\n  \"a\", # x\n]"),
            ("[\n  \"b\", # y\n  \"a\", # x\n]", "[\n  \"a\", # x\n]"),
            ("[\n  \"a\", # x\n  \"b\" # y\n]", "[\n  \"a\" # x\n]"),
            ("[ # all\n  \"b\",\n  # x\n  \"a\",\n]", "[ # all\n  # x\n  \"a\",\n]"),
            ("[\"a\", \"b\"]", "[\"a\"]"),
            ("[\"b\", \"a\", \"b\"]", "[\"a\"]"),
            ("[\"b\"] # all", "[] # all"),
        ] {
            let [text, left] = [text, left].map(|list| format!("[protect]\npaths = {list}\nturns = 3\n"));
            assert_eq!(edited(&text, &|document| remove(document, "protect.paths", "b")).unwrap(), left, "{text}");
        }
    }

    #[test]
    fn a_list_gets_and_loses_values() {
        let mut document = DocumentMut::new();
        for path in ["a.md", "b.md", "a.md"] {
            add(&mut document, "protect.paths", path).unwrap();
        }
        assert_eq!(document.to_string(), "[protect]\npaths = [\"a.md\", \"b.md\"]\n");
        let error = |document: &mut DocumentMut, key| remove(document, key, "c").unwrap_err().to_string();
        assert_eq!(error(&mut document, "protect.paths"), "protect.paths does not have c");
        assert_eq!(error(&mut document, "protect.tools"), "protect.tools is not set");
        put(&mut document, "preset", "light".into()).unwrap();
        assert_eq!(error(&mut document, "preset"), "preset is not a list");
        assert!(add(&mut document, "preset", "x").is_err());
        remove(&mut document, "protect.paths", "a.md").unwrap();
        assert_eq!(document.to_string(), "preset = \"light\"\n\n[protect]\npaths = [\"b.md\"]\n");
    }
}
