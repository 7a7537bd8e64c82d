//! The proxy between a client and an API, both played by the tests: what passes, what ends here, and how it stops.
#![allow(clippy::disallowed_types, reason = "the client and the API of the proxy")]

use crate::network::{Api, Proxy, SECRET};
use crate::network::{
    EVENTS, STREAM, begin, chunk, dechunked, find, header, read_until, requests, send, split, stepwise, stream,
};
use crate::sandbox::{PATIENCE, Sandbox, contents_below, wait_for};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::mpsc::channel;
use std::sync::{Barrier, Mutex};
use std::thread;

#[test]
fn bodies_and_headers_pass_byte_for_byte() {
    let sandbox = Sandbox::new();
    let api = Api::new(|request, stream| {
        let head = "201 Fine\r\nX-Case: Kept\r\nset-cookie: a=1\r\nset-cookie: b=2\r\nretry-after: 3";
        if request.header("x-chunked").is_some() {
            let pieces: Vec<u8> = request.body.chunks(97).flat_map(chunk).collect();
            let head = format!("HTTP/1.1 {head}\r\ntransfer-encoding: chunked\r\n\r\n");
            stream.write_all(&[head.as_bytes(), &pieces, b"0\r\n\r\n"].concat()).unwrap();
        } else {
            send(stream, head, &request.body);
        }
    });
    let proxy = Proxy::of(&sandbox, &api);
    let body = prop::collection::vec(any::<u8>(), 0..3000);
    let paths =
        prop::sample::select(vec!["/v1/messages?beta=true", "/v1/responses", "/v1/messages/count_tokens", "/x/y?a=%2Fb&a="]);
    let sizes = prop::collection::vec(1_usize..700, 1..6);
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig { cases: 60, ..ProptestConfig::default() });
    let cases = (body, paths, sizes, any::<bool>(), any::<bool>());
    runner
        .run(&cases, |(body, path, sizes, chunks_request, chunks_response)| {
            let mut request = format!(
                "POST /{SECRET}{path} HTTP/1.1\r\nHost: localhost:{}\r\nconnection: close, X-Hop\r\nx-hop: 1\r\n",
                proxy.port
            );
            request.push_str("X-Api-Key: key\r\nzebra: 1\r\nAlpha:  a  b\r\nAccept-Encoding: gzip, br\r\n");
            if chunks_response {
                request.push_str("x-chunked: 1\r\n");
            }
            let mut bytes = request.into_bytes();
            if chunks_request {
                bytes.extend_from_slice(b"transfer-encoding: chunked\r\n\r\n");
                let mut rest = &body[..];
                for size in sizes.iter().cycle() {
                    let (piece, after) = rest.split_at((*size).min(rest.len()));
                    bytes.extend_from_slice(&chunk(piece));
                    rest = after;
                    if piece.is_empty() {
                        break;
                    }
                }
            } else {
                bytes.extend_from_slice(format!("content-length: {}\r\n\r\n", body.len()).as_bytes());
                bytes.extend_from_slice(&body);
            }
            let (head, answer) = split(proxy.exchange(&bytes));
            let answer = if header(&head, "transfer-encoding").is_some() { dechunked(&answer) } else { (answer, true) };
            prop_assert_eq!(&answer, &(body.clone(), true));
            prop_assert!(head.starts_with("HTTP/1.1 201 Fine\r\n") && head.contains("\r\nX-Case: Kept\r\n"), "{}", head);
            prop_assert!(head.contains("set-cookie: a=1\r\nset-cookie: b=2\r\n") && head.contains("retry-after: 3"), "{}", head);
            prop_assert!(!head.contains("date:") && !head.contains("server:"), "{}", head);
            let seen = api.last();
            prop_assert_eq!(&seen.body, &body);
            prop_assert_eq!(seen.target(), path);
            let ours = ["host", "content-length", "transfer-encoding"];
            let names: Vec<_> =
                seen.head.lines().skip(1).filter(|line| !line.is_empty()).filter_map(|line| line.split_once(':')).collect();
            let passed: Vec<_> = names.iter().filter(|(name, _)| !ours.contains(&&*name.to_lowercase())).collect();
            let mut expected = vec![("X-Api-Key", " key"), ("zebra", " 1"), ("Alpha", " a  b"), ("Accept-Encoding", " gzip, br")];
            if chunks_response {
                expected.push(("x-chunked", " 1"));
            }
            prop_assert_eq!(passed, expected.iter().collect::<Vec<_>>());
            prop_assert_eq!(seen.header("host").map(str::to_owned), Some(format!("127.0.0.1:{}", api.port)));
            Ok(())
        })
        .unwrap();
}

