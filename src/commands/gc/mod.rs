//! `aperture gc`: deletes stored data that is no longer needed.

mod report;
mod run;

pub use report::GcReport;
pub use run::run;

/// Arguments of `gc`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture gc                          lists the sessions that can be deleted
  aperture gc --older-than 30d --gone  also sessions whose file was deleted
  aperture gc --yes                    deletes them

It deletes the logs and originals of sessions in which everything was undone and, with --gone, of sessions without a
file, if their last operation is older than --older-than, and originals that no log needs. A session with a file and an
operation in force is never deleted. Deleted content cannot be undone or recalled; to keep a copy: aperture export.")]
pub struct Arguments {
    /// Minimum age of the last operation of a session, in hours, days or weeks
    #[arg(long, value_name = "TIME", default_value = "90d", value_parser = retention)]
    #[serde(serialize_with = "hours")]
    pub older_than: i64,
    /// Also sessions whose file no longer exists
    #[arg(long)]
    pub gone: bool,
    /// Only list; the default without --yes
    #[arg(short = 'n', long, conflicts_with = "yes")]
    pub dry_run: bool,
    /// Delete the listed sessions and originals
    #[arg(long)]
    pub yes: bool,
}

/// Serializes a number of milliseconds, which is that of whole hours, as `2160h`.
pub fn hours<S: serde::Serializer>(milliseconds: &i64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{}h", milliseconds / 3_600_000))
}

/// Parses a duration such as `90d` and returns milliseconds.
pub fn retention(text: &str) -> Result<i64, String> {
    let hours = [('h', 1), ('d', 24), ('w', 7 * 24)];
    let time = hours.iter().find_map(|(unit, hours)| {
        let number: i64 = text.strip_suffix(*unit)?.parse().ok().filter(|number| *number >= 0)?;
        number.checked_mul(hours * 3_600_000)
    });
    time.ok_or_else(|| "write an age as 12h, 90d or 8w".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read() {
        let check = |text, expected: Option<i64>| assert_eq!(retention(text).ok(), expected, "{text}");
        check("90d", Some(90 * 86_400_000));
        check("0d", Some(0));
        check("12h", Some(12 * 3_600_000));
        check("8w", Some(56 * 86_400_000));
        for wrong in ["", "d", "90", "-1d", "1.5d", "90 d", "99999999999999999d", "1é"] {
            check(wrong, None);
        }
    }
}
