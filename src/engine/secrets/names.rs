//! Credentials after a name: `password=…`, `"token": "…"`, `getEnv("API_KEY", "…")`, `<password>…</password>`, a table cell.

use super::shapes::SHAPES;
use super::values::{is_generated, is_key, is_password};
use super::{OBJECT, Secret, run, shaped, web_token};

/// Bytes that are examined after a name up to its value.
const LONGEST_GAP: usize = 60;
/// Maximum length of a value, and one more, in bytes.
const LONGEST_VALUE: usize = 2049;
/// Rows and bytes of a table that are examined below its head.
const TABLE_ROWS: usize = 50;
const TABLE_BYTES: usize = 8 << 10;

/// Names that precede a credential, and the kind of the credential.
pub(super) static NAMES: &[(&str, &str)] = &[
    ("password", "password"),
    ("passwd", "password"),
    ("passphrase", "password"),
    ("passcode", "password"),
    ("pass", "password"),
    ("pwd", "password"),
    ("pw", "password"),
    ("psk", "password"),
    ("passwort", "password"),
    ("kennwort", "password"),
    ("mot de passe", "password"),
    ("contraseña", "password"),
    ("contrasena", "password"),
    ("senha", "password"),
    ("parola d'ordine", "password"),
    ("wachtwoord", "password"),
    ("lösenord", "password"),
    ("salasana", "password"),
    ("hasło", "password"),
    ("heslo", "password"),
    ("şifre", "password"),
    ("пароль", "password"),
    ("Пароль", "password"),
    ("パスワード", "password"),
    ("密码", "password"),
    ("密碼", "password"),
    ("口令", "password"),
    ("비밀번호", "password"),
    ("secret", "named-secret"),
    ("credential", "named-secret"),
    ("token", "named-token"),
    ("authorization", "named-token"),
    ("bearer", "named-token"),
    ("_auth", "named-token"),
    ("_pat", "named-token"),
    ("phpsessid", "session-cookie"),
    (concat!("jsession", "id"), "session-cookie"),
    ("connect.sid", "session-cookie"),
    ("apikey", "named-key"),
    ("accesskey", "named-key"),
    ("accountkey", "named-key"),
    ("authkey", "named-key"),
    ("privatekey", "named-key"),
    ("presharedkey", "named-key"),
];

/// The last word of the name of a key, in its spellings.
pub(super) const KEY_WORDS: [&str; 8] = ["_key", "_KEY", "-key", "-KEY", "-Key", "Key", " key", " Key"];
/// First words of the names of keys.
const KEYS: [&str; 28] = [
    "api", "access", "account", "admin", "anon", "app", "application", "auth", "client", "deploy", "encryption", "functions",
    "hmac", "integration", "jwt", "license", "master", "private", "preshared", "role", "server", "service", "shared", "signing",
    "storage", "subscription", "webhook", "write",
];

/// First words of the names of other keys.
const OTHER_KEYS: [&str; 14] = [
    "cache", "foreign", "group", "hash", "idempotency", "index", "lookup", "object", "partition", "primary", "public",
    "registry", "sort", "unique",
];

/// Names that are only used for credentials.
const SURE_NAMES: [&str; 5] = ["PGPASSWORD", "MYSQL_PWD", "SSHPASS", "X-API-Key", "REDISCLI_AUTH"];
/// Last parts of a name, after the word for a credential.
const ENDINGS: [&str; 20] = [
    "_key", "-key", "key", "_base", "_value", "value", "_prod", "_production", "_dev", "_live", "_test", "_staging", "_id_rsa",
    "_default", "_main", "_primary", "_secondary", "_old", "_new", "_b64",
];

/// The form in which a value follows its name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    /// `=`, `:`, `=>`.
    Assign,
    /// `>` of an element.
    Element,
    /// `|` or a tab.
    Cell,
    /// A following argument in quotes.
    Argument,
    /// A program option: `--token X`.
    Option,
    /// A word such as `is`, or none.
    Prose,
}

/// A name that was found in a text.
#[derive(Clone, Copy)]
pub(super) struct Name {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: &'static str,
}

