//! dRAID: RAID-Z whose groups, and whose spares, are spread over all devices of a vdev.
//!
//! The numbers follow OpenZFS: `module/zfs/vdev_draid.c` and `draid_config_by_type` in
//! `cmd/zpool/zpool_vdev.c`.

use disklab_cell::{LayerSpec, SPARES};
use disklab_source::SourceError;
use disklab_units::Bytes;

/// zpool's, of data in a group, where there are devices for so many.
const USUAL_DATA: usize = 8;

/// What is written to one device at a time, and held back of each (`VDEV_DRAID_ROWHEIGHT`,
/// `VDEV_DRAID_REFLOW_RESERVE`).
const ROW: u64 = 16 << 20;
const RESERVE: Bytes = Bytes(2 * ROW);

pub(super) const DATA: (&str, &str) = (
    "data",
    "data devices of a group (default: 8, or all without parity and spares if these are fewer)",
);
pub(super) const SPARES_OPTION: (&str, &str) = (
    SPARES,
    "devices whose room is kept free, all over the vdev, for what one that fails held (default: 0)",
);

/// A dRAID vdev, without its number of devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Draid {
    pub parity: u32,
    pub data: Option<usize>,
    /// How many devices' room is spare.
    pub spares: usize,
}

impl Draid {
    pub const fn new(parity: u32) -> Self {
        Self { parity, data: None, spares: 0 }
    }

    /// With what the study says.
    pub fn read(self, spec: &LayerSpec) -> Result<Self, SourceError> {
        let number = |name, least| {
            let number = |text: &str| {
                let number = text.parse().ok().filter(|n| (least..=100).contains(n));
                number.ok_or_else(|| {
                    let layer = &spec.name;
                    spec.error(format!(
                        "{layer}: `{name}`: expected a number from {least} to 100, found '{text}'"
                    ))
                })
            };
            spec.option(name).map(number).transpose()
        };
        let (data, spares) = (number(DATA.0, 1)?, number(SPARES, 0)?);
        Ok(Self { data, spares: spares.unwrap_or(0), ..self })
    }

    /// Data devices of a group, in a vdev of so many.
    pub fn data_of(self, devices: usize) -> usize {
        let room = devices.saturating_sub(self.spares + self.parity as usize);
        self.data.unwrap_or(room.min(USUAL_DATA)).max(1)
    }

    /// The fewest devices of a vdev.
    pub fn least_devices(self) -> usize {
        self.parity as usize + self.data.unwrap_or(1) + self.spares
    }

    /// zpool's word before the devices.
    pub fn word(self, devices: usize) -> String {
        let Self { parity, spares, .. } = self;
        format!("draid{parity}:{}d:{devices}c:{spares}s", self.data_of(devices))
    }

    /// Bytes in which groups of a vdev can be, of devices with so much room each.
    pub fn raw(self, room: Bytes, devices: usize) -> Bytes {
        let used = devices.saturating_sub(self.spares) as u64;
        let group = self.group(devices) * ROW;
        room.saturating_sub(RESERVE).saturating_mul(used).round_down(Bytes(group))
    }

    /// Bytes on a vdev's devices for one byte of a block, which has a group's rows by itself
    /// (`vdev_draid_psize_to_asize`).
    pub fn growth(self, block: Bytes, devices: usize, sector: u64) -> f64 {
        let rows = block.0.div_ceil(sector * self.data_of(devices) as u64).max(1);
        (rows * self.group(devices) * sector) as f64 / block.0.max(1) as f64
    }

    /// Data and parity.
    fn group(self, devices: usize) -> u64 {
        self.data_of(devices) as u64 + u64::from(self.parity)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_and_spares() {
        let plain = Draid::new(1);
        assert_eq!(
            (plain.word(4), plain.word(12)),
            ("draid1:3d:4c:0s".into(), "draid1:8d:12c:0s".into())
        );
        let spread = Draid { data: Some(4), spares: 1, ..Draid::new(2) };
        assert_eq!(spread.word(11), "draid2:4d:11c:1s");
        assert_eq!((plain.least_devices(), spread.least_devices()), (2, 7));
    }

    #[test]
    fn small_blocks_take_a_whole_row() {
        let spread = Draid { data: Some(4), spares: 1, ..Draid::new(2) };
        let growth = |block| spread.growth(Bytes(block), 11, 4096);
        assert_eq!((growth(131_072), growth(4096)), (1.5, 6.0));
        // 10 of 11 devices, in groups of 6, without what is held back.
        assert_eq!(spread.raw(Bytes::gib(1), 11), Bytes(9920 / 96 * (96 << 20)));
    }
}
