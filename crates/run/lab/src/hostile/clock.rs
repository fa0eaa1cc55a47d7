//! Hostile messages to the calendar, and hostile values in the memory that it
//! shares.

use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

use disklab_drive::{Drive, Nanos, shipped};
use proptest::prelude::*;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use rustix::time::Timespec;

use super::played::{
    AT_ONCE, CALLS, CAPABILITIES, CURRENT_TIME, DATA_BYTES, EARLIER, EARLIER_COUNT, EPOCH,
    FREE_UNTIL, KICK_WINDOW, KICKS, REQUESTED, RUN, RUNNING, THEIRS, TestLab, WAIT, limits,
    message,
};
use super::{CheckingDrive, Guest, content};
use crate::event_loop::{EventLoop, POLL_EVENTS};
use crate::{DiskOptions, LabError, ProtocolBreach, Sockets};
use disklab_lab_guest::Frame;

/// A time at an edge, or any.
fn time() -> impl Strategy<Value = u64> {
    prop_oneof![
        4 => (0..1_u64 << 40).prop_map(|t| EPOCH + t),
        1 => (0..1_u64 << 40).prop_map(|t| EPOCH - 1 - t),
        1 => (0..1_u64 << 20).prop_map(|t| (EPOCH - 1).wrapping_add(EPOCH).wrapping_sub(t)),
        1 => (0..1_u64 << 20).prop_map(|t| u64::MAX - t),
        1 => Just(0),
        1 => any::<u64>(),
    ]
}

/// What a guest does next.
#[derive(Debug, Clone)]
enum Action {
    /// Writes into the shared memory.
    Poke(usize, u64),
    /// Puts a request into its ring, and kicks by the shared memory or by a message.
    Request(bool),
    /// Switches its disk's write cache.
    Cache(u8),
    /// Asks to run at a time, and waits.
    Wait(Option<u64>),
    /// Says anything to the calendar.
    Say(Vec<u8>),
    /// Says anything on its console line.
    Talk(Vec<u8>),
    /// Closes its calendar's socket.
    End,
}

fn poke() -> impl Strategy<Value = (usize, u64)> {
    prop_oneof![
        (Just(FREE_UNTIL), time()),
        (Just(CURRENT_TIME), time()),
        (Just(RUNNING), any::<u64>()),
        (Just(KICKS), prop_oneof![Just(1), Just(u64::MAX), Just(1 << 63), any::<u64>()]),
        (Just(CALLS), any::<u64>()),
        (Just(EARLIER_COUNT), prop_oneof![0..4_u64, any::<u64>()]),
        ((0..3usize).prop_map(|n| EARLIER + n * 16), time()),
        (
            (0..3usize).prop_map(|n| EARLIER + n * 16 + 8),
            prop_oneof![(0..9_u64).prop_map(|end| end << 32), any::<u64>()]
        ),
        (Just(0), any::<u64>()),
        (Just(DATA_BYTES), any::<u64>()),
        (Just(THEIRS), prop_oneof![Just(3), Just(1), Just(3 | REQUESTED << 32), any::<u64>()]),
        (Just(THEIRS + 8), time()),
        ((0..1024usize).prop_map(|n| n * 8), any::<u64>()),
    ]
}

fn talk() -> impl Strategy<Value = Vec<u8>> {
    let frame = prop_oneof![
        Just(Frame::Ready),
        any::<bool>().prop_map(Frame::Waits),
        Just(Frame::Exit(0)),
        Just(Frame::Output(vec![b'x'; 20_000])),
    ];
    let sound = frame.prop_map(|frame| {
        let mut bytes = Vec::new();
        frame.put(&mut bytes);
        bytes
    });
    prop_oneof![6 => sound, 1 => proptest::collection::vec(any::<u8>(), 1..40)]
}

