//! Measures the speed of aperture, as ratios within one run: whole processes against `wc -l`, a plain JSON pass and C.
//!
//! `cargo bench --bench speed` builds sessions of 4, 10 and 100 MB and a home of 200 MB; `cargo bench --bench speed -- 4 500`
//! builds sessions of other sizes, in MB. `APERTURE_BENCH_LARGE=1` makes the home 1 GB, `APERTURE_CORPUS` is a directory of real
//! sessions whose largest one is measured too; `-- --write FILE MB` writes a session, for profiling, and `-- --planning FILE`
//! measures only the planning of a session, `-- --sealing DIRECTORY MB` sealing and opening stores of that size. Every figure is a median,
//! every ratio the median of the ratios of each round.
#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    clippy::exit,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a benchmark runs programs, reads the clock and prints"
)]

mod generate;
mod measure;

use aperture::engine::{self, Analysis, Context, Need, Outlined, ReadSettings, Subject};
use aperture::fsio::RealDisk;
use aperture::model::{Block, BlockKind, Level};
use aperture::provider::claude_code::ClaudeCode;
use aperture::provider::{FileKind, Format, conventions, sniff};
use aperture::store::Cache;
use aperture::workspace;
use generate::Generator;
use measure::{Round, Target, command, hello_world, peak_bytes, seconds, timed};
use rayon::prelude::*;
use serde_json::value::RawValue;
use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

const APERTURE: &str = env!("CARGO_BIN_EXE_aperture");
const MEGABYTE: u64 = 1_000_000;
/// Bytes appended to a session between two warm reads.
const APPENDED_BYTES: usize = 100_000;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if let [job, file, rest @ ..] = &arguments[..]
        && job.starts_with("--")
    {
        return child(job, Path::new(file), rest);
    }
    // `cargo test` runs benches without `--bench`: then a look is enough.
    let brief = !std::env::args().any(|argument| argument == "--bench");
    let mut sizes: Vec<u64> = arguments.iter().filter_map(|argument| argument.parse().ok()).collect();
    if sizes.is_empty() {
        sizes = if brief { vec![1] } else { vec![4, 10, 100] };
    }
    let home_megabytes = match std::env::var_os("APERTURE_BENCH_LARGE") {
        Some(_) => 1000,
        None if brief => 2,
        None => 200,
    };
    let directory = tempfile::tempdir().expect("a directory for the sessions");
    let generator = Generator::new();
    let mut targets = Vec::new();
    start_up(directory.path(), if brief { 3 } else { 101 }, &mut targets);
    for megabytes in sizes {
        one_session(directory.path(), &generator, megabytes, if brief { 1 } else { 5 }, &mut targets);
    }
    change(directory.path(), &generator, if brief { 1 } else { 20 }, if brief { 1 } else { 5 }, &mut targets);
    let megabytes = if brief { 1 } else { 20 };
    let planned = directory.path().join("planned.jsonl");
    write_session(&generator, &planned, megabytes);
    planning(&planned, if brief { 1 } else { 5 }, &mut targets);
    fs::remove_file(&planned).expect("a session is removed");
    sealing(directory.path(), 20_000, if brief { 1 } else { 200 }, if brief { 1 } else { 3 }, &mut targets);
    growth(directory.path(), if brief { 10 } else { 1250 }, if brief { 1 } else { 3 }, &mut targets);
    home(directory.path(), &generator, home_megabytes, if brief { 1 } else { 7 }, &mut targets);
    match std::env::var_os("APERTURE_CORPUS") {
        Some(corpus) => match largest_session(Path::new(&corpus)) {
            Some(session) => {
                let file = directory.path().join("corpus.jsonl");
                fs::copy(session, &file).expect("a copy of the session");
                session_table("largest session of the corpus", directory.path(), &file, &[], 5, &mut targets);
            }
            None => println!("\nAPERTURE_CORPUS holds no session: skipped"),
        },
        None => println!("\nAPERTURE_CORPUS is not set: no real session was measured"),
    }
    println!("\n{:<66} {:>9}  {:>9}", "target", "limit", "measured");
    for target in targets {
        println!("{target}");
    }
}

