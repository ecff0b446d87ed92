//! The texts that a plan of another system consists of, read beforehand by whoever may read files.

use std::collections::BTreeMap;

/// Text files by their path relative to what is imported, with `/` between the parts. A single file that is imported
/// is a folder of one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Folder {
    files: BTreeMap<String, String>,
}

impl Folder {
    /// The text of the file at `path`.
    #[must_use]
    pub fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }

    /// All files in the order of their paths: path and text.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// How many files there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether there is no file.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }
}

impl<P: Into<String>, T: Into<String>> FromIterator<(P, T)> for Folder {
    fn from_iter<I: IntoIterator<Item = (P, T)>>(files: I) -> Self {
        Self { files: files.into_iter().map(|(path, text)| (path.into(), text.into())).collect() }
    }
}
