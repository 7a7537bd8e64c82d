//! Where clients list the MCP servers that they start, and in which form: by the documentation of each in 2026-10.

use super::client::Places;
use super::json_edit::{EditError, add, names, remove};
use crate::text::names::file_name;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

const SERVER: &str = "aperture";

/// An edited document, and the entries that were not added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edited {
    pub text: String,
    /// The names of entries that were not added, because another program uses them.
    pub taken: Vec<&'static str>,
}

/// The form of a list of servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerList {
    /// A JSON object under this name, whose entries have `command` and `args`, and a type if the client wants one.
    Json { key: &'static str, kind: Option<&'static str> },
    /// The same, whose entries have the arguments in `command`.
    JsonWords { key: &'static str, kind: &'static str },
    /// A table of a TOML document.
    Toml { key: &'static str },
}

/// A client that starts MCP servers.
#[derive(Clone, Copy, Debug)]
pub struct McpClient {
    /// Its name on the command line.
    pub name: &'static str,
    /// The file of the user, below the home directory.
    user: fn(&Places) -> PathBuf,
    /// The file of a project, below its directory; `None` if the client has none.
    project: Option<&'static str>,
    pub list: ServerList,
    /// The file of the user with hooks in the form of those of Claude Code, below its directory; `None` if aperture answers none.
    hooks: Option<fn(&Places) -> PathBuf>,
}

/// Codex: one file for all projects.
pub const CODEX: McpClient = McpClient {
    name: "codex",
    user: |places| places.codex_directory().join("config.toml"),
    project: None,
    list: ServerList::Toml { key: "mcp_servers" },
    hooks: Some(|places| places.codex_directory().join("hooks.json")),
};

/// Cursor.
pub const CURSOR: McpClient = McpClient {
    name: "cursor",
    user: |places| places.home.join(".cursor/mcp.json"),
    project: Some(".cursor/mcp.json"),
    list: ServerList::Json { key: "mcpServers", kind: None },
    hooks: None,
};

/// Visual Studio Code, with its own form of the list.
pub const VSCODE: McpClient = McpClient {
    name: "vscode",
    user: |places| places.home.join(EDITOR_DIRECTORY).join("Code/User/mcp.json"),
    project: Some(".vscode/mcp.json"),
    list: ServerList::Json { key: "servers", kind: Some("stdio") },
    hooks: None,
};

/// Gemini CLI.
pub const GEMINI: McpClient = McpClient {
    name: "gemini",
    user: |places| places.home.join(".gemini/settings.json"),
    project: Some(".gemini/settings.json"),
    list: ServerList::Json { key: "mcpServers", kind: None },
    hooks: None,
};

/// opencode.
pub const OPENCODE: McpClient = McpClient {
    name: "opencode",
    user: |places| places.home.join(".config/opencode/opencode.json"),
    project: Some("opencode.json"),
    list: ServerList::JsonWords { key: "mcp", kind: "local" },
    hooks: None,
};

/// Where the platform keeps the settings of desktop programs, below the home directory.
const EDITOR_DIRECTORY: &str = if cfg!(target_os = "macos") {
    "Library/Application Support"
} else if cfg!(windows) {
    "AppData/Roaming"
} else {
    ".config"
};

impl McpClient {
    pub fn hooks_file(&self, places: &Places) -> Option<PathBuf> {
        self.hooks.map(|file| file(places))
    }

    /// Returns the file with the servers of the user, or of a project; `None` if the client has none for projects.
    pub fn file(&self, places: &Places, project: Option<&Path>) -> Option<PathBuf> {
        match project {
            Some(directory) => Some(directory.join(self.project?)),
            None => Some((self.user)(places)),
        }
    }
}

impl ServerList {
    /// Adds aperture to the list, unless its name is taken. It is started by a name found through `PATH`, or by a path.
    ///
    /// Idempotent: if the entry exists already, in any formatting, the text is unchanged.
    /// Errors: the document is not valid, or has an unexpected type.
    pub fn install(self, text: &str, program: &str) -> Result<Edited, EditError> {
        let clean = self.uninstall(text)?;
        let is_taken = match self {
            ServerList::Toml { key } => toml(&clean)?.get(key).and_then(|list| list.get(SERVER)).is_some(),
            ServerList::Json { key, .. } | ServerList::JsonWords { key, .. } => {
                names(&clean, &[key]).iter().any(|name| name == SERVER)
            }
        };
        if is_taken {
            return Ok(Edited { text: text.to_owned(), taken: vec![SERVER] });
        }
        let text = match self {
            ServerList::Toml { key } if clean.trim().is_empty() => format!("{}{clean}", block(key, program).trim_start()),
            ServerList::Toml { key } => format!("{clean}{}", block(key, program)),
            ServerList::Json { key, .. } | ServerList::JsonWords { key, .. } => {
                let entry = self.entry(program);
                let is_there = serde_json::from_str::<Value>(text).is_ok_and(|list| list[key][SERVER] == entry);
                if is_there { text.to_owned() } else { add(&clean, &[key], Some(SERVER), &entry)? }
            }
        };
        Ok(Edited { text, taken: Vec::new() })
    }

