//! A host: a bare repository, the way to reach it, and clones of it, each with its own home folder.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::daemon::Daemon;
use super::http::{Http, Refusal};
use super::processes::Processes;
use super::proxy::{Fault, Of, Proxy};
use crate::common::Environment;

/// How machines reach the bare repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Path,
    Daemon,
    Http,
}

pub(super) const WAYS: [Way; 3] = [Way::Path, Way::Daemon, Way::Http];

enum Server {
    Path,
    Daemon(Daemon),
    Http(Http),
}

/// A bare repository `shared.git` with one commit on `main`.
pub(super) struct Host {
    // Dropped before the server, since it holds connections to it.
    proxy: Option<Proxy>,
    server: Server,
    folder: Environment,
}

impl Host {
    pub(super) fn new(way: Way) -> Self {
        let folder = Environment::new();
        folder.git(&[
            "init",
            "--quiet",
            "--bare",
            "--template=",
            "--initial-branch",
            "main",
            "shared.git",
        ]);
        let host = Self {
            proxy: None,
            server: Server::start(way, &folder),
            folder,
        };
        let first = Environment::new().repo();
        first.git(&[
            "push",
            "--quiet",
            host.folder.path("shared.git").to_str().unwrap(),
            "main",
        ]);
        host
    }

    /// A host behind a proxy.
    pub(super) fn behind_proxy(way: Way) -> Self {
        let mut host = Self::new(way);
        host.proxy = Some(Proxy::new(host.server.address().unwrap()));
        host
    }

    /// The remote's address, through the proxy if there is one.
    pub(super) fn url(&self) -> String {
        let address = self
            .proxy
            .as_ref()
            .map(Proxy::address)
            .or_else(|| self.server.address());
        match (&self.server, address) {
            (Server::Daemon(_), Some(address)) => format!("git://{address}/shared.git"),
            (Server::Http(_), Some(address)) => format!("http://{address}/shared.git"),
            _ => self.folder.path("shared.git").to_str().unwrap().to_owned(),
        }
    }

    /// A clone with a home of its own.
    pub(super) fn machine(&self) -> Environment {
        let machine = Environment::new().env("GIT_TERMINAL_PROMPT", "0");
        machine.git(&["clone", "--quiet", &self.url(), "."]);
        machine
    }

    /// Runs git in the bare repository.
    pub(super) fn git(&self, args: &[&str]) -> String {
        self.folder.git(&[&["-C", "shared.git"], args].concat())
    }

    /// Installs a hook in the bare repository.
    pub(super) fn hook(&self, name: &str, script: &str) {
        self.folder.write_program(
            &format!("shared.git/hooks/{name}"),
            format!("#!/bin/sh\n{script}\n"),
        );
    }

    /// `path` within the bare repository.
    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.folder.path("shared.git").join(path)
    }

    /// The commit of a ref, if there is one.
    pub(super) fn tip(&self, name: &str) -> Option<String> {
        let found = self.git(&["for-each-ref", "--format=%(objectname)", name]);
        found.lines().next().map(str::to_owned)
    }

    /// Makes the proxy apply `fault` to the next connection that `of` covers.
    pub(super) fn next(&self, of: Of, fault: Fault) {
        self.proxy().next(of, fault);
    }

    pub(super) fn proxy(&self) -> &Proxy {
        self.proxy.as_ref().expect("a proxy is in between")
    }

    /// Makes the HTTP server refuse requests.
    pub(super) fn refuse(&self, refusal: Refusal) {
        match &self.server {
            Server::Http(http) => http.refuse(refusal),
            Server::Path | Server::Daemon(_) => panic!("only the HTTP server refuses"),
        }
    }

    /// The processes that serve connections.
    pub(super) fn processes(&self) -> &Processes {
        match &self.server {
            Server::Daemon(daemon) => daemon.processes(),
            Server::Http(http) => http.processes(),
            Server::Path => panic!("no server is in between"),
        }
    }
}

/// Waits until `holds` returns true, and fails after a minute.
pub(super) fn wait_for(holds: impl Fn() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(
            start.elapsed() < Duration::from_secs(60),
            "it took too long"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}

impl Server {
    fn start(way: Way, folder: &Environment) -> Self {
        match way {
            Way::Path => Self::Path,
            Way::Daemon => Self::Daemon(Daemon::new(&folder.path(""))),
            Way::Http => Self::Http(Http::new(&folder.path(""))),
        }
    }

    fn address(&self) -> Option<SocketAddr> {
        match self {
            Self::Path => None,
            Self::Daemon(daemon) => Some(daemon.address()),
            Self::Http(http) => Some(http.address()),
        }
    }
}
