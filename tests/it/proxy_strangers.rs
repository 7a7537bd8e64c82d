//! Requests that do not prove to be the user's: what passes, what is refused, and that nothing of the user's is touched.
#![allow(clippy::disallowed_types, reason = "the client of the proxy")]

use crate::network::{Api, Proxy, SECRET, send, split, stream};
use crate::sandbox::{Sandbox, wait_for};
use crate::wire::Client;
use serde_json::json;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;

/// The answer to a request.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Answer {
    /// The API gets it as the user's operations say, without the secret.
    Served,
    /// The API gets the bytes and the path as they are.
    Passed,
    /// The proxy refuses it.
    Refused(u16),
}

/// The path of a request.
enum Path {
    Right,
    Wrong,
    Without,
}

/// A request: its name, method, path, headers, and answer. `PORT` and `SESSION` in the headers are those of the user.
type Case = (&'static str, &'static str, Path, &'static str, Answer);

const OWN: &str = "host: 127.0.0.1:PORT\r\n";
const NAMED: &str = "host: 127.0.0.1:PORT\r\nx-api-key: another\r\nx-claude-code-session-id: SESSION\r\n";

const CASES: &[Case] = &[
    ("the right secret", "POST", Path::Right, "host: 127.0.0.1:PORT\r\nx-claude-code-session-id: SESSION\r\n", Answer::Served),
    ("a wrong secret", "POST", Path::Wrong, NAMED, Answer::Passed),
    ("no secret, another key, and the session of the user", "POST", Path::Without, NAMED, Answer::Passed),
    ("no secret, and only the directory of the user", "POST", Path::Without, OWN, Answer::Passed),
    ("a list of models without the secret", "GET", Path::Without, OWN, Answer::Passed),
    (
        "a page with the secret",
        "POST",
        Path::Right,
        "host: 127.0.0.1:PORT\r\norigin: https://evil.example\r\n",
        Answer::Refused(403),
    ),
    ("a page", "POST", Path::Without, "host: 127.0.0.1:PORT\r\norigin: https://evil.example\r\n", Answer::Refused(403)),
    ("a page of a sandbox", "POST", Path::Right, "host: 127.0.0.1:PORT\r\norigin: null\r\n", Answer::Refused(403)),
    (
        "a page of another port",
        "POST",
        Path::Right,
        "host: 127.0.0.1:PORT\r\norigin: http://localhost:1\r\n",
        Answer::Refused(403),
    ),
    (
        "a page on another site",
        "POST",
        Path::Right,
        "host: 127.0.0.1:PORT\r\nsec-fetch-site: cross-site\r\n",
        Answer::Refused(403),
    ),
    (
        "a picture on another site",
        "GET",
        Path::Without,
        "host: 127.0.0.1:PORT\r\nSec-Fetch-Site: cross-site\r\n",
        Answer::Refused(403),
    ),
    (
        "a preflight",
        "OPTIONS",
        Path::Without,
        "host: 127.0.0.1:PORT\r\norigin: https://evil.example\r\naccess-control-request-method: POST\r\n",
        Answer::Refused(403),
    ),
    (
        "a websocket",
        "GET",
        Path::Without,
        "host: 127.0.0.1:PORT\r\nconnection: upgrade\r\nupgrade: websocket\r\n",
        Answer::Refused(426),
    ),
    (
        "a websocket of a page",
        "GET",
        Path::Right,
        "host: 127.0.0.1:PORT\r\nupgrade: websocket\r\norigin: https://evil.example\r\n",
        Answer::Refused(403),
    ),
    ("a foreign host", "POST", Path::Right, "host: evil.example:PORT\r\n", Answer::Refused(403)),
    ("a foreign host without a port", "POST", Path::Right, "host: evil\r\n", Answer::Refused(403)),
    ("a foreign host without the secret", "POST", Path::Without, "host: evil.example\r\n", Answer::Refused(403)),
    (
        "the control path without its token",
        "GET",
        Path::Without,
        "host: 127.0.0.1:PORT\r\norigin: https://a\r\n",
        Answer::Refused(403),
    ),
    (
        "the page of the proxy itself",
        "POST",
        Path::Right,
        "host: localhost:PORT\r\norigin: http://localhost:PORT\r\n",
        Answer::Served,
    ),
];

#[test]
fn only_requests_with_the_secret_get_what_is_the_users() {
    let client = Client::with("");
    let session = client.session.clone();
    let first = client.body(&["go on"]);
    client.send(&first);
    client.settle();
    client.sandbox.text(&["archive", "16"]);
    client.sandbox.text(&["stage", "remember the milk"]);
    let is_changed = |body: &str| body.contains("archived from") || body.contains("remember the milk") || body != first;
    let requests =
        || client.sandbox.json(&["proxy", "requests"], "aperture.proxy-requests/1")["requests"].as_array().unwrap().len();
    // The first request comes last: by then the strangers have had every chance to consume the staged text.
    let cases = CASES.iter().skip(1).chain(&CASES[..1]);
    for (name, method, path, headers, expected) in cases {
        let before = (client.api.seen().len(), requests(), client.sandbox.text(&["inbox"]));
        let target = match path {
            Path::Right => format!("/{SECRET}/v1/messages?beta=true"),
            Path::Wrong => "/secret-of-no-one-at-all/v1/messages?beta=true".to_owned(),
            Path::Without => "/v1/messages?beta=true".to_owned(),
        };
        let headers = headers.replace("PORT", &client.proxy.port.to_string()).replace("SESSION", &session);
        let body = if *method == "POST" { first.as_str() } else { "" };
        let head = format!("{method} {target} HTTP/1.1\r\n{headers}connection: close\r\ncontent-length: {}\r\n\r\n", body.len());
        let (answer, _) = split(client.proxy.exchange(&[head.as_bytes(), body.as_bytes()].concat()));
        assert!(!answer.to_lowercase().contains("access-control-"), "{name}: {answer}");
        let seen = client.api.seen();
        match expected {
            Answer::Refused(status) => {
                assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{name}: {answer}");
                assert_eq!(seen.len(), before.0, "{name}");
            }
            Answer::Passed => {
                assert!(answer.starts_with("HTTP/1.1 200 "), "{name}: {answer}");
                let last = seen.last().unwrap();
                assert_eq!((last.target(), &*last.body), (&*target, body.as_bytes()), "{name}");
            }
            Answer::Served => {
                assert!(answer.starts_with("HTTP/1.1 200 "), "{name}: {answer}");
                assert_eq!(seen.last().unwrap().target(), "/v1/messages?beta=true", "{name}");
            }
        }
        let is_listed = matches!(expected, Answer::Served);
        assert_eq!(requests() - before.1, usize::from(is_listed), "{name}");
        if !is_listed {
            assert_eq!(client.sandbox.text(&["inbox"]), before.2, "{name}");
        }
    }
    let served = String::from_utf8(client.api.last_body()).unwrap();
    assert!(is_changed(&served) && served.contains("archived from"), "{served}");
    assert!(served.contains("remember the milk"), "the staged text waited for the user: {served}");
}

#[cfg(unix)]
#[test]
fn the_secret_is_kept_private_and_outlives_the_proxy() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::new();
    let printed = || {
        use std::io::{BufRead, BufReader};
        let mut command = sandbox.command(&["proxy", "--listen", "127.0.0.1:0"]);
        let mut child = command.env_remove("APERTURE_PROXY_SECRET").stdout(std::process::Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.as_mut().unwrap()).lines().take(3).map(Result::unwrap).collect::<Vec<_>>();
        sandbox.text(&["proxy", "stop"]);
        child.wait().unwrap();
        let address = lines[0].trim_start_matches("listening on ").to_owned();
        let base = lines[1].strip_prefix(&format!("ANTHROPIC_BASE_URL={address}/")).unwrap().to_owned();
        assert_eq!(lines[2], format!("OPENAI_BASE_URL={address}/{base}/v1"));
        base
    };
    let secret = printed();
    assert!(secret.len() >= 32, "{secret}");
    assert_eq!(printed(), secret, "the base URL of a client stays valid");
    let file = sandbox.home.join(".aperture/proxy.secret");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::metadata(file.parent().unwrap()).unwrap().permissions().mode() & 0o777, 0o700);
    let mut short = sandbox.command(&["proxy", "--listen", "127.0.0.1:0"]);
    let refused = short.env("APERTURE_PROXY_SECRET", "short").output().unwrap();
    let errors = String::from_utf8(refused.stderr).unwrap();
    assert!(refused.status.code() == Some(2) && errors.contains("APERTURE_PROXY_SECRET"), "{}", json!(errors));
}

