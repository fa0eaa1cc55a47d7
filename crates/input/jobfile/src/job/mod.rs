//! Jobs: what is to be done, as plain typed values.

mod blocks;
mod content;
mod direction;
mod files;
mod opening;
mod pace;
mod pattern;
mod process;
mod reporting;
mod verify;

pub use blocks::{BlockShare, BlockSizes, Blocks};
pub use content::{Buffers, Compress, Dedupe, DedupeMode, Filling, PatternPart};
pub use direction::{IoDirection, PerDirection};
pub(crate) use files::DEFAULT_FORMAT;
pub use files::{Amount, Extent, FileOrder, FileSize, Files, JobFile, NameSource};
pub use opening::{Fadvise, Fallocate, Flushing, Opening, Sync};
pub use pace::{Flow, Pace, RateProcess, SteadyFigure, SteadyRule, Think, ThinkBlocks, Timing};
pub use pattern::{
    Access, Distribution, Generator, Pattern, RandomMap, Sequence, Sequencer, Zone, ZoneSize,
};
pub use process::{
    ContinueOn, CpuPolicy, Depth, Engine, ExitWhat, Groups, IoClass, IoPriority, JobProcess,
    LatencyTarget, MemoryPolicy,
};
pub use reporting::{Logs, Reporting};
pub use verify::{Checksum, Verify};

use disklab_source::{Location, SourceError};

/// One section of a job file, checked, with everything that holds for it.
///
/// The defaults are those of fio 3.33 (options.c, HOWTO.rst) everywhere, so an
/// engine need not know which options were written.
#[derive(Debug, Clone)]
pub struct Job {
    /// Its name: the section's header, or the option `name`. Not empty; no '/'.
    pub name: String,
    /// Its section's header, from which file names are made. fio reports all clones but the
    /// first under it.
    pub section: String,
    /// Where its section begins.
    pub place: Location,
    /// `description`.
    pub description: Option<String>,
    /// What it reads and writes, and in which order.
    pub pattern: Pattern,
    /// How large its I/Os are, and how they are aligned.
    pub blocks: Blocks,
    /// Its files, by clone.
    pub files: Files,
    /// How much it does.
    pub length: Length,
    /// Through which system interface.
    pub engine: Engine,
    /// How many I/Os are in flight at once.
    pub depth: Depth,
    /// How files are made, opened, cached and removed.
    pub opening: Opening,
    /// When it waits for the disk.
    pub flushing: Flushing,
    /// When it starts and ends.
    pub timing: Timing,
    /// How fast it may go.
    pub pace: Pace,
    /// What it writes.
    pub buffers: Buffers,
    /// How what was written is checked.
    pub verify: Option<Verify>,
    /// How many clones, and as what they run.
    pub process: JobProcess,
    /// For whom it waits, and with whom it is reported.
    pub groups: Groups,
    /// Which errors do not end it.
    pub continue_on_error: ContinueOn,
    /// Percentiles, logs and grouping, none of which changes the I/O.
    pub reporting: Reporting,
    /// The options as written, global ones first: name and value. An option
    /// without a value has `1`.
    pub options: Vec<(String, String)>,
    /// What was understood but will not do what its writer may think, each with
    /// its place.
    pub warnings: Vec<SourceError>,
}

impl Job {
    /// How many I/Os can be in flight at once: one where the interface waits for each.
    pub fn reachable_depth(&self) -> u32 {
        match self.engine.is_synchronous() && !self.depth.offload {
            true => 1,
            false => self.depth.depth.max(1),
        }
    }

    /// Sets the lengths of the files that are there, in the order of [`Files::there`].
    ///
    /// # Errors
    /// [`SourceError`] at the job if not even one block fits into its files.
    pub fn take_lengths(&mut self, lengths: Vec<u64>) -> Result<(), SourceError> {
        self.files.there = lengths;
        let FileSize::Existing { .. } = self.files.size else { return Ok(()) };
        let each = self.files.of(0, 0).into_iter().map(|file| file.extent.length);
        let all = each.fold(0, u64::saturating_add);
        let block = match (self.pattern.access.reads, self.pattern.access.writes) {
            (true, false) => self.blocks.sizes.read.min(),
            (false, _) => self.blocks.sizes.write.min(),
            (true, true) => self.blocks.min(),
        };
        if all < block {
            return Err(self.place.error(format!(
                "this job has no `size` in bytes, and a block of {block} bytes does not fit into the \
                 {all} bytes that it uses of its files: give `size`"
            )));
        }
        self.length.size = all;
        self.length.io_size = self.length.io_given.map_or(all, |given| given.of(all));
        Ok(())
    }
}

/// How much one clone of a job does. Whatever is reached first ends it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Length {
    /// `size`: bytes that one clone reads or writes once, at least the smallest
    /// block. Not more than its files hold together from their offsets on; where
    /// their sizes are drawn or their offsets grow, that may still be less: see
    /// [`Files::of`].
    pub size: u64,
    /// Bytes that one loop reads and writes: `io_size` where given (more than
    /// `size` begins again at the start), else `size`.
    pub io_size: u64,
    /// `io_size` as given.
    pub io_given: Option<Amount>,
    /// `number_ios`: the I/Os after which it ends; `fsync` counts for none.
    pub number_ios: Option<u64>,
    /// `loops`, from 1.
    pub loops: u64,
}
