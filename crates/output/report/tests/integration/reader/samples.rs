//! What a run measured, from the JSON of its report.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Medium;

/// One figure of one stack: by measure, what each block gave.
pub struct Measured {
    pub stack: String,
    pub workload: String,
    pub step: String,
    direction: String,
    /// Of `throughput`, `operations`, `elapsed`, `p50`, `p99`, `p999`.
    by_measure: BTreeMap<&'static str, BTreeMap<u64, f64>>,
    /// As the JSON has them.
    pub observations: Vec<Value>,
}

impl Measured {
    /// Its names: 'dd-4k', 'copy:cp'.
    fn names(&self) -> [String; 2] {
        [self.workload.clone(), format!("{}:{}", self.workload, self.step)]
    }

    /// Whether it has this name.
    pub fn is_of(&self, work: &str) -> bool {
        self.names().iter().any(|name| name == work)
    }

    /// Whether a text ends with its name: 'dd-4k', 'copy:cp', 'mix (read)'.
    pub fn ends(&self, text: &str) -> bool {
        let direction = format!(" ({})", self.direction);
        let text = text.strip_suffix(&direction).unwrap_or(text);
        let last = text.rsplit([' ', '(']).next();
        self.names().iter().any(|name| Some(name.as_str()) == last)
    }

    /// Whether a text begins with its name and its stack: 'dd-4k with raid1/ext4'.
    pub fn is_named(&self, text: &str) -> bool {
        let direction = format!(" ({})", self.direction);
        self.names().iter().any(|name| {
            let rest = text.strip_prefix(name).unwrap_or_default();
            let rest = rest.strip_prefix(&direction).unwrap_or(rest).strip_prefix(" with ");
            let rest = rest.and_then(|rest| rest.strip_prefix(&self.stack));
            rest.is_some_and(|rest| rest == "." || rest.starts_with(" in block "))
        })
    }

    /// The values of each measure, by block.
    pub fn all_values(&self) -> impl Iterator<Item = &BTreeMap<u64, f64>> {
        self.by_measure.values()
    }
}

/// A figure as it is printed: '380 MB/s'.
#[derive(Debug, Clone, PartialEq)]
pub struct Printed {
    pub value: f64,
    /// Half of its last digit.
    pub rounding: f64,
    /// Which measures have this unit.
    pub measures: &'static [&'static str],
}

const LATENCIES: &[&str] = &["p50", "p99", "p999", "elapsed"];
const UNITS: [(&str, f64, &[&str]); 17] = [
    ("B/s", 1.0, &["throughput"]),
    ("kB/s", 1e3, &["throughput"]),
    ("MB/s", 1e6, &["throughput"]),
    ("GB/s", 1e9, &["throughput"]),
    ("IOPS", 1.0, &["operations"]),
    ("commits/s", 1.0, &["operations"]),
    ("files/s", 1.0, &["operations"]),
    ("operations/s", 1.0, &["operations"]),
    ("ns", 1e-9, LATENCIES),
    ("µs", 1e-6, LATENCIES),
    ("ms", 1e-3, LATENCIES),
    ("s", 1.0, LATENCIES),
    ("min", 60.0, LATENCIES),
    ("h", 3600.0, LATENCIES),
    ("transactions/s", 1.0, &["operations"]),
    ("look-ups/s", 1.0, &["operations"]),
    ("entries/s", 1.0, &["operations"]),
];

/// A number and its last digit's half: '3.88' is 3.88 ± 0.005.
pub fn number(text: &str) -> Option<(f64, f64)> {
    let decimals = text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    Some((text.parse().ok()?, 0.5 * 10_f64.powi(-(decimals as i32))))
}

impl Printed {
    pub fn of(text: &str) -> Option<Self> {
        let (digits, unit) = text.trim().split_once(' ')?;
        let (value, rounding) = number(digits)?;
        let (_, size, measures) = UNITS.iter().find(|(name, ..)| *name == unit)?;
        Some(Self { value: value * size, rounding: rounding * size, measures })
    }

