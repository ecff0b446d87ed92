//! What may follow from breaking one task for others, each with the reason why it is no false alarm.

/// What was broken, what is then found elsewhere, and why that is right.
pub(crate) const ALL: &[(&str, &str, &str)] = &[];

/// The place of what may follow in [`ALL`].
pub(crate) fn place(cause: &str, found: &str) -> Option<usize> {
    ALL.iter().position(|(of, follows, _)| *of == cause && *follows == found)
}
