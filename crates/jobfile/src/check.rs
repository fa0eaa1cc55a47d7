//! From what was read to jobs: what depends on several options, and what cannot
//! work together.

use std::time::Duration;

use disklab_source::{SourceError, did_you_mean};

use crate::draft::Draft;
use crate::job::{
    Blocks, Depth, Distribution, FileSize, Files, IoClass, IoPriority, Job, Length, NameSource,
    Pattern, PerDirection, RandomMap, Think,
};
use crate::job::{Checksum, DEFAULT_FORMAT, DedupeMode, Verify};
use crate::names::job_name;
use crate::section::Section;
use crate::value::LARGEST;

/// More files than this are refused: they mean a tree then, which `copy` has.
const MOST_FILES: u64 = 1_000_000;
/// Linux moves no more bytes in one call (MAX_RW_COUNT in include/linux/fs.h).
const LARGEST_BLOCK: u64 = 0x7fff_f000;
/// Buffers of all clones of a job together.
const MOST_MEMORY: u64 = 64 << 30;

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
    job_name(section.name()).map_err(|why| section.at(&["name"]).error(why))?;
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
        continue_on_error: draft.continue_on_error,
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
    job.opening.invalidate &= !job.opening.pre_read;
    job.groups.wait_for = wait_for(section, &draft, before)?;
    job.process.io_priority = io_priority(&draft);
    job.pace.think = think(&draft);
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

fn files(section: &Section, draft: &Draft, blocks: &Blocks) -> Result<Files, SourceError> {
    let names = match &draft.file_names {
        Some(names) => NameSource::Fixed(names.clone()),
        None => NameSource::Format {
            format: draft.name_format.clone().unwrap_or_else(|| DEFAULT_FORMAT.to_owned()),
            job: section.name().to_owned(),
            count: draft.file_count.unwrap_or(1),
        },
    };
    let size = match (draft.file_size, draft.size) {
        (Some((min, max)), _) => FileSize::Each { min, max },
        (None, Some(total)) => FileSize::Shared { total },
        (None, None) => {
            return Err(section.place().error(
                "this job has no `size`, so nobody knows how large its files are: give `size` or \
                 `filesize`",
            ));
        }
    };
    let files = Files {
        names,
        directory: draft.directory.clone(),
        size,
        offset: draft.offset,
        offset_increment: draft.offset_increment,
        order: draft.file_order,
        open: 1,
        block: blocks.min(),
    };
    let count = files.count();
    if count.saturating_mul(u64::from(draft.process.clones)) > MOST_FILES {
        return Err(section
            .at(&["nrfiles", "numjobs"])
            .error(format!("this job has more than {MOST_FILES} files (numjobs × nrfiles)")));
    }
    let open = draft.open_files.filter(|n| *n > 0).unwrap_or(count).min(count);
    Ok(Files { open, ..files })
}

fn length(
    section: &Section,
    draft: &Draft,
    files: &Files,
    blocks: &Blocks,
) -> Result<Length, SourceError> {
    let count = files.count();
    let last = draft
        .offset_increment
        .checked_mul(u64::from(draft.process.clones) - 1)
        .and_then(|more| more.checked_add(draft.offset))
        .filter(|offset| *offset <= LARGEST)
        .ok_or_else(|| {
            section
                .at(&["offset_increment", "offset"])
                .error("the offset of the last clone is larger than any file can be")
        })?;
    let all = match files.size {
        FileSize::Each { min, max } => {
            if last >= min {
                return Err(section.at(&["offset_increment", "offset"]).error(format!(
                    "I/O would begin at byte {last}, behind the end of files of {min} bytes \
                     (`filesize`)"
                )));
            }
            (max - draft.offset).saturating_mul(count)
        }
        FileSize::Shared { total } => total,
    };
    if all.checked_add(last).is_none_or(|end| end > LARGEST) {
        return Err(section
            .at(&["size", "filesize"])
            .error("with its offset, this is larger than any file can be"));
    }
    let size = draft.size.unwrap_or(all).min(all);
    let access = draft.access;
    let least = match (blocks.by_order, access.reads, access.writes) {
        (false, true, false) => blocks.sizes.read.min(),
        (false, false, true) => blocks.sizes.write.min(),
        _ => blocks.min(),
    };
    let each = (all / count).min(size);
    if each < least {
        let of_each = if count > 1 { " of each file" } else { "" };
        return Err(section.at(&["bssplit", "bsrange", "bs", "size", "filesize"]).error(format!(
            "a block of {least} bytes does not fit into the {each} bytes{of_each} that `size`, \
             `filesize` and `nrfiles` leave"
        )));
    }
    Ok(Length {
        size,
        io_size: draft.io_size.unwrap_or(size),
        io_size_given: draft.io_size.is_some(),
        number_ios: draft.number_ios,
        loops: draft.loops,
    })
}

/// Depths as fio mends them (fixup_options in init.c).
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

