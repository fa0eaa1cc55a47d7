//! The kinds of workloads: one file each, and one line in the table.

mod backup;
mod copy;
mod dd;
mod directory;
mod filebench;
mod fio;
mod hdparm;
mod photos;
mod postgresql;
mod rsync;
mod sqlite;
mod streams;

pub use fio::real::assume_fio;

use disklab_study::{StudyError, WorkloadSpec};

use crate::{Context, Workload, WorkloadKind};

/// All kinds, in the order of `disklab list workloads`.
pub static WORKLOADS: &[WorkloadKind] = &[
    fio::FIO,
    dd::DD,
    hdparm::HDPARM,
    copy::COPY_KIND,
    rsync::RSYNC,
    filebench::FILEBENCH,
    backup::BACKUP,
    directory::DIRECTORY,
    sqlite::SQLITE,
    postgresql::POSTGRESQL,
    photos::PHOTOS,
    streams::STREAMS,
];

/// The kind with this name.
pub fn find_workload(name: &str) -> Option<&'static WorkloadKind> {
    WORKLOADS.iter().find(|kind| kind.name == name)
}

/// Understands a workload of a study.
///
/// # Errors
/// Where its kind or a field is unknown or wrong; the error shows the place.
pub fn read_workload(
    spec: &WorkloadSpec,
    context: &Context,
) -> Result<Box<dyn Workload>, StudyError> {
    let kind = find_workload(&spec.kind)
        .ok_or_else(|| spec.body.error(format!("unknown program '{}'", spec.kind)))?;
    (kind.read)(spec, context)
}
