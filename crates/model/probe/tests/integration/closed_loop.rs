//! What a probe finds, compared with what the drive has.

use disklab_drive::{DriveFile, Kind, load};
use disklab_probe::{
    Description, Field, FieldUnit, Findings, ModelledDrive, ProbeError, ProbedValue, Siblings,
    TimedDrive, Unwatched, drive_file, probe_flash_writes, probe_hard_disk, probe_solid_state,
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
        if self.found.value == self.truth { 0.0 } else { self.found.value / self.truth - 1.0 }
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

/// Larger SLC caches are made as small as this, so that the tests take minutes.
pub const LARGEST_SLC_CACHE: u64 = 16_000_000_000;
/// Room for writes, if there is no such cache; if there is one, so many times what it holds.
const WRITE_ROOM: (u64, u64) = (8 << 30, 2);
/// What a write takes by its size is the controller's work and the link's.
const WRITE_4K: &str = "interface.write-overhead-4k";

/// Probes a drive of which, and of whose family, nothing is known.
pub fn probe(mut file: DriveFile) -> Probed {
    let is_family = |other: &DriveFile| {
        other.id == file.id
            || other.like.as_ref() == Some(&file.id)
            || file.like.as_ref() == Some(&other.id)
    };
    let siblings = Siblings::without(&[], is_family);
    if let Kind::Ssd(parameters) = &mut file.kind
        && let Some(cache) = &mut parameters.slc_cache
    {
        cache.size = cache.size.min(LARGEST_SLC_CACHE);
    }
    let mut drive = ModelledDrive::new(file.build(7), Some(file.queue_depth()));
    let (begun, found) = if file.rotates() {
        (0, probe_hard_disk(&mut drive, &siblings, 1, &mut Unwatched))
    } else {
        drive.fill(FILLED.0, FILLED.1).expect("filled");
        (drive.now(), probe_with_writes(&file, &mut drive, &siblings))
    };
    let (findings, sibling) = found.unwrap_or_else(|error| panic!("{}: {error}", file.id));
    let seconds = (drive.now() - begun) as f64 * 1e-9;
    Probed { file, sibling, findings, seconds }
}

/// Probes a solid-state drive by reading, and by writing behind what was written before.
fn probe_with_writes(
    file: &DriveFile,
    drive: &mut ModelledDrive,
    siblings: &Siblings,
) -> Result<(Findings, DriveFile), ProbeError> {
    let (mut findings, sibling) = probe_solid_state(drive, siblings, 1, &mut Unwatched)?;
    let Kind::Ssd(parameters) = &file.kind else { return Ok((findings, sibling)) };
    let cache = parameters.slc_cache.as_ref();
    let room = cache.map_or(WRITE_ROOM.0, |cache| (cache.size * WRITE_ROOM.1) >> 20 << 20);
    let (room, reads) = (FILLED.0..FILLED.0 + room, (&findings, &sibling, siblings));
    let (written, sibling) = probe_flash_writes(drive, room, reads, 1, &mut Unwatched)?;
    findings.join(written);
    Ok((findings, sibling))
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
            if self.is_part_of_writing(path) {
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
        rows.extend(self.sums_of_writing());
        rows
    }

    fn truth(&self, path: &str) -> f64 {
        Field::by_path(path).and_then(|field| field.get(&self.file.kind)).unwrap_or(f64::NAN)
    }

    /// What the drive file has, measured or of the sibling.
    fn of_twin(&self, path: &str) -> f64 {
        let of_sibling = || Field::by_path(path).and_then(|field| field.get(&self.sibling.kind));
        self.findings.value(path).or_else(of_sibling).unwrap_or(f64::NAN)
    }

    /// How pages are programmed that writes reach first.
    fn first_program(&self) -> &'static str {
        if self.truth("slc-cache.size").is_nan() { "flash.program" } else { "slc-cache.program" }
    }

    /// Whether a value shows in a sum only: with the link's time, with a time of programming that
    /// does not show behind the link, or with an unknown part that empties the SLC cache.
    fn is_part_of_writing(&self, path: &str) -> bool {
        let found = |path: &str| self.findings.values.contains_key(path);
        path == WRITE_4K
            || (path == "interface.write-overhead" && matches!(self.file.kind, Kind::Ssd(_)))
            || (path == "buffer.flush-overhead"
                && self.truth("buffer.power-loss-protection") == 0.0
                && !found(self.first_program()))
            || (path == "flash.program"
                && found("slc-cache.size")
                && !found("slc-cache.fold-share"))
    }

    /// What a write occupies a solid-state drive's controller for, the drive's and its twin's: the
    /// latter has the sibling's if that differs from what its reads take.
    fn write_commands(&self) -> [f64; 2] {
        let command = |file: &DriveFile| match &file.kind {
            Kind::Ssd(p) => [p.interface.write_command as f64, p.interface.command as f64],
            _ => [0.0; 2],
        };
        let [sibling, sibling_reads] = command(&self.sibling);
        let twin =
            if sibling == sibling_reads { self.of_twin("interface.command") } else { sibling };
        [command(&self.file)[0], twin]
    }

    fn sums_of_writing(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        let mut row = |name, path: &str, truth: f64, found: f64| {
            let Some(part) = self.findings.values.get(path) else { return };
            let found = ProbedValue { value: found, ..part.map(|v| v + found - part.value) };
            rows.push(Row { name, unit: FieldUnit::Time, truth, found, tolerance: Some(0.1) });
        };
        let link = |of: &dyn Fn(&str) -> f64| 4096e9 / of("interface.link");
        let (truth, twin) = (|path: &str| self.truth(path), |path: &str| self.of_twin(path));
        let small = |of: &dyn Fn(&str) -> f64| of(WRITE_4K) + link(of);
        row("4 KiB of a write, link included", WRITE_4K, small(&truth), small(&twin));
        if self.is_part_of_writing("interface.write-overhead") {
            let (path, [own, of_twin]) = ("interface.write-overhead", self.write_commands());
            let name = "interface.write-overhead + command";
            row(name, path, truth(path) + own, twin(path) + of_twin);
        }
        let flush =
            |of: &dyn Fn(&str) -> f64| of("buffer.flush-overhead") + of(self.first_program());
        if self.is_part_of_writing("buffer.flush-overhead") {
            let name = "buffer.flush-overhead + programming";
            row(name, "buffer.flush-overhead", flush(&truth), flush(&twin));
        }
        let behind = |of: &dyn Fn(&str) -> f64| {
            let share = of("slc-cache.fold-share");
            let page = of("flash.page") / of("flash.channel-rate") * 1e9;
            let copied = of("slc-cache.read") + page;
            (of("flash.program")
                + page
                + share / (1.0 - share) * (of("flash.program") + page + copied))
                / (of("flash.channels") * of(DIES))
        };
        if self.is_part_of_writing("flash.program") {
            let name = "a page behind the SLC cache";
            row(name, "flash.program", behind(&truth), behind(&twin));
        }
        rows
    }

    /// What can only be found together.
    fn sums(&self) -> Vec<Row> {
        let found = |path: &str| self.findings.values.get(path).copied();
        let truth = |path: &str| self.truth(path);
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
