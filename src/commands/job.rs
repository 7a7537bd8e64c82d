//! `aperture job`: does a job of the running proxy, for the proxy alone.

/// Arguments of `job`; the job is on standard input.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, clap::Args)]
pub struct Arguments {}
