//! An isolated environment for the program: own home, own cache, fixed clock, fixed width.

use aperture::provider::claude_code::slug;
use expect_test::{Expect, expect_file};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant, UNIX_EPOCH};
use tempfile::TempDir;

/// The clock of every run.
const NOW: &str = "2026-11-22T00:00:00Z";
/// When every file of a home was last written: two hours before, in seconds since 1970.
const WRITTEN: u64 = 1_795_298_400;

/// The clients that have fixtures.
const CLIENTS: [&str; 2] = ["claude-code", "codex"];
/// Those whose sessions are only read.
const ONLY_READ: [&str; 2] = ["gemini", "opencode"];

/// A home, a project and the means to run the program there.
pub struct Sandbox {
    _root: TempDir,
    /// The home directory.
    pub home: PathBuf,
    /// The project directory, in which the program runs.
    pub project: PathBuf,
    columns: usize,
}

/// The result of a run.
pub struct Outcome {
    pub stdout: String,
    pub stderr: String,
    pub code: i32,
}

/// Maximum time to wait for a condition, for a machine under load.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Returns `all` if every case is to be tested (`APERTURE_ALL_CASES`, which `.ci/run` sets), otherwise `usual`.
pub fn all_or<T>(all: T, usual: T) -> T {
    if std::env::var_os("APERTURE_ALL_CASES").is_some() { all } else { usual }
}

/// Returns every `stride`th case, beginning with the first; each of them if every case is to be tested. The first sample of a test is
/// reported.
pub fn sample<T>(cases: impl IntoIterator<Item = T>, stride: usize) -> impl Iterator<Item = T> {
    static REPORTED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let cases: Vec<T> = cases.into_iter().collect();
    let (all, stride) = (cases.len(), all_or(1, stride));
    let chosen = all.div_ceil(stride);
    let test = std::thread::current().name().unwrap_or_default().to_owned();
    if chosen < all && REPORTED.lock().unwrap().insert(test) {
        skipped(&format!("{} of {all} cases; to run all: APERTURE_ALL_CASES=1", all - chosen));
    }
    cases.into_iter().step_by(stride)
}

/// Waits until a condition has a value, and returns it. Panics with `what` after [`PATIENCE`].
pub fn wait_for<T>(what: &str, mut condition: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(value) = condition() {
            return value;
        }
        let waited = started.elapsed();
        assert!(waited < PATIENCE, "timeout: {what}");
        // Conditions start processes, which keep others from the work that is waited for.
        std::thread::sleep((waited / 10).clamp(Duration::from_millis(5), Duration::from_millis(50)));
    }
}

/// All files below a directory, in order; none if it is missing.
pub fn files_below(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().map(|entry| entry.unwrap().path());
    let mut found: Vec<PathBuf> = entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect();
    found.sort();
    found
}

/// Those of a kind.
pub fn files_ending(directory: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = files_below(directory);
    found.retain(|path| path.extension().is_some_and(|end| end == extension));
    found
}

