//! The one reader of shell commands: for the files that a command names, and for the commands that a memory is learned from.
//!
//! After the grammar of POSIX (Shell Command Language, sections 2.2, 2.3, 2.6, 2.7), as far as it decides where words and commands
//! end. What a shell would refuse is read as far as possible: a quotation mark without its pair is a blank.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::ops::Range;

/// The bytes of a command that are read. Longer ones hold the text of a file, not more commands.
const MAX_COMMAND: usize = 8_000;
/// Simple commands that are kept of one command.
const MAX_COMMANDS: usize = 24;
/// Words that are kept of a simple command.
const MAX_WORDS: usize = 64;
/// Bytes that are kept of a word of a simple command.
const MAX_WORD: usize = 400;
/// Substitutions that are followed into each other; deeper ones are text.
const DEEPEST: usize = 4;

/// A part of a command, in the order of its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// A word of a simple command.
    Word(Word),
    /// The file, the text or the descriptor of a redirection.
    Target(Word),
    /// The end of a simple command.
    End(Operator),
    Open,
    Close,
    /// The name of a function whose body follows.
    Function(String),
}

/// The operator after a simple command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// The next command runs in any case: `;`, `&`, the end of a line or of the text.
    Then,
    /// The next command reads its output.
    Pipe,
    /// The next command runs only after its success.
    And,
    /// The next command runs only after its failure.
    Or,
}

/// A word without its quotation marks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Word {
    /// The text; substitutions as they are written.
    pub text: String,
    /// True if a quoted part has several words: a message or a script, not an argument that selects something.
    pub is_text: bool,
    #[serde(skip)]
    pub substitutions: Vec<String>,
}

/// A simple command: a program and its arguments, without redirections.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SimpleCommand {
    pub words: Vec<Word>,
    /// True if it reads the output of the command before it.
    pub is_piped: bool,
    /// True if it runs only after the success of the command before it.
    #[serde(skip)]
    pub is_after_success: bool,
}

impl SimpleCommand {
    /// Returns its words, separated by spaces.
    pub fn line(&self) -> String {
        self.words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
    }
}

/// Returns the simple commands that succeeded if a command did: all of them if `&&` joins them, else none.
pub fn proven_commands(command: &str) -> Vec<SimpleCommand> {
    let commands = simple_commands(command);
    if commands.iter().skip(1).all(|simple| simple.is_after_success) { commands } else { Vec::new() }
}

/// Returns the parts of a command. The bodies of here-documents and comments are omitted; substitutions stay in their words.
pub fn parts(command: &str) -> Vec<Part> {
    let command = without_documents(command);
    let mut reader = Reader::default();
    reader.read(&command);
    reader.end_word();
    reader.parts
}

/// Returns a command on one line if it has several: with `;` where a line ends a simple command, without comments. Texts in
/// quotation marks and here-documents keep their lines. Only the start of a very long command is returned.
pub fn joined_lines(command: &str) -> Cow<'_, str> {
    if !command.trim().contains('\n') {
        return Cow::Borrowed(command);
    }
    let mut masked = String::with_capacity(command.len());
    for (part, is_document) in document_parts(command) {
        let kept = if is_document { &part[part.trim_end_matches('\n').len()..] } else { part };
        // The line that starts a here-document ends behind it.
        if is_document && masked.ends_with('\n') {
            masked.pop();
            masked.push(' ');
        }
        masked.extend(std::iter::repeat_n(' ', part.len() - kept.len()));
        masked.push_str(kept);
        if masked.len() >= MAX_COMMAND {
            break;
        }
    }
    let command = &command[..command.floor_char_boundary(MAX_COMMAND.min(masked.len()))];
    masked.truncate(command.len());
    let mut reader = Reader::default();
    reader.read(&masked);
    let omitted = reader.omitted.into_iter().map(|range| (range, " "));
    let ends = reader.line_ends.into_iter().filter(|range| !command[range.end..].trim().is_empty());
    let mut changes: Vec<_> = ends.map(|range| (range, "; ")).chain(omitted).collect();
    changes.sort_by_key(|(range, _)| range.start);
    let mut joined = String::with_capacity(command.len());
    let mut from = 0;
    for (range, text) in changes {
        joined.push_str(&command[from..range.start]);
        let trimmed = joined.trim_end_matches([' ', '\t']);
        if !trimmed.ends_with('\\') {
            joined.truncate(trimmed.len());
        }
        joined.push_str(text);
        from = range.end;
    }
    joined.push_str(&command[from..]);
    if joined.trim().is_empty() { Cow::Borrowed(command) } else { Cow::Owned(joined) }
}