#[cfg(unix)]
#[test]
fn a_command_that_creates_the_data_directory_makes_it_and_its_locks_private() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::of("tools-and-spill");
    sandbox.text(&["archive", "16"]);
    let home = sandbox.home.join(".aperture");
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&home), mode(&home.join("locks"))), (0o700, 0o700));
    let locks = fs::read_dir(home.join("locks")).unwrap().map(|entry| mode(&entry.unwrap().path())).collect::<Vec<_>>();
    assert!(!locks.is_empty() && locks.iter().all(|mode| *mode == 0o600), "{locks:?}");
}

#[cfg(unix)]
#[test]
fn each_key_goes_to_the_gateway_of_its_own_api_and_past_the_proxy_of_a_company() {
    use std::os::unix::fs::PermissionsExt;
    const CLIENT: &str = "#!/bin/sh
echo $ANTHROPIC_BASE_URL $OPENAI_BASE_URL $NO_PROXY > urls.new
mv urls.new urls
while [ ! -e done ]; do sleep 0.05; done
";
    let sandbox = Sandbox::new();
    let (anthropic, openai, company) = (Api::new(stream), Api::new(stream), Api::new(stream));
    let client = sandbox.write("bin/opencode", CLIENT);
    fs::set_permissions(&client, PermissionsExt::from_mode(0o755)).unwrap();
    let mut command = sandbox.command(&["run", "--", client.to_str().unwrap()]);
    command.env("PATH", std::env::var("PATH").unwrap()).env("HTTP_PROXY", company.url()).env("HTTPS_PROXY", company.url());
    command.env("ANTHROPIC_BASE_URL", format!("{}/v1", anthropic.url())).env("OPENAI_BASE_URL", format!("{}/v1", openai.url()));
    let child = command.env("NO_PROXY", "intern").stderr(std::process::Stdio::piped()).spawn().unwrap();
    let urls = client.parent().unwrap().parent().unwrap().join("urls");
    let text = wait_for("the client", || fs::read_to_string(&urls).ok());
    let words: Vec<&str> = text.split_whitespace().collect();
    assert_eq!(words[2], "intern,127.0.0.1,localhost,::1");
    for (url, path) in [(words[0], "/messages"), (words[1], "/chat/completions")] {
        let (address, base) = url.trim_start_matches("http://").split_once('/').unwrap();
        let mut stream = TcpStream::connect(address).unwrap();
        write!(stream, "POST /{base}{path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{{}}")
            .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    }
    fs::write(urls.with_file_name("done"), "").unwrap();
    let errors = String::from_utf8(child.wait_with_output().unwrap().stderr).unwrap();
    let targets = |api: &Api| api.seen().iter().map(|seen| seen.target().to_owned()).collect::<Vec<_>>();
    assert_eq!((targets(&anthropic), targets(&openai)), (vec!["/v1/messages".into()], vec!["/v1/chat/completions".into()]));
    assert!(company.seen().is_empty() && errors.contains("note: 2 requests passed the proxy"), "{errors}");
    let mut command = sandbox.command(&["run", "--", sandbox.write("bin/claude", "").to_str().unwrap()]);
    let errors = command.env("CLAUDE_CODE_USE_BEDROCK", "1").output().unwrap().stderr;
    let errors = String::from_utf8(errors).unwrap();
    assert!(
        errors.starts_with("note: CLAUDE_CODE_USE_BEDROCK is set: claude sends its requests to another provider"),
        "{errors}"
    );
}

