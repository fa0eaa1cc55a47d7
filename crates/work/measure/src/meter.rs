//! What the drives and the processors do while a step of a workload runs.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::SystemRoot;
use crate::background::BackgroundIo;
use crate::block::BlockDevice;
use crate::counters::Counters;
use crate::medium::MediumCounter;
use crate::processors::ProcessorTime;
use disklab_sample::{Cpu, DriveSeries, DriveTraffic, Series};

/// Shorter intervals are made this long: the counters of times have a grain of
/// some milliseconds, and reading them must cost nothing that can be measured.
const SHORTEST: Duration = Duration::from_millis(10);
/// A `stat` file has 17 numbers of at most 20 digits.
const STAT_BYTES: usize = 512;

/// A drive of a study, or what lies below a directory, and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedDevice {
    /// Its name in the study, which the results carry.
    pub name: String,
    /// Its device node, or a link to it.
    pub device: PathBuf,
}

/// What was measured between [`Meter::start`] and [`Meter::stop`].
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StepMeasurement {
    /// The machine's CPU time. The program's own (`user_ns`, `system_ns`)
    /// is 0 here: the program's caller knows it.
    pub cpu: Cpu,
    /// What each watched drive did. A drive whose counters cannot be read is
    /// left out.
    pub drives: Vec<DriveTraffic>,
    /// The same, interval by interval. The last interval is whatever was left
    /// when the meter stopped, so it is mostly shorter: its length is `elapsed`
    /// less the full intervals before it.
    pub series: Series,
    /// An estimate of the bytes that this machine's physical block devices moved
    /// and the watched drives do not explain; see [`Meter`].
    pub background_bytes: Option<u64>,
    /// Time between start and stop.
    pub elapsed: Duration,
}

/// Reads counters at the start, at the end, and at each interval in between.
///
/// The bytes of others are an estimate, for reads and writes apart: what all
/// physical block devices moved, less what the watched drives moved, where
/// these are such devices or partitions of them, and less what the watched loop
/// devices moved of the disks under their files. A file system under the files
/// adds its own metadata, the page cache keeps reads from the disk and puts
/// writes off until after the end, and a RAID under the files writes more than
/// it is given; so the estimate never goes below 0, and only a large value
/// means something. It is `None` where the disks under a watched drive cannot
/// be told.
#[derive(Debug)]
pub struct Meter {
    root: SystemRoot,
    probes: Vec<Probe>,
    processors: Option<ProcessorTime>,
    background: Option<BackgroundIo>,
    interval: Duration,
    began: Instant,
    /// Dropping it stops the sampler.
    stop: Option<Sender<()>>,
    sampler: Option<JoinHandle<Vec<DriveSeries>>>,
}

impl Meter {
    /// Starts watching. `interval` is that of the series: 1 s as a rule, 10 ms
    /// at least.
    pub fn start(watched: &[NamedDevice], interval: Duration) -> Self {
        Self::start_in(&SystemRoot::here(), watched, interval)
    }

    /// The same, in a tree that may be made up.
    pub fn start_in(root: &SystemRoot, watched: &[NamedDevice], interval: Duration) -> Self {
        let interval = interval.max(SHORTEST);
        let devices: Vec<Option<BlockDevice>> =
            watched.iter().map(|drive| BlockDevice::at(root, &drive.device)).collect();
        let background = devices.iter().cloned().collect::<Option<Vec<_>>>();
        let background = background.and_then(|devices| BackgroundIo::start(root, &devices));
        let (stop, stopped) = channel();
        let processors = processor_time(root);
        let began = Instant::now();
        let probes = probes(root, watched, &devices);
        let mut sampler = Sampler::new(&probes, began, interval);
        let sampler = std::thread::Builder::new()
            .name("meter".to_owned())
            .spawn(move || sampler.run(&stopped))
            .inspect_err(|error| tracing::warn!(%error, "no series: cannot start the sampler"))
            .ok();
        Self {
            root: root.clone(),
            probes,
            processors,
            background,
            interval,
            began,
            stop: Some(stop),
            sampler,
        }
    }

    /// Stops at once and gives what was measured.
    pub fn stop(mut self) -> StepMeasurement {
        // The sampler takes its last sample first, so that the series and the
        // totals end together as nearly as can be.
        self.stop = None;
        let series = self.sampler.take().and_then(|sampler| sampler.join().ok());
        let elapsed = self.began.elapsed();
        let drives = self.probes.iter().filter_map(Probe::traffic).collect();
        let after = processor_time(&self.root);
        let mut cpu = Cpu::default();
        if let (Some(before), Some(after)) = (self.processors, after) {
            (cpu.machine_busy_ns, cpu.machine_steal_ns) = after.since(&before);
            cpu.processors = after.processors;
        }
        let series = series.map_or_else(Series::default, |drives| Series {
            interval_ns: u64::try_from(self.interval.as_nanos()).unwrap_or(u64::MAX),
            drives,
        });
        let background_bytes =
            self.background.take().and_then(|background| background.stop(&self.root));
        StepMeasurement { cpu, drives, series, background_bytes, elapsed }
    }
}

