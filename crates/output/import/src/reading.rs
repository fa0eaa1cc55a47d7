//! What one run of a program gave, as its output tells it.

use std::collections::BTreeMap;

use disklab_sample::{Direction, Figure, Latency, LatencyHistogram, OperationKind, Step, Tool};
use disklab_source::{Location, SourceError, is_hidden};

/// What one run of a program gave: one observation of one workload on one stack.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// What was run.
    pub work: ImportedWork,
    /// On what, where the output tells it, such as a result file's identifier.
    pub stack: Option<String>,
    /// The drive, where the figures are of one alone: figures of two drives are no repeats.
    pub drive: Option<String>,
    /// What came out, in order.
    pub steps: Vec<Step>,
    /// Whether the output leaves open if data were read or written; a name may tell.
    pub direction_is_open: bool,
    /// Why the program failed, where it did.
    pub failure: Option<String>,
    /// The program's version, and those of others.
    pub tools: Vec<Tool>,
    /// What else the output reports of the environment, by name.
    pub surroundings: BTreeMap<String, String>,
    /// What a reader of the figures should know.
    pub notes: Vec<String>,
    /// The command line, where it is known.
    pub command: Option<String>,
    /// The part of the text that this came from.
    pub place: Location,
    /// The runs for which it stands, where a program tells many that differ in nothing but
    /// these; none where it stands for itself.
    pub(crate) repeats: Vec<Repeat>,
}

/// One of many runs of a command: a reading of each would take ten times as much memory.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Repeat {
    /// How long it took, in nanoseconds.
    pub elapsed_ns: u64,
    /// Why it failed, where it did.
    pub failure: Option<String>,
    /// The part of the text that this came from.
    pub place: Location,
}

impl Reading {
    /// One without steps.
    pub(crate) fn new(work: ImportedWork, place: Location) -> Self {
        Self {
            work,
            stack: None,
            drive: None,
            steps: Vec::new(),
            direction_is_open: false,
            failure: None,
            tools: Vec::new(),
            surroundings: BTreeMap::new(),
            notes: Vec::new(),
            command: None,
            place,
            repeats: Vec::new(),
        }
    }

    /// The readings for which this one stands.
    pub(crate) fn each(mut self) -> Vec<Self> {
        let repeats = std::mem::take(&mut self.repeats);
        if repeats.is_empty() {
            return vec![self];
        }
        let one = |repeat: Repeat| {
            let mut steps = self.steps.clone();
            set_elapsed(&mut steps, repeat.elapsed_ns);
            Self { steps, failure: repeat.failure, place: repeat.place, ..self.clone() }
        };
        repeats.into_iter().map(one).collect()
    }
}

/// Gives steps the time of another run of the same command.
pub(crate) fn set_elapsed(steps: &mut [Step], elapsed_ns: u64) {
    for step in steps {
        step.elapsed_ns = elapsed_ns;
        step.figures.iter_mut().for_each(|figure| figure.elapsed_ns = elapsed_ns);
    }
}

/// Readings of one file: each becomes a cell of a run.
const MOST_READINGS: usize = 250_000;

/// Refuses a file of more readings than anybody makes.
pub(crate) fn check_count(readings: usize, place: &Location) -> Result<(), SourceError> {
    if readings <= MOST_READINGS {
        return Ok(());
    }
    Err(place
        .error(format!("this is the output of more than {MOST_READINGS} runs; split the file")))
}

/// What was run, as far as the output tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedWork {
    /// The id that the workload gets where nobody gives it another.
    pub id: String,
    /// For people.
    pub title: String,
    /// The kind of the workload in a study: that of a program whose whole work the
    /// output tells, such as `fio`, else [`UNKNOWN_KIND`].
    pub kind: &'static str,
    /// The kind's fields. Where two readings differ in them, they are not repeats.
    pub fields: Vec<(&'static str, String)>,
}

/// The kind of a workload of which the output does not tell all.
pub const UNKNOWN_KIND: &str = "imported";

