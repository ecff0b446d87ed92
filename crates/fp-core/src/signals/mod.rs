//! How risky and how large each task is, measured on the files that it lists: pure arithmetic on facts that
//! somebody else gathers.

pub mod imports;
pub mod score;
