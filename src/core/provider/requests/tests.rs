//! Tests of the rows and blocks of request bodies.

use super::*;
use crate::provider::laws::session;

const MESSAGES: &str = r#"{"messages":[
 {"role":"user","content":"begin"},
 {"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"tool_use","id":"t","name":"Read","input":{"file_path":"/a"}}]},
 {"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"a file"}]},{"type":"text","text":"go on","x":1}]},
 {"role":"system","content":"a note"},
 {"role":"system","content":[{"type":"text","text":"another"},{"type":"new","data":[]}]},
 {"role":"user"}, 7],
"tools":[{"name":"Read","input_schema":{}}],"system":"You are an agent."}"#;

const RESPONSES: &str = r#"{"instructions":"You are an agent.","input":[
 {"type":"message","role":"developer","content":[{"type":"input_text","text":"<permissions instructions>\nnone"}]},
 {"type":"message","role":"user","content":[{"type":"input_text","text":"begin"}]},
 {"type":"reasoning","summary":[],"encrypted_content":"sealed"},
 {"type":"function_call","name":"shell","call_id":"c","arguments":"{\"command\":\"ls\"}"},
 {"type":"function_call_output","call_id":"c","output":"a file"},
 {"type":"message","role":"assistant","content":[{"type":"output_text","text":"done"}]}],
"tools":[{"type":"custom","name":"apply_patch"}]}"#;

const CHAT: &str = r#"{"model":"deepseek/deepseek-chat","messages":[
 {"role":"system","content":"You are an agent."},
 {"role":"developer","content":[{"type":"text","text":"Be brief."}]},
 {"role":"user","content":[{"type":"text","text":"begin"},{"type":"image_url","image_url":{"url":"https://example.com/a.png"}},{"type":"input_audio","input_audio":{"data":"","format":"wav"}},{"type":"file","file":{"filename":"a.pdf","file_data":""}},{"type":"new"}]},
 {"role":"assistant","content":"","reasoning_content":"hm","tool_calls":[{"id":"c","type":"function","function":{"name":"read","arguments":"{\"filePath\":\"/a\"}"}},{"id":"d","type":"custom","custom":{"name":"x","input":"text"}},{"id":"e","type":"function","function":{"name":"y","arguments":"broken"}}]},
 {"role":"tool","tool_call_id":"c","content":"a file"},
 {"role":"tool","tool_call_id":"d","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]},
 {"role":"assistant","content":[{"type":"refusal","refusal":"no"}],"refusal":"never"},
 {"role":"user","content":"<system-reminder>\nbe brief\n</system-reminder>"},
 {"role":"assistant","content":null,"function_call":{"name":"ls","arguments":"{}"}},
 {"role":"function","name":"ls","content":"b"},
 {"role":"system","content":"a later note"},
 {"role":"user"}, 7],
"tools":[{"type":"function","function":{"name":"read"}}],"functions":[{"name":"ls","parameters":{}}]}"#;

fn rows<'a>(format: &dyn ProviderAdapter, body: &'a str) -> Vec<(&'a [u8], ParsedRow<'a>)> {
    let rows = format.framing().rows(body.as_bytes()).into_iter().map(|row| &body.as_bytes()[row]);
    rows.map(|row| (row, format.parse(row))).collect()
}

fn check(format: &dyn ProviderAdapter, body: &str, expected: &[&str]) {
    let describe = |(bytes, parsed): &(&[u8], ParsedRow<'_>)| {
        let block = |(index, block): (u32, &ParsedBlock<'_>)| {
            let (kind, role) = (block.block.kind.name(), block.block.role.name());
            let mark = if format.slot(bytes, index).is_some() { "" } else { "!" };
            format!("{mark}{kind} {role} {}", block.content)
        };
        let blocks: Vec<String> = (0..).zip(&parsed.blocks).map(block).collect();
        format!("{:?}{}: {}", parsed.row.kind, if parsed.row.prompt { "*" } else { "" }, blocks.join(" | "))
    };
    let rows = rows(format, body);
    assert_eq!(rows.iter().map(describe).collect::<Vec<_>>(), expected);
}

