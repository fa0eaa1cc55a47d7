//! The options of whatever runs or plans cells of a study.

use std::path::PathBuf;

use clap::Args;
use disklab_cell::StudyAxis;
use disklab_runner::{BenchKind, RebuildRequest, RunOptions, RunSettings, ScrubRequest};

use super::bench::{DiskArgs, LabArgs, LoopArgs};
use super::option_value_error::OptionValueError;

/// What a campaign is, for `run`, `plan` and `sensitivity` alike.
#[derive(Debug, Clone, Args)]
pub struct StudyArgs {
    /// Run only cells whose STACK:WORKLOAD matches, such as 'raid5/*:dd-*'; without a
    /// ':', whose stack or workload matches. Repeatable.
    #[arg(long, value_name = "PATTERN", help_heading = "What")]
    pub only: Vec<String>,
    /// Run each cell at each of these levels, such as memory=1GiB,8GiB (see `disklab list axes`),
    /// in place of the study's own levels. Answers are about the first; the report says what the
    /// others change. Repeatable.
    #[arg(long, value_name = "AXIS=LEVEL,…", help_heading = "What")]
    pub axis: Vec<StudyAxis>,
    /// Skip cells that match, as for --only. Repeatable.
    #[arg(long, value_name = "PATTERN", help_heading = "What")]
    pub without: Vec<String>,
    /// Run the quick form of the study: the smaller sizes and fewer operations of its table
    /// [quick], which still give its answers.
    #[arg(long, conflicts_with = "scale", help_heading = "What")]
    pub quick: bool,
    /// Scale all file sizes by this: 1/16, 0.25, 2. [default: 1]
    #[arg(
        long,
        value_name = "FACTOR",
        value_parser = parse_scale,
        allow_hyphen_values = true,
        help_heading = "What"
    )]
    pub scale: Option<f64>,
    /// Where to run: lab (modelled drives under a real kernel, in virtual time; no
    /// root), loop (files of this machine as disks), dir:PATH (a mounted directory;
    /// only files are made), disks:/dev/disk/by-id/…,… (real disks, erased).
    /// [default: lab]
    #[arg(long, value_name = "BENCH", help_heading = "Where")]
    pub on: Option<BenchKind>,
    /// Directory below which the run creates one of its own, for large files and mount
    /// points. [default: the run's directory]
    #[arg(long, value_name = "DIR", help_heading = "Where")]
    pub scratch: Option<PathBuf>,
    /// Repeats per cell. [default: the study's]
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=1000),
        help_heading = "How often"
    )]
    pub repeats: Option<u32>,
    /// Seed of everything random, including the cell order. [default: random]
    #[arg(long, value_name = "SEED", value_parser = parse_seed, help_heading = "How often")]
    pub seed: Option<u64>,
    #[command(flatten)]
    pub lab: LabArgs,
    #[command(flatten)]
    pub loop_devices: LoopArgs,
    #[command(flatten)]
    pub disks: DiskArgs,
    /// Which drive fails, for `rebuild`.
    #[arg(skip)]
    pub rebuild: Option<RebuildRequest>,
    /// What works meanwhile, for `scrub`.
    #[arg(skip)]
    pub scrub: Option<ScrubRequest>,
}

impl StudyArgs {
    /// The same without the command line.
    pub fn options(&self) -> RunOptions {
        RunOptions {
            bench: self.on.clone(),
            repeats: self.repeats,
            seed: self.seed,
            scale: self.scale,
            drives: self.lab.drives(),
            linux: self.lab.linux,
            at_once: self.lab.at_once,
            erase: self.disks.erase.clone(),
            settings: RunSettings {
                axis: self.axis.clone(),
                bus: self.lab.bus,
                cell_limit: self.lab.cell_limit,
                drive_size: self.loop_devices.drive_size,
                fault: self.lab.fault.clone(),
                kernel: self.lab.kernel.clone(),
                memory: self.lab.memory,
                only: self.only.clone(),
                processor: self.lab.processor.clone(),
                quick: self.quick,
                rebuild: self.rebuild.clone(),
                scratch: self.scratch.clone(),
                scrub: self.scrub.clone(),
                set_drive: self.lab.set_drive.clone(),
                without: self.without.clone(),
                ..RunSettings::default()
            },
        }
    }
}

fn parse_seed(text: &str) -> Result<u64, OptionValueError> {
    text.trim().parse().map_err(|_| OptionValueError::Seed)
}

fn parse_scale(text: &str) -> Result<f64, OptionValueError> {
    let value = match text.split_once('/') {
        Some((top, bottom)) => top
            .trim()
            .parse::<f64>()
            .ok()
            .zip(bottom.trim().parse::<f64>().ok())
            .map(|(top, bottom)| top / bottom),
        None => text.trim().parse().ok(),
    };
    value.filter(|v| v.is_finite() && *v > 0.0 && *v <= 1000.0).ok_or(OptionValueError::Scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales() {
        assert_eq!(parse_scale("1/16"), Ok(0.0625));
        assert_eq!(parse_scale("2"), Ok(2.0));
        for text in ["0", "-1", "1/0", "x", "1/", "nan", "inf", "1e9"] {
            assert_eq!(parse_scale(text), Err(OptionValueError::Scale), "{text}");
        }
    }
}
