//! `aperture blame`: which session, turn and prompt wrote the lines of a file.

mod report;
mod repository;

pub use report::BlameReport;

use crate::app::{CommandError, Env, files, misuse, refusal};
use crate::engine::blame::{BlameLine, BlamedFile, FileEdit, attribute};
use crate::model::paths::{relative, slashed};
use crate::output::{plural, short_id};
use crate::provider::Location;
use crate::text::names::{file_name, is_file_name, path_runs};
use crate::text::sentence::sentences;
use crate::text::shell::quoted_word;
use crate::workspace::{Found, Project, absolute, file_edits, find_all, stated, subagents};
use rayon::prelude::*;
use report::{BlameEdit, BlameNote, BlameRun};
use repository::{KnownLine, Repository};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = help_text!("blame"))]
pub struct Arguments {
    /// File, or one of its lines as FILE:LINE
    #[arg(value_name = "FILE[:LINE]")]
    pub file: String,
    /// Only these lines, from 1
    #[arg(short = 'L', long, value_name = "FROM,TO", value_parser = range)]
    #[serde(serialize_with = "written")]
    pub lines: Option<(usize, usize)>,
    /// The file in this commit [default: the working tree]
    #[arg(long, value_name = "COMMIT")]
    pub rev: Option<String>,
    /// Add a git note (refs/notes/aperture) to each commit that introduced such lines
    #[arg(long)]
    pub note: bool,
    /// Print the notes without writing them
    #[arg(short = 'n', long, requires = "note")]
    pub dry_run: bool,
}

fn range(text: &str) -> Result<(usize, usize), String> {
    let numbers = text.split_once(',').and_then(|(from, to)| Some((from.trim().parse().ok()?, to.trim().parse().ok()?)));
    numbers.filter(|(from, to)| (1..=*to).contains(from)).ok_or_else(|| "expected two line numbers, such as 30,60".to_owned())
}

/// Writes a range of lines as it is parsed.
fn written<S: serde::Serializer>(lines: &Option<(usize, usize)>, serializer: S) -> Result<S::Ok, S::Error> {
    match lines {
        Some((from, to)) => serializer.collect_str(&format_args!("{from},{to}")),
        None => serializer.serialize_none(),
    }
}

/// Bytes at the start of a file in which a zero byte shows that it is not text.
const TEXT_BYTES: usize = 8_000;
/// Commits in which a line is searched that was removed and added again; with more of them its edit is unknown.
const MAX_COMMITS: usize = 200;

/// A file, its lines, and what git knows of it.
struct Subject<'a> {
    repository: Option<Repository<'a>>,
    /// The path below the root of the repository, or below the directory.
    name: String,
    root: PathBuf,
    revision: Option<String>,
    lines: Vec<KnownLine>,
}

/// A session that can have edited the file.
struct Source {
    found: Found,
    directory: Option<PathBuf>,
}

/// The numbers of the first and of the last line, from 1.
type Range = (usize, usize);

/// An edit, and the index of its session.
type SourcedEdit = (usize, FileEdit);

/// Prints the sessions that wrote the lines of a file.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    let (name, range) = place(env, arguments)?;
    let subject = subject(env, name, arguments)?;
    let count = subject.lines.len();
    let (first, last) = range.unwrap_or((1, count));
    if range.is_some() && last > count {
        return Err(refusal!("{} has {}, not {last}", subject.name, plural(count as u64, "line"))
            .hint(format!("for all of it: aperture blame {}", quoted_word(name))));
    }
    let sources = sources(env, &subject);
    let file = blamed(env, &subject, &sources);
    let edits = edits(env, &sources, &file);
    let mut writers = writers(env, &subject, &edits);
    forget_readded(&subject, &edits, &mut writers);
    if let Some(name) = env.session() {
        let id = env.find_by(name)?.location.id;
        let is_own = |edit: &usize| {
            let Location { id: own, parent, .. } = &sources[edits[*edit].0].found.location;
            *own == id || parent.as_ref() == Some(&id)
        };
        writers.iter_mut().for_each(|writer| *writer = writer.filter(is_own));
    }
    let mut report = report(env, &subject, &sources, &edits, &writers, (first, last));
    report.is_detailed = range.is_some();
    report.dry_run = arguments.dry_run;
    if arguments.note {
        report.notes = notes(&subject, &report)?;
        if !arguments.dry_run {
            add_notes(env, &subject, &report.notes)?;
        }
    }
    env.print(&report)
}

