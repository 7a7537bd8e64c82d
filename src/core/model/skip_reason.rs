use super::texts;

texts! {
    /// The reason why a block was skipped.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum SkipReason, reason {
        NotInWindow = "not in the window",
        Signed = "thinking is signed and stays whole",
        FirstPrompt = "the first prompt stays as it is",
        Pinned = "pinned",
        Focused = "focused",
        /// The block loads tools, or the client generates its text again at each start.
        Bound = "the client needs it as it is",
        NotShorter = "already as short as possible",
        AsItIs = "already so",
        Protected = "protected by a rule",
        Instructions = "instructions: only by number",
        PlanInForce = "the list of tasks in force: only by number",
        NoOriginal = "the original is not in this store",
        Inherited = "inherited from another session",
    }
}
