//! One parameter of one drive model at an end of its range.

use std::path::Path;

use disklab_bench::{DrivesError, ModelledDrives};
use disklab_config::ModelSetting;
use disklab_drive::DriveFile;
use disklab_published::{Moved, RowComparison};
use disklab_source::FileName;
use disklab_study::Study;
use serde::{Deserialize, Serialize};

/// A parameter at an end of its range.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variation {
    /// The drive model's id.
    pub drive: String,
    /// The parameter with its table.
    pub field: String,
    /// Its value in the drive's file.
    pub own: String,
    /// Its value here.
    pub value: String,
}

impl Variation {
    /// `hdn721010ale604: seek.full 16 ms → 15 ms`.
    pub fn words(&self) -> String {
        format!("{}: {} {} → {}", self.drive, self.field, self.own, self.value)
    }

    /// What `--set-drive` takes.
    pub fn setting(&self) -> String {
        format!("{}:{}={}", self.drive, self.field, self.value)
    }

    /// The name of the run's directory, one component of a path.
    pub fn directory(&self) -> String {
        let plain = |text: &str| -> String {
            text.chars().filter(|c| c.is_ascii_alphanumeric() || "-._".contains(*c)).collect()
        };
        let name =
            format!("{}--{}--{}", plain(&self.drive), plain(&self.field), plain(&self.value));
        FileName::plain(&name, FileName::LONGEST).into()
    }

    /// What came of it.
    pub fn moved(&self, comparison: RowComparison) -> Moved {
        let Self { drive, field, own, value } = self.clone();
        Moved { drive, field, own, value, comparison }
    }
}

/// The models of the study's drives, by their index, with these values set.
pub(super) fn models(
    study: &Study,
    directory: &Path,
    set: &[String],
) -> Result<Vec<DriveFile>, DrivesError> {
    let set = set.iter().map(|text| ModelSetting::parse("--set-drive", text));
    let set = set.collect::<Result<Vec<_>, _>>()?;
    let drives = ModelledDrives::new(study, directory, &set)?;
    Ok(drives.models().cloned().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_have_plain_names() {
        let variation = Variation {
            drive: "hdn721010ale604".to_owned(),
            field: "cache.dirty-limit".to_owned(),
            own: "128 MiB".to_owned(),
            value: "../32 MiB".to_owned(),
        };
        assert_eq!(variation.directory(), "hdn721010ale604--cache.dirty-limit--..32MiB");
        assert_eq!(variation.words(), "hdn721010ale604: cache.dirty-limit 128 MiB → ../32 MiB");
    }
}
