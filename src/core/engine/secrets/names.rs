//! Credentials after a name: `password=…`, `"token": "…"`, `getEnv("API_KEY", "…")`, `<password>…</password>`, a table cell.

use super::values::{is_generated, is_key, is_passphrase, is_password, is_rich};
use super::{OBJECT, Secret, calls, run, sentence, shaped_at, web_token};
use crate::text::lists::word_lists;

/// Bytes that are examined after a name up to its value.
const LONGEST_GAP: usize = 60;
/// Maximum length of a value, and one more, in bytes.
pub(super) const LONGEST_VALUE: usize = 2049;
const LONGEST_PASSPHRASE: usize = 129;
/// Rows and bytes of a table that are examined below its head.
const TABLE_ROWS: usize = 50;
const TABLE_BYTES: usize = 8 << 10;

/// Names that precede a credential, by the kind of the credential.
static NAMES: &[(&str, &[&str])] = &[
    (
        "password",
        &[
            "password", "passwd", "passphrase", "passcode", "pass", "pwd", "pw", "psk", "passwort", "kennwort", "mot de passe",
            "contraseña", "contrasena", "senha", "parola d'ordine", "wachtwoord", "lösenord", "lösenordet", "salasana", "hasło",
            "heslo", "şifre", "пароль", "Пароль", "パスワード", "密码", "密碼", "口令", "비밀번호", "clave", "parola", "jelszó",
            "adgangskode", "passord", "lozinka", "geslo", "пароля", "κωδικός", "סיסמה", "كلمة المرور", "mật khẩu", "kata sandi",
            "authtok", "masterauth",
        ],
    ),
    ("named-secret", &["secret", "credential"]),
    ("named-token", &["token", "authorization", "bearer", "_auth", "_pat"]),
    ("session-cookie", &["phpsessid", concat!("jsession", "id"), "connect.sid"]),
    ("named-key", &["apikey", "accesskey", "accountkey", "authkey", "privatekey", "presharedkey"]),
];

/// Returns each of [`NAMES`] with its kind.
pub(super) fn names() -> impl Iterator<Item = (&'static str, &'static str)> {
    NAMES.iter().flat_map(|(kind, names)| names.iter().map(move |name| (*name, *kind)))
}

/// The last word of the name of a key, in its spellings.
pub(super) const KEY_WORDS: [&str; 8] = ["_key", "_KEY", "-key", "-KEY", "-Key", "Key", " key", " Key"];
word_lists! { "names.txt": KEYS, OTHER_KEYS, SURE_NAMES, ENDINGS }

/// The form in which a value follows its name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    /// `=`, `:`, `=>`.
    Assign,
    /// `>` of an element.
    Element,
    /// `|` or a tab.
    Cell,
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
    // The address of a secret in a service, and the name of a product.
    if memchr::memmem::find(&text[start - word..start], b"arn:").is_some()
        || text[..start].ends_with(b"1") && super::begins(text, start - 1)
    {
        return Vec::new();
    }
    let is_result = &text[start..end] == b"PASS" && super::begins(text, start) && text.get(end..end + 2) == Some(b": ");
    if is_result {
        return Vec::new();
    }
    if let Some(secret) = after_sign(text, name, at).and_then(|(from, sign)| value_at(text, name, from, sign)) {
        return vec![secret];
    }
    let values = column(text, start, at, kind);
    if !values.is_empty() || kind != "password" && kind != "named-secret" {
        return values;
    }
    sentence::before(text, start, at).or_else(|| calls::inserted(text, start, at)).into_iter().collect()
}

