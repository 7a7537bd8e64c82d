//! Entries that aperture adds to the settings files of Claude Code, and the tests that distinguish them from other entries.

use crate::provider::json_edit::{EditError, add, names, remove};
use crate::provider::mcp_client::{Edited, ServerList, is_us};
use crate::text::shell::quoted_word;
use serde_json::{Value, json};

/// The time limit of a hook, and that of Codex for the end of a session, which it enforces itself (0.169).
const HOOK_SECONDS: u32 = 10;
const CODEX_END: (&str, u32) = ("SessionEnd", 3);

/// The setting of the days after which the client deletes a session, and its default. Source: the settings of 2.1.330.
const RETENTION: &str = "cleanupPeriodDays";
const RETENTION_DAYS: u32 = 30;

/// Returns the number of days without a change after which the client deletes a session file when it starts. The default if they are
/// broken.
pub fn retention_days(settings: &[u8]) -> u32 {
    let settings: Value = serde_json::from_slice(settings).unwrap_or_default();
    let days = settings[RETENTION].as_f64().filter(|days| *days >= 0.0);
    days.map_or(RETENTION_DAYS, |days| days.min(f64::from(u32::MAX)) as u32)
}

/// The calls of aperture to install in the client's settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Calls {
    /// The program: a name found through `PATH`, or a path.
    pub program: String,
    pub events: Vec<&'static str>,
    /// True if the client has a status line, too.
    pub has_status_line: bool,
}

/// Represents the content of a missing file, so that it can be distinguished from an empty file after an edit.
pub const NO_FILE: &str = "\n";

/// Adds the hooks and, unless the settings have another one, the status line. The hooks of Codex have the same form, in a file of their
/// own.
///
/// Idempotent: if all entries exist already, in any formatting, the text is unchanged.
/// Errors: the settings are not valid JSON, or the hooks have an unexpected type.
pub fn install(settings: &str, calls: &Calls) -> Result<Edited, EditError> {
    let clean = uninstall(settings)?;
    let foreign = calls.has_status_line && names(&clean, &[]).iter().any(|name| name == STATUS_LINE);
    let taken = if foreign { vec![STATUS_LINE] } else { Vec::new() };
    let is_wanted = calls.has_status_line && !foreign;
    if installed(settings, calls, is_wanted) {
        return Ok(Edited { text: settings.to_owned(), taken });
    }
    let mut text = clean;
    for event in &calls.events {
        text = add(&text, &["hooks", event], None, &hook(calls, event))?;
    }
    if is_wanted {
        text = add(&text, &[], Some(STATUS_LINE), &status_line(&calls.program))?;
    }
    Ok(Edited { text, taken })
}

/// Removes the entries that [`install`] adds.
/// Errors: the settings are not valid JSON.
pub fn uninstall(settings: &str) -> Result<String, EditError> {
    let mut text = remove(settings, &[], &|name, value| name == STATUS_LINE && calls_us(value, "statusline"))?;
    for event in names(&text, &["hooks"]) {
        text = remove(&text, &["hooks", &event], &|_, entry| is_our_hook(entry))?;
    }
    Ok(text)
}

/// The list of the servers of a project.
pub const SERVERS: ServerList = ServerList::Json { key: "mcpServers", kind: None };

const STATUS_LINE: &str = "statusLine";

/// Returns true if the settings have all wanted entries, and no other entries of aperture.
fn installed(settings: &str, calls: &Calls, has_status_line: bool) -> bool {
    let settings = parsed(settings);
    let mut found = hooks(&settings);
    let mut wanted: Vec<(&str, Value)> = calls.events.iter().map(|event| (*event, hook(calls, event))).collect();
    found.sort_by_key(|(event, _)| *event);
    wanted.sort_by_key(|(event, _)| *event);
    found == wanted && (!has_status_line || settings[STATUS_LINE] == status_line(&calls.program))
}

/// Returns the number of the hooks of aperture in the settings, and true if they have its status line.
pub fn entries(settings: &str) -> (usize, bool) {
    let settings = parsed(settings);
    (hooks(&settings).len(), calls_us(&settings[STATUS_LINE], "statusline"))
}

