//! Refuses wording that readers stumble over, in comments, messages, help texts and documents: one table of patterns, each with a
//! better form. Sentences about the architecture have a maximum length.

use crate::sandbox::{files_ending, repository};
use clap::Command;
use std::fs;
use std::path::{Path, PathBuf};

/// Kind of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Text {
    /// A comment in `src/`, for documentation or not.
    Comment,
    /// A string literal in `src/`, outside tests.
    Message,
    /// Help of a command or an option.
    Help,
    /// A line of a document.
    Document,
}

use Text::{Comment, Document, Help, Message};

/// Wording to avoid.
struct Pattern {
    /// Its forms: words without regard to case, where `*` is one to three words. After `^`, the first word of a line, with its case.
    forms: &'static [&'static str],
    /// Longer forms that are correct.
    except: &'static [&'static str],
    better: &'static str,
    texts: &'static [Text],
    sample: &'static str,
}

const EVERYWHERE: &[Text] = &[Comment, Message, Help, Document];

const PATTERNS: &[Pattern] = &[
    Pattern {
        forms: &["^What", "^Whatever", "^Whether", "^Which", "^Who", "^Whoever", "^How"],
        except: &[],
        better: "a noun or a verb: 'The size of …', 'Returns …'",
        texts: &[Comment, Help],
        sample: "What is left of a block",
    },
    Pattern {
        forms: &["stand", "stands"],
        except: &[],
        better: "is, appears, is stored; 'replaces' for 'stands for'",
        texts: EVERYWHERE,
        sample: "the value that stands in the row",
    },
    Pattern { forms: &["anew"], except: &[], better: "again, re-", texts: EVERYWHERE, sample: "reads the file anew" },
    Pattern {
        forms: &["none where", "none when"],
        except: &[],
        better: "`None` if …",
        texts: EVERYWHERE,
        sample: "the parent; none where a row has none",
    },
    Pattern {
        forms: &["take back", "takes back", "taken back", "take * back", "takes * back", "taking * back"],
        except: &[],
        better: "undo, revert",
        texts: EVERYWHERE,
        sample: "aperture undo takes it back",
    },
    Pattern {
        forms: &["bring back", "brings back", "brought back", "bring * back", "brings * back"],
        except: &[],
        better: "restore",
        texts: EVERYWHERE,
        sample: "expand brings the block back",
    },
    Pattern {
        forms: &["let go", "lets go", "let it go", "lets it go", "let blocks go", "let them go"],
        except: &[],
        better: "release, unpin, clear",
        texts: EVERYWHERE,
        sample: "aperture unpin 3 lets it go",
    },
    Pattern {
        forms: &["left alone", "leave alone", "leaves alone", "leave * alone", "leaves * alone"],
        except: &[],
        better: "skipped, unchanged",
        texts: EVERYWHERE,
        sample: "left alone: 9 blocks",
    },
    Pattern {
        forms: &["so many"],
        except: &[],
        better: "at most N, the number of",
        texts: EVERYWHERE,
        sample: "end after so many seconds",
    },
    Pattern {
        forms: &["go on", "goes on", "went on"],
        except: &[],
        better: "continue",
        texts: EVERYWHERE,
        sample: "the conversation went on",
    },
    Pattern {
        forms: &["held against", "hold against", "hold * against", "holds * against"],
        except: &[],
        better: "compare with, check against",
        texts: EVERYWHERE,
        sample: "hold the store against the files",
    },
    Pattern {
        forms: &["is no", "are no"],
        except: &["is no longer", "are no longer", "there is no", "there are no"],
        better: "is not a, are not",
        texts: EVERYWHERE,
        sample: "'x' is no directory",
    },
    Pattern {
        forms: &["is told", "are told", "be told"],
        except: &[],
        better: "is shown, is reported",
        texts: EVERYWHERE,
        sample: "the model is told the result",
    },
    Pattern {
        forms: &["whoever", "nobody"],
        except: &[],
        better: "name the user, the program or the block",
        texts: EVERYWHERE,
        sample: "a block that nobody came back to",
    },
    Pattern {
        forms: &["look ahead", "looks ahead"],
        except: &[],
        better: "dry run",
        texts: EVERYWHERE,
        sample: "a look ahead writes nothing",
    },
];

/// Sources whose string literals are texts of clients and persons: they are searched for, and never printed by aperture.
const FOREIGN_WORDS: &[&str] = &[
    "src/core/provider/",
    "src/core/engine/model_commands/talk.rs",
    "src/core/engine/report/summary/sentences.rs",
    "src/core/engine/secrets/examples.rs",
];

/// Documents in addition to those in `docs/`.
const DOCUMENTS: &[&str] = &["README.md", "SHORTCOMINGS.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md"];