impl ImportedWork {
    /// Work of which not all is known: the program's name, and what else there is.
    pub(crate) fn unknown(id: &str, title: &str, fields: Vec<(&'static str, String)>) -> Self {
        Self { id: id_of(id), title: one_line(title), kind: UNKNOWN_KIND, fields }
    }
}

/// The longest id that is made of a text.
const LONGEST_ID: usize = 80;

/// A text as an id of a study: letters, digits and `- _ . = +`. Never empty.
pub(crate) fn id_of(text: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || "_.=+".contains(c);
    joined(text, fits)
}

/// A text as a stack's id: visible ASCII without what patterns and quotes need. Each part of
/// it is one component of a path.
pub(crate) fn stack_id_of(text: &str) -> String {
    let id = joined(text, |c| c.is_ascii_graphic() && !"*?\"'\\:-".contains(c));
    let parts: Vec<&str> = id.split('/').filter(|part| !matches!(*part, "" | "." | "..")).collect();
    if parts.is_empty() { "unnamed".to_owned() } else { parts.join("/") }
}

fn joined(text: &str, fits: impl Fn(char) -> bool) -> String {
    let mut id = String::new();
    for c in text.chars() {
        if fits(c) {
            id.push(c);
        } else if !id.is_empty() && !id.ends_with('-') {
            id.push('-');
        }
    }
    if id.len() > LONGEST_ID {
        // What is cut off may be all that tells two texts apart.
        id.truncate(LONGEST_ID - 9);
        id = format!("{}-{:08x}", id.trim_end_matches('-'), digest(text));
    }
    let id = id.trim_matches('-').trim_start_matches('.');
    if id.is_empty() { "unnamed".to_owned() } else { id.to_owned() }
}

/// 32 bits of FNV-1a (Fowler, Noll and Vo; draft-eastlake-fnv): the same everywhere.
fn digest(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// A text in one line without control characters, of 200 characters at most.
pub(crate) fn one_line(text: &str) -> String {
    let plain = text.chars().map(|c| if c.is_control() || is_hidden(c) { ' ' } else { c });
    plain.take(200).collect::<String>().trim().to_owned()
}

/// A step of one figure, as long as the figure.
pub(crate) fn step(name: &str, figures: Vec<Figure>) -> Step {
    let elapsed_ns = figures.iter().map(|f| f.elapsed_ns).max().unwrap_or_default();
    Step { name: one_line(name), figures, elapsed_ns, ..Step::default() }
}

/// A figure that knows nothing yet but how long it took, in seconds.
pub(crate) fn figure(direction: Direction, seconds: f64) -> Figure {
    Figure {
        direction,
        bytes: 0,
        operations: None,
        elapsed_ns: nanoseconds(seconds),
        bytes_per_second: None,
        operations_per_second: None,
        latency: None,
        missed: None,
        operation: OperationKind::Io,
        commit: None,
    }
}

/// Seconds as nanoseconds; what is no time counts as 0, and centuries as centuries.
pub(crate) fn nanoseconds(seconds: f64) -> u64 {
    // The cast saturates, and takes not-a-number for 0.
    (seconds * 1e9).round().max(0.0) as u64
}

/// What is known of latencies where their distribution is not: the histogram is
/// empty, so that no percentile is made up. All in nanoseconds.
pub(crate) fn moments(min_ns: f64, mean_ns: f64, max_ns: f64, deviation_ns: f64) -> Latency {
    Latency {
        min_ns: min_ns.max(0.0) as u64,
        max_ns: max_ns.max(0.0) as u64,
        mean_ns,
        deviation_ns,
        histogram: LatencyHistogram::new(),
    }
}

/// 99.9 per cent of 2000 are 1998, and a little more as floats reckon.
const ROUNDING: f64 = 1e-6;

/// A histogram that is exact at the reported percentiles, which are shares with nanoseconds.
/// Between two of them stands the middle of both. An error is the number of one that is smaller
/// than a lower one.
pub(crate) fn percentiles(
    points: &[(f64, f64)],
    count: f64,
    (min, max): (f64, f64),
) -> Result<LatencyHistogram, usize> {
    let mut histogram = LatencyHistogram::new();
    let (mut below, mut last) = (0_u64, min);
    // Counts above this have no more percentiles than a million.
    let count = count.clamp(1.0, 1e6);
    for (number, (share, ns)) in points.iter().enumerate() {
        if *ns < last && last != min {
            return Err(number);
        }
        let upto = (share * count - ROUNDING).ceil() as u64;
        if upto > below {
            histogram.record(f64::midpoint(last.min(*ns), *ns) as u64, upto - below - 1);
            histogram.record(*ns as u64, 1);
            below = upto;
        }
        last = *ns;
    }
    if !points.is_empty() {
        histogram.record(max.max(last) as u64, (count as u64).saturating_sub(below));
    }
    Ok(histogram)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn texts_become_ids() {
        for (text, id) in [
            ("Random Read, 4 KB", "Random-Read-4-KB"),
            ("..", "unnamed"),
            ("", "unnamed"),
            ("--a--", "a"),
            ("bs=4k", "bs=4k"),
            ("読む", "unnamed"),
        ] {
            assert_eq!(id_of(text), id, "{text}");
        }
        assert_eq!(stack_id_of("raid5/btrfs[csum] (4 disks)"), "raid5/btrfs[csum]-(4-disks)");
    }

    #[test]
    fn long_texts_that_end_otherwise_become_other_ids() {
        let front = "Flexible IO Tester, Type: Random Read - Engine: Linux AIO - Direct: Yes - Block Size: 4KB";
        let (one, other) =
            (id_of(&format!("{front} - Job Count: 1")), id_of(&format!("{front} - Job Count: 8")));
        assert_ne!(one, other);
        assert_eq!(one.len(), LONGEST_ID);
        assert_eq!(one, id_of(&format!("{front} - Job Count: 1")), "the same in every file");
    }

    #[test]
    fn times_never_wrap() {
        assert_eq!(nanoseconds(1.5), 1_500_000_000);
        assert_eq!(nanoseconds(f64::NAN), 0);
        assert_eq!(nanoseconds(-1.0), 0);
        assert_eq!(nanoseconds(1e300), u64::MAX);
    }

    proptest! {
        #[test]
        fn every_text_gives_an_id_that_a_study_takes(text in "\\PC{0,120}") {
            let (id, stack) = (id_of(&text), stack_id_of(&text));
            let study = format!(
                "id = \"x\"\ntitle = \"x\"\n[stacks]\n\"{stack}\" = \"ext4\"\n\
                 [[workloads]]\nid = \"{id}\"\nimported = {{}}\n"
            );
            prop_assert!(disklab_study::load("x", &study).is_ok(), "{study}");
        }
    }
}
