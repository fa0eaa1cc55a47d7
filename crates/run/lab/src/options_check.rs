//! Whether a lab can be made of its options.

use disklab_lab_guest::DiskTransport;

use crate::options::LabOptions;
use crate::options_problem::MOST_DISKS;
use crate::{LabError, OptionsProblem, place};

/// Checks what can be checked before anything is made.
pub(crate) fn check(options: &LabOptions) -> Result<(), LabError> {
    let bad = |problem: OptionsProblem| Err(problem.into());
    // The kernel's image alone takes some 20 MB.
    if options.memory_bytes < 64 << 20 || options.memory_bytes > 1 << 40 {
        return bad(OptionsProblem::Memory(options.memory_bytes));
    }
    if options.disks.len() > MOST_DISKS {
        return bad(OptionsProblem::Disks(options.disks.len()));
    }
    if !options.init.is_absolute() {
        return bad(OptionsProblem::InitRelative(options.init.clone()));
    }
    if !options.init.exists() {
        return bad(OptionsProblem::InitMissing(options.init.clone()));
    }
    for (name, _) in &options.shown {
        let plain = !name.is_empty() && name.len() < 40 && !name.contains(['/', '.']);
        if !plain || place::is_taken(name) {
            return bad(OptionsProblem::ShownName(name));
        }
    }
    for word in options.init_arguments.iter().chain(&options.kernel_arguments) {
        if word.is_empty() || !word.bytes().all(|b| b.is_ascii_graphic() && b != b'"') {
            return bad(OptionsProblem::KernelWord(word.clone()));
        }
    }
    let mut serials: Vec<&str> = Vec::new();
    for disk in &options.disks {
        disk.configuration()?;
        if serials.contains(&disk.serial.as_str()) {
            return bad(OptionsProblem::SerialTwice(disk.serial.clone()));
        }
        serials.push(&disk.serial);
        if disk.transport != options.disks[0].transport {
            return bad(OptionsProblem::Transports);
        }
        if disk.transport == DiskTransport::Scsi && disk.hardware_queues > 1 {
            return bad(OptionsProblem::ScsiNvme(disk.serial.clone()));
        }
    }
    Ok(())
}
