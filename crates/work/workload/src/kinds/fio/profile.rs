//! What a step of jobs does, as its sections say.

use disklab_jobfile::{Filling, IoDirection, Job, PatternPart, Sync};
use disklab_sample::{
    ContentProfile, Durability, FileSet, Order, Requests, StepProfile, SyncCall, Task, TimeIn,
};
use disklab_units::Bytes;

use super::layout::files;
use super::part::FioPart;
use super::steps::FioStep;

/// What a step does, by its name or that of a group of its sections: `a+b`. Where nothing
/// has such a name, all sections are meant. Sections that do different things have no one
/// way of working: what they do not share is left out.
pub(super) fn profile(parts: &[FioPart], steps: &[FioStep], name: &str) -> StepProfile {
    let groups = groups(parts, steps, name);
    let meant: Vec<&FioPart> = groups.iter().flatten().copied().collect();
    let writing = || meant.iter().filter(|part| part.job.pattern.access.writes);
    let (reads, writes) = shared(meant.iter().map(|part| requests(part))).unwrap_or_default();
    let set = files(meant.iter().map(|part| &part.work));
    let bytes: Bytes = set.values().copied().sum();
    let at_once = groups.iter().map(|group| {
        group.iter().fold(0_u32, |sum, part| sum.saturating_add(part.job.process.clones))
    });
    let planned: Option<Vec<u64>> = meant
        .iter()
        .map(|part| part.work.limit.is_none().then(|| part.work.operations()))
        .collect();
    StepProfile {
        reads,
        writes,
        read_share: shared(meant.iter().map(|part| part.work.read_share)),
        direct: shared(meant.iter().map(|part| part.job.opening.direct)),
        durability: shared(writing().map(|part| durability(&part.job))),
        content: shared(writing().map(|part| content(&part.job))),
        files: Some(FileSet { files: set.len() as u64, bytes: bytes.0 }),
        operations: planned.map(|all| all.into_iter().fold(0, u64::saturating_add)),
        time_in: shared(meant.iter().map(|part| time_in(part))),
        jobs: at_once.max(),
        depth: shared(meant.iter().map(|part| part.job.depth.depth)),
        paced: meant.iter().any(|part| is_paced(&part.job)),
        task: shared(meant.iter().map(|part| ages(parts, part))).flatten(),
        ..StepProfile::default()
    }
}

/// From this share of a file on that was overwritten at random, reading it is another task:
/// on a file system that writes copies, a twentieth in pieces of 8 KiB made a stream six times as slow.
const AGED: f64 = 0.05;

/// What reading a file from its beginning to its end is after sections before this one wrote
/// into it at random offsets.
fn ages(parts: &[FioPart], part: &FioPart) -> Option<Task> {
    let access = part.job.pattern.access;
    if access.random || access.writes {
        return None;
    }
    let shares_a_file = |other: &FioPart| {
        let names = || other.work.files.iter().map(|(name, _)| name);
        part.work.files.iter().any(|(name, _)| names().any(|other| other == name))
    };
    let before = parts.iter().take_while(|other| !std::ptr::eq(*other, part));
    let random = before.filter(|other| other.job.pattern.access.random && shares_a_file(other));
    let written: u64 = random.map(|other| other.work.written().0).fold(0, u64::saturating_add);
    let size: u64 = part.work.files.iter().map(|(_, size)| size.0).sum();
    (written > 0 && written as f64 >= AGED * size as f64).then_some(Task::AgedRead)
}

/// The sections that a name means, in groups that run at the same time.
fn groups<'a>(parts: &'a [FioPart], steps: &[FioStep], name: &str) -> Vec<Vec<&'a FioPart>> {
    let of_step = |step: &FioStep| -> Vec<Vec<&'a FioPart>> {
        step.groups.iter().map(|group| group.iter().map(|i| &parts[*i]).collect()).collect()
    };
    if let Some(step) = steps.iter().find(|step| step.name == name) {
        return of_step(step);
    }
    let named = |part: &&FioPart| name.split('+').any(|word| word == part.section.name());
    let apart: Vec<&FioPart> = parts.iter().filter(named).collect();
    if apart.is_empty() { steps.iter().flat_map(of_step).collect() } else { vec![apart] }
}

/// What all have in common; `None` if two differ, or there are none.
fn shared<T: PartialEq>(mut all: impl Iterator<Item = T>) -> Option<T> {
    let first = all.next()?;
    all.all(|other| other == first).then_some(first)
}

