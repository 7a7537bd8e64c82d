//! Requests that do not prove to be the user's: what passes, what is refused, and that nothing of the user's is touched.
#![allow(clippy::disallowed_types, reason = "the client of the proxy")]

use crate::network::{Api, Proxy, SECRET, STREAM, answer_events, requests, send, split, stream};
#[cfg(target_os = "linux")]
use crate::sandbox::skipped;
use crate::sandbox::{PATIENCE, Sandbox, wait_for};
use crate::wire::Client;
use serde_json::json;
use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

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
        "Chromium: a form of a page on another port",
        "POST",
        Path::Right,
        "Host: 127.0.0.1:PORT\r\nCache-Control: max-age=0\r\nOrigin: http://127.0.0.1:1\r\nSec-Fetch-Site: same-site\r\n\
         Sec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: iframe\r\nUpgrade-Insecure-Requests: 1\r\n",
        Answer::Refused(403),
    ),
    (
        "Chromium: a script of a page, which sends no origin",
        "GET",
        Path::Right,
        "Host: localhost:PORT\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\nSec-Fetch-Dest: script\r\n",
        Answer::Refused(403),
    ),
    (
        "Chromium: a beacon of a page",
        "POST",
        Path::Without,
        "Host: 127.0.0.1:PORT\r\nContent-Type: text/plain;charset=UTF-8\r\nOrigin: null\r\nSec-Fetch-Site: cross-site\r\n\
         Sec-Fetch-Mode: no-cors\r\nSec-Fetch-Dest: empty\r\n",
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
    ("this machine without a port", "POST", Path::Right, "host: 127.0.0.1\r\n", Answer::Refused(403)),
    ("a name without a port", "POST", Path::Without, "host: x\r\n", Answer::Refused(403)),
    (
        "a foreign host with the secret, from a program",
        "POST",
        Path::Right,
        "host: x\r\nexpect: 100-continue\r\n",
        Answer::Refused(403),
    ),
    (
        "a foreign host without the secret, from a program",
        "POST",
        Path::Without,
        "host: x\r\nexpect: 100-continue\r\nx-claude-code-session-id: SESSION\r\n",
        Answer::Passed,
    ),
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
        let (mut answer, rest) = split(client.proxy.exchange(&[head.as_bytes(), body.as_bytes()].concat()));
        if answer.starts_with("HTTP/1.1 100 ") {
            answer = split(rest).0;
        }
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

/// Serves one connection as a proxy that speaks SOCKS 5 with the user `user` and the password `word`: connects each name to this API, and
/// returns the address that it was asked for.
fn serve_socks(stream: &mut TcpStream, api: u16) -> String {
    let take = |count: u8, stream: &mut TcpStream| {
        let mut bytes = vec![0; usize::from(count)];
        stream.read_exact(&mut bytes).unwrap();
        bytes
    };
    assert_eq!(take(3, stream), [5, 1, 2], "it offers a password");
    stream.write_all(&[5, 2]).unwrap();
    assert_eq!(take(11, stream), b"\x01\x04user\x04word");
    stream.write_all(&[1, 0]).unwrap();
    let head = take(5, stream);
    assert_eq!(head[..4], [5, 1, 0, 3], "the name is not looked up here");
    let name = String::from_utf8(take(head[4], stream)).unwrap();
    let port = take(2, stream);
    stream.write_all(&[5, 0, 0, 1, 127, 0, 0, 1, 0, 80]).unwrap();
    let mut to = TcpStream::connect(("127.0.0.1", api)).unwrap();
    let (mut from, mut back) = (stream.try_clone().unwrap(), to.try_clone().unwrap());
    let answer = stream.try_clone().unwrap();
    thread::spawn(move || std::io::copy(&mut back, &mut &answer));
    thread::spawn(move || std::io::copy(&mut from, &mut to));
    format!("{name}:{}", u16::from_be_bytes([port[0], port[1]]))
}

#[test]
fn a_proxy_that_speaks_socks_is_used() {
    let (api, listener) = (Api::new(stream), TcpListener::bind("127.0.0.1:0").unwrap());
    let company = listener.local_addr().unwrap();
    let (port, (asked, addresses)) = (api.port, channel());
    thread::spawn(move || {
        for stream in listener.incoming() {
            asked.send(serve_socks(&mut stream.unwrap(), port)).unwrap();
        }
    });
    let sandbox = Sandbox::new();
    let mut command = sandbox.command(&["proxy", "--listen", "127.0.0.1:0", "--upstream", "http://gateway.example/base"]);
    command.env("ALL_PROXY", format!("socks5h://user:word@{company}"));
    let (head, _) = Proxy::spawn(command).post("/v1/messages", "x-api-key: key\r\n", b"{}");
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    assert_eq!(addresses.recv_timeout(PATIENCE).unwrap(), "gateway.example:80");
    let seen = api.last();
    assert_eq!((seen.target(), seen.header("host")), ("/base/v1/messages", Some("gateway.example")));
}

#[test]
fn a_proxy_of_a_company_that_is_not_supported_is_refused_at_the_start() {
    for (variable, value) in [
        ("HTTPS_PROXY", "https://user:word@company.example"),
        ("https_proxy", "socks4://company.example:1080"),
        ("ALL_PROXY", "socks4a://company.example"),
        ("all_proxy", "socks://company.example"),
        ("HTTPS_PROXY", "http://"),
    ] {
        let sandbox = Sandbox::new();
        let client = sandbox.write("bin/claude", "").to_str().unwrap().to_owned();
        for arguments in [&["proxy", "--listen", "127.0.0.1:0"][..], &["run", "--", &client]] {
            let mut command = sandbox.command(arguments);
            command.env("PATH", "").env("NO_PROXY", "intern").env(variable, value);
            let output = command.output().unwrap();
            let error = String::from_utf8(output.stderr).unwrap();
            let refused = format!("error: the proxy that {variable} names is not supported");
            assert!(output.status.code() == Some(1) && error.starts_with(&refused), "{variable}={value} {arguments:?}: {error}");
            assert!(!error.contains("word") && output.stdout.is_empty(), "{error}");
        }
    }
    // Another API is excepted, or of this machine: only the requests to the others are refused.
    let (sandbox, api) = (Sandbox::new(), Api::new(stream));
    let mut command = sandbox.command(&["proxy", "--listen", "127.0.0.1:0", "--upstream", &api.url()]);
    command.env("HTTPS_PROXY", "https://company.example");
    let (head, _) = Proxy::spawn(command).post("/v1/messages", "", b"{}");
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    let mut command = sandbox.command(&["proxy", "--listen", "127.0.0.1:0"]);
    command.env("HTTPS_PROXY", "https://company.example").env("NO_PROXY", "chatgpt.com");
    let (head, body) = Proxy::spawn(command).post("/v1/messages", "x-api-key: key\r\n", b"{}");
    assert!(head.starts_with("HTTP/1.1 502 ") && String::from_utf8_lossy(&body).contains("HTTPS_PROXY"), "{head}");
}

/// Answers with a stream when the test says so, and sends news when the client is gone before that.
fn patient() -> (Api, Sender<()>, Receiver<()>) {
    let ((step, steps), (gone, is_gone)) = (channel(), channel());
    let (steps, gone) = (Mutex::new(steps), Mutex::new(gone));
    let api = Api::new(move |_, stream| {
        if steps.lock().unwrap().recv().is_ok() {
            return answer_events(stream, STREAM);
        }
        if stream.read(&mut [0]).is_ok_and(|read| read == 0) {
            let _ = gone.lock().unwrap().send(());
        }
    });
    (api, step, is_gone)
}

#[test]
fn a_client_that_only_closes_its_sending_side_gets_its_answer() {
    for (version, framing, body) in [
        ("1.1", "content-length: 2\r\n", &b"{}"[..]),
        ("1.1", "transfer-encoding: chunked\r\n", b"2\r\n{}\r\n0\r\n\r\n"),
        ("1.0", "content-length: 2\r\n", b"{}"),
        ("1.1", "", b""),
    ] {
        for path in [format!("/{SECRET}/v1/messages"), "/v1/messages".to_owned(), format!("/{SECRET}/v1/models")] {
            let (api, step, _) = patient();
            let sandbox = Sandbox::new();
            let proxy = Proxy::of(&sandbox, &api);
            let mut stream = proxy.connect();
            let head = format!("POST {path} HTTP/{version}\r\nhost: 127.0.0.1:{}\r\n{framing}\r\n", proxy.port);
            stream.write_all(&[head.as_bytes(), body].concat()).unwrap();
            stream.shutdown(Shutdown::Write).unwrap();
            wait_for(&format!("the request {version} {framing} {path}"), || (!api.seen().is_empty()).then_some(()));
            thread::sleep(Duration::from_millis(50));
            step.send(()).unwrap();
            let mut answer = Vec::new();
            stream.read_to_end(&mut answer).unwrap();
            let text = String::from_utf8_lossy(&answer);
            let text = text.strip_prefix("HTTP/1.1 100 Continue\r\n\r\n").unwrap_or(&text);
            assert!(text.starts_with(&format!("HTTP/{version} 200 ")), "{version} {framing} {path}: {text}");
            assert!(text.contains("message_delta"), "{version} {framing} {path}: {text}");
        }
    }
}

#[test]
fn a_client_that_leaves_before_its_answer_closes_the_connection_to_the_api() {
    for path in [format!("/{SECRET}/v1/messages"), "/v1/messages".to_owned()] {
        let (api, step, is_gone) = patient();
        let sandbox = Sandbox::new();
        let proxy = Proxy::of(&sandbox, &api);
        let mut stream = proxy.connect();
        write!(stream, "POST {path} HTTP/1.1\r\nhost: 127.0.0.1:{}\r\ncontent-length: 2\r\n\r\n{{}}", proxy.port).unwrap();
        wait_for("the request", || (!api.seen().is_empty()).then_some(()));
        drop(stream);
        drop(step);
        is_gone.recv_timeout(PATIENCE).unwrap();
    }
}

#[cfg(unix)]
mod run {
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use std::path::PathBuf;
    use std::process::{Child, Command, Stdio};

    /// A client that writes down what it was given, sends nothing, and waits for the test.
    const CLIENT: &str = "#!/bin/sh
cd \"$(dirname \"$0\")\"
echo \"$ANTHROPIC_BASE_URL $*\" > given.new
mv given.new given
while [ ! -e done ]; do sleep 0.05; done
";

    /// A client that `run` started.
    struct Running {
        run: Child,
        directory: PathBuf,
        /// Its base URL and arguments.
        given: String,
    }

    impl Running {
        fn start(sandbox: &Sandbox, name: &str, arguments: &[&str], change: impl Fn(&mut Command)) -> Running {
            let client = sandbox.write(&format!("bin/{name}"), CLIENT);
            fs::set_permissions(&client, PermissionsExt::from_mode(0o755)).unwrap();
            let directory = client.parent().unwrap().to_owned();
            let _ = fs::remove_file(directory.join("done"));
            let _ = fs::remove_file(directory.join("given"));
            let mut command = sandbox.command(&[&["run", "--", client.to_str().unwrap()], arguments].concat());
            change(command.env("PATH", std::env::var("PATH").unwrap()));
            let run = command.stderr(Stdio::piped()).spawn().unwrap();
            let given = wait_for("the client", || fs::read_to_string(directory.join("given")).ok());
            Running { run, directory, given }
        }

        /// Returns the address and the path of its base URL.
        fn base(&self) -> (String, String) {
            let url = self.given.split_once("http://").unwrap().1.split([' ', '"', '\n']).next().unwrap();
            let (address, path) = url.split_once('/').unwrap();
            (address.to_owned(), path.to_owned())
        }

        /// Sends a request to its base URL.
        fn send(&self, path: &str) {
            let (address, base) = self.base();
            let mut stream = TcpStream::connect(&address).unwrap();
            let head = "connection: close\r\ncontent-length: 2\r\n\r\n{}";
            write!(stream, "POST /{base}{path} HTTP/1.1\r\nhost: {address}\r\n{head}").unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
        }

        /// Ends the client and returns the notes of `run`.
        fn end(self) -> String {
            fs::write(self.directory.join("done"), "").unwrap();
            String::from_utf8(self.run.wait_with_output().unwrap().stderr).unwrap()
        }
    }

    #[test]
    fn a_run_behind_a_shared_proxy_counts_its_own_requests() {
        let (sandbox, api) = (Sandbox::new(), Api::new(stream));
        let shared = Proxy::of(&sandbox, &api);
        let running = Running::start(&sandbox, "claude", &[], |_| {});
        assert!(!running.given.contains(SECRET), "it has a secret of its own");
        shared.post("/v1/messages", "", b"{}");
        running.send("/v1/messages");
        shared.post("/v1/messages", "", b"{}");
        let (address, base) = running.base();
        let errors = running.end();
        assert!(errors.starts_with("note: 1 request passed the proxy: ~330 tokens sent, saved ~0"), "{errors}");
        assert!(api.seen().iter().all(|seen| seen.target() == "/v1/messages"));
        // After the end of the run, its secret proves nothing.
        let head = "connection: close\r\ncontent-length: 2\r\n\r\n{}";
        let mut stream = TcpStream::connect(&address).unwrap();
        write!(stream, "POST /{base}/v1/messages HTTP/1.1\r\nhost: {address}\r\n{head}").unwrap();
        stream.read_to_end(&mut Vec::new()).unwrap();
        assert_eq!(api.last().target(), format!("/{base}/v1/messages"));
    }

    #[test]
    fn the_settings_of_a_client_that_lead_past_the_proxy_are_said_at_the_start() {
        const PROVIDER: &str = "sends its requests to another provider, and none passes the proxy";
        let bedrock = r#"{"env":{"CLAUDE_CODE_USE_BEDROCK":"1"}}"#;
        let gateway = r#"{"env":{"ANTHROPIC_BASE_URL":"http://gateway.invalid"}}"#;
        for (client, file, text, arguments, setting) in [
            ("claude", ".claude/settings.json", bedrock, &[][..], "CLAUDE_CODE_USE_BEDROCK is set in "),
            ("claude", ".claude/settings.local.json", gateway, &[], "ANTHROPIC_BASE_URL is set in "),
            ("codex", ".codex/config.toml", "model_provider = \"ollama\"", &[], "model_provider is set in "),
            ("codex", ".codex/config.toml", "", &["--oss"], "--oss is set in the arguments"),
        ] {
            let sandbox = Sandbox::new();
            fs::create_dir_all(sandbox.home.join(file).parent().unwrap()).unwrap();
            fs::write(sandbox.home.join(file), text).unwrap();
            let running = Running::start(&sandbox, client, arguments, |command| {
                command.current_dir(&sandbox.home);
            });
            let errors = running.end();
            let first = errors.lines().next().unwrap_or_default();
            assert!(first.starts_with(&format!("note: {setting}")) && first.ends_with(PROVIDER), "{file}: {errors}");
            assert!(errors.ends_with("note: 0 requests passed the proxy: ~0 tokens sent, saved ~0 tokens at the full price\n"));
        }
    }

    #[test]
    fn the_key_of_codex_goes_to_the_base_url_of_its_own_settings() {
        let (sandbox, own, other) = (Sandbox::new(), Api::new(stream), Api::new(stream));
        fs::create_dir_all(sandbox.home.join(".codex")).unwrap();
        fs::write(sandbox.home.join(".codex/config.toml"), format!("openai_base_url = \"{}/v1\"", own.url())).unwrap();
        let running = Running::start(&sandbox, "codex", &["exec"], |command| {
            // Codex does not read it.
            command.env("OPENAI_BASE_URL", other.url());
        });
        assert!(running.given.ends_with("/v1\" exec\n"), "{}", running.given);
        running.send("/responses");
        running.end();
        assert_eq!((own.last().target(), other.seen().len()), ("/v1/responses", 0));
    }

    #[test]
    fn settings_that_lead_to_the_proxy_of_a_company_keep_the_requests_as_they_are() {
        let (sandbox, company) = (Sandbox::new(), Api::new(stream));
        fs::create_dir_all(sandbox.home.join(".claude")).unwrap();
        let settings = format!(r#"{{"env":{{"HTTP_PROXY":"{}","NO_PROXY":"intern"}}}}"#, company.url());
        fs::write(sandbox.home.join(".claude/settings.json"), settings).unwrap();
        let running = Running::start(&sandbox, "claude", &[], |_| {});
        assert_eq!(running.given, " \n", "the client keeps its own address");
        let errors = running.end();
        assert!(errors.starts_with("note: NO_PROXY in the settings of claude does not except 127.0.0.1"), "{errors}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_secret_from_the_list_of_processes_is_of_no_use_to_another_user() {
        use std::os::unix::process::CommandExt;
        let sandbox = Sandbox::new();
        let api = Api::new(stream);
        let (mut shared, shell) = (Proxy::of(&sandbox, &api), Command::new("bash").arg("-c").arg("true").uid(65534).status());
        if !shell.is_ok_and(|status| status.success()) {
            return skipped("another user can be tried by the administrator only, with bash");
        }
        let running = Running::start(&sandbox, "codex", &[], |_| {});
        let (address, base) = running.base();
        let port = address.rsplit(':').next().unwrap();
        let head =
            format!("POST /{base}/responses HTTP/1.1\\r\\nhost: 127.0.0.1:{port}\\r\\nconnection: close\\r\\ncontent-length: 2");
        let script = format!("exec 3<>/dev/tcp/127.0.0.1/{port}; printf '{head}\\r\\n\\r\\n{{}}' >&3; cat <&3");
        let answer = Command::new("bash").arg("-c").arg(script).uid(65534).output().unwrap();
        assert!(String::from_utf8_lossy(&answer.stdout).starts_with("HTTP/1.1 200 "), "{answer:?}");
        assert_eq!((api.last().target(), requests(&sandbox).len()), ("/v1/responses", 0), "it passes, and is not the user's");
        running.send("/responses");
        assert_eq!((api.seen().len(), requests(&sandbox).len()), (2, 1));
        assert!(running.end().starts_with("note: 1 request passed the proxy"));
        assert!(shared.errors().contains("another user of this machine"));
    }
}
