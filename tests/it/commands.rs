//! Tests of the output for users. `UPDATE_EXPECT=1 cargo test` updates all snapshots.

use crate::sandbox::{Sandbox, homes, homes_only_read, skipped, snapshot};
use expect_test::expect;
use serde_json::json;
use std::io::Read;
use std::process::Stdio;
use unicode_width::UnicodeWidthStr;

/// A session of one prompt and its answer.
const SMALL: &str = concat!(
    r#"{"type":"user","uuid":"a","parentUuid":null,"sessionId":"S","cwd":"/home/dev/shop","version":"2.1.330","timestamp":"2026-11-21T21:00:00.000Z","message":{"role":"user","content":"fix the test"}}"#,
    "\n",
    r#"{"type":"assistant","uuid":"b","parentUuid":"a","sessionId":"S","cwd":"/home/dev/shop","version":"2.1.330","timestamp":"2026-11-21T21:00:05.000Z","message":{"id":"m1","type":"message","role":"assistant","model":"claude-opus-4-5-20251101","content":[{"type":"text","text":"It is fixed."}],"stop_reason":"end_turn","usage":{"input_tokens":12,"cache_read_input_tokens":9000,"cache_creation_input_tokens":988,"output_tokens":7}}}"#,
    "\n",
);

/// The rows after it: a prompt, a thought, a call, its result, and an answer.
const TOOLS: &str = concat!(
    r#"{"type":"user","uuid":"c","parentUuid":"b","sessionId":"S","timestamp":"2026-11-21T21:01:00.000Z","message":{"role":"user","content":"show it"}}"#,
    "\n",
    r#"{"type":"assistant","uuid":"d","parentUuid":"c","sessionId":"S","timestamp":"2026-11-21T21:01:02.000Z","message":{"id":"m2","role":"assistant","model":"claude-opus-4-5-20251101","content":[{"type":"thinking","thinking":"Which file?","signature":"c2lnbmF0dXJl"}],"usage":{"input_tokens":9,"cache_read_input_tokens":10001,"output_tokens":60}}}"#,
    "\n",
    r#"{"type":"assistant","uuid":"e","parentUuid":"d","sessionId":"S","timestamp":"2026-11-21T21:01:02.500Z","message":{"id":"m2","role":"assistant","model":"claude-opus-4-5-20251101","content":[{"type":"tool_use","id":"toolu_01","name":"Read","input":{"file_path":"/home/dev/shop/src/tax.rs","limit":3}}],"usage":{"input_tokens":9,"cache_read_input_tokens":10001,"output_tokens":60}}}"#,
    "\n",
    r#"{"type":"user","uuid":"f","parentUuid":"e","sessionId":"S","timestamp":"2026-11-21T21:01:03.000Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_01","content":"1\tfn tax() {\n2\t    net * 0.19\n3\t}"}]}}"#,
    "\n",
    r#"{"type":"assistant","uuid":"g","parentUuid":"f","sessionId":"S","timestamp":"2026-11-21T21:01:05.000Z","message":{"id":"m3","role":"assistant","model":"claude-opus-4-5-20251101","content":[{"type":"text","text":"Here is `tax`."}],"usage":{"input_tokens":95,"cache_read_input_tokens":10010,"output_tokens":9}}}"#,
    "\n",
);

