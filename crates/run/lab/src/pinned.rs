//! Running on one processor.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::{LabError, OptionsProblem};

/// The processors that this process may run on, in their order.
///
/// # Errors
/// [`LabError::System`] if sched_getaffinity(2) fails.
pub fn processors() -> Result<Vec<usize>, LabError> {
    let set = sched_getaffinity(None).map_err(LabError::system("read the thread's cores"))?;
    Ok((0..CpuSet::MAX_CPU).filter(|core| set.is_set(*core)).collect())
}

/// Holds the calling thread, and the kernel that it starts, on one processor:
/// they take turns, and waking the other on a second processor takes six times as
/// long.
#[derive(Debug)]
pub struct Pinned {
    before: Option<CpuSet>,
}

impl Pinned {
    /// Pins the thread to `core`, if one is given.
    ///
    /// # Errors
    /// [`LabError::Options`] if this process may not run on it.
    pub fn to(core: Option<usize>) -> Result<Self, LabError> {
        let Some(core) = core else { return Ok(Self { before: None }) };
        let before =
            sched_getaffinity(None).map_err(LabError::system("read the thread's cores"))?;
        if core >= CpuSet::MAX_CPU || !before.is_set(core) {
            return Err(OptionsProblem::Cpu(core).into());
        }
        let mut only = CpuSet::new();
        only.set(core);
        let what = format!("run on processor {core}");
        sched_setaffinity(None, &only).map_err(LabError::system(what))?;
        Ok(Self { before: Some(before) })
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            let _ = sched_setaffinity(None, before);
        }
    }
}