/// Finds the value of a key from the last word of its name: `api_key`, `signingKey`, `access key`.
pub(super) fn match_key(text: &[u8], at: usize, end: usize) -> Vec<Secret> {
    let word = text[..at].iter().rev().take(12).take_while(|byte| byte.is_ascii_alphabetic()).count();
    let before = text[at - word..at].to_ascii_lowercase();
    let first = KEYS.iter().filter(|first| before.ends_with(first.as_bytes())).map(|first| first.len()).max();
    // A variable of the environment names the service: `STRIPE_KEY`.
    let is_variable = &text[at..end] == b"_KEY" && word > 2 && !OTHER_KEYS.iter().any(|other| before.ends_with(other.as_bytes()));
    let Some(first) = first.or(is_variable.then_some(word)) else { return Vec::new() };
    let mut found = match_name(text, Name { start: at - first, end, kind: "named-key" });
    // The settings of git name a public key, also by its fingerprint.
    let is_fingerprint =
        |secret: &Secret| text[secret.range.clone()].iter().all(|byte| matches!(byte, b'0'..=b'9' | b'A'..=b'F'));
    if before.ends_with(b"signing") {
        found.retain(|secret| !text[..at].ends_with(b"user.signing") && !is_fingerprint(secret));
    }
    found
}

/// Returns true if a short name is a whole word, or a part of a compound: `db_pass`, `dbPass`, `DB-PASS`.
fn is_whole_name(text: &[u8], start: usize, end: usize) -> bool {
    if end - start > 4 || text[start] == b'_' {
        return true;
    }
    let camel = text[start].is_ascii_uppercase() && start > 0 && text[start - 1].is_ascii_lowercase();
    super::begins(text, start) || camel || text[..start].ends_with(b"_") || is_known_compound(text, start)
}

/// Returns true for joined names of passwords, such as `dbpass`, but not for words of a language.
fn is_known_compound(text: &[u8], start: usize) -> bool {
    let before = text[start.saturating_sub(8)..start].to_ascii_lowercase();
    let is_word = ["by", "com", "mini", "tres", "sur", "under", "over", "encom", "tim", "cam"];
    before.last().is_some_and(u8::is_ascii_lowercase) && !is_word.iter().any(|word| before.ends_with(word.as_bytes()))
}

