/// The reason why a block was skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SkipReason {
    NotInWindow,
    Signed,
    FirstPrompt,
    Pinned,
    Focused,
    /// The block loads tools, or the client generates its text again at each start.
    Bound,
    NotShorter,
    AsItIs,
    Protected,
    Instructions,
    NoOriginal,
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
