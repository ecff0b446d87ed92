//! Commands with a time limit that leave nothing running.