fn action() -> impl Strategy<Value = Action> {
    let op = prop_oneof![4 => Just(WAIT), 2 => 0..12u32, 1 => any::<u32>()];
    let said =
        (proptest::collection::vec((op, time()), 1..4), 0..40usize).prop_map(|(list, cut)| {
            let mut bytes: Vec<u8> =
                list.iter().flat_map(|(op, time)| message(*op, *time)).collect();
            // Mostly whole.
            if cut < 16 {
                bytes.truncate(bytes.len() - cut);
            }
            bytes
        });
    prop_oneof![
        6 => poke().prop_map(|(at, value)| Action::Poke(at, value)),
        4 => any::<bool>().prop_map(Action::Request),
        1 => any::<u8>().prop_map(Action::Cache),
        8 => proptest::option::weighted(0.8, time()).prop_map(Action::Wait),
        1 => said.prop_map(Action::Say),
        2 => talk().prop_map(Action::Talk),
        1 => Just(Action::End),
    ]
}

fn play(
    drive: Box<dyn Drive>,
    attended: bool,
    limited: bool,
    actions: Vec<Action>,
) -> Option<String> {
    let mut limits = limits();
    limits.virtual_time = limited.then_some(Nanos(1 << 39));
    let mut lab = TestLab::new(drive, attended, limits);
    lab.poke(THEIRS, CAPABILITIES);
    let mut requests = 0_u16;
    for action in actions {
        match action {
            Action::Poke(at, value) => lab.poke(at, value),
            Action::Request(by_memory) => {
                lab.guests[0].make_available(requests);
                requests = requests.wrapping_add(1);
                match by_memory {
                    true => lab.poke(KICKS, 1),
                    false => lab.guests[0].put(35, 9, 8, &[0; 8], &[]),
                }
            }
            Action::Cache(on) => {
                let bytes = [&32_u32.to_ne_bytes()[..], &[1, 0, 0, 0, 0, 0, 0, 0, on]].concat();
                lab.guests[0].put(25, 9, bytes.len() as u32, &bytes, &[]);
            }
            Action::Wait(time) => {
                if let Some(time) = time {
                    lab.ask(time.wrapping_sub(EPOCH));
                }
                lab.say(&message(WAIT, 0));
            }
            Action::Say(bytes) => lab.say(&bytes),
            Action::Talk(bytes) => {
                if let Some(line) = &lab.line {
                    let _ = send(line, &bytes, SendFlags::NOSIGNAL | SendFlags::DONTWAIT);
                }
            }
            Action::End => drop(lab.calendar.shutdown(std::net::Shutdown::Both)),
        }
        for _ in 0..2 {
            match lab.events.step(&AT_ONCE) {
                Ok(_) => {}
                Err(
                    LabError::Protocol { .. }
                    | LabError::System { .. }
                    | LabError::Asleep
                    | LabError::TimedOut { clock: "virtual", .. },
                ) => return (!lab.guests[0].canaries_live()).then(|| "a canary died".to_owned()),
                Err(other) => return Some(other.to_string()),
            }
        }
    }
    (!lab.guests[0].canaries_live()).then(|| "a canary died".to_owned())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn hostile_clocks_do_no_harm(
        actions in proptest::collection::vec(action(), 1..40), attended: bool, limited: bool,
    ) {
        prop_assert_eq!(play(Box::new(CheckingDrive::default()), attended, limited, actions), None);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// The model of a real drive has no trouble with such times either.
    #[test]
    fn hostile_clocks_do_no_harm_to_a_model(
        actions in proptest::collection::vec(action(), 1..40), attended: bool,
    ) {
        let drive = shipped("generic-3tb").unwrap().build(1);
        prop_assert_eq!(play(drive, attended, false, actions), None);
    }
}

#[test]
fn a_kick_by_memory_is_served_at_its_time() {
    let mut lab = TestLab::with_devices(Box::new(CheckingDrive::default()), limits());
    lab.guests[0].make_available(0);
    lab.poke(CURRENT_TIME, EPOCH + 70);
    // All the disks that there could be, of which there is one.
    lab.poke(KICKS, u64::MAX);
    lab.ask(1000);
    lab.say(&message(WAIT, 0));
    lab.events.step(&AT_ONCE).unwrap();
    assert_eq!(lab.next_message(), Some((RUN, 70)));
    assert_eq!((lab.guests[0].used(), lab.peek(CALLS), lab.peek(KICKS)), (1, 1, 0));
    assert_eq!(lab.events.counts().kicks, 1);
}

#[test]
fn earlier_kicks_are_served_each_at_its_time() {
    let drive = Box::new(crate::Steady::new(1 << 20, 1000));
    let mut lab = TestLab::with_devices(drive, limits());
    assert_eq!(lab.peek(KICK_WINDOW), 1000);
    // Two kicks, and one of the present, before the first is done.
    for (number, time) in [(0, 100), (1, 400)] {
        lab.guests[0].make_available(number);
        lab.poke(EARLIER + usize::from(number) * 16, EPOCH + time);
        lab.poke(EARLIER + usize::from(number) * 16 + 8, (u64::from(number) + 1) << 32);
    }
    lab.poke(EARLIER_COUNT, 2);
    lab.guests[0].make_available(2);
    lab.poke(KICKS, 1);
    lab.poke(CURRENT_TIME, EPOCH + 700);
    // One after the other: the drive does one thing at a time.
    for (time, done) in [(1100, 1), (2100, 2), (3100, 3)] {
        lab.ask(1 << 30);
        lab.say(&message(WAIT, 0));
        lab.events.step(&AT_ONCE).unwrap();
        assert_eq!((lab.next_message(), lab.guests[0].used()), (Some((RUN, time)), done));
    }
    assert_eq!((lab.events.counts().kicks, lab.peek(EARLIER_COUNT)), (3, 0));
}

#[test]
fn earlier_kicks_that_cannot_be_are_served_as_near_as_can_be() {
    let drive = Box::new(crate::Steady::new(1 << 20, 1000));
    let mut lab = TestLab::with_devices(drive, limits());
    lab.ask(5000);
    lab.say(&message(WAIT, 0));
    lab.events.step(&AT_ONCE).unwrap();
    assert_eq!(lab.next_message(), Some((RUN, 5000)));
    // From before it waited, and from times to come; a disk that is not there, and a ring
    // that ends elsewhere.
    lab.guests[0].make_available(0);
    for (number, time, device, end) in [(0, 1, 0, 1), (1, u64::MAX, 7, 1), (2, 1 << 40, 0, 9)] {
        lab.poke(EARLIER + number * 16, EPOCH.wrapping_add(time));
        lab.poke(EARLIER + number * 16 + 8, device | end << 32);
    }
    lab.poke(EARLIER_COUNT, 3);
    lab.poke(CURRENT_TIME, EPOCH + 5500);
    lab.ask(1 << 30);
    lab.say(&message(WAIT, 0));
    lab.events.step(&AT_ONCE).unwrap();
    assert_eq!((lab.next_message(), lab.guests[0].used()), (Some((RUN, 6000)), 1));
}

#[test]
fn a_clock_that_is_turned_back_hangs() {
    let mut lab = TestLab::with_devices(Box::new(CheckingDrive::default()), limits());
    lab.ask(1000);
    lab.say(&message(WAIT, 0));
    lab.events.step(&AT_ONCE).unwrap();
    assert_eq!(lab.next_message(), Some((RUN, 1000)));
    // It was told 1000, and says and wants 5.
    lab.guests[0].make_available(0);
    lab.poke(CURRENT_TIME, EPOCH + 5);
    lab.poke(KICKS, 1);
    lab.ask(5);
    lab.say(&message(WAIT, 0));
    lab.events.step(&AT_ONCE).unwrap();
    assert_eq!(lab.next_message(), Some((RUN, 1000)));
    // The same with a kick by message, from a later time.
    lab.poke(CURRENT_TIME, EPOCH + 2000);
    lab.guests[0].make_available(1);
    lab.guests[0].put(35, 9, 8, &[0; 8], &[]);
    lab.events.step(&AT_ONCE).unwrap();
    lab.poke(CURRENT_TIME, EPOCH + 1500);
    lab.ask(1600);
    lab.say(&message(WAIT, 0));
    lab.events.step(&AT_ONCE).unwrap();
    assert_eq!(lab.next_message(), Some((RUN, 2000)));
}

/// What the guest did that ended the lab.
fn breach<T: std::fmt::Debug>(outcome: Result<T, LabError>) -> ProtocolBreach {
    match outcome {
        Err(LabError::Protocol { breach, .. }) => breach,
        other => panic!("the lab takes it: {other:?}"),
    }
}

#[test]
fn a_clock_that_cannot_be_is_refused() {
    let mut lab = TestLab::with_devices(Box::new(CheckingDrive::default()), limits());
    lab.poke(CURRENT_TIME, EPOCH - 1);
    lab.guests[0].make_available(0);
    lab.guests[0].put(35, 9, 8, &[0; 8], &[]);
    let breach = breach(lab.events.step(&AT_ONCE));
    assert!(matches!(breach, ProtocolBreach::Clock(_)), "{breach:?}");
}

#[test]
fn a_calendar_that_connects_twice_is_refused() {
    let mut lab = TestLab::with_devices(Box::new(CheckingDrive::default()), limits());
    let _again = UnixStream::connect(lab.directory.path().join(Sockets::CALENDAR)).unwrap();
    let breach = breach(lab.events.step(&AT_ONCE));
    assert!(matches!(breach, ProtocolBreach::ConnectedTwice), "{breach:?}");
}

#[test]
fn a_disk_that_speaks_first_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let sockets = Sockets::new(directory.path(), 1).unwrap();
    let disks = vec![DiskOptions::new(Box::new(CheckingDrive::default()), "HOSTILE")];
    let mut events =
        EventLoop::new(sockets, disks, content(&directory, 1), 0, limits(), None).unwrap();
    let guest = Guest::new(UnixStream::connect(directory.path().join("disk0")).unwrap().into());
    guest.put(3, 1, 0, &[], &[]);
    events.step(&AT_ONCE).unwrap();
    let breach = breach(events.step(&AT_ONCE));
    assert!(matches!(breach, ProtocolBreach::BeforeCalendar), "{breach:?}");
}

