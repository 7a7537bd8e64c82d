//! Enums whose values have names or texts.

/// Declares an enum with the name of each value in commands, in files and in JSON: the one place of that word.
#[macro_export]
macro_rules! words {
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
            $($(#[$value_meta:meta])* $value:ident = $word:literal,)*
        }
    ) => {
        $crate::model::texts! {
            #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
            $(#[$meta])*
            pub enum $name, name {
                $($(#[$value_meta])* #[serde(rename = $word)] $value = $word,)*
            }
        }

        impl $name {
            /// All values, in their order.
            pub const ALL: [$name; [$($word),*].len()] = [$($name::$value),*];

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

/// Declares an enum with the text of each value, which a method returns.
#[macro_export]
macro_rules! texts {
    (
        $(#[$meta:meta])*
        $visibility:vis enum $name:ident, $method:ident {
            $($(#[$value_meta:meta])* $value:ident = $text:literal,)*
        }
    ) => {
        $(#[$meta])*
        $visibility enum $name {
            $($(#[$value_meta])* $value,)*
        }

        impl $name {
            $visibility fn $method(self) -> &'static str {
                match self {
                    $($name::$value => $text,)*
                }
            }
        }
    };
}
pub use texts;
