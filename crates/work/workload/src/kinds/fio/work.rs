//! What a section will do: its files, its bytes, its time.

use std::collections::HashMap;

use disklab_jobfile::{Filling, Job, RandomMap, Section};
use disklab_source::SourceError;
use disklab_units::Bytes;

/// More files than this are refused: a study means a tree then, which `copy` has.
pub(super) const MOST_FILES: u64 = 1_000_000;

/// What a section will do.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FioWork {
    /// Whether it writes.
    pub writes: bool,
    /// Whether its offsets are random.
    pub random: bool,
    /// Share of reads, 0 to 1.
    pub read_share: f64,
    /// Largest block.
    pub block: Bytes,
    /// Bytes that all clones read and write, if no time limit ends it earlier.
    pub bytes: Bytes,
    /// The files it uses and how large they will be.
    pub files: Vec<(String, Bytes)>,
    /// Whether the files have to be there: it reads or overwrites them.
    pub needs_files: bool,
    /// Time limit in seconds, warming up included.
    pub limit: Option<f64>,
    /// Whether it repeats until the limit, however often it has done all.
    pub time_based: bool,
    /// What all clones write at most in that time, where they are held to a rate
    /// (`rate`, `rate_iops`) and continue until the limit.
    pub paced: Option<Bytes>,
    /// After how many writes it waits for the disk.
    pub sync_every: Option<u64>,
    /// Whether an `fsync` or `fdatasync` of its own follows each write: then a write is
    /// durable only when that has ended.
    pub commits_each: bool,
    /// Whether it writes the same random buffer again and again.
    pub same_buffer: bool,
    /// Whether each block that it writes is another than those before, be it by a few
    /// bytes: a store that keeps the same once keeps each of them.
    pub fresh: bool,
    /// Whether what it writes is a pattern or zeros, which nobody need keep.
    pub repeats: bool,
    /// Whether it only makes, looks up or removes files, one per operation. fio
    /// reports a block for each, which nobody moved.
    pub only_names: bool,
}

/// The files of all clones, each with its largest size.
fn files(job: &Job) -> Vec<(String, Bytes)> {
    let mut files: Vec<(String, Bytes)> = Vec::new();
    let mut known = HashMap::new();
    for clone in 0..job.process.clones {
        // Sizes that are drawn are taken at their largest.
        for file in largest(job).of(clone, 0) {
            let size = Bytes(file.extent.end());
            match known.get(&file.name) {
                Some(&at) => {
                    let (_, largest): &mut (_, Bytes) = &mut files[at];
                    // Clones append one behind the other.
                    *largest = match job.opening.append {
                        true => Bytes(largest.0.saturating_add(file.extent.length)),
                        false => size.max(*largest),
                    };
                }
                None => {
                    known.insert(file.name.clone(), files.len());
                    files.push((file.name, size));
                }
            }
        }
    }
    files
}

impl FioWork {
    /// What a job will do. `section` is what it was read from.
    ///
    /// # Errors
    /// Where it has more files than a study may have.
    pub fn of(section: &Section, job: &Job) -> Result<Self, SourceError> {
        let clones = u64::from(job.process.clones);
        if clones.saturating_mul(job.files.count()) > MOST_FILES {
            return Err(section.place().error(format!(
                "this job has more than {MOST_FILES} files or processes (numjobs × nrfiles)"
            )));
        }
        let access = job.pattern.access;
        // Engines that only fio has, and that move no data.
        let engine = section.get("ioengine").unwrap_or_default();
        let only_names = matches!(engine, "filecreate" | "filedelete" | "filestat");
        let block = Bytes(job.blocks.max());
        let most = job.length.number_ios.map(|n| block.saturating_mul(n));
        let each = Bytes(job.length.io_size);
        let all = most.map_or(each, |most| most.min(each)).saturating_mul(job.length.loops);
        // What is appended is gone through once, where a map tells what was gone through.
        let has_map = !access.random || job.pattern.map != RandomMap::None;
        let once = job.opening.append && has_map;
        let each = if once { all.min(Bytes(job.length.size)) } else { all };
        let ramp = job.timing.ramp.as_secs_f64();
        Ok(Self {
            writes: access.writes,
            random: access.random,
            read_share: f64::from(job.pattern.read_percent) / 100.0,
            block,
            bytes: if only_names { Bytes::ZERO } else { each.saturating_mul(clones) },
            files: files(job),
            needs_files: engine != "filecreate" && (access.reads || job.opening.overwrite),
            limit: job.timing.runtime.map(|limit| limit.as_secs_f64() + ramp),
            time_based: job.timing.time_based && !once,
            paced: paced(job).filter(|_| access.writes && !only_names),
            sync_every: sync_every(job),
            commits_each: access.writes && (job.flushing.fsync == 1 || job.flushing.fdatasync == 1),
            same_buffer: access.writes
                && !job.buffers.refill
                && job.buffers.filling == Filling::Random
                && job.buffers.compress.is_none()
                && job.buffers.dedupe.is_none(),
            fresh: access.writes
                && (job.buffers.refill || job.buffers.scramble || job.buffers.compress.is_some()),
            repeats: job.buffers.filling != Filling::Random && job.buffers.compress.is_none(),
            only_names,
        })
    }

