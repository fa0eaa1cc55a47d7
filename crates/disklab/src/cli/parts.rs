//! The options of `disklab run` for runs in parts.

use std::path::PathBuf;

use clap::Args;

use crate::commands::submit::Slurm;

/// A run that is divided into parts before it begins.
#[derive(Debug, Default, Args)]
#[command(group = clap::ArgGroup::new("divided").args(["to", "submit"]))]
pub struct DivisionArgs {
    /// Divide the run into parts of about the same length, and write them into this directory, new
    /// or empty. Each is carried out by `disklab run --part` on any machine, and `disklab merge`
    /// makes the run of them. With --goal or --precision: up to the first look; merge --next writes
    /// those up to the next.
    #[arg(long, value_name = "DIR", conflicts_with = "out", help_heading = "Parts")]
    pub to: Option<PathBuf>,
    /// With --to or --submit: how many parts. [default: of about ten minutes each, up to 1000]
    #[arg(long, value_name = "N", requires = "divided",
          value_parser = clap::value_parser!(u32).range(1..=1_000_000), help_heading = "Parts")]
    pub parts: Option<u32>,
    /// Have Slurm carry the run out: 'slurm', or with options of sbatch
    /// 'slurm:partition=long,account=a,time=2:00:00'. --out must be a directory that all nodes see.
    /// Ctrl-C leaves the jobs running.
    #[arg(long, value_name = "ENGINE", conflicts_with = "to", help_heading = "Parts")]
    pub submit: Option<Slurm>,
}

/// A run in parts that any engine can place, and one of them.
#[derive(Debug, Default, Args)]
pub struct PartArgs {
    #[command(flatten)]
    pub division: DivisionArgs,
    /// Carry out this part, and record it in --out. The same command resumes it; if all is
    /// done, it does nothing.
    #[arg(long, value_name = "FILE", requires = "out", conflicts_with_all = [
        "study", "resume", "divided", "parts", "only", "without", "quick", "scale", "on", "repeats", "seed",
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
    /// Come back to the run in --out that --submit began, and submit again what is left if its jobs
    /// have ended.
    #[arg(long, requires = "out", conflicts_with_all = ["study", "divided", "part", "resume"],
          help_heading = "Parts")]
    pub attach: bool,
}
