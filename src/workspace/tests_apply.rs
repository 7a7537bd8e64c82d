//! What must hold of a change whatever fails while it is made: the disk, the store, another program.
#![expect(clippy::disallowed_methods, reason = "tests write the files that they read")]

use super::tests::{fixtures, provider};
use super::*;
use crate::fsio::failing::FailingDisk;
use crate::fsio::{Entry, Identity, NewFile, RealDisk};
use crate::model::{BlockKind, Level, Operation, OperationId, OperationKind, OperationState};
use crate::store::{SessionKey, Store};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::time::{Duration, UNIX_EPOCH};
use tempfile::TempDir;

/// When every session was last written, in seconds since 1970.
pub(super) const WRITTEN: u64 = 1_700_000_000;

/// A session in a directory of its own, with a store beside it.
pub(super) struct Place {
    directory: TempDir,
    provider: &'static dyn ProviderAdapter,
    pub path: PathBuf,
    pub store: Store,
    clock: Cell<i64>,
}

/// A step that a user can take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Shorten(Level),
    Note,
    Both,
    Undo,
    Redo,
    Original,
}

impl Place {
    pub fn new(bytes: &[u8]) -> Place {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().canonicalize().unwrap().join("11111111-1111-4111-8111-111111111111.jsonl");
        fs::write(&path, bytes).unwrap();
        File::options().write(true).open(&path).unwrap().set_modified(UNIX_EPOCH + Duration::from_secs(WRITTEN)).unwrap();
        let store = Store::open(directory.path()).unwrap();
        Place { directory, provider: provider(bytes), path, store, clock: Cell::new(1_780_000_000_000) }
    }

    pub fn bytes(&self) -> Vec<u8> {
        fs::read(&self.path).unwrap()
    }

    pub fn key(&self) -> SessionKey {
        self.store.register(self.provider.name(), "s", &self.path, "p").unwrap()
    }

