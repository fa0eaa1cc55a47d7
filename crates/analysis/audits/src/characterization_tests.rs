//! What is found in runs that were drawn, to the letter: surroundings, profiles and traffic are
//! drawn from values at, below and above what the audits look for. A change that means to change
//! nothing changes none of it; another shows here what it changes.

use std::collections::BTreeSet;
use std::fmt::Write;

use disklab_options::{BenchKind, Bus, RunOrigin};
use disklab_sample::{
    ArrayState, Clock, Conditions, ContentProfile, Cpu, Direction, DriveConditions, DriveSeries,
    DriveState, DriveTraffic, Durability, Environment, Figure, FileData, FileSet, Latency,
    LatencyHistogram, Link, MemoryActivity, MemoryReads, Order, Pool, Power, Requests, Sample,
    Series, Space, Steadiness, Step, StepProfile, SyncCall, TimeIn, Trend,
};
use disklab_store::CellState;
use disklab_study::PlannedStack;
use disklab_units::BytesPerSecond;
use jiff::{SignedDuration, Timestamp};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::json;

use crate::Finding;
use crate::testing::{RunFixture, figure, trace};

const MB: u64 = 1_000_000;
const MIB: u64 = 1 << 20;
const GB: u64 = 1_000_000_000;

struct RandomValues(ChaCha8Rng);

impl RandomValues {
    fn below(&mut self, limit: usize) -> usize {
        self.0.random_range(0..limit)
    }

    /// Whether it happens, once in so many times.
    fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    fn one<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())].clone()
    }

    /// Nothing two times out of three.
    fn maybe<T: Clone>(&mut self, of: &[T]) -> Option<T> {
        self.once_in(3).then(|| self.one(of))
    }

    fn word(&mut self, of: &[&str]) -> Option<String> {
        self.maybe(of).map(str::to_owned)
    }
}

fn drives(random: &mut RandomValues) -> Vec<DriveState> {
    let count = random.one(&[0, 1, 2, 2]);
    let models = ["ST8000AS0002-1NA17Z", "Exos 2X18", "WDC WD40EFRX", "INTEL SSD"];
    let rotational = random.one(&[Some(true), Some(true), Some(false), None]);
    let model = random.one(&[None, Some(models[0]), Some(models[1]), Some(models[2])]);
    let drive = |random: &mut RandomValues, number: usize| DriveState {
        drive: format!("d-{}", number + 1),
        model: if random.once_in(8) { random.word(&models) } else { model.map(str::to_owned) },
        firmware: random.maybe(&["A", "A", "B"]).map(str::to_owned),
        size_bytes: random.one(&[0, 100 * MB, 4 * GB, 4000 * GB]),
        sectors: random.maybe(&[(512, 4096), (512, 512), (4096, 4096), (0, 0)]),
        rotational: if random.once_in(12) { Some(false) } else { rotational },
        scheduler: random.maybe(&["none", "mq-deadline"]).map(str::to_owned),
        write_cache: random
            .one(&[Some("write back"), Some("write back"), Some("write through"), None])
            .map(str::to_owned),
        link_speed: random.word(&["3.0 Gb/s", "5.4 Gb/s", "6.0 Gb/s", "0 Gb/s", "fast"]),
        link_bytes_per_second: random.maybe(&[1e8, 5.5e8]),
        backing_file: random.once_in(20).then(|| "/d".to_owned()),
        smart: random.maybe(&[
            json!({"passed": false, "pending_sectors": 1}),
            json!({"passed": true, "reallocated_sectors": 10, "temperature_celsius": 60}),
            json!({"reallocated_sectors": 9, "link_crc_errors": 9, "temperature_celsius": 59}),
            json!({"wear_percent": 100, "media_errors": 3, "temperature_celsius": 70}),
            json!({"wear_percent": 99, "temperature_celsius": 200, "link_speed_max": "6.0 Gb/s"}),
            json!({"link_crc_errors": 10, "link_speed_max": "6.0 Gb/s"}),
        ]),
        ..DriveState::default()
    };
    (0..count).map(|number| drive(random, number)).collect()
}

