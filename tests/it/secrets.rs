//! Credentials: never printed, never in an index, found by `check`, replaced by `redact`, refused by the git hooks.

use crate::rows::Rows;
use crate::sandbox::{Outcome, Sandbox, all_or, contents_below, sample};
use aperture::store::Store;
use expect_test::expect;
use serde_json::json;
use std::fs;
#[cfg(unix)]
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

/// The part of a key that looks random.
const RANDOM: &str = "q7Rz2mWk9TxB4lNvC8dFq7Rz2mWk9TxB4lNv";

/// One credential for each place in [`planted`]. They are put together here, so that no scanner takes this file for a leak.
fn keys() -> Vec<String> {
    let numbered = |number: usize| format!("{number}{}", &RANDOM[1..]);
    vec![
        format!("ghp_{}", numbered(1)),
        format!("sk-ant-api03-{}", numbered(2)),
        format!("xoxb-{}", numbered(3)),
        format!("AKIA{}", "Q7RZ2MWK9TXB4LNV"),
        format!("AIza{}", &numbered(4)[..35]),
        format!("eyJ{}.eyJ{}.{}", "hbGciOiJIUzI1NiJ9", "zdWIiOiIxMjM0NTY3ODkwIn0", numbered(5)),
        format!("glpat-{}", numbered(6)),
        format!("npm_{}", numbered(7)),
        format!("hf_{}", numbered(8)),
        format!("sk_live_{}", numbered(9)),
        "hunter2hunter2x".to_owned(),
        "s3cr3tpw9".to_owned(),
    ]
}

