//! Plans of other systems: their files in, a [`PortablePlan`] between, and the way back.
//!
//! An importer reads the texts of one system, an exporter writes them, and both know nothing of each other but the
//! portable plan. What a system says and a portable plan has no field for is kept under its name in `ext`, and beside
//! the plan's tree in an [`Origin`], so that an exporter of the same system can say it again. What `fp` says and a
//! system has no field for is `kept` in its format.

mod bullets;
pub mod check;
pub mod draft;
pub mod export;
pub mod folder;
mod given_back;
pub mod import;
mod kept;
pub mod notice;
mod of_task;
pub mod origin;
pub mod portable;
pub mod rest;

pub use export::Target;
pub use folder::Folder;
pub use import::{ImportError, Recognised, Source, read, recognise};
pub use notice::{Kind, Notice};
pub use origin::{Origin, OriginTask};
pub use portable::{PortableFile, PortablePlan, PortableTask, Work};
