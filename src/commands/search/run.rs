use super::index::{ask, asking_session, note_unreadable, restore_originals, similarity};
use super::report::{Coverage, ReplacedWord, SearchReport, SessionFound, TurnFound};
use super::{Arguments, Scope, Sort, kind};
use crate::app::{CommandError, Env, misuse};
use crate::commands::usage::{Day, check_client};
use crate::engine::search::{Excerpt, HiddenValues, Query, QueryError, QueryField, without_fields};
use crate::engine::{Selector, could_be_named, tokens};
use crate::output::json;
use crate::output::{Report, plural, short_id};
use crate::search::{
    Filter, FoundTurn, Hits, Pattern, PatternError, Searched, Source, SourceKind, find, hidden_values, prompt_files, scan,
};
use crate::text::shell::quoted_word;
use crate::workspace::{self, FindError, Found, Listed, Project};
use anyhow::anyhow;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Turns of a session that are printed, and of the one session that was named.
const TURNS_OF_SESSION: usize = 3;
const TURNS_OF_NAMED_SESSION: usize = 20;
/// Sessions among which a known item is looked for, and words of a title: the number that is searched, and the least.
const RANKED_SESSIONS: usize = 20;
const TITLE_WORDS: usize = 8;
const LEAST_TITLE_WORDS: usize = 3;

/// Searches and prints the sessions.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    let report = report(env, arguments)?;
    if arguments.json_lines {
        for session in &report.sessions {
            env.write(&env.gate.json(&json::line(SearchReport::SCHEMA, session)))?;
        }
    } else if env.json || !report.sessions.is_empty() {
        env.print(&report)?;
    }
    match report.sessions.is_empty() {
        false => Ok(()),
        true if env.json || arguments.json_lines => Err(CommandError::already_reported()),
        true => Err(no_match(&report)),
    }
}

/// Errors: as [`report`]; nothing matches.
pub fn found(env: &Env, arguments: &Arguments) -> Result<SearchReport, CommandError> {
    let report = report(env, arguments)?;
    if report.sessions.is_empty() { Err(no_match(&report)) } else { Ok(report) }
}

/// Returns the error for a search that found nothing.
pub fn no_match(report: &SearchReport) -> CommandError {
    let SearchReport { query, covered, .. } = report;
    let error = anyhow!("no match for '{query}' in {}", plural(covered.searched as u64, "session"));
    let error = CommandError::refused(error);
    let hints = report.note_of_fields().into_iter().chain(report.hint.clone());
    hints.fold(error, CommandError::hint)
}

/// The files that can be searched: sessions, the kept copies of deleted ones, what is beside them, and lists of prompts.
struct Files {
    sources: Vec<Source>,
    /// True if all files could be listed.
    is_complete: bool,
}

impl Files {
    /// Returns the place of the session of a source; `None` for a list of prompts.
    fn place(&self, source: usize) -> Option<usize> {
        match self.sources[source].kind {
            SourceKind::Session(_) => Some(source),
            SourceKind::Output(_, session) => Some(session),
            SourceKind::Prompts(..) => None,
        }
    }

    fn found(&self, source: usize) -> Option<&Found> {
        self.sources[self.place(source)?].session()
    }

    /// Returns the id of the session of a source; empty for a list of prompts.
    fn session(&self, source: usize) -> String {
        self.found(source).map_or_else(String::new, |found| session(found).to_owned())
    }

    /// Returns the number of sessions with one of these sources.
    fn count(&self, sources: impl Iterator<Item = usize>) -> usize {
        sources.filter_map(|source| self.found(source)).map(session).collect::<FxHashSet<&str>>().len()
    }

    /// Returns the sessions among these sources, with their totals.
    fn listed(&self, env: &Env, sources: impl Iterator<Item = usize>, project: Option<&Project>, titles: bool) -> Vec<Listed> {
        let sessions = sources.filter_map(|source| {
            let source = &self.sources[source];
            Some((source.session()?.clone(), source.identity))
        });
        let mut skip = |path: &Path, error: std::io::Error| skip(env, path, &error);
        workspace::list_found(env.disk, &env.totals(), sessions.collect(), project, titles, &mut skip)
    }
}

fn skip(env: &Env, path: &Path, error: &std::io::Error) {
    env.note(&format!("skipped {}: {error}", path.display()));
}

/// Errors: the query has no words or a wrong field, there is no session, or the index cannot be kept in memory.
pub fn report(env: &Env, arguments: &Arguments) -> Result<SearchReport, CommandError> {
    report_with(env, arguments, None)
}

