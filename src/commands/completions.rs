//! `aperture completions`: prints the completion script of a shell.

use crate::app::CommandError;
use clap_complete::Shell;
use std::io::Write;

#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = help_text!("completions"))]
pub struct Arguments {
    /// The shell
    #[serde(serialize_with = "super::json::choice")]
    pub shell: Shell,
}

/// Complete the words whose candidates `aperture complete` knows, and all others by the generated function. fish completes the value of
/// an option only from the definition of this option.
const BASH: &str = include_str!("completions/values.bash");
const ZSH: &str = include_str!("completions/values.zsh");
const FISH: &str = include_str!("completions/values.fish");

/// Prints the script.
pub fn run(arguments: &Arguments) -> Result<(), CommandError> {
    Ok(std::io::stdout().write_all(script(arguments.shell).as_bytes())?)
}

/// Returns the completion script of a shell.
pub fn script(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut visible_definition(), "aperture", &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    match shell {
        Shell::Bash => script + BASH,
        Shell::Fish => script + FISH,
        // The end of the file calls or registers the function.
        Shell::Zsh => match script.rfind("\nif [ \"$funcstack[1]\"") {
            Some(end) => {
                let (functions, start) = script.split_at(end);
                // The first call of an autoloaded file replaces the registered function by the generated one.
                let first = "    compdef _aperture_values aperture\n    _aperture_values \"$@\"";
                let start = start.replace("    _aperture \"$@\"", first);
                format!("{functions}{ZSH}{}", start.replace("compdef _aperture aperture", "compdef _aperture_values aperture"))
            }
            None => script,
        },
        _ => script,
    }
}

/// Returns the definition of the command line without its hidden commands, which the generated functions would offer.
fn visible_definition() -> clap::Command {
    let full = super::definition();
    let visible = full.get_subcommands().filter(|command| !command.is_hide_set()).cloned();
    clap::Command::new("aperture")
        .version(env!("CARGO_PKG_VERSION"))
        .disable_help_subcommand(true)
        .args(full.get_arguments().cloned())
        .subcommands(visible)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_commands_are_not_offered() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish, Shell::Elvish, Shell::PowerShell] {
            let script = script(shell);
            assert!(script.contains("completions") && script.contains("window"), "{shell}");
            assert!(!script.contains("Print candidates for a word"), "{shell}");
            assert!(!script.contains("subcmd__complete_") && !script.contains("subcmd__complete\""), "{shell}");
        }
    }

    #[test]
    fn every_call_completes_values() {
        assert_eq!(script(Shell::Zsh).matches("compdef _aperture_values aperture").count(), 2);
        assert!(script(Shell::Fish).contains("-s s -l session -x -k -a"));
    }
}
