//! Which I/O comes next.

use super::PerDirection;

/// What `rw` says: directions, and whether offsets are random.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// Whether it reads.
    pub reads: bool,
    /// Whether it writes. At least one of the two is true.
    pub writes: bool,
    /// Whether offsets are random.
    pub random: bool,
}

/// The number behind `rw=…:N`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sequence {
    /// No number.
    None,
    /// Sequential: bytes added to the offset after each I/O, besides its length;
    /// negative goes backwards. `rw=write:4k` leaves holes of 4 KiB.
    Skip(i64),
    /// Random: a new offset is drawn only after so many I/Os, at least 2;
    /// [`Sequencer`] says what comes between.
    Run(u32),
}

/// `rw_sequencer`: what the I/Os of a [`Sequence::Run`] do after the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sequencer {
    /// They continue sequentially.
    Sequential,
    /// They repeat the same offset.
    Identical,
}

/// Which I/O comes next.
#[derive(Debug, Clone, PartialEq)]
pub struct Pattern {
    /// Directions, and whether offsets are random.
    pub access: Access,
    /// Percent of reads where it reads and writes, 0 to 100. 100 where it only
    /// reads, 0 where it only writes.
    pub read_percent: u8,
    /// The number behind `rw`.
    pub sequence: Sequence,
    /// What it means for random offsets.
    pub sequencer: Sequencer,
    /// `percentage_random`: percent of I/Os whose offset is random, where
    /// `access.random` is true; the others continue sequentially.
    pub random_percent: PerDirection<u8>,
    /// How random offsets are spread.
    pub distribution: PerDirection<Distribution>,
    /// Whether each block is visited once before any is visited again. Only
    /// [`RandomMap::None`] where the distribution is not uniform, as in fio.
    pub map: RandomMap,
    /// `random_generator`; the native engine has one generator of its own.
    pub generator: Generator,
    /// `randrepeat`: the same offsets in each run. fio's default.
    pub repeatable: bool,
    /// `allrandrepeat`: everything else random is the same in each run, too.
    pub all_repeatable: bool,
    /// `randseed`, where given.
    pub seed: Option<u64>,
}

/// How random offsets are spread over a file. Uniform, Zipf, Pareto and normal
/// ones are fio's (lib/zipf.c, lib/gauss.c).
#[derive(Debug, Clone, PartialEq)]
pub enum Distribution {
    /// Each block is as likely as the others.
    Uniform,
    /// `zipf:theta[:center]`.
    Zipf {
        /// Over 0, not 1.
        theta: f64,
        /// Where the most likely block lies, as a share of the file, 0 to 1;
        /// without it at a place drawn once (fio hashes the block numbers).
        center: Option<f64>,
    },
    /// `pareto:h[:center]`.
    Pareto {
        /// Pareto power, over 0 and under 1.
        power: f64,
        /// As for Zipf.
        center: Option<f64>,
    },
    /// `normal:dev[:center]`.
    Normal {
        /// Deviation as a percentage of the file, from 0 to under 100.
        deviation: f64,
        /// As for Zipf; without it the middle.
        center: Option<f64>,
    },
    /// `zoned` or `zoned_abs`: zones behind each other from the start of the
    /// file, each drawn with its probability, uniform inside. Access shares sum
    /// to 100; relative sizes to 100, too.
    Zoned(Vec<Zone>),
}

/// One zone of [`Distribution::Zoned`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Zone {
    /// Percent of the I/Os that go there.
    pub access_percent: u8,
    /// How long it is.
    pub size: ZoneSize,
}

/// The length of a [`Zone`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ZoneSize {
    /// Percent of the file (`zoned`).
    Percent(u8),
    /// Bytes (`zoned_abs`).
    Bytes(u64),
}

/// Whether each block is visited once before any is visited again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RandomMap {
    /// Yes (fio's default).
    Each,
    /// No: `norandommap`, or a distribution that is not uniform.
    None,
    /// `softrandommap`: yes, and no error if there is no memory for fio's map;
    /// the native engine needs none, so this is [`RandomMap::Each`] to it.
    Soft,
}

/// `random_generator`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Generator {
    /// fio's default.
    Tausworthe,
    /// The same with 64 bits.
    Tausworthe64,
    /// A linear feedback shift register, which visits each block once without
    /// a map.
    Lfsr,
}
