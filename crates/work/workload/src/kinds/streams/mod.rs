//! Video players and cameras: streams of a rate, whose segments have deadlines.

mod player;
#[cfg(test)]
mod tests;

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::time::Duration;

use disklab_cell::WorkloadPlan;
use disklab_config::Fields;
use disklab_exec::Interrupt;
use disklab_sample::{
    ContentProfile, Direction, Durability, Figure, FileSet, LatencyHistogram, Order, Requests,
    StepProfile, SyncCall, TimeIn,
};
use disklab_source::SourceError;
use disklab_units::{BitsPerSecond, Bytes, show_duration};

use self::player::{Playback, RunningStream, Schedule, StreamClock, play};
use crate::data::{ByteStream, FileContent};
use crate::duration::nanoseconds;
use crate::tally::figure;
use crate::tree::sync_tree;
use crate::{Context, Cost, StepOutcome, WorkContext, Workload, WorkloadError, WorkloadKind};

/// A thread's stack. A guest's first program has all its memory locked, so the usual
/// 2 MiB would be taken at once for each stream.
const STACK: usize = 256 << 10;

pub(super) const STREAMS: WorkloadKind = WorkloadKind {
    name: "streams",
    summary: "video players and cameras at a steady rate, with deadlines missed counted",
    fields: &[
        ("read", "number of films that are played at the same time (default 4)"),
        ("write", "number of cameras that record at the same time (default 0)"),
        ("rate", "of each, such as '25 Mb/s' (default, as of UHD films) or '3 MB/s'"),
        ("write-rate", "of each camera, where it is another"),
        ("segment", "bytes that are read or written at once (default '1 MiB')"),
        ("seconds", "how long it runs [default: 60]; not scaled"),
        ("buffer", "seconds of video that a player or camera holds (default 2)"),
        ("sync", "'segment' (default): cameras make each segment safe; or 'none'"),
    ],
    read,
};

#[derive(Debug)]
struct Streams {
    readers: u64,
    writers: u64,
    read: Schedule,
    write: Schedule,
    /// Whether cameras make each segment safe.
    sync: bool,
}

fn read(spec: &WorkloadPlan, _: &Context) -> Result<Box<dyn Workload>, SourceError> {
    let mut fields = Fields::new(&spec.body, "the streams workload")?;
    let readers = fields.integer("read", 0..=1000)?.unwrap_or(4);
    let writers = fields.integer("write", 0..=1000)?.unwrap_or(0);
    if readers + writers == 0 {
        return Err(spec.body.error("there are no streams: one of `read` and `write` is above 0"));
    }
    let mut rate = |name: &str| -> Result<Option<BitsPerSecond>, SourceError> {
        let Some(node) = fields.take(name) else { return Ok(None) };
        node.as_text()?.parse().map(Some).map_err(|e| node.error(format!("`{name}`: {e}")))
    };
    let read_rate = rate("rate")?.unwrap_or(BitsPerSecond(25_000_000));
    let write_rate = rate("write-rate")?.unwrap_or(read_rate);
    let segment_node = fields.take("segment");
    let segment: Bytes = match segment_node {
        None => Bytes::mib(1),
        Some(node) => node.as_text()?.parse().map_err(|e| node.error(format!("`segment`: {e}")))?,
    };
    if let Some(node) = segment_node
        && !(Bytes::kib(4)..=Bytes::mib(64)).contains(&segment)
    {
        return Err(node.error(format!("`segment`: expected 4 KiB to 64 MiB, found {segment}")));
    }
    let mut seconds = |name: &str, default: u64, least: Duration| {
        let duration = fields.duration(name)?.unwrap_or(Duration::from_secs(default));
        let most = Duration::from_secs(7 * 24 * 3600);
        if (least..=most).contains(&duration) {
            Ok(duration)
        } else {
            Err(spec.body.error(format!(
                "`{name}`: expected {} to 7 days, found {}",
                show_duration(least),
                show_duration(duration)
            )))
        }
    };
    let length = seconds("seconds", 60, Duration::from_millis(100))?;
    let buffer = seconds("buffer", 2, Duration::ZERO)?;
    let sync = fields.choice("sync", &[("segment", true), ("none", false)])?.unwrap_or(true);
    fields.finish()?;
    let schedule =
        |rate| Schedule { rate, segment, length: nanoseconds(length), buffer: nanoseconds(buffer) };
    Ok(Box::new(Streams {
        readers,
        writers,
        read: schedule(read_rate),
        write: schedule(write_rate),
        sync,
    }))
}

