//! Credentials that are only recognizable by their context: program arguments, password files, service names.
//!
//! Each function is called with the offset after the word that the automaton found, and examines a limited number of bytes from
//! there.

use super::{Secret, begins, changes, is_mixed, is_random};
use base64::Engine as _;
use std::ops::Range;

/// Bytes of a command line that are examined after the name of a program.
const LINE_BYTES: usize = 400;
/// Longest password, in bytes.
const PASSWORD_BYTES: usize = 200;

/// Programs that accept a password as an argument: their names, the flags, and the rule for a space after the flag.
pub(super) static PROGRAMS: &[(&str, &[&str], Space)] = &[
    ("curl ", &["-u", "--user"], Space::Optional),
    ("sshpass ", &["-p"], Space::Optional),
    ("mysql ", &["-p"], Space::Never),
    ("mysqldump ", &["-p"], Space::Never),
    ("mysqladmin ", &["-p"], Space::Never),
    ("mariadb ", &["-p"], Space::Never),
    ("mongosh ", &["-p"], Space::Optional),
    ("redis-cli ", &["-a"], Space::Optional),
];

/// Describes if a space may separate a flag from its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Space {
    Optional,
    Never,
}

/// Services whose keys have no shape of their own; the service name is part of the setting's name.
pub(super) static SERVICES: &[&str] = &[
    "adafruit",
    "airtable",
    "algolia",
    "alibaba",
    "asana",
    "beamer",
    "bitbucket",
    "bittrex",
    "cloudflare",
    "codecov",
    "cohere",
    "coinbase",
    "confluent",
    "contentful",
    "datadog",
    "discord",
    "droneci",
    "dropbox",
    "etsy",
    "facebook",
    "fastly",
    "finicity",
    "finnhub",
    "flickr",
    "freshbooks",
    "gitter",
    "gocardless",
    "heroku",
    "hubspot",
    "intercom",
    "jfrog",
    "artifactory",
    "kraken",
    "kucoin",
    "launchdarkly",
    "linkedin",
    "mailchimp",
    "mailgun",
    "mattermost",
    "meraki",
    "messagebird",
    "netlify",
    "nytimes",
    "okta",
    "plaid",
    "privateai",
    "rapidapi",
    "sendbird",
    "snyk",
    "squarespace",
    "sumologic",
    "telegram",
    "travis",
    "twitch",
    "twitter",
    "yandex",
    "zendesk",
];

/// Finds a password in the arguments of a program.
pub(super) fn argument(text: &[u8], at: usize, flags: &[&str], space: Space) -> Option<Secret> {
    let line = line(text, at);
    for flag in flags {
        let with_space = format!(" {flag}");
        for start in memchr::memmem::find_iter(&text[at - 1..line.end], with_space.as_bytes()) {
            let end = at - 1 + start + with_space.len();
            let spaces = text[end..line.end].iter().take_while(|byte| matches!(byte, b' ' | b'=')).count();
            if spaces > 0 && space == Space::Never {
                continue;
            }
            let value = value(text, end + spaces, line.end);
            // The user name precedes the password.
            let value = match flag.starts_with("-u") || *flag == "--user" {
                true => match memchr::memchr(b':', &text[value.clone()]) {
                    Some(colon) => value.start + colon + 1..value.end,
                    None => continue,
                },
                false => value,
            };
            if is_password(&text[value.clone()]) {
                return Some(Secret { range: value, kind: "password" });
            }
        }
    }
    None
}

/// Finds the password of a netrc entry: `machine … login … password …`.
pub(super) fn netrc(text: &[u8], at: usize) -> Option<Secret> {
    let end = text.len().min(at + LINE_BYTES);
    let mut rest = words(text, at, end);
    rest.next()?;
    while let Some(word) = rest.next() {
        match &text[word] {
            b"login" | b"account" => {
                rest.next()?;
            }
            b"password" => {
                let value = rest.next()?;
                return is_password(&text[value.clone()]).then_some(Secret { range: value, kind: "password" });
            }
            _ => return None,
        }
    }
    None
}

