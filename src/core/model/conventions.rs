//! The texts and names by which a client marks what it adds to a content: a provider fills them in, the engine looks them up.

use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::LazyLock;

/// Lines at the beginning of a result among which are those that the client adds.
pub const ENVELOPE_LINES: usize = 6;

/// Declares a struct of lists, to which those of another client can be added.
macro_rules! conventions {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct $name {
            $($(#[$doc])* pub $field: $type,)*
        }

        impl Merge for $name {
            fn merge(&mut self, other: $name) {
                $(self.$field.merge(other.$field);)*
            }
        }
    };
}

/// Takes the conventions of another client over; the first ones stay first.
pub trait Merge {
    fn merge(&mut self, other: Self);
}

impl<T: PartialEq> Merge for Vec<T> {
    fn merge(&mut self, other: Vec<T>) {
        for value in other {
            if !self.contains(&value) {
                self.push(value);
            }
        }
    }
}

impl<T> Merge for Option<T> {
    /// The value of one client says nothing about the requests of another.
    fn merge(&mut self, _other: Option<T>) {}
}

conventions! {
    /// The texts that clients write into contents, and the names in the inputs of their tools.
    ///
    /// A session can quote the rows of any client, so that the engine is given the conventions of all of them at once.
    Conventions {
        /// Prefixes of the lines above a result that report the status of a call that succeeded.
        envelope_lines: Vec<&'static str>,
        /// Whole lines above a result that only introduce it.
        envelope_titles: Vec<&'static str>,
        /// Prefixes of the lines that report a running program. They are kept, but are not part of a result.
        running_lines: Vec<&'static str>,
        /// Prefixes, in lower case, of the lines that report the status of any call.
        status_lines: Vec<&'static str>,
        /// Tags around the message of a failed call.
        error_tags: Vec<&'static str>,
        /// Prefixes of results of calls that the user declined or interrupted.
        declined: Vec<&'static str>,
        /// Texts within results of calls that were cancelled because another call failed.
        cancelled: Vec<&'static str>,
        /// Opening tags of insertions. They remain before a marker line, so that the client recognizes its insertion.
        opening_tags: Vec<&'static str>,
        /// Names of tags whose content neither a person nor a model wrote.
        inserted_tags: Vec<&'static str>,
        /// Prefixes of lines that the client inserted into other text.
        inserted_lines: Vec<&'static str>,
        /// Prefixes of headings that the client inserted into other text.
        inserted_headings: Vec<&'static str>,
        /// The tags around reminders of the client, whose words say nothing about the topic.
        reminder_lines: Vec<&'static str>,
        /// Prefixes of contents that hold a command which the user typed.
        typed_commands: Vec<&'static str>,
        /// Commands that only the client answers, as they are typed.
        client_commands: Vec<&'static str>,
        /// Headings of templates of prompts, above the text that the user gave to them.
        input_headings: Vec<&'static str>,
        /// Texts before the reason that a person gave with a rejected call.
        reason_starts: Vec<&'static str>,
        /// Texts of the client after such a reason.
        reason_ends: Vec<&'static str>,
        /// Prefixes of texts of the client in the place of such a reason, or of an answer.
        no_reasons: Vec<&'static str>,
        /// Prefixes of texts in the user's name with the message of a hook that stopped a prompt.
        hook_messages: Vec<&'static str>,
        /// Prefixes of the result of a call that wrote a file which did not exist.
        created_files: Vec<&'static str>,
        /// Texts in the first line of the result of a call that changed a file.
        changed_files: Vec<&'static str>,
        /// Marks between a question of the model and the answer of the user, in the result of a tool that asks.
        answer_marks: Vec<&'static str>,
        /// Names in the inputs of tools that edit files or run commands.
        inputs: InputNames,
        /// Names and words in the inputs of tools that write a plan.
        plans: PlanNames,
        /// The tokens that the client usually sends before the first block and does not record, from and to.
        unrecorded_tokens: Option<(u32, u32)>,
    }
}

conventions! {
    /// Names in the inputs of tools that edit files or run commands.
    InputNames {
        commands: Vec<&'static str>,
        /// Members that hold the text of a file before an edit.
        replaced: Vec<&'static str>,
        /// Members that hold the text of a file after an edit.
        written: Vec<&'static str>,
        /// Members of one replacement: the text before, the text after.
        replacements: Vec<(&'static str, &'static str)>,
        /// Members that hold a list of replacements.
        edits: Vec<&'static str>,
        patches: Vec<&'static str>,
        patch_starts: Vec<&'static str>,
        patch_files: Vec<&'static str>,
        /// Those of them that name the new path of the file before.
        patch_moves: Vec<&'static str>,
    }
}

conventions! {
    /// Names and words in the inputs of tools that write a plan.
    PlanNames {
        /// Members that hold the whole list of items.
        lists: Vec<&'static str>,
        /// Members of an item that hold its text.
        texts: Vec<&'static str>,
        /// Members that hold the text of an item that is created alone.
        created: Vec<&'static str>,
        /// Members that hold the number of the item that is changed.
        changed: Vec<&'static str>,
        /// Members that hold the status of an item.
        statuses: Vec<&'static str>,
        /// Words for a finished item.
        done: Vec<&'static str>,
        current: Vec<&'static str>,
        /// Words for an item that was removed.
        removed: Vec<&'static str>,
    }
}

/// No conventions, of sessions that no provider read.
static NONE: LazyLock<Conventions> = LazyLock::new(Conventions::default);

impl Default for &'static Conventions {
    fn default() -> &'static Conventions {
        &NONE
    }
}