#[test]
fn methods_and_empty_bodies_pass() {
    let sandbox = Sandbox::new();
    let api = Api::new(|request, stream| {
        if request.head.starts_with("HEAD ") {
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1234\r\n\r\n").unwrap();
        } else if request.head.starts_with("DELETE ") {
            stream.write_all(b"HTTP/1.1 204 No Content\r\nx-a: 1\r\n\r\n").unwrap();
        } else {
            send(stream, "200 OK", b"found");
        }
    });
    let proxy = Proxy::of(&sandbox, &api);
    let (head, body) = split(proxy.request("HEAD /v1/models", "", b""));
    assert_eq!((header(&head, "content-length"), &*body), (Some("1234"), &b""[..]));
    let (head, body) = split(proxy.request("DELETE /v1/files/a", "", b""));
    assert!(head.starts_with("HTTP/1.1 204 No Content") && body.is_empty());
    assert_eq!(split(proxy.request("GET /v1/models?limit=5", "", b"")).1, b"found");
    let continued = proxy.post("/v1/messages", "expect: 100-continue\r\n", b"{}");
    assert!(continued.0.starts_with("HTTP/1.1 100 Continue"), "{}", continued.0);
    assert!(continued.1.starts_with(b"HTTP/1.1 200 OK"));
    let upgrade = split(proxy.request("GET /v1/responses", "upgrade: websocket\r\n", b"")).0;
    assert!(upgrade.starts_with("HTTP/1.1 426 "), "{upgrade}");
    assert_eq!(api.seen().len(), 4);
    let targets: Vec<String> = api.seen().iter().map(|seen| seen.target().to_owned()).collect();
    assert_eq!(targets, ["/v1/models", "/v1/files/a", "/v1/models?limit=5", "/v1/messages"]);
}

#[test]
fn pieces_arrive_as_they_are_sent_and_their_figures_are_listed() {
    let sandbox = Sandbox::new();
    // Split within a character, a line end and a key.
    let text = STREAM.replace('\n', "\r\n").replacen("event", ": é\r\n\r\nevent", 1);
    let at = [text.find('é').unwrap() + 1, text.find("\r\n").unwrap() + 1, text.find("\"usage\"").unwrap() + 3];
    let mut pieces: Vec<Vec<u8>> = Vec::new();
    let mut from = 0;
    for to in at.into_iter().chain([text.len()]) {
        pieces.push(text.as_bytes()[from..to].to_vec());
        from = to;
    }
    let (api, step, _gone) = stepwise(pieces.clone());
    let proxy = Proxy::of(&sandbox, &api);
    let (mut client, mut read) = (begin(&proxy, "/v1/messages"), Vec::new());
    for piece in &pieces {
        step.send(()).unwrap();
        read_until(&mut client, &mut read, &[piece, &b"\r\n"[..]].concat());
    }
    let listed = &requests(&sandbox)[0];
    assert_eq!((&listed["outcome"], &listed["status"]), (&json!("running"), &json!(200)));
    step.send(()).unwrap();
    read_until(&mut client, &mut read, b"0\r\n\r\n");
    assert_eq!(dechunked(&split(read).1), (text.into_bytes(), true));
    let listed = wait_for("the end of the request", || requests(&sandbox).pop().filter(|request| request["outcome"] == "done"));
    let figure = |name: &str| listed[name]["value"].clone();
    assert_eq!([figure("input"), figure("cache_written"), figure("cache_read"), figure("output")], [10, 20, 300, 40]);
    assert_eq!((&listed["path"], &listed["client_bytes"]), (&json!("/v1/messages"), &json!(2)));
}

