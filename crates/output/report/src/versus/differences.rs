//! What else differs between two runs: what was changed on purpose, and what was not.

use std::collections::{BTreeMap, BTreeSet};

use disklab_cell::{Caches, PlannedLayer};
use disklab_decision::Versus;
use disklab_sample::DriveState;
use disklab_units::Bytes;
use serde::Serialize;

use crate::Report;

/// Something that was otherwise in the other run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FigureDifference {
    /// What, such as `kernel`.
    pub what: String,
    /// In A.
    pub a: String,
    /// What the second run has in its place.
    pub b: String,
    /// Whether the two did not do the same work: figures cannot be compared then, unless
    /// that is what one wants to compare.
    pub other_work: bool,
}

/// What a run says where it says nothing.
const UNKNOWN: &str = "not recorded";
/// Drives or stacks with the same difference that are named.
const NAMED: usize = 4;

/// What is the same thing in a run as a whole: (name, whether it is the work, value).
type Fact = (&'static str, bool, fn(&Report) -> String);

const FACTS: [Fact; 15] = [
    ("form of the study", true, |r| (if r.info.is_quick() { "quick" } else { "whole" }).to_owned()),
    ("scale of sizes", true, |r| r.info.scale.to_string()),
    ("seed", false, |r| r.info.seed.to_string()),
    ("repeats", false, |r| r.info.repeats.to_string()),
    ("bench", false, |r| r.info.bench.to_string()),
    ("the bench's own words", false, |r| r.info.bench_about.clone()),
    ("level of the axes", false, |r| crate::axes::levels(r).unwrap_or_default()),
    ("disklab", false, |r| r.info.disklab.clone()),
    ("kernel", false, |r| kernels(r)),
    ("lab kernel", false, |r| {
        let kernel = r.info.environment.lab_kernel.as_ref();
        kernel.map(ToString::to_string).unwrap_or_default()
    }),
    ("distribution", false, |r| r.info.environment.distribution.clone().unwrap_or_default()),
    ("processor", false, |r| r.info.environment.processor.clone().unwrap_or_default()),
    ("processors", false, |r| number(u64::from(r.info.environment.processors))),
    ("memory", false, |r| match r.info.environment.memory_bytes {
        0 => String::new(),
        bytes => Bytes(bytes).iec(),
    }),
    ("virtual machine", false, |r| {
        r.info.environment.virtual_machine.clone().unwrap_or_else(|| {
            // A machine that is known and has no hypervisor is no virtual one.
            if r.info.environment.processors > 0 { "no".to_owned() } else { String::new() }
        })
    }),
];

/// What is reported of a drive's state.
type DriveFact = (&'static str, fn(&DriveState) -> Option<String>);

const DRIVE_FACTS: [DriveFact; 8] = [
    ("model", |d| d.model.clone()),
    ("size", |d| (d.size_bytes > 0).then(|| Bytes(d.size_bytes).si())),
    ("serial number", |d| d.serial.clone()),
    ("firmware", |d| d.firmware.clone()),
    ("write cache", |d| d.write_cache.clone()),
    ("scheduler", |d| d.scheduler.clone()),
    ("link", |d| d.link_speed.clone()),
    ("sectors", |d| d.sectors.map(|(logical, physical)| format!("{logical}/{physical}"))),
];

/// All differences: of the work first.
pub(super) fn differences(a: &Report, b: &Report, versus: &Versus) -> Vec<FigureDifference> {
    let mut all = Vec::new();
    for (what, other_work, of) in FACTS {
        add(&mut all, what, (of(a), of(b)), other_work);
    }
    options(&mut all, a, b);
    definitions(&mut all, a, b, versus);
    tools(&mut all, a, b);
    drives(&mut all, a, b);
    mounts(&mut all, a, b, versus);
    all.sort_by_key(|difference| !difference.other_work);
    all
}

fn add(all: &mut Vec<FigureDifference>, what: &str, (a, b): (String, String), other_work: bool) {
    if a == b {
        return;
    }
    let shown = |text: String| if text.is_empty() { UNKNOWN.to_owned() } else { text };
    all.push(FigureDifference { what: what.to_owned(), a: shown(a), b: shown(b), other_work });
}

fn number(n: u64) -> String {
    if n == 0 { String::new() } else { n.to_string() }
}

fn kernels(report: &Report) -> String {
    if report.facts.kernels.is_empty() {
        return report.info.environment.kernel.clone();
    }
    report.facts.kernels.join("; ")
}

/// The bench's settings.
fn options(all: &mut Vec<FigureDifference>, a: &Report, b: &Report) {
    let options = [a, b].map(|report| BTreeMap::from_iter(report.info.options.listed()));
    let [measured, theirs] = &options;
    let names: BTreeSet<&String> = measured.keys().chain(theirs.keys()).collect();
    // A kernel is known by its digest, wherever it lies.
    for name in names.into_iter().filter(|name| *name != "kernel") {
        let of = |all: &BTreeMap<String, String>| {
            all.get(name).cloned().unwrap_or_else(|| "not set".to_owned())
        };
        add(all, &format!("--{name}"), (of(measured), of(theirs)), false);
    }
}

/// When caches are emptied, where it is not the usual.
fn caches(caches: Caches) -> &'static str {
    match caches {
        Caches::Cold => "",
        Caches::Drop => ", caches = drop",
        Caches::Keep => ", caches = keep",
    }
}

/// Stacks, workloads and drives whose definition in the study is another.
fn definitions(all: &mut Vec<FigureDifference>, a: &Report, b: &Report, versus: &Versus) {
    let mut works: Vec<&str> = Vec::new();
    let mut stacks: Vec<&str> = Vec::new();
    for pair in &versus.pairs {
        let old = &a.analysis.groups[pair.group_a].key;
        let new = &b.analysis.groups[pair.group_b].key;
        if !works.contains(&new.levels.workload.as_str()) {
            works.push(&new.levels.workload);
            let of = |report: &Report, id: &str| {
                let spec = report.study.workloads.iter().find(|w| w.id == id);
                spec.map_or_else(String::new, |w| {
                    let events =
                        w.events.as_ref().map(|events| format!(", events = {}", events.words()));
                    let events = events.unwrap_or_default();
                    format!("{}: {}{}{events}", w.kind, w.body.words(), caches(w.caches))
                })
            };
            let both = (of(a, &old.levels.workload), of(b, &new.levels.workload));
            add(all, &format!("workload {}", new.levels.workload), both, true);
        }
        if !stacks.contains(&new.levels.stack.as_str()) {
            stacks.push(&new.levels.stack);
            let of = |report: &Report, id: &str| {
                let stack = report.info.stacks.iter().find(|s| s.id == id);
                stack.map_or_else(String::new, |s| {
                    let layers = PlannedLayer::notation(&s.layers);
                    format!("{layers} on {}", s.drive_words())
                })
            };
            let both = (of(a, &old.levels.stack), of(b, &new.levels.stack));
            add(all, &format!("stack {}", new.levels.stack), both, false);
        }
    }
    let models = |report: &Report| {
        let mut models: Vec<String> = Vec::new();
        for drive in &report.study.drives {
            let set: Vec<String> = drive.set.iter().map(|s| s.words()).collect();
            let with =
                if set.is_empty() { String::new() } else { format!(" ({})", set.join(", ")) };
            let text = format!("{} of {}{with}", drive.model, drive.size.si());
            if !models.contains(&text) {
                models.push(text);
            }
        }
        models.join("; ")
    };
    add(all, "the study's drives", (models(a), models(b)), false);
}

fn tools(all: &mut Vec<FigureDifference>, a: &Report, b: &Report) {
    let (of_a, of_b) = (&a.facts.tools, &b.facts.tools);
    if of_a.is_empty() != of_b.is_empty() {
        let some = |of: &[_]| if of.is_empty() { String::new() } else { "recorded".to_owned() };
        add(all, "versions of programs", (some(of_a), some(of_b)), false);
        return;
    }
    let names: BTreeSet<&String> = of_a.iter().chain(of_b).map(|t| &t.name).collect();
    for name in names {
        let version = |of: &[disklab_sample::Tool]| {
            let versions: Vec<&str> =
                of.iter().filter(|t| t.name == *name).map(|t| t.version.as_str()).collect();
            if versions.is_empty() { "not used".to_owned() } else { versions.join("; ") }
        };
        add(all, name, (version(of_a), version(of_b)), false);
    }
}

/// The drives, by their names; those with the same difference together.
fn drives(all: &mut Vec<FigureDifference>, a: &Report, b: &Report) {
    let (of_a, of_b) = (&a.facts.drives, &b.facts.drives);
    if of_a.is_empty() || of_b.is_empty() {
        let some = |of: &[DriveState]| {
            if of.is_empty() { String::new() } else { "recorded".to_owned() }
        };
        add(all, "drives", (some(of_a), some(of_b)), false);
        return;
    }
    let names: BTreeSet<&str> = of_a.iter().chain(of_b).map(|d| d.drive.as_str()).collect();
    for (what, of) in DRIVE_FACTS {
        // (A's and B's, drives).
        let mut kinds: Vec<((String, String), Vec<&str>)> = Vec::new();
        for name in &names {
            let state = |drives: &[DriveState]| {
                let own = drives.iter().filter(|d| d.drive == *name);
                let states: BTreeSet<String> = own.filter_map(of).collect();
                states.into_iter().collect::<Vec<_>>().join(" and ")
            };
            let both = (state(of_a), state(of_b));
            if both.0 == both.1 {
                continue;
            }
            match kinds.iter_mut().find(|(known, _)| *known == both) {
                Some((_, drives)) => drives.push(name),
                None => kinds.push((both, vec![name])),
            }
        }
        for (both, drives) in kinds {
            add(all, &format!("{what} of {}", some(&drives)), both, false);
        }
    }
}

/// Mounts of the stacks that are compared, without the devices.
fn mounts(all: &mut Vec<FigureDifference>, a: &Report, b: &Report, versus: &Versus) {
    let of = |report: &Report, stack: &str| {
        let mounts = report.facts.mounts.iter().find(|m| m.stack == stack);
        let lines: BTreeSet<String> = mounts
            .iter()
            .flat_map(|m| &m.mounts)
            .map(|mount| format!("{} {}", mount.kind, mount.options.join(",")))
            .collect();
        lines.into_iter().collect::<Vec<_>>().join("; ")
    };
    let mut kinds: Vec<((String, String), Vec<&str>)> = Vec::new();
    for pair in &versus.pairs {
        let old = &a.analysis.groups[pair.group_a].key.levels.stack;
        let both = (of(a, old), of(b, &pair.stack));
        if both.0 == both.1 || both.0.is_empty() || both.1.is_empty() {
            continue;
        }
        match kinds.iter_mut().find(|(known, _)| *known == both) {
            Some((_, stacks)) if !stacks.contains(&pair.stack.as_str()) => stacks.push(&pair.stack),
            Some(_) => {}
            None => kinds.push((both, vec![&pair.stack])),
        }
    }
    for (both, stacks) in kinds {
        add(all, &format!("mount of {}", some(&stacks)), both, false);
    }
}

fn some(names: &[&str]) -> String {
    if names.len() > NAMED + 1 {
        return format!("{} and {} more", names[..NAMED].join(", "), names.len() - NAMED);
    }
    names.join(", ")
}
