//! What no rule shortens: instructions, reminders of a client, texts of hooks and of aperture. And what `--stale` shortens: stale blocks.

use crate::changing::json;
use crate::rows::Rows;
use crate::sandbox::{Sandbox, sample};
use serde_json::{Value, json};

/// Texts that guide the model, each with a word of its own in every line.
fn guide(word: &str) -> String {
    (0..40).map(|line| format!("Rule {line} of {word}: ask {word}_{line} before you change anything in it.\n")).collect()
}

/// The words of the guides in [`session`].
const GUIDES: [&str; 9] =
    ["environment", "skill", "hook", "claudemd", "skillfile", "reminder", "inside", "prompthook", "aperturenote"];

/// A session of Claude Code with every kind of guide in its old part, and results that are stale, referenced and active.
fn session() -> String {
    let mut rows = Rows::new("s", "/w");
    let reminder = |text: &str| format!("<system-reminder>\n{text}\n</system-reminder>");
    let attachment = |kind: &str, word: &str| {
        let rendered = json!([{ "content": reminder(&guide(word)) }]);
        json!({ "attachment": { "type": kind, "content": guide(word) }, "rendered": rendered, "renderedRole": "system" })
    };
    let mut step = 0;
    let mut call = |rows: &mut Rows, name: &str, input: Value, result: String| {
        step += 1;
        let usage = json!({ "input_tokens": 10, "cache_creation_input_tokens": 1_500, "cache_read_input_tokens": 9_000 + step * 1_500, "output_tokens": 60 });
        let call = json!({ "type": "tool_use", "id": format!("toolu_{step}"), "name": name, "input": input });
        rows.model("claude-sonnet-4-6", &format!("msg_{step}"), json!([call]), usage);
        rows.user(json!([{ "type": "tool_result", "tool_use_id": format!("toolu_{step}"), "content": result }]));
    };
    let log = |part: usize| -> String {
        (0..60).map(|line| format!("log {part} line {line}: nothing of note in part_{part}_{line}\n")).collect()
    };
    rows.user("please repair the shop".into());
    rows.add("attachment", attachment("environment", "environment"));
    call(&mut rows, "Bash", json!({ "command": "ls" }), "shop\n".to_owned());
    rows.add("attachment", attachment("hook_additional_context", "hook"));
    rows.add("attachment", attachment("aperture_note", "aperturenote"));
    rows.user(json!([{ "type": "text", "text": guide("skill") }]));
    rows.rows.last_mut().unwrap()["isMeta"] = true.into();
    rows.user(json!([{ "type": "text", "text": reminder(&guide("reminder")) }]));
    let hook = format!("<user-prompt-submit-hook>\n{}</user-prompt-submit-hook>", guide("prompthook"));
    rows.user(json!([{ "type": "text", "text": hook }]));
    call(&mut rows, "Read", json!({ "file_path": "/w/CLAUDE.md" }), guide("claudemd"));
    call(&mut rows, "Bash", json!({ "command": "cat /w/skills/mend/SKILL.md" }), guide("skillfile"));
    call(&mut rows, "Read", json!({ "file_path": "/w/old.log" }), format!("{}\n{}", log(0), reminder(&guide("inside"))));
    for turn in 1..=20 {
        rows.user(format!("now part {turn}").into());
        call(&mut rows, "Bash", json!({ "command": format!("cat part_{turn}.log") }), log(turn));
        // A name of each second result is used again and again.
        let used = format!("grep part_{}_7 part_{}_9 notes", turn / 2 * 2, turn / 2 * 2);
        call(&mut rows, "Bash", json!({ "command": used }), format!("notes: part {turn}\n"));
    }
    rows.text()
}

/// A home with that session.
pub fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.session("11111111-1111-4111-8111-111111111111", session(), 0);
    sandbox
}

/// Returns the guides that the model no longer receives whole.
fn lost(sandbox: &Sandbox) -> Vec<&'static str> {
    let window = sandbox.text(&["transcript", "--raw", "--client-texts"]);
    let is_whole = |word: &str| guide(word).lines().all(|line| window.contains(line));
    GUIDES.into_iter().filter(|word| !is_whole(word)).collect()
}

/// The state of each changed block, before the change.
fn changed_states(sandbox: &Sandbox, line: &str) -> Vec<String> {
    let blocks = json(sandbox, "blocks all", "blocks");
    let state = |number: &Value| {
        let block = blocks["blocks"].as_array().unwrap().iter().find(|block| block["number"] == *number).unwrap();
        block["state"].as_str().unwrap().to_owned()
    };
    let change = json(sandbox, &format!("{line} --dry-run"), "change");
    change["changes"].as_array().unwrap().iter().map(|change| state(&change["number"])).collect()
}

const PRESETS: [&str; 6] = ["lossless", "light", "balanced", "aggressive", "layers", "handoff"];

