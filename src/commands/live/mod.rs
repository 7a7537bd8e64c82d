//! The work on a session while a client works: behind the proxy, by the rules of the settings, and for its next prompt.

pub mod automatic;
pub mod pending;
pub mod policy;
pub mod proxied;
mod request_log;
pub mod selection;