/// Returns the file and the lines that are asked for.
fn place<'a>(env: &Env, arguments: &'a Arguments) -> Result<(&'a str, Option<Range>), CommandError> {
    let given = &*arguments.file;
    let exists = env.disk.identify(&env.directory.join(given)).is_ok();
    let with_line = given.rsplit_once(':').and_then(|(name, line)| Some((name, line.parse::<usize>().ok()?)));
    match with_line.filter(|(name, _)| !exists && !name.is_empty()) {
        Some((_, 0)) => Err(misuse!("lines are counted from 1")),
        Some((name, line)) => Ok((name, Some(arguments.lines.unwrap_or((line, line))))),
        None => Ok((given, arguments.lines)),
    }
}

/// Reads the file, from git as far as it knows it.
fn subject<'a>(env: &'a Env, given: &str, arguments: &Arguments) -> Result<Subject<'a>, CommandError> {
    let path = &env.directory.join(given);
    let refused = |text: String| refusal!(text);
    if env.is_directory(path) {
        return Err(refused(format!("{} is a directory", path.display())).hint("name one of its files"));
    }
    let canonical = absolute(env.disk, path.parent().unwrap_or(path)).join(path.file_name().unwrap_or_default());
    let directory = canonical.ancestors().skip(1).find(|above| env.is_directory(above)).unwrap_or(&env.directory);
    let repository = Repository::of(env, directory);
    let root = match &repository {
        Some(repository) => absolute(env.disk, &repository.root),
        None => Some(absolute(env.disk, &env.directory)).filter(|own| canonical.starts_with(own)).unwrap_or(directory.to_owned()),
    };
    let name = slashed(relative(&canonical.to_string_lossy(), &root.to_string_lossy()));
    let (revision, bytes) = match (&arguments.rev, &repository) {
        (Some(revision), Some(repository)) => {
            let commit = repository.commit(revision)?;
            let bytes = repository.content(&commit, &name);
            let missing = || {
                refused(format!("there is no file {name} in {revision}"))
                    .hint("to list its files: git ls-tree -r --name-only COMMIT")
            };
            (Some(commit), bytes.ok_or_else(missing)?)
        }
        (Some(_), None) => return Err(refused(format!("{} is not in a git repository", path.display())).hint("leave out --rev")),
        (None, _) => {
            let bytes = files::whole(env.disk, path)
                .map_err(|error| CommandError::of_disk(error, format!("cannot read {}", path.display())))?;
            (None, bytes.ok_or_else(|| refused(format!("there is no file {}", path.display())))?)
        }
    };
    if bytes[..bytes.len().min(TEXT_BYTES)].contains(&0) {
        return Err(refused(format!("{name} is not a text file")));
    }
    let known = repository.as_ref().and_then(|repository| repository.lines(revision.as_deref(), &name));
    let plain = || {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        text.lines().map(|line| KnownLine { text: line.to_owned(), introduced: None }).collect()
    };
    Ok(Subject { lines: known.unwrap_or_else(plain), repository, name, root, revision })
}

/// Returns the sessions, and kept copies, that were started in the repository, in another working tree of it, or in a directory above.
fn sources(env: &Env, subject: &Subject<'_>) -> Vec<Source> {
    let roots = roots(subject);
    let projects: Vec<Project> = roots.iter().map(|root| Project::at(env.disk, root)).collect();
    let mut found = find_all(env.disk, &env.places, &mut |path, error| env.note_skipped(path, &error));
    found.extend(env.kept().map(|copies| copies.orphans()).unwrap_or_default());
    let belongs = |(found, _)| {
        let directory = stated(env.disk, &found);
        let is_inside = projects.iter().any(|project| project.covers(env.disk, &found, directory.as_deref()));
        let is_above = directory.as_deref().is_some_and(|directory| subject.root.starts_with(absolute(env.disk, directory)));
        (is_inside || is_above).then_some(Source { found, directory })
    };
    let mut sources: Vec<Source> = found.into_par_iter().filter_map(belongs).collect();
    sources.sort_by(|one, other| one.found.path.cmp(&other.found.path));
    sources
}

