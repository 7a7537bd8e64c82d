//! Enums whose values have names.

/// Declares an enum with the name of each value in commands, in files and in JSON: the one place of that word.
#[macro_export]
macro_rules! words {
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
            $($(#[$value_meta:meta])* $value:ident = $word:literal,)*
        }
    ) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
        $(#[$meta])*
        pub enum $name {
            $($(#[$value_meta])* #[serde(rename = $word)] $value,)*
        }

        impl $name {
            /// All values, in their order.
            pub const ALL: [$name; [$($word),*].len()] = [$($name::$value),*];

            pub fn name(self) -> &'static str {
                match self {
                    $($name::$value => $word,)*
                }
            }

            pub fn from_name(name: &str) -> Option<$name> {
                $name::ALL.into_iter().find(|value| value.name() == name)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.pad(self.name())
            }
        }
    };
}
pub use words;
