//! Files in Claude Code's directories that aperture owns: slash commands, and the plugin that provides them and the server to
//! every project of a user.
//!
//! Each contains a seal: a hash of its other bytes. A file with a valid seal may be replaced or deleted, whichever version of
//! aperture wrote it; a file that was changed since may not.

use crate::text::shell::quoted_word;
use serde_json::{Value, json};

const SEAL: &str = "aperture-seal:";
const SEAL_LENGTH: usize = 16;

/// Returns the slash commands: the name and the content of each file. `program` is the command that runs aperture.
pub fn slash_commands(program: &str) -> [(&'static str, String); 3] {
    let program = quoted_word(program);
    let file = |about: &str, allowed: &str, words: &str| {
        sealed(&format!(
            "---\ndescription: {about}\nallowed-tools: Bash({program} {allowed}:*)\n---\n{words}\n\n<!-- {SEAL}{} -->\n",
            "0".repeat(SEAL_LENGTH)
        ))
    };
    [
        (
            "manifest.md",
            file(
                "Show the content of the context window",
                "manifest",
                &format!("This is the context manifest of this session. Show it to the user as it is.\n\n!`{program} manifest`"),
            ),
        ),
        (
            "recall.md",
            file(
                "Search content that is no longer in the context window",
                "recall",
                &format!(
                    "Find what answers this in the parts of the session that are no longer in view, with `{program} recall 'QUERY'` in \
                     the Bash tool, and tell the user what it says: $ARGUMENTS"
                ),
            ),
        ),
        (
            "tidy.md",
            file(
                "Shorten stale blocks in the context window",
                "compress",
                &format!(
                    "Run `{program} compress --stale --live` in the Bash tool. Tell the user what it saved, that `{program} undo --live` \
                     reverts it, and that /resume with the id of this session shows the result."
                ),
            ),
        ),
    ]
}

/// Returns the manifest of the plugin that provides the server and the slash commands.
pub fn plugin(program: &str) -> String {
    let description = format!("The context of a session: visible, queryable, changeable. ({SEAL}{})", "0".repeat(SEAL_LENGTH));
    let manifest: Value = json!({
        "name": "aperture",
        "version": env!("CARGO_PKG_VERSION"),
        "description": description,
        "mcpServers": {"aperture": {"command": program, "args": ["mcp"]}},
    });
    sealed(&format!("{manifest:#}\n"))
}

/// Returns true if a file is unchanged since aperture wrote it.
pub fn is_sealed(text: &str) -> bool {
    text.split_once(SEAL).is_some_and(|(_, rest)| rest.get(..SEAL_LENGTH).is_some()) && sealed(text) == text
}

/// Returns the text with a valid seal; a text without a place for one is unchanged.
fn sealed(text: &str) -> String {
    let Some((before, rest)) = text.split_once(SEAL) else { return text.to_owned() };
    let Some(after) = rest.get(SEAL_LENGTH..) else { return text.to_owned() };
    let hash = blake3::hash(format!("{before}{after}").as_bytes()).to_hex();
    format!("{before}{SEAL}{}{after}", &hash[..SEAL_LENGTH])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_finds_the_program_wherever_it_is() {
        for (_, text) in slash_commands("/my tools/aperture") {
            assert_eq!(text.matches("/my tools/aperture").count(), text.matches("'/my tools/aperture' ").count(), "{text}");
        }
    }

    #[test]
    fn a_seal_holds_until_a_byte_is_changed() {
        let mut files: Vec<String> = slash_commands("aperture").into_iter().map(|(_, text)| text).collect();
        files.push(plugin("/opt/aperture"));
        for text in files {
            assert!(is_sealed(&text), "{text}");
            assert!(!is_sealed(&format!("{text} ")) && !is_sealed(&text.replacen("description", "Description", 1)), "{text}");
        }
        assert!(!is_sealed("mine") && !is_sealed("aperture-seal:12"));
    }
}
