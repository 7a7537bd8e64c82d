//! Content of a block that is not text: images and documents.

use super::texts;
use serde::{Deserialize, Serialize};

/// Contents that are not text. The text of a block has a placeholder for each.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Media {
    pub images: Vec<Image>,
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
    /// The reason for which the API refuses its data.
    pub fault: Option<MediaFault>,
}

/// An image; its pixel size is zero by zero if its header does not contain it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    pub width: u32,
    pub height: u32,
    /// Bytes of its base64 data; 0 if it is not in the session.
    pub bytes: u64,
    /// The reason for which the API refuses its data.
    pub fault: Option<MediaFault>,
}

/// The reason for which the API refuses the data of an image or a document, whatever its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MediaFault {
    /// There is no data.
    Empty,
    NotBase64,
    /// The API does not accept the media type.
    TypeRefused,
    /// The data is not of the media type, nor of another one that the API accepts.
    Unreadable,
    /// The data is an image of another format.
    OtherFormat(ImageFormat),
}

texts! {
    /// A format of images that the API accepts.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub enum ImageFormat, media_type {
        Png = "image/png",
        Jpeg = "image/jpeg",
        Gif = "image/gif",
        Webp = "image/webp",
    }
}
