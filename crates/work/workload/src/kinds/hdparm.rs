//! hdparm: how fast the caches and the drive are read, past the file system.

use std::path::{Path, PathBuf};
use std::time::Duration;

use disklab_cell::WorkloadPlan;
use disklab_config::Fields;
use disklab_exec::Invocation;
use disklab_sample::{
    Direction, Figure, FileSet, OperationKind, Order, Requests, StepProfile, TimeIn,
};
use disklab_source::SourceError;
use disklab_units::Bytes;

use crate::data::{ByteStream, FileContent};
use crate::reader::{ReadExtent, read_for};
use crate::{
    Context, Cost, OutputProblem, StepOutcome, WorkContext, Workload, WorkloadError, WorkloadKind,
};

/// The file that is read where there is no block device.
const FILE: &str = "test";

/// What hdparm, and the equivalent, read at once (TIMING_BUF_BYTES in its hdparm.c).
const PIECE: Bytes = Bytes::mib(2);

/// What hdparm calls MB: it counts pieces of 2 MiB (TIMING_BUF_BYTES in its
/// hdparm.c) as 2 MB.
const HDPARM_MB: f64 = 1_048_576.0;

pub(super) const HDPARM: WorkloadKind = WorkloadKind {
    name: "hdparm",
    summary: "hdparm -T and -t, or an equivalent read where there is no ATA drive",
    fields: &[
        ("cached", "whether to read the same 2 MiB again and again, -T"),
        ("device", "whether to read from the drive, -t; both, where neither is said"),
        ("direct", "whether to read past the page cache, --direct (default false)"),
        ("seconds", "how long the equivalent reads (default 3); hdparm has its own 2 and 3"),
        ("size", "the file that is read where there is no block device (default 512 MiB); scaled"),
    ],
    read,
};

#[derive(Debug)]
struct Hdparm {
    cached: bool,
    device: bool,
    direct: bool,
    seconds: u64,
    size: Bytes,
}

fn read(spec: &WorkloadPlan, context: &Context) -> Result<Box<dyn Workload>, SourceError> {
    let mut fields = Fields::new(&spec.body, "the hdparm workload")?;
    // As with hdparm's options: what is not asked for is not done.
    let (cached, device) = match (fields.boolean("cached")?, fields.boolean("device")?) {
        (None, None) => (true, true),
        (cached, device) => (cached.unwrap_or(false), device.unwrap_or(false)),
    };
    let direct = fields.boolean("direct")?.unwrap_or(false);
    let seconds = fields.integer("seconds", 1..=3600)?.unwrap_or(3);
    let size = fields.bytes("size")?.unwrap_or(Bytes::mib(512));
    fields.finish()?;
    if !cached && !device {
        return Err(spec
            .body
            .error("with `cached` and `device` both false there is nothing to do"));
    }
    let size = size.scaled(context.scale, Bytes::mib(2));
    Ok(Box::new(Hdparm { cached, device, direct, seconds, size }))
}

impl Hdparm {
    /// What is done, in order: the name with hdparm, its option, the name of the
    /// equivalent, what that reads.
    fn reads(
        &self,
        of_device: bool,
    ) -> Vec<(&'static str, &'static str, &'static str, ReadExtent)> {
        let equivalent = match (of_device, self.direct) {
            (false, _) => "device-read",
            (true, false) => "buffered-read",
            (true, true) => "direct-read",
        };
        let cached = ("cached", "-T", "cached-read", ReadExtent::Start);
        let device = ("device", "-t", equivalent, ReadExtent::Forward);
        [(self.cached, cached), (self.device, device)]
            .into_iter()
            .filter_map(|(wanted, read)| wanted.then_some(read))
            .collect()
    }

    fn hdparm(&self, context: &mut WorkContext<'_>, device: &Path) -> Result<(), WorkloadError> {
        for (name, option, ..) in self.reads(true) {
            let mut hdparm = Invocation::new("hdparm").arg(option);
            if self.direct {
                hdparm = hdparm.arg("--direct");
            }
            let hdparm = hdparm.arg(device).save_as(&format!("hdparm-{name}"));
            context.step(name, |executor| {
                let finished = executor.check(&hdparm)?;
                let figure = parse(&finished.text(), &finished.error_text())?;
                Ok(StepOutcome::of(&finished, vec![figure]))
            })?;
        }
        Ok(())
    }

    /// The equivalent, on a block device or a file.
    fn equivalent(
        &self,
        context: &mut WorkContext<'_>,
        path: &Path,
        of_device: bool,
    ) -> Result<(), WorkloadError> {
        let limit = Duration::from_secs(self.seconds);
        for (_, _, name, extent) in self.reads(of_device) {
            context.step(name, |executor| {
                read_for(path, extent, self.direct, limit, &executor.interrupt)
            })?;
        }
        Ok(())
    }

