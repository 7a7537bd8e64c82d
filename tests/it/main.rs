//! What aperture does with files and processes, as one test program.
#![allow(clippy::disallowed_methods, reason = "tests prepare files and run the program")]

mod commands;
mod fresh;
mod limits;
mod properties;
mod sandbox;
mod walls;
mod window;
