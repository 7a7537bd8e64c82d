//! Tests of the rows and blocks of request bodies.

use super::*;

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
fn the_elements_of_a_messages_request_are_rows() {
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
}

#[test]
fn the_elements_of_a_responses_request_are_rows() {
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
}

#[test]
fn a_body_is_recognized_by_its_own_format_only() {
    for (body, name) in [(MESSAGES, "anthropic-messages"), (RESPONSES, "openai-responses")] {
        let formats = REQUESTS.iter().chain(super::super::PROVIDERS).filter(|format| format.recognizes(body.as_bytes()));
        assert_eq!(formats.map(|format| format.name()).collect::<Vec<_>>(), [name]);
    }
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

proptest::proptest! {
    #[test]
    fn any_bytes_give_rows(bytes in "\\PC{0,120}", index in 0u32..4) {
        for format in REQUESTS {
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
}
