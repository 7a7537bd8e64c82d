//! `aperture proxy`: serves as a proxy between clients and their API.

mod forms;
mod report;

pub use report::{ProxyRequest, ProxyRequestReport, ProxyRequestsReport, ProxyStatus, ProxyStatusReport, ProxyTokens};

use std::net::SocketAddr;
use std::path::PathBuf;

#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = help_text!("proxy")
)]
pub struct Arguments {
    /// The action; without one, the proxy runs.
    #[command(subcommand)]
    pub action: Option<Action>,
    /// Address to listen on; port 0 chooses a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:5400")]
    pub listen: SocketAddr,
    /// Base URL of the API [default: by the request]
    #[arg(long, value_name = "URL")]
    pub upstream: Option<String>,
    /// Log requests without modifying them
    #[arg(long)]
    pub observe: bool,
    /// Allow other machines to connect: requests need the token of APERTURE_PROXY_TOKEN in the header x-aperture-token
    #[arg(long)]
    pub allow_remote: bool,
    /// Write the bodies of requests and responses to this directory, with credentials masked
    #[arg(long, value_name = "DIRECTORY")]
    pub record: Option<PathBuf>,
}

impl Arguments {
    /// Returns true if it only asks the running proxy.
    pub fn only_reads(&self) -> bool {
        matches!(self.action, Some(Action::Status | Action::Requests { .. } | Action::Explain { .. }))
    }
}

/// The actions on a running proxy and on the requests that passed one.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Subcommand)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// Show the address and the totals of the running proxy
    Status,
    /// List the newest requests, also those of earlier proxies
    Requests {
        /// List only this number of requests
        #[arg(long, short = 'n', value_name = "N", value_parser = crate::app::number::<usize>)]
        limit: Option<usize>,
    },
    /// Explain a request: what each stage did to it, and why
    Explain {
        /// Number, as listed by aperture proxy requests
        number: u64,
    },
    /// Stop the running proxy; open streams may finish
    Stop,
}
