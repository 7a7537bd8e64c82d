//! Links an optimized program to a fixed address if the platform supports that: at startup, a relocatable program corrects every
//! address that it contains, which took longer than everything else that `aperture --help` does (docs/decisions/0007).

#![expect(clippy::disallowed_methods, reason = "cargo tells by the environment what it builds for")]

use std::env::var;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name, value| var(name).is_ok_and(|given| given == value);
    if is("PROFILE", "release") && is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