/// Returns true if an edit of a session, or of one of its subagents, wrote a line that the last commit of the directory added.
pub fn wrote_last_commit(env: &Env, found: &Found) -> bool {
    let Some(repository) = Repository::of(env, &env.directory) else { return false };
    let (names, added) = repository.last_commit();
    let roots = std::iter::once(repository.root.clone()).chain(repository.trees());
    let names = names.into_iter().map(|name| (name, i64::MAX)).collect();
    let file = BlamedFile { names, roots: roots.map(|root| slashed(&root.to_string_lossy())).collect() };
    let subagents = subagents(env.disk, found).unwrap_or_default();
    let edits = std::iter::once(found).chain(&subagents).filter_map(|found| file_edits(env.disk, found, &file).ok()).flatten();
    let is_added = |line: &str| line.contains(char::is_alphanumeric) && added.contains(line.trim());
    edits.into_iter().any(|edit| edit.change.texts().iter().any(|text| text.lines().any(is_added)))
}

/// Returns the root of the repository and its other working trees.
fn roots(subject: &Subject<'_>) -> Vec<PathBuf> {
    let mut roots = vec![subject.root.clone()];
    roots.extend(
        subject.repository.iter().flat_map(|repository| std::iter::once(repository.root.clone()).chain(repository.trees())),
    );
    let mut seen = HashSet::new();
    roots.retain(|root| seen.insert(root.clone()));
    roots
}

fn blamed(env: &Env, subject: &Subject<'_>, sources: &[Source]) -> BlamedFile {
    // A file that got an earlier name later is another one.
    let mut names = vec![(subject.name.clone(), i64::MAX)];
    let is_renamed = |line: &KnownLine| line.introduced.as_ref().is_some_and(|introduced| introduced.name != subject.name);
    if let Some(repository) = subject.repository.as_ref().filter(|_| subject.lines.iter().any(is_renamed)) {
        names.extend(repository.earlier_names(subject.revision.as_deref().unwrap_or("HEAD"), &subject.name));
    }
    let mut roots = roots(subject);
    let known = roots.len();
    let directories: BTreeSet<&Path> = sources.iter().filter_map(|source| source.directory.as_deref()).collect();
    for directory in directories {
        let is_below = roots[..known].iter().any(|root| directory.starts_with(root));
        let real = absolute(env.disk, directory);
        let root = match real.strip_prefix(&subject.root) {
            // Another name of a directory in the repository.
            Ok(below) if !is_below => {
                directory.ancestors().nth(below.components().count()).filter(|root| root.join(below) == directory)
            }
            Ok(_) if env.is_directory(directory) => None,
            // A working tree that was removed.
            Ok(_) => Some(directory),
            // The place from which the repository was moved.
            Err(_) => Some(directory).filter(|_| !is_below && !subject.root.starts_with(&real)),
        };
        roots.extend(root.map(Path::to_owned));
    }
    let text = |path: &PathBuf| slashed(&path.to_string_lossy());
    BlamedFile { names, roots: roots.iter().map(text).collect() }
}

/// Returns the edits of the file by all sessions, by time, each once; not those without a time, which no commit can be compared with.
fn edits(env: &Env, sources: &[Source], file: &BlamedFile) -> Vec<SourcedEdit> {
    let read = |source: &Source| file_edits(env.disk, &source.found, file);
    let found: Vec<_> = sources.par_iter().with_max_len(1).map(read).collect();
    let mut edits: Vec<SourcedEdit> = Vec::new();
    let mut seen = HashSet::new();
    for (at, (source, found)) in sources.iter().zip(found).enumerate() {
        match found {
            Ok(found) => {
                let mut own = HashSet::new();
                let is_new = |edit: &FileEdit| {
                    edit.time > 0 && (own.insert(edit.call) && seen.insert(edit.call) || own.contains(&edit.call))
                };
                edits.extend(found.into_iter().filter(is_new).map(|edit| (at, edit)));
            }
            Err(error) => env.note(&format!("skipped {}: {error}", source.found.path.display())),
        }
    }
    edits.sort_by_key(|(_, edit)| edit.time);
    edits
}