fn link(random: &mut RandomValues) -> Link {
    Link {
        kind: random.one(&["SATA", "PCIe", "USB"]).to_owned(),
        speed: "fast".to_owned(),
        bytes_per_second: random.one(&[0, 100 * MB, 300 * MB, 550 * MB]),
        most_bytes_per_second: random.maybe(&[100 * MB, 550 * MB, 612 * MB]),
    }
}

fn space(random: &mut RandomValues) -> Space {
    let bytes = random.one(&[0, GB, 1000 * GB]);
    let share = |random: &mut RandomValues| {
        (random.one(&[0.0, 0.0004, 0.05, 0.1, 0.5, 0.9, 0.95]) * bytes as f64) as u64
    };
    Space {
        bytes,
        used_before: share(random),
        used_after: random.once_in(2).then(|| share(random)),
        spread_over: random.once_in(3).then(|| share(random)),
        files: random.once_in(2).then(|| files(random)),
    }
}

fn files(random: &mut RandomValues) -> FileData {
    let bytes = random.one(&[MIB, 4 * MIB, GB]);
    let share =
        |random: &mut RandomValues| (random.one(&[0.0, 0.2, 0.9, 0.95, 1.0]) * bytes as f64) as u64;
    FileData {
        files: random.one(&[1, 10, 2000]),
        bytes,
        data: share(random),
        allocated: share(random),
        largest: random.one(&[bytes, bytes / 2]),
    }
}

fn drive_conditions(random: &mut RandomValues, drive: &DriveState) -> DriveConditions {
    DriveConditions {
        drive: drive.drive.clone(),
        partitions_at: random
            .maybe(&[vec![MIB], vec![63 * 512], vec![3 * GB / 10, 0]])
            .unwrap_or_default(),
        whole_bytes: random.maybe(&[0, GB, 4 * GB]),
        link: random.once_in(4).then(|| link(random)),
        cache_bytes: random.maybe(&[0, 64 * MIB, 256 * MIB]),
        staging_bytes: random.maybe(&[10 * MB, 20 * GB]),
        flush_of_class_ns: random.one(&[
            None,
            Some([8_000_000, 4_000_000, 16_000_000]),
            Some([50_000, 40_000, 90_000]),
        ]),
        room: random.maybe(&[(10, 100), (9, 100), (0, 0), (20, 100)]),
    }
}

fn conditions(random: &mut RandomValues, drives: &[DriveState]) -> Conditions {
    let words = |random: &mut RandomValues, of: &[&str]| {
        random.word(of).filter(|_| random.once_in(2)).into_iter().collect()
    };
    Conditions {
        kernel: random
            .one(&[None, Some("6.12.1"), Some("6.12.1"), Some("6.1.0")])
            .map(str::to_owned),
        clock: random.once_in(3).then(|| Clock {
            source: random.word(&["tsc", "hpet", "jiffies"]),
            stepped_ms: random.one(&[0, 50, 99, -100, 101, 5000]),
            slept_ms: random.one(&[0, 0, 0, 7000]),
            elapsed_ms: random.one(&[1000, 60_000, 100_000]),
        }),
        memory: random.maybe(&[[0, 0, 0], [MIB, 0, 0], [9 * MIB, 8 * MIB, 0], [0, GB, 1]]).map(
            |[swapped_in, swapped_out, killed]| MemoryActivity { swapped_in, swapped_out, killed },
        ),
        power: Power {
            throttled: random.maybe(&[0, 1, 12]),
            on_battery: random.maybe(&[true, false, false]),
        },
        aes: random.maybe(&[true, false]),
        limits: words(random, &["io.max 8:0 rbps=1048576", "cpu.max 10000"]),
        background: words(random, &["resync of md0", "lazy initialisation of ext4"]),
        arrays: random
            .maybe(&[0, 1, 2])
            .into_iter()
            .map(|missing| ArrayState {
                name: "md0".to_owned(),
                level: random.word(&["raid1", "raid5"]),
                missing,
            })
            .collect(),
        beneath: words(random, &["encryption", "snapshot", "network (nfs4)", "memory (tmpfs)"]),
        space: random.once_in(2).then(|| space(random)),
        zfs: random.word(&["2.2.2", "2.3.0"]),
        pools: random
            .maybe(&["ONLINE", "DEGRADED"])
            .into_iter()
            .map(|state| Pool {
                name: "tank".to_owned(),
                state: Some(state.to_owned()),
                compression: random.maybe(&[1.0, 1.5, 1.4, 2000.0]),
                ashift: random
                    .maybe(&[vec![9], vec![12], vec![12, 9], vec![0]])
                    .unwrap_or_default(),
                sync: random.word(&["standard", "disabled", "always"]),
                at_work: random.word(&["scrub"]),
            })
            .collect(),
        arc: None,
        drives: drives.iter().map(|drive| drive_conditions(random, drive)).collect(),
    }
}

