//! A manifest stays within its token limit, counted in the tokens of the model that reads it.

use crate::sandbox::{Sandbox, all_or, directory_in, files_ending, repository};
use aperture::commands::manifest::{ManifestReport, Tier};
use aperture::engine::{self, Advice, Prices, ReadSettings, Rules};
use aperture::fsio::RealDisk;
use aperture::model::History;
use aperture::output::{Report, Style};
use aperture::provider::{FileKind, PROVIDERS, sniff};
use aperture::store::Cache;
use aperture::workspace;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Tokens for an o200k token, the largest as measured: on Claude models from 4.7 on 1.60 to 1.74, on older ones 1.09 to 1.36.
fn tokens_each(model: &str) -> f64 {
    let older = ["claude-3", "claude-opus-4-5", "claude-opus-4-6", "claude-sonnet-4-5", "claude-sonnet-4-6", "claude-haiku-4-5"];
    let earliest = ["claude-sonnet-4-2", "claude-sonnet-4-0", "claude-opus-4-0", "claude-opus-4-1", "claude-opus-4-2"];
    match model {
        _ if model.starts_with("gpt-") => 1.0,
        _ if older.iter().chain(&earliest).any(|known| model.starts_with(known)) => 1.36,
        _ => 1.74,
    }
}

#[test]
fn a_manifest_keeps_to_its_tokens() {
    let mut files = files_ending(&repository().join("fixtures"), "jsonl");
    files.extend(directory_in("APERTURE_CORPUS").iter().flat_map(|corpus| files_ending(corpus, "jsonl")));
    assert!(!files.is_empty());
    let style = Style { color: false, width: 80, now: jiff::Timestamp::UNIX_EPOCH, zone: || jiff::tz::TimeZone::UTC };
    let mut largest = [0.0f64; 3];
    for file in files {
        let format = sniff(&std::fs::read(&file).unwrap());
        let provider = PROVIDERS.iter().find(|provider| format == FileKind::Session(provider.name())).unwrap_or(&PROVIDERS[0]);
        let session = workspace::load(&RealDisk, &Cache::default(), *provider, &file, "id".into()).unwrap();
        let window = provider.window(&session);
        let reading = engine::read(session, |_| window, &ReadSettings::default(), &Default::default());
        let advice = Advice {
            rules: &Rules::default(),
            prices: &Prices::default(),
            now: 0,
            cache_lifetime_milliseconds: 300_000,
            binds_thinking: true,
            stale: engine::Forecast::Estimated,
            preset: engine::Forecast::Estimated,
            session: "0d510331-7c2a-45ab-850a-088f3499b4cc",
            history: &History::default(),
        };
        let suggestions = advice.suggestions(&reading);
        assert!(suggestions.iter().all(|suggestion| !suggestion.planned && suggestion.price.is_some()));
        let manifest = engine::manifest(&reading, 12).with(suggestions);
        for (place, (tier, max_tokens)) in
            [(Tier::Summary, None), (Tier::Detailed, None), (Tier::Full, Some(120))].into_iter().enumerate()
        {
            let limit = max_tokens.or(tier.limit()).unwrap() as f64;
            let text = ManifestReport { tier, max_tokens, manifest: manifest.clone() }.text(&style);
            let tokens = f64::from(engine::o200k(&text)) * tokens_each(&manifest.model);
            assert!(tokens <= limit, "{}: {tokens:.0} of {limit} tokens\n{text}", file.display());
            largest[place] = largest[place].max(tokens / limit);
        }
    }
    eprintln!("fullest: {largest:.2?} of the limits");
}

/// A session of rows, each a JSON object.
fn rows(rows: impl Iterator<Item = Value>) -> String {
    rows.map(|row| format!("{row}\n")).collect()
}

fn message(row: usize, parent: Option<usize>, kind: &str, content: Value) -> Value {
    let id = |row: usize| format!("{row:08x}-0000-4000-8000-000000000000");
    let message = json!({"id": format!("m{row}"), "role": kind, "model": "claude-opus-4-5-20251101", "content": content});
    json!({"type": kind, "uuid": id(row), "parentUuid": parent.map(id), "sessionId": "S", "version": "2.1.330", "message": message})
}

