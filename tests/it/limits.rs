//! A manifest keeps to its tokens, counted as the most expensive tokenizer would.

use aperture::engine::{self, Advice, Prices, ReadSettings, Rules};
use aperture::fsio::RealDisk;
use aperture::output::{ManifestReport, Report, Style, Tier};
use aperture::provider::{Format, PROVIDERS, sniff};
use aperture::store::Cache;
use aperture::workspace;
use std::path::{Path, PathBuf};

/// Claude tokens for an o200k token on the models from 4.7 on, as measured: 1.60 to 1.74.
const CLAUDE_TOKENS: f64 = 1.74;

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
    match std::env::var_os("APERTURE_CORPUS") {
        Some(corpus) => sessions(Path::new(&corpus), &mut files),
        None => eprintln!("skipped: APERTURE_CORPUS names no directory of real sessions"),
    }
    let style = Style { color: false, width: 80, now: jiff::Timestamp::UNIX_EPOCH, zone: || jiff::tz::TimeZone::UTC };
    let mut largest = [0.0f64; 3];
    for file in files {
        let format = sniff(&std::fs::read(&file).unwrap());
        let provider = PROVIDERS.iter().find(|provider| format == Format::Session(provider.name())).unwrap_or(&PROVIDERS[0]);
        let session = workspace::load(&RealDisk, &Cache::none(), *provider, &file, "id".into()).unwrap();
        let window = provider.window(&session);
        let reading = engine::read(session, window, &ReadSettings::default());
        let advice = Advice {
            rules: &Rules::default(),
            prices: &Prices::default(),
            now: 0,
            cache_lifetime_milliseconds: 300_000,
            binds_thinking: true,
            stale: engine::Forecast::Estimated,
            session: Some("0d510331-7c2a-45ab-850a-088f3499b4cc"),
        };
        let suggestions = advice.suggestions(&reading);
        assert!(suggestions.iter().all(|suggestion| suggestion.estimated && suggestion.price.is_some()));
        let manifest = engine::manifest(&reading, 12).with(suggestions);
        for (place, (tier, max_tokens)) in
            [(Tier::Summary, None), (Tier::Detailed, None), (Tier::Full, Some(120))].into_iter().enumerate()
        {
            let limit = max_tokens.or(tier.limit()).unwrap() as f64;
            let text = ManifestReport { tier, max_tokens, manifest: manifest.clone() }.text(&style);
            let tokens = f64::from(engine::o200k(&text)) * CLAUDE_TOKENS;
            assert!(tokens <= limit, "{}: {tokens:.0} of {limit} tokens\n{text}", file.display());
            largest[place] = largest[place].max(tokens / limit);
        }
    }
    eprintln!("fullest: {largest:.2?} of the limits");
}
