//! One stream: when its segments may be had, when they are due, and what came of it.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use disklab_exec::Interrupt;
use disklab_sample::LatencyHistogram;
use disklab_units::{BitsPerSecond, Bytes};
use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Timespec, clock_gettime};

use crate::WorkloadError;
use crate::data::ByteStream;
use crate::reader::thread_time;

const SECOND: u64 = 1_000_000_000;
/// A stream that waits looks at the wish to stop this often.
const POLL: u64 = SECOND / 4;

/// The segments of a stream in time. All times are in nanoseconds from its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Schedule {
    pub rate: BitsPerSecond,
    pub segment: Bytes,
    /// How long the stream is.
    pub length: u64,
    /// How much of it the player or camera holds.
    pub buffer: u64,
}

impl Schedule {
    /// When segment `number`, counted from 0, has its place: a player's buffer has
    /// room for it, or a camera has filled it.
    pub fn place(&self, number: u64) -> u64 {
        let bits = u128::from(number) * u128::from(self.segment.0) * 8;
        let ns = bits * u128::from(SECOND) / u128::from(self.rate.0.max(1));
        u64::try_from(ns).unwrap_or(u64::MAX)
    }

    /// How much time a segment holds.
    pub fn interval(&self) -> u64 {
        self.place(1)
    }

    /// How many segments begin within the stream's length; at least one.
    pub fn segments(&self) -> u64 {
        let bits = u128::from(self.length) * u128::from(self.rate.0);
        let segment = u128::from(self.segment.0) * 8 * u128::from(SECOND);
        u64::try_from(bits.div_ceil(segment)).unwrap_or(u64::MAX).max(1)
    }

    /// Rounded up to whole segments.
    pub fn file_size(&self) -> Bytes {
        self.segment.saturating_mul(self.segments())
    }
}

/// The clock that all streams share. It can tell them to stop.
#[derive(Debug)]
pub(super) struct StreamClock {
    start: u64,
    stopped: AtomicBool,
}

fn monotonic() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    // Neither is negative: the clock counts from the machine's start.
    (now.tv_sec as u64).saturating_mul(SECOND).saturating_add(now.tv_nsec as u64)
}

impl StreamClock {
    pub fn start() -> Self {
        Self { start: monotonic(), stopped: AtomicBool::new(false) }
    }

    /// Nanoseconds since the start.
    pub fn now(&self) -> u64 {
        monotonic().saturating_sub(self.start)
    }

    /// Lets all streams end.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
    }

    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }

    /// Sleeps until `time`, or until it is stopped. The moment is absolute, so that
    /// being late once does not move what follows.
    fn sleep_until(&self, time: u64, interrupt: &Interrupt) -> Result<(), WorkloadError> {
        loop {
            interrupt.check()?;
            let now = self.now();
            if now >= time || self.is_stopped() {
                return Ok(());
            }
            let wake = self.start.saturating_add(time.min(now + POLL));
            let request =
                Timespec { tv_sec: (wake / SECOND) as i64, tv_nsec: (wake % SECOND) as _ };
            // A signal ends it early: then the loop continues.
            let _ = clock_nanosleep_absolute(ClockId::Monotonic, &request);
        }
    }
}

/// A stream that runs.
#[derive(Debug)]
pub(super) struct RunningStream {
    pub file: File,
    pub path: PathBuf,
    pub schedule: Schedule,
    /// How much later than the clock it starts.
    pub offset: u64,
    /// What a camera records; nothing for a player.
    pub data: Option<ByteStream>,
    /// Whether each segment is made durable.
    pub sync: bool,
}

/// What came of a stream.
#[derive(Debug, Default)]
pub(super) struct Playback {
    /// From each segment's place in time until it was there.
    pub histogram: LatencyHistogram,
    /// Segments that were there too late, or not at all.
    pub missed: u64,
    /// Of these, the ones that were not at all: the last of all was due already.
    pub given_up: u64,
    /// Segments that were there in the end.
    pub done: u64,
    /// The longest that one took from its place in time.
    pub worst: u64,
    /// CPU time of its thread in user space and in the kernel.
    pub used: (u64, u64),
}

/// Runs a stream to its end, which is when its last segment is due, however far it
/// has got.
pub(super) fn play(
    stream: &mut RunningStream,
    clock: &StreamClock,
    interrupt: &Interrupt,
) -> Result<Playback, WorkloadError> {
    let schedule = stream.schedule;
    let count = schedule.segments();
    let end = stream.offset + schedule.place(count - 1) + schedule.buffer;
    let mut memory = vec![0; schedule.segment.0 as usize];
    let began = thread_time();
    let mut played = Playback::default();
    for number in 0..count {
        let place = stream.offset + schedule.place(number);
        clock.sleep_until(place, interrupt)?;
        if clock.is_stopped() {
            break;
        }
        if number > 0 && clock.now() > end {
            let left = count - number;
            played.given_up = left;
            played.missed += left;
            played.worst = played.worst.max(clock.now() - place);
            break;
        }
        stream.segment(number, &mut memory)?;
        let took = clock.now().saturating_sub(place);
        played.histogram.record(took, 1);
        played.done += 1;
        played.worst = played.worst.max(took);
        played.missed += u64::from(took > schedule.buffer);
    }
    let used = thread_time();
    played.used = (used.0.saturating_sub(began.0), used.1.saturating_sub(began.1));
    Ok(played)
}

impl RunningStream {
    /// Reads or writes a segment.
    fn segment(&mut self, number: u64, memory: &mut [u8]) -> Result<(), WorkloadError> {
        let offset = number * self.schedule.segment.0;
        let Some(data) = &mut self.data else {
            return self
                .file
                .read_exact_at(memory, offset)
                .map_err(WorkloadError::io("cannot read", &self.path));
        };
        let mut at = offset;
        data.give(self.schedule.segment, |bytes| {
            self.file.write_all_at(bytes, at)?;
            at += bytes.len() as u64;
            Ok::<_, std::io::Error>(())
        })
        .and_then(|()| if self.sync { self.file.sync_data() } else { Ok(()) })
        .map_err(WorkloadError::io("cannot write", &self.path))
    }
}
