//! Latencies of solid-state drives in the steady state: reads while the drive collects garbage
//! (docs/validation/drives.md has the table, and what was published).

use disklab_drive::ssd::{Parameters, SolidState};
use disklab_drive::{Drive, Kind, Nanos, Operation, Request, shipped};

const MIB: u64 = 1 << 20;
const SECTORS: u64 = 8;
/// A model of each class; all thirteen take half a minute of CPU time.
const CLASSES: [&str; 4] =
    ["samsung-870evo-1tb", "samsung-980-1tb", "generic-qlc-1tb", "intel-s4600-960gb"];

/// Latencies of reads and of writes in µs, in ascending order.
#[derive(Default)]
struct Latencies {
    reads: Vec<f64>,
    writes: Vec<f64>,
}

/// A small drive in use: written whole, and then at random until garbage is collected.
struct Used {
    drive: SolidState,
    now: u64,
    number: u64,
}

impl Used {
    /// A drive of these parameters with a four-hundredth of the flash and blocks to match, without
    /// the SLC cache: it is full in the steady state.
    fn new(p: &Parameters) -> Self {
        let capacity = (p.capacity / 400 / MIB).max(1) * MIB;
        let mut small = Parameters { capacity, visible: capacity, slc_cache: None, ..p.clone() };
        small.flash.block_pages = (p.flash.block_pages / 32).max(8);
        small.check().expect("a drive of this size is possible");
        let mut used = Self { drive: SolidState::new(&small), now: 0, number: 1 };
        let mut offset = 0;
        used.run(8, || {
            offset += MIB;
            (offset <= capacity).then_some((Operation::Write, Some((offset - MIB) / 512), 2048))
        });
        used.random(capacity / 4096 * 2, 32, 0);
        used
    }

    /// Random requests of 4 KiB, of which so many in a hundred read.
    fn random(&mut self, count: u64, depth: u64, reads: u64) -> Latencies {
        let mut number = 0;
        self.run(depth, || {
            number += 1;
            // 37 has no divisor in common with 100: reads and writes are spread evenly.
            let operation =
                if number * 37 % 100 < reads { Operation::Read } else { Operation::Write };
            (number <= count).then_some((operation, None, SECTORS))
        })
    }

    /// Keeps `depth` requests in flight; without a sector, at a random offset.
    fn run(
        &mut self,
        depth: u64,
        mut next: impl FnMut() -> Option<(Operation, Option<u64>, u64)>,
    ) -> Latencies {
        let places = self.drive.sectors() / SECTORS;
        let mut begun = std::collections::HashMap::new();
        let (mut latencies, mut done, mut id) = (Latencies::default(), Vec::new(), 0);
        loop {
            while (begun.len() as u64) < depth
                && let Some((operation, sector, sectors)) = next()
            {
                self.number = self.number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let sector = sector.unwrap_or((self.number >> 24) % places * SECTORS);
                self.drive.submit(Nanos(self.now), Request { id, operation, sector, sectors });
                begun.insert(id, (operation, self.now));
                id += 1;
            }
            let Some(at) = self.drive.next_event().filter(|_| !begun.is_empty()) else { break };
            self.now = self.now.max(at.0);
            self.drive.advance(Nanos(self.now), &mut done);
            for completion in done.drain(..) {
                let (operation, from) = begun.remove(&completion.id).expect("in flight");
                let all = match operation {
                    Operation::Read => &mut latencies.reads,
                    _ => &mut latencies.writes,
                };
                all.push((completion.at.0 - from) as f64 / 1e3);
            }
        }
        latencies.reads.sort_by(f64::total_cmp);
        latencies.writes.sort_by(f64::total_cmp);
        latencies
    }

    /// Until what is left in the buffer is programmed.
    fn rest(&mut self) {
        self.now += 100_000_000_000;
        self.drive.advance(Nanos(self.now), &mut Vec::new());
    }
}

fn percentile(latencies: &[f64], share: f64) -> f64 {
    latencies[((latencies.len() - 1) as f64 * share) as usize]
}

fn parameters(id: &str) -> Parameters {
    match shipped(id).expect("shipped").kind {
        Kind::Ssd(parameters) => parameters,
        _ => panic!("{id} has platters"),
    }
}

/// Random requests of 4 KiB, one at a time, when 'the workload has reached steady state but including
/// all background activities': 99.9 % of reads in 300 µs and of writes in 800 µs (Intel, DC S4500
/// and S4600 product specification, 'Quality of Service').
#[test]
fn a_server_drive_keeps_its_quality_of_service() {
    let mut used = Used::new(&parameters("intel-s4600-960gb"));
    let writes = percentile(&used.random(20_000, 1, 0).writes, 0.999);
    used.rest();
    let reads = percentile(&used.random(20_000, 1, 100).reads, 0.999);
    eprintln!("99.9 % of reads in {reads:.0} µs (published 300), of writes in {writes:.0} (800)");
    assert!(reads <= 300.0, "{reads}");
    assert!(writes <= 800.0, "{writes}");
}

/// Reads wait for dies that program and erase: never less than without writes, and no longer than
/// what may be in a die's queue.
#[test]
fn reads_next_to_writes_wait_for_the_flash() {
    for id in CLASSES {
        let mut used = Used::new(&parameters(id));
        used.rest();
        let alone = used.random(10_000, 1, 100).reads;
        let mixed = used.random(30_000, 1, 70).reads;
        let deep = used.random(60_000, 32, 70).reads;
        let at = |of: &[f64]| [0.5, 0.99, 0.999].map(|share| percentile(of, share));
        let text = |of: &[f64]| at(of).map(|us| format!("{us:.0}")).join(" / ");
        eprintln!("| `{id}` | {} | {} | {} |", text(&alone), text(&mixed), text(&deep));
        assert!(at(&alone)[0] <= at(&mixed)[0] && at(&mixed)[2] <= at(&deep)[2] * 1.05, "{id}");
        assert!(at(&alone)[2] < at(&mixed)[2], "{id}: reads do not wait for writes");
    }
}
