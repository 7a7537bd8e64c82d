use super::{Form, Paint, Report, Style, printable, time, tokens};
use crate::model::{BlockNumber, Level, Pin, Role, TokenCount};

/// Output styles of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TranscriptStyle {
    /// For reading.
    Plain,
    /// With the in-band header of each message and part.
    Headers,
    /// The content only, exactly as it is sent.
    Raw,
}

/// One message of the conversation.
#[derive(Clone, Debug)]
pub struct MessageText {
    /// The position in the request, from 1.
    pub id: u32,
    /// `user`, `assistant` or `system`.
    pub role: &'static str,
    /// The source: the model, the user or the client.
    pub from: String,
    /// Time of the message, in milliseconds since 1970, UTC.
    pub timestamp: Option<i64>,
    /// Tokens of the message.
    pub tokens: TokenCount,
    /// The parts.
    pub parts: Vec<PartText>,
}

/// One part of a message.
#[derive(Clone, Debug)]
pub struct PartText {
    /// The block. `None` for content that the client generates when it resumes the session.
    pub block: Option<BlockNumber>,
    /// The kind: `text`, `tool_use Read`, `tool_result`, …
    pub kind: String,
    /// The speaker.
    pub role: Role,
    /// Tokens of the part.
    pub tokens: TokenCount,
    /// Turns until the block becomes stale. `None` if it never does.
    pub turns_left: Option<u32>,
    /// The pin.
    pub pin: Option<Pin>,
    /// The compression level.
    pub level: Level,
    /// The content as it is sent.
    pub content: String,
    /// The content for people.
    pub readable: String,
}

/// The conversation of the window.
#[derive(Clone, Debug)]
pub struct TranscriptReport {
    /// The messages, in the order of sending.
    pub messages: Vec<MessageText>,
    /// The output style.
    pub style: TranscriptStyle,
}

impl Report for TranscriptReport {
    const SCHEMA: &str = "aperture.transcript/2";

    fn form(&self) -> Form {
        if self.style == TranscriptStyle::Raw { Form::Raw } else { Form::Text }
    }

    fn text(&self, style: &Style) -> String {
        let mut text = String::new();
        for message in &self.messages {
            match self.style {
                TranscriptStyle::Raw => {
                    for part in &message.parts {
                        text.push_str(&part.content);
                        text.push('\n');
                    }
                }
                TranscriptStyle::Headers => with_headers(&mut text, style, message),
                TranscriptStyle::Plain => plain(&mut text, style, message),
            }
        }
        text
    }
}

/// Writes the in-band form: a line before the message and a line before each part.
fn with_headers(text: &mut String, style: &Style, message: &MessageText) {
    let moment = message.timestamp.map_or_else(|| "unknown".to_owned(), |moment| time(style, moment));
    let all = |test: &dyn Fn(&PartText) -> bool| !message.parts.is_empty() && message.parts.iter().all(test);
    let mark = if all(&|part| part.pin.is_some()) {
        " | PINNED"
    } else if all(&|part| part.level != Level::Original) {
        " | PRUNED"
    } else {
        ""
    };
    text.push_str(&format!(
        "--- Message ID: {} | Role: {} | From: {} | Time: {moment} | Tokens: {}{mark} ---\n",
        message.id,
        message.role,
        printable(&message.from),
        tokens(message.tokens)
    ));
    for part in &message.parts {
        let mark = match (part.pin, part.level) {
            (Some(_), _) => " | PINNED",
            (None, Level::Original) => "",
            _ => " | PRUNED",
        };
        let id = part.block.map_or_else(|| "none".to_owned(), |number| format!("block-{number}"));
        let left = part.turns_left.map_or_else(|| "always".to_owned(), |turns| turns.to_string());
        text.push_str(&format!(
            "[Part ID: {id} | Type: {} | Tokens: {} | Turns Left: {left}{mark}]\n",
            printable(&part.kind),
            tokens(part.tokens)
        ));
        // Indents content that looks like a header by one space, so that no content can forge a header.
        let content = printable(&part.content);
        let forged = |line: &str| line.starts_with("--- Message ID:") || line.starts_with("[Part ID:");
        if content.lines().any(forged) {
            let moved = content.lines().map(|line| if forged(line) { format!(" {line}\n") } else { format!("{line}\n") });
            push_lines(text, &moved.collect::<String>());
        } else {
            push_lines(text, &content);
        }
    }
    text.push('\n');
}

fn plain(text: &mut String, style: &Style, message: &MessageText) {
    let moment = message.timestamp.map(|moment| format!("  {}", time(style, moment))).unwrap_or_default();
    let first = message.parts.iter().find_map(|part| part.block).map(|number| format!("  #{number}")).unwrap_or_default();
    text.push_str(&style.paint(Paint::Heading, &format!("── {}{first}{moment}", message.from)));
    text.push('\n');
    for part in &message.parts {
        let number = part.block.map(|number| format!("#{number} ")).unwrap_or_default();
        if !matches!(part.role, Role::User | Role::Assistant) {
            text.push_str(&style.paint(Paint::Dim, &format!("{number}{} ({})", part.kind, tokens(part.tokens))));
            text.push('\n');
        }
        push_lines(text, &printable(&part.readable));
    }
    text.push('\n');
}

fn push_lines(text: &mut String, content: &str) {
    text.push_str(content);
    if !content.is_empty() && !content.ends_with('\n') {
        text.push('\n');
    }
}