/// Returns the rank of a session in the result of a search by words, with or without vectors; `None` if it is not among the first.
/// Errors: as [`report`].
pub fn rank_of(env: &Env, query: &str, session: &str, has_vectors: bool) -> Result<Option<usize>, CommandError> {
    let arguments = Arguments { query: vec![query.to_owned()], limit: RANKED_SESSIONS, ..Arguments::default() };
    let report = report_with(env, &arguments, Some(has_vectors))?;
    Ok(report.sessions.iter().position(|found| found.session == session).map(|place| place + 1))
}

/// Returns the titles of sessions with the session of each, the newest first: known items of search.
/// Errors: the sessions cannot be listed.
pub fn known_items(env: &Env, most: usize) -> Result<Vec<(String, String)>, CommandError> {
    let files = files(env)?;
    let mut listed = files.listed(env, 0..files.sources.len(), None, true);
    listed.retain(|listed| !listed.found.location.subagent);
    listed.sort_by_key(|listed| std::cmp::Reverse(listed.last_written()));
    let item = |listed: &Listed| {
        let words: Vec<&str> = listed.totals.title.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 1).collect();
        let query = words[..words.len().min(TITLE_WORDS)].join(" ");
        let is_query = words.len() >= LEAST_TITLE_WORDS && Query::parse(&query).is_ok();
        is_query.then(|| (query, listed.found.location.id.clone()))
    };
    Ok(listed.iter().filter_map(item).take(most).collect())
}

/// Returns what a search finds, with vectors if they improve search here or, given, as wanted.
fn report_with(env: &Env, arguments: &Arguments, has_vectors: Option<bool>) -> Result<SearchReport, CommandError> {
    let text = arguments.query.join(" ");
    let mut arguments = arguments.clone();
    let pattern = match (arguments.literal, arguments.regex) {
        (true, _) => Some(Pattern::literal(&text, arguments.ignore_case)),
        (_, true) => Some(Pattern::regex(&text, arguments.ignore_case)),
        _ => None,
    };
    let refused = |error: PatternError| {
        let fault = misuse!("cannot search for '{text}': {error}");
        if matches!(error, PatternError::Everywhere) { fault.hint("to list all sessions: aperture sessions") } else { fault }
    };
    let pattern = pattern.transpose().map_err(refused)?;
    let query = if pattern.is_none() { Some(parse(&text)?) } else { None };
    // Words that nearly every sentence has are not indexed.
    let is_common = query.as_ref().is_some_and(Query::is_common);
    let pattern = if is_common { Some(Pattern::literal(&text, true).map_err(refused)?) } else { pattern };
    for (field, value) in query.iter().flat_map(|query| &query.fields) {
        arguments.take(*field, value).map_err(|error| misuse!("{field}:{value}: {error}"))?;
    }
    check_client(arguments.scope.client.as_deref())?;
    let files = files(env)?;
    let wanted = wanted(env, &arguments, &files)?;
    let unknown_fields = query.as_ref().map(|query| query.unknown_fields.clone()).unwrap_or_default();
    let mut report = match (pattern, query) {
        (Some(pattern), _) => literal(env, &arguments, &files, &wanted, &pattern),
        (None, query) => ranked(env, &arguments, &files, &wanted, query.unwrap_or_default(), has_vectors)?,
    };
    report.is_common = is_common;
    report.unknown_fields = unknown_fields;
    if is_common {
        report.hint = Some("nearly every sentence has these words: add another one".to_owned());
    }
    report.query = text;
    let of = files.count(0..files.sources.len());
    let searched = if wanted.len() == files.sources.len() { of } else { files.count(wanted.into_iter()) };
    report.covered = Coverage { searched, of };
    if arguments.sort == Sort::Time {
        report.sessions.sort_by_key(|session| std::cmp::Reverse(session.turns.iter().map(|turn| turn.time).max()));
    }
    let limit = if arguments.limit == 0 { report.sessions.len() } else { arguments.limit };
    report.left_out = report.sessions.len().saturating_sub(limit);
    report.sessions.truncate(limit);
    describe(env, &files, &mut report.sessions);
    report.sessions.par_iter_mut().for_each(|session| hide_named(env, &files.sources[session.source], session));
    if let Some(budget) = arguments.max_tokens {
        fit(env, &mut report, budget);
    }
    // Freeing thousands of paths takes longer than writing the output.
    rayon::spawn(|| drop(files));
    Ok(report)
}