/// A section's reads and writes.
fn requests(part: &FioPart) -> (Option<Requests>, Option<Requests>) {
    let access = part.job.pattern.access;
    if part.work.only_names {
        return (None, None);
    }
    let order = if access.random { Order::Random } else { Order::Sequential };
    let of = |direction| {
        let sizes = part.job.blocks.of(direction, access.random);
        Requests { smallest: sizes.min(), largest: sizes.max(), order }
    };
    (access.reads.then(|| of(IoDirection::Read)), access.writes.then(|| of(IoDirection::Write)))
}

fn durability(job: &Job) -> Durability {
    let (opening, flushing) = (&job.opening, &job.flushing);
    let every = |writes, by| match writes {
        1 => Durability::EachWrite(by),
        _ => Durability::Every { writes, by },
    };
    match (opening.sync, flushing.fsync, flushing.fdatasync) {
        (Sync::Sync | Sync::Dsync, ..) => Durability::EachWrite(SyncCall::OSync),
        (Sync::None, 0, 0) if flushing.end_fsync || flushing.fsync_on_close => {
            Durability::AtEnd(SyncCall::Fsync)
        }
        (Sync::None, 0, 0) => Durability::Nothing,
        (Sync::None, writes, 0) => every(writes, SyncCall::Fsync),
        (Sync::None, 0, writes) => every(writes, SyncCall::Fdatasync),
        (Sync::None, fsync, fdatasync) => every(fsync.min(fdatasync), SyncCall::Fsync),
    }
}

fn content(job: &Job) -> ContentProfile {
    let zeros = |part: &PatternPart| match part {
        PatternPart::Bytes(bytes) => bytes.iter().all(|byte| *byte == 0),
        PatternPart::Offset => false,
    };
    match (&job.buffers.filling, job.buffers.compress) {
        (Filling::Zeros, _) => ContentProfile::Zeros,
        (Filling::Pattern(parts), _) if parts.iter().all(zeros) => ContentProfile::Zeros,
        (_, Some(compress)) => ContentProfile::compressible(compress.percent),
        (Filling::Pattern(_), None) => ContentProfile::Pattern,
        (Filling::Random, None) => ContentProfile::Random,
    }
}

fn time_in(part: &FioPart) -> TimeIn {
    let access = part.job.pattern.access;
    match (access.reads, access.writes) {
        _ if part.work.only_names || part.job.files.count() > 1 => TimeIn::Files,
        (true, false) => TimeIn::Reads,
        (false, true) => TimeIn::Writes,
        _ => TimeIn::Both,
    }
}

