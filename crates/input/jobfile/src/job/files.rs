//! The files of a job.

use disklab_content::splitmix64;

/// The files of a job, as a function of the clone.
#[derive(Debug, Clone, PartialEq)]
pub struct Files {
    /// How they are called.
    pub names: NameSource,
    /// `directory`, where the policy allows it, as written: each clone takes the next. Without
    /// any, they lie in the directory that the caller gives.
    pub directories: Vec<String>,
    /// How large they are.
    pub size: FileSize,
    /// `offset`: what is left alone from the start of each file.
    pub offset: Amount,
    /// `offset_increment`: added to it for each clone before this one.
    pub offset_increment: Amount,
    /// To a multiple of how many bytes offsets are rounded up that are shares: `offset_align`, or
    /// the block.
    pub align: u64,
    /// How long the files are that are there, where that matters: looked up when the job starts,
    /// in the order of clones and their files; files that all clones share come once.
    pub there: Vec<u64>,
    /// How the next file is chosen.
    pub order: FileOrder,
    /// How many are open at once, from 1 to their number.
    pub open: u64,
    /// The block by which lengths are rounded, in bytes: the smallest one.
    pub block: u64,
}

/// A number of bytes, or a share of a file or device that is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amount {
    /// So many bytes.
    Bytes(u64),
    /// So many percent, 0 to 100.
    Percent(u8),
}

impl Amount {
    /// The bytes of something so long.
    pub const fn of(self, length: u64) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes,
            // No more than the length, as no share is over 100 %.
            Self::Percent(percent) => (length as u128 * percent as u128 / 100) as u64,
        }
    }

    /// Whether it is a share.
    pub const fn is_share(self) -> bool {
        matches!(self, Self::Percent(_))
    }
}

/// How files are called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NameSource {
    /// `filename`: these, the same for all clones. Never empty.
    Fixed(Vec<String>),
    /// `filename_format` with `$jobname`, `$jobnum`, `$filenum` filled in.
    Format {
        /// With the words still in it.
        format: String,
        /// What `$jobname` stands for.
        job: String,
        /// `nrfiles`, from 1.
        count: u64,
    },
}

/// How large files are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileSize {
    /// `size` shared out evenly.
    Shared {
        /// Bytes of all files of a clone together.
        total: u64,
    },
    /// `filesize`: each so large, or drawn evenly from a range for each file.
    Each {
        /// From, in bytes.
        min: u64,
        /// To, in bytes, at least `min`.
        max: u64,
    },
    /// Neither was given, or `size` is a share: they stay as large as they are, and so many percent
    /// of them are read and written, from 1.
    Existing {
        /// 100 where nothing was said.
        percent: u8,
    },
}

/// `file_service_type` with its number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FileOrder {
    /// One I/O (or `every`) here, then on to the next file.
    RoundRobin {
        /// I/Os before it moves on, from 1.
        every: u32,
    },
    /// One file is finished before the next.
    Sequential,
    /// Drawn evenly.
    Random {
        /// As above.
        every: u32,
    },
    /// Drawn by Zipf's law.
    Zipf {
        /// Over 0, not 1.
        theta: f64,
    },
    /// Drawn by Pareto's.
    Pareto {
        /// Over 0 and under 1.
        power: f64,
    },
    /// Drawn by a normal distribution.
    Normal {
        /// Percent of the files.
        deviation: f64,
    },
}

/// One file of one clone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobFile {
    /// Its name inside of the directory.
    pub name: String,
    /// Where its I/O lies.
    pub extent: Extent,
}

/// The part of a file that is read and written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// The first byte of it.
    pub offset: u64,
    /// Its length in bytes. The file has to be `offset + length` bytes long.
    pub length: u64,
}

impl Extent {
    /// The first byte behind it: how long the file has to be.
    pub const fn end(&self) -> u64 {
        self.offset.saturating_add(self.length)
    }
}

/// fio's `filename_format` where nothing is said (HOWTO.rst).
pub const DEFAULT_FORMAT: &str = "$jobname.$jobnum.$filenum";

impl Files {
    /// How many files one clone has, at least 1.
    pub fn count(&self) -> u64 {
        match &self.names {
            NameSource::Fixed(names) => names.len() as u64,
            NameSource::Format { count, .. } => *count,
        }
    }

