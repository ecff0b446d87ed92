//! Smart HTTP on loopback: `git http-backend` behind a small server. It can ask for a password that expires, and forbid
//! pushes.

use std::io::{Read as _, Write as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use tiny_http::{Header, Request, Response, Server, StatusCode};

use super::processes::Processes;

/// Number of requests served at the same time.
const WORKERS: usize = 8;

/// The requests that the server refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Refusal {
    #[default]
    None,
    /// 403 for pushes.
    Pushes,
    /// 401 for everything after this many requests.
    After(usize),
}

pub(super) struct Http {
    server: Arc<Server>,
    workers: Vec<JoinHandle<()>>,
    state: Arc<Backend>,
}

struct Backend {
    folder: PathBuf,
    refusal: Mutex<Refusal>,
    processes: Processes,
}

impl Http {
    /// Serves the repositories in `folder`.
    pub(super) fn new(folder: &Path) -> Self {
        let server = Arc::new(Server::http("127.0.0.1:0").unwrap());
        let state = Backend {
            folder: folder.to_owned(),
            refusal: Mutex::default(),
            processes: Processes::default(),
        };
        let state = Arc::new(state);
        let work = |_| {
            let (server, state) = (Arc::clone(&server), Arc::clone(&state));
            thread::spawn(move || {
                while let Ok(request) = server.recv() {
                    // Fails if the client has gone.
                    drop(state.serve(request));
                }
            })
        };
        let workers = (0..WORKERS).map(work).collect();
        Self {
            server,
            workers,
            state,
        }
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.server.server_addr().to_ip().unwrap()
    }

    pub(super) fn processes(&self) -> &Processes {
        &self.state.processes
    }

    pub(super) fn refuse(&self, refusal: Refusal) {
        *self.state.refusal.lock().unwrap() = refusal;
    }
}

impl Backend {
    fn serve(&self, request: Request) -> std::io::Result<()> {
        let is_push = request.url().contains("git-receive-pack");
        let mut refusal = self.refusal.lock().unwrap();
        let status = match &mut *refusal {
            Refusal::Pushes if is_push => Some(403),
            Refusal::After(0) => Some(401),
            Refusal::After(left) => {
                *left -= 1;
                None
            }
            Refusal::None | Refusal::Pushes => None,
        };
        drop(refusal);
        match status {
            None => self.run(request),
            Some(status) => {
                let realm =
                    Header::from_bytes("WWW-Authenticate", "Basic realm=\"sample\"").unwrap();
                request.respond(Response::empty(status).with_header(realm))
            }
        }
    }

    /// Runs `git http-backend`, and responds with its output once it has ended.
    fn run(&self, mut request: Request) -> std::io::Result<()> {
        let mut body = Vec::new();
        request.as_reader().read_to_end(&mut body)?;
        let url = request.url().to_owned();
        let (path, query) = url.split_once('?').unwrap_or((&url, ""));
        let mut backend = Command::new("git");
        backend
            .arg("http-backend")
            .env("GIT_CONFIG_GLOBAL", "/dev/null");
        backend
            .env("GIT_PROJECT_ROOT", &self.folder)
            .env("GIT_HTTP_EXPORT_ALL", "1");
        backend.env("PATH_INFO", path).env("QUERY_STRING", query);
        backend
            .env("REQUEST_METHOD", request.method().as_str())
            .env("CONTENT_LENGTH", body.len().to_string());
        // Any authenticated user may push.
        backend
            .env("REMOTE_USER", "person")
            .env("REMOTE_ADDR", "127.0.0.1");
        for (name, variable) in [
            ("Content-Type", "CONTENT_TYPE"),
            ("Content-Encoding", "HTTP_CONTENT_ENCODING"),
            ("Git-Protocol", "HTTP_GIT_PROTOCOL"),
        ] {
            let is_it =
                |header: &&Header| header.field.as_str().as_str().eq_ignore_ascii_case(name);
            if let Some(header) = request.headers().iter().find(is_it) {
                backend.env(variable, header.value.as_str());
            }
        }
        backend
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = self.processes.start(&mut backend);
        let mut input = child.stdin.take().unwrap();
        let mut output = Vec::new();
        let read = thread::scope(|scope| {
            // Fails if the backend was killed.
            scope.spawn(move || drop(input.write_all(&body)));
            child.stdout.take().unwrap().read_to_end(&mut output)
        });
        self.processes.finish(child);
        read?;
        answer(request, &output)
    }
}

/// Turns the output of a CGI program into a response; cuts the connection if the header is incomplete.
fn answer(request: Request, output: &[u8]) -> std::io::Result<()> {
    let Some(head) = output.windows(4).position(|window| window == b"\r\n\r\n") else {
        drop(request.into_writer());
        return Ok(());
    };
    let mut status = 200;
    let mut headers = Vec::new();
    for line in String::from_utf8_lossy(&output[..head]).lines() {
        let (name, value) = line.split_once(": ").unwrap();
        match name {
            "Status" => status = value.split(' ').next().unwrap().parse().unwrap(),
            _ => headers.push(Header::from_bytes(name, value).unwrap()),
        }
    }
    let body = &output[head + 4..];
    request.respond(Response::new(
        StatusCode(status),
        headers,
        body,
        Some(body.len()),
        None,
    ))
}

impl Drop for Http {
    fn drop(&mut self) {
        self.state.processes.kill();
        for _ in &self.workers {
            self.server.unblock();
        }
        for worker in self.workers.drain(..) {
            worker.join().unwrap();
        }
    }
}
