/// The reason why a block was skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kept {
    /// The block is not in the window.
    NotInWindow,
    /// The block is signed: it can only be dropped as a whole.
    Signed,
    /// The block is the first prompt of the session.
    FirstPrompt,
    /// The block is pinned.
    Pinned,
    /// The user focused the block.
    Focused,
    /// The block loads tools, or the client generates its text again at each start.
    Bound,
    /// The block would not get shorter.
    NotShorter,
    /// The block already has the requested form.
    AsItIs,
    /// A rule in the settings protects the block.
    Protected,
    /// The original of the block is not in the store.
    NoOriginal,
    /// The block is in the file of the session that this one is a fork of.
    Inherited,
}

impl Kept {
    /// Returns the reason in words, to follow the number of blocks.
    pub fn reason(self) -> &'static str {
        match self {
            Kept::NotInWindow => "not in the window",
            Kept::Signed => "thinking is signed and stays whole",
            Kept::FirstPrompt => "the first prompt stays as it is",
            Kept::Pinned => "pinned",
            Kept::Focused => "focused",
            Kept::Bound => "the client needs it as it is",
            Kept::NotShorter => "already as short as possible",
            Kept::AsItIs => "already so",
            Kept::Protected => "protected by a rule",
            Kept::NoOriginal => "the original is not in this store",
            Kept::Inherited => "inherited from another session",
        }
    }
}