/// Parses a query.
/// Errors: it has nothing to search for.
pub fn parse(text: &str) -> Result<Query, CommandError> {
    Query::parse(text).map_err(|error| {
        let fault = misuse!("cannot search for '{text}': {error}");
        fault.hint(match error {
            QueryError::Empty if text.trim().is_empty() => "to list all sessions: aperture sessions".to_owned(),
            QueryError::Empty => format!("to search for this very text: aperture search --literal {}", quoted_word(text)),
            QueryError::OnlyNegative => "add a word that is searched".to_owned(),
        })
    })
}

impl Arguments {
    fn take(&mut self, field: QueryField, value: &str) -> Result<(), String> {
        let day = || value.parse::<Day>();
        match field {
            QueryField::Role if ["user", "agent", "tool"].contains(&value) => self.role.push(value.to_owned()),
            QueryField::Role => return Err("the roles are user, agent and tool".to_owned()),
            QueryField::Tool => self.tool.push(value.to_owned()),
            QueryField::Path => self.path.push(value.to_owned()),
            QueryField::Project => self.scope.project = Some(value.into()),
            QueryField::Client => self.scope.client = Some(value.to_owned()),
            QueryField::Kind => self.kind.push(kind(value)?),
            QueryField::Since => self.scope.since = Some(day()?),
            QueryField::Until => self.scope.until = Some(day()?),
        }
        Ok(())
    }
}

/// Finds all files that can be searched.
/// Errors: there is no session.
fn files(env: &Env) -> Result<Files, CommandError> {
    let mut is_complete = true;
    let mut all = workspace::find_files(env.disk, &|provider| provider.roots(&env.places), &mut |path, error| {
        is_complete = false;
        skip(env, path, &error);
    });
    let kept = env.kept()?.files_of_orphans();
    all.sessions.extend(kept.sessions);
    all.others.extend(kept.others);
    if all.sessions.iter().all(Vec::is_empty) {
        return Err(FindError::NoSessions(workspace::roots(&env.places)).into());
    }
    let mut sources: Vec<Source> =
        all.sessions.into_iter().flatten().map(|(found, identity)| Source::new(found, identity)).collect();
    sources.extend(Source::outputs(&sources, all.others));
    sources.extend(prompt_files(env.disk, &env.places));
    restore_originals(env, &mut sources)?;
    Ok(Files { sources, is_complete })
}

/// Returns the sources that the arguments and `-s` select.
fn wanted(env: &Env, arguments: &Arguments, files: &Files) -> Result<Vec<usize>, CommandError> {
    let scope = &arguments.scope;
    let all = 0..files.sources.len();
    let project = scope.project(env).map(|project| files.listed(env, all.clone(), Some(&project), false));
    let project: Option<FxHashSet<PathBuf>> = project.map(|listed| listed.into_iter().map(|listed| listed.found.path).collect());
    let named = env.session().map(|name| env.find_by(name)).transpose()?.map(|found| found.location.id);
    let asking = asking_session(env).filter(|_| !arguments.current && named.is_none());
    let is_wanted = |source: &usize| {
        if let SourceKind::Prompts(provider, _) = files.sources[*source].kind {
            return scope.has_client(provider.name()) && project.is_none() && named.is_none();
        }
        files.found(*source).is_some_and(|found| {
            project.as_ref().is_none_or(|project| project.contains(&found.path))
                && scope.has_client(found.provider.name())
                && named.as_ref().is_none_or(|named| named == session(found))
                && asking.as_ref().is_none_or(|asking| asking != session(found))
        })
    };
    Ok(all.filter(is_wanted).collect())
}

/// Returns the id of the session that a file belongs to: for a subagent, the session that started it.
fn session(found: &Found) -> &str {
    found.location.parent.as_ref().unwrap_or(&found.location.id)
}

