//! Credentials that are only recognizable by their context: program arguments, password files, service names.
//!
//! Each function is called with the offset after the word that the automaton found, and examines a limited number of bytes from
//! there.

use super::values::{changes, is_generated, is_mixed, is_password, is_random};
use super::{PRIVATE_KEY_KIND, Secret, begins, calls, cut_key, run};
use crate::text::lists::word_lists;
use base64::Engine as _;
use std::ops::Range;

/// Bytes of a command line that are examined after the name of a program.
const LINE_BYTES: usize = 400;
const PASSWORD_BYTES: usize = 200;

/// Programs that accept a password as an argument: their names, separated by `¦`, the flags, and the rule for a space after the flag.
pub(super) static PROGRAMS: &[(&str, &[&str], Space)] = &[
    ("curl ", &["-u", "--user", "-b", "--cookie"], Space::Optional),
    (
        "sshpass ¦mongosh ¦docker login¦podman login¦registry login¦az login¦acr login¦oc login¦mongo ¦mongodump ¦mongorestore ¦rabbitmqadmin ¦useradd ¦usermod ¦rdesktop ¦evil-winrm ¦netexec ¦nxc ¦unlock-keychain¦set-keychain-password¦create-keychain",
        &["-p"],
        Space::Optional,
    ),
    ("mysql ¦mysqldump ¦mysqlimport ¦mysqlcheck ¦mysqlshow ¦mysqladmin ¦mariadb ¦7z ", &["-p"], Space::Never),
    ("redis-cli ", &["-a", "AUTH", "--pass"], Space::Optional),
    (
        "ldapsearch ¦ldapadd ¦ldapmodify ¦ldapwhoami ¦ldapdelete ¦add-generic-password¦add-internet-password",
        &["-w"],
        Space::Optional,
    ),
    ("ldappasswd ", &["-w", "-s"], Space::Optional),
    ("sqlcmd ¦mosquitto_pub ¦mosquitto_sub ¦unzip ¦zip ", &["-P"], Space::Optional),
    ("gh secret set¦secret set¦secrets set", &["--body", "-b", "--value"], Space::Optional),
    ("xfreerdp", &["/p:"], Space::Never),
    ("ssh-keygen ", &["-N", "-P"], Space::Optional),
    ("influx ", &["-t"], Space::Optional),
    ("wget ¦lftp ", &["-u"], Space::Optional),
    ("smbclient ", &["-U"], Space::Optional),
    ("openssl enc¦openssl aes", &["-k"], Space::Optional),
    ("rar ", &["-hp", "-p"], Space::Never),
    ("http ¦https ¦xh ", &["-a", "--auth"], Space::Optional),
];

/// Finds the credentials of a place, from the start and the end of the text that leads to it.
pub(super) type Finder = fn(&[u8], usize, usize) -> Vec<Secret>;

