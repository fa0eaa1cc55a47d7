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

/// Values below this have bins of their own; above, a bin's width doubles
/// whenever the value does. It is the power of two that HdrHistogram takes for
/// three digits.
const FINE: u64 = 2048;

/// A histogram of latencies in nanoseconds, accurate to 0.1 %, which can be
/// merged with others. Its bins are HdrHistogram's, and it is stored in
/// HdrHistogram's own V2 format, deflated, as base64, so other tools can read
/// it. In memory only the bins that hold something are kept: an analysis has
/// thousands of these, and HdrHistogram's array is 250 kB each.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LatencyHistogram {
    /// Entries by the largest value of their bin; none is empty.
    bins: BTreeMap<u64, u64>,
    /// Sum of the entries.
    count: u64,
}

/// How far a value is shifted to find its bin.
fn shift(ns: u64) -> u32 {
    FINE.leading_zeros() + 1 - (ns | (FINE - 1)).leading_zeros()
}

/// The smallest value of a value's bin.
fn lowest(ns: u64) -> u64 {
    ns >> shift(ns) << shift(ns)
}

/// The largest value of a value's bin.
fn highest(ns: u64) -> u64 {
    lowest(ns) + (1 << shift(ns)) - 1
}

/// The middle of a value's bin.
fn middle(ns: u64) -> f64 {
    (lowest(ns) + (1 << shift(ns) >> 1)) as f64
}

impl LatencyHistogram {
    /// One without entries.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds `count` latencies of `ns` nanoseconds.
    pub fn record(&mut self, ns: u64, count: u64) {
        if count > 0 {
            let entries = self.bins.entry(highest(ns.min(HIGHEST_NS))).or_default();
            *entries = entries.saturating_add(count);
            self.count = self.count.saturating_add(count);
        }
    }

    /// Adds all entries of another.
    pub fn merge(&mut self, other: &Self) {
        for (value, count) in &other.bins {
            let entries = self.bins.entry(*value).or_default();
            *entries = entries.saturating_add(*count);
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
        let wanted = ((quantile.clamp(0.0, 1.0) * self.count as f64).ceil() as u64).max(1);
        let mut below = 0_u64;
        for (value, entries) in &self.bins {
            below = below.saturating_add(*entries);
            if below >= wanted {
                return if quantile <= 0.0 { lowest(*value) } else { *value };
            }
        }
        // Only where the count's rounding to a float asks for more than there is.
        self.bins.last_key_value().map_or(0, |(value, _)| *value)
    }

    /// Mean in nanoseconds, from the bins; 0 where nothing was recorded.
    pub fn mean(&self) -> f64 {
        self.mean_of(|value| value)
    }

    /// Standard deviation in nanoseconds, from the bins.
    pub fn deviation(&self) -> f64 {
        let mean = self.mean();
        self.mean_of(|value| (value - mean).powi(2)).sqrt()
    }

    /// The mean of a function of the entries; 0 where there are none.
    fn mean_of(&self, part: impl Fn(f64) -> f64) -> f64 {
        let all = self.count.max(1) as f64;
        self.bins.iter().map(|(v, entries)| part(middle(*v)) * *entries as f64 / all).sum()
    }

    /// The entries as (nanoseconds, count), ascending.
    pub fn bins(&self) -> Vec<(u64, u64)> {
        self.bins.iter().map(|(value, entries)| (*value, *entries)).collect()
    }
}

impl Serialize for LatencyHistogram {
    fn serialize<S: ser::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let failed = |e: &dyn std::fmt::Debug| ser::Error::custom(format!("{e:?}"));
        // No wider than needed: its reader makes an array of that width.
        let widest = self.bins.last_key_value().map_or(2, |(value, _)| (*value).max(2));
        let mut histogram =
            Histogram::<u64>::new_with_max(widest, DIGITS).map_err(|e| failed(&e))?;
        for (value, entries) in &self.bins {
            histogram.saturating_record_n(*value, *entries);
        }
        let mut bytes = Vec::new();
        V2DeflateSerializer::new().serialize(&histogram, &mut bytes).map_err(|e| failed(&e))?;
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
        for bin in inner.iter_recorded() {
            histogram.record(bin.value_iterated_to(), bin.count_since_last_iteration());
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
            min_ns: histogram.quantile(0.0),
            max_ns: histogram.quantile(1.0),
            mean_ns: histogram.mean(),
            deviation_ns: histogram.deviation(),
            histogram,
        }
    }

