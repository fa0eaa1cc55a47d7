//! The parameters that a probe can find, by their names in drive files.

use disklab_drive::{Kind, hdd, ssd};
use disklab_units::Bytes;

/// What a parameter counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds.
    Time,
    /// Bytes per second.
    Rate,
    /// Bytes.
    Size,
    /// Whole things.
    Count,
    /// Parts of one.
    Share,
}

impl Unit {
    /// A value as drive files write it, without quotes.
    pub fn show(self, value: f64) -> String {
        match self {
            Self::Time => show_time(value),
            Self::Rate => format!("{} MB/s", significant(value / 1e6)),
            Self::Size => Bytes(value.max(0.0).round() as u64).iec(),
            Self::Count => format!("{}", value.round()),
            Self::Share => significant(value),
        }
    }

    /// A value as a drive file's TOML has it. Sizes are exact.
    pub(crate) fn toml(self, value: f64) -> String {
        match self {
            Self::Time | Self::Rate => format!("\"{}\"", self.show(value)),
            Self::Size => format!("{}", value.round() as u64),
            Self::Count | Self::Share => self.show(value),
        }
    }
}

fn show_time(ns: f64) -> String {
    match ns.abs() {
        x if x >= 1e9 => format!("{} s", significant(ns / 1e9)),
        x if x >= 1e6 => format!("{} ms", significant(ns / 1e6)),
        x if x >= 1e3 => format!("{} µs", significant(ns / 1e3)),
        _ => format!("{} ns", ns.round()),
    }
}

/// Four significant digits, without zeros behind.
fn significant(value: f64) -> String {
    let digits = if value == 0.0 { 0 } else { value.abs().log10().floor() as i32 + 1 };
    let decimals = (4 - digits).clamp(0, 6) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// A parameter of a drive model.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// Its table and name in a drive file, such as `seek.average`.
    pub path: &'static str,
    /// What it counts.
    pub unit: Unit,
    get: fn(&Kind) -> Option<f64>,
    set: fn(&mut Kind, f64),
}

impl Field {
    /// The field of this path.
    pub fn by_path(path: &str) -> Option<&'static Self> {
        FIELDS.iter().find(|field| field.path == path)
    }

    /// Its value in a model; `None` if such drives have none.
    pub fn get(&self, kind: &Kind) -> Option<f64> {
        (self.get)(kind)
    }

    /// Gives it a value in a model; nothing changes if such drives have none.
    pub fn set(&self, kind: &mut Kind, value: f64) {
        (self.set)(kind, value);
    }
}

fn disk(kind: &mut Kind) -> Option<&mut hdd::Parameters> {
    match kind {
        Kind::Hdd(parameters) => Some(parameters),
        Kind::Smr(parameters) => Some(&mut parameters.disk),
        Kind::Ssd(_) => None,
    }
}

fn disk_of(kind: &Kind) -> Option<&hdd::Parameters> {
    match kind {
        Kind::Hdd(parameters) => Some(parameters),
        Kind::Smr(parameters) => Some(&parameters.disk),
        Kind::Ssd(_) => None,
    }
}

fn flash(kind: &mut Kind) -> Option<&mut ssd::Parameters> {
    match kind {
        Kind::Ssd(parameters) => Some(parameters),
        _ => None,
    }
}

fn flash_of(kind: &Kind) -> Option<&ssd::Parameters> {
    match kind {
        Kind::Ssd(parameters) => Some(parameters),
        _ => None,
    }
}

/// A number as a parameter holds it.
trait Number {
    fn from_value(value: f64) -> Self;
    fn to_value(self) -> f64;
}

impl Number for u64 {
    fn from_value(value: f64) -> Self {
        value.max(0.0).round() as u64
    }

    fn to_value(self) -> f64 {
        self as f64
    }
}

impl Number for f64 {
    fn from_value(value: f64) -> Self {
        value
    }

    fn to_value(self) -> f64 {
        self
    }
}

macro_rules! field {
    ($of:ident, $change:ident, $path:literal, $unit:ident, $($place:ident).+) => {
        Field {
            path: $path,
            unit: Unit::$unit,
            get: |kind| $of(kind).map(|p| Number::to_value(p.$($place).+)),
            set: |kind, value| {
                if let Some(p) = $change(kind) {
                    p.$($place).+ = Number::from_value(value);
                }
            },
        }
    };
}

/// A field that all kinds have: its place in a hard disk, and in a solid-state drive.
macro_rules! common_field {
    ($path:literal, $unit:ident, $of_disk:ident, $of_flash:ident) => {
        Field {
            path: $path,
            unit: Unit::$unit,
            get: |kind| {
                let of_flash = flash_of(kind).map(|p| Number::to_value(p.interface.$of_flash));
                disk_of(kind).map(|p| Number::to_value(p.$of_disk)).or(of_flash)
            },
            set: |kind, value| {
                if let Some(p) = disk(kind) {
                    p.$of_disk = Number::from_value(value);
                }
                if let Some(p) = flash(kind) {
                    p.interface.$of_flash = Number::from_value(value);
                }
            },
        }
    };
}

