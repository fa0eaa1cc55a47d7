//! Studies: no text panics, and an error lies inside of the text.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Err(error) = disklab_study::load("study.toml", text) {
        assert!(error.line >= 1 && error.column >= 1 && !error.message.is_empty());
    }
});
