//! Commands whose arguments are defined on demand: a run needs those of one command, and `--help` needs none.

use clap::{Args, Command};

/// Generates the enum of the commands from the description, the arguments and the name of each.
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

        impl clap::Subcommand for $commands {
            fn augment_subcommands(command: clap::Command) -> clap::Command {
                $commands::define(command, |_| true)
            }

            fn augment_subcommands_for_update(command: clap::Command) -> clap::Command {
                Self::augment_subcommands(command)
            }

            fn has_subcommand(name: &str) -> bool {
                [$($name),*].contains(&name)
            }
        }

        impl clap::FromArgMatches for $commands {
            fn from_arg_matches(matches: &clap::ArgMatches) -> Result<Self, clap::Error> {
                match matches.subcommand() {
                    $( Some(($name, matches)) => clap::FromArgMatches::from_arg_matches(matches).map($commands::$variant), )*
                    _ => Err(clap::Error::new(clap::error::ErrorKind::MissingSubcommand)),
                }
            }

            fn update_from_arg_matches(&mut self, matches: &clap::ArgMatches) -> Result<(), clap::Error> {
                *self = clap::FromArgMatches::from_arg_matches(matches)?;
                Ok(())
            }
        }

        impl $commands {
            /// Returns the command line with the selected commands.
            fn define(mut command: clap::Command, wanted: impl Fn(&str) -> bool) -> clap::Command {
                $( if wanted($name) {
                    let named = $crate::commands::deferred::without_arguments($name, $about)$(.hide(stringify!($hidden) == "hidden"))?;
                    command = command.subcommand(named.defer($crate::commands::deferred::define::<$arguments>));
                } )*
                command
            }

            /// Returns the name of the command.
            pub fn name(&self) -> &'static str {
                match self {
                    $( $commands::$variant(_) => $name, )*
                }
            }

            /// Returns the definition of the command with this name, with its own arguments.
            pub fn arguments_of(name: &str) -> Option<clap::Command> {
                match name {
                    $( $name => Some($crate::commands::deferred::define::<$arguments>($crate::commands::deferred::without_arguments($name, $about))), )*
                    _ => None,
                }
            }

            /// Returns the name of the command and the values of all its arguments.
            fn named_arguments(&self) -> Result<(&'static str, serde_json::Value), serde_json::Error> {
                match self {
                    $( $commands::$variant(arguments) => Ok(($name, serde_json::to_value(arguments)?)), )*
                }
            }

            /// Returns the command line with the arguments of all commands.
            pub fn define_all(command: clap::Command) -> clap::Command {
                command $( .mut_subcommand($name, |named| {
                    $crate::commands::deferred::define::<$arguments>(named.defer(|defined| defined))
                }) )*
            }
        }
    };
}

pub(super) use commands;

/// Returns a command with its name and description, without arguments.
pub(super) fn without_arguments(name: &'static str, about: &'static str) -> Command {
    Command::new(name).about(about.trim())
}

/// Adds the arguments to a command and keeps its description, which `augment_args` would replace with that of the arguments.
pub(super) fn define<A: Args>(command: Command) -> Command {
    let about = command.get_about().cloned().unwrap_or_default();
    A::augment_args(command).about(about).long_about(None)
}