/// Returns the simple commands of a command, in order, without redirections and without calls of functions that it defines.
pub fn simple_commands(command: &str) -> Vec<SimpleCommand> {
    let command = without_documents(command);
    let mut reader = Reader::default();
    reader.read(&command[..command.floor_char_boundary(MAX_COMMAND)]);
    reader.end(Operator::Then);
    let mut functions: Vec<String> = Vec::new();
    let mut commands: Vec<SimpleCommand> = Vec::new();
    let mut current = SimpleCommand::default();
    for part in reader.parts {
        match part {
            Part::Word(mut word) if current.words.len() < MAX_WORDS => {
                word.text.truncate(word.text.floor_char_boundary(MAX_WORD));
                current.words.push(word);
            }
            Part::Word(_) | Part::Target(_) => {}
            Part::Function(name) => functions.push(name),
            Part::End(_) | Part::Open | Part::Close => {
                let is_piped = part == Part::End(Operator::Pipe);
                let is_after_success = part == Part::End(Operator::And);
                // A line feed behind a pipe does not end the pipeline.
                let is_piped = is_piped || current.words.is_empty() && current.is_piped;
                // Nor does one behind `&&`.
                let is_after_success = is_after_success || current.words.is_empty() && current.is_after_success;
                let next = SimpleCommand { words: Vec::new(), is_piped, is_after_success };
                let done = std::mem::replace(&mut current, next);
                if !done.words.is_empty() && commands.len() < MAX_COMMANDS {
                    commands.push(done);
                }
            }
        }
    }
    commands.retain(|simple| simple.words.first().is_none_or(|first| !functions.contains(&first.text)));
    commands
}

/// A text that a command writes into a file by a here-document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// The file, as the command names it.
    pub target: String,
    pub text: String,
    /// True if the text is added to the end of the file.
    pub is_appended: bool,
}

/// Returns the here-documents that `cat` or `tee` write into files, in order, without those in which the shell substitutes.
pub fn documents(command: &str) -> Vec<Document> {
    here_documents(command).into_iter().filter_map(|(line, name, text)| document(line, name, text)).collect()
}

/// Returns the first line with a word of the text that a command of the program in `start` reads from a here-document.
pub fn first_line_of_document(command: &str, start: &str) -> Option<String> {
    let (_, _, text) = here_documents(command).into_iter().find(|(line, _, _)| line.contains(start))?;
    text.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
}

/// Returns the here-documents of a command, each with the line that starts it, its delimiter and its text.
fn here_documents(command: &str) -> Vec<(&str, &str, String)> {
    let lines: Vec<&str> = command.split_inclusive('\n').collect();
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(line) = lines.get(at) {
        at += 1;
        let Some(name) = delimiter(line) else { continue };
        let Some(length) = lines[at..].iter().position(|line| line.trim() == name) else { continue };
        found.push((*line, name, lines[at..at + length].concat()));
        at += length + 1;
    }
    found
}

/// Returns the here-document that a line starts, if its command only writes it into one file.
fn document(line: &str, name: &str, text: String) -> Option<Document> {
    let (before, after) = line.split_once("<<")?;
    let (mark, rest) = after.split_at(after.find(name)?);
    let is_verbatim = mark.contains(['\'', '"', '\\']);
    let rest = rest[name.len()..].trim_start_matches(['\'', '"']);
    let rest = &rest[..rest.find(['&', ';']).unwrap_or(rest.len())];
    let own = &before[before.rfind(['&', ';', '|', '(']).map_or(0, |at| at + 1)..];
    let spaced = format!("{own} {rest}").replace(">>", " \0 ").replace('>', " > ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let (target, is_appended) = match words.as_slice() {
        ["cat", operator @ (">" | "\0"), target] => (target, *operator == "\0"),
        ["tee", target] | ["tee", target, ">", "/dev/null"] => (target, false),
        ["tee", "-a", target] | ["tee", "-a", target, ">", "/dev/null"] => (target, true),
        _ => return None,
    };
    let target = target.trim_matches(['\'', '"']);
    let is_plain = !target.contains(['$', '`', '*', '?', '|', '\'', '"', '<']) && !mark.starts_with('-');
    let is_exact = is_verbatim || !text.contains(['$', '`', '\\']);
    (is_plain && is_exact).then(|| Document { target: target.to_owned(), text, is_appended })
}

