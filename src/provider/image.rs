//! Reads the pixel size of an image from the first part of its base64 text.

use crate::model::Image;
use base64::Engine;

/// Maximum number of base64 characters to decode: enough for the header of every format, even after large JPEG metadata.
const HEAD_CHARACTERS: usize = 256 << 10;

/// Returns the size of a PNG, JPEG, GIF or WebP image in pixels; 0 × 0 if the header cannot be read.
pub fn size(base64: &[u8]) -> Image {
    let head = &base64[..base64.len().min(HEAD_CHARACTERS) / 4 * 4];
    let bytes = base64::engine::general_purpose::STANDARD_NO_PAD
        .decode(head.trim_ascii_end().strip_suffix(b"==").or(head.strip_suffix(b"=")).unwrap_or(head))
        .unwrap_or_default();
    match imagesize::blob_size(&bytes) {
        Ok(size) => Image { width: size.width as u32, height: size.height as u32 },
        Err(_) => Image { width: 0, height: 0 },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_png_header_tells_its_size() {
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x40\0\0\0\x20\x08\x02\0\0\0\0\0\0\0";
        let text = base64::engine::general_purpose::STANDARD.encode(png);
        assert_eq!(size(text.as_bytes()), Image { width: 64, height: 32 });
    }

    #[test]
    fn anything_else_has_no_size() {
        for text in ["", "!", "AAAA", "=", "===="] {
            assert_eq!(size(text.as_bytes()), Image { width: 0, height: 0 }, "{text}");
        }
    }
}
