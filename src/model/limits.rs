//! The numbers that bound what aperture does, in one place.

/// Bytes read from a session at a time; a row that is longer makes the buffer grow to hold it.
pub const READ_CHUNK_BYTES: usize = 2 << 20;
/// The largest session file of which a command holds the bytes that it read, so that no byte is read twice.
pub const HELD_FILE_BYTES: usize = 16 << 20;
/// Bytes of a file that are looked at to tell its format.
pub const SNIFF_BYTES: usize = 64 << 10;
/// The same where the first row is longer.
pub const SNIFF_LONGEST_BYTES: usize = 32 << 20;
/// Bytes of a span without a border, such as a run of blanks, that are counted as one; each cut moves the count by at most one token.
pub const COUNT_SPAN_BYTES: usize = 16 << 10;
/// Distinct terms that are kept of one block: the terms of longer blocks are a sample from their beginning.
pub const TERMS_PER_BLOCK: usize = 4096;
/// Values named as credentials that are looked for elsewhere in a session.
pub const NAMED_SECRETS: usize = 1000;
/// Keywords that are kept of one block.
pub const KEYWORDS_PER_BLOCK: usize = 6;
/// Characters of the one-line preview of a block.
pub const PREVIEW_CHARACTERS: usize = 120;
/// Characters of the title of a session in the list.
pub const TITLE_CHARACTERS: usize = 200;
/// A term that stands in more blocks than this says nothing about any of them.
pub const COMMON_TERM_BLOCKS: usize = 12;
/// Milliseconds by which Claude Code bridges a missing parent: it takes the newest row that is at most this much older.
pub const BRIDGE_MILLISECONDS: i64 = 5000;
/// Tokens that a `manifest --tier summary` may take.
pub const SUMMARY_TIER_TOKENS: usize = 200;
/// Tokens that a `manifest --tier detailed` may take.
pub const DETAILED_TIER_TOKENS: usize = 500;
/// Bytes of a session that one segment in the cache stands for, if as many were read at once.
pub const CACHE_SEGMENT_BYTES: u64 = 8 << 20;
/// More segments of one session in the cache than its length asks for, before they are put together.
pub const CACHE_SEGMENTS: u64 = 12;
/// Longest file of totals that is read, in bytes: some hundred thousand sessions.
pub const TOTALS_BYTES: usize = 64 << 20;
/// Plans that the cache keeps: those of a preview are used again by what follows it.
pub const CACHE_PLANS: u32 = 16;
/// Lines that are shown of one block that differs, unless all are asked for.
pub const DIFF_LINES: usize = 12;
/// Bytes of a line, between what it and the other one begin and end with, that are compared word by word.
pub const DIFF_WORD_LINE_BYTES: usize = 16 << 10;
/// Bytes of lines of one block that are looked at for changed words.
pub const DIFF_WORD_BYTES: usize = 4 << 20;
