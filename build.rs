//! Links the program to a fixed address, where the platform knows that: as it starts, a program that may stand anywhere
//! corrects every address that it holds, which took longer than everything else that `aperture --help` does.

#![expect(clippy::disallowed_methods, reason = "cargo tells by the environment what it builds for")]

use std::env::var;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name, value| var(name).is_ok_and(|given| given == value);
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
