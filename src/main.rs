//! The command-line program.

use std::process::ExitCode;

#[expect(clippy::disallowed_methods, reason = "the program's own arguments")]
fn main() -> ExitCode {
    aperture::cli::run(std::env::args_os())
}
