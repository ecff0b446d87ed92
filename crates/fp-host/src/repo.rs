//! Where the repository and its plans folder are.
