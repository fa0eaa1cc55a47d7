//! dd: one file, written or read in blocks of one size.

use disklab_cell::WorkloadPlan;
use disklab_config::{Fields, Node};
use disklab_exec::{Invocation, find_program};
use disklab_sample::{
    ContentProfile, Direction, Durability, Figure, FileSet, OperationKind, Order, Requests,
    StepProfile, SyncCall, TimeIn,
};
use disklab_source::SourceError;
use disklab_units::Bytes;

use crate::data::{ByteStream, FileContent};
use crate::{
    Context, Cost, OutputProblem, StepOutcome, WorkContext, Workload, WorkloadError, WorkloadKind,
};

/// The file's name, as the published scripts have it.
const FILE: &str = "test";

/// dd's flags that leave the data where it belongs (dd(1), coreutils 9.1).
/// `directory`, `nofollow` and the like are of no use here, and `seek_bytes` or
/// `skip_bytes` without their operands neither.
const FLAGS: [&str; 7] = ["append", "direct", "dsync", "fullblock", "noatime", "nocache", "sync"];

/// Conversions that do not change what is written, only when and how.
const CONVERSIONS: [&str; 3] = ["fdatasync", "fsync", "notrunc"];

pub(super) const DD: WorkloadKind = WorkloadKind {
    name: "dd",
    summary: "dd: one file, written or read in blocks of one size",
    fields: &[
        ("direction", "'read' or 'write'"),
        ("bs", "size of a block, such as '4k' or '1G'; never scaled, since it is the question"),
        ("count", "number of blocks; scaled, but at least 1"),
        ("flags", "oflag of a write or iflag of a read, such as 'dsync' or 'direct,dsync'"),
        ("source", "what is written: 'zero' (default, as in the published studies) or 'random'"),
        ("conv", "'fsync', 'fdatasync' or 'notrunc'"),
    ],
    read,
};

#[derive(Debug)]
struct Dd {
    writes: bool,
    block: Bytes,
    count: u64,
    scaled_from: Option<u64>,
    flags: Vec<String>,
    random: bool,
    conversions: Vec<String>,
}

fn read(spec: &WorkloadPlan, context: &Context) -> Result<Box<dyn Workload>, SourceError> {
    let mut fields = Fields::new(&spec.body, "the dd workload")?;
    let direction = fields.require("direction")?;
    let writes = match direction.as_text()?.as_str() {
        "read" => false,
        "write" => true,
        other => {
            return Err(direction
                .error(format!("`direction`: expected 'read' or 'write', found '{other}'")));
        }
    };
    let block_node = fields.require("bs")?;
    let block: Bytes =
        block_node.as_text()?.parse().map_err(|e| block_node.error(format!("`bs`: {e}")))?;
    // dd holds one block in memory.
    if !(Bytes(1)..=Bytes::gib(1)).contains(&block) {
        return Err(block_node.error(format!("`bs`: expected 1 byte to 1 GiB, found {block}")));
    }
    let published = match fields.integer("count", 1..=1 << 40)? {
        Some(count) => count,
        None => fields.require("count").map(|_| 1)?,
    };
    let flags = words(fields.take("flags"), "flags", &FLAGS)?;
    let source = fields.take("source");
    let random = match source.map(Node::as_text).transpose()?.as_deref() {
        None | Some("zero") => false,
        Some("random") => true,
        Some(other) => {
            return Err(source
                .unwrap_or(&spec.body)
                .error(format!("`source`: expected 'zero' or 'random', found '{other}'")));
        }
    };
    if let (false, Some(source)) = (writes, source) {
        return Err(source.error("`source` is for writes; what is read is random data always"));
    }
    let conversions = words(fields.take("conv"), "conv", &CONVERSIONS)?;
    fields.finish()?;
    let count = Bytes(published).scaled(context.scale, Bytes(1)).0;
    if count.checked_mul(block.0).is_none() {
        return Err(block_node.error("bs × count is more than 16 EiB"));
    }
    let scaled_from = (count != published).then_some(published);
    Ok(Box::new(Dd { writes, block, count, scaled_from, flags, random, conversions }))
}

/// A comma-separated list of known words.
fn words(node: Option<&Node>, name: &str, known: &[&str]) -> Result<Vec<String>, SourceError> {
    let Some(node) = node else { return Ok(Vec::new()) };
    let text = node.as_text()?;
    let words: Vec<String> =
        text.split(',').map(str::trim).filter(|w| !w.is_empty()).map(str::to_owned).collect();
    match words.iter().find(|w| !known.contains(&w.as_str())) {
        None => Ok(words),
        Some(word) => Err(node
            .error(format!("`{name}`: '{word}' is none of what is known: {}", known.join(", ")))),
    }
}

