//! Options that only one bench takes: elsewhere they would be ignored, and the run be
//! another one than was asked for.

use crate::cli::CampaignArgs;
use crate::exit::Failure;
use crate::on::On;

/// Where an option applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Applies {
    Lab,
    Loop,
    Disks,
}

impl Applies {
    fn to(self, on: &On) -> bool {
        matches!(
            (self, on),
            (Self::Lab, On::Lab) | (Self::Loop, On::Loop) | (Self::Disks, On::Disks(_))
        )
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Lab => "the lab, which models drives",
            Self::Loop => "--on loop, whose drives are files",
            Self::Disks => "--on disks:…, which erases drives",
        }
    }
}

/// Refuses options that the bench would ignore.
pub fn check(args: &CampaignArgs) -> Result<(), Failure> {
    let given = [
        ("--drive-size", Applies::Loop, args.drive_size.is_some()),
        ("--memory", Applies::Lab, args.memory.is_some()),
        ("--processor", Applies::Lab, args.processor.is_some()),
        ("--bus", Applies::Lab, args.bus.is_some()),
        ("--set-drive", Applies::Lab, !args.set_drive.is_empty()),
        ("--at-once", Applies::Lab, args.at_once.is_some()),
        ("--cell-limit", Applies::Lab, args.cell_limit.is_some()),
        ("--erase", Applies::Disks, !args.erase.is_empty()),
    ];
    let on = args.on();
    match given.into_iter().find(|(_, applies, given)| *given && !applies.to(&on)) {
        None => Ok(()),
        Some((flag, applies, _)) => Err(Failure::usage_error(format!(
            "{flag} applies only to {}; the bench is '{on}'",
            applies.as_str()
        ))),
    }
}