#[test]
fn a_client_that_hangs_up_closes_the_connection_to_the_api() {
    for pieces in [vec![b"data: 1\n\n".to_vec()], vec![]] {
        let sandbox = Sandbox::new();
        let sent = !pieces.is_empty();
        let ((step, steps), (gone, is_gone)) = (channel::<()>(), channel());
        let (steps, gone) = (Mutex::new(steps), Mutex::new(gone));
        let api = Api::new(move |_, stream| {
            for piece in &pieces {
                stream.write_all(&[format!("HTTP/1.1 {EVENTS}\r\n\r\n").as_bytes(), &chunk(piece)].concat()).unwrap();
            }
            let read = stream.read(&mut [0]);
            gone.lock().unwrap().send(matches!(read, Ok(0) | Err(_))).unwrap();
            let _ = steps.lock().unwrap().recv();
        });
        let proxy = Proxy::of(&sandbox, &api);
        let mut client = begin(&proxy, "/v1/messages");
        if sent {
            read_until(&mut client, &mut Vec::new(), &chunk(b"data: 1\n\n"));
        } else {
            wait_for("the request", || (api.seen().len() == 1).then_some(()));
        }
        drop(client);
        assert!(is_gone.recv_timeout(PATIENCE).unwrap());
        drop(step);
        wait_for("the outcome", || (requests(&sandbox)[0]["outcome"] == "aborted").then_some(()));
    }
}

#[test]
fn a_cut_stream_ends_as_a_cut() {
    let sandbox = Sandbox::new();
    let api = Api::new(|_, stream| {
        write!(stream, "HTTP/1.1 {EVENTS}\r\n\r\n").unwrap();
        stream.write_all(&chunk(b"data: 1\n\n")).unwrap();
        stream.shutdown(Shutdown::Both).unwrap();
    });
    let proxy = Proxy::of(&sandbox, &api);
    let (head, body) = proxy.post("/v1/messages", "", b"{}");
    assert!(head.starts_with("HTTP/1.1 200 OK"));
    assert_eq!(dechunked(&body), (b"data: 1\n\n".to_vec(), false));
    assert_eq!((&requests(&sandbox)[0]["outcome"], api.seen().len()), (&json!("cut"), 1));
}

#[test]
fn errors_pass_once_with_their_headers() {
    let sandbox = Sandbox::new();
    let api = Api::new(|request, stream| {
        let status = request.target().rsplit('?').next().unwrap().to_owned();
        send(stream, &format!("{status} Odd\r\nretry-after: 3\r\nx-should-retry: true\r\nrequest-id: r"), "{\"ö\":1}".as_bytes());
    });
    let proxy = Proxy::of(&sandbox, &api);
    for (place, status) in ["400", "401", "413", "429", "500", "529"].iter().enumerate() {
        let (head, body) = proxy.post(&format!("/v1/messages?{status}"), "", b"{broken");
        assert!(head.starts_with(&format!("HTTP/1.1 {status} Odd\r\n")), "{head}");
        for (name, value) in [("retry-after", "3"), ("x-should-retry", "true"), ("request-id", "r")] {
            assert_eq!(header(&head, name), Some(value));
        }
        assert_eq!(body, "{\"ö\":1}".as_bytes());
        assert_eq!((api.seen().len(), api.last().body), (place + 1, b"{broken".to_vec()));
    }
    assert_eq!(sandbox.json(&["proxy", "status"], "aperture.proxy-status/1")["errors"], 6);
}

#[test]
fn compressed_bodies_pass_untouched_and_the_next_response_is_asked_for_without_compression() {
    const PACKED: &[u8] = b"\x1f\x8b\x08\x00packed";
    let sandbox = Sandbox::new();
    let api = Api::new(|request, stream| {
        let packs = request.header("accept-encoding").is_some_and(|accepted| accepted.contains("gzip"));
        send(stream, if packs { "200 OK\r\ncontent-encoding: gzip" } else { "200 OK" }, if packs { PACKED } else { b"{}" });
    });
    let proxy = Proxy::of(&sandbox, &api);
    let accept = "accept-encoding: gzip, br\r\n";
    let (head, body) = proxy.post("/v1/messages", &format!("content-encoding: gzip\r\n{accept}"), PACKED);
    assert_eq!((header(&head, "content-encoding"), &*body), (Some("gzip"), PACKED));
    let seen = api.last();
    assert_eq!((seen.header("accept-encoding"), seen.header("content-encoding")), (Some("gzip, br"), Some("gzip")));
    assert_eq!(seen.body, PACKED);
    assert_eq!(proxy.post("/v1/messages", accept, b"{}").1, b"{}");
    assert_eq!(api.last().header("accept-encoding"), Some("identity"));
    assert_eq!(proxy.post("/v1/messages/count_tokens", accept, b"{}").1, PACKED);
    assert_eq!(proxy.post("/v1/messages", "", b"{}").1, b"{}");
    assert_eq!(api.last().header("accept-encoding"), None);
}

