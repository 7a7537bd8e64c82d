use crate::output::{Paint, Report, Style, bytes, plural, printable};
use crate::store::{KeyMethod, SealState};
use schemars::JsonSchema;
use serde::Serialize;

/// A change of the keys of the store.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct StoreReport {
    /// True if nothing was changed.
    pub dry_run: bool,
    /// True if the store is sealed afterwards.
    pub is_sealed: bool,
    /// The secret that opens the store afterwards.
    pub method: Option<KeyMethod>,
    /// Number of database rows that were written again; in a dry run, those that would be.
    pub rows: u64,
    /// Number of files of kept sessions that were written again.
    pub files: u64,
    /// Size of the databases, or of what was written again.
    pub bytes: u64,
}

impl Report for StoreReport {
    const SCHEMA: &str = "aperture.store/1";

    fn text(&self, style: &Style) -> String {
        let what =
            format!("{} and {} ({})", plural(self.rows as usize, "row"), plural(self.files as usize, "file"), bytes(self.bytes));
        let verb = if self.is_sealed { "sealed" } else { "opened" };
        if self.dry_run {
            return format!("{what} would be {verb}\nnothing was changed: this is a dry run\n");
        }
        let mut text = match (self.rows + self.files, self.is_sealed) {
            (0, true) => "the store is sealed\n".to_owned(),
            (0, false) => "the store is not sealed\n".to_owned(),
            _ => format!("{verb} {what}; caches were deleted and are built again\n"),
        };
        let note = match self.method {
            Some(KeyMethod::Passphrase) => {
                "a lost passphrase cannot be recovered; hooks and services need a key file: aperture store rekey --key-file FILE"
            }
            Some(KeyMethod::KeyFile) => "without the key file the store cannot be read: keep a copy elsewhere",
            Some(KeyMethod::Keyring) => "without the entry 'aperture' of the keyring the store cannot be read",
            None => return text,
        };
        text.push_str(&style.paint(Paint::Dim, &format!("{note}\n")));
        text
    }
}

/// The number of rows of a table.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct StoredRows {
    /// Table of the database.
    pub table: &'static str,
    /// Rows in the table.
    pub rows: u64,
}

/// Something that is not sealed.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ClearPlace {
    /// Kind of the files.
    pub what: &'static str,
    pub path: String,
}

/// The state of the store.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct StoreStatusReport {
    /// Data directory.
    pub directory: String,
    /// State of the seal; null for a clear store.
    pub state: Option<SealState>,
    /// The secret that opens the store.
    pub method: Option<KeyMethod>,
    pub key_file: Option<String>,
    /// Reason why the store is locked.
    pub locked: Option<String>,
    /// Numbers of rows in the databases.
    pub stored: Vec<StoredRows>,
    /// Number of files of kept sessions.
    pub kept_files: u64,
    /// Size of the databases.
    pub bytes: u64,
    /// Places that stay clear.
    pub clear: Vec<ClearPlace>,
}

impl Report for StoreStatusReport {
    const SCHEMA: &str = "aperture.store-status/1";

    fn text(&self, style: &Style) -> String {
        let seal = match (self.state, self.method) {
            (None, _) if self.locked.is_some() => "sealed".to_owned(),
            (None, _) | (_, None) => "not sealed; to seal it: aperture store encrypt".to_owned(),
            (Some(SealState::Sealed), Some(method)) => format!("sealed, opened by a {}", method.name().replace('-', " ")),
            (Some(SealState::Sealing), _) => "being sealed; to continue: aperture store encrypt".to_owned(),
            (Some(SealState::Opening), _) => "being opened; to continue: aperture store decrypt".to_owned(),
        };
        let mut text = format!("store      {}\nseal       {seal}\n", printable(&self.directory));
        if let Some(file) = &self.key_file {
            text.push_str(&format!("key file   {}\n", printable(file)));
        }
        if let Some(locked) = &self.locked {
            text.push_str(&format!("locked     {locked}\n"));
        }
        let count = |stored: &StoredRows| plural(stored.rows as usize, stored.table.replace('_', " ").trim_end_matches('s'));
        let mut counts: Vec<String> = self.stored.iter().map(count).collect();
        counts.extend((self.kept_files > 0).then(|| format!("{} of kept sessions", plural(self.kept_files as usize, "file"))));
        let counts = if counts.is_empty() { "nothing".to_owned() } else { counts.join(", ") };
        text.push_str(&format!("holds      {counts} ({})\n", bytes(self.bytes)));
        if self.state.is_some() {
            text.push_str("stays clear\n");
            for place in &self.clear {
                let path = style.paint(Paint::Dim, &printable(&place.path));
                text.push_str(&format!("  {:<44} {path}\n", place.what));
            }
        }
        text
    }
}
