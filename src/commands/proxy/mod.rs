//! `aperture proxy`: serves as a proxy between clients and their API.

mod forms;
mod report;

pub use report::{ProxyRequest, ProxyRequestReport, ProxyRequestsReport, ProxyStatus, ProxyStatusReport, ProxyTokens};

use std::net::SocketAddr;
use std::path::PathBuf;

/// Arguments of `proxy`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  aperture proxy                              on 127.0.0.1:5400, for all clients
  aperture proxy --listen 127.0.0.1:0         on a free port, which it prints
  aperture proxy --upstream https://gateway.example/v1
  ANTHROPIC_BASE_URL=http://127.0.0.1:5400/SECRET claude    as aperture proxy prints it
  aperture run -- claude                      the same without a second terminal
  aperture proxy requests -n 20
  aperture proxy requests -s 6666             those of one session
  aperture proxy stop

Responses pass byte for byte, and so do requests except for these changes: contents are
sent as aperture changed them, and after each new prompt follow the manifest, the selected
and pinned blocks and the texts of aperture stage. In a session that begins behind the proxy
the model has the tool aperture, with the commands that aperture obey executes; the proxy
answers its calls, and the client does not see them. [pipeline] in the settings switches each
stage, --observe all; aperture proxy explain N lists the work of each on a request.
With condense or budget switched on there, stale blocks and windows over their budget are
compressed beside the requests; aperture log lists that, and aperture undo reverts it.
The secret in the base URL proves that a request is the user's: without it, a request passes
as it is and nothing of the user's is read or written. It is random and stays the same;
APERTURE_PROXY_SECRET chooses another one. Requests of web pages are refused.
Credentials are sent to the API and are not stored. Without --upstream a request goes to
the API that its path and headers name."
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