#[test]
fn many_streams_run_at_the_same_time() {
    const STREAMS: usize = 64;
    let sandbox = Sandbox::new();
    let all = Barrier::new(STREAMS);
    let api = Api::new(move |request, stream| {
        write!(stream, "HTTP/1.1 {EVENTS}\r\n\r\n").unwrap();
        // No stream ends before all have begun.
        all.wait();
        stream.write_all(&[&chunk(&request.body)[..], b"0\r\n\r\n"].concat()).unwrap();
    });
    let proxy = Proxy::of(&sandbox, &api);
    thread::scope(|scope| {
        for number in 0..STREAMS {
            let proxy = &proxy;
            scope.spawn(move || {
                let body = format!("data: {number} {}\n\n", "x".repeat(number * 100));
                let (_, answer) = proxy.post("/v1/chat/completions", "", body.as_bytes());
                assert_eq!(dechunked(&answer), (body.into_bytes(), true));
            });
        }
    });
}

#[test]
fn a_body_above_the_limit_passes_as_a_stream() {
    let sandbox = Sandbox::new();
    let api = Api::new(|request, stream| {
        send(stream, "200 OK", format!("{} {}", request.body.len(), request.body.iter().all(|byte| *byte == b'y')).as_bytes());
    });
    let proxy = Proxy::of(&sandbox, &api);
    let body = vec![b'y'; (64 << 20) + 12_345];
    let expected = format!("{} true", body.len()).into_bytes();
    assert_eq!(proxy.post("/v1/messages", "", &body).1, expected);
    let mut stream = proxy.connect();
    write!(stream, "POST /{SECRET}/v1/messages HTTP/1.1\r\nhost: 127.0.0.1:{}\r\nconnection: close\r\n", proxy.port).unwrap();
    stream.write_all(b"transfer-encoding: chunked\r\n\r\n").unwrap();
    for piece in body.chunks(1 << 20) {
        stream.write_all(&chunk(piece)).unwrap();
    }
    stream.write_all(b"0\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    assert_eq!(split(answer).1, expected);
    assert!(sandbox.text(&["proxy", "explain", "2"]).contains("too large to be changed"));
}

#[test]
fn requests_with_a_foreign_host_end_at_the_proxy() {
    let sandbox = Sandbox::new();
    let api = Api::new(stream);
    let proxy = Proxy::of(&sandbox, &api);
    let port = proxy.port;
    let hosts = [
        "host: evil.example\r\n".to_owned(),
        format!("host: evil.example:{port}\r\n"),
        format!("host: 127.0.0.1:{port}\r\nhost: evil.example:{port}\r\n"),
        "host: 127.0.0.1\r\n".to_owned(),
        "host: x\r\n".to_owned(),
        "host: x\r\nexpect: 100-continue\r\n".to_owned(),
        String::new(),
    ];
    for host in hosts {
        let request = format!("POST /{SECRET}/v1/messages HTTP/1.1\r\n{host}connection: close\r\ncontent-length: 2\r\n\r\n{{}}");
        let (head, _) = split(proxy.exchange(request.as_bytes()));
        assert!(head.starts_with("HTTP/1.1 403 "), "{host}: {head}");
    }
    let absolute =
        format!("POST http://evil.example/{SECRET}/v1/messages HTTP/1.1\r\nhost: localhost:{port}\r\nconnection: close\r\n\r\n");
    assert!(split(proxy.exchange(absolute.as_bytes())).0.starts_with("HTTP/1.1 403 "));
    assert!(api.seen().is_empty());
    for host in [format!("localhost:{port}"), format!("[::1]:{port}"), "127.0.0.1:1".to_owned()] {
        let request =
            format!("POST /{SECRET}/v1/messages HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{{}}");
        assert!(split(proxy.exchange(request.as_bytes())).0.starts_with("HTTP/1.1 200 "), "{host}");
    }
}

#[test]
fn the_control_path_needs_the_token_of_the_state_file() {
    let sandbox = Sandbox::new();
    let api = Api::new(stream);
    let proxy = Proxy::of(&sandbox, &api);
    for token in ["", "x-aperture-control: wrong\r\n"] {
        assert!(proxy.post("/.aperture/stop", token, b"").0.starts_with("HTTP/1.1 403 "));
    }
    assert!(api.seen().is_empty());
    let state = sandbox.home.join(".aperture/proxy.json");
    #[cfg(unix)]
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&state).unwrap().permissions()) & 0o777, 0o600);
    let state: Value = serde_json::from_slice(&fs::read(state).unwrap()).unwrap();
    let token = format!("x-aperture-control: {}\r\n", state["token"].as_str().unwrap());
    assert!(proxy.post("/.aperture/nothing", &token, b"").0.starts_with("HTTP/1.1 404 "));
    assert!(sandbox.run(&["proxy", "--listen", "127.0.0.1:0"]).stderr.contains("already running"));
}

