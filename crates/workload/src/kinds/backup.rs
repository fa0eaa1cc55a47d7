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
        ("size", "how much is backed up, such as '1 TB'; scaled"),
        ("compressed", "what compression leaves of it; scaled"),
        ("deduplicated", "what deduplication leaves of that; scaled"),
        ("copies", "how often it is backed up (default 1)"),
    ],
    read,
};

#[derive(Debug)]
struct Backup {
    size: Bytes,
    stored: Bytes,
    copies: u64,
}

fn read(spec: &WorkloadSpec, context: &Context) -> Result<Box<dyn Workload>, StudyError> {
    let mut fields = Fields::new(&spec.body, "the backup workload")?;
    fields.choice("program", &PROGRAMS)?;
    let size = fields.require_bytes("size")?;
    let mut stored = size;
    for name in ["compressed", "deduplicated"] {
        if let Some(node) = fields.take(name) {
            let less: Bytes =
                node.as_text()?.parse().map_err(|e| node.error(format!("`{name}`: {e}")))?;
            if less > stored {
                return Err(node.error(format!(
                    "`{name}`: {less} is more than the {stored} that it is made from"
                )));
            }
            stored = less;
        }
    }
    let copies = fields.integer("copies", 1..=1000)?.unwrap_or(1);
    fields.finish()?;
    let scaled = |bytes: Bytes| bytes.scaled(context.scale, Bytes::mib(1));
    Ok(Box::new(Backup { size: scaled(size), stored: scaled(stored), copies }))
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
            space: self.size + self.stored,
            content: self.size + self.stored,
            prewrite: self.size,
            sequential_read: self.size.saturating_mul(self.copies),
            sequential_write: self.stored,
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
        let body = "program = 'attic'\nsize = '1 TB'\ndeduplicated = '500 GB'\ncopies = 2";
        let workload = read("backup", body, 0.001).expect("valid");
        let reason = workload.not_yet().expect("not yet");
        assert_eq!(reason, "not yet: the backup workload comes with a later version");
        let cost = workload.cost();
        assert_eq!((cost.prewrite, cost.sequential_write), (Bytes::mib(954), Bytes::mib(477)));
        let folder = tempfile::tempdir().expect("temp");
        let error = run_in(&*workload, folder.path(), None).expect_err("does not run");
        assert_eq!(error.to_string(), reason);
    }

    #[test]
    fn its_fields_are_checked_all_the_same() {
        for (body, part) in [
            ("", "size"),
            ("size = '1 TB'\nprogram = 'brog'", "did you mean 'borg'"),
            ("size = '1 TB'\ncopies = 0", "from 1 to 1000"),
            ("size = '1 TB'\ncompressed = '2 TB'", "is more than"),
            ("size = '1 TB'\ncompressed = '1 GB'\ndeduplicated = '2 GB'", "is more than"),
            ("size = '1 TB'\ndata = 3", "unknown field 'data'"),
        ] {
            let error = read("backup", body, 1.0).expect_err(body).to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