fn surroundings(random: &mut RandomValues) -> Environment {
    let drives = drives(random);
    let mounts = [
        "/dev/a /m ext4 rw,relatime,lazytime",
        "/dev/a /m ext4 rw,nobarrier,noatime",
        "/dev/a /m btrfs rw,compress=zlib:3,nodatacow",
        "/dev/a /m btrfs rw,compress=no,ssd",
        "tank /m zfs rw,xattr",
        "none /m tmpfs rw",
        "/dev/a /m xfs rw,barrier=0",
    ];
    Environment {
        processors: random.one(&[0, 1, 4]),
        memory_bytes: random.one(&[0, GB, 64 * GB]),
        mounts: Some(random.one(&mounts))
            .into_iter()
            .map(|m| m.parse().expect("a mount"))
            .collect(),
        background_bytes: random.maybe(&[0, 8 * MIB, 9 * MIB, GB]),
        load: random.maybe(&[(0.1, 0.1), (3.0, 1.0)]),
        conditions: (!random.once_in(4)).then(|| conditions(random, &drives)),
        drives,
        ..Environment::default()
    }
}

fn requests(random: &mut RandomValues) -> Requests {
    let size = random.one(&[512, 4000, 4096, 64 << 10, 128 << 10, 129 << 10, MIB]);
    let order = random.one(&[Order::Sequential, Order::Random, Order::Random]);
    let largest = if random.once_in(5) { 2 * size } else { size };
    Requests { smallest: size, largest, order }
}

fn profile(random: &mut RandomValues, direction: Direction) -> StepProfile {
    let reads = matches!(direction, Direction::Read) || random.once_in(8);
    let writes = matches!(direction, Direction::Write) || random.once_in(8);
    let durabilities = [
        Durability::Nothing,
        Durability::EachWrite(SyncCall::OSync),
        Durability::Every { writes: 8, by: SyncCall::Fsync },
        Durability::AtEnd(SyncCall::Syncfs),
    ];
    let contents = [
        ContentProfile::Zeros,
        ContentProfile::Zeros,
        ContentProfile::Compressible(50),
        ContentProfile::Random,
    ];
    StepProfile {
        reads: reads.then(|| requests(random)),
        writes: writes.then(|| requests(random)),
        read_share: if reads && !writes { Some(1.0) } else { random.maybe(&[0.0, 0.7]) },
        direct: random.one(&[None, Some(true), Some(true), Some(false)]),
        durability: random.maybe(&durabilities),
        content: random.maybe(&contents),
        files: random
            .maybe(&[[1, GB], [1000, GB], [999, 4 * MIB], [20_000, 128 * GB]])
            .map(|[files, bytes]| FileSet { files, bytes }),
        operations: random.maybe(&[1, 8, 16, 100_000]),
        time_in: random.maybe(&[
            TimeIn::Reads,
            TimeIn::Writes,
            TimeIn::Both,
            TimeIn::Files,
            TimeIn::Waiting,
            TimeIn::Memory,
        ]),
        jobs: random.one(&[None, Some(1), Some(1), Some(2), Some(4)]),
        depth: random.one(&[None, Some(0), Some(1), Some(1), Some(2), Some(16), Some(32)]),
        paced: random.once_in(8),
        stream: random.once_in(8),
        task: None,
    }
}

/// What each repeat of a figure does, up to noise.
struct Work {
    direction: Direction,
    profile: StepProfile,
    seconds: f64,
    rate: f64,
    request: u64,
    counts: bool,
    /// Latency in nanoseconds, and how much slower the slowest is.
    latency: Option<(f64, f64)>,
    missed: Option<u64>,
    /// Bytes read and written by each drive, as a share of those asked for, and more bytes.
    traffic: [f64; 2],
    extra: [u64; 2],
    memory_reads: Option<f64>,
    flushes: u64,
    in_flight: Option<f64>,
    queue: f64,
    /// Shares of CPU time: busy, of the program, stolen.
    cpu: [f64; 3],
    steadiness: Option<Steadiness>,
    /// Rates of the drives, by interval, as a share of the mean.
    series: Vec<f64>,
    files_read: Option<FileData>,
    noise: f64,
    two_modes: bool,
    drifts: f64,
}

