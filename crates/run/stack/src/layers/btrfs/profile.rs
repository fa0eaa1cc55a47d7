//! Btrfs's block group profiles.

use crate::redundancy::Stripe;

/// How Btrfs lays out a chunk: `btrfs_raid_array` in the kernel's
/// fs/btrfs/volumes.c (Linux 5.15 and later).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Profile {
    /// One copy on one device.
    Single,
    /// Two copies on one device.
    Dup,
    /// Striped over all devices.
    Raid0,
    /// Two copies on two devices.
    Raid1,
    /// Three copies on three devices.
    Raid1c3,
    /// Four copies on four devices.
    Raid1c4,
    /// Two copies, striped over an even number of devices.
    Raid10,
    /// Striped over all devices, one for parity.
    Raid5,
    /// Striped over all devices, two for parity.
    Raid6,
}

impl Profile {
    /// All of them.
    pub(super) const ALL: [Self; 9] = [
        Self::Single,
        Self::Dup,
        Self::Raid0,
        Self::Raid1,
        Self::Raid1c3,
        Self::Raid1c4,
        Self::Raid10,
        Self::Raid5,
        Self::Raid6,
    ];

    /// Its name on mkfs.btrfs's command line.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Single => "single",
            Self::Dup => "dup",
            Self::Raid0 => "raid0",
            Self::Raid1 => "raid1",
            Self::Raid1c3 => "raid1c3",
            Self::Raid1c4 => "raid1c4",
            Self::Raid10 => "raid10",
            Self::Raid5 => "raid5",
            Self::Raid6 => "raid6",
        }
    }

    /// The fewest devices a chunk needs (`devs_min`).
    pub(super) const fn least_devices(self) -> usize {
        match self {
            Self::Single | Self::Dup | Self::Raid0 => 1,
            Self::Raid1 | Self::Raid10 | Self::Raid5 => 2,
            Self::Raid1c3 | Self::Raid6 => 3,
            Self::Raid1c4 => 4,
        }
    }

    /// On how many devices the next chunk goes, where `free` of them have room
    /// (`devs_max`, `devs_increment`); 0 where that is too few.
    pub(super) const fn width(self, free: usize) -> usize {
        if free < self.least_devices() {
            return 0;
        }
        match self {
            Self::Single | Self::Dup => 1,
            Self::Raid1 => 2,
            Self::Raid1c3 => 3,
            Self::Raid1c4 => 4,
            Self::Raid10 => free - free % 2,
            Self::Raid0 | Self::Raid5 | Self::Raid6 => free,
        }
    }

    /// The bytes of data in a chunk that takes one byte of each of `width`
    /// devices (`ncopies`, `nparity`, `dev_stripes`).
    pub(super) fn data(self, width: usize) -> f64 {
        let width = width as f64;
        match self {
            Self::Single | Self::Raid0 => width,
            Self::Dup | Self::Raid1 | Self::Raid10 => width / 2.0,
            Self::Raid1c3 => width / 3.0,
            Self::Raid1c4 => width / 4.0,
            Self::Raid5 => width - 1.0,
            Self::Raid6 => width - 2.0,
        }
    }

    /// How it keeps data on so many devices. Two copies on one device survive nothing.
    pub(super) fn stripe(self, devices: usize) -> Stripe {
        match self {
            Self::Single | Self::Dup | Self::Raid0 => Stripe::Plain,
            Self::Raid1 | Self::Raid10 => Stripe::Copies(2),
            Self::Raid1c3 => Stripe::Copies(3),
            Self::Raid1c4 => Stripe::Copies(4),
            Self::Raid5 => Stripe::parity(devices, 1),
            Self::Raid6 => Stripe::parity(devices, 2),
        }
    }
}