impl Dd {
    fn size(&self) -> Bytes {
        self.block.saturating_mul(self.count)
    }

    fn invocation(&self) -> Invocation {
        let (from, to) = match (self.writes, self.random) {
            (false, _) => (FILE, "/dev/null"),
            (true, false) => ("/dev/zero", FILE),
            (true, true) => ("/dev/urandom", FILE),
        };
        let mut dd = Invocation::new("dd")
            .args([format!("if={from}"), format!("of={to}"), format!("bs={}", size(self.block))])
            .arg(format!("count={}", self.count));
        let mut input: Vec<&str> = Vec::new();
        let flags: Vec<&str> = self.flags.iter().map(String::as_str).collect();
        if self.writes {
            // /dev/urandom gives at most 32 MiB at once (random(4)).
            input.extend(self.random.then_some("fullblock"));
            if !flags.is_empty() {
                dd = dd.arg(format!("oflag={}", flags.join(",")));
            }
        } else {
            input = flags;
        }
        if !input.is_empty() {
            dd = dd.arg(format!("iflag={}", input.join(",")));
        }
        if !self.conversions.is_empty() {
            dd = dd.arg(format!("conv={}", self.conversions.join(",")));
        }
        dd
    }

    /// What of its flags and conversions the dd of BusyBox 1.36 does not know.
    fn unknown_to_busybox(&self) -> Vec<String> {
        const FLAGS: [&str; 3] = ["append", "direct", "fullblock"];
        const CONVERSIONS: [&str; 2] = ["fsync", "notrunc"];
        let option = if self.writes { "oflag" } else { "iflag" };
        let flags = self.flags.iter().filter(|flag| !FLAGS.contains(&flag.as_str()));
        let conversions = self.conversions.iter().filter(|c| !CONVERSIONS.contains(&c.as_str()));
        flags
            .map(|flag| format!("{option}={flag}"))
            .chain(conversions.map(|conversion| format!("conv={conversion}")))
            .collect()
    }

    fn has(&self, flag: &str) -> bool {
        self.flags.iter().any(|f| f == flag)
    }
}

/// A size as dd reads it: only the small k is also known to it as a capital.
fn size(bytes: Bytes) -> String {
    bytes.short().to_uppercase()
}

impl Workload for Dd {
    fn programs(&self) -> Vec<(&'static str, &'static str)> {
        vec![("dd", "coreutils")]
    }

    fn lacks(&self) -> Option<(String, &'static str)> {
        // On small systems it is a link to a program that is many.
        let dd = find_program("dd")?.canonicalize().ok()?;
        let name = dd.file_name()?.to_str()?;
        let unknown = self.unknown_to_busybox();
        let lacks = name.starts_with("busybox") && !unknown.is_empty();
        lacks.then(|| {
            (format!("a dd that knows {}, as BusyBox's does not", unknown.join(", ")), "coreutils")
        })
    }

    fn cost(&self) -> Cost {
        let size = self.size();
        let synchronous = self.has("dsync") || self.has("sync");
        Cost {
            space: size,
            content: if self.writes && !self.random { Bytes::ZERO } else { size },
            prewrite: if self.writes { Bytes::ZERO } else { size },
            sequential_read: if self.writes { Bytes::ZERO } else { size },
            sequential_write: if self.writes { size } else { Bytes::ZERO },
            seeks: if self.writes && synchronous { self.count } else { 0 },
            small_writes: if self.writes && synchronous { self.count } else { 0 },
            ..Cost::default()
        }
    }

    fn names(&self) -> Vec<String> {
        vec![FILE.to_owned()]
    }

    fn profile(&self, _: &str) -> Option<StepProfile> {
        let requests = Requests::of_size(self.block.0, Order::Sequential);
        let converts = |name: &str| self.conversions.iter().any(|c| c == name);
        let durability = if self.has("dsync") || self.has("sync") {
            Durability::EachWrite(SyncCall::OSync)
        } else if converts("fsync") {
            Durability::AtEnd(SyncCall::Fsync)
        } else if converts("fdatasync") {
            Durability::AtEnd(SyncCall::Fdatasync)
        } else {
            Durability::Nothing
        };
        let content = if self.random { ContentProfile::Random } else { ContentProfile::Zeros };
        Some(StepProfile {
            reads: (!self.writes).then_some(requests),
            writes: self.writes.then_some(requests),
            read_share: Some(if self.writes { 0.0 } else { 1.0 }),
            direct: Some(self.has("direct")),
            durability: self.writes.then_some(durability),
            content: self.writes.then_some(content),
            files: Some(FileSet { files: 1, bytes: self.size().0 }),
            operations: Some(self.count),
            time_in: Some(if self.writes { TimeIn::Writes } else { TimeIn::Reads }),
            jobs: Some(1),
            depth: Some(1),
            stream: true,
            ..StepProfile::default()
        })
    }

