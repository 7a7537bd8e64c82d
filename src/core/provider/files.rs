//! The files that a shell command names.

use crate::model::paths::is_windows_text;
use crate::text::lists::{word_lists, word_sets};
use crate::text::names::{SEPARATORS, file_name};
use crate::text::shell::{Part, Word, parts};
use std::borrow::Cow;

word_sets! { "files.txt": EXTENSIONS }
word_lists! { "files.txt": NAMES, PREFIXES, MESSAGES }

/// Maximum length of a path, and maximum number of files of one command.
const PATH_BYTES: usize = 256;
const FILES: usize = 24;
/// Substitutions that are followed into each other.
const DEPTH: usize = 3;

/// Returns the files that a command names, in order, relative to `directory` if that is not empty. Changes of directory and variables
/// that the command sets are followed; here-documents and quoted messages are skipped. On Windows, known by the directory or by
/// the lack of slashes, a backslash before a name separates it.
pub fn of_command(command: &str, directory: &str) -> Vec<String> {
    let is_windows = is_windows_text(directory) || command.contains('\\') && !command.contains('/');
    let slashed = if is_windows { Cow::Owned(with_slashes(command)) } else { Cow::Borrowed(command) };
    let mut shell = Shell { directory: directory.trim_end_matches(SEPARATORS).to_owned(), ..Shell::default() };
    shell.follow(&slashed, DEPTH);
    let mut found = shell.found;
    if is_windows {
        found.iter_mut().for_each(|path| *path = path.replace('/', r"\"));
    }
    found
}

/// Replaces the backslashes before names by slashes.
fn with_slashes(command: &str) -> String {
    let mut characters = command.chars().peekable();
    let mut text = String::with_capacity(command.len());
    while let Some(character) = characters.next() {
        let separates = character == '\\' && characters.peek().is_some_and(|next| next.is_alphanumeric() || *next == '_');
        text.push(if separates { '/' } else { character });
    }
    text
}

/// The state of a shell, as far as it decides about paths.
#[derive(Default)]
struct Shell {
    directory: String,
    variables: Vec<(String, String)>,
    found: Vec<String>,
}

impl Shell {
    /// Follows a command; substituted commands are followed in their place, down to `depth`.
    fn follow(&mut self, command: &str, depth: usize) {
        let mut outer: Vec<String> = Vec::new();
        let mut simple: Vec<Word> = Vec::new();
        for part in parts(command) {
            match part {
                Part::Word(word) | Part::Target(word) => simple.push(word),
                Part::Function(_) => {}
                Part::End(_) => self.run(&std::mem::take(&mut simple), depth),
                Part::Open => {
                    self.run(&std::mem::take(&mut simple), depth);
                    outer.push(self.directory.clone());
                }
                Part::Close => {
                    self.run(&std::mem::take(&mut simple), depth);
                    self.directory = outer.pop().unwrap_or(std::mem::take(&mut self.directory));
                }
            }
        }
        self.run(&simple, depth);
    }

    /// Follows the commands that are substituted in a word, each in a shell of its own, and adds the files in the rest of it.
    fn follow_word(&mut self, word: &Word, depth: usize) {
        let mut text = word.text.clone();
        if depth > 0 {
            for substituted in &word.substitutions {
                let directory = self.directory.clone();
                self.follow(substituted, depth - 1);
                self.directory = directory;
                text = text.replacen(&**substituted, "", 1);
            }
        }
        self.add_files(&self.expand(&text));
    }

    /// Follows a simple command: its assignments, a change of directory, the files in its arguments.
    fn run(&mut self, words: &[Word], depth: usize) {
        let start = words.iter().position(|word| !PREFIXES.contains(&&*word.text)).unwrap_or(words.len());
        let mut words = &words[start..];
        while let Some((word, rest)) = words.split_first()
            && let Some((name, value)) = assignment(&word.text)
        {
            let value = self.expand(value);
            self.follow_word(word, depth);
            self.variables.retain(|(known, _)| known != name);
            self.variables.push((name.to_owned(), value));
            words = rest;
        }
        let Some((name, arguments)) = words.split_first() else { return };
        if matches!(&*name.text, "cd" | "pushd") {
            let target = arguments.iter().map(|word| self.expand(&word.text)).find(|word| !word.starts_with('-'));
            if let Some(target) = target.filter(|target| !target.contains(['$', '`']) && !target.is_empty()) {
                self.directory = join(&self.directory, &target);
            }
            return;
        }
        let directory = self.directory.clone();
        self.follow_word(name, depth);
        let prints = matches!(&*name.text, "echo" | "printf");
        let mut option = "";
        for word in arguments {
            let is_message =
                prints || MESSAGES.contains(&option) || MESSAGES.iter().any(|message| is_option(&word.text, message));
            if option == "-C" {
                self.directory = join(&directory, &self.expand(&word.text));
            } else if !(is_message && word.is_text) {
                self.follow_word(word, depth);
            }
            option = &word.text;
        }
        self.directory = directory;
    }

    /// Replaces the variables that the command has set.
    fn expand(&self, text: &str) -> String {
        let mut expanded = text.to_owned();
        if text.contains('$') {
            for (name, value) in &self.variables {
                expanded = expanded.replace(&format!("${{{name}}}"), value);
                // A longer name that begins with this one is another variable.
                let is_end = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
                let mut parts = expanded.split(&format!("${name}")).map(str::to_owned).collect::<Vec<_>>().into_iter();
                let first = parts.next().unwrap_or_default();
                expanded = parts.fold(first, |start, rest| match is_end(&rest) {
                    true => start + value + &rest,
                    false => format!("{start}${name}{rest}"),
                });
            }
        }
        expanded
    }

    fn add_files(&mut self, word: &str) {
        // The colon of a drive does not end a path.
        let (mut drive, rest) = if is_windows_text(word) { word.split_at(2) } else { ("", word) };
        for word in rest.split(|c: char| c.is_whitespace() || "'\"`;|&<>(),:=".contains(c)) {
            let word = word.trim_end_matches(['.', '\\']);
            let drive = std::mem::take(&mut drive);
            if self.found.len() < FILES && is_file(word) {
                let path = if drive.is_empty() { join(&self.directory, word) } else { format!("{drive}{word}") };
                if !self.found.contains(&path) {
                    self.found.push(path);
                }
            }
        }
    }
}

/// Returns true if a word is an option with its value: `--body=…`.
fn is_option(word: &str, option: &str) -> bool {
    option.starts_with("--") && word.strip_prefix(option).is_some_and(|rest| rest.starts_with('='))
}

fn assignment(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once('=')?;
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && !name.starts_with(|c: char| c.is_ascii_digit());
    (plain && !name.is_empty()).then_some((name, value))
}

/// Returns a path below a directory; an absolute path as it is.
pub fn join(directory: &str, path: &str) -> String {
    let path = path.strip_prefix("./").unwrap_or(path);
    if directory.is_empty() || path.starts_with(['/', '~']) {
        return path.to_owned();
    }
    format!("{}/{path}", directory.trim_end_matches('/'))
}

/// Returns true if a word names a file: a known name, or a stem with an extension.
pub fn is_file(word: &str) -> bool {
    if word.len() < 3 || word.len() > PATH_BYTES || word.starts_with('-') || word.contains("//") {
        return false;
    }
    if word.contains(|c: char| c.is_whitespace() || "*?$|<>(){}[]=,;:'\"`\\%^!".contains(c)) {
        return false;
    }
    let name = file_name(word);
    if NAMES.contains(&name) {
        return true;
    }
    // The end of a name, as in `grep -v _test.go`.
    if name.starts_with("_test.") || name.starts_with("_spec.") {
        return false;
    }
    name.rsplit_once('.')
        .is_some_and(|(stem, extension)| !stem.is_empty() && EXTENSIONS.contains(&*extension.to_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_names_its_files() {
        for (command, directory, expected) in [
            ("cat src/a.rs | head", "", &["src/a.rs"] as &[&str]),
            ("cd /w/shop && rg total src/a.rs ./b.toml", "", &["/w/shop/src/a.rs", "/w/shop/b.toml"]),
            ("cd sub; go test ./...", "/w", &[]),
            ("python3 -c 'json.load(x); re.sub(a)'", "", &[]),
            ("cat > a.py <<'EOF'\nopen('b.py')\nEOF\npython3 a.py c.py", "/w", &["/w/a.py", "/w/c.py"]),
            ("cat {a,b}_test.go src/*.rs $HOME/x.rs --config=c.toml d.rs:12", "", &["c.toml", "d.rs"]),
            ("curl https://example.com/x.js; ls *.rs; make -f Makefile", "", &["Makefile"]),
            ("pwd && cd pkg && sed -n '1,5p' main.go; cat ../b.go", "/w", &["/w/pkg/main.go", "/w/pkg/../b.go"]),
            ("(cd pkg && cat a.go) && cat b.go", "/w", &["/w/pkg/a.go", "/w/b.go"]),
            ("R=/x/y; P=\"$R/z\"; cat $R/a.go ${P}/b.go $RR/c.go", "/w", &["/x/y/a.go", "/x/y/z/b.go"]),
            ("git -C sub show HEAD:a.go && cat b.go", "/w", &["/w/sub/a.go", "/w/b.go"]),
            ("git commit -m \"ci: move a.yml\n\nand 'b.yml' to c.yml\" d.yml", "/w", &["/w/d.yml"]),
            ("gh pr create --title=\"x a.md\" --body 'see b.md' --body-file c.md", "", &["c.md"]),
            ("echo \"built a.rs\" > b.rs # and c.rs, don't", "", &["b.rs"]),
            ("ls | grep -v _test.go", "", &[]),
            ("for f in a.rs b.rs; do cat \"$f\"; done", "", &["a.rs", "b.rs"]),
            ("cat \"x.rs", "", &["x.rs"]),
            ("n=$((1<<8)); cat a.rs\ncat b.rs", "", &["a.rs", "b.rs"]),
            ("echo $'it\\'s src/x.rs' y.rs", "", &["y.rs"]),
            ("grep -n x $'it\\'s src/x.rs'", "", &["src/x.rs"]),
            ("cat $(cd sub && ls a.rs) \"$(head b.rs)\" 2> err.log", "/w", &["/w/sub/a.rs", "/w/b.rs", "/w/err.log"]),
            ("diff <(sort a.txt) b.txt &> c.log", "", &["a.txt", "b.txt", "c.log"]),
            (r"Get-Content src\a.ts; gc .\b.ts; type C:\w\c.ts", r"C:\w", &[r"C:\w\src\a.ts", r"C:\w\b.ts", r"C:\w\c.ts"]),
            (r"rg -n '\bx\.ts' src/d.ts C:/v/e.ts:12", r"C:\w", &[r"C:\w\src\d.ts", r"C:\v\e.ts"]),
            ("cat C:/v/e.ts", "", &["C:/v/e.ts"]),
            (r"type src\a.ts", "", &[r"src\a.ts"]),
        ] {
            assert_eq!(of_command(command, directory), expected, "{command}");
        }
    }
}
