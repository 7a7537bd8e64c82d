//! Texts of `aperture help TOPIC`.

use crate::engine::selector::{FUNCTIONS, NAMES};
use crate::engine::{TRANSITIONS, Transition};
use crate::model::State;
use crate::output::wrap;
use crate::wire::stages::STAGES;

/// Returns the text of a topic; `None` if there is no such topic.
pub fn topic_text(name: &str) -> Option<String> {
    match name {
        "selectors" => Some(selectors()),
        "lifecycle" => Some(lifecycle()),
        "settings" => Some(SETTINGS.replacen("{pipeline}", &pipeline(), 1)),
        "bulk" => Some(BULK.to_owned()),
        "files" => Some(FILES.to_owned()),
        _ => None,
    }
}

/// The names of the topics.
pub const HELP_TOPICS: &[&str] = &["selectors", "lifecycle", "settings", "clients", "bulk", "files"];

const FILES: &str = "\
A session can also be a file that no client lists. It is found by its path only,
as in aperture status -s body.json; its format is detected from its content.

  body of a request      one JSON object, as it is sent to the API: Anthropic
                         Messages, OpenAI Responses, OpenAI Chat Completions
                         and servers that are compatible with them
  lines of messages      JSON lines, each a message with role and content, in
                         the form of Messages or of Chat Completions
  log of a gateway       JSON lines, each with the body of a request and perhaps
                         the response. The session is the newest request; a
                         response after it is the last message
  examples for training  JSON lines, each with messages: read like a log, so
                         that the session is the last example

In a line of a log the request is the line itself, or one of request,
request.body, request.json, body, request_body, requestBody, kwargs, params,
input, payload and data. The response is response, response.body, response.json,
response_body, responseBody, output or completion. Both are JSON objects, not
strings, and the first line of the file decides which API the log is of.

Bodies and lines of messages are changed like a session file, and aperture undo
restores every byte. Their thinking and tool definitions are never changed, and
no message is added or removed: compact and fork refuse them. A log is only
read: --dry-run shows a change, and the change itself is refused. No program is
asked whether it has such a file open.

  aperture compress --stale -s body.json
  aperture transcript -s gateway.jsonl

Tokens are counted in the vocabulary of the model that the body names: o200k, for
GPT-4 and GPT-3.5 cl100k; those of other models are estimates.
";

const BULK: &str = "\
compress, archive, redact, check, export and verify run on many sessions with

  --all                  every session on this machine
  --project [DIRECTORY]  every session that was started in this directory
                         [default: the current one]

Sessions of subagents are included. verify and export take the sessions that
have operations, also those without a file. The settings are those of the
current directory. A directory follows --project, so a selector precedes it:

  aperture compress --stale --all --dry-run
  aperture archive 'stale & larger(2k)' --project
  aperture redact --whole-file --all
  aperture repair --all --dry-run
  aperture export --all -o backup
  aperture check --project ../shop --no-secrets

The sessions are done one after the other, the newest first. Each change is an
operation of its own session: the report names the commands that undo them, and
so does the field undo of --json. A selector that matches nothing in a session
is not an error there. A session that a client has open is skipped without
--live; a session that fails does not stop the others.

Ctrl-C stops after the current session; a second one stops at once, which is
safe too. The same command continues: sessions with nothing left to do are
unchanged. Files of an export are written once; --force replaces a file with
another content.

Exit codes, also of a dry run:
  0    every session was done, or had nothing to do
  1    a session failed (or has findings, or problems); or there are no
       sessions, unless --allow-empty
  2    wrong usage; nothing was changed
  3    no session failed, but some were skipped: open in a client, or locked
  130  interrupted: some sessions were not started
";

