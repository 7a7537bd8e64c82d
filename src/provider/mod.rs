//! Formats of session files and the clients that write them: from bytes to rows and blocks, and back.
//!
//! A provider is the sum of four parts: [`Format`] (rows, window, slots), [`Client`] (places, open sessions, the API),
//! [`Rewriter`] (rows that aperture adds) and [`Billing`] (usage, cache life). It is given bytes and names and returns values; it
//! neither reads a file nor decides anything. A new one is a folder here and a line in [`PROVIDERS`]; the laws over that
//! table test it at once. The bodies of requests to an API have formats too: [`REQUESTS`].

mod billing;
pub mod claude_code;
mod client;
pub mod codex;
mod command;
mod files;
mod format;
mod framing;
mod image;
mod json;
mod json_edit;
#[cfg(test)]
mod laws;
mod message;
mod requests;
mod rewriter;
mod sniff;
mod words;

use crate::model::Conventions;
use crate::model::limits::TITLE_CHARACTERS;
use std::sync::LazyLock;

pub use billing::Billing;
pub use client::{Client, ClientPart, Location, OpenSession, Places, Variables, WindowSize, WriterLock};
pub use format::{Format, ParsedBlock, ParsedRow, Scanner, SentUnder, Stub, Totals};
pub use framing::Framing;
pub use json::strings;
pub use json_edit::EditError;
pub use message::{Addition, Change, Lead, Message, Part, Source, Unrecorded};
pub use requests::REQUESTS;
#[cfg(test)]
pub use requests::body;
pub use rewriter::{ForkedRow, KnownContext, NewRow, Rewriter};
pub use sniff::{FileKind, sniff};

/// Every provider that aperture reads.
pub static PROVIDERS: &[&dyn ProviderAdapter] = &[&claude_code::ClaudeCode, &codex::Codex];

/// A format of session files, and the client that writes them.
///
/// | task | part |
/// | --- | --- |
/// | detect sessions | [`Format::recognizes`], [`Client::roots`], [`Client::locate`] |
/// | parse | [`Format::parse`], [`Format::link`], [`Format::window`] |
/// | texts and names | [`Client::conventions`] |
/// | watch | [`Client::roots`], [`Client::registries`] |
/// | write back | [`Format::locate_slot`], [`Format::encode`], [`Rewriter`], [`Billing::usage`] |
/// | base URL of the API | [`Client::api_base_url`], [`Client::variables`] |
/// | request | [`Format::messages`] |
pub trait ProviderAdapter: Format + Client + Rewriter + Billing {
    /// Returns the name in reports, settings and `--json`, such as `claude-code`.
    fn name(&self) -> &'static str;
}

/// Returns the provider with this name, of files or of requests; the first one if none has it.
pub fn by_name(name: &str) -> &'static dyn ProviderAdapter {
    PROVIDERS.iter().chain(REQUESTS).find(|provider| provider.name() == name).copied().unwrap_or(PROVIDERS[0])
}

/// Returns the conventions of all clients, because a session can quote the rows of any of them.
pub fn conventions() -> &'static Conventions {
    static ALL: LazyLock<Conventions> = LazyLock::new(|| {
        let mut all = Conventions::default();
        PROVIDERS.iter().for_each(|provider| all.extend(provider.conventions()));
        all
    });
    &ALL
}

/// Returns the first words of a text on one line, for titles.
fn one_line(text: &str) -> String {
    text.split_whitespace().flat_map(|word| [" ", word]).skip(1).collect::<String>().chars().take(TITLE_CHARACTERS).collect()
}
