//! Faults between requests and a drive.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use disklab_drive::{
    Completion, Drive, DriveFault, DriveFaults, FAULTS, InvalidFault, Nanos, Operation, Request,
    Start, Status, WrittenTo, shipped,
};
use proptest::prelude::*;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

const SECTORS: u64 = 1 << 20;
const MS: u64 = 1_000_000;

/// `unreadable|on=sectors 8|tries=1 s`.
fn fault(text: &str) -> Result<DriveFault, InvalidFault> {
    let mut words = text.split('|');
    let does = words.next().unwrap_or_default();
    let clause = |word: &str| {
        let (word, value) = word.split_once('=').unwrap_or(("", word));
        (word.to_owned(), value.to_owned())
    };
    DriveFault::new(does, &words.map(clause).collect::<Vec<_>>(), (SECTORS, 4096), 7)
}

/// A drive with faults, whose work begins at once.
struct Faulty {
    drive: Box<dyn Drive>,
    faults: DriveFaults,
    starts: Vec<Start>,
    ends: BTreeMap<u64, Completion>,
    now: u64,
}

impl Faulty {
    fn new(texts: &[&str]) -> Self {
        let faults = texts.iter().map(|text| fault(text).expect(text)).collect();
        let mut faults = DriveFaults::new(faults);
        faults.begin(Nanos(0));
        let drive = shipped("hdn721010ale604").expect("shipped").build(1);
        Self { drive, faults, starts: Vec::new(), ends: BTreeMap::new(), now: 0 }
    }

    fn submit(&mut self, at: u64, operation: Operation, sector: u64, sectors: u64) -> Start {
        self.until(at);
        let request = Request { id: self.starts.len() as u64, operation, sector, sectors };
        for draw in self.faults.due(Nanos(at)) {
            self.faults.drawn(&draw, &[sector]);
        }
        let start = self.faults.meet(Nanos(at), &request);
        if start != Start::Refused {
            self.drive.submit(Nanos(at), request);
        }
        self.starts.push(start);
        start
    }

    /// Fetches what ends until then, at the times that it says.
    fn until(&mut self, at: u64) {
        loop {
            let next = self.drive.next_event().into_iter().chain(self.faults.next_event()).min();
            let now = next.map_or(at, |next| next.0.clamp(self.now, at));
            self.now = now;
            let mut ends = Vec::new();
            self.drive.advance(Nanos(now), &mut ends);
            self.faults.pass(Nanos(now), &mut ends);
            for end in ends {
                assert!(end.at.0 <= now, "{end:?} before it is due at {now}");
                assert!(self.ends.insert(end.id, end).is_none(), "{} ends twice", end.id);
            }
            if now == at {
                return;
            }
        }
    }

    /// A read that ends before the next: its status, and how long it took, in ms.
    fn read(&mut self, at_ms: u64, sector: u64) -> (Status, u64) {
        self.submit(at_ms * MS, Operation::Read, sector, 8);
        let id = self.starts.len() as u64 - 1;
        self.until(at_ms * MS + 100_000 * MS);
        let end = self.ends[&id];
        (end.status, (end.at.0 - at_ms * MS) / MS)
    }
}

#[test]
fn the_longest_request_is_known() {
    let mut faulty = Faulty::new(&["unreadable|on=sectors 8|tries=40 s", "stalls|for=1 s|at=0 s"]);
    faulty.submit(MS, Operation::Read, 8, 8);
    // Waits for the first.
    faulty.submit(2 * MS, Operation::Read, 80_000, 8);
    faulty.until(200_000 * MS);
    let longest: Vec<u64> =
        faulty.faults.records().iter().map(|record| record.longest.0 / 1_000_000_000).collect();
    assert_eq!(longest, [40, 40]);
}

#[test]
fn a_new_drive_has_none() {
    let mut faulty = Faulty::new(&["dies|at=0 s", "unreadable|on=sectors 8|tries=1 s"]);
    assert_eq!(faulty.submit(MS, Operation::Read, 8, 8), Start::Refused);
    faulty.faults.end();
    assert_eq!(faulty.submit(2 * MS, Operation::Read, 8, 8), Start::Sound);
    faulty.until(2_000 * MS);
    assert_eq!(faulty.ends.len(), 2);
    assert_eq!(faulty.ends[&1].status, Status::Done);
    let records = faulty.faults.records();
    assert_eq!(records.iter().map(|record| record.requests).collect::<Vec<_>>(), [1, 1]);
}