/// A reference as a process of its own, so that it pays for its start, its reading and its counting as aperture does.
fn child(job: &str, file: &Path, rest: &[String]) {
    match job {
        "--value" => each_line(file, |line| drop(std::hint::black_box(serde_json::from_slice::<serde_json::Value>(line)))),
        "--raw" => each_line(file, |line| {
            drop(std::hint::black_box(serde_json::from_slice::<std::collections::BTreeMap<&str, &RawValue>>(line)));
        }),
        "--count" => {
            let mut tokens = 0u64;
            each_line(file, |line| {
                let parsed = ClaudeCode.parse(line);
                tokens += parsed.blocks.iter().map(|block| u64::from(engine::o200k(block.text()))).sum::<u64>();
            });
            std::hint::black_box(tokens);
        }
        "--write" => {
            let megabytes: u64 = rest.first().and_then(|size| size.parse().ok()).expect("a size in MB");
            write_session(&Generator::new(), file, megabytes);
        }
        "--planning" => planning(file, 5, &mut Vec::new()),
        "--sealing" => {
            let megabytes: u64 = rest.first().and_then(|size| size.parse().ok()).expect("a size in MB");
            [1_000_000, 20_000, 3_000].iter().for_each(|bytes| sealing(file, *bytes, megabytes, 3, &mut Vec::new()));
        }
        _ => panic!("unknown job {job}"),
    }
}

fn each_line(file: &Path, mut run: impl FnMut(&[u8])) {
    let mut reader = std::io::BufReader::with_capacity(1 << 20, File::open(file).expect("the session opens"));
    let mut line = Vec::new();
    while std::io::BufRead::read_until(&mut reader, b'\n', &mut line).expect("the session is read") > 0 {
        run(line.trim_ascii_end());
        line.clear();
    }
}

/// `--help` against the smallest program there is.
fn start_up(directory: &Path, rounds: usize, targets: &mut Vec<Target>) {
    println!("start: {rounds} rounds");
    let Some(hello) = hello_world(directory) else { return println!("  there is no cc: skipped") };
    let mut round = Round::new(&["C hello world", "aperture --help"]);
    for _ in 0..rounds {
        round.add(&[timed(&mut command(&hello)), timed(command(APERTURE).arg("--help"))]);
    }
    round.print(0);
    let excess = round.median(1) - 2.0 * round.median(0);
    targets.push(Target::new("--help: time over 2 x C hello world", "0.5 ms", excess * 1e3, "ms", excess <= 0.5e-3));
}

/// Sends rows to a file, and all rows after the first `limit` bytes to `tail`.
struct Split {
    file: BufWriter<File>,
    left: u64,
    tail: Vec<u8>,
    at_start: bool,
}

impl Write for Split {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.left == 0 && (self.at_start || !self.tail.is_empty()) {
            self.tail.extend(bytes);
        } else {
            self.file.write_all(bytes)?;
            self.left = self.left.saturating_sub(bytes.len() as u64);
        }
        self.at_start = bytes.ends_with(b"\n");
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}

fn one_session(directory: &Path, generator: &Generator, megabytes: u64, rounds: usize, targets: &mut Vec<Target>) {
    let path = directory.join(format!("{megabytes}.jsonl"));
    let bytes = megabytes * MEGABYTE;
    let mut split = Split {
        file: BufWriter::new(File::create(&path).expect("a session is created")),
        left: bytes,
        tail: Vec::new(),
        at_start: true,
    };
    let extra = (APPENDED_BYTES * 2 * rounds) as u64;
    let mut shares = generator.session(megabytes, bytes + extra, &mut split).expect("a session is written");
    split.flush().expect("a session is written");
    println!("\n{megabytes} MB: {}", shares.describe());
    session_table(&format!("{megabytes} MB"), directory, &path, &split.tail, rounds, targets);
    fs::remove_file(&path).expect("a session is removed");
}

fn manifest(home: &Path, session: &Path) -> std::process::Command {
    let mut manifest = command(APERTURE);
    manifest.env("APERTURE_HOME", home).arg("manifest").arg(session);
    manifest
}

