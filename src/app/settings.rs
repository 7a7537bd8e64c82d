//! Settings: the user's `config.toml`, then the project's `aperture.toml`, then the command line.

use super::{CommandError, files};
use crate::engine::sidecar::SidecarTask;
use crate::engine::{
    self, CheckLimits, ModelPolicy, Permission, PriceSetting, Prices, ReadSettings, Rules, StalePolicy, StalenessLimit,
};
use crate::fsio::Disk;
use crate::model::{BlockKind, Verb, words};
use crate::wire::{PipelineSettings, stages::tool};
use anyhow::{Context, anyhow};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use toml::{Table, Value};
use toml_edit::Key;

/// The name of a project's settings file; it applies to its directory and all directories below.
pub const PROJECT_FILE: &str = "aperture.toml";

/// The content of the settings files, the project's over the user's.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Window sizes in tokens, by prefix of the model name.
    windows: BTreeMap<String, u64>,
    stale: StaleSettings,
    /// The preset, which determines how short stale blocks become.
    preset: Option<String>,
    /// Content that is not shortened unless selected explicitly.
    protect: ProtectSettings,
    /// The amount of old content to keep, overriding the preset.
    keep: KeepSettings,
    budget: BudgetSettings,
    /// The limits that `check` uses if none are given.
    check: Option<CheckLimits>,
    pub hooks: Hooks,
    pub resume: ResumeSettings,
    focus: FocusSettings,
    watch: WatchSettings,
    pipeline: PipelineSettings,
    pub memory: MemorySettings,
    pub sessions: SessionSettings,
    pub sidecar: SidecarSettings,
    /// Prices, by prefix of the model name.
    prices: BTreeMap<String, PriceSetting>,
    model: ModelSettings,
}

/// The settings of two files as they count together.
pub struct InForce {
    pub settings: Settings,
    /// The values in the files, without those that have no effect.
    pub values: Table,
    pub without_effect: Vec<WithoutEffect>,
}

/// A value of a settings file that has no effect.
#[derive(Clone, Debug)]
pub struct WithoutEffect {
    pub in_project: bool,
    /// The name of a setting, or of a table of them.
    pub key: String,
    pub reason: &'static str,
}

/// The permissions of the model, by command. Any other key is an error.
#[derive(Clone, Debug, Default, Deserialize)]
struct ModelSettings {
    commands_per_turn: Option<u32>,
    recalls_per_turn: Option<u32>,
    recalled_tokens_per_turn: Option<u32>,
    #[serde(flatten)]
    permissions: BTreeMap<Verb, Permission>,
}

impl ModelSettings {
    fn over(&self, policy: ModelPolicy) -> ModelPolicy {
        let mut policy = policy.with(self.permissions.iter().map(|(verb, permission)| (*verb, *permission)));
        policy.commands_per_turn = self.commands_per_turn.unwrap_or(policy.commands_per_turn);
        policy.recalls_per_turn = self.recalls_per_turn.unwrap_or(policy.recalls_per_turn);
        policy.recalled_tokens_per_turn = self.recalled_tokens_per_turn.unwrap_or(policy.recalled_tokens_per_turn);
        policy
    }
}