#[test]
fn a_dead_drive_fails_what_is_in_flight_too() {
    let mut drive = Faulty::new(&["dies|at=10 ms"]);
    assert_eq!(drive.submit(9_990_000, Operation::Read, 0, 8), Start::Sound);
    drive.until(1_000 * MS);
    assert_eq!(drive.ends[&0].status, Status::Failed);
    assert_eq!(drive.submit(1_001 * MS, Operation::Flush, 0, 0), Start::Refused);
    drive.until(2_000 * MS);
    assert_eq!(drive.ends[&1], Completion { id: 1, at: Nanos(1_002 * MS), status: Status::Failed });
    assert_eq!(drive.faults.records()[0].after, Some(Nanos(10 * MS)));
    assert_eq!(drive.faults.records()[0].requests, 2);
}

#[test]
fn a_dead_part_of_the_surface_is_no_dead_drive() {
    let mut drive = Faulty::new(&["dies|within=50 % to 60 %"]);
    assert_eq!(drive.read(0, 0).0, Status::Done);
    assert_eq!(drive.read(200_000, SECTORS / 2 + 8).0, Status::Failed);
    assert_eq!(drive.submit(400_000 * MS, Operation::Flush, 0, 0), Start::Sound);
}

#[test]
fn a_drive_comes_back_from_away() {
    let mut drive = Faulty::new(&["away|after=1 request|for=300 s"]);
    let ends = [0, 200_000, 400_000, 600_000].map(|at| drive.read(at, 0).0);
    let (good, bad) = (Status::Done, Status::Failed);
    // It goes with the second request, at 200 s.
    assert_eq!(ends, [good, bad, bad, good]);
}

#[test]
fn an_unreadable_sector_takes_its_time_until_it_is_written() {
    let mut drive = Faulty::new(&["unreadable|on=sectors 2056|tries=2 s"]);
    assert_eq!(drive.read(0, 0).0, Status::Done);
    let (status, took) = drive.read(200_000, 2_052);
    assert!(status == Status::Failed && (2_000..2_100).contains(&took), "{took} ms");
    // What comes meanwhile waits for the drive to have tried.
    drive.submit(400_000 * MS, Operation::Read, 2_056, 1);
    drive.submit(400_001 * MS, Operation::Read, 4_096, 8);
    drive.until(500_000 * MS);
    let other = drive.ends[&3];
    assert!(other.status == Status::Done && other.at.0 > 402_000 * MS, "{other:?}");
    drive.submit(500_000 * MS, Operation::Write, 2_048, 16);
    assert_eq!(drive.read(600_000, 2_056).0, Status::Done, "a write fixes it");
}

#[test]
fn unreadable_sectors_come_as_often_as_the_data_sheet_says() {
    // A read of 8 sectors has 32,768 bits: one error in 100 reads.
    let mut drive = Faulty::new(&["unreadable|1 bit in 3.2768e6|tries=1 ms"]);
    for n in 0..20_000 {
        // Each at a place of its own.
        drive.submit(n * 50 * MS, Operation::Read, n * 8 % SECTORS, 8);
    }
    drive.until(2_000_000 * MS);
    let failed = drive.ends.values().filter(|end| end.status == Status::Failed).count();
    // Five standard deviations of a Poisson count of 200.
    assert!((130..270).contains(&failed), "{failed} of 20,000");
}

#[test]
fn slow_and_stalling_drives_take_as_long_as_they_should() {
    let sound = Faulty::new(&[]).read(0, 8_000).1;
    let slow = Faulty::new(&["slow|by=10"]).read(0, 8_000).1;
    assert!((sound * 10..=sound * 10 + 10).contains(&slow), "{sound} and {slow} ms");
    let both = Faulty::new(&["slow|by=10", "slow|by=3"]).read(0, 8_000).1;
    assert!((slow * 3..=slow * 3 + 30).contains(&both), "{slow} and {both} ms");
    let mut stalls = Faulty::new(&["stalls|for=2 s|every=10 s"]);
    assert_eq!(stalls.read(500, 8_000).1, 1_500, "until the stall is over");
    assert!(stalls.read(205_000, 80_000).1 < 100);
    assert_eq!(stalls.read(411_000, 8_000).1, 1_000, "and again");
    let mut once = Faulty::new(&["stalls|for=2 s"]);
    assert_eq!(once.read(500, 8_000).1, 1_500);
    assert!(once.read(200_500, 80_000).1 < 100);
}

