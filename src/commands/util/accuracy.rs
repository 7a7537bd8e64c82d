use crate::engine::Analysis;
use crate::engine::tokens::{Accuracy, Cut, CutKind, quantiles};
use crate::model::{As, Measured, TokenCount};
use crate::output::{Report, Style, amount, clip, percent, plural};
use crate::text::names::file_name;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The largest error of an estimate of the window that counts as agreement.
const NEAR: f64 = 0.1;

/// The accuracy of token estimates in a session.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SessionAccuracy {
    pub session: String,
    pub model: String,
    /// Errors by step and by turn.
    pub accuracy: Accuracy,
    /// Billed input tokens of the last response.
    #[serde(with = "As::<Option<Measured>>")]
    pub billed_tokens: Option<u64>,
    /// Tokens that are sent and not in the file.
    pub outside_tokens: TokenCount,
    /// The window before each response, as estimated then.
    #[serde(skip)]
    pub cuts: Vec<Cut>,
}

impl SessionAccuracy {
    pub fn new(session: String, reading: &Analysis, cuts: Vec<Cut>) -> SessionAccuracy {
        let price = &reading.price;
        SessionAccuracy {
            session,
            model: reading.model.clone(),
            accuracy: price.accuracy.clone(),
            billed_tokens: price.measured,
            outside_tokens: price.outside,
            cuts,
        }
    }
}

/// The median and the 90th percentile of relative errors; null if there is nothing to compare.
#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema)]
pub struct Spread {
    /// Median of the values.
    #[schemars(extend("unit" = "ratio"))]
    pub median: Option<f64>,
    /// 90th percentile.
    #[schemars(extend("unit" = "ratio"))]
    pub p90: Option<f64>,
}

impl Spread {
    fn new(values: &[f64]) -> Spread {
        let (median, p90) = quantiles(values);
        Spread { median, p90 }
    }

    fn text(&self) -> String {
        match (self.median, self.p90) {
            (Some(median), Some(p90)) => format!("median {:>6}   90th percentile {:>6}", percent(median), percent(p90)),
            _ => "nothing to compare".to_owned(),
        }
    }
}

/// The accuracy of token estimates for a model.
#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema)]
pub struct ModelAccuracy {
    /// Steps from one response to the next.
    pub steps: u64,
    /// Their errors.
    pub errors: Spread,
}

/// The accuracy of token estimates over sessions.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct AccuracyReport {
    pub sessions: Vec<SessionAccuracy>,
    /// Errors of all steps.
    pub steps: Spread,
    /// Errors of the steps of each model.
    pub models: BTreeMap<String, ModelAccuracy>,
    /// Errors of all turns.
    pub turns: Spread,
    /// Errors of the sum over the blocks, compared with the last bill.
    pub windows: Spread,
}

impl AccuracyReport {
    pub fn add(&mut self, row: SessionAccuracy) {
        self.sessions.push(row);
    }

    /// Computes the distributions over the added sessions.
    pub fn finish(&mut self) {
        let all = |pick: &dyn Fn(&Accuracy) -> Vec<f64>| {
            Spread::new(&self.sessions.iter().flat_map(|row| pick(&row.accuracy)).collect::<Vec<_>>())
        };
        let mut models: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for (model, errors) in self.sessions.iter().flat_map(|row| &row.accuracy.step_errors) {
            models.entry(model).or_default().extend(errors);
        }
        let of_model = |errors: Vec<f64>| ModelAccuracy { steps: errors.len() as u64, errors: Spread::new(&errors) };
        let models = models.into_iter().map(|(model, errors)| (model.to_owned(), of_model(errors))).collect();
        let steps = all(&|accuracy| accuracy.step_errors.values().flatten().copied().collect());
        let turns = all(&|accuracy| accuracy.turn_errors.clone());
        let windows = all(&|accuracy| accuracy.window_error.into_iter().collect());
        self.models = models;
        (self.steps, self.turns, self.windows) = (steps, turns, windows);
    }
}

/// Returns the versions of a client that count as one, ten of its last number, behind their order.
fn series(version: &str) -> (Vec<u64>, String) {
    let (rest, last) = version.split_once('-').map_or(version, |(release, _)| release).rsplit_once('.').unwrap_or((version, "0"));
    let tens = last[..last.len().saturating_sub(1)].trim_start_matches('0');
    let numbers = rest.split('.').chain([tens]).map(|number| number.parse().unwrap_or_default()).collect();
    (numbers, format!("{rest}.{tens}0 to {rest}.{tens}9"))
}

impl Report for AccuracyReport {
    const SCHEMA: &str = "aperture.accuracy/2";

    fn text(&self, _: &Style) -> String {
        let mut text = String::new();
        for row in &self.sessions {
            text.push_str(&format!(
                "{:<14} {:<22} {:>5} steps  {}  billed {:>6}, outside the file {:>6}\n",
                clip(file_name(&row.session), 14),
                clip(row.model.trim_start_matches("claude-"), 22),
                row.accuracy.steps,
                Spread { median: row.accuracy.step_median, p90: row.accuracy.step_p90 }.text(),
                row.billed_tokens.map_or_else(|| "–".to_owned(), amount),
                amount(row.outside_tokens.round()),
            ));
            for cut in row.cuts.iter().filter(|cut| cut.error() > NEAR) {
                let (kind, estimated, billed) = (cut.kind.name(), amount(cut.estimated as u64), amount(cut.billed));
                text.push_str(&format!("    before row {}, {kind}: {estimated} estimated, {billed} billed\n", cut.rows));
            }
        }
        let steps: u32 = self.sessions.iter().map(|row| row.accuracy.steps).sum();
        text.push('\n');
        for (model, accuracy) in &self.models {
            text.push_str(&format!("{:<28} {:>5} steps  {}\n", clip(model, 28), accuracy.steps, accuracy.errors.text()));
        }
        text.push_str(&format!("\n{}, {}\n", plural(self.sessions.len(), "session"), plural(steps as usize, "step")));
        for (name, spread) in
            [("all steps", self.steps), ("all turns", self.turns), ("window against the last bill", self.windows)]
        {
            text.push_str(&format!("{name:<34} {}\n", spread.text()));
        }
        text.push_str("\nwindow before a response, as estimated then, against its bill\n");
        let cuts: Vec<&Cut> = self.sessions.iter().flat_map(|row| &row.cuts).collect();
        let mut line = |name: &str, is_of: &dyn Fn(&Cut) -> bool| {
            let errors: Vec<f64> = cuts.iter().filter(|cut| is_of(cut)).map(|cut| cut.error()).collect();
            let near = errors.iter().filter(|error| **error <= NEAR).count();
            let share = format!("{near} of {} within {}", plural(errors.len(), "cut"), percent(NEAR));
            text.push_str(&format!("{name:<34} {}   {share}\n", Spread::new(&errors).text()));
        };
        line("all", &|_| true);
        for kind in [CutKind::Plain, CutKind::Compaction, CutKind::Rewind, CutKind::Model, CutKind::Gap] {
            line(kind.name(), &|cut| cut.kind == kind);
        }
        let known = |cut: &Cut| cut.kind != CutKind::Gap;
        for group in [|cut: &Cut| (Vec::new(), cut.model.clone()), |cut: &Cut| series(&cut.version)] {
            for key in cuts.iter().map(|cut| group(cut)).collect::<BTreeSet<_>>() {
                line(&key.1, &|cut| known(cut) && group(cut) == key);
            }
        }
        text
    }
}
