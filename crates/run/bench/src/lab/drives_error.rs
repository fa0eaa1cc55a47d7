//! Why the lab cannot have the drives of a study.

use disklab_drive::SizeError;
use disklab_source::SourceError;
use disklab_units::Bytes;

use super::model_error::ModelError;

/// Why the lab cannot have a study's drives.
#[derive(Debug, thiserror::Error)]
pub enum DrivesError {
    /// A drive has no model.
    #[error("drive '{drive}' of the study: {source}")]
    Model {
        /// The name that the study gives it.
        drive: String,
        /// Why.
        source: Box<ModelError>,
    },
    /// A drive has another size than its model can have.
    #[error("drive '{drive}' of the study: {source}")]
    Size {
        /// The name that the study gives it.
        drive: String,
        /// Why.
        source: UnavailableSize,
    },
    /// A drive has no SCSI timer.
    #[error(
        "drive '{drive}' of the study is an NVMe drive, and `scsi-timeout` is for SATA and SAS drives"
    )]
    NotScsi {
        /// The name that the study gives it.
        drive: String,
    },
    /// A setting, or the host that the study describes, is wrong.
    #[error(transparent)]
    Invalid(#[from] SourceError),
}

/// A model does not come in a size.
#[derive(Debug, thiserror::Error)]
#[error("size {} is not available of the model '{model}' of {}: {why}", size.si(), capacity.si())]
pub struct UnavailableSize {
    /// What was asked for.
    pub size: Bytes,
    /// Id of the drive model.
    pub model: String,
    /// Its own size.
    pub capacity: Bytes,
    /// Which other sizes there are.
    #[source]
    pub why: Box<SizeError>,
}

impl DrivesError {
    pub(super) fn model(drive: &str, source: ModelError) -> Self {
        Self::Model { drive: drive.to_owned(), source: Box::new(source) }
    }

    pub(super) fn size(drive: &str, source: UnavailableSize) -> Self {
        Self::Size { drive: drive.to_owned(), source }
    }
}