#[test]
fn the_elements_of_a_request_are_rows() {
    check(
        REQUESTS[0],
        MESSAGES,
        &[
            "User*: text user begin",
            r#"Assistant: !thinking thinking hm | tool_use tool_use {"file_path":"/a"}"#,
            "User*: tool_result tool_result a file | text user go on",
            "Attachment: attachment system a note",
            r#"Attachment: attachment system another | !attachment system {"type":"new","data":[]}"#,
            "Link: ",
            "Broken: ",
            r#"Attachment: !other system {"name":"Read","input_schema":{}}"#,
            "Attachment: attachment system You are an agent.",
        ],
    );
    check(
        REQUESTS[1],
        RESPONSES,
        &[
            "Attachment: attachment system You are an agent.",
            "Attachment: attachment system <permissions instructions>\nnone",
            "User*: text user begin",
            "Assistant: !thinking thinking ",
            r#"Assistant: tool_use tool_use {"command":"ls"}"#,
            "User: tool_result tool_result a file",
            "Assistant: text assistant done",
            r#"Attachment: !other system {"type":"custom","name":"apply_patch"}"#,
        ],
    );
    check(
        REQUESTS[2],
        CHAT,
        &[
            "State: ",
            "Attachment: attachment system You are an agent.",
            "Attachment: attachment system Be brief.",
            r#"User*: text user begin | image user [image] | document user [document] | document user [document] | !other user {"type":"new"}"#,
            r#"Assistant: !thinking thinking hm | tool_use tool_use {"filePath":"/a"} | tool_use tool_use text | !tool_use tool_use broken"#,
            "User: tool_result tool_result a file",
            "User: tool_result tool_result a\nb",
            "Assistant: text assistant no | text assistant never",
            "User: attachment user <system-reminder>\nbe brief\n</system-reminder>",
            "Assistant: tool_use tool_use {}",
            "User: tool_result tool_result b",
            "Attachment: attachment system a later note",
            "User: ",
            "Broken: ",
            r#"Attachment: !other system {"type":"function","function":{"name":"read"}}"#,
            r#"Attachment: !other system {"name":"ls","parameters":{}}"#,
        ],
    );
}

#[test]
fn a_chat_session_has_a_model_instructions_and_pairs() {
    let mut session = session(REQUESTS[2], CHAT.as_bytes());
    let labels: Vec<&str> = session.blocks.iter().filter(|block| block.role == Role::System).map(|block| &*block.label).collect();
    assert_eq!(labels, [INSTRUCTIONS, INSTRUCTIONS, "system", TOOL, TOOL]);
    let answered = session.rows.iter().find(|row| row.kind == RowKind::Assistant).unwrap();
    assert_eq!(answered.model.as_deref(), Some("deepseek-chat"));
    let calls: Vec<Key> =
        session.blocks.iter().filter(|block| block.kind == BlockKind::ToolUse).filter_map(|block| block.call).collect();
    let results = session.blocks.iter().filter(|block| block.kind == BlockKind::ToolResult).map(|block| block.call.unwrap());
    assert_eq!(results.collect::<Vec<_>>(), [calls[0], calls[1], calls[3]]);
    let before = session.clone();
    REQUESTS[2].link(&mut session);
    assert!(session == before, "idempotent");
}

#[test]
fn other_documents_are_no_bodies() {
    for odd in ["", "{", "[]", "null", r#"{"messages":3}"#, r#"{"input":"text"}"#] {
        assert!(!REQUESTS.iter().any(|format| format.recognizes(odd.as_bytes())), "{odd}");
    }
}

#[test]
fn a_broken_body_is_one_broken_row() {
    for format in REQUESTS {
        for broken in ["{\"messages\":[", "3", "[]", "\u{1}"] {
            check(*format, broken, &["Broken: "]);
        }
    }
}

#[test]
fn an_image_that_becomes_a_text_leaves_its_row_the_same() {
    let row = r#"{"role":"user","content":[{"type":"image","source":{"type":"base64","data":""},"cache_control":{}}]}"#;
    let format = REQUESTS[0];
    let slot = format.slot(row.as_bytes(), 0).unwrap();
    let range = format.locate_slot(row.as_bytes(), slot).unwrap();
    let value = format.encode(slot, BlockKind::Image, "gone").unwrap();
    let after = [&row.as_bytes()[..range.start], &value, &row.as_bytes()[range.end..]].concat();
    assert_eq!(format.stub(&after), format.stub(row.as_bytes()));
    assert_eq!(format.parse(&after).blocks[0].content, "gone");
}