    fn prepare(&self, context: &mut WorkContext<'_>) -> Result<(), WorkloadError> {
        if let Some(published) = self.scaled_from {
            context.note("dd", format!("count scaled from {published} to {}", self.count));
        }
        if self.writes {
            if self.random {
                context.note("dd", "reads /dev/urandom while it writes, which bounds its speed");
            } else {
                context.note(
                    "dd",
                    "writes zeros, as in the published studies; a file system that compresses \
                     stores next to nothing of them",
                );
            }
            return Ok(());
        }
        let mut stream = ByteStream::new(FileContent::Random, context.seed);
        let path = context.directory.join(FILE);
        context.write_file(&mut stream, &path, self.size(), true)?;
        let made = format!("head -c {} /dev/urandom > {FILE}", self.size().0);
        context.executor.trace.note(&["sh", "-c", &made]);
        Ok(())
    }

    fn run(&self, context: &mut WorkContext<'_>) -> Result<(), WorkloadError> {
        let invocation = self.invocation().cwd(context.directory).save_as("dd");
        let (name, direction) =
            if self.writes { ("write", Direction::Write) } else { ("read", Direction::Read) };
        let asked = self.size().0;
        context.step(name, |executor| {
            let finished = executor.check(&invocation)?;
            let (bytes, seconds) = parse(&finished.error_text())?;
            if bytes != asked {
                let problem = OutputProblem::Copied { asked, copied: bytes };
                return Err(WorkloadError::output("dd", problem));
            }
            let rate = |n: u64| (seconds > 0.0).then(|| n as f64 / seconds);
            let figure = Figure {
                direction,
                bytes,
                operations: Some(self.count),
                elapsed_ns: (seconds * 1e9).round() as u64,
                bytes_per_second: rate(bytes),
                operations_per_second: rate(self.count),
                latency: None,
                missed: None,
                operation: OperationKind::Io,
                commit: None,
            };
            Ok(StepOutcome::of(&finished, vec![figure]))
        })
    }
}