fn parsed(settings: &str) -> Value {
    serde_json::from_str(settings.trim_start_matches('\u{feff}')).unwrap_or_default()
}

/// Returns the hooks of aperture, each with its event.
fn hooks(settings: &Value) -> Vec<(&str, Value)> {
    let events = settings["hooks"].as_object().into_iter().flatten();
    let ours = events.flat_map(|(event, entries)| {
        let entries = entries.as_array().into_iter().flatten().filter(|entry| is_our_hook(entry));
        entries.map(move |entry| (event.as_str(), entry.clone()))
    });
    ours.collect()
}

fn hook(calls: &Calls, event: &str) -> Value {
    let seconds = if !calls.has_status_line && event == CODEX_END.0 { CODEX_END.1 } else { HOOK_SECONDS };
    let command = command(&calls.program, &format!("hook {event}"));
    json!({"hooks": [{"type": "command", "command": command, "timeout": seconds}]})
}

fn status_line(program: &str) -> Value {
    json!({"type": "command", "command": command(program, "statusline")})
}

fn command(program: &str, words: &str) -> String {
    format!("{} {words}", quoted_word(program))
}

fn is_our_hook(entry: &Value) -> bool {
    let hooks = entry["hooks"].as_array().map_or(&[][..], Vec::as_slice);
    !hooks.is_empty() && hooks.iter().all(|hook| calls_us(hook, "hook"))
}