fn film(directory: &Path, number: u64) -> PathBuf {
    directory.join(format!("film-{:03}.mkv", number + 1))
}

fn recording(directory: &Path, number: u64) -> PathBuf {
    directory.join(format!("camera-{:03}.mp4", number + 1))
}

impl Streams {
    fn read_size(&self) -> Bytes {
        self.read.file_size().saturating_mul(self.readers)
    }

    fn write_size(&self) -> Bytes {
        self.write.file_size().saturating_mul(self.writers)
    }

    /// All streams, their files open.
    fn open(&self, directory: &Path, seed: u64) -> Result<Vec<RunningStream>, WorkloadError> {
        let count = self.readers + self.writers;
        let mut streams = Vec::new();
        for number in 0..count {
            let writes = number >= self.readers;
            let (schedule, path) = if writes {
                (self.write, recording(directory, number - self.readers))
            } else {
                (self.read, film(directory, number))
            };
            let file = if writes {
                OpenOptions::new().write(true).create(true).truncate(true).open(&path)
            } else {
                File::open(&path)
            };
            streams.push(RunningStream {
                file: file.map_err(WorkloadError::io("cannot open", &path))?,
                path,
                // Nobody presses all buttons at the same moment.
                offset: schedule.interval() / count * number,
                schedule,
                data: writes.then(|| {
                    let mut data = ByteStream::new(FileContent::Random, seed);
                    data.go_to(number);
                    data
                }),
                sync: writes && self.sync,
            });
        }
        Ok(streams)
    }

    /// Runs all streams to their end.
    fn play(
        &self,
        directory: &Path,
        seed: u64,
        interrupt: &Interrupt,
    ) -> Result<(Vec<(Direction, Playback)>, u64), WorkloadError> {
        let streams = self.open(directory, seed)?;
        let clock = StreamClock::start();
        let played = std::thread::scope(|scope| {
            let mut threads = Vec::new();
            for mut stream in streams {
                let (clock, one) = (&clock, &interrupt);
                let direction =
                    if stream.data.is_some() { Direction::Write } else { Direction::Read };
                let thread = std::thread::Builder::new()
                    .name("stream".to_owned())
                    .stack_size(STACK)
                    .spawn_scoped(scope, move || {
                        let played = play(&mut stream, clock, one);
                        if played.is_err() {
                            // The others need not continue.
                            clock.stop();
                        }
                        played
                    });
                match thread {
                    Ok(thread) => threads.push((direction, thread)),
                    Err(e) => {
                        clock.stop();
                        return Err(WorkloadError::Thread(e));
                    }
                }
            }
            let mut all = Vec::new();
            let mut error = None;
            for (direction, thread) in threads {
                let played = thread.join().unwrap_or(Err(WorkloadError::Panicked));
                match played {
                    Ok(played) => all.push((direction, played)),
                    Err(e) => error = error.or(Some(e)),
                }
            }
            error.map_or(Ok(all), Err)
        })?;
        Ok((played, clock.now()))
    }
}

/// What the streams of one direction gave together.
fn together(
    direction: Direction,
    schedule: &Schedule,
    elapsed: u64,
    played: &[(Direction, Playback)],
) -> Option<(Figure, String)> {
    let of = played.iter().filter(|(d, _)| *d == direction).map(|(_, played)| played);
    let mut histogram = LatencyHistogram::new();
    let (mut streams, mut missed, mut given_up, mut done, mut worst) = (0_u64, 0, 0, 0, 0);
    for one in of {
        streams += 1;
        histogram.merge(&one.histogram);
        missed += one.missed;
        given_up += one.given_up;
        done += one.done;
        worst = worst.max(one.worst);
    }
    if streams == 0 {
        return None;
    }
    let all = schedule.segments() * streams;
    let bytes = done * schedule.segment.0;
    let figure =
        Figure { missed: Some(missed), ..figure(direction, bytes, done, elapsed, histogram) };
    let who = if direction == Direction::Read { "players" } else { "cameras" };
    let lateness = if worst > schedule.buffer {
        format!(
            "the worst was {} late",
            show_duration(Duration::from_nanos(worst - schedule.buffer))
        )
    } else {
        format!(
            "the closest had {} to spare",
            show_duration(Duration::from_nanos(schedule.buffer - worst))
        )
    };
    let mut text = format!(
        "{streams} {who} of {}: {missed} of {all} deadlines missed; {lateness}",
        schedule.rate.show()
    );
    if given_up > 0 {
        text += &format!(
            "; {given_up} of them had not even been done when the last one was due, and count as \
             missed"
        );
    }
    Some((figure, text))
}

