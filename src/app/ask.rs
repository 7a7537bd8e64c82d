use super::Env;
use std::io::{self, BufRead, IsTerminal, Write};

impl Env {
    /// Asks the user a question that is answered by yes or no, on the terminal; `None` if there is no terminal, or no answer.
    pub fn ask(&self, question: &str) -> Option<bool> {
        if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
            return None;
        }
        write!(io::stderr().lock(), "{question} [y/n] ").ok()?;
        let mut answer = String::new();
        io::stdin().lock().read_line(&mut answer).ok()?;
        match answer.trim().to_lowercase().as_str() {
            "y" | "yes" => Some(true),
            "n" | "no" => Some(false),
            _ => None,
        }
    }
}
