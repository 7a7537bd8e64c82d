//! The package on crates.io contains the files that its README needs, and the recipes in `packaging/` contain the version and the
//! files of the repository.

use crate::rows::Rows;
use crate::sandbox::{Sandbox, repository};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Recipes with a literal version, with the text before and after it.
const VERSIONS: [(&str, &str, &str); 4] = [
    ("Cargo.toml", "path = \"src/core\", version = \"=", "\" }"),
    ("packaging/homebrew/aperture.rb", "tag: \"v", "\"\n"),
    ("packaging/aur/PKGBUILD", "\npkgver=", "\n"),
    ("action.yml", "    default: ", "\n"),
];

/// Files that install the program, its man pages and its completions.
const RECIPES: [&str; 4] =
    ["Cargo.toml", "packaging/homebrew/aperture.rb", "packaging/aur/PKGBUILD", "packaging/nix/default.nix"];

fn read(path: &str) -> String {
    fs::read_to_string(repository().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Words of a recipe that begin with one of the folders.
fn paths(text: &str, folders: &[&str]) -> BTreeSet<String> {
    let words = text.split(|c: char| c.is_whitespace() || "\"'`,;".contains(c));
    words.filter(|word| folders.iter().any(|folder| word.starts_with(folder))).map(str::to_owned).collect()
}

/// True if a path, or a pattern `FOLDER/*END`, names at least one file of the repository.
fn exists(path: &str) -> bool {
    let Some((folder, end)) = path.split_once('*') else { return repository().join(path).is_file() };
    let mut entries = fs::read_dir(repository().join(folder)).into_iter().flatten();
    entries.any(|entry| entry.unwrap().file_name().to_string_lossy().ends_with(end))
}

#[test]
fn recipes_have_the_version_of_the_package() {
    for (path, before, after) in VERSIONS {
        let expected = format!("{before}{}{after}", env!("CARGO_PKG_VERSION"));
        assert!(read(path).contains(&expected), "{path} does not contain {expected:?}");
    }
    assert!(read("packaging/nix/default.nix").contains("version = manifest.workspace.package.version;"));
}

#[test]
fn recipes_install_files_that_exist() {
    for recipe in RECIPES {
        let text = read(recipe);
        let installed = paths(&text, &["man/", "completions/"]);
        for expected in ["man/*.1", "completions/aperture.bash", "completions/aperture.fish", "completions/_aperture"] {
            assert!(installed.contains(expected), "{recipe} does not install {expected}");
        }
        installed.iter().for_each(|path| assert!(exists(path), "{recipe}: {path} does not exist"));
        assert!(text.contains("dist"), "{recipe} does not build the profile dist");
        for binary in paths(&text, &["target/release/", "target/dist/"]) {
            assert!(binary.ends_with("/aperture"), "{recipe}: {binary} is not the program");
        }
    }
}

#[cfg(unix)]
#[test]
fn the_action_annotates_the_sessions_of_a_checkout() {
    let sandbox = Sandbox::new();
    let key = ["AKIA", "Q7RZ2MWK9TXB4LNV"].concat();
    let mut rows = Rows::default();
    rows.prompt(&format!("The key is {key}."));
    sandbox.write("demo.jsonl", rows.text());
    let program = Path::new(env!("CARGO_BIN_EXE_aperture")).parent().unwrap().display();
    let path = format!("{program}:{}", std::env::var("PATH").unwrap());
    let run = |sessions: &str| {
        let mut command = Command::new(repository().join("packaging/action.sh"));
        command.current_dir(&sandbox.project).env("PATH", &path).env("HOME", &sandbox.home).env("APERTURE_HOME", &sandbox.home);
        command.env("APERTURE_SESSIONS", sessions).env("APERTURE_ARGUMENTS", "--no-secrets").output().unwrap()
    };
    let found = run("*.jsonl");
    let text = String::from_utf8(found.stdout).unwrap();
    assert!(found.status.code() == Some(1) && text.starts_with("::error file=demo.jsonl,line=1"), "{text}");
    assert!(!text.contains(&key), "{text}");
    rows = Rows::default();
    rows.prompt("Nothing is secret here.");
    sandbox.write("clean.jsonl", rows.text());
    assert!(run("clean.jsonl").status.success());
}

#[test]
fn the_package_holds_what_its_readme_shows() {
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .args(["package", "--list", "--allow-dirty", "--offline", "--package", env!("CARGO_PKG_NAME")])
        .current_dir(repository());
    let output = cargo.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let list = String::from_utf8(output.stdout).unwrap().replace('\\', "/");
    let files: BTreeSet<&str> = list.lines().collect();
    let readme = read("README.md");
    let links = readme.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
    let fixtures = paths(&readme, &["fixtures/"]);
    let needed = links.filter(|link| !link.is_empty() && !link.contains(':')).chain(fixtures.iter().map(String::as_str));
    for path in needed.chain(["Cargo.lock", "build.rs", "LICENSE-MIT", "LICENSE-APACHE"]) {
        let within = format!("{}/", path.trim_end_matches('/'));
        let has = files.contains(path) || files.iter().any(|file| file.starts_with(&within));
        assert!(has, "{path} is not in the package");
    }
    for outside in ["fuzz/", ".ci/", "packaging/", "src/core/", "target/"] {
        assert!(!files.iter().any(|file| file.starts_with(outside)), "{outside} is in the package");
    }
}
