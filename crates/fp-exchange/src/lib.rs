//! Reads and checks plans of other systems, drafts them as task trees, and writes plans in neutral formats.
//!
//! A reader turns the texts of a [`SourceFolder`] into a [`PortablePlan`]. A [`PlanDraft`] is the tree made of
//! everything that a tree can hold, with the record of where each task came from. The plan collects notices along the
//! way. Exports are written from a portable plan too. Nothing here touches a file, the clock or a process:
//! `clippy.toml` forbids it.
#![allow(
    missing_docs,
    reason = "only this program uses it, and the names say what the docs would repeat"
)]

mod draft;
mod export;
mod folder;
mod formats;
mod material;
mod page;
mod portable;
mod settle;
mod words;

pub use draft::PlanDraft;
pub use export::{json_text, portable_plan};
pub use folder::SourceFolder;
pub use formats::{ImportError, RecognisedSource, SourceFormat, read_source, recognise_source};
pub use material::{Material, MaterialItem, unnamed_items};
pub use portable::{ImportNotice, PortablePlan, PortableTask, TaskWork};
