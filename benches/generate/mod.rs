//! Generates sessions in the format of Claude Code, of any size, deterministic for a seed.

mod text;

use std::io::{self, Write};
use text::{SourceFile, Texts};

/// Tokens of the window after which the client compacts.
const COMPACTED_TOKENS: u64 = 160_000;
/// Files of the project that a session works on.
const PROJECT_FILES: usize = 60;

/// Pseudo-random numbers (SplitMix64).
pub struct Random(u64);

/// A call of a tool: its name, its input, its result, and the copy of the result for the client.
type Call = (&'static str, String, String, String);

impl Random {
    /// The numbers of a seed.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit.max(1)
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len() as u64) as usize]
    }

    /// A size around `median`: mostly near it, rarely many times as large.
    pub fn size(&mut self, median: u64, spread: f64) -> usize {
        // The sum of twelve uniform numbers is all but normal.
        let normal: f64 = (0..12).map(|_| self.next() as f64 / u64::MAX as f64).sum::<f64>() - 6.0;
        (median as f64 * (normal * spread).exp()) as usize
    }

    fn uuid(&mut self) -> String {
        let (a, b) = (self.next(), self.next());
        format!("{:08x}-{:04x}-4{:03x}-8{:03x}-{:012x}", a >> 32, a >> 16 & 0xffff, a & 0xfff, b >> 52, b & 0xffff_ffff_ffff)
    }

    fn base64(&mut self, length: usize) -> String {
        const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        (0..length).map(|_| DIGITS[self.below(64) as usize] as char).collect()
    }
}

/// The composition of the rows of a file, in bytes.
#[derive(Clone, Debug, Default)]
pub struct Shares {
    /// All bytes.
    pub bytes: u64,
    /// The lengths of all rows.
    pub rows: Vec<u32>,
    /// Copies of results for the client's own display.
    pub copies: u64,
    /// Results as the model sees them.
    pub results: u64,
    /// Thinking.
    pub thinking: u64,
    /// Inputs of tools.
    pub uses: u64,
    /// Signatures of thinking.
    pub signatures: u64,
    /// Texts of both sides.
    pub texts: u64,
}

impl Shares {
    /// The shares in one line.
    pub fn describe(&mut self) -> String {
        self.rows.sort_unstable();
        let percent = |part: u64| part * 100 / self.bytes.max(1);
        format!(
            "{} rows, mean {} B, p99 {} B; toolUseResult {} %, tool_result {} %, thinking {} %, tool_use {} %, signatures {} %, text {} %",
            self.rows.len(),
            self.bytes / self.rows.len().max(1) as u64,
            self.rows.get(self.rows.len() * 99 / 100).copied().unwrap_or_default(),
            percent(self.copies),
            percent(self.results),
            percent(self.thinking),
            percent(self.uses),
            percent(self.signatures),
            percent(self.texts),
        )
    }
}

/// Makes sessions.
pub struct Generator {
    texts: Texts,
}

/// A session in the making.
struct Writing<'a> {
    texts: &'a Texts,
    random: Random,
    files: Vec<SourceFile>,
    id: String,
    parent: Option<String>,
    out: &'a mut dyn Write,
    shares: Shares,
    tokens: u64,
    milliseconds: u64,
}

impl Generator {
    /// A generator over this repository's own text.
    pub fn new() -> Generator {
        Generator { texts: Texts::of_repository() }
    }

    /// Writes a session of at least `bytes`.
    pub fn session(&self, seed: u64, bytes: u64, out: &mut dyn Write) -> io::Result<Shares> {
        let mut random = Random::new(seed);
        let files = (0..PROJECT_FILES)
            .map(|number| {
                let size = random.size(7_500, 0.9).min(60_000);
                self.texts.source(&mut random, number, size)
            })
            .collect();
        let id = random.uuid();
        let mut writing = Writing {
            texts: &self.texts,
            random,
            files,
            id,
            parent: None,
            out,
            shares: Shares::default(),
            tokens: 20_000,
            milliseconds: 1_795_000_000_000,
        };
        while writing.shares.bytes < bytes {
            writing.turn(bytes)?;
        }
        Ok(writing.shares)
    }
}

