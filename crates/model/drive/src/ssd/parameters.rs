//! What makes one solid-state drive differ from another.

use super::layout::Layout;
use crate::Transport;
use crate::sectors::SectorFormat;

/// A solid-state drive's data. [`crate::load`] checks them; code that makes them by hand
/// calls [`Parameters::check`]. Times are in ns, rates in B/s, sizes in B.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameters {
    /// Capacity that the drive is sold with.
    pub capacity: u64,
    /// What of it the host sees; at most `capacity`.
    pub visible: u64,
    /// Sector sizes.
    pub sectors: SectorFormat,
    /// Geometry and times of its cells.
    pub flash: FlashParameters,
    /// The cache of cells with one bit each; none where the drive has none.
    pub slc_cache: Option<SlcCache>,
    /// The memory that writes wait in.
    pub buffer: BufferParameters,
    /// Link and controller.
    pub interface: Interface,
}

/// Dies and what they are made of.
#[derive(Debug, Clone, PartialEq)]
pub struct FlashParameters {
    /// Channels, each of which carries one transfer at a time.
    pub channels: u64,
    /// Dies (LUNs) on each channel, each of which does one thing at a time.
    pub dies: u64,
    /// Bits of a cell: 1 to 5. A line of SLC cache has as many times fewer pages.
    pub cell_bits: u64,
    /// What a die reads and programs at once, all planes together.
    pub page: u64,
    /// Pages of an erase block, all planes together.
    pub block_pages: u64,
    /// Flash beyond `capacity`, as a part of it (over-provisioning).
    pub spare: f64,
    /// What an entry of the map stands for; a smaller write reads the rest first.
    pub map_unit: u64,
    /// Reading up to 4 KiB of a page, in the mean over the pages of a cell.
    pub read_4k: u64,
    /// Reading more of a page.
    pub read_page: u64,
    /// How much faster the first of a cell's pages is read, and slower the last.
    pub read_spread: u64,
    /// Programming a page, in the mean over the pages of a cell.
    pub program: u64,
    /// Erasing a block.
    pub erase: u64,
    /// Bytes per second between a channel's dies and the controller.
    pub channel_rate: f64,
}

/// A part of the flash that is written with one bit for each cell, and emptied
/// ('folded') into the rest later.
#[derive(Debug, Clone, PartialEq)]
pub struct SlcCache {
    /// What it holds. A nearly full drive has fewer free blocks for it.
    pub size: u64,
    /// Reading a page or a part of it.
    pub read: u64,
    /// Programming a page.
    pub program: u64,
    /// How long the host must be quiet before it is emptied.
    pub fold_delay: u64,
    /// Part of all programming that empties it while it is full and the host goes
    /// on writing, from 0 to 0.9.
    pub fold_share: f64,
}

/// Memory for writes on their way to the flash.
#[derive(Debug, Clone, PartialEq)]
pub struct BufferParameters {
    /// What it holds.
    pub size: u64,
    /// Whether writes complete when they are in it.
    pub write_cache: bool,
    /// Whether it outlasts a loss of power (capacitors): what is in it is durable, and a flush
    /// programs nothing.
    pub power_loss_protection: bool,
    /// What a flush that has something to do takes in addition to programming the data, such
    /// as writing the map out. One flush after the other.
    pub flush_overhead: u64,
    /// What is read ahead of a sequential reader; 0 for nothing.
    pub read_ahead: u64,
}

/// Link and controller.
#[derive(Debug, Clone, PartialEq)]
pub struct Interface {
    /// How it is attached.
    pub transport: Transport,
    /// Payload that the link carries.
    pub link_rate: f64,
    /// Whether the link carries data both ways at a time, as PCI Express does.
    pub full_duplex: bool,
    /// Requests that the drive looks at, at a time; others wait.
    pub queue_depth: u64,
    /// What the controller does for a read before it looks at the next request.
    pub command: u64,
    /// The same for any other request.
    pub write_command: u64,
    /// Its other work for a read of up to 4 KiB, many at a time.
    pub read_overhead: u64,
    /// The same for a larger read.
    pub large_read_overhead: u64,
    /// The same for a write.
    pub write_overhead: u64,
    /// The same for each 4 KiB of a write.
    pub write_overhead_4k: u64,
    /// What it takes to discard 1 GiB.
    pub discard_gib: u64,
    /// Whether the host may have zeros written without sending them.
    pub write_zeroes: bool,
}

impl Parameters {
    /// Dies on all channels.
    pub fn all_dies(&self) -> u64 {
        self.flash.channels * self.flash.dies
    }

    /// The same drive, of which the host sees the first `bytes` only. The rest of
    /// the flash stays: such a drive is over-provisioned the more.
    ///
    /// # Errors
    /// Where the drive is smaller, or the size is no multiple of its logical sectors.
    pub fn limited_to(&self, bytes: u64) -> Result<Self, crate::Fault> {
        let limited = Self { visible: bytes, ..self.clone() };
        limited.check()?;
        Ok(limited)
    }

    /// How the map's units lie on the flash, and how many there are. Meaningful for
    /// parameters that passed [`Parameters::check`].
    pub fn layout(&self) -> Layout {
        let [units, lines] = self.units_and_lines();
        let [page_units, line_pages] = self.page_and_line();
        let number = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
        let cache_line_pages = line_pages / self.flash.cell_bits.max(1);
        let cache_lines = self.slc_cache.as_ref().map_or(0, |cache| {
            cache.size.div_ceil((cache_line_pages * self.flash.page).max(1)).min(lines)
        });
        Layout {
            units: number(units),
            page_units: number(page_units),
            line_pages: number(line_pages),
            lines: number(lines),
            cache_line_pages: number(cache_line_pages),
            cache_lines: number(cache_lines),
        }
    }

    /// Units that the host sees, and lines of the flash.
    pub(super) fn units_and_lines(&self) -> [u64; 2] {
        let flash = &self.flash;
        let [_, line_pages] = self.page_and_line();
        let bytes = self.capacity as f64 * (1.0 + flash.spare);
        let lines = (bytes / (line_pages * flash.page).max(1) as f64).ceil() as u64;
        [self.visible.div_ceil(flash.map_unit.max(1)), lines]
    }

    /// Units of a page, and pages of a line.
    fn page_and_line(&self) -> [u64; 2] {
        let flash = &self.flash;
        [flash.page / flash.map_unit.max(1), self.all_dies() * flash.block_pages]
    }
}