fn session_table(name: &str, directory: &Path, path: &Path, tail: &[u8], rounds: usize, targets: &mut Vec<Target>) {
    println!("{name}, {rounds} rounds:");
    let this = std::env::current_exe().expect("this program");
    let bytes = fs::metadata(path).expect("the session is there").len();
    let mut round = Round::new(&[
        "wc -l", "serde_json RawValue", "serde_json Value", "parse and count once", "manifest, cold", "manifest, warm",
        "manifest, 100 kB more",
    ]);
    let mut appended = tail.split_inclusive(|byte| *byte == b'\n').peekable();
    for turn in 0..rounds {
        let home = directory.join(format!("home-{turn}"));
        let pass = |job: &str| timed(command(&this).arg(job).arg(path));
        let mut times = vec![timed(command("wc").arg("-l").arg(path)), pass("--raw"), pass("--value"), pass("--count")];
        times.push(timed(&mut manifest(&home, path)));
        times.push(measure::median((0..5).map(|_| timed(&mut manifest(&home, path))).collect()));
        let mut file = OpenOptions::new().append(true).open(path).expect("the session opens");
        let mut more = 0;
        while more < APPENDED_BYTES
            && let Some(line) = appended.next()
        {
            file.write_all(line).expect("rows are appended");
            more += line.len();
        }
        times.push(timed(&mut manifest(&home, path)));
        round.add(&times);
    }
    round.print(4);
    let file = bytes as f64;
    let fresh = directory.join("home-memory");
    let (cold, warm) = (peak_bytes(&mut manifest(&fresh, path)), peak_bytes(&mut manifest(&fresh, path)));
    match (cold, warm) {
        (Some(cold), Some(warm)) => {
            println!("  memory: cold {:.1} MB = {:.2} x the file, warm {:.1} MB", cold / 1e6, cold / file, warm / 1e6);
            if bytes >= 50 * MEGABYTE {
                targets.push(Target::new(
                    &format!("{name}: memory, cold, of the file"),
                    "1.5 x",
                    cold / file,
                    "x",
                    cold / file <= 1.5,
                ));
            }
        }
        _ => println!("  memory: this platform does not tell, skipped"),
    }
    if bytes >= 50 * MEGABYTE {
        let (count, warm) = (round.ratio(4, 3), round.ratio(5, 4));
        targets.push(Target::new(&format!("{name}: cold, of parsing and counting once"), "1.5 x", count, "x", count <= 1.5));
        targets.push(Target::new(&format!("{name}: warm, of cold"), "0.05 x", warm, "x", warm <= 0.05));
    } else if bytes <= 6 * MEGABYTE {
        let warm = round.median(5);
        targets.push(Target::new(&format!("{name}: warm"), "30 ms", warm * 1e3, "ms", warm < 30e-3));
    }
    for turn in 0..rounds {
        let _ = fs::remove_dir_all(directory.join(format!("home-{turn}")));
    }
    let _ = fs::remove_dir_all(fresh);
}

/// Compressing a session and taking it back, against reading it and writing it.
fn change(directory: &Path, generator: &Generator, megabytes: u64, rounds: usize, targets: &mut Vec<Target>) {
    let path = directory.join("changed.jsonl");
    let mut out = BufWriter::new(File::create(&path).expect("a session is created"));
    generator.session(megabytes, megabytes * MEGABYTE, &mut out).expect("a session is written");
    out.flush().expect("a session is written");
    // A session that a program keeps open for writing is not changed.
    drop(out);
    let original = fs::read(&path).expect("the session is read");
    println!("\nchange of {megabytes} MB, {rounds} rounds:");
    let aperture = |home: &Path, arguments: &[&str]| {
        let mut run = command(APERTURE);
        run.env("APERTURE_HOME", home).args(arguments).arg("-s").arg(&path);
        run
    };
    let compress = ["compress", "kind(tool_result) & larger(100)", "--level", "minimal"];
    let mut round = Round::new(&["manifest, cold", "write and sync", "compress, cold", "undo"]);
    let mut peaks: Vec<f64> = Vec::new();
    for turn in 0..rounds {
        let home = directory.join(format!("change-{turn}"));
        let read = timed(&mut aperture(&directory.join(format!("change-read-{turn}")), &["manifest"]));
        let start = Instant::now();
        let mut copy = File::create(directory.join("copy.jsonl")).expect("a copy is created");
        copy.write_all(&original).and_then(|()| copy.sync_all()).expect("a copy is written");
        let write = start.elapsed().as_secs_f64();
        let compressed = timed(&mut aperture(&home, &compress));
        assert!(fs::read(&path).expect("the session is read") != original, "something was shortened");
        round.add(&[read, write, compressed, timed(&mut aperture(&home, &["undo"]))]);
        assert!(fs::read(&path).expect("the session is read") == original, "undo gives back every byte");
        peaks.extend(peak_bytes(&mut aperture(&home, &compress)));
        peaks.extend(peak_bytes(&mut aperture(&home, &["undo"])));
    }
    round.print(0);
    let limit = 2.0 * round.median(0) + round.median(1);
    for (name, job) in [("compress", 2), ("undo", 3)] {
        let ratio = round.median(job) / limit;
        targets.push(Target::new(
            &format!("{name} of {megabytes} MB, of 2 x reading and writing once"),
            "1 x",
            ratio,
            "x",
            ratio <= 1.0,
        ));
    }
    let peak = peaks.iter().copied().fold(0.0, f64::max) / original.len() as f64;
    if !peaks.is_empty() && megabytes >= 20 {
        targets.push(Target::new(&format!("change of {megabytes} MB: memory, of the file"), "2 x", peak, "x", peak <= 2.0));
    }
    fs::remove_file(&path).expect("a session is removed");
}

