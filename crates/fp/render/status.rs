pub(crate) use fp_core::text::fitted as fit;
