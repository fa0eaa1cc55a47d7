//! How long what passes over the drives of a stack takes, a rebuild or a scrub, what bounds that, and what other work
//! feels.

use std::collections::BTreeMap;

use disklab_comparisons::{times, value};
use disklab_risk::Uncertain;
use disklab_sample::{Direction, DrivePass, Figure, OperationKind, PassWindow, Sample, Step};
use disklab_stats::{estimate, median};
use disklab_study::Measure;
use disklab_units::BytesPerSecond;

/// A drive that has work for a smaller share of the time does not bound it.
const HAS_WORK: f64 = 0.5;

/// What passes over the drives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PassAction {
    /// A drive is rebuilt.
    #[default]
    Rebuild,
    /// All are scrubbed.
    Scrub,
}

impl PassAction {
    /// What a step of this kind measured.
    fn measured(self, step: &Step) -> Option<&DrivePass> {
        match self {
            Self::Rebuild => step.rebuild.as_ref(),
            Self::Scrub => step.scrub.as_ref(),
        }
    }

    /// What it does, and what a stack then is.
    pub fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Rebuild => ("rebuilt", "redundant after"),
            Self::Scrub => ("scrubbed", "scrubbed in"),
        }
    }
}

/// What a pass cannot go faster than.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Bound {
    KernelLimit,
    NewDrive,
    OtherDrives,
    AllDrives,
    ReadDrives,
    NoDrive,
}

impl Bound {
    /// Of a window; `new` is the index of the drive that is rebuilt, none if all are as the others: then they
    /// are this bound.
    fn of(window: &PassWindow, new: Option<usize>, all: Self) -> Self {
        if window.is_at_limit() {
            return Self::KernelLimit;
        }
        let own = new.and_then(|new| window.busy.get(new)).copied().unwrap_or(0.0);
        let others = window.busy.iter().enumerate().filter(|(at, _)| Some(*at) != new);
        let others = others.map(|(_, busy)| *busy).fold(0.0, f64::max);
        match own.max(others) >= HAS_WORK {
            true if new.is_none() => all,
            true if own > others => Self::NewDrive,
            true => Self::OtherDrives,
            false => Self::NoDrive,
        }
    }

    fn words(self, limit: Option<f64>) -> String {
        match (self, limit) {
            (Self::KernelLimit, Some(limit)) => {
                format!("the kernel's limit of {} (sync_speed_max)", BytesPerSecond(limit).si())
            }
            (Self::KernelLimit, None) => "the kernel's limit".to_owned(),
            (Self::NewDrive, _) => "writing to the new drive".to_owned(),
            (Self::OtherDrives, _) => "reading from the other drives".to_owned(),
            (Self::AllDrives, _) => "reading from and writing to all drives".to_owned(),
            (Self::ReadDrives, _) => "reading from the drives".to_owned(),
            (Self::NoDrive, _) => "no drive: how many requests the kernel makes at once".to_owned(),
        }
    }
}

/// What the repeats of a stack say.
#[derive(Debug, Clone, Default)]
pub struct StackPasses {
    seconds: Vec<f64>,
    /// Seconds of the whole pass that each bound had.
    bounds: BTreeMap<Bound, f64>,
    limit: Option<f64>,
    /// By phase and what is felt, each with the ratio to a healthy stack.
    felt: BTreeMap<(u8, Felt), Vec<f64>>,
    /// Nanoseconds that 99 % of other work's requests take at most meanwhile.
    p99: BTreeMap<Direction, Vec<f64>>,
}

/// The last of [`PASS_PHASES`].
const MEANWHILE: u8 = 1;

/// What other work feels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Felt {
    Rate(Direction),
    Median(Direction),
    P99(Direction),
}

/// When other work is compared with a healthy stack, as one says it, in order.
pub const PASS_PHASES: [&str; 2] = ["without the drive", "meanwhile"];

/// What the samples of a run say of rebuilds, or of scrubs.
#[derive(Debug, Clone, Default)]
pub struct PassSummary {
    kind: PassAction,
    /// By stack, in the order of their first samples.
    stacks: Vec<(String, StackPasses)>,
    /// What another level of an axis costs, in sentences.
    costs: Vec<String>,
}