    fn is(&self, value: f64) -> bool {
        (self.value - value).abs() <= self.rounding * 1.01
    }
}

/// What a run measured.
pub struct Samples {
    json: Value,
    pub measured: Vec<Measured>,
}

impl Samples {
    pub fn of(json: &str) -> Self {
        let json: Value = serde_json::from_str(json).expect("the report's JSON");
        let measured = json["groups"].as_array().expect("groups").iter().map(measured).collect();
        Self { json, measured }
    }

    /// The stack that people call so.
    pub fn stack(&self, label: &str) -> Option<String> {
        let label = label.replace("One drive", "single");
        let wanted = [plain(&label), plain(&label.replace("JBOD", "linear"))];
        self.stacks().map(str::to_owned).find(|id| wanted.contains(&plain(id)))
    }

    /// The ids of all stacks.
    pub fn stacks(&self) -> impl Iterator<Item = &str> {
        let stacks = self.json["run"]["stacks"].as_array().expect("stacks");
        stacks.iter().filter_map(|s| s["id"].as_str())
    }

    /// What was found, as the JSON says it.
    pub fn findings(&self) -> impl Iterator<Item = &str> {
        let all = self.json["findings"].as_array().expect("findings");
        all.iter().filter_map(|finding| finding["text"].as_str())
    }

    /// How many cells are in this state.
    pub fn cells(&self, state: &str) -> usize {
        let all = self.json["cells"].as_array().expect("cells");
        all.iter().filter(|cell| cell["state"] == state).count()
    }

    /// A number that the plan has of a stack: `capacity`, `tolerates`.
    pub fn planned(&self, id: &str, what: &str) -> Option<f64> {
        let stacks = self.json["run"]["stacks"].as_array()?;
        stacks.iter().find(|s| s["id"] == id)?[what].as_f64()
    }

    /// The stack's figures that are printed so: each with the measure that it is of.
    pub fn printed(&self, stack: &str, text: &str) -> Vec<(&Measured, &'static str)> {
        let Some(printed) = Printed::of(text) else { return Vec::new() };
        let of_stack = self.measured.iter().filter(|m| m.stack == stack);
        of_stack
            .flat_map(|m| printed.measures.iter().map(move |measure| (m, *measure)))
            .filter(|(m, measure)| {
                m.by_measure.get(measure).is_some_and(|v| centres(v).iter().any(|c| printed.is(*c)))
            })
            .collect()
    }

    /// Each choice of so many of the stack's figures that has this geometric mean.
    pub fn averaged(
        &self,
        stack: &str,
        text: &str,
        count: u32,
    ) -> Vec<Vec<(&Measured, &'static str)>> {
        let Some(printed) = Printed::of(text) else { return Vec::new() };
        let mut choices = Vec::new();
        for measure in printed.measures {
            let mut all: Vec<(&Measured, f64)> = Vec::new();
            for m in self.measured.iter().filter(|m| m.stack == stack) {
                let values = m.by_measure.get(measure).into_iter().flat_map(|v| v.values());
                let values: Vec<f64> = values.copied().collect();
                all.extend(mean(&values).map(|mean| (m, mean.ln())));
            }
            for chosen in 1_u32..1 << all.len().min(16) {
                let is_chosen = |n: usize| chosen >> n & 1 == 1;
                let some = all.iter().enumerate().filter(|(n, _)| is_chosen(*n));
                let sum: f64 = some.clone().map(|(_, (_, logarithm))| logarithm).sum();
                let is_mean = printed.is((sum / f64::from(count)).exp());
                if chosen.count_ones() == count && is_mean {
                    choices.push(some.map(|(_, (m, _))| (*m, *measure)).collect());
                }
            }
        }
        choices
    }

