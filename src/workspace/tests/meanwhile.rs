//! Tests that a change is safe while other programs write to the same session or the same store.

use super::place::{Place, Step, append};
use super::sessions::{STATE, odd, small};
use super::*;
use crate::fsio::{Identity, NewFile, RealDisk};
use crate::model::{Key, Level};
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::Mutex;

/// A disk on which a client writes: its writes depend on the disk call.
struct BusyDisk<'a> {
    inner: &'a dyn Disk,
    /// Rows that are appended when the temporary file is created, and just before it is renamed.
    at_create: Mutex<Vec<String>>,
    at_rename: Mutex<Vec<String>>,
    /// Data that a program writes to the old file after the rename, one piece for each query of the writers.
    after: Mutex<Vec<String>>,
    /// Data that it writes to the new file right after the rename.
    newer: String,
    /// True if that program never closes the file.
    stays: bool,
    old: Mutex<Option<File>>,
    /// Another store, with which a command changes the session just before the rename.
    other: Mutex<Option<Place>>,
    /// The contents of a file that another program puts in its place while the temporary file is created.
    replaced: Option<Vec<u8>>,
}

impl<'a> BusyDisk<'a> {
    fn new(inner: &'a dyn Disk) -> BusyDisk<'a> {
        BusyDisk {
            inner,
            at_create: Mutex::default(),
            at_rename: Mutex::default(),
            after: Mutex::default(),
            newer: String::new(),
            stays: false,
            old: Mutex::default(),
            other: Mutex::default(),
            replaced: None,
        }
    }
}

fn take(rows: &Mutex<Vec<String>>) -> Option<String> {
    let mut rows = rows.lock().unwrap();
    (!rows.is_empty()).then(|| rows.remove(0))
}

impl Disk for BusyDisk<'_> {
    fn below(&self) -> &dyn Disk {
        self.inner
    }

    fn create(&self, path: &Path, like: &Path) -> io::Result<Box<dyn NewFile>> {
        while let Some(row) = take(&self.at_create) {
            append(like, &row);
        }
        let created = self.inner.create(path, like)?;
        if let Some(content) = &self.replaced {
            let other = like.with_extension("other");
            fs::write(&other, content)?;
            fs::rename(other, like)?;
        }
        Ok(created)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        while let Some(row) = take(&self.at_rename) {
            append(to, &row);
        }
        if let Some(other) = &*self.other.lock().unwrap() {
            let now = other.bytes();
            // It removes no temporary file that is not its own, and writes nothing.
            settle(&RealDisk, &other.store, &other.path).unwrap();
            let error = other.step(&RealDisk, Step::Note).unwrap_err();
            assert!(matches!(error.downcast_ref(), Some(ApplyError::Locked)), "{error:#}");
            assert!(other.bytes() == now && other.history().operations.is_empty());
        }
        *self.old.lock().unwrap() = Some(OpenOptions::new().append(true).open(to)?);
        self.inner.rename(from, to)?;
        OpenOptions::new().append(true).open(to)?.write_all(self.newer.as_bytes())
    }

    fn writers(&self, _: &Path, _: &Identity) -> Vec<u32> {
        let mut old = self.old.lock().unwrap();
        let Some(file) = &mut *old else { return Vec::new() };
        if let Some(piece) = take(&self.after) {
            file.write_all(piece.as_bytes()).unwrap();
        }
        if self.stays || !self.after.lock().unwrap().is_empty() { vec![4242] } else { Vec::new() }
    }
}

