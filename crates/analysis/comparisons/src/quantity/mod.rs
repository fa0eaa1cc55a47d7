//! Figures as text, in the one place that knows units and digits: sentences and pages take them
//! from here.

mod ratio;
mod unit;

pub use ratio::{Distance, confidence_level, range, ratio, times, times_range};
pub use unit::{Quantity, Unit, plain_value, show_figure, value};
