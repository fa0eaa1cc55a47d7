//! A job while its options are read one by one.

use std::time::Duration;

use crate::job::{
    Access, Amount, BlockShare, BlockSizes, Blocks, Buffers, Checksum, Compress, ContinueOn,
    CpuPolicy, Dedupe, DedupeMode, Distribution, Engine, Fadvise, Fallocate, FileOrder, Filling,
    Flow, Flushing, Generator, Groups, IoClass, JobProcess, LatencyTarget, Logs, Opening, Pace,
    PatternPart, PerDirection, RateProcess, Reporting, Sequence, Sequencer, SteadyFigure,
    SteadyRule, Sync, ThinkBlocks, Timing, Verify,
};

/// A job while its options are read one by one: what each said, with fio's
/// defaults for the others. What depends on several is put together at the end.
#[derive(Debug, Clone)]
pub(crate) struct Draft {
    pub description: Option<String>,
    pub access: Access,
    pub sequence: Sequence,
    pub sequencer: Sequencer,
    pub read_percent: u8,
    pub random_percent: PerDirection<u8>,
    pub distribution: PerDirection<Distribution>,
    pub no_random_map: bool,
    pub soft_random_map: bool,
    pub generator: Generator,
    pub repeatable: bool,
    pub all_repeatable: bool,
    pub seed: Option<u64>,
    pub block: PerDirection<u64>,
    pub block_range: PerDirection<Option<(u64, u64)>>,
    pub block_split: PerDirection<Option<Vec<BlockShare>>>,
    pub block_align: PerDirection<Option<u64>>,
    pub unaligned: bool,
    pub by_order: bool,
    pub size: Option<Amount>,
    pub file_size: Option<(u64, u64)>,
    pub io_size: Option<Amount>,
    pub number_ios: Option<u64>,
    pub loops: u64,
    pub file_names: Option<Vec<String>>,
    pub name_format: Option<String>,
    pub directories: Vec<String>,
    pub file_count: Option<u64>,
    pub open_files: Option<u64>,
    pub file_order: FileOrder,
    pub offset: Amount,
    pub offset_increment: Amount,
    pub offset_align: Option<u64>,
    pub engine: Engine,
    pub depth: u32,
    pub batch: u32,
    pub complete_min: u32,
    pub complete_max: Option<u32>,
    pub low: u32,
    pub opening: Opening,
    pub invalidate_given: bool,
    pub flushing: Flushing,
    pub timing: Timing,
    pub flow: Flow,
    pub offload: bool,
    pub target: LatencyTarget,
    pub steady: SteadyRule,
    pub pace: Pace,
    pub think_time: Duration,
    pub think_spin: Duration,
    pub think_blocks: u64,
    pub think_counted: ThinkBlocks,
    pub think_io_time: Duration,
    pub zero_buffers: bool,
    pub refill: Option<bool>,
    pub scramble: Option<bool>,
    pub buffer_pattern: Option<Vec<PatternPart>>,
    pub compress_percent: Option<u8>,
    pub compress_chunk: u64,
    pub dedupe_percent: u8,
    pub dedupe_working_set: bool,
    pub dedupe_set_percent: u8,
    pub dedupe_global: bool,
    pub checksum: Option<Checksum>,
    pub verify: Verify,
    pub process: JobProcess,
    pub io_class: Option<IoClass>,
    pub io_level: Option<u8>,
    pub groups: Groups,
    pub wait_for: Option<String>,
    pub continue_on_error: ContinueOn,
    pub reporting: Reporting,
    pub gtod_reduce: bool,
}

