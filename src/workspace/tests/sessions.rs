//! Sessions for tests.

/// A row that does not continue the conversation.
pub(super) const STATE: &str = r#"{"type":"mode","mode":"normal","sessionId":"s"}"#;

/// Returns a session with all kinds of content; `version` is the version of the client.
pub(super) fn small(version: &str) -> String {
    sized(version, 1)
}

/// Same as [`small`], with 1/`share` of the text lines.
pub(super) fn sized(version: &str, share: usize) -> String {
    let mut session = Growing { version, share, rows: vec![STATE.to_owned()], last: "null".to_owned() };
    session.add("user", "u1", &prompt(&format!("look at the files {}", session.text("prompt", 12))));
    let context = session.text("context", 20);
    session.add(
        "attachment",
        "a1",
        &format!(
            r#""attachment":{{"type":"session_context"}},"rendered":[{{"content":"<system-reminder>\n{context}\n</system-reminder>"}}],"renderedRole":"user""#,
        ),
    );
    for turn in 1..=3 {
        session.add_turn(turn);
    }
    let words = session.text("p", 10);
    session.add(
        "user",
        "i1",
        &format!(
            r#""message":{{"role":"user","content":[{{"type":"text","text":"and this picture {words}"}},{IMAGE}]}},"promptSource":"sdk""#,
        ),
    );
    session.add("assistant", "f1", &assistant("msg_z", r#"{"type":"text","text":"a red dot"}"#, 5000));
    session.rows.iter().flat_map(|row| [row, "\n"]).collect()
}

const IMAGE: &str = r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="}}"#;

/// A session under construction.
struct Growing<'a> {
    version: &'a str,
    share: usize,
    rows: Vec<String>,
    /// The parent of the next row, as written in it.
    last: String,
}

impl Growing<'_> {
    fn text(&self, word: &str, lines: usize) -> String {
        (0..lines / self.share)
            .map(|line| format!("{word} line {line} of what the tool said about src/{word}_{line}.rs\\n"))
            .collect()
    }

    fn add(&mut self, kind: &str, id: &str, body: &str) {
        let Growing { version, rows, last, .. } = self;
        rows.push(format!(
            r#"{{"parentUuid":{last},"isSidechain":false,"type":"{kind}",{body},"uuid":"{id}","timestamp":"2026-11-21T10:00:{:02}.000Z","userType":"external","cwd":"/w","sessionId":"s","version":"{version}","gitBranch":"main"}}"#,
            rows.len() % 60
        ));
        *last = format!("\"{id}\"");
    }

    /// Adds a turn: a tool use with its result, and an answer. The prompt of the first turn is there already.
    fn add_turn(&mut self, turn: u32) {
        if turn > 1 {
            self.add("user", &format!("u{turn}"), &prompt(&format!("go on with {turn} {}", self.text("more", 20))));
        }
        let message = format!("msg_{turn}a");
        self.add("assistant", &format!("t{turn}"), &assistant(&message, &thinking(&format!("a{turn}")), 900 * turn));
        let written = self.text("written", 30);
        let write = format!(
            r#"{{"type":"tool_use","id":"toolu_{turn}","name":"Write","input":{{"file_path":"/w/src/{turn}.rs","content":"{written}"}}}}"#
        );
        self.add("assistant", &format!("c{turn}"), &assistant(&message, &write, 900 * turn));
        let result = match turn {
            1 => format!(r#""{}""#, self.text("result", 60)),
            2 => format!(r#"[{{"type":"text","text":"{}"}}]"#, self.text("list", 60)),
            _ => format!(r#"[{{"type":"text","text":"{}"}},{IMAGE}]"#, self.text("mixed", 60)),
        };
        let result = format!(
            r#""message":{{"role":"user","content":[{{"tool_use_id":"toolu_{turn}","type":"tool_result","content":{result}}}]}},"toolUseResult":{{"stdout":"x"}},"sourceToolAssistantUUID":"c{turn}""#
        );
        self.add("user", &format!("r{turn}"), &result);
        let message = format!("msg_{turn}b");
        self.add("assistant", &format!("s{turn}"), &assistant(&message, &thinking(&format!("b{turn}")), 1400 * turn));
        let answer = format!(r#"{{"type":"text","text":"done with {turn}: {}"}}"#, self.text("answer", 20));
        self.add("assistant", &format!("e{turn}"), &assistant(&message, &answer, 1400 * turn));
    }
}

fn prompt(text: &str) -> String {
    format!(r#""message":{{"role":"user","content":"{text}"}},"promptSource":"sdk""#)
}

fn thinking(word: &str) -> String {
    format!(r#"{{"type":"thinking","thinking":"","signature":"{}"}}"#, format!("sig{word}").repeat(9))
}

/// Returns a message of the model; `sent` is the number of tokens that it was charged as cached.
fn assistant(message: &str, content: &str, sent: u32) -> String {
    format!(
        r#""message":{{"id":"{message}","role":"assistant","model":"claude-opus-5-5","type":"message","content":[{content}],"stop_reason":null,"usage":{{"input_tokens":7,"cache_creation_input_tokens":300,"cache_read_input_tokens":{sent},"output_tokens":40}}}}"#
    )
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