    /// Bytes that it reads, if no time limit ends it earlier.
    pub fn read(&self) -> Bytes {
        Bytes((self.bytes.0 as f64 * self.read_share) as u64).min(self.bytes)
    }

    /// Bytes that it writes, if no time limit ends it earlier: those of one pass, where only the
    /// drives decide how many passes there are.
    pub fn written(&self) -> Bytes {
        self.paced.unwrap_or(self.bytes.saturating_sub(self.read()))
    }

    /// Operations: of the largest block, or on one file each.
    pub fn operations(&self) -> u64 {
        if self.only_names {
            self.files.len() as u64
        } else {
            self.bytes.0.div_ceil(self.block.0.max(1))
        }
    }
}

/// The files of a job, each as large as it can get.
fn largest(job: &Job) -> disklab_jobfile::Files {
    let mut files = job.files.clone();
    if let disklab_jobfile::FileSize::Each { min, max } = &mut files.size {
        *min = *max;
    }
    files
}

/// What all clones write at most until the time limit, at their rate.
fn paced(job: &Job) -> Option<Bytes> {
    let runtime = job.timing.runtime.filter(|_| job.timing.time_based)?;
    let seconds = (runtime + job.timing.ramp).as_secs_f64();
    let by_operations = job.pace.rate_iops.write.map(|n| n.saturating_mul(job.blocks.max()));
    let rate = job.pace.rate.write.into_iter().chain(by_operations).min()?;
    // A rate beyond 2^64 bytes comes to the largest number.
    Some(Bytes((rate as f64 * seconds) as u64).saturating_mul(u64::from(job.process.clones)))
}

