//! `aperture complete`: prints the candidates for a word of a command line, for the completion scripts.

mod run;

pub use run::run;

/// Arguments of `complete`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
pub struct Arguments {
    /// The words after the name of the program, up to the incomplete one at the cursor
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub words: Vec<String>,
}

/// The kind of the word at the cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completed {
    /// The id of a session.
    Session,
    /// A selector of blocks.
    Selector,
    /// A selector of a turn or a block.
    Turn,
    /// The name of a command or a topic.
    Topic,
}

impl Arguments {
    /// Returns the incomplete word, without the quotation marks of the shell.
    pub fn last(&self) -> String {
        self.words.last().map(|word| word.trim_start_matches(['\'', '"']).replace('\\', "")).unwrap_or_default()
    }

    /// Returns the value of `-s` or `--session` in the words.
    pub fn session(&self) -> Option<&str> {
        let place = self.words.iter().position(|word| word == "-s" || word == "--session")?;
        self.words.get(place + 1).filter(|_| place + 2 < self.words.len()).map(String::as_str)
    }

    /// Returns the kind of the word at the cursor; `None` if the script knows the candidates itself.
    pub fn kind(&self) -> Option<Completed> {
        let (last, before) = self.words.split_last()?;
        match before.last().map(String::as_str) {
            Some("-s" | "--session") => return Some(Completed::Session),
            Some("--at" | "--keep-from") => return Some(Completed::Turn),
            _ if last.starts_with('-') => return None,
            Some("help") if before.len() == 1 => return Some(Completed::Topic),
            _ => {}
        }
        let name = before.iter().find(|word| super::request::Request::has(word))?;
        let definition = super::request::Request::arguments_of(name)?;
        let options = || definition.get_arguments().filter(|argument| !argument.is_positional());
        let is_named = |argument: &clap::Arg, word: &str| {
            let short = argument.get_short().is_some_and(|short| word == format!("-{short}"));
            short || argument.get_long().is_some_and(|long| word.strip_prefix("--") == Some(long))
        };
        let takes_value = |word: &String| options().any(|option| is_named(option, word) && !super::json::is_flag(option));
        if before.last().is_some_and(takes_value) {
            return None;
        }
        let mut positions = definition.get_positionals().map(|argument| argument.get_id().as_str());
        positions.find_map(|id| match id {
            "selector" => Some(Completed::Selector),
            "named" => Some(Completed::Session),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_tell_what_is_completed() {
        let kind = |line: &str| Arguments { words: line.split(' ').map(str::to_owned).collect() }.kind();
        for (line, expected) in [
            ("-s ", Some(Completed::Session)),
            ("blocks -s 66", Some(Completed::Session)),
            ("blocks ", Some(Completed::Selector)),
            ("archive 12 to", Some(Completed::Selector)),
            ("archive 12 --reason ", None),
            ("compress --stale --level ", None),
            ("compress --st", None),
            ("fork --at ", Some(Completed::Turn)),
            ("watch ", Some(Completed::Session)),
            ("help ", Some(Completed::Topic)),
            ("log ", Some(Completed::Session)),
            ("gc ", None),
            ("", None),
        ] {
            assert_eq!(kind(line), expected, "{line}");
        }
        let words = |line: &str| Arguments { words: line.split(' ').map(str::to_owned).collect() };
        assert_eq!(words("-s 66 blocks 'tool\\(R").session(), Some("66"));
        assert_eq!(words("blocks 'tool\\(R").last(), "tool(R");
        assert_eq!(words("-s 66").session(), None);
    }
}
