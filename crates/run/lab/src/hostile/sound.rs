//! A sound guest, played by the rules of `kernel/patches/kicks.patch`: what it sees with a
//! window after its kicks is what it sees without one.
//!
//! Here because it uses the hostile guests' fixture.

use std::collections::BTreeSet;

use disklab_drive::{Drive, shipped};
use proptest::prelude::*;

use super::played::{
    AT_ONCE, CALLS, CAPABILITIES, CURRENT_TIME, EARLIER, EARLIER_COUNT, EPOCH, FREE_UNTIL,
    KICK_WINDOW, KICKS, RUN, THEIRS, TestLab, WAIT, limits, message,
};
use super::{AVAILABLE, DATA, DESCRIPTORS, GUEST, halves, words};

/// What the guest puts into its rings, by virtio's numbers.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Read = 0,
    Write = 1,
    Flush = 4,
    Identify = 8,
}

/// What a guest does next.
#[derive(Debug, Clone, Copy)]
enum Action {
    /// Makes requests of a kind on a disk, a sector apart from one another, and kicks.
    Kick { disk: usize, kind: Kind, sector: u64, requests: u16 },
    /// Lets time pass, as by a look at the clock.
    Work(u64),
    /// Sets a timer.
    Timer(u64),
    /// Has nothing to do until a timer or a disk wakes it.
    Sleep,
}

fn action() -> impl Strategy<Value = Action> {
    let kind = prop_oneof![
        6 => Just(Kind::Read),
        6 => Just(Kind::Write),
        2 => Just(Kind::Flush),
        1 => Just(Kind::Identify),
    ];
    let time = || prop_oneof![5 => Just(256_u64), 3 => 1..60_000_u64, 1 => 1..9_000_000_u64];
    prop_oneof![
        8 => (0..3_usize, kind, 0..200_000_u64, 1..5_u16).prop_map(
            |(disk, kind, sector, requests)| Action::Kick { disk, kind, sector, requests }
        ),
        10 => time().prop_map(Action::Work),
        2 => time().prop_map(Action::Timer),
        4 => Just(Action::Sleep),
    ]
}

/// A guest, as `arch/um/kernel/time.c` and the patch have it.
struct SoundGuest {
    lab: TestLab,
    now: u64,
    timers: BTreeSet<u64>,
    /// Requests made and seen to be done, by disk.
    made: Vec<u16>,
    done: Vec<u16>,
    /// Requests for serial numbers that are not done.
    prompt: Vec<u16>,
    /// When it saw how many requests of which disk done.
    seen: Vec<(u64, usize, u16)>,
}

impl SoundGuest {
    fn new(drives: Vec<Box<dyn Drive>>, has_window: bool) -> Self {
        let disks = drives.len();
        let lab = TestLab::with_drives(drives, limits());
        lab.poke(THEIRS, CAPABILITIES);
        if !has_window {
            lab.poke(KICK_WINDOW, 0);
        }
        let none = || vec![0; disks];
        let timers = BTreeSet::new();
        Self { lab, now: 0, timers, made: none(), done: none(), prompt: none(), seen: Vec::new() }
    }

    fn free_until(&self) -> u64 {
        self.lab.peek(FREE_UNTIL).wrapping_sub(EPOCH)
    }

    fn kick(&mut self, disk: usize, kind: Kind, sector: u64, requests: u16) {
        for number in 0..requests {
            // So many has a drive's queue, and a slot each has this guest's memory.
            if self.made[disk].wrapping_sub(self.done[disk]) >= 32 {
                break;
            }
            self.make_available(disk, kind, sector + u64::from(number) * 8);
        }
        // `vu_notify`, `time_travel_kick`.
        self.lab.poke(CURRENT_TIME, EPOCH + self.now);
        self.lab.poke(KICKS, self.lab.peek(KICKS) | 1 << disk);
        if self.lab.peek(KICK_WINDOW) == 0 {
            self.lab.poke(FREE_UNTIL, EPOCH + self.now);
        }
    }

    fn make_available(&mut self, disk: usize, kind: Kind, sector: u64) {
        let index = self.made[disk];
        self.made[disk] += 1;
        let slot = u64::from(index % 32);
        if matches!(kind, Kind::Identify) {
            self.prompt[disk] = self.made[disk];
        }
        let guest = &self.lab.guests[disk];
        let header = DATA + slot * 64;
        guest.poke(header, &halves(&[kind as u32, 0]));
        guest.poke(header + 8, &words(&[sector]));
        let head = slot * 3;
        let to_guest = if matches!(kind, Kind::Read | Kind::Identify) { 2 } else { 0 };
        let bytes = if matches!(kind, Kind::Identify) { 20 } else { 4096 };
        let status = GUEST + header + 32;
        let next = |flags: u64, to: u64| flags << 32 | to << 48;
        let chain = if matches!(kind, Kind::Flush) {
            [[GUEST + header, 16 | next(1, head + 2)], [0, 0], [status, 1 | next(2, 0)]]
        } else {
            [
                [GUEST + header, 16 | next(1, head + 1)],
                [GUEST + DATA + 0x2000, bytes | next(1 | to_guest, head + 2)],
                [status, 1 | next(2, 0)],
            ]
        };
        guest.poke(DESCRIPTORS + head * 16, &words(&chain.concat()));
        let ring = AVAILABLE + 4 + u64::from(index % 256) * 2;
        guest.poke(ring, &(head as u16).to_le_bytes());
        guest.poke(AVAILABLE + 2, &self.made[disk].to_le_bytes());
    }