/// A guest that never stops waiting keeps nobody from ending it.
#[test]
fn a_guest_that_waits_all_the_time_can_be_interrupted() {
    let limits = limits();
    let interrupt = limits.interrupt.clone();
    let mut lab = TestLab::with_devices(Box::new(CheckingDrive::default()), limits);
    lab.ask(0);
    let socket = lab.calendar.try_clone().unwrap();
    socket.set_nonblocking(false).unwrap();
    let guest = std::thread::spawn(move || {
        let mut bytes = [0; 16];
        while send(socket.as_fd(), &message(WAIT, 0), SendFlags::NOSIGNAL).is_ok()
            && recv(socket.as_fd(), &mut bytes, RecvFlags::empty()).is_ok_and(|(got, _)| got != 0)
        {
        }
    });
    interrupt.raise();
    let patience = Timespec { tv_sec: 1, tv_nsec: 0 };
    let outcome = loop {
        match lab.events.step(&patience) {
            Ok(_) if lab.events.counts().waits > 4 * u64::from(POLL_EVENTS) => break Ok(()),
            Ok(_) => {}
            Err(e) => break Err(e),
        }
    };
    drop(lab);
    guest.join().unwrap();
    assert!(matches!(outcome, Err(LabError::Interrupted(_))), "{outcome:?}");
}
