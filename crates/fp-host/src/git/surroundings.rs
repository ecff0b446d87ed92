//! Takes down what lies around a working tree: the branch, and git's own files that decide what it shows and runs.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use fp_core::verification::surroundings::Surroundings;
use sha2::{Digest as _, Sha256};

use super::{Git, GitError, Status};

/// Sections of the settings that decide how git sees files and what it runs. Others, such as those of branches and
/// remotes, change as people work.
const SECTIONS: [&str; 4] = ["core", "filter", "include", "includeif"];
/// Bytes of a hash that are kept.
const KEPT: usize = 16;

impl Git {
    /// The surroundings of this working tree, whose `status` was just taken. No process.
    ///
    /// # Errors
    /// A file of git's that can't be read.
    pub fn surroundings(&self, status: &Status) -> Result<Surroundings, GitError> {
        let files = files(self.common_dir()).map_err(GitError::io("read git's own folder"))?;
        Ok(Surroundings { branch: status.branch.clone(), files })
    }
}

fn files(folder: &Path) -> io::Result<BTreeMap<String, String>> {
    let mut files = BTreeMap::new();
    for name in ["config", "info/exclude", "info/attributes"] {
        match fs::read(folder.join(name)) {
            Ok(content) if name == "config" => drop(files.insert(name.to_owned(), hash(&settings(&content)))),
            Ok(content) => drop(files.insert(name.to_owned(), hash(&content))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    let hooks = match fs::read_dir(folder.join("hooks")) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(files),
        hooks => hooks?,
    };
    for hook in hooks {
        let hook = hook?;
        let name = hook.file_name().to_string_lossy().into_owned();
        // Links are followed: what would be run counts.
        if !name.ends_with(".sample") && fs::metadata(hook.path()).is_ok_and(|found| found.is_file()) {
            files.insert(format!("hooks/{name}"), hash(&fs::read(hook.path())?));
        }
    }
    Ok(files)
}

/// The lines of a settings file that are in one of [`SECTIONS`].
fn settings(content: &[u8]) -> Vec<u8> {
    let mut counts = false;
    let of_section = |line: &&[u8]| {
        let line = String::from_utf8_lossy(line);
        if let Some(header) = line.trim_start().strip_prefix('[') {
            let name = header.split([']', '"', ' ', '\t', '.']).next().unwrap_or_default();
            counts = SECTIONS.contains(&name.to_lowercase().as_str());
        }
        counts
    };
    content.split_inclusive(|&byte| byte == b'\n').filter(of_section).flatten().copied().collect()
}

fn hash(content: &[u8]) -> String {
    Sha256::digest(content).iter().take(KEPT).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_count() {
        let check = |text: &str, expect: &str| {
            assert_eq!(String::from_utf8(settings(text.as_bytes())).unwrap(), expect, "{text}");
        };
        check("", "");
        check("[core]\n\tbare = false\n[branch \"main\"]\n\tremote = x\n", "[core]\n\tbare = false\n");
        check("[user]\n\tname = x\n[Core] fileMode = false\n", "[Core] fileMode = false\n");
        check("[remote \"x\"]\n[filter \"y\"]\n\tclean = z", "[filter \"y\"]\n\tclean = z");
        check("[includeIf \"gitdir:x\"]\n\tpath = y\n", "[includeIf \"gitdir:x\"]\n\tpath = y\n");
        check("[corex]\n\ta = b\n", "");
    }
}