    /// The times of what happens one after the other, where only the distribution of each
    /// part is known: the shortest of one with the shortest of the other, and so on. The
    /// mean is exact; high percentiles are at least as large as the true ones tend to be,
    /// because it takes for granted that both parts are slow together. None where the
    /// numbers of the two differ by more than a hundredth.
    pub fn followed_by(&self, other: &Self) -> Option<Self> {
        let (a, b) = (self.histogram.count(), other.histogram.count());
        if a == 0 || b == 0 || a.abs_diff(b) > (a.max(b) / 100).max(1) {
            return None;
        }
        let (mut left, mut right) = (self.histogram.bins(), other.histogram.bins());
        left.reverse();
        right.reverse();
        let mut sum = LatencyHistogram::new();
        // From the longest down, so that one that is left over is the shortest.
        let (mut left, mut right) = (left.into_iter(), right.into_iter());
        let (mut one, mut two) = (left.next(), right.next());
        while let (Some((a, n)), Some((b, m))) = (one, two) {
            let count = n.min(m);
            sum.record(a.saturating_add(b), count);
            one = if n > count { Some((a, n - count)) } else { left.next() };
            two = if m > count { Some((b, m - count)) } else { right.next() };
        }
        Some(Self {
            min_ns: self.min_ns.saturating_add(other.min_ns),
            max_ns: self.max_ns.saturating_add(other.max_ns),
            mean_ns: self.mean_ns + other.mean_ns,
            ..Self::from_histogram(sum)
        })
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
    fn parts_that_follow_each_other_add_up() {
        let latency = |times: &[(u64, u64)]| {
            let mut histogram = LatencyHistogram::new();
            times.iter().for_each(|(ns, count)| histogram.record(*ns, *count));
            Latency::from_histogram(histogram)
        };
        let writes = latency(&[(256, 97), (2000, 3)]);
        let syncs = latency(&[(16_000_000, 90), (50_000_000, 10)]);
        let both = writes.followed_by(&syncs).expect("as many");
        assert_eq!(both.histogram.count(), 100);
        let near = |a: f64, b: f64| (a / b - 1.0).abs() < 0.002;
        assert!(near(both.histogram.quantile(0.99) as f64, 50_002_000.0), "{both:?}");
        assert!(near(both.histogram.quantile(0.5) as f64, 16_000_256.0), "{both:?}");
        assert!(near(both.mean_ns, writes.mean_ns + syncs.mean_ns), "{both:?}");
        // A sync after every 32nd write is no commit of each.
        assert_eq!(writes.followed_by(&latency(&[(16_000_000, 3)])), None);
        assert_eq!(writes.followed_by(&latency(&[])), None);
    }

    #[test]
    fn hostile_text_is_an_error() {
        for text in ["\"\"", "\"AAAA\"", "\"!!\"", "3"] {
            assert!(serde_json::from_str::<LatencyHistogram>(text).is_err(), "{text}");
        }
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
        let mut own = LatencyHistogram::new();
        let mut theirs = Histogram::new_with_bounds(1, HIGHEST_NS, DIGITS).expect("bounds");
        for (value, count) in entries {
            own.record(*value, *count);
            theirs.record_n(*value, *count).expect("within bounds");
        }
        (own, theirs)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn histogram_agrees_with_hdr_histogram(entries in entries(), quantile in 0.0_f64..=1.0) {
            let (own, theirs) = filled(&entries);
            let bins: Vec<(u64, u64)> = theirs
                .iter_recorded()
                .map(|v| (v.value_iterated_to(), v.count_since_last_iteration()))
                .collect();
            prop_assert_eq!(own.bins(), bins);
            prop_assert_eq!(own.count(), theirs.len());
            prop_assert_eq!(own.quantile(quantile), theirs.value_at_quantile(quantile));
            let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * b.abs().max(1.0);
            prop_assert!(near(own.mean(), theirs.mean()));
            prop_assert!(near(own.deviation(), theirs.stdev()));
            let latency = Latency::from_histogram(own);
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
