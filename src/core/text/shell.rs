//! The one reader of shell commands: for the files that a command names, and for the commands that a memory is learned from.
//!
//! After the grammar of POSIX (Shell Command Language, sections 2.2, 2.3, 2.6, 2.7), as far as it decides where words and commands
//! end. What a shell would refuse is read as far as possible: a quotation mark without its pair is a blank.

use rustc_hash::FxHashMap;
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
/// In the place of a closing mark if there is none.
const NONE: u32 = u32::MAX;

/// A part of a command, in the order of its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
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
    let mut reader = Reader::read(&without_documents(command));
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
    let reader = Reader::read(&masked);
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
    let mut reader = Reader::read(&command[..command.floor_char_boundary(MAX_COMMAND)]);
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
    let parts = document_parts(command);
    let mut found = Vec::new();
    for pair in parts.windows(2).filter(|pair| pair[1].1) {
        let ((line, _), (body, _)) = (pair[0], pair[1]);
        let body = body.strip_suffix('\n').unwrap_or(body);
        let text = &body[..body.rfind('\n').map_or(0, |at| at + 1)];
        found.extend(delimiter(line).map(|(_, name)| (line, name, text.to_owned())));
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
    closings: Closings,
    parts: Vec<Part>,
    /// The ranges of comments and of line feeds that are escaped, and of those that end a simple command.
    omitted: Vec<Range<usize>>,
    line_ends: Vec<Range<usize>>,
    word: Option<Word>,
    /// True if the next word is the target of a redirection.
    is_target: bool,
    /// The end of the last line in which no arithmetic expression ends.
    searched: usize,
}

impl Reader {
    fn read(command: &str) -> Reader {
        let mut reader = Reader { closings: Closings::new(command), ..Reader::default() };
        reader.read_all(command);
        reader
    }

