//! From what was read to jobs: what depends on several options, and what cannot
//! work together.

mod files;
mod together;
mod verify;

use std::time::Duration;

use disklab_source::{SourceError, did_you_mean};

use self::files::{files, length};
use self::together::{rates, together, warnings};
use self::verify::verify;
use crate::draft::Draft;
use crate::job::{
    Blocks, Depth, Distribution, IoClass, IoPriority, Job, Pattern, RandomMap, Think,
};
use crate::names::job_name;
use crate::section::Section;

/// Linux moves no more bytes in one call (MAX_RW_COUNT in include/linux/fs.h).
const LARGEST_BLOCK: u64 = 0x7fff_f000;

/// The jobs that these sections describe.
///
/// # Errors
/// Where a value is wrong, or options do not go together; the error shows the
/// line and the column.
pub fn jobs(sections: &[Section]) -> Result<Vec<Job>, SourceError> {
    let mut jobs: Vec<Job> = Vec::with_capacity(sections.len());
    for section in sections {
        let job = job(section, &jobs)?;
        jobs.push(job);
    }
    Ok(jobs)
}

fn job(section: &Section, before: &[Job]) -> Result<Job, SourceError> {
    let plain = section.policy().is_plain();
    job_name(section.header(), plain).map_err(|why| section.place().error(why.to_string()))?;
    job_name(section.name(), plain).map_err(|why| section.at(&["name"]).error(why.to_string()))?;
    let draft = section.draft()?;
    let blocks = draft.blocks();
    if blocks.max() > LARGEST_BLOCK {
        return Err(section.at(&["bssplit", "bsrange", "bs"]).error(format!(
            "a block of {} bytes: Linux moves at most {LARGEST_BLOCK} in one call",
            blocks.max()
        )));
    }
    let files = files(section, &draft, &blocks)?;
    let length = length(section, &draft, &files, &blocks)?;
    let mut job = Job {
        name: section.name().to_owned(),
        section: section.header().to_owned(),
        place: section.place().clone(),
        description: draft.description.clone(),
        pattern: pattern(&draft, &blocks),
        length,
        engine: draft.engine,
        depth: depth(&draft),
        opening: draft.opening,
        flushing: draft.flushing,
        timing: draft.timing,
        pace: draft.pace,
        buffers: draft.buffers(),
        verify: verify(section, &draft, &blocks)?,
        process: draft.process.clone(),
        groups: draft.groups,
        continue_on_error: draft.continue_on_error.clone(),
        reporting: draft.reporting.clone(),
        options: section
            .settings()
            .iter()
            .map(|s| (s.name().to_owned(), s.value().to_owned()))
            .collect(),
        warnings: Vec::new(),
        blocks,
        files,
    };
    job.timing.time_based &= job.timing.runtime.is_some();
    job.opening.invalidate &= !job.opening.pre_read;
    job.groups.wait_for = wait_for(section, &draft, before)?;
    job.process.io_priority = io_priority(&draft);
    job.pace.think = think(&draft);
    job.pace.flow = Some(draft.flow).filter(|flow| flow.weight > 0);
    job.timing.steady = Some(draft.steady).filter(|rule| rule.seconds > 0);
    if draft.gtod_reduce {
        let reporting = &mut job.reporting;
        (reporting.lat, reporting.clat, reporting.slat, reporting.bw) =
            (false, false, false, false);
    }
    rates(section, &job)?;
    together(section, &draft, &job)?;
    job.warnings = warnings(section, &draft, &job);
    Ok(job)
}

fn pattern(draft: &Draft, blocks: &Blocks) -> Pattern {
    let access = draft.access;
    let uniform = |d: &Distribution| *d == Distribution::Uniform;
    let spread = &draft.distribution;
    // blockalign turns the map off (fixup_options in init.c).
    let aligned = blocks.align.read == blocks.sizes.read.min()
        && blocks.align.write == blocks.sizes.write.min();
    let map =
        if draft.no_random_map || !uniform(&spread.read) || !uniform(&spread.write) || !aligned {
            RandomMap::None
        } else if draft.soft_random_map {
            RandomMap::Soft
        } else {
            RandomMap::Each
        };
    Pattern {
        access,
        read_percent: match (access.reads, access.writes) {
            (true, true) => draft.read_percent,
            (true, false) => 100,
            (false, _) => 0,
        },
        sequence: draft.sequence,
        sequencer: draft.sequencer,
        random_percent: draft.random_percent,
        distribution: draft.distribution.clone(),
        map,
        generator: draft.generator,
        repeatable: draft.repeatable,
        all_repeatable: draft.all_repeatable,
        seed: draft.seed,
    }
}

/// Depths as fio fixes them (fixup_options in init.c).
fn depth(draft: &Draft) -> Depth {
    let depth = draft.depth;
    let up_to = |n: u32| if n == 0 { depth } else { n.min(depth) };
    let complete_min = draft.complete_min.min(depth);
    Depth {
        depth,
        batch: up_to(draft.batch),
        complete_min,
        complete_max: draft.complete_max.unwrap_or(0).min(depth).max(complete_min).max(1),
        low: up_to(draft.low),
        offload: draft.offload,
        target: Some(draft.target).filter(|target| !target.latency.is_zero()),
    }
}

fn think(draft: &Draft) -> Option<Think> {
    (!draft.think_time.is_zero()).then(|| Think {
        time: draft.think_time,
        spin: draft.think_spin.min(draft.think_time),
        blocks: draft.think_blocks,
        counted: draft.think_counted,
        io_time: Some(draft.think_io_time).filter(|t| *t > Duration::ZERO),
    })
}

fn io_priority(draft: &Draft) -> Option<IoPriority> {
    if draft.io_class.is_none() && draft.io_level.is_none() {
        return None;
    }
    Some(IoPriority {
        class: draft.io_class.unwrap_or(IoClass::BestEffort),
        level: draft.io_level.unwrap_or(0),
    })
}

fn wait_for(
    section: &Section,
    draft: &Draft,
    before: &[Job],
) -> Result<Option<usize>, SourceError> {
    let Some(name) = &draft.wait_for else { return Ok(None) };
    let place = section.at(&["wait_for"]);
    let mut found = (0..before.len()).filter(|i| before[*i].name == *name);
    match (found.next(), found.next()) {
        (Some(index), None) => Ok(Some(index)),
        (Some(_), Some(_)) => {
            Err(place.error("`wait_for`: more than one job before this one has that name"))
        }
        (None, _) => Err(place.error(format!(
            "`wait_for`: no job before this one has that name{}",
            did_you_mean(name, before.iter().map(|job| job.name.as_str()))
        ))),
    }
}

#[cfg(test)]
mod tests;