#[test]
fn other_machines_need_a_token() {
    let sandbox = Sandbox::new();
    let refused = sandbox.run(&["proxy", "--listen", "0.0.0.0:0"]);
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    assert_eq!(sandbox.run(&["proxy", "--listen", "0.0.0.0:0", "--allow-remote"]).code, 2);
    let api = Api::new(stream);
    let proxy = Proxy::start(&sandbox, &["--allow-remote", "--upstream", &api.url()]);
    assert!(proxy.post("/v1/messages", "", b"{}").0.starts_with("HTTP/1.1 403 "));
    assert!(api.seen().is_empty());
    let (head, _) = proxy.post("/v1/messages", "x-aperture-token: a token of a remote client\r\n", b"{}");
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    assert_eq!(api.last().header("x-aperture-token"), None);
    assert!(sandbox.text(&["proxy", "status"]).contains("1 request"));
}

#[test]
fn credentials_are_in_no_file_and_in_no_output() {
    let sandbox = Sandbox::new();
    let api = Api::new(|request, stream| send(stream, "200 OK\r\nset-cookie: sid=1", &request.body));
    let mut proxy = Proxy::start(&sandbox, &["--record", "bodies", "--upstream", &api.url()]);
    let key = format!("sk-ant-api03-{}AA", "k3Yx".repeat(23));
    let headers =
        ["authorization: Bearer", "x-api-key:", "api-key:", "cookie: a=", "x-odd:"].map(|name| format!("{name} {key}\r\n"));
    let path = format!("/v1/messages?key={key}");
    let body = json!({"model": "m", "messages": [{"role": "user", "content": format!("the key is {key}")}]}).to_string();
    let (_, answer) = proxy.post(&path, &headers.concat(), body.as_bytes());
    assert_eq!(answer, body.as_bytes());
    let seen = api.last();
    assert_eq!(seen.head.matches(&key).count(), headers.len() + 1);
    let records = sandbox.project.join("bodies");
    wait_for("the records", || records.join("000001-response.txt").is_file().then_some(()));
    let mut output = sandbox.text(&["proxy", "requests"]) + &sandbox.text(&["proxy", "explain", "1"]);
    output += &sandbox.run(&["proxy", "explain", "1", "--json"]).stdout;
    sandbox.text(&["proxy", "stop"]);
    assert_eq!(proxy.exit_code(), 0);
    proxy.child.stderr.take().unwrap().read_to_string(&mut output).unwrap();
    proxy.child.stdout.take().unwrap().read_to_string(&mut output).unwrap();
    assert!(!output.contains("k3Yxk3Yx"), "{output}");
    for (file, bytes) in contents_below(&sandbox.home).iter().chain(&contents_below(&sandbox.project)) {
        assert!(find(bytes, b"k3Yxk3Yx").is_none(), "{}", file.display());
        #[cfg(unix)]
        if file.starts_with(&records) {
            assert_eq!(std::os::unix::fs::PermissionsExt::mode(&fs::metadata(file).unwrap().permissions()) & 0o777, 0o600);
        }
    }
    let recorded = fs::read_to_string(records.join("000001-request.json")).unwrap();
    assert!(recorded.contains("the key is [secret:"), "{recorded}");
}