fn ranked(
    env: &Env,
    arguments: &Arguments,
    files: &Files,
    wanted: &[usize],
    query: Query,
    has_vectors: Option<bool>,
) -> Result<SearchReport, CommandError> {
    let vectors = match has_vectors {
        Some(false) => None,
        measured => similarity(env, &files.sources, measured.is_some()),
    };
    let bar = env.progress(files.sources.len());
    let progress = |done: u64, total: u64| {
        bar.set_length(total.max(1));
        bar.set_position(done);
        bar.set_message("indexing");
    };
    let filter = Filter { blocks: blocks(env, arguments)?, ..filter(env, arguments) };
    let session_of = |source: usize| files.session(source);
    let found = ask(env, &files.sources, files.is_complete, &progress, &|index, indexed| {
        let is_wanted = |source: usize| wanted.len() == files.sources.len() || wanted.binary_search(&source).is_ok();
        let searched = Searched {
            disk: env.disk,
            sources: &files.sources,
            index,
            indexed,
            session_of: &session_of,
            is_wanted: &is_wanted,
            adjust: vectors.as_deref(),
            now: env.style.now.as_millisecond(),
        };
        let mut hits = find(&searched, query.clone(), &filter)?;
        let shown: FxHashSet<usize> =
            hits.turns.iter().flat_map(|turn| [Some(turn.source), files.place(turn.source)]).flatten().collect();
        let shown = indexed.iter().filter(|(_, source)| shown.contains(source));
        hits.hidden = shown.map(|(file, source)| (*source, hidden_values(index, *file))).collect();
        Ok(hits)
    })?;
    bar.finish_and_clear();
    Ok(of_hits(env, arguments, files, found))
}

fn blocks(env: &Env, arguments: &Arguments) -> Result<Option<FxHashSet<u32>>, CommandError> {
    if arguments.blocks.is_empty() {
        return Ok(None);
    }
    if env.session().is_none() {
        return Err(misuse!("cannot search '{}' in every session: selectors name blocks of one", arguments.blocks.join(" "))
            .hint("name the session: -s ID; in every session: --role, --kind, --tool, --path"));
    }
    let selector = Selector::parse_all(&arguments.blocks).map_err(CommandError::from)?;
    let workspace = env.open(None)?;
    Ok(Some(selector.select(&workspace.reading).map_err(CommandError::from)?.into_iter().collect()))
}

fn filter(env: &Env, arguments: &Arguments) -> Filter {
    let (since, until) = arguments.scope.times(env);
    Filter {
        blocks: None,
        since,
        until,
        roles: arguments.role.clone(),
        kinds: arguments.kind.clone(),
        tools: arguments.tool.clone(),
        paths: arguments.path.clone(),
    }
}

fn of_hits(env: &Env, arguments: &Arguments, files: &Files, hits: Hits) -> SearchReport {
    let is_complete = |turn: &FoundTurn| turn.found.missing.is_empty();
    let is_nowhere = |word: &String| hits.replaced.iter().any(|(known, _)| known == word);
    let names = |missing: &[usize]| -> Vec<String> {
        missing.iter().map(|term| hits.query.terms[*term].text.clone()).filter(|word| !is_nowhere(word)).collect()
    };
    let dropped = match hits.turns.first() {
        Some(best) if !hits.turns.iter().any(is_complete) => names(&best.found.missing),
        _ => Vec::new(),
    };
    let mut sessions = SessionList::new(env, files);
    for turn in &hits.turns {
        sessions.add(turn.source, &turn.session, |is_deleted| {
            let missing_words = names(&turn.found.missing);
            let missing_words = if missing_words == dropped { Vec::new() } else { missing_words };
            // A list of prompts has no turns.
            let number = if is_deleted { 0 } else { turn.turn.number };
            let found = turn_found(files.sources[turn.source].path(), number, turn.turn.time, &turn.found.excerpt);
            TurnFound { tier: Some(turn.found.tier), missing_words, is_left: turn.turn.is_left, ..found }
        });
    }
    let hidden: FxHashMap<&Path, &Option<HiddenValues>> =
        hits.hidden.iter().map(|(source, values)| (files.sources[*source].path(), values)).collect();
    for session in &mut sessions.found {
        let main = files.place(session.source).map(|source| files.sources[source].path());
        let paths: FxHashSet<&Path> = session.turns.iter().map(|turn| Path::new(&turn.path)).chain(main).collect();
        let mut all = Some(HiddenValues::default());
        for values in paths.into_iter().filter_map(|path| hidden.get(path)) {
            all = all.zip(values.as_ref()).map(|(mut all, values)| {
                all.extend(values);
                all
            });
        }
        session.hidden = all;
    }
    let replaced = hits.replaced.into_iter().map(|(word, searched)| ReplacedWord { word, searched }).collect();
    SearchReport {
        replaced_words: replaced,
        ignored: hits.query.ignored,
        dropped_words: dropped,
        total: hits.total,
        capped: hits.is_capped,
        hint: hint(arguments),
        sessions: sessions.found,
        ..SearchReport::default()
    }
}

