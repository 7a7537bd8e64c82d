//! The budget of the window. A rule compares it beside the requests, and the next one has its note.

use super::{Setting, Stage};

pub(crate) static STAGE: Stage = Stage { name: "budget", settings: &[BUDGET], run: |_, _| Ok(()), otherwise: |_, _| None };

pub(crate) const BUDGET: Setting = Setting::switch("budget", false, "compress a window that is over its [budget]");
