//! The language of fio job files: text to checked [`Job`]s.
//!
//! Pure: nothing here touches a file, a disk or a clock. What fio understands
//! and a native engine does too comes out as plain typed values; everything
//! else is an error that shows the line and the column.
//!
//! Three steps, each of use alone: [`sections`] finds the options and checks
//! their names, [`Section::scale`] makes a job smaller, [`jobs`] reads the values.

mod arithmetic;
mod bytes;
mod check;
mod docs;
mod draft;
mod error;
mod given;
mod job;
mod joined;
mod lists;
mod names;
mod options;
mod policy;
mod section;
#[cfg(test)]
mod testing;
mod text;
mod value;

use std::sync::Arc;

use disklab_source::{Location, Source, SourceError};

pub use check::jobs;
pub use docs::{listing, markdown, unsupported};
pub use job::{
    Access, BlockShare, BlockSizes, Blocks, Buffers, Checksum, Compress, ContinueOn, CpuPolicy,
    Dedupe, DedupeMode, Depth, Distribution, Engine, ExitWhat, Extent, Fadvise, Fallocate,
    FileOrder, FileSize, Files, Filling, Flow, Flushing, Generator, Groups, IoClass, IoDirection,
    IoPriority, Job, JobFile, JobProcess, LatencyTarget, Length, Logs, MemoryPolicy, NameSource,
    Opening, Pace, Pattern, PatternPart, PerDirection, RandomMap, RateProcess, Reporting, Sequence,
    Sequencer, SteadyFigure, SteadyRule, Sync, Think, ThinkBlocks, Timing, Verify, Zone, ZoneSize,
};
pub use joined::{JoinedText, Surroundings, join, with_contents};
pub use options::{
    CHAPTERS, Chapter, OptionSpec, Scaled, native_options, option_names, stands_alone,
};
pub use policy::{Policy, Runner};
pub use section::{JobOption, Section};
pub use text::{sections, verbatim_sections};

/// The jobs of a whole file.
///
/// # Errors
/// Where the text is no job file, or asks for what cannot be done; the error
/// shows the line and the column.
pub fn parse(source: &Arc<Source>, policy: Policy) -> Result<Vec<Job>, SourceError> {
    let place = |span| Location { source: Arc::clone(source), span };
    jobs(&sections(&source.text, &place(0..0), &place, policy)?)
}