    /// Removes aperture from the list.
    /// Errors: the document is not valid.
    pub fn uninstall(self, text: &str) -> Result<String, EditError> {
        let key = match self {
            ServerList::Toml { key } => {
                toml(text)?;
                return Ok(without_block(text, key));
            }
            ServerList::Json { key, .. } | ServerList::JsonWords { key, .. } => key,
        };
        remove(text, &[key], &|name, value| name == SERVER && is_ours(value))
    }

    fn entry(self, program: &str) -> Value {
        match self {
            ServerList::Json { kind: Some(kind), .. } => json!({"type": kind, "command": program, "args": ["mcp"]}),
            ServerList::JsonWords { kind, .. } => json!({"type": kind, "command": [program, "mcp"], "enabled": true}),
            _ => json!({"command": program, "args": ["mcp"]}),
        }
    }
}

fn is_ours(entry: &Value) -> bool {
    let words: Vec<&str> = match &entry["command"] {
        Value::String(program) => {
            let args = entry["args"].as_array().into_iter().flatten();
            std::iter::once(program.as_str()).chain(args.filter_map(Value::as_str)).collect()
        }
        words => words.as_array().into_iter().flatten().filter_map(Value::as_str).collect(),
    };
    matches!(words[..], [program, "mcp"] if is_us(program))
}

/// Returns true if a program is aperture, judged by its file name.
pub(super) fn is_us(program: &str) -> bool {
    let name = file_name(program);
    name.strip_suffix(".exe").unwrap_or(name) == "aperture"
}

fn toml(text: &str) -> Result<toml_edit::DocumentMut, EditError> {
    text.parse().map_err(|error: toml_edit::TomlError| EditError::NotToml(error.message().to_owned()))
}

/// The table at the end of a TOML document. It begins with a line feed, so that the text before stays as it was.
fn block(key: &str, program: &str) -> String {
    format!("\n[{key}.{SERVER}]\ncommand = {}\nargs = [\"mcp\"]\n", toml_edit::Value::from(program))
}

/// Removes the table that [`block`] writes, for any path of the program.
fn without_block(text: &str, key: &str) -> String {
    let start = format!("[{key}.{SERVER}]\ncommand = ");
    let end = "\nargs = [\"mcp\"]\n";
    let Some((before, rest)) = text.split_once(&start) else { return text.to_owned() };
    match rest.split_once(end) {
        Some((program, after)) if !program.contains('\n') && is_us(program.trim_matches(['"', '\''])) => {
            format!("{}{after}", before.strip_suffix('\n').unwrap_or(before))
        }
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MCP_CLIENTS: [&McpClient; 5] = [&CODEX, &CURSOR, &VSCODE, &GEMINI, &OPENCODE];

    #[test]
    fn the_entry_of_each_client_has_its_form() {
        let entry = |client: &McpClient| client.list.install("\n", "/bin/aperture").unwrap().text;
        let json = |client: &McpClient| serde_json::from_str::<Value>(&entry(client)).unwrap();
        let plain = json!({"command": "/bin/aperture", "args": ["mcp"]});
        assert_eq!((&json(&CURSOR)["mcpServers"]["aperture"], &json(&GEMINI)["mcpServers"]["aperture"]), (&plain, &plain));
        assert_eq!(json(&VSCODE)["servers"]["aperture"]["type"], "stdio");
        assert_eq!(json(&OPENCODE)["mcp"]["aperture"]["command"], json!(["/bin/aperture", "mcp"]));
        let codex = toml(&entry(&CODEX)).unwrap();
        assert_eq!(codex["mcp_servers"]["aperture"]["command"].as_str(), Some("/bin/aperture"));
    }

    #[test]
    fn an_entry_of_another_program_stays() {
        for (client, text) in [
            (&CURSOR, "{\"mcpServers\": {\"aperture\": {\"command\": \"camera\"}}}"),
            (&CODEX, "[mcp_servers.aperture]\ncommand = \"camera\"\n"),
        ] {
            let list = client.list;
            let edited = list.install(text, "aperture").unwrap();
            assert_eq!((&*edited.text, &*edited.taken), (text, &["aperture"][..]));
            assert_eq!(list.uninstall(text).unwrap(), text);
        }
        assert!(CODEX.list.install("a = ", "aperture").is_err());
    }

    proptest! {
        #[test]
        fn an_added_entry_is_removed_to_the_byte(
            lines in prop::collection::vec(prop::sample::select(vec!["", "# note", "model = \"x\"", "[mcp_servers.db]", "command = \"db\""]), 0..6),
            is_open in any::<bool>(),
            client in 0..MCP_CLIENTS.len(),
        ) {
            let toml_text = lines.join("\n") + if is_open { "" } else { "\n" };
            let is_toml = matches!(MCP_CLIENTS[client].list, ServerList::Toml { .. });
            let text = if is_toml { toml_text } else { "{\"a\": [1,  2], \"mcp\": {}, \"servers\": {\"db\": {}}}".to_owned() };
            let list = MCP_CLIENTS[client].list;
            if let Ok(once) = list.install(&text, "/usr/bin/aperture") {
                prop_assert_eq!(&list.install(&once.text, "/usr/bin/aperture").unwrap(), &once);
                prop_assert_eq!(list.uninstall(&once.text).unwrap(), text);
            }
        }
    }
}
