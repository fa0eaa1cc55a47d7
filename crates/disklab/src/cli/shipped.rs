//! The command line of `disklab shipped`.

use std::path::PathBuf;

use clap::Args;

/// Show a run that comes with disklab: an answer at once, before anything is measured here.
/// Needs neither the lab's kernel nor root.
#[derive(Debug, Args)]
pub struct ShippedArgs {
    /// The study.
    #[arg(default_value = "first-look")]
    pub study: String,
    /// Directory for the run and its report; a new one below ./disklab-runs if omitted.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Say whether this run of the same study gave the same figures, to the digit; if not,
    /// what differs. Of several that come with disklab, the one made with the most similar
    /// programs and kernel is taken.
    #[arg(long, value_name = "RUN", conflicts_with = "out")]
    pub against: Option<PathBuf>,
    /// Write the file of this run, which then comes with disklab.
    #[arg(long, value_name = "RUN", conflicts_with = "against", hide = true)]
    pub record: Option<PathBuf>,
}
