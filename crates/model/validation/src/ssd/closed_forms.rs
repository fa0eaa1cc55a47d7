//! Formulas for write amplification, rates and latencies.

use disklab_drive::ssd::Parameters;

/// The principal branch of Lambert's W, the inverse of w·eʷ, for −1/e ≤ x ≤ 0.
fn lambert_w(x: f64) -> f64 {
    // From the series around the branch point (Corless and others, 'On the Lambert W
    // function', 1996, equation 4.22), then by Halley's method.
    let p = (2.0 * (1.0 + std::f64::consts::E * x)).max(0.0).sqrt();
    let mut w = -1.0 + p - p * p / 3.0 + 11.0 / 72.0 * p * p * p;
    for _ in 0..50 {
        let e = w.exp();
        let error = w * e - x;
        let slope = e * (w + 1.0) - (w + 2.0) * error / (2.0 * w + 2.0);
        if slope == 0.0 || !slope.is_finite() {
            break;
        }
        let step = error / slope;
        w -= step;
        if step.abs() < 1e-14 {
            break;
        }
    }
    w
}

/// T/U, the flash over what the host sees, for the part `spare` of the flash that it
/// does not see.
fn ratio(spare: f64) -> f64 {
    1.0 / (1.0 - spare)
}

/// Write amplification of uniformly random writes where lines are reclaimed in the
/// order in which they were written, or greedily with very many pages each:
/// A = α/(α + W(−α·e^−α)) with α = 1/(1 − spare) (Xiang and Kurkoski, 2012;
/// Desnoyers, 'Analytic models of SSD write performance', 2014).
///
/// `spare` is the part of the flash that the host does not see, above 0 and below 1.
pub fn fifo_write_amplification(spare: f64) -> f64 {
    let a = ratio(spare);
    a / (a + lambert_w(-a * (-a).exp()))
}

/// Write amplification of uniformly random writes where the line with the fewest
/// pages in use is reclaimed, for lines of `pages` pages: A = N/(N − X₀ + 1) with
/// k = 1 + 1/(2N) and X₀ = ½ − (N/α)·W(−k·α·e^(−k·α)) (Desnoyers, 2014).
pub fn greedy_write_amplification(spare: f64, pages: u32) -> f64 {
    let (a, n) = (ratio(spare), f64::from(pages));
    let ka = (1.0 + 1.0 / (2.0 * n)) * a;
    let least = 0.5 - n / a * lambert_w(-ka * (-ka).exp());
    n / (n - least + 1.0)
}

/// Seconds that a page takes on its channel.
fn transfer(parameters: &Parameters, bytes: u64) -> f64 {
    bytes as f64 / parameters.flash.channel_rate
}

/// B/s at which all dies together program whole pages that take `program` ns each.
pub fn program_rate(parameters: &Parameters, program: u64) -> f64 {
    let page = parameters.flash.page;
    let each = program as f64 * 1e-9 + transfer(parameters, page);
    let dies = (parameters.all_dies() * page) as f64 / each;
    dies.min(parameters.flash.channels as f64 * parameters.flash.channel_rate)
}

/// B/s at which the host can write on and on when each page that it writes has
/// `write_amplification` pages programmed, the others being read before: dies · page /
/// (A·t_program + (A−1)·t_read + A·t_erase/N), the transfers counted with programming
/// and reading. No more than the link carries.
pub fn steady_write_rate(parameters: &Parameters, write_amplification: f64) -> f64 {
    let (flash, a) = (&parameters.flash, write_amplification);
    let page = transfer(parameters, flash.page);
    let [program, read, erase] =
        [flash.program, flash.read_page, flash.erase].map(|time| time as f64 * 1e-9);
    let time =
        a * (program + page) + (a - 1.0) * (read + page) + a * erase / flash.block_pages as f64;
    let rate = (parameters.all_dies() * flash.page) as f64 / time;
    rate.min(parameters.interface.link_rate)
}

/// Seconds that a read of 4 KiB takes on an idle drive, in the mean over the pages of
/// a cell: overhead + read + transfer over channel and link.
pub fn read_latency(parameters: &Parameters) -> f64 {
    let read = parameters.flash.read_4k as f64 * 1e-9;
    unmapped_read_latency(parameters) + read + transfer(parameters, 4096)
}

/// The same for what was never written, which needs no flash.
pub fn unmapped_read_latency(parameters: &Parameters) -> f64 {
    let interface = &parameters.interface;
    let overhead = (interface.command + interface.read_overhead) as f64 * 1e-9;
    overhead + 4096.0 / interface.link_rate
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The values that the literature's formulas give (computed apart from this code).
    #[test]
    fn the_formulas_give_the_known_values() {
        for (spare, fifo, greedy) in
            [(0.07, 7.32, 6.60), (0.125, 4.18, 3.95), (0.231, 2.36, 2.29), (0.28, 1.99, 1.94)]
        {
            let (f, g) = (fifo_write_amplification(spare), greedy_write_amplification(spare, 64));
            assert!((f - fifo).abs() < 0.006, "{spare}: {f}");
            assert!((g - greedy).abs() < 0.006, "{spare}: {g}");
        }
    }

    proptest! {
        #[test]
        fn lambert_inverts(x in -0.367_879_f64..0.0) {
            let w = lambert_w(x);
            prop_assert!((w * w.exp() - x).abs() < 1e-9, "{x}: {w}");
            prop_assert!(w >= -1.0);
        }

        #[test]
        fn more_spare_flash_means_less_copying(spare in 0.01_f64..0.6) {
            let more = spare + 0.01;
            prop_assert!(fifo_write_amplification(more) < fifo_write_amplification(spare));
            let greedy = greedy_write_amplification(spare, 64);
            prop_assert!(greedy >= 1.0 && greedy <= fifo_write_amplification(spare) + 1e-9);
        }
    }
}
