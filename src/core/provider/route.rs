//! The ways of a client's requests: how it is given another address, and what its own settings choose, from arguments, files and variables.

use super::Places;
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

const ANTHROPIC: &str = "ANTHROPIC_BASE_URL";
const OPENAI: &str = "OPENAI_BASE_URL";
/// The variables of aider's library: of those of one API, the first one that is set counts.
const AIDER_ANTHROPIC: [&str; 2] = ["ANTHROPIC_API_BASE", ANTHROPIC];
const AIDER_OPENAI: [&str; 2] = [OPENAI, "OPENAI_API_BASE"];
/// The variable and the option of aider with the base URL of OpenAI, which it puts into the second variable of its library.
const AIDER_VARIABLE: &str = "AIDER_OPENAI_API_BASE";
const AIDER_OPTION: &str = "openai-api-base";
/// The switches of Claude Code that lead its requests to another provider.
const CLAUDE_ELSEWHERE: [&str; 6] = [
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
    "CLAUDE_CODE_USE_FOUNDRY",
    "CLAUDE_CODE_USE_MANTLE",
    "CLAUDE_CODE_USE_ANTHROPIC_AWS",
    "CLAUDE_CODE_USE_ANTHROPIC_GOOGLE_CLOUD",
];
const PROXY_VARIABLES: [&str; 6] = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
/// The settings of Claude Code that an administrator sets.
const CLAUDE_MANAGED: &str =
    if cfg!(target_os = "macos") { "/Library/Application Support/ClaudeCode" } else { "/etc/claude-code" };

/// The settings of Codex for all users.
const CODEX_SYSTEM: &str = "/etc/codex/config.toml";

/// The changes to a client's command line and environment that lead its requests to another address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Redirection {
    pub variables: Vec<(&'static str, String)>,
    /// Arguments to insert before the client's own.
    pub arguments: Vec<String>,
}

/// Returns the changes for a client by the name of its program, such as `claude`, and the URL of the proxy without a path; else `None`.
pub fn redirection(program: &str, proxy: &str) -> Option<Redirection> {
    let versioned = format!("{proxy}/v1");
    let set = |names: &[&'static str], url: &str| names.iter().map(|name| (*name, url.to_owned())).collect::<Vec<_>>();
    let (variables, arguments) = match program {
        // With another base URL, Claude Code sends the definitions of all MCP tools unless this variable is set.
        "claude" => ([set(&[ANTHROPIC], proxy), set(&["ENABLE_TOOL_SEARCH"], "true")].concat(), Vec::new()),
        "codex" => (Vec::new(), vec!["-c".to_owned(), format!("openai_base_url=\"{versioned}\"")]),
        "opencode" => (set(&[ANTHROPIC, OPENAI], &versioned), Vec::new()),
        "aider" => {
            let openai = [AIDER_OPENAI.as_slice(), &[AIDER_VARIABLE]].concat();
            ([set(&openai, &versioned), set(&AIDER_ANTHROPIC, proxy)].concat(), Vec::new())
        }
        _ => return None,
    };
    Some(Redirection { variables, arguments })
}

/// The programs that [`redirection`] knows.
pub const REDIRECTED: &[&str] = &["claude", "codex", "opencode", "aider"];

/// The start of a client.
pub struct Launch<'a> {
    pub program: &'a str,
    pub arguments: &'a [String],
    pub directory: &'a Path,
    pub places: &'a Places,
    /// Returns an environment variable; `None` if it is empty.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// Returns the text of a file; `None` if there is none.
    pub file: &'a dyn Fn(&Path) -> Option<String>,
}

/// The addresses that the settings of a client choose.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Route {
    /// The base URL of Anthropic; `None` for that of the API itself.
    pub anthropic: Option<String>,
    pub openai: Option<String>,
    /// The settings that lead requests past every base URL that it is given, each with its place.
    pub elsewhere: Vec<String>,
    /// True if these lead all of its requests elsewhere.
    pub is_all_elsewhere: bool,
    /// True if it would send requests for this machine to the proxy of a company.
    pub is_detoured: bool,
    /// True if it uses the API of one company only.
    pub has_one_api: bool,
}

