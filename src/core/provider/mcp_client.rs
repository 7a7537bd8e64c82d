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
    /// Errors: the document is not valid, or the list has an unexpected type or a form that is not extended.
    pub fn install(self, text: &str, program: &str) -> Result<Edited, EditError> {
        let clean = self.uninstall(text)?;
        let is_taken = match self {
            ServerList::Toml { key } => has_server(&toml(&clean)?, key),
            ServerList::Json { key, .. } | ServerList::JsonWords { key, .. } => {
                names(&clean, &[key]).iter().any(|name| name == SERVER)
            }
        };
        if is_taken {
            return Ok(Edited { text: text.to_owned(), taken: vec![SERVER] });
        }
        let text = match self {
            ServerList::Toml { key } => {
                let is_blank = clean.trim().is_empty();
                let block = block(key, program);
                let after = if is_blank { format!("{}{clean}", block.trim_start()) } else { format!("{clean}{block}") };
                // A table cannot follow an inline one, for example.
                if toml(&after).is_err() || without_block(&after, key) != Some(clean) {
                    return Err(EditError::NoTable(key));
                }
                after
            }
            ServerList::Json { key, .. } | ServerList::JsonWords { key, .. } => {
                let entry = self.entry(program);
                let is_there = serde_json::from_str::<Value>(text).is_ok_and(|list| list[key][SERVER] == entry);
                if is_there { text.to_owned() } else { add(&clean, &[key], Some(SERVER), &entry)? }
            }
        };
        Ok(Edited { text, taken: Vec::new() })
    }

    /// Removes aperture from the list, also if the document is valid only without it.
    /// Errors: the document is not valid.
    pub fn uninstall(self, text: &str) -> Result<String, EditError> {
        let key = match self {
            ServerList::Toml { key } => {
                return without_block(text, key).map_or_else(|| toml(text).map(|_| text.to_owned()), Ok);
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

fn toml(text: &str) -> Result<toml::Table, EditError> {
    text.parse().map_err(|error: toml::de::Error| EditError::NotToml(error.message().to_owned()))
}

fn has_server(document: &toml::Table, key: &str) -> bool {
    document.get(key).and_then(|list| list.get(SERVER)).is_some()
}

/// Returns a document without aperture in its list, and without a list that is empty.
fn without_server(mut document: toml::Table, key: &str) -> toml::Table {
    if let Some(toml::Value::Table(list)) = document.get_mut(key) {
        list.remove(SERVER);
        if list.is_empty() {
            document.remove(key);
        }
    }
    document
}

/// The table at the end of a TOML document. It begins with a line feed, so that the text before stays as it was.
fn block(key: &str, program: &str) -> String {
    format!("\n[{key}.{SERVER}]\ncommand = {}\nargs = [\"mcp\"]\n", toml::Value::from(program))
}

/// Returns a text without the table that [`block`] writes, for any path of the program. `None` if it has none, if the table has more than
/// that, or if the rest is not TOML.
fn without_block(text: &str, key: &str) -> Option<String> {
    let (start, end) = (format!("[{key}.{SERVER}]\ncommand = "), "\nargs = [\"mcp\"]\n");
    let whole = toml(text).ok();
    let rest = |at: usize| {
        let (program, after) = text[at + start.len()..].split_once(end)?;
        let is_ours = !program.contains('\n') && is_us(program.trim_matches(['"', '\'']));
        let before = text[..at].strip_suffix('\n').unwrap_or(&text[..at]);
        let rest = Some(format!("{before}{after}")).filter(|_| is_ours)?;
        let left = toml(&rest).ok()?;
        // The same lines in a text of the user are not the table.
        let is_table = whole.as_ref().is_none_or(|whole| {
            has_server(whole, key) && !has_server(&left, key) && without_server(whole.clone(), key) == without_server(left, key)
        });
        is_table.then_some(rest)
    };
    text.rmatch_indices(&start).find_map(|(at, _)| rest(at))
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

    #[test]
    fn a_list_that_takes_no_table_stays() {
        let refused = |text: &str| CODEX.list.install(text, "aperture").unwrap_err();
        assert_eq!(refused("[[mcp_servers]]\n"), EditError::NoTable("mcp_servers"));
        for list in ["{ foo = {command=\"x\"} }", "{}", "5"] {
            let text = format!("\"mcp_servers\" = {list}\n");
            assert_eq!(refused(&text), EditError::NoTable("mcp_servers"), "{list}");
            // An earlier version added it nevertheless.
            let broken = text.clone() + &block("mcp_servers", "/usr/bin/aperture");
            assert_eq!(CODEX.list.uninstall(&broken).unwrap(), text);
        }
        assert!(matches!(CODEX.list.uninstall("a = \n"), Err(EditError::NotToml(_))));
    }

    #[test]
    fn only_the_table_itself_is_removed() {
        let own = block("mcp_servers", "/usr/bin/aperture");
        let text = format!("note = \'\'\'{own}\'\'\'\n");
        assert_eq!(CODEX.list.uninstall(&text).unwrap(), text);
        for added in ["enabled = true\n", "[mcp_servers.aperture.env]\n"] {
            let text = format!("model = \"x\"\n{own}{added}");
            assert_eq!(CODEX.list.uninstall(&text).unwrap(), text, "without the rest, {added} means something else");
        }
    }

    /// Parts of documents in which the list has each form, or its lines are in a text.
    fn toml_parts() -> Vec<String> {
        let text = format!("note = \'\'\'{}\'\'\'", block("mcp_servers", "aperture"));
        let parts = [
            "",
            "# note",
            "model = \"x\"",
            "[mcp_servers.db]",
            "command = \"db\"",
            "mcp_servers = {}",
            "\"mcp_servers\" = {db = {command = \"db\"}}",
            "mcp_servers = 5",
            "mcp_servers.db.command = \"db\"",
            "[mcp_servers]",
            "[[mcp_servers]]",
            "[other]\r",
            &text,
        ];
        parts.map(str::to_owned).into()
    }

    /// Documents in which the list has each type.
    fn json_documents() -> Vec<String> {
        let lists =
            ["{}", "{ }", "{\"db\": {}}", "5", "null", "\"x\"", "[]", "[{\"command\": \"aperture\", \"args\": [\"mcp\"]}]"];
        let document = |key: &str, list: &str| format!("{{\"a\": [1,  2], \"{key}\": {list}}}");
        let documents = ["mcp", "servers", "mcpServers"].into_iter().flat_map(|key| lists.map(|list| document(key, list)));
        documents.collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        #[test]
        fn an_added_entry_is_removed_to_the_byte(
            lines in prop::collection::vec(prop::sample::select(toml_parts()), 0..6),
            is_open in any::<bool>(),
            json_text in prop::sample::select(json_documents()),
            client in 0..MCP_CLIENTS.len(),
        ) {
            let toml_text = lines.join("\n") + if is_open { "" } else { "\n" };
            let list = MCP_CLIENTS[client].list;
            let text = if matches!(list, ServerList::Toml { .. }) { toml_text } else { json_text };
            if let Ok(once) = list.install(&text, "/usr/bin/aperture") {
                prop_assert_eq!(&list.install(&once.text, "/usr/bin/aperture").unwrap(), &once);
                let is_valid = match list {
                    ServerList::Toml { key } => has_server(&toml(&once.text).unwrap(), key),
                    ServerList::Json { key, .. } | ServerList::JsonWords { key, .. } => names(&once.text, &[key]).contains(&SERVER.to_owned()),
                };
                prop_assert!(is_valid, "{}", once.text);
                prop_assert_eq!(list.uninstall(&once.text).unwrap(), text);
            }
        }
    }
}