#[test]
fn an_api_that_is_down_is_an_error_in_its_own_form() {
    let sandbox = Sandbox::new();
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let proxy = Proxy::start(&sandbox, &["--upstream", &format!("http://{free}")]);
    let error = |path: &str| {
        let (head, body) = proxy.post(path, "x-api-key: sk-secret\r\n", b"{}");
        assert!(head.starts_with("HTTP/1.1 502 Bad Gateway"), "{head}");
        serde_json::from_slice::<Value>(&body).unwrap()
    };
    let messages = error("/v1/messages");
    assert_eq!((&messages["type"], &messages["error"]["type"]), (&json!("error"), &json!("api_error")));
    let text = messages["error"]["message"].as_str().unwrap();
    assert!(
        text.starts_with("aperture: ") && text.contains(&free.to_string()) && text.to_lowercase().contains("refused"),
        "{text}"
    );
    let chat = error("/v1/chat/completions");
    assert_eq!((&chat["error"]["code"], &chat["type"]), (&json!("upstream_unreachable"), &Value::Null));
    assert!(sandbox.text(&["proxy", "requests"]).contains("502 failed"));
}

#[test]
fn a_stop_lets_running_streams_finish() {
    let sandbox = Sandbox::new();
    let (api, step, _gone) = stepwise(vec![b"data: 1\n\n".to_vec(), b"data: 2\n\n".to_vec()]);
    let mut proxy = Proxy::of(&sandbox, &api);
    let (mut client, mut read) = (begin(&proxy, "/v1/messages"), Vec::new());
    step.send(()).unwrap();
    read_until(&mut client, &mut read, &chunk(b"data: 1\n\n"));
    thread::scope(|scope| {
        let stopped = scope.spawn(|| sandbox.text(&["proxy", "stop"]));
        wait_for("the end of the listening", || TcpStream::connect(("127.0.0.1", proxy.port)).err());
        assert_eq!(proxy.child.try_wait().unwrap(), None);
        step.send(()).unwrap();
        step.send(()).unwrap();
        read_until(&mut client, &mut read, b"0\r\n\r\n");
        assert!(stopped.join().unwrap().starts_with("stopping on "));
    });
    assert_eq!(dechunked(&split(read).1), (b"data: 1\n\ndata: 2\n\n".to_vec(), true));
    assert_eq!(proxy.exit_code(), 0);
    assert!(!sandbox.home.join(".aperture/proxy.json").exists());
    assert!(sandbox.text(&["proxy", "status"]).starts_with("no proxy is running"));
    assert_eq!(sandbox.run(&["proxy", "stop"]).code, 1);
}

#[cfg(unix)]
#[test]
fn the_second_signal_ends_at_once_and_a_killed_proxy_is_ignored() {
    let sandbox = Sandbox::new();
    let (api, step, _gone) = stepwise(vec![b"data: 1\n\n".to_vec()]);
    let mut proxy = Proxy::of(&sandbox, &api);
    let (mut client, mut read) = (begin(&proxy, "/v1/messages"), Vec::new());
    step.send(()).unwrap();
    read_until(&mut client, &mut read, &chunk(b"data: 1\n\n"));
    let signal = |proxy: &Proxy| {
        let process = rustix::process::Pid::from_child(&proxy.child);
        rustix::process::kill_process(process, rustix::process::Signal::TERM).unwrap();
    };
    signal(&proxy);
    wait_for("the end of the listening", || TcpStream::connect(("127.0.0.1", proxy.port)).err());
    assert_eq!(proxy.child.try_wait().unwrap(), None);
    signal(&proxy);
    assert_eq!(proxy.exit_code(), 0);
    let mut rest = Vec::new();
    let cut = client.read_to_end(&mut rest);
    assert!(cut.is_err() || !rest.ends_with(b"0\r\n\r\n"));
    let mut proxy = Proxy::of(&sandbox, &api);
    proxy.child.kill().unwrap();
    proxy.exit_code();
    assert!(sandbox.home.join(".aperture/proxy.json").exists());
    assert!(sandbox.text(&["proxy", "status"]).starts_with("no proxy is running"));
    drop(Proxy::of(&sandbox, &api));
}

