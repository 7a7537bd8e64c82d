//! Counts the pages of a PDF.

use memchr::memmem::{find, find_iter, rfind};

/// Maximum bytes on each side of the type of an object that are searched for the ends of its dictionary.
const DICTIONARY_BYTES: usize = 64 << 10;
/// Maximum bytes of a decompressed stream of objects.
const STREAM_BYTES: usize = 8 << 20;
/// Maximum streams of objects that are decompressed.
const STREAMS: usize = 2000;
/// Maximum nodes of the page tree that are read.
const NODES: usize = 4000;
/// Maximum pages: more than any API accepts.
const PAGES: u32 = 1000;

/// Returns the number of pages: the largest count in a node of the page tree, else the number of page objects; 0 for other files.
pub(super) fn pages(file: &[u8]) -> u32 {
    if find(&file[..file.len().min(1024)], b"%PDF-").is_none() {
        return 0;
    }
    let mut counted = Counted::default();
    counted.add(file);
    for start in find_iter(file, b"/ObjStm").take(STREAMS) {
        if let Some(objects) = objects(file, start) {
            counted.add(&objects);
        }
    }
    let pages = if counted.in_tree > 0 { counted.in_tree } else { counted.objects };
    pages.min(PAGES)
}

/// Pages found so far.
#[derive(Default)]
struct Counted {
    /// The largest count in a node of the page tree.
    in_tree: u32,
    objects: u32,
}

impl Counted {
    fn add(&mut self, objects: &[u8]) {
        let mut nodes = 0;
        for start in find_iter(objects, b"/Type") {
            let rest = objects[start + b"/Type".len()..].trim_ascii_start();
            let end = rest.iter().skip(1).position(|byte| !byte.is_ascii_alphanumeric()).map_or(rest.len(), |end| end + 1);
            match &rest[..end] {
                b"/Page" => self.objects = self.objects.saturating_add(1),
                b"/Pages" if nodes < NODES => {
                    nodes += 1;
                    self.in_tree = self.in_tree.max(count(dictionary(objects, start)).unwrap_or_default());
                }
                _ => {}
            }
        }
    }
}

/// Returns the dictionary around a place, without its nested ones before the place.
fn dictionary(objects: &[u8], place: usize) -> &[u8] {
    let before = &objects[place.saturating_sub(DICTIONARY_BYTES)..place];
    let after = &objects[place..objects.len().min(place + DICTIONARY_BYTES)];
    // Each mark that closes a nested dictionary, and the one that opens it, cancel each other.
    let mut depth = 0;
    let mut start = before.len();
    while start >= 2 {
        match &before[start - 2..start] {
            b">>" => (depth, start) = (depth + 1, start - 2),
            b"<<" if depth == 0 => break,
            b"<<" => (depth, start) = (depth - 1, start - 2),
            _ => start -= 1,
        }
    }
    let (mut depth, mut end) = (0, 0);
    while end + 2 <= after.len() {
        match &after[end..end + 2] {
            b"<<" => (depth, end) = (depth + 1, end + 2),
            b">>" if depth == 0 => break,
            b">>" => (depth, end) = (depth - 1, end + 2),
            _ => end += 1,
        }
    }
    &objects[place - (before.len() - start)..place + end]
}

fn count(dictionary: &[u8]) -> Option<u32> {
    let rest = dictionary[find(dictionary, b"/Count")? + b"/Count".len()..].trim_ascii_start();
    let digits = rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
    std::str::from_utf8(&rest[..digits]).ok()?.parse().ok()
}

/// Returns the decompressed objects of the stream whose dictionary names its type at a place.
fn objects(file: &[u8], place: usize) -> Option<Vec<u8>> {
    let head = &file[place..file.len().min(place + DICTIONARY_BYTES)];
    let start = find(head, b"stream")?;
    let begin = rfind(&file[..place], b"obj").unwrap_or_default();
    find(&file[begin..place + start], b"/FlateDecode")?;
    let data = &file[place + start + b"stream".len()..];
    let data = data.strip_prefix(b"\r\n").or(data.strip_prefix(b"\n")).unwrap_or(data);
    let data = &data[..find(data, b"endstream").unwrap_or(data.len())];
    // The beginning of a damaged stream is better than nothing.
    Some(miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(data, STREAM_BYTES).unwrap_or_else(|error| error.output))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_of_the_page_tree_has_the_number_of_pages() {
        for (file, expected) in [
            ("%PDF-1.4\n<< /Type /Pages /Kids [3 0 R] /Count 40 >>\n<</Type/Page>>", 40),
            ("%PDF-1.4\n<</Count 7/Resources<</Font<<>>>>/Type/Pages>> <</Type /Pages /Count 3 /Parent 1 0 R>>", 7),
            ("%PDF-1.4\n<</Type/Outlines/Count 9>> <</Type/Pages/Kids[]>> <</Type/Page>> <</Type /Page /X<<>>>>", 2),
            ("%PDF-1.4\n<</Type /Pages /Count 4000000000>>", PAGES),
            ("%PDF-1.4\n<</Type /Pages /Count 99999999999>>", 0),
            ("%PDF-1.4\n/Type", 0),
            ("%PDF-1.4\n/Type /Pages", 0),
            ("<</Type/Pages/Count 3>>", 0),
            ("", 0),
        ] {
            assert_eq!(pages(file.as_bytes()), expected, "{file}");
        }
    }

    #[test]
    fn pages_in_a_compressed_stream_are_counted() {
        let packed = miniz_oxide::deflate::compress_to_vec_zlib(b"1 0 2 40 <</Type/Pages/Count 12>> <</Type/Page>>", 6);
        let head = b"%PDF-1.7\n5 0 obj\n<</Type/ObjStm/N 2/Filter/FlateDecode>>\nstream\r\n";
        let file = [&head[..], &packed, b"\nendstream\nendobj"].concat();
        assert_eq!(pages(&file), 12);
        assert_eq!(pages(&file[..head.len() + 2]), 0);
    }
}
