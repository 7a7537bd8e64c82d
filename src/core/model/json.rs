//! The JSON forms of values: moments, token counts, and types whose JSON is not that of their fields.

use super::TokenCount;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::path::PathBuf;

/// A type whose values are the JSON form of values of another type.
pub trait JsonOf<V>: Serialize + JsonSchema {
    fn json_of(value: &V) -> Self;
}

impl<V, T: JsonOf<V>> JsonOf<Option<V>> for Option<T> {
    fn json_of(value: &Option<V>) -> Option<T> {
        value.as_ref().map(T::json_of)
    }
}

impl<V, T: JsonOf<V>> JsonOf<Vec<V>> for Vec<T> {
    fn json_of(values: &Vec<V>) -> Vec<T> {
        values.iter().map(T::json_of).collect()
    }
}

impl<K: Copy, V: Copy, T: JsonOf<(K, V)>> JsonOf<BTreeMap<K, V>> for Vec<T> {
    fn json_of(values: &BTreeMap<K, V>) -> Vec<T> {
        values.iter().map(|(key, value)| T::json_of(&(*key, *value))).collect()
    }
}

/// Writes a field in the JSON form `T`: `#[serde(with = "As::<Time>")]`.
pub struct As<T>(PhantomData<T>);

impl<T> As<T> {
    pub fn serialize<V, S: Serializer>(value: &V, serializer: S) -> Result<S::Ok, S::Error>
    where
        T: JsonOf<V>,
    {
        T::json_of(value).serialize(serializer)
    }
}

macro_rules! schema_of {
    ($form:ty: $type:ty $(, $parameter:ident)?) => {
        impl$(<$parameter: JsonSchema>)? JsonSchema for $type {
            fn inline_schema() -> bool {
                <$form>::inline_schema()
            }

            fn schema_name() -> Cow<'static, str> {
                <$form>::schema_name()
            }

            fn schema_id() -> Cow<'static, str> {
                <$form>::schema_id()
            }

            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                <$form>::json_schema(generator)
            }
        }
    };
}

schema_of! { T: As<T>, T }
schema_of! { TokenCount: Estimated }
schema_of! { TokenCount: Measured }

/// Declares JSON forms: types with documented fields, and the value of each field. A form of several values is one of their tuple. A unit
/// in brackets is one that the name does not have.
#[macro_export]
macro_rules! json_forms {
    ($(
        $(#[$meta:meta])*
        $name:ident of $source:tt: $from:ty {
            $($(#[$field_meta:meta])* $field:ident: $type:ty $([$unit:literal])? = $value:expr,)*
        }
    )*) => {$(
        #[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
        $(#[$meta])*
        pub struct $name {
            $($(#[$field_meta])* $(#[schemars(extend("unit" = $unit))])? pub $field: $type,)*
        }

        impl $crate::model::JsonOf<$from> for $name {
            fn json_of($source: &$from) -> $name {
                $name { $($field: $value,)* }
            }
        }
    )*};
}
pub use json_forms;

json_forms! {
    /// A moment.
    Time of milliseconds: i64 {
        /// The moment as RFC 3339, in UTC.
        rfc3339: String = rfc3339(*milliseconds),
        /// The moment in milliseconds since 1970-01-01, UTC.
        epoch_milliseconds: i64 = *milliseconds,
    }
}

/// Formats a moment; a value out of range, which only a broken file has, becomes the nearest one that can be written.
fn rfc3339(milliseconds: i64) -> String {
    let nearest = if milliseconds < 0 { jiff::Timestamp::MIN } else { jiff::Timestamp::MAX };
    jiff::Timestamp::from_millisecond(milliseconds).unwrap_or(nearest).to_string()
}

/// A token figure whose basis is not recorded, which counts as an estimate.
#[derive(Clone, Debug, Serialize)]
pub struct Estimated(TokenCount);

impl<V: Copy + Into<f64>> JsonOf<V> for Estimated {
    fn json_of(value: &V) -> Estimated {
        Estimated(TokenCount::estimated((*value).into()))
    }
}

/// A token figure of a bill.
#[derive(Clone, Debug, Serialize)]
pub struct Measured(TokenCount);

impl JsonOf<u64> for Measured {
    fn json_of(value: &u64) -> Measured {
        Measured(TokenCount::measured(*value))
    }
}

impl JsonOf<f64> for i64 {
    fn json_of(value: &f64) -> i64 {
        value.round() as i64
    }
}

impl JsonOf<PathBuf> for String {
    fn json_of(path: &PathBuf) -> String {
        path.display().to_string()
    }
}