impl Work {
    fn drawn(random: &mut RandomValues) -> Self {
        use Direction::{Copy, Mixed, Read, Remove, Write};
        let direction = random.one(&[Read, Read, Read, Write, Write, Write, Copy, Remove, Mixed]);
        let shares = [0.0, 0.1, 0.45, 0.5, 0.55, 0.9, 1.0, 1.0, 1.0, 1.05, 1.6, 2.0, 3.0, 3.5];
        let steadiness = Steadiness {
            interval_ns: 1_000_000_000,
            intervals: 20,
            trend: random.one(&[Trend::Flat, Trend::Warmup, Trend::Slowdown, Trend::NotSteady]),
            steady_from_ns: random.one(&[1, 2, 5]) * 1_000_000_000,
            snia_from_ns: None,
            used_from_ns: random.one(&[0, 0, 4]) * 1_000_000_000,
        };
        let series = [
            vec![],
            vec![1.0; 20],
            [vec![3.0; 8], vec![0.5; 12]].concat(),
            [vec![1.05; 10], vec![0.97; 10]].concat(),
            (1..20).map(f64::from).collect(),
        ];
        Self {
            direction,
            profile: profile(random, direction),
            seconds: random.one(&[0.05, 0.1, 0.2, 0.25, 0.5, 1.0, 1.0, 10.0, 10.0, 60.0]),
            rate: random.one(&[
                1e5, 2e6, 5e6, 1e7, 4e7, 5e7, 5e7, 8.8e7, 1e8, 1.02e8, 2e8, 2.9e8, 3.1e8, 5.6e8,
                3e9, 2e10,
            ]),
            request: random.one(&[4000, 4096, 4096, 64 << 10, MIB]),
            counts: !random.once_in(6),
            latency: random.once_in(2).then(|| {
                (random.one(&[1e5, 1.9e6, 2.1e6, 1e7]), random.one(&[1.5, 9.0, 11.0, 100.0]))
            }),
            missed: random.maybe(&[0, 1, 30]),
            traffic: [random.one(&shares), random.one(&shares)],
            extra: [random.one(&[0, 0, MIB]), random.one(&[0, 0, 8 * MIB, 9 * MIB, 300 * MB])],
            memory_reads: random.maybe(&[0.0, 0.19, 0.2, 0.5]),
            flushes: random.one(&[0, 0, 1, 1000]),
            in_flight: random.maybe(&[1.0, 1.2, 8.0, 16.0, 31.0]),
            queue: random.one(&[0.1, 1.0, 20.0]),
            cpu: random.one(&[
                [0.05, 0.01, 0.0],
                [0.08, 0.05, 0.0],
                [0.09, 0.05, 0.001],
                [0.1, 0.1, 0.0],
                [0.15, 0.1, 0.02],
                [0.3, 0.25, 0.03],
                [0.85, 0.26, 0.0],
                [0.95, 0.5, 0.1],
            ]),
            steadiness: random.once_in(3).then_some(steadiness),
            series: random.one(&series),
            files_read: random.once_in(3).then(|| files(random)),
            noise: random.one(&[0.001, 0.01, 0.05, 0.3]),
            two_modes: random.once_in(8),
            drifts: random.one(&[0.0, 0.0, 0.0, 0.02, 0.1]),
        }
    }

    fn figure(&self, random: &mut RandomValues, block: u32) -> Figure {
        let mode = if self.two_modes && block % 2 == 1 { 1.5 } else { 1.0 };
        let outlier = if random.once_in(25) { 3.0 } else { 1.0 };
        let noise = 1.0 + self.noise * random.0.random_range(-1.0..1.0);
        let speed = mode * outlier * noise * (1.0 + self.drifts * f64::from(block));
        let seconds = self.seconds / speed;
        let whole = ((self.rate * self.seconds) as u64 / self.request).max(1) * self.request;
        let bytes = if self.direction == Direction::Remove { 0 } else { whole };
        let mut figure = figure(self.direction, bytes, seconds);
        figure.operations = self.counts.then_some(whole / self.request);
        figure.missed = self.missed;
        figure.latency = self.latency.map(|(typical, slowest)| {
            let mut histogram = LatencyHistogram::new();
            histogram.record((typical / speed) as u64, 199);
            histogram.record((typical * slowest) as u64, 1);
            Latency::from_histogram(histogram)
        });
        figure
    }

