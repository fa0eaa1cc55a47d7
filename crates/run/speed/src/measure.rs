//! The measurements, and what they should give.

use std::time::Duration;

use crate::drive::DriveMark;
use crate::guests::{READS, TimedGuest, guest};
use crate::job::SpeedJob;
use crate::memory_copies::copies;
use crate::raw_disk::MIB;
use crate::side_by_side::side_by_side;
use crate::{SpeedFigure, SpeedOptions, SpeedTarget, round_trip};
use disklab_lab::LabError;

/// Writes to the array.
const RAID_WRITES: u64 = 3_000;
/// MiB of the sequential measurements.
const STREAM_MIB: u64 = 256;
/// Round trips of one measurement of the unit.
const ROUNDS: u32 = 10_000;
/// Memory of the guest that is only booted, in MiB.
const BOOT_MIB: u64 = 1024;
const BOOT_DRIVES: usize = 4;

/// Measures how fast the lab is. `progress` is told what is measured next.
///
/// # Errors
/// Where a guest does not boot or do its job, or the user asked to stop.
pub fn measure(
    options: &SpeedOptions,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<SpeedFigure>, LabError> {
    let mut all = Figures::default();
    let repeats = options.repeats.max(1);
    for number in 1..=repeats {
        let mut step = |what: &str| progress(&format!("{what} ({number} of {repeats})"));
        step("single reads");
        let before = unit(options)?;
        let (_, marks) = guest(options, SpeedJob::Reads(READS), 1).run()?;
        let between = unit(options)?;
        all.reads(&marks, (before + between) / 2);
        step("single reads by the engine");
        let (_, marks) = guest(options, SpeedJob::EngineReads(READS), 1).run()?;
        let then = unit(options)?;
        all.engine_reads(&marks, (between + then) / 2);
        step("an array's writes");
        let (_, marks) = guest(options, SpeedJob::RaidWrites(RAID_WRITES), 4).run()?;
        let after = unit(options)?;
        all.array(&marks, (then + after) / 2);
        all.round_trip.extend([before, between, then, after].map(micros));
        step("sequential access");
        let copies_before = copies(options.core, STREAM_MIB)?;
        let (_, marks) = guest(options, SpeedJob::Stream(STREAM_MIB), 1).run()?;
        let copies_after = copies(options.core, STREAM_MIB)?;
        let write = (copies_before.write + copies_after.write) / 2.0;
        let read = (copies_before.read + copies_after.read) / 2.0;
        all.stream(&marks, write, read);
        step("booting");
        let boot =
            TimedGuest { memory_mib: BOOT_MIB, ..guest(options, SpeedJob::Nothing, BOOT_DRIVES) };
        all.boot.push(boot.run()?.0.real_time.as_secs_f64() * 1e3);
        if options.other_core.is_some() {
            step("two labs side by side");
        }
        if let Some(two) = side_by_side(options)? {
            all.side_by_side.push(two.labs);
            all.pairs.push(two.pairs);
            all.loops.push(two.loops);
        }
    }
    Ok(all.figures())
}

fn unit(options: &SpeedOptions) -> Result<Duration, LabError> {
    round_trip(Some(options.core), ROUNDS)
}

/// All that is measured.
#[derive(Debug, Default)]
struct Figures {
    round_trip: Vec<f64>,
    read: Vec<f64>,
    engine_read: Vec<f64>,
    reads_per_second: Vec<f64>,
    times_real_time: Vec<f64>,
    array: Vec<f64>,
    memory_write: Vec<f64>,
    memory_read: Vec<f64>,
    write: Vec<f64>,
    write_share: Vec<f64>,
    stream_read: Vec<f64>,
    read_share: Vec<f64>,
    zeros_written: Vec<f64>,
    zeros_read: Vec<f64>,
    side_by_side: Vec<f64>,
    pairs: Vec<f64>,
    loops: Vec<f64>,
    boot: Vec<f64>,
}

impl Figures {
    fn reads(&mut self, marks: &[DriveMark], unit: Duration) {
        let [from, to] = marks else { return };
        let took = to.real - from.real;
        let each = took.as_secs_f64() / READS as f64;
        self.read.push(each / unit.as_secs_f64());
        self.reads_per_second.push(1.0 / each);
        let virtual_ns = to.virtual_time.0.saturating_sub(from.virtual_time.0);
        self.times_real_time.push(virtual_ns as f64 / 1e9 / took.as_secs_f64());
    }

    fn engine_reads(&mut self, marks: &[DriveMark], unit: Duration) {
        let [from, to] = marks else { return };
        let each = (to.real - from.real).as_secs_f64() / READS as f64;
        self.engine_read.push(each / unit.as_secs_f64());
    }

    fn array(&mut self, marks: &[DriveMark], unit: Duration) {
        let [from, to] = marks else { return };
        let requests = to.requests.saturating_sub(from.requests).max(1);
        let each = (to.real - from.real).as_secs_f64() / requests as f64;
        self.array.push(each / unit.as_secs_f64());
    }

    fn stream(&mut self, marks: &[DriveMark], memory_write: f64, memory_read: f64) {
        let [a, b, c, d, e] = marks else { return };
        let speed = |from: &DriveMark, to: &DriveMark| {
            (STREAM_MIB * MIB as u64) as f64 / (to.real - from.real).as_secs_f64()
        };
        let (write, read) = (speed(a, b), speed(b, c));
        self.memory_write.push(memory_write / 1e9);
        self.memory_read.push(memory_read / 1e9);
        self.write.push(write / 1e9);
        self.write_share.push(write / memory_write);
        self.stream_read.push(read / 1e9);
        self.read_share.push(read / memory_read);
        self.zeros_written.push(speed(c, d) / write);
        self.zeros_read.push(speed(d, e) / 1e9);
    }

    /// In the order of a report; what was not measured is left out.
    fn figures(self) -> Vec<SpeedFigure> {
        use SpeedTarget::{AtLeast, AtMost};
        let at = |key, name, unit, target, values| SpeedFigure { key, name, unit, target, values };
        let all = vec![
            at("round_trip", "round trip of 16 bytes, the unit RT", "µs", None, self.round_trip),
            at("read", "random read of 4 KiB", "RT", Some(AtMost(8.0)), self.read),
            at("engine_read", "the same by the engine", "RT", Some(AtMost(10.0)), self.engine_read),
            at("reads_per_second", "such reads per second", "", None, self.reads_per_second),
            at("times_real_time", "virtual by real time", "", None, self.times_real_time),
            at("array", "RAID 5, request to a drive", "RT", Some(AtMost(8.0)), self.array),
            at("memory_write", "written to tmpfs", "GB/s", None, self.memory_write),
            at("write", "written to a drive", "GB/s", None, self.write),
            at("write_share", "share of tmpfs", "", Some(AtLeast(0.5)), self.write_share),
            at("zeros", "zeros, times as fast", "", Some(AtLeast(2.0)), self.zeros_written),
            at("memory_read", "read from tmpfs", "GB/s", None, self.memory_read),
            at("stream_read", "read from a drive", "GB/s", None, self.stream_read),
            at("read_share", "share of tmpfs", "", Some(AtLeast(0.1)), self.read_share),
            at("zeros_read", "zeros read", "GB/s", None, self.zeros_read),
            at("side_by_side", "two labs by one", "", Some(AtLeast(1.8)), self.side_by_side),
            at("pairs_side_by_side", "two plain pairs by one", "", None, self.pairs),
            at("loops_side_by_side", "two plain loops by one", "", None, self.loops),
            at("boot", "boot and power-off, 1 GiB, 4 drives", "ms", None, self.boot),
        ];
        all.into_iter().filter(|figure| !figure.values.is_empty()).collect()
    }
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}