/// Texts that lead to a credential, separated by `¦`, and the function that finds it.
pub(super) static PLACES: &[(&str, Finder)] = &[
    ("machine ", |text, _, end| netrc(text, end).into_iter().collect()),
    ("auth\":¦auth\\\":", |text, _, end| docker_auth(text, end).into_iter().collect()),
    ("sig=", |text, _, end| azure_signature(text, end).into_iter().collect()),
    (":5432:¦:5433:¦:6432:¦:3306:¦:*:", password_file),
    (":$apr1$¦:$2y$¦:$2a$¦:$2b$¦:$1$¦:$5$", password_hash),
    (":$6$¦:$y$¦:{SHA}", password_hash),
    ("cookie", cookies),
    ("sudo -S¦sudo -kS¦--password-stdin¦--stdin¦--with-token¦--passphrase-fd 0", standard_input),
    ("chpasswd¦vncpasswd¦kinit ¦| passwd¦cryptsetup ¦wrangler secret put", standard_input),
    ("htpasswd -¦mosquitto_passwd -", htpasswd_argument),
    ("NetworkCredential(¦login(¦signIn(¦sign_in(¦authenticate(¦auth=(", calls::user_and_password),
    (
        "auth = (¦BasicAuth(¦basicAuth(¦DigestAuth(¦.Basic(¦_pw_set(¦PasswordCredentials(¦AuthenticationToken(¦WiFi.begin(¦sp_addlogin ",
        calls::user_and_password,
    ),
    ("mysqli_connect(¦mysql_connect(¦mysqli(¦PDO(¦Sequelize(¦getConnection(", calls::connection),
    ("DB::connect(", calls::connection),
    (".auth(¦jwt.sign(¦jwt.verify(¦jwt.encode(¦jwt.decode(¦createHmac(", calls::key),
    ("hmac.new(¦HmacSHA256(¦AES.encrypt(¦AES.decrypt(¦Fernet(", calls::key),
    ("send \"¦send \\\"¦send -- \"¦sendline(", calls::typed),
    ("@tcp(¦@unix(", data_source),
    ("key\":¦key\\\":", user_key),
    (" -u ¦ -U ", flags),
    ("snyk auth ¦enable secret ¦enable password ¦identified by ¦wandb login ¦rclone obscure ¦: PSK ", next_word),
    (": XAUTH ¦: EAP ¦snmp-server community ", next_word),
    ("oracle:thin:¦sqlplus ", user_and_password),
    ("with user ¦as user ¦login as ¦log in as ¦logged in as ¦sign in as ", login),
    ("login with ¦log in with ¦sign in with ¦authenticate as ¦connect as ¦credentials ", login),
    ("credentials: ¦credentials are ¦creds ¦creds: ¦login: ¦basicAuth: ", login),
    ("basic_auth: ¦Zugangsdaten: ¦Anmeldedaten: ¦identifiants : ¦identifiants: ¦credenciales: ", login),
    ("credenziali: ¦inloggegevens: ¦dane logowania: ¦stats auth ¦--auth ¦--proxy-user ", login),
    ("pin¦passcode", pin),
    ("backup code¦recovery code", recovery_code),
    ("ConvertTo-SecureString ¦bcrypt.hash(¦hashpw(", calls::first_literal),
    ("net use ", net_use),
    ("WIFI:", wireless_network),
    ("impacket-¦psexec.py ¦secretsdump.py ¦wmiexec.py ", domain_user),
    ("Private-Lines: ", putty_key),
    ("mnemonic¦seed phrase¦recovery phrase", recovery_phrase),
    ("add_user ¦change_password ¦net user ¦wpa_passphrase ", second_word),
];

/// Describes if a space may separate a flag from its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Space {
    Optional,
    Never,
}

word_lists! { "passwords.txt": pub(super) SERVICES }

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
            let sign = match *flag {
                "-u" | "-U" | "--user" => memchr::memchr3(b':', b'%', b',', &text[value.clone()]),
                "-b" | "--cookie" if space == Space::Optional && flags.len() > 2 => memchr::memchr(b'=', &text[value.clone()]),
                _ => Some(usize::MAX),
            };
            let Some(sign) = sign else { continue };
            let value = value.start + sign.wrapping_add(1)..value.end;
            if is_argument(&text[value.clone()], false) {
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
                return is_argument(&text[value.clone()], true).then_some(Secret { range: value, kind: "password" });
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
    let length = run(text, from, PASSWORD_BYTES, |byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte));
    let value = &text[from..from + length];
    let decoded = base64::engine::general_purpose::STANDARD.decode(value).ok().filter(|_| quotes > 0 && length >= 12)?;
    let colon = decoded.iter().position(|byte| *byte == b':')?;
    let plain = decoded.iter().all(|byte| byte.is_ascii_graphic());
    (plain && colon > 0 && decoded.len() > colon + 3).then_some(Secret { range: from..from + length, kind: "named-secret" })
}