    /// `time_travel_note_kicks`.
    fn note_kicks(&mut self) {
        let (kicks, window) = (self.lab.peek(KICKS), self.lab.peek(KICK_WINDOW));
        if kicks == 0 || window == 0 || self.free_until() == self.now {
            return;
        }
        let count = self.lab.peek(EARLIER_COUNT);
        let disks = (0..self.made.len()).filter(|disk| kicks >> disk & 1 != 0);
        let disks: Vec<usize> = disks.collect();
        let waits_for_answer = self.prompt.iter().zip(&self.done).any(|(made, done)| made > done);
        if waits_for_answer || count + disks.len() as u64 > 32 {
            self.lab.poke(FREE_UNTIL, EPOCH + self.now);
            return;
        }
        for (number, disk) in (count..).zip(&disks) {
            let at = EARLIER + number as usize * 16;
            self.lab.poke(at, EPOCH + self.now);
            self.lab.poke(at + 8, *disk as u64 | u64::from(self.made[*disk]) << 32);
        }
        self.lab.poke(EARLIER_COUNT, count + disks.len() as u64);
        self.lab.poke(KICKS, 0);
        if self.free_until() > self.now + window {
            self.lab.poke(FREE_UNTIL, EPOCH + self.now + window);
        }
    }

    /// `__time_travel_update_time`: lets time pass until then, or until the calendar has
    /// it run before.
    fn update_time(&mut self, time: Option<u64>) {
        self.note_kicks();
        if let Some(time) = time.filter(|time| *time < self.free_until()) {
            self.now = time;
            return;
        }
        match time {
            Some(time) => self.lab.ask(time),
            None => self.lab.poke(THEIRS, CAPABILITIES),
        }
        // `time_travel_ext_wait`.
        self.lab.poke(CURRENT_TIME, EPOCH + self.now);
        self.lab.say(&message(WAIT, 0));
        self.lab.events.step(&AT_ONCE).unwrap();
        let (op, time) = self.lab.next_message().expect("it is told to run");
        assert_eq!(op, RUN);
        assert!(time >= self.now, "time goes backwards {} -> {time}", self.now);
        self.now = time;
        self.lab.poke(THEIRS, CAPABILITIES);
        let calls = self.lab.peek(CALLS);
        self.lab.poke(CALLS, 0);
        for disk in (0..self.made.len()).filter(|disk| calls >> disk & 1 != 0) {
            self.done[disk] = self.lab.guests[disk].used();
            self.seen.push((self.now, disk, self.done[disk]));
        }
    }

    /// The timers that are due, and whether there were any.
    fn expire(&mut self) -> bool {
        let before = self.timers.len();
        self.timers.retain(|timer| *timer > self.now);
        before != self.timers.len()
    }

    fn work(&mut self, time: u64) {
        let until = self.now + time;
        while self.now < until {
            let next = self.timers.first().copied().map_or(until, |timer| timer.min(until));
            self.update_time(Some(next));
            self.expire();
        }
    }

    fn sleep(&mut self) {
        let (seen, pending) = (self.seen.len(), self.made != self.done);
        while self.seen.len() == seen && (pending || !self.timers.is_empty()) {
            self.update_time(self.timers.first().copied());
            if self.expire() {
                break;
            }
        }
    }

    /// What it saw, and when it was through.
    fn play(mut self, actions: &[Action]) -> (Vec<(u64, usize, u16)>, u64) {
        for action in actions {
            match *action {
                Action::Kick { disk, kind, sector, requests } => {
                    self.kick(disk % self.made.len(), kind, sector, requests);
                }
                Action::Work(time) => self.work(time),
                Action::Timer(time) => drop(self.timers.insert(self.now + time)),
                Action::Sleep => self.sleep(),
            }
        }
        while self.made != self.done {
            self.sleep();
        }
        (self.seen, self.now)
    }
}

fn drives(count: usize) -> Vec<Box<dyn Drive>> {
    let model = shipped("hdn721010ale604").unwrap().limited_to(128 << 20).unwrap();
    (0..count as u64).map(|seed| model.build(seed)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_guest_sees_the_same_with_a_window_after_its_kicks(
        actions in proptest::collection::vec(action(), 1..60), count in 1..4_usize,
    ) {
        let without = SoundGuest::new(drives(count), false).play(&actions);
        let with = SoundGuest::new(drives(count), true).play(&actions);
        prop_assert_eq!(with, without);
    }
}