fn sync_every(job: &Job) -> Option<u64> {
    if job.opening.sync != disklab_jobfile::Sync::None {
        return Some(1);
    }
    [job.flushing.fsync, job.flushing.fdatasync].into_iter().filter(|n| *n > 0).min()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use disklab_jobfile::{Policy, jobs, sections};
    use disklab_source::{Location, Source};

    use super::*;

    fn work(options: &str) -> Result<FioWork, SourceError> {
        let text = format!("[job]\n{options}");
        let source = Arc::new(Source { name: "t".to_owned(), text: text.clone() });
        let whole = Location { source: source.clone(), span: 0..0 };
        let locate = |span| Location { source: source.clone(), span };
        let sections = sections(&text, &whole, &locate, Policy::default())?;
        FioWork::of(&sections[0], &jobs(&sections)?[0])
    }

    #[test]
    fn files_are_those_that_fio_will_use() {
        let files = |options: &str| work(options).expect(options).files;
        let file = |name: &str, size: u64| (name.to_owned(), Bytes(size));
        assert_eq!(files("size=1m"), [file("job.0.0", 1 << 20)]);
        assert_eq!(
            files("size=1m\nnumjobs=2"),
            [file("job.0.0", 1 << 20), file("job.1.0", 1 << 20)]
        );
        assert_eq!(
            files("size=1m\nnrfiles=2\nfilename_format=f$filenum"),
            [file("f0", 1 << 19), file("f1", 1 << 19)]
        );
        assert_eq!(files("filesize=1m\nsize=64k"), [file("job.0.0", 1 << 20)]);
        assert_eq!(files("filesize=64k-1m\nsize=64k"), [file("job.0.0", 1 << 20)]);
        assert_eq!(
            files("size=1m\nfilename=f\nnumjobs=3\noffset=1m\noffset_increment=2m"),
            [file("f", 6 << 20)]
        );
        assert_eq!(
            files("rw=write\nsize=1m\nfilename=f\nnumjobs=3\nfile_append=1"),
            [file("f", 3 << 20)]
        );
    }

    #[test]
    fn bytes_are_counted() {
        for (options, bytes) in [
            ("size=1m", 1 << 20),
            ("size=1m\nio_size=4m", 4 << 20),
            ("size=1m\nnumjobs=3\nloops=2", 6 << 20),
            ("size=1m\nnumber_ios=3\nbs=8k", 3 << 13),
            ("size=1m\nnumber_ios=3\nbs=8k\nloops=2", 6 << 13),
            ("size=1m\nrw=write\nfile_append=1\nloops=3", 1 << 20),
            ("size=1m\nrw=write\nfile_append=1\nio_size=4m", 1 << 20),
            ("size=1m\nrw=write\nfile_append=1\nio_size=256k\nloops=3", 768 << 10),
            ("size=1m\nrw=randwrite\nnorandommap=1\nfile_append=1\nloops=3", 3 << 20),
            ("filesize=64k\nnrfiles=10", 640 << 10),
        ] {
            assert_eq!(work(options).expect(options).bytes, Bytes(bytes), "{options}");
        }
    }

    #[test]
    fn kinds_of_work_are_distinguished() {
        let randrw = work("size=1m\nrw=randrw:8\nrwmixwrite=30\nfsync=16").expect("valid");
        assert!(randrw.writes && randrw.random && randrw.needs_files);
        assert!((randrw.read_share - 0.7).abs() < 1e-9 && randrw.same_buffer);
        assert_eq!(randrw.sync_every, Some(16));
        assert!(randrw.fresh, "fio scrambles unless told not to");
        assert!(!work("size=1m\nrw=write\nscramble_buffers=0").expect("valid").fresh);
        let write = work("size=1m\nrw=write\nsync=dsync\nrefill_buffers").expect("valid");
        assert!(!write.needs_files && !write.same_buffer && !write.repeats);
        assert_eq!(write.sync_every, Some(1));
        assert!(work("size=1m\nrw=write\noverwrite=1").expect("valid").needs_files);
        let zeros = work("size=1m\nrw=write\nzero_buffers").expect("valid");
        assert!(zeros.repeats && !zeros.fresh);
    }

    #[test]
    fn a_rate_and_a_time_say_what_is_written() {
        for (options, bytes) in [
            ("rw=write\nrate=50m", Some(600 << 20)),
            ("rw=write\nrate=50m\nnumjobs=3", Some(1800 << 20)),
            ("rw=write\nrate=50m\nramp_time=8", Some(1000 << 20)),
            ("rw=randwrite\nbs=8k\nrate_iops=100", Some((12 * 100) << 13)),
            ("rw=write\nrate=100m\nrate_process=poisson", Some(1200 << 20)),
            ("rw=randrw\nrate=50m,1m", Some(12 << 20)),
            ("rw=write", None),
            ("rw=read\nrate=50m", None),
        ] {
            let options = format!("size=1m\ntime_based\nruntime=12\n{options}");
            assert_eq!(work(&options).expect(&options).paced, bytes.map(Bytes), "{options}");
        }
        let passes = work("size=1m\nrw=write\nrate=50m\nruntime=12").expect("valid");
        assert_eq!(passes.paced, None, "it ends after its megabyte");
    }

    #[test]
    fn too_many_files_are_refused() {
        let error = work("size=64m\nnumjobs=2000\nnrfiles=2000").expect_err("too many");
        assert!(error.to_string().contains("more than 1000000 files"), "{error}");
    }
}
