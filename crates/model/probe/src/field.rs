//! The parameters that a probe can find, by their names in drive files.

use disklab_drive::Kind;
use disklab_units::Bytes;

/// What a parameter counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldUnit {
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
    /// Whether something is so: 0 or 1.
    Flag,
}

impl FieldUnit {
    /// A value as drive files write it, without quotes.
    pub fn show(self, value: f64) -> String {
        match self {
            Self::Time => show_time(value),
            Self::Rate => format!("{} MB/s", significant(value / 1e6)),
            Self::Size => Bytes(value.max(0.0).round() as u64).iec(),
            Self::Count => format!("{}", value.round()),
            Self::Share => significant(value),
            Self::Flag => (value > 0.5).to_string(),
        }
    }

    /// A value as a drive file's TOML has it. Sizes are exact.
    pub(crate) fn toml(self, value: f64) -> String {
        match self {
            Self::Time | Self::Rate => format!("\"{}\"", self.show(value)),
            Self::Size => format!("{}", value.round() as u64),
            Self::Count | Self::Share | Self::Flag => self.show(value),
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
    pub unit: FieldUnit,
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

/// Where models of rotating drives have their parameters.
mod disk {
    use disklab_drive::Kind;
    use disklab_drive::hdd::Parameters;

    pub(super) fn get(kind: &Kind) -> Option<&Parameters> {
        match kind {
            Kind::Hdd(parameters) => Some(parameters),
            Kind::Smr(parameters) => Some(&parameters.disk),
            Kind::Ssd(_) => None,
        }
    }

    pub(super) fn get_mut(kind: &mut Kind) -> Option<&mut Parameters> {
        match kind {
            Kind::Hdd(parameters) => Some(parameters),
            Kind::Smr(parameters) => Some(&mut parameters.disk),
            Kind::Ssd(_) => None,
        }
    }
}

/// Where models of solid-state drives have them.
mod ssd {
    use disklab_drive::Kind;
    use disklab_drive::ssd::Parameters;

    pub(super) fn get(kind: &Kind) -> Option<&Parameters> {
        match kind {
            Kind::Ssd(parameters) => Some(parameters),
            _ => None,
        }
    }

    pub(super) fn get_mut(kind: &mut Kind) -> Option<&mut Parameters> {
        match kind {
            Kind::Ssd(parameters) => Some(parameters),
            _ => None,
        }
    }
}

/// Where those with an SLC cache have its own.
mod slc_cache {
    use disklab_drive::Kind;
    use disklab_drive::ssd::SlcCache;

    pub(super) fn get(kind: &Kind) -> Option<&SlcCache> {
        super::ssd::get(kind)?.slc_cache.as_ref()
    }

    pub(super) fn get_mut(kind: &mut Kind) -> Option<&mut SlcCache> {
        super::ssd::get_mut(kind)?.slc_cache.as_mut()
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

impl Number for bool {
    fn from_value(value: f64) -> Self {
        value > 0.5
    }

    fn to_value(self) -> f64 {
        f64::from(u8::from(self))
    }
}

/// A field by its path, its unit, and its place in each kind of drive that has it.
macro_rules! field {
    ($path:literal, $unit:ident, $($of:ident . $($place:ident).+),+) => {
        Field {
            path: $path,
            unit: FieldUnit::$unit,
            get: |kind| {
                let values = [$($of::get(kind).map(|p| Number::to_value(p.$($place).+))),+];
                values.into_iter().flatten().next()
            },
            set: |kind, value| {
                $(if let Some(p) = $of::get_mut(kind) {
                    p.$($place).+ = Number::from_value(value);
                })+
            },
        }
    };
}

/// All of them.
pub const FIELDS: &[Field] = &[
    field!("geometry.rpm", Count, disk.rpm),
    field!("geometry.heads", Count, disk.heads),
    field!("geometry.outer-rate", Rate, disk.outer_rate),
    field!("geometry.inner-rate", Rate, disk.inner_rate),
    field!("geometry.zones", Count, disk.zones),
    field!("geometry.zone-spread", Share, disk.zone_spread),
    field!("geometry.tracks-per-head", Count, disk.tracks_per_head),
    field!("seek.single-track", Time, disk.read_seek.single_track),
    field!("seek.average", Time, disk.read_seek.average),
    field!("seek.full", Time, disk.read_seek.full),
    field!("seek.write-single-track", Time, disk.write_seek.single_track),
    field!("seek.write-average", Time, disk.write_seek.average),
    field!("seek.write-full", Time, disk.write_seek.full),
    field!("seek.head-switch", Time, disk.head_switch),
    field!("seek.write-settle", Time, disk.write_settle),
    field!("interface.link", Rate, disk.link_rate, ssd.interface.link_rate),
    field!("interface.read-overhead", Time, disk.read_overhead, ssd.interface.read_overhead),
    field!("interface.write-overhead", Time, disk.write_overhead, ssd.interface.write_overhead),
    field!("interface.queue-depth", Count, disk.queue_depth, ssd.interface.queue_depth),
    field!("interface.ncq-quality", Share, disk.ncq_quality),
    field!("interface.ncq-window", Count, disk.ncq_window),
    field!("interface.queue-age", Time, disk.queue_age),
    field!("cache.size", Size, disk.cache),
    field!("cache.segments", Count, disk.segments),
    field!("cache.segment-size", Size, disk.segment_size),
    field!("cache.dirty-limit", Size, disk.dirty_limit),
    field!("cache.dirty-extents", Count, disk.dirty_extents),
    field!("flash.channels", Count, ssd.flash.channels),
    field!("flash.dies-per-channel", Count, ssd.flash.dies),
    field!("flash.cell-bits", Count, ssd.flash.cell_bits),
    field!("flash.page", Size, ssd.flash.page),
    field!("flash.map-unit", Size, ssd.flash.map_unit),
    field!("flash.read-4k", Time, ssd.flash.read_4k),
    field!("flash.read-page", Time, ssd.flash.read_page),
    field!("flash.read-spread", Time, ssd.flash.read_spread),
    field!("flash.program", Time, ssd.flash.program),
    field!("flash.channel-rate", Rate, ssd.flash.channel_rate),
    field!("slc-cache.size", Size, slc_cache.size),
    field!("slc-cache.read", Time, slc_cache.read),
    field!("slc-cache.program", Time, slc_cache.program),
    field!("slc-cache.fold-delay", Time, slc_cache.fold_delay),
    field!("slc-cache.fold-share", Share, slc_cache.fold_share),
    field!("buffer.size", Size, ssd.buffer.size),
    field!("buffer.power-loss-protection", Flag, ssd.buffer.power_loss_protection),
    field!("buffer.flush-overhead", Time, ssd.buffer.flush_overhead),
    field!("interface.command", Time, ssd.interface.command),
    field!("interface.large-read-overhead", Time, ssd.interface.large_read_overhead),
    field!("interface.write-overhead-4k", Time, ssd.interface.write_overhead_4k),
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
        assert_eq!(FieldUnit::Time.show(8_021_234.0), "8.021 ms");
        assert_eq!(FieldUnit::Time.show(150_000.0), "150 µs");
        assert_eq!(FieldUnit::Rate.show(251_260_000.0), "251.3 MB/s");
        assert_eq!(FieldUnit::Rate.toml(3_360_000_000.0), "\"3360 MB/s\"");
        assert_eq!(
            (FieldUnit::Size.toml(2_097_152.0), FieldUnit::Count.toml(30.2)),
            ("2097152".into(), "30".into())
        );
        assert_eq!(FieldUnit::Share.show(0.75), "0.75");
    }
}
