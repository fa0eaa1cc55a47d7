//! Which parameters can belong to a solid-state drive.

use disklab_units::Bytes;

use super::layout::SPARE_LINES;
use super::parameters::Parameters;
use crate::fault::{self, Fault, bytes};

/// The largest capacity that is accepted: its map still has 32-bit entries for 16 KiB
/// each.
const LARGEST: u64 = 40_000_000_000_000;

const SMALLEST: u64 = 1 << 20;

/// The most units that a map of 32-bit entries can tell apart, the spare ones
/// included.
const MOST_UNITS: u64 = u32::MAX as u64 - 1;

/// The most lines that are accepted; each takes some memory.
const MOST_LINES: u64 = 1 << 20;

impl Parameters {
    /// Whether the numbers go together.
    ///
    /// # Errors
    /// [`Fault`] of the first parameter that cannot be, with what was expected.
    pub fn check(&self) -> Result<(), Fault> {
        self.check_sizes()?;
        self.check_numbers()?;
        self.check_times()?;
        self.check_rates()?;
        self.check_flash()
    }

    fn check_sizes(&self) -> Result<(), Fault> {
        let field = ("", "capacity");
        bytes(field, self.capacity, SMALLEST, LARGEST, self.sectors.physical())?;
        fault::visible(self.visible, self.capacity, self.sectors)?;
        let flash = &self.flash;
        bytes(("flash", "map-unit"), flash.map_unit, 4096, 1 << 20, 4096)?;
        bytes(("flash", "page"), flash.page, flash.map_unit, 4 << 20, flash.map_unit)?;
        bytes(("buffer", "size"), self.buffer.size, 4 * flash.page, 1 << 36, flash.map_unit)?;
        bytes(("buffer", "read-ahead"), self.buffer.read_ahead, 0, 1 << 26, flash.map_unit)?;
        if let Some(cache) = &self.slc_cache {
            bytes(("slc-cache", "size"), cache.size, flash.page, self.capacity, 1)?;
        }
        Ok(())
    }

    fn check_numbers(&self) -> Result<(), Fault> {
        let flash = &self.flash;
        for (field, value, low, high) in [
            (("flash", "channels"), flash.channels, 1, 64),
            (("flash", "dies-per-channel"), flash.dies, 1, 64),
            (("flash", "cell-bits"), flash.cell_bits, 1, 5),
            (("flash", "block-pages"), flash.block_pages, 8, 1 << 16),
            (("interface", "queue-depth"), self.interface.queue_depth, 1, 1 << 16),
        ] {
            fault::number(field, value, low, high)?;
        }
        let share = self.slc_cache.as_ref().map_or(0.0, |cache| cache.fold_share);
        for (field, value, high) in
            [(("flash", "spare"), flash.spare, 10.0), (("slc-cache", "fold-share"), share, 0.9)]
        {
            fault::share(field, value, high)?;
        }
        if flash.cell_bits == 1 && self.slc_cache.is_some() {
            return Err(Fault::new(
                ("flash", "cell-bits"),
                "cells of one bit need no cache of such cells; expected no table 'slc-cache'"
                    .to_owned(),
            ));
        }
        Ok(())
    }

    fn check_times(&self) -> Result<(), Fault> {
        const SECOND: u64 = 1_000_000_000;
        let (flash, interface) = (&self.flash, &self.interface);
        let mut times = vec![
            (("flash", "read-4k"), flash.read_4k, 1, SECOND),
            (("flash", "read-page"), flash.read_page, 1, SECOND),
            (("flash", "read-spread"), flash.read_spread, 0, flash.read_4k.min(flash.read_page)),
            (("flash", "program"), flash.program, 1, SECOND),
            (("flash", "erase"), flash.erase, 0, SECOND),
            (("buffer", "flush-overhead"), self.buffer.flush_overhead, 0, SECOND),
            (("interface", "command"), interface.command, 1, SECOND),
            (("interface", "write-command"), interface.write_command, 1, SECOND),
            (("interface", "read-overhead"), interface.read_overhead, 0, SECOND),
            (("interface", "large-read-overhead"), interface.large_read_overhead, 0, SECOND),
            (("interface", "write-overhead"), interface.write_overhead, 0, SECOND),
            (("interface", "write-overhead-4k"), interface.write_overhead_4k, 0, SECOND),
            (("interface", "discard-gib"), interface.discard_gib, 0, SECOND),
        ];
        if let Some(cache) = &self.slc_cache {
            times.push((("slc-cache", "read"), cache.read, 1, SECOND));
            times.push((("slc-cache", "program"), cache.program, 1, SECOND));
            times.push((("slc-cache", "fold-delay"), cache.fold_delay, 1, 86_400 * SECOND));
        }
        for (field, value, low, high) in times {
            fault::time(field, value, low, high)?;
        }
        Ok(())
    }

    fn check_rates(&self) -> Result<(), Fault> {
        for (field, rate) in [
            (("flash", "channel-rate"), self.flash.channel_rate),
            (("interface", "link"), self.interface.link_rate),
        ] {
            fault::rate(field, rate, 1e12)?;
        }
        Ok(())
    }

    /// Whether the map's numbers suffice, and the flash for the map.
    fn check_flash(&self) -> Result<(), Fault> {
        let [_, lines] = self.units_and_lines();
        let line = self.all_dies() * self.flash.block_pages * self.flash.page;
        let units = u128::from(lines) * u128::from(line / self.flash.map_unit);
        if units > u128::from(MOST_UNITS) {
            return Err(Fault::new(
                ("flash", "map-unit"),
                format!(
                    "a map of {} in units of {} has more than 2³² entries; expected larger units",
                    Bytes(self.capacity).si(),
                    Bytes(self.flash.map_unit).iec()
                ),
            ));
        }
        if lines > MOST_LINES {
            return Err(Fault::new(
                ("flash", "block-pages"),
                format!(
                    "the flash would have {lines} lines of {} (a block of each die): more than \
                     {MOST_LINES} cannot be modelled; expected larger blocks",
                    Bytes(line).iec()
                ),
            ));
        }
        if !self.layout().is_sound() {
            return Err(Fault::new(
                ("flash", "spare"),
                format!(
                    "the flash has {lines} lines of {} (a block of each die); in addition to what \
                     the host sees, {SPARE_LINES} are needed to work with: expected more spare \
                     flash, or smaller blocks",
                    Bytes(line).iec()
                ),
            ));
        }
        Ok(())
    }
}
