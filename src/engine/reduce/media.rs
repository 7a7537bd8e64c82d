//! Images and documents, alone or in the text of a result: replaced by a line that describes them.

use super::piece::line_pieces;
use super::salience::Style;
use super::{Piece, Reducer, Reducible, is_placeholder};
use crate::model::{BlockKind, Image};
use std::borrow::Cow;

/// Placeholder for an image in a content.
const IMAGE: &str = "[image]";
/// Placeholder for a document that is not text.
pub(super) const DOCUMENT: &str = "[document]";

/// Contents with images, and documents other than text.
pub(super) struct Media;

impl Reducer for Media {
    fn name(&self) -> &'static str {
        "media"
    }

    fn fits(&self, input: &Reducible<'_>) -> bool {
        shows(input)
    }

    fn pieces<'a>(&self, input: &Reducible<'a>) -> Vec<Piece<'a>> {
        let what = Piece { salience: 1.0, lines: 0, ..Piece::line(Cow::Owned(description(input))) };
        if is_placeholder(input) {
            return vec![what];
        }
        let mut pieces = line_pieces(input.content, Style::detect(input));
        pieces.retain(|piece| piece.text.trim() != IMAGE);
        pieces.insert(0, what);
        pieces
    }
}

/// True if a content shows anything but text.
pub(super) fn shows(input: &Reducible<'_>) -> bool {
    !input.images.is_empty() || is_placeholder(input)
}

/// Returns the text of a content in addition to its images, if there is any.
pub(super) fn text(input: &Reducible<'_>) -> Option<String> {
    if is_placeholder(input) {
        return None;
    }
    let lines: Vec<&str> = input.content.lines().filter(|line| line.trim() != IMAGE).collect();
    lines.iter().any(|line| !line.trim().is_empty()).then(|| lines.join("\n"))
}

/// Describes the images or the document of a content: `image 800×600`, `3 images`.
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
                held: &[],
                conventions: Default::default(),
                content: IMAGE,
            };
            assert_eq!(description(&input), expected);
        }
    }
}