/// A store of contents that cannot be compressed is sealed and opened, against a copy of it that is synced.
fn sealing(directory: &Path, content_bytes: usize, megabytes: u64, rounds: usize, targets: &mut Vec<Target>) {
    let (home, session, key) = (directory.join("sealing"), directory.join("sealed.jsonl"), directory.join("key"));
    fs::create_dir_all(&home).expect("a directory for the store");
    write_session(&Generator::new(), &session, 1);
    fs::write(&key, "not a key that protects anything").expect("a key is written");
    #[cfg(unix)]
    fs::set_permissions(&key, std::os::unix::fs::PermissionsExt::from_mode(0o600)).expect("the key is private");
    let aperture = |arguments: &[&str]| {
        let mut run = command(APERTURE);
        run.env("APERTURE_HOME", &home).args(arguments);
        run
    };
    timed(aperture(&["archive", "1", "-s"]).arg(&session));
    let path = home.join("store.db");
    fill(&path, content_bytes, megabytes * MEGABYTE / content_bytes as u64).expect("the store is filled");
    println!("\nstore of {megabytes} MB in contents of {content_bytes} bytes, {rounds} rounds:");
    let mut round = Round::new(&["copy and sync", "encrypt", "decrypt"]);
    for _ in 0..rounds {
        let copied = seconds(|| {
            let copy = directory.join("store.copy");
            fs::copy(&path, &copy).and_then(|_| OpenOptions::new().write(true).open(&copy)?.sync_all()).expect("a copy");
        });
        fs::remove_file(directory.join("store.copy")).expect("the copy is removed");
        round.add(&[
            copied,
            timed(aperture(&["store", "encrypt", "--key-file"]).arg(&key)),
            timed(&mut aperture(&["store", "decrypt"])),
        ]);
    }
    round.print(0);
    for (name, job) in [("sealed", 1), ("opened", 2)] {
        let name = format!("store of {megabytes} MB is {name}, of copying and syncing it");
        targets.push(Target::new(&name, "3 x", round.ratio(job, 0), "x", round.ratio(job, 0) <= 3.0));
    }
    fs::remove_dir_all(&home).and_then(|()| fs::remove_file(&session)).expect("the store is removed");
}

/// Adds random contents to a store.
fn fill(path: &Path, bytes: usize, contents: u64) -> rusqlite::Result<()> {
    let store = rusqlite::Connection::open(path)?;
    store.execute_batch("BEGIN")?;
    let sql = "INSERT INTO originals (address, bytes, content) VALUES (randomblob(32), ?1, randomblob(?1))";
    let mut insert = store.prepare(sql)?;
    (0..contents).try_for_each(|_| insert.execute([bytes as i64]).map(drop))?;
    store.execute_batch("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)")
}

