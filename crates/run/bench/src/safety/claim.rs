//! The last look, with the device held, just before the first write.

use disklab_measure::{BlockDevice, SystemRoot};

use super::content::Erasable;
use super::inspect::inspect;
use super::{Cause, DriveChange, Fingerprint, Hold, Probe, Refusal, Target, Warning};

/// A drive that was found free while it was held exclusively. It is held until
/// this is dropped, or becomes a [`Pin`](super::Pin) just before the first layer is made:
/// mkfs and mdadm want the device for themselves.
#[derive(Debug)]
pub struct Claim {
    /// The drive.
    pub target: Target,
    /// Notes for the sample.
    pub warnings: Vec<Warning>,
    hold: Hold,
}

impl Claim {
    /// The hold on the device.
    pub fn hold(&self) -> &Hold {
        &self.hold
    }
}

/// Opens the drive exclusively and repeats all checks while holding it: that it
/// is still the drive of the plan, and free.
///
/// # Errors
/// A [`Refusal`] for each reason against it, all at once.
pub fn claim(
    root: &SystemRoot,
    probe: &dyn Probe,
    target: &Target,
    erase: &[String],
) -> Result<Claim, Vec<Refusal>> {
    claim_for(root, probe, target, Erasable::Serials(erase))
}

/// The same for a drive that this very run has claimed and erased before: what
/// is written on it is the run's own. It must be the same drive, and in use by
/// nobody, all the same.
///
/// # Errors
/// A [`Refusal`] for each reason against it, all at once.
pub fn reclaim(
    root: &SystemRoot,
    probe: &dyn Probe,
    target: &Target,
) -> Result<Claim, Vec<Refusal>> {
    claim_for(root, probe, target, Erasable::Own)
}

fn claim_for(
    root: &SystemRoot,
    probe: &dyn Probe,
    target: &Target,
    erase: Erasable<'_>,
) -> Result<Claim, Vec<Refusal>> {
    let refuse = |cause| vec![target.refuse(cause)];
    let hold = match probe.open_exclusively(&target.device, true) {
        Ok(hold) => hold,
        Err(error) => {
            // Why it is in use is better told than that it is, and why it is not
            // there than what a missing drive lacks.
            let differences = changes(root, target);
            if !differences.is_empty() {
                return Err(refuse(Cause::Changed { differences }));
            }
            let mut refusals = inspect(root, probe, target, erase, None).refusals;
            if refusals.is_empty() {
                refusals = refuse(error.into());
            }
            return Err(refusals);
        }
    };
    let differences = changes(root, target);
    if !differences.is_empty() {
        return Err(refuse(Cause::Changed { differences }));
    }
    let inspection = inspect(root, probe, target, erase, Some(&hold));
    if !inspection.is_free() {
        return Err(inspection.refusals);
    }
    Ok(Claim { target: target.clone(), warnings: inspection.warnings, hold })
}

/// What is different about a drive since the plan was made; empty if it is the same one.
pub(crate) fn changes(root: &SystemRoot, target: &Target) -> Vec<DriveChange> {
    let there = BlockDevice::named(root, target.device.name());
    if there.is_none_or(|device| device.size_bytes() == 0) && target.fingerprint.size_bytes > 0 {
        return vec![DriveChange::Gone];
    }
    let now = Fingerprint::of(root, &target.name, &target.device);
    let mut differences = target.fingerprint.differences(&now);
    differences.extend(leads_elsewhere(root, target));
    differences
}

/// Whether the stable name leads to another device by now.
fn leads_elsewhere(root: &SystemRoot, target: &Target) -> Option<DriveChange> {
    match BlockDevice::at(root, &target.name) {
        Some(device) if device == target.device => None,
        Some(device) => Some(DriveChange::NameLeadsTo(device.name().to_owned())),
        None => Some(DriveChange::NameLeadsNowhere),
    }
}
