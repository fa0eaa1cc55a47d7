//! What a section will do: its files, its bytes, its time.

use disklab_study::StudyError;
use disklab_units::Bytes;

use super::job::{Section, check_job_name};
use super::value::seconds;

/// More files than this are refused: a study means a tree then, which `copy` has.
pub(super) const MOST_FILES: usize = 1_000_000;

/// What a section will do.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Work {
    /// Whether it reads.
    pub reads: bool,
    /// Whether it writes.
    pub writes: bool,
    /// Whether it goes to random places.
    pub random: bool,
    /// Share of reads, 0 to 1, where it does both.
    pub read_share: f64,
    /// Largest block.
    pub block: Bytes,
    /// How many processes or threads do it at once.
    pub jobs: u64,
    /// Bytes that all of them read and write, if no time limit ends it earlier.
    pub bytes: Bytes,
    /// The files it uses and how large they will be.
    pub files: Vec<(String, Bytes)>,
    /// Whether the files have to be there: it reads or overwrites them.
    pub needs_files: bool,
    /// Time limit in seconds, warming up included.
    pub limit: Option<f64>,
    /// Whether it goes on until the limit, however often it has done all.
    pub time_based: bool,
    /// After how many writes it waits for the disk.
    pub sync_every: Option<u64>,
    /// Whether it writes the same random buffer again and again.
    pub same_buffer: bool,
    /// Whether it only makes, looks up or removes files, one per operation. fio
    /// reports a block for each, which nobody moved.
    pub only_names: bool,
}

