//! The decisions of hooks, made from facts. The binary gathers them and speaks the client's language.

pub mod guard;
pub mod identity;
pub mod own_command;
pub mod recovery;
pub mod stop;
