//! Takes connections on a free loopback port, each in a thread of its own, until it is dropped.

use std::collections::BTreeMap;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

pub(super) struct Listener {
    pub(super) address: SocketAddr,
    is_over: Arc<AtomicBool>,
    open: Open,
    accepting: Option<JoinHandle<()>>,
}

type Open = Arc<Mutex<BTreeMap<usize, TcpStream>>>;

impl Listener {
    pub(super) fn new(serve: impl Fn(TcpStream) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (is_over, open) = (Arc::new(AtomicBool::new(false)), Open::default());
        let (stop, streams, serve) = (Arc::clone(&is_over), Arc::clone(&open), Arc::new(serve));
        let accepting = thread::spawn(move || {
            for (number, stream) in listener.incoming().enumerate() {
                if stop.load(Ordering::SeqCst) {
                    return;
                }
                let Ok(stream) = stream else { continue };
                let (serve, streams) = (Arc::clone(&serve), Arc::clone(&streams));
                streams
                    .lock()
                    .unwrap()
                    .extend(stream.try_clone().map(|stream| (number, stream)));
                thread::spawn(move || {
                    serve(stream);
                    close(streams.lock().unwrap().remove(&number));
                });
            }
        });
        Self {
            address,
            is_over,
            open,
            accepting: Some(accepting),
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        // Wakes the accepting thread; fails if it is no longer listening.
        drop(TcpStream::connect(self.address));
        if let Some(accepting) = self.accepting.take() {
            accepting.join().unwrap();
        }
        close(std::mem::take(&mut *self.open.lock().unwrap()).into_values());
    }
}

/// Shuts down the connections, so that every clone of each stream is closed too.
fn close(streams: impl IntoIterator<Item = TcpStream>) {
    for stream in streams {
        // Fails if the other side has already closed it.
        drop(stream.shutdown(Shutdown::Both));
    }
}
