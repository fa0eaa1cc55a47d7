//! What the tests share.

use std::sync::Arc;

use disklab_jobfile::{Job, Policy, parse};
use disklab_source::Source;

/// Jobs of a job file.
pub(crate) fn jobs(text: &str) -> Vec<Job> {
    let source = Arc::new(Source { name: "test.fio".to_owned(), text: text.to_owned() });
    let plain = Policy { directory: true, ..Policy::default() };
    parse(&source, plain).unwrap_or_else(|error| panic!("{error}"))
}

/// The job with these options.
pub(crate) fn job(options: &str) -> Job {
    jobs(&format!("[job]\n{options}\n")).remove(0)
}