impl InputNames {
    /// Returns the texts that an input writes or runs: of JSON the members with such names, the patch in any other input, or that input
    /// as it is.
    pub fn written_texts(&self, input: &str) -> String {
        let is_written = |name: &str| {
            let lists = [&self.written, &self.patches, &self.commands];
            lists.iter().any(|list| list.contains(&name)) || self.replacements.iter().any(|(_, after)| *after == name)
        };
        let patch = if input.starts_with('{') { None } else { patch_in_text(input, &self.patch_starts) };
        member_texts(patch.as_deref().unwrap_or(input), &is_written).join("\n")
    }

    /// Returns the patch in an input: a text, a member of JSON, a string in a script, or a here-document.
    pub fn patch(&self, input: &str) -> Option<String> {
        match serde_json::from_str::<Value>(input) {
            Ok(value @ Value::Object(_)) => {
                let mut texts = Vec::new();
                collect(value, &|_| true, &mut texts);
                texts.into_iter().find_map(|text| Some(text[patch_start(&text, &self.patch_starts)?..].to_owned()))
            }
            _ => patch_in_text(input, &self.patch_starts),
        }
    }

    pub fn replaced_texts(&self, input: &str) -> String {
        member_texts(input, &|name| self.replaced.contains(&name)).join("\n")
    }
}

/// The whole list of items that a call writes.
pub struct PlanList<'a> {
    /// It as it is written, with its brackets.
    pub json: &'a str,
    /// The texts of its items.
    pub texts: Vec<String>,
    /// The first item as it is written, before and after its text.
    pub entry: [&'a str; 2],
}

impl PlanNames {
    /// Returns the list in the input of a call; `None` if it has none, or an item without a text.
    pub fn list<'a>(&self, input: &'a str) -> Option<PlanList<'a>> {
        type Members<'a> = BTreeMap<Cow<'a, str>, &'a RawValue>;
        let members: Members<'a> = serde_json::from_str(input).ok()?;
        let json = self.lists.iter().find_map(|name| members.get(*name))?.get();
        let items: Vec<&'a RawValue> = serde_json::from_str(json).ok()?;
        let text_of = |item: &&'a RawValue| {
            let members: Members<'a> = serde_json::from_str(item.get()).ok()?;
            self.texts.iter().find_map(|name| members.get(*name)).map(|text| text.get())
        };
        let texts: Option<Vec<String>> = items.iter().map(|item| serde_json::from_str(text_of(item)?).ok()).collect();
        let first = items.first()?;
        let text = text_of(first)?;
        let start = text.as_ptr() as usize - first.get().as_ptr() as usize;
        let entry = [&first.get()[..start], &first.get()[start + text.len()..]];
        Some(PlanList { json, texts: texts?, entry })
    }
}

impl Conventions {
    /// Returns true if a result says that its call was not carried out: the user declined it, or another failed call cancelled it.
    pub fn declines(&self, content: &str) -> bool {
        starts_with_any(content.trim_start(), &self.declined) || self.cancelled.iter().any(|text| content.contains(text))
    }

    /// Returns true if a prompt is a command that only the client answers.
    pub fn is_client_command(&self, prompt: &str) -> bool {
        prompt.split_whitespace().next().is_some_and(|word| self.client_commands.contains(&word))
    }

    /// Returns true if a line of a result, by its place in it, reports the status of a call that succeeded, or introduces the result.
    pub fn is_envelope(&self, place: usize, line: &str) -> bool {
        place < ENVELOPE_LINES && (starts_with_any(line, &self.envelope_lines) || self.envelope_titles.contains(&line))
    }

    /// Returns the reminders of the client in a content that is more than one reminder, as byte ranges with their tags.
    pub fn reminders(&self, content: &str) -> Vec<Range<usize>> {
        let mut found: Vec<Range<usize>> = Vec::new();
        for open in &self.reminder_lines {
            let close = format!("</{}", open.trim_start_matches('<'));
            for (start, _) in content.match_indices(open).filter(|(start, _)| *start > 0) {
                if found.last().is_none_or(|before| before.end <= start)
                    && let Some(end) = content[start..].find(&close)
                {
                    found.push(start..start + end + close.len());
                }
            }
        }
        found
    }

    /// Returns a result without what its client adds: the lines of its envelope, and reminders.
    pub fn own_result<'a>(&self, result: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(result);
        for reminder in self.reminders(result).into_iter().rev() {
            text.to_mut().replace_range(reminder, "");
        }
        let is_envelope = |(place, line): (usize, &str)| self.is_envelope(place, line.trim_end());
        if text.split_inclusive('\n').take(ENVELOPE_LINES).enumerate().any(is_envelope) {
            let own = text.split_inclusive('\n').enumerate().filter(|line| !is_envelope(*line));
            text = Cow::Owned(own.map(|(_, line)| line).collect());
        }
        text
    }
}

