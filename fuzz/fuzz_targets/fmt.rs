//! Any text against the law of formatting.
#![no_main]

#[allow(dead_code, reason = "each target has its law")]
#[path = "../../tests/it/properties/laws.rs"]
mod laws;

libfuzzer_sys::fuzz_target!(|text: &str| laws::formatting(text));