    fn read_all(&mut self, command: &str) {
        let mut rest = command;
        while let Some(character) = rest.chars().next() {
            let after = &rest[character.len_utf8()..];
            let at = command.len() - rest.len();
            let expression = if rest.starts_with("((") { self.arithmetic_length(rest, at) } else { None };
            rest = match character {
                '"' => self.quoted(after, '"', closing(&self.closings.quotations, at + 1).map(|end| end - at - 1)),
                '\'' => self.quoted(after, '\'', after.find('\'')),
                '$' if after.starts_with('\'') => self.quoted(&after[1..], '\'', escaped_end(&after[1..])),
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
                '$' | '>' | '<' if after.starts_with('(') => {
                    self.substitution(rest, closing(&self.closings.parentheses, at + 2).map(|end| end - at))
                }
                '(' if expression.is_some() => self.substitution(rest, expression),
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

    fn word(&mut self) -> &mut Word {
        self.word.get_or_insert_default()
    }

    /// Returns the length of an expression in `((` and `))` on one line, if a command starts with one.
    fn arithmetic_length(&mut self, rest: &str, at: usize) -> Option<usize> {
        if self.word.is_some() || !self.begins_simple_command() || at < self.searched {
            return None;
        }
        let line = &rest[..rest.find('\n').unwrap_or(rest.len())];
        let length = line[2..].find("))").map(|end| end + 4);
        if length.is_none() {
            self.searched = at + line.len();
        }
        length
    }

    /// Adds a text in quotation marks, of which the closing one is at `end`, to the word; a blank for a mark without its pair.
    fn quoted<'a>(&mut self, after: &'a str, mark: char, end: Option<usize>) -> &'a str {
        let Some(end) = end else {
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

/// The closing marks for each place in a text. They are found from its end on, each from those behind it, so that the time for a text
/// with many opening marks is linear in its length.
#[derive(Default)]
struct Closings {
    /// The place of the mark that closes a text in double quotation marks. Marks in a substitution within them do not close it.
    quotations: Vec<u32>,
    /// The place behind the parenthesis that closes a substitution.
    parentheses: Vec<u32>,
}

impl Closings {
    fn new(text: &str) -> Closings {
        let length = text.len() + 2;
        let mut closings = Closings { quotations: vec![NONE; length], parentheses: vec![NONE; length] };
        let Closings { quotations, parentheses } = &mut closings;
        let mut apostrophe = NONE;
        let or = |place: u32, other: usize| if place == NONE { other } else { place as usize };
        for (at, byte) in text.bytes().enumerate().rev() {
            let next = at + 1;
            quotations[at] = match byte {
                b'"' => at as u32,
                b'\\' => quotations[at + 2],
                b'$' if text[next..].starts_with('(') => quotations[or(parentheses[at + 2], next)],
                _ => quotations[next],
            };
            let behind = |mark: u32| if mark == NONE { next } else { mark as usize + 1 };
            parentheses[at] = match byte {
                b')' => next as u32,
                b'(' => parentheses[or(parentheses[next], length - 1)],
                b'\'' => parentheses[behind(std::mem::replace(&mut apostrophe, at as u32))],
                b'"' => parentheses[behind(quotations[next])],
                _ => parentheses[next],
            };
        }
        closings
    }
}

/// Returns the place that closes a text from `from` on; `None` if there is none.
fn closing(places: &[u32], from: usize) -> Option<usize> {
    places.get(from).filter(|place| **place != NONE).map(|place| *place as usize)
}

/// Returns the place of the single quotation mark that closes a text with escapes.
fn escaped_end(text: &str) -> Option<usize> {
    let mut from = 0;
    loop {
        let at = from + text[from..].find(['\'', '\\'])?;
        match text.as_bytes()[at] {
            b'\'' => return Some(at),
            _ => from = at + 1 + text[at + 1..].chars().next().map_or(0, char::len_utf8),
        }
    }
}

/// Returns the commands that are substituted in a text that has no single quotation marks of its own: `$(…)`, `` `…` ``, `<(…)`.
fn substitutions(text: &str) -> Vec<String> {
    let (mut found, mut closings) = (Vec::new(), None);
    let mut rest = text;
    while let Some(at) = rest.find(['$', '<', '>', '`', '\\']) {
        let behind = text.len() - rest.len() + at + 2;
        let after = &rest[at + 1..];
        let length = match rest.as_bytes()[at] {
            b'\\' => after.chars().next().map(char::len_utf8),
            b'`' => after.find('`').map(|end| {
                found.push(after[..end].to_owned());
                end + 1
            }),
            _ if after.starts_with('(') => {
                let closings = closings.get_or_insert_with(|| Closings::new(text));
                closing(&closings.parentheses, behind).map(|end| {
                    let inner = &text[behind..end - 1];
                    // An arithmetic expression has no command.
                    if !inner.starts_with('(') {
                        found.push(inner.to_owned());
                    }
                    end + 1 - behind
                })
            }
            _ => None,
        };
        rest = &after[length.unwrap_or(0)..];
    }
    found
}

/// Removes the bodies of here-documents, because they hold the text of a file.
fn without_documents(command: &str) -> String {
    let parts = document_parts(command).into_iter();
    parts.filter(|(_, is_document)| !is_document).map(|(part, _)| part).collect()
}

/// Returns the lines of a command; the body of a here-document with its end is one part, with `true`. `<<` starts one only if its
/// end follows.
fn document_parts(command: &str) -> Vec<(&str, bool)> {
    if !command.contains("<<") {
        return vec![(command, false)];
    }
    let lines: Vec<&str> = command.split_inclusive('\n').collect();
    // The next line with a text, also without its tabs, from the last line on.
    let (mut next, mut ends) = (FxHashMap::default(), vec![None; lines.len()]);
    for (place, line) in lines.iter().enumerate().rev() {
        ends[place] = delimiter(line).and_then(|name| next.get(&name).copied());
        let line = line.strip_suffix('\n').unwrap_or(line);
        let line = line.strip_suffix('\r').unwrap_or(line);
        next.insert((false, line), place);
        next.insert((true, line.trim_start_matches('\t')), place);
    }
    let (mut parts, mut place, mut from) = (Vec::new(), 0, 0);
    while let Some(line) = lines.get(place) {
        parts.push((*line, false));
        from += line.len();
        if let Some(end) = ends[place] {
            let length: usize = lines[place + 1..=end].iter().map(|line| line.len()).sum();
            parts.push((&command[from..from + length], true));
            from += length;
            place = end;
        }
        place += 1;
    }
    parts
}

/// Returns the delimiter of the here-document that a line may start, and true if tabs before it are skipped.
fn delimiter(line: &str) -> Option<(bool, &str)> {
    let (_, after) = line.split_once("<<")?;
    let name = after.strip_prefix('-').unwrap_or(after).trim_start_matches([' ', '\'', '"', '\\']);
    let end = name.find(|character: char| !character.is_alphanumeric() && character != '_').unwrap_or(name.len());
    let is_name = name.starts_with(|first: char| first.is_alphabetic() || first == '_');
    is_name.then_some((after.starts_with('-'), &name[..end]))
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
        // Only a line without blanks ends it; with `<<-`, tabs before the word are skipped.
        check("cat > a.py <<'E'\nx\n  E\n\tE\nE \ny\nE\nls", &[("a.py", "x\n  E\n\tE\nE \ny\n", false)]);
        check("cat > a <<E\r\nx\r\nE\r\ncat > b <<E\ny\n E", &[("a", "x\r\n", false)]);
        check("sort <<-E\n E\ncat > a <<'F'\nF\n\tE\ncat > b <<'F'\nF", &[("b", "", false)]);
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
