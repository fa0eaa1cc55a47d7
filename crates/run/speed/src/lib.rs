//! How fast the lab is on this machine.
//!
//! [`measure()`] boots guests whose first program is [`carry_out_in_guest`], and
//! times what they do against the [`round_trip()`], a unit that moves with the
//! machine and its noise. [`against()`] compares two programs.

mod against;
mod drive;
mod engine;
mod figure;
mod guest_error;
mod guests;
mod job;
mod measure;
mod memory_copies;
mod options;
mod raid;
mod raw_disk;
mod round_trip;
mod side_by_side;

pub use against::{AgainstError, AgainstOptions, AnswerProblem, Compared, Program, against};
pub use figure::{SpeedFigure, SpeedTarget};
pub use guest_error::GuestWorkError;
pub use job::{SPEED_JOB, carry_out_in_guest};
pub use measure::measure;
pub use options::SpeedOptions;
pub use round_trip::round_trip;
