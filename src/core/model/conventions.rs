//! The texts and names by which a client marks what it adds to a content: a provider fills them in, the engine looks them up.

use serde_json::Value;
use std::sync::LazyLock;

/// The texts that clients write into contents, and the names in the inputs of their tools.
///
/// A session can quote the rows of any client, so that the engine is given the conventions of all of them at once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conventions {
    /// Prefixes of the lines above a result that report the status of a call that succeeded.
    pub envelope_lines: Vec<&'static str>,
    /// Whole lines above a result that only introduce it.
    pub envelope_titles: Vec<&'static str>,
    /// Prefixes of the lines that report a running program. They are kept, but are not part of a result.
    pub running_lines: Vec<&'static str>,
    /// Prefixes, in lower case, of the lines that report the status of any call.
    pub status_lines: Vec<&'static str>,
    /// Tags around the message of a failed call.
    pub error_tags: Vec<&'static str>,
    /// Prefixes of results of calls that the user declined or interrupted.
    pub declined: Vec<&'static str>,
    /// Texts within results of calls that were cancelled because another call failed.
    pub cancelled: Vec<&'static str>,
    /// Opening tags of insertions. They remain before a marker line, so that the client recognizes its insertion.
    pub opening_tags: Vec<&'static str>,
    /// Names of tags whose content neither a person nor a model wrote.
    pub inserted_tags: Vec<&'static str>,
    /// Prefixes of lines that the client inserted into other text.
    pub inserted_lines: Vec<&'static str>,
    /// Prefixes of headings that the client inserted into other text.
    pub inserted_headings: Vec<&'static str>,
    /// The tags around reminders of the client, whose words say nothing about the topic.
    pub reminder_lines: Vec<&'static str>,
    /// Prefixes of contents that hold a command which the user typed.
    pub typed_commands: Vec<&'static str>,
    /// Headings of templates of prompts, above the text that the user gave to them.
    pub input_headings: Vec<&'static str>,
    /// Texts before the reason that a person gave with a rejected call.
    pub reason_starts: Vec<&'static str>,
    /// Texts of the client after such a reason.
    pub reason_ends: Vec<&'static str>,
    /// Prefixes of texts of the client in the place of such a reason, or of an answer.
    pub no_reasons: Vec<&'static str>,
    /// Prefixes of texts in the user's name with the message of a hook that stopped a prompt.
    pub hook_messages: Vec<&'static str>,
    /// Prefixes of the result of a call that wrote a file which did not exist.
    pub created_files: Vec<&'static str>,
    /// Marks between a question of the model and the answer of the user, in the result of a tool that asks.
    pub answer_marks: Vec<&'static str>,
    /// Names in the inputs of tools that edit files or run commands.
    pub inputs: InputNames,
    /// Names and words in the inputs of tools that write a plan.
    pub plans: PlanNames,
    /// The tokens that the client usually sends before the first block and does not record, from and to.
    pub unrecorded_tokens: Option<(u32, u32)>,
}

/// Names in the inputs of tools that edit files or run commands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InputNames {
    pub commands: Vec<&'static str>,
    /// Members that hold the text of a file before an edit.
    pub replaced: Vec<&'static str>,
    /// Members that hold the text of a file after an edit.
    pub written: Vec<&'static str>,
    /// Members of one replacement: the text before, the text after.
    pub replacements: Vec<(&'static str, &'static str)>,
    /// Members that hold a list of replacements.
    pub edits: Vec<&'static str>,
    pub patches: Vec<&'static str>,
    pub patch_starts: Vec<&'static str>,
    pub patch_files: Vec<&'static str>,
    /// Those of them that name the new path of the file before.
    pub patch_moves: Vec<&'static str>,
}

/// Names and words in the inputs of tools that write a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanNames {
    /// Members that hold the whole list of items.
    pub lists: Vec<&'static str>,
    /// Members of an item that hold its text.
    pub texts: Vec<&'static str>,
    /// Members that hold the text of an item that is created alone.
    pub created: Vec<&'static str>,
    /// Members that hold the number of the item that is changed.
    pub changed: Vec<&'static str>,
    /// Members that hold the status of an item.
    pub statuses: Vec<&'static str>,
    /// Words for a finished item.
    pub done: Vec<&'static str>,
    pub current: Vec<&'static str>,
    /// Words for an item that was removed.
    pub removed: Vec<&'static str>,
}

/// No conventions, of sessions that no provider read.
static NONE: LazyLock<Conventions> = LazyLock::new(Conventions::default);

impl Default for &'static Conventions {
    fn default() -> &'static Conventions {
        &NONE
    }
}