/// Returns true if a command of the client calls aperture with this subcommand.
fn calls_us(value: &Value, word: &str) -> bool {
    let command = value["command"].as_str().unwrap_or_default();
    let (program, words) = match command.strip_prefix('\'').and_then(|rest| rest.rsplit_once("' ")) {
        Some(quoted) => quoted,
        None => command.split_once(' ').unwrap_or_default(),
    };
    words.split(' ').next() == Some(word) && is_us(program)
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{expect, expect_file};
    use proptest::prelude::*;

    fn calls() -> Calls {
        Calls { program: "aperture".to_owned(), events: vec!["SessionStart", "Stop"], has_status_line: true }
    }

    fn installed_in(settings: &str) -> String {
        install(settings, &calls()).unwrap().text
    }

    #[test]
    fn new_and_existing_settings_are_laid_out_as_the_client_does() {
        expect_file!["settings/new.json"].assert_eq(&installed_in("\n"));
        let settings = "{\n\t\"model\":   \"opus\",\n\t\"hooks\": {\"Stop\": [{\"hooks\": [{\"command\": \"say done\"}]}] }\n}";
        expect_file!["settings/extended.json"].assert_eq(&installed_in(settings));
    }

    #[test]
    fn removing_is_the_inverse_of_adding() {
        for settings in [
            "",
            "\n",
            " \r\n",
            "{}",
            "{ }\n",
            "{\n}\n",
            "{\"hooks\":{}}",
            "{\"hooks\": {\"Stop\": [ ]}}",
            "{\"hooks\": { \"Stop\" :[\n]\n} , \"a\\\"}\": \"]}\" }",
            "\u{feff}{\"statusLine\": {\"command\": \"mine\"}}\r\n",
            "{\"hooks\": {\"Stop\": [{\"hooks\": [{\"command\": \"other hook Stop\"}]}]}, \"hooks\": {}}",
        ] {
            let once = installed_in(settings);
            assert_ne!(once, settings);
            assert_eq!(installed_in(&once), once, "twice is once: {settings}");
            assert_eq!(uninstall(&once).unwrap(), settings);
        }
    }

    #[test]
    fn another_version_of_ours_is_replaced() {
        let old =
            Calls { program: "/opt/my tools/aperture".to_owned(), events: vec!["Stop", "PostToolUse"], has_status_line: true };
        let before = "{\n  \"model\": \"opus\"\n}\n";
        let once = install(before, &old).unwrap().text;
        assert!(once.contains("'/opt/my tools/aperture' hook Stop"), "{once}");
        assert_eq!(installed_in(&once), installed_in(before));
        assert_eq!(uninstall(&once).unwrap(), before);
    }

    #[test]
    fn settings_with_another_layout_are_still_recognized() {
        let compact = serde_json::from_str::<Value>(&installed_in("")).unwrap().to_string();
        assert_eq!(installed_in(&compact), compact);
        assert_eq!(uninstall(&compact).unwrap(), "{\"hooks\":{\"SessionStart\":[],\"Stop\":[]}}");
    }

    #[test]
    fn additions_of_others_stay() {
        let later = installed_in("{}").replacen("[", "[{\"hooks\": []}, ", 1).replacen("{", "{\"a\": 1, ", 1);
        assert_eq!(uninstall(&later).unwrap(), "{\"a\": 1, \"hooks\": {\n    \"SessionStart\": [{\"hooks\": []}\n    ]\n  }}");
    }

    #[test]
    fn the_status_line_of_another_program_stays() {
        let edited = install("{\"statusLine\": {\"command\": \"mine\"}}", &calls()).unwrap();
        assert_eq!(edited.taken, ["statusLine"]);
        assert!(!edited.text.contains("aperture statusline"));
    }

    #[test]
    fn invalid_json_is_refused_with_its_place() {
        let refused = |settings: &str| install(settings, &calls()).unwrap_err().to_string();
        expect!["line 2, column 1: key must be a string"].assert_eq(&refused("{\"a\": 1,\n}"));
        expect!["it has comments, and such a file is not changed"].assert_eq(&refused("// mine\n{}"));
        expect!["line 1, column 1: EOF while parsing an object"].assert_eq(&refused("{"));
        expect!["'the document' has an unexpected type"].assert_eq(&refused("[]"));
        expect!["'hooks' has an unexpected type"].assert_eq(&refused("{\"hooks\": null}"));
        expect!["'Stop' has an unexpected type"].assert_eq(&refused("{\"hooks\": {\"Stop\": 7}}"));
    }

    fn space() -> impl Strategy<Value = String> {
        prop::sample::select(vec!["", " ", "\n", "\n  ", "\t", "\r\n\r\n"]).prop_map(str::to_owned)
    }

    /// Generates JSON text with arbitrary spacing, in which the relevant names are frequent.
    fn document() -> impl Strategy<Value = String> {
        let name = prop::sample::select(vec!["hooks", "Stop", "SessionStart", "statusLine", "a", "}\\\"{", "command"]);
        let plain = prop::sample::select(vec!["1", "null", "\"x, ]}\"", "-0.5e3", "\"\\\\\"", "\"aperture hook\"", "{}", "[]"]);
        let value = plain.prop_map(str::to_owned).prop_recursive(5, 24, 4, move |inner| {
            let listed = |items: Vec<(String, String, String)>, brackets: [&str; 2], inside: String| {
                let items: Vec<String> =
                    items.into_iter().map(|(before, item, after)| format!("{before}{item}{after}")).collect();
                let inside = if items.is_empty() { inside } else { items.join(",") };
                format!("{}{inside}{}", brackets[0], brackets[1])
            };
            let array = (prop::collection::vec((space(), inner.clone(), space()), 0..4), space());
            let member = (space(), name.clone(), space(), space(), inner, space());
            let member =
                member.prop_map(|(before, name, a, b, value, after)| (before, format!("\"{name}\"{a}:{b}{value}"), after));
            let object = (prop::collection::vec(member, 0..4), space());
            prop_oneof![
                1 => array.prop_map(move |(items, inside)| listed(items, ["[", "]"], inside)),
                3 => object.prop_map(move |(items, inside)| listed(items, ["{", "}"], inside)),
            ]
        });
        (space(), value, space()).prop_map(|(before, value, after)| format!("{before}{value}{after}"))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn any_settings_are_restored_byte_for_byte(settings in document()) {
            let Ok(once) = install(&settings, &calls()) else { return Ok(()) };
            prop_assert_eq!(uninstall(&once.text).unwrap(), settings);
            prop_assert_eq!(&install(&once.text, &calls()).unwrap(), &once);
        }

        #[test]
        fn any_text_is_refused_or_kept(text in "[\\[\\]{}\",:a1 \\\\\n]{0,40}") {
            let _ = install(&text, &calls());
            if let Ok(clean) = uninstall(&text) {
                prop_assert_eq!(clean, text);
            }
        }
    }
}