#[test]
fn stale_shortens_stale_blocks_and_nothing_else() {
    let sandbox = sandbox();
    for preset in PRESETS {
        for line in
            [format!("compress --stale --preset {preset}"), format!("compress all --stale --preset {preset} --level minimal")]
        {
            let states = changed_states(&sandbox, &line);
            // The mildest ones remove only what is repeated.
            let least = if ["lossless", "light"].contains(&preset) { 0 } else { 3 };
            assert!(states.len() >= least && states.iter().all(|state| state == "stale"), "{line}: {states:?}");
        }
    }
    let states = changed_states(&sandbox, "compress --preset balanced");
    assert!(states.iter().any(|state| state == "stale") && states.iter().any(|state| state != "stale"), "{states:?}");
    // A window over its budget gets within it by stale blocks alone, or the command says that it cannot.
    let states = changed_states(&sandbox, "compress --stale --budget 95%");
    assert!(states.iter().all(|state| state == "stale"), "{states:?}");
}

#[test]
fn no_rule_shortens_instructions() {
    let mut lines: Vec<String> = Vec::new();
    lines.extend(PRESETS.map(|preset| format!("compress --stale --preset {preset}")));
    lines.extend(PRESETS.map(|preset| format!("compress --preset {preset}")));
    lines.extend(PRESETS.map(|preset| format!("compress all --preset {preset}")));
    lines.extend(
        ["compress --stale --level minimal", "compress --preset light --level minimal", "compress --budget 70k"]
            .map(str::to_owned),
    );
    lines.extend(["trimmed", "summarized", "minimal"].map(|level| format!("compress all --level {level}")));
    lines.extend(["archive all", "archive turn(1)", "archive kind(attachment)"].map(str::to_owned));
    for line in sample(lines, 4) {
        let sandbox = sandbox();
        assert_eq!(lost(&sandbox), Vec::<&str>::new());
        let words = line.split(' ').map(|word| word.trim_matches('\'')).collect::<Vec<_>>();
        let outcome = sandbox.run(&words);
        // The budget may be smaller than what stays.
        assert!(outcome.code == 0 || line.contains("--budget"), "{line}: {}", outcome.all());
        let lost = lost(&sandbox);
        // A reminder in a result is a part of the block that a person selects.
        let is_selected = words[1] == "all" || words[1].starts_with("turn(");
        let is_by_preset = line.contains("--preset");
        // A digest replaces the results with their reminders.
        let is_replaced = is_selected && !is_by_preset
            || ["layers", "handoff"].iter().any(|preset| line == format!("compress --preset {preset}"));
        let allowed: &[&str] = if is_replaced { &["inside"] } else { &[] };
        assert!(lost.iter().all(|word| allowed.contains(word)), "{line}: {lost:?}\n{}", outcome.all());
    }
}

#[test]
fn instructions_are_shortened_if_a_person_names_their_number() {
    let sandbox = sandbox();
    let blocks = json(&sandbox, "blocks all", "blocks");
    let is_skill = |block: &&Value| block["preview"].as_str().unwrap().starts_with("Rule 0 of skill:");
    let number = blocks["blocks"].as_array().unwrap().iter().find(is_skill).unwrap()["number"].as_u64().unwrap();
    sandbox.done(&format!("compress {number} --level minimal"));
    assert_eq!(lost(&sandbox), ["skill"]);
}

#[test]
fn a_selection_reports_the_instructions_that_it_skips() {
    let report = sandbox().enter("compress all --level minimal").all();
    assert!(report.contains("instructions: only by number"), "{report}");
}

/// A rule that would save next to nothing does nothing, in each form of the report; what the user named, a block or a budget, is done.
#[test]
fn a_change_that_saves_under_one_percent_needs_force() {
    let sandbox = sandbox();
    let before = crate::changing::bytes(&sandbox);
    let total = json(&sandbox, "status", "status")["tokens"]["value"].as_f64().unwrap();
    sandbox.write("aperture.toml", format!("[budget]\ntokens = {}\n", total - 100.0));
    let line = "compress --over-budget".to_owned();
    for line in [line.clone(), format!("{line} --dry-run")] {
        let outcome = sandbox.enter(&line);
        assert_eq!(outcome.code, 0, "{line}");
        assert!(outcome.stdout.starts_with("nothing to do: it would save "), "{}", outcome.all());
        assert!(outcome.stdout.contains(" % of the window; to do it anyway: --force\n"), "{}", outcome.all());
        let change = json(&sandbox, &line, "change");
        assert_eq!((&change["withheld"], &change["edits"], &change["changes"]), (&json!(true), &json!(0), &json!([])), "{line}");
        assert_eq!((&change["price"], &change["operation"]), (&Value::Null, &Value::Null), "{line}");
    }
    assert_eq!(crate::changing::bytes(&sandbox), before);
    for line in [format!("compress --budget {}", total - 100.0), format!("{line} --force")] {
        let change = json(&sandbox, &line, "change");
        assert_eq!(change["withheld"], false, "{line}");
        assert_ne!(change["operation"], Value::Null, "{line}");
        sandbox.done("undo");
    }
}