/// Finds the user and the password of a registry in the Docker configuration: base64 after `"auth":`.
pub(super) fn docker_auth(text: &[u8], at: usize) -> Option<Secret> {
    let quotes = text[at..].iter().take(6).take_while(|byte| matches!(byte, b' ' | b'"' | b'\\')).count();
    let from = at + quotes;
    let length =
        text[from..].iter().take(PASSWORD_BYTES).take_while(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(byte)).count();
    let value = &text[from..from + length];
    let decoded = base64::engine::general_purpose::STANDARD.decode(value).ok().filter(|_| quotes > 0 && length >= 12)?;
    let colon = decoded.iter().position(|byte| *byte == b':')?;
    let plain = decoded.iter().all(|byte| byte.is_ascii_graphic());
    (plain && colon > 0 && decoded.len() > colon + 3).then_some(Secret { range: from..from + length, kind: "named-secret" })
}

/// Finds the value after the name of a service: `datadog_key = …`.
pub(super) fn service(text: &[u8], at: usize) -> Option<Secret> {
    let here = |at: usize| text.get(at).copied().unwrap_or_default();
    let name = text[at..].iter().take(20).take_while(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(byte)).count();
    let quotes = |at: usize| text[at..].iter().take(4).take_while(|byte| b" \"'`\\".contains(byte)).count();
    let mut from = at + name;
    from += quotes(from);
    let signs = text[from..].iter().take(2).take_while(|byte| b"=:>".contains(byte)).count();
    if signs == 0 {
        return None;
    }
    from += signs;
    from += quotes(from);
    let length = text[from..].iter().take(121).take_while(|byte| byte.is_ascii_alphanumeric() || b"_-=".contains(byte)).count();
    let value = &text[from..from + length];
    let random = (16..=120).contains(&length) && changes(value) >= 5 && is_random(value, 9);
    (random && !b"./([{:@".contains(&here(from + length))).then_some(Secret { range: from..from + length, kind: "named-key" })
}

/// Finds a Telegram bot token: its number, a colon, 35 characters of which the first are `AA`. `at` is the offset of the colon.
pub(super) fn telegram(text: &[u8], at: usize) -> Option<Secret> {
    let digits = text[..at].iter().rev().take(12).take_while(|byte| byte.is_ascii_digit()).count();
    let start = at - digits;
    let starts = begins(text, start) || text[..start].ends_with(b"bot");
    let key =
        text[at + 1..].iter().take(40).take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')).count();
    let fits = (7..=11).contains(&digits) && key == 35 && starts && text[at + 1..].starts_with(b"AA");
    (fits && is_random(&text[at + 1..at + 1 + key], 12)).then_some(Secret { range: start..at + 1 + key, kind: "telegram-token" })
}

/// Finds a Discord bot token: its number in base64, a time, a signature.
pub(super) fn discord(text: &[u8], at: usize) -> Option<Secret> {
    let part = |at: usize, most: usize| {
        text.get(at..)
            .unwrap_or_default()
            .iter()
            .take(most + 1)
            .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
            .count()
    };
    let starts = begins(text, at);
    let number = part(at, 28);
    let time = at + number + 1;
    let signature = time + 7;
    let length = part(signature, 40);
    let points = text.get(at + number) == Some(&b'.') && text.get(signature - 1) == Some(&b'.');
    if !starts || !(23..=28).contains(&number) || !points || part(time, 6) != 6 || !(27..=40).contains(&length) {
        return None;
    }
    let decoded = base64::engine::general_purpose::STANDARD_NO_PAD.decode(&text[at..at + number]).ok()?;
    decoded.iter().all(u8::is_ascii_digit).then_some(Secret { range: at..signature + length, kind: "discord-token" })
}

/// Finds the signature of an Azure shared access signature: base64, URL-encoded.
pub(super) fn azure_signature(text: &[u8], at: usize) -> Option<Secret> {
    let length = text[at..].iter().take(101).take_while(|byte| byte.is_ascii_alphanumeric() || b"%+/=_-".contains(byte)).count();
    let value = &text[at..at + length];
    let ends = value.ends_with(b"%3D") || value.ends_with(b"%3d") || value.ends_with(b"=");
    ((43..=100).contains(&length) && ends && is_random(value, 12))
        .then_some(Secret { range: at..at + length, kind: "azure-signature" })
}