#[test]
fn writes_are_lost_and_misdirected() {
    let mut drive = Faulty::new(&["loses|2 writes|after=1 request"]);
    let starts: Vec<Start> =
        (0..4).map(|n| drive.submit(n * 100 * MS, Operation::Write, n * 8, 8)).collect();
    let lost = Start::Written(WrittenTo::Nowhere);
    assert_eq!(starts, [Start::Sound, lost, lost, Start::Sound]);
    let mut drive = Faulty::new(&["misdirects|1 write in 10"]);
    let starts = (0..1_000).map(|n| drive.submit(n * 100 * MS, Operation::Write, n * 8, 8));
    let elsewhere: Vec<Start> = starts.filter(|start| *start != Start::Sound).collect();
    assert!((60..140).contains(&elsewhere.len()), "{} of 1,000", elsewhere.len());
    for start in elsewhere {
        let Start::Written(WrittenTo::Sector(sector)) = start else { panic!("{start:?}") };
        assert!(sector + 8 <= SECTORS && sector.is_multiple_of(8), "{sector}");
    }
}

/// One or more of these on a drive, each by itself and in company.
const DRAWN: [&str; 18] = [
    "dies|at=4 s",
    "dies|after=70 requests",
    "dies|within=30 % to 40 %",
    "away|for=700 ms|after=20 requests",
    "away|for=2 s|at=1 s",
    "slow|by=3",
    "slow|by=2.5|within=0 % to 50 %",
    "stalls|for=300 ms|every=900 ms",
    "stalls|for=2 s|at=2 s",
    "stalls|for=50 ms|on=sectors 0-400000",
    "unreadable|on=sectors 8, 4096-70000|tries=150 ms",
    "unreadable|1 bit in 4e6|tries=40 ms",
    "unreadable|3 sectors|within=0 % to 20 %|at=500 ms",
    "loses|1 write in 5",
    "loses|4 writes|after=10 requests",
    "misdirects|1 write in 4|within=0 % to 60 %",
    "misdirects|2 writes|at=1 s",
    "rots|100 bytes|at=2 s",
];

#[test]
fn drawn_faults_do_what_they_did() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut said = String::new();
    for number in 0..72 {
        let mut texts = vec![DRAWN[number % DRAWN.len()]];
        let more = number / DRAWN.len();
        texts.extend((0..more).map(|_| DRAWN[random.random_range(0..DRAWN.len())]));
        let mut drive = Faulty::new(&texts);
        let mut at = 0;
        for _ in 0..120 {
            at += [0, 1, 10, 40, 200][random.random_range(0..5)] * MS;
            let operation = [
                Operation::Read,
                Operation::Read,
                Operation::Write,
                Operation::Write,
                Operation::Flush,
            ][random.random_range(0..5)];
            let place = [4_000, SECTORS - 2_048][random.random_range(0..2)];
            let sector = random.random_range(0..place / 8) * 8;
            let (sector, sectors) = match operation {
                Operation::Flush => (0, 0),
                _ => (sector, [8, 8, 64, 2_048][random.random_range(0..4)]),
            };
            drive.submit(at, operation, sector, sectors);
        }
        drive.until(at + 1_000_000 * MS);
        let failed = drive.ends.values().filter(|end| end.status == Status::Failed).count();
        let times = drive
            .ends
            .values()
            .fold(0_u64, |sum, end| sum.wrapping_add(end.at.0.wrapping_mul(2 * end.id + 1)));
        let starts =
            |from: &dyn Fn(&Start) -> bool| drive.starts.iter().filter(|start| from(start)).count();
        let elsewhere: Vec<WrittenTo> = drive
            .starts
            .iter()
            .filter_map(|start| if let Start::Written(to) = start { Some(*to) } else { None })
            .collect();
        writeln!(
            said,
            "{texts:?}: {failed} failed ({times:x}), {} refused, {} unreadable; {elsewhere:?}\n  {:?}",
            starts(&|start| *start == Start::Refused),
            starts(&|start| matches!(start, Start::Unreadable(_))),
            drive.faults.records(),
        )
        .expect("a text");
    }
    insta::assert_snapshot!(said);
}

