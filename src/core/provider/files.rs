//! The files that a shell command names.

use crate::model::paths::is_windows_text;
use crate::text::command_heads::is_wrapper;
use crate::text::lists::{word_lists, word_sets};
use crate::text::names::{SEPARATORS, file_name};
use crate::text::shell::{Operator, Part, Word, parts};
use std::borrow::Cow;

word_sets! { "files.txt": EXTENSIONS }
word_lists! { "files.txt": NAMES, MESSAGES, PATTERNS, SEARCHERS, SEARCH_VALUES, SHELLS, OTHER_ARGUMENTS }

/// Maximum length of a path, and maximum number of files of one command.
const PATH_BYTES: usize = 256;
const FILES: usize = 24;
/// Variables whose values are known at a time, and bytes by which their values lengthen a text: each can double the one before it.
const VARIABLES: usize = 64;
const VALUE_BYTES: usize = FILES * PATH_BYTES;
/// Substitutions that are followed into each other.
const DEPTH: usize = 3;
/// In the place of a text that is unknown, such as the output of a command; no path has it.
const UNKNOWN: &str = "$";

/// Returns the files that a command names, in order, relative to `directory` if that is not empty. Changes of directory and variables
/// that the command sets are followed; here-documents, messages, patterns, names that a substitution begins, and arguments of programs
/// that take no files are skipped. On Windows, known by the directory or by the lack of slashes, a backslash before a name separates it.
pub fn of_command(command: &str, directory: &str) -> Vec<String> {
    let (slashed, is_windows) = slashed(command, directory);
    let mut shell = Shell { directory: directory.trim_end_matches(SEPARATORS).to_owned(), ..Shell::default() };
    shell.follow(&slashed, DEPTH);
    let mut found = shell.found;
    if is_windows {
        found.iter_mut().for_each(|path| *path = path.replace('/', r"\"));
    }
    found
}

/// Returns a command as a shell with slashes reads it, and true if its separators were backslashes.
pub(super) fn slashed<'a>(command: &'a str, directory: &str) -> (Cow<'a, str>, bool) {
    let is_windows = match directory {
        "" => command.contains('\\') && !command.contains('/'),
        _ => is_windows_text(directory),
    };
    (if is_windows { with_slashes(command).into() } else { command.into() }, is_windows)
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
    /// Names with their values: several of the variable of a loop.
    variables: Vec<(String, Vec<String>)>,
    found: Vec<String>,
}

impl Shell {
    /// Follows a command; substituted commands are followed in their place, down to `depth`.
    fn follow(&mut self, command: &str, depth: usize) {
        let mut outer: Vec<String> = Vec::new();
        let (mut simple, mut targets): (Vec<Word>, Vec<Word>) = Default::default();
        for part in parts(command).into_iter().chain([Part::End(Operator::Then)]) {
            match part {
                Part::Word(word) => simple.push(word),
                Part::Target(word) => targets.push(word),
                Part::Function(_) => {}
                Part::End(_) | Part::Open | Part::Close => {
                    self.run(&std::mem::take(&mut simple), depth);
                    std::mem::take(&mut targets).iter().for_each(|word| self.follow_word(word, depth));
                    if part == Part::Open {
                        outer.push(self.directory.clone());
                    } else if part == Part::Close {
                        self.directory = outer.pop().unwrap_or(std::mem::take(&mut self.directory));
                    }
                }
            }
        }
    }

    /// Follows the commands that are substituted in a word, each in a shell of its own, and adds the files in the rest of it.
    fn follow_word(&mut self, word: &Word, depth: usize) {
        self.follow_substitutions(word, depth);
        for text in self.expand(&known(word)) {
            // A text of several words and code name the files in their quotation marks.
            if word.is_text || text.contains('(') {
                literals(&text).into_iter().for_each(|literal| self.add_files(literal));
            } else {
                self.add_files(&text);
            }
        }
    }

    fn follow_substitutions(&mut self, word: &Word, depth: usize) {
        for substituted in word.substitutions.iter().filter(|_| depth > 0) {
            let directory = self.directory.clone();
            self.follow(substituted, depth - 1);
            self.directory = directory;
        }
    }

    /// Follows a simple command: its assignments, a change of directory, the files in its arguments.
    fn run(&mut self, words: &[Word], depth: usize) {
        let is_before = |word: &Word| is_wrapper(&word.text) || matches!(&*word.text, "export" | "local" | "}");
        let start = words.iter().position(|word| !is_before(word)).unwrap_or(words.len());
        let mut words = &words[start..];
        while let Some((word, rest)) = words.split_first()
            && let Some((name, _)) = assignment(&word.text)
        {
            self.follow_substitutions(word, depth);
            self.assign(name, self.expand(&known(word)[name.len() + 1..]));
            words = rest;
        }
        match words {
            [] => {}
            [name, arguments @ ..] if matches!(&*name.text, "cd" | "pushd") => {
                let is_place = |word: &&Word| !word.text.starts_with('-') || word.text == "-";
                let place = arguments.iter().find(is_place).and_then(|word| self.expand(&known(word)).pop());
                if let Some(place) = place.filter(|place| !place.is_empty()) {
                    let is_known = !place.contains(['$', '`']) && place != "-";
                    self.directory = if is_known { join(&self.directory, &place) } else { UNKNOWN.to_owned() };
                }
            }
            [name, variable, _, values @ ..] if name.text == "for" => {
                values.iter().for_each(|value| self.follow_substitutions(value, depth));
                let values = values.iter().flat_map(|value| self.expand(&known(value))).take(FILES).collect();
                self.assign(&variable.text, values);
            }
            [name, arguments @ ..] => {
                self.follow_word(name, depth);
                self.arguments(&name.text, arguments, depth);
            }
        }
    }

    fn assign(&mut self, name: &str, values: Vec<String>) {
        self.variables.retain(|(known, _)| known != name);
        if self.variables.len() >= VARIABLES {
            self.variables.remove(0);
        }
        self.variables.push((name.to_owned(), values));
    }

    fn arguments(&mut self, program: &str, arguments: &[Word], depth: usize) {
        let directory = self.directory.clone();
        let is_searcher = |word: &str| SEARCHERS.contains(&file_name(word));
        let takes_files = !OTHER_ARGUMENTS.contains(&file_name(program));
        let mut is_shell = SHELLS.contains(&file_name(program));
        // The first argument of a searcher is a pattern, unless an option has one.
        let (mut searches, mut is_due) = (is_searcher(program), is_searcher(program));
        let mut option = "";
        for word in arguments {
            let text = &*word.text;
            let is_any = |names: &[&str]| names.contains(&option) || names.iter().any(|name| is_option(text, name));
            let is_message = is_any(&MESSAGES) && word.is_text;
            let is_pattern = is_any(&PATTERNS) || searches && (SEARCH_VALUES.contains(&option) || is_expression(option));
            let is_first = is_due && !is_pattern && !text.starts_with('-') && !text.is_empty() && option != "-f";
            is_due &= !is_first && !is_expression(text) && text != "-f";
            if is_message || is_pattern || is_first {
                self.follow_substitutions(word, depth);
            } else if option == "-C" {
                self.directory = join(&directory, &self.expand(&known(word)).concat());
            } else if is_shell && word.is_text && option.starts_with('-') && option.ends_with('c') && depth > 0 {
                self.follow(text, depth - 1);
            } else if is_searcher(text) {
                (searches, is_due) = (true, true);
            } else if takes_files || text.starts_with('-') || option.starts_with('-') {
                self.follow_word(word, depth);
            } else {
                self.follow_substitutions(word, depth);
            }
            is_shell |= SHELLS.contains(&file_name(text));
            option = text;
        }
        self.directory = directory;
    }

    /// Replaces the variables that the command has set. There are several texts if one of them has several values.
    fn expand(&self, text: &str) -> Vec<String> {
        let mut texts = vec![text.to_owned()];
        for (name, values) in self.variables.iter().filter(|_| text.contains('$')) {
            let all = texts.iter().flat_map(|text| values.iter().map(|value| with_value(text, name, value)));
            let longer: Vec<String> = all.take(FILES).collect();
            if longer.iter().any(|longer| longer.len() > text.len() + VALUE_BYTES) {
                break;
            }
            texts = longer;
            texts.dedup();
        }
        texts
    }

    fn add_files(&mut self, word: &str) {
        // The colon of a drive does not end a path.
        let (mut drive, rest) = if is_windows_text(word) { word.split_at(2) } else { ("", word) };
        for word in rest.split(|c: char| c.is_whitespace() || "'\"`;|&<>(),:=".contains(c)) {
            let word = word.trim_end_matches(['.', '\\']);
            let drive = std::mem::take(&mut drive);
            if self.found.len() < FILES && is_file(word) {
                let path = if drive.is_empty() { join(&self.directory, word) } else { format!("{drive}{word}") };
                if !path.starts_with(UNKNOWN) && !self.found.contains(&path) {
                    self.found.push(path);
                }
            }
        }
    }
}

/// Returns a text in which a variable is replaced by its value. A longer name that begins with its name is another variable.
fn with_value(text: &str, name: &str, value: &str) -> String {
    let text = text.replace(&format!("${{{name}}}"), value);
    let is_end = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    let mark = format!("${name}");
    let mut parts = text.split(&mark);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |start, rest| match is_end(rest) {
        true => start + value + rest,
        false => start + &mark + rest,
    })
}