    /// How many times as good `other` is as `own` in a figure, block by block.
    pub fn ratios(&self, own: &Measured, measure: &str, other: &str) -> Vec<f64> {
        let same = |m: &&Measured| {
            m.stack == other
                && (&m.workload, &m.step, &m.direction)
                    == (&own.workload, &own.step, &own.direction)
        };
        let Some(other) = self.measured.iter().find(same) else { return Vec::new() };
        let (Some(a), Some(b)) = (own.by_measure.get(measure), other.by_measure.get(measure))
        else {
            return Vec::new();
        };
        let more_is_better = matches!(measure, "throughput" | "operations");
        let ratio = |(block, a): (&u64, &f64)| {
            let b = b.get(block)?;
            Some(if more_is_better { b / a } else { a / b })
        };
        a.iter().filter_map(ratio).collect()
    }

    /// The stacks that survive as many failed drives as this one.
    pub fn class(&self, id: &str) -> Vec<String> {
        let tolerates = self.planned(id, "tolerates");
        let ids = self.stacks().map(str::to_owned);
        ids.filter(|other| other != id && self.planned(other, "tolerates") == tolerates).collect()
    }

    /// Where the JSON names another stack or figure than page, post or terminal.
    pub fn disagreements(
        &self,
        said: &BTreeMap<(String, String), (Medium, String, Vec<String>)>,
    ) -> Vec<String> {
        let mut wrong = Vec::new();
        let all = self.json["recommendations"].as_array().expect("recommendations");
        for decision in all.iter().flat_map(|r| r["classes"].as_array().expect("classes")) {
            let figures = decision["figures"].as_array().expect("figures");
            let values: Vec<&str> = figures.iter().filter_map(|f| f["value"].as_str()).collect();
            let take = decision["take"].as_str().expect("a stack");
            let is_said = |(_, label, own): &&(Medium, String, Vec<String>)| {
                self.stack(label).as_deref() == Some(take) && *own == values
            };
            if !said.is_empty() && !said.values().any(|one| is_said(&one)) {
                wrong.push(format!("the JSON takes {take} for {values:?}, and nothing else does"));
            }
        }
        wrong
    }
}

fn measured(group: &Value) -> Measured {
    let text = |key: &str| group[key].as_str().unwrap_or_default().to_owned();
    let mut by_measure: BTreeMap<&'static str, BTreeMap<u64, f64>> = BTreeMap::new();
    for one in group["observations"].as_array().expect("observations") {
        let block = one["block"].as_u64().expect("a block");
        for (measure, key, size) in [
            ("throughput", "throughput_bytes_per_second", 1.0),
            ("operations", "operations_per_second", 1.0),
            ("elapsed", "elapsed_seconds", 1.0),
            ("p50", "p50_ns", 1e-9),
            ("p99", "p99_ns", 1e-9),
            ("p999", "p999_ns", 1e-9),
        ] {
            if let Some(value) = one[key].as_f64().filter(|value| *value > 0.0) {
                by_measure.entry(measure).or_default().insert(block, value * size);
            }
        }
    }
    let (stack, workload, step) = (text("stack"), text("workload"), text("step"));
    let observations = group["observations"].as_array().expect("observations").clone();
    Measured { stack, workload, step, direction: text("direction"), by_measure, observations }
}

/// Letters and digits alone.
fn plain(text: &str) -> String {
    text.to_lowercase().chars().filter(|c| c.is_alphanumeric()).collect()
}

/// What may stand for repeats: their median, and their geometric and arithmetic means.
fn centres(values: &BTreeMap<u64, f64>) -> [f64; 3] {
    let mut all: Vec<f64> = values.values().copied().collect();
    all.sort_by(f64::total_cmp);
    let n = all.len();
    let median = (all[(n - 1) / 2] + all[n / 2]) / 2.0;
    let geometric = (all.iter().map(|v| v.ln()).sum::<f64>() / n as f64).exp();
    [median, geometric, all.iter().sum::<f64>() / n as f64]
}

/// The geometric mean; none of none.
pub fn mean(ratios: &[f64]) -> Option<f64> {
    let sum: f64 = ratios.iter().map(|r| r.ln()).sum();
    (!ratios.is_empty()).then(|| (sum / ratios.len() as f64).exp())
}
