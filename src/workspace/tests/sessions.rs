//! Sessions for tests.

/// A row that does not continue the conversation.
pub(super) const STATE: &str = r#"{"type":"mode","mode":"normal","sessionId":"s"}"#;

/// Returns a session with all kinds of content; `version` is the version of the client.
pub(super) fn small(version: &str) -> String {
    sized(version, 1)
}

/// Same as [`small`], with 1/`share` of the text lines.
pub(super) fn sized(version: &str, share: usize) -> String {
    let text = |word: &str, lines: usize| {
        (0..lines / share)
            .map(|line| format!("{word} line {line} of what the tool said about src/{word}_{line}.rs\\n"))
            .collect::<String>()
    };
    let mut rows = vec![r#"{"type":"mode","mode":"normal","sessionId":"s"}"#.to_owned()];
    let mut last = "null".to_owned();
    let mut add = |kind: &str, id: &str, body: &str| {
        rows.push(format!(
            r#"{{"parentUuid":{last},"isSidechain":false,"type":"{kind}",{body},"uuid":"{id}","timestamp":"2026-11-21T10:00:{:02}.000Z","userType":"external","cwd":"/w","sessionId":"s","version":"{version}","gitBranch":"main"}}"#,
            rows.len() % 60
        ));
        last = format!("\"{id}\"");
    };
    let assistant = |message: &str, content: &str, sent: u32| {
        format!(
            r#""message":{{"id":"{message}","role":"assistant","model":"claude-opus-5-5","type":"message","content":[{content}],"stop_reason":null,"usage":{{"input_tokens":7,"cache_creation_input_tokens":300,"cache_read_input_tokens":{sent},"output_tokens":40}}}}"#
        )
    };
    let thinking =
        |word: &str| format!(r#"{{"type":"thinking","thinking":"","signature":"{}"}}"#, format!("sig{word}").repeat(9));
    let prompt = |text: &str| format!(r#""message":{{"role":"user","content":"{text}"}},"promptSource":"sdk""#);
    add("user", "u1", &prompt(&format!("look at the files {}", text("prompt", 12))));
    add(
        "attachment",
        "a1",
        &format!(
            r#""attachment":{{"type":"session_context"}},"rendered":[{{"content":"<system-reminder>\n{}\n</system-reminder>"}}],"renderedRole":"user""#,
            text("context", 20)
        ),
    );
    for turn in 1..=3 {
        if turn > 1 {
            add("user", &format!("u{turn}"), &prompt(&format!("go on with {} {}", turn, text("more", 20))));
        }
        let message = format!("msg_{turn}a");
        add("assistant", &format!("t{turn}"), &assistant(&message, &thinking(&format!("a{turn}")), 900 * turn));
        add(
            "assistant",
            &format!("c{turn}"),
            &assistant(
                &message,
                &format!(
                    r#"{{"type":"tool_use","id":"toolu_{turn}","name":"Write","input":{{"file_path":"/w/src/{turn}.rs","content":"{}"}}}}"#,
                    text("written", 30)
                ),
                900 * turn,
            ),
        );
        let image = r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="}}"#;
        let result = match turn {
            1 => format!(r#""{}""#, text("result", 60)),
            2 => format!(r#"[{{"type":"text","text":"{}"}}]"#, text("list", 60)),
            _ => format!(r#"[{{"type":"text","text":"{}"}},{image}]"#, text("mixed", 60)),
        };
        add(
            "user",
            &format!("r{turn}"),
            &format!(
                r#""message":{{"role":"user","content":[{{"tool_use_id":"toolu_{turn}","type":"tool_result","content":{result}}}]}},"toolUseResult":{{"stdout":"x"}},"sourceToolAssistantUUID":"c{turn}""#
            ),
        );
        let message = format!("msg_{turn}b");
        add("assistant", &format!("s{turn}"), &assistant(&message, &thinking(&format!("b{turn}")), 1400 * turn));
        add(
            "assistant",
            &format!("e{turn}"),
            &assistant(&message, &format!(r#"{{"type":"text","text":"done with {turn}: {}"}}"#, text("answer", 20)), 1400 * turn),
        );
    }
    add(
        "user",
        "i1",
        &format!(
            r#""message":{{"role":"user","content":[{{"type":"text","text":"and this picture {}"}},{{"type":"image","source":{{"type":"base64","media_type":"image/png","data":"{}"}}}}]}},"promptSource":"sdk""#,
            text("p", 10),
            "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
        ),
    );
    add("assistant", "f1", &assistant("msg_z", r#"{"type":"text","text":"a red dot"}"#, 5000));
    rows.iter().flat_map(|row| [row, "\n"]).collect()
}

/// Returns malformed sessions, by name of the defect.
pub(super) fn odd() -> Vec<(&'static str, Vec<u8>)> {
    let whole = small("2.1.330");
    let lines: Vec<&str> = whole.lines().collect();
    let glued = {
        let mut lines = lines.clone();
        let both = [lines[4], STATE].concat();
        lines[4] = &both;
        lines.join("\n") + "\n"
    };
    let doubled = {
        let mut lines = lines.clone();
        lines.insert(5, lines[4]);
        lines.insert(9, lines[8]);
        lines.join("\n") + "\n"
    };
    let subagent = whole.replace(r#""isSidechain":false"#, r#""isSidechain":true,"agentId":"a1""#);
    let broken = {
        let mut lines = lines.clone();
        lines.insert(3, r#"{"type":"user","message":{"role":"us"#);
        lines.insert(7, "");
        lines.insert(7, "   ");
        lines.join("\n") + "\n\n\n"
    };
    vec![
        ("plain", whole.clone().into_bytes()),
        ("of an old client", small("2.1.90").into_bytes()),
        ("no final line feed", whole.trim_end().as_bytes().to_vec()),
        ("line feeds of Windows", whole.replace('\n', "\r\n").into_bytes()),
        ("line feeds of Windows, none at the end", whole.trim_end().replace('\n', "\r\n").into_bytes()),
        ("a byte order mark", [b"\xef\xbb\xbf", whole.as_bytes()].concat()),
        ("glued rows", glued.into_bytes()),
        ("rows twice", doubled.into_bytes()),
        ("a subagent", subagent.into_bytes()),
        ("broken and blank rows", broken.into_bytes()),
        ("a half row at the end", [whole.as_bytes(), br#"{"type":"mode","mo"#].concat()),
    ]
}
