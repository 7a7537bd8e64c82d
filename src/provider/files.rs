//! The files that a shell command names.

/// Extensions of files that a command names without a directory. Other names with a dot are mostly members of objects.
const EXTENSIONS: &[&str] = &[
    "adoc", "bash", "bat", "bats", "c", "cc", "cfg", "cjs", "clj", "cmake", "conf", "cpp", "cs", "css", "csv", "cu", "dart",
    "db", "diff", "env", "erl", "ex", "exs", "fish", "fs", "gif", "go", "gradle", "graphql", "h", "hcl", "hpp", "hs", "htm",
    "html", "ini", "ipynb", "java", "jl", "jpeg", "jpg", "js", "json", "jsonc", "jsonl", "jsx", "kdl", "kt", "kts", "less",
    "lock", "log", "lua", "m", "md", "mdx", "mjs", "ml", "mod", "mts", "nix", "patch", "pdf", "php", "pl", "png", "prisma",
    "proto", "ps1", "py", "pyi", "r", "rb", "rs", "rst", "sass", "scala", "scss", "sh", "snap", "sol", "sql", "sqlite", "sum",
    "svelte", "svg", "swift", "tex", "tf", "toml", "tpl", "ts", "tsv", "tsx", "txt", "vb", "vue", "wasm", "xml", "yaml", "yml",
    "zig", "zsh",
];
/// Names of files without an extension.
const NAMES: &[&str] = &["Dockerfile", "Makefile", "Justfile", "justfile", "Gemfile", "Rakefile", "LICENSE", ".gitignore"];
/// Maximum length of a path, and maximum number of files of one command.
const PATH_BYTES: usize = 256;
const FILES: usize = 24;

/// Returns the files that a command names, in order, relative to `directory` if that is not empty. A change of directory at the start
/// of the command is followed; here-documents are skipped.
pub fn of_command(command: &str, directory: &str) -> Vec<String> {
    let mut directory = directory.trim_end_matches('/').to_owned();
    let rest = command.trim_start();
    if let Some(rest) = rest.strip_prefix("cd ")
        && let Some(target) = rest.split([' ', ';', '&', '\n']).find(|word| !word.is_empty())
    {
        directory = join(&directory, target.trim_matches(['"', '\'']));
    }
    let mut found: Vec<String> = Vec::new();
    let mut end_mark: Option<&str> = None;
    for line in command.lines() {
        if let Some(mark) = end_mark {
            if line.trim() == mark {
                end_mark = None;
            }
            continue;
        }
        end_mark = here_document(line);
        for word in line.split(|c: char| c.is_whitespace() || "'\"`;|&<>(),:=".contains(c)) {
            let word = word.trim_end_matches(['.', '\\']);
            if found.len() < FILES && is_file(word) {
                let path = join(&directory, word);
                if !found.contains(&path) {
                    found.push(path);
                }
            }
        }
    }
    found
}

/// Returns the mark that ends the here-document which starts in a line.
fn here_document(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once("<<")?;
    let rest = rest.strip_prefix('-').unwrap_or(rest).trim_start().trim_start_matches(['\'', '"', '\\']);
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    Some(&rest[..end]).filter(|mark| !mark.is_empty())
}

/// Returns a path below a directory; an absolute path as it is.
fn join(directory: &str, path: &str) -> String {
    let path = path.strip_prefix("./").unwrap_or(path);
    if directory.is_empty() || path.starts_with(['/', '~']) { path.to_owned() } else { format!("{directory}/{path}") }
}

/// Returns true if a word names a file: a known name, or a stem with an extension.
pub fn is_file(word: &str) -> bool {
    if word.len() < 3 || word.len() > PATH_BYTES || word.starts_with('-') || word.contains("//") {
        return false;
    }
    if word.contains(|c: char| c.is_whitespace() || "*?$|<>(){}[]=,;:'\"`\\%^!".contains(c)) {
        return false;
    }
    let name = word.rsplit('/').next().unwrap_or_default();
    if NAMES.contains(&name) {
        return true;
    }
    name.rsplit_once('.')
        .is_some_and(|(stem, extension)| !stem.is_empty() && EXTENSIONS.binary_search(&&*extension.to_ascii_lowercase()).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extensions_are_sorted() {
        assert!(EXTENSIONS.is_sorted());
    }

    #[test]
    fn a_command_names_its_files() {
        for (command, directory, expected) in [
            ("cat src/a.rs | head", "", &["src/a.rs"] as &[&str]),
            ("cd /w/shop && rg total src/a.rs ./b.toml", "", &["/w/shop/src/a.rs", "/w/shop/b.toml"]),
            ("cd sub; go test ./...", "/w", &[]),
            ("python3 -c 'json.load(x); re.sub(a)'", "", &[]),
            ("cat > a.py <<'EOF'\nopen('b.py')\nEOF\npython3 a.py c.py", "/w", &["/w/a.py", "/w/c.py"]),
            ("cat {a,b}_test.go src/*.rs $HOME/x.rs --config=c.toml d.rs:12", "", &["c.toml", "d.rs"]),
            ("curl https://example.com/x.js; ls *.rs; make -f Makefile", "", &["Makefile"]),
        ] {
            assert_eq!(of_command(command, directory), expected, "{command}");
        }
    }
}
