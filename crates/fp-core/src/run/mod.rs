//! The run as a pure state machine.
