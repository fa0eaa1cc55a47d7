//! Figures as text, in the one place that knows units and digits: sentences and pages take them
//! from here.

mod measure_name;
mod ratio;
mod unit;

pub use measure_name::measure_heading;
pub(crate) use measure_name::measure_in_sentence;
pub(crate) use ratio::{Distance, per_cent, per_cents, ratio};
pub use ratio::{confidence_level, range, times, times_range};
pub use unit::{Quantity, Unit, show_figure};
pub(crate) use unit::{plain_value, value};
