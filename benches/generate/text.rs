//! Text to fill sessions with: this repository's own files, shuffled and renamed so that no two files are alike.

use super::Random;
use std::path::{Path, PathBuf};

/// Name components, so that each generated file has its own names.
const PARTS: &[&str] = &[
    "order", "stock", "basket", "price", "invoice", "parcel", "route", "driver", "ledger", "tax", "coupon", "shelf", "label",
    "scan", "return", "refund", "batch", "quota", "tariff", "vendor", "client", "audit", "export", "import", "digest", "queue",
    "worker", "lease", "token", "grant", "scope", "index", "cursor", "page", "chunk", "frame", "packet", "socket", "signal",
    "probe", "metric",
];

/// The lines that everything is made of.
pub struct Texts {
    /// Code, by file.
    files: Vec<Vec<String>>,
    /// Sentences of comments and documents.
    prose: Vec<String>,
}

/// A file of the made-up project that a session works on.
pub struct SourceFile {
    /// Its path.
    pub path: String,
    /// Its content.
    pub content: String,
}

impl Texts {
    /// Reads the repository's own sources and documents.
    pub fn of_repository() -> Texts {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut paths = Vec::new();
        for folder in ["src", "benches", "tests", "docs"] {
            collect(&root.join(folder), &mut paths);
        }
        for name in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"] {
            paths.push(root.join(name));
        }
        paths.sort();
        let mut texts = Texts { files: Vec::new(), prose: Vec::new() };
        for path in paths {
            let Ok(content) = std::fs::read_to_string(&path) else { continue };
            let lines: Vec<String> = content.lines().map(str::to_owned).collect();
            let document = path.extension().is_some_and(|extension| extension == "md");
            for line in &lines {
                let sentence = line.trim_start().trim_start_matches(['/', '!', '#', '-', '|', ' ']);
                if (document || line.trim_start().starts_with("//")) && sentence.len() > 30 {
                    texts.prose.push(sentence.to_owned());
                }
            }
            if !document && lines.len() > 20 {
                texts.files.push(lines);
            }
        }
        assert!(!texts.files.is_empty() && !texts.prose.is_empty(), "the repository has sources");
        texts
    }

    /// A file of about `bytes`: stretches of several sources, with names of its own.
    pub fn source(&self, random: &mut Random, number: usize, bytes: usize) -> SourceFile {
        let seed = random.next();
        let mut content = String::with_capacity(bytes + 200);
        while content.len() < bytes {
            let file: &Vec<String> = random.pick(&self.files);
            let start = random.below(file.len() as u64) as usize;
            let length = 8 + random.below(40) as usize;
            for line in file.iter().skip(start).take(length) {
                rename(line, seed, &mut content);
                content.push('\n');
            }
        }
        let (folder, name) = (*random.pick::<&str>(PARTS), *random.pick::<&str>(PARTS));
        SourceFile { path: format!("/home/dev/shop/src/{folder}/{name}_{number}.rs"), content }
    }

    /// Sentences of about `bytes`.
    pub fn prose(&self, random: &mut Random, bytes: usize) -> String {
        let seed = random.next();
        let mut text = String::with_capacity(bytes + 100);
        while text.len() < bytes {
            let sentence: &String = random.pick(&self.prose);
            rename(sentence, seed, &mut text);
            text.push_str(if random.chance(20) { "\n\n" } else { " " });
        }
        text
    }

    /// Returns the output of a command: a build, a test run, a listing.
    pub fn output(&self, random: &mut Random, bytes: usize) -> String {
        let mut text = String::with_capacity(bytes + 100);
        while text.len() < bytes {
            let (a, b) = (*random.pick::<&str>(PARTS), *random.pick::<&str>(PARTS));
            let file: &Vec<String> = random.pick(&self.files);
            let line = random.pick(file);
            let n = random.below(900);
            match random.below(6) {
                0 => text += &format!("   Compiling shop-{a} v0.{n}.{} (/home/dev/shop/crates/{a})\n", n % 7),
                1 => text += &format!("test {a}::tests::{b}_{n}_is_kept ... ok\n"),
                2 => text += &format!("-rw-r--r-- 1 dev dev {:>7} Nov {:>2} 14:{:02} {a}_{b}.rs\n", n * 37, 1 + n % 28, n % 60),
                3 => text += &format!("src/{a}/{b}.rs:{n}:{}: warning: unused variable: `{a}_{b}`\n", n % 80),
                4 => {
                    text += &format!(
                        "2026-11-{:02}T10:{:02}:07.{n:03}Z INFO {a}: {b} took {n} ms id={:08x}\n",
                        1 + n % 28,
                        n % 60,
                        random.next() as u32
                    );
                }
                _ => rename(line, n, &mut text),
            }
            if !text.ends_with('\n') {
                text.push('\n');
            }
        }
        text
    }
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, paths);
        } else if path.extension().is_some_and(|extension| extension == "rs" || extension == "md") {
            paths.push(path);
        }
    }
}

/// Copies a line with parts of its longer names replaced; equal names in a file are replaced in the same way.
fn rename(line: &str, seed: u64, into: &mut String) {
    let mut rest = line;
    while let Some(start) = rest.find(|c: char| c.is_ascii_lowercase()) {
        let end = rest[start..].find(|c: char| !c.is_ascii_lowercase()).map_or(rest.len(), |length| start + length);
        into.push_str(&rest[..start]);
        let word = &rest[start..end];
        let hash = word.bytes().fold(seed | 1, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
        let hash = hash ^ hash >> 29;
        into.push_str(if word.len() > 4 && hash.is_multiple_of(3) { PARTS[(hash >> 8) as usize % PARTS.len()] } else { word });
        rest = &rest[end..];
    }
    into.push_str(rest);
}
