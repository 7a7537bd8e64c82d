/// The reason why a block was skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SkipReason {
    NotInWindow,
    /// The block is signed: it can only be dropped as a whole.
    Signed,
    /// The block is the first prompt of the session.
    FirstPrompt,
    Pinned,
    Focused,
    /// The block loads tools, or the client generates its text again at each start.
    Bound,
    /// The block would not get shorter.
    NotShorter,
    /// The block already has the requested form.
    AsItIs,
    /// A rule in the settings protects the block.
    Protected,
    /// The block instructs the model, and was not selected by its number.
    Instructions,
    /// The original of the block is not in the store.
    NoOriginal,
    /// The block is in the file of the session that this one is a fork of.
    Inherited,
}

impl SkipReason {
    /// Returns the reason in words, to follow the number of blocks.
    pub fn reason(self) -> &'static str {
        match self {
            SkipReason::NotInWindow => "not in the window",
            SkipReason::Signed => "thinking is signed and stays whole",
            SkipReason::FirstPrompt => "the first prompt stays as it is",
            SkipReason::Pinned => "pinned",
            SkipReason::Focused => "focused",
            SkipReason::Bound => "the client needs it as it is",
            SkipReason::NotShorter => "already as short as possible",
            SkipReason::AsItIs => "already so",
            SkipReason::Protected => "protected by a rule",
            SkipReason::Instructions => "instructions: only by number",
            SkipReason::NoOriginal => "the original is not in this store",
            SkipReason::Inherited => "inherited from another session",
        }
    }
}
