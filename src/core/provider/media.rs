//! Images and documents in contents: their sizes, pages and names, from their base64 data.

use super::json::{elements, member, members, text, text_of};
use super::pdf;
use crate::model::{Document, Image, ImageFormat, Media, MediaFault};
use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Maximum number of base64 characters to decode of an image: enough for the header of every format, even after large JPEG metadata.
const HEAD_CHARACTERS: usize = 256 << 10;
/// Number of base64 characters to decode to tell the format of data: a PDF may begin after 1,024 bytes of something else.
const FORMAT_CHARACTERS: usize = 2 << 10;
/// Minimum characters of base64 data in an element of an unknown type.
const LEAST_DATA: usize = 500;
/// Depth to which an element is searched for data.
const DEPTH: u32 = 6;
/// Members with the name of a document, the best first.
const NAMES: &[&str] = &["title", "filename", "name", "uri"];
const MEDIA_TYPES: &[&str] = &["media_type", "mimeType", "mime_type"];

/// Reads base64 with and without padding, and to its last whole group.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent).with_decode_allow_trailing_bits(true),
);

fn decoded(base64: &[u8]) -> Vec<u8> {
    BASE64.decode(base64).unwrap_or_default()
}

/// Adds an image by its base64 data, or by the URL that holds it, and returns its placeholder. Its size is 0 × 0 if unreadable.
pub fn add_image(media: &mut Media, data: Option<&RawValue>) -> Cow<'static, str> {
    let data = text_of(data).unwrap_or_default();
    media.images.push(image(base64_of(&data).as_bytes()));
    media.bytes += data.len() as u64;
    Cow::Borrowed(Media::IMAGE)
}

/// Adds the image of an element of Anthropic's API by its source, and returns its placeholder.
pub fn add_source_image(media: &mut Media, source: Option<&RawValue>) -> Cow<'static, str> {
    let content = add_image(media, source_data(source));
    if let Some(image) = media.images.last_mut() {
        image.fault = fault(source, image_fault);
    }
    content
}

/// Adds the document that an element of Anthropic's API is, and returns its placeholder.
pub fn add_source_document(media: &mut Media, element: &RawValue) -> Cow<'static, str> {
    let content = add_document(media, element);
    if let Some(document) = media.documents.last_mut() {
        document.fault = fault(member(element, "source"), document_fault);
    }
    content
}

/// Returns the reason for which Anthropic's API refuses the data of a source: `of` returns it for a media type and the first bytes.
/// Source: its messages of refusal, and the media types in platform.claude.com/docs/en/api/messages.
fn fault(source: Option<&RawValue>, of: impl Fn(&str, &[u8]) -> Option<MediaFault>) -> Option<MediaFault> {
    let source = source?;
    if text_of(member(source, "type")).is_none_or(|kind| kind != "base64") {
        return None;
    }
    let data = text_of(member(source, "data")).unwrap_or_default();
    if data.is_empty() {
        return Some(MediaFault::Empty);
    }
    if !is_base64(&data) {
        return Some(MediaFault::NotBase64);
    }
    let head = &data.as_bytes()[..data.len().min(FORMAT_CHARACTERS) / 4 * 4];
    of(&text_of(member(source, "media_type")).unwrap_or_default(), &decoded(head.trim_ascii_end()))
}

fn image_fault(media_type: &str, head: &[u8]) -> Option<MediaFault> {
    const FORMATS: [ImageFormat; 4] = [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::Gif, ImageFormat::Webp];
    let stated = FORMATS.into_iter().find(|format| format.media_type() == media_type);
    let found = match imagesize::image_type(head) {
        Ok(imagesize::ImageType::Png) => Some(ImageFormat::Png),
        Ok(imagesize::ImageType::Jpeg) => Some(ImageFormat::Jpeg),
        Ok(imagesize::ImageType::Gif) => Some(ImageFormat::Gif),
        Ok(imagesize::ImageType::Webp) => Some(ImageFormat::Webp),
        _ => None,
    };
    match (stated, found) {
        (None, None) => Some(MediaFault::TypeRefused),
        (Some(_), None) => Some(MediaFault::Unreadable),
        (stated, Some(found)) => (stated != Some(found)).then_some(MediaFault::OtherFormat(found)),
    }
}

