//! `aperture serve`: a page in the browser that shows and changes sessions.

use std::net::SocketAddr;

#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = help_text!("serve"))]
pub struct Arguments {
    /// Session: a path, an id or an id prefix [default: the newest of this project, or the list]
    #[arg(id = "named", value_name = "SESSION")]
    pub session: Option<String>,
    /// Open the page in the browser
    #[arg(long)]
    pub open: bool,
    /// Address to listen on, of this machine; port 0 chooses a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    pub listen: SocketAddr,
    /// Also answer requests to this host, such as the near end of a tunnel
    #[arg(long = "allow-host", value_name = "HOST:PORT")]
    pub allowed_hosts: Vec<String>,
}
