//! Whether a drive is free.

use disklab_measure::{SystemRoot, mounts};

use super::content::{Erasable, may_be_lost};
use super::target::{name_lacks_serial, other_paths};
use super::usage::uses;
use super::{Cause, Hold, InspectionError, Probe, Refusal, Target, Warning};

/// What is known of a drive before it is written to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Inspection {
    /// Why it must not be written to; empty where it is free.
    pub refusals: Vec<Refusal>,
    /// Notes for the plan.
    pub warnings: Vec<Warning>,
}

impl Inspection {
    /// Whether it may be written to.
    pub fn is_free(&self) -> bool {
        self.refusals.is_empty()
    }
}

/// Finds out whether a drive is free: not mounted, no swap, nothing built on
/// it, no part of a mounted Btrfs, nobody has it open, no signature on it, and blank
/// all over as far as a sample shows, unless `erase` names it by its very serial number.
/// Nothing is written.
///
/// All that can be found is collected, so that the user learns it at once.
pub fn check(
    root: &SystemRoot,
    probe: &dyn Probe,
    target: &Target,
    erase: &[String],
) -> Inspection {
    inspect(root, probe, target, Erasable::Serials(erase), None)
}

/// As [`check`], where the caller holds the device already.
pub(crate) fn inspect(
    root: &SystemRoot,
    probe: &dyn Probe,
    target: &Target,
    erase: Erasable<'_>,
    held: Option<&Hold>,
) -> Inspection {
    let mut causes = Vec::new();
    let mut warnings = Vec::new();
    let device = &target.device;
    if device.attribute("ro").as_deref() != Some("0") {
        causes.push(Cause::ReadOnly);
    }
    if device.size_bytes() == 0 {
        causes.push(Cause::Empty);
    }
    if device.attribute("removable").as_deref() == Some("1") {
        warnings.push(Warning::Removable);
    }
    if let Some(serial) = name_lacks_serial(target) {
        warnings.push(Warning::OtherName { serial: serial.to_owned() });
    }
    let mounts = mounts(root);
    if mounts.is_empty() {
        causes.push(InspectionError::NoMounts.into());
    }
    causes.extend(uses(root, &mounts, device));
    let whole = Target::new(root, &target.name, device.whole());
    for path in other_paths(root, &whole) {
        if !uses(root, &mounts, &path).is_empty() {
            causes.push(Cause::OtherPath { device: path.name().to_owned() });
        }
    }
    // The two questions to the drive itself come last, and only where nothing
    // else speaks against it: a drive in use is left in peace.
    if causes.is_empty() {
        let look = |hold: &Hold| may_be_lost(root, probe, target, erase, hold);
        let looked = match held {
            Some(hold) => look(hold),
            None => match probe.open_exclusively(device, false) {
                Ok(hold) => look(&hold),
                Err(error) => Err(error.into()),
            },
        };
        match looked {
            Ok(warning) => warnings.extend(warning),
            Err(cause) => causes.push(cause),
        }
    }
    Inspection { refusals: causes.into_iter().map(|c| target.refuse(c)).collect(), warnings }
}
