use anstyle::{AnsiColor, Style as Ansi};
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// The style of text for people.
#[derive(Clone, Debug)]
pub struct Style {
    pub color: bool,
    pub width: usize,
    pub now: Timestamp,
    /// Returns the local time zone. It is a function because the lookup takes longer than most reports, and few of them show a
    /// time.
    pub zone: fn() -> TimeZone,
}

/// The meaning of a piece of text, which determines its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paint {
    Heading,
    Dim,
    Good,
    Warning,
    Bad,
    /// A name or number to use in the next command.
    Name,
    Removed,
    /// The changed part of a removed line.
    RemovedWord,
    Added,
    /// The changed part of an added line.
    AddedWord,
}

impl Style {
    /// Returns a line in the colour of its meaning.
    pub fn line(&self, paint: Paint, text: &str) -> String {
        self.paint(paint, text) + "\n"
    }

    /// Returns the text in the colour of its meaning.
    pub fn paint(&self, paint: Paint, text: &str) -> String {
        if !self.color || text.is_empty() {
            return text.to_owned();
        }
        let style = match paint {
            Paint::Heading => Ansi::new().bold(),
            Paint::Dim => Ansi::new().dimmed(),
            Paint::Good => AnsiColor::Green.on_default(),
            Paint::Warning => AnsiColor::Yellow.on_default(),
            Paint::Bad => AnsiColor::Red.on_default().bold(),
            Paint::Name => AnsiColor::Cyan.on_default(),
            Paint::Removed => AnsiColor::Red.on_default(),
            Paint::RemovedWord => AnsiColor::Red.on_default().bold().underline(),
            Paint::Added => AnsiColor::Green.on_default(),
            Paint::AddedWord => AnsiColor::Green.on_default().bold().underline(),
        };
        format!("{style}{text}{style:#}")
    }

    /// Returns a bar of `width` columns, filled by `share` (0 to 1) in steps of an eighth.
    pub fn bar(&self, share: f64, width: usize) -> String {
        const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
        let filled = (share.clamp(0.0, 1.0) * width as f64 * 8.0).round() as usize;
        let mut bar = "█".repeat(filled / 8);
        bar.push_str(EIGHTHS[filled % 8]);
        let empty = width - bar.chars().count();
        bar.push_str(&" ".repeat(empty));
        bar
    }
}
