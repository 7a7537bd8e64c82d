//! A manifest stays within its token limit, counted in the tokens of the model that reads it.

use crate::sandbox::{Sandbox, all_or, directory_in};
use aperture::commands::manifest::{ManifestReport, Tier};
use aperture::engine::{self, Advice, Prices, ReadSettings, Rules};
use aperture::fsio::RealDisk;
use aperture::model::History;
use aperture::output::{Report, Style};
use aperture::provider::{FileKind, PROVIDERS, sniff};
use aperture::store::Cache;
use aperture::workspace;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

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

fn sessions(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.path().is_dir() {
            sessions(&entry.path(), found);
        } else if entry.path().extension().is_some_and(|end| end == "jsonl") {
            found.push(entry.path());
        }
    }
}

#[test]
fn a_manifest_keeps_to_its_tokens() {
    let mut files = Vec::new();
    sessions(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures"), &mut files);
    if let Some(corpus) = directory_in("APERTURE_CORPUS") {
        sessions(&corpus, &mut files);
    }
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

/// Files with many repetitions of an element. If a command takes quadratic time, this test does not finish.
#[test]
fn hostile_files_are_read_in_time_that_grows_with_them() {
    let many = all_or(20_000, 500);
    let words = |number: usize| json!({"type": "text", "text": format!("w{number} x.")});
    let blocks = [
        message(0, None, "user", (0..many).map(words).collect()),
        message(1, Some(0), "assistant", (0..many).map(words).collect()),
        message(2, Some(1), "user", json!("go on")),
    ];
    let attempts = (0..many).flat_map(|number| {
        let row = 2 * number;
        let command = if number % 2 == 0 { format!("cargo test t{number}") } else { "cargo build".to_owned() };
        let (id, text) = (format!("t{number}"), format!("Error: test {number} failed\nerror at line {number}"));
        let error = number + 1 < many;
        [
            message(
                row + 1,
                Some(row),
                "assistant",
                json!([{"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}}]),
            ),
            message(
                row + 2,
                Some(row + 1),
                "user",
                json!([{"type": "tool_result", "tool_use_id": id, "is_error": error, "content": text}]),
            ),
        ]
    });
    let files = (0..many).flat_map(|number| {
        let row = 2 * number;
        let (id, path) = (format!("t{number}"), format!("/w/f{number}.rs"));
        [
            message(
                row + 1,
                Some(row),
                "assistant",
                json!([{"type": "tool_use", "id": id, "name": "Write", "input": {"file_path": path, "content": "x"}}]),
            ),
            message(row + 2, Some(row + 1), "user", json!([{"type": "tool_result", "tool_use_id": id, "content": "ok"}])),
        ]
    });
    let start = || std::iter::once(message(0, None, "user", json!("go")));
    let meta = json!({"timestamp": "2026-11-21T21:00:00.000Z", "type": "session_meta", "payload":
        {"id": "01990000-0000-7000-8000-000000000000", "timestamp": "2026-11-21T21:00:00.000Z", "cwd": "/w", "cli_version": "0.150.0"}});
    let equal = json!({"timestamp": "2026-11-21T21:00:01.000Z", "type": "response_item", "payload":
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "again"}]}});
    let sandbox = Sandbox::new();
    for (name, text) in [
        ("blocks", rows(blocks.into_iter())),
        ("attempts", rows(start().chain(attempts))),
        ("files", rows(start().chain(files))),
        ("letters", rows([message(0, None, "user", json!("a".repeat(all_or(2 << 20, 1 << 18))))].into_iter())),
        ("equal", rows(std::iter::once(meta).chain(std::iter::repeat_n(equal, many)))),
    ] {
        let file = sandbox.write(&format!("{name}.jsonl"), text);
        for command in ["status", "summary", "transcript", "show all", "compact 1 -n", "compress --stale -n"] {
            let mut words: Vec<&str> = command.split(' ').collect();
            let path = file.to_string_lossy();
            words.extend(["-s", &path]);
            let outcome = sandbox.run(&words);
            assert!(outcome.code < 3, "{name} {command}: {}", outcome.stderr);
        }
    }
}
