//! Finds the session that a call concerns.

use super::wire::Connection;
use crate::app::{Client, CommandError, Env};
use crate::workspace::{self, Found};
use std::path::PathBuf;
use std::time::Duration;

/// The maximum time to wait for the client's roots.
const PATIENCE: Duration = Duration::from_secs(2);

/// Finds the session named in the call, otherwise the one given to the server, otherwise the one that the client has open,
/// otherwise the newest of the project.
/// Errors: there is no session, or the name matches more than one.
pub fn find(env: &Env, client: &Client, named: Option<&str>) -> Result<Found, CommandError> {
    if let Some(name) = named {
        return env.find_by(name);
    }
    if env.session().is_some() {
        return env.find(None);
    }
    // The registry of open sessions is updated when the user switches sessions; the environment variables are not.
    let open = client.process.and_then(|process| workspace::session_of(env.disk, &env.places, process));
    match open.or_else(|| client.session.clone()) {
        Some(id) => env.find_open(&id),
        None => env.find(None),
    }
}

/// Returns true if a session is that of the calling model, as [`find`] finds it without a name.
pub fn is_own(env: &Env, client: &Client, session: &Found) -> bool {
    find(env, client, None).is_ok_and(|own| own.path == session.path)
}

/// Asks the client for its roots, and returns the first directory.
pub fn root(connection: &mut Connection) -> Option<PathBuf> {
    let listed = connection.request("roots/list", PATIENCE)?;
    listed["roots"].as_array()?.iter().find_map(|root| path(root["uri"].as_str()?))
}

/// Converts a `file://` address to a path.
fn path(address: &str) -> Option<PathBuf> {
    let encoded = address.strip_prefix("file://")?.as_bytes();
    let digit = |byte: Option<&u8>| char::from(*byte?).to_digit(16);
    let mut bytes = Vec::with_capacity(encoded.len());
    let mut at = 0;
    while let Some(byte) = encoded.get(at) {
        match digit(encoded.get(at + 1)).zip(digit(encoded.get(at + 2))).filter(|_| *byte == b'%') {
            Some((high, low)) => {
                bytes.push((high * 16 + low) as u8);
                at += 3;
            }
            None => {
                bytes.push(*byte);
                at += 1;
            }
        }
    }
    String::from_utf8(bytes).ok().filter(|path| path.starts_with('/')).map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::path;

    #[test]
    fn an_address_of_a_file_is_a_path() {
        let check = |address: &str, expected: Option<&str>| {
            assert_eq!(path(address).as_deref(), expected.map(std::path::Path::new), "{address}");
        };
        check("file:///home/a%20b/%C3%A9%2", Some("/home/a b/é%2"));
        check("file://host/x", None);
        check("file:///%ff", None);
        check("https://x/", None);
    }
}