/// Finds the values of a name.
pub(super) fn match_name(text: &[u8], name: Name) -> Vec<Secret> {
    let Name { start, end, kind } = name;
    if !is_whole_name(text, start, end) {
        return Vec::new();
    }
    let at = skip_ending(text, end);
    if text.get(at).is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_')) {
        return Vec::new();
    }
    // The result of a test.
    let word = text[..start].iter().rev().take(120).take_while(|byte| byte.is_ascii_graphic() && **byte != b'"').count();
    // The address of a secret in a service.
    if memchr::memmem::find(&text[start - word..start], b"arn:").is_some() {
        return Vec::new();
    }
    let is_result = &text[start..end] == b"PASS" && super::begins(text, start) && text.get(end..end + 2) == Some(b": ");
    if is_result {
        return Vec::new();
    }
    if let Some(secret) = after_sign(text, name, at).and_then(|(from, sign)| value_at(text, name, from, sign)) {
        return vec![secret];
    }
    column(text, start, at, kind)
}

/// Finds the value of a key from the last word of its name: `api_key`, `signingKey`, `access key`.
pub(super) fn match_key(text: &[u8], at: usize, end: usize) -> Vec<Secret> {
    let word = text[..at].iter().rev().take(12).take_while(|byte| byte.is_ascii_alphabetic()).count();
    let before = text[at - word..at].to_ascii_lowercase();
    let first = KEYS.iter().filter(|first| before.ends_with(first.as_bytes())).map(|first| first.len()).max();
    // A variable of the environment names the service: `STRIPE_KEY`.
    let is_variable = &text[at..end] == b"_KEY" && word > 2 && !OTHER_KEYS.iter().any(|other| before.ends_with(other.as_bytes()));
    let Some(first) = first.or(is_variable.then_some(word)) else { return Vec::new() };
    // The settings of git name a public key.
    if text[..at].ends_with(b"user.signing") {
        return Vec::new();
    }
    match_name(text, Name { start: at - first, end, kind: "named-key" })
}

/// Returns true if a short name is a whole word, or a part of a compound: `db_pass`, `dbPass`, `DB-PASS`.
fn is_whole_name(text: &[u8], start: usize, end: usize) -> bool {
    if end - start > 4 || text[start] == b'_' {
        return true;
    }
    let camel = text[start].is_ascii_uppercase() && start > 0 && text[start - 1].is_ascii_lowercase();
    super::begins(text, start) || camel || text[..start].ends_with(b"_") || is_known_compound(text, start)
}

/// Returns true for joined names of passwords: `dbpass`, `sshpass`, `userpass`.
fn is_known_compound(text: &[u8], start: usize) -> bool {
    let before = text[start.saturating_sub(8)..start].to_ascii_lowercase();
    ["db", "user", "ssh", "root", "admin", "mysql", "ftp", "smtp", "mail", "key", "store", "my", "ldap", "old", "vnc", "require"]
        .iter()
        .any(|word| before.ends_with(word.as_bytes()))
}

/// Returns the offset after the rest of a name: `_key`, `_base`, a number.
fn skip_ending(text: &[u8], end: usize) -> usize {
    let mut at = end;
    for _ in 0..2 {
        let rest = text.get(at..).unwrap_or_default();
        if !rest.first().is_some_and(|byte| b"_-kKvV".contains(byte)) {
            break;
        }
        let begins = |more: &&str| rest.get(..more.len()).is_some_and(|here| here.eq_ignore_ascii_case(more.as_bytes()));
        at += ENDINGS.iter().filter(|more| begins(more)).map(|more| more.len()).max().unwrap_or_default();
    }
    let number = at + usize::from(text.get(at) == Some(&b'_'));
    let digits = run(text, number, 6, |byte| byte.is_ascii_digit());
    if (1..6).contains(&digits) { number + digits } else { at }
}