fn verify(
    section: &Section,
    draft: &Draft,
    blocks: &Blocks,
) -> Result<Option<Verify>, SourceError> {
    let Some(checksum) = draft.checksum else { return Ok(None) };
    let mut verify = Verify { checksum, ..draft.verify.clone() };
    if checksum == Checksum::Pattern && verify.pattern.is_empty() {
        return Err(section
            .at(&["verify"])
            .error("`verify=pattern` needs the pattern: verify_pattern=0x…"));
    }
    // The interval is at most the smallest block (fixup_options in init.c).
    let smallest = match (draft.access.reads, draft.access.writes, blocks.by_order) {
        (true, false, false) => blocks.sizes.read.min(),
        (false, true, false) => blocks.sizes.write.min(),
        _ => blocks.min(),
    };
    let varies = blocks.min() != blocks.max();
    verify.interval = match verify.interval {
        Some(interval) => Some(interval.min(smallest)),
        None if varies => Some(smallest),
        None => None,
    };
    let interval = verify.interval.unwrap_or(smallest);
    let needed = verify.offset.saturating_add(checksum.header());
    if needed > interval {
        return Err(section
            .at(&["verify_offset", "verify_interval", "bssplit", "bsrange", "bs", "verify"])
            .error(format!(
                "what `verify` stores needs {needed} bytes of each {interval} (the smallest of \
                 block and `verify_interval`)"
            )));
    }
    Ok(Some(verify))
}

fn rates(section: &Section, job: &Job) -> Result<(), SourceError> {
    let pace = &job.pace;
    let some = |rate: &PerDirection<Option<u64>>| rate.read.is_some() || rate.write.is_some();
    if some(&pace.rate) && some(&pace.rate_iops) {
        return Err(section
            .at(&["rate_iops"])
            .error("`rate` and `rate_iops` exclude each other, as in fio"));
    }
    for (name, of, least, most) in [
        ("rate_min", "rate", &pace.rate_min, &pace.rate),
        ("rate_iops_min", "rate_iops", &pace.rate_iops_min, &pace.rate_iops),
    ] {
        let over = |least: Option<u64>, most: Option<u64>| {
            least.zip(most).is_some_and(|(least, most)| least > most)
        };
        if over(least.read, most.read) || over(least.write, most.write) {
            return Err(section.at(&[name]).error(format!("`{name}` is over `{of}`")));
        }
    }
    Ok(())
}

/// What cannot work together.
fn together(section: &Section, draft: &Draft, job: &Job) -> Result<(), SourceError> {
    if job.timing.time_based && job.timing.runtime.is_none() {
        return Err(section.at(&["time_based"]).error("a `time_based` job needs a `runtime`"));
    }
    if let Some(dedupe) = job.buffers.dedupe
        && let DedupeMode::WorkingSet { percent } = dedupe.mode
    {
        let place = section.at(&["dedupe_mode"]);
        if percent == 0 {
            return Err(place.error(
                "`dedupe_mode=working_set` needs a `dedupe_working_set_percentage` over 0",
            ));
        }
        if draft.size.is_none() || job.files.count() > 1 {
            return Err(place
                .error("`dedupe_mode=working_set` needs a `size`, and one file only, as in fio"));
        }
    }
    let depth = if job.engine.is_synchronous() { 1 } else { u64::from(job.depth.depth) };
    let memory =
        job.blocks.max().saturating_mul(depth).saturating_mul(u64::from(job.process.clones));
    if memory > MOST_MEMORY {
        return Err(section.at(&["iodepth", "numjobs", "bssplit", "bsrange", "bs"]).error(
            format!(
                "its buffers would need {} (block × iodepth × numjobs); {} is the most",
                disklab_units::Bytes(memory).iec(),
                disklab_units::Bytes(MOST_MEMORY).iec()
            ),
        ));
    }
    Ok(())
}

/// What works, but not as one may think.
fn warnings(section: &Section, draft: &Draft, job: &Job) -> Vec<SourceError> {
    let mut warnings = Vec::new();
    let mut warn = |at: &[&str], what: String| warnings.push(section.at(at).error(what));
    if job.depth.depth > 1 && job.engine.is_synchronous() {
        warn(
            &["iodepth"],
            format!(
                "`iodepth` has no effect with the synchronous engine {}: one I/O is under way at \
                 a time; take `ioengine=io_uring` or `ioengine=libaio`",
                job.engine.name()
            ),
        );
    }
    if let (Some(names), Some(count)) = (&draft.file_names, draft.file_count)
        && count != names.len() as u64
    {
        warn(&["nrfiles"], format!("`nrfiles` has no effect: `filename` gives {}", names.len()));
    }
    if draft.invalidate_given && draft.opening.invalidate && draft.opening.pre_read {
        warn(&["invalidate"], "`invalidate` has no effect with `pre_read`".to_owned());
    }
    let aligned = |bytes: u64| bytes.is_multiple_of(512);
    if job.opening.direct
        && !(aligned(job.blocks.sizes.read.min()) && aligned(job.blocks.sizes.write.min()))
    {
        warn(
            &["bssplit", "bsrange", "bs"],
            "with `direct`, most file systems refuse blocks that are no multiple of 512 bytes"
                .to_owned(),
        );
    }
    if job.opening.create_on_open && job.pattern.access.reads {
        warn(
            &["create_on_open"],
            "with `create_on_open` nothing is written beforehand: reads find only what other \
             jobs left"
                .to_owned(),
        );
    }
    if let Some(verify) = &job.verify {
        let shared = matches!(job.files.names, NameSource::Fixed(_))
            && job.files.offset_increment == 0
            && job.process.clones > 1;
        if shared && verify.do_verify && job.pattern.access.writes {
            warn(
                &["numjobs"],
                "several clones write the same places, so that `verify` may find what another one \
                 wrote"
                    .to_owned(),
            );
        }
        let only_writes = job.pattern.access.writes && !job.pattern.access.reads;
        if only_writes && job.timing.time_based && verify.do_verify && verify.backlog.is_none() {
            warn(
                &["time_based"],
                "`verify` will not begin: the writes use all of `runtime`; give `verify_backlog`"
                    .to_owned(),
            );
        }
    }
    warnings
}
