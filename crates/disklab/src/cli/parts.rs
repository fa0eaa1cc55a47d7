//! The options of `disklab run` for runs in parts.

use std::path::PathBuf;

use clap::Args;
use disklab_runner::PartOptions;

/// A run in parts that any engine can place, and one of them.
#[derive(Debug, Args)]
pub struct PartArgs {
    /// Divide the run into N parts of about the same length, and write them into --to. Each is
    /// carried out by --part on any machine, and `disklab merge` makes the run of them.
    #[arg(long, value_name = "N", requires = "to", conflicts_with_all = ["out", "resume", "yes"],
          value_parser = clap::value_parser!(u32).range(1..=1_000_000), help_heading = "Parts")]
    pub parts: Option<u32>,
    /// Directory for the parts, new or empty.
    #[arg(long, value_name = "DIR", requires = "parts", help_heading = "Parts")]
    pub to: Option<PathBuf>,
    /// Carry out this part, and record it in --out. The same command resumes it; if all is
    /// done, it does nothing.
    #[arg(long, value_name = "FILE", requires = "out", conflicts_with_all = [
        "study", "resume", "parts", "only", "without", "quick", "scale", "on", "repeats", "seed",
        "drives", "linux", "memory", "processor", "bus", "set_drive", "cell_limit", "drive_size",
        "erase", "yes", "goal", "precision", "budget",
    ], help_heading = "Parts")]
    pub part: Option<PathBuf>,
    /// --part is the directory of all parts: take the one with this number, from 1, and record it
    /// in a directory of its name in --out. Without a number, the index that the engine gives the
    /// task: SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX (Kubernetes), CI_NODE_INDEX (GitLab) and
    /// their like.
    #[arg(long, value_name = "N", num_args = 0..=1, requires = "part", help_heading = "Parts")]
    pub part_index: Option<Option<u32>>,
}

impl super::RunArgs {
    /// How a part is carried out.
    pub fn part_options(&self) -> PartOptions {
        PartOptions {
            scratch: self.campaign.scratch.clone(),
            kernel: self.campaign.lab.kernel.clone(),
            at_once: self.campaign.lab.at_once,
            retry_failed: self.retry_failed,
        }
    }
}
