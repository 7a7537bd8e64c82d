//! Conversions into JSON types: the trait, the macros that declare the types, and the forms of numbers, tokens and times.

use super::words::Basis;
use crate::model;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

/// A value with a JSON form.
pub trait ToJson {
    /// The type of the JSON form.
    type Json: Serialize + JsonSchema;

    /// Returns the JSON form.
    fn to_json(&self) -> Self::Json;
}

/// Declares JSON objects: a type with documented fields, and the value of each field.
macro_rules! json_objects {
    ($(
        $(#[$meta:meta])*
        $name:ident from $source:ident: $from:ty {
            $($(#[$field_meta:meta])* $field:ident: $type:ty $([$unit:literal])? = $value:expr,)*
        }
    )*) => {$(
        $(#[$meta])*
        #[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
        pub struct $name {
            $($(#[$field_meta])* $(#[schemars(extend("unit" = $unit))])? pub $field: $type,)*
        }

        impl $crate::output::json::ToJson for $from {
            type Json = $name;

            fn to_json(&self) -> $name {
                let $source = self;
                $name { $($field: $crate::output::json::ToJson::to_json(&$value),)* }
            }
        }
    )*};
}

/// Declares JSON strings of a fixed set: a type with documented words, and the value that each word is for.
macro_rules! json_words {
    ($(
        $(#[$meta:meta])*
        $name:ident from $from:path {
            $($(#[$variant_meta:meta])* $variant:ident = $word:literal,)*
        }
    )*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, serde::Serialize, schemars::JsonSchema)]
        pub enum $name {
            $($(#[$variant_meta])* #[serde(rename = $word)] $variant,)*
        }

        impl $crate::output::json::ToJson for $from {
            type Json = $name;

            fn to_json(&self) -> $name {
                use $from as Source;
                match self {
                    $(Source::$variant => $name::$variant,)*
                }
            }
        }
    )*};
}

/// Implements the conversion for types that are their own JSON form.
macro_rules! json_as_it_is {
    ($($type:ty)*) => {$(
        impl ToJson for $type {
            type Json = $type;

            fn to_json(&self) -> $type {
                self.clone()
            }
        }
    )*};
}

json_as_it_is! { bool u32 u64 i64 String serde_json::Value }

impl ToJson for usize {
    type Json = u64;

    fn to_json(&self) -> u64 {
        *self as u64
    }
}

impl ToJson for str {
    type Json = String;

    fn to_json(&self) -> String {
        self.to_owned()
    }
}

impl<T: ToJson + ?Sized> ToJson for &T {
    type Json = T::Json;

    fn to_json(&self) -> T::Json {
        (**self).to_json()
    }
}

impl<T: ToJson> ToJson for Option<T> {
    type Json = Option<T::Json>;

    fn to_json(&self) -> Self::Json {
        self.as_ref().map(ToJson::to_json)
    }
}

impl<T: ToJson> ToJson for Vec<T> {
    type Json = Vec<T::Json>;

    fn to_json(&self) -> Self::Json {
        self.iter().map(ToJson::to_json).collect()
    }
}

impl<K: ToString, T: ToJson> ToJson for BTreeMap<K, T> {
    type Json = BTreeMap<String, T::Json>;

    fn to_json(&self) -> Self::Json {
        self.iter().map(|(name, value)| (name.to_string(), value.to_json())).collect()
    }
}

/// A number that may have a fraction; a whole one is written as an integer.
#[derive(Clone, Copy, Debug, JsonSchema)]
#[schemars(inline, with = "f64")]
pub struct Number(f64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        /// From here on not every integer is a `f64`.
        const EXACT: f64 = 9_007_199_254_740_992.0;
        if self.0.fract() == 0.0 && self.0.abs() < EXACT {
            serializer.serialize_i64(self.0 as i64)
        } else {
            serializer.serialize_f64(self.0)
        }
    }
}

impl ToJson for f64 {
    type Json = Number;

    fn to_json(&self) -> Number {
        Number(*self)
    }
}

impl ToJson for f32 {
    type Json = Number;

    fn to_json(&self) -> Number {
        // Through its shortest decimal form, so that 0.3 does not become 0.30000001192092896.
        Number(self.to_string().parse().unwrap_or(f64::from(*self)))
    }
}

json_objects! {
    /// A number of tokens and its basis.
    Tokens from count: model::TokenCount {
        /// The count, rounded; negative only for a difference.
        value: i64 ["tokens"] = count.value.round() as i64,
        /// The basis of the count.
        basis: Basis = count.basis,
    }

    /// A moment.
    Time from moment: Moment {
        /// The moment as RFC 3339, in UTC.
        rfc3339: String = rfc3339(moment.0),
        /// The moment in milliseconds since 1970-01-01, UTC.
        epoch_milliseconds: i64 ["milliseconds"] = moment.0,
    }
}

/// A moment in milliseconds since 1970, UTC.
pub struct Moment(pub i64);

/// Formats a moment; a value out of range, which only a broken file has, becomes the nearest one that can be written.
fn rfc3339(milliseconds: i64) -> String {
    let nearest = if milliseconds < 0 { jiff::Timestamp::MIN } else { jiff::Timestamp::MAX };
    jiff::Timestamp::from_millisecond(milliseconds).unwrap_or(nearest).to_string()
}

/// Returns a token figure whose basis is not recorded, which counts as an estimate.
pub fn estimated(value: impl Into<f64>) -> model::TokenCount {
    model::TokenCount::estimated(value.into())
}

/// Returns a token figure of a bill.
pub fn measured(value: u64) -> model::TokenCount {
    model::TokenCount::measured(value)
}