/// Every block of a session at every level, and the whole of it at once, against counting its tokens.
fn planning(path: &Path, rounds: usize, targets: &mut Vec<Target>) {
    let (reading, contents) = whole(path);
    let megabytes = fs::metadata(path).expect("the session is there").len() / MEGABYTE;
    let subjects: Vec<Subject<'_>> = reading.session.blocks.iter().zip(&contents).filter_map(subject).collect();
    println!("\nplanning of {megabytes} MB: {} of {} blocks, {rounds} rounds", subjects.len(), contents.len());
    let mut round = Round::new(&["count, one core", "count", "each level of each block", "plan, as compress --preset"]);
    let count = |content: &String| u64::from(engine::o200k(content));
    let worth = engine::preset(engine::DEFAULT_PRESET).expect("the preset in use").worth();
    for _ in 0..rounds {
        let levels = || {
            let (need, shown) = (Need::new(&reading), Default::default());
            let left = |subject: &Subject<'_>| {
                let context = Context { name: &|term| need.of_name(term), line: need.of_line(subject.block), shown: &shown };
                subject.at_levels([Level::Trimmed, Level::Summarized, Level::Minimal], &context)
            };
            subjects.par_iter().flat_map_iter(left).map(|left| left.map_or(0, |left| left.len())).sum::<usize>()
        };
        let plan = || {
            let outlined = Outlined::new(&subjects);
            let selection = outlined.weigh(&reading);
            outlined.shortened(&selection.first(selection.worth_at_least(worth))).len()
        };
        round.add(&[
            // Each thread caches its last counts, so a new thread is used.
            seconds(|| std::thread::scope(|scope| scope.spawn(|| contents.iter().map(count).sum::<u64>()).join().ok())),
            seconds(|| contents.par_iter().map(count).sum::<u64>()),
            seconds(levels),
            seconds(plan),
        ]);
    }
    round.print(0);
    for (name, job) in [("each level of each block", 2), ("plan", 3)] {
        let ratio = round.ratio(job, 0);
        targets.push(Target::new(&format!("{name} of {megabytes} MB, of counting on one core"), "3 x", ratio, "x", ratio <= 3.0));
    }
}

/// Writes a session of `megabytes` MB.
fn write_session(generator: &Generator, file: &Path, megabytes: u64) {
    let mut out = BufWriter::new(File::create(file).expect("a session is created"));
    generator.session(megabytes, megabytes * MEGABYTE, &mut out).expect("a session is written");
    out.flush().expect("a session is written");
}

/// A session as if nothing of it had ever left the window, and the content of each block.
fn whole(path: &Path) -> (Analysis, Vec<String>) {
    let session =
        workspace::load(&RealDisk, &Cache::default(), &ClaudeCode, path, "session".into()).expect("the session is read");
    let window = ClaudeCode.window(&session);
    let mut reading = engine::read(session, |_| window, &ReadSettings::default(), &Default::default());
    reading.window.blocks = reading.session.blocks.iter().map(|block| block.number).collect();
    let bytes = fs::read(path).expect("the session is read");
    let rows = bytes.split(|byte| *byte == b'\n');
    let blocks = rows.flat_map(|row| ClaudeCode.parse(row).blocks.into_iter().map(|block| block.content.into_owned()));
    let contents: Vec<String> = blocks.collect();
    assert_eq!(contents.len(), reading.session.blocks.len(), "each block has its content");
    (reading, contents)
}

/// A block that can be shortened.
fn subject<'a>((block, content): (&'a Block, &'a String)) -> Option<Subject<'a>> {
    let (label, why) = (engine::placeholder_label(block), engine::why_old(block));
    let conventions = conventions();
    let subject = Subject {
        block,
        conventions,
        content,
        tokens: block.tokens.value,
        label,
        why,
        newest: false,
        left: None,
        held: Vec::new(),
        written: None,
    };
    (block.kind != BlockKind::Thinking).then_some(subject)
}

/// Commands over a session of some turns, against the same over one of four times as many: the time must grow as the session does.
fn growth(directory: &Path, turns: usize, rounds: usize, targets: &mut Vec<Target>) {
    println!("\ngrowth from {turns} to {} turns, {rounds} rounds:", 4 * turns);
    // The name, the arguments and the passwords with a name in each turn.
    let jobs = [
        ("archive", &["archive", "middle", "--dry-run"][..], 0),
        ("memory learn", &["memory", "learn"], 0),
        ("redact", &["redact", "--all", "--dry-run"], 4),
    ];
    let mut round = Round::new(&[
        "archive", "archive, 4 x", "memory learn", "memory learn, 4 x", "redact passwords", "redact passwords, 4 x",
    ]);
    for turn in 0..rounds {
        let mut times = Vec::new();
        for (job, arguments, passwords) in jobs {
            for turns in [turns, 4 * turns] {
                let home = directory.join(format!("growth-{turn}-{job}-{turns}"));
                let (config, project) = (home.join("config"), home.join("shop"));
                fs::create_dir_all(config.join("projects/-shop")).expect("a directory of sessions is created");
                fs::create_dir_all(&project).expect("a project is created");
                let session = config.join("projects/-shop/00000000-0000-4000-8000-000000000000.jsonl");
                fs::write(&session, turns_of(turns, passwords, &project)).expect("a session is written");
                let mut run = command(APERTURE);
                run.env("APERTURE_HOME", home.join("aperture")).env("CLAUDE_CONFIG_DIR", &config).current_dir(&project);
                run.args(arguments);
                if job != "memory learn" {
                    run.arg("-s").arg(&session);
                }
                times.push(timed(&mut run));
                fs::remove_dir_all(&home).expect("a session is removed");
            }
        }
        round.add(&times);
    }
    round.print(0);
    for (place, (job, ..)) in jobs.iter().enumerate() {
        let ratio = round.ratio(2 * place + 1, 2 * place);
        targets.push(Target::new(&format!("{job}: 4 x the turns"), "6 x", ratio, "x", ratio <= 6.0));
    }
}

