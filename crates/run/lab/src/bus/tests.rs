//! What a bus does to drives: nothing below its rate, and never more than its rate.

use disklab_drive::by_name;
use proptest::prelude::*;

use super::*;
use crate::Steady;

/// What the modelled drive's link carries, bytes per second: SATA at 6 Gb/s.
const LINK: u64 = 550_000_000;

/// Drives on one bus, or each by itself.
struct Fixture(Vec<Box<dyn Drive>>);

impl Fixture {
    fn new(drives: Vec<Box<dyn Drive>>, rate: Option<u64>) -> Self {
        Self::of(drives.into_iter().map(|drive| DiskOptions::new(drive, "S")).collect(), rate)
    }

    fn of(disks: Vec<DiskOptions>, rate: Option<u64>) -> Self {
        let disks = match rate {
            Some(rate) => share(disks, rate).unwrap(),
            None => disks,
        };
        Self(disks.into_iter().map(|disk| disk.drive).collect())
    }

    /// Hard disks.
    fn disks(count: u64, rate: Option<u64>) -> Self {
        let model = by_name("hgst-10tb").unwrap();
        Self::of((0..count).map(|seed| DiskOptions::of(&model, seed, "S")).collect(), rate)
    }

    /// Hands in the requests at their times, lets time go by as the event loop does, and
    /// says when each was done: number of the drive, id, time.
    fn play(&mut self, requests: &[(usize, u64, Request)]) -> Vec<(usize, u64, u64)> {
        let mut coming = requests.iter().peekable();
        let mut done = Vec::new();
        loop {
            let next = self.0.iter().filter_map(|drive| drive.next_event()).min();
            let asked = coming.peek().map(|(_, at, _)| Nanos(*at));
            match (next, asked) {
                (None, None) => return done,
                (next, Some(at)) if next.is_none_or(|next| at <= next) => {
                    if let Some((drive, _, request)) = coming.next() {
                        self.0[*drive].submit(at, *request);
                    }
                }
                (Some(now), _) => {
                    for (number, drive) in self.0.iter_mut().enumerate() {
                        if drive.next_event().is_some_and(|next| next <= now) {
                            let mut new = Vec::new();
                            drive.advance(now, &mut new);
                            done.extend(new.iter().map(|c| (number, c.id, c.at.0)));
                        }
                    }
                }
                (None, Some(_)) => {}
            }
        }
    }
}

fn request(id: u64, operation: Operation, sector: u64, sectors: u64) -> Request {
    Request { id, operation, sector, sectors }
}

#[test]
fn transfers_come_one_after_another() {
    // 1 MB in 1 ms on the bus; the drives need 1 µs each.
    let drives = (0..3).map(|_| Box::new(Steady::new(1 << 30, 1000)) as Box<dyn Drive>);
    let mut fixture = Fixture::new(drives.collect(), Some(1_024_000_000));
    let reads: Vec<_> =
        (0..3).map(|drive| (drive, 0, request(9, Operation::Read, 0, 2000))).collect();
    let done = fixture.play(&reads);
    assert_eq!(done, [(0, 9, 1_001_000), (1, 9, 2_001_000), (2, 9, 3_001_000)]);
}

#[test]
fn a_transfer_crosses_while_the_link_works_on_it() {
    let mut bus = Bus { rate: 1_000_000_000, free: 0 };
    // 1000 bytes took the link 4 µs, and take the bus 1 µs.
    assert_eq!(bus.carry(Nanos(10_000), 4000, 1000), Nanos(10_000));
    assert_eq!(bus.free, 7000);
    // Another drive's at the same time, after it; the third has to wait.
    assert_eq!(bus.carry(Nanos(10_000), 4000, 2000), Nanos(10_000));
    assert_eq!(bus.carry(Nanos(10_000), 4000, 2000), Nanos(11_000));
    // A link that is faster than the bus.
    assert_eq!(bus.carry(Nanos(20_000), 1000, 2000), Nanos(21_000));
}

#[test]
fn requests_without_data_do_not_wait_for_the_bus() {
    let drives = (0..2).map(|_| Box::new(Steady::new(1 << 30, 1000)) as Box<dyn Drive>);
    let mut fixture = Fixture::new(drives.collect(), Some(SLOWEST));
    let requests = [
        (0, 0, request(1, Operation::Read, 0, 2000)),
        (0, 10, request(2, Operation::Flush, 0, 0)),
        (1, 20, request(3, Operation::WriteZeroes, 0, 2000)),
        (1, 30, request(4, Operation::Write, 0, 0)),
    ];
    let done = fixture.play(&requests);
    assert_eq!(done[..3], [(1, 3, 1020), (0, 2, 2000), (1, 4, 2020)]);
    assert_eq!(done[3], (0, 1, 1_024_001_000));
}