/// A text as a JSON string.
fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("a string is JSON")
}

impl Writing<'_> {
    /// One prompt and all that answers it.
    fn turn(&mut self, bytes: u64) -> io::Result<()> {
        let size = self.random.size(260, 0.9);
        let prompt = self.texts.prose(&mut self.random, size);
        self.shares.texts += prompt.len() as u64;
        self.user(&format!(r#""promptSource":"typed","message":{{"role":"user","content":{}}}"#, quoted(&prompt)))?;
        if self.random.chance(40) {
            let reminder = self.texts.prose(&mut self.random, 500);
            let rendered = quoted(&format!("<system-reminder>\n{reminder}\n</system-reminder>"));
            self.row(&format!(
                r#""attachment":{{"type":"todo_reminder","content":[],"itemCount":0}},"rendered":[{{"content":{rendered}}}],"renderedRole":"system","type":"attachment""#
            ))?;
        }
        let snapshot = self.random.uuid();
        self.line(&format!(
            r#"{{"type":"file-history-snapshot","messageId":"{snapshot}","snapshot":{{"messageId":"{snapshot}","trackedFileBackups":{{}},"timestamp":"{}"}},"isSnapshotUpdate":false}}"#,
            self.time()
        ))?;
        for _ in 0..3 + self.random.below(30) {
            self.step()?;
            if self.tokens > COMPACTED_TOKENS {
                self.compact()?;
            }
            if self.shares.bytes >= bytes {
                break;
            }
        }
        self.answer()?;
        let (leaf, id) = (self.parent.clone().unwrap_or_default(), self.id.clone());
        let prompt = quoted(prompt.get(..100).unwrap_or_default());
        self.line(&format!(r#"{{"type":"last-prompt","lastPrompt":{prompt},"leafUuid":"{leaf}","sessionId":"{id}"}}"#))
    }

    /// One response with its tools and their results.
    fn step(&mut self) -> io::Result<()> {
        let message = format!("msg_01{:016x}", self.random.next());
        self.tokens += 150;
        if self.random.chance(45) {
            let size = self.random.size(2_600, 0.9);
            let thinking = if self.random.chance(15) { String::new() } else { self.texts.prose(&mut self.random, size) };
            let length = self.random.size(1_700, 0.4);
            let signature = self.random.base64(length);
            self.shares.thinking += thinking.len() as u64;
            self.shares.signatures += signature.len() as u64;
            let thinking = quoted(&thinking);
            self.response(&message, &format!(r#"{{"type":"thinking","thinking":{thinking},"signature":"{signature}"}}"#))?;
        }
        if self.random.chance(45) {
            self.text(&message)?;
        }
        let calls = if self.random.chance(25) { 2 + self.random.below(2) } else { 1 };
        let mut answers = Vec::new();
        for _ in 0..calls {
            let call = format!("toolu_01{:016x}", self.random.next());
            let (name, input, result, copy) = self.tool();
            self.shares.uses += input.len() as u64;
            self.response(&message, &format!(r#"{{"type":"tool_use","id":"{call}","name":"{name}","input":{input}}}"#))?;
            answers.push((call, result, copy, self.parent.clone()));
        }
        for (call, result, copy, asker) in answers {
            self.parent = asker;
            self.shares.results += result.len() as u64;
            self.shares.copies += copy.len() as u64;
            self.tokens += result.len() as u64 / 4;
            let result = quoted(&result);
            let source = self.parent.clone().unwrap_or_default();
            self.user(&format!(
                r#""message":{{"role":"user","content":[{{"tool_use_id":"{call}","type":"tool_result","content":{result}}}]}},"toolUseResult":{copy},"sourceToolAssistantUUID":"{source}""#
            ))?;
        }
        Ok(())
    }

    fn answer(&mut self) -> io::Result<()> {
        let message = format!("msg_01{:016x}", self.random.next());
        self.text(&message)
    }

    fn text(&mut self, message: &str) -> io::Result<()> {
        let size = self.random.size(420, 0.9);
        let text = self.texts.prose(&mut self.random, size);
        self.shares.texts += text.len() as u64;
        self.response(message, &format!(r#"{{"type":"text","text":{}}}"#, quoted(&text)))
    }

    /// A call of a tool.
    fn tool(&mut self) -> Call {
        let number = self.random.below(self.files.len() as u64) as usize;
        match self.random.below(100) {
            0..34 => self.read(number),
            34..68 => self.run(),
            68..83 => self.edit(number),
            83..87 => self.write_file(number),
            _ => self.search(number),
        }
    }

    /// A call that reads a file, or a part of it.
    fn read(&mut self, number: usize) -> Call {
        let random = &mut self.random;
        let file = &self.files[number];
        let path = quoted(&file.path);
        let lines: Vec<&str> = file.content.lines().collect();
        let whole = random.chance(45);
        let offset = if whole { 0 } else { random.below(lines.len() as u64) as usize };
        let count = if whole { lines.len() } else { 40 + random.below(120) as usize };
        let part: Vec<&str> = lines.iter().skip(offset).take(count).copied().collect();
        let range = if whole { String::new() } else { format!(r#","offset":{},"limit":{count}"#, offset + 1) };
        let numbered: Vec<String> =
            part.iter().enumerate().map(|(place, line)| format!("{}\t{line}", offset + place + 1)).collect();
        let copy = format!(
            r#"{{"type":"text","file":{{"filePath":{path},"content":{},"numLines":{},"startLine":{},"totalLines":{}}}}}"#,
            quoted(&part.join("\n")),
            part.len(),
            offset + 1,
            lines.len()
        );
        ("Read", format!(r#"{{"file_path":{path}{range}}}"#), numbered.join("\n"), copy)
    }

    /// A call that runs a command.
    fn run(&mut self) -> Call {
        let random = &mut self.random;
        let command = format!("cd /home/dev/shop && cargo test --lib {} 2>&1 | tail -{}", random.base64(6), random.below(90));
        let size = random.size(2_300, 1.2).min(30_000);
        let output = self.texts.output(random, size);
        let copy = format!(
            r#"{{"stdout":{},"stderr":"","interrupted":false,"isImage":false,"noOutputExpected":false}}"#,
            quoted(&output)
        );
        ("Bash", format!(r#"{{"command":{},"description":"Run the tests"}}"#, quoted(&command)), output, copy)
    }

    /// A call that edits a file.
    fn edit(&mut self, number: usize) -> Call {
        let random = &mut self.random;
        let file = &self.files[number];
        let path = quoted(&file.path);
        let start = random.below(file.content.lines().count().max(2) as u64 - 1) as usize;
        let count = 2 + random.below(12) as usize;
        let old: Vec<&str> = file.content.lines().skip(start).take(count).collect();
        let size = random.size(700, 0.8);
        let new = self.texts.source(random, number, size).content;
        let lines: Vec<String> = old
            .iter()
            .map(|line| quoted(&format!("-{line}")))
            .chain(new.lines().map(|line| quoted(&format!("+{line}"))))
            .collect();
        let (old, new) = (quoted(&old.join("\n")), quoted(&new));
        let original = quoted(&file.content);
        let copy = format!(
            r#"{{"filePath":{path},"oldString":{old},"newString":{new},"originalFile":{original},"structuredPatch":[{{"oldStart":{start},"oldLines":{count},"newStart":{start},"newLines":{count},"lines":[{}]}}],"userModified":false,"replaceAll":false}}"#,
            lines.join(",")
        );
        let result = format!("The file {} has been updated successfully.", file.path);
        ("Edit", format!(r#"{{"file_path":{path},"old_string":{old},"new_string":{new}}}"#), result, copy)
    }

    /// A call that writes a new file, which is read and edited later.
    fn write_file(&mut self, number: usize) -> Call {
        let random = &mut self.random;
        let size = random.size(7_000, 0.8);
        let fresh = self.texts.source(random, number, size);
        let (path, content) = (quoted(&fresh.path), quoted(&fresh.content));
        let copy =
            format!(r#"{{"type":"create","filePath":{path},"content":{content},"structuredPatch":[],"originalFile":null}}"#);
        let result = format!("File created successfully at: {}", fresh.path);
        // The written file is read and edited later.
        self.files[number] = fresh;
        ("Write", format!(r#"{{"file_path":{path},"content":{content}}}"#), result, copy)
    }

    /// A call that searches for a word.
    fn search(&self, number: usize) -> Call {
        let file = &self.files[number];
        let word = file.content.split(|c: char| !c.is_ascii_alphanumeric()).find(|word| word.len() > 5).unwrap_or("self");
        let found: Vec<String> = self
            .files
            .iter()
            .flat_map(|file| file.content.lines().enumerate().map(move |(place, line)| (file, place, line)))
            .filter(|(_, _, line)| line.contains(word))
            .take(60)
            .map(|(file, place, line)| format!("{}:{}:{line}", file.path, place + 1))
            .collect();
        let result = found.join("\n");
        let copy = format!(
            r#"{{"mode":"content","numFiles":0,"filenames":[],"content":{},"numLines":{}}}"#,
            quoted(&result),
            found.len()
        );
        ("Grep", format!(r#"{{"pattern":"{word}","output_mode":"content","-n":true}}"#), result, copy)
    }

    /// A compaction: its boundary and its summary.
    fn compact(&mut self) -> io::Result<()> {
        let logical = self.parent.take().unwrap_or_default();
        let tokens = self.tokens;
        self.row(&format!(
            r#""logicalParentUuid":"{logical}","type":"system","subtype":"compact_boundary","content":"Conversation compacted","level":"info","compactMetadata":{{"trigger":"auto","preTokens":{tokens}}}"#
        ))?;
        let summary = self.texts.prose(&mut self.random, 9_000);
        self.tokens = 22_000;
        self.user(&format!(
            r#""isCompactSummary":true,"isVisibleInTranscriptOnly":true,"message":{{"role":"user","content":{}}}"#,
            quoted(&format!("This session is being continued from a previous conversation.\n{summary}"))
        ))
    }

    fn response(&mut self, message: &str, block: &str) -> io::Result<()> {
        let (fresh, output) = (self.random.below(3_000), 40 + self.random.below(600));
        let read = self.tokens.saturating_sub(fresh);
        self.row(&format!(
            r#""message":{{"model":"claude-opus-4-6","id":"{message}","type":"message","role":"assistant","content":[{block}],"stop_reason":"tool_use","stop_sequence":null,"usage":{{"input_tokens":3,"cache_creation_input_tokens":{fresh},"cache_read_input_tokens":{read},"cache_creation":{{"ephemeral_5m_input_tokens":{fresh},"ephemeral_1h_input_tokens":0}},"output_tokens":{output},"service_tier":"standard"}}}},"requestId":"req_{message}","type":"assistant""#
        ))
    }

    fn user(&mut self, members: &str) -> io::Result<()> {
        self.row(&format!(r#""type":"user",{members}"#))
    }

    /// A row of the tree; the next one follows it.
    fn row(&mut self, members: &str) -> io::Result<()> {
        let uuid = self.random.uuid();
        let parent = self.parent.take().map_or("null".to_owned(), |parent| format!("\"{parent}\""));
        let row = format!(
            r#"{{"parentUuid":{parent},"isSidechain":false,{members},"uuid":"{uuid}","timestamp":"{}","userType":"external","entrypoint":"cli","cwd":"/home/dev/shop","sessionId":"{}","version":"2.1.300","gitBranch":"main"}}"#,
            self.time(),
            self.id
        );
        self.parent = Some(uuid);
        self.line(&row)
    }

    fn line(&mut self, row: &str) -> io::Result<()> {
        self.milliseconds += 900;
        self.shares.bytes += row.len() as u64 + 1;
        self.shares.rows.push(row.len() as u32);
        self.out.write_all(row.as_bytes())?;
        self.out.write_all(b"\n")
    }

    fn time(&self) -> String {
        jiff::Timestamp::from_millisecond(self.milliseconds as i64).map(|time| format!("{time:.3}")).unwrap_or_default()
    }
}
