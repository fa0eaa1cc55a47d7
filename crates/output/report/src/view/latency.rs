//! Percentiles of a latency histogram, and its curve.

use disklab_sample::LatencyHistogram;

/// The percentiles of tables and of markers on curves.
pub(crate) const PERCENTILES: [f64; 5] = [0.5, 0.9, 0.99, 0.999, 0.9999];

/// A percentile's name: `p50`, `p99.9`.
pub(crate) fn percentile_name(quantile: f64) -> String {
    // Seven digits hide that 0.999 × 100 is not exactly 99.9.
    let text = format!("{:.5}", quantile * 100.0);
    format!("p{}", text.trim_end_matches('0').trim_end_matches('.'))
}

/// Quantiles in nanoseconds, in the order asked for; absent where too few
/// latencies were recorded to know them (p99.9 needs a thousand).
pub(crate) fn percentiles(histogram: &LatencyHistogram, wanted: &[f64]) -> Vec<Option<u64>> {
    let count = histogram.count() as f64;
    wanted
        .iter()
        .map(|q| {
            let known = count > 0.0 && count * (1.0 - q) >= 1.0 - 1e-9;
            known.then(|| histogram.quantile(*q))
        })
        .collect()
}

/// The percentile curve: (position from 0 to 1, nanoseconds), ascending, from
/// the fastest to 99.99 %, on an axis on which each further nine takes the same
/// room.
pub(crate) fn curve(histogram: &LatencyHistogram) -> Vec<(f64, u64)> {
    const STEPS: u32 = 48;
    let count = histogram.count();
    if count == 0 {
        return Vec::new();
    }
    let wanted: Vec<f64> =
        (0..=STEPS).map(|n| 1.0 - 10_f64.powf(-4.0 * f64::from(n) / f64::from(STEPS))).collect();
    let mut points = Vec::with_capacity(wanted.len());
    let mut bins = histogram.bins().into_iter();
    let (mut value, mut below) = (0, 0);
    for (n, quantile) in wanted.iter().enumerate() {
        // Beyond this, there is less than one latency per step.
        if (count as f64) * (1.0 - quantile) < 1.0 - 1e-9 {
            break;
        }
        let target = ((count as f64 * quantile).ceil() as u64).max(1);
        while below < target {
            let Some((bin, entries)) = bins.next() else { break };
            (value, below) = (bin, below + entries);
        }
        points.push((n as f64 / f64::from(STEPS), value.max(1)));
    }
    points
}

/// Where a quantile is on the axis of [`curve`], from 0 to 1.
pub(crate) fn position(quantile: f64) -> f64 {
    (-(1.0 - quantile).log10() / 4.0).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names() {
        let names: Vec<_> = PERCENTILES.iter().map(|q| percentile_name(*q)).collect();
        assert_eq!(names, ["p50", "p90", "p99", "p99.9", "p99.99"]);
    }

    #[test]
    fn few_latencies_have_no_far_percentiles() {
        let mut histogram = LatencyHistogram::new();
        histogram.record(1000, 150);
        let known = percentiles(&histogram, &PERCENTILES);
        assert_eq!(known.iter().filter(|p| p.is_some()).count(), 3);
        assert!(curve(&histogram).last().is_some_and(|(x, _)| *x <= position(1.0 - 1.0 / 150.0)));
        assert!(curve(&LatencyHistogram::new()).is_empty());
    }

    proptest! {
        // Each case walks histograms with tens of thousands of bins a hundred times.
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn a_curve_rises_and_agrees_with_the_quantiles(
            entries in prop::collection::vec((1_u64..10_000_000_000, 1_u64..1000), 1..30)
        ) {
            let mut histogram = LatencyHistogram::new();
            for (ns, count) in entries {
                histogram.record(ns, count);
            }
            let curve = curve(&histogram);
            prop_assert!(!curve.is_empty());
            prop_assert!(curve.windows(2).all(|w| w[0].0 < w[1].0 && w[0].1 <= w[1].1));
            for (x, ns) in curve {
                let quantile = 1.0 - 10_f64.powf(-4.0 * x);
                let near = [-1e-9, 1e-9].map(|d| histogram.quantile(quantile + d) as f64);
                let ns = ns as f64;
                prop_assert!(near[0] * 0.998 <= ns && ns <= near[1] * 1.002, "{x} {ns} {near:?}");
            }
        }
    }
}