    pub fn open<'a>(&self, disk: &'a dyn Disk) -> io::Result<Workspace<'a>> {
        let location = Location { id: "s".into(), project: "p".into(), parent: None, subagent: false };
        let found = Found { provider: self.provider, path: self.path.clone(), location };
        let (_, history) = history(&self.store, &self.path).unwrap();
        Workspace::open(disk, &Cache::none(), history, found, &ReadSettings::default())
    }

    pub fn history(&self) -> History {
        history(&self.store, &self.path).unwrap().1
    }

    /// Plans a change and applies it; nothing when there was nothing to do.
    pub fn change(
        &self,
        disk: &dyn Disk,
        kind: OperationKind,
        inverts: Option<OperationId>,
        plan: impl FnOnce(&mut Draft<'_>) -> Result<(), PlanError>,
    ) -> anyhow::Result<Option<OperationId>> {
        self.change_then(disk, kind, inverts, plan, |_| ())
    }

    /// The same; `then` runs between the plan and its application.
    pub fn change_then(
        &self,
        disk: &dyn Disk,
        kind: OperationKind,
        inverts: Option<OperationId>,
        plan: impl FnOnce(&mut Draft<'_>) -> Result<(), PlanError>,
        then: impl FnOnce(&Drafted),
    ) -> anyhow::Result<Option<OperationId>> {
        let workspace = self.open(disk)?;
        self.clock.set(self.clock.get() + 1);
        let mut draft = Draft::new(&workspace, Some(&self.store), self.clock.get())?;
        plan(&mut draft)?;
        let drafted = draft.finish(kind, "test", inverts, &|_| None, false)?;
        then(&drafted);
        Ok(apply(&workspace, &self.store, self.key(), &drafted.plan, self.clock.get(), &|_| ())?)
    }

    pub fn step(&self, disk: &dyn Disk, step: Step) -> anyhow::Result<Option<OperationId>> {
        self.step_then(disk, step, |_| ())
    }

    pub fn step_then(&self, disk: &dyn Disk, step: Step, then: impl FnOnce(&Drafted)) -> anyhow::Result<Option<OperationId>> {
        let history = self.history();
        let (kind, inverts) = match step {
            Step::Undo => (OperationKind::Undo, history.undoable()),
            Step::Redo => (OperationKind::Redo, history.redoable()),
            _ => (OperationKind::Change, None),
        };
        let plan = |draft: &mut Draft<'_>| {
            if let Some(id) = inverts {
                return draft.invert(history.operation(id).unwrap());
            }
            if let Step::Shorten(level) = step {
                shorten_all(draft, level)?;
            }
            if step == Step::Both {
                shorten_all(draft, Level::Archived)?;
            }
            if matches!(step, Step::Note | Step::Both) {
                draft.note(NOTE, "remember the milk");
            }
            if step == Step::Original {
                draft.restore_to(0)?;
            }
            Ok(())
        };
        self.change_then(disk, kind, inverts, plan, then)
    }

    /// Settles with a disk that works, and checks that the log says what the file says.
    pub fn settled(&self) -> Vec<Operation> {
        settle(&RealDisk, &self.store, &self.path).unwrap();
        assert_eq!(self.store.prepared(self.key()).unwrap(), [], "something is left that is only prepared");
        let left: Vec<PathBuf> = fs::read_dir(self.directory.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        let left = left.into_iter().filter(|path| path.extension().is_some_and(|end| end == "aperture"));
        assert_eq!(left.collect::<Vec<_>>(), Vec::<PathBuf>::new(), "a temporary file is left");
        self.history().operations
    }

    /// Takes everything back, the last one first.
    pub fn undo_all(&self) -> anyhow::Result<()> {
        while let Some(id) = self.history().undoable() {
            self.step(&RealDisk, Step::Undo)?;
            assert_ne!(self.history().undoable(), Some(id), "operation {id} cannot be taken back");
        }
        Ok(())
    }

    /// Appends as a client does: a line feed first, if there is none.
    pub fn append(&self, row: &str) {
        append(&self.path, row);
    }
}

fn append(path: &Path, row: &str) {
    let bytes = fs::read(path).unwrap();
    let lead = if bytes.is_empty() || bytes.ends_with(b"\n") { "" } else { "\n" };
    OpenOptions::new().append(true).open(path).unwrap().write_all(format!("{lead}{row}\n").as_bytes()).unwrap();
}

fn shorten_all(draft: &mut Draft<'_>, level: Level) -> Result<KeptBlocks, PlanError> {
    let wanted: BTreeMap<BlockNumber, Level> =
        draft.workspace.reading.window.blocks.iter().map(|number| (*number, level)).collect();
    shorten(draft, &wanted, "", None)
}

/// A row that does not go on with the conversation.
const STATE: &str = r#"{"type":"mode","mode":"normal","sessionId":"s"}"#;

/// A session with a bit of everything; `version` is that of the client.
pub(super) fn small(version: &str) -> String {
    sized(version, 1)
}

/// The same with a share of its text.
fn sized(version: &str, share: usize) -> String {
    let text = |word: &str, lines: usize| {
        (0..lines / share)
            .map(|line| format!("{word} line {line} of what the tool said about src/{word}_{line}.rs\\n"))
            .collect::<String>()
    };
    let mut rows = vec![r#"{"type":"mode","mode":"normal","sessionId":"s"}"#.to_owned()];
    let mut last = "null".to_owned();
    let mut add = |kind: &str, id: &str, body: &str| {
        rows.push(format!(
            r#"{{"parentUuid":{last},"isSidechain":false,"type":"{kind}",{body},"uuid":"{id}","timestamp":"2026-11-21T10:00:{:02}.000Z","userType":"external","cwd":"/w","sessionId":"s","version":"{version}","gitBranch":"main"}}"#,
            rows.len() % 60
        ));
        last = format!("\"{id}\"");
    };
    let assistant = |message: &str, content: &str, sent: u32| {
        format!(
            r#""message":{{"id":"{message}","role":"assistant","model":"claude-opus-5-5","type":"message","content":[{content}],"stop_reason":null,"usage":{{"input_tokens":7,"cache_creation_input_tokens":300,"cache_read_input_tokens":{sent},"output_tokens":40}}}}"#
        )
    };
    let thinking =
        |word: &str| format!(r#"{{"type":"thinking","thinking":"","signature":"{}"}}"#, format!("sig{word}").repeat(9));
    let prompt = |text: &str| format!(r#""message":{{"role":"user","content":"{text}"}},"promptSource":"sdk""#);
    add("user", "u1", &prompt(&format!("look at the files {}", text("prompt", 12))));
    add(
        "attachment",
        "a1",
        &format!(
            r#""attachment":{{"type":"session_context"}},"rendered":[{{"content":"<system-reminder>\n{}\n</system-reminder>"}}],"renderedRole":"user""#,
            text("context", 20)
        ),
    );
    for turn in 1..=3 {
        if turn > 1 {
            add("user", &format!("u{turn}"), &prompt(&format!("go on with {} {}", turn, text("more", 20))));
        }
        let message = format!("msg_{turn}a");
        add("assistant", &format!("t{turn}"), &assistant(&message, &thinking(&format!("a{turn}")), 900 * turn));
        add(
            "assistant",
            &format!("c{turn}"),
            &assistant(
                &message,
                &format!(
                    r#"{{"type":"tool_use","id":"toolu_{turn}","name":"Write","input":{{"file_path":"/w/src/{turn}.rs","content":"{}"}}}}"#,
                    text("written", 30)
                ),
                900 * turn,
            ),
        );
        let image = r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="}}"#;
        let result = match turn {
            1 => format!(r#""{}""#, text("result", 60)),
            2 => format!(r#"[{{"type":"text","text":"{}"}}]"#, text("list", 60)),
            _ => format!(r#"[{{"type":"text","text":"{}"}},{image}]"#, text("mixed", 60)),
        };
        add(
            "user",
            &format!("r{turn}"),
            &format!(
                r#""message":{{"role":"user","content":[{{"tool_use_id":"toolu_{turn}","type":"tool_result","content":{result}}}]}},"toolUseResult":{{"stdout":"x"}},"sourceToolAssistantUUID":"c{turn}""#
            ),
        );
        let message = format!("msg_{turn}b");
        add("assistant", &format!("s{turn}"), &assistant(&message, &thinking(&format!("b{turn}")), 1400 * turn));
        add(
            "assistant",
            &format!("e{turn}"),
            &assistant(&message, &format!(r#"{{"type":"text","text":"done with {turn}: {}"}}"#, text("answer", 20)), 1400 * turn),
        );
    }
    add(
        "user",
        "i1",
        &format!(
            r#""message":{{"role":"user","content":[{{"type":"text","text":"and this picture {}"}},{{"type":"image","source":{{"type":"base64","media_type":"image/png","data":"{}"}}}}]}},"promptSource":"sdk""#,
            text("p", 10),
            "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
        ),
    );
    add("assistant", "f1", &assistant("msg_z", r#"{"type":"text","text":"a red dot"}"#, 5000));
    rows.iter().flat_map(|row| [row, "\n"]).collect()
}

/// Sessions as they should not be, by what is odd about each.
pub(super) fn odd() -> Vec<(&'static str, Vec<u8>)> {
    let whole = small("2.1.330");
    let lines: Vec<&str> = whole.lines().collect();
    let glued = {
        let mut lines = lines.clone();
        let both = [lines[4], STATE].concat();
        lines[4] = &both;
        lines.join("\n") + "\n"
    };
    let doubled = {
        let mut lines = lines.clone();
        lines.insert(5, lines[4]);
        lines.insert(9, lines[8]);
        lines.join("\n") + "\n"
    };
    let subagent = whole.replace(r#""isSidechain":false"#, r#""isSidechain":true,"agentId":"a1""#);
    let broken = {
        let mut lines = lines.clone();
        lines.insert(3, r#"{"type":"user","message":{"role":"us"#);
        lines.insert(7, "");
        lines.insert(7, "   ");
        lines.join("\n") + "\n\n\n"
    };
    vec![
        ("plain", whole.clone().into_bytes()),
        ("of an old client", small("2.1.90").into_bytes()),
        ("no final line feed", whole.trim_end().as_bytes().to_vec()),
        ("line feeds of Windows", whole.replace('\n', "\r\n").into_bytes()),
        ("line feeds of Windows, none at the end", whole.trim_end().replace('\n', "\r\n").into_bytes()),
        ("a byte order mark", [b"\xef\xbb\xbf", whole.as_bytes()].concat()),
        ("glued rows", glued.into_bytes()),
        ("rows twice", doubled.into_bytes()),
        ("a subagent", subagent.into_bytes()),
        ("broken and blank rows", broken.into_bytes()),
        ("a half row at the end", [whole.as_bytes(), br#"{"type":"mode","mo"#].concat()),
    ]
}

/// How a call of the disk fails.
#[derive(Clone, Copy, Debug)]
enum Fault {
    Once,
    Lasting,
    Killed,
}

impl Fault {
    fn disk(self, call: usize) -> FailingDisk {
        match self {
            Fault::Once => FailingDisk::new(call, false),
            Fault::Lasting => FailingDisk::new(call, true),
            Fault::Killed => FailingDisk::killed(call),
        }
    }
}

/// What a step returns; nothing if it was killed.
fn catch<T>(step: impl FnOnce() -> anyhow::Result<T>) -> Option<anyhow::Result<T>> {
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(step)) {
        Ok(outcome) => Some(outcome),
        Err(cause) if cause.downcast_ref::<&str>() == Some(&"killed") => None,
        Err(cause) => std::panic::resume_unwind(cause),
    }
}

/// Lets each call of the disk fail in turn while a step is taken, and looks at what is left.
fn check_faults(name: &str, bytes: &[u8], before: &[Step], step: Step, ways: &[Fault]) {
    let prepared = || {
        let place = Place::new(bytes);
        for step in before {
            place.step(&RealDisk, *step).unwrap();
        }
        place
    };
    let (old, new) = {
        let place = prepared();
        let old = place.bytes();
        assert!(place.step(&RealDisk, step).unwrap().is_some(), "{name}: nothing to do");
        (old, place.bytes())
    };
    assert_ne!(old, new, "{name}");
    for fault in ways {
        let mut faults = 0;
        loop {
            let place = prepared();
            let known = place.history().operations.len();
            let disk = fault.disk(faults);
            let outcome = catch(|| place.step(&disk, step));
            let case = format!("{name}: {before:?} {step:?}, call {faults} {fault:?}: {outcome:?}");
            let now = place.bytes();
            assert!(now == old || now == new, "{case}");
            if matches!(outcome, Some(Ok(_))) {
                assert!(now == new, "{case}");
            }
            // Settling may fail as well, as often as it likes.
            for call in 0..6 {
                let disk = fault.disk(call);
                catch(|| settle(&disk, &place.store, &place.path).map_err(anyhow::Error::from));
            }
            let operations = place.settled();
            assert_eq!(operations.len() > known, now == new, "{case}: the log does not agree with the file");
            assert!(operations.iter().all(|operation| operation.state == OperationState::Committed), "{case}");
            if now == new && step != Step::Undo {
                place.step(&RealDisk, Step::Undo).unwrap();
                assert!(place.bytes() == old, "{case}: undo");
            }
            place.undo_all().unwrap();
            assert!(place.bytes() == bytes, "{case}: undo of everything");
            assert_eq!(place.store.check().unwrap(), Vec::<String>::new());
            if disk.calls.load(Ordering::SeqCst) <= faults {
                break;
            }
            faults += 1;
        }
        assert!(faults > 10, "{name}: only {faults} calls");
    }
}

#[test]
fn a_fault_at_any_call_leaves_the_old_or_the_new_file_and_a_log_that_agrees() {
    let plain = sized("2.1.330", 6);
    let all = [Fault::Once, Fault::Lasting, Fault::Killed];
    check_faults("plain", plain.as_bytes(), &[], Step::Both, &all);
    check_faults("plain", plain.as_bytes(), &[Step::Both], Step::Undo, &all);
    check_faults("plain", plain.as_bytes(), &[Step::Shorten(Level::Minimal), Step::Undo], Step::Redo, &[Fault::Killed]);
    let unended = plain.trim_end();
    check_faults("no final line feed", unended.as_bytes(), &[], Step::Both, &[Fault::Killed]);
    check_faults("no final line feed", unended.as_bytes(), &[Step::Both], Step::Undo, &[Fault::Killed]);
}

#[test]
fn taking_back_a_note_is_settled_although_the_file_begins_the_same_either_way() {
    let plain = sized("2.1.330", 6);
    for (name, bytes) in [("plain", plain.as_bytes()), ("no final line feed", plain.trim_end().as_bytes())] {
        check_faults(name, bytes, &[Step::Note], Step::Undo, &[Fault::Killed]);
    }
}

#[test]
fn several_rows_that_were_added_are_taken_back_together() {
    for (name, bytes) in odd() {
        let place = Place::new(&bytes);
        place
            .change(&RealDisk, OperationKind::Change, None, |draft| {
                draft.note(NOTE, "one");
                draft.note(NOTE, "two");
                shorten_all(draft, Level::Archived).map(drop)
            })
            .unwrap();
        place.step(&RealDisk, Step::Undo).unwrap_or_else(|error| panic!("{name}: {error:#}"));
        assert!(place.bytes() == bytes, "{name}");
        place.step(&RealDisk, Step::Redo).unwrap_or_else(|error| panic!("{name}: {error:#}"));
        place.step(&RealDisk, Step::Undo).unwrap_or_else(|error| panic!("{name}: {error:#}"));
        assert!(place.bytes() == bytes, "{name}");
    }
}

#[test]
fn the_way_to_the_original_gives_back_every_byte() {
    for (name, bytes) in odd() {
        let place = Place::new(&bytes);
        for step in [Step::Both, Step::Note, Step::Shorten(Level::Original), Step::Shorten(Level::Minimal), Step::Original] {
            place.step(&RealDisk, step).unwrap_or_else(|error| panic!("{name}: {step:?}: {error:#}"));
        }
        assert!(place.bytes() == bytes, "{name}");
        place.undo_all().unwrap_or_else(|error| panic!("{name}: {error:#}"));
        assert!(place.bytes() == bytes, "{name}: undo");
    }
}

#[test]
fn an_empty_session_is_refused_a_note() {
    for bytes in ["", "\n", "{\"type\":\"mode\",\"mode\":\"normal\",\"sessionId\":\"s\"}\n"] {
        let place = Place::new(bytes.as_bytes());
        assert!(place.step(&RealDisk, Step::Note).is_err());
        assert!(place.bytes() == bytes.as_bytes());
    }
}

/// A disk on which a client is at work: what it does at each call is a function of the call.
struct BusyDisk<'a> {
    inner: &'a dyn Disk,
    /// The rows that are appended when the temporary file is made, and just before it is renamed.
    at_create: Mutex<Vec<String>>,
    at_rename: Mutex<Vec<String>>,
    /// What a program writes to the old file after that lost its name, a piece each time it is asked who writes.
    after: Mutex<Vec<String>>,
    /// Whether that program never lets go.
    stays: bool,
    old: Mutex<Option<File>>,
    /// What another program puts in the place of the file while the temporary one is made.
    replaced: Option<Vec<u8>>,
}

impl<'a> BusyDisk<'a> {
    fn new(inner: &'a dyn Disk) -> BusyDisk<'a> {
        BusyDisk {
            inner,
            at_create: Mutex::default(),
            at_rename: Mutex::default(),
            after: Mutex::default(),
            stays: false,
            old: Mutex::default(),
            replaced: None,
        }
    }
}

fn take(rows: &Mutex<Vec<String>>) -> Option<String> {
    let mut rows = rows.lock().unwrap();
    (!rows.is_empty()).then(|| rows.remove(0))
}

impl Disk for BusyDisk<'_> {
    fn identify(&self, path: &Path) -> io::Result<Identity> {
        self.inner.identify(path)
    }

    fn open(&self, path: &Path, offset: u64) -> io::Result<Box<dyn io::Read + Send>> {
        self.inner.open(path, offset)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<Entry>> {
        self.inner.list(path)
    }

    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        self.inner.resolve(path)
    }

    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn Send>>> {
        self.inner.lock(path)
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

    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.inner.append(path, bytes)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        while let Some(row) = take(&self.at_rename) {
            append(to, &row);
        }
        *self.old.lock().unwrap() = Some(OpenOptions::new().append(true).open(to)?);
        self.inner.rename(from, to)
    }

    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        self.inner.sync_directory(path)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.inner.remove(path)
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
fn what_a_client_appends_meanwhile_is_carried_over_in_order() {
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
fn a_row_that_is_half_written_when_the_file_is_replaced_is_carried_over_whole() {
    let bytes = small("2.1.330");
    let place = Place::new(bytes.as_bytes());
    let disk = BusyDisk::new(&RealDisk);
    let (first, second) = STATE.split_at(9);
    disk.after.lock().unwrap().extend([first.to_owned(), second.to_owned(), "\n".to_owned()]);
    place.step(&disk, Step::Shorten(Level::Archived)).unwrap();
    let now = String::from_utf8(place.bytes()).unwrap();
    assert!(now.ends_with(&format!("}}\n{STATE}\n")), "{}", &now[now.len() - 90..]);
}

#[test]
fn a_program_that_does_not_let_go_of_the_old_file_is_told_of() {
    let place = Place::new(small("2.1.330").as_bytes());
    let disk = BusyDisk { stays: true, ..BusyDisk::new(&RealDisk) };
    let error = place.step(&disk, Step::Both).unwrap_err();
    assert!(matches!(error.downcast_ref(), Some(ApplyError::Unsure(_))), "{error:#}");
    assert_eq!(place.settled().len(), 1);
}

#[test]
fn a_file_that_another_program_replaces_meanwhile_is_left_alone() {
    let place = Place::new(small("2.1.330").as_bytes());
    let other = small("2.1.329").into_bytes();
    let disk = BusyDisk { replaced: Some(other.clone()), ..BusyDisk::new(&RealDisk) };
    let error = place.step(&disk, Step::Both).unwrap_err();
    assert!(matches!(error.downcast_ref(), Some(ApplyError::Changed)), "{error:#}");
    assert!(place.bytes() == other);
    assert_eq!(place.settled(), []);
}

/// A row that goes on with the conversation behind `parent`.
fn chained(id: &str, parent: &str) -> String {
    format!(
        r#"{{"parentUuid":"{parent}","isSidechain":false,"type":"attachment","attachment":{{"type":"date"}},"rendered":[{{"content":"<system-reminder>\n{id}\n</system-reminder>"}}],"renderedRole":"user","uuid":"{id}","timestamp":"2026-11-21T11:00:00.000Z","sessionId":"s","version":"2.1.330"}}"#
    )
}

/// The identity of the last row of a file.
fn last_row(bytes: &[u8]) -> String {
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    let row: serde_json::Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    row["uuid"].as_str().unwrap().to_owned()
}

#[test]
fn a_conversation_that_goes_on_meanwhile_is_never_cut() {
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
fn a_conversation_that_went_on_behind_a_note_stays_whole_when_the_note_goes() {
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
        // The store is not the only thing that came through.
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

#[test]
fn two_processes_log_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let plan = {
        let place = Place::new(small("2.1.330").as_bytes());
        let mut plan = None;
        place.step_then(&RealDisk, Step::Both, |drafted| plan = Some(drafted.plan.clone())).unwrap();
        plan.unwrap()
    };
    std::thread::scope(|scope| {
        for name in ["a", "b", "c"] {
            let (directory, plan) = (directory.path(), &plan);
            scope.spawn(move || {
                let store = Store::open(directory).unwrap();
                let key = store.register("claude-code", name, Path::new(name), "p").unwrap();
                for round in 0..40 {
                    let mut plan = plan.clone();
                    plan.edits[0].after = Some(format!("{name}{round}").into_bytes());
                    let id = store.prepare(key, &plan, round, Some((1, [0; 32]))).unwrap();
                    store.settle(key, id, OperationState::Committed).unwrap();
                }
            });
        }
    });
    let store = Store::open(directory.path()).unwrap();
    for session in store.sessions().unwrap() {
        assert_eq!(store.history(session.key).unwrap().operations.len(), 40);
    }
}

#[test]
fn a_store_that_cannot_be_written_leaves_the_session_alone() {
    let bytes = small("2.1.330").into_bytes();
    let place = Place::new(&bytes);
    place.step(&RealDisk, Step::Note).unwrap();
    let old = place.bytes();
    let other = rusqlite::Connection::open(place.directory.path().join(crate::store::STORE_FILE)).unwrap();
    // Each of these makes another statement of the log fail.
    for trigger in ["BEFORE INSERT ON originals", "BEFORE INSERT ON operations", "BEFORE INSERT ON edits"] {
        other.execute_batch(&format!("CREATE TRIGGER fault {trigger} BEGIN SELECT RAISE(ABORT, 'full'); END")).unwrap();
        let error = place.step(&RealDisk, Step::Both).unwrap_err();
        assert!(matches!(error.downcast_ref(), Some(ApplyError::Store(_))), "{trigger}: {error:#}");
        assert!(place.bytes() == old, "{trigger}");
        other.execute_batch("DROP TRIGGER fault").unwrap();
        assert_eq!(place.settled().len(), 1, "{trigger}");
    }
    // It is logged, the file is replaced, and only the last word of the log is missing.
    other.execute_batch("CREATE TRIGGER fault BEFORE UPDATE ON operations BEGIN SELECT RAISE(ABORT, 'full'); END").unwrap();
    assert!(place.step(&RealDisk, Step::Both).is_err());
    assert!(place.bytes() != old);
    assert!(settle(&RealDisk, &place.store, &place.path).is_err());
    other.execute_batch("DROP TRIGGER fault").unwrap();
    assert_eq!(place.settled().len(), 2);
    // The rename fails and so does the log: what is prepared was never done.
    let now = place.bytes();
    let calls = {
        let place = Place::new(&bytes);
        let disk = FailingDisk::new(usize::MAX, false);
        place.step(&disk, Step::Undo).ok();
        disk.calls.load(Ordering::SeqCst)
    };
    for fault in 0..calls + 20 {
        other.execute_batch("CREATE TRIGGER fault BEFORE UPDATE ON operations BEGIN SELECT RAISE(ABORT, 'full'); END").unwrap();
        let outcome = place.step(&FailingDisk::new(fault, true), Step::Undo);
        other.execute_batch("DROP TRIGGER fault").unwrap();
        let known = place.settled().len();
        if place.bytes() == now {
            assert_eq!(known, 2, "call {fault}: {outcome:?}");
        } else {
            assert_eq!(known, 3, "call {fault}: {outcome:?}");
            break;
        }
    }
    place.undo_all().unwrap();
    assert!(place.bytes() == bytes);
    assert_eq!(place.store.check().unwrap(), Vec::<String>::new());
}

#[test]
fn a_plan_is_for_one_state_of_the_file() {
    let bytes = small("2.1.330");
    let place = Place::new(bytes.as_bytes());
    let other = bytes.replacen("prompt line 3", "PROMPT line 3", 1);
    let outcome = place.step_then(&RealDisk, Step::Both, |_| fs::write(&place.path, &other).unwrap());
    assert!(matches!(outcome.unwrap_err().downcast_ref(), Some(ApplyError::Changed)));
    assert!(place.bytes() == other.as_bytes());
    assert_eq!(place.settled(), []);
}

#[test]
fn a_block_that_another_program_changed_is_not_taken_back() {
    let place = Place::new(small("2.1.330").as_bytes());
    place.step(&RealDisk, Step::Shorten(Level::Archived)).unwrap();
    let text = String::from_utf8(place.bytes()).unwrap();
    let other = text.replacen("| @recall(", "| @RECALL(", 3);
    assert_ne!(text, other);
    fs::write(&place.path, &other).unwrap();
    let error = place.step(&RealDisk, Step::Undo).unwrap_err();
    assert!(matches!(error.downcast_ref(), Some(PlanError::ChangedElsewhere(_))), "{error:#}");
    assert!(place.bytes() == other.as_bytes());
}

#[test]
fn a_change_that_is_taken_back_within_its_plan_is_none() {
    let place = Place::new(small("2.1.330").as_bytes());
    let number = {
        let workspace = place.open(&RealDisk).unwrap();
        workspace
            .reading
            .in_window()
            .filter(|block| block.kind == BlockKind::ToolResult)
            .map(|block| block.number)
            .next()
            .unwrap()
    };
    let outcome = place.change(&RealDisk, OperationKind::Change, None, |draft| {
        let content = draft.content(number)?;
        draft.replace(number, Level::Archived, "gone", "")?;
        draft.replace(number, Level::Original, &content, "")
    });
    assert_eq!(outcome.unwrap(), None);
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link_and_modes_and_times_stay() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let mut place = Place::new(small("2.1.330").as_bytes());
    let target = place.path.with_file_name("target.jsonl");
    fs::rename(&place.path, &target).unwrap();
    symlink(&target, &place.path).unwrap();
    fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
    let link = place.path.clone();
    let old = place.bytes();
    {
        let workspace = place.open(&RealDisk).unwrap();
        let mut draft = Draft::new(&workspace, Some(&place.store), 1).unwrap();
        draft.note(NOTE, "x");
        let drafted = draft.finish(OperationKind::Change, "test", None, &|_| None, false).unwrap();
        let key = place.store.register("claude-code", "s", &target, "p").unwrap();
        apply(&workspace, &place.store, key, &drafted.plan, 1, &|_| ()).unwrap();
    }
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    let metadata = fs::metadata(&target).unwrap();
    assert_eq!(metadata.permissions().mode() & 0o777, 0o640);
    assert_eq!(metadata.modified().unwrap(), UNIX_EPOCH + Duration::from_secs(WRITTEN));
    assert!(fs::read(&target).unwrap() != old);
    place.path = target;
    place.undo_all().unwrap();
    assert!(place.bytes() == old);
}

#[test]
fn every_fixture_comes_through_a_fault_in_the_middle() {
    for fixture in fixtures() {
        let bytes = fs::read(&fixture).unwrap();
        let place = Place::new(&bytes);
        for step in [Step::Both, Step::Undo, Step::Redo] {
            place.step(&RealDisk, step).unwrap_or_else(|error| panic!("{}: {step:?}: {error:#}", fixture.display()));
        }
        let now = place.bytes();
        for fault in [12, 14, 16, 18] {
            let _ = place.step(&FailingDisk::new(fault, true), Step::Note);
            place.settled();
        }
        assert!(place.bytes().starts_with(&now));
        place.undo_all().unwrap_or_else(|error| panic!("{}: {error:#}", fixture.display()));
        assert!(place.bytes() == bytes, "{}", fixture.display());
    }
}
