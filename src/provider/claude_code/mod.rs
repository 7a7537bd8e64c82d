//! Claude Code, 1.0.51 to 2.1.330: one JSON object a line, a tree of rows.

mod attachment;
mod content;
mod lists;
mod messages;
mod parse;
mod places;
mod scan;
mod templates;
mod tool;
mod window;

use super::{Location, Message, OpenSession, ParsedRow, Places, ProviderAdapter, Scanner};
use crate::model::{Session, Window};
use std::path::{Path, PathBuf};

pub use places::slug;

/// The Claude Code client.
pub struct ClaudeCode;

impl ProviderAdapter for ClaudeCode {
    fn name(&self) -> &'static str {
        "claude-code"
    }

    fn roots(&self, places: &Places) -> Vec<PathBuf> {
        vec![places::config(places).join("projects")]
    }

    fn locate(&self, path: &Path) -> Option<Location> {
        places::locate(path)
    }

    fn project_directory(&self, root: &Path, project: &Path) -> PathBuf {
        root.join(slug(&project.to_string_lossy()))
    }

    fn registries(&self, places: &Places) -> Vec<PathBuf> {
        vec![places::config(places).join("sessions")]
    }

    fn registered(&self, content: &[u8]) -> Option<OpenSession> {
        places::registered(content)
    }

    fn recognizes(&self, head: &[u8]) -> bool {
        parse::recognizes(head)
    }

    fn parse<'a>(&self, bytes: &'a [u8]) -> ParsedRow<'a> {
        parse::parse(bytes)
    }

    fn window(&self, session: &Session) -> Window {
        window::window(session)
    }

    fn messages(&self, session: &Session, window: &Window) -> Vec<Message> {
        messages::messages(session, window)
    }

    fn scanner(&self) -> Box<dyn Scanner> {
        Box::new(scan::Scan::default())
    }

    fn api_base_url(&self) -> &'static str {
        "https://api.anthropic.com"
    }
}