/// Returns the edit that wrote each line.
fn writers(env: &Env, subject: &Subject<'_>, edits: &[SourcedEdit]) -> Vec<Option<usize>> {
    let now = env.style.now.as_millisecond();
    let until = |line: &KnownLine| line.introduced.as_ref().map_or(now, |introduced| introduced.until);
    let mut commits: HashMap<Option<&str>, usize> = HashMap::new();
    let mut lines = Vec::with_capacity(subject.lines.len());
    for line in &subject.lines {
        let next = commits.len();
        let commit = *commits.entry(line.introduced.as_ref().map(|introduced| &*introduced.commit)).or_insert(next);
        lines.push(BlameLine { text: &line.text, until: until(line), commit });
    }
    let limit = subject.lines.iter().map(until).max().filter(|_| subject.revision.is_some()).unwrap_or(i64::MAX);
    let earlier: Vec<&FileEdit> = edits.iter().map(|(_, edit)| edit).take_while(|edit| edit.time <= limit).collect();
    attribute(&earlier, &lines)
}

/// Drops the edit of a line that a commit removed after the edit, and that was added again later; also that of one more such line in a
/// later commit than the next one after the edit, such as a copy of the line.
fn forget_readded(subject: &Subject<'_>, edits: &[SourcedEdit], writers: &mut [Option<usize>]) {
    let Some(repository) = &subject.repository else { return };
    if writers.iter().all(Option::is_none) {
        return;
    }
    let changes = repository.changes(subject.revision.as_deref().unwrap_or("HEAD"), &subject.name);
    let mut contents: HashMap<usize, HashMap<String, usize>> = HashMap::new();
    let mut count = |at: usize, text: &str| {
        let known = contents.entry(at).or_insert_with(|| {
            let bytes = repository.content(&changes[at].commit, &subject.name).unwrap_or_default();
            let mut counts = HashMap::new();
            String::from_utf8_lossy(&bytes).lines().for_each(|line| *counts.entry(line.to_owned()).or_default() += 1);
            counts
        });
        known.get(text).copied().unwrap_or_default()
    };
    for (line, writer) in subject.lines.iter().zip(writers) {
        let Some(time) = writer.map(|edit| edits[edit].1.time) else { continue };
        let introduced = line.introduced.as_ref().map(|introduced| introduced.commit.as_str());
        let parent = introduced.map_or(Some(0), |commit| Some(changes.iter().position(|change| change.commit == commit)? + 1));
        let Some(parent) = parent.filter(|parent| *parent < changes.len()) else { continue };
        let between: Vec<usize> = (parent..changes.len()).filter(|at| changes[*at].time >= time).collect();
        let most = between.iter().take(MAX_COMMITS).map(|at| count(*at, &line.text)).max().unwrap_or_default();
        if between.len() > MAX_COMMITS || most > 0 && (between[0] == parent || most > count(parent, &line.text)) {
            *writer = None;
        }
    }
}

fn report(
    env: &Env,
    subject: &Subject<'_>,
    sources: &[Source],
    edits: &[SourcedEdit],
    writers: &[Option<usize>],
    (first, last): Range,
) -> BlameReport {
    let mut runs: Vec<BlameRun> = Vec::new();
    let numbers: BTreeSet<usize> = writers[first - 1..last].iter().flatten().copied().collect();
    let numbers: Vec<usize> = numbers.into_iter().collect();
    for number in first..=last {
        let line = &subject.lines[number - 1];
        let edit = writers[number - 1].and_then(|edit| numbers.binary_search(&edit).ok());
        let commit = line.introduced.as_ref().map(|introduced| introduced.commit.clone());
        match runs.last_mut().filter(|run| run.edit == edit && run.commit == commit) {
            Some(run) => {
                run.last = number;
                run.lines.push(line.text.clone());
            }
            None => runs.push(BlameRun { first: number, last: number, edit, commit, lines: vec![line.text.clone()] }),
        }
    }
    let turns = turns(env, sources, numbers.iter().map(|edit| &edits[*edit]));
    let edits = numbers.iter().map(|edit| described(subject, sources, &edits[*edit], &turns));
    BlameReport {
        path: subject.name.clone(),
        revision: subject.revision.clone(),
        lines: last + 1 - first,
        attributed: writers[first - 1..last].iter().flatten().count(),
        searched: sources.len(),
        edits: edits.collect(),
        runs,
        ..BlameReport::default()
    }
}

