//! Content of a block that is not text: images and documents.

use serde::{Deserialize, Serialize};

/// Contents that are not text. The text of a block has a placeholder for each.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Media {
    /// Images, by pixel size.
    pub images: Vec<Image>,
    /// Documents.
    pub documents: Vec<Document>,
    /// Bytes of all their data as it is written in the session.
    pub bytes: u64,
}

/// No images and no documents.
pub static NO_MEDIA: Media = Media { images: Vec::new(), documents: Vec::new(), bytes: 0 };

impl Media {
    /// The placeholder for an image in a text.
    pub const IMAGE: &str = "[image]";
    /// The placeholder for a document in a text.
    pub const DOCUMENT: &str = "[document]";

    /// Returns true if there is neither an image nor a document.
    pub fn is_empty(&self) -> bool {
        self.images.is_empty() && self.documents.is_empty()
    }
}

/// A document, or other data that is not text: a PDF, a sound, data of an unknown type.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// Its title or file name; empty if it is not known.
    pub name: Box<str>,
    /// Its media type, as `application/pdf`; empty if it is not known.
    pub media_type: Box<str>,
    /// Its pages; 0 if they cannot be counted.
    pub pages: u32,
    /// Bytes of the file; 0 if it is not in the session.
    pub bytes: u64,
}

/// The pixel size of an image; zero by zero if its header does not contain it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Bytes of its base64 data; 0 if it is not in the session.
    pub bytes: u64,
}
