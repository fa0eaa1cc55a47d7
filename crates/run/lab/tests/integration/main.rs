//! Guests in the lab, with the real kernel.

mod assemble;
mod clock;
mod failing_drives;
mod guest;
mod hostile;
mod interrupts;
mod kernel_boots;
mod large_drives;
mod many_disks;
mod power_cut;
mod processor;
mod scsi;
mod support;
mod zfs;
