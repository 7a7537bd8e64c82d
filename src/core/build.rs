//! Makes the tables of the token vocabulary (`engine/vocabulary`).

#![expect(clippy::disallowed_methods, reason = "cargo names the directory of the tables in the environment, and takes files")]

#[path = "engine/vocabulary/bucket.rs"]
mod bucket;
#[path = "engine/vocabulary/class.rs"]
mod class;

use anyhow::{Context as _, Result, ensure};
use regex_syntax::hir::{Class, HirKind};
use std::env::var;
use std::path::Path;

/// The character classes of o200k's expression, without [`class::OTHER`].
const CLASSES: [(&str, u8); 7] = [
    (r"[\p{Lu}\p{Lt}]", class::UPPER),
    (r"\p{Ll}", class::LOWER),
    (r"[\p{Lm}\p{Lo}]", class::CASELESS),
    (r"\p{M}", class::MARK),
    (r"\p{N}", class::NUMBER),
    (r"[\s--[\r\n]]", class::SPACE),
    (r"[\r\n]", class::NEWLINE),
];

fn main() -> Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=engine/vocabulary/class.rs");
    println!("cargo::rerun-if-changed=engine/vocabulary/bucket.rs");
    let directory = var("OUT_DIR")?;
    let (tokens, buckets) = tokens()?;
    let (pages, classes) = classes()?;
    for (name, table) in [("tokens", tokens), ("buckets", buckets), ("pages", pages), ("classes", classes)] {
        std::fs::write(Path::new(&directory).join(name), table).with_context(|| format!("writing the table of {name}"))?;
    }
    Ok(())
}

/// All tokens by rank, each after its length, and the buckets with the place of each.
fn tokens() -> Result<(Vec<u8>, Vec<u8>)> {
    let vocabulary = tiktoken::get_encoding("o200k_base").context("the vocabulary o200k_base")?;
    let mut tokens = Vec::new();
    let mut buckets = vec![bucket::EMPTY; bucket::BUCKETS];
    for rank in 0..u32::try_from(vocabulary.vocab_size())? {
        let token = vocabulary.decode(&[rank]);
        let place = u32::try_from(tokens.len())?;
        ensure!(!token.is_empty() && place < (1 << bucket::PLACE_BITS) - 1, "token {rank} at {place} has no room");
        let (mut at, tag) = bucket::bucket_and_tag(bucket::hash(&token, bucket::ends(&token)));
        while buckets[at] != bucket::EMPTY {
            at = (at + 1) % bucket::BUCKETS;
        }
        buckets[at] = tag | place;
        tokens.push(u8::try_from(token.len())?);
        tokens.extend(token);
    }
    Ok((tokens, buckets.into_iter().flat_map(u32::to_le_bytes).collect()))
}

/// The page of each group of characters, and the character classes of each page.
fn classes() -> Result<(Vec<u8>, Vec<u8>)> {
    let mut all = vec![class::OTHER; char::MAX as usize + 1];
    for (expression, class) in CLASSES {
        let parsed = regex_syntax::parse(expression)?;
        let HirKind::Class(Class::Unicode(characters)) = parsed.kind() else {
            anyhow::bail!("{expression} is not a class of characters")
        };
        for range in characters.ranges() {
            all[range.start() as usize..=range.end() as usize].fill(class);
        }
    }
    let (mut pages, mut known) = (Vec::new(), Vec::new());
    for page in all.chunks(class::PAGE_CHARACTERS) {
        let number = known.iter().position(|known| *known == page).unwrap_or_else(|| {
            known.push(page);
            known.len() - 1
        });
        pages.push(u8::try_from(number)?);
    }
    Ok((pages, known.concat()))
}