impl Route {
    pub fn of(launch: &Launch<'_>) -> Route {
        match launch.program {
            "claude" => claude(launch),
            "codex" => codex(launch),
            "opencode" => opencode(launch),
            "aider" => aider(launch),
            _ => Route::default(),
        }
    }

    fn leave(&mut self, name: &str, place: &str) {
        self.elsewhere.push(if place.is_empty() { format!("{name} is set") } else { format!("{name} is set in {place}") });
    }
}

/// Settings of several places, each with its place, those that hold first.
#[derive(Default)]
struct Layers(Vec<(String, BTreeMap<String, String>)>);

impl Layers {
    fn add(&mut self, place: impl Into<String>, values: BTreeMap<String, String>) {
        self.0.push((place.into(), values));
    }

    fn add_file(&mut self, launch: &Launch<'_>, path: &Path, read: impl Fn(&str) -> BTreeMap<String, String>) {
        if let Some(text) = (launch.file)(path) {
            self.add(path.display().to_string(), read(&text));
        }
    }

    /// Returns the value of a setting and its place.
    fn find(&self, name: &str) -> Option<(&str, &str)> {
        self.0.iter().find_map(|(place, values)| Some((values.get(name)?.as_str(), place.as_str())))
    }
}

impl Launch<'_> {
    /// Returns the values of an option that is given as `--name value` or `--name=value`, or as one letter.
    fn option(&self, names: &[&str]) -> Vec<&str> {
        let mut words = self.arguments.iter().map(String::as_str).take_while(|word| *word != "--");
        let mut found = Vec::new();
        while let Some(word) = words.next() {
            if names.contains(&word) {
                found.extend(words.next());
            } else if let Some(value) = names.iter().find_map(|name| {
                let rest = word.strip_prefix(name)?;
                if name.starts_with("--") { rest.strip_prefix('=') } else { Some(rest) }
            }) {
                found.push(value);
            }
        }
        found
    }

    fn has_switch(&self, name: &str) -> bool {
        self.arguments.iter().take_while(|word| *word != "--").any(|word| word == name)
    }

    /// Returns the working directory and those above it, up to the root of the repository.
    fn directories(&self) -> Vec<&Path> {
        let is_root = |directory: &Path| [".git", ".git/HEAD"].iter().any(|name| (self.file)(&directory.join(name)).is_some());
        match self.directory.ancestors().position(is_root) {
            Some(root) => self.directory.ancestors().take(root + 1).collect(),
            None => vec![self.directory],
        }
    }
}

/// Returns the route of Claude Code: variables in its settings replace those of its environment.
fn claude(launch: &Launch<'_>) -> Route {
    let mut layers = Layers::default();
    let variables = |text: &str| match serde_json::from_str::<Value>(text) {
        Ok(settings) => strings(&settings["env"]),
        Err(_) => BTreeMap::new(),
    };
    layers.add_file(launch, &Path::new(CLAUDE_MANAGED).join("managed-settings.json"), variables);
    for given in launch.option(&["--settings"]) {
        if given.trim_start().starts_with('{') {
            layers.add("--settings", variables(given));
        } else {
            layers.add_file(launch, &launch.directory.join(given), variables);
        }
    }
    let sources = launch.option(&["--setting-sources"]);
    let is_read = |source: &str| sources.last().is_none_or(|list| list.split(',').any(|name| name.trim() == source));
    let project = launch.directory.join(".claude");
    let user = launch.places.claude_directory();
    for (source, directory, name) in
        [("local", &project, "settings.local.json"), ("project", &project, "settings.json"), ("user", &user, "settings.json")]
    {
        if is_read(source) {
            layers.add_file(launch, &directory.join(name), variables);
        }
    }
    let value = |name: &str| match layers.find(name) {
        Some((value, place)) => Some((value.to_owned(), place.to_owned())),
        None => (launch.variable)(name).map(|value| (value, String::new())),
    };
    let mut route = Route { has_one_api: true, ..Route::default() };
    for name in CLAUDE_ELSEWHERE {
        if let Some((_, place)) = value(name).filter(|(value, _)| is_on(OsStr::new(value))) {
            route.leave(name, &place);
        }
    }
    match value(ANTHROPIC) {
        Some((_, place)) if !place.is_empty() => route.leave(ANTHROPIC, &place),
        Some((url, _)) => route.anthropic = Some(url),
        None => {}
    }
    route.is_all_elsewhere = !route.elsewhere.is_empty();
    // The variables of the settings replace those that keep requests to this machine from a proxy.
    let has_proxy = PROXY_VARIABLES.iter().any(|name| value(name).is_some_and(|(url, _)| !url.is_empty()));
    let is_excepted = |name: &str| layers.find(name).is_none_or(|(list, _)| list.contains("127.0.0.1") || list.trim() == "*");
    route.is_detoured = has_proxy && !["NO_PROXY", "no_proxy"].iter().all(|name| is_excepted(name));
    route
}

