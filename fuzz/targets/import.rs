//! Outputs of other programs: no text panics in any format, and no figure is made up.

#![no_main]

use std::sync::Arc;

use disklab_import::{FORMATS, detect};
use disklab_source::Source;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let _ = detect(text);
    let source = Arc::new(Source { name: "x".to_owned(), text: text.to_owned() });
    for format in FORMATS {
        match format.read(&source) {
            Ok(readings) => {
                for figure in readings.iter().flat_map(|r| &r.steps).flat_map(|s| &s.figures) {
                    let rates = [figure.bytes_per_second, figure.operations_per_second];
                    assert!(rates.iter().flatten().all(|rate| rate.is_finite() && *rate > 0.0));
                }
            }
            Err(error) => {
                assert!(error.line >= 1 && error.column >= 1 && !error.message.is_empty());
            }
        }
    }
});
