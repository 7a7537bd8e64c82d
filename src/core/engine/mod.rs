//! Decisions: token costs, use and staleness of blocks, and the contents of reports.
//!
//! All functions depend on their arguments only: no file access, no clock, no file format.

mod analysis;
pub mod blame;
mod content;
mod cost;
mod git_hook;
pub mod memory;
pub mod model_commands;
pub mod pack;
mod reduce;
mod report;
mod retention;
pub mod search;
mod secrets;
pub mod selector;
pub mod sidecar;
mod strategy;
mod vocabulary;

pub use analysis::choices::{Choice, choices, chosen_options, item_ranges, items};
pub use analysis::never_stale::{LEAST_BYTES, instructs, is_compacted, is_newest_prompt, is_rejection, is_said};
pub use analysis::staleness_limits::{PERISHABLE, StalePolicy, StalenessLimit};
pub use analysis::states::{TRANSITIONS, Transition, lifecycle};
pub use analysis::{Analysis, ReadSettings, outline, read, unbilled_costs};
pub use content::encoded::without_data;
pub use content::terms::terms as terms_of;
pub use content::{counts, measure, preview};
pub use cost::binding::{Binding, binding, binding_of};
pub use cost::cache_loss::{CacheFacts, CacheLoss, LossCause, RemovedTokens, Saving, cache_loss, saving};
pub use cost::capacity::{Capacity, CapacitySource, KnownCapacity, ReservedCapacity, capacity};
pub use cost::edit_cost::{
    EditFacts, EditPrice, PAYS_BACK_TURNS, idle_milliseconds, next_request_dollars, price, steps_per_turn,
};
pub use cost::model_prices::{Dollars, LongPrompt, ModelPrice, PriceSetting, PriceTable, Prices};
pub use cost::tokens;
pub use git_hook::{GitHook, HookError, with_hook, without_hook};
pub use model_commands::{ModelPolicy, Permission, Spent};
pub use reduce::{KeptPieces, Reducible, described, hint, marker, shown};
pub use report::advice::{Advice, Forecast, Suggestion, SuggestionKind, expiring, is_worth_looking};
pub use report::change_groups::{ChangeGroup, change_groups};
pub use report::check::{CHECKS, Check, CheckLimits, Checked, LocatedSecret, Violation, violations};
pub use report::damage::{CutPlace, Finding, FindingKind, MediaRefusal, Resemblance, findings, resemblance};
pub use report::events::{
    ActivityEvent, BlockUpdate, ExecutedCommand, OpenedSession, OtherSession, ProposedCommand, Seen, SelectionChange, Update,
    opened,
};
pub use report::explain::{Explanation, LevelPreview, Referred, explain, levels, stale_reason};
pub use report::files::{FileInWork, files_in_work};
pub use report::housekeeping::unsupported;
pub use report::label::{label, placeholder_label};
pub use report::manifest::{
    ArchivedRun, BlockSummary, Forgotten, Manifest, ShortenedBlocks, UserRule, ZoneSummary, entry, manifest,
};
pub use report::model_activity::model_activity;
pub use report::numbers::{amount, bytes, count, impossible_bills, plural, unit};
pub use report::requested_turns::{
    ShownTurn, ShownTurns, TurnForm, TurnPriority, TurnRequest, TurnRequestError, requested, within,
};
pub use report::timeline::{TimelineKinds, TimelineRequest, timeline};
pub use report::topics::{SessionTopic, TopicCluster, TopicTurn, session_topics, topic_clusters};
pub use report::usage::{
    BilledFile, Copies, UsageFilter, UsageGroup, UsageRow, UsageSource, UsageSums, UsageTable, usage, usage_sums,
};
pub use report::{diff, summary};
pub use retention::{Forgettable, forgettable};
pub use secrets::known::{Known, chosen, could_be_named, kind_of, named_in, replaced_texts};
pub use secrets::{Secret, examples as secret_examples, find as find_secrets, mask, mask_cut, masked};
pub use selector::{Selector, SelectorError};
pub use strategy::{
    AutomaticFacts, AutomaticRule, Context, DEFAULT_PRESET, Digest, DigestSource, LastAutomatic, Left, Need, Outlined, PRESETS,
    Preset, Rules, Selection, Shortened, Subject, Verdict, Why, bounded_words, first_of_last_turns, is_prompt, newest,
    old_thinking, plan_key, preset, reduce, why_old,
};
pub use vocabulary::{o200k, older};