/// Declares the tables of the settings with the defaults of their fields, where these are not empty.
macro_rules! tables {
    (=) => { Default::default() };
    (= $default:expr) => { $default };
    ($(
        $(#[$attribute:meta])*
        $access:vis struct $name:ident {
            $($(#[$doc:meta])* $shown:vis $field:ident: $type:ty $(= $default:expr)?),* $(,)?
        }
    )*) => {$(
        $(#[$attribute])*
        #[derive(Clone, Debug, PartialEq, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        $access struct $name {
            $($(#[$doc])* $shown $field: $type),*
        }

        impl Default for $name {
            fn default() -> $name {
                $name { $($field: tables!(= $($default)?)),* }
            }
        }
    )*};
}

tables! {
    struct ProtectSettings {
        tools: Vec<String>,
        paths: Vec<String>,
        patterns: Vec<String>,
        turns: u32,
    }

    struct KeepSettings {
        worth_millionths: Option<f32>,
        newest_percent: Option<f64>,
    }

    struct BudgetSettings {
        tokens: Option<u64>,
        percent: Option<f64>,
    }

    /// The optional actions of the client's hooks.
    pub struct Hooks {
        /// True if a new session receives a summary of the project's last session.
        pub handoff: bool,
        /// True if long tool results are shortened before the model sees them.
        pub reduce_results: bool,
        /// The size, in tokens, above which they are shortened.
        pub reduce_over_tokens: u64 = 4000,
    }

    /// The settings for a session that is continued after its prompt cache expired.
    pub struct ResumeSettings {
        /// True if the first prompt is held once, with its price.
        pub ask: bool,
    }

    /// The settings for memories within a client.
    pub struct MemorySettings {
        /// True if hooks and `watch` learn from sessions.
        pub learn: bool = true,
        /// The maximum size of the memories that a new session receives, in tokens; 0 for none.
        pub session_tokens: usize = 500,
        /// The maximum size of the memories that a prompt brings, in tokens; 0 for none.
        pub prompt_tokens: usize = 150,
        /// True if entries of the model are in use at once; otherwise they are pending.
        pub trust_model: bool,
    }

    /// The settings for the sessions of clients as files. Only those of the user count, because a project must not lose or copy them.
    pub struct SessionSettings {
        pub keep: Keeping,
    }

    /// The settings for a local model. Only those of the user count, because a project must not choose where texts are sent.
    pub struct SidecarSettings {
        /// The base URL of an OpenAI-compatible server; without it, nothing is asked and nothing is queued.
        pub url: Option<String>,
        pub model: String = "default".to_owned(),
        /// The model that makes vectors for search; none are made without it.
        pub embedding_model: Option<String>,
        /// True if the server may be on another machine.
        pub allow_remote: bool,
        /// The maximum size of a text that is sent, in characters.
        pub characters: usize = 6_000,
        /// The maximum size of an answer, in tokens of the model.
        pub tokens: u32 = 180,
        /// The number of requests at the same time.
        pub at_once: usize = 1,
        /// The maximum time of a request, in seconds.
        pub seconds: u32 = 15,
        /// True if the worker yields to other programs.
        pub low_priority: bool = true,
        /// True if it also works without mains power.
        pub on_battery: bool,
    }

    struct FocusSettings {
        turns: Option<u32>,
    }

    struct WatchSettings {
        /// The user may still be reading an answer.
        idle_seconds: u64 = 60,
    }

    struct StaleSettings {
        turns: Option<u32>,
        steps: Option<u32>,
        kinds: KindSettings,
    }

    /// The kinds that can go stale. Text of the user and the model is excluded, because it defines the task.
    struct KindSettings {
        tool_use: Option<PatienceSetting>,
        tool_result: Option<PatienceSetting>,
        image: Option<PatienceSetting>,
        document: Option<PatienceSetting>,
        attachment: Option<PatienceSetting>,
    }

    struct LimitSettings {
        turns: Option<u32>,
        steps: Option<u32>,
    }
}

impl SidecarSettings {
    /// Returns true if a server is configured.
    pub fn is_on(&self) -> bool {
        self.url.as_deref().is_some_and(|url| !url.trim().is_empty())
    }

    pub fn model_of(&self, task: SidecarTask) -> &str {
        match task {
            SidecarTask::Embedding => self.embedding_model.as_deref().unwrap_or_default(),
            _ => &self.model,
        }
    }
}

words! {
    /// The setting that decides if sessions are copied before their client deletes them.
    #[derive(Default, Deserialize)]
    pub enum Keeping {
        /// Nothing is copied by itself, and nothing is reported.
        Off = "off",
        /// Nothing is copied by itself, and `install` asks.
        #[default]
        Ask = "ask",
        /// Hooks and `watch` copy sessions.
        On = "on",
    }
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged, expecting = "\"never\" or { turns = …, steps = … }")]
enum PatienceSetting {
    Never(Never),
    Limits(LimitSettings),
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Never {
    Never,
}

impl StaleSettings {
    fn policy(&self) -> StalePolicy {
        let default = StalenessLimit::default();
        let patience = StalenessLimit { turns: self.turns.unwrap_or(default.turns), steps: self.steps.unwrap_or(default.steps) };
        let kinds = [
            (BlockKind::ToolUse, &self.kinds.tool_use),
            (BlockKind::ToolResult, &self.kinds.tool_result),
            (BlockKind::Image, &self.kinds.image),
            (BlockKind::Document, &self.kinds.document),
            (BlockKind::Attachment, &self.kinds.attachment),
        ];
        kinds.into_iter().fold(StalePolicy::of_all(patience), |policy, (kind, setting)| match setting {
            None => policy,
            Some(PatienceSetting::Never(Never::Never)) => policy.with(kind, None),
            Some(PatienceSetting::Limits(limits)) => {
                let (turns, steps) = (limits.turns.unwrap_or(patience.turns), limits.steps.unwrap_or(patience.steps));
                policy.with(kind, Some(StalenessLimit { turns, steps }))
            }
        })
    }
}

/// Returns the text of the user's settings file with the setting of [`Keeping`]; `None` if it sets something about sessions already.
pub fn with_keeping(text: &str, keeping: Keeping) -> Option<String> {
    let has_sessions = text.parse::<Table>().map_or(true, |table| table.contains_key("sessions"));
    let separator = if text.is_empty() || text.ends_with("\n\n") {
        ""
    } else if text.ends_with('\n') {
        "\n"
    } else {
        "\n\n"
    };
    (!has_sessions).then(|| format!("{text}{separator}[sessions]\nkeep = \"{keeping}\"\n"))
}

impl Settings {
    /// Checks the text of a settings file.
    /// Errors: it is not TOML, or has unknown names or values.
    pub fn check_text(text: &str) -> anyhow::Result<()> {
        toml::from_str::<Settings>(text)?.rules().map(drop).map_err(|error| error.source)
    }

    /// Returns the reason why a value of a project has no effect under these settings of the user. The model can write the file of
    /// a project.
    fn against(&self, table: &str, key: &str, value: &Value) -> Option<&'static str> {
        let trusts_more = match (table, key) {
            ("sessions" | "sidecar", _) => return Some("only the file of the user decides it"),
            ("protect", "turns") if value.as_integer() < Some(self.protect.turns.into()) => {
                return Some("the greater number counts, that of the user");
            }
            ("memory", "trust_model") => value.as_bool() == Some(true) && !self.memory.trust_model,
            ("model", _) => {
                let alone = Table::from_iter([(key.to_owned(), value.clone())]).try_into::<ModelSettings>();
                alone.is_ok_and(|alone| !alone.over(self.model()).is_within(&self.model()))
            }
            _ => false,
        };
        trusts_more.then_some("a project cannot trust the model more than the user does")
    }

    /// Returns the permissions of the model.
    pub fn model(&self) -> ModelPolicy {
        self.model.over(ModelPolicy::default())
    }

    /// Returns the rules for shortening.
    /// Errors: a value is invalid, here or of another setting.
    pub fn rules(&self) -> Result<Rules, CommandError> {
        let wrong = |error: anyhow::Error| {
            CommandError::usage(error.context("cannot use the settings")).hint("to list the settings: aperture help settings")
        };
        let name = self.preset.as_deref().unwrap_or(engine::DEFAULT_PRESET);
        let preset = engine::preset(name)
            .ok_or_else(|| wrong(anyhow!("unknown preset '{name}'")).hint("to list them: aperture preset list"))?;
        let worth_millionths = self.keep.worth_millionths.unwrap_or(preset.worth_millionths).max(0.0);
        let check = self.check.unwrap_or_default();
        let sizes = [("budget.tokens", self.budget.tokens), ("check.max_tokens", check.max_tokens)];
        let sizes = sizes.into_iter().filter_map(|(name, tokens)| Some((name.to_owned(), tokens?)));
        let windows = self.windows.iter().map(|(model, tokens)| (format!("windows.{model}"), *tokens));
        if let Some((name, _)) = windows.chain(sizes).find(|(_, tokens)| *tokens == 0) {
            return Err(wrong(anyhow!("{name} is 0")));
        }
        if self.protect.patterns.iter().any(String::is_empty) {
            return Err(wrong(anyhow!("protect.patterns has an empty text, which is in every block")));
        }
        let url = self.sidecar.url.as_deref().filter(|_| self.sidecar.is_on());
        let host = url.map(|url| url.strip_prefix("http://").or_else(|| url.strip_prefix("https://")).unwrap_or_default());
        if host.is_some_and(|host| host.is_empty() || host.contains(['@', '?'])) {
            // The text is not repeated: it may have a password.
            return Err(wrong(anyhow!("sidecar.url is not an address such as http://127.0.0.1:8080")));
        }
        let percent = |name: &str, least: f64, most: f64, value: Option<f64>| match value {
            Some(value) if !(least..=most).contains(&value) => {
                Err(wrong(anyhow!("{name} is {value}, not from {least} to {most}")))
            }
            value => Ok(value),
        };
        percent("check.max_percent", 0.0, 1000.0, check.max_percent)?;
        let newest = percent("keep.newest_percent", 0.0, 100.0, self.keep.newest_percent)?;
        let newest_percent = newest.unwrap_or(preset.newest_percent);
        let budget_percent = percent("budget.percent", 1.0, 100.0, self.budget.percent)?;
        let mut rules = Rules::default();
        rules.preset = engine::Preset { worth_millionths, newest_percent, ..*preset };
        rules.budget_tokens = self.budget.tokens;
        rules.keep_turns = self.protect.turns;
        rules.budget_percent = budget_percent.unwrap_or(rules.budget_percent);
        rules
            .protecting(&self.protect.tools, &self.protect.paths, &self.protect.patterns)
            .map_err(|glob| wrong(anyhow!("'{glob}' under [protect] is not a valid glob")))
    }

    /// Returns the limits that `check` uses if none are given: those in the settings, otherwise no credentials, no damage, and a
    /// window of at most 100%.
    pub fn check(&self) -> CheckLimits {
        let full = CheckLimits { max_percent: Some(100.0), no_secrets: true, no_damage: true, ..CheckLimits::default() };
        self.check.unwrap_or(full)
    }

    pub fn preset(&self) -> &str {
        self.preset.as_deref().unwrap_or(engine::DEFAULT_PRESET)
    }

    /// Returns the settings for the stages of the proxy.
    pub fn pipeline(&self) -> PipelineSettings {
        let policy = self.model();
        // A tool whose commands are all denied would only cost tokens.
        let is_useful = Verb::ALL.into_iter().any(|verb| policy.permission(verb) != Permission::Deny);
        let pipeline = self.pipeline.clone();
        if is_useful { pipeline } else { pipeline.with(&tool::OFFERED, false) }
    }

    /// Returns the built-in prices, overridden by the settings.
    pub fn prices(&self) -> Prices {
        Prices::default().with(&self.prices)
    }

    /// Returns the time without writes after which rules may act on a session, in seconds.
    pub fn idle_seconds(&self) -> u64 {
        self.watch.idle_seconds
    }

    pub fn for_reading(&self, window_tokens: Option<u64>) -> ReadSettings {
        ReadSettings {
            window_tokens,
            model_windows: self.windows.iter().map(|(model, tokens)| (model.clone(), *tokens)).collect(),
            stale: self.stale.policy(),
            focus_turns: self.focus.turns.unwrap_or(ReadSettings::default().focus_turns),
        }
    }
}

impl WithoutEffect {
    /// Returns true if it is a setting, or its table.
    pub fn covers(&self, key: &str) -> bool {
        is_within(key, &self.key)
    }
}

/// Returns true if a name is that of a setting, or of one in this table.
pub fn is_within(key: &str, table: &str) -> bool {
    key.strip_prefix(table).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

impl InForce {
    /// Reads the settings files of the user and of the project, each of which can be missing.
    /// Errors: a file cannot be read, or has unknown names or values.
    pub fn read(disk: &dyn Disk, user: Option<&Path>, project: Option<&Path>) -> Result<InForce, CommandError> {
        InForce::of_project(project.map_or(Ok(Table::new()), |path| table(disk, path))?, disk, user)
    }

    /// Returns what values of a project and the file of the user are together.
    /// Errors: the file cannot be read, or one of both has unknown names or values.
    pub fn of_project(project: Table, disk: &dyn Disk, user: Option<&Path>) -> Result<InForce, CommandError> {
        let user = user.map_or(Ok(Table::new()), |path| table(disk, path))?;
        InForce::of(project, user).context("cannot use the settings").map_err(CommandError::usage)
    }

    /// Joins two files. The values of the project come before those of the user, lists are joined, and the limits of a check belong
    /// together.
    fn of(mut project: Table, mut user: Table) -> Result<InForce, toml::de::Error> {
        let far: Settings = user.clone().try_into()?;
        project.clone().try_into::<Settings>()?;
        let mut without_effect = Vec::new();
        for (name, values) in project.iter_mut().filter_map(|(name, value)| Some((name, value.as_table_mut()?))) {
            values.retain(|key, value| {
                let reason = far.against(name, key, value);
                let without = |reason| WithoutEffect { in_project: true, key: format!("{name}.{key}"), reason };
                without_effect.extend(reason.map(without));
                reason.is_none()
            });
        }
        if project.contains_key("check") && user.remove("check").is_some() {
            let reason = "the project has a [check] of its own";
            without_effect.push(WithoutEffect { in_project: false, key: "check".to_owned(), reason });
        }
        let values = over(project, user, "", &mut without_effect);
        Ok(InForce { settings: values.clone().try_into()?, values, without_effect })
    }
}

/// Reads a settings file; a missing one is empty.
fn table(disk: &dyn Disk, path: &Path) -> Result<Table, CommandError> {
    let read = files::whole(disk, path).with_context(|| format!("cannot read the settings in {}", path.display()));
    let bytes = read.map_err(CommandError::refused)?.unwrap_or_default();
    // An error has the place in the file.
    let checked = toml::from_slice::<Settings>(&bytes).and_then(|_| toml::from_slice(&bytes));
    checked
        .with_context(|| format!("cannot use the settings in {}", path.display()))
        .map_err(|error| CommandError::usage(error).hint("to list the settings: aperture help settings"))
}

/// Returns the values of two tables; those of the near one take precedence, value by value.
fn over(near: Table, mut far: Table, before: &str, without_effect: &mut Vec<WithoutEffect>) -> Table {
    for (key, value) in near {
        let path = format!("{before}{}", Key::new(&*key).display_repr());
        let value = match (value, far.remove(&key)) {
            (Value::Table(near), Some(Value::Table(far))) => Value::Table(over(near, far, &format!("{path}."), without_effect)),
            (Value::Array(near), Some(Value::Array(far))) => Value::Array([near, far].concat()),
            (value, far) => {
                let without = |_| WithoutEffect { in_project: false, key: path, reason: "the project sets another value" };
                without_effect.extend(far.map(without));
                value
            }
        };
        far.insert(key, value);
    }
    far
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::stages::budget::BUDGET;
    use crate::wire::stages::condensation::{CACHE_SECONDS, CONDENSE, PAY_BACK_TURNS};

    fn merged(project: &str, user: &str) -> Settings {
        InForce::of(project.parse().unwrap(), user.parse().unwrap()).unwrap().settings
    }

    #[test]
    fn the_nearer_file_wins() {
        let far = "windows.claude-opus = 9\nwindows.claude = 5\n[stale]\nturns = 7\nsteps = 8\n[watch]\nidle_seconds = 9";
        let near = merged("windows.claude-opus = 2\n[stale]\nturns = 1", far);
        assert_eq!((near.idle_seconds(), Settings::default().idle_seconds()), (9, 60));
        let read = near.for_reading(None);
        assert_eq!(read.model_windows, [("claude".to_owned(), 5), ("claude-opus".to_owned(), 2)]);
        assert_eq!(read.stale, StalePolicy::of_all(StalenessLimit { turns: 1, steps: 8 }));
    }

    #[test]
    fn rules_act_on_the_wire_only_if_they_are_switched_on() {
        let values = |of: &PipelineSettings| {
            (of.is_on(&CONDENSE), of.is_on(&BUDGET), of.number(&PAY_BACK_TURNS), of.number(&CACHE_SECONDS))
        };
        assert_eq!(values(&PipelineSettings::default()), (false, false, Some(5), None));
        let (near, far) = ("condense = true\npay_back_turns = 2", "condense = false\nbudget = true\ncache_seconds = 3600");
        let both = merged(&format!("[pipeline]\n{near}"), &format!("[pipeline]\n{far}")).pipeline();
        assert_eq!(values(&both), (true, true, Some(2), Some(3600)));
        let error = toml::from_str::<Settings>("[pipeline]\nzone = true").unwrap_err().to_string();
        assert!(error.contains("line 2, column 1") && error.contains("`zone`, expected one of `ingest`"), "{error}");
        assert!(toml::from_str::<Settings>("[pipeline]\nzones = 1").is_err());
    }

    #[test]
    fn memories_are_learned_and_sent_unless_they_are_switched_off() {
        let default = MemorySettings { learn: true, session_tokens: 500, prompt_tokens: 150, trust_model: false };
        assert_eq!(Settings::default().memory, default);
        let near = "[memory]\nlearn = false\nprompt_tokens = 0\ntrust_model = true";
        let both = MemorySettings { learn: false, session_tokens: 900, prompt_tokens: 0, trust_model: false };
        let of_both = merged(near, "[memory]\nlearn = true\nsession_tokens = 900").memory;
        assert_eq!(of_both, both, "a project does not trust the model by itself");
        assert!(merged("", near).memory.trust_model && merged(near, near).memory.trust_model);
        assert!(!merged("[memory]\ntrust_model = false", near).memory.trust_model);
        assert!(toml::from_str::<Settings>("[memory]\nprompt_tokens = -1").is_err());
    }

    #[test]
    fn a_project_extends_the_protection_and_has_its_own_checks() {
        let user = "[protect]\ntools = ['a']\nturns = 3\n[check]\nno_secrets = true";
        let settings = merged("[protect]\ntools = ['b']\nturns = 2\n[check]\nmax_tokens = 9", user);
        assert_eq!((settings.protect.tools.as_slice(), settings.protect.turns), (&["b".to_owned(), "a".to_owned()][..], 3));
        assert_eq!(settings.check(), CheckLimits { max_tokens: Some(9), ..CheckLimits::default() });
        assert!(merged("", user).check().no_secrets);
    }

    #[test]
    fn each_kind_goes_stale_by_its_own_rule() {
        let near = "[stale.kinds]\nimage = { turns = 1 }\ndocument = 'never'";
        let far = "[stale]\nsteps = 8\n[stale.kinds]\nimage = 'never'\nattachment = {}";
        let policy = merged(near, far).for_reading(None).stale;
        let patience = |turns, steps| Some(StalenessLimit { turns, steps });
        for (kind, expected) in [
            (BlockKind::Image, patience(1, 8)),
            (BlockKind::Document, None),
            (BlockKind::Attachment, patience(3, 8)),
            (BlockKind::ToolResult, patience(3, 8)),
            (BlockKind::Text, None),
        ] {
            assert_eq!(policy.limit_for_kind(kind), expected, "{kind:?}");
        }
        for wrong in ["text = { turns = 1 }", "image = 'always'", "image = { years = 1 }"] {
            assert!(toml::from_str::<Settings>(&format!("[stale.kinds]\n{wrong}")).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_project_allows_the_model_less_and_never_more() {
        use Permission::{Approve, Auto, Deny};
        let project = "[model]\narchive = 'approve'\npin = 'auto'\nupdate = 'auto'\nfocus = 'deny'";
        let policy = merged(project, "[model]\narchive = 'auto'\npin = 'approve'").model();
        let expected =
            [(Verb::Archive, Approve), (Verb::Pin, Approve), (Verb::Update, Approve), (Verb::Focus, Deny), (Verb::Recall, Auto)];
        for (verb, permission) in expected {
            assert_eq!(policy.permission(verb), permission, "{}", verb.name());
        }
        let alone = merged(project, "").model();
        assert_eq!(
            (alone.permission(Verb::Update), alone.permission(Verb::Archive), alone.commands_per_turn),
            (Approve, Approve, 10)
        );
    }

    #[test]
    fn only_the_user_decides_if_sessions_are_kept() {
        let keep = |project: &str, user: &str| merged(project, user).sessions.keep;
        assert_eq!(keep("", ""), Keeping::Ask);
        assert_eq!(keep("[sessions]\nkeep = 'off'", "[sessions]\nkeep = 'on'"), Keeping::On);
        assert_eq!(keep("[sessions]\nkeep = 'on'", ""), Keeping::Ask);
    }

    #[test]
    fn only_the_user_chooses_where_texts_are_sent() {
        let url = "[sidecar]\nurl = 'http://127.0.0.1:8080'\nallow_remote = true";
        assert!(!merged(url, "").sidecar.is_on() && merged("", url).sidecar.allow_remote);
        let both = merged("[sidecar]\nurl = 'http://example.org'\nseconds = 1", url).sidecar;
        assert_eq!((both.url.as_deref(), both.seconds), (Some("http://127.0.0.1:8080"), 15));
        assert!(!merged("", "[sidecar]\nurl = ''").sidecar.is_on());
    }

    #[test]
    fn each_value_has_an_effect_or_a_reason() {
        let user = "preset = 'light'\nwindows.'gpt-5.1' = 4\nstale.kinds.image = 'never'\n[protect]\ntools = ['a']\nturns = 3
            [check]\nmax_tokens = 9\n[model]\npin = 'approve'\ncommands_per_turn = 4";
        let project = "preset = 'balanced'\nwindows.'gpt-5.1' = 5\nstale.kinds.image = { turns = 1 }\n[protect]\ntools = ['b']
            turns = 2\n[check]\nmax_stale = 9\n[model]\npin = 'auto'\nfocus = 'deny'\ncommands_per_turn = 5\nrecalls_per_turn = 1
            [memory]\ntrust_model = true\nlearn = false\n[sessions]\nkeep = 'on'\n[sidecar]\nmodel = 'm'";
        let found = InForce::of(project.parse().unwrap(), user.parse().unwrap()).unwrap();
        let keys = |in_project| {
            let mut keys: Vec<&str> = Vec::new();
            keys.extend(found.without_effect.iter().filter(|value| value.in_project == in_project).map(|value| &*value.key));
            keys.sort_unstable();
            keys.join(" ")
        };
        let of_project = "memory.trust_model model.commands_per_turn model.pin protect.turns sessions.keep sidecar.model";
        assert_eq!(keys(true), of_project);
        assert_eq!(keys(false), "check preset stale.kinds.image windows.\"gpt-5.1\"");
        assert_eq!(found.values["protect"].to_string(), "{ tools = [\"b\", \"a\"], turns = 3 }");
        assert_eq!(found.values["model"]["pin"].as_str(), Some("approve"));
        assert!(found.values["sessions"].as_table().is_some_and(Table::is_empty));
        assert!(InForce::of(user.parse().unwrap(), Table::new()).unwrap().without_effect.iter().all(|value| value.in_project));
    }

    #[test]
    fn the_setting_is_added_to_any_settings() {
        for text in ["", "preset = 'light'", "[watch]\nidle_seconds = 9\n"] {
            let with = with_keeping(text, Keeping::On).unwrap();
            assert!(with.starts_with(text), "{with}");
            assert_eq!(merged("", &with).sessions.keep, Keeping::On);
        }
        assert_eq!(with_keeping("[sessions]\nkeep = 'ask'", Keeping::On), None);
        assert_eq!(with_keeping("[", Keeping::On), None);
    }

    #[test]
    fn a_value_that_the_command_line_refuses_is_an_error() {
        for (text, wrong) in [
            ("windows.claude = 0", "windows.claude is 0"),
            ("[budget]\ntokens = 0", "budget.tokens is 0"),
            ("[budget]\npercent = 0.5", "budget.percent is 0.5, not from 1 to 100"),
            ("[check]\nmax_tokens = 0", "check.max_tokens is 0"),
            ("[check]\nmax_percent = 1001", "check.max_percent is 1001, not from 0 to 1000"),
            ("[protect]\npatterns = ['a', '']", "protect.patterns has an empty text, which is in every block"),
            ("[sidecar]\nurl = 'ftp://x'", "sidecar.url is not an address such as http://127.0.0.1:8080"),
            ("[sidecar]\nurl = 'http://me:word@x'", "sidecar.url is not an address such as http://127.0.0.1:8080"),
        ] {
            let error = Settings::check_text(text).unwrap_err();
            assert_eq!(format!("{error:#}"), format!("cannot use the settings: {wrong}"));
        }
        for right in ["[check]\nmax_stale = 0", "[sidecar]\nurl = ''", "[sidecar]\nurl = 'https://x'", "[protect]\npatterns = []"]
        {
            Settings::check_text(right).unwrap();
        }
    }

    #[test]
    fn an_unknown_name_is_an_error() {
        for wrong in
            ["windwos = 1", "[model]\nsurprise = 'auto'", "[model]\npin = 'perhaps'", "[model]\ncommands_per_turn = 'two'"]
        {
            assert!(toml::from_str::<Settings>(wrong).is_err(), "{wrong}");
        }
    }
}