/// Returns the turn of the block of each edit, by the session and the block.
fn turns<'a>(env: &Env, sources: &[Source], edits: impl Iterator<Item = &'a SourcedEdit>) -> HashMap<(usize, u32), u32> {
    let mut blocks: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
    edits.for_each(|(source, edit)| blocks.entry(*source).or_default().push(edit.block));
    let mut turns = HashMap::new();
    for (source, blocks) in blocks {
        let found = &sources[source].found;
        let Ok(workspace) = env.visiting(found).read_as_wanted(found.clone(), &|_| false) else { continue };
        let turn = |block: u32| Some(((source, block), workspace.reading.block(block)?.position.turn));
        turns.extend(blocks.into_iter().filter_map(turn));
    }
    turns
}

fn described(
    subject: &Subject<'_>,
    sources: &[Source],
    (source, edit): &SourcedEdit,
    turns: &HashMap<(usize, u32), u32>,
) -> BlameEdit {
    let Source { found, directory, .. } = &sources[*source];
    let turn = turns.get(&(*source, edit.block)).copied();
    let id = &found.location.id;
    // A subagent cannot be continued, only the session that started it.
    let continued = found.location.parent.as_deref().unwrap_or(id);
    let resume = found.provider.resume_command(continued);
    let there =
        directory.as_deref().map_or(String::new(), |directory| format!("cd {} && ", quoted_word(&directory.to_string_lossy())));
    BlameEdit {
        session: id.clone(),
        agent: found.provider.agent(),
        turn,
        block: edit.block,
        tool: edit.tool.clone(),
        time: edit.time,
        prompt: edit.said.prompt.trim().to_owned(),
        chosen: edit.said.chosen.trim().to_owned(),
        reason: reason(&edit.said.answer, &subject.name).to_owned(),
        show: format!("aperture show {} -s {}", edit.block, quoted_word(&short_id(id))),
        resume: format!("{there}{resume}"),
    }
}

/// Returns the last sentence of a text of the agent; empty if it is about other files than the given one.
fn reason<'t>(answer: &'t str, file: &str) -> &'t str {
    let line = answer.trim().lines().next_back().unwrap_or_default();
    let sentence = sentences(line).last().map_or("", |range| &line[range]);
    let files: Vec<&str> = path_runs(sentence).map(file_name).filter(|name| is_file_name(name)).collect();
    if files.is_empty() || files.contains(&file_name(file)) { sentence } else { "" }
}

/// Returns the notes of the commits that introduced attributed lines.
fn notes(subject: &Subject<'_>, report: &BlameReport) -> Result<Vec<BlameNote>, CommandError> {
    let Some(repository) = &subject.repository else {
        return Err(
            refusal!("{} is not in a git repository", subject.root.join(&subject.name).display()).hint("leave out --note")
        );
    };
    let mut texts: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for run in &report.runs {
        let (Some(commit), Some(edit)) = (&run.commit, run.edit) else { continue };
        let edit = &report.edits[edit];
        let turn = edit.turn.map_or(String::new(), |turn| format!(" turn {turn}"));
        let first = run.lines.iter().find(|line| !line.trim().is_empty()).map_or("", |line| line.trim());
        let text = format!("{}: {} {}{turn}: {first}", subject.name, plural(run.lines.len() as u64, "line"), edit.session);
        texts.entry(commit).or_default().push(text);
    }
    let note = |(commit, texts): (&str, Vec<String>)| {
        let known = repository.note(commit);
        let text: Vec<String> = texts.into_iter().filter(|text| !known.lines().any(|line| line == text)).collect();
        BlameNote { commit: commit.to_owned(), text: text.join("\n") }
    };
    Ok(texts.into_iter().map(note).collect())
}

fn add_notes(env: &Env, subject: &Subject<'_>, notes: &[BlameNote]) -> Result<(), CommandError> {
    let repository = subject.repository.iter();
    repository
        .flat_map(|repository| notes.iter().map(move |note| (repository, note)))
        .filter(|(_, note)| !note.text.is_empty())
        .try_for_each(|(repository, note)| repository.add_note(&note.commit, env.gate.text(&note.text, false).as_str()))
}