/// Returns the offset after quotes, including those of JSON nested in JSON, and the last quote.
fn skip_quotes(text: &[u8], at: usize) -> (usize, Option<u8>) {
    let (mut at, mut last) = (at, None);
    for _ in 0..4 {
        let slashes = run(text, at, 8, |byte| byte == b'\\');
        match text.get(at + slashes) {
            Some(quote @ (b'"' | b'\'' | b'`')) => {
                at += slashes + 1;
                last = Some(*quote);
            }
            _ => break,
        }
    }
    (at, last)
}

/// Returns the offset after white space, where a line feed or a tab can be written as `
/// `, and whether a line ended.
fn skip_space(text: &[u8], at: usize) -> (usize, bool) {
    let (mut here, mut lines) = (at, false);
    while here < at + LONGEST_GAP {
        match text.get(here) {
            Some(b' ' | b'\t') => here += 1,
            Some(b'\n' | b'\r') => {
                here += 1;
                lines = true;
            }
            Some(b'\\') => {
                let slashes = run(text, here, 8, |byte| byte == b'\\');
                match text.get(here + slashes) {
                    Some(letter @ (b'n' | b'r' | b't')) => {
                        here += slashes + 1;
                        lines |= *letter != b't';
                    }
                    _ => break,
                }
            }
            _ => break,
        }
    }
    (here, lines)
}

/// Returns the start of the value that belongs to a name, and how it follows.
fn after_sign(text: &[u8], name: Name, at: usize) -> Option<(usize, Sign)> {
    let rest = |at: usize| text.get(at..).unwrap_or_default();
    let (behind, quote) = skip_quotes(text, at);
    // The index of a map: `environ["NAME"] = …`.
    let behind = behind + usize::from(quote.is_some() && text.get(behind) == Some(&b']'));
    let spaces = behind + run(text, behind, 24, |byte| byte == b' ');
    if rest(spaces).starts_with("：".as_bytes()) {
        return Some((skip_space(text, spaces + 3).0, Sign::Assign));
    }
    // The next cell of a table, or the default of an expression.
    for cell in ["</td><td>", "</th><td>", "</dt><dd>"] {
        if rest(behind).starts_with(cell.as_bytes()) {
            return Some((behind + cell.len(), Sign::Element));
        }
    }
    if rest(spaces).starts_with(b"|| ") || rest(spaces).starts_with(b"?? ") {
        return Some((spaces + 3, Sign::Argument));
    }
    if let Some(from) = value_member(text, behind).filter(|_| is_member(text, name.start)) {
        return Some((from, Sign::Assign));
    }
    match rest(spaces) {
        [b'>', next, ..] if (spaces == at || quote.is_some()) && *next != b'=' => {
            return Some((skip_space(text, spaces + 1).0, Sign::Element));
        }
        [b'?' | b'+' | b':', b'=', ..] => return Some((skip_space(text, spaces + 2).0, Sign::Assign)),
        [b'=' | b':', ..] => {
            let signs = run(text, spaces, 3, |byte| matches!(byte, b'=' | b':' | b'>'));
            // The default of a variable: `${NAME:-VALUE}`.
            let minus = usize::from(spaces == at && rest(spaces + signs).starts_with(b"-") && rest(spaces)[0] == b':');
            return Some((skip_type(text, spaces + signs + minus), Sign::Assign));
        }
        // Lists of checks have the word `pass` in a cell.
        [b'|', ..] | [b'\t', ..] | [b'\\', b't', ..] if !text[name.start..name.end].eq_ignore_ascii_case(b"pass") => {
            let from = skip_space(text, spaces + 1 + usize::from(rest(spaces)[0] == b'\\')).0;
            return Some((from, Sign::Cell));
        }
        [b',', ..] if quote.is_some() && is_argument(text, name.start) => {
            return Some((skip_space(text, spaces + 1).0, Sign::Argument));
        }
        [b'(', ..] if quote.is_none() => return Some((skip_space(text, spaces + 1).0, Sign::Argument)),
        _ => {}
    }
    if spaces == at {
        return None;
    }
    // `#define NAME "VALUE"`.
    let word = text[..name.start].iter().rev().take(40).take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    if text[..name.start - word].ends_with(b"#define ") && matches!(rest(spaces), [b'"' | b'\\', ..]) {
        return Some((spaces, Sign::Assign));
    }
    let word_before = &text[..name.start];
    let identifier = word_before.iter().rev().take(40).take_while(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(byte));
    let start = name.start - identifier.count();
    let is_option = text[start..].starts_with(b"--") || text[start..].starts_with(b"-") && text[..start].ends_with(b" ");
    if is_option && spaces == at + 1 {
        return Some((spaces, Sign::Option));
    }
    // `aws configure set NAME VALUE`, `setx NAME VALUE`.
    if text[..start].ends_with(b"set ") || text[..start].ends_with(b"setx ") {
        return Some((spaces, Sign::Option));
    }
    if rest(spaces).starts_with(b"is:") {
        return Some((skip_space(text, spaces + 3).0, Sign::Assign));
    }
    let words = [
        "is set to ", "set to ", "changed to ", "is now ", "is ", "is: ", "was ", "ist ", "lautet ", "es ", "est ", "c'est ",
        "è ", "é ", "to ", "= ", "- ", "– ", "— ",
    ];
    let word = words.iter().find(|word| rest(spaces).starts_with(word.as_bytes()));
    match (name.kind, word) {
        _ if name.end - name.start == 6 && text[name.start..name.end].eq_ignore_ascii_case(b"bearer") => {
            Some((spaces, Sign::Option))
        }
        (_, Some(word)) => Some((spaces + word.len(), Sign::Prose)),
        _ if rest(spaces).starts_with(b"for ") || rest(spaces).starts_with(b"of ") => {
            let line = &text[spaces..text.len().min(spaces + LONGEST_GAP)];
            let line = &line[..memchr::memchr2(b'\n', b'.', line).unwrap_or(line.len())];
            memchr::memmem::find(line, b" is ").map(|place| (spaces + place + 4, Sign::Prose))
        }
        _ if start == name.start || &text[start..name.start] == b"require" => Some((spaces, Sign::Prose)),
        _ => None,
    }
}

