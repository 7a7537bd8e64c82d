//! Paths as sessions record them: those of Windows too, on any system.

use crate::text::names::SEPARATORS;
use std::path::{Path, PathBuf};

/// Returns true if a text begins with the drive of Windows or the name of a server: `C:\`, `c:/`, `\\server`.
pub fn is_windows_text(path: &str) -> bool {
    let bytes = path.as_bytes();
    path.starts_with(r"\\")
        || matches!(bytes, [drive, b':', b'/' | b'\\', ..] if drive.is_ascii_alphabetic())
        || matches!(bytes, [drive, b':'] if drive.is_ascii_alphabetic())
}

/// Returns true if a path is an absolute one of Windows.
pub fn is_windows(path: &Path) -> bool {
    path.to_str().is_some_and(is_windows_text)
}

/// Returns true if a path is absolute on any system.
pub fn is_absolute(path: &str) -> bool {
    path.starts_with('/') || is_windows_text(path)
}

/// Returns a path in the form in which equal ones have equal bytes: without a separator at the end; of Windows with backslashes and
/// a capital drive, without the prefix of canonical paths.
pub fn same_form(path: &Path) -> PathBuf {
    let Some(text) = path.to_str().filter(|text| is_windows_text(text)) else { return path.components().collect() };
    let mut text = text.replace('/', r"\");
    if let Some(plain) = text.strip_prefix(r"\\?\") {
        text = plain.strip_prefix(r"UNC\").map_or_else(|| plain.to_owned(), |server| format!(r"\\{server}"));
    }
    let end = text.trim_end_matches('\\').len();
    text.truncate(end);
    if text.len() == 2 && text.ends_with(':') {
        text.push('\\');
    }
    if let (true, Some(drive)) = (text.get(1..2) == Some(":"), text.get_mut(..1)) {
        drive.make_ascii_uppercase();
    }
    PathBuf::from(text)
}

/// Returns a path with slashes as separators, for comparison; of Windows with a capital drive.
pub fn slashed(path: &str) -> String {
    slashed_drive(&path.replace('\\', "/"))
}

/// Returns a path or a pattern of paths with slashes, with a capital drive if it begins with one.
pub fn slashed_drive(path: &str) -> String {
    let mut path = path.to_owned();
    if let (true, Some(drive)) = (is_windows_text(&path), path.get_mut(..1)) {
        drive.make_ascii_uppercase();
    }
    path
}

/// Returns a path below a directory without that directory; any other path as it is. Drives have no case, separators may differ.
pub fn relative<'a>(path: &'a str, directory: &str) -> &'a str {
    let windows = is_windows_text(directory);
    let directory = if windows { directory.trim_end_matches(SEPARATORS) } else { directory.trim_end_matches('/') };
    let same = |(at, (own, given)): (usize, (u8, u8))| match windows {
        true if at == 0 => own.eq_ignore_ascii_case(&given),
        true => own == given || [own, given].iter().all(|byte| matches!(byte, b'/' | b'\\')),
        false => own == given,
    };
    let is_below = !directory.is_empty()
        && path.len() > directory.len()
        && path.bytes().zip(directory.bytes()).enumerate().all(same)
        && path.is_char_boundary(directory.len());
    let rest = is_below.then(|| path[directory.len()..].strip_prefix(SEPARATORS)).flatten();
    rest.filter(|rest| !rest.is_empty()).unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_directories_have_one_form() {
        for (path, form) in [
            ("/home/me/shop/", "/home/me/shop"),
            ("/home/me/./shop", "/home/me/shop"),
            (r"c:\Users\Ana", r"C:\Users\Ana"),
            ("C:/Users/Ana/", r"C:\Users\Ana"),
            (r"\\?\C:\Users\Ana", r"C:\Users\Ana"),
            (r"\\?\UNC\server\share\x", r"\\server\share\x"),
            (r"\\server\share\", r"\\server\share"),
            ("c:/", r"C:\"),
            ("/home/me/my_shop", "/home/me/my_shop"),
            ("/新聞/店", "/新聞/店"),
            ("/", "/"),
        ] {
            assert_eq!(same_form(Path::new(path)), Path::new(form), "{path}");
        }
    }

    #[test]
    fn a_path_is_shown_below_its_directory() {
        for (path, directory, expected) in [
            ("/w/shop/src/a.rs", "/w/shop", "src/a.rs"),
            ("/w/shop/src/a.rs", "/w/shop/", "src/a.rs"),
            ("/w/shopping/a.rs", "/w/shop", "/w/shopping/a.rs"),
            ("src/a.rs", "/w/shop", "src/a.rs"),
            ("/w/shop", "/w/shop", "/w/shop"),
            ("/a.rs", "", "/a.rs"),
            (r"C:\Users\Ana María\tienda\src\a.ts", r"C:\Users\Ana María\tienda", r"src\a.ts"),
            (r"c:\Users\Ana María\tienda\src\a.ts", r"C:\Users\Ana María\tienda", r"src\a.ts"),
            ("C:/Users/Ana María/tienda/src/a.ts", r"c:\Users\Ana María\tienda", "src/a.ts"),
            (r"C:\Users\ana\tienda2\a.ts", r"C:\Users\ana\tienda", r"C:\Users\ana\tienda2\a.ts"),
            (r"C:\a.ts", r"C:\", "a.ts"),
            ("/W/shop/a.rs", "/w/shop", "/W/shop/a.rs"),
        ] {
            assert_eq!(relative(path, directory), expected, "{path} in {directory}");
        }
    }
}