fn document_fault(media_type: &str, head: &[u8]) -> Option<MediaFault> {
    if media_type != "application/pdf" {
        return Some(MediaFault::TypeRefused);
    }
    memchr::memmem::find(head, b"%PDF").is_none().then_some(MediaFault::Unreadable)
}

/// Returns the base64 data of a data URL; empty for another URL, other texts as they are.
fn base64_of(data: &str) -> &str {
    match data.split_once(";base64,") {
        Some((head, data)) if head.starts_with("data:") => data,
        _ if data.contains(':') => "",
        _ => data,
    }
}

/// Returns a PNG, JPEG, GIF or WebP image by its data; its size is 0 × 0 if the header cannot be read.
fn image(base64: &[u8]) -> Image {
    let bytes = base64.len() as u64;
    let head = &base64[..base64.len().min(HEAD_CHARACTERS) / 4 * 4];
    match imagesize::blob_size(&decoded(head.trim_ascii_end())) {
        Ok(size) => Image { width: size.width as u32, height: size.height as u32, bytes, fault: None },
        Err(_) => Image { width: 0, height: 0, bytes, fault: None },
    }
}

/// Adds the document that an element is, whether or not its data is in the session, and returns its placeholder.
pub fn add_document(media: &mut Media, element: &RawValue) -> Cow<'static, str> {
    let own = || text_of(member(member(element, "source")?, "data"));
    let data = own().or_else(|| data(element, DEPTH)).unwrap_or_default();
    add(media, element, &data)
}

/// Returns the content of an element of an unknown type: if base64 data is the largest part of it, the placeholder of a document, which
/// is added; else the element as it is.
pub fn unknown<'a>(media: &mut Media, element: &'a RawValue) -> Cow<'a, str> {
    let whole = element.get();
    if whole.len() < LEAST_DATA || !whole.starts_with('{') {
        return Cow::Borrowed(whole);
    }
    match data(element, DEPTH) {
        Some(data) if data.len() * 2 > whole.len() => add(media, element, &data),
        _ => Cow::Borrowed(whole),
    }
}

fn add(media: &mut Media, element: &RawValue, data: &str) -> Cow<'static, str> {
    let base64 = base64_of(data);
    let url_type = data.strip_prefix("data:").and_then(|url| url.split_once(';')).map(|(media_type, _)| media_type.to_owned());
    let format = || first(element, &["format"], DEPTH).map(|format| format!("audio/{format}"));
    let media_type = url_type.or_else(|| first(element, MEDIA_TYPES, DEPTH)).or_else(format).unwrap_or_default();
    let padding = base64.bytes().rev().take_while(|byte| *byte == b'=').count();
    // A PDF begins with these bytes.
    let pages = if base64.starts_with("JVBERi") { pdf::pages(&decoded(base64.as_bytes())) } else { 0 };
    media.documents.push(Document {
        name: first(element, NAMES, DEPTH).unwrap_or_default().into(),
        media_type: media_type.into(),
        pages,
        bytes: (base64.len() - padding) as u64 * 3 / 4,
        fault: None,
    });
    media.bytes += data.len() as u64;
    Cow::Borrowed(Media::DOCUMENT)
}

/// Returns the first text of one of the members with these names, in an element or the objects in it.
fn first(element: &RawValue, names: &[&str], depth: u32) -> Option<String> {
    let members = members(element);
    let own = names.iter().find_map(|name| members.iter().find(|(key, _)| key == name).and_then(|(_, value)| text(*value)));
    let own = own.filter(|text| !text.is_empty()).map(Cow::into_owned);
    own.or_else(|| {
        let inner = members.iter().filter(|(_, value)| depth > 0 && value.get().starts_with('{'));
        inner.into_iter().find_map(|(_, value)| first(value, names, depth - 1))
    })
}

/// Returns the longest base64 data in an element, as a text or as a data URL.
fn data(value: &RawValue, depth: u32) -> Option<Cow<'_, str>> {
    match value.get().as_bytes().first()? {
        b'"' => text(value).filter(|text| is_data(text)),
        b'{' if depth > 0 => {
            members(value).into_iter().filter_map(|(_, value)| data(value, depth - 1)).max_by_key(|data| data.len())
        }
        b'[' if depth > 0 => elements(value).into_iter().filter_map(|value| data(value, depth - 1)).max_by_key(|data| data.len()),
        _ => None,
    }
}