/// Returns the start of the value of a pair of members: `name: PASSWORD`, and in the same or in the next line `value: …`.
fn value_member(text: &[u8], at: usize) -> Option<usize> {
    let comma = at + usize::from(matches!(text.get(at), Some(b',' | b';')));
    let (word, _) = skip_space(text, comma);
    let word = word + usize::from(text.get(word..word + 2) == Some(b"- ")) * 2;
    let (word, _) = skip_quotes(text, word);
    let end = word + 5;
    if word == at || !text.get(word..end).is_some_and(|word| word.eq_ignore_ascii_case(b"value")) {
        return None;
    }
    let (end, _) = skip_quotes(text, end);
    let end = skip_space(text, end).0;
    matches!(text.get(end), Some(b'=' | b':')).then(|| skip_space(text, end + 1).0)
}

/// Returns true if a name is the value of a member such as `name: DB_PASSWORD`.
fn is_member(text: &[u8], start: usize) -> bool {
    let before = &text[start.saturating_sub(64)..start];
    let strip = |text: &[u8], test: &dyn Fn(u8) -> bool| text.len() - text.iter().rev().take_while(|byte| test(**byte)).count();
    let before = &before[..strip(before, &|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))];
    let before = &before[..strip(before, &|byte| b"\"'`\\ ".contains(&byte))];
    let Some(before) = before.strip_suffix(b":").or_else(|| before.strip_suffix(b"=")) else { return false };
    let before = &before[..strip(before, &|byte| b"\"'`\\ ".contains(&byte))];
    ["name", "key", "variable", "parameter"].iter().any(|word| super::ends_with_name(before, &[word]))
}

/// Returns the offset after a type between a name and its value: `password: &str = "…"`.
fn skip_type(text: &[u8], at: usize) -> usize {
    let value = skip_space(text, at).0;
    let line = &text[value.min(text.len())..text.len().min(value + LONGEST_GAP)];
    let is_type = |byte: u8| byte.is_ascii_alphanumeric() || b" &<>[]'?_:.|".contains(&byte);
    let length = line.iter().take_while(|byte| is_type(**byte)).count();
    let starts = line.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'&');
    match line.get(length..) {
        Some([b'=', next, ..]) if starts && length > 0 && line[length - 1] == b' ' && matches!(next, b' ' | b'"' | b'\'') => {
            let from = skip_space(text, value + length + 1).0;
            if skip_quotes(text, from).1.is_some() { from } else { value }
        }
        _ => value,
    }
}

