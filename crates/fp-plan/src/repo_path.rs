//! Represents a path inside a repository as git knows it: bytes, relative to its top, separated by `/`. File names
//! aren't always text, and a `String` would lose names or invent them.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A path below the top of a repository. Its text form is the path itself, or, if that would be unreadable or ambiguous
/// (invalid UTF-8, a control character, a leading `"`), the path in double quotes with git's C-style escapes. Both
/// forms read back as the same path.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct RepoPath(Vec<u8>);

impl RepoPath {
    /// Creates a path from the bytes that git prints with `-z`.
    pub fn from_bytes(bytes: impl Into<Vec<u8>>) -> Self {
        Self(bytes.into())
    }

    /// Reads the text form. A text that begins with `"` without being a well-formed quotation is taken literally.
    pub fn from_text(text: &str) -> Self {
        Self::from_quotable(text.as_bytes())
    }

    /// Reads the text form, in which unescaped bytes needn't be UTF-8, as in the headers of a patch.
    pub fn from_quotable(bytes: &[u8]) -> Self {
        Self(unquote(bytes).unwrap_or_else(|| bytes.to_vec()))
    }

    /// The path as git knows it.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The folders above the path, from the top down.
    pub fn folders(&self) -> impl Iterator<Item = &[u8]> {
        self.0
            .iter()
            .enumerate()
            .filter(|(_, byte)| **byte == b'/')
            .map(|(end, _)| &self.0[..end])
    }

    /// The path as text, with replacement characters for invalid UTF-8: fit for matching patterns, but not for opening
    /// files.
    pub fn to_lossy(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.0)
    }
}

/// The content of `"…"` with escapes resolved; `None` for anything else.
fn unquote(text: &[u8]) -> Option<Vec<u8>> {
    let inner = text.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner.iter().copied();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'"' => return None,
            b'\\' => match rest.next()? {
                b'a' => 7,
                b'b' => 8,
                b't' => b'\t',
                b'n' => b'\n',
                b'v' => 11,
                b'f' => 12,
                b'r' => b'\r',
                quoted @ (b'"' | b'\\') => quoted,
                high @ b'0'..=b'3' => {
                    let mut digit = || {
                        rest.next()
                            .filter(|d| (b'0'..=b'7').contains(d))
                            .map(|d| d - b'0')
                    };
                    ((high - b'0') << 6) | (digit()? << 3) | digit()?
                }
                _ => return None,
            },
            byte => byte,
        });
    }
    Some(bytes)
}

impl fmt::Display for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match std::str::from_utf8(&self.0) {
            Ok(text) if !text.starts_with('"') && !text.chars().any(char::is_control) => {
                f.pad(text)
            }
            _ => f.pad(&quote(&self.0)),
        }
    }
}

fn quote(bytes: &[u8]) -> String {
    let mut text = String::from("\"");
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\n' => text.push_str("\\n"),
                '\t' => text.push_str("\\t"),
                '\r' => text.push_str("\\r"),
                '"' => text.push_str("\\\""),
                '\\' => text.push_str("\\\\"),
                c if c.is_control() => {
                    let mut buffer = [0; 4];
                    octal(c.encode_utf8(&mut buffer).as_bytes(), &mut text);
                }
                c => text.push(c),
            }
        }
        octal(chunk.invalid(), &mut text);
    }
    text.push('"');
    text
}

fn octal(bytes: &[u8], text: &mut String) {
    for byte in bytes {
        text.push('\\');
        text.extend([byte >> 6, byte >> 3 & 7, byte & 7].map(|digit| char::from(b'0' + digit)));
    }
}

impl fmt::Debug for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{self}>")
    }
}

impl From<String> for RepoPath {
    fn from(text: String) -> Self {
        Self::from_text(&text)
    }
}

impl From<&str> for RepoPath {
    fn from(text: &str) -> Self {
        Self::from_text(text)
    }
}

impl From<RepoPath> for String {
    fn from(path: RepoPath) -> Self {
        path.to_string()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn text_form() {
        let check = |bytes: &[u8], text: &str| {
            let path = RepoPath::from_bytes(bytes);
            assert_eq!(path.to_string(), text);
            assert_eq!(RepoPath::from_text(text), path);
        };
        check(b"src/main.rs", "src/main.rs");
        check(b"$(touch x)", "$(touch x)");
        check(b"a\\b \"c\"", "a\\b \"c\"");
        check("한글.txt".as_bytes(), "한글.txt");
        check(b"a\nb", r#""a\nb""#);
        check(b"\"a\"", r#""\"a\"""#);
        check(b"\xff\x00.txt", r#""\377\000.txt""#);
        check("\u{9b}31m".as_bytes(), r#""\302\23331m""#);
        check(b"\x1b[31m", r#""\033[31m""#);
    }

    #[test]
    fn what_is_no_quotation_is_taken_as_it_is() {
        let check = |text: &str| assert_eq!(RepoPath::from_text(text).as_bytes(), text.as_bytes());
        check("\"");
        check("\"a");
        check("\"a\"b\"");
        check("\"\\q\"");
        check("\"\\9\"");
    }

    proptest! {
        #[test]
        fn every_path_reads_back(bytes in prop::collection::vec(any::<u8>(), 0..20)) {
            let path = RepoPath::from_bytes(bytes);
            prop_assert_eq!(RepoPath::from_text(&path.to_string()), path.clone());
            prop_assert!(!path.to_string().chars().any(char::is_control));
        }
    }
}
