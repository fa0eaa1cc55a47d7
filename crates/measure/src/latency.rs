//! Latency distributions that can be merged and stored.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
use serde::{Deserialize, Serialize, de, ser};

/// Latencies over 1000 s are recorded as 1000 s.
const HIGHEST_NS: u64 = 1_000_000_000_000;
/// Three significant digits: a recorded value is within 0.1 % of the true one.
const DIGITS: u8 = 3;
/// HdrHistogram's bins for three digits: a value keeps its 11 highest bits.
const KEPT_BITS: u32 = 11;

/// A histogram of latencies in nanoseconds, accurate to 0.1 %, which can be
/// merged with others. In memory it holds only the bins that are not empty,
/// because an analysis holds hundreds of them; it is stored in HdrHistogram's
/// own V2 format, deflated, as base64, so other tools can read it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LatencyHistogram {
    /// Counts by the highest value of their bin.
    bins: BTreeMap<u64, u64>,
    count: u64,
}

/// The highest value that falls into the same bin of HdrHistogram as `ns`.
fn bin(ns: u64) -> u64 {
    let ns = ns.clamp(1, HIGHEST_NS);
    let bits = u64::BITS - ns.leading_zeros();
    let dropped = bits.saturating_sub(KEPT_BITS);
    ns | ((1 << dropped) - 1)
}

/// The middle of the bin whose highest value is `highest`.
fn middle(highest: u64) -> f64 {
    let bits = u64::BITS - highest.leading_zeros();
    let dropped = bits.saturating_sub(KEPT_BITS);
    highest as f64 - ((1_u64 << dropped) - 1) as f64 / 2.0
}

impl LatencyHistogram {
    /// One without entries.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds `count` latencies of `ns` nanoseconds.
    pub fn record(&mut self, ns: u64, count: u64) {
        if count > 0 {
            let entry = self.bins.entry(bin(ns)).or_default();
            *entry = entry.saturating_add(count);
            self.count = self.count.saturating_add(count);
        }
    }

    /// Adds all entries of another.
    pub fn merge(&mut self, other: &Self) {
        for (highest, count) in &other.bins {
            let entry = self.bins.entry(*highest).or_default();
            *entry = entry.saturating_add(*count);
        }
        self.count = self.count.saturating_add(other.count);
    }

    /// How many latencies were recorded.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The latency, in nanoseconds, that a share of `quantile` (0 to 1) does
    /// not exceed; 0 where nothing was recorded.
    pub fn quantile(&self, quantile: f64) -> u64 {
        let rank = (quantile.clamp(0.0, 1.0) * self.count as f64).ceil().max(1.0);
        let mut seen = 0_u64;
        for (highest, count) in &self.bins {
            seen = seen.saturating_add(*count);
            if seen as f64 >= rank {
                return *highest;
            }
        }
        self.bins.keys().next_back().copied().unwrap_or(0)
    }

    /// Mean in nanoseconds, from the bins; 0 where nothing was recorded.
    pub fn mean(&self) -> f64 {
        if self.count == 0 {
            return 0.0;
        }
        let sum: f64 = self.bins.iter().map(|(h, n)| middle(*h) * *n as f64).sum();
        sum / self.count as f64
    }

    /// Standard deviation in nanoseconds, from the bins.
    pub fn deviation(&self) -> f64 {
        if self.count == 0 {
            return 0.0;
        }
        let mean = self.mean();
        let sum: f64 =
            self.bins.iter().map(|(h, n)| (middle(*h) - mean).powi(2) * *n as f64).sum();
        (sum / self.count as f64).sqrt()
    }

    /// The entries as (nanoseconds, count), ascending.
    pub fn bins(&self) -> Vec<(u64, u64)> {
        self.bins.iter().map(|(highest, count)| (*highest, *count)).collect()
    }
}

impl Serialize for LatencyHistogram {
    fn serialize<S: ser::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // No larger than its largest value asks for: reading it back is faster.
        let highest = self.bins.keys().next_back().copied().unwrap_or(1).max(2);
        let failed = |e: &dyn std::fmt::Debug| ser::Error::custom(format!("{e:?}"));
        let mut histogram =
            Histogram::<u64>::new_with_max(highest, DIGITS).map_err(|e| failed(&e))?;
        for (highest, count) in &self.bins {
            histogram.saturating_record_n(*highest, *count);
        }
        let mut bytes = Vec::new();
        V2DeflateSerializer::new()
            .serialize(&histogram, &mut bytes)
            .map_err(|e| failed(&e))?;
        serializer.serialize_str(&STANDARD_NO_PAD.encode(bytes))
    }
}

impl<'de> Deserialize<'de> for LatencyHistogram {
    fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = STANDARD_NO_PAD.decode(text).map_err(de::Error::custom)?;
        let inner: Histogram<u64> = Deserializer::new()
            .deserialize(&mut bytes.as_slice())
            .map_err(|e| de::Error::custom(format!("{e:?}")))?;
        let mut histogram = Self::new();
        for value in inner.iter_recorded() {
            histogram.record(value.value_iterated_to(), value.count_since_last_iteration());
        }
        Ok(histogram)
    }
}

