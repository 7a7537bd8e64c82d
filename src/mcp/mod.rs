//! The commands as tools for a model, over the Model Context Protocol on standard input and output.
//!
//! The one layer that is async, because its protocol library is: a call itself is carried out in one go, one after the other.

mod answer;
mod call;
mod resources;
mod server;
mod session;
mod tools;
mod wire;

use crate::app::{CommandError, Env, ErrorKind};
use anyhow::Context;
use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;

/// Serves until the client is gone.
///
/// # Errors
///
/// The protocol could not be begun.
pub fn serve(env: &Env) -> Result<(), CommandError> {
    let broken = |error| CommandError::new(ErrorKind::Internal, error);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let runtime = runtime.context("cannot start the server").map_err(broken)?;
    let outcome = runtime.block_on(async {
        match server::Server::new(env.clone()).serve(wire::stdio(env.gate.clone())).await {
            Ok(service) => service.waiting().await.map(drop).context("the server ended"),
            // It went before it said anything.
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => Err(error).context("the client did not begin with the Model Context Protocol"),
        }
    });
    // A thread may still wait for a line that nobody writes any more.
    runtime.shutdown_background();
    outcome.map_err(broken)
}
