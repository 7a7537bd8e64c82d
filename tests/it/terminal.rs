//! A terminal: a signal leaves it as it was.

use crate::sandbox::{Sandbox, wait_for};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};
use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;

/// Starts the program on a terminal of its own, and sends it a signal when it shows a text and reads keys.
fn interrupted(sandbox: &Sandbox, arguments: &[&str], text: &str, signal: Signal) {
    let near = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&near).unwrap();
    unlockpt(&near).unwrap();
    tcsetwinsize(&near, Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
    let path = std::ffi::OsString::from_vec(ptsname(&near, Vec::new()).unwrap().into_bytes());
    let far = File::options().read(true).write(true).open(path).unwrap();
    let is_cooked = || tcgetattr(&near).unwrap().local_modes.contains(LocalModes::ECHO | LocalModes::ICANON);
    assert!(is_cooked());
    let end = || Stdio::from(OwnedFd::from(far.try_clone().unwrap()));
    let program = sandbox.command(arguments);
    // Gives the program the terminal, in its own process.
    let mut command = Command::new("setsid");
    command.arg("--ctty").arg(program.get_program()).args(program.get_args()).env_clear();
    command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?)))).env("TERM", "xterm");
    command.current_dir(&sandbox.project).stdin(end()).stdout(end()).stderr(end());
    let mut child = command.spawn().unwrap();
    let (sender, receiver) = channel();
    let mut reader = File::from(near.try_clone().unwrap());
    std::thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok(count @ 1..) = reader.read(&mut bytes) {
            let _ = sender.send(bytes[..count].to_vec());
        }
    });
    let mut written = String::new();
    wait_for(&format!("{arguments:?} shows {text}, and reads keys"), || {
        written.extend(receiver.try_iter().map(|bytes| String::from_utf8_lossy(&bytes).into_owned()));
        (written.contains(text) && !is_cooked()).then_some(())
    });
    kill_process(Pid::from_child(&child), signal).unwrap();
    assert!(!child.wait().unwrap().success());
    assert!(is_cooked(), "{arguments:?} leaves the terminal without echo after {signal:?}");
}

#[test]
fn a_signal_restores_the_terminal() {
    for signal in [Signal::TERM, Signal::INT] {
        interrupted(&crate::memory::learned(), &["memory", "review"], "[a]ccept", signal);
        interrupted(&crate::memory::learned(), &["watch"], "", signal);
    }
}
