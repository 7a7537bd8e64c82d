//! Character classes of the rule that cuts a text into spans. `build.rs` makes the table of all characters.

/// A capital letter: Lu, Lt.
pub const UPPER: u8 = 1;
/// A small letter: Ll.
pub const LOWER: u8 = 2;
/// A letter that is neither: Lm, Lo.
pub const CASELESS: u8 = 4;
/// A mark on the character before it: M.
pub const MARK: u8 = 8;
/// A digit or another number: N.
pub const NUMBER: u8 = 16;
/// White space that ends no line.
pub const SPACE: u8 = 32;
/// A line feed or a carriage return.
pub const NEWLINE: u8 = 64;
/// Everything else.
pub const OTHER: u8 = 128;

/// Characters of one page of the table; equal pages are stored once.
pub const PAGE_CHARACTERS: usize = 128;