macro_rules! slc_field {
    ($path:literal, $unit:ident, $place:ident) => {
        Field {
            path: $path,
            unit: Unit::$unit,
            get: |kind| {
                flash_of(kind)
                    .and_then(|p| p.slc_cache.as_ref())
                    .map(|cache| Number::to_value(cache.$place))
            },
            set: |kind, value| {
                if let Some(cache) = flash(kind).and_then(|p| p.slc_cache.as_mut()) {
                    cache.$place = Number::from_value(value);
                }
            },
        }
    };
}

/// All of them.
pub const FIELDS: &[Field] = &[
    field!(disk_of, disk, "geometry.rpm", Count, rpm),
    field!(disk_of, disk, "geometry.heads", Count, heads),
    field!(disk_of, disk, "geometry.outer-rate", Rate, outer_rate),
    field!(disk_of, disk, "geometry.inner-rate", Rate, inner_rate),
    field!(disk_of, disk, "geometry.zones", Count, zones),
    field!(disk_of, disk, "geometry.zone-spread", Share, zone_spread),
    field!(disk_of, disk, "geometry.tracks-per-head", Count, tracks_per_head),
    field!(disk_of, disk, "seek.single-track", Time, read_seek.single_track),
    field!(disk_of, disk, "seek.average", Time, read_seek.average),
    field!(disk_of, disk, "seek.full", Time, read_seek.full),
    field!(disk_of, disk, "seek.write-single-track", Time, write_seek.single_track),
    field!(disk_of, disk, "seek.write-average", Time, write_seek.average),
    field!(disk_of, disk, "seek.write-full", Time, write_seek.full),
    field!(disk_of, disk, "seek.head-switch", Time, head_switch),
    field!(disk_of, disk, "seek.write-settle", Time, write_settle),
    common_field!("interface.link", Rate, link_rate, link_rate),
    common_field!("interface.read-overhead", Time, read_overhead, read_overhead),
    common_field!("interface.write-overhead", Time, write_overhead, write_overhead),
    common_field!("interface.queue-depth", Count, queue_depth, queue_depth),
    field!(disk_of, disk, "interface.ncq-quality", Share, ncq_quality),
    field!(disk_of, disk, "interface.ncq-window", Count, ncq_window),
    field!(disk_of, disk, "interface.queue-age", Time, queue_age),
    field!(disk_of, disk, "cache.size", Size, cache),
    field!(disk_of, disk, "cache.segments", Count, segments),
    field!(disk_of, disk, "cache.segment-size", Size, segment_size),
    field!(disk_of, disk, "cache.dirty-limit", Size, dirty_limit),
    field!(disk_of, disk, "cache.dirty-extents", Count, dirty_extents),
    field!(flash_of, flash, "flash.channels", Count, flash.channels),
    field!(flash_of, flash, "flash.dies-per-channel", Count, flash.dies),
    field!(flash_of, flash, "flash.cell-bits", Count, flash.cell_bits),
    field!(flash_of, flash, "flash.page", Size, flash.page),
    field!(flash_of, flash, "flash.map-unit", Size, flash.map_unit),
    field!(flash_of, flash, "flash.read-4k", Time, flash.read_4k),
    field!(flash_of, flash, "flash.read-page", Time, flash.read_page),
    field!(flash_of, flash, "flash.read-spread", Time, flash.read_spread),
    field!(flash_of, flash, "flash.program", Time, flash.program),
    field!(flash_of, flash, "flash.channel-rate", Rate, flash.channel_rate),
    slc_field!("slc-cache.size", Size, size),
    slc_field!("slc-cache.read", Time, read),
    slc_field!("slc-cache.program", Time, program),
    slc_field!("slc-cache.fold-delay", Time, fold_delay),
    slc_field!("slc-cache.fold-share", Share, fold_share),
    field!(flash_of, flash, "buffer.size", Size, buffer.size),
    field!(flash_of, flash, "buffer.flush-overhead", Time, buffer.flush_overhead),
    field!(flash_of, flash, "interface.command", Time, interface.command),
    field!(flash_of, flash, "interface.large-read-overhead", Time, interface.large_read_overhead),
    field!(flash_of, flash, "interface.write-overhead-4k", Time, interface.write_overhead_4k),
];

#[cfg(test)]
mod tests {
    use disklab_drive::{SHIPPED, shipped};

    use super::*;

    #[test]
    fn fields_have_values_that_can_be_set_and_read_again() {
        for (id, _) in SHIPPED {
            let mut kind = shipped(id).unwrap().kind;
            let before = kind.clone();
            for field in FIELDS {
                if let Some(value) = field.get(&kind) {
                    field.set(&mut kind, value);
                }
            }
            assert_eq!(kind, before, "{id}");
        }
        assert!(Field::by_path("seek.average").is_some() && Field::by_path("colour").is_none());
    }

    #[test]
    fn values_are_shown_as_drive_files_write_them() {
        assert_eq!(Unit::Time.show(8_021_234.0), "8.021 ms");
        assert_eq!(Unit::Time.show(150_000.0), "150 µs");
        assert_eq!(Unit::Rate.show(251_260_000.0), "251.3 MB/s");
        assert_eq!(Unit::Rate.toml(3_360_000_000.0), "\"3360 MB/s\"");
        assert_eq!(
            (Unit::Size.toml(2_097_152.0), Unit::Count.toml(30.2)),
            ("2097152".into(), "30".into())
        );
        assert_eq!(Unit::Share.show(0.75), "0.75");
    }
}