/// Returns a word quoted for a shell, if a shell would interpret it otherwise.
pub fn quoted_word(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[derive(Default)]
struct Reader {
    parts: Vec<Part>,
    /// The ranges of comments and of line feeds that are escaped, and of those that end a simple command.
    omitted: Vec<Range<usize>>,
    line_ends: Vec<Range<usize>>,
    word: Option<Word>,
    /// True if the next word is the target of a redirection.
    is_target: bool,
}

impl Reader {
    fn read(&mut self, command: &str) {
        let mut rest = command;
        while let Some(character) = rest.chars().next() {
            let after = &rest[character.len_utf8()..];
            let at = command.len() - rest.len();
            rest = match character {
                '\'' | '"' => self.quoted(after, character, character == '"'),
                '$' if after.starts_with('\'') => self.quoted(&after[1..], '\'', true),
                '\\' => {
                    if after.starts_with('\n') && self.word.is_none() {
                        self.omitted.push(at..at + 2);
                    }
                    self.escaped(after)
                }
                '#' if self.word.is_none() => {
                    let rest = after.find('\n').map_or("", |end| &after[end..]);
                    self.omitted.push(at..command.len() - rest.len());
                    rest
                }
                '`' => self.substitution(rest, after.find('`').map(|end| end + 2)),
                '$' | '>' | '<' if after.starts_with('(') => self.substitution(rest, substitution_length(rest, 0)),
                '(' if self.begins_command() && arithmetic_length(rest).is_some() => {
                    self.substitution(rest, arithmetic_length(rest))
                }
                '>' | '<' => self.redirection(after),
                '&' if after.starts_with('>') => self.redirection(&after[1..]),
                '(' if after.starts_with(')') && self.word.is_some() && self.begins_simple_command() => {
                    self.parts.extend(self.word.take().map(|word| Part::Function(word.text)));
                    &after[1..]
                }
                '|' if !after.starts_with('|') => {
                    self.end(Operator::Pipe);
                    after
                }
                '(' | ')' => {
                    self.end_word();
                    self.is_target = false;
                    self.parts.push(if character == '(' { Part::Open } else { Part::Close });
                    after
                }
                ';' | '&' | '|' | '\n' => {
                    if character == '\n' && self.is_complete() {
                        self.line_ends.push(at..at + 1);
                    }
                    self.end(match (character, after.starts_with(character)) {
                        ('&', true) => Operator::And,
                        ('|', _) => Operator::Or,
                        _ => Operator::Then,
                    });
                    after.strip_prefix(['&', '|']).filter(|_| after.starts_with(character)).unwrap_or(after)
                }
                _ if character.is_whitespace() => {
                    self.end_word();
                    after
                }
                _ => {
                    self.word().text.push(character);
                    after
                }
            };
        }
    }

    /// Returns true if a `;` may follow: not after another operator, nor after the word before a block of commands.
    fn is_complete(&self) -> bool {
        let ((Some(last), _) | (None, Some(Part::Word(last) | Part::Target(last)))) = (&self.word, self.parts.last()) else {
            return false;
        };
        !["then", "do", "else", "in", "{", "!"].contains(&&*last.text)
    }

    /// Returns true if no word of the simple command is complete.
    fn begins_simple_command(&self) -> bool {
        !matches!(self.parts.last(), Some(Part::Word(_) | Part::Target(_)))
    }

    fn begins_command(&self) -> bool {
        self.word.is_none() && self.begins_simple_command()
    }

    fn word(&mut self) -> &mut Word {
        self.word.get_or_insert_default()
    }

    fn quoted<'a>(&mut self, after: &'a str, mark: char, has_escapes: bool) -> &'a str {
        let Some(end) = quotation_end(after, mark, has_escapes, 0) else {
            self.word().text.push(' ');
            return after;
        };
        let inner = &after[..end];
        let word = self.word();
        word.text.push_str(inner);
        word.is_text |= inner.trim().contains(char::is_whitespace);
        if mark == '"' {
            word.substitutions.extend(substitutions(inner));
        }
        &after[end + mark.len_utf8()..]
    }

    fn escaped<'a>(&mut self, after: &'a str) -> &'a str {
        let Some(next) = after.chars().next() else { return after };
        if next != '\n' {
            self.word().text.push(next);
        }
        &after[next.len_utf8()..]
    }

    /// Adds a substitution or an arithmetic expression of `length` bytes to the word.
    fn substitution<'a>(&mut self, rest: &'a str, length: Option<usize>) -> &'a str {
        let length = length.unwrap_or(1);
        let word = self.word();
        word.text.push_str(&rest[..length]);
        word.substitutions.extend(substitutions(&rest[..length]));
        &rest[length..]
    }

    /// Skips an operator of a redirection; the word before it is dropped if it is a descriptor.
    fn redirection<'a>(&mut self, after: &'a str) -> &'a str {
        if self.word.as_ref().is_some_and(|word| word.text.bytes().all(|byte| byte.is_ascii_digit())) {
            self.word = None;
        }
        self.end_word();
        self.is_target = true;
        after.trim_start_matches(['>', '<', '&'])
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        let is_target = std::mem::take(&mut self.is_target);
        self.parts.push(if is_target { Part::Target(word) } else { Part::Word(word) });
    }

    /// Ends a simple command before an operator.
    fn end(&mut self, operator: Operator) {
        self.end_word();
        self.is_target = false;
        self.parts.push(Part::End(operator));
    }
}