    fn file(context: &WorkContext<'_>) -> PathBuf {
        context.directory.join(FILE)
    }
}

impl Workload for Hdparm {
    fn programs(&self) -> Vec<(&'static str, &'static str)> {
        Vec::new()
    }

    fn ata_programs(&self) -> Vec<(&'static str, &'static str)> {
        vec![("hdparm", "hdparm")]
    }

    /// The file is counted on every bench: whether it is needed is known only
    /// where the stack stands. How much is read depends on the drive alone, so
    /// the time is what counts.
    fn cost(&self) -> Cost {
        let steps = u32::from(self.cached) + u32::from(self.device);
        Cost {
            space: self.size,
            content: self.size,
            prewrite: self.size,
            fixed_seconds: f64::from(steps) * self.seconds as f64,
            ..Cost::default()
        }
    }

    fn names(&self) -> Vec<String> {
        vec![FILE.to_owned()]
    }

    /// The device below the file system is no file: what is read of it says nothing of
    /// requests to files.
    fn profile(&self, step: &str) -> Option<StepProfile> {
        let common = StepProfile {
            read_share: Some(1.0),
            jobs: Some(1),
            depth: Some(1),
            stream: true,
            ..StepProfile::default()
        };
        let profile = match step {
            "cached" | "cached-read" => StepProfile { time_in: Some(TimeIn::Memory), ..common },
            "device-read" => StepProfile {
                reads: Some(Requests::of_size(PIECE.0, Order::Sequential)),
                direct: Some(self.direct),
                files: Some(FileSet { files: 1, bytes: self.size.0 }),
                time_in: Some(TimeIn::Reads),
                ..common
            },
            _ => StepProfile { time_in: Some(TimeIn::Reads), ..common },
        };
        Some(profile)
    }

    fn prepare(&self, context: &mut WorkContext<'_>) -> Result<(), WorkloadError> {
        if context.device.is_some() {
            return Ok(());
        }
        let mut stream = ByteStream::new(FileContent::Random, context.seed);
        context.write_file(&mut stream, &Self::file(context), self.size, true)?;
        let made = format!("head -c {} /dev/urandom > {FILE}", self.size.0);
        context.executor.trace.note(&["sh", "-c", &made]);
        Ok(())
    }

    fn run(&self, context: &mut WorkContext<'_>) -> Result<(), WorkloadError> {
        match context.device.clone() {
            Some(device) if context.device_is_ata => self.hdparm(context, &device),
            Some(device) => {
                context.note("hdparm", format!(
                    "{} is not an ATA drive: disklab itself read 2 MiB at a time from it for {} s, or \
                     to its end",
                    device.display(),
                    self.seconds
                ));
                self.equivalent(context, &device, true)
            }
            None => {
                context.note("hdparm", format!(
                    "no block device of its own lies below this directory: disklab itself read 2 \
                     MiB at a time from a file of {} for {} s, or to its end",
                    self.size,
                    self.seconds
                ));
                let file = Self::file(context);
                self.equivalent(context, &file, false)
            }
        }
    }
}

