//! How risky and how large each task is, measured on the files that it lists: pure arithmetic on facts that
//! somebody else gathers.

pub mod explain;
mod graph;
pub mod imports;
pub mod listed;
pub mod measure;
pub mod record;
pub mod resolve;
pub mod score;

pub use explain::{Explained, explain};
pub use listed::Listed;
pub use measure::{FileFacts, History, Measured, Presence, Survey, TaskSignals, TestedBy, measure};
pub use record::Record;
pub use score::{Inputs, Signals, iterations};

use crate::language::Language;

/// The languages whose files may import `path`, a file: those of its own, and of what has none those that import
/// files of any kind.
#[must_use]
pub fn importers(path: &str) -> &'static [Language] {
    match Language::of(path) {
        Some(Language::Rust) => &[Language::Rust],
        Some(Language::JavaScript) => &[Language::JavaScript],
        Some(Language::Python) => &[Language::Python],
        Some(Language::Go) => &[Language::Go],
        Some(Language::Jvm) => &[Language::Jvm],
        Some(Language::C) => &[Language::C],
        Some(Language::Ruby) => &[Language::Ruby],
        Some(Language::Php) => &[Language::Php],
        Some(Language::CSharp) => &[Language::CSharp],
        Some(Language::Swift) => &[Language::Swift],
        Some(Language::Shell | Language::TestScript) => &[],
        None => &[Language::JavaScript, Language::C, Language::Php],
    }
}