/// Returns the hint for a search that found nothing.
fn hint(arguments: &Arguments) -> Option<String> {
    let query = arguments.query.join(" ");
    let text = quoted_word(&query);
    let Scope { since, until, client, .. } = &arguments.scope;
    let is_narrow = since.is_some() || until.is_some() || client.is_some();
    let lists = [&arguments.role, &arguments.tool, &arguments.path, &arguments.blocks];
    let is_narrow = is_narrow || !arguments.kind.is_empty() || lists.iter().any(|list| !list.is_empty());
    match () {
        () if is_narrow => {
            let text = quoted_word(&without_fields(&query));
            Some(format!("to search without these options: aperture search {text}"))
        }
        () if arguments.literal || arguments.regex => Some(format!("to search for its words: aperture search {text}")),
        () if arguments.scope.project.is_some() => Some(format!("to search every project: aperture search {text}")),
        // Quotation marks around a phrase are not a part of the text.
        () if query.contains('"') => {
            Some(format!("to search for its words: aperture search {}", quoted_word(&query.replace('"', ""))))
        }
        () => Some(format!("to search for this very text: aperture search --literal {text}")),
    }
}

/// Returns a line of a turn, without the properties that only a ranked turn has.
fn turn_found(path: &Path, turn: u32, time: i64, excerpt: &Excerpt) -> TurnFound {
    let Excerpt { kind, before, line, after, marks } = excerpt.clone();
    TurnFound {
        turn,
        path: path.display().to_string(),
        kind,
        role: kind.role(),
        time: Some(time).filter(|time| *time != 0),
        tier: None,
        missing_words: Vec::new(),
        is_left: false,
        before,
        line,
        after,
        marks,
    }
}

fn describe(env: &Env, files: &Files, sessions: &mut [SessionFound]) {
    let shorts: Vec<String> = sessions.iter().map(|found| short_id(&found.session)).collect();
    let (mut alike, mut main) = (vec![0; sessions.len()], vec![None; sessions.len()]);
    for (place, source) in files.sources.iter().enumerate() {
        let Some(Found { location, .. }) = source.session() else { continue };
        for at in (0..shorts.len()).filter(|at| location.id.starts_with(&shorts[*at])) {
            alike[at] += 1;
            // The session that started a subagent has the title and is continued.
            if !location.subagent && location.id == sessions[at].session {
                main[at].get_or_insert(place);
            }
        }
    }
    let place = |(found, main): (&SessionFound, Option<usize>)| main.or(files.place(found.source));
    let places: Vec<Option<usize>> = sessions.iter().zip(main).map(place).collect();
    let listed = files.listed(env, places.iter().copied().flatten(), None, true);
    let listed: HashMap<&Path, &Listed> = listed.iter().map(|listed| (&*listed.found.path, listed)).collect();
    for (at, session) in sessions.iter_mut().enumerate() {
        let Some(source) = places[at].map(|place| &files.sources[place]) else { continue };
        let Some(listed) = listed.get(source.path()) else { continue };
        session.name = if alike[at] == 1 { shorts[at].clone() } else { session.session.clone() };
        session.title = source.logged.named().mask_start(&listed.totals.title);
        session.project = listed.directory().map(|directory| directory.display().to_string()).unwrap_or_default();
        session.last_written_time = Some(listed.last_written());
        session.command = Some(continuation(env, listed, session));
    }
}

/// Masks the values that a session names as credentials elsewhere in the lines that are shown of it.
fn hide_named(env: &Env, source: &Source, session: &mut SessionFound) {
    let can_have = |text: &str| session.hidden.as_ref().map_or_else(|| could_be_named(text), |values| values.are_in(text));
    if !session.turns.iter().any(|turn| [&turn.before, &turn.line, &turn.after].into_iter().any(|text| can_have(text))) {
        return;
    }
    let known_of = |path: &Path| workspace::named_in_file(env.disk, path).unwrap_or_default();
    let of_session = known_of(source.path());
    for turn in &mut session.turns {
        let path = Path::new(&turn.path);
        let known = if path == source.path() { of_session.clone() } else { of_session.with(&known_of(path)) };
        for text in [&mut turn.before, &mut turn.line, &mut turn.after] {
            if let Cow::Owned(masked) = known.mask(text) {
                *text = masked;
                turn.marks.clear();
            }
        }
    }
}

