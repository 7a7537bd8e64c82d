//! The JSON of reports: how it is written.

use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter};
use std::io;

/// A JSON document: its schema, then its content.
#[derive(Serialize)]
struct Document<'a, T: ?Sized> {
    schema: &'static str,
    #[serde(flatten)]
    content: &'a T,
}

pub(super) fn indented(schema: &'static str, content: &(impl Serialize + ?Sized)) -> String {
    text(&Document { schema, content }, PrettyFormatter::new())
}

/// Returns a document on one line.
pub fn line(schema: &'static str, content: &impl Serialize) -> String {
    text(&Document { schema, content }, CompactFormatter)
}

fn text(document: &impl Serialize, formatter: impl Formatter) -> String {
    let mut bytes = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, Numbers(formatter));
    // Neither step can fail: all keys are strings, and a vector takes every byte.
    let _ = document.serialize(&mut serializer);
    bytes.push(b'\n');
    String::from_utf8(bytes).unwrap_or_default()
}

/// Writes a whole number as an integer, whatever its type.
struct Numbers<F>(F);

/// From here on not every integer is a `f64`.
const EXACT: f64 = 9_007_199_254_740_992.0;

macro_rules! as_within {
    ($($method:ident($($first:ident)?))*) => {$(
        fn $method<W: io::Write + ?Sized>(&mut self, writer: &mut W $(, $first: bool)?) -> io::Result<()> {
            self.0.$method(writer $(, $first)?)
        }
    )*};
}

impl<F: Formatter> Formatter for Numbers<F> {
    fn write_f32<W: io::Write + ?Sized>(&mut self, writer: &mut W, value: f32) -> io::Result<()> {
        // Through its shortest decimal form, so that 0.3 does not become 0.30000001192092896.
        self.write_f64(writer, value.to_string().parse().unwrap_or(f64::from(value)))
    }

    fn write_f64<W: io::Write + ?Sized>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        if value.fract() == 0.0 && value.abs() < EXACT {
            self.0.write_i64(writer, value as i64)
        } else {
            self.0.write_f64(writer, value)
        }
    }

    as_within! { begin_array() end_array() begin_array_value(first) end_array_value() }
    as_within! { begin_object() end_object() begin_object_key(first) begin_object_value() end_object_value() }
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn a_whole_number_is_an_integer_and_a_fraction_has_its_shortest_form() {
        #[derive(serde::Serialize)]
        struct Figures(f64, f64, f32, f32, f32, f64, f64);

        #[derive(serde::Serialize)]
        struct Content {
            figures: Figures,
        }

        let figures = Figures(3.0, -0.5, 0.3, 1.2e-6, 16_777_216.0, f64::NAN, 1e300);
        let expected = r#"{"schema":"s","figures":[3,-0.5,0.3,1.2e-6,16777216,null,1e+300]}"#;
        assert_eq!(line("s", &Content { figures }), format!("{expected}\n"));
    }
}
