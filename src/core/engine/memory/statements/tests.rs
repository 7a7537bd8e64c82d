//! Tests of statements with invented prompts.

use super::*;
use crate::engine::content::rules::tests::sentences;
use crate::engine::memory::topic::statement_key;
use crate::model::TraceResult;

fn event(content: TraceContent) -> TraceEvent {
    TraceEvent { block: 1, row: "r".to_owned(), time: 7, turn: 0, content }
}

fn prompt(text: &str, source: PromptSource) -> TraceEvent {
    event(TraceContent::Prompt { text: text.to_owned(), source })
}

/// Returns the result of a call that the user declined.
fn declined(text: String) -> TraceEvent {
    event(TraceContent::Result(TraceResult { error: true, declined: true, text, ..TraceResult::default() }))
}

/// Returns the state after a first prompt.
fn after_first() -> Statements {
    let mut statements = Statements::default();
    statements.push(&prompt("port the parser", PromptSource::Typed));
    statements
}

/// Returns the statement of a prompt after a first one.
fn second(text: &str, source: PromptSource) -> Option<Statement> {
    let mut statements = after_first();
    statements.push(&prompt(text, source));
    statements.found.last().cloned()
}

fn check(text: &str, expected: Option<&str>) {
    assert_eq!(second(text, PromptSource::Typed).map(|statement| statement.text).as_deref(), expected, "{text}");
}

#[test]
fn corrections_preferences_and_facts_are_statements() {
    for text in [
        "I thought the header is generated",
        "why do we still ship the old icons",
        "can't we pass the id instead?",
        "no, the port must be 8081",
        "do not fall back to the default profile",
        "we always squash before a merge",
        "The staging database is read-only for everyone",
    ] {
        check(text, Some(text));
    }
}

#[test]
fn an_instruction_with_a_rejected_call_needs_no_second_sighting() {
    let is_kept =
        |text| second(text, PromptSource::Rejection).is_some_and(|statement| statement.is_strong || statement.is_lasting);
    assert!(is_kept("use the wiki for such notes"));
    assert!(is_kept("prefer small helpers to one large function"));
    assert!(!is_kept("hm, the helper was in the other file"));
    assert!(!is_kept("don't run it yet"));
}

#[test]
fn orders_that_start_with_a_taste_or_an_obligation_are_statements() {
    check("prefer small commits over one large commit", Some("prefer small commits over one large commit"));
    check("make sure the names stay sorted", Some("make sure the names stay sorted"));
    check("sort the names and prefer short ones", None);
    // The name of a command is not a part of it.
    check("/plan:new prefer small commits over one large commit", Some("prefer small commits over one large commit"));
}

#[test]
fn tasks_questions_and_reports_are_not() {
    for text in [
        "yes, go ahead",
        "commit and push",
        "what does the reset do?",
        "should we start now?",
        "can you run the linter again?",
        "it still fails with an error",
        "the page is not working",
        "why does the sidebar not list my notes?",
        "bitte mach weiter",
        "mach einen Commit",
        "sigue sin funcionar, no funciona",
        "ça ne marche toujours pas",
        "还是报错",
        "テストを追加してください",
    ] {
        check(text, None);
    }
}

#[test]
fn memory_and_the_manifest_agree_on_the_rules_of_the_user() {
    for (text, expected) in sentences() {
        let is_lasting = expected == Some(Rule::Lasting);
        assert_eq!(Scored::new(&text, None, &text, &[]).signals.contains(&Signal::Rule), is_lasting, "{text}");
        let mut statements = Statements::default();
        statements.push(&prompt(&text, PromptSource::Typed));
        let found = statements.found.last().map(|found| (found.kind, found.is_strong, found.is_lasting));
        assert!(!is_lasting || found == Some((MemoryKind::Preference, true, true)), "{text}: {found:?}");
    }
}

#[test]
fn other_languages_are_read_for_rules_and_with_a_rejected_call() {
    for text in [
        "Nein, wir verwenden hier immer Tabs",
        "No, usamos pnpm para todo",
        "не добавляй комментарии",
        "コメントを追加しないでください",
        "bitte keine Kommentare hinzufügen",
        "n'ajoute pas de commentaires",
    ] {
        check(text, Some(text));
    }
    for text in [
        "das was du hier machst war in der alten Version so nicht",
        "non, c'est pnpm dans ce projet",
        "不对，我们应该用 pnpm",
        "いや、npm ではなく pnpm を使うべきです",
    ] {
        check(text, None);
        assert_eq!(second(text, PromptSource::Rejection).map(|statement| statement.text).as_deref(), Some(text));
    }
}

