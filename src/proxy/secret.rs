//! The secret path segment that proves that a request is the user's: the names in a request can be chosen by anyone who reaches the port.

use super::control::is_equal;
use crate::app::{CommandError, Env, ErrorKind, files, misuse};
use crate::workspace::is_alive;
use anyhow::anyhow;
use hyper::Uri;
use hyper::http::request::Parts;
use hyper::http::uri::PathAndQuery;
use rustls::crypto::ring;

/// The variable with a secret that the user chooses.
const VARIABLE: &str = "APERTURE_PROXY_SECRET";
/// The file with the secret of the proxy for all clients, in the data directory: base URLs stay valid after a restart.
const FILE: &str = "proxy.secret";
/// The purpose of the secrets that follow from another one.
const DERIVED: &str = "aperture 2026 secret of a client of run";
const SHORTEST: usize = 16;

/// Returns a random secret.
pub fn random() -> Result<String, CommandError> {
    let mut bytes = [0; 32];
    let filled = ring::default_provider().secure_random.fill(&mut bytes);
    filled.map_err(|_| CommandError::new(ErrorKind::Internal, anyhow!("the platform gives no random numbers")))?;
    Ok(blake3::hash(&bytes).to_hex().to_string())
}

/// Returns the secret that the user chose, if they did.
/// Errors: it is too short, or cannot be a segment of a path.
pub fn chosen(env: &Env) -> Result<Option<String>, CommandError> {
    let Some(text) = env.variable(VARIABLE).filter(|text| !text.is_empty()) else { return Ok(None) };
    let text = text.into_string().unwrap_or_default();
    let secret = text.strip_prefix('/').unwrap_or(&text);
    if is_usable(secret) {
        return Ok(Some(secret.to_owned()));
    }
    Err(misuse!("the secret in {VARIABLE} cannot be used")
        .hint(format!("choose at least {SHORTEST} of the characters A-Z a-z 0-9 - _")))
}

fn is_usable(secret: &str) -> bool {
    secret.len() >= SHORTEST && secret.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

/// Returns the secret of the proxy for all clients: the chosen one, or that of the file, which is created when it is missing.
/// Errors: the chosen secret cannot be used, or the platform gives no random numbers.
pub fn lasting(env: &Env) -> Result<String, CommandError> {
    if let Some(secret) = chosen(env)? {
        return Ok(secret);
    }
    let directory = env.store_directory()?;
    let path = directory.join(FILE);
    let known = files::text(env.disk, &path).ok().flatten().filter(|secret| is_usable(secret));
    if let Some(secret) = known {
        return Ok(secret);
    }
    let secret = random()?;
    // Without the file, the secret holds as long as this proxy runs.
    let _ = files::make_private(&directory, FILE).and_then(|()| files::write_private(env.disk, &path, secret.as_bytes()));
    Ok(secret)
}

/// The owner of a request with a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    User,
    /// A client of `run` behind a proxy that other clients use too, by the process of `run`.
    Run(u32),
}

/// Returns the secret of a client of `run`, which holds while that process runs: it can be in the list of processes.
pub fn of_run(secret: &str, process: u32) -> String {
    let hash = blake3::Hasher::new_derive_key(DERIVED).update(format!("{process} {secret}").as_bytes()).finalize();
    format!("{process}.{}", hash.to_hex())
}

fn owner(given: &str, secret: &str) -> Option<Owner> {
    let Some((process, _)) = given.split_once('.') else {
        return is_equal(given.as_bytes(), secret.as_bytes()).then_some(Owner::User);
    };
    let process = process.parse().ok().filter(|process| is_alive(*process))?;
    is_equal(given.as_bytes(), of_run(secret, process).as_bytes()).then_some(Owner::Run(process))
}

/// Removes the secret from the beginning of the path and returns its owner. `None`, and nothing is changed, if it is not there.
pub fn take(parts: &mut Parts, secret: &str) -> Option<Owner> {
    let rest = parts.uri.path_and_query()?.as_str().strip_prefix('/')?;
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (given, rest) = rest.split_at(end);
    let owner = owner(given, secret)?;
    let rest = if rest.starts_with('/') { rest.to_owned() } else { format!("/{rest}") };
    let target = rest.parse::<PathAndQuery>().ok()?;
    let mut uri = parts.uri.clone().into_parts();
    uri.path_and_query = Some(target);
    parts.uri = Uri::from_parts(uri).ok()?;
    Some(owner)
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "a process that runs")]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_first_segment_is_the_secret() {
        let taken = |target: &str| {
            let mut parts = hyper::Request::get(target).body(()).unwrap().into_parts().0;
            take(&mut parts, "abc").map(|_| parts.uri.to_string())
        };
        assert_eq!(taken("/abc/v1/messages?a=b").as_deref(), Some("/v1/messages?a=b"));
        assert_eq!(taken("/abc").as_deref(), Some("/"));
        assert_eq!(taken("/abc?a").as_deref(), Some("/?a"));
        for target in ["/", "/v1/messages", "/abcd/v1", "/ab/v1", "/v1/abc", "//abc/v1", "/ABC/v1", "/?abc", "/%61bc/v1"] {
            assert_eq!(taken(target), None, "{target}");
        }
    }

    #[test]
    fn the_secret_of_a_run_holds_while_it_runs() {
        let process = std::process::id();
        let own = of_run("abc", process);
        assert_eq!(owner(&own, "abc"), Some(Owner::Run(process)));
        assert_eq!(owner("abc", "abc"), Some(Owner::User));
        for given in
            [&*own.replace('.', ""), &of_run("other", process), &of_run("abc", 0), &format!("{process}."), ".abc", "abc."]
        {
            assert_eq!(owner(given, "abc"), None, "{given}");
        }
    }

    #[test]
    fn a_usable_secret_is_long_and_needs_no_escapes() {
        assert!(is_usable("0123456789abc-_Z") && is_usable(&random().unwrap()));
        for secret in ["", "0123456789abcde", "0123456789abcdef/", "0123456789abcdef?", "0123456789 abcdef", "0123456789abcdefé"]
        {
            assert!(!is_usable(secret), "{secret}");
        }
    }
}
