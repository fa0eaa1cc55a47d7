//! What all forms of bonnie++'s output say, and the reading that it becomes.

use crate::reading::{ImportedWork, Reading, figure, id_of, step};
use disklab_sample::{Direction, Tool};
use disklab_source::{Location, SourceError};

/// A part of bonnie++: the step's name, what it does, and whether its figure is KiB/s
/// or files (or seeks) per second. In the order of all its outputs.
pub(super) const PARTS: [(&str, Direction, bool); 12] = [
    ("putc", Direction::Write, true),
    ("block-write", Direction::Write, true),
    ("rewrite", Direction::Mixed, true),
    ("getc", Direction::Read, true),
    ("block-read", Direction::Read, true),
    ("seeks", Direction::Mixed, false),
    ("create", Direction::Mixed, false),
    ("stat", Direction::Mixed, false),
    ("delete", Direction::Remove, false),
    ("random-create", Direction::Mixed, false),
    ("random-stat", Direction::Mixed, false),
    ("random-delete", Direction::Remove, false),
];

/// What all forms of the output report of a run.
pub(super) struct BonnieLine {
    pub name: String,
    pub version: Option<String>,
    pub size: String,
    pub concurrency: Option<String>,
    /// One for each part: the figure in its unit (bytes or files per second), and the
    /// largest latency in nanoseconds.
    pub figures: [(Option<f64>, Option<f64>); 12],
}

/// `43025us`, `12ms`, `3s` in nanoseconds.
pub(super) fn latency_ns(text: &str) -> Option<f64> {
    let units = [("us", 1e3), ("ms", 1e6), ("s", 1e9)];
    let (number, unit) =
        units.iter().find_map(|(unit, ns)| Some((text.strip_suffix(unit)?, ns)))?;
    crate::text::decimal(number).map(|n| n * unit)
}

/// The reading of one run.
pub(super) fn reading(reported: BonnieLine, place: Location) -> Result<Reading, SourceError> {
    let id = id_of(&format!("bonnie-{}", reported.size));
    let mut fields = vec![("program", "bonnie++".to_owned()), ("size", reported.size.clone())];
    fields.extend(reported.concurrency.map(|n| ("concurrency", n)));
    let mut reading = Reading::new(
        ImportedWork::unknown(&id, &format!("bonnie++, {}", reported.size), fields),
        place,
    );
    for ((name, direction, is_data), (rate, worst)) in PARTS.iter().zip(reported.figures) {
        let Some(rate) = rate.filter(|rate| *rate > 0.0) else { continue };
        // bonnie++ tells no times, only rates.
        let mut figure = figure(*direction, 0.0);
        let target =
            if *is_data { &mut figure.bytes_per_second } else { &mut figure.operations_per_second };
        *target = Some(rate);
        // Without a mean, the largest latency is a note.
        if let Some(worst) = worst {
            reading.surroundings.insert(
                format!("largest latency of {name}"),
                format!("{} ms", disklab_units::significant(worst / 1e6, 4)),
            );
        }
        reading.steps.push(step(name, vec![figure]));
    }
    if reading.steps.is_empty() {
        return Err(reading.place.error(
            "every figure of this run is '+++++': it was over too soon to tell; take a larger size \
             (-s) and more files (-n)",
        ));
    }
    reading.stack = Some(reported.name).filter(|name| !name.is_empty());
    reading.tools = reported
        .version
        .map(|version| Tool { name: "bonnie++".to_owned(), version })
        .into_iter()
        .collect();
    reading.notes.push(
        "bonnie++ leaves out ('+++++') what was over within half a second, and tells no times."
            .to_owned(),
    );
    Ok(reading)
}
