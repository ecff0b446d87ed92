//! `git daemon` on loopback, with pushes enabled. Each connection gets a daemon of its own, as with inetd, so that no
//! port has to be guessed and each connection's processes are known.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Command, Stdio};

use super::listener::Listener;
use super::processes::Processes;

pub(super) struct Daemon {
    listener: Listener,
    processes: Processes,
}

impl Daemon {
    /// Serves the repositories in `folder`.
    pub(super) fn new(folder: &Path) -> Self {
        let processes = Processes::default();
        let (started, folder) = (processes.clone(), folder.to_owned());
        let listener = Listener::new(move |stream| {
            let mut daemon = Command::new("git");
            daemon.args(["daemon", "--inetd", "--export-all", "--enable=receive-pack"]);
            daemon
                .arg(format!("--base-path={}", folder.display()))
                .arg(&folder);
            daemon.env("GIT_CONFIG_GLOBAL", "/dev/null");
            let Ok(output) = stream.try_clone() else {
                return;
            };
            daemon
                .stdin(Stdio::from(OwnedFd::from(stream)))
                .stdout(Stdio::from(OwnedFd::from(output)));
            let daemon = started.start(daemon.stderr(Stdio::null()));
            started.finish(daemon);
        });
        Self {
            listener,
            processes,
        }
    }

    pub(super) fn address(&self) -> std::net::SocketAddr {
        self.listener.address
    }

    pub(super) fn processes(&self) -> &Processes {
        &self.processes
    }
}
