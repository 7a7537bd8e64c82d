//! Splits a shell command into its simple commands.
use serde::{Deserialize, Serialize};

/// The bytes of a command that are read. Longer ones hold the text of a file, not more commands.
const MAX_COMMAND: usize = 8_000;
/// Simple commands that are kept of one command.
const MAX_COMMANDS: usize = 24;
/// Words that are kept of a simple command.
const MAX_WORDS: usize = 64;
/// Bytes that are kept of a word.
const MAX_WORD: usize = 400;

/// A simple command: a program and its arguments, without redirections.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SimpleCommand {
    /// Its words.
    pub words: Vec<Word>,
    /// True if it reads the output of the command before it.
    pub is_piped: bool,
}

/// A word without its quotation marks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Word {
    /// The text.
    pub text: String,
    /// True if a quoted part has several words: a message or a script, not an argument that selects something.
    pub is_text: bool,
}

/// Returns the simple commands of a shell command, in order. Bodies of here-documents, comments, redirections, and calls of functions that it
/// defines are omitted.
/// A substitution is a part of its word. A quotation mark without its pair is a character.
pub fn simple_commands(command: &str) -> Vec<SimpleCommand> {
    let command = without_documents(&command[..command.floor_char_boundary(MAX_COMMAND)]);
    let mut parser = Parser::default();
    parser.read(&command);
    parser.end(false);
    let Parser { mut commands, functions, .. } = parser;
    commands.retain(|simple| simple.words.first().is_none_or(|first| !functions.contains(&first.text)));
    commands
}

#[derive(Default)]
struct Parser {
    commands: Vec<SimpleCommand>,
    current: SimpleCommand,
    word: Option<Word>,
    /// True if the next word is the target of a redirection.
    is_target: bool,
    /// The names of the functions that the command defines.
    functions: Vec<String>,
}

impl Parser {
    fn read(&mut self, command: &str) {
        let mut rest = command;
        while let Some(character) = rest.chars().next() {
            let after = &rest[character.len_utf8()..];
            rest = match character {
                '\'' | '"' => self.quoted(after, character, character == '"'),
                '$' if after.starts_with('\'') => self.quoted(&after[1..], '\'', true),
                '\\' => self.escaped(after),
                '#' if self.word.is_none() => after.find('\n').map_or("", |end| &after[end..]),
                '`' => self.substitution(rest, after.find('`').map(|end| end + 2)),
                '$' if after.starts_with('(') => self.substitution(rest, substitution_length(rest, 0)),
                '>' | '<' if after.starts_with('(') => self.substitution(rest, substitution_length(rest, 0)),
                '>' | '<' => self.redirection(after),
                '&' if after.starts_with('>') => self.redirection(&after[1..]),
                '(' if after.starts_with(')') && self.current.words.is_empty() && self.word.is_some() => {
                    self.functions.extend(self.word.take().map(|word| word.text));
                    &after[1..]
                }
                '|' if !after.starts_with('|') => {
                    self.end(true);
                    after
                }
                ';' | '&' | '|' | '\n' | '(' | ')' => {
                    self.end(false);
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

    fn word(&mut self) -> &mut Word {
        self.word.get_or_insert_default()
    }

    fn quoted<'a>(&mut self, after: &'a str, mark: char, has_escapes: bool) -> &'a str {
        let Some((inner, behind)) = quoted(after, mark, has_escapes) else {
            self.word().text.push(' ');
            return after;
        };
        let word = self.word();
        word.text.push_str(inner);
        word.is_text |= inner.trim().contains(char::is_whitespace);
        behind
    }

    fn escaped<'a>(&mut self, after: &'a str) -> &'a str {
        let Some(next) = after.chars().next() else { return after };
        if next != '\n' {
            self.word().text.push(next);
        }
        &after[next.len_utf8()..]
    }

    /// Adds a substitution of `length` bytes to the word.
    fn substitution<'a>(&mut self, rest: &'a str, length: Option<usize>) -> &'a str {
        let length = length.unwrap_or(1);
        self.word().text.push_str(&rest[..length]);
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
        let Some(mut word) = self.word.take() else { return };
        if std::mem::take(&mut self.is_target) || self.current.words.len() >= MAX_WORDS {
            return;
        }
        word.text.truncate(word.text.floor_char_boundary(MAX_WORD));
        self.current.words.push(word);
    }

    /// Ends a simple command; the next one reads its output if `is_pipe`.
    fn end(&mut self, is_pipe: bool) {
        self.end_word();
        self.is_target = false;
        let next = SimpleCommand { words: Vec::new(), is_piped: is_pipe };
        let done = std::mem::replace(&mut self.current, next);
        if !done.words.is_empty() && self.commands.len() < MAX_COMMANDS {
            self.commands.push(done);
        } else if done.words.is_empty() {
            // A line feed behind a pipe does not end the pipeline.
            self.current.is_piped |= done.is_piped;
        }
    }
}

/// Substitutions within quotation marks that are followed into each other; deeper ones are text.
const DEEPEST: usize = 4;

/// Returns a quoted text up to its closing mark, and the rest of the command.
fn quoted(text: &str, mark: char, has_escapes: bool) -> Option<(&str, &str)> {
    let end = quotation_end(text, mark, has_escapes, 0)?;
    Some((&text[..end], &text[end + mark.len_utf8()..]))
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

/// Removes the bodies of here-documents, because they hold the text of a file.
fn without_documents(command: &str) -> String {
    let mut kept = String::with_capacity(command.len());
    let mut delimiter: Option<&str> = None;
    for line in command.split_inclusive('\n') {
        match delimiter {
            Some(name) if line.trim() == name => delimiter = None,
            Some(_) => {}
            None => {
                delimiter = document(line);
                kept.push_str(line);
            }
        }
    }
    kept
}

/// Returns the delimiter of the here-document that a line starts.
fn document(line: &str) -> Option<&str> {
    let (_, after) = line.split_once("<<")?;
    let after = after.strip_prefix('-').unwrap_or(after).trim_start_matches([' ', '\'', '"', '\\']);
    let end = after.find(|character: char| !character.is_alphanumeric() && character != '_').unwrap_or(after.len());
    after.get(..end).filter(|name| name.starts_with(|first: char| first.is_alphabetic() || first == '_'))
}

#[cfg(test)]
mod tests {
    use super::*;

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
        check("x $(date +%F) `id`", &["x $(date +%F) `id`"]);
        check("a \"$(b \"c; d\" ')')\" e; f", &["a $(b \"c; d\" ')') e", "f"]);
        check("a $(b \"$(c 'd)')\" ; e) f", &["a $(b \"$(c 'd)')\" ; e) f"]);
        check("a \"\\\"$(b\" c; d", &["a \\\"$(b c", "d"]);
        check("it's é", &["it s é"]);
        check("a |\n b", &["a", "| b"]);
        check("a -b $'c\\'d; e' f; g", &["a -b c\\'d; e f", "g"]);
        check("join <(sort 'a b') c > >(tee d); e", &["join <(sort 'a b') c", "e"]);
        check("go() { make $1; }; go all && go $(x); (go); goes", &["{ make $1", "}", "goes"]);
        check("", &[]);
    }

    #[test]
    fn a_quoted_text_of_several_words_is_marked() {
        let found = simple_commands("say -m 'two words' 'one'");
        let marks: Vec<bool> = found[0].words.iter().map(|word| word.is_text).collect();
        assert_eq!(marks, [false, false, true, false]);
    }
}
