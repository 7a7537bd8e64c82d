//! The secret path segment that proves that a request is the user's: the names in a request can be chosen by anyone who reaches the port.

use super::control::is_equal;
use crate::app::{CommandError, Env, ErrorKind, files};
use anyhow::anyhow;
use hyper::Uri;
use hyper::http::request::Parts;
use hyper::http::uri::PathAndQuery;
use rustls::crypto::ring;

/// The variable with a secret that the user chooses.
const VARIABLE: &str = "APERTURE_PROXY_SECRET";
/// The file with the secret of the proxy for all clients, in the data directory: base URLs stay valid after a restart.
const FILE: &str = "proxy.secret";
/// The minimum length of a secret, in characters.
const SHORTEST: usize = 16;

/// Returns a random secret.
///
/// # Errors
///
/// The platform gives no random numbers.
pub fn random() -> Result<String, CommandError> {
    let mut bytes = [0; 32];
    let filled = ring::default_provider().secure_random.fill(&mut bytes);
    filled.map_err(|_| CommandError::new(ErrorKind::Internal, anyhow!("the platform gives no random numbers")))?;
    Ok(blake3::hash(&bytes).to_hex().to_string())
}

/// Returns the secret that the user chose, if they did.
///
/// # Errors
///
/// It is too short, or cannot be a segment of a path.
pub fn chosen(env: &Env) -> Result<Option<String>, CommandError> {
    let Some(text) = env.variable(VARIABLE).filter(|text| !text.is_empty()) else { return Ok(None) };
    let text = text.into_string().unwrap_or_default();
    let secret = text.strip_prefix('/').unwrap_or(&text);
    if is_usable(secret) {
        return Ok(Some(secret.to_owned()));
    }
    let error = anyhow!("the secret in {VARIABLE} cannot be used");
    Err(CommandError::new(ErrorKind::Usage, error).hint(format!("choose at least {SHORTEST} of the characters A-Z a-z 0-9 - _")))
}

fn is_usable(secret: &str) -> bool {
    secret.len() >= SHORTEST && secret.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

/// Returns the secret of the proxy for all clients: the chosen one, or that of the file, which is created when it is missing.
///
/// # Errors
///
/// The chosen secret cannot be used, or the platform gives no random numbers.
pub fn kept(env: &Env) -> Result<String, CommandError> {
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

/// Removes the secret from the beginning of the path. Returns false, and changes nothing, if it is not there.
pub fn take(parts: &mut Parts, secret: &str) -> bool {
    let Some(target) = parts.uri.path_and_query() else { return false };
    let Some(rest) = target.as_str().strip_prefix('/') else { return false };
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (given, rest) = rest.split_at(end);
    if !is_equal(given.as_bytes(), secret.as_bytes()) {
        return false;
    }
    let rest = if rest.starts_with('/') { rest.to_owned() } else { format!("/{rest}") };
    let Ok(target) = rest.parse::<PathAndQuery>() else { return false };
    let mut uri = parts.uri.clone().into_parts();
    uri.path_and_query = Some(target);
    let Ok(uri) = Uri::from_parts(uri) else { return false };
    parts.uri = uri;
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_first_segment_is_the_secret() {
        let taken = |target: &str| {
            let mut parts = hyper::Request::get(target).body(()).unwrap().into_parts().0;
            take(&mut parts, "abc").then(|| parts.uri.to_string())
        };
        assert_eq!(taken("/abc/v1/messages?a=b").as_deref(), Some("/v1/messages?a=b"));
        assert_eq!(taken("/abc").as_deref(), Some("/"));
        assert_eq!(taken("/abc?a").as_deref(), Some("/?a"));
        for target in ["/", "/v1/messages", "/abcd/v1", "/ab/v1", "/v1/abc", "//abc/v1", "/ABC/v1", "/?abc", "/%61bc/v1"] {
            assert_eq!(taken(target), None, "{target}");
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