/// Returns the route of Codex, which reads no variable. Its settings of a project choose no provider.
fn codex(launch: &Launch<'_>) -> Route {
    let mut given = BTreeMap::new();
    for setting in launch.option(&["-c", "--config"]) {
        if let Some((name, value)) = setting.split_once('=') {
            given.insert(name.trim().to_owned(), value.trim().trim_matches(['"', '\'']).to_owned());
        }
    }
    let mut layers = Layers::default();
    layers.add("the arguments", given);
    let home = launch.places.codex_directory();
    let profile = launch.option(&["-p", "--profile"]).last().map(|name| format!("{name}.config.toml"));
    let own = profile.iter().map(String::as_str).chain(["config.toml"]).map(|name| home.join(name));
    for path in own.chain([PathBuf::from(CODEX_SYSTEM)]) {
        layers.add_file(launch, &path, |text| {
            let table = text.parse::<toml::Table>().unwrap_or_default();
            table.into_iter().filter_map(|(name, value)| Some((name, value.as_str()?.to_owned()))).collect()
        });
    }
    let mut route = Route { has_one_api: true, ..Route::default() };
    if launch.has_switch("--oss") {
        route.leave("--oss", "the arguments");
    } else if let Some((_, place)) = layers.find("model_provider").filter(|(name, _)| *name != "openai") {
        route.leave("model_provider", place);
    }
    match layers.find("openai_base_url") {
        // A later argument replaces the one of `run`.
        Some((_, place)) if place == "the arguments" => route.leave("openai_base_url", place),
        Some((url, _)) => route.openai = Some(url.to_owned()).filter(|url| !url.trim().is_empty()),
        None => {}
    }
    route.is_all_elsewhere = !route.elsewhere.is_empty();
    route
}

/// Returns the route of opencode: a base URL in its settings replaces the variables.
fn opencode(launch: &Launch<'_>) -> Route {
    let mut layers = Layers::default();
    let read = |text: &str| {
        let settings = serde_json::from_str::<Value>(text).unwrap_or_default();
        let mut values = strings(&settings);
        for api in ["anthropic", "openai"] {
            let url = settings["provider"][api]["options"]["baseURL"].as_str();
            values.extend(url.map(|url| (format!("provider.{api}.options.baseURL"), url.to_owned())));
        }
        values
    };
    let named = launch.option(&["-m", "--model"]).last().map(|model| BTreeMap::from([("model".to_owned(), (*model).to_owned())]));
    layers.add("the arguments", named.unwrap_or_default());
    let user = (launch.variable)("XDG_CONFIG_HOME").map_or_else(|| launch.places.home.join(".config"), PathBuf::from);
    let directories = launch.directories().into_iter().map(Path::to_owned);
    let own = (launch.variable)("OPENCODE_CONFIG").map(|path| launch.directory.join(path));
    let beside = |directory: PathBuf| ["opencode.jsonc", "opencode.json"].map(|name| directory.join(name));
    let files = directories.flat_map(beside).chain(own).chain(beside(user.join("opencode")));
    files.for_each(|path| layers.add_file(launch, &path, read));
    let (anthropic, openai) = ((launch.variable)(ANTHROPIC), (launch.variable)(OPENAI));
    let mut route = Route { anthropic, openai, ..Route::default() };
    for name in ["provider.anthropic.options.baseURL", "provider.openai.options.baseURL"] {
        if let Some((_, place)) = layers.find(name) {
            route.leave(name, place);
        }
    }
    let is_other = |model: &str| model.split_once('/').is_some_and(|(provider, _)| !["anthropic", "openai"].contains(&provider));
    if let Some((model, place)) = layers.find("model").filter(|(model, _)| is_other(model)) {
        route.leave(&format!("the model {model}"), place);
    }
    route
}