    fn step(&self, random: &mut RandomValues, drives: &[DriveState], block: u32) -> Step {
        let figure = self.figure(random, block);
        let asked = figure.bytes as f64;
        let elapsed = figure.elapsed_ns as f64;
        let traffic = |index: usize| {
            // A mirror of which one drive is read.
            let reads = if index > 0 && self.flushes == 1 { 0.0 } else { self.traffic[0] };
            let read_bytes = (reads * asked) as u64 + self.extra[0];
            let write_bytes = (self.traffic[1] * asked) as u64 + self.extra[1];
            let reads = read_bytes.div_ceil(self.request);
            DriveTraffic {
                drive: format!("d-{}", index + 1),
                read_bytes,
                reads,
                write_bytes,
                writes: write_bytes.div_ceil(self.request),
                flushes: self.flushes,
                busy_ns: elapsed as u64,
                queue_ns: (self.queue * elapsed) as u64,
                memory_reads: self.memory_reads.map(|share| MemoryReads {
                    reads: (share * reads as f64) as u64,
                    bytes: (share * read_bytes as f64) as u64,
                }),
                ..DriveTraffic::default()
            }
        };
        let series = DriveSeries {
            drive: "d-1".to_owned(),
            read_bytes: self.series.iter().map(|rate| (rate * 1e7) as u64).collect(),
            write_bytes: vec![0; self.series.len()],
            requests: vec![1; self.series.len()],
        };
        let [busy, program, stolen] = self.cpu.map(|share| (4.0 * share * elapsed) as u64);
        Step {
            name: "work".to_owned(),
            figures: vec![figure],
            elapsed_ns: elapsed as u64,
            cpu: Cpu {
                user_ns: program / 2,
                system_ns: program - program / 2,
                machine_busy_ns: busy,
                machine_steal_ns: stolen,
                processors: 4,
            },
            drives: (0..drives.len()).map(traffic).collect(),
            series: Series { interval_ns: 1_000_000_000, drives: vec![series] },
            steadiness: self.steadiness,
            in_flight: self.in_flight,
            files_read: self.files_read,
            profile: (!random.once_in(30)).then(|| self.profile.clone()),
            ..Step::default()
        }
    }
}

fn origin(random: &mut RandomValues) -> RunOrigin {
    let disks = BenchKind::Disks(vec!["/dev/a".to_owned(), "/dev/b".to_owned()]);
    let dir = BenchKind::Dir("/srv".into());
    let benches = [BenchKind::Lab, BenchKind::Lab, BenchKind::Loop, dir, disks.clone(), disks];
    if random.once_in(5) { RunOrigin::Import } else { random.one(&benches).into() }
}

