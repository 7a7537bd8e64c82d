//! The score: the reduction of a window, and the share of content that its agent needs again and that is still in it.
//!
//! A session is cut after a step `t`. Its TAIL begins with the call of the third-last result of a tool, its STALE part is all
//! before it. A copy that ends with step `t` is compressed by `aperture compress --preset P --keep-from TAIL`, and
//! `aperture transcript --raw` prints what is LEFT of it. With `R(e)` for the references of what the agent said or called
//! ([`references::references`]), and `x ∈ T` if the text `T` contains `x` verbatim ([`references::Visible::has`]):
//!
//! ```text
//! needed    = { x ∈ R(e), e the first event of steps t+1 … t+20 that has x
//!             : x ∈ STALE, x ∉ TAIL, x ∉ what users and tools said between step t and e }
//! FRR       = |{ x ∈ needed : x ∈ LEFT }| / |needed|
//! FRR-T     = the same over { x ∈ needed : x ∉ all of STALE that is no result of a tool }
//! reduction = 1 − (|LEFT| − |TAIL|) / |STALE|                                          in characters
//! ```
//!
//! Each stretch between two compactions is cut in the middle and after three quarters of its steps, and scored where it has 40
//! steps, 10 of them after the cut, 30,000 characters of STALE and 8 needed references ([`cut::cuts`]). Figures of several cuts are
//! those of their sums.
//!
//! The sessions in `fixtures/score/` are made up: work on this repository, over its own text and changes, so that the score is
//! computed in each run of the tests. The program was not fitted to them. `APERTURE_SESSIONS=DIR` scores the sessions under a
//! directory instead:
//!
//! ```text
//! cargo test --test it score -- --nocapture
//! ```

mod cut;
mod events;
mod references;

use crate::sandbox::{Sandbox, files_ending, repository, sample};
use aperture::engine::PRESETS;
use aperture::provider::{FileKind, sniff};
use cut::Cut;
use rayon::prelude::*;
use references::Visible;
use std::fs;
use std::path::{Path, PathBuf};

/// Minimum scores of each preset on the shipped sessions, in percent: reduction, FRR and FRR-T.
const FLOORS: [(&str, [f64; 3]); 6] = [
    ("lossless", [12.5, 99.0, 98.5]),
    ("light", [42.5, 93.0, 91.5]),
    ("balanced", [55.0, 84.5, 79.0]),
    ("aggressive", [68.5, 72.0, 65.5]),
    ("layers", [90.5, 55.5, 38.0]),
    ("handoff", [94.0, 46.0, 26.5]),
];

/// A cut of a session in a file.
struct Case {
    name: String,
    codex: bool,
    cut: Cut,
}

/// Sums over cuts, of which the figures are made.
#[derive(Clone, Copy, Default)]
struct Score {
    left: f64,
    stale: f64,
    /// Needed references, and those of them that occur in results only: their number, and the number still present.
    needed: [(u32, u32); 2],
}

impl Score {
    fn plus(mut self, other: Score) -> Score {
        self.left += other.left;
        self.stale += other.stale;
        for (sum, more) in self.needed.iter_mut().zip(other.needed) {
            *sum = (sum.0 + more.0, sum.1 + more.1);
        }
        self
    }

    /// Reduction, FRR and FRR-T, in percent.
    fn figures(self) -> [f64; 3] {
        let [all, results] = self.needed.map(|(needed, left)| 100.0 * f64::from(left) / f64::from(needed.max(1)));
        [100.0 * (1.0 - self.left / self.stale.max(1.0)), all, results]
    }
}

/// The cuts of all sessions under a directory.
fn cases(directory: &Path) -> Vec<Case> {
    let files = files_ending(directory, "jsonl");
    let of = |file: &PathBuf| {
        let bytes = fs::read(file).unwrap();
        let codex = sniff(&bytes) == FileKind::Session("codex");
        let stretches = events::stretches(&String::from_utf8_lossy(&bytes), codex);
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        let cuts = stretches.iter().flat_map(cut::cuts);
        cuts.map(|cut| Case { name: name.clone(), codex, cut }).collect::<Vec<_>>()
    };
    files.par_iter().flat_map(of).collect()
}