/// Returns the route of aider, whose own files replace the variables of its environment.
fn aider(launch: &Launch<'_>) -> Route {
    let lines = |text: &str, separator: char| {
        let pair = |line: &str| {
            let (name, value) = line.trim().trim_start_matches("export ").split_once(separator)?;
            Some((name.trim().to_owned(), value.trim().trim_matches(['"', '\'']).to_owned()))
        };
        text.lines().filter(|line| !line.trim_start().starts_with('#')).filter_map(pair).collect::<BTreeMap<_, _>>()
    };
    let (mut variables, mut options) = (Layers::default(), Layers::default());
    let set = launch.option(&["--set-env"]).into_iter().filter_map(|set| set.split_once('='));
    variables.add("the arguments", set.map(|(name, value)| (name.to_owned(), value.to_owned())).collect());
    let given = launch.option(&[&format!("--{AIDER_OPTION}")]).last().map(|url| (AIDER_OPTION.to_owned(), (*url).to_owned()));
    options.add("the arguments", given.into_iter().collect());
    let own = |option| launch.option(&[option]).into_iter().map(|name| launch.directory.join(name));
    let directories = launch.directories();
    let beside = |name: &'static str| {
        let places = [launch.directory, directories.last().copied().unwrap_or(launch.directory), &launch.places.home];
        places.map(|directory| directory.join(name))
    };
    for path in own("--env-file").chain(beside(".env")) {
        variables.add_file(launch, &path, |text| lines(text, '='));
    }
    for path in own("--config").chain(beside(".aider.conf.yml")) {
        options.add_file(launch, &path, |text| lines(text, ':'));
    }
    let value = |name: &str| variables.find(name).map(|(value, _)| value.to_owned()).or_else(|| (launch.variable)(name));
    let option = || options.find(AIDER_OPTION).map(|(value, _)| value.to_owned());
    let argument = || options.0.first().and_then(|(_, values)| values.get(AIDER_OPTION).cloned());
    let mut route = Route {
        anthropic: AIDER_ANTHROPIC.iter().find_map(|name| value(name)),
        openai: value(AIDER_OPENAI[0])
            .or_else(argument)
            .or_else(|| value(AIDER_VARIABLE))
            .or_else(option)
            .or_else(|| value(AIDER_OPENAI[1])),
        ..Route::default()
    };
    for name in [AIDER_ANTHROPIC[0], AIDER_OPENAI[0]] {
        if let Some((_, place)) = variables.find(name) {
            route.leave(name, place);
        }
    }
    route
}

/// Returns the texts, numbers and truth values of an object.
fn strings(object: &Value) -> BTreeMap<String, String> {
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        _ => None,
    };
    let pairs = object.as_object().into_iter().flatten();
    pairs.filter_map(|(name, value)| Some((name.clone(), text(value)?))).collect()
}