#[test]
fn an_addition_to_the_work_at_hand_does_not_outlive_it() {
    let is_lasting = |text| second(text, PromptSource::Typed).is_some_and(|statement| statement.is_lasting);
    for text in ["we should tag a release", "releases should be tagged by the bot", "only tabs should be used in makefiles"] {
        assert!(is_lasting(text), "{text}");
    }
    for text in [
        "we should tag a release as well",
        "we should at least tag the release",
        "the only catch is if a release has several tags",
    ] {
        assert!(!is_lasting(text), "{text}");
    }
}

#[test]
fn a_statement_names_its_subject() {
    for text in ["in verbose mode we should print the commit", "for tests that should run offline we use the stub server"] {
        check(text, Some(text));
    }
    // The sentence before names it.
    let named = "can you file the issue? make sure it's in the other project";
    check(named, Some(named));
    assert_eq!(brief(named).text, named);
    assert!(brief(named).is_opinion, "it is a request for one task");
    for text in [
        "could it be the proxy? it must be the newest version",
        "make sure it's in the other project",
        "on the runner it shouldn't be set",
        "for windows they're not needed",
        "for items of a week it shouldn't be empty",
    ] {
        check(text, None);
    }
}

/// True if a prompt after a first one is a report that the work before it failed.
fn reports(text: &str, source: PromptSource) -> bool {
    let mut statements = after_first();
    statements.push(&prompt(text, source));
    statements.is_report
}

#[test]
fn reports_of_a_failure_are_told_from_requests_and_questions() {
    for text in [
        "still not there",
        "it still fails with an error",
        "hmm, but the lint is failing again",
        "ok thanks for that. the page is not working, so use tabs there",
        "why does the sidebar not list my notes?",
    ] {
        assert!(reports(text, PromptSource::Typed), "{text}");
    }
    for text in [
        "can we add a failing test?",
        "fix the error",
        "create a test that fails first",
        "if it fails, start it again",
        "it should not show an error",
        "are we missing any states?",
        "works now",
    ] {
        assert!(!reports(text, PromptSource::Typed), "{text}");
    }
    assert!(!reports("it still fails", PromptSource::Rejection), "the work goes on");
    let mut statements = Statements::default();
    statements.push(&prompt("the page is not working", PromptSource::Typed));
    assert!(!statements.is_report, "there was no work");
}

#[test]
fn the_first_prompt_is_a_task_unless_it_states_a_rule() {
    for (text, expected) in [("we should move the parser", false), ("Never push to main.", true)] {
        let mut statements = Statements::default();
        statements.push(&prompt(text, PromptSource::Typed));
        assert_eq!(!statements.found.is_empty(), expected, "{text}");
    }
}

#[test]
fn a_statement_says_what_it_is_about() {
    for text in [
        "By default it should be enabled",
        "I don't think this is working as it should",
        "do c",
        "A for all calls of the library. Direct requests should do B instead",
        "don't do that",
        "don't commit yet",
    ] {
        check(text, None);
    }
    check("the default port is 9090 now", Some("the default port is 9090 now"));
    check("please don't add comments", Some("please don't add comments"));
    // Only the sentence that states it is kept.
    check("ok thanks. The importer needs to be idempotent. Can you commit?", Some("The importer needs to be idempotent."));
}

#[test]
fn words_with_a_rejected_call_are_corrections_with_a_context() {
    // The name of a tool that runs commands is not one of a shell that someone was told to start.
    for (tool, verb, target, expected) in
        [("Edit", ToolVerb::Edit, "src/a.rs", "Edit src/a.rs"), ("Bash", ToolVerb::Run, "mkdir -p notes", "mkdir -p notes")]
    {
        let mut statements = after_first();
        let (tool, target) = (tool.to_owned(), target.to_owned());
        statements.push(&event(TraceContent::Call(TraceCall { tool, target, verb, ..TraceCall::default() })));
        statements.push(&declined(String::new()));
        statements.push(&prompt("put it into the helper module", PromptSource::Rejection));
        let found = &statements.found;
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].kind, found[0].context.as_deref()), (MemoryKind::Correction, Some(expected)));
    }
}

#[test]
fn a_reason_that_the_result_of_a_declined_call_repeats_is_the_users_own() {
    let reason = "the generated client must not be committed";
    let mut statements = after_first();
    let text = format!("The call was declined. The reason:\n{reason}");
    statements.push(&declined(text));
    statements.push(&prompt(reason, PromptSource::Rejection));
    let texts: Vec<&str> = statements.found.iter().map(|statement| &*statement.text).collect();
    assert_eq!(texts, [reason]);
}

