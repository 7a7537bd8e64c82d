//! A file as the calls of sessions show it, with the writers of its lines.

use super::align::{Match, Places, compare, letters, recognize};
use super::edits::{FileChange, FileEdit, Hunk, Listing};
use std::collections::BTreeMap;

/// Parts of a file that are kept: the newest.
const MAX_PARTS: usize = 2_000;
/// The length in bytes from which on a client may have cut a line that it read.
const CUT_BYTES: usize = 2_000;

/// Letters and digits that consecutive lines of one commit with writers have at least.
const GROUP_LETTERS: usize = 6;

/// A line of the file of which the writer is searched.
#[derive(Clone, Copy, Debug)]
pub struct BlameLine<'a> {
    pub text: &'a str,
    /// The time until which it was written, in milliseconds since 1970, UTC: that of the commit that introduced it.
    pub until: i64,
    /// The number of that commit; lines that are not committed have the same.
    pub commit: usize,
}

/// Returns the edit that wrote each line of a file, as an index into the edits, which are sorted by time; `None` if it is unknown.
pub fn attribute(edits: &[&FileEdit], lines: &[BlameLine<'_>]) -> Vec<Option<usize>> {
    let mut copies: BTreeMap<usize, Copy> = BTreeMap::new();
    for (at, edit) in edits.iter().enumerate() {
        copies.entry(edit.root).or_default().apply(at, &edit.change);
    }
    let texts: Vec<&str> = lines.iter().map(|line| line.text).collect();
    let mut writers = vec![None; lines.len()];
    for copy in copies.values() {
        for ((writer, found), line) in writers.iter_mut().zip(copy.writers(&texts)).zip(lines) {
            let is_written = |edit: &usize| line.text.len() < CUT_BYTES && edits[*edit].time <= line.until;
            *writer = (*writer).max(found.filter(is_written));
        }
    }
    drop_bare(&mut writers, lines);
    writers
}

/// Drops the writers of consecutive lines of one commit that together have few letters: anyone types a brace.
fn drop_bare(writers: &mut [Option<usize>], lines: &[BlameLine<'_>]) {
    let mut start = 0;
    while start < lines.len() {
        let is_same = |at: &usize| {
            writers.get(*at).is_some_and(|writer| writer.is_some() == writers[start].is_some())
                && lines[*at].commit == lines[start].commit
        };
        let end = (start..).take_while(is_same).last().map_or(start + 1, |last| last + 1);
        if lines[start..end].iter().map(|line| letters(line.text)).sum::<usize>() < GROUP_LETTERS {
            writers[start..end].fill(None);
        }
        start = end;
    }
}

/// A file in one of its places: the parts of it that are known, those that were changed last at the end.
#[derive(Default)]
struct Copy {
    parts: Vec<Part>,
}

#[derive(Default)]
struct Part {
    lines: Vec<Line>,
    /// True if these are all lines of the file.
    is_whole: bool,
}

/// A line and the edit that wrote it.
#[derive(Clone)]
struct Line {
    text: String,
    writer: Option<usize>,
}

impl Part {
    fn texts(&self) -> Vec<&str> {
        self.lines.iter().map(|line| line.text.as_str()).collect()
    }

    /// Replaces a range of lines. The lines that remain keep their writers, the new ones are of `edit`.
    fn replace(&mut self, range: std::ops::Range<usize>, after: &[&str], edit: usize) {
        let before = &self.lines[range.clone()];
        let texts: Vec<&str> = before.iter().map(|line| line.text.as_str()).collect();
        let matches = compare(&texts, after);
        let writer = |found: &Match| match found {
            Match::New => Some(edit),
            Match::Same(at) => before[*at].writer,
            Match::Unclear => None,
        };
        let lines: Vec<Line> =
            after.iter().zip(&matches).map(|(text, found)| Line { text: (*text).to_owned(), writer: writer(found) }).collect();
        self.lines.splice(range, lines);
    }
}

impl Copy {
    fn apply(&mut self, edit: usize, change: &FileChange) {
        match change {
            FileChange::Read(listing) => self.read(listing),
            FileChange::Written { text, is_new } => self.write(text, *is_new, edit),
            FileChange::Replaced(pairs) => {
                for (before, after) in pairs {
                    self.replace(&plain(before), &plain(after), edit);
                }
            }
            FileChange::Patched(hunks) => self.patch(hunks, edit),
            FileChange::Deleted => self.parts.clear(),
        }
        let extra = self.parts.len().saturating_sub(MAX_PARTS);
        self.parts.drain(..extra);
    }

    fn writers(&self, texts: &[&str]) -> Vec<Option<usize>> {
        self.known(texts).into_iter().map(Option::flatten).collect()
    }

    /// Returns the writer of each line of a text that is recognized. The part that was changed last decides.
    fn known(&self, texts: &[&str]) -> Vec<Option<Option<usize>>> {
        let mut known = vec![None; texts.len()];
        let places = Places::new(texts);
        for part in self.parts.iter().rev() {
            for (place, line) in recognize(&part.texts(), &places) {
                known[place] = known[place].or(Some(part.lines[line].writer));
            }
        }
        known
    }

    /// Returns a part with the writers that are known.
    fn part(&self, lines: &[String], is_whole: bool) -> Part {
        let texts: Vec<&str> = lines.iter().map(String::as_str).collect();
        let line = |(text, writer): (&String, Option<usize>)| Line { text: text.clone(), writer };
        Part { lines: lines.iter().zip(self.writers(&texts)).map(line).collect(), is_whole }
    }

    fn read(&mut self, listing: &Listing) {
        if listing.is_whole && self.parts.last().is_some_and(|part| part.is_whole && part.texts() == listing.lines) {
            return;
        }
        let part = self.part(&listing.lines, listing.is_whole);
        if listing.is_whole {
            self.parts.clear();
        }
        self.parts.push(part);
    }

    /// Writes the whole file. Without knowledge of the file before, no line is known to be new.
    fn write(&mut self, text: &str, is_new: bool, edit: usize) {
        let text = plain(text);
        let lines: Vec<&str> = text.split('\n').collect();
        let known = self.known(&lines);
        let line = |(text, known): (&&str, &Option<Option<usize>>)| Line { text: (*text).to_owned(), writer: known.flatten() };
        let mut part = Part { lines: lines.iter().zip(&known).map(line).collect(), is_whole: true };
        let whole = self.parts.iter().rposition(|part| part.is_whole);
        if is_new || whole.is_some() {
            part = whole.filter(|_| !is_new).map(|at| std::mem::take(&mut self.parts[at])).unwrap_or_default();
            part.is_whole = true;
            part.replace(0..part.lines.len(), &lines, edit);
            // A later look at the file can have shown lines that someone else added.
            for (line, known) in part.lines.iter_mut().zip(known).filter(|(line, _)| !is_new && line.writer == Some(edit)) {
                line.writer = known.unwrap_or(line.writer);
            }
        }
        self.parts = vec![part];
    }

    /// Replaces a text, in all places of the newest part that has it: a client replaces several only if it was told so.
    fn replace(&mut self, before: &str, after: &str, edit: usize) {
        let found = self.parts.iter().enumerate().rev().find_map(|(at, part)| {
            let text = part.texts().join("\n");
            let places: Vec<usize> = text.match_indices(before).map(|(place, _)| place).collect();
            (!places.is_empty()).then_some((at, text, places))
        });
        let Some((at, text, places)) = found.filter(|_| !before.is_empty()) else {
            let trimmed = before.trim_end_matches('\n');
            if trimmed.len() < before.len() && !trimmed.is_empty() && after.ends_with('\n') {
                return self.replace(trimmed, after.trim_end_matches('\n'), edit);
            }
            let lines = |text: &str| text.split('\n').map(str::to_owned).collect::<Vec<_>>();
            return self.add(&lines(before), &lines(after), edit);
        };
        let mut part = self.parts.remove(at);
        // From the end, so that the places before stay valid.
        for place in places.into_iter().rev() {
            let end = place + before.len();
            let line_start = text[..place].rfind('\n').map_or(0, |at| at + 1);
            let line_end = text[end..].find('\n').map_or(text.len(), |at| end + at);
            let first = text[..place].matches('\n').count();
            let last = first + before.matches('\n').count();
            let region = format!("{}{after}{}", &text[line_start..place], &text[end..line_end]);
            let lines: Vec<&str> = region.split('\n').collect();
            part.replace(first..last + 1, &lines, edit);
        }
        self.parts.push(part);
    }

    fn patch(&mut self, hunks: &[Hunk], edit: usize) {
        let mut place = None;
        for hunk in hunks {
            let found = self.parts.iter().enumerate().rev().find_map(|(at, part)| {
                let from = place.filter(|(known, _)| *known == at).map_or(0, |(_, next)| next);
                Some((at, find(&part.lines, hunk, from).or_else(|| find(&part.lines, hunk, 0))?))
            });
            let Some((at, first)) = found else {
                self.add(&hunk.before, &hunk.after, edit);
                continue;
            };
            let part = &mut self.parts[at];
            // Lines of the context can differ in spaces at their ends.
            let kept: Vec<String> = part.lines[first..first + hunk.before.len()].iter().map(|line| line.text.clone()).collect();
            let is_context = |line: &str| hunk.before.iter().position(|before| before == line);
            let after: Vec<&str> =
                hunk.after.iter().map(|line| is_context(line).map_or(line.as_str(), |at| kept[at].as_str())).collect();
            part.replace(first..first + hunk.before.len(), &after, edit);
            place = Some((at, first + after.len()));
        }
        if let Some((at, _)) = place {
            let part = self.parts.remove(at);
            self.parts.push(part);
        }
    }

    fn add(&mut self, before: &[String], after: &[String], edit: usize) {
        let mut part = self.part(before, false);
        let (old, new): (Vec<&str>, Vec<&str>) =
            (before.iter().map(String::as_str).collect(), after.iter().map(String::as_str).collect());
        let (kept, places) = (compare(&old, &new), Places::new(&old));
        for known in &mut self.parts {
            // Lines that the edit removed are not those of the other parts any more.
            for (at, line) in recognize(&known.texts(), &places) {
                if !kept.contains(&Match::Same(at)) {
                    known.lines[line].writer = None;
                }
            }
        }
        part.replace(0..part.lines.len(), &new, edit);
        self.parts.push(part);
    }
}

/// Returns the first place from `from` on at which lines have the run of a hunk, below its heading if there is one.
fn find(lines: &[Line], hunk: &Hunk, from: usize) -> Option<usize> {
    if hunk.before.is_empty() {
        return None;
    }
    let is_heading = |line: &Line| line.text.trim() == hunk.heading;
    let below =
        lines.iter().skip(from).position(is_heading).filter(|_| !hunk.heading.is_empty()).map_or(from, |at| from + at + 1);
    let places = [below, from].into_iter().flat_map(|from| from..(lines.len() + 1).saturating_sub(hunk.before.len()));
    let mut places = places;
    places.find(|at| lines[*at..].iter().zip(&hunk.before).all(|(line, before)| line.text.trim_end() == before.trim_end()))
}

/// Returns a text with line feeds alone at the ends of lines.
fn plain(text: &str) -> String {
    text.replace("\r\n", "\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::blame::Said;
    use crate::model::Key;
    use proptest::prelude::*;

    fn edit(time: i64, change: FileChange) -> FileEdit {
        FileEdit { call: Key(time as u128), root: 0, time, block: 1, tool: String::new(), said: Said::default(), change }
    }

    fn written(text: &str, is_new: bool) -> FileChange {
        FileChange::Written { text: text.to_owned(), is_new }
    }

    fn replaced(before: &str, after: &str) -> FileChange {
        FileChange::Replaced(vec![(before.to_owned(), after.to_owned())])
    }

    fn check(changes: Vec<FileChange>, text: &str, expected: &[Option<usize>]) {
        let edits: Vec<FileEdit> = (1..).zip(changes).map(|(time, change)| edit(time, change)).collect();
        let lines: Vec<BlameLine<'_>> = text.lines().map(|text| BlameLine { text, until: 1_000, commit: 0 }).collect();
        assert_eq!(attribute(&edits.iter().collect::<Vec<_>>(), &lines), expected, "{text}");
    }

    const FILE: &str = "let first_of_all = load();\nlet second_of_all = load();\n";

    #[test]
    fn edits_are_replayed() {
        // A part of a line, in all its places.
        let two = FILE.replace("load()", "read()");
        check(vec![written(FILE, true), replaced("load()", "read()")], &two, &[Some(1), Some(1)]);
        // A line that is removed and restored.
        let second = "let second_of_all = load();\n";
        check(
            vec![written(FILE, true), replaced(second, ""), replaced("load();\n", &format!("load();\n{second}"))],
            FILE,
            &[Some(0), Some(2)],
        );
        // A file that was written over without a look at it, and one that was deleted before.
        check(vec![written(FILE, false)], FILE, &[None, None]);
        check(vec![written(FILE, true), FileChange::Deleted], FILE, &[None, None]);
        // A line that someone else added before the file was read.
        let listing = |text: &str| Listing { lines: text.lines().map(str::to_owned).collect(), is_whole: true };
        let read = FileChange::Read(listing(FILE));
        check(vec![written("let first_of_all = load();\n", true), read, written(FILE, false)], FILE, &[Some(0), None]);
        // Lines with few letters need others.
        check(vec![written("}\n", true)], "}\n", &[None]);
        check(vec![written("let first = load();\n}\n", true)], "let first = load();\n}\n", &[Some(0), Some(0)]);
    }

    #[test]
    fn many_edits_of_a_file_that_was_never_read_are_known() {
        let line = |number: usize| format!("let variable_{number} = load({number});");
        let after = |number: usize| format!("let changed_{number} = read({number});");
        let changes = (0..500).map(|number| replaced(&line(number), &after(number))).collect();
        let text: String = (0..500).flat_map(|number| [after(number), "}".to_owned()]).map(|line| line + "\n").collect();
        check(changes, &text, &(0..500).flat_map(|number| [Some(number), None]).collect::<Vec<_>>());
    }

    #[test]
    fn hunks_are_found_below_their_headings() {
        let before = "fn first() {\n    a_call_of_it();\n}\nfn second() {\n    a_call_of_it();\n}\n";
        let hunk = Hunk {
            heading: "fn second() {".to_owned(),
            before: vec!["    a_call_of_it();".to_owned()],
            after: vec!["    another_call();".to_owned()],
        };
        let after = "fn first() {\n    a_call_of_it();\n}\nfn second() {\n    another_call();\n}\n";
        check(
            vec![written(before, true), FileChange::Patched(vec![hunk])],
            after,
            &[Some(0), Some(0), Some(0), Some(0), Some(1), Some(0)],
        );
    }

    /// Texts of few different lines, so that they share many.
    fn text() -> impl Strategy<Value = String> {
        let line = prop_oneof![
            Just("}"),
            Just(""),
            Just("let first_of_all = load();"),
            Just("let second_of_all = load();"),
            Just("return value;")
        ];
        proptest::collection::vec(line, 0..8).prop_map(|lines| lines.join("\n"))
    }

    fn change() -> impl Strategy<Value = FileChange> {
        let lines = |text: &str| text.split('\n').map(str::to_owned).collect::<Vec<_>>();
        prop_oneof![
            (text(), any::<bool>()).prop_map(|(text, is_new)| FileChange::Written { text, is_new }),
            (text(), text()).prop_map(|pair| FileChange::Replaced(vec![pair])),
            (text(), text()).prop_map(move |(before, after)| {
                let hunk = Hunk { heading: String::new(), before: lines(&before), after: lines(&after) };
                FileChange::Patched(vec![hunk])
            }),
            (text(), any::<bool>()).prop_map(move |(text, is_whole)| FileChange::Read(Listing { lines: lines(&text), is_whole })),
            Just(FileChange::Deleted),
        ]
    }

    /// Returns true if the text that a change writes can hold a line.
    fn has(change: &FileChange, line: &str) -> bool {
        match change {
            FileChange::Written { text, .. } => text.split('\n').any(|own| own == line),
            FileChange::Replaced(pairs) => pairs.iter().any(|(_, after)| after.split('\n').any(|own| line.contains(own))),
            FileChange::Patched(hunks) => hunks.iter().any(|hunk| hunk.after.iter().any(|own| own == line)),
            FileChange::Read(_) | FileChange::Deleted => false,
        }
    }

    proptest! {
        #[test]
        fn the_edit_of_a_line_wrote_the_line(changes in proptest::collection::vec(change(), 0..6), file in text(), until in 0i64..8) {
            let edits: Vec<FileEdit> = (1..).zip(changes).map(|(time, change)| edit(time, change)).collect();
            let lines: Vec<BlameLine<'_>> = file.lines().map(|text| BlameLine { text, until, commit: 0 }).collect();
            for (line, writer) in lines.iter().zip(attribute(&edits.iter().collect::<Vec<_>>(), &lines)) {
                let Some(edit) = writer.map(|writer| &edits[writer]) else { continue };
                prop_assert!(edit.time <= until && has(&edit.change, line.text), "{line:?} {edit:?}");
            }
        }
    }
}