/// Returns true if a text is base64 data or a data URL.
fn is_data(text: &str) -> bool {
    let base64 = base64_of(text);
    let is_url = base64.len() < text.len();
    (is_url || base64.len() >= LEAST_DATA) && !base64.is_empty() && is_base64(base64)
}

/// Returns true if a text has only characters of base64 and line ends.
fn is_base64(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/-_=\r\n".contains(&byte))
}

/// Returns the data of the source of an element of Anthropic's API, or its URL.
pub fn source_data(source: Option<&RawValue>) -> Option<&RawValue> {
    member(source?, "data").or_else(|| member(source?, "url"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::raw;

    #[test]
    fn a_png_header_tells_its_size() {
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x40\0\0\0\x20\x08\x02\0\0\0\0\0\0\0";
        let text = base64::engine::general_purpose::STANDARD.encode(png);
        for (data, bytes) in [(format!("\"{text}\""), text.len()), (format!("\"data:image/png;base64,{text}\""), text.len() + 22)]
        {
            let mut media = Media::default();
            assert_eq!(add_image(&mut media, Some(raw(&data))), Media::IMAGE);
            let image = Image { width: 64, height: 32, bytes: text.len() as u64, fault: None };
            assert_eq!((&*media.images, media.bytes), (&[image][..], bytes as u64));
        }
    }

    #[test]
    fn anything_else_has_no_size() {
        for text in ["", "!", "AAAA", "=", "====", "https://a.b/c.png"] {
            let mut media = Media::default();
            add_image(&mut media, Some(raw(&format!("\"{text}\""))));
            assert_eq!(media.images.iter().map(|image| (image.width, image.height)).collect::<Vec<_>>(), [(0, 0)], "{text}");
        }
    }

    #[test]
    fn a_document_has_its_pages_its_size_and_its_name() {
        let file = format!("%PDF-1.4\n<</Type/Pages/Count 3>>{}", " ".repeat(600));
        let data = base64::engine::general_purpose::STANDARD.encode(&file);
        let document = |name: &str, media_type: &str, pages, bytes: usize| Document {
            name: name.into(),
            media_type: media_type.into(),
            pages,
            bytes: bytes as u64,
            fault: None,
        };
        let other = "QUJD".repeat(200);
        for (element, expected) in [
            (
                format!(
                    r#"{{"type":"document","title":"a.pdf","source":{{"type":"base64","media_type":"application/pdf","data":"{data}"}}}}"#
                ),
                document("a.pdf", "application/pdf", 3, file.len()),
            ),
            (
                format!(r#"{{"type":"file","file":{{"filename":"b.pdf","file_data":"data:application/pdf;base64,{data}"}}}}"#),
                document("b.pdf", "application/pdf", 3, file.len()),
            ),
            (
                r#"{"type":"input_audio","input_audio":{"format":"wav","data":"AAAA"}}"#.to_owned(),
                document("", "audio/wav", 0, 0),
            ),
            (r#"{"type":"document","source":{"type":"url","url":"https://a.b/c"}}"#.to_owned(), document("", "", 0, 0)),
            (
                format!(
                    r#"{{"type":"resource","resource":{{"uri":"file:///d.zip","mimeType":"application/zip","blob":"{other}"}}}}"#
                ),
                document("file:///d.zip", "application/zip", 0, 600),
            ),
        ] {
            let mut media = Media::default();
            assert_eq!(add_document(&mut media, raw(&element)), Media::DOCUMENT);
            assert_eq!(media.documents, [expected], "{element}");
        }
    }

    #[test]
    fn data_in_an_unknown_element_is_no_text() {
        let data = "QUJD".repeat(200);
        let words = "it goes on ".repeat(200);
        for (element, is_data) in [
            (format!(r#"{{"type":"blob","data":"{data}"}}"#), true),
            (format!(r#"{{"type":"resource","resource":{{"blob":"{data}"}}}}"#), true),
            (format!(r#"{{"type":"note","data":"{data}","text":"{words}"}}"#), false),
            (format!(r#"{{"type":"note","text":"{words}"}}"#), false),
            (format!("\"{data}\""), false),
            (r#"{"type":"blob","data":"QUJD"}"#.to_owned(), false),
        ] {
            let mut media = Media::default();
            let content = unknown(&mut media, raw(&element));
            assert_eq!((content == Media::DOCUMENT, media.documents.len()), (is_data, usize::from(is_data)), "{element}");
            assert!(is_data || content == element);
        }
    }
}