fn continuation(env: &Env, listed: &Listed, SessionFound { session, name, project, .. }: &SessionFound) -> String {
    let resume = listed.found.provider.resume_command(session);
    let is_here = listed.directory() == Some(&env.directory) || !env.is_directory(Path::new(project));
    let command = if is_here { resume } else { format!("cd {} && {resume}", quoted_word(project)) };
    let is_kept = env.kept().is_ok_and(|copies| listed.found.path.starts_with(copies.directory()));
    match listed.found.provider.read_only() {
        _ if !is_kept => command,
        None => format!("aperture keep restore {name} && {command}"),
        Some(_) => format!("aperture keep restore {name} --to FILE"),
    }
}

fn literal(env: &Env, arguments: &Arguments, files: &Files, wanted: &[usize], pattern: &Pattern) -> SearchReport {
    let listed = files.listed(env, wanted.iter().copied(), None, false);
    let ages: HashMap<&Path, i64> = listed.iter().map(|listed| (&*listed.found.path, listed.last_written())).collect();
    let age = |source: &usize| {
        let written = files.found(*source).and_then(|found| ages.get(&*found.path));
        std::cmp::Reverse(written.copied().unwrap_or(i64::MIN))
    };
    let mut wanted = wanted.to_vec();
    wanted.sort_by_key(age);
    let mut skip = |path: &Path, error: std::io::Error| skip(env, path, &error);
    let limit = if arguments.limit == 0 { usize::MAX } else { arguments.limit };
    let (found, total) = scan(env.disk, &files.sources, &wanted, pattern, &filter(env, arguments), limit, &mut skip);
    note_unreadable(env, &files.sources);
    let mut sessions = SessionList::new(env, files);
    for line in &found {
        let path = files.sources[line.source].path();
        sessions.add(line.source, &line.session, |_| turn_found(path, line.turn, line.time, &line.excerpt));
    }
    SearchReport { total, hint: hint(arguments), sessions: sessions.found, ..SearchReport::default() }
}

/// The sessions that were found, each once, in the order of their first turns.
struct SessionList<'a> {
    files: &'a Files,
    /// The sessions that exist: a list of prompts has theirs too.
    existing: OnceCell<FxHashSet<&'a str>>,
    places: HashMap<String, usize>,
    found: Vec<SessionFound>,
    turns_of_session: usize,
}

impl<'a> SessionList<'a> {
    fn new(env: &Env, files: &'a Files) -> SessionList<'a> {
        let turns_of_session = if env.session().is_some() { TURNS_OF_NAMED_SESSION } else { TURNS_OF_SESSION };
        SessionList { files, existing: OnceCell::new(), places: HashMap::new(), found: Vec::new(), turns_of_session }
    }

    /// Adds a turn to the session of a source, or to the one that a row of a list of prompts names, unless that exists: its own file has
    /// the prompt. `turn` is given true for a session that is deleted.
    fn add(&mut self, source: usize, named: &str, turn: impl FnOnce(bool) -> TurnFound) {
        let files = self.files;
        let (id, client) = match (&files.sources[source].kind, files.found(source)) {
            (SourceKind::Prompts(provider, _), _) => {
                let all = || files.sources.iter().filter_map(Source::session).map(session).collect();
                if self.existing.get_or_init(all).contains(named) {
                    return;
                }
                (named.to_owned(), provider.name())
            }
            (_, Some(found)) => (files.session(source), found.provider.name()),
            (_, None) => return,
        };
        let is_deleted = files.found(source).is_none();
        let place = *self.places.entry(id.clone()).or_insert_with(|| {
            self.found.push(SessionFound { session: id, client, source, is_deleted, hidden: None, ..SessionFound::default() });
            self.found.len() - 1
        });
        if self.found[place].turns.len() < self.turns_of_session {
            self.found[place].turns.push(turn(is_deleted));
        }
    }
}

/// Leaves out the last turns and sessions until the report is within a number of tokens, but not the best turn.
fn fit(env: &Env, report: &mut SearchReport, budget: u64) {
    let size = |report: &SearchReport| {
        let text = if env.json { report.json() } else { report.text(&env.style) };
        tokens::count(&text) as u64
    };
    while size(report) > budget {
        let count = report.sessions.len();
        match report.sessions.last_mut() {
            Some(last) if last.turns.len() > 1 => drop(last.turns.pop()),
            Some(_) if count > 1 => {
                report.sessions.pop();
                report.left_out += 1;
            }
            _ => return,
        }
    }
}
