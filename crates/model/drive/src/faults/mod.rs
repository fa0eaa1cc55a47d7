//! What goes wrong with a drive.
//!
//! [`DriveFaults`] is between the requests to a drive and its model. It says which of them fail,
//! which end later, and what becomes of their data; the model beneath does not know of it.

mod area;
mod clauses;
mod drive_faults;
mod effect;
mod kinds;
mod numbers;
mod read;

pub use clauses::{FAULT_CLAUSES, FaultKind, InvalidFault};
pub use drive_faults::{DrawRequest, DriveFault, DriveFaults, FaultRecord, Start};
pub use effect::{DrawFrom, FaultDraw, WrittenTo};
pub use kinds::FAULTS;
