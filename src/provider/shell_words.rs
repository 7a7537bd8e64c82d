//! The words of a shell command.

/// A part of a command.
#[derive(Debug, PartialEq)]
pub enum Token {
    /// A word.
    Word(Word),
    /// The end of a simple command.
    End,
    /// The start of a subshell or a substitution.
    Open,
    /// The end of a subshell or a substitution.
    Close,
}

/// A word without its quotation marks.
#[derive(Debug, Default, PartialEq)]
pub struct Word {
    /// The text.
    pub text: String,
    /// True if a quoted part has several words.
    pub is_text: bool,
}

/// Splits a command into words and separators. Comments are omitted. A quotation mark without its pair is a character.
pub fn tokens(command: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut word: Option<Word> = None;
    let mut rest = command;
    while let Some(character) = rest.chars().next() {
        let after = &rest[character.len_utf8()..];
        rest = after;
        match character {
            '\'' | '"' => match quoted(after, character) {
                Some((inner, behind)) => {
                    let word = word.get_or_insert_default();
                    word.text.push_str(inner);
                    word.is_text |= inner.trim().contains(char::is_whitespace);
                    rest = behind;
                }
                None => word.get_or_insert_default().text.push(' '),
            },
            '\\' => {
                if let Some(next) = after.chars().next() {
                    rest = &after[next.len_utf8()..];
                    if next != '\n' {
                        word.get_or_insert_default().text.push(next);
                    }
                }
            }
            '#' if word.is_none() => rest = after.find('\n').map_or("", |end| &after[end..]),
            ';' | '&' | '|' | '\n' | '(' | ')' => {
                tokens.extend(word.take().map(Token::Word));
                tokens.push(match character {
                    '(' => Token::Open,
                    ')' => Token::Close,
                    _ => Token::End,
                });
            }
            _ if character.is_whitespace() => tokens.extend(word.take().map(Token::Word)),
            _ => word.get_or_insert_default().text.push(character),
        }
    }
    tokens.extend(word.map(Token::Word));
    tokens
}

/// Returns a quoted text up to its closing mark, and the rest of the command.
fn quoted(text: &str, mark: char) -> Option<(&str, &str)> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match *byte {
            b'\\' if mark == '"' => at += 1,
            byte if byte == mark as u8 => return Some((&text[..at], &text[at + 1..])),
            _ => {}
        }
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_has_words_and_separators() {
        let word = |text: &str, is_text: bool| Token::Word(Word { text: text.to_owned(), is_text });
        assert_eq!(
            tokens("(cd 'a b'; x\\ y) # z\n\"q\\\"r\"s"),
            [
                Token::Open,
                word("cd", false),
                word("a b", true),
                Token::End,
                word("x y", false),
                Token::Close,
                Token::End,
                word("q\\\"rs", false),
            ]
        );
        assert_eq!(tokens("it's é"), [word("it s", false), word("é", false)]);
        assert_eq!(tokens("a\\"), [word("a", false)]);
    }
}
