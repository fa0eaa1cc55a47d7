//! What a drive carries: signatures, partitions, and data that nobody signed.

use disklab_measure::SystemRoot;
use disklab_units::Bytes;

use super::target::drives_with_serial;
use super::{Cause, Hold, Probe, Signature, Surface, Target, Warning};

/// What may be on a drive that is going to be erased.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Erasable<'a> {
    /// Anything on drives with these serial numbers, nothing on others.
    Serials(&'a [String]),
    /// Anything: this run has erased the drive before.
    Own,
}

/// Looks at what a drive carries, and says what will be lost, or how blank it is.
///
/// # Errors
/// If it carries something and `erase` does not name it, or it cannot be read.
pub(crate) fn may_be_lost(
    root: &SystemRoot,
    probe: &dyn Probe,
    target: &Target,
    erase: Erasable<'_>,
    hold: &Hold,
) -> Result<Option<Warning>, Cause> {
    let found = signatures(probe, target)?;
    let Erasable::Serials(serials) = erase else { return Ok(None) };
    // A drive that carries a signature is not blank anyway.
    let surface = if found.is_empty() {
        Some(probe.surface(&target.device, hold, seed(target))?)
    } else {
        None
    };
    if let Some(blank) = surface.clone().filter(Surface::is_blank) {
        return Ok(Some(Warning::Blank { surface: blank }));
    }
    let serial = target.fingerprint.serial.clone();
    let Some(allowed) = serial.as_ref().filter(|serial| serials.contains(serial)) else {
        return Err(match surface {
            Some(surface) => Cause::NotBlank { surface, serial },
            None => Cause::Signed { found, serial },
        });
    };
    let devices = drives_with_serial(root, allowed);
    if devices.len() > 1 {
        return Err(Cause::SerialNotUnique { serial: allowed.clone(), devices });
    }
    let size = Bytes(target.fingerprint.size_bytes);
    Ok(Some(Warning::Erases { found, unsigned: surface, size }))
}

fn signatures(probe: &dyn Probe, target: &Target) -> Result<Vec<Signature>, Cause> {
    let mut found: Vec<Signature> = Vec::new();
    let mut devices = vec![target.device.clone()];
    devices.extend(target.device.partitions());
    for device in &devices {
        found.extend(probe.signatures(device)?);
        // A partition whose table is gone from the disk, but not from the kernel,
        // can still be mounted tomorrow.
        let is_left_over = device.is_partition() && device != &target.device;
        if is_left_over && !found.iter().any(|s| s.device == device.name()) {
            let (device, kind) = (device.name().to_owned(), "partition".to_owned());
            found.push(Signature { device, kind, label: None });
        }
    }
    Ok(found)
}

/// The same drive is looked at in the same places each time (FNV-1a of what tells it from
/// others), so that an answer can be repeated.
fn seed(target: &Target) -> u64 {
    let serial = target.fingerprint.serial.as_deref().unwrap_or_default();
    let bytes = serial.bytes().chain(target.fingerprint.size_bytes.to_le_bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