#[test]
fn four_drives_get_what_the_bus_has() {
    // Each reads the outer edge in order, a queue of requests deep.
    let rate = 415_000_000;
    let mut fixture = Fixture::disks(4, Some(rate));
    let requests: Vec<_> = (0..200)
        .flat_map(|id| (0..4).map(move |drive| (drive, 0, id)))
        .map(|(drive, at, id)| (drive, at, request(id, Operation::Read, id * 1024, 1024)))
        .collect();
    let done = fixture.play(&requests);
    let end = done.iter().map(|(.., at)| *at).max().unwrap();
    let got = 800.0 * 524_288.0 / (end as f64 * 1e-9);
    assert!((0.99..=1.0).contains(&(got / rate as f64)), "{got}");
}

#[test]
fn a_bus_that_is_too_slow_is_refused() {
    assert!(check_bus(415_000_000).is_ok());
    for rate in [0, 1, 999_999] {
        assert!(share(Vec::new(), rate).unwrap_err().to_string().contains("1 MB/s"), "{rate}");
    }
}

fn operations() -> impl Strategy<Value = Operation> {
    prop_oneof![
        4 => Just(Operation::Read),
        4 => Just(Operation::Write),
        1 => Just(Operation::Flush),
        1 => Just(Operation::WriteZeroes),
    ]
}

/// Requests for some drives: which, when, what, where in MiB, how many sectors.
fn load(drives: usize) -> impl Strategy<Value = Vec<(usize, u64, Request)>> {
    let one = (0..drives, 0..20_000_000_u64, operations(), 0..64_u64, 1..1024_u64);
    prop::collection::vec(one, 1..60).prop_map(|mut all| {
        all.sort_by_key(|(_, at, ..)| *at);
        let numbered = all.into_iter().zip(0..);
        numbered
            .map(|((drive, at, operation, place, sectors), id)| {
                (drive, at, request(id, operation, place * 2048, sectors))
            })
            .collect()
    })
}

proptest! {
    /// In no stretch of time does more cross than the rate allows, but for the transfer
    /// that has begun before it, and for what the host hears of late: a transfer that was
    /// across before the drive's own link was done with it.
    #[test]
    fn the_sum_of_rates_is_never_above_the_limit(
        requests in load(4),
        rate in 20_000_000_u64..2_000_000_000,
    ) {
        let done = Fixture::disks(4, Some(rate)).play(&requests);
        prop_assert_eq!(done.len(), requests.len(), "each is done once");
        let mut crossed: Vec<(u64, u64)> = done
            .iter()
            .filter_map(|(_, id, at)| {
                let (_, _, request) = requests.iter().find(|(_, _, r)| r.id == *id)?;
                let data = matches!(request.operation, Operation::Read | Operation::Write);
                data.then_some((*at, request.sectors * 512))
            })
            .collect();
        crossed.sort_unstable();
        for first in 0..crossed.len() {
            let mut bytes = 0;
            for (at, more) in &crossed[first + 1..] {
                bytes += more;
                let late = time(1023 * 512, LINK);
                let time = u128::from(at - crossed[first].0 + late);
                prop_assert!(u128::from(bytes) * SECOND <= time * u128::from(rate));
            }
        }
    }

    /// Alone, a drive whose link is no faster than the bus is the same to the nanosecond.
    #[test]
    fn a_single_drive_is_not_slowed(requests in load(1), more in 0_u64..1_000_000_000) {
        let free = Fixture::disks(1, None).play(&requests);
        // A nanosecond is lost for each transfer where both rates are the same.
        let rate = LINK + 1_000_000 + more;
        prop_assert_eq!(Fixture::disks(1, Some(rate)).play(&requests), free);
    }

    /// No request is done sooner on a bus, on drives that do not mind when they are asked.
    #[test]
    fn a_bus_makes_nothing_faster(requests in load(3), rate in 1_000_000_u64..1_000_000_000) {
        let drives = || (0..3).map(|_| Box::new(Steady::new(1 << 30, 50_000)) as Box<dyn Drive>);
        let mut free = Fixture::new(drives().collect(), None).play(&requests);
        let mut on_bus = Fixture::new(drives().collect(), Some(rate)).play(&requests);
        free.sort_unstable();
        on_bus.sort_unstable();
        prop_assert_eq!(free.len(), on_bus.len());
        for (free, on_bus) in free.iter().zip(&on_bus) {
            prop_assert_eq!((free.0, free.1), (on_bus.0, on_bus.1));
            prop_assert!(on_bus.2 >= free.2);
        }
    }
}
