//! `file_append`: where each clone begins behind what a file holds.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;

use disklab_jobfile::{Engine, Job};

use super::layout::lengthen;
use super::{FileTarget, targets};
use crate::context::JobContext;
use crate::error::EngineError;

/// Where the clones of jobs with `file_append` begin in their files.
#[derive(Debug, Default)]
pub(crate) struct Ends(HashMap<(usize, u32), Vec<u64>>);

impl Ends {
    /// Gives each clone its part behind the end of its files, one behind the other where
    /// they share one, and makes the files as long as they will be: fio does both before
    /// any job begins (setup_files in filesetup.c). What a file holds stays; fio writes it
    /// anew for a job that reads.
    pub(crate) fn plan(jobs: &[Job], context: &JobContext) -> Result<Self, EngineError> {
        let mut all = HashMap::new();
        let mut ends: HashMap<PathBuf, u64> = HashMap::new();
        for (index, job) in jobs
            .iter()
            .enumerate()
            .filter(|(_, job)| job.opening.append && job.engine != Engine::Null)
        {
            for clone in 0..job.process.clones {
                let (mut begins, mut is_file) = (Vec::new(), false);
                for (number, target) in (0_u64..).zip(targets(job, clone, context)) {
                    let there = match fs::metadata(&target.path) {
                        // A device ends nowhere: its option is passed over, as in fio.
                        Ok(there) if !there.is_file() => {
                            begins.push(target.extent.offset);
                            continue;
                        }
                        Ok(there) => there.len(),
                        Err(_) => 0,
                    };
                    let end = ends.entry(target.path.clone()).or_insert(there);
                    begins.push(*end);
                    is_file = true;
                    let from = *end;
                    *end = end.saturating_add(target.extent.length);
                    if !job.opening.create_on_open {
                        lengthen(job, context, &target.path, from..*end, number)?;
                    }
                }
                if is_file {
                    all.insert((index, clone), begins);
                }
            }
        }
        Ok(Self(all))
    }

    /// Whether a clone appends to a file.
    pub(crate) fn has(&self, index: usize, clone: u32) -> bool {
        self.0.contains_key(&(index, clone))
    }

    /// The files of a clone, with where it begins in them.
    pub(crate) fn targets(
        &self,
        job: &Job,
        index: usize,
        clone: u32,
        context: &JobContext,
    ) -> Vec<FileTarget> {
        let mut all = targets(job, clone, context);
        for (target, begin) in all.iter_mut().zip(self.0.get(&(index, clone)).into_iter().flatten())
        {
            target.extent.offset = *begin;
        }
        all
    }
}
