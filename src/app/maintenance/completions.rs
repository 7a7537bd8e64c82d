//! `aperture completions`: prints the completion script of a shell.

use crate::app::CommandError;
use crate::commands::completions::Arguments;
use clap_complete::Shell;
use std::io::Write;

/// Completes the words whose candidates `aperture complete` knows, and all others by the generated function.
const BASH: &str = r#"
_aperture_values() {
    local line values=()
    while IFS= read -r line; do
        values+=("${line%%$'\t'*}")
    done < <(aperture complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
    if [[ ${#values[@]} -gt 0 ]]; then
        COMPREPLY=("${values[@]}")
        # Quotes parentheses and spaces.
        compopt -o filenames 2>/dev/null
    else
        _aperture "$@"
    fi
}

complete -F _aperture_values -o bashdefault -o default aperture
"#;

/// As [`BASH`], with descriptions.
const ZSH: &str = r#"
_aperture_values() {
    local -a lines values
    lines=("${(@f)$(aperture complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    if [[ -n "$lines[1]" ]]; then
        values=("${(@)lines%%$'\t'*}")
        lines=("${(@)lines//$'\t'/  }")
        compadd -l -d lines -a values
    else
        _aperture "$@"
    fi
}
"#;

/// As [`BASH`]: fish takes the descriptions after the tabs.
const FISH: &str = r#"
complete -c aperture -k -a "(aperture complete -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)"
"#;

/// Prints the script.
pub fn run(arguments: &Arguments) -> Result<(), CommandError> {
    Ok(std::io::stdout().write_all(script(arguments.shell).as_bytes())?)
}

/// Returns the completion script of a shell.
pub fn script(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut crate::commands::definition(), "aperture", &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    match shell {
        Shell::Bash => script + BASH,
        Shell::Fish => script + FISH,
        // The end of the file calls or registers the function.
        Shell::Zsh => match script.rfind("\nif [ \"$funcstack[1]\"") {
            Some(end) => {
                let (functions, start) = script.split_at(end);
                let start = start.replace("    _aperture \"$@\"", "    _aperture_values \"$@\"");
                format!("{functions}{ZSH}{}", start.replace("compdef _aperture aperture", "compdef _aperture_values aperture"))
            }
            None => script,
        },
        _ => script,
    }
}
