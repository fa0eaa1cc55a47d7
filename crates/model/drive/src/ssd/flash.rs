//! When the dies and their channels are done.

use super::lane::Lane;
use super::parameters::Parameters;

/// The largest read that counts as small (NVMeVirt, `ssd.c`: reads of 4 KiB have a
/// latency of their own).
pub(crate) const SMALL: u64 = 4096;

/// Dies and channels, each with the times at which it is busy: the structure of
/// NVMeVirt's `ssd_advance_nand`. A die is taken from the beginning of a read until
/// its data have left over the channel, and from the transfer of a page until it is
/// programmed.
#[derive(Debug, Clone)]
pub(crate) struct Flash {
    dies: Vec<Lane>,
    channels: Vec<Lane>,
    line_pages: u32,
    cell_bits: u64,
    page_bytes: u64,
    read_4k: u64,
    read_page: u64,
    read_spread: u64,
    program: u64,
    erase: u64,
    cache_read: u64,
    cache_program: u64,
    nanoseconds_per_byte: f64,
}

impl Flash {
    pub(crate) fn new(parameters: &Parameters) -> Self {
        let flash = &parameters.flash;
        let cache = parameters.slc_cache.as_ref();
        let lanes = |count: u64| (0..count).map(|_| Lane::default()).collect();
        Self {
            dies: lanes(parameters.all_dies()),
            channels: lanes(flash.channels),
            line_pages: parameters.layout().line_pages,
            cell_bits: flash.cell_bits,
            page_bytes: flash.page,
            read_4k: flash.read_4k,
            read_page: flash.read_page,
            read_spread: flash.read_spread,
            program: flash.program,
            erase: flash.erase,
            cache_read: cache.map_or(flash.read_page, |cache| cache.read),
            cache_program: cache.map_or(flash.program, |cache| cache.program),
            nanoseconds_per_byte: 1e9 / flash.channel_rate,
        }
    }

    /// The die and the channel of a page: neighbours are on different channels.
    fn place(&self, page: u32) -> (usize, usize) {
        let die = (page % self.line_pages) as usize % self.dies.len();
        (die, die % self.channels.len())
    }

    fn transfer(&self, bytes: u64) -> u64 {
        (bytes as f64 * self.nanoseconds_per_byte).round() as u64
    }

    /// What a die takes to read so many bytes of a page. A cell's pages take turns,
    /// the first being the fastest.
    fn read_time(&self, page: u32, bytes: u64, cached: bool) -> u64 {
        if cached {
            return self.cache_read;
        }
        let mean = if bytes <= SMALL { self.read_4k } else { self.read_page };
        if self.cell_bits < 2 {
            return mean;
        }
        let in_block = u64::from(page % self.line_pages) / self.dies.len() as u64;
        let step = 2 * self.read_spread * (in_block % self.cell_bits) / (self.cell_bits - 1);
        mean + step - self.read_spread
    }

    /// When so many bytes of a page that are asked for at `from` have left the flash.
    pub(crate) fn read(&mut self, from: u64, page: u32, bytes: u64, cached: bool) -> u64 {
        let (die, channel) = self.place(page);
        let (time, transfer) = (self.read_time(page, bytes, cached), self.transfer(bytes));
        let begun = self.dies[die].find(from, time + transfer);
        let done = self.channels[channel].reserve(begun + time, transfer);
        self.dies[die].occupy(begun, done);
        done
    }

    /// When a page is programmed whose data are there at `from`.
    pub(crate) fn program(&mut self, from: u64, page: u32, cached: bool) -> u64 {
        let (die, channel) = self.place(page);
        let time = if cached { self.cache_program } else { self.program };
        let transfer = self.transfer(self.page_bytes);
        let begun = self.dies[die].find(from, transfer + time);
        let done = self.channels[channel].reserve(begun, transfer) + time;
        self.dies[die].occupy(begun, done);
        done
    }

    /// Erases a line: a block of each die.
    pub(crate) fn erase(&mut self, from: u64) {
        for die in &mut self.dies {
            die.reserve(from, self.erase);
        }
    }

    /// Nothing begins before `now` any more.
    pub(crate) fn forget(&mut self, now: u64) {
        for lane in self.dies.iter_mut().chain(&mut self.channels) {
            lane.forget(now);
        }
    }
}