impl PassSummary {
    /// Of no samples yet.
    pub fn new(kind: PassAction) -> Self {
        Self { kind, ..Self::default() }
    }

    /// Counts a sample of this stack, if it is of such a pass.
    pub fn add(&mut self, stack: &str, sample: &Sample) {
        let pass = |step| Some((step, self.kind.measured(step)?));
        let Some((step, pass)) = sample.steps.iter().find_map(pass) else { return };
        let at = self.stacks.iter().position(|(known, _)| known == stack).unwrap_or_else(|| {
            self.stacks.push((stack.to_owned(), StackPasses::default()));
            self.stacks.len() - 1
        });
        self.stacks[at].1.add(self.kind, (step, pass), &sample.steps);
    }

    /// A paragraph for each stack: how long, what bounds it, what other work feels.
    pub fn sentences(&self) -> Vec<String> {
        let of_each = self.stacks.iter().map(|(stack, own)| own.sentence(stack, self.kind));
        of_each.chain(self.costs.iter().cloned()).collect()
    }

    /// Adds what another level of an axis, in words, costs each stack, or saves.
    pub fn compare(&mut self, level: &str, other: &Self) {
        let cost = |(stack, own): &(String, StackPasses)| {
            let (_, other) = other.stacks.iter().find(|(known, _)| known == stack)?;
            own.cost_of(other, self.kind).map(|cost| format!("{stack}, {level}: {cost}."))
        };
        self.costs.extend(self.stacks.iter().filter_map(cost));
    }

    /// The stacks whose pass was measured, by their ids.
    pub fn stacks(&self) -> impl Iterator<Item = (&str, &StackPasses)> {
        self.stacks.iter().map(|(stack, own)| (stack.as_str(), own))
    }

    /// Of a stack, if its pass was measured.
    pub fn of(&self, stack: &str) -> Option<&StackPasses> {
        self.stacks().find(|(known, _)| *known == stack).map(|(_, own)| own)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.stacks.is_empty()
    }

    /// The hours of a pass of this stack, with their interval over the repeats.
    pub fn hours(&self, stack: &str) -> Option<Uncertain> {
        let time = estimate(&self.of(stack)?.seconds)?;
        let (value, interval) = (time.centre / 3600.0, time.interval);
        let ends = interval.map_or((value, value), |i| (i.low / 3600.0, i.high / 3600.0));
        // Three repeats may leave room for a pass that takes no time.
        let low = ends.0.max(value / 10.0).min(value);
        value.is_finite().then_some(Uncertain { value, low, high: ends.1.max(value) })
    }
}

impl StackPasses {
    fn add(&mut self, kind: PassAction, (step, pass): (&Step, &DrivePass), steps: &[Step]) {
        self.seconds.push(pass.seconds());
        let named = |name: &str| step.drives.iter().position(|drive| drive.drive == name);
        let name = Some(pass.drive.as_str()).filter(|name| !name.is_empty());
        let new = name.map(|name| named(name).unwrap_or(usize::MAX));
        let all = match kind {
            PassAction::Rebuild => Bound::AllDrives,
            PassAction::Scrub => Bound::ReadDrives,
        };
        for window in &pass.windows {
            let bound = Bound::of(window, new, all);
            *self.bounds.entry(bound).or_default() += window.stands_for as f64 / window.rate();
            self.limit = window.limit.or(self.limit);
        }
        let named = |name: &str| steps.iter().find(|step| step.name == name);
        let Some(healthy) = named("healthy") else { return };
        for (at, phase) in [(0, named("degraded")), (MEANWHILE, Some(step))] {
            for figure in phase.into_iter().flat_map(|step| &step.figures) {
                if let Some(p99) = quantile(figure, 0.99).filter(|_| at == MEANWHILE) {
                    self.p99.entry(figure.direction).or_default().push(p99);
                }
                let before = healthy.figures.iter().find(|f| f.direction == figure.direction);
                for (felt, ratio) in before.map(|before| ratios(before, figure)).unwrap_or_default()
                {
                    self.felt.entry((at, felt)).or_default().push(ratio);
                }
            }
        }
    }

