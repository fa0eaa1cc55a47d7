//! Writes to the flash translation layer alone, without times.

use disklab_content::next_splitmix64;
use disklab_drive::ssd::{Layout, Translation};

/// How the host writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Traffic {
    /// One unit after the other, from the first to the last, again and again.
    Sequential,
    /// Units chosen uniformly at random.
    Random,
}

/// Numbers that look random.
#[derive(Debug, Clone)]
pub(super) struct Numbers(pub(super) u64);

impl Numbers {
    /// A number below `end`; the bias of the multiplication is below `end`/2⁶⁴.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        let z = next_splitmix64(&mut self.0);
        ((u128::from(z) * u128::from(end)) >> 64) as u64
    }
}

/// `lines` lines of `pages` pages of which the host does not see the part `spare`,
/// in addition to the lines that are never free for data: those that are kept free and those
/// that are being filled.
pub fn spare_layout(spare: f64, lines: u32, pages: u32) -> Layout {
    Layout {
        units: (f64::from(lines * pages) * (1.0 - spare)) as u32,
        page_units: 1,
        line_pages: pages,
        lines: lines + 4,
        cache_line_pages: pages,
        cache_lines: 0,
    }
}

/// Write amplification of a drive that is written whole once and then `rounds` times
/// its size with this traffic, over the last half of these writes. `None` where the
/// layout has too few lines to work with.
pub fn structure_write_amplification(
    layout: Layout,
    traffic: Traffic,
    rounds: f64,
    seed: u64,
) -> Option<f64> {
    let mut flash = Translation::new(layout)?;
    let mut numbers = Numbers(seed);
    (0..layout.units).for_each(|unit| flash.write(unit));
    let half = (f64::from(layout.units) * rounds / 2.0) as u64;
    let units = u64::from(layout.units);
    let mut run = |flash: &mut Translation| {
        for at in 0..half {
            let unit = match traffic {
                Traffic::Sequential => at % units,
                Traffic::Random => numbers.below(units),
            };
            flash.write(unit as u32);
        }
        flash.wear()
    };
    let before = run(&mut flash);
    Some(run(&mut flash).since(&before).write_amplification())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ssd::{fifo_write_amplification, greedy_write_amplification};

    #[test]
    fn random_writes_are_amplified_as_the_closed_forms_say() {
        for spare in [0.07, 0.125, 0.231, 0.28] {
            let random = |lines, pages| {
                let layout = spare_layout(spare, lines, pages);
                structure_write_amplification(layout, Traffic::Random, 4.0, 7).unwrap()
            };
            let (measured, formula) = (random(1024, 64), greedy_write_amplification(spare, 64));
            let ratio = measured / formula;
            println!("{spare}: greedy {measured:.3} {formula:.3} {ratio:.4}");
            assert!((0.97..1.03).contains(&ratio), "{spare}: {measured} {formula} {ratio}");
            let (measured, formula) = (random(256, 1024), fifo_write_amplification(spare));
            let ratio = measured / formula;
            println!("{spare}: many pages {measured:.3} {formula:.3} {ratio:.4}");
            assert!((0.97..1.03).contains(&ratio), "{spare}: {measured} {formula} {ratio}");
        }
    }

    #[test]
    fn sequential_writes_are_not_amplified() {
        let layout = spare_layout(0.07, 256, 64);
        let measured = structure_write_amplification(layout, Traffic::Sequential, 6.0, 1);
        assert_eq!(measured, Some(1.0));
    }

    #[test]
    fn too_few_lines_are_refused() {
        let layout = Layout { lines: 10, ..spare_layout(0.1, 20, 8) };
        assert_eq!(structure_write_amplification(layout, Traffic::Random, 1.0, 1), None);
    }
}
