//! Tool outputs as the client sends them on resume: it removes the middle of long ones, although the file has all of it.

use super::content;
use crate::model::{CutLimit, Media};
use crate::provider::json::{elements, member, text, text_of};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The limits for models that the client knows, and for other models.
const LIMITS: [CutLimit; 2] = [CutLimit::Tokens(12_000), CutLimit::Bytes(12_000)];
/// The limit under which clients that do not number rows sent outputs to any model; bills of eleven sessions show it.
pub(super) const OF_OLD_CLIENTS: CutLimit = LIMITS[0];
/// The first model version that the client knows.
const KNOWN_FROM: (u32, u32) = (5, 5);

/// Returns the limit for outputs sent to a model; `None` means the client's current model.
pub(super) fn limit(model: Option<&str>) -> CutLimit {
    let version = |model: &str| {
        let (major, rest) = model.strip_prefix("gpt-")?.split_once('.')?;
        let minor = rest.split(|c: char| !c.is_ascii_digit()).next()?;
        Some((major.parse::<u32>().ok()?, minor.parse::<u32>().ok()?))
    };
    let known = model.is_none_or(|model| version(model).is_some_and(|version| version >= KNOWN_FROM));
    LIMITS[usize::from(!known)]
}

/// Returns the limits that may apply to an output: the one stated by its row, else those of the models.
pub(super) fn limits(stated: Option<u64>) -> Vec<CutLimit> {
    match stated.and_then(|tokens| u32::try_from(tokens).ok()) {
        Some(tokens) => vec![CutLimit::Tokens(tokens)],
        None => LIMITS.to_vec(),
    }
}

/// Returns an output as sent under a limit; `None` if it is sent completely.
pub(super) fn output(output: &RawValue, limit: CutLimit) -> Option<String> {
    // A text is not longer than its JSON.
    if output.get().len() <= limit.bytes() {
        return None;
    }
    if let Some(text) = text(output) {
        return cut(&text, limit);
    }
    if !output.get().starts_with('[') {
        return None;
    }
    let mut left = limit.units();
    let (mut is_cut, mut omitted) = (false, 0);
    let mut parts: Vec<Cow<'_, str>> = Vec::new();
    for element in elements(output) {
        match text_of(member(element, "type")).as_deref() {
            Some("input_text" | "output_text" | "text") => {
                let text = text_of(member(element, "text")).unwrap_or_default();
                let cost = limit.cost(text.len());
                if cost <= left {
                    left -= cost;
                    parts.push(text);
                } else if left == 0 {
                    (is_cut, omitted) = (true, omitted + 1);
                } else {
                    parts.extend(cut(&text, limit.with_units(left)).map(Cow::Owned));
                    (is_cut, left) = (true, 0);
                }
            }
            _ => parts.push(content::other(element, &mut Media::default())),
        }
    }
    if omitted > 0 {
        parts.push(Cow::Owned(format!("[omitted {omitted} text items ...]")));
    }
    is_cut.then(|| parts.join("\n"))
}

/// Removes the middle of a text; `None` if it is within the limit.
fn cut(text: &str, limit: CutLimit) -> Option<String> {
    let budget = limit.bytes();
    if text.len() <= budget {
        return None;
    }
    let head = text.floor_char_boundary(budget / 2);
    let tail = text.ceil_char_boundary(text.len() - (budget - budget / 2)).max(head);
    let mark = match limit {
        CutLimit::Bytes(_) => format!("…{} chars truncated…", text[head..tail].chars().count()),
        CutLimit::Tokens(_) => format!("…{} tokens truncated…", limit.cost(text.len() - budget)),
    };
    Some([&text[..head], &mark, &text[tail..]].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(value: &serde_json::Value, limit: CutLimit) -> Option<String> {
        output(&serde_json::value::to_raw_value(value).unwrap(), limit)
    }

    #[test]
    fn the_middle_of_a_long_output_goes() {
        let text = "é".repeat(10);
        let check = |limit, expected: Option<&str>| assert_eq!(sent(&text.clone().into(), limit).as_deref(), expected);
        check(CutLimit::Bytes(20), None);
        check(CutLimit::Bytes(8), Some("éé…6 chars truncated…éé"));
        check(CutLimit::Bytes(7), Some("é…7 chars truncated…éé"));
        check(CutLimit::Tokens(5), None);
        check(CutLimit::Tokens(2), Some("éé…3 tokens truncated…éé"));
        check(CutLimit::Bytes(0), Some("…10 chars truncated…"));
    }

    #[test]
    fn the_items_of_an_output_share_its_limit() {
        let text = |text: &str| serde_json::json!({"type": "input_text", "text": text});
        let image = serde_json::json!({"type": "input_image", "image_url": "u"});
        let items = serde_json::json!([text("abcdef"), image, text("0123456789"), text("more"), text("still")]);
        let expected = "abcdef\n[image]\n01…6 chars truncated…89\n[omitted 2 text items ...]";
        assert_eq!(sent(&items, CutLimit::Bytes(10)).as_deref(), Some(expected));
        assert_eq!(sent(&items, CutLimit::Bytes(25)), None);
        assert_eq!(sent(&items, CutLimit::Tokens(8)), None);
    }

    #[test]
    fn the_limit_is_the_models() {
        for (model, expected) in [
            (Some("gpt-5.5-codex"), LIMITS[0]),
            (Some("gpt-5.6-sol"), LIMITS[0]),
            (Some("gpt-6.0"), LIMITS[0]),
            (None, LIMITS[0]),
            (Some("gpt-5.4-mini"), LIMITS[1]),
            (Some("gpt-5-codex"), LIMITS[1]),
            (Some("other"), LIMITS[1]),
        ] {
            assert_eq!(limit(model), expected, "{model:?}");
        }
    }
}
