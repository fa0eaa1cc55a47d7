use std::collections::HashSet;

use proptest::prelude::*;

use super::ftl::{Ftl, State, Stream, Work};
use super::layout::{Layout, SPARE_LINES};

impl Ftl {
    /// Asserts what must hold whatever was done.
    fn check(&self) {
        let mut valid = vec![0; self.lines.len()];
        let mut places = HashSet::new();
        for unit in 0..self.layout.units {
            if let Some(place) = self.map.get(unit) {
                assert!(places.insert(place), "two units at {place}");
                let line = self.layout.line_of(place);
                valid[line as usize] += 1;
                let offset = place % self.layout.line_units();
                assert_eq!(self.lines[line as usize].owners.get(offset), Some(unit));
                let page = self.layout.page_of(place);
                assert!(self.owners(page).any(|owner| owner == unit), "{unit} in page {page}");
            }
        }
        for (line, valid) in self.lines.iter().zip(valid) {
            assert_eq!(line.valid, valid, "{line:?}");
            assert!(line.state != State::Free || valid == 0);
        }
        let free = self.lines.iter().filter(|line| line.state == State::Free).count();
        assert_eq!(free, self.free.len());
        assert!(free >= 1, "no free line");
        let cached = self.lines.iter().filter(|line| line.cached).count() as u32;
        assert_eq!(cached, self.cache_lines);
        assert!(cached <= self.layout.cache_lines);
    }
}

fn layouts() -> impl Strategy<Value = Layout> {
    (1_u32..5, 2_u32..9, 4_u32..12, 0_u32..12, 0_u32..4).prop_map(
        |(page_units, line_pages, used, more, cache_lines)| Layout {
            // Less than the lines hold, and exactly as much.
            units: used * page_units * line_pages - u32::from(more > 5),
            page_units,
            line_pages,
            lines: used + SPARE_LINES + more,
            cache_line_pages: line_pages / 2,
            cache_lines,
        },
    )
}

proptest! {
    #[test]
    fn every_unit_has_one_place_and_free_lines_never_run_out(
        layout in layouts(),
        share in 0.0_f64..0.9,
        steps in prop::collection::vec((0_u8..12, any::<u32>(), 1_u32..20), 1..400),
    ) {
        prop_assert!(layout.is_sound());
        let mut ftl = Ftl::new(layout, share);
        let mut written = vec![false; layout.units as usize];
        let mut programmed = HashSet::new();
        for (kind, at, count) in steps {
            let unit = at % layout.units;
            let count = count.min(layout.units - unit);
            let span = unit as usize..(unit + count) as usize;
            match kind {
                0 => {
                    ftl.discard(unit, count);
                    written[span].fill(false);
                }
                1 => ftl.pad(),
                2 => {
                    ftl.close_cache();
                    for _ in 0..count {
                        ftl.fold_page();
                    }
                }
                _ => {
                    let mut done = 0;
                    while done < count {
                        done += ftl.write(unit + done, count - done).0;
                    }
                    written[span].fill(true);
                }
            }
            ftl.check();
            for work in ftl.work.drain(..) {
                match work {
                    // A page is programmed once before it is erased, and read after.
                    Work::Program { page, .. } => prop_assert!(programmed.insert(page)),
                    Work::Read { page, .. } => prop_assert!(programmed.contains(&page)),
                    Work::Erase { line } => {
                        programmed.retain(|page| page / layout.line_pages != line);
                    }
                }
            }
            for (unit, written) in (0..).zip(&written) {
                prop_assert_eq!(ftl.map.get(unit).is_some(), *written);
            }
        }
        prop_assert!(ftl.wear().write_amplification() >= 1.0);
    }
}

fn small(cache_lines: u32) -> Layout {
    Layout {
        units: 20 * 64,
        page_units: 4,
        line_pages: 16,
        lines: 40,
        cache_line_pages: 8,
        cache_lines,
    }
}

fn write(ftl: &mut Ftl, unit: u32, count: u32) -> Vec<Stream> {
    let mut done = 0;
    let mut streams = Vec::new();
    while done < count {
        let (written, stream) = ftl.write(unit + done, count - done);
        done += written;
        streams.push(stream);
    }
    streams.dedup();
    streams
}

#[test]
fn the_cache_fills_is_bypassed_and_is_used_again_when_it_was_emptied() {
    let mut ftl = Ftl::new(small(3), 0.0);
    // Three lines of 8 pages of 4 units.
    assert_eq!(write(&mut ftl, 0, 96), [Stream::Cache]);
    assert_eq!(write(&mut ftl, 96, 64), [Stream::Host]);
    assert!(ftl.is_caching());
    ftl.close_cache();
    while ftl.fold_page().is_some() {}
    assert!(!ftl.is_caching());
    assert_eq!(ftl.wear().copied, 96);
    ftl.rest();
    assert_eq!(write(&mut ftl, 0, 4), [Stream::Cache]);
    ftl.check();
}

#[test]
fn a_full_cache_is_folded_while_the_host_writes_on() {
    let mut ftl = Ftl::new(small(3), 0.5);
    // As much is folded as the host writes, so behind 96 units the cache is empty. It is used
    // again when the host was quiet.
    assert_eq!(write(&mut ftl, 0, 96 + 96 + 4), [Stream::Cache, Stream::Host]);
    assert_eq!(ftl.wear().copied, 96);
    assert!(!ftl.is_caching() && ftl.awaits_rest());
    ftl.rest();
    assert_eq!(write(&mut ftl, 0, 4), [Stream::Cache]);
    assert!(ftl.is_caching());
}

#[test]
fn a_flush_leaves_the_rest_of_a_page_empty() {
    let mut ftl = Ftl::new(small(0), 0.0);
    write(&mut ftl, 0, 5);
    assert!(ftl.is_open(1) && !ftl.is_open(0));
    ftl.pad();
    ftl.pad();
    assert!(!ftl.is_open(1));
    assert_eq!((ftl.wear().host, ftl.wear().padded), (5, 3));
    assert_eq!(ftl.wear().write_amplification(), 1.6);
}

#[test]
fn discarding_the_whole_drive_makes_it_as_new() {
    let mut ftl = Ftl::new(Layout { lines: 31, ..small(0) }, 0.0);
    let mut number = 1_u32;
    for _ in 0..8 * 20 * 64 {
        number = number.wrapping_mul(1_103_515_245).wrapping_add(12_345);
        ftl.write((number >> 8) % (20 * 64), 1);
    }
    let worn = ftl.wear();
    assert!(worn.write_amplification() > 1.0);
    ftl.discard(0, 20 * 64);
    assert_eq!(ftl.locate(0, 500), (None, 500));
    write(&mut ftl, 0, 20 * 64);
    assert_eq!(ftl.wear().since(&worn).write_amplification(), 1.0);
    ftl.check();
}
