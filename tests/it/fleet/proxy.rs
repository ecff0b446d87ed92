//! A TCP proxy on loopback that misbehaves on command. Faults are queued; each connection that the first one applies to
//! takes it, and all others pass through unharmed.

use std::collections::VecDeque;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use super::listener::Listener;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// The connection is closed at once.
    Refuse,
    /// Each chunk is delayed this long, in both directions.
    Delay(Duration),
    /// The connection is cut after the client has sent this many bytes.
    CutRequest(usize),
    /// The connection is cut after the server has sent this many bytes.
    CutAnswer(usize),
    /// The server receives the push and responds, but the client never gets the response.
    Deafen,
    /// Everything the client has sent is sent again on a new connection, after the first has ended.
    Replay,
}

/// The connections that a fault is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    Any,
    Pushes,
}

pub(super) struct Proxy {
    listener: Listener,
    queue: Queue,
    replayed: Arc<AtomicUsize>,
}

type Queue = Arc<Mutex<VecDeque<(Of, Fault)>>>;

impl Proxy {
    pub(super) fn new(server: SocketAddr) -> Self {
        let (queue, replayed) = (Queue::default(), Arc::new(AtomicUsize::new(0)));
        let (faults, count) = (Arc::clone(&queue), Arc::clone(&replayed));
        let listener = Listener::new(move |client| {
            // If one side is gone, only this connection ends.
            drop(relay(client, server, &faults, &count));
        });
        Self {
            listener,
            queue,
            replayed,
        }
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.listener.address
    }

    /// Queues this fault for the next connection of that kind that isn't taken by an earlier fault.
    pub(super) fn next(&self, of: Of, fault: Fault) {
        self.queue.lock().unwrap().push_back((of, fault));
    }

    /// Number of faults that no connection has taken yet.
    pub(super) fn left(&self) -> usize {
        self.queue.lock().unwrap().len()
    }

    /// Number of connections that were replayed completely.
    pub(super) fn replayed(&self) -> usize {
        self.replayed.load(Ordering::SeqCst)
    }
}

/// Limits on one direction: delay per chunk, bytes until the cut.
#[derive(Debug, Clone, Copy, Default)]
struct Limits {
    delay: Duration,
    bytes: Option<usize>,
}

/// The client's first line (HTTP) or first packet (git protocol), which shows whether it pushes.
fn opening(client: &mut TcpStream) -> std::io::Result<Vec<u8>> {
    let mut first = Vec::new();
    let mut piece = vec![0; 8192];
    loop {
        let length = client.read(&mut piece)?;
        first.extend_from_slice(&piece[..length]);
        let packet = first
            .get(..4)
            .and_then(|size| usize::from_str_radix(str::from_utf8(size).ok()?, 16).ok());
        if length == 0 || packet.is_some_and(|size| first.len() >= size) || first.contains(&b'\n') {
            return Ok(first);
        }
    }
}

fn relay(
    mut client: TcpStream,
    server: SocketAddr,
    queue: &Queue,
    replayed: &AtomicUsize,
) -> std::io::Result<()> {
    let first = opening(&mut client)?;
    let is_push = first
        .windows(16)
        .any(|window| window == b"git-receive-pack");
    let fault = {
        let mut queue = queue.lock().unwrap();
        let is_for = queue
            .front()
            .is_some_and(|(of, _)| *of == Of::Any || is_push);
        if is_for {
            queue.pop_front().map(|(_, fault)| fault)
        } else {
            None
        }
    };
    let (mut up, mut down) = (Limits::default(), Limits::default());
    match fault {
        Some(Fault::Refuse) => return Ok(()),
        Some(Fault::Delay(delay)) => (up.delay, down.delay) = (delay, delay),
        Some(Fault::CutRequest(bytes)) => up.bytes = Some(bytes),
        Some(Fault::CutAnswer(bytes)) => down.bytes = Some(bytes),
        Some(Fault::Deafen | Fault::Replay) | None => {}
    }
    let is_deaf = fault == Some(Fault::Deafen);
    let mut upstream = TcpStream::connect(server)?;
    let (mut from_server, mut to_client) = (upstream.try_clone()?, client.try_clone()?);
    // The number of chunks that the server has sent, and whether the push itself has been sent.
    let (answers, pushing) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let mut sent = Vec::new();
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut left = down.bytes;
            let mut piece = vec![0; 8192];
            while let Ok(length @ 1..) = from_server.read(&mut piece) {
                answers.fetch_add(1, Ordering::SeqCst);
                thread::sleep(down.delay);
                if is_deaf && pushing.load(Ordering::SeqCst) > 0 {
                    // With the git protocol the server may still be working; it closes the connection when it is done.
                    let is_http = piece.starts_with(b"HTTP/");
                    while !is_http && matches!(from_server.read(&mut piece), Ok(1..)) {}
                    break;
                }
                let passed = left.map_or(length, |left| left.min(length));
                left = left.map(|left| left - passed);
                if to_client.write_all(&piece[..passed]).is_err() || left == Some(0) {
                    break;
                }
            }
            drop(to_client.shutdown(Shutdown::Both));
            drop(from_server.shutdown(Shutdown::Both));
        });
        let mut left = up.bytes;
        let mut piece = first;
        while !piece.is_empty() {
            thread::sleep(up.delay);
            // Over HTTP the push is a separate request; with the git protocol it follows the server's first chunk.
            let is_http = piece.windows(5).any(|window| window == b"HTTP/");
            let is_posted = piece.starts_with(b"POST ");
            if is_push && (is_posted || !is_http && answers.load(Ordering::SeqCst) > 0) {
                pushing.store(1, Ordering::SeqCst);
            }
            let passed = left.map_or(piece.len(), |left| left.min(piece.len()));
            left = left.map(|left| left - passed);
            if upstream.write_all(&piece[..passed]).is_err() {
                break;
            }
            sent.extend_from_slice(&piece[..passed]);
            if left == Some(0) {
                drop(client.shutdown(Shutdown::Both));
                break;
            }
            piece.resize(8192, 0);
            let length = client.read(&mut piece).unwrap_or_default();
            piece.truncate(length);
        }
        // A client that has closed its side has sent everything; the server may still answer.
        let how = if up.bytes.is_some() {
            Shutdown::Both
        } else {
            Shutdown::Write
        };
        drop(upstream.shutdown(how));
    });
    if fault == Some(Fault::Replay) {
        let mut again = TcpStream::connect(server)?;
        again.write_all(&sent)?;
        again.shutdown(Shutdown::Write)?;
        let mut rest = Vec::new();
        // The server may hang up on the second push.
        drop(again.read_to_end(&mut rest));
        replayed.fetch_add(1, Ordering::SeqCst);
    }
    Ok(())
}
