//! The page of `aperture serve` and `aperture report`: its files, and one file of all of them.
//!
//! A script is a module that names others in whole lines `import … from "./x.js";` and begins what it gives with `export `, so
//! that they can be joined into one.

/// A file of the page.
#[derive(Clone, Copy, Debug)]
pub struct Asset {
    pub path: &'static str,
    pub media_type: &'static str,
    pub text: &'static str,
}

const SCRIPT: &str = "text/javascript; charset=utf-8";

/// The scripts, each after those that it imports.
const SCRIPTS: &[Asset] = &[
    Asset { path: "/elements.js", media_type: SCRIPT, text: include_str!("elements.js") },
    Asset { path: "/control.js", media_type: SCRIPT, text: include_str!("control.js") },
    Asset { path: "/pictures.js", media_type: SCRIPT, text: include_str!("pictures.js") },
    Asset { path: "/panes.js", media_type: SCRIPT, text: include_str!("panes.js") },
    Asset { path: "/page.js", media_type: SCRIPT, text: include_str!("page.js") },
];

const INDEX: Asset = Asset { path: "/", media_type: "text/html; charset=utf-8", text: include_str!("index.html") };
const STYLE: Asset = Asset { path: "/style.css", media_type: "text/css; charset=utf-8", text: include_str!("style.css") };

/// The element of the page that starts its scripts, and that of its style.
const START: &str = r#"<script type="module" src="/page.js"></script>"#;
const STYLED: &str = r#"<link rel="stylesheet" href="/style.css">"#;
/// The policy of a page in one file, which loads nothing.
const POLICY: &str = r#"<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'">"#;

/// Returns the file of the page with this path.
pub fn asset(path: &str) -> Option<Asset> {
    SCRIPTS.iter().chain([&INDEX, &STYLE]).find(|asset| asset.path == path).copied()
}

/// Returns the whole page as one file that shows these answers, each of a command by its name, as JSON. It loads nothing.
pub fn one_file(answers: &str) -> String {
    let mut scripts = String::new();
    for line in SCRIPTS.iter().flat_map(|script| script.text.lines()).filter(|line| !line.starts_with("import ")) {
        scripts.push_str(line.strip_prefix("export ").unwrap_or(line));
        scripts.push('\n');
    }
    // Nothing in the data may end the element that holds it.
    let data = answers.replace('<', "\\u003c");
    let start =
        format!("<script type=\"application/json\" id=\"answers\">{data}</script>\n<script type=\"module\">\n{scripts}</script>");
    INDEX.text.replace(STYLED, &format!("{POLICY}\n<style>\n{}</style>", STYLE.text)).replace(START, &start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_file_names_no_other_and_its_data_cannot_end_early() {
        let page = one_file(r#"{"status":{"title":"</script><b>"}}"#);
        assert!(!page.contains("</script><b>") && page.contains("\\u003c/script>\\u003cb>"));
        for left in ["import ", "\nexport ", "src=", "href=", START] {
            assert!(!page.contains(left), "{left}");
        }
        assert_eq!(page.matches("</script>").count(), 2);
    }

    #[test]
    fn each_script_comes_after_those_that_it_imports() {
        for (place, script) in SCRIPTS.iter().enumerate() {
            for line in script.text.lines().filter(|line| line.starts_with("import ")) {
                let path = line.split('"').nth(1).unwrap().trim_start_matches('.');
                let imported = SCRIPTS.iter().position(|other| other.path == path);
                assert!(imported.is_some_and(|imported| imported < place), "{}: {line}", script.path);
            }
        }
    }
}
