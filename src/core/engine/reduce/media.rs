//! Images and documents, alone or in the text of a result: replaced by a line that describes them.

use super::hint::tidy;
use super::piece::line_pieces;
use super::salience::Style;
use super::{Piece, Reducible, is_placeholder};
use crate::engine::report::numbers::{bytes, count};
use crate::model::{BlockKind, Document, Image, Media as Contents};
use crate::text::names::file_name;
use std::borrow::Cow;

/// Maximum characters of the name of a document in a description.
const NAME_CHARACTERS: usize = 40;

/// Returns true for contents with images, and documents other than text.
pub(super) fn fits(input: &Reducible<'_>) -> bool {
    !input.media.is_empty() || is_placeholder(input)
}

pub(super) fn pieces<'a>(input: &Reducible<'a>) -> Vec<Piece<'a>> {
    let what = Piece { salience: 1.0, lines: 0, ..Piece::line(Cow::Owned(described(input.kind, input.media))) };
    if is_placeholder(input) {
        return vec![what];
    }
    let mut pieces = line_pieces(input.content, Style::detect(input));
    pieces.retain(|piece| !stands_for_media(&piece.text));
    pieces.insert(0, what);
    pieces
}

/// Returns true if a line is the placeholder of an image or a document.
fn stands_for_media(line: &str) -> bool {
    [Contents::IMAGE, Contents::DOCUMENT].contains(&line.trim())
}

/// Returns the text of a content in addition to its images and documents, if there is any.
pub(super) fn text(input: &Reducible<'_>) -> Option<String> {
    if is_placeholder(input) {
        return None;
    }
    let lines: Vec<&str> = input.content.lines().filter(|line| !stands_for_media(line)).collect();
    lines.iter().any(|line| !line.trim().is_empty()).then(|| lines.join("\n"))
}

/// Describes the images and documents of a block: `image 800×600`, `3 images`, `document lease.pdf, 40 pages, 320 kB`.
pub fn described(kind: BlockKind, media: &Contents) -> String {
    let mut parts = Vec::new();
    match &*media.documents {
        [] if kind == BlockKind::Document => parts.push("document".to_owned()),
        [] => {}
        [document] => parts.push(of_document(document)),
        documents => {
            let pages: u32 = documents.iter().map(|document| document.pages).sum();
            let pages = if pages > 0 { format!(", {}", page_count(pages)) } else { String::new() };
            parts.push(format!("{} documents{pages}", documents.len()));
        }
    }
    match &*media.images {
        [] if parts.is_empty() => parts.push("image".to_owned()),
        [] => {}
        images => parts.push(of_images(images)),
    }
    parts.join(", ")
}

fn of_images(images: &[Image]) -> String {
    let size = |image: &Image| format!("{}×{}", image.width, image.height);
    match images {
        [image] if image.width > 0 => format!("image {}", size(image)),
        [_] => "image".to_owned(),
        [first, rest @ ..] if first.width > 0 && rest.iter().all(|image| image == first) => {
            format!("{} images {}", rest.len() + 1, size(first))
        }
        images => format!("{} images", images.len()),
    }
}

fn of_document(document: &Document) -> String {
    let what = if document.media_type.starts_with("audio/") { "sound" } else { "document" };
    let name = tidy(file_name(&document.name));
    let name: String = name.chars().take(NAME_CHARACTERS).collect();
    let name = if name.is_empty() { what.to_owned() } else { format!("{what} {name}") };
    let pages = (document.pages > 0).then(|| page_count(document.pages));
    let size = (document.bytes > 0).then(|| bytes(document.bytes));
    std::iter::once(name).chain(pages).chain(size).collect::<Vec<_>>().join(", ")
}

fn page_count(pages: u32) -> String {
    format!("{} {}", count(u64::from(pages)), if pages == 1 { "page" } else { "pages" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_named_by_their_size() {
        let image = |width, height| Image { width, height, bytes: 0, fault: None };
        for (images, expected) in [
            (vec![], "image"),
            (vec![image(0, 0)], "image"),
            (vec![image(800, 600)], "image 800×600"),
            (vec![image(800, 600); 3], "3 images 800×600"),
            (vec![image(800, 600), image(1, 2)], "2 images"),
        ] {
            let media = Contents { images, ..Contents::default() };
            assert_eq!(described(BlockKind::Image, &media), expected);
        }
    }

    #[test]
    fn documents_are_named_by_their_file_pages_and_size() {
        let document = |name: &str, media_type: &str, pages, bytes| Document {
            name: name.into(),
            media_type: media_type.into(),
            pages,
            bytes,
            fault: None,
        };
        for (documents, expected) in [
            (vec![], "document"),
            (vec![document("", "", 0, 0)], "document"),
            (vec![document("/w/lease [1].pdf", "application/pdf", 40, 320_000)], "document lease 1.pdf, 40 pages, 320 kB"),
            (vec![document("a\\b.pdf", "application/pdf", 1, 0)], "document b.pdf, 1 page"),
            (vec![document("", "audio/wav", 0, 2000)], "sound, 2 kB"),
            (vec![document("a", "", 2, 9), document("b", "", 3, 9)], "2 documents, 5 pages"),
        ] {
            let media = Contents { documents, ..Contents::default() };
            assert_eq!(described(BlockKind::Document, &media), expected);
        }
    }

    #[test]
    fn a_result_shows_its_documents_and_its_images() {
        let image = Image { width: 8, height: 6, bytes: 0, fault: None };
        let document = Document { pages: 2, ..Document::default() };
        let media = Contents { images: vec![image], documents: vec![document], bytes: 0 };
        assert_eq!(described(BlockKind::ToolResult, &media), "document, 2 pages, image 8×6");
    }
}