    /// The files of a clone, counted from 0. `seed` decides the sizes that are
    /// drawn from a range: the same for the same clone, file and seed.
    pub fn of(&self, clone: u32, seed: u64) -> Vec<JobFile> {
        (0..self.count())
            .map(|file| {
                let offset = self.begin(clone, file);
                let length = self.length(clone, file, seed, offset);
                JobFile { name: self.name(clone, file), extent: Extent { offset, length } }
            })
            .collect()
    }

    /// Whether it depends on how long the files are that are there.
    pub const fn depends_on_lengths(&self) -> bool {
        matches!(self.size, FileSize::Existing { .. })
            || self.offset.is_share()
            || self.offset_increment.is_share()
    }

    /// Where I/O begins in a file (get_start_offset in filesetup.c).
    fn begin(&self, clone: u32, file: u64) -> u64 {
        let there = self.length_there(clone, file);
        let step = self.offset_increment.of(there).saturating_mul(u64::from(clone));
        let offset = self.offset.of(there).saturating_add(step);
        if self.offset.is_share() || self.offset_increment.is_share() {
            offset.checked_next_multiple_of(self.align.max(1)).unwrap_or(offset)
        } else {
            offset
        }
    }

    /// Whether all clones use the same files.
    pub fn are_shared(&self) -> bool {
        matches!(self.names, NameSource::Fixed(_)) && self.directories.len() < 2
    }

    /// The directory of a clone's files, if the job has its own.
    pub fn directory(&self, clone: u32) -> Option<&str> {
        let at = (clone as usize).checked_rem(self.directories.len())?;
        self.directories.get(at).map(String::as_str)
    }

    fn length_there(&self, clone: u32, file: u64) -> u64 {
        let clone = if self.are_shared() { 0 } else { u64::from(clone) };
        let at = clone.saturating_mul(self.count()).saturating_add(file);
        usize::try_from(at).ok().and_then(|at| self.there.get(at)).copied().unwrap_or(0)
    }

    fn name(&self, clone: u32, file: u64) -> String {
        match &self.names {
            NameSource::Fixed(names) => {
                usize::try_from(file).ok().and_then(|i| names.get(i)).cloned().unwrap_or_default()
            }
            NameSource::Format { format, job, .. } => fill_in(format, job, clone, file),
        }
    }

    fn length(&self, clone: u32, file: u64, seed: u64, offset: u64) -> u64 {
        let (count, block) = (self.count().max(1), self.block.max(1));
        match self.size {
            FileSize::Existing { percent } => {
                let there = self.length_there(clone, file);
                let behind = there.saturating_sub(offset);
                match percent {
                    100 => behind,
                    // Whole blocks (setup_files again).
                    _ => Amount::Percent(percent).of(there).min(behind) / block * block,
                }
            }
            FileSize::Shared { total } => {
                // What does not divide goes to the first files, block by block
                // (setup_files in filesetup.c).
                let even = total / count;
                let extra = (total - even * count) / block;
                even + if file < extra { block } else { 0 }
            }
            // `filesize` is that of the whole file, `size` that of its used part
            // (setup_files again; seen with fio 3.33).
            FileSize::Each { min, max } if min >= max => min.saturating_sub(offset),
            FileSize::Each { min, max } => {
                // Clones share files with fixed names, so these have one size.
                let clone = match self.names {
                    NameSource::Fixed(_) => 0,
                    NameSource::Format { .. } => u64::from(clone),
                };
                let drawn = splitmix64(seed ^ splitmix64(splitmix64(clone).wrapping_add(file)));
                let span = u128::from(max - min) + 1;
                let size = min + ((u128::from(drawn) * span) >> 64) as u64;
                // Whole blocks, as get_rand_file_size in filesetup.c.
                (size / block * block).max(min).saturating_sub(offset)
            }
        }
    }
}

/// `$jobname`, `$jobnum` and `$filenum` filled in, in one pass.
fn fill_in(format: &str, job: &str, clone: u32, file: u64) -> String {
    let mut name = String::with_capacity(format.len() + job.len());
    let mut rest = format;
    while let Some(at) = rest.find('$') {
        name.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(after) = rest.strip_prefix("$jobname") {
            name.push_str(job);
            rest = after;
        } else if let Some(after) = rest.strip_prefix("$jobnum") {
            name.push_str(&clone.to_string());
            rest = after;
        } else if let Some(after) = rest.strip_prefix("$filenum") {
            name.push_str(&file.to_string());
            rest = after;
        } else {
            name.push('$');
            rest = &rest[1..];
        }
    }
    name + rest
}
