//! Contents of files as git has them.

use std::collections::HashMap;

use super::{Git, GitError, Oid};

/// Larger files are not read.
const CAP: usize = 8 * 1024 * 1024;

impl Git {
    /// The contents of `blobs`, without those above 8 MiB. Two processes, or none where nothing is asked for.
    pub(crate) fn blobs(&self, blobs: &[&Oid]) -> Result<HashMap<Oid, Vec<u8>>, GitError> {
        let small = self.small(blobs)?;
        if small.is_empty() {
            return Ok(HashMap::new());
        }
        let call = self.call(&["cat-file", "--batch"]).input(lines(small.iter()));
        let output = call.output()?;
        contents(&output).ok_or_else(|| GitError::unexpected("git cat-file --batch", &output))
    }

    /// Those of `blobs` that are not too large.
    fn small(&self, blobs: &[&Oid]) -> Result<Vec<Oid>, GitError> {
        if blobs.is_empty() {
            return Ok(Vec::new());
        }
        let call = self.call(&["cat-file", "--batch-check"]).input(lines(blobs.iter().copied()));
        let output = call.output()?;
        let text = String::from_utf8_lossy(&output);
        Ok(text.lines().filter_map(header).filter(|(_, size)| *size <= CAP).map(|(oid, _)| oid).collect())
    }
}

fn lines<'o>(oids: impl Iterator<Item = &'o Oid>) -> Vec<u8> {
    oids.map(|oid| format!("{oid}\n")).collect::<String>().into_bytes()
}

/// Id and size of `<id> blob <size>`; none of an object that is missing or no file.
fn header(line: &str) -> Option<(Oid, usize)> {
    let mut words = line.split(' ');
    let (oid, kind, size) = (words.next()?, words.next()?, words.next()?);
    (kind == "blob").then(|| Some((oid.parse().ok()?, size.parse().ok()?)))?
}

/// Reads a header line, so many bytes and a line ending, over and over.
fn contents(mut output: &[u8]) -> Option<HashMap<Oid, Vec<u8>>> {
    let mut contents = HashMap::new();
    while !output.is_empty() {
        let end = output.iter().position(|&b| b == b'\n')?;
        let (oid, size) = header(std::str::from_utf8(&output[..end]).ok()?)?;
        let rest = &output[end + 1..];
        contents.insert(oid, rest.get(..size)?.to_vec());
        output = rest.get(size + 1..)?;
    }
    Some(contents)
}
