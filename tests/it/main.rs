//! Tests of aperture with files and processes, as one test program.
#![allow(clippy::disallowed_methods, reason = "tests prepare files and run the program")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test that cannot go on fails"
)]

mod blame;
#[cfg(feature = "proxy")]
mod browser;
mod bulk;
mod changing;
mod codex;
mod commands;
mod converting;
mod costs;
mod damage;
mod doctor;
mod files;
mod fill;
mod folding;
mod forks;
mod fresh;
mod hints;
mod hooks;
mod instructions;
mod json;
mod keeping;
mod kept;
mod leaks;
mod limits;
mod links;
mod listing;
mod lists;
mod literals;
mod manifest;
mod mcp;
mod memory;
mod memory_live;
mod mistakes;
#[cfg(feature = "proxy")]
mod network;
mod obeying;
mod only_read;
mod pack;
mod packaging;
#[cfg(feature = "proxy")]
mod page;
mod properties;
mod prose;
#[cfg(feature = "proxy")]
mod proxy;
#[cfg(feature = "proxy")]
mod proxy_faults;
#[cfg(feature = "proxy")]
mod proxy_long;
#[cfg(feature = "proxy")]
mod proxy_rules;
#[cfg(feature = "proxy")]
mod proxy_sessions;
#[cfg(feature = "proxy")]
mod proxy_strangers;
#[cfg(all(feature = "proxy", target_os = "linux"))]
mod proxy_tls;
#[cfg(feature = "proxy")]
mod proxy_tool;
#[cfg(feature = "proxy")]
mod proxy_tool_forms;
mod reliability;
mod reports;
mod rows;
mod sandbox;
mod score;
mod sealing;
mod searching;
mod secrets;
mod shrink;
#[cfg(feature = "proxy")]
mod sidecar;
mod sidecar_checks;
#[cfg(target_os = "linux")]
mod terminal;
mod tidy;
mod topics;
mod turns;
mod usage;
mod walls;
mod watch;
mod window;
#[cfg(feature = "proxy")]
mod wire;
mod words;
