//! Filebench's language: no script panics.

#![no_main]

use std::sync::Arc;

use disklab_source::Source;
use disklab_wml::{Overrides, Personality};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let source = Arc::new(Source { name: "script.f".to_owned(), text: text.to_owned() });
    match Personality::read(&source, &Overrides::default()) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(personality) => drop(personality.flowops().len()),
    }
});