    fn sentence(&self, stack: &str, kind: PassAction) -> String {
        let (time, bounds) = (self.time_words(), self.bound_words());
        let (_, after) = kind.words();
        let mut text = format!("{stack}: {after} {time}; bounded by {bounds}.");
        for (when, felt) in self.felt_words() {
            text.push_str(&format!(" Other work, {when}: {felt}."));
        }
        text
    }

    /// How long it takes: for a rebuild, from when a new drive is in.
    pub fn time_words(&self) -> String {
        let time = estimate(&self.seconds);
        time.map_or(String::new(), |time| value(Measure::Elapsed, OperationKind::Io, &time))
    }

    /// How many times as fast `other` passes the same, and for how many times the p99 of other work.
    fn cost_of(&self, other: &Self, kind: PassAction) -> Option<String> {
        let ratio = |own: &[f64], other: &[f64]| Some(median(other)? / median(own)?);
        let faster = 1.0 / ratio(&self.seconds, &other.seconds)?;
        let costs = self.p99.iter().filter_map(|(direction, own)| {
            let cost = ratio(own, other.p99.get(direction)?)?;
            Some(format!("{} {} p99", times(cost), direction.word()))
        });
        let costs: Vec<String> = costs.collect();
        let (done, _) = kind.words();
        (!costs.is_empty())
            .then(|| format!("{done} {} as fast, with {}", times(faster), costs.join(" and ")))
    }

    /// What it cannot go faster than.
    pub fn bound_words(&self) -> String {
        let all: f64 = self.bounds.values().sum();
        let mut bounds: Vec<(f64, Bound)> =
            self.bounds.iter().map(|(bound, seconds)| (seconds / all, *bound)).collect();
        bounds.sort_by(|a, b| b.0.total_cmp(&a.0));
        let bounds: Vec<String> = bounds
            .iter()
            .filter(|(share, _)| *share >= 0.005)
            .map(|(share, bound)| match *share > 0.995 {
                true => bound.words(self.limit),
                false => format!("{:.0} % of the time {}", share * 100.0, bound.words(self.limit)),
            })
            .collect();
        bounds.join(", ")
    }

    /// What other work feels, in each phase that is compared: when, and what.
    pub fn felt_words(&self) -> Vec<(&'static str, String)> {
        let in_phase = |(at, when): (u8, &'static str)| {
            let first = Felt::Rate(Direction::Read);
            let own = self.felt.range((at, first)..(at + 1, first));
            let felt: Vec<String> =
                own.filter_map(|((_, felt), ratios)| Some(felt.words(median(ratios)?))).collect();
            (!felt.is_empty()).then(|| (when, felt.join(", ")))
        };
        (0..).zip(PASS_PHASES).filter_map(in_phase).collect()
    }
}

impl Felt {
    fn words(self, ratio: f64) -> String {
        let (what, direction) = match self {
            Self::Rate(direction) => ("rate", direction),
            Self::Median(direction) => ("p50", direction),
            Self::P99(direction) => ("p99", direction),
        };
        format!("{} {what} {} as healthy", direction.word(), times(ratio))
    }
}

fn quantile(figure: &Figure, q: f64) -> Option<f64> {
    let latency = figure.commit.as_ref().or(figure.latency.as_ref())?;
    (latency.histogram.count() > 0).then(|| latency.histogram.quantile(q) as f64)
}

/// What is felt in `now`, compared with `before`.
fn ratios(before: &Figure, now: &Figure) -> Vec<(Felt, f64)> {
    let direction = now.direction;
    let rate = |f: &Figure| f.bytes_per_second.or(f.operations_per_second);
    let ratio = |of: &dyn Fn(&Figure) -> Option<f64>| {
        Some(of(now)? / of(before)?).filter(|ratio| ratio.is_finite())
    };
    let all = [
        (Felt::Rate(direction), ratio(&rate)),
        (Felt::Median(direction), ratio(&|f| quantile(f, 0.5))),
        (Felt::P99(direction), ratio(&|f| quantile(f, 0.99))),
    ];
    all.into_iter().filter_map(|(felt, ratio)| Some((felt, ratio?))).collect()
}

