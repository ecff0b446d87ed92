//! A program's output, unless it takes too long. What it leaves running, such as an updater of its own, is let be.

use std::io::{self, Read};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// The longest pause between two looks at the program.
const POLL: Duration = Duration::from_millis(10);
/// How long to wait for output that is under way when the program has ended; what it has left running may hold
/// the other end for ever.
const DRAIN: Duration = Duration::from_secs(1);

/// Runs `command` without input. `None` where it had not ended after `limit`; it is killed then.
pub(super) fn output(mut command: Command, limit: Duration) -> io::Result<Option<Output>> {
    let started = Instant::now();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let (stdout, stderr) = (read(child.stdout.take()), read(child.stderr.take()));
    let mut pause = Duration::from_millis(1);
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if started.elapsed() >= limit {
            return kill(&mut child).map(|()| None);
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(POLL);
    };
    Ok(Some(Output { status, stdout: all(&stdout), stderr: all(&stderr) }))
}

/// The parts of what comes out of `pipe`.
fn read(pipe: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    if let Some(mut pipe) = pipe {
        std::thread::spawn(move || {
            let mut buffer = [0; 8192];
            while let Ok(length @ 1..) = pipe.read(&mut buffer) {
                if sender.send(buffer[..length].to_vec()).is_err() {
                    break;
                }
            }
        });
    }
    receiver
}

fn all(parts: &Receiver<Vec<u8>>) -> Vec<u8> {
    let end = Instant::now() + DRAIN;
    let left = || end.saturating_duration_since(Instant::now());
    std::iter::from_fn(|| parts.recv_timeout(left()).ok()).flatten().collect()
}

fn kill(child: &mut Child) -> io::Result<()> {
    child.kill()?;
    child.wait().map(drop)
}
