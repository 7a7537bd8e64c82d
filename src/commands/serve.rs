//! `aperture serve`: a page in the browser that shows and changes sessions.

use std::net::SocketAddr;

/// Arguments of `serve`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture serve --open             the newest session here, in a window of the browser
  aperture serve 6666               one session; prints the address of the page
  aperture serve --listen 127.0.0.1:7000 --allow-host localhost:7000    behind ssh -L 7000:…

The page shows what fills the window by turn, by size and over time, the transcript, a search,
the wishes of the model, memories and the log. Every action is a command: it is planned first, shown with what
it saves and costs, and carried out after y or a click on its name; each can be undone.
It is served on this machine only, to who has the token in the printed address, until Ctrl-C.
Programs can use the same interface: docs/control.md.")]
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
