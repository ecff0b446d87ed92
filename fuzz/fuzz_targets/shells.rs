//! Any command line against what real shells make of it.
#![no_main]

#[path = "../../tests/it/shells/law.rs"]
mod law;

libfuzzer_sys::fuzz_target!(|words: &str| {
    law::permitted(&format!("fp status {words}"), &law::SHELLS);
});
