//! `linear-mapping.json` on disk: read by whoever asks, written under the lock of the plan, and never in part.

use std::borrow::Cow;
use std::path::PathBuf;

use fp_core::hint::Hint;
use fp_core::linear::{Mapping, MappingError};

use crate::file::{self, FileError};
use crate::plan::OpenPlan;

/// Name of the mapping in a plan's folder.
pub const MAPPING: &str = "linear-mapping.json";
/// Largest mapping that is read, in bytes.
const CAP: u64 = 64 * 1024 * 1024;

/// Why the mapping of a plan can't be used.
#[derive(Debug, thiserror::Error)]
pub enum LinearError {
    /// The file can't be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// It is not what `fp linear` writes.
    #[error("{}{}{source}", path.display(), if matches!(source, MappingError::Form { .. }) { ":" } else { ": " })]
    Mapping {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: MappingError,
    },
}

impl Hint for LinearError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::File(error) => error.hint(),
            Self::Mapping { source: MappingError::Newer(_), .. } => {
                Some("update fp: `fp --version` says what this one is".into())
            }
            Self::Mapping { .. } => Some("correct that place, or move the file away: each issue is found again by the marker in its description".into()),
        }
    }
}

/// The mapping of `plan`; `None` where nothing was sent or told yet.
pub fn read(plan: &OpenPlan) -> Result<Option<Mapping>, LinearError> {
    let path = plan.folder.file(MAPPING);
    let Some(text) = file::read_text_if_there(&path, CAP)? else { return Ok(None) };
    Mapping::parse(&text, plan.id()).map(Some).map_err(|source| LinearError::Mapping { path, source })
}

/// Writes the mapping of `plan`. The caller holds the plan's lock.
pub fn write(plan: &OpenPlan, mapping: &Mapping) -> Result<(), LinearError> {
    Ok(file::atomic_write(&plan.folder.file(MAPPING), mapping.to_json().as_bytes())?)
}