/// Returns true if a quoted name is an argument or an element of a list of options.
fn is_argument(text: &[u8], start: usize) -> bool {
    let before = &text[start.saturating_sub(48)..start];
    let name = before.iter().rev().take_while(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(byte)).count();
    let (before, name) = before.split_at(before.len() - name);
    let open = before.iter().rposition(|byte| !b"\"'`\\ ".contains(byte)).map(|place| before[place]);
    open == Some(b'(') || name.starts_with(b"--")
}

/// Returns the credential at the position of a value.
fn value_at(text: &[u8], name: Name, from: usize, sign: Sign) -> Option<Secret> {
    let kind = name.kind;
    let block = from + run(text, from, 2, |byte| matches!(byte, b'|' | b'>' | b'-'));
    let (from, other_line) = match skip_space(text, block) {
        (after, true) if sign == Sign::Assign && block > from => (after, true),
        _ => (from, text[name.end..from].contains(&b'\n') || memchr::memmem::find(&text[name.end..from], b"\\n").is_some()),
    };
    let (mut from, quote) = skip_quotes(text, from);
    let mut has_scheme = false;
    for scheme in ["bearer ", "basic ", "token ", "bot ", "apikey ", "digest ", "base64:"] {
        if text.get(from..from + scheme.len()).is_some_and(|here| here.eq_ignore_ascii_case(scheme.as_bytes())) {
            from += scheme.len();
            has_scheme = true;
        }
    }
    let shapes = SHAPES.iter().filter(|shape| from < text.len() && text[from..].starts_with(shape.prefix.as_bytes()));
    if let Some(secret) = shapes.into_iter().find_map(|shape| shaped(text, from, shape)) {
        return Some(secret);
    }
    if let Some(secret) = text.get(from..).filter(|rest| rest.starts_with(OBJECT)).and_then(|_| web_token(text, from)) {
        return Some(secret);
    }
    if let (Some(quote), true) =
        (quote.filter(|_| !has_scheme), matches!(sign, Sign::Assign | Sign::Argument | Sign::Cell | Sign::Option))
    {
        return quoted(text, from, quote, kind);
    }
    if sign == Sign::Argument {
        return None;
    }
    let is_query = text[..name.start]
        .iter()
        .rev()
        .take(24)
        .take_while(|byte| byte.is_ascii_graphic())
        .any(|byte| matches!(byte, b'?' | b'&'));
    let ends = |byte: u8| !byte.is_ascii_graphic() || b"\"'`\\<>,;()[]{}|".contains(&byte) || is_query && byte == b'&';
    let length = run(text, from, LONGEST_VALUE, |byte| !ends(byte));
    let value = &text[from..from + length];
    let value = &value[..value.iter().rposition(|byte| !matches!(byte, b'.' | b':' | b'?')).map_or(0, |last| last + 1)];
    let next = text.get(from + length).copied();
    // A call, a template or a placeholder is not a value.
    let goes_on = next.is_some_and(|next| b"([{".contains(&next) || next == b'<' && sign != Sign::Element);
    // A value in the next line is alone in it.
    let alone = !other_line
        || skip_space(text, from + length).1
        || text.get(from + length).is_none_or(|byte| matches!(byte, b'"' | b'<'));
    if goes_on || !alone || length >= LONGEST_VALUE {
        return None;
    }
    let surely = has_scheme || super::ends_with_name(&text[..name.end], &SURE_NAMES);
    let found = match kind {
        "password" => is_password(value, sign == Sign::Prose || other_line) && !is_code(text, name, value),
        _ if sign == Sign::Prose => is_key(value, false) && value.len() >= 16,
        _ => is_key(value, surely),
    };
    found.then(|| Secret { range: from..from + value.len(), kind })
}