/// Returns the place of the closing mark of a quoted text. Marks in a substitution within double ones do not close it.
fn quotation_end(text: &str, mark: char, has_escapes: bool, depth: usize) -> Option<usize> {
    let mut at = 0;
    while let Some(character) = text[at..].chars().next() {
        let escaped = text[at + character.len_utf8()..].chars().next().map_or(0, char::len_utf8);
        at += match character {
            _ if character == mark => return Some(at),
            '\\' if has_escapes => 1 + escaped,
            '$' if mark == '"' && text[at..].starts_with("$(") => substitution_length(&text[at..], depth + 1).unwrap_or(1),
            _ => character.len_utf8(),
        };
    }
    None
}

/// Returns the length of a text that starts with `$(`, `<(` or `>(`, up to the closing parenthesis.
fn substitution_length(text: &str, depth: usize) -> Option<usize> {
    let (mut parentheses, mut at) = (0usize, 0);
    while let Some(character) = text[at..].chars().next() {
        at += character.len_utf8();
        match character {
            '(' => parentheses += 1,
            ')' if parentheses <= 1 => return Some(at),
            ')' => parentheses -= 1,
            '\'' | '"' if depth < DEEPEST => {
                let end = quotation_end(&text[at..], character, character == '"', depth);
                at += end.map_or(0, |end| end + character.len_utf8());
            }
            _ => {}
        }
    }
    None
}

/// Returns the length of an expression in `((` and `))` on one line, if a text starts with one.
fn arithmetic_length(text: &str) -> Option<usize> {
    let line = text.strip_prefix("((")?.lines().next()?;
    line.find("))").map(|end| end + 4)
}

/// Returns the commands that are substituted in a text that has no single quotation marks of its own: `$(…)`, `` `…` ``, `<(…)`.
fn substitutions(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['$', '<', '>', '`', '\\']) {
        let after = &rest[at + 1..];
        let length = match rest.as_bytes()[at] {
            b'\\' => after.chars().next().map(char::len_utf8),
            b'`' => after.find('`').map(|end| {
                found.push(after[..end].to_owned());
                end + 1
            }),
            _ if after.starts_with('(') => substitution_length(&rest[at..], 0).map(|length| {
                let inner = &after[1..length - 2];
                // An arithmetic expression has no command.
                if !inner.starts_with('(') {
                    found.push(inner.to_owned());
                }
                length - 1
            }),
            _ => None,
        };
        rest = &after[length.unwrap_or(0)..];
    }
    found
}

/// Removes the bodies of here-documents, because they hold the text of a file.
fn without_documents(command: &str) -> String {
    let parts = document_parts(command);
    parts.filter(|(_, is_document)| !is_document).map(|(part, _)| part).collect()
}