#[test]
fn the_type_of_a_message_can_be_left_out() {
    let format = REQUESTS[1];
    let row = r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"ask"}]}"#;
    for (row, role) in [(row, "user"), (&*row.replace("user", "assistant").replace("input", "output"), "assistant")] {
        let short = row.replace(r#""type":"message","#, "");
        let (whole, parsed) = (format.parse(row.as_bytes()), format.parse(short.as_bytes()));
        assert_eq!(
            (parsed.row.kind, parsed.row.prompt, parsed.row.kind == RowKind::User),
            (whole.row.kind, whole.row.prompt, role == "user")
        );
        let contents = |parsed: &ParsedRow<'_>| parsed.blocks.iter().map(|block| block.content.to_string()).collect::<Vec<_>>();
        assert_eq!(contents(&parsed), contents(&whole));
        let slot = format.slot(short.as_bytes(), 0).unwrap();
        assert_eq!(&short[format.locate_slot(short.as_bytes(), slot).unwrap()], "\"ask\"");
    }
    assert_eq!(format.parse(br#"{"content":[{"type":"input_text","text":"ask"}]}"#).row.kind, RowKind::Attachment, "a tool");
}

proptest::proptest! {
    #[test]
    fn any_bytes_give_rows(bytes in "\\PC{0,120}", index in 0u32..4) {
        for format in REQUESTS.iter().chain(MEDIA) {
            format.recognizes(bytes.as_bytes());
            for row in format.framing().rows(bytes.as_bytes()) {
                let row = &bytes.as_bytes()[row];
                format.parse(row);
                format.stub(row);
                if let Some(range) = format.slot(row, index).and_then(|slot| format.locate_slot(row, slot)) {
                    proptest::prop_assert!(row.get(range).is_some());
                }
            }
        }
    }

    #[test]
    fn any_message_gives_blocks_whose_slots_have_places(message in message()) {
        let body = format!("{{\"messages\":[{message}]}}");
        for format in REQUESTS.iter().chain(MEDIA).filter(|format| format.name().starts_with("openai-chat")) {
            for row in format.framing().rows(body.as_bytes()) {
                let row = &body.as_bytes()[row];
                for (index, block) in (0..).zip(format.parse(row).blocks) {
                    let Some(slot) = format.slot(row, index) else { continue };
                    let range = format.locate_slot(row, slot).expect("a slot has a place");
                    let Some(value) = format.encode(slot, block.block.kind, "{\"a\":1}") else { continue };
                    let after = [&row[..range.start], &value, &row[range.end..]].concat();
                    proptest::prop_assert_eq!(&format.parse(&after).blocks[index as usize].content, "{\"a\":1}");
                    proptest::prop_assert_eq!(format.stub(&after), format.stub(row));
                }
            }
        }
    }
}

/// A message with members of all forms, wanted or not.
fn message() -> impl proptest::strategy::Strategy<Value = String> {
    use proptest::prelude::*;
    let role = prop::sample::select(vec!["system", "developer", "user", "assistant", "tool", "function", "new"]);
    let value = prop::sample::select(vec![
        "null",
        "3",
        "\"\"",
        "\"text\"",
        "[]",
        r#"[{"type":"text","text":"a"},{"type":"refusal","refusal":"b"},{"type":"text"}]"#,
        r#"[{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}},{"type":"file","file":{}},4]"#,
        r#"[{"id":"c","function":{"name":"x","arguments":"{}"}},{"id":"d","custom":{"name":"y","input":"z"}},{"id":"e"}]"#,
        r#"{"name":"x","arguments":"{\"a\":2}"}"#,
    ]);
    let name =
        prop::sample::select(vec!["content", "reasoning_content", "refusal", "tool_calls", "function_call", "tool_call_id"]);
    (role, prop::collection::vec((name, value), 0..5)).prop_map(|(role, members)| {
        let members: String = members.iter().map(|(name, value)| format!(",\"{name}\":{value}")).collect();
        format!("{{\"role\":\"{role}\"{members}}}")
    })
}