#[test]
fn what_cannot_be_is_refused() {
    for (text, expected) in [
        ("dyes", "did you mean 'dies'"),
        ("dies|at=30", "with its unit"),
        ("dies|at=soon", "soon"),
        ("dies|at=1 s|after=2 requests", "not both"),
        ("dies|after=2", "after N requests"),
        ("dies|after=-2 requests", "after N requests"),
        ("dies|at=1 s|for=2 s", "'dies' does not take 'for 2 s'"),
        ("dies|slowly", "does not take 'slowly'"),
        ("dies|within=60 % to 50 %", "it has no sectors"),
        ("dies|within=50 % to 120 %", "120 %"),
        ("dies|within=0.5 to 0.6", "%"),
        ("dies|on=sectors 8-4", "ends before it begins"),
        ("dies|on=sectors 1048576", "the last sector of the drive is 1048575"),
        ("dies|on=8", "the word 'sectors' is missing"),
        ("away", "'for TIME'"),
        ("away|for=0 s", "a time of 0"),
        ("slow", "by 3"),
        ("slow|by=0.5", "from 1 on"),
        ("slow|by=nan", "from 1 on"),
        ("stalls|for=2 s|every=1 s", "longer than 'for'"),
        ("unreadable", "expected 'N sectors'"),
        ("unreadable|0 sectors", "3 sectors"),
        ("unreadable|3 bytes", "3 sectors"),
        ("unreadable|1 bit in -1", "1e15"),
        ("unreadable|on=sectors 0-1048575", "up to 1000000"),
        ("rots", "100 bytes"),
        ("rots|2000000 bytes", "to 1000000"),
        ("loses|all writes", "3 writes"),
    ] {
        let error = fault(text).err().unwrap_or_else(|| panic!("{text} was taken")).to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
}

/// Texts that come near to what is read.
fn near() -> impl Strategy<Value = String> {
    let kinds: Vec<&str> = FAULTS.iter().map(|kind| kind.name).collect();
    let word = prop::sample::select(vec![
        "at", "after", "within", "on", "for", "every", "by", "tries", "",
    ]);
    let value = prop::sample::select(vec![
        "1 s",
        "20 ms",
        "3 requests",
        "1 requests",
        "0 % to 100 %",
        "10 % to 10.001 %",
        "2",
        "sectors 8, 16-24",
        "sector 1048575",
        "3 sectors",
        "1 bit in 1e5",
        "100 bytes",
        "1 write in 3",
        "2 writes",
        "9999999999999999999999",
        "1e400",
        "-1 s",
        "µ",
        "",
    ]);
    let clauses = prop::collection::vec((word, value), 0..4);
    (prop::sample::select(kinds), clauses).prop_map(|(kind, clauses)| {
        let clauses = clauses.into_iter().map(|(word, value)| format!("|{word}={value}"));
        format!("{kind}{}", clauses.collect::<String>())
    })
}

proptest! {
    #[test]
    fn no_clause_panics(kind in "[a-z]{0,8}|dies|rots|unreadable", clauses in "(\\|[a-z]{0,6}=?.{0,20}){0,4}") {
        let _ = fault(&format!("{kind}{clauses}"));
    }

    /// Whatever goes wrong, each request ends once, and not before it was submitted.
    #[test]
    fn each_request_ends_once(
        texts in prop::collection::vec(near(), 1..5),
        requests in prop::collection::vec((0_u64..40, 0_u8..3, 0..SECTORS / 8, 1_u64..64), 1..60),
    ) {
        let sound: Vec<&str> =
            texts.iter().map(String::as_str).filter(|text| fault(text).is_ok()).collect();
        let mut drive = Faulty::new(&sound);
        let (mut at, mut submitted) = (0, Vec::new());
        for (wait, operation, place, sectors) in requests {
            at += wait * MS;
            let operation = [Operation::Read, Operation::Write, Operation::Flush][usize::from(operation)];
            let sectors = sectors.min(SECTORS / 8 - place) * 8;
            drive.submit(at, operation, place * 8, sectors);
            submitted.push(at);
        }
        drive.until(at + 1_000_000 * MS);
        prop_assert_eq!(drive.ends.len(), submitted.len());
        for (id, end) in &drive.ends {
            prop_assert!(end.at.0 >= submitted[*id as usize]);
        }
        prop_assert_eq!(drive.faults.next_event(), None);
    }
}