impl Case {
    /// Returns the scores of presets, in their order.
    fn scores(&self, presets: &[&str]) -> Vec<Score> {
        // One home, so that common parts of the runs are read and counted once.
        let sandbox = Sandbox::new();
        presets.iter().enumerate().map(|(place, preset)| self.score(&sandbox, place, preset)).collect()
    }

    fn score(&self, sandbox: &Sandbox, place: usize, preset: &str) -> Score {
        let id = format!("5c02ed00-0000-4000-8000-00000000000{place}");
        let file = if self.codex {
            let directory = sandbox.home.join(".codex/sessions/2026/01/01");
            fs::create_dir_all(&directory).unwrap();
            let file = directory.join(format!("rollout-2026-01-01T00-00-00-{id}.jsonl"));
            fs::write(&file, &self.cut.rows).unwrap();
            file
        } else {
            sandbox.session(&id, &self.cut.rows, 0)
        };
        let file = file.to_string_lossy();
        let run = |arguments: &[&str]| {
            let outcome = sandbox.run(arguments);
            assert_eq!(outcome.code, 0, "{} at step {}, {preset}: {}", self.name, self.cut.step, outcome.stderr);
            outcome.stdout
        };
        run(&["compress", "--preset", preset, "--keep-from", &self.cut.tail, "-s", &file]);
        let left = run(&["transcript", "--raw", &file]);
        let mut visible = Visible::default();
        visible.add(&left);
        let mut score = Score {
            left: left.chars().count() as f64 - self.cut.tail_characters as f64,
            stale: self.cut.stale_characters as f64,
            needed: [(0, 0); 2],
        };
        for (reference, results_only) in &self.cut.needed {
            let kept = u32::from(visible.has(reference));
            for (needed, left) in score.needed.iter_mut().take(1 + usize::from(*results_only)) {
                (*needed, *left) = (*needed + 1, *left + kept);
            }
        }
        score
    }
}

#[test]
fn each_preset_reaches_its_floor() {
    let given = std::env::var_os("APERTURE_SESSIONS").map(PathBuf::from);
    let cases = cases(given.as_deref().unwrap_or(&repository().join("fixtures/score")));
    assert!(!cases.is_empty(), "no session is long enough");
    assert_eq!(FLOORS.map(|(preset, _)| preset).to_vec(), PRESETS.iter().map(|preset| preset.name).collect::<Vec<_>>());
    let floors: Vec<(&str, [f64; 3])> = sample(FLOORS, 2).collect();
    let presets: Vec<&str> = floors.iter().map(|(preset, _)| *preset).collect();
    let scores: Vec<Vec<Score>> = cases.par_iter().map(|case| case.scores(&presets)).collect();
    println!("{:<40} {:>5} {:>8} {:>7}  left of them", "session", "step", "stale", "needed");
    for (Case { name, cut, .. }, scores) in cases.iter().zip(&scores) {
        let left: Vec<u32> = scores.iter().map(|score| score.needed[0].1).collect();
        println!("{name:<40} {:>5} {:>8} {:>7}  {left:?}", cut.step, cut.stale_characters, cut.needed.len());
    }
    println!("\n{:<12} {:>12} {:>10} {:>12}", "preset", "smaller by", "needed", "in results");
    let mut faults = Vec::new();
    for (place, (preset, floors)) in floors.into_iter().enumerate() {
        let figures = scores.iter().map(|scores| scores[place]).fold(Score::default(), Score::plus).figures();
        let [reduction, needed, results] = figures;
        println!("{preset:<12} {reduction:>10.1} % {needed:>8.1} % {results:>10.1} %");
        if figures.iter().zip(floors).any(|(figure, floor)| *figure < floor) {
            faults.push(format!("{preset}: {figures:.1?} are below {floors:?}"));
        }
    }
    assert!(given.is_some() || faults.is_empty(), "{}", faults.join("\n"));
}