/// Finds the value after the name of a service: `datadog_key = …`.
pub(super) fn service(text: &[u8], at: usize) -> Option<Secret> {
    let here = |at: usize| text.get(at).copied().unwrap_or_default();
    let name = run(text, at, 20, |byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
    let ending = text[at..at + name].to_ascii_lowercase();
    let names_another = ["hash", "sha", "md5", "version", "url", "commit", "digest", "checksum", "guid"];
    if names_another.iter().any(|word| memchr::memmem::find(&ending, word.as_bytes()).is_some()) {
        return None;
    }
    let quotes = |at: usize| run(text, at, 4, |byte| b" \"'`\\".contains(&byte));
    let mut from = at + name;
    from += quotes(from);
    let signs = run(text, from, 2, |byte| b"=:>".contains(&byte));
    if signs == 0 {
        return None;
    }
    from += signs;
    from += quotes(from);
    let length = run(text, from, 121, |byte| byte.is_ascii_alphanumeric() || b"_-=".contains(&byte));
    let value = &text[from..from + length];
    let random = (16..=120).contains(&length) && changes(value) >= 5 && is_random(value, 9);
    (random && !b"./([{:@".contains(&here(from + length))).then_some(Secret { range: from..from + length, kind: "named-key" })
}

/// Finds a Discord bot token: its number in base64, which starts with two digits, a time, a signature.
pub(super) fn discord(text: &[u8], at: usize) -> Option<Secret> {
    let part =
        |at: usize, most: usize| run(text, at, most + 1, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    let starts = begins(text, at);
    let number = part(at, 28);
    let time = at + number + 1;
    let signature = time + 7;
    let length = part(signature, 40);
    let points = text.get(at + number) == Some(&b'.') && text.get(signature - 1) == Some(&b'.');
    if !starts || !(23..=28).contains(&number) || !points || part(time, 6) != 6 || !(27..=40).contains(&length) {
        return None;
    }
    let token = at..signature + length;
    (changes(&text[token.clone()]) > 4 && is_random(&text[token.clone()], 12))
        .then_some(Secret { range: token, kind: "discord-token" })
}

/// Finds the signature of an Azure shared access signature: base64, URL-encoded.
pub(super) fn azure_signature(text: &[u8], at: usize) -> Option<Secret> {
    let length = run(text, at, 101, |byte| byte.is_ascii_alphanumeric() || b"%+/=_-".contains(&byte));
    let value = &text[at..at + length];
    let ends = value.ends_with(b"%3D") || value.ends_with(b"%3d") || value.ends_with(b"=");
    ((43..=100).contains(&length) && ends && is_random(value, 12))
        .then_some(Secret { range: at..at + length, kind: "azure-signature" })
}

/// Finds the password of a line such as `host:5432:database:user:password`. `at` is the offset of the port's colon.
fn password_file(text: &[u8], at: usize, end: usize) -> Vec<Secret> {
    let host = text[..at].iter().rev().take(80).take_while(|byte| byte.is_ascii_alphanumeric() || b".-*_".contains(byte)).count();
    let field = |at: usize| run(text, at, 80, |byte| byte.is_ascii_graphic() && !b":\"\\".contains(&byte));
    let database = field(end);
    let user = end + database + 1;
    if host == 0 || !begins(text, at - host) || database == 0 || text.get(user - 1) != Some(&b':') {
        return Vec::new();
    }
    let length = field(user);
    let password = user + length + 1;
    if length == 0 || text.get(password - 1) != Some(&b':') {
        return Vec::new();
    }
    found(text, value(text, password, line(text, password).end), true)
}

/// Finds the hash of a password behind a user name, as in the files of web servers and in `/etc/shadow`.
fn password_hash(text: &[u8], at: usize, _: usize) -> Vec<Secret> {
    let user = text[..at].iter().rev().take(64).take_while(|byte| byte.is_ascii_alphanumeric() || b".-_@".contains(byte)).count();
    let from = at + 1;
    let length = run(text, from, PASSWORD_BYTES, |byte| byte.is_ascii_alphanumeric() || b"$./{}=+,".contains(&byte));
    let is_hash = user > 0 && begins(text, at - user) && length >= 20 && is_random(&text[from..from + length], 8);
    is_hash.then(|| Secret { range: from..from + length, kind: "password-hash" }).into_iter().collect()
}

/// Finds generated values in a `Cookie` or `Set-Cookie` header.
fn cookies(text: &[u8], _: usize, end: usize) -> Vec<Secret> {
    let line = line(text, end);
    let gap = text[line.clone()].iter().take(8).take_while(|byte| b" :=\"'\\".contains(byte)).count();
    if gap == 0 || !text[end..end + gap].iter().any(|byte| b":= ".contains(byte)) {
        return Vec::new();
    }
    let (mut at, mut found) = (end + gap, Vec::new());
    while at < line.end {
        let length = text[at..line.end].iter().take_while(|byte| !b";\"'\\, ".contains(byte)).count();
        if let Some(sign) = memchr::memchr(b'=', &text[at..at + length]) {
            let value = at + sign + 1..at + length;
            let bytes = &text[value.clone()];
            let key = (16..=1024).contains(&bytes.len()) && is_generated(bytes) && is_random(bytes, 8);
            if key
                && !bytes.starts_with(b"eyJ")
                && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b"%-_.~+/=:|".contains(byte))
            {
                found.push(Secret { range: value, kind: "session-cookie" });
            }
        }
        at += length;
        match text[at..line.end] {
            [b';' | b',', b' ', ..] => at += 2,
            [b';' | b',', ..] => at += 1,
            _ => break,
        }
    }
    found
}

/// Finds the password that a command reads from its standard input: `echo PASSWORD | sudo -S …`, `… <<< PASSWORD`.
fn standard_input(text: &[u8], start: usize, end: usize) -> Vec<Secret> {
    let from = start.saturating_sub(LINE_BYTES);
    let before = &text[from..start];
    let before = memchr::memrchr(b'\n', before).map_or(before, |feed| &before[feed + 1..]);
    let from = start - before.len();
    let programs = ["echo ", "printf ", "yes ", "-n ", "-e ", "'%s' ", "'%s\\n' ", "\"%s\\n\" "];
    let echo = programs.iter().filter_map(|word| Some(memchr::memmem::rfind(before, word.as_bytes())? + word.len())).max();
    let last = match (echo, memchr::memrchr(b'|', before)) {
        (Some(echo), Some(pipe)) if echo < pipe && memchr::memmem::find(before, b"$(").is_none() => {
            Some(from + echo..from + pipe)
        }
        _ => {
            let line = line(text, end);
            let here = memchr::memmem::find(&text[line.clone()], b"<<<").map(|place| line.start + place + 3);
            here.map(|here| here + text[here..line.end].iter().take_while(|byte| **byte == b' ').count()..line.end)
        }
    };
    let Some(word) = last else { return Vec::new() };
    let mut value = value(text, word.start, word.end);
    if text[start..end].ends_with(b"chpasswd") {
        let Some(colon) = memchr::memchr(b':', &text[value.clone()]) else { return Vec::new() };
        value.start += colon + 1;
    }
    found(text, value, true)
}

/// Finds the last argument of `htpasswd -b FILE USER PASSWORD`.
fn htpasswd_argument(text: &[u8], _: usize, end: usize) -> Vec<Secret> {
    let line = line(text, end);
    let mut arguments: Vec<Range<usize>> = words(text, line.start, line.end).take(6).collect();
    arguments.retain(|word| text[word.start] != b'-');
    match arguments.get(..4).unwrap_or(&arguments) {
        [flags, .., last] if text[flags.clone()].contains(&b'b') => found(text, value(text, last.start, last.end), true),
        _ => Vec::new(),
    }
}

/// Finds the password in `user/password@database`.
fn user_and_password(text: &[u8], _: usize, end: usize) -> Vec<Secret> {
    let user = run(text, end, 64, |byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let from = end + user + 1;
    let length = run(text, from, PASSWORD_BYTES, |byte| byte.is_ascii_graphic() && !b"@\"'\\/".contains(&byte));
    if user == 0 || text.get(from - 1) != Some(&b'/') || text.get(from + length) != Some(&b'@') {
        return Vec::new();
    }
    found(text, from..from + length, true)
}

/// Finds the password in words: `with user admin and PASSWORD`, `log in as admin / PASSWORD`, `credentials: admin:PASSWORD`.
fn login(text: &[u8], start: usize, end: usize) -> Vec<Secret> {
    if !begins(text, start) {
        return Vec::new();
    }
    let quotes = |at: usize| run(text, at, 2, |byte| b"\"'`*".contains(&byte));
    let mut at = end + quotes(end);
    at = behind_words(text, at, &["are ", "user ", "username ", "account ", "the "]);
    at += quotes(at);
    let before = at;
    let user = run(text, at, 64, |byte| byte.is_ascii_alphanumeric() || b"._@+-".contains(&byte));
    at += user;
    at += quotes(at);
    let signs = [" and ", " / ", "/", " : ", ": ", ":", ", ", " with ", " + ", " & ", " - ", " "];
    let Some(sign) = signs.iter().find(|sign| text[at..].starts_with(sign.as_bytes())).filter(|_| user >= 2) else {
        return Vec::new();
    };
    // Without a sign, only the name of a user precedes a password.
    let is_bare = *sign == " " && !text[start..end].to_ascii_lowercase().starts_with(b"cred");
    at += sign.len();
    at += quotes(at);
    let length = run(text, at, PASSWORD_BYTES, |byte| byte.is_ascii_graphic() && !b"\"'`\\,;()<>".contains(&byte));
    let word = &text[at..at + length];
    let word = &word[..word.iter().rposition(|byte| !b".:?*".contains(byte)).map_or(0, |last| last + 1)];
    // The names of two products: `GitHub / Gitea2`.
    let is_name = |word: &[u8]| word.first().is_some_and(u8::is_ascii_uppercase);
    let are_names = is_name(&text[before..]) && is_name(word) && word.iter().filter(|byte| byte.is_ascii_digit()).count() < 2;
    let is_value = !is_bare && !are_names && is_password(word, true);
    is_value.then(|| Secret { range: at..at + word.len(), kind: "password" }).into_iter().collect()
}

/// Finds a password that follows.
fn next_word(text: &[u8], _: usize, end: usize) -> Vec<Secret> {
    found(text, value(text, end, line(text, end).end), false)
}

/// Finds a password behind the name of a user.
fn second_word(text: &[u8], _: usize, end: usize) -> Vec<Secret> {
    let line = line(text, end);
    let password = words(text, line.start, line.end).nth(1);
    password.map_or_else(Vec::new, |password| found(text, value(text, password.start, line.end), false))
}

/// Finds a code that replaces a second factor: `recovery code: …`.
fn recovery_code(text: &[u8], _: usize, end: usize) -> Vec<Secret> {
    let mut at = end + usize::from(text.get(end) == Some(&b's'));
    let gap = run(text, at, 8, |byte| b" :=\"'`\\>|".contains(&byte));
    at += gap;
    at = behind_words(text, at, &["is ", "is: ", "are ", "are: "]);
    let is_stated = text[end..at].iter().any(|byte| matches!(byte, b':' | b'=')) || text[end..at].ends_with(b"is ");
    let length = run(text, at, 40, |byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let is_whole = !matches!(text.get(at + length..).unwrap_or_default(), [b'/' | b'_' | b'(', ..] | [b'.', b'a'..=b'z', ..]);
    let word = &text[at..at + length];
    let is_code = gap > 0 && is_whole && (8..40).contains(&length) && is_mixed(word) && (is_stated || changes(word) > 1);
    is_code.then(|| Secret { range: at..at + length, kind: "recovery-code" }).into_iter().collect()
}

/// Finds the password of `net use SHARE /user:NAME PASSWORD`, which can also precede the name.
fn net_use(text: &[u8], _: usize, end: usize) -> Vec<Secret> {
    let line = line(text, end);
    let rest = &text[line.clone()];
    let Some(user) = memchr::memmem::find(rest, b"/user:").or_else(|| memchr::memmem::find(rest, b"/USER:")) else {
        return Vec::new();
    };
    let next =
        rest[user..].iter().position(|byte| *byte == b' ').map(|space| value(text, line.start + user + space + 1, line.end));
    let before = rest[..user].trim_ascii_end();
    let word = memchr::memrchr(b' ', before).map_or(0, |space| space + 1);
    let is_given = |range: &Range<usize>| !range.is_empty() && text[range.start] != b'/';
    let range = next.filter(is_given).unwrap_or(line.start + word..line.start + before.len());
    if text[range.clone()].contains(&b'\\') { Vec::new() } else { found(text, range, false) }
}

/// Finds the password of a wireless network in the text of a QR code: `WIFI:T:WPA;S:NAME;P:PASSWORD;;`.
fn wireless_network(text: &[u8], _: usize, end: usize) -> Vec<Secret> {
    let line = line(text, end);
    let Some(place) = memchr::memmem::find(&text[line.clone()], b";P:") else { return Vec::new() };
    found(text, value(text, line.start + place + 3, line.end), true)
}

/// Finds the password in `DOMAIN/USER:PASSWORD@HOST`.
fn domain_user(text: &[u8], _: usize, end: usize) -> Vec<Secret> {
    let line = line(text, end);
    let password = words(text, line.start, line.end).find_map(|word| {
        let bytes = &text[word.clone()];
        let slash = memchr::memchr(b'/', bytes)?;
        let colon = slash + memchr::memchr(b':', &bytes[slash..])?;
        let host = memchr::memrchr(b'@', bytes).filter(|host| *host > colon)?;
        Some(word.start + colon + 1..word.start + host)
    });
    password.map_or_else(Vec::new, |range| found(text, range, true))
}

/// Finds the password in the name of a data source: `user:PASSWORD@tcp(HOST)`.
fn data_source(text: &[u8], at: usize, _: usize) -> Vec<Secret> {
    let before = &text[at.saturating_sub(PASSWORD_BYTES)..at];
    let word = before.iter().rev().take_while(|byte| byte.is_ascii_graphic() && !b"\"'`\\/".contains(byte)).count();
    let colon = memchr::memchr(b':', &text[at - word..at]);
    colon.map_or_else(Vec::new, |colon| found(text, at - word + colon + 1..at, false))
}

/// Finds the key of a user: `{"username": …, "key": …}`.
fn user_key(text: &[u8], start: usize, end: usize) -> Vec<Secret> {
    let before = &text[start.saturating_sub(100)..start];
    let object = &before[memchr::memrchr(b'{', before).unwrap_or_default()..];
    let range = value(text, end + run(text, end, 2, |byte| byte == b' '), line(text, end).end);
    let key = &text[range.clone()];
    let is_key = memchr::memmem::find(object, b"\"user").is_some() && key.len() >= 20 && is_generated(key) && is_random(key, 9);
    is_key.then_some(Secret { range, kind: "named-key" }).into_iter().collect()
}

/// Finds the password of a program that is given a user and a password: `-u NAME -p PASSWORD`.
fn flags(text: &[u8], start: usize, end: usize) -> Vec<Secret> {
    let line = line(text, end);
    let mut words = words(text, line.start, line.end);
    let (user, flag, password) = (words.next(), words.next(), words.next());
    let (Some(_), Some(flag), Some(password)) = (user, flag, password) else { return Vec::new() };
    let before = &text[start.saturating_sub(60)..start];
    // These programs ask for the password: the next word has another meaning.
    let asks = ["mysql", "mariadb", "sudo"].iter().any(|program| memchr::memmem::find(before, program.as_bytes()).is_some());
    let range = value(text, password.start, line.end);
    let word = &text[range.clone()];
    let is_mapping = !word.iter().any(u8::is_ascii_alphabetic) || word.contains(&b':') || word.starts_with(b"/");
    let is_given = matches!(&text[flag], b"-p" | b"-P" | b"-w" | b"-W" | b"--pass" | b"-pw");
    if is_given && !asks && !is_mapping { found(text, range, false) } else { Vec::new() }
}

/// Finds the number after `PIN`.
fn pin(text: &[u8], start: usize, end: usize) -> Vec<Secret> {
    if !(begins(text, start) || text[..start].ends_with(b"_")) {
        return Vec::new();
    }
    let mut at = end;
    for word in [" code", "code", "_code", "-code", " number"] {
        let is_here = text.get(at..at + word.len()).is_some_and(|here| here.eq_ignore_ascii_case(word.as_bytes()));
        at += if is_here { word.len() } else { 0 };
    }
    let gap = run(text, at, 8, |byte| b" :=\"'`\\>|".contains(&byte));
    at += gap;
    at = behind_words(text, at, &["is ", "is: ", "lautet ", "ist "]);
    at += run(text, at, 2, |byte| b"\"'`\\".contains(&byte));
    let digits = run(text, at, 9, |byte| byte.is_ascii_digit());
    let next = text.get(at + digits..).unwrap_or_default();
    let goes_on = matches!(next, [b'.', b'0'..=b'9', ..] | [b'-' | b'_' | b'%' | b':' | b'/', ..])
        || next.first().is_some_and(u8::is_ascii_alphanumeric);
    let same = text[at..at + digits].windows(2).all(|pair| pair[0] == pair[1]);
    // `pin 1234` is also a command of aperture, with the number of a block: in a column of the log, or after `mcp:`.
    let before = text[..start].trim_ascii_end();
    let is_first = matches!(before.last(), None | Some(b'"' | b'`' | b'\'' | b'$' | b':'))
        || text[..start].ends_with(b"\n")
        || text[..start].ends_with(b"  ");
    let is_command = text[start..at] == *b"pin " && (is_first || before.ends_with(b"aperture") || before.ends_with(b"memory"));
    let is_pin = gap > 0 && (4..=8).contains(&digits) && !goes_on && !same && !is_command;
    is_pin.then(|| Secret { range: at..at + digits, kind: "password" }).into_iter().collect()
}

/// Finds the private lines of a PuTTY key file: their number precedes them.
fn putty_key(text: &[u8], _: usize, end: usize) -> Vec<Secret> {
    let digits = run(text, end, 4, |byte| byte.is_ascii_digit());
    let from = end + digits;
    let rest = &text[from..text.len().min(from + (16 << 10))];
    let length = memchr::memmem::find(rest, b"Private-MAC").unwrap_or_else(|| cut_key(rest));
    let lines = &rest[..length];
    let is_key = digits > 0 && lines.iter().filter(|byte| byte.is_ascii_alphanumeric()).count() >= 40 && is_random(lines, 16);
    let lead = lines.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let lead = if lines.starts_with(b"\\n") {
        2
    } else if lines.starts_with(b"\\r\\n") {
        4
    } else {
        lead
    };
    let tail = lines.iter().rev().take_while(|byte| byte.is_ascii_whitespace()).count();
    let tail = if lines.ends_with(b"\\n") { 2 } else { tail };
    is_key.then(|| Secret { range: from + lead..from + length - tail, kind: PRIVATE_KEY_KIND }).into_iter().collect()
}

/// Finds the words of a wallet: 12, 15, 18, 21 or 24 words of three to eight letters.
fn recovery_phrase(text: &[u8], _: usize, end: usize) -> Vec<Secret> {
    let line = line(text, end);
    let mut from = line.start + text[line.clone()].iter().take(8).take_while(|byte| b" :=\"'`\\".contains(byte)).count();
    from = behind_words(text, from, &["is ", "is: "]);
    let words = text[from..line.end].iter().take_while(|byte| byte.is_ascii_lowercase() || **byte == b' ').count();
    let phrase = text[from..from + words].trim_ascii_end();
    let count = phrase.split(|byte| *byte == b' ').count();
    let is_phrase = from > end
        && matches!(count, 12 | 15 | 18 | 21 | 24)
        && phrase.split(|byte| *byte == b' ').all(|word| (3..=8).contains(&word.len()));
    is_phrase.then(|| Secret { range: from..from + phrase.len(), kind: "recovery-phrase" }).into_iter().collect()
}

/// Returns the offset behind those of the words that are there, each once and in this order.
fn behind_words(text: &[u8], at: usize, words: &[&str]) -> usize {
    words.iter().fold(at, |at, word| if text[at..].starts_with(word.as_bytes()) { at + word.len() } else { at })
}

pub(super) fn found(text: &[u8], range: Range<usize>, sure: bool) -> Vec<Secret> {
    is_argument(&text[range.clone()], sure).then_some(Secret { range, kind: "password" }).into_iter().collect()
}

/// Returns the rest of a command line.
pub(super) fn line(text: &[u8], at: usize) -> Range<usize> {
    let end = text.len().min(at + LINE_BYTES);
    let ends = |place: &usize| !text[..*place].ends_with(b"\\");
    let stop = memchr::memchr_iter(b'\n', &text[at..end]).map(|length| at + length).find(ends).unwrap_or(end);
    let escaped = memchr::memmem::find(&text[at..stop], b"\\n").map_or(stop, |length| at + length);
    at..escaped
}

/// Returns one word of a command line, without its quotes.
pub(super) fn value(text: &[u8], at: usize, end: usize) -> Range<usize> {
    let open = text[at..end].iter().take(2).take_while(|byte| matches!(byte, b'"' | b'\'' | b'\\')).count();
    let start = at + open;
    let length = text[start..end]
        .iter()
        .take(PASSWORD_BYTES)
        .take_while(|byte| byte.is_ascii_graphic() && !b"\"'`\\<>|;".contains(byte))
        .count();
    start..start + length
}

/// Returns the words of a text up to an offset. A line feed may be written as `\n`.
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

/// Returns true if a word in the position of a password is a password: not a variable, a placeholder or an example word. In a
/// position that is `sure`, a word of letters is one too.
fn is_argument(value: &[u8], sure: bool) -> bool {
    const COMMON: [&[u8]; 12] = [
        b"password", b"passwd", b"pass", b"secret", b"token", b"test", b"root", b"admin", b"guest", b"password123",
        b"mypassword", b"postgres",
    ];
    let names_variable = |pair: &[u8]| pair[0] == b'$' && (pair[1] == b'_' || pair[1].is_ascii_uppercase());
    let variable = value.iter().any(|byte| b"{}()[]".contains(byte))
        || matches!(value, [b'-' | b'%' | b'*', ..] | [b'$', b'a'..=b'z', ..])
        || !matches!(value, [b'$', b'0'..=b'9' | b'y', ..]) && value.windows(2).any(names_variable);
    (4..PASSWORD_BYTES).contains(&value.len())
        && !variable
        && !COMMON.iter().any(|word| value.eq_ignore_ascii_case(word))
        && is_random(value, 4)
        && (sure || is_mixed(value) || value.len() >= 8 && value.iter().any(u8::is_ascii_punctuation))
}
