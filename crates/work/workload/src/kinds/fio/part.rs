//! A section of a job.

use disklab_jobfile::{Job, Section};

use super::work::FioWork;

/// One section of the job, scaled.
#[derive(Debug)]
pub(super) struct FioPart {
    pub(super) section: Section,
    pub(super) job: Job,
    pub(super) work: FioWork,
}
