//! Every side effect of Fractal Planner lives here (files, git, processes, configuration, the client), so
//! that the other crates stay pure.

pub mod agents;
pub mod bench;
pub mod claude;
pub mod clock;
pub mod commit;
pub mod config;
pub mod config_file;
pub mod error;
pub mod facts;
pub mod file;
pub mod fleet;
pub mod forge;
pub mod git;
pub mod interrupt;
pub mod lead;
pub mod measure;
pub mod plan;
pub mod plan_folder;
pub mod platform;
pub mod process;
pub mod repo;
pub mod run;
pub mod screen;
pub mod store;
pub mod trust;
