//! The comments of a source file, and which of those that an edit added are worth a question.

mod added;
mod body;
mod check;
pub mod edit;
mod language;
mod lex;
mod policy;
pub mod reply;
mod restating;

use std::ops::Range;

pub use added::added;
pub use check::{MAX_BYTES, ignores, of_edit, remarks_between, remarks_in, restating_in};
pub use language::Language;
pub use lex::comments;
pub use policy::Remark;

/// How a comment is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// To the end of its line: `// x`, `# x`, `-- x`.
    Line,
    /// Between two marks: `/* x */`, `<!-- x -->`.
    Block,
    /// What the language's tools make documentation of, in whatever form: `/// x`, `/** x */`, a docstring.
    Doc,
}

/// One comment as it stands in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comment<'t> {
    /// How it is written.
    pub kind: Kind,
    /// Where it is, its marks included and the end of its line not.
    pub span: Range<usize>,
    /// Number of its first line, from 1.
    pub line: usize,
    /// Its text, marks included.
    pub text: &'t str,
    /// Whether code stands before it on its line.
    pub trails: bool,
}
