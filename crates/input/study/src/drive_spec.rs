//! A drive of a study.

use std::path::Path;

use disklab_config::Setting;
use disklab_source::FileName;
use disklab_units::Bytes;

/// One drive of a study.
#[derive(Debug, Clone, PartialEq)]
pub struct DriveSpec {
    /// Its name in the study, such as `hgst-1`.
    pub name: FileName,
    /// Id of the drive model, as in `drives/*.toml`.
    pub model: String,
    /// Capacity.
    pub size: Bytes,
    /// What of the model is to be otherwise than in its file.
    pub set: Vec<Setting>,
}

/// What a drive of a model is called.
pub(crate) fn name_of_model(model: &str) -> FileName {
    FileName::new(model).unwrap_or_else(|_| {
        let stem = Path::new(model).file_stem().unwrap_or_default();
        FileName::plain(&stem.to_string_lossy(), FileName::LONGEST)
    })
}
