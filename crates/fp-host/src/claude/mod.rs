//! The client: wire types of its hooks, the plugin bundle, installing it.

pub mod hook;