/// What is known of the latencies of one figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// Smallest, in nanoseconds.
    pub min_ns: u64,
    /// Largest, in nanoseconds.
    pub max_ns: u64,
    /// Mean, in nanoseconds.
    pub mean_ns: f64,
    /// Standard deviation, in nanoseconds.
    pub deviation_ns: f64,
    /// The whole distribution.
    pub histogram: LatencyHistogram,
}

impl Latency {
    /// All of it from a histogram.
    pub fn from_histogram(histogram: LatencyHistogram) -> Self {
        Self {
            min_ns: histogram.bins.first().map_or(0, |(value, _)| lowest(*value)),
            max_ns: histogram.bins.last().map_or(0, |(value, _)| *value),
            mean_ns: histogram.mean(),
            deviation_ns: histogram.deviation(),
            histogram,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn survives_storage_and_merges() {
        let mut a = LatencyHistogram::new();
        a.record(8_333_333, 10);
        a.record(100_000, 990);
        let text = serde_json::to_string(&a).expect("serialise");
        let mut back: LatencyHistogram = serde_json::from_str(&text).expect("read back");
        assert_eq!(back.bins(), a.bins());
        back.merge(&a);
        assert_eq!(back.count(), 2000);
        let p999 = back.quantile(0.999) as f64;
        assert!((p999 / 8_333_333.0 - 1.0).abs() < 0.001, "{p999}");
    }

    #[test]
    fn hostile_text_is_an_error() {
        for text in ["\"\"", "\"AAAA\"", "\"!!\"", "3"] {
            assert!(serde_json::from_str::<LatencyHistogram>(text).is_err(), "{text}");
        }
    }

    #[test]
    fn its_bins_are_those_of_hdr_histogram() {
        let mut ours = LatencyHistogram::new();
        let mut theirs = Histogram::<u64>::new_with_max(HIGHEST_NS, DIGITS).expect("bounds");
        let mut ns = 1_u64;
        for step in 1..4000 {
            ours.record(ns, step % 7 + 1);
            theirs.record_n(ns, step % 7 + 1).expect("in bounds");
            ns = (ns + 1) * 1009 / 1003;
        }
        for quantile in [0.0, 0.001, 0.25, 0.5, 0.9, 0.99, 0.999, 1.0] {
            assert_eq!(ours.quantile(quantile), theirs.value_at_quantile(quantile), "{quantile}");
        }
        assert!((ours.mean() / theirs.mean() - 1.0).abs() < 1e-3);
        assert!((ours.deviation() / theirs.stdev() - 1.0).abs() < 1e-3);
    }

    #[test]
    fn an_empty_one_has_quantile_zero() {
        let empty = LatencyHistogram::new();
        assert_eq!((empty.quantile(0.99), empty.count(), empty.mean()), (0, 0, 0.0));
        let text = serde_json::to_string(&empty).expect("serialise");
        assert_eq!(serde_json::from_str::<LatencyHistogram>(&text).expect("read back"), empty);
    }

    #[test]
    fn the_longest_are_kept_as_1000_s() {
        let mut histogram = LatencyHistogram::new();
        histogram.record(u64::MAX, u64::MAX);
        histogram.record(0, 1);
        assert_eq!(histogram.quantile(1.0), highest(HIGHEST_NS));
        assert_eq!((histogram.quantile(0.0), histogram.count()), (0, u64::MAX));
    }

    fn entries() -> impl Strategy<Value = Vec<(u64, u64)>> {
        let value = prop_oneof![0_u64..5000, 0_u64..2_000_000_000, Just(HIGHEST_NS)];
        prop::collection::vec((value, 1_u64..1_000_000), 1..40)
    }

    fn filled(entries: &[(u64, u64)]) -> (LatencyHistogram, Histogram<u64>) {
        let mut ours = LatencyHistogram::new();
        let mut theirs = Histogram::new_with_bounds(1, HIGHEST_NS, DIGITS).expect("bounds");
        for (value, count) in entries {
            ours.record(*value, *count);
            theirs.record_n(*value, *count).expect("within bounds");
        }
        (ours, theirs)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn it_agrees_with_hdr_histogram(entries in entries(), quantile in 0.0_f64..=1.0) {
            let (ours, theirs) = filled(&entries);
            let bins: Vec<(u64, u64)> = theirs
                .iter_recorded()
                .map(|v| (v.value_iterated_to(), v.count_since_last_iteration()))
                .collect();
            prop_assert_eq!(ours.bins(), bins);
            prop_assert_eq!(ours.count(), theirs.len());
            prop_assert_eq!(ours.quantile(quantile), theirs.value_at_quantile(quantile));
            let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * b.abs().max(1.0);
            prop_assert!(near(ours.mean(), theirs.mean()));
            prop_assert!(near(ours.deviation(), theirs.stdev()));
            let latency = Latency::from_histogram(ours);
            prop_assert_eq!((latency.min_ns, latency.max_ns), (theirs.min(), theirs.max()));
        }

        #[test]
        fn merging_is_recording_together(a in entries(), b in entries()) {
            let (mut merged, _) = filled(&a);
            merged.merge(&filled(&b).0);
            let together: Vec<_> = a.into_iter().chain(b).collect();
            prop_assert_eq!(&merged, &filled(&together).0);
            let text = serde_json::to_string(&merged).expect("serialise");
            let back: LatencyHistogram = serde_json::from_str(&text).expect("read back");
            prop_assert_eq!(back, merged);
        }
    }
}