const SETTINGS: &str = "\
Settings are read from config.toml in the user's configuration directory
(~/.config/aperture on Linux; APERTURE_HOME moves it) and aperture.toml in the
project or a directory above it. The project has priority, but [protect] is the
union of both, and [model] of a project can only be stricter. The command line
overrides both.

  [windows]                    window sizes in tokens, by a prefix of
  claude-opus-4-6 = 1000000    the model's name

  [stale]                      a tool use, tool result, image or document that
                               becomes cold is stale
  turns = 3                    after this number of turns without a reference,
                               and at least ten steps,
  steps = 30                   or after this number of steps (responses)

  [stale.kinds]                the same by kind: tool_use, tool_result, image,
  image = { turns = 1 }        document, attachment; omitted kinds are as
  document = \"never\"          above, and attachments are never stale

  preset = \"balanced\"          strength of compression: lossless, light,
                               balanced, aggressive, layers or handoff

  [keep]                       overrides the preset:
  worth_millionths = 30        minimum usefulness per byte
                               (parts per million)
  newest_percent = 33          the newest part of the window, of which more
                               is kept

  [protect]                    blocks shortened only if a selector names them:
  tools = [\"TodoWrite\"]        tools and files by globs, and blocks that contain
  paths = [\"docs/**\"]          one of the patterns verbatim
  patterns = [\"IMPORTANT\"]
  turns = 2                    and the last turns: compress --keep-turns

  [budget]                     for compress --over-budget
  tokens = 120000              maximum size of the window in tokens, or
  percent = 60                 a share of its size

  [check]                      rules of aperture check without options:
  max_tokens = 150000          maximum size of the window, in tokens or
  max_percent = 80             in percent of its size
  max_stale = 20000            maximum size of all stale blocks, in tokens
  no_secrets = true            credentials in the file
  no_damage = true             lost rows, refused contents

  [hooks]                      within a client: aperture install claude-code
  handoff = true               a new session receives a summary of the last
                               one of the project
  reduce_results = true        long tool results (Bash, MCP) are trimmed before
  reduce_over_tokens = 4000    the model receives them; run install again

  [focus]
  turns = 5                    turns after which focus marks are cleared

  [watch]                      for watch --apply-policy: seconds without a new
  idle_seconds = 60            row before the rules may act

  [memory]                     see aperture memory
  learn = true                 hooks and watch learn from sessions
  session_tokens = 500         maximum size of the memories that a new session
                               receives; 0 for none
  prompt_tokens = 150          the same for those about a prompt
  trust_model = false          entries of the model are in use at once, else
                               pending until you accept them

  [sessions]                   only in the user's file; see aperture keep:
  keep = \"ask\"                 on (hooks and watch copy sessions before their
                               client deletes them), ask (install asks) or
                               off (nothing is copied or reported)

{pipeline}
  [model]                      permissions of the model, by command: auto,
  archive = \"auto\"             approve (pending in aperture inbox) or deny;
  recall = \"deny\"              default approve: compress, archive, update; a
  commands_per_turn = 10       project can only be stricter than the user
  housekeeping = \"off\"         headers and summaries by the model: on, ask, off
  recalls_per_turn = 5         further @recall(turns …) return only headers,
  recalled_tokens_per_turn = 8000  also after this many tokens

  [prices]                     dollars per million input tokens, by
  claude-opus-4-6 = 5.0        a prefix of the model's name; the other prices
                               follow by ratio

Environment: CLAUDE_CONFIG_DIR (where Claude Code keeps its sessions),
CODEX_HOME (where Codex does),
APERTURE_HOME (where aperture keeps its own files), NO_COLOR, PAGER, COLUMNS.
";

/// Returns the section on the stages, from their table.
fn pipeline() -> String {
    let mut text = wrapped("[pipeline]", "the stages of the proxy, in order:");
    for stage in STAGES {
        for (place, setting) in stage.settings.iter().enumerate() {
            let indent = if place == 0 { "" } else { "  " };
            text.push_str(&wrapped(&format!("{} = {}", setting.key, setting.default), &format!("{indent}{}", setting.meaning)));
        }
    }
    text
}

fn selectors() -> String {
    let mut text = String::from(
        "Selectors name blocks. All commands use the same language.

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
  a & b    both            a | b    either, also written a, b
  ~a       not             a ~ b    the first without the second
  ( )      groups

Several arguments are a union: aperture show 17 19..21. The name of a tool or a
file that the session does not have is an error; a pattern such as tool(*_get)
may match nothing.

Examples:
  aperture blocks 'stale & larger(2k)'
  aperture blocks 'tool(Read) & path(\"src/**\") ~ newest'
  aperture show 12 14
",
    );
    text
}

fn lifecycle() -> String {
    let mut text = String::from(
        "A block is in one of seven states. aperture blocks lists them, aperture explain
prints the reason for the state of a block.

",
    );
    for state in State::ALL {
        text.push_str(&wrapped(state.name(), state.meaning()));
    }
    text.push_str("\nTransitions between states; at most one applies at a time:\n");
    for transition in TRANSITIONS {
        text.push_str(&format!("\n  {}: {} → {}\n", transition.name, sources(transition), transition.to.name()));
        text.push_str(&wrapped("", transition.when));
    }
    text.push_str(
        "
Only tool uses, tool results, images and documents become stale, unless
[stale.kinds] sets other kinds: aperture help settings. Pinned and focused
blocks become stale as well, but are not shortened. compress --stale shortens
stale blocks only; compress --preset also shortens older ones in use, and keeps
the parts that are most likely needed again. Instructions, reminders, and texts
of hooks and of aperture never become stale, and neither shortens them.
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
    let indent = 31 + meaning.len() - meaning.trim_start().len();
    wrap(&format!("  {name:<29}{meaning}"), indent, 79).join("\n") + "\n"
}
