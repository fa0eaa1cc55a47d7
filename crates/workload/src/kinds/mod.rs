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

use disklab_source::SourceError;
use disklab_study::WorkloadSpec;

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
) -> Result<Box<dyn Workload>, SourceError> {
    let kind = find_workload(&spec.kind)
        .ok_or_else(|| spec.body.error(format!("unknown program '{}'", spec.kind)))?;
    (kind.read)(spec, context)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use disklab_study::{Caches, SHIPPED_WORKLOADS, read_shipped};

    use super::*;

    #[test]
    fn every_shipped_workload_can_be_run_at_any_scale() {
        for (name, text) in SHIPPED_WORKLOADS {
            let shipped = read_shipped(name, text).unwrap_or_else(|e| panic!("{e}"));
            let spec = WorkloadSpec {
                id: (*name).to_owned(),
                title: shipped.title,
                kind: shipped.kind,
                place: shipped.body.place.clone(),
                body: shipped.body,
                parameters: Default::default(),
                caches: Caches::Drop,
            };
            for scale in [1.0 / 1024.0, 1.0, 4.0] {
                let context = Context { scale, folder: PathBuf::from(".") };
                let workload = read_workload(&spec, &context).unwrap_or_else(|e| panic!("{e}"));
                let cost = workload.cost();
                // What is written again and again may be kept each time.
                let written = cost.sequential_write + cost.random_write;
                let most = cost.space + written;
                assert!(cost.space.0 > 0 && cost.content <= most, "{name} {cost:?}");
            }
        }
    }
}
