/// Why a block was left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kept {
    /// The model does not see it.
    NotInWindow,
    /// It is signed: it can only be left out as a whole.
    Signed,
    /// It is the prompt that began the session.
    FirstPrompt,
    /// It is pinned.
    Pinned,
    /// The user selected it.
    Focused,
    /// It loads tools, or its text is made anew by the client at each start.
    Bound,
    /// Nothing of it could go.
    NotShorter,
    /// It is so already.
    AsItIs,
    /// A rule of the settings protects it.
    Protected,
    /// Its original is not in the store.
    NoOriginal,
    /// It is in the file of the session that this one is a fork of.
    Inherited,
}

impl Kept {
    /// The reason in words, after the number of blocks.
    pub fn reason(self) -> &'static str {
        match self {
            Kept::NotInWindow => "not in the window",
            Kept::Signed => "thinking is signed and stays whole",
            Kept::FirstPrompt => "the first prompt stays as it is",
            Kept::Pinned => "pinned",
            Kept::Focused => "focused",
            Kept::Bound => "the client needs it as it is",
            Kept::NotShorter => "would not be shorter",
            Kept::AsItIs => "already so",
            Kept::Protected => "protected by a rule",
            Kept::NoOriginal => "the original is not in this store",
            Kept::Inherited => "inherited from another session",
        }
    }
}