#[test]
fn the_proxy_of_a_company_is_used_for_apis_that_are_not_excepted() {
    for (upstream, except, expected) in [
        ("http://gateway.example:8080", "", "CONNECT gateway.example:8080"),
        ("http://gateway.example", "", "CONNECT gateway.example:80"),
        ("https://gateway.example", "", "CONNECT gateway.example:443"),
        ("https://gateway.invalid", "gateway.invalid", ""),
        ("http://127.0.0.1:9", "", ""),
    ] {
        let sandbox = Sandbox::new();
        let company = Api::new(|_, stream| send(stream, "403 No", b""));
        let url = company.url().replace("//", "//user:word@");
        let mut command = sandbox.command(&["proxy", "--listen", "127.0.0.1:0", "--upstream", upstream]);
        command.env("HTTP_PROXY", &url).env("HTTPS_PROXY", &url).env("NO_PROXY", except);
        let (head, _) = Proxy::spawn(command).post("/v1/messages", "x-api-key: key\r\n", b"{}");
        assert!(head.starts_with("HTTP/1.1 502 "), "{head}");
        let seen = company.seen();
        let line = seen.first().map(|seen| seen.head.as_str()).unwrap_or_default();
        assert!(line.starts_with(expected) && line.is_empty() == expected.is_empty(), "{upstream}: {line}");
        assert!(line.is_empty() || line.contains("Basic dXNlcjp3b3Jk") && !line.contains("x-api-key"), "{line}");
    }
}
