//! A command may print without end, so only the beginning, the end and a hash of its output stay in memory.

use std::collections::VecDeque;
use std::io::Read;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sha2::{Digest, Sha256};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandOutput {
    /// The beginning.
    pub head: Vec<u8>,
    /// The end, without the bytes in `head`.
    pub tail: Vec<u8>,
    /// Length in bytes.
    pub total: u64,
    /// SHA-256 of the whole output, in hexadecimal.
    pub sha256: String,
}

impl CommandOutput {
    /// Number of bytes dropped between head and tail.
    pub fn cut(&self) -> u64 {
        self.total - (self.head.len() + self.tail.len()) as u64
    }

    /// The output as text for people and models: replaces invalid UTF-8, removes control characters (but not line
    /// endings and tabs), and mentions the cut.
    pub fn to_text(&self) -> String {
        let (head, tail) = (readable(&self.head), readable(&self.tail));
        match self.cut() {
            // Decoded together, so that a character that spans both parts stays whole.
            0 => readable(&[self.head.as_slice(), &self.tail].concat()),
            cut => format!("{head}\n[… {cut} bytes left out …]\n{tail}"),
        }
    }
}

fn readable(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    without_escapes(&text)
        .filter(|c| !c.is_control() || matches!(c, '\n' | '\t'))
        .collect()
}

/// Removes complete escape sequences, such as those for colour, since partial ones would look like text.
fn without_escapes(text: &str) -> impl Iterator<Item = char> {
    let mut chars = text.chars().peekable();
    std::iter::from_fn(move || {
        while chars.next_if_eq(&'\x1b').is_some() {
            if chars.next_if_eq(&'[').is_some() {
                while chars.next_if(|c| !('@'..='~').contains(c)).is_some() {}
                chars.next();
            }
        }
        chars.next()
    })
}

/// Reads a pipe to its end in a separate thread.
pub(crate) struct OutputReader {
    kept: Arc<Mutex<Kept>>,
    ended: Receiver<()>,
}

struct Kept {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    head_limit: usize,
    tail_limit: usize,
    total: u64,
    hash: Sha256,
}

impl Kept {
    fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        self.hash.update(bytes);
        let (head, rest) = bytes.split_at(bytes.len().min(self.head_limit - self.head.len()));
        self.head.extend_from_slice(head);
        let rest = &rest[rest.len().saturating_sub(self.tail_limit)..];
        let over = (self.tail.len() + rest.len()).saturating_sub(self.tail_limit);
        self.tail.drain(..over);
        self.tail.extend(rest);
    }

    fn output(&self) -> CommandOutput {
        CommandOutput {
            head: self.head.clone(),
            tail: self.tail.iter().copied().collect(),
            total: self.total,
            sha256: self
                .hash
                .clone()
                .finalize()
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect(),
        }
    }
}

impl OutputReader {
    /// Starts reading `pipe`; keeps the first `head` bytes and the last `tail` bytes of the rest.
    pub(crate) fn start(mut pipe: impl Read + Send + 'static, head: usize, tail: usize) -> Self {
        let kept = Arc::new(Mutex::new(Kept {
            head: Vec::new(),
            tail: VecDeque::new(),
            head_limit: head,
            tail_limit: tail,
            total: 0,
            hash: Sha256::new(),
        }));
        let (end, ended) = channel();
        let shared = Arc::clone(&kept);
        std::thread::spawn(move || {
            let mut buffer = vec![0; 64 * 1024];
            while let Ok(length @ 1..) = pipe.read(&mut buffer) {
                shared
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push(&buffer[..length]);
            }
            // The receiver is gone once `collect_output` has run out of patience.
            let _ = end.send(());
        });
        Self { kept, ended }
    }

    /// The output up to the end of the pipe, or as much as came within `patience`: an escaped process may
    /// hold the pipe open forever.
    pub(crate) fn collect_output(self, patience: Duration) -> CommandOutput {
        let _ = self.ended.recv_timeout(patience);
        self.kept
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .output()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn kept(chunks: &[&[u8]], head: usize, tail: usize) -> CommandOutput {
        let mut kept = Kept {
            head: Vec::new(),
            tail: VecDeque::new(),
            head_limit: head,
            tail_limit: tail,
            total: 0,
            hash: Sha256::new(),
        };
        chunks.iter().for_each(|chunk| kept.push(chunk));
        kept.output()
    }

    #[test]
    fn what_is_said() {
        let check =
            |chunks: &[&[u8]], expect: &str| assert_eq!(kept(chunks, 4, 4).to_text(), expect);
        check(&[], "");
        check(&[b"abc"], "abc");
        check(&[b"abcdefgh"], "abcdefgh");
        check(&[b"abcd", b"efghi"], "abcd\n[… 1 bytes left out …]\nfghi");
        check(&[b"ab\xffc"], "ab\u{fffd}c");
        check(
            &["abc한글".as_bytes()],
            "abc\u{fffd}\n[… 1 bytes left out …]\n\u{fffd}글",
        );
        check(&["ab한글".as_bytes()], "ab한글");
        check(&[b"a\x1b[1", b"mb\r\n"], "ab\n");
    }

    #[test]
    fn the_hash_is_of_all_bytes() {
        let expect = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(kept(&[b"a", b"bc"], 1, 1).sha256, expect);
    }

    proptest! {
        #[test]
        fn head_and_tail_are_those_of_the_whole(
            chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..9), 0..9),
            head in 0usize..9,
            tail in 0usize..9,
        ) {
            let chunks: Vec<&[u8]> = chunks.iter().map(Vec::as_slice).collect();
            let (whole, output) = (chunks.concat(), kept(&chunks, head, tail));
            prop_assert_eq!(output.total, whole.len() as u64);
            prop_assert_eq!(&output.head, &whole[..whole.len().min(head)]);
            let rest = &whole[output.head.len()..];
            prop_assert_eq!(&output.tail, &rest[rest.len().saturating_sub(tail)..]);
            prop_assert_eq!(output.cut(), (rest.len() - output.tail.len()) as u64);
        }
    }
}
