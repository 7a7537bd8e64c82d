//! What aperture does with files and processes, as one test program.

mod window;
