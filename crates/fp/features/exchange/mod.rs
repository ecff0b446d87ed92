//! Imports plans from other systems, and exports plans in neutral formats.

pub(crate) mod export;
mod gather;
pub(crate) mod import;
mod named;

pub(crate) use self::import::{ORIGIN, import_to_complete};
pub(crate) use self::named::note_named;