/// A session with a credential in each place: prompt, title, answer, tool input, path, results and their copies, to-dos,
/// attachment, branch, last prompt, summary.
fn planted() -> String {
    let k = keys();
    let padding = "word ".repeat(21);
    let rows = [
        format!(
            r#"{{"type":"user","uuid":"a","parentUuid":null,"sessionId":"S","cwd":"/home/dev/shop","gitBranch":"feature-{}","version":"2.1.330","timestamp":"2026-11-21T21:00:00.000Z","message":{{"role":"user","content":"use {} to fix the deploy of the shop"}}}}"#,
            k[8], k[0]
        ),
        format!(
            r#"{{"type":"assistant","uuid":"b","parentUuid":"a","sessionId":"S","timestamp":"2026-11-21T21:00:05.000Z","message":{{"id":"m1","type":"message","role":"assistant","model":"claude-opus-4-5-20251101","content":[{{"type":"text","text":"I decided to use {} because the deploy needs it. {padding}{} is next."}}],"usage":{{"input_tokens":12,"cache_read_input_tokens":9000,"output_tokens":7}}}}}}"#,
            k[1], k[9]
        ),
        format!(
            r#"{{"type":"assistant","uuid":"c","parentUuid":"b","sessionId":"S","timestamp":"2026-11-21T21:00:06.000Z","message":{{"id":"m2","role":"assistant","model":"claude-opus-4-5-20251101","content":[{{"type":"tool_use","id":"toolu_01","name":"Bash","input":{{"command":"curl -H 'Authorization: Bearer {}' https://app:{}@db.internal/x","description":"deploy"}}}}],"usage":{{"input_tokens":9,"cache_read_input_tokens":10001,"output_tokens":60}}}}}}"#,
            k[2], k[11]
        ),
        format!(
            r#"{{"type":"user","uuid":"d","parentUuid":"c","sessionId":"S","timestamp":"2026-11-21T21:00:07.000Z","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"toolu_01","content":"AWS_KEY={}\nDB_PASSWORD={}\nError: failed"}}]}},"toolUseResult":{{"stdout":"AWS_KEY={}\nDB_PASSWORD={}","stderr":""}}}}"#,
            k[3], k[10], k[3], k[10]
        ),
        format!(
            r#"{{"type":"assistant","uuid":"e","parentUuid":"d","sessionId":"S","timestamp":"2026-11-21T21:00:08.000Z","message":{{"id":"m3","role":"assistant","model":"claude-opus-4-5-20251101","content":[{{"type":"tool_use","id":"toolu_02","name":"Read","input":{{"file_path":"/home/dev/shop/{}/a.rs"}}}},{{"type":"tool_use","id":"toolu_03","name":"TodoWrite","input":{{"todos":[{{"content":"rotate {}","status":"pending","activeForm":"rotating"}}]}}}}],"usage":{{"input_tokens":9,"cache_read_input_tokens":10101,"output_tokens":60}}}}}}"#,
            k[4], k[5]
        ),
        format!(
            r#"{{"type":"user","uuid":"f","parentUuid":"e","sessionId":"S","timestamp":"2026-11-21T21:00:09.000Z","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"toolu_02","content":[{{"type":"text","text":"1\tlet key = \"{}\";\n2\tdone"}}]}},{{"type":"tool_result","tool_use_id":"toolu_03","content":"ok"}}]}}}}"#,
            k[6]
        ),
        format!(
            r#"{{"type":"attachment","uuid":"g","parentUuid":"f","sessionId":"S","timestamp":"2026-11-21T21:00:10.000Z","attachment":{{"type":"note","token":"{}"}},"rendered":[{{"content":"<system-reminder>\n{}\n</system-reminder>"}}],"renderedRole":"user"}}"#,
            k[7], k[7]
        ),
        format!(
            r#"{{"type":"assistant","uuid":"h","parentUuid":"g","sessionId":"S","timestamp":"2026-11-21T21:00:11.000Z","message":{{"id":"m4","role":"assistant","model":"claude-opus-4-5-20251101","content":[{{"type":"text","text":"It uses {} now."}}],"usage":{{"input_tokens":9,"cache_read_input_tokens":10301,"output_tokens":60}}}}}}"#,
            k[6]
        ),
        format!(r#"{{"type":"ai-title","aiTitle":"deploy with {}","sessionId":"S"}}"#, k[0]),
        format!(r#"{{"type":"summary","summary":"shop deploy {}","leafUuid":"h"}}"#, k[1]),
        format!(r#"{{"type":"last-prompt","lastPrompt":"use {} to fix","leafUuid":"h","sessionId":"S"}}"#, k[0]),
    ];
    rows.join("\n") + "\n"
}

fn sandbox() -> (Sandbox, PathBuf) {
    let sandbox = Sandbox::new();
    let path = sandbox.session("abc1", planted(), 0);
    (sandbox, path)
}

/// Returns the credentials that occur in some bytes: as a whole, or more than their prefix.
fn shown(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes);
    keys().into_iter().filter(|key| text.contains(&key[..key.len().min(14)])).collect()
}

fn hidden(outcome: &Outcome, what: &str) {
    let all = format!("{}{}", outcome.stdout, outcome.stderr);
    assert_eq!(shown(all.as_bytes()), [""; 0], "{what}\n{all}");
}

const READING: &[&str] = &[
    "",
    "status",
    "sessions",
    "manifest",
    "manifest --tier summary",
    "manifest --tier detailed",
    "manifest --tier full",
    "blocks all",
    "blocks --tree",
    "summary",
    "summary --full --turn 1",
    "explain 1",
    "explain 3",
    "explain 4",
    "explain 5",
    "recall deploy",
    "recall key",
    "log",
    "diff",
    "check",
    "verify",
    "compress all --dry-run",
    "redact --whole-file --dry-run",
    "archive 4 --dry-run",
];

#[test]
fn no_list_shows_a_credential() {
    let (sandbox, _) = sandbox();
    // The planted credentials are present: the test can fail.
    assert!(shown(sandbox.text(&["show", "all", "--raw"]).as_bytes()).len() > 6);
    let look = |first: usize, when: &str| {
        for line in sample(READING.iter().skip(all_or(0, first)), 2) {
            for more in [&[][..], &["--json"]] {
                let words: Vec<&str> = line.split_whitespace().chain(more.iter().copied()).collect();
                hidden(&sandbox.run(&words), &format!("{when}: {words:?}"));
            }
        }
    };
    look(0, "as it is");
    let typed = format!("token={}", keys()[10]);
    for words in [
        &["update", "4", "gone"][..],
        &["compress", "6", "--level", "minimal"],
        &["create", &typed],
        &["archive", "2", "--reason", &typed],
    ] {
        hidden(&sandbox.run(words), &format!("{words:?}"));
    }
    look(1, "changed");
    for step in ["diff original", "diff --from original --to 1", "log", "log --json"] {
        hidden(&sandbox.run(&step.split(' ').collect::<Vec<_>>()), step);
    }
    hidden(&sandbox.run(&["undo"]), "undo");
    // Neither does the cache: not in clear.
    for (name, least) in [("cache.db", 1000), ("totals", 100)] {
        let cache = fs::read(sandbox.home.join(".aperture/cache").join(name)).unwrap();
        assert!(cache.len() > least);
        assert_eq!(shown(&cache), [""; 0], "{name}");
    }
}

#[test]
fn a_value_that_a_call_names_is_masked_in_searches_and_memories() {
    let sandbox = Sandbox::new();
    let value = format!("Kp3{}", &RANDOM[..9]);
    let mut rows = Rows::new("66660000-0000-4000-8000-000000000001", "/home/dev/shop").from("2026-11-20T21:00:00Z");
    let command = format!("deploy --api-key {value} && curl -u admin:{value} http://a.example/");
    rows.prompt("Please deploy the shop.");
    rows.call("Bash", json!({"command": command}), "deployed");
    rows.prompt(&format!("Never use {value} on the staging server."));
    rows.answer(&format!("I will use {value} in production only."));
    sandbox.session("66660000-0000-4000-8000-000000000001", rows.text(), 1_900_000_000);
    for line in [
        "memory learn --project /home/dev/shop",
        "memory list --project /home/dev/shop",
        "memory compose --project /home/dev/shop",
        "memory compose --project /home/dev/shop --prompt staging-server",
        "memory search production --project /home/dev/shop",
        "search staging server",
        "search --json staging server",
        "search --literal production",
        "search --json-lines --max-tokens 500 production",
    ] {
        let outcome = sandbox.run(&line.split(' ').collect::<Vec<_>>());
        assert!(!outcome.all().contains(&value), "{line}: {}", outcome.all());
    }
    let found = sandbox.text(&["search", "staging", "server"]);
    assert!(found.contains("Never use [secret:"), "{found}");
    for file in ["cache/memory.db", "memory/projects"] {
        let output = Command::new("grep").args(["-r", &value]).arg(sandbox.home.join(".aperture").join(file)).output().unwrap();
        assert!(output.stdout.is_empty(), "{file}");
    }
}

/// Returns the content of the file with credentials masked by the engine itself.
fn masked(bytes: &[u8]) -> Vec<u8> {
    let lines = bytes.split_inclusive(|byte| *byte == b'\n');
    lines
        .flat_map(|line| aperture::engine::masked(line, &aperture::engine::find_secrets(line)).unwrap_or(line.to_vec()))
        .collect()
}

#[test]
fn redact_changes_the_bytes_of_credentials_and_nothing_else() {
    let (sandbox, path) = sandbox();
    let before = fs::read(&path).unwrap();
    assert_eq!(shown(&before).len(), keys().len());
    sandbox.text(&["redact", "--whole-file", "--dry-run"]);
    assert_eq!(fs::read(&path).unwrap(), before);
    let said = sandbox.run(&["redact", "--whole-file"]);
    assert_eq!(said.code, 0, "{}", said.all());
    hidden(&said, "redact");
    let after = fs::read(&path).unwrap();
    assert_eq!(shown(&after), [""; 0]);
    // The figures that the client reads are adjusted to the sent content; everything else is unchanged.
    let figures = |bytes: &[u8]| {
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        let parts: Vec<String> =
            text.split("_tokens\":").map(|part| part.trim_start_matches(|c: char| c.is_ascii_digit()).to_owned()).collect();
        parts.join("#")
    };
    assert_eq!(figures(&after), figures(&masked(&before)));
    assert_eq!(sandbox.run(&["check", "--no-secrets"]).code, 0);
    let again = sandbox.text(&["redact", "--whole-file"]);
    assert!(again.starts_with("nothing to do"), "{again}");
    assert_eq!(sandbox.run(&["verify"]).code, 0);
    // Blocks made from a redacted block stay redacted.
    sandbox.run(&["archive", "4"]);
    sandbox.run(&["expand", "4"]);
    assert_eq!(shown(&fs::read(&path).unwrap()), [""; 0]);
    while sandbox.run(&["undo"]).code == 0 {}
    assert_eq!(fs::read(&path).unwrap(), before);
    sandbox.text(&["redo"]);
    sandbox.text(&["restore", "original"]);
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn redact_of_a_block_leaves_the_others() {
    let (sandbox, path) = sandbox();
    let before = fs::read(&path).unwrap();
    let said = sandbox.text(&["redact", "1"]);
    expect![[r#"
        1 credential redacted
          #1  "use [secret:github-token] to fix the deploy of the sh…  redacted  42 → 15
        −27 tokens (10k → 10k)
        the cache has expired (idle 2 h): saves <$0.001 a turn, costs nothing now
        the client will show the new fill level; programs that add up bills (ccusage) count less for the last response
        1 github-token
        18 credentials elsewhere in the file; to replace these too: --whole-file
        credentials in 1 stored original; to remove these permanently: --forget --yes
        operation 1; to revert: aperture undo -s abc1
    "#]]
    .assert_eq(&said);
    let after = String::from_utf8(fs::read(&path).unwrap()).unwrap();
    assert!(after.lines().next().unwrap().contains("use [secret:github-token] to fix"));
    assert_eq!(after.matches(&keys()[0]).count(), 2);
    sandbox.text(&["undo"]);
    assert_eq!(fs::read(&path).unwrap(), before);
}

/// Every value in the store.
fn stored(sandbox: &Sandbox) -> Vec<u8> {
    let store = Store::open_existing(&sandbox.home.join(".aperture")).unwrap().unwrap();
    store.addresses().unwrap().iter().flat_map(|address| store.original(address).unwrap()).collect()
}

#[test]
fn forgotten_credentials_are_gone() {
    let (sandbox, path) = sandbox();
    // Operations before it hold credentials as well.
    sandbox.text(&["archive", "2"]);
    assert!(!shown(&stored(&sandbox)).is_empty());
    let before = fs::read(&path).unwrap();
    let asked = sandbox.text(&["redact", "--whole-file", "--forget"]);
    assert!(asked.contains("to apply: --yes"), "{asked}");
    assert_eq!(fs::read(&path).unwrap(), before);
    let said = sandbox.text(&["redact", "--whole-file", "--forget", "--yes"]);
    assert!(said.contains("caches deleted: no undo restores the credentials") && !said.contains("aperture undo"), "{said}");
    assert_eq!(shown(&stored(&sandbox)), [""; 0]);
    for file in ["store.db", "store.db-wal"] {
        assert_eq!(shown(&fs::read(sandbox.home.join(".aperture").join(file)).unwrap_or_default()), [""; 0], "{file}");
    }
    let verified = sandbox.text(&["verify"]);
    for line in [
        "; no undo restores the credentials that were deleted\n",
        "ok  the credentials that operation 1 replaced were deleted and cannot be restored\n",
        "ok  the credentials that operation 2 replaced were deleted and cannot be restored\n",
    ] {
        assert!(verified.contains(line), "{line}{verified}");
    }
    let refused = sandbox.run(&["undo"]);
    assert_eq!(refused.code, 1);
    assert!(refused.stderr.contains("were deleted and cannot be restored"), "{}", refused.stderr);
    // An earlier operation can still be undone, except for the redacted parts.
    let undone = sandbox.run(&["undo", "1"]);
    assert_eq!(undone.code, 0, "{}", undone.all());
    assert!(sandbox.text(&["show", "2"]).contains("[secret:"));
    assert_eq!(shown(&fs::read(&path).unwrap()), [""; 0]);
    assert_eq!(sandbox.run(&["verify"]).code, 0, "{}", sandbox.run(&["verify"]).all());
}

#[test]
fn commands_of_the_model_are_redacted_too() {
    let sandbox = Sandbox::of("tools-and-spill");
    let key = &keys()[1];
    crate::obeying::say(&sandbox, &format!("@create(\"the key is {key}\") @archive(16, reason: {key}) @pin(no such {key})"));
    let store = |sandbox: &Sandbox| {
        let files =
            ["store.db", "store.db-wal"].map(|file| fs::read(sandbox.home.join(".aperture").join(file)).unwrap_or_default());
        String::from_utf8_lossy(&files.concat()).contains(key)
    };
    sandbox.text(&["obey"]);
    assert!(store(&sandbox));
    let refused = sandbox.run(&["snapshot", "save", key]);
    assert_eq!((refused.code, refused.stderr.contains(key)), (2, false), "{}", refused.stderr);
    sandbox.text(&["redact", "--whole-file", "--forget", "--yes"]);
    assert!(!store(&sandbox));
    assert_eq!(sandbox.run(&["approve", "2"]).code, 0);
}

#[test]
fn skipped_thinking_and_broken_rows_are_reported() {
    let sandbox = Sandbox::new();
    let key = &keys()[0];
    let rows = format!(
        "{}\n{}\n{{\"type\":\"user\",\"broken {key}\n",
        r#"{"type":"user","uuid":"a","parentUuid":null,"sessionId":"S","version":"2.1.330","message":{"role":"user","content":"hi"}}"#,
        format_args!(
            r#"{{"type":"assistant","uuid":"b","parentUuid":"a","sessionId":"S","message":{{"id":"m","role":"assistant","model":"claude-opus-4-5","content":[{{"type":"thinking","thinking":"{key}","signature":"c2ln"}}],"usage":{{"input_tokens":3,"output_tokens":4}}}}}}"#
        )
    );
    let path = sandbox.session("abc1", &rows, 0);
    let said = sandbox.text(&["redact", "--whole-file"]);
    expect![[r#"
        nothing to do: skipped: 1 row (3): broken, or without an identity
          skipped #2 (thinking is signed and stays whole)
    "#]]
    .assert_eq(&said);
    assert_eq!(fs::read_to_string(&path).unwrap(), rows);
    assert_eq!(sandbox.run(&["check", "--no-secrets"]).code, 1);
}

#[test]
fn check_reports_limits() {
    let (sandbox, _) = sandbox();
    let screen = |words: &[&str]| sandbox.run(words).all();
    expect![[r#"
        HOME/.claude/projects/SLUG/abc1.jsonl
          max-tokens  the window holds 10,370 tokens; 5k are allowed
          max-percent the window is 5 % full; 2 % are allowed
          aperture compress --budget 5k -s abc1
          aperture compress --budget 2% -s abc1
        1 session checked (max-tokens, max-percent, max-stale): 2 findings
        exit code 1
    "#]]
    .assert_eq(&screen(&["check", "--max-tokens", "5k", "--max-percent", "2", "--max-stale", "0"]));
}

#[test]
fn check_reports_the_line_and_the_block_of_each_credential() {
    let (sandbox, _) = sandbox();
    let screen = |words: &[&str]| sandbox.run(words).all();
    expect![[r#"
        HOME/.claude/projects/SLUG/abc1.jsonl
          secrets     line 1: a credential: huggingface-token
          secrets     line 1, block 1: a credential: github-token
          secrets     line 2, block 2: a credential: anthropic-key
          secrets     line 2, block 2: a credential: stripe-key
          secrets     line 3, block 3: a credential: slack-token
          secrets     line 3, block 3: a credential: password-in-address
          secrets     line 4, block 4: a credential: aws-key
          secrets     line 4, block 4: a credential: password
          secrets     line 4: a credential: aws-key
          secrets     line 4: a credential: password
          secrets     line 5, block 5: a credential: google-key
          secrets     line 5, block 6: a credential: web-token
          secrets     line 6, block 7: a credential: gitlab-token
          secrets     line 7: a credential: npm-token
          secrets     line 7, block 9: a credential: npm-token
          secrets     line 8, block 10: a credential: gitlab-token
          secrets     line 9: a credential: github-token
          secrets     line 10: a credential: anthropic-key
          secrets     line 11: a credential: github-token
          aperture redact --whole-file -s abc1
        1 session checked (no-secrets): 19 findings
        exit code 1
    "#]]
    .assert_eq(&screen(&["check", "--no-secrets"]));
}

#[test]
fn check_writes_junit() {
    let (sandbox, _) = sandbox();
    let screen = |words: &[&str]| sandbox.run(words).all();
    expect![[r#"
        <?xml version="1.0" encoding="UTF-8"?>
        <testsuites>
          <testsuite name="aperture check" tests="2" failures="1">
            <testcase classname="HOME/.claude/projects/SLUG/abc1.jsonl" name="no-secrets">
              <failure message="19 findings">line 1: a credential: huggingface-token
        line 1, block 1: a credential: github-token
        line 2, block 2: a credential: anthropic-key
        line 2, block 2: a credential: stripe-key
        line 3, block 3: a credential: slack-token
        line 3, block 3: a credential: password-in-address
        line 4, block 4: a credential: aws-key
        line 4, block 4: a credential: password
        line 4: a credential: aws-key
        line 4: a credential: password
        line 5, block 5: a credential: google-key
        line 5, block 6: a credential: web-token
        line 6, block 7: a credential: gitlab-token
        line 7: a credential: npm-token
        line 7, block 9: a credential: npm-token
        line 8, block 10: a credential: gitlab-token
        line 9: a credential: github-token
        line 10: a credential: anthropic-key
        line 11: a credential: github-token</failure>
            </testcase>
            <testcase classname="HOME/.claude/projects/SLUG/abc1.jsonl" name="no-damage"/>
          </testsuite>
        </testsuites>
        exit code 1
    "#]]
    .assert_eq(&screen(&["check", "--no-damage", "--no-secrets", "--format", "junit"]));
}

#[test]
fn check_writes_annotations_for_github() {
    let (sandbox, _) = sandbox();
    let screen = |words: &[&str]| sandbox.run(words).all();
    expect![[r#"
        ::error file=HOME/.claude/projects/SLUG/abc1.jsonl,title=aperture max-tokens::the window holds 10,370 tokens; 5k are allowed
        ::error file=HOME/.claude/projects/SLUG/abc1.jsonl,line=1,title=aperture no-secrets::line 1: a credential: huggingface-token
        ::error file=HOME/.claude/projects/SLUG/abc1.jsonl,line=1,title=aperture no-secrets::line 1, block 1: a credential: github-token
        ::error file=HOME/.claude/projects/SLUG/abc1.jsonl,line=2,title=aperture no-secrets::line 2, block 2: a credential: anthropic-key
        ::error file=HOME/.claude/projects/SLUG/abc1.jsonl,line=2,title=aperture no-secrets::line 2, block 2: a credential: stripe-key
        ::error file=HOME/.claude/projects/SLUG/abc1.jsonl,line=3,title=aperture no-secrets::line 3, block 3: a credential: slack-token
        ::error file=HOME/.claude/projects/SLUG/abc1.jsonl,line=3,title=aperture no-secrets::line 3, block 3: a credential: password-in-address
        ::error file=HOME/.claude/projects/SLUG/abc1.jsonl,line=4,title=aperture no-secrets::line 4, block 4: a credential: aws-key
        ::error file=HOME/.claude/projects/SLUG/abc1.jsonl,line=4,title=aperture no-secrets::line 4, block 4: a credential: password
        ::error file=HOME/.claude/projects/SLUG/abc1.jsonl,line=4,title=aperture no-secrets::line 4: a credential: aws-key
        ::error file=HOME/.claude/projects/SLUG/abc1.jsonl,line=4,title=aperture no-secrets::line 4: a credential: password
        ::error file=HOME/.claude/projects/SLUG/abc1.jsonl,line=5,title=aperture no-secrets::line 5, block 5: a credential: google-key
        ::error file=HOME/.claude/projects/SLUG/abc1.jsonl,line=5,title=aperture no-secrets::line 5, block 6: a credential: web-token
        ::error file=HOME/.claude/projects/SLUG/abc1.jsonl,line=6,title=aperture no-secrets::line 6, block 7: a credential: gitlab-token
        ::error file=HOME/.claude/projects/SLUG/abc1.jsonl,line=7,title=aperture no-secrets::line 7: a credential: npm-token
        ::error file=HOME/.claude/projects/SLUG/abc1.jsonl,line=7,title=aperture no-secrets::line 7, block 9: a credential: npm-token
        ::error file=HOME/.claude/projects/SLUG/abc1.jsonl,line=8,title=aperture no-secrets::line 8, block 10: a credential: gitlab-token
        ::error file=HOME/.claude/projects/SLUG/abc1.jsonl,line=9,title=aperture no-secrets::line 9: a credential: github-token
        ::error file=HOME/.claude/projects/SLUG/abc1.jsonl,line=10,title=aperture no-secrets::line 10: a credential: anthropic-key
        ::error file=HOME/.claude/projects/SLUG/abc1.jsonl,line=11,title=aperture no-secrets::line 11: a credential: github-token
        exit code 1
    "#]].assert_eq(&screen(&["check", "--max-tokens", "5k", "--no-secrets", "--format", "github"]));
}

#[test]
fn check_takes_its_limits_from_the_settings() {
    let (sandbox, _) = sandbox();
    let screen = |words: &[&str]| sandbox.run(words).all();
    sandbox.write("aperture.toml", "[check]\nmax_tokens = 5000\n");
    expect![[r#"
        {
          "schema": "aperture.check/1",
          "rules": [
            "max-tokens"
          ],
          "findings": 1,
          "failed": 0,
          "sessions": [
            {
              "session": "abc1",
              "path": "HOME/.claude/projects/SLUG/abc1.jsonl",
              "findings": [
                {
                  "rule": "max-tokens",
                  "message": "the window holds 10,370 tokens; 5k are allowed",
                  "effect": "",
                  "measured": 10370,
                  "limit": 5000,
                  "line": null,
                  "block": null,
                  "hint": "aperture compress --budget 5k -s abc1"
                }
              ],
              "title": "",
              "error": null
            }
          ]
        }
        exit code 1
    "#]]
    .assert_eq(&screen(&["check", "--json"]));
    sandbox.write("aperture.toml", "[check]\nno_damage = true\n");
    expect![[r#"
        1 session checked (no-damage): nothing found
        exit code 0
    "#]]
    .assert_eq(&screen(&["check", "--all"]));
    sandbox.write("data.jsonl", "{\"a\":1}\n");
    expect![[r#"
        0 sessions checked (no-damage): nothing found
        note: skipped: PROJECT/data.jsonl is not a session: none of its first lines has a known format
        exit code 0
    "#]]
    .assert_eq(&screen(&["check", "data.jsonl"]));
}

#[test]
fn check_refuses_wrong_arguments() {
    let (sandbox, _) = sandbox();
    sandbox.write("aperture.toml", "[check]\nno_damage = true\n");
    for (words, code) in [
        (&["check", "nowhere"][..], 1),
        (&["check", "--max-percent", "x"], 2),
        (&["check", "--project", "--all"], 2),
        (&["check", "--format", "yaml"], 2),
        (&["check", "--project"], 0),
    ] {
        assert_eq!(sandbox.run(words).code, code, "{words:?}");
    }
}

#[test]
fn a_forgotten_credential_is_in_no_label_of_an_earlier_change() {
    let value = "kq7Zt9wLm2Rx4Vb8kq7Zt9wLm2Rx4Vb8kq7Zt9wLm2Rx4Vb8kq7Zt9wLm2Rx4Vb8";
    for command in [format!("./login {value}"), format!("./login --host example.org --as somebody {value}")] {
        let sandbox = Sandbox::new();
        let row = |number: u32, role: &str, content: serde_json::Value| {
            super::searching::row("abc1", number, role, content, &sandbox.project)
        };
        let call = json!([{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": command}}]);
        let output = "a line of the output\n".repeat(200);
        let result = json!([{"type": "tool_result", "tool_use_id": "t1", "content": output}]);
        let mut rows = [row(1, "user", json!("log in")), row(2, "assistant", call), row(3, "user", result)].concat();
        sandbox.session("abc1", &rows, 0);
        sandbox.text(&["compress", "all", "--keep-turns", "0", "--force"]);
        rows = fs::read_to_string(sandbox.home.join(format!(".claude/projects/{}/abc1.jsonl", sandbox.slug()))).unwrap();
        rows.push_str(&row(4, "user", json!(format!("DB_PASSWORD={value}"))));
        sandbox.session("abc1", &rows, 0);
        assert!(!holding(&sandbox, &value[..16]).is_empty());
        sandbox.text(&["redact", "--whole-file", "--forget", "--yes"]);
        assert_eq!(holding(&sandbox, &value[..16]), [""; 0], "{command}");
        for words in [&["undo", "1", "-n"][..], &["log", "--json"], &["explain", "2"]] {
            assert!(!sandbox.run(words).all().contains(&value[..16]), "{words:?}");
        }
    }
}

#[test]
fn a_commit_with_a_credential_is_refused() {
    let Some(sandbox) = Sandbox::with_repository() else { return };
    let screen = |words: &[&str]| sandbox.run_with_git(words).all();
    expect![[r#"
        pre-commit  not installed: PROJECT/.git/hooks/pre-commit
        exit code 1
    "#]]
    .assert_eq(&screen(&["install", "git-hook", "--check"]));
    expect![[r#"
        pre-commit  would be installed: PROJECT/.git/hooks/pre-commit
        nothing was written: this is a dry run
        exit code 0
    "#]]
    .assert_eq(&screen(&["install", "git-hook", "--dry-run"]));
    expect![[r#"
        pre-commit  installed: PROJECT/.git/hooks/pre-commit
        exit code 0
    "#]]
    .assert_eq(&screen(&["install", "git-hook"]));
    assert_eq!(sandbox.run_with_git(&["install", "git-hook", "--check"]).code, 0);
    let report = sandbox.run_with_git(&["install", "git-hook", "--check", "--json"]).stdout;
    assert!(report.contains("\"aperture.install-git-hook/1\""), "{report}");
    // Files that are not sessions are ignored.
    sandbox.write("data.jsonl", format!("{{\"key\":\"{}\"}}\n", keys()[0]));
    let path = sandbox.write("demo.jsonl", planted());
    sandbox.git(&["add", "."]);
    // The staged content counts, not the content of the worktree.
    sandbox.write("demo.jsonl", "");
    let refused = sandbox.git_command(&["commit", "-qm", "demo"]).output().unwrap();
    assert!(!refused.status.success());
    let said = format!("{}{}", String::from_utf8_lossy(&refused.stdout), String::from_utf8_lossy(&refused.stderr));
    assert_eq!(shown(said.as_bytes()), [""; 0]);
    assert!(said.contains("line 1: a credential: huggingface-token") && said.contains("--no-verify"), "{said}");
    fs::write(&path, planted()).unwrap();
    assert_eq!(sandbox.run_with_git(&["redact", "--whole-file", "-s", "demo.jsonl"]).code, 0);
    sandbox.git(&["add", "."]);
    sandbox.git(&["commit", "-qm", "demo"]);
    expect![[r#"
        pre-commit  removed: PROJECT/.git/hooks/pre-commit
        post-commit not installed: PROJECT/.git/hooks/post-commit
        pre-push    not installed: PROJECT/.git/hooks/pre-push
        exit code 0
    "#]]
    .assert_eq(&screen(&["uninstall", "git-hook"]));
    assert!(!sandbox.project.join(".git/hooks/pre-commit").exists());
}

#[test]
fn a_push_with_a_credential_is_refused() {
    let Some(sandbox) = Sandbox::with_repository() else { return };
    let remote = sandbox.home.join("remote.git");
    sandbox.git(&["init", "-q", "--bare", &remote.to_string_lossy()]);
    sandbox.git(&["remote", "add", "origin", &remote.to_string_lossy()]);
    assert_eq!(sandbox.run_with_git(&["install", "git-hook", "--pre-push"]).code, 0);
    sandbox.write("a.txt", "a");
    sandbox.git(&["add", "."]);
    sandbox.git(&["commit", "-qm", "one"]);
    sandbox.git(&["push", "-q", "origin", "main"]);
    sandbox.write("demo.jsonl", planted());
    sandbox.git(&["add", "."]);
    sandbox.git(&["commit", "-qm", "two"]);
    // It was in a commit: that it is gone in the next one does not help.
    sandbox.git(&["rm", "-q", "demo.jsonl"]);
    sandbox.git(&["commit", "-qm", "three"]);
    assert!(!sandbox.git_command(&["push", "-q", "origin", "main"]).output().unwrap().status.success());
    assert!(!sandbox.git_command(&["push", "-q", "origin", "main:other"]).output().unwrap().status.success());
    sandbox.git(&["reset", "-q", "--hard", "HEAD~2"]);
    sandbox.write("b.txt", "b");
    sandbox.git(&["add", "."]);
    sandbox.git(&["commit", "-qm", "four"]);
    sandbox.git(&["push", "-q", "origin", "main"]);
    sandbox.git(&["push", "-q", "origin", ":main"]);
    // Commits pushed by another user are unknown here, and may be overwritten by a push.
    let other = sandbox.home.join("other").to_string_lossy().into_owned();
    sandbox.git(&["push", "-q", "origin", "main"]);
    sandbox.git(&["clone", "-q", "-b", "main", &remote.to_string_lossy(), &other]);
    let theirs = ["-C", &other, "-c", "user.name=A", "-c", "user.email=a@example.com"];
    sandbox.git(&[&theirs[..], &["commit", "-q", "--allow-empty", "-m", "theirs"]].concat());
    sandbox.git(&[&theirs[..], &["push", "-q", "origin", "main"]].concat());
    sandbox.git(&["push", "-q", "--force", "origin", "main"]);
}

#[test]
#[cfg(unix)]
fn hooks_check_every_file_that_can_be_a_session_and_no_other() {
    let Some(sandbox) = Sandbox::with_repository() else { return };
    let commits = || sandbox.git_command(&["commit", "-qm", "next"]).output().unwrap().status.success();
    assert_eq!(sandbox.run_with_git(&["install", "git-hook"]).code, 0);
    // A submodule, a link, and names that are not text.
    std::os::unix::fs::symlink("elsewhere.jsonl", sandbox.project.join("link.jsonl")).unwrap();
    let name: &std::ffi::OsStr = std::os::unix::ffi::OsStrExt::from_bytes(b"na\xffme.jsonl");
    fs::write(sandbox.project.join(name), "{}\n").unwrap();
    sandbox.git(&["add", "."]);
    sandbox.git(&["update-index", "--add", "--cacheinfo", "160000,1111111111111111111111111111111111111111,module.jsonl"]);
    assert!(commits());
    let refuses = |path: &str, content: &[u8]| {
        let _ = fs::remove_file(sandbox.project.join(path));
        sandbox.write(path, content);
        sandbox.git(&["add", path]);
        let is_refused = !commits();
        sandbox.git(&["reset", "-q", "--hard"]);
        is_refused
    };
    assert!(refuses("link.jsonl", planted().as_bytes()), "a session in the place of a link");
    assert!(refuses("old.jsonl.zst", &zstd::encode_all(planted().as_bytes(), 1).unwrap()));
    assert!(refuses("session.json", planted().as_bytes()));
    assert!(!refuses("broken.jsonl.zst", b"not compressed"));
    // A push has each name of a content, and what a merge changed.
    let remote = sandbox.home.join("remote.git");
    sandbox.git(&["init", "-q", "--bare", &remote.to_string_lossy()]);
    sandbox.git(&["remote", "add", "origin", &remote.to_string_lossy()]);
    assert_eq!(sandbox.run_with_git(&["install", "git-hook", "--pre-push"]).code, 0);
    let pushes = || sandbox.git_command(&["push", "-q", "origin", "main"]).output().unwrap().status.success();
    assert!(pushes());
    for name in ["a.txt", "demo.jsonl"] {
        sandbox.write(name, planted());
    }
    sandbox.git(&["add", "."]);
    sandbox.git(&["commit", "-qnm", "both"]);
    assert!(!pushes());
    sandbox.git(&["reset", "-q", "--hard", "HEAD~1"]);
    sandbox.git(&["checkout", "-qb", "side"]);
    sandbox.git(&["commit", "-q", "--allow-empty", "-m", "side"]);
    sandbox.git(&["checkout", "-q", "main"]);
    sandbox.git(&["merge", "-q", "--no-ff", "--no-commit", "side"]);
    sandbox.write("demo.jsonl", planted());
    sandbox.git(&["add", "."]);
    sandbox.git(&["commit", "-qnm", "merged"]);
    assert!(!pushes());
}

#[test]
fn a_commit_is_noted_with_its_session() {
    let Some(sandbox) = Sandbox::with_repository() else { return };
    let file = serde_json::to_string(&sandbox.project.join("a.txt")).unwrap();
    let edit = format!(
        "{}\n{}\n",
        format_args!(
            r#"{{"type":"assistant","uuid":"y","parentUuid":"h","sessionId":"S","timestamp":"2026-11-21T21:00:20.000Z","message":{{"id":"m9","role":"assistant","model":"claude-opus-4-5-20251101","content":[{{"type":"tool_use","id":"toolu_09","name":"Write","input":{{"file_path":{file},"content":"the first line"}}}}],"usage":{{"input_tokens":9,"output_tokens":6}}}}}}"#
        ),
        r#"{"type":"user","uuid":"z","parentUuid":"y","sessionId":"S","timestamp":"2026-11-21T21:00:21.000Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_09","content":"File created successfully"}]}}"#
    );
    sandbox.session("abc1", planted() + &edit, 0);
    assert_eq!(sandbox.run_with_git(&["install", "git-hook", "--post-commit"]).code, 0);
    let notes = || sandbox.git(&["notes", "--ref=aperture", "list"]);
    for (name, text) in [("b.txt", "the first line"), ("a.txt", "a line by hand")] {
        sandbox.write(name, text);
        sandbox.git(&["add", "."]);
        sandbox.git(&["commit", "-qm", name]);
        assert_eq!(notes(), "", "{name}: the session wrote nothing of it");
    }
    sandbox.write("a.txt", "a line by hand\nthe first line\n");
    sandbox.git(&["add", "."]);
    sandbox.git(&["commit", "-qm", "one"]);
    let note = sandbox.git(&["notes", "--ref=aperture", "show", "HEAD"]);
    assert_eq!(shown(note.as_bytes()), [""; 0]);
    expect![[r#"
        Session: abc1
        goal: use [secret:github-token] to fix the deploy of the shop
        story: It uses [secret:gitlab-token] now.
        state: last turn: open, edited 1 file, plan: 0 of 1 done
    "#]]
    .assert_eq(&note);
}

#[cfg(unix)]
#[test]
fn hooks_that_are_there_stay() {
    let Some(sandbox) = Sandbox::with_repository() else { return };
    sandbox.git(&["config", "core.hooksPath", "my hooks"]);
    let mine = "#!/bin/bash\necho mine >> ran\nexit 0\n";
    let path = sandbox.write("my hooks/pre-commit", mine);
    // One that is switched off is not switched on, and one that is empty is not deleted later.
    let refused = sandbox.run_with_git(&["install", "git-hook", "--dry-run"]);
    expect![[r#"
        error: cannot change the hook PROJECT/my hooks/pre-commit
        because: git ignores it: it is not executable
        hint: to switch it on: chmod +x 'PROJECT/my hooks/pre-commit'; if it is not needed: rm 'PROJECT/my hooks/pre-commit'
        exit code 1
    "#]]
    .assert_eq(&refused.all());
    fs::set_permissions(&path, PermissionsExt::from_mode(0o744)).unwrap();
    fs::write(&path, "").unwrap();
    assert!(sandbox.run_with_git(&["install", "git-hook"]).stderr.contains("it is empty"));
    fs::write(&path, mine).unwrap();
    assert_eq!(sandbox.run_with_git(&["install", "git-hook"]).code, 0);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o744, "the mode is that of the user");
    assert_eq!(sandbox.run_with_git(&["install", "git-hook"]).code, 0);
    sandbox.write("a.txt", "a");
    sandbox.git(&["add", "a.txt"]);
    sandbox.git(&["commit", "-qm", "one"]);
    assert_eq!(fs::read_to_string(sandbox.project.join("ran")).unwrap(), "mine\n");
    // From a worktree and from a subdirectory, it is the same hook.
    sandbox.git(&["worktree", "add", "-q", "../other"]);
    assert_eq!(sandbox.run_with_git(&["-C", "my hooks", "uninstall", "git-hook"]).code, 0);
    assert_eq!(fs::read_to_string(&path).unwrap(), mine);
    let long = mine.replace("exit", &format!("{}exit", "# nothing of note\n".repeat(60_000)));
    fs::write(&path, &long).unwrap();
    assert_eq!(sandbox.run_with_git(&["install", "git-hook"]).code, 0);
    assert!(fs::read_to_string(&path).unwrap().ends_with("exit 0\n"), "however long it is");
    assert_eq!(sandbox.run_with_git(&["uninstall", "git-hook"]).code, 0);
    assert_eq!(fs::read_to_string(&path).unwrap(), long);
    let python = "#!/usr/bin/env python3\n";
    fs::write(&path, python).unwrap();
    let refused = sandbox.run_with_git(&["install", "git-hook"]);
    expect![[r#"
        error: cannot change the hook PROJECT/my hooks/pre-commit
        because: it is not a shell script
        hint: add this line by hand: aperture git-hook pre-commit
        exit code 1
    "#]]
    .assert_eq(&refused.all());
    assert_eq!(fs::read_to_string(&path).unwrap(), python);
    assert_eq!(sandbox.run_with_git(&["-C", "..", "install", "git-hook"]).code, 1);
}

#[test]
fn the_recipes_for_ci_and_git_hooks_run() {
    let Some(sandbox) = Sandbox::with_repository() else { return };
    let clean = masked(planted().as_bytes());
    sandbox.session("abc1", &clean, 0);
    sandbox.write("demo.jsonl", &clean);
    sandbox.git(&["add", "."]);
    sandbox.git(&["commit", "-qm", "demo"]);
    let recipes = fs::read_to_string(crate::sandbox::repository().join("docs/guide/ci.md")).unwrap();
    let section = recipes.split("\n## Scripts").next().unwrap();
    let blocks = section.split("```sh\n").skip(1).map(|block| block.split("```").next().unwrap());
    let lines: Vec<&str> = blocks.flat_map(str::lines).collect();
    assert!(lines.len() > 8);
    let run = |line: &str| sandbox.git_command(&["-c", &format!("alias.recipe=!{line}"), "recipe"]).output().unwrap();
    for line in &lines {
        let output = run(line);
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    }
    // They can fail.
    sandbox.write("demo.jsonl", planted());
    assert!(lines.iter().filter(|line| line.starts_with("git ls-files")).all(|line| !run(line).status.success()));
}

#[test]
fn check_and_its_hint_find_a_value_wherever_it_is_repeated() {
    let sandbox = Sandbox::new();
    let mut rows = String::new();
    for (at, text) in ["the password is hunter2hunter2x", "is hunter2hunter2x in the log?"].iter().enumerate() {
        rows += &format!(
            r#"{{"type":"user","uuid":"u{at}","parentUuid":null,"sessionId":"S","version":"2.1.330","timestamp":"2026-11-21T21:00:0{at}.000Z","message":{{"role":"user","content":"{text}"}}}}"#
        );
        rows.push('\n');
    }
    rows += r#"{"type":"last-prompt","lastPrompt":"is hunter2hunter2x in the log?","sessionId":"S"}"#;
    rows.push('\n');
    let path = sandbox.session("abc1", &rows, 0);
    let found = |said: &Outcome| said.stdout.matches(": a credential: password").count();
    let checked = sandbox.run(&["check", "--no-secrets"]);
    assert_eq!((checked.code, found(&checked)), (1, 3), "{}", checked.stdout);
    assert!(checked.stdout.contains("  aperture redact --whole-file -s abc1\n"), "{}", checked.stdout);
    // A part of them leaves the others.
    sandbox.text(&["redact", "1"]);
    assert_eq!(found(&sandbox.run(&["check", "--no-secrets"])), 2);
    sandbox.text(&["redact", "--whole-file"]);
    assert!(!fs::read_to_string(&path).unwrap().contains("hunter2hunter2x"));
    assert_eq!(sandbox.run(&["check", "--no-secrets"]).code, 0);
}

/// Writes the outputs and the subagent of the session `abc1` beside it. Returns their paths.
fn plant_beside(sandbox: &Sandbox) -> (PathBuf, PathBuf) {
    let k = keys();
    let directory = sandbox.session_folder().join("abc1");
    let (outputs, subagents) = (directory.join("tool-results"), directory.join("subagents"));
    for directory in [&outputs, &subagents] {
        fs::create_dir_all(directory).unwrap();
    }
    let output = outputs.join("b12345678.txt");
    fs::write(&output, format!("PATH=/usr/bin\nDB_PASS={}\nkey {}\nend", k[10], k[0])).unwrap();
    let subagent = subagents.join("agent-a0000000000000001.jsonl");
    let row = format!(
        r#"{{"type":"user","uuid":"s1","parentUuid":null,"isSidechain":true,"agentId":"a0000000000000001","sessionId":"abc1","version":"2.1.330","timestamp":"2026-11-21T21:00:00.000Z","message":{{"role":"user","content":"check {}"}}}}"#,
        k[6]
    );
    fs::write(&subagent, row + "\n").unwrap();
    (output, subagent)
}

#[test]
fn files_beside_a_session_are_checked_redacted_and_restored_with_it() {
    let (sandbox, path) = sandbox();
    let (output, subagent) = plant_beside(&sandbox);
    let state = || [&path, &output, &subagent].map(|path| fs::read(path).unwrap());
    let before = state();
    let checked = sandbox.run(&["check", "--no-secrets"]);
    assert_eq!(checked.code, 1);
    for part in ["tool-results/b12345678.txt", "line 2: a credential: password", "line 3: a credential: github-token", "agent-a0"]
    {
        assert!(checked.stdout.contains(part), "{part}: {}", checked.stdout);
    }
    let one = sandbox.text(&["redact", "1", "--dry-run"]);
    assert!(
        one.contains("2 credentials in 1 file beside the session; to replace these too: aperture redact --whole-file"),
        "{one}"
    );
    let planned = sandbox.text(&["redact", "--whole-file", "--dry-run"]);
    assert!(planned.contains("b12345678.txt"), "{planned}");
    assert_eq!(state(), before);

    let redacted = sandbox.text(&["redact", "--whole-file"]);
    assert!(redacted.contains("changed beside the session:") && redacted.contains("aperture undo -s agent-a0"), "{redacted}");
    assert_eq!(state().map(|bytes| shown(&bytes)), [const { Vec::<String>::new() }; 3]);
    assert_eq!(
        String::from_utf8(fs::read(&output).unwrap()).unwrap(),
        "PATH=/usr/bin\nDB_PASS=[secret:password]\nkey [secret:github-token]\nend"
    );
    assert_eq!(sandbox.run(&["check", "--no-secrets"]).code, 0);
    let after = state();
    assert!(sandbox.text(&["redact", "--whole-file"]).starts_with("nothing to do"));

    sandbox.text(&["undo"]);
    sandbox.text(&["undo", "-s", "agent-a0000000000000001"]);
    assert_eq!(state(), before);
    sandbox.text(&["redo"]);
    assert_eq!(fs::read(&output).unwrap(), after[1]);
    sandbox.text(&["restore", "original"]);
    assert_eq!(fs::read(&output).unwrap(), before[1]);
}

/// A client keeps the files before edits, tasks and prompts for itself; a fork names an output of the session before it.
#[test]
fn files_elsewhere_are_checked_and_those_of_the_client_are_only_named() {
    let (sandbox, path) = sandbox();
    sandbox.text(&["redact", "--whole-file"]);
    let output = sandbox.session_folder().join("gone/tool-results/b12345678.txt");
    fs::create_dir_all(output.parent().unwrap()).unwrap();
    fs::write(&output, keys()[0].clone()).unwrap();
    let outside = sandbox.write("tool-results/secret.txt", keys()[0].clone());
    let spilled = |name: &str, path: &std::path::Path| {
        let text = format!("<persisted-output>\nOutput too large. Full output saved to: {}\n</persisted-output>", path.display());
        let call = json!([{"type": "tool_use", "id": name, "name": "Bash", "input": {"command": "printenv"}}]);
        let result = json!([{"type": "tool_result", "tool_use_id": name, "content": text}]);
        let row = |kind: &str, uuid: String, content: serde_json::Value| json!({"type": kind, "uuid": uuid, "parentUuid": null, "sessionId": "abc1", "message": {"role": kind, "content": content}});
        format!("{}\n{}\n", row("assistant", format!("{name}-1"), call), row("user", format!("{name}-2"), result))
    };
    let rows = fs::read_to_string(&path).unwrap() + &spilled("x", &output) + &spilled("y", &outside);
    fs::write(&path, &rows).unwrap();
    let home = path.ancestors().nth(3).unwrap();
    let copies = ["file-history/abc1/0a@v1", "tasks/abc1/1.json", "history.jsonl"].map(|name| home.join(name));
    for copy in &copies {
        fs::create_dir_all(copy.parent().unwrap()).unwrap();
        fs::write(copy, format!("{{\"display\":\"{}\",\"timestamp\":1,\"sessionId\":\"abc1\"}}\n", keys()[0])).unwrap();
    }
    let names = ["file-history/abc1/0a@v1", "tasks/abc1/1.json", "history.jsonl", "gone/tool-results/b12345678.txt"];
    for command in [&["check", "--no-secrets"][..], &["redact", "--whole-file", "--dry-run"]] {
        let told = sandbox.run(command).stdout;
        assert!(names.iter().all(|name| told.contains(name)) && !told.contains("secret.txt"), "{told}");
    }
    let before = copies.each_ref().map(|copy| fs::read(copy).unwrap());
    sandbox.text(&["redact", "--whole-file"]);
    assert_eq!(fs::read_to_string(&output).unwrap(), "[secret:github-token]");
    assert_eq!(
        (copies.each_ref().map(|copy| fs::read(copy).unwrap()), fs::read_to_string(&outside).unwrap()),
        (before, keys()[0].clone())
    );
    sandbox.text(&["undo"]);
    assert_eq!(fs::read_to_string(&output).unwrap(), keys()[0]);
    fs::write(&copies[2], fs::read_to_string(&copies[2]).unwrap().replace("abc1", "other")).unwrap();
    assert!(!sandbox.run(&["check", "--no-secrets"]).stdout.contains("history.jsonl"));
}

#[test]
fn an_export_restores_the_files_beside_a_session_on_another_machine_and_an_import_here_keeps_them() {
    let (sandbox, path) = sandbox();
    let (output, _) = plant_beside(&sandbox);
    let state = || [&path, &output].map(|path| fs::read(path).unwrap());
    let before = state();
    sandbox.text(&["redact", "--whole-file"]);
    let after = state();
    let saved = sandbox.home.join("saved.aperture");
    let file = saved.to_str().unwrap();
    sandbox.text(&["export", "-o", file]);
    sandbox.text(&["import", file]);
    sandbox.text(&["undo"]);
    assert_eq!(state(), before);
    sandbox.text(&["redo"]);
    assert_eq!(state(), after);
    fs::remove_dir_all(sandbox.home.join(".aperture")).unwrap();
    sandbox.text(&["import", file]);
    sandbox.text(&["undo"]);
    assert_eq!(state(), before);
}

#[test]
fn only_the_file_beside_a_session_is_changed_if_only_that_has_a_credential() {
    let sandbox = Sandbox::new();
    let row = r#"{"type":"user","uuid":"a","parentUuid":null,"sessionId":"S","version":"2.1.330","timestamp":"2026-11-21T21:00:00.000Z","message":{"role":"user","content":"hi"}}"#;
    let path = sandbox.session("abc1", format!("{row}\n"), 0);
    let (output, subagent) = plant_beside(&sandbox);
    fs::remove_file(subagent).unwrap();
    let before = [fs::read(&path).unwrap(), fs::read(&output).unwrap()];
    let redacted = sandbox.text(&["redact", "--whole-file"]);
    assert!(redacted.starts_with("2 credentials redacted"), "{redacted}");
    assert_eq!((fs::read(&path).unwrap(), shown(&fs::read(&output).unwrap())), (before[0].clone(), Vec::new()));
    // A file that another program changed since stays as it is.
    let masked = fs::read(&output).unwrap();
    fs::write(&output, [&masked[..], b"more"].concat()).unwrap();
    let undone = sandbox.text(&["undo"]);
    assert!(undone.contains("left as it is"), "{undone}");
    assert!(fs::read(&output).unwrap().ends_with(b"endmore"));
    fs::write(&output, &masked).unwrap();
    sandbox.run(&["redo"]);
    sandbox.text(&["restore", "original"]);
    assert_eq!([fs::read(&path).unwrap(), fs::read(&output).unwrap()], before);
}

#[test]
fn a_text_of_ones_own_is_redacted_from_standard_input() {
    let sandbox = Sandbox::new();
    let (word, quoted) = ("swordfish", "say \"friend\" and enter");
    let content = serde_json::to_string(&format!("the word is {word}, or {quoted}, and SWORDFISH")).unwrap();
    let row = |id: &str, parent: &str, content: &str| {
        format!(
            r#"{{"type":"user","uuid":"{id}","parentUuid":{parent},"sessionId":"S","version":"2.1.330","timestamp":"2026-11-21T21:00:00.000Z","message":{{"role":"user","content":{content}}}}}"#
        )
    };
    let rows = format!("{}\n{}\n", row("a", "null", &content), row("b", "\"a\"", "\"stay\""));
    let path = sandbox.session("abc1", &rows, 0);
    let (output, _) = plant_beside(&sandbox);
    fs::write(&output, format!("spilled {word}")).unwrap();

    let literal = sandbox.run(&["redact", "--text", word]);
    assert_eq!((literal.code, literal.all().contains(word)), (2, false), "{}", literal.all());
    let told = sandbox.given(&["redact", "--text", "@-"], &format!("{word}\r\n\n{quoted}\n"));
    let printed = told.all();
    assert_eq!((told.code, printed.contains(word)), (0, false), "{printed}");
    let after = fs::read_to_string(&path).unwrap();
    assert!(after.contains("the word is [secret:text], or [secret:text], and [secret:text]"), "{after}");
    assert_eq!(fs::read_to_string(&output).unwrap(), "spilled [secret:text]");
    // It stays hidden where the log has it, and a restored or shortened block does not have it again.
    for words in [&["log"][..], &["diff", "original"], &["show", "1"], &["status"], &["blocks", "all"]] {
        let shown = sandbox.run(words).all();
        assert!(!shown.contains(word) && !shown.contains("friend"), "{words:?}: {shown}");
    }
    sandbox.run(&["archive", "1"]);
    sandbox.run(&["expand", "1"]);
    assert!(!fs::read_to_string(&path).unwrap().contains(word));
    while sandbox.run(&["undo"]).code == 0 {}
    assert_eq!((fs::read_to_string(&path).unwrap(), fs::read_to_string(&output).unwrap()), (rows, format!("spilled {word}")));
    let short = sandbox.given(&["redact", "--text", "@-"], "abc\n");
    assert_eq!(short.code, 2);
}

/// Returns the files of aperture that hold a text, as it is or compressed.
fn holding(sandbox: &Sandbox, text: &str) -> Vec<String> {
    let data = sandbox.home.join(".aperture");
    let mut found = Vec::new();
    for (path, bytes) in contents_below(&data) {
        let holds = |bytes: &[u8]| memchr::memmem::find(bytes, text.as_bytes()).is_some();
        let is_packed_in = |start: usize| {
            let mut content = Vec::new();
            let _ = zstd::Decoder::new(&bytes[start..]).and_then(|mut frame| std::io::copy(&mut frame, &mut content));
            holds(&content)
        };
        if holds(&bytes) || memchr::memmem::find_iter(&bytes, &[0x28, 0xb5, 0x2f, 0xfd]).any(is_packed_in) {
            found.push(path.strip_prefix(&data).unwrap().display().to_string());
        }
    }
    found.sort();
    found
}

#[test]
fn a_text_that_is_forgotten_is_named_where_it_is_left_and_is_then_nowhere() {
    let sandbox = Sandbox::new();
    sandbox.write("aperture.toml", "[hooks]\nreduce_results = true\nreduce_over_tokens = 100\n");
    let word = "swordfishermen";
    let row = |id: &str, parent: &str, content: &str| {
        format!(
            r#"{{"type":"user","uuid":"{id}","parentUuid":{parent},"sessionId":"abc1","cwd":"{}","version":"2.1.330","timestamp":"2026-11-21T21:00:00.000Z","message":{{"role":"user","content":"{content}"}}}}"#,
            sandbox.project.display()
        )
    };
    let rows = format!("{}\n{}\n", row("a", "null", &format!("Always greet with {word}.")), row("b", "\"a\"", "stay"));
    let path = sandbox.session("abc1", &rows, 0);
    let result =
        format!("{word}\n{}", (0..900).map(|line| format!("{line}: nothing of note in item_{line}\n")).collect::<String>());
    let payload = serde_json::json!({"session_id": "abc1", "tool_name": "Bash", "tool_use_id": "toolu_1", "tool_response": {"stdout": result}});
    sandbox.given(&["hook", "PostToolUse"], &payload.to_string());
    for words in [
        &["keep", "--all"][..],
        &["sessions"],
        &["manifest"],
        &["search", word],
        &["memory", "add", &format!("Greet with {word}.")],
        &["memory", "compose"],
        &["topics"],
        &["archive", "1", "--reason", &format!("{word} is known")],
        &["snapshot", "save", &format!("before-{word}")],
        &["stage", &format!("the word is {word}")],
        &["status"],
    ] {
        sandbox.run(words);
    }
    let before = holding(&sandbox, word);
    for file in ["cache/cache.db", "cache/totals", "results/abc1/toolu_1-0.txt", "store.db"] {
        assert!(before.iter().any(|holding| holding.starts_with(file)), "{file}: {before:?}");
    }
    let redact = || {
        let told = sandbox.given(&["redact", "--text", "@-", "--forget", "--yes"], word);
        assert_eq!(told.code, 0, "{}", told.stderr);
        told.stdout
    };
    let said = redact();
    assert!(!fs::read_to_string(&path).unwrap().contains(word));
    let left: Vec<&str> = said.lines().map(str::trim).filter(|line| line.contains("still in")).collect();
    expect![[r#"
        still in 1 kept file of the session; to delete all of them: aperture keep forget abc1 --yes
        still in memory-1; to delete: aperture memory forget memory-1; then repeat this command
    "#]]
    .assert_eq(&(left.join("\n") + "\n"));
    sandbox.text(&["keep", "forget", "abc1", "--yes"]);
    sandbox.text(&["memory", "forget", "memory-1"]);
    let said = redact();
    assert!(!said.contains("still in"), "{said}");
    assert_eq!(holding(&sandbox, word), [""; 0]);
    assert_eq!(sandbox.run(&["verify"]).code, 0, "{}", sandbox.run(&["verify"]).all());
    sandbox.text(&["memory", "log"]);
}

#[test]
fn a_value_that_only_its_context_tells_is_masked_in_the_cache_too() {
    let sandbox = Sandbox::new();
    let row = |id: &str, parent: &str, content: &str| {
        format!(
            r#"{{"type":"user","uuid":"{id}","parentUuid":{parent},"sessionId":"S","version":"2.1.330","timestamp":"2026-11-21T21:00:00.000Z","message":{{"role":"user","content":"{content}"}}}}"#
        ) + "\n"
    };
    let word = "PurpleElephantParade77";
    let noted = row("a", "null", &format!("noted: {word}"));
    let named = row("b", "\"a\"", &format!("the password for staging is {word}"));
    let path = sandbox.session("abc1", noted.clone() + &named, 0);
    sandbox.text(&["blocks", "all"]);
    assert_eq!(holding(&sandbox, word), [""; 0]);
    assert!(sandbox.text(&["blocks", "all"]).contains("noted: [secret:password]"));
    // It is cached in clear before a row names it.
    fs::write(&path, &noted).unwrap();
    sandbox.text(&["blocks", "all"]);
    assert_eq!(holding(&sandbox, word), ["cache/cache.db"]);
    fs::write(&path, noted.clone() + &named).unwrap();
    sandbox.text(&["blocks", "all"]);
    assert_eq!(holding(&sandbox, word), [""; 0]);
    fs::write(&path, noted + &named + &row("c", "\"b\"", &format!("again {word}"))).unwrap();
    sandbox.text(&["blocks", "all"]);
    assert_eq!(holding(&sandbox, word), [""; 0]);
    // The row that names it is shortened.
    sandbox.text(&["archive", "2"]);
    sandbox.text(&["blocks", "all"]);
    let cache = |word: &str| holding(&sandbox, word).into_iter().filter(|file| file.starts_with("cache")).count();
    assert_eq!(cache(word), 0);
    let said = sandbox.text(&["redact", "--whole-file", "--forget", "--yes"]);
    assert_eq!(holding(&sandbox, word), [""; 0], "{said}");
}