impl Workload for Streams {
    fn programs(&self) -> Vec<(&'static str, &'static str)> {
        Vec::new()
    }

    fn cost(&self) -> Cost {
        let (read, write) = (self.read_size(), self.write_size());
        let seconds = Duration::from_nanos(self.read.length + self.read.buffer).as_secs_f64();
        let syncs = if self.sync { self.write.segments() * self.writers } else { 0 };
        Cost {
            space: read + write,
            content: read + write,
            prewrite: read,
            sequential_read: read,
            sequential_write: write,
            // The arm goes from stream to stream.
            seeks: self.read.segments() * self.readers + syncs.saturating_mul(2),
            small_writes: syncs.saturating_mul(2),
            fixed_seconds: seconds,
            paced: true,
            at_most_seconds: Some(seconds),
            ..Cost::default()
        }
    }

    fn names(&self) -> Vec<String> {
        let films = (0..self.readers).map(|number| film(Path::new(""), number));
        let recordings = (0..self.writers).map(|number| recording(Path::new(""), number));
        films.chain(recordings).map(|path| path.display().to_string()).collect()
    }

    fn profile(&self, _: &str) -> Option<StepProfile> {
        let requests = |streams: u64, schedule: &Schedule| {
            let requests = Requests::of_size(schedule.segment.0, Order::Sequential);
            (streams > 0).then_some(requests)
        };
        let durability = match self.sync {
            true => Durability::EachWrite(SyncCall::Fdatasync),
            false => Durability::Nothing,
        };
        let streams = self.readers + self.writers;
        Some(StepProfile {
            reads: requests(self.readers, &self.read),
            writes: requests(self.writers, &self.write),
            direct: Some(false),
            durability: (self.writers > 0).then_some(durability),
            content: (self.writers > 0).then_some(ContentProfile::Random),
            files: Some(FileSet {
                files: streams,
                bytes: (self.read_size() + self.write_size()).0,
            }),
            time_in: Some(TimeIn::Waiting),
            jobs: u32::try_from(streams).ok(),
            depth: Some(1),
            ..StepProfile::default()
        })
    }

    fn prepare(&self, context: &mut WorkContext<'_>) -> Result<(), WorkloadError> {
        let mut stream = ByteStream::new(FileContent::Random, context.seed);
        for number in 0..self.readers {
            stream.go_to(number);
            let path = film(context.directory, number);
            context.write_file(&mut stream, &path, self.read.file_size(), false)?;
        }
        sync_tree(context.directory)?;
        context.note(
            "streams",
            format!(
                "a segment of {} may be had at its place in time and is due {} later, as long as \
                 the buffer lasts; latencies count from that place, so they hold the wait for \
                 segments before it",
                self.read.segment,
                show_duration(Duration::from_nanos(self.read.buffer))
            ),
        );
        if self.writers > 0 {
            context.note(
                "streams",
                if self.sync {
                    "cameras make each segment safe (fdatasync)"
                } else {
                    "cameras do not sync: a segment is done when the page cache has it"
                },
            );
        }
        Ok(())
    }

    fn run(&self, context: &mut WorkContext<'_>) -> Result<(), WorkloadError> {
        let (directory, seed) = (context.directory, context.seed);
        let mut notes = Vec::new();
        context.step("play", |executor| {
            let (played, elapsed) = self.play(directory, seed, &executor.interrupt)?;
            let mut outcome = StepOutcome::default();
            let directions = [(Direction::Read, &self.read), (Direction::Write, &self.write)];
            for (direction, schedule) in directions {
                if let Some((figure, note)) = together(direction, schedule, elapsed, &played) {
                    outcome.figures.push(figure);
                    notes.push(note);
                }
            }
            for (_, one) in &played {
                outcome.user_ns += one.used.0;
                outcome.system_ns += one.used.1;
            }
            Ok(outcome)
        })?;
        for note in notes {
            context.note("streams", note);
        }
        Ok(())
    }
}
