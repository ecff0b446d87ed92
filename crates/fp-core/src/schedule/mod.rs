//! Order, waves and critical path of the leaves.
