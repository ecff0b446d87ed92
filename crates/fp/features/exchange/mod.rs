//! Plans of other systems in, and plans out in neutral formats.

pub(crate) mod export;
mod gather;
pub(crate) mod import;

pub(crate) use self::import::{ORIGIN, PartArgs, import_to_complete};
