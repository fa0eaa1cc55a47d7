//! The command line of `disklab drive`.

use std::path::PathBuf;

use super::complete;
use clap::Args;
use clap_complete::ArgValueCompleter;

/// Put a drive model through its gates: what it does beside what follows from its
/// data without the model, such as IOPS at depth 1 beside one over mean seek, half a
/// turn and transfer. Takes seconds; exit code 1 where a figure is missed.
#[derive(Debug, Args)]
pub struct DriveArgs {
    /// A model (see `disklab list drives`) or a drive file; all that come with
    /// disklab if absent, which wants --pages.
    #[arg(required_unless_present = "pages", add = ArgValueCompleter::new(complete::drive))]
    pub drive: Option<String>,
    /// Draw the gates' charts into this folder, which is made where it is missing.
    #[arg(long, value_name = "DIR", requires = "drive")]
    pub svg: Option<PathBuf>,
    /// Write the drive's page, or those of all drives, into this folder: Markdown
    /// with pictures, as in docs/drives.
    #[arg(long, value_name = "DIR")]
    pub pages: Option<PathBuf>,
}