/// Returns the text of a word, in which the outputs of commands are unknown.
fn known(word: &Word) -> String {
    let (mut text, mut rest) = (String::new(), &*word.text);
    for substituted in &word.substitutions {
        if let Some((before, after)) = rest.split_once(&**substituted) {
            text += before;
            rest = after;
        }
    }
    (text + rest).replace("$()", UNKNOWN).replace("``", UNKNOWN)
}

/// Returns the quoted texts in a script that can name files: those with a slash, and those with which an argument list, an assignment or
/// a list begins. One that follows another text is a part of a name.
fn literals(script: &str) -> Vec<&str> {
    let pieces: Vec<&str> = script.split(['\'', '"']).collect();
    let literals = pieces.windows(3).filter(|three| {
        let before = three[0].trim_end_matches([' ', '\\']);
        !before.ends_with('+') && (three[1].contains('/') || before.ends_with(['(', '=', '[']))
    });
    literals.map(|three| three[1]).collect()
}

/// Returns true if the value of an option is an expression of a searcher: `-e`, `-ne`.
fn is_expression(option: &str) -> bool {
    option == "--regexp" || option.strip_prefix('-').is_some_and(|letters| !letters.starts_with('-') && letters.ends_with('e'))
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
            ("echo $'it\\'s src/x.rs' y.rs; gh run list --workflow a.yml -F b.md; gh workflow run c.yml", "", &["b.md"]),
            ("grep -n x $'it\\'s src/x.rs'", "", &[]),
            ("ls | grep -iv \"a\\|push.go\"; rg -t go 'x.go' -g 'y.go' z.go; git grep a.go -- b.go", "", &["z.go", "b.go"]),
            (
                "grep -C 3 -e a.go b.go; sed -n -e 's/c.go/d/' e.go; xargs grep -l f.go g.go",
                "/w",
                &["/w/b.go", "/w/e.go", "/w/g.go"],
            ),
            ("find ~/go/pkg -name a.go -newer b.go; sed -f c.sed d.go; jq '.md' e.json", "", &["b.go", "d.go", "e.json"]),
            ("D=$(go env X) && cat \"$D/x/a.go\" $(pwd)/b.go `pwd`/c.go; cd \"$(mktemp -d)\" && cat d.go", "", &[]),
            ("V=src/a.json node b.js; for f in c.go d.go; do cat \"sub/$f\"; done", "", &["b.js", "sub/c.go", "sub/d.go"]),
            (
                "python3 -c \"re.findall(r'x y', s, re.M); open('a.json'); p = 'b.py'; join(base, 'c.md'); d + '/d.md'; 'x/e.md'\"",
                "",
                &["a.json", "b.py", "x/e.md"],
            ),
            ("bash -lc 'cat a.go | grep b.go' && make -C sub -f c.mk.txt", "/w", &["/w/a.go", "/w/sub/c.mk.txt"]),
            (r"rg -n 'a\|b' a.md", "/w", &["/w/a.md"]),
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
