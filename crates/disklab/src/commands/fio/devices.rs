//! Block devices that jobs write to: free drives alone, held while the jobs run.

use std::io;
use std::sync::Arc;

use disklab_bench::{JobDevices, confirm_erasing, safety::Refusal};
use disklab_engine::{DeviceAccess, HeldDevice, JobContext, preflight, written_devices};
use disklab_exec::Executor;
use disklab_jobfile::Job;

use super::words::FioWords;
use crate::exit::Failure;

/// Finds out what the jobs may write to. Drives among it are held from now on, for as long
/// as `context` lives.
pub fn settle(jobs: &[Job], words: &FioWords, context: &mut JobContext) -> Result<(), Failure> {
    let names: Vec<String> =
        written_devices(jobs, context).iter().map(|path| path.display().to_string()).collect();
    if names.is_empty() {
        if !words.own.erase.is_empty() {
            return Err(Failure::usage_error("--erase: no job writes to a drive"));
        }
        return preflight(jobs, context).map_err(Failure::usage_error);
    }
    let refused = |refusals: Vec<Refusal>| {
        let why: Vec<_> = refusals.iter().map(ToString::to_string).collect();
        Failure::usage_error(why.join("\n"))
    };
    let executor = Executor::new(context.interrupt.clone());
    let drives = JobDevices::new(&names, &words.own.erase).map_err(refused)?;
    for line in drives.check(&executor).map_err(refused)? {
        eprintln!("{line}");
    }
    confirm_erasing(words.own.yes).map_err(Failure::usage_error)?;
    let claims = drives.claim(&executor).map_err(Failure::usage_error)?;
    let held = claims.iter().filter_map(|claim| claim.hold().file());
    // The same open file: the drive stays held when the claim is gone.
    let held = held.map(|file| file.try_clone().and_then(HeldDevice::new).map(Arc::new));
    let held = held.collect::<io::Result<_>>();
    context.devices = DeviceAccess::Only(
        held.map_err(|e| Failure::failed(format!("cannot keep hold of a drive: {e}")))?,
    );
    preflight(jobs, context).map_err(Failure::usage_error)
}
