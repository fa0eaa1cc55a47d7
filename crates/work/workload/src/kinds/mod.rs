//! The kinds of workloads: one file each, and one line in the table.

mod backup;
mod copy;
mod dd;
mod directory;
mod drive_pass;
mod filebench;
mod fio;
mod hdparm;
mod large_read;
mod photos;
mod postgresql;
mod read_back;
mod rebuild;
mod rsync;
mod scrub;
mod sqlite;
mod streams;

pub use fio::jobs_in_report;

use disklab_cell::WorkloadPlan;
use disklab_source::{SourceError, did_you_mean};

use crate::{Context, Workload, WorkloadKind};

/// All kinds, in the order of `disklab list workloads`.
pub static WORKLOADS: &[WorkloadKind] = &[
    fio::FIO,
    dd::DD,
    large_read::LARGE_READ,
    hdparm::HDPARM,
    copy::COPY_KIND,
    rsync::RSYNC,
    read_back::READ_BACK,
    filebench::FILEBENCH,
    backup::BACKUP,
    directory::DIRECTORY,
    sqlite::SQLITE,
    postgresql::POSTGRESQL,
    photos::PHOTOS,
    streams::STREAMS,
    rebuild::REBUILD,
    scrub::SCRUB,
];

/// `None` if no workload is called so; see `disklab list workloads`.
pub fn find_workload(name: &str) -> Option<&'static WorkloadKind> {
    WORKLOADS.iter().find(|kind| kind.name == name)
}

/// Understands a workload of a study.
///
/// # Errors
/// Where its kind or a field is unknown or wrong; the error shows the place.
pub fn read_workload(
    spec: &WorkloadPlan,
    context: &Context,
) -> Result<Box<dyn Workload>, SourceError> {
    let kind = find_workload(&spec.kind).ok_or_else(|| {
        let near = did_you_mean(&spec.kind, WORKLOADS.iter().map(|kind| kind.name));
        let kind = &spec.kind;
        spec.body.error(format!(
            "unknown kind of workload '{kind}'{near}; `disklab list workloads` names all"
        ))
    })?;
    (kind.read)(spec, context)
}

#[cfg(test)]
mod tests {
    use disklab_cell::Caches;
    use disklab_study::{SHIPPED_WORKLOADS, read_shipped};

    use super::*;

    #[test]
    fn every_shipped_workload_can_be_run_at_any_scale() {
        for (name, text) in SHIPPED_WORKLOADS {
            let shipped = read_shipped(name, text).unwrap_or_else(|e| panic!("{e}"));
            let spec = WorkloadPlan {
                id: (*name).to_owned(),
                kind: shipped.kind,
                body: shipped.body,
                caches: Caches::Drop,
                events: None,
            };
            for scale in [1.0 / 1024.0, 1.0, 4.0] {
                let context = Context::new(scale, ".");
                let workload = read_workload(&spec, &context).unwrap_or_else(|e| panic!("{e}"));
                let cost = workload.cost();
                // What is written again and again may be kept each time.
                let written = cost.sequential_write + cost.random_write;
                let most = cost.space + written;
                assert!(cost.space.0 > 0 && cost.content <= most, "{name} {cost:?}");
            }
        }
    }

    #[test]
    fn unknown_kind_error_suggests_known_ones() {
        let error =
            crate::testing::read("filebnch", "", 1.0).expect_err("no such kind").to_string();
        assert!(error.contains("unknown kind of workload 'filebnch' (did you mean"), "{error}");
    }

    #[test]
    fn steps_of_each_kind_say_what_they_do() {
        use disklab_sample::{Durability, SyncCall, Task, TimeIn};

        use crate::testing::read;
        for (kind, body, step, task, time_in) in [
            ("copy", "size = '1G'\nfiles = 200", "cp", Some(Task::SmallFiles), TimeIn::Files),
            ("copy", "size = '1G'", "cp", Some(Task::LargeWrite), TimeIn::Both),
            ("copy", "size = '1G'", "rm", Some(Task::Delete), TimeIn::Files),
            ("rsync", "size = '1G'\nfiles = 9", "first", Some(Task::SmallFiles), TimeIn::Files),
            ("rsync", "size = '1G'\nfiles = 9", "unchanged", None, TimeIn::Files),
            ("directory", "", "stat", Some(Task::List), TimeIn::Files),
            ("directory", "", "stat-random", None, TimeIn::Files),
            ("photos", "", "browse", Some(Task::Browse), TimeIn::Files),
            ("backup", "size = '1G'", "copy-1", Some(Task::Backup), TimeIn::Both),
            ("backup", "size = '1G'", "restore", Some(Task::Restore), TimeIn::Both),
            ("sqlite", "", "commit", Some(Task::Commit), TimeIn::Writes),
            ("postgresql", "script = 'select-only'", "pgbench", Some(Task::LookUp), TimeIn::Reads),
            ("streams", "", "play", None, TimeIn::Waiting),
            ("hdparm", "", "cached", None, TimeIn::Memory),
            ("hdparm", "", "device-read", None, TimeIn::Reads),
            ("filebench", "personality = 'fileserver'", "fileserver", None, TimeIn::Files),
            ("dd", "direction = 'read'\nbs = '4k'\ncount = 9", "read", None, TimeIn::Reads),
        ] {
            let workload = read(kind, body, 1.0).unwrap_or_else(|e| panic!("{e}"));
            let profile = workload.profile(step).expect(kind);
            assert_eq!((profile.task, profile.time_in), (task, Some(time_in)), "{kind} {step}");
        }
        // A tree that was scaled down is a tree.
        let scaled = read("copy", "size = '1G'\nfiles = 200", 0.01).expect("valid");
        assert_eq!(scaled.profile("cp").and_then(|p| p.task), Some(Task::SmallFiles));
        for (body, expected) in [
            ("flags = 'dsync'", Durability::EachWrite(SyncCall::OSync)),
            ("conv = 'fdatasync'", Durability::AtEnd(SyncCall::Fdatasync)),
            ("flags = 'direct'", Durability::Nothing),
        ] {
            let body = format!("direction = 'write'\nbs = '4k'\ncount = 9\n{body}");
            let profile = read("dd", &body, 1.0).expect("valid").profile("write");
            assert_eq!(profile.and_then(|p| p.durability), Some(expected), "{body}");
        }
    }
}