/// A run of two to four stacks and two workloads, the same for the same number.
fn drawn(number: u64) -> RunFixture {
    let mut random = RandomValues(ChaCha8Rng::seed_from_u64(number));
    let questions = [
        "",
        "[[questions]]\nask = \"Random?\"\nworkloads = [\"fio\", \"kept\"]\n",
        "[[questions]]\nask = \"Slow?\"\nworkloads = [\"fio\", \"copy\"]\nmeasure = \"latency-p99\"\n",
        "[[questions]]\nask = \"Steady?\"\nworkloads = \"fio\"\npart = \"steady\"\n",
    ];
    let mut fixture = RunFixture::new(random.one(&questions));
    fixture.info.bench = origin(&mut random);
    fixture.info.scale = random.one(&[1.0, 1.0, 0.1, 0.15, 3.0]);
    fixture.info.options.bus =
        random.maybe(&[Bus(None), Bus(Some(BytesPerSecond(1e8)))]).filter(|_| random.once_in(2));
    fixture.info.environment.virtual_machine = random.word(&["kvm"]);
    let extra = &mut fixture.info.environment.extra;
    for (name, values) in [
        ("cpufreq.governor", ["powersave", "performance"]),
        ("cpufreq.driver", ["intel_pstate", "acpi-cpufreq"]),
    ] {
        extra.extend(random.word(&values).map(|value| (name.to_owned(), value)));
    }
    let stacks = random.one(&[2, 2, 3, 4]);
    let stacks = &["single/ext4", "single/btrfs", "raid1/btrfs", "raid1/ext4"][..stacks];
    let works = random.one(&[["fio", "dd-4k"], ["buffered", "copy"], ["kept", "fio"]]);
    let blocks = random.one(&[1, 2, 3, 5, 6, 7, 12]);
    let common = surroundings(&mut random);
    let in_turn = !random.once_in(4);
    for (place, stack) in stacks.iter().enumerate() {
        let own = if random.once_in(3) { surroundings(&mut random) } else { common.clone() };
        let tolerates = random.one(&[0, 1, 2]);
        if !random.once_in(5) {
            fixture.info.stacks.push(PlannedStack {
                id: (*stack).to_owned(),
                layers: Vec::new(),
                drives: own.drives.iter().map(|drive| drive.drive.clone()).collect(),
                capacity: GB,
                tolerates,
                loss: None,
                copies: random.once_in(2),
            });
        }
        let works = works.map(|work| (work, Work::drawn(&mut random)));
        for block in 0..blocks {
            for (work, does) in &works {
                let order = if in_turn {
                    block as usize * stacks.len() + place
                } else {
                    place * blocks as usize + block as usize
                };
                add_cell(&mut fixture, &mut random, (stack, work, block), (does, &own), order);
            }
        }
    }
    fixture
}

fn add_cell(
    fixture: &mut RunFixture,
    random: &mut RandomValues,
    (stack, work, block): (&str, &str, u32),
    (does, own): (&Work, &Environment),
    order: usize,
) {
    if random.once_in(40) {
        let state = random.one(&[CellState::Failed, CellState::Waiting]);
        fixture.unfinished(stack, work, block, state);
        return;
    }
    let step = does.step(random, &own.drives, block);
    let mut environment = own.clone();
    if random.once_in(20) {
        environment.conditions = Some(conditions(random, &own.drives));
    }
    let whole = step.drives.iter().cloned().map(|mut drive| {
        drive.write_bytes = drive.write_bytes.saturating_mul(2);
        drive
    });
    let program = random.one(&["fio", "/usr/bin/dd", "hdparm", "sync"]);
    let status = if random.once_in(25) { "exit code 1" } else { "0" };
    let sample = Sample {
        whole: whole.collect(),
        trace: vec![trace(&[program, "x"], status)],
        environment,
        steps: vec![step],
        ..Sample::default()
    };
    fixture.full_sample(stack, work, block, sample);
    if let Some((record, _)) = fixture.cells.last_mut().filter(|_| !random.once_in(60)) {
        let ended = Timestamp::UNIX_EPOCH + SignedDuration::from_secs(60 * order as i64);
        record.ended = Some(ended);
    }
}

fn numbers(groups: &[usize]) -> String {
    groups.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

#[test]
fn drawn_runs_have_the_findings_that_they_had() {
    let mut said = String::new();
    for number in 0..60 {
        let fixture = drawn(number);
        let auditor = fixture.auditor();
        let groups = auditor.groups().len();
        let audited = auditor.finish();
        assert_eq!(audited.groups.len(), groups);
        writeln!(said, "{number}: {}", fixture.info.bench).expect("a text");
        for Finding { audit, severity, groups, text, .. } in &audited.findings {
            writeln!(said, "  {audit} {severity:?} [{}] {text}", numbers(groups)).expect("a text");
        }
    }
    insta::assert_snapshot!(said);
}

/// Without the words, so that there may be many; and what to do about all of them.
#[test]
fn more_drawn_runs_have_findings_about_the_same_figures() {
    let (mut said, mut advised) = (String::new(), BTreeSet::new());
    for number in 60..300 {
        write!(said, "{number}:").expect("a text");
        for Finding { audit, groups, advice, .. } in drawn(number).audited().findings {
            write!(said, " {audit} [{}]", numbers(&groups)).expect("a text");
            advised.insert(format!("{audit}: {advice}\n"));
        }
        said.push('\n');
    }
    said.extend(advised);
    insta::assert_snapshot!(said);
}
