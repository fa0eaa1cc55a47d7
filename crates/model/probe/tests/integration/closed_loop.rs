//! What a probe finds, compared with what the drive has.

use disklab_drive::{DriveFile, load};
use disklab_probe::{
    Description, Field, FieldUnit, Findings, ModelledDrive, ProbedValue, Siblings, TimedDrive,
    Unwatched, drive_file, probe_hard_disk, probe_solid_state,
};

/// A drive and what a probe found.
pub struct Probed {
    pub file: DriveFile,
    pub sibling: DriveFile,
    pub findings: Findings,
    /// Virtual seconds that it took.
    pub seconds: f64,
}

/// A value as it is and as it was found.
pub struct Row {
    pub name: &'static str,
    pub unit: FieldUnit,
    pub truth: f64,
    pub found: ProbedValue,
    /// By which part it may be off; `None` if it is only reported.
    pub tolerance: Option<f64>,
}

impl Row {
    pub fn off(&self) -> f64 {
        self.found.value / self.truth - 1.0
    }
}

/// Values that must be found within 2 %.
const NEAR: [&str; 5] =
    ["geometry.rpm", "geometry.outer-rate", "geometry.inner-rate", "seek.average", "seek.full"];
/// Values that follow from a sum, which is compared instead.
const PARTS: [&str; 4] =
    ["seek.head-switch", "seek.write-settle", "geometry.heads", "geometry.tracks-per-head"];
/// So does this where the channels do not show.
const DIES: &str = "flash.dies-per-channel";
/// Drawn for each zone of a unit: some thirty numbers do not give their range within 10 %.
const DRAWN: &str = "geometry.zone-spread";

/// Bytes of a solid-state drive that are written before, and how long it may then fold.
const FILLED: (u64, u64) = (4 << 30, 1_000_000_000_000);

/// Probes a drive of which, and of whose family, nothing is known.
pub fn probe(file: DriveFile) -> Probed {
    let is_family = |other: &DriveFile| {
        other.id == file.id
            || other.like.as_ref() == Some(&file.id)
            || file.like.as_ref() == Some(&other.id)
    };
    let siblings = Siblings::without(&[], is_family);
    let mut drive = ModelledDrive::new(file.build(7), Some(file.queue_depth()));
    let (begun, found) = if file.rotates() {
        (0, probe_hard_disk(&mut drive, &siblings, 1, &mut Unwatched))
    } else {
        drive.fill(FILLED.0, FILLED.1).expect("filled");
        (drive.now(), probe_solid_state(&mut drive, &siblings, 1, &mut Unwatched))
    };
    let (findings, sibling) = found.unwrap_or_else(|error| panic!("{}: {error}", file.id));
    let seconds = (drive.now() - begun) as f64 * 1e-9;
    Probed { file, sibling, findings, seconds }
}

impl Probed {
    pub fn rows(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        for (path, found) in &self.findings.values {
            let field = Field::by_path(path).expect("a field");
            let Some(truth) = field.get(&self.file.kind) else { continue };
            let channels = self.findings.value("flash.channels");
            if PARTS.contains(path) || (*path == DIES && channels.is_none()) {
                continue;
            }
            let tolerance = match *path {
                DRAWN => None,
                path if NEAR.contains(&path) => Some(0.02),
                _ => Some(0.1),
            };
            rows.push(Row { name: path, unit: field.unit, truth, found: *found, tolerance });
        }
        rows.extend(self.sums());
        rows
    }

    /// What can only be found together.
    fn sums(&self) -> Vec<Row> {
        let found = |path: &str| self.findings.values.get(path).copied();
        let truth = |path: &str| {
            Field::by_path(path).and_then(|field| field.get(&self.file.kind)).unwrap_or(f64::NAN)
        };
        let mut rows = Vec::new();
        if let (Some(a), Some(b)) = (found("seek.head-switch"), found("seek.write-settle")) {
            rows.push(Row {
                name: "seek.head-switch + write-settle",
                unit: FieldUnit::Time,
                truth: truth("seek.head-switch") + truth("seek.write-settle"),
                found: ProbedValue {
                    value: a.value + b.value,
                    low: a.low + b.low,
                    high: a.high + b.high,
                    ..a
                },
                tolerance: Some(0.1),
            });
        }
        if let Some(tracks) = found("geometry.tracks-per-head") {
            let of_sibling =
                Field::by_path("geometry.heads").and_then(|f| f.get(&self.sibling.kind));
            let heads = found("geometry.heads").map(|e| e.value).or(of_sibling).unwrap_or(f64::NAN);
            rows.push(Row {
                name: "geometry.heads × tracks-per-head",
                unit: FieldUnit::Count,
                truth: truth("geometry.heads") * truth("geometry.tracks-per-head"),
                found: tracks.map(|tracks| tracks * heads),
                tolerance: Some(0.1),
            });
        }
        if let Some(dies) = found(DIES) {
            let of_sibling =
                Field::by_path("flash.channels").and_then(|f| f.get(&self.sibling.kind));
            let channels = found("flash.channels").map(|e| e.value).or(of_sibling);
            rows.push(Row {
                name: "flash.channels × dies-per-channel",
                unit: FieldUnit::Count,
                truth: truth("flash.channels") * truth(DIES),
                found: dies.map(|dies| dies * channels.unwrap_or(f64::NAN)),
                tolerance: Some(0.1),
            });
        }
        rows
    }

    /// The drive file, as a user would get it.
    pub fn twin(&self) -> String {
        let description = Description {
            id: "twin".to_owned(),
            model: self.file.model.clone(),
            bytes: self.file.capacity(),
            sector_sizes: self.file.sector_sizes(),
            how: "In virtual time.".to_owned(),
        };
        let text = drive_file(&self.findings, &self.sibling, &description);
        text.unwrap_or_else(|error| panic!("{}: {error}", self.file.id))
    }
}

/// All that is wrong with what was found.
pub fn faults(probed: &[Probed]) -> Vec<String> {
    let mut faults = Vec::new();
    for drive in probed {
        let rows = drive.rows();
        if drive.file.rotates() {
            for path in NEAR {
                if !rows.iter().any(|row| row.name == path) {
                    faults.push(format!("{}: {path} was not found", drive.file.id));
                }
            }
        }
        for row in rows {
            let off = row.off();
            if row.tolerance.is_some_and(|tolerance| off.is_nan() || off.abs() > tolerance) {
                let shown = [row.truth, row.found.value].map(|value| row.unit.show(value));
                faults.push(format!(
                    "{}: {} is {}, found {} ({:+.1} %)",
                    drive.file.id,
                    row.name,
                    shown[0],
                    shown[1],
                    off * 100.0
                ));
            }
        }
        if let Err(error) = load("twin.toml", &drive.twin()) {
            faults.push(format!("{}: {error}", drive.file.id));
        }
    }
    faults
}

#[test]
fn drives_give_back_their_parameters() {
    let faults = faults(crate::some());
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
