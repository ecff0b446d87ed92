pub(crate) use fp_core::report::status::state_word as word;
pub(crate) use fp_core::text::fitted as fit;