#[cfg(test)]
mod tests {
    use disklab_sample::{DriveTraffic, Latency, LatencyHistogram};

    use super::*;

    fn window(rate: u64, busy: [f64; 2]) -> PassWindow {
        PassWindow {
            stands_for: 1_000_000_000,
            at: 0,
            bytes: rate,
            elapsed_ns: 1_000_000_000,
            limit: Some(200e6),
            busy: busy.to_vec(),
        }
    }

    fn sample(windows: Vec<PassWindow>, rates: [f64; 2]) -> Sample {
        let figure = |rate| Figure {
            direction: Direction::Write,
            bytes: 1,
            operations: None,
            elapsed_ns: 1,
            bytes_per_second: Some(rate),
            operations_per_second: None,
            latency: None,
            missed: None,
            operation: OperationKind::Io,
            commit: None,
        };
        let step = |name: &str, rate| Step {
            name: name.to_owned(),
            figures: vec![figure(rate)],
            ..Step::default()
        };
        let mut last = step("rebuilding", rates[1]);
        let drive = |name: &str| DriveTraffic { drive: name.to_owned(), ..DriveTraffic::default() };
        last.drives = vec![drive("a"), drive("b")];
        last.rebuild = Some(DrivePass { drive: "b".to_owned(), windows });
        Sample { steps: vec![step("healthy", rates[0]), last], ..Sample::default() }
    }

    #[test]
    fn a_step_without_requests_has_no_latency_to_compare() {
        let mut figure = sample(Vec::new(), [1.0, 1.0]).steps[0].figures[0].clone();
        assert_eq!(quantile(&figure, 0.5), None);
        let mut histogram = LatencyHistogram::new();
        figure.latency = Some(Latency::from_histogram(histogram.clone()));
        assert_eq!(quantile(&figure, 0.5), None);
        histogram.record(1 << 20, 1);
        figure.latency = Some(Latency::from_histogram(histogram));
        assert!(quantile(&figure, 0.5).is_some_and(|ns| ns > 1e6));
    }

    #[test]
    fn each_bound_has_its_words() {
        for (rate, busy, expected) in [
            (240_000_000, [0.9, 0.9], "bounded by the kernel's limit of 200 MB/s"),
            (100_000_000, [0.3, 0.9], "bounded by writing to the new drive"),
            (100_000_000, [0.9, 0.3], "bounded by reading from the other drives"),
            (100_000_000, [0.2, 0.3], "bounded by no drive"),
        ] {
            let mut summary = PassSummary::default();
            summary.add("s", &sample(vec![window(rate, busy)], [100.0, 25.0]));
            summary.add("other work", &Sample::default());
            let sentences = summary.sentences();
            let [sentence] = &sentences[..] else { panic!("{sentences:?}") };
            assert!(sentence.contains(expected), "{sentence}");
            assert!(sentence.starts_with("s: redundant after "), "{sentence}");
            assert!(sentence.contains("meanwhile: write rate 0.25"), "{sentence}");
        }
    }

    #[test]
    fn a_scrub_reads_from_all_drives() {
        let mut sample = sample(vec![window(100_000_000, [0.9, 0.3])], [100.0, 25.0]);
        let last = sample.steps.last_mut().expect("two");
        last.scrub = last.rebuild.take().map(|pass| DrivePass { drive: String::new(), ..pass });
        let [mut scrubs, mut rebuilds] =
            [PassAction::Scrub, PassAction::Rebuild].map(PassSummary::new);
        [&mut scrubs, &mut rebuilds].into_iter().for_each(|own| own.add("s", &sample));
        let expected = "s: scrubbed in 10.0 s (once); bounded by reading from the drives. \
                        Other work, meanwhile: write rate 0.25× as healthy.";
        assert_eq!(scrubs.sentences(), [expected]);
        assert!(rebuilds.is_empty());
    }

