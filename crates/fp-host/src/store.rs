//! The plan folder: lock, event log, snapshot.
