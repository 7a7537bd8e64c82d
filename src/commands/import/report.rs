use crate::output::{Report, Style, plural, printable};
use crate::text::shell::quoted_word;
use schemars::JsonSchema;
use serde::Serialize;

/// The result of an import.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ImportReport {
    /// Session id.
    pub session: String,
    /// Session file that the log belongs to now.
    pub path: String,
    /// Relation to the known log: `new`, `same`, `newer`, `older` or `other`.
    pub relation: &'static str,
    /// Number of operations in the log.
    pub operations: usize,
    /// Number of changes in force.
    pub in_force: usize,
    /// Number of logged values that are missing from the session; undo skips these.
    pub departed: usize,
    /// Number of logged values.
    pub values: usize,
    /// The shortest name that selects it.
    #[serde(skip)]
    pub named: String,
}

impl Report for ImportReport {
    const SCHEMA: &str = "aperture.import/1";

    fn text(&self, _: &Style) -> String {
        let what = format!("{} and {}", plural(self.operations, "operation"), plural(self.values, "value"));
        let path = printable(&self.path);
        let how = match self.relation {
            "same" => format!("the store already has the log of {path}: {what}, all complete"),
            "older" => format!("the store has a newer log of {path} and keeps it: {what}, all complete"),
            "other" => format!("imported {what} for {path}, replacing another log"),
            _ => format!("imported {what} for {path}"),
        };
        let session = quoted_word(&self.named);
        let next = match (self.departed, self.in_force) {
            (0, 0) => "all of its operations are undone".to_owned(),
            (0, _) => format!("its operations can be undone: aperture undo -s {session}"),
            (departed, _) => {
                format!(
                    "the session file does not contain {} of it; to list them: aperture verify -s {session}",
                    plural(departed, "value")
                )
            }
        };
        format!("{how}\n{next}\n")
    }
}