/// Bytes and seconds from what dd writes at its end: `1000000 bytes (1.0 MB,
/// 977 KiB) copied, 0.5 s, 2.0 MB/s`, without the sizes in brackets below
/// 1 kB, with one of them before coreutils 8.24, and with `seconds` in BusyBox.
fn parse(text: &str) -> Result<(u64, f64), WorkloadError> {
    let found = text.lines().rev().find_map(|line| {
        let (left, right) = line.split_once(" copied, ")?;
        let mut left = left.split_whitespace();
        let bytes = left.next()?.parse::<u64>().ok()?;
        if !left.next()?.starts_with("byte") {
            return None;
        }
        let mut right = right.split([' ', ',']);
        let seconds = right.next()?.parse::<f64>().ok()?;
        let unit = right.next()?;
        let fits = seconds.is_finite() && (0.0..1e9).contains(&seconds);
        (fits && (unit == "s" || unit.starts_with("second"))).then_some((bytes, seconds))
    });
    found.ok_or_else(|| {
        let last = text.lines().last().unwrap_or_default();
        let expected = "'… bytes … copied, … s, …' at its end";
        let problem = OutputProblem::Unexpected { expected, found: last.to_owned() };
        WorkloadError::output("dd", problem)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{lacks, read, run_in};

    #[test]
    fn knows_the_ends_of_several_versions() {
        for (text, expected) in [
            (
                "10000000000 bytes (10 GB, 9.3 GiB) copied, 88.2098 s, 113 MB/s\n",
                (10_000_000_000, 88.2098),
            ),
            (
                "64+0 records in\n64+0 records out\n1073741824 bytes (1.1 GB) copied, 10.25 s, 105 MB/s",
                (1 << 30, 10.25),
            ),
            ("512 bytes copied, 8.2e-05 s, 6.2 MB/s", (512, 0.000_082)),
            ("1 byte copied, 0.001 s, 1.0 kB/s", (1, 0.001)),
            ("1048576 bytes (1.0MB) copied, 0.002517 seconds, 397.3MB/s", (1 << 20, 0.002_517)),
        ] {
            assert_eq!(parse(text).expect(text), expected);
        }
    }

    #[test]
    fn other_ends_are_errors() {
        for text in [
            "",
            "copied, ",
            "x bytes copied, 1 s, 1 B/s",
            "5 bytes copied, nan s, -",
            "5 bytes copied, -1 s",
            "5 apples copied, 1 s, 3 B/s",
            "5 bytes copied, 1 m",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    fn published() -> Dd {
        Dd {
            writes: true,
            block: Bytes::gib(1),
            count: 2,
            scaled_from: None,
            flags: vec!["dsync".to_owned()],
            random: false,
            conversions: Vec::new(),
        }
    }

    #[test]
    fn what_the_dd_of_busybox_lacks_is_known() {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let dd = Dd { conversions: words(&["fdatasync", "fsync"]), ..published() };
        assert_eq!(dd.unknown_to_busybox(), ["oflag=dsync", "conv=fdatasync"]);
        let dd = Dd { writes: false, flags: words(&["direct", "nocache"]), ..published() };
        assert_eq!(dd.unknown_to_busybox(), ["iflag=nocache"]);
        let dd = Dd { flags: words(&["direct", "append"]), ..published() };
        assert!(dd.unknown_to_busybox().is_empty());
    }

    #[test]
    fn the_command_is_the_published_one() {
        let dd = published();
        assert_eq!(
            dd.invocation().argv().join(" "),
            "dd if=/dev/zero of=test bs=1G count=2 oflag=dsync"
        );
        let dd =
            Dd { random: true, conversions: vec!["fsync".to_owned()], block: Bytes(4000), ..dd };
        assert_eq!(
            dd.invocation().argv().join(" "),
            "dd if=/dev/urandom of=test bs=4000 count=2 oflag=dsync iflag=fullblock conv=fsync"
        );
        let dd = Dd {
            writes: false,
            random: false,
            conversions: Vec::new(),
            flags: vec!["direct".to_owned()],
            block: Bytes::kib(128),
            ..dd
        };
        assert_eq!(
            dd.invocation().argv().join(" "),
            "dd if=test of=/dev/null bs=128K count=2 iflag=direct"
        );
    }

    #[test]
    fn wrong_fields_are_errors() {
        for (body, part) in [
            ("direction = 'up'\nbs = 1\ncount = 1", "'read' or 'write'"),
            ("direction = 'write'\nbs = '2G'\ncount = 1", "1 GiB"),
            ("direction = 'write'\nbs = 0\ncount = 1", "1 byte"),
            ("direction = 'write'\nbs = '1k'", "needs a field 'count'"),
            ("direction = 'write'\nbs = '1k'\ncount = 1\nflags = 'dsnyc'", "'dsnyc'"),
            ("direction = 'read'\nbs = '1k'\ncount = 1\nsource = 'zero'", "for writes"),
            ("direction = 'read'\nbs = '1k'\ncount = 1\nconv = 'ascii'", "'ascii'"),
            ("direction = 'write'\nbs = '1G'\ncount = 1099511627776", "16 EiB"),
            ("direction = 'read'\nbs = '1k'\ncount = 1\nof = '/dev/sda'", "unknown field 'of'"),
        ] {
            let error = read("dd", body, 1.0).expect_err(body).to_string();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn writes_and_reads() {
        if lacks("dd") {
            return;
        }
        for (body, direction) in [
            ("direction = 'write'\nbs = '4k'\ncount = 300\nflags = 'dsync'", Direction::Write),
            ("direction = 'write'\nbs = '4k'\ncount = 300\nsource = 'random'", Direction::Write),
            ("direction = 'read'\nbs = '4k'\ncount = 300", Direction::Read),
        ] {
            let directory = tempfile::tempdir().expect("temp");
            let workload = read("dd", body, 0.5).expect("valid");
            let ran = run_in(&*workload, directory.path(), None).expect(body);
            let figure = &ran.steps[0].figures[0];
            assert_eq!(figure.direction, direction);
            assert_eq!((figure.bytes, figure.operations), (150 * 4096, Some(150)));
            assert!(figure.elapsed_ns > 0 && figure.bytes_per_second.is_some());
            assert!(ran.notes.iter().any(|n| n.text == "count scaled from 300 to 150"));
            let size = directory.path().join(FILE).metadata().expect("file").len();
            assert_eq!(size, workload.cost().space.0);
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in ".*") {
            let _ = parse(&text);
        }

        #[test]
        fn no_mutation_panics(at in 0_usize..70, to in any::<char>()) {
            let mut text: Vec<char> =
                "10000000000 bytes (10 GB, 9.3 GiB) copied, 88.2098 s, 113 MB/s".chars().collect();
            let at = at % text.len();
            text[at] = to;
            if let Ok((_, seconds)) = parse(&text.iter().collect::<String>()) {
                prop_assert!(seconds.is_finite() && seconds >= 0.0);
            }
        }

        #[test]
        fn no_scale_leaves_nothing(scale in 1e-9_f64..2.0, count in 1_u64..1 << 30) {
            let body = format!("direction = 'read'\nbs = 512\ncount = {count}");
            let cost = read("dd", &body, scale).expect("valid").cost();
            prop_assert!(cost.space.0 >= 512 && cost.space >= cost.prewrite);
        }
    }
}
