use super::*;
use crate::model::{ToolVerb, TraceCall};

/// Returns the events of a session of (command, output, error).
fn events(calls: &[(&str, &str, bool)]) -> Vec<TraceEvent> {
    let mut events = Vec::new();
    let mut block = 0;
    for (command, text, error) in calls {
        let id = Key(u128::from(block) + 1);
        let (tool, verb, command) = match command.strip_prefix("edit ") {
            Some(_) => ("editor", ToolVerb::Edit, None),
            None => ("runner", ToolVerb::Run, Some((*command).to_owned())),
        };
        let call = TraceCall { id, tool: tool.into(), verb, command, ..TraceCall::default() };
        let result = TraceResult { call: id, error: *error, text: (*text).to_owned(), ..TraceResult::default() };
        for content in [TraceContent::Call(call), TraceContent::Result(result)] {
            block += 1;
            events.push(TraceEvent { block, row: format!("r{block}"), time: i64::from(block), turn: 0, content });
        }
    }
    events
}

fn failures(calls: &[(&str, &str, bool)]) -> Vec<Failure> {
    let conventions = Conventions::default();
    let mut fixes = Fixes::default();
    events(calls).iter().for_each(|event| fixes.push(event, &conventions));
    fixes.failures()
}

#[test]
fn a_stored_state_continues() {
    let conventions = Conventions::default();
    let calls = [("gh pr view 3", "no default remote", true), ("edit a", "", false), ("gh pr view 3 --repo a/b", "ok", false)];
    let events = events(&calls);
    for split in 0..events.len() {
        let mut fixes = Fixes::default();
        events[..split].iter().for_each(|event| fixes.push(event, &conventions));
        let mut fixes: Fixes = postcard::from_bytes(&postcard::to_stdvec(&fixes).unwrap()).unwrap();
        events[split..].iter().for_each(|event| fixes.push(event, &conventions));
        assert_eq!(fixes.failures(), failures(&calls), "{split}");
        assert_eq!(fixes.failures()[0].fix.as_ref().map(|fix| fix.place.row.as_str()), Some("r6"));
    }
}

#[test]
fn a_report_refutes_the_last_successes_of_the_turn() {
    let conventions = Conventions::default();
    let fix = [("gh pr view 3", "no default remote", true), ("gh pr view 3 --repo a/b", "ok", false)];
    let last = [("make x", "ok", false), ("make y", "ok", false), ("make z", "ok", false)];
    let check = |calls: &[(&str, &str, bool)], reports: &[bool], is_refuted: bool| {
        let mut fixes = Fixes::default();
        events(calls).iter().for_each(|event| fixes.push(event, &conventions));
        reports.iter().for_each(|is_report| fixes.end_turn(*is_report));
        let found = fixes.failures();
        assert_eq!((found[0].is_refuted, found[0].fix.is_none()), (is_refuted, is_refuted), "{calls:?} {reports:?}");
        let name = ["gh pr view --repo".to_owned()];
        assert!(fixes.worked_since(&name, 3) && !fixes.worked_since(&name, 4));
        assert_eq!(fixes.was_refuted_since(&name, 3), is_refuted);
    };
    check(&fix, &[true], true);
    check(&fix, &[false, true], false);
    check(&[&fix[..], &last[..2]].concat(), &[true], true);
    check(&[&fix[..], &last[..]].concat(), &[true], false);
}

fn advice(calls: &[(&str, &str, bool)]) -> Vec<Option<String>> {
    failures(calls).into_iter().map(|failure| failure.fix.map(|fix| fix.text)).collect()
}

