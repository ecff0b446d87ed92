//! Commit messages in the style of the repository.