impl Conventions {
    /// Adds the conventions of another client.
    pub fn extend(&mut self, other: Conventions) {
        let Conventions {
            envelope_lines,
            envelope_titles,
            running_lines,
            status_lines,
            error_tags,
            declined,
            cancelled,
            opening_tags,
            inserted_tags,
            inserted_lines,
            inserted_headings,
            reminder_lines,
            typed_commands,
            input_headings,
            reason_starts,
            reason_ends,
            no_reasons,
            hook_messages,
            created_files,
            answer_marks,
            inputs,
            plans,
            unrecorded_tokens: _,
        } = other;
        for (all, more) in [
            (&mut self.envelope_lines, envelope_lines),
            (&mut self.envelope_titles, envelope_titles),
            (&mut self.running_lines, running_lines),
            (&mut self.status_lines, status_lines),
            (&mut self.error_tags, error_tags),
            (&mut self.declined, declined),
            (&mut self.cancelled, cancelled),
            (&mut self.opening_tags, opening_tags),
            (&mut self.inserted_tags, inserted_tags),
            (&mut self.inserted_lines, inserted_lines),
            (&mut self.inserted_headings, inserted_headings),
            (&mut self.reminder_lines, reminder_lines),
            (&mut self.typed_commands, typed_commands),
            (&mut self.input_headings, input_headings),
            (&mut self.reason_starts, reason_starts),
            (&mut self.reason_ends, reason_ends),
            (&mut self.no_reasons, no_reasons),
            (&mut self.hook_messages, hook_messages),
            (&mut self.created_files, created_files),
            (&mut self.answer_marks, answer_marks),
        ] {
            add(all, more);
        }
        self.inputs.extend(inputs);
        self.plans.extend(plans);
    }
}

impl InputNames {
    /// Returns the texts that an input writes or runs: of JSON the members with such names, any other input as it is.
    pub fn written_texts(&self, input: &str) -> String {
        let is_written = |name: &str| {
            let lists = [&self.written, &self.patches, &self.commands];
            lists.iter().any(|list| list.contains(&name)) || self.replacements.iter().any(|(_, after)| *after == name)
        };
        member_texts(input, &is_written)
    }

    /// Returns the texts of a file that an input replaces.
    pub fn replaced_texts(&self, input: &str) -> String {
        member_texts(input, &|name| self.replaced.contains(&name))
    }

    fn extend(&mut self, other: InputNames) {
        let InputNames { commands, replaced, written, replacements, edits, patches, patch_starts, patch_files, patch_moves } =
            other;
        for (all, more) in [
            (&mut self.commands, commands),
            (&mut self.replaced, replaced),
            (&mut self.written, written),
            (&mut self.edits, edits),
            (&mut self.patches, patches),
            (&mut self.patch_starts, patch_starts),
            (&mut self.patch_files, patch_files),
            (&mut self.patch_moves, patch_moves),
        ] {
            add(all, more);
        }
        add(&mut self.replacements, replacements);
    }
}

impl PlanNames {
    fn extend(&mut self, other: PlanNames) {
        let PlanNames { lists, texts, created, changed, statuses, done, current, removed } = other;
        for (all, more) in [
            (&mut self.lists, lists),
            (&mut self.texts, texts),
            (&mut self.created, created),
            (&mut self.changed, changed),
            (&mut self.statuses, statuses),
            (&mut self.done, done),
            (&mut self.current, current),
            (&mut self.removed, removed),
        ] {
            add(all, more);
        }
    }
}

/// Adds the values that are not in a list yet; the first stay first.
fn add<T: PartialEq>(all: &mut Vec<T>, more: Vec<T>) {
    for value in more {
        if !all.contains(&value) {
            all.push(value);
        }
    }
}

/// Returns true if a text starts with any of the prefixes.
pub fn starts_with_any(text: &str, prefixes: &[&str]) -> bool {
    prefixes.iter().any(|prefix| text.starts_with(prefix))
}

/// Returns the texts of the members of a JSON input whose names are wanted, a line feed between them; any other input as it is.
fn member_texts(input: &str, is_wanted: &dyn Fn(&str) -> bool) -> String {
    fn collect(value: Value, is_wanted: &dyn Fn(&str) -> bool, texts: &mut Vec<String>) {
        match value {
            Value::Object(members) => members.into_iter().for_each(|(name, value)| match value {
                Value::String(text) if is_wanted(&name) => texts.push(text),
                value => collect(value, is_wanted, texts),
            }),
            Value::Array(values) => values.into_iter().for_each(|value| collect(value, is_wanted, texts)),
            _ => {}
        }
    }
    let mut texts = Vec::new();
    match serde_json::from_str(input) {
        Ok(value) => collect(value, is_wanted, &mut texts),
        Err(_) => texts.push(input.to_owned()),
    }
    texts.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_read_by_the_names_of_their_members() {
        let names = InputNames {
            commands: vec!["run"],
            written: vec!["after"],
            replaced: vec!["old"],
            replacements: vec![("old", "new")],
            ..Default::default()
        };
        let check = |input: &str, expected: &str| assert_eq!(names.written_texts(input), expected, "{input}");
        let edits = r#"{"path":"a.rs","edits":[{"old":"a","new":"b"},{"old":"c","new":"d"}]}"#;
        check(edits, "b\nd");
        check(r#"{"run":"make","timeout":5}"#, "make");
        check("*** a patch", "*** a patch");
        assert_eq!(names.replaced_texts(edits), "a\nc");
    }
}
