use anstyle::{AnsiColor, Style as Ansi};
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// How text for people is written.
#[derive(Clone, Debug)]
pub struct Style {
    /// Whether colours are used.
    pub color: bool,
    /// Columns of the terminal.
    pub width: usize,
    /// The time now.
    pub now: Timestamp,
    /// Finds the time zone of times: that takes longer than most reports, and few of them show a time.
    pub zone: fn() -> TimeZone,
}

/// What a piece of text is, for its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paint {
    /// A heading.
    Heading,
    /// Something of less weight.
    Dim,
    /// All is well.
    Good,
    /// Something to look at.
    Warning,
    /// Something is wrong.
    Bad,
    /// A name or number to use in the next command.
    Name,
    /// A line that went away.
    Removed,
    /// The part of it that differs.
    RemovedWord,
    /// A line that came.
    Added,
    /// The part of it that differs.
    AddedWord,
}

impl Style {
    /// The text in the colour of what it is.
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

    /// A bar of `width` columns, filled by `share` (0 to 1) in eighths.
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