impl Default for Draft {
    /// fio's defaults (fio 3.33, options.c).
    fn default() -> Self {
        Self {
            description: None,
            access: Access { reads: true, writes: false, random: false },
            sequence: Sequence::None,
            sequencer: Sequencer::Sequential,
            read_percent: 50,
            random_percent: PerDirection::both(100),
            distribution: PerDirection::both(Distribution::Uniform),
            no_random_map: false,
            soft_random_map: false,
            generator: Generator::Tausworthe,
            repeatable: true,
            all_repeatable: false,
            seed: None,
            block: PerDirection::both(4096),
            block_range: PerDirection::both(None),
            block_split: PerDirection::both(None),
            block_align: PerDirection::both(None),
            unaligned: false,
            by_order: false,
            size: None,
            file_size: None,
            io_size: None,
            number_ios: None,
            loops: 1,
            file_names: None,
            name_format: None,
            directories: Vec::new(),
            file_count: None,
            open_files: None,
            file_order: FileOrder::RoundRobin { every: 1 },
            offset: Amount::Bytes(0),
            offset_increment: Amount::Bytes(0),
            offset_align: None,
            engine: Engine::Any,
            depth: 1,
            batch: 1,
            complete_min: 1,
            complete_max: None,
            low: 0,
            opening: Opening {
                direct: false,
                sync: Sync::None,
                create_on_open: false,
                create_fsync: true,
                fallocate: Fallocate::Native,
                overwrite: false,
                append: false,
                invalidate: true,
                fadvise: Fadvise::Pattern,
                pre_read: false,
                unlink: false,
                unlink_each_loop: false,
            },
            invalidate_given: false,
            flushing: Flushing::default(),
            timing: Timing::default(),
            flow: Flow { id: 0, weight: 0, sleep: Duration::ZERO },
            offload: false,
            target: LatencyTarget {
                latency: Duration::ZERO,
                window: Duration::ZERO,
                percentile: 100.0,
                keeps_seeking: false,
            },
            steady: SteadyRule {
                figure: SteadyFigure::Iops,
                slope: true,
                limit: 0.01,
                percent: true,
                seconds: 0,
                ramp: Duration::ZERO,
            },
            pace: Pace {
                rate: PerDirection::both(None),
                rate_iops: PerDirection::both(None),
                rate_min: PerDirection::both(None),
                rate_iops_min: PerDirection::both(None),
                cycle: Duration::from_millis(1000),
                process: RateProcess::Linear,
                ignore_thinktime: false,
                think: None,
                flow: None,
            },
            think_time: Duration::ZERO,
            think_spin: Duration::ZERO,
            think_blocks: 1,
            think_counted: ThinkBlocks::Complete,
            think_io_time: Duration::ZERO,
            zero_buffers: false,
            refill: None,
            scramble: None,
            buffer_pattern: None,
            compress_percent: None,
            compress_chunk: 512,
            dedupe_percent: 0,
            dedupe_working_set: false,
            dedupe_set_percent: 5,
            dedupe_global: false,
            checksum: None,
            verify: Verify {
                checksum: Checksum::Null,
                do_verify: true,
                fatal: false,
                interval: None,
                offset: 0,
                backlog: None,
                backlog_batch: None,
                pattern: Vec::new(),
                dump: false,
            },
            process: JobProcess {
                clones: 1,
                threads: false,
                nice: 0,
                io_priority: None,
                cpus: None,
                cpu_policy: CpuPolicy::Shared,
                numa_nodes: None,
                memory_policy: None,
            },
            io_class: None,
            io_level: None,
            groups: Groups::default(),
            wait_for: None,
            continue_on_error: ContinueOn::default(),
            reporting: Reporting {
                percentiles: vec![
                    1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0,
                    99.5, 99.9, 99.95, 99.99,
                ],
                clat_percentiles: true,
                lat_percentiles: false,
                slat_percentiles: false,
                lat: true,
                clat: true,
                slat: true,
                bw: true,
                bw_window: Duration::from_millis(500),
                iops_window: Duration::from_millis(500),
                logs: Logs::default(),
                log_step: None,
                significant_figures: 4,
                kb_base: 1024,
                unit_base: 0,
            },
            gtod_reduce: false,
        }
    }
}

impl Draft {
    /// How large I/Os are: `bssplit` holds before `bsrange`, and that before `bs`.
    pub fn blocks(&self) -> Blocks {
        let sizes = |fixed: u64, range: Option<(u64, u64)>, split: &Option<Vec<BlockShare>>| match (
            split, range,
        ) {
            (Some(split), _) => BlockSizes::Split(split.clone()),
            (None, Some((min, max))) if min < max => BlockSizes::Range { min, max },
            (None, Some((min, _))) => BlockSizes::Fixed(min),
            (None, None) => BlockSizes::Fixed(fixed),
        };
        let sizes = PerDirection {
            read: sizes(self.block.read, self.block_range.read, &self.block_split.read),
            write: sizes(self.block.write, self.block_range.write, &self.block_split.write),
        };
        let align = |given: Option<u64>, sizes: &BlockSizes| match given {
            Some(align) if self.access.random => align,
            _ => sizes.min(),
        };
        Blocks {
            align: PerDirection {
                read: align(self.block_align.read, &sizes.read),
                write: align(self.block_align.write, &sizes.write),
            },
            sizes,
            by_order: self.by_order,
            unaligned: self.unaligned,
        }
    }

    /// What is written, put together.
    pub fn buffers(&self) -> Buffers {
        let compress = self
            .compress_percent
            .map(|percent| Compress { percent, chunk: self.compress_chunk.max(1) });
        let dedupe = (self.dedupe_percent > 0).then_some(Dedupe {
            percent: self.dedupe_percent,
            mode: match self.dedupe_working_set {
                true => DedupeMode::WorkingSet { percent: self.dedupe_set_percent },
                false => DedupeMode::Repeat,
            },
            global: self.dedupe_global,
        });
        let filling = match &self.buffer_pattern {
            Some(pattern) => Filling::Pattern(pattern.clone()),
            None if self.zero_buffers => Filling::Zeros,
            None => Filling::Random,
        };
        let fixed = self.buffer_pattern.is_some();
        // str_buffer_compress_cb, str_dedupe_cb and fixup_options in fio.
        let refill = dedupe.is_some()
            || self
                .refill
                .unwrap_or(compress.is_some_and(|c| c.percent < 100) || self.checksum.is_some());
        // init_flags in init.c: not where nothing but zeros was asked for.
        let scramble = self.scramble.unwrap_or(!self.zero_buffers) && !fixed;
        Buffers { filling, refill, scramble: scramble && !refill, compress, dedupe }
    }
}