fn is_paced(job: &Job) -> bool {
    let pace = &job.pace;
    let held = |limit: &disklab_jobfile::PerDirection<Option<u64>>| {
        [IoDirection::Read, IoDirection::Write].iter().any(|d| limit.get(*d).is_some())
    };
    held(&pace.rate) || held(&pace.rate_iops) || pace.think.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::read;

    fn of(step: &str, body: &str) -> StepProfile {
        let workload = read("fio", body, 1.0).expect(body);
        workload.profile(step).expect("fio tells")
    }

    fn job(options: &str) -> StepProfile {
        of("a", &format!("job = \"\"\"\n[a]\nsize=1m\n{options}\n\"\"\""))
    }

    #[test]
    fn options_say_what_a_step_does() {
        let random = Some(Requests::of_size(4096, Order::Random));
        let direct = job("rw=randread\ndirect=1\niodepth=8\nioengine=libaio\nnumjobs=3");
        assert_eq!((direct.reads, direct.writes), (random, None));
        assert_eq!((direct.direct, direct.durability, direct.content), (Some(true), None, None));
        assert_eq!((direct.jobs, direct.depth, direct.read_share), (Some(3), Some(8), Some(1.0)));
        assert_eq!(direct.files, Some(FileSet { files: 3, bytes: 3 << 20 }));
        assert_eq!((direct.operations, direct.time_in), (Some(768), Some(TimeIn::Reads)));
        let mixed = job("rw=randrw\nrwmixread=70\nbsrange=4k-16k\nrate_iops=50\nruntime=9");
        let range = Some(Requests { smallest: 4096, largest: 16384, order: Order::Random });
        assert_eq!((mixed.reads, mixed.writes, mixed.operations), (range, range, None));
        assert!(mixed.paced && mixed.reads.and_then(|r| r.size()).is_none());
        assert_eq!(job("rw=write\nnrfiles=4").time_in, Some(TimeIn::Files));
    }

    #[test]
    fn durability_is_reported() {
        for (options, expected) in [
            ("", Durability::Nothing),
            ("sync=1", Durability::EachWrite(SyncCall::OSync)),
            ("sync=dsync\nfsync=4", Durability::EachWrite(SyncCall::OSync)),
            ("fsync=1", Durability::EachWrite(SyncCall::Fsync)),
            ("fdatasync=1", Durability::EachWrite(SyncCall::Fdatasync)),
            ("fsync=8", Durability::Every { writes: 8, by: SyncCall::Fsync }),
            ("end_fsync=1", Durability::AtEnd(SyncCall::Fsync)),
            ("fsync_on_close=1", Durability::AtEnd(SyncCall::Fsync)),
        ] {
            let durability = job(&format!("rw=write\n{options}")).durability;
            assert_eq!(durability, Some(expected), "{options}");
        }
    }

    #[test]
    fn content_is_reported() {
        for (options, expected) in [
            ("", ContentProfile::Random),
            ("zero_buffers", ContentProfile::Zeros),
            ("buffer_pattern=0x0", ContentProfile::Zeros),
            ("buffer_pattern=0x5a", ContentProfile::Pattern),
            ("buffer_compress_percentage=100", ContentProfile::Zeros),
            ("buffer_compress_percentage=40", ContentProfile::Compressible(40)),
        ] {
            let content = job(&format!("rw=write\n{options}")).content;
            assert_eq!(content, Some(expected), "{options}");
        }
    }

    #[test]
    fn a_step_of_several_sections_has_what_they_share() {
        let body = "job = \"\"\"\n[global]\nsize=1m\ndirect=1\nbs=4k\n[a]\nrw=read\n[b]\nrw=read\n\
                    bs=8k\n[c]\nstonewall\nrw=write\nsync=1\n\"\"\"";
        let together = of("a+b", body);
        assert_eq!((together.reads, together.direct), (None, Some(true)));
        assert_eq!((together.jobs, together.time_in), (Some(2), Some(TimeIn::Reads)));
        assert_eq!(of("b", body).reads, Some(Requests::of_size(8192, Order::Sequential)));
        let whole = of("whole", body);
        assert_eq!((whole.reads, whole.time_in, whole.jobs), (None, None, Some(2)));
        assert_eq!(whole.durability, Some(Durability::EachWrite(SyncCall::OSync)));
    }

    #[test]
    fn reading_what_was_overwritten_at_random_is_a_task_of_its_own() {
        let task = |before: &str, read: &str| {
            let body = format!(
                "job = \"\"\"\n[global]\nfilename=f\nsize=64m\noverwrite=1\n[a]\n{before}\n\
                 [b]\nstonewall\nbs=1m\n{read}\n\"\"\""
            );
            of("b", &body).task
        };
        assert_eq!(task("rw=randwrite\nio_size=4m", "rw=read"), Some(Task::AgedRead));
        assert_eq!(task("rw=randrw\nio_size=16m", "rw=read"), Some(Task::AgedRead));
        for (before, read) in [
            ("rw=write", "rw=read"),
            ("rw=randread", "rw=read"),
            ("rw=randwrite\nio_size=1m", "rw=read"),
            ("rw=randwrite\nfilename=g", "rw=read"),
            ("rw=randwrite", "rw=randread"),
            ("rw=randwrite", "rw=rw"),
        ] {
            assert_eq!(task(before, read), None, "{before}, {read}");
        }
    }

    #[test]
    fn a_job_in_its_own_file_has_the_same_profile() {
        let directory = tempfile::tempdir().expect("temp");
        let text = "[a]\nsize=1m\nrw=write\ndirect=1\nzero_buffers\n";
        std::fs::write(directory.path().join("a.fio"), text).expect("written");
        let read = crate::testing::read_in("fio", "job-file = 'a.fio'", 1.0, directory.path());
        let profile = read.expect("valid").profile("a");
        assert_eq!(profile, Some(of("a", &format!("job = \"\"\"\n{text}\"\"\""))));
        assert!(profile.is_some_and(|profile| profile.is_direct() && profile.writes_zeros()));
    }
}
