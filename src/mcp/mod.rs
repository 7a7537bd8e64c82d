//! Serves the commands as tools for a model, over the Model Context Protocol on standard input and output.
//!
//! This layer is async, because its protocol library is async: the calls themselves run synchronously, one after the
//! other.

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

/// Serves until the client disconnects.
/// Errors: the protocol handshake failed.
pub fn serve(env: &Env) -> Result<(), CommandError> {
    let broken = |error| CommandError::new(ErrorKind::Internal, error);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let runtime = runtime.context("cannot start the server").map_err(broken)?;
    let outcome = runtime.block_on(async {
        match server::Server::new(env.clone()).serve(wire::stdio(env.gate.clone())).await {
            Ok(service) => service.waiting().await.map(drop).context("the server ended"),
            // The client disconnected before the handshake.
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => Err(error).context("the client did not start the Model Context Protocol"),
        }
    });
    // The reader thread may be blocked on standard input.
    runtime.shutdown_background();
    outcome.map_err(broken)
}
