//! The client of a Chat Completions request: any program, of which only its habits with tools are assumed.

use super::tools::WRITTEN;
use crate::model::{Conventions, InputNames, PlanNames};
use crate::provider::{Client, Variables};

/// A program that speaks to an OpenAI-compatible API.
pub(super) struct AnyClient;

impl Client for AnyClient {
    methods! {
        agent() -> &'static str = "an OpenAI-compatible client";
        api_base_url() -> &'static str = "https://api.openai.com/v1";
        variables() -> Variables = Variables { home: "", api_base_url: "OPENAI_BASE_URL", session: None, project: None };
    }

    /// Returns the names that are usual in the inputs of tools of coding agents.
    fn conventions(&self) -> Conventions {
        Conventions {
            inserted_tags: vec!["system-reminder", "environment_details"],
            inputs: InputNames {
                commands: vec!["command", "cmd"],
                replaced: vec!["oldString", "old_string", "old_str"],
                written: WRITTEN.to_vec(),
                replacements: vec![("oldString", "newString"), ("old_string", "new_string"), ("old_str", "new_str")],
                edits: vec!["edits"],
                ..InputNames::default()
            },
            plans: PlanNames {
                lists: vec!["todos"],
                texts: vec!["content", "text"],
                statuses: vec!["status"],
                done: vec!["completed", "done"],
                current: vec!["in_progress"],
                removed: vec!["cancelled"],
                ..PlanNames::default()
            },
            ..Conventions::default()
        }
    }
}