#[test]
fn rows_appended_during_a_change_are_carried_over_in_order() {
    let bytes = small("2.1.330");
    let expected = {
        let place = Place::new(bytes.as_bytes());
        place.step(&RealDisk, Step::Both).unwrap();
        place.bytes()
    };
    let row = |number: u32| format!(r#"{{"type":"mode","mode":"m{number}","sessionId":"s"}}"#);
    let place = Place::new(bytes.as_bytes());
    let disk = BusyDisk::new(&RealDisk);
    disk.at_create.lock().unwrap().push(row(1));
    disk.at_rename.lock().unwrap().push(row(2));
    disk.after.lock().unwrap().extend([row(3) + "\n", row(4) + "\n"]);
    place.step(&disk, Step::Both).unwrap();
    let rows: String = (1..=4).map(|number| row(number) + "\n").collect();
    let now = String::from_utf8(place.bytes()).unwrap();
    assert_eq!(now.strip_prefix(std::str::from_utf8(&expected).unwrap()), Some(&*rows));
    place.undo_all().unwrap();
    assert_eq!(String::from_utf8(place.bytes()).unwrap(), bytes + &rows);
}

#[test]
fn commands_with_two_stores_change_a_session_one_after_the_other() {
    let bytes = small("2.1.330");
    let place = Place::new(bytes.as_bytes());
    let disk = BusyDisk { other: Mutex::new(Some(place.beside())), ..BusyDisk::new(&RealDisk) };
    place.step(&disk, Step::Shorten(Level::Archived)).unwrap();
    let first = place.bytes();
    let other = disk.other.into_inner().unwrap().unwrap();
    other.step(&RealDisk, Step::Note).unwrap();
    assert!(other.bytes().starts_with(&first));
    other.undo_all().unwrap();
    assert!(place.bytes() == first);
    place.undo_all().unwrap();
    assert!(place.bytes() == bytes.as_bytes());
    assert_eq!((place.settled().len(), other.settled().len()), (2, 2));
}

#[test]
fn a_temporary_file_of_a_killed_process_is_taken_over() {
    let place = Place::new(small("2.1.330").as_bytes());
    let expected = {
        let place = Place::new(small("2.1.330").as_bytes());
        place.step(&RealDisk, Step::Both).unwrap();
        place.bytes()
    };
    let name = format!(".{}.aperture", place.path.file_name().unwrap().to_str().unwrap());
    fs::write(place.path.with_file_name(name), vec![b'x'; 1 << 20]).unwrap();
    place.step(&RealDisk, Step::Both).unwrap();
    assert!(place.bytes() == expected);
}

#[test]
fn a_row_that_is_half_written_when_the_file_is_replaced_is_carried_over_whole() {
    for newer in ["", "{\"type\":\"mode\",\"mode\":\"newer\",\"sessionId\":\"s\"}\n"] {
        let bytes = small("2.1.330");
        let place = Place::new(bytes.as_bytes());
        let disk = BusyDisk { newer: newer.to_owned(), ..BusyDisk::new(&RealDisk) };
        let (first, second) = STATE.split_at(9);
        disk.after.lock().unwrap().extend([first.to_owned(), second.to_owned(), "\n".to_owned()]);
        place.step(&disk, Step::Shorten(Level::Archived)).unwrap();
        let now = String::from_utf8(place.bytes()).unwrap();
        assert!(now.ends_with(&format!("}}\n{newer}{STATE}\n")), "{}", &now[now.len() - 90..]);
        // The order is that in which the rows were written, or the outcome says that it is not.
        assert_eq!(place.applied.get().is_out_of_order, !newer.is_empty());
        place.undo_all().unwrap();
        assert!(place.bytes() == format!("{bytes}{newer}{STATE}\n").into_bytes());
    }
}

#[test]
fn half_a_row_that_is_torn_from_its_rest_is_reported() {
    let place = Place::new(small("2.1.330").as_bytes());
    let disk = BusyDisk { newer: format!("{STATE}\n"), ..BusyDisk::new(&RealDisk) };
    disk.after.lock().unwrap().push(STATE[..9].to_owned());
    let error = place.step(&disk, Step::Shorten(Level::Archived)).unwrap_err();
    assert!(matches!(error.downcast_ref(), Some(ApplyError::Unsure(_))), "{error:#}");
    assert_eq!(place.settled().len(), 1);
}

#[test]
fn nothing_is_written_while_the_last_row_is_half_written() {
    let (start, end) = STATE.split_at(9);
    for step in [Step::Note, Step::Shorten(Level::Archived), Step::Both] {
        for early in [true, false] {
            let whole = small("2.1.330");
            let place = Place::new(whole.as_bytes());
            if early {
                place.write(start);
            }
            let late = |_: &Drafted| {
                if !early {
                    place.write(start);
                }
            };
            let error = place.step_then(&RealDisk, step, late).unwrap_err();
            assert!(matches!(error.downcast_ref(), Some(ApplyError::HalfWritten)), "{step:?} early {early}: {error:#}");
            assert!(place.bytes() == format!("{whole}{start}").into_bytes() && place.settled().is_empty());
            // A row that lacks only its line feed is whole.
            place.write(end);
            place.step(&RealDisk, step).unwrap();
            place.write("\n");
            place.step(&RealDisk, Step::Undo).unwrap();
            assert!(place.bytes() == format!("{whole}{STATE}\n").into_bytes(), "{step:?} early {early}");
        }
    }
}

#[test]
fn the_rest_of_a_half_row_stays_with_it_when_a_change_before_it_is_undone() {
    let (start, end) = STATE.split_at(9);
    // This version adds no row for the thinking that is left out.
    let whole = small("2.1.329");
    // The half row is older than ten seconds.
    let place = Place::new(format!("{whole}{start}").as_bytes());
    place.step(&RealDisk, Step::Shorten(Level::Archived)).unwrap();
    assert!(place.bytes().ends_with(start.as_bytes()));
    place.write(&format!("{end}\n{STATE}\n"));
    place.undo_all().unwrap();
    assert!(place.bytes() == format!("{whole}{STATE}\n{STATE}\n").into_bytes());
}

#[test]
fn a_program_that_keeps_the_old_file_open_is_reported() {
    let place = Place::new(small("2.1.330").as_bytes());
    let disk = BusyDisk { stays: true, ..BusyDisk::new(&RealDisk) };
    let error = place.step(&disk, Step::Both).unwrap_err();
    assert!(matches!(error.downcast_ref(), Some(ApplyError::Unsure(_))), "{error:#}");
    assert_eq!(place.settled().len(), 1);
}

#[test]
fn a_file_that_another_program_replaces_meanwhile_is_not_changed() {
    let place = Place::new(small("2.1.330").as_bytes());
    let other = small("2.1.329").into_bytes();
    let disk = BusyDisk { replaced: Some(other.clone()), ..BusyDisk::new(&RealDisk) };
    let error = place.step(&disk, Step::Both).unwrap_err();
    assert!(matches!(error.downcast_ref(), Some(ApplyError::Changed)), "{error:#}");
    assert!(place.bytes() == other);
    assert_eq!(place.settled(), []);
}

/// Returns a row that continues the conversation after `parent`.
fn chained(id: &str, parent: &str) -> String {
    format!(
        r#"{{"parentUuid":"{parent}","isSidechain":false,"type":"attachment","attachment":{{"type":"date"}},"rendered":[{{"content":"<system-reminder>\n{id}\n</system-reminder>"}}],"renderedRole":"user","uuid":"{id}","timestamp":"2026-11-21T11:00:00.000Z","sessionId":"s","version":"2.1.330"}}"#
    )
}

/// Returns the identity of the last row of a file.
fn last_row(bytes: &[u8]) -> String {
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    let row: serde_json::Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    row["uuid"].as_str().unwrap().to_owned()
}

#[test]
fn a_conversation_that_continues_meanwhile_is_never_truncated() {
    for early in [true, false] {
        for (before, step) in [(vec![], Step::Note), (vec![Step::Note], Step::Undo)] {
            let place = Place::new(small("2.1.330").as_bytes());
            for step in &before {
                place.step(&RealDisk, *step).unwrap();
            }
            let old = place.bytes();
            let row = chained("x1", &last_row(&old));
            let disk = BusyDisk::new(&RealDisk);
            if !early {
                disk.at_create.lock().unwrap().push(row.clone());
            }
            let outcome = place.step_then(&disk, step, |_| {
                if early {
                    append(&place.path, &row);
                }
            });
            let error = outcome.unwrap_err();
            assert!(matches!(error.downcast_ref(), Some(ApplyError::MovedOn)), "{step:?} early {early}: {error:#}");
            assert!(place.bytes() == [&old[..], row.as_bytes(), b"\n"].concat(), "{step:?} early {early}");
            assert_eq!(place.settled().len(), before.len());
        }
    }
}

#[test]
fn a_client_that_never_pauses_does_not_delay_a_change_that_excludes_thinking() {
    for late in [false, true] {
        let place = Place::new(small("2.1.330").as_bytes());
        let old = place.bytes();
        let rows = [chained("x1", &last_row(&old)), chained("x2", "x1")];
        let disk = BusyDisk::new(&RealDisk);
        disk.at_create.lock().unwrap().extend(late.then(|| chained("x3", "x2")));
        disk.at_rename.lock().unwrap().extend(late.then(|| chained("x4", "x3")));
        let append_rows = |_: &Drafted| rows.iter().for_each(|row| append(&place.path, row));
        place.step_then(&disk, Step::Shorten(Level::Archived), append_rows).unwrap();
        let now = String::from_utf8(place.bytes()).unwrap();
        let (before, after) = now.split_once(r#""type":"thinking_stripped""#).unwrap();
        let mark = before.lines().last().unwrap();
        // It is the end of the conversation as far as it was written, and rows that follow later continue that too.
        let newest = if late { "x3" } else { "x2" };
        assert!(mark.starts_with(&format!(r#"{{"parentUuid":"{newest}""#)), "{mark}");
        let third = if late { chained("x3", "x2") + "\n" } else { String::new() };
        let own = [&rows[0], "\n", &rows[1], "\n", &third, mark].concat();
        assert!(before.ends_with(&own), "{before}");
        assert_eq!(after.lines().count(), if late { 2 } else { 1 }, "{after}");
        let session = place.open(&RealDisk).unwrap();
        let ends = if late { "x4" } else { "x2" };
        assert!(
            session
                .reading
                .window
                .rows
                .iter()
                .any(|row| session.reading.session.rows[*row as usize].id == Some(Key::from_text(ends)))
        );
        drop(session);
        place.undo_all().unwrap();
        let restored = [&*old, place.bytes().strip_prefix(&*old).unwrap()].concat();
        let all = [rows[0].clone(), rows[1].clone(), chained("x3", "x2"), chained("x4", "x3")];
        let all: String = all.iter().take(if late { 4 } else { 2 }).flat_map(|row| [row, "\n"]).collect();
        assert!(restored == [&old, all.as_bytes()].concat() && restored == place.bytes(), "late {late}");
    }
}

#[test]
fn a_mark_is_not_written_into_a_row_that_is_half_written() {
    let place = Place::new(small("2.1.330").as_bytes());
    let old = place.bytes();
    let (row, next) = (chained("x1", &last_row(&old)), chained("x2", "x1"));
    let (start, end) = next.split_at(30);
    let half = |_: &Drafted| {
        append(&place.path, &row);
        place.write(start);
    };
    let error = place.step_then(&RealDisk, Step::Shorten(Level::Archived), half).unwrap_err();
    assert!(matches!(error.downcast_ref(), Some(ApplyError::HalfWritten)), "{error:#}");
    // Its last line feed may be late.
    place.step_then(&RealDisk, Step::Shorten(Level::Archived), |_| place.write(end)).unwrap_err();
    place.step_then(&RealDisk, Step::Shorten(Level::Archived), |_| ()).unwrap();
    place.undo_all().unwrap();
    assert!(place.bytes() == [&*old, format!("{row}\n{next}").as_bytes()].concat());
}

#[test]
fn a_conversation_that_continued_after_a_note_is_preserved_when_the_note_is_removed() {
    for (name, bytes) in odd().into_iter().filter(|(name, _)| !name.contains("half")) {
        let place = Place::new(&bytes);
        place.step(&RealDisk, Step::Both).unwrap();
        let window = place.open(&RealDisk).unwrap().reading.window.rows.len();
        let leaf = last_row(&place.bytes());
        place.append(&chained("x1", &leaf));
        place.append(&chained("x2", "x1"));
        let session = place.open(&RealDisk).unwrap();
        assert_eq!(session.reading.window.rows.len(), window + 2, "{name}");
        drop(session);
        let longer = place.bytes();
        place.step(&RealDisk, Step::Undo).unwrap_or_else(|error| panic!("{name}: {error:#}"));
        let session = place.open(&RealDisk).unwrap();
        let original = Place::new(&bytes).open(&RealDisk).unwrap().reading.window.rows.len();
        assert_eq!(session.reading.window.rows.len(), original + 2, "{name}");
        drop(session);
        place.step(&RealDisk, Step::Redo).unwrap_or_else(|error| panic!("{name}: {error:#}"));
        assert_eq!(place.open(&RealDisk).unwrap().reading.window.rows.len(), window + 2, "{name}");
        place.undo_all().unwrap();
        // Check the number of lines as well: not only the window must be restored.
        assert_eq!(
            place.bytes().iter().filter(|byte| **byte == b'\n').count() + 1,
            {
                let notes = 1 + usize::from(longer.windows(17).any(|word| word == b"thinking_stripped"));
                longer.iter().filter(|byte| **byte == b'\n').count() + 1 - notes
            },
            "{name}"
        );
    }
}
