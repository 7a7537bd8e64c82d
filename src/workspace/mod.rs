//! An open session: found, read, and (only here) changed.

mod addresses;
mod apply;
mod base;
mod draft;
mod error;
mod find;
mod fold;
mod gate;
mod handover;
mod list;
mod live;
mod load;
mod memory;
mod points;
mod project;
mod revision;
mod shorten;
mod sightings;
mod splice;
mod standing;
#[cfg(test)]
mod tests;
mod thinking;
mod verify;
mod way;
mod writer;

pub use apply::{apply, history, settle, was_done};
pub use draft::{Draft, Drafted, Kept, NOTE, Original, Redacted, Thinking};
pub use error::{ApplyError, PlanError};
pub use find::{FindError, Found, find, find_all, looks_like};
pub use handover::{Handover, hand_over};
pub use list::{Listed, list};
pub use live::{open_sessions, session_of};
pub use load::{load, parse_chunk};
pub use project::{Project, stated};
pub use shorten::{Aim, KeptBlocks, Scope, shorten, shrink};
pub(crate) use sightings::named_secrets;
pub use sightings::{Sighted, sighted, sighted_in};
pub use standing::{Beside, Departed, Departure, Standing, Values};
pub use verify::{FileState, Verified, WayBack, found, in_force, verify};
pub use way::{Inexact, Undone};
pub use writer::{Writer, take_writer};

use crate::engine::{self, Analysis, Known, ReadSettings};
use crate::fsio::{Disk, read_range};
use crate::model::{Block, BlockNumber, History, Key, Session, Slot};
use crate::provider::{Location, ProviderAdapter};
use crate::store::Cache;
use std::io;
use std::path::PathBuf;

/// A session that is open for reading.
pub struct Workspace<'a> {
    disk: &'a dyn Disk,
    /// The provider whose format the file has.
    pub provider: &'static dyn ProviderAdapter,
    /// The file.
    pub path: PathBuf,
    /// What its path says.
    pub location: Location,
    /// What it holds, with all that was decided about it.
    pub reading: Analysis,
    /// What aperture did to it.
    pub history: History,
}

/// The content of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// As the model sees it: text, or the input of a tool use as JSON.
    pub sent: String,
    /// The same for people.
    pub readable: String,
    /// The remainder, if the client sends it cut.
    pub cut: Option<String>,
}

/// A large session takes longer to free than to show: what waits for the program's end need not wait for that.
impl Drop for Workspace<'_> {
    fn drop(&mut self) {
        let reading = std::mem::take(&mut self.reading);
        rayon::spawn(move || drop(reading));
    }
}

impl<'a> Workspace<'a> {
    /// Reads a session that was found. `history` is what the store knows of it.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub fn open(
        disk: &'a dyn Disk,
        cache: &Cache,
        history: History,
        found: Found,
        settings: &ReadSettings,
    ) -> io::Result<Workspace<'a>> {
        Workspace::open_as_wanted(disk, cache, history, found, settings, &|_| true)
    }

    /// As [`Workspace::open`], where what was read decides whether all is decided about it, or only what
    /// [`engine::outline`] does.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub fn open_as_wanted(
        disk: &'a dyn Disk,
        cache: &Cache,
        history: History,
        found: Found,
        settings: &ReadSettings,
        whole: &dyn Fn(&Session) -> bool,
    ) -> io::Result<Workspace<'a>> {
        let Found { provider, path, location } = found;
        let mut session = load(disk, cache, provider, &path, location.id.clone())?;
        let known = named_secrets(disk, provider, &path, &session)?;
        // What was shortened may have named some.
        let known = known.with(&Known::new(history.naming.iter().flat_map(|text| engine::named_in(text))));
        known.hide_in(&mut session);
        let window = |session: &Session| provider.window(session);
        let mut reading = match whole(&session) {
            true => engine::read_with(session, window, settings),
            false => engine::outline(session, window, settings),
        };
        reading.known = known;
        let turn = reading.turns.len() as u32;
        memory::apply(&mut reading.session, &history, turn, settings.focus_turns);
        if memory::is_bill_changed(&reading, &history) {
            reading.price.without_bill();
        }
        Ok(Workspace { disk, provider, path, location, reading, history })
    }

    /// How long the client's cache entries live, in milliseconds, by what the last response that wrote any was billed.
    pub fn cache_milliseconds(&self) -> i64 {
        let session = &self.reading.session;
        let wrote = session.rows.iter().rev().find(|row| row.usage.is_some_and(|usage| usage.cache_creation > 0));
        let place = wrote.and_then(|row| session.rows.iter().position(|other| std::ptr::eq(row, other)));
        let line = place.and_then(|row| self.line(row as u32).ok());
        let usage = line.as_deref().and_then(|line| Some(line.get(self.provider.locate_slot(line, Slot::Usage)?)?.to_vec()));
        self.provider.cache_milliseconds(&usage.unwrap_or_default())
    }

    /// Reads a row again, from the file that it is in.
    fn line(&self, row: u32) -> io::Result<Vec<u8>> {
        let session = &self.reading.session;
        let path = session.inherited_from(row).map_or(&self.path, |part| &part.path);
        let place = session.rows.get(row as usize).ok_or_else(load::changed_while_read)?;
        read_range(self.disk, path, place.offset, place.length as usize)
    }

    /// The contents of blocks for people, as [`Workspace::contents`] gives them: without credentials.
    ///
    /// # Errors
    ///
    /// As [`Workspace::contents`].
    pub fn masked_contents(&self, numbers: &[BlockNumber]) -> io::Result<Vec<Content>> {
        let mask = |text: &str| self.reading.known.mask(text).into_owned();
        let masked = |content: Content| Content {
            sent: mask(&content.sent),
            readable: mask(&content.readable),
            cut: content.cut.as_deref().map(mask),
        };
        Ok(self.contents(numbers)?.into_iter().map(masked).collect())
    }

    /// The contents of blocks, each row read again once.
    ///
    /// # Errors
    ///
    /// A row cannot be read any more, or is another one by now.
    pub fn contents(&self, numbers: &[BlockNumber]) -> io::Result<Vec<Content>> {
        let changed = load::changed_while_read;
        let blocks: Vec<&Block> =
            numbers.iter().map(|number| self.reading.block(*number).ok_or_else(changed)).collect::<io::Result<_>>()?;
        let mut contents = Vec::with_capacity(numbers.len());
        for of_row in blocks.chunk_by(|one, other| one.row == other.row) {
            let bytes = self.line(of_row[0].row);
            let bytes = bytes.map_err(|error| if error.kind() == io::ErrorKind::UnexpectedEof { changed() } else { error })?;
            // Once for all blocks of the row: there can be as many as it has bytes.
            let parsed = self.provider.parse(&bytes);
            for block in of_row {
                let parsed = parsed.blocks.get(block.index as usize);
                let parsed =
                    parsed.filter(|parsed| Key::from_bytes(parsed.content.as_bytes()) == block.hash).ok_or_else(changed)?;
                let limit = block.sent_cut().map(|cut| cut.limit);
                let cut = parsed.cuts.iter().find(|cut| Some(cut.limit) == limit).map(|cut| cut.content.clone());
                contents.push(Content { sent: parsed.content.to_string(), readable: parsed.text().to_owned(), cut });
            }
        }
        Ok(contents)
    }
}
