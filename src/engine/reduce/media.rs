//! Pictures and documents, alone or among the text of a result: a line that says what they are.

use super::text::Text;
use super::{Reducer, Reducible, SUMMARIZED_TOKENS, hint, is_placeholder, lawful};
use crate::engine::tokens::estimate;
use crate::model::{BlockKind, Image, Level};

/// What stands for an image in a content.
const IMAGE: &str = "[image]";
/// What stands for a document that is no text.
pub(super) const DOCUMENT: &str = "[document]";

/// Contents with images, and documents that are no text.
pub(super) struct Media;

impl Reducer for Media {
    fn name(&self) -> &'static str {
        "media"
    }

    fn fits(&self, input: &Reducible<'_>) -> bool {
        shows(input)
    }

    fn reduce(&self, input: &Reducible<'_>, level: Level) -> Option<String> {
        let Some(text) = text(input) else { return Some(description(input)) };
        let beside = Reducible { kind: BlockKind::Text, images: &[], content: &text, ..*input };
        let with_text = || {
            let shorter = lawful(&Text, &beside, level);
            format!("{}\n{}", description(input), shorter.as_deref().unwrap_or(&text))
        };
        match level {
            Level::Trimmed => Some(with_text()),
            Level::Summarized => {
                Some(with_text()).filter(|text| estimate(text) <= SUMMARIZED_TOKENS).or_else(|| Some(hint::detail(input)))
            }
            Level::Minimal => Some(hint::detail(input)),
            Level::Original | Level::Archived => None,
        }
    }
}

/// Whether a content shows anything but text.
pub(super) fn shows(input: &Reducible<'_>) -> bool {
    !input.images.is_empty() || is_placeholder(input)
}

/// The text of a content beside its images, if there is any.
pub(super) fn text(input: &Reducible<'_>) -> Option<String> {
    if is_placeholder(input) {
        return None;
    }
    let lines: Vec<&str> = input.content.lines().filter(|line| line.trim() != IMAGE).collect();
    lines.iter().any(|line| !line.trim().is_empty()).then(|| lines.join("\n"))
}

/// What the images or the document of a content are: `image 800×600`, `3 images`.
pub(super) fn description(input: &Reducible<'_>) -> String {
    let size = |image: &Image| format!("{}×{}", image.width, image.height);
    match input.images {
        [] if input.kind == BlockKind::Document => "document".to_owned(),
        [image] if image.width > 0 => format!("image {}", size(image)),
        [] | [_] => "image".to_owned(),
        [first, rest @ ..] if first.width > 0 && rest.iter().all(|image| image == first) => {
            format!("{} images {}", rest.len() + 1, size(first))
        }
        images => format!("{} images", images.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_named_by_their_size() {
        let image = |width, height| Image { width, height };
        for (images, expected) in [
            (vec![], "image"),
            (vec![image(0, 0)], "image"),
            (vec![image(800, 600)], "image 800×600"),
            (vec![image(800, 600); 3], "3 images 800×600"),
            (vec![image(800, 600), image(1, 2)], "2 images"),
        ] {
            let input = Reducible {
                kind: BlockKind::Image,
                tool: None,
                error: false,
                images: &images,
                content: IMAGE,
                repeated: &|_| false,
            };
            assert_eq!(description(&input), expected);
            for level in [Level::Trimmed, Level::Summarized, Level::Minimal] {
                assert_eq!(super::super::reduce(&input, level).as_deref(), Some(expected), "{level:?}");
            }
        }
    }
}
