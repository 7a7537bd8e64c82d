//! `aperture sidecar`: a local model that polishes texts in the background.

mod report;
mod source;

pub use report::{SidecarEvalReport, SidecarQueueReport, SidecarReport, SidecarTaskRow};
pub use source::{polish, queue_all, source, subjects_of};

#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = help_text!("sidecar"))]
pub struct Arguments {
    /// The action; `status` if there is none.
    #[command(subcommand)]
    pub action: Option<Action>,
}

/// The actions on the queue and its worker.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Subcommand)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// Work on the queue until it is stopped
    Run(WorkOptions),
    /// Show the server, the model, its answers and refusals
    Status,
    /// List the tasks in the queue
    Queue {
        /// Queue all contents of the session that have no answer yet
        #[arg(long)]
        add: bool,
        /// List only this number of tasks
        #[arg(long, short = 'n', value_name = "N", value_parser = crate::app::number::<usize>)]
        limit: Option<usize>,
    },
    /// Work on the queue until it is empty
    Drain(WorkOptions),
    /// Delete the queue
    Clear {
        /// Also the answers and the counts of models
        #[arg(long)]
        answers: bool,
    },
    /// Measure on your own sessions if vectors improve search, and use them only then
    Eval(WorkOptions),
}

/// Options of a worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, clap::Args)]
pub struct WorkOptions {
    /// Allow a server on another machine
    #[arg(long)]
    pub allow_remote: bool,
    /// Start a stopped model again, and retry tasks that were set aside
    #[arg(long)]
    pub again: bool,
    /// End with the process that started this one
    #[arg(long, hide = true)]
    pub beside: bool,
}

impl Arguments {
    /// Returns true if nothing is changed or sent.
    pub fn only_reads(&self) -> bool {
        matches!(self.action, None | Some(Action::Status | Action::Queue { add: false, .. }))
    }
}
