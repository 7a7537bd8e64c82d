//! Serves the commands as tools for a model, over the Model Context Protocol on standard input and output.

mod answer;
mod call;
mod protocol;
mod resources;
mod server;
mod session;
mod tools;
mod wire;

use crate::app::{CommandError, Env};

/// Serves until the client disconnects.
pub fn serve(env: &Env) -> Result<(), CommandError> {
    let mut connection = wire::Connection::stdio(env.gate.clone());
    // A write fails if the client is gone.
    let _ = server::Server::new(env.clone()).serve(&mut connection);
    Ok(())
}
