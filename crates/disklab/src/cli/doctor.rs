//! What `disklab doctor` is told.

use clap::Args;
use disklab_stack::LedgerId;

/// Check what this machine can do, what is missing and how to get it; tear down what
/// a killed run left behind. Anything that holds something the run did not make is left
/// alone and listed with an ID, for you to decide.
#[derive(Debug, Clone, Args)]
pub struct DoctorArgs {
    /// Remove all that the run with this ID left, with whatever is on or in it.
    #[arg(long, value_name = "ID", conflicts_with = "keep")]
    pub discard: Option<LedgerId>,
    /// Leave what the run with this ID left where it is, and forget it.
    #[arg(long, value_name = "ID")]
    pub keep: Option<LedgerId>,
}