/// Returns the offset after the rest of a name: `_key`, `_base`, a number.
fn skip_ending(text: &[u8], end: usize) -> usize {
    let mut at = end;
    for _ in 0..2 {
        let rest = text.get(at..).unwrap_or_default();
        if !rest.first().is_some_and(|byte| b"_-kKvV'".contains(byte)) {
            break;
        }
        let same = |(here, byte): (&u8, u8)| here.to_ascii_lowercase() == byte || *here == b'-' && byte == b'_';
        let begins = |more: &&str| rest.len() >= more.len() && rest.iter().zip(more.bytes()).all(same);
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

/// Returns the offset after white space, where a line feed or a tab can be written as `\n`, and whether a line ended.
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
    // A name with emphasis: `**Password**: …`.
    let emphasis = text[..name.start].last().filter(|byte| matches!(byte, b'*' | b'_'));
    let marks = emphasis.map_or(0, |mark| run(text, at, 2, |byte| byte == *mark));
    // The end of a selector: `[name=password]`.
    let marks = if matches!(rest(at), [b']', b'"' | b'\'', ..]) { 1 } else { marks };
    let ends =
        ["</b>", "</strong>"].iter().find(|tag| rest(at).starts_with(tag.as_bytes()) && !rest(at + tag.len()).starts_with(b"<"));
    let marks = ends.map_or(marks, |tag| tag.len());
    let (behind, quote) = skip_quotes(text, at + marks);
    // The index of a map: `environ["NAME"] = …`.
    let behind = behind + usize::from(quote.is_some() && text.get(behind) == Some(&b']'));
    let spaces = behind + run(text, behind, 24, |byte| byte == b' ');
    if rest(spaces).starts_with("：".as_bytes()) {
        return Some((skip_space(text, spaces + 3).0, Sign::Assign));
    }
    // The default of an expression.
    let call = spaces + if quote.is_some() && rest(spaces).starts_with(b") ") { 2 } else { 0 };
    if [&b"|| "[..], b"?? ", b"or "].iter().any(|word| rest(call).starts_with(word)) {
        return Some((call + 3, Sign::Argument));
    }
    if let Some(from) = value_member(text, name.start, behind) {
        return Some((from, Sign::Assign));
    }
    if let Some(from) = element_text(text, name.start, behind) {
        return Some((from, Sign::Element));
    }
    match rest(spaces) {
        // The message for a variable that is not set.
        [b':', b'?' | b'+', ..] => return None,
        [b'?' | b'+' | b':', b'=', ..] => return Some((skip_space(text, spaces + 2).0, Sign::Assign)),
        [b'=' | b':', ..] => {
            let signs = run(text, spaces, 3, |byte| matches!(byte, b'=' | b':' | b'>'));
            // The default of a variable: `${NAME:-VALUE}`.
            let minus = usize::from(spaces == at && rest(spaces + signs).starts_with(b"-") && rest(spaces)[0] == b':');
            let from = spaces + signs + minus;
            let marks = emphasis.map_or(0, |mark| run(text, from, 2, |byte| byte == *mark));
            return Some((skip_type(text, from + marks), Sign::Assign));
        }
        // Lists of checks have the word `pass` in a cell.
        [b'|', ..] | [b'\t', ..] | [b'\\', b't', ..]
            if !text[name.start..name.end].eq_ignore_ascii_case(b"pass") || !super::begins(text, name.start) =>
        {
            let from = skip_space(text, spaces + 1 + usize::from(rest(spaces)[0] == b'\\')).0;
            return Some((from, Sign::Cell));
        }
        [b')', b',', ..] if quote.is_some() => return Some((skip_space(text, spaces + 2).0, Sign::Argument)),
        [b',', ..] if quote.is_some() && is_argument(text, name.start) => {
            return Some((skip_space(text, spaces + 1).0, Sign::Argument));
        }
        [b'<', b'-', ..] => return Some((skip_space(text, spaces + 2).0, Sign::Assign)),
        // A remark between a name and its value.
        [b'(', remark @ ..] if spaces == at + 1 => {
            let close = memchr::memchr(b')', &remark[..remark.len().min(LONGEST_GAP)])?;
            return matches!(remark.get(close + 1), Some(b':' | b'='))
                .then(|| (skip_space(text, spaces + close + 3).0, Sign::Assign));
        }
        // The name of a field of a form, and what is typed there.
        [b')', b'.', call @ ..] if quote.is_some() => {
            let open = memchr::memchr(b'(', &call[..call.len().min(16)])?;
            let types = [&b"type"[..], b"fill", b"send_keys", b"sendKeys", b"setValue", b"set", b"val"].contains(&&call[..open]);
            return types.then_some((spaces + open + 3, Sign::Argument));
        }
        [b'(', ..] if quote.is_none() => return Some((skip_space(text, spaces + 1).0, Sign::Argument)),
        _ => {}
    }
    if spaces == at {
        return sentence::after(text, at, name.kind).map(|from| (from, Sign::Prose));
    }
    separate_word(text, name, at, spaces)
}

fn separate_word(text: &[u8], name: Name, at: usize, spaces: usize) -> Option<(usize, Sign)> {
    let rest = &text[spaces..];
    // `#define NAME "VALUE"`.
    let word = text[..name.start].iter().rev().take(40).take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    if text[..name.start - word].ends_with(b"#define ") && matches!(rest, [b'"' | b'\\', ..]) {
        return Some((spaces, Sign::Assign));
    }
    let word_before = &text[..name.start];
    let identifier = word_before.iter().rev().take(40).take_while(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(byte));
    let start = name.start - identifier.count();
    let is_option = text[start..].starts_with(b"--") || text[start..].starts_with(b"-") && text[..start].ends_with(b" ");
    // `aws configure set NAME VALUE`, `setx NAME VALUE`, `set -gx NAME VALUE`.
    let sets = ["set ", "setx ", "setenv ", "set -x ", "set -gx ", "set -Ux ", "--secret "];
    if is_option && spaces == at + 1 || sets.iter().any(|set| text[..start].ends_with(set.as_bytes())) {
        return Some((spaces, Sign::Option));
    }
    if rest.starts_with(b"is:") {
        return Some((skip_space(text, spaces + 3).0, Sign::Assign));
    }
    if text[name.start..name.end].eq_ignore_ascii_case(b"bearer") {
        return Some((spaces, Sign::Option));
    }
    // A word such as `two-pass`.
    if text[..name.start].ends_with(b"-") && name.end - name.start == 4 {
        return None;
    }
    sentence::after(text, spaces, name.kind).map(|from| (from, Sign::Prose))
}

/// Returns the start of the text of an element that a name belongs to: `<password>`, `<a name="password">`, or the element after
/// `<key>password</key>`.
fn element_text(text: &[u8], start: usize, behind: usize) -> Option<usize> {
    const TAG_BYTES: usize = 120;
    let tag_end = |at: usize| {
        let tag = &text[at..text.len().min(at + TAG_BYTES)];
        memchr::memchr2(b'>', b'<', tag)
            .filter(|length| tag[*length] == b'>' && !tag[..*length].ends_with(b"/"))
            .map(|length| at + length + 1)
    };
    let closes = |at: usize| text.get(at) == Some(&b'<');
    let mut at = match closes(behind) {
        true => behind,
        false => {
            let before = &text[start.saturating_sub(TAG_BYTES)..start];
            memchr::memrchr2(b'<', b'>', before).filter(|place| before[*place] == b'<')?;
            tag_end(behind)?
        }
    };
    for _ in 0..4 {
        at = skip_space(text, at).0;
        match closes(at) {
            true => at = tag_end(at + 1)?,
            false => return Some(at),
        }
    }
    None
}

/// Returns the start of the value of a pair of members: `name: PASSWORD`, and in the same or in the next line `value: …`; of a tag
/// with a name and a value; of the block of a variable with its default.
fn value_member(text: &[u8], start: usize, at: usize) -> Option<usize> {
    let before = &text[start.saturating_sub(80)..start];
    let is_in_tag = memchr::memrchr2(b'<', b'>', before).is_some_and(|place| before[place] == b'<');
    let opens_block = text.get(at..at + 2) == Some(b" {");
    let (end, _) = if is_in_tag || opens_block {
        let window = text[at..text.len().min(at + 160)].to_ascii_lowercase();
        let window = &window[..memchr::memchr2(b'>', b'}', &window).unwrap_or(window.len())];
        let word =
            [" value", " default"].iter().find_map(|word| Some(memchr::memmem::find(window, word.as_bytes())? + word.len()))?;
        skip_quotes(text, at + word)
    } else {
        let comma = at + usize::from(matches!(text.get(at), Some(b',' | b';')));
        let (word, _) = skip_space(text, comma);
        let word = word + usize::from(text.get(word..word + 2) == Some(b"- ")) * 2;
        let (word, _) = skip_quotes(text, word);
        let is_here =
            |name: &&str| text.get(word..word + name.len()).is_some_and(|here| here.eq_ignore_ascii_case(name.as_bytes()));
        let length = ["value", "default"].iter().find(|name| is_here(name))?.len();
        if word == at || !is_member(text, start) {
            return None;
        }
        skip_quotes(text, word + length)
    };
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
    let before = before.strip_suffix(b"[name=").unwrap_or(before);
    let open = before.iter().rposition(|byte| !b"\"'`\\ #".contains(byte)).map(|place| before[place]);
    open == Some(b'(') || name.starts_with(b"--")
}

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
        let follows = text.get(from..from + scheme.len()).is_some_and(|here| here.eq_ignore_ascii_case(scheme.as_bytes()));
        if follows && sign != Sign::Element {
            from += scheme.len();
            has_scheme = true;
        }
    }
    // Any word that names a scheme.
    let word = run(text, from, 17, |byte| byte.is_ascii_alphabetic() || byte == b'-');
    if !has_scheme
        && text[name.start..name.end].eq_ignore_ascii_case(b"authorization")
        && word > 2
        && text.get(from + word) == Some(&b' ')
    {
        from += word + 1;
        has_scheme = true;
    }
    // A value with emphasis: `<b>…</b>`, or behind a name with one; a quote of a language.
    let tag = text.get(from..).filter(|rest| rest.starts_with(b"<")).and_then(|rest| {
        let slash = 1 + usize::from(rest.get(1) == Some(&b'/'));
        let name = run(text, from + slash, 7, |byte| byte.is_ascii_lowercase());
        (rest.get(slash + name) == Some(&b'>')).then(|| skip_space(text, from + slash + name + 1).0)
    });
    from = tag.unwrap_or(from);
    let open = ["「", "『", "“", "„", "«", "‘"].iter().find(|open| text[from..].starts_with(open.as_bytes()));
    from += open.map_or(0, |open| open.len());
    if let Some(secret) = shaped_at(text, from) {
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
    let ends = |byte: u8| ends_value(byte) || is_query && byte == b'&';
    let mut length = run(text, from, LONGEST_VALUE, |byte| !ends(byte));
    // Brackets in a generated value with symbols.
    let is_symbolic =
        |value: &[u8]| length >= 12 && is_rich(value) && is_generated(value) && !value.windows(2).any(|pair| pair[0] == pair[1]);
    if text.get(from + length).is_some_and(|next| b"([{)]}".contains(next)) && is_symbolic(&text[from..from + length]) {
        length = run(text, from, LONGEST_VALUE, |byte| byte.is_ascii_graphic() && !b"\"'`\\<>,;".contains(&byte));
    }
    let value = &text[from..from + length];
    let value = &value[..value.iter().rposition(|byte| !matches!(byte, b'.' | b':' | b'?')).map_or(0, |last| last + 1)];
    let next = text.get(from + length).copied();
    // A call, a template or a placeholder is not a value.
    let goes_on = next.is_some_and(|next| b"([{".contains(&next) || next == b'<' && sign != Sign::Element && tag.is_none());
    // A value in the next line is alone in it.
    let alone = !other_line
        || skip_space(text, from + length).1
        || text.get(from + length).is_none_or(|byte| matches!(byte, b'"' | b'<'));
    let is_element = sign != Sign::Element || text.get(skip_space(text, from + length).0) == Some(&b'<');
    if goes_on || !alone || !is_element || length >= LONGEST_VALUE {
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

/// Returns true if a value without quotes ends before a byte, whatever its name.
pub(super) fn ends_value(byte: u8) -> bool {
    !byte.is_ascii_graphic() || b"\"'`\\<>,;()[]{}|".contains(&byte)
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

/// Finds a value in quotes, of which only a password can have spaces.
fn quoted(text: &[u8], from: usize, quote: u8, kind: &'static str) -> Option<Secret> {
    let length =
        run(text, from, LONGEST_VALUE, |byte| byte != quote && byte != b'\\' && (byte.is_ascii_graphic() || !byte.is_ascii()));
    if kind == "password" && text.get(from + length) == Some(&b' ') {
        let is_inside = |byte: u8| byte == b' ' || byte != quote && byte != b'\\' && byte.is_ascii_graphic();
        let end = from + run(text, from, LONGEST_PASSPHRASE, is_inside);
        let is_value = skip_quotes(text, end).1 == Some(quote) && is_passphrase(&text[from..end]);
        return is_value.then_some(Secret { range: from..end, kind });
    }
    let closed = text.get(from + length).is_some_and(|byte| *byte == quote || *byte == b'\\');
    let value = &text[from..from + length];
    let found = closed
        && match kind {
            "password" => is_password(value, false),
            _ => is_key(value, false),
        };
    found.then(|| Secret { range: from..from + length, kind })
}

/// Returns the length of a line, and the length with its end: a line feed, also in the form that it has in JSON.
fn line_lengths(text: &[u8]) -> (usize, usize) {
    let mut from = 0;
    while let Some(place) = memchr::memchr2(b'\n', b'\\', &text[from..]).map(|place| from + place) {
        let slashes = text[place..].iter().take_while(|byte| **byte == b'\\').count();
        match text.get(place + slashes) {
            Some(b'\n') if slashes == 0 => return (place, place + 1),
            Some(b'n') if slashes > 0 => return (place, place + slashes + 1),
            _ => from = place + slashes.max(1),
        }
    }
    (text.len(), text.len())
}

/// Finds the values below a name in the head of a table: of Markdown with a rule below the head, or of tabs, commas or semicolons;
/// or the value in the line below a name that is alone in its line.
fn column(text: &[u8], start: usize, end: usize, kind: &'static str) -> Vec<Secret> {
    let from = start.saturating_sub(400);
    let before = &text[from..start];
    let feed =
        memchr::memrchr(b'\n', before).map(|place| place + 1).max(memchr::memmem::rfind(before, b"\\n").map(|place| place + 2));
    let line_start = from + feed.or_else(|| memchr::memrchr(b'"', before).map(|place| place + 1)).unwrap_or_default();
    let window = &text[line_start..text.len().min(start + TABLE_BYTES)];
    super::looked_at(window.len().min(400));
    let (head_end, next) = line_lengths(&window[..window.len().min(800)]);
    let head = &window[..head_end];
    if next == head_end || line_start + head_end < end {
        return Vec::new();
    }
    let signs: [&[u8]; 5] = [b"|", b"\t", b"\\t", b",", b";"];
    let has = |text: &[u8], sign: &[u8]| memchr::memmem::find(text, sign).is_some();
    let separator = signs.into_iter().find(|sign| has(head, sign)).unwrap_or(b"\n");
    let place = memchr::memmem::find_iter(&text[line_start..start], separator).count();
    let cell = head[nth_cell(head, separator, place)].trim_ascii();
    // The whole cell is the name: a sentence with a comma is not the head of a table.
    let extra = cell.len().saturating_sub(end - start);
    if extra > 20
        || cell.iter().filter(|byte| **byte == b' ').count() > 2
        || separator != b"|" && (extra > 12 || cell.contains(&b' '))
    {
        return Vec::new();
    }
    let cells = |line: &[u8]| memchr::memmem::find_iter(line, separator).count();
    let (count, mut at, mut found) = (cells(head), line_start + next, Vec::new());
    for number in 0..if separator == b"\n" { 1 } else { TABLE_ROWS } {
        let rest = &text[at..line_start + window.len()];
        let (length, next) = line_lengths(rest);
        let line = &rest[..length];
        let is_rule = line.iter().all(|byte| b"|-: \r".contains(byte)) && line.contains(&b'-');
        if next == 0 || cells(line) != count || number == 0 && is_rule != (separator == b"|") {
            break;
        }
        let range = nth_cell(line, separator, place);
        let cell = &line[range.clone()];
        let lead = cell.iter().take_while(|byte| b" `\"'*".contains(byte)).count();
        let value = &cell[lead..];
        let value = &value[..value.iter().position(|byte| b" `\"'\\\r".contains(byte)).unwrap_or(value.len())];
        let is_value = match kind {
            "password" => is_password(value, extra > 0 || separator == b"\n"),
            _ => is_key(value, false),
        };
        if cell[lead + value.len()..].iter().all(|byte| b" `\"'*\\\r}]".contains(byte)) && is_value {
            let from = at + range.start + lead;
            found.push(Secret { range: from..from + value.len(), kind });
        }
        at += next;
    }
    found
}

fn nth_cell(line: &[u8], separator: &[u8], place: usize) -> std::ops::Range<usize> {
    let mut signs = memchr::memmem::find_iter(line, separator);
    let start = place.checked_sub(1).map_or(Some(0), |before| signs.nth(before).map(|sign| sign + separator.len()));
    let end = signs.next().unwrap_or(line.len());
    start.map_or(line.len()..line.len(), |start| start..end)
}
