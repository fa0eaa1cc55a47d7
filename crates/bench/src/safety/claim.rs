//! The last look, with the device held, just before the first write.

use std::fs::File;

use disklab_exec::{ExecError, Executor, Invocation};
use disklab_measure::SystemRoot;

use super::inspect::inspect;
use super::{Cause, Fingerprint, Hold, OpenError, Probe, Refusal, Target, Warning};

/// A drive that was found free while it was held exclusively. It is held until
/// this is dropped, which the caller does just before the first layer is made:
/// mkfs and mdadm want the device for themselves.
#[derive(Debug)]
pub struct Claim {
    /// The drive.
    pub target: Target,
    /// Remarks for the sample.
    pub warnings: Vec<Warning>,
    hold: Hold,
}

impl Claim {
    /// The hold on the device.
    pub fn hold(&self) -> &Hold {
        &self.hold
    }

    /// Erases all signatures, those on partitions too, and has the kernel forget
    /// the partitions. This is the first write. With the device still held, udev
    /// cannot bring an old array back to life in between.
    ///
    /// # Errors
    /// Where wipefs fails.
    pub fn erase(&self, executor: &Executor) -> Result<(), ExecError> {
        let partitions = self.target.device.partitions();
        for device in partitions.iter().chain([&self.target.device]) {
            // Without --force wipefs wants the device for itself.
            let wipefs = Invocation::new("wipefs").args(["--all", "--force"]).arg(device.node());
            executor.check(&wipefs)?;
        }
        if let (Some(file), false) = (self.hold.file(), partitions.is_empty()) {
            executor.trace.note(&["blockdev", "--rereadpt", &self.target.node().to_string_lossy()]);
            if let Err(error) = reread_partitions(file) {
                // Whoever makes a new table runs into it, and says so.
                tracing::warn!(%error, device = self.target.device.name(), "stale partitions");
            }
        }
        Ok(())
    }
}

/// Has the kernel read the partition table anew (ioctl BLKRRPART, linux/fs.h).
/// `blockdev --rereadpt` could not: only who holds the device may.
#[allow(unsafe_code)]
fn reread_partitions(file: &File) -> rustix::io::Result<()> {
    const BLKRRPART: rustix::ioctl::Opcode = rustix::ioctl::opcode::none(0x12, 95);
    // SAFETY: this request takes no argument, so no memory is shared.
    unsafe { rustix::ioctl::ioctl(file, rustix::ioctl::NoArg::<BLKRRPART>::new()) }
}

/// Opens the drive exclusively and repeats all checks while holding it: that it
/// is still the drive of the plan, and free.
///
/// # Errors
/// All that speaks against it.
pub fn claim(
    root: &SystemRoot,
    probe: &dyn Probe,
    target: &Target,
    erase: &[String],
) -> Result<Claim, Vec<Refusal>> {
    let refuse = |cause| vec![target.refuse(cause)];
    let hold = match probe.open_exclusively(&target.device, true) {
        Ok(hold) => hold,
        Err(error) => {
            // Why it is in use is better told than that it is.
            let mut refusals = inspect(root, probe, target, erase, None).refusals;
            if refusals.is_empty() {
                refusals = refuse(match error {
                    OpenError::Busy => Cause::Busy,
                    OpenError::Other(why) => Cause::Unknown { why },
                });
            }
            return Err(refusals);
        }
    };
    let now = Fingerprint::of(root, &target.name, &target.device);
    let mut differences = target.fingerprint.differences(&now);
    if let Some(elsewhere) = leads_elsewhere(root, target) {
        differences.push(elsewhere);
    }
    if !differences.is_empty() {
        return Err(refuse(Cause::Changed { differences }));
    }
    let inspection = inspect(root, probe, target, erase, Some(&hold));
    if !inspection.is_free() {
        return Err(inspection.refusals);
    }
    Ok(Claim { target: target.clone(), warnings: inspection.warnings, hold })
}

/// Whether the stable name leads to another device by now.
fn leads_elsewhere(root: &SystemRoot, target: &Target) -> Option<String> {
    match disklab_measure::BlockDevice::at(root, &target.name) {
        Some(device) if device == target.device => None,
        Some(device) => Some(format!("its name leads to {} now", device.name())),
        None => Some("its name leads nowhere now".to_owned()),
    }
}