/// A session of turns, each with a statement of the user and some passwords, a call with its result, and an answer.
fn turns_of(turns: usize, passwords: usize, project: &Path) -> String {
    let mut rows = String::new();
    let mut row = |place: usize, kind: &str, message: serde_json::Value| {
        let id = |place: usize| format!("{place:08x}-0000-4000-8000-000000000000");
        let row = serde_json::json!({
            "parentUuid": place.checked_sub(1).map(id), "isSidechain": false, "cwd": project,
            "sessionId": "00000000-0000-4000-8000-000000000000", "version": "2.1.9", "type": kind, "message": message,
            "uuid": id(place), "timestamp": format!("2026-10-01T{:02}:{:02}:{:02}Z", place / 3600 % 24, place / 60 % 60, place % 60),
        });
        rows.push_str(&format!("{row}\n"));
    };
    for turn in 0..turns {
        let mut said = format!("Always run task{turn} before you publish pack{turn}.");
        for password in turn * passwords..(turn + 1) * passwords {
            said += &format!("\nDB_PASSWORD=Kx{}q{}z", password * 7919 % 1_000_003, password * 104_729 % 999_983);
        }
        row(4 * turn, "user", serde_json::json!({"role": "user", "content": said}));
        for (step, content) in [
            serde_json::json!({"type": "tool_use", "id": format!("t{turn}"), "name": "Read", "input": {"file_path": format!("src/{turn}.rs")}}),
            serde_json::json!({"type": "text", "text": format!("The part {turn} is in order.")}),
        ]
        .into_iter()
        .enumerate()
        {
            let usage = serde_json::json!({"input_tokens": 3, "cache_read_input_tokens": 90 * turn, "output_tokens": 40});
            let message = serde_json::json!({
                "id": format!("m{turn}-{step}"), "role": "assistant", "model": "claude-opus-4-8", "content": [content], "usage": usage,
            });
            row(4 * turn + 1 + 2 * step, "assistant", message);
            if step == 0 {
                let text = format!("let part{turn} = order({turn}); ").repeat(20);
                let result = serde_json::json!({"type": "tool_result", "tool_use_id": format!("t{turn}"), "content": text});
                row(4 * turn + 2, "user", serde_json::json!({"role": "user", "content": [result]}));
            }
        }
    }
    rows
}

/// `sessions` and `usage` over a home of many files.
fn home(directory: &Path, generator: &Generator, megabytes: u64, rounds: usize, targets: &mut Vec<Target>) {
    let config = directory.join("config");
    let mut files: Vec<PathBuf> = Vec::new();
    let mut random = generate::Random::new(7);
    let mut bytes = 0;
    while bytes < megabytes * MEGABYTE {
        let number = files.len();
        let project = config.join(format!("projects/-home-dev-project-{}", number % 20));
        fs::create_dir_all(&project).expect("a project is created");
        let path = project.join(format!("{number:08x}-0000-4000-8000-000000000000.jsonl"));
        let mut file = BufWriter::new(File::create(&path).expect("a session is created"));
        // As in a real home: 1,273 files in 1 GB, half of them below 413 kB.
        let size = (random.size(413_000, 1.13) as u64).clamp(2_000, 45 * MEGABYTE);
        bytes += generator.session(number as u64, size, &mut file).expect("a session is written").bytes;
        file.flush().expect("a session is written");
        files.push(path);
    }
    println!("\nhome of {megabytes} MB: {} files, {rounds} rounds", files.len());
    let run = |home: &Path, name: &str| {
        let mut run = command(APERTURE);
        run.env("APERTURE_HOME", home).env("CLAUDE_CONFIG_DIR", &config).arg(name);
        run
    };
    let mut round = Round::new(&["wc -l", "sessions, cold", "sessions, warm", "usage, cold", "usage, warm"]);
    for turn in 0..rounds {
        let mut times = vec![timed(command("wc").arg("-l").args(&files))];
        for name in ["sessions", "usage"] {
            let home = directory.join(format!("home-{turn}-{name}"));
            times.push(timed(&mut run(&home, name)));
            times.push(measure::median((0..7).map(|_| timed(&mut run(&home, name))).collect()));
        }
        round.add(&times);
    }
    round.print(0);
    if let Some(peak) = peak_bytes(&mut run(&directory.join("home-memory"), "sessions")) {
        println!("  memory: cold {:.1} MB", peak / 1e6);
    }
    for (name, job, times, milliseconds) in [("sessions", 1, 2.0, 10.0), ("usage", 3, 2.5, 8.0)] {
        let (cold, warm) = (round.ratio(job, 0), round.median(job + 1) * 1e3);
        let name = format!("{name} of {megabytes} MB");
        targets.push(Target::new(&format!("{name}: cold, of wc -l"), &format!("{times} x"), cold, "x", cold <= times));
        targets.push(Target::new(&format!("{name}: warm"), &format!("{milliseconds} ms"), warm, "ms", warm < milliseconds));
    }
    search(directory, megabytes, rounds, &files, &config, targets);
}