#[cfg(unix)]
#[test]
fn a_client_is_started_behind_the_proxy_and_nothing_is_left() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::new();
    let api = Api::new(stream);
    let client = sandbox.write("bin/claude", CLIENT);
    fs::set_permissions(&client, PermissionsExt::from_mode(0o755)).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = sandbox.command(&[&["run", "--", client.to_str().unwrap()], arguments].concat());
        let path = std::env::var("PATH").unwrap();
        let command = command.env("PATH", path).env("APERTURE", env!("CARGO_BIN_EXE_aperture"));
        let output = command.env("ANTHROPIC_BASE_URL", api.url()).output().unwrap();
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap(), output.status.code())
    };
    let (text, errors, code) = run(&["7", "--json", "a b"]);
    let summary = "note: 0 requests passed the proxy: ~0 tokens sent, saved ~0 tokens at the full price\n";
    assert_eq!((code, &*errors), (Some(7), summary));
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("url http://127.0.0.1:") && lines[0] != format!("url {}", api.url()), "{text}");
    assert_eq!(lines[1..3], ["tool search true", "arguments 7 --json a b"]);
    assert!(text.contains("clients    claude") && text.contains(&format!("upstream   {}", api.url())), "{text}");
    let files =
        fs::read_dir(sandbox.home.join(".aperture")).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert_eq!(files.filter(|name| name.starts_with("proxy")).collect::<Vec<_>>(), [""; 0]);
    let address = lines[0].trim_start_matches("url http://").split('/').next().unwrap();
    assert!(TcpStream::connect(address).is_err());
    assert_eq!(run(&["signal"]).2, Some(128 + 15));
    let missing = sandbox.run(&["run", "--", "./no/such/claude"]);
    assert_eq!((missing.code, missing.stderr.contains("cannot start ./no/such/claude")), (1, true));
    assert_eq!(sandbox.run(&["run", "--", "ls"]).code, 2);
    let shared = Proxy::of(&sandbox, &api);
    let mut command = sandbox.command(&["run", client.to_str().unwrap(), "0"]);
    let output = command.env("PATH", std::env::var("PATH").unwrap()).env("APERTURE", "true").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with(&format!("url http://127.0.0.1:{}/", shared.port)) && !text.contains(SECRET), "{text}");
    assert!(sandbox.text(&["proxy", "status"]).contains("clients    all"));
}

/// A client that prints what it was started with.
#[cfg(unix)]
const CLIENT: &str = "#!/bin/sh
echo \"url $ANTHROPIC_BASE_URL\"
echo \"tool search $ENABLE_TOOL_SEARCH\"
echo \"arguments $*\"
\"$APERTURE\" proxy status
[ \"$1\" = signal ] && kill -TERM $$
exit $1
";

#[cfg(unix)]
#[test]
fn all_requests_of_a_client_are_counted_and_logged_when_it_has_ended() {
    use std::io::{BufRead, BufReader};
    use std::os::unix::fs::PermissionsExt;
    let (sandbox, api) = (Sandbox::new(), Api::new(stream));
    let script = sandbox.write("bin/claude", "#!/bin/sh\necho \"$ANTHROPIC_BASE_URL\"\nread line\n");
    fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).unwrap();
    let mut command = sandbox.command(&["run", "--", script.to_str().unwrap()]);
    command.env("PATH", std::env::var("PATH").unwrap()).env("ANTHROPIC_BASE_URL", api.url()).env("APERTURE_PROXY_SECRET", SECRET);
    let piped = std::process::Stdio::piped;
    let mut child = command.stdin(piped()).stdout(piped()).stderr(piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let port = line.split(':').nth(2).and_then(|rest| rest.split('/').next()?.parse().ok()).unwrap();
    let mut proxy = Proxy { child, port };
    // The work for each session takes longer than a request.
    let tools = r#"[{"name":"Read","description":"x","input_schema":{"type":"object","properties":{}}}]"#;
    for session in 0..12 {
        let headers = format!("x-claude-code-session-id: aaaaaaaa-bbbb-4ccc-8ddd-{session:012}\r\nx-api-key: key\r\n");
        let body = format!(
            r#"{{"model":"claude-opus-4-5","max_tokens":9,"stream":true,"tools":{tools},"messages":[{{"role":"user","content":"hi {session}"}}]}}"#
        );
        proxy.post("/v1/messages", &headers, body.as_bytes());
    }
    drop(proxy.child.stdin.take());
    assert_eq!(proxy.exit_code(), 1);
    let mut notes = String::new();
    proxy.child.stderr.take().unwrap().read_to_string(&mut notes).unwrap();
    // Each is billed with 10 + 20 + 300 tokens.
    assert!(notes.contains("12 requests passed the proxy: ~4k tokens sent"), "{notes}");
    assert_eq!(requests(&sandbox).len(), 12);
}