/// Returns true if a text starts with any of the prefixes.
pub fn starts_with_any(text: &str, prefixes: &[&str]) -> bool {
    prefixes.iter().any(|prefix| text.starts_with(prefix))
}

/// Returns the patch in a text that is not JSON, by the words that can start one; without the escapes of a string in a script.
pub fn patch_in_text(text: &str, starts: &[&str]) -> Option<String> {
    let at = patch_start(text, starts)?;
    match text[..at].chars().next_back() {
        Some('"') => serde_json::Deserializer::from_str(&text[at - 1..]).into_iter::<String>().next()?.ok(),
        Some('`') => text[at..].split('`').next().filter(|patch| !patch.contains(['\\', '$'])).map(str::to_owned),
        _ => Some(text[at..].to_owned()),
    }
}

fn patch_start(text: &str, starts: &[&str]) -> Option<usize> {
    starts.iter().find_map(|start| text.find(start))
}

/// Adds the texts of the members whose names are wanted, and of lists in them.
fn collect(value: Value, is_wanted: &dyn Fn(&str) -> bool, texts: &mut Vec<String>) {
    match value {
        Value::Object(members) => members.into_iter().for_each(|(name, value)| match value {
            Value::String(text) if is_wanted(&name) => texts.push(text),
            value => collect(value, is_wanted, texts),
        }),
        Value::Array(values) => values.into_iter().for_each(|value| collect(value, is_wanted, texts)),
        Value::String(text) if is_wanted("") => texts.push(text),
        _ => {}
    }
}

/// Returns the texts in a JSON value, in order.
pub fn strings(value: Value) -> Vec<String> {
    let mut texts = Vec::new();
    collect(value, &|_| true, &mut texts);
    texts
}

/// Returns the texts of the members of a JSON input whose names are wanted; any other input as it is.
pub(super) fn member_texts(input: &str, is_wanted: &dyn Fn(&str) -> bool) -> Vec<String> {
    let mut texts = Vec::new();
    match serde_json::from_str(input) {
        Ok(value) => collect(value, is_wanted, &mut texts),
        Err(_) => texts.push(input.to_owned()),
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_a_plan_has_the_texts_of_its_items() {
        let names = PlanNames { lists: vec!["plan"], texts: vec!["step"], ..PlanNames::default() };
        let input = r#"{"a": 1, "plan": [{"id": 1, "step": "one", "b": []}, {"step": "t\u00f6"}]}"#;
        let list = names.list(input).unwrap();
        assert_eq!((list.json, list.entry), (&input[17..input.len() - 1], [r#"{"id": 1, "step": "#, r#", "b": []}"#]));
        assert_eq!(list.texts, ["one", "tö"]);
        for input in [r#"{"plan": []}"#, r#"{"plan": [{"step": 1}]}"#, r#"{"plan": ["one"]}"#, r#"{"todos": []}"#, "", "plan"] {
            assert!(names.list(input).is_none(), "{input}");
        }
    }

    #[test]
    fn a_result_is_told_without_what_its_client_adds() {
        let conventions = Conventions {
            envelope_lines: vec!["Took: "],
            envelope_titles: vec!["Output:"],
            reminder_lines: vec!["<note>"],
            ..Conventions::default()
        };
        for (result, expected) in [
            ("Took: 1 s\nEnded with 2\nOutput:\none\n\ntwo\n", "Ended with 2\none\n\ntwo\n"),
            ("one\ntwo\nthree\nfour\nfive\nsix\nOutput:", "one\ntwo\nthree\nfour\nfive\nsix\nOutput:"),
            ("one\n<note>\nbe careful\n</note>\ntwo", "one\n\ntwo"),
            ("", ""),
        ] {
            assert_eq!(conventions.own_result(result), expected);
        }
    }

    #[test]
    fn inputs_are_read_by_the_names_of_their_members() {
        let names = InputNames {
            commands: vec!["run"],
            written: vec!["after"],
            replaced: vec!["old"],
            replacements: vec![("old", "new")],
            patch_starts: vec!["*** a patch"],
            ..Default::default()
        };
        let check = |input: &str, expected: &str| assert_eq!(names.written_texts(input), expected, "{input}");
        let edits = r#"{"path":"a.rs","edits":[{"old":"a","new":"b"},{"old":"c","new":"d"}]}"#;
        check(edits, "b\nd");
        check(r#"{"run":"make","timeout":5}"#, "make");
        check("*** a patch", "*** a patch");
        assert_eq!(names.replaced_texts(edits), "a\nc");
        check("const p = \"*** a patch\\n+b \\\"c\\\"\"; send(p);", "*** a patch\n+b \"c\"");
        check("send(`*** a patch\n+b`)", "*** a patch\n+b");
        check("run <<E\n*** a patch\n+b\nE", "*** a patch\n+b\nE");
        assert_eq!(names.patch(r#"{"input": ["x", "*** a patch"]}"#).as_deref(), Some("*** a patch"));
    }
}
