//! The command line of `disklab drive`.

use std::path::PathBuf;

use super::complete;
use clap::Args;
use clap_complete::ArgValueCompleter;

/// Validate a drive model against closed-form predictions, such as IOPS at depth 1 against
/// 1/(mean seek + half a revolution + transfer). Takes seconds; exit code 1 if a check fails.
#[derive(Debug, Args)]
pub struct DriveArgs {
    /// A model (see `disklab list drives`) or a drive file. [default: all shipped models, which
    /// needs --pages]
    #[arg(required_unless_present = "pages", add = ArgValueCompleter::new(complete::drive))]
    pub drive: Option<String>,
    /// Draw the checks' charts into this directory, which is created if needed.
    #[arg(long, value_name = "DIR", requires = "drive")]
    pub svg: Option<PathBuf>,
    /// Write the drive's page, or those of all drives, into this directory: Markdown with
    /// pictures, as in docs/drives.
    #[arg(long, value_name = "DIR")]
    pub pages: Option<PathBuf>,
}