impl Work {
    /// What `section` will do.
    ///
    /// # Errors
    /// Where an option that matters for it is wrong or missing.
    pub fn of(section: &Section) -> Result<Self, StudyError> {
        check_job_name(&section.name, &section.place)?;
        let direction = section.read("rw", direction)?.unwrap_or(Direction::default());
        let block = section.block()?;
        let jobs = section.count("numjobs", 1)?.unwrap_or(1);
        let files_per_job = section.count("nrfiles", 1)?.unwrap_or(1);
        let filename = section.get("filename");
        if jobs.saturating_mul(files_per_job) > MOST_FILES as u64 {
            return Err(section.place.error(format!(
                "this job has more than {MOST_FILES} files or processes (numjobs × nrfiles)"
            )));
        }
        let names = if filename.is_some() { 1 } else { files_per_job };
        let file_size = section.bytes("filesize")?.filter(|b| b.0 > 0);
        let size = section.bytes("size")?.filter(|b| b.0 > 0);
        let size = size.or(file_size.map(|f| f.saturating_mul(names))).ok_or_else(|| {
            section.place.error("this job has no `size`, so nobody knows how large its files are")
        })?;
        let each = file_size.unwrap_or(Bytes(size.0 / names));
        let offset = section.bytes("offset")?.unwrap_or_default();
        let increment = section.bytes("offset_increment")?.unwrap_or_default();
        let end = |job: u64| each + offset + increment.saturating_mul(job);
        let files = match filename {
            Some(name) => vec![(name.to_owned(), end(jobs - 1))],
            None => {
                let format = section.get("filename_format").unwrap_or("$jobname.$jobnum.$filenum");
                let name = |job: u64, file: u64| {
                    // fio fills in in one pass; a job's name cannot have a '$'.
                    format
                        .replace("$jobname", &section.name)
                        .replace("$jobnum", &job.to_string())
                        .replace("$filenum", &file.to_string())
                };
                (0..jobs)
                    .flat_map(|job| (0..files_per_job).map(move |file| (job, file)))
                    .map(|(job, file)| (name(job, file), end(job)))
                    .collect()
            }
        };
        let limit = section.read("runtime", seconds)?.filter(|s| *s > 0.0);
        let ramp = section.read("ramp_time", seconds)?.unwrap_or(0.0);
        let time_based = section.flag("time_based");
        if time_based && limit.is_none() {
            return Err(section.place.error("a `time_based` job needs a `runtime`"));
        }
        let per_job = section.bytes("io_size")?.filter(|b| b.0 > 0).unwrap_or(size);
        let most = section.count("number_ios", 0)?.filter(|n| *n > 0);
        let per_job = most.map_or(per_job, |n| per_job.min(block.saturating_mul(n)));
        let per_job = per_job.saturating_mul(section.count("loops", 1)?.unwrap_or(1));
        let read_share = match (direction.reads, direction.writes) {
            (true, false) => 1.0,
            (false, _) => 0.0,
            (true, true) => read_share(section)?,
        };
        let engine = section.get("ioengine").unwrap_or("psync");
        let creates = engine == "filecreate";
        let only_names = matches!(engine, "filecreate" | "filedelete" | "filestat");
        let bytes = if only_names { Bytes::ZERO } else { per_job.saturating_mul(jobs) };
        Ok(Self {
            reads: direction.reads,
            writes: direction.writes,
            random: direction.random,
            read_share,
            block,
            jobs,
            bytes,
            files,
            only_names,
            needs_files: !creates && (direction.reads || section.flag("overwrite")),
            limit: limit.map(|l| l + ramp),
            time_based,
            sync_every: sync_every(section)?,
            same_buffer: direction.writes
                && !section.flag("refill_buffers")
                && !OTHER_BUFFERS.iter().any(|key| section.get(key).is_some()),
        })
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

/// Options that say themselves what is written.
const OTHER_BUFFERS: [&str; 4] =
    ["buffer_compress_percentage", "buffer_pattern", "dedupe_percentage", "zero_buffers"];

/// What `rw` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Direction {
    reads: bool,
    writes: bool,
    random: bool,
}

impl Default for Direction {
    /// fio reads where nothing is said.
    fn default() -> Self {
        Self { reads: true, writes: false, random: false }
    }
}

/// `rw`, with an optional `:8` behind it.
fn direction(text: &str) -> Result<Direction, String> {
    let word = text.split([':', ',']).next().unwrap_or_default().trim();
    let (reads, writes, random) = match word {
        "read" => (true, false, false),
        "write" => (false, true, false),
        "randread" => (true, false, true),
        "randwrite" => (false, true, true),
        "rw" | "readwrite" => (true, true, false),
        "randrw" => (true, true, true),
        "trim" | "trimwrite" | "randtrim" | "randtrimwrite" => {
            return Err("discarding needs a block device, and disklab runs fio on files".to_owned());
        }
        _ => {
            let shown: String = text.chars().take(60).collect();
            return Err(format!(
                "expected read, write, randread, randwrite, rw or randrw, found '{shown}'"
            ));
        }
    };
    Ok(Direction { reads, writes, random })
}

/// The share of reads; half where nothing is said (rwmixread=50).
fn read_share(section: &Section) -> Result<f64, StudyError> {
    let percent = |text: &str| match text.trim().parse::<u8>() {
        Ok(n) if n <= 100 => Ok(f64::from(n) / 100.0),
        _ => Err("expected a whole number from 0 to 100".to_owned()),
    };
    let writes = section.read("rwmixwrite", percent)?;
    Ok(section.read("rwmixread", percent)?.or(writes.map(|w| 1.0 - w)).unwrap_or(0.5))
}

fn sync_every(section: &Section) -> Result<Option<u64>, StudyError> {
    if section.get("sync").is_some_and(|v| !matches!(v, "0" | "none")) {
        return Ok(Some(1));
    }
    let fsync = section.count("fsync", 0)?.filter(|n| *n > 0);
    let fdatasync = section.count("fdatasync", 0)?.filter(|n| *n > 0);
    Ok(match (fsync, fdatasync) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use disklab_study::{Place, Source};

    use super::*;
    use crate::kinds::fio::text;

    fn work(options: &str) -> Result<Work, StudyError> {
        let text = format!("[job]\n{options}");
        let source = Arc::new(Source { name: "t".to_owned(), text: text.clone() });
        let whole = Place { source: source.clone(), span: 0..0 };
        let sections = text::parse(&text, &whole, &|span| Place { source: source.clone(), span })?;
        Work::of(&sections[0])
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
        assert_eq!(
            files("size=1m\nfilename=f\nnumjobs=3\noffset=1m\noffset_increment=2m"),
            [file("f", 6 << 20)]
        );
    }

    #[test]
    fn bytes_are_counted() {
        for (options, bytes) in [
            ("size=1m", 1 << 20),
            ("size=1m\nio_size=4m", 4 << 20),
            ("size=1m\nnumjobs=3\nloops=2", 6 << 20),
            ("size=1m\nnumber_ios=3\nbs=8k", 3 << 13),
            ("filesize=64k\nnrfiles=10", 640 << 10),
        ] {
            assert_eq!(work(options).expect(options).bytes, Bytes(bytes), "{options}");
        }
    }

    #[test]
    fn kinds_of_work_are_told_apart() {
        let randrw = work("size=1m\nrw=randrw:8\nrwmixwrite=30\nfsync=16").expect("valid");
        assert!(randrw.reads && randrw.writes && randrw.random && randrw.needs_files);
        assert!((randrw.read_share - 0.7).abs() < 1e-9 && randrw.same_buffer);
        assert_eq!(randrw.sync_every, Some(16));
        let write = work("size=1m\nrw=write\nsync=dsync\nrefill_buffers").expect("valid");
        assert!(!write.needs_files && !write.same_buffer);
        assert_eq!(write.sync_every, Some(1));
        assert!(work("size=1m\nrw=write\noverwrite=1").expect("valid").needs_files);
    }

    #[test]
    fn errors_name_the_option() {
        for (options, part) in [
            ("bs=4k", "no `size`"),
            ("size=1m\nrw=upwards", "found 'upwards'"),
            ("size=1m\nrw=randtrim", "needs a block device"),
            ("size=1m\ntime_based", "needs a `runtime`"),
            ("size=1m\nrw=rw\nrwmixread=101", "`rwmixread`"),
            ("size=1m\nnumjobs=0", "`numjobs`"),
            ("size=1m\nnumjobs=2000\nnrfiles=2000", "more than 1000000 files"),
            ("size=50%", "share of a device"),
            ("filesize=4k-64k", "`filesize`"),
            ("size=1m\nblocksize=4x", "`blocksize`"),
            ("size=1m\nruntime=soon", "`runtime`"),
        ] {
            let error = work(options).expect_err(options).to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
