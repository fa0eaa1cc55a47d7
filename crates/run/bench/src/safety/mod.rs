//! What keeps disklab from writing to a drive that it must not write to.
//!
//! A name on the command line becomes a [`Target`] by [`resolve`], which takes
//! stable names of whole drives only. [`check`] finds out whether the drive is
//! free, for the plan. [`claim()`] asks again, with the device held exclusively,
//! just before the first write. A [`Pin`] keeps the drive's number and name its own until
//! the first layer is made. What needs the real kernel goes through a
//! [`Probe`], so that all rules can be tested on machines that do not exist.

mod claim;
mod content;
mod drive_change;
mod erase;
mod family;
mod fingerprint;
mod inspect;
mod inspection_error;
mod losses;
mod openers;
mod pin;
mod probe;
mod refusal;
mod signature;
mod surface;
mod target;
mod usage;

#[cfg(test)]
mod loop_tests;
#[cfg(test)]
mod tests;

pub use claim::{Claim, claim, reclaim};
pub use drive_change::{DriveChange, DriveLoss};
pub use fingerprint::Fingerprint;
pub use inspect::{Inspection, check};
pub use inspection_error::InspectionError;
pub use losses::losses;
pub use pin::Pin;
pub use probe::{Hold, KernelProbe, OpenError, Probe};
pub use refusal::{Cause, Refusal, Warning};
pub use signature::Signature;
pub use surface::Surface;
pub use target::{Target, resolve, stable_names};