    #[test]
    fn a_level_has_its_cost() {
        let summary = |rate, p99_ns| {
            let mut sample = sample(vec![window(rate, [0.9, 0.1])], [1.0, 1.0]);
            let mut histogram = LatencyHistogram::default();
            histogram.record(p99_ns, 1);
            sample.steps[1].figures[0].latency = Some(Latency::from_histogram(histogram));
            let mut summary = PassSummary::default();
            summary.add("s", &sample);
            summary
        };
        let mut slow = summary(50_000_000, 1_000_000);
        slow.compare("sync-speed-max 100M against 50M", &summary(100_000_000, 3_000_000));
        slow.compare("other", &PassSummary::default());
        let sentences = slow.sentences();
        assert_eq!(sentences.len(), 2, "{sentences:?}");
        let expected = "s, sync-speed-max 100M against 50M: rebuilt 2.00× as fast, with ";
        assert!(sentences[1].starts_with(expected), "{sentences:?}");
    }

    #[test]
    fn bounds_share_the_time() {
        let windows = vec![window(100_000_000, [0.9, 0.1]), window(50_000_000, [0.1, 0.9])];
        let mut summary = PassSummary::default();
        summary.add("s", &sample(windows, [1.0, 1.0]));
        let sentence = summary.sentences().remove(0);
        assert!(sentence.contains("after 30.0 s"), "{sentence}");
        assert!(
            sentence.contains("bounded by 67 % of the time writing to the new drive"),
            "{sentence}"
        );
    }

    #[test]
    fn repeats_of_each_stack_are_taken_together() {
        let mut summary = PassSummary::default();
        for (stack, rate) in [("a", 100_000_000), ("b", 50_000_000), ("a", 125_000_000)] {
            summary.add(stack, &sample(vec![window(rate, [0.9, 0.1])], [1.0, 1.0]));
        }
        assert_eq!(summary.stacks().map(|(stack, _)| stack).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(summary.of("b").map(StackPasses::time_words).as_deref(), Some("20.0 s (once)"));
        let hours = |stack| summary.hours(stack).expect("measured");
        assert_eq!(hours("b"), Uncertain::exact(20.0 / 3600.0));
        let Uncertain { value, low, high } = hours("a");
        assert!((8.0..10.0).contains(&(value * 3600.0)), "{value}");
        assert!(value / 10.0 <= low && low < value && value < high, "{low} {value} {high}");
        assert_eq!(summary.hours("c"), None);
    }

    #[test]
    fn other_work_is_compared_with_a_healthy_stack_phase_by_phase() {
        let mut sample = sample(vec![window(100_000_000, [0.9, 0.1])], [100.0, 25.0]);
        let latencies = |[many, few]: [u64; 2]| {
            let mut histogram = LatencyHistogram::new();
            histogram.record(many * 1_000_000, 90);
            histogram.record(few * 1_000_000, 10);
            Some(Latency::from_histogram(histogram))
        };
        let mut degraded = sample.steps[0].clone();
        degraded.name = "degraded".to_owned();
        degraded.figures[0].bytes_per_second = Some(50.0);
        sample.steps.insert(1, degraded);
        for (step, latency) in sample.steps.iter_mut().zip([[1, 4], [2, 4], [3, 40]]) {
            step.figures[0].latency = latencies(latency);
        }
        let mut summary = PassSummary::default();
        summary.add("s", &sample);
        let felt = summary.of("s").expect("measured").felt_words();
        let [(without, degraded), (meanwhile, rebuilding)] = &felt[..] else { panic!("{felt:?}") };
        assert_eq!([*without, *meanwhile], PASS_PHASES);
        let words = |rate, p50, p99| {
            format!(
                "write rate {rate}× as healthy, write p50 {p50}× as healthy, write p99 {p99}× as healthy"
            )
        };
        assert_eq!(*degraded, words("0.50", "2.00", "1.00"));
        assert_eq!(*rebuilding, words("0.25", "3.00", "10"));
    }
}
