//! `aperture serve`: the page, and the requests of programs in the same form.
//!
//! A request is run as a command of this program in another process, whose report is the answer; events are the lines of
//! `aperture watch`. So a page can do exactly what the command line can, and a broken session ends one answer.

pub(super) mod answer;
mod guard;

use super::connection::{self, Connection};
use super::secret;
use super::server::{RETRY_ACCEPT, Signals};
use crate::app::{CommandError, Env, ErrorKind, files, misuse};
use crate::commands::serve::Arguments;
use answer::Page;
use anyhow::Context;
use hyper::Request;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::net::TcpListener;

/// Serves the page until a signal.
///
/// # Errors
///
/// The session is not found, or the address is in use or not of this machine.
pub fn serve(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    if !arguments.listen.ip().is_loopback() {
        let hint = "the page is for this machine; from another one, use a tunnel: ssh -L 7000:127.0.0.1:PORT, with --allow-host localhost:7000";
        return Err(misuse!("{} is not a loopback address", arguments.listen).hint(hint));
    }
    let session = match (&arguments.session, env.session()) {
        // Without a session here, the page begins with the list.
        (None, None) => env.find(None).ok(),
        _ => Some(env.find(arguments.session.as_deref())?),
    };
    let session = session.map(|found| found.location.id).unwrap_or_default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.context("cannot start the server").map_err(|error| CommandError::new(ErrorKind::Internal, error))?;
    let listener = runtime.block_on(TcpListener::bind(arguments.listen));
    let listener = listener
        .with_context(|| format!("cannot listen on {}", arguments.listen))
        .map_err(|error| CommandError::refused(error).hint("choose another address: aperture serve --listen 127.0.0.1:0"))?;
    // Before anyone knows the address, so that the first signal ends the server as all others do.
    let signals = runtime.block_on(async { Signals::catch() })?;
    let address = listener.local_addr()?;
    let token = secret::random()?;
    let place = format!("http://{address}/#{token}/{session}");
    let file = announce(env, &place);
    // The user needs the token in the address, which is not to be masked.
    env.write(&env.gate.text(&format!("page: {place}\nCtrl-C ends it\n"), false))?;
    if arguments.open && !file.as_ref().is_ok_and(|file| env.open_in_browser(file)) {
        env.note("no browser could be started: open the address above");
    }
    let page = Arc::new(Page::new(env, address, token, &arguments.allowed_hosts));
    runtime.block_on(listen(page, listener, signals));
    // The page of requests that still run is gone.
    runtime.shutdown_background();
    if let Ok(file) = file {
        let _ = env.disk.remove(&file);
    }
    Ok(())
}

/// Writes a file that leads to the page and returns its path: the token is not to be among the arguments of a browser, which
/// other users can list. It is readable by its owner only.
fn announce(env: &Env, place: &str) -> Result<PathBuf, CommandError> {
    let name = format!("page-{}.html", env.process());
    let directory = env.store_directory()?;
    let path = directory.join(&name);
    let text = format!("<!doctype html><title>aperture</title><meta http-equiv=\"refresh\" content=\"0; url={place}\">\n");
    files::make_private(&directory, &name)?;
    files::write_private(env.disk, &path, text.as_bytes())?;
    Ok(path)
}

async fn listen(page: Arc<Page>, listener: TcpListener, mut signals: Signals) {
    let ended = signals.next();
    tokio::pin!(ended);
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    let client = Connection::new(&stream);
                    let page = page.clone();
                    let service = service_fn(move |request: Request<Incoming>| {
                        let (page, client) = (page.clone(), client.clone());
                        let (parts, body) = request.into_parts();
                        async move { Ok::<_, Infallible>(answer::answer(page, &client, parts, body).await) }
                    });
                    let connection = connection::protocol(connection::HEAD).serve_connection(TokioIo::new(stream), service);
                    tokio::spawn(async move { drop(connection.await) });
                }
                Err(_) => tokio::time::sleep(RETRY_ACCEPT).await,
            },
            () = &mut ended => break,
        }
    }
}
