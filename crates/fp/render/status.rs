pub(crate) use fp_core::report::status::state_word as word;
