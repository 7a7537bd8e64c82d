//! Settings: the user's `config.toml`, then the project's `aperture.toml`, then the command line.

use super::files;
use super::{CommandError, ErrorKind};
use crate::engine::{
    self, CheckLimits, ModelPolicy, Permission, PriceSetting, Prices, ReadSettings, Rules, StalePolicy, StalenessLimit,
};
use crate::fsio::Disk;
use crate::model::{BlockKind, Verb};
use crate::wire::PipelineSettings;
use anyhow::{Context, anyhow};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// The name of a project's settings file; it applies to its directory and all directories below.
pub const PROJECT_FILE: &str = "aperture.toml";
/// The default time without writes after which rules may act on a session, in seconds: the user may still be reading an answer.
const IDLE_SECONDS: u64 = 60;
/// The default size of a tool result, in tokens, above which the hook shortens it, if that is enabled.
const REDUCE_OVER_TOKENS: u64 = 4000;
/// The default sizes of the memories that a new session and a prompt receive, in tokens.
const SESSION_TOKENS: usize = 500;
const PROMPT_TOKENS: usize = 150;
/// The default time until the savings of an automatic change must exceed its cost, in turns.
const PAY_BACK_TURNS: u32 = 5;

/// The content of a settings file.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Window sizes in tokens, by prefix of the model name.
    #[serde(default)]
    windows: BTreeMap<String, u64>,
    /// The staleness limits.
    #[serde(default)]
    stale: StaleSettings,
    /// The preset, which determines how short stale blocks become.
    preset: Option<String>,
    /// Content that is not shortened unless selected explicitly.
    #[serde(default)]
    protect: ProtectSettings,
    /// The amount of old content to keep, overriding the preset.
    #[serde(default)]
    keep: KeepSettings,
    #[serde(default)]
    budget: BudgetSettings,
    /// The limits that `check` uses if none are given.
    check: Option<CheckSettings>,
    /// The actions of the client's hooks.
    #[serde(default)]
    hooks: HookSettings,
    /// The lifetime of focus marks.
    #[serde(default)]
    focus: FocusSettings,
    /// The conditions under which rules may act.
    #[serde(default)]
    watch: WatchSettings,
    /// The stages of the proxy.
    #[serde(default)]
    pipeline: PipelineSwitches,
    /// Learning from sessions, and the memories that sessions receive.
    #[serde(default)]
    memory: MemorySwitches,
    /// Prices, by prefix of the model name.
    #[serde(default)]
    prices: BTreeMap<String, PriceSetting>,
    #[serde(default)]
    model: ModelSettings,
    /// The permissions of the model in the project's settings, kept separate because they can only restrict the user's.
    #[serde(skip)]
    model_in_project: ModelSettings,
}

/// The permissions of the model, by command. Any other key is an error.
#[derive(Clone, Debug, Default, Deserialize)]
struct ModelSettings {
    commands_per_turn: Option<u32>,
    #[serde(flatten)]
    permissions: BTreeMap<Verb, Permission>,
}

