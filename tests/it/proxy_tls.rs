//! TLS to the API: which certificates are trusted.
#![allow(clippy::disallowed_types, reason = "the API of the proxy")]

use crate::network::{Proxy, header, split};
use crate::sandbox::Sandbox;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::thread;

/// Starts an API on `localhost` with a certificate of a new authority; returns its port and the certificate of the authority.
fn start_api() -> (u16, String) {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let own = CertificateParams::new(["localhost".to_owned()]).unwrap().signed_by(&key, &authority).unwrap();
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()));
    let config = config.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
    let config = Arc::new(config.with_single_cert(vec![own.der().clone()], key).unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut connection = StreamOwned::new(ServerConnection::new(config.clone()).unwrap(), stream.unwrap());
            let mut head = String::new();
            let mut reader = BufReader::new(&mut connection);
            // A client that does not trust the certificate ends the connection.
            while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head).is_ok_and(|read| read > 0) {}
            let length = header(&head, "content-length").map_or(0, |length| length.parse().unwrap());
            if reader.read_exact(&mut vec![0; length]).is_ok() && length > 0 {
                let _ = connection.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}");
            }
            connection.conn.send_close_notify();
            let _ = connection.flush();
        }
    });
    (port, authority.pem())
}

#[test]
fn an_authority_of_the_users_own_is_trusted_if_the_environment_names_its_file() {
    let (port, authority) = start_api();
    let sandbox = Sandbox::new();
    let (own, other) = (sandbox.home.join("own.pem"), sandbox.home.join("other.pem"));
    fs::write(&own, authority).unwrap();
    fs::write(&other, start_api().1).unwrap();
    for (file, is_trusted) in [(Some(&own), true), (Some(&other), false), (None, false)] {
        let upstream = format!("https://localhost:{port}");
        let mut command = sandbox.command(&["proxy", "--listen", "127.0.0.1:0", "--upstream", &upstream]);
        command.envs(file.map(|file| ("SSL_CERT_FILE", file)));
        let mut proxy = Proxy::spawn(command);
        let (head, body) = split(proxy.request("POST /v1/messages", "", b"{}"));
        let body = String::from_utf8(body).unwrap();
        if is_trusted {
            assert!(head.starts_with("HTTP/1.1 200 OK") && body == "{}", "{head} {body}");
        } else {
            assert!(head.starts_with("HTTP/1.1 502 ") && body.contains("certificate"), "{file:?}: {head} {body}");
        }
        proxy.kill();
    }
}