/// Returns the lines of a command; the body of a here-document with its end is one part, with `true`. `<<` starts one only if its
/// end follows.
fn document_parts(command: &str) -> impl Iterator<Item = (&str, bool)> {
    let (mut rest, mut end) = (command, None);
    std::iter::from_fn(move || {
        let is_document = end.is_some();
        let length = end.take().unwrap_or_else(|| rest.find('\n').map_or(rest.len(), |at| at + 1));
        let (part, after) = rest.split_at(length);
        rest = after;
        end = delimiter(part).filter(|_| !is_document).and_then(|name| {
            let mut length = 0;
            let mut ends = after.split_inclusive('\n').map(|line| {
                length += line.len();
                (line, length)
            });
            ends.find(|(line, _)| line.trim() == name).map(|(_, length)| length)
        });
        (!part.is_empty()).then_some((part, is_document))
    })
}

/// Returns the delimiter of the here-document that a line may start.
fn delimiter(line: &str) -> Option<&str> {
    let (_, after) = line.split_once("<<")?;
    let after = after.strip_prefix('-').unwrap_or(after).trim_start_matches([' ', '\'', '"', '\\']);
    let end = after.find(|character: char| !character.is_alphanumeric() && character != '_').unwrap_or(after.len());
    Some(&after[..end]).filter(|name| name.starts_with(|first: char| first.is_alphabetic() || first == '_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_a_quoted_word_as_the_word() {
        for (word, expected) in [
            ("/opt/é/aperture-1.2", "/opt/é/aperture-1.2"),
            ("/my tools/aperture", "'/my tools/aperture'"),
            ("", "''"),
            ("#12", "'#12'"),
            ("it's", r"'it'\''s'"),
            ("$(x)", "'$(x)'"),
        ] {
            assert_eq!(quoted_word(word), expected);
        }
    }

    #[test]
    fn here_documents_are_texts_of_files() {
        let check = |command: &str, expected: &[(&str, &str, bool)]| {
            let found = documents(command);
            let found: Vec<_> = found.iter().map(|document| (&*document.target, &*document.text, document.is_appended)).collect();
            assert_eq!(found, expected, "{command}");
        };
        check("cd x && cat > a.rs <<'EOF' && cargo fmt\n$x\n\nEOF\nls", &[("a.rs", "$x\n\n", false)]);
        check("cat <<EOF >> 'b c.md'\nx\nEOF", &[]);
        check("cat <<\"E\" >>b.md\nx\nE\ntee -a c.md > /dev/null << E\ny\nE", &[("b.md", "x\n", true), ("c.md", "y\n", true)]);
        // A text that the shell changes, or another program.
        for command in ["cat > a <<E\n$x\nE", "cat <<'E' | sort > a\nx\nE", "cat a <<'E' > b\nx\nE", "cat > a <<-'E'\n\tx\nE"] {
            check(command, &[]);
        }
        // A here-document in another one is its text.
        check("python3 <<'P'\ncat > a <<'E'\nx\nE\nP", &[]);
    }

    #[test]
    fn a_command_is_split_at_operators() {
        let check = |command: &str, expected: &[&str]| {
            let found: Vec<String> = simple_commands(command)
                .iter()
                .map(|simple| {
                    let words: Vec<&str> = simple.words.iter().map(|word| word.text.as_str()).collect();
                    format!("{}{}", if simple.is_piped { "| " } else { "" }, words.join(" "))
                })
                .collect();
            assert_eq!(found, expected, "{command}");
        };
        check("make all 2>&1 | tail -3", &["make all", "| tail -3"]);
        check("make > out.txt 2>/dev/null && echo ok &", &["make", "echo ok"]);
        check("(cd 'a b'; x\\ y) # z", &["cd a b", "x y"]);
        check("a || b; c\nd", &["a", "b", "c", "d"]);
        check("cat <<'END' > f\nline one\nline two\nEND\nnext step", &["cat", "next step"]);
        check("tool -m \"$(cat <<'END'\na \"b\nEND\n)\" last", &["tool -m $(cat <<'END'\n) last"]);
        check("n=$((1<<8))\ncat a\n8", &["n=$((1<<8))", "cat a", "8"]);
        check("((n = 1 << k)); a", &["((n = 1 << k))", "a"]);
        check("((a; b) | c)", &["a", "b", "| c"]);
        check("x $(date +%F) `id`", &["x $(date +%F) `id`"]);
        check("a \"$(b \"c; d\" ')')\" e; f", &["a $(b \"c; d\" ')') e", "f"]);
        check("a $(b \"$(c 'd)')\" ; e) f", &["a $(b \"$(c 'd)')\" ; e) f"]);
        check("a \"\\\"$(b\" c; d", &["a \\\"$(b c", "d"]);
        check("it's é", &["it s é"]);
        check("a |\n b", &["a", "| b"]);
        check("a\\", &["a"]);
        check("a -b $'c\\'d; e' f; g", &["a -b c\\'d; e f", "g"]);
        check("join <(sort 'a b') c > >(tee d); e", &["join <(sort 'a b') c", "e"]);
        check("go() { make $1; }; go all && go $(x); (go); goes", &["{ make $1", "}", "goes"]);
        check("", &[]);
    }

    #[test]
    fn a_command_of_several_lines_is_one_line_with_separators() {
        for (command, expected) in [
            ("make fmt\nmake lint\n", "make fmt; make lint"),
            ("make fmt;\nmake lint &&\n  make test |\n tail", "make fmt; make lint && make test | tail"),
            ("# first\nmake fmt # then\nmake \\\n  lint", "make fmt; make lint"),
            ("for f in a b; do\n  echo $f\ndone\nls", "for f in a b; do echo $f; done; ls"),
            ("go() {\n  make\n}\ngo", "go() { make; }; go"),
            ("case $x in\n  a)\n    ls;;\nesac", "case $x in a) ls;; esac"),
            ("say 'a\nb'\nls", "say 'a b'; ls"),
            ("cat > a <<'E'\nit's\n\né\nE\nmake\nls", "cat > a <<'E' it's é E; make; ls"),
            ("git commit -m \"$(cat <<'E'\nx\nE\n)\"\nls", "git commit -m \"$(cat <<'E' x E )\"; ls"),
            ("cat <<E\nx\nE", "cat <<E x E"),
            ("# only\n# this", "# only # this"),
            (&format!("cat > a <<'E'\n{}\nE\nls", "é".repeat(5_000)), &format!("cat > a <<'E' {}", "é".repeat(3_993))),
            ("make", "make"),
        ] {
            assert_eq!(joined_lines(command).split_whitespace().collect::<Vec<_>>().join(" "), expected, "{command}");
        }
    }

    #[test]
    fn the_success_of_a_command_proves_what_and_joins() {
        let check = |command: &str, expected: &[&str]| {
            let found: Vec<String> = proven_commands(command).iter().map(SimpleCommand::line).collect();
            assert_eq!(found, expected, "{command}");
        };
        check("make fmt && make lint 2>&1", &["make fmt", "make lint"]);
        check("make fmt &&\n  make lint", &["make fmt", "make lint"]);
        check("make", &["make"]);
        for command in ["a | b", "a && b | c", "a; b", "a || b", "a\nb", "a & b", "(a; b) && c"] {
            check(command, &[]);
        }
    }

    #[test]
    fn a_quoted_text_of_several_words_is_marked() {
        let found = simple_commands("say -m 'two words' 'one'");
        let marks: Vec<bool> = found[0].words.iter().map(|word| word.is_text).collect();
        assert_eq!(marks, [false, false, true, false]);
    }

    #[test]
    fn substituted_commands_are_known() {
        for (command, expected) in [
            ("a $(b c) `d` <(e)", &["b c", "d", "e"] as &[&str]),
            ("a \"x $(b \"$(c)\") \\$(no)\" '$(no)'", &["b \"$(c)\""]),
            ("a $((1 + 2)) $b", &[]),
        ] {
            let found = parts(command).into_iter().flat_map(|part| match part {
                Part::Word(word) | Part::Target(word) => word.substitutions,
                _ => Vec::new(),
            });
            assert_eq!(found.collect::<Vec<_>>(), expected, "{command}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_has_parts_and_a_quoted_word_is_one(text in "[ab '\"\\\\$()`<>|&;#\n=é]{0,40}") {
            parts(&text);
            let joined = joined_lines(&text);
            // A quotation mark in a comment can close an open substitution, and an expression is on one line.
            if !["<<", "#", "(("].iter().any(|mark| text.contains(mark)) {
                proptest::prop_assert_eq!(simple_commands(&joined), simple_commands(&text), "{}", joined);
            }
            let word = text.replace('\'', "").replace('\n', " ");
            let expected = Part::Word(Word { is_text: word.trim().contains(' '), text: word.clone(), ..Word::default() });
            proptest::prop_assert_eq!(parts(&quoted_word(&word)), [expected]);
        }
    }
}
