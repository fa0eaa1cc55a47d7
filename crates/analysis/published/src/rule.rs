//! Which measured figure belongs to a published row.

use disklab_config::{Fields, Node};
use disklab_source::SourceError;
use disklab_study::matches;
use serde::Serialize;

use crate::NoFigure;

/// What of a figure is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MeasuredStep {
    /// Bytes per second.
    Throughput,
    /// Operations per second.
    Iops,
    /// Seconds.
    Elapsed,
    /// Operations, counted.
    Operations,
    /// Mean latency of an operation, in nanoseconds.
    MeanLatency,
    /// The largest latency, in nanoseconds.
    WorstLatency,
    /// The share of the cells that ended without an error, from 0 to 1.
    Completes,
}

impl MeasuredStep {
    /// Its words in the file.
    pub const WORDS: [(&'static str, Self); 7] = [
        ("throughput", Self::Throughput),
        ("iops", Self::Iops),
        ("elapsed", Self::Elapsed),
        ("operations", Self::Operations),
        ("mean-latency", Self::MeanLatency),
        ("worst-latency", Self::WorstLatency),
        ("completes", Self::Completes),
    ];

    /// How many of its own unit one of the published unit is; none where the unit
    /// does not belong to it.
    pub fn unit_size(self, unit: &str) -> Option<f64> {
        match (self, unit) {
            (Self::Throughput, "kB/s") => Some(1e3),
            (Self::Throughput, "MB/s") => Some(1e6),
            (Self::Throughput, "KiB/s") => Some(1024.0),
            (Self::Throughput, "MiB/s") => Some(1_048_576.0),
            (Self::Iops, "IOPS") | (Self::Elapsed, "s") | (Self::Operations, "ops") => Some(1.0),
            (Self::MeanLatency, "ms" | "ms/op") | (Self::WorstLatency, "ms") => Some(1e6),
            _ => None,
        }
    }
}

/// A rule of the mapping. Patterns are those of [`matches()`].
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// The study's id.
    pub study: String,
    /// What the author ran: a pattern over [`Row::workload`](crate::Row::workload).
    pub workload: String,
    /// A pattern over the row's metric.
    pub metric: String,
    /// A pattern over the row's subject, or its baseline.
    pub subject: String,
    /// The measured figure, or why there is none.
    pub target: Result<MeasuredTarget, NoFigure>,
}

/// A measured figure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MeasuredTarget {
    /// The stack's id in the study; the row's own where absent.
    pub stack: Option<String>,
    /// A pattern over workload ids.
    pub workload: String,
    /// A pattern over its steps.
    pub step: String,
    /// A pattern over the step's directions, such as `read`.
    pub direction: String,
    /// What of it is compared.
    pub measure: MeasuredStep,
    /// The unit of the published value, where it is another than the row says.
    pub unit: Option<String>,
    /// The bytes that the author's work moved, for elapsed times.
    pub work_bytes: Option<u64>,
}

impl Rule {
    /// Whether the rule holds for what a row says of one of its stacks.
    pub(crate) fn holds(&self, study: &str, stack: &str, workload: &str, metric: &str) -> bool {
        self.study == study
            && matches(&self.workload, workload)
            && matches(&self.metric, metric)
            && matches(&self.subject, stack)
    }
}

/// Reads all rules.
///
/// # Errors
/// [`SourceError`] at the first rule with a field that is unknown, missing or invalid.
pub(crate) fn rules(root: &Node) -> Result<Vec<Rule>, SourceError> {
    let mut fields = Fields::new(root, "the mapping")?;
    let rules = fields.require("rule")?.items().iter().map(rule).collect::<Result<_, _>>()?;
    fields.finish()?;
    Ok(rules)
}

fn rule(node: &Node) -> Result<Rule, SourceError> {
    let mut fields = Fields::new(node, "a rule")?;
    let any = || "*".to_owned();
    let study = fields.require_text("study")?;
    let workload = fields.text("workload")?.unwrap_or_else(any);
    let metric = fields.text("metric")?.unwrap_or_else(any);
    let subject = fields.text("subject")?.unwrap_or_else(any);
    let target = match fields.text("why-not")? {
        Some(why) => Err(NoFigure::Rule(why)),
        None => Ok(target(&mut fields)?),
    };
    fields.finish()?;
    Ok(Rule { study, workload, metric, subject, target })
}

fn target(fields: &mut Fields<'_>) -> Result<MeasuredTarget, SourceError> {
    let figure = fields.require("figure")?;
    let text = figure.as_text()?;
    let parts: Vec<&str> = text.split(':').collect();
    let [workload, step, direction] = parts.as_slice() else {
        return Err(figure.error(format!("expected workload:step:direction, found '{text}'")));
    };
    let measure = fields.require("measure")?;
    let word = measure.as_text()?;
    let Some((_, of)) = MeasuredStep::WORDS.iter().find(|(known, _)| *known == word) else {
        let known = MeasuredStep::WORDS.iter().map(|(word, _)| *word);
        let known = disklab_source::one_of(known);
        return Err(measure.error(format!("`measure`: expected {known}, found '{word}'")));
    };
    let unit = fields.take("unit");
    if let Some(unit) = unit
        && of.unit_size(&unit.as_text()?).is_none()
    {
        return Err(unit.error(format!("not a unit of {word}")));
    }
    Ok(MeasuredTarget {
        stack: fields.text("stack")?,
        workload: (*workload).to_owned(),
        step: (*step).to_owned(),
        direction: (*direction).to_owned(),
        measure: *of,
        unit: unit.map(Node::as_text).transpose()?,
        work_bytes: fields.bytes("work")?.map(|b| b.0),
    })
}