impl ModelSettings {
    /// Returns the policy with these settings applied.
    fn over(&self, policy: ModelPolicy) -> ModelPolicy {
        let mut policy = policy.with(self.permissions.iter().map(|(verb, permission)| (*verb, *permission)));
        policy.commands_per_turn = self.commands_per_turn.unwrap_or(policy.commands_per_turn);
        policy
    }
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProtectSettings {
    #[serde(default)]
    tools: Vec<String>,
    #[serde(default)]
    paths: Vec<String>,
    #[serde(default)]
    patterns: Vec<String>,
    turns: Option<u32>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeepSettings {
    worth_millionths: Option<f32>,
    newest_percent: Option<f64>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct BudgetSettings {
    tokens: Option<u64>,
    percent: Option<f64>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct CheckSettings {
    max_tokens: Option<u64>,
    max_percent: Option<f64>,
    max_stale: Option<u64>,
    #[serde(default)]
    no_secrets: bool,
    #[serde(default)]
    no_damage: bool,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct HookSettings {
    handoff: Option<bool>,
    reduce_results: Option<bool>,
    reduce_over_tokens: Option<u64>,
}

/// The optional actions of the client's hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hooks {
    /// True if a new session receives a summary of the project's last session.
    pub handoff: bool,
    /// True if long tool results are shortened before the model sees them.
    pub reduce_results: bool,
    /// The size, in tokens, above which they are shortened.
    pub reduce_over_tokens: u64,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct MemorySwitches {
    learn: Option<bool>,
    session_tokens: Option<usize>,
    prompt_tokens: Option<usize>,
    trust_model: Option<bool>,
}

impl MemorySwitches {
    /// Returns these switches, and those of `other` that are not set here. A project cannot trust the model more than the user does,
    /// because the model can write there.
    fn or(self, other: MemorySwitches) -> MemorySwitches {
        MemorySwitches {
            learn: self.learn.or(other.learn),
            session_tokens: self.session_tokens.or(other.session_tokens),
            prompt_tokens: self.prompt_tokens.or(other.prompt_tokens),
            trust_model: Some(other.trust_model.unwrap_or(false) && self.trust_model.unwrap_or(true)),
        }
    }
}

/// The settings for memories within a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemorySettings {
    /// True if hooks and `watch` learn from sessions.
    pub learn: bool,
    /// The maximum size of the memories that a new session receives, in tokens; 0 for none.
    pub session_tokens: usize,
    /// The maximum size of the memories that a prompt brings, in tokens; 0 for none.
    pub prompt_tokens: usize,
    /// True if entries of the model are in use at once; otherwise they are pending.
    pub trust_model: bool,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct FocusSettings {
    turns: Option<u32>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct WatchSettings {
    idle_seconds: Option<u64>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct PipelineSwitches {
    ingest: Option<bool>,
    parse: Option<bool>,
    zones: Option<bool>,
    injection: Option<bool>,
    manifest: Option<bool>,
    selection: Option<bool>,
    memory: Option<bool>,
    headers: Option<bool>,
    tool: Option<bool>,
    edits: Option<bool>,
    condense: Option<bool>,
    pay_back_turns: Option<u32>,
    cache_seconds: Option<u64>,
    budget: Option<bool>,
    reorder: Option<bool>,
    emit: Option<bool>,
}

impl PipelineSwitches {
    /// Returns these switches, and those of `other` that are not set here.
    fn or(self, other: PipelineSwitches) -> PipelineSwitches {
        PipelineSwitches {
            ingest: self.ingest.or(other.ingest),
            parse: self.parse.or(other.parse),
            zones: self.zones.or(other.zones),
            injection: self.injection.or(other.injection),
            manifest: self.manifest.or(other.manifest),
            selection: self.selection.or(other.selection),
            memory: self.memory.or(other.memory),
            headers: self.headers.or(other.headers),
            tool: self.tool.or(other.tool),
            edits: self.edits.or(other.edits),
            condense: self.condense.or(other.condense),
            pay_back_turns: self.pay_back_turns.or(other.pay_back_turns),
            cache_seconds: self.cache_seconds.or(other.cache_seconds),
            budget: self.budget.or(other.budget),
            reorder: self.reorder.or(other.reorder),
            emit: self.emit.or(other.emit),
        }
    }
}

/// The rules that act by themselves on sessions whose requests pass the proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AutomaticSettings {
    /// True if stale blocks are shortened.
    pub condense: bool,
    /// True if a window over its budget is shortened.
    pub budget: bool,
    /// The longest time until the savings of a change must exceed its cost, in turns; also the shortest time between two changes.
    pub pay_back_turns: u32,
    /// Lifetime of the entries of the prompt cache, in seconds; `None` if it follows from the bills of the client.
    pub cache_seconds: Option<u64>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct StaleSettings {
    turns: Option<u32>,
    steps: Option<u32>,
    #[serde(default)]
    kinds: KindSettings,
}

/// The kinds that can go stale. Text of the user and the model is excluded, because it defines the task.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct KindSettings {
    tool_use: Option<PatienceSetting>,
    tool_result: Option<PatienceSetting>,
    image: Option<PatienceSetting>,
    document: Option<PatienceSetting>,
    attachment: Option<PatienceSetting>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(untagged, expecting = "\"never\" or { turns = …, steps = … }")]
enum PatienceSetting {
    Never(Never),
    Limits(LimitSettings),
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Never {
    Never,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LimitSettings {
    turns: Option<u32>,
    steps: Option<u32>,
}

impl StaleSettings {
    /// Merges two settings; `self` takes precedence.
    fn or(self, other: StaleSettings) -> StaleSettings {
        let (near, far) = (self.kinds, other.kinds);
        StaleSettings {
            turns: self.turns.or(other.turns),
            steps: self.steps.or(other.steps),
            kinds: KindSettings {
                tool_use: near.tool_use.or(far.tool_use),
                tool_result: near.tool_result.or(far.tool_result),
                image: near.image.or(far.image),
                document: near.document.or(far.document),
                attachment: near.attachment.or(far.attachment),
            },
        }
    }

    /// Returns the staleness limits, by kind.
    fn policy(&self) -> StalePolicy {
        let default = StalenessLimit::default();
        let patience = StalenessLimit { turns: self.turns.unwrap_or(default.turns), steps: self.steps.unwrap_or(default.steps) };
        let kinds = [
            (BlockKind::ToolUse, self.kinds.tool_use),
            (BlockKind::ToolResult, self.kinds.tool_result),
            (BlockKind::Image, self.kinds.image),
            (BlockKind::Document, self.kinds.document),
            (BlockKind::Attachment, self.kinds.attachment),
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

impl Settings {
    /// Reads a settings file; returns empty settings if it does not exist.
    pub fn read(disk: &dyn Disk, path: &Path) -> Result<Settings, CommandError> {
        let read = files::whole(disk, path).with_context(|| format!("cannot read the settings in {}", path.display()));
        let read = read.map_err(|error| CommandError::new(ErrorKind::Refused, error))?;
        toml::from_slice(&read.unwrap_or_default())
            .with_context(|| format!("cannot use the settings in {}", path.display()))
            .map_err(|error| CommandError::new(ErrorKind::Usage, error).hint("to list the settings: aperture help settings"))
    }

    /// Merges two settings; `self` takes precedence.
    pub fn or(self, other: Settings) -> Settings {
        let (mut windows, mut prices) = (other.windows, other.prices);
        windows.extend(self.windows);
        prices.extend(self.prices);
        // Protection is the union of both.
        let both = |near: Vec<String>, far: Vec<String>| near.into_iter().chain(far).collect();
        Settings {
            windows,
            prices,
            stale: self.stale.or(other.stale),
            preset: self.preset.or(other.preset),
            protect: ProtectSettings {
                tools: both(self.protect.tools, other.protect.tools),
                paths: both(self.protect.paths, other.protect.paths),
                patterns: both(self.protect.patterns, other.protect.patterns),
                turns: self.protect.turns.max(other.protect.turns),
            },
            keep: KeepSettings {
                worth_millionths: self.keep.worth_millionths.or(other.keep.worth_millionths),
                newest_percent: self.keep.newest_percent.or(other.keep.newest_percent),
            },
            budget: BudgetSettings {
                tokens: self.budget.tokens.or(other.budget.tokens),
                percent: self.budget.percent.or(other.budget.percent),
            },
            check: self.check.or(other.check),
            hooks: HookSettings {
                handoff: self.hooks.handoff.or(other.hooks.handoff),
                reduce_results: self.hooks.reduce_results.or(other.hooks.reduce_results),
                reduce_over_tokens: self.hooks.reduce_over_tokens.or(other.hooks.reduce_over_tokens),
            },
            focus: FocusSettings { turns: self.focus.turns.or(other.focus.turns) },
            watch: WatchSettings { idle_seconds: self.watch.idle_seconds.or(other.watch.idle_seconds) },
            pipeline: self.pipeline.or(other.pipeline),
            memory: self.memory.or(other.memory),
            model: other.model,
            model_in_project: self.model,
        }
    }

    /// Returns the permissions of the model. A project can only restrict the user's, because the model can write there.
    pub fn model(&self) -> ModelPolicy {
        let user = self.model.over(ModelPolicy::default());
        self.model_in_project.over(user.clone()).and(&user)
    }

    /// Returns the rules for shortening.
    ///
    /// # Errors
    ///
    /// A preset or a glob is invalid.
    pub fn rules(&self) -> Result<Rules, CommandError> {
        let wrong = |error: anyhow::Error| {
            CommandError::new(ErrorKind::Usage, error.context("cannot use the settings"))
                .hint("to list the settings: aperture help settings")
        };
        let name = self.preset.as_deref().unwrap_or(engine::DEFAULT_PRESET);
        let preset = engine::preset(name)
            .ok_or_else(|| wrong(anyhow!("unknown preset '{name}'")).hint("to list them: aperture preset list"))?;
        let worth_millionths = self.keep.worth_millionths.unwrap_or(preset.worth_millionths).max(0.0);
        let newest_percent = self.keep.newest_percent.unwrap_or(preset.newest_percent).clamp(0.0, 100.0);
        let budget_percent = self.budget.percent.filter(|percent| (1.0..=100.0).contains(percent));
        let mut rules = Rules::default();
        rules.preset = engine::Preset { worth_millionths, newest_percent, ..*preset };
        rules.budget_tokens = self.budget.tokens;
        rules.keep_turns = self.protect.turns.unwrap_or_default();
        rules.budget_percent = budget_percent.unwrap_or(rules.budget_percent);
        rules
            .protecting(&self.protect.tools, &self.protect.paths, &self.protect.patterns)
            .map_err(|glob| wrong(anyhow!("'{glob}' under [protect] is not a valid glob")))
    }

    /// Returns the limits that `check` uses if none are given: those in the settings, otherwise no credentials, no damage, and a
    /// window of at most 100%.
    pub fn check(&self) -> CheckLimits {
        let full = CheckSettings { max_percent: Some(100.0), no_secrets: true, no_damage: true, ..CheckSettings::default() };
        let CheckSettings { max_tokens, max_percent, max_stale, no_secrets, no_damage } = self.check.unwrap_or(full);
        CheckLimits { max_tokens, max_percent, max_stale, no_secrets, no_damage }
    }

    /// Returns the name of the preset in use.
    pub fn preset(&self) -> &str {
        self.preset.as_deref().unwrap_or(engine::DEFAULT_PRESET)
    }

    /// Returns the settings for hooks.
    pub fn hooks(&self) -> Hooks {
        Hooks {
            handoff: self.hooks.handoff.unwrap_or(false),
            reduce_results: self.hooks.reduce_results.unwrap_or(false),
            reduce_over_tokens: self.hooks.reduce_over_tokens.unwrap_or(REDUCE_OVER_TOKENS),
        }
    }

    /// Returns the settings for memories.
    pub fn memory(&self) -> MemorySettings {
        MemorySettings {
            learn: self.memory.learn.unwrap_or(true),
            session_tokens: self.memory.session_tokens.unwrap_or(SESSION_TOKENS),
            prompt_tokens: self.memory.prompt_tokens.unwrap_or(PROMPT_TOKENS),
            trust_model: self.memory.trust_model.unwrap_or(false),
        }
    }

    /// Returns the settings for the stages of the proxy.
    pub fn pipeline(&self) -> PipelineSettings {
        let (set, default) = (self.pipeline, PipelineSettings::default());
        let policy = self.model();
        // A tool whose commands are all denied would only cost tokens.
        let is_useful = Verb::ALL.into_iter().any(|verb| policy.permission(verb) != Permission::Deny);
        PipelineSettings {
            ingest: set.ingest.unwrap_or(default.ingest),
            parse: set.parse.unwrap_or(default.parse),
            zones: set.zones.unwrap_or(default.zones),
            injection: set.injection.unwrap_or(default.injection),
            manifest: set.manifest.unwrap_or(default.manifest),
            selection: set.selection.unwrap_or(default.selection),
            memory: set.memory.unwrap_or(default.memory),
            headers: set.headers.unwrap_or(default.headers),
            tool: set.tool.unwrap_or(default.tool) && is_useful,
            edits: set.edits.unwrap_or(default.edits),
            budget: set.budget.unwrap_or(default.budget),
            reorder: set.reorder.unwrap_or(default.reorder),
            emit: set.emit.unwrap_or(default.emit),
        }
    }

    /// Returns the settings for rules that act on sessions that pass the proxy: off, unless they are switched on.
    pub fn automatic(&self) -> AutomaticSettings {
        let PipelineSwitches { condense, budget, pay_back_turns, cache_seconds, .. } = self.pipeline;
        AutomaticSettings {
            condense: condense.unwrap_or(false),
            budget: budget.unwrap_or(false),
            pay_back_turns: pay_back_turns.unwrap_or(PAY_BACK_TURNS),
            cache_seconds,
        }
    }

    /// Returns the built-in prices, overridden by the settings.
    pub fn prices(&self) -> Prices {
        Prices::default().with(&self.prices)
    }

    /// Returns the time without writes after which rules may act on a session, in seconds.
    pub fn idle_seconds(&self) -> u64 {
        self.watch.idle_seconds.unwrap_or(IDLE_SECONDS)
    }

    /// Returns the settings for reading a session.
    pub fn for_reading(&self, window_tokens: Option<u64>) -> ReadSettings {
        ReadSettings {
            window_tokens,
            model_windows: self.windows.iter().map(|(model, tokens)| (model.clone(), *tokens)).collect(),
            stale: self.stale.policy(),
            focus_turns: self.focus.turns.unwrap_or(ReadSettings::default().focus_turns),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearer_file_wins() {
        let near: Settings = toml::from_str("windows.claude-opus = 2\n[stale]\nturns = 1").unwrap();
        let far = "windows.claude-opus = 9\nwindows.claude = 5\n[stale]\nturns = 7\nsteps = 8\n[watch]\nidle_seconds = 9";
        let near = near.or(toml::from_str(far).unwrap());
        assert_eq!((near.idle_seconds(), Settings::default().idle_seconds()), (9, IDLE_SECONDS));
        let read = near.for_reading(None);
        assert_eq!(read.model_windows, [("claude".to_owned(), 5), ("claude-opus".to_owned(), 2)]);
        assert_eq!(read.stale, StalePolicy::of_all(StalenessLimit { turns: 1, steps: 8 }));
    }

    #[test]
    fn rules_act_on_the_wire_only_if_they_are_switched_on() {
        let default = Settings::default().automatic();
        assert_eq!((default.condense, default.budget, default.pay_back_turns, default.cache_seconds), (false, false, 5, None));
        let near: Settings = toml::from_str("[pipeline]\ncondense = true\npay_back_turns = 2").unwrap();
        let far = toml::from_str("[pipeline]\ncondense = false\nbudget = true\ncache_seconds = 3600").unwrap();
        let both = AutomaticSettings { condense: true, budget: true, pay_back_turns: 2, cache_seconds: Some(3600) };
        assert_eq!(near.or(far).automatic(), both);
    }

    #[test]
    fn memories_are_learned_and_sent_unless_they_are_switched_off() {
        let default = Settings::default().memory();
        assert_eq!(default, MemorySettings { learn: true, session_tokens: 500, prompt_tokens: 150, trust_model: false });
        let near = || toml::from_str::<Settings>("[memory]\nlearn = false\nprompt_tokens = 0\ntrust_model = true").unwrap();
        let far = toml::from_str("[memory]\nlearn = true\nsession_tokens = 900").unwrap();
        let both = MemorySettings { learn: false, session_tokens: 900, prompt_tokens: 0, trust_model: false };
        assert_eq!(near().or(far).memory(), both, "a project does not trust the model by itself");
        assert!(Settings::default().or(near()).memory().trust_model);
        assert!(toml::from_str::<Settings>("[memory]\nprompt_tokens = -1").is_err());
    }

    #[test]
    fn each_kind_goes_stale_by_its_own_rule() {
        let near: Settings = toml::from_str("[stale.kinds]\nimage = { turns = 1 }\ndocument = 'never'").unwrap();
        let far: Settings = toml::from_str("[stale]\nsteps = 8\n[stale.kinds]\nimage = 'never'\nattachment = {}").unwrap();
        let policy = near.or(far).for_reading(None).stale;
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
        let user: Settings = toml::from_str("[model]\narchive = 'auto'\npin = 'approve'").unwrap();
        let project: Settings =
            toml::from_str("[model]\narchive = 'approve'\npin = 'auto'\nupdate = 'auto'\nfocus = 'deny'").unwrap();
        let policy = project.clone().or(user).model();
        let expected =
            [(Verb::Archive, Approve), (Verb::Pin, Approve), (Verb::Update, Approve), (Verb::Focus, Deny), (Verb::Recall, Auto)];
        for (verb, permission) in expected {
            assert_eq!(policy.permission(verb), permission, "{}", verb.name());
        }
        let alone = project.or(Settings::default()).model();
        assert_eq!(
            (alone.permission(Verb::Update), alone.permission(Verb::Archive), alone.commands_per_turn),
            (Approve, Approve, 10)
        );
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