#[test]
fn comments_messages_help_and_documents_are_in_plain_english() {
    let root = repository();
    let mut findings = Vec::new();
    for path in files_ending(&root.join("src"), "rs") {
        let name = relative(root, &path);
        let source = fs::read_to_string(&path).unwrap();
        let tests = source.find("#[cfg(test)]\nmod ").map_or(usize::MAX, |at| source[..at].lines().count());
        let is_test = name.contains("/tests") || name.ends_with("/laws.rs");
        for (line, kind, text) in texts(&source) {
            let foreign = is_test || line > tests || FOREIGN_WORDS.iter().any(|foreign| name.starts_with(foreign));
            if kind == Comment || !foreign {
                findings.extend(found(&format!("{name}:{line}"), kind, text));
            }
        }
    }
    let mut documents = files_ending(&root.join("docs"), "md");
    documents.extend(DOCUMENTS.iter().map(|name| root.join(name)));
    for path in documents {
        let text = fs::read_to_string(&path).unwrap();
        for (at, line) in text.lines().enumerate() {
            findings.extend(found(&format!("{}:{}", relative(root, &path), at + 1), Document, line));
        }
    }
    findings.extend(in_help(&aperture::commands::definition(), ""));
    assert!(findings.is_empty(), "{} texts to reword:\n{}", findings.len(), findings.join("\n"));
}

/// The maximum number of words of a sentence in ARCHITECTURE.md, and in the guide.
const ARCHITECTURE_WORDS: usize = 25;
const GUIDE_WORDS: usize = 20;

#[test]
fn sentences_about_the_architecture_and_in_the_guide_are_short() {
    let root = repository();
    let mut documents = vec![(root.join("ARCHITECTURE.md"), ARCHITECTURE_WORDS)];
    documents.extend(files_ending(&root.join("docs/guide"), "md").into_iter().map(|path| (path, GUIDE_WORDS)));
    let mut long = Vec::new();
    for (path, most) in documents {
        let text = without_code(&fs::read_to_string(&path).unwrap());
        let counted = sentences(&text).into_iter().map(|(line, sentence)| (line, sentence.split_whitespace().count(), sentence));
        let too_long = counted.filter(|(_, words, _)| *words > most);
        let name = relative(root, &path);
        long.extend(too_long.map(|(line, words, sentence)| format!("{name}:{line}: {words} words: {sentence}")));
    }
    assert!(long.is_empty(), "{} sentences are too long:\n{}", long.len(), long.join("\n"));
}

/// Returns a Markdown text with empty lines in the place of its blocks of code.
fn without_code(text: &str) -> String {
    let mut is_code = false;
    let mut prose = String::new();
    for line in text.lines() {
        let is_fence = line.starts_with("```");
        if !is_code && !is_fence {
            prose.push_str(line);
        }
        is_code ^= is_fence;
        prose.push('\n');
    }
    prose
}

#[test]
fn sentences_end_with_their_paragraph_and_are_not_in_tables() {
    let text = "# A. B\nOne `a.rs` is\nhere. Two\n- three\n  goes. Four\n12. five\n\n| six. seven |\neight";
    let found = [(2, "One `a.rs` is here"), (2, "Two"), (4, "three goes"), (4, "Four"), (6, "five"), (9, "eight")];
    assert_eq!(sentences(text), found.map(|(line, sentence)| (line, sentence.to_owned())));
}

/// Returns the sentences of a Markdown text outside of tables and headings, each with the line in which its paragraph begins.
fn sentences(text: &str) -> Vec<(usize, String)> {
    let mut paragraphs: Vec<(usize, String)> = vec![(0, String::new())];
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        let item = line.split_once(' ').filter(|(mark, _)| *mark == "-" || mark.strip_suffix('.').is_some_and(is_number));
        if item.is_some() || line.is_empty() || line.starts_with(['|', '#']) {
            paragraphs.push((0, String::new()));
        }
        let words = item.map_or(line, |(_, words)| words);
        if let Some((first, paragraph)) = paragraphs.last_mut().filter(|_| !line.starts_with(['|', '#'])) {
            if paragraph.is_empty() {
                *first = at + 1;
            }
            paragraph.extend([words, " "]);
        }
    }
    let split = |(line, text): &(usize, String)| -> Vec<(usize, String)> {
        text.trim().split(". ").filter(|sentence| !sentence.is_empty()).map(|sentence| (*line, sentence.to_owned())).collect()
    };
    paragraphs.iter().flat_map(split).collect()
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[test]
fn functions_are_named_by_the_thing_they_are_about() {
    let root = &repository();
    let mut found: Vec<String> = Vec::new();
    for path in files_ending(&root.join("src"), "rs").into_iter().chain(files_ending(&root.join("tests"), "rs")) {
        let text = fs::read_to_string(&path).unwrap();
        let names = text.lines().filter_map(|line| line.trim_start().strip_prefix("fn "));
        let free = names.filter(|name| ["what_", "who_", "whoever_", "whether_"].iter().any(|word| name.starts_with(word)));
        found.extend(free.map(|name| format!("{}: {name}", relative(root, &path))));
    }
    assert!(found.is_empty(), "name the thing:\n{}", found.join("\n"));
}