fn processor_time(root: &SystemRoot) -> Option<ProcessorTime> {
    ProcessorTime::parse(&root.text("/proc/stat")?)
}

/// A watched drive, with its `stat` file held open: reading it again costs one
/// system call.
#[derive(Debug)]
struct Probe {
    name: String,
    stat: File,
    before: Counters,
    medium: Option<MediumCounter>,
}

fn probes(
    root: &SystemRoot,
    watched: &[NamedDevice],
    devices: &[Option<BlockDevice>],
) -> Vec<Probe> {
    let mut probes = Vec::new();
    for (drive, device) in watched.iter().zip(devices) {
        let stat = device.as_ref().and_then(|d| File::open(d.attribute_path("stat")).ok());
        let opened = stat.and_then(|stat| {
            let before = read_counters(&stat)?;
            let medium = device.as_ref().and_then(|device| MediumCounter::of(root, device));
            Some(Probe { name: drive.name.clone(), stat, before, medium })
        });
        if opened.is_none() {
            let device = drive.device.display();
            tracing::warn!(drive = drive.name, %device, "its counters cannot be read");
        }
        probes.extend(opened);
    }
    probes
}

impl Probe {
    fn traffic(&self) -> Option<DriveTraffic> {
        let traffic = read_counters(&self.stat)?.since(&self.before).traffic(&self.name);
        let medium_write_bytes = self.medium.as_ref().and_then(MediumCounter::written);
        Some(DriveTraffic { medium_write_bytes, ..traffic })
    }
}

fn read_counters(stat: &File) -> Option<Counters> {
    let mut buffer = [0; STAT_BYTES];
    let length = stat.read_at(&mut buffer, 0).ok()?;
    Counters::parse(std::str::from_utf8(&buffer[..length]).ok()?)
}

/// The thread that fills the series.
struct Sampler {
    began: Instant,
    interval: Duration,
    /// How many intervals are filled.
    filled: u32,
    lanes: Vec<Lane>,
}

struct Lane {
    stat: Option<File>,
    last: Counters,
    series: DriveSeries,
}

impl Sampler {
    fn new(probes: &[Probe], began: Instant, interval: Duration) -> Self {
        let lanes = probes.iter().map(|probe| Lane {
            stat: probe.stat.try_clone().ok(),
            last: probe.before,
            series: DriveSeries { drive: probe.name.clone(), ..DriveSeries::default() },
        });
        Self { began, interval, filled: 0, lanes: lanes.collect() }
    }

