//! How units of the map lie on the flash.

/// The sizes of a flash translation layer, in numbers of things.
///
/// The host's sectors are mapped in *units*. A *page* of flash holds some of them and
/// is programmed at once. A *line* is one erase block of every die: it is filled page
/// by page, each on the next die, and erased as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Units that the host sees.
    pub units: u32,
    /// Units of a page; at least 1.
    pub page_units: u32,
    /// Pages of a line; at least 1.
    pub line_pages: u32,
    /// Lines of the flash. With [`Layout::line_units`] they come to less than 2³² − 1
    /// units, and to [`SPARE_LINES`] lines more than the host's units need.
    pub lines: u32,
    /// Pages that a line holds with one bit for each cell.
    pub cache_line_pages: u32,
    /// Lines that may be used so at a time: 0 without an SLC cache.
    pub cache_lines: u32,
}

/// Lines needed in addition to those that hold what the host sees: three that are
/// being filled, two that are being emptied, those that are kept free, and two for
/// what was overwritten. So the full lines are never all in use.
pub const SPARE_LINES: u32 = FREE_LINES + 7;

/// With so many free lines or fewer, lines are reclaimed.
pub(crate) const FREE_LINES: u32 = 3;

impl Layout {
    /// How many mapping units one erase frees.
    pub fn line_units(&self) -> u32 {
        self.page_units * self.line_pages
    }

    /// The line that holds a place of the flash.
    pub(crate) fn line_of(&self, place: u32) -> u32 {
        place / self.line_units()
    }

    /// The page that holds a place of the flash; pages are numbered over all lines.
    pub(crate) fn page_of(&self, place: u32) -> u32 {
        place / self.page_units
    }

    /// Whether a flash translation layer of these sizes can work.
    pub(crate) fn is_sound(&self) -> bool {
        let lines = u64::from(self.units).div_ceil(u64::from(self.line_units().max(1)));
        self.page_units > 0
            && self.line_pages > 0
            && u64::from(self.lines) >= lines + u64::from(SPARE_LINES)
            && u64::from(self.lines) * u64::from(self.page_units) * u64::from(self.line_pages)
                < u64::from(u32::MAX)
            && (self.cache_lines == 0 || self.cache_line_pages > 0)
            && self.cache_line_pages <= self.line_pages
    }
}
