//! Plans of other systems in, and plans out in neutral formats.

pub(crate) mod export;
mod gather;
pub(crate) mod import;
