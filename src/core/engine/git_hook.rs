//! Git hooks: adds aperture's section to a hook script and removes it.

use crate::model::words;

words! {
    /// A git hook.
    pub enum GitHook {
        /// Before a commit: refuses staged sessions with credentials.
        PreCommit = "pre-commit",
        /// After a commit: records the session that led to it.
        PostCommit = "post-commit",
        /// Before a push: refuses commits whose sessions have credentials.
        PrePush = "pre-push",
    }
}

/// The lines before and after aperture's section.
const BEGIN: &str = "# >>> aperture >>>";
const END: &str = "# <<< aperture <<<";

/// Beginning of a script that aperture made.
const HEAD: &str = "#!/bin/sh\n";

/// The reason why a script is not changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HookError {
    #[error("it is not a text file; it may be a program")]
    Binary,
    #[error("it is empty")]
    Empty,
    #[error("it is not a shell script")]
    OtherLanguage,
    #[error("the end marker of aperture's part is missing")]
    Broken,
}

/// Returns the script with aperture's section; unchanged if the section is already present.
///
/// The section follows the first line, because a script may call `exit` anywhere.
/// Errors: the script is empty, or not a shell script.
pub fn with_hook(script: Option<&[u8]>, hook: GitHook) -> Result<Vec<u8>, HookError> {
    let Some(without) = script.map_or(Ok(None), without_hook)? else {
        return Ok([HEAD.as_bytes(), part(hook).as_bytes()].concat());
    };
    let text = text(&without)?;
    if text.is_empty() {
        return Err(HookError::Empty);
    }
    let end = text.find('\n').map(|end| end + 1);
    let first = &text[..end.unwrap_or(text.len())];
    let words: Vec<&str> = first.trim_start_matches("#!").split(['/', ' ', '\t', '\r', '\n']).collect();
    let shell = first.starts_with("#!") && ["sh", "bash", "dash", "zsh", "ksh", "ash"].iter().any(|shell| words.contains(shell));
    let Some(end) = end.filter(|_| shell) else { return Err(HookError::OtherLanguage) };
    let part = part(hook);
    // Without the line feed, it is not a script that aperture made.
    let part = if text == HEAD { part.trim_end() } else { &part };
    Ok([&text[..end], part, &text[end..]].concat().into_bytes())
}

/// Returns the script without aperture's section; `None` if nothing is left except lines written by aperture.
/// Errors: fails if the end mark of the section is missing, or if the script is not text.
pub fn without_hook(script: &[u8]) -> Result<Option<Vec<u8>>, HookError> {
    let text = text(script)?;
    let Some(start) = text.find(BEGIN) else { return Ok(Some(script.to_vec())) };
    let length = text[start..].find(END).ok_or(HookError::Broken)? + END.len();
    let rest = &text[start + length..];
    let after = rest.strip_prefix('\n');
    let left = [&text[..start], after.unwrap_or(rest)].concat();
    Ok((left != HEAD || after.is_none()).then_some(left.into_bytes()))
}

fn text(script: &[u8]) -> Result<&str, HookError> {
    std::str::from_utf8(script).ok().filter(|text| !text.contains('\0')).ok_or(HookError::Binary)
}

/// The part that aperture writes. Without aperture on the path, the hook prints nothing.
fn part(hook: GitHook) -> String {
    let name = hook.name();
    let run = match hook {
        GitHook::PreCommit => format!("aperture git-hook {name} || exit 1"),
        GitHook::PostCommit => format!("aperture git-hook {name} || true"),
        // Other parts of the script may also read Git's standard input.
        GitHook::PrePush => format!(
            "aperture_refs=$(cat)\n  printf '%s\\n' \"$aperture_refs\" | aperture git-hook {name} \"$@\" || exit 1\n  exec <<APERTURE_REFS\n$aperture_refs\nAPERTURE_REFS"
        ),
    };
    format!(
        "{BEGIN}\n# To remove this part: aperture uninstall git-hook --{name}\nif command -v aperture >/dev/null 2>&1; then\n  {run}\nfi\n{END}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn installed_hooks_are_removed_byte_for_byte() {
        for script in
            ["#!/bin/sh\nexit 0\n", HEAD, "#!/usr/bin/env bash\r\nset -e\r\nmake", "#!/bin/zsh\n", "#! /bin/dash -e\n\n\n"]
        {
            for hook in GitHook::ALL {
                let with = with_hook(Some(script.as_bytes()), hook).unwrap();
                assert_ne!(with, script.as_bytes());
                assert_eq!(with_hook(Some(&with), hook).unwrap(), with, "twice is once");
                assert_eq!(without_hook(&with).unwrap().unwrap(), script.as_bytes());
            }
        }
        assert_eq!(without_hook(b"#!/bin/sh\nexit 0\n").unwrap().unwrap(), b"#!/bin/sh\nexit 0\n");
    }

    #[test]
    fn a_script_of_aperture_alone_goes_whole() {
        for hook in GitHook::ALL {
            let made = with_hook(None, hook).unwrap();
            assert_eq!(with_hook(Some(&made), hook).unwrap(), made);
            assert_eq!(with_hook(Some(b""), hook), Err(HookError::Empty));
            assert_eq!(without_hook(&made).unwrap(), None);
        }
    }

    #[test]
    fn other_files_than_shell_scripts_are_skipped() {
        let check = |script: &[u8], expected| assert_eq!(with_hook(Some(script), GitHook::PreCommit), Err(expected));
        check(b"\x7fELF\x02\x01\0\0", HookError::Binary);
        check(b"#!/usr/bin/env python3\nprint(1)\n", HookError::OtherLanguage);
        check(b"echo no interpreter\n", HookError::OtherLanguage);
        check(b"#!/bin/sh", HookError::OtherLanguage);
        check(b"#!/bin/sh\n# >>> aperture >>>\nif\n", HookError::Broken);
        assert_eq!(without_hook(b"# >>> aperture >>>\n"), Err(HookError::Broken));
    }
}