#[test]
fn public_types_and_functions_have_documentation() {
    let root = &repository();
    let mut missing: Vec<String> = Vec::new();
    let is_code = |path: &PathBuf| !path.to_string_lossy().contains("tests");
    for path in files_ending(&root.join("src"), "rs").into_iter().filter(is_code) {
        let text = fs::read_to_string(&path).unwrap();
        let mut is_documented = false;
        for (number, line) in text.lines().enumerate() {
            let item = line.strip_prefix("pub ").map(|rest| rest.strip_prefix("async ").unwrap_or(rest));
            let is_item = item.is_some_and(|item| {
                ["const ", "enum ", "fn ", "static ", "struct ", "trait ", "type "]
                    .iter()
                    .any(|keyword| item.starts_with(keyword))
            });
            // The documentation of a command is its help, in an attribute.
            let is_command = line.contains("Arguments {");
            if is_item && !is_documented && !is_command {
                missing.push(format!("{}:{}: {line}", relative(root, &path), number + 1));
            }
            // Attributes are between an item and its documentation.
            is_documented = line.starts_with("///") || is_documented && line.starts_with(['#', ')', ' ']);
        }
    }
    assert!(missing.is_empty(), "items without documentation:\n{}", missing.join("\n"));
}

/// A file of another kind there is one that somebody downloaded or made, and added by mistake.
#[test]
fn the_files_of_the_top_folder_are_texts_of_the_project() {
    let entries = fs::read_dir(repository()).unwrap().map(|entry| entry.unwrap());
    let names =
        entries.filter(|entry| entry.file_type().unwrap().is_file()).map(|entry| entry.file_name().into_string().unwrap());
    let kinds = [".md", ".toml", ".lock", ".yml", ".yaml", ".rs"];
    let is_known =
        |name: &String| name.starts_with(['.']) || name.starts_with("LICENSE") || kinds.iter().any(|kind| name.ends_with(kind));
    assert_eq!(names.filter(|name| !is_known(name)).collect::<Vec<_>>(), Vec::<String>::new());
}

#[test]
fn comments_have_at_most_140_columns() {
    let root = &repository();
    let sources = ["src", "tests", "benches"].into_iter().flat_map(|folder| files_ending(&root.join(folder), "rs"));
    for path in sources {
        let text = fs::read_to_string(&path).unwrap();
        let long = text.lines().position(|line| line.trim_start().starts_with("//") && line.chars().count() > 140);
        assert_eq!(long.map(|at| at + 1), None, "{}", relative(root, &path));
    }
}

#[test]
fn each_pattern_is_found_and_the_finding_has_the_place_and_the_better_form() {
    for pattern in PATTERNS {
        for kind in EVERYWHERE {
            let findings = found("src/x.rs:12", *kind, pattern.sample);
            let expected = pattern.texts.contains(kind);
            let of_pattern = findings.iter().filter(|finding| finding.contains(pattern.better)).count();
            assert_eq!(of_pattern, usize::from(expected), "{kind:?} '{}': {findings:?}", pattern.sample);
        }
        for correct in pattern.except {
            assert_eq!(found("src/x.rs:12", pattern.texts[0], correct), Vec::<String>::new());
        }
    }
    assert_eq!(
        found("src/x.rs:12", Message, "'x' is no directory"),
        ["src/x.rs:12: 'is no' is better as 'is not a, are not': 'x' is no directory"]
    );
}

#[test]
fn comments_and_literals_are_distinguished() {
    let source =
        "let a = '\"'; // first\n/// Second \"not\".\nf(\"third // not\", r#\"four \"th\"\"#, '\\'', b'/', \"fif\\\"\\\nth\");";
    let expected = [
        (1, Comment, " first"),
        (2, Comment, " Second \"not\"."),
        (3, Message, "third // not"),
        (3, Message, "four \"th\""),
        (3, Message, "fif\\\"\\"),
        (4, Message, "th"),
    ];
    assert_eq!(texts(source), expected);
}

