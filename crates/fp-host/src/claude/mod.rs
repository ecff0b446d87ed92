//! The client: wire types of its hooks, the plugin bundle, installing it.

pub mod bundle;
pub mod client;
pub mod hook;
pub mod install;
pub mod record;
pub mod settings_file;
pub mod team;
