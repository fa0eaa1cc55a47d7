//! Backup: a program that deduplicates, fed the same data several times. Known,
//! but not yet run.

use disklab_study::{Fields, StudyError, WorkloadSpec};
use disklab_units::Bytes;

use crate::{Context, Cost, WorkSite, Workload, WorkloadError, WorkloadKind};

/// Backup programs that a study may name; Attic is Borg's ancestor.
const PROGRAMS: [(&str, ()); 3] = [("attic", ()), ("borg", ()), ("restic", ())];

pub(super) const BACKUP: WorkloadKind = WorkloadKind {
    name: "backup",
    summary: "a deduplicating backup, once and again (comes with a later version)",
    fields: &[
        ("program", "'borg' (default), 'restic' or 'attic'"),
        ("data", "how much is backed up, such as '1 TB'; scaled"),
        ("copies", "how often it is backed up (default 1)"),
    ],
    read,
};

#[derive(Debug)]
struct Backup {
    data: Bytes,
    copies: u64,
}

fn read(spec: &WorkloadSpec, context: &Context) -> Result<Box<dyn Workload>, StudyError> {
    let mut fields = Fields::new(&spec.body, "the backup workload")?;
    fields.choice("program", &PROGRAMS)?;
    let data = fields.require_bytes("data")?.scaled(context.scale, Bytes::mib(1));
    let copies = fields.integer("copies", 1..=1000)?.unwrap_or(1);
    fields.finish()?;
    Ok(Box::new(Backup { data, copies }))
}

impl Backup {
    const NOT_YET: &'static str = "not yet: the backup workload comes with a later version";
}

impl Workload for Backup {
    fn programs(&self) -> Vec<(&'static str, &'static str)> {
        Vec::new()
    }

    fn not_yet(&self) -> Option<String> {
        Some(Self::NOT_YET.to_owned())
    }

    fn cost(&self) -> Cost {
        // Later copies deduplicate against the first.
        Cost {
            space: self.data.saturating_mul(2),
            prewrite: self.data,
            sequential_read: self.data.saturating_mul(self.copies),
            sequential_write: self.data,
            ..Cost::default()
        }
    }

    fn prepare(&self, _: &mut WorkSite<'_>) -> Result<(), WorkloadError> {
        Err(WorkloadError::Other(Self::NOT_YET.to_owned()))
    }

    fn run(&self, _: &mut WorkSite<'_>) -> Result<(), WorkloadError> {
        Err(WorkloadError::Other(Self::NOT_YET.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{read, run_in};

    #[test]
    fn it_is_carried_but_does_not_run() {
        let body = "program = 'attic'\ndata = '1 TB'\ncopies = 2";
        let workload = read("backup", body, 0.001).expect("valid");
        let reason = workload.not_yet().expect("not yet");
        assert_eq!(reason, "not yet: the backup workload comes with a later version");
        assert_eq!(workload.cost().prewrite, Bytes::mib(954));
        let folder = tempfile::tempdir().expect("temp");
        let error = run_in(&*workload, folder.path(), None).expect_err("does not run");
        assert_eq!(error.to_string(), reason);
    }

    #[test]
    fn its_fields_are_checked_all_the_same() {
        for (body, part) in [
            ("", "data"),
            ("data = '1 TB'\nprogram = 'brog'", "did you mean 'borg'"),
            ("data = '1 TB'\ncopies = 0", "from 1 to 1000"),
            ("data = '1 TB'\nsize = 3", "unknown field 'size'"),
        ] {
            let error = read("backup", body, 1.0).expect_err(body).to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