/// Returns a finding for each pattern in a line of text.
fn found(place: &str, kind: Text, line: &str) -> Vec<String> {
    let words: Vec<&str> =
        line.split(|c: char| !c.is_alphanumeric() && !"-_".contains(c)).filter(|word| !word.is_empty()).collect();
    let mut findings = Vec::new();
    for pattern in PATTERNS.iter().filter(|pattern| pattern.texts.contains(&kind)) {
        let form = pattern.forms.iter().find(|form| match form.strip_prefix('^') {
            Some(first) => words.first().is_some_and(|word| word == &first),
            None => (0..words.len()).any(|at| begins(&words[at..], form) && !is_except(&words, at, pattern)),
        });
        if let Some(form) = form {
            let form = form.trim_start_matches('^');
            findings.push(format!("{place}: '{form}' is better as '{}': {}", pattern.better, line.trim()));
        }
    }
    findings
}

/// Returns true if the words begin with a form.
fn begins(words: &[&str], form: &str) -> bool {
    let (head, rest) = form.split_once(' ').unwrap_or((form, ""));
    match (head, words) {
        ("", _) => true,
        (_, []) => false,
        ("*", _) => (1..=3.min(words.len())).any(|count| begins(&words[count..], rest)),
        (head, [word, words @ ..]) => word.to_lowercase() == head && begins(words, rest),
    }
}

/// Returns true if a correct form begins at the word, or at the word before it.
fn is_except(words: &[&str], at: usize, pattern: &Pattern) -> bool {
    (at.saturating_sub(1)..=at).any(|at| pattern.except.iter().any(|form| begins(&words[at..], form)))
}

/// Returns the lines of comments and string literals of a source file, each with its line number.
fn texts(source: &str) -> Vec<(usize, Text, &str)> {
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(next) = source[at..].find(['/', '"', '\'']) {
        let start = at + next;
        let rest = &source[start..];
        let (text, length) = match rest.as_bytes() {
            [b'/', b'/', ..] => {
                let end = rest.find('\n').unwrap_or(rest.len());
                (Some((Comment, rest[..end].trim_start_matches(['/', '!']))), end)
            }
            [b'"', ..] => literal(&source[..start], rest),
            // An escaped character, another character, or a lifetime.
            [b'\'', b'\\', ..] => (None, 3 + rest[3..].find('\'').map_or(0, |end| end + 1)),
            [b'\'', ..] if rest.chars().nth(2) == Some('\'') => (None, 2 + rest.chars().nth(1).map_or(0, char::len_utf8)),
            _ => (None, 1),
        };
        if let Some((kind, text)) = text {
            let first = source[..start].matches('\n').count() + 1;
            found.extend(text.lines().enumerate().map(|(line, text)| (first + line, kind, text)));
        }
        at = start + length;
    }
    found
}

/// Returns the string literal at the beginning of `rest`, and its length with quotes. A raw one ends with as many `#` as it has
/// before it.
fn literal<'a>(before: &str, rest: &'a str) -> (Option<(Text, &'a str)>, usize) {
    let head = before.trim_end_matches('#');
    let is_raw = head.ends_with('r') && !head[..head.len() - 1].ends_with(|c: char| c.is_alphanumeric() && c != 'b' || c == '_');
    let end = if is_raw {
        let close = format!("\"{}", &before[head.len()..]);
        rest[1..].find(&close).map(|end| end + 1)
    } else {
        let mut escaped = false;
        rest.char_indices()
            .skip(1)
            .find(|(_, c)| {
                let ends = *c == '"' && !escaped;
                escaped = *c == '\\' && !escaped;
                ends
            })
            .map(|(end, _)| end)
    };
    let end = end.unwrap_or(rest.len() - 1);
    (Some((Message, &rest[1..end])), end + 1)
}

/// Returns the findings in the help of a command, its options and its subcommands.
fn in_help(command: &Command, parents: &str) -> Vec<String> {
    let name = format!("{parents} {}", command.get_name()).trim().to_owned();
    let about = [command.get_about(), command.get_long_about(), command.get_before_help(), command.get_after_help()];
    let mut help: Vec<(String, String)> = about.into_iter().flatten().map(|text| (name.clone(), text.to_string())).collect();
    for argument in command.get_arguments() {
        let texts = [argument.get_help(), argument.get_long_help()];
        help.extend(texts.into_iter().flatten().map(|text| (format!("{name} {}", argument.get_id()), text.to_string())));
    }
    let mut findings = Vec::new();
    for (place, text) in help {
        findings.extend(text.lines().flat_map(|line| found(&place, Help, line)));
    }
    findings.extend(command.get_subcommands().flat_map(|command| in_help(command, &name)));
    findings
}

fn relative(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/")
}

/// clap wraps them for narrower terminals: a longer line would be wrapped twice.
#[test]
fn the_paragraphs_of_help_texts_are_at_most_80_columns_wide() {
    let directory = repository().join("src/commands/help");
    let files: Vec<_> = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(files.len() > 40);
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let is_wide = |line: &&str| !line.starts_with(' ') && line.chars().count() > 80;
        assert_eq!(text.lines().find(is_wide), None, "{}", file.display());
    }
}
