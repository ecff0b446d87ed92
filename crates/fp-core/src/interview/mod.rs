//! Intent, mode and requirements of a goal.