/// All files below a directory, with their bytes.
pub fn contents_below(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    files_below(directory).into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

/// The words of a command line, as a shell would give them; quotes are single ones.
pub fn words(line: &str) -> Vec<String> {
    let mut words = vec![None::<String>];
    let mut quoted = false;
    for character in line.chars() {
        match (character, quoted) {
            ('\'', _) => {
                quoted = !quoted;
                words.last_mut().unwrap().get_or_insert_default();
            }
            (' ', false) => words.push(None),
            _ => words.last_mut().unwrap().get_or_insert_default().push(character),
        }
    }
    words.into_iter().flatten().collect()
}

/// Compares a text with a snapshot.
pub fn snapshot(name: &str, text: &str) {
    expect_file![repository().join("tests/it/snapshots").join(format!("{name}.txt"))].assert_eq(text);
}

/// Reports that a test, or the rest of it, is skipped. The line goes to standard error directly, because the test program hides what
/// a passing test prints.
pub fn skipped(reason: &str) {
    let thread = std::thread::current();
    let line = format!("skipped: {}: {reason}\n", thread.name().unwrap_or("a test"));
    std::io::stderr().write_all(line.as_bytes()).unwrap();
}

/// Starts a program with a text on its standard input.
pub fn start_with(command: &mut Command, input: &str) -> Child {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (mut stdin, input) = (child.stdin.take().unwrap(), input.to_owned());
    // The program may write before it has read all input, and may end before that.
    std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    child
}

/// Runs a program, which must succeed, and returns its output.
pub fn succeed(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the directory that an environment variable names; without the variable, reports that the test is skipped.
pub fn directory_in(variable: &str) -> Option<PathBuf> {
    let directory = std::env::var_os(variable).map(PathBuf::from);
    if directory.is_none() {
        skipped(&format!("{variable} is not set"));
    }
    directory
}

/// The repository.
pub fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The fixture homes with sessions that can be changed, in order.
pub fn homes() -> Vec<String> {
    homes_of(&CLIENTS)
}

/// The fixture homes with sessions that are only read.
pub fn homes_only_read() -> Vec<String> {
    homes_of(&ONLY_READ)
}

fn homes_of(clients: &[&str]) -> Vec<String> {
    let entries = clients.iter().flat_map(|client| fs::read_dir(repository().join("fixtures").join(client)).unwrap());
    let mut homes: Vec<String> =
        entries.map(|entry| entry.unwrap()).filter(|entry| entry.path().is_dir()).map(|entry| name(&entry.path())).collect();
    homes.sort();
    assert!(!homes.is_empty());
    homes
}

impl Sandbox {
    /// An empty home.
    pub fn new() -> Sandbox {
        let root = TempDir::new().unwrap();
        let path = root.path().canonicalize().unwrap();
        let (home, project) = (path.join("home"), path.join("project"));
        fs::create_dir(&home).unwrap();
        fs::create_dir(&project).unwrap();
        let sandbox = Sandbox { _root: root, home, project, columns: 80 };
        if std::env::var_os("APERTURE_SEALED").is_some() {
            sandbox.seal();
        }
        sandbox
    }

    /// Seals the store with a key file.
    pub fn seal(&self) {
        let key = self.home.with_file_name("key");
        assert_eq!(self.run(&["store", "encrypt", "--key-file", &key.to_string_lossy()]).code, 0);
    }

    /// A copy of a fixture's home, whose sessions are those of the project.
    pub fn of(fixture: &str) -> Sandbox {
        let sandbox = Sandbox::new();
        sandbox.add(fixture);
        sandbox
    }

    /// Copies another fixture's home into this one.
    pub fn add(&self, fixture: &str) {
        let before = self.rollouts();
        let homes = CLIENTS.iter().chain(&ONLY_READ).map(|client| repository().join("fixtures").join(client).join(fixture));
        copy(&homes.into_iter().find(|home| home.is_dir()).unwrap(), &self.home);
        let projects = self.home.join(".claude/projects");
        let shop = projects.join("-home-dev-shop");
        if shop.is_dir() {
            copy(&shop, &projects.join(self.slug()));
            fs::remove_dir_all(shop).unwrap();
        }
        self.rollouts().iter().filter(|path| !before.contains(path)).for_each(|path| self.take_over(path));
        self.take_over_database();
        let gemini = self.home.join(".gemini/tmp/shop");
        if gemini.is_dir() {
            put(&gemini.join(".project_root"), self.project.to_string_lossy().as_bytes());
            fs::read_dir(gemini.join("chats")).unwrap().for_each(|file| touch(&file.unwrap().path(), 0));
        }
    }

    /// The rollouts of the home.
    pub fn rollouts(&self) -> Vec<PathBuf> {
        files_below(&self.home.join(".codex"))
    }

    /// Makes the database of OpenCode, whose sessions are those of the project.
    fn take_over_database(&self) {
        let statements = self.home.join(".local/share/opencode/opencode.sql");
        let Ok(text) = fs::read_to_string(&statements) else { return };
        fs::remove_file(&statements).unwrap();
        let database = rusqlite::Connection::open(self.database()).unwrap();
        database.execute_batch(&text).unwrap();
        database.execute("UPDATE session SET directory = ?1", [self.project.to_string_lossy()]).unwrap();
    }

    /// The database of OpenCode.
    pub fn database(&self) -> PathBuf {
        self.home.join(".local/share/opencode/opencode.db")
    }

    /// Says in a rollout that it belongs to the project; the dots in it are there so that it keeps its length.
    fn take_over(&self, path: &Path) {
        let text = fs::read_to_string(path).unwrap();
        let directory = self.project.to_string_lossy();
        let dots = ".".repeat(400);
        let longer = directory.len() - "/home/dev/shop".len();
        let text = ["originator", "runtime_workspace_roots"].iter().fold(text, |text, next| {
            let member = |directory: &str| format!("\"cwd\":\"{directory}\",\"{next}\"");
            text.replacen(&member("/home/dev/shop"), &member(&directory), 1)
        });
        let text = text.replace(&dots, &dots[longer..]);
        put(path, text.as_bytes());
        touch(path, 0);
    }

    /// The same with another width of the terminal.
    pub fn columns(mut self, columns: usize) -> Sandbox {
        self.columns = columns;
        self
    }

    /// Returns the directory name of the project.
    pub fn slug(&self) -> String {
        slug(&self.project.to_string_lossy())
    }

    /// Writes a file of the project.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.project.join(name);
        put(&path, content.as_ref());
        path
    }

    /// The directory of the project's sessions.
    pub fn session_folder(&self) -> PathBuf {
        self.home.join(".claude/projects").join(self.slug())
    }

    /// The file of a session of the project.
    pub fn session_file(&self, id: &str) -> PathBuf {
        self.session_folder().join(format!("{id}.jsonl"))
    }

    /// The session files of the project, in order, without those of subagents.
    pub fn sessions(&self) -> Vec<PathBuf> {
        let mut files = files_ending(&self.session_folder(), "jsonl");
        files.retain(|path| path.parent() == Some(&self.session_folder()));
        files
    }

    /// The first of them.
    pub fn first_session(&self) -> PathBuf {
        self.sessions().swap_remove(0)
    }

    /// Writes the user's settings.
    pub fn settings(&self, text: &str) {
        fs::create_dir_all(self.home.join(".aperture")).unwrap();
        fs::write(self.home.join(".aperture/config.toml"), text).unwrap();
    }

    /// A client, which is this process, has the first session open. Returns the registry.
    pub fn open_in_client(&self) -> PathBuf {
        self.open_in(std::process::id())
    }

    /// The same of another process.
    pub fn open_in(&self, process: u32) -> PathBuf {
        let (registry, session) = (self.home.join(".claude/sessions"), self.first_session());
        let id = session.file_stem().unwrap().to_string_lossy();
        fs::create_dir_all(&registry).unwrap();
        let entry = format!(r#"{{"pid":{process},"sessionId":"{id}","status":"idle"}}"#);
        fs::write(registry.join(format!("{process}.json")), entry).unwrap();
        registry
    }

    /// Writes a session of the project; the later it is `seconds`, the newer it is.
    pub fn session(&self, id: &str, content: impl AsRef<[u8]>, seconds: u64) -> PathBuf {
        let path = self.session_file(id);
        put(&path, content.as_ref());
        touch(&path, seconds);
        path
    }

    /// The program with its arguments, not yet started.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_aperture"));
        command.args(arguments).current_dir(&self.project).env_clear().stdin(Stdio::null());
        for (name, value) in [("APERTURE_NOW", NOW), ("NO_COLOR", "1"), ("TZ", "UTC")] {
            command.env(name, value);
        }
        // Windows programs do not start without it.
        if let Some(root) = std::env::var_os("SystemRoot") {
            command.env("SystemRoot", root);
        }
        command.env("HOME", &self.home).env("USERPROFILE", &self.home).env("COLUMNS", self.columns.to_string());
        command.env("APERTURE_HOME", self.home.join(".aperture"));
        command
    }

    /// Makes a home whose project is a repository; without git, reports that the test is skipped.
    pub fn with_repository() -> Option<Sandbox> {
        if Command::new("git").arg("--version").output().is_err() {
            skipped("git is not installed");
            return None;
        }
        let sandbox = Sandbox::new();
        sandbox.git(&["init", "-q", "-b", "main"]);
        sandbox.git(&["config", "user.email", "dev@example.com"]);
        sandbox.git(&["config", "user.name", "Dev"]);
        Some(sandbox)
    }

    /// Git with its arguments in the project, with the program on the path of its hooks; not yet started.
    pub fn git_command(&self, arguments: &[&str]) -> Command {
        let program = Path::new(env!("CARGO_BIN_EXE_aperture")).parent().unwrap().to_owned();
        let others = std::env::var_os("PATH").unwrap();
        let path = std::env::join_paths(std::iter::once(program).chain(std::env::split_paths(&others)));
        let like = self.command(&[]);
        let mut command = Command::new("git");
        command.args(arguments).current_dir(&self.project).env_clear().env("PATH", path.unwrap());
        command.envs(like.get_envs().filter_map(|(name, value)| Some((name, value?)))).env("GIT_CONFIG_NOSYSTEM", "1");
        command
    }

    /// Runs git, which must succeed, and returns its output.
    pub fn git(&self, arguments: &[&str]) -> String {
        succeed(&mut self.git_command(arguments))
    }

    /// Runs the program with the path to git. The output is without the paths of this run.
    pub fn run_with_git(&self, arguments: &[&str]) -> Outcome {
        self.tidied(self.command(arguments).env("PATH", std::env::var_os("PATH").unwrap()).output().unwrap())
    }

    /// Runs the program.
    pub fn run(&self, arguments: &[&str]) -> Outcome {
        self.tidied(self.command(arguments).output().unwrap())
    }

    fn tidied(&self, output: Output) -> Outcome {
        Outcome { stdout: self.tidy(&output.stdout), stderr: self.tidy(&output.stderr), code: output.status.code().unwrap_or(-1) }
    }

    /// Runs a command line, given without `aperture`.
    pub fn enter(&self, line: &str) -> Outcome {
        let words = words(line);
        self.run(&words.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Runs a command line that must succeed, and returns its output.
    pub fn done(&self, line: &str) -> String {
        let outcome = self.enter(line);
        assert_eq!(outcome.code, 0, "{line}: {}", outcome.all());
        outcome.stdout
    }

    /// Returns the output of command lines, each after its line.
    pub fn screens(&self, lines: &[&str]) -> String {
        let screen = |line: &&str| format!("$ {}\n{}\n", format!("aperture {line}").trim_end(), self.enter(line).all());
        lines.iter().map(screen).collect()
    }

    /// Compares it with a snapshot.
    pub fn snapshot(&self, name: &str, lines: &[&str]) {
        snapshot(name, &self.screens(lines));
    }

    /// Checks the output of the program.
    pub fn check(&self, arguments: &[&str], expected: Expect) {
        expected.assert_eq(&self.run(arguments).all());
    }

    /// The same without sizes, which depend on libraries.
    pub fn check_without_sizes(&self, arguments: &[&str], expected: Expect) {
        expected.assert_eq(&without_sizes(&self.run(arguments).all()));
    }

    /// The same without the spaces of columns, which are as wide as the sizes in them.
    pub fn check_words(&self, arguments: &[&str], expected: Expect) {
        let text = without_sizes(&self.run(arguments).all());
        expected.assert_eq(&text.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" "));
    }

    /// Runs the program with a text on its standard input. The paths in its output stay.
    pub fn given(&self, arguments: &[&str], input: &str) -> Outcome {
        start_with(&mut self.command(arguments), input).wait_with_output().unwrap().into()
    }

    /// Runs the program, which must succeed and print nothing except its data, and returns the data.
    pub fn text(&self, arguments: &[&str]) -> String {
        let outcome = self.run(arguments);
        assert_eq!((outcome.code, &*outcome.stderr), (0, ""), "{arguments:?}: {}", outcome.stdout);
        outcome.stdout
    }

    /// The same at another width.
    pub fn columns_text(&self, arguments: &[&str], columns: usize) -> String {
        let output = self.command(arguments).env("COLUMNS", columns.to_string()).output().unwrap();
        assert!(output.status.success());
        self.tidy(&output.stdout)
    }

    /// Runs the program with `--json`, checks the name of the schema and returns the object.
    pub fn json(&self, arguments: &[&str], schema: &str) -> serde_json::Value {
        let text = self.text(&[arguments, &["--json"]].concat());
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["schema"], schema, "{arguments:?}");
        value
    }

    /// Returns a text with placeholders for the paths of this run.
    fn tidy(&self, bytes: &[u8]) -> String {
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        let text = text.replace(&*self.slug(), "SLUG");
        text.replace(&*self.home.to_string_lossy(), "HOME").replace(&*self.project.to_string_lossy(), "PROJECT")
    }
}

impl From<Output> for Outcome {
    /// The texts as they are.
    fn from(output: Output) -> Outcome {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Outcome { stdout: text(output.stdout), stderr: text(output.stderr), code: output.status.code().unwrap_or(-1) }
    }
}

impl Outcome {
    /// All of it as one text, for snapshots.
    pub fn all(&self) -> String {
        format!("{}{}exit code {}\n", self.stdout, self.stderr, self.code)
    }
}

/// Hides the numbers before units.
fn without_sizes(text: &str) -> String {
    let is_unit = |word: &&str| ["B", "kB", "MB", "%"].contains(&word.trim_matches(['(', ')', ',', ':', ';', '\n']));
    let hidden = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let hidden = words.iter().enumerate().map(|(place, word)| {
            let is_number = word.trim_start_matches('(').starts_with(|c: char| c.is_ascii_digit());
            match is_number && words.get(place + 1).is_some_and(is_unit) {
                true if word.starts_with('(') => "(N",
                true => "N",
                false => word,
            }
        });
        hidden.collect::<Vec<_>>().join(" ")
    };
    text.split_inclusive('\n').map(hidden).collect()
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

fn put(path: &Path, content: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
    touch(path, 0);
}

fn touch(path: &Path, seconds: u64) {
    File::options().write(true).open(path).unwrap().set_modified(UNIX_EPOCH + Duration::from_secs(WRITTEN + seconds)).unwrap();
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(name(&path));
        if path.is_dir() {
            copy(&path, &target);
        } else {
            put(&target, &fs::read(&path).unwrap());
        }
    }
}
