use super::{Report, Style};

/// An error, as a program reads it.
#[derive(Clone, Debug)]
pub struct ErrorReport {
    /// The failed action.
    pub message: String,
    /// The causes, the nearest first.
    pub causes: Vec<String>,
    /// Next steps for the user.
    pub hints: Vec<String>,
    /// The exit code of the program.
    pub exit_code: u8,
}

impl Report for ErrorReport {
    const SCHEMA: &str = "aperture.error/1";

    fn text(&self, _style: &Style) -> String {
        format!("error: {}\n", self.message)
    }
}
