//! Commands whose arguments are defined on demand: a run needs those of one command, and `--help` needs none.

use clap::{Args, Command};

/// Generates the enum of the commands from the description, the arguments, the name and the function of each.
macro_rules! commands {
    (
        $(#[$outer:meta])*
        pub enum $commands:ident {
            $( #[doc = $about:literal] $(#[$hidden:ident])? $variant:ident($arguments:ty) = $name:literal, )*
        }
    ) => {
        $(#[$outer])*
        #[derive(Clone, Debug, PartialEq)]
        pub enum $commands {
            $( #[doc = $about] $variant($arguments), )*
        }

        impl $commands {
            const NAMES: &[&str] = &[$($name),*];

            /// Returns the definition of the command with this name, whose arguments are defined when they are needed.
            fn described(name: &str) -> Option<clap::Command> {
                match name {
                    $( $name => {
                        let named = $crate::commands::arguments::without_arguments($name, $about)$(.hide(stringify!($hidden) == "hidden"))?;
                        Some(named.defer($crate::commands::arguments::define::<$arguments>))
                    } )*
                    _ => None,
                }
            }

            /// Parses the arguments of the command with this name; `None` if it is another kind of command.
            fn parse(name: &str, matches: &clap::ArgMatches) -> Option<Result<Self, clap::Error>> {
                match name {
                    $( $name => Some(clap::FromArgMatches::from_arg_matches(matches).map($commands::$variant)), )*
                    _ => None,
                }
            }

            pub fn name(&self) -> &'static str {
                match self {
                    $( $commands::$variant(_) => $name, )*
                }
            }

            /// Returns the definition of the command with this name, with its own arguments.
            fn arguments_of(name: &str) -> Option<clap::Command> {
                match name {
                    $( $name => Some($crate::commands::arguments::define::<$arguments>($crate::commands::arguments::without_arguments($name, $about))), )*
                    _ => None,
                }
            }

            fn named_arguments(&self) -> Result<(&'static str, serde_json::Value), serde_json::Error> {
                match self {
                    $( $commands::$variant(arguments) => Ok(($name, serde_json::to_value(arguments)?)), )*
                }
            }
        }
    };
    (
        $(#[$outer:meta])*
        pub enum $commands:ident: $done:ty {
            $( #[doc = $about:literal] $(#[$hidden:ident])? $variant:ident($arguments:ty) = $name:literal => $run:path, )*
        }
    ) => {
        commands! {
            $(#[$outer])*
            pub enum $commands {
                $( #[doc = $about] $(#[$hidden])? $variant($arguments) = $name, )*
            }
        }

        impl $commands {
            pub(super) fn execute(&self, env: &$crate::app::Env) -> Result<$done, $crate::app::CommandError> {
                match self {
                    $( $commands::$variant(arguments) => $run(env, arguments), )*
                }
            }
        }
    };
}

pub(super) use commands;

pub(super) fn without_arguments(name: &'static str, about: &'static str) -> Command {
    Command::new(name).about(about.trim())
}

/// Adds the arguments to a command and keeps its description, which `augment_args` would replace with that of the arguments.
pub(super) fn define<A: Args>(command: Command) -> Command {
    let about = command.get_about().cloned().unwrap_or_default();
    A::augment_args(command).about(about).long_about(None)
}