/// Finds an Azure client secret: `at` is the offset of `Q~` in it, after three characters and a digit.
pub(super) fn azure_secret(text: &[u8], at: usize) -> Option<Secret> {
    let start = at.checked_sub(4)?;
    let part = |byte: &u8| byte.is_ascii_alphanumeric() || b"_~.-".contains(byte);
    let length = text[at + 2..].iter().take(36).take_while(|byte| part(byte)).count();
    let starts = begins(text, start);
    let head = text[start..at - 1].iter().all(part) && text[at - 1].is_ascii_digit();
    let value = &text[start..at + 2 + length];
    (starts && head && (31..=34).contains(&length) && is_random(value, 12))
        .then_some(Secret { range: start..at + 2 + length, kind: "azure-secret" })
}

/// Returns the rest of a command line.
fn line(text: &[u8], at: usize) -> Range<usize> {
    let end = text.len().min(at + LINE_BYTES);
    let stop = text[at..end].iter().position(|byte| *byte == b'\n').map_or(end, |length| at + length);
    let escaped = memchr::memmem::find(&text[at..stop], b"\\n").map_or(stop, |length| at + length);
    at..escaped
}

/// Returns one word of a command line, without its quotes.
fn value(text: &[u8], at: usize, end: usize) -> Range<usize> {
    let open = text[at..end].iter().take(2).take_while(|byte| matches!(byte, b'"' | b'\'' | b'\\')).count();
    let start = at + open;
    let length = text[start..end]
        .iter()
        .take(PASSWORD_BYTES)
        .take_while(|byte| byte.is_ascii_graphic() && !b"\"'`\\<>|;".contains(byte))
        .count();
    start..start + length
}

/// Returns the words of a text up to an offset. A line feed may be written as `
/// `.
fn words(text: &[u8], at: usize, end: usize) -> impl Iterator<Item = Range<usize>> {
    let mut at = at;
    std::iter::from_fn(move || {
        loop {
            match text.get(at..end)? {
                [b'\\', b'n' | b't' | b'r', ..] => at += 2,
                [byte, ..] if byte.is_ascii_whitespace() => at += 1,
                _ => break,
            }
        }
        let length = text[at..end].iter().take_while(|byte| byte.is_ascii_graphic() && !b"\"\\".contains(byte)).count();
        let word = at..at + length;
        at += length;
        (length > 0).then_some(word)
    })
}

/// Returns true if a word in the position of a password is a password: not a variable, a placeholder or an example word.
fn is_password(value: &[u8]) -> bool {
    const COMMON: [&[u8]; 11] = [
        b"password",
        b"passwd",
        b"pass",
        b"secret",
        b"token",
        b"test",
        b"root",
        b"admin",
        b"guest",
        b"password123",
        b"mypassword",
    ];
    let variable = value.iter().any(|byte| b"${}()[]*".contains(byte)) || value.starts_with(b"-") || value.starts_with(b"%");
    (4..PASSWORD_BYTES).contains(&value.len())
        && !variable
        && !COMMON.iter().any(|word| value.eq_ignore_ascii_case(word))
        && is_random(value, 4)
        && (is_mixed(value) || value.len() >= 8 && value.iter().any(u8::is_ascii_punctuation))
}

/// Returns true if a quoted value after a password keyword is a password: letters with digits or symbols, not an example word.
pub(super) fn is_quoted_password(value: &[u8]) -> bool {
    let lower = value.to_ascii_lowercase();
    let says = |word: &&str| memchr::memmem::find(&lower, word.as_bytes()).is_some();
    let letters = value.iter().any(u8::is_ascii_alphabetic);
    let digits = value.iter().any(u8::is_ascii_digit);
    (7..=64).contains(&value.len())
        && letters
        && digits
        && is_random(value, 5)
        && value.iter().all(|byte| byte.is_ascii_graphic() && !b"${}()[]<>/\\".contains(byte))
        && !["pass", "test", "secret", "admin", "123456", "foo", "demo", "user", "token"].iter().any(says)
}
