//! Each command killed at each of its calls to the system that write.