/// `search` over the same home: with an index that is built, with one that is known, and of a text.
fn search(directory: &Path, megabytes: u64, rounds: usize, files: &[PathBuf], config: &Path, targets: &mut Vec<Target>) {
    let run = |home: &Path, words: &[&str]| {
        let mut run = command(APERTURE);
        run.env("APERTURE_HOME", home).env("CLAUDE_CONFIG_DIR", config).arg("search").args(words);
        run
    };
    let ranked = ["session", "window", "limit"];
    // A small home has it nowhere.
    let text = if megabytes < 100 { "window" } else { "window limit" };
    let mut round = Round::new(&["wc -l", "search, cold", "search, warm", "a text", "a text, any case"]);
    for turn in 0..rounds {
        let home = directory.join(format!("home-{turn}-search"));
        let mut times = vec![timed(command("wc").arg("-l").args(files)), timed(&mut run(&home, &ranked))];
        times.push(measure::median((0..7).map(|_| timed(&mut run(&home, &ranked))).collect()));
        times.push(timed(&mut run(&home, &["--literal", text])));
        times.push(timed(&mut run(&home, &["--literal", "-i", text])));
        round.add(&times);
    }
    round.print(0);
    let mut target = |what: &str, goal: &str, value: f64, unit: &'static str, is_met: bool| {
        targets.push(Target::new(&format!("search of {megabytes} MB: {what}"), goal, value, unit, is_met));
    };
    let built = megabytes as f64 / round.median(1);
    target("index", "25 MB/s", built, "MB/s", built >= 25.0);
    let size = fs::metadata(directory.join("home-0-search/cache/search.db")).map_or(f64::INFINITY, |index| index.len() as f64);
    let share = size / (megabytes * MEGABYTE) as f64;
    target("index, of the files", "0.04 x", share, "x", share <= 0.04);
    let warm = round.median(2) * 1e3;
    target("warm", "30 ms", warm, "ms", warm <= 30.0);
    // `rg -c` takes 0.9 times as long as `wc -l`, `rg -ci` 1.3 times.
    for (what, job, times) in [("a text, of wc -l", 3, 1.8), ("a text in any case, of wc -l", 4, 2.6)] {
        target(what, &format!("{times} x"), round.ratio(job, 0), "x", round.ratio(job, 0) <= times);
    }
}

/// The largest session in a directory.
fn largest_session(directory: &Path) -> Option<PathBuf> {
    let mut largest: Option<(u64, PathBuf)> = None;
    let mut directories = vec![directory.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            let path = entry.path();
            let Ok(metadata) = fs::metadata(&path) else { continue };
            if metadata.is_dir() {
                directories.push(path);
            } else if path.extension().is_some_and(|extension| extension == "jsonl")
                && largest.as_ref().is_none_or(|(bytes, _)| metadata.len() > *bytes)
                && fs::read(&path)
                    .is_ok_and(|content| matches!(sniff(&content[..content.len().min(65536)]), FileKind::Session(_)))
            {
                largest = Some((metadata.len(), path));
            }
        }
    }
    largest.map(|(_, path)| path)
}