#[test]
fn a_changed_call_that_works_is_a_fix() {
    let check =
        |calls: &[(&str, &str, bool)], expected: &str| assert_eq!(advice(calls), [Some(expected.to_owned())], "{calls:?}");
    check(&[("gh pr view 3", "no default remote", true), ("gh pr view 3 --repo a/b", "ok", false)], "add `--repo a/b`");
    check(
        &[("tool -o x ./all/...", "tool: cannot write two to x", true), ("tool -o x ./all/one", "", false)],
        "use `./all/one` instead of `./all/...`",
    );
    check(&[("python a.py", "zsh: command not found: python", true), ("python3 a.py", "1", false)], "use `python3` instead");
    check(
        &[("mise task ls all:b", "unexpected argument 'all:b' found", true), ("mise run all:b", "1", false)],
        "use `mise run all:b` instead",
    );
    check(
        &[
            ("gh pr list", "run gh auth login first: not logged in", true),
            ("gh auth login", "", false),
            ("gh pr list", "ok", false),
        ],
        "first run `gh auth login`",
    );
}

#[test]
fn a_change_that_another_failed_call_has_is_no_fix() {
    let error = "no default remote: name the repository";
    for (between, is_fix) in [
        (None, true),
        (Some(("gh pr view 3 --repo a/b", error, true)), false),
        (Some(("gh pr view 3 --json x", error, true)), true),
    ] {
        let fixed = ("gh pr view 3 --repo a/b", "ok", false);
        let calls: Vec<_> = [("gh pr view 3", error, true)].into_iter().chain(between).chain([fixed]).collect();
        assert_eq!(advice(&calls).iter().flatten().count() > 0, is_fix, "{calls:?}");
    }
}

#[test]
fn a_cure_is_named_by_the_error() {
    let is_named = |failed: &str, error: &str, worked: &str| {
        failures(&[(failed, error, true), (worked, "ok", false)])[0].fix.as_ref().map(|fix| fix.is_named)
    };
    for (failed, error, worked, expected) in [
        ("git commit -m x", "error: gpg failed to sign the data: unknown option", "git commit --no-gpg-sign -m x", None),
        ("gh pr view 3", "unknown repository: no default remote", "gh pr view 3 --repo a/b", Some(true)),
        ("gh run view --json runAttempt", "Unknown JSON field: \"runAttempt\"", "gh run view --json attempt", Some(true)),
        ("gh pr view --json reviewThreads", "Unknown JSON field: \"reviewThreads\"", "gh pr view --json updatedAt", Some(false)),
        ("tool run a::b c::d", "error: unexpected argument 'c::d' found", "tool run a::b", Some(false)),
        ("gh pr view 3", "no default remote", "gh pr view 3 -R a/b", Some(false)),
    ] {
        let found = is_named(failed, error, worked);
        assert!(expected.is_none() || found == expected, "{failed} {found:?}");
    }
}

#[test]
fn a_credential_enters_neither_a_text_nor_the_state() {
    let secret = ["ghp_", "0123456789abcdefghij0123456789abcdef"].concat();
    let call = format!("tool get --key {secret}");
    let calls = [("tool get", "missing required key", true), (call.as_str(), "ok", false)];
    let conventions = Conventions::default();
    let mut fixes = Fixes::default();

    for event in &events(&calls) {
        fixes.push(event, &conventions);
        let state = postcard::to_stdvec(&fixes).unwrap();
        assert!(!state.windows(secret.len()).any(|window| window == secret.as_bytes()));
    }
    assert_eq!(fixes.failures().len(), 1);
}

#[test]
fn failures_of_the_code_are_not_learned() {
    let check = |calls: &[(&str, &str, bool)]| assert!(advice(calls).is_empty(), "{calls:?}");
    check(&[("make test", "src/a.c:3: error: missing brace", true), ("make test -k", "ok", false)]);
    check(&[("make test", "boom", true), ("edit a", "", false), ("make test", "ok", false)]);
    check(&[("cat a.txt", "cat: a.txt: No such file or directory", true), ("cat b.txt", "", false)]);
    check(&[("ssh host 'one thing'", "strange", true), ("ssh host 'other thing'", "", false)]);
    check(&[("git push", "connection refused", true), ("git push", "ok", false)]);
}

#[test]
fn a_missing_program_is_a_fact() {
    let found = failures(&[("frob -x", "bash: line 1: frob: command not found", true)]);
    assert_eq!(
        (found[0].head.as_str(), found[0].nature, found[0].missing_program.as_deref()),
        ("frob", Nature::Environment, Some("frob"))
    );
}
