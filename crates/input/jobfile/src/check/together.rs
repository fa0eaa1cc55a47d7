//! Options that exclude each other, or one makes useless.

use disklab_source::SourceError;

use crate::draft::Draft;
use crate::job::{Amount, DedupeMode, Job, NameSource, PerDirection};
use crate::section::Section;

/// Buffers of all clones of a job together.
const MOST_MEMORY: u64 = 64 << 30;

pub(super) fn rates(section: &Section, job: &Job) -> Result<(), SourceError> {
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
pub(super) fn together(section: &Section, draft: &Draft, job: &Job) -> Result<(), SourceError> {
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
    let depth = u64::from(job.reachable_depth());
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

/// Options that do nothing without another one: their names, what they need, and
/// whether it is there.
type Idle = (&'static [&'static str], &'static str, fn(&Job) -> bool);

const IDLE: [Idle; 12] = [
    (
        &["thinktime_spin", "thinktime_blocks", "thinktime_blocks_type", "thinktime_iotime"],
        "`thinktime`",
        |job| job.pace.think.is_some(),
    ),
    (&["rate_process", "rate_ignore_thinktime"], "`rate` or `rate_iops`", limited),
    (&["rwmixread", "rwmixwrite"], "a `rw` that reads and writes", |job| {
        job.pattern.access.reads && job.pattern.access.writes
    }),
    (
        &["percentage_random", "random_distribution", "norandommap", "blockalign", "rw_sequencer"],
        "a random `rw`",
        |job| job.pattern.access.random,
    ),
    (&["buffer_compress_chunk"], "`buffer_compress_percentage`", |job| {
        job.buffers.compress.is_some()
    }),
    (
        &["dedupe_mode", "dedupe_working_set_percentage", "dedupe_global"],
        "`dedupe_percentage`",
        |job| job.buffers.dedupe.is_some(),
    ),
    (
        &[
            "do_verify",
            "verify_fatal",
            "verify_interval",
            "verify_offset",
            "verify_backlog",
            "verify_backlog_batch",
            "verify_pattern",
            "verify_dump",
        ],
        "`verify`",
        |job| job.verify.is_some(),
    ),
    (&["fsync", "fdatasync", "end_fsync", "overwrite"], "a `rw` that writes", |job| {
        job.pattern.access.writes
    }),
    (&["offset_increment"], "`numjobs` above 1", |job| job.process.clones > 1),
    (&["flow_id", "flow_sleep"], "`flow`", |job| job.pace.flow.is_some()),
    (&["latency_window", "latency_percentile", "latency_run"], "`latency_target`", |job| {
        job.depth.target.is_some()
    }),
    (&["steadystate", "steadystate_ramp_time"], "`steadystate_duration`", |job| {
        job.timing.steady.is_some()
    }),
];

fn limited(job: &Job) -> bool {
    let some = |rate: &PerDirection<Option<u64>>| rate.read.is_some() || rate.write.is_some();
    some(&job.pace.rate) || some(&job.pace.rate_iops)
}

/// The options of this section that do nothing. Global ones are for other
/// sections, too, and zero is what is without them.
fn idle(section: &Section, job: &Job) -> Vec<SourceError> {
    let mut warnings = Vec::new();
    for (names, needed, is_there) in IDLE {
        for name in names.iter().filter(|_| !is_there(job)) {
            if let Some(setting) = section.setting(name)
                && !setting.is_global()
                && setting.value() != "0"
            {
                let what = format!("`{name}` has no effect without {needed}");
                warnings.push(setting.value_place().error(what));
            }
        }
    }
    warnings
}

/// What works, but not as one may think.
pub(super) fn warnings(section: &Section, draft: &Draft, job: &Job) -> Vec<SourceError> {
    let mut warnings = idle(section, job);
    for (setting, why) in section.settings().iter().filter_map(|s| Some((s, s.idle()?))) {
        let what = format!("`{}` has no effect: {why}", setting.written());
        warnings.push(setting.place().error(what));
    }
    let mut warn = |at: &[&str], what: String| warnings.push(section.at(at).error(what));
    if draft.timing.time_based && !job.timing.time_based {
        warn(&["time_based"], "`time_based` has no effect without `runtime`".to_owned());
    }
    if job.depth.depth > 1 && job.reachable_depth() == 1 {
        warn(
            &["iodepth"],
            format!(
                "`iodepth` has no effect with the synchronous engine {}: one I/O is in flight at \
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
            "with `direct`, most file systems refuse blocks that are not a multiple of 512 bytes"
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
            && job.files.offset_increment == Amount::Bytes(0)
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
