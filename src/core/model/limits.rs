//! Limits and times that several layers share.

/// An hour.
pub const HOUR_MILLISECONDS: i64 = 3_600_000;
/// A day.
pub const DAY_MILLISECONDS: i64 = 24 * HOUR_MILLISECONDS;

/// Bytes read from a session at a time; the buffer grows for a longer row.
pub const READ_CHUNK_BYTES: usize = 2 << 20;
/// The largest session file of which a command holds the bytes that it read, so that no byte is read twice.
pub const HELD_FILE_BYTES: usize = 16 << 20;
/// Bytes of a file that are read to detect its format.
pub const SNIFF_BYTES: usize = 64 << 10;
/// The same limit if the first row is longer.
pub const SNIFF_LONGEST_BYTES: usize = 32 << 20;
/// Bytes of a span without a border (a run of blanks) that are counted as one; each split changes the count by at most one token.
pub const COUNT_SPAN_BYTES: usize = 16 << 10;
/// Distinct terms that are stored of one block: for longer blocks, a sample from the beginning.
pub const TERMS_PER_BLOCK: usize = 4096;
/// Values named as credentials that are searched for elsewhere in a session.
pub const NAMED_SECRETS: usize = 1000;
/// Keywords that are stored of one block.
pub const KEYWORDS_PER_BLOCK: usize = 6;
/// Characters of the one-line preview of a block.
pub const PREVIEW_CHARACTERS: usize = 120;
/// Characters of the title of a session in the list.
pub const TITLE_CHARACTERS: usize = 200;
/// A term in more blocks than this is too common to be a reference.
pub const COMMON_TERM_BLOCKS: usize = 12;
/// Milliseconds by which Claude Code bridges a missing parent: it uses the newest row that is at most this much older.
pub const BRIDGE_MILLISECONDS: i64 = 5000;
/// Maximum tokens of `manifest --tier summary`.
pub const SUMMARY_TIER_TOKENS: usize = 200;
/// Maximum tokens of `manifest --tier detailed`.
pub const DETAILED_TIER_TOKENS: usize = 500;
/// Bytes of a session in one segment of the cache, if as many were read at once.
pub const CACHE_SEGMENT_BYTES: u64 = 8 << 20;
/// Extra segments of one session in the cache, beyond those that its length needs, before they are merged.
pub const CACHE_SEGMENTS: u64 = 12;
/// Maximum size of a file of totals or bills that is read, in bytes.
pub const TOTALS_BYTES: usize = 64 << 20;
/// Plans in the cache: the plan of a preview is used again by the command after it.
pub const CACHE_PLANS: u32 = 16;
/// Lines that are printed of one changed block, unless all are requested.
pub const DIFF_LINES: usize = 12;
/// Bytes of a line, between the common prefix and suffix, that are compared word by word.
pub const DIFF_WORD_LINE_BYTES: usize = 16 << 10;
/// Bytes of lines of one block that are searched for changed words.
pub const DIFF_WORD_BYTES: usize = 4 << 20;
