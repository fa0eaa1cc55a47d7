//! Latency distributions that can be merged and stored.

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
use serde::{Deserialize, Serialize, de, ser};

/// Latencies over 1000 s are recorded as 1000 s.
const HIGHEST_NS: u64 = 1_000_000_000_000;
/// Three significant digits: a recorded value is within 0.1 % of the true one.
const DIGITS: u8 = 3;

/// A histogram of latencies in nanoseconds, accurate to 0.1 %, which can be
/// merged with others. It is stored in HdrHistogram's own V2 format, deflated,
/// as base64, so other tools can read it.
#[derive(Debug, Clone, PartialEq)]
pub struct LatencyHistogram(Histogram<u64>);

impl Default for LatencyHistogram {
    fn default() -> Self {
        Self::new()
    }
}

impl LatencyHistogram {
    /// One without entries.
    pub fn new() -> Self {
        let mut histogram = Histogram::new_with_bounds(1, HIGHEST_NS, DIGITS)
            .expect("the constant bounds are valid");
        histogram.auto(false);
        Self(histogram)
    }

    /// Adds `count` latencies of `ns` nanoseconds.
    pub fn record(&mut self, ns: u64, count: u64) {
        self.0.saturating_record_n(ns, count);
    }

    /// Adds all entries of another.
    pub fn merge(&mut self, other: &Self) {
        // Equal bounds make this infallible.
        let _ = self.0.add(&other.0);
    }

    /// How many latencies were recorded.
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// The latency, in nanoseconds, that a share of `quantile` (0 to 1) does
    /// not exceed; 0 where nothing was recorded.
    pub fn quantile(&self, quantile: f64) -> u64 {
        if self.0.is_empty() { 0 } else { self.0.value_at_quantile(quantile.clamp(0.0, 1.0)) }
    }

    /// Mean in nanoseconds, from the bins.
    pub fn mean(&self) -> f64 {
        self.0.mean()
    }

    /// Standard deviation in nanoseconds, from the bins.
    pub fn deviation(&self) -> f64 {
        self.0.stdev()
    }

    /// The entries as (nanoseconds, count), ascending.
    pub fn bins(&self) -> Vec<(u64, u64)> {
        self.0
            .iter_recorded()
            .map(|v| (v.value_iterated_to(), v.count_since_last_iteration()))
            .collect()
    }
}

impl Serialize for LatencyHistogram {
    fn serialize<S: ser::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut bytes = Vec::new();
        V2DeflateSerializer::new()
            .serialize(&self.0, &mut bytes)
            .map_err(|e| ser::Error::custom(format!("{e:?}")))?;
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
        histogram.0.add(&inner).map_err(|e| de::Error::custom(format!("{e:?}")))?;
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
            min_ns: histogram.0.min(),
            max_ns: histogram.0.max(),
            mean_ns: histogram.mean(),
            deviation_ns: histogram.deviation(),
            histogram,
        }
    }
}

#[cfg(test)]
mod tests {
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
    fn an_empty_one_has_quantile_zero() {
        assert_eq!(LatencyHistogram::new().quantile(0.99), 0);
    }
}
