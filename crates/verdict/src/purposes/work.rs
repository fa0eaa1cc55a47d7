//! What kind of work a figure shows.

use disklab_sample::Direction;
use disklab_study::{Study, WorkloadSpec};
use disklab_units::Bytes;

use crate::GroupKey;
use crate::nature::{Nature, field, fio_option};

/// Requests up to this size are small: above it a disk's transfer takes as long as its
/// positioning.
const SMALL: u64 = 128 << 10;
/// From this size on a request is part of a stream.
const LARGE: u64 = 256 << 10;

/// Work that a purpose may ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Large files or blocks read in order.
    LargeRead,
    /// The same, written.
    LargeWrite,
    /// Small reads at random places.
    RandomRead,
    /// Small writes at random places, not each made safe.
    RandomWrite,
    /// Small writes, each made safe.
    SafeWrite,
    /// Trees of small files copied.
    SmallFiles,
    /// Entries of a folder made.
    Create,
    /// A folder listed and looked at.
    List,
    /// Files deleted.
    Delete,
    /// Photos brought in.
    PhotoImport,
    /// Photos leafed through.
    Browse,
    /// A backup program writing.
    Backup,
    /// A backup program giving back.
    Restore,
    /// A database's commits.
    Commit,
    /// A database's look-ups.
    LookUp,
}

/// The kind of a figure; none where it is nothing that a purpose asks for, or not known.
pub(super) fn kind(study: &Study, key: &GroupKey) -> Option<Kind> {
    let spec = study.workloads.iter().find(|w| w.id == key.workload)?;
    let step = key.step.as_str();
    match (spec.kind.as_str(), step) {
        ("fio" | "dd", _) => of_requests(spec, key),
        ("hdparm", "buffered") => Some(Kind::LargeRead),
        ("copy", _) => match key.direction {
            Direction::Copy => Some(copied(spec)),
            Direction::Remove => Some(Kind::Delete),
            _ => None,
        },
        ("rsync", "first") => Some(Kind::SmallFiles),
        ("directory", "create") => Some(Kind::Create),
        ("directory", "list" | "stat") => Some(Kind::List),
        ("directory", "delete") => Some(Kind::Delete),
        ("photos", "import") => Some(Kind::PhotoImport),
        ("photos", "browse") => Some(Kind::Browse),
        ("backup", "restore") => Some(Kind::Restore),
        ("backup", "check") => None,
        ("backup", _) => Some(Kind::Backup),
        ("sqlite", "commit") => Some(Kind::Commit),
        ("sqlite", "look-up") => Some(Kind::LookUp),
        ("postgresql", _) if key.direction != Direction::Read => Some(Kind::Commit),
        ("postgresql", _) => Some(Kind::LookUp),
        _ => None,
    }
}

/// Whether a sync of its own follows each write: then the write's own time is not that
/// until it is durable.
pub(super) fn is_synced_apart(study: &Study, key: &GroupKey) -> bool {
    let spec = study.workloads.iter().find(|w| w.id == key.workload && w.kind == "fio");
    spec.is_some_and(|spec| {
        let option = |name: &str| fio_option(&spec.body, &key.step, name);
        ["fsync", "fdatasync"].iter().any(|name| option(name).as_deref() == Some("1"))
    })
}

/// A copy of few large files is a stream.
fn copied(spec: &WorkloadSpec) -> Kind {
    let files = field(&spec.body, "files").and_then(|n| n.parse::<u64>().ok()).unwrap_or(1);
    if files >= 100 { Kind::SmallFiles } else { Kind::LargeWrite }
}

fn of_requests(spec: &WorkloadSpec, key: &GroupKey) -> Option<Kind> {
    let body = &spec.body;
    let fio = |name: &str| fio_option(body, &key.step, name);
    let (size, random, each_safe) = if spec.kind == "dd" {
        let flags = field(body, "flags").unwrap_or_default();
        (field(body, "bs").unwrap_or_else(|| "512".to_owned()), false, flags.contains("sync"))
    } else {
        // Several jobs that do different things have no one way of working.
        let order = fio("rw").or_else(|| fio("readwrite"))?;
        let many = fio("nrfiles").and_then(|n| n.parse::<u64>().ok()).is_some_and(|n| n > 1);
        if many {
            return None;
        }
        let range = fio("bsrange").or_else(|| fio("blocksize_range"));
        let size = range.or_else(|| fio("bs")).or_else(|| fio("blocksize"));
        let each = ["fsync", "fdatasync"].iter().any(|n| fio(n).as_deref() == Some("1"));
        let sync = fio("sync").is_some_and(|s| !matches!(s.as_str(), "0" | "none" | "false"));
        (size.unwrap_or_else(|| "4k".to_owned()), order.starts_with("rand"), each || sync)
    };
    if Nature::of(spec, &key.step).zeros && spec.kind == "fio" {
        return None;
    }
    let size: Bytes = size.split('-').next()?.parse().ok()?;
    match (key.direction, random) {
        (Direction::Write, _) if each_safe && size.0 <= SMALL => Some(Kind::SafeWrite),
        (Direction::Read, true) if size.0 <= SMALL => Some(Kind::RandomRead),
        (Direction::Write, true) if size.0 <= SMALL => Some(Kind::RandomWrite),
        (Direction::Read, false) if size.0 >= LARGE => Some(Kind::LargeRead),
        (Direction::Write, false) if size.0 >= LARGE && !each_safe => Some(Kind::LargeWrite),
        _ => None,
    }
}