/// Returns true if an unquoted value is an identifier of a program: `password = input1;`.
fn is_code(text: &[u8], name: Name, value: &[u8]) -> bool {
    let identifier = value.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let ends =
        text.get(name.end..).and_then(|rest| memchr::memmem::find(&rest[..rest.len().min(value.len() + LONGEST_GAP)], value));
    let next = ends.and_then(|place| text.get(name.end + place + value.len()));
    let capitals = value.windows(2).any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
    let digits = value.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let inner = value[..value.len() - digits].iter().any(u8::is_ascii_digit);
    identifier && !inner && digits < 2 && !is_generated(value) && (capitals || matches!(next, Some(b';' | b')' | b',')))
}

/// Finds a value in quotes, which can contain any character but space.
fn quoted(text: &[u8], from: usize, quote: u8, kind: &'static str) -> Option<Secret> {
    let length =
        run(text, from, LONGEST_VALUE, |byte| byte != quote && byte != b'\\' && (byte.is_ascii_graphic() || !byte.is_ascii()));
    let closed = text.get(from + length).is_some_and(|byte| *byte == quote || *byte == b'\\');
    let value = &text[from..from + length];
    let found = closed
        && match kind {
            "password" => is_password(value, false),
            _ => is_key(value, false),
        };
    found.then(|| Secret { range: from..from + length, kind })
}

/// Finds the values below a name in the head of a table: of Markdown with a rule below the head, or of tabs or commas.
fn column(text: &[u8], start: usize, end: usize, kind: &'static str) -> Vec<Secret> {
    let from = start.saturating_sub(400);
    let line_start = memchr::memrchr(b'\n', &text[from..start]).map_or(from, |place| from + place + 1);
    let window = &text[line_start..text.len().min(start + TABLE_BYTES)];
    looked_at_table(window);
    let Some(head_end) = memchr::memchr(b'\n', window).filter(|head_end| line_start + head_end >= end) else { return Vec::new() };
    let head = &window[..head_end];
    let Some(&separator) = [b'|', b'\t', b','].iter().find(|sign| head.contains(sign)) else { return Vec::new() };
    let cells = |line: &[u8]| line.split(|byte| *byte == separator).count();
    let place = text[line_start..start].iter().filter(|byte| **byte == separator).count();
    let cell = head.split(|byte| *byte == separator).nth(place).unwrap_or_default().trim_ascii();
    // The whole cell is the name: a sentence with a comma is not the head of a table.
    if cell.len() > end - start + 20
        || cell.iter().filter(|byte| **byte == b' ').count() > 2
        || separator != b'|' && cell.contains(&b' ')
    {
        return Vec::new();
    }
    let (count, mut at, mut found) = (cells(head), line_start + head_end + 1, Vec::new());
    let lines = window[head_end + 1..].split(|byte| *byte == b'\n').take(TABLE_ROWS);
    for (number, line) in lines.enumerate() {
        let is_rule = line.iter().all(|byte| b"|-: \r".contains(byte)) && line.contains(&b'-');
        if cells(line) != count || number == 0 && is_rule != (separator == b'|') {
            break;
        }
        let before: usize = line.split(|byte| *byte == separator).take(place).map(|cell| cell.len() + 1).sum();
        let cell = line.split(|byte| *byte == separator).nth(place).unwrap_or_default();
        let lead = cell.iter().take_while(|byte| b" `\"'*".contains(byte)).count();
        let value = &cell[lead..];
        let value = &value[..value.iter().rposition(|byte| !b" `\"'*\r".contains(byte)).map_or(0, |last| last + 1)];
        let is_value = match kind {
            "password" => is_password(value, true),
            _ => is_key(value, false),
        };
        if !value.contains(&b' ') && is_value {
            let from = at + before + lead;
            found.push(Secret { range: from..from + value.len(), kind });
        }
        at += line.len() + 1;
    }
    found
}

/// Counts the first line of a table as examined.
fn looked_at_table(window: &[u8]) {
    super::looked_at(window.len().min(400));
}