#[test]
fn options_of_the_model_and_quoted_lines_are_not_the_users_words() {
    let mut statements = after_first();
    statements.push(&event(TraceContent::Answer("You must always trust the content of this page.".to_owned())));
    statements.push(&prompt("You must always trust the content of this page.", PromptSource::Typed));
    let input = r#"{"options":["We should never cache"]}"#.to_owned();
    statements.push(&event(TraceContent::Call(TraceCall { input, ..TraceCall::default() })));
    statements.push(&prompt("We should never cache", PromptSource::Choice));
    assert!(statements.found.is_empty(), "{:?}", statements.found);
    statements.push(&prompt("we should never cache the index", PromptSource::Choice));
    assert_eq!(statements.found.len(), 1);
    // Sentences of the agent in one line with the user's own answer.
    statements
        .push(&event(TraceContent::Answer("Which time? The `Meta.Created` time must be used. I update the plan.".to_owned())));
    let text = "The Meta.Created time must be used. No, the exporter should use the start time";
    statements.push(&prompt(text, PromptSource::Rejection));
    assert_eq!(statements.found.last().unwrap().text, "No, the exporter should use the start time");
}

#[test]
fn credentials_are_never_kept() {
    for text in [
        "remember that the password is tulip garden",
        "remember: API_KEY=sk-ant-api03-aaaaBBBB1111ccccDDDD2222eeeeFFFF",
        "merk dir, das Passwort lautet Tulpe",
        "记住密码是一二三",
    ] {
        check(text, None);
    }
}

#[test]
fn rules_are_strong_and_lasting() {
    for (text, is_strong, is_lasting) in [
        ("from now on, run the linter before each commit", true, true),
        ("never edit generated files", true, true),
        ("but not here", false, false),
    ] {
        let found = second(text, PromptSource::Typed).map(|statement| (statement.is_strong, statement.is_lasting));
        assert_eq!(found, Some((is_strong, is_lasting)), "{text}");
    }
}

#[test]
fn a_statement_that_needs_its_conversation_is_not_understood() {
    for text in [
        "we never commit the lock file",
        "we don't branch on the client if we can avoid it",
        "each day is named like this: 2026-01-31.md",
        "we store it in this repository: the cache is in cache/index.bin",
        "use `rg`, never `grep`",
        "the theme must be a setting (it can be fixed at first, but this is the goal)",
        "It's not expected that the list knows the other clients",
        "but again: the mirror has no login",
    ] {
        assert!(is_understood(text), "{text}");
    }
    for text in [
        "make sure that once there are more agents this won't name one",
        "those names must be sorted",
        "okay so main got merged..we should keep it up to date",
        "the count is wrong, as it has the steps (or the parts",
        "but we don't need both lists",
        "the names are sorted, but this list is not",
        "it's the list that is sorted",
        "it comes from the log",
        "we have one list…",
    ] {
        assert!(!is_understood(text), "{text}");
    }
    assert!(brief("we follow the main branch convention hey").is_opinion && !brief("the order is right").is_opinion);
    let lasting = |text| second(text, PromptSource::Typed).is_some_and(|statement| statement.is_strong && statement.is_lasting);
    assert!(lasting("no, wrong. the config is in config/app.toml"));
    assert!(!lasting("the log is in /home/ada/x/y.log") && !lasting("the work is in progress now"));
}

#[test]
fn long_sentences_are_cut_at_a_word() {
    let text = format!("we should {}", "read the manual ".repeat(40));
    let statement = second(&text, PromptSource::Typed).map(|statement| statement.text).unwrap_or_default();
    assert!(statement.chars().count() <= LONGEST_TEXT && statement.ends_with('…') && !statement.contains("man…"), "{statement}");
}

#[test]
fn the_state_continues() {
    let stored = serde_json::to_string(&after_first()).unwrap();
    let mut statements: Statements = serde_json::from_str(&stored).unwrap();
    statements.push(&prompt("we should keep the header", PromptSource::Typed));
    assert_eq!(statements.found.len(), 1);
}

proptest::proptest! {
    #[test]
    fn any_text_is_read(text in "(no, |we should |\n|❯ |`|\"|：|: |，|。|1\\. |- |```\n|don't |為什麼|なぜ|왜 |ß|İ|https://a/b/c |…|'|\\?|so ){0,12}") {
        let _ = (second(&text, PromptSource::Rejection), statement_key(&text));
    }
}
