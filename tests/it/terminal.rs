//! A terminal: a signal leaves it as it was, and a key sends one to each program once.

use crate::sandbox::{Sandbox, wait_for};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

/// A program on a terminal of its own.
struct Terminal {
    near: OwnedFd,
    child: Child,
    output: Receiver<Vec<u8>>,
    written: String,
}

/// Starts a program on a terminal of its own.
fn start(sandbox: &Sandbox, program: &Command) -> Terminal {
    let near = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&near).unwrap();
    unlockpt(&near).unwrap();
    tcsetwinsize(&near, Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
    let path = std::ffi::OsString::from_vec(ptsname(&near, Vec::new()).unwrap().into_bytes());
    let far = File::options().read(true).write(true).open(path).unwrap();
    let end = || Stdio::from(OwnedFd::from(far.try_clone().unwrap()));
    // Gives the program the terminal, in its own process.
    let mut command = Command::new("setsid");
    command.arg("--ctty").arg(program.get_program()).args(program.get_args()).env_clear();
    command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?)))).env("TERM", "xterm");
    command.current_dir(&sandbox.project).stdin(end()).stdout(end()).stderr(end());
    let child = command.spawn().unwrap();
    let (sender, output) = channel();
    let mut reader = File::from(near.try_clone().unwrap());
    std::thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok(count @ 1..) = reader.read(&mut bytes) {
            let _ = sender.send(bytes[..count].to_vec());
        }
    });
    Terminal { near, child, output, written: String::new() }
}

impl Terminal {
    /// Returns true if it echoes keys and waits for the end of a line.
    fn is_cooked(&self) -> bool {
        tcgetattr(&self.near).unwrap().local_modes.contains(LocalModes::ECHO | LocalModes::ICANON)
    }

    fn shows(&mut self, text: &str) -> bool {
        self.written.extend(self.output.try_iter().map(|bytes| String::from_utf8_lossy(&bytes).into_owned()));
        self.written.contains(text)
    }
}

/// Sends the program a signal when it shows a text and reads keys. Returns what it wrote.
fn interrupted(sandbox: &Sandbox, arguments: &[&str], text: &str, signal: Signal) -> String {
    let mut terminal = start(sandbox, &sandbox.command(arguments));
    let what = format!("{arguments:?} shows {text:?}, and reads keys");
    wait_for(&what, || (terminal.shows(text) && !terminal.is_cooked()).then_some(()));
    kill_process(Pid::from_child(&terminal.child), signal).unwrap();
    assert!(!terminal.child.wait().unwrap().success());
    assert!(terminal.is_cooked(), "{arguments:?} leaves the terminal without echo after {signal:?}");
    std::thread::sleep(std::time::Duration::from_millis(50));
    terminal.shows("");
    terminal.written
}

#[test]
fn a_signal_restores_the_terminal() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP, Signal::QUIT] {
        interrupted(&crate::memory::learned(), &["memory", "review"], "[a]ccept", signal);
        interrupted(&crate::memory::learned(), &["watch"], "", signal);
        interrupted(&Sandbox::new(), &["store", "encrypt"], "New passphrase", signal);
        let written = interrupted(&Sandbox::of("tools-and-spill"), &["tui"], "\u{1b}[?25l", signal);
        let last = |codes: [&str; 2]| codes.map(|code| written.rfind(code));
        let [hidden, shown] = last(["\u{1b}[?25l", "\u{1b}[?25h"]);
        let [screen, own] = last(["\u{1b}[?1049h", "\u{1b}[?1049l"]);
        assert!(hidden < shown && screen < own, "after {signal:?}: {written:?}");
    }
}

/// The terminal sends the signal of a key to the whole job, also to one whose input is a pipe.
#[test]
fn a_key_interrupts_a_client_once() {
    let sandbox = Sandbox::new();
    let client =
        sandbox.write("bin/claude", "#!/bin/sh\ntrap 'echo interrupted' INT\necho ready\nsleep 1\nsleep 0.5\necho done\n");
    std::fs::set_permissions(&client, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let program = sandbox.command(&["run", "--", client.to_str().unwrap()]);
    let mut shell = sandbox.command(&[]);
    let line = "echo x | \"$0\" \"$@\"";
    let mut command = Command::new("sh");
    command.args(["-c", line]).arg(program.get_program()).args(program.get_args());
    command.envs(shell.env("PATH", "/usr/bin:/bin").get_envs().filter_map(|(name, value)| Some((name, value?))));
    let mut terminal = start(&sandbox, &command);
    wait_for("the client runs", || terminal.shows("ready").then_some(()));
    File::from(terminal.near.try_clone().unwrap()).write_all(b"\x03").unwrap();
    wait_for("the client ends", || terminal.shows("done").then_some(()));
    assert_eq!(terminal.written.matches("interrupted").count(), 1, "{}", terminal.written);
    let _ = terminal.child.kill();
    let _ = terminal.child.wait();
}