/// Returns the ids of the sessions.
pub fn ids(sandbox: &Sandbox) -> Vec<String> {
    let sessions = sandbox.json(&["sessions"], "aperture.sessions/2");
    sessions["sessions"].as_array().unwrap().iter().map(|session| session["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn every_command_on_every_fixture() {
    for home in homes().into_iter().chain(homes_only_read()) {
        let sandbox = Sandbox::of(&home);
        let mut text = sandbox.screens(&["sessions --subagents --empty"]);
        for id in ids(&sandbox) {
            let id = &id[..if id.starts_with("ses_") { 12 } else { 8 }];
            text.push_str(&sandbox.screens(&[
                &format!("status {id}"),
                &format!("manifest {id}"),
                &format!("manifest {id} --tier summary"),
                &format!("blocks all --session {id}"),
                &format!("summary {id}"),
            ]));
        }
        snapshot(&home, &text);
    }
}

#[test]
fn every_option_of_the_lists() {
    let sandbox = Sandbox::of("tools-and-spill");
    let lines = [
        "",
        "manifest --tier full",
        "manifest --max-tokens 60",
        "--window 40k status",
        "blocks --tree",
        "blocks larger(300) --sort tokens",
        "blocks tool(Read)&path(\"src/**\")",
        "blocks error --sort heat --reverse",
        "blocks cold",
        "show 1",
        "show 15|47",
        "show 15 --raw",
    ];
    sandbox.snapshot("options", &lines);
    let sandbox = Sandbox::new();
    sandbox.session("abc1", format!("{SMALL}{TOOLS}"), 0);
    sandbox.snapshot("transcript", &["transcript", "transcript --headers", "transcript --raw"]);
}

#[test]
fn a_session_in_short() {
    let sandbox = Sandbox::new();
    sandbox.session("abc1", format!("{SMALL}{TOOLS}"), 0);
    let lines = [
        "summary",
        "summary --turns 2..",
        "summary --turn 2 --full",
        "summary --format markdown",
        "summary --turn 2 --format json",
        "summary --turns 9",
        "summary --turns 5..3",
    ];
    sandbox.snapshot("summary", &lines);
}

/// Summaries observe their limits and are extractive, over all fixtures: each sentence occurs in the block that it refers to.
#[test]
fn summaries_are_short_and_quote_the_session() {
    let bare = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
    let mut checked_parts = 0;
    for home in homes() {
        let sandbox = Sandbox::of(&home);
        for id in ids(&sandbox) {
            let summary = sandbox.json(&["summary", &id], "aperture.summary/2");
            assert_eq!(summary, sandbox.json(&["summary", &id, "--format", "json"], "aperture.summary/2"));
            let blocks = sandbox.json(&["show", "all|cold", "-s", &id], "aperture.show/2");
            let contents: Vec<String> =
                blocks["blocks"].as_array().unwrap().iter().map(|block| bare(&block.to_string().replace("\\n", " "))).collect();
            let mut points: Vec<serde_json::Value> = summary["current"]["points"].as_array().unwrap().clone();
            assert!(summary["current"]["tokens"]["value"].as_u64().unwrap() <= 300, "{home}");
            for turn in summary["turns"].as_array().unwrap() {
                assert!(turn["header"]["tokens"]["value"].as_u64().unwrap() <= 12, "{home}: {turn}");
                assert!(turn["summary"]["tokens"]["value"].as_u64().unwrap() <= 120, "{home}: {turn}");
                points.extend(turn["summary"]["points"].as_array().unwrap().iter().cloned());
            }
            for point in points.iter().filter(|point| point["kind"] != "tests" && point["kind"] != "state") {
                for part in point["parts"].as_array().unwrap().iter().filter(|part| part["block"].is_u64()) {
                    let text = part["text"].as_str().unwrap();
                    let text = text.trim_start_matches("first: ").trim_start_matches("now: ");
                    let text = text.rsplit_once(" (").filter(|(_, end)| end.ends_with(" edits)")).map_or(text, |(text, _)| text);
                    let found = contents.iter().any(|content| content.contains(&bare(text)));
                    assert!(found, "{home} {id}: {part} stands nowhere");
                    checked_parts += 1;
                }
            }
        }
    }
    assert!(checked_parts > 0);
}

#[test]
fn explaining() {
    let sandbox = Sandbox::of("tools-and-spill");
    let lines = [
        "explain 1", "explain 15", "explain 16", "explain 19", "explain 45", "compress 16 --level minimal", "pin 19",
        "explain 16", "explain 19", "undo 1", "explain 16", "explain 1..3", "explain nonsense", "explain superseded",
    ];
    sandbox.snapshot("explain", &lines);
}

/// `explain` agrees with `blocks`, for each block of each fixture.
#[test]
fn explanations_agree_with_the_table_of_blocks() {
    let sandbox = Sandbox::of("tools-and-spill");
    let blocks = sandbox.json(&["blocks", "all"], "aperture.blocks/2");
    for block in crate::sandbox::sample(blocks["blocks"].as_array().unwrap(), 4) {
        let explained = sandbox.json(&["explain", &block["number"].to_string()], "aperture.explain/2");
        let explanation = &explained["explanation"];
        assert_eq!(&explained["block"], block);
        assert_eq!((&explanation["state"], &explanation["rule"]), (&block["state"], &block["state_rule"]));
        assert_eq!(explanation["references"].as_array().unwrap().len() as u64, block["references"].as_u64().unwrap());
        assert!(explained["levels"].as_array().unwrap().is_empty() == (explained["decisions"][2]["what"] == "change"));
    }
}

#[test]
fn wide_and_narrow_terminals() {
    let lines = ["sessions", "status", "manifest", "blocks", "summary"];
    Sandbox::of("tools-and-spill").columns(140).snapshot("columns-140", &lines);
    Sandbox::of("tools-and-spill").columns(40).snapshot("columns-40", &lines);
}

/// Terminal widths that every table must support.
const WIDTHS: [usize; 5] = [40, 56, 60, 80, 100];

#[test]
fn no_table_is_wider_than_the_terminal() {
    let mut faults = Vec::new();
    for home in crate::sandbox::sample(homes(), 4) {
        let sandbox = Sandbox::of(&home);
        for columns in crate::sandbox::sample(WIDTHS, 2) {
            for arguments in [
                &["sessions"][..],
                &["usage"],
                &["usage", "--by", "session"],
                &["usage", "--by", "project"],
                &["status"],
                &["blocks", "all"],
                &["blocks", "all", "--tree"],
                &["summary"],
                &["summary", "--turns", "1.."],
            ] {
                let text = sandbox.columns_text(arguments, columns);
                // A command is never broken: see the next test.
                let lines = text.lines().filter(|line| !line.trim_start().starts_with("aperture "));
                let wide = lines.filter(|line| line.width() > columns);
                faults.extend(wide.take(1).map(|line| format!("{arguments:?} of {home} at {columns} columns: {line}")));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_command_that_status_suggests_is_whole_at_any_width() {
    let sandbox = Sandbox::of("tools-and-spill");
    let session = "11111111-1111-4111-8111-111111111111";
    for columns in WIDTHS {
        let text = sandbox.columns_text(&["status", "-s", session, "--window", "50k"], columns);
        let command = format!("aperture compress --preset balanced -s {session}");
        assert!(text.lines().any(|line| line.contains(&command)), "{columns} columns:\n{text}");
    }
}

#[cfg(unix)]
#[test]
fn a_device_is_not_a_session() {
    Sandbox::of("tools-and-spill").check(
        &["status", "/dev/null"],
        expect![[r#"
            error: /dev/null cannot be read
            because: it is not a regular file: a session must be readable more than once
            hint: save its content to a file, and use that file
            exit code 1
        "#]],
    );
}

#[test]
fn every_report_is_json_with_its_schema() {
    let sandbox = Sandbox::of("tools-and-spill");
    for (arguments, schema) in [
        (&[][..], "aperture.status/2"),
        (&["sessions"], "aperture.sessions/2"),
        (&["status"], "aperture.status/2"),
        (&["manifest"], "aperture.manifest/2"),
        (&["blocks", "all"], "aperture.blocks/2"),
        (&["show", "1"], "aperture.show/2"),
        (&["explain", "1"], "aperture.explain/2"),
        (&["transcript"], "aperture.transcript/2"),
        (&["summary"], "aperture.summary/2"),
        (&["summary", "--turn", "1", "--full"], "aperture.summary/2"),
        (&["util", "accuracy"], "aperture.accuracy/2"),
        (&["util", "placeholders"], "aperture.placeholders/2"),
    ] {
        sandbox.json(arguments, schema);
    }
    let blocks = sandbox.json(&["blocks", "all"], "aperture.blocks/2");
    for (place, block) in blocks["blocks"].as_array().unwrap().iter().enumerate() {
        assert_eq!(block["number"], place + 1);
        let first = &block["outdated_reasons"][0];
        assert_eq!((&block["outdated"], &block["outdated_by"]), (&first["reason"], &first["by"]));
    }
}

#[test]
fn a_home_without_sessions() {
    let sandbox = Sandbox::new();
    sandbox.check(&["sessions"],
        expect![[r#"
            error: no sessions were found in HOME/.claude/projects, HOME/.codex/sessions, HOME/.codex/archived_sessions, HOME/.local/share/opencode/opencode.db, HOME/.gemini/tmp
            hint: run one of the clients once (aperture help clients), or name a file: aperture status FILE.jsonl
            exit code 1
        "#]],
    );
    let bare = sandbox.run(&[]);
    assert_eq!((bare.code, bare.stdout), (0, sandbox.text(&["help"])));
    assert!(bare.stderr.contains("no sessions were found in"), "{}", bare.stderr);
    sandbox.check(&["--json"],
        expect![[r#"
            {
              "schema": "aperture.error/1",
              "message": "no sessions were found in HOME/.claude/projects, HOME/.codex/sessions, HOME/.codex/archived_sessions, HOME/.local/share/opencode/opencode.db, HOME/.gemini/tmp",
              "causes": [],
              "hints": [
                "run one of the clients once (aperture help clients), or name a file: aperture status FILE.jsonl"
              ],
              "exit_code": 1
            }
            exit code 1
        "#]],
    );
    sandbox.check(&["status", "1234"],
        expect![[r#"
            error: no sessions were found in HOME/.claude/projects, HOME/.codex/sessions, HOME/.codex/archived_sessions, HOME/.local/share/opencode/opencode.db, HOME/.gemini/tmp
            hint: run one of the clients once (aperture help clients), or name a file: aperture status FILE.jsonl
            exit code 1
        "#]],
    );
    sandbox.check(
        &["blocks", "nonsense"],
        expect![[r#"
            error: unknown selector 'nonsense'
            hint: for the selector language: aperture help selectors
            exit code 2
        "#]],
    );
}

#[test]
fn a_project_without_sessions() {
    let sandbox = Sandbox::of("older-model");
    let elsewhere = sandbox.home.to_string_lossy().into_owned();
    sandbox.check(
        &["-C", &elsewhere],
        expect![[r#"
            AGE  ID       CLIENT PROJECT FULL TURNS TITLE
             2 h 77777777 claude shop     6 %     1 grep session
            no session belongs to this directory; to see one of these: aperture status ID
            exit code 0
        "#]],
    );
    sandbox.check(
        &["-C", "nowhere"],
        expect![[r#"
            error: PROJECT/nowhere is not a directory
            exit code 2
        "#]],
    );
}

#[test]
fn the_newest_session_of_the_project_is_meant() {
    let sandbox = Sandbox::new();
    sandbox.session("11111111-old", SMALL, 0);
    sandbox.session("22222222-new", SMALL, 60);
    sandbox.session("33333333-empty", "", 120);
    let below = sandbox.write("src/deep/a.rs", "");
    let status = sandbox.json(&["status", "-C", &below.parent().unwrap().to_string_lossy()], "aperture.status/2");
    assert_eq!(status["session"], "22222222-new");
}

#[test]
fn a_prompt_behind_an_attachment_is_of_the_user() {
    let sandbox = Sandbox::new();
    let row = |kind: &str, number: u32, name: &str, value: serde_json::Value| {
        let id = |number: u32| (number > 0).then(|| format!("{number:08}-aaaa-4aaa-8aaa-aaaaaaaaaaaa"));
        let row = json!({"type": kind, "uuid": id(number), "parentUuid": id(number - 1), "sessionId": "s", "cwd": "/w",
            "version": "2.1.91", "timestamp": format!("2026-11-19T10:00:0{number}Z"), name: value});
        format!("{row}\n")
    };
    let rules = json!({"type": "mcp_instructions_delta", "addedNames": ["a"], "addedBlocks": ["Use it."], "removedNames": []});
    let answer =
        json!({"id": "m", "role": "assistant", "model": "claude-opus-4-6", "content": [{"type": "text", "text": "Twelve."}]});
    let rows = [
        row("user", 1, "message", json!({"role": "user", "content": "count the carts"})),
        row("attachment", 2, "attachment", rules),
        row("assistant", 3, "message", answer),
    ];
    sandbox.session("abc1", rows.concat(), 0);
    let text = sandbox.text(&["transcript"]);
    let headers: Vec<&str> = text.lines().filter(|line| line.starts_with("──")).collect();
    assert_eq!(headers, ["── user  #1  2026-11-19 10:00:01", "── claude-opus-4-6  #3  2026-11-19 10:00:03"]);
}

#[test]
fn a_session_is_named_by_the_beginning_of_its_id() {
    let sandbox = Sandbox::new();
    sandbox.session("abc1", SMALL, 60);
    sandbox.session("abc2", SMALL, 0);
    sandbox.check(
        &["status", "abc"],
        expect![[r#"
            error: session id prefix 'abc' is ambiguous (2 matches)
            hint: one of abc1, abc2; to use the newest: -s abc1
            exit code 1
        "#]],
    );
    sandbox.check(
        &["status", "abd"],
        expect![[r#"
            error: no session id starts with 'abd', and no such file exists
            hint: to list all sessions: aperture sessions
            exit code 1
        "#]],
    );
    sandbox.check(
        &["blocks", "-s", "abc2"],
        expect![[r##"
            # ROLE   WHAT           TOKENS TURN POSITION  STATE USED
            1 user   "fix the test"     ~3    1 beginning fresh    0
            2 assist "It is fixed."      7    1 newest    fresh    0
            2 blocks, ~10 tokens
            exit code 0
        "##]],
    );
    sandbox.check(
        &["status", "abc1", "--session", "abc2"],
        expect![[r#"
            error: two sessions are given: 'abc1' and, by --session, 'abc2'
            exit code 2
        "#]],
    );
}

#[test]
fn files_other_than_sessions() {
    let sandbox = Sandbox::new();
    sandbox.write("empty.jsonl", "");
    sandbox.write("history.jsonl", r#"{"display":"hi","pastedContents":{},"timestamp":1,"project":"/p"}"#);
    sandbox.write("log.jsonl", r#"{"role":"user","content":"hi"}"#);
    sandbox.write("state.vscdb", b"SQLite format 3\0 and so on");
    sandbox.write("photo.png", b"\x89PNG\r\n\x1a\n\0\0");
    sandbox.write("directory/file", "");
    for (name, expected) in [
        (
            "empty.jsonl",
            expect![[r#"
            error: PROJECT/empty.jsonl is empty: no session yet
            hint: to list the supported sessions: aperture sessions
            exit code 1
        "#]],
        ),
        (
            "history.jsonl",
            expect![[r#"
                error: PROJECT/history.jsonl is not a session that aperture supports: it looks like Claude Code's history.jsonl, the list of typed prompts
                hint: to list the supported sessions: aperture sessions
                exit code 1
            "#]],
        ),
        (
            "log.jsonl",
            expect![[r#"
                hi
                log · 1 turn, 0 steps

                window    ▕                                        ▏  ~1 of 200k tokens, 0 %
                          200k free; window size assumed; to set it: --window
                billed    never: the model has not answered in this window, all figures are
                          estimates

                by position
                  beginning           1  100 %  ████████████████████ 1 block
                  middle              0    0 %                       0 blocks
                  newest              0    0 %                       0 blocks
                by kind
                  text                1  100 %  ████████████████████ 1 block

                stale     nothing
                file      30 B, 1 row; the window's content is 2 B of it, 6.7 %
                exit code 0
            "#]],
        ),
        (
            "state.vscdb",
            expect![[r#"
                error: PROJECT/state.vscdb is not a session that aperture supports: it looks like an SQLite database; Cursor keeps its sessions in one
                hint: to list the supported sessions: aperture sessions
                exit code 1
            "#]],
        ),
        (
            "photo.png",
            expect![[r#"
            error: PROJECT/photo.png is not a session: none of its first lines has a known format
            hint: to list the supported sessions: aperture sessions
            exit code 1
        "#]],
        ),
        (
            "directory",
            expect![[r#"
                error: PROJECT/directory is a directory: name one of its files, or use -C
                hint: to list the supported sessions: aperture sessions
                exit code 1
            "#]],
        ),
        (
            "missing.jsonl",
            expect![[r#"
                error: there is no file PROJECT/missing.jsonl
                hint: to list all sessions: aperture sessions
                exit code 1
            "#]],
        ),
    ] {
        sandbox.check(&["status", name], expected);
    }
}

#[cfg(unix)]
#[test]
fn a_file_that_may_not_be_read() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::new();
    let path = sandbox.write("secret.jsonl", SMALL);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o0)).unwrap();
    if std::fs::read(&path).is_ok() {
        return skipped("this user can read every file");
    }
    sandbox.check(
        &["status", "secret.jsonl"],
        expect![[r#"
        error: PROJECT/secret.jsonl cannot be read
        because: Permission denied (os error 13)
        hint: check that you may read it: ls -l PROJECT/secret.jsonl
        exit code 1
    "#]],
    );
}

#[test]
fn several_selectors_are_a_union() {
    let sandbox = Sandbox::of("older-model");
    let union = sandbox.text(&["blocks", "3..4 | 7"]);
    for several in [&["blocks", "3..4", "7"][..], &["blocks", "3,4,7"], &["blocks", "3,", "4", "7,"], &["blocks", "7, 3..4"]] {
        assert_eq!(sandbox.text(several), union, "{several:?}");
    }
    assert_eq!(sandbox.text(&["show", "3", "7"]), sandbox.text(&["show", "3 | 7"]));
    sandbox.check(
        &["explain", "3", "7"],
        expect![[r#"
            error: '3, 7' matches 2 blocks; explain takes one
            hint: to list every block: aperture blocks all -s 77777777
            exit code 1
        "#]],
    );
    sandbox.check(
        &["update", "3,7", "text", "--dry-run"],
        expect![[r#"
            error: cannot plan the change of the session 77777777
            because: '3,7' matches 2 blocks; update takes one
            hint: to list blocks with their numbers: aperture blocks -s 77777777
            exit code 1
        "#]],
    );
    sandbox.check(
        &["pin", "3,", "7", "--dry-run"],
        expect![[r#"
            2 blocks would be pinned
              #3  model (~55)
              #7  date (~38)
            nothing was written: this is a dry run
            exit code 0
        "#]],
    );
    sandbox.check(
        &["show", "3", "99"],
        expect![[r#"
            error: there is no block 99: the session has blocks 1 to 26
            hint: to list them: aperture blocks -s 77777777
            exit code 1
        "#]],
    );
}

#[test]
fn misspelled_selectors_are_suggested() {
    let sandbox = Sandbox::of("older-model");
    sandbox.check(
        &["blocks", "grep"],
        expect![[r#"
            error: unknown selector 'grep'
            hint: did you mean 'tool(Grep)'?
            exit code 2
        "#]],
    );
    sandbox.check(
        &["blocks", "src/a.rs"],
        expect![[r#"
            error: unknown selector 'src/a.rs'
            hint: did you mean 'path(src/a.rs)'?
            exit code 2
        "#]],
    );
    sandbox.check(
        &["show", "#17x"],
        expect![[r#"
            error: '17x' is neither a number nor a range like 10..20 at column 5
            hint: did you mean '17'?
            exit code 2
        "#]],
    );
    sandbox.check(
        &["archive", "tool(Grpe)"],
        expect![[r#"
            error: cannot change the session 77777777
            because: no block of the session uses the tool 'Grpe'
            hint: did you mean 'tool(Grep)'?
            exit code 1
        "#]],
    );
    sandbox.check(
        &["blocks", "tool(Zip)"],
        expect![[r#"
            error: no block of the session uses the tool 'Zip'
            hint: the session uses tool(Glob), tool(Grep), tool(TaskCreate), tool(TaskList), tool(TodoWrite)
            exit code 1
        "#]],
    );
    sandbox.check(
        &["blocks", "path(\"nosuch\")"],
        expect![[r#"
            error: no block of the session has the path 'nosuch'
            hint: to list tools and files: aperture blocks all -s 77777777
            exit code 1
        "#]],
    );
    sandbox.check(
        &["blocks", "turn(99)"],
        expect![[r#"
            error: there is no turn 99: the session has turns 1 to 1
            hint: to list the turns: aperture blocks --tree -s 77777777
            exit code 1
        "#]],
    );
    sandbox.check(
        &["blocks", "tool(mcp__*)"],
        expect![[r#"
            no matching blocks
            exit code 0
        "#]],
    );
}

#[test]
fn selectors_that_make_no_sense() {
    let sandbox = Sandbox::of("older-model");
    sandbox.check(
        &["blocks", "stail"],
        expect![[r#"
            error: unknown selector 'stail'
            hint: did you mean 'stale'?
            exit code 2
        "#]],
    );
    sandbox.check(
        &["blocks", "(stale"],
        expect![[r#"
            error: a ')' is missing at column 7
            hint: for the selector language: aperture help selectors
            exit code 2
        "#]],
    );
    sandbox.check(
        &["blocks", "kind(imag)"],
        expect![[r#"
            error: kind() does not accept 'imag'
            hint: did you mean 'image'?
            exit code 2
        "#]],
    );
    sandbox.check(
        &["show", "999"],
        expect![[r#"
            error: there is no block 999: the session has blocks 1 to 26
            hint: to list them: aperture blocks -s 77777777
            exit code 1
        "#]],
    );
    sandbox.check(
        &["show", "toolu_nothing"],
        expect![[r#"
            error: no block has the tool-use id 'toolu_nothing'
            hint: to find it as text: aperture search toolu_nothing
            exit code 1
        "#]],
    );
    sandbox.check(
        &["show", "cold"],
        expect![[r#"
            error: no block matches 'cold'
            hint: to list every block: aperture blocks all -s 77777777
            exit code 1
        "#]],
    );
}

#[test]
fn arguments_that_make_no_sense() {
    let sandbox = Sandbox::of("older-model");
    sandbox.check(
        &["help", "nonsense"],
        expect![[r#"
            error: unknown command or topic 'nonsense'
            hint: to list the commands: aperture help; the topics are selectors, lifecycle, settings, bulk and clients
            exit code 2
        "#]],
    );
    sandbox.check(
        &["help", "--", "--version"],
        expect![[r#"
            error: unknown command or topic '--version'
            hint: to list the commands: aperture help; the topics are selectors, lifecycle, settings, bulk and clients
            exit code 2
        "#]],
    );
    sandbox.check(
        &["statsu"],
        expect![[r#"
            error: unrecognized subcommand 'statsu'
            hint: a similar subcommand exists: 'status'
            hint: for help: aperture --help
            exit code 2
        "#]],
    );
    sandbox.check(
        &["--window", "many", "status"],
        expect![[r#"
            error: invalid value 'many' for '--window <TOKENS>': write a number of tokens as 200000, 200k or 1M
            hint: for help: aperture status --help
            exit code 2
        "#]],
    );
    sandbox.check(
        &["transcript", "--raw", "--headers"],
        expect![[r#"
            error: the argument '--raw' cannot be used with '--headers'
            hint: for help: aperture transcript --help
            exit code 2
        "#]],
    );
}

#[test]
fn damage_is_counted_and_never_fatal() {
    let sandbox = Sandbox::new();
    let lines: Vec<&str> = SMALL.lines().collect();
    let broken =
        format!("{}\nnot json\n[1]\n{{\"type\":\"novel\",\"uuid\":\"n\"}}\n{}\n{{\"type\":\"user\",\"mess", lines[0], lines[1]);
    sandbox.session("abc1", broken, 0);
    sandbox.check(
        &["status"],
        expect![[r#"
            fix the test
            abc1 · claude-opus-4-5-20251101 · 1 turn, 1 step · 2 h ago · /home/dev/shop

            window    ▕██                                      ▏  10k of 200k tokens, 5 %
                      157k free until auto-compaction; window size by model
            reserve   33k: the client compacts automatically from 167k on
            prompt    the next one costs ~$0.06 for the window: the cache has expired
            billed    10k at the last answer

            by position
              system, tools     10k  100 %  ████████████████████ not in file
              beginning           3  0.0 %                       1 block
              middle              0    0 %                       0 blocks
              newest              7  0.1 %                       1 block
            by kind
              text               10  0.1 %                       2 blocks

            stale     nothing
            file      681 B, 6 rows; the window's content is 24 B of it, 3.5 %
            damage    1 unreadable line, 1 line that is not an object, 1 half-written last
                      line
                      row 2: not JSON; the client skips the line; its content is lost; 2
                      more findings
                      aperture check abc1 --no-damage, which lists it
            exit code 0
        "#]],
    );
    let status = sandbox.json(&["status"], "aperture.status/2");
    let damage = status["damage"].as_array().unwrap();
    assert!(damage.contains(&serde_json::json!({"fault": "half_written", "count": 1})), "{damage:?}");
    let glued = format!("{}{}\n\u{feff}\n\0\n", lines[0], lines[1]);
    sandbox.session("abc1", glued, 0);
    sandbox.check(
        &["status"],
        expect![[r#"
            fix the test
            abc1 · 1 turn, 0 steps · 3 h ago · /home/dev/shop

            window    ▕                                        ▏  ~3 of 200k tokens, 0 %
                      167k free until auto-compaction; window size assumed; to set it:
                      --window
            reserve   33k: the client compacts automatically from 167k on
            billed    never: the model has not answered in this window, all figures are
                      estimates

            by position
              beginning           3  100 %  ████████████████████ 1 block
              middle              0    0 %                       0 blocks
              newest              0    0 %                       0 blocks
            by kind
              text                3  100 %  ████████████████████ 1 block

            stale     nothing
            file      625 B, 3 rows; the window's content is 12 B of it, 1.9 %
            damage    2 unreadable lines, 1 line with rows glued together
                      row 1: several rows on one line; the client reads only the first of
                      them; 1 more finding
                      aperture repair abc1 --dry-run, which shows how to mend it
            exit code 0
        "#]],
    );
}

#[test]
fn a_session_that_grows_is_read_on() {
    let sandbox = Sandbox::new();
    let lines: Vec<&str> = SMALL.lines().collect();
    sandbox.session("abc1", format!("{}\n", lines[0]), 0);
    let blocks = |sandbox: &Sandbox| sandbox.json(&["blocks", "all"], "aperture.blocks/2")["blocks"].clone();
    assert_eq!(blocks(&sandbox).as_array().unwrap().len(), 1);
    sandbox.session("abc1", SMALL, 5);
    let cached = blocks(&sandbox);
    assert_eq!(cached.as_array().unwrap().len(), 2);
    assert_eq!(cached, sandbox.json(&["blocks", "all", "--no-cache"], "aperture.blocks/2")["blocks"]);
    sandbox.session("abc1", SMALL.replace("fix the test", "do nothing"), 5);
    assert!(blocks(&sandbox).to_string().contains("do nothing"));
}

#[test]
fn the_cache_changes_nothing() {
    for home in ["interactive-compact", "tools-and-spill"] {
        let sandbox = Sandbox::of(home);
        for arguments in [&["status"][..], &["manifest"], &["blocks", "all"], &["sessions", "--empty"]] {
            let cold = sandbox.text(&[arguments, &["--no-cache"]].concat());
            let first = sandbox.text(arguments);
            let warm = sandbox.text(arguments);
            assert!(cold == first && first == warm, "{arguments:?} of {home}\n{cold}\n{first}\n{warm}");
        }
    }
}

#[test]
fn lost_rows_are_not_counted_as_the_system_prompt() {
    let sandbox = Sandbox::new();
    let row = |id: &str, parent: &str, kind: &str, message: &str| {
        format!(
            r#"{{"uuid":"{id}","parentUuid":{parent},"type":"{kind}","sessionId":"abc1","version":"2.1.0","isSidechain":false,"timestamp":"2026-01-01T00:00:00.000Z","message":{message}}}"#
        )
    };
    let prompt = r#"{"role":"user","content":"Go on."}"#;
    let answer = r#"{"id":"m1","role":"assistant","model":"claude-opus-4-5","type":"message","content":[{"type":"text","text":"Done."}],"stop_reason":"end_turn","usage":{"input_tokens":90000,"output_tokens":3}}"#;
    let (lost, whole) = ("System prompt, tools, lost messages (90k)", "System prompt and tools (90k)");
    for (parent, before, what) in
        [(r#""p0""#, None, lost), ("null", None, whole), (r#""p0""#, Some(r#""p1""#), lost), (r#""p0""#, Some("null"), whole)]
    {
        let before = before.map(|parent| row("p0", parent, "progress", "{}"));
        let rows = [row("u1", parent, "user", prompt), row("a1", r#""u1""#, "assistant", answer)];
        let rows: String = before.into_iter().chain(rows).map(|row| row + "\n").collect();
        sandbox.session("abc1", &rows, 0);
        let text = sandbox.text(&["manifest", "-s", "abc1"]);
        assert!(text.contains(what), "{parent}: {text}");
        assert_eq!(sandbox.text(&["manifest", "-s", "abc1", "--json"]).contains("\"lost\": true"), what == lost);
    }
}

#[test]
fn a_broken_cache_is_ignored() {
    let sandbox = Sandbox::of("older-model");
    let plain = sandbox.text(&["status"]);
    let cache = sandbox.home.join(".aperture/cache/cache.db");
    assert!(cache.exists());
    std::fs::write(&cache, "no database").unwrap();
    assert_eq!(sandbox.text(&["status"]), plain);
    let list = sandbox.text(&["sessions", "--empty"]);
    let totals = sandbox.home.join(".aperture/cache/totals");
    assert!(std::fs::metadata(&totals).unwrap().len() > 100);
    std::fs::write(&totals, "no totals").unwrap();
    assert_eq!(sandbox.text(&["sessions", "--empty"]), list);
    std::fs::remove_dir_all(cache.parent().unwrap()).unwrap();
    std::fs::write(cache.parent().unwrap(), "no directory").unwrap();
    assert_eq!(sandbox.text(&["status"]), plain);
}

#[cfg(unix)]
#[test]
fn the_cache_is_private_and_no_session_is_touched() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::of("older-model");
    let path = sandbox.session("abc1", SMALL, 0);
    let before = (std::fs::read(&path).unwrap(), std::fs::metadata(&path).unwrap().modified().unwrap());
    sandbox.text(&["status"]);
    sandbox.text(&["sessions", "--empty"]);
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&sandbox.home.join(".aperture/cache")), 0o700);
    assert_eq!(["cache.db", "totals"].map(|name| mode(&sandbox.home.join(".aperture/cache").join(name))), [0o600; 2]);
    assert_eq!(before, (std::fs::read(&path).unwrap(), std::fs::metadata(&path).unwrap().modified().unwrap()));
    let other = Sandbox::of("older-model");
    other.text(&["status", "--no-cache"]);
    other.text(&["sessions", "--empty", "--no-cache"]);
    assert!(!other.home.join(".aperture").exists(), "--no-cache leaves nothing behind");
}

#[test]
fn a_line_of_two_megabytes() {
    let sandbox = Sandbox::new();
    let lines: Vec<&str> = SMALL.lines().collect();
    let long = lines[0].replace("fix the test", &"lorem ipsum ".repeat(180_000));
    assert!(long.len() > 2_000_000);
    sandbox.session("abc1", format!("{long}\n{}\n", lines[1]), 0);
    sandbox.check(
        &["blocks", "all"],
        expect![[r##"
            # ROLE   WHAT                                   TOKENS TURN POSITION  STATE USED
            1 user   "lorem ipsum lorem ipsum lorem ipsum …  ~353k    1 beginning fresh    0
            2 assist "It is fixed."                              7    1 newest    fresh    0
            2 blocks, ~353k tokens
            exit code 0
        "##]],
    );
}

#[test]
fn settings_are_read_and_checked() {
    let sandbox = Sandbox::of("older-model");
    sandbox.write("aperture.toml", "[windows]\nclaude-sonnet = 50000\n");
    let status = sandbox.json(&["status"], "aperture.status/2");
    assert_eq!(status["capacity_tokens"], 50_000);
    assert_eq!(sandbox.json(&["status", "--window", "1M"], "aperture.status/2")["capacity_tokens"], 1_000_000);
    sandbox.write("aperture.toml", "[windows]\nclaude-sonnet = \"many\"\n");
    sandbox.check(
        &["status"],
        expect![[r#"
            error: cannot use the settings in PROJECT/aperture.toml
            because: TOML parse error at line 2, column 17
              |
            2 | claude-sonnet = "many"
              |                 ^^^^^^
            invalid type: string "many", expected u64
            hint: to list the settings: aperture help settings
            exit code 2
        "#]],
    );
    sandbox.write("aperture.toml", "windwos = 1\n");
    sandbox.check(&["status"],
        expect![[r#"
            error: cannot use the settings in PROJECT/aperture.toml
            because: TOML parse error at line 1, column 1
              |
            1 | windwos = 1
              | ^^^^^^^
            unknown field `windwos`, expected one of `windows`, `stale`, `preset`, `protect`, `keep`, `budget`, `check`, `hooks`, `resume`, `focus`, `watch`, `pipeline`, `memory`, `sessions`, `sidecar`, `prices`, `model`
            hint: to list the settings: aperture help settings
            exit code 2
        "#]],
    );
    sandbox.write("aperture.toml", format!("{}nonsense = 1\n", "# nothing of note\n".repeat(1 << 20)));
    sandbox.check(
        &["status"],
        expect![[r#"
            error: cannot read the settings in PROJECT/aperture.toml
            because: it is too long for such a file
            exit code 1
        "#]],
    );
}

#[test]
fn within_a_client_another_session_is_not_meant() {
    let sandbox = Sandbox::of("tools-and-spill");
    let new = "99999999-0000-4000-8000-000000000000";
    let output = sandbox.command(&["pin", "16"]).env("CLAUDE_CODE_SESSION_ID", new).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(1) && said.contains("a new session is written with its first answer"), "{said}");
    assert_eq!(sandbox.json(&["log"], "aperture.log/2")["operations"].as_array().unwrap().len(), 0);
}

#[test]
fn control_characters_are_harmless() {
    let sandbox = Sandbox::new();
    let evil = r"\u001b[31mred\u001b]0;title\u0007 \u202e end";
    sandbox.session("abc1", SMALL.replace("fix the test", evil), 0);
    for arguments in
        [&["status"][..], &["manifest"], &["blocks"], &["blocks", "--tree"], &["show", "1"], &["transcript"], &["sessions"]]
    {
        let text = sandbox.columns_text(arguments, 140);
        assert!(!text.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{arguments:?}: {text}");
    }
    assert!(sandbox.text(&["show", "1", "--raw"]).contains("\u{1b}[31mred"), "--raw is the content as it is");
}

#[test]
fn lists_hold_no_credentials() {
    let sandbox = Sandbox::new();
    let prompt = "use the key sk-ant-api03-abcdefghijklmnopqrstuvwxyz and password=hunter2hunter2 to deploy";
    sandbox.session("abc1", format!("{}{TOOLS}", SMALL.replace("fix the test", prompt)), 0);
    for arguments in
        [&["status"][..], &["manifest"], &["manifest", "--tier", "full"], &["blocks"], &["blocks", "--tree"], &["sessions"]]
    {
        for json in [&[][..], &["--json"]] {
            let text = sandbox.columns_text(&[arguments, json].concat(), 140);
            assert!(!text.contains("sk-ant-api03") && !text.contains("hunter2"), "{arguments:?} {json:?}: {text}");
        }
    }
    assert!(!sandbox.text(&["show", "1"]).contains("hunter2hunter2"));
    assert!(sandbox.text(&["show", "1", "--raw"]).contains("hunter2hunter2"), "--raw is the content as it is");
}

#[test]
fn the_output_pipe_is_closed() {
    let sandbox = Sandbox::of("tools-and-spill");
    for arguments in [&["transcript", "--raw"][..], &["help"], &["completions", "bash"], &["blocks", "all", "--json"]] {
        let mut child = sandbox.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let mut stderr = String::new();
        child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        assert_eq!((child.wait().unwrap().code(), &*stderr), (Some(0), ""), "{arguments:?}");
    }
}

#[test]
fn colours_are_for_terminals() {
    let sandbox = Sandbox::of("tools-and-spill");
    assert!(!sandbox.text(&["status"]).contains('\u{1b}'));
    assert!(sandbox.text(&["status", "--color", "always"]).contains('\u{1b}'));
}

#[test]
fn help_explains_every_command_and_topic() {
    let sandbox = Sandbox::new();
    for name in [
        "manifest", "sessions", "status", "blocks", "show", "transcript", "help", "completions", "selectors", "lifecycle",
        "settings", "clients", "explain",
    ] {
        let text = sandbox.text(&["help", name]);
        let wide = text.lines().find(|line| line.width() > 80);
        assert_eq!(wide, None, "aperture help {name}");
    }
    assert_eq!(sandbox.text(&["help"]), sandbox.text(&["--help"]));
    assert_eq!(sandbox.text(&["help", "manifest"]), sandbox.text(&["manifest", "--help"]));
    assert!(sandbox.text(&["--version"]).starts_with("aperture "));
}

#[test]
fn accuracy_is_printed_for_any_session() {
    let sandbox = Sandbox::of("tools-and-spill");
    let text = sandbox.text(&["util", "accuracy"]);
    assert!(text.contains("all steps"), "{text}");
}

/// Settings are changed one after the other, and what is not changed stays.
#[test]
fn settings_that_are_written_at_once_are_all_written() {
    let sandbox = Sandbox::new();
    let path = sandbox.home.join(".aperture/config.toml");
    let set = |number: usize| {
        let mut command = sandbox.command(&["config", "set", &format!("windows.m{number}"), "200000"]);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    let writers: Vec<_> = (0..12).map(set).collect();
    for mut writer in writers {
        assert!(writer.wait().unwrap().success());
    }
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text.matches(" = 200000\n").count(), 12, "{text}");
    let text = "[budget]\r\ntokens = 5000 # for the CI machine\r\n";
    std::fs::write(&path, text).unwrap();
    assert_eq!(sandbox.run(&["config", "set", "budget.tokens", "7000"]).code, 0);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text.replace("5000", "7000"));
    let outcome = sandbox.run(&["config", "remove", "protect.paths", "zz"]);
    assert!(outcome.code == 2 && outcome.stderr.contains("protect.paths is not set"), "{}", outcome.stderr);
    assert_eq!(sandbox.run(&["config", "unset", "budget.tokens"]).code, 0);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "");
}

#[test]
fn a_table_of_settings_is_printed_as_a_value_that_can_be_set() {
    let sandbox = Sandbox::new();
    let outcome = sandbox.run(&["config", "set", "stale.kinds.image", "{ turns = 1 }"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    for (key, toml, json) in [
        ("stale.kinds.image", "{ turns = 1 }", r#"{"turns":1}"#),
        ("stale", "{ kinds = { image = { turns = 1 } } }", r#"{"kinds":{"image":{"turns":1}}}"#),
        ("stale.kinds.\"image\".turns", "1", "1"),
    ] {
        let text = sandbox.text(&["config", "get", key]);
        assert_eq!(text.trim_end(), toml);
        let report: serde_json::Value = serde_json::from_str(&sandbox.text(&["config", "get", key, "--json"])).unwrap();
        assert_eq!(report["value"].to_string(), json);
        assert_eq!(report["values"][0]["key"], "stale.kinds.image.turns");
        let table = key.trim_end_matches(".\"image\".turns");
        let again = sandbox.text(&["config", "get", table]);
        assert_eq!(sandbox.run(&["config", "set", table, again.trim_end()]).code, 0, "{again}");
        assert_eq!(sandbox.text(&["config", "get", key]), text);
    }
    assert_eq!(sandbox.run(&["config", "get", "stale.kinds.document"]).code, 1);
}
