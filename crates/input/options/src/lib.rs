//! What a run is asked for besides its study.
//!
//! The command line fills [`RunSettings`], a run is planned from it, and its record keeps it as it
//! was typed.

mod bench;
mod bus;
mod moved;
mod origin;
mod part;
mod settings;
mod text;

pub use bench::{BenchKind, UnknownBench};
pub use bus::Bus;
pub use moved::MovedParameters;
pub use origin::RunOrigin;
pub use part::{NoRunPart, RunPart};
pub use settings::RunSettings;
