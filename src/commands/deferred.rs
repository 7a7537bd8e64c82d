//! Commands whose arguments are only defined when they are given: a run needs those of one command, and `--help` of none.

use clap::{Args, Command};

/// Makes the enum of the commands. Of each it takes the description, the arguments and the name.
macro_rules! commands {
    (
        $(#[$outer:meta])*
        pub enum $commands:ident {
            $( #[doc = $about:literal] $(#[$hidden:ident])? $variant:ident($arguments:ty) = $name:literal, )*
        }
    ) => {
        $(#[$outer])*
        #[derive(Debug)]
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
            /// The command line with those commands whose names are wanted.
            fn define(mut command: clap::Command, wanted: impl Fn(&str) -> bool) -> clap::Command {
                $( if wanted($name) {
                    let named = $crate::commands::deferred::named($name, $about)$(.hide(stringify!($hidden) == "hidden"))?;
                    command = command.subcommand(named.defer($crate::commands::deferred::define::<$arguments>));
                } )*
                command
            }

            /// The command line with the arguments of all commands.
            pub fn define_all(command: clap::Command) -> clap::Command {
                command $( .mut_subcommand($name, |named| {
                    $crate::commands::deferred::define::<$arguments>(named.defer(|defined| defined))
                }) )*
            }
        }
    };
}

pub(super) use commands;

/// A command by its name and its description.
pub(super) fn named(name: &'static str, about: &'static str) -> Command {
    Command::new(name).about(about.trim())
}

/// The same with its arguments; what describes these is not what describes it.
pub(super) fn define<A: Args>(command: Command) -> Command {
    let about = command.get_about().cloned().unwrap_or_default();
    A::augment_args(command).about(about).long_about(None)
}