/// Returns the sessions with `many` repetitions of an element, each with its name.
fn hostile(many: usize) -> Vec<(String, String)> {
    let words = |number: usize| json!({"type": "text", "text": format!("w{number} x.")});
    let blocks = [
        message(0, None, "user", (0..many).map(words).collect()),
        message(1, Some(0), "assistant", (0..many).map(words).collect()),
        message(2, Some(1), "user", json!("go on")),
    ];
    let call = |number: usize, name: &str, input: Value, error: bool, text: &str| {
        let (row, id) = (2 * number, format!("t{number}"));
        let call = json!([{"type": "tool_use", "id": id, "name": name, "input": input}]);
        let result = json!([{"type": "tool_result", "tool_use_id": id, "is_error": error, "content": text}]);
        [message(row + 1, Some(row), "assistant", call), message(row + 2, Some(row + 1), "user", result)]
    };
    let attempts = (0..many).flat_map(|number| {
        let command = if number % 2 == 0 { format!("cargo test t{number}") } else { "cargo build".to_owned() };
        let text = format!("Error: test {number} failed\nerror at line {number}");
        call(number, "Bash", json!({"command": command}), number + 1 < many, &text)
    });
    let files = (0..many)
        .flat_map(|number| call(number, "Write", json!({"file_path": format!("/w/f{number}.rs"), "content": "x"}), false, "ok"));
    let start = || std::iter::once(message(0, None, "user", json!("go")));
    let meta = json!({"timestamp": "2026-11-21T21:00:00.000Z", "type": "session_meta", "payload":
        {"id": "01990000-0000-7000-8000-000000000000", "timestamp": "2026-11-21T21:00:00.000Z", "cwd": "/w", "cli_version": "0.150.0"}});
    let equal = json!({"timestamp": "2026-11-21T21:00:01.000Z", "type": "response_item", "payload":
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "again"}]}});
    let mut sessions = vec![
        ("blocks".to_owned(), rows(blocks.into_iter())),
        ("attempts".to_owned(), rows(start().chain(attempts))),
        ("files".to_owned(), rows(start().chain(files))),
        ("equal".to_owned(), rows(std::iter::once(meta).chain(std::iter::repeat_n(equal, many)))),
    ];
    // The same letters as a command, as its result, and as a prompt.
    let letters = "a".repeat(32);
    let commands = ["a = b << c\n", "cat <<A\n", "a=x$a$a\n", "$(", "\"$(", "`", "(("];
    let texts = [&*letters, "token=", "password: ", "[a](", "{\"a\":"];
    for part in commands.into_iter().chain(texts) {
        let text = part.repeat(4 * many);
        let called = call(0, "Bash", json!({"command": format!("run '{text}' {text}")}), false, &text);
        let next = message(3, Some(2), "user", Value::from(text.as_str()));
        sessions.push((part.to_owned(), rows(start().chain(called).chain([next]))));
    }
    sessions
}

/// Runs the program and returns the time of its processor, which other programs do not lengthen; where it is unknown, the time.
fn processor_time(sandbox: &Sandbox, words: &[&str]) -> Duration {
    let start = Instant::now();
    let mut child = sandbox.command(words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    #[cfg(target_os = "linux")]
    let ticks: Option<u64> = {
        use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
        waitid(WaitId::Pid(Pid::from_child(&child)), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT).unwrap();
        let fields = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap_or_default();
        fields
            .rsplit(')')
            .next()
            .map(|fields| fields.split(' ').skip(12).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum())
    };
    #[cfg(not(target_os = "linux"))]
    let ticks: Option<u64> = None;
    let code = child.wait().unwrap().code();
    assert!(code.is_some_and(|code| code < 3), "{words:?}: {code:?}");
    ticks.map_or_else(|| start.elapsed(), |ticks| Duration::from_millis(10 * ticks))
}

/// For twice the repetitions, no command takes three times as long and a second more: with a quadratic time it is four times, and a part
/// that is made once, such as a vocabulary, takes less than a second.
#[test]
fn the_time_for_hostile_files_grows_with_them() {
    const ONCE: Duration = Duration::from_secs(1);
    let many = all_or(20_000, 1_000);
    let sandbox = Sandbox::new();
    let write = |place: usize, many: usize, text: String| sandbox.write(&format!("{place}-{many}.jsonl"), text);
    for (place, ((name, once), (_, twice))) in hostile(many).into_iter().zip(hostile(2 * many)).enumerate() {
        let files = [write(place, many, once), write(place, 2 * many, twice)];
        for command in ["status", "summary", "transcript", "show all", "compact 1 -n", "compress --stale -n"] {
            let time = |file: &Path| {
                let words: Vec<&str> = command.split(' ').chain(["--no-cache", "-s", file.to_str().unwrap()]).collect();
                processor_time(&sandbox, &words)
            };
            let mut least = [Duration::MAX; 2];
            let is_linear = (0..4).any(|_| {
                least[1] = least[1].min(time(&files[1]));
                if least[1] > ONCE {
                    least[0] = least[0].min(time(&files[0]));
                }
                least[1] <= ONCE || least[1] < least[0] * 3 + ONCE
            });
            assert!(is_linear, "{name:.20?} {command}: {least:?} for {many} and {} of them", 2 * many);
        }
    }
}
