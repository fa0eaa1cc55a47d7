//! Closed forms: what calculators say, and what the simulation is compared with.

use disklab_cell::LossTree;

use crate::HOURS_PER_YEAR;

/// The chance of a loss in some years as calculators have it: drives that fail `failures_per_year`, and an
/// array that is redundant again after `repair` hours (Patterson, Gibson and Katz, 'A case for redundant
/// arrays of inexpensive disks', SIGMOD 1988: MTTF² ÷ (n (n − 1) MTTR) for one parity, and so on).
pub fn usual_formula(tree: &LossTree, failures_per_year: f64, repair: f64, years: f64) -> f64 {
    let rate = losses_per_hour(tree, failures_per_year / HOURS_PER_YEAR, repair);
    -(-rate * years * HOURS_PER_YEAR).exp_m1()
}

fn losses_per_hour(tree: &LossTree, failures: f64, repair: f64) -> f64 {
    let LossTree::Parts { survives, of, .. } = tree else { return failures };
    let rates: Vec<f64> = of.iter().map(|part| losses_per_hour(part, failures, repair)).collect();
    let mean = rates.iter().sum::<f64>() / rates.len().max(1) as f64;
    // n λ (n−1) λ T (n−2) λ T …
    (0..=*survives).fold(1.0 / repair.max(f64::MIN_POSITIVE), |rate, lost| {
        rate * (of.len() as f64 - f64::from(lost)).max(0.0) * mean * repair
    })
}

/// The mean time until more than `survives` of `n` drives are missing, each of which fails at `rate` and
/// is back at `repair`: the time to absorption of a birth-death chain, exactly. With one that may fail
/// it is ((2 n − 1) λ + μ) ÷ (n (n − 1) λ²).
#[cfg(test)]
pub(crate) fn mean_time_to_loss(n: u32, survives: u32, rate: f64, repair: f64) -> f64 {
    // The time from `missing` to one more: T(m) = 1 ÷ f + (r ÷ f) T(m − 1).
    let mut last = 0.0;
    (0..=survives).map(f64::from).fold(0.0, |total, missing| {
        let fails = (f64::from(n) - missing) * rate;
        last = (1.0 + missing * repair * last) / fails;
        total + last
    })
}

/// The chance that it happened within `hours`: the chain's equations, integrated (Runge and Kutta's
/// fourth order).
#[cfg(test)]
pub(crate) fn chance_by_markov(n: u32, survives: u32, rate: f64, repair: f64, hours: f64) -> f64 {
    let states = survives as usize + 2;
    let change = |p: &[f64]| {
        let mut d = vec![0.0; states];
        for (missing, share) in p.iter().enumerate().take(states - 1) {
            let fails = (f64::from(n) - missing as f64) * rate * share;
            let back = missing as f64 * repair * share;
            d[missing] -= fails + back;
            d[missing + 1] += fails;
            if missing > 0 {
                d[missing - 1] += back;
            }
        }
        d
    };
    let step = 0.1 / (repair * f64::from(survives + 1));
    let steps = (hours / step).ceil();
    let step = hours / steps;
    let mut p = vec![0.0; states];
    p[0] = 1.0;
    let plus = |p: &[f64], d: &[f64], by: f64| {
        p.iter().zip(d).map(|(p, d)| p + d * by).collect::<Vec<_>>()
    };
    for _ in 0..steps as u64 {
        let a = change(&p);
        let b = change(&plus(&p, &a, step / 2.0));
        let c = change(&plus(&p, &b, step / 2.0));
        let d = change(&plus(&p, &c, step));
        for state in 0..states {
            p[state] += step / 6.0 * (a[state] + 2.0 * b[state] + 2.0 * c[state] + d[state]);
        }
    }
    p[states - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_times_are_the_closed_forms() {
        let (rate, repair) = (1e-5, 0.02);
        for n in [2_u32, 4, 12] {
            let drives = f64::from(n);
            let closed =
                ((2.0 * drives - 1.0) * rate + repair) / (drives * (drives - 1.0) * rate * rate);
            let found = mean_time_to_loss(n, 1, rate, repair);
            assert!((found / closed - 1.0).abs() < 1e-12, "{n}: {found} {closed}");
        }
        assert!((mean_time_to_loss(3, 0, rate, repair) - 1.0 / (3.0 * rate)).abs() < 1e-6);
    }

    #[test]
    fn the_usual_formula_is_the_papers() {
        let drives = |n: u32| (0..n).map(LossTree::Drive).collect::<Vec<_>>();
        let (per_year, repair, years) = (0.02, 24.0, 1e-3);
        let (rate, hours) = (per_year / HOURS_PER_YEAR, years * HOURS_PER_YEAR);
        let pairs = LossTree::neighbours(2, 2, 1, &drives(4));
        for (tree, expected) in [
            (LossTree::Drive(0), rate),
            (LossTree::parts(0, 1, drives(3)), 3.0 * rate),
            (LossTree::parts(1, 1, drives(4)), 12.0 * rate * rate * repair),
            (LossTree::parts(2, 1, drives(4)), 24.0 * rate.powi(3) * repair * repair),
            (pairs, 4.0 * rate * rate * repair),
        ] {
            let found = usual_formula(&tree, per_year, repair, years);
            assert!((found / (expected * hours) - 1.0).abs() < 1e-3, "{found} {tree:?}");
        }
    }
}