fn is_on(value: &OsStr) -> bool {
    !matches!(value.to_string_lossy().trim().to_ascii_lowercase().as_str(), "" | "0" | "false" | "no" | "off")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the route of a client in `/w/sub` of the repository `/w` and the home `/h`.
    fn route(program: &str, arguments: &[&str], variables: &[(&str, &str)], files: &[(&str, &str)]) -> Route {
        let arguments: Vec<String> = arguments.iter().map(|word| (*word).to_owned()).collect();
        let find =
            |all: &[(&str, &str)], name: &str| all.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        let files = [files, &[("/w/.git/HEAD", "ref")]].concat();
        Route::of(&Launch {
            program,
            arguments: &arguments,
            directory: Path::new("/w/sub"),
            places: &Places { home: "/h".into(), ..Places::default() },
            variable: &|name| find(variables, name),
            file: &|path| find(&files, path.to_str()?),
        })
    }

    #[test]
    fn every_known_program_is_redirected() {
        for program in REDIRECTED {
            let changes = redirection(program, "http://127.0.0.1:5").unwrap();
            let values = changes.variables.iter().map(|(_, value)| value).chain(&changes.arguments);
            assert!(values.clone().any(|value| value.contains("http://127.0.0.1:5")), "{program}");
        }
        assert_eq!(redirection("ls", "http://127.0.0.1:5"), None);
    }

    #[test]
    fn settings_files_of_claude_code_replace_its_variables() {
        let bedrock = r#"{"env":{"CLAUDE_CODE_USE_BEDROCK":"1"}}"#;
        let off = r#"{"env":{"CLAUDE_CODE_USE_BEDROCK":"0"}}"#;
        let elsewhere = |arguments: &[&str], variables: &[(&str, &str)], files: &[(&str, &str)]| {
            route("claude", arguments, variables, files).elsewhere.join("; ")
        };
        for path in ["/h/.claude/settings.json", "/w/sub/.claude/settings.json", "/w/sub/.claude/settings.local.json"] {
            assert_eq!(elsewhere(&[], &[], &[(path, bedrock)]), format!("CLAUDE_CODE_USE_BEDROCK is set in {path}"));
        }
        let (user, local) = ("/h/.claude/settings.json", "/w/sub/.claude/settings.local.json");
        assert_eq!(elsewhere(&[], &[], &[(user, bedrock), (local, off)]), "", "that of the project holds");
        assert_eq!(elsewhere(&[], &[("CLAUDE_CODE_USE_BEDROCK", "1")], &[(user, off)]), "");
        assert_eq!(elsewhere(&["--setting-sources", "project,local"], &[], &[(user, bedrock)]), "");
        let given = ["--settings", r#"{"env":{"CLAUDE_CODE_USE_VERTEX":true}}"#];
        assert_eq!(elsewhere(&given, &[], &[]), "CLAUDE_CODE_USE_VERTEX is set in --settings");
        assert_eq!(
            elsewhere(&["--settings=a.json"], &[], &[("/w/sub/a.json", bedrock)]),
            "CLAUDE_CODE_USE_BEDROCK is set in /w/sub/a.json"
        );
        assert_eq!(elsewhere(&[], &[("CLAUDE_CODE_USE_FOUNDRY", "1")], &[(user, "{")]), "CLAUDE_CODE_USE_FOUNDRY is set");
        let gateway = r#"{"env":{"ANTHROPIC_BASE_URL":"https://gateway"}}"#;
        let found = route("claude", &[], &[("ANTHROPIC_BASE_URL", "https://own")], &[(user, gateway)]);
        assert_eq!((found.anthropic, found.is_all_elsewhere), (None, true));
        assert_eq!(found.elsewhere, ["ANTHROPIC_BASE_URL is set in /h/.claude/settings.json"]);
        let found = route("claude", &[], &[("ANTHROPIC_BASE_URL", "https://own")], &[]);
        assert_eq!((found.anthropic.as_deref(), found.is_all_elsewhere), (Some("https://own"), false));
    }

    #[test]
    fn a_proxy_in_the_settings_must_except_this_machine() {
        let is_detoured = |env: &str, variables: &[(&str, &str)]| {
            route("claude", &[], variables, &[("/h/.claude/settings.json", &format!(r#"{{"env":{env}}}"#))]).is_detoured
        };
        let proxy = [("HTTPS_PROXY", "http://company")];
        assert!(!is_detoured(r#"{"HTTP_PROXY":"http://company"}"#, &[]), "the variables of run except it");
        assert!(is_detoured(r#"{"NO_PROXY":"intern"}"#, &proxy));
        assert!(is_detoured(r#"{"HTTP_PROXY":"http://company","no_proxy":"intern"}"#, &[]));
        assert!(!is_detoured(r#"{"NO_PROXY":"intern,127.0.0.1"}"#, &proxy));
        assert!(!is_detoured(r#"{"NO_PROXY":"intern"}"#, &[]));
    }

    #[test]
    fn codex_reads_its_own_settings_and_no_variable() {
        let config = "/h/.codex/config.toml";
        let found = |arguments: &[&str], files: &[(&str, &str)]| {
            let found = route("codex", arguments, &[("OPENAI_BASE_URL", "https://of-another-program")], files);
            (found.openai.unwrap_or_default(), found.elsewhere.join("; "))
        };
        let none = (String::new(), String::new());
        assert_eq!(found(&[], &[]), none);
        assert_eq!(found(&[], &[(config, "openai_base_url = \"https://gateway/v1\"")]).0, "https://gateway/v1");
        assert_eq!(found(&[], &[(config, "model_provider = \"ollama\"")]).1, format!("model_provider is set in {config}"));
        assert_eq!(found(&[], &[(config, "model_provider = \"openai\"")]), none);
        assert_eq!(found(&[], &[(config, "[model_providers.ollama]\nname = \"x\"")]), none, "it is not chosen");
        assert_eq!(
            found(&["exec", "-p", "work"], &[("/h/.codex/work.config.toml", "model_provider = \"azure\"")]).1,
            "model_provider is set in /h/.codex/work.config.toml"
        );
        for given in
            [&["-c", "model_provider=azure"][..], &["-cmodel_provider=azure"], &["exec", "--config=model_provider=\"azure\""]]
        {
            assert_eq!(found(given, &[(config, "model_provider = \"openai\"")]).1, "model_provider is set in the arguments");
        }
        assert_eq!(found(&["-c", "model_provider=openai"], &[(config, "model_provider = \"azure\"")]), none);
        assert_eq!(found(&["--oss"], &[]).1, "--oss is set in the arguments");
        assert_eq!(found(&["exec", "--", "--oss"], &[]), none, "a prompt");
        assert_eq!(found(&["-c", "openai_base_url=\"https://a\""], &[]).1, "openai_base_url is set in the arguments");
        assert_eq!(found(&[], &[("/w/sub/.codex/config.toml", "model_provider = \"azure\"")]), none);
    }

    #[test]
    fn other_clients_have_their_own_order() {
        let openai = |arguments: &[&str], variables: &[(&str, &str)], files: &[(&str, &str)]| {
            let found = route("aider", arguments, variables, files);
            (found.openai.unwrap_or_default(), found.elsewhere.join("; "))
        };
        let all = [("OPENAI_API_BASE", "third"), ("AIDER_OPENAI_API_BASE", "second"), ("OPENAI_BASE_URL", "first")];
        assert_eq!(openai(&[], &all, &[]).0, "first");
        assert_eq!(openai(&["--openai-api-base", "given"], &all[..2], &[]).0, "given");
        assert_eq!(openai(&[], &all[..2], &[("/w/.aider.conf.yml", "openai-api-base: x")]).0, "second");
        assert_eq!(openai(&[], &all[..1], &[("/w/.aider.conf.yml", "openai-api-base: https://x/v1")]).0, "https://x/v1");
        assert_eq!(openai(&[], &all[..1], &[("/h/.env", "OPENAI_API_BASE=\"of-file\"")]), ("of-file".to_owned(), String::new()));
        assert_eq!(openai(&[], &[], &[("/w/.env", "export OPENAI_BASE_URL=x")]).1, "OPENAI_BASE_URL is set in /w/.env");
        let anthropic = |variables: &[(&str, &str)]| route("aider", &[], variables, &[]).anthropic.unwrap_or_default();
        assert_eq!(anthropic(&[("ANTHROPIC_BASE_URL", "second"), ("ANTHROPIC_API_BASE", "first")]), "first");
        let settings = r#"{"provider":{"openai":{"options":{"baseURL":"x"}}},"model":"openrouter/y"}"#;
        let found = route("opencode", &[], &[("ANTHROPIC_BASE_URL", "a")], &[("/w/opencode.json", settings)]);
        assert_eq!(found.anthropic.as_deref(), Some("a"));
        let expected =
            ["provider.openai.options.baseURL is set in /w/opencode.json", "the model openrouter/y is set in /w/opencode.json"];
        assert_eq!((found.elsewhere.as_slice(), found.is_all_elsewhere), (&expected.map(str::to_owned)[..], false));
    }
}
