//! Why nothing can be imported.

use std::borrow::Cow;

use thiserror::Error;

use super::{Recognised, Source};
use crate::exchange::folder::Folder;
use crate::exchange::notice::Notice;
use crate::hint::Hint;

/// Most files or folders that an error names.
const MAX_LISTED: usize = 5;

/// Why nothing can be imported. [`ImportError::hint`] says what to do.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ImportError {
    /// It has no file of any format.
    #[error("no format of a plan is recognised{}", .0.as_ref().map_or_else(|| ": there is no .md, .json, .jsonl or .csv file".to_owned(), |files| format!(" in {files}")))]
    NotRecognised(Option<String>),
    /// It could be several formats.
    #[error("it could be of several formats:{}", told(.0))]
    Several(Vec<Recognised>),
    /// It has several plans.
    #[error("there are several plans of {source_name} in it: {folders}")]
    SeveralPlans {
        /// The format.
        source_name: Source,
        /// Where they are.
        folders: String,
    },
    /// It has nothing of the format.
    #[error("there is no task of {0} in it")]
    NoTask(Source),
    /// What can't be read leaves nothing.
    #[error("{0}")]
    Broken(Notice),
    /// It was written by a newer version.
    #[error("{file}: written by a newer fp (version {version} of the format, this fp reads 1)")]
    Newer {
        /// The file.
        file: String,
        /// Its version.
        version: u64,
    },
}

impl ImportError {
    pub(super) fn not_recognised(folder: &Folder) -> Self {
        let files: Vec<&str> = folder.iter().map(|(path, _)| path).collect();
        Self::NotRecognised((!files.is_empty()).then(|| listed(&files)))
    }

    pub(super) fn several_plans(source_name: Source, folders: &[&str]) -> Self {
        let folders: Vec<&str> =
            folders.iter().map(|folder| if folder.is_empty() { "." } else { folder }).collect();
        Self::SeveralPlans { source_name, folders: listed(&folders) }
    }
}

impl Hint for ImportError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        Some(match self {
            Self::NotRecognised(_) => {
                let signs = Source::ALL.map(|source| format!("\n  {source}: {}", source.sign()));
                format!("name the folder of a plan, which is known by:{}", signs.concat()).into()
            }
            Self::Several(_) => "say which it is with `--from FORMAT`".into(),
            Self::SeveralPlans { .. } => "name the folder of one of them".into(),
            Self::NoTask(source) => format!("it is known by {}", source.sign()).into(),
            Self::Broken(_) => "correct that place, and import again".into(),
            Self::Newer { .. } => "update fp: `fp --version` says what this one is".into(),
        })
    }
}

fn listed(names: &[&str]) -> String {
    let mut text = names.iter().take(MAX_LISTED).copied().collect::<Vec<_>>().join(", ");
    if names.len() > MAX_LISTED {
        text.push_str(&format!(" and {} more", names.len() - MAX_LISTED));
    }
    text
}

fn told(found: &[Recognised]) -> String {
    found.iter().map(|Recognised { source, because }| format!("\n  {source}: {because}")).collect()
}
