//! Requests that do not prove to be the user's: what passes, what is refused, and that nothing of the user's is touched.

use crate::network::{SECRET, split};
use crate::wire::Client;
use serde_json::json;
use std::fs;

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
    let sandbox = crate::sandbox::Sandbox::new();
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
