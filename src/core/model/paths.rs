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

/// Returns true if two directories may be of one project: one is below the other, or one is named after the other or lies among its
/// worktrees, as further checkouts do. Neither needs to exist.
pub fn may_be_one_project(one: &Path, other: &Path) -> bool {
    let (one, other) = (parts(one), parts(other));
    let is_below = one.starts_with(&other) || other.starts_with(&one);
    let (names, others) = (project_names(&one), project_names(&other));
    is_below || names.iter().any(|name| others.iter().any(|other| are_alike(name, other)))
}

/// Returns the components of a path, in lower case.
fn parts(path: &Path) -> Vec<String> {
    let text = slashed(&path.to_string_lossy()).to_lowercase();
    text.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

/// Returns the names that a project in a directory can have: the last one and, of a worktree, the one before the folder of worktrees.
fn project_names(parts: &[String]) -> Vec<&str> {
    let is_folder = |part: &&String| part.trim_start_matches('.') == "worktrees";
    let before = parts.iter().position(|part| is_folder(&part)).unwrap_or_default();
    let main = parts[..before].iter().rfind(|part| !part.starts_with('.'));
    parts.last().into_iter().chain(main).map(String::as_str).collect()
}

/// Returns true if names of directories are equal but for their marks, or one is the other with a word before or behind.
fn are_alike(one: &str, other: &str) -> bool {
    const MARKS: [char; 3] = ['-', '_', '.'];
    let extends = |long: &str, short: &str| {
        let (rest, start) = (long.strip_prefix(short), long.strip_suffix(short));
        rest.is_some_and(|rest| rest.starts_with(MARKS)) || start.is_some_and(|start| start.ends_with(MARKS))
    };
    one.replace(MARKS, "") == other.replace(MARKS, "") || extends(one, other) || extends(other, one)
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
    fn worktrees_and_parts_of_a_project_are_one_project() {
        for (one, other, expected) in [
            ("/home/me/shop", "/home/me/shop", true),
            ("/home/me/shop", "/home/me/shop/web", true),
            ("/home/me/shop/.worktrees/1", "/home/me/shop/.worktrees/fix/tax", true),
            ("/home/me/shop/.worktrees/1", "/srv/shop", true),
            ("/home/me/worktrees/shop/calm-sea/shop", "/home/me/code/shop", true),
            ("/home/me/.agent/worktrees/1a2b/shop", "/home/me/shop", true),
            ("/home/me/shop", "/home/me/shop-tax", true),
            ("/home/me/2026-shop", "/srv/shop", true),
            ("/home/me/date_parser", "/srv/dateparser", true),
            (r"C:\\me\\shop", r"c:/me/shop/web", true),
            ("/home/me/shop", "/home/me/mail", false),
            ("/home/me/shop", "/home/me/shopping", false),
            ("/home/me/shop/.worktrees/1", "/home/me/mail/.worktrees/2", false),
        ] {
            assert_eq!(may_be_one_project(Path::new(one), Path::new(other)), expected, "{one} {other}");
            assert_eq!(may_be_one_project(Path::new(other), Path::new(one)), expected, "{other} {one}");
        }
    }

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
