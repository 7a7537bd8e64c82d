//! Texts of `aperture help TOPIC`.

use crate::engine::selector::{FUNCTIONS, NAMES};
use crate::engine::{TRANSITIONS, Transition};
use crate::model::State;
use crate::output::wrap;

/// Returns the text of a topic; `None` if there is no such topic.
pub fn topic(name: &str) -> Option<String> {
    match name {
        "selectors" => Some(selectors()),
        "lifecycle" => Some(lifecycle()),
        "settings" => Some(SETTINGS.to_owned()),
        _ => None,
    }
}

const SETTINGS: &str = "\
Settings stand in config.toml in the user's configuration directory
(~/.config/aperture on Linux; APERTURE_HOME moves it) and in aperture.toml in
the project or a directory above it. The project's win, but under [protect] both
hold, and under [model] a project only allows less. The command line wins over
both.

  [windows]                    tokens that windows hold, by the beginning of
  claude-opus-4-6 = 1000000    the model's name

  [stale]                      a tool use, tool result, image or document that
                               has gone cold is stale
  turns = 3                    after so many turns without a reference, of at
                               least ten steps,
  steps = 30                   or after so many steps: responses of the model

  [stale.kinds]                the same by kind: tool_use, tool_result, image,
  image = { turns = 1 }        document, attachment; what is left out is as
  document = \"never\"          above, and an attachment then never goes stale

  preset = \"balanced\"          how much of what is old stays: lossless, light,
                               balanced, aggressive or handoff

  [keep]                       over the preset:
  worth_millionths = 30        a byte stays if the chance that the agent needs
                               what it shows is so many millionths
  newest_percent = 25          the newest part of the window, which stays nearly
                               as it is

  [protect]                    what is not shortened unless a selector names it:
  tools = [\"TodoWrite\"]        tools and files by globs, and whatever contains
  paths = [\"docs/**\"]          one of the patterns, word for word
  patterns = [\"IMPORTANT\"]

  [budget]                     for compress --over-budget
  tokens = 120000              tokens that the window may hold, or
  percent = 60                 a share of its size

  [check]                      what aperture check checks when nothing is named:
  max_tokens = 150000          what the window may hold, as tokens or
  max_percent = 80             as a share of its size
  max_stale = 20000            what stale blocks may hold, in tokens
  no_secrets = true            credentials in the file
  no_damage = true             rows that cannot be read

  [hooks]                      within a client: aperture install claude-code
  handoff = true               a new session is told what the last one of the
                               project was about
  reduce_results = true        long answers of tools (Bash, MCP) are trimmed
  reduce_over_tokens = 4000    before the model sees them; install once more

  [focus]
  turns = 5                    turns after which focused blocks are let go

  [watch]                      for watch --apply-policy: seconds without a new
  idle_seconds = 60            row after which the rules may act

  [model]                      what the model may ask for, by command: auto,
  archive = \"auto\"             approve (it waits in aperture inbox) or deny;
  recall = \"deny\"              compress, archive and update wait unless set; a
  commands_per_turn = 10       project can only allow less than the user

  [prices]                     dollars per million input tokens, by the
  claude-opus-4-6 = 5.0        beginning of the model's name; the rest follows
                               by ratio

Environment: CLAUDE_CONFIG_DIR (where Claude Code keeps its sessions),
CODEX_HOME (where Codex does),
APERTURE_HOME (where aperture keeps its own files), NO_COLOR, PAGER, COLUMNS.
";

fn selectors() -> String {
    let mut text = String::from(
        "A selector names blocks. It is the same in every command.

  12  #12  block-12            the block with that number
  10..20  10..  ..20           a range of numbers
  toolu_01…                    a tool use and its result, by their id
  \"auth flow\"                  blocks about a topic: each word in their topic,
                               keywords, target or first words

",
    );
    for (name, meaning) in NAMES.iter().chain(FUNCTIONS) {
        text.push_str(&wrapped(name, meaning));
    }
    text.push_str(
        "
  a & b    both            a | b    either
  ~a       not             a ~ b    the first without the second
  ( )      groups

Examples:
  aperture blocks 'stale & larger(2k)'
  aperture blocks 'tool(Read) & path(\"src/**\") ~ recency'
  aperture show '#12 | #14'
",
    );
    text
}

fn lifecycle() -> String {
    let mut text = String::from(
        "A block is in one of seven states. aperture blocks shows them, aperture explain
says why a block is in its own.

",
    );
    for state in State::ALL {
        text.push_str(&wrapped(state.name(), state.meaning()));
    }
    text.push_str("\nWhat leads from one to another; at most one of these holds at a time:\n");
    for transition in TRANSITIONS {
        text.push_str(&format!("\n  {}: {} → {}\n", transition.name, sources(transition), transition.to.name()));
        text.push_str(&wrapped("", transition.when));
    }
    text.push_str(
        "
Only tool uses, tool results, images and documents go stale, unless
[stale.kinds] says otherwise: aperture help settings. What is pinned or focused
goes stale as well, but is not shortened. compress --stale goes further: of all
that is old, stale or not, it leaves what will most likely be needed.
",
    );
    text
}

/// Returns the source states of a transition; `any` if they are all states except its target.
fn sources(transition: &Transition) -> String {
    if transition.from.len() + 1 == State::ALL.len() {
        return "any".to_owned();
    }
    transition.from.iter().map(|state| state.name()).collect::<Vec<_>>().join(", ")
}

/// Formats a name and its meaning in two columns.
fn wrapped(name: &str, meaning: &str) -> String {
    wrap(&format!("  {name:<29}{meaning}"), 31, 79).join("\n") + "\n"
}
