//! Runs programs and compares their run times.

use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The median.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// A program whose output goes nowhere.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Runs a program; the seconds that it took.
pub fn timed(command: &mut Command) -> f64 {
    let start = Instant::now();
    let status = command.status().unwrap_or_else(|error| panic!("{command:?} starts: {error}"));
    assert!(status.success(), "{command:?} succeeds");
    start.elapsed().as_secs_f64()
}

/// Runs a part of this program; the seconds that it took.
pub fn seconds<T>(run: impl FnOnce() -> T) -> f64 {
    let start = Instant::now();
    std::hint::black_box(run());
    start.elapsed().as_secs_f64()
}

/// Runs a program and returns its peak memory; `None` if the platform does not report it.
pub fn peak_bytes(command: &mut Command) -> Option<f64> {
    let mut child = command.spawn().ok()?;
    let status = PathBuf::from(format!("/proc/{}/status", child.id()));
    let mut peak = None;
    while let Ok(None) = child.try_wait() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        peak = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<f64>().ok()).or(peak);
        std::thread::sleep(Duration::from_micros(300));
    }
    peak.map(|kilobytes| kilobytes * 1024.0)
}

/// The smallest C program, if there is a compiler.
pub fn hello_world(directory: &Path) -> Option<PathBuf> {
    let (source, program) = (directory.join("hello.c"), directory.join("hello"));
    std::fs::write(&source, "#include <stdio.h>\nint main(void) { puts(\"hello\"); return 0; }\n").ok()?;
    let built = command("cc").arg("-O2").arg("-o").arg(&program).arg(&source).status();
    built.is_ok_and(|status| status.success()).then_some(program)
}

/// Jobs that run one after the other, several times, so that the state of the machine is the same for each.
pub struct Round {
    names: Vec<String>,
    times: Vec<Vec<f64>>,
}

impl Round {
    /// A round of jobs.
    pub fn new(names: &[&str]) -> Round {
        Round { names: names.iter().map(|name| (*name).to_owned()).collect(), times: Vec::new() }
    }

    /// The seconds that each job took.
    pub fn add(&mut self, times: &[f64]) {
        assert_eq!(times.len(), self.names.len());
        self.times.push(times.to_vec());
    }

    /// The median time of a job, in seconds.
    pub fn median(&self, job: usize) -> f64 {
        median(self.times.iter().map(|times| times[job]).collect())
    }

    /// The median of how many times as long a job takes as another one.
    pub fn ratio(&self, job: usize, other: usize) -> f64 {
        median(self.times.iter().map(|times| times[job] / times[other]).collect())
    }

    /// Prints each job in milliseconds, against the first one and against `base`.
    pub fn print(&self, base: usize) {
        let heads = [format!("of {}", self.names[0]), format!("of {}", self.names[base])];
        println!("  {:<24} {:>10} {:>16} {:>20}", "", "ms", heads[0], if base > 0 { &heads[1] } else { "" });
        for (job, name) in self.names.iter().enumerate() {
            let other = if base > 0 { format!("{:.3}", self.ratio(job, base)) } else { String::new() };
            println!("  {name:<24} {:>10.2} {:>16.2} {other:>20}", self.median(job) * 1e3, self.ratio(job, 0));
        }
    }
}

/// Something that was promised, and how it is.
pub struct Target {
    name: String,
    limit: String,
    measured: String,
    holds: bool,
}

impl Target {
    /// Creates a target with its limit and the measured value.
    pub fn new(name: &str, limit: &str, measured: f64, unit: &str, holds: bool) -> Target {
        let measured =
            if unit.is_empty() { if measured > 0.0 { "yes" } else { "no" }.to_owned() } else { format!("{measured:.3} {unit}") };
        Target { name: name.to_owned(), limit: limit.to_owned(), measured, holds }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<66} {:>9}  {:>9}  {}", self.name, self.limit, self.measured, if self.holds { "holds" } else { "MISSES" })
    }
}
