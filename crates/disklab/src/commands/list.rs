//! `disklab list`: what disklab knows.

mod models;

use disklab_audits::{AUDITS, Severity};
use disklab_bench::AXES;
use disklab_bench::safety::stable_names;
use disklab_drive::{FAULT_CLAUSES, FAULTS};
use disklab_measure::{BlockDevice, NamedDevice, SystemRoot, drive_state};
use disklab_processor::{CostUnit, SHIPPED as SHIPPED_PROCESSORS, by_name};
use disklab_runner::{SHIPPED_STUDIES, find_study};
use disklab_stack::LAYERS;
use disklab_study::{SHIPPED_WORKLOADS, read_shipped};
use disklab_units::{Bytes, BytesPerSecond, show_nanoseconds};
use disklab_workload::{EVENTS, WORKLOADS};
use serde_json::{Value, json};

use crate::cli::Listed;
use crate::exit::{DONE, Failure};
use crate::printing::{print, print_json};

/// Lists one kind of thing.
pub fn list(what: Listed, as_json: bool) -> Result<u8, Failure> {
    let rows = match what {
        Listed::Studies => studies()?,
        Listed::Stacks => LAYERS
            .iter()
            .map(|kind| {
                let inputs = kind.inputs.iter();
                let inputs = inputs.map(|input| (format!("input {}", input.name), input.words()));
                let details = options(kind.options).into_iter().chain(inputs).collect();
                Row::new(kind.name, kind.summary, details)
            })
            .collect(),
        Listed::Workloads => WORKLOADS
            .iter()
            .map(|kind| Row::new(kind.name, kind.summary, options(kind.fields)))
            .chain(shipped_workloads()?)
            .chain([events()])
            .collect(),
        Listed::Faults => faults(),
        Listed::Processors => processors(),
        Listed::Audits => audits(),
        Listed::Drives => drives(),
        Listed::Axes => {
            AXES.iter().map(|axis| Row::new(axis.name, axis.levels, Vec::new())).collect()
        }
    };
    let models = if matches!(what, Listed::Drives) { models::models() } else { Vec::new() };
    if as_json {
        let all = models.iter().map(models::Model::json).chain(rows.iter().map(Row::json));
        print_json(&all.collect::<Vec<_>>())?;
        return Ok(DONE);
    }
    let width = rows.iter().map(|r| r.name.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    if !models.is_empty() {
        text = models::plain(&models);
        text.push_str("\nThis machine's drives\n");
    }
    for row in &rows {
        text.push_str(&format!("{:width$}  {}\n", row.name, row.summary));
        for (name, meaning) in &row.details {
            text.push_str(&format!("{:width$}    {name}: {meaning}\n", ""));
        }
    }
    if rows.is_empty() {
        text.push_str("none\n");
    }
    print(&text)?;
    Ok(DONE)
}

/// What a workload of any kind can have happen besides.
fn events() -> Row {
    let kinds: Vec<_> = EVENTS.iter().map(|kind| (kind.name, kind.summary)).collect();
    let summary = "what happens besides the work, before a step or at a time of it (`do`)";
    Row::new("events", summary, options(&kinds))
}

/// What can go wrong with a drive of the lab, and what any kind takes.
fn faults() -> Vec<Row> {
    let rows = FAULTS.iter().map(|kind| Row::new(kind.name, kind.summary, options(kind.clauses)));
    let summary = "each takes, in 'drive N: KIND CLAUSES', such as 'drive 2: dies at 30 s'";
    rows.chain([Row::new("any", summary, options(&FAULT_CLAUSES))]).collect()
}

fn audits() -> Vec<Row> {
    let row = |audit: &disklab_audits::Audit| {
        let severity = match audit.severity {
            Severity::Severe => "severe",
            Severity::Warning => "warning",
            Severity::Note => "note",
        };
        let details = [
            ("at most", severity.to_owned()),
            ("evidence", audit.evidence.to_owned()),
            ("what to do", audit.remedy.to_owned()),
            ("reproducer", audit.reproducer.words()),
        ];
        let details = details.map(|(name, text)| (name.to_owned(), text)).to_vec();
        Row::new(audit.name, audit.detects, details)
    };
    AUDITS.iter().map(row).collect()
}

struct Row {
    name: String,
    summary: String,
    details: Vec<(String, String)>,
}

impl Row {
    fn new(name: &str, summary: &str, details: Vec<(String, String)>) -> Self {
        Self { name: name.to_owned(), summary: summary.to_owned(), details }
    }

    fn json(&self) -> Value {
        let details: serde_json::Map<String, Value> =
            self.details.iter().map(|(k, v)| (k.clone(), json!(v))).collect();
        json!({ "name": self.name, "summary": self.summary, "details": details })
    }
}

fn options(table: &[(&str, &str)]) -> Vec<(String, String)> {
    table.iter().map(|(name, meaning)| ((*name).to_owned(), (*meaning).to_owned())).collect()
}

fn studies() -> Result<Vec<Row>, Failure> {
    SHIPPED_STUDIES
        .iter()
        .map(|(id, _)| {
            let study = find_study(id)?.study;
            let size = format!(
                "{} stacks × {} workloads × {} repeats",
                study.stacks.len(),
                study.workloads.len(),
                study.repeats
            );
            Ok(Row::new(id, &study.title, vec![("size".to_owned(), size)]))
        })
        .collect()
}

/// The workloads that come with disklab, for `use = "NAME"` in a study.
fn shipped_workloads() -> Result<Vec<Row>, Failure> {
    SHIPPED_WORKLOADS
        .iter()
        .map(|(name, text)| {
            let workload = read_shipped(name, text).map_err(Failure::usage_error)?;
            let first = workload.about.split("\n\n").next().unwrap_or_default();
            let about = first.split_whitespace().collect::<Vec<_>>().join(" ");
            let summary = format!("shipped ({}): {}", workload.kind, workload.title);
            Ok(Row::new(name, &summary, vec![("about".to_owned(), about)]))
        })
        .collect()
}

/// The processors whose work the lab can charge for.
fn processors() -> Vec<Row> {
    SHIPPED_PROCESSORS
        .iter()
        .filter_map(|(id, _)| by_name(id))
        .map(|processor| {
            let mut details = Vec::new();
            if !processor.note.is_empty() {
                let note: Vec<&str> = processor.note.split_whitespace().collect();
                details.push(("note".to_owned(), note.join(" ")));
            }
            let charged = processor.costs.iter().filter(|(_, ns)| *ns > 0);
            details.extend(charged.map(|(cost, ns)| (cost.word.to_owned(), price(cost.unit, *ns))));
            Row::new(&processor.id, &processor.about(), details)
        })
        .collect()
}

/// What a piece of work, or a KiB of it, costs, in words.
fn price(unit: CostUnit, ns: u64) -> String {
    match unit {
        CostUnit::Each => format!("{} each", show_nanoseconds(ns as f64)),
        CostUnit::Rate => BytesPerSecond(1024.0 * 1e9 / ns as f64).si(),
    }
}

/// The block devices of this machine.
fn drives() -> Vec<Row> {
    let root = SystemRoot::here();
    BlockDevice::all(&root)
        .iter()
        .filter(|device| !device.is_partition() && device.size_bytes() > 0)
        .map(|device| {
            let state = drive_state(
                &root,
                &NamedDevice { name: device.name().to_owned(), device: device.node() },
            );
            let mut details = Vec::new();
            let mut add = |name: &str, value: Option<String>| {
                if let Some(value) = value {
                    details.push((name.to_owned(), value));
                }
            };
            add("by id", name_by_id(&root, device));
            add("serial", state.serial);
            add("firmware", state.firmware);
            add("scheduler", state.scheduler);
            add("write cache", state.write_cache);
            add("backing file", state.backing_file);
            let kind = match state.rotational {
                Some(true) => "rotating",
                Some(false) => "not rotating",
                None => "unknown kind",
            };
            let size = Bytes(state.size_bytes);
            let model = state.model.unwrap_or_else(|| "no model".to_owned());
            let summary = format!("{model}, {} ({}), {kind}", size.si(), size.iec());
            Row::new(&state.device, &summary, details)
        })
        .collect()
}

/// The name by which `--on disks:` takes a drive.
fn name_by_id(root: &SystemRoot, device: &BlockDevice) -> Option<String> {
    if !device.is_physical() {
        return None;
    }
    let names = stable_names(root, device);
    let name = names.first().map(|name| name.display().to_string());
    Some(name.unwrap_or_else(|| {
        "no name in /dev/disk/by-id leads to it, so --on disks: cannot take it".to_owned()
    }))
}