    fn run(&mut self, stopped: &Receiver<()>) -> Vec<DriveSeries> {
        loop {
            let next = self.interval.saturating_mul(self.filled.saturating_add(1));
            let left = next.saturating_sub(self.began.elapsed());
            match stopped.recv_timeout(left) {
                Err(RecvTimeoutError::Timeout) => self.sample(self.full_intervals()),
                Ok(()) | Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        // The last, partial interval, and before it any full one that was missed.
        self.sample(self.full_intervals().saturating_add(1));
        self.lanes.drain(..).map(|lane| lane.series).collect()
    }

    fn full_intervals(&self) -> u32 {
        let full = self.began.elapsed().as_nanos() / self.interval.as_nanos().max(1);
        u32::try_from(full).unwrap_or(u32::MAX).max(self.filled)
    }

    /// Fills the series up to `count` intervals. Where the thread woke late, the
    /// intervals that it missed share evenly what was done in them.
    fn sample(&mut self, count: u32) {
        let missed = u64::from(count.saturating_sub(self.filled));
        if missed == 0 {
            return;
        }
        for lane in &mut self.lanes {
            // The counters of a drive that went away are frozen.
            let now = lane.stat.as_ref().and_then(read_counters).unwrap_or(lane.last);
            let grown = now.since(&lane.last);
            lane.last = now;
            spread(&mut lane.series.read_bytes, grown.read_bytes(), missed);
            spread(&mut lane.series.write_bytes, grown.write_bytes(), missed);
            spread(&mut lane.series.requests, grown.requests(), missed);
        }
        self.filled = count;
    }
}

/// Appends `total` in `parts` entries that differ by 1 at most.
fn spread(list: &mut Vec<u64>, total: u64, parts: u64) {
    let (share, rest) = (total / parts, total % parts);
    list.extend((0..parts).map(|part| share + u64::from(part < rest)));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fabricated::Fabricated;

    fn watched(name: &str, device: &str) -> NamedDevice {
        NamedDevice { name: name.to_owned(), device: PathBuf::from(device) }
    }

    #[test]
    fn totals_series_and_processors_agree() {
        let directory = tempfile::tempdir().expect("temp");
        let tree = Fabricated::new(directory.path());
        tree.drive("sda", (8, 0), "A").drive("sdb", (8, 16), "B");
        tree.counters(&[("sda", 10, 100), ("sdb", 0, 0)]);
        let drives = [watched("d1", "/dev/disk/by-id/ata-TESTDRIVE_1000_A")];
        let meter = Meter::start_in(&tree.root(), &drives, Duration::from_millis(20));
        tree.counters(&[("sda", 14, 108), ("sdb", 1, 0)]);
        std::thread::sleep(Duration::from_millis(90));
        tree.counters(&[("sda", 20, 110), ("sdb", 1, 0)]);
        tree.file("/proc/stat", "cpu  130 0 60 1000 0 0 0 7 0 0\ncpu0 1 0 0 0\n");
        let measured = meter.stop();
        assert_eq!(measured.drives.len(), 1);
        let traffic = &measured.drives[0];
        assert_eq!((traffic.drive.as_str(), traffic.read_bytes), ("d1", 10 * 512));
        assert_eq!(traffic.write_bytes, 10 * 512);
        let series = &measured.series.drives[0];
        assert_eq!(measured.series.interval_ns, 20_000_000);
        assert_eq!(series.read_bytes.iter().sum::<u64>(), traffic.read_bytes);
        assert_eq!(series.write_bytes.iter().sum::<u64>(), traffic.write_bytes);
        assert_eq!(series.requests.iter().sum::<u64>(), traffic.reads + traffic.writes);
        // The meter counts its own intervals: one per 20 ms begun.
        let begun = measured.elapsed.as_millis() / 20 + 1;
        let entries = series.requests.len() as u128;
        assert!(entries >= 5 && entries <= begun, "{entries} of {begun}");
        assert_eq!(measured.background_bytes, Some(512));
        assert_eq!(measured.cpu.processors, 1);
        let tick_ns = 1_000_000_000 / crate::processors::ticks_per_second();
        assert_eq!(measured.cpu.machine_busy_ns, 42 * tick_ns);
        assert_eq!(measured.cpu.machine_steal_ns, 2 * tick_ns);
    }

    #[test]
    fn a_drive_that_is_not_there_is_left_out() {
        let directory = tempfile::tempdir().expect("temp");
        let tree = Fabricated::new(directory.path());
        let meter =
            Meter::start_in(&tree.root(), &[watched("d1", "/dev/sdx")], Duration::from_secs(1));
        let measured = meter.stop();
        assert!(measured.drives.is_empty() && measured.series.drives.is_empty());
        assert_eq!(measured.background_bytes, None);
    }

    #[test]
    fn a_drive_that_goes_away_leaves_what_was_counted() {
        let directory = tempfile::tempdir().expect("temp");
        let tree = Fabricated::new(directory.path());
        tree.drive("sda", (8, 0), "A").counters(&[("sda", 1, 1)]);
        let meter = Meter::start_in(&tree.root(), &[watched("d1", "/dev/sda")], SHORTEST);
        // As when the driver gives an error: the file holds no counters.
        tree.set("sda", "stat", "");
        let measured = meter.stop();
        assert!(measured.drives.is_empty());
        assert_eq!(measured.series.drives[0].requests.iter().sum::<u64>(), 0);
    }

    #[test]
    fn this_machine_can_be_metered_and_a_meter_dropped() {
        drop(Meter::start(&[], Duration::from_secs(1000)));
        let measured = Meter::start(&[], Duration::from_secs(1000)).stop();
        assert!(measured.cpu.processors > 0);
        assert!(measured.elapsed < Duration::from_secs(1000));
    }

    proptest! {
        #[test]
        fn spreading_loses_nothing(total in any::<u64>(), parts in 1u64..200) {
            let mut list = vec![7];
            spread(&mut list, total, parts);
            prop_assert_eq!(list.len() as u64, parts + 1);
            prop_assert_eq!(list[1..].iter().map(|n| u128::from(*n)).sum::<u128>(), u128::from(total));
            prop_assert!(list[1] - list[list.len() - 1] <= 1);
        }
    }
}
