//! Job files: no text panics, an error lies inside of the text, and what is
//! taken keeps what the types promise.

#![no_main]

use std::sync::Arc;

use disklab_jobfile::{FileSize, Policy, Runner, jobs, parse, sections};
use disklab_source::{Location, Source, SourceError};
use libfuzzer_sys::fuzz_target;

fn inside(error: &SourceError, text: &str) {
    assert!(error.line >= 1 && error.line <= text.split('\n').count().max(1), "{error}");
    assert!(error.column >= 1 && !error.message.is_empty());
}

fuzz_target!(|text: &str| {
    let source = Arc::new(Source { name: "job.fio".to_owned(), text: text.to_owned() });
    for runner in [Runner::Native, Runner::Fio] {
        let policy = Policy { runner, directory: runner == Runner::Native };
        match parse(&source, policy) {
            Err(error) => inside(&error, text),
            Ok(jobs) => {
                for job in jobs {
                    assert!(job.blocks.min() >= 1 && job.blocks.min() <= job.blocks.max());
                    // Without `size`, it is known when the job finds its files.
                    let is_known = !matches!(job.files.size, FileSize::Existing { .. });
                    assert!(job.length.size >= 1 || !is_known);
                    assert!(job.depth.low <= job.depth.depth);
                    assert!(job.depth.batch >= 1 && job.depth.complete_max >= 1);
                    job.warnings.iter().for_each(|warning| inside(warning, text));
                    // A million names take their time, and show nothing more.
                    if job.files.count() <= 1000 {
                        for file in job.files.of(job.process.clones - 1, 1) {
                            assert!(i64::try_from(file.extent.end()).is_ok());
                            assert!(!file.name.is_empty());
                        }
                    }
                }
            }
        }
    }
    let place = |span| Location { source: Arc::clone(&source), span };
    for factor in [0.001, 7.0] {
        if let Ok(mut found) = sections(text, &place(0..0), &place, Policy::default()) {
            for section in &mut found {
                // What scaling makes of a job is read like any other.
                if section.scale(factor).is_ok() {
                    let _ = jobs(std::slice::from_ref(section));
                    assert!(!section.arguments().is_empty());
                }
            }
        }
    }
});