/// A figure from hdparm's line `Timing buffered disk reads: 528 MB in  3.01
/// seconds = 175.57 MB/sec`, where slow drives have `kB/sec` at the end.
fn parse(text: &str, errors: &str) -> Result<Figure, WorkloadError> {
    let found = text.lines().find_map(|line| {
        let (_, right) = line.trim().strip_prefix("Timing ")?.split_once(" reads:")?;
        let words: Vec<&str> = right.split_whitespace().collect();
        let [megabytes, "MB", "in", seconds, "seconds", "=", rate, unit] = words.as_slice() else {
            return None;
        };
        let unit = match *unit {
            "MB/sec" => HDPARM_MB,
            "kB/sec" => 1024.0,
            _ => return None,
        };
        let seconds: f64 = seconds.parse().ok()?;
        let rate: f64 = rate.parse().ok()?;
        let megabytes: u64 = megabytes.parse().ok()?;
        let fits = (0.0..1e9).contains(&seconds) && (0.0..1e12).contains(&rate);
        fits.then_some((megabytes, seconds, rate * unit))
    });
    let (megabytes, seconds, bytes_per_second) = found.ok_or_else(|| {
        let said = if errors.trim().is_empty() { text } else { errors };
        let said = said.trim().lines().last().unwrap_or_default();
        let expected = "'Timing … reads: … MB in … seconds = … MB/sec'";
        let problem = OutputProblem::Unexpected { expected, found: said.to_owned() };
        WorkloadError::output("hdparm", problem)
    })?;
    Ok(Figure {
        direction: Direction::Read,
        bytes: megabytes.saturating_mul(1 << 20),
        operations: None,
        elapsed_ns: (seconds * 1e9).round() as u64,
        // The seconds are rounded to two digits; the rate was not made from them.
        bytes_per_second: Some(bytes_per_second),
        operations_per_second: None,
        latency: None,
        missed: None,
        operation: OperationKind::Io,
        commit: None,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{read, run_in};

    const SAMPLE: &str =
        "\n/dev/sda:\n Timing buffered disk reads: 528 MB in  3.01 seconds = 175.57 MB/sec\n";

    #[test]
    fn knows_every_form() {
        let figure = parse(SAMPLE, "").expect("parsed");
        assert_eq!(figure.bytes, 528 << 20);
        assert_eq!(figure.elapsed_ns, 3_010_000_000);
        assert_eq!(figure.bytes_per_second, Some(175.57 * 1_048_576.0));
        for (line, bytes, rate) in [
            (
                " Timing cached reads:   40086 MB in  1.99 seconds = 20153.37 MB/sec",
                40086 << 20,
                20153.37 * HDPARM_MB,
            ),
            (
                " Timing O_DIRECT disk reads: 470 MB in  3.00 seconds = 156.58 MB/sec",
                470 << 20,
                156.58 * HDPARM_MB,
            ),
            (
                " Timing O_DIRECT cached reads:   2 MB in  4.10 seconds = 499.51 kB/sec",
                2 << 20,
                499.51 * 1024.0,
            ),
        ] {
            let figure = parse(line, "").expect(line);
            assert_eq!((figure.bytes, figure.bytes_per_second), (bytes, Some(rate)), "{line}");
        }
    }

    #[test]
    fn anything_else_is_an_error_that_shows_it() {
        let error =
            parse("/dev/x:\n Timing buffered disk reads: ", "read() hit EOF - device too small\n")
                .expect_err("no figure")
                .to_string();
        assert!(error.contains("device too small"), "{error}");
        for line in [
            " Timing reads: 5 MB in NaN seconds = 3 MB/sec",
            " Timing cached reads: 5 MB in 1 seconds = inf MB/sec",
            " Timing cached reads: 5 MB in 1 seconds = 3 furlongs/sec",
        ] {
            assert!(parse(line, "").is_err(), "{line}");
        }
    }

    #[test]
    fn a_directory_gets_reads_of_a_file() {
        let directory = tempfile::tempdir().expect("temp");
        let body = "seconds = 1\nsize = '6 MiB'";
        let workload = read("hdparm", body, 1.0).expect("valid");
        let ran = run_in(&*workload, directory.path(), None).expect("ran");
        let names: Vec<_> = ran.steps.iter().map(|s| s.name.as_str()).collect();
        assert_eq!(names, ["cached-read", "device-read"]);
        assert_eq!(ran.steps[1].figures[0].bytes, 6 << 20);
        assert!(ran.notes[0].text.contains("no block device"), "{:?}", ran.notes);
        assert!(ran.commands[0].contains("urandom"), "{:?}", ran.commands);
    }

    #[test]
    fn a_device_without_ata_commands_is_read_by_disklab() {
        // Any file can stand for the device: it is only read.
        let directory = tempfile::tempdir().expect("temp");
        let device = directory.path().join("device");
        std::fs::write(&device, vec![1; 4 << 20]).expect("file");
        for (body, name) in
            [("device = true", "buffered-read"), ("device = true\ndirect = true", "direct-read")]
        {
            let workload = read("hdparm", body, 1.0).expect("valid");
            match run_in(&*workload, directory.path(), Some(device.clone())) {
                Ok(ran) => {
                    assert_eq!(ran.steps.len(), 1);
                    assert_eq!(ran.steps[0].name, name);
                    assert_eq!(ran.steps[0].figures[0].bytes, 4 << 20);
                }
                Err(e) if e.to_string().contains("no direct I/O") => {
                    eprintln!("skipped: needs a file system with direct I/O");
                }
                Err(e) => panic!("{e}"),
            }
        }
        assert!(!directory.path().join(FILE).exists());
    }

    #[test]
    fn wrong_fields_are_errors() {
        for (body, part) in [
            ("cached = false\ndevice = false", "nothing to do"),
            ("cached = false", "nothing to do"),
            ("seconds = 0", "from 1"),
            ("flags = 't'", "unknown field 'flags'"),
        ] {
            let error = read("hdparm", body, 1.0).expect_err(body).to_string();
            assert!(error.contains(part), "{error}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in ".*", line in "Timing [a-z ]* reads: .{0,40}") {
            let _ = parse(&text, &line);
            let _ = parse(&line, &text);
        }

        #[test]
        fn no_mutation_panics(at in 0_usize..SAMPLE.len(), to in any::<char>()) {
            let mut text: Vec<char> = SAMPLE.chars().collect();
            text[at] = to;
            if let Ok(figure) = parse(&text.iter().collect::<String>(), "") {
                prop_assert!(figure.bytes_per_second.is_some_and(f64::is_finite));
            }
        }
    }
}
